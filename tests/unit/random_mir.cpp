// See random_mir.h. Control flow first, then dominators, then instructions that use what is defined on every path.
#include "random_mir.h"

#include <algorithm>
#include <bit>

#include "backend_x64/target.h"

namespace mica::mir {

namespace {

constexpr unsigned MostBlocks = 40;                  // fits a set of 64 bits
constexpr unsigned VectorSizes[] = {8, 16, 32, 64};

class Generator {
 public:
  Generator(Dice& d, const Target& target) : dice(d), t(target) {
    for (PReg r = 0; r < 64; ++r) {
      if (t.allocatable[0] & bit(r)) regs[0].push_back(r);
      if (t.allocatable[1] & bit(r)) regs[1].push_back(r);
    }
    vectorShare = dice.chance(30) ? 0 : dice.below(100);
    oldShare = dice.below(101);
    callShare = dice.chance(40) ? 0 : dice.below(25);
    widestVector = dice.below(4);
  }

  Function run() {
    makeGraph();
    findDominators();
    for (uint32_t b = 0; b < f.blocks.size(); ++b) fill(b);
    for (uint32_t b = 0; b < f.blocks.size(); ++b) passArguments(b);
    for (uint32_t b = 0; b < f.blocks.size(); ++b) f.order.push_back(BlockId(b));
    return std::move(f);
  }

 private:
  Dice& dice;
  const Target& t;
  Function f;
  std::vector<PReg> regs[ClassCount];
  unsigned vectorShare, oldShare, callShare, widestVector;
  std::vector<uint64_t> dominators;                  // by block: the set of blocks on all ways to it
  std::vector<std::vector<VReg>> visible;            // by block: what may be used at its end

  // Every block is reached over lower ones; then edges in any direction.
  void makeGraph() {
    unsigned count = dice.chance(15) ? 1 : 2 + dice.below(dice.chance(20) ? MostBlocks - 2 : 9);
    f.blocks.resize(count);
    for (uint32_t b = 1; b < count; ++b) edge(dice.chance(60) ? b - 1 : dice.below(b), b);
    bool twoEntries = dice.chance(10);
    findDominators();
    for (unsigned n = dice.below(count * 2); n > 0; --n) {
      uint32_t from = dice.below(count), to = dice.below(count);
      bool backwards = to <= from, circle = twoEntries || (dominators[from] >> to & 1);
      if (to == 0 || f.blocks[from].succs.size() >= 6 || (backwards && !circle)) continue;
      edge(from, to);
      if (!backwards) findDominators();
    }
    for (Block& b : f.blocks) b.cold = dice.chance(5);
  }
  void edge(uint32_t from, uint32_t to) { f.blocks[from].succs.push_back({BlockId(to), {}}); }

  void findDominators() {
    size_t count = f.blocks.size();
    dominators.assign(count, ~uint64_t{0});
    dominators[0] = 1;
    for (bool changed = true; changed;) {
      changed = false;
      std::vector<uint64_t> now(count, ~uint64_t{0});
      for (uint32_t b = 0; b < count; ++b)
        for (const Edge& e : f.blocks[b].succs) now[e.to.index] &= dominators[b];
      for (uint32_t b = 1; b < count; ++b) {
        uint64_t set = now[b] | uint64_t{1} << b;
        changed |= set != dominators[b];
        dominators[b] = set;
      }
    }
  }

  std::vector<VReg>* here = nullptr;                 // what may be used at the current point

  void fill(uint32_t b) {
    visible.resize(f.blocks.size());
    here = &visible[b];
    if (b > 0) {
      uint64_t above = dominators[b] & ~(uint64_t{1} << b);
      *here = visible[63 - unsigned(std::countl_zero(above))];   // the nearest one has the highest number
      for (unsigned n = dice.chance(50) ? 0 : dice.below(7); n > 0; --n) {
        VReg v = newValue();
        f.blocks[b].params.push_back(v);
        here->push_back(v);
      }
    }
    insts = &f.blocks[b].insts;
    if (b == 0) begin();
    for (unsigned n = dice.below(dice.chance(20) ? 30 : 8); n > 0; --n) instruction();
    terminator(f.blocks[b].succs.size());
  }

  // Parameters, and at least one value of each kind.
  void begin() {
    start(x64::PArgs);
    for (unsigned c = 0; c < ClassCount; ++c)
      for (unsigned n = dice.below(unsigned(std::min<size_t>(regs[c].size(), 7))); n > 0; --n)
        define(Constraint::Fixed, c == 0 ? newReg(RegClass::Int, 8) : newVector(), regs[c][n - 1]);
    finish();
    remat(RegClass::Int, 8);
    for (unsigned size : VectorSizes) remat(RegClass::Vector, size);
  }

