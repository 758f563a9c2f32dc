// rotate: a loop that tests at its top,  head: … if c then body else out,  gets a copy of the head before it and tests at its end. Then the
// body runs once for sure when it is entered, so what it does not change may be computed before it, and a round has one jump less.
//
// The copy makes a second definition of every value of the head that is used elsewhere. Those values go through slots (stored in
// both heads, loaded at the uses), and mem2reg turns the slots into parameters where they are needed.
#include "ir/passes/edit.h"
#include "ir/passes/passes.h"

namespace mica::ir {

namespace {

constexpr size_t LargestHead = 16;

class Rotator {
 public:
  explicit Rotator(Function& fn) : f(fn), cfg(f), dom(f, cfg), loops(f, cfg, dom) {}

  bool run() {
    bool any = false;
    for (uint32_t l = 0; l < loops.loops.size(); ++l)
      if (fits(l)) {
        rotate(l);
        any = true;
      }
    return any;
  }

 private:
  Function& f;
  Cfg cfg;
  Dominators dom;
  Loops loops;                        // as they were; the copies of heads are known by the loop they were made for
  std::vector<uint32_t> copiedFrom;   // for blocks added since

  // Is a block in the loop? The copy of a loop's head lies just outside of that loop.
  bool inside(uint32_t l, BlockId b) const {
    if (b.index < loops.innermost.size()) return loops.contains(l, b);
    uint32_t of = copiedFrom[b.index - loops.innermost.size()];
    return of != l && loops.contains(l, loops.loops[of].header);
  }

  bool fits(uint32_t l) {
    BlockId header = loops.loops[l].header;
    const Block& head = f.blocks[header.index];
    const Inst& i = f.insts[head.insts.back().index];
    if (i.op != Op::BrIf || head.insts.size() > LargestHead) return false;
    BlockId yes = f.targets[i.firstTarget].block, no = f.targets[i.firstTarget + 1].block;
    if (yes == header || no == header || inside(l, yes) == inside(l, no)) return false;
    for (InstId id : head.insts)
      if (hasEffect(f.insts[id.index].op, 'C') || f.insts[id.index].op == Op::MemCopy) return false;
    return true;
  }

  void rotate(uint32_t l) {
    BlockId head = loops.loops[l].header, copy(uint32_t(f.blocks.size()));
    for (uint32_t b = 0; b < f.blocks.size(); ++b)   // the ways in from outside now lead to the copy
      if (!inside(l, BlockId(b)))
        for (Target& t : targetsOf(f, terminatorOf(f, BlockId(b))))
          if (t.block == head) t.block = copy;
    f.blocks.emplace_back();
    copiedFrom.push_back(l);
    copyHead(head, copy);
  }

  void copyHead(BlockId head, BlockId copy) {
    std::vector<ValueId> to(f.values.size());
    auto copyOf = [&](ValueId v) { return v.index < to.size() && to[v.index] ? to[v.index] : v; };
    const std::vector<ValueId> params = f.blocks[head.index].params;
    std::vector<ValueId> defined = params;
    for (ValueId p : params) {
      ValueId v = newValue(f, f.typeOf(p), {});
      f.values[v.index].paramOf = copy;
      f.blocks[copy.index].params.push_back(v);
      to[p.index] = v;
    }
    for (InstId id : f.blocks[head.index].insts) {
      Inst i = f.insts[id.index];
      std::vector<ValueId> args = f.argsOf(i);
      for (ValueId& v : args) v = copyOf(v);
      InstId newId(uint32_t(f.insts.size()));
      i.firstArg = addToPool(f, args);
      std::vector<Target> targets;
      for (const Target& t : targetsOf(f, i)) targets.push_back(t);
      for (Target& t : targets) {
        std::vector<ValueId> targetArgs(argsOf(f, t).begin(), argsOf(f, t).end());
        for (ValueId& v : targetArgs) v = copyOf(v);
        t.firstArg = addToPool(f, targetArgs);
      }
      i.firstTarget = uint32_t(f.targets.size());
      f.targets.insert(f.targets.end(), targets.begin(), targets.end());
      if (i.result) {
        defined.push_back(i.result);
        ValueId v = newValue(f, f.typeOf(i.result), newId);
        to[i.result.index] = v;
        i.result = v;
      }
      f.insts.push_back(i);
      f.blocks[copy.index].insts.push_back(newId);
    }
    throughSlots(head, copy, defined, to);
  }

