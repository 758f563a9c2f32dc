// The allocator's working state, shared by its parts: regalloc.cpp (instructions), regalloc_blocks.cpp (what registers
// hold at a block's start), regalloc_finish.cpp (edges, spill slots, the final instruction lists).
#pragma once
#include <deque>

#include "ir/mir_liveness.h"
#include "ir/parallel_move.h"
#include "ir/regalloc.h"

namespace mica::mir {

struct Held { VReg reg; PReg at; };

// While blocks are processed a value's spill slot is numbered like the value; slots are shared out at the end.
class Allocator {
 public:
  Allocator(Function& function, const Target& target);
  AllocationStats run();

 private:
  Function& f;
  const Target& t;
  Liveness live;
  AllocationStats stats;

  // by register
  std::vector<PReg> regOf;                 // where it is now
  std::vector<uint32_t> nextUse;           // within the current block's numbering; Never: dead
  std::vector<uint32_t> seenIn;            // nextUse is valid for this block's stamp
  std::vector<bool> spilled;               // lives in its slot too
  std::vector<uint32_t> rematOf;           // number in remats, or Never
  std::vector<PReg> fixedHint;
  std::vector<VReg> phiHint, tiedHint;
  std::vector<PReg> wish;                  // block parameters: where arguments have come to lie
  std::vector<Inst> remats;

  // by block
  std::vector<std::vector<Held>> entry, exit;
  std::vector<bool> done;
  std::vector<std::vector<Inst>> output;

  // the current block
  VReg inReg[64];
  RegSet occupied = 0;
  uint32_t stampNow = 0;
  uint32_t here = 0;                       // the current instruction's number
  std::vector<uint32_t> after;             // by operand: the next use after this instruction
  std::vector<Inst>* out = nullptr;

  // the current instruction
  std::vector<PendingMove> pending;
  bool beforeInst = false;                 // still choosing what happens before it
  struct Former { VReg reg; PReg at; };
  std::vector<Former> former;  // where values were before it that it moves, drops or loads; the first entry counts

  RegSet classRegs(VReg v) const { return t.allocatable[unsigned(f.vregs[v.index].cls)]; }
  bool isRemat(VReg v) const { return rematOf[v.index] != Never; }
  bool cheapToDrop(VReg v) const { return isRemat(v) || spilled[v.index]; }
  static Loc homeSlot(VReg v) { return Loc::slot(v.index); }

  // regalloc.cpp
  void prepareHints();
  void scanBlock(BlockId);
  void processBlock(BlockId);
  void allocate(Inst&);
  bool outlasts(const Inst&, VReg) const;
  void vacate(Inst&, RegSet fixedUse, RegSet gone);
  void placeUses(Inst&, RegSet fixedUse, RegSet gone);
  void placeTied(Inst&, RegSet fixedUse, RegSet gone);
  void placeDefs(Inst&, RegSet gone);
  void emitPending(RegSet occupiedBefore, const Inst&);
  void settle(VReg v, PReg r);             // v is in r from now on
  void drop(VReg v);
  void addSource(VReg v, PReg to);  // a pending move of v, from wherever it was before the instruction, to a register
  PReg formerReg(VReg v) const;
  PReg hintOf(VReg v, RegSet candidates, int depth = 0) const;
  PReg pick(VReg v, RegSet candidates) const;
  PReg takeFrom(VReg v, RegSet candidates, RegSet keep,
                uint32_t nearer);  // a free one, or by dropping what is needed farthest
  void appendStep(std::vector<Inst>& to, const MoveStep&, ir::PlaceId);

  // regalloc_blocks.cpp
  void enterBlock(BlockId);
  struct Candidate { VReg reg; uint32_t distance; PReg prefer; uint32_t rank; bool isParam; };
  std::vector<Candidate> entryCandidates(BlockId, bool open);
  void limit(BlockId, std::vector<Candidate>&, RegClass, bool open);
  std::vector<uint32_t> votes, votedIn;    // by register: in how many predecessors' registers it is
  std::vector<PReg> vote;

  // Where a value that lives on leaves its register. Its slot must be right from there on: by a store at each such site
  // or by one behind the definition, whichever is executed more rarely.
  struct Site { VReg reg; BlockId block; uint32_t index; PReg at; };            // in front of output[block][index]
  struct EdgeSite { VReg reg; uint32_t edge; PReg at; };                        // in edgeMoves[edge]
  std::vector<Site> sites;
  std::vector<EdgeSite> edgeSites;
  std::vector<bool> storedAtSites;         // by register
  BlockId blockNow;

  // regalloc_finish.cpp
  struct EdgeMoves { BlockId from; uint32_t succ; std::vector<PendingMove> moves; RegSet free; };
  std::vector<EdgeMoves> edgeMoves;
  std::vector<uint32_t> slotOf;            // by register
  void collectEdgeMoves();
  void placeStores();
  double frequency(BlockId) const;
  void assignSlots();
  void insertEdgeMoves();
  void rebuildBlocks();
  struct Hull { VReg reg; uint32_t start, end; };
  std::vector<Hull> spilledHulls() const;
  Loc finalLoc(Loc) const;
  uint32_t spareSlot(unsigned size, unsigned which);
  struct Spare { unsigned size, which; uint32_t slot; };
  std::vector<Spare> spareSlots;
};

}  // namespace mica::mir
