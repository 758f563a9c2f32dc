// The interpreter: what operations mean, calls, traps with their chain, the process entry.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "ir/interp.h"
#include "ir/text.h"
#include "ir/verify.h"

using namespace mica::ir;

namespace {

struct Program {
  Module module;
  explicit Program(const std::string& text) {
    std::string error;
    REQUIRE_MESSAGE(parse(text, module, error), error);
    for (const std::string& m : verify(module)) FAIL(m);
  }
};

Outcome run(const std::string& text, std::vector<uint64_t> args = {}) {
  Program p(text);
  Interpreter i(p.module, 1 << 22);
  return i.call("f", args);
}

// The value of one expression of a type over %0 and %1.
int64_t value(const std::string& type, const std::string& inst, int64_t a = 0, int64_t b = 0) {
  Outcome o = run("func @f(%0: " + type + ", %1: " + type + ") -> " + type + " { b0: %2 = " + inst + " ret %2 }", {uint64_t(a), uint64_t(b)});
  REQUIRE(o.kind == Outcome::Returned);
  return int64_t(o.result[0]);
}

TrapKind trapOf(const std::string& type, const std::string& inst, int64_t a, int64_t b) {
  Outcome o = run("func @f(%0: " + type + ", %1: " + type + ") -> " + type + " { b0: %2 = " + inst + " ret %2 }", {uint64_t(a), uint64_t(b)});
  return o.kind == Outcome::Trapped ? o.trap : TrapKind(0);
}

uint64_t bits(float v) { return std::bit_cast<uint32_t>(v); }
uint64_t bits(double v) { return std::bit_cast<uint64_t>(v); }

}  // namespace

TEST_CASE("ir interp: integers wrap at their width and stay sign extended") {
  CHECK(value("i8", "iadd i8 %0, %1", 100, 100) == -56);
  CHECK(value("i16", "imul i16 %0, %1", 300, 300) == int16_t(90000));
  CHECK(value("i32", "isub i32 %0, %1", INT32_MIN, 1) == INT32_MAX);
  CHECK(value("i64", "iadd i64 %0, %1", INT64_MAX, 1) == INT64_MIN);
  CHECK(value("i8", "shl i8 %0, %1", 1, 7) == -128);
  CHECK(value("i8", "shl i8 %0, %1", 1, 9) == 2);
  CHECK(value("i16", "shru i16 %0, %1", -1, 4) == 0x0fff);
  CHECK(value("i16", "shrs i16 %0, %1", -256, 4) == -16);
  CHECK(value("i32", "rotl i32 %0, %1", INT32_MIN, 1) == 1);
  CHECK(value("i8", "clz i8 %0", 1) == 7);
  CHECK(value("i32", "ctz i32 %0", 0) == 32);
  CHECK(value("i64", "popcount i64 %0", -1) == 64);
  CHECK(value("i64", "mulhiu i64 %0, %1", -1, -1) == -2);
  CHECK(value("i64", "mulhis i64 %0, %1", INT64_MIN, 2) == -1);
  CHECK(value("i32", "imins i32 %0, %1", -3, 2) == -3);
}

TEST_CASE("ir interp: trapping integers") {
  CHECK(trapOf("i64", "saddt i64 %0, %1", INT64_MAX, 1) == TrapKind::Overflow);
  CHECK(trapOf("i8", "uaddt i8 %0, %1", -56, 100) == TrapKind::Overflow);
  CHECK(value("i8", "uaddt i8 %0, %1", 100, 100) == -56);
  CHECK(trapOf("i32", "sdivt i32 %0, %1", 5, 0) == TrapKind::DivideByZero);
  CHECK(trapOf("i32", "sdivt i32 %0, %1", INT32_MIN, -1) == TrapKind::Overflow);
  CHECK(value("i32", "sremt i32 %0, %1", INT32_MIN, -1) == 0);
  CHECK(value("i32", "sdivt i32 %0, %1", -7, 2) == -3);
  CHECK(value("i8", "udivt i8 %0, %1", -1, 2) == 127);
  CHECK(trapOf("i64", "uremt i64 %0, %1", 5, 0) == TrapKind::DivideByZero);
}

