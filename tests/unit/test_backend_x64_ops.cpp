// Every operation with every type, compiled and executed, against the reference interpreter: over edge values, with
// operands that fold into the instruction (loads, constants) and that do not, at each processor level that this machine
// has.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "ir/interp.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "jit_x64.h"

using namespace mica;
using namespace mica::test;

namespace {

constexpr int OperandBytes = 64, Result = 192;

std::vector<int64_t> intEdges(unsigned bits) {
  std::vector<int64_t> v = {0, 1, -1, 2, -2, 3, 5, 7, 8, 10, 13, 31, 32, 63, 64, 100, -7, -128, 127, 255, 256};
  int64_t high = bits == 64 ? INT64_MAX : (int64_t(1) << (bits - 1)) - 1;
  for (int64_t x : {high, -high - 1, high - 1, -high, high / 2, high / 3}) v.push_back(x);
  return v;
}

std::vector<double> floatEdges() {
  return {0.0,
          -0.0,
          1.0,
          -1.0,
          0.5,
          1.5,
          2.5,
          -2.5,
          3.25,
          1e-3,
          1e9,
          -1e9,
          2147483647.0,
          2147483648.0,
          -2147483648.0,
          -2147483649.0,
          4294967295.0,
          4294967296.0,
          9.2e18,
          9223372036854775808.0,
          -9223372036854775808.0,
          1.8e19,
          18446744073709551616.0,
          1e30,
          -1e30,
          127.0,
          128.0,
          -129.0,
          255.5,
          256.0,
          -0.75,
          65535.0,
          65536.0,
          INFINITY,
          -INFINITY,
          NAN,
          1e-40,
          5e-324,
          1.17549435e-38};
}

// Writes operand lanes of a type, drawn from its edge values by a counter.
void fill(uint8_t* at, ir::Type t, uint32_t seed) {
  for (unsigned k = 0; k < t.lanes; ++k) {
    uint32_t pick = seed * 7919u + k * 104729u;
    pick ^= pick >> 7;
    switch (t.kind) {
      case ir::TypeKind::F32: {
        auto e = floatEdges();
        float f = float(e[pick % e.size()]);
        std::memcpy(at + k * 4, &f, 4);
        break;
      }
      case ir::TypeKind::F64: {
        auto e = floatEdges();
        double d = e[pick % e.size()];
        std::memcpy(at + k * 8, &d, 8);
        break;
      }
      case ir::TypeKind::I1: at[k] = pick & 1; break;
      default: {
        auto e = intEdges(t.laneBytes() * 8);
        int64_t v = e[pick % e.size()];
        std::memcpy(at + k * t.laneBytes(), &v, t.laneBytes());
      }
    }
  }
}

// Bit equality, but one NaN is as good as another.
bool same(const uint8_t* a, const uint8_t* b, ir::Type t) {
  for (unsigned k = 0; k < t.lanes; ++k) {
    if (t.kind == ir::TypeKind::F32) {
      float x, y;
      std::memcpy(&x, a + 4 * k, 4);
      std::memcpy(&y, b + 4 * k, 4);
      if (std::isnan(x) && std::isnan(y)) continue;
    } else if (t.kind == ir::TypeKind::F64) {
      double x, y;
      std::memcpy(&x, a + 8 * k, 8);
      std::memcpy(&y, b + 8 * k, 8);
      if (std::isnan(x) && std::isnan(y)) continue;
    }
    if (std::memcmp(a + k * t.laneBytes(), b + k * t.laneBytes(), t.laneBytes()) != 0) return false;
  }
  return true;
}

struct Case {
  std::string inst;                // with %a, %b, %c for the operands
  ir::Type result;
  std::vector<ir::Type> operands;
  std::string prelude = {};        // instructions before it; their results are %30 and up
};

std::string replaced(std::string s, const std::string& from, const std::string& to) {
  for (size_t at; (at = s.find(from)) != std::string::npos;) s.replace(at, from.size(), to);
  return s;
}

// Folding: operands are loads in the same block. Otherwise they are block parameters, used again afterwards.
std::string functionText(const Case& c, bool folding, int level, const std::string& name) {
  std::string s = "func @" + name + "(%0: ptr)" + (level > 1 ? " level(2)" : "") + " {\nb0:\n";
  for (size_t k = 0; k < c.operands.size(); ++k)
    s += "%" + std::to_string(k + 1) + " = load " + toString(c.operands[k]) + " %0 + " +
         std::to_string(k * OperandBytes) + "\n";
  size_t base = folding ? 1 : 10;
  if (!folding && !c.operands.empty()) {
    std::string args, params;
    for (size_t k = 0; k < c.operands.size(); ++k) {
      args += (k ? ", %" : "%") + std::to_string(k + 1);
      params += (k ? ", %" : "%") + std::to_string(10 + k) + ": " + toString(c.operands[k]);
    }
    s += "br b1(" + args + ")\nb1(" + params + "):\n";
  }
  auto named = [&](const std::string& text) {
    return replaced(replaced(replaced(text, "%a", "%" + std::to_string(base)), "%b", "%" + std::to_string(base + 1)),
                    "%c", "%" + std::to_string(base + 2));
  };
  s += named(c.prelude) + "%20 = " + named(c.inst) + "\nstore " + toString(c.result) + " %20, %0 + " +
       std::to_string(Result) + "\n";
  if (!folding)
    for (size_t k = 0; k < c.operands.size(); ++k)
      s += "store " + toString(c.operands[k]) + " %" + std::to_string(10 + k) + ", %0 + " +
           std::to_string(256 + k * 64) + "\n";
  return s + "ret\n}\n";
}

void check(const std::vector<Case>& cases, int rounds = 60) {
  for (int level = 1; level <= machineLevel(); ++level) {
    ir::Module m;
    std::string error;
    std::vector<std::pair<const Case*, std::string>> functions;
    for (const Case& c : cases) {
      bool fits = true;
      for (ir::Type t : c.operands) fits &= t.bytes() <= (level == 1 ? 32u : 64u);
      if (!fits || c.result.bytes() > (level == 1 ? 32u : 64u)) continue;
      for (bool folding : {true, false}) {
        std::string name = "f" + std::to_string(functions.size());
        REQUIRE_MESSAGE(ir::parse(functionText(c, folding, level, name), m, error),
                        error << "\n"
                              << functionText(c, folding, level, name));
        functions.push_back({&c, name});
      }
    }
    for (const std::string& fault : ir::verify(m)) FAIL(fault);
    Jit jit(m);
    REQUIRE_MESSAGE(jit.error.empty(), jit.error);
    ir::Module plain;                          // without Trap.Raise the interpreter reports traps itself
    for (size_t k = 0; k < functions.size(); ++k)
      REQUIRE(ir::parse(functionText(*functions[k].first, k % 2 == 0, level, functions[k].second), plain, error));
    ir::Interpreter interpreter(plain, 1 << 20);
    for (size_t k = 0; k < functions.size(); ++k) {
      const Case& c = *functions[k].first;
      for (int round = 0; round < rounds; ++round) {
        alignas(64) uint8_t native[512] = {}, wanted[512] = {};
        for (size_t o = 0; o < c.operands.size(); ++o)
          fill(native + o * OperandBytes, c.operands[o], uint32_t(round * 31 + o * (1 + round / 8)));
        std::memcpy(wanted, native, sizeof native);
        TrapSeen seen;
        bool trapped = jit.traps([&] { jit.function<void(void*)>(functions[k].second)(native); }, seen);
        ir::Outcome outcome = interpreter.call(functions[k].second, {uint64_t(wanted)});
        std::string what = c.inst + " round " + std::to_string(round) + " level " + std::to_string(level) +
                           (k % 2 ? " registers" : " folding");
        REQUIRE_MESSAGE(outcome.kind != ir::Outcome::Stuck, what << ": " << outcome.message);
        bool wantTrap = outcome.kind == ir::Outcome::Trapped;
        CHECK_MESSAGE(trapped == wantTrap, what);
        if (trapped && wantTrap) {
          CHECK_MESSAGE(seen.kind == int64_t(outcome.trap), what);
        } else if (!trapped && !wantTrap) {
          bool equal = same(native + Result, wanted + Result, c.result);
          if (!equal) {
            std::string bytes;
            for (unsigned n = 0; n < c.result.bytes(); ++n) {
              char hex[16];
              std::snprintf(hex, sizeof hex, "%02x/%02x ", native[Result + n], wanted[Result + n]);
              bytes += hex;
            }
            for (size_t o = 0; o < c.operands.size(); ++o) {
              bytes += "\noperand ";
              for (unsigned n = 0; n < c.operands[o].bytes(); ++n) {
                char hex[8];
                std::snprintf(hex, sizeof hex, "%02x ", native[o * 64 + n]);
                bytes += hex;
              }
            }
            CHECK_MESSAGE(equal, what << ": " << bytes);
            break;
          }
          CHECK_MESSAGE(std::memcmp(native + 256, wanted + 256, 192) == 0, what << ": an operand changed");
        }
      }
    }
  }
}

const std::vector<ir::Type> ints = {ir::I8, ir::I16, ir::I32, ir::I64};

std::vector<ir::Type> vectorsOf(ir::Type lane, unsigned most = 64) {
  std::vector<ir::Type> v;
  for (unsigned n = 2; n <= 64 && n * lane.bytes() <= most; n *= 2) v.push_back(lane.withLanes(n));
  return v;
}

}  // namespace

