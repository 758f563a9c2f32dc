// The x86-64 encoder: instructions as values (a mnemonic and operands), the table of instruction forms, and the
// function that writes an instruction's bytes.
//
// Idea: every form is a row of forms.def with the manual's columns. One row covers all operand sizes (16, 32, 64
// bits) or vector lengths that share it, and both VEX and EVEX where the manual has both: EVEX is chosen when the
// operands need it (512 bits, registers 16 to 31, a mask, an embedded broadcast). Nothing is truncated: an operand
// that no row takes is refused.
//
//   Mem m = Mem::at(rbx, 16).scaled(rcx, 8).sized(64);
//   emit(code, Mnemonic::Add, {rax, m});              // add rax, qword ptr [rbx+rcx*8+16]
//   emit(code, Mnemonic::Vfmadd231ps, {zmm(0), zmm(1), Mem::at(rdi, 4).broadcast(32, 16)});
//   emit(code, Mnemonic::Jcc, {Cond::L, label});
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "backend_x64/code_buffer.h"
#include "support/support.h"

namespace mica::x64 {

enum class Mnemonic : uint16_t {
#define M(name) name,
#include "backend_x64/mnemonics.def"
#undef M
  Count
};

enum class RegClass : uint8_t { General, Vector, Mask };

// A register as an operand: number 0-15 (general), 0-31 (vector), 0-7 (mask), and the bits of it that the operation
// sees: 8, 16, 32, 64 (general; 8 is the low byte always), 128, 256, 512 (vector; scalars use 128), 64 (mask).
struct Reg {
  RegClass cls = RegClass::General;
  uint8_t number = 0;
  uint16_t bits = 64;
  constexpr bool operator==(const Reg&) const = default;
  constexpr Reg as(uint16_t otherBits) const { return {cls, number, otherBits}; }
};

constexpr Reg gpr(unsigned number, unsigned bits = 64) {
  return {RegClass::General, static_cast<uint8_t>(number), static_cast<uint16_t>(bits)};
}
constexpr Reg vec(unsigned number, unsigned bits) {
  return {RegClass::Vector, static_cast<uint8_t>(number), static_cast<uint16_t>(bits)};
}
constexpr Reg xmm(unsigned number) { return vec(number, 128); }
constexpr Reg ymm(unsigned number) { return vec(number, 256); }
constexpr Reg zmm(unsigned number) { return vec(number, 512); }
constexpr Reg kreg(unsigned number) { return {RegClass::Mask, static_cast<uint8_t>(number), 64}; }

inline constexpr Reg rax = gpr(0), rcx = gpr(1), rdx = gpr(2), rbx = gpr(3), rsp = gpr(4), rbp = gpr(5), rsi = gpr(6),
                     rdi = gpr(7), r8 = gpr(8), r9 = gpr(9), r10 = gpr(10), r11 = gpr(11), r12 = gpr(12), r13 = gpr(13),
                     r14 = gpr(14), r15 = gpr(15);

// A place in memory: [base + index*scale + disp], or relative to the instruction pointer: a label, a symbol, or a
// plain distance. `bits` is what the instruction reads or writes there; 0 where it does not matter (LEA, prefetch).
// With an embedded broadcast `bits` is the element's size and `copies` how often it is repeated.
struct Mem {
  static constexpr uint8_t None = 0xff;
  enum class Kind : uint8_t { Plain, RipLabel, RipSymbol, RipDistance };
  Kind kind = Kind::Plain;
  uint8_t base = None;
  uint8_t index = None;    // any but rsp
  uint8_t scale = 1;
  uint16_t bits = 0;
  uint8_t copies = 0;      // 0: no broadcast
  int64_t disp = 0;        // must fit in 32 signed bits; for a symbol the addend
  uint32_t symbol = 0;
  Label label;

