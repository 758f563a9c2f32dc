// `each`: the walk over the tracked tensors and floats of records. The body is checked once for each type of leaf, so that `Rank(p)`
// and shapes are known in it.
#include <algorithm>

#include "frontend/checker.h"

namespace mica {

// The types of the leaves in order of first occurrence: fields marked `tracked`, through records, arrays and lists. They are the held types
// (check_places.cpp); of two that are one type the stricter stands for both.
void BodyChecker::collectLeaves(TypeId type, std::vector<TypeId>& out, std::vector<TypeId>& open) {
  const Type t = typ(type);
  if (t.tracked) {
    TypeId plain = types.unmarked(type);
    auto known = std::find_if(out.begin(), out.end(), [&](TypeId leaf) { return opened(leaf) == opened(plain); });
    if (known == out.end()) out.push_back(plain);
    else if (!mentionsHeld(*known)) *known = plain;
    return;
  }
  if (t.kind == Kind::Array || t.kind == Kind::List) return collectLeaves(t.element, out, open);
  if (t.kind != Kind::Record || std::find(open.begin(), open.end(), type) != open.end() || open.size() > 100) return;
  open.push_back(type);
  checker.ensureSignature(t.decl);
  for (const FieldDecl& f : program.get(t.decl).fields) collectLeaves(types.substitute(f.type, t.decl, t.args, holding(t.extents)), out, open);
  open.pop_back();
}

bool BodyChecker::recordWalks(TypeId type, const ast::Expr* at, const std::string& who) {
  std::vector<TypeId> leaves, open;
  collectLeaves(type, leaves, open);
  if (!leaves.empty()) return true;
  std::string field;
  for (const FieldDecl& f : program.get(typ(type).decl).fields) {
    bool floats = isFloat(kindOf(f.type)) || (kindOf(f.type) == Kind::Tensor && isFloat(kindOf(typ(f.type).element)));
    if (floats && field.empty()) field = f.name + ": tracked " + show(types.unmarked(f.type));
  }
  auto& m = error(at, "`" + who + "` finds nothing tracked in `" + show(type) + "`");
  m.note(field.empty() ? "mark the fields that are learned `tracked`" : "mark the fields that are learned, `" + field + "`");
  return false;
}

// What a checkpoint holds: tensors, scalars, strings and lists of scalars, in records, arrays and tuples. Reports the first field that is none of these.
bool BodyChecker::checkpointHolds(TypeId type, const std::string& path, const ast::Expr* at, int depth) {
  if (depth > 100) return true;   // a record in itself has been refused
  const Type t = typ(type);
  auto isScalar = [](Kind k) { return isInteger(k) || isFloat(k) || k == Kind::Bool || k == Kind::Char || k == Kind::Parameter || k == Kind::Error; };
  if (isScalar(t.kind) || t.kind == Kind::Tensor || t.kind == Kind::String || (t.kind == Kind::List && isScalar(kindOf(t.element)))) return true;
  if (t.kind == Kind::Array) return checkpointHolds(t.element, path, at, depth + 1);
  auto inner = [&](const std::string& name) { return path.empty() ? name : path + "." + name; };
  if (t.kind == Kind::Record) {
    checker.ensureSignature(t.decl);
    for (const FieldDecl& f : program.get(t.decl).fields)
      if (!checkpointHolds(types.substitute(f.type, t.decl, t.args, t.extents), inner(f.name), at, depth + 1)) return false;
    return true;
  }
  if (t.kind == Kind::Tuple) {
    for (size_t i = 0; i < t.args.size(); i++)
      if (!checkpointHolds(t.args[i], inner(std::to_string(i)), at, depth + 1)) return false;
    return true;
  }
  error(at, "a checkpoint does not hold " + aType(type) + ", and `" + path + "` is one")
      .note("it holds tensors, numbers, bools, chars, strings and lists of numbers, in records, arrays and tuples");
  return false;
}

bool BodyChecker::sameStructure(TypeId a, TypeId b, std::string* where) {
  const Type x = typ(a), y = typ(b);
  if (x.kind != Kind::Record || y.kind != Kind::Record) return types.same(a, b);
  if (x.decl == y.decl) return true;
  const Decl& d = program.get(x.decl);
  const Decl& f = program.get(y.decl);
  for (size_t i = 0; i < std::max(d.fields.size(), f.fields.size()); i++) {
    if (i >= d.fields.size()) *where = f.fields[i].name;
    else if (i >= f.fields.size()) *where = d.fields[i].name;
    else if (d.fields[i].name != f.fields[i].name || d.fields[i].type != f.fields[i].type) *where = f.fields[i].name;
    else continue;
    return false;
  }
  return false;
}

void BodyChecker::eachStatement(const ast::EachStmt* s, std::vector<StmtId>& out) {
  StmtId id = makeStmt(StmtKind::Each, s->place);
  std::vector<ExprId> records;
  bool fine = s->names.size() == s->records.size();   // the parser has said so
  for (const ast::Expr* r : s->records) {
    ExprId x = expr(r);
    if (!isError(x) && kindOf(x) != Kind::Record) {
      error(r, "`each` walks records, and " + quote(r) + " is " + aType(typeOf(x)));
      x = errorExpr(r);
    }
    fine = fine && !isError(x);
    records.push_back(x);
  }
  for (size_t i = 1; fine && i < records.size(); i++) {
    const Type a = typ(typeOf(records[0])), b = typ(typeOf(records[i]));
    bool alike = a.decl == b.decl && a.args == b.args;
    if (alike && compatibleExtents(b.extents, a.extents) != Compat::No) continue;
    std::string where;
    sameStructure(typeOf(records[0]), typeOf(records[i]), &where);
    std::string in = alike ? " in their extents" : where.empty() ? " in their types" : " at `" + where + "`";
    error(Span{s->place, 4}, "`each` needs records of one structure, and `" + show(typeOf(records[0])) + "` and `" + show(typeOf(records[i])) + "` differ" + in);
    fine = false;
  }
  std::vector<TypeId> leaves, open;
  if (fine) {
    collectLeaves(typeOf(records[0]), leaves, open);
    if (leaves.empty()) fine = recordWalks(typeOf(records[0]), s->records[0], "each");
  }
  if (!fine) {   // the body is looked at for its own mistakes, with names that fit everywhere
    Scope scope(*this);
    for (const ast::Name& n : s->names) {
      if (n) declareLocal(n.id, n.place, errorType(), Local::Form::LoopRead);
    }
    if (s->path) declareLocal(s->path.id, s->path.place, stringType(), Local::Form::LoopRead);
    std::vector<StmtId> ignored;
    loopBody(s->body, ignored);
    return;
  }
  std::vector<EachLeaf> variants;
  for (TypeId leaf : leaves) {
    Scope scope(*this);
    EachLeaf v;
    v.type = opened(leaf);
    for (size_t i = 0; i < s->names.size(); i++) {
      TypeId type = v.type;
      LocalId local = declareLocal(s->names[i].id, s->names[i].place, i == 0 ? types.withMark(type, true) : type, Local::Form::LoopRead);
      eachLocals.insert(local.index);
      heldLocals[local.index] = leaf;
      v.locals.push_back(local);
    }
    if (s->path) v.path = declareLocal(s->path.id, s->path.place, stringType(), Local::Form::LoopRead);
    loopBody(s->body, v.body);
    for (size_t i = 0; i < v.locals.size(); i++) {
      if (get(v.locals[i]).form == Local::Form::LoopInout) markChanged(records[i]);
    }
    variants.push_back(std::move(v));
  }
  get(id).values = std::move(records);
  get(id).leaves = std::move(variants);
  get(id).end = s->body.end;
  out.push_back(id);
}

// Conditions on `Rank(p)` are decided here: true, false, or nothing when the condition is of another kind.
std::optional<bool> BodyChecker::rankCondition(const ast::Expr* e) {
  if (auto* u = ast::tryAs<ast::UnaryExpr>(e); u && u->op == ast::UnaryOp::Not) {
    auto inner = rankCondition(u->operand);
    return inner ? std::optional<bool>(!*inner) : std::nullopt;
  }
  auto* b = ast::tryAs<ast::BinaryExpr>(e);
  if (!b) return std::nullopt;
  if (b->op == ast::BinaryOp::And || b->op == ast::BinaryOp::Or) {
    bool isAnd = b->op == ast::BinaryOp::And;
    auto left = rankCondition(b->left);
    if (!left) return std::nullopt;
    if (*left != isAnd) return *left;
    auto right = rankCondition(b->right);
    return right ? right : std::nullopt;
  }
  auto rankOf = [&](const ast::Expr* x) -> int {
    auto* c = ast::tryAs<ast::CallExpr>(x);
    auto* n = c && c->args.size() == 1 ? ast::tryAs<ast::NameExpr>(c->callee) : nullptr;
    if (!n || !n->name || context.names.text(n->name) != "Rank" || findLocal(n->name) || checker.find(module, n->name)) return -1;
    auto* v = ast::tryAs<ast::NameExpr>(c->args[0].value);
    const Entry* local = v && v->name ? findLocal(v->name) : nullptr;
    if (!local || !local->local) return -1;
    const Type& t = typ(get(local->local).type);
    if (t.kind == Kind::Tensor) return int(t.extents.size());
    return isFloat(t.kind) ? 0 : -1;
  };
  auto side = [&](const ast::Expr* x, bool* isRank) -> std::optional<int64_t> {
    int r = rankOf(x);
    if (r >= 0) {
      *isRank = true;
      return r;
    }
    ConstValue v = checker.evaluate(x, typeScope(), false);
    if (v.kind != ConstValue::Kind::Int) return std::nullopt;
    return int64_t(v.integer);
  };
  bool isRank = false;
  auto left = side(b->left, &isRank), right = side(b->right, &isRank);
  if (!left || !right || !isRank) return std::nullopt;
  switch (b->op) {
    case ast::BinaryOp::Equal: return *left == *right;
    case ast::BinaryOp::NotEqual: return *left != *right;
    case ast::BinaryOp::Less: return *left < *right;
    case ast::BinaryOp::LessEqual: return *left <= *right;
    case ast::BinaryOp::Greater: return *left > *right;
    case ast::BinaryOp::GreaterEqual: return *left >= *right;
    default: return std::nullopt;
  }
}

}  // namespace mica
