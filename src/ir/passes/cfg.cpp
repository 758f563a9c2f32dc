// cfg: makes the flow graph small. Rounds of: decided branches become jumps; parameters that always receive the same value become that
// value; jumps through blocks that only jump on lead straight on; a block with one way in, from a block with one way out, joins it.
#include "ir/passes/edit.h"
#include "ir/passes/passes.h"

namespace mica::ir {

namespace {

class Simplifier {
 public:
  explicit Simplifier(Function& fn) : f(fn) {}

  void run() {
    dropUnreachable(f);
    for (unsigned round = 0; round < 8; ++round) {
      changed = false;
      for (uint32_t b = 0; b < f.blocks.size(); ++b) decide(BlockId(b));
      changed |= dropUnreachable(f);
      dropParams();
      threadJumps();
      changed |= dropUnreachable(f);
      mergeBlocks();
      if (!changed) break;
    }
  }

 private:
  Function& f;
  bool changed = false;

  bool sameTarget(const Target& a, const Target& b) {
    if (a.block != b.block) return false;
    auto x = argsOf(f, a), y = argsOf(f, b);
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  }

  void becomeJump(Inst& i, unsigned target) {
    becomeBr(f, i, f.targets[i.firstTarget + target]);
    changed = true;
  }

  // Branches on constants, and branches whose ways are all the same.
  void decide(BlockId b) {
    Inst& i = terminatorOf(f, b);
    int64_t c;
    if (i.op == Op::BrIf) {
      const Inst* d = defOf(f, f.arg(i, 0));
      if (constantOf(f, f.arg(i, 0), c)) becomeJump(i, c ? 0 : 1);
      else if (sameTarget(f.targets[i.firstTarget], f.targets[i.firstTarget + 1])) becomeJump(i, 0);
      else if (d && d->op == Op::Not) {
        f.pool[i.firstArg] = f.arg(*d, 0);
        std::swap(f.targets[i.firstTarget], f.targets[i.firstTarget + 1]);
        changed = true;
      }
    } else if (i.op == Op::Switch) {
      if (constantOf(f, f.arg(i, 0), c)) {
        unsigned taken = 0;
        for (unsigned k = 1; k < i.targetCount; ++k)
          if (f.cases[i.imm + k - 1] == c) taken = k;
        becomeJump(i, taken);
      } else {
        bool same = true;
        for (unsigned k = 1; k < i.targetCount; ++k) same &= sameTarget(f.targets[i.firstTarget], f.targets[i.firstTarget + k]);
        if (same) becomeJump(i, 0);
      }
    }
  }

  // A parameter whose arguments are all one value, or itself, is that value. Constants count as one when they are equal.
  void dropParams() {
    std::vector<std::vector<uint32_t>> into(f.blocks.size());
    for (Block& b : f.blocks) {
      const Inst& i = f.insts[b.insts.back().index];
      for (uint32_t t = 0; t < i.targetCount; ++t) into[f.targets[i.firstTarget + t].block.index].push_back(i.firstTarget + t);
    }
    Replacements replaced(f);
    bool again = true;
    while (again) {
      again = false;
      for (uint32_t b = 1; b < f.blocks.size(); ++b) {
        std::vector<ValueId>& params = f.blocks[b].params;
        for (uint32_t k = 0; k < params.size();) {
          ValueId same = onlyValue(replaced, into[b], params[k], k);
          if (!same) { ++k; continue; }
          replaced.set(params[k], same);
          params.erase(params.begin() + k);
          for (uint32_t t : into[b]) {
            auto args = argsOf(f, f.targets[t]);
            std::copy(args.begin() + k + 1, args.end(), args.begin() + k);
            --f.targets[t].argCount;
          }
          again = changed = true;
        }
      }
    }
    replaced.apply(f);
  }

  ValueId onlyValue(Replacements& replaced, const std::vector<uint32_t>& into, ValueId param, uint32_t k) {
    ValueId same;
    for (uint32_t t : into) {
      ValueId v = replaced.of(f.pool[f.targets[t].firstArg + k]);
      if (v == param || v == same) continue;
      if (same) return {};
      same = v;
    }
    return same;
  }

  // The uses of each value, to see whether a block's parameters serve only its own jump.
  bool onlyForItsJump(BlockId b, const std::vector<uint32_t>& counts) {
    const Block& block = f.blocks[b.index];
    const Inst& i = terminatorOf(f, b);
    for (ValueId p : block.params) {
      uint32_t own = 0;
      for (ValueId v : argsOf(f, i)) own += v == p;
      for (const Target& t : targetsOf(f, i))
        for (ValueId v : argsOf(f, t)) own += v == p;
      if (own != counts[p.index]) return false;
    }
    return true;
  }

