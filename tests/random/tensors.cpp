// Tensors: expressions of a given shape, and statements that change elements and slices. A tensor expression is an operand: it may be a
// place. `tensorValue` makes of it what may be stored. Two extents are the same when their names are; `?` meets what it holds.
#include "random/body.h"

namespace mica::random {

namespace {

bool floats(const Type* t) { return t->element()->is(Kind::Float); }

// `Zeros[2, 3]()`, `Ones[float64, R]()`.
std::string made(const char* what, const Type* t) {
  std::string in = t->element()->name == "float32" ? "" : t->element()->name;
  for (const Extent& e : t->extents) in += (in.empty() ? "" : ", ") + e.name;
  return std::string(what) + "[" + in + "]()";
}

bool known(const Type* t) {
  for (const Extent& e : t->extents) {
    if (e.size == 0) return false;
  }
  return true;
}

// The type without `?`, which only declarations write.
const Type* closed(Types& types, const Type* t) {
  std::vector<Extent> extents = t->extents;
  for (Extent& e : extents) {
    if (e.name == "?") e.name = std::to_string(e.size);
  }
  return types.tensor(t->element(), extents);
}

}  // namespace

Extent Body::extent() {
  if (!function.extents.empty() && random.chance(50)) return {random.pick(function.extents), 0};
  return knownExtent();
}

Extent Body::knownExtent() {
  static const int some[] = {2, 3, 3, 4, 4, 1, 5, 7, 8, 33};
  int n = some[random.below(random.chance(80) ? 5 : 10)];
  return {std::to_string(n), n};
}

// The function's extent names stand in types of their own only, not inside of others.
const Type* Body::tensorType(bool names) {
  int k = random.below(20);
  const Type* element = k < 14 ? types.float32 : k < 17 ? types.float64 : k < 19 ? types.integer(32, true) : types.boolean;
  std::vector<Extent> extents;
  for (int r = random.chance(50) ? 1 : random.chance(75) ? 2 : 3; r > 0; r--) extents.push_back(names ? extent() : knownExtent());
  return types.tensor(element, extents);
}

std::string Body::tensorLiteral(const Type* t, size_t axis) {
  std::string text;
  for (int i = 0; i < t->extents[axis].size; i++) {
    text += i ? ", " : "";
    if (axis + 1 < t->rank()) text += tensorLiteral(t, axis + 1);
    else if (t->element()->is(Kind::Bool)) text += random.chance(50) ? "true" : "false";
    else if (t->element()->is(Kind::Int)) text += std::to_string(random.between(-9, 20));
    else text += std::to_string(random.between(-3, 3)) + "." + std::to_string(random.below(100));
  }
  return "[" + text + "]";
}

std::string Body::tensorMade(const Type* t) { return known(t) ? tensorLiteral(t, 0) : made("Ones", t); }

// A place of this shape, whatever its extents are called.
std::optional<std::string> Body::tensorPlace(const Type* t, bool exact) {
  std::vector<Place> all = places([&](const Type* p) {
    if (p == t) return true;
    if (exact || !p->is(Kind::Tensor) || p->rank() != t->rank() || p->element() != t->element()) return false;
    for (size_t i = 0; i < t->rank(); i++) {
      if (p->extents[i].name != t->extents[i].name && (p->extents[i].size == 0 || p->extents[i].size != t->extents[i].size)) return false;
    }
    return true;
  }, false);
  if (all.empty()) return std::nullopt;
  return random.pick(all).text;
}

Expression Body::tensorValue(const Type* t, int depth) {
  t = closed(types, t);
  if (known(t) && random.chance(window ? 5 : 25) && t->rank() < 3) return {tensorLiteral(t, 0), AtomLevel, {}};
  if (t->rank() == 1 && floats(t) && depth > 0 && random.chance(15)) {
    std::string i = fresh("i");
    size_t before = scope.size();
    declare(i, types.int64, false, false).range = Range{0, 40};
    closures++;
    std::string each = floating(t->element(), 1).text;
    closures--;
    scope.resize(before);
    return {"[" + each + " for " + i + " in 0 ..< " + t->extents[0].name + "]", AtomLevel, {}};
  }
  Expression e = tensor(t, depth);
  if (e.range.high == 1) return {"Copy(" + e.text + ")", AtomLevel, {}};   // a place or a slice
  return e;
}

// The mark of a place or slice is a range that ends in 1; fresh values have none.
Expression Body::tensorLeaf(const Type* t, bool exact) {
  if (random.chance(85)) {
    if (std::optional<std::string> p = tensorPlace(t, exact)) return {*p, AtomLevel, {1, 1}};
  }
  if (t->element()->is(Kind::Bool)) return {"Less(" + made("Zeros", types.tensor(types.float32, t->extents)) + ", 1.0)", AtomLevel, {}};
  return {made(random.chance(50) ? "Ones" : "Zeros", t), AtomLevel, {}};
}

Expression Body::tensor(const Type* t, int depth) {
  t = closed(types, t);
  if (depth <= 0) return tensorLeaf(t, true);
  if (random.chance(8) && !t->element()->is(Kind::Bool)) {
    if (std::optional<Expression> e = called(t, depth)) return *e;
  }
  if (t->element()->is(Kind::Bool)) {
    static const char* compare[] = {"Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"};
    std::string name = compare[random.below(6)];
    const Type* f = types.tensor(types.float32, t->extents);
    std::string a = tensor(f, depth - 1).text;
    return {name + "(" + a + ", " + (random.chance(40) ? "0.5" : tensorLeaf(f, false).text) + ")", AtomLevel, {}};
  }
  if (t->element()->is(Kind::Int)) return integers(t, depth);
  switch (random.below(8)) {
    case 0: case 1: case 2: return elementwise(t, depth);
    case 3: return unaryRow(t, depth);
    case 4: case 5: return reshaped(t, depth);
    case 6: return rowOperation(t, depth);
    default: return product(t, depth);
  }
}

Expression Body::integers(const Type* t, int depth) {
  if (t->rank() == 1 && random.chance(40)) {
    const Type* m = types.tensor(types.float32, {t->extents[0], extent()});
    return {"ArgMaxRows(" + tensor(m, depth - 1).text + ")", AtomLevel, {}};
  }
  if (function.risky && random.chance(40)) {
    static const char* ops[] = {"+", "-", ".*"};
    int k = random.below(3);
    Expression a = tensor(t, depth - 1);
    return {binary(a, ops[k], tensorLeaf(t, false), k < 2 ? SumLevel : ProductLevel), k < 2 ? SumLevel : ProductLevel, {}};
  }
  return tensorLeaf(t, true);
}

Expression Body::elementwise(const Type* t, int depth) {
  static const char* ops[] = {"+", "-", ".*", "./"};
  int k = random.below(4);
  Level level = k < 2 ? SumLevel : ProductLevel;
  Expression a = tensor(t, depth - 1);
  switch (random.below(6)) {
    case 0: {                             // with a number
      static const char* numbers[] = {"0.5", "2.0", "-1.5", "3.0"};
      Expression s = random.chance(50) ? Expression{numbers[random.below(4)], UnaryLevel, {}} : floatingLeaf(t->element());
      return random.chance(70) ? Expression{binary(a, ops[k], s, level), level, {}} : Expression{binary(s, ops[k], a, level), level, {}};
    }
    case 1: {                             // with trailing extents
      if (t->rank() < 2) break;
      const Type* row = types.tensor(t->element(), std::vector<Extent>(t->extents.begin() + 1, t->extents.end()));
      Expression r = tensor(row, depth - 1);
      return random.chance(70) ? Expression{binary(a, ops[k], r, level), level, {}} : Expression{binary(r, ops[k], a, level), level, {}};
    }
    case 2: {
      std::string b = tensorLeaf(t, false).text;
      return {(random.chance(50) ? "Max(" : "Min(") + a.text + ", " + b + ")", AtomLevel, {}};
    }
    case 3: {
      std::string b = tensor(t, depth - 1).text, c = tensor(types.tensor(types.boolean, t->extents), depth - 1).text;
      return {"Select(" + c + ", " + a.text + ", " + b + ")", AtomLevel, {}};
    }
    default: break;
  }
  return {binary(a, ops[k], random.chance(40) ? tensorLeaf(t, false) : tensor(t, depth - 1), level), level, {}};
}

Expression Body::unaryRow(const Type* t, int depth) {
  static const char* names[] = {"Exp", "Log", "Tanh", "Sigmoid", "Sqrt", "Relu", "Gelu", "GeluTanh", "Silu", "Abs", "Square", "Sin", "Cos", "Erf", "Cbrt", "Rsqrt", "Log1p", "Expm1"};
  std::string name = names[random.below(18)];
  Expression x = tensor(t, depth - 1);
  if (random.chance(15)) return {"-" + at(x, AtomLevel), UnaryLevel, {}};
  if (random.chance(10)) return {"Pow(" + x.text + ", 2.5)", AtomLevel, {}};
  return {name + "(" + x.text + ")", AtomLevel, {}};
}

// The same elements in another form, or fewer of more.
Expression Body::reshaped(const Type* t, int depth) {
  std::vector<Extent> more = t->extents;
  switch (random.below(7)) {
    case 0: {
      if (t->rank() != 2) break;
      return {"Transpose(" + tensor(types.tensor(t->element(), {t->extents[1], t->extents[0]}), depth - 1).text + ")", AtomLevel, {}};
    }
    case 1: {
      static const char* rows[] = {"SumRows", "MeanRows", "MaxRows", "MinRows"};
      if (t->rank() > 2) break;
      std::string name = rows[random.below(4)];
      more.push_back(extent());
      return {name + "(" + tensor(types.tensor(t->element(), more), depth - 1).text + ")", AtomLevel, {}};
    }
    case 2: {
      static const char* columns[] = {"SumColumns", "MeanColumns", "MaxColumns"};
      if (t->rank() != 1) break;
      std::string name = columns[random.below(3)];
      more.insert(more.begin(), extent());
      return {name + "(" + tensor(types.tensor(t->element(), more), depth - 1).text + ")", AtomLevel, {}};
    }
    case 3: {                             // a row of something of higher rank
      if (t->rank() > 2) break;
      Extent first = extent();
      if (first.size == 0) break;
      more.insert(more.begin(), first);
      std::optional<std::string> p = tensorPlace(types.tensor(t->element(), more), true);
      if (!p) break;
      return {*p + "[" + below(depth - 1, first.name).text + "]", AtomLevel, {1, 1}};
    }
    case 4: {                             // a part of something longer
      Extent e = t->extents[0];
      if (e.size == 0) break;
      int start = random.below(3), size = e.size + start + random.below(2);
      more[0] = {std::to_string(size), size};
      std::optional<std::string> p = tensorPlace(types.tensor(t->element(), more), true);
      if (!p) break;
      return {*p + "[" + std::to_string(start) + " ..< " + std::to_string(start + e.size) + "]", AtomLevel, {1, 1}};
    }
    case 5: {
      Extent e = t->extents[0];
      if (e.size < 2) break;
      int first = random.between(1, e.size - 1);
      std::vector<Extent> rest = more;
      more[0] = {std::to_string(first), first};
      rest[0] = {std::to_string(e.size - first), e.size - first};
      std::string a = tensor(types.tensor(t->element(), more), depth - 1).text;
      return {"Concat(" + a + ", " + tensor(types.tensor(t->element(), rest), depth - 1).text + ")", AtomLevel, {}};
    }
    default: {
      if (!known(t)) break;
      int count = 1;
      std::string in;
      for (const Extent& e : t->extents) {
        count *= e.size;
        in += (in.empty() ? "" : ", ") + e.name;
      }
      std::vector<Extent> flat = {{std::to_string(count), count}};
      if (t->rank() == 1 && count % 2 == 0) flat = {{"2", 2}, {std::to_string(count / 2), count / 2}};
      return {"Reshape[" + in + "](" + tensor(types.tensor(t->element(), flat), depth - 1).text + ")", AtomLevel, {}};
    }
  }
  if (t->element() == types.float64 && random.chance(50)) return {"float64(" + tensor(types.tensor(types.float32, t->extents), depth - 1).text + ")", AtomLevel, {}};
  return elementwise(t, depth);
}

Expression Body::rowOperation(const Type* t, int depth) {
  std::string x = tensor(t, depth - 1).text;
  switch (random.below(6)) {
    case 0: return {"Softmax(" + x + ")", AtomLevel, {}};
    case 1: return {"LogSoftmax(" + x + ")", AtomLevel, {}};
    case 2: return {"RmsNorm(" + x + ", eps: 1e-5)", AtomLevel, {}};
    case 3: {
      const Type* row = types.tensor(t->element(), {t->extents.back()});
      std::string gain = tensor(row, depth - 1).text;
      return {"LayerNorm(" + x + ", " + gain + ", " + tensor(row, 0).text + ")", AtomLevel, {}};
    }
    case 4: {
      if (t->rank() != 2) return {"LayerNorm(" + x + ")", AtomLevel, {}};
      std::vector<Extent> keys = {extent(), t->extents[1]};
      if (keys[0].size == 0 || t->extents[0].size == 0 || keys[0].size < t->extents[0].size) keys = t->extents;
      std::string k = tensor(types.tensor(t->element(), keys), depth - 1).text;
      return {"Attention(" + x + ", " + k + ", " + tensor(types.tensor(t->element(), keys), 0).text + ")", AtomLevel, {}};
    }
    default: {
      if (t->rank() != 2 || t->element() != types.float32) return {"LogSoftmax(" + x + ")", AtomLevel, {}};
      std::optional<std::string> ids = tensorPlace(types.tensor(types.integer(32, true), {t->extents[0]}), true);
      if (!ids || !function.risky) return {"Softmax(" + x + ")", AtomLevel, {}};
      return {"Gather(" + tensor(types.tensor(t->element(), {extent(), t->extents[1]}), 0).text + ", " + *ids + ")", AtomLevel, {}};
    }
  }
}

Expression Body::product(const Type* t, int depth) {
  Extent inner = extent();
  auto times = [&](std::vector<Extent> left, std::vector<Extent> right) {
    Expression a = tensor(types.tensor(t->element(), left), depth - 1);
    return Expression{binary(a, "*", tensor(types.tensor(t->element(), right), depth - 1), ProductLevel), ProductLevel, {}};
  };
  const std::vector<Extent>& e = t->extents;
  switch (t->rank()) {
    case 1: return random.chance(50) ? times({e[0], inner}, {inner}) : times({inner}, {inner, e[0]});
    case 2: {
      if (random.chance(15)) {
        std::string a = tensor(types.tensor(t->element(), {e[0]}), depth - 1).text;
        return {"Outer(" + a + ", " + tensor(types.tensor(t->element(), {e[1]}), depth - 1).text + ")", AtomLevel, {}};
      }
      if (random.chance(30)) {
        Expression a = tensor(types.tensor(t->element(), {e[0], inner}), depth - 1);
        return {binary(a, "*", {"Transpose(" + tensor(types.tensor(t->element(), {e[1], inner}), depth - 1).text + ")", AtomLevel, {}}, ProductLevel), ProductLevel, {}};
      }
      return times({e[0], inner}, {inner, e[1]});
    }
    default: return random.chance(50) ? times({e[0], e[1], inner}, {inner, e[2]}) : times({e[0], e[1], inner}, {e[0], inner, e[2]});
  }
}

// A number from a tensor.
Expression Body::reduction(const Type* t, int depth) {
  std::vector<Extent> extents{extent()};
  if (random.chance(40)) extents.push_back(extent());
  const Type* x = types.tensor(t, extents);
  static const char* names[] = {"Sum", "Mean", "Max", "Min", "Norm"};
  std::string name = names[random.below(5)];
  if (random.chance(20)) {
    std::string a = tensor(types.tensor(t, {extents[0]}), depth - 1).text;
    return {"Dot(" + a + ", " + tensor(types.tensor(t, {extents[0]}), depth - 1).text + ")", AtomLevel, {}};
  }
  return {name + "(" + tensor(x, depth - 1).text + ")", AtomLevel, {}};
}

Expression Body::tensorInteger(int depth) {
  const Type* f = types.tensor(types.float32, {extent(), extent()});
  if (!function.extents.empty() && random.chance(40)) return {random.pick(function.extents), AtomLevel, {1, 1 << 16}};
  if (random.chance(50)) return {(random.chance(50) ? "ArgMax(" : "ArgMin(") + tensor(f, depth - 1).text + ")", AtomLevel, {0, 1 << 20}};
  if (std::optional<std::string> p = tensorPlace(types.tensor(types.integer(32, true), {extent()}), true)) return {"Sum(" + *p + ")", AtomLevel, rangeOf(types.int64)};
  std::optional<Place> p = placeOf(Kind::Tensor, false);
  if (!p) return integerLeaf(types.int64);
  return {"Extent(" + p->text + ", " + std::to_string(random.below(int(p->type->rank()))) + ")", AtomLevel, {1, 1 << 16}};
}

// An element or a slice gets another value, or the whole is made anew.
void Body::tensorChange() {
  std::optional<Place> p = placeOf(Kind::Tensor, true);
  if (!p || window) return tensorLocal();
  const Type* t = p->type;
  if (t->element()->is(Kind::Bool)) return tensorLocal();
  std::string index = below(1, t->extents[0].name == "?" ? "Length(" + p->text + ")" : t->extents[0].name).text;
  if (t->extents[0].name == "?" && t->rank() > 1) return tensorLocal();
  switch (random.below(4)) {
    case 0: {
      if (t->rank() != 1) break;
      std::string x = scalar(t->element(), 2).text;
      std::optional<Place> any = place(types.int64, false);   // a constant index would be refused
      if (any && function.risky && random.chance(20)) index = any->text;
      return source.line(p->text + "[" + index + "] := " + x);
    }
    case 1: {
      if (t->rank() < 2) break;
      const Type* row = types.tensor(t->element(), std::vector<Extent>(t->extents.begin() + 1, t->extents.end()));
      return source.line(p->text + "[" + index + ", ..] := " + tensorValue(row, 2).text);
    }
    case 2: {
      int n = t->extents[0].size;
      if (n < 2 || t->rank() > 2) break;
      int from = random.below(n), to = random.between(from + 1, n);
      std::vector<Extent> extents = t->extents;
      extents[0] = {std::to_string(to - from), to - from};
      std::string part = tensorValue(types.tensor(t->element(), extents), 1).text;
      return source.line(p->text + "[" + std::to_string(from) + " ..< " + std::to_string(to) + (t->rank() == 2 ? ", ..] := " : "] := ") + part);
    }
    default: break;
  }
  if (floats(t) && random.chance(50)) {
    std::string op = random.chance(50) ? " += " : " -= ";
    return source.line(p->text + op + tensor(t, 2).text);
  }
  source.line(p->text + " := " + tensorValue(t, 3).text);
}

void Body::tensorLocal() {
  const Type* t = tensorType();
  std::string name = fresh("v"), text = tensorValue(t, random.between(1, 3)).text;
  bool changeable = random.chance(50);
  if (random.chance(10) && t->rank() == 1 && !window) t = types.tensor(t->element(), {{"?", t->extents[0].size}});
  source.line(std::string(changeable ? "var " : "let ") + name + ": " + t->name + " := " + text);
  declare(name, t, changeable, true);
}

}  // namespace mica::random