TEST_CASE("x64 ops: integers") {
  std::vector<Case> cases;
  for (ir::Type t : ints) {
    std::string n = toString(t);
    for (const char* op :
         {"iadd",  "isub",  "imul",  "and",   "or",    "xor",   "shl",   "shrs",  "shru",  "rotl",  "mulhis", "mulhiu",
          "imins", "imaxs", "saddt", "ssubt", "smult", "uaddt", "usubt", "umult", "sdivt", "udivt", "sremt",  "uremt"})
      cases.push_back({std::string(op) + " " + n + " %a, %b", t, {t, t}});
    for (const char* op : {"clz", "ctz", "popcount"}) cases.push_back({std::string(op) + " " + n + " %a", t, {t}});
    for (const char* c : {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"})
      cases.push_back({"icmp " + std::string(c) + " " + n + " %a, %b", ir::I1, {t, t}});
    cases.push_back({"select " + n + " %a, %b, %c", t, {ir::I1, t, t}});
  }
  for (const char* op : {"and", "or", "xor"})
    cases.push_back({std::string(op) + " i1 %a, %b", ir::I1, {ir::I1, ir::I1}});
  cases.push_back({"not %a", ir::I1, {ir::I1}});
  cases.push_back({"icmp eq i1 %a, %b", ir::I1, {ir::I1, ir::I1}});
  check(cases, 200);
}

TEST_CASE("x64 ops: integers with constants") {
  std::vector<Case> cases;
  for (ir::Type t : ints) {
    std::string n = toString(t);
    const std::vector<int64_t> constants = {0,
                                            1,
                                            -1,
                                            2,
                                            3,
                                            5,
                                            6,
                                            7,
                                            8,
                                            9,
                                            10,
                                            12,
                                            16,
                                            25,
                                            64,
                                            100,
                                            127,
                                            -2,
                                            -3,
                                            -7,
                                            -10,
                                            -128,
                                            255,
                                            641,
                                            1000,
                                            65535,
                                            65536,
                                            0x7fffffff,
                                            -0x80000000ll,
                                            0x80000000ll,
                                            0xffffffffll,
                                            0x100000000ll,
                                            INT64_MAX,
                                            INT64_MIN,
                                            INT64_MIN + 1,
                                            0x123456789abcdefll};
    for (int64_t c : constants) {
      if (ir::canonical(t, c) != c) continue;
      std::string prelude = "%30 = iconst " + n + " " + std::to_string(c) + "\n";
      for (const char* op : {"iadd",  "isub",  "imul",  "and",   "or",    "xor",   "shl",    "shrs",
                             "shru",  "rotl",  "saddt", "ssubt", "smult", "uaddt", "usubt",  "umult",
                             "sdivt", "udivt", "sremt", "uremt", "imins", "imaxs", "mulhis", "mulhiu"}) {
        cases.push_back({std::string(op) + " " + n + " %a, %30", t, {t}, prelude});
        cases.push_back({std::string(op) + " " + n + " %30, %a", t, {t}, prelude});
      }
      for (const char* cond : {"eq", "slt", "ult", "uge"}) {
        cases.push_back({"icmp " + std::string(cond) + " " + n + " %a, %30", ir::I1, {t}, prelude});
        cases.push_back({"icmp " + std::string(cond) + " " + n + " %30, %a", ir::I1, {t}, prelude});
      }
    }
  }
  check(cases, 60);
}

TEST_CASE("x64 ops: floats") {
  std::vector<Case> cases;
  for (ir::Type lane : {ir::F32, ir::F64}) {
    std::vector<ir::Type> types = vectorsOf(lane);
    types.push_back(lane);
    for (ir::Type t : types) {
      std::string n = toString(t);
      for (const char* op : {"fadd", "fsub", "fmul", "fdiv", "fmin", "fmax"})
        cases.push_back({std::string(op) + " " + n + " %a, %b", t, {t, t}});
      for (const char* op : {"fsqrt", "fneg", "fabs", "ffloor", "fceil", "ftrunc", "fround"})
        cases.push_back({std::string(op) + " " + n + " %a", t, {t}});
      cases.push_back({"fma " + n + " %a, %b, %c", t, {t, t, t}});
      for (const char* c : {"eq", "ne", "lt", "le", "gt", "ge", "nlt", "nle", "ngt", "nge"})
        cases.push_back(
            {"fcmp " + std::string(c) + " " + n + " %a, %b", t.isVector() ? ir::maskType(t) : ir::I1, {t, t}});
      if (!t.isVector()) cases.push_back({"select " + n + " %a, %b, %c", t, {ir::I1, t, t}});
    }
  }
  check(cases, 120);
}

TEST_CASE("x64 ops: conversions") {
  std::vector<Case> cases;
  for (ir::Type from : ints) {
    for (ir::Type to : ints) {
      if (to.bytes() > from.bytes())
        for (const char* op : {"sext", "zext"})
          cases.push_back({std::string(op) + " " + toString(to) + " %a", to, {from}});
      if (to.bytes() < from.bytes()) cases.push_back({"trunc " + toString(to) + " %a", to, {from}});
    }
    cases.push_back({"zext " + toString(from) + " %a", from, {ir::I1}});
    for (ir::Type to : {ir::F32, ir::F64}) {
      if (from.bytes() >= 4)
        for (const char* op : {"stof", "utof"})
          cases.push_back({std::string(op) + " " + toString(to) + " %a", to, {from}});
      for (const char* op : {"ftost", "ftout", "ftossat", "ftousat"})
        cases.push_back({std::string(op) + " " + toString(from) + " %a", from, {to}});
    }
  }
  cases.push_back({"fext f64 %a", ir::F64, {ir::F32}});
  cases.push_back({"fcut f32 %a", ir::F32, {ir::F64}});
  cases.push_back({"bitcast i32 %a", ir::I32, {ir::F32}});
  cases.push_back({"bitcast f32 %a", ir::F32, {ir::I32}});
  cases.push_back({"bitcast i64 %a", ir::I64, {ir::F64}});
  cases.push_back({"bitcast f64 %a", ir::F64, {ir::I64}});
  cases.push_back({"bitcast ptr %a", ir::Ptr, {ir::I64}});
  for (unsigned n = 2; n <= 32; n *= 2) {
    auto v = [&](ir::Type t) { return t.withLanes(n); };
    for (ir::Type from : ints)
      for (ir::Type to : ints) {
        if (to.bytes() > from.bytes() && v(to).bytes() <= 64)
          for (const char* op : {"sext", "zext"})
            cases.push_back({std::string(op) + " " + toString(v(to)) + " %a", v(to), {v(from)}});
        if (to.bytes() < from.bytes() && v(from).bytes() <= 64)
          cases.push_back({"trunc " + toString(v(to)) + " %a", v(to), {v(from)}});
      }
    if (n > 16) continue;
    cases.push_back({"stof " + toString(v(ir::F32)) + " %a", v(ir::F32), {v(ir::I32)}});
    cases.push_back({"ftossat " + toString(v(ir::I32)) + " %a", v(ir::I32), {v(ir::F32)}});
    cases.push_back({"bitcast " + toString(v(ir::I32)) + " %a", v(ir::I32), {v(ir::F32)}});
    if (n > 8) continue;
    cases.push_back({"stof " + toString(v(ir::F64)) + " %a", v(ir::F64), {v(ir::I32)}});
    cases.push_back({"ftossat " + toString(v(ir::I32)) + " %a", v(ir::I32), {v(ir::F64)}});
    cases.push_back({"fext " + toString(v(ir::F64)) + " %a", v(ir::F64), {v(ir::F32)}});
    cases.push_back({"fcut " + toString(v(ir::F32)) + " %a", v(ir::F32), {v(ir::F64)}});
  }
  check(cases, 120);
}

TEST_CASE("x64 ops: vectors") {
  std::vector<Case> cases;
  for (ir::Type lane : ints)
    for (ir::Type t : vectorsOf(lane)) {
      std::string n = toString(t);
      for (const char* op : {"iadd", "isub", "imul", "and", "or", "xor", "shl", "shrs", "shru", "imins", "imaxs"})
        if (lane == ir::I32 || (std::string(op) != "imins" && std::string(op) != "imaxs"))
          cases.push_back({std::string(op) + " " + n + " %a, %b", t, {t, t}});
      for (const char* c : {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"})
        cases.push_back({"icmp " + std::string(c) + " " + n + " %a, %b", t, {t, t}});
    }
  for (ir::Type lane : {ir::I8, ir::I16, ir::I32, ir::I64, ir::F32, ir::F64})
    for (ir::Type t : vectorsOf(lane)) {
      std::string n = toString(t);
      cases.push_back({"splat " + n + " %a", t, {lane}});
      cases.push_back({"vziplow " + n + " %a, %b", t, {t, t}});
      cases.push_back({"vziphigh " + n + " %a, %b", t, {t, t}});
      for (unsigned k = 0; k < t.lanes; k += 1 + t.lanes / 8) {
        cases.push_back({"lane " + toString(lane) + " %a, " + std::to_string(k), lane, {t}});
        cases.push_back({"setlane " + n + " %a, %b, " + std::to_string(k), t, {t, lane}});
      }
      if (t.lanes > 2) {
        ir::Type half = t.withLanes(t.lanes / 2);
        cases.push_back({"vlow " + toString(half) + " %a", half, {t}});
        cases.push_back({"vhigh " + toString(half) + " %a", half, {t}});
        cases.push_back({"vjoin " + n + " %a, %b", t, {half, half}});
      }
    }
  check(cases, 40);
}

TEST_CASE("x64 ops: masks choose lanes and are asked whether any is set") {
  std::vector<Case> cases;
  for (ir::Type lane : {ir::I8, ir::I16, ir::I32, ir::I64, ir::F32, ir::F64})
    for (ir::Type t : vectorsOf(lane)) {
      std::string n = toString(t), mask = toString(ir::maskType(t));
      std::string compare = "%30 = " + std::string(lane.isFloat() ? "fcmp lt " : "icmp slt ") + n + " %a, %b\n";
      cases.push_back({"vanytrue %30", ir::I1, {t, t}, compare});
      cases.push_back({"vselect " + n + " %30, %b, %a", t, {t, t}, compare});
      cases.push_back({"vselect " + n + " %a, %b, %c", t, {ir::maskType(t), t, t}});
      cases.back().prelude = "%30 = icmp ne " + mask + " %a, %a\n%31 = or " + mask + " %30, %30\n";
      cases.back().inst = "vselect " + n + " %31, %b, %c";
    }
  check(cases, 40);
}
