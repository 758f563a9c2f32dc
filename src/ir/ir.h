// The IR: functions in SSA form with block parameters. Data only; building is builder.h, text is text.h, invariants verify.h.
// It knows no target. Ids index the vectors of their function or module; every id prints as %3, b2, @Name.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/support.h"

namespace mica::ir {

struct ValueTag; struct BlockTag; struct InstTag; struct SymbolTag; struct PlaceTag; struct SlotTag;
using ValueId = Id<ValueTag>;    // prints as %n
using BlockId = Id<BlockTag>;    // prints as bn
using InstId = Id<InstTag>;
using SymbolId = Id<SymbolTag>;  // of the module; prints as @Name
using PlaceId = Id<PlaceTag>;    // of the module
using SlotId = Id<SlotTag>;      // a stack slot of the function

enum class TypeKind : uint8_t { Void, I1, I8, I16, I32, I64, F32, F64, Ptr };

// A scalar (lanes 1) or a vector of lanes (a power of two up to 64). I1 and Ptr have no vectors.
struct Type {
  TypeKind kind = TypeKind::Void;
  uint8_t lanes = 1;
  bool operator==(const Type&) const = default;
  bool isVoid() const { return kind == TypeKind::Void; }
  bool isVector() const { return lanes > 1; }
  bool isFloat() const { return kind == TypeKind::F32 || kind == TypeKind::F64; }
  bool isInt() const { return kind >= TypeKind::I1 && kind <= TypeKind::I64; }
  bool isPtr() const { return kind == TypeKind::Ptr; }
  Type lane() const { return {kind, 1}; }
  Type withLanes(unsigned n) const { return {kind, uint8_t(n)}; }
  unsigned laneBytes() const;                            // 1 for I1
  unsigned bytes() const { return laneBytes() * lanes; }
};
inline constexpr Type Void{TypeKind::Void}, I1{TypeKind::I1}, I8{TypeKind::I8}, I16{TypeKind::I16}, I32{TypeKind::I32},
    I64{TypeKind::I64}, F32{TypeKind::F32}, F64{TypeKind::F64}, Ptr{TypeKind::Ptr};

enum class Op : uint8_t {
#define OP(name, text, operands, result, effects) name,
#include "ir/ops.def"
};

struct OpInfo { const char* text; const char* operands; char result; const char* effects; };
const OpInfo& info(Op);
bool isTerminator(Op);
bool hasEffect(Op, char effect);      // one of R W T C X; P when none
inline constexpr unsigned OpCount = 0
#define OP(name, text, operands, result, effects) + 1
#include "ir/ops.def"
    ;
Type maskType(Type vector);           // the integer vector of the same lane width that comparisons answer
Type resultType(Op, Type type);       // of an instruction of that type; Void when it has no result
Type fixedType(Op);                   // the only type that the op can have (the text form leaves it out); Void when there is a choice
std::string toString(Type);           // i64, f32x8
int64_t canonical(Type, int64_t);     // the low bits as IConst holds them: sign extended from the lane's width; i1: 0 or 1

// Conditions of ICmp (eq ne, signed, unsigned) and FCmp (eq ne lt le gt ge and negations, which are true on NaN).
enum class Cond : uint8_t { Eq, Ne, Slt, Sle, Sgt, Sge, Ult, Ule, Ugt, Uge, Lt, Le, Gt, Ge, Nlt, Nle, Ngt, Nge };

const char* name(Cond);
Cond negate(Cond);                    // true exactly when the other is false
Cond swapOperands(Cond);              // c(a, b) == swapOperands(c)(b, a)

// What a trap says. The runtime's Trap module holds the sentences under the same numbers (src/rt/Trap.mica).
enum class TrapKind : uint8_t {
  Overflow = 1,      // an integer result does not fit
  DivideByZero = 2,
  Index = 3,         // a: index, b: length
  Range = 4,         // a ..< b outside c
  Conversion = 5,    // a float or integer that the target type cannot hold
  Shift = 6,         // a: the count, b: the bits of the value
  Shape = 7,         // a: address of a sentence, b: its length, c: address of the shapes that it names (src/lower/shapes.cpp)
  Assert = 8,        // a: address of the text, b: its length
  Missing = 9,       // a map without the key
  StackOverflow = 10,
  OutOfMemory = 11,  // a: bytes
  Tape = 12,         // a rule of gradients is broken; a: address of a text, b: its length
  Border = 13,       // a string cut inside a character
  Unreachable = 14,
  Empty = 15,        // Max of nothing and the like
  Other = 16,        // a: address of a text, b: its length
};

const char* name(TrapKind);           // as the text form spells it: overflow, dividebyzero, index ...
inline constexpr int64_t LastTrapKind = 16;

// What a load or store touches, as far as lowering knows: bytes of different regions (but for Any) are never the same bytes.
enum class Region : uint8_t {
  Any,
  Header,   // the words that describe a tensor, string, list: data, owner, length, extents. A header lies in memory as a whole: where one
            // of its words may be loaded, all may; a function's parameter that leads to one is always good
  Scalar,   // a number, truth or character of the program's own: variables, elements, fields
};

struct Target { BlockId block; uint32_t firstArg = 0, argCount = 0; };   // arguments in Function::pool

struct Inst {
  Op op{};
  Cond cond{};                        // ICmp, FCmp
  Region region{};                    // Load, Store
  Type type;                          // see ops.def
  ValueId result;                     // none when the op has no result
  uint32_t firstArg = 0, argCount = 0;       // operands in Function::pool
  uint32_t firstTarget = 0, targetCount = 0; // terminators: Function::targets
  int64_t imm = 0;
  SymbolId symbol;                    // Call, SymAddr
  PlaceId place;                      // where in the source
};

struct Block {
  std::vector<ValueId> params;
  std::vector<InstId> insts;          // the last one ends the block
};

struct Value { Type type; InstId def; BlockId paramOf; };   // defined by an instruction or a block parameter

struct Slot { uint32_t size = 0, align = 8; };

struct Function {
  SymbolId symbol;
  std::vector<Type> params;           // the parameters of block 0
  Type result;                        // Void for none
  std::vector<Block> blocks;          // block 0 is the entry and has no predecessors
  std::vector<Inst> insts;
  std::vector<Value> values;
  std::vector<Target> targets;
  std::vector<ValueId> pool;          // operand and block argument lists
  std::vector<int64_t> cases;         // Switch: case values, from imm on, one for each target after the first
  std::vector<Slot> slots;
  PlaceId place;                      // the declaration
  uint8_t cpuLevel = 1;               // the processor level that the body may use (see CpuLevel)
  bool noInline = false, alwaysInline = false, cold = false;
  bool entry = false;                 // the process starts here: the only parameter is the stack pointer (ptr) at entry; never returns

