// See damage_mir.h.
#include "damage_mir.h"

#include <algorithm>

namespace mica::mir {

namespace {

class Damager {
 public:
  Damager(Dice& d, Function& function, const Target& target) : dice(d), f(function), t(target) {}

  std::string run() {
    block = &f.blocks[dice.below(unsigned(f.blocks.size()))];
    switch (dice.below(12)) {
      case 0: case 1: return otherLocation();
      case 2: return withMove("left out", [&](size_t at) { block->insts.erase(block->insts.begin() + long(at)); });
      case 3: return withMove("done twice", [&](size_t at) { block->insts.insert(block->insts.begin() + long(at), Inst(block->insts[at])); });
      case 4: return withMove("between other places", [&](size_t at) {
        place(block->insts[at], dice.below(block->insts[at].remat ? 1 : 2)).loc = anyLocation();
      });
      case 5: return withMove("of another value", [&](size_t at) {
        VReg v(dice.below(unsigned(f.vregs.size())));
        for (unsigned k = 0; k < block->insts[at].operandCount; ++k) place(block->insts[at], k).reg = v;
      });
      case 6: return exchangedInstructions();
      case 7: return parameterElsewhere();
      case 8: return otherEdge();
      case 9: return unsavedRegister();
      case 10: return smallerSlot();
      default: return sharedSlot();
    }
  }

 private:
  Dice& dice;
  Function& f;
  const Target& t;
  Block* block = nullptr;

  Operand& place(const Inst& i, unsigned k) { return f.operands[i.firstOperand + k]; }

  Loc anyLocation() {
    if (!f.spillSlots.empty() && dice.chance(30)) return Loc::slot(dice.below(unsigned(f.spillSlots.size())));
    const std::vector<PReg>& order = t.order[dice.below(ClassCount)];
    return Loc::reg(order[dice.below(unsigned(order.size()))]);
  }

  std::string otherLocation() {
    std::vector<Operand*> all;
    for (const Inst& i : block->insts)
      for (unsigned k = 0; k < i.operandCount; ++k) all.push_back(&place(i, k));
    if (all.empty()) return "";
    all[dice.below(unsigned(all.size()))]->loc = anyLocation();
    return "an operand elsewhere";
  }

  std::string withMove(const char* what, auto change) {
    std::vector<size_t> all;
    for (size_t k = 0; k < block->insts.size(); ++k) {
      const Inst& i = block->insts[k];
      if (i.op == Move || i.op == Swap || i.remat) all.push_back(k);
    }
    if (all.empty()) return "";
    change(all[dice.below(unsigned(all.size()))]);
    return std::string("a move ") + what;
  }

  std::string exchangedInstructions() {
    if (block->insts.size() < 3) return "";
    size_t at = dice.below(unsigned(block->insts.size() - 2));
    std::swap(block->insts[at], block->insts[at + 1]);
    return "two instructions exchanged";
  }

  std::string parameterElsewhere() {
    if (block->paramLocs.empty()) return "";
    block->paramLocs[dice.below(unsigned(block->paramLocs.size()))] = anyLocation();
    return "a parameter elsewhere";
  }

  std::string otherEdge() {
    if (block->succs.empty()) return "";
    Edge& e = block->succs[dice.below(unsigned(block->succs.size()))];
    if (dice.chance(50)) {
      std::swap(e, block->succs.back());
      return "two edges exchanged";
    }
    e.to = BlockId(dice.below(unsigned(f.blocks.size())));
    return "an edge to elsewhere";
  }

  std::string unsavedRegister() {
    const std::vector<PReg>& order = t.order[0];
    f.usedRegs &= ~bit(order[dice.below(unsigned(order.size()))]);
    return "a register not counted as used";
  }

  std::string smallerSlot() {
    if (f.spillSlots.empty()) return "";
    SpillSlot& s = f.spillSlots[dice.below(unsigned(f.spillSlots.size()))];
    s.size = std::max(8u, s.size / 2);
    return "a smaller slot";
  }

  std::string sharedSlot() {
    if (f.spillSlots.size() < 2) return "";
    Loc from = Loc::slot(dice.below(unsigned(f.spillSlots.size()))), to = Loc::slot(dice.below(unsigned(f.spillSlots.size())));
    for (Operand& o : f.operands)
      if (o.loc == from) o.loc = to;
    for (Block& b : f.blocks)
      for (Loc& l : b.paramLocs)
        if (l == from) l = to;
    return "two values in one slot";
  }
};

}  // namespace

std::string damage(Dice& dice, Function& after, const Target& t) { return Damager(dice, after, t).run(); }

}  // namespace mica::mir
