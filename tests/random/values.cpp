// Values of any type.
#include "random/body.h"

namespace mica::random {

const Type* Body::randomType(int depth) {
  if (features.tensors && random.chance(features.data ? 15 : 50)) return tensorType(depth > 1);
  if (depth <= 0 || !(features.text || features.data) || random.chance(45)) return features.text && random.chance(25) ? types.text : scalarType();
  if (!features.data) return types.text;
  auto key = [&]() -> const Type* {
    int k = random.below(4);
    return k == 0 ? types.text : k == 1 ? types.character : integerType();
  };
  switch (random.below(11)) {
    case 0: case 1: return types.list(randomType(depth - 1));
    case 2: {
      const Type* k = key();
      return types.map(k, randomType(depth - 1));
    }
    case 3: return types.set(key());
    case 4: {
      const Type* held = randomType(depth - 1);
      return held->is(Kind::Optional) ? held : types.optional(held);
    }
    case 5: {
      int count = random.between(1, 4);
      return types.array(count, randomType(depth - 1));
    }
    case 6: {
      std::vector<const Type*> parts{randomType(depth - 1), randomType(depth - 1)};
      if (random.chance(30)) parts.push_back(randomType(0));
      return types.tuple(parts);
    }
    case 7: case 8: return program.records.empty() ? types.text : random.pick(program.records);
    case 9: return program.choices.empty() ? types.text : random.pick(program.choices);
    default: return types.text;
  }
}

std::string Body::literal(const Type* t) {
  switch (t->kind) {
    case Kind::Int: return integerLiteral(t, false).text;
    case Kind::Float: {
      static const char* some[] = {"0.0", "1.5", "-2.25", "0.1", "1e6", "-1e-3", "100.0", "7.0"};
      std::string text = some[random.below(8)];
      return t->bits == 32 ? "float32(" + text + ")" : text;
    }
    case Kind::Bool: return random.chance(50) ? "true" : "false";
    case Kind::Char: return random.chance(50) ? "'q'" : "'é'";
    case Kind::String: return textLiteral();
    case Kind::Optional: return random.chance(30) ? "none" : literal(t->element());
    case Kind::Map: return "{}";
    case Kind::Set: return "{}";
    case Kind::List: case Kind::Array: {
      std::string text;
      for (int i = t->is(Kind::Array) ? t->count : random.below(4); i > 0; i--) text += (text.empty() ? "" : ", ") + literal(t->element());
      return "[" + text + "]";
    }
    case Kind::Tuple: {
      std::string text;
      for (const Type* p : t->parts) text += (text.empty() ? "" : ", ") + literal(p);
      return "(" + text + ")";
    }
    case Kind::Record: {
      std::string text;
      for (const Field& f : t->fields) text += (text.empty() ? "" : ", ") + f.name + ": " + literal(f.type);
      return t->name + "(" + text + ")";
    }
    case Kind::Choice: {
      const Case& c = random.pick(t->cases);
      std::string text;
      for (const Field& f : c.fields) text += (text.empty() ? "" : ", ") + f.name + ": " + literal(f.type);
      return t->name + "." + c.name + (text.empty() ? "" : "(" + text + ")");
    }
    case Kind::Tensor: return tensorMade(t);
    default: return "";
  }
}

Expression Body::scalar(const Type* t, int depth) {
  switch (t->kind) {
    case Kind::Int: return integer(t, depth);
    case Kind::Float: return floating(t, depth);
    case Kind::Bool: return boolean(depth);
    default: return character(depth);
  }
}

Expression Body::value(const Type* t, int depth, Moves moves) {
  if (t->is(Kind::Int) || t->is(Kind::Float) || t->is(Kind::Bool) || t->is(Kind::Char)) return scalar(t, depth);
  if (moves == Moves::Allowed && random.chance(40)) {
    if (std::optional<Expression> e = moved(t)) return *e;
  }
  if (t->is(Kind::String)) return string(depth);
  if (t->is(Kind::Tensor)) return tensorValue(t, depth);
  return composed(t, depth, moves);
}

std::optional<Expression> Body::operand(const Type* t, int depth) {
  if (t->is(Kind::Int) || t->is(Kind::Float) || t->is(Kind::Bool) || t->is(Kind::Char)) return scalar(t, depth);
  if (t->is(Kind::String) && random.chance(40)) return string(depth);
  if (t->is(Kind::Tensor)) return tensor(t, depth);
  if (std::optional<Place> p = place(t, false)) return Expression{p->text, AtomLevel, {}};
  return std::nullopt;
}

// A whole local that the function may give away here: not one from outside of the loop, which a second round would miss.
std::optional<Expression> Body::moved(const Type* t) {
  if (copies(t) || closures > 0 || window) return std::nullopt;
  std::vector<size_t> all;
  for (size_t i = 0; i < scope.size(); i++) {
    const Variable& v = scope[i];
    if (v.type == t && v.owned && !v.hidden && v.locks == 0 && v.loop == loops) all.push_back(i);
  }
  if (all.empty()) return std::nullopt;
  Variable& v = scope[random.pick(all)];
  v.hidden = true;
  return Expression{v.name, AtomLevel, {}};
}

std::string Body::listOf(const Type* element, int count, int depth, Moves moves) {
  std::string text;
  for (int i = 0; i < count; i++) text += (i ? ", " : "") + value(element, depth, moves).text;
  return text;
}

Expression Body::composed(const Type* t, int depth, Moves moves) {
  if (depth <= 0 || random.chance(30) || t->is(Kind::Parameter)) {
    if (std::optional<Place> p = place(t, false)) return {copies(t) ? p->text : "Copy(" + p->text + ")", AtomLevel, {}};
  }
  if (depth <= 0) return {literal(t), AtomLevel, {}};
  if (random.chance(15)) {
    if (std::optional<Expression> e = called(t, depth)) return *e;
  }
  if (random.chance(12)) return chosen(t, depth);
  switch (t->kind) {
    case Kind::Optional: return random.chance(25) ? Expression{"none", AtomLevel, {}} : value(t->element(), depth - 1, moves);
    case Kind::List: {
      if (random.chance(30)) {            // a comprehension, in which nothing moves
        std::string i = fresh("i");
        std::string bound = std::to_string(random.between(0, 5));
        size_t before = scope.size();
        Variable& v = declare(i, types.int64, false, false);
        v.range = Range{0, 4};
        closures++;
        std::string each = value(t->element(), depth - 1).text;
        closures--;
        scope.resize(before);
        return {"[" + each + " for " + i + " in 0 ..< " + bound + "]", AtomLevel, {}};
      }
      if (std::optional<Place> p = place(t, false); p && random.chance(25)) {   // a part of another
        std::string low = below(depth - 1, "(Length(" + p->text + ") + 1)").text;
        return {"Copy(" + p->text + "[" + low + (random.chance(50) ? " ..])" : " ..< Length(" + p->text + ")])"), AtomLevel, {}};
      }
      return {"[" + listOf(t->element(), random.below(4), depth - 1, moves) + "]", AtomLevel, {}};
    }
    case Kind::Array: return {"[" + listOf(t->element(), t->count, depth - 1, moves) + "]", AtomLevel, {}};
    case Kind::Tuple: {
      std::string text;
      for (const Type* p : t->parts) text += (text.empty() ? "" : ", ") + value(p, depth - 1, moves).text;
      return {"(" + text + ")", AtomLevel, {}};
    }
    case Kind::Map: {
      std::string text;
      for (int i = random.below(3); i > 0; i--) {
        std::string n = std::to_string(i);
        std::string key = t->parts[0]->is(Kind::Char) ? "'" + n + "'" : t->parts[0]->is(Kind::String) ? "\"k" + n + "\"" : t->parts[0]->name + "(" + n + ")";
        text += (text.empty() ? "" : ", ") + key + ": " + value(t->parts[1], depth - 1, moves).text;
      }
      return {"{" + text + "}", AtomLevel, {}};
    }
    case Kind::Set: return random.chance(50) ? Expression{"{}", AtomLevel, {}} : Expression{"{" + value(t->element(), depth - 1).text + "}", AtomLevel, {}};
    case Kind::Record: {
      std::string text;
      for (const Field& f : t->fields) text += (text.empty() ? "" : ", ") + f.name + ": " + value(f.type, depth - 1, moves).text;
      return {t->name + "(" + text + ")", AtomLevel, {}};
    }
    case Kind::Choice: {
      const Case& c = random.pick(t->cases);
      std::string text;
      for (const Field& f : c.fields) text += (text.empty() ? "" : ", ") + f.name + ": " + value(f.type, depth - 1, moves).text;
      return {t->name + "." + c.name + (text.empty() ? "" : "(" + text + ")"), AtomLevel, {}};
    }
    default: return {literal(t), AtomLevel, {}};
  }
}

// `if c then a else b`, or a `match` of an integer with arms on one line.
Expression Body::chosen(const Type* t, int depth) {
  if (random.chance(70)) {
    std::string c = boolean(depth - 1).text;
    Expression a = value(t, depth - 1), b = value(t, depth - 1);
    Range r{std::min(a.range.low, b.range.low), std::max(a.range.high, b.range.high)};
    return {"if " + c + " then " + at(a, OrLevel) + " else " + at(b, OrLevel), LooseLevel, r};
  }
  std::string subject = below(depth - 1, "5").text, text = "match " + subject;
  Range r{0, 0};
  for (int i = random.between(1, 3), first = 0; i >= 0; i--, first++) {
    Expression a = value(t, depth - 1);
    r = first ? Range{std::min(r.low, a.range.low), std::max(r.high, a.range.high)} : a.range;
    text += (i ? " case " + std::to_string(i) + " then " : " else ") + at(a, OrLevel);
  }
  return {text + " end", AtomLevel, r};
}

// An element of a list, an entry of a map, what an optional holds, a length; none where the function has no such thing.
std::optional<Expression> Body::fromCollection(const Type* t, int depth) {
  if (closures > 0 && window) return std::nullopt;
  if (t == types.int64 && random.chance(50)) {
    std::vector<Place> all = places([](const Type* p) { return p->is(Kind::List) || p->is(Kind::Map) || p->is(Kind::Set) || p->is(Kind::String); }, false);
    if (!all.empty()) return Expression{"Length(" + random.pick(all).text + ")", AtomLevel, {0, 1 << 20}};
  }
  std::vector<Place> all = places([&](const Type* p) {
    return (p->is(Kind::List) || p->is(Kind::Map) || p->is(Kind::Optional) || p->is(Kind::Array)) && p->element() == t;
  }, false);
  if (t->is(Kind::Bool)) {
    for (const Place& p : places([](const Type* x) { return x->is(Kind::Set) || x->is(Kind::Map) || x->is(Kind::List); }, false)) all.push_back(p);
  }
  if (all.empty()) return std::nullopt;
  const Place& p = random.pick(all);
  Range r = t->is(Kind::Int) ? rangeOf(t) : Range{};
  if (t->is(Kind::Bool) && p.type->element() != t) {
    const Type* key = p.type->parts[0];
    std::optional<Expression> e = operand(key, depth - 1);
    if (!e) return std::nullopt;
    return Expression{binary(*e, "in", {p.text, AtomLevel, {}}, CompareLevel), CompareLevel, {}};
  }
  switch (p.type->kind) {
    case Kind::Array: return Expression{p.text + "[" + below(depth - 1, std::to_string(p.type->count)).text + "]", AtomLevel, r};
    case Kind::List: {
      std::optional<Place> any = place(types.int64, false);   // a negative constant would be refused
      if (any && function.risky && random.chance(25)) return Expression{p.text + "[" + any->text + "]", AtomLevel, r};
      std::string index = below(depth - 1, "Length(" + p.text + ")").text, otherwise = value(t, 0).text;
      return Expression{"if Length(" + p.text + ") > 0 then " + p.text + "[" + index + "] else " + otherwise, LooseLevel, r};
    }
    case Kind::Map: {
      std::optional<Expression> key = operand(p.type->parts[0], depth - 1);
      if (!key || !copies(t)) return std::nullopt;
      if (function.risky && random.chance(25)) return Expression{p.text + "[" + key->text + "]", AtomLevel, r};
      return Expression{"try Find(" + p.text + ", " + key->text + ") else " + at(value(t, 0), OrLevel), LooseLevel, r};
    }
    default: {
      if (!copies(p.type)) return std::nullopt;
      return Expression{"try " + p.text + " else " + at(value(t, 0), OrLevel), LooseLevel, r};
    }
  }
}

}  // namespace mica::random