  std::vector<ValueId> argsOf(const Inst& i) const { return {pool.begin() + i.firstArg, pool.begin() + i.firstArg + i.argCount}; }
  ValueId arg(const Inst& i, unsigned k) const { return pool[i.firstArg + k]; }
  Type typeOf(ValueId v) const { return values[v.index].type; }
};

// A reference inside data: 8 bytes at `offset` hold the address of symbol + addend.
struct DataRef { uint32_t offset; SymbolId symbol; int64_t addend; };

struct Data {
  SymbolId symbol;
  std::string bytes;
  uint64_t zeros = 0;                 // zero bytes that follow (with empty bytes: zeroed data that takes no room in the file)
  uint32_t align = 8;
  bool readOnly = true;
  std::vector<DataRef> refs;
};

enum class SymbolKind : uint8_t { External, Function, Data };
struct Symbol { std::string name; SymbolKind kind = SymbolKind::External; uint32_t index = 0; };   // index into functions or data

// A source place with the function it lies in and, after inlining, the place of the call that was replaced.
struct PlaceInfo { std::string file; uint32_t line = 0, column = 0; std::string function; PlaceId inlinedAt; };

struct Module {
  std::vector<Symbol> symbols;
  std::map<std::string, SymbolId, std::less<>> byName;
  std::vector<Function> functions;
  std::vector<Data> data;
  std::vector<PlaceInfo> places;

  SymbolId symbol(std::string_view name);             // finds or adds (External)
  const std::string& nameOf(SymbolId s) const { return symbols[s.index].name; }
  Function& addFunction(std::string_view name);       // invalidates references to functions
  Data& addData(std::string_view name);
};

}  // namespace mica::ir
