// See regalloc_check.h.
#include "ir/regalloc_check.h"

#include <algorithm>
#include <map>
#include <optional>

namespace mica::mir {

namespace {

using Names = std::vector<VReg>;             // sorted
using State = std::map<Loc, Names>;

void insertName(Names& names, VReg v) {
  auto at = std::lower_bound(names.begin(), names.end(), v);
  if (at == names.end() || *at != v) names.insert(at, v);
}

class Checker {
 public:
  Checker(const Function& b, const Function& a, const Target& target) : before(b), after(a), t(target) {}

  bool run(std::string& error) {
    bool fine = sameInstructions() && sameEdges() && dataflow();
    error = message;
    return fine;
  }

 private:
  const Function& before;
  const Function& after;
  const Target& t;
  std::string message;
  std::vector<std::optional<State>> entry;
  std::vector<const Inst*> definedBy;        // of rematerialised registers

  bool fail(BlockId b, const Inst* i, const std::string& what) {
    message = "register allocation is wrong in b" + std::to_string(b.index) +
              (i ? " at `" + print(after, t, *i) + "`" : "") + ": " + what;
    return false;
  }

  bool inserted(const Inst& i) const {
    return i.op == Move || i.op == Swap || (i.remat && i.firstOperand >= before.operands.size());
  }

  bool sameInstructions() {
    definedBy.assign(before.vregs.size(), nullptr);
    for (const Block& b : before.blocks)
      for (const Inst& i : b.insts)
        if (i.remat) definedBy[before.operandsOf(i)[0].reg.index] = &i;
    for (uint32_t n = 0; n < after.blocks.size(); ++n) {
      const Block& b = after.blocks[n];
      size_t next = 0;
      for (const Inst& i : b.insts) {
        if (inserted(i)) {
          if (i.remat && !isCopyOf(i, definedBy[after.operandsOf(i)[0].reg.index]))
            return fail(BlockId(n), &i, "makes another value");
          continue;
        }
        if (n >= before.blocks.size()) {
          if (!i.isTerminator || i.op != t.jumpOp) return fail(BlockId(n), &i, "an instruction on an edge");
          continue;
        }
        const std::vector<Inst>& original = before.blocks[n].insts;
        while (next < original.size() && original[next].remat) ++next;   // made where they are needed
        if (next == original.size() || original[next].op != i.op || original[next].firstOperand != i.firstOperand)
          return fail(BlockId(n), &i, "not the original's next instruction");
        for (unsigned k = 0; k < i.operandCount; ++k)
          if (before.operandsOf(original[next])[k].reg != after.operandsOf(i)[k].reg)
            return fail(BlockId(n), &i, "an operand was renamed");
        ++next;
      }
      if (n < before.blocks.size() && !b.insts.empty() && next != before.blocks[n].insts.size())
        return fail(BlockId(n), nullptr, "instructions are missing");
    }
    return true;
  }

  // Every edge leads where it led, perhaps over a new block, and passes the same arguments.
  bool sameEdges() {
    for (uint32_t n = 0; n < before.blocks.size(); ++n) {
      const std::vector<Edge>&wanted = before.blocks[n].succs, &found = after.blocks[n].succs;
      bool same = wanted.size() == found.size();
      for (size_t k = 0; same && k < wanted.size(); ++k) {
        const Edge* e = &found[k];
        if (e->to.index >= before.blocks.size()) {
          const Block& between = after.blocks[e->to.index];
          if (!e->args.empty() || between.succs.size() != 1 || !between.params.empty())
            return fail(e->to, nullptr, "not a block on an edge");
          e = &between.succs[0];
        }
        same = e->to == wanted[k].to && e->args == wanted[k].args;
      }
      if (!same) return fail(BlockId(n), nullptr, "an edge leads elsewhere");
    }
    return true;
  }

  static bool isCopyOf(const Inst& a, const Inst* b) {
    return b && a.op == b->op && a.imm == b->imm && a.extra == b->extra && a.mem.kind == b->mem.kind &&
           a.mem.id == b->mem.id && a.mem.disp == b->mem.disp && a.mem.bits == b->mem.bits;
  }

