// The parser: trees of every form, and the messages for what is wrong.
#include <doctest/doctest.h>
#include <string>
#include "frontend/astdump.h"
#include "frontend/parser.h"

using namespace mica;
using namespace mica::ast;

namespace {

struct Parsed {
  Context context;
  Module* module;
  explicit Parsed(std::string text, ParseMode mode = ParseMode::Program) {
    FileId file = context.sources.add("t.mica", std::move(text), context.diagnostics);
    module = parseModule(context, file, mode);
  }
  // `line:column sentence` of every message, a line each.
  std::string errors() const {
    std::string out;
    for (const Diagnostic* d : context.diagnostics.sorted())
      out += std::to_string(d->span.place.line) + ":" + std::to_string(d->span.place.column) + " " + d->sentence + "\n";
    return out;
  }
  std::string messages() const { return context.diagnostics.print(context.sources); }
};

// A dump without places, children in parentheses: `+(a *(b c))`.
std::string compact(const std::string& dump) {
  std::string out;
  size_t depth = 0;
  bool any = false;
  for (size_t at = 0; at < dump.size(); ) {
    size_t end = dump.find('\n', at);
    std::string line = dump.substr(at, end - at);
    at = end + 1;
    size_t indent = line.find_first_not_of(' ') / 2;
    line = line.substr(indent * 2);
    if (size_t place = line.rfind("  @"); place != std::string::npos) line.resize(place);
    if (indent > depth) out += "(";
    for (; depth > indent; depth--) out += ")";
    if (any && out.back() != '(') out += " ";
    depth = indent;
    any = true;
    out += line;
  }
  for (; depth > 0; depth--) out += ")";
  return out;
}

// An expression, as its tree.
std::string tree(const std::string& source) {
  Parsed p("func Main\n  _ := (" + source + ")\nend\n");
  CHECK_MESSAGE(!p.context.diagnostics.hasErrors(), p.messages());
  auto* f = as<FuncDecl>(p.module->declarations[0]);
  return compact(dumpExpr(p.context, as<AssignStmt>(f->body.statements[0])->value));
}

// A type, as its tree.
std::string typeTree(const std::string& source) {
  Parsed p("type T = " + source + "\n");
  CHECK_MESSAGE(!p.context.diagnostics.hasErrors(), p.messages());
  return compact(dumpType(p.context, as<TypeDecl>(p.module->declarations[0])->alias));
}

// The statements of a function's body.
std::string body(const std::string& source) {
  Parsed p("func Main\n" + source + "\nend\n");
  CHECK_MESSAGE(!p.context.diagnostics.hasErrors(), p.messages());
  std::string dump = dumpTree(p.context, *p.module, "Main");
  dump.erase(0, dump.find('\n') + 1);   // the line of the function
  dump.erase(0, dump.find('\n') + 1);   // `body`
  std::string out;
  for (size_t at = 0; at < dump.size(); ) {
    size_t end = dump.find('\n', at);
    out += dump.substr(at + 4, end - at - 3);
    at = end + 1;
  }
  return compact(out);
}

std::string errors(const std::string& source) { return Parsed(source).errors(); }
std::string bodyErrors(const std::string& source) { return errors("func Main\n" + source + "\nend\n"); }

std::string repeat(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; i++) out += text;
  return out;
}

}  // namespace

TEST_CASE("parser: precedence") {
  CHECK(tree("a + b * c") == "+(a *(b c))");
  CHECK(tree("a - b - c") == "-(-(a b) c)");
  CHECK(tree("-a.b * c") == "*(-(.b(a)) c)");
  CHECK(tree("bnot a band b bor c") == "bor(band(bnot(a) b) c)");
  CHECK(tree("a shl 24 bor b shl 16") == "bor(shl(a 24) shl(b 16))");
  CHECK(tree("not a = b and c or d") == "or(and(not(=(a b)) c) d)");
  CHECK(tree("a = not b and c") == "and(=(a not(b)) c)");
  CHECK(tree("x in '0' .. '9' or y = 1") == "or(in(x ..(char \"0\" char \"9\")) =(y 1))");
  CHECK(tree("a ..< a + K") == "..<(a +(a K))");
  CHECK(tree("x .* y ./ z +% w") == "+%(./(.*(x y) z) w)");
  CHECK(tree("try F(x) + try G()") == "+(try(call(F x)) try(call(G)))");
  CHECK(tree("-2 .. -1") == "..(-(2) -(1))");
}

