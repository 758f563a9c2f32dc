// Joining objects: see merge.h.
#include "elf/merge.h"

#include <unordered_map>

namespace mica::elf {
namespace {

// For each symbol where it is defined: a function's or data's bytes, or null.
std::vector<const std::string*> definitions(const Object& object) {
  std::vector<const std::string*> result(object.symbols.size());
  for (const ObjectFunction& f : object.functions) result[f.symbol] = &f.code;
  for (const ObjectData& d : object.data) result[d.symbol] = &d.bytes;
  return result;
}

std::vector<Reloc> mapped(std::vector<Reloc> relocs, const std::vector<uint32_t>& symbols) {
  for (Reloc& r : relocs) r.symbol = symbols[r.symbol];
  return relocs;
}

uint32_t shifted(uint32_t place, uint32_t by) { return place == NoPlace ? NoPlace : place + by; }

}  // namespace

bool merge(Object& into, const Object& from, std::vector<std::string>& errors) {
  std::unordered_map<std::string_view, uint32_t> byName;
  for (uint32_t i = 0; i < into.symbols.size(); i++) byName.emplace(into.symbols[i], i);
  std::vector<const std::string*> here = definitions(into), there = definitions(from);
  std::vector<bool> known(from.symbols.size());    // literals that `into` has
  size_t errorsBefore = errors.size();
  for (size_t i = 0; i < from.symbols.size(); i++) {
    auto at = byName.find(from.symbols[i]);
    if (!there[i] || at == byName.end() || !here[at->second]) continue;
    known[i] = isLiteralSymbol(from.symbols[i]) && *there[i] == *here[at->second];
    if (!known[i]) errors.push_back("duplicate symbol `" + from.symbols[i] + "`");
  }
  if (errors.size() != errorsBefore) return false;

  // `byName` looks at strings that move when `into` grows, so new names are added when all are known.
  std::vector<uint32_t> symbols;
  std::vector<std::string> added;
  uint32_t next = uint32_t(into.symbols.size());
  for (const std::string& name : from.symbols) {
    auto [at, fresh] = byName.try_emplace(name, next);
    symbols.push_back(at->second);
    if (!fresh) continue;
    added.push_back(name);
    next++;
  }
  into.symbols.insert(into.symbols.end(), added.begin(), added.end());

  uint32_t placeBase = uint32_t(into.places.size());
  for (ObjectFunction f : from.functions) {
    f.symbol = symbols[f.symbol];
    f.relocs = mapped(std::move(f.relocs), symbols);
    for (LineEntry& line : f.lines) line.place = shifted(line.place, placeBase);
    f.place = shifted(f.place, placeBase);
    into.functions.push_back(std::move(f));
  }
  for (ObjectData d : from.data) {
    if (known[d.symbol]) continue;
    d.symbol = symbols[d.symbol];
    d.relocs = mapped(std::move(d.relocs), symbols);
    into.data.push_back(std::move(d));
  }
  for (ir::PlaceInfo place : from.places) {
    place.inlinedAt.index = shifted(place.inlinedAt.index, placeBase);
    into.places.push_back(std::move(place));
  }
  return true;
}

}  // namespace mica::elf
