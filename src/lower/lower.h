// Checked tree -> IR. A work list of instances: starting from `Main` (or the runtime's own functions), each instance that a body calls is
// lowered once. What the precompiled runtime already holds is only declared.
//
// Everything that is not a scalar is handled by its address (docs/internals.md, "Values at run time"); mem2reg and sroa
// take the slots apart again.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "frontend/marks.h"
#include "frontend/source.h"
#include "frontend/tree.h"
#include "ir/ir.h"

namespace mica::lower {

struct Options {
  bool release = false;                      // overflow wraps, conversions saturate
  int lanes[3] = {4, 4, 4};                  // natural float32 lanes at processor level 0 (unused), 1, 2
  std::function<bool(std::string_view symbol)> precompiled;   // does the carried runtime define it (may be empty)
  std::function<bool(DeclId)> ensureBody;    // checks a library function's body; false: it has errors
  std::function<DeclId(std::string_view module, std::string_view name)> require;   // a library declaration, loaded if need be
};

// A program that starts at Main: `mica.main` and all that it reaches.
bool lowerProgram(Program&, Marks&, const SourceFiles&, Diagnostics&, const Options&, ir::Module&);
// The `test` blocks of the program as one main that runs them in order.
bool lowerTests(Program&, Marks&, const SourceFiles&, Diagnostics&, const Options&, ir::Module&);
// Every non-generic function of the given modules.
bool lowerLibrary(Program&, Marks&, const SourceFiles&, Diagnostics&, const Options&, ir::Module&);

}  // namespace mica::lower