  VReg newReg(RegClass cls, unsigned size) { return f.newVReg(cls, size); }
  VReg newVector() { return newReg(RegClass::Vector, VectorSizes[dice.below(widestVector + 1)]); }
  VReg newValue() { return dice.chance(vectorShare) ? newVector() : newReg(RegClass::Int, 8); }

  VReg pick(auto suits) {
    for (unsigned tries = 0; tries < 8; ++tries) {
      size_t n = here->size(), recent = dice.chance(oldShare) ? n : std::min<size_t>(n, 6);
      VReg v = (*here)[n - 1 - dice.below(unsigned(recent))];
      if (suits(v)) return v;
    }
    for (size_t k = here->size(); k-- > 0;)
      if (suits((*here)[k])) return (*here)[k];
    return VReg();
  }
  VReg pick(RegClass cls) {
    return pick([&](VReg v) { return f.vregs[v.index].cls == cls; });
  }
  VReg pickLike(VReg p) {
    return pick([&](VReg v) {
      return f.vregs[v.index].cls == f.vregs[p.index].cls && f.vregs[v.index].size == f.vregs[p.index].size;
    });
  }

  // The instruction being made. `room` counts the registers that its operands without a fixed one may still take.
  std::vector<Inst>* insts = nullptr;
  Inst inst;
  std::vector<Operand> operands;
  int room[ClassCount] = {};

  void start(uint16_t op, RegSet fixedUse = 0, RegSet gone = 0) {
    inst = Inst();
    inst.op = op;
    inst.clobbers = gone;
    inst.imm = int64_t(dice.next() >> 40);
    operands.clear();
    for (unsigned c = 0; c < ClassCount; ++c) room[c] = std::popcount(t.allocatable[c] & ~fixedUse & ~gone);
  }
  void finish(unsigned usable = 95) {                 // some results are never used
    inst.firstOperand = uint32_t(f.operands.size());
    inst.operandCount = uint16_t(operands.size());
    f.operands.insert(f.operands.end(), operands.begin(), operands.end());
    insts->push_back(inst);
    for (const Operand& o : operands)
      if (o.isDef && dice.chance(usable)) here->push_back(o.reg);
  }
  Operand& add(VReg v, bool isDef, Constraint c) {
    Operand o;
    o.reg = v;
    o.isDef = isDef;
    o.constraint = c;
    operands.push_back(o);
    return operands.back();
  }
  void define(Constraint c, VReg v, PReg fixed = NoReg) { add(v, true, c).fixed = fixed; }
  bool takeRoom(RegClass cls, int n = 1) {
    if (room[unsigned(cls)] < n) return false;
    room[unsigned(cls)] -= n;
    return true;
  }
  RegClass anyClass() { return dice.chance(vectorShare) ? RegClass::Vector : RegClass::Int; }
  uint16_t anyOp() { return uint16_t(FirstTarget + dice.below(40)); }

  void use(bool mayBeInMemory) {
    RegClass cls = anyClass();
    VReg v = pick(cls);
    if (!takeRoom(cls)) return;
    if (mayBeInMemory) add(v, false, Constraint::Any);
    else add(v, false, Constraint::Reg).late = dice.chance(15);
  }
  void result(bool mayBeEarly) {
    VReg v = newValue();
    if (takeRoom(f.vregs[v.index].cls)) add(v, true, Constraint::Reg).late = mayBeEarly && dice.chance(20);
  }

  void instruction() {
    unsigned kind = dice.below(100);
    if (kind < callShare) return call();
    switch (dice.below(9)) {
      case 0: case 1: return plain();
      case 2: case 3: return tied();
      case 4: return copy();
      case 5: return anyClass() == RegClass::Int ? remat(RegClass::Int, 8) : remat(RegClass::Vector, VectorSizes[dice.below(4)]);
      case 6: return fixed();
      case 7: return store();
      default: return plain();
    }
  }

  void plain() {
    start(anyOp());
    for (unsigned n = 1 + (dice.chance(15) ? dice.below(3) : 0); n > 0; --n) result(true);
    for (unsigned n = dice.below(4); n > 0; --n) use(n == 1 && dice.chance(40));
    finish();
  }
  void tied() {
    start(anyOp());
    tiedResult();
    for (unsigned n = dice.below(3); n > 0; --n) use(n == 1 && dice.chance(50));
    finish();
  }
  void tiedResult() {
    RegClass cls = anyClass();
    if (!takeRoom(cls, 2)) return;
    VReg u = pick(cls);
    VReg d = newReg(cls, f.vregs[u.index].size);
    uint8_t place = uint8_t(operands.size() + 1);
    add(d, true, Constraint::Tied).tied = place;
    add(u, false, Constraint::Reg);
  }
  void copy() {
    start(Copy);
    VReg u = pick(anyClass());
    add(newReg(f.vregs[u.index].cls, f.vregs[u.index].size), true, Constraint::Tied).tied = 1;
    add(u, false, Constraint::Reg);
    finish();
  }
  void remat(RegClass cls, unsigned size) {
    start(anyOp());
    inst.remat = true;
    define(Constraint::Reg, newReg(cls, size));
    finish(100);
  }
  void store() {
    start(anyOp());
    bool outOfLine = dice.chance(30);                 // what a failing check passes on
    for (unsigned n = 1 + dice.below(3); n > 0; --n) use(outOfLine || (n == 1 && dice.chance(20)));
    finish();
  }

