// The canonical layout: what it does to lines, blanks, brackets, alignment and comments.
#include <doctest/doctest.h>
#include <string>
#include "frontend/formatter.h"

using namespace mica;

namespace {

std::string formatted(const std::string& text) {
  Context context;
  FileId file = context.sources.add("t.mica", text, context.diagnostics);
  std::optional<std::string> out = formatFile(context, file);
  REQUIRE_MESSAGE(out, context.diagnostics.print(context.sources));
  return *out;
}

// Formats to the wanted text, which stays as it is when formatted again.
void check(const std::string& text, const std::string& wanted) {
  CHECK(formatted(text) == wanted);
  CHECK(formatted(wanted) == wanted);
}

}  // namespace

TEST_CASE("formatter: blanks between tokens") {
  check("func  Main( inout a:list   of int,b :int:=2 ) :int? fails  A ,B\nx:=-a [ i ]+F( a,b , rate :- 1 )*( c-1 )\ny:= [ 1,2 ][0];z:={ }\nw:=m[ i,.. ][a..<b]\nPrint( \"{ x :5}{ F( 1 ) }\" )\nend\n",
        "func Main(inout a: list of int, b: int := 2): int? fails A, B\n  x := -a[i] + F(a, b, rate: -1) * (c - 1)\n  y := [1, 2][0]; z := {}\n"
        "  w := m[i, ..][a ..< b]\n  Print(\"{x:5}{F(1)}\")\nend\n");
  check("func F[T:Ordered and Copyable,N](f:func (T ,inout U):R,x:T?)\nlet y:=not(a)and -b<- 1\nlet z:=move(a,_)=>a\nF[State[ ? ]]( )\ntry( try F( ) )\nend",
        "func F[T: Ordered and Copyable, N](f: func(T, inout U): R, x: T?)\n  let y := not (a) and -b < -1\n  let z := move (a, _) => a\n  F[State[?]]()\n  try (try F())\nend\n");
}

TEST_CASE("formatter: indentation of blocks") {
  check("func A\nif a then\nb()\nelif c then\nd()\nelse\nfor i in x do\ne()\nend\nend\nmatch v\ncase 1 then f()\ncase 2 then\ng()\nelse\nh()\nend\n"
        "attempt\ntape\nk()\nend\nrecover e: any\nl()\nend\nlet m := match n\ncase 1 then 2\ncase 3 then\n4\nelse 5\nend\nend\n",
        "func A\n  if a then\n    b()\n  elif c then\n    d()\n  else\n    for i in x do\n      e()\n    end\n  end\n  match v\n    case 1 then f()\n    case 2 then\n"
        "      g()\n    else\n      h()\n  end\n  attempt\n    tape\n      k()\n    end\n  recover e: any\n    l()\n  end\n  let m := match n\n    case 1 then 2\n"
        "    case 3 then\n      4\n    else 5\n  end\nend\n");
  check("const\nA=1\nB:int=2\ntype R=record\na,b:int\nend\ntype C=choice\nX( a:int )\nY\nend\n@inline\npub func F\nend\n",
        "const\n  A = 1\n  B: int = 2\ntype R = record\n  a, b: int\nend\ntype C = choice\n  X(a: int)\n  Y\nend\n@inline\npub func F\nend\n");
}

TEST_CASE("formatter: lines that go on") {
  check("func A(b: int,\nc: int):\nint\nlet x :=\n1 +\n2\nF(a,\nb)\nG(\na,\nb\n)\nH(func(x: int)\ny := x\nend)\nif a and\nb then\nc()\nend\nlet z := if a\nthen b\nelse c\nend\n",
        "func A(b: int,\n       c: int):\n    int\n  let x :=\n    1 +\n    2\n  F(a,\n    b)\n  G(\n    a,\n    b\n  )\n  H(func(x: int)\n    y := x\n  end)\n  if a and\n      b then\n    c()\n  end\n"
        "  let z := if a\n    then b\n    else c\nend\n");
}

TEST_CASE("formatter: alignment is kept where there is some") {
  check("type R = record\n  a,  b: int\n  query, key: int\n  up:         float32\nend\n", "type R = record\n  a, b: int\n  query, key: int\n  up:         float32\nend\n");
  check("func A\n  x     := 1\n  width := 2\n  y  := 3\n\n  long := 4\nend\n", "func A\n  x     := 1\n  width := 2\n  y := 3\n\n  long := 4\nend\n");
}

TEST_CASE("formatter: comments and blank lines") {
  check("\n\n// head\n\n\n\nfunc A   // tail  \n\n      // before b\n  b()//x\n    // last\nend\n\n\n// end\n\n",
        "// head\n\nfunc A   // tail\n\n  // before b\n  b() //x\n  // last\nend\n\n// end\n");
  check("func A\n  match a\n    case 1 then\n      b()\n      // of the arm\n    // before the case\n    case 2 then c()\n  end\nend\n",
        "func A\n  match a\n    case 1 then\n      b()\n      // of the arm\n    // before the case\n    case 2 then c()\n  end\nend\n");
  check("func A\r\n  x := \"\"\"a\r\n b\"\"\" // c\r\nend", "func A\n  x := \"\"\"a\n b\"\"\" // c\nend\n");
  check("", "");
  check("// only", "// only\n");
}

TEST_CASE("formatter: what does not parse is not formatted") {
  Context context;
  FileId file = context.sources.add("t.mica", "func A\n  x := (\nend\n", context.diagnostics);
  CHECK(!formatFile(context, file));
  CHECK(context.diagnostics.hasErrors());
}
