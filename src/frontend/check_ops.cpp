// Operators. A chain of operators leans to the left as deep as it is long, so it is walked with a loop. Literals and constants without a
// type adapt to the other side: the part of a chain that is made of them waits until it meets something with a type.
#include "frontend/checker.h"

namespace mica {

namespace {

using Op = ast::BinaryOp;

bool isComparison(Op op) { return op == Op::Equal || op == Op::NotEqual || op == Op::Less || op == Op::LessEqual || op == Op::Greater || op == Op::GreaterEqual; }
bool isLogical(Op op) { return op == Op::And || op == Op::Or; }
bool isShift(Op op) { return op == Op::Shl || op == Op::Shr; }
bool isElementwise(Op op) { return op == Op::Add || op == Op::Sub || op == Op::MulElements || op == Op::DivElements; }
bool isTensorOp(Op op) { return isElementwise(op) || op == Op::Mul || op == Op::Div; }
bool integersOnly(Op op) {
  return op == Op::IntDiv || op == Op::Mod || op == Op::Rem || op == Op::Shl || op == Op::Shr || op == Op::Band || op == Op::Bor || op == Op::Bxor || op == Op::AddWrap ||
         op == Op::SubWrap || op == Op::MulWrap;
}

BinaryOp treeOp(Op op) {
  switch (op) {
    case Op::Add: return BinaryOp::Add;
    case Op::Sub: return BinaryOp::Sub;
    case Op::Mul: case Op::MulElements: return BinaryOp::Mul;
    case Op::Div: case Op::DivElements: return BinaryOp::Div;
    case Op::IntDiv: return BinaryOp::IntDiv;
    case Op::Mod: return BinaryOp::Mod;
    case Op::Rem: return BinaryOp::Rem;
    case Op::AddWrap: return BinaryOp::AddWrap;
    case Op::SubWrap: return BinaryOp::SubWrap;
    case Op::MulWrap: return BinaryOp::MulWrap;
    case Op::Shl: return BinaryOp::Shl;
    case Op::Shr: return BinaryOp::Shr;
    case Op::Band: return BinaryOp::BitAnd;
    case Op::Bor: return BinaryOp::BitOr;
    case Op::Bxor: return BinaryOp::BitXor;
    case Op::Equal: return BinaryOp::Eq;
    case Op::NotEqual: return BinaryOp::Ne;
    case Op::Less: return BinaryOp::Lt;
    case Op::LessEqual: return BinaryOp::Le;
    case Op::Greater: return BinaryOp::Gt;
    default: return BinaryOp::Ge;
  }
}

}  // namespace

// ---- what adapts ----

bool BodyChecker::adaptableLeaf(const ast::Expr* e) {
  switch (e->kind) {
    case ast::ExprKind::Integer: case ast::ExprKind::Float: case ast::ExprKind::Char: return true;
    case ast::ExprKind::Unary: return ast::as<ast::UnaryExpr>(e)->op != ast::UnaryOp::Not && adaptable(ast::as<ast::UnaryExpr>(e)->operand);
    case ast::ExprKind::Name: {
      auto* n = ast::as<ast::NameExpr>(e);
      if (!n->name) return false;
      const ConstValue* value = nullptr;
      if (const Entry* local = findLocal(n->name)) {
        if (local->constant < 0) return false;
        value = &constants[size_t(local->constant)];
      } else {
        const Symbol* s = checker.find(module, n->name);
        if (!s) return text(n->name) == "Pi";
        if (s->kind != Symbol::Kind::Declaration || program.get(s->decl).kind != DeclKind::Constant) return false;
        value = &checker.constant(s->decl);
      }
      using K = ConstValue::Kind;
      return !value->type && (value->kind == K::Int || value->kind == K::Float || value->kind == K::Char);
    }
    case ast::ExprKind::Field: {
      auto* f = ast::as<ast::FieldExpr>(e);
      auto* base = ast::tryAs<ast::NameExpr>(f->base);
      if (!base || !base->name || findLocal(base->name)) return false;
      const Symbol* s = checker.find(module, base->name);
      if (!s || s->kind != Symbol::Kind::Module) return false;
      const Symbol* member = checker.find(s->index, f->name.id);
      if (!member || member->kind != Symbol::Kind::Declaration || program.get(member->decl).kind != DeclKind::Constant || !member->exported) return false;
      const ConstValue& value = checker.constant(member->decl);
      return !value.type && (value.kind == ConstValue::Kind::Int || value.kind == ConstValue::Kind::Float);
    }
    default: return false;
  }
}

// Asked of every operator along a sum's left side, so the answers are kept: else a sum of n terms would take n² steps.
bool BodyChecker::adaptable(const ast::Expr* e) {
  std::vector<uint32_t> asked;
  bool answer = true;
  while (auto* b = ast::tryAs<ast::BinaryExpr>(e)) {
    auto known = adaptableOperators.find(b->id);
    if (known != adaptableOperators.end()) { answer = known->second; e = nullptr; break; }
    asked.push_back(b->id);
    if (isComparison(b->op) || isLogical(b->op) || b->op == Op::In || !adaptable(b->right)) { answer = false; e = nullptr; break; }
    e = b->left;
  }
  if (e) answer = adaptableLeaf(e);
  for (uint32_t id : asked) adaptableOperators.emplace(id, answer);
  return answer;
}

bool BodyChecker::hasFloatLiteral(const ast::Expr* e) {
  while (auto* b = ast::tryAs<ast::BinaryExpr>(e)) {
    if (hasFloatLiteral(b->right)) return true;
    e = b->left;
  }
  if (auto* u = ast::tryAs<ast::UnaryExpr>(e)) return hasFloatLiteral(u->operand);
  if (e->kind == ast::ExprKind::Float) return true;
  if (e->kind != ast::ExprKind::Name && e->kind != ast::ExprKind::Field) return false;
  return checker.evaluate(e, typeScope(), false).kind == ConstValue::Kind::Float;
}

// The type that literals take beside a value of type `other`, or by what is expected, or alone.
TypeId BodyChecker::adaptTo(TypeId other, TypeId hint) {
  for (TypeId t : {other, hint}) {
    t = withoutOptional(t);
    if (!t) continue;
    Kind k = kindOf(t);
    if (isInteger(k) || isFloat(k) || k == Kind::Char || (k == Kind::Parameter && copies(program, t))) return types.unmarked(t);
    if (k == Kind::Tensor || k == Kind::Simd) return types.unmarked(typ(t).element);
    if (k == Kind::Pointer) return intType();
    if (other) return {};
  }
  return {};
}

ExprId BodyChecker::buildAdaptable(const ast::Expr* e, TypeId type) {
  if (!type && hasFloatLiteral(e)) type = scalar(Kind::Float64);   // beside a float, whole numbers are floats too
  if (e->kind != ast::ExprKind::Binary) return expr(e, type);
  std::vector<const ast::BinaryExpr*> spine;
  const ast::Expr* leaf = e;
  while (auto* b = ast::tryAs<ast::BinaryExpr>(leaf)) {
    spine.push_back(b);
    leaf = b->left;
  }
  ExprId value = expr(leaf, type);
  for (size_t i = spine.size(); i-- > 0;) {
    ExprId right = buildAdaptable(spine[i]->right, isShift(spine[i]->op) ? intType() : type);
    value = combine(spine[i], value, right);
  }
  return value;
}

// ---- chains ----

ExprId BodyChecker::binary(const ast::BinaryExpr* e, TypeId hint) {
  std::vector<const ast::BinaryExpr*> spine;
  const ast::Expr* leaf = e;
  bool allArithmetic = true;
  while (auto* b = ast::tryAs<ast::BinaryExpr>(leaf)) {
    spine.push_back(b);
    allArithmetic = allArithmetic && !isComparison(b->op) && !isLogical(b->op) && b->op != Op::In;
    leaf = b->left;
  }
  TypeId outer = allArithmetic ? hint : TypeId{};
  TypeId wanted = withoutOptional(outer);   // what a first operand may expect: a product's factors say nothing about its shape
  if (kindOf(wanted) == Kind::Tensor && spine.back()->op == Op::Mul) wanted = {};
  // A `match` takes what is expected for its type; beside a tensor it may well be a number, unless an arm is written as a tensor.
  if (auto* m = ast::tryAs<ast::MatchExpr>(leaf); m && kindOf(wanted) == Kind::Tensor) {
    bool literal = false;
    for (const ast::MatchArm& arm : m->arms) literal = literal || (arm.value && arm.value->kind == ast::ExprKind::List);
    if (!literal) wanted = {};
  }
  const ast::Expr* left = leaf;
  std::optional<ExprId> current;
  auto settle = [&](TypeId type) {
    if (!current) current = adaptable(left) ? buildAdaptable(left, type) : expr(left, type);
    return *current;
  };
  for (size_t i = spine.size(); i-- > 0;) {
    const ast::BinaryExpr* b = spine[i];
    if (!current && !adaptable(left) && left->kind != ast::ExprKind::None) current = expr(left, i + 1 == spine.size() ? (isLogical(b->op) ? boolType() : wanted) : TypeId{});
    if (isLogical(b->op)) {
      ExprId l = settle(boolType());
      current = logical(b, l, expr(b->right, boolType()));
    } else if (b->op == Op::In) {
      current = membership(b, current ? *current : ExprId{});
    } else if (!current && left->kind != ast::ExprKind::None && adaptable(b->right) && !isComparison(b->op)) {
      left = b;   // still made of literals alone
      continue;
    } else {
      bool comparison = isComparison(b->op);
      ExprId right;
      if (!current && adaptable(b->right)) {   // a comparison of literals
        TypeId type = hasFloatLiteral(left) || hasFloatLiteral(b->right) ? scalar(Kind::Float64) : TypeId{};
        settle(type);
        right = buildAdaptable(b->right, type);
      } else if (!current) {
        right = expr(b->right, comparison || isShift(b->op) ? TypeId{} : wanted);   // a shift counts in any integer type
        TypeId to = adaptTo(typeOf(right), {});
        if (isShift(b->op)) to = adaptTo({}, outer);
        if (to && (isInteger(kindOf(to)) || kindOf(to) == Kind::Char) && hasFloatLiteral(left)) to = scalar(Kind::Float64);
        if (left->kind == ast::ExprKind::None) current = expr(left, typeOf(right));
        else settle(to);
      } else if (adaptable(b->right)) {
        TypeId to = isShift(b->op) ? intType() : adaptTo(typeOf(*current), {});
        if (to && isInteger(kindOf(to)) && hasFloatLiteral(b->right)) to = scalar(Kind::Float64);
        right = buildAdaptable(b->right, to);
      } else {
        TypeId expects = typeOf(*current);
        Kind k = kindOf(expects);
        bool scalarLeft = k != Kind::Tensor;
        if (isShift(b->op)) expects = {};
        else if (!scalarLeft && !isElementwise(b->op) && !comparison) expects = {};
        else if (k == Kind::Pointer) expects = {};
        if (auto* list = ast::tryAs<ast::ListExpr>(b->right); list && k == Kind::Tensor && isTensorOp(b->op)) {
          // A literal beside a tensor is one too; its own form says its shape.
          size_t rank = 1;
          for (auto* inner = list; !inner->elements.empty() && (inner = ast::tryAs<ast::ListExpr>(inner->elements[0])); rank++) {}
          expects = types.tensor(types.unmarked(typ(typeOf(*current)).element), std::vector<ExtentId>(rank, types.open()));
        }
        right = expr(b->right, expects);
      }
      current = combine(b, *current, right);
    }
    left = b;
  }
  if (!current) {
    TypeId type = adaptTo({}, outer);
    if (!type || (isInteger(kindOf(type)) && hasFloatLiteral(e))) type = hasFloatLiteral(e) ? scalar(kindOf(type) == Kind::Float32 ? Kind::Float32 : Kind::Float64) : TypeId{};
    return buildAdaptable(e, type);
  }
  return *current;
}

ExprId BodyChecker::combine(const ast::BinaryExpr* e, ExprId left, ExprId right) {
  if (isError(left) || isError(right)) return errorExpr(e);
  auto* chained = ast::tryAs<ast::BinaryExpr>(e->left);
  if (chained && !chained->parenthesized && isComparison(e->op) && isComparison(chained->op)) return errorExpr(e);   // the parser has refused it
  for (auto [id, at] : {std::pair(left, e->left), std::pair(right, e->right)}) {
    if (kindOf(id) != Kind::Unit) continue;
    error(at, quote(at) + " has no value");
    return errorExpr(e);
  }
  if (isComparison(e->op)) return comparison(e, left, right);
  bool tensors = kindOf(left) == Kind::Tensor || kindOf(right) == Kind::Tensor;
  if (tensors && isTensorOp(e->op)) return tensorOp(e, left, right);
  return arithmetic(e, left, right);
}

ExprId BodyChecker::build(ExprKind kind, BinaryOp op, TypeId type, ExprId left, ExprId right, const ast::BinaryExpr* e) {
  ExprId r = make(kind, type, e);
  get(r).binary = op;
  get(r).children = {left, right};
  return r;
}

ExprId BodyChecker::logical(const ast::BinaryExpr* e, ExprId left, ExprId right) {
  std::string op(ast::spelling(e->op));
  bool fine = true;
  for (auto [id, at] : {std::pair(left, e->left), std::pair(right, e->right)}) {
    Kind k = kindOf(id);
    if (k == Kind::Bool || k == Kind::Error || k == Kind::Never) continue;
    auto& m = error(at, "`" + op + "` joins conditions, and " + quote(at) + " is " + aType(typeOf(id)));
    if (isInteger(k)) m.note("for bits write `" + std::string(e->op == Op::And ? "band" : "bor") + "`");
    fine = false;
  }
  if (!fine || isError(left) || isError(right)) {
    ExprId r = errorExpr(e);
    get(r).type = boolType();
    get(r).kind = ExprKind::Error;
    return r;
  }
  return build(e->op == Op::And ? ExprKind::And : ExprKind::Or, {}, boolType(), left, right, e);
}

ExprId BodyChecker::membership(const ast::BinaryExpr* e, ExprId left) {
  if (auto* range = ast::tryAs<ast::RangeExpr>(e->right)) {
    if (!range->low || !range->high) {
      error(range, "`in` needs both ends of a range");
      return errorExpr(e);
    }
    if (!left) {
      ExprId low = expr(range->low);
      left = adaptable(e->left) ? buildAdaptable(e->left, adaptTo(typeOf(low), {})) : expr(e->left);
    }
    TypeId t = typeOf(left);
    Kind k = kindOf(t);
    ExprId low = exprAs(range->low, types.unmarked(t), "the beginning of the range");
    ExprId high = exprAs(range->high, types.unmarked(t), "the end of the range");
    if (isError(left) || isError(low) || isError(high)) return errorExpr(e);
    if (!isInteger(k) && !isFloat(k) && k != Kind::Char && !(k == Kind::Parameter && isOrdered(program, t))) {
      error(e->left, "a range holds numbers or chars, and " + quote(e->left) + " is " + aType(t));
      return errorExpr(e);
    }
    ExprId r = make(ExprKind::InRange, boolType(), e);
    get(r).children = {left, low, high};
    get(r).index = range->halfOpen ? 0 : 1;
    return r;
  }
  bool literal = e->right->kind == ast::ExprKind::Set || e->right->kind == ast::ExprKind::List;
  ExprId container;
  if (left && literal) {
    TypeId element = types.unmarked(typeOf(left));
    container = expr(e->right, isError(element) ? TypeId{} : e->right->kind == ast::ExprKind::Set ? types.set(element) : types.list(element));
  } else {
    container = expr(e->right);
  }
  Type c = typ(typeOf(container));
  TypeId element = c.kind == Kind::Map ? c.key : c.kind == Kind::String ? stringType() : c.element;
  bool fits = c.kind == Kind::List || c.kind == Kind::Set || c.kind == Kind::Array || c.kind == Kind::Map || c.kind == Kind::String;
  if (!left) left = fits ? buildAdaptable(e->left, adaptTo(element, {})) : expr(e->left);
  if (isError(container) || isError(left)) return errorExpr(e);
  if (!fits) {
    error(e->right, "`in` looks into a list, set, array, map, string or range, and " + quote(e->right) + " is " + aType(typeOf(container)));
    return errorExpr(e);
  }
  left = fit(left, {element, "an element here"}, e->left);
  if (isError(left)) return errorExpr(e);
  if (c.kind != Kind::String && !isEquatable(program, element)) {
    error(e->opSpan(), aType(element) + " cannot be compared");
    return errorExpr(e);
  }
  ExprId r = make(ExprKind::InSet, boolType(), e);
  get(r).children = {left, container};
  return r;
}

ExprId BodyChecker::comparison(const ast::BinaryExpr* e, ExprId left, ExprId right) {
  std::string op(ast::spelling(e->op));
  TypeId a = types.unmarked(typeOf(left)), b = types.unmarked(typeOf(right));
  Kind x = kindOf(a), y = kindOf(b);
  bool equality = e->op == Op::Equal || e->op == Op::NotEqual;
  if (isInteger(x) && isInteger(y) && isSigned(x) != isSigned(y)) {
    error(e->opSpan(), "`" + op + "` compares " + aType(a) + " with " + aType(b) + ": signed with unsigned").note("convert one side: `int(…)`");
    return errorExpr(e);
  }
  if ((x == Kind::Tensor || y == Kind::Tensor) && !equality) {
    error(e->opSpan(), "`" + op + "` does not apply to " + aType(a) + " and " + aType(b)).note("`Less(x, y)`, `Greater(x, y)` and the like compare element by element");
    return errorExpr(e);
  }
  TypeId type = join(a, b);
  if (!type) {
    auto& m = error(e->opSpan(), "`" + op + "` cannot compare " + aType(a) + " with " + aType(b));
    if ((isInteger(x) && isFloat(y)) || (isFloat(x) && isInteger(y))) {
      const ast::Expr* whole = isInteger(x) ? e->left : e->right;
      m.note("write `" + show(isInteger(x) ? b : a) + "(" + quoteExact(whole) + ")`");
    }
    return errorExpr(e);
  }
  bool allowed = equality ? isEquatable(program, type) : isOrdered(program, type);
  if (!allowed && !(x == Kind::Pointer)) {
    auto& m = error(e->opSpan(), aType(type) + (equality ? " cannot be compared" : " has no order"));
    if (kindOf(type) == Kind::Parameter) m.note("write `" + show(type) + (equality ? ": Equatable" : ": Ordered") + "` in the brackets of the declaration");
    return errorExpr(e);
  }
  left = fit(left, {type, "this side"}, e->left, true);
  right = fit(right, {type, "this side"}, e->right, true);
  return build(ExprKind::Binary, treeOp(e->op), boolType(), left, right, e);
}

ExprId BodyChecker::arithmetic(const ast::BinaryExpr* e, ExprId left, ExprId right) {
  std::string op(ast::spelling(e->op));
  TypeId a = types.unmarked(typeOf(left)), b = types.unmarked(typeOf(right));
  Kind x = kindOf(a), y = kindOf(b);
  if (x == Kind::Never || y == Kind::Never) return errorExpr(e);
  if (x == Kind::String && y == Kind::String && e->op == Op::Add) {   // one string from all parts of the chain
    std::vector<TextPart> parts;
    for (ExprId side : {left, right}) {
      Expr& s = get(side);
      if (s.kind == ExprKind::String) parts.push_back({s.text, {}, ""});
      else if (s.kind == ExprKind::Interpolation && side == left) parts.insert(parts.end(), s.parts.begin(), s.parts.end());
      else parts.push_back({"", side, ""});
    }
    if (get(left).kind == ExprKind::Interpolation && get(left).children.empty() && concatenations.count(left.index)) {
      // The chain's own node grows, so a long chain stays linear.
      Expr& grown = get(left);
      grown.parts.push_back(parts.back());
      grown.length = e->length;
      return left;
    }
    ExprId r = make(ExprKind::Interpolation, stringType(), e);
    get(r).parts = std::move(parts);
    concatenations.insert(r.index);
    return r;
  }
  if (x == Kind::Pointer) {
    if ((e->op == Op::Add || e->op == Op::Sub) && isInteger(y)) {
      if (y != Kind::Int64) right = convert(right, intType());
      return build(ExprKind::Binary, treeOp(e->op), a, left, right, e);
    }
    if (e->op == Op::Sub && y == Kind::Pointer) return build(ExprKind::Binary, BinaryOp::Sub, intType(), left, right, e);
  }
  if (x == Kind::Simd) {
    Kind lane = kindOf(typ(a).element);
    if (isShift(e->op) && isInteger(y)) {
      TypeId element = typ(a).element;
      if (y != lane) right = convert(right, element, true);
      ExprId splat = make(ExprKind::Intrinsic, a, e->right);
      get(splat).text = "Simd.Splat";
      get(splat).children = {right};
      right = splat;
      b = a;
    }
    bool lanesFit = isFloat(lane) || lane == Kind::Parameter ? !integersOnly(e->op) : e->op != Op::Div && e->op != Op::IntDiv && e->op != Op::Mod && e->op != Op::Rem;
    if (a == b && lanesFit) return build(ExprKind::Binary, treeOp(e->op), a, left, right, e);
    auto& m = error(e->opSpan(), "`" + op + "` does not apply to " + aType(a) + " and " + aType(b));
    if (y != Kind::Simd) m.note("write `Simd.Splat[N](x)` for a value in all lanes");
    return errorExpr(e);
  }
  auto numeric = [&](TypeId t, Kind k) { return isInteger(k) || isFloat(k) || (k == Kind::Parameter && copies(program, t)); };
  if (!numeric(a, x) || !numeric(b, y)) {
    auto& m = error(e->opSpan(), "`" + op + "` does not apply to " + aType(a) + " and " + aType(b));
    if (x == Kind::String && e->op == Op::Add && isPrintable(program, b)) m.note("write `\"{…}\"` to put a value into a string");
    else if (x == Kind::List && y == Kind::List && e->op == Op::Add) m.note("`xs += ys` appends");
    else if (x == Kind::Parameter && x == y && a == b) m.note("write `" + show(a) + ": Number` in the brackets of the declaration");
    else if (x == Kind::Optional || y == Kind::Optional) m.note("take the value out first: `try … else …`");
    else if (x == Kind::Bool && y == Kind::Bool) m.note("conditions are joined by `and` and `or`");
    return errorExpr(e);
  }
  if (e->op == Op::Div && isInteger(x) && isInteger(y)) {
    error(e->opSpan(), "`/` divides floats, and these are integers").note("write `div`, or convert: `float64(…) / float64(…)`");
    return errorExpr(e);
  }
  if (isShift(e->op)) {
    if (!isInteger(x) || !isInteger(y)) {
      error(e->opSpan(), "`" + op + "` does not apply to " + aType(a) + " and " + aType(b));
      return errorExpr(e);
    }
    const Expr& count = get(right);
    if (count.kind == ExprKind::Int && (count.intValue < 0 || count.intValue >= int64_t(bitWidth(x)))) {
      error(e->right, "a shift of " + std::to_string(bitWidth(x)) + " bits by " + std::to_string(count.intValue) + " is not defined");
      return errorExpr(e);
    }
    if (count.kind == ExprKind::Int) get(right).type = a;
    else if (a != b) right = convert(right, a, true);
    return build(ExprKind::Binary, treeOp(e->op), a, left, right, e);
  }
  TypeId type;
  if (a == b) type = a;
  else if (widens(a, b)) type = b;
  else if (widens(b, a)) type = a;
  if (!type) {
    auto& m = error(e->opSpan(), "`" + op + "` does not apply to " + aType(a) + " and " + aType(b));
    if (isInteger(x) && isFloat(y)) m.note("write `" + show(b) + "(" + quoteExact(e->left) + ")`");
    else if (isFloat(x) && isInteger(y)) m.note("write `" + show(a) + "(" + quoteExact(e->right) + ")`");
    else if (isInteger(x) && isInteger(y)) m.note("convert one side to the type of the other");
    return errorExpr(e);
  }
  Kind k = kindOf(type);
  bool isFloatParameter = k == Kind::Parameter && (program.get(typ(type).decl).typeParams[typ(type).index].constraints & uint8_t(Constraint::Float));
  bool whole = isInteger(k);
  if ((integersOnly(e->op) && !whole) || (e->op == Op::Div && k == Kind::Parameter && !isFloatParameter)) {
    auto& m = error(e->opSpan(), "`" + op + "` does not apply to " + aType(type));
    if (isFloat(k) && e->op == Op::IntDiv) m.note("write `/`");
    return errorExpr(e);
  }
  if (e->op == Op::DivElements && whole) {
    error(e->opSpan(), "`./` divides floats, and these are integers").note("write `div`");
    return errorExpr(e);
  }
  if (a != type) left = convert(left, type);
  if (b != type) right = convert(right, type);
  return build(ExprKind::Binary, treeOp(e->op), type, left, right, e);
}

ExprId BodyChecker::unary(const ast::UnaryExpr* e, TypeId hint) {
  if (e->op == ast::UnaryOp::Not) {
    ExprId x = expr(e->operand, boolType());
    if (isError(x)) return errorExpr(e);
    if (kindOf(x) != Kind::Bool) {
      auto& m = error(e->operand, "`not` turns a condition round, and " + quote(e->operand) + " is " + aType(typeOf(x)));
      if (isInteger(kindOf(x))) m.note("for bits write `bnot`");
      return errorExpr(e);
    }
    ExprId r = make(ExprKind::Not, boolType(), e);
    get(r).children = {x};
    return r;
  }
  if (e->op == ast::UnaryOp::Neg && !e->operand->parenthesized) {
    if (auto* i = ast::tryAs<ast::IntegerExpr>(e->operand)) return integer(i, hint, true, e);
    if (auto* f = ast::tryAs<ast::FloatExpr>(e->operand)) return floating(f, hint, true, e);
  }
  ExprId x = adaptable(e->operand) ? buildAdaptable(e->operand, adaptTo({}, hint)) : expr(e->operand, withoutOptional(hint));
  if (isError(x)) return errorExpr(e);
  TypeId t = types.unmarked(typeOf(x));
  Kind k = kindOf(t);
  bool negate = e->op == ast::UnaryOp::Neg;
  if (k == Kind::Tensor && negate) {
    Kind element = kindOf(typ(t).element);
    if (isFloat(element) || isSigned(element)) {
      return makeRow("Negate", t, {x}, e);
    }
  }
  bool fine = negate ? isFloat(k) || isSigned(k) || (k == Kind::Simd) || (k == Kind::Parameter && copies(program, t)) : isInteger(k);
  if (!fine) {
    error(e, "`" + std::string(ast::spelling(e->op)) + "` does not apply to " + aType(t));
    return errorExpr(e);
  }
  ExprId r = make(ExprKind::Unary, t, e);
  get(r).unary = negate ? UnaryOp::Negate : UnaryOp::BitNot;
  get(r).children = {x};
  return r;
}

}  // namespace mica
