// See mir_layout.h.
#include "ir/mir_layout.h"

#include <algorithm>

namespace mica::mir {

namespace {

class Layout {
 public:
  Layout(Function& function, const Liveness& liveness) : f(function), live(liveness) {}

  void run() {
    members.resize(live.loops.size());
    std::vector<Item> top;
    std::vector<bool> entered(live.loops.size());
    // Each block and each loop joins the list of the loop around it, where its first block comes in reverse postorder.
    for (BlockId b : live.order) {
      uint32_t l = live.loopOf[b.index];
      Item item{b, NoLoop};
      for (;;) {
        (l == NoLoop ? top : members[l]).push_back(item);
        if (l == NoLoop || entered[l]) break;
        entered[l] = true;
        item = {BlockId(), l};
        l = live.loops[l].parent;
      }
    }
    std::vector<BlockId> order;
    place(top, order);
    std::stable_partition(order.begin() + 1, order.end(), [&](BlockId b) { return !f.blocks[b.index].cold; });
    f.order = std::move(order);
  }

 private:
  struct Item { BlockId block; uint32_t loop; };
  Function& f;
  const Liveness& live;
  std::vector<std::vector<Item>> members;

  void place(const std::vector<Item>& items, std::vector<BlockId>& order) {
    for (const Item& i : items) {
      if (i.loop == NoLoop) {
        order.push_back(i.block);
        continue;
      }
      size_t start = order.size();
      place(members[i.loop], order);
      rotate(i.loop, order, start);
    }
  }

  // The head of a loop that is left from its head, and whose last block only jumps back, goes to the end.
  void rotate(uint32_t loop, std::vector<BlockId>& order, size_t start) {
    BlockId head = live.loops[loop].head;
    if (order.size() - start < 2 || order[start] != head || start == 0) return;
    const Block& h = f.blocks[head.index];
    const Block& last = f.blocks[order.back().index];
    bool leaves = false, stays = false;
    for (const Edge& e : h.succs) (live.inLoop(loop, e.to) ? stays : leaves) = true;
    if (h.succs.size() != 2 || !leaves || !stays || last.succs.size() != 1 || last.succs[0].to != head) return;
    std::rotate(order.begin() + long(start), order.begin() + long(start) + 1, order.end());
  }
};

}  // namespace

void layOut(Function& f, const Liveness& live) { Layout(f, live).run(); }

}  // namespace mica::mir
