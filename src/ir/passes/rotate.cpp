// rotate: a loop that tests at its top,  head: … if c then body else out,  gets a copy of the head before it and tests at its end. Then the
// body runs once for sure when it is entered, so what it does not change may be computed before it, and a round has one jump less.
//
// The copy makes a second definition of every value of the head that is used elsewhere. Those values go through slots (stored in
// both heads, loaded at the uses), and mem2reg turns the slots into parameters where they are needed.
#include <algorithm>

#include "ir/passes/edit.h"
#include "ir/passes/passes.h"

namespace mica::ir {

namespace {

constexpr size_t LargestHead = 16;

class Rotator {
 public:
  explicit Rotator(Function& fn)
      : f(fn), cfg(f), dom(f, cfg), loops(f, cfg, dom), into(f.blocks.size()), loopOf(f.values.size(), Loop::None) {}

  bool run() {
    for (BlockId b : cfg.order)
      for (BlockId p : cfg.predecessors[b.index]) into[b.index].push_back(p);
    for (uint32_t l = 0; l < loops.loops.size(); ++l)
      if (fits(l)) rotate(l);
    if (copiedFrom.empty()) return false;
    makeSlots();
    for (uint32_t b = 0; b < f.blocks.size(); ++b) loadUses(BlockId(b));
    for (Twin& t : twins) storeBoth(t);
    return true;
  }

 private:
  struct Twin { ValueId value, copy, address; uint32_t loop; };   // a value of a head and of its copy; the slot if one is needed
  Function& f;
  Cfg cfg;
  Dominators dom;
  Loops loops;                                 // as they were; the copies of heads are known by the loop they were made for
  std::vector<std::vector<BlockId>> into;      // the blocks that lead to each block, kept up to date
  std::vector<uint32_t> copiedFrom;            // for blocks added since
  std::vector<BlockId> copyOfHead;             // for each of those loops, by number
  std::vector<uint32_t> loopOf;                // for values of copied heads: the loop; their twin is found by twinOf
  std::vector<uint32_t> twinOf;
  std::vector<Twin> twins;

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
    for (BlockId b : into[head.index])   // the ways in from outside now lead to the copy
      if (!inside(l, b))
        for (Target& t : targetsOf(f, terminatorOf(f, b)))
          if (t.block == head) t.block = copy;
    f.blocks.emplace_back();
    into.emplace_back();
    copiedFrom.push_back(l);
    copyOfHead.resize(loops.loops.size());
    copyOfHead[l] = copy;
    copyHead(l, head, copy);
    for (const Target& t : targetsOf(f, terminatorOf(f, copy))) into[t.block.index].push_back(copy);
  }

  void copyHead(uint32_t l, BlockId head, BlockId copy) {
    size_t first = twins.size();
    auto pair = [&](ValueId v, ValueId twin) {
      twinOf.resize(loopOf.size());
      loopOf[v.index] = l;
      twinOf[v.index] = uint32_t(twins.size());
      twins.push_back({v, twin, {}, l});
    };
    auto copyOf = [&](ValueId v) {
      return v.index < twinOf.size() && loopOf[v.index] == l && twinOf[v.index] >= first ? twins[twinOf[v.index]].copy : v;
    };
    for (ValueId p : std::vector<ValueId>(f.blocks[head.index].params)) {
      ValueId v = newValue(f, f.typeOf(p), {});
      f.values[v.index].paramOf = copy;
      f.blocks[copy.index].params.push_back(v);
      pair(p, v);
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
        ValueId v = newValue(f, f.typeOf(i.result), newId);
        pair(i.result, v);
        i.result = v;
      }
      f.insts.push_back(i);
      f.blocks[copy.index].insts.push_back(newId);
    }
  }

  // The twin of a value that is used in a block which is neither its head nor the head's copy.
  Twin* usedElsewhere(ValueId v, BlockId b) {
    if (v.index >= loopOf.size() || loopOf[v.index] == Loop::None) return nullptr;
    uint32_t l = loopOf[v.index];
    if (b == loops.loops[l].header || b == copyOfHead[l]) return nullptr;
    return &twins[twinOf[v.index]];
  }

  void makeSlots() {
    std::vector<InstId> made;
    auto use = [&](ValueId v, BlockId b) {
      Twin* t = usedElsewhere(v, b);
      if (!t || t->address) return;
      uint32_t bytes = f.typeOf(v).bytes();
      f.slots.push_back({bytes, std::clamp(bytes, 1u, 64u)});
      made.push_back(newInst(f, Op::SlotAddr, Ptr, {}, int64_t(f.slots.size() - 1)));
      t->address = f.insts[made.back().index].result;
    };
    for (uint32_t b = 0; b < f.blocks.size(); ++b)
      for (InstId id : f.blocks[b].insts) {
        const Inst i = f.insts[id.index];
        for (uint32_t k = 0; k < i.argCount; ++k) use(f.arg(i, k), BlockId(b));
        for (uint32_t t = 0; t < i.targetCount; ++t)
          for (uint32_t k = 0; k < f.targets[i.firstTarget + t].argCount; ++k)
            use(f.pool[f.targets[i.firstTarget + t].firstArg + k], BlockId(b));
      }
    std::vector<InstId>& entry = f.blocks[0].insts;
    entry.insert(entry.begin(), made.begin(), made.end());
  }

  void storeBoth(const Twin& t) {
    if (!t.address) return;
    for (bool copy : {false, true}) {
      ValueId args[] = {copy ? t.copy : t.value, t.address};
      InstId id = newInst(f, Op::Store, f.typeOf(t.value), args);
      std::vector<InstId>& insts = f.blocks[(copy ? copyOfHead[t.loop] : loops.loops[t.loop].header).index].insts;
      insts.insert(insts.end() - 1, id);
    }
  }

  // In one block each value is loaded once, before its first use.
  void loadUses(BlockId b) {
    std::vector<std::pair<ValueId, ValueId>> loaded;
    std::vector<InstId> list;
    auto use = [&](uint32_t at) {
      ValueId v = f.pool[at];
      Twin* t = usedElsewhere(v, b);
      if (!t) return;
      for (auto& l : loaded)
        if (l.first == v) {
          f.pool[at] = l.second;
          return;
        }
      InstId id = newInst(f, Op::Load, f.typeOf(v), Values(&t->address, 1));
      list.push_back(id);
      loaded.push_back({v, f.insts[id.index].result});
      f.pool[at] = loaded.back().second;
    };
    std::vector<InstId> old = std::move(f.blocks[b.index].insts);
    for (InstId id : old) {
      const Inst i = f.insts[id.index];
      for (uint32_t k = 0; k < i.argCount; ++k) use(i.firstArg + k);
      for (uint32_t t = 0; t < i.targetCount; ++t)
        for (uint32_t k = 0; k < f.targets[i.firstTarget + t].argCount; ++k) use(f.targets[i.firstTarget + t].firstArg + k);
      list.push_back(id);
    }
    f.blocks[b.index].insts = std::move(list);
  }
};

}  // namespace

void rotateLoops(Function& f) {
  dropUnreachable(f);
  if (Rotator(f).run()) promoteSlots(f);
}

}  // namespace mica::ir
