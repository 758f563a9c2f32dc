// The intrinsics of system modules (docs/internals.md): their types. Everything about them is as loose as the machine: system modules are
// the library's own, so the checks here are for slips, not for safety.
#include <map>

#include "frontend/checker.h"

namespace mica {

namespace {

// What an argument is checked as. `Any`: whatever it is; `Same`: like the first argument; `Lane`: an element of the first, a simd value.
enum class Operand : uint8_t { Any, Pointer, Int, Same, Lane, String };
// What is answered. `First`: the type of the first argument; `Bracket`: the type in brackets; `Hint`: what the place wants.
enum class Answer : uint8_t { Unit, Pointer, Int, Bool, UInt64, First, Last, Bracket, Never, Bits, Float32, Float64 };

struct Row { std::vector<Operand> wants; size_t required; Answer answer; bool bracket = false; };

const std::map<std::string, Row>& rawTable() {
  using W = Operand;
  static const std::map<std::string, Row> table = {
    {"Raw.Load", {{W::Pointer, W::Int}, 1, Answer::Bracket, true}},
    {"Raw.Take", {{W::Pointer}, 1, Answer::Bracket, true}},
    {"Raw.Put", {{W::Pointer, W::Any}, 2, Answer::Unit}},
    {"Raw.Drop", {{W::Pointer}, 1, Answer::Unit, true}},
    {"Raw.Place", {{W::Pointer}, 1, Answer::Bracket, true}},
    {"Raw.Edit", {{W::Pointer}, 1, Answer::Bracket, true}},
    {"Raw.Move", {{W::Pointer, W::Pointer}, 2, Answer::Unit, true}},
    {"Raw.CopyValue", {{W::Pointer, W::Pointer}, 2, Answer::Unit, true}},
    {"Raw.Print", {{W::Any, W::Pointer}, 2, Answer::Unit, true}},
    {"Raw.Hash", {{W::Any}, 1, Answer::UInt64}},
    {"Raw.Compare", {{W::Any, W::Same}, 2, Answer::Int}},
    {"Raw.SizeOf", {{}, 0, Answer::Int, true}},
    {"Raw.AlignOf", {{}, 0, Answer::Int, true}},
    {"Raw.Owns", {{}, 0, Answer::Bool, true}},
    {"Raw.Address", {{W::Any}, 1, Answer::Pointer}},
    {"Raw.AddressOf", {{W::Any}, 1, Answer::Pointer}},
    {"Raw.Int", {{W::Pointer}, 1, Answer::Int}},
    {"Raw.Pointer", {{W::Int}, 1, Answer::Pointer}},
    {"Raw.Copy", {{W::Pointer, W::Pointer, W::Int}, 3, Answer::Unit}},
    {"Raw.Zero", {{W::Pointer, W::Int}, 2, Answer::Unit}},
    {"Raw.Syscall", {{W::Int, W::Any, W::Any, W::Any, W::Any, W::Any, W::Any}, 1, Answer::Int}},
    {"Raw.AtomicLoad", {{W::Pointer}, 1, Answer::Bracket, true}},
    {"Raw.AtomicStore", {{W::Pointer, W::Any}, 2, Answer::Unit}},
    {"Raw.AtomicAdd", {{W::Pointer, W::Any}, 2, Answer::Last}},
    {"Raw.AtomicSwap", {{W::Pointer, W::Any}, 2, Answer::Last}},
    {"Raw.AtomicCas", {{W::Pointer, W::Any, W::Any}, 3, Answer::Last}},
    {"Raw.Fence", {{}, 0, Answer::Unit}},
    {"Raw.Pause", {{}, 0, Answer::Unit}},
    {"Raw.Context", {{}, 0, Answer::Pointer}},
    {"Raw.SetContext", {{W::Pointer}, 1, Answer::Unit}},
    {"Raw.FramePointer", {{}, 0, Answer::Pointer}},
    {"Raw.CpuLevel", {{}, 0, Answer::Int}},
    {"Raw.Prefetch", {{W::Pointer}, 1, Answer::Unit}},
    {"Raw.SpawnThread", {{W::Int, W::Pointer, W::Any, W::Pointer, W::Pointer, W::Pointer}, 6, Answer::Int}},
    {"Raw.FunctionAddress", {{W::Any}, 1, Answer::Pointer}},
    {"Raw.Symbol", {{W::String}, 1, Answer::Pointer}},
    {"Raw.Trap", {{W::Int, W::Int, W::Int, W::Int}, 1, Answer::Never}},
    {"Raw.Bits", {{W::Any}, 1, Answer::Bits}},
    {"Raw.Float32", {{W::Any}, 1, Answer::Float32}},
    {"Raw.Float64", {{W::Any}, 1, Answer::Float64}},
    {"Raw.Wrap", {{W::Any}, 1, Answer::Bracket, true}},
    {"Raw.MulHigh", {{W::Any, W::Same}, 2, Answer::First}},
    {"Raw.LeadingZeros", {{W::Any}, 1, Answer::First}},
    {"Raw.TrailingZeros", {{W::Any}, 1, Answer::First}},
    {"Raw.PopCount", {{W::Any}, 1, Answer::First}},
    {"Raw.RotateLeft", {{W::Any, W::Same}, 2, Answer::First}},
    {"Raw.Floor", {{W::Any}, 1, Answer::First}},
    {"Raw.Ceil", {{W::Any}, 1, Answer::First}},
    {"Raw.Trunc", {{W::Any}, 1, Answer::First}},
    {"Raw.Round", {{W::Any}, 1, Answer::First}},
  };
  return table;
}

}  // namespace

ExprId BodyChecker::makeIntrinsic(const std::string& name, TypeId type, std::vector<ExprId> children, const ast::Expr* at) {
  ExprId r = make(ExprKind::Intrinsic, type, at);
  get(r).text = name;
  get(r).modes.assign(children.size(), Mode::Read);
  get(r).children = std::move(children);
  return r;
}

TypeId BodyChecker::simdOf(TypeId element, ExtentId lanes) {
  int64_t n;
  if (types.isConstant(lanes, &n) && n == 1) return element;
  Type t;
  t.kind = Kind::Simd;
  t.element = types.unmarked(element);
  t.extents = {lanes};
  return types.intern(t);
}

ExprId BodyChecker::intrinsic(const std::string& name, const ast::Expr* at, const ast::CallExpr* e, const ast::Seq<ast::Arg>* brackets, TypeId hint) {
  if (name == "Raw.Null") return makeIntrinsic(name, scalar(Kind::Pointer), {}, at);
  if (name == "Target.Lanes") return makeIntrinsic(name, intType(), {}, at);
  if (!e) {
    error(at, "`" + name + "` is called: write `" + name + "(…)`");
    return errorExpr(at);
  }
  if (name.compare(0, 5, "Simd.") == 0) return simdIntrinsic(name, e, brackets, hint);
  TypeId bracket;
  if (brackets) {
    if (brackets->size() != 1) {
      error(e->callee, "`" + name + "` takes one type in brackets");
      return errorExpr(e);
    }
    bracket = checker.resolveTypeArg(const_cast<ast::Expr*>((*brackets)[0].value), typeScope());
    if (isError(bracket)) return errorExpr(e);
  }
  if (name == "Raw.Store") {
    if (e->args.size() < 2 || e->args.size() > 3) {
      error(e, "`Raw.Store` takes a pointer, an offset that may be left out, and a value");
      return errorExpr(e);
    }
    std::vector<ExprId> children{exprAs(e->args[0].value, scalar(Kind::Pointer), "the pointer")};
    if (e->args.size() == 3) children.push_back(exprAs(e->args[1].value, intType(), "the offset"));
    ExprId v = bracket ? exprAs(e->args.back().value, bracket, "the value") : expr(e->args.back().value);
    children.push_back(v);
    for (ExprId c : children) {
      if (isError(c)) return errorExpr(e);
    }
    ExprId r = makeIntrinsic(name, unit(), children, e);
    get(r).typeArgs = {types.unmarked(typeOf(v))};
    return r;
  }
  if (name == "Raw.Call" || name == "Raw.CallInt" || name == "Raw.CallPointer") {
    std::vector<ExprId> children;
    for (const ast::Arg& a : e->args) children.push_back(expr(a.value));
    if (children.empty() || (!isError(children[0]) && kindOf(children[0]) != Kind::Pointer)) {
      error(e, "`" + name + "` calls a pointer");
      return errorExpr(e);
    }
    return makeIntrinsic(name, name == "Raw.Call" ? unit() : name == "Raw.CallInt" ? intType() : scalar(Kind::Pointer), children, e);
  }
  auto known = rawTable().find(name);
  if (known == rawTable().end()) {
    std::vector<std::string> all{"Raw.Store", "Raw.Call", "Raw.CallInt", "Raw.CallPointer", "Raw.Null"};
    for (const auto& [n, row] : rawTable()) all.push_back(n);
    checker.reportUnknown(spanOf(e->callee), name, all, "intrinsic");
    for (const ast::Arg& a : e->args) expr(a.value);
    return errorExpr(e);
  }
  const Row& row = known->second;
  if (e->args.size() < row.required || e->args.size() > row.wants.size()) {
    error(e, "`" + name + "` takes " + std::to_string(row.required) + (row.wants.size() > row.required ? " to " + std::to_string(row.wants.size()) : "") + " arguments, and " + std::to_string(e->args.size()) + " are given");
    for (const ast::Arg& a : e->args) expr(a.value);
    return errorExpr(e);
  }
  if (row.bracket && !bracket) {
    bool placed = row.answer == Answer::Bracket && hint && name != "Raw.Place" && name != "Raw.Edit";
    if (placed) bracket = types.unmarked(withoutOptional(hint));
    if (!bracket) {
      error(e->callee, "`" + name + "` needs a type in brackets");
      return errorExpr(e);
    }
  }
  std::vector<ExprId> children;
  bool fine = true;
  for (size_t i = 0; i < e->args.size(); i++) {
    const ast::Expr* a = e->args[i].value;
    ExprId x;
    switch (row.wants[i]) {
      case Operand::Pointer: x = exprAs(a, scalar(Kind::Pointer), "the argument"); break;
      case Operand::Int: x = exprAs(a, intType(), "the argument"); break;
      case Operand::String: x = exprAs(a, stringType(), "the argument"); break;
      case Operand::Same: x = exprAs(a, types.unmarked(typeOf(children[0])), "the argument"); break;
      default: {
        bool value = name.compare(0, 10, "Raw.Atomic") == 0;
        TypeId h = value ? (children.size() > 1 ? typeOf(children[1]) : bracket ? bracket : intType()) : name == "Raw.Put" && bracket ? bracket : TypeId{};
        if (name == "Raw.Float32") h = scalar(Kind::UInt32);
        if (name == "Raw.Float64") h = scalar(Kind::UInt64);
        x = expr(a, h);
      }
    }
    bool changes = name == "Raw.Address" || (name == "Raw.Print" && i == 0);
    if (changes && !isError(x)) {
      if (!isPlace(x)) error(a, "`" + name + "` needs a place");
      else x = changing(x, a, Change::Handed, "`" + name + "`");
    }
    fine = fine && !isError(x);
    children.push_back(x);
  }
  if (!fine) return errorExpr(e);
  TypeId first = children.empty() ? TypeId{} : types.unmarked(typeOf(children[0]));
  TypeId type;
  switch (row.answer) {
    case Answer::Unit: type = unit(); break;
    case Answer::Pointer: type = scalar(Kind::Pointer); break;
    case Answer::Int: type = intType(); break;
    case Answer::Bool: type = boolType(); break;
    case Answer::UInt64: type = scalar(Kind::UInt64); break;
    case Answer::Never: type = scalar(Kind::Never); break;
    case Answer::First: type = first; break;
    case Answer::Last: type = types.unmarked(typeOf(children.back())); break;
    case Answer::Bracket: type = bracket; break;
    case Answer::Float32: type = scalar(Kind::Float32); break;
    case Answer::Float64: type = scalar(Kind::Float64); break;
    case Answer::Bits: {
      Kind k = kindOf(first);
      if (k == Kind::Float32) type = scalar(Kind::UInt32);
      else if (k == Kind::Float64) type = scalar(Kind::UInt64);
      else if (k == Kind::Simd) type = simdOf(scalar(kindOf(typ(first).element) == Kind::Float64 ? Kind::Int64 : Kind::Int32), typ(first).extents[0]);
      else {
        error(e, "`Raw.Bits` takes a float, and this is " + aType(first));
        return errorExpr(e);
      }
      break;
    }
  }
  ExprId r = makeIntrinsic(name, type, children, e);
  if (bracket) get(r).typeArgs = {types.unmarked(bracket)};
  if (name == "Raw.Put") {
    get(r).modes[1] = Mode::Move;
    if (!bracket) get(r).typeArgs = {types.unmarked(typeOf(children[1]))};
  }
  if (name == "Raw.Address" || name == "Raw.Print") get(r).modes[0] = Mode::Inout;
  return r;
}

ExprId BodyChecker::simdIntrinsic(const std::string& name, const ast::CallExpr* e, const ast::Seq<ast::Arg>* brackets, TypeId hint) {
  std::string n = name.substr(5);
  std::vector<ExprId> x;
  auto refuse = [&](const std::string& text) {
    error(e, "`" + name + "` " + text);
    return errorExpr(e);
  };
  if (n == "Splat") {
    if (e->args.size() != 1) return refuse("takes one value");
    ExtentId lanes;
    if (brackets && brackets->size() == 1) lanes = checker.resolveExtent((*brackets)[0].value, typeScope());
    else if (kindOf(hint) == Kind::Simd) lanes = typ(hint).extents[0];
    if (!lanes || types.isOpen(lanes)) return refuse("needs the number of lanes in brackets");
    TypeId h = kindOf(hint) == Kind::Simd ? typ(hint).element : TypeId{};
    const ast::Expr* a = e->args[0].value;
    ExprId v = adaptable(a) ? buildAdaptable(a, h ? h : hasFloatLiteral(a) ? scalar(Kind::Float32) : TypeId{}) : expr(a, h);
    if (isError(v)) return errorExpr(e);
    return makeIntrinsic(name, simdOf(types.unmarked(typeOf(v)), lanes), {v}, e);
  }
  // Operands: simd values first; literals beside them take the lane's type where a lane is wanted, else are refused.
  for (size_t i = 0; i < e->args.size(); i++) {
    TypeId h;
    if (i > 0 && kindOf(x[0]) == Kind::Simd) h = n == "Lane" || (n == "WithLane" && i == 1) ? intType() : n == "WithLane" ? typ(typeOf(x[0])).element : n == "Select" && i == 2 ? typeOf(x[1]) : n == "Select" ? TypeId{} : typeOf(x[0]);
    ExprId v = expr(e->args[i].value, h);
    if (isError(v)) return errorExpr(e);
    x.push_back(v);
  }
  if (x.empty()) return refuse("takes simd values");
  // With one lane a simd value is a number, and conversions are those of numbers.
  TypeId t = types.unmarked(typeOf(x[0]));
  bool isSimd = kindOf(t) == Kind::Simd;
  TypeId element = isSimd ? types.unmarked(typ(t).element) : t;
  ExtentId lanes = isSimd ? typ(t).extents[0] : types.constant(1);
  auto as = [&](Kind k) { return simdOf(scalar(k), lanes); };
  auto count = [&](size_t wanted) { return x.size() == wanted; };
  bool wide = kindOf(element) == Kind::Float64 || kindOf(element) == Kind::Int64 || kindOf(element) == Kind::UInt64;
  auto halved = [&]() -> ExtentId {
    int64_t k;
    if (types.isConstant(lanes, &k)) return types.constant(k / 2);
    return types.opaque(Atom::Form::Div, lanes, types.constant(2));
  };
  if (n == "Low" || n == "High") return count(1) ? makeIntrinsic(name, simdOf(element, halved()), x, e) : refuse("takes one value");
  if (n == "Join") return count(2) && types.same(typeOf(x[1]), t) ? makeIntrinsic(name, simdOf(element, types.add(lanes, lanes)), x, e) : refuse("takes two values of one type");
  if (n == "Lane") return count(2) && isInteger(kindOf(x[1])) ? makeIntrinsic(name, element, x, e) : refuse("takes a value and the number of a lane");
  if (n == "WithLane") {
    if (!count(3) || !types.same(typeOf(x[2]), element)) return refuse("takes a value, the number of a lane and its new value");
    return makeIntrinsic(name, t, x, e);
  }
  if (n == "Less" || n == "LessEqual" || n == "Greater" || n == "GreaterEqual" || n == "Equal" || n == "NotEqual") {
    if (!count(2) || !types.same(typeOf(x[1]), t)) return refuse("compares two values of one type");
    return makeIntrinsic(name, as(wide ? Kind::Int64 : Kind::Int32), x, e);
  }
  if (n == "Select") {
    if (!count(3) || !types.same(typeOf(x[1]), typeOf(x[2]))) return refuse("takes a mask and two values of one type");
    return makeIntrinsic(name, types.unmarked(typeOf(x[1])), x, e);
  }
  if (n == "Any") return count(1) ? makeIntrinsic(name, boolType(), x, e) : refuse("takes a mask");
  if (n == "ZipLow" || n == "ZipHigh") return count(2) && types.same(typeOf(x[1]), t) ? makeIntrinsic(name, t, x, e) : refuse("takes two values of one type");
  if (!count(1)) return refuse("takes one value");
  if (n == "Float64" || n == "ToFloat64") return makeIntrinsic(name, as(Kind::Float64), x, e);
  if (n == "Float32" || n == "ToFloat32") return makeIntrinsic(name, as(Kind::Float32), x, e);
  if (n == "Int32") return makeIntrinsic(name, as(Kind::Int32), x, e);
  if (n == "Widen") return makeIntrinsic(name, as(Kind::Int64), x, e);
  if (n == "Narrow") return makeIntrinsic(name, as(Kind::Int32), x, e);
  if (n == "Bits") return makeIntrinsic(name, as(wide ? Kind::Int64 : Kind::Int32), x, e);
  if (n == "FromBits") return makeIntrinsic(name, as(wide ? Kind::Float64 : Kind::Float32), x, e);
  checker.reportUnknown(spanOf(e->callee), name, {"Simd.Splat", "Simd.Low", "Simd.High", "Simd.Join", "Simd.Lane", "Simd.WithLane", "Simd.Less", "Simd.Select", "Simd.Any"}, "intrinsic");
  return errorExpr(e);
}

// Fma, Sqrt, Abs, Min, Max on numbers and lanes: one operation each. Fma is for everybody, the others for system modules.
ExprId BodyChecker::mathIntrinsic(const std::string& name, const ast::CallExpr* e, TypeId hint) {
  size_t count = name == "Fma" ? 3 : name == "Min" || name == "Max" ? 2 : 1;
  if (e->args.size() != count) {
    error(e, "`" + name + "` takes " + std::to_string(count) + (count == 1 ? " value" : " values"));
    for (const ast::Arg& a : e->args) expr(a.value);
    return errorExpr(e);
  }
  std::vector<ExprId> x(count);
  TypeId type;
  hint = withoutOptional(hint);
  bool floats = false;
  for (size_t i = 0; i < count; i++) {
    const ast::Expr* a = e->args[i].value;
    floats = floats || hasFloatLiteral(a);
    if (adaptable(a)) continue;
    x[i] = expr(a, type ? type : hint);
    if (isError(x[i])) return errorExpr(e);
    if (!type) type = types.unmarked(typeOf(x[i]));
  }
  if (!type) type = adaptTo({}, hint);
  if (!type) type = floats || name == "Fma" || name == "Sqrt" ? scalar(Kind::Float64) : intType();
  for (size_t i = 0; i < count; i++) {
    if (!x[i]) x[i] = buildAdaptable(e->args[i].value, type);
    if (isError(x[i])) return errorExpr(e);
    TypeId joined = join(type, typeOf(x[i]));
    if (!joined) {
      error(e, "the values of `" + name + "` are " + aType(type) + " and " + aType(types.unmarked(typeOf(x[i]))));
      return errorExpr(e);
    }
    type = joined;
  }
  Kind k = kindOf(type);
  Kind lane = k == Kind::Simd ? kindOf(typ(type).element) : k;
  bool floatType = isFloat(lane) || (lane == Kind::Parameter && copies(program, k == Kind::Simd ? typ(type).element : type));
  if (k == Kind::Tensor && (name == "Sqrt" || name == "Abs")) {
    if (const vocabulary::Row* row = vocabulary::find(name)) return vocabularyCall(row, e, nullptr, hint);
  }
  bool wantsFloat = name == "Fma" || name == "Sqrt";
  if ((wantsFloat && !floatType) || (!wantsFloat && !floatType && !isInteger(lane))) {
    error(e, "`" + name + "` takes " + (wantsFloat ? "floats" : "numbers") + ", and this is " + aType(type));
    return errorExpr(e);
  }
  for (size_t i = 0; i < count; i++) x[i] = fit(x[i], {type, "the value"}, e->args[i].value);
  bool scalarInteger = isInteger(k);
  if (scalarInteger && name == "Abs") return makeBuiltin(Builtin::Abs, type, x, {}, e);
  if (scalarInteger && (name == "Min" || name == "Max")) return makeBuiltin(name == "Min" ? Builtin::Min : Builtin::Max, type, x, {}, e);
  return makeIntrinsic(name, type, x, e);
}

}  // namespace mica
