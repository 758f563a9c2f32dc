// What every station uses: source places, internal errors, and typed 32-bit ids.
#pragma once
#include <cstdint>
#include <compare>
#include <string>
#include <string_view>

namespace mica {

// A place in a source file: the file's number (SourceFiles), line and column from 1 (columns count bytes). File 0 is "nowhere".
struct Place {
  uint32_t file = 0, line = 0, column = 0;
  auto operator<=>(const Place&) const = default;
};

// Reports an inconsistency inside the compiler (exit status 70) and asks for the input; never returns.
[[noreturn]] void internalError(const std::string& what);

// What the compiler is working on, said with an internal error: stands as a local variable while it is true.
struct WorkingOn {
  explicit WorkingOn(std::string what);
  ~WorkingOn();
  WorkingOn(const WorkingOn&) = delete;
  WorkingOn& operator=(const WorkingOn&) = delete;
 private:
  std::string outer;
};

// An index into some vector that cannot be mixed up with another kind of index: `struct BlockTag; using BlockId = Id<BlockTag>;`
template <class Tag> struct Id {
  static constexpr uint32_t None = 0xffffffffu;
  uint32_t index = None;
  constexpr Id() = default;
  constexpr explicit Id(uint32_t i) : index(i) {}
  constexpr explicit operator bool() const { return index != None; }
  auto operator<=>(const Id&) const = default;
};

}  // namespace mica
