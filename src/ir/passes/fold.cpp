// fold: computes operations on constants and simplifies by identities. A rule keeps the type, makes the code smaller or cheaper, and
// looks only at definitions, never across block parameters. Float rules hold for every bit pattern: constants fold only when
// the result is no NaN (whose bits are the processor's), and x + 0 or x * 1 stay, since they quieten a signalling NaN.
#include <bit>
#include <cmath>
#include <limits>

#include "ir/interp_scalar.h"
#include "ir/passes/edit.h"
#include "ir/passes/passes.h"

namespace mica::ir {

namespace {

unsigned bitsOf(Type t) { return t.kind == TypeKind::I1 ? 1 : t.laneBytes() * 8; }
uint64_t lowBits(int64_t v, unsigned bits) { return bits == 64 ? uint64_t(v) : uint64_t(v) & ((uint64_t(1) << bits) - 1); }
bool fits(__int128 v, Type t) {
  unsigned bits = bitsOf(t);
  return v >= -(__int128(1) << (bits - 1)) && v < (__int128(1) << (bits - 1));
}

bool compareInts(Cond c, int64_t a, int64_t b) {
  uint64_t ua = uint64_t(a), ub = uint64_t(b);   // sign extension keeps the unsigned order
  switch (c) {
    case Cond::Eq: return a == b;
    case Cond::Ne: return a != b;
    case Cond::Slt: return a < b;
    case Cond::Sle: return a <= b;
    case Cond::Sgt: return a > b;
    case Cond::Sge: return a >= b;
    case Cond::Ult: return ua < ub;
    case Cond::Ule: return ua <= ub;
    case Cond::Ugt: return ua > ub;
    default: return ua >= ub;
  }
}

bool compareFloats(Cond c, double a, double b) {
  switch (c) {
    case Cond::Eq: return a == b;
    case Cond::Ne: return !(a == b);
    case Cond::Lt: return a < b;
    case Cond::Le: return a <= b;
    case Cond::Gt: return a > b;
    case Cond::Ge: return a >= b;
    case Cond::Nlt: return !(a < b);
    case Cond::Nle: return !(a <= b);
    case Cond::Ngt: return !(a > b);
    default: return !(a >= b);
  }
}

// The value of an integer operation on constants (of a scalar, or of each lane); false where it would trap or is not known here.
bool foldInts(Op op, Type t, int64_t a, int64_t b, int64_t& r) {
  unsigned bits = bitsOf(t), count = unsigned(b) & (bits - 1);
  uint64_t ua = lowBits(a, bits), ub = lowBits(b, bits);
  __int128 wide = 0;
  switch (op) {
    case Op::IAdd: r = int64_t(uint64_t(a) + uint64_t(b)); break;
    case Op::ISub: r = int64_t(uint64_t(a) - uint64_t(b)); break;
    case Op::IMul: r = int64_t(uint64_t(a) * uint64_t(b)); break;
    case Op::And: r = a & b; break;
    case Op::Or: r = a | b; break;
    case Op::Xor: r = a ^ b; break;
    case Op::Shl: r = int64_t(uint64_t(a) << count); break;
    case Op::ShrS: r = a >> count; break;
    case Op::ShrU: r = int64_t(ua >> count); break;
    case Op::RotL: r = int64_t(count ? (ua << count) | (ua >> (bits - count)) : ua); break;
    case Op::MulHiS: r = int64_t((__int128(a) * b) >> bits); break;
    case Op::MulHiU: r = int64_t(((unsigned __int128)ua * ub) >> bits); break;
    case Op::IMinS: r = a < b ? a : b; break;
    case Op::IMaxS: r = a < b ? b : a; break;
    case Op::SAddT: wide = __int128(a) + b; break;
    case Op::SSubT: wide = __int128(a) - b; break;
    case Op::SMulT: wide = __int128(a) * b; break;
    case Op::UAddT: case Op::USubT: case Op::UMulT: {
      __int128 u = op == Op::UAddT ? __int128(ua) + ub : op == Op::USubT ? __int128(ua) - ub : __int128((unsigned __int128)ua * ub);
      bool tooLarge = op == Op::UMulT ? ((unsigned __int128)ua * ub) >> bits != 0 : (u < 0 || u >> bits != 0);
      if (tooLarge) return false;
      r = int64_t(u);
      break;
    }
    case Op::SDivT:
      if (b == 0 || (b == -1 && !fits(-__int128(a), t))) return false;
      r = b == -1 ? -a : a / b;
      break;
    case Op::SRemT:
      if (b == 0) return false;
      r = b == -1 ? 0 : a % b;
      break;
    case Op::UDivT:
      if (ub == 0) return false;
      r = int64_t(ua / ub);
      break;
    case Op::URemT:
      if (ub == 0) return false;
      r = int64_t(ua % ub);
      break;
    default: return false;
  }
  if (op == Op::SAddT || op == Op::SSubT || op == Op::SMulT) {
    if (!fits(wide, t)) return false;
    r = int64_t(wide);
  }
  r = canonical(t, r);
  return true;
}

template <class T> T floatOf(int64_t bits) {
  if constexpr (sizeof(T) == 4) return std::bit_cast<float>(uint32_t(bits));
  else return std::bit_cast<double>(bits);
}
template <class T> int64_t bitsOfFloat(T v) { return int64_t(std::bit_cast<FloatBits<T>>(v)); }

template <class T> bool foldFloats(Op op, T a, T b, T c, T& r) {
  switch (op) {
    case Op::FAdd: r = a + b; return true;
    case Op::FSub: r = a - b; return true;
    case Op::FMul: r = a * b; return true;
    case Op::FDiv: r = a / b; return true;
    case Op::FSqrt: r = std::sqrt(a); return true;
    case Op::Fma: r = std::fma(a, b, c); return true;
    case Op::FMin: r = floatMin(a, b); return true;
    case Op::FMax: r = floatMax(a, b); return true;
    case Op::FFloor: r = std::floor(a); return true;
    case Op::FCeil: r = std::ceil(a); return true;
    case Op::FTrunc: r = std::trunc(a); return true;
    case Op::FRound: r = std::nearbyint(a); return true;
    default: return false;
  }
}

class Folder {
 public:
  explicit Folder(Function& fn) : f(fn), replaced(fn) {}

