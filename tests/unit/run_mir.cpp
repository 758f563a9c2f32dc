// See run_mir.h.
#include "run_mir.h"

#include <algorithm>
#include <map>

#include "random_mir.h"

namespace mica::mir {

namespace {

constexpr unsigned MostBlocks = 60;                   // that a run passes
constexpr unsigned WholeValue = 64;

uint64_t mix(uint64_t a, uint64_t b) { return Dice(a * 0x9e3779b97f4a7c15u ^ b).next(); }

uint64_t madeBy(const Inst& i) { return mix(uint64_t(i.op) << 32 ^ i.extra, uint64_t(i.imm)); }

// A number for each instruction that is the same before and after.
uint64_t idOf(const Inst& i) { return mix(i.op, i.firstOperand); }

using Trace = std::vector<uint64_t>;

// Ways are told by dice that both runs throw alike.
class Way {
 public:
  explicit Way(uint64_t seed) : dice(seed) {}
  bool goesOn() { return passed++ < MostBlocks; }
  uint32_t choose(size_t n) { return n > 1 ? dice.below(unsigned(n)) : 0; }

 private:
  Dice dice;
  unsigned passed = 0;
};

Trace runBefore(const Function& f, uint64_t seed) {
  Trace trace;
  Way way(seed);
  std::vector<uint64_t> value(f.vregs.size());
  for (uint32_t b = 0; way.goesOn();) {
    trace.push_back(b);
    for (const Inst& i : f.blocks[b].insts) {
      const Operand* ops = f.operandsOf(i);
      if (i.remat) {
        value[ops[0].reg.index] = madeBy(i);
        continue;
      }
      if (i.op == Copy) {
        value[ops[0].reg.index] = value[ops[1].reg.index];
        continue;
      }
      uint64_t read = idOf(i);
      for (unsigned k = 0; k < i.operandCount; ++k)
        if (!ops[k].isDef) read = mix(read, value[ops[k].reg.index]);
      trace.push_back(read);
      for (unsigned k = 0; k < i.operandCount; ++k)
        if (ops[k].isDef) value[ops[k].reg.index] = mix(read + trace.size(), k);
    }
    const Block& block = f.blocks[b];
    if (block.succs.empty()) break;
    const Edge& e = block.succs[way.choose(block.succs.size())];
    std::vector<uint64_t> passed;
    for (VReg a : e.args) passed.push_back(value[a.index]);
    for (size_t k = 0; k < passed.size(); ++k) value[f.blocks[e.to.index].params[k].index] = passed[k];
    b = e.to.index;
  }
  return trace;
}

class Machine {
 public:
  Machine(const Function& before, const Function& after) : original(before), f(after) {}

  Trace run(uint64_t seed) {
    Way way(seed);
    for (uint32_t b = 0;;) {
      const Block& block = f.blocks[b];
      bool onEdge = b >= original.blocks.size();
      if (!onEdge) {
        if (!way.goesOn()) break;
        trace.push_back(b);
      } else if (++jumps > 1000) {
        break;                                        // blocks on edges in a circle
      }
      for (const Inst& i : block.insts)
        if (!onEdge || !i.isTerminator) instruction(i);
      if (block.succs.empty()) break;
      b = block.succs[onEdge ? 0 : way.choose(block.succs.size())].to.index;
    }
    return std::move(trace);
  }

 private:
  struct Content { uint64_t value; unsigned bytes; };
  const Function& original;
  const Function& f;
  std::map<Loc, Content> state;
  Trace trace;
  uint64_t rubbish = 1;
  unsigned jumps = 0;

  Content junk() { return {mix(++rubbish, 0xbad), WholeValue}; }
  Content at(Loc l) {
    auto it = state.find(l);
    return it == state.end() ? junk() : it->second;
  }
  uint64_t read(const Operand& o) {
    Content c = at(o.loc);
    return c.bytes >= f.vregs[o.reg.index].size ? c.value : junk().value;
  }
  void write(Loc l, uint64_t value) { state[l] = {value, WholeValue}; }

  void move(const Inst& i, const Operand* ops) {
    unsigned size = f.vregs[ops[0].reg.index].size;
    Content c = at(ops[1].loc);
    if (i.op == Swap) {
      state[ops[1].loc] = at(ops[0].loc);
    } else {
      c.bytes = std::min(c.bytes, size);
      if (ops[0].loc.isSlot()) c.bytes = std::min(c.bytes, f.spillSlots[ops[0].loc.index].size);
    }
    state[ops[0].loc] = c;
  }

  void instruction(const Inst& i) {
    const Operand* ops = f.operandsOf(i);
    if (i.op == Move || i.op == Swap) return move(i, ops);
    if (i.remat) return write(ops[0].loc, madeBy(i));
    if (i.op == Copy) return write(ops[0].loc, read(ops[1]));
    std::vector<uint64_t> values(i.operandCount);
    // Early results are there before anything is read, all others before the late operands are.
    for (unsigned k = 0; k < i.operandCount; ++k)
      if (ops[k].isDef && ops[k].late) state[ops[k].loc] = junk();
    for (unsigned k = 0; k < i.operandCount; ++k)
      if (!ops[k].isDef && !ops[k].late) values[k] = read(ops[k]);
    apply(i);
    for (unsigned k = 0; k < i.operandCount; ++k)
      if (ops[k].isDef) state[ops[k].loc] = junk();
    for (unsigned k = 0; k < i.operandCount; ++k)
      if (!ops[k].isDef && ops[k].late) values[k] = read(ops[k]);
    uint64_t all = idOf(i);
    for (unsigned k = 0; k < i.operandCount; ++k)
      if (!ops[k].isDef) all = mix(all, values[k]);
    trace.push_back(all);
    for (unsigned k = 0; k < i.operandCount; ++k)
      if (ops[k].isDef) write(ops[k].loc, mix(all + trace.size(), k));
  }
  void apply(const Inst& i) {
    for (PReg r = 0; r < 64; ++r)
      if (i.clobbers & bit(r)) state[Loc::reg(r)] = junk();
  }
};

// The registers that the function writes and its caller wants back must be known to the prologue.
bool savesAll(const Function& f, const Target& t) {
  RegSet written = 0;
  for (const Block& b : f.blocks)
    for (const Inst& i : b.insts) {
      written |= i.clobbers;
      const Operand* ops = f.operandsOf(i);
      for (unsigned k = 0; k < i.operandCount; ++k)
        if ((ops[k].isDef || i.op == Swap) && ops[k].loc.isReg()) written |= bit(PReg(ops[k].loc.index));
    }
  return (written & t.calleeSaved & ~f.usedRegs) == 0;
}

}  // namespace

std::string compareRuns(const Function& before, const Function& after, const Target& t, uint64_t seed, unsigned ways) {
  if (!savesAll(after, t)) return "a register of the caller is written but not saved";
  for (unsigned way = 0; way < ways; ++way) {
    Trace wanted = runBefore(before, seed + way), seen = Machine(before, after).run(seed + way);
    if (wanted == seen) continue;
    size_t at = size_t(std::mismatch(wanted.begin(), wanted.end(), seen.begin(), seen.end()).first - wanted.begin());
    return "way " + std::to_string(way) + " differs at step " + std::to_string(at) + " of " + std::to_string(wanted.size());
  }
  return "";
}

}  // namespace mica::mir
