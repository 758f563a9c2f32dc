// Selection of loads, stores, block copies and atomics.
#include <algorithm>

#include "backend_x64/select.h"

namespace mica::x64 {

using ir::Op;
using ir::TypeKind;
using ir::ValueId;

namespace {
constexpr unsigned LongestInline = 256;    // bytes copied or cleared by plain moves
}

bool Selector::selectMemory(const ir::Inst& i) {
  switch (i.op) {
    case Op::Load: load(i); return true;
    case Op::Store: store(i); return true;
    case Op::MemCopy: copyBlock(i); return true;
    case Op::MemZero: zeroBlock(i); return true;
    case Op::Prefetch: {
      Addr a = address(arg(i, 0), i.imm);
      ins(Mnemonic::Prefetcht0).mem(a, 0);
      return true;
    }
    case Op::ALoad: load(i); return true;
    case Op::AStore: case Op::AAdd: case Op::ASwap: case Op::ACas: atomic(i); return true;
    case Op::Fence: ins(Mnemonic::Mfence); return true;
    case Op::Pause: ins(Mnemonic::Pause); return true;
    default: return false;
  }
}

void Selector::load(const ir::Inst& i) {
  Addr a = address(arg(i, 0), i.imm);
  loadInto(result(i), i.type, a);
}

void Selector::loadInto(VReg d, ir::Type t, const Addr& a) {
  unsigned bytes = t.bytes();
  if (classOf(t) == mir::RegClass::Int) {
    if (bytes <= 2) ins(Mnemonic::Movzx).def(d, 32).mem(a, bytes * 8);
    else ins(Mnemonic::Mov).def(d, bytes * 8).mem(a, bytes * 8);
    return;
  }
  if (bytes == 2) {
    VReg r = newInt();
    ins(Mnemonic::Movzx).def(r, 32).mem(a, 16);
    ins(Mnemonic::Vmovd).def(d, 128).use(r, 32);
  } else if (bytes == 4) {
    ins(Mnemonic::Vmovss).def(d, 128).mem(a, 32);
  } else if (bytes == 8) {
    ins(Mnemonic::Vmovsd).def(d, 128).mem(a, 64);
  } else {
    ins(Mnemonic::Vmovups).def(d, bytes * 8).mem(a, bytes * 8);
  }
}

void Selector::storeFrom(VReg v, ir::Type t, const Addr& a) {
  unsigned bytes = t.bytes();
  if (classOf(t) == mir::RegClass::Int) {
    ins(Mnemonic::Mov).mem(a, bytes * 8).use(v, bytes * 8);
  } else if (bytes == 2) {
    VReg r = newInt();
    ins(Mnemonic::Vmovd).def(r, 32).use(v, 128);
    ins(Mnemonic::Mov).mem(a, 16).use(r, 16);
  } else if (bytes <= 8) {
    ins(bytes == 4 ? Mnemonic::Vmovss : Mnemonic::Vmovsd).mem(a, bytes * 8).use(v, 128);
  } else {
    ins(Mnemonic::Vmovups).mem(a, bytes * 8).use(v, bytes * 8);
  }
}

// x[i] := x[i] op y, as one instruction on memory.
bool Selector::updateInPlace(const ir::Inst& i) {
  ValueId v = arg(i, 0);
  const ir::Inst* d = defHere(v);
  if (!d || v != origin(v) || uses[v.index] != 1 || i.type.isVector() || i.type == ir::I1) return false;
  Mnemonic m;
  switch (d->op) {
    case Op::IAdd: m = Mnemonic::Add; break;
    case Op::ISub: m = Mnemonic::Sub; break;
    case Op::And: m = Mnemonic::And; break;
    case Op::Or: m = Mnemonic::Or; break;
    case Op::Xor: m = Mnemonic::Xor; break;
    default: return false;
  }
  unsigned bits = i.type.bytes() * 8;
  for (unsigned side : {0u, 1u}) {
    if (side == 1 && d->op == Op::ISub) break;
    ValueId loaded = arg(*d, side);
    const ir::Inst* l = defHere(loaded);
    if (!l || l->op != Op::Load || l->type != i.type || uses[loaded.index] != 1 || epochOf[loaded.index] != epochNow)
      continue;
    if (l->imm != i.imm || arg(*l, 0) != arg(i, 1)) continue;
    Src other;
    if (isImm32(arg(*d, 1 - side), other.imm)) other.kind = Src::Imm;
    else other.reg = reg(arg(*d, 1 - side));
    Addr a = address(arg(i, 1), i.imm);
    Build b = ins(m);
    b.mem(a, bits);
    if (other.kind == Src::Imm) b.imm(other.imm);
    else b.use(other.reg, bits);
    return true;
  }
  return false;
}

void Selector::store(const ir::Inst& i) {
  if (updateInPlace(i)) return;
  int64_t c;
  if (i.type != ir::I1 && isImm32(arg(i, 0), c)) {
    Addr a = address(arg(i, 1), i.imm);
    ins(Mnemonic::Mov).mem(a, i.type.bytes() * 8).imm(c);
    return;
  }
  const ir::Inst* d = defOf(arg(i, 0));
  if (d && d->op == Op::FConst && !i.type.isVector() && (i.type == ir::F32 || d->imm == 0)) {
    Addr a = address(arg(i, 1), i.imm);
    ins(Mnemonic::Mov).mem(a, i.type.bytes() * 8).imm(int32_t(uint32_t(d->imm)));
    return;
  }
  VReg v = reg(arg(i, 0));
  Addr a = address(arg(i, 1), i.imm);
  storeFrom(v, i.type, a);
}

namespace {

// The pieces that a block is copied in: the widest first, the last one reaching back over its predecessor where that
// saves pieces.
struct Piece { unsigned at, bytes; };

std::vector<Piece> piecesOf(unsigned bytes, unsigned widest) {
  std::vector<Piece> pieces;
  unsigned at = 0;
  for (unsigned w = widest; at < bytes;) {
    while (w > bytes - at) {
      bool reachBack = at > 0 && bytes >= w && w <= 16 && bytes - at != w / 2 && bytes - at != w / 4;
      if (reachBack) {
        pieces.push_back({bytes - w, w});
        return pieces;
      }
      w /= 2;
    }
    pieces.push_back({at, w});
    at += w;
  }
  return pieces;
}

ir::Type pieceType(unsigned bytes) {
  switch (bytes) {
    case 1: return ir::I8;
    case 2: return ir::I16;
    case 4: return ir::I32;
    case 8: return ir::I64;
    default: return ir::I8.withLanes(bytes);
  }
}

}  // namespace

// The blocks are equal or apart. All pieces of a group are loaded before they are stored, so a piece that reaches back
// reads old bytes.
void Selector::copyBlock(const ir::Inst& i) {
  unsigned bytes = unsigned(i.imm);
  if (i.imm == 0) return;
  if (uint64_t(i.imm) > LongestInline) {
    VReg to = reg(arg(i, 0)), from = reg(arg(i, 1)), count = intConst(i.imm);
    ins(Mnemonic::RepMovsb).useIn(Rdi, to).useIn(Rsi, from).useIn(Rcx, count)
        .clobber(mir::bit(Rdi) | mir::bit(Rsi) | mir::bit(Rcx));
    return;
  }
  Addr to = address(arg(i, 0), 0), from = address(arg(i, 1), 0);
  std::vector<Piece> pieces = piecesOf(bytes, 32);
  for (size_t first = 0; first < pieces.size(); first += 4) {
    size_t last = std::min(first + 4, pieces.size());
    std::vector<VReg> values;
    for (size_t k = first; k < last; ++k) {
      ir::Type t = pieceType(pieces[k].bytes);
      Addr a = from;
      a.disp += int32_t(pieces[k].at);
      values.push_back(newReg(t));
      loadInto(values.back(), t, a);
    }
    for (size_t k = first; k < last; ++k) {
      Addr a = to;
      a.disp += int32_t(pieces[k].at);
      storeFrom(values[k - first], pieceType(pieces[k].bytes), a);
    }
  }
}

void Selector::zeroBlock(const ir::Inst& i) {
  unsigned bytes = unsigned(i.imm);
  if (i.imm == 0) return;
  if (uint64_t(i.imm) > LongestInline) {
    VReg to = reg(arg(i, 0)), count = intConst(i.imm), zero = intConst(0);
    ins(Mnemonic::RepStosb).useIn(Rdi, to).useIn(Rcx, count).useIn(Rax, zero).clobber(mir::bit(Rdi) | mir::bit(Rcx));
    return;
  }
  Addr to = address(arg(i, 0), 0);
  VReg zero = bytes >= 16 ? zeroVec(32) : VReg();
  for (const Piece& p : piecesOf(bytes, 32)) {
    Addr a = to;
    a.disp += int32_t(p.at);
    if (p.bytes >= 16) storeFrom(zero, pieceType(p.bytes), a);
    else ins(Mnemonic::Mov).mem(a, p.bytes * 8).imm(0);
  }
}

// Loads are sequentially consistent as they are; stores become exchanges.
void Selector::atomic(const ir::Inst& i) {
  unsigned bits = i.type.bytes() * 8;
  if (i.op == Op::ACas) {
    VReg expected = reg(arg(i, 0)), desired = reg(arg(i, 1));
    Addr a = address(arg(i, 2), i.imm);
    ins(Mnemonic::Cmpxchg).mem(a, bits).use(desired, bits).useIn(Rax, expected).defIn(Rax, result(i)).lock();
    return;
  }
  VReg v = reg(arg(i, 0));
  Addr a = address(arg(i, 1), i.imm);
  VReg d = i.result ? result(i) : newInt();
  bool adds = i.op == Op::AAdd;
  Build b = ins(adds ? Mnemonic::Xadd : Mnemonic::Xchg);
  b.mem(a, bits).tied(d, v, bits);
  if (adds) b.lock();
}

}  // namespace mica::x64
