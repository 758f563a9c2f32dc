// Selection of integer arithmetic on scalars.
//
// Narrow integers are computed in 32 bits wherever the low bits come out right; what looks at the upper bits (right
// shifts, division, comparisons of flags) extends first or uses the narrow form.
#include <bit>
#include <limits>

#include "backend_x64/select.h"

namespace mica::x64 {

using ir::Op;
using ir::ValueId;

namespace {

unsigned workBits(ir::Type t) { return t.bytes() == 8 ? 64 : 32; }
unsigned ownBits(ir::Type t) { return t == ir::I1 ? 1 : t.bytes() * 8; }

}  // namespace

bool Selector::selectInt(const ir::Inst& i) {
  if (i.type.isVector()) return false;
  switch (i.op) {
    case Op::IAdd: case Op::ISub: addSub(i); return true;
    case Op::IMul: multiply(i); return true;
    case Op::And: binaryInt(i, Mnemonic::And, true); return true;
    case Op::Or: binaryInt(i, Mnemonic::Or, true); return true;
    case Op::Xor: binaryInt(i, Mnemonic::Xor, true); return true;
    case Op::Shl: case Op::ShrS: case Op::ShrU: shift(i); return true;
    case Op::RotL: rotate(i); return true;
    case Op::Clz: case Op::Ctz: case Op::Popcount: countBits(i); return true;
    case Op::MulHiS: case Op::MulHiU: multiplyHigh(i); return true;
    case Op::IMinS: case Op::IMaxS: minMaxInt(i); return true;
    case Op::SAddT: case Op::SSubT: case Op::UAddT: case Op::USubT: checkedAddSub(i); return true;
    case Op::SMulT: case Op::UMulT: checkedMul(i); return true;
    case Op::SDivT: case Op::UDivT: case Op::SRemT: case Op::URemT: divide(i); return true;
    case Op::SExt: case Op::ZExt: case Op::Trunc: convertInt(i); return true;
    case Op::IConst: {
      VReg v = intConst(i.imm);
      move(result(i), v);
      return true;
    }
    default: return false;
  }
}

void Selector::binaryInt(const ir::Inst& i, Mnemonic m, bool commutes) {
  unsigned bits = workBits(i.type);
  ValueId a = arg(i, 0), b = arg(i, 1);
  int64_t c;
  if (commutes && isConst(a, c)) std::swap(a, b);
  if (i.op == Op::And && isConst(b, c) && (c == 0xff || c == 0xffff || c == 0xffffffff) &&
      uint64_t(c) < (uint64_t(1) << (ownBits(i.type) - 1))) {
    VReg v = reg(a);
    if (c == 0xffffffff) ins(Mnemonic::Mov).def(result(i), 32).any(v, 32);
    else ins(Mnemonic::Movzx).def(result(i), 32).any(v, c == 0xff ? 8 : 16);
    return;
  }
  if (i.op == Op::Xor && isConst(b, c) && c == -1 && i.type != ir::I1) {
    ins(Mnemonic::Not).tied(result(i), reg(a), bits);
    return;
  }
  if (commutes && !isConst(b, c) && ((dying(b) && !dying(a)) || foldableLoad(a, bits / 8))) std::swap(a, b);
  Src right = intSource(b, bits);
  VReg left = reg(a);
  ins(m).tied(result(i), left, bits).src(right, bits);
}

// An addition whose operands live on is a LEA, which has a result of its own.
void Selector::addSub(const ir::Inst& i) {
  unsigned bits = workBits(i.type);
  ValueId a = arg(i, 0), b = arg(i, 1);
  int64_t c;
  VReg d = result(i);
  if (i.op == Op::IAdd && isConst(a, c)) std::swap(a, b);
  if (i.op == Op::ISub && isConst(a, c) && c == 0) {
    ins(Mnemonic::Neg).tied(d, reg(b), bits);
    return;
  }
  if (isImm32(b, c) && c != std::numeric_limits<int32_t>::min()) {
    if (i.op == Op::ISub) c = -c;
    bool dies = dying(a);
    VReg left = reg(a);
    if (dies) {
      ins(Mnemonic::Add).tied(d, left, bits).imm(c);
      return;
    }
    Addr sum;
    sum.kind = mir::MemRef::Address;
    sum.base = left;
    sum.disp = int32_t(c);
    ins(Mnemonic::Lea).def(d, bits).mem(sum, 0);
    return;
  }
  if (i.op == Op::ISub) return binaryInt(i, Mnemonic::Sub, false);
  if (dying(a) || dying(b) || foldableLoad(a, bits / 8) || foldableLoad(b, bits / 8) || isConst(b, c))
    return binaryInt(i, Mnemonic::Add, true);
  Addr sum;
  sum.kind = mir::MemRef::Address;
  sum.base = reg(a);
  sum.index = reg(b);
  ins(Mnemonic::Lea).def(d, bits).mem(sum, 0);
}

void Selector::multiply(const ir::Inst& i) {
  unsigned bits = workBits(i.type);
  ValueId a = arg(i, 0), b = arg(i, 1);
  int64_t c;
  VReg d = result(i);
  if (isConst(a, c)) std::swap(a, b);
  if (!isConst(b, c)) return binaryInt(i, Mnemonic::Imul, true);
  if (c == 3 || c == 5 || c == 9) {
    Addr sum;
    sum.kind = mir::MemRef::Address;
    sum.base = sum.index = reg(a);
    sum.scale = uint8_t(c - 1);
    ins(Mnemonic::Lea).def(d, bits).mem(sum, 0);
  } else if (c > 0 && std::has_single_bit(uint64_t(c))) {
    ins(Mnemonic::Shl).tied(d, reg(a), bits).imm(std::countr_zero(uint64_t(c)));
  } else if (isImm32(b, c)) {
    Src left = foldableLoad(a, bits / 8) ? intSource(a, bits) : Src{};
    if (left.kind == Src::Reg) left.reg = reg(a);
    ins(Mnemonic::Imul).def(d, bits).src(left, bits).imm(c);
  } else {
    binaryInt(i, Mnemonic::Imul, true);
  }
}

void Selector::shift(const ir::Inst& i) {
  unsigned bits = workBits(i.type), own = ownBits(i.type);
  VReg d = result(i);
  int64_t c;
  bool constant = isConst(arg(i, 1), c);
  ValueId value = arg(i, 0);
  VReg left = i.op == Op::Shl || own >= 32 ? reg(value) : extend(value, i.op == Op::ShrS);
  if (constant) {
    Mnemonic m = i.op == Op::Shl ? Mnemonic::Shl : i.op == Op::ShrS ? Mnemonic::Sar : Mnemonic::Shr;
    c &= own - 1;
    if (c == 0) move(d, left);
    else ins(m).tied(d, left, bits).imm(c);
    return;
  }
  VReg count = reg(arg(i, 1));
  if (own < 32) {                  // the instruction takes the count modulo 32
    VReg masked = newInt();
    ins(Mnemonic::And).tied(masked, count, 32).imm(own - 1);
    count = masked;
  }
  Mnemonic m = i.op == Op::Shl ? Mnemonic::Shlx : i.op == Op::ShrS ? Mnemonic::Sarx : Mnemonic::Shrx;
  ins(m).def(d, bits).any(left, bits).use(count, bits);
}

void Selector::rotate(const ir::Inst& i) {
  unsigned own = ownBits(i.type);
  VReg d = result(i), left = reg(arg(i, 0));
  int64_t c;
  if (isConst(arg(i, 1), c)) {
    c &= own - 1;
    if (c == 0) move(d, left);
    else if (own >= 32) ins(Mnemonic::Rorx).def(d, own).any(left, own).imm(own - c);
    else ins(Mnemonic::Rol).tied(d, left, own).imm(c);
    return;
  }
  VReg count = reg(arg(i, 1));
  ins(Mnemonic::Rol).tied(d, left, own).useIn(Rcx, count).phys(Rcx, 8);
}

void Selector::countBits(const ir::Inst& i) {
  unsigned own = ownBits(i.type), bits = workBits(i.type);
  VReg d = result(i);
  if (i.op == Op::Ctz && own < 32) {
    VReg stopped = newInt(), v = reg(arg(i, 0));
    ins(Mnemonic::Or).tied(stopped, v, 32).imm(int64_t(1) << own);
    ins(Mnemonic::Tzcnt).def(d, 32).use(stopped, 32);
    return;
  }
  VReg v = own < 32 ? extend(arg(i, 0), false) : reg(arg(i, 0));
  Mnemonic m = i.op == Op::Clz ? Mnemonic::Lzcnt : i.op == Op::Ctz ? Mnemonic::Tzcnt : Mnemonic::Popcnt;
  if (i.op == Op::Clz && own < 32) {
    VReg wide = newInt();
    ins(m).def(wide, 32).any(v, 32);
    ins(Mnemonic::Sub).tied(d, wide, 32).imm(32 - own);
    return;
  }
  ins(m).def(d, bits).any(v, bits);
}

void Selector::multiplyHigh(const ir::Inst& i) {
  unsigned own = ownBits(i.type);
  bool isSigned = i.op == Op::MulHiS;
  VReg d = result(i);
  if (own == 64) {
    VReg a = reg(arg(i, 0)), b = reg(arg(i, 1));
    ins(isSigned ? Mnemonic::Imul : Mnemonic::Mul).any(b, 64).useIn(Rax, a).defIn(Rdx, d).defIn(Rax, newInt());
    return;
  }
  VReg a = extend(arg(i, 0), isSigned, own == 32 ? 64 : 32), b = extend(arg(i, 1), isSigned, own == 32 ? 64 : 32),
       product = newInt();
  unsigned bits = own == 32 ? 64 : 32;
  ins(Mnemonic::Imul).tied(product, a, bits).any(b, bits);
  ins(isSigned ? Mnemonic::Sar : Mnemonic::Shr).tied(d, product, bits).imm(own);
}

void Selector::minMaxInt(const ir::Inst& i) {
  unsigned own = ownBits(i.type), bits = workBits(i.type);
  VReg a = own < 32 ? extend(arg(i, 0), true) : reg(arg(i, 0)), b = own < 32 ? extend(arg(i, 1), true) : reg(arg(i, 1));
  ins(Mnemonic::Cmp).use(a, bits).use(b, bits);
  ins(Mnemonic::Cmovcc).cond(i.op == Op::IMinS ? Cond::G : Cond::L).tied(result(i), a, bits).any(b, bits);
}

void Selector::checkedAddSub(const ir::Inst& i) {
  unsigned bits = ownBits(i.type);
  bool isAdd = i.op == Op::SAddT || i.op == Op::UAddT, isSigned = i.op == Op::SAddT || i.op == Op::SSubT;
  ValueId a = arg(i, 0), b = arg(i, 1);
  int64_t c;
  if (isAdd && (isConst(a, c) || (dying(b) && !dying(a) && !isConst(b, c)))) std::swap(a, b);
  Src right = intSource(b, bits);
  VReg left = reg(a);
  ins(isAdd ? Mnemonic::Add : Mnemonic::Sub).tied(result(i), left, bits).src(right, bits);
  trapIf({isSigned ? Cond::O : Cond::B}, ir::TrapKind::Overflow);
}

// The overflow of a narrow product shows in the wider one; 64 bits have an instruction that says.
void Selector::checkedMul(const ir::Inst& i) {
  unsigned own = ownBits(i.type);
  bool isSigned = i.op == Op::SMulT;
  VReg d = result(i);
  if (isSigned && own >= 32) {
    ValueId a = arg(i, 0), b = arg(i, 1);
    int64_t c;
    if (isConst(a, c)) std::swap(a, b);
    Src right = intSource(b, own);
    VReg left = reg(a);
    if (right.kind == Src::Imm && right.imm == 2) ins(Mnemonic::Add).tied(d, left, own).use(left, own);
    else if (right.kind == Src::Imm) ins(Mnemonic::Imul).def(d, own).any(left, own).imm(right.imm);
    else ins(Mnemonic::Imul).tied(d, left, own).src(right, own);
    trapIf({Cond::O}, ir::TrapKind::Overflow);
    return;
  }
  if (own == 64) {
    VReg a = reg(arg(i, 0)), b = reg(arg(i, 1));
    ins(Mnemonic::Mul).any(b, 64).useIn(Rax, a).defIn(Rax, d).defIn(Rdx, newInt());
    trapIf({Cond::O}, ir::TrapKind::Overflow);
    return;
  }
  unsigned bits = own == 32 ? 64 : 32;
  VReg a = extend(arg(i, 0), isSigned, bits), b = extend(arg(i, 1), isSigned, bits), again = newInt();
  ins(Mnemonic::Imul).tied(d, a, bits).any(b, bits);
  if (own == 32) ins(Mnemonic::Mov).def(again, 32).use(d, 32);
  else ins(isSigned ? Mnemonic::Movsx : Mnemonic::Movzx).def(again, 32).use(d, own);
  ins(Mnemonic::Cmp).use(again, bits).use(d, bits);
  trapIf({Cond::Ne}, ir::TrapKind::Overflow);
}

// Quotient and remainder in rax and rdx. Zero traps; the smallest value by -1 traps as a quotient and is 0 as a
// remainder, and must not reach the instruction, which would fault.
void Selector::divide(const ir::Inst& i) {
  bool isSigned = i.op == Op::SDivT || i.op == Op::SRemT, remainder = i.op == Op::SRemT || i.op == Op::URemT;
  if (divideByConstant(i, isSigned, remainder)) return;
  unsigned own = ownBits(i.type), bits = workBits(i.type);
  VReg d = result(i);
  VReg a = own < 32 ? extend(arg(i, 0), isSigned) : reg(arg(i, 0)),
       b = own < 32 ? extend(arg(i, 1), isSigned) : reg(arg(i, 1));
  int64_t c;
  bool known = isConst(arg(i, 1), c);
  if (!known || c == 0) {
    ins(Mnemonic::Test).use(b, bits).use(b, bits);
    trapIf({Cond::E}, ir::TrapKind::DivideByZero);
  }
  if (isSigned && own >= 32 && (!known || c == -1)) {
    if (remainder) {              // x rem -1 is x rem 1
      VReg one = intConst(1), safe = newInt();
      ins(Mnemonic::Cmp).use(b, bits).imm(-1);
      ins(Mnemonic::Cmovcc).cond(Cond::E).tied(safe, b, bits).any(one, bits);
      b = safe;
    } else {
      VReg smallest = intConst(own == 64 ? std::numeric_limits<int64_t>::min() : int64_t(0x80000000));
      VReg isSmallest = newInt(), isMinusOne = newInt(), both = newInt();
      ins(Mnemonic::Xor).tied(isSmallest, smallest, bits).any(a, bits);
      ins(Mnemonic::Not).tied(isMinusOne, b, bits);
      ins(Mnemonic::Or).tied(both, isMinusOne, bits).any(isSmallest, bits);
      trapIf({Cond::E}, ir::TrapKind::Overflow);
    }
  }
  VReg quotient = remainder ? newInt() : d, rest = remainder ? d : newInt();
  if (isSigned) {
    VReg low = newInt(), high = newInt();
    ins(bits == 64 ? Mnemonic::Cqo : Mnemonic::Cdq).useIn(Rax, a).defIn(Rax, low).defIn(Rdx, high);
    ins(Mnemonic::Idiv).use(b, bits, true).useIn(Rax, low).useIn(Rdx, high).defIn(Rax, quotient).defIn(Rdx, rest);
  } else {
    VReg high = intConst(0);
    ins(Mnemonic::Div).use(b, bits, true).useIn(Rax, a).useIn(Rdx, high).defIn(Rax, quotient).defIn(Rdx, rest);
  }
  if (isSigned && !remainder && own < 32 && (!known || c == -1)) {
    VReg again = newInt();
    ins(Mnemonic::Movsx).def(again, 32).use(d, own);
    ins(Mnemonic::Cmp).use(again, 32).use(d, 32);
    trapIf({Cond::Ne}, ir::TrapKind::Overflow);
  }
}

namespace {

// Multiplication by `factor`, taking the upper half and shifting right by `shift`, divides by the constant. Unsigned
// division may need one bit more than the register has: `add` then stands for the factor's missing top bit.
struct Magic { uint64_t factor; unsigned shift; bool add; };

using Wide = unsigned __int128;

Magic unsignedMagic(uint64_t divisor, unsigned bits) {
  // The smallest shift for which 2^(bits + shift) / divisor, rounded up, errs by less than every dividend can notice.
  for (unsigned shift = 0;; ++shift) {
    Wide power = Wide(1) << (bits + shift);       // bits + shift is at most 127
    Wide factor = (power + divisor - 1) / divisor;
    Wide excess = factor * divisor - power;
    if (excess <= (Wide(1) << shift)) {
      bool add = factor >> bits != 0;
      return {uint64_t(bits == 64 ? factor : factor & ((Wide(1) << bits) - 1)), shift, add};
    }
  }
}

Magic signedMagic(uint64_t divisor, unsigned bits) {  // of the divisor's magnitude, at least 2; the shift is at least 1
  for (unsigned shift = 1;; ++shift) {
    Wide power = Wide(1) << (bits - 1 + shift);
    Wide factor = power / divisor + 1;
    Wide excess = factor * divisor - power;
    if (excess <= (Wide(1) << shift)) return {uint64_t(factor), shift, false};
  }
}

}  // namespace

bool Selector::divideByConstant(const ir::Inst& i, bool isSigned, bool remainder) {
  int64_t c;
  if (!isConst(arg(i, 1), c) || c == 0 || c == -1) return false;
  unsigned own = ownBits(i.type), bits = workBits(i.type);
  VReg d = result(i);
  uint64_t range = own == 64 ? ~uint64_t(0) : (uint64_t(1) << own) - 1;
  uint64_t magnitude = isSigned ? (c < 0 ? 0 - uint64_t(c) : uint64_t(c)) : uint64_t(c) & range;
  VReg x = own < bits ? extend(arg(i, 0), isSigned) : reg(arg(i, 0));
  if (magnitude == 1) {
    if (remainder) move(d, intConst(0));
    else move(d, x);
    return true;
  }
  VReg quotient = newInt();
  unsigned log = unsigned(std::countr_zero(magnitude));
  bool power = std::has_single_bit(magnitude);
  if (!isSigned && power) {
    if (remainder) {
      VReg mask = intConst(int64_t(magnitude - 1));
      ins(Mnemonic::And).tied(d, x, bits).any(mask, bits);
    } else {
      ins(Mnemonic::Shr).tied(d, x, bits).imm(log);
    }
    return true;
  }
  if (!isSigned && magnitude > uint64_t(1) << 63) {   // goes at most once
    VReg divisor = intConst(int64_t(magnitude)), once = newInt();
    ins(Mnemonic::Cmp).use(x, 64).any(divisor, 64);
    ins(Mnemonic::Setcc).cond(Cond::Ae).def(once, 8);
    ins(Mnemonic::Movzx).def(quotient, 32).use(once, 8);
  } else if (!isSigned) {
    Magic m = unsignedMagic(magnitude, bits);
    VReg factor = intConst(bits == 64 ? int64_t(m.factor) : int64_t(uint32_t(m.factor))), high = newInt();
    if (bits == 64) {
      ins(Mnemonic::Mul).any(factor, 64).useIn(Rax, x).defIn(Rdx, high).defIn(Rax, newInt());
    } else {
      VReg wide = newInt(), product = newInt();
      ins(Mnemonic::Mov).def(wide, 32).use(x, 32);
      ins(Mnemonic::Imul).tied(product, wide, 64).any(factor, 64);
      ins(Mnemonic::Shr).tied(high, product, 64).imm(32);
    }
    unsigned shift = m.shift;
    if (m.add) {                   // (x - high) / 2 + high is (x + high) / 2 without the carry
      VReg rest = newInt(), half = newInt(), sum = newInt();
      ins(Mnemonic::Sub).tied(rest, x, bits).any(high, bits);
      ins(Mnemonic::Shr).tied(half, rest, bits).imm(1);
      ins(Mnemonic::Add).tied(sum, half, bits).any(high, bits);
      high = sum;
      shift -= 1;
    }
    if (shift) ins(Mnemonic::Shr).tied(quotient, high, bits).imm(shift);
    else move(quotient, high);
  } else if (power) {
    // Rounding towards zero: negative dividends get divisor - 1 added first.
    VReg sign = newInt(), bias = newInt(), biased = newInt();
    if (log > 1) {
      ins(Mnemonic::Sar).tied(sign, x, bits).imm(bits - 1);
      ins(Mnemonic::Shr).tied(bias, sign, bits).imm(bits - log);
    } else {
      ins(Mnemonic::Shr).tied(bias, x, bits).imm(bits - 1);
    }
    ins(Mnemonic::Add).tied(biased, bias, bits).any(x, bits);
    VReg positive = c < 0 ? newInt() : quotient;
    ins(Mnemonic::Sar).tied(positive, biased, bits).imm(log);
    if (c < 0) ins(Mnemonic::Neg).tied(quotient, positive, bits);
  } else {
    Magic m = signedMagic(magnitude, bits);
    VReg high = newInt();
    if (bits == 64) {
      VReg factor = intConst(int64_t(m.factor));
      ins(Mnemonic::Imul).any(factor, 64).useIn(Rax, x).defIn(Rdx, high).defIn(Rax, newInt());
    } else {
      VReg wide = newInt(), product = newInt(), factor = intConst(int64_t(int32_t(uint32_t(m.factor))));
      ins(Mnemonic::Movsxd).def(wide, 64).use(x, 32);
      ins(Mnemonic::Imul).tied(product, wide, 64).any(factor, 64);
      ins(Mnemonic::Sar).tied(high, product, 64).imm(32);
    }
    // The factor may have the sign bit set: as a signed number it is then 2^bits too small.
    if (m.factor >> (bits - 1) & 1) {
      VReg sum = newInt();
      ins(Mnemonic::Add).tied(sum, high, bits).any(x, bits);
      high = sum;
    }
    VReg shifted = high, sign = newInt();
    if (m.shift > 1) {
      shifted = newInt();
      ins(Mnemonic::Sar).tied(shifted, high, bits).imm(m.shift - 1);
    }
    ins(Mnemonic::Sar).tied(sign, x, bits).imm(bits - 1);
    if (c > 0) ins(Mnemonic::Sub).tied(quotient, shifted, bits).any(sign, bits);
    else ins(Mnemonic::Sub).tied(quotient, sign, bits).any(shifted, bits);
  }
  if (!remainder) {
    move(d, quotient);
    return true;
  }
  VReg product = newInt();
  if (c >= std::numeric_limits<int32_t>::min() && c <= std::numeric_limits<int32_t>::max() &&
      (isSigned || bits == 64 || c > 0)) {
    ins(Mnemonic::Imul).def(product, bits).any(quotient, bits).imm(c);
  } else {
    VReg divisor = intConst(isSigned ? c : int64_t(magnitude));
    ins(Mnemonic::Imul).tied(product, quotient, bits).any(divisor, bits);
  }
  ins(Mnemonic::Sub).tied(d, x, bits).any(product, bits);
  return true;
}

void Selector::convertInt(const ir::Inst& i) {
  ValueId a = arg(i, 0);
  VReg d = result(i);
  if (i.op == Op::Trunc) return move(d, reg(a));
  unsigned from = f.typeOf(a).bytes() * 8, to = i.type.bytes() * 8;
  if (f.typeOf(a) == ir::I1 && i.op == Op::SExt) {
    VReg wide = newInt(), v = reg(a);
    ins(Mnemonic::Movzx).def(wide, 32).any(v, 8);
    ins(Mnemonic::Neg).tied(d, wide, to == 64 ? 64 : 32);
    return;
  }
  if (from == to) return move(d, reg(a));
  Src s = foldableLoad(a, from / 8) ? intSource(a, from) : Src{};
  if (s.kind == Src::Reg) s.reg = reg(a);
  if (i.op == Op::ZExt) {
    if (from == 32) ins(Mnemonic::Mov).def(d, 32).src(s, 32);
    else ins(Mnemonic::Movzx).def(d, 32).src(s, from);
  } else {
    if (from == 32) ins(Mnemonic::Movsxd).def(d, 64).src(s, 32);
    else ins(Mnemonic::Movsx).def(d, to == 64 ? 64 : 32).src(s, from);
  }
}

}  // namespace mica::x64