  static void meet(State& into, const State& other) {
    for (auto it = into.begin(); it != into.end();) {
      auto o = other.find(it->first);
      Names both;
      if (o != other.end())
        std::set_intersection(it->second.begin(), it->second.end(), o->second.begin(), o->second.end(),
                              std::back_inserter(both));
      if (both.empty()) {
        it = into.erase(it);
      } else {
        it->second = std::move(both);
        ++it;
      }
    }
  }

  bool dataflow() {
    entry.assign(after.blocks.size(), std::nullopt);
    entry[0] = State();
    std::vector<uint32_t> work{0};
    std::vector<bool> queued(after.blocks.size());
    while (!work.empty()) {
      uint32_t n = work.back();
      work.pop_back();
      queued[n] = false;
      State state = *entry[n];
      if (!block(BlockId(n), state)) return false;
      for (const Edge& e : after.blocks[n].succs) {
        State there = state;
        if (!passParams(BlockId(n), e, there)) return false;
        std::optional<State>& known = entry[e.to.index];
        if (!known) {
          known = std::move(there);
        } else {
          State met = *known;
          meet(met, there);
          if (met == *known) continue;
          known = std::move(met);
        }
        if (!queued[e.to.index]) {
          queued[e.to.index] = true;
          work.push_back(e.to.index);
        }
      }
    }
    return true;
  }

  // All at once, what held an argument holds the parameter, and the parameters' former values are forgotten.
  bool passParams(BlockId from, const Edge& e, State& state) {
    const Block& to = after.blocks[e.to.index];
    if (to.params.size() != e.args.size())
      return fail(from, nullptr, "an edge passes another number of arguments than the block takes");
    if (to.params.empty()) return true;
    std::vector<std::pair<VReg, VReg>> renames;
    for (size_t k = 0; k < e.args.size(); ++k) renames.push_back({e.args[k], to.params[k]});
    std::sort(renames.begin(), renames.end());
    Names sortedParams = to.params;
    std::sort(sortedParams.begin(), sortedParams.end());
    for (auto it = state.begin(); it != state.end();) {
      Names now;
      for (VReg v : it->second) {
        if (!std::binary_search(sortedParams.begin(), sortedParams.end(), v)) insertName(now, v);
        for (auto r = std::lower_bound(renames.begin(), renames.end(), std::pair{v, VReg(0)});
             r != renames.end() && r->first == v; ++r)
          insertName(now, r->second);
      }
      if (now.empty()) {
        it = state.erase(it);
      } else {
        it->second = std::move(now);
        ++it;
      }
    }
    for (size_t k = 0; k < to.params.size(); ++k) {
      Loc l = to.paramLocs[k];
      if (l.kind != Loc::None && !holds(state, l, to.params[k]))
        return fail(from, nullptr,
                    "b" + std::to_string(e.to.index) + " expects its parameter v" + std::to_string(to.params[k].index) +
                        " elsewhere");
    }
    return true;
  }

  static bool holds(const State& state, Loc l, VReg v) {
    auto it = state.find(l);
    return it != state.end() && std::binary_search(it->second.begin(), it->second.end(), v);
  }

  bool block(BlockId id, State& state) {
    for (const Inst& i : after.blocks[id.index].insts) {
      const Operand* ops = after.operandsOf(i);
      if (i.op == Move || i.op == Swap) {
        if (!move(id, i, ops, state)) return false;
        continue;
      }
      if (!constraints(id, i, ops)) return false;
      if (i.clobbers & ~after.usedRegs) return fail(id, &i, "a destroyed register is not counted as used");
      for (unsigned k = 0; k < i.operandCount; ++k)
        if (!ops[k].isDef && !holds(state, ops[k].loc, ops[k].reg))
          return fail(id, &i, "operand v" + std::to_string(ops[k].reg.index) + " is not there");
      Names copied;
      if (i.op == Copy)
        if (auto it = state.find(ops[1].loc); it != state.end()) copied = it->second;
      for (auto it = state.begin(); it != state.end();)
        it = it->first.isReg() && (i.clobbers & bit(PReg(it->first.index))) ? state.erase(it) : std::next(it);
      for (unsigned k = 0; k < i.operandCount; ++k)
        if (ops[k].isDef) {
          if (!i.remat) forget(state, ops[k].reg);
          state[ops[k].loc] = copied;
          insertName(state[ops[k].loc], ops[k].reg);
        }
    }
    return true;
  }

