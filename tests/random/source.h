// The two plain tools of the program generator: random numbers that depend on nothing but the seed, and indented source text.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mica::random {

class Random {
 public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {                     // splitmix64
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  int below(int n) { return int(next() % uint64_t(n)); }
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T> const T& pick(const std::vector<T>& all) { return all[size_t(below(int(all.size())))]; }

 private:
  uint64_t state;
};

// Lines of a program; `open` begins a block, `close` ends it.
class Source {
 public:
  void line(const std::string& text) { body += std::string(size_t(depth) * 2, ' ') + text + "\n"; }
  void open(const std::string& text) { line(text); depth++; }
  void middle(const std::string& text) { depth--; line(text); depth++; }
  void close() { depth--; line("end"); }
  void blank() { body += "\n"; }
  const std::string& text() const { return body; }
  int depth = 0;

 private:
  std::string body;
};

}  // namespace mica::random
