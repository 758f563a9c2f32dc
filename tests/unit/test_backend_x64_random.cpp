// Random programs, compiled and executed, against the interpreter: loops with rotating parameters, branches that join,
// switches, calls with many mixed arguments, many values alive at once. They hold the allocator, its checker, parallel
// moves and the frame to account.
#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "ir/builder.h"
#include "ir/interp.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "jit_x64.h"

using namespace mica;
using namespace mica::test;
using ir::BlockId;
using ir::Op;
using ir::Type;
using ir::ValueId;

namespace {

constexpr unsigned BufferBytes = 4096;

class Generator {
 public:
  Generator(ir::Module& m, uint32_t seed, int processorLevel) : module(m), random(seed), level(processorLevel) {
    types = {ir::I8,
             ir::I16,
             ir::I32,
             ir::I64,
             ir::I64,
             ir::I64,
             ir::F32,
             ir::F64,
             ir::I1,
             ir::F32.withLanes(8),
             ir::F32.withLanes(4),
             ir::I32.withLanes(8),
             ir::I64.withLanes(4),
             ir::F64.withLanes(2)};
    if (level > 1) types.push_back(ir::F32.withLanes(16)), types.push_back(ir::I32.withLanes(16));
  }

  // The last function takes the buffer and answers a number made from all that was computed.
  std::string program(unsigned functions) {
    for (unsigned k = 0; k < functions; ++k) function("g" + std::to_string(k), k + 1 == functions);
    return "g" + std::to_string(functions - 1);
  }

 private:
  ir::Module& module;
  std::mt19937 random;
  int level;
  std::vector<Type> types;
  struct Callee { std::string name; std::vector<Type> params; Type result; };
  std::vector<Callee> callees;
  ir::Builder* b = nullptr;
  ValueId buffer;
  std::vector<ValueId> scope;        // values that dominate the current point
  int budget = 0;

  unsigned pick(unsigned n) { return unsigned(random() % n); }
  bool chance(unsigned percent) { return pick(100) < percent; }
  Type anyType() { return types[pick(unsigned(types.size()))]; }

  void function(const std::string& name, bool isMain) {
    Callee c{name, {ir::Ptr}, isMain ? ir::I64 : anyType()};
    if (!isMain)
      for (unsigned n = pick(21); n > 0; --n) c.params.push_back(anyType());
    uint32_t index = ir::startFunction(module, name, c.params, c.result);
    module.functions[index].cpuLevel = uint8_t(level);
    ir::Builder builder(module, index);
    b = &builder;
    scope.clear();
    buffer = builder.param(0);
    for (unsigned k = 1; k < c.params.size(); ++k) scope.push_back(builder.param(k));
    budget = 40 + int(pick(120));
    statements(0);
    if (isMain) builder.ret(digest());
    else builder.ret(valueOf(c.result));
    callees.push_back(c);
  }

  ValueId constant(Type t) {
    if (t.isFloat()) return b->fconst(t, std::array<double, 7>{0.0, -0.0, 1.0, -1.5, 3.25, 1e10, 0.1}[pick(7)]);
    return b->iconst(
        t, std::array<int64_t, 8>{0, 1, -1, 3, 100, 0x12345678, int64_t(random()), int64_t(random()) << 32}[pick(8)]);
  }

  ValueId valueOf(Type t) {
    std::vector<ValueId> fitting;
    for (ValueId v : scope)
      if (b->typeOf(v) == t) fitting.push_back(v);
    if (fitting.empty() || chance(12)) return constant(t);
    // Old values as often as new ones: long lives make pressure.
    return fitting[pick(unsigned(fitting.size()))];
  }

  ValueId condition() {
    if (chance(25)) return valueOf(ir::I1);
    Type t = std::array<Type, 4>{ir::I64, ir::I32, ir::F64, ir::F32}[pick(4)];
    if (t.isFloat()) return b->fcmp(ir::Cond(unsigned(ir::Cond::Lt) + pick(8)), valueOf(t), valueOf(t));
    return b->icmp(ir::Cond(pick(10)), valueOf(t), valueOf(t));
  }

