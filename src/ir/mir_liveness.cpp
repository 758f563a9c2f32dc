// See mir_liveness.h.
#include "ir/mir_liveness.h"

#include <algorithm>

namespace mica::mir {

namespace {

class Analyser {
 public:
  explicit Analyser(Function& function) : f(function) {}

  Liveness run() {
    findOrder();
    findDominators();
    findLoops();
    collectUses();
    findLiveIns();
    for (int round = 0; round < 2; ++round)   // the second round carries distances around loops
      for (size_t k = live.order.size(); k-- > 0;) distances(live.order[k]);
    live.everyIteration.assign(f.blocks.size(), true);
    for (BlockId b : live.order) {
      pressureAndCalls(b);
      if (uint32_t l = live.loopOf[b.index]; l != NoLoop)
        live.everyIteration[b.index] = inEveryIteration(b, live.loops[l]);
    }
    return std::move(live);
  }

 private:
  Function& f;
  Liveness live;
  std::vector<uint32_t> idom;                 // by order number
  struct UseIn { uint32_t reg, block, first; };
  std::vector<UseIn> uses;                    // sorted by register, each block once
  std::vector<uint32_t> defBlock;
  std::vector<uint32_t> stamp, stamped;       // scratch by register: valid when stamp[v] is the current block's number

  void findOrder() {
    live.orderOf.assign(f.blocks.size(), Never);
    for (Block& b : f.blocks) b.preds.clear();
    std::vector<bool> seen(f.blocks.size());
    struct Frame { BlockId block; size_t next; };
    std::vector<Frame> stack{{BlockId(0), 0}};
    seen[0] = true;
    while (!stack.empty()) {
      Frame& top = stack.back();
      const Block& b = f.blocks[top.block.index];
      if (top.next < b.succs.size()) {
        // The last successor first, so that the first one comes first in the reversed order.
        BlockId to = b.succs[b.succs.size() - 1 - top.next++].to;
        if (!seen[to.index]) {
          seen[to.index] = true;
          stack.push_back({to, 0});
        }
      } else {
        live.order.push_back(top.block);
        stack.pop_back();
      }
    }
    std::reverse(live.order.begin(), live.order.end());
    for (uint32_t k = 0; k < live.order.size(); ++k) live.orderOf[live.order[k].index] = k;
    for (BlockId b : live.order)
      for (const Edge& e : f.blocks[b.index].succs) f.blocks[e.to.index].preds.push_back(b);
  }

  void findDominators() {
    idom.assign(live.order.size(), Never);
    idom[0] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t k = 1; k < live.order.size(); ++k) {
        uint32_t best = Never;
        for (BlockId p : f.blocks[live.order[k].index].preds) {
          uint32_t a = live.orderOf[p.index];
          if (idom[a] == Never) continue;
          if (best == Never) { best = a; continue; }
          while (a != best) {
            while (a > best) a = idom[a];
            while (best > a) best = idom[best];
          }
        }
        if (best != idom[k]) {
          idom[k] = best;
          changed = true;
        }
      }
    }
  }

  bool dominates(uint32_t a, uint32_t b) const {
    while (b > a) b = idom[b];
    return a == b;
  }

  bool inEveryIteration(BlockId b, const Loop& loop) const {
    if (f.blocks[b.index].cold) return false;
    uint32_t head = live.orderOf[loop.head.index];
    for (BlockId p : f.blocks[loop.head.index].preds) {
      uint32_t latch = live.orderOf[p.index];
      if (latch >= head && dominates(head, latch) && !dominates(live.orderOf[b.index], latch)) return false;
    }
    return true;
  }

