// gvn: a walk of the dominator tree with a table of what has been computed on the way down. An instruction that is in the table is
// replaced by the earlier one; trapping operations too, since the earlier one would have trapped. Beside the table go
//   facts    the truth of conditions: below a branch's way, or behind a check that passed, its condition is decided
//   memory   what certain addresses are known to hold, from loads and stores, within a run of blocks with one way in each
#include "ir/passes/memory.h"
#include "ir/passes/passes.h"

namespace mica::ir {

namespace {

// Computed instructions by hash, chained; leaving a subtree pops what it added.
class Table {
 public:
  Table() : heads(1024, None) {}
  static constexpr uint32_t None = 0xffffffffu;
  template <class Same> uint32_t find(uint32_t hash, Same same) const {
    for (uint32_t e = heads[hash & (heads.size() - 1)]; e != None; e = entries[e].next)
      if (entries[e].hash == hash && same(entries[e].inst)) return entries[e].inst.index;
    return None;
  }
  void add(uint32_t hash, InstId inst) {
    if (entries.size() >= heads.size()) grow();
    uint32_t& head = heads[hash & (heads.size() - 1)];
    entries.push_back({hash, head, inst});
    head = uint32_t(entries.size() - 1);
  }
  size_t mark() const { return entries.size(); }
  void popTo(size_t mark) {
    for (; entries.size() > mark; entries.pop_back()) heads[entries.back().hash & (heads.size() - 1)] = entries.back().next;
  }

 private:
  struct Entry { uint32_t hash, next; InstId inst; };
  std::vector<uint32_t> heads;
  std::vector<Entry> entries;
  void grow() {
    heads.assign(heads.size() * 4, None);
    for (uint32_t e = 0; e < entries.size(); ++e) {
      uint32_t& head = heads[entries[e].hash & (heads.size() - 1)];
      entries[e].next = head;
      head = e;
    }
  }
};

class Numberer {
 public:
  Numberer(Module& m, Function& fn) : f(fn), cfg(f), dom(f, cfg), memory(m, f), replaced(f), known(f.values.size(), Undecided) {
    contextChanges = contains(f, Op::SetContext);
  }

  void run() {
    struct Step { BlockId block; uint32_t child; size_t mark, undoMark; };
    std::vector<Step> stack;
    auto enter = [&](BlockId b) {
      stack.push_back({b, 0, table.mark(), undo.size()});
      block(b);
    };
    exitMemory.resize(f.blocks.size());
    enter(BlockId(0));
    while (!stack.empty()) {
      Step& top = stack.back();
      auto children = dom.children[top.block.index];
      if (top.child < children.size()) {
        enter(children[top.child++]);
      } else {
        table.popTo(top.mark);
        for (; undo.size() > top.undoMark; undo.pop_back()) known[undo.back().index] = Undecided;
        exitMemory[top.block.index] = {};
        stack.pop_back();
      }
    }
    replaced.apply(f);
  }

 private:
  enum Truth : uint8_t { False, True, Undecided };
  struct Held { Access where; Type type; ValueId value; };   // memory at `where` holds `value`
  static constexpr size_t MostHeld = 64;
  Function& f;
  Cfg cfg;
  Dominators dom;
  Memory memory;
  Replacements replaced;
  Table table;
  std::vector<uint8_t> known;            // of i1 values
  std::vector<ValueId> undo;
  std::vector<Held> held;
  std::vector<std::vector<Held>> exitMemory;
  bool contextChanges = false;

  void decide(ValueId condition, bool truth) {
    for (;;) {
      if (known[condition.index] != Undecided) return;
      known[condition.index] = truth ? True : False;
      undo.push_back(condition);
      const Inst* d = defOf(f, condition);
      if (!d) return;
      if (d->op == Op::Not) {
        truth = !truth;
      } else if ((d->op == Op::And && truth) || (d->op == Op::Or && !truth)) {   // both are true, both are false
        decide(f.arg(*d, 0), truth);
        condition = f.arg(*d, 1);
        continue;
      } else {
        return;
      }
      condition = f.arg(*d, 0);
    }
  }

  void block(BlockId b) {
    auto preds = cfg.predecessors[b.index];
    held.clear();
    if (preds.size() == 1) {
      held = exitMemory[preds[0].index];
      const Inst& i = terminatorOf(f, preds[0]);
      if (i.op == Op::BrIf && f.targets[i.firstTarget].block != f.targets[i.firstTarget + 1].block)
        decide(f.arg(i, 0), f.targets[i.firstTarget].block == b);
    }
    std::erase_if(f.blocks[b.index].insts, [&](InstId id) { return !keep(id); });
    exitMemory[b.index] = held;
  }

