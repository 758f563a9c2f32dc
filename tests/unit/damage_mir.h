// Damages an allocation in one random way that an allocator could have: a wrong location, a missing or superfluous move, an edge to
// elsewhere, a slot that is too small. Many damages do harm, some change nothing.
#pragma once
#include <string>

#include "random_mir.h"

namespace mica::mir {

// What was done, as text; empty when the function has nothing of the kind that the dice chose.
std::string damage(Dice&, Function& after, const Target&);

}  // namespace mica::mir
