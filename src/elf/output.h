// Writing the finished file.
#pragma once
#include <string>
#include <string_view>

namespace mica::elf {

// Writes an executable file (mode 0755 less the umask) so that the path holds either what it held before or the whole of
// the new bytes. False, with one line in `error`, when that fails; nothing is left behind then.
bool writeExecutable(const std::string& path, std::string_view bytes, std::string& error);

// The same for a file that is not a program (mode 0644, or that of the file it replaces).
bool writeFile(const std::string& path, std::string_view bytes, std::string& error);

}  // namespace mica::elf
