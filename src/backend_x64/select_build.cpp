// Puts single machine instructions together; see Build in select.h.
#include "backend_x64/select.h"

namespace mica::x64 {

Build::Build(Selector& s, uint16_t op) : selector(s) {
  inst.op = op;
  inst.place = s.placeNow;
}

Build::~Build() {
  mir::Function& f = *selector.out;
  inst.firstOperand = uint32_t(f.operands.size());
  inst.operandCount = uint16_t(operands.size());
  f.operands.insert(f.operands.end(), operands.begin(), operands.end());
  selector.sequence.push_back(inst);
}

unsigned Build::add(VReg v, bool isDef, mir::Constraint c) {
  mir::Operand o;
  o.reg = v;
  o.isDef = isDef;
  o.constraint = c;
  operands.push_back(o);
  return unsigned(operands.size() - 1);
}

mir::Arg& Build::arg(mir::Arg::Kind kind, unsigned operand, unsigned bits) {
  if (argCount == 4) internalError("x86-64 selection: more than four operands");
  mir::Arg& a = inst.args[argCount++];
  a.kind = kind;
  a.operand = uint8_t(operand);
  a.bits = uint16_t(bits);
  return a;
}

Build& Build::def(VReg v, unsigned bits) {
  arg(mir::Arg::Reg, add(v, true, mir::Constraint::Reg), bits);
  return *this;
}

Build& Build::earlyDef(VReg v, unsigned bits) {
  def(v, bits);
  operands.back().late = true;
  return *this;
}

Build& Build::tied(VReg d, VReg u, unsigned bits) {
  hiddenTied(d, u);
  arg(mir::Arg::Reg, unsigned(operands.size() - 2), bits);
  return *this;
}

Build& Build::hiddenTied(VReg d, VReg u) {
  unsigned def = add(d, true, mir::Constraint::Tied);
  operands[def].tied = uint8_t(add(u, false, mir::Constraint::Reg));
  return *this;
}

Build& Build::use(VReg v, unsigned bits, bool late) {
  arg(mir::Arg::Reg, add(v, false, mir::Constraint::Reg), bits);
  operands.back().late = late;
  return *this;
}

Build& Build::any(VReg v, unsigned bits, unsigned memBits) {
  arg(mir::Arg::Reg, add(v, false, mir::Constraint::Any), bits).memBits = uint16_t(memBits ? memBits : bits);
  return *this;
}

Build& Build::mem(const Addr& a, unsigned bits, unsigned copies) {
  arg(mir::Arg::Mem, 0, 0);
  mir::MemRef& m = inst.mem;
  m.kind = a.kind;
  m.scale = a.scale;
  m.disp = a.disp;
  m.id = a.id;
  m.bits = uint16_t(bits);
  m.copies = uint8_t(copies);
  if (a.base) m.base = int8_t(add(a.base, false, mir::Constraint::Reg));
  if (a.index) m.index = int8_t(add(a.index, false, mir::Constraint::Reg));
  return *this;
}

Build& Build::src(const Src& s, unsigned bits, unsigned memBits) {
  switch (s.kind) {
    case Src::Reg: return any(s.reg, bits, memBits);
    case Src::Mem: return mem(s.addr, s.memBits ? s.memBits : memBits ? memBits : bits, s.copies);
    case Src::Imm: return imm(s.imm);
  }
  return *this;
}

Build& Build::imm(int64_t value) {
  arg(mir::Arg::Imm, 0, 0);
  inst.imm = value;
  return *this;
}

Build& Build::cond(Cond c) {
  arg(mir::Arg::Cond, 0, 0);
  inst.cond = uint8_t(c);
  return *this;
}

Build& Build::same(unsigned bits) {
  arg(mir::Arg::Reg, 0, bits);
  return *this;
}

Build& Build::phys(mir::PReg r, unsigned bits) {
  arg(mir::Arg::Fixed, r, bits);
  return *this;
}

Build& Build::defIn(mir::PReg r, VReg v) {
  operands[add(v, true, mir::Constraint::Fixed)].fixed = r;
  return *this;
}

Build& Build::useIn(mir::PReg r, VReg v) {
  operands[add(v, false, mir::Constraint::Fixed)].fixed = r;
  return *this;
}

Build& Build::hidden(VReg v, bool late) {
  operands[add(v, false, mir::Constraint::Reg)].late = late;
  return *this;
}

Build& Build::hiddenAny(VReg v) {
  add(v, false, mir::Constraint::Any);
  return *this;
}

Build& Build::temp(VReg v, bool early) {
  operands[add(v, true, mir::Constraint::Reg)].late = early;
  return *this;
}

Build& Build::clobber(mir::RegSet s) {
  inst.clobbers |= s;
  return *this;
}

Build& Build::mask(unsigned k, bool zeroing) {
  inst.mask = uint8_t(k);
  inst.zeroing = zeroing;
  return *this;
}

Build& Build::lock() {
  inst.locked = true;
  return *this;
}

Build& Build::remat() {
  inst.remat = true;
  return *this;
}

Build& Build::call() {
  inst.isCall = true;
  inst.clobbers |= callClobbers(selector.level);
  return *this;
}

Build& Build::terminator() {
  inst.isTerminator = true;
  return *this;
}

Build& Build::flags(Cond c) {
  inst.cond = uint8_t(c);
  return *this;
}

Build& Build::extra(uint32_t e) {
  inst.extra = e;
  return *this;
}

}  // namespace mica::x64