  // Values of the head that other blocks use: both definitions are stored, the uses load.
  void throughSlots(BlockId head, BlockId copy, const std::vector<ValueId>& defined, const std::vector<ValueId>& to) {
    std::vector<ValueId> slotAddress(f.values.size());
    std::vector<char> ofHead(f.values.size(), 0);
    for (ValueId v : defined) ofHead[v.index] = 1;
    std::vector<char> escapes(f.values.size(), 0);
    for (uint32_t b = 0; b < f.blocks.size(); ++b) {
      if (BlockId(b) == head || BlockId(b) == copy) continue;
      for (InstId id : f.blocks[b].insts) {
        const Inst& i = f.insts[id.index];
        for (ValueId v : argsOf(f, i)) escapes[v.index] |= ofHead[v.index];
        for (const Target& t : targetsOf(f, i))
          for (ValueId v : argsOf(f, t)) escapes[v.index] |= ofHead[v.index];
      }
    }
    std::vector<ValueId> slots;
    for (ValueId v : defined)
      if (escapes[v.index]) {
        f.slots.push_back({f.typeOf(v).bytes(), std::min(64u, std::max(1u, f.typeOf(v).bytes()))});
        InstId id = newInst(f, Op::SlotAddr, Ptr, {}, int64_t(f.slots.size() - 1));
        f.blocks[0].insts.insert(f.blocks[0].insts.begin(), id);
        slotAddress[v.index] = f.insts[id.index].result;
        slots.push_back(v);
      }
    if (slots.empty()) return;
    auto storeIn = [&](BlockId b, ValueId value, ValueId address) {
      ValueId args[] = {value, address};
      InstId id = newInst(f, Op::Store, f.typeOf(value), args);
      std::vector<InstId>& insts = f.blocks[b.index].insts;
      insts.insert(insts.end() - 1, id);
    };
    for (ValueId v : slots) {
      storeIn(head, v, slotAddress[v.index]);
      storeIn(copy, to[v.index], slotAddress[v.index]);
    }
    for (uint32_t b = 0; b < f.blocks.size(); ++b)
      if (BlockId(b) != head && BlockId(b) != copy) loadUses(b, slotAddress);
  }

  // In one block each value is loaded once, before its first use.
  void loadUses(uint32_t b, const std::vector<ValueId>& slotAddress) {
    std::vector<std::pair<ValueId, ValueId>> loaded;
    std::vector<InstId> list;
    auto use = [&](ValueId& v) {
      if (v.index >= slotAddress.size() || !slotAddress[v.index]) return;
      for (auto& l : loaded)
        if (l.first == v) {
          v = l.second;
          return;
        }
      ValueId address = slotAddress[v.index];
      InstId id = newInst(f, Op::Load, f.typeOf(v), Values(&address, 1));
      list.push_back(id);
      loaded.push_back({v, f.insts[id.index].result});
      v = loaded.back().second;
    };
    for (InstId id : f.blocks[b].insts) {
      const Inst i = f.insts[id.index];
      for (uint32_t k = 0; k < i.argCount; ++k) {
        ValueId v = f.pool[i.firstArg + k];
        use(v);
        f.pool[i.firstArg + k] = v;
      }
      for (uint32_t t = 0; t < i.targetCount; ++t)
        for (uint32_t k = 0; k < f.targets[i.firstTarget + t].argCount; ++k) {
          ValueId v = f.pool[f.targets[i.firstTarget + t].firstArg + k];
          use(v);
          f.pool[f.targets[i.firstTarget + t].firstArg + k] = v;
        }
      list.push_back(id);
    }
    f.blocks[b].insts = std::move(list);
  }
};

}  // namespace

void rotateLoops(Function& f) {
  dropUnreachable(f);
  if (Rotator(f).run()) promoteSlots(f);
}

}  // namespace mica::ir
