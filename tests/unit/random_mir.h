// Makes random machine functions for the register allocator: any control flow (loops, critical edges, two edges between the same
// blocks, now and then a loop with two entries), values of all classes and sizes, and instructions with every constraint that a
// selector states: fixed, tied, early and late operands, operands that may be in memory, clobbers, calls, values that are made anew.
#pragma once
#include <cstdint>

#include "ir/mir.h"

namespace mica::mir {

// A generator of numbers that is the same everywhere.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  unsigned below(unsigned n) { return n ? unsigned((next() >> 32) % n) : 0; }
  bool chance(unsigned percent) { return below(100) < percent; }

 private:
  uint64_t state;
};

// A target's registers, or a part of them: the fewer there are, the more has to give way.
Target randomTarget(Dice&);

Function randomFunction(Dice&, const Target&);

}  // namespace mica::mir
