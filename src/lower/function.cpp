// The frame of a lowered function: parameters, places of locals, scopes with what must be released, failures on their way out.
#include "lower/function.h"

namespace mica::lower {

FunctionLowering::FunctionLowering(Lowering& lowering, const Instance& i, ir::SymbolId s)
    : l(lowering), program(lowering.program), types(lowering.types), instance(i), decl(lowering.program.get(i.decl)),
      body(*lowering.program.get(i.decl).body), marks(lowering.marks.of(i)), symbol(s), functionName(decl.name) {
  for (uint32_t k = 0; k < decl.extentParams.size(); k++) {
    int64_t n = k < instance.extents.size() ? instance.extents[k] : -1;
    knownExtents.push_back(n >= 0 ? types.constant(n) : types.name(instance.decl, k, decl.extentParams[k]));
    anyKnown |= n >= 0;
  }
  resultType = fixed(marks.result);
  resultMode = decl.resultMode;
  fails = lowering.canFail(decl);
}

TypeId FunctionLowering::fixed(TypeId t) { return anyKnown && t ? types.substitute(t, instance.decl, {}, knownExtents) : t; }

void FunctionLowering::at(Place p) {
  if (!p.line) return;
  l.here = p;
  b().setPlace(l.place(p, functionName));
}

void FunctionLowering::lowerFunction() {
  std::vector<ir::Type> params;
  bool place = resultMode != ResultMode::Value;
  bool viaAddress = !place && !l.isUnit(resultType) && (fails || !isScalar(resultType));
  if (viaAddress) params.push_back(ir::Ptr);
  for (uint32_t k = 0; k < decl.extentParams.size(); k++)
    if (!(k < instance.extents.size() && instance.extents[k] >= 0)) params.push_back(ir::I64);
  for (LocalId p : body.params) params.push_back(local(p).mode != Mode::Inout && isScalar(localType(p)) ? l.irType(localType(p)) : ir::Ptr);
  ir::Type result = place || fails ? ir::Ptr : viaAddress ? ir::Void : l.irType(resultType);
  uint32_t index = ir::startFunction(l.module, l.module.nameOf(symbol), params, result);
  builder = std::make_unique<ir::Builder>(l.module, index);
  ir::Function& fn = b().fn();
  fn.noInline = decl.noInline;
  fn.alwaysInline = decl.inlineAttr;
  fn.cold = decl.cold;
  fn.entry = decl.entry;
  fn.cpuLevel = uint8_t(decl.level);
  at(decl.place);
  fn.place = b().place();
  locals.resize(body.locals.size());
  prologue();
  statements(body.statements);
  if (!endsBlock()) {
    popCleanups(0);
    if (result.isVoid()) b().ret();
    else if (fails) b().ret(null());
    else b().unreachable();                     // the checker has refused functions that end without a value
  }
  checkFrame();
}

void FunctionLowering::checkFrame() {
  uint64_t bytes = 0;
  for (const ir::Slot& s : b().fn().slots) bytes += s.size;
  if (bytes >= LargestValue && !l.diagnostics.hasErrors())
    l.diagnostics.error(decl.place, "the local values of `" + functionName + "` take 2 GiB or more of the stack")
        .note("keep what is large in a `list` or a tensor, whose elements lie elsewhere");
}

void FunctionLowering::prologue() {
  unsigned next = 0;
  bool place = resultMode != ResultMode::Value;
  if (!place && !l.isUnit(resultType) && (fails || !isScalar(resultType))) resultAddress = b().param(next++);
  for (uint32_t k = 0; k < decl.extentParams.size(); k++) {
    bool known = k < instance.extents.size() && instance.extents[k] >= 0;
    extentValues.push_back(known ? b().i64(instance.extents[k]) : b().param(next++));
  }
  for (LocalId p : body.params) declareParam(p, local(p).mode, localType(p), b().param(next++));
}

void FunctionLowering::declareParam(LocalId x, Mode mode, TypeId type, ValueId incoming) {
  if (mode == Mode::Inout || !isScalar(type)) {
    locals[x.index].address = incoming;
    if (mode == Mode::Move) pushDrop(incoming, type);
    return;
  }
  locals[x.index].address = slotFor(type);
  b().store(incoming, locals[x.index].address);
}

// ---- memory ----

ValueId FunctionLowering::slotBytes(uint32_t size, uint32_t align) { return b().slotAddr(b().slot(size ? size : 1, align)); }

ValueId FunctionLowering::slotFor(TypeId t, bool zeroed) {
  const Layout& layout = l.layout(t);
  ValueId p = slotBytes(layout.size, layout.align);
  if (zeroed && layout.size) b().memZero(p, layout.size);
  return p;
}

ValueId FunctionLowering::offset(ValueId p, int64_t bytes) { return bytes ? b().padd(p, b().i64(bytes)) : p; }

// Modules of the system may lay integers and pointers over anything, and reach headers through pointers that are not always
// good; elsewhere scalars never lie in a header (ir::Region).
ValueId FunctionLowering::loadValue(ValueId address, TypeId t) { return b().load(l.irType(t), address, 0, regionOf(l.irType(t))); }

void FunctionLowering::storeValue(ValueId address, TypeId, ValueId value) { b().store(value, address, 0, regionOf(b().typeOf(value))); }

ValueId FunctionLowering::header(ir::Type t, ValueId address, int64_t offset) {
  return b().load(t, address, offset, decl.system ? ir::Region::Any : ir::Region::Header);
}

void FunctionLowering::moveBytes(ValueId to, ValueId from, TypeId t) {
  if (uint32_t size = l.sizeOf(t)) b().memCopy(to, from, size);
}

void FunctionLowering::copy(ValueId to, ValueId from, TypeId t) {
  if (!l.owns(t)) return moveBytes(to, from, t);
  ValueId args[] = {to, from};
  b().call(l.glue(Glue::Copy, t), ir::Void, args);
}

void FunctionLowering::drop(ValueId address, TypeId t) {
  if (!l.owns(t)) return;
  ValueId args[] = {address};
  b().call(l.glue(Glue::Drop, t), ir::Void, args);
}

// ---- scopes ----

void FunctionLowering::pushDrop(ValueId address, TypeId t) {
  if (l.owns(t)) cleanups.push_back({Cleanup::Kind::Drop, address, t, {}});
}

void FunctionLowering::emitCleanups(size_t downTo) {
  for (size_t k = cleanups.size(); k > downTo; k--) {
    Cleanup c = cleanups[k - 1];
    switch (c.kind) {
      case Cleanup::Kind::Drop: drop(c.address, c.type); break;
      case Cleanup::Kind::EndTape: callRuntime("Tape", "End", ir::Void, {}); break;
      case Cleanup::Kind::FreeFailure: callRuntime("Failures", "Release", ir::Void, {b().load(ir::Ptr, c.address)}); break;
      case Cleanup::Kind::Call: c.emit(); break;
    }
  }
}

void FunctionLowering::popCleanups(size_t downTo) {
  if (!endsBlock()) emitCleanups(downTo);
  cleanups.resize(downTo);
}

void FunctionLowering::failWith(ValueId failure) {
  if (!attempts.empty()) {
    AttemptState a = attempts.back();
    emitCleanups(a.depth);
    b().br(a.dispatch, {failure});
    return;
  }
  if (!fails) { b().unreachable(); return; }    // the arms before have taken every failure that can come
  emitCleanups(0);
  b().ret(failure);
}

void FunctionLowering::leaveWith(ValueId value) {
  emitCleanups(0);
  if (fails) b().ret(null());
  else if (value) b().ret(value);
  else b().ret();
}

// ---- extents ----

ValueId FunctionLowering::atomValue(AtomId id) {
  const Atom a = types.get(id);
  if (a.form == Atom::Form::Name) {
    for (size_t k = namesIn.size(); k-- > 0;)
      if (namesIn[k].first == a.decl) return b().load(ir::I64, namesIn[k].second, int64_t(8 * a.index));
    if (a.decl != instance.decl || a.index >= extentValues.size()) internalError("the extent " + a.name + " is not bound in " + functionName);
    return extentValues[a.index];
  }
  ValueId x = extentValue(a.left), y = extentValue(a.right);
  switch (a.form) {
    case Atom::Form::Div: return b().binary(Op::SDivT, x, y);
    case Atom::Form::Mod: return floorMod(types.scalar(Kind::Int64), x, y);
    case Atom::Form::Min: return b().binary(Op::IMinS, x, y);
    default: return b().binary(Op::IMaxS, x, y);
  }
}

ValueId FunctionLowering::extentValue(ExtentId e) {
  if (anyKnown) e = types.substitute(e, instance.decl, knownExtents);
  int64_t n;
  if (types.isConstant(e, &n)) return b().i64(n);
  const Extent extent = types.get(e);
  if (extent.open) internalError("an open extent has no value of its own");
  ValueId sum;
  for (const Monomial& m : extent.terms) {
    ValueId product;
    if (m.coefficient != 1 || m.atoms.empty()) product = b().i64(m.coefficient);
    for (AtomId a : m.atoms) product = product ? b().binary(Op::SMulT, product, atomValue(a)) : atomValue(a);
    sum = sum ? b().binary(Op::SAddT, sum, product) : product;
  }
  return sum;
}

// ---- the runtime ----

ValueId FunctionLowering::callRuntime(std::string_view module, std::string_view name, ir::Type result, std::initializer_list<ValueId> args,
                                      std::vector<TypeId> typeArgs) {
  return b().call(l.runtime(module, name, std::move(typeArgs)), result, ir::Values(args.begin(), args.size()));
}

void FunctionLowering::trapIf(ValueId condition, ir::TrapKind kind, std::initializer_list<ValueId> details) {
  b().trapIf(condition, kind, ir::Values(details.begin(), details.size()));
}

}  // namespace mica::lower
