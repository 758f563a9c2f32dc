// An independent check of a register allocation: replays the allocated function with names in place of numbers.
//
// For every point it knows which virtual registers each physical register and spill slot holds (a location may hold
// several equal ones: copies, a block parameter and its argument); where paths meet only what all agree on remains. It
// refuses the function when an instruction reads a location that does not hold the operand, when a constraint is
// broken, when a block parameter is not where the block expects it, or when an instruction or an edge of the original is
// missing, added or moved. It knows nothing of how the allocator works.
#pragma once
#include <string>

#include "ir/mir.h"

namespace mica::mir {

// `before` is the function as the allocator received it. False with `error` set when the allocation is wrong.
bool checkAllocation(const Function& before, const Function& after, const Target&, std::string& error);

}  // namespace mica::mir
