// Numbers, bools and characters. Integer expressions carry the range of their values: a checked operation is written where it fits, and a
// wrapping or reduced one elsewhere. Risky functions now and then write what may trap.
#include <algorithm>

#include "random/body.h"

namespace mica::random {

namespace {

using Wide = __int128;
constexpr Wide Huge = Wide(1) << 120;

Wide product(Wide a, Wide b) {
  Wide r;
  if (__builtin_mul_overflow(a, b, &r) || r > Huge || r < -Huge) return (a < 0) == (b < 0) ? Huge : -Huge;
  return r;
}

Range resultRange(char op, const Range& a, const Range& b) {
  if (op == '+') return {a.low + b.low, a.high + b.high};
  if (op == '-') return {a.low - b.high, a.high - b.low};
  Wide all[] = {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low), product(a.high, b.high)};
  return {*std::min_element(all, all + 4), *std::max_element(all, all + 4)};
}

std::string digits(Wide n) {
  bool negative = n < 0;
  std::string text;
  for (unsigned __int128 u = negative ? -static_cast<unsigned __int128>(n) : static_cast<unsigned __int128>(n); u || text.empty(); u /= 10)
    text.insert(text.begin(), char('0' + int(u % 10)));
  return (negative ? "-" : "") + text;
}

}  // namespace

const Type* Body::integerType() {
  if (random.chance(60)) {
    if (std::optional<Place> p = placeOf(Kind::Int, false)) return p->type;
  }
  if (random.chance(50)) return types.int64;
  static const int widths[] = {8, 16, 32, 64};
  return types.integer(widths[random.below(4)], random.chance(60));
}

const Type* Body::scalarType() {
  int k = random.below(10);
  if (k < 5) return integerType();
  if (k < 8) return types.floating(random.chance(50) ? 32 : 64);
  return k == 8 ? types.boolean : types.character;
}

// Bare where the type is clear from the other operand.
Expression Body::integerLiteral(const Type* t, bool bare) {
  Range all = rangeOf(t);
  Wide n;
  switch (random.below(8)) {
    case 0: n = all.high - random.below(2); break;
    case 1: n = all.low + random.below(2); break;
    case 2: n = Wide(1) << random.below(t->bits - 1); break;
    case 3: n = Wide(random.next() & 0xffffffffffff); break;
    default: n = random.between(-10, 20);
  }
  if (!all.holds({n, n})) n = random.below(10);
  Expression e;
  e.range = {n, n};
  e.text = digits(n);
  if (!bare) e.text = t->name + "(" + e.text + ")";
  else if (n < 0) e.level = UnaryLevel;
  return e;
}

Expression Body::integerLeaf(const Type* t) {
  if (random.chance(75)) {
    if (std::optional<Place> p = place(t, false)) {
      const Variable& v = scope[p->root];
      return {p->text, AtomLevel, p->whole && v.range ? *v.range : rangeOf(t)};
    }
  }
  return integerLiteral(t, false);
}

Expression Body::integer(const Type* t, int depth) {
  if (depth <= 0) return integerLeaf(t);
  if (features.tensors && t == types.int64 && random.chance(20)) return tensorInteger(depth);
  switch (random.below(14)) {
    case 0: case 1: case 2: case 3: return arithmetic(t, depth);
    case 4: return division(t, depth);
    case 5: return bitwise(t, depth);
    case 6: return shift(t, depth);
    case 7: case 8: return converted(t, depth);
    case 9: {
      Expression a = integer(t, depth - 1), b = integer(t, depth - 1);
      bool least = random.chance(50);
      Range r = least ? Range{std::min(a.range.low, b.range.low), std::min(a.range.high, b.range.high)}
                      : Range{std::max(a.range.low, b.range.low), std::max(a.range.high, b.range.high)};
      return {(least ? "Min(" : "Max(") + a.text + ", " + b.text + ")", AtomLevel, r};
    }
    case 10: {
      Expression a = integer(t, depth - 1);
      if (random.chance(30)) return {"bnot " + at(a, UnaryLevel), UnaryLevel, rangeOf(t)};
      if (!t->isSigned) return a;
      if (a.range.low == rangeOf(t).low && !(function.risky && random.chance(30))) a = reduced(t, a, 100);
      if (random.chance(50)) {
        Wide most = std::max(a.range.low < 0 ? -a.range.low : a.range.low, a.range.high);
        return {"Abs(" + a.text + ")", AtomLevel, {0, std::min(most, rangeOf(t).high)}};
      }
      return {"-" + at(a, AtomLevel), UnaryLevel, {std::max(-a.range.high, rangeOf(t).low), std::min(-a.range.low, rangeOf(t).high)}};
    }
    case 11: return chosen(t, depth);
    case 12: if (std::optional<Expression> e = called(t, depth)) return *e; return arithmetic(t, depth);
    default: if (std::optional<Expression> e = fromCollection(t, depth)) return *e; return integerLeaf(t);
  }
}

