// Ownership: which paths meet, and the cases of flow and borrows that the programs of tests/rules leave out.
#include <doctest/doctest.h>

#include "checked.h"
#include "frontend/ownership_places.h"

using namespace mica;
using namespace mica::ownership;

namespace {

Axis axis(Linear low, Linear high) { return {low, high, false}; }
Axis index(Linear at) { return axis(at, linearSum(at, linearConstant(1), 1)); }
Linear i() { return linearTerm(7); }
Linear plus(Linear a, int64_t n) { return linearSum(a, linearConstant(n), 1); }

Path element(std::vector<Axis> axes, Step::Form form = Step::Form::Element) { return Path{LocalId{0}, {Step{form, 0, std::move(axes), "", false}}}; }
Path field(uint32_t index) { return Path{LocalId{0}, {Step{Step::Form::Field, index, {}, "", false}}}; }

Path then(Path p, Step s) {
  p.steps.push_back(std::move(s));
  return p;
}

const char* const Keep = R"(
func Keep(move words: list of string): int
  return Length(words)
end
func Grow(inout words: list of string)
  words += ["x"]
end
)";

// The errors of a body of `Main`, which begins at line 9.
std::string inMain(const std::string& body) { return Checked(std::string(Keep) + "func Main\n" + body + "end\n").errors(); }

}  // namespace

TEST_CASE("indices are compared as sums of constants and variables") {
  CHECK(linearSum(plus(i(), 3), i(), -1) == linearConstant(3));
  CHECK(linearProduct(linearConstant(2), plus(i(), 1)) == linearSum(plus(i(), 2), i(), 1));
  CHECK_FALSE(linearProduct(i(), i()).known);
  CHECK_FALSE(linearSum(linearConstant(INT64_MAX), linearConstant(1), 1).known);
}

TEST_CASE("paths part at fields, indices, ranges and keys") {
  CHECK(meet(field(0), field(1)) == Meet::Apart);
  CHECK(meet(field(0), field(0)) == Meet::Same);
  CHECK(meet(Path{LocalId{0}, {}}, field(0)) == Meet::Same);
  CHECK(meet(Path{LocalId{1}, {}}, field(0)) == Meet::Apart);
  CHECK(meet(element({index(linearConstant(0))}), element({index(linearConstant(2))})) == Meet::Apart);
  CHECK(meet(element({index(i())}), element({index(plus(i(), 1))})) == Meet::Apart);
  CHECK(meet(element({index(i())}), element({index(i())})) == Meet::Same);
  CHECK(meet(element({index(i())}), element({index(linearTerm(8))})) == Meet::Maybe);
  // 0 ..< i and i ..< n meet at one bound.
  CHECK(meet(element({axis(linearConstant(0), i())}, Step::Form::Slice), element({axis(i(), linearTerm(9))}, Step::Form::Slice)) == Meet::Apart);
  CHECK(meet(element({axis(linearConstant(0), i())}, Step::Form::Slice), element({axis(plus(i(), -1), linearTerm(9))}, Step::Form::Slice)) == Meet::Maybe);
  Axis whole;
  whole.whole = true;
  CHECK(meet(element({index(linearConstant(1)), whole}, Step::Form::Slice), element({index(linearConstant(1)), index(linearConstant(0))})) == Meet::Same);
}

TEST_CASE("behind elements that may be one, different fields are apart; behind ranges indices count anew") {
  Step left{Step::Form::Field, 0, {}, "", false}, right{Step::Form::Field, 1, {}, "", false};
  CHECK(meet(then(element({index(i())}), left), then(element({index(linearTerm(8))}), right)) == Meet::Apart);
  auto slice = [](int64_t from, int64_t to) { return element({axis(linearConstant(from), linearConstant(to))}, Step::Form::Slice); };
  Step first{Step::Form::Element, 0, {index(linearConstant(0))}, "", false}, second{Step::Form::Element, 0, {index(linearConstant(1))}, "", false};
  CHECK(meet(then(slice(2, 4), first), then(slice(1, 4), second)) != Meet::Apart);
  CHECK(meet(then(slice(2, 4), first), then(slice(2, 4), second)) == Meet::Apart);
}

TEST_CASE("moves in literals, assignments and nested calls") {
  CHECK(inMain("  let a: list of string := []\n  let pair := (a, 1)\n  Print(Length(a))\n  Print(pair.1)\n") == "11 `a` is used after it moved\n");
  CHECK(inMain("  let a: list of string := []\n  var b: list of string := [\"q\"]\n  b := a\n  Print(\"{Length(a)} {Length(b)}\")\n") == "12 `a` is used after it moved\n");
  CHECK(inMain("  let a: list of string := []\n  Print(Keep(a) + Keep(a))\n") == "10 `a` is used after it moved\n");
}

TEST_CASE("loops that leave or set again, and loops that do not end") {
  CHECK(inMain("  let a: list of string := []\n  loop do\n    if Length(a) = 0 then\n      break\n    end\n    Print(Keep(a))\n    return\n  end\n  Print(Keep(a))\n") == "");
  CHECK(inMain("  let a: list of string := []\n  for k in 0 ..< 2 do\n    for j in 0 ..< 2 do\n      Print(\"{k} {j} {Keep(a)}\")\n    end\n  end\n") ==
        "12 `a` moved in an earlier round of this loop\n");
  CHECK(inMain("  var a: list of string := []\n  while Length(a) < 3 do\n    let b := a\n    a := []\n    Print(Keep(b))\n  end\n") == "");
}

TEST_CASE("borrows end with the block of their name") {
  CHECK(inMain("  var xs: list of string := [\"a\"]\n  if Length(xs) > 0 then\n    let x := xs[0]\n    Print(x)\n  end\n  Grow(inout xs)\n") == "");
  CHECK(inMain("  var xs: list of string := [\"a\"]\n  let x := xs[0]\n  Grow(inout xs)\n  Print(x)\n") == "11 `xs` cannot change while `x` names a place in it\n");
  CHECK(inMain("  var xs: list of list of string := [[]]\n  for inout x in xs do\n    Grow(inout x)\n    Grow(inout xs[0])\n  end\n") == "12 `xs` cannot change while the loop at line 10 changes its elements\n");
}

TEST_CASE("indices that change in between prove nothing") {
  CHECK(inMain("  var xs: list of list of string := [[], []]\n  var i := 0\n  let inout x := xs[i]\n  i += 1\n  Grow(inout xs[i])\n  x += [\"a\"]\n") ==
        "13 `xs[i]` cannot change while `x` names it for changing\n");
  CHECK(inMain("  var xs: list of list of string := [[], []]\n  let i := 0\n  let inout x := xs[i]\n  Grow(inout xs[i + 1])\n  x += [\"a\"]\n") == "");
}

TEST_CASE("closures that have a name borrow until its block ends") {
  CHECK(inMain("  var n := 0\n  let f := (x: int) => x + n\n  n := 2\n  Print(f(1))\n") != "");
  CHECK(inMain("  let a: list of string := []\n  let f := move () => Length(a)\n  Print(f())\n") == "");
}

TEST_CASE("what a pattern names of a fresh value is owned") {
  CHECK(inMain("  var maybe: (list of string)? := [\"a\"]\n  if let words := Take(inout maybe) then\n    Print(Keep(words))\n  end\n") == "");
  CHECK(inMain("  var maybe: (list of string)? := [\"a\"]\n  if let words := maybe then\n    Print(Keep(words))\n  end\n  maybe := none\n") == "11 `words` names a part of what is matched and cannot be moved\n");
}
