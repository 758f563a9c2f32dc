// Expressions: names, literals, fields and the forms that choose between values. Operators are in check_ops.cpp, brackets and
// literals of several values in check_collections.cpp, calls in check_call.cpp.
#include <algorithm>
#include <cmath>

#include "frontend/checker.h"

namespace mica {

ExprId BodyChecker::expr(const ast::Expr* e, TypeId hint) {
  if (hint && kindOf(hint) == Kind::Error) hint = {};
  switch (e->kind) {
    case ast::ExprKind::Error: return errorExpr(e);
    case ast::ExprKind::Integer: return integer(ast::as<ast::IntegerExpr>(e), hint, false, e);
    case ast::ExprKind::Float: return floating(ast::as<ast::FloatExpr>(e), hint, false, e);
    case ast::ExprKind::Char: {
      uint32_t code = ast::as<ast::CharExpr>(e)->codePoint;
      bool byte = kindOf(withoutOptional(hint)) == Kind::UInt8;
      if (byte && code > 255) {
        error(e, "this char does not fit a byte");
        return errorExpr(e);
      }
      ExprId c = make(byte ? ExprKind::Int : ExprKind::Char, scalar(byte ? Kind::UInt8 : Kind::Char), e);
      get(c).intValue = code;
      return c;
    }
    case ast::ExprKind::Bool: {
      ExprId b = make(ExprKind::Bool, boolType(), e);
      get(b).intValue = ast::as<ast::BoolExpr>(e)->value;
      return b;
    }
    case ast::ExprKind::None:
      if (kindOf(hint) != Kind::Optional) {
        if (!hint) error(e, "`none` needs its type from the place where it goes").note("write `let x: int? := none`, for example");
        else error(e, "`none` is no " + show(hint)).note("write `" + (kindOf(hint) == Kind::Box ? "(" + show(hint) + ")" : show(hint)) + "?` where the value may be missing");
        return errorExpr(e);
      }
      return make(ExprKind::None, types.unmarked(hint), e);
    case ast::ExprKind::String: {
      ExprId s = make(ExprKind::String, stringType(), e);
      get(s).text = std::string(ast::as<ast::StringExpr>(e)->text);
      return s;
    }
    case ast::ExprKind::Interpolation: return interpolation(ast::as<ast::InterpolationExpr>(e));
    case ast::ExprKind::Name: return name(ast::as<ast::NameExpr>(e), hint);
    case ast::ExprKind::Discard: error(e, "`_` has no value"); return errorExpr(e);
    case ast::ExprKind::Field: return field(ast::as<ast::FieldExpr>(e), hint);
    case ast::ExprKind::TupleField: return tupleField(ast::as<ast::TupleFieldExpr>(e));
    case ast::ExprKind::Index: return index(ast::as<ast::IndexExpr>(e), hint);
    case ast::ExprKind::Call: return call(ast::as<ast::CallExpr>(e), hint);
    case ast::ExprKind::Unary: return unary(ast::as<ast::UnaryExpr>(e), hint);
    case ast::ExprKind::Binary: return binary(ast::as<ast::BinaryExpr>(e), hint);
    case ast::ExprKind::Range: error(e, "a range stands in `for`, `in`, `case` and in brackets only"); return errorExpr(e);
    case ast::ExprKind::If: return ifExpr(ast::as<ast::IfExpr>(e), hint);
    case ast::ExprKind::Match: return matchExpr(ast::as<ast::MatchExpr>(e), hint);
    case ast::ExprKind::Try: return tryExpr(ast::as<ast::TryExpr>(e), hint);
    case ast::ExprKind::Jump: error(e, "this leaves, and a value is expected here"); return errorExpr(e);
    case ast::ExprKind::Tuple: return tuple(ast::as<ast::TupleExpr>(e), hint);
    case ast::ExprKind::List: return listLiteral(ast::as<ast::ListExpr>(e), hint);
    case ast::ExprKind::Set: return setLiteral(ast::as<ast::SetExpr>(e), hint);
    case ast::ExprKind::Map: return mapLiteral(ast::as<ast::MapExpr>(e), hint);
    case ast::ExprKind::EmptyBraces: return emptyBraces(e, hint);
    case ast::ExprKind::Comprehension: return comprehension(ast::as<ast::ComprehensionExpr>(e), hint);
    case ast::ExprKind::Closure: return closure(ast::as<ast::ClosureExpr>(e), hint);
    case ast::ExprKind::Spawn: error(e, "this compiler does not have `spawn` yet"); return errorExpr(e);
    case ast::ExprKind::TypeLiteral: error(e, "a value is expected here, and this is a type"); return errorExpr(e);
    case ast::ExprKind::Expand: error(e, "`...` belongs to the signatures of the vocabulary"); return errorExpr(e);
  }
  return errorExpr(e);
}

// ---- literals ----

ExprId BodyChecker::integer(const ast::IntegerExpr* e, TypeId hint, bool negative, const ast::Expr* whole) {
  TypeId to = withoutOptional(hint);
  Kind k = kindOf(to);
  if (isFloat(k)) {
    ExprId f = make(ExprKind::Float, types.unmarked(to), whole);
    double v = k == Kind::Float32 ? double(float(e->value)) : double(e->value);
    get(f).floatValue = negative ? -v : v;
    return f;
  }
  // A generic number takes whole literals: written in an instance's own type.
  bool generic = k == Kind::Parameter && copies(program, to);
  if (!isInteger(k)) k = Kind::Int64;
  uint32_t bits = bitWidth(k);
  uint64_t most = isSigned(k) ? (uint64_t(1) << (bits - 1)) - (negative ? 0 : 1) : bits == 64 ? UINT64_MAX : (uint64_t(1) << bits) - 1;
  if (negative && !isSigned(k)) most = 0;
  if (e->value > most) {
    error(whole, std::string(negative ? "-" : "") + std::to_string(e->value) + " does not fit " + (k == Kind::Int64 ? "an int" : showWithArticle(program, scalar(k))));
    return errorExpr(whole);
  }
  ExprId i = intLiteral(int64_t(negative ? 0 - e->value : e->value), generic ? types.unmarked(to) : scalar(k), whole);
  return i;
}

ExprId BodyChecker::floating(const ast::FloatExpr* e, TypeId hint, bool negative, const ast::Expr* whole) {
  TypeId to = withoutOptional(hint);
  Kind k = kindOf(to);
  bool generic = k == Kind::Parameter && copies(program, to);
  bool narrow = k == Kind::Float32;
  double v = narrow ? double(e->value32) : e->value64;
  if (std::isinf(v)) {
    error(whole, std::string("this number is too large for a ") + (narrow ? "float32" : "float64"));
    return errorExpr(whole);
  }
  ExprId f = make(ExprKind::Float, generic ? types.unmarked(to) : scalar(narrow ? Kind::Float32 : Kind::Float64), whole);
  get(f).floatValue = negative ? -v : v;
  return f;
}

ExprId BodyChecker::constantLiteral(ConstValue v, TypeId hint, const ast::Expr* at) {
  using K = ConstValue::Kind;
  if (!v.known()) return errorExpr(at);
  TypeId type = v.type;
  if (!type) {
    Kind h = kindOf(withoutOptional(hint));
    bool generic = h == Kind::Parameter && copies(program, withoutOptional(hint)) && (v.kind == K::Int || v.kind == K::Float);
    if (generic) {
      ExprId g = make(v.kind == K::Int ? ExprKind::Int : ExprKind::Float, types.unmarked(withoutOptional(hint)), at);
      get(g).intValue = int64_t(v.integer);
      get(g).floatValue = v.value64;
      return g;
    }
    switch (v.kind) {
      case K::Int: type = isFloat(h) || isInteger(h) ? scalar(h) : intType(); break;
      case K::Float: type = scalar(h == Kind::Float32 ? Kind::Float32 : Kind::Float64); break;
      case K::Bool: type = boolType(); break;
      case K::Char: type = scalar(h == Kind::UInt8 ? Kind::UInt8 : Kind::Char); break;
      default: type = stringType(); break;
    }
    if (!checker.convertConstant(v, type)) {
      error(at, "the constant " + quote(at) + " is " + checker.showConstant(v) + " and does not fit " + showWithArticle(program, type));
      return errorExpr(at);
    }
  }
  Kind k = kindOf(type);
  ExprId e = make(isFloat(k) ? ExprKind::Float : isInteger(k) ? ExprKind::Int : k == Kind::Bool ? ExprKind::Bool : k == Kind::Char ? ExprKind::Char : ExprKind::String, types.unmarked(type), at);
  get(e).intValue = int64_t(v.integer);
  get(e).floatValue = k == Kind::Float32 ? double(v.value32) : v.value64;
  get(e).text = v.text;
  return e;
}

// ---- names ----

// A local as an expression; inside a closure, one from outside is captured.
ExprId BodyChecker::useLocal(const Entry& entry, const ast::Expr* at) {
  LocalId id = entry.local;
  for (Frame& f : frames) {
    if (!f.closure || f.depth <= entry.closure) continue;
    bool known = false;
    for (const Capture& c : f.closure->captures) {
      if (c.outer == id) {
        id = c.inner;
        known = true;
        break;
      }
    }
    if (known) continue;
    Local outer = get(id);
    LocalId inner = newLocal(outer.name, outer.place, outer.type, Local::Form::Capture);
    if (auto held = heldLocals.find(id.index); held != heldLocals.end()) heldLocals[inner.index] = TypeId(held->second);
    f.closure->captures.push_back({id, inner, f.closure->moves ? Mode::Move : Mode::Read});
    id = inner;
  }
  ExprId e = make(ExprKind::Local, get(id).type, at);
  get(e).local = id;
  return e;
}

ExprId BodyChecker::name(const ast::NameExpr* e, TypeId hint) {
  if (!e->name) return errorExpr(e);
  if (const Entry* local = findLocal(e->name)) {
    if (local->constant >= 0) return constantLiteral(constants[size_t(local->constant)], hint, e);
    return useLocal(*local, e);
  }
  std::string n = text(e->name);
  for (const GenericName& g : checker.info(decl).generics) {
    if (g.name != e->name) continue;
    if (!g.isExtent) {
      error(e, "`" + n + "` is a type, and a value is expected here");
      return errorExpr(e);
    }
    ExprId x = make(ExprKind::ExtentValue, intType(), e);
    get(x).extent = types.name(decl, g.index, n);
    return x;
  }
  if (const Symbol* s = checker.find(module, e->name)) {
    if (s->kind == Symbol::Kind::Declaration) return declValue(s->decl, hint, e);
    error(e, "`" + n + "` is " + (s->kind == Symbol::Kind::Module ? "a module" : "a type") + ", and a value is expected here");
    return errorExpr(e);
  }
  if (n == "Pi") {
    ConstValue pi;
    pi.kind = ConstValue::Kind::Float;
    pi.value64 = 3.14159265358979323846;
    pi.value32 = 3.14159265358979323846f;
    return constantLiteral(pi, hint, e);
  }
  if (checker.builtinType(e->name, module)) {
    error(e, "`" + n + "` is a type, and a value is expected here");
    return errorExpr(e);
  }
  if (isBuiltin(e->name) || vocabulary::find(n)) {
    error(e, "`" + n + "` is an operation and no value").note("write `(x) => " + n + "(x)` for a function value, and `" + n + "(…)` to call it");
    return errorExpr(e);
  }
  reportUnknown(e);
  return errorExpr(e);
}

// Does anything give this name a meaning?
bool BodyChecker::isKnown(NameId name) const {
  if (findLocal(name)) return true;
  for (const GenericName& g : checker.info(decl).generics)
    if (g.name == name) return true;
  std::string n = text(name);
  return checker.find(module, name) || n == "Pi" || checker.builtinType(name, module) || isBuiltin(name) || vocabulary::find(n);
}

Diagnostic& BodyChecker::reportUnknown(const ast::NameExpr* e) {
  return checker.reportUnknown(spanOf(e), text(e->name), namesInSight(), "name");
}

// A declaration named as a value: a constant, or a function.
ExprId BodyChecker::declValue(DeclId id, TypeId hint, const ast::Expr* at, const ast::Seq<ast::Arg>* brackets) {
  checker.ensureSignature(id);
  const Decl& d = program.get(id);
  if (d.kind == DeclKind::Constant) {
    if (brackets) error(at, "`" + d.name + "` is a constant and takes nothing in brackets");
    return constantLiteral(checker.constant(id), hint, at);
  }
  if (d.kind != DeclKind::Function) {
    const char* what = d.kind == DeclKind::Failure ? "a failure" : "a type";
    error(at, "`" + d.name + "` is " + what + ", and a value is expected here");
    return errorExpr(at);
  }
  Type f;
  f.kind = Kind::Function;
  for (const ParamDecl& p : d.params) {
    f.args.push_back(p.type);
    f.modes.push_back(p.mode);
  }
  f.result = d.result;
  f.fails = d.fails;
  TypeId type = types.intern(f);
  if (d.resultMode != ResultMode::Value) {
    error(at, "`" + d.name + "` answers a place and cannot be a function value");
    return errorExpr(at);
  }
  Binding b = bindingOf(id);
  if (brackets && !explicitArgs(id, brackets, b, spanOf(at))) return errorExpr(at);
  if (!b.types.empty() || !b.extents.empty()) {
    if (kindOf(hint) == Kind::Function && typ(hint).args.size() == f.args.size()) {
      const Type h = typ(hint);
      for (size_t i = 0; i < f.args.size(); i++) match(f.args[i], h.args[i], b, uint32_t(i), spanOf(at), "", false);
      if (h.result && kindOf(h.result) != Kind::Error) match(f.result, h.result, b, 0, spanOf(at), "", false);
      solve(b, true);
    }
    bool open = false;
    for (TypeId t : b.types) open = open || !t;
    if (open) {
      error(at, "what `" + d.name + "` is used for does not say its type arguments").note("write them: `" + d.name + "[…]`");
      return errorExpr(at);
    }
    type = types.substitute(type, id, b.types, b.extents);
  }
  ExprId e = make(ExprKind::Function, type, at);
  get(e).callee = id;
  get(e).typeArgs = b.types;
  get(e).extentArgs = b.how;
  return e;
}

// ---- fields ----

ExprId BodyChecker::field(const ast::FieldExpr* e, TypeId hint) {
  // `Module.Member`, `Choice.Case`, then a field of a value.
  if (auto* base = ast::tryAs<ast::NameExpr>(e->base); base && base->name && !findLocal(base->name)) {
    std::string n = text(base->name);
    const Symbol* s = checker.find(module, base->name);
    if (s && s->kind == Symbol::Kind::Module) {
      const Symbol* member = checker.findExported(s->index, e->name, module);
      if (!member) return errorExpr(e);
      if (member->kind == Symbol::Kind::Declaration) return declValue(member->decl, hint, e);
      error(e, "a value is expected here, and this is a type");
      return errorExpr(e);
    }
    if (!s && system && (n == "Raw" || n == "Simd" || n == "Target")) return intrinsic(n + "." + std::string(context.text(e->name)), e, nullptr, nullptr, hint);
    bool isType = s && (s->kind == Symbol::Kind::Alias || (s->kind == Symbol::Kind::Declaration && program.get(s->decl).kind == DeclKind::Choice));
    if (isType) return constructCase({}, s->kind == Symbol::Kind::Alias ? DeclId{} : s->decl, nullptr, e, nullptr, hint);
    if (s && s->kind == Symbol::Kind::Declaration && program.get(s->decl).kind == DeclKind::Record) {
      error(e, "`" + n + "` is a record type and has no `" + std::string(context.text(e->name)) + "` of its own");
      return errorExpr(e);
    }
    bool generic = false;
    for (const GenericName& g : checker.info(decl).generics) generic = generic || g.name == base->name;
    if (!s && !generic && n != "Pi") {
      bool moduleLike = !n.empty() && n[0] >= 'A' && n[0] <= 'Z';
      if (moduleLike && !isBuiltin(base->name)) {
        auto& m = error(e->base, "there is no module `" + n + "` here");
        std::string guess = nearest(n, checker.moduleNames(module));
        m.note(guess.empty() ? "write `import " + n + "` at the head of the file" : "perhaps `" + guess + "`, or write `import " + n + "` at the head of the file");
        return errorExpr(e);
      }
    }
  }
  // `Module.Choice.Case` and `Choice[int].Case`
  if (auto* inner = ast::tryAs<ast::FieldExpr>(e->base)) {
    auto* m = ast::tryAs<ast::NameExpr>(inner->base);
    const Symbol* s = m && m->name && !findLocal(m->name) ? checker.find(module, m->name) : nullptr;
    if (s && s->kind == Symbol::Kind::Module) {
      const Symbol* member = checker.find(s->index, inner->name.id);
      if (member && member->kind == Symbol::Kind::Declaration && program.get(member->decl).kind == DeclKind::Choice && (member->exported || s->index == module))
        return constructCase({}, member->decl, nullptr, e, nullptr, hint);
    }
  }
  if (auto* inner = ast::tryAs<ast::IndexExpr>(e->base)) {
    auto* m = ast::tryAs<ast::NameExpr>(inner->base);
    const Symbol* s = m && m->name && !findLocal(m->name) ? checker.find(module, m->name) : nullptr;
    if (s && s->kind == Symbol::Kind::Declaration && program.get(s->decl).kind == DeclKind::Choice) return constructCase({}, s->decl, nullptr, e, &inner->args, hint);
  }
  ExprId base = expr(e->base);
  return fieldOf(base, e->name, e);
}

ExprId BodyChecker::fieldOf(ExprId base, const ast::Name& name, const ast::Expr* at) {
  if (isError(base) || !name) return errorExpr(at);
  Type t = typ(typeOf(base));
  if (t.kind == Kind::Box) t = typ(t.element);
  std::string n(context.text(name));
  if (t.kind == Kind::Record || t.kind == Kind::Failure) {
    checker.ensureSignature(t.decl);
    const Decl& d = program.get(t.decl);
    for (uint32_t i = 0; i < d.fields.size(); i++) {
      if (d.fields[i].name != n) continue;
      TypeId type = types.substitute(d.fields[i].type, t.decl, t.args, t.extents);
      ExprId e = make(ExprKind::Field, type, at);
      get(e).children = {base};
      get(e).index = i;
      return e;
    }
    std::vector<std::string> fields;
    for (const FieldDecl& f : d.fields) fields.push_back(f.name);
    auto& m = error(name.span(), "`" + d.name + "` has no field `" + n + "`");
    std::string guess = nearest(n, fields);
    if (!guess.empty()) m.note("perhaps `" + guess + "`");
    return errorExpr(at);
  }
  auto& m = error(name.span(), aType(typeOf(base)) + " has no field `" + n + "`");
  if (isBuiltin(name.id) || vocabulary::find(n) || checker.find(module, name.id)) m.note("a function stands before all its arguments: `" + n + "(…)`");
  if (t.kind == Kind::Optional) m.note("take the value out first: `if let x := … then`, or `try … else …`");
  else if (t.kind == Kind::Tuple) m.note("the parts of a tuple are `.0`, `.1`, …");
  return errorExpr(at);
}

ExprId BodyChecker::tupleField(const ast::TupleFieldExpr* e) {
  ExprId base = expr(e->base);
  if (isError(base)) return errorExpr(e);
  const Type& t = typ(typeOf(base));
  if (t.kind != Kind::Tuple) {
    error(e, "`." + std::to_string(e->index) + "` takes a part of a tuple, and " + quote(e->base) + " is " + aType(typeOf(base)));
    return errorExpr(e);
  }
  if (e->index >= t.args.size()) {
    error(e, "this tuple has " + std::to_string(t.args.size()) + " parts, counted from `.0`");
    return errorExpr(e);
  }
  ExprId f = make(ExprKind::Field, t.args[e->index], e);
  get(f).children = {base};
  get(f).index = e->index;
  return f;
}

// ---- choosing values ----

ExprId BodyChecker::valueOrJump(const ast::Expr* e, TypeId hint, StmtId* leaves) {
  if (auto* j = ast::tryAs<ast::JumpExpr>(e)) {
    *leaves = jump(j->statement);
    return {};
  }
  return expr(e, hint);
}

ExprId BodyChecker::ifExpr(const ast::IfExpr* e, TypeId hint, size_t from) {
  const auto& branch = e->branches[from];
  if (branch.condition.isLet) return ifLetExpr(e, hint, from);
  if (auto known = rankCondition(branch.condition.value)) {   // the other branch is not checked
    if (*known) return expr(branch.value, hint);
    if (from + 1 < e->branches.size()) return ifExpr(e, hint, from + 1);
    return e->otherwise ? expr(e->otherwise, hint) : errorExpr(e);
  }
  ExprId c = condition(branch.condition.value);
  // A jump in a branch: the branch has the type never.
  auto value = [&](const ast::Expr* v, TypeId h) {
    if (v->kind != ast::ExprKind::Jump) return expr(v, h);
    error(v, "`" + quoteExact(v) + "` leaves; in an `if` that is a value, write the statement form");
    return errorExpr(v);
  };
  const ast::Expr* elseAst = from + 1 < e->branches.size() ? nullptr : e->otherwise;
  bool thenAdapts = adaptable(branch.value), elseAdapts = elseAst && adaptable(elseAst);
  bool open = branch.value->kind == ast::ExprKind::None || branch.value->kind == ast::ExprKind::EmptyBraces;
  ExprId a, b;
  if (!hint && elseAst && ((thenAdapts && !elseAdapts) || open)) {
    b = value(elseAst, {});
    TypeId other = typeOf(b);
    if (branch.value->kind == ast::ExprKind::None && kindOf(other) != Kind::Optional && !isError(other)) other = types.optional(types.unmarked(other));
    a = value(branch.value, other);
  } else {
    a = value(branch.value, hint);
    TypeId other = hint ? hint : isError(a) || kindOf(a) == Kind::Never ? TypeId{} : typeOf(a);
    if (!hint && elseAst && elseAst->kind == ast::ExprKind::None && other && kindOf(other) != Kind::Optional) other = types.optional(types.unmarked(other));
    b = elseAst ? value(elseAst, other) : ifExpr(e, other, from + 1);
  }
  TypeId type = join(typeOf(a), typeOf(b));
  if (hint && kindOf(hint) == Kind::Optional && type && kindOf(type) != Kind::Optional && kindOf(type) != Kind::Never && !isError(type) && compatible(type, typ(hint).element) != Compat::No) type = types.unmarked(hint);
  if (!type && hint && compatible(typeOf(a), hint) != Compat::No && compatible(typeOf(b), hint) != Compat::No) type = types.unmarked(hint);
  if (!type) {
    error(e, "the branches of this `if` are " + aType(typeOf(a)) + " and " + aType(typeOf(b)));
    return errorExpr(e);
  }
  a = fit(a, {type, "the branch"}, branch.value);
  b = fit(b, {type, "the branch"}, elseAst ? elseAst : e);
  ExprId r = make(ExprKind::If, type, e);
  get(r).children = {c, a, b};
  return r;
}

// `if let x := maybe then a else b` as a value: a match of the optional.
ExprId BodyChecker::ifLetExpr(const ast::IfExpr* e, TypeId hint, size_t from) {
  const auto& branch = e->branches[from];
  const ast::Expr* elseAst = from + 1 < e->branches.size() ? nullptr : e->otherwise;
  if (branch.condition.mode != ast::Mode::Read) {
    error(branch.condition.value, "an `if` that is a value reads what it looks into; write the statement form for `let inout` and `let move`");
    return errorExpr(e);
  }
  ExprId subject, a;
  PatternId some;
  {
    Scope scope(*this);
    PatternId inner = bindCondition(branch.condition, &subject);
    some = makePattern(PatternKind::Some, typeOf(subject), branch.condition.pattern);
    body.patterns[some.index].parts = {inner};
    a = expr(branch.value, hint);
  }
  TypeId other = hint ? hint : isError(a) || kindOf(a) == Kind::Never ? TypeId{} : typeOf(a);
  ExprId b = elseAst ? expr(elseAst, other) : ifExpr(e, other, from + 1);
  if (isError(subject)) return errorExpr(e);
  TypeId type = hint && compatible(typeOf(a), hint) != Compat::No && compatible(typeOf(b), hint) != Compat::No ? types.unmarked(hint) : join(typeOf(a), typeOf(b));
  if (!type) {
    error(e, "the branches of this `if` are " + aType(typeOf(a)) + " and " + aType(typeOf(b)));
    return errorExpr(e);
  }
  a = fit(a, {type, "the branch"}, branch.value);
  b = fit(b, {type, "the branch"}, elseAst ? elseAst : e);
  ExprId m = make(ExprKind::Match, type, e);
  get(m).children = {subject};
  Arm yes, no;
  yes.pattern = some;
  yes.value = a;
  yes.place = branch.value->place;
  no.value = b;
  no.place = elseAst ? elseAst->place : e->place;
  get(m).arms.push_back(std::move(yes));
  get(m).arms.push_back(std::move(no));
  return m;
}

// A box is matched by what it holds.
ExprId BodyChecker::unboxed(ExprId e, const ast::Expr* at) {
  if (isError(e) || kindOf(e) != Kind::Box) return e;
  return makeBuiltin(Builtin::Unbox, typ(typeOf(e)).element, {e}, {}, at);
}

ExprId BodyChecker::matchExpr(const ast::MatchExpr* e, TypeId hint) {
  if (e->mode != ast::Mode::Read) error(e, "a `match` that is a value reads its subject; write the statement form for `match inout` and `match move`");
  ExprId subject = unboxed(expr(e->subject), e->subject);
  TypeId value = hint;
  std::vector<Arm> list;
  arms(e->arms, typeOf(subject), Mode::Read, list, &value, hint, true);
  if (!value) value = scalar(Kind::Never);
  checkExhaustive(list, typeOf(subject), Span{e->place, 5});
  ExprId m = make(ExprKind::Match, value, e);
  get(m).children = {subject};
  get(m).arms = std::move(list);
  return m;
}

// ---- try ----

namespace {

// The call that `try` covers: the operand itself, or the head of a chain of fields and indices.
const ast::Expr* tryHead(const ast::Expr* e) {
  while (true) {
    if (auto* f = ast::tryAs<ast::FieldExpr>(e)) e = f->base;
    else if (auto* t = ast::tryAs<ast::TupleFieldExpr>(e)) e = t->base;
    else if (auto* i = ast::tryAs<ast::IndexExpr>(e)) e = i->base;
    else return e;
  }
}

}  // namespace

ExprId BodyChecker::tryExpr(const ast::TryExpr* e, TypeId hint) {
  const ast::Expr* target = e->otherwise ? e->operand : tryHead(e->operand);
  const ast::Expr* savedTarget = tryTarget;
  std::vector<TypeId> savedFails = std::move(lastFails);
  bool savedHandled = tryHandled;
  // `try (try F()) else v`: the value after `else` stands for the failure and for what is missing.
  auto* both = e->otherwise ? ast::tryAs<ast::TryExpr>(e->operand) : nullptr;
  if (both && both->otherwise) both = nullptr;
  const ast::Expr* operand = both ? both->operand : e->operand;
  if (both) target = operand;
  tryTarget = target->kind == ast::ExprKind::Call ? target : nullptr;
  tryHandled = e->otherwise != nullptr;
  lastFails.clear();
  ExprId value = expr(operand, hint && both && kindOf(hint) != Kind::Optional ? types.optional(types.unmarked(hint)) : hint);
  std::vector<TypeId> fails = std::move(lastFails);
  if (both && !fails.empty() && !isError(value) && kindOf(value) == Kind::Optional) {
    ExprId missing = make(ExprKind::None, types.unmarked(typeOf(value)), e->otherwise);
    get(value).handler.value = missing;
    fails.clear();
  }
  tryTarget = savedTarget;
  lastFails = std::move(savedFails);
  tryHandled = savedHandled;
  if (!e->otherwise) {
    if (isError(value)) return value;
    if (fails.empty()) {
      bool maybe = kindOf(value) == Kind::Optional;
      auto& m = error(Span{e->place, 3}, maybe ? "this `try` has no `else`, and only failures pass on" : "nothing here can fail");
      m.note(maybe ? "write `try " + quoteExact(e->operand) + " else …`" : "write it without `try`");
    }
    return value;
  }
  // `try F() else v`: the failure, or `try maybe else v`: the missing value.
  bool handlesFailure = !fails.empty();
  if (isError(value)) {
    StmtId ignored;
    valueOrJump(e->otherwise, hint, &ignored);
    return value;
  }
  if (!handlesFailure && kindOf(value) != Kind::Optional) {
    error(Span{e->place, 3}, "nothing here can fail or be missing").note("write `" + quoteExact(e->operand) + "`");
    StmtId ignored;
    valueOrJump(e->otherwise, typeOf(value), &ignored);
    return value;
  }
  TypeId type = handlesFailure ? typeOf(value) : typ(typeOf(value)).element;
  TypeId want = type;
  if (!handlesFailure && hint && kindOf(hint) == Kind::Optional && kindOf(type) != Kind::Optional) want = type;
  Handler handler;
  handler.value = valueOrJump(e->otherwise, kindOf(want) == Kind::Unit ? TypeId{} : want, &handler.leaves);
  if (handler.value) {
    Kind k = kindOf(handler.value);
    TypeId joined = join(type, typeOf(handler.value));
    if (kindOf(type) == Kind::Unit || k == Kind::Never || k == Kind::Error) joined = type;
    if (!joined) {
      refuse(handler.value, {type, "this value"}, e->otherwise);
      return errorExpr(e);
    }
    if (kindOf(type) != Kind::Unit) handler.value = fit(handler.value, {joined, "the value after `else`"}, e->otherwise);
    if (!types.same(joined, type) && kindOf(joined) != Kind::Tensor) {
      // The call's own value widens to the other side: convert behind the `try`.
      joined = type;
      if (!types.same(typeOf(handler.value), type)) {
        refuse(handler.value, {type, "the value before `else`"}, e->otherwise);
        return errorExpr(e);
      }
    }
    type = joined;
  }
  if (handlesFailure) {
    Expr& node = get(value);   // a Try that `finishCall` made
    node.handler = handler;
    node.type = type;
    node.start = e->place;
    node.length = e->length;
    return value;
  }
  ExprId r = make(ExprKind::OrElse, type, e);
  get(r).children = {value};
  get(r).handler = handler;
  return r;
}

// ---- interpolation ----

ExprId BodyChecker::interpolation(const ast::InterpolationExpr* e) {
  ExprId r = make(ExprKind::Interpolation, stringType(), e);
  std::vector<TextPart> parts;
  for (const ast::StringPart& p : e->parts) {
    TextPart part;
    if (p.value) {
      part.value = expr(p.value);
      part.format = std::string(p.format);
      TypeId t = typeOf(part.value);
      if (!isError(t) && (kindOf(t) == Kind::Unit || !isPrintable(program, t))) {
        auto& m = error(p.value, quote(p.value) + " is " + aType(t) + " and cannot be printed");
        if (kindOf(t) == Kind::Parameter) m.note("write `" + show(t) + ": Printable` in the brackets of the declaration");
      } else if (!p.format.empty() && !isError(t)) {
        checker.checkFormat(p.format, p.formatSpan, t);
      }
    } else {
      part.text = std::string(p.text);
    }
    parts.push_back(std::move(part));
  }
  get(r).parts = std::move(parts);
  return r;
}

// [<^>][+][0][width][.precision][kind]
void Checker::checkFormat(std::string_view f, Span at, TypeId type) {
  size_t i = 0;
  auto digits = [&] {
    size_t from = i;
    while (i < f.size() && f[i] >= '0' && f[i] <= '9') i++;
    return i - from;
  };
  if (i < f.size() && (f[i] == '<' || f[i] == '>' || f[i] == '^')) i++;
  if (i < f.size() && f[i] == '+') i++;
  if (i < f.size() && f[i] == '0') i++;
  bool fine = digits() <= 4;
  bool precise = false;
  if (i < f.size() && f[i] == '.') {
    i++;
    precise = true;
    size_t n = digits();
    fine = fine && n > 0 && n <= 4;
  }
  char kind = 0;
  if (i < f.size()) kind = f[i++];
  if (!fine || i != f.size() || (kind && std::string_view("fegxXbo%").find(kind) == std::string_view::npos)) {
    context.diagnostics.error(at, "`" + std::string(f) + "` is no format").note("a format is width, precision and kind: `8`, `.4f`, `08x`, `e`");
    return;
  }
  mica::Kind k = types.get(type).kind;
  bool floats = k == mica::Kind::Float32 || k == mica::Kind::Float64, ints = isInteger(k) || k == mica::Kind::Char;
  bool generic = k == mica::Kind::Parameter;
  bool floatKind = kind == 'f' || kind == 'e' || kind == 'g' || kind == '%';
  bool intKind = kind == 'x' || kind == 'X' || kind == 'b' || kind == 'o';
  if (generic) return;
  bool fits = floatKind ? floats : intKind ? ints : !precise || floats;
  if (fits) return;
  auto& e = context.diagnostics.error(at, "the format `" + std::string(f) + "` does not fit " + showWithArticle(program, type));
  if (ints && (floatKind || precise)) e.note("convert it: `float64(…)`");
}

}  // namespace mica