  // Where a jump through `t` ends up: through a block that only jumps, or that branches on a parameter for which `t` passes a constant.
  bool threaded(const Target& t, const std::vector<uint32_t>& counts, Target& to) {
    const Block& block = f.blocks[t.block.index];
    if (block.insts.size() != 1 || t.block.index == 0) return false;
    const Inst& i = f.insts[block.insts[0].index];
    unsigned way = 0;
    if (i.op == Op::BrIf) {
      int64_t c;
      if (f.values[f.arg(i, 0).index].paramOf != t.block || !constantOf(f, through(t, f.arg(i, 0)), c)) return false;
      way = c ? 0 : 1;
    } else if (i.op != Op::Br) {
      return false;
    }
    const Target& next = f.targets[i.firstTarget + way];
    if (next.block == t.block || !onlyForItsJump(t.block, counts)) return false;
    std::vector<ValueId> args;
    for (ValueId v : argsOf(f, next)) args.push_back(through(t, v));
    to.block = next.block;
    to.firstArg = addToPool(f, args);
    to.argCount = uint32_t(args.size());
    return true;
  }

  // What a value of the block that `t` leads to is, seen from before the jump.
  ValueId through(const Target& t, ValueId v) {
    if (f.values[v.index].paramOf != t.block) return v;
    const std::vector<ValueId>& params = f.blocks[t.block.index].params;
    for (uint32_t k = 0; k < params.size(); ++k)
      if (params[k] == v) return f.pool[t.firstArg + k];
    return v;
  }

  void threadJumps() {
    std::vector<uint32_t> counts = useCounts(f);
    for (uint32_t b = 0; b < f.blocks.size(); ++b) {
      Inst i = terminatorOf(f, BlockId(b));
      for (uint32_t t = 0; t < i.targetCount; ++t)
        for (unsigned steps = 0; steps < 16; ++steps) {
          Target to;
          if (f.targets[i.firstTarget + t].block == BlockId(b) || !threaded(f.targets[i.firstTarget + t], counts, to)) break;
          for (ValueId v : argsOf(f, to)) ++counts[v.index];
          f.targets[i.firstTarget + t] = to;
          changed = true;
        }
    }
  }

  void mergeBlocks() {
    std::vector<uint32_t> ways(f.blocks.size(), 0);
    for (Block& b : f.blocks)
      for (const Target& t : targetsOf(f, f.insts[b.insts.back().index])) ++ways[t.block.index];
    Replacements replaced(f);
    std::vector<char> gone(f.blocks.size(), 0);
    for (uint32_t b = 0; b < f.blocks.size(); ++b) {
      if (gone[b]) continue;
      for (;;) {
        Inst& i = terminatorOf(f, BlockId(b));
        if (i.op != Op::Br) break;
        Target t = f.targets[i.firstTarget];
        uint32_t next = t.block.index;
        if (ways[next] != 1 || next == b) break;
        for (uint32_t k = 0; k < t.argCount; ++k) replaced.set(f.blocks[next].params[k], f.pool[t.firstArg + k]);
        f.blocks[b].insts.pop_back();
        std::vector<InstId> moved = std::move(f.blocks[next].insts);
        f.blocks[b].insts.insert(f.blocks[b].insts.end(), moved.begin(), moved.end());
        f.blocks[next].params.clear();
        f.blocks[next].insts.clear();
        gone[next] = 1;
        changed = true;
      }
    }
    replaced.apply(f);
    removeGone(gone);
  }

  // The emptied blocks leave the list; nothing names them.
  void removeGone(const std::vector<char>& gone) {
    std::vector<BlockId> to(f.blocks.size());
    uint32_t kept = 0;
    for (uint32_t b = 0; b < f.blocks.size(); ++b) {
      if (gone[b]) continue;
      to[b] = BlockId(kept);
      if (kept != b) f.blocks[kept] = std::move(f.blocks[b]);
      ++kept;
    }
    if (kept == f.blocks.size()) return;
    f.blocks.resize(kept);
    for (uint32_t b = 0; b < kept; ++b) {
      for (ValueId p : f.blocks[b].params) f.values[p.index].paramOf = BlockId(b);
      for (Target& t : targetsOf(f, terminatorOf(f, BlockId(b)))) t.block = to[t.block.index];
    }
  }
};

}  // namespace

void simplifyCfg(Function& f) { Simplifier(f).run(); }

}  // namespace mica::ir
