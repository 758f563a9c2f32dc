// What the compiler carries: the library's sources, and for each target its non-generic functions compiled.
#pragma once
#include <span>
#include <string_view>

#include "elf/object.h"
#include "elf/bytes.h"
#include "elf/serialize.h"

namespace mica {

struct LibraryFile { std::string_view name, text; };     // "Files" and the source
std::span<const LibraryFile> libraryFiles();             // sorted by name

// The carried runtime as bytes (elf/serialize.h); empty in the build's first stage and for targets without one.
std::string_view runtimeObject(elf::Machine);

}  // namespace mica