Expression Body::reduced(const Type* t, Expression e, int limit) {
  if (t->bits == 8) limit = std::min(limit, 10);
  Range small = {t->isSigned ? -limit : 0, limit};
  if (small.holds(e.range)) return e;
  bool mod = random.chance(50);
  Expression r{binary(e, mod ? "mod" : "rem", {std::to_string(limit + 1), AtomLevel, {}}, ProductLevel), ProductLevel, {mod ? 0 : small.low, limit}};
  return r;
}

Expression Body::arithmetic(const Type* t, int depth) {
  Expression a = integer(t, depth - 1), b = random.chance(25) ? integerLiteral(t, true) : integer(t, depth - 1);
  char op = "+-*"[random.below(3)];
  if (random.chance(50)) a = reduced(t, a, 100);
  if (random.chance(50)) b = reduced(t, b, 100);
  Level level = op == '*' ? ProductLevel : SumLevel;
  Range all = rangeOf(t), r = resultRange(op, a.range, b.range);
  bool fits = all.holds(r);
  if (!fits && !(function.risky && random.chance(25))) return {binary(a, std::string(1, op) + "%", b, level), level, all};
  return {binary(a, std::string(1, op), b, level), level, fits ? r : all};
}

// The divisor is positive or a literal, so that neither zero nor the smallest number by -1 comes up.
Expression Body::division(const Type* t, int depth) {
  Expression a = integer(t, depth - 1), b;
  bool guarded = true;
  if (function.risky && random.chance(30)) {
    b = integer(t, depth - 1);
    guarded = false;
  } else if (random.chance(40)) {
    b = integerLiteral(t, true);
    if (b.range.low >= -1 && b.range.low <= 0) b = {"7", AtomLevel, {7, 7}};
  } else {
    Expression x = integer(t, depth - 1);
    b = {"Max(" + x.text + ", 1)", AtomLevel, {std::max(x.range.low, Wide(1)), std::max(x.range.high, Wide(1))}};
  }
  static const char* ops[] = {"div", "rem", "mod"};
  const char* op = ops[random.below(3)];
  Range r = rangeOf(t);
  if (guarded && b.range.low > 0) {
    if (op == ops[2]) r = {0, b.range.high - 1};
    else if (op == ops[0]) r = {std::min(a.range.low, Wide(0)), std::max(a.range.high, Wide(0))};
    else r = {a.range.low < 0 ? std::max(a.range.low, 1 - b.range.high) : 0, a.range.high > 0 ? std::min(a.range.high, b.range.high - 1) : 0};
  }
  return {binary(a, op, b, ProductLevel), ProductLevel, r};
}

Expression Body::bitwise(const Type* t, int depth) {
  Expression a = integer(t, depth - 1), b = random.chance(40) ? integerLiteral(t, true) : integer(t, depth - 1);
  static const char* ops[] = {"band", "bor", "bxor"};
  int k = random.below(3);
  Range r = rangeOf(t);
  if (a.range.low >= 0 && b.range.low >= 0) {
    Wide most = std::max(a.range.high, b.range.high), bits = 1;
    while (bits <= most) bits *= 2;
    r = {0, k == 0 ? std::min(a.range.high, b.range.high) : bits - 1};
  }
  Level level = k == 0 ? ProductLevel : SumLevel;
  return {binary(a, ops[k], b, level), level, r};
}

