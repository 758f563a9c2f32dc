// The verifier: a sound module passes, and every invariant has a module that breaks it and is named.
#include <doctest/doctest.h>

#include "ir/builder.h"
#include "ir/text.h"
#include "ir/verify.h"

using namespace mica::ir;

namespace {

std::string joined(const std::vector<std::string>& messages) {
  std::string all;
  for (const std::string& m : messages) all += m + "\n";
  return all;
}

std::string verifyText(const std::string& text) {
  Module m;
  std::string error;
  REQUIRE_MESSAGE(parse(text, m, error), error << "\n" << text);
  return joined(verify(m));
}

// A function around some instructions; %0 i64, %1 ptr, %2 f32, %3 i1, %4 i32.
std::string body(const std::string& insts) {
  return "func @f(%0: i64, %1: ptr, %2: f32, %3: i1, %4: i32) -> i64 {\n  slot s0 size 8 align 8\nb0:\n" + insts + "\n}\n";
}

struct Case { const char* insts; const char* message; };
const Case cases[] = {
    {"%5 = iadd i64 %0, %4 ret %0", "operand 2 is i32, not i64"},
    {"%5 = iadd f32 %2, %2 ret %0", "there is no `iadd` of f32"},
    {"%5 = fadd i64 %0, %0 ret %0", "there is no `fadd` of i64"},
    {"%5 = iadd i64 %0 ret %0", "takes 2 operands, not 1"},
    {"%5 = sext i64 %0 ret %0", "an operand of i64 does not fit"},
    {"%5 = trunc i32 %4 ret %0", "an operand of i32 does not fit"},
    {"%5 = bitcast f64 %4 ret %0", "an operand of i32 does not fit"},
    {"%5 = fext f64 %0 ret %0", "an operand of i64 does not fit"},
    {"%5 = iconst i8 200 ret %0", "the constant is not canonical"},
    {"%5 = fconst f32 0x123456789 ret %0", "the bits do not fit"},
    {"%5 = icmp lt i64 %0, %0 ret %0", "the condition is one for floats"},
    {"%5 = fcmp slt f32 %2, %2 ret %0", "the condition is one for integers"},
    {"%5 = splat f32x3 %2 ret %0", "illegal type"},
    {"%5 = splat i1x4 %3 ret %0", "illegal type"},
    {"%5 = splat f32x4 %2 %6 = lane f32 %5, 4 ret %0", "the lane does not exist"},
    {"%5 = splat f32x4 %2 %6 = setlane f32x4 %5, %2, -1 ret %0", "the lane does not exist"},
    {"%5 = splat f32x4 %2 %6 = vlow f32x4 %5 ret %0", "operand 1 is f32x4, not f32x8"},
    {"%5 = splat f32x4 %2 %6 = vjoin f32x4 %5, %5 ret %0", "operand 1 is f32x4, not f32x2"},
    {"%5 = splat f32x4 %2 %6 = vselect f32x4 %5, %5, %5 ret %0", "operand 1 is f32x4, not i32x4"},
    {"%5 = slotaddr s1 ret %0", "the slot does not exist"},
    {"memzero %1, -8 ret %0", "the number of bytes is negative"},
    {"%5 = load i64 %0 ret %0", "operand 1 is i64, not ptr"},
    {"%5 = aload i16 %1 ret %0", "there is no `aload` of i16"},
    {"trapif index %3, %4 ret %0", "operand 2 is i32, not i64"},
    {"trapif index %3, %0, %0, %0, %0 ret %0", "a trap takes at most three details"},
    {"%5 = iadd i64 %0, %0", "the block does not end in a terminator"},
    {"ret %0 ret %0", "a terminator stands inside the block"},
    {"ret", "the function answers one i64"},
    {"ret %4", "operand 1 is i32, not i64"},
    {"br b0", "jumps to the entry"},
    {"br b1(%0)\nb1: ret %0", "b1 takes 0 arguments, not 1"},
    {"br b1(%0)\nb1(%5: i32): ret %0", "argument 1 of b1 is i64, not i32"},
    {"br b1\nb1:", "the block is empty"},
    {"switch i64 %0, b1, 5: b1, 5: b1\nb1: ret %0", "a case appears twice"},
    {"switch i32 %4, b1, 5000000000: b1\nb1: ret %0", "a case is not canonical"},
    {"%6 = iadd i64 %5, %0 %5 = iadd i64 %0, %0 ret %5", "%5 does not dominate its use"},
    {"brif %3, b1, b2\nb1: %5 = iadd i64 %0, %0 br b2\nb2: ret %5", "%5 does not dominate its use"},
    {"brif %3, b1, b2\nb1: br b2\nb2: ret %5\nb3: %5 = iadd i64 %0, %0 ret %5", "%5 does not dominate its use"},
    {"%5 = call i32 @f(%0, %1, %2, %3, %4) ret %0", "the callee answers i64"},
    {"%5 = call i64 @f(%0) ret %0", "the callee takes 5 arguments, not 1"},
    {"%5 = call i64 @f(%0, %1, %2, %3, %0) ret %0", "operand 5 is i64, not i32"},
};

}  // namespace

