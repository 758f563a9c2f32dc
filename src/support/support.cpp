// The one way in which the compiler says that it is itself at fault.
#include "support/support.h"
#include <cstdio>
#include <cstdlib>

namespace mica {

void internalError(const std::string& what) {
  std::fflush(stdout);
  std::fprintf(stderr, "internal compiler error: %s\nplease report this together with the input that caused it\n", what.c_str());
  std::_Exit(70);
}

}  // namespace mica
