// The table of passes, the orders in which the tiers run them, and the runner.
#include "ir/passes/passes.h"

#include <chrono>
#include <cstdio>

#include "ir/text.h"
#include "ir/verify.h"

namespace mica::ir {

namespace {

using Options = const PassOptions&;

constexpr PassRow rows[] = {
    {"mem2reg", [](Module&, Function& f, Options) { promoteSlots(f); }, nullptr, "slots that are loaded and stored whole become values"},
    {"sroa", [](Module&, Function& f, Options) { splitSlots(f); }, nullptr, "slots of aggregates are cut into slots of their parts"},
    {"fold", [](Module& m, Function& f, Options) { foldConstants(m, f); }, nullptr, "constants are computed, identities simplified"},
    {"dce", [](Module&, Function& f, Options) { removeDeadCode(f); }, nullptr, "what nobody needs or reaches is dropped"},
    {"cfg", [](Module&, Function& f, Options) { simplifyCfg(f); }, nullptr, "blocks are merged, jumps threaded, needless parameters dropped"},
    {"gvn", [](Module& m, Function& f, Options) { numberValues(m, f); }, nullptr, "equal computations, checks and loads are done once; stores feed loads"},
    {"inline", nullptr, [](Module& m, Options) { inlineCalls(m); }, "small callees replace their calls, callees first"},
    {"unreached", nullptr, [](Module& m, Options o) { dropUnreached(m, o); }, "functions that nothing leads to are dropped"},
    {"rotate", [](Module&, Function& f, Options) { rotateLoops(f); }, nullptr, "loops test at their end, behind one test before them"},
    {"licm", [](Module& m, Function& f, Options) { hoistInvariants(m, f); }, nullptr, "what does not change in a loop is computed before it"},
    {"checks", [](Module&, Function& f, Options) { removeChecks(f); }, nullptr, "checks of bounds and overflow that cannot fail are dropped"},
    {"strength", [](Module&, Function& f, Options) { reduceStrength(f); }, nullptr, "division and multiplication by constants become cheaper"},
    {"dse", [](Module& m, Function& f, Options) { removeDeadStores(m, f); }, nullptr, "stores that nobody can read are dropped"},
    {"simdwidth", nullptr, [](Module& m, Options o) { splitVectors(m, o); }, "vectors wider than the target's are split"},
    {"tidy", [](Module&, Function& f, Options) { tidy(f); }, nullptr, "everything is numbered anew, in writing order"},
};

void check(const Module& m, const Function& f, const char* pass) {
  std::vector<std::string> messages = verify(m, f);
  if (!messages.empty()) internalError(std::string("after pass ") + pass + ": " + messages[0] + "\n" + print(m, f));
}

void runOne(Module& m, const PassRow& row, Options options) {
  auto start = std::chrono::steady_clock::now();
  if (row.onModule) row.onModule(m, options);
  else for (size_t f = 0; f < m.functions.size(); ++f) row.onFunction(m, m.functions[f], options);
  if (options.timing) {
    double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    std::fprintf(stderr, "%-10s %8.2f ms\n", row.name, ms);
  }
  if (options.verifyEach)
    for (const Function& f : m.functions) check(m, f, row.name);
  if (options.dumpAfter == row.name || options.dumpAfter == "*") std::fprintf(stderr, "; after %s\n%s", row.name, print(m).c_str());
}

}  // namespace

std::span<const PassRow> passTable() { return rows; }

const PassRow* findPass(std::string_view name) {
  for (const PassRow& row : rows)
    if (name == row.name) return &row;
  return nullptr;
}

std::vector<std::string> passesFor(Tier tier) {
  if (tier == Tier::Debug) return {"unreached", "mem2reg", "dce", "simdwidth", "tidy"};
  return {"sroa", "mem2reg", "fold", "cfg", "dce",              // small bodies before inlining
          "inline", "unreached", "sroa", "mem2reg", "fold", "cfg", "gvn",   // what inlining has brought together
          "checks", "fold", "cfg", "rotate", "cfg", "licm", "gvn", "checks", "licm",
          "strength", "fold", "dse", "dce", "cfg", "simdwidth", "dce", "tidy"};
}

void runPasses(Module& m, const std::vector<std::string>& names, Options options) {
  for (const std::string& name : names) {
    const PassRow* row = findPass(name);
    if (!row) internalError("there is no pass `" + name + "`");
    runOne(m, *row, options);
  }
}

}  // namespace mica::ir