TEST_CASE("parser: postfix forms") {
  CHECK(tree("f[T](x)") == "call(index(f T) x)");
  CHECK(tree("x[i, ..]") == "index(x i whole)");
  CHECK(tree("x[a ..< b, ..][0]") == "index(index(x ..<(a b) whole) 0)");
  CHECK(tree("x[a ..]") == "index(x ..(a))");
  CHECK(tree("x[1 .., 0][2]") == "index(index(x ..(1) 0) 2)");
  CHECK(tree("counts[w, otherwise: 0]") == "index(counts w otherwise:(0))");
  CHECK(tree("F(a, rate: 0.1, rng: inout rng, inout x.y)") == "call(F a rate:(0.1) rng: inout(rng) inout(.y(x)))");
  CHECK(tree("pair.0.1") == ".1(.0(pair))");
  CHECK(tree("NewLru[string, list of int](2)") == "call(index(NewLru string type list(type int)) 2)");
  CHECK(tree("LoadCheckpoint[State[?]](o.load)") == "call(index(LoadCheckpoint index(State type ?)) .load(o))");
  CHECK(tree("F[_, matrix[2, N] of int32, int?]()") ==
        "call(index(F _ type matrix(2 N of(type int32)) type optional(type int)))");
  CHECK(tree("F[vector[N] on gpu, tracked float64, map of string to int, (int, string)]()") ==
        "call(index(F type on gpu(type vector(N)) type tracked(type float64) type map(type string type int) tuple(int string)))");
  CHECK(tree("F[func(int): bool, func()]()") == "call(index(F type func(param(type int) result(type bool)) type func))");
}

TEST_CASE("parser: literals and containers") {
  CHECK(tree("[[1, 2], [3, 4]]") == "list(list(1 2) list(3 4))");
  CHECK(tree("{}") == "{}");
  CHECK(tree("{1, 2}") == "set(1 2)");
  CHECK(tree("{\"a\": 1, \"b\": 2}") == "map(\"a\"(1) \"b\"(2))");
  CHECK(tree("(a, b)") == "tuple(a b)");
  CHECK(tree("((a))") == "a");
  CHECK(tree("[\n  1,\n  2,\n]") == "list(1 2)");
  CHECK(tree("[F(i) for i in 0 ..< n by 2]") == "comprehension(call(F i) in(name i ..<(0 n) by(2)))");
  CHECK(tree("[F(i) parallel for i in xs]") == "comprehension parallel(call(F i) in(name i xs))");
  CHECK(tree("[k for (k, v) in m]") == "comprehension(k in(tuple(name k name v) m))");
  CHECK(tree("\"a{x:.4f}b{y}\"") == "string(\"a\" format \".4f\"(x) \"b\" y)");
  CHECK(tree("\"{F(\"x\")}\"") == "string(call(F \"x\"))");
}

TEST_CASE("parser: forms with words") {
  CHECK(tree("if a then b elif c then d else e") == "if(a then(b) c then(d) else(e))");
  CHECK(tree("if let x := m then x else 0") == "if(let(name x m) then(x) else(0))");
  CHECK(tree("if c then try F() else v") == "if(c then(try(call(F))) else(v))");
  CHECK(tree("if c then (try F() else v) else w") == "if(c then(try(call(F) else(v))) else(w))");
  CHECK(tree("try Find(m, k) else return none") == "try(call(Find m k) else(return(none)))");
  CHECK(tree("try (try F()) else break") == "try(try(call(F)) else(break))");
  CHECK(tree("match x case 1 then a case 2, 3 .. 4 then b else fail E(c: 1) end") ==
        "match(x case(1 a) case(2 ..(3 4) b) else(fail(call(E c:(1)))))");
  CHECK(tree("(a, b) => a + b") == "closure(param a param b +(a b))");
  CHECK(tree("move (x) => x") == "closure move(param x x)");
  CHECK(tree("(inout x) => F(inout x)") == "closure(param inout x call(F inout(x)))");
  CHECK(tree("() => 1") == "closure(1)");
  CHECK(tree("F(xs, func(x: int): int fails E\n  total += x\n  return x\nend)") ==
        "call(F xs closure(param x(type int) result(type int) fails E body(+=(total x) return(x))))");
  CHECK(tree("move func(a, b: int) return end") == "closure move(param a(type int) param b(type int) body(return))");
  CHECK(tree("spawn Net.F(x)") == "spawn(call(.F(Net) x))");
}

