// Parallel moves by simulation, and the allocation checker by damaging allocations that are right.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

#include "backend_x64/select.h"
#include "backend_x64/target.h"
#include "ir/parallel_move.h"
#include "ir/regalloc.h"
#include "ir/regalloc_check.h"
#include "ir/text.h"

using namespace mica;
using namespace mica::mir;

namespace {

// Runs the steps over named contents and compares with what all moves at once would leave.
void simulate(std::mt19937& random, unsigned registers, unsigned slots, unsigned moves, bool anyFree) {
  const Target& t = x64::target(1);
  Function f;
  std::vector<VReg> ints, vectors;
  for (int k = 0; k < 64; ++k)
    ints.push_back(f.newVReg(RegClass::Int, 8)), vectors.push_back(f.newVReg(RegClass::Vector, k % 2 ? 32 : 8));
  std::map<Loc, int> before;
  std::vector<Loc> intPlaces, vectorPlaces;
  for (unsigned r = 0; r < registers; ++r) {
    intPlaces.push_back(Loc::reg(t.order[0][r]));
    vectorPlaces.push_back(Loc::reg(t.order[1][r]));
  }
  for (unsigned s = 0; s < slots; ++s) (s % 2 ? intPlaces : vectorPlaces).push_back(Loc::slot(s));
  int next = 1;
  for (const auto& list : {intPlaces, vectorPlaces})
    for (Loc l : list) before[l] = next++;
  std::vector<PendingMove> pending;
  std::map<Loc, int> wanted = before;
  RegSet busy = 0;
  for (bool isInt : {true, false}) {
    std::vector<Loc> places = isInt ? intPlaces : vectorPlaces, targets = places;
    std::shuffle(targets.begin(), targets.end(), random);
    for (unsigned k = 0; k < moves && k < targets.size(); ++k) {
      Loc from = places[random() % places.size()];
      pending.push_back({from, targets[k], (isInt ? ints : vectors)[k], nullptr});
      wanted[targets[k]] = before[from];
    }
    for (Loc l : places)
      if (l.isReg()) busy |= bit(PReg(l.index));
  }
  std::map<std::pair<unsigned, unsigned>, uint32_t> spares;
  MoveContext context{f, anyFree ? (t.allocatable[0] | t.allocatable[1]) & ~busy : 0, t,
                      [&](unsigned size, unsigned which) {
                        return spares.try_emplace({size, which}, uint32_t(1000 + spares.size())).first->second;
                      }};
  std::map<Loc, int> state = before;
  for (const MoveStep& s : orderMoves(pending, context)) {
    if (s.kind == MoveStep::Swap) {
      REQUIRE(s.to.isReg());
      REQUIRE(s.from.isReg());
      std::swap(state[s.to], state[s.from]);
    } else {
      REQUIRE(!(s.to.isSlot() && s.from.isSlot()));
      state[s.to] = state[s.from];
    }
  }
  for (auto& [l, v] : wanted) {
    if (anyFree && l.isReg() && !(busy & bit(PReg(l.index)))) continue;
    REQUIRE(state[l] == v);
  }
}

mir::Function selected(const std::string& text, ir::Module& m) {
  std::string error;
  REQUIRE_MESSAGE(ir::parse(text, m, error), error);
  mir::Function f;
  REQUIRE_MESSAGE(x64::Selector(m, m.functions.back()).run(f, error), error);
  return f;
}

// A loop with more values than registers, a call in it, and parameters that rotate.
std::string busyFunction() {
  std::string s = "func @Busy(%0: ptr, %1: i64, %2: i64) -> i64 {\nb0:\n";
  for (int k = 0; k < 20; ++k) s += "%" + std::to_string(10 + k) + " = load i64 %0 + " + std::to_string(8 * k) + "\n";
  for (int k = 0; k < 20; ++k) s += "%" + std::to_string(40 + k) + " = load f64 %0 + " + std::to_string(8 * k) + "\n";
  s += "br b1(%1, %2, %10, %40)\nb1(%70: i64, %71: i64, %72: i64, %73: f64):\n%74 = call i64 @Busy(%0, %71, %70)\n";
  int last = 74, number = 80;
  for (int k = 0; k < 20; ++k, ++number) {
    s += "%" + std::to_string(number) + " = iadd i64 %" + std::to_string(last) + ", %" + std::to_string(10 + k) + "\n";
    last = number;
  }
  int lastFloat = 73;
  for (int k = 0; k < 20; ++k, ++number) {
    s += "%" + std::to_string(number) + " = fadd f64 %" + std::to_string(lastFloat) + ", %" + std::to_string(40 + k) +
         "\n";
    lastFloat = number;
  }
  s += "%200 = icmp slt i64 %" + std::to_string(last) + ", %72\n";
  s += "brif %200, b1(%71, %72, %70, %" + std::to_string(lastFloat) +
       "), b2\nb2:\n%201 = ftossat i64 %73\n%202 = iadd i64 %201, %" + std::to_string(last) + "\nret %202\n}\n";
  return s;
}

}  // namespace

