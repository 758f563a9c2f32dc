// The table of x86-64 instruction forms: what a row of forms.def says.
//
// A row has the manual's columns: mnemonic, operands, where each operand goes (the manual's "Op/En"), mandatory
// prefix, opcode map, opcode, W, /digit or /r, immediate. Vector rows say W for VEX and EVEX separately (either may
// be missing) and which vector lengths exist. `describeForm` prints a row as the manual would, a line for each size
// or length.
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "backend_x64/encoder.h"

namespace mica::x64 {

// What may stand at an operand's place. "v" is 16, 32 or 64 bits, "y" 32 or 64, one choice for the whole instruction.
// V is a vector of the instruction's length, H, Q and E are half, a quarter, an eighth of it (a register is at least
// 128 bits).
enum class OperandKind : uint8_t {
  _,                                   // no operand
  R8, R16, R32, R64, Rv, Ry,           // general registers
  RM8, RM16, RM32, RM64, RMv, RMy,     // the same, or memory of that size
  M, M8, M16, M32, M64, M128, M256, Mv,  // memory only; M of any size
  AL, Av, CL, One,                     // fixed: the accumulator, CL, the number 1
  Imm,                                 // as the row's immediate column says
  Cc, Target,                          // a condition; a label or symbol
  X, X8, X16, X32, X64, X128,          // xmm; xmm or memory of 8 to 128 bits
  V, VM, MV, H, HM, Q, QM, E, EM,      // vectors by length; …M: or memory of that size; MV: memory only
  K, KM8, KM16, KM32, KM64,            // mask registers; or memory
};

// Where the operands go, in their order: M ModRM.rm, R ModRM.reg, V VEX.vvvv, O the opcode's low bits, I immediate, S
// the immediate's high four bits, C the opcode's condition, D a distance, and x nowhere (the opcode implies it).
enum class OpEn : uint8_t {
  ZO, I, xI, O, Ox, xO, OI, M, MI, Mx, MR, MRI, MRx, RM, RMI, RVM, RVMI, RVMS, RMV, VMI, MVR, CM, CRM, CD, D
};

enum class Prefix : uint8_t { NP, P66, PF3, PF2 };           // in the order of VEX.pp
enum class Map : uint8_t { Plain, M0F, M0F38, M0F3A };       // in the order of VEX.mmmmm
enum class W : uint8_t { None, W0, W1, WIG, Wv };            // None: no such encoding, or no REX.W; Wv: by operand size
// L0 and L1: the bit alone, for forms without vector operands.
enum class Lengths : uint8_t { LIG, L0, L1, L128, L256, L512, L12, L25, L125 };
// ibs: sign-extended to the operand size; iz: 16 or 32 bits by operand size.
enum class Imm : uint8_t { None, ib, ibs, iw, iz, id, iq, is4, rel };

// The ModRM column: /0 to /7, /r, none, or a whole ModRM byte that belongs to the opcode.
enum class ModRm : uint8_t { S0, S1, S2, S3, S4, S5, S6, S7, Sr, None, BD0 = 0xd0, BE8 = 0xe8, BF0 = 0xf0, BF8 = 0xf8 };

// What else a form allows, as bits.
enum Allow : uint8_t {
  Nothing = 0,
  Locked = 1,      // a LOCK prefix
  Masked = 2,      // {k}
  Zeroed = 4 | 2,  // {k}{z}, not when the destination is memory
  Bcst32 = 8,      // an embedded broadcast of 32-bit elements
  Bcst64 = 16,     // of 64-bit elements
  IfShorter = 32,  // the reversed form of a register move: taken only where it saves a byte of VEX prefix
};

struct Form {
  Mnemonic mnemonic;
  OperandKind operands[4];
  OpEn opEn;
  Prefix prefix;
  Map map;
  uint8_t opcode;
  bool isVector;     // VEX or EVEX
  W w;               // REX.W, or W of VEX
  W evexW;
  Lengths lengths;
  ModRm modRm;
  Imm imm;
  uint8_t allow;     // Allow bits
};

std::span<const Form> allForms();
const Form& formOf(FormId id);

// The shapes of operands, as bits: what a place in a row may take at all, before sizes are looked at.
enum Shape : uint8_t {
  NoShape = 1, GeneralShape = 2, VectorShape = 4, MaskShape = 8,
  MemShape = 16, ImmShape = 32, CondShape = 64, TargetShape = 128
};

// What follows from a row, worked out once so that choosing a row is quick.
struct FormFacts {
  uint32_t shapes;      // a byte of Shape bits for each operand, the first lowest
  int8_t sizePlace;     // the operand that gives the "v" or "y" size; -1 when the form has one size
  bool takes16;         // the size may be 16 ("v")
};
const FormFacts& factsOf(uint32_t row);

constexpr Shape registerShape(RegClass cls) {
  return cls == RegClass::General ? GeneralShape : cls == RegClass::Vector ? VectorShape : MaskShape;
}

// The rows of a mnemonic, in order of preference.
struct FormRange { uint32_t first, end; };
FormRange formsOf(Mnemonic mnemonic);

// What a kind takes at a given operand size and vector length, in bits; 0: no register, or no memory.
struct KindSizes {
  RegClass cls;
  uint16_t reg, mem;
};
constexpr uint16_t AnySize = 1;  // of memory
inline constexpr KindSizes sizesOf(OperandKind kind, unsigned operandSize, unsigned vectorLength) {
  auto size = static_cast<uint16_t>(operandSize);
  auto length = static_cast<uint16_t>(vectorLength);
  auto atLeastXmm = [](unsigned bits) { return static_cast<uint16_t>(std::max(bits, 128u)); };
  auto part = [&](unsigned by) { return static_cast<uint16_t>(length / by); };
  constexpr RegClass General = RegClass::General, Vector = RegClass::Vector, Mask = RegClass::Mask;
  switch (kind) {
    case OperandKind::R8: return {General, 8, 0};
    case OperandKind::R16: return {General, 16, 0};
    case OperandKind::R32: return {General, 32, 0};
    case OperandKind::R64: return {General, 64, 0};
    case OperandKind::Rv:
    case OperandKind::Av:
    case OperandKind::Ry: return {General, size, 0};
    case OperandKind::RM8: return {General, 8, 8};
    case OperandKind::RM16: return {General, 16, 16};
    case OperandKind::RM32: return {General, 32, 32};
    case OperandKind::RM64: return {General, 64, 64};
    case OperandKind::RMv:
    case OperandKind::RMy: return {General, size, size};
    case OperandKind::M: return {General, 0, AnySize};
    case OperandKind::M8: return {General, 0, 8};
    case OperandKind::M16: return {General, 0, 16};
    case OperandKind::M32: return {General, 0, 32};
    case OperandKind::M64: return {General, 0, 64};
    case OperandKind::M128: return {General, 0, 128};
    case OperandKind::M256: return {General, 0, 256};
    case OperandKind::Mv: return {General, 0, size};
    case OperandKind::AL:
    case OperandKind::CL: return {General, 8, 0};
    case OperandKind::X: return {Vector, 128, 0};
    case OperandKind::X8: return {Vector, 128, 8};
    case OperandKind::X16: return {Vector, 128, 16};
    case OperandKind::X32: return {Vector, 128, 32};
    case OperandKind::X64: return {Vector, 128, 64};
    case OperandKind::X128: return {Vector, 128, 128};
    case OperandKind::V: return {Vector, length, 0};
    case OperandKind::VM: return {Vector, length, length};
    case OperandKind::MV: return {Vector, 0, length};
    case OperandKind::H: return {Vector, atLeastXmm(part(2)), 0};
    case OperandKind::HM: return {Vector, atLeastXmm(part(2)), part(2)};
    case OperandKind::Q: return {Vector, 128, 0};
    case OperandKind::QM: return {Vector, 128, part(4)};
    case OperandKind::E: return {Vector, 128, 0};
    case OperandKind::EM: return {Vector, 128, part(8)};
    case OperandKind::K: return {Mask, 64, 0};
    case OperandKind::KM8: return {Mask, 64, 8};
    case OperandKind::KM16: return {Mask, 64, 16};
    case OperandKind::KM32: return {Mask, 64, 32};
    case OperandKind::KM64: return {Mask, 64, 64};
    case OperandKind::_:
    case OperandKind::One:
    case OperandKind::Imm:
    case OperandKind::Cc:
    case OperandKind::Target: break;
  }
  return {General, 0, 0};
}

// The operand sizes that a form comes in: those of its "v" or "y" operands, else {0}.
std::span<const unsigned> operandSizesOf(const Form& form);
// The vector lengths in VEX (up to 256) or EVEX; {128} where the length is ignored or fixed by the opcode.
std::span<const unsigned> vectorLengthsOf(const Form& form, bool evex);

const char* rolesOf(OpEn opEn);  // a letter for each operand

std::vector<std::string> describeForm(const Form& form);

}  // namespace mica::x64
