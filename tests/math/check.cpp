// Judges results of the elementary functions that compiled Mica printed (tests/math/table.mica), against MPFR. Reads lines
//
//     exp block FIRST STEP HASH HASH  hashes of the results for the 65,536 float32 with the bits FIRST, FIRST + STEP, … (decimal): of the functions of
//                                     single numbers, and of the kernels of tensors
//     exp f32 X RESULT                bits, hexadecimal: must be correctly rounded
//     exp f64 X RESULT                below one unit in the last place; the worst is printed
//     pow f32 X Y RESULT              likewise; pow f64
//
// and ends with `N passed, N failed`, a function of a type counting as one. `check near COUNT` tries near.h at random inputs instead; `check TEXT` puts the
// text behind the names. MPFR is slow, so for float32 near.h answers first, with a proven error; only
// where its value, less or more that error, rounds to two different float32 is MPFR asked.
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include <mpfr.h>

#include "near.h"

namespace {

constexpr uint64_t BlockSize = 65536;
constexpr int DoubleBits = 120;   // enough to measure a float64's error to 2^-60 units

uint32_t bitsOf(float x) { uint32_t b; std::memcpy(&b, &x, 4); return b; }
float floatOf(uint32_t b) { float x; std::memcpy(&x, &b, 4); return x; }
double doubleOf(uint64_t b) { double x; std::memcpy(&x, &b, 8); return x; }

uint32_t canonical(float x) { return x != x ? 0x7fc00000u : bitsOf(x); }     // NaN is one value

// ---- the functions ----

int sigmoidOf(mpfr_t y, const mpfr_t x, mpfr_rnd_t r) {
  mpfr_t e;
  mpfr_init2(e, mpfr_get_prec(y) + 64);
  mpfr_neg(e, x, r);
  mpfr_exp(e, e, r);
  mpfr_add_ui(e, e, 1, r);
  int t = mpfr_ui_div(y, 1, e, r);
  mpfr_clear(e);
  return t;
}

constexpr size_t PieceSize = 4096;

// The near values of a piece of a block: a loop that the compiler turns into vectors where the function is one line of code.
template <double near(double)> void fill(const float* x, double* y) {
  for (size_t i = 0; i < PieceSize; i++) y[i] = near(x[i]);
}

struct Function {
  int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t);
  double (*near)(double);
  void (*fill)(const float*, double*);
};

template <double near(double)> Function function(int (*exact)(mpfr_t, const mpfr_t, mpfr_rnd_t)) { return {exact, near, fill<near>}; }

const std::map<std::string, Function> functions = {
    {"exp", function<near::exp>(mpfr_exp)},       {"expm1", function<near::expm1>(mpfr_expm1)},    {"log", function<near::log>(mpfr_log)},
    {"log1p", function<near::log1p>(mpfr_log1p)}, {"tanh", function<near::tanh>(mpfr_tanh)},       {"sigmoid", function<near::sigmoid>(sigmoidOf)},
    {"erf", function<near::erf>(mpfr_erf)},       {"sqrt", function<near::sqrt>(mpfr_sqrt)},       {"rsqrt", function<near::rsqrt>(mpfr_rec_sqrt)},
    {"cbrt", function<near::cbrt>(mpfr_cbrt)},    {"sin", function<near::sin>(mpfr_sin)},          {"cos", function<near::cos>(mpfr_cos)},
};

// A number of MPFR that lives as long as the program.
struct Number {
  mpfr_t value;
  explicit Number(int precision) { mpfr_init2(value, precision); }
  ~Number() { mpfr_clear(value); }
};

// Rounded once, from a value in far more precision, to float32 with its subnormals. (300 bits hold every result that is exactly between two
// float32, and no other comes that near.)
float roundToFloat(mpfr_t wide) {
  static Number narrow(24);
  mpfr_exp_t low = mpfr_get_emin(), high = mpfr_get_emax();
  mpfr_set_emin(-148);
  mpfr_set_emax(128);
  int t = mpfr_set(narrow.value, wide, MPFR_RNDN);
  t = mpfr_check_range(narrow.value, t, MPFR_RNDN);
  mpfr_subnormalize(narrow.value, t, MPFR_RNDN);
  float y = mpfr_get_flt(narrow.value, MPFR_RNDN);
  mpfr_set_emin(low);
  mpfr_set_emax(high);
  return y;
}

// The correctly rounded value, given what a near value rounds to, less and more its error. `compute` leaves the exact value in its argument.
template <class Compute>
float decided(float below, float above, Compute compute) {
  if (bitsOf(below) == bitsOf(above)) return below;
  static Number wide(300);
  compute(wide.value);
  return roundToFloat(wide.value);
}

