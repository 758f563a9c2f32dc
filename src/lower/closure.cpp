// Function values: {code, environment}. The code takes the environment first. An environment is {drop, copy, bytes, captures…, extents…}; drop is 0
// for one that lies on the stack (closures that borrow) or when nothing is captured.
#include "lower/function.h"

namespace mica::lower {

namespace {
constexpr int EnvDrop = 0, EnvCopy = 8, EnvBytes = 16, EnvCaptures = 24;
}

// What lowering a closure's body shares with the function around it.
struct ClosureLowering {
  FunctionLowering& outer;
  const Expr& e;
  const Closure& c;
  TypeId type;
  std::vector<int64_t> offsets;     // of the captures in the environment
  int64_t extentsAt = 0, bytes = 0;

  ClosureLowering(FunctionLowering& o, const Expr& expr, TypeId t) : outer(o), e(expr), c(*expr.closure), type(t) {
    int64_t at = EnvCaptures;
    for (const Capture& capture : c.captures) {
      TypeId ct = outer.localType(capture.inner);
      if (capture.mode == Mode::Move) {
        const Layout& layout = outer.l.layout(ct);
        at = (at + layout.align - 1) / layout.align * layout.align;
        offsets.push_back(at);
        at += layout.size;
      } else {
        at = (at + 7) / 8 * 8;
        offsets.push_back(at);
        at += 8;
      }
    }
    extentsAt = (at + 7) / 8 * 8;
    bytes = extentsAt + 8 * int64_t(outer.extentValues.size());
  }

  // The function that releases (or copies) what a stored closure took over.
  ir::SymbolId environmentGlue(bool isCopy, const std::string& name) {
    Lowering& l = outer.l;
    uint32_t index = ir::startFunction(l.module, name, isCopy ? std::vector<ir::Type>{ir::Ptr, ir::Ptr} : std::vector<ir::Type>{ir::Ptr}, ir::Void);
    ir::Builder b(l.module, index);
    b.setPlace(ir::addPlace(l.module, "", 0, 0, name));
    for (size_t k = 0; k < c.captures.size(); k++) {
      TypeId t = outer.localType(c.captures[k].inner);
      if (c.captures[k].mode != Mode::Move || !l.owns(t)) continue;
      std::vector<ValueId> args;
      for (int p = 0; p < (isCopy ? 2 : 1); p++) args.push_back(b.padd({b.param(unsigned(p)), b.i64(offsets[k])}));
      b.call(l.glue(isCopy ? Glue::Copy : Glue::Drop, t), ir::Void, args);
    }
    b.ret();
    return l.module.symbol(name);
  }

  ir::SymbolId code() {
    Lowering& l = outer.l;
    const Type f = l.get(type);
    std::string name = l.module.nameOf(outer.symbol) + ".closure" + std::to_string(++outer.closures);
    FunctionLowering inner(l, outer.instance, l.module.symbol(name));
    inner.functionName = outer.functionName;
    inner.resultType = f.result;
    inner.resultMode = ResultMode::Value;
    inner.fails = !f.fails.empty();
    inner.locals.resize(outer.body.locals.size());
    bool viaAddress = !l.isUnit(f.result) && (inner.fails || !l.isScalar(f.result));
    std::vector<ir::Type> params;
    if (viaAddress) params.push_back(ir::Ptr);
    params.push_back(ir::Ptr);
    for (size_t k = 0; k < c.params.size(); k++) {
      TypeId t = inner.localType(c.params[k]);
      params.push_back(c.modes[k] != Mode::Inout && l.isScalar(t) ? l.irType(t) : ir::Ptr);
    }
    ir::Type result = inner.fails ? ir::Ptr : viaAddress ? ir::Void : l.irType(f.result);
    uint32_t index = ir::startFunction(l.module, name, params, result);
    inner.builder = std::make_unique<ir::Builder>(l.module, index);
    inner.at(e.place);
    unsigned next = 0;
    if (viaAddress) inner.resultAddress = inner.b().param(next++);
    ValueId environment = inner.b().param(next++);
    for (size_t k = 0; k < c.captures.size(); k++) {
      ValueId at = inner.offset(environment, offsets[k]);
      inner.locals[c.captures[k].inner.index].address = c.captures[k].mode == Mode::Move ? at : inner.b().load(ir::Ptr, at);
    }
    for (size_t k = 0; k < outer.extentValues.size(); k++)
      inner.extentValues.push_back(inner.b().load(ir::I64, environment, extentsAt + 8 * int64_t(k)));
    for (size_t k = 0; k < c.params.size(); k++) inner.declareParam(c.params[k], c.modes[k], inner.localType(c.params[k]), inner.b().param(next++));
    if (c.value) valueBody(inner, f.result, viaAddress);
    else inner.statements(c.body);
    if (!inner.endsBlock()) {
      inner.popCleanups(0);
      if (inner.fails) inner.b().ret(inner.null());
      else if (result.isVoid()) inner.b().ret();
      else inner.b().unreachable();
    }
    outer.closures = std::max(outer.closures, inner.closures);
    return l.module.symbol(name);
  }

