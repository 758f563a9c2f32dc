// Marks of instances. See marks.h.
#include "frontend/marks.h"

namespace mica {

const InstanceMarks& Marks::of(const Instance& instance) {
  auto& entry = known[instance];
  if (entry) return *entry;
  entry = std::make_unique<InstanceMarks>();
  InstanceMarks& m = *entry;
  const Decl& decl = program.get(instance.decl);
  auto put = [&](TypeId t) { return t && !instance.typeArgs.empty() ? program.types.substitute(t, instance.decl, instance.typeArgs, {}) : t; };
  if (decl.body) {
    for (const Expr& e : decl.body->exprs) m.exprs.push_back(put(e.type));
    for (const Local& x : decl.body->locals) m.locals.push_back(put(x.type));
    m.recorded.assign(decl.body->exprs.size(), 0);
    m.open.assign(decl.body->exprs.size(), 0);
  }
  m.result = put(decl.result);
  return m;
}

Instance Marks::calleeOf(const Instance& caller, ExprId call) {
  const Expr& e = program.get(caller.decl).body->exprs[call.index];
  Instance target;
  target.decl = e.callee;
  for (TypeId t : e.typeArgs) target.typeArgs.push_back(program.types.substitute(t, caller.decl, caller.typeArgs, {}));
  const Decl& callee = program.get(e.callee);
  target.extents.assign(callee.extentParams.size(), -1);
  for (const ParamDecl& p : callee.params) target.params.push_back(program.types.substitute(p.type, e.callee, target.typeArgs, {}));
  return target;
}

}  // namespace mica
