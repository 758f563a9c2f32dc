// The canonical layout of a program's text, for `mica fmt`.
#pragma once
#include <optional>
#include <string>
#include "frontend/context.h"

namespace mica {

// The file's text in canonical layout. Nothing when the file has errors of syntax, which are reported. Formatting the
// answer again changes nothing.
std::optional<std::string> formatFile(Context& context, FileId file);

}  // namespace mica
