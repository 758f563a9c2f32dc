// Builds functions: keeps the current block and the current place, and has one short method per operation.
// It addresses its function by number, so that other functions may be added to the module meanwhile.
// Emitting after a terminator starts a block that nothing reaches (the passes drop it); so lowering needs no special case
// for what follows a `return`.
#pragma once
#include <initializer_list>
#include <span>
#include <utility>

#include "ir/ir.h"

namespace mica::ir {

// Adds a place to the module; the same place given twice in a row is kept once.
PlaceId addPlace(Module&, std::string_view file, uint32_t line, uint32_t column, std::string_view function, PlaceId inlinedAt = {});

// Starts a function with its entry block, whose parameters are the function's. Answers its index in Module::functions.
uint32_t startFunction(Module&, std::string_view name, std::span<const Type> params, Type result);
inline uint32_t startFunction(Module& m, std::string_view name, std::initializer_list<Type> params, Type result) {
  return startFunction(m, name, std::span<const Type>(params.begin(), params.size()), result);
}

using Values = std::span<const ValueId>;

// The lowest level, also for passes: these append to the function's vectors and touch no block's list of instructions.
ValueId newValue(Function&, Type, InstId def);
InstId newInst(Function&, Op, Type, Values args, int64_t imm = 0, PlaceId place = {});   // with its result, if it has one
uint32_t addToPool(Function&, Values);

class Builder {
 public:
  Module& module;
  const uint32_t function;
  Builder(Module& m, uint32_t functionIndex) : module(m), function(functionIndex) {
    if (!fn().blocks.empty()) current = BlockId(0);
  }
  Function& fn() { return module.functions[function]; }

  // blocks and places
  BlockId createBlock(std::span<const Type> params = {});
  BlockId createBlock(std::initializer_list<Type> params) { return createBlock(std::span<const Type>(params.begin(), params.size())); }
  ValueId addParam(BlockId, Type);                              // callers then pass one argument more
  ValueId param(BlockId b, unsigned k) { return fn().blocks[b.index].params[k]; }
  ValueId param(unsigned k) { return param(BlockId(0), k); }    // the function's own
  void setBlock(BlockId b) { current = b; }
  BlockId block() const { return current; }
  bool terminated();                                            // does the current block have its terminator
  void setPlace(PlaceId p) { currentPlace = p; }
  PlaceId place() const { return currentPlace; }
  SlotId slot(uint32_t size, uint32_t align = 8);
  Type typeOf(ValueId v) { return fn().typeOf(v); }

  // any operation; answers no value when it has none
  ValueId emit(Op, Type type, Values args, int64_t imm = 0);
  ValueId emit(Op op, Type type, std::initializer_list<ValueId> args, int64_t imm = 0) {
    return emit(op, type, Values(args.begin(), args.size()), imm);
  }
  ValueId unary(Op op, ValueId a) { return emit(op, typeOf(a), {a}); }
  ValueId binary(Op op, ValueId a, ValueId b) { return emit(op, typeOf(a), {a, b}); }

  // constants and addresses
  ValueId iconst(Type t, int64_t value) { return emit(Op::IConst, t, {}, canonical(t, value)); }
  ValueId i64(int64_t value) { return iconst(I64, value); }
  ValueId fconst(Type t, double value);                         // f32 lanes: the value rounded to f32
  ValueId f32(float value) { return fconst(F32, value); }
  ValueId f64(double value) { return fconst(F64, value); }
  ValueId symAddr(SymbolId, int64_t offset = 0);
  ValueId symAddr(std::string_view name, int64_t offset = 0) { return symAddr(module.symbol(name), offset); }
  ValueId slotAddr(SlotId s) { return emit(Op::SlotAddr, Ptr, {}, s.index); }
  ValueId context() { return emit(Op::Context, Ptr, {}); }
  ValueId framePtr() { return emit(Op::FramePtr, Ptr, {}); }
  ValueId cpuLevel() { return emit(Op::CpuLevel, I64, {}); }

  // Operands in braces: `b.padd({F(), G()})` evaluates them from left to right, which C++ leaves open for a call's arguments. Where both
  // emit code, that decides whether the compiler's output depends on who compiled it.
  struct Two { ValueId a, b; };
  struct Three { ValueId a, b, c; };
  ValueId padd(Two t) { return padd(t.a, t.b); }
  ValueId iadd(Two t) { return iadd(t.a, t.b); }
  ValueId isub(Two t) { return isub(t.a, t.b); }
  ValueId imul(Two t) { return imul(t.a, t.b); }
  ValueId and_(Two t) { return and_(t.a, t.b); }
  ValueId or_(Two t) { return or_(t.a, t.b); }
  ValueId icmp(Cond c, Two t) { return icmp(c, t.a, t.b); }
  ValueId fcmp(Cond c, Two t) { return fcmp(c, t.a, t.b); }
  ValueId select(Three t) { return select(t.a, t.b, t.c); }

