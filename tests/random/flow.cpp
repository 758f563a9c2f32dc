// Branches, loops and `match` over integers and strings. Every loop counts its rounds.
#include <set>

#include "random/body.h"

namespace mica::random {

void Body::branch() {
  source.open("if " + boolean(2).text + " then");
  nested(random.between(1, 3), 0);
  if (random.chance(30)) {
    source.middle("elif " + boolean(2).text + " then");
    nested(random.between(1, 2), 0);
  }
  if (random.chance(60)) {
    source.middle("else");
    nested(random.between(1, 3), 0);
  }
  source.close();
}

void Body::whileLoop() {
  std::string c = fresh("c");
  int rounds = random.between(1, 6);
  source.line("var " + c + " := 0");
  declare(c, types.int64, false, false).range = Range{0, rounds};
  std::string condition = c + " < " + std::to_string(rounds);
  loops++;
  if (random.chance(50)) condition += " and " + at(boolean(1), NotLevel);
  loops--;
  source.open("while " + condition + " do");
  source.line(c + " += 1");
  nested(random.between(1, 3), rounds);
  source.close();
}

void Body::rangeLoop() {
  std::string i = fresh("i"), head;
  Range r;
  switch (random.below(5)) {
    case 0: {
      int low = random.between(-5, 5), rounds = random.between(0, 6);
      head = std::to_string(low) + " .. " + std::to_string(low + rounds - 1);
      r = {low, low + rounds - 1};
      break;
    }
    case 1: {
      int step = random.between(2, 4);
      head = "0 ..< " + std::to_string(random.between(1, 17)) + " by " + std::to_string(step);
      r = {0, 16};
      break;
    }
    case 2: {
      int high = random.between(-3, 6);
      head = std::to_string(high) + " .. " + std::to_string(high - random.below(5)) + " by -1";
      r = {high - 5, high};
      break;
    }
    case 3: {
      head = "0 ..< " + below(2, "6").text;
      r = {0, 5};
      break;
    }
    default: {
      std::string low = below(1, "4").text;
      head = low + " .. " + below(1, "6").text;
      r = {0, 6};
    }
  }
  if (r.high < r.low) r.high = r.low;
  source.open("for " + i + " in " + head + " do");
  nested(random.between(1, 3), 6, [&] { declare(i, types.int64, false, false).range = r; });
  source.close();
}

void Body::endlessLoop() {
  std::string c = fresh("c");
  int rounds = random.between(1, 5);
  source.line("var " + c + " := 0");
  declare(c, types.int64, false, false).range = Range{0, rounds + 1};
  source.open("loop do");
  source.line(c + " += 1");
  loops++;
  std::string condition = c + " > " + std::to_string(rounds);
  if (random.chance(40)) condition += " or " + at(boolean(1), AndLevel);
  loops--;
  source.line("if " + condition + " then break end");
  nested(random.between(1, 3), rounds);
  source.close();
}

void Body::matchInteger() {
  const Type* t = random.chance(60) ? types.int64 : integerType();
  Expression e = integer(t, 2);
  if (random.chance(60)) e = reduced(t, e, 10);
  source.open("match " + at(e, SumLevel));
  int next = random.between(0, 3);
  for (int arms = random.between(1, 5); arms > 0; arms--) {
    std::string pattern = std::to_string(next);
    int kind = random.below(4);
    if (kind == 1) pattern += ", " + std::to_string(next + 1);
    if (kind == 2) pattern += " .. " + std::to_string(next + 1);
    next += random.between(2, 4);
    if (random.chance(20)) pattern += " if " + boolean(1).text;
    source.open("case " + pattern + " then");
    nested(random.between(1, 2), 0);
    source.depth--;
  }
  if (random.chance(30)) {
    std::string n = fresh("n");
    source.open("case " + n + " if " + n + (random.chance(50) ? " > " : " < ") + std::to_string(random.below(50)) + " then");
    nested(random.between(1, 2), 0, [&] { declare(n, t, false, false); });
    source.depth--;
  }
  source.open("else");
  nested(random.between(1, 2), 0);
  source.depth--;
  source.close();
}

// Two values at once: patterns with literals, names and what does not matter.
void Body::matchPair() {
  std::string a = below(1, "4").text, b = boolean(1).text;
  source.open("match (" + a + ", " + b + ")");
  source.open("case (" + std::to_string(random.below(4)) + ", " + (random.chance(50) ? "true" : "_") + ") then");
  nested(random.between(1, 2), 0);
  source.depth--;
  std::string n = fresh("n"), m = fresh("n");
  source.open("case (" + n + ", " + m + ") if " + m + " then");
  nested(1, 0, [&] {
    declare(n, types.int64, false, false).range = Range{0, 3};
    declare(m, types.boolean, false, false);
  });
  source.depth--;
  source.open("else");
  nested(1, 0);
  source.depth--;
  source.close();
}

void Body::matchText() {
  bool characters = random.chance(40);
  std::string subject = characters ? character(1).text : "";
  if (!characters) {
    std::optional<Expression> e = operand(types.text, 1);
    if (!e) return local();
    subject = at(*e, SumLevel);
  }
  source.open("match " + subject);
  static const char* letters[] = {"'a'", "'b' .. 'm', 'q'", "'é', '中'", "'A' .. 'Z'", "'n'"};
  static const char* words[] = {"\"\"", "\"a\", \"b\"", "\"mica\"", "\"two words\"", "\"é\""};
  for (int i = random.between(1, 3); i > 0; i--) {
    source.open(std::string("case ") + (characters ? letters[i] : words[i]) + " then");
    nested(random.between(1, 2), 0);
    source.depth--;
  }
  source.open("else");
  nested(random.between(1, 2), 0);
  source.depth--;
  source.close();
}

}  // namespace mica::random
