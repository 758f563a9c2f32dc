// What passes ask about a function: the flow graph, dominators, loops, users of values, liveness. Each is computed afresh
// from the function in about linear time, holds no reference to it, and is stale once blocks (users: operands) change.
#pragma once
#include <span>

#include "ir/ir.h"

namespace mica::ir {

// The edges out of an instruction (none unless it is a terminator with targets).
inline std::span<const Target> targetsOf(const Function& f, const Inst& i) {
  return {f.targets.data() + i.firstTarget, i.targetCount};
}
inline std::span<Target> targetsOf(Function& f, const Inst& i) { return {f.targets.data() + i.firstTarget, i.targetCount}; }
inline std::span<const ValueId> argsOf(const Function& f, const Inst& i) { return {f.pool.data() + i.firstArg, i.argCount}; }
inline std::span<ValueId> argsOf(Function& f, const Inst& i) { return {f.pool.data() + i.firstArg, i.argCount}; }
inline std::span<const ValueId> argsOf(const Function& f, const Target& t) { return {f.pool.data() + t.firstArg, t.argCount}; }
inline std::span<ValueId> argsOf(Function& f, const Target& t) { return {f.pool.data() + t.firstArg, t.argCount}; }
inline const Inst& terminatorOf(const Function& f, BlockId b) { return f.insts[f.blocks[b.index].insts.back().index]; }
inline Inst& terminatorOf(Function& f, BlockId b) { return f.insts[f.blocks[b.index].insts.back().index]; }

// The lists of a table of lists, end to end: list k is items[start[k]] up to items[start[k + 1]].
template <class T> struct Lists {
  std::vector<uint32_t> start;
  std::vector<T> items;
  std::span<const T> operator[](uint32_t k) const { return {items.data() + start[k], items.data() + start[k + 1]}; }
};

struct Cfg {
  std::vector<BlockId> order;          // the reachable blocks in reverse postorder; the entry first
  std::vector<uint32_t> position;      // of each block in `order`; Unreached for blocks that nothing reaches
  Lists<BlockId> predecessors;         // from reachable blocks; one for each edge, so a block may appear twice
  static constexpr uint32_t Unreached = 0xffffffffu;
  explicit Cfg(const Function&);
  bool reachable(BlockId b) const { return position[b.index] != Unreached; }
};

struct Dominators {
  std::vector<BlockId> parent;         // immediate dominator; none for the entry and unreachable blocks
  Lists<BlockId> children;             // in reverse postorder
  std::vector<BlockId> preorder;       // of the dominator tree
  Dominators(const Function&, const Cfg&);
  bool dominates(BlockId a, BlockId b) const { return in[a.index] <= in[b.index] && out[b.index] <= out[a.index]; }

 private:
  std::vector<uint32_t> in, out;       // when a walk of the tree enters and leaves each block
};

struct Loop {
  BlockId header;
  uint32_t parent = None;              // the loop around it
  uint32_t depth = 1;
  std::vector<BlockId> blocks;         // also those of inner loops; in reverse postorder
  static constexpr uint32_t None = 0xffffffffu;
};

// Natural loops; loops of one header are one. A cycle with several entries is no loop here.
struct Loops {
  std::vector<Loop> loops;             // outer before inner
  std::vector<uint32_t> innermost;     // for each block, or Loop::None
  Loops(const Function&, const Cfg&, const Dominators&);
  bool contains(uint32_t loop, BlockId b) const;
  uint32_t depth(BlockId b) const { return innermost[b.index] == Loop::None ? 0 : loops[innermost[b.index]].depth; }
};

// The block of each instruction; none for those in no block.
std::vector<BlockId> blocksOfInsts(const Function&);

// The instructions (also terminators, by way of their targets' arguments) that use each value; once for each operand.
Lists<InstId> usersOf(const Function&);
std::vector<uint32_t> useCounts(const Function&);

// Values live on entry to and exit from each reachable block. Parameters of a block are not live on entry to it.
struct Liveness {
  Lists<ValueId> liveIn, liveOut;      // ascending
  Liveness(const Function&, const Cfg&);
};

}  // namespace mica::ir
