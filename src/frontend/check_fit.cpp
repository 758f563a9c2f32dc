// Making a value fit where it goes: what converts by itself, and the message when nothing does. Also the small helpers that make
// nodes and keep the scopes.
#include "frontend/checker.h"

namespace mica {

BodyChecker::BodyChecker(Checker& c, Body& b, DeclId d, uint32_t m)
    : checker(c), context(c.context), program(c.program), types(c.types), body(b), decl(d), module(m), system(c.modules.get(m).system) {}

// ---- scopes ----

void BodyChecker::leave(size_t mark) {
  while (declared.size() > mark) {
    names[declared.back().index].pop_back();
    declared.pop_back();
  }
}

// Makes a name known to the innermost block.
void BodyChecker::enter(NameId name, Place place, Entry entry) {
  std::vector<Entry>& known = names[name.index];
  if (!known.empty() && known.back().position >= scopeMark) error(Span{place, uint32_t(text(name).size())}, "`" + text(name) + "` is already declared in this block");
  entry.position = declared.size();
  known.push_back(entry);
  declared.push_back(name);
}

LocalId BodyChecker::newLocal(std::string name, Place place, TypeId type, Local::Form form, Mode mode) {
  Local l;
  l.form = form;
  l.name = std::move(name);
  l.type = type;
  l.place = place;
  l.mode = mode;
  l.leaf = typ(type).tracked;
  body.locals.push_back(std::move(l));
  return LocalId{uint32_t(body.locals.size() - 1)};
}

LocalId BodyChecker::declareLocal(NameId name, Place place, TypeId type, Local::Form form, Mode mode) {
  LocalId id = newLocal(name ? text(name) : "?", place, type, form, mode);
  if (name && name != word::Discard) enter(name, place, {id, -1, frames.empty() ? 0 : frame().depth});
  return id;
}

const BodyChecker::Entry* BodyChecker::findLocal(NameId name) const {
  auto at = names.find(name.index);
  return at == names.end() || at->second.empty() ? nullptr : &at->second.back();
}

std::vector<std::string> BodyChecker::namesInSight() const {
  std::vector<std::string> names = checker.moduleNames(module);
  if (checker.mayGuess())
    for (NameId d : declared) names.push_back(text(d));
  return names;
}

bool BodyChecker::isLocal(NameId name) const { return findLocal(name) != nullptr; }

std::optional<ConstValue> BodyChecker::localConstant(NameId name) {
  const Entry* e = findLocal(name);
  if (!e || e->constant < 0) return std::nullopt;
  return constants[size_t(e->constant)];
}

TypeScope BodyChecker::typeScope() { return TypeScope{module, decl, &checker.info(decl).generics, this}; }

// ---- nodes ----

ExprId BodyChecker::make(ExprKind kind, TypeId type, const ast::Expr* at) {
  Expr e;
  e.kind = kind;
  e.type = type;
  if (at) {
    e.place = at->place;
    e.start = at->place;
    e.length = at->length;
    if (auto* b = ast::tryAs<ast::BinaryExpr>(at)) e.place = b->opPlace;
  }
  if (kind == ExprKind::Error) {
    body.whole = false;
    if (!frames.empty()) {   // what was refused might have failed: no arm is called superfluous
      for (AttemptFrame& a : frame().attempts) a.used.assign(a.used.size(), true);
    }
  }
  if (at && type && types.parts(type) > TypeTable::MostParts) {
    error(at, "the type of this value has too many parts");
    e.kind = ExprKind::Error;
    e.type = errorType();
    body.whole = false;
  }
  body.exprs.push_back(std::move(e));
  return ExprId{uint32_t(body.exprs.size() - 1)};
}

StmtId BodyChecker::makeStmt(StmtKind kind, Place place) {
  if (kind == StmtKind::Error) body.whole = false;
  Stmt s;
  s.kind = kind;
  s.place = place;
  body.stmts.push_back(std::move(s));
  return StmtId{uint32_t(body.stmts.size() - 1)};
}

ExprId BodyChecker::intLiteral(int64_t value, TypeId type, const ast::Expr* at) {
  ExprId e = make(ExprKind::Int, type, at);
  get(e).intValue = value;
  return e;
}

ExprId BodyChecker::convert(ExprId from, TypeId to, bool isExplicit) {
  Expr copy;
  copy.kind = ExprKind::Convert;
  copy.type = to;
  copy.place = get(from).place;
  copy.start = get(from).start;
  copy.length = get(from).length;
  copy.children = {from};
  copy.explicitConversion = isExplicit;
  body.exprs.push_back(std::move(copy));
  return ExprId{uint32_t(body.exprs.size() - 1)};
}

std::string BodyChecker::quoteExact(const ast::Expr* e) const { return std::string(context.sources.quote(spanOf(e))); }

std::string BodyChecker::quote(const ast::Expr* e) const {
  std::string source = quoteExact(e);
  bool simple = e->kind == ast::ExprKind::Name || e->kind == ast::ExprKind::Field || e->kind == ast::ExprKind::TupleField;
  if (auto* c = ast::tryAs<ast::CallExpr>(e)) simple = c->callee->kind != ast::ExprKind::Index;
  if (auto* i = ast::tryAs<ast::IndexExpr>(e)) {
    simple = true;
    for (const ast::Arg& a : i->args) {
      if (a.value->kind == ast::ExprKind::Range) return "this slice";
    }
  }
  if (e->kind == ast::ExprKind::Binary) simple = true;
  if (!simple || source.size() > 40 || source.empty() || source.find('\n') != std::string::npos) return "this";
  return "`" + source + "`";
}

// ---- what fits ----

bool BodyChecker::widens(TypeId have, TypeId want) {
  Kind h = kindOf(have), w = kindOf(want);
  if (h == Kind::Float32 && w == Kind::Float64) return true;
  if (!isInteger(h) || !isInteger(w)) return false;
  if (isSigned(h)) return isSigned(w) && bitWidth(h) < bitWidth(w);
  return bitWidth(h) < bitWidth(w);
}

BodyChecker::Compat BodyChecker::compatibleExtents(const std::vector<ExtentId>& have, const std::vector<ExtentId>& want) {
  if (have.size() != want.size()) return Compat::No;
  Compat result = Compat::Same;
  for (size_t i = 0; i < have.size(); i++) {
    if (have[i] == want[i] || types.isOpen(want[i])) continue;
    if (!types.isOpen(have[i])) return Compat::No;
    result = Compat::Check;
  }
  return result;
}

BodyChecker::Compat BodyChecker::compatible(TypeId have, TypeId want) {
  if (types.same(have, want)) return Compat::Same;
  const Type& h = typ(have);
  const Type& w = typ(want);
  if (h.kind == Kind::Never) return Compat::Same;
  if (h.kind != w.kind || h.onGpu != w.onGpu || h.decl != w.decl || h.args.size() != w.args.size()) return Compat::No;
  auto part = [&](TypeId a, TypeId b) { return (!a && !b) || compatible(a, b) == Compat::Same; };
  switch (h.kind) {
    case Kind::Tensor: return types.same(h.element, w.element) ? compatibleExtents(h.extents, w.extents) : Compat::No;
    case Kind::Record: case Kind::Choice:
      for (size_t i = 0; i < h.args.size(); i++) {
        if (!part(h.args[i], w.args[i])) return Compat::No;
      }
      // A record carries its extents and can be looked at; a choice does not.
      return h.kind == Kind::Choice && compatibleExtents(h.extents, w.extents) == Compat::Check ? Compat::No : compatibleExtents(h.extents, w.extents);
    case Kind::Array: return h.extents == w.extents && part(h.element, w.element) ? Compat::Same : Compat::No;
    case Kind::List: case Kind::Set: case Kind::Optional: case Kind::Box: case Kind::Handle:
      return part(h.element, w.element) ? Compat::Same : Compat::No;
    case Kind::Map: return part(h.key, w.key) && part(h.element, w.element) ? Compat::Same : Compat::No;
    case Kind::Tuple:
      for (size_t i = 0; i < h.args.size(); i++) {
        if (!part(h.args[i], w.args[i])) return Compat::No;
      }
      return Compat::Same;
    case Kind::Function:
      if (h.modes != w.modes || h.fails != w.fails || !part(h.result, w.result)) return Compat::No;
      for (size_t i = 0; i < h.args.size(); i++) {
        if (!part(w.args[i], h.args[i])) return Compat::No;
      }
      return Compat::Same;
    default: return Compat::No;
  }
}

// `consumerChecks`: declarations, assignments, results and arguments meet their `?` themselves; elsewhere a Convert does.
ExprId BodyChecker::fit(ExprId e, const Want& want, const ast::Expr* at, bool consumerChecks) {
  TypeId have = typeOf(e), target = want.type;
  if (!target || isError(have) || isError(target)) return e;
  Compat c = compatible(have, target);
  if (c == Compat::Same) return e;
  if (c == Compat::Check && consumerChecks) return e;
  if (c == Compat::Check) return convert(e, types.unmarked(target));
  if (widens(have, target)) return convert(e, types.unmarked(target));
  if (kindOf(have) == Kind::Box && compatible(typ(have).element, target) == Compat::Same) {   // what lies in a box is a place
    return makeBuiltin(Builtin::Unbox, typ(have).element, {e}, {}, at);
  }
  if (kindOf(target) == Kind::Optional) {
    TypeId inner = typ(target).element;
    bool fits = compatible(have, inner) != Compat::No || widens(have, inner);
    if (fits) {
      ExprId value = fit(e, {inner, want.what}, at);
      ExprId some = make(ExprKind::Some, types.unmarked(target), at);
      get(some).children = {value};
      return some;
    }
  }
  refuse(e, want, at);
  return errorExpr(at);
}

void BodyChecker::refuse(ExprId e, const Want& want, const ast::Expr* at) {
  TypeId have = typeOf(e);
  std::string value = at ? quote(at) : "this";
  Span span = at ? spanOf(at) : Span{get(e).start, get(e).length};
  if (kindOf(have) == Kind::Unit) {
    error(span, want.what + " is " + aType(want.type) + ", and " + value + " has no value");
    return;
  }
  auto& message = error(span, want.what + " is " + aType(want.type) + " and " + value + " is " + aType(have));
  Kind h = kindOf(have), w = kindOf(want.type);
  bool numbers = (isInteger(h) || isFloat(h)) && (isInteger(w) || isFloat(w));
  std::string source = at ? quoteExact(at) : "…";
  if (source.size() > 40) source = "…";
  if (numbers || (h == Kind::Char && isInteger(w)) || (isInteger(h) && w == Kind::Char)) message.note("write `" + show(want.type) + "(" + source + ")`");
  else if (h == Kind::Optional && types.same(typ(have).element, want.type)) message.note("write `try " + source + " else …`, or `if let`");
  else if (w == Kind::String && isPrintable(program, have)) message.note("write `\"{" + source + "}\"`");
  else if (h == Kind::Tensor && w == Kind::Tensor && types.same(typ(have).element, typ(want.type).element) && typ(have).extents.size() == typ(want.type).extents.size() && want.what.size() > 2 && want.what[0] == '`' && findLocal(context.names.find(want.what.substr(1, want.what.size() - 2)))) {
    Type open = typ(want.type);
    open.tracked = false;
    bool differs = false;
    for (size_t i = 0; i < open.extents.size(); i++) {
      if (open.extents[i] != typ(have).extents[i]) { open.extents[i] = types.open(); differs = true; }
    }
    const Entry* entry = findLocal(context.names.find(want.what.substr(1, want.what.size() - 2)));
    if (differs && entry && entry->local && get(entry->local).form == Local::Form::Var)
      message.note("write `var " + want.what.substr(1, want.what.size() - 2) + ": " + show(types.intern(open)) + "` for an extent that changes");
  } else if (h == Kind::Tensor && w == Kind::Tensor && !types.same(typ(have).element, typ(want.type).element)) {
    message.note("write `" + show(typ(want.type).element) + "(" + source + ")` to convert each element");
  } else if (h == Kind::List && w == Kind::Tensor) {
    message.note("write `Vector(" + source + ")`");
  } else if (h == Kind::Tensor && w == Kind::List) {
    message.note("write `List(" + source + ")`");
  }
}

ExprId BodyChecker::exprAs(const ast::Expr* e, TypeId type, std::string what, bool consumerChecks) {
  return fit(expr(e, type), {type, std::move(what)}, e, consumerChecks);
}

ExprId BodyChecker::condition(const ast::Expr* e) {
  ExprId c = expr(e, boolType());
  Kind k = kindOf(c);
  if (k == Kind::Error || k == Kind::Bool || k == Kind::Never) return c;
  auto& message = error(e, "a condition is a bool, and " + quote(e) + " is " + aType(typeOf(c)));
  if (k == Kind::Optional) message.note("write `if let x := " + quoteExact(e) + " then`");
  else if (isInteger(k)) message.note("write `" + quoteExact(e) + " <> 0`");
  return errorExpr(e);
}

ExprId BodyChecker::indexValue(const ast::Expr* e) {
  ExprId i = expr(e, intType());
  Kind k = kindOf(i);
  if (k == Kind::Error || isInteger(k) || k == Kind::Never) return i;
  if (e->kind == ast::ExprKind::Range) return i;
  auto& message = error(e, "an index is an integer, and " + quote(e) + " is " + aType(typeOf(i)));
  if (isFloat(k)) message.note("write `int(" + quoteExact(e) + ")`");
  return errorExpr(e);
}

TypeId BodyChecker::withoutOptional(TypeId hint) {
  while (hint && kindOf(hint) == Kind::Optional) hint = typ(hint).element;
  return hint;
}

// The type of a value that comes from one of two branches.
TypeId BodyChecker::join(TypeId a, TypeId b) {
  if (kindOf(a) == Kind::Never || isError(a)) return b;
  if (kindOf(b) == Kind::Never || isError(b)) return a;
  a = types.unmarked(a);
  b = types.unmarked(b);
  if (types.same(a, b)) return a;
  if (widens(a, b)) return b;
  if (widens(b, a)) return a;
  const Type x = typ(a), y = typ(b);
  if (x.kind == Kind::Optional && y.kind != Kind::Optional) return compatible(b, x.element) != Compat::No || widens(b, x.element) ? a : TypeId{};
  if (y.kind == Kind::Optional && x.kind != Kind::Optional) return compatible(a, y.element) != Compat::No || widens(a, y.element) ? b : TypeId{};
  bool shaped = (x.kind == Kind::Tensor && y.kind == Kind::Tensor && types.same(x.element, y.element)) || ((x.kind == Kind::Record || x.kind == Kind::Choice) && x.kind == y.kind && x.decl == y.decl && x.args == y.args);
  if (shaped && x.extents.size() == y.extents.size()) {
    Type out = x;
    for (size_t i = 0; i < out.extents.size(); i++) {
      if (x.extents[i] == y.extents[i]) continue;
      if (!types.isOpen(x.extents[i]) && !types.isOpen(y.extents[i])) return {};
      out.extents[i] = types.open();
    }
    return types.intern(out);
  }
  return {};
}

}  // namespace mica