  // Loops from the inside out: heads are visited in reverse order, so that inner loops exist when an outer one is
  // walked.
  void findLoops() {
    live.loopOf.assign(f.blocks.size(), NoLoop);
    std::vector<uint32_t> work;
    for (uint32_t k = uint32_t(live.order.size()); k-- > 0;) {
      BlockId head = live.order[k];
      work.clear();
      for (BlockId p : f.blocks[head.index].preds)
        if (live.orderOf[p.index] >= k && dominates(k, live.orderOf[p.index])) work.push_back(p.index);
      if (work.empty()) continue;
      uint32_t loop = uint32_t(live.loops.size());
      live.loops.push_back({});
      live.loops.back().head = head;
      f.blocks[head.index].loopHead = true;
      while (!work.empty()) {
        uint32_t b = work.back();
        work.pop_back();
        uint32_t inner = live.loopOf[b];
        if (inner == NoLoop) {
          live.loopOf[b] = loop;
          if (b != head.index)
            for (BlockId p : f.blocks[b].preds) work.push_back(p.index);
          continue;
        }
        while (live.loops[inner].parent != NoLoop && inner != loop) inner = live.loops[inner].parent;
        if (inner == loop) continue;
        live.loops[inner].parent = loop;
        for (BlockId p : f.blocks[live.loops[inner].head.index].preds)
          if (!live.inLoop(inner, p)) work.push_back(p.index);
      }
      if (live.loopOf[head.index] == NoLoop) live.loopOf[head.index] = loop;
    }
    for (size_t l = live.loops.size(); l-- > 0;)   // parents have higher numbers
      if (live.loops[l].parent != NoLoop) live.loops[l].depth = live.loops[live.loops[l].parent].depth + 1;
    for (BlockId b : live.order) {
      uint32_t l = live.loopOf[b.index];
      f.blocks[b.index].loopDepth = l == NoLoop ? 0 : live.loops[l].depth;
    }
  }

  void collectUses() {
    defBlock.assign(f.vregs.size(), Never);
    stamp.assign(f.vregs.size(), Never);
    stamped.assign(f.vregs.size(), 0);
    for (BlockId id : live.order) {
      const Block& b = f.blocks[id.index];
      auto use = [&](VReg v, uint32_t at) {
        if (stamp[v.index] == id.index) return;
        stamp[v.index] = id.index;
        uses.push_back({v.index, id.index, at});
      };
      for (VReg p : b.params) define(p, id);
      for (uint32_t i = 0; i < b.insts.size(); ++i) {
        const Operand* ops = f.operandsOf(b.insts[i]);
        for (unsigned k = 0; k < b.insts[i].operandCount; ++k)
          if (!ops[k].isDef) use(ops[k].reg, i);
        for (unsigned k = 0; k < b.insts[i].operandCount; ++k)
          if (ops[k].isDef) define(ops[k].reg, id);
      }
      for (const Edge& e : b.succs)
        for (VReg a : e.args) use(a, uint32_t(b.insts.size()));
    }
    std::stable_sort(uses.begin(), uses.end(), [](const UseIn& a, const UseIn& b) { return a.reg < b.reg; });
  }

  void define(VReg v, BlockId b) {
    if (defBlock[v.index] != Never) internalError("machine IR: v" + std::to_string(v.index) + " is defined twice");
    defBlock[v.index] = b.index;
  }

  void findLiveIns() {
    live.liveIn.resize(f.blocks.size());
    std::vector<uint32_t> mark(f.blocks.size(), Never), work;
    for (size_t k = 0; k < uses.size();) {
      uint32_t v = uses[k].reg, def = defBlock[v];
      if (def == Never) internalError("machine IR: v" + std::to_string(v) + " is used but never defined");
      for (; k < uses.size() && uses[k].reg == v; ++k) {
        uint32_t b = uses[k].block;
        if (b == def) continue;
        if (mark[b] == v) {               // already there as a block that the value passes through
          live.liveIn[b].back().local = uses[k].first;
          continue;
        }
        mark[b] = v;
        live.liveIn[b].push_back({VReg(v), uses[k].first, Never});
        work.push_back(b);
        while (!work.empty()) {
          uint32_t x = work.back();
          work.pop_back();
          if (x == 0)
            internalError("machine IR: v" + std::to_string(v) + " is used where its definition does not reach");
          for (BlockId p : f.blocks[x].preds) {
            if (p.index == def || mark[p.index] == v) continue;
            mark[p.index] = v;
            live.liveIn[p.index].push_back({VReg(v), Never, Never});
            work.push_back(p.index);
          }
        }
      }
    }
  }