TEST_CASE("ir verify: a sound function passes") {
  CHECK(verifyText(body("%5 = splat f32x8 %2 %6 = fcmp lt f32x8 %5, %5 %7 = vselect f32x8 %6, %5, %5 %8 = vanytrue %6\n"
                        "trapif overflow %8, %0 brif %8, b1(%0), b2 \nb1(%9: i64): %10 = call i64 @f(%9, %1, %2, %3, %4) ret %10\n"
                        "b2: switch i64 %0, b3, 1: b3, 2: b3\nb3: %11 = iconst ptr 0 ret %0\nb4: ret %9")) == "");
}

TEST_CASE("ir verify: each broken rule is named") {
  for (const Case& c : cases) {
    std::string messages = verifyText(body(c.insts));
    CHECK_MESSAGE(messages.find(c.message) != std::string::npos, c.insts << "\n gives: " << messages);
    CHECK(messages.find("@f b") == 0);
  }
}

TEST_CASE("ir verify: functions and data") {
  auto says = [](const std::string& text, const std::string& message) {
    std::string messages = verifyText(text);
    CHECK_MESSAGE(messages.find(message) != std::string::npos, text << "\n gives: " << messages);
  };
  says("func @e(%0: i64) entry { b0: unreachable }", "@e: the process entry takes one ptr");
  says("func @e() level(0) { b0: ret }", "@e: processor levels count from 1");
  says("func @e() { slot s0 size 8 align 3 b0: ret }", "@e: slot s0 has a bad alignment");
  says("func @e() { }", "@e: the function has no block");
  says("func @e() { b0: call @d() ret } data @d align 8 { zeros 8 }", "calls data");
  says("data @d align 3 { zeros 8 }", "@d: the alignment is not a power of two");
  says("data @d align 8 { hex 0000 ref 0 @d }", "@d: a reference lies outside the data");
  says("data @d align 8 { hex 000000000000000000000000 ref 0 @d ref 4 @d }", "@d: references overlap");
}

TEST_CASE("ir verify: what no text can say") {
  auto broken = [](auto&& breakIt) {
    Module m;
    uint32_t index = startFunction(m, "f", {I64}, I64);
    Builder b(m, index);
    ValueId sum = b.iadd(b.param(0), b.param(0));
    ValueId again = b.iadd(sum, sum);
    b.ret(again);
    REQUIRE(joined(verify(m)) == "");
    breakIt(m, m.functions[0]);
    return joined(verify(m));
  };
  auto has = [](const std::string& s, const char* part) { CHECK_MESSAGE(s.find(part) != std::string::npos, s); };
  has(broken([](Module&, Function& f) { f.blocks[0].insts.insert(f.blocks[0].insts.begin(), InstId(0)); }), "stands in two places");
  has(broken([](Module&, Function& f) { f.insts[1].result = f.insts[0].result; }), "%1 is defined twice");
  has(broken([](Module&, Function& f) { f.values[1].def = InstId(1); }), "does not know its instruction");
  has(broken([](Module&, Function& f) { f.values[0].paramOf = BlockId(); }), "does not know its block");
  has(broken([](Module&, Function& f) { f.values[1].type = I32; }), "the result is i32, not i64");
  has(broken([](Module&, Function& f) { f.insts[1].result = {}; }), "%2 is not defined");
  has(broken([](Module&, Function& f) { f.insts[0].argCount = 99; }), "has operands that do not exist");
  has(broken([](Module&, Function& f) { f.pool[0] = ValueId(77); }), "has operands that do not exist");
  has(broken([](Module&, Function& f) { f.blocks[0].insts[0] = InstId(9); }), "an instruction does not exist");
  has(broken([](Module&, Function& f) { f.insts[0].place = PlaceId(3); }), "a place does not exist");
  has(broken([](Module&, Function& f) { f.params.push_back(I64); }), "the entry block's parameters are not the function's");
  has(broken([](Module& m, Function&) { m.symbols[0].index = 5; }), "the symbol does not lead to the function");
  has(broken([](Module& m, Function&) { m.places.push_back({"f", 1, 1, "g", PlaceId(0)}); }), "does not come before it");
  has(broken([](Module&, Function& f) { f.insts[0].op = Op::Call; f.insts[0].symbol = SymbolId(9); }), "a symbol that does not exist");
  has(broken([](Module&, Function& f) {
        f.insts[2].op = Op::Br;
        f.insts[2].targetCount = 1;
        f.targets.push_back({BlockId(7), 0, 0});
      }), "jumps to a block that does not exist");
}