  // Answers whether the instruction stays.
  bool keep(InstId id) {
    Inst& i = f.insts[id.index];
    for (ValueId& v : argsOf(f, i)) v = replaced.of(v);
    for (const Target& t : targetsOf(f, i))
      for (ValueId& v : argsOf(f, t)) v = replaced.of(v);
    switch (i.op) {
      case Op::Load: return load(i);
      case Op::Store: store(i); return true;
      case Op::MemCopy: case Op::MemZero: {
        Access a;
        writes(memory, f, i, a);
        kill(a);
        return true;
      }
      case Op::Prefetch: return true;
      case Op::TrapIf:
        if (known[f.arg(i, 0).index] == False) return false;
        decide(f.arg(i, 0), false);
        return true;
      case Op::BrIf:
        if (uint8_t k = known[f.arg(i, 0).index]; k != Undecided) becomeBr(f, i, f.targets[i.firstTarget + (k == True ? 0 : 1)]);
        return true;
      case Op::Select:
        if (uint8_t k = known[f.arg(i, 0).index]; k != Undecided) {
          replaced.set(i.result, f.arg(i, k == True ? 1 : 2));
          return false;
        }
        return numbered(id);
      case Op::Context: return contextChanges || numbered(id);
      case Op::FramePtr: return true;
      default:
        if (hasEffect(i.op, 'C')) {
          std::erase_if(held, [&](const Held& h) { return memory.sharedWithCalls(h.where); });
          return true;
        }
        return isTerminator(i.op) || numbered(id);
    }
  }

  static bool commutes(Op op) {
    switch (op) {
      case Op::IAdd: case Op::IMul: case Op::And: case Op::Or: case Op::Xor: case Op::SAddT: case Op::SMulT: case Op::UAddT: case Op::UMulT:
      case Op::MulHiS: case Op::MulHiU: case Op::IMinS: case Op::IMaxS:
        return true;
      default: return false;
    }
  }

  bool before(ValueId a, ValueId b) {   // constants come last, as other passes like them
    int64_t c;
    bool ca = constantOf(f, a, c), cb = constantOf(f, b, c);
    return ca != cb ? cb : a < b;
  }

  bool numbered(InstId id) {
    Inst& i = f.insts[id.index];
    if (i.argCount == 2 && before(f.arg(i, 1), f.arg(i, 0))) {   // a fixed order of the operands, where it does not matter
      if (commutes(i.op)) std::swap(f.pool[i.firstArg], f.pool[i.firstArg + 1]);
      else if (i.op == Op::ICmp) std::swap(f.pool[i.firstArg], f.pool[i.firstArg + 1]), i.cond = swapOperands(i.cond);
    }
    uint64_t hash = uint64_t(i.op) * 0x9e3779b97f4a7c15u + uint64_t(i.cond) * 131 + uint64_t(i.type.kind) * 17 + i.type.lanes;
    auto mix = [&](uint64_t v) { hash = (hash ^ v) * 0xff51afd7ed558ccdu, hash ^= hash >> 29; };
    mix(uint64_t(i.imm));
    mix(i.symbol.index);
    for (ValueId v : argsOf(f, i)) mix(v.index);
    uint32_t found = table.find(uint32_t(hash), [&](InstId other) { return same(i, f.insts[other.index]); });
    if (found == Table::None) {
      table.add(uint32_t(hash), id);
      return true;
    }
    replaced.set(i.result, f.insts[found].result);
    return false;
  }

  bool same(const Inst& a, const Inst& b) {
    if (a.op != b.op || a.cond != b.cond || a.type != b.type || a.imm != b.imm || a.symbol != b.symbol || a.argCount != b.argCount) return false;
    auto x = argsOf(f, a), y = argsOf(f, b);
    return std::equal(x.begin(), x.end(), y.begin());
  }

  bool load(Inst& i) {
    Access a;
    reads(memory, f, i, a);
    for (const Held& h : held)
      if (h.type == i.type && h.where.samePlace(a)) {
        replaced.set(i.result, h.value);
        return false;
      }
    hold({a, i.type, i.result});
    return true;
  }
  void store(const Inst& i) {
    Access a;
    writes(memory, f, i, a);
    kill(a);
    hold({a, i.type, f.arg(i, 0)});
  }
  void hold(const Held& h) {
    if (held.size() == MostHeld) held.erase(held.begin());
    held.push_back(h);
  }
  void kill(const Access& a) {
    std::erase_if(held, [&](const Held& h) { return memory.mayOverlap(h.where, a); });
  }
};

}  // namespace

void numberValues(Module& m, Function& f) {
  Numberer(m, f).run();
  dropUnreachable(f);
}

}  // namespace mica::ir
