// Selection: the walk over the function, values as operands, addresses. See select.h for the idea.
#include "backend_x64/select.h"

#include <algorithm>
#include <limits>

namespace mica::x64 {

using ir::Op;
using ir::TypeKind;
using ir::ValueId;

Selector::Selector(const ir::Module& m, const ir::Function& function)
    : module(m), f(function), level(function.cpuLevel) {}

namespace {
struct Refusal { std::string why; };
}  // namespace

void Selector::refuse(const ir::Inst& i, const char* why) {
  throw Refusal{std::string("x86-64: ") + ir::info(i.op).text + " " + ir::toString(i.type) + ": " + why};
}

bool Selector::run(mir::Function& function, std::string& error) {
  out = &function;
  out->source = &f;
  out->slots = f.slots;
  try {
    findOrder();
    countUses();
    for (uint32_t k = 0; k < order.size(); ++k) blockOf[order[k].index] = mir::BlockId(k);
    out->blocks.resize(order.size());
    for (uint32_t k = 0; k < order.size(); ++k) out->order.push_back(mir::BlockId(k));
    for (size_t k = order.size(); k-- > 0;) selectBlock(order[k]);
  } catch (const Refusal& r) {
    error = r.why;
    return false;
  }
  return true;
}

void Selector::findOrder() {
  blockOf.assign(f.blocks.size(), mir::BlockId());
  std::vector<bool> seen(f.blocks.size());
  struct Frame { ir::BlockId block; uint32_t left; };
  auto targetCount = [&](ir::BlockId b) { return f.insts[f.blocks[b.index].insts.back().index].targetCount; };
  std::vector<Frame> stack{{ir::BlockId(0), targetCount(ir::BlockId(0))}};
  seen[0] = true;
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.left == 0) {
      order.push_back(top.block);
      stack.pop_back();
      continue;
    }
    const ir::Inst& last = f.insts[f.blocks[top.block.index].insts.back().index];
    ir::BlockId to = f.targets[last.firstTarget + --top.left].block;
    if (!seen[to.index]) {
      seen[to.index] = true;
      stack.push_back({to, targetCount(to)});
    }
  }
  std::reverse(order.begin(), order.end());
}

void Selector::countUses() {
  regs.assign(f.values.size(), VReg());
  uses.assign(f.values.size(), 0);
  blockOfValue.assign(f.values.size(), ir::BlockId::None);
  epochOf.assign(f.values.size(), 0);
  epochs.assign(f.insts.size(), 0);
  for (ir::BlockId b : order) {
    uint32_t epoch = 0;
    for (ValueId p : f.blocks[b.index].params) blockOfValue[p.index] = b.index;
    for (ir::InstId id : f.blocks[b.index].insts) {
      const ir::Inst& i = f.insts[id.index];
      epochs[id.index] = epoch;
      for (unsigned k = 0; k < i.argCount; ++k) ++uses[arg(i, k).index];
      for (unsigned t = 0; t < i.targetCount; ++t) {
        const ir::Target& target = f.targets[i.firstTarget + t];
        for (unsigned k = 0; k < target.argCount; ++k) ++uses[f.pool[target.firstArg + k].index];
      }
      if (i.result) {
        blockOfValue[i.result.index] = b.index;
        epochOf[i.result.index] = epoch;
      }
      if (ir::hasEffect(i.op, 'W') || ir::hasEffect(i.op, 'C')) ++epoch;
    }
  }
}

void Selector::selectBlock(ir::BlockId id) {
  blockNow = id.index;
  mir::Block& block = out->blocks[blockOf[id.index].index];
  const ir::Block& b = f.blocks[id.index];
  reversed.clear();
  edges.clear();
  coldCall = false;
  for (size_t k = b.insts.size(); k-- > 0;) {
    const ir::Inst& i = f.insts[b.insts[k].index];
    bool wanted = i.result && regs[i.result.index];
    bool effect =
        ir::hasEffect(i.op, 'W') || ir::hasEffect(i.op, 'T') || ir::hasEffect(i.op, 'C') || ir::hasEffect(i.op, 'X');
    if (!wanted && !effect) continue;
    epochNow = epochs[b.insts[k].index];
    placeNow = i.place;
    if (i.result && !regs[i.result.index]) regs[i.result.index] = newReg(f.typeOf(i.result));
    select(i);
    flush();
  }
  if (id.index == 0) {
    placeNow = f.place;
    arguments();
    flush();
  } else {
    for (ValueId p : b.params) {
      if (!regs[p.index]) regs[p.index] = newReg(f.typeOf(p));
      block.params.push_back(regs[p.index]);
    }
  }
  std::reverse(reversed.begin(), reversed.end());
  block.insts = std::move(reversed);
  reversed = {};
  block.succs = std::move(edges);
  const MirInst& last = block.insts.back();
  bool endsInTrap = last.op == PTrap || last.op == opOf(Mnemonic::Ud2);
  block.cold = (endsInTrap || coldCall) && id.index != 0;
}

