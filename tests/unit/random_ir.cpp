// See random_ir.h. A program is made top down from statements; `scope` holds the values that may be used at the current point.
#include "random_ir.h"

#include "ir/builder.h"

namespace mica::ir {

namespace {

class Generator {
 public:
  Generator(Module& module, uint64_t seed) : m(module), state(seed * 0x9e3779b97f4a7c15u + 1) {}

  void run() {
    unsigned helpers = below(3);
    for (unsigned k = 0; k < helpers; ++k) function("h" + std::to_string(k), 6 + below(10), k);
    function("f", 30 + below(60), helpers);
  }

 private:
  Module& m;
  uint64_t state;
  Builder* b = nullptr;
  unsigned callable = 0, depth = 0, budget = 0, line = 0, watched = 0;
  std::vector<ValueId> scope;
  std::vector<SlotId> slots;
  std::vector<uint32_t> slotSize;

  uint64_t random() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1du >> 16;
  }
  unsigned below(unsigned n) { return unsigned(random() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }

  void function(const std::string& name, unsigned statements, unsigned callees) {
    uint32_t index = startFunction(m, name, {I64, I64, Ptr}, I64);
    Builder builder(m, index);
    b = &builder;
    callable = callees;
    budget = statements;
    depth = 0;
    scope = {b->param(0), b->param(1), b->param(2)};
    slots.clear();
    slotSize.clear();
    watched = below(3) * 12;
    if (chance(15)) m.functions[index].alwaysInline = true;
    for (unsigned k = 0; k < 1 + below(3); ++k) {
      uint32_t size = 8 * (1 + below(6));
      slots.push_back(b->slot(size, chance(20) ? 16 : 8));
      slotSize.push_back(size);
      b->memZero(b->slotAddr(slots.back()), size);
    }
    for (Type t : {I32, I16, I8, F32, F64, F32.withLanes(4), F32.withLanes(8), I32.withLanes(8), F64.withLanes(4)})
      if (chance(60)) add(b->load(t, b->param(2), 8 * below(20)));
    while (budget > 0) statement();
    // Some of the values that are left are seen from outside: in memory, and mixed in the result.
    for (Type t : {F32, F64, F64.withLanes(4), I32, I8, F32.withLanes(16)})
      if (chance(50)) b->store(pick(t), b->param(2), 8 * below(20));
    ValueId sum = pick(I64);
    for (unsigned k = 0; k < 4; ++k) sum = b->iadd(b->imul(sum, b->i64(31)), pick(I64));
    b->ret(sum);
    b = nullptr;
  }

  void statement() {
    --budget;
    b->setPlace(addPlace(m, "r.mica", ++line, 1, "R"));
    switch (below(16)) {
      case 0: case 1: case 2: integer(); break;
      case 3: trapping(); break;
      case 4: floating(); break;
      case 5: vector(); break;
      case 6: case 7: slotAccess(); break;
      case 8: memoryAccess(); break;
      case 9: conversion(); break;
      case 10: if (depth < 3) branch(); break;
      case 11:
        if (depth < 3) chance(60) ? loop() : loopToLast();
        break;
      case 12: if (depth < 3) switchOn(); break;
      case 13: check(); break;
      case 14: call(); break;
      default: division(); break;
    }
  }

  ValueId pick(Type t) {
    if (chance(75))
      for (unsigned tries = 0; tries < 12; ++tries) {
        ValueId v = scope[scope.size() - 1 - below(unsigned(std::min<size_t>(scope.size(), 24)))];
        if (b->typeOf(v) == t) return v;
      }
    for (unsigned tries = 0; tries < 20; ++tries) {
      ValueId v = scope[below(unsigned(scope.size()))];
      if (b->typeOf(v) == t && chance(70)) return v;
    }
    return constant(t);
  }
  ValueId constant(Type t) {
    static const int64_t ints[] = {0, 1, -1, 2, 3, 7, 8, 10, 16, 63, 64, 100, 127, -128, 255, 1000, INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, 0x123456789};
    static const double floats[] = {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.25, 1e10, -1e-10, 1e300, 123456.789, 4.0};
    if (t.isVector() && chance(50)) return b->splat(t, constant(t.lane()));
    if (t.isFloat()) return b->fconst(t, floats[below(12)]);
    if (t.isPtr()) return b->param(2);
    return b->iconst(t, ints[below(21)]);
  }
  // Some values are seen from outside at once.
  void add(ValueId v) {
    scope.push_back(v);
    if (chance(watched)) b->store(v, b->param(2), 8 * below((256 - b->typeOf(v).bytes()) / 8));
  }

  Type intType() {
    static const Type types[] = {I64, I64, I64, I32, I32, I16, I8};
    return types[below(7)];
  }
  Type floatType() { return chance(50) ? F32 : F64; }
  Type vectorType() {
    static const Type types[] = {F32.withLanes(4), F32.withLanes(8), F32.withLanes(16), I32.withLanes(8), I32.withLanes(16), F64.withLanes(4), F64.withLanes(8)};
    return types[below(7)];
  }

  void integer() {
    static const Op ops[] = {Op::IAdd, Op::ISub, Op::IMul, Op::And, Op::Or, Op::Xor, Op::Shl, Op::ShrS, Op::ShrU, Op::RotL, Op::MulHiS, Op::MulHiU, Op::IMinS, Op::IMaxS};
    Type t = intType();
    if (chance(10)) {
      static const Op unary[] = {Op::Clz, Op::Ctz, Op::Popcount};
      return add(b->unary(unary[below(3)], pick(t)));
    }
    if (chance(20)) {
      ValueId c = condition();
      return add(chance(50) ? b->select(c, pick(t), pick(t)) : b->convert(chance(50) ? Op::ZExt : Op::SExt, t, c));
    }
    ValueId x = pick(t);
    add(b->binary(ops[below(14)], x, chance(40) ? constant(t) : pick(t)));
  }
  void trapping() {
    static const Op ops[] = {Op::SAddT, Op::SSubT, Op::SMulT, Op::UAddT, Op::USubT, Op::UMulT};
    Type t = intType();
    ValueId x = small(t, pick(t)), y = chance(50) ? b->iconst(t, below(5)) : small(t, pick(t));
    Op op = ops[below(6)];
    if (op == Op::USubT && chance(80)) op = Op::SSubT;
    add(b->binary(op, x, y));
  }
  // Mostly small, so that checks mostly pass.
  ValueId small(Type t, ValueId v) { return chance(96) ? b->and_(v, b->iconst(t, 7)) : v; }

  void division() {
    static const Op ops[] = {Op::SDivT, Op::UDivT, Op::SRemT, Op::URemT};
    Type t = intType();
    ValueId x = pick(t), y = chance(50) ? b->iconst(t, 1 + int64_t(random() >> (8 + below(40)))) : b->or_(pick(t), b->iconst(t, 1));
    if (chance(40)) y = b->iconst(t, chance(70) ? 1 + below(40) : -1 - int64_t(below(40)));
    if (chance(2)) y = pick(t);
    add(b->binary(ops[below(4)], x, y));
  }
  void floating() {
    static const Op ops[] = {Op::FAdd, Op::FSub, Op::FMul, Op::FDiv, Op::FMin, Op::FMax};
    static const Op unary[] = {Op::FNeg, Op::FAbs, Op::FSqrt, Op::FFloor, Op::FCeil, Op::FTrunc, Op::FRound};
    Type t = floatType();
    if (chance(30)) return add(b->unary(unary[below(7)], pick(t)));
    if (chance(15)) return add(b->fma(pick(t), pick(t), pick(t)));
    ValueId x = pick(t);
    add(b->binary(ops[below(6)], x, pick(t)));
  }
  void conversion() {
    Type t = floatType();
    switch (below(8)) {
      case 0: add(b->convert(Op::SToF, t, pick(chance(50) ? I64 : I32))); break;
      case 1: add(b->convert(Op::UToF, t, pick(chance(50) ? I64 : I32))); break;
      case 2: add(b->convert(chance(50) ? Op::FToSSat : Op::FToUSat, intType(), pick(t))); break;
      case 3: add(b->convert(Op::FToST, I64, b->fmul(b->fconst(t, 0.25), b->convert(Op::SToF, t, small(I64, pick(I64)))))); break;
      case 4: add(chance(50) ? b->convert(Op::FExt, F64, pick(F32)) : b->convert(Op::FCut, F32, pick(F64))); break;
      case 5: add(chance(50) ? b->convert(Op::Bitcast, I32, pick(F32)) : b->convert(Op::Bitcast, F64, pick(I64))); break;
      case 6: {
        Type from = intType();
        if (from != I8) add(b->convert(Op::Trunc, from == I64 ? I32 : I8, pick(from)));
        break;
      }
      default: {
        Type from = intType();
        if (from != I64) add(b->convert(chance(50) ? Op::SExt : Op::ZExt, from == I8 && chance(50) ? I16 : I64, pick(from)));
      }
    }
  }

  void vector() {
    Type t = vectorType();
    switch (below(8)) {
      case 0: add(b->splat(t, pick(t.lane()))); break;
      case 1: add(b->lane(pick(t), below(t.lanes))); break;
      case 2: {
        ValueId v = pick(t);
        add(b->setLane(v, pick(t.lane()), below(t.lanes)));
        break;
      }
      case 3: {
        ValueId x = pick(t), y = pick(t);
        ValueId mask = t.isFloat() ? b->fcmp(Cond(unsigned(Cond::Lt) + below(8)), x, y) : b->icmp(Cond(below(10)), x, y);
        add(b->vselect(mask, pick(t), y));
        if (chance(50)) add(b->convert(Op::ZExt, I64, b->emit(Op::VAnyTrue, I1, {mask})));
        break;
      }
      case 4: {
        Type half = t.withLanes(t.lanes / 2);
        ValueId x = pick(t);
        ValueId low = b->emit(Op::VLow, half, {x}), high = b->emit(Op::VHigh, half, {x});
        add(b->emit(Op::VJoin, t, {high, low}));
        break;
      }
      case 5: {
        ValueId x = pick(t);
        add(b->emit(chance(50) ? Op::VZipLow : Op::VZipHigh, t, {x, pick(t)}));
        break;
      }
      case 6:
        if (t.kind == TypeKind::F32) add(b->convert(Op::FExt, F64.withLanes(std::min<unsigned>(t.lanes, 8)), pick(F32.withLanes(std::min<unsigned>(t.lanes, 8)))));
        else if (t.kind == TypeKind::F64) add(b->convert(Op::FCut, F32.withLanes(t.lanes), pick(t)));
        else add(b->convert(Op::SToF, F32.withLanes(t.lanes), pick(t)));
        break;
      default: {
        ValueId x = pick(t), y = pick(t);
        if (t.isFloat()) add(chance(30) ? b->fma(x, y, pick(t)) : b->binary(chance(50) ? Op::FAdd : Op::FMul, x, y));
        else add(b->binary(chance(50) ? Op::IAdd : Op::Xor, x, y));
      }
    }
  }

  ValueId slotAddress(unsigned k, int64_t offset) {
    ValueId p = b->slotAddr(slots[k]);
    return offset ? b->padd(p, b->i64(offset)) : p;
  }
  void slotAccess() {
    unsigned k = below(unsigned(slots.size()));
    uint32_t size = slotSize[k];
    Type t = chance(60) ? I64 : chance(50) ? F64 : chance(50) ? I32 : I8;
    uint32_t offset = below(size / t.bytes()) * t.bytes();
    switch (below(10)) {
      case 0: {   // copies between slots
        unsigned j = below(unsigned(slots.size()));
        uint32_t bytes = 8 * (1 + below(std::min(size, slotSize[j]) / 8));
        if (j != k) b->memCopy(slotAddress(k, 0), slotAddress(j, slotSize[j] - bytes), bytes);
        break;
      }
      case 1: b->memZero(slotAddress(k, 0), 8 * (1 + below(size / 8))); break;
      case 2: b->memCopy(slotAddress(k, 0), b->param(2), size); break;
      case 3: b->memCopy(b->param(2), slotAddress(k, 0), size); break;
      case 4: {   // at an index that only the run knows
        ValueId index = b->binary(Op::URemT, pick(I64), b->i64(size / 8));
        ValueId p = b->padd(b->slotAddr(slots[k]), b->shl(index, b->i64(3)));
        if (chance(50) && depth < 2) b->store(pick(I64), p);
        else add(b->load(I64, p));
        break;
      }
      case 5: case 6: case 7: b->store(pick(t), slotAddress(k, chance(50) ? offset : 0), 0); break;
      default: add(b->load(t, slotAddress(k, 0), offset)); break;
    }
  }
  void memoryAccess() {
    Type t = chance(20) ? vectorType() : chance(50) ? I64 : intType();
    int64_t offset = below((256 - t.bytes()) / 8) * 8;
    if (chance(50)) {
      b->store(pick(t), b->param(2), offset);
    } else if (chance(30)) {
      ValueId index = b->and_(pick(I64), b->i64(0xf8));
      add(b->load(I64, b->padd(b->param(2), b->and_(index, b->i64(0xf0)))));
    } else {
      add(b->load(t, b->param(2), offset));
    }
  }

  ValueId condition() {
    if (chance(25)) {
      Type t = floatType();
      ValueId x = pick(t);
      static const Cond conds[] = {Cond::Eq, Cond::Ne, Cond::Lt, Cond::Le, Cond::Gt, Cond::Ge, Cond::Nlt, Cond::Nle, Cond::Ngt, Cond::Nge};
      return b->fcmp(conds[below(10)], x, pick(t));
    }
    Type t = intType();
    ValueId x = pick(t);
    ValueId c = b->icmp(Cond(below(10)), x, chance(40) ? constant(t) : pick(t));
    if (chance(15)) c = b->not_(c);
    if (chance(15)) c = b->binary(chance(50) ? Op::And : Op::Or, c, b->icmp(Cond(below(10)), pick(t), pick(t)));
    return c;
  }

  void check() {
    // An index check against a length, mostly one that holds.
    ValueId length = b->i64(1 + below(20)), index = chance(90) ? b->binary(Op::URemT, pick(I64), b->i64(1 + below(3))) : small(I64, pick(I64));
    ValueId details[] = {index, length};
    b->trapIf(b->icmp(chance(70) ? Cond::Uge : Cond::Sge, index, length), TrapKind::Index, details);
    add(index);
  }

  void branch() {
    Type t = chance(70) ? I64 : chance(50) ? F64 : vectorType();
    BlockId yes = b->createBlock(), no = b->createBlock(), join = b->createBlock({t});
    b->brIf(condition(), yes, no);
    ++depth;
    for (BlockId side : {yes, no}) {
      size_t mark = scope.size();
      b->setBlock(side);
      if (side == yes || chance(60)) {
        for (unsigned n = 1 + below(4); n > 0 && budget > 0; --n) statement();
      }
      if (chance(3)) {
        b->trap(chance(50) ? TrapKind::Assert : TrapKind::Unreachable);
      } else if (chance(6)) {
        b->ret(pick(I64));
      } else {
        ValueId arg = pick(t);
        b->br(join, {arg});
      }
      scope.resize(mark);
    }
    --depth;
    b->setBlock(join);
    add(b->param(join, 0));
  }

  // Mostly a counter from 0 in steps of 1; also other starts and steps, and a counter that can reach the end of its type.
  void loop() {
    bool plain = chance(70);
    Type c = plain || chance(50) ? I64 : I8, t = chance(70) ? I64 : chance(50) ? F32 : vectorType();
    int64_t step = plain ? 1 : 1 + below(3), start = plain ? 0 : c == I8 ? 122 + below(4) : int64_t(below(8)) - 4;
    BlockId head = b->createBlock({c, t}), body = b->createBlock(), out = b->createBlock();
    ValueId count = c == I8 ? b->iconst(I8, 124 + below(4)) : chance(50) ? b->i64(below(6)) : b->and_(pick(I64), b->i64(7));
    ValueId first[] = {b->iconst(c, start), pick(t)};
    b->br(head, first);
    b->setBlock(head);
    ValueId i = b->param(head, 0), held = b->param(head, 1);
    scope.push_back(i);
    scope.push_back(held);
    if (chance(30)) statement1();
    b->brIf(b->icmp(Cond::Slt, i, count), body, out);
    b->setBlock(body);
    size_t inner = scope.size();
    ++depth;
    if (chance(60)) {
      ValueId wide = c == I64 ? i : b->convert(Op::SExt, I64, i), limit = c == I64 ? count : b->convert(Op::SExt, I64, count);
      ValueId details[] = {wide, limit};
      b->trapIf(b->icmp(chance(50) ? Cond::Uge : Cond::Sge, wide, limit), TrapKind::Index, details);
    }
    for (unsigned n = 1 + below(5); n > 0 && budget > 0; --n) statement();
    --depth;
    ValueId next[] = {b->binary(chance(50) ? Op::SAddT : Op::IAdd, i, b->iconst(c, step)), pick(t)};
    b->br(head, next);
    scope.resize(inner);
    b->setBlock(out);
  }
  // A loop that tests at its end, whether the counter is at its last value, behind a test before it.
  void loopToLast() {
    int64_t step = chance(60) ? 1 : -1;
    BlockId head = b->createBlock({I64, I64}), more = b->createBlock(), out = b->createBlock({I64});
    ValueId first = chance(60) ? b->i64(step > 0 ? 0 : 5) : small(I64, pick(I64)), end = chance(40) ? b->i64(int64_t(below(7)) - 1) : small(I64, pick(I64));
    ValueId last = chance(70) ? b->iadd(end, b->i64(-step)) : end, start[] = {first, pick(I64)}, skipped[] = {pick(I64)};
    b->brIf(step > 0 ? b->icmp(chance(90) ? Cond::Slt : Cond::Sle, first, end) : b->icmp(Cond::Sgt, first, end), head, start, out, skipped);
    size_t mark = scope.size();
    b->setBlock(head);
    ValueId i = b->param(head, 0);
    scope.push_back(i);
    scope.push_back(b->param(head, 1));
    ++depth;
    ValueId details[] = {i, end};
    if (chance(60)) b->trapIf(b->icmp(chance(70) ? Cond::Uge : Cond::Sge, i, end), TrapKind::Index, details);
    for (unsigned n = 1 + below(5); n > 0 && budget > 0; --n) statement();
    --depth;
    ValueId value = pick(I64), done[] = {value};
    b->brIf(b->icmp(Cond::Ne, i, last), more, {}, out, done);
    b->setBlock(more);
    ValueId next[] = {b->binary(chance(50) ? Op::SAddT : Op::IAdd, i, b->i64(step)), value};
    b->br(head, next);
    scope.resize(mark);
    b->setBlock(out);
    add(b->param(out, 0));
  }
  void statement1() {
    if (chance(50)) integer();
    else floating();
  }

  void switchOn() {
    ValueId v = b->and_(pick(I64), b->i64(7));
    BlockId join = b->createBlock({I64}), otherwise = b->createBlock();
    std::vector<Builder::Case> cases;
    unsigned n = below(4);
    for (unsigned k = 0; k < n; ++k) cases.push_back({int64_t(2 * k), chance(70) ? b->createBlock() : otherwise});
    b->switchOn(v, otherwise, cases);
    ++depth;
    std::vector<BlockId> sides{otherwise};
    for (const auto& c : cases)
      if (c.block != otherwise) sides.push_back(c.block);
    for (BlockId side : sides) {
      size_t mark = scope.size();
      b->setBlock(side);
      for (unsigned k = below(3); k > 0 && budget > 0; --k) statement();
      ValueId arg = pick(I64);
      b->br(join, {arg});
      scope.resize(mark);
    }
    --depth;
    b->setBlock(join);
    add(b->param(join, 0));
  }

  void call() {
    if (!callable) return;
    std::string name = "h" + std::to_string(below(callable));
    ValueId x = pick(I64), y = pick(I64);
    add(b->call(name, I64, {x, y, b->param(2)}));
  }
};

}  // namespace

void addRandomProgram(Module& m, uint64_t seed) { Generator(m, seed).run(); }

}  // namespace mica::ir