TEST_CASE("parser: types") {
  CHECK(typeTree("vector[N] of int32 on gpu") == "type on gpu(type vector(N of(type int32)))");
  CHECK(typeTree("list of matrix[2, 2] on gpu") == "type list(type on gpu(type matrix(2 2)))");
  CHECK(typeTree("list of int?") == "type list(type optional(type int))");
  CHECK(typeTree("(list of byte)?") == "type optional(type list(type byte))");
  CHECK(typeTree("tracked matrix[V, 4 * Width]") == "type tracked(type matrix(V *(4 Width)))");
  CHECK(typeTree("array[4] of tracked float64") == "type array(4 type tracked(type float64))");
  CHECK(typeTree("map of string to list of int") == "type map(type string type list(type int))");
  CHECK(typeTree("set of Random.Generator") == "type set(type Random.Generator)");
  CHECK(typeTree("func(A, inout B, move C): read D fails E") ==
        "type func(param(type A) param inout(type B) param move(type C) result read(type D) fails E)");
  CHECK(typeTree("Gpt[?] on gpu") == "type on gpu(type Gpt(type ?))");
  CHECK(typeTree("tracked vector[2] on gpu?") == "type optional(type tracked on gpu(type vector(2)))");
  CHECK(typeTree("(int, list of int)") == "type tuple(type int type list(type int))");
  CHECK(typeTree("box Tree") == "type box(type Tree)");
  CHECK(typeTree("shared list of int") == "type shared(type list(type int))");
  CHECK(typeTree("stream of (int, string)") == "type stream(type tuple(type int type string))");
  CHECK(typeTree("simd[8] of float32") == "type simd(8 of(type float32))");
}

TEST_CASE("parser: types that were read as expressions") {
  Parsed p("func Main\n  F[State[?], matrix[2, 3], (int, Net.Connection), list of int, array[3], 4]()\nend\n");
  auto* f = as<FuncDecl>(p.module->declarations[0]);
  auto* call = as<CallExpr>(as<ExprStmt>(f->body.statements[0])->value);
  auto args = as<IndexExpr>(call->callee)->args;
  auto of = [&](size_t i) {
    TypeExpr* type = typeFromExpr(p.context, args[i].value);
    return type ? compact(dumpType(p.context, type)) : "";
  };
  CHECK(of(0) == "type State(type ?)");
  CHECK(of(1) == "type matrix(2 3)");
  CHECK(of(2) == "type tuple(type int type Net.Connection)");
  CHECK(of(3) == "type list(type int)");
  CHECK(of(4) == "");
  CHECK(of(5) == "");
}

TEST_CASE("parser: statements") {
  CHECK(body("let x := 1; var y: int := 2\nlet inout z := a.b\nlet (p, _) := t\nconst K = 3") ==
        "let(name x 1) var(name y type int 2) let inout(name z .b(a)) let(tuple(name p _) t) const K(3)");
  CHECK(body("(a, b) := (b, a)\n_ := F()\nx[i] += 1\nx -= 1; x *= 2; x /= 3") ==
        ":=(tuple(a b) tuple(b a)) :=(_ call(F)) +=(index(x i) 1) -=(x 1) *=(x 2) /=(x 3)");
  CHECK(body("if a then b() elif let inout c := d then e() else f() end") ==
        "if(a then(do(call(b))) let inout(name c d) then(do(call(e))) else(do(call(f))))");
  CHECK(body("while let x := Take(inout m) do break end\nloop do continue end") ==
        "while(let(name x call(Take inout(m))) do(break)) loop(do(continue))");
  CHECK(body("for i in 0 ..< n by 2 do end\nfor i, x in xs do end\nfor (k, v) in m do end\nfor inout x in xs do end\nfor move _ in xs do end") ==
        "for(in(name i ..<(0 n) by(2)) do) for(in(index(name i) name x xs) do) for(in(tuple(name k name v) m) do) "
        "for(in inout(name x xs) do) for(in move(_ xs) do)");
  CHECK(body("parallel for i in 0 ..< 4 do x[i, ..] := y end") ==
        "parallel for(in(name i ..<(0 4)) do(:=(index(x i whole) y)))");
  CHECK(body("match inout v\n  case '-', '0' .. '9' then a()\n  case Object(fields) if n < 2 then b()\n"
             "  case Shape.Circle(r: radius) then\n  case none then\n  case -1 then\n  case (1, _) then\n  case Low ..< High then\n  else c()\nend") ==
        "match inout(v case(char \"-\" ..(char \"0\" char \"9\") then(do(call(a)))) "
        "case(of Object(name fields) if(<(n 2)) then(do(call(b)))) case(of Shape.Circle(r:(name radius)) then) "
        "case(none then) case(-(1) then) case(tuple(1 _) then) case(..<(Low High) then) else(then(do(call(c)))))");
  CHECK(body("assert c, \"text\"\nassert d") == "assert(c \"text\") assert(d)");
  CHECK(body("tape\n  each p, q at path in a.b, c do\n    p -= q\n  end\nend") ==
        "tape(body(each p q at path(.b(a) c do(-=(p q)))))");
  CHECK(body("tasks limit: 2\n  let h := spawn F(x)\n  spawn G(inout y)\nend") ==
        "tasks(limit(2) body(let(name h spawn(call(F x))) do(spawn(call(G inout(y))))))");
  CHECK(body("attempt\n  F()\nrecover e: Singular\n  G()\nrecover e: Net.Down\nrecover _: any\n  return\nend") ==
        "attempt(body(do(call(F))) recover e: Singular(then(do(call(G)))) recover e: Net.Down(then) recover _: any(then(return)))");
  CHECK(body("fail Empty") == "fail(Empty)");
}

