// A whole module made ready for the interpreter: functions decoded, data in memory, addresses filled in, and the place table in
// the form that docs/internals.md gives it.
#include <cstring>
#include <map>

#include "ir/interp_code.h"

namespace mica::ir::interp {

Program::Program(const Module& m, bool recordLines) : module(m), recordLines(recordLines) {
  functions.resize(m.functions.size());
  for (uint32_t f = 0; f < m.functions.size(); ++f) decode(*this, f);
  functionAt.assign(code.size() + 1, None);
  for (uint32_t f = 0; f < m.functions.size(); ++f) functionAt[functions[f].first] = f;
  for (const Symbol& s : m.symbols)
    if (s.kind == SymbolKind::Function && s.name == "Trap.Raise") trapRaise = s.index;
  addressSymbols();
  fillReferences();
}

void Program::addressSymbols() {
  symbolAddress.assign(module.symbols.size(), 0);
  for (size_t k = 0; k < module.symbols.size(); ++k) {
    const Symbol& s = module.symbols[k];
    uint64_t& address = symbolAddress[k];
    if (s.kind == SymbolKind::Function) {
      address = TextBase + functions[s.index].first;
    } else if (s.kind == SymbolKind::Data) {
      const Data& d = module.data[s.index];
      uint64_t align = std::max<uint64_t>(d.align, 8);
      std::vector<uint64_t>& cells = memory.emplace_back((d.bytes.size() + d.zeros + align) / 8 + 1);
      address = (uint64_t(cells.data()) + align - 1) / align * align;
      std::memcpy(reinterpret_cast<void*>(address), d.bytes.data(), d.bytes.size());
    } else if (s.name == "mica.state") {
      address = uint64_t(memory.emplace_back(512).data());
    } else if (s.name == "mica.text.start") {
      address = TextBase;
    } else if (s.name == "mica.text.end") {
      address = TextBase + code.size() + 1;
    } else if (s.name == "mica.places") {
      address = makePlaceTable();
    }
  }
}

void Program::fillReferences() {
  for (auto [at, symbol] : symbolUses) {
    if (symbolAddress[symbol.index]) {
      code[at].imm += int64_t(symbolAddress[symbol.index]);
    } else {
      code[at].op = X::Undefined;
      code[at].a = uint32_t(undefined.size());
      undefined.push_back("the symbol @" + module.nameOf(symbol) + " is not defined");
    }
  }
  for (const Data& d : module.data)
    for (const DataRef& r : d.refs) {
      uint64_t value = symbolAddress[r.symbol.index];
      if (value) value += uint64_t(r.addend);
      std::memcpy(reinterpret_cast<char*>(symbolAddress[d.symbol.index]) + r.offset, &value, 8);
    }
}

// u32 entries, places, string bytes, 0; then the three tables.
uint64_t Program::makePlaceTable() {
  std::vector<uint32_t> entries, placeWords;
  std::string strings;
  std::map<std::string, uint32_t> known;
  auto string = [&](const std::string& s) {
    auto [it, isNew] = known.try_emplace(s, uint32_t(strings.size()));
    if (isNew) strings.append(s.c_str(), s.size() + 1);
    return it->second;
  };
  for (const PlaceInfo& p : module.places) {
    uint32_t file = string(p.file), function = string(p.function);
    for (uint32_t word : {file, function, p.line, p.column, p.inlinedAt.index}) placeWords.push_back(word);
  }
  for (uint32_t k = 0; k < code.size(); ++k)
    if (k == 0 || places[k] != places[k - 1]) {
      entries.push_back(k);
      entries.push_back(places[k].index);
    }
  std::vector<uint32_t> words{uint32_t(entries.size() / 2), uint32_t(placeWords.size() / 5), uint32_t(strings.size()), 0};
  words.insert(words.end(), entries.begin(), entries.end());
  words.insert(words.end(), placeWords.begin(), placeWords.end());
  std::vector<uint64_t>& table = memory.emplace_back((words.size() * 4 + strings.size()) / 8 + 1);
  std::memcpy(table.data(), words.data(), words.size() * 4);
  std::memcpy(reinterpret_cast<char*>(table.data()) + words.size() * 4, strings.data(), strings.size());
  return uint64_t(table.data());
}

}  // namespace mica::ir::interp
