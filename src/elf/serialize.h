// Objects as bytes. The compiler carries the precompiled runtime in this form and reads it at every start, so reading
// means checking the tables once and then looking at what is asked for: nothing is copied, names are found by binary search.
//
// The file, little-endian, every table right behind the one before:
//   header    magic "MicaObj\n", u32 version, u32 counts of strings, symbols, functions, data, relocs, lines, places,
//             u64 bytes of text, u64 bytes of content
//   strings   (count + 1) x u32: where each begins in the text; the last is the text's length
//   symbols   {u32 name, u32 definition}: a function's index, a data's index | 0x80000000, or 0xffffffff
//   order     u32 for each symbol: the symbols sorted by name
//   functions, data, relocs, lines, places: the records below
//   text      the strings
//   content   the bytes of functions and data
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "elf/bytes.h"
#include "elf/object.h"

namespace mica::elf {

struct PlaceView { std::string_view file, function; uint32_t line, column, inlinedAt; };

struct FunctionView { uint32_t symbol; std::string_view code; uint32_t align, place, firstReloc, relocCount, firstLine, lineCount; };

struct DataView {
  uint32_t symbol; std::string_view bytes; uint64_t zeros; uint32_t align; bool readOnly; uint32_t firstReloc, relocCount;
};

std::string serialize(const Object&);

// A serialized object, read in place. The bytes must outlive it.
class ObjectView {
 public:
  static constexpr uint32_t Undefined = 0xffffffffu, DataBit = 0x80000000u;

  // Checks every count, offset and index; none, with a line in `error`, when one is wrong.
  static std::optional<ObjectView> open(std::string_view bytes, std::string& error);

  uint32_t symbolCount() const { return symbols_; }
  uint32_t functionCount() const { return functions_; }
  uint32_t dataCount() const { return data_; }
  uint32_t placeCount() const { return places_; }

  std::string_view symbolName(uint32_t symbol) const { return string(load<uint32_t>(symbolAt(symbol))); }
  // A function's index, a data's index with DataBit, or Undefined.
  uint32_t definition(uint32_t symbol) const { return load<uint32_t>(symbolAt(symbol) + 4); }
  // The symbol of that name, or Undefined.
  uint32_t find(std::string_view name) const;
  // Whether the object defines a function or data of that name.
  bool defines(std::string_view name) const;

  FunctionView function(uint32_t index) const;
  DataView data(uint32_t index) const;
  Reloc reloc(uint32_t index) const;
  LineEntry line(uint32_t index) const;
  PlaceView place(uint32_t index) const;

  // The whole object, copied.
  Object object() const;

 private:
  std::string_view string(uint32_t index) const {
    uint32_t begin = load<uint32_t>(stringTable_ + 4 * size_t(index)), end = load<uint32_t>(stringTable_ + 4 * size_t(index) + 4);
    return {text_ + begin, end - begin};
  }
  const char* symbolAt(uint32_t symbol) const { return symbolTable_ + 8 * size_t(symbol); }
  bool readHeader(std::string_view bytes, std::string& error);
  bool check(std::string& error) const;
  bool checkSymbols(std::string& error) const;
  bool checkFunctions(std::string& error) const;
  bool checkData(std::string& error) const;
  bool checkRelocs(uint32_t first, uint32_t count, uint64_t size) const;

  uint32_t strings_ = 0, symbols_ = 0, functions_ = 0, data_ = 0, relocs_ = 0, lines_ = 0, places_ = 0;
  uint64_t textSize_ = 0, contentSize_ = 0;
  const char *stringTable_ = nullptr, *symbolTable_ = nullptr, *order_ = nullptr, *functionTable_ = nullptr, *dataTable_ = nullptr,
             *relocTable_ = nullptr, *lineTable_ = nullptr, *placeTable_ = nullptr, *text_ = nullptr, *content_ = nullptr;
};

// Opens and copies in one step; false with a line in `error`.
bool deserialize(std::string_view bytes, Object& object, std::string& error);

// How many bytes a relocation of this kind changes.
inline unsigned relocWidth(RelocKind kind) { return kind == RelocKind::Abs64 ? 8 : 4; }

}  // namespace mica::elf
