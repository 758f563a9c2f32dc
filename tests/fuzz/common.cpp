// See common.h. The linker puts `__wrap__Exit` where _Exit is called. The compiler does so with 70 when it has reported an internal error, and that
// is a find; libFuzzer does so with other numbers.
#include "fuzz/common.h"

#include <cstdio>
#include <cstdlib>

namespace fuzz {

void broken(const char* statement, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, statement);
  std::abort();
}

}  // namespace fuzz

extern "C" void __real__Exit(int status);

extern "C" void __wrap__Exit(int status) {
  if (status == 70) std::abort();
  __real__Exit(status);
}
