// strength: division, remainder and multiplication by constants become shifts and multiplications. The quotient by d is the upper half of
// a product with a rounded-up 2^k / d, corrected where that number does not fit the width (Granlund and Montgomery, "Division by
// Invariant Integers using Multiplication"; Warren, "Hacker's Delight", chapter 10). For i32 and i64; a divisor -1 stays, as it may trap.
#include <bit>

#include "ir/passes/edit.h"
#include "ir/passes/passes.h"

namespace mica::ir {

namespace {

using u128 = unsigned __int128;

class Reducer {
 public:
  explicit Reducer(Function& fn) : f(fn), replaced(fn) {}

  void run() {
    for (Block& b : f.blocks) {
      std::vector<InstId> old = std::move(b.insts);
      list.clear();
      for (InstId id : old)
        if (!reduce(id)) list.push_back(id);
      b.insts = list;
    }
    replaced.apply(f);
  }

 private:
  Function& f;
  Replacements replaced;
  std::vector<InstId> list;

  // Answers whether the instruction has been replaced.
  bool reduce(InstId id) {
    const Inst i = f.insts[id.index];
    int64_t c;
    if (i.argCount != 2 || i.type.isVector() || !constantOf(f, f.arg(i, 1), c)) return false;
    Emitter e{f, list, i.place};
    ValueId x = f.arg(i, 0), r;
    bool wide = i.type == I32 || i.type == I64;
    switch (i.op) {
      case Op::IMul: r = multiply(e, i.type, x, c); break;
      case Op::UDivT: if (c != 0) r = divideUnsigned(e, i.type, x, c, wide); break;
      case Op::SDivT: if (c != 0 && c != -1 && wide) r = divideSigned(e, i.type, x, c); break;
      case Op::URemT:
        if (isPower(i.type, c)) r = e.value(Op::And, i.type, {x, e.iconst(i.type, c - 1)});
        else if (c != 0 && wide) r = remainder(e, i.type, x, c, divideUnsigned(e, i.type, x, c, wide));
        break;
      case Op::SRemT: if (c != 0 && c != -1 && wide) r = remainder(e, i.type, x, c, divideSigned(e, i.type, x, c)); break;
      default: return false;
    }
    if (!r) return false;
    replaced.set(i.result, r);
    return true;
  }

  static unsigned bitsOf(Type t) { return t.laneBytes() * 8; }
  static uint64_t unsignedOf(Type t, int64_t c) { return bitsOf(t) == 64 ? uint64_t(c) : uint64_t(c) & ((uint64_t(1) << bitsOf(t)) - 1); }
  static bool isPower(Type t, int64_t c) { return std::has_single_bit(unsignedOf(t, c)); }

  ValueId shift(Emitter& e, Op op, Type t, ValueId x, unsigned by) {
    if (by == 0) return x;
    ValueId c = e.iconst(t, by);
    return e.value(op, t, {x, c});
  }

  ValueId multiply(Emitter& e, Type t, ValueId x, int64_t c) {
    if (!isPower(t, c)) return {};
    return shift(e, Op::Shl, t, x, unsigned(std::countr_zero(unsignedOf(t, c))));
  }

  ValueId divideUnsigned(Emitter& e, Type t, ValueId x, int64_t c, bool wide) {
    uint64_t d = unsignedOf(t, c);
    if (std::has_single_bit(d)) return shift(e, Op::ShrU, t, x, unsigned(std::countr_zero(d)));
    if (!wide) return {};
    unsigned bits = bitsOf(t), log = 64 - unsigned(std::countl_zero(d - 1));   // 2^log is the least power not below d
    // m = floor(2^bits * (2^log - d) / d) + 1: the low bits of ceil(2^(bits + log) / d), whose top bit is 2^bits.
    u128 gap = (log == 64 ? u128(0) - d : (u128(1) << log) - d) & (log == 64 ? ~uint64_t(0) : ~u128(0));
    uint64_t m = uint64_t((gap << bits) / d + 1);
    // quotient = (high(m * x) + x) >> log, with the sum kept within the width by halving the difference first.
    ValueId mc = e.iconst(t, int64_t(m));
    ValueId high = e.value(Op::MulHiU, t, {x, mc});
    ValueId rest = e.value(Op::ISub, t, {x, high});
    ValueId sum = e.value(Op::IAdd, t, {shift(e, Op::ShrU, t, rest, 1), high});
    return shift(e, Op::ShrU, t, sum, log - 1);
  }

  ValueId divideSigned(Emitter& e, Type t, ValueId x, int64_t c) {
    unsigned bits = bitsOf(t);
    uint64_t d = c < 0 ? 0 - uint64_t(c) : uint64_t(c);
    if (d == 1) return x;
    ValueId q;
    if (std::has_single_bit(d)) {   // rounds towards zero: add d - 1 to what is negative
      unsigned log = unsigned(std::countr_zero(d));
      ValueId sign = shift(e, Op::ShrS, t, x, bits - 1);
      ValueId bias = shift(e, Op::ShrU, t, sign, bits - log);
      q = shift(e, Op::ShrS, t, e.value(Op::IAdd, t, {x, bias}), log);
    } else {
      // The least s with a multiplier m = floor(2^(bits - 1 + s) / d) + 1 that is exact enough for all x.
      unsigned s = 64 - unsigned(std::countl_zero(d - 1));   // 2^s >= d
      u128 m = (u128(1) << (bits - 1 + s)) / d + 1;           // below 2^bits: may look negative
      ValueId mc = e.iconst(t, int64_t(uint64_t(m)));
      ValueId high = e.value(Op::MulHiS, t, {x, mc});
      if (canonical(t, int64_t(uint64_t(m))) < 0) high = e.value(Op::IAdd, t, {high, x});   // m - 2^bits was used
      q = e.value(Op::ISub, t, {shift(e, Op::ShrS, t, high, s - 1), shift(e, Op::ShrS, t, x, bits - 1)});
    }
    if (c > 0) return q;
    ValueId zero = e.iconst(t, 0);
    return e.value(Op::ISub, t, {zero, q});
  }

  ValueId remainder(Emitter& e, Type t, ValueId x, int64_t c, ValueId q) {
    ValueId product = multiply(e, t, q, c);
    if (!product) {
      ValueId by = e.iconst(t, c);
      product = e.value(Op::IMul, t, {q, by});
    }
    return e.value(Op::ISub, t, {x, product});
  }
};

}  // namespace

void reduceStrength(Function& f) { Reducer(f).run(); }

}  // namespace mica::ir