  // Leaves in stamped[v] the distance from the block's end for every value that is live there.
  template <class Visit> void visitLiveOut(BlockId id, Visit visit) {
    for (const Edge& e : f.blocks[id.index].succs) {
      uint32_t penalty = live.edgePenalty(id, e.to);
      for (const LiveIn& l : live.liveIn[e.to.index])
        visit(l.reg, l.distance == Never ? Farthest : std::min(Farthest, l.distance + penalty));
    }
  }

  void distances(BlockId id) {
    Block& b = f.blocks[id.index];
    ++round;
    visitLiveOut(id, [&](VReg v, uint32_t d) {
      if (stamp[v.index] != ~round) {
        stamp[v.index] = ~round;
        stamped[v.index] = d;
      } else {
        stamped[v.index] = std::min(stamped[v.index], d);
      }
    });
    uint32_t length = uint32_t(b.insts.size()) + 1;
    for (LiveIn& l : live.liveIn[id.index]) {
      if (l.local != Never) l.distance = l.local;
      else if (stamp[l.reg.index] == ~round) l.distance = std::min(Farthest, stamped[l.reg.index] + length);
    }
  }
  uint32_t round = 0;

  void pressureAndCalls(BlockId id) {
    Block& b = f.blocks[id.index];
    live.crossesCall.resize(f.vregs.size());
    ++round;
    uint32_t count[ClassCount] = {}, most[ClassCount] = {};
    std::vector<uint32_t> alive;        // everything live at or before the point, dead ones included
    auto revive = [&](VReg v) {
      if (stamp[v.index] == ~round && stamped[v.index]) return;
      if (stamp[v.index] != ~round) alive.push_back(v.index);
      stamp[v.index] = ~round;
      stamped[v.index] = 1;
      ++count[unsigned(f.vregs[v.index].cls)];
    };
    visitLiveOut(id, [&](VReg v, uint32_t) { revive(v); });
    for (const Edge& e : b.succs)
      for (VReg a : e.args) revive(a);
    bool hasCall = false;
    uint32_t lastMarked = 0;
    for (uint32_t i = uint32_t(b.insts.size()); i-- > 0;) {
      const Inst& inst = b.insts[i];
      const Operand* ops = f.operandsOf(inst);
      for (unsigned c = 0; c < ClassCount; ++c) most[c] = std::max(most[c], count[c]);
      for (unsigned k = 0; k < inst.operandCount; ++k)
        if (ops[k].isDef && stamp[ops[k].reg.index] == ~round && stamped[ops[k].reg.index]) {
          stamped[ops[k].reg.index] = 0;
          --count[unsigned(f.vregs[ops[k].reg.index].cls)];
        }
      if (inst.isCall) {
        hasCall = true;
        // Whatever has been alive since the last marked call and still is lives across this one; older ones are marked
        // already.
        uint32_t kept = lastMarked;
        for (uint32_t j = lastMarked; j < alive.size(); ++j) {
          uint32_t v = alive[j];
          if (!stamped[v]) continue;
          live.crossesCall[v] = true;
          alive[kept++] = v;
        }
        alive.resize(kept);
        lastMarked = kept;
      }
      for (unsigned k = 0; k < inst.operandCount; ++k)
        if (!ops[k].isDef) revive(ops[k].reg);
    }
    for (unsigned c = 0; c < ClassCount; ++c) most[c] = std::max(most[c], count[c]);
    for (uint32_t l = live.loopOf[id.index]; l != NoLoop; l = live.loops[l].parent) {
      live.loops[l].hasCall |= hasCall && inEveryIteration(id, live.loops[l]);
      for (unsigned c = 0; c < ClassCount; ++c)
        live.loops[l].pressure[c] = std::max(live.loops[l].pressure[c], most[c]);
    }
  }
};

}  // namespace

Liveness analyse(Function& f) { return Analyser(f).run(); }

}  // namespace mica::mir