  // integers
  ValueId iadd(ValueId a, ValueId b) { return binary(Op::IAdd, a, b); }
  ValueId isub(ValueId a, ValueId b) { return binary(Op::ISub, a, b); }
  ValueId imul(ValueId a, ValueId b) { return binary(Op::IMul, a, b); }
  ValueId and_(ValueId a, ValueId b) { return binary(Op::And, a, b); }
  ValueId or_(ValueId a, ValueId b) { return binary(Op::Or, a, b); }
  ValueId xor_(ValueId a, ValueId b) { return binary(Op::Xor, a, b); }
  ValueId shl(ValueId a, ValueId b) { return binary(Op::Shl, a, b); }
  ValueId shrS(ValueId a, ValueId b) { return binary(Op::ShrS, a, b); }
  ValueId shrU(ValueId a, ValueId b) { return binary(Op::ShrU, a, b); }
  ValueId not_(ValueId a) { return emit(Op::Not, I1, {a}); }

  // floats
  ValueId fadd(ValueId a, ValueId b) { return binary(Op::FAdd, a, b); }
  ValueId fsub(ValueId a, ValueId b) { return binary(Op::FSub, a, b); }
  ValueId fmul(ValueId a, ValueId b) { return binary(Op::FMul, a, b); }
  ValueId fdiv(ValueId a, ValueId b) { return binary(Op::FDiv, a, b); }
  ValueId fma(ValueId a, ValueId b, ValueId c) { return emit(Op::Fma, typeOf(a), {a, b, c}); }
  ValueId fneg(ValueId a) { return unary(Op::FNeg, a); }

  // comparisons, choices, conversions
  ValueId icmp(Cond, ValueId a, ValueId b);
  ValueId fcmp(Cond, ValueId a, ValueId b);
  ValueId select(ValueId condition, ValueId a, ValueId b) { return emit(Op::Select, typeOf(a), {condition, a, b}); }
  ValueId vselect(ValueId mask, ValueId a, ValueId b) { return emit(Op::VSelect, typeOf(a), {mask, a, b}); }
  ValueId convert(Op op, Type to, ValueId a) { return emit(op, to, {a}); }

  // memory
  ValueId padd(ValueId p, ValueId offset) { return emit(Op::PAdd, Ptr, {p, offset}); }
  ValueId load(Type t, ValueId p, int64_t offset = 0, Region = Region::Any);
  void store(ValueId value, ValueId p, int64_t offset = 0, Region = Region::Any);
  void memCopy(ValueId to, ValueId from, int64_t bytes) { emit(Op::MemCopy, Void, {to, from}, bytes); }
  void memZero(ValueId to, int64_t bytes) { emit(Op::MemZero, Void, {to}, bytes); }

  // vectors
  ValueId splat(Type t, ValueId a) { return emit(Op::Splat, t, {a}); }
  ValueId lane(ValueId v, unsigned k) { return emit(Op::Lane, typeOf(v).lane(), {v}, k); }
  ValueId setLane(ValueId v, ValueId a, unsigned k) { return emit(Op::SetLane, typeOf(v), {v, a}, k); }

  // calls and control
  ValueId call(SymbolId, Type result, Values args);
  ValueId call(std::string_view name, Type result, std::initializer_list<ValueId> args) {
    return call(module.symbol(name), result, Values(args.begin(), args.size()));
  }
  ValueId callInd(ValueId address, Type result, Values args);
  void trapIf(ValueId condition, TrapKind, Values details = {});
  void trap(TrapKind, Values details = {});
  void br(BlockId, Values args = {});
  void br(BlockId b, std::initializer_list<ValueId> args) { br(b, Values(args.begin(), args.size())); }
  void brIf(ValueId condition, BlockId yes, Values yesArgs, BlockId no, Values noArgs);
  void brIf(ValueId condition, BlockId yes, BlockId no) { brIf(condition, yes, {}, no, {}); }
  struct Case { int64_t value; BlockId block; };                // cases and default without arguments
  void switchOn(ValueId, BlockId otherwise, std::span<const Case> cases);
  void ret() { emit(Op::Ret, Void, {}); }
  void ret(ValueId v) { emit(Op::Ret, Void, {v}); }
  void unreachable() { emit(Op::Unreachable, Void, {}); }

 private:
  BlockId current;
  PlaceId currentPlace;
  InstId append(Op, Type, Values args, int64_t imm = 0);
  void addTarget(InstId, BlockId, Values args);
};

}  // namespace mica::ir
