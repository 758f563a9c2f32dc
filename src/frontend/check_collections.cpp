// Brackets and literals of several values: elements and slices, tuples, lists, arrays, tensors, sets, maps, comprehensions, closures.
#include <algorithm>

#include "frontend/checker.h"

namespace mica {

// ---- elements and slices ----

ExprId BodyChecker::index(const ast::IndexExpr* e, TypeId hint) {
  // `F[int]` as a function value.
  DeclId function;
  if (auto* n = ast::tryAs<ast::NameExpr>(e->base); n && n->name && !findLocal(n->name)) {
    const Symbol* s = checker.find(module, n->name);
    if (s && s->kind == Symbol::Kind::Declaration && program.get(s->decl).kind == DeclKind::Function) function = s->decl;
    if (s && s->kind != Symbol::Kind::Module && !function && !(s->kind == Symbol::Kind::Declaration && program.get(s->decl).kind == DeclKind::Constant)) {
      error(e, "a value is expected here, and this is a type");
      return errorExpr(e);
    }
  } else if (auto* f = ast::tryAs<ast::FieldExpr>(e->base)) {
    auto* m = ast::tryAs<ast::NameExpr>(f->base);
    const Symbol* s = m && m->name && !findLocal(m->name) ? checker.find(module, m->name) : nullptr;
    if (s && s->kind == Symbol::Kind::Module) {
      const Symbol* member = checker.findExported(s->index, f->name, module);
      if (!member) return errorExpr(e);
      if (member->kind == Symbol::Kind::Declaration && program.get(member->decl).kind == DeclKind::Function) function = member->decl;
    }
  }
  if (function) return declValue(function, hint, e, &e->args);
  ExprId base = expr(e->base);
  if (isError(base)) {
    for (const ast::Arg& a : e->args) {
      if (a.value->kind != ast::ExprKind::Range && a.value->kind != ast::ExprKind::TypeLiteral && a.value->kind != ast::ExprKind::Discard) expr(a.value);
    }
    return errorExpr(e);
  }
  if (e->args.empty()) return errorExpr(e);   // the parser has said so
  const Type t = typ(typeOf(base));
  switch (t.kind) {
    case Kind::Tensor: return indexTensor(base, e);
    case Kind::List: case Kind::Array: case Kind::String: return indexOne(base, e);
    case Kind::Map: {
      const ast::Arg* otherwise = nullptr;
      if (e->args.size() == 2 && e->args[1].name && context.text(e->args[1].name) == "otherwise") otherwise = &e->args[1];
      if (e->args.size() != (otherwise ? 2u : 1u) || e->args[0].name) {
        error(e, "a map takes one key in brackets").note("write `m[k]`, or `m[k, otherwise: v]`");
        return errorExpr(e);
      }
      ExprId key = exprAs(e->args[0].value, t.key, "the key");
      ExprId value = otherwise ? exprAs(otherwise->value, t.element, "the value after `otherwise`") : ExprId{};
      if (isError(key) || (value && isError(value))) return errorExpr(e);
      ExprId r = make(ExprKind::MapElement, t.element, e);
      get(r).children = {base, key};
      if (value) get(r).children.push_back(value);
      return r;
    }
    case Kind::Tuple:
      error(e, "the parts of a tuple are `.0`, `.1`, …");
      return errorExpr(e);
    default: {
      auto& m = error(e, quote(e->base) + " is " + aType(typeOf(base)) + " and has no elements");
      if (t.kind == Kind::Set) m.note("`Contains(s, x)` asks for an element");
      if (t.kind == Kind::Optional) m.note("take the value out first: `if let x := … then`, or `try … else …`");
      return errorExpr(e);
    }
  }
}

namespace {

// An integer expression as a sum: known extents, and other plain expressions by their source text.
struct Linear {
  std::vector<std::pair<std::string, int64_t>> terms;
  ExtentId known;
  bool fine = true;
};

}  // namespace

// How long `low ..< high` is, where that can be known: both ends known, or `a ..< a + K`. None otherwise.
ExtentId BodyChecker::rangeLength(const ast::Expr* low, const ast::Expr* high, bool inclusive) {
  auto linearOf = [&](const ast::Expr* e, Linear& out, int64_t sign, auto&& self) -> void {
    if (ExtentId x = extentOf(e)) {
      out.known = types.add(out.known, types.multiply(x, types.constant(sign)));
      return;
    }
    if (auto* b = ast::tryAs<ast::BinaryExpr>(e); b && (b->op == ast::BinaryOp::Add || b->op == ast::BinaryOp::Sub)) {
      self(b->left, out, sign, self);
      self(b->right, out, b->op == ast::BinaryOp::Add ? sign : -sign, self);
      return;
    }
    if (auto* b = ast::tryAs<ast::BinaryExpr>(e); b && b->op == ast::BinaryOp::Mul) {   // (i + 1) * K
      for (auto [sum, factor] : {std::pair(b->left, b->right), std::pair(b->right, b->left)}) {
        int64_t k;
        ExtentId x = extentOf(factor);
        if (!x || !types.isConstant(x, &k) || k > (int64_t(1) << 31) || k < -(int64_t(1) << 31)) continue;
        Linear inner;
        inner.known = types.constant(0);
        self(sum, inner, 1, self);
        out.fine = out.fine && inner.fine;
        out.known = types.add(out.known, types.multiply(inner.known, types.constant(sign * k)));
        for (auto& [text, n] : inner.terms) out.terms.push_back({text, n * sign * k});
        return;
      }
    }
    const ast::Expr* plain = e;
    while (auto* f = ast::tryAs<ast::FieldExpr>(plain)) plain = f->base;
    if (plain->kind != ast::ExprKind::Name) {
      out.fine = false;
      return;
    }
    out.terms.push_back({quoteExact(e), sign});
  };
  Linear sum;
  sum.known = types.constant(inclusive ? 1 : 0);
  linearOf(high, sum, 1, linearOf);
  linearOf(low, sum, -1, linearOf);
  if (!sum.fine || types.isOpen(sum.known)) return {};
  std::sort(sum.terms.begin(), sum.terms.end());
  for (size_t i = 0; i < sum.terms.size();) {
    int64_t total = 0;
    size_t k = i;
    while (k < sum.terms.size() && sum.terms[k].first == sum.terms[i].first) total += sum.terms[k++].second;
    if (total != 0) return {};
    i = k;
  }
  return sum.known;
}

// One place in brackets. `length` becomes the extent of the result there; none for an index.
Subscript BodyChecker::subscript(const ast::Expr* e, ExtentId extent, ExtentId* length) {
  Subscript s{Subscript::Form::Whole, {}, {}, false};
  int64_t size = -1;
  bool sized = extent && types.isConstant(extent, &size);
  auto* r = ast::tryAs<ast::RangeExpr>(e);
  if (!r) {
    s.form = Subscript::Form::Index;
    s.low = indexValue(e);
    *length = {};
    int64_t n;
    if (!isError(s.low) && knownIndex(e, &n)) {
      if (sized && (n < 0 || n >= size)) error(e, "the index " + std::to_string(n) + " is outside the extent " + std::to_string(size));
      else if (n < 0) error(e, "an index counts from 0, and this is " + std::to_string(n));
    }
    return s;
  }
  if (r->isWhole()) {
    *length = extent;
    return s;
  }
  s.inclusive = !r->halfOpen;
  int64_t low = 0, high = 0;
  if (r->low) {
    s.low = indexValue(r->low);
  } else {
    s.low = intLiteral(0, intType(), r);
  }
  bool lowKnown = !r->low || knownIndex(r->low, &low);
  if (!r->high) {
    s.form = Subscript::Form::From;
    ExtentId from = r->low ? extentOf(r->low) : types.constant(0);
    *length = extent && from && !types.isOpen(extent) ? types.subtract(extent, from) : types.open();
    if (sized && lowKnown && (low < 0 || low > size)) {
      error(e, "the range " + std::to_string(low) + " .. is outside the extent " + std::to_string(size));
      *length = types.open();
    }
    return s;
  }
  s.form = Subscript::Form::Range;
  s.high = indexValue(r->high);
  bool highKnown = knownIndex(r->high, &high);
  ExtentId known = r->low ? rangeLength(r->low, r->high, s.inclusive) : extentOf(r->high);
  *length = known ? known : types.open();
  if (lowKnown && highKnown) {
    int64_t end = high + (s.inclusive ? 1 : 0);
    std::string shown = std::to_string(low) + (s.inclusive ? " .. " : " ..< ") + std::to_string(high);
    if (low < 0 || end < low) {
      error(e, end < low ? "the range " + shown + " ends before it begins" : "an index counts from 0, and this range begins at " + std::to_string(low));
      *length = types.open();
    } else if (sized && end > size) {
      error(e, "the range " + shown + " is outside the extent " + std::to_string(size));
      *length = types.open();
    }
  } else if (sized && highKnown && high + (s.inclusive ? 1 : 0) > size) {
    error(e, "the range up to " + std::to_string(high) + " is outside the extent " + std::to_string(size));
  }
  return s;
}

ExprId BodyChecker::indexTensor(ExprId base, const ast::IndexExpr* e) {
  const Type t = typ(typeOf(base));
  size_t rank = t.extents.size();
  if (e->args.size() > rank) {
    error(e, quote(e->base) + " is " + aType(types.unmarked(typeOf(base))) + " and takes " + std::to_string(rank) + (rank == 1 ? " index" : " indices") + ", and " + std::to_string(e->args.size()) + " are written");
    return errorExpr(e);
  }
  std::vector<Subscript> subscripts;
  std::vector<ExtentId> shape;
  bool fine = true;
  for (size_t i = 0; i < e->args.size(); i++) {
    if (e->args[i].name) error(e->args[i].name.span(), "indices have no names");
    ExtentId length;
    Subscript s = subscript(e->args[i].value, t.extents[i], &length);
    if ((s.low && isError(s.low)) || (s.high && isError(s.high))) fine = false;
    if (length) shape.push_back(length);
    subscripts.push_back(s);
  }
  for (size_t i = e->args.size(); i < rank; i++) {
    subscripts.push_back({Subscript::Form::Whole, {}, {}, false});
    shape.push_back(t.extents[i]);
  }
  if (!fine) return errorExpr(e);
  if (shape.empty()) {
    ExprId r = make(ExprKind::Element, types.unmarked(t.element), e);
    get(r).children = {base};
    for (const Subscript& s : subscripts) get(r).children.push_back(s.low);
    return r;
  }
  ExprId r = make(ExprKind::Slice, types.tensor(t.element, shape, t.onGpu), e);
  get(r).children = {base};
  get(r).subscripts = std::move(subscripts);
  return r;
}

ExprId BodyChecker::indexOne(ExprId base, const ast::IndexExpr* e) {
  const Type t = typ(typeOf(base));
  if (e->args.size() != 1 || e->args[0].name) {
    error(e, aType(typeOf(base)) + " takes one index").note(t.kind == Kind::List || t.kind == Kind::Array ? "write `xs[i][j]` for an element of an element" : "write `s[i]`");
    for (const ast::Arg& a : e->args) {
      if (a.value->kind != ast::ExprKind::Range) expr(a.value);
    }
    return errorExpr(e);
  }
  ExtentId length;
  Subscript s = subscript(e->args[0].value, t.kind == Kind::Array ? t.extents[0] : ExtentId{}, &length);
  if ((s.low && isError(s.low)) || (s.high && isError(s.high))) return errorExpr(e);
  if (s.form == Subscript::Form::Index) {
    TypeId element = t.kind == Kind::String ? scalar(Kind::UInt8) : t.element;
    ExprId r = make(ExprKind::Element, element, e);
    get(r).children = {base, s.low};
    return r;
  }
  TypeId type = t.kind == Kind::Array ? types.list(t.element) : types.unmarked(typeOf(base));
  ExprId r = make(ExprKind::Slice, type, e);
  get(r).children = {base};
  get(r).subscripts = {s};
  return r;
}

// ---- literals ----

ExprId BodyChecker::tuple(const ast::TupleExpr* e, TypeId hint) {
  const Type h = hint ? typ(withoutOptional(hint)) : Type{};
  bool fits = h.kind == Kind::Tuple && h.args.size() == e->elements.size();
  std::vector<ExprId> children;
  std::vector<TypeId> parts;
  bool fine = true;
  for (size_t i = 0; i < e->elements.size(); i++) {
    TypeId want = fits ? h.args[i] : TypeId{};
    ExprId x = expr(e->elements[i], want);
    if (want && !typeHasError(want) && compatible(typeOf(x), want) == Compat::No && (widens(typeOf(x), want) || kindOf(want) == Kind::Optional)) x = fit(x, {want, "this part"}, e->elements[i]);
    if (kindOf(x) == Kind::Unit) {
      error(e->elements[i], quote(e->elements[i]) + " has no value");
      fine = false;
    }
    fine = fine && !isError(x);
    children.push_back(x);
    parts.push_back(types.unmarked(typeOf(x)));
  }
  if (!fine) return errorExpr(e);
  ExprId r = make(ExprKind::MakeTuple, types.tuple(parts), e);
  get(r).children = std::move(children);
  return r;
}

// The common type of elements; reports the first that does not agree.
TypeId BodyChecker::common(const std::vector<ExprId>& elements, const std::vector<const ast::Expr*>& at, const char* what) {
  TypeId type;
  for (size_t i = 0; i < elements.size(); i++) {
    TypeId t = typeOf(elements[i]);
    if (isError(t)) continue;
    if (kindOf(t) == Kind::Unit) {
      error(at[i], quote(at[i]) + " has no value");
      return {};
    }
    TypeId joined = type ? join(type, t) : types.unmarked(t);
    if (!joined) {
      error(at[i], std::string(what) + " before it are " + aType(type) + ", and " + quote(at[i]) + " is " + aType(t));
      return {};
    }
    type = joined;
  }
  return type ? type : errorType();
}

ExprId BodyChecker::listLiteral(const ast::ListExpr* e, TypeId hint) {
  TypeId to = withoutOptional(hint);
  Kind k = kindOf(to);
  if (k == Kind::Tensor) return tensorLiteral(e, to);
  const Type h = to ? typ(to) : Type{};
  bool known = (k == Kind::List || k == Kind::Array) && h.element && !typeHasError(h.element);
  std::vector<const ast::Expr*> at(e->elements.begin(), e->elements.end());
  if (k == Kind::Array) {
    int64_t n;
    if (types.isConstant(h.extents[0], &n) && n != int64_t(at.size())) {
      error(e, "this array has " + std::to_string(n) + (n == 1 ? " element" : " elements") + ", and " + std::to_string(at.size()) + (at.size() == 1 ? " is" : " are") + " written");
      return errorExpr(e);
    }
    if (!types.isConstant(h.extents[0])) {
      error(e, "the length of this array is `" + show(h.extents[0]) + "`, which is not known here").note("write `[… for i in 0 ..< " + show(h.extents[0]) + "]`");
      return errorExpr(e);
    }
  }
  if (at.empty()) {
    if (k == Kind::Parameter || !(k == Kind::List || k == Kind::Array) || !known) {
      error(e, "an empty list needs its type from the place where it goes").note("write `var xs: list of int := []`, for example");
      return errorExpr(e);
    }
    return make(ExprKind::Zero, types.unmarked(to), e);
  }
  std::vector<ExprId> children;
  TypeId elementHint = (k == Kind::List || k == Kind::Array) ? h.element : TypeId{};
  // Literals take the type of the first element that has one of its own.
  if (!elementHint || typeHasError(elementHint)) {
    children.resize(at.size());
    TypeId type = elementHint;
    bool floats = false;
    for (size_t i = 0; i < at.size(); i++) {
      bool waits = adaptable(at[i]) || at[i]->kind == ast::ExprKind::None;
      if (waits) {
        floats = floats || (at[i]->kind != ast::ExprKind::None && hasFloatLiteral(at[i]));
        continue;
      }
      children[i] = expr(at[i], type);
      if (!isError(children[i]) && (!type || typeHasError(type))) type = types.unmarked(typeOf(children[i]));
    }
    if ((!type || typeHasError(type)) && floats) type = scalar(Kind::Float64);
    for (size_t i = 0; i < at.size(); i++) {
      if (!children[i]) children[i] = at[i]->kind == ast::ExprKind::None ? expr(at[i], type && kindOf(type) != Kind::Optional ? types.optional(type) : type) : buildAdaptable(at[i], adaptTo(type, {}));
    }
  } else {
    for (const ast::Expr* x : at) children.push_back(expr(x, elementHint));
  }
  TypeId element = known ? h.element : common(children, at, "the elements");
  if (!element || isError(element)) return errorExpr(e);
  bool fine = true;
  for (size_t i = 0; i < children.size(); i++) {
    children[i] = fit(children[i], {element, "the element"}, at[i]);
    fine = fine && !isError(children[i]);
  }
  if (!fine) return errorExpr(e);
  ExprId r = make(k == Kind::Array ? ExprKind::MakeArray : ExprKind::MakeList, k == Kind::Array ? types.unmarked(to) : types.list(element), e);
  get(r).children = std::move(children);
  return r;
}

// [[1, 2], [3, 4]] where a tensor is wanted: children are scalars, or tensors of one rank less.
ExprId BodyChecker::tensorLiteral(const ast::ListExpr* e, TypeId hint) {
  const Type h = typ(hint);
  TypeId element = types.unmarked(h.element);
  int64_t n;
  size_t count = e->elements.size();
  if (types.isConstant(h.extents[0], &n) && n != int64_t(count)) {
    std::vector<ExtentId> shape = h.extents;
    shape[0] = types.constant(int64_t(count));
    error(e, "this has " + std::to_string(count) + (count == 1 ? " element" : " elements") + ", and " + aType(types.unmarked(hint)) + " is wanted");
    return errorExpr(e);
  }
  if (!types.isOpen(h.extents[0]) && !types.isConstant(h.extents[0])) {
    error(e, "the extent `" + show(h.extents[0]) + "` is not known here, and this has " + std::to_string(count) + " elements").note("write `[… for i in 0 ..< " + show(h.extents[0]) + "]`");
    return errorExpr(e);
  }
  std::vector<ExtentId> rowShape(h.extents.begin() + 1, h.extents.end());
  TypeId row = rowShape.empty() ? element : types.tensor(element, rowShape, h.onGpu);
  if (count == 0 && !rowShape.empty()) {
    for (ExtentId x : rowShape) {
      if (types.isOpen(x)) {
        error(e, "an empty tensor needs known extents");
        return errorExpr(e);
      }
    }
  }
  std::vector<ExprId> children;
  bool fine = true;
  for (const ast::Expr* x : e->elements) {
    ExprId child = expr(x, row);
    bool scalarRow = rowShape.empty();
    if (scalarRow && kindOf(child) == Kind::Float64 && kindOf(element) == Kind::Float32) child = convert(child, element);   // rounded once, as with any float32 tensor
    child = fit(child, {row, scalarRow ? "the element" : "the row"}, x);
    fine = fine && !isError(child);
    if (fine && !scalarRow) {   // rows agree with the first one
      for (size_t i = 0; i < rowShape.size(); i++) {
        ExtentId have = typ(typeOf(child)).extents[i];
        if (types.isOpen(rowShape[i]) && !types.isOpen(have)) rowShape[i] = have;
        else if (!types.isOpen(have) && have != rowShape[i]) {
          error(x, "the rows before it have " + show(rowShape[i]) + " elements, and this one has " + show(have));
          fine = false;
          break;
        }
      }
      if (fine) row = types.tensor(element, rowShape, h.onGpu);
    }
    children.push_back(child);
  }
  if (!fine) return errorExpr(e);
  std::vector<ExtentId> shape{types.constant(int64_t(count))};
  shape.insert(shape.end(), rowShape.begin(), rowShape.end());
  ExprId r = make(ExprKind::MakeTensor, types.tensor(element, shape, h.onGpu), e);
  get(r).children = std::move(children);
  return r;
}

ExprId BodyChecker::setLiteral(const ast::SetExpr* e, TypeId hint) {
  TypeId to = withoutOptional(hint);
  bool known = kindOf(to) == Kind::Set && !typeHasError(typ(to).element);
  TypeId elementHint = kindOf(to) == Kind::Set ? typ(to).element : TypeId{};
  std::vector<ExprId> children;
  std::vector<const ast::Expr*> at(e->elements.begin(), e->elements.end());
  for (const ast::Expr* x : at) children.push_back(expr(x, elementHint ? elementHint : children.empty() ? TypeId{} : typeOf(children[0])));
  TypeId element = known ? elementHint : common(children, at, "the elements");
  if (!element || isError(element)) return errorExpr(e);
  bool fine = true;
  for (size_t i = 0; i < children.size(); i++) {
    children[i] = fit(children[i], {element, "the element"}, at[i]);
    fine = fine && !isError(children[i]);
  }
  if (fine && !isHashable(program, element)) {
    error(e, "the elements of a set are hashed, and " + aType(element) + " cannot be");
    fine = false;
  }
  if (!fine) return errorExpr(e);
  ExprId r = make(ExprKind::MakeSet, types.set(element), e);
  get(r).children = std::move(children);
  return r;
}

ExprId BodyChecker::mapLiteral(const ast::MapExpr* e, TypeId hint) {
  TypeId to = withoutOptional(hint);
  bool isMap = kindOf(to) == Kind::Map;
  const Type h = isMap ? typ(to) : Type{};
  bool known = isMap && !typeHasError(to);
  std::vector<ExprId> keys, values;
  std::vector<const ast::Expr*> keyAt, valueAt;
  for (const auto& entry : e->entries) {
    keyAt.push_back(entry.key);
    valueAt.push_back(entry.value);
    keys.push_back(expr(entry.key, isMap ? h.key : keys.empty() ? TypeId{} : typeOf(keys[0])));
    values.push_back(expr(entry.value, isMap ? h.element : values.empty() ? TypeId{} : typeOf(values[0])));
  }
  TypeId key = known ? h.key : common(keys, keyAt, "the keys"), value = known ? h.element : common(values, valueAt, "the values");
  if (!key || !value || isError(key) || isError(value)) return errorExpr(e);
  std::vector<ExprId> children;
  bool fine = true;
  for (size_t i = 0; i < keys.size(); i++) {
    children.push_back(fit(keys[i], {key, "the key"}, keyAt[i]));
    children.push_back(fit(values[i], {value, "the value"}, valueAt[i]));
    fine = fine && !isError(children[2 * i]) && !isError(children[2 * i + 1]);
  }
  if (fine && !isHashable(program, key)) {
    error(e, "the keys of a map are hashed, and " + aType(key) + " cannot be");
    fine = false;
  }
  if (!fine) return errorExpr(e);
  ExprId r = make(ExprKind::MakeMap, types.map(key, value), e);
  get(r).children = std::move(children);
  return r;
}

ExprId BodyChecker::emptyBraces(const ast::Expr* e, TypeId hint) {
  TypeId to = withoutOptional(hint);
  Kind k = kindOf(to);
  if ((k != Kind::Map && k != Kind::Set) || typeHasError(to)) {
    error(e, "`{}` needs its type from the place where it goes").note("write `var m: map of string to int := {}`, for example");
    return errorExpr(e);
  }
  return make(ExprKind::Zero, types.unmarked(to), e);
}

ExprId BodyChecker::comprehension(const ast::ComprehensionExpr* e, TypeId hint) {
  TypeId to = withoutOptional(hint);
  const Type h = to ? typ(to) : Type{};
  Kind k = kindOf(to);
  Scope scope(*this);
  auto loop = std::make_unique<Loop>();
  loopHead(e->head, *loop, e->isParallel);
  TypeId want;
  if ((k == Kind::List || k == Kind::Array) && !typeHasError(h.element)) want = h.element;
  if (k == Kind::Tensor) want = h.extents.size() == 1 ? types.unmarked(h.element) : types.tensor(h.element, std::vector<ExtentId>(h.extents.begin() + 1, h.extents.end()), h.onGpu);
  frame().loops.push_back({true});
  ExprId value = expr(e->element, want);
  frame().loops.pop_back();
  if (kindOf(value) == Kind::Unit) {
    error(e->element, quote(e->element) + " has no value");
    return errorExpr(e);
  }
  if (want && k == Kind::Tensor && kindOf(value) == Kind::Float64 && kindOf(want) == Kind::Float32) value = convert(value, want);
  if (want) value = fit(value, {want, "the element"}, e->element);
  if (isError(value)) return errorExpr(e);
  // How many there are, when the loop says so.
  ExtentId length = types.open();
  if (auto* r = ast::tryAs<ast::RangeExpr>(e->head.source); r && r->low && r->high && !e->head.step) {
    if (ExtentId n = rangeLength(r->low, r->high, !r->halfOpen)) length = n;
  } else if (loop->source && !isError(loop->source)) {
    const Type s = typ(typeOf(loop->source));
    if (s.kind == Kind::Array || s.kind == Kind::Tensor) length = s.extents[0];
  }
  TypeId type;
  if (k == Kind::Tensor) {
    std::vector<ExtentId> shape{length};
    if (h.extents.size() > 1) {
      const Type row = typ(typeOf(value));
      shape.insert(shape.end(), row.extents.begin(), row.extents.end());
    }
    // A length that is only known at run time is checked against the wanted one where the tensor is made.
    if (types.isOpen(length)) shape[0] = h.extents[0];
    type = types.tensor(types.unmarked(h.element), shape, h.onGpu);
  } else if (k == Kind::Array) {
    if (!types.isOpen(length) && length != h.extents[0]) {
      error(e, "this array has " + show(h.extents[0]) + " elements, and the comprehension makes " + show(length));
      return errorExpr(e);
    }
    type = types.unmarked(to);
  } else {
    type = types.list(want ? want : types.unmarked(typeOf(value)));
  }
  ExprId r = make(ExprKind::Comprehension, type, e);
  get(r).children = {value};
  get(r).loop = std::move(loop);
  return r;
}

// ---- closures ----

ExprId BodyChecker::closure(const ast::ClosureExpr* e, TypeId hint) {
  TypeId to = withoutOptional(hint);
  const Type h = kindOf(to) == Kind::Function ? typ(to) : Type{};
  bool expected = h.kind == Kind::Function;
  if (expected && h.args.size() != e->params.size()) {
    error(e, "a function of " + std::to_string(h.args.size()) + " parameters is wanted, and this one has " + std::to_string(e->params.size()));
    return errorExpr(e);
  }
  ExprId r = make(ExprKind::Closure, errorType(), e);
  get(r).closure = std::make_unique<Closure>();
  Closure* c = get(r).closure.get();
  c->moves = e->isMove;
  Scope scope(*this);
  Frame f;
  f.closure = c;
  f.depth = uint32_t(frames.size());
  f.place = e->place;
  TypeScope where = typeScope();
  if (e->result.type) f.result = checker.resolveType(e->result.type, where);
  else if (!e->value) f.result = unit();
  else if (expected && h.result && !typeHasError(h.result)) f.result = h.result;
  f.infersResult = !f.result;
  if (e->result.type && e->result.mode != ast::Mode::Move) error(e, "a closure answers a value, never a place");
  for (const ast::FailureName& n : e->fails.failures) {
    TypeId failure = checker.resolveFailure(n, module);
    if (!isError(failure)) f.fails.push_back(failure);
  }
  if (e->fails.any) error(Span{e->fails.place, 9}, "`fails any` belongs to `Main`");
  if (!e->fails.present()) {
    if (expected) f.fails = h.fails;
    else f.infersFails = true;
  }
  std::vector<TypeId> args;
  std::vector<Mode> modes;
  frames.push_back(std::move(f));
  bool fine = true;
  for (size_t i = 0; i < e->params.size(); i++) {
    const ast::Param& p = e->params[i];
    Mode mode = p.type ? Mode(uint8_t(p.mode)) : expected ? h.modes[i] : Mode(uint8_t(p.mode));
    TypeId type = p.type ? checker.resolveType(p.type, where) : expected ? h.args[i] : TypeId{};
    if (!type || (!p.type && typeHasError(type))) {
      error(p.name ? p.name.span() : spanOf(e), "the type of `" + std::string(context.text(p.name)) + "` is not known here").note("write `func(" + std::string(context.text(p.name)) + ": …) … end`");
      type = errorType();
      fine = false;
    }
    LocalId local = declareLocal(p.name.id, p.name.place, type, Local::Form::Parameter, mode);
    get(local).marked = p.type != nullptr;
    c->params.push_back(local);
    c->modes.push_back(mode);
    args.push_back(type);
    modes.push_back(mode);
  }
  const ast::Expr* savedTarget = tryTarget;
  std::vector<TypeId> savedFails = std::move(lastFails);
  tryTarget = nullptr;
  lastFails.clear();
  if (e->value) {
    TypeId want = frame().result;
    ExprId value = expr(e->value, want && kindOf(want) == Kind::Unit ? TypeId{} : want);
    if (!want) frame().result = types.unmarked(typeOf(value));
    else if (kindOf(want) != Kind::Unit) value = fit(value, {want, "the result"}, e->value);
    fine = fine && !isError(value);
    c->value = value;
  } else {
    std::vector<StmtId> inside;
    block(e->body, inside);
    Kind k = kindOf(frame().result);
    if (k != Kind::Unit && k != Kind::Error && falls(inside)) error(Span{e->body.end, 3}, "this function ends without a value");
    c->body = std::move(inside);
  }
  tryTarget = savedTarget;
  lastFails = std::move(savedFails);
  Type t;
  t.kind = Kind::Function;
  t.args = std::move(args);
  t.modes = std::move(modes);
  t.result = frame().result ? frame().result : unit();
  t.fails = frame().fails;
  std::sort(t.fails.begin(), t.fails.end(), [&](TypeId a, TypeId b) { return typ(a).decl < typ(b).decl; });
  frames.pop_back();
  if (!fine) return errorExpr(e);
  get(r).type = types.intern(t);
  return r;
}

}  // namespace mica
