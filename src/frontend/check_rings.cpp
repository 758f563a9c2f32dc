// Types without end: records and choices that hold themselves, and generic ones that hold ever larger instances of themselves. Both are
// rings in a graph, of declarations or of type parameters, and are found in time linear in the program, with one message for each ring.
#include "frontend/checker.h"
#include "frontend/components.h"

namespace mica {

namespace {

bool isData(const Decl& d) { return d.kind == DeclKind::Record || d.kind == DeclKind::Choice; }

template <class Visit> void eachField(const Decl& d, Visit visit) {
  for (const FieldDecl& f : d.fields) visit(f.type);
  for (const CaseDecl& c : d.cases) {
    for (const FieldDecl& f : c.fields) visit(f.type);
  }
}

// The declarations whose values lie inside a value of this type, not behind a list, map or box.
void inlineParts(const TypeTable& types, TypeId t, std::vector<uint32_t>& out) {
  const Type& type = types.get(t);
  switch (type.kind) {
    case Kind::Record: case Kind::Choice: out.push_back(type.decl.index); break;
    case Kind::Tuple:
      for (TypeId a : type.args) inlineParts(types, a, out);
      break;
    case Kind::Array: case Kind::Optional: inlineParts(types, type.element, out); break;
    default: break;
  }
  // The arguments of a generic type may lie inside too; a ring through them passes a record of the ring in any case.
  if (type.kind == Kind::Record || type.kind == Kind::Choice) {
    for (TypeId a : type.args) inlineParts(types, a, out);
  }
}

}  // namespace

// One message for each ring, at the member that is declared first.
void Checker::checkRings() {
  std::vector<std::vector<uint32_t>> parts(program.decls.size());
  for (uint32_t i = 0; i < program.decls.size(); i++) {
    if (isData(program.decls[i])) eachField(program.decls[i], [&](TypeId t) { inlineParts(types, t, parts[i]); });
  }
  std::vector<uint32_t> component = components(parts), members(parts.size());
  for (uint32_t c : component) members[c]++;
  std::vector<bool> told(parts.size());
  for (uint32_t i = 0; i < parts.size(); i++) {
    bool ring = members[component[i]] > 1 || std::find(parts[i].begin(), parts[i].end(), i) != parts[i].end();
    if (!ring || told[component[i]]) continue;
    told[component[i]] = true;
    const Decl& d = program.decls[i];
    context.diagnostics.error(Span{d.place, uint32_t(d.name.size())}, "a value of `" + d.name + "` would contain another value of `" + d.name + "` without end")
      .note("put `box`, `list of` or `map of` between them");
  }
}

// An edge of the second graph: a parameter of one declaration is passed to a parameter of another, alone or inside a larger type.
struct Checker::Passing { uint32_t from, to; bool larger; };

// All parameters of `owner` in a type that is passed to the parameter `to`.
void Checker::passes(TypeId t, DeclId owner, uint32_t to, bool larger, std::vector<Passing>& out) {
  if (!t) return;
  const Type& type = types.get(t);
  if (type.kind == mica::Kind::Parameter && type.decl == owner) out.push_back({parameterNode(owner, type.index), to, larger});
  for (TypeId part : {type.element, type.key, type.result}) passes(part, owner, to, true, out);
  for (TypeId a : type.args) passes(a, owner, to, true, out);
  for (ExtentId e : type.extents) passes(e, owner, to, out, true);
}

void Checker::passes(ExtentId e, DeclId owner, uint32_t to, std::vector<Passing>& out, bool inType) {
  if (types.isOpen(e)) return;
  const Extent& extent = types.get(e);
  bool alone = !inType && extent.terms.size() == 1 && extent.terms[0].coefficient == 1 && extent.terms[0].atoms.size() == 1;
  for (const Monomial& term : extent.terms) {
    for (AtomId id : term.atoms) {
      const Atom& atom = types.get(id);
      if (atom.form != Atom::Form::Name) {
        passes(atom.left, owner, to, out, true);
        passes(atom.right, owner, to, out, true);
      } else if (atom.decl == owner) {
        out.push_back({parameterNode(owner, uint32_t(program.get(owner).typeParams.size()) + atom.index), to, !alone});
      }
    }
  }
}

// Every generic type that is written inside a type, with what is passed to it.
void Checker::passings(TypeId t, DeclId owner, std::vector<Passing>& out) {
  if (!t) return;
  const Type& type = types.get(t);
  for (TypeId part : {type.element, type.key, type.result}) passings(part, owner, out);
  for (TypeId a : type.args) passings(a, owner, out);
  if (type.kind != mica::Kind::Record && type.kind != mica::Kind::Choice) return;
  for (uint32_t k = 0; k < type.args.size(); k++) passes(type.args[k], owner, parameterNode(type.decl, k), false, out);
  for (uint32_t k = 0; k < type.extents.size(); k++) passes(type.extents[k], owner, parameterNode(type.decl, uint32_t(type.args.size()) + k), out, false);
}

uint32_t Checker::parameterNode(DeclId d, uint32_t k) {
  auto [at, fresh] = parameterNodes.try_emplace(uint64_t(d.index) << 32 | k, uint32_t(parameterOwners.size()));
  if (fresh) parameterOwners.push_back(d);
  return at->second;
}

// Instances grow without end exactly when a parameter comes back to itself inside a larger type.
void Checker::checkGrowth() {
  std::vector<Passing> edges;
  for (uint32_t i = 0; i < program.decls.size(); i++) {
    const Decl& d = program.decls[i];
    if (isData(d) && !(d.typeParams.empty() && d.extentParams.empty())) eachField(d, [&](TypeId t) { passings(t, DeclId{i}, edges); });
  }
  std::vector<std::vector<uint32_t>> next(parameterOwners.size());
  for (const Passing& p : edges) next[p.from].push_back(p.to);
  std::vector<uint32_t> component = components(next);
  std::vector<bool> told(next.size());
  for (const Passing& p : edges) {
    if (!p.larger || component[p.from] != component[p.to] || told[component[p.from]]) continue;
    told[component[p.from]] = true;
    const Decl& d = program.get(parameterOwners[p.from]);
    std::string own;
    for (const TypeParam& t : d.typeParams) own += (own.empty() ? "" : ", ") + t.name;
    for (const std::string& e : d.extentParams) own += (own.empty() ? "" : ", ") + e;
    context.diagnostics.error(Span{d.place, uint32_t(d.name.size())}, "`" + d.name + "` would hold larger and larger types without end")
      .note("give `" + d.name + "` inside itself its own names: `" + d.name + "[" + own + "]`");
  }
}

}  // namespace mica
