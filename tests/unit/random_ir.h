// Makes random but well-behaved IR: verified, terminating, free of wild memory accesses, the same for the same seed. It has what passes
// look for: slots with parts, counted loops with checks, calls, traps, floats, vectors, switches, loads and stores that overlap.
#pragma once
#include <cstdint>

#include "ir/ir.h"

namespace mica::ir {

// Adds functions @h0, @h1 … and @f(i64, i64, ptr) -> i64, where the pointer leads to 256 bytes that may be read and written.
void addRandomProgram(Module&, uint64_t seed);

}  // namespace mica::ir
