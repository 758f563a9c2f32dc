// What the register allocator wants to know of a machine function before it starts: block order, loops, which values
// are live at each block's start and how far away their next use is, register pressure, and which values live across
// calls.
//
// Distances count instructions along the shortest path; leaving a loop adds LoopExit, so that what is needed inside the
// loop always counts as nearer than what is needed after it. Sets are lists of the values concerned, never bit vectors
// over all values: the whole takes time in proportion to the function plus the sum of the live lists.
#pragma once
#include "ir/mir.h"

namespace mica::mir {

inline constexpr uint32_t Never = 0xffffffffu;
inline constexpr uint32_t LoopExit = 100000;      // added to a distance that leaves a loop
inline constexpr uint32_t Farthest = 1u << 30;    // distances stop growing here
inline constexpr uint32_t NoLoop = 0xffffffffu;

struct LiveIn {
  VReg reg;
  uint32_t local = Never;      // the first use in the block
  uint32_t distance = Never;   // from the block's start
};

struct Loop {
  BlockId head;
  uint32_t parent = NoLoop;
  uint32_t depth = 1;
  bool hasCall = false;                 // in every iteration
  uint32_t pressure[ClassCount] = {};   // the most values live at once, anywhere in the loop
};

struct Liveness {
  std::vector<BlockId> order;                 // reverse postorder
  std::vector<uint32_t> orderOf;              // by block; Never: unreachable
  std::vector<Loop> loops;
  std::vector<uint32_t> loopOf;               // by block: the innermost loop
  std::vector<std::vector<LiveIn>> liveIn;    // by block, ascending by register
  std::vector<bool> crossesCall;              // by register
  std::vector<bool> everyIteration;           // by block: each round of the innermost loop passes it

  bool inLoop(uint32_t loop, BlockId b) const {
    for (uint32_t l = loopOf[b.index]; l != NoLoop; l = loops[l].parent)
      if (l == loop) return true;
    return false;
  }
  // What the edge adds to distances behind it.
  uint32_t edgePenalty(BlockId from, BlockId to) const {
    uint32_t l = loopOf[from.index];
    return l == NoLoop || inLoop(l, to) ? 0 : LoopExit;
  }
};

// Fills the blocks' predecessors and loop depths and works all that out.
Liveness analyse(Function&);

}  // namespace mica::mir
