// Selection of float arithmetic, scalars and vectors alike where the instructions come in both kinds, and of scalar
// conversions.
#include "backend_x64/select.h"

namespace mica::x64 {

using ir::Op;
using ir::TypeKind;
using ir::ValueId;

namespace {

// The four forms of an operation: single and double, scalar and packed.
struct Forms { Mnemonic ss, sd, ps, pd; };

Mnemonic choose(const Forms& m, ir::Type t) {
  bool isDouble = t.kind == TypeKind::F64;
  return t.isVector() ? (isDouble ? m.pd : m.ps) : (isDouble ? m.sd : m.ss);
}

#define FORMS(name) Forms{Mnemonic::name##ss, Mnemonic::name##sd, Mnemonic::name##ps, Mnemonic::name##pd}

// What memory operand an instruction of this type reads.
unsigned memBitsOf(ir::Type t, unsigned registerBits) { return t.isVector() ? registerBits : t.bytes() * 8; }

}  // namespace

bool Selector::selectFloat(const ir::Inst& i) {
  switch (i.op) {
    case Op::FAdd: case Op::FSub: case Op::FMul: case Op::FDiv: binaryFloat(i); return true;
    case Op::FSqrt: {
      unsigned bits = vbits(i.type);
      Src s = source(arg(i, 0), true);
      Mnemonic m = choose(FORMS(Vsqrt), i.type);
      if (i.type.isVector()) {
        ins(m).def(result(i), bits).src(s, bits);
      } else {
        // The first source gives the upper lanes; a register that is ready saves waiting for the result's old value.
        VReg upper = s.kind == Src::Reg ? s.reg : zeroVec(16);
        ins(m).def(result(i), bits).use(upper, bits).src(s, bits, memBitsOf(i.type, bits));
      }
      return true;
    }
    case Op::Fma: fma(i); return true;
    case Op::FNeg: case Op::FAbs: signBit(i); return true;
    case Op::FMin: case Op::FMax: minMaxFloat(i); return true;
    case Op::FFloor: case Op::FCeil: case Op::FTrunc: case Op::FRound: roundFloat(i); return true;
    case Op::FConst:
      if (i.type.isVector()) return false;
      if (i.imm == 0) ins(Mnemonic::Vxorps).def(result(i), 128).same(128).same(128).remat();
      else loadInto(result(i), i.type, constantAddr(uint64_t(i.imm), i.type.bytes())), sequence.back().remat = true;
      return true;
    case Op::Bitcast: bitcast(i); return true;
    default: break;
  }
  if (i.type.isVector()) return false;
  switch (i.op) {
    case Op::SToF: case Op::UToF: intToFloat(i); return true;
    case Op::FToST: case Op::FToUT: floatToInt(i); return true;
    case Op::FToSSat: case Op::FToUSat: floatToIntSaturating(i); return true;
    case Op::FExt: case Op::FCut: {
      Src s = source(arg(i, 0));
      VReg upper = s.kind == Src::Reg ? s.reg : zeroVec(16);
      bool extends = i.op == Op::FExt;
      ins(extends ? Mnemonic::Vcvtss2sd : Mnemonic::Vcvtsd2ss)
          .def(result(i), 128)
          .use(upper, 128)
          .src(s, 128, extends ? 32 : 64);
      return true;
    }
    default: return false;
  }
}

VReg Selector::zeroVec(unsigned bytes) {
  VReg v = newVec(bytes);
  ins(Mnemonic::Vxorps).def(v, 128).same(128).same(128).remat();
  return v;
}

void Selector::binaryFloat(const ir::Inst& i) {
  unsigned bits = vbits(i.type);
  ValueId a = arg(i, 0), b = arg(i, 1);
  Forms forms = i.op == Op::FAdd   ? FORMS(Vadd)
                : i.op == Op::FSub ? FORMS(Vsub)
                : i.op == Op::FMul ? FORMS(Vmul)
                                   : FORMS(Vdiv);
  const ir::Inst* left = defOf(a);
  bool swapped =
      (i.op == Op::FAdd || i.op == Op::FMul) &&
      ((left && left->op == Op::FConst) || (foldableLoad(a, i.type.bytes()) && !foldableLoad(b, i.type.bytes())));
  if (swapped) std::swap(a, b);
  Src right = source(b, i.type.isVector());
  VReg first = reg(a);
  ins(choose(forms, i.type)).def(result(i), bits).use(first, bits).src(right, bits, memBitsOf(i.type, bits));
}

// d = a * b + c overwrites one of the three: the one that is not needed any more. The accumulator is the usual one
// (form 231).
void Selector::fma(const ir::Inst& i) {
  unsigned bits = vbits(i.type), memBits = memBitsOf(i.type, bits);
  ValueId a = arg(i, 0), b = arg(i, 1), c = arg(i, 2);
  VReg d = result(i);
  bool broadcasts = i.type.isVector();
  bool accumulates = dying(c) || !(dying(a) || dying(b));
  if (accumulates) {
    Src right = source(b, broadcasts);
    if (right.kind == Src::Reg) {
      Src other = source(a, broadcasts);
      if (other.kind == Src::Mem) {
        right = other;
        std::swap(a, b);
      }
    }
    VReg left = reg(a), sum = reg(c);
    ins(choose(FORMS(Vfmadd231), i.type)).tied(d, sum, bits).use(left, bits).src(right, bits, memBits);
    return;
  }
  if (!dying(a)) std::swap(a, b);
  Src addend = source(c, broadcasts);
  if (addend.kind == Src::Reg) {
    if (Src right = source(b, broadcasts); right.kind == Src::Mem) {       // a = a * memory + c
      VReg left = reg(a);
      ins(choose(FORMS(Vfmadd132), i.type)).tied(d, left, bits).use(addend.reg, bits).src(right, bits, memBits);
      return;
    }
  }
  VReg left = reg(a), right = reg(b);
  ins(choose(FORMS(Vfmadd213), i.type)).tied(d, left, bits).use(right, bits).src(addend, bits, memBits);
}

void Selector::signBit(const ir::Inst& i) {
  bool isDouble = i.type.kind == TypeKind::F64, flip = i.op == Op::FNeg;
  unsigned bits = vbits(i.type), lane = isDouble ? 8 : 4;
  uint64_t sign = isDouble ? uint64_t(1) << 63 : uint64_t(1) << 31;
  uint64_t mask = flip ? sign : sign - 1;
  VReg v = reg(arg(i, 0));
  Mnemonic m =
      flip ? (isDouble ? Mnemonic::Vxorpd : Mnemonic::Vxorps) : (isDouble ? Mnemonic::Vandpd : Mnemonic::Vandps);
  if (level >= 2) ins(m).def(result(i), bits).use(v, bits).mem(constantAddr(mask, lane), lane * 8, bits / 8 / lane);
  else ins(m).def(result(i), bits).use(v, bits).mem(constantAddr(mask, lane, bits / 8 / lane), bits);
}

// MIN and MAX answer their second operand for NaN and for two zeros, so both orders are asked. Minimum: joining the
// bits keeps a NaN and the sign of -0. Maximum: where the two answers differ their difference keeps a NaN and drops the
// sign of -0.
void Selector::minMaxFloat(const ir::Inst& i) {
  bool isDouble = i.type.kind == TypeKind::F64, isMin = i.op == Op::FMin;
  unsigned bits = vbits(i.type);
  VReg a = reg(arg(i, 0)), b = reg(arg(i, 1)), d = result(i);
  Mnemonic m = choose(isMin ? FORMS(Vmin) : FORMS(Vmax), i.type);
  VReg one = newReg(i.type), two = newReg(i.type);
  ins(m).def(one, bits).use(a, bits).use(b, bits);
  ins(m).def(two, bits).use(b, bits).use(a, bits);
  Mnemonic orM = isDouble ? Mnemonic::Vorpd : Mnemonic::Vorps, xorM = isDouble ? Mnemonic::Vxorpd : Mnemonic::Vxorps;
  if (isMin) {
    ins(orM).def(d, bits).use(one, bits).use(two, bits);
    return;
  }
  VReg differ = newReg(i.type), joined = newReg(i.type);
  ins(xorM).def(differ, bits).use(one, bits).use(two, bits);
  ins(orM).def(joined, bits).use(one, bits).use(differ, bits);
  ins(choose(FORMS(Vsub), i.type)).def(d, bits).use(joined, bits).use(differ, bits);
}

void Selector::roundFloat(const ir::Inst& i) {
  unsigned bits = vbits(i.type);
  // Bits 0 and 1 the direction, bit 3: inexact results are not reported.
  int mode = i.op == Op::FFloor ? 9 : i.op == Op::FCeil ? 10 : i.op == Op::FTrunc ? 11 : 8;
  Mnemonic m = choose(level >= 2 ? FORMS(Vrndscale) : FORMS(Vround), i.type);
  if (i.type.isVector()) {
    Src s = source(arg(i, 0), true);
    ins(m).def(result(i), bits).src(s, bits).imm(mode);
    return;
  }
  VReg v = reg(arg(i, 0));
  ins(m).def(result(i), bits).use(v, bits).use(v, bits).imm(mode);
}

void Selector::intToFloat(const ir::Inst& i) {
  bool isDouble = i.type == ir::F64, isSigned = i.op == Op::SToF;
  ir::Type from = f.typeOf(arg(i, 0));
  VReg d = result(i);
  Mnemonic m = isDouble ? Mnemonic::Vcvtsi2sd : Mnemonic::Vcvtsi2ss;
  unsigned bits = from.bytes() == 8 ? 64 : 32;
  if (isSigned || from.bytes() < 8) {
    VReg v;
    if (from == ir::I1) {
      v = newInt();
      VReg narrow = reg(arg(i, 0));
      ins(Mnemonic::Movzx).def(v, 32).any(narrow, 8);
    } else if (from.bytes() < 4) {
      v = extend(arg(i, 0), isSigned);
    } else if (isSigned) {
      v = reg(arg(i, 0));
    } else {
      v = extend(arg(i, 0), false, 64);
      bits = 64;
    }
    VReg zero = zeroVec(16);
    ins(m).def(d, 128).use(zero, 128).any(v, bits);
    return;
  }
  VReg v = reg(arg(i, 0));
  if (level >= 2) {
    VReg zero = zeroVec(16);
    ins(isDouble ? Mnemonic::Vcvtusi2sd : Mnemonic::Vcvtusi2ss).def(d, 128).use(zero, 128).any(v, 64);
    return;
  }
  // From 2^63 on: half of it, with the lost bit kept so that rounding sees it, converted and doubled.
  VReg half = newInt(), low = newInt(), sticky = newInt(), chosen = newInt();
  VReg direct = newFloat(), doubled = newFloat(), zero = zeroVec(16);
  ins(Mnemonic::Shr).tied(half, v, 64).imm(1);
  ins(Mnemonic::And).tied(low, v, 64).imm(1);
  ins(Mnemonic::Or).tied(sticky, half, 64).any(low, 64);
  ins(Mnemonic::Test).use(v, 64).use(v, 64);
  ins(Mnemonic::Cmovcc).cond(Cond::Ns).tied(chosen, sticky, 64).any(v, 64);
  ins(m).def(direct, 128).use(zero, 128).use(chosen, 64);
  ins(isDouble ? Mnemonic::Vaddsd : Mnemonic::Vaddss).def(doubled, 128).use(direct, 128).use(direct, 128);
  ins(Mnemonic::Test).use(v, 64).use(v, 64);
  ins(PMoveIf).hiddenTied(d, direct).hidden(doubled).flags(Cond::S);
}

VReg Selector::truncated(VReg x, bool isDouble, VReg to, bool wide) {
  ins(isDouble ? Mnemonic::Vcvttsd2si : Mnemonic::Vcvttss2si).def(to, wide ? 64 : 32).use(x, 128);
  return to;
}

namespace {

uint64_t bitsOfPower(unsigned exponent, bool isDouble) {   // of 2^exponent
  return isDouble ? uint64_t(1023 + exponent) << 52 : uint64_t(127 + exponent) << 23;
}
uint64_t negative(uint64_t bits, bool isDouble) { return bits | (isDouble ? uint64_t(1) << 63 : uint64_t(1) << 31); }

}  // namespace

// The conversion to 64 bits answers the smallest integer for what it cannot hold; so does a comparison of the wide and
// the cut result find everything that a narrower type cannot hold. 64 bits themselves compare the float first; NaN
// compares as below.
void Selector::floatToInt(const ir::Inst& i) {
  bool isDouble = f.typeOf(arg(i, 0)) == ir::F64, isSigned = i.op == Op::FToST;
  VReg x = reg(arg(i, 0)), d = result(i);
  unsigned to = i.type.bytes() * 8, bytes = isDouble ? 8 : 4;
  Mnemonic compare = isDouble ? Mnemonic::Vucomisd : Mnemonic::Vucomiss;
  if (to < 64) {
    truncated(x, isDouble, d);
    VReg again = newInt();
    if (to == 32 && isSigned) ins(Mnemonic::Movsxd).def(again, 64).use(d, 32);
    else if (to == 32) ins(Mnemonic::Mov).def(again, 32).use(d, 32);
    else if (isSigned) ins(Mnemonic::Movsx).def(again, 64).use(d, to);
    else ins(Mnemonic::Movzx).def(again, 32).use(d, to);
    ins(Mnemonic::Cmp).use(again, 64).use(d, 64);
    return trapIf({Cond::Ne}, ir::TrapKind::Conversion);
  }
  if (isSigned) {
    ins(compare).use(x, 128).mem(constantAddr(negative(bitsOfPower(63, isDouble), isDouble), bytes), bytes * 8);
    trapIf({Cond::B}, ir::TrapKind::Conversion);
    ins(compare).use(x, 128).mem(constantAddr(bitsOfPower(63, isDouble), bytes), bytes * 8);
    trapIf({Cond::Ae}, ir::TrapKind::Conversion);
    truncated(x, isDouble, d);
    return;
  }
  ins(compare).use(x, 128).mem(constantAddr(negative(bitsOfPower(0, isDouble), isDouble), bytes), bytes * 8);
  trapIf({Cond::Be}, ir::TrapKind::Conversion);
  ins(compare).use(x, 128).mem(constantAddr(bitsOfPower(64, isDouble), bytes), bytes * 8);
  trapIf({Cond::Ae}, ir::TrapKind::Conversion);
  truncateUnsigned(x, isDouble, d);
}

// To 64 unsigned bits what lies in range: the upper half by way of the difference to 2^63.
void Selector::truncateUnsigned(VReg x, bool isDouble, VReg d) {
  unsigned bytes = isDouble ? 8 : 4;
  if (level >= 2) {
    ins(isDouble ? Mnemonic::Vcvttsd2usi : Mnemonic::Vcvttss2usi).def(d, 64).use(x, 128);
    return;
  }
  VReg less = newFloat(), low = newInt(), high = newInt(), sign = newInt(), part = newInt();
  truncated(x, isDouble, low);
  ins(isDouble ? Mnemonic::Vsubsd : Mnemonic::Vsubss).def(less, 128).use(x, 128)
      .mem(constantAddr(bitsOfPower(63, isDouble), bytes), bytes * 8);
  truncated(less, isDouble, high);
  ins(Mnemonic::Sar).tied(sign, low, 64).imm(63);
  ins(Mnemonic::And).tied(part, high, 64).any(sign, 64);
  ins(Mnemonic::Or).tied(d, low, 64).any(part, 64);
}

void Selector::floatToIntSaturating(const ir::Inst& i) {
  bool isDouble = f.typeOf(arg(i, 0)) == ir::F64, isSigned = i.op == Op::FToSSat;
  VReg x = reg(arg(i, 0)), d = result(i);
  unsigned to = i.type.bytes() * 8, bytes = isDouble ? 8 : 4;
  Mnemonic compare = isDouble ? Mnemonic::Vucomisd : Mnemonic::Vucomiss;
  int64_t high = to == 64 ? (isSigned ? int64_t(~uint64_t(0) >> 1) : -1) : (int64_t(1) << (isSigned ? to - 1 : to)) - 1;
  int64_t low = isSigned ? -high - 1 : 0;
  VReg most = intConst(high), r = newInt();
  if (to == 64 && !isSigned) {
    // MAX answers its second operand, 0, for NaN.
    VReg zero = zeroVec(16), positive = newFloat();
    ins(isDouble ? Mnemonic::Vmaxsd : Mnemonic::Vmaxss).def(positive, 128).use(x, 128).use(zero, 128);
    truncateUnsigned(positive, isDouble, r);
    ins(compare).use(x, 128).mem(constantAddr(bitsOfPower(64, isDouble), bytes), bytes * 8);
    ins(Mnemonic::Cmovcc).cond(Cond::Ae).tied(d, r, 64).any(most, 64);
    return;
  }
  truncated(x, isDouble, r);
  if (to < 64) {
    VReg least = intConst(low), capped = newInt(), inside = newInt();
    ins(Mnemonic::Cmp).use(r, 64).any(most, 64);
    ins(Mnemonic::Cmovcc).cond(Cond::G).tied(capped, r, 64).any(most, 64);
    ins(Mnemonic::Cmp).use(capped, 64).any(least, 64);
    ins(Mnemonic::Cmovcc).cond(Cond::L).tied(inside, capped, 64).any(least, 64);
    r = inside;
  }
  // What is too large for 64 bits has become the smallest integer, and so has NaN.
  VReg large = isSigned ? newInt() : d;
  VReg zero = isSigned ? intConst(0) : VReg();
  ins(compare).use(x, 128).mem(constantAddr(bitsOfPower(to == 64 ? 63 : 62, isDouble), bytes), bytes * 8);
  ins(Mnemonic::Cmovcc).cond(Cond::Ae).tied(large, r, 64).any(most, 64);
  if (!isSigned) return;
  ins(compare).use(x, 128).use(x, 128);
  ins(Mnemonic::Cmovcc).cond(Cond::P).tied(d, large, 64).any(zero, 64);
}

void Selector::bitcast(const ir::Inst& i) {
  ir::Type from = f.typeOf(arg(i, 0));
  VReg d = result(i), v = reg(arg(i, 0));
  bool toInt = classOf(i.type) == mir::RegClass::Int, fromInt = classOf(from) == mir::RegClass::Int;
  unsigned bytes = i.type.bytes();
  if (toInt == fromInt) {
    if (toInt || spillSize(from) == spillSize(i.type)) return move(d, v);
    ins(Mnemonic::Vmovaps).def(d, 128).use(v, 128);     // a scalar and a vector of its width: other spill sizes
    return;
  }
  if (bytes < 4) {             // vectors of two or more bytes
    if (toInt) ins(Mnemonic::Vmovd).def(d, 32).use(v, 128);
    else ins(Mnemonic::Vmovd).def(d, 128).use(v, 32);
    return;
  }
  Mnemonic m = bytes == 8 ? Mnemonic::Vmovq : Mnemonic::Vmovd;
  if (toInt) ins(m).def(d, bytes * 8).use(v, 128);
  else ins(m).def(d, 128).use(v, bytes * 8);
}

}  // namespace mica::x64
