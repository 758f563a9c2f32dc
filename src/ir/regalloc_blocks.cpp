// Register allocation: what the registers hold where a block starts.
//
// A block with one predecessor goes on with what that left. At a join, what all predecessors have in registers comes
// first, then what some have. At a loop's head (a predecessor is still to come) the values that the loop uses come
// first, in order of their next use, then, if the loop leaves room, those that only live through it.
#include <algorithm>
#include <bit>

#include "ir/regalloc_state.h"

namespace mica::mir {

std::vector<Allocator::Candidate> Allocator::entryCandidates(BlockId id, bool open) {
  const Block& b = f.blocks[id.index];
  votes.resize(f.vregs.size());
  votedIn.resize(f.vregs.size());
  vote.resize(f.vregs.size());
  uint32_t known = 0, bestDepth = 0;
  for (BlockId p : b.preds) {
    if (!done[p.index]) continue;
    bool better = known == 0 || f.blocks[p.index].loopDepth > bestDepth;
    if (better) bestDepth = f.blocks[p.index].loopDepth;
    ++known;
    for (const Held& h : exit[p.index]) {
      if (votedIn[h.reg.index] != stampNow) {
        votedIn[h.reg.index] = stampNow;
        votes[h.reg.index] = 0;
        vote[h.reg.index] = h.at;
      }
      ++votes[h.reg.index];
      if (better) vote[h.reg.index] = h.at;
    }
  }
  std::vector<Candidate> result;
  for (const LiveIn& l : live.liveIn[id.index]) {
    VReg v = l.reg;
    uint32_t n = votedIn[v.index] == stampNow ? votes[v.index] : 0;
    PReg prefer = n ? vote[v.index] : NoReg;
    if (open ? n || nextUse[v.index] < LoopExit : n == known || (n && !isRemat(v)))
      result.push_back({v, nextUse[v.index], prefer, open || n == known ? 0u : 1u, false});
  }
  for (size_t k = 0; k < b.params.size(); ++k) {
    VReg p = b.params[k];
    if (seenIn[p.index] != stampNow) continue;   // never used
    uint32_t inRegs = 0;
    PReg prefer = NoReg;
    for (BlockId pred : b.preds) {
      if (!done[pred.index]) continue;
      for (const Edge& e : f.blocks[pred.index].succs) {
        if (e.to != id) continue;
        VReg a = e.args[k];
        bool held = votedIn[a.index] == stampNow && votes[a.index];
        if (held || isRemat(a)) ++inRegs;
        if (held && prefer == NoReg) prefer = vote[a.index];
      }
    }
    uint32_t rank = open || inRegs >= known ? 0 : 1;
    if (rank == 0 || inRegs || nextUse[p.index] < 50) result.push_back({p, nextUse[p.index], prefer, rank, true});
  }
  std::stable_sort(result.begin(), result.end(), [](const Candidate& x, const Candidate& y) {
    return x.rank != y.rank ? x.rank < y.rank : x.distance < y.distance;
  });
  return result;
}

// Removes the candidates of a class that get no register.
void Allocator::limit(BlockId id, std::vector<Candidate>& candidates, RegClass cls, bool open) {
  auto isClass = [&](const Candidate& c) { return f.vregs[c.reg.index].cls == cls; };
  uint32_t room = uint32_t(std::popcount(t.allocatable[unsigned(cls)]));
  uint32_t l = live.loopOf[id.index];
  uint32_t throughRoom = room,
           keptRoom = room;  // for what only lives through the loop; for what is used in it and not its own
  if (open) {
    throughRoom = 0;
    if (l != NoLoop && live.loops[l].head == id) {
      const Loop& loop = live.loops[l];
      uint32_t through = 0;
      for (const LiveIn& x : live.liveIn[id.index])
        through += f.vregs[x.reg.index].cls == cls && nextUse[x.reg.index] >= LoopExit;
      uint32_t inner = loop.pressure[unsigned(cls)] - std::min(through, loop.pressure[unsigned(cls)]);
      throughRoom = room > inner ? room - inner : 0;
      if (loop.hasCall) {
        keptRoom = uint32_t(std::popcount(t.allocatable[unsigned(cls)] & t.calleeSaved));
        uint32_t used = 0;
        for (const Candidate& c : candidates) used += isClass(c) && c.distance < LoopExit;
        throughRoom = std::min(throughRoom, keptRoom > used ? keptRoom - used : 0);
      }
    }
  }
  std::erase_if(candidates, [&](const Candidate& c) {
    if (!isClass(c)) return false;
    if (room == 0) return true;
    if (open && c.distance >= LoopExit) {
      if (throughRoom == 0) return true;
      --throughRoom;
    } else if (open && !c.isParam) {
      if (keptRoom == 0) return true;
      --keptRoom;
    }
    --room;
    return false;
  });
}

void Allocator::enterBlock(BlockId id) {
  Block& b = f.blocks[id.index];
  for (VReg p : b.params)
    if (seenIn[p.index] != stampNow) nextUse[p.index] = Never;
  b.paramLocs.assign(b.params.size(), Loc());
  if (id.index == 0) return;
  bool open = false;
  for (BlockId p : b.preds) open |= !done[p.index];
  std::vector<Candidate> candidates = entryCandidates(id, open);
  for (unsigned c = 0; c < ClassCount; ++c) limit(id, candidates, RegClass(c), open);

  uint32_t l = live.loopOf[id.index];
  bool callLoop = open && l != NoLoop && live.loops[l].head == id && live.loops[l].hasCall;
  auto suits = [&](const Candidate& c, PReg r) {
    if (occupied & bit(r)) return false;
    return !(callLoop && live.crossesCall[c.reg.index] && f.vregs[c.reg.index].cls == RegClass::Int &&
             !(t.calleeSaved & bit(r)));
  };
  for (bool params : {false, true})
    for (const Candidate& c : candidates)
      if (c.isParam == params && c.prefer != NoReg && suits(c, c.prefer)) settle(c.reg, c.prefer);
  for (const Candidate& c : candidates)
    if (regOf[c.reg.index] == NoReg) settle(c.reg, pick(c.reg, classRegs(c.reg) & ~occupied));
  for (const Candidate& c : candidates) entry[id.index].push_back({c.reg, regOf[c.reg.index]});

  for (size_t k = 0; k < b.params.size(); ++k) {
    VReg p = b.params[k];
    if (regOf[p.index] != NoReg) {
      b.paramLocs[k] = Loc::reg(regOf[p.index]);
      wish[p.index] = regOf[p.index];
    } else if (nextUse[p.index] != Never) {
      b.paramLocs[k] = homeSlot(p);
      spilled[p.index] = true;
    }
  }
}

}  // namespace mica::mir
