// What passes use to change functions: replacing values, building instructions into lists, dropping blocks, renumbering.
#pragma once
#include "ir/analysis.h"
#include "ir/builder.h"

namespace mica::ir {

// "Use that value instead of this one", collected during a walk and applied to all operands at once. Chains are followed.
class Replacements {
 public:
  explicit Replacements(const Function& f) : to(f.values.size()) {}
  void set(ValueId from, ValueId by) {
    if (from.index >= to.size()) to.resize(from.index + 1);
    to[from.index] = by;
    changed = true;
  }
  ValueId of(ValueId v) {
    ValueId end = v;
    while (end.index < to.size() && to[end.index]) end = to[end.index];
    while (v.index < to.size() && to[v.index]) {
      ValueId next = to[v.index];
      to[v.index] = end;
      v = next;
    }
    return end;
  }
  bool any() const { return changed; }
  void apply(Function& f);

 private:
  std::vector<ValueId> to;
  bool changed = false;
};

// Appends instructions to a list of a block that is being rewritten. The place is that of the instruction being replaced.
struct Emitter {
  Function& f;
  std::vector<InstId>& list;
  PlaceId place;
  InstId inst(Op op, Type t, std::initializer_list<ValueId> args, int64_t imm = 0) {
    InstId i = newInst(f, op, t, Values(args.begin(), args.size()), imm, place);
    list.push_back(i);
    return i;
  }
  ValueId value(Op op, Type t, std::initializer_list<ValueId> args, int64_t imm = 0) { return f.insts[inst(op, t, args, imm).index].result; }
  ValueId iconst(Type t, int64_t v) { return value(Op::IConst, t, {}, canonical(t, v)); }
  ValueId zero(Type t) { return t.isFloat() ? value(Op::FConst, t, {}, 0) : iconst(t, 0); }
};

// The instruction that defines a value; null for block parameters. Invalid once instructions are added.
inline const Inst* defOf(const Function& f, ValueId v) {
  InstId d = f.values[v.index].def;
  return d ? &f.insts[d.index] : nullptr;
}
// Is the value an integer (or ptr) constant, in every lane?
inline bool constantOf(const Function& f, ValueId v, int64_t& c) {
  const Inst* d = defOf(f, v);
  if (!d || d->op != Op::IConst) return false;
  c = d->imm;
  return true;
}
inline bool isConstant(const Function& f, ValueId v, int64_t c) {
  int64_t k;
  return constantOf(f, v, k) && k == c;
}

// Can the instruction be left out when nobody uses its result?
inline bool removable(Op op) { return hasEffect(op, 'P') || hasEffect(op, 'R'); }
inline bool contains(const Function& f, Op op) {
  for (const Block& b : f.blocks)
    for (InstId i : b.insts)
      if (f.insts[i.index].op == op) return true;
  return false;
}

// Turns an instruction into another in place; its result, if any, keeps its number.
void becomeConstant(Function&, Inst&, int64_t value);
void becomeUnary(Function&, Inst&, Op, Type, ValueId);
void becomeBr(Function&, Inst&, const Target&);

// Replaces the arguments of a target.
void setArgs(Function&, Target&, Values);

// Removes the blocks that nothing reaches and numbers the rest anew, in their order. Answers whether there were any.
bool dropUnreachable(Function&);

// Drops what no block holds and numbers everything as it would be written from top to bottom; slots that no instruction names go too.
void renumber(Function&);

}  // namespace mica::ir