  void run() {
    Cfg cfg(f);
    for (BlockId b : cfg.order) {
      std::vector<InstId> old = std::move(f.blocks[b.index].insts);
      list.clear();
      for (InstId id : old) {
        for (ValueId& v : argsOf(f, f.insts[id.index])) v = replaced.of(v);
        current = id;
        bool keep = inst(id);
        if (keep) list.push_back(id);
        if (isTerminator(f.insts[id.index].op) && keep) break;   // a check that always fails has become the end
      }
      f.blocks[b.index].insts = list;
    }
    replaced.apply(f);
  }

 private:
  Function& f;
  Replacements replaced;
  std::vector<InstId> list;
  InstId current;

  Inst& self() { return f.insts[current.index]; }
  ValueId arg(unsigned k) { return f.arg(self(), k); }
  const Inst* def(unsigned k) { return defOf(f, arg(k)); }
  Emitter emitter() { return {f, list, self().place}; }

  bool use(ValueId v) {   // the result is that value; the instruction goes
    replaced.set(self().result, v);
    return false;
  }
  bool constant(int64_t v) {
    becomeConstant(f, self(), v);
    return true;
  }
  void setArg(unsigned k, ValueId v) { f.pool[self().firstArg + k] = v; }
  void setConstArg(unsigned k, int64_t v) {
    Type t = f.typeOf(arg(k));
    ValueId c = emitter().iconst(t, v);
    setArg(k, c);
  }
  bool floatConstant(unsigned k, int64_t& bits) {
    const Inst* d = def(k);
    if (!d || d->op != Op::FConst) return false;
    bits = d->imm;
    return true;
  }

