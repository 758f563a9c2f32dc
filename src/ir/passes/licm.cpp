// licm: moves out of a loop what it computes the same way every time.
//
// Pure operations move from anywhere in the loop. Loads move when nothing in the loop may write there, and either the address is known to
// be good or the load runs in every round before anything that could end the program. A check (or another operation that may trap)
// moves only from the straight stretch at the loop's beginning, where nothing with an effect stands before it: then it would have been
// the first thing to happen anyway.
#include <algorithm>

#include "ir/passes/memory.h"
#include "ir/passes/passes.h"

namespace mica::ir {

namespace {

class Hoister {
 public:
  Hoister(Module& m, Function& fn) : f(fn), cfg(f), dom(f, cfg), loops(f, cfg, dom), memory(m, f), home(blocksOfInsts(f)) {
    contextChanges = contains(f, Op::SetContext);
  }

  void run() {
    for (uint32_t l = uint32_t(loops.loops.size()); l-- > 0;) hoistFrom(l);   // inner loops first
  }

 private:
  Function& f;
  Cfg cfg;
  Dominators dom;
  Loops loops;
  Memory memory;
  std::vector<BlockId> home;         // of each instruction
  bool contextChanges = false;
  // of the loop at hand
  uint32_t loop = 0;
  BlockId before;                    // its preheader, once there is something to move
  std::vector<Access> written;
  std::vector<ValueId> headers;      // pointers to headers of which a word is loaded before the loop
  bool calls = false;

  bool definedOutside(ValueId v) {
    const Value& value = f.values[v.index];
    BlockId b = value.def ? home[value.def.index] : value.paramOf;
    return !loops.contains(loop, b);
  }
  bool invariant(const Inst& i) {
    for (ValueId v : argsOf(f, i))
      if (!definedOutside(v)) return false;
    return true;
  }

  void hoistFrom(uint32_t l) {
    loop = l;
    before = {};
    headers.clear();
    collectWrites();
    fromBeginning();
    const std::vector<BlockId> blocks = loops.loops[l].blocks;
    for (BlockId b : blocks) {
      std::vector<InstId> kept, old = f.blocks[b.index].insts;
      for (InstId id : old)
        if (movesFromAnywhere(f.insts[id.index])) move(id);
        else kept.push_back(id);
      f.blocks[b.index].insts = std::move(kept);
    }
  }

  void collectWrites() {
    written.clear();
    calls = false;
    for (BlockId b : loops.loops[loop].blocks)
      for (InstId id : f.blocks[b.index].insts) {
        const Inst& i = f.insts[id.index];
        Access a;
        if (writes(memory, f, i, a)) written.push_back(a);
        else if (hasEffect(i.op, 'C')) calls = true;
      }
  }

  bool unwritten(const Access& a) {
    if (calls && memory.sharedWithCalls(a)) return false;
    for (const Access& w : written)
      if (memory.mayOverlap(a, w)) return false;
    return true;
  }

  bool movesFromAnywhere(const Inst& i) {
    if (isTerminator(i.op) || (i.op == Op::Context && contextChanges)) return false;
    if (hasEffect(i.op, 'P')) return invariant(i);
    if (i.op != Op::Load || !invariant(i)) return false;
    Access a;
    reads(memory, f, i, a);
    return (memory.safeToLoad(f, a) || besideLoaded(a)) && unwritten(a);
  }

  // Another word of a header of which one has been loaded before the loop.
  bool besideLoaded(const Access& a) {
    return a.region == Region::Header && !a.direct && std::find(headers.begin(), headers.end(), a.pointer) != headers.end();
  }

  // The stretch that every entry of the loop runs through.
  void fromBeginning() {
    bool nothingHappened = true, nothingEnded = true;
    for (BlockId b = loops.loops[loop].header; nothingEnded;) {
      std::vector<InstId> kept, old = f.blocks[b.index].insts;
      for (InstId id : old) {
        const Inst& i = f.insts[id.index];
        bool moves = movesFromAnywhere(i);
        if (!moves && i.op == Op::Load && nothingEnded && invariant(i)) {
          Access a;
          reads(memory, f, i, a);
          moves = unwritten(a);
          if (moves && a.region == Region::Header && !a.direct) headers.push_back(a.pointer);
        }
        if (!moves && hasEffect(i.op, 'T') && nothingHappened) moves = invariant(i);
        if (moves) {
          move(id);
          continue;
        }
        kept.push_back(id);
        if (hasEffect(i.op, 'T') || hasEffect(i.op, 'C')) nothingHappened = nothingEnded = false;
        if (hasEffect(i.op, 'W')) nothingHappened = false;
      }
      f.blocks[b.index].insts = std::move(kept);
      const Inst& last = terminatorOf(f, b);
      if (last.op != Op::Br) break;
      BlockId next = f.targets[last.firstTarget].block;
      if (cfg.predecessors[next.index].size() != 1 || !loops.contains(loop, next)) break;
      b = next;
    }
  }

  void move(InstId id) {
    if (!before) makePreheader();
    std::vector<InstId>& insts = f.blocks[before.index].insts;
    insts.insert(insts.end() - 1, id);
    home[id.index] = before;
  }

  // The block from which alone the loop is entered, and that leads nowhere else.
  void makePreheader() {
    BlockId header = loops.loops[loop].header;
    std::vector<BlockId> outside;
    for (uint32_t b = 0; b < f.blocks.size(); ++b) {
      if (f.blocks[b].insts.empty() || loops.contains(loop, BlockId(b))) continue;
      for (const Target& t : targetsOf(f, terminatorOf(f, BlockId(b))))
        if (t.block == header) outside.push_back(BlockId(b));
    }
    if (outside.size() == 1 && terminatorOf(f, outside[0]).op == Op::Br) {
      before = outside[0];
      return;
    }
    before = BlockId(uint32_t(f.blocks.size()));
    f.blocks.emplace_back();
    std::vector<ValueId> params;
    for (ValueId p : f.blocks[header.index].params) {
      ValueId v = newValue(f, f.typeOf(p), {});
      f.values[v.index].paramOf = before;
      params.push_back(v);
    }
    f.blocks[before.index].params = params;
    for (BlockId b : outside)
      for (Target& t : targetsOf(f, terminatorOf(f, b)))
        if (t.block == header) t.block = before;
    InstId jump = newInst(f, Op::Br, Void, {});
    uint32_t first = addToPool(f, params);
    f.insts[jump.index].firstTarget = uint32_t(f.targets.size());
    f.insts[jump.index].targetCount = 1;
    f.targets.push_back({header, first, uint32_t(params.size())});
    f.blocks[before.index].insts.push_back(jump);
    home.push_back(before);
    uint32_t around = loops.loops[loop].parent;
    loops.innermost.push_back(around);
    for (; around != Loop::None; around = loops.loops[around].parent) {
      std::vector<BlockId>& blocks = loops.loops[around].blocks;
      blocks.insert(std::find(blocks.begin(), blocks.end(), header), before);
    }
  }
};

}  // namespace

void hoistInvariants(Module& m, Function& f) {
  dropUnreachable(f);
  Hoister(m, f).run();
}

}  // namespace mica::ir