TEST_CASE("parser: soft words as names") {
  CHECK(body("var tape := 1\ntape += 2\nvar each := 1\neach := 3\nvar tasks := [1]\ntasks[0] := 2\nlet record := test.at + by.of * gpu\nlet list := map(set)") ==
        "var(name tape 1) +=(tape 2) var(name each 1) :=(each 3) var(name tasks list(1)) :=(index(tasks 0) 2) "
        "let(name record +(.at(test) *(.of(by) gpu))) let(name list call(map set))");
}

TEST_CASE("parser: line ends") {
  CHECK(body("x := a +\n  b\ny := F(a\n  , b)\n[1]\n(2)") == ":=(x +(a b)) :=(y call(F a b)) do(list(1)) do(2)");
  CHECK(body("let x := if a\n  then b\n  else c") == "let(name x if(a then(b) else(c)))");
  CHECK(body("let x: int :=\n  3\nreturn\nx := 1") == "let(name x type int 3) return :=(x 1)");
  CHECK(body("F(func(x: int)\n  a := x\n  b := x\nend)") == "do(call(F closure(param x(type int) body(:=(a x) :=(b x)))))");
}

TEST_CASE("parser: a dangling else") {
  CHECK(body("if a then x := try F() else x := 1 end") == "if(a then(:=(x try(call(F)))) else(:=(x 1)))");
  CHECK(body("if a then\n  x := try F() else 1\nelse\n  y()\nend") ==
        "if(a then(:=(x try(call(F) else(1)))) else(do(call(y))))");
  CHECK(body("if a then\n  x := try F()\nelse return end") == "if(a then(:=(x try(call(F)))) else(return))");
  CHECK(body("match v\n  case 1 then return try F() else 2\n  case 2 then x := try F()\n  else y()\nend") ==
        "match(v case(1 then(return(try(call(F) else(2))))) case(2 then(:=(x try(call(F))))) else(then(do(call(y)))))");
  CHECK(body("if a then for b in c do x := try F() else 1 end end") ==
        "if(a then(for(in(name b c) do(:=(x try(call(F) else(1)))))))");
  CHECK(body("let x := try F()\n  else 1") == "let(name x try(call(F) else(1)))");
}

