// Joining objects: see merge.h.
#include "elf/merge.h"

#include <unordered_map>

namespace mica::elf {
namespace {

std::vector<bool> definedSymbols(const Object& object) {
  std::vector<bool> result(object.symbols.size());
  for (const ObjectFunction& f : object.functions) result[f.symbol] = true;
  for (const ObjectData& d : object.data) result[d.symbol] = true;
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
  std::vector<bool> here = definedSymbols(into), there = definedSymbols(from);
  size_t errorsBefore = errors.size();
  for (size_t i = 0; i < from.symbols.size(); i++) {
    if (!there[i] || isLocalSymbol(from.symbols[i])) continue;
    auto at = byName.find(from.symbols[i]);
    if (at != byName.end() && here[at->second]) errors.push_back("duplicate symbol `" + from.symbols[i] + "`");
  }
  if (errors.size() != errorsBefore) return false;

  // The names that `from` brings along; views of its strings stay valid while `into` grows.
  std::vector<uint32_t> symbols;
  std::vector<std::string> added;
  uint32_t next = uint32_t(into.symbols.size());
  uint64_t localNumber = 0;
  for (const std::string& name : from.symbols) {
    if (isLocalSymbol(name)) {
      std::string fresh;
      do fresh = "str." + std::to_string(localNumber++);
      while (byName.contains(fresh));
      added.push_back(fresh);
      symbols.push_back(next++);
    } else if (auto [at, isNew] = byName.try_emplace(name, next); isNew) {
      added.push_back(name);
      symbols.push_back(next++);
    } else {
      symbols.push_back(at->second);
    }
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
