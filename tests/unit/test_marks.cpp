// Marks: what is tracked in an instance, and the rules of the tape that depend on it.
#include <doctest/doctest.h>

#include "checked.h"

using namespace mica;

namespace {

Instance instance(const Checked& c, std::string_view name, bool window) {
  Instance i;
  i.decl = c.function(name);
  const Decl& d = c.program.get(i.decl);
  i.extents.assign(d.extentParams.size(), -1);
  for (const ParamDecl& p : d.params) i.params.push_back(p.type);
  i.window = window;
  return i;
}

bool localTracked(Checked& c, const Instance& i, std::string_view name) {
  const InstanceMarks& m = c.marks->of(i);
  const Body& body = *c.program.get(i.decl).body;
  for (size_t k = 0; k < body.locals.size(); k++)
    if (body.locals[k].name == name) return c.program.types.get(m.locals[k]).tracked;
  return false;
}

const char* const Square = R"(func Square(v: vector[2]): vector[2]
  let s := v .* v
  return s
end
)";

}  // namespace

TEST_CASE("a function is tracked where it is called with something tracked in a window") {
  Checked c(Square);
  REQUIRE(c.errors() == "");
  Instance plain = instance(c, "Square", false), open = instance(c, "Square", true);
  CHECK_FALSE(localTracked(c, plain, "s"));
  CHECK_FALSE(localTracked(c, open, "s"));
  plain.params[0] = open.params[0] = c.program.types.withMark(plain.params[0], true);
  CHECK_FALSE(localTracked(c, plain, "s"));          // outside a window it just computes
  CHECK(localTracked(c, open, "s"));
  CHECK(c.program.types.get(c.marks->of(open).result).tracked);
}

TEST_CASE("after Backward operations are plain") {
  Checked c("func Main\n  let w: tracked vector[2] := [1, 2]\n  tape\n    let a := w .* w\n    Backward(Sum(a))\n    let b := w .* w\n    Print(b[0])\n  end\nend\n");
  REQUIRE(c.errors() == "");
  Instance main = instance(c, "Main", false);
  CHECK(localTracked(c, main, "a"));
  CHECK_FALSE(localTracked(c, main, "b"));
}

TEST_CASE("a list gains the marks that a callee puts into it") {
  Checked c("func Push(inout xs: list of vector[2], move x: vector[2])\n  xs += [x]\nend\nfunc Main\n  let w: tracked vector[2] := [1, 2]\n  tape\n"
            "    var parts: list of vector[2] := []\n    Push(inout parts, w .* w)\n    let first := Copy(parts[0])\n    Backward(Sum(first))\n  end\nend\n");
  REQUIRE(c.errors() == "");
  CHECK(localTracked(c, instance(c, "Main", false), "first"));
}

TEST_CASE("wrong for every instance is refused uncalled, and marks of recursion end") {
  CHECK(Checked("func Never(x: float32)\n  Backward(x)\nend\n").errors() == "2 `Backward` stands outside a window\n");
  CHECK(Checked("func Down(x: vector[2], n: int): vector[2]\n  if n = 0 then\n    return Copy(x)\n  end\n  return Down(x .* x, n - 1)\nend\n"
                "func Main\n  let w: tracked vector[2] := [1, 2]\n  tape\n    let y := Down(w, 3)\n    Backward(Sum(y))\n  end\nend\n").errors() == "");
}

TEST_CASE("what a window made does not leave it through names, lists and calls") {
  std::string head = "func Main\n  let w: tracked vector[2] := [1, 2]\n  var kept: list of vector[2] := []\n  tape\n    let h := w .* w\n";
  CHECK(Checked(head + "    kept += [h .* h]\n    Backward(Sum(h))\n  end\n  Print(Length(kept))\nend\n").errors() == "6 this value is recorded on the tape and `kept` outlives the window\n");
  CHECK(Checked(head + "    kept += [Detach(h)]\n    Backward(Sum(h))\n    kept += [Gradient(w)]\n  end\n  Print(Length(kept))\nend\n").errors() == "");
}

TEST_CASE("either state counts as open, and Backward is refused in it") {
  CHECK(Checked("func Main\n  let w: tracked vector[2] := [1, 2]\n  let n := Length(w)\n  tape\n    let a := Sum(w)\n    if n > 1 then\n      Backward(a)\n    end\n    Backward(a)\n  end\nend\n").errors() ==
        "9 the window's tape has already been walked\n");
}