  void valueBody(FunctionLowering& inner, TypeId result, bool viaAddress) {
    if (inner.l.isUnit(result)) { inner.scoped([&] { inner.evaluate(c.value); }); return; }
    if (viaAddress) { inner.intoAs(c.value, result, inner.resultAddress); return inner.leaveWith({}); }
    inner.leaveWith(inner.scalar(c.value));
  }
};

void FunctionLowering::closureInto(ExprId id, TypeId t, ValueId dest) {
  const Expr& e = expr(id);
  ClosureLowering c(*this, e, t);
  ir::SymbolId code = c.code();
  std::string name = l.module.nameOf(code);
  ValueId environment;
  if (e.closure->moves) {
    environment = callRuntime("Memory", "Allocate", ir::Ptr, {b().i64(c.bytes)});
    b().store(b().symAddr(c.environmentGlue(false, name + ".drop")), environment, EnvDrop);
    b().store(b().symAddr(c.environmentGlue(true, name + ".copy")), environment, EnvCopy);
  } else {
    environment = slotBytes(uint32_t(c.bytes));
    b().store(null(), environment, EnvDrop);
    b().store(null(), environment, EnvCopy);
  }
  b().store(b().i64(c.bytes), environment, EnvBytes);
  for (size_t k = 0; k < e.closure->captures.size(); k++) {
    const Capture& capture = e.closure->captures[k];
    TypeId ct = localType(capture.inner);
    ValueId from = locals[capture.outer.index].address, at = offset(environment, c.offsets[k]);
    if (capture.mode != Mode::Move) { b().store(from, at); continue; }
    moveBytes(at, from, ct);
    if (l.owns(ct)) b().memZero(from, l.sizeOf(ct));
  }
  for (size_t k = 0; k < extentValues.size(); k++) b().store(extentValues[k], environment, c.extentsAt + 8 * int64_t(k));
  b().store(b().symAddr(code), dest);
  b().store(environment, dest, 8);
}

// A named function as a value: a small function that drops the environment and finds the hidden extents in its arguments.
void FunctionLowering::functionValue(const Expr& e, TypeId t, bool windowAt, ValueId dest) {
  const Type f = l.get(t);
  const Decl& callee = program.get(e.callee);
  Instance target;
  target.decl = e.callee;
  for (TypeId a : e.typeArgs) target.typeArgs.push_back(l.canonical(types.substitute(a, instance.decl, instance.typeArgs, knownExtents)));
  target.extents.assign(callee.extentParams.size(), -1);
  for (TypeId a : f.args) target.params.push_back(l.canonical(a));
  target.window = windowAt;
  ir::SymbolId called = l.instanceSymbol(target);
  std::string name = "value[" + l.module.nameOf(called) + "]";
  ir::SymbolId thunk = l.module.symbol(name);
  if (l.module.symbols[thunk.index].kind == ir::SymbolKind::External && !l.isPrecompiled(name)) {
    bool failing = l.canFail(callee), viaAddress = !l.isUnit(f.result) && (failing || !isScalar(f.result));
    std::vector<ir::Type> params;
    if (viaAddress) params.push_back(ir::Ptr);
    params.push_back(ir::Ptr);
    for (size_t k = 0; k < f.args.size(); k++) params.push_back(f.modes[k] != Mode::Inout && isScalar(f.args[k]) ? l.irType(f.args[k]) : ir::Ptr);
    ir::Type result = failing ? ir::Ptr : viaAddress ? ir::Void : l.irType(f.result);
    uint32_t index = ir::startFunction(l.module, name, params, result);
    ir::Builder tb(l.module, index);
    tb.setPlace(l.place(callee.place, callee.name));
    unsigned next = 0;
    std::vector<ValueId> args;
    if (viaAddress) args.push_back(tb.param(next++));
    next++;
    for (uint32_t x = 0; x < callee.extentParams.size(); x++) {
      ValueId found;
      for (size_t k = 0; k < callee.params.size() && !found; k++) {
        const Type p = l.get(callee.params[k].type);
        for (unsigned d = 0; d < p.extents.size() && !found; d++)
          if (p.kind == Kind::Tensor && p.extents[d] == types.name(e.callee, x, callee.extentParams[x]))
            found = tb.load(ir::I64, tb.param(next + unsigned(k)), tensor::Extents + 8 * int(d));
      }
      args.push_back(found ? found : tb.i64(0));
    }
    for (size_t k = 0; k < f.args.size(); k++) args.push_back(tb.param(next++));
    ValueId v = tb.call(called, result, args);
    if (result.isVoid()) tb.ret();
    else tb.ret(v);
  }
  b().store(b().symAddr(thunk), dest);
  b().store(null(), dest, 8);
}

}  // namespace mica::lower
