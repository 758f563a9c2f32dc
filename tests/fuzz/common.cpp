// See common.h. The linker puts `__wrap__Exit` where the compiler calls _Exit, that is, where it reports an internal error: those are finds.
#include "fuzz/common.h"

#include <cstdio>
#include <cstdlib>

namespace fuzz {

void broken(const char* statement, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, statement);
  std::abort();
}

}  // namespace fuzz

extern "C" void __wrap__Exit(int) { std::abort(); }