  void operation() {
    Type t = anyType();
    ValueId r;
    if (t == ir::I1) {
      r = chance(50) ? condition()
                     : b->binary(std::array<Op, 3>{Op::And, Op::Or, Op::Xor}[pick(3)], valueOf(t), valueOf(t));
    } else if (t.isFloat()) {
      switch (pick(8)) {
        case 0: r = b->fma(valueOf(t), valueOf(t), valueOf(t)); break;
        case 1: r = b->binary(std::array<Op, 2>{Op::FMin, Op::FMax}[pick(2)], valueOf(t), valueOf(t)); break;
        case 2:
          r = t.isVector() ? b->splat(t, valueOf(t.lane())) : b->select(condition(), valueOf(t), valueOf(t));
          break;
        case 3: r = b->unary(std::array<Op, 3>{Op::FNeg, Op::FAbs, Op::FFloor}[pick(3)], valueOf(t)); break;
        case 4:
          r = t.isVector() ? b->setLane(valueOf(t), valueOf(t.lane()), pick(t.lanes))
                           : b->convert(Op::SToF, t, valueOf(ir::I64));
          break;
        default: r = b->binary(std::array<Op, 3>{Op::FAdd, Op::FSub, Op::FMul}[pick(3)], valueOf(t), valueOf(t));
      }
    } else if (t.isVector()) {
      r = chance(30) ? b->splat(t, valueOf(t.lane()))
                     : b->binary(std::array<Op, 5>{Op::IAdd, Op::ISub, Op::IMul, Op::Xor, Op::ShrU}[pick(5)],
                                 valueOf(t), valueOf(t));
    } else {
      switch (pick(9)) {
        case 0: r = b->select(condition(), valueOf(t), valueOf(t)); break;
        case 1: {
          Type wide = t == ir::I64 ? ir::I32 : ir::I64;
          r = t == ir::I64 ? b->convert(chance(50) ? Op::SExt : Op::ZExt, t, valueOf(wide))
                           : b->convert(Op::Trunc, t, valueOf(wide));
          break;
        }
        case 2: {     // a division that cannot trap
          ValueId odd = b->or_(valueOf(t), b->iconst(t, 3));
          ValueId positive = b->and_(odd, b->iconst(t, 127));
          r = b->binary(std::array<Op, 4>{Op::SDivT, Op::UDivT, Op::SRemT, Op::URemT}[pick(4)], valueOf(t), positive);
          break;
        }
        case 3:
          r = b->binary(std::array<Op, 4>{Op::Shl, Op::ShrS, Op::ShrU, Op::RotL}[pick(4)], valueOf(t), valueOf(t));
          break;
        case 4:
          if (chance(4)) {
            r = b->binary(Op::SAddT, valueOf(t), valueOf(t));
            break;
          }
          [[fallthrough]];
        case 5: r = b->convert(Op::FToSSat, t, valueOf(chance(50) ? ir::F32 : ir::F64)); break;
        default:
          r = b->binary(std::array<Op, 6>{Op::IAdd, Op::ISub, Op::IMul, Op::And, Op::Or, Op::Xor}[pick(6)], valueOf(t),
                        valueOf(t));
      }
    }
    scope.push_back(r);
  }

  // NaN has many patterns: only its absence is compared.
  ValueId settled(ValueId v) {
    Type t = b->typeOf(v);
    if (!t.isFloat()) return v;
    ValueId zero = b->fconst(t, 0.0), ordered = b->fcmp(ir::Cond::Eq, v, v);
    return t.isVector() ? b->vselect(ordered, v, zero) : b->select(ordered, v, zero);
  }

  ValueId place(unsigned& offset) {
    offset = pick(8) * 64;
    if (chance(40)) return buffer;
    ValueId masked = b->and_(valueOf(ir::I64), b->i64(31));
    ValueId scaled = chance(50) ? b->shl(masked, b->i64(3)) : b->imul(masked, b->i64(8));
    return b->padd(buffer, scaled);
  }

