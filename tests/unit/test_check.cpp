// The checker: what it makes of programs (as a dump) and what it says of wrong ones.
#include <doctest/doctest.h>

#include <string>

#include "frontend/check.h"

using namespace mica;

namespace {

struct Checked {
  Context context;
  Program program;
  explicit Checked(std::string text, std::vector<std::pair<std::string, std::string>> sets = {}) {
    CheckOptions options;
    options.main = context.sources.add("t.mica", std::move(text), context.diagnostics);
    options.constants = std::move(sets);
    options.needMain = false;
    check(context, program, options);
  }
  std::string errors() const {
    std::string out;
    for (const Diagnostic* d : context.diagnostics.sorted()) out += std::to_string(d->span.place.line) + " " + d->sentence + "\n";
    return out;
  }
  std::string messages() const { return context.diagnostics.print(context.sources); }
  // The statements of a function's dump, without its head and end.
  std::string body(const std::string& name) {
    for (uint32_t i = 0; i < program.decls.size(); i++) {
      if (program.decls[i].name != name) continue;
      std::string text = dumpTree(program, DeclId{i});
      size_t from = text.find('\n') + 1;
      return text.substr(from, text.rfind("end\n") - from);
    }
    return "no such function";
  }
};

std::string errorsOf(const std::string& text) { return Checked(text).errors(); }
std::string bodyOf(const std::string& text) {
  Checked c(text);
  CHECK(c.errors() == "");
  return c.body("F");
}

}  // namespace

TEST_CASE("literals take the type of their place") {
  CHECK(bodyOf("func F\n  let a: int8 := -128\n  let b: float32 := 3\n  let c: byte := 'a'\n  let d := 3\n  let e := 1.5\nend") ==
        "  let a#0: int8 := -128:int8\n  let b#1: float32 := 3:float32\n  let c#2: byte := 97:byte\n  let d#3: int := 3:int\n  let e#4: float64 := 1.5:float64\n");
  CHECK(bodyOf("func F(x: float32)\n  let y := 2 * 3 * x\nend") == "  let y#1: float32 := mul(mul(2:float32, 3:float32):float32, x#0):float32\n");
  CHECK(bodyOf("func F(b: byte): bool\n  return b >= '0' and b in 'a' .. 'z'\nend") == "  return and(ge(b#0, 48:byte):bool, inRange(b#0, 97:byte, 122:byte))\n");
  CHECK(errorsOf("func F\n  let a: int8 := 128\n  let b := 9223372036854775808\n  let c: byte := -1\nend") ==
        "2 128 does not fit an int8\n3 9223372036854775808 does not fit an int\n4 -1 does not fit a byte\n");
  CHECK(bodyOf("func F\n  let a := -9223372036854775808\nend") == "  let a#0: int := -9223372036854775808:int\n");
}

TEST_CASE("only what loses nothing converts by itself") {
  CHECK(bodyOf("func F(x: int32, y: float32)\n  let a: int := x\n  let b: float64 := y\nend") == "  let a#2: int := widen(x#0):int\n  let b#3: float64 := widen(y#1):float64\n");
  CHECK(errorsOf("func F(x: int, y: float64)\n  let a: int32 := x\n  let b: float32 := y\n  let c: float64 := x\nend") ==
        "2 `a` is an int32 and `x` is an int\n3 `b` is a float32 and `y` is a float64\n4 `c` is a float64 and `x` is an int\n");
  CHECK(errorsOf("func F(x: int, y: uint32): bool\n  return x < y\nend") == "2 `<` compares an int with a uint32: signed with unsigned\n");
  CHECK(errorsOf("func F(x: int): int\n  return x / 2\nend") == "2 `/` divides floats, and these are integers\n");
}

TEST_CASE("optionals are wrapped where they go") {
  CHECK(bodyOf("func F(x: int): int?\n  if x > 0 then return x end\n  return none\nend") == "  if gt(x#0, 0:int):bool\n    return some(x#0)\n  end\n  return none:int?\n");
  CHECK(bodyOf("func F(x: int?): int\n  return try x else 0\nend") == "  return orElse(x#0 else 0:int)\n");
  CHECK(errorsOf("func F\n  let x := none\nend") == "2 `none` needs its type from the place where it goes\n");
}

