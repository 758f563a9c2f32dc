// Register allocation for every target: writes a location into each operand of a machine function and inserts the
// moves.
//
// Idea: one walk over the blocks in reverse postorder, one over each block's instructions, with the contents of the
// registers in hand. A value that must give way is the one whose next use is farthest (leaving a loop counts as very
// far), and giving way costs little: a value that is ever needed from memory is stored once, right after its definition
// (SSA: the slot stays true), or, where that is rarer, at the places where it gives way; and a value that can be made
// anywhere (a constant, an address) is made only where it is needed, and made again instead of being kept at any cost.
// At a loop's head the values used in the loop take the registers first. Where an edge's two ends disagree, a parallel
// move reconciles them. Constraints are met at the instruction by a parallel move in front of it; hints (a tied result,
// a block parameter, an argument's register, a call ahead) make most of these vanish.
//
// Two operands, a Use and the Def tied to it, share a register: the use's value is copied first if it lives on.
#pragma once
#include "ir/mir.h"

namespace mica::mir {

struct AllocationStats { uint32_t spilledValues = 0, moves = 0, reloads = 0, spills = 0, remats = 0; };

AllocationStats allocateRegisters(Function&, const Target&);

}  // namespace mica::mir
