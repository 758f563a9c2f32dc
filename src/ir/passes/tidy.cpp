// tidy: lays the blocks out as they should run and numbers everything anew. The order is a reverse postorder of the flow graph that keeps
// loops together: of a block's ways on, those that end in a trap come last, before them those that leave a loop.
#include <algorithm>

#include "ir/passes/edit.h"
#include "ir/passes/passes.h"

namespace mica::ir {

namespace {

// The reachable blocks in layout order.
std::vector<BlockId> layout(const Function& f) {
  Cfg cfg(f);
  Dominators dom(f, cfg);
  Loops loops(f, cfg, dom);
  auto coldness = [&](BlockId b) {   // what is visited first ends up last
    Op last = terminatorOf(f, b).op;
    if (last == Op::Trap || last == Op::Unreachable) return 0u;
    return 1 + loops.depth(b);
  };
  auto waysOf = [&](BlockId b) {
    std::vector<BlockId> ways;
    for (const Target& t : targetsOf(f, terminatorOf(f, b))) ways.push_back(t.block);
    std::reverse(ways.begin(), ways.end());
    std::stable_sort(ways.begin(), ways.end(), [&](BlockId x, BlockId y) { return coldness(x) < coldness(y); });
    return ways;
  };
  struct Step { BlockId block; std::vector<BlockId> ways; size_t next; };
  std::vector<Step> stack;
  std::vector<char> seen(f.blocks.size(), 0);
  std::vector<BlockId> order;
  auto enter = [&](BlockId b) {
    seen[b.index] = 1;
    stack.push_back({b, waysOf(b), 0});
  };
  enter(BlockId(0));
  while (!stack.empty()) {
    Step& top = stack.back();
    if (top.next < top.ways.size()) {
      BlockId b = top.ways[top.next++];
      if (!seen[b.index]) enter(b);
    } else {
      order.push_back(top.block);
      stack.pop_back();
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace

void tidy(Function& f) {
  std::vector<BlockId> order = layout(f), to(f.blocks.size());
  std::vector<Block> blocks;
  for (uint32_t k = 0; k < order.size(); ++k) {
    to[order[k].index] = BlockId(k);
    blocks.push_back(std::move(f.blocks[order[k].index]));
  }
  f.blocks = std::move(blocks);
  for (uint32_t b = 0; b < f.blocks.size(); ++b) {
    for (ValueId p : f.blocks[b].params) f.values[p.index].paramOf = BlockId(b);
    for (Target& t : targetsOf(f, terminatorOf(f, BlockId(b)))) t.block = to[t.block.index];
  }
  renumber(f);
}

}  // namespace mica::ir
