// The interpreter's own code. A frame is a run of 8-byte cells: four for the link to the caller, then the cells of the values
// (one for a scalar, as many as its bytes need for a vector), then the slots. Integers are kept sign extended to 64 bits, so that
// comparisons and many operations are the same for every width; i1 is 0 or 1; f32 lies in the low half.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/ir.h"

namespace mica::ir::interp {

// Operations with a form for each integer width, each also with an immediate second operand.
#define INTERP_INT(F) F(Add) F(Sub) F(Mul) F(Shl) F(ShrS) F(ShrU) F(RotL) F(MulHiS) F(MulHiU) \
  F(SAddT) F(SSubT) F(SMulT) F(UAddT) F(USubT) F(UMulT) F(SDivT) F(UDivT) F(SRemT) F(URemT)
// Operations that the sign extension makes the same for every width.
#define INTERP_ANY(F) F(And) F(Or) F(Xor) F(MinS) F(MaxS) F(CmpEq) F(CmpNe) F(CmpSlt) F(CmpSle) F(CmpSgt) F(CmpSge) \
  F(CmpUlt) F(CmpUle) F(CmpUgt) F(CmpUge) F(JmpEq) F(JmpNe) F(JmpSlt) F(JmpSle) F(JmpSgt) F(JmpSge) F(JmpUlt) F(JmpUle) F(JmpUgt) F(JmpUge)
#define INTERP_UNARY(F) F(Clz) F(Ctz) F(Popcount) F(SExtTo) F(ZExtFrom)
#define INTERP_FLOAT(F) F(FAdd) F(FSub) F(FMul) F(FDiv) F(FMin) F(FMax) F(FSqrt) F(Fma) F(FNeg) F(FAbs) F(FFloor) F(FCeil) F(FTrunc) F(FRound) \
  F(FEq) F(FNe) F(FLt) F(FLe) F(FGt) F(FGe) F(FNlt) F(FNle) F(FNgt) F(FNge) F(SToF) F(UToF) F(FToST) F(FToUT) F(FToSSat) F(FToUSat)
#define INTERP_OTHER(F) F(Const) F(Mov) F(MovN) F(SlotAddr) F(Context) F(SetContext) F(FramePtr) F(SExt1) F(Trunc1) F(Not) F(FExt) F(FCut) \
  F(Select) F(Load1) F(Load8) F(Load16) F(Load32) F(LoadF32) F(Load64) F(LoadN) F(Store8) F(Store16) F(Store32) F(Store64) F(StoreN) \
  F(MemCopy) F(MemZero) F(ALoad) F(AStore) F(AAdd) F(ASwap) F(ACas) F(Fence) F(Vector) F(Call) F(CallInd) F(Syscall) \
  F(TrapIf) F(Trap) F(Jump) F(JumpIf) F(Switch) F(Ret) F(Unreachable) F(Undefined) F(Line)

enum class X : uint16_t {
#define F(name) name##8, name##16, name##32, name##64, name##8Imm, name##16Imm, name##32Imm, name##64Imm,
  INTERP_INT(F)
#undef F
#define F(name) name, name##Imm,
  INTERP_ANY(F)
#undef F
#define F(name) name##8, name##16, name##32, name##64,
  INTERP_UNARY(F)
#undef F
#define F(name) name##F32, name##F64,
  INTERP_FLOAT(F)
#undef F
#define F(name) name,
  INTERP_OTHER(F)
#undef F
};

// d: the result's cell (jumps: where to when true); a, b, c: operands' cells (c also: where to when false, a lane).
struct Code {
  X op{};
  uint16_t n = 0;            // lanes, cells, bytes or a width, as the operation needs
  uint32_t d = 0, a = 0, b = 0, c = 0;
  int64_t imm = 0;
};

using VectorFn = void (*)(uint64_t* r, const Code&);
// The function that carries out a vector instruction over cells; null if there is none.
VectorFn vectorFunction(const Function&, const Inst&);

inline constexpr uint64_t TextBase = 0x500000000000;   // no mapping of the host lies there
inline constexpr uint32_t LinkCells = 4;               // caller's frame, return address, cell for the result, unused

struct Decoded {
  uint32_t first = 0;        // of its code
  uint32_t frameCells = 0;   // a multiple of 8
  uint32_t paramCells = 0, resultCells = 0;
};

struct Program {
  const Module& module;
  std::vector<Code> code;
  std::vector<PlaceId> places;          // of each code
  std::vector<Decoded> functions;
  std::vector<uint32_t> functionAt;     // for each code: the function that begins there, or none
  std::vector<uint32_t> cells;          // argument lists
  struct Table { std::vector<std::pair<int64_t, uint32_t>> cases; uint32_t otherwise = 0; };
  std::vector<Table> tables;            // of switches; cases sorted
  std::vector<std::string> undefined;   // what Undefined cannot do
  std::vector<std::pair<uint32_t, SymbolId>> symbolUses;   // codes whose immediate is relative to a symbol
  std::vector<uint64_t> symbolAddress;  // 0 where unknown
  std::deque<std::vector<uint64_t>> memory;   // of data objects
  uint32_t trapRaise = None;            // the function Trap.Raise
  const bool recordLines;               // a Line code stands where an instruction's place differs from the one before
  static constexpr uint32_t None = 0xffffffffu;

  Program(const Module&, bool recordLines);

 private:
  void addressSymbols();
  void fillReferences();
  uint64_t makePlaceTable();
};

// Decodes one function to the end of the program's code.
void decode(Program&, uint32_t function);

inline uint32_t cellsOf(Type t) { return (t.bytes() + 7) / 8; }

// Carries out a system call, or the interpreter's stand-in for it. Sets `exited` when the process ends, with the status as result.
int64_t systemCall(const int64_t* numberAndArgs, bool& exited);

}  // namespace mica::ir::interp
