// Tests of the x86-64 code buffer (labels, relaxation, padding, relocations) and of what the encoder must refuse.
#include <doctest/doctest.h>

#include <sstream>

#include "backend_x64/disasm_names.h"
#include "backend_x64/encoder.h"
#include "gnu_tools.h"

using namespace mica::x64;
using namespace gnutools;

namespace {

// A program built twice at once: in a code buffer and as text for GNU as.
class Twin {
 public:
  CodeBuffer buffer;
  std::string text = ".intel_syntax noprefix\n.text\n";

  explicit Twin(int labels) {
    for (int i = 0; i < labels; i++) buffer.newLabel();
  }
  void op(Mnemonic mnemonic, const Operands& operands) {
    emit(buffer, mnemonic, operands);
    text += instructionText(mnemonic, operands) + "\n";
  }
  void bind(Label label) {
    buffer.bind(label);
    text += "L" + std::to_string(label.index) + ":\n";
  }
  void align(uint32_t boundary) {
    buffer.align(boundary);
    text += ".balign " + std::to_string(boundary) + "\n";
  }
  void zerosTo(uint32_t boundary) {
    buffer.zerosTo(boundary);
    text += ".balign " + std::to_string(boundary) + ", 0\n";
  }
  void delta(Label target, Label base) {
    buffer.labelDelta(target, base);
    text += ".long L" + std::to_string(target.index) + " - L" + std::to_string(base.index) + "\n";
  }

  // Finishes, assembles and compares bytes and relocations.
  void compare() {
    bool finished = buffer.finish();
    REQUIRE_MESSAGE(finished, buffer.refusal());
    Scratch scratch;
    writeFile(scratch.file("p.s"), text);
    REQUIRE(run("as -o " + scratch.file("p.o") + " " + scratch.file("p.s")));
    ObjectFile object = parseObject(readFile(scratch.file("p.o")));
    CHECK(object.sections[".text"].size() == buffer.bytes().size());
    CHECK((object.sections[".text"] == buffer.bytes()));
    const auto& relocs = buffer.relocs();
    REQUIRE(object.textRelocs.size() == relocs.size());
    constexpr uint32_t Abs64 = 1, Pc32 = 2, Plt32 = 4;
    for (size_t i = 0; i < relocs.size(); i++) {
      const ObjectReloc& theirs = object.textRelocs[i];
      CHECK(relocs[i].offset == theirs.offset);
      CHECK(relocs[i].addend == theirs.addend);
      CHECK("symbol" + std::to_string(relocs[i].symbol) == theirs.symbol);
      bool isAbs64 = relocs[i].kind == mica::elf::RelocKind::Abs64;
      CHECK((isAbs64 ? theirs.type == Abs64 : theirs.type == Pc32 || theirs.type == Plt32));
    }
  }
};

// A small generator of numbers, the same everywhere.
struct Random {
  uint64_t state;
  unsigned below(unsigned bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<unsigned>((state >> 33) % bound);
  }
};

void randomInstruction(Twin& twin, Random& random, unsigned labels) {
  auto reg = [&] { return gpr(random.below(16)); };
  auto label = [&] { return Label(random.below(labels)); };
  switch (random.below(12)) {
    case 0: return twin.op(Mnemonic::Jmp, {label()});
    case 1:
    case 2: return twin.op(Mnemonic::Jcc, {static_cast<Cond>(random.below(16)), label()});
    case 3: return twin.op(Mnemonic::Lea, {reg(), Mem::ripLabel(label()).plus(random.below(3) * 8)});
    case 4: return twin.op(Mnemonic::Call, {label()});
    case 5: return twin.op(Mnemonic::Add, {reg(), static_cast<int>(random.below(300))});
    case 6: return twin.op(Mnemonic::Mov, {Mem::ripLabel(label()).sized(32), 77});
    case 7: return twin.op(Mnemonic::Vpshufd, {xmm(random.below(32)), Mem::ripLabel(label()).sized(128), 27});
    case 8: return twin.op(Mnemonic::Mov, {reg(), int64_t{1} << 40});
    default: return twin.op(Mnemonic::Mov, {reg(), Mem::at(reg(), random.below(2) * 300).sized(64)});
  }
}

}  // namespace

