// The library's text inside the compiler. The build writes library.inc, a line `LIBRARY_FILE(number, name, path)` for each
// module; the assembler copies the files in, which takes no time worth mentioning and nothing but a C++ compiler.
#include "embed/library.h"

#define LIBRARY_FILE(number, name, path)                                                                             \
  asm(".pushsection .rodata\n.balign 16\nmicaLibrary" #number ":\n.incbin \"" path "\"\nmicaLibraryEnd" #number ":\n" \
      ".byte 0\n.popsection\n");                                                                                     \
  extern "C" const char micaLibrary##number[], micaLibraryEnd##number[];
#include "library.inc"
#undef LIBRARY_FILE

namespace mica {
namespace {

std::string_view between(const char* begin, const char* end) { return {begin, size_t(end - begin)}; }

const LibraryFile files[] = {
#define LIBRARY_FILE(number, name, path) {name, between(micaLibrary##number, micaLibraryEnd##number)},
#include "library.inc"
#undef LIBRARY_FILE
    {"", ""},    // an array has at least one element; this one is not counted
};

}  // namespace

std::span<const LibraryFile> libraryFiles() { return {files, std::size(files) - 1}; }

}  // namespace mica
