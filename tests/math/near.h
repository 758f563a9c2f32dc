// Float64 values near the elementary functions of a float32, to decide the rounding of all but a few inputs without MPFR.
//
// The claim of each function here: for a float32 x its answer differs from the exact value by less than Near = 2^-42 of it (NaN is no argument). It is a crude
// claim, so that it can be proved by hand: with u = 2^-53, one float64 operation errs by at most u of its result, and no function below
// does more than 2^8 operations whose errors reach the result undiminished, which is 2^-45; the remainders of the series are smaller than that too.
// What makes errors grow is cancellation, so each function says where it subtracts. Where x is beyond the range in which the float32 is neither 0, 1 nor
// infinite, any value that rounds to the same float32 will do.
//
// With the value at hand to 2^-42, the exact value rounds like both near (1 - Near) and near (1 + Near) when these round alike, since rounding is
// monotone; that fails for one input in about 2^17, and there MPFR is asked. Nothing is shared with src/rt, neither method nor coefficients; the C
// library gives only sqrt, which is exact to one rounding, and cbrt, which is tested.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <mpfr.h>

namespace near {

constexpr double Near = 0x1p-42;
constexpr double Ln2High = 0x1.62e42fefp-1;               // 33 bits: a multiple of it by less than 2^20 is exact
constexpr double Ln2Low = 0x1.473de6af278edp-34;          // ln 2 - Ln2High, to 2^-87

// exp(r) - 1 for |r| <= 0.35 by its Taylor polynomial of degree 14; the remainder is below 0.35^15/15! < 2^-62 and below 2^-60 of r. The sum in
// brackets lies between 0.84 and 1.2, and its terms shrink by a third at least each.
inline double expm1Small(double r) {
  double q = 1.0 / 87178291200;
  for (double n : {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120,
                   1.0 / 24, 1.0 / 6, 1.0 / 2, 1.0})
    q = q * r + n;
  return q * r;
}

template <class To, class From> To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// 2^k for a whole k from -1022 to 1023: added to 1.5 * 2^52, a number stands in the lowest bits.
inline double powerOfTwo(double k) { return bitCast<double>(bitCast<uint64_t>(k + (0x1.8p52 + 1023)) << 52); }

inline double within(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

// x = k ln 2 + r with |r| < 0.35 and an error of r below 2^-54 + |k| 2^-86.
inline double withoutPowers(double x, double& k) {
  k = std::rint(x * 1.4426950408889634);
  return (x - k * Ln2High) - k * Ln2Low;
}

inline double exp(double x) {
  double k, r = withoutPowers(within(x, -120, 120), k);
  return (1 + expm1Small(r)) * powerOfTwo(k);
}

// 2^k (exp(r) - 1) + (2^k - 1). Where k is not 0, the answer is at least 0.29 in size and at least a fifth of 2^k; where it is, nothing is subtracted.
inline double expm1(double x) {
  double k, r = withoutPowers(within(x, -40, 120), k), s = powerOfTwo(k);
  return std::copysign(s * expm1Small(r) + (s - 1), x);
}

// e / (e + 2) with e = exp(2|x|) - 1 >= 0; from 20 on it is nearer to 1 than 2^-56.
inline double tanh(double x) {
  double e = expm1(within(2 * std::fabs(x), 0, 40));
  return std::copysign(e / (e + 2), x);
}

// 1 / (1 + exp(-x)), whose terms are positive.
inline double sigmoid(double x) { return 1 / (1 + exp(within(-x, -80, 120))); }

// log(1 + f) + e ln 2 with 1 + f from sqrt(1/2) to sqrt(2): with s = f / (2 + f), |s| < 0.172, it is 2 s (1 + s²/3 + s⁴/5 + … + s^22/23) and a
// remainder below s^24/24 < 2^-62 of it. Where e is not 0 the sum is at least 0.34, and at least half of e ln 2.
inline double logOf(double f, double e) {
  double s = f / (2 + f), z = s * s, q = 1.0 / 23;
  for (double n : {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0}) q = q * z + n;
  return e * 0.6931471805599453 + 2 * s * q;
}

// Splits a positive float64 that is not subnormal (no float32 is, as a float64) into 2^e (1 + f); f is exact. The sum of the bits and those of
// 1 / sqrt(1/2) carries into the exponent where the mantissa is above that of sqrt(1/2); or-ed into 2^52, the exponent becomes a float64.
inline double split(double x, double& e) {
  uint64_t b = bitCast<uint64_t>(x), raised = (b - 0x3fe6a09e667f3bcd + 0x3ff0000000000000) >> 52;
  e = bitCast<double>(raised | 0x4330000000000000) - (0x1p52 + 1023);
  return bitCast<double>(b - ((raised - 1023) << 52)) - 1;
}

inline double log(double x) {
  double e, f = split(x, e), y = logOf(f, e);
  return x > 0 ? (x <= 0x1p128 ? y : x) : x == 0 ? -INFINITY : NAN;
}

// Below 2^-12 the series, whose remainder is below x⁴/5; else 1 + x is exact up to 2^28, and beyond it errs by u of itself, which is u in the
// answer, and that is over 19.
inline double log1p(double x) {
  double small = x * (1 - x * (0.5 - x * (1.0 / 3 - x * 0.25)));
  double e, f = split(1 + x, e), y = std::fabs(x) < 0x1p-12 ? small : logOf(f, e);
  return x > -1 ? (x <= 0x1p128 ? y : x) : x == -1 ? -INFINITY : NAN;
}

// 2/sqrt(pi) exp(-z) x (1 + 2z/3 + (2z)²/(3·5) + …) with z = x² < 16, which is exact; all terms are positive. At most 31 of them are more than half of
// the one before, so a term below 2^-60 is behind those, and all that follow are less than it. From 4 on, erf is nearer to 1 than 2^-25.
inline double erf(double x) {
  if (std::fabs(x) >= 4) return std::copysign(1.0, x);
  double z = x * x, term = 1, sum = 1;
  for (int n = 3; term > 0x1p-60; n += 2) {
    term *= 2 * z / n;
    sum += term;
  }
  return 1.1283791670955126 * exp(-z) * x * sum;
}

inline double sqrt(double x) { return std::sqrt(x); }
inline double rsqrt(double x) { return 1 / std::sqrt(x); }

// The C library's value y is taken after a look at y³, which the two multiplications give to 2u: |y³/x - 1| < 2^-44 says that y is within 2^-45.
inline double cbrt(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  double y = std::cbrt(x);
  if (!(std::fabs(y * y * y - x) < 0x1p-45 * std::fabs(x))) std::fprintf(stderr, "cbrt of the C library is off at %a\n", x), std::abort();
  return y;
}

// ---- sin and cos ----

// 128 bits of 2/pi behind the point from bit `from` on: floor(frac(2/pi · 2^from) · 2^128).
inline unsigned __int128 twoByPi(int from) {
  static uint64_t words[5];
  static bool known = false;
  if (!known) {
    mpfr_t p;
    mpfr_init2(p, 400);
    mpfr_const_pi(p, MPFR_RNDN);
    mpfr_ui_div(p, 2, p, MPFR_RNDN);
    for (uint64_t& w : words) {
      mpfr_mul_2ui(p, p, 64, MPFR_RNDN);
      w = 0;
      for (int half = 0; half < 2; half++) {              // a float64 holds 32 bits at a time
        mpfr_t top;
        mpfr_init2(top, 400);
        mpfr_div_2ui(top, p, half == 0 ? 32 : 0, MPFR_RNDN);
        mpfr_floor(top, top);
        uint64_t part = uint64_t(mpfr_get_d(top, MPFR_RNDN));
        w = w << 32 | part;
        mpfr_mul_2ui(top, top, half == 0 ? 32 : 0, MPFR_RNDN);
        mpfr_sub(p, p, top, MPFR_RNDN);
        mpfr_clear(top);
      }
    }
    mpfr_clear(p);
    known = true;
  }
  int word = from / 64, bit = from % 64;
  unsigned __int128 high = (unsigned __int128)words[word] << 64 | words[word + 1];
  return bit == 0 ? high : high << bit | words[word + 2] >> (64 - bit);
}

// x = k pi/2 + r for a float32 x = ±M 2^e of at least pi/4: M 2^e (2/pi) / 4 modulo 1, as a fraction of 128 bits, errs by M 2^-128 < 2^-104. The
// nearest quarter is k; what remains must be above 2^-58, so that 2^-46 of it is right, which the program makes sure of.
inline double withoutTurns(double x, unsigned& k) {
  int e;
  auto m = uint64_t(std::ldexp(std::frexp(std::fabs(x), &e), 24));
  e -= 26;                                                // M 2^(e + 2)
  unsigned __int128 turn = m * (e >= 0 ? twoByPi(e) : twoByPi(0) >> -e);
  k = unsigned((turn + ((unsigned __int128)1 << 125)) >> 126);
  auto rest = __int128(turn - ((unsigned __int128)(k & 3) << 126));
  if (rest < ((__int128)1 << 70) && rest > -((__int128)1 << 70)) std::fprintf(stderr, "%a is too near a multiple of pi/2\n", x), std::abort();
  double r = double(rest) * 0x1p-126 * 1.5707963267948966;
  if (x < 0) r = -r, k = 0 - k;
  return r;
}

// Taylor polynomials for |r| <= pi/4: the first terms left out are r^18/19! and r^18/18!, below 2^-58. The sums are between 0.7 and 1.
inline double sinSmall(double r) {
  double z = r * r, q = 1.0 / 355687428096000;
  for (double n : {-1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6, 1.0}) q = q * z + n;
  return q * r;
}

inline double cosSmall(double r) {
  double z = r * r, q = 1.0 / 20922789888000;
  for (double n : {-1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -1.0 / 2, 1.0}) q = q * z + n;
  return q;
}

// sin(x + quarter pi/2)
inline double wave(double x, unsigned quarter) {
  if (!std::isfinite(x)) return NAN;
  unsigned k = 0;
  double r = std::fabs(x) < 0.78 ? x : withoutTurns(x, k);
  k += quarter;
  double y = k % 2 == 0 ? sinSmall(r) : cosSmall(r);
  return k & 2 ? -y : y;
}

inline double sin(double x) { return wave(x, 0); }
inline double cos(double x) { return wave(x, 1); }

}  // namespace near
