// Runs machine functions of which only the data flow counts: every instruction makes new numbers of what it reads, and branches go
// where dice say. Before allocation values are looked up by virtual register, afterwards by location, with moves, clobbers and the
// sizes of slots; the allocation is right when both read the same. Apart from the allocator and from its checker.
#pragma once
#include <string>

#include "ir/mir.h"

namespace mica::mir {

// Empty when `after` does on `ways` random ways what `before` does, and saves all registers that it must; else what differs.
std::string compareRuns(const Function& before, const Function& after, const Target&, uint64_t seed, unsigned ways);

}  // namespace mica::mir