void Selector::flush() {
  reversed.insert(reversed.end(), sequence.rbegin(), sequence.rend());
  sequence.clear();
}

// The parameters: register arguments are there at the start; stack arguments can be loaded, and loaded again, at any
// time.
void Selector::arguments() {
  std::vector<ArgPlace> places;
  placeArgs(f.params, places);
  {
    Build args = ins(PArgs);
    for (size_t k = 0; k < places.size(); ++k) {
      ValueId p = f.blocks[0].params[k];
      if (places[k].reg != mir::NoReg) args.defIn(places[k].reg, regs[p.index] ? regs[p.index] : newReg(f.typeOf(p)));
    }
  }
  for (size_t k = 0; k < places.size(); ++k) {
    ValueId p = f.blocks[0].params[k];
    if (places[k].reg != mir::NoReg || !regs[p.index]) continue;
    Addr a;
    a.kind = mir::MemRef::Incoming;
    a.disp = int32_t(places[k].offset);
    loadInto(regs[p.index], f.typeOf(p), a);
    sequence.back().remat = true;
  }
}

void Selector::select(const ir::Inst& i) {
  if (ir::isTerminator(i.op) && i.op != Op::Trap) return selectTerminator(i);
  switch (i.op) {
    case Op::SymAddr: case Op::SlotAddr: case Op::PAdd: {
      bool baseDies = i.op == Op::PAdd && dying(arg(i, 0));
      Addr a = address(i.result, 0, true);
      bool ownBase = i.op == Op::PAdd && a.kind == mir::MemRef::Address && a.base == regs[origin(arg(i, 0)).index];
      if (baseDies && ownBase && !a.index) {
        ins(Mnemonic::Add).tied(result(i), a.base, 64).imm(a.disp);
        return;
      }
      if (baseDies && ownBase && a.scale == 1 && a.disp == 0) {
        ins(Mnemonic::Add).tied(result(i), a.base, 64).any(a.index, 64);
        return;
      }
      bool pure = a.kind != mir::MemRef::Address && !a.index;
      ins(Mnemonic::Lea).def(result(i), 64).mem(a, 0);
      if (pure) sequence.back().remat = true;
      return;
    }
    case Op::Context: ins(Mnemonic::Mov).def(result(i), 64).phys(R15, 64); return;
    case Op::SetContext: {
      VReg p = reg(arg(i, 0));
      ins(Mnemonic::Mov).phys(R15, 64).use(p, 64);
      return;
    }
    case Op::FramePtr: ins(Mnemonic::Mov).def(result(i), 64).phys(Rbp, 64); return;
    case Op::ICmp: case Op::FCmp: case Op::Not: case Op::VAnyTrue: return selectCompare(i);
    case Op::Select: return selectSelect(i);
    case Op::Call: case Op::CallInd: return selectCall(i);
    case Op::Syscall: return selectSyscall(i);
    case Op::SpawnThread: return selectSpawn(i);
    case Op::CpuLevel:
      ins(PCpuLevel)
          .defIn(Rsi, result(i))
          .clobber(mir::bit(Rax) | mir::bit(Rbx) | mir::bit(Rcx) | mir::bit(Rdx) | mir::bit(Rdi));
      return;
    case Op::TrapIf: return selectTrap(i, true);
    case Op::Trap: return selectTrap(i, false);
    default: break;
  }
  if (selectMemory(i) || selectVector(i) || selectFloat(i) || selectInt(i)) return;
  refuse(i, "no such instruction at this processor level");
}

const ir::Inst* Selector::defOf(ValueId v) const {
  const ir::Value& value = f.values[v.index];
  return value.def ? &f.insts[value.def.index] : nullptr;
}

const ir::Inst* Selector::defHere(ValueId v) const { return blockOfValue[v.index] == blockNow ? defOf(v) : nullptr; }

ValueId Selector::origin(ValueId v) const {
  for (;;) {
    const ir::Inst* d = defOf(v);
    if (!d) return v;
    bool same = d->op == Op::Trunc && !d->type.isVector();
    if (d->op == Op::Bitcast) {
      ir::Type from = f.typeOf(arg(*d, 0));
      same = classOf(from) == classOf(d->type) && spillSize(from) == spillSize(d->type) &&
             from.isVector() == d->type.isVector();
    }
    if (!same) return v;
    v = arg(*d, 0);
  }
}

