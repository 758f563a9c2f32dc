// Generic functions that call themselves with ever larger types would be compiled without end. Here the instances that the program's own
// bodies ask for are followed, types alone, and a call that goes too deep is refused.
#include <map>
#include <set>

#include "frontend/checker.h"

namespace mica {

namespace {

constexpr uint32_t DeepestType = 40, MostInstances = 20000;

}  // namespace

uint32_t Checker::depthOf(TypeId t) {
  if (!t) return 0;
  if (t.index < depths.size() && depths[t.index]) return depths[t.index];
  const Type& type = types.get(t);
  uint32_t deepest = std::max(depthOf(type.element), std::max(depthOf(type.key), depthOf(type.result)));
  for (TypeId a : type.args) deepest = std::max(deepest, depthOf(a));
  if (depths.size() <= t.index) depths.resize(t.index + 1, 0);
  return depths[t.index] = deepest + 1;
}

void Checker::checkInstances() {
  using Instance = std::pair<DeclId, std::vector<TypeId>>;
  std::set<Instance> seen;
  std::vector<Instance> work;
  for (uint32_t i = 0; i < program.decls.size(); i++) {
    const Decl& d = program.decls[i];
    if (d.body && d.typeParams.empty() && (d.kind == DeclKind::Function || d.kind == DeclKind::Test)) work.push_back({DeclId{i}, {}});
  }
  while (!work.empty()) {
    Instance next = std::move(work.back());
    work.pop_back();
    if (!seen.insert(next).second) continue;
    Decl& d = program.get(next.first);
    for (Expr& e : d.body->exprs) {
      if (e.typeArgs.empty() || (e.kind != ExprKind::Call && e.kind != ExprKind::Function) || !program.get(e.callee).body) continue;
      std::vector<TypeId> args;
      bool tooDeep = seen.size() > MostInstances, broken = false;
      for (TypeId t : e.typeArgs) {
        args.push_back(types.substitute(t, next.first, next.second, {}));
        tooDeep = tooDeep || depthOf(args.back()) > DeepestType;
        broken = broken || types.hasError(args.back());
      }
      if (broken) continue;
      if (!tooDeep) {
        work.push_back({e.callee, std::move(args)});
        continue;
      }
      const std::string& name = program.get(e.callee).name;
      context.diagnostics.error(Span{e.start, e.length}, "`" + name + "` would be compiled for types without end")
        .note("this call is made with `" + show(program, e.typeArgs[0]) + "`, which grows with each call");
      e.kind = ExprKind::Error;   // nobody behind the checker follows it
      e.type = types.scalar(mica::Kind::Error);
      d.body->whole = false;
    }
  }
}

}  // namespace mica
