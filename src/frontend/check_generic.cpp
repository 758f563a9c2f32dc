// Generic names at a call: what types and extents they stand for. Types are matched by structure. Extents give equations between an
// expression in the callee's names and an extent of an argument (rules.md 7): known ones are solved first, then a `?` gives the
// name its run-time value, and everything else is a check.
#include "frontend/checker.h"

namespace mica {

// Of the declaration's own names; none has a value yet.
Binding BodyChecker::bindingOf(DeclId id) {
  const Decl& d = program.get(id);
  Binding b;
  b.decl = id;
  b.types.resize(d.typeParams.size());
  b.extents.resize(d.extentParams.size());
  b.how.resize(d.extentParams.size());
  return b;
}

bool BodyChecker::explicitArgs(DeclId id, const ast::Seq<ast::Arg>* brackets, Binding& b, Span at) {
  checker.ensureGenerics(id);
  const std::vector<GenericName> generics = checker.info(id).generics;
  std::string name = program.get(id).name;
  if (brackets->size() != generics.size()) {
    auto& m = error(at, "`" + name + "` has " + std::to_string(generics.size()) + (generics.size() == 1 ? " name" : " names") + " in its brackets, and " + std::to_string(brackets->size()) + (brackets->size() == 1 ? " is" : " are") + " written");
    if (!generics.empty() && brackets->size() < generics.size()) m.note("`_` leaves one open");
    return false;
  }
  for (size_t i = 0; i < generics.size(); i++) {
    const ast::Arg& a = (*brackets)[i];
    if (a.value->kind == ast::ExprKind::Discard) continue;
    if (!generics[i].isExtent) {
      b.types[generics[i].index] = types.unmarked(checker.resolveTypeArg(const_cast<ast::Expr*>(a.value), typeScope()));
      if (isError(b.types[generics[i].index])) return false;
      continue;
    }
    ExtentId known;
    ExtentArg how = runtimeExtent(a.value, &known);
    b.extents[generics[i].index] = known;
    b.how[generics[i].index] = how;
  }
  return true;
}

// An extent in the brackets of a call: a constant, names of the signature, or a run-time integer, which gives `?`.
ExtentArg BodyChecker::runtimeExtent(const ast::Expr* e, ExtentId* known) {
  ExtentArg how;
  if (auto* t = ast::tryAs<ast::TypeLiteralExpr>(e); t && t->type->kind == ast::TypeKind::Open) {
    *known = types.open();
    how.from = ExtentArg::From::Known;
    how.known = *known;
    return how;
  }
  if (ExtentId x = extentOf(e)) {
    int64_t n;
    if (types.isConstant(x, &n) && n < 0) error(e, "an extent cannot be negative, and this is " + std::to_string(n));
    *known = x;
    how.from = ExtentArg::From::Known;
    how.known = x;
    return how;
  }
  how.from = ExtentArg::From::Value;
  how.value = indexValue(e);
  *known = types.open();
  return how;
}

// The extent that an integer expression stands for: constants, names of the signature, and what is computed from them. None otherwise.
ExtentId BodyChecker::extentOf(const ast::Expr* e) {
  switch (e->kind) {
    case ast::ExprKind::Integer: return ast::as<ast::IntegerExpr>(e)->value < (uint64_t(1) << 62) ? types.constant(int64_t(ast::as<ast::IntegerExpr>(e)->value)) : ExtentId{};
    case ast::ExprKind::Name: {
      auto* n = ast::as<ast::NameExpr>(e);
      if (!n->name) return {};
      if (!findLocal(n->name)) {
        for (const GenericName& g : checker.info(decl).generics) {
          if (g.name == n->name) return g.isExtent ? types.name(decl, g.index, text(n->name)) : ExtentId{};
        }
      }
      break;
    }
    case ast::ExprKind::Field: break;
    case ast::ExprKind::Unary: break;
    case ast::ExprKind::Binary: {
      std::vector<const ast::BinaryExpr*> spine;
      const ast::Expr* leaf = e;
      while (auto* b = ast::tryAs<ast::BinaryExpr>(leaf)) {
        spine.push_back(b);
        leaf = b->left;
      }
      ExtentId value = extentOf(leaf);
      for (size_t i = spine.size(); i-- > 0 && value;) {
        ExtentId right = extentOf(spine[i]->right);
        if (!right) return {};
        switch (spine[i]->op) {
          case ast::BinaryOp::Add: value = types.add(value, right); break;
          case ast::BinaryOp::Sub: value = types.subtract(value, right); break;
          case ast::BinaryOp::Mul: value = types.multiply(value, right); break;
          case ast::BinaryOp::IntDiv: value = types.opaque(Atom::Form::Div, value, right); break;
          case ast::BinaryOp::Mod: value = types.opaque(Atom::Form::Mod, value, right); break;
          default: return {};
        }
        if (types.isOpen(value)) return {};
      }
      return value;
    }
    default: return {};
  }
  ConstValue v = checker.evaluate(e, typeScope(), false);
  if (v.kind != ConstValue::Kind::Int || v.integer < INT64_MIN || v.integer > INT64_MAX) return {};
  return types.constant(int64_t(v.integer));
}

bool BodyChecker::knownIndex(const ast::Expr* e, int64_t* value) {
  ConstValue v = checker.evaluate(e, typeScope(), false);
  if (v.kind != ConstValue::Kind::Int || v.integer < INT64_MIN || v.integer > INT64_MAX) return false;
  *value = int64_t(v.integer);
  return true;
}

// ---- matching ----

bool BodyChecker::match(TypeId pattern, TypeId actual, Binding& b, uint32_t argument, Span at, const std::string& what, bool top) {
  if (!pattern || !actual) return pattern == actual;
  const Type p = typ(pattern), a = typ(actual);
  if (a.kind == Kind::Error || p.kind == Kind::Error || a.kind == Kind::Never) return true;
  if (p.kind == Kind::Parameter && p.decl == b.decl) {
    TypeId& bound = b.types[p.index];
    if (!bound) {
      if (a.kind == Kind::Unit || types.hasError(actual)) return false;
      bound = types.unmarked(actual);
    } else if (!types.same(bound, actual) && top) {
      TypeId wider = join(bound, actual);
      if (wider) bound = wider;
    }
    return true;
  }
  if (p.kind == Kind::Optional && a.kind != Kind::Optional) return match(p.element, actual, b, argument, at, what, false);
  if (p.kind != a.kind) return false;
  switch (p.kind) {
    case Kind::Tensor: case Kind::Simd: case Kind::Array:
      match(p.element, a.element, b, argument, at, what, false);
      matchExtents(p.extents, a.extents, b, argument, at, what, top && p.kind == Kind::Tensor);
      return true;
    case Kind::List: case Kind::Set: case Kind::Optional: case Kind::Box: case Kind::Stream: case Kind::Handle: case Kind::Shared:
      return match(p.element, a.element, b, argument, at, what, false);
    case Kind::Map:
      match(p.key, a.key, b, argument, at, what, false);
      return match(p.element, a.element, b, argument, at, what, false);
    case Kind::Tuple:
      for (size_t i = 0; i < p.args.size() && i < a.args.size(); i++) match(p.args[i], a.args[i], b, argument, at, what, false);
      return p.args.size() == a.args.size();
    case Kind::Record: case Kind::Choice:
      if (p.decl != a.decl) return false;
      for (size_t i = 0; i < p.args.size() && i < a.args.size(); i++) match(p.args[i], a.args[i], b, argument, at, what, false);
      matchExtents(p.extents, a.extents, b, argument, at, what, top && p.kind == Kind::Record);   // a choice does not carry its extents
      return true;
    case Kind::Function:
      for (size_t i = 0; i < p.args.size() && i < a.args.size(); i++) match(p.args[i], a.args[i], b, argument, at, what, false);
      match(p.result, a.result, b, argument, at, what, false);
      return true;
    default: return true;
  }
}

void BodyChecker::matchExtents(const std::vector<ExtentId>& pattern, const std::vector<ExtentId>& actual, Binding& b, uint32_t argument, Span at, const std::string& what, bool top) {
  if (pattern.size() != actual.size()) return;
  for (uint32_t i = 0; i < pattern.size(); i++) {
    if (types.isOpen(pattern[i]) || types.isConstant(pattern[i])) continue;
    b.equations.push_back({pattern[i], actual[i], argument, i, top, at, what});
  }
}

// ---- solving ----

namespace {

// The extent parameters of `decl` in a polynomial that have no value yet.
void unknownsOf(const TypeTable& types, ExtentId e, const Binding& b, std::vector<uint32_t>& out) {
  for (const Monomial& m : types.get(e).terms) {
    for (AtomId id : m.atoms) {
      const Atom& a = types.get(id);
      if (a.form != Atom::Form::Name) {
        unknownsOf(types, a.left, b, out);
        unknownsOf(types, a.right, b, out);
      } else if (a.decl == b.decl && a.index < b.extents.size() && !b.extents[a.index]) {
        bool known = false;
        for (uint32_t u : out) known = known || u == a.index;
        if (!known) out.push_back(a.index);
      }
    }
  }
}

// pattern = scale * name + rest, with the name in no other term; false when it is not of that form.
bool linear(TypeTable& types, ExtentId pattern, DeclId decl, uint32_t index, ExtentId* scale, ExtentId* rest) {
  *scale = types.constant(0);
  *rest = types.constant(0);
  const Extent source = types.get(pattern);
  for (const Monomial& m : source.terms) {
    size_t times = 0;
    ExtentId product = types.constant(m.coefficient);
    for (AtomId id : m.atoms) {
      const Atom a = types.get(id);
      if (a.form == Atom::Form::Name && a.decl == decl && a.index == index) {
        times++;
        continue;
      }
      if (a.form == Atom::Form::Name) product = types.multiply(product, types.name(a.decl, a.index, a.name));
      else product = types.multiply(product, types.opaque(a.form, a.left, a.right));
    }
    if (times > 1) return false;
    ExtentId& part = times ? *scale : *rest;
    part = types.add(part, product);
  }
  return true;
}

// whole / by for polynomials where `by` is one term; none when a remainder stays.
ExtentId divideExact(TypeTable& types, ExtentId whole, ExtentId by) {
  const Extent divisor = types.get(by);
  if (divisor.open || divisor.terms.size() != 1) return {};
  const Monomial& d = divisor.terms[0];
  ExtentId result = types.constant(0);
  const Extent source = types.get(whole);
  for (const Monomial& m : source.terms) {
    if (m.coefficient % d.coefficient != 0) return {};
    std::vector<AtomId> atoms = m.atoms;
    for (AtomId a : d.atoms) {
      bool found = false;
      for (size_t i = 0; i < atoms.size() && !found; i++) {
        if (atoms[i] != a) continue;
        atoms.erase(atoms.begin() + long(i));
        found = true;
      }
      if (!found) return {};
    }
    ExtentId term = types.constant(m.coefficient / d.coefficient);
    for (AtomId id : atoms) {
      const Atom a = types.get(id);
      term = types.multiply(term, a.form == Atom::Form::Name ? types.name(a.decl, a.index, a.name) : types.opaque(a.form, a.left, a.right));
    }
    result = types.add(result, term);
  }
  return result;
}

}  // namespace

// Binds the one unknown of an equation. False when it has none or several, or no whole solution (reported).
bool BodyChecker::solveOne(Binding& b, const Binding::Equation& q) {
  std::vector<uint32_t> unknowns;
  unknownsOf(types, q.pattern, b, unknowns);
  if (unknowns.size() != 1) return false;
  uint32_t index = unknowns[0];
  ExtentId scale, rest;
  if (!linear(types, q.pattern, b.decl, index, &scale, &rest)) return false;
  if (types.isOpen(q.actual)) {
    if (!q.top) return false;
    b.extents[index] = types.open();
    b.how[index] = ExtentArg{ExtentArg::From::Arguments, {}, {}, q.argument, q.axis, scale, rest};
    return true;
  }
  ExtentId knownScale = types.substitute(scale, b.decl, b.extents), knownRest = types.substitute(rest, b.decl, b.extents);
  if (types.isOpen(knownScale) || types.isOpen(knownRest)) {
    b.extents[index] = types.open();
    b.how[index] = ExtentArg{ExtentArg::From::Arguments, {}, {}, q.argument, q.axis, scale, rest};
    return true;
  }
  ExtentId value = divideExact(types, types.subtract(q.actual, knownRest), knownScale);
  int64_t n = 0;
  bool negative = value && types.isConstant(value, &n) && n < 0;
  if (!value || negative) {
    const std::string& name = program.get(b.decl).extentParams[index];
    error(q.at, "no `" + name + "` makes `" + show(q.pattern) + "` equal to " + show(q.actual));
    b.extents[index] = types.open();
    b.how[index].from = ExtentArg::From::Known;
    b.how[index].known = types.open();
    return false;
  }
  b.extents[index] = value;
  b.how[index] = ExtentArg{ExtentArg::From::Known, value, {}, q.argument, q.axis, {}, {}};
  return true;
}

// Known extents first: bare names, then expressions with one unknown; at last (`final`) what a `?` decides.
void BodyChecker::solve(Binding& b, bool final) {
  for (int pass = 0; pass < (final ? 2 : 1); pass++) {
    bool progress = true;
    while (progress) {
      progress = false;
      for (const Binding::Equation& q : b.equations) {
        if (types.isOpen(q.actual) != (pass == 1)) continue;
        std::vector<uint32_t> unknowns;
        unknownsOf(types, q.pattern, b, unknowns);
        if (unknowns.size() == 1 && solveOne(b, q)) progress = true;
      }
    }
  }
}

bool BodyChecker::checkConstraints(DeclId id, const Binding& b, Span at, const std::string& callee) {
  const std::vector<TypeParam> params = program.get(id).typeParams;
  for (size_t i = 0; i < params.size(); i++) {
    TypeId t = b.types[i];
    if (!t || types.hasError(t)) continue;
    Kind k = kindOf(t);
    auto wants = [&](Constraint c) { return (params[i].constraints & uint8_t(c)) != 0; };
    const Type& type = typ(t);
    uint8_t own = k == Kind::Parameter && type.decl.index < program.decls.size() ? program.get(type.decl).typeParams[type.index].constraints : 0;
    bool number = isInteger(k) || isFloat(k) || (own & (uint8_t(Constraint::Number) | uint8_t(Constraint::Float)));
    bool isFloatType = isFloat(k) || (own & uint8_t(Constraint::Float));
    const char* missing = nullptr;
    if (wants(Constraint::Ordered) && !isOrdered(program, t)) missing = "Ordered";
    else if (wants(Constraint::Hashable) && !isHashable(program, t)) missing = "Hashable";
    else if (wants(Constraint::Equatable) && !isEquatable(program, t)) missing = "Equatable";
    else if (wants(Constraint::Printable) && !isPrintable(program, t)) missing = "Printable";
    else if (wants(Constraint::Number) && !number) missing = "Number";
    else if (wants(Constraint::Float) && !isFloatType) missing = "Float";
    else if (wants(Constraint::Copyable) && !isCopyable(program, t)) missing = "Copyable";
    if (!missing) continue;
    auto& m = error(at, "`" + callee + "` needs a type that is `" + missing + "` for `" + params[i].name + "`, and " + show(t) + " is not");
    if (k == Kind::Parameter) m.note("write `" + show(t) + ": " + missing + "` in the brackets of the declaration");
    return false;
  }
  return true;
}

void BodyChecker::finishBinding(Binding& b, Span at, const std::string& callee) {
  solve(b, true);
  const Decl& d = program.get(b.decl);
  for (size_t i = 0; i < b.types.size(); i++) {
    if (b.types[i]) continue;
    error(at, "nothing here says what `" + d.typeParams[i].name + "` of `" + callee + "` is").note("write it in brackets: `" + callee + "[…](…)`");
    b.types[i] = errorType();
  }
  bool allKnown = true;
  for (size_t i = 0; i < b.extents.size(); i++) {
    if (b.extents[i]) continue;
    allKnown = false;
    error(at, "nothing here says what `" + d.extentParams[i] + "` of `" + callee + "` is").note("write it in brackets: `" + callee + "[…](…)`");
    b.extents[i] = types.open();
    b.how[i].from = ExtentArg::From::Known;
    b.how[i].known = types.open();
  }
  if (!checkConstraints(b.decl, b, at, callee) || !allKnown) return;
  for (const Binding::Equation& q : b.equations) {
    ExtentId wanted = types.substitute(q.pattern, b.decl, b.extents);
    // Only whole tensors and records are looked at when the program runs, not what lists, optionals and the like hold.
    if (!q.top && (types.isOpen(wanted) || types.isOpen(q.actual))) {
      error(q.at, "what `" + q.name + "` holds is not compared with `" + show(q.pattern) + "` of `" + callee + "` when the program runs")
        .note(types.isOpen(q.actual) ? "give its parts known extents" : "`" + show(q.pattern) + "` is only known when the program runs");
      return;
    }
    if (types.isOpen(wanted) || types.isOpen(q.actual) || wanted == q.actual) continue;
    // Where the name got its other value, for the message.
    std::string other;
    for (const Binding::Equation& p : b.equations) {
      if (&p != &q && p.pattern == q.pattern && p.actual == wanted && !p.name.empty()) other = " from `" + p.name + "`";
    }
    error(q.at, "`" + show(q.pattern) + "` of `" + callee + "` is " + show(wanted) + other + ", and `" + q.name + "` makes it " + show(q.actual));
    return;
  }
}

// ---- functions that fill a fresh tensor ----

// The extents in brackets, from `from` on.
std::vector<ExtentArg> BodyChecker::bracketShape(const ast::Seq<ast::Arg>& brackets, size_t from, std::vector<ExtentId>& shape) {
  std::vector<ExtentArg> out;
  for (size_t i = from; i < brackets.size(); i++) {
    ExtentId known;
    out.push_back(runtimeExtent(brackets[i].value, &known));
    shape.push_back(known);
  }
  return out;
}

ExprId BodyChecker::fillCall(DeclId id, const ast::CallExpr* e, const ast::Seq<ast::Arg>* brackets, TypeId hint) {
  const Decl& d = program.get(id);
  std::string name = d.name;
  Binding b = bindingOf(id);
  std::vector<Slot> slots;
  for (size_t i = 2; i < d.params.size(); i++) slots.push_back({d.params[i].name, d.params[i].type, d.params[i].mode, d.params[i].hasDefault, d.params[i].defaultSyntax, true});
  TypeId element, expected = withoutOptional(hint);
  std::vector<ExtentId> shape;
  std::vector<ExtentArg> how;
  bool generic = !b.types.empty();
  if (brackets) {
    size_t from = 0;
    if (!brackets->empty() && checker.isTypeSyntax(const_cast<ast::Expr*>((*brackets)[0].value))) {
      element = checker.resolveTypeArg(const_cast<ast::Expr*>((*brackets)[0].value), typeScope());
      from = 1;
    }
    how = bracketShape(*brackets, from, shape);
  } else if (expected && kindOf(expected) == Kind::Tensor) {
    shape = typ(expected).extents;
    for (ExtentId x : shape) {
      how.push_back(ExtentArg{ExtentArg::From::Known, x, {}, 0, 0, {}, {}});
      if (!types.isOpen(x)) continue;
      error(e, "`" + name + "` does not know its extents: the type here is " + show(types.unmarked(expected))).note("write them in brackets: `" + name + "[…](…)`");
      return errorExpr(e);
    }
  }
  if (!element && expected) {
    Kind k = kindOf(expected);
    if (k == Kind::Tensor) element = types.unmarked(typ(expected).element);
    else if (isFloat(k) && shape.empty()) element = types.unmarked(expected);
  }
  if (!element) element = scalar(shape.empty() ? Kind::Float64 : Kind::Float32);
  if (generic) {
    b.types[0] = element;
  }
  std::vector<ExprId> children;
  std::vector<Mode> modes;
  if (!arguments(slots, b, e, name, {}, {}, children, modes)) return errorExpr(e);
  ExprId c = make(ExprKind::Builtin, shape.empty() ? element : types.tensor(element, shape), e);
  get(c).builtin = Builtin::Fill;
  get(c).callee = id;
  get(c).children = std::move(children);
  get(c).modes = std::move(modes);
  get(c).typeArgs = b.types;
  get(c).extentArgs = std::move(how);
  return c;
}

// Does an argument in brackets name a type: for `Zeros[int32, B, C]()`.
bool Checker::isTypeSyntax(ast::Expr* e) {
  if (auto* n = ast::tryAs<ast::NameExpr>(e)) return n->name && builtinType(n->name, 0).has_value();
  if (auto* t = ast::tryAs<ast::TypeLiteralExpr>(e)) return t->type->kind != ast::TypeKind::Open;
  return false;
}

}  // namespace mica
