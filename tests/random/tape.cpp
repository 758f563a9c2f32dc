// Windows of the tape. A function that uses one has tracked leaves, a few rounds, and in each a window whose statements end in a loss;
// gradients are printed and the leaves move. What may be called in a window is written by the same rules (`Function::recordable`):
// nothing changes in place, nothing that is recorded goes into what was declared outside.
#include "random/body.h"

namespace mica::random {

void Body::windowStatement() {
  steps += times;
  budget--;
  bool deep = blocks > 1 || budget < 1;
  switch (random.below(deep ? 5 : 8)) {
    case 0: case 1: return tensorLocal();
    case 2: {
      std::string name = fresh("v"), text = floating(types.float32, 2).text;
      bool changeable = random.chance(50);
      source.line(std::string(changeable ? "var " : "let ") + name + ": float32 := " + text);
      declare(name, types.float32, changeable, true);
      return;
    }
    case 3: case 4: {                     // a variable of the window gets another value
      std::vector<Place> all = places([&](const Type* t) { return (t->is(Kind::Tensor) && t->element()->is(Kind::Float)) || t == types.float32; }, true);
      if (all.empty()) return tensorLocal();
      const Place& p = random.pick(all);
      return source.line(p.text + " := " + value(p.type, 2).text);
    }
    case 5: return branch();
    case 6: return rangeLoop();
    default: return trace();
  }
}

// Statements of the window; the names that it declares are still in scope behind them.
void Body::windowBody() {
  for (Variable& v : scope) v.locks++;
  size_t outer = scope.size();
  window = true;
  budget = random.between(1, 4);
  while (budget > 0) windowStatement();
  std::string loss = fresh("loss"), inner = fresh("h"), leaf = random.pick(leaves), sum;
  const Type* leafType = nullptr;
  for (const Variable& v : scope) {
    if (v.name == leaf) leafType = v.type;
  }
  source.line("let " + inner + " := " + leaf + " .* " + at(tensor(leafType, 2), UnaryLevel));
  declare(inner, leafType, false, false);
  for (size_t i = 0; i < outer; i++) {
    if (!scope[i].tracked) continue;
    const Variable v = scope[i];
    auto add = [&](const std::string& place, const Type* t) {
      if (!t->is(Kind::Tensor)) sum += (sum.empty() ? "" : " + ") + place + " * " + at(floating(types.float32, 1), AtomLevel);
      else sum += (sum.empty() ? "" : " + ") + std::string(random.chance(50) ? "Sum(" : "Mean(") + place + " .* " + at(tensor(t, 2), UnaryLevel) + ")";
    };
    if (v.type->is(Kind::Record)) {
      for (const Field& f : v.type->fields) {
        if (f.tracked && random.chance(80)) add(v.name + "." + f.name, f.type);
      }
    } else {
      add(v.name, v.type);
    }
  }
  if (random.chance(30)) {                // classes for a matrix of scores
    const Type* scores = types.tensor(types.float32, {knownExtent(), knownExtent()});
    std::string targets = fresh("t"), classes;
    for (int i = 0; i < scores->extents[0].size; i++) classes += (i ? ", " : "") + std::to_string(random.below(scores->extents[1].size));
    source.line("let " + targets + ": vector[" + scores->extents[0].name + "] of int32 := [" + classes + "]");
    sum += (sum.empty() ? "" : " + ") + std::string("CrossEntropy(") + tensor(scores, 2).text + ", " + targets + ")";
  }
  source.line("let " + loss + " := Sum(" + inner + ") + " + (sum.empty() ? "float32(0.0)" : sum));
  source.line("Backward(" + loss + ")");
  window = false;
  source.line("Print(\"" + function.name + " {" + loss + "} {Gradient(" + inner + ")}\")");
  for (size_t i = 0; i < outer; i++) {
    scope[i].locks--;
    if (scope[i].tracked) descend(scope[i]);
  }
  source.line("last := Detach(" + loss + ")");
  scope.resize(outer);
}

// The gradient is shown, and the leaf moves against it.
void Body::descend(const Variable& v) {
  source.line("Print(\"" + function.name + " {Gradient(" + v.name + ")}\")");
  if (v.type->is(Kind::Record)) {
    source.open("each p in " + v.name + " do");
    source.line("p -= 0.05 * Gradient(p)");
    source.close();
  } else if (v.type->is(Kind::Tensor) && random.chance(30)) {
    source.line("AdamW(inout " + v.name + ", inout " + v.name + "Mean, inout " + v.name + "Square, Gradient(" + v.name + "), step: round, rate: 0.01)");
  } else if (!v.type->is(Kind::Tensor) || random.chance(60)) {
    source.line(v.name + " -= 0.05 * Gradient(" + v.name + ")");
  } else {
    source.line("Sgd(inout " + v.name + ", Gradient(" + v.name + "), rate: 0.01)");
  }
}

void Body::tape() {
  for (int i = random.between(1, 2); i > 0; i--) {
    const Type* t = types.tensor(types.float32, {extent(), extent()});
    if (random.chance(40)) t = types.tensor(types.float32, {extent()});
    std::string name = fresh("w"), text = tensorValue(t, 1).text;
    source.line("var " + name + ": tracked " + t->name + " := " + text);
    declare(name, t, true, true).tracked = true;
    leaves.push_back(name);
    source.line("var " + name + "Mean := ZerosLike(" + name + ")");
    source.line("var " + name + "Square := ZerosLike(" + name + ")");
  }
  if (!program.models.empty() && random.chance(60)) {
    const Type* t = random.pick(program.models);
    std::string name = fresh("m"), fields;
    for (const Field& f : t->fields) fields += (fields.empty() ? "" : ", ") + f.name + ": " + literal(f.type);
    source.line("var " + name + " := " + t->name + "(" + fields + ")");
    declare(name, t, true, false).tracked = true;
  }
  if (random.chance(40)) {
    std::string name = fresh("s"), text = floating(types.float32, 1).text;
    source.line("var " + name + ": tracked float32 := " + text);
    declare(name, types.float32, true, true).tracked = true;
  }
  source.line("var last: float32 := 0.0");
  source.open("for round in 1 .. " + std::to_string(random.between(1, 2)) + " do");
  loops++;
  times *= 2;
  source.open("tape");
  windowBody();
  source.close();
  times /= 2;
  loops--;
  source.close();
  declare("last", types.float32, false, false);
}

}  // namespace mica::random
