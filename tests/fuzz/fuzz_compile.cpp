// A program to an executable's bytes at one of the tiers, with the IR verified after each pass and each register allocation replayed.
#include "driver.h"
#include "fuzz/common.h"

using namespace mica;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  BuildOptions options;
  options.file = "absent/fuzz.mica";
  options.text = fuzz::textOf(data, size);
  options.tier = TierName(size % 3);
  options.verify = true;
  Compilation c(options);
  bool good = c.parseAndCheck() && c.lowerToIr();
  if (good) {
    c.runPasses();
    std::string bytes;
    good = c.link(bytes);
  }
  HOLDS(good || !c.messages().empty());
  return 0;
}
