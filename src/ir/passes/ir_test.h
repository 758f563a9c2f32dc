// `mica ir-test FILE`: runs passes over IR text and prints what comes out, for golden tests.
//
//   ; test passes=fold,dce maxvector=16        the passes to run; nothing to run: only parse and verify
//                                              keep=f: the function that is wanted from outside (for unreached)
//   func @f() { ... }
//   ; expect
//   ; ...                                       compared by the test runner
#pragma once
#include <string>

namespace mica::ir {

// Prints the module after the passes, or what the parser or verifier found (then answers 1). With `update` it writes the
// expectation into the file instead of printing.
int irTest(const std::string& path, bool update = false);

// The same for text: the lines that belong below `; expect`, without their comment signs.
std::string irTestText(const std::string& text, bool& good);

}  // namespace mica::ir
