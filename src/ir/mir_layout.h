// The order in which a machine function's blocks are laid out: loops in one piece, a loop's test at its end (so that an
// iteration has one jump), cold blocks last.
#pragma once
#include "ir/mir_liveness.h"

namespace mica::mir {

void layOut(Function&, const Liveness&);

}  // namespace mica::mir
