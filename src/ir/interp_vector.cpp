// Vector instructions of the interpreter: a template for each shape of operation, made for each lane type, chosen when decoding.
// Lanes lie packed in the cells, as in memory.
#include <cmath>
#include <cstring>
#include <type_traits>

#include "ir/interp_code.h"
#include "ir/interp_scalar.h"

namespace mica::ir::interp {

namespace {

// Lanes as they lie in the cells; memcpy because the cells are other objects to C++.
template <class T> struct In {
  const char* p;
  T operator[](unsigned k) const {
    T v;
    std::memcpy(&v, p + k * sizeof(T), sizeof(T));
    return v;
  }
};
template <class T> struct Out {
  struct Ref {
    char* p;
    void operator=(T v) const { std::memcpy(p, &v, sizeof(T)); }
  };
  char* p;
  Ref operator[](unsigned k) const { return {p + k * sizeof(T)}; }
};
template <class T> In<T> in(uint64_t* r, uint32_t cell) { return {reinterpret_cast<const char*>(r + cell)}; }
template <class T> Out<T> out(uint64_t* r, uint32_t cell) { return {reinterpret_cast<char*>(r + cell)}; }
template <class T> using MaskOf = std::conditional_t<sizeof(T) == 1, int8_t, std::conditional_t<sizeof(T) == 2, int16_t, std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>>;

// Does something for each lane; the common lane counts get a loop of their own, whose length the C++ compiler knows.
template <class Body> inline __attribute__((always_inline)) void forLanes(unsigned n, Body body) {
  switch (n) {
    case 4: for (unsigned k = 0; k < 4; ++k) body(k); return;
    case 8: for (unsigned k = 0; k < 8; ++k) body(k); return;
    default: for (unsigned k = 0; k < n; ++k) body(k);
  }
}

// Lane by lane with one, two, three operands; F::apply states the operation.
template <class T, class F> void unary(uint64_t* r, const Code& c) {
  Out<T> d = out<T>(r, c.d);
  In<T> a = in<T>(r, c.a);
  forLanes(c.n, [&](unsigned k) { d[k] = F::apply(a[k]); });
}
template <class T, class F> void binary(uint64_t* r, const Code& c) {
  Out<T> d = out<T>(r, c.d);
  In<T> a = in<T>(r, c.a), b = in<T>(r, c.b);
  forLanes(c.n, [&](unsigned k) { d[k] = F::apply(a[k], b[k]); });
}
template <class T> void fma(uint64_t* r, const Code& c) {
  Out<T> d = out<T>(r, c.d);
  In<T> a = in<T>(r, c.a), b = in<T>(r, c.b), e = in<T>(r, c.c);
  forLanes(c.n, [&](unsigned k) { d[k] = std::fma(a[k], b[k], e[k]); });
}
// The same where the host has the instruction, which rounds as std::fma does and is much faster.
#ifdef __x86_64__
__attribute__((target("fma"))) void fmaHardware32(uint64_t* r, const Code& c) {
  float a[64], b[64], e[64];
  std::memcpy(a, r + c.a, c.n * 4u);
  std::memcpy(b, r + c.b, c.n * 4u);
  std::memcpy(e, r + c.c, c.n * 4u);
  for (unsigned k = 0; k < c.n; ++k) e[k] = __builtin_fmaf(a[k], b[k], e[k]);
  std::memcpy(r + c.d, e, c.n * 4u);
}
__attribute__((target("fma"))) void fmaHardware64(uint64_t* r, const Code& c) {
  double a[64], b[64], e[64];
  std::memcpy(a, r + c.a, c.n * 8u);
  std::memcpy(b, r + c.b, c.n * 8u);
  std::memcpy(e, r + c.c, c.n * 8u);
  for (unsigned k = 0; k < c.n; ++k) e[k] = __builtin_fma(a[k], b[k], e[k]);
  std::memcpy(r + c.d, e, c.n * 8u);
}
template <class T> VectorFn fmaFunction() {
  if (!__builtin_cpu_supports("fma")) return fma<T>;
  if constexpr (sizeof(T) == 4) return fmaHardware32;
  else return fmaHardware64;
}
#else
template <class T> VectorFn fmaFunction() { return fma<T>; }
#endif
template <class T, class F> void compare(uint64_t* r, const Code& c) {
  In<T> a = in<T>(r, c.a), b = in<T>(r, c.b);
  Out<MaskOf<T>> d = out<MaskOf<T>>(r, c.d);
  forLanes(c.n, [&](unsigned k) { d[k] = F::apply(a[k], b[k]) ? MaskOf<T>(-1) : MaskOf<T>(0); });
}
template <class T> void select(uint64_t* r, const Code& c) {   // lanes as integers: masks are all ones or zero
  In<T> m = in<T>(r, c.a), a = in<T>(r, c.b), b = in<T>(r, c.c);
  Out<T> d = out<T>(r, c.d);
  forLanes(c.n, [&](unsigned k) { d[k] = m[k] ? a[k] : b[k]; });
}
template <class T> void splat(uint64_t* r, const Code& c) {
  T v = in<T>(r, c.a)[0];
  forLanes(c.n, [&](unsigned k) { out<T>(r, c.d)[k] = v; });
}
template <class T> void low(uint64_t* r, const Code& c) {
  for (unsigned k = 0; k < c.n; ++k) out<T>(r, c.d)[k] = in<T>(r, c.a)[k];
}
template <class T> void high(uint64_t* r, const Code& c) {
  for (unsigned k = 0; k < c.n; ++k) out<T>(r, c.d)[k] = in<T>(r, c.a)[k + c.n];
}
template <class T> void join(uint64_t* r, const Code& c) {
  for (unsigned k = 0; k < c.n / 2u; ++k) {
    out<T>(r, c.d)[k] = in<T>(r, c.a)[k];
    out<T>(r, c.d)[k + c.n / 2] = in<T>(r, c.b)[k];
  }
}
template <class T> void zipLow(uint64_t* r, const Code& c) {
  for (unsigned k = 0; k < c.n / 2u; ++k) {
    out<T>(r, c.d)[2 * k] = in<T>(r, c.a)[k];
    out<T>(r, c.d)[2 * k + 1] = in<T>(r, c.b)[k];
  }
}
template <class T> void zipHigh(uint64_t* r, const Code& c) {
  for (unsigned k = 0; k < c.n / 2u; ++k) {
    out<T>(r, c.d)[2 * k] = in<T>(r, c.a)[k + c.n / 2];
    out<T>(r, c.d)[2 * k + 1] = in<T>(r, c.b)[k + c.n / 2];
  }
}
template <class T> void lane(uint64_t* r, const Code& c) {
  T v = in<T>(r, c.a)[c.c];
  if constexpr (std::is_integral_v<T>) r[c.d] = uint64_t(int64_t(v));
  else out<T>(r, c.d)[0] = v;
}
template <class T> void setLane(uint64_t* r, const Code& c) {
  T v = in<T>(r, c.b)[0];
  for (unsigned k = 0; k < c.n; ++k) out<T>(r, c.d)[k] = in<T>(r, c.a)[k];
  out<T>(r, c.d)[c.c] = v;
}
template <class T> void anyTrue(uint64_t* r, const Code& c) {
  bool any = false;
  for (unsigned k = 0; k < c.n; ++k) any |= in<T>(r, c.a)[k] != 0;
  r[c.d] = any;
}
template <class From, class To> void convert(uint64_t* r, const Code& c) {
  for (unsigned k = 0; k < c.n; ++k) out<To>(r, c.d)[k] = To(in<From>(r, c.a)[k]);
}
template <class From> void saturate(uint64_t* r, const Code& c) {
  for (unsigned k = 0; k < c.n; ++k) out<int32_t>(r, c.d)[k] = int32_t(saturateSigned(double(in<From>(r, c.a)[k]), 32));
}

#define FUNCTOR(name, params, expression) struct name { template <class T> static auto apply params { return expression; } };
FUNCTOR(Add, (T a, T b), T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b)))
FUNCTOR(Sub, (T a, T b), T(std::make_unsigned_t<T>(a) - std::make_unsigned_t<T>(b)))
FUNCTOR(Mul, (T a, T b), T(uint64_t(a) * uint64_t(b)))
FUNCTOR(And, (T a, T b), T(a & b))
FUNCTOR(Or, (T a, T b), T(a | b))
FUNCTOR(Xor, (T a, T b), T(a ^ b))
FUNCTOR(Shl, (T a, T b), T(std::make_unsigned_t<T>(a) << (b & T(sizeof(T) * 8 - 1))))
FUNCTOR(ShrS, (T a, T b), T(a >> (b & T(sizeof(T) * 8 - 1))))
FUNCTOR(ShrU, (T a, T b), T(std::make_unsigned_t<T>(a) >> (b & T(sizeof(T) * 8 - 1))))
FUNCTOR(Min, (T a, T b), a < b ? a : b)
FUNCTOR(Max, (T a, T b), a < b ? b : a)
FUNCTOR(FAdd, (T a, T b), a + b)
FUNCTOR(FSub, (T a, T b), a - b)
FUNCTOR(FMul, (T a, T b), a * b)
FUNCTOR(FDiv, (T a, T b), a / b)
FUNCTOR(FMin, (T a, T b), floatMin(a, b))
FUNCTOR(FMax, (T a, T b), floatMax(a, b))
FUNCTOR(FSqrt, (T a), std::sqrt(a))
FUNCTOR(FNeg, (T a), floatNeg(a))
FUNCTOR(FAbs, (T a), floatAbs(a))
FUNCTOR(FFloor, (T a), std::floor(a))
FUNCTOR(FCeil, (T a), std::ceil(a))
FUNCTOR(FTrunc, (T a), std::trunc(a))
FUNCTOR(FRound, (T a), std::nearbyint(a))
FUNCTOR(Eq, (T a, T b), a == b)
FUNCTOR(Ne, (T a, T b), !(a == b))
FUNCTOR(Lt, (T a, T b), a < b)
FUNCTOR(Le, (T a, T b), a <= b)
FUNCTOR(Gt, (T a, T b), a > b)
FUNCTOR(Ge, (T a, T b), a >= b)
FUNCTOR(Nlt, (T a, T b), !(a < b))
FUNCTOR(Nle, (T a, T b), !(a <= b))
FUNCTOR(Ngt, (T a, T b), !(a > b))
FUNCTOR(Nge, (T a, T b), !(a >= b))
FUNCTOR(Ult, (T a, T b), std::make_unsigned_t<T>(a) < std::make_unsigned_t<T>(b))
FUNCTOR(Ule, (T a, T b), std::make_unsigned_t<T>(a) <= std::make_unsigned_t<T>(b))
FUNCTOR(Ugt, (T a, T b), std::make_unsigned_t<T>(a) > std::make_unsigned_t<T>(b))
FUNCTOR(Uge, (T a, T b), std::make_unsigned_t<T>(a) >= std::make_unsigned_t<T>(b))
#undef FUNCTOR