  void memory() {
    Type t = anyType();
    unsigned offset;
    ValueId p = place(offset);
    if (chance(50) && t != ir::I1) {
      // Bytes of other types in floats would show NaN patterns: floats are read only where they are written before.
      if (t.isFloat()) {
        b->store(settled(valueOf(t)), buffer, 2048);
        scope.push_back(b->load(t, buffer, 2048));
      } else {
        scope.push_back(b->load(t, p, offset));
      }
    } else if (chance(20) && t.isInt() && !t.isVector() && t != ir::I1) {
      ValueId old = b->load(t, p, offset);
      b->store(b->iadd(old, valueOf(t)), p, offset);
    } else {
      b->store(settled(valueOf(t)), p, offset);
    }
  }

  void call() {
    if (callees.empty()) return operation();
    const Callee& c = callees[pick(unsigned(callees.size()))];
    std::vector<ValueId> args{buffer};
    for (size_t k = 1; k < c.params.size(); ++k) args.push_back(valueOf(c.params[k]));
    scope.push_back(b->call(module.symbol(c.name), c.result, args));
  }

  void branch(int depth) {
    std::vector<Type> joined;
    for (unsigned n = pick(4); n > 0; --n) joined.push_back(anyType());
    BlockId yes = b->createBlock(), no = b->createBlock(), join = b->createBlock(joined);
    b->brIf(condition(), yes, no);
    for (BlockId side : {yes, no}) {
      size_t outer = scope.size();
      b->setBlock(side);
      if (side == yes || chance(60)) statements(depth + 1);
      std::vector<ValueId> args;
      for (Type t : joined) args.push_back(valueOf(t));
      b->br(join, args);
      scope.resize(outer);
    }
    b->setBlock(join);
    for (unsigned k = 0; k < joined.size(); ++k) scope.push_back(b->param(join, k));
  }

  void chooseBlock(int depth) {
    BlockId join = b->createBlock({ir::I64}), other = b->createBlock();
    std::vector<ir::Builder::Case> cases;
    std::vector<BlockId> blocks;
    int64_t base = int64_t(pick(5)) - 2, step = chance(50) ? 1 : 1000;
    for (unsigned k = 0; k < 1 + pick(8); ++k) {
      blocks.push_back(b->createBlock());
      cases.push_back({base + int64_t(k) * step, blocks.back()});
    }
    ValueId masked = b->and_(valueOf(ir::I64), b->i64(7));
    ValueId selector = step == 1 ? masked : b->imul(masked, b->i64(1000));
    b->switchOn(selector, other, cases);
    blocks.push_back(other);
    for (BlockId x : blocks) {
      size_t outer = scope.size();
      b->setBlock(x);
      if (depth < 3 && chance(40)) operation();
      ValueId v = valueOf(ir::I64);
      b->br(join, {v});
      scope.resize(outer);
    }
    b->setBlock(join);
    scope.push_back(b->param(join, 0));
  }

  void loop(int depth) {
    std::vector<Type> carried{ir::I64};
    Type rotating = anyType();
    for (unsigned n = pick(5); n > 0; --n) carried.push_back(chance(60) ? rotating : anyType());
    BlockId head = b->createBlock(carried), end = b->createBlock();
    std::vector<ValueId> start{b->i64(0)};
    for (size_t k = 1; k < carried.size(); ++k) start.push_back(valueOf(carried[k]));
    b->br(head, start);
    bool testFirst = chance(50);
    b->setBlock(head);
    for (unsigned k = 0; k < carried.size(); ++k) scope.push_back(b->param(head, k));
    size_t inHead = scope.size();
    int64_t rounds = 1 + pick(depth > 0 ? 3 : 8);
    if (testFirst) {
      BlockId body = b->createBlock();
      b->brIf(b->icmp(ir::Cond::Slt, b->param(head, 0), b->i64(rounds)), body, end);
      b->setBlock(body);
    }
    statements(depth + 1);
    std::vector<ValueId> next{b->iadd(b->param(head, 0), b->i64(1))};
    for (size_t k = 1; k < carried.size(); ++k) {
      // Parameters change places now and then.
      ValueId v = valueOf(carried[k]);
      if (chance(50))
        for (size_t j = 1; j < carried.size(); ++j)
          if (carried[j] == carried[k] && j != k) v = b->param(head, unsigned(j));
      next.push_back(v);
    }
    if (testFirst) b->br(head, next);
    else b->brIf(b->icmp(ir::Cond::Slt, next[0], b->i64(rounds)), head, next, end, {});
    scope.resize(inHead);
    b->setBlock(end);
  }

