// Passes one by one: the golden files, division by constants against division, and the analyses against their definitions.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ir/analysis.h"
#include "ir/builder.h"
#include "ir/interp.h"
#include "ir/passes/ir_test.h"
#include "ir/passes/passes.h"
#include "random_ir.h"

using namespace mica::ir;

TEST_CASE("ir passes: golden files") {
  std::filesystem::path folder = std::filesystem::path(__FILE__).parent_path().parent_path() / "ir";
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".ir") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  CHECK(!files.empty());
  for (const auto& file : files) {
    std::ifstream in(file);
    std::stringstream whole;
    whole << in.rdbuf();
    std::string text = whole.str(), wanted;
    size_t at = text.find("; expect\n");
    REQUIRE_MESSAGE(at != std::string::npos, file);
    std::istringstream lines(text.substr(at + 9));
    for (std::string line; std::getline(lines, line);) wanted += (line.size() > 2 ? line.substr(2) : std::string()) + "\n";
    bool good;
    std::string got = irTestText(text, good);
    CHECK_MESSAGE(got == wanted, file << "\n(`mica ir-test --update` rewrites the expectation)");
  }
}

namespace {

// Quotients and remainders by a constant, signed and unsigned, as the strength pass makes them, against run-time division.
void checkDivision(Type t, int64_t divisor) {
  Module m;
  for (Op op : {Op::SDivT, Op::UDivT, Op::SRemT, Op::URemT})
    for (bool constant : {true, false}) {
      uint32_t index = startFunction(m, std::string(info(op).text) + (constant ? "c" : "v"), {t, t}, t);
      Builder b(m, index);
      b.ret(b.binary(op, b.param(0), constant ? b.iconst(t, divisor) : b.param(1)));
    }
  PassOptions options;
  options.verifyEach = true;
  runPasses(m, {"strength", "fold"}, options);
  Interpreter interpreter(m, 1 << 21);
  uint64_t d = uint64_t(canonical(t, divisor));
  std::vector<int64_t> values{0, 1, -1, 2, 100, 12345, INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, 0x7fffffff12345678, -987654321};
  for (int64_t k : {-2, -1, 1, 2, 3, 1000})
    for (int64_t e : {-1, 0, 1}) values.push_back(int64_t(d * uint64_t(k) + uint64_t(e)));
  for (int64_t v : values) {
    uint64_t x = uint64_t(canonical(t, v));
    for (uint32_t f = 0; f < m.functions.size(); f += 2) {
      Outcome fast = interpreter.call(f, {x, d}), plain = interpreter.call(f + 1, {x, d});
      bool same = fast.kind == plain.kind && fast.result == plain.result;
      if (!same) FAIL(m.nameOf(m.functions[f].symbol) << " " << toString(t) << " " << int64_t(x) << " by " << int64_t(d));
    }
  }
}

}  // namespace

TEST_CASE("ir passes: division by constants") {
  for (Type t : {I8, I16, I32, I64}) {
    for (int64_t d = -130; d <= 260; ++d)
      if (canonical(t, d) != 0) checkDivision(t, d);
    for (unsigned k = 7; k < 64; ++k)
      for (int64_t e : {-1, 0, 1}) {
        int64_t d = int64_t((uint64_t(1) << k) + uint64_t(e));
        if (canonical(t, d) != 0) checkDivision(t, d), checkDivision(t, int64_t(0 - uint64_t(d)));
      }
    for (int64_t d : {int64_t(641), int64_t(6700417), int64_t(1000000007), int64_t(715827883), int64_t(3074457345618258603)}) checkDivision(t, d);
  }
}

namespace {

// Can `to` be reached from the entry without passing through `without`?
bool reaches(const Function& f, BlockId to, BlockId without) {
  if (without == BlockId(0)) return false;
  std::vector<char> seen(f.blocks.size(), 0);
  std::vector<BlockId> work{BlockId(0)};
  seen[0] = 1;
  while (!work.empty()) {
    BlockId b = work.back();
    work.pop_back();
    if (b == to) return true;
    for (const Target& t : targetsOf(f, terminatorOf(f, b)))
      if (t.block != without && !seen[t.block.index]) seen[t.block.index] = 1, work.push_back(t.block);
  }
  return false;
}

}  // namespace

TEST_CASE("ir analysis: dominators, loops and liveness are what their definitions say") {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    Module m;
    addRandomProgram(m, seed);
    const Function& f = m.functions.back();
    Cfg cfg(f);
    Dominators dom(f, cfg);
    Loops loops(f, cfg, dom);
    bool good = true;
    for (BlockId a : cfg.order)
      for (BlockId b : cfg.order) good &= dom.dominates(a, b) == (a == b || !reaches(f, b, a));
    CHECK(good);
    for (const Loop& loop : loops.loops)
      for (BlockId b : loop.blocks) good &= dom.dominates(loop.header, b);
    for (BlockId b : cfg.order)
      for (const Target& t : targetsOf(f, terminatorOf(f, b)))
        if (dom.dominates(t.block, b)) good &= loops.innermost[b.index] != Loop::None && loops.contains(loops.innermost[t.block.index], b);
    CHECK(good);
    // live in = used here or live out, and not defined here
    Liveness live(f, cfg);
    std::vector<BlockId> home = blocksOfInsts(f);
    auto in = [&](std::span<const ValueId> list, ValueId v) { return std::binary_search(list.begin(), list.end(), v); };
    for (BlockId b : cfg.order) {
      std::vector<char> used(f.values.size(), 0);
      for (InstId id : f.blocks[b.index].insts) {
        const Inst& i = f.insts[id.index];
        for (ValueId v : argsOf(f, i)) used[v.index] = 1;
        for (const Target& t : targetsOf(f, i))
          for (ValueId v : argsOf(f, t)) used[v.index] = 1;
      }
      for (uint32_t v = 0; v < f.values.size(); ++v) {
        BlockId at = f.values[v].def ? home[f.values[v].def.index] : f.values[v].paramOf;
        bool out = false;
        for (const Target& t : targetsOf(f, terminatorOf(f, b))) out |= in(live.liveIn[t.block.index], ValueId(v));
        good &= in(live.liveOut[b.index], ValueId(v)) == out;
        good &= in(live.liveIn[b.index], ValueId(v)) == ((used[v] || out) && at != b);
      }
    }
    CHECK(good);
  }
}