TEST_CASE("parser: declarations") {
  Parsed p(R"(/// About the file.

import Args, Files

/// Many.
const
  /// One.
  A = 1     // remark
  B: float32 = 2.0

pub const C = 3
type Node[K: Ordered and Copyable, V] = record
  /// The key.
  key: K
  left, right: box Node[K, V]?
  rate: float32 := 0.1
end
type Shape = choice
  Circle(r: float64); Box(w, h: float64)
  Empty
end
type Device = Node[int, ?] on gpu
failure Bad(line, column: int) = "{line}:{column}"
failure Empty
@inline @export("f")
pub func F[N](inout a: vector[N], b, c: int := 2, f: func(int) fails X, g: int): read T? fails A, Files.B
  return a
end
/// Runs.
func Main fails any
end
test "a test"
end
)");
  CHECK(p.messages() == "");
  REQUIRE(p.module->declarations.size() == 12);
  CHECK(p.context.text(p.module->name) == "t");
  REQUIRE(p.module->doc.size() == 1);
  CHECK(p.module->doc[0] == "About the file.");
  CHECK(as<ConstDecl>(p.module->declarations[1])->doc[0] == "One.");
  CHECK(p.module->declarations[3]->isPub);
  CHECK(as<TypeDecl>(p.module->declarations[4])->fields[1].type == as<TypeDecl>(p.module->declarations[4])->fields[2].type);
  CHECK(as<TypeDecl>(p.module->declarations[5])->cases.size() == 3);
  auto* f = as<FuncDecl>(p.module->declarations[9]);
  CHECK(f->isPub);
  CHECK(f->attributes.size() == 2);
  CHECK(f->params.size() == 5);
  CHECK(compact(dumpTree(p.context, *p.module, "F")) ==
        "@inline @export(\"f\") pub func F [N](param inout a(type vector(N)) param b(type int default(2)) param c(type int default(2)) "
        "param f(type func(param(type int) fails X)) param g(type int) result read(type optional(type T)) fails A Files.B body(return(a)))");
  CHECK(p.module->declarations[10]->doc[0] == "Runs.");
  CHECK(f->nodes.end.expr > f->nodes.begin.expr);
  CHECK(as<FuncDecl>(p.module->declarations[10])->nodes.begin.expr == f->nodes.end.expr);
}

TEST_CASE("parser: signatures and scripts") {
  Parsed s("func Softmax[S..., N](x: tensor[S..., N]): tensor[S..., N]\nfunc Sum(x: F): F\n", ParseMode::Signatures);
  CHECK(s.messages() == "");
  REQUIRE(s.module->declarations.size() == 2);
  CHECK(!as<FuncDecl>(s.module->declarations[0])->hasBody);
  Parsed n("func F(): int\n  return 1\nend\nlet x := F()\nconst K = 2\nif x = 1 then Print(x) end\nx + K\n", ParseMode::Script);
  CHECK(n.messages() == "");
  CHECK(n.module->declarations.size() == 2);
  CHECK(n.module->script.statements.size() == 3);
}

TEST_CASE("parser: places and lengths") {
  Parsed p("func Main\n  x := aa + bb(1, 2) * c\nend\n");
  auto* assign = as<AssignStmt>(as<FuncDecl>(p.module->declarations[0])->body.statements[0]);
  auto* sum = as<BinaryExpr>(assign->value);
  CHECK(sum->place == Place{1, 2, 8});
  CHECK(sum->opPlace == Place{1, 2, 11});
  CHECK(p.context.sources.quote(sum->span()) == "aa + bb(1, 2) * c");
  CHECK(p.context.sources.quote(sum->right->span()) == "bb(1, 2) * c");
  CHECK(p.context.sources.quote(assign->span()) == "x := aa + bb(1, 2) * c");
  CHECK(p.context.sources.quote(p.module->declarations[0]->span()) == "func Main\n  x := aa + bb(1, 2) * c\nend");
}

TEST_CASE("parser: messages for expressions") {
  CHECK(bodyErrors("  x := 1 < y < 3 < 4") == "2:14 comparisons do not chain\n");
  CHECK(bodyErrors("  x := a + not b") == "2:12 `not` binds looser than the operator before it\n");
  CHECK(bodyErrors("  x = 2") == "2:5 `=` compares, and this is a statement\n");
  CHECK(bodyErrors("  if x == 2 then end") == "2:9 `==` is no operator\n");
  CHECK(bodyErrors("  let x = 2") == "2:9 `=` compares\n");
  CHECK(bodyErrors("  x := (1 + 2\n  y := 3") == "2:14 `)` is missing\n");
  CHECK(bodyErrors("  x := F(a,\n    b c,\n    d)\n  y := )") ==
        "3:7 `)` is missing before `c`\n5:8 an expression is expected here, not `)`\n");
  CHECK(bodyErrors("  a, b := b, a") == "2:4 a `,` stands outside of brackets\n");
  CHECK(bodyErrors("  x := 5 5") == "2:10 the statement is complete before `5`\n");
  CHECK(bodyErrors("  + 3") == "2:3 a statement cannot begin with `+`\n");
  CHECK(bodyErrors("  Print(\"{}\")") == "2:11 an interpolation is empty\n");
  CHECK(bodyErrors("  x := if a then b") == "2:19 `else` is expected here\n");
  CHECK(bodyErrors("  x := try try F()") == "2:12 `try` stands twice\n");
  CHECK(bodyErrors("  let end := 1\n  Print(1)") == "2:7 `end` is a word of the language and cannot be a variable\n");
  CHECK(bodyErrors("  Print(\"no end)\n  x := 1") == "2:9 this string does not end on its line\n");
}