  // Answers whether the instruction stays (perhaps changed).
  bool inst(InstId) {
    switch (self().op) {
      case Op::IAdd: case Op::ISub: case Op::IMul: case Op::And: case Op::Or: case Op::Xor: case Op::Shl: case Op::ShrS: case Op::ShrU:
      case Op::RotL: case Op::MulHiS: case Op::MulHiU: case Op::IMinS: case Op::IMaxS: case Op::SAddT: case Op::SSubT: case Op::SMulT:
      case Op::UAddT: case Op::USubT: case Op::UMulT: case Op::SDivT: case Op::UDivT: case Op::SRemT: case Op::URemT:
        return integer();
      case Op::Clz: case Op::Ctz: case Op::Popcount: return countBits();
      case Op::FAdd: case Op::FSub: case Op::FMul: case Op::FDiv: case Op::FSqrt: case Op::Fma: case Op::FMin: case Op::FMax:
      case Op::FFloor: case Op::FCeil: case Op::FTrunc: case Op::FRound:
        return floating();
      case Op::FNeg: case Op::FAbs: return floatSign();
      case Op::ICmp: return compare();
      case Op::FCmp: return floatCompare();
      case Op::Select: return select();
      case Op::Not: return negation();
      case Op::SExt: case Op::ZExt: case Op::Trunc: return resize();
      case Op::SToF: case Op::UToF: case Op::FToST: case Op::FToUT: case Op::FToSSat: case Op::FToUSat: case Op::FExt: case Op::FCut:
        return convert();
      case Op::Bitcast: return bitcast();
      case Op::PAdd: return padd();
      case Op::Load: case Op::ALoad: case Op::Prefetch: address(0); return true;
      case Op::Store: case Op::AStore: case Op::AAdd: case Op::ASwap: address(1); return true;
      case Op::ACas: address(2); return true;
      case Op::MemCopy: return self().imm != 0 && arg(0) != arg(1);
      case Op::MemZero: return self().imm != 0;
      case Op::Splat: return splat();
      case Op::Lane: return lane();
      case Op::TrapIf: return trapIf();
      default: return true;
    }
  }

  bool integer() {
    int64_t a = 0, b = 0, r;
    bool ca = constantOf(f, arg(0), a), cb = constantOf(f, arg(1), b);
    if (ca && cb && foldInts(self().op, self().type, a, b, r)) return constant(r);
    if (ca && !cb && commutes(self().op)) {
      ValueId first = arg(0);
      setArg(0, arg(1));
      setArg(1, first);
      std::swap(a, b);
      std::swap(ca, cb);
    }
    if (cb) return integerByConstant(b);
    if (ca && a == 0)
      switch (self().op) {   // 0 shifted, 0 divided only where that cannot trap
        case Op::Shl: case Op::ShrS: case Op::ShrU: case Op::RotL: return constant(0);
        default: break;
      }
    if (arg(0) == arg(1))
      switch (self().op) {
        case Op::ISub: case Op::Xor: case Op::SSubT: case Op::USubT: return constant(0);   // x - x = 0, x ^ x = 0
        case Op::And: case Op::Or: case Op::IMinS: case Op::IMaxS: return use(arg(0));     // x & x = x
        default: break;
      }
    return true;
  }

  static bool commutes(Op op) {
    switch (op) {
      case Op::IAdd: case Op::IMul: case Op::And: case Op::Or: case Op::Xor: case Op::MulHiS: case Op::MulHiU: case Op::IMinS:
      case Op::IMaxS: case Op::SAddT: case Op::SMulT: case Op::UAddT: case Op::UMulT:
        return true;
      default: return false;
    }
  }