TEST_CASE("ir interp: floats") {
  auto f32 = [](const std::string& inst, float a, float b) {
    return std::bit_cast<float>(uint32_t(run("func @f(%0: f32, %1: f32) -> f32 { b0: %2 = " + inst + " ret %2 }", {bits(a), bits(b)}).result[0]));
  };
  CHECK(f32("fadd f32 %0, %1", 0.1f, 0.2f) == 0.1f + 0.2f);
  CHECK(f32("fround f32 %0", 2.5f, 0) == 2.0f);
  CHECK(std::signbit(f32("fmin f32 %0, %1", 0.0f, -0.0f)));
  CHECK(std::isnan(f32("fmax f32 %0, %1", 1.0f, NAN)));
  CHECK(f32("fma f32 %0, %1, %0", 3.0f, 2.0f) == 9.0f);
  auto toInt = [](const char* inst, double a) { return run(std::string("func @f(%0: f64) -> i32 { b0: %1 = ") + inst + " ret %1 }", {bits(a)}); };
  CHECK(int64_t(toInt("ftost i32 %0", -2147483648.9).result[0]) == INT32_MIN);
  CHECK(toInt("ftost i32 %0", -2147483649.0).kind == Outcome::Trapped);
  CHECK(toInt("ftost i32 %0", 2147483648.0).trap == TrapKind::Conversion);
  CHECK(int64_t(toInt("ftossat i32 %0", 1e30).result[0]) == INT32_MAX);
  CHECK(int64_t(toInt("ftossat i32 %0", NAN).result[0]) == 0);
  CHECK(int64_t(toInt("ftout i32 %0", 4294967295.0).result[0]) == -1);
  CHECK(int64_t(toInt("ftousat i32 %0", -5.0).result[0]) == 0);
}

