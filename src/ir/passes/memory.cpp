// See memory.h.
#include "ir/passes/memory.h"

namespace mica::ir {

namespace {

// The slot behind a pointer, through any additions; none when there is none.
bool slotBehind(const Function& f, ValueId p, uint32_t& slot) {
  for (const Inst* d = defOf(f, p); d; d = defOf(f, f.arg(*d, 0))) {
    if (d->op == Op::SlotAddr) {
      slot = uint32_t(d->imm);
      return true;
    }
    if (d->op != Op::PAdd) return false;
  }
  return false;
}

int64_t plus(int64_t offset, int64_t more) { return int64_t(uint64_t(offset) + uint64_t(more)); }

// Is operand k of the instruction an address that it only reads from or writes to?
bool onlyAccesses(Op op, unsigned k) {
  switch (op) {
    case Op::Load: case Op::MemZero: case Op::Prefetch: case Op::PAdd: return k == 0;
    case Op::Store: return k == 1;
    case Op::MemCopy: return true;
    default: return false;
  }
}

// Addresses count modulo 2^64, so distances do, too.
bool overlap(const Access& a, const Access& b) {
  uint64_t fromA = uint64_t(b.offset) - uint64_t(a.offset);
  return fromA < a.size || 0 - fromA < b.size;
}

}  // namespace

Memory::Memory(const Module& m, const Function& f) : module(m), escaped(f.slots.size(), 0) {
  if (f.slots.empty()) return;
  auto leak = [&](ValueId v) {
    uint32_t slot;
    if (slotBehind(f, v, slot)) escaped[slot] = 1;
  };
  for (const Block& b : f.blocks)
    for (InstId id : b.insts) {
      const Inst& i = f.insts[id.index];
      for (unsigned k = 0; k < i.argCount; ++k)
        if (!onlyAccesses(i.op, k)) leak(f.arg(i, k));
      for (const Target& t : targetsOf(f, i))
        for (ValueId v : argsOf(f, t)) leak(v);
    }
}

Access Memory::access(const Function& f, ValueId pointer, int64_t offset, uint64_t size) const {
  Access a;
  a.size = size;
  a.offset = offset;
  a.direct = true;
  for (;;) {
    const Inst* d = defOf(f, pointer);
    int64_t c;
    if (d && d->op == Op::PAdd) {
      if (a.direct) {
        if (constantOf(f, f.arg(*d, 1), c)) {
          a.offset = plus(a.offset, c);
        } else {
          a.direct = false;
          a.pointer = pointer;
        }
      }
      pointer = f.arg(*d, 0);
    } else if (d && d->op == Op::SlotAddr) {
      a.root = Access::Slot;
      a.rootId = uint32_t(d->imm);
      return a;
    } else if (d && d->op == Op::SymAddr) {
      a.root = Access::Symbol;
      a.rootId = d->symbol.index;
      if (a.direct) a.offset = plus(a.offset, d->imm);
      return a;
    } else {
      if (a.direct) a.direct = false, a.pointer = pointer;
      return a;
    }
  }
}

bool Memory::mayOverlap(const Access& a, const Access& b) const {
  if (a.region != b.region && a.region != Region::Any && b.region != Region::Any) return false;
  if (!a.direct && !b.direct && a.pointer == b.pointer) return overlap(a, b);
  if (a.root == Access::Unknown || b.root == Access::Unknown) {
    const Access& known = a.root == Access::Unknown ? b : a;
    return known.root != Access::Slot || escaped[known.rootId];
  }
  if (a.root != b.root) return false;
  if (a.rootId != b.rootId) return a.root == Access::Symbol && (module.symbols[a.rootId].kind == SymbolKind::External || module.symbols[b.rootId].kind == SymbolKind::External);
  return !a.direct || !b.direct || overlap(a, b);
}

bool Memory::sharedWithCalls(const Access& a) const {
  if (a.root == Access::Slot) return escaped[a.rootId];
  if (a.root == Access::Symbol) {
    const Symbol& s = module.symbols[a.rootId];
    return s.kind != SymbolKind::Data || !module.data[s.index].readOnly;
  }
  return true;
}

bool Memory::safeToLoad(const Function& f, const Access& a) const {
  if (a.region == Region::Header && !a.direct && a.offset >= 0 && f.values[a.pointer.index].paramOf == BlockId(0)) return true;
  if (!a.direct || a.offset < 0) return false;
  uint64_t end = uint64_t(a.offset) + a.size;
  if (a.root == Access::Slot) return end <= f.slots[a.rootId].size;
  if (a.root != Access::Symbol || module.symbols[a.rootId].kind != SymbolKind::Data) return false;
  const Data& d = module.data[module.symbols[a.rootId].index];
  return end <= d.bytes.size() + d.zeros;
}

bool writes(const Memory& m, const Function& f, const Inst& i, Access& a) {
  switch (i.op) {
    case Op::Store:
      a = m.access(f, f.arg(i, 1), i.imm, i.type.bytes());
      a.region = i.region;
      return true;
    case Op::MemCopy: case Op::MemZero: a = m.access(f, f.arg(i, 0), 0, uint64_t(i.imm)); return true;
    default: return false;
  }
}

bool reads(const Memory& m, const Function& f, const Inst& i, Access& a) {
  switch (i.op) {
    case Op::Load:
      a = m.access(f, f.arg(i, 0), i.imm, i.type.bytes());
      a.region = i.region;
      return true;
    case Op::MemCopy: a = m.access(f, f.arg(i, 1), 0, uint64_t(i.imm)); return true;
    default: return false;
  }
}

}  // namespace mica::ir