  bool integerByConstant(int64_t b) {
    unsigned bits = bitsOf(self().type);
    switch (self().op) {
      case Op::IAdd:
        if (b == 0) return use(arg(0));
        return reassociate(b);
      case Op::ISub:   // x - c = x + (-c)
        if (b == 0) return use(arg(0));
        setConstArg(1, int64_t(0 - uint64_t(b)));
        self().op = Op::IAdd;
        return reassociate(canonical(self().type, int64_t(0 - uint64_t(b))));
      case Op::SAddT: case Op::SSubT: case Op::UAddT: case Op::USubT:
        return b == 0 ? use(arg(0)) : true;
      case Op::IMul: case Op::SMulT: case Op::UMulT:
        if (b == 0) return constant(0);
        if (b == 1) return use(arg(0));
        return true;
      case Op::And:
        if (b == 0) return constant(0);
        if (b == canonical(self().type, -1)) return use(arg(0));
        return reassociate(b);
      case Op::Or:
        if (b == 0) return use(arg(0));
        if (b == canonical(self().type, -1)) return constant(b);
        return reassociate(b);
      case Op::Xor:
        if (b == 0) return use(arg(0));
        if (self().type == I1) return becomeUnary(f, self(), Op::Not, I1, arg(0)), true;   // x ^ true = not x
        return reassociate(b);
      case Op::Shl: case Op::ShrS: case Op::ShrU: case Op::RotL:
        return (b & (bits - 1)) == 0 ? use(arg(0)) : true;
      case Op::SDivT: case Op::UDivT:
        return b == 1 ? use(arg(0)) : true;
      case Op::SRemT:
        return b == 1 || b == -1 ? constant(0) : true;
      case Op::URemT:
        return b == 1 ? constant(0) : true;
      default: return true;
    }
  }

  // (x op c) op b = x op (c op b), for operations that wrap.
  bool reassociate(int64_t b) {
    const Inst* d = def(0);
    int64_t c, r;
    if (!d || d->op != self().op || !constantOf(f, f.arg(*d, 1), c)) return true;
    if (!foldInts(self().op, self().type, c, b, r)) return true;
    ValueId x = f.arg(*d, 0);
    setConstArg(1, r);
    setArg(0, x);
    return true;
  }

  bool countBits() {
    int64_t a;
    if (!constantOf(f, arg(0), a)) return true;
    unsigned bits = bitsOf(self().type);
    uint64_t u = lowBits(a, bits);
    switch (self().op) {
      case Op::Clz: return constant(std::countl_zero(u) - int64_t(64 - bits));
      case Op::Ctz: return constant(u ? std::countr_zero(u) : bits);
      default: return constant(std::popcount(u));
    }
  }

  template <class T> bool floatingOf() {
    int64_t bits[3] = {0, 0, 0};
    bool all = true;
    for (unsigned k = 0; k < self().argCount; ++k) all &= floatConstant(k, bits[k]);
    T r;
    if (all && foldFloats<T>(self().op, floatOf<T>(bits[0]), floatOf<T>(bits[1]), floatOf<T>(bits[2]), r) && r == r) return constant(bitsOfFloat(r));
    if (self().op == Op::FDiv && floatConstant(1, bits[1])) {
      // Division by a power of two whose reciprocal is normal is multiplication by the reciprocal, for every x.
      T by = floatOf<T>(bits[1]);
      int exponent;
      if (std::isnormal(by) && std::abs(std::frexp(by, &exponent)) == T(0.5) && std::isnormal(1 / by)) {
        ValueId c = emitter().value(Op::FConst, self().type, {}, bitsOfFloat(T(1 / by)));
        self().op = Op::FMul;
        setArg(1, c);
      }
    }
    return true;
  }
  bool floating() { return self().type.kind == TypeKind::F32 ? floatingOf<float>() : floatingOf<double>(); }

  bool floatSign() {
    int64_t bits;
    int64_t sign = self().type.kind == TypeKind::F32 ? int64_t(1) << 31 : std::numeric_limits<int64_t>::min();
    bool negate = self().op == Op::FNeg;
    if (floatConstant(0, bits)) return constant(negate ? bits ^ sign : bits & ~sign);
    const Inst* d = def(0);
    if (!d) return true;
    if (negate && d->op == Op::FNeg) return use(f.arg(*d, 0));            // -(-x) = x
    if (!negate && d->op == Op::FAbs) return use(arg(0));                 // |(|x|)| = |x|
    if (!negate && d->op == Op::FNeg) setArg(0, f.arg(*d, 0));            // |-x| = |x|
    return true;
  }

