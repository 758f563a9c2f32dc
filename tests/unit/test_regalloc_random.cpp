// The register allocator on random functions, its checker, and the checker itself on damaged allocations.
//
// Each function is judged twice: by the checker, and by running it before and after (run_mir.h). `make fuzz-regalloc COUNT=n`
// runs more of them; MICA_REGALLOC_COUNT and MICA_REGALLOC_SEED in the environment say how many and from where.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>

#include "backend_x64/backend.h"
#include "backend_x64/select.h"
#include "backend_x64/target.h"
#include "damage_mir.h"
#include "ir/regalloc.h"
#include "ir/regalloc_check.h"
#include "random_ir.h"
#include "random_mir.h"
#include "run_mir.h"

using namespace mica;
using namespace mica::mir;

namespace {

uint64_t fromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Allocates and judges; false, with `fault`, where something is wrong.
bool allocates(const Function& before, Function& after, const Target& t, uint64_t seed, std::string& fault) {
  after = before;
  allocateRegisters(after, t);
  if (!checkAllocation(before, after, t, fault)) return false;
  fault = compareRuns(before, after, t, seed, 3);
  return fault.empty();
}

}  // namespace

TEST_CASE("register allocation: random machine functions") {
  uint64_t count = fromEnvironment("MICA_REGALLOC_COUNT", 6000), base = fromEnvironment("MICA_REGALLOC_SEED", 1);
  uint64_t blocks = 0, spilled = 0, moves = 0;
  for (uint64_t seed = base; seed < base + count; ++seed) {
    Dice dice(seed);
    Target t = randomTarget(dice);
    Function before = randomFunction(dice, t), after;
    std::string fault;
    INFO("seed " << seed);
    bool right = allocates(before, after, t, seed, fault);
    if (!right) MESSAGE(print(before, t) << "\nallocated:\n" << print(after, t));
    REQUIRE_MESSAGE(right, fault);
    blocks += before.blocks.size();
    spilled += after.spillSlots.size();
    for (const Block& b : after.blocks)
      for (const Inst& i : b.insts) moves += i.op == Move || i.op == Swap;
  }
  MESSAGE(count << " functions, " << blocks << " blocks, " << spilled << " spill slots, " << moves << " moves");
  CHECK(spilled > count / 2);
}

// A value read from a slot that was never written; a register stored over the slot of a value that it did not hold yet.
TEST_CASE("register allocation: functions that once went wrong") {
  for (uint64_t seed : {1009810, 1018695}) {
    Dice dice(seed);
    Target t = randomTarget(dice);
    Function before = randomFunction(dice, t), after;
    std::string fault;
    CHECK_MESSAGE(allocates(before, after, t, seed, fault), "seed " << seed << ": " << fault);
  }
}

TEST_CASE("register allocation: random programs as selected") {
  uint64_t count = fromEnvironment("MICA_REGALLOC_COUNT", 6000) / 20, base = fromEnvironment("MICA_REGALLOC_SEED", 1);
  uint64_t functions = 0;
  for (uint64_t seed = base; seed < base + count; ++seed)
    for (uint8_t level : {uint8_t{1}, uint8_t{2}}) {
      ir::Module m;
      x64::prepareModule(m);
      ir::addRandomProgram(m, seed);
      for (ir::Function& f : m.functions) {
        f.cpuLevel = level;
        Function before, after;
        std::string fault;
        INFO("seed " << seed << " level " << int(level));
        REQUIRE_MESSAGE(x64::Selector(m, f).run(before, fault), fault);
        bool right = allocates(before, after, x64::target(level), seed, fault);
        REQUIRE_MESSAGE(right, fault);
        ++functions;
      }
    }
  MESSAGE(functions << " functions");
}

// Where the checker says nothing, the damage must be harmless.
TEST_CASE("register allocation: no damage escapes the checker") {
  uint64_t count = fromEnvironment("MICA_REGALLOC_COUNT", 6000) / 6, base = fromEnvironment("MICA_REGALLOC_SEED", 1);
  uint64_t tried = 0, refused = 0;
  std::map<std::string, unsigned> accepted;
  for (uint64_t seed = base; seed < base + count; ++seed) {
    Dice dice(seed ^ 0xdada);
    Target t = randomTarget(dice);
    Function before = randomFunction(dice, t), right = before;
    allocateRegisters(right, t);
    for (int round = 0; round < 12; ++round) {
      Function wrong = right;
      std::string what = damage(dice, wrong, t), fault;
      if (what.empty()) continue;
      ++tried;
      if (!checkAllocation(before, wrong, t, fault)) {
        ++refused;
        continue;
      }
      ++accepted[what];
      std::string difference = compareRuns(before, wrong, t, seed, 6);
      INFO("seed " << seed << ", " << what);
      if (!difference.empty()) MESSAGE(print(right, t) << "\ndamaged:\n" << print(wrong, t));
      REQUIRE_MESSAGE(difference.empty(), difference);
    }
  }
  std::string list;
  for (auto& [what, n] : accepted) list += "\n  " + what + ": " + std::to_string(n);
  MESSAGE(tried << " damages, " << refused << " refused; harmless:" << list);
  CHECK(refused * 2 > tried);
}
