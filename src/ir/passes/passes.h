// The passes and how they are run. Every pass is a row of a table; a pass is a function over a function (or a module) and knows
// nothing of flags, dumps or the order it runs in. All keep the verifier's rules, keep results exact (floats too), and keep traps
// precise: a check may be merged into an equal earlier one, and never fires before an effect that stood before it.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ir.h"

namespace mica::ir {

struct PassOptions {
  unsigned maxVectorBytes = 32;             // simdwidth: of the level-1 kernels; functions of higher levels may use `levelVectorBytes`
  unsigned levelVectorBytes = 64;
  bool verifyEach = false;                  // verify after every pass; a breach is an internal error naming pass and function
  std::string dumpAfter;                    // print the module to standard error after this pass ("*": after each)
  bool timing = false;                      // print each pass's time to standard error
  std::function<bool(const Module&, const Function&)> keep;   // unreached: the functions wanted from outside; unset: all
};

struct PassRow {
  const char* name;
  void (*onFunction)(Module&, Function&, const PassOptions&);
  void (*onModule)(Module&, const PassOptions&);
  const char* purpose;
};

std::span<const PassRow> passTable();
const PassRow* findPass(std::string_view name);

enum class Tier : uint8_t { Debug, Optimised };
std::vector<std::string> passesFor(Tier);

// Runs the passes in order, each over the whole module. Names must exist.
void runPasses(Module&, const std::vector<std::string>& names, const PassOptions& = {});

// The passes, in the order of their table.
void promoteSlots(Function&);               // mem2reg
void splitSlots(Function&);                 // sroa
void foldConstants(Module&, Function&);     // fold
void removeDeadCode(Function&);             // dce
void simplifyCfg(Function&);                // cfg
void numberValues(Module&, Function&);      // gvn
void inlineCalls(Module&);                  // inline
void dropUnreached(Module&, const PassOptions&);  // unreached
void rotateLoops(Function&);                // rotate
void hoistInvariants(Module&, Function&);   // licm
void removeChecks(Function&);               // checks
void reduceStrength(Function&);             // strength
void removeDeadStores(Module&, Function&);  // dse
void splitVectors(Module&, const PassOptions&);   // simdwidth
void tidy(Function&);                       // tidy

}  // namespace mica::ir
