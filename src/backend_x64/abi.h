// Our calling convention on x86-64: where arguments and results are, who saves which registers.
//
// Integers, pointers and i1 go in rdi, rsi, rdx, rcx, r8, r9, float scalars and vectors in vector registers 0 to 7; the
// rest on the stack in order, in multiples of 8 bytes, the first at the lowest address ([rsp] at the call). One result
// in rax or vector register 0. rbx, r12, r13, r14 and rbp are the callee's to save; r15 is the thread's context
// throughout; no vector register survives a call. The stack is 16-byte aligned at calls. Bits of a register above a
// narrow integer are undefined; an i1 is 0 or 1 in the low byte. For integers, pointers and scalar floats this is also
// what C functions expect, so a pointer to one can be called.
#pragma once
#include <span>

#include "backend_x64/target.h"

namespace mica::x64 {

inline constexpr mir::RegSet CalleeSaved = mir::bit(Rbx) | mir::bit(R12) | mir::bit(R13) | mir::bit(R14);

// What a call destroys at a processor level.
mir::RegSet callClobbers(unsigned cpuLevel);

mir::RegClass classOf(ir::Type);
unsigned spillSize(ir::Type);          // of a value of the type: 8, 16, 32 or 64

struct ArgPlace {
  mir::PReg reg = mir::NoReg;          // else on the stack
  uint32_t offset = 0;
};

// Where each argument goes; answers the bytes of stack that they take.
uint32_t placeArgs(std::span<const ir::Type> types, std::vector<ArgPlace>& places);

inline mir::PReg resultReg(ir::Type t) { return classOf(t) == mir::RegClass::Int ? mir::PReg(Rax) : vectorReg(0); }

}  // namespace mica::x64
