// Reading and validating source texts.
#include "frontend/source.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "frontend/diagnostics.h"
#include "frontend/utf8.h"

namespace mica {

// Offsets are 32 bits wide; this leaves room and stops a wrong file (a disk image, say) early.
static constexpr size_t MaxFileSize = 256u << 20;

SourceFiles::SourceFiles() { files.emplace_back(); }   // number 0 is no file

namespace {

// Why a system call failed, as the end of "cannot read `path`: …".
std::string reasonOf(int code) {
  switch (code) {
    case ENOENT: return "there is no such file";
    case EACCES: return "permission is denied";
    case EISDIR: return "it is a directory";
    case ENOTDIR: return "a part of its path is not a directory";
    case ENAMETOOLONG: return "its name is too long";
    case ELOOP: return "its links form a circle";
    default: return std::strerror(code);
  }
}

// The bytes of a file, or why there are none.
std::string readAll(const std::string& path, std::string& text) {
  int handle = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (handle < 0) return reasonOf(errno);
  struct Closer { int h; ~Closer() { close(h); } } closer{handle};
  struct stat info;
  if (fstat(handle, &info) != 0) return reasonOf(errno);
  if (S_ISDIR(info.st_mode)) return "it is a directory";
  if (S_ISFIFO(info.st_mode)) fcntl(handle, F_SETFL, 0);   // opened without waiting; reading a pipe may wait
  if (S_ISREG(info.st_mode)) text.reserve(size_t(std::min<off_t>(info.st_size, MaxFileSize)) + 1);
  char buffer[1 << 16];
  for (;;) {
    ssize_t got = read(handle, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return reasonOf(errno);
    if (got == 0) return "";
    text.append(buffer, size_t(got));
    if (text.size() > MaxFileSize) return "it is larger than 256 MiB";
  }
}

std::vector<uint32_t> findLines(const std::string& text) {
  std::vector<uint32_t> starts{0};
  starts.reserve(text.size() / 24 + 1);
  const char* begin = text.data();
  const char* end = begin + text.size();
  for (const char* p = begin; (p = static_cast<const char*>(std::memchr(p, '\n', size_t(end - p)))); )
    starts.push_back(uint32_t(++p - begin));
  return starts;
}

// The first byte that no source text may have, or the text's size.
size_t firstBadByte(const std::string& text) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  const char* p = begin;
  while (p < end) {
    uint64_t piece;
    if (end - p >= 8) {   // eight plain ASCII bytes at once: no high bit, no zero byte
      std::memcpy(&piece, p, 8);
      constexpr uint64_t High = 0x8080808080808080ull, Low = 0x0101010101010101ull;
      if (((piece | (piece - Low)) & High) == 0) { p += 8; continue; }
    }
    uint32_t length = *p == '\0' ? 0 : utf8Length(p, end);
    if (length == 0) break;
    p += length;
  }
  return size_t(p - begin);
}

}  // namespace

FileId SourceFiles::load(const std::string& path, Diagnostics& diagnostics, Span wantedAt) {
  SourceFile file;
  file.path = file.shown = path;
  std::string reason = path.find('\0') != std::string::npos ? "its name holds a NUL byte" : readAll(path, file.text);
  if (!reason.empty()) {
    diagnostics.error(wantedAt, "cannot read `" + path + "`: " + reason);
    return 0;
  }
  return addValidated(std::move(file), diagnostics);
}

FileId SourceFiles::add(std::string shown, std::string text, Diagnostics& diagnostics, bool system) {
  SourceFile file;
  file.shown = std::move(shown);
  file.text = std::move(text);
  file.system = system;
  return addValidated(std::move(file), diagnostics);
}

FileId SourceFiles::addValidated(SourceFile file, Diagnostics& diagnostics) {
  file.hadMark = file.text.starts_with("\xef\xbb\xbf");
  if (file.hadMark) file.text.erase(0, 3);
  file.lineStarts = findLines(file.text);
  FileId id = FileId(files.size());
  files.push_back(std::move(file));
  SourceFile& added = files.back();
  if (added.text.size() > MaxFileSize) {
    added.broken = true;
    diagnostics.error(Span{}, "`" + added.shown + "` is larger than 256 MiB");
    return id;
  }
  size_t bad = firstBadByte(added.text);
  if (bad < added.text.size()) {
    added.broken = true;
    char what[64];
    uint8_t byte = uint8_t(added.text[bad]);
    if (byte == 0) std::snprintf(what, sizeof what, "a source text holds no NUL bytes");
    else std::snprintf(what, sizeof what, "the byte 0x%02x is not UTF-8 here", byte);
    diagnostics.error(Span{place(id, uint32_t(bad)), 1}, what);
  }
  return id;
}

std::string_view SourceFiles::line(FileId id, uint32_t number) const {
  const SourceFile& f = files[id];
  if (number == 0 || number > f.lineStarts.size()) return {};
  uint32_t begin = f.lineStarts[number - 1];
  uint32_t end = number < f.lineStarts.size() ? f.lineStarts[number] - 1 : uint32_t(f.text.size());
  if (end > begin && f.text[end - 1] == '\r') end--;
  return std::string_view(f.text).substr(begin, end - begin);
}

Place SourceFiles::place(FileId id, uint32_t offset) const {
  const auto& starts = files[id].lineStarts;
  auto after = std::upper_bound(starts.begin(), starts.end(), offset);
  uint32_t line = uint32_t(after - starts.begin());
  return {id, line, offset - starts[line - 1] + 1};
}

uint32_t SourceFiles::offset(Place place) const {
  const SourceFile& f = files[place.file];
  if (place.line == 0 || place.line > f.lineStarts.size()) return uint32_t(f.text.size());
  return std::min(f.lineStarts[place.line - 1] + place.column - 1, uint32_t(f.text.size()));
}

std::string SourceFiles::describe(Place place) const {
  if (place.file == 0) return "";
  return shown(place.file) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

std::string_view SourceFiles::quote(Span span) const {
  if (span.place.file == 0) return {};
  return text(span.place.file).substr(offset(span.place), span.length);
}

}  // namespace mica
