// The texts of a compilation: files and the library's embedded modules, each with a number (Place::file), the path that
// messages show, and a table of line starts. Loading validates once (UTF-8, no NUL byte), so later stations may trust the
// bytes. A byte order mark at the beginning is dropped. Columns count bytes from 1; lines end at a line feed.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <vector>
#include "support/support.h"

namespace mica {

class Diagnostics;

using FileId = uint32_t;   // what Place::file holds; 0 is no file

// A place and how many bytes from there on are meant.
struct Span {
  Place place;
  uint32_t length = 1;
};

struct SourceFile {
  std::string path;    // where it was read from; empty for texts in memory
  std::string shown;   // the path in messages
  std::string text;    // the bytes without byte order mark
  bool hadMark = false;  // a byte order mark stood before the text
  bool system = false;   // a library module that may use raw memory and the like
  bool broken = false;   // not valid text; an error has been reported and nothing should be parsed
  std::vector<uint32_t> lineStarts;   // offset of each line's first byte
};

class SourceFiles {
 public:
  SourceFiles();
  SourceFiles(const SourceFiles&) = delete;
  SourceFiles& operator=(const SourceFiles&) = delete;

  // Reads a file. What goes wrong (missing, a directory, unreadable, too large, not UTF-8, a NUL byte) is reported, at
  // `wantedAt` when an import asked for it. Answers 0 when there is no text at all.
  FileId load(const std::string& path, Diagnostics& diagnostics, Span wantedAt = {});
  // Adds a text that is already in memory. It is validated like a file.
  FileId add(std::string shown, std::string text, Diagnostics& diagnostics, bool system = false);

  const SourceFile& file(FileId id) const { return files[id]; }
  uint32_t count() const { return uint32_t(files.size()); }   // ids run from 1 to count() - 1
  std::string_view text(FileId id) const { return files[id].text; }
  // Are these the bytes that the file holds? (The text leaves a byte order mark out.)
  bool originalIs(FileId id, std::string_view bytes) const { return !files[id].hadMark && files[id].text == bytes; }
  const std::string& shown(FileId id) const { return files[id].shown; }
  bool isSystem(FileId id) const { return files[id].system; }
  // The line (from 1) without its line end.
  std::string_view line(FileId id, uint32_t number) const;
  uint32_t lineCount(FileId id) const { return uint32_t(files[id].lineStarts.size()); }
  Place place(FileId id, uint32_t offset) const;
  uint32_t offset(Place place) const;
  // `file:line:column`, or the empty string for no place.
  std::string describe(Place place) const;
  // The source bytes of a span, for messages that quote code.
  std::string_view quote(Span span) const;

 private:
  FileId addValidated(SourceFile file, Diagnostics& diagnostics);

  std::deque<SourceFile> files;   // a deque: texts stay where they are
};

}  // namespace mica
