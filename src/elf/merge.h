// Joining objects into one, as when the runtime is compiled module by module.
#pragma once
#include <string>
#include <vector>

#include "elf/object.h"

namespace mica::elf {

// Appends everything of `from` to `into`: symbols meet by name, places are appended. Literals that both
// define are kept once. False, with a line for each, when both define another symbol; `into` is then unchanged.
bool merge(Object& into, const Object& from, std::vector<std::string>& errors);

}  // namespace mica::elf
