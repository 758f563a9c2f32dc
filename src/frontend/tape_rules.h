// The rules of the tape that depend on marks (rules.md, 4 and 5): where `Backward` and `Gradient` may stand, what is recorded and may not
// change in place, what may not leave its window, and that windows do not nest.
//
// They are checked for each instance that the program reaches, since a function is compiled for tracked arguments where it is called
// with them. What is wrong in an instance is reported at the operation, with a note at the call that made it so.
#pragma once
#include "frontend/diagnostics.h"
#include "frontend/marks.h"
#include "frontend/source.h"
#include "frontend/tree.h"

namespace mica {

// Reports every breach in the program's own functions. False when there was one.
bool checkTapeRules(Program&, Marks&, Diagnostics&, const SourceFiles&);

}  // namespace mica
