// Machine IR: a function after selection, in the target's instructions but with virtual registers, and what the
// register allocator knows of a target.
//
// Virtual registers are in SSA form (one definition each; blocks have parameters, edges carry arguments). An
// instruction lists its register operands with their constraints; everything else in it (`args`, `mem`, `imm`, …)
// belongs to the target and says how the operands become an encoded instruction. The allocator reads operands and
// clobbers, writes `loc` into each operand and inserts the generic instructions Move and Swap, whose operands have
// locations only.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/ir.h"
#include "support/support.h"

namespace mica::mir {

struct VRegTag; struct BlockTag;
using VReg = Id<VRegTag>;       // prints as v3
using BlockId = Id<BlockTag>;   // prints as b2

using PReg = uint8_t;           // a physical register: a number of the target, below 64
inline constexpr PReg NoReg = 0xff;
using RegSet = uint64_t;        // bit n: register n
constexpr RegSet bit(PReg r) { return RegSet(1) << r; }

enum class RegClass : uint8_t { Int, Vector };   // Vector holds float scalars too
inline constexpr unsigned ClassCount = 2;

// Where a value is: a register or a spill slot.
struct Loc {
  enum Kind : uint8_t { None, Reg, Slot };
  Kind kind = None;
  uint32_t index = 0;
  static Loc reg(PReg r) { return {Reg, r}; }
  static Loc slot(uint32_t s) { return {Slot, s}; }
  bool isReg() const { return kind == Reg; }
  bool isSlot() const { return kind == Slot; }
  auto operator<=>(const Loc&) const = default;
};

enum class Constraint : uint8_t {
  Reg,      // some register of the class
  Fixed,    // the register `fixed`
  Tied,     // definitions: the register of use operand `tied`
  Any,      // uses: a register or a spill slot
};

struct Operand {
  VReg reg;
  bool isDef = false;
  Constraint constraint = Constraint::Reg;
  bool late = false;        // a use still read after the first definition; a definition written before the last use
  uint8_t fixed = NoReg;    // Fixed: the register
  uint8_t tied = 0;         // Tied: the use's number among the instruction's operands
  Loc loc;                  // the allocator's answer
};

// The generic operations; a target's begin at FirstTarget.
enum Generic : uint16_t {
  Copy,      // operand 0 := operand 1, tied; vanishes
  Move,      // loc := loc: register to register, to and from slots (after allocation)
  Swap,      // exchanges two registers of class Int (after allocation)
  FirstTarget,
};

// The target's view of an instruction's operands: which of them stands where in the encoded form.
struct Arg {
  enum Kind : uint8_t { None, Reg, Mem, Imm, Cond, Fixed };
  Kind kind = None;
  uint8_t operand = 0;      // Reg: number of the register operand; Fixed: a physical register that is never allocated
  uint16_t bits = 0;        // width of the register as the instruction sees it
  uint16_t memBits = 0;     // Reg whose operand may be in a spill slot: what is read there
};

struct MemRef {
  enum Kind : uint8_t { None, Address, Symbol, Slot, Incoming, Outgoing, Constant };
  Kind kind = None;
  int8_t base = -1, index = -1;   // operand numbers; Slot, Incoming and Outgoing take an index but no base
  uint8_t scale = 1;
  uint8_t copies = 0;             // embedded broadcast
  uint16_t bits = 0;              // what is read or written there
  int32_t disp = 0;
  uint32_t id = 0;                // Symbol: of the module; Slot: the IR function's; Constant: of Function::constants
};

struct Inst {
  uint16_t op = 0;
  uint8_t cond = 0;
  uint8_t mask = 0;               // a mask register of the target, 0: none
  bool zeroing = false;           // with a mask: other lanes become 0
  bool locked = false;
  bool isCall = false;
  bool isTerminator = false;
  bool remat = false;             // one definition, no uses, flags left alone: made wherever it is needed
  uint16_t operandCount = 0;
  uint32_t firstOperand = 0;      // Function::operands
  RegSet clobbers = 0;
  Arg args[4];
  MemRef mem;
  int64_t imm = 0;
  uint32_t extra = 0;             // the target's tables: trap calls, jump tables, symbols
  ir::PlaceId place;
};

struct Edge {
  BlockId to;
  std::vector<VReg> args;
};

struct Block {
  std::vector<VReg> params;
  std::vector<Loc> paramLocs;     // the allocator's answer: where each parameter is at the start (none: never used)
  std::vector<Inst> insts;        // the last one is the terminator
  std::vector<Edge> succs;
  std::vector<BlockId> preds;     // one entry an edge; filled by the allocator
  uint32_t loopDepth = 0;         // filled by the allocator
  bool loopHead = false;
  bool cold = false;              // laid out at the end
};

struct VRegInfo {
  RegClass cls = RegClass::Int;
  uint8_t size = 8;               // bytes of its spill slot: 8, 16, 32, 64
};

struct SpillSlot { uint32_t size = 8; };

// A call that does not return, made out of line when a check fails.
struct TrapCall {
  int64_t kind = 0;
  struct Detail { bool isImm = true; uint8_t operand = 0; uint16_t bits = 64; int64_t imm = 0; } details[3];
  uint8_t count = 0;
};

struct JumpTable { std::vector<uint32_t> succs; };   // indexes of the block's edges

struct Constant { std::string bytes; };              // read-only bytes beside the code

struct Function {
  const ir::Function* source = nullptr;
  std::vector<VRegInfo> vregs;
  std::vector<Block> blocks;
  std::vector<BlockId> order;     // the layout; block 0 first
  std::vector<Operand> operands;
  std::vector<TrapCall> traps;
  std::vector<JumpTable> tables;
  std::vector<Constant> constants;
  std::vector<ir::Slot> slots;    // the IR function's, then those that selection made
  uint32_t outgoingBytes = 0;     // the largest area of stack arguments of its calls

  // after allocation
  std::vector<SpillSlot> spillSlots;
  RegSet usedRegs = 0;            // every register that is written

  VReg widest[ClassCount];         // of each class one of the largest

  VReg newVReg(RegClass cls, unsigned size) {
    VReg v(uint32_t(vregs.size()));
    vregs.push_back({cls, uint8_t(size)});
    VReg& w = widest[unsigned(cls)];
    if (!w || vregs[w.index].size < size) w = v;
    return v;
  }
  Operand* operandsOf(const Inst& i) { return operands.data() + i.firstOperand; }
  const Operand* operandsOf(const Inst& i) const { return operands.data() + i.firstOperand; }
};

// What the allocator and its checker know of a target.
struct Target {
  const char* name = "";
  std::vector<const char*> regNames;      // index: PReg
  RegSet allocatable[ClassCount] = {};
  RegSet calleeSaved = 0;                 // of all classes
  std::vector<PReg> order[ClassCount];    // in order of preference among equals
  uint16_t jumpOp = 0;                    // the terminator of a block that only passes on
  const char* (*opName)(uint16_t op) = nullptr;
};

std::string print(const Function&, const Target&);
std::string print(const Function&, const Target&, const Inst&);

}  // namespace mica::mir