VReg Selector::reg(ValueId v) {
  v = origin(v);
  if (const ir::Inst* d = defOf(v); d && d->op == Op::IConst && !d->type.isVector()) return intConst(d->imm);
  VReg& r = regs[v.index];
  if (!r) r = newReg(f.typeOf(v));
  return r;
}

VReg Selector::intConst(int64_t value) {
  VReg r = newInt();
  if (value == 0) ins(PZeroReg).def(r, 32).remat();
  else if (value > 0 && value <= 0xffffffffll) ins(Mnemonic::Mov).def(r, 32).imm(value).remat();
  else ins(Mnemonic::Mov).def(r, 64).imm(value).remat();
  return r;
}

bool Selector::isConst(ValueId v, int64_t& value) const {
  const ir::Inst* d = defOf(origin(v));
  if (!d || d->op != Op::IConst || d->type.isVector()) return false;
  value = ir::canonical(f.typeOf(v), d->imm);
  return true;
}

bool Selector::isImm32(ValueId v, int64_t& value) const {
  return isConst(v, value) && value >= std::numeric_limits<int32_t>::min() &&
         value <= std::numeric_limits<int32_t>::max();
}

bool Selector::dying(ValueId v) const {
  v = origin(v);
  return !regs[v.index] && blockOfValue[v.index] == blockNow;
}

bool Selector::foldableLoad(ValueId v, unsigned bytes) const {
  while (uses[v.index] == 1) {
    const ir::Inst* d = defHere(v);
    if (!d) return false;
    if (d->op == Op::Load) return epochOf[v.index] == epochNow && d->type.bytes() >= bytes;
    if (origin(v) == v) return false;
    v = arg(*d, 0);
  }
  return false;
}

Src Selector::source(ValueId v, bool broadcasts) {
  Src s;
  const ir::Inst* d = defOf(v);
  ir::Type t = f.typeOf(v);
  if (d && d->op == Op::FConst && !t.isVector() && d->imm != 0) {
    s.kind = Src::Mem;
    s.addr = constantAddr(uint64_t(d->imm), t.bytes());
    return s;
  }
  if (broadcasts && level >= 2 && d && t.laneBytes() >= 4 && t.bytes() >= 16) {
    if ((d->op == Op::FConst || d->op == Op::IConst) && d->imm != 0) {
      s.kind = Src::Mem;
      s.addr = constantAddr(uint64_t(d->imm), t.laneBytes());
      s.copies = t.lanes;
      s.memBits = uint16_t(t.laneBytes() * 8);
      return s;
    }
    if (d->op == Op::Splat && uses[v.index] == 1 && defHere(v) && foldableLoad(arg(*d, 0), t.laneBytes())) {
      const ir::Inst* l = defOf(origin(arg(*d, 0)));
      s.kind = Src::Mem;
      s.addr = address(arg(*l, 0), l->imm);
      s.copies = t.lanes;
      s.memBits = uint16_t(t.laneBytes() * 8);
      return s;
    }
  }
  bool wholeRegister = !t.isVector() || t.bytes() >= 16;
  if (wholeRegister && foldableLoad(v, t.bytes())) {
    const ir::Inst* l = defOf(origin(v));
    s.kind = Src::Mem;
    s.addr = address(arg(*l, 0), l->imm);
    return s;
  }
  s.reg = reg(v);
  return s;
}

Src Selector::intSource(ValueId v, unsigned bits) {
  Src s;
  if (isImm32(v, s.imm)) {
    s.kind = Src::Imm;
    return s;
  }
  if (foldableLoad(v, bits / 8)) {
    const ir::Inst* l = defOf(origin(v));
    s.kind = Src::Mem;
    s.addr = address(arg(*l, 0), l->imm);
    return s;
  }
  s.reg = reg(v);
  return s;
}

void Selector::addOffset(Addr& a, int64_t offset) {
  int64_t sum = a.disp + offset;
  if (sum >= std::numeric_limits<int32_t>::min() && sum <= std::numeric_limits<int32_t>::max()) {
    a.disp = int32_t(sum);
    return;
  }
  // Too far for the displacement: the whole address so far plus the offset becomes a register.
  VReg whole = newInt(), sumReg = newInt(), far = intConst(offset);
  ins(Mnemonic::Lea).def(whole, 64).mem(a, 0);
  ins(Mnemonic::Add).tied(sumReg, whole, 64).any(far, 64);
  a = Addr();
  a.kind = mir::MemRef::Address;
  a.base = sumReg;
}

