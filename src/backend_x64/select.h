// Selection: one IR function to x86-64 machine IR with virtual registers.
//
// Idea: blocks are visited so that uses come before definitions, each block from its end; an instruction is emitted
// only when its result was asked for or it has an effect. So whatever an instruction takes into itself (an address, an
// immediate, a load with one use, a comparison in front of a branch) is simply never asked for. The files: select.cpp
// (the walk, operands, addresses), select_control.cpp (comparisons, branches, calls, traps), select_int.cpp,
// select_float.cpp (scalars and conversions), select_vector.cpp, select_memory.cpp.
#pragma once
#include <map>

#include "backend_x64/abi.h"
#include "backend_x64/target.h"
#include "ir/mir.h"

namespace mica::x64 {

using mir::VReg;
using MirInst = mir::Inst;

// An address before it is part of an instruction.
struct Addr {
  mir::MemRef::Kind kind = mir::MemRef::None;
  VReg base, index;
  uint8_t scale = 1;
  int32_t disp = 0;
  uint32_t id = 0;
};

// A source operand that may be a register, memory or an immediate.
struct Src {
  enum Kind : uint8_t { Reg, Mem, Imm } kind = Reg;
  VReg reg;
  Addr addr;
  int64_t imm = 0;
  uint8_t copies = 0;        // Mem: embedded broadcast
  uint16_t memBits = 0;      // Mem: 0 means as wide as the register operand would be
};

class Selector;

// One instruction while it is put together; appended to the selector's sequence at the end of the full expression.
class Build {
 public:
  Build(Selector& selector, uint16_t op);
  ~Build();
  Build(const Build&) = delete;
  Build& operator=(const Build&) = delete;

  Build& def(VReg, unsigned bits);
  Build& earlyDef(VReg, unsigned bits);              // written before all uses are read
  Build& tied(VReg d, VReg u, unsigned bits);        // d := d op …, where d starts as u
  Build& use(VReg, unsigned bits, bool late = false);
  Build& any(VReg, unsigned bits,
             unsigned memBits = 0);  // a register or its spill slot: only where the form takes memory
  Build& mem(const Addr&, unsigned bits, unsigned copies = 0);
  Build& src(const Src&, unsigned bits, unsigned memBits = 0);   // where the form takes memory
  Build& imm(int64_t);
  Build& cond(Cond);
  Build& same(unsigned bits);                        // operand 0 once more
  Build& phys(mir::PReg, unsigned bits);  // a register that is never allocated: rsp, rbp, r15, a mask as 64 + n
  Build& defIn(mir::PReg, VReg);                     // implied operands
  Build& useIn(mir::PReg, VReg);
  Build& hidden(VReg, bool late = false);            // a use that the encoded form does not show
  Build& hiddenAny(VReg);
  Build& temp(VReg, bool early = true);              // a definition that the encoded form does not show
  Build& hiddenTied(VReg d, VReg u);
  Build& clobber(mir::RegSet);
  Build& mask(unsigned k, bool zeroing = false);
  Build& lock();
  Build& remat();
  Build& call();
  Build& terminator();
  Build& extra(uint32_t);
  Build& flags(Cond);                                // what a pseudo instruction reads
  unsigned operandCount() const { return unsigned(operands.size()); }

 private:
  Selector& selector;
  MirInst inst;
  std::vector<mir::Operand> operands;
  unsigned argCount = 0;
  unsigned add(VReg, bool isDef, mir::Constraint);
  mir::Arg& arg(mir::Arg::Kind, unsigned operand, unsigned bits);
};

class Selector {
 public:
  Selector(const ir::Module&, const ir::Function&);
  // False with `error` when the function holds something that the backend does not take.
  bool run(mir::Function& out, std::string& error);

 private:
  friend class Build;
  const ir::Module& module;
  const ir::Function& f;
  mir::Function* out = nullptr;
  const unsigned level;
  std::string failure;

  std::vector<ir::BlockId> order;              // reachable blocks, reverse postorder
  std::vector<mir::BlockId> blockOf;           // by IR block
  std::vector<VReg> regs;                      // by IR value: asked for
  std::vector<uint32_t> uses;                  // by IR value
  std::vector<uint32_t> blockOfValue,
      epochOf;  // by IR value: where it is defined; how many writes come before it in its block
  std::vector<uint32_t> epochs;                // by IR instruction
  uint32_t blockNow = 0, epochNow = 0;
  bool coldCall = false;                       // the block calls a function that is seldom called
  ir::PlaceId placeNow;
  std::vector<MirInst> sequence;               // of the IR instruction being selected, forwards
  std::vector<MirInst> reversed;               // the block's instructions so far, backwards
  std::map<std::string, uint32_t> constantIds;
  uint32_t trapSymbol = 0;

  // select.cpp
  void findOrder();
  void countUses();
  void selectBlock(ir::BlockId);
  void select(const ir::Inst&);
  void flush();
  void arguments();
  [[noreturn]] void refuse(const ir::Inst&, const char* why);

  Build ins(Mnemonic m) { return Build(*this, opOf(m)); }
  Build ins(Pseudo p) { return Build(*this, p); }
  VReg newInt() { return out->newVReg(mir::RegClass::Int, 8); }
  VReg newVec(unsigned bytes = 16) { return out->newVReg(mir::RegClass::Vector, bytes < 16 ? 16 : bytes); }
  VReg newFloat() { return out->newVReg(mir::RegClass::Vector, 8); }
  VReg newReg(ir::Type t) { return out->newVReg(classOf(t), spillSize(t)); }

