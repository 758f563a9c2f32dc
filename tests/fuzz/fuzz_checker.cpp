// A program through the whole front end: names, types, shapes, ownership, the tape's rules, and the marks of each instance that
// lowering asks for (what `mica check` does).
#include "driver.h"
#include "fuzz/common.h"

using namespace mica;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  BuildOptions options;
  options.file = "absent/fuzz.mica";   // beside it lies no module to import
  options.text = fuzz::textOf(data, size);
  Compilation c(options);
  bool good = c.parseAndCheck();
  if (good && c.program().main) good = c.lowerToIr();
  HOLDS(good || !c.messages().empty());
  return 0;
}