TEST_CASE("constants: exact, adapting, by --set") {
  CHECK(bodyOf("const\n  A = 4\n  B = A * 2 + 1\n  C: float32 = 0.1\nfunc F\n  let x: float32 := A\n  let y := B\n  let z := C\nend") ==
        "  let x#0: float32 := 4:float32\n  let y#1: int := 9:int\n  let z#2: float32 := 0.10000000149011612:float32\n");
  CHECK(errorsOf("const A = B\nconst B = A\nconst C = 1 div 0\nconst D: int8 = 100 + 100\n") ==
        "1 the constant `A` is defined by itself\n3 this divides by zero\n4 the constant is an int8, and 200 does not fit\n");
  Checked set("const Width = 128\nfunc F\n  let x := Width\nend", {{"Width", "32"}});
  CHECK(set.body("F") == "  let x#0: int := 32:int\n");
  Checked wrong("const Width = 128\n", {{"Widht", "32"}, {"Width", "abc"}});
  CHECK(wrong.errors() == "0 `--set Widht`: the file has no constant `Widht`\n0 `--set Width=abc`: the constant needs a whole number\n");
}

TEST_CASE("generic functions take types and extents from their arguments") {
  std::string head = "func Pair[T](a, b: T): (T, T)\n  return (a, b)\nend\n";
  CHECK(errorsOf("func Pair[T: Copyable](a, b: T): (T, T)\n  return (Copy(a), Copy(b))\nend\nfunc F\n  let p := Pair(1, 2.5)\n  let q := Pair(\"a\", \"b\")\nend") == "");
  CHECK(errorsOf("func Largest[T: Ordered](xs: list of T): T?\n  return none\nend\nfunc F(f: list of func(int))\n  let x := Largest(f)\nend") ==
        "5 `Largest` needs a type that is `Ordered` for `T`, and func(int) is not\n");
  CHECK(errorsOf("func Make[T](): list of T\n  return []\nend\nfunc F\n  let x := Make()\n  let y: list of int := Make()\n  let z := Make[string]()\nend") ==
        "5 nothing here says what `T` of `Make` is\n");
  CHECK(bodyOf("func Half[N](x: vector[2 * N]): vector[N]\n  return Zeros[N]()\nend\nfunc F(x: vector[6])\n  let y := Half(x)\nend") ==
        "  let y#1: vector[3] := t.Half[3](x#0):vector[3]\n");
  CHECK(bodyOf("func Same[N](a, b: vector[N]): vector[N]\n  return Zeros[N]()\nend\nfunc F(x: vector[?], y: vector[3])\n  let z := Same(x, y)\nend") ==
        "  let z#2: vector[3] := t.Same[3](x#0, y#1):vector[3]\n");
  CHECK(errorsOf("func Same[N](a, b: vector[N])\n  return\nend\nfunc F(x: vector[2], y: vector[3])\n  Same(x, y)\nend") == "5 `N` of `Same` is 2 from `a`, and `b` makes it 3\n");
}

TEST_CASE("the message of a product shows both sides and where they came from") {
  Checked c("type B = record\n  query: tracked matrix[128, 96]\nend\nfunc Make(): matrix[1024, 64]\n  return Zeros()\nend\nfunc F(b: B)\n  let n := Make()\n  let q := n * b.query\nend");
  CHECK(c.messages() ==
        "error: the dimensions of this product cannot meet\n"
        "  t.mica:9:14\n"
        "   9 |   let q := n * b.query\n"
        "     |            ~ ^ ~~~~~~~\n"
        "     |            |   matrix[128, 96]  declared at t.mica:2:3\n"
        "     |            matrix[1024, 64]     from Make at t.mica:8:12\n"
        "     = the left has 64 columns, the right has 128 rows\n");
}

TEST_CASE("slices know their extents") {
  CHECK(bodyOf("const K = 2\nfunc F(x: matrix[4, 6], i: int)\n  let a := x[i ..< i + K, 1 .. 3]\n  let b := x[i, ..]\n  let c := x[1 .., 0]\n  let d := x[i ..< 3, i + 1 ..< i + 1 + K]\nend") ==
        "  name a#2: matrix[2, 3] := slice(x#0, i#1 ..< add(i#1, 2:int):int, 1:int .. 3:int):matrix[2, 3]\n"
        "  name b#3: vector[6] := slice(x#0, i#1, ..):vector[6]\n"
        "  name c#4: vector[3] := slice(x#0, 1:int .., 0:int):vector[3]\n"
        "  name d#5: matrix[?, 2] := slice(x#0, i#1 ..< 3:int, add(i#1, 1:int):int ..< add(add(i#1, 1:int):int, 2:int):int):matrix[?, 2]\n");
  CHECK(errorsOf("func F(x: vector[3])\n  Print(x[3])\n  Print(x[0 ..< 4])\n  Print(x[2 ..< 1])\nend") ==
        "2 the index 3 is outside the extent 3\n3 the range 0 ..< 4 is outside the extent 3\n4 the range 2 ..< 1 ends before it begins\n");
}