  PReg anyReg(unsigned c) { return regs[c][dice.below(unsigned(regs[c].size()))]; }

  // Operands in given registers, as of a division; beside them a tied one or others.
  void fixed() {
    RegSet uses = 0, results = 0, gone = 0;
    unsigned c = dice.chance(80) ? 0 : 1;
    for (unsigned n = dice.below(3); n > 0; --n) uses |= bit(anyReg(c));
    for (unsigned n = dice.below(3); n > 0; --n) results |= bit(anyReg(c));
    for (unsigned n = dice.chance(60) ? 0 : dice.below(4); n > 0; --n) gone |= bit(anyReg(dice.below(2)));
    start(anyOp(), uses, results | gone);
    inst.clobbers = gone & ~results;
    if (dice.chance(25)) tiedResult();
    for (unsigned n = dice.below(3); n > 0; --n) use(dice.chance(40));
    fixedOperands(uses, results);
    if (dice.chance(20)) result(false);
    finish();
  }
  void fixedOperands(RegSet uses, RegSet results) {
    for (RegSet s = uses; s; s &= s - 1) {
      PReg r = PReg(std::countr_zero(s));
      add(pick(t.allocatable[0] & bit(r) ? RegClass::Int : RegClass::Vector), false, Constraint::Fixed).fixed = r;
    }
    for (RegSet s = results; s; s &= s - 1) {
      PReg r = PReg(std::countr_zero(s));
      define(Constraint::Fixed, t.allocatable[0] & bit(r) ? newReg(RegClass::Int, 8) : newVector(), r);
    }
  }
  void call() {
    RegSet arguments = 0, results = 0;
    for (unsigned c = 0; c < ClassCount; ++c)
      for (unsigned n = dice.below(unsigned(regs[c].size())); n > 0; --n) arguments |= bit(regs[c][n - 1]) & ~t.calleeSaved;
    if (dice.chance(70)) results = bit(regs[dice.below(2)][0]);
    start(x64::PCall);
    inst.isCall = true;
    inst.clobbers = (t.allocatable[0] | t.allocatable[1]) & ~t.calleeSaved;
    fixedOperands(arguments, results);
    finish();
  }

  void terminator(size_t successors) {
    if (successors > 2) {
      start(x64::PSwitch);
      if (takeRoom(RegClass::Int, 3)) {
        add(pick(RegClass::Int), false, Constraint::Reg);
        for (int k = 0; k < 2; ++k) add(newReg(RegClass::Int, 8), true, Constraint::Reg).late = true;
      }
    } else if (successors > 0) {
      start(successors == 1 ? x64::PJump : x64::PBranch);
    } else {
      bool traps = dice.chance(20);
      start(traps ? x64::PTrap : x64::PRet);
      if (traps) use(true);
      else fixedOperands(bit(anyReg(dice.below(2))), 0);
    }
    inst.isTerminator = true;
    finish();
    if (successors > 2) std::erase_if(*here, [&](VReg v) { return isTemporary(v); });
  }
  bool isTemporary(VReg v) const {
    return std::any_of(operands.begin(), operands.end(), [&](const Operand& o) { return o.isDef && o.reg == v; });
  }

  void passArguments(uint32_t b) {
    here = &visible[b];
    for (Edge& e : f.blocks[b].succs)
      for (VReg p : f.blocks[e.to.index].params) e.args.push_back(pickLike(p));
  }
};

}  // namespace

Target randomTarget(Dice& dice) {
  Target t = x64::target(1 + dice.below(2));
  if (dice.chance(30)) return t;
  for (unsigned c = 0; c < ClassCount; ++c) {
    unsigned most = unsigned(t.order[c].size()), least = c == 0 ? 5 : 3;
    while (t.order[c].size() > least && dice.chance(100 - 100 / (most + 1)))
      t.order[c].erase(t.order[c].begin() + dice.below(unsigned(t.order[c].size())));
    t.allocatable[c] = 0;
    for (PReg r : t.order[c]) t.allocatable[c] |= bit(r);
  }
  t.calleeSaved &= t.allocatable[0] | t.allocatable[1];
  return t;
}

Function randomFunction(Dice& dice, const Target& t) { return Generator(dice, t).run(); }

}  // namespace mica::mir