  bool compare() {
    int64_t a, b;
    Cond c = self().cond;
    bool ca = constantOf(f, arg(0), a), cb = constantOf(f, arg(1), b);
    if (ca && cb) return constant(compareInts(c, a, b) ? -1 : 0);
    if (arg(0) == arg(1)) return constant(compareInts(c, 0, 0) ? -1 : 0);
    if (self().type.isVector()) return true;
    if (ca) {   // constants stand on the right
      ValueId first = arg(0);
      setArg(0, arg(1));
      setArg(1, first);
      self().cond = c = swapOperands(c);
      std::swap(a, b);
      cb = true;
    }
    if (!cb) return true;
    if (c == Cond::Ult && b == 0) return constant(0);   // nothing is below 0
    if (c == Cond::Uge && b == 0) return constant(1);
    // A zero-extended truth compared with 0 or 1 is the truth or its negation.
    const Inst* d = def(0);
    if (d && d->op == Op::ZExt && f.typeOf(f.arg(*d, 0)) == I1 && (b == 0 || b == 1) && (c == Cond::Eq || c == Cond::Ne)) {
      ValueId truth = f.arg(*d, 0);
      if ((c == Cond::Eq) == (b == 1)) return use(truth);
      becomeUnary(f, self(), Op::Not, I1, truth);
    } else if (self().type == I1 && (c == Cond::Eq || c == Cond::Ne)) {
      if ((c == Cond::Eq) == (b == 1)) return use(arg(0));
      becomeUnary(f, self(), Op::Not, I1, arg(0));
    }
    return true;
  }

  bool floatCompare() {
    int64_t a, b;
    if (!floatConstant(0, a) || !floatConstant(1, b)) return true;
    bool single = self().type.kind == TypeKind::F32;
    double x = single ? double(floatOf<float>(a)) : floatOf<double>(a), y = single ? double(floatOf<float>(b)) : floatOf<double>(b);
    return constant(compareFloats(self().cond, x, y) ? -1 : 0);
  }

  bool select() {
    int64_t c, yes, no;
    if (constantOf(f, arg(0), c)) return use(c ? arg(1) : arg(2));
    if (arg(1) == arg(2)) return use(arg(1));
    if (self().type == I1 && constantOf(f, arg(1), yes) && constantOf(f, arg(2), no)) {   // the constants differ
      if (yes) return use(arg(0));
      becomeUnary(f, self(), Op::Not, I1, arg(0));
      return true;
    }
    if (const Inst* d = def(0); d && d->op == Op::Not) {   // not c ? a : b = c ? b : a
      ValueId condition = f.arg(*d, 0), first = arg(1);
      setArg(0, condition);
      setArg(1, arg(2));
      setArg(2, first);
    }
    return true;
  }

  bool negation() {
    int64_t c;
    if (constantOf(f, arg(0), c)) return constant(!c);
    const Inst* d = def(0);
    if (!d) return true;
    if (d->op == Op::Not) return use(f.arg(*d, 0));
    if ((d->op == Op::ICmp || d->op == Op::FCmp) && !d->type.isVector()) {   // the comparison's negation
      Inst& i = self();
      Inst compare = *d;
      i.op = compare.op;
      i.type = compare.type;
      i.cond = negate(compare.cond);
      i.firstArg = addToPool(f, argsOf(f, compare));
      i.argCount = 2;
    }
    return true;
  }

  bool resize() {
    int64_t a;
    Type from = f.typeOf(arg(0));
    if (constantOf(f, arg(0), a)) {
      if (self().op == Op::SExt && from.kind == TypeKind::I1) return constant(a ? -1 : 0);
      return constant(self().op == Op::ZExt ? int64_t(lowBits(a, bitsOf(from))) : a);
    }
    const Inst* d = def(0);
    if (!d) return true;
    bool extension = d->op == Op::SExt || d->op == Op::ZExt;
    if (self().op == Op::Trunc && extension) {
      ValueId x = f.arg(*d, 0);
      Type inner = f.typeOf(x);
      if (inner == self().type) return use(x);                                          // trunc(ext x) = x
      if (bitsOf(inner) > bitsOf(self().type)) setArg(0, x);                            // = trunc x
      else if (bitsOf(inner) < bitsOf(self().type)) becomeUnary(f, self(), d->op, self().type, x);   // = ext x
    } else if (self().op == d->op) {   // ext(ext x) = ext x, trunc(trunc x) = trunc x
      setArg(0, f.arg(*d, 0));
    }
    return true;
  }

