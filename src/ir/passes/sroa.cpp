// sroa: cuts the slot of an aggregate into slots of its parts, so that mem2reg can make values of them.
//
// A slot can be cut when its address goes nowhere but into loads, stores, copies and zeroings at constant offsets. Each access wants
// cuts at its ends and forbids cuts inside; copying between two such slots hands wishes and bans on from one to the other, until
// nothing changes. What lies between two cuts is a part. Copies and zeroings become loads and stores of the parts they cover; a part
// that is accessed in one size has the type of its accesses (others of the same size go through a bitcast).
#include <algorithm>

#include "ir/passes/edit.h"
#include "ir/passes/passes.h"

namespace mica::ir {

namespace {

constexpr uint32_t None = 0xffffffffu;
constexpr uint32_t LargestSlot = 1024;      // bytes; larger ones stay memory
constexpr int64_t LargestMemoryCopy = 128;  // between a slot and other memory

struct Part { uint32_t start, size; Type type; SlotId slot; ValueId address; };

struct SlotInfo {
  bool good = true, split = false;
  std::vector<char> want, ban;     // cut before byte k
  std::vector<Part> parts;
  std::vector<uint32_t> partAt;    // for each byte
};

class Splitter {
 public:
  explicit Splitter(Function& fn) : f(fn), replaced(fn) {}

  void run() {
    derivePointers();
    prepare();
    collect();
    bool again = true;
    while (again) again = propagate() || rejectPartial();
    bool any = false;
    for (SlotInfo& s : slots) any |= cut(s);
    if (!any) return;
    typeParts();
    makeSlots();
    for (Block& b : f.blocks) rewrite(b);
    replaced.apply(f);
  }

 private:
  struct Pointer { uint32_t slot = None; int64_t offset = 0; };
  Function& f;
  Replacements replaced;
  std::vector<Pointer> pointers;   // of each value
  std::vector<SlotInfo> slots;
  std::vector<InstId> copies;      // MemCopy with a slot on both sides
  std::vector<InstId> list;        // the block being rewritten

  // Values that are a slot plus a constant; definitions come before uses in the blocks' reverse postorder.
  void derivePointers() {
    pointers.resize(f.values.size());
    Cfg cfg(f);
    for (BlockId b : cfg.order)
      for (InstId id : f.blocks[b.index].insts) {
        const Inst& i = f.insts[id.index];
        int64_t c;
        if (i.op == Op::SlotAddr) pointers[i.result.index] = {uint32_t(i.imm), 0};
        if (i.op == Op::PAdd && pointers[f.arg(i, 0).index].slot != None && constantOf(f, f.arg(i, 1), c)) {
          Pointer p = pointers[f.arg(i, 0).index];
          if (c > -65536 && c < 65536) pointers[i.result.index] = {p.slot, p.offset + c};
        }
      }
  }

  void prepare() {
    slots.resize(f.slots.size());
    for (uint32_t s = 0; s < slots.size(); ++s) {
      if (f.slots[s].size > LargestSlot || f.slots[s].size == 0) slots[s].good = false;
      else {
        slots[s].want.assign(f.slots[s].size + 1, 0);
        slots[s].ban.assign(f.slots[s].size + 1, 0);
        slots[s].want[0] = slots[s].want[f.slots[s].size] = 1;
      }
    }
  }

  SlotInfo* slotOf(ValueId v) {
    uint32_t s = pointers[v.index].slot;
    return s == None ? nullptr : &slots[s];
  }
  // The slot when the bytes from v + extra on lie inside of it; a slot whose bounds are passed cannot be cut.
  SlotInfo* within(ValueId v, int64_t extra, int64_t size, int64_t& offset) {
    SlotInfo* s = slotOf(v);
    if (!s || !s->good) return nullptr;
    offset = int64_t(uint64_t(pointers[v.index].offset) + uint64_t(extra));
    if (offset < 0 || uint64_t(offset) + uint64_t(size) > s->want.size() - 1) {
      s->good = false;
      return nullptr;
    }
    return s;
  }
  void spoil(ValueId v) {
    if (SlotInfo* s = slotOf(v)) s->good = false;
  }

