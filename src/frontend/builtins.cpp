// Calls of the language's own operations (builtins.def): what they take and answer.
#include <algorithm>
#include <map>

#include "frontend/checker.h"

namespace mica {

namespace {

struct Known { const char* name; Builtin builtin; };

// What may be written by name. Gradient, Detach and the like have nodes of their own.
const Known table[] = {
  {"Length", Builtin::Length}, {"Extent", Builtin::Extent}, {"Rank", Builtin::Rank}, {"Copy", Builtin::Copy}, {"Print", Builtin::Print},
  {"Append", Builtin::Append}, {"Insert", Builtin::Insert}, {"Remove", Builtin::Remove}, {"RemoveLast", Builtin::RemoveLast},
  {"Clear", Builtin::Clear}, {"Add", Builtin::Add}, {"Contains", Builtin::Contains}, {"Find", Builtin::Find}, {"Swap", Builtin::Swap},
  {"Replace", Builtin::Replace}, {"Take", Builtin::Take}, {"Sort", Builtin::Sort}, {"Box", Builtin::Box}, {"Unbox", Builtin::Unbox},
  {"Vector", Builtin::Vector}, {"List", Builtin::List}, {"Chars", Builtin::Chars}, {"Lines", Builtin::Lines}, {"Keys", Builtin::Keys},
  {"Values", Builtin::Values}, {"Zeros", Builtin::Zeros}, {"Ones", Builtin::Ones}, {"ZerosLike", Builtin::ZerosLike},
  {"Reshape", Builtin::Reshape}, {"Concat", Builtin::Concat}, {"Repeat", Builtin::Repeat}, {"ToDevice", Builtin::ToDevice},
  {"ToHost", Builtin::ToHost}, {"Beside", Builtin::Beside}, {"SaveCheckpoint", Builtin::SaveCheckpoint}, {"LoadCheckpoint", Builtin::LoadCheckpoint},
  {"ClipByNorm", Builtin::ClipByNorm}, {"Accumulate", Builtin::Accumulate}, {"CheckGradient", Builtin::CheckGradient}, {"Min", Builtin::Min}, {"Max", Builtin::Max}, {"Abs", Builtin::Abs},
  {"Share", Builtin::Share}, {"Stream", Builtin::StreamMake}, {"Send", Builtin::Send}, {"Receive", Builtin::Receive}, {"Close", Builtin::Close},
};

const char* const special[] = {"Backward", "Gradient", "Detach", "Wait", "Fma"};

const Known* findKnown(std::string_view name) {
  for (const Known& k : table) {
    if (name == k.name) return &k;
  }
  return nullptr;
}

}  // namespace

bool BodyChecker::isBuiltin(NameId n) const {
  std::string_view name = context.names.text(n);
  for (const char* s : special) {
    if (name == s) return true;
  }
  if (system && name == "Sqrt") return true;
  return findKnown(name) != nullptr;
}

const std::vector<const char*>& BodyChecker::builtinNames() {
  static const std::vector<const char*> all = [] {
    std::vector<const char*> out(std::begin(special), std::end(special));
    for (const Known& k : table) out.push_back(k.name);
    return out;
  }();
  return all;
}

ExprId BodyChecker::makeBuiltin(Builtin b, TypeId type, std::vector<ExprId> children, std::vector<Mode> modes, const ast::Expr* at) {
  ExprId e = make(ExprKind::Builtin, type, at);
  get(e).builtin = b;
  modes.resize(children.size(), Mode::Read);
  get(e).children = std::move(children);
  get(e).modes = std::move(modes);
  return e;
}

// Puts the arguments in the order of `names`; the first `required` must be there.
bool BodyChecker::take(const ast::CallExpr* e, std::vector<const ast::Arg*>& out, std::initializer_list<const char*> names, size_t required) {
  std::vector<Slot> slots;
  size_t i = 0;
  for (const char* n : names) slots.push_back({n, {}, Mode::Read, i++ >= required, nullptr, true});
  if (assignSlots(slots, e, quoteExact(e->callee), out)) return true;
  for (const ast::Arg& a : e->args) {
    if (a.value->kind != ast::ExprKind::Closure) expr(a.value);
  }
  return false;
}

ExprId BodyChecker::inoutArg(const ast::Arg& a, const std::string& callee, const char* name, TypeId hint, Change change) {
  Slot slot{name, {}, Mode::Inout, false, nullptr, true, change};
  ExprId x = argument(slot, hint, a, callee);
  if (!isError(x) && !isPlace(x)) {
    error(a.value, "`" + callee + "` changes a variable or a part of one, and this is a computed value");
    return errorExpr(a.value);
  }
  return x;
}

ExprId BodyChecker::printCall(const ast::CallExpr* e) {
  std::vector<const ast::Arg*> a;
  if (!take(e, a, {"value"}, 1)) return errorExpr(e);
  ExprId x = expr(a[0]->value);
  if (isError(x)) return errorExpr(e);
  TypeId t = typeOf(x);
  if (kindOf(t) == Kind::Unit || !isPrintable(program, t)) {
    auto& m = error(a[0]->value, quote(a[0]->value) + " is " + aType(t) + " and cannot be printed");
    if (kindOf(t) == Kind::Parameter) m.note("write `" + show(t) + ": Printable` in the brackets of the declaration");
    return errorExpr(e);
  }
  return makeBuiltin(Builtin::Print, unit(), {x}, {}, e);
}

ExprId BodyChecker::sortCall(const ast::CallExpr* e) {
  std::vector<const ast::Arg*> a;
  if (!take(e, a, {"xs", "before"}, 1)) return errorExpr(e);
  ExprId xs = inoutArg(*a[0], "Sort", "xs", {}, Change::Elements);
  if (isError(xs)) return errorExpr(e);
  const Type t = typ(typeOf(xs));
  bool sortable = t.kind == Kind::List || t.kind == Kind::Array || (t.kind == Kind::Tensor && t.extents.size() == 1);
  if (!sortable) {
    error(a[0]->value, "`Sort` orders lists, arrays and vectors, and " + quote(a[0]->value) + " is " + aType(typeOf(xs)));
    return errorExpr(e);
  }
  TypeId element = types.unmarked(t.element);
  if (!a[1]) {
    if (!isOrdered(program, element)) {
      error(e, aType(element) + " has no order").note("write `Sort(inout " + quoteExact(a[0]->value) + ", before: (a, b) => …)`");
      return errorExpr(e);
    }
    return makeBuiltin(Builtin::Sort, unit(), {xs}, {Mode::Inout}, e);
  }
  Type f;
  f.kind = Kind::Function;
  f.args = {element, element};
  f.modes = {Mode::Read, Mode::Read};
  f.result = boolType();
  ExprId before = exprAs(a[1]->value, types.intern(f), "`before`");
  if (isError(before)) return errorExpr(e);
  return makeBuiltin(Builtin::Sort, unit(), {xs, before}, {Mode::Inout, Mode::Read}, e);
}

// Min, Max, Abs of numbers; on tensors they are operations of the vocabulary.
ExprId BodyChecker::minMax(const std::string& name, const ast::CallExpr* e, TypeId hint) {
  bool isAbs = name == "Abs";
  hint = withoutOptional(hint);
  if (system && !isAbs && e->args.size() == 2) return mathIntrinsic(name, e, hint);
  if (system && isAbs) return mathIntrinsic(name, e, hint);
  for (const ast::Arg& a : e->args) {
    if (a.name || a.isInout) error(a.name ? a.name.span() : Span{a.place, 5}, "`" + name + "` takes plain values");
  }
  if (e->args.empty() || (isAbs && e->args.size() != 1)) {
    error(e, "`" + name + "` takes " + (isAbs ? "one value" : "two values or more"));
    for (const ast::Arg& a : e->args) expr(a.value);
    return errorExpr(e);
  }
  std::vector<ExprId> children(e->args.size());
  TypeId type;
  bool floats = false;
  for (size_t i = 0; i < children.size(); i++) {
    const ast::Expr* a = e->args[i].value;
    if (adaptable(a)) {
      floats = floats || hasFloatLiteral(a);
      continue;
    }
    children[i] = expr(a, hint);
    if (isError(children[i])) type = errorType();
    else if (!type) type = types.unmarked(typeOf(children[i]));
  }
  if (!type) type = adaptTo({}, hint);
  if (!type || (floats && isInteger(kindOf(type)))) type = floats ? scalar(Kind::Float64) : type ? type : intType();
  for (size_t i = 0; i < children.size(); i++) {
    if (!children[i]) children[i] = buildAdaptable(e->args[i].value, adaptTo(type, {}));
  }
  for (ExprId c : children) {
    if (isError(c)) return errorExpr(e);
  }
  bool tensors = false;
  for (ExprId c : children) tensors = tensors || kindOf(c) == Kind::Tensor;
  if (tensors) {
    if (children.size() == 1) {
      const vocabulary::Row* row = vocabulary::find(isAbs ? "Abs" : name + "All");
      if (!row) {
        error(e, "this compiler does not have `" + name + "` on tensors yet");
        return errorExpr(e);
      }
      const Type t = typ(typeOf(children[0]));
      Kind element = kindOf(t.element);
      if (!isInteger(element) && !isFloat(element) && element != Kind::Parameter) {
        error(e->args[0].value, "`" + name + "` takes numbers, and " + quote(e->args[0].value) + " is " + aType(types.unmarked(typeOf(children[0]))));
        return errorExpr(e);
      }
      return makeRow(row->name, isAbs ? types.unmarked(typeOf(children[0])) : types.unmarked(t.element), {children[0]}, e);
    }
    const vocabulary::Row* row = vocabulary::find(name);
    if (!row || children.size() != 2) {
      error(e, "`" + name + "` compares two tensors element by element");
      return errorExpr(e);
    }
    return vocabularyCall(row, e, nullptr, hint);
  }
  TypeId joined;
  for (size_t i = 0; i < children.size(); i++) {
    TypeId t = typeOf(children[i]);
    Kind k = kindOf(t);
    bool fits = isInteger(k) || isFloat(k) || (!isAbs && (k == Kind::Char || k == Kind::Bool)) || (k == Kind::Parameter && copies(program, t));
    TypeId next = joined ? join(joined, t) : types.unmarked(t);
    if (!fits || !next) {
      error(e->args[i].value, !fits ? "`" + name + "` takes numbers, and " + quote(e->args[i].value) + " is " + aType(t) : "`" + name + "` takes values of one type, and these are " + aType(joined) + " and " + aType(t));
      return errorExpr(e);
    }
    joined = next;
  }
  if (children.size() == 1 && !isAbs) {
    error(e, "`" + name + "` of one number is that number");
    return errorExpr(e);
  }
  for (size_t i = 0; i < children.size(); i++) children[i] = fit(children[i], {joined, "the value"}, e->args[i].value);
  if (isAbs && isFloat(kindOf(joined)) && vocabulary::find("Abs")) return makeRow("Abs", joined, children, e);
  return makeBuiltin(isAbs ? Builtin::Abs : name == "Min" ? Builtin::Min : Builtin::Max, joined, children, {}, e);
}

ExprId BodyChecker::makeTensorBuiltin(Builtin b, const ast::CallExpr* e, const ast::Seq<ast::Arg>* brackets, TypeId hint) {
  std::string name = b == Builtin::Zeros ? "Zeros" : b == Builtin::Ones ? "Ones" : "Reshape";
  bool reshape = b == Builtin::Reshape;
  ExprId source;
  if (reshape) {
    std::vector<const ast::Arg*> a;
    if (!take(e, a, {"x"}, 1)) return errorExpr(e);
    source = expr(a[0]->value);
    if (isError(source)) return errorExpr(e);
    if (kindOf(source) != Kind::Tensor) {
      error(a[0]->value, "`Reshape` takes a tensor, and " + quote(a[0]->value) + " is " + aType(typeOf(source)));
      return errorExpr(e);
    }
  } else if (!e->args.empty()) {
    error(e->args[0].value, "`" + name + "` takes its extents in brackets").note("write `" + name + "[" + quoteExact(e->args[0].value) + "]()`");
    for (const ast::Arg& a : e->args) expr(a.value);
    return errorExpr(e);
  }
  TypeId expected = withoutOptional(hint), element;
  std::vector<ExtentId> shape;
  std::vector<ExtentArg> how;
  if (brackets) {
    size_t from = 0;
    if (!brackets->empty()) {
      auto* first = const_cast<ast::Expr*>((*brackets)[0].value);
      bool generic = false;
      if (auto* n = ast::tryAs<ast::NameExpr>(first)) {
        for (const GenericName& g : checker.info(decl).generics) generic = generic || (g.name == n->name && !g.isExtent && !findLocal(n->name));
      }
      if (!reshape && (generic || checker.isTypeSyntax(first))) {
        element = types.unmarked(checker.resolveTypeArg(first, typeScope()));
        from = 1;
      }
    }
    how = bracketShape(*brackets, from, shape);
    if (shape.empty()) {
      if (from > 0) error(e->callee, "the extents are missing in these brackets");   // of empty ones the parser has spoken
      return errorExpr(e);
    }
    for (size_t i = 0; i < shape.size(); i++) {
      bool written = how[i].from == ExtentArg::From::Known && types.isOpen(shape[i]);
      if (written) {
        error((*brackets)[from + i].value, "`?` is no extent that a tensor can be made with").note("write a number, or an integer variable");
        return errorExpr(e);
      }
      if (how[i].from == ExtentArg::From::Value && isError(how[i].value)) return errorExpr(e);
    }
  } else if (kindOf(expected) == Kind::Tensor) {
    shape = typ(expected).extents;
    for (ExtentId x : shape) {
      if (types.isOpen(x)) {
        error(e, "`" + name + "` does not know its extents: the type here is " + show(types.unmarked(expected))).note("write them in brackets: `" + name + "[…](" + (reshape ? "…" : "") + ")`");
        return errorExpr(e);
      }
      how.push_back(ExtentArg{ExtentArg::From::Known, x, {}, 0, 0, {}, {}});
    }
  } else {
    error(e, "`" + name + "` does not know its extents here").note("write them in brackets: `" + name + "[…](" + (reshape ? "…" : "") + ")`");
    return errorExpr(e);
  }
  if (reshape) element = types.unmarked(typ(typeOf(source)).element);
  if (!element && kindOf(expected) == Kind::Tensor) element = types.unmarked(typ(expected).element);
  if (!element) element = scalar(Kind::Float32);
  if (isError(element)) return errorExpr(e);
  Kind k = kindOf(element);
  bool holds = isFloat(k) || k == Kind::Int8 || k == Kind::UInt8 || k == Kind::Int32 || k == Kind::Int64 || k == Kind::Bool || k == Kind::Parameter;
  if (!holds) {
    error(e->callee, "a tensor holds float32, float64, int8, uint8, int32, int64 or bool, and this is " + aType(element));
    return errorExpr(e);
  }
  if (reshape) {
    ExtentId have = types.constant(1), want = types.constant(1);
    for (ExtentId x : typ(typeOf(source)).extents) have = types.multiply(have, x);
    for (ExtentId x : shape) want = types.multiply(want, x);
    int64_t a, c;
    if (types.isConstant(have, &a) && types.isConstant(want, &c) && a != c) {
      error(e, "`Reshape` keeps the number of elements: " + show(types.unmarked(typeOf(source))) + " has " + std::to_string(a) + ", and the new shape " + std::to_string(c));
      return errorExpr(e);
    }
  }
  ExprId r = makeBuiltin(b, types.tensor(element, shape), source ? std::vector<ExprId>{source} : std::vector<ExprId>{}, {}, e);
  get(r).extentArgs = std::move(how);
  return r;
}

ExprId BodyChecker::refuseArgument(const ast::Arg& a, const std::string& callee, const std::string& takes, ExprId x, const ast::CallExpr* e) {
  if (!isError(x)) error(a.value, "`" + callee + "` takes " + takes + ", and " + quote(a.value) + " is " + aType(types.unmarked(typeOf(x))));
  return errorExpr(e);
}

// What is asked of a value.
ExprId BodyChecker::readCall(Builtin b, const std::string& name, const ast::CallExpr* e, TypeId hint) {
  std::vector<const ast::Arg*> a;
  auto value = [&](size_t i, TypeId h = {}) { return expr(a[i]->value, h); };
  auto refuse = [&](size_t i, const std::string& takes, ExprId x) { return refuseArgument(*a[i], name, takes, x, e); };
  switch (b) {
    case Builtin::Length: {
      if (!take(e, a, {"x"}, 1)) return errorExpr(e);
      walked = a[0]->value;
      ExprId x = value(0);
      Kind k = kindOf(x);
      bool has = k == Kind::String || k == Kind::List || k == Kind::Array || k == Kind::Map || k == Kind::Set || (k == Kind::Tensor && typ(typeOf(x)).extents.size() == 1);
      if (!has) {
        if (k == Kind::Tensor) {
          error(a[0]->value, "`Length` is for vectors, and " + quote(a[0]->value) + " is " + aType(types.unmarked(typeOf(x)))).note("write `Extent(" + quoteExact(a[0]->value) + ", k)`");
          return errorExpr(e);
        }
        return refuse(0, "a string, list, array, map, set or vector", x);
      }
      return makeBuiltin(b, intType(), {x}, {}, e);
    }
    case Builtin::Extent: {
      if (!take(e, a, {"x", "k"}, 2)) return errorExpr(e);
      ExprId x = value(0), k = indexValue(a[1]->value);
      if (kindOf(x) != Kind::Tensor) return refuse(0, "a tensor", x);
      int64_t n;
      if (knownIndex(a[1]->value, &n) && (n < 0 || n >= int64_t(typ(typeOf(x)).extents.size()))) {
        error(a[1]->value, aType(types.unmarked(typeOf(x))) + " has the extents 0 to " + std::to_string(typ(typeOf(x)).extents.size() - 1));
        return errorExpr(e);
      }
      return isError(k) ? errorExpr(e) : makeBuiltin(b, intType(), {x, k}, {}, e);
    }
    case Builtin::Rank: {
      if (!take(e, a, {"x"}, 1)) return errorExpr(e);
      ExprId x = value(0);
      Kind k = kindOf(x);
      if (k != Kind::Tensor && !isFloat(k) && !isInteger(k)) return refuse(0, "a tensor or a number", x);
      return intLiteral(k == Kind::Tensor ? int64_t(typ(typeOf(x)).extents.size()) : 0, intType(), e);
    }
    case Builtin::Copy: {
      if (!take(e, a, {"x"}, 1)) return errorExpr(e);
      ExprId x = value(0, hint);
      if (isError(x)) return errorExpr(e);
      TypeId t = types.unmarked(typeOf(x));
      if (kindOf(t) == Kind::Unit || !isCopyable(program, t)) {
        auto& m = error(e, aType(t) + " cannot be copied");
        if (kindOf(t) == Kind::Parameter) m.note("write `" + show(t) + ": Copyable` in the brackets of the declaration");
        return errorExpr(e);
      }
      return makeBuiltin(b, t, {x}, {}, e);
    }
    case Builtin::Contains: {
      if (!take(e, a, {"xs", "x"}, 2)) return errorExpr(e);
      ExprId xs = value(0);
      const Type t = typ(typeOf(xs));
      if (t.kind != Kind::Set && t.kind != Kind::Map && t.kind != Kind::List && t.kind != Kind::String) return refuse(0, "a set, map, list or string", xs);
      TypeId key = t.kind == Kind::Map ? t.key : t.kind == Kind::String ? stringType() : t.element;
      ExprId x = exprAs(a[1]->value, key, "what is looked for");
      if (isError(x)) return errorExpr(e);
      if (!isEquatable(program, key)) {
        error(e, aType(key) + " cannot be compared");
        return errorExpr(e);
      }
      return makeBuiltin(b, boolType(), {xs, x}, {}, e);
    }
    default: return errorExpr(e);
  }
}

// The parts of a value as a list or vector.
ExprId BodyChecker::partsCall(Builtin b, const std::string& name, const ast::CallExpr* e, TypeId hint) {
  std::vector<const ast::Arg*> a;
  auto value = [&](size_t i, TypeId h = {}) { return expr(a[i]->value, h); };
  auto refuse = [&](size_t i, const std::string& takes, ExprId x) { return refuseArgument(*a[i], name, takes, x, e); };
  switch (b) {
    case Builtin::Keys: case Builtin::Values: {
      if (!take(e, a, {"m"}, 1)) return errorExpr(e);
      ExprId m = value(0);
      const Type t = typ(typeOf(m));
      if (t.kind != Kind::Map) return refuse(0, "a map", m);
      TypeId element = b == Builtin::Keys ? t.key : t.element;
      if (!isCopyable(program, element)) {
        error(e, aType(element) + " cannot be copied into a list");
        return errorExpr(e);
      }
      return makeBuiltin(b, types.list(element), {m}, {}, e);
    }
    case Builtin::Chars: case Builtin::Lines: {
      if (!take(e, a, {"s"}, 1)) return errorExpr(e);
      ExprId s = value(0);
      if (kindOf(s) != Kind::String) return refuse(0, "a string", s);
      TypeId element = b == Builtin::Chars ? scalar(Kind::Char) : stringType();
      ExprId walk = makeBuiltin(b, types.list(element), {s}, {}, e);
      if (walked == e) return walk;
      // Anywhere else the walk is collected into a list.
      LocalId item = newLocal("item", e->place, element, Local::Form::LoopRead);
      auto loop = std::make_unique<Loop>();
      loop->form = Loop::Form::Walk;
      loop->variable = item;
      loop->source = walk;
      ExprId each = make(ExprKind::Local, element, e);
      get(each).local = item;
      if (b == Builtin::Lines) each = makeBuiltin(Builtin::Copy, element, {each}, {}, e);
      ExprId r = make(ExprKind::Comprehension, types.list(element), e);
      get(r).children = {each};
      get(r).loop = std::move(loop);
      return r;
    }
    case Builtin::Vector: {
      if (!take(e, a, {"xs"}, 1)) return errorExpr(e);
      TypeId expected = withoutOptional(hint);
      ExprId xs = value(0, kindOf(expected) == Kind::Tensor ? types.list(types.unmarked(typ(expected).element)) : TypeId{});
      Type t = typ(typeOf(xs));
      if (t.kind != Kind::List && t.kind != Kind::Array) return refuse(0, "a list", xs);
      Kind k = kindOf(t.element);
      bool holds = isFloat(k) || k == Kind::Int8 || k == Kind::UInt8 || k == Kind::Int32 || k == Kind::Int64 || k == Kind::Bool || k == Kind::Parameter;
      if (!holds) {
        error(a[0]->value, "a tensor holds float32, float64, int8, uint8, int32, int64 or bool, and these are " + show(types.unmarked(t.element)));
        return errorExpr(e);
      }
      ExtentId length = t.kind == Kind::Array ? t.extents[0] : types.open();
      if (t.kind == Kind::Array) {   // as a view of a list
        ExprId view = make(ExprKind::Slice, types.list(t.element), a[0]->value);
        ExprId zero = intLiteral(0, intType(), a[0]->value);
        get(view).children = {xs};
        get(view).subscripts = {Subscript{Subscript::Form::From, zero, {}, false}};
        xs = view;
      }
      return makeBuiltin(b, types.tensor(types.unmarked(t.element), {length}), {xs}, {}, e);
    }
    case Builtin::List: {
      if (!take(e, a, {"x"}, 1)) return errorExpr(e);
      ExprId x = value(0);
      const Type t = typ(typeOf(x));
      bool fits = t.kind == Kind::Set || t.kind == Kind::Array || t.kind == Kind::List || (t.kind == Kind::Tensor && t.extents.size() == 1);
      if (!fits) return refuse(0, "a vector, array or set", x);
      return makeBuiltin(b, types.list(types.unmarked(t.element)), {x}, {}, e);
    }
    default: return errorExpr(e);
  }
}

// What changes a place, or what lies in a box.
ExprId BodyChecker::changeCall(Builtin b, const std::string& name, const ast::CallExpr* e, TypeId hint) {
  std::vector<const ast::Arg*> a;
  auto value = [&](size_t i, TypeId h = {}) { return expr(a[i]->value, h); };
  auto refuse = [&](size_t i, const std::string& takes, ExprId x) { return refuseArgument(*a[i], name, takes, x, e); };
  switch (b) {
    case Builtin::Append: case Builtin::Insert: {
      bool insert = b == Builtin::Insert;
      bool fine = insert ? take(e, a, {"xs", "at", "x"}, 3) : take(e, a, {"xs", "x"}, 2);
      if (!fine) return errorExpr(e);
      ExprId xs = inoutArg(*a[0], name, "xs");
      if (isError(xs) || kindOf(xs) != Kind::List) {
        if (insert) value(1);
        return refuse(0, "a list", xs);
      }
      ExprId at = insert ? indexValue(a[1]->value) : ExprId{};
      size_t last = insert ? 2 : 1;
      ExprId x = exprAs(a[last]->value, typ(typeOf(xs)).element, "an element of " + quote(a[0]->value));
      if (isError(x) || (at && isError(at))) return errorExpr(e);
      if (insert) return makeBuiltin(b, unit(), {xs, at, x}, {Mode::Inout, Mode::Read, Mode::Move}, e);
      return makeBuiltin(b, unit(), {xs, x}, {Mode::Inout, Mode::Move}, e);
    }
    case Builtin::Remove: {
      if (!take(e, a, {"xs", "at"}, 2)) return errorExpr(e);
      ExprId xs = inoutArg(*a[0], name, "xs");
      const Type t = typ(typeOf(xs));
      if (t.kind == Kind::List) {
        ExprId at = indexValue(a[1]->value);
        return isError(at) ? errorExpr(e) : makeBuiltin(b, t.element, {xs, at}, {Mode::Inout, Mode::Read}, e);
      }
      if (t.kind != Kind::Map && t.kind != Kind::Set) return refuse(0, "a list, map or set", xs);
      ExprId key = exprAs(a[1]->value, t.kind == Kind::Map ? t.key : t.element, "the key");
      return isError(key) ? errorExpr(e) : makeBuiltin(b, boolType(), {xs, key}, {Mode::Inout, Mode::Read}, e);
    }
    case Builtin::RemoveLast: {
      if (!take(e, a, {"xs"}, 1)) return errorExpr(e);
      ExprId xs = inoutArg(*a[0], name, "xs");
      if (kindOf(xs) != Kind::List) return refuse(0, "a list", xs);
      return makeBuiltin(b, typ(typeOf(xs)).element, {xs}, {Mode::Inout}, e);
    }
    case Builtin::Clear: {
      if (!take(e, a, {"xs"}, 1)) return errorExpr(e);
      ExprId xs = inoutArg(*a[0], name, "xs");
      Kind k = kindOf(xs);
      if (k != Kind::List && k != Kind::Map && k != Kind::Set && k != Kind::String) return refuse(0, "a list, map, set or string", xs);
      return makeBuiltin(b, unit(), {xs}, {Mode::Inout}, e);
    }
    case Builtin::Add: {
      if (!take(e, a, {"s", "x"}, 2)) return errorExpr(e);
      ExprId s = inoutArg(*a[0], name, "s");
      if (kindOf(s) != Kind::Set) return refuse(0, "a set", s);
      ExprId x = exprAs(a[1]->value, typ(typeOf(s)).element, "an element of " + quote(a[0]->value));
      return isError(x) ? errorExpr(e) : makeBuiltin(b, boolType(), {s, x}, {Mode::Inout, Mode::Move}, e);
    }
    case Builtin::Find: {
      if (!take(e, a, {"m", "k"}, 2)) return errorExpr(e);
      bool changes = a[0]->isInout;
      ExprId m = changes ? inoutArg(*a[0], name, "m") : value(0);
      const Type t = typ(typeOf(m));
      if (t.kind != Kind::Map) return refuse(0, "a map", m);
      ExprId key = exprAs(a[1]->value, t.key, "the key");
      if (isError(key)) return errorExpr(e);
      return makeBuiltin(changes ? Builtin::FindInout : Builtin::Find, types.optional(t.element), {m, key}, {changes ? Mode::Inout : Mode::Read, Mode::Read}, e);
    }
    case Builtin::Swap: {
      if (!take(e, a, {"a", "b", "c"}, 2)) return errorExpr(e);
      ExprId x = inoutArg(*a[0], name, "a", {}, a[2] ? Change::Elements : Change::Handed);
      if (a[2]) {
        const Type t = typ(typeOf(x));
        bool fits = t.kind == Kind::List || t.kind == Kind::Array || (t.kind == Kind::Tensor && t.extents.size() == 1);
        ExprId i = indexValue(a[1]->value), j = indexValue(a[2]->value);
        if (!fits) return refuse(0, "a list, array or vector and two indices", x);
        return isError(i) || isError(j) ? errorExpr(e) : makeBuiltin(b, unit(), {x, i, j}, {Mode::Inout, Mode::Read, Mode::Read}, e);
      }
      ExprId y = inoutArg(*a[1], name, "b", isError(x) ? TypeId{} : typeOf(x));
      if (isError(x) || isError(y)) return errorExpr(e);
      if (!types.same(typeOf(x), typeOf(y))) {
        error(e, "`Swap` exchanges values of one type, and these are " + aType(types.unmarked(typeOf(x))) + " and " + aType(types.unmarked(typeOf(y))));
        return errorExpr(e);
      }
      return makeBuiltin(b, unit(), {x, y}, {Mode::Inout, Mode::Inout}, e);
    }
    case Builtin::Replace: {
      if (!take(e, a, {"place", "new"}, 2)) return errorExpr(e);
      ExprId place = inoutArg(*a[0], name, "place");
      if (isError(place)) return errorExpr(e);
      ExprId x = exprAs(a[1]->value, types.unmarked(typeOf(place)), quote(a[0]->value));
      return isError(x) ? errorExpr(e) : makeBuiltin(b, types.unmarked(typeOf(place)), {place, x}, {Mode::Inout, Mode::Move}, e);
    }
    case Builtin::Take: {
      if (!take(e, a, {"place"}, 1)) return errorExpr(e);
      ExprId place = inoutArg(*a[0], name, "place");
      if (kindOf(place) != Kind::Optional) return refuse(0, "an optional", place);
      return makeBuiltin(b, types.unmarked(typeOf(place)), {place}, {Mode::Inout}, e);
    }
    case Builtin::Box: {
      if (!take(e, a, {"x"}, 1)) return errorExpr(e);
      TypeId expected = withoutOptional(hint);
      bool known = kindOf(expected) == Kind::Box && !typeHasError(expected);
      ExprId x = known ? exprAs(a[0]->value, typ(expected).element, "what the box holds") : value(0);
      if (isError(x)) return errorExpr(e);
      return makeBuiltin(b, known ? types.unmarked(expected) : types.box(types.unmarked(typeOf(x))), {x}, {Mode::Move}, e);
    }
    case Builtin::Unbox: {
      if (!take(e, a, {"x"}, 1)) return errorExpr(e);
      ExprId x = value(0);
      if (kindOf(x) != Kind::Box) return refuse(0, "a box", x);
      return makeBuiltin(b, typ(typeOf(x)).element, {x}, {}, e);
    }
    default: return errorExpr(e);
  }
}

// Tensors that are joined, and records that are trained and stored.
ExprId BodyChecker::trainingCall(Builtin b, const std::string& name, const ast::CallExpr* e, const ast::Seq<ast::Arg>* brackets, TypeId hint) {
  std::vector<const ast::Arg*> a;
  auto value = [&](size_t i, TypeId h = {}) { return expr(a[i]->value, h); };
  auto refuse = [&](size_t i, const std::string& takes, ExprId x) { return refuseArgument(*a[i], name, takes, x, e); };
  switch (b) {
    case Builtin::Concat: return concat(e);
    case Builtin::Repeat: {
      if (!take(e, a, {"x"}, 1)) return errorExpr(e);
      ExprId x = value(0);
      bool numeric = kindOf(x) == Kind::Tensor;
      if (!numeric) return refuse(0, "a tensor", x);
      if (!brackets || brackets->size() != 1) {
        error(e->callee, "`Repeat` takes the number of repetitions in brackets").note("write `Repeat[n](" + quoteExact(a[0]->value) + ")`: n copies under each other, with a leading extent n");
        return errorExpr(e);
      }
      std::vector<ExtentId> shape;
      std::vector<ExtentArg> how = bracketShape(*brackets, 0, shape);
      const Type t = typ(typeOf(x));
      shape.insert(shape.end(), t.extents.begin(), t.extents.end());
      ExprId r = makeBuiltin(b, types.tensor(types.unmarked(t.element), shape), {x}, {}, e);
      get(r).extentArgs = std::move(how);
      return r;
    }
    case Builtin::ZerosLike: {
      if (!take(e, a, {"x"}, 1)) return errorExpr(e);
      ExprId x = value(0);
      Kind k = kindOf(x);
      if (k != Kind::Tensor && k != Kind::Record && !isFloat(k)) return refuse(0, "a tensor or a record", x);
      if (k == Kind::Record && !recordWalks(typeOf(x), a[0]->value, name)) return errorExpr(e);
      return makeBuiltin(b, types.unmarked(typeOf(x)), {x}, {}, e);
    }
    case Builtin::ClipByNorm: {
      if (!take(e, a, {"x", "limit"}, 2)) return errorExpr(e);
      ExprId x = inoutArg(*a[0], name, "x", {}, Change::Elements);
      ExprId limit = exprAs(a[1]->value, scalar(Kind::Float64), "the limit");
      Kind k = kindOf(x), element = k == Kind::Tensor ? kindOf(typ(typeOf(x)).element) : k;
      if (!isFloat(element) && element != Kind::Parameter && k != Kind::Record) return refuse(0, "a tensor of floats or a record", x);
      if (k == Kind::Record && !recordWalks(typeOf(x), a[0]->value, name)) return errorExpr(e);
      return isError(limit) ? errorExpr(e) : makeBuiltin(b, scalar(Kind::Float64), {x, limit}, {Mode::Inout, Mode::Read}, e);
    }
    case Builtin::Accumulate: {
      if (!take(e, a, {"sums", "part", "index"}, 1)) return errorExpr(e);
      ExprId sums = inoutArg(*a[0], name, "sums");
      TypeId element = !isError(sums) && kindOf(sums) == Kind::List ? typ(typeOf(sums)).element : TypeId{};
      bool record = element && kindOf(element) == Kind::Record;
      if (!record && !(element && kindOf(element) == Kind::Tensor && isFloat(kindOf(types.unmarked(typ(element).element))))) {
        if (a[1]) value(1);
        return refuse(0, "a list of records or of tensors", sums);
      }
      if (record && !recordWalks(element, a[0]->value, name)) return errorExpr(e);
      if (!a[1] && !a[2]) return makeBuiltin(b, unit(), {sums}, {Mode::Inout}, e);
      if (!a[1] || !a[2]) {
        error(e, "`Accumulate` takes a part together with its number").note("write `Accumulate(inout sums, part, index: i)`; without both it joins what is left");
        return errorExpr(e);
      }
      ExprId part = exprAs(a[1]->value, element, "a part of " + quote(a[0]->value)), index = exprAs(a[2]->value, intType(), "the index");
      if (isError(part) || isError(index)) return errorExpr(e);
      return makeBuiltin(b, unit(), {sums, part, index}, {Mode::Inout, Mode::Move, Mode::Read}, e);
    }
    case Builtin::SaveCheckpoint: {
      if (!take(e, a, {"path", "record"}, 2)) return errorExpr(e);
      ExprId path = exprAs(a[0]->value, stringType(), "the path"), x = value(1);
      if (kindOf(x) != Kind::Record) return refuse(1, "a record", x);
      if (isError(path) || !checkpointHolds(types.unmarked(typeOf(x)), "", a[1]->value)) return errorExpr(e);
      return finishCall(makeBuiltin(b, unit(), {path, x}, {}, e), failuresNamed({"IoError"}, e), e, name);
    }
    case Builtin::LoadCheckpoint: {
      if (!take(e, a, {"path"}, 1)) return errorExpr(e);
      ExprId path = exprAs(a[0]->value, stringType(), "the path");
      TypeId type = withoutOptional(hint);
      if (brackets && brackets->size() == 1) type = checker.resolveTypeArg(const_cast<ast::Expr*>((*brackets)[0].value), typeScope());
      else if (brackets) {
        error(e->callee, "`LoadCheckpoint` takes one type in brackets");
        return errorExpr(e);
      }
      if (isError(path) || (type && isError(type))) return errorExpr(e);
      if (!type || kindOf(type) != Kind::Record) {
        error(e, "`LoadCheckpoint` needs the record's type").note("write `LoadCheckpoint[State[?]](path)`");
        return errorExpr(e);
      }
      if (!checkpointHolds(types.unmarked(type), "", e)) return errorExpr(e);
      return finishCall(makeBuiltin(b, types.unmarked(type), {path}, {}, e), failuresNamed({"IoError", "BadCheckpoint"}, e), e, name);
    }
    default: return errorExpr(e);
  }
}

ExprId BodyChecker::builtinCall(NameId id, const ast::CallExpr* e, const ast::Seq<ast::Arg>* brackets, TypeId hint) {
  std::string name = text(id);
  std::vector<const ast::Arg*> a;
  auto value = [&](size_t i, TypeId h = {}) { return expr(a[i]->value, h); };
  auto refuse = [&](size_t i, const std::string& takes, ExprId x) { return refuseArgument(*a[i], name, takes, x, e); };
  if (name == "Fma") return mathIntrinsic(name, e, hint);
  if (name == "Sqrt") return mathIntrinsic(name, e, hint);
  if (name == "Backward") {
    error(e, "`Backward` is a statement and answers nothing");
    return errorExpr(e);
  }
  if (name == "Gradient" || name == "Detach") {
    if (!take(e, a, {"x"}, 1)) return errorExpr(e);
    ExprId x = value(0);
    if (isError(x)) return errorExpr(e);
    Kind k = kindOf(x);
    Kind element = k == Kind::Tensor ? kindOf(typ(typeOf(x)).element) : k;
    bool floats = isFloat(element) || element == Kind::Parameter;
    bool fits = floats || k == Kind::Record || (name == "Detach" && (k == Kind::Tensor || k == Kind::List || k == Kind::Array || k == Kind::Tuple || k == Kind::Optional));
    if (!fits) return refuse(0, name == "Gradient" ? "a tracked place" : "a tensor, a float or a record", x);
    ExprId r = make(name == "Gradient" ? ExprKind::Gradient : ExprKind::Detach, types.unmarked(typeOf(x)), e);
    get(r).children = {x};
    return r;
  }
  if (name == "Wait") {
    error(e, "this compiler does not have tasks yet");
    return errorExpr(e);
  }
  const Builtin b = findKnown(name)->builtin;
  bool takesBrackets = b == Builtin::Zeros || b == Builtin::Ones || b == Builtin::Reshape || b == Builtin::Repeat || b == Builtin::LoadCheckpoint || b == Builtin::StreamMake;
  if (brackets && !takesBrackets) error(e->callee, "`" + name + "` takes nothing in brackets");
  switch (b) {
    case Builtin::Print: return printCall(e);
    case Builtin::Sort: return sortCall(e);
    case Builtin::Min: case Builtin::Max: case Builtin::Abs: return minMax(name, e, hint);
    case Builtin::Zeros: case Builtin::Ones: case Builtin::Reshape: return makeTensorBuiltin(b, e, brackets, hint);
    case Builtin::ToDevice: case Builtin::ToHost: case Builtin::Beside: {
      error(e, "this compiler does not have the GPU yet");
      return errorExpr(e);
    }
    case Builtin::CheckGradient:
      error(e, "this compiler does not have `CheckGradient` yet");
      return errorExpr(e);
    case Builtin::Length: case Builtin::Extent: case Builtin::Rank: case Builtin::Copy: case Builtin::Contains: return readCall(b, name, e, hint);
    case Builtin::Keys: case Builtin::Values: case Builtin::Chars: case Builtin::Lines: case Builtin::Vector: case Builtin::List: return partsCall(b, name, e, hint);
    case Builtin::Append: case Builtin::Insert: case Builtin::Remove: case Builtin::RemoveLast: case Builtin::Clear: case Builtin::Add: case Builtin::Find:
    case Builtin::Swap: case Builtin::Replace: case Builtin::Take: case Builtin::Box: case Builtin::Unbox:
      return changeCall(b, name, e, hint);
    case Builtin::Concat: case Builtin::Repeat: case Builtin::ZerosLike: case Builtin::ClipByNorm: case Builtin::Accumulate:
    case Builtin::SaveCheckpoint: case Builtin::LoadCheckpoint:
      return trainingCall(b, name, e, brackets, hint);
    default:
      error(e, "this compiler does not have tasks and streams yet");
      return errorExpr(e);
  }
}

// Tensors joined along the first extent; the others agree.
ExprId BodyChecker::concat(const ast::CallExpr* e) {
  std::vector<ExprId> children;
  for (const ast::Arg& a : e->args) {
    ExprId x = expr(a.value);
    if (isError(x)) return errorExpr(e);
    if (kindOf(x) != Kind::Tensor) {
      error(a.value, "`Concat` joins tensors, and " + quote(a.value) + " is " + aType(typeOf(x)));
      return errorExpr(e);
    }
    children.push_back(x);
  }
  if (children.empty()) {
    error(e, "`Concat` joins one tensor or more");
    return errorExpr(e);
  }
  Type whole = typ(types.unmarked(typeOf(children[0])));
  for (size_t i = 1; i < children.size(); i++) {
    const Type t = typ(typeOf(children[i]));
    bool fine = t.extents.size() == whole.extents.size() && types.same(t.element, whole.element);
    for (size_t k = 1; fine && k < t.extents.size(); k++) whole.extents[k] = meet(whole.extents[k], t.extents[k], &fine);
    if (!fine) {
      auto& m = error(e->args[i].value, "`Concat` joins along the first extent: the others are equal, and these are " + show(types.unmarked(typeOf(children[0]))) + " and " + show(types.unmarked(typeOf(children[i]))));
      m.label(spanOf(e->args[0].value), show(types.unmarked(typeOf(children[0]))), origin(children[0]));
      return errorExpr(e);
    }
    whole.extents[0] = types.add(whole.extents[0], t.extents[0]);
  }
  return makeBuiltin(Builtin::Concat, types.intern(whole), children, {}, e);
}

// The types of library failures, for built-ins that can fail.
std::vector<TypeId> BodyChecker::failuresNamed(std::initializer_list<const char*> list, const ast::Expr* at) {
  std::vector<TypeId> out;
  for (const char* n : list) {
    NameId id = context.names.intern(n);
    DeclId failure = checker.libraryFailure(id);
    if (!failure) {
      error(at, std::string("the library of this compiler has no failure `") + n + "`");
      continue;
    }
    Type t;
    t.kind = Kind::Failure;
    t.decl = failure;
    out.push_back(types.intern(t));
  }
  std::sort(out.begin(), out.end(), [&](TypeId a, TypeId b) { return typ(a).decl < typ(b).decl; });
  return out;
}

}  // namespace mica