TEST_CASE("x86-64 code buffer: programs with labels against GNU as") {
  if (skippedWithout("as", "comparing x86-64 programs with GNU as")) return;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    Random random{seed};
    unsigned labels = 2 + random.below(60), between = 1 + random.below(20);
    Twin twin(static_cast<int>(labels));
    for (unsigned l = 0; l < labels; l++) {
      twin.bind(Label(l));
      for (unsigned i = 0; i < between; i++) randomInstruction(twin, random, labels);
    }
    // A table of jumps behind the code.
    twin.zerosTo(4);
    for (unsigned l = 0; l < labels; l++) twin.delta(Label(l), Label(0));
    INFO("seed " << seed);
    twin.compare();
  }
}

TEST_CASE("x86-64 code buffer: padding is GNU as's") {
  if (skippedWithout("as", "comparing x86-64 padding with GNU as")) return;
  for (unsigned before = 1; before <= 64; before++) {
    Twin twin(1);
    twin.bind(Label(0));
    for (unsigned i = 0; i < before; i++) twin.op(Mnemonic::Nop, {});
    twin.op(Mnemonic::Jmp, {Label(0)});
    twin.align(32);
    twin.op(Mnemonic::Ret, {});
    twin.align(16);
    twin.op(Mnemonic::Ret, {});
    INFO("bytes before " << before);
    twin.compare();
  }
}

TEST_CASE("x86-64 code buffer: symbols become relocations as GNU as makes them") {
  if (skippedWithout("as", "comparing x86-64 relocations with GNU as")) return;
  Twin twin(1);
  twin.op(Mnemonic::Jmp, {Label(0)});
  twin.op(Mnemonic::Call, {SymbolTarget{1}});
  twin.op(Mnemonic::Jmp, {SymbolTarget{2, 8}});
  twin.op(Mnemonic::Jcc, {Cond::Ne, SymbolTarget{3}});
  twin.op(Mnemonic::Lea, {r9, Mem::ripSymbol(4, -16)});
  twin.op(Mnemonic::Add, {Mem::ripSymbol(5).sized(32), 1});
  twin.op(Mnemonic::Add, {Mem::ripSymbol(5, 4).sized(16), 1000});
  twin.op(Mnemonic::Add, {Mem::ripSymbol(5, 4).sized(64), 100000});
  twin.op(Mnemonic::Vshufps, {ymm(1), ymm(20), Mem::ripSymbol(6, 32).sized(256), 4});
  twin.op(Mnemonic::Vblendvps, {ymm(1), ymm(2), Mem::ripSymbol(6, 32).sized(256), ymm(14)});
  twin.op(Mnemonic::Vfmadd231ps, {zmm(1), zmm(2), Mem::ripSymbol(7).broadcast(32, 16)});
  twin.bind(Label(0));
  twin.buffer.symbolField(mica::elf::RelocKind::Abs64, 9, 5);
  twin.text += ".quad symbol9+5\n";
  twin.compare();
}

TEST_CASE("x86-64 code buffer: branches at the edge of the short form") {
  if (skippedWithout("as", "comparing x86-64 branches with GNU as")) return;
  for (unsigned distance = 120; distance <= 132; distance++) {
    Twin twin(2);
    twin.bind(Label(0));
    twin.op(Mnemonic::Jcc, {Cond::L, Label(1)});
    for (unsigned i = 0; i < distance; i++) twin.op(Mnemonic::Nop, {});
    twin.bind(Label(1));
    twin.op(Mnemonic::Jmp, {Label(0)});
    twin.compare();
  }
}

TEST_CASE("x86-64 code buffer: offsets move with the layout") {
  CodeBuffer buffer;
  Label end = buffer.newLabel();
  buffer.jump(end);
  uint32_t before = buffer.size();
  emit(buffer, Mnemonic::Ret, {});
  buffer.align(16);
  uint32_t aligned = buffer.size();
  buffer.bind(end);
  emit(buffer, Mnemonic::Ret, {});
  REQUIRE(buffer.finish());
  CHECK(buffer.finalOffset(0) == 0);
  CHECK(buffer.finalOffset(before) == 2);
  CHECK(buffer.finalOffset(aligned) == 16);
  CHECK(buffer.offsetOf(end) == 16);
  CHECK(buffer.bytes().size() == 17);
}

