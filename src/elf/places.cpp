// From code to source: which place each stretch of the text belongs to, and the table of it that the program carries so
// that a trap can name its callers (docs/internals.md describes the bytes). Only what was linked is in it.
#include <algorithm>
#include <map>

#include "elf/context.h"

namespace mica::elf {
namespace {

// Gives equal records and equal strings one number, in the order of first use.
class Collector {
 public:
  explicit Collector(Context& ctx) : ctx_(ctx) {
    for (const Input& input : ctx.inputs) known_.emplace_back(input.placeCount(), NoPlace);
  }

  // The context's number for an input's place. Chains of inlined places are as deep as calls were inlined.
  uint32_t place(uint32_t input, uint32_t own) {
    if (own == NoPlace) return NoPlace;
    if (known_[input][own] != NoPlace) return known_[input][own];
    std::vector<uint32_t> chain;    // from the innermost place out to the first known one
    for (uint32_t p = own; p != NoPlace && known_[input][p] == NoPlace; p = ctx_.inputs[input].place(p).inlinedAt) {
      if (chain.size() > known_[input].size()) internalError("a chain of inlined places never ends");
      chain.push_back(p);
    }
    for (size_t i = chain.size(); i-- > 0;) {
      PlaceView from = ctx_.inputs[input].place(chain[i]);
      uint32_t outer = from.inlinedAt == NoPlace ? NoPlace : known_[input][from.inlinedAt];
      known_[input][chain[i]] = add({string(from.file), string(from.function), from.line, from.column, outer});
    }
    return known_[input][own];
  }

 private:
  struct Hash {
    size_t operator()(const PlaceRecord& p) const {
      size_t h = p.file;
      for (uint32_t v : {p.function, p.line, p.column, p.inlinedAt}) h = (h ^ v) * 0x9e3779b97f4a7c15u;
      return h ^ h >> 32;
    }
  };

  uint32_t string(std::string_view text) {
    auto [at, fresh] = strings_.try_emplace(text, uint32_t(ctx_.strings.size()));
    if (fresh) ctx_.strings.push_back(text);
    return at->second;
  }

  uint32_t add(const PlaceRecord& record) {
    auto [at, fresh] = places_.try_emplace(record, uint32_t(ctx_.places.size()));
    if (fresh) ctx_.places.push_back(record);
    return at->second;
  }

  Context& ctx_;
  std::vector<std::vector<uint32_t>> known_;
  std::unordered_map<std::string_view, uint32_t> strings_;
  std::unordered_map<PlaceRecord, uint32_t, Hash> places_;
};

// Appends an entry, unless it says what the one before says; a later one at the same offset replaces it.
void addLine(Context& ctx, size_t floor, uint32_t offset, uint32_t place) {
  auto& lines = ctx.lines;
  if (lines.size() > floor && lines.back().offset == offset) lines.pop_back();
  if (lines.size() <= floor || lines.back().place != place) lines.push_back({offset, place});
}

// Where the calls of a function return to. A direct call is an opcode before its relocation. An indirect one is known by its bytes (the backend
// calls through rax and r9); bytes that only look like one cost an entry and say nothing wrong.
std::vector<uint32_t> returnAddresses(Context& ctx, const Section& section) {
  std::vector<uint32_t> found;
  std::string_view code = ctx.view(section).bytes;
  auto byte = [&](size_t at) { return at < code.size() ? static_cast<unsigned char>(code[at]) : 0u; };
  ctx.inputOf(section).eachReloc(section.definition, [&](const Reloc& r) {
    bool call = ctx.options.machine == Machine::X64 ? r.kind == RelocKind::Pc32 && r.offset > 0 && byte(r.offset - 1) == 0xe8 : r.kind == RelocKind::Call26;
    if (call) found.push_back(r.offset + 4);
  });
  if (ctx.options.machine == Machine::X64)
    for (size_t i = 0; i + 1 < code.size(); i++)
      if (byte(i) == 0xff && (byte(i + 1) == 0xd0 || (i > 0 && byte(i - 1) == 0x41 && byte(i + 1) == 0xd1))) found.push_back(uint32_t(i + 2));
  std::sort(found.begin(), found.end());
  return found;
}

// The entries that a trap can ask for: the byte before each return address, and each function's beginning (for a fault in it).
void collectCallPlaces(Context& ctx, Collector& collector, const Section& section) {
  std::vector<LineEntry> lines;
  ctx.inputOf(section).eachLine(section.definition, [&](const LineEntry& l) { lines.push_back(l); });
  uint32_t start = uint32_t(section.offset), before = NoPlace - 1;
  auto add = [&](uint32_t offset, uint32_t own) {
    uint32_t place = collector.place(section.input, own);
    if (place == before) return;
    ctx.callLines.push_back({start + offset, place});
    before = place;
  };
  add(0, lines.empty() ? NoPlace : lines[0].place);
  size_t k = 0;
  for (uint32_t r : returnAddresses(ctx, section)) {
    while (k + 1 < lines.size() && lines[k + 1].offset <= r - 1) k++;
    if (!lines.empty()) add(r - 1, lines[k].offset <= r - 1 ? lines[k].place : NoPlace);
  }
}

}  // namespace

void collectPlaces(Context& ctx) {
  if (ctx.options.strip && !ctx.byName.contains("mica.places")) return;
  Collector collector(ctx);
  for (const Section& section : ctx.sections)
    if (section.chunk == TextChunk) collectCallPlaces(ctx, collector, section);
  ctx.tableStrings = ctx.strings.size();
  ctx.tablePlaces = ctx.places.size();
  if (ctx.options.strip) return;
  for (Section& section : ctx.sections) {
    if (section.chunk != TextChunk) continue;
    size_t floor = ctx.lines.size();    // each function begins with an entry of its own
    addLine(ctx, floor, uint32_t(section.offset), NoPlace);
    ctx.inputOf(section).eachLine(section.definition, [&](const LineEntry& l) {
      addLine(ctx, floor, uint32_t(section.offset) + l.offset, collector.place(section.input, l.place));
    });
    section.place = collector.place(section.input, ctx.view(section).place);
  }
}

namespace {

// What the program's own table says of a place. Reports show the program's lines, so a library function that was inlined gives way to the line
// that called it, and one that stands for itself has a single place, its first: most of a small program is library.
class TablePlaces {
 public:
  explicit TablePlaces(Context& ctx) : ctx_(ctx), known_(ctx.tablePlaces, Unknown), number_(ctx.tablePlaces, NoPlace) {}