template <class T> VectorFn integerFunction(Op op, Cond cond) {
  switch (op) {
    case Op::IAdd: return binary<T, Add>;
    case Op::ISub: return binary<T, Sub>;
    case Op::IMul: return binary<T, Mul>;
    case Op::And: return binary<T, And>;
    case Op::Or: return binary<T, Or>;
    case Op::Xor: return binary<T, Xor>;
    case Op::Shl: return binary<T, Shl>;
    case Op::ShrS: return binary<T, ShrS>;
    case Op::ShrU: return binary<T, ShrU>;
    case Op::IMinS: return binary<T, Min>;
    case Op::IMaxS: return binary<T, Max>;
    case Op::VAnyTrue: return anyTrue<T>;
    case Op::ICmp:
      switch (cond) {
        case Cond::Eq: return compare<T, Eq>;
        case Cond::Ne: return compare<T, Ne>;
        case Cond::Slt: return compare<T, Lt>;
        case Cond::Sle: return compare<T, Le>;
        case Cond::Sgt: return compare<T, Gt>;
        case Cond::Sge: return compare<T, Ge>;
        case Cond::Ult: return compare<T, Ult>;
        case Cond::Ule: return compare<T, Ule>;
        case Cond::Ugt: return compare<T, Ugt>;
        case Cond::Uge: return compare<T, Uge>;
        default: return nullptr;
      }
    default: return nullptr;
  }
}

