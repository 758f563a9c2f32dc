// dce: drops instructions whose results nobody needs, block parameters that nobody reads, and blocks that nothing reaches.
// Needed is what has an effect (a trap is one), and what something needed uses; so circles of unused parameters go too.
#include "ir/passes/edit.h"
#include "ir/passes/passes.h"

namespace mica::ir {

namespace {

void markNeeded(const Function& f, std::vector<char>& needed) {
  std::vector<std::vector<uint32_t>> into(f.blocks.size());   // the targets that lead to each block
  std::vector<uint32_t> position(f.values.size(), 0);         // of a parameter in its block
  std::vector<ValueId> work;
  auto need = [&](ValueId v) {
    if (needed[v.index]) return;
    needed[v.index] = 1;
    work.push_back(v);
  };
  for (const Block& b : f.blocks) {
    for (uint32_t k = 0; k < b.params.size(); ++k) position[b.params[k].index] = k;
    for (InstId id : b.insts) {
      const Inst& i = f.insts[id.index];
      for (uint32_t t = 0; t < i.targetCount; ++t) into[f.targets[i.firstTarget + t].block.index].push_back(i.firstTarget + t);
      if (!removable(i.op)) for (ValueId v : argsOf(f, i)) need(v);
    }
  }
  while (!work.empty()) {
    ValueId v = work.back();
    work.pop_back();
    const Value& value = f.values[v.index];
    if (value.def) {
      const Inst& i = f.insts[value.def.index];
      if (removable(i.op)) for (ValueId a : argsOf(f, i)) need(a);
    } else {
      for (uint32_t t : into[value.paramOf.index]) need(f.pool[f.targets[t].firstArg + position[v.index]]);
    }
  }
}

}  // namespace

void removeDeadCode(Function& f) {
  dropUnreachable(f);
  std::vector<char> needed(f.values.size(), 0);
  markNeeded(f, needed);
  for (ValueId p : f.blocks[0].params) needed[p.index] = 1;   // the function's own parameters stay
  for (Block& b : f.blocks) {
    std::erase_if(b.insts, [&](InstId id) {
      const Inst& i = f.insts[id.index];
      return removable(i.op) && !needed[i.result.index];
    });
    for (Target& t : targetsOf(f, f.insts[b.insts.back().index])) {
      const std::vector<ValueId>& params = f.blocks[t.block.index].params;
      uint32_t kept = 0;
      for (uint32_t k = 0; k < t.argCount; ++k)
        if (needed[params[k].index]) f.pool[t.firstArg + kept++] = f.pool[t.firstArg + k];
      t.argCount = kept;
    }
  }
  for (Block& b : f.blocks) std::erase_if(b.params, [&](ValueId p) { return !needed[p.index]; });
}

}  // namespace mica::ir
