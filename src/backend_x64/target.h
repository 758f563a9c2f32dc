// What the register allocator needs to know of x86-64, the numbering of its registers there, and the operations of our
// machine IR that are not single instructions.
//
// Physical registers: 0-15 general, 16-47 vector. rsp, rbp (frame pointer of every function) and r15 (the thread's
// context) are never allocated. At processor level 1 (AVX2, FMA, BMI) sixteen vector registers exist, at level 2
// (AVX-512 F, BW, DQ, VL) thirty-two. Mask registers are not allocated: k1 lives only between neighbouring instructions
// of one selection.
#pragma once
#include "backend_x64/encoder.h"
#include "ir/mir.h"

namespace mica::x64 {

constexpr mir::PReg FirstVector = 16;
constexpr mir::PReg vectorReg(unsigned n) { return mir::PReg(FirstVector + n); }

enum PhysGpr : mir::PReg { Rax, Rcx, Rdx, Rbx, Rsp, Rbp, Rsi, Rdi, R8, R9, R10, R11, R12, R13, R14, R15 };

// Machine operations: the encoder's mnemonics from FirstTarget on, then these.
enum Pseudo : uint16_t {
  PFirst = mir::FirstTarget + uint16_t(Mnemonic::Count),
  PArgs = PFirst,  // defines the register arguments
  PJump,  // to successor 0
  PBranch,  // to successor 0 on the flags in `cond`, else to 1; `extra` is the Parity rule
  PSwitch,  // operands: index (64 bits), two temporaries; extra: the jump table
  PRet,
  PTrapIf,  // on the flags in `cond` (extra: Parity | trap call << 2) to an out-of-line call
  PTrap,  // the call itself, in line; extra: trap call << 2
  PMoveIf,  // operand 0 (tied to 1) := operand 2 on the flags; a branch around a move, for registers without a
            // conditional move
  PCall,  // extra: the symbol
  PCallInd,  // through operand 0
  PSyscall,
  PSpawn,  // clone, and the child's start
  PCpuLevel,
  PZeroReg,  // 0 into a general register; the shortest form where flags are dead
};

// How the parity flag, set by a comparison with NaN, joins the condition.
enum class Parity : uint8_t { Ignored, AndClear, OrSet };
struct FlagCond { Cond cond = Cond::E; Parity parity = Parity::Ignored; };
FlagCond negate(FlagCond);

constexpr uint16_t opOf(Mnemonic m) { return uint16_t(mir::FirstTarget + uint16_t(m)); }

const mir::Target& target(unsigned cpuLevel);

}  // namespace mica::x64
