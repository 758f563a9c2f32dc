// The precompiled runtime inside the compiler. This file is compiled twice: for the compiler of stage one without anything
// (that one makes the runtime), for the final compiler with the path of each target's runtime.
#include "embed/library.h"

#define RUNTIME(target, path)                                                                                         \
  asm(".pushsection .rodata\n.balign 16\nmicaRuntime" target ":\n.incbin \"" path "\"\nmicaRuntimeEnd" target ":\n" \
      ".byte 0\n.popsection\n");

#ifdef MICA_RUNTIME_X64
RUNTIME("X64", MICA_RUNTIME_X64)
extern "C" const char micaRuntimeX64[], micaRuntimeEndX64[];
#endif

namespace mica {

std::string_view runtimeObject(elf::Machine machine) {
#ifdef MICA_RUNTIME_X64
  if (machine == elf::Machine::X64) return {micaRuntimeX64, size_t(micaRuntimeEndX64 - micaRuntimeX64)};
#endif
  (void)machine;
  return {};
}

}  // namespace mica
