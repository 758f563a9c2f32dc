// Random programs: they print and parse back, and every pass, and both tiers, leave what they do unchanged: the result, the memory they
// wrote, the trap with its details and its place.
// MICA_FUZZ=first,count in the environment runs other seeds.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ir/interp.h"
#include "ir/passes/passes.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "random_ir.h"

using namespace mica::ir;

namespace {

struct Behaviour {
  std::string text;
  bool operator==(const Behaviour&) const = default;
};

// What a program does on a few inputs.
Behaviour behaviourOf(const Module& m) {
  Interpreter interpreter(m, 1 << 22);
  Behaviour all;
  static const int64_t inputs[][2] = {{0, 0}, {1, -1}, {7, 12345678901}, {-300, 5}, {INT64_MAX, INT64_MIN}};
  for (auto& in : inputs) {
    alignas(64) unsigned char memory[256];
    for (int k = 0; k < 256; ++k) memory[k] = uint8_t(k * 7 + in[0]);
    Outcome o = interpreter.call("f", {uint64_t(in[0]), uint64_t(in[1]), uint64_t(memory)}, 100000);
    if (o.kind == Outcome::Returned) all.text += "returned " + std::to_string(int64_t(o.result[0]));
    else if (o.kind == Outcome::Trapped) all.text += describeTrap(m, o) + std::to_string(o.details[0]) + " " + std::to_string(o.details[1]);
    else if (o.kind == Outcome::OutOfFuel) return {"endless"};
    else all.text += "stuck " + o.message;
    uint64_t hash = 1;
    for (unsigned char byte : memory) hash = hash * 1099511628211u + byte;
    all.text += " memory " + std::to_string(hash) + "\n";
  }
  return all;
}

Module copyOf(const Module& m) { return m; }

void compare(const Module& before, const Behaviour& wanted, const std::vector<std::string>& passes, uint64_t seed) {
  Module m = copyOf(before);
  PassOptions options;
  options.maxVectorBytes = 16 << (seed % 3);
  options.verifyEach = true;
  runPasses(m, passes, options);
  Behaviour got = behaviourOf(m);
  if (got == wanted) return;
  std::string list;
  for (const std::string& p : passes) list += p + ",";
  std::string message = "seed " + std::to_string(seed) + " passes " + list + "\n" + wanted.text + "became\n" + got.text;
  if (std::getenv("MICA_FUZZ")) message += print(before) + "became\n" + print(m);
  FAIL(message);
}

}  // namespace

TEST_CASE("ir random: passes keep what programs do") {
  unsigned first = 1, count = 150;
  if (const char* range = std::getenv("MICA_FUZZ")) std::sscanf(range, "%u,%u", &first, &count);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    Module m;
    addRandomProgram(m, seed);
    std::vector<std::string> messages = verify(m);
    REQUIRE_MESSAGE(messages.empty(), messages[0]);
    std::string text = print(m), error;
    Module back;
    REQUIRE_MESSAGE(parse(text, back, error), error);
    REQUIRE(print(back) == text);
    Behaviour wanted = behaviourOf(m);
    REQUIRE(wanted == behaviourOf(back));
    if (wanted.text == "endless") continue;
    for (const PassRow& row : passTable()) compare(m, wanted, {row.name}, seed);
    compare(m, wanted, passesFor(Tier::Debug), seed);
    compare(m, wanted, passesFor(Tier::Optimised), seed);
    // Some random order of passes.
    std::vector<std::string> some;
    uint64_t r = seed * 0x9e3779b97f4a7c15u;
    for (unsigned k = 0; k < 8; ++k, r = r * 6364136223846793005u + 1) some.push_back(passTable()[(r >> 33) % passTable().size()].name);
    compare(m, wanted, some, seed);
  }
}
