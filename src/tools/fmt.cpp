// Files are replaced as a whole (written beside, then renamed), and only when something changes.
#include "tools/fmt.h"
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include "elf/output.h"
#include "frontend/formatter.h"

namespace mica {

namespace fs = std::filesystem;

// The `.mica` files of a path, sorted, so that messages come in the same order everywhere.
static std::vector<std::string> filesOf(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, error), end;
  for (; !error && at != end; at.increment(error))
    if (at->path().extension() == ".mica" && at->is_regular_file(error)) files.push_back(at->path().string());
  std::sort(files.begin(), files.end());
  return files;
}

int format(const std::vector<std::string>& paths, bool check) {
  int status = 0;
  for (const std::string& path : paths)
    for (const std::string& file : filesOf(path)) {
      Context context;
      FileId id = context.sources.load(file, context.diagnostics);
      std::optional<std::string> text = id ? formatFile(context, id) : std::nullopt;
      if (!text) {
        std::fputs(context.diagnostics.print(context.sources).c_str(), stderr);
        status = 1;
        continue;
      }
      if (context.sources.originalIs(id, *text)) continue;
      if (check) {
        std::printf("%s\n", file.c_str());
        status = 1;
        continue;
      }
      std::string error;
      if (elf::writeFile(file, *text, error)) continue;
      std::fprintf(stderr, "error: %s\n", error.c_str());
      status = 1;
    }
  return status;
}

}  // namespace mica