TEST_CASE("parallel moves: permutations, cycles and copies, in registers and slots") {
  std::mt19937 random(7);
  for (int round = 0; round < 4000; ++round)
    simulate(random, 2 + unsigned(random() % 11), unsigned(random() % 12), unsigned(random() % 14), round % 2 == 0);
}

TEST_CASE("parallel moves: two registers are exchanged by one step") {
  const Target& t = x64::target(1);
  Function f;
  VReg a = f.newVReg(RegClass::Int, 8), b = f.newVReg(RegClass::Int, 8);
  MoveContext context{f, 0, t, [](unsigned, unsigned) { return 0u; }};
  auto steps = orderMoves({{Loc::reg(0), Loc::reg(1), a, nullptr}, {Loc::reg(1), Loc::reg(0), b, nullptr}}, context);
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].kind == MoveStep::Swap);
}

TEST_CASE("the allocation checker accepts what is right and names what is wrong") {
  ir::Module m;
  mir::Function before = selected(busyFunction(), m), right = before;
  const Target& t = x64::target(1);
  AllocationStats stats = allocateRegisters(right, t);
  CHECK(stats.spilledValues > 10);
  std::string error;
  REQUIRE_MESSAGE(checkAllocation(before, right, t, error), error);

  SUBCASE("an operand read from another register") {
    unsigned tried = 0, found = 0;
    for (size_t b = 0; b < right.blocks.size(); ++b)
      for (size_t i = 0; i < right.blocks[b].insts.size(); ++i) {
        const Inst& inst = right.blocks[b].insts[i];
        for (unsigned k = 0; k < inst.operandCount; ++k) {
          mir::Function wrong = right;
          Loc& l = wrong.operands[inst.firstOperand + k].loc;
          if (!l.isReg()) continue;
          l = Loc::reg(l.index == 0 ? 6 : l.index == 16 ? 17 : l.index < 16 ? 0 : 16);
          ++tried;
          found += !checkAllocation(before, wrong, t, error);
        }
      }
    CHECK(tried > 100);
    // A definition that nobody reads again may stand anywhere.
    CHECK(found * 100 >= tried * 95);
  }
  SUBCASE("a move left out") {
    unsigned tried = 0, found = 0;
    for (size_t b = 0; b < right.blocks.size(); ++b)
      for (size_t i = 0; i < right.blocks[b].insts.size(); ++i) {
        uint16_t op = right.blocks[b].insts[i].op;
        if (op != Move && op != Swap) continue;
        mir::Function wrong = right;
        wrong.blocks[b].insts.erase(wrong.blocks[b].insts.begin() + long(i));
        ++tried;
        found += !checkAllocation(before, wrong, t, error);
      }
    CHECK(tried > 30);
    CHECK(found * 100 >= tried * 95);
  }
  SUBCASE("an instruction left out, and two that changed places") {
    mir::Function wrong = right;
    for (size_t i = 0; i < wrong.blocks[1].insts.size(); ++i)
      if (wrong.blocks[1].insts[i].op >= FirstTarget) {
        wrong.blocks[1].insts.erase(wrong.blocks[1].insts.begin() + long(i));
        break;
      }
    CHECK(!checkAllocation(before, wrong, t, error));
    CHECK(error.find("b1") != std::string::npos);
  }
  SUBCASE("a block parameter that is somewhere else") {
    mir::Function wrong = right;
    std::swap(wrong.blocks[1].paramLocs[0], wrong.blocks[1].paramLocs[1]);
    CHECK(!checkAllocation(before, wrong, t, error));
  }
  SUBCASE("a register that is not counted as used") {
    mir::Function wrong = right;
    wrong.usedRegs = 0;
    CHECK(!checkAllocation(before, wrong, t, error));
  }
}
