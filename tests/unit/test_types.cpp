// Types and extents: equal structures are equal ids, polynomials are normalised, substitution, printing.
#include <doctest/doctest.h>

#include "frontend/check.h"

using namespace mica;

namespace {

struct Table {
  Program p;
  TypeTable& t = p.types;
  DeclId f{0};
  Table() {
    Decl d;
    d.name = "F";
    d.typeParams.push_back({"T", 0});
    d.extentParams = {"N", "M"};
    p.decls.push_back(std::move(d));
  }
  ExtentId n() { return t.name(f, 0, "N"); }
  ExtentId m() { return t.name(f, 1, "M"); }
  ExtentId k(int64_t v) { return t.constant(v); }
  TypeId parameter() {
    Type x;
    x.kind = Kind::Parameter;
    x.decl = f;
    return t.intern(x);
  }
};

}  // namespace

TEST_CASE("equal types are one id") {
  Table a;
  TypeId f32 = a.t.scalar(Kind::Float32);
  CHECK(a.t.list(f32) == a.t.list(f32));
  CHECK(a.t.list(f32) != a.t.set(f32));
  CHECK(a.t.tensor(f32, {a.k(2), a.k(3)}) == a.t.tensor(f32, {a.k(2), a.k(3)}));
  CHECK(a.t.tensor(f32, {a.k(2)}) != a.t.tensor(f32, {a.k(3)}));
  CHECK(a.t.tuple({f32, f32}) != a.t.tuple({f32}));
}

TEST_CASE("the mark `tracked` makes no type unequal") {
  Table a;
  TypeId plain = a.t.tensor(a.t.scalar(Kind::Float32), {a.n()}), marked = a.t.withMark(plain, true);
  CHECK(plain != marked);
  CHECK(a.t.same(plain, marked));
  CHECK(a.t.unmarked(marked) == plain);
  CHECK(a.t.same(a.t.list(marked), a.t.list(plain)));
  CHECK(a.t.unmarked(a.t.list(marked)) == a.t.list(plain));
  CHECK(a.t.withMark(marked, false) == plain);
}

TEST_CASE("an error agrees with everything, at any depth") {
  Table a;
  TypeId e = a.t.scalar(Kind::Error), i = a.t.scalar(Kind::Int64);
  CHECK(a.t.same(e, i));
  CHECK(a.t.same(a.t.list(e), a.t.list(i)));
  CHECK(a.t.same(a.t.map(i, e), a.t.map(i, a.t.list(i))));
  CHECK_FALSE(a.t.same(a.t.list(e), a.t.set(i)));
  CHECK(a.t.hasError(a.t.optional(a.t.list(e))));
}

TEST_CASE("extents are normalised polynomials") {
  Table a;
  CHECK(a.t.add(a.n(), a.n()) == a.t.multiply(a.k(2), a.n()));
  CHECK(a.t.add(a.n(), a.m()) == a.t.add(a.m(), a.n()));
  CHECK(a.t.subtract(a.t.add(a.n(), a.m()), a.m()) == a.n());
  CHECK(a.t.multiply(a.t.add(a.n(), a.k(1)), a.t.subtract(a.n(), a.k(1))) == a.t.subtract(a.t.multiply(a.n(), a.n()), a.k(1)));
  CHECK(a.t.subtract(a.n(), a.n()) == a.k(0));
  CHECK(a.n() != a.m());
  CHECK(a.n() != a.k(3));
  int64_t v = 0;
  CHECK(a.t.isConstant(a.t.multiply(a.k(6), a.k(7)), &v));
  CHECK(v == 42);
}

TEST_CASE("opaque terms are equal when written equal") {
  Table a;
  auto half = [&](ExtentId x) { return a.t.opaque(Atom::Form::Div, x, a.k(2)); };
  CHECK(half(a.n()) == half(a.n()));
  CHECK(half(a.n()) != half(a.m()));
  CHECK(half(a.t.add(a.n(), a.n())) == half(a.t.multiply(a.n(), a.k(2))));
  CHECK(half(a.k(7)) == a.k(3));
  CHECK(a.t.opaque(Atom::Form::Mod, a.k(-7), a.k(3)) == a.k(2));
  CHECK(a.t.opaque(Atom::Form::Min, a.n(), a.m()) == a.t.opaque(Atom::Form::Min, a.m(), a.n()));
}

TEST_CASE("what does not fit 64 bits, and `?`, is open") {
  Table a;
  CHECK(a.t.isOpen(a.t.multiply(a.k(INT64_MAX), a.k(2))));
  CHECK(a.t.isOpen(a.t.add(a.t.open(), a.n())));
  ExtentId p = a.t.add(a.n(), a.m());
  for (int i = 0; i < 8; i++) p = a.t.multiply(p, p);
  CHECK(a.t.isOpen(p));
}

TEST_CASE("substitution reaches extents, opaque terms and type arguments") {
  Table a;
  TypeId x = a.t.tensor(a.parameter(), {a.t.opaque(Atom::Form::Div, a.n(), a.k(2)), a.t.multiply(a.m(), a.k(3))});
  TypeId y = a.t.substitute(x, a.f, {a.t.scalar(Kind::Float64)}, {a.k(8), a.t.open()});
  CHECK(show(a.p, y) == "matrix[4, ?] of float64");
  CHECK(a.t.substitute(x, DeclId{5}, {a.t.scalar(Kind::Float64)}, {a.k(8)}) == x);
}

TEST_CASE("types are written as in programs") {
  Table a;
  TypeId f32 = a.t.scalar(Kind::Float32), i = a.t.scalar(Kind::Int64);
  CHECK(show(a.p, a.t.tensor(f32, {a.t.add(a.n(), a.k(1)), a.k(3)})) == "matrix[N + 1, 3]");
  CHECK(show(a.p, a.t.tensor(i, {a.t.multiply(a.n(), a.k(2))})) == "vector[N * 2] of int");
  CHECK(show(a.p, a.t.optional(a.t.list(i))) == "(list of int)?");
  CHECK(show(a.p, a.t.list(a.t.optional(i))) == "list of int?");
  CHECK(show(a.p, a.t.map(a.t.scalar(Kind::String), a.t.tuple({i, f32}))) == "map of string to (int, float32)");
  CHECK(showWithArticle(a.p, i) == "an int");
  CHECK(showWithArticle(a.p, a.t.scalar(Kind::UInt32)) == "a uint32");
  CHECK(showWithArticle(a.p, a.t.array(i, a.k(2))) == "an array[2] of int");
}

TEST_CASE("traits follow the parts") {
  Table a;
  TypeId i = a.t.scalar(Kind::Int64), s = a.t.scalar(Kind::String);
  CHECK(copies(a.p, a.t.tuple({i, i})));
  CHECK_FALSE(copies(a.p, a.t.tuple({i, s})));
  CHECK(copies(a.p, a.t.optional(i)));
  CHECK_FALSE(copies(a.p, a.t.list(i)));
  CHECK(isHashable(a.p, a.t.list(s)));
  CHECK_FALSE(isHashable(a.p, a.t.map(i, i)));
  CHECK_FALSE(isOrdered(a.p, a.t.optional(i)));
  CHECK_FALSE(isEquatable(a.p, a.parameter()));
}
