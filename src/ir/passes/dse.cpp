// dse: drops stores that nobody can read: those to slots that are never read and whose address nobody gets, and those that a later store
// of the same block overwrites whole before anything could read them. (A trap in between reads nothing but the thread's state, which
// lies outside of slots: only stores to slots that do not escape may pass over one.)
#include "ir/passes/memory.h"
#include "ir/passes/passes.h"

namespace mica::ir {

namespace {

class DeadStores {
 public:
  DeadStores(const Module& m, Function& fn) : f(fn), memory(m, fn), read(fn.slots.size(), 0) {}

  void run() {
    for (const Block& b : f.blocks)
      for (InstId id : b.insts) {
        Access a;
        if (reads(memory, f, f.insts[id.index], a) && a.root == Access::Slot) read[a.rootId] = 1;
      }
    for (Block& b : f.blocks) overwritten(b);
  }

 private:
  Function& f;
  Memory memory;
  std::vector<char> read;

  bool neverRead(const Access& a) const { return a.root == Access::Slot && !memory.escapes(a.rootId) && !read[a.rootId]; }

  // Backwards through a block with the places that are overwritten before they are read.
  void overwritten(Block& b) {
    std::vector<Access> later;
    std::vector<char> dead(b.insts.size(), 0);
    for (size_t k = b.insts.size(); k-- > 0;) {
      const Inst& i = f.insts[b.insts[k].index];
      Access a;
      if (writes(memory, f, i, a)) {
        dead[k] = neverRead(a);
        if (i.op != Op::MemCopy)
          for (const Access& l : later) dead[k] |= covers(l, a);
        if (dead[k]) continue;
      }
      if (Access r; reads(memory, f, i, r)) std::erase_if(later, [&](const Access& l) { return memory.mayOverlap(l, r); });
      else if (hasEffect(i.op, 'C') || isTerminator(i.op)) std::erase_if(later, [&](const Access& l) { return memory.sharedWithCalls(l); });
      else if (hasEffect(i.op, 'T')) std::erase_if(later, [&](const Access& l) { return memory.sharedWithCalls(l); });
      if (writes(memory, f, i, a) && later.size() < 32) later.push_back(a);
    }
    size_t k = 0;
    std::erase_if(b.insts, [&](InstId) { return dead[k++]; });
  }

  static bool covers(const Access& l, const Access& a) {
    if (l.direct != a.direct || (l.direct ? l.root != a.root || l.rootId != a.rootId : l.pointer != a.pointer)) return false;
    uint64_t from = uint64_t(a.offset) - uint64_t(l.offset);   // modulo 2^64, as addresses are
    return from <= l.size && a.size <= l.size - from;
  }
};

}  // namespace

void removeDeadStores(Module& m, Function& f) { DeadStores(m, f).run(); }

}  // namespace mica::ir
