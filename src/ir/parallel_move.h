// Several moves that happen at once, put into an order of single moves.
//
// Each destination occurs once; sources may repeat. A move whose destination nobody still reads can go at once; what is
// left over are cycles. A cycle is undone by carrying one value over a spare register; without one, by exchanges among
// general registers, else over a spare spill slot. A move from slot to slot goes through a spare register, or through a
// register that is saved in a spare slot meanwhile. Values that are made rather than moved (constants) come last, when
// their destination is free.
#pragma once
#include <functional>

#include "ir/mir.h"

namespace mica::mir {

struct PendingMove {
  Loc from;                   // none: made by `remat`
  Loc to;
  VReg value;                 // what is moved, for the checker and for its class and size
  const Inst* remat = nullptr;
};

// One step: a Move, a Swap, or (with remat) the instruction that makes the value in register `to`.
struct MoveStep {
  enum Kind : uint8_t { Move, Swap, Remat } kind = Move;
  Loc from, to;
  VReg value;
  const Inst* remat = nullptr;
};

struct MoveContext {
  const Function& function;
  RegSet freeRegs = 0;  // registers of any class that hold nothing before, during and after
  const Target& target;
  std::function<uint32_t(unsigned size, unsigned which)> spareSlot;   // a slot kept for this purpose; which: 0 or 1
};

std::vector<MoveStep> orderMoves(std::vector<PendingMove> moves, const MoveContext& context);

}  // namespace mica::mir