TEST_CASE("parser: messages for blocks") {
  CHECK(errors("func A\n  if x then\n    y()\nend\n\nfunc B\nend\n") == "2:3 this `if` is not closed\n");
  CHECK(errors("func A\n  if x then\n    y()\n  end\n\nfunc B\nend\n") == "1:1 this `func` is not closed\n");
  CHECK(errors("func A\n  tape\n    y()\n") == "2:3 this `tape` is not closed\n");
  CHECK(errors("type R = record\n  a: int\n\nfunc B\nend\n") == "1:10 this `record` is not closed\n");
  CHECK(errors("func A\nend\nend\nfunc B\nend\n") == "3:1 this `end` closes nothing\n");
  CHECK(errors("func A\n  if x\n    y()\n  end\nend\n") == "2:7 `then` is missing after the condition\n");
  CHECK(errors("func A\n  for i in 0 ..< 3\n    y()\n  end\nend\n") == "2:19 `do` is missing after the head of the loop\n");
  CHECK(errors("func A\n  else\n  y()\nend\n") == "2:3 this `else` belongs to no `if`\n");
  CHECK(errors("func A\n  func B(x: int)\n    y()\n  end\n  z()\nend\n") == "2:3 a function is declared at the level of the file\n");
  CHECK(errors("func A(\n  let x := 1\nend\nfunc B\nend\n") == "1:7 this `(` is not closed\n");
  CHECK(errors("x := 1\ny := 2\nfunc A\nend\n") == "1:1 a declaration is expected here, not `x`\n");
  CHECK(errors("func A(int x)\nend\n") == "1:12 `:` is missing after the name of the parameter\n");
  CHECK(errors("func A\n  attempt\n    y()\n  end\nend\n") == "2:3 this `attempt` has no `recover`\n");
  CHECK(errors("const K := 2\n") == "1:9 a constant stands for its value\n");
  CHECK(errors("type R = record\n  a: list of\n  b: vector\n  c int\nend\n") ==
        "2:13 a type is expected here\n3:6 the extents of this tensor are missing\n4:5 `:` and the type of the field are missing before `int`\n");
  Parsed p("func A\n  if a then\n    x()\n  else if b then\n    y()\n  end\nend\n");
  CHECK(p.errors() == "2:3 this `if` is not closed\n");
  CHECK(p.messages().find("`elif` does not") != std::string::npos);
}

TEST_CASE("parser: deep and long") {
  auto once = [](const std::string& text) {
    Parsed p("func Main\n  x := " + text + "\nend\n");
    REQUIRE(p.context.diagnostics.all().size() == 1);
    CHECK(p.context.diagnostics.all()[0].sentence == "this nests deeper than 1000 levels");
  };
  const int n = 100000;
  once(repeat("(", n) + "1" + repeat(")", n));
  once(repeat("[", n) + "1" + repeat("]", n));
  once(repeat("-", n) + "1");
  once(repeat("not ", n) + "1");
  once("a" + repeat("[0]", n));
  once(repeat("\"{", n) + "1" + repeat("}\"", n));
  once(repeat("if a then b else ", n) + "c");
  once(repeat("(a) => ", n) + "c");
  once("F[" + repeat("list of ", n) + "int]()");
  CHECK(errors("func Main\n" + repeat("if a then ", n) + repeat("end ", n) + "\nend\n") == "2:9994 this nests deeper than 1000 levels\n");
  Parsed sum("func Main\n  x := a" + repeat(" + a", n) + "\nend\n");
  CHECK(sum.messages() == "");
  CHECK(dumpTree(sum.context, *sum.module).size() > size_t(n));
  Parsed elifs("func Main\n  if a then b()\n" + repeat("  elif c then d()\n", n) + "  end\nend\n");
  CHECK(elifs.messages() == "");
  CHECK(Parsed("func Main\n" + repeat("  x := 1\n", 400000) + "end\n").errors() == "");
}
