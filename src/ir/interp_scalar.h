// The meaning of single operations where C++ does not give it directly. The interpreter and constant folding share them.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace mica::ir {

template <class T> using FloatBits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
template <class T> inline constexpr FloatBits<T> signBit = FloatBits<T>(1) << (sizeof(T) * 8 - 1);

template <class T> T floatNeg(T a) { return std::bit_cast<T>(FloatBits<T>(std::bit_cast<FloatBits<T>>(a) ^ signBit<T>)); }
template <class T> T floatAbs(T a) { return std::bit_cast<T>(FloatBits<T>(std::bit_cast<FloatBits<T>>(a) & ~signBit<T>)); }

// NaN if either is NaN; -0 is below +0.
template <class T> T floatMin(T a, T b) {
  if (a != a || b != b) return a + b;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T> T floatMax(T a, T b) {
  if (a != a || b != b) return a + b;
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}

// 2 to the power n, exactly.
inline double powerOfTwo(unsigned n) { return std::ldexp(1.0, int(n)); }

// Whether a float, truncated, fits a signed or unsigned integer of so many bits. f32 is passed as its (exact) double.
inline bool fitsSigned(double v, unsigned bits) {
  double t = std::trunc(v);
  return t >= -powerOfTwo(bits - 1) && t < powerOfTwo(bits - 1);
}
inline bool fitsUnsigned(double v, unsigned bits) {
  double t = std::trunc(v);
  return t >= 0 && t < powerOfTwo(bits);
}

// Truncation, saturating; NaN gives 0. The unsigned answer is in the low bits.
inline int64_t saturateSigned(double v, unsigned bits) {
  if (v != v) return 0;
  if (fitsSigned(v, bits)) return int64_t(v);
  int64_t largest = int64_t(~uint64_t(0) >> (65 - bits));
  return v < 0 ? -largest - 1 : largest;
}
inline uint64_t saturateUnsigned(double v, unsigned bits) {
  if (v != v || v < 0) return 0;
  if (fitsUnsigned(v, bits)) return uint64_t(v);
  return ~uint64_t(0) >> (64 - bits);
}

template <class T> T mulHigh(T a, T b) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return T((Wide(a) * Wide(b)) >> (sizeof(T) * 8));
}

}  // namespace mica::ir
