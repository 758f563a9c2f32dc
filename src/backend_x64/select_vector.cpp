// Selection of vector operations other than float arithmetic.
//
// At level 1 everything is VEX-encoded on sixteen registers and a mask is a vector. At level 2 registers 16 to 31 exist
// only in EVEX encodings, so nothing that is VEX only may be used there; comparisons write a mask register (k1), which
// the next instruction consumes. Vectors narrower than 16 bytes lie in the low part of a register; what is above them
// is undefined.
#include "backend_x64/select.h"

namespace mica::x64 {

using ir::Op;
using ir::TypeKind;
using ir::ValueId;

namespace {

// An operation for lanes of 1, 2, 4, 8 bytes.
struct ByLane { Mnemonic b, w, d, q; };
Mnemonic at(const ByLane& m, unsigned laneBytes) {
  return laneBytes == 1 ? m.b : laneBytes == 2 ? m.w : laneBytes == 4 ? m.d : m.q;
}

#define BYLANE(name) ByLane{Mnemonic::name##b, Mnemonic::name##w, Mnemonic::name##d, Mnemonic::name##q}

// The predicate of VCMPPS and its kin.
int floatPredicate(ir::Cond c) {
  switch (c) {
    case ir::Cond::Eq: return 0x00;
    case ir::Cond::Ne: return 0x04;
    case ir::Cond::Lt: return 0x11;
    case ir::Cond::Le: return 0x12;
    case ir::Cond::Gt: return 0x1e;
    case ir::Cond::Ge: return 0x1d;
    case ir::Cond::Nlt: return 0x15;
    case ir::Cond::Nle: return 0x16;
    case ir::Cond::Ngt: return 0x1a;
    case ir::Cond::Nge: return 0x19;
    default: internalError("x86-64 selection: an integer condition on float vectors");
  }
}

bool isUnsigned(ir::Cond c) { return c >= ir::Cond::Ult && c <= ir::Cond::Uge; }

// The predicate of VPCMPD and its kin.
int intPredicate(ir::Cond c) {
  switch (c) {
    case ir::Cond::Eq: return 0;
    case ir::Cond::Slt: case ir::Cond::Ult: return 1;
    case ir::Cond::Sle: case ir::Cond::Ule: return 2;
    case ir::Cond::Ne: return 4;
    case ir::Cond::Sge: case ir::Cond::Uge: return 5;
    default: return 6;
  }
}

uint64_t signBitOf(unsigned laneBytes) { return uint64_t(1) << (laneBytes * 8 - 1); }
uint64_t allOf(unsigned laneBytes) { return laneBytes == 8 ? ~uint64_t(0) : (uint64_t(1) << laneBytes * 8) - 1; }

}  // namespace

bool Selector::selectVector(const ir::Inst& i) {
  switch (i.op) {
    case Op::Splat: splat(i); return true;
    case Op::VLow: case Op::VHigh: case Op::VJoin: halves(i); return true;
    case Op::Lane: lane(i); return true;
    case Op::SetLane: setLane(i); return true;
    case Op::VZipLow: case Op::VZipHigh: zip(i); return true;
    case Op::VSelect: vectorSelect(i); return true;
    default: break;
  }
  if (!i.type.isVector()) return false;
  switch (i.op) {
    case Op::IConst: case Op::FConst: vectorConst(i); return true;
    case Op::IAdd: case Op::ISub: case Op::And: case Op::Or: case Op::Xor: vectorInt(i); return true;
    case Op::IMul: vectorMul(i); return true;
    case Op::Shl: case Op::ShrS: case Op::ShrU: vectorShift(i); return true;
    case Op::IMinS: case Op::IMaxS: vectorMinMax(i); return true;
    case Op::SExt:
    case Op::ZExt:
    case Op::Trunc:
    case Op::SToF:
    case Op::UToF:
    case Op::FToSSat:
    case Op::FExt:
    case Op::FCut: vectorConvert(i); return true;
    default: return false;
  }
}

// The same value in every lane, as a memory operand.
Src Selector::lanesConst(uint64_t value, unsigned laneBytes, unsigned bits) {
  Src s;
  s.kind = Src::Mem;
  value &= allOf(laneBytes);
  if (level >= 2 && laneBytes >= 4) {
    s.addr = constantAddr(value, laneBytes);
    s.copies = uint8_t(bits / 8 / laneBytes);
    s.memBits = uint16_t(laneBytes * 8);
  } else {
    s.addr = constantAddr(value, laneBytes, bits / 8 / laneBytes);
  }
  return s;
}

void Selector::onesInto(VReg v, unsigned bits) {
  if (level >= 2) ins(Mnemonic::Vpternlogd).def(v, bits).same(bits).same(bits).imm(0xff).remat();
  else ins(Mnemonic::Vpcmpeqd).def(v, bits).same(bits).same(bits).remat();
}

void Selector::vectorConst(const ir::Inst& i) {
  unsigned lane = i.type.laneBytes(), bits = vbits(i.type);
  VReg d = result(i);
  uint64_t value = uint64_t(i.imm) & allOf(lane);
  if (value == 0) {
    ins(Mnemonic::Vxorps).def(d, 128).same(128).same(128).remat();
  } else if (value == allOf(lane)) {
    onesInto(d, bits);
  } else {
    Mnemonic m = lane == 1     ? Mnemonic::Vpbroadcastb
                 : lane == 2   ? Mnemonic::Vpbroadcastw
                 : lane == 4   ? Mnemonic::Vbroadcastss
                 : bits == 128 ? Mnemonic::Vmovddup
                               : Mnemonic::Vbroadcastsd;
    ins(m).def(d, bits).mem(constantAddr(value, lane), lane * 8).remat();
  }
}

void Selector::vectorInt(const ir::Inst& i) {
  unsigned bits = vbits(i.type), lane = i.type.laneBytes();
  bool wide = lane == 8;
  Mnemonic m;
  switch (i.op) {
    case Op::IAdd: m = at(BYLANE(Vpadd), lane); break;
    case Op::ISub: m = at(BYLANE(Vpsub), lane); break;
    case Op::And: m = level < 2 ? Mnemonic::Vpand : wide ? Mnemonic::Vpandq : Mnemonic::Vpandd; break;
    case Op::Or: m = level < 2 ? Mnemonic::Vpor : wide ? Mnemonic::Vporq : Mnemonic::Vpord; break;
    default: m = level < 2 ? Mnemonic::Vpxor : wide ? Mnemonic::Vpxorq : Mnemonic::Vpxord;
  }
  ValueId a = arg(i, 0), b = arg(i, 1);
  if (i.op != Op::ISub && foldableLoad(a, i.type.bytes()) && !foldableLoad(b, i.type.bytes())) std::swap(a, b);
  Src right = source(b, true);
  VReg left = reg(a);
  ins(m).def(result(i), bits).use(left, bits).src(right, bits);
}

void Selector::vectorMul(const ir::Inst& i) {
  unsigned bits = vbits(i.type), lane = i.type.laneBytes(), bytes = bits / 8;
  VReg a = reg(arg(i, 0)), b = reg(arg(i, 1)), d = result(i);
  if (lane == 2 || lane == 4 || (lane == 8 && level >= 2)) {
    ins(lane == 2   ? Mnemonic::Vpmullw
        : lane == 4 ? Mnemonic::Vpmulld
                    : Mnemonic::Vpmullq)
        .def(d, bits)
        .use(a, bits)
        .use(b, bits);
    return;
  }
  auto fresh = [&] { return newVec(bytes); };
  Mnemonic orM = level >= 2 ? Mnemonic::Vpord : Mnemonic::Vpor, andM = level >= 2 ? Mnemonic::Vpandd : Mnemonic::Vpand;
  if (lane == 1) {                 // even and odd bytes as 16-bit lanes
    VReg even = fresh(), evenLow = fresh(), aHigh = fresh(), bHigh = fresh(), odd = fresh(), oddHigh = fresh();
    ins(Mnemonic::Vpmullw).def(even, bits).use(a, bits).use(b, bits);
    ins(andM)
        .def(evenLow, bits)
        .use(even, bits)
        .src(level >= 2 ? lanesConst(0x00ff00ff, 4, bits) : lanesConst(0x00ff, 2, bits), bits);
    ins(Mnemonic::Vpsrlw).def(aHigh, bits).use(a, bits).imm(8);
    ins(Mnemonic::Vpsrlw).def(bHigh, bits).use(b, bits).imm(8);
    ins(Mnemonic::Vpmullw).def(odd, bits).use(aHigh, bits).use(bHigh, bits);
    ins(Mnemonic::Vpsllw).def(oddHigh, bits).use(odd, bits).imm(8);
    ins(orM).def(d, bits).use(evenLow, bits).use(oddHigh, bits);
    return;
  }
  // (aHigh * bLow + aLow * bHigh) << 32, plus aLow * bLow
  VReg aHigh = fresh(), bHigh = fresh(), one = fresh(), two = fresh(), cross = fresh(), crossHigh = fresh(),
       low = fresh();
  ins(Mnemonic::Vpsrlq).def(aHigh, bits).use(a, bits).imm(32);
  ins(Mnemonic::Vpsrlq).def(bHigh, bits).use(b, bits).imm(32);
  ins(Mnemonic::Vpmuludq).def(one, bits).use(aHigh, bits).use(b, bits);
  ins(Mnemonic::Vpmuludq).def(two, bits).use(a, bits).use(bHigh, bits);
  ins(Mnemonic::Vpaddq).def(cross, bits).use(one, bits).use(two, bits);
  ins(Mnemonic::Vpsllq).def(crossHigh, bits).use(cross, bits).imm(32);
  ins(Mnemonic::Vpmuludq).def(low, bits).use(a, bits).use(b, bits);
  ins(Mnemonic::Vpaddq).def(d, bits).use(low, bits).use(crossHigh, bits);
}

// The shift counts, taken modulo the lane's width.
VReg Selector::maskedCount(const ir::Inst& i) {
  unsigned bits = vbits(i.type), lane = i.type.laneBytes();
  VReg count = reg(arg(i, 1)), masked = newVec(bits / 8);
  Mnemonic andM = level < 2 ? Mnemonic::Vpand : lane == 8 ? Mnemonic::Vpandq : Mnemonic::Vpandd;
  ins(andM).def(masked, bits).use(count, bits).src(lanesConst(lane * 8 - 1, lane, bits), bits);
  return masked;
}

void Selector::vectorShift(const ir::Inst& i) {
  unsigned bits = vbits(i.type), lane = i.type.laneBytes(), bytes = bits / 8;
  const ir::Inst* count = defOf(arg(i, 1));
  bool constant = count && count->op == Op::IConst;
  if (!constant && lane < 4) return laneByLane(i);
  VReg d = result(i);
  Mnemonic xorM = level < 2 ? Mnemonic::Vpxor : Mnemonic::Vpxord;
  bool emulated = i.op == Op::ShrS && (lane == 1 || (lane == 8 && level < 2));
  if (!constant) {
    VReg masked = maskedCount(i), v = reg(arg(i, 0));
    bool wide = lane == 8;
    if (!emulated) {
      Mnemonic m = i.op == Op::Shl    ? (wide ? Mnemonic::Vpsllvq : Mnemonic::Vpsllvd)
                   : i.op == Op::ShrU ? (wide ? Mnemonic::Vpsrlvq : Mnemonic::Vpsrlvd)
                                      : (wide ? Mnemonic::Vpsravq : Mnemonic::Vpsravd);
      ins(m).def(d, bits).use(v, bits).use(masked, bits);
      return;
    }
    // An arithmetic shift from a logical one: the sign bit, where it has come to lie, is flipped and subtracted.
    VReg signs = newVec(bytes), sign = newVec(bytes), shifted = newVec(bytes), flipped = newVec(bytes);
    ins(bits == 128 ? Mnemonic::Vmovddup : Mnemonic::Vbroadcastsd)
        .def(signs, bits)
        .mem(constantAddr(signBitOf(8), 8), 64)
        .remat();
    ins(Mnemonic::Vpsrlvq).def(sign, bits).use(signs, bits).use(masked, bits);
    ins(Mnemonic::Vpsrlvq).def(shifted, bits).use(v, bits).use(masked, bits);
    ins(xorM).def(flipped, bits).use(shifted, bits).use(sign, bits);
    ins(Mnemonic::Vpsubq).def(d, bits).use(flipped, bits).use(sign, bits);
    return;
  }
  unsigned c = unsigned(count->imm) & (lane * 8 - 1);
  VReg v = reg(arg(i, 0));
  if (c == 0) return move(d, v);
  if (!emulated && lane > 1) {
    Mnemonic m = i.op == Op::Shl ? at({Mnemonic::Vpsllw, Mnemonic::Vpsllw, Mnemonic::Vpslld, Mnemonic::Vpsllq}, lane)
                 : i.op == Op::ShrU
                     ? at({Mnemonic::Vpsrlw, Mnemonic::Vpsrlw, Mnemonic::Vpsrld, Mnemonic::Vpsrlq}, lane)
                     : at({Mnemonic::Vpsraw, Mnemonic::Vpsraw, Mnemonic::Vpsrad, Mnemonic::Vpsraq}, lane);
    ins(m).def(d, bits).use(v, bits).imm(c);
    return;
  }
  // Bytes are shifted as 16-bit lanes; what came over from the neighbour is cut off.
  VReg shifted = newVec(bytes), cut = shifted;
  bool left = i.op == Op::Shl;
  Mnemonic m = lane == 1 ? (left ? Mnemonic::Vpsllw : Mnemonic::Vpsrlw) : Mnemonic::Vpsrlq;
  ins(m).def(shifted, bits).use(v, bits).imm(c);
  if (lane == 1) {
    cut = i.op == Op::ShrS ? newVec(bytes) : d;
    uint64_t keep = left ? (0xffu << c) & 0xff : 0xffu >> c;
    Src mask = level >= 2 ? lanesConst(keep * 0x01010101u, 4, bits) : lanesConst(keep, 1, bits);
    ins(level >= 2 ? Mnemonic::Vpandd : Mnemonic::Vpand).def(cut, bits).use(shifted, bits).src(mask, bits);
  }
  if (i.op != Op::ShrS) return;
  uint64_t sign = signBitOf(lane) >> c;
  VReg signs = newVec(bytes), flipped = newVec(bytes);
  Mnemonic broadcast = lane == 1 ? Mnemonic::Vpbroadcastb : bits == 128 ? Mnemonic::Vmovddup : Mnemonic::Vbroadcastsd;
  ins(broadcast).def(signs, bits).mem(constantAddr(sign, lane), lane * 8).remat();
  ins(xorM).def(flipped, bits).use(cut, bits).use(signs, bits);
  ins(lane == 1 ? Mnemonic::Vpsubb : Mnemonic::Vpsubq).def(d, bits).use(flipped, bits).use(signs, bits);
}

void Selector::vectorMinMax(const ir::Inst& i) {
  unsigned bits = vbits(i.type), lane = i.type.laneBytes();
  bool isMin = i.op == Op::IMinS;
  VReg a = reg(arg(i, 0)), b = reg(arg(i, 1)), d = result(i);
  if (lane < 8 || level >= 2) {
    ins(isMin ? at(BYLANE(Vpmins), lane) : at(BYLANE(Vpmaxs), lane)).def(d, bits).use(a, bits).use(b, bits);
    return;
  }
  VReg greater = newVec(bits / 8);
  ins(Mnemonic::Vpcmpgtq).def(greater, bits).use(a, bits).use(b, bits);
  ins(Mnemonic::Vblendvpd).def(d, bits).use(isMin ? a : b, bits).use(isMin ? b : a, bits).use(greater, bits);
}

// Level 2: the comparison's lanes into k1.
void Selector::compareToMask(const ir::Inst& i) {
  unsigned bits = vbits(i.type), lane = i.type.laneBytes();
  Src right = source(arg(i, 1), true);
  VReg left = reg(arg(i, 0));
  Mnemonic m;
  int predicate;
  if (i.op == Op::FCmp) {
    m = lane == 8 ? Mnemonic::Vcmppd : Mnemonic::Vcmpps;
    predicate = floatPredicate(i.cond);
  } else {
    m = isUnsigned(i.cond) ? at(BYLANE(Vpcmpu), lane) : at(BYLANE(Vpcmp), lane);
    predicate = intPredicate(i.cond);
  }
  ins(m).phys(64 + 1, 64).use(left, bits).src(right, bits).imm(predicate);
}

void Selector::vectorCompare(const ir::Inst& i) {
  unsigned bits = vbits(i.type), lane = i.type.laneBytes(), bytes = bits / 8;
  VReg d = result(i);
  if (level >= 2) {
    compareToMask(i);
    ins(at(BYLANE(Vpmovm2), lane)).def(d, bits).phys(64 + 1, 64);
    return;
  }
  if (i.op == Op::FCmp) {
    Src right = source(arg(i, 1));
    VReg left = reg(arg(i, 0));
    ins(lane == 8 ? Mnemonic::Vcmppd : Mnemonic::Vcmpps)
        .def(d, bits)
        .use(left, bits)
        .src(right, bits)
        .imm(floatPredicate(i.cond));
    return;
  }
  // Only equal and signed greater exist: others swap sides, complement, or flip the sign bits first.
  VReg a = reg(arg(i, 0)), b = reg(arg(i, 1));
  bool swap = false, complement = false;
  switch (i.cond) {
    case ir::Cond::Eq: case ir::Cond::Sgt: case ir::Cond::Ugt: break;
    case ir::Cond::Ne: case ir::Cond::Sle: case ir::Cond::Ule: complement = true; break;
    case ir::Cond::Slt: case ir::Cond::Ult: swap = true; break;
    default: swap = complement = true;
  }
  if (swap) std::swap(a, b);
  if (isUnsigned(i.cond)) {
    VReg a2 = newVec(bytes), b2 = newVec(bytes);
    ins(Mnemonic::Vpxor).def(a2, bits).use(a, bits).src(lanesConst(signBitOf(lane), lane, bits), bits);
    ins(Mnemonic::Vpxor).def(b2, bits).use(b, bits).src(lanesConst(signBitOf(lane), lane, bits), bits);
    a = a2;
    b = b2;
  }
  bool equal = i.cond == ir::Cond::Eq || i.cond == ir::Cond::Ne;
  VReg found = complement ? newVec(bytes) : d;
  ins(equal ? at(BYLANE(Vpcmpeq), lane) : at(BYLANE(Vpcmpgt), lane)).def(found, bits).use(a, bits).use(b, bits);
  if (!complement) return;
  VReg ones = newVec(bytes);
  onesInto(ones, bits);
  ins(Mnemonic::Vpxor).def(d, bits).use(found, bits).use(ones, bits);
}

void Selector::vectorSelect(const ir::Inst& i) {
  unsigned bits = vbits(i.type), lane = i.type.laneBytes();
  VReg d = result(i);
  ValueId m = arg(i, 0);
  if (level < 2) {
    VReg mask = reg(m), no = reg(arg(i, 2));
    Src yes = source(arg(i, 1));
    ins(lane == 4 ? Mnemonic::Vblendvps : lane == 8 ? Mnemonic::Vblendvpd : Mnemonic::Vpblendvb)
        .def(d, bits).use(no, bits).src(yes, bits).use(mask, bits);
    return;
  }
  VReg yes = reg(arg(i, 1)), no = reg(arg(i, 2));
  const ir::Inst* c = defHere(m);
  if (c && uses[m.index] == 1 && (c->op == Op::FCmp || c->op == Op::ICmp) && c->type.laneBytes() == lane) {
    compareToMask(*c);
  } else {
    VReg mask = reg(m);
    Mnemonic toMask = lane == 1   ? Mnemonic::Vpmovb2m
                      : lane == 2 ? Mnemonic::Vpmovw2m
                      : lane == 4 ? Mnemonic::Vpmovd2m
                                  : Mnemonic::Vpmovq2m;
    ins(toMask).phys(64 + 1, 64).use(mask, bits);
  }
  if (lane >= 4)
    ins(lane == 4 ? Mnemonic::Vpblendmd : Mnemonic::Vpblendmq).def(d, bits).use(no, bits).use(yes, bits).mask(1);
  else ins(lane == 1 ? Mnemonic::Vmovdqu8 : Mnemonic::Vmovdqu16).tied(d, no, bits).use(yes, bits).mask(1);
}

void Selector::splat(const ir::Inst& i) {
  unsigned bits = vbits(i.type), lane = i.type.laneBytes();
  ValueId a = arg(i, 0);
  VReg d = result(i);
  Mnemonic m = lane == 1     ? Mnemonic::Vpbroadcastb
               : lane == 2   ? Mnemonic::Vpbroadcastw
               : lane == 4   ? Mnemonic::Vbroadcastss
               : bits == 128 ? Mnemonic::Vmovddup
                             : Mnemonic::Vbroadcastsd;
  int64_t c;
  if (foldableLoad(a, lane)) {
    const ir::Inst* l = defOf(origin(a));
    ins(m).def(d, bits).mem(address(arg(*l, 0), l->imm), lane * 8);
  } else if (const ir::Inst* k = defOf(a); k && k->op == Op::FConst) {
    if (k->imm == 0) ins(Mnemonic::Vxorps).def(d, 128).same(128).same(128).remat();
    else ins(m).def(d, bits).mem(constantAddr(uint64_t(k->imm) & allOf(lane), lane), lane * 8).remat();
  } else if (i.type.isFloat()) {
    VReg v = reg(a);
    ins(m).def(d, bits).any(v, 128, lane * 8);
  } else if (isConst(a, c)) {
    if (c == 0) ins(Mnemonic::Vxorps).def(d, 128).same(128).same(128).remat();
    else ins(m).def(d, bits).mem(constantAddr(uint64_t(c) & allOf(lane), lane), lane * 8).remat();
  } else {
    VReg v = reg(a), moved = newVec();
    ins(lane == 8 ? Mnemonic::Vmovq : Mnemonic::Vmovd).def(moved, 128).use(v, lane == 8 ? 64 : 32);
    ins(lane == 4 ? Mnemonic::Vpbroadcastd : lane == 8 ? Mnemonic::Vpbroadcastq : m).def(d, bits).use(moved, 128);
  }
}

void Selector::halves(const ir::Inst& i) {
  VReg d = result(i);
  unsigned bytes = i.type.bytes();
  if (i.op == Op::VLow) return move(d, reg(arg(i, 0)));      // the register's lower part
  if (i.op == Op::VHigh) {
    VReg v = reg(arg(i, 0));
    if (bytes == 32) ins(Mnemonic::Vextractf64x4).def(d, 256).use(v, 512).imm(1);
    else if (bytes == 16)
      ins(level >= 2 ? Mnemonic::Vextractf32x4 : Mnemonic::Vextractf128).def(d, 128).use(v, 256).imm(1);
    else ins(Mnemonic::Vpsrldq).def(d, 128).use(v, 128).imm(bytes);
    return;
  }
  ir::Type half = f.typeOf(arg(i, 0));
  VReg low = reg(arg(i, 0)), high = reg(arg(i, 1));
  unsigned h = half.bytes();
  if (classOf(half) == mir::RegClass::Int) {                 // two integers from general registers
    VReg first = newVec();
    ins(h == 8 ? Mnemonic::Vmovq : Mnemonic::Vmovd).def(first, 128).use(low, h == 8 ? 64 : 32);
    Mnemonic insert = h == 1   ? Mnemonic::Vpinsrb
                      : h == 2 ? Mnemonic::Vpinsrw
                      : h == 4 ? Mnemonic::Vpinsrd
                               : Mnemonic::Vpinsrq;
    ins(insert).def(d, 128).use(first, 128).use(high, h == 8 ? 64 : 32).imm(1);
    return;
  }
  if (h == 32) ins(Mnemonic::Vinsertf64x4).def(d, 512).use(low, 512).use(high, 256).imm(1);
  else if (h == 16)
    ins(level >= 2 ? Mnemonic::Vinsertf32x4 : Mnemonic::Vinsertf128).def(d, 256).use(low, 256).use(high, 128).imm(1);
  else
    ins(h == 8   ? Mnemonic::Vpunpcklqdq
        : h == 4 ? Mnemonic::Vpunpckldq
                 : Mnemonic::Vpunpcklwd)
        .def(d, 128)
        .use(low, 128)
        .use(high, 128);
}

// The 16 bytes of a vector with the given number, at the bottom of a register.
VReg Selector::chunkOf(VReg v, ir::Type t, unsigned chunk) {
  if (chunk == 0) return v;
  VReg d = newVec();
  if (t.bytes() == 64) ins(Mnemonic::Vextractf32x4).def(d, 128).use(v, 512).imm(chunk);
  else ins(level >= 2 ? Mnemonic::Vextractf32x4 : Mnemonic::Vextractf128).def(d, 128).use(v, 256).imm(chunk);
  return d;
}

void Selector::lane(const ir::Inst& i) {
  ir::Type t = f.typeOf(arg(i, 0));
  unsigned n = t.laneBytes(), at = unsigned(i.imm) * n % 16 / n;
  VReg d = result(i), v = chunkOf(reg(arg(i, 0)), t, unsigned(i.imm) * n / 16);
  if (t.isFloat()) {
    if (at == 0) ins(Mnemonic::Vmovaps).def(d, 128).use(v, 128);
    else if (n == 4) ins(Mnemonic::Vpermilps).def(d, 128).use(v, 128).imm(at);
    else ins(Mnemonic::Vpermilpd).def(d, 128).use(v, 128).imm(1);
    return;
  }
  if (n == 8 && at == 0) ins(Mnemonic::Vmovq).def(d, 64).use(v, 128);
  else if (n == 4 && at == 0) ins(Mnemonic::Vmovd).def(d, 32).use(v, 128);
  else ins(n == 1 ? Mnemonic::Vpextrb : n == 2 ? Mnemonic::Vpextrw : n == 4 ? Mnemonic::Vpextrd : Mnemonic::Vpextrq)
           .def(d, n == 8 ? 64 : 32).use(v, 128).imm(at);
}

void Selector::setLane(const ir::Inst& i) {
  unsigned n = i.type.laneBytes(), chunk = unsigned(i.imm) * n / 16, at = unsigned(i.imm) * n % 16 / n,
           bytes = i.type.bytes();
  VReg d = result(i), whole = reg(arg(i, 0)), x = reg(arg(i, 1));
  VReg v = chunkOf(whole, i.type, chunk), changed = bytes > 16 ? newVec() : d;
  if (i.type.isFloat()) {
    if (n == 4) ins(Mnemonic::Vinsertps).def(changed, 128).use(v, 128).use(x, 128).imm(at << 4);
    else if (at == 0) ins(Mnemonic::Vmovsd).def(changed, 128).use(v, 128).use(x, 128);
    else ins(Mnemonic::Vunpcklpd).def(changed, 128).use(v, 128).use(x, 128);
  } else {
    ins(n == 1 ? Mnemonic::Vpinsrb : n == 2 ? Mnemonic::Vpinsrw : n == 4 ? Mnemonic::Vpinsrd : Mnemonic::Vpinsrq)
        .def(changed, 128).use(v, 128).use(x, n == 8 ? 64 : 32).imm(at);
  }
  if (bytes <= 16) return;
  Mnemonic insert = bytes == 64 || level >= 2 ? Mnemonic::Vinsertf32x4 : Mnemonic::Vinsertf128;
  ins(insert).def(d, bytes * 8).use(whole, bytes * 8).use(changed, 128).imm(chunk);
}

// a0 b0 a1 b1 …: the unpacking instructions do that within each 16 bytes; wider vectors put the pieces in order
// afterwards.
void Selector::zip(const ir::Inst& i) {
  unsigned n = i.type.laneBytes(), bytes = i.type.bytes();
  bool high = i.op == Op::VZipHigh;
  VReg a = reg(arg(i, 0)), b = reg(arg(i, 1)), d = result(i);
  const ByLane lowM{Mnemonic::Vpunpcklbw, Mnemonic::Vpunpcklwd, Mnemonic::Vpunpckldq, Mnemonic::Vpunpcklqdq};
  const ByLane highM{Mnemonic::Vpunpckhbw, Mnemonic::Vpunpckhwd, Mnemonic::Vpunpckhdq, Mnemonic::Vpunpckhqdq};
  if (bytes == 16) {
    ins(high ? x64::at(highM, n) : x64::at(lowM, n)).def(d, 128).use(a, 128).use(b, 128);
    return;
  }
  if (bytes < 16) {
    VReg both = high ? newVec() : d;
    ins(x64::at(lowM, n)).def(both, 128).use(a, 128).use(b, 128);
    if (high) ins(Mnemonic::Vpsrldq).def(d, 128).use(both, 128).imm(bytes);
    return;
  }
  if (bytes == 64 && n >= 4) {
    std::string pattern;
    for (unsigned k = 0; k < 64 / n; ++k) {
      unsigned from = k / 2 + (high ? 32 / n : 0) + (k % 2 ? 64 / n : 0);
      for (unsigned byte = 0; byte < n; ++byte) pattern.push_back(byte == 0 ? char(from) : 0);
    }
    VReg index = newVec(64);
    ins(Mnemonic::Vmovups).def(index, 512).mem(constantAddr(pattern), 512).remat();
    ins(n == 4 ? Mnemonic::Vpermi2ps : Mnemonic::Vpermi2pd).tied(d, index, 512).use(a, 512).use(b, 512);
    return;
  }
  unsigned bits = bytes * 8;
  VReg lows = newVec(bytes), highs = newVec(bytes);
  ins(x64::at(lowM, n)).def(lows, bits).use(a, bits).use(b, bits);
  ins(x64::at(highM, n)).def(highs, bits).use(a, bits).use(b, bits);
  if (bytes == 32 && level < 2) {
    ins(Mnemonic::Vperm2i128).def(d, 256).use(lows, 256).use(highs, 256).imm(high ? 0x31 : 0x20);
  } else if (bytes == 32) {
    ins(Mnemonic::Vshufi64x2).def(d, 256).use(lows, 256).use(highs, 256).imm(high ? 3 : 0);
  } else {
    std::string pattern;
    for (unsigned q : {0u, 1u, 8u, 9u, 2u, 3u, 10u, 11u}) {
      pattern.push_back(char(q + (high ? 4 : 0)));
      pattern.append(7, 0);
    }
    VReg index = newVec(64);
    ins(Mnemonic::Vmovups).def(index, 512).mem(constantAddr(pattern), 512).remat();
    ins(Mnemonic::Vpermi2pd).tied(d, index, 512).use(lows, 512).use(highs, 512);
  }
}

// A byte shuffle that gathers the low parts of a vector's lanes at the bottom of each 16 bytes.
Addr Selector::patternAddr(ir::Type from, unsigned toLane) {
  std::string pattern;
  for (unsigned k = 0; k < 16 / from.laneBytes(); ++k)
    for (unsigned byte = 0; byte < toLane; ++byte) pattern.push_back(char(k * from.laneBytes() + byte));
  pattern.resize(16, char(0x80));
  return constantAddr(pattern);
}

void Selector::vectorConvert(const ir::Inst& i) {
  ir::Type from = f.typeOf(arg(i, 0));
  unsigned fromBits = vbits(from), bits = vbits(i.type), n = i.type.laneBytes(), m = from.laneBytes();
  VReg d = result(i);
  auto one = [&](Mnemonic op, unsigned toBits, unsigned sourceBits) {
    VReg v = reg(arg(i, 0));
    ins(op).def(d, toBits).use(v, sourceBits);
  };
  switch (i.op) {
    case Op::SExt: case Op::ZExt: {
      bool s = i.op == Op::SExt;
      Mnemonic op = m == 1   ? (n == 2   ? (s ? Mnemonic::Vpmovsxbw : Mnemonic::Vpmovzxbw)
                                : n == 4 ? (s ? Mnemonic::Vpmovsxbd : Mnemonic::Vpmovzxbd)
                                         : (s ? Mnemonic::Vpmovsxbq : Mnemonic::Vpmovzxbq))
                    : m == 2 ? (n == 4 ? (s ? Mnemonic::Vpmovsxwd : Mnemonic::Vpmovzxwd)
                                       : (s ? Mnemonic::Vpmovsxwq : Mnemonic::Vpmovzxwq))
                             : (s ? Mnemonic::Vpmovsxdq : Mnemonic::Vpmovzxdq);
      return one(op, bits, fromBits);
    }
    case Op::FExt: return one(Mnemonic::Vcvtps2pd, bits, fromBits);
    case Op::FCut: return one(Mnemonic::Vcvtpd2ps, bits, fromBits);
    case Op::SToF:
      if (m == 4 && n == 4) return one(Mnemonic::Vcvtdq2ps, bits, fromBits);
      if (m == 4 && n == 8) return one(Mnemonic::Vcvtdq2pd, bits, fromBits);
      if (m == 8 && level >= 2) return one(n == 8 ? Mnemonic::Vcvtqq2pd : Mnemonic::Vcvtqq2ps, bits, fromBits);
      return laneByLane(i);
    case Op::UToF: return laneByLane(i);
    case Op::Trunc: break;
    default: return saturateVector(i);
  }
  if (level >= 2) {
    Mnemonic op = m == 2 ? Mnemonic::Vpmovwb : m == 4 ? (n == 1 ? Mnemonic::Vpmovdb : Mnemonic::Vpmovdw)
                  : n == 1 ? Mnemonic::Vpmovqb : n == 2 ? Mnemonic::Vpmovqw : Mnemonic::Vpmovqd;
    return one(op, bits, fromBits);
  }
  VReg v = reg(arg(i, 0));
  if (from.bytes() <= 16) {
    ins(Mnemonic::Vpshufb).def(d, 128).use(v, 128).mem(patternAddr(from, n), 128);
    return;
  }
  VReg high = chunkOf(v, from, 1), lowPart = newVec(), highPart = newVec();
  ins(Mnemonic::Vpshufb).def(lowPart, 128).use(v, 128).mem(patternAddr(from, n), 128);
  ins(Mnemonic::Vpshufb).def(highPart, 128).use(high, 128).mem(patternAddr(from, n), 128);
  unsigned part = 16 / m * n;
  ins(part == 8 ? Mnemonic::Vpunpcklqdq : part == 4 ? Mnemonic::Vpunpckldq : Mnemonic::Vpunpcklwd)
      .def(d, 128).use(lowPart, 128).use(highPart, 128);
}

// Floats to 32-bit integers: NaN made 0 first. What is too small becomes the smallest integer by itself; doubles that
// are too large are capped before, singles (whose 2^31 - 1 is no float) corrected after.
void Selector::saturateVector(const ir::Inst& i) {
  ir::Type from = f.typeOf(arg(i, 0));
  bool isDouble = from.kind == TypeKind::F64;
  unsigned bits = vbits(from), bytes = bits / 8, to = vbits(i.type);
  if (i.type.laneBytes() != 4) return laneByLane(i);
  VReg v = reg(arg(i, 0)), number = newVec(bytes), d = result(i);
  Mnemonic compare = isDouble ? Mnemonic::Vcmppd : Mnemonic::Vcmpps;
  constexpr int Ordered = 7, GreaterEqual = 0x1d;
  if (level >= 2) {
    ins(compare).phys(64 + 1, 64).use(v, bits).use(v, bits).imm(Ordered);
    ins(isDouble ? Mnemonic::Vmovapd : Mnemonic::Vmovaps).def(number, bits).use(v, bits).mask(1, true);
  } else {
    VReg ordered = newVec(bytes);
    ins(compare).def(ordered, bits).use(v, bits).use(v, bits).imm(Ordered);
    ins(Mnemonic::Vandps).def(number, bits).use(v, bits).use(ordered, bits);
  }
  if (isDouble) {
    VReg capped = newVec(bytes);
    ins(Mnemonic::Vminpd).def(capped, bits).use(number, bits).src(lanesConst(0x41dfffffffc00000, 8, bits), bits);
    ins(Mnemonic::Vcvttpd2dq).def(d, to).use(capped, bits);
    return;
  }
  VReg cut = newVec(bytes);
  ins(Mnemonic::Vcvttps2dq).def(cut, bits).use(number, bits);
  if (level >= 2) {
    ins(compare).phys(64 + 1, 64).use(number, bits).src(lanesConst(0x4f000000, 4, bits), bits).imm(GreaterEqual);
    ins(Mnemonic::Vpblendmd).def(d, bits).use(cut, bits).src(lanesConst(0x7fffffff, 4, bits), bits).mask(1);
  } else {
    VReg large = newVec(bytes);
    ins(compare).def(large, bits).use(number, bits).src(lanesConst(0x4f000000, 4, bits), bits).imm(GreaterEqual);
    ins(Mnemonic::Vpxor).def(d, bits).use(cut, bits).use(large, bits);
  }
}

// Operations without an instruction: the vectors go to the stack and each lane is computed by itself.
void Selector::laneByLane(const ir::Inst& i) {
  ir::Type from = f.typeOf(arg(i, 0));
  unsigned m = from.laneBytes(), n = i.type.laneBytes();
  bool isShift = i.op == Op::Shl || i.op == Op::ShrS || i.op == Op::ShrU;
  if (!isShift && !(i.op == Op::SToF || (i.op == Op::UToF && m == 4))) refuse(i, "no such vector operation");
  auto lane = [](Addr a, unsigned k, unsigned bytes) { a.disp += int32_t(k * bytes); return a; };
  Addr value = slotAddr(64, 16), count = isShift ? slotAddr(64, 16) : Addr(), out = slotAddr(64, 16);
  storeFrom(reg(arg(i, 0)), from, value);
  if (isShift) storeFrom(reg(arg(i, 1)), from, count);
  for (unsigned k = 0; k < i.type.lanes; ++k) {
    if (isShift) {
      VReg x = newInt(), c = newInt(), masked = newInt(), shifted = newInt();
      ins(i.op == Op::ShrS ? Mnemonic::Movsx : Mnemonic::Movzx).def(x, 32).mem(lane(value, k, m), m * 8);
      ins(Mnemonic::Movzx).def(c, 32).mem(lane(count, k, m), m * 8);
      ins(Mnemonic::And).tied(masked, c, 32).imm(m * 8 - 1);
      ins(i.op == Op::Shl    ? Mnemonic::Shlx
          : i.op == Op::ShrS ? Mnemonic::Sarx
                             : Mnemonic::Shrx)
          .def(shifted, 32)
          .use(x, 32)
          .use(masked, 32);
      storeFrom(shifted, i.type.lane(), lane(out, k, n));
    } else {
      VReg x = newInt(), converted = newFloat(), zero = zeroVec(16);
      bool wide = m == 8 || i.op == Op::UToF;
      if (m == 8) ins(Mnemonic::Mov).def(x, 64).mem(lane(value, k, m), 64);
      else ins(Mnemonic::Mov).def(x, 32).mem(lane(value, k, m), 32);
      ins(n == 8 ? Mnemonic::Vcvtsi2sd : Mnemonic::Vcvtsi2ss).def(converted, 128).use(zero, 128).use(x, wide ? 64 : 32);
      storeFrom(converted, i.type.lane(), lane(out, k, n));
    }
  }
  loadInto(result(i), i.type, out);
}

}  // namespace mica::x64
