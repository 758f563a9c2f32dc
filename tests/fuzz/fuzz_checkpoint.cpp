// A checkpoint file, read by the runtime's reader in the interpreter: the program of checkpoint.mica ends with 0. The fuzzer sees which operations
// the interpreter carries out, not which lines of the reader run; the first inputs are whole checkpoints, so that most of it is reached.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "driver.h"
#include "fuzz/common.h"
#include "ir/interp.h"

using namespace mica;

namespace {

// The program, compiled once.
Compilation& reader() {
  static Compilation* compiled = [] {
    BuildOptions options;
    options.file = "tests/fuzz/checkpoint.mica";
    options.interpret = true;
    auto* c = new Compilation(options);
    if (!c->parseAndCheck() || !c->lowerToIr()) {
      std::fputs(c->messages().c_str(), stderr);
      std::abort();
    }
    c->runPasses();
    return c;
  }();
  return *compiled;
}

// The bytes as a file that has a path.
struct MemoryFile {
  int handle = memfd_create("checkpoint", 0);
  MemoryFile(const uint8_t* data, size_t size) { HOLDS(handle >= 0 && write(handle, data, size) == ssize_t(size)); }
  ~MemoryFile() { close(handle); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(handle); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  MemoryFile file(data, size);
  HOLDS(ir::interpret(reader().module(), {"reader", "--file", file.path()}) == 0);
  return 0;
}