TEST_CASE("ir interp: loops, calls, slots, vectors") {
  // A loop whose parameters swap places each round.
  CHECK(run(R"(
func @f(%0: i64) -> i64 {
b0:
  %1 = iconst i64 0
  %2 = iconst i64 1
  br b1(%1, %2, %0)
b1(%3: i64, %4: i64, %5: i64):
  %6 = isub i64 %5, %2
  %7 = icmp sgt i64 %6, %1
  brif %7, b1(%4, %3, %6), b2
b2:
  ret %3
})", {4}).result[0] == 1);
  CHECK(run(R"(
func @f(%0: i64) -> i64 {
b0:
  %1 = iconst i64 2
  %2 = icmp slt i64 %0, %1
  brif %2, b1(%0), b2
b1(%3: i64):
  ret %3
b2:
  %5 = iconst i64 1
  %4 = isub i64 %0, %5
  %6 = isub i64 %0, %1
  %7 = call i64 @f(%4)
  %8 = call i64 @f(%6)
  %9 = iadd i64 %7, %8
  ret %9
})", {20}).result[0] == 6765);
  Outcome o = run(R"(
func @f(%0: f32) -> f32 {
  slot s0 size 32 align 256
b0:
  %1 = splat f32x4 %0
  %2 = fconst f32x4 0.5
  %3 = fmul f32x4 %1, %2
  %4 = vjoin f32x8 %1, %3
  %5 = slotaddr s0
  store f32x8 %4, %5
  %6 = load f32 %5 + 28
  %8 = symaddr @g
  %7 = callind f32 %8(%6, %4)
  ret %7
}
func @g(%0: f32, %1: f32x8) -> f32 {
b0:
  %2 = lane f32 %1, 0
  %3 = fadd f32 %0, %2
  ret %3
})", {bits(3.0f)});
  CHECK(o.result[0] == bits(4.5f));
}

TEST_CASE("ir interp: traps name the chain of calls") {
  Program p(R"(
func @f(%0: i64) -> i64 {
b0:
  %1 = call i64 @g(%0) !a.mica:2:3 in F
  ret %1
}
func @g(%0: i64) -> i64 {
b0:
  %1 = iconst i64 10
  %2 = icmp sge i64 %0, %1
  trapif index %2, %0, %1 !b.mica:7:9 in H at a.mica:5:1 in G
  ret %0
}
func @deep(%0: i64) -> i64 {
b0:
  %1 = call i64 @deep(%0)
  ret %1
})");
  Interpreter i(p.module, 1 << 21);
  CHECK(i.call("f", {9}).result[0] == 9);
  Outcome o = i.call("f", {12});
  CHECK(o.trap == TrapKind::Index);
  CHECK(o.details[0] == 12);
  CHECK(o.details[1] == 10);
  CHECK(describeTrap(p.module, o) == "trap: index\n  at b.mica:7:9 in H\n  at a.mica:5:1 in G\n  at a.mica:2:3 in F\n");
  CHECK(i.call("deep", {0}).trap == TrapKind::StackOverflow);
  CHECK(i.call("f", {9}).result[0] == 9);
}

TEST_CASE("ir interp: the module's own trap function walks frames and the place table") {
  // Raise finds its return address through the frame pointer, looks its place's line up in the table, and exits with it.
  Program p(R"(
func @Start(%0: ptr) entry {
b0:
  %1 = load i64 %0
  %2 = iconst i64 3
  %3 = saddt i64 %1, %2
  %4 = icmp eq i64 %3, %2
  trapif assert %4
  %5 = iconst i64 9223372036854775807
  %6 = saddt i64 %5, %1 !x.mica:42:5 in Main
  unreachable
}
func @Trap.Raise(%0: i64, %1: i64, %2: i64, %3: i64) {
b0:
  %4 = frameptr
  %5 = load i64 %4 + 8
  %6 = symaddr @mica.text.start
  %7 = bitcast i64 %6
  %8 = isub i64 %5, %7
  %9 = symaddr @mica.places
  %10 = load i32 %9
  %11 = sext i64 %10
  %12 = iconst i64 8
  %13 = iconst i64 1
  br b1(%11)
b1(%14: i64):
  %15 = isub i64 %14, %13
  %16 = imul i64 %15, %12
  %17 = padd %9, %16
  %18 = load i32 %17 + 16
  %19 = zext i64 %18
  %20 = icmp ult i64 %19, %8
  brif %20, b2, b1(%15)
b2:
  %21 = load i32 %17 + 20
  %22 = sext i64 %21
  %23 = iconst i64 20
  %24 = imul i64 %22, %23
  %25 = imul i64 %11, %12
  %26 = padd %9, %25
  %27 = padd %26, %24
  %28 = load i32 %27 + 24
  %29 = sext i64 %28
  %30 = iconst i64 231
  %31 = syscall %30, %29, %29, %29, %29, %29, %29
  unreachable
})");
  CHECK(interpret(p.module, {"x"}) == 42);
}

TEST_CASE("ir interp: which lines have been executed") {
  Program p(R"(
func @f(%0: i64) -> i64 {
b0:
  %1 = iconst i64 10 !a.mica:1:1 in F
  %2 = icmp sge i64 %0, %1 !a.mica:2:3 in F
  brif %2, b1, b2 !a.mica:2:3 in F
b1:
  ret %1 !a.mica:3:5 in F
b2:
  ret %0 !a.mica:4:5 in F
})");
  Interpreter i(p.module, 1 << 20, true);
  CHECK(i.call("f", {12}).result[0] == 10);
  CHECK(i.lines() == Lines{{{"a.mica", 1}, true}, {{"a.mica", 2}, true}, {{"a.mica", 3}, true}, {{"a.mica", 4}, false}});
  CHECK(i.call("f", {3}).result[0] == 3);
  CHECK(i.lines().at({"a.mica", 4}));
  CHECK(Interpreter(p.module, 1 << 20).lines().empty());
}