TEST_CASE("failures are said, listed, caught") {
  std::string head = "failure Bad(n: int) = \"{n} is bad\"\nfunc G(n: int): int fails Bad\n  fail Bad(n: n)\nend\n";
  CHECK(errorsOf(head + "func F(): int\n  return G(1)\nend") == "6 `G` can fail with `Bad`, and this call does not say what happens then\n");
  CHECK(errorsOf(head + "func F(): int\n  return try G(1)\nend") == "6 `F` passes on `Bad` and does not list it\n");
  CHECK(errorsOf(head + "func F(): int\n  return try G(1) else 0\nend") == "");
  CHECK(errorsOf(head + "func F(): int\n  attempt\n    return try G(1)\n  recover e: Bad\n    return e.n\n  end\nend") == "");
  CHECK(errorsOf("func F(): int\n  return try Length(\"a\")\nend") == "2 nothing here can fail\n");
}

TEST_CASE("matches leave nothing out") {
  std::string head = "type S = choice\n  A\n  B(n: int)\n  C(x: bool, y: int?)\nend\n";
  CHECK(errorsOf(head + "func F(s: S)\n  match s\n    case A then return\n    case B(n) if n > 0 then return\n    case C(true, _) then return\n    case C(false, none) then return\n  end\nend") ==
        "7 this `match` leaves out `B`\n");
  CHECK(errorsOf(head + "func F(s: S)\n  match s\n    case A, B then return\n    case C(true, _) then return\n    case C(false, none) then return\n  end\nend") ==
        "7 this `match` leaves out `C(false, a value)`\n");
  CHECK(errorsOf(head + "func F(s: S)\n  match s\n    case A, B then return\n    case C(x, none) then return\n    case C(_, y) then return\n  end\nend") == "");
  CHECK(errorsOf("func F(n: int)\n  match n\n    case 0 then return\n  end\nend") == "2 this `match` leaves out `every other value`\n");
}

TEST_CASE("closures capture what they name") {
  CHECK(bodyOf("func Each(xs: list of int, f: func(int))\n  for x in xs do f(x) end\nend\nfunc F\n  var total := 0\n  let base := 10\n  Each([1, 2], func(x: int)\n    total += x * base\n  end)\nend") ==
        "  var total#0: int := 0:int\n  let base#1: int := 10:int\n"
        "  t.Each(list(1:int, 2:int):list of int, closure(x#2; inout total#0 as total#3; base#1 as base#4)\n"
        "      total#3 add= mul(x#2, base#4):int\n    end):nothing\n");
}

TEST_CASE("each is checked for each kind of leaf") {
  CHECK(bodyOf("type M = record\n  w: tracked matrix[2, 3]\n  b: tracked float32\n  n: int\nend\nfunc F(inout m: M)\n  each p in m do\n    if Rank(p) = 2 then p[0, 0] := 1 else p := 2 end\n  end\nend") ==
        "  each in m#0\n    leaf p#1: matrix[2, 3]\n      block\n        element(p#1, 0:int, 0:int) := 1:float32\n      end\n"
        "    leaf p#2: float32\n      block\n        p#2 := 2:float32\n      end\n  end\n");
  CHECK(errorsOf("type M = record\n  w: vector[2]\nend\nfunc F(m: M)\n  each p in m do\n    Print(p)\n  end\nend") == "5 `each` finds nothing tracked in `M`\n");
}

TEST_CASE("types that would hold themselves are refused once") {
  CHECK(errorsOf("type A = record\n  b: B\nend\ntype B = record\n  a: A?\nend\n") ==
        "1 a value of `A` would contain another value of `A` without end\n");
  CHECK(errorsOf("type A = record\n  more: list of A\n  box: box A\nend\n") == "");
  CHECK(errorsOf("type A = B\ntype B = A\n") != "");
}

TEST_CASE("a misspelt name gets a suggestion") {
  Checked c("func Main\n  let count := 1\n  Print(cuont)\nend");
  CHECK(c.messages().find("perhaps `count`") != std::string::npos);
  Checked d("func Main\n  Pritn(1)\nend");
  CHECK(d.messages().find("perhaps `Print`") != std::string::npos);
}

TEST_CASE("long chains and deep nesting are no problem") {
  std::string sum = "func F(x: int): int\n  return x";
  for (int i = 0; i < 20000; i++) sum += " + x";
  CHECK(errorsOf(sum + "\nend") == "");
  std::string text = "func F(s: string): string\n  return s";
  for (int i = 0; i < 20000; i++) text += " + \"a\"";
  CHECK(errorsOf(text + "\nend") == "");
  std::string logic = "func F(x: int): bool\n  return x = 0";
  for (int i = 0; i < 20000; i++) logic += " or x = 1";
  CHECK(errorsOf(logic + "\nend") == "");
  std::string parens = "func F(x: int): int\n  return " + std::string(400, '(') + "x" + std::string(400, ')') + "\nend";
  CHECK(errorsOf(parens) == "");
}
