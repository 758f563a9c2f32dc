// unreached: drops the functions that nothing leads to any more once inlining is done, when the caller has said which ones are wanted from
// outside. Data stays; the linker drops what it does not need of it.
#include "ir/passes/edit.h"
#include "ir/passes/passes.h"

namespace mica::ir {

void dropUnreached(Module& m, const PassOptions& options) {
  if (!options.keep) return;
  std::vector<char> reached(m.functions.size(), 0);
  std::vector<uint32_t> work;
  auto reach = [&](SymbolId s) {
    if (!s || m.symbols[s.index].kind != SymbolKind::Function) return;
    uint32_t f = m.symbols[s.index].index;
    if (!reached[f]) reached[f] = 1, work.push_back(f);
  };
  for (const Function& f : m.functions)
    if (f.entry || options.keep(m, f)) reach(f.symbol);
  for (const Data& d : m.data)
    for (const DataRef& r : d.refs) reach(r.symbol);
  while (!work.empty()) {
    const Function& f = m.functions[work.back()];
    work.pop_back();
    for (const Block& b : f.blocks)
      for (InstId i : b.insts) reach(f.insts[i.index].symbol);
  }
  uint32_t kept = 0;
  for (uint32_t f = 0; f < m.functions.size(); ++f) {
    Symbol& symbol = m.symbols[m.functions[f].symbol.index];
    if (!reached[f]) {
      symbol.kind = SymbolKind::External;
      symbol.index = 0;
      continue;
    }
    symbol.index = kept;
    if (kept != f) m.functions[kept] = std::move(m.functions[f]);
    ++kept;
  }
  m.functions.resize(kept);
}

}  // namespace mica::ir