  void access(ValueId address, const Inst& i) {
    int64_t o, size = i.type.bytes();
    SlotInfo* s = within(address, i.imm, size, o);
    if (!s) return;
    s->want[o] = s->want[o + size] = 1;
    for (int64_t k = o + 1; k < o + size; ++k) s->ban[k] = 1;
  }
  void span(ValueId address, int64_t size) {
    int64_t o;
    if (SlotInfo* s = within(address, 0, size, o)) s->want[o] = s->want[o + size] = 1;
  }

  void collect() {
    for (const Block& b : f.blocks)
      for (InstId id : b.insts) {
        const Inst& i = f.insts[id.index];
        switch (i.op) {
          case Op::Load: access(f.arg(i, 0), i); break;
          case Op::Store: spoil(f.arg(i, 0)), access(f.arg(i, 1), i); break;
          case Op::MemZero: span(f.arg(i, 0), i.imm); break;
          case Op::MemCopy: copy(id); break;
          case Op::PAdd:
            spoil(f.arg(i, 1));
            if (pointers[i.result.index].slot == None) spoil(f.arg(i, 0));
            break;
          default:
            for (ValueId v : argsOf(f, i)) spoil(v);
        }
        for (const Target& t : targetsOf(f, i))
          for (ValueId v : argsOf(f, t)) spoil(v);
      }
  }
  void copy(InstId id) {
    const Inst& i = f.insts[id.index];
    bool to = slotOf(f.arg(i, 0)), from = slotOf(f.arg(i, 1));
    if (to != from && i.imm > LargestMemoryCopy) return spoil(f.arg(i, 0)), spoil(f.arg(i, 1));
    span(f.arg(i, 0), i.imm);
    span(f.arg(i, 1), i.imm);
    if (to && from) copies.push_back(id);
  }

  // Makes both sides of copies agree. A copy with one side that cannot be cut is like one with other memory.
  bool propagate() {
    bool any = false;
    for (bool again = true; again;) {
      again = false;
      for (InstId id : copies) {
        const Inst& i = f.insts[id.index];
        SlotInfo *a = slotOf(f.arg(i, 0)), *b = slotOf(f.arg(i, 1));
        if (!a->good || !b->good) {
          if (i.imm > LargestMemoryCopy && (a->good || b->good)) a->good = b->good = false, again = true;
          continue;
        }
        int64_t p = pointers[f.arg(i, 0).index].offset, q = pointers[f.arg(i, 1).index].offset;
        for (int64_t k = 0; k <= i.imm; ++k) {
          auto agree = [&](char& x, char& y) {
            if (x != y) x = y = 1, again = true;
          };
          agree(a->want[p + k], b->want[q + k]);
          if (k > 0 && k < i.imm) agree(a->ban[p + k], b->ban[q + k]);
        }
      }
      any |= again;
    }
    return any;
  }

  // A copy or zeroing that ends inside a part that may not be cut spoils the slot.
  bool rejectPartial() {
    bool any = false;
    auto ends = [&](ValueId v, int64_t size) {
      SlotInfo* s = slotOf(v);
      if (!s || !s->good) return;
      int64_t o = pointers[v.index].offset;
      if (s->ban[o] || s->ban[o + size]) s->good = false, any = true;
    };
    for (const Block& b : f.blocks)
      for (InstId id : b.insts) {
        const Inst& i = f.insts[id.index];
        if (i.op == Op::MemZero || i.op == Op::MemCopy) ends(f.arg(i, 0), i.imm);
        if (i.op == Op::MemCopy) ends(f.arg(i, 1), i.imm);
      }
    return any;
  }