  static constexpr Mem at(Reg base, int64_t disp = 0) { Mem m; m.base = base.number; m.disp = disp; return m; }
  static constexpr Mem absolute(int64_t disp) { Mem m; m.disp = disp; return m; }
  static constexpr Mem ripLabel(Label l) { Mem m; m.kind = Kind::RipLabel; m.label = l; return m; }
  static constexpr Mem ripSymbol(uint32_t symbol, int64_t addend = 0) {
    Mem m; m.kind = Kind::RipSymbol; m.symbol = symbol; m.disp = addend; return m;
  }
  static constexpr Mem ripDistance(int64_t disp) { Mem m; m.kind = Kind::RipDistance; m.disp = disp; return m; }
  constexpr Mem scaled(Reg indexReg, unsigned by) const {
    Mem m = *this; m.index = indexReg.number; m.scale = static_cast<uint8_t>(by); return m;
  }
  constexpr Mem sized(unsigned newBits) const { Mem m = *this; m.bits = static_cast<uint16_t>(newBits); return m; }
  constexpr Mem plus(int64_t more) const { Mem m = *this; m.disp += more; return m; }
  constexpr Mem broadcast(unsigned elementBits, unsigned count) const {
    Mem m = *this; m.bits = static_cast<uint16_t>(elementBits); m.copies = static_cast<uint8_t>(count); return m;
  }
};

struct SymbolTarget { uint32_t symbol; int64_t addend = 0; };  // of a call or jump

struct Operand {
  enum class Kind : uint8_t { None, Reg, Mem, Imm, Cond, Label, Symbol };
  Kind kind = Kind::None;
  Cond cond = Cond::O;
  Reg reg;
  union {
    Mem mem;
    int64_t imm;
    Label label;
    SymbolTarget symbol;
  };

  constexpr Operand() : mem() {}
  constexpr Operand(Reg r) : kind(Kind::Reg), reg(r), mem() {}
  constexpr Operand(const Mem& m) : kind(Kind::Mem), mem(m) {}
  constexpr Operand(int64_t i) : kind(Kind::Imm), imm(i) {}
  constexpr Operand(int i) : kind(Kind::Imm), imm(i) {}
  constexpr Operand(Cond c) : kind(Kind::Cond), cond(c), mem() {}
  constexpr Operand(Label l) : kind(Kind::Label), label(l) {}
  constexpr Operand(SymbolTarget s) : kind(Kind::Symbol), symbol(s) {}
  constexpr bool isReg() const { return kind == Kind::Reg; }
  constexpr bool isMem() const { return kind == Kind::Mem; }
};

// The operands in Intel's order (destination first) with what decorates the instruction.
struct Operands {
  Operand list[4];
  uint8_t count = 0;
  uint8_t mask = 0;      // k1 to k7: only these lanes are written; 0: all
  bool zeroing = false;  // lanes not written become zero instead of staying
  bool lock = false;     // LOCK prefix: only with a memory destination

  Operands() = default;
  Operands(std::initializer_list<Operand> operands) { for (const Operand& o : operands) add(o); }
  void add(const Operand& o) {
    if (count == 4) internalError("more than four operands in an x86-64 instruction");
    list[count++] = o;
  }
  Operands masked(unsigned k, bool zero = false) const {
    Operands o = *this;
    o.mask = static_cast<uint8_t>(k);
    o.zeroing = zero;
    return o;
  }
  Operands locked() const { Operands o = *this; o.lock = true; return o; }
};

struct FormTag;
using FormId = Id<FormTag>;  // a row of forms.def
struct Form;                 // forms.h

// The row that GNU as would choose for these operands, or none.
FormId chooseForm(Mnemonic mnemonic, const Operands& operands);

// Appends the instruction in this form. False, with buffer.refusal() set and nothing written, when the operands do
// not fit.
[[nodiscard]] bool encode(CodeBuffer& buffer, FormId form, const Operands& operands);

// The same in the first form that fits.
[[nodiscard]] bool tryEmit(CodeBuffer& buffer, Mnemonic mnemonic, const Operands& operands);

// For a selector that knows that its operands fit: a refusal is an internal error that shows the instruction.
void emit(CodeBuffer& buffer, Mnemonic mnemonic, const Operands& operands);

}  // namespace mica::x64
