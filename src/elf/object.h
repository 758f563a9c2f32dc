// What a backend hands to the linker: functions and data with relocations, one section each, and their line entries.
// The same structure, written to bytes (serialize.h), is how the compiler carries its precompiled runtime.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ir.h"

namespace mica::elf {

enum class Machine : uint8_t { X64, A64 };

enum class RelocKind : uint8_t {
  Abs64,        // S + A, 8 bytes
  Pc32,         // S + A - P, 4 bytes, signed
  Call26,       // ARM64 branch, S + A - P in words
  AdrPage21, AddLo12, LdstLo12,   // ARM64 address pairs
};

inline constexpr uint32_t NoPlace = 0xffffffffu;

struct Reloc {
  uint32_t offset; RelocKind kind; uint32_t symbol; int64_t addend;   // symbol: index into Object::symbols
  bool operator==(const Reloc&) const = default;
};

// From this offset on (until the next entry) the code belongs to the place; Object::places index, or NoPlace.
struct LineEntry {
  uint32_t offset; uint32_t place;
  bool operator==(const LineEntry&) const = default;
};

// A function's text section.
struct ObjectFunction {
  uint32_t symbol = 0;
  std::string code;
  std::vector<Reloc> relocs;
  std::vector<LineEntry> lines;    // offsets ascending
  uint32_t align = 16;
  uint32_t place = NoPlace;        // the declaration, for the debugger
};

struct ObjectData {
  uint32_t symbol = 0;
  std::string bytes;
  uint64_t zeros = 0;              // zero bytes after them
  uint32_t align = 8;
  bool readOnly = true;
  std::vector<Reloc> relocs;
};

struct Object {
  std::vector<std::string> symbols;          // names, unique
  std::vector<ObjectFunction> functions;
  std::vector<ObjectData> data;
  std::vector<ir::PlaceInfo> places;         // inlinedAt indexes this vector
};

// String literals are named by their content (`str.` and a hash): several objects may define the same one.
inline bool isLiteralSymbol(std::string_view name) { return name.starts_with("str."); }

}  // namespace mica::elf
