// Which instances are walked, and what their callers learn about them.
#include "frontend/tape_rules.h"

#include "frontend/check.h"
#include "frontend/tape_walk.h"

namespace mica {

bool checkTapeRules(Program& program, Marks& marks, Diagnostics& diagnostics, const SourceFiles& sources) {
  return tape::Rules(program, marks, diagnostics, sources).run();
}

namespace tape {

bool Rules::usesTapes() const {
  for (const Decl& d : program.decls) {
    if (!d.body || d.system) continue;
    for (const Stmt& s : d.body->stmts) if (s.kind == StmtKind::Tape || s.kind == StmtKind::Backward) return true;
    for (const Expr& e : d.body->exprs) if (e.kind == ExprKind::Gradient) return true;
  }
  return false;
}

// `Main` and the tests first, so that instances are known by the calls that the program makes; then what nobody calls.
bool Rules::run() {
  uint32_t before = diagnostics.errorCount();
  if (!usesTapes()) return true;
  auto walk = [&](DeclId id) {
    const Decl& d = program.get(id);
    if (!d.body || d.system) return;
    Instance i;
    i.decl = id;
    i.extents.assign(d.extentParams.size(), -1);
    for (const ParamDecl& p : d.params) i.params.push_back(p.type);
    of(i, "");
  };
  if (program.main) walk(program.main);
  for (DeclId test : program.tests) walk(test);
  std::set<uint32_t> reached;
  for (const auto& [instance, summary] : known) reached.insert(instance.decl.index);
  for (uint32_t k = 0; k < program.decls.size(); k++) {
    DeclKind kind = program.decls[k].kind;
    if (!reached.count(k) && (kind == DeclKind::Function || kind == DeclKind::Test)) walk(DeclId{k});
  }
  return diagnostics.errorCount() == before;
}

const Summary& Rules::of(const Instance& instance, const std::string& askedBy) {
  auto& slot = known[instance];
  if (slot) return *slot;
  slot = std::make_unique<Summary>();
  Summary& summary = *slot;
  summary.stores.resize(instance.params.size());
  summary.busy = true;
  Walk(*this, instance, summary, askedBy).run();
  summary.busy = false;
  return summary;
}

// The first window in a body or in what it calls.
Place Rules::windowIn(const Body& body, std::set<uint32_t>& seen) {
  for (const Stmt& s : body.stmts) if (s.kind == StmtKind::Tape) return s.place;
  for (const Expr& e : body.exprs) {
    if ((e.kind != ExprKind::Call && e.kind != ExprKind::Function) || !e.callee || !seen.insert(e.callee.index).second) continue;
    const Decl& d = program.get(e.callee);
    if (!d.body || d.system) continue;
    if (Place at = windowIn(*d.body, seen); at.file) return at;
  }
  return {};
}

Place Rules::windowOf(DeclId id) {
  auto [at, isNew] = windows.try_emplace(id.index, Place{});
  const Decl& d = program.get(id);
  if (!isNew || !d.body || d.system) return at->second;
  std::set<uint32_t> seen{id.index};
  at->second = windowIn(*d.body, seen);
  return at->second;
}

}  // namespace tape
}  // namespace mica