  uint32_t of(uint32_t place) {
    if (place == NoPlace) return NoPlace;
    if (known_[place] == Unknown) known_[place] = find(place);
    return known_[place];
  }

  std::string bytes, strings;
  uint32_t count = 0;

 private:
  static constexpr uint32_t Unknown = NoPlace - 1;
  Context& ctx_;
  std::vector<uint32_t> known_, number_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> whole_;    // library: file and function
  std::map<uint32_t, uint32_t> stringAt_;

  bool isLibrary(uint32_t p) const { return ctx_.strings[ctx_.places[p].file].starts_with("library/"); }

  uint32_t find(uint32_t place) {
    uint32_t outermost = place;
    for (uint32_t p = place; p != NoPlace; p = ctx_.places[p].inlinedAt) {
      if (!isLibrary(p)) return emit(p);
      outermost = p;
    }
    const PlaceRecord& r = ctx_.places[outermost];
    auto [at, fresh] = whole_.try_emplace({r.file, r.function}, 0);
    if (fresh) at->second = emit(outermost);
    return at->second;
  }

  uint32_t emit(uint32_t place) {
    if (number_[place] != NoPlace) return number_[place];
    const PlaceRecord& r = ctx_.places[place];
    uint32_t outer = of(r.inlinedAt), file = string(r.file), function = string(r.function);
    for (uint32_t v : {file, function, r.line, r.column, outer}) put32(bytes, v);
    return number_[place] = count++;
  }

  uint32_t string(uint32_t s) {
    auto [at, fresh] = stringAt_.try_emplace(s, uint32_t(strings.size()));
    if (fresh) putText(strings, ctx_.strings[s]);
    return at->second;
  }
};

}  // namespace

void makePlaceTable(Context& ctx) {
  if (!ctx.byName.contains("mica.places")) return;
  TablePlaces places(ctx);
  std::string entries;
  uint32_t entryCount = 0, before = NoPlace;
  for (const TextLine& line : ctx.callLines) {
    uint32_t now = places.of(line.place);
    if (entryCount && now == before) continue;    // also functions side by side without places
    put32(entries, line.offset);
    put32(entries, before = now);
    entryCount++;
  }
  Chunk& chunk = ctx.chunks[PlacesChunk];
  for (size_t n : {size_t(entryCount), size_t(places.count), places.strings.size(), size_t(0)}) put32(chunk.bytes, uint32_t(n));
  chunk.bytes += entries + places.bytes + places.strings;
  chunk.size = chunk.bytes.size();
  chunk.align = 8;
}

}  // namespace mica::elf