  void statements(int depth) {
    for (unsigned n = 2 + pick(depth == 0 ? 30 : 8); n > 0 && budget > 0; --n, --budget) {
      unsigned kind = pick(100);
      if (kind < 60) operation();
      else if (kind < 75) memory();
      else if (kind < 82) call();
      else if (kind < 89 && depth < 4) branch(depth);
      else if (kind < 92 && depth < 4) chooseBlock(depth);
      else if (depth < 3) loop(depth);
    }
  }

  ValueId digest() {
    ValueId h = b->i64(1469598103934665603);
    for (ValueId v : std::vector<ValueId>(scope)) {
      Type t = b->typeOf(v);
      if (t.isVector()) {
        b->store(settled(v), buffer, 3072);
        v = b->load(ir::I64, buffer, 3072);
      } else if (t.isFloat()) {
        v = b->convert(Op::Bitcast, t == ir::F32 ? ir::I32 : ir::I64, settled(v));
      }
      if (b->typeOf(v) != ir::I64) v = b->convert(Op::ZExt, ir::I64, v);
      h = b->imul(b->xor_(h, v), b->i64(1099511628211));
    }
    return h;
  }
};

}  // namespace

TEST_CASE("x64 random programs agree with the interpreter") {
  unsigned programs = 150;
  uint32_t base = 1;
  if (const char* more = std::getenv("MICA_RANDOM_PROGRAMS")) programs = unsigned(std::atoi(more));
  if (const char* from = std::getenv("MICA_RANDOM_SEED")) base = uint32_t(std::atoi(from));
  unsigned ran = 0, trapped = 0;
  for (int level = 1; level <= machineLevel(); ++level)
    for (uint32_t seed = base; seed < base + programs; ++seed) {
      ir::Module plain;
      std::string name = Generator(plain, seed * 2 + uint32_t(level), level).program(1 + seed % 4);
      auto faults = ir::verify(plain);
      REQUIRE_MESSAGE(faults.empty(), "seed " << seed << ": " << (faults.empty() ? "" : faults[0]));
      ir::Module compiled;
      std::string error;
      REQUIRE(ir::parse(ir::print(plain), compiled, error));
      Jit jit(compiled);
      REQUIRE_MESSAGE(jit.error.empty(), "seed " << seed << ": " << jit.error);
      alignas(64) static uint8_t native[BufferBytes], wanted[BufferBytes];
      for (unsigned k = 0; k < BufferBytes; ++k) native[k] = wanted[k] = uint8_t(k * 37 + seed);
      ir::Interpreter interpreter(plain, 1 << 22);
      ir::Outcome outcome = interpreter.call(name, {uint64_t(wanted)}, 2000000);
      if (outcome.kind == ir::Outcome::OutOfFuel) continue;
      REQUIRE_MESSAGE(outcome.kind != ir::Outcome::Stuck, outcome.message);
      TrapSeen seen;
      int64_t result = 0;
      bool traps = jit.traps([&] { result = jit.function<int64_t(void*)>(name)(native); }, seen);
      bool wantTrap = outcome.kind == ir::Outcome::Trapped;
      REQUIRE_MESSAGE(traps == wantTrap, "seed " << seed << " level " << level);
      if (!traps) REQUIRE_MESSAGE(uint64_t(result) == outcome.result[0], "seed " << seed << " level " << level);
      REQUIRE_MESSAGE(std::memcmp(native, wanted, BufferBytes) == 0,
                      "seed " << seed << " level " << level << ": memory differs");
      ++ran;
      trapped += traps;
    }
  CHECK(ran > programs / 2);
  CHECK(trapped < ran);
}
