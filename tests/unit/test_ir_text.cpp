// The text form: what is printed parses back to the same text, and faults are reported with their place.
#include <doctest/doctest.h>
#include "ir/builder.h"
#include "ir/text.h"

using namespace mica::ir;

namespace {

const char* everything = R"(func @Main.F(%0: i64, %1: ptr, %2: f32) -> i64 noinline level(2) !gpt.mica:3:1 in Main.F {
  slot s0 size 16 align 8
  slot s1 size 4 align 4
b0:
  %3 = iadd i64 %0, %0 !gpt.mica:4:9 in Main.F at gpt.mica:80:5 in Main
  %4 = load f32 %1 + 8
  %5 = iconst i64 -9223372036854775808
  store i64 %3, %1 - 16
  %6 = icmp slt i64 %0, %3
  %7 = fconst f32 0.1
  %8 = fconst f64 0x7ff8000000000001
  %9 = fconst f32 -0
  %10 = slotaddr s1
  %11 = symaddr @"drop[list of (int,string)]" + 8
  fence
  %12 = context
  memcopy %1, %10, 4
  %13 = splat f32x8 %4
  %14 = lane f32 %13, 3
  %15 = setlane f32x8 %13, %14, 7
  %16 = fcmp nlt f32x8 %13, %15
  %17 = vselect f32x8 %16, %13, %15
  %18 = vanytrue %16
  trapif index %18, %3, %5
  call @"drop[list of (int,string)]"(%1)
  %19 = call i64 @Main.F(%0, %1, %2)
  callind %1(%0)
  %20 = callind f32 %1()
  %21 = acas i64 %0, %3, %1 + 8
  %22 = syscall %0, %0, %0, %0, %0, %0, %0
  %23 = sext i64 %24
  %24 = trunc i32 %0
  switch i64 %0, b3, -1: b1(%0), 5: b2
b1(%25: i64):
  brif %6, b1(%25), b2
b2:
  br b3
b3:
  trap unreachable
}
data @"drop[list of (int,string)]" align 8 readonly {
  hex 00ff10
  zeros 13
  ref 0 @Main.F + 4
  ref 8 @other - 4
}
data @s align 1 {
  text "a \"b\"\n"
}
)";

}  // namespace

TEST_CASE("ir text: everything prints as it was parsed") {
  Module m;
  std::string error;
  REQUIRE_MESSAGE(parse(everything, m, error), error);
  CHECK(print(m) == everything);
}

TEST_CASE("ir text: what the builder makes parses back") {
  Module m;
  uint32_t sum = startFunction(m, "Sum", {I64}, I64);
  Builder b(m, sum);
  BlockId loop = b.createBlock({I64, I64}), done = b.createBlock({I64});
  ValueId zero = b.i64(0);
  b.br(loop, {zero, zero});
  b.setBlock(loop);
  ValueId next = b.binary(Op::SAddT, b.param(loop, 0), b.i64(1));
  ValueId sumValue[] = {b.iadd(b.param(loop, 1), next)}, again[] = {next, sumValue[0]};
  b.brIf(b.icmp(Cond::Slt, next, b.param(0)), loop, again, done, sumValue);
  b.setBlock(done);
  b.ret(b.param(done, 0));
  std::string text = print(m), error;
  Module back;
  REQUIRE_MESSAGE(parse(text, back, error), error);
  CHECK(print(back) == text);
  CHECK(text.find("b1(%1: i64, %2: i64):\n") != std::string::npos);
}

TEST_CASE("ir text: faults name their place") {
  auto fault = [](const char* text) {
    Module m;
    std::string error;
    CHECK_FALSE(parse(text, m, error));
    return error;
  };
  CHECK(fault("func @f() {\nb0:\n  %1 = iadd i64 %0, %0\n  ret\n}") == "3:17: value is never defined");
  CHECK(fault("func @f() {\nb0:\n  br b1\n}") == "3:6: block is never defined");
  CHECK(fault("func @f() {\nb0:\n  frob\n}") == "3:3: unknown operation `frob`");
  CHECK(fault("func @f() {\nb0:\n  iconst i64 5\n}") == "3:3: the result needs a name");
  CHECK(fault("func @f() {\nb0:\n  ret\nb0:\n  ret\n}") == "4:1: block defined twice");
  CHECK(fault("func @f() {\nb0:\n  %4000000000 = iconst i64 5\n}") == "3:14: number too large");
  CHECK(fault("func @f() { b0: ret } func @f() { b0: ret }") == "1:30: `@f` is defined twice");
}
