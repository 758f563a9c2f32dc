// Objects as bytes: what is written reads back equal, damage is refused, and reading is quick enough for every start.
#include <chrono>
#include <random>

#include "elf/merge.h"
#include "test_elf.h"

using namespace elftest;

namespace {

Object sample() {
  Build b;
  uint32_t outer = b.place("a.mica", 3, "Main.F"), inner = b.place("b.mica", 9, "Library.G", outer);
  ObjectFunction& f = b.function("Main.F");
  b.code(f, "e8 00 00 00 00", "Library.G");
  f.lines = {{0, outer}, {2, inner}, {4, NoPlace}};
  f.place = outer;
  b.data("str.0", "text", 3, 2, true);
  ObjectData& d = b.data("Main.Table", std::string(8, '\0'), 100, 4096, false);
  d.relocs = {{0, RelocKind::Abs64, 0, -7}};
  return b.object;
}

void checkEqual(const Object& a, const Object& b) {
  CHECK(a.symbols == b.symbols);
  REQUIRE(a.functions.size() == b.functions.size());
  for (size_t i = 0; i < a.functions.size(); i++) {
    const ObjectFunction &f = a.functions[i], &g = b.functions[i];
    bool same = f.symbol == g.symbol && f.code == g.code && f.relocs == g.relocs && f.lines == g.lines && f.align == g.align && f.place == g.place;
    CHECK(same);
  }
  REQUIRE(a.data.size() == b.data.size());
  for (size_t i = 0; i < a.data.size(); i++) {
    const ObjectData &d = a.data[i], &e = b.data[i];
    bool same = d.symbol == e.symbol && d.bytes == e.bytes && d.zeros == e.zeros && d.align == e.align && d.readOnly == e.readOnly && d.relocs == e.relocs;
    CHECK(same);
  }
  REQUIRE(a.places.size() == b.places.size());
  for (size_t i = 0; i < a.places.size(); i++) {
    const auto &p = a.places[i], &q = b.places[i];
    bool same = p.file == q.file && p.line == q.line && p.column == q.column && p.function == q.function && p.inlinedAt == q.inlinedAt;
    CHECK(same);
  }
}

}  // namespace

TEST_CASE("object: written and read again it is the same") {
  Object object = sample(), again;
  std::string bytes = serialize(object), error;
  CHECK(bytes == serialize(sample()));
  REQUIRE_MESSAGE(deserialize(bytes, again, error), error);
  checkEqual(object, again);
  CHECK(serialize(again) == bytes);
  Object none;
  REQUIRE(deserialize(serialize(none), again, error));
  checkEqual(none, again);
}

TEST_CASE("object: a view finds names without copying") {
  std::string bytes = serialize(sample()), error;
  auto view = ObjectView::open(bytes, error);
  REQUIRE(view);
  CHECK(view->defines("Main.F"));
  CHECK(view->defines("Main.Table"));
  CHECK_FALSE(view->defines("Library.G"));
  CHECK_FALSE(view->defines("Main.E"));
  CHECK(view->find("Library.G") != ObjectView::Undefined);
  CHECK(view->function(0).code.data() >= bytes.data());
}

TEST_CASE("object: every cut and every flipped bit is refused or harmless") {
  std::string bytes = serialize(sample()), error;
  for (size_t n = 0; n < bytes.size(); n++) CHECK_FALSE(ObjectView::open(std::string_view(bytes).substr(0, n), error));
  CHECK_FALSE(ObjectView::open(bytes + "x", error));
  for (size_t i = 0; i < bytes.size() * 8; i++) {
    std::string damaged = bytes;
    damaged[i / 8] ^= char(1 << i % 8);
    Object object;
    deserialize(damaged, object, error);   // must not crash, hang or read outside
  }
  std::mt19937 random(1);
  for (int i = 0; i < 2000; i++) {
    std::string damaged = bytes;
    for (int k = 0; k < 4; k++) damaged[random() % damaged.size()] = char(random() % 3 ? 0xff : random());
    Object object;
    deserialize(damaged, object, error);
  }
}

TEST_CASE("object: merging joins symbols by name and keeps literals once") {
  Build a, b;
  addConstant(a, "A.F", 1);
  a.data("str.0", "one");
  a.data("str.1", "two");
  b.place("x.mica", 1, "B.G");
  uint32_t outer = b.place("b.mica", 2, "B.G"), inner = b.place("b.mica", 3, "B.H", outer);
  b.data("str.0", "one");
  b.data("str.2", "three");
  ObjectFunction& g = b.function("B.G");
  b.code(g, "e8 00 00 00 00", "A.F");
  b.code(g, "48 8d 05 00 00 00 00", "str.0");
  g.lines = {{0, inner}, {5, NoPlace}};
  g.place = outer;
  a.place("a.mica", 1, "A.F");

  Object joined = a.object;
  std::vector<std::string> errors;
  REQUIRE(merge(joined, b.object, errors));
  CHECK(joined.symbols.size() == 5);
  REQUIRE(joined.functions.size() == 2);
  const ObjectFunction& f = joined.functions[1];
  CHECK(joined.symbols[f.symbol] == "B.G");
  CHECK(joined.symbols[f.relocs[0].symbol] == "A.F");
  REQUIRE(joined.data.size() == 3);
  CHECK(joined.data[2].bytes == "three");
  CHECK(f.relocs[1].symbol == joined.data[0].symbol);
  CHECK(f.lines[0].place == 3);
  CHECK(f.lines[1].place == NoPlace);
  CHECK(f.place == 2);
  CHECK(joined.places[3].inlinedAt.index == 2);
  serialize(joined);

  CHECK_FALSE(merge(joined, a.object, errors));
  CHECK(errors == std::vector<std::string>{"duplicate symbol `A.F`"});
  a.object.functions.clear();
  a.object.data[0].bytes = "other";
  CHECK_FALSE(merge(joined, a.object, errors));
  CHECK(errors.back() == "duplicate symbol `str.0`");
}

TEST_CASE("object: a megabyte is opened in well under two milliseconds") {
  Build b;
  for (int i = 0; i < 300; i++) b.place("Tensor.mica", uint32_t(i), "Tensor.Function" + std::to_string(i));
  for (int i = 0; i < 2500; i++) {
    std::string name = "Module" + std::to_string(i % 20) + ".Function" + std::to_string(i) + "[int,float32]";
    b.object.symbols.push_back(name);
    b.object.functions.push_back({uint32_t(i), std::string(300, '\x90'), {}, {}, 16, NoPlace});
    for (uint32_t k = 0; k < 8; k++) {
      b.object.functions.back().relocs.push_back({4 * k, RelocKind::Pc32, uint32_t(i), 0});
      b.object.functions.back().lines.push_back({8 * k, k});
    }
  }
  std::string bytes = serialize(b.object), error;
  CHECK(bytes.size() > 1 << 20);
  double best = 1e9;
  for (int i = 0; i < 10; i++) {
    auto before = std::chrono::steady_clock::now();
    auto view = ObjectView::open(bytes, error);
    REQUIRE(view);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
  }
  MESSAGE("opening " << bytes.size() << " bytes: " << best * 1e3 << " ms");
  CHECK(best < 0.010);   // several times the aim, for slow machines and unoptimised builds
}
