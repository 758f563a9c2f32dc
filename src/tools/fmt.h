// `mica fmt`: brings files into the canonical layout, or says which are not in it.
#pragma once
#include <string>
#include <vector>

namespace mica {

// Paths may be files and folders (all `.mica` files below). With `check` nothing is written: files that are not in canonical
// layout are listed. Answers the exit status: 1 when a file has errors, could not be written, or (check) is not canonical.
int format(const std::vector<std::string>& paths, bool check);

}  // namespace mica
