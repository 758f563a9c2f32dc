// Statements that every function has, and the frame of a body.
#include "random/body.h"

namespace mica::random {

namespace {

constexpr int DeepestBlock = 3;
constexpr long MostSteps = 2000;        // of a call, roughly

}  // namespace

void Body::write() {
  source.depth = 1;
  for (const Parameter& p : function.parameters) declare(p.name, p.type, p.mode == Parameter::Inout, p.mode == Parameter::Move);
  if (function.recursive) scope[0].range = Range{0, 4};
  for (const std::string& e : function.extents) declare(e, types.int64, false, false).range = Range{1, 64};
  window = function.recordable;
  for (int f : function.fails) guardedFail(f);
  if (function.tape) tape();
  for (int i = 0; i < 2; i++) {
    budget = random.between(1, 6);
    while (budget > 0) statement();
    if (function.recursive) recursion();
  }
  finish();
}

void Body::finish() {
  if (function.result) source.line("return " + value(function.result, 3, Moves::Allowed).text);
}

// Statements with a scope of their own. What moved in it stays moved behind it, what was set again in it does not count as whole behind it.
void Body::block(int statements) {
  size_t before = scope.size();
  std::vector<bool> hidden;
  for (const Variable& v : scope) hidden.push_back(v.hidden);
  blocks++;
  for (int i = 0; i < statements; i++) statement();
  blocks--;
  scope.resize(before);
  for (size_t i = 0; i < before; i++) scope[i].hidden = scope[i].hidden || hidden[i];
}

// The body of a loop that runs so many rounds (0: of a branch), behind the variables that `first` declares.
void Body::nested(int statements, long rounds, const std::function<void()>& first) {
  size_t before = scope.size();
  long outer = times;
  if (rounds > 0) {
    times *= rounds;
    loops++;
  }
  first();
  block(statements);
  if (rounds > 0) loops--;
  times = outer;
  scope.resize(before);
}

void Body::statement() {
  if (window) return windowStatement();
  steps += times;
  budget--;
  bool deep = blocks > DeepestBlock || steps > MostSteps || budget < 1;
  int k = random.below(100);
  if (!deep && k < 14) return branch();
  if (!deep && k < 24) {
    switch (random.below(4)) {
      case 0: return whileLoop();
      case 1: return endlessLoop();
      default: return rangeLoop();
    }
  }
  if (!deep && k < 29) return features.text && random.chance(40) ? matchText() : random.chance(25) ? matchPair() : matchInteger();
  if (k < 32 && times < 40) return trace();
  if (k < 37 && loops > 0) {
    return source.line("if " + boolean(1).text + " then " + (random.chance(50) ? "break" : "continue") + " end");
  }
  if (k < 40 && blocks < 4 && !window) {
    if (!function.result) return source.line("if " + boolean(2).text + " then return end");
    std::string condition = boolean(2).text;
    return source.line("if " + condition + " then return " + at(value(function.result, 2), OrLevel) + " end");
  }
  if (k < 42 && function.risky) return source.line("assert " + boolean(2).text + ", \"claim " + fresh("c") + "\"");
  if (features.data && k < 62) {
    switch (random.below(8)) {
      case 0: case 1: return listChange();
      case 2: return mapChange();
      case 3: return setChange();
      case 4: return optionalChange();
      case 5: return deep ? takeApart() : walk();
      case 6: return deep ? sort() : matchChoice();
      default: return random.chance(50) ? takeApart() : sort();
    }
  }
  if (features.owners && k < 68) return ownerStatement();
  if (features.tensors && k < 62) return random.chance(60) ? tensorLocal() : tensorChange();
  if (features.calls && k < 72) {
    switch (random.below(4)) {
      case 0: return deep ? callStatement() : attempt();
      case 1: return closure();
      default: return callStatement();
    }
  }
  if (k < 82) return local();
  if (k < 90) return update();
  assignment();
}

void Body::local() {
  const Type* t = randomType(2);
  Expression e = value(t, 3, Moves::Allowed);
  bool changeable = random.chance(55), own = t->is(Kind::Int) || t->is(Kind::Float) || t->is(Kind::Bool) || t->is(Kind::Char);
  std::string name = fresh("v");
  source.line(std::string(changeable ? "var " : "let ") + name + (own && random.chance(50) ? "" : ": " + t->name) + " := " + e.text);
  Variable& v = declare(name, t, changeable, true);
  if (!changeable && t->is(Kind::Int)) v.range = e.range;
}

void Body::assignment() {
  std::vector<size_t> gone;               // moved variables that may be given a new value
  for (size_t i = 0; i < scope.size(); i++) {
    if (scope[i].hidden && scope[i].changeable && scope[i].owned && scope[i].locks == 0) gone.push_back(i);
  }
  if (!gone.empty() && random.chance(50)) {
    size_t i = random.pick(gone);
    source.line(scope[i].name + " := " + value(scope[i].type, 2).text);
    scope[i].hidden = false;
    return;
  }
  std::vector<Place> all = places([&](const Type* t) { return !t->is(Kind::Tensor) && !t->is(Kind::Parameter); }, true);
  if (all.empty()) return local();
  Place p = random.pick(all);
  std::string text = value(p.type, 3, Moves::Allowed).text;
  source.line(p.text + " := " + text);
  scope[p.root].hidden = false;           // also when the right side moved it
}

// Compound assignment.
void Body::update() {
  std::vector<Place> all = places([&](const Type* t) { return t->is(Kind::Int) || t->is(Kind::Float) || t->is(Kind::String); }, true);
  if (all.empty()) return local();
  Place p = random.pick(all);
  static const char* ops[] = {" += ", " -= ", " *= ", " /= "};
  if (p.type->is(Kind::Float)) {
    std::string op = ops[random.below(4)];
    return source.line(p.text + op + floating(p.type, 2).text);
  }
  if (p.type->is(Kind::String)) {
    std::string text = at(string(1), OrLevel);
    return source.line("if Length(" + p.text + ") < 60 then " + p.text + " += " + text + " end");
  }
  std::string op = ops[random.below(3)];
  Expression e = reduced(p.type, integer(p.type, 2), 10);
  if (function.risky && random.chance(40)) return source.line(p.text + op + e.text);
  std::string bounds = p.type->bits == 8 ? "20 .. 25" : "100 .. 900";
  if (p.type->bits == 8 && op == ops[2]) bounds = "10 .. 12";
  source.line("if " + p.text + " in " + bounds + " then " + p.text + op + at(e, OrLevel) + " end");
}

// Every failure of the signature can come up.
void Body::guardedFail(int failure) {
  std::string condition = comparison(1).text;
  source.line("if " + condition + " then fail Broken" + std::to_string(failure) + "(n: " + integer(types.int64, 1).text + ") end");
}

void Body::trace() {
  std::string text;
  for (int i = random.between(1, 2); i > 0; i--) text += " " + hole(2);
  source.line("Print(\"" + function.name + text + "\")");
}

}  // namespace mica::random