float decide(const Function& f, float x, float below, float above) {
  if (x != x || below != below) return NAN;
  return decided(below, above, [&](mpfr_t y) {
    static Number at(24);
    mpfr_set_flt(at.value, x, MPFR_RNDN);
    f.exact(y, at.value, MPFR_RNDN);
  });
}

float want(const Function& f, float x) {
  double near = f.near(x);
  return decide(f, x, float(near * (1 - near::Near)), float(near * (1 + near::Near)));
}

// The C library promises one unit; 2^-40 leaves room for 4,096.
float wantPow(float x, float y) {
  double near = std::pow(double(x), double(y));
  if (near != near) return NAN;
  return decided(float(near * (1 - 0x1p-40)), float(near * (1 + 0x1p-40)), [&](mpfr_t z) {
    static Number a(24), b(24);
    mpfr_set_flt(a.value, x, MPFR_RNDN);
    mpfr_set_flt(b.value, y, MPFR_RNDN);
    mpfr_pow(z, a.value, b.value, MPFR_RNDN);
  });
}

// How far `got` is from the exact value, in units of the last place of the rounded one.
double unitsOff(double got, mpfr_t exact) {
  constexpr double Huge = 1e9;
  double best = mpfr_get_d(exact, MPFR_RNDN);
  if (best != best || got != got) return best != best && got != got ? 0 : Huge;
  if (std::isinf(best) || std::isinf(got)) return best == got ? 0 : Huge;
  if (best == 0 && got == 0) return std::signbit(best) == std::signbit(got) ? 0 : Huge;
  static Number off(DoubleBits);
  int exponent = -1021;
  if (best != 0) std::frexp(best, &exponent);
  mpfr_sub_d(off.value, exact, got, MPFR_RNDN);
  mpfr_mul_2si(off.value, off.value, exponent < -1021 ? 1074 : 53 - exponent, MPFR_RNDN);
  return std::fabs(mpfr_get_d(off.value, MPFR_RNDN));
}

// ---- judging ----

struct Tally { uint64_t inputs = 0, wrong = 0; double worst = 0; uint64_t worstAt = 0; };

std::map<std::string, Tally> tallies;
std::string label;   // behind the names: which way of running was it?

void blame(Tally& t, const std::string& text) {
  if (t.wrong++ < 10) std::printf("  %s\n", text.c_str());
}

void judgeBlock(const std::string& name, const Function& f, uint64_t first, uint64_t step, int64_t single, int64_t tensor) {
  Tally& t = tallies[name + " float32"];
  uint64_t h = 0;
  static float x[PieceSize], below[PieceSize], above[PieceSize];
  static double near[PieceSize];
  for (uint64_t piece = 0; piece < BlockSize; piece += PieceSize) {
    for (size_t i = 0; i < PieceSize; i++) x[i] = floatOf(uint32_t(first + (piece + i) * step));
    f.fill(x, near);
    for (size_t i = 0; i < PieceSize; i++) below[i] = float(near[i] * (1 - near::Near)), above[i] = float(near[i] * (1 + near::Near));
    for (size_t i = 0; i < PieceSize; i++) h = (h ^ canonical(decide(f, x[i], below[i], above[i]))) * 1099511628211u;
  }
  t.inputs += BlockSize;
  std::string where = "in the block from " + std::to_string(first) + ", step " + std::to_string(step);
  if (int64_t(h) != single) blame(t, name + " of single numbers " + where + " differs");
  if (int64_t(h) != tensor) blame(t, name + " of tensors " + where + " differs");
}

void judgeSingle(const std::string& name, float wanted, const std::string& line, uint32_t got) {
  Tally& t = tallies[name + " float32"];
  t.inputs++;
  if (canonical(floatOf(got)) == canonical(wanted)) return;
  char text[16];
  std::snprintf(text, sizeof text, "%08x", canonical(wanted));
  blame(t, line + ": expected " + text);
}

void judgeDouble(const std::string& name, mpfr_t exact, const std::string& line, uint64_t x, uint64_t got) {
  Tally& t = tallies[name + " float64"];
  t.inputs++;
  double units = unitsOff(doubleOf(got), exact);
  if (units > t.worst) t.worst = units, t.worstAt = x;
  if (units >= 1) blame(t, line + ": off by " + std::to_string(units) + " units");
}

// The next word of a line, as a number of the base.
bool take(const char*& at, int base, uint64_t& value) {
  char* end = nullptr;
  value = *at == '-' ? uint64_t(std::strtoll(at, &end, base)) : std::strtoull(at, &end, base);
  bool found = end != at;
  at = end;
  return found;
}