  bool cut(SlotInfo& s) {
    if (!s.good) return false;
    uint32_t size = uint32_t(s.want.size() - 1), start = 0;
    s.partAt.assign(size, 0);
    for (uint32_t k = 1; k <= size; ++k) {
      if (k < size && (!s.want[k] || s.ban[k])) continue;
      for (uint32_t b = start; b < k; ++b) s.partAt[b] = uint32_t(s.parts.size());
      s.parts.push_back({start, k - start, Void, {}, {}});
      start = k;
    }
    return s.split = true;
  }

  Part& partOf(ValueId address, int64_t extra) {
    SlotInfo* s = slotOf(address);
    return s->parts[s->partAt[pointers[address.index].offset + extra]];
  }
  bool isSplit(ValueId v) {
    SlotInfo* s = slotOf(v);
    return s && s->split;
  }

  static bool castable(Type a, Type b) {
    return a.bytes() == b.bytes() && a.lanes == b.lanes && a.kind != TypeKind::I1 && b.kind != TypeKind::I1 &&
           !(a.isPtr() && b.kind == TypeKind::F64) && !(b.isPtr() && a.kind == TypeKind::F64);
  }

  // The first access of a part's size gives its type. Parts that are only copied take the type of the other side; else integers.
  void typeParts() {
    auto give = [&](ValueId address, const Inst& i) {
      if (!isSplit(address)) return;
      Part& p = partOf(address, i.imm);
      if (p.type.isVoid() && i.type.bytes() == p.size) p.type = i.type;
    };
    for (const Block& b : f.blocks)
      for (InstId id : b.insts) {
        const Inst& i = f.insts[id.index];
        if (i.op == Op::Store) give(f.arg(i, 1), i);
        if (i.op == Op::Load) give(f.arg(i, 0), i);
      }
    for (bool again = true; again;) {
      again = false;
      for (InstId id : copies) {
        const Inst& i = f.insts[id.index];
        if (!isSplit(f.arg(i, 0)) || !isSplit(f.arg(i, 1))) continue;
        for (int64_t k = 0; k < i.imm;) {
          Part &a = partOf(f.arg(i, 0), k), &b = partOf(f.arg(i, 1), k);
          if (a.type.isVoid() != b.type.isVoid()) {
            (a.type.isVoid() ? a : b).type = a.type.isVoid() ? b.type : a.type;
            again = true;
          }
          k += a.size;
        }
      }
    }
    for (SlotInfo& s : slots)
      for (Part& p : s.parts)
        if (p.type.isVoid()) p.type = p.size == 8 ? I64 : p.size == 4 ? I32 : p.size == 2 ? I16 : p.size == 1 ? I8 : Void;
  }

  void makeSlots() {
    std::vector<InstId> addresses;
    for (uint32_t k = 0, count = uint32_t(slots.size()); k < count; ++k)
      for (Part& p : slots[k].parts) {
        uint32_t align = f.slots[k].align;
        while (p.start % align) align /= 2;
        p.slot = SlotId(uint32_t(f.slots.size()));
        f.slots.push_back({p.size, align});
        InstId id = newInst(f, Op::SlotAddr, Ptr, {}, p.slot.index);
        p.address = f.insts[id.index].result;
        addresses.push_back(id);
      }
    f.blocks[0].insts.insert(f.blocks[0].insts.begin(), addresses.rbegin(), addresses.rend());
    pointers.resize(f.values.size());
  }

  void rewrite(Block& b) {
    std::vector<InstId> old = std::move(b.insts);
    list.clear();
    for (InstId id : old) {
      Inst& i = f.insts[id.index];
      Emitter e{f, list, i.place};
      if (i.op == Op::Load && isSplit(f.arg(i, 0))) rewriteLoad(e, id);
      else if (i.op == Op::Store && isSplit(f.arg(i, 1))) rewriteStore(e, id);
      else if (i.op == Op::MemZero && isSplit(f.arg(i, 0))) rewriteZero(e, i);
      else if (i.op == Op::MemCopy && (isSplit(f.arg(i, 0)) || isSplit(f.arg(i, 1)))) rewriteCopy(e, i);
      else list.push_back(id);
    }
    b.insts = list;
  }

