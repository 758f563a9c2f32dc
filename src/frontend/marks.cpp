// Marks of instances: a walk over the checked body that joins what flows into each expression and local, repeated until nothing changes.
// See marks.h for what is answered and rules.md (4, 5) for the rules.
//
// Types with marks are compared structurally: joining two types sets `tracked` wherever one of them has it. A tracked float is a pair in
// memory, so a variable's type must be the join of everything that is ever put into it.
#include "frontend/marks.h"

#include <utility>

#include "frontend/check.h"
#include "frontend/marks_walk.h"
#include "frontend/vocabulary.h"

namespace mica {

// ---- types with marks ----

TypeId MarkTypes::transfer(TypeId from, TypeId onto) {
  if (!from || !onto || from == onto) return onto;
  const Type a = types.get(from);
  Type b = types.get(onto);
  if (a.kind != b.kind && b.kind != Kind::Parameter) return onto;
  b.tracked |= a.tracked;
  if (b.kind == Kind::Parameter) return types.intern(b);
  if (b.element && a.element && b.kind != Kind::Tensor) b.element = transfer(a.element, b.element);
  if (b.key && a.key) b.key = transfer(a.key, b.key);
  if (a.args.size() == b.args.size()) for (size_t k = 0; k < a.args.size(); k++) b.args[k] = transfer(a.args[k], b.args[k]);
  if (b.result && a.result) b.result = transfer(a.result, b.result);
  return types.intern(b);
}

bool MarkTypes::isTracked(TypeId t) const {
  if (!t) return false;
  const Type& x = types.get(t);
  return x.tracked && (x.kind == Kind::Tensor || x.kind == Kind::Float32 || x.kind == Kind::Float64);
}

bool MarkTypes::canTrack(TypeId t) const {
  const Type& x = types.get(t);
  if (x.kind == Kind::Tensor) { Kind e = types.get(x.element).kind; return e == Kind::Float32 || e == Kind::Float64 || e == Kind::Parameter; }
  return x.kind == Kind::Float32 || x.kind == Kind::Float64 || x.kind == Kind::Parameter;
}

// What a type parameter of `decl` in the pattern stands for in the actual type, joined into the arguments.
void MarkTypes::learn(TypeId pattern, TypeId actual, DeclId decl, std::vector<TypeId>& args) {
  if (!pattern || !actual) return;
  const Type p = types.get(pattern), a = types.get(actual);
  if (p.kind == Kind::Parameter && p.decl == decl) {
    if (p.index < args.size()) args[p.index] = transfer(actual, args[p.index]);
    return;
  }
  if (p.kind != a.kind) return;
  if (p.kind == Kind::Tensor) {
    if (p.element && a.element) learn(p.element, a.element, decl, args);
    return;
  }
  learn(p.element, a.element, decl, args);
  learn(p.key, a.key, decl, args);
  for (size_t k = 0; k < p.args.size() && k < a.args.size(); k++) learn(p.args[k], a.args[k], decl, args);
  learn(p.result, a.result, decl, args);
}

// Extents in the caller's names mean nothing to the callee: they are open there.
TypeId MarkTypes::opened(TypeId t) {
  if (!t) return t;
  Type x = types.get(t);
  for (ExtentId& e : x.extents) if (!types.isConstant(e)) e = types.open();
  if (x.element) x.element = opened(x.element);
  if (x.key) x.key = opened(x.key);
  for (TypeId& a : x.args) a = opened(a);
  if (x.result) x.result = opened(x.result);
  return types.intern(x);
}

bool MarkTypes::mentionsTracked(TypeId t) const {
  return t && types.unmarked(t) != t;
}

// ---- instances ----

Marks::Marks(Program& p, Diagnostics& d) : program(p), diagnostics(d) {}
Marks::~Marks() = default;

const InstanceMarks& Marks::of(const Instance& instance) {
  if (!program.get(instance.decl).body) checkBody(program, instance.decl);   // library bodies are checked when reached
  auto& slot = known[instance];
  if (!slot) slot = std::make_unique<Entry>();
  Entry& entry = *slot;
  if (entry.final || entry.busy) {
    if (entry.busy) sawBusy = true;
    return entry.marks;
  }
  bool outer = std::exchange(sawBusy, false);
  entry.busy = true;
  MarkWalk walk(program, *this, instance, entry.marks);
  for (int round = 0; round < 64; round++) if (!walk.round()) break;
  entry.busy = false;
  entry.final = !sawBusy || depth == 0;
  sawBusy = outer || !entry.final;
  return entry.marks;
}

Instance Marks::calleeOf(const Instance& caller, ExprId call) {
  const InstanceMarks& marks = of(caller);
  return targetOf(program, caller, marks, call);
}

// The instance behind a call, from the marked types of its arguments.
Instance targetOf(Program& program, const Instance& caller, const InstanceMarks& marks, ExprId call) {
  MarkTypes t(program.types);
  const Expr& e = program.get(caller.decl).body->exprs[call.index];
  const Decl& callee = program.get(e.callee);
  Instance target;
  target.decl = e.callee;
  for (TypeId a : e.typeArgs) target.typeArgs.push_back(program.types.substitute(a, caller.decl, caller.typeArgs, {}));
  bool window = marks.open[call.index];
  for (size_t k = 0; k < callee.params.size() && k < e.children.size(); k++)
    if (e.children[k]) t.learn(callee.params[k].type, marks.exprs[e.children[k].index], e.callee, target.typeArgs);
  for (TypeId& a : target.typeArgs) a = t.opened(a);
  target.extents.assign(callee.extentParams.size(), -1);
  for (size_t k = 0; k < callee.params.size(); k++) {
    TypeId declared = program.types.substitute(callee.params[k].type, e.callee, target.typeArgs, {});
    if (k < e.children.size() && e.children[k]) declared = t.transfer(marks.exprs[e.children[k].index], declared);
    target.params.push_back(declared);
  }
  target.window = window;
  return target;
}

}  // namespace mica
