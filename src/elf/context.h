// What the linker's steps work on, and the steps under the names of their files.
//
// A chunk is a contiguous part of the file: it knows its size, then its address, then its bytes. Chunks that are loaded
// lie in segments by their permissions; a further kind of file (with a dynamic section, say) is further chunks.
#pragma once
#include <map>
#include <unordered_map>

#include "elf/format.h"
#include "elf/input.h"

namespace mica::elf {

// The loaded chunks, in the order of the file; one segment for each permission.
enum ChunkId : uint32_t { NoteChunk, RodataChunk, PlacesChunk, TextChunk, DataChunk, BssChunk, LoadedChunks };

struct Chunk {
  const char* name = "";
  uint32_t type = SHT_PROGBITS;
  uint64_t flags = 0, align = 1;
  uint64_t size = 0;                   // in memory
  uint64_t address = 0, offset = 0;
  std::string bytes;                   // empty for SHT_NOBITS
  uint32_t link = 0, info = 0;
  uint64_t entsize = 0;
};

struct Segment {
  uint32_t flags;
  uint64_t offset, address, fileSize, memorySize;
};

// A function or data that the program reaches.
struct Section {
  uint32_t input, definition;          // as Input::definition gives it
  uint32_t symbol;                     // Context::symbols
  ChunkId chunk = TextChunk;
  uint64_t offset = 0;                 // in the chunk
  uint64_t size = 0;
  uint32_t place = NoPlace;            // of a function's declaration: Context::places
};

struct Symbol {
  enum Kind : uint8_t { Undefined, Defined, Provided };
  std::string_view name;
  Kind kind = Undefined;
  uint32_t section = 0;                // Defined
  uint64_t value = 0;                  // the address, once there are addresses
  uint32_t references = 0;             // Undefined: how many, and where the first ones are
  std::vector<std::string> users;
};

// A place of the source as the place table and the line table share it; equal ones are one.
struct PlaceRecord {
  uint32_t file, function;             // Context::strings
  uint32_t line, column;
  uint32_t inlinedAt;                  // Context::places, or NoPlace
  auto operator<=>(const PlaceRecord&) const = default;
};

// From this offset in the text on, the code belongs to the place.
struct TextLine { uint32_t offset, place; };

struct Context {
  Context(const std::vector<LinkInput>& from, const LinkOptions& o, std::vector<std::string>& e) : options(o), errors(e) {
    inputs.reserve(from.size());
    for (const LinkInput& input : from) inputs.emplace_back(input);
  }

  const LinkOptions& options;
  std::vector<std::string>& errors;
  std::vector<Input> inputs;

  // Symbols by name; an input's own numbers are mapped when first asked for.
  std::vector<Symbol> symbols;
  std::unordered_map<std::string_view, uint32_t> byName;       // only looked up in
  std::vector<std::vector<uint32_t>> symbolOf;                 // of an input's symbol, or NoSymbol
  static constexpr uint32_t NoSymbol = 0xffffffffu;

  std::vector<Section> sections;       // reached; in the order of the file once layout is done

  Chunk chunks[LoadedChunks];
  std::vector<Segment> segments;
  uint64_t stateOffset = 0;            // of mica.state in .bss
  std::vector<Chunk> extra;            // not loaded: debugging sections, symbols

  std::vector<std::string_view> strings;
  std::vector<PlaceRecord> places;
  std::vector<TextLine> lines;         // for the debugger: ascending; each function begins with one
  std::vector<TextLine> callLines;     // for the place table: ascending; function beginnings and calls alone
  size_t tableStrings = 0, tablePlaces = 0;   // how many of them the lines use; the rest are for the debugger alone

  const Input& inputOf(const Section& s) const { return inputs[s.input]; }
  SectionView view(const Section& s) const { return inputs[s.input].section(s.definition); }
  std::string_view nameOf(const Section& s) const { return symbols[s.symbol].name; }
  uint64_t addressOf(const Section& s) const { return chunks[s.chunk].address + s.offset; }
  uint64_t pageSize() const { return options.machine == Machine::X64 ? 0x1000 : 0x10000; }
};

// symbols.cpp
void checkDuplicates(Context&);        // every name is defined once
void markReached(Context&);            // fills sections from the entry on; undefined symbols are errors
uint32_t resolve(Context&, uint32_t input, uint32_t symbol);   // the context's symbol for an input's

// places.cpp
void collectPlaces(Context&);          // text offsets to places
void makePlaceTable(Context&);         // the bytes of the place table

// layout.cpp
void assignOffsets(Context&);          // sections into chunks: sizes final
void assignAddresses(Context&);        // chunks and symbols: addresses final
uint64_t headerSize(const Context&);

// relocate.cpp
void relocateSections(Context&);       // copies the sections into their chunks and applies their relocations

// dwarf.cpp
void makeDebugInfo(Context&);

// file.cpp
void makeSymbolTable(Context&);
std::string makeFile(Context&);        // headers, chunks, build id

}  // namespace mica::elf
