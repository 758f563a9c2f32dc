// Judges floats as text and back (tests/math/texts.mica): the digits against std::to_chars, reading against the C library's strtof and strtod.
//
//     check_texts              reads lines `f32 FIRST STEP HASH WRONG`, `f64 STATE HASH WRONG` and `read FLOAT32 FLOAT64 TEXT`
//     check_texts make COUNT   writes texts that are hard to read: so many pairs of neighbours' midpoints in full, a little less and a little more
//
// and ends with `N passed, N failed`, a kind of line counting as one.
#include <charconv>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <string>

namespace {

constexpr uint64_t BlockSize = 65536;
constexpr uint64_t Prime = 1099511628211u;

template <class To, class From> To bitCast(From from) {
  To to;
  static_assert(sizeof to == sizeof from);
  std::memcpy(&to, &from, sizeof to);
  return to;
}

// Mica's text of a float: digits with a point and at least one decimal where the first digit's power of ten is from -4 to 15 (all digits of whole
// numbers), else with a power of ten. The digits are the shortest that read back, nearest to the value among those.
template <class F> std::string textOf(F x) {
  if (x != x) return "nan";
  std::string sign = std::signbit(x) ? "-" : "";
  x = std::fabs(x);
  if (std::isinf(x)) return sign + "inf";
  char buffer[64];
  if (x < F(1e16) && x == std::trunc(x)) {
    std::snprintf(buffer, sizeof buffer, "%" PRIu64 ".0", uint64_t(x));
    return sign + buffer;
  }
  *std::to_chars(buffer, buffer + sizeof buffer, x, std::chars_format::scientific).ptr = 0;
  char* e = std::strchr(buffer, 'e');
  int power = std::atoi(e + 1);
  std::string digits(buffer, e);
  if (power < -4 || power > 15) return sign + digits + "e" + std::to_string(power);
  if (digits.size() > 1) digits.erase(1, 1);             // the point
  if (power < 0) return sign + "0." + std::string(size_t(-1 - power), '0') + digits;
  return sign + digits.insert(size_t(power) + 1, ".");
}

uint64_t hashOf(uint64_t h, const std::string& text) {
  for (char c : text) h = (h ^ uint8_t(c)) * Prime;
  return (h ^ 10) * Prime;
}

// ---- random float64, as texts.mica draws them ----

uint64_t next(uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * 0x9e3779b97f4a7c15u;
}

double draw(uint64_t i, uint64_t& state) {
  uint64_t bits = next(state);
  switch (i % 4) {
    case 0: return bitCast<double>(bits);
    case 1: return bitCast<double>(bitCast<uint64_t>(double(int64_t(bits >> 1) >> (bits & 63))) + (bits >> 62) - 1);
    case 2: return double(bits >> 40) / 1000.0;
    default: return bitCast<double>((bits << 52) + (bits >> 62) - 1);
  }
}

// ---- judging ----

struct Tally { uint64_t inputs = 0, wrong = 0; };

std::map<std::string, Tally> tallies;

void blame(Tally& t, const std::string& text) {
  if (t.wrong++ < 10) std::cout << "  " << text << "\n";
}

// A block's line: the texts' hash, and how many did not read back.
void judgeBlock(const std::string& kind, const std::string& line, uint64_t hash, int64_t got, uint64_t wrong) {
  Tally& t = tallies[kind];
  t.inputs += BlockSize;
  if (int64_t(hash) != got) blame(t, line + ": the texts differ");
  if (wrong != 0) blame(t, line + ": some do not read back");
}

void judgeRead(const std::string& line, uint32_t narrow, uint64_t wide, const char* text) {
  for (auto [kind, got, wanted] : {std::tuple("reading float32", uint64_t(narrow), uint64_t(bitCast<uint32_t>(std::strtof(text, nullptr)))),
                                   std::tuple("reading float64", wide, bitCast<uint64_t>(std::strtod(text, nullptr)))}) {
    Tally& t = tallies[kind];
    t.inputs++;
    if (got != wanted) blame(t, line);
  }
}

bool judge(const std::string& line) {
  uint64_t a = 0, b = 0, wrong = 0, hash = 0;
  uint32_t narrow = 0;
  int64_t got = 0;
  int used = 0;
  if (std::sscanf(line.c_str(), "f32 %" SCNu64 " %" SCNu64 " %" SCNd64 " %" SCNu64, &a, &b, &got, &wrong) == 4) {
    for (uint64_t i = 0; i < BlockSize; i++) hash = hashOf(hash, textOf(bitCast<float>(uint32_t(a + i * b))));
    judgeBlock("texts of float32", line, hash, got, wrong);
  } else if (std::sscanf(line.c_str(), "f64 %" SCNu64 " %" SCNd64 " %" SCNu64, &a, &got, &wrong) == 3) {
    for (uint64_t i = 0; i < BlockSize; i++) hash = hashOf(hash, textOf(draw(i, a)));
    judgeBlock("texts of float64", line, hash, got, wrong);
  } else if (std::sscanf(line.c_str(), "read %" SCNx32 " %" SCNx64 " %n", &narrow, &a, &used) == 2) {
    judgeRead(line, narrow, a, line.c_str() + used);
  } else {
    return false;
  }
  return true;
}

// ---- hard texts ----

// The midpoint has one bit more than the float, so a long double holds it, and printf writes all its digits.
template <class F> void makeTexts(F x, int power) {
  if (!std::isfinite(x) || x == 0) return;
  char buffer[1400];
  std::snprintf(buffer, sizeof buffer, "%.1100Le", (static_cast<long double>(x) + std::nextafter(x, F(INFINITY))) / 2);
  char* e = std::strchr(buffer, 'e');
  std::string digits(buffer, e), tail = e;
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.back() == '.') digits += '0';
  std::string less = digits;
  less.back() = less.back() == '0' ? '0' : char(less.back() - 1);
  std::cout << digits << tail << "\n" << digits << std::string(size_t(power), '0') << "1" << tail << "\n" << less << "9999" << tail << "\n";
}

int make(uint64_t count) {
  uint64_t state = 88172645463325252;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t bits = next(state);
    makeTexts(bitCast<float>(uint32_t(i % 4 == 0 ? bits & 0x807fffff : bits)), int(bits >> 58));    // each fourth is subnormal
    makeTexts(bitCast<double>(i % 4 == 0 ? bits & 0x800fffffffffffff : bits), int(bits >> 55));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) return make(std::strtoull(argv[2], nullptr, 10));
  int passed = 0, failed = 0;
  for (std::string line; std::getline(std::cin, line);)
    if (!judge(line)) {
      std::cout << "  no line of a table: " << line << "\n";
      failed++;
      break;
    }
  for (const auto& [name, t] : tallies) {
    std::cout << name << ": " << t.inputs << " inputs, " << t.wrong << " wrong\n";
    (t.wrong ? failed : passed)++;
  }
  if (tallies.empty()) failed++;
  std::cout << passed << " passed, " << failed << " failed\n";
  return failed != 0;
}
