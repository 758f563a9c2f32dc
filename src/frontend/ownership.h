// Owners, moves, places and borrows of one checked body (rules.md, 1 and 2).
#pragma once
#include "frontend/diagnostics.h"
#include "frontend/source.h"
#include "frontend/tree.h"

namespace mica {

// Reports every breach. False when there was one.
bool checkOwnership(Program&, DeclId, Diagnostics&, const SourceFiles&);

}  // namespace mica