template <class T> VectorFn floatFunction(Op op, Cond cond) {
  switch (op) {
    case Op::FAdd: return binary<T, FAdd>;
    case Op::FSub: return binary<T, FSub>;
    case Op::FMul: return binary<T, FMul>;
    case Op::FDiv: return binary<T, FDiv>;
    case Op::FMin: return binary<T, FMin>;
    case Op::FMax: return binary<T, FMax>;
    case Op::Fma: return fmaFunction<T>();
    case Op::FSqrt: return unary<T, FSqrt>;
    case Op::FNeg: return unary<T, FNeg>;
    case Op::FAbs: return unary<T, FAbs>;
    case Op::FFloor: return unary<T, FFloor>;
    case Op::FCeil: return unary<T, FCeil>;
    case Op::FTrunc: return unary<T, FTrunc>;
    case Op::FRound: return unary<T, FRound>;
    case Op::FCmp:
      switch (cond) {
        case Cond::Eq: return compare<T, Eq>;
        case Cond::Ne: return compare<T, Ne>;
        case Cond::Lt: return compare<T, Lt>;
        case Cond::Le: return compare<T, Le>;
        case Cond::Gt: return compare<T, Gt>;
        case Cond::Ge: return compare<T, Ge>;
        case Cond::Nlt: return compare<T, Nlt>;
        case Cond::Nle: return compare<T, Nle>;
        case Cond::Ngt: return compare<T, Ngt>;
        case Cond::Nge: return compare<T, Nge>;
        default: return nullptr;
      }
    default: return nullptr;
  }
}