  bool convert() {
    int64_t a;
    Op op = self().op;
    Type to = self().type, from = f.typeOf(arg(0));
    bool single = to.kind == TypeKind::F32;
    if (op == Op::SToF || op == Op::UToF) {
      if (!constantOf(f, arg(0), a)) return true;
      uint64_t u = lowBits(a, bitsOf(from));
      if (op == Op::SToF) return constant(single ? bitsOfFloat(float(a)) : bitsOfFloat(double(a)));
      return constant(single ? bitsOfFloat(float(u)) : bitsOfFloat(double(u)));
    }
    if (!floatConstant(0, a)) return true;
    double v = from.kind == TypeKind::F32 ? double(floatOf<float>(a)) : floatOf<double>(a);
    unsigned bits = to.isFloat() ? 0 : bitsOf(to);
    switch (op) {
      case Op::FToST: return fitsSigned(v, bits) ? constant(int64_t(v)) : true;
      case Op::FToUT: return fitsUnsigned(v, bits) ? constant(int64_t(uint64_t(std::trunc(v)))) : true;
      case Op::FToSSat: return constant(saturateSigned(v, bits));
      case Op::FToUSat: return constant(int64_t(saturateUnsigned(v, bits)));
      case Op::FExt: return v == v ? constant(bitsOfFloat(v)) : true;
      default: return v == v ? constant(bitsOfFloat(float(v))) : true;
    }
  }

  bool bitcast() {
    const Inst* d = def(0);
    if (!d) return true;
    Type to = self().type;
    if (d->op == Op::Bitcast) {
      ValueId x = f.arg(*d, 0);
      if (f.typeOf(x) == to) return use(x);
      setArg(0, x);
    } else if (d->op == Op::IConst && to.kind == TypeKind::F32) {
      return constant(int64_t(uint32_t(d->imm)));
    } else if (d->op == Op::IConst || d->op == Op::FConst) {
      return constant(d->imm);
    }
    return true;
  }

  bool padd() {
    int64_t c, inner;
    if (!constantOf(f, arg(1), c)) return true;
    if (c == 0) return use(arg(0));
    const Inst* d = def(0);
    if (!d) return true;
    if (d->op == Op::SymAddr && small(d->imm + c)) {   // @x + c
      Inst& i = self();
      i.op = Op::SymAddr;
      i.symbol = d->symbol;
      i.imm = d->imm + c;
      i.argCount = 0;
    } else if (d->op == Op::PAdd && constantOf(f, f.arg(*d, 1), inner)) {
      ValueId base = f.arg(*d, 0);
      setConstArg(1, int64_t(uint64_t(inner) + uint64_t(c)));
      setArg(0, base);
    } else if (d->op == Op::IConst) {
      return constant(int64_t(uint64_t(d->imm) + uint64_t(c)));
    }
    return true;
  }

  static bool small(int64_t offset) { return offset >= INT32_MIN / 2 && offset <= INT32_MAX / 2; }

  // A constant added to an address goes into the access's own offset.
  void address(unsigned k) {
    const Inst* d = def(k);
    int64_t c;
    if (!d || d->op != Op::PAdd || !constantOf(f, f.arg(*d, 1), c) || !small(c) || !small(self().imm + c)) return;
    self().imm += c;
    setArg(k, f.arg(*d, 0));
  }

  bool splat() {
    const Inst* d = def(0);
    if (d && (d->op == Op::IConst || d->op == Op::FConst)) return constant(d->imm);
    return true;
  }

  bool lane() {
    const Inst* d = def(0);
    if (!d) return true;
    if (d->op == Op::Splat) return use(f.arg(*d, 0));
    if (d->op == Op::IConst || d->op == Op::FConst) return constant(d->imm);
    if (d->op == Op::SetLane && d->imm == self().imm) return use(f.arg(*d, 1));
    return true;
  }

  bool trapIf() {
    int64_t c;
    if (!constantOf(f, arg(0), c)) return true;
    if (!c) return false;
    Inst& i = self();   // always: the block ends here
    i.op = Op::Trap;
    ++i.firstArg;
    --i.argCount;
    return true;
  }
};

}  // namespace

void foldConstants(Module&, Function& f) {
  Folder(f).run();
  dropUnreachable(f);
}

}  // namespace mica::ir