  int64_t offsetIn(const Part& p, ValueId address, int64_t extra) { return pointers[address.index].offset + extra - p.start; }

  void rewriteLoad(Emitter& e, InstId id) {
    Inst& i = f.insts[id.index];
    ValueId address = f.arg(i, 0);
    Part p = partOf(address, i.imm);
    i.imm = offsetIn(p, address, i.imm);
    f.pool[i.firstArg] = p.address;
    list.push_back(id);
    if (p.type == i.type || !castable(p.type, i.type)) return;
    Type want = i.type;
    i.type = p.type;
    ValueId old = i.result;
    // The load's result takes the part's type; the cast takes over the uses of the old one.
    ValueId loaded = newValue(f, p.type, id);
    f.insts[id.index].result = loaded;
    replaced.set(old, cast(e, want, loaded));
  }
  void rewriteStore(Emitter& e, InstId id) {
    Inst& i = f.insts[id.index];
    ValueId address = f.arg(i, 1);
    Part p = partOf(address, i.imm);
    i.imm = offsetIn(p, address, i.imm);
    f.pool[i.firstArg + 1] = p.address;
    if (p.type != i.type && castable(p.type, i.type)) {
      ValueId value = cast(e, p.type, f.arg(i, 0));
      f.insts[id.index].type = p.type;
      f.pool[f.insts[id.index].firstArg] = value;
    }
    list.push_back(id);
  }
  // Pointers are cast by way of i64.
  ValueId cast(Emitter& e, Type to, ValueId v) { return e.value(Op::Bitcast, to, {v}); }

  void rewriteZero(Emitter& e, Inst i) {
    ValueId address = f.arg(i, 0);
    for (int64_t k = 0; k < i.imm;) {
      Part p = partOf(address, k);
      if (p.type.isVoid()) e.inst(Op::MemZero, Void, {p.address}, p.size);
      else e.inst(Op::Store, p.type, {e.zero(p.type), p.address});
      k += p.size;
    }
  }

  void rewriteCopy(Emitter& e, Inst i) {
    ValueId to = f.arg(i, 0), from = f.arg(i, 1);
    bool toSplit = isSplit(to), fromSplit = isSplit(from);
    for (int64_t k = 0; k < i.imm;) {
      Part p = partOf(toSplit ? to : from, k);
      ValueId target = toSplit ? p.address : to, source = from;
      int64_t targetOffset = toSplit ? 0 : k, sourceOffset = k;
      Type sourceType = p.type;
      if (fromSplit) {
        Part q = partOf(from, k);
        source = q.address;
        sourceOffset = 0;
        sourceType = q.type;
      }
      if (p.type.isVoid()) {
        e.inst(Op::MemCopy, Void, {at(e, target, targetOffset), at(e, source, sourceOffset)}, p.size);
      } else if (sourceType != p.type && castable(sourceType, p.type)) {
        ValueId v = e.value(Op::Load, sourceType, {source}, sourceOffset);
        e.inst(Op::Store, p.type, {cast(e, p.type, v), target}, targetOffset);
      } else {
        ValueId v = e.value(Op::Load, p.type, {source}, sourceOffset);
        e.inst(Op::Store, p.type, {v, target}, targetOffset);
      }
      k += p.size;
    }
  }
  ValueId at(Emitter& e, ValueId p, int64_t offset) {
    if (offset == 0) return p;
    ValueId c = e.iconst(I64, offset);
    return e.value(Op::PAdd, Ptr, {p, c});
  }
};

}  // namespace

void splitSlots(Function& f) {
  if (f.slots.empty()) return;
  dropUnreachable(f);
  Splitter(f).run();
}

}  // namespace mica::ir