// An address as base + index * scale + displacement, taking in additions and scalings of the current block and any
// constant offsets.
Addr Selector::address(ValueId pointer, int64_t offset, bool own) {
  Addr a;
  auto fits = [](int64_t x) {
    return x >= std::numeric_limits<int32_t>::min() && x <= std::numeric_limits<int32_t>::max();
  };
  ValueId p = origin(pointer);
  int64_t disp = offset;
  while (const ir::Inst* d = defOf(p)) {
    if (d->op != Op::PAdd || (regs[p.index] && !(own && p == pointer)))
      break;  // asked for anyway: then it is a base like any other
    int64_t c;
    if (isConst(arg(*d, 1), c) && fits(disp + c) && fits(c)) {
      disp += c;
      p = origin(arg(*d, 0));
      continue;
    }
    if (a.index || !defHere(p)) break;
    ValueId index = origin(arg(*d, 1));
    int64_t scale = 1;
    for (const ir::Inst* x = defHere(index); x && f.typeOf(index) == ir::I64 && !regs[index.index];
         x = defHere(index)) {
      int64_t n;
      if (x->op == Op::IAdd && isConst(arg(*x, 1), n) && fits(n * scale) && fits(n) && fits(disp + n * scale))
        disp += n * scale;
      else if (x->op == Op::Shl && isConst(arg(*x, 1), n) && n >= 0 && n <= 3 && scale << n <= 8) scale <<= n;
      else if (x->op == Op::IMul && isConst(arg(*x, 1), n) && (n == 2 || n == 4 || n == 8) && scale * n <= 8)
        scale *= n;
      else break;
      index = origin(arg(*x, 0));
    }
    a.index = reg(index);
    a.scale = uint8_t(scale);
    p = origin(arg(*d, 0));
  }
  const ir::Inst* d = defOf(p);
  if (d && d->op == Op::SlotAddr) {
    a.kind = mir::MemRef::Slot;
    a.id = uint32_t(d->imm);
  } else if (d && d->op == Op::SymAddr && !a.index) {
    a.kind = mir::MemRef::Symbol;
    a.id = d->symbol.index;
    disp += d->imm;
  } else if (d && d->op == Op::SymAddr) {
    Addr symbol;
    symbol.kind = mir::MemRef::Symbol;
    symbol.id = d->symbol.index;
    symbol.disp = int32_t(d->imm);
    a.kind = mir::MemRef::Address;
    a.base = newInt();
    ins(Mnemonic::Lea).def(a.base, 64).mem(symbol, 0);
    sequence.back().remat = true;
  } else {
    a.kind = mir::MemRef::Address;
    a.base = reg(p);
  }
  addOffset(a, disp);
  return a;
}

Addr Selector::constantAddr(const std::string& bytes) {
  auto [at, isNew] = constantIds.try_emplace(bytes, uint32_t(out->constants.size()));
  if (isNew) out->constants.push_back({bytes});
  Addr a;
  a.kind = mir::MemRef::Constant;
  a.id = at->second;
  return a;
}

Addr Selector::constantAddr(uint64_t value, unsigned bytes, unsigned copies) {
  std::string s;
  for (unsigned c = 0; c < copies; ++c)
    for (unsigned k = 0; k < bytes; ++k) s.push_back(char(value >> (8 * k)));
  return constantAddr(s);
}

Addr Selector::slotAddr(uint32_t bytes, uint32_t align) {
  Addr a;
  a.kind = mir::MemRef::Slot;
  a.id = uint32_t(out->slots.size());
  out->slots.push_back({bytes, align});
  return a;
}

VReg Selector::extend(ValueId v, bool isSigned, unsigned toBits) {
  ir::Type t = f.typeOf(v);
  unsigned bits = t.bytes() * 8;
  VReg r = newInt();
  int64_t c;
  if (isConst(v, c)) {
    if (!isSigned && bits < 64) c &= (int64_t(1) << bits) - 1;
    return intConst(toBits == 32 ? int64_t(uint32_t(c)) : c);
  }
  if (bits >= toBits) return reg(v);
  Src s = intSource(v, bits);
  if (bits == 32) {
    if (isSigned) ins(Mnemonic::Movsxd).def(r, 64).src(s, 32);
    else ins(Mnemonic::Mov).def(r, 32).src(s, 32);
  } else if (isSigned) {
    ins(Mnemonic::Movsx).def(r, toBits).src(s, bits);
  } else {
    ins(Mnemonic::Movzx).def(r, 32).src(s, bits);
  }
  return r;
}

void Selector::move(VReg to, VReg from) {
  Build(*this, mir::Copy).hiddenTied(to, from);
}

}  // namespace mica::x64