Expression Body::shift(const Type* t, int depth) {
  Expression a = integer(t, depth - 1), count;
  if (function.risky && random.chance(20)) count = integer(t, 0);
  else if (random.chance(60)) count = {std::to_string(random.below(t->bits)), AtomLevel, {}};
  else count = {binary(integer(t, depth - 1), "band", {std::to_string(t->bits - 1), AtomLevel, {}}, ProductLevel), ProductLevel, {}};
  if (random.chance(50)) return {binary(a, "shl", count, ProductLevel), ProductLevel, rangeOf(t)};
  return {binary(a, "shr", count, ProductLevel), ProductLevel, {std::min(a.range.low, Wide(0)), std::max(a.range.high, Wide(0))}};
}

// From another integer type, a float that is known to fit, or a character.
Expression Body::converted(const Type* t, int depth) {
  int from = random.below(10);
  if (from == 0) {
    Expression c = character(depth - 1);
    return t == types.int64 ? Expression{"int(" + c.text + ")", AtomLevel, {0, 0x10ffff}} : integerLeaf(t);
  }
  if (from < 3) {
    const Type* f = types.floating(random.chance(50) ? 32 : 64);
    std::optional<Place> p = place(f, false);
    if (!p) return integerLeaf(t);
    if (function.risky && random.chance(30)) return {t->name + "(" + p->text + ")", AtomLevel, rangeOf(t)};
    std::string low = t->isSigned ? p->text + " > -100.0" : p->text + " >= 0.0";
    std::string text = "if " + low + " and " + p->text + " < 100.0 then " + t->name + "(" + p->text + ") else " + integerLiteral(t, false).text;
    return {text, LooseLevel, rangeOf(t)};
  }
  const Type* u = integerType();
  Expression e = integer(u, depth - 1);
  bool fits = rangeOf(t).holds(e.range);
  if (!fits && !(function.risky && random.chance(25))) {
    e = reduced(u, e, 100);
    if (!rangeOf(t).holds(e.range)) e = {binary(e, "mod", {"11", AtomLevel, {}}, ProductLevel), ProductLevel, {0, 10}};
  }
  bool widens = t->bits > u->bits && (t->isSigned || !u->isSigned);
  if (widens && random.chance(30)) return {binary(integerLiteral(t, false), "bxor", e, SumLevel), SumLevel, rangeOf(t)};   // converts by itself
  return {t->name + "(" + e.text + ")", AtomLevel, fits ? e.range : rangeOf(t)};
}

Expression Body::below(int depth, const std::string& limit) {
  Expression e = integer(types.int64, depth);
  return {binary(e, "mod", {limit, AtomLevel, {}}, ProductLevel), ProductLevel, {}};
}

Expression Body::floatingLeaf(const Type* t) {
  if (random.chance(75)) {
    if (std::optional<Place> p = place(t, false)) return {p->text, AtomLevel, {}};
  }
  static const char* some[] = {"0.0", "1.0", "0.5", "-2.0", "0.1", "3.25", "1e-3", "-1e10", "1e38", "1e-40", "123456.789", "-0.0", "7.0", "16777217.0"};
  std::string text = some[random.below(14)];
  if (random.chance(40)) text = std::to_string(random.between(-500, 500)) + "." + std::to_string(random.below(1000));
  return {t->name + "(" + text + ")", AtomLevel, {}};
}

