// Selection of comparisons, choices, branches, calls and traps.
//
// Flags are no value: a comparison is emitted directly in front of what reads it, again for each reader in its block.
// Between the two only the allocator's moves may come, and those leave flags alone.
#include <algorithm>
#include <bit>

#include "backend_x64/select.h"

namespace mica::x64 {

using ir::Op;
using ir::ValueId;

namespace {

Cond condOf(ir::Cond c) {
  switch (c) {
    case ir::Cond::Eq: return Cond::E;
    case ir::Cond::Ne: return Cond::Ne;
    case ir::Cond::Slt: return Cond::L;
    case ir::Cond::Sle: return Cond::Le;
    case ir::Cond::Sgt: return Cond::G;
    case ir::Cond::Sge: return Cond::Ge;
    case ir::Cond::Ult: return Cond::B;
    case ir::Cond::Ule: return Cond::Be;
    case ir::Cond::Ugt: return Cond::A;
    case ir::Cond::Uge: return Cond::Ae;
    default: internalError("x86-64 selection: a float condition on integers");
  }
}

Cond swapped(Cond c) {
  switch (c) {
    case Cond::L: return Cond::G;
    case Cond::Le: return Cond::Ge;
    case Cond::G: return Cond::L;
    case Cond::Ge: return Cond::Le;
    case Cond::B: return Cond::A;
    case Cond::Be: return Cond::Ae;
    case Cond::A: return Cond::B;
    case Cond::Ae: return Cond::Be;
    default: return c;
  }
}

}  // namespace

// Whether the condition's flags can be made where they are read instead of reading a 0 or 1.
bool Selector::fusible(ValueId v) const {
  const ir::Inst* d = defHere(v);
  if (!d) return false;
  if (d->op == Op::Not) return true;
  return (d->op == Op::ICmp && !d->type.isVector()) || (d->op == Op::FCmp && !d->type.isVector()) ||
         d->op == Op::VAnyTrue;
}

FlagCond Selector::flagsOf(ValueId condition) {
  if (fusible(condition)) {
    const ir::Inst& d = *defOf(condition);
    switch (d.op) {
      case Op::Not: return negate(flagsOf(arg(d, 0)));
      case Op::ICmp: return compareInts(d);
      case Op::FCmp: return compareFloats(d);
      default: return anyTrue(d);
    }
  }
  VReg r = reg(condition);
  ins(Mnemonic::Test).use(r, 8).use(r, 8);
  return {Cond::Ne};
}

FlagCond Selector::compareInts(const ir::Inst& i) {
  unsigned bits = i.type.bytes() * 8;
  Cond c = condOf(i.cond);
  ValueId a = arg(i, 0), b = arg(i, 1);
  int64_t value;
  if (isConst(a, value) && !isConst(b, value)) {
    std::swap(a, b);
    c = swapped(c);
  }
  if (isConst(b, value) && value == 0 && c != Cond::B && c != Cond::Ae) {
    // A test against zero; of a conjunction with one reader, the test does the conjunction.
    const ir::Inst* d = defHere(a);
    if (d && d->op == Op::And && uses[a.index] == 1 && bits >= 8 && i.type != ir::I1) {
      VReg left = reg(arg(*d, 0));
      int64_t mask;
      if (isImm32(arg(*d, 1), mask)) {
        ins(Mnemonic::Test).use(left, bits).imm(mask);
      } else {
        VReg right = reg(arg(*d, 1));
        ins(Mnemonic::Test).use(left, bits).use(right, bits);
      }
      return {c};
    }
    if (!foldableLoad(a, bits / 8)) {
      VReg r = reg(a);
      ins(Mnemonic::Test).use(r, bits).use(r, bits);
      return {c};
    }
  }
  if (foldableLoad(a, bits / 8)) {
    // The load may as well be the left operand; both sides in memory is one too many.
    Src right;
    if (!isImm32(b, right.imm)) right.reg = reg(b);
    else right.kind = Src::Imm;
    Src left = intSource(a, bits);
    Build cmp = ins(Mnemonic::Cmp);
    cmp.mem(left.addr, bits);
    if (right.kind == Src::Imm) cmp.imm(right.imm);
    else cmp.use(right.reg, bits);
    return {c};
  }
  Src right = intSource(b, bits);
  VReg left = reg(a);
  if (right.kind == Src::Imm) ins(Mnemonic::Cmp).any(left, bits).imm(right.imm);
  else ins(Mnemonic::Cmp).use(left, bits).src(right, bits);
  return {c};
}

// UCOMIS sets ZF PF CF to 111 on NaN, 000 above, 001 below, 100 equal: above and not-below say no to NaN by themselves.
FlagCond Selector::compareFloats(const ir::Inst& i) {
  ValueId a = arg(i, 0), b = arg(i, 1);
  FlagCond c;
  bool swap = false;
  switch (i.cond) {
    case ir::Cond::Eq: c = {Cond::E, Parity::AndClear}; break;
    case ir::Cond::Ne: c = {Cond::Ne, Parity::OrSet}; break;
    case ir::Cond::Lt: c = {Cond::A}, swap = true; break;
    case ir::Cond::Le: c = {Cond::Ae}, swap = true; break;
    case ir::Cond::Gt: c = {Cond::A}; break;
    case ir::Cond::Ge: c = {Cond::Ae}; break;
    case ir::Cond::Nlt: c = {Cond::Be}, swap = true; break;
    case ir::Cond::Nle: c = {Cond::B}, swap = true; break;
    case ir::Cond::Ngt: c = {Cond::Be}; break;
    case ir::Cond::Nge: c = {Cond::B}; break;
    default: refuse(i, "an integer condition on floats");
  }
  if (swap) std::swap(a, b);
  bool isDouble = i.type == ir::F64;
  Src right = source(b);
  VReg left = reg(a);
  ins(isDouble ? Mnemonic::Vucomisd : Mnemonic::Vucomiss).use(left, 128).src(right, 128, isDouble ? 64 : 32);
  return c;
}

FlagCond Selector::anyTrue(const ir::Inst& i) {
  ir::Type t = f.typeOf(arg(i, 0));
  VReg m = reg(arg(i, 0));
  unsigned bytes = t.bytes();
  if (bytes < 16) {              // what lies above the vector in its register is undefined
    VReg r = newInt();
    ins(bytes == 8 ? Mnemonic::Vmovq : Mnemonic::Vmovd).def(r, bytes == 8 ? 64 : 32).use(m, 128);
    unsigned bits = bytes == 8 ? 64 : bytes == 4 ? 32 : 16;
    ins(Mnemonic::Test).use(r, bits).use(r, bits);
  } else if (level >= 2) {
    ins(Mnemonic::Vptestmd).phys(64 + 1, 64).use(m, vbits(t)).use(m, vbits(t));
    ins(Mnemonic::Kortestw).phys(64 + 1, 64).phys(64 + 1, 64);
  } else {
    ins(Mnemonic::Vptest).use(m, vbits(t)).use(m, vbits(t));
  }
  return {Cond::Ne};
}

void Selector::setFlag(VReg to, FlagCond c) {
  if (c.parity == Parity::Ignored) {
    ins(Mnemonic::Setcc).cond(c.cond).def(to, 8);
    return;
  }
  VReg first = newInt(), second = newInt();
  bool both = c.parity == Parity::AndClear;
  ins(Mnemonic::Setcc).cond(c.cond).def(first, 8);
  ins(Mnemonic::Setcc).cond(both ? Cond::Np : Cond::P).def(second, 8);
  ins(both ? Mnemonic::And : Mnemonic::Or).tied(to, first, 32).any(second, 32);
}

void Selector::selectCompare(const ir::Inst& i) {
  VReg d = result(i);
  switch (i.op) {
    case Op::ICmp:
      if (i.type.isVector()) return vectorCompare(i);
      return setFlag(d, compareInts(i));
    case Op::FCmp:
      if (i.type.isVector()) return vectorCompare(i);
      return setFlag(d, compareFloats(i));
    case Op::VAnyTrue: return setFlag(d, anyTrue(i));
    default: {
      ValueId a = arg(i, 0);
      if (fusible(a) && uses[a.index] == 1) return setFlag(d, negate(flagsOf(a)));
      VReg r = reg(a);
      ins(Mnemonic::Xor).tied(d, r, 32).imm(1);
    }
  }
}

void Selector::selectSelect(const ir::Inst& i) {
  ValueId cond = arg(i, 0), yes = arg(i, 1), no = arg(i, 2);
  VReg d = result(i);
  if (classOf(i.type) == mir::RegClass::Vector) {
    VReg a = reg(yes), b = reg(no);
    FlagCond c = flagsOf(cond);
    ins(PMoveIf).hiddenTied(d, b).hidden(a).extra(uint32_t(c.parity)).flags(c.cond);
    return;
  }
  unsigned bits = i.type.bytes() == 8 ? 64 : 32;
  bool swapSides = fusible(cond) && dying(yes) && !dying(no);
  VReg a = reg(yes), b = reg(no);
  FlagCond c = flagsOf(cond);
  // The tied side is the one that stays when the condition is false.
  if (swapSides && c.parity == Parity::Ignored) {
    std::swap(a, b);
    c = negate(c);
  }
  switch (c.parity) {
    case Parity::Ignored: ins(Mnemonic::Cmovcc).cond(c.cond).tied(d, b, bits).any(a, bits); break;
    case Parity::OrSet: {
      VReg half = newInt();
      ins(Mnemonic::Cmovcc).cond(c.cond).tied(half, b, bits).any(a, bits);
      ins(Mnemonic::Cmovcc).cond(Cond::P).tied(d, half, bits).any(a, bits);
      break;
    }
    case Parity::AndClear: {
      VReg half = newInt();
      ins(Mnemonic::Cmovcc).cond(c.cond).tied(half, b, bits).any(a, bits);
      ins(Mnemonic::Cmovcc).cond(Cond::P).tied(d, half, bits).any(b, bits);
      break;
    }
  }
}

// The edges of the current block's terminator, with registers for their arguments.
void Selector::edgesOf(const ir::Inst& i) {
  edges.clear();
  for (unsigned t = 0; t < i.targetCount; ++t) {
    const ir::Target& target = f.targets[i.firstTarget + t];
    mir::Edge e;
    e.to = blockOf[target.block.index];
    for (unsigned k = 0; k < target.argCount; ++k) e.args.push_back(reg(f.pool[target.firstArg + k]));
    edges.push_back(std::move(e));
  }
}

void Selector::selectTerminator(const ir::Inst& i) {
  edgesOf(i);
  switch (i.op) {
    case Op::Br: ins(PJump).terminator(); return;
    case Op::BrIf: {
      FlagCond c = flagsOf(arg(i, 0));
      ins(PBranch).extra(uint32_t(c.parity)).flags(c.cond).terminator();
      return;
    }
    case Op::Switch: return selectSwitch(i);
    case Op::Ret: return selectRet(i);
    default: ins(Mnemonic::Ud2).terminator();
  }
}

void Selector::selectRet(const ir::Inst& i) {
  if (i.argCount == 0) {
    ins(PRet).terminator();
    return;
  }
  VReg v = reg(arg(i, 0));
  ins(PRet).useIn(resultReg(f.typeOf(arg(i, 0))), v).terminator();
}

// Dense case values go through a table, few or scattered ones through comparisons.
void Selector::selectSwitch(const ir::Inst& i) {
  unsigned cases = i.targetCount - 1;
  if (cases == 0) {
    ins(PJump).terminator();
    return;
  }
  int64_t low = f.cases[size_t(i.imm)], high = low;
  for (unsigned k = 0; k < cases; ++k) {
    low = std::min(low, ir::canonical(i.type, f.cases[size_t(i.imm) + k]));
    high = std::max(high, ir::canonical(i.type, f.cases[size_t(i.imm) + k]));
  }
  uint64_t span = uint64_t(high) - uint64_t(low);
  bool dense = cases >= 4 && span < uint64_t(cases) * 3 + 8;
  VReg wide = i.type.bytes() == 8 ? reg(arg(i, 0)) : extend(arg(i, 0), true, 64);
  mir::JumpTable table;
  if (dense) {
    table.succs.assign(size_t(span) + 2, 0);       // the last entry is the default, for what lies outside
    for (unsigned k = 0; k < cases; ++k)
      table.succs[size_t(uint64_t(ir::canonical(i.type, f.cases[size_t(i.imm) + k])) - uint64_t(low))] = k + 1;
    VReg index = wide;
    if (low != 0) {
      index = newInt();
      VReg base = intConst(low);
      ins(Mnemonic::Sub).tied(index, wide, 64).any(base, 64);
    }
    VReg outside = intConst(int64_t(span) + 1), clamped = newInt();
    ins(Mnemonic::Cmp).use(index, 64).any(outside, 64);
    ins(Mnemonic::Cmovcc).cond(Cond::A).tied(clamped, index, 64).any(outside, 64);
    wide = clamped;
  } else if (cases > 8) {
    wide = searchCases(i, wide, table);
  } else {
    // The number of the case, by comparisons: 0 when none matches.
    VReg number = intConst(0);
    for (unsigned k = 0; k < cases; ++k) {
      VReg value = intConst(ir::canonical(i.type, f.cases[size_t(i.imm) + k])), mine = intConst(k + 1), next = newInt();
      ins(Mnemonic::Cmp).use(wide, 64).any(value, 64);
      ins(Mnemonic::Cmovcc).cond(Cond::E).tied(next, number, 64).any(mine, 64);
      number = next;
    }
    for (unsigned k = 0; k <= cases; ++k) table.succs.push_back(k);
    wide = number;
  }
  out->tables.push_back(std::move(table));
  ins(PSwitch).hidden(wide).temp(newInt()).temp(newInt()).extra(uint32_t(out->tables.size() - 1)).terminator();
}

// Many scattered case values: halving a sorted table of them, without branches. Answers the place of the last value
// that is not above, plus one, or zero when it is another value.
VReg Selector::searchCases(const ir::Inst& i, VReg value, mir::JumpTable& table) {
  std::vector<std::pair<int64_t, uint32_t>> sorted;
  for (unsigned k = 0; k + 1 < i.targetCount; ++k)
    sorted.push_back({ir::canonical(i.type, f.cases[size_t(i.imm) + k]), k + 1});
  std::sort(sorted.begin(), sorted.end());
  table.succs.push_back(0);
  std::string bytes;
  size_t entries = std::bit_ceil(sorted.size());
  for (size_t k = 0; k < entries; ++k) {
    int64_t v = sorted[std::min(k, sorted.size() - 1)].first;    // repeated at the end: found there all the same
    for (int byte = 0; byte < 8; ++byte) bytes.push_back(char(uint64_t(v) >> (8 * byte)));
    table.succs.push_back(sorted[std::min(k, sorted.size() - 1)].second);
  }
  Addr entry;
  entry.kind = mir::MemRef::Address;
  entry.base = newInt();
  entry.scale = 8;
  ins(Mnemonic::Lea).def(entry.base, 64).mem(constantAddr(bytes), 0).remat();
  auto plus = [](VReg base, int32_t disp) {
    Addr a;
    a.kind = mir::MemRef::Address;
    a.base = base;
    a.disp = disp;
    return a;
  };
  VReg at = intConst(0);
  for (size_t step = entries / 2; step > 0; step /= 2) {
    VReg further = newInt(), next = newInt();
    ins(Mnemonic::Lea).def(further, 64).mem(plus(at, int32_t(step)), 0);
    entry.index = further;
    ins(Mnemonic::Cmp).use(value, 64).mem(entry, 64);
    ins(Mnemonic::Cmovcc).cond(Cond::Ge).tied(next, at, 64).any(further, 64);
    at = next;
  }
  VReg found = newInt(), none = intConst(0), result = newInt();
  ins(Mnemonic::Lea).def(found, 64).mem(plus(at, 1), 0);
  entry.index = at;
  ins(Mnemonic::Cmp).use(value, 64).mem(entry, 64);
  ins(Mnemonic::Cmovcc).cond(Cond::Ne).tied(result, found, 64).any(none, 64);
  return result;
}

void Selector::selectCall(const ir::Inst& i) {
  unsigned first = i.op == Op::CallInd ? 1 : 0;
  std::vector<ir::Type> types;
  for (unsigned k = first; k < i.argCount; ++k) types.push_back(f.typeOf(arg(i, k)));
  std::vector<ArgPlace> places;
  uint32_t bytes = placeArgs(types, places);
  out->outgoingBytes = std::max(out->outgoingBytes, (bytes + 15) / 16 * 16);
  if (!first && module.symbols[i.symbol.index].kind == ir::SymbolKind::Function)
    coldCall |= module.functions[module.symbols[i.symbol.index].index].cold;
  for (size_t k = 0; k < types.size(); ++k) {
    if (places[k].reg != mir::NoReg) continue;
    Addr a;
    a.kind = mir::MemRef::Outgoing;
    a.disp = int32_t(places[k].offset);
    storeFrom(reg(arg(i, unsigned(k) + first)), types[k], a);
  }
  std::vector<std::pair<mir::PReg, VReg>> fixed;
  for (size_t k = 0; k < types.size(); ++k)
    if (places[k].reg != mir::NoReg) fixed.push_back({places[k].reg, reg(arg(i, unsigned(k) + first))});
  VReg callee = first ? reg(arg(i, 0)) : VReg();
  Build call = ins(first ? PCallInd : PCall);
  if (first) call.useIn(Rax, callee);
  for (auto [r, v] : fixed) call.useIn(r, v);
  if (i.result) call.defIn(resultReg(f.typeOf(i.result)), result(i));
  call.extra(i.symbol.index).call();
}

void Selector::selectSyscall(const ir::Inst& i) {
  static constexpr mir::PReg places[] = {Rax, Rdi, Rsi, Rdx, R10, R8, R9};
  VReg v[7];
  for (unsigned k = 0; k < 7; ++k) v[k] = reg(arg(i, k));
  Build b = ins(PSyscall);
  for (unsigned k = 0; k < 7; ++k) b.useIn(places[k], v[k]);
  b.defIn(Rax, result(i)).clobber(mir::bit(Rcx) | mir::bit(R11));
}

void Selector::selectSpawn(const ir::Inst& i) {
  // flags, stack top, function, argument, context, tid address
  VReg v[6];
  for (unsigned k = 0; k < 6; ++k) v[k] = reg(arg(i, k));
  ins(PSpawn)
      .useIn(Rdi, v[0])
      .useIn(Rsi, v[1])
      .useIn(R9, v[2])
      .useIn(R8, v[3])
      .useIn(Rbx, v[4])
      .useIn(Rdx, v[5])
      .useIn(R10, v[5])
      .defIn(Rax, result(i))
      .clobber(mir::bit(Rcx) | mir::bit(R11));
}

uint32_t Selector::trapCall(ir::TrapKind kind) {
  mir::TrapCall t;
  t.kind = int64_t(kind);
  out->traps.push_back(t);
  return uint32_t(out->traps.size() - 1);
}

void Selector::trapIf(FlagCond c, ir::TrapKind kind) {
  ins(PTrapIf).extra(uint32_t(c.parity) | trapCall(kind) << 2).flags(c.cond);
}

void Selector::selectTrap(const ir::Inst& i, bool conditional) {
  uint32_t id = trapCall(ir::TrapKind(i.imm));
  unsigned first = conditional ? 1 : 0;
  std::vector<VReg> values;
  for (unsigned k = first; k < i.argCount && k < first + 3; ++k) {
    mir::TrapCall::Detail& d = out->traps[id].details[out->traps[id].count++];
    ir::Type t = f.typeOf(arg(i, k));
    if (classOf(t) != mir::RegClass::Int) refuse(i, "a trap's details are integers");
    if (isConst(arg(i, k), d.imm)) continue;
    d.isImm = false;
    d.operand = uint8_t(values.size());
    VReg v = t.bytes() < 8 ? extend(arg(i, k), true, 64) : reg(arg(i, k));
    values.push_back(v);
  }
  FlagCond c;
  if (conditional) c = flagsOf(arg(i, 0));
  else edges.clear();
  Build b = ins(conditional ? PTrapIf : PTrap);
  for (VReg v : values) b.hiddenAny(v);
  b.extra(uint32_t(c.parity) | id << 2);
  if (!conditional) b.terminator();
  b.flags(c.cond);
}

}  // namespace mica::x64