  const ir::Inst* defOf(ir::ValueId v) const;
  const ir::Inst* defHere(ir::ValueId v) const;      // … when it is in the current block
  ir::ValueId arg(const ir::Inst& i, unsigned k) const { return f.arg(i, k); }
  ir::ValueId origin(ir::ValueId) const;             // behind conversions that are no instructions
  VReg reg(ir::ValueId);                             // the value in a register
  VReg result(const ir::Inst& i) { return regs[i.result.index]; }
  bool isConst(ir::ValueId, int64_t& value) const;   // an integer constant, sign extended
  bool isImm32(ir::ValueId, int64_t& value) const;
  bool dying(ir::ValueId) const;                     // probably not needed after the current instruction
  bool foldableLoad(ir::ValueId, unsigned bytes) const;
  Src source(
      ir::ValueId,
      bool broadcasts = false);  // register, load, or constant in memory (floats, vectors); as one value for all lanes?
  Src intSource(ir::ValueId, unsigned bits);         // register, load or 32-bit immediate
  Addr slotAddr(uint32_t bytes, uint32_t align);     // a new stack slot
  Addr address(ir::ValueId pointer, int64_t offset, bool own = false);   // own: to compute the pointer itself
  void addOffset(Addr&, int64_t offset);
  Addr constantAddr(const std::string& bytes);
  Addr constantAddr(uint64_t value, unsigned bytes, unsigned copies = 1);
  VReg intConst(int64_t value);
  VReg extend(ir::ValueId, bool isSigned, unsigned toBits = 32);   // a narrow integer, made at least 32 bits wide
  void move(VReg to, VReg from);

  // select_control.cpp
  FlagCond flagsOf(ir::ValueId condition);           // emits what sets the flags
  bool fusible(ir::ValueId condition) const;
  FlagCond compareInts(const ir::Inst&);
  FlagCond compareFloats(const ir::Inst&);
  FlagCond anyTrue(const ir::Inst&);
  void setFlag(VReg to, FlagCond);
  void selectCompare(const ir::Inst&);
  void selectSelect(const ir::Inst&);
  void selectCall(const ir::Inst&);
  void selectTerminator(const ir::Inst&);
  void selectSwitch(const ir::Inst&);
  VReg searchCases(const ir::Inst&, VReg value, mir::JumpTable&);
  void selectSyscall(const ir::Inst&);
  void selectSpawn(const ir::Inst&);
  void selectRet(const ir::Inst&);
  void edgesOf(const ir::Inst&);
  uint32_t trapCall(ir::TrapKind kind);
  void trapIf(FlagCond, ir::TrapKind);
  void selectTrap(const ir::Inst&, bool conditional);
  std::vector<mir::Edge> edges;

  // select_int.cpp
  bool selectInt(const ir::Inst&);
  void binaryInt(const ir::Inst&, Mnemonic, bool commutes);
  void addSub(const ir::Inst&);
  void multiply(const ir::Inst&);
  void shift(const ir::Inst&);
  void rotate(const ir::Inst&);
  void countBits(const ir::Inst&);
  void multiplyHigh(const ir::Inst&);
  void minMaxInt(const ir::Inst&);
  void checkedAddSub(const ir::Inst&);
  void checkedMul(const ir::Inst&);
  void divide(const ir::Inst&);
  bool divideByConstant(const ir::Inst&, bool isSigned, bool remainder);
  void convertInt(const ir::Inst&);

  // select_float.cpp
  bool selectFloat(const ir::Inst&);
  void binaryFloat(const ir::Inst&);
  void fma(const ir::Inst&);
  void signBit(const ir::Inst&);
  void minMaxFloat(const ir::Inst&);
  void roundFloat(const ir::Inst&);
  void intToFloat(const ir::Inst&);
  void floatToInt(const ir::Inst&);
  void floatToIntSaturating(const ir::Inst&);
  void truncateUnsigned(VReg x, bool isDouble, VReg to);
  VReg truncated(VReg x, bool isDouble, VReg to, bool wide = true);
  void bitcast(const ir::Inst&);
  VReg zeroVec(unsigned bytes);

  // select_vector.cpp
  bool selectVector(const ir::Inst&);
  void vectorInt(const ir::Inst&);
  void vectorMul(const ir::Inst&);
  void vectorShift(const ir::Inst&);
  void vectorMinMax(const ir::Inst&);
  void vectorCompare(const ir::Inst&);
  void compareToMask(const ir::Inst&);               // level 2: into k1
  void vectorSelect(const ir::Inst&);
  void splat(const ir::Inst&);
  void vectorConst(const ir::Inst&);
  void halves(const ir::Inst&);
  void lane(const ir::Inst&);
  void setLane(const ir::Inst&);
  void zip(const ir::Inst&);
  void vectorConvert(const ir::Inst&);
  void saturateVector(const ir::Inst&);
  void laneByLane(const ir::Inst&);                  // through memory, for operations without an instruction
  Src lanesConst(uint64_t value, unsigned laneBytes, unsigned bits);
  void onesInto(VReg, unsigned bits);
  Addr patternAddr(ir::Type from, unsigned toLane);
  VReg maskedCount(const ir::Inst&);
  VReg chunkOf(VReg v, ir::Type t, unsigned chunk);
  unsigned vbits(ir::Type t) const { return t.bytes() <= 16 ? 128 : t.bytes() <= 32 ? 256 : 512; }

  // select_memory.cpp
  bool selectMemory(const ir::Inst&);
  void load(const ir::Inst&);
  void loadInto(VReg, ir::Type, const Addr&);
  void store(const ir::Inst&);
  void storeFrom(VReg, ir::Type, const Addr&);
  bool updateInPlace(const ir::Inst&);
  void copyBlock(const ir::Inst&);
  void zeroBlock(const ir::Inst&);
  void atomic(const ir::Inst&);
};

}  // namespace mica::x64
