// See target.h.
#include "backend_x64/target.h"

#include "backend_x64/abi.h"

namespace mica::x64 {

FlagCond negate(FlagCond c) {
  Parity p = c.parity == Parity::AndClear ? Parity::OrSet
             : c.parity == Parity::OrSet  ? Parity::AndClear
                                          : Parity::Ignored;
  return {negate(c.cond), p};
}

namespace {

const char* opName(uint16_t op) {
  static const char* const mnemonics[] = {
#define M(name) #name,
#include "backend_x64/mnemonics.def"
#undef M
  };
  static const char* const pseudo[] = {"args",   "jump",    "branch",  "switch", "ret",      "trap if",  "trap",
                                       "move if", "call", "call ind", "syscall", "spawn", "cpu level", "zero"};
  if (op >= PFirst) return pseudo[op - PFirst];
  return mnemonics[op - mir::FirstTarget];
}

mir::Target make(unsigned level) {
  mir::Target t;
  t.name = level >= 2 ? "x86-64, level 2" : "x86-64";
  t.regNames = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
  static const char* const vectorNames[] = {"v0",  "v1",  "v2",  "v3",  "v4",  "v5",  "v6",  "v7",  "v8",  "v9",  "v10",
                                            "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21",
                                            "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31"};
  for (const char* n : vectorNames) t.regNames.push_back(n);
  // Registers with other duties (arguments, division) later among the caller-saved ones; then the callee-saved ones.
  t.order[0] = {Rax, Rsi, Rdi, R8, R9, R10, R11, Rdx, Rcx, Rbx, R12, R13, R14};
  for (mir::PReg r : t.order[0]) t.allocatable[0] |= mir::bit(r);
  for (unsigned n = 0; n < (level >= 2 ? 32u : 16u); ++n) {
    t.order[1].push_back(vectorReg(n));
    t.allocatable[1] |= mir::bit(vectorReg(n));
  }
  t.calleeSaved = CalleeSaved;
  t.jumpOp = PJump;
  t.opName = opName;
  return t;
}

}  // namespace

const mir::Target& target(unsigned cpuLevel) {
  static const mir::Target one = make(1), two = make(2);
  return cpuLevel >= 2 ? two : one;
}

}  // namespace mica::x64
