// Compiled IR programs: calls and arguments, frames, control flow, traps with their places, the operations of the
// system, the quality of selected code, the size of what can be compiled.
#include <doctest/doctest.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>

#include "backend_x64/backend.h"
#include "ir/builder.h"
#include "ir/interp.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "jit_x64.h"

using namespace mica;
using namespace mica::test;

namespace {

struct Program {
  ir::Module module;
  std::unique_ptr<Jit> jit;
  explicit Program(const std::string& text, const std::map<std::string, void*>& externals = {}) {
    std::string error;
    REQUIRE_MESSAGE(ir::parse(text, module, error), error);
    for (const std::string& m : ir::verify(module)) FAIL(m);
    jit = std::make_unique<Jit>(module, externals);
    REQUIRE_MESSAGE(jit->error.empty(), jit->error);
  }
  template <class F> F* get(const std::string& name) { return jit->function<F>(name); }
  // The machine IR after allocation.
  std::string allocated() const { return jit->dump.substr(jit->dump.find("; allocated")); }
};

bool contains(const std::string& s, const std::string& part) { return s.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("x64: parallel arguments and loop-carried exchanges") {
  Program p(R"(
func @Sub(%0: i64, %1: i64) -> i64 noinline { b0: %2 = isub i64 %0, %1 ret %2 }
func @Crossed(%0: i64, %1: i64) -> i64 { b0: %2 = call i64 @Sub(%1, %0) ret %2 }
func @Rotate(%0: i64, %1: i64, %2: i64, %3: i64) -> i64 {
b0:
  br b1(%0, %1, %2, %3)
b1(%4: i64, %5: i64, %6: i64, %7: i64):
  %8 = iadd i64 %4, %5
  %9 = iconst i64 1000
  %10 = sremt i64 %8, %9
  %11 = iconst i64 1
  %12 = isub i64 %7, %11
  %13 = iconst i64 0
  %14 = icmp ne i64 %12, %13
  brif %14, b1(%5, %6, %10, %12), b2
b2:
  %15 = iconst i64 1000000
  %16 = imul i64 %5, %15
  %17 = iconst i64 1000
  %18 = imul i64 %6, %17
  %19 = iadd i64 %16, %18
  %20 = iadd i64 %19, %10
  ret %20
}
func @Fibonacci(%0: i64) -> i64 {
b0:
  %1 = iconst i64 0
  %2 = iconst i64 1
  br b1(%1, %2, %0)
b1(%3: i64, %4: i64, %5: i64):
  %6 = iadd i64 %3, %4
  %7 = isub i64 %5, %2
  %8 = icmp sgt i64 %7, %1
  brif %8, b1(%4, %6, %7), b2
b2:
  ret %4
}
func @Exchange(%0: f64, %1: f64, %2: i64) -> f64 {
b0:
  br b1(%0, %1, %2)
b1(%3: f64, %4: f64, %5: i64):
  %6 = iconst i64 1
  %7 = isub i64 %5, %6
  %8 = iconst i64 0
  %9 = icmp eq i64 %7, %8
  brif %9, b2, b1(%4, %3, %7)
b2:
  ret %3
})");
  CHECK(p.get<int64_t(int64_t, int64_t)>("Crossed")(3, 10) == 7);
  CHECK(p.get<int64_t(int64_t, int64_t, int64_t, int64_t)>("Rotate")(1, 2, 3, 20) == 416551730);
  CHECK(p.get<int64_t(int64_t)>("Fibonacci")(90) == 2880067194370816120);
  CHECK(p.get<double(double, double, int64_t)>("Exchange")(1.5, 2.5, 8) == 2.5);
  CHECK(p.get<double(double, double, int64_t)>("Exchange")(1.5, 2.5, 7) == 1.5);
}

TEST_CASE("x64: none to twenty arguments of each kind and mixed") {
  for (int kinds = 0; kinds < 4; ++kinds)
    for (int n = 0; n <= 20; ++n) {
      // Callee: stores its arguments; caller: loads them, passes them in reverse order through another call first.
      std::string params, loads, args, stores;
      for (int k = 0; k < n; ++k) {
        const char* types[] = {"i64", "f64", "i8", "f32x8"};
        std::string t = kinds < 2 ? types[kinds] : types[(k * (kinds - 1)) % 4];
        std::string v = std::to_string(k + 1), off = std::to_string(k * 32);
        params += ", %" + v + ": " + t;
        loads += "%" + v + " = load " + t + " %0 + " + off + "\n";
        args += ", %" + v;
        stores += "store " + t + " %" + v + ", %0 + " + std::to_string(1024 + k * 32) + "\n";
      }
      Program p("func @Callee(%0: ptr" + params + ") -> i64 noinline {\nb0:\n" + stores +
                "%50 = iconst i64 77\nret %50\n}\n" + "func @Caller(%0: ptr) -> i64 {\nb0:\n" + loads +
                "%60 = call i64 @Callee(%0" + args + ")\n%61 = call i64 @Callee(%0" + args +
                ")\n%62 = iadd i64 %60, %61\nret %62\n}\n");
      alignas(64) uint8_t buffer[2048] = {};
      for (int k = 0; k < 1024; ++k) buffer[k] = uint8_t(k * 7 + 1);
      CHECK(p.get<int64_t(void*)>("Caller")(buffer) == 154);
      for (int k = 0; k < n; ++k) {
        int bytes = kinds == 0 || kinds == 1 ? 8 : std::array<int, 4>{8, 8, 1, 32}[size_t(k * (kinds - 1) % 4)];
        CHECK_MESSAGE(std::memcmp(buffer + k * 32, buffer + 1024 + k * 32, size_t(bytes)) == 0,
                      kinds << " " << n << " " << k);
      }
    }
}

namespace {
int64_t hostSum(int64_t a, int64_t b, double c, float d, int64_t e, int64_t f, int64_t g, int64_t h, int64_t i) {
  return a + 2 * b + int64_t(c) + int64_t(d) + 3 * e + 4 * f + 5 * g + 6 * h + 7 * i;
}
}  // namespace

TEST_CASE("x64: C functions can be called, directly and through a pointer, with an aligned stack") {
  Program p(R"(
func @Direct(%0: i64) -> i64 {
b0:
  %1 = fconst f64 10.0
  %2 = fconst f32 20.0
  %3 = iconst i64 1
  %4 = call i64 @HostSum(%0, %3, %1, %2, %3, %3, %3, %3, %3)
  ret %4
}
func @ByPointer(%0: ptr, %1: i64) -> i64 {
b0:
  %2 = fconst f64 10.0
  %3 = fconst f32 20.0
  %4 = iconst i64 1
  %5 = callind i64 %0(%1, %4, %2, %3, %4, %4, %4, %4, %4)
  %6 = iadd i64 %5, %1
  ret %6
})", {{"HostSum", reinterpret_cast<void*>(&hostSum)}});
  CHECK(p.get<int64_t(int64_t)>("Direct")(100) == hostSum(100, 1, 10, 20, 1, 1, 1, 1, 1));
  CHECK(p.get<int64_t(void*, int64_t)>("ByPointer")(reinterpret_cast<void*>(&hostSum), 100) ==
        hostSum(100, 1, 10, 20, 1, 1, 1, 1, 1) + 100);
}

TEST_CASE("x64: forty integers and forty floats live across a call that destroys every register it may") {
  std::string s = "func @Destroy() noinline {\nb0:\nret\n}\nfunc @Keep(%0: ptr) {\nb0:\n";
  for (int k = 0; k < 40; ++k)
    s += "%" + std::to_string(1 + k) + " = load i64 %0 + " + std::to_string(k * 8) + "\n%" + std::to_string(101 + k) +
         " = load f64 %0 + " + std::to_string(320 + k * 8) + "\n%" + std::to_string(201 + k) + " = load f32x8 %0 + " +
         std::to_string(640 + k * 32) + "\n";
  s += "call @Scratch()\n";
  for (int k = 39; k >= 0; --k)
    s += "store i64 %" + std::to_string(1 + k) + ", %0 + " + std::to_string(4096 + k * 8) + "\nstore f64 %" +
         std::to_string(101 + k) + ", %0 + " + std::to_string(4096 + 320 + k * 8) + "\nstore f32x8 %" +
         std::to_string(201 + k) + ", %0 + " + std::to_string(4096 + 640 + k * 32) + "\n";
  s += "ret\n}\n";
  auto scratch = +[] {
    __asm__ volatile(
        "xor %%eax, %%eax\n\tmov %%rax, %%rcx\n\tmov %%rax, %%rdx\n\tmov %%rax, %%rsi\n\tmov %%rax, %%rdi\n\tmov "
        "%%rax, %%r8\n\t"
        "mov %%rax, %%r9\n\tmov %%rax, %%r10\n\tmov %%rax, %%r11\n\tvzeroall"
        :
        :
        : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
  };
  Program p(s, {{"Scratch", reinterpret_cast<void*>(scratch)}});
  alignas(64) static uint8_t buffer[8192];
  for (int k = 0; k < 4096; ++k) buffer[k] = uint8_t(k * 11 + 3);
  p.get<void(void*)>("Keep")(buffer);
  CHECK(std::memcmp(buffer, buffer + 4096, 640 + 40 * 32) == 0);
}

TEST_CASE("x64: preserved registers are preserved") {
  std::string s = "func @Use(%0: i64) -> i64 noinline {\nb0:\n";
  for (int k = 1; k < 30; ++k) s += "%" + std::to_string(k) + " = imul i64 %" + std::to_string(k - 1) + ", %0\n";
  s += "%40 = call i64 @Identity(%0)\n";
  std::string last = "%40";
  for (int k = 1; k < 30; ++k) {
    s += "%" + std::to_string(50 + k) + " = xor i64 " + last + ", %" + std::to_string(k) + "\n";
    last = "%" + std::to_string(50 + k);
  }
  s += "ret " + last + "\n}\nfunc @Identity(%0: i64) -> i64 noinline { b0: ret %0 }\n";
  Program p(s);
  auto* use = p.get<int64_t(int64_t)>("Use");
  uint64_t found[5];
  __asm__ volatile(
      "mov $0x1111, %%rbx\n\tmov $0x2222, %%r12\n\tmov $0x3333, %%r13\n\tmov $0x4444, %%r14\n\tmov $0x5555, %%r15\n\t"
      "mov $3, %%edi\n\tcall *%[f]\n\t"
      "mov %%rbx, %[a]\n\tmov %%r12, %[b]\n\tmov %%r13, %[c]\n\tmov %%r14, %[d]\n\tmov %%r15, %[e]\n\t"
      : [a] "=m"(found[0]), [b] "=m"(found[1]), [c] "=m"(found[2]), [d] "=m"(found[3]), [e] "=m"(found[4])
      : [f] "m"(use)
      : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc",
        "xmm0", "xmm1", "xmm2", "xmm3");
  CHECK(found[0] == 0x1111);
  CHECK(found[1] == 0x2222);
  CHECK(found[2] == 0x3333);
  CHECK(found[3] == 0x4444);
  CHECK(found[4] == 0x5555);
}

TEST_CASE("x64: frames of many sizes and alignments, touched at both ends") {
  for (uint32_t size : {8u, 100u, 4080u, 4096u, 5000u, 70000u, 2u << 20})
    for (uint32_t align : {8u, 16u, 32u, 64u}) {
      Program p(
          "func @Frame(%0: i64, %1: i64, %2: i64, %3: i64, %4: i64, %5: i64, %6: i64, %7: i64) -> i64 {\n  slot s0 "
          "size " +
          std::to_string(size) + " align " + std::to_string(align) +
          "\n  slot s1 size 16 align 16\nb0:\n%10 = slotaddr s0\nstore i64 %0, %10\nstore i64 %6, %10 + " +
          std::to_string(size - 8) +
          "\n%11 = slotaddr s1\nstore i64 %7, %11 + 8\n%12 = bitcast i64 %10\n%13 = iconst i64 " +
          std::to_string(align - 1) +
          "\n%14 = and i64 %12, %13\n%15 = call i64 @Deep(%0)\n%16 = load i64 %10\n%17 = load i64 %10 + " +
          std::to_string(size - 8) +
          "\n%18 = load i64 %11 + 8\n%19 = iadd i64 %17, %18\n%20 = iadd i64 %19, %15\n%21 = imul i64 %14, %13\n%22 = "
          "iadd i64 %20, %21\n" +
          "ret %22\n}\nfunc @Deep(%0: i64) -> i64 noinline {\n  slot s0 size 64 align 16\nb0:\n%1 = slotaddr "
          "s0\nmemzero %1, 64\n%2 = bitcast i64 %1\n" +
          "%3 = iconst i64 15\n%4 = and i64 %2, %3\nret %4\n}\n");
      int64_t want = size == 8 ? 600 + 7000 : 600 + 7000;
      CHECK(p.get<int64_t(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t)>("Frame")(
                5, 0, 0, 0, 0, 0, 600, 7000) == want);
    }
  ir::Module m;
  std::string error;
  REQUIRE(ir::parse("func @Huge() {\n  slot s0 size 4000000000 align 8\nb0:\n%0 = slotaddr s0\ncall @X(%0)\nret\n}\n",
                    m, error));
  x64::prepareModule(m);
  elf::ObjectFunction out;
  CHECK(!x64::compileFunction(m, m.functions[0], {}, out, &error));
  CHECK(contains(error, "Huge"));
}

TEST_CASE("x64: switches: dense, sparse, negative, at both ends, narrow with rubbish above") {
  struct Shape { const char* type; std::vector<int64_t> cases; };
  std::vector<Shape> shapes = {{"i64", {0, 1, 2, 3, 4, 5}},
                               {"i64", {-3, -2, -1, 0, 5}},
                               {"i64", {INT64_MIN, -5, 0, 77, INT64_MAX}},
                               {"i8", {-128, -127, -126, -125, -124, 127}},
                               {"i32", {1000000, 5, -1000000}},
                               {"i64", {42}},
                               {"i16", {7, 8, 9, 10, 30000}},
                               {"i64", {INT64_MAX - 3, INT64_MAX - 2, INT64_MAX - 1, INT64_MAX}}};
  std::vector<int64_t> sparse;
  for (int64_t k = 0; k < 100; ++k) sparse.push_back(k * k * k * 7919 - 1000);
  shapes.push_back({"i64", sparse});
  for (const Shape& s : shapes) {
    std::string type = s.type;
    std::string text = "func @Choose(%0: i64) -> i64 {\nb0:\n";
    std::string v = "%0";
    if (type != "i64") {
      text += "%1 = trunc " + type + " %0\n";
      v = "%1";
    }
    text += "switch " + type + " " + v + ", b1";
    for (size_t k = 0; k < s.cases.size(); ++k)
      text += ", " + std::to_string(s.cases[k]) + ": b" + std::to_string(k + 2);
    text += "\nb1:\n%9 = iconst i64 -1\nret %9\n";
    for (size_t k = 0; k < s.cases.size(); ++k)
      text += "b" + std::to_string(k + 2) + ":\n%" + std::to_string(10 + k) + " = iconst i64 " + std::to_string(k) +
              "\nret %" + std::to_string(10 + k) + "\n";
    Program p(text + "}\n");
    auto* choose = p.get<int64_t(int64_t)>("Choose");
    for (size_t k = 0; k < s.cases.size(); ++k) {
      CHECK(choose(s.cases[k]) == int64_t(k));
      if (type == "i8") CHECK(choose((s.cases[k] & 0xff) | 0x123456789a00) == int64_t(k));
    }
    for (int64_t other : {int64_t(6), int64_t(-4), int64_t(43), int64_t(41), int64_t(11), INT64_MIN + 1, INT64_MAX - 4,
                          int64_t(123456789)}) {
      int64_t want = -1, seen = type == "i8"    ? int8_t(other)
                                : type == "i16" ? int16_t(other)
                                : type == "i32" ? int32_t(other)
                                                : other;
      for (size_t k = 0; k < s.cases.size(); ++k)
        if (s.cases[k] == seen) want = int64_t(k);
      CHECK(choose(other) == want);
    }
  }
}

TEST_CASE("x64: traps carry kind and details, and their line entry is the trap's place") {
  Program p(R"(
func @At(%0: ptr, %1: i64, %2: i64) -> i64 {
b0:
  %3 = icmp uge i64 %1, %2
  trapif index %3, %1, %2 !a.mica:7:3 in At
  %4 = iconst i64 8
  %5 = imul i64 %1, %4
  %6 = padd %0, %5
  %7 = load i64 %6
  ret %7
}
func @Swapped(%0: i64, %1: i64, %2: i64, %3: i64) {
b0:
  %4 = icmp ne i64 %0, %1
  trapif shape %4, %3, %2, %1
  %5 = iconst i64 5
  trap other %5, %0
}
func @Sum(%0: i64, %1: i64) -> i64 { b0: %2 = saddt i64 %0, %1 !a.mica:20:9 in Sum ret %2 }
func @Unordered(%0: f64, %1: f64) {
b0:
  %2 = fcmp ne f64 %0, %1
  trapif assert %2
  ret
})");
  TrapSeen t;
  int64_t data[] = {10, 20, 30};
  auto* at = p.get<int64_t(void*, int64_t, int64_t)>("At");
  CHECK(at(data, 2, 3) == 30);
  REQUIRE(p.jit->traps([&] { at(data, 3, 3); }, t));
  CHECK(t.kind == 3);
  CHECK(t.a == 3);
  CHECK(t.b == 3);
  REQUIRE(p.jit->traps([&] { at(data, -1, 3); }, t));
  CHECK(t.a == -1);
  auto* swapped = p.get<void(int64_t, int64_t, int64_t, int64_t)>("Swapped");
  REQUIRE(p.jit->traps([&] { swapped(1, 2, 3, 4); }, t));
  CHECK((t.kind == 7 && t.a == 4 && t.b == 3 && t.c == 2));
  REQUIRE(p.jit->traps([&] { swapped(1, 1, 3, 4); }, t));
  CHECK((t.kind == 16 && t.a == 5 && t.b == 1));
  CHECK(p.jit->traps([&] { p.get<int64_t(int64_t, int64_t)>("Sum")(INT64_MAX, 1); }, t));
  CHECK(t.kind == 1);
  auto* unordered = p.get<void(double, double)>("Unordered");
  CHECK(!p.jit->traps([&] { unordered(1, 1); }, t));
  CHECK(p.jit->traps([&] { unordered(__builtin_nan(""), 1); }, t));

  // The place of a return address A is that of A - 1: of the call's last byte.
  for (auto [name, line] : {std::pair{"At", 7u}, std::pair{"Sum", 20u}}) {
    const elf::ObjectFunction* o = p.jit->object(name);
    bool found = false;
    for (const elf::Reloc& r : o->relocs) {
      if (p.module.symbols[r.symbol].name != "Trap.Raise") continue;
      uint32_t place = ~0u;
      for (const elf::LineEntry& l : o->lines)
        if (l.offset <= r.offset + 3) place = l.place;
      REQUIRE(place < p.module.places.size());
      CHECK(p.module.places[place].line == line);
      found = true;
    }
    CHECK(found);
    for (size_t k = 1; k < o->lines.size(); ++k) CHECK(o->lines[k - 1].offset < o->lines[k].offset);
  }
}

TEST_CASE("x64: system calls, processor level, frame pointer, atomics, context") {
  Program p(R"(
func @Pid() -> i64 { b0: %0 = iconst i64 39 %1 = iconst i64 0 %2 = syscall %0, %1, %1, %1, %1, %1, %1 ret %2 }
func @Level() -> i64 { b0: %0 = cpulevel ret %0 }
func @Frame() -> ptr { b0: %0 = frameptr ret %0 }
func @Add(%0: ptr, %1: i64) -> i64 { b0: %2 = aadd i64 %1, %0 ret %2 }
func @Cas(%0: ptr, %1: i32, %2: i32) -> i32 { b0: %3 = acas i32 %1, %2, %0 ret %3 }
func @Swap(%0: ptr, %1: i8) -> i8 { b0: %2 = aswap i8 %1, %0 fence pause ret %2 }
func @Store(%0: ptr, %1: i64) -> i64 { b0: astore i64 %1, %0 %2 = aload i64 %0 ret %2 }
)");
  CHECK(p.get<int64_t()>("Pid")() == getpid());
  CHECK(p.get<int64_t()>("Level")() == machineLevel());
  int64_t cell = 5;
  CHECK(p.get<int64_t(void*, int64_t)>("Add")(&cell, 7) == 5);
  CHECK(cell == 12);
  int32_t word = 3;
  CHECK(p.get<int32_t(void*, int32_t, int32_t)>("Cas")(&word, 4, 9) == 3);
  CHECK(word == 3);
  CHECK(p.get<int32_t(void*, int32_t, int32_t)>("Cas")(&word, 3, 9) == 3);
  CHECK(word == 9);
  uint8_t byte = 200;
  CHECK((p.get<int(void*, int)>("Swap")(&byte, 17) & 0xff) == 200);
  CHECK(byte == 17);
  CHECK(p.get<int64_t(void*, int64_t)>("Store")(&cell, -3) == -3);
}

TEST_CASE("x64: threads start with their argument and context, and end") {
  Program p(R"(
func @Child(%0: ptr) noinline {
b0:
  %1 = context
  store ptr %1, %0 + 8
  %2 = iconst i64 1
  %3 = aadd i64 %2, %0
  ret
}
func @Spawn(%0: i64, %1: i64, %2: ptr, %3: ptr, %4: ptr) -> i64 {
b0:
  %5 = symaddr @Child
  %6 = spawnthread %0, %1, %5, %2, %3, %4
  ret %6
})");
  constexpr int64_t Flags = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000 | 0x00100000 |
                            0x00200000;  // VM FS FILES SIGHAND THREAD SYSVSEM SETTID CLEARTID
  constexpr size_t StackBytes = 1 << 16;
  uint8_t* stack =
      static_cast<uint8_t*>(mmap(nullptr, StackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  volatile int64_t shared[2] = {41, 0};
  volatile int32_t tid = -1;
  int64_t r = p.get<int64_t(int64_t, int64_t, void*, void*, void*)>("Spawn")(
      Flags, int64_t(stack + StackBytes), const_cast<int64_t*>(shared), reinterpret_cast<void*>(0x1234),
      const_cast<int32_t*>(&tid));
  REQUIRE(r > 0);
  for (int k = 0; k < 2000 && tid != 0; ++k) usleep(1000);
  CHECK(tid == 0);
  CHECK(shared[0] == 42);
  CHECK(shared[1] == 0x1234);
  munmap(stack, StackBytes);
}

TEST_CASE("x64: an entry function gets the stack pointer and an aligned stack") {
  Program p(R"(
func @Check(%0: i64) -> i64 noinline {
  slot s0 size 16 align 16
b0:
  %1 = slotaddr s0
  %2 = bitcast i64 %1
  %3 = iconst i64 15
  %4 = and i64 %2, %3
  ret %4
}
func @Start(%0: ptr) entry {
b0:
  %1 = load i64 %0
  setcontext %0
  %2 = context
  %3 = load i64 %2
  %4 = call i64 @Check(%1)
  %5 = iadd i64 %3, %4
  %6 = iconst i64 231
  %7 = iconst i64 0
  %8 = syscall %6, %5, %7, %7, %7, %7, %7
  unreachable
})");
  pid_t child = fork();
  if (child == 0) {
    // What the kernel does: the count of arguments on top of the stack, no return address.
    __asm__ volatile("push $77\n\tjmp *%0" : : "r"(p.jit->addressOf("Start")));
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 77);
}

TEST_CASE("x64: symbols, data and functions as addresses") {
  Program p(R"(
data @Table align 8 readonly { hex 0100000000000000 hex 0200000000000000 hex 0000000000000000 ref 16 @Table + 8 }
func @Second() -> i64 { b0: %0 = symaddr @Table + 8 %1 = load i64 %0 ret %1 }
func @Through(%0: i64) -> i64 {
b0:
  %1 = symaddr @Table
  %2 = iconst i64 8
  %3 = imul i64 %0, %2
  %4 = padd %1, %3
  %5 = load i64 %4
  ret %5
}
func @Pointer() -> i64 { b0: %0 = symaddr @Second %1 = callind i64 %0() ret %1 }
)");
  CHECK(p.get<int64_t()>("Second")() == 2);
  CHECK(p.get<int64_t(int64_t)>("Through")(0) == 1);
  CHECK(p.get<int64_t()>("Pointer")() == 2);
}

TEST_CASE("x64: blocks of memory are copied and cleared, to the byte") {
  for (int bytes = 0; bytes < 340; bytes += bytes < 70 ? 1 : 13) {
    Program p("func @Copy(%0: ptr, %1: ptr) { b0: memcopy %0, %1, " + std::to_string(bytes) +
              " ret }\nfunc @Zero(%0: ptr) { b0: memzero %0, " + std::to_string(bytes) + " ret }\n");
    uint8_t from[400], to[400], want[400];
    for (int k = 0; k < 400; ++k) from[k] = uint8_t(k * 3 + 1), to[k] = want[k] = 0xee;
    std::memcpy(want + 8, from + 4, size_t(bytes));
    p.get<void(void*, void*)>("Copy")(to + 8, from + 4);
    CHECK(std::memcmp(to, want, 400) == 0);
    std::memset(want + 8, 0, size_t(bytes));
    p.get<void(void*)>("Zero")(to + 8);
    CHECK(std::memcmp(to, want, 400) == 0);
  }
}

TEST_CASE("x64: selection takes addresses, loads, comparisons and constants into instructions") {
  SUBCASE("an indexed load is one operand of the addition") {
    Program p(
        "func @F(%0: ptr, %1: i64, %2: i64) -> i64 { b0: %3 = iconst i64 3 %4 = shl i64 %1, %3 %5 = padd %0, %4 %6 = "
        "load i64 %5 + 16 "
        "%7 = iadd i64 %6, %2 ret %7 }");
    std::string s = p.allocated();
    CHECK(contains(s, "*8 + 16]"));
    CHECK(!contains(s, "Shl"));
    CHECK(!contains(s, "Lea"));
  }
  SUBCASE("compare and branch") {
    Program p(
        "func @F(%0: i64, %1: i64) -> i64 { b0: %2 = icmp slt i64 %0, %1 brif %2, b1, b2 b1: ret %0 b2: ret %1 }");
    std::string s = p.allocated();
    CHECK(contains(s, "Cmp"));
    CHECK(!contains(s, "Setcc"));
    CHECK(!contains(s, "Test"));
  }
  SUBCASE("a value updated in memory") {
    Program p(
        "func @F(%0: ptr) { b0: %1 = load i64 %0 + 8 %2 = iconst i64 1 %3 = iadd i64 %1, %2 store i64 %3, %0 + 8 ret "
        "}");
    std::string s = p.allocated();
    CHECK(contains(s, "Add"));
    CHECK(!contains(s, "Mov"));
  }
  SUBCASE("a load is not moved over a store") {
    Program p(
        "func @F(%0: ptr, %1: ptr) -> i64 { b0: %2 = load i64 %0 %3 = iconst i64 9 store i64 %3, %1 %4 = iadd i64 %2, "
        "%3 ret %4 }");
    int64_t cell = 1;
    CHECK(p.get<int64_t(void*, void*)>("F")(&cell, &cell) == 10);
  }
  SUBCASE("a counted loop keeps everything in registers") {
    Program p(R"(
func @Sum(%0: ptr, %1: i64) -> f64 {
b0:
  %2 = fconst f64 0.0
  %3 = iconst i64 0
  br b1(%3, %2)
b1(%4: i64, %5: f64):
  %6 = iconst i64 3
  %7 = shl i64 %4, %6
  %8 = padd %0, %7
  %9 = load f64 %8
  %10 = fadd f64 %5, %9
  %11 = iconst i64 1
  %12 = iadd i64 %4, %11
  %13 = icmp slt i64 %12, %1
  brif %13, b1(%12, %10), b2
b2:
  ret %10
})");
    std::string s = p.allocated();
    CHECK(!contains(s, "spill"));
    CHECK(!contains(s, "move"));
    double values[] = {1, 2, 3.5};
    CHECK(p.get<double(void*, int64_t)>("Sum")(values, 3) == 6.5);
  }
}

TEST_CASE("x64: the product's register tile spills nothing in its loop") {
  for (auto [file, level] :
       {std::pair{"tests/bench/kernel_ir/gemm_level1.ir", 1}, std::pair{"tests/bench/kernel_ir/gemm_level2.ir", 2}}) {
    std::ifstream in(file);
    if (!in) continue;                         // the tests run from another folder
    if (level > machineLevel()) continue;
    std::stringstream text;
    text << in.rdbuf();
    Program p(text.str());
    CHECK(!contains(p.allocated(), "[spill"));
  }
}

TEST_CASE("x64: the listing shows instructions, labels, symbols by name and places") {
  ir::Module m;
  std::string error, listing;
  REQUIRE(
      ir::parse("func @Twice(%0: i64) -> i64 { b0: %1 = call i64 @Other(%0) !a.mica:3:5 in Twice %2 = iadd i64 %1, %1 "
                "!a.mica:4:9 in Twice ret %2 }",
                m, error));
  x64::prepareModule(m);
  x64::CompileOptions options;
  options.listing = &listing;
  elf::ObjectFunction out;
  REQUIRE(x64::compileFunction(m, m.functions[0], options, out, &error));
  CHECK(contains(listing, "call Other"));
  CHECK(contains(listing, "; a.mica:3:5"));
  CHECK(contains(listing, "; a.mica:4:9"));
  CHECK(contains(listing, "push rbp"));
}

TEST_CASE("x64: compile time grows with the function") {
  auto seconds = [](int n) {
    ir::Module m;
    uint32_t index = ir::startFunction(m, "Long", {ir::Ptr, ir::I64}, ir::I64);
    ir::Builder b(m, index);
    std::vector<ir::ValueId> values;
    for (int k = 0; k < 60; ++k) values.push_back(b.load(ir::I64, b.param(0), k * 8));
    ir::ValueId x = b.param(1);
    for (int k = 0; k < n / 8; ++k) {
      ir::BlockId yes = b.createBlock(), no = b.createBlock(), join = b.createBlock({ir::I64});
      b.brIf(b.icmp(ir::Cond::Slt, x, values[size_t(k) % 60]), yes, no);
      b.setBlock(yes);
      b.br(join, {b.iadd(x, values[size_t(k) * 7 % 60])});
      b.setBlock(no);
      b.br(join, {b.xor_(x, values[size_t(k) * 3 % 60])});
      b.setBlock(join);
      x = b.param(join, 0);
    }
    b.ret(x);
    x64::prepareModule(m);
    auto start = std::chrono::steady_clock::now();
    elf::ObjectFunction out;
    std::string error;
    REQUIRE_MESSAGE(x64::compileFunction(m, m.functions[0], {}, out, &error), error);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  seconds(1000);
  double small = seconds(10000), large = seconds(100000);
  CHECK_MESSAGE(large < small * 60 + 0.5, small << " s for 10,000 instructions, " << large << " s for 100,000");
}
