// Register allocation, the end: moves on edges, spill slots, stores behind definitions, the final instruction lists.
#include <algorithm>
#include <bit>
#include <map>
#include <queue>

#include "ir/regalloc_state.h"

namespace mica::mir {

// What has to move on each edge, with spill slots still numbered like their values.
void Allocator::collectEdgeMoves() {
  RegSet all = (t.allocatable[0] | t.allocatable[1]) & (f.usedRegs | ~t.calleeSaved);
  std::vector<bool> isParam(f.vregs.size()), inEntry(f.vregs.size());
  for (BlockId id : live.order) {
    Block& b = f.blocks[id.index];
    RegSet held = 0;
    for (const Held& h : exit[id.index]) {
      regOf[h.reg.index] = h.at;
      held |= bit(h.at);
    }
    for (uint32_t s = 0; s < b.succs.size(); ++s) {
      const Edge& e = b.succs[s];
      const Block& to = f.blocks[e.to.index];
      EdgeMoves moves{id, s, {}, all & ~held};
      auto add = [&](VReg v, VReg named, Loc where) {
        if (where.isReg()) moves.free &= ~bit(PReg(where.index));
        if (PReg r = regOf[v.index]; r != NoReg) {
          if (Loc::reg(r) != where) moves.moves.push_back({Loc::reg(r), where, named, nullptr});
        } else if (isRemat(v)) {
          moves.moves.push_back({{}, where, v, &remats[rematOf[v.index]]});
        } else {
          spilled[v.index] = true;
          if (homeSlot(v) != where) moves.moves.push_back({homeSlot(v), where, named, nullptr});
        }
      };
      for (VReg p : to.params) isParam[p.index] = true;
      for (const Held& h : entry[e.to.index])
        if (!isParam[h.reg.index]) add(h.reg, h.reg, Loc::reg(h.at));
      for (VReg p : to.params) isParam[p.index] = false;
      for (const Held& h : entry[e.to.index]) inEntry[h.reg.index] = true;
      const std::vector<LiveIn>& liveThere = live.liveIn[e.to.index];
      for (const Held& h : exit[id.index]) {
        if (inEntry[h.reg.index] || isRemat(h.reg)) continue;
        auto l = std::lower_bound(liveThere.begin(), liveThere.end(), h.reg,
                                  [](const LiveIn& a, VReg v) { return a.reg < v; });
        if (l != liveThere.end() && l->reg == h.reg) edgeSites.push_back({h.reg, uint32_t(edgeMoves.size()), h.at});
      }
      for (const Held& h : entry[e.to.index]) inEntry[h.reg.index] = false;
      for (size_t k = 0; k < to.params.size(); ++k)
        if (to.paramLocs[k].kind != Loc::None) add(e.args[k], e.args[k], to.paramLocs[k]);
      edgeMoves.push_back(std::move(moves));
    }
    for (const Held& h : exit[id.index]) regOf[h.reg.index] = NoReg;
  }
}

// How often a block is executed, roughly.
double Allocator::frequency(BlockId b) const {
  double times = live.everyIteration[b.index] ? 1 : 0.4;
  for (uint32_t d = 0; d < f.blocks[b.index].loopDepth && d < 30; ++d) times *= 8;
  return f.blocks[b.index].cold ? times / 1000 : times;
}

// Decides for each spilled value where it is stored.
void Allocator::placeStores() {
  std::vector<double> atSites(f.vregs.size(), 0), atDef(f.vregs.size(), 0);
  for (const Site& s : sites) atSites[s.reg.index] += frequency(s.block);
  for (const EdgeSite& s : edgeSites) {
    const EdgeMoves& e = edgeMoves[s.edge];
    atSites[s.reg.index] += std::min(frequency(e.from), frequency(f.blocks[e.from.index].succs[e.succ].to));
  }
  storedAtSites.assign(f.vregs.size(), false);
  auto decide = [&](VReg v, BlockId b) {
    storedAtSites[v.index] = spilled[v.index] && atSites[v.index] < frequency(b);
  };
  for (BlockId id : live.order) {
    const Block& b = f.blocks[id.index];
    for (size_t k = 0; k < b.params.size(); ++k)
      if (b.paramLocs[k].isReg()) decide(b.params[k], id);
    for (const Inst& i : b.insts) {
      const Operand* ops = f.operandsOf(i);
      for (unsigned k = 0; k < i.operandCount; ++k)
        if (ops[k].isDef) decide(ops[k].reg, id);
    }
  }
  for (const EdgeSite& s : edgeSites)
    if (storedAtSites[s.reg.index])
      edgeMoves[s.edge].moves.push_back({Loc::reg(s.at), homeSlot(s.reg), s.reg, nullptr});
}

// For each spilled value the stretch of the order that covers its life.
std::vector<Allocator::Hull> Allocator::spilledHulls() const {
  std::vector<uint32_t> first(f.vregs.size(), Never), last(f.vregs.size(), 0);
  auto touch = [&](VReg v, uint32_t at) {
    if (!spilled[v.index]) return;
    first[v.index] = std::min(first[v.index], at);
    last[v.index] = std::max(last[v.index], at);
  };
  std::vector<uint32_t> endOf(f.blocks.size());
  uint32_t at = 0;
  for (BlockId id : live.order) {
    const Block& b = f.blocks[id.index];
    ++at;
    for (const LiveIn& l : live.liveIn[id.index]) touch(l.reg, at);
    for (VReg p : b.params) touch(p, at);
    for (const Inst& i : b.insts) {
      at += 2;
      const Operand* ops = f.operandsOf(i);
      for (unsigned k = 0; k < i.operandCount; ++k) touch(ops[k].reg, ops[k].isDef ? at + 1 : at);
    }
    at += 2;
    endOf[id.index] = at;
    for (const Edge& e : b.succs)
      for (VReg a : e.args) touch(a, at);
  }
  for (BlockId id : live.order) {
    const Block& b = f.blocks[id.index];
    for (BlockId p : b.preds) {
      for (const LiveIn& l : live.liveIn[id.index]) touch(l.reg, endOf[p.index]);
      for (VReg q : b.params) touch(q, endOf[p.index]);
    }
  }
  std::vector<Hull> hulls;
  for (uint32_t v = 0; v < f.vregs.size(); ++v)
    if (first[v] != Never) hulls.push_back({VReg(v), first[v], last[v]});
  std::stable_sort(hulls.begin(), hulls.end(), [](const Hull& a, const Hull& b) { return a.start < b.start; });
  return hulls;
}

// Values whose lives lie apart share slots.
void Allocator::assignSlots() {
  slotOf.assign(f.vregs.size(), Never);
  std::map<unsigned, std::vector<uint32_t>> free;   // by size
  using Ending = std::pair<uint32_t, uint32_t>;     // end, value
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> active;
  for (const Hull& h : spilledHulls()) {
    while (!active.empty() && active.top().first < h.start) {
      uint32_t v = active.top().second;
      active.pop();
      free[f.vregs[v].size].push_back(slotOf[v]);
    }
    unsigned size = f.vregs[h.reg.index].size;
    std::vector<uint32_t>& candidates = free[size];
    if (candidates.empty()) {
      slotOf[h.reg.index] = uint32_t(f.spillSlots.size());
      f.spillSlots.push_back({size});
    } else {
      slotOf[h.reg.index] = candidates.back();
      candidates.pop_back();
    }
    active.push({h.end, h.reg.index});
  }
  for (Spare& s : spareSlots) {
    s.slot = uint32_t(f.spillSlots.size());
    f.spillSlots.push_back({s.size});
  }
}

// The number of a spare slot among the spare ones; they get their final numbers with the others.
uint32_t Allocator::spareSlot(unsigned size, unsigned which) {
  for (uint32_t k = 0; k < spareSlots.size(); ++k)
    if (spareSlots[k].size == size && spareSlots[k].which == which) return k;
  spareSlots.push_back({size, which, Never});
  return uint32_t(spareSlots.size() - 1);
}

Loc Allocator::finalLoc(Loc l) const {
  if (!l.isSlot()) return l;
  if (l.index < f.vregs.size()) return Loc::slot(slotOf[l.index]);
  return Loc::slot(spareSlots[Never - 1 - l.index].slot);
}

// Final locations, stores behind the definitions of spilled values, and copies vanish.
void Allocator::rebuildBlocks() {
  std::vector<std::vector<const Site*>> sitesOf(f.blocks.size());
  for (const Site& s : sites)
    if (storedAtSites[s.reg.index]) sitesOf[s.block.index].push_back(&s);
  for (BlockId id : live.order) {
    Block& b = f.blocks[id.index];
    std::vector<Inst> insts;
    insts.reserve(output[id.index].size() + 4);
    auto store = [&](VReg v, Loc from, ir::PlaceId place) {
      appendStep(insts, {MoveStep::Move, from, finalLoc(homeSlot(v)), v, nullptr}, place);
    };
    ir::PlaceId firstPlace = b.insts.empty() ? ir::PlaceId() : b.insts[0].place;
    for (size_t k = 0; k < b.params.size(); ++k) {
      b.paramLocs[k] = finalLoc(b.paramLocs[k]);
      if (b.paramLocs[k].isReg() && spilled[b.params[k].index] && !storedAtSites[b.params[k].index])
        store(b.params[k], b.paramLocs[k], firstPlace);
    }
    size_t nextSite = 0;
    for (uint32_t n = 0; n < output[id.index].size(); ++n) {
      const Inst& i = output[id.index][n];
      for (; nextSite < sitesOf[id.index].size() && sitesOf[id.index][nextSite]->index == n; ++nextSite) {
        const Site& s = *sitesOf[id.index][nextSite];
        store(s.reg, Loc::reg(s.at), i.place);
      }
      for (unsigned k = 0; k < i.operandCount; ++k) {
        Operand& o = f.operands[i.firstOperand + k];
        o.loc = finalLoc(o.loc);
      }
      insts.push_back(i);
      if (i.op == Move || i.op == Swap || i.remat) continue;
      for (unsigned k = 0; k < i.operandCount; ++k) {
        const Operand o = f.operands[i.firstOperand + k];
        if (o.isDef && spilled[o.reg.index] && !storedAtSites[o.reg.index]) store(o.reg, o.loc, i.place);
      }
    }
    b.insts = std::move(insts);
  }
}

void Allocator::insertEdgeMoves() {
  std::vector<std::vector<BlockId>> behind(f.blocks.size());
  std::vector<BlockId> before(f.blocks.size());
  std::vector<uint32_t> placeOf(f.blocks.size());
  for (uint32_t k = 0; k < f.order.size(); ++k) placeOf[f.order[k].index] = k;
  for (EdgeMoves& e : edgeMoves) {
    for (PendingMove& m : e.moves) {
      m.from = finalLoc(m.from);
      m.to = finalLoc(m.to);
    }
    MoveContext context{f, e.free, t, [this](unsigned size, unsigned which) {
      Spare& s = spareSlots[spareSlot(size, which)];
      if (s.slot == Never) {
        s.slot = uint32_t(f.spillSlots.size());
        f.spillSlots.push_back({size});
      }
      return s.slot;
    }};
    std::vector<MoveStep> steps = orderMoves(e.moves, context);
    if (steps.empty()) continue;
    std::vector<Inst> insts;
    ir::PlaceId place = f.blocks[e.from.index].insts.back().place;
    for (const MoveStep& s : steps) appendStep(insts, s, place);
    Block& from = f.blocks[e.from.index];
    if (from.succs.size() == 1) {
      from.insts.insert(from.insts.end() - 1, insts.begin(), insts.end());
      continue;
    }
    Inst jump;
    jump.op = t.jumpOp;
    jump.isTerminator = true;
    jump.place = place;
    insts.push_back(jump);
    BlockId between(uint32_t(f.blocks.size()));
    // In front of a loop's head it is on the way back without another jump.
    BlockId to = from.succs[e.succ].to;
    if (to.index != 0 && !before[to.index] && placeOf[to.index] <= placeOf[e.from.index]) before[to.index] = between;
    else behind[e.from.index].push_back(between);
    Block made;
    made.insts = std::move(insts);
    made.succs.push_back(from.succs[e.succ]);
    made.loopDepth = std::min(from.loopDepth, f.blocks[from.succs[e.succ].to.index].loopDepth);
    made.cold = f.blocks[from.succs[e.succ].to.index].cold;
    from.succs[e.succ] = {between, {}};
    f.blocks.push_back(std::move(made));
  }
  if (f.blocks.size() != behind.size()) {
    std::vector<BlockId> order;
    for (BlockId b : f.order) {
      if (before[b.index]) order.push_back(before[b.index]);
      order.push_back(b);
      order.insert(order.end(), behind[b.index].begin(), behind[b.index].end());
    }
    f.order = std::move(order);
  }
  for (Block& b : f.blocks) b.preds.clear();
  for (BlockId b : f.order)
    for (const Edge& e : f.blocks[b.index].succs) f.blocks[e.to.index].preds.push_back(b);
}

}  // namespace mica::mir