// Operations that move lanes about and look at nothing but their size.
template <class T> VectorFn movingFunction(Op op) {
  switch (op) {
    case Op::VSelect: return select<T>;
    case Op::Splat: return splat<T>;
    case Op::VLow: return low<T>;
    case Op::VHigh: return high<T>;
    case Op::VJoin: return join<T>;
    case Op::VZipLow: return zipLow<T>;
    case Op::VZipHigh: return zipHigh<T>;
    case Op::Lane: return lane<T>;
    case Op::SetLane: return setLane<T>;
    default: return nullptr;
  }
}

template <class From, class FromUnsigned> VectorFn widening(Op op, TypeKind to) {
  bool s = op == Op::SExt;
  switch (to) {
    case TypeKind::I16: return s ? convert<From, int16_t> : convert<FromUnsigned, int16_t>;
    case TypeKind::I32: return s ? convert<From, int32_t> : convert<FromUnsigned, int32_t>;
    case TypeKind::I64: return s ? convert<From, int64_t> : convert<FromUnsigned, int64_t>;
    default: return nullptr;
  }
}

template <class From> VectorFn narrowing(TypeKind to) {
  switch (to) {
    case TypeKind::I8: return convert<From, int8_t>;
    case TypeKind::I16: return convert<From, int16_t>;
    case TypeKind::I32: return convert<From, int32_t>;
    default: return nullptr;
  }
}

VectorFn conversionFunction(Op op, TypeKind from, TypeKind to) {
  switch (op) {
    case Op::SExt: case Op::ZExt:
      if (from == TypeKind::I8) return widening<int8_t, uint8_t>(op, to);
      if (from == TypeKind::I16) return widening<int16_t, uint16_t>(op, to);
      return widening<int32_t, uint32_t>(op, to);
    case Op::Trunc:
      if (from == TypeKind::I64) return narrowing<int64_t>(to);
      if (from == TypeKind::I32) return narrowing<int32_t>(to);
      return narrowing<int16_t>(to);
    case Op::SToF: return to == TypeKind::F32 ? convert<int32_t, float> : convert<int32_t, double>;
    case Op::FToSSat: return from == TypeKind::F32 ? saturate<float> : saturate<double>;
    case Op::FExt: return convert<float, double>;
    case Op::FCut: return convert<double, float>;
    default: return nullptr;
  }
}

template <class Choose> VectorFn forLane(TypeKind kind, Choose choose) {
  switch (kind) {
    case TypeKind::I8: return choose(int8_t());
    case TypeKind::I16: return choose(int16_t());
    case TypeKind::I32: return choose(int32_t());
    case TypeKind::I64: return choose(int64_t());
    case TypeKind::F32: return choose(float());
    case TypeKind::F64: return choose(double());
    default: return nullptr;
  }
}

}  // namespace

VectorFn vectorFunction(const Function& f, const Inst& i) {
  TypeKind kind = i.type.kind;
  if (i.op == Op::VAnyTrue) kind = f.typeOf(f.arg(i, 0)).kind;
  if (VectorFn fn = forLane(i.op == Op::VSelect ? maskType(i.type).kind : kind, [&](auto t) { return movingFunction<decltype(t)>(i.op); })) return fn;
  if (info(i.op).operands[0] == 'x' && i.op != Op::VAnyTrue) return conversionFunction(i.op, f.typeOf(f.arg(i, 0)).kind, kind);
  return forLane(kind, [&](auto t) -> VectorFn {
    if constexpr (std::is_integral_v<decltype(t)>) return integerFunction<decltype(t)>(i.op, i.cond);
    else return floatFunction<decltype(t)>(i.op, i.cond);
  });
}

}  // namespace mica::ir::interp
