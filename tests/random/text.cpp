// Strings. What is made from other strings goes through the program's `Short`, so that no string grows without bound.
#include "random/body.h"

namespace mica::random {

std::string Body::textLiteral() {
  static const char* some[] = {"", "a", "mica", "two words", "é", "中文", "x\\ny", "\\\"q\\\"", "\\{\\}", "  pad ", "😀!", "tab\\t"};
  return "\"" + std::string(some[random.below(12)]) + "\"";
}

std::string Body::hole(int depth) {
  const Type* t = scalarType();
  if (random.chance(30)) {
    std::vector<Place> all = places([](const Type* p) { return !p->is(Kind::Parameter); }, false);
    if (!all.empty()) return "{" + random.pick(all).text + "}";
  }
  std::string text = scalar(t, depth).text, format;
  if (t->is(Kind::Int) && random.chance(25)) {
    static const char* some[] = {":6", ":06", ":x", ":04x", ":1"};
    format = some[random.below(5)];
  } else if (t->is(Kind::Float) && random.chance(35)) {
    static const char* some[] = {":.3f", ":10.2f", ":.0f", ":e", ":.1f"};
    format = some[random.below(5)];
  }
  return "{" + text + format + "}";
}

Expression Body::string(int depth) {
  if (random.chance(25) || depth <= 0) {
    if (std::optional<Place> p = place(types.text, false)) return {"Copy(" + p->text + ")", AtomLevel, {}};
  }
  if (depth <= 0) return {textLiteral(), AtomLevel, {}};
  switch (random.below(9)) {
    case 0: return {textLiteral(), AtomLevel, {}};
    case 1: return chosen(types.text, depth);
    case 2: if (std::optional<Expression> e = called(types.text, depth)) return *e; return string(0);
    case 3: {
      Expression a = string(depth - 1), b = string(depth - 1);
      return {"Short(" + binary(a, "+", b, SumLevel) + ")", AtomLevel, {}};
    }
    case 4: {
      if (std::optional<Place> p = place(types.text, false)) {
        static const char* functions[] = {"Text.ToUpper", "Text.Trim", "Text.ToLower"};
        return {std::string(functions[random.below(3)]) + "(" + p->text + ")", AtomLevel, {}};
      }
      return {"Text.Repeat(" + textLiteral() + ", " + std::to_string(random.below(4)) + ")", AtomLevel, {}};
    }
    case 5: {
      if (std::optional<Place> p = place(types.text, false)) {
        std::string a = string(0).text, b = string(0).text;
        return {"Short(Text.Replace(" + p->text + ", " + a + ", " + b + "))", AtomLevel, {}};
      }
      return string(0);
    }
    default: {
      std::string body;
      for (int i = random.between(1, 3); i > 0; i--) {
        body += hole(depth - 1);
        if (random.chance(50)) body += random.chance(50) ? " " : "-é,";
      }
      return {"Short(\"" + body + "\")", AtomLevel, {}};
    }
  }
}

}  // namespace mica::random
