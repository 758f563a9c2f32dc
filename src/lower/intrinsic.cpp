// The intrinsics of system modules (docs/internals.md): each is one IR operation or two.
#include <unordered_map>

#include "lower/function.h"

namespace mica::lower {

namespace {

ir::Type intLanes(ir::Type t) {
  unsigned n = t.laneBytes();
  return ir::Type{n == 8 ? ir::TypeKind::I64 : n == 4 ? ir::TypeKind::I32 : n == 2 ? ir::TypeKind::I16 : ir::TypeKind::I8, t.lanes};
}

}  // namespace

bool FunctionLowering::intrinsicAnswersPlace(const Expr& e) const { return e.text == "Raw.Place" || e.text == "Raw.Edit"; }

ValueId FunctionLowering::intrinsicPlace(ExprId id) { return scalar(expr(id).children[0]); }

TypeId FunctionLowering::typeArg(const Expr& e, size_t k) {
  if (k >= e.typeArgs.size()) internalError(e.text + " needs a type in brackets");
  return types.substitute(e.typeArgs[k], instance.decl, instance.typeArgs, knownExtents);
}

ValueId FunctionLowering::intrinsicScalar(ExprId id) {
  const Expr& e = expr(id);
  TypeId t = typeOf(id);
  const std::string& name = e.text;
  auto arg = [&](size_t k) { return scalar(e.children[k]); };
  auto has = [&](size_t k) { return k < e.children.size() && e.children[k]; };
  auto address = [&](size_t base) {
    ValueId p = arg(base);                      // one after the other: C++ leaves the order of a call's arguments open
    return has(base + 1) ? b().padd(p, arg(base + 1)) : p;
  };
  auto constant = [&](size_t k) {
    const Expr& x = expr(e.children[k]);
    int64_t n = x.intValue;
    if (x.kind == ExprKind::ExtentValue) types.isConstant(types.substitute(x.extent, instance.decl, knownExtents), &n);
    return n;
  };
  auto result = [&] { return l.irType(t); };
  auto isSigned = [&](size_t k) { Kind kind = l.get(typeOf(e.children[k])).kind; return kind >= Kind::Int8 && kind <= Kind::Int64; };
  at(e.place);

  if (name == "Raw.Load") return b().load(result(), address(0), 0, regionOf(result()));
  if (name == "Raw.Take") return loadValue(arg(0), t);
  if (name == "Raw.SizeOf") return b().i64(l.sizeOf(typeArg(e, 0)));
  if (name == "Raw.AlignOf") return b().i64(l.layout(typeArg(e, 0)).align);
  if (name == "Raw.Owns") return b().iconst(ir::I1, l.owns(typeArg(e, 0)) ? 1 : 0);
  if (name == "Raw.Address" || name == "Raw.AddressOf") return isPlace(e.children[0]) ? place(e.children[0], true).address : borrow(e.children[0]);
  if (name == "Raw.Int") return b().emit(Op::Bitcast, ir::I64, {arg(0)});
  if (name == "Raw.Pointer") return b().emit(Op::Bitcast, ir::Ptr, {arg(0)});
  if (name == "Raw.Null") return null();
  if (name == "Raw.Syscall") {
    std::vector<ValueId> args;
    for (size_t k = 0; k < 7; k++) {
      ValueId v = has(k) ? arg(k) : b().i64(0);
      args.push_back(b().typeOf(v).isPtr() ? b().emit(Op::Bitcast, ir::I64, {v}) : v);
    }
    return b().emit(Op::Syscall, ir::I64, args);
  }
  if (name == "Raw.AtomicLoad") return b().emit(Op::ALoad, result(), {arg(0)});
  if (name == "Raw.AtomicAdd") { ValueId p = arg(0), v = arg(1); return b().emit(Op::AAdd, result(), {v, p}); }
  if (name == "Raw.AtomicSwap") { ValueId p = arg(0), v = arg(1); return b().emit(Op::ASwap, result(), {v, p}); }
  if (name == "Raw.AtomicCas") { ValueId p = arg(0), x = arg(1), y = arg(2); return b().emit(Op::ACas, result(), {x, y, p}); }
  if (name == "Raw.Context") return b().context();
  if (name == "Raw.FramePointer") return b().framePtr();
  if (name == "Raw.CpuLevel") return b().cpuLevel();
  if (name == "Raw.SpawnThread") {
    ValueId flags = arg(0), top = arg(1), function = functionAddress(e.children[2]), argument = arg(3), context = arg(4), tid = arg(5);
    if (b().typeOf(top).isPtr()) top = b().emit(Op::Bitcast, ir::I64, {top});
    return b().emit(Op::SpawnThread, ir::I64, {flags, top, function, argument, context, tid});
  }
  if (name == "Raw.FunctionAddress") return functionAddress(e.children[0]);
  if (name == "Raw.CallInt" || name == "Raw.CallPointer") {
    std::vector<ValueId> args;
    for (size_t k = 1; k < e.children.size(); k++) args.push_back(arg(k));
    return b().callInd(arg(0), result(), args);
  }
  if (name == "Raw.Symbol") return b().symAddr(expr(e.children[0]).text);
  if (name == "Raw.Bits") { ValueId x = arg(0); return b().emit(Op::Bitcast, intLanes(b().typeOf(x)), {x}); }
  if (name == "Raw.Float32" || name == "Raw.Float64") return b().emit(Op::Bitcast, result(), {arg(0)});
  if (name == "Raw.Wrap") {                    // an integer cut or extended to another width without a check
    ValueId x = arg(0);
    ir::Type s = b().typeOf(x), d = result();
    if (s == d) return x;
    return b().convert(d.bytes() < s.bytes() ? Op::Trunc : isSigned(0) ? Op::SExt : Op::ZExt, d, x);
  }
  if (name == "Raw.MulHigh") { ValueId x = arg(0), y = arg(1); return b().binary(isSigned(0) ? Op::MulHiS : Op::MulHiU, x, y); }
  if (name == "Raw.LeadingZeros") return b().unary(Op::Clz, arg(0));
  if (name == "Raw.TrailingZeros") return b().unary(Op::Ctz, arg(0));
  if (name == "Raw.PopCount") return b().unary(Op::Popcount, arg(0));
  if (name == "Raw.RotateLeft") { ValueId x = arg(0), n = arg(1); return b().binary(Op::RotL, x, n); }
  if (name == "Raw.Hash") { ValueId args[] = {borrow(e.children[0])}; return b().call(l.glue(Glue::Hash, l.laidOut(typeOf(e.children[0]))), ir::I64, args); }
  if (name == "Raw.Compare") {
    ValueId args[] = {borrow(e.children[0]), borrow(e.children[1])};
    return b().call(l.glue(Glue::Compare, l.laidOut(typeOf(e.children[0]))), ir::I64, args);
  }
  if (name == "Fma") { ValueId x = arg(0), y = arg(1), z = arg(2); return b().fma(x, y, z); }
  static const std::unordered_map<std::string, Op> unaries = {
      {"Sqrt", Op::FSqrt}, {"Abs", Op::FAbs}, {"Raw.Floor", Op::FFloor}, {"Raw.Ceil", Op::FCeil}, {"Raw.Trunc", Op::FTrunc}, {"Raw.Round", Op::FRound}};
  if (auto u = unaries.find(name); u != unaries.end()) return b().unary(u->second, arg(0));
  if (name == "Min" || name == "Max") {
    ValueId x = arg(0), y = arg(1);
    bool isFloat = b().typeOf(x).isFloat();
    return b().binary(name == "Min" ? (isFloat ? Op::FMin : Op::IMinS) : (isFloat ? Op::FMax : Op::IMaxS), x, y);
  }

  // simd
  if (name == "Simd.Splat") return b().splat(result(), arg(0));
  if (name == "Simd.Low") return result().isVector() ? b().emit(Op::VLow, result(), {arg(0)}) : b().lane(arg(0), 0);
  if (name == "Simd.High") return result().isVector() ? b().emit(Op::VHigh, result(), {arg(0)}) : b().lane(arg(0), 1);
  if (name == "Simd.Join") { ValueId x = arg(0), y = arg(1); return b().emit(Op::VJoin, result(), {x, y}); }
  if (name == "Simd.Lane") return b().lane(arg(0), unsigned(constant(1)));
  if (name == "Simd.WithLane") { ValueId v = arg(0), x = arg(2); return b().setLane(v, x, unsigned(constant(1))); }
  if (name == "Simd.ZipLow" || name == "Simd.ZipHigh") { ValueId x = arg(0), y = arg(1); return b().emit(name == "Simd.ZipLow" ? Op::VZipLow : Op::VZipHigh, result(), {x, y}); }
  static const std::unordered_map<std::string, std::pair<Cond, Cond>> compares = {
      {"Simd.Less", {Cond::Lt, Cond::Slt}}, {"Simd.LessEqual", {Cond::Le, Cond::Sle}}, {"Simd.Greater", {Cond::Gt, Cond::Sgt}},
      {"Simd.GreaterEqual", {Cond::Ge, Cond::Sge}}, {"Simd.Equal", {Cond::Eq, Cond::Eq}}, {"Simd.NotEqual", {Cond::Ne, Cond::Ne}}};
  if (auto c = compares.find(name); c != compares.end()) {
    ValueId x = arg(0), y = arg(1);
    return b().typeOf(x).isFloat() ? b().fcmp(c->second.first, x, y) : b().icmp(c->second.second, x, y);
  }
  if (name == "Simd.Select") { ValueId m = arg(0), x = arg(1), y = arg(2); return b().vselect(m, x, y); }
  if (name == "Simd.Any") return b().emit(Op::VAnyTrue, ir::I1, {arg(0)});
  if (name == "Simd.Float64") return b().convert(Op::FExt, result(), arg(0));
  if (name == "Simd.Float32") return b().convert(Op::FCut, result(), arg(0));
  if (name == "Simd.Int32") return b().convert(Op::FToSSat, result(), arg(0));
  if (name == "Simd.ToFloat32" || name == "Simd.ToFloat64") return b().convert(Op::SToF, result(), arg(0));
  if (name == "Simd.Widen") return b().convert(Op::SExt, result(), arg(0));
  if (name == "Simd.Narrow") return b().convert(Op::Trunc, result(), arg(0));
  if (name == "Simd.Bits") { ValueId x = arg(0); return b().emit(Op::Bitcast, intLanes(b().typeOf(x)), {x}); }
  if (name == "Simd.FromBits") return b().emit(Op::Bitcast, result(), {arg(0)});
  if (name == "Target.Lanes") return b().i64(l.options.lanes[decl.level]);
  internalError("the intrinsic " + name + " is not known");
}

// The code address of a function named directly (no environment).
ValueId FunctionLowering::functionAddress(ExprId id) {
  const Expr& e = expr(id);
  if (e.kind != ExprKind::Function) internalError("the address of something that is no function's name");
  Instance target;
  target.decl = e.callee;
  for (size_t k = 0; k < e.typeArgs.size(); k++) target.typeArgs.push_back(l.canonical(typeArg(e, k)));
  const Decl& callee = program.get(e.callee);
  const std::vector<char>& needed = l.fixedExtents(e.callee);
  for (uint32_t k = 0; k < callee.extentParams.size(); k++) {
    int64_t n = -1;
    if (needed[k] && k < e.extentArgs.size() && e.extentArgs[k].known)
      types.isConstant(types.substitute(e.extentArgs[k].known, instance.decl, knownExtents), &n);
    target.extents.push_back(n);
  }
  for (const ParamDecl& p : callee.params) target.params.push_back(types.substitute(p.type, e.callee, target.typeArgs, {}));
  return b().symAddr(l.instanceSymbol(target));
}

void FunctionLowering::intrinsicInto(ExprId id, ValueId dest) {
  const Expr& e = expr(id);
  const std::string& name = e.text;
  auto arg = [&](size_t k) { return scalar(e.children[k]); };
  at(e.place);
  if (name == "Raw.Take") {                     // the bytes; the memory is raw again
    TypeId t = typeOf(id);
    ValueId p = arg(0);
    if (dest) moveBytes(dest, p, t);
    return;
  }
  if (name == "Raw.Store") {
    ValueId p = arg(0);
    if (e.children.size() > 2) p = b().padd(p, arg(1));
    ValueId value = arg(e.children.size() - 1);
    b().store(value, p, 0, regionOf(b().typeOf(value)));
    return;
  }
  if (name == "Raw.Put") {
    ValueId p = arg(0);
    TypeId t = typeOf(e.children[1]);
    return isScalar(t) ? storeValue(p, t, arg(1)) : into(e.children[1], p);
  }
  if (name == "Raw.Drop") return drop(arg(0), typeArg(e, 0));
  if (name == "Raw.CopyValue") { ValueId to = arg(0), from = arg(1); return copy(to, from, typeArg(e, 0)); }
  if (name == "Raw.Move") { ValueId to = arg(0), from = arg(1); return moveBytes(to, from, typeArg(e, 0)); }
  if (name == "Raw.Print") {                    // appends the text of the value at p to a string
    ValueId args[] = {isPlace(e.children[0]) ? place(e.children[0], true).address : borrow(e.children[0]), arg(1)};
    if (l.get(typeArg(e, 0)).kind == Kind::String) callRuntime("Format", "AppendQuoted", ir::Void, {args[0], args[1]});   // a part of something
    else b().call(l.glue(Glue::Print, typeArg(e, 0)), ir::Void, args);
    return;
  }
  if (name == "Raw.Copy" || name == "Raw.Zero") {
    const Expr& bytes = expr(e.children.back());
    bool isCopy = name == "Raw.Copy";
    if (bytes.kind == ExprKind::Int && bytes.intValue >= 0 && bytes.intValue <= 256) {
      ValueId to = arg(0);
      if (isCopy) { ValueId from = arg(1); b().memCopy(to, from, bytes.intValue); }
      else b().memZero(to, bytes.intValue);
      return;
    }
    if (isCopy) { ValueId to = arg(0), from = arg(1), n = arg(2); callRuntime("Memory", "Copy", ir::Void, {to, from, n}); }
    else { ValueId to = arg(0), n = arg(1); callRuntime("Memory", "Zero", ir::Void, {to, n}); }
    return;
  }
  if (name == "Raw.AtomicStore") { ValueId p = arg(0), v = arg(1); b().emit(Op::AStore, b().typeOf(v), {v, p}); return; }
  if (name == "Raw.Fence") { b().emit(Op::Fence, ir::Void, {}); return; }
  if (name == "Raw.Pause") { b().emit(Op::Pause, ir::Void, {}); return; }
  if (name == "Raw.Prefetch") { b().emit(Op::Prefetch, ir::Void, {arg(0)}); return; }
  if (name == "Raw.SetContext") { b().emit(Op::SetContext, ir::Void, {arg(0)}); return; }
  if (name == "Raw.Call") {
    std::vector<ValueId> args;
    for (size_t k = 1; k < e.children.size(); k++) args.push_back(arg(k));
    b().callInd(arg(0), ir::Void, args);
    return;
  }
  if (name == "Raw.Trap") {
    std::vector<ValueId> details;
    for (size_t k = 1; k < e.children.size(); k++) details.push_back(arg(k));
    const Expr& kind = expr(e.children[0]);
    if (kind.kind != ExprKind::Int) internalError("Raw.Trap needs a literal kind");
    b().trap(ir::TrapKind(kind.intValue), details);
    return;
  }
  internalError("the intrinsic " + name + " is not known");
}

}  // namespace mica::lower