  static void forget(State& state, VReg v) {
    for (auto it = state.begin(); it != state.end();) {
      std::erase(it->second, v);
      it = it->second.empty() ? state.erase(it) : std::next(it);
    }
  }

  bool move(BlockId id, const Inst& i, const Operand* ops, State& state) {
    Loc to = ops[0].loc, from = ops[1].loc;
    if (to.isSlot() && from.isSlot()) return fail(id, &i, "a move from slot to slot");
    const VRegInfo& info = after.vregs[ops[0].reg.index];
    for (Loc l : {to, from}) {
      if (l.isSlot() && after.spillSlots[l.index].size < info.size) return fail(id, &i, "the slot is too small");
      if (l.isReg() && !(t.allocatable[unsigned(info.cls)] & bit(PReg(l.index))))
        return fail(id, &i, "a register of another class");
      if (l.kind == Loc::None) return fail(id, &i, "no location");
      bool written = l == to || i.op == Swap;
      if (written && l.isReg() && !(after.usedRegs & bit(PReg(l.index))))
        return fail(id, &i, "a written register is not counted as used");
    }
    if (i.op == Swap) {
      if (info.cls != RegClass::Int || !to.isReg() || !from.isReg())
        return fail(id, &i, "only general registers are exchanged");
      std::swap(state[to], state[from]);
      return true;
    }
    auto it = state.find(from);
    if (it == state.end()) {
      state.erase(to);                       // what is saved only to be put back may have no name
    } else {
      Names names = it->second;
      // A move carries as many bytes as the value it names: wider values in the same place do not survive it.
      std::erase_if(names, [&](VReg v) { return after.vregs[v.index].size > info.size; });
      state[to] = std::move(names);
    }
    return true;
  }

  bool constraints(BlockId id, const Inst& i, const Operand* ops) {
    for (unsigned k = 0; k < i.operandCount; ++k) {
      const Operand& o = ops[k];
      if (o.loc.kind == Loc::None) return fail(id, &i, "an operand has no location");
      if (o.loc.isSlot() && (o.isDef || o.constraint != Constraint::Any))
        return fail(id, &i, "an operand is in memory that must not be");
      if (o.constraint == Constraint::Fixed && o.loc != Loc::reg(o.fixed))
        return fail(id, &i, "a fixed operand is elsewhere");
      if (o.constraint == Constraint::Tied && o.loc != ops[o.tied].loc)
        return fail(id, &i, "a tied result is elsewhere than its operand");
      if (o.loc.isReg() && o.constraint != Constraint::Fixed &&
          !(t.allocatable[unsigned(after.vregs[o.reg.index].cls)] & bit(PReg(o.loc.index))))
        return fail(id, &i, "a register of another class");
      if (o.isDef && !(after.usedRegs & bit(PReg(o.loc.index))))
        return fail(id, &i, "a written register is not counted as used");
      for (unsigned j = 0; j < i.operandCount; ++j) {
        const Operand& p = ops[j];
        if (o.isDef && p.isDef && j != k && o.loc == p.loc) return fail(id, &i, "two results share a location");
        bool overlap = o.isDef && !p.isDef && o.loc == p.loc && (p.late || o.late);
        if (overlap) return fail(id, &i, "a result overwrites an operand that is still read");
      }
      if (o.isDef && o.constraint != Constraint::Fixed && (i.clobbers & bit(PReg(o.loc.index))))
        return fail(id, &i, "a result is destroyed at once");
      if (!o.isDef && o.late && o.loc.isReg() && (i.clobbers & bit(PReg(o.loc.index))))
        return fail(id, &i, "an operand is destroyed too early");
    }
    return true;
  }
};

}  // namespace

bool checkAllocation(const Function& before, const Function& after, const Target& t, std::string& error) {
  return Checker(before, after, t).run(error);
}

}  // namespace mica::mir
