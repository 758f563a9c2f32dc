// See edit.h.
#include "ir/passes/edit.h"

namespace mica::ir {

void Replacements::apply(Function& f) {
  if (!changed) return;
  for (Block& b : f.blocks)
    for (InstId i : b.insts) {
      const Inst& inst = f.insts[i.index];
      for (ValueId& v : argsOf(f, inst)) v = of(v);
      for (const Target& t : targetsOf(f, inst))
        for (ValueId& v : argsOf(f, t)) v = of(v);
    }
}

void becomeConstant(Function& f, Inst& i, int64_t value) {
  Type t = f.typeOf(i.result);
  i.op = t.isFloat() ? Op::FConst : Op::IConst;
  i.type = t;
  i.imm = t.isFloat() ? value : canonical(t, value);
  i.argCount = 0;
}

void becomeUnary(Function& f, Inst& i, Op op, Type t, ValueId a) {
  i.op = op;
  i.type = t;
  i.imm = 0;
  f.pool[i.firstArg] = a;
  i.argCount = 1;
}

void becomeBr(Function& f, Inst& i, const Target& t) {
  Target kept = t;
  i.op = Op::Br;
  i.type = Void;
  i.imm = 0;
  i.argCount = 0;
  f.targets[i.firstTarget] = kept;
  i.targetCount = 1;
}

void setArgs(Function& f, Target& t, Values args) {
  if (args.size() <= t.argCount) {
    std::copy(args.begin(), args.end(), f.pool.begin() + t.firstArg);
  } else {
    t.firstArg = addToPool(f, args);
  }
  t.argCount = uint32_t(args.size());
}

bool dropUnreachable(Function& f) {
  Cfg cfg(f);
  if (cfg.order.size() == f.blocks.size()) return false;
  std::vector<BlockId> to(f.blocks.size());
  uint32_t kept = 0;
  for (uint32_t b = 0; b < f.blocks.size(); ++b) {
    if (!cfg.reachable(BlockId(b))) continue;
    to[b] = BlockId(kept);
    if (kept != b) f.blocks[kept] = std::move(f.blocks[b]);
    ++kept;
  }
  f.blocks.resize(kept);
  for (uint32_t b = 0; b < kept; ++b) {
    for (ValueId p : f.blocks[b].params) f.values[p.index].paramOf = BlockId(b);
    for (Target& t : targetsOf(f, terminatorOf(f, BlockId(b)))) t.block = to[t.block.index];
  }
  return true;
}

namespace {

// Copies a function's contents into fresh vectors, in writing order.
class Renumberer {
 public:
  explicit Renumberer(Function& old) : f(old), toValue(old.values.size()), toSlot(old.slots.size()) {}

  void run() {
    out.blocks.resize(f.blocks.size());
    for (uint32_t b = 0; b < f.blocks.size(); ++b) {
      for (ValueId p : f.blocks[b].params) out.blocks[b].params.push_back(define(p, {}, BlockId(b)));
      for (InstId i : f.blocks[b].insts) {
        InstId to(uint32_t(out.insts.size()));
        out.insts.push_back(f.insts[i.index]);
        Inst& inst = out.insts.back();
        if (inst.result) inst.result = define(inst.result, to, {});
        if (inst.op == Op::SlotAddr) inst.imm = slot(inst.imm);
        out.blocks[b].insts.push_back(to);
      }
    }
    for (Inst& inst : out.insts) operands(inst);
    f.blocks = std::move(out.blocks);
    f.insts = std::move(out.insts);
    f.values = std::move(out.values);
    f.targets = std::move(out.targets);
    f.pool = std::move(out.pool);
    f.cases = std::move(out.cases);
    f.slots = std::move(out.slots);
  }

 private:
  Function& f;
  Function out;
  std::vector<ValueId> toValue;
  std::vector<SlotId> toSlot;

  ValueId define(ValueId v, InstId def, BlockId paramOf) {
    toValue[v.index] = ValueId(uint32_t(out.values.size()));
    out.values.push_back({f.values[v.index].type, def, paramOf});
    return toValue[v.index];
  }
  int64_t slot(int64_t s) {
    if (!toSlot[s]) {
      toSlot[s] = SlotId(uint32_t(out.slots.size()));
      out.slots.push_back(f.slots[s]);
    }
    return toSlot[s].index;
  }
  uint32_t list(Values values) {
    uint32_t first = uint32_t(out.pool.size());
    for (ValueId v : values) out.pool.push_back(toValue[v.index]);
    return first;
  }
  void operands(Inst& inst) {
    inst.firstArg = list(argsOf(f, inst));
    uint32_t firstTarget = uint32_t(out.targets.size());
    for (const Target& t : targetsOf(f, inst)) out.targets.push_back({t.block, list(argsOf(f, t)), t.argCount});
    inst.firstTarget = firstTarget;
    if (inst.op == Op::Switch) {
      int64_t first = int64_t(out.cases.size());
      out.cases.insert(out.cases.end(), f.cases.begin() + inst.imm, f.cases.begin() + inst.imm + inst.targetCount - 1);
      inst.imm = first;
    }
  }
};

}  // namespace

void renumber(Function& f) { Renumberer(f).run(); }

}  // namespace mica::ir
