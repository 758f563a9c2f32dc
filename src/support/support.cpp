// The one way in which the compiler says that it is itself at fault.
#include "support/support.h"
#include <cstdio>
#include <cstdlib>

namespace mica {

static thread_local std::string work;

WorkingOn::WorkingOn(std::string what) : outer(std::move(work)) { work = std::move(what); }
WorkingOn::~WorkingOn() { work = std::move(outer); }

void internalError(const std::string& what) {
  std::fflush(stdout);
  std::fprintf(stderr, "internal compiler error: %s%s%s\nplease report this together with the input that caused it\n", what.c_str(),
               work.empty() ? "" : " in ", work.c_str());
  std::_Exit(70);
}

}  // namespace mica
