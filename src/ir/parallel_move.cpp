// See parallel_move.h.
#include "ir/parallel_move.h"

#include <algorithm>
#include <bit>

namespace mica::mir {

namespace {

constexpr uint32_t Nothing = 0xffffffffu;

class Orderer {
 public:
  Orderer(std::vector<PendingMove> pending, const MoveContext& c) : moves(std::move(pending)), context(c) {}

  std::vector<MoveStep> run() {
    collectPlaces();
    for (uint32_t m = 0; m < moves.size(); ++m)
      if (isReal(m) && readers[placeOf(moves[m].to)] == 0) ready.push_back(m);
    drain();
    for (uint32_t m = 0; m < moves.size(); ++m)
      if (isReal(m) && !done[m]) breakCycle(m);
    for (const PendingMove& m : moves)
      if (m.remat && m.to.isSlot()) makeInSlot(m);
    for (const PendingMove& m : moves)
      if (m.remat && m.to.isReg()) steps.push_back({MoveStep::Remat, {}, m.to, m.value, m.remat});
    return std::move(steps);
  }

 private:
  std::vector<PendingMove> moves;
  const MoveContext& context;
  std::vector<Loc> places;            // every location that occurs, sorted
  std::vector<uint32_t> readers;      // for each: how many pending moves read it
  std::vector<uint32_t> writer;       // the move that writes it
  std::vector<bool> done;
  std::vector<uint32_t> ready;
  std::vector<MoveStep> steps;

  bool isReal(uint32_t m) const { return !moves[m].remat && moves[m].from != moves[m].to; }
  uint32_t placeOf(Loc l) const { return uint32_t(std::lower_bound(places.begin(), places.end(), l) - places.begin()); }

  void collectPlaces() {
    for (uint32_t m = 0; m < moves.size(); ++m)
      if (isReal(m)) {
        places.push_back(moves[m].from);
        places.push_back(moves[m].to);
      }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    readers.assign(places.size(), 0);
    writer.assign(places.size(), Nothing);
    done.assign(moves.size(), false);
    for (uint32_t m = 0; m < moves.size(); ++m)
      if (isReal(m)) {
        ++readers[placeOf(moves[m].from)];
        uint32_t& w = writer[placeOf(moves[m].to)];
        if (w != Nothing) internalError("parallel move: a location is written twice");
        w = m;
      }
  }

  void drain() {
    while (!ready.empty()) {
      uint32_t m = ready.back();
      ready.pop_back();
      move(moves[m].from, moves[m].to, moves[m].value);
      done[m] = true;
      uint32_t from = placeOf(moves[m].from);
      if (--readers[from] == 0 && writer[from] != Nothing && !done[writer[from]]) ready.push_back(writer[from]);
    }
  }

  // Every location left over is read once and written once.
  void breakCycle(uint32_t first) {
    std::vector<uint32_t> cycle;      // cycle[k + 1] writes what cycle[k] reads
    bool swaps = true;
    for (uint32_t m = first;;) {
      cycle.push_back(m);
      done[m] = true;
      swaps &= moves[m].from.isReg() && moves[m].to.isReg() && info(moves[m].value).cls == RegClass::Int;
      m = writer[placeOf(moves[m].from)];
      if (m == first) break;
    }
    // The first destination's old value is what the cycle's last move wants. Over a spare register moves are cheaper
    // than exchanges.
    VReg saved = moves[cycle.back()].value;
    PReg spare = freeReg(info(saved).cls);
    if (swaps && spare == NoReg) {
      for (size_t k = 0; k + 1 < cycle.size(); ++k)
        steps.push_back({MoveStep::Swap, moves[cycle[k]].from, moves[cycle[k]].to, moves[cycle[k]].value, nullptr});
      return;
    }
    Loc aside = spare != NoReg ? Loc::reg(spare) : Loc::slot(context.spareSlot(info(saved).size, 0));
    inUse = spare != NoReg ? bit(spare) : 0;
    move(moves[first].to, aside, saved);
    for (size_t k = 0; k + 1 < cycle.size(); ++k) move(moves[cycle[k]].from, moves[cycle[k]].to, moves[cycle[k]].value);
    move(aside, moves[cycle.back()].to, saved);
    inUse = 0;
  }

  RegSet inUse = 0;                   // spare registers that hold something just now
  const VRegInfo& info(VReg v) const { return context.function.vregs[v.index]; }

  PReg freeReg(RegClass cls) const {
    RegSet s = context.freeRegs & context.target.allocatable[unsigned(cls)] & ~inUse;
    return s ? PReg(std::countr_zero(s)) : NoReg;
  }

  // Runs `use` with a register that it may overwrite.
  template <class Use> void withRegister(VReg value, Use use) {
    RegClass cls = info(value).cls;
    if (PReg r = freeReg(cls); r != NoReg) return use(r);
    PReg r = PReg(std::countr_zero(context.target.allocatable[unsigned(cls)] & ~inUse));
    // What the register holds is unknown here: save as much as any value of the class can be.
    VReg widest = context.function.widest[unsigned(cls)];
    Loc save = Loc::slot(context.spareSlot(info(widest).size, 1));
    steps.push_back({MoveStep::Move, Loc::reg(r), save, widest, nullptr});
    use(r);
    steps.push_back({MoveStep::Move, save, Loc::reg(r), widest, nullptr});
  }

  void move(Loc from, Loc to, VReg value) {
    if (from.isSlot() && to.isSlot()) {
      withRegister(value, [&](PReg r) {
        steps.push_back({MoveStep::Move, from, Loc::reg(r), value, nullptr});
        steps.push_back({MoveStep::Move, Loc::reg(r), to, value, nullptr});
      });
      return;
    }
    steps.push_back({MoveStep::Move, from, to, value, nullptr});
  }

  void makeInSlot(const PendingMove& m) {
    withRegister(m.value, [&](PReg r) {
      steps.push_back({MoveStep::Remat, {}, Loc::reg(r), m.value, m.remat});
      steps.push_back({MoveStep::Move, Loc::reg(r), m.to, m.value, nullptr});
    });
  }
};

}  // namespace

std::vector<MoveStep> orderMoves(std::vector<PendingMove> moves, const MoveContext& context) {
  return Orderer(std::move(moves), context).run();
}

}  // namespace mica::mir
