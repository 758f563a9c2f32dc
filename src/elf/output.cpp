// Writing the finished file: to a temporary one beside it, which then takes its name.
#include "elf/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace mica::elf {
namespace {

bool fail(std::string& error, const std::string& path, const std::string& why) {
  error = "cannot write " + path + ": " + why;
  return false;
}

std::string reason() { return std::strerror(errno); }

bool writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(file, bytes.data(), std::min<size_t>(bytes.size(), 1 << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = EIO;
    if (n <= 0) return false;
    bytes.remove_prefix(size_t(n));
  }
  return true;
}

// Opens a new file beside the path; other writers of the same path have other names.
int openTemporary(const std::string& path, mode_t mode, std::string& name) {
  for (unsigned attempt = 0; attempt < 100; attempt++) {
    size_t slash = path.rfind('/');
    std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
    name = folder + ".mica-" + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".tmp";
    int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

// A device or a pipe is written to, not replaced.
bool writeThrough(const std::string& path, std::string_view bytes, std::string& error) {
  int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return fail(error, path, reason());
  bool good = writeAll(file, bytes);
  std::string why = reason();
  if (::close(file) && good) return fail(error, path, reason());
  return good || fail(error, path, why);
}

bool write(const std::string& path, std::string_view bytes, mode_t mode, std::string& error) {
  if (path.empty()) return fail(error, "the output", "its name is empty");
  struct stat now{};
  bool exists = ::stat(path.c_str(), &now) == 0;
  if (!exists && errno != ENOENT) return fail(error, path, reason());
  if (exists && S_ISDIR(now.st_mode)) return fail(error, path, "it is a folder");
  if (exists && !S_ISREG(now.st_mode)) return writeThrough(path, bytes, error);

  // Through a symbolic link the file it leads to is replaced, not the link.
  std::string target = path;
  if (char* real = exists ? ::realpath(path.c_str(), nullptr) : nullptr) {
    target = real;
    std::free(real);
  }
  std::string temporary;
  int file = openTemporary(target, mode, temporary);
  if (file < 0) return fail(error, path, reason());
  bool good = writeAll(file, bytes);
  if (!(mode & 0111))   // somebody's text: it keeps its rights, and is on the disk before the old one goes
    good = good && (!exists || ::fchmod(file, now.st_mode & 07777) == 0) && ::fsync(file) == 0;
  int problem = errno;
  if (::close(file) && good) good = false, problem = errno;
  if (good && ::rename(temporary.c_str(), target.c_str())) good = false, problem = errno;
  if (good) return true;
  ::unlink(temporary.c_str());
  errno = problem;
  return fail(error, path, reason());
}

}  // namespace

bool writeExecutable(const std::string& path, std::string_view bytes, std::string& error) { return write(path, bytes, 0755, error); }
bool writeFile(const std::string& path, std::string_view bytes, std::string& error) { return write(path, bytes, 0644, error); }

}  // namespace mica::elf