TEST_CASE("x86-64 code buffer: an unbound label is reported") {
  CodeBuffer buffer;
  buffer.jump(buffer.newLabel());
  CHECK(!buffer.finish());
  CHECK(buffer.refusal() == "a branch goes to a label that was never bound");
}

TEST_CASE("x86-64 encoder: what does not fit is refused and writes nothing") {
  auto refusal = [](Mnemonic mnemonic, const Operands& operands) {
    CodeBuffer buffer;
    bool done = tryEmit(buffer, mnemonic, operands);
    CHECK(!done);
    CHECK(buffer.size() == 0);
    return done ? "" : buffer.refusal();
  };
  constexpr int64_t TwoTo31 = int64_t{1} << 31;
  std::string far = refusal(Mnemonic::Sub, {rax, Mem::at(rbx, TwoTo31).sized(64)});
  CHECK(far == "`sub rax, qword ptr [rbx+2147483648]` has no form: the distance does not fit in 32 bits");
  refusal(Mnemonic::Add, {rax.as(8), 256});
  refusal(Mnemonic::Add, {rax.as(16), 65536});
  refusal(Mnemonic::Add, {rax.as(16), -32769});
  refusal(Mnemonic::Add, {rax.as(32), TwoTo31 * 2});
  refusal(Mnemonic::Add, {rax, TwoTo31});
  refusal(Mnemonic::Add, {rax, -TwoTo31 - 1});
  refusal(Mnemonic::Add, {rax, rax.as(32)});
  refusal(Mnemonic::Add, {Mem::at(rax).sized(32), Mem::at(rax).sized(32)});
  refusal(Mnemonic::Mov, {Mem::at(rax).sized(64), TwoTo31});
  refusal(Mnemonic::Mov, {Mem::at(rax), rcx});
  refusal(Mnemonic::Mov, {rax, Mem::at(rbx, TwoTo31).sized(64)});
  refusal(Mnemonic::Mov, {rax, Mem::at(rbx, -TwoTo31 - 1).sized(64)});
  refusal(Mnemonic::Mov, {rax, Mem::at(rbx).scaled(rsp, 2).sized(64)});
  refusal(Mnemonic::Mov, {rax, Mem::at(rbx).scaled(rcx, 3).sized(64)});
  refusal(Mnemonic::Mov, {rax, Mem::at(gpr(16)).sized(64)});
  refusal(Mnemonic::Mov, {gpr(16), rax});
  refusal(Mnemonic::Shl, {rax, 256});
  refusal(Mnemonic::Shl, {rax, rdx.as(8)});
  refusal(Mnemonic::Push, {TwoTo31});
  refusal(Mnemonic::Movsxd, {rax.as(32), rcx.as(32)});
  refusal(Mnemonic::Vaddps, {xmm(1), ymm(2), xmm(3)});
  refusal(Mnemonic::Vaddps, {zmm(1), zmm(2), zmm(32)});
  refusal(Mnemonic::Vaddps, {zmm(1), zmm(2), Mem::at(rax).broadcast(32, 8)});
  refusal(Mnemonic::Vaddps, {zmm(1), zmm(2), Mem::at(rax).broadcast(64, 8)});
  refusal(Mnemonic::Vaddps, Operands{zmm(1), zmm(2), zmm(3)}.masked(0, true));
  refusal(Mnemonic::Vaddps, Operands{zmm(1), zmm(2), zmm(3)}.masked(8));
  refusal(Mnemonic::Vmovups, Operands{Mem::at(rax).sized(512), zmm(3)}.masked(1, true));
  refusal(Mnemonic::Vpand, {zmm(1), zmm(2), zmm(3)});
  refusal(Mnemonic::Vblendvps, {xmm(1), xmm(2), xmm(3), xmm(16)});
  refusal(Mnemonic::Vpshufd, {xmm(1), xmm(2), 256});
  refusal(Mnemonic::Add, Operands{rax, rcx}.locked());
  refusal(Mnemonic::Cmp, Operands{Mem::at(rax).sized(64), rcx}.locked());
  refusal(Mnemonic::Xchg, {rax, rax});
  refusal(Mnemonic::Lea, {rax, rcx});
  refusal(Mnemonic::Ret, {rax});
  std::string wide = refusal(Mnemonic::Vpslld, {xmm(1), xmm(2), 256});
  CHECK(wide == "`vpslld xmm1, xmm2, 256` has no form: the immediate does not fit");
}