bool judgePow(const std::string& kind, const char* rest, const std::string& line) {
  uint64_t a = 0, b = 0, c = 0;
  if (!take(rest, 16, a) || !take(rest, 16, b) || !take(rest, 16, c)) return false;
  if (kind == "f32") {
    judgeSingle("pow", wantPow(floatOf(uint32_t(a)), floatOf(uint32_t(b))), line, uint32_t(c));
    return true;
  }
  static Number x(53), y(53), z(DoubleBits);
  mpfr_set_d(x.value, doubleOf(a), MPFR_RNDN);
  mpfr_set_d(y.value, doubleOf(b), MPFR_RNDN);
  mpfr_pow(z.value, x.value, y.value, MPFR_RNDN);
  judgeDouble("pow", z.value, line, a, c);
  return kind == "f64";
}

// One line of the table; false when it is none.
bool judge(const std::string& line) {
  size_t first = line.find(' '), second = line.find(' ', first + 1);
  if (second == std::string::npos) return false;
  std::string name = line.substr(0, first), kind = line.substr(first + 1, second - first - 1);
  const char* rest = line.c_str() + second + 1;
  if (name == "pow") return judgePow(kind, rest, line);
  auto f = functions.find(name);
  if (f == functions.end()) return false;
  uint64_t a = 0, b = 0, single = 0, tensor = 0;
  if (kind == "block") {
    if (!take(rest, 10, a) || !take(rest, 10, b) || !take(rest, 10, single) || !take(rest, 10, tensor)) return false;
    judgeBlock(name, f->second, a, b, int64_t(single), int64_t(tensor));
    return true;
  }
  if (!take(rest, 16, a) || !take(rest, 16, b)) return false;
  if (kind == "f32") {
    judgeSingle(name, want(f->second, floatOf(uint32_t(a))), line, uint32_t(b));
    return true;
  }
  static Number x(53), y(DoubleBits);
  mpfr_set_d(x.value, doubleOf(a), MPFR_RNDN);
  f->second.exact(y.value, x.value, MPFR_RNDN);
  judgeDouble(name, y.value, line, a, b);
  return kind == "f64";
}

// ---- the near values themselves ----

// Their distances from the exact values at random inputs: below the error that is proved for them?
void judgeNear(const std::string& name, const Function& f, uint64_t count) {
  static Number at(24), exact(120), off(120);
  Tally& t = tallies[name + " near"];
  uint64_t state = 88172645463325252;
  while (t.inputs < count) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    float x = floatOf(uint32_t(state >> 32));
    mpfr_set_flt(at.value, x, MPFR_RNDN);
    f.exact(exact.value, at.value, MPFR_RNDN);
    float rounded = mpfr_get_flt(exact.value, MPFR_RNDN);
    if (x != x || rounded != rounded || rounded == 0 || std::isinf(rounded) || std::fabs(rounded) == 1) continue;   // decided by any near value
    mpfr_sub_d(off.value, exact.value, f.near(x), MPFR_RNDN);
    mpfr_div(off.value, off.value, exact.value, MPFR_RNDN);
    double error = std::fabs(mpfr_get_d(off.value, MPFR_RNDN));
    t.inputs++;
    if (!(error < near::Near)) blame(t, name + ": the near value at " + std::to_string(x) + " is off by " + std::to_string(error));
    if (error > t.worst) t.worst = error, t.worstAt = bitsOf(x);
  }
}

}  // namespace

int main(int argc, char** argv) {
  int passed = 0, failed = 0;
  if (argc == 3)
    for (const auto& [name, f] : functions) judgeNear(name, f, std::strtoull(argv[2], nullptr, 10));
  char buffer[256];
  if (argc == 2) label = std::string(", ") + argv[1];
  while (argc < 3 && std::fgets(buffer, sizeof buffer, stdin)) {
    std::string line = buffer;
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    if (!judge(line)) {
      std::printf("  no line of a table: %s\n", line.c_str());
      failed++;
      break;
    }
  }
  for (const auto& [name, t] : tallies) {
    std::printf("%s%s: %" PRIu64 " inputs, %" PRIu64 " wrong", name.c_str(), label.c_str(), t.inputs, t.wrong);
    if (t.worst > 0 && argc == 3) std::printf(", worst 2^%.1f at %08" PRIx64, std::log2(t.worst), t.worstAt);
    else if (t.worst > 0) std::printf(", worst %.4f units at %016" PRIx64, t.worst, t.worstAt);
    std::printf("\n");
    (t.wrong ? failed : passed)++;
  }
  if (tallies.empty()) failed++;
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
