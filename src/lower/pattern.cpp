// Matching values against patterns: tests that branch away, and names bound to parts.
#include "lower/function.h"

namespace mica::lower {

void FunctionLowering::matchPattern(PatternId id, ValueId address, TypeId t, Mode mode, BlockId otherwise) {
  const Pattern& p = body.patterns[id.index];
  at(p.place);
  auto require = [&](ValueId condition) {
    BlockId on = b().createBlock();
    b().brIf(condition, on, otherwise);
    b().setBlock(on);
  };
  switch (p.kind) {
    case PatternKind::Any: case PatternKind::Bind: return;
    case PatternKind::Literal: {
      if (isScalar(t)) {
        ValueId value = loadValue(address, t);
        return require(compareScalars(BinaryOp::Eq, t, value, scalar(p.low)));
      }
      ValueId same;
      scoped([&] {
        ValueId args[] = {address, borrowAs(p.low, l.laidOut(t))};
        same = b().call(l.glue(Glue::Equal, l.laidOut(t)), ir::I1, args);
      });
      return require(same);
    }
    case PatternKind::Range: {
      ValueId v = loadValue(address, t), low = scalar(p.low), high = scalar(p.high);
      require(compareScalars(BinaryOp::Ge, t, v, low));
      return require(compareScalars(p.exclusive ? BinaryOp::Lt : BinaryOp::Le, t, v, high));
    }
    case PatternKind::Tuple: {
      std::vector<TypeId> fields = l.fieldTypes(t);
      const Layout layout = l.layout(t);
      for (size_t k = 0; k < p.parts.size(); k++) if (p.parts[k]) matchPattern(p.parts[k], offset(address, layout.offsets[k]), fields[k], mode, otherwise);
      return;
    }
    case PatternKind::Case: {
      require(b().icmp(Cond::Eq, {b().load(ir::I64, address), b().i64(p.index)}));
      std::vector<TypeId> fields = l.caseFields(t, p.index);
      for (uint32_t k = 0; k < p.parts.size(); k++)
        if (p.parts[k]) matchPattern(p.parts[k], offset(address, l.caseOffset(t, p.index, k)), fields[k], mode, otherwise);
      return;
    }
    case PatternKind::Some: {
      require(b().icmp(Cond::Ne, {b().load(ir::I8, address), b().iconst(ir::I8, 0)}));
      if (!p.parts.empty() && p.parts[0]) matchPattern(p.parts[0], offset(address, l.layout(t).offsets[1]), l.get(t).element, mode, otherwise);
      return;
    }
    case PatternKind::None: return require(b().icmp(Cond::Eq, {b().load(ir::I8, address), b().iconst(ir::I8, 0)}));
    case PatternKind::Either: {
      BlockId on = b().createBlock();
      for (size_t k = 0; k < p.parts.size(); k++) {
        BlockId next = k + 1 < p.parts.size() ? b().createBlock() : otherwise;
        matchPattern(p.parts[k], address, t, mode, next);
        b().br(on);
        if (k + 1 < p.parts.size()) b().setBlock(next);
      }
      b().setBlock(on);
      return;
    }
  }
}

// Names: numbers are copied unless they may be changed; with `move` the part is taken over; else the name is the place.
void FunctionLowering::bindPattern(PatternId id, ValueId address, TypeId t, Mode mode) {
  const Pattern& p = body.patterns[id.index];
  switch (p.kind) {
    case PatternKind::Any: if (mode == Mode::Move) pushDrop(address, t); return;
    case PatternKind::Bind: {
      if (mode == Mode::Inout) { locals[p.local.index] = {address, false}; return; }
      if (isScalar(t)) { setScalarLocal(p.local, loadValue(address, t)); return; }
      if (mode == Mode::Move) {
        ValueId slot = slotFor(t);
        moveBytes(slot, address, t);
        if (l.owns(t)) b().memZero(address, l.sizeOf(t));
        locals[p.local.index] = {slot, false};
        pushDrop(slot, t);
        return;
      }
      locals[p.local.index] = {address, false};
      return;
    }
    case PatternKind::Tuple: {
      std::vector<TypeId> fields = l.fieldTypes(t);
      const Layout layout = l.layout(t);
      for (size_t k = 0; k < p.parts.size(); k++) {
        ValueId part = offset(address, layout.offsets[k]);
        if (p.parts[k]) bindPattern(p.parts[k], part, fields[k], mode);
        else if (mode == Mode::Move) pushDrop(part, fields[k]);
      }
      return;
    }
    case PatternKind::Case: {
      std::vector<TypeId> fields = l.caseFields(t, p.index);
      for (uint32_t k = 0; k < p.parts.size(); k++)
        if (p.parts[k]) bindPattern(p.parts[k], offset(address, l.caseOffset(t, p.index, k)), fields[k], mode);
      return;
    }
    case PatternKind::Some:
      if (!p.parts.empty() && p.parts[0]) bindPattern(p.parts[0], offset(address, l.layout(t).offsets[1]), l.get(t).element, mode);
      return;
    default: return;
  }
}

void FunctionLowering::matchArms(const std::vector<Arm>& arms, ValueId address, TypeId t, Mode mode, const std::function<void(const Arm&)>& inside) {
  BlockId done = b().createBlock();
  // With `move`, a guard sees the parts in place; they are taken over only when the arm is chosen. Dropping zero does nothing.
  for (const Arm& arm : arms) {
    BlockId next = b().createBlock();
    size_t depth = cleanups.size();
    if (arm.pattern) {
      matchPattern(arm.pattern, address, t, mode, next);
      if (arm.guard) {
        size_t guardDepth = cleanups.size();
        bindPattern(arm.pattern, address, t, mode == Mode::Move ? Mode::Read : mode);
        ValueId holds = condition(arm.guard);
        cleanups.resize(guardDepth);
        BlockId on = b().createBlock();
        b().brIf(holds, on, next);
        b().setBlock(on);
      }
      if (mode == Mode::Move) takeParts(arm.pattern, address, t);
      else bindPattern(arm.pattern, address, t, mode);
    }
    inside(arm);
    popCleanups(depth);
    if (!endsBlock()) b().br(done);
    b().setBlock(next);
  }
  b().unreachable();                            // the checker has seen that some arm matches
  b().setBlock(done);
}

// Binds with `move`: only named parts leave, the rest stays for the subject's own release.
void FunctionLowering::takeParts(PatternId id, ValueId address, TypeId t) {
  const Pattern& p = body.patterns[id.index];
  switch (p.kind) {
    case PatternKind::Bind: return bindPattern(id, address, t, Mode::Move);
    case PatternKind::Tuple: {
      std::vector<TypeId> fields = l.fieldTypes(t);
      const Layout layout = l.layout(t);
      for (size_t k = 0; k < p.parts.size(); k++) if (p.parts[k]) takeParts(p.parts[k], offset(address, layout.offsets[k]), fields[k]);
      return;
    }
    case PatternKind::Case: {
      std::vector<TypeId> fields = l.caseFields(t, p.index);
      for (uint32_t k = 0; k < p.parts.size(); k++) if (p.parts[k]) takeParts(p.parts[k], offset(address, l.caseOffset(t, p.index, k)), fields[k]);
      return;
    }
    case PatternKind::Some:
      if (!p.parts.empty() && p.parts[0]) takeParts(p.parts[0], offset(address, l.layout(t).offsets[1]), l.get(t).element);
      return;
    default: return;
  }
}

}  // namespace mica::lower