Expression Body::floating(const Type* t, int depth) {
  if (depth <= 0) return floatingLeaf(t);
  if (features.tensors && random.chance(25)) return reduction(t, depth);
  auto part = [&] { return floating(t->bits == 64 && random.chance(15) ? types.float32 : t, depth - 1); };
  switch (random.below(14)) {
    case 0: case 1: case 2: case 3: case 4: case 5: {
      static const char* ops[] = {"+", "-", "*", "/"};
      int k = random.below(4);
      Level level = k < 2 ? SumLevel : ProductLevel;
      Expression a = floating(t, depth - 1);
      return {binary(a, ops[k], part(), level), level, {}};
    }
    case 6: return {"-" + at(floating(t, depth - 1), AtomLevel), UnaryLevel, {}};
    case 7: {
      static const char* functions[] = {"Sqrt", "Abs", "Exp", "Log", "Sin", "Cos", "Tanh", "Sigmoid", "Erf", "Cbrt", "Log1p", "Expm1", "Rsqrt", "Square"};
      std::string name = functions[random.below(14)];
      return {name + "(" + floating(t, depth - 1).text + ")", AtomLevel, {}};
    }
    case 8: {
      std::string a = floating(t, depth - 1).text, b = floating(t, depth - 1).text;
      return {(random.chance(50) ? "Min(" : "Max(") + a + ", " + b + ")", AtomLevel, {}};
    }
    case 9: {
      std::string a = floating(t, depth - 1).text, b = floating(t, depth - 1).text;
      return {"Fma(" + a + ", " + b + ", " + floating(t, 0).text + ")", AtomLevel, {}};
    }
    case 10: {
      if (random.chance(50)) return {t->name + "(" + integer(integerType(), depth - 1).text + ")", AtomLevel, {}};
      return {t->name + "(" + floating(types.floating(96 - t->bits), depth - 1).text + ")", AtomLevel, {}};
    }
    case 11: return chosen(t, depth);
    case 12: if (std::optional<Expression> e = called(t, depth)) return *e; return floatingLeaf(t);
    default: if (std::optional<Expression> e = fromCollection(t, depth)) return *e; return floatingLeaf(t);
  }
}

Expression Body::comparison(int depth) {
  static const char* ops[] = {"=", "<>", "<", "<=", ">", ">="};
  if (random.chance(20)) {
    Expression a = integer(types.int64, depth - 1), low = integer(types.int64, 0), high = integer(types.int64, 0);
    return {binary(a, "in", {binary(low, random.chance(50) ? ".." : "..<", high, RangeLevel), RangeLevel, {}}, CompareLevel), CompareLevel, {}};
  }
  if (random.chance(25)) {                // places of any type that compares
    std::vector<Place> all = places([](const Type* t) { return !t->is(Kind::Bool); }, false);
    if (!all.empty()) {
      const Place& p = random.pick(all);
      if (std::optional<Expression> other = operand(p.type, depth - 1))
        return {binary({p.text, AtomLevel, {}}, ops[random.below(ordered(p.type) ? 6 : 2)], *other, CompareLevel), CompareLevel, {}};
    }
  }
  const Type* t = scalarType();
  while (t->is(Kind::Bool)) t = scalarType();
  Expression a = scalar(t, depth - 1), b = scalar(t, depth - 1);
  return {binary(a, ops[random.below(6)], b, CompareLevel), CompareLevel, {}};
}

Expression Body::boolean(int depth) {
  if (depth <= 0) {
    if (std::optional<Place> p = place(types.boolean, false)) return {p->text, AtomLevel, {}};
    return {random.chance(50) ? "true" : "false", AtomLevel, {}};
  }
  switch (random.below(9)) {
    case 0: return {"not " + at(boolean(depth - 1), NotLevel), NotLevel, {}};
    case 1: {
      Expression a = boolean(depth - 1);
      return {binary(a, "and", boolean(depth - 1), AndLevel), AndLevel, {}};
    }
    case 2: {
      Expression a = boolean(depth - 1);
      return {binary(a, "or", boolean(depth - 1), OrLevel), OrLevel, {}};
    }
    case 3: if (std::optional<Expression> e = called(types.boolean, depth)) return *e; return comparison(depth);
    case 4: if (std::optional<Expression> e = fromCollection(types.boolean, depth)) return *e; return comparison(depth);
    default: return comparison(depth);
  }
}

Expression Body::character(int depth) {
  if (random.chance(60)) {
    if (std::optional<Place> p = place(types.character, false)) return {p->text, AtomLevel, {}};
  }
  if (depth > 0 && random.chance(30)) return chosen(types.character, depth);
  if (depth > 0 && random.chance(40)) return {"char(" + binary(below(depth - 1, "26"), "+", {"65", AtomLevel, {}}, SumLevel) + ")", AtomLevel, {}};
  static const char* some[] = {"'a'", "'z'", "'0'", "' '", "'é'", "'中'", "'😀'", "'\\n'", "'\\''", "'\"'"};
  return {some[random.below(10)], AtomLevel, {}};
}

}  // namespace mica::random
