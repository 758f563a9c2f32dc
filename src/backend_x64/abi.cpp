// See abi.h.
#include "backend_x64/abi.h"

namespace mica::x64 {

mir::RegSet callClobbers(unsigned cpuLevel) {
  const mir::Target& t = target(cpuLevel);
  return (t.allocatable[0] | t.allocatable[1]) & ~CalleeSaved;
}

mir::RegClass classOf(ir::Type t) { return t.isVector() || t.isFloat() ? mir::RegClass::Vector : mir::RegClass::Int; }

unsigned spillSize(ir::Type t) {
  if (!t.isVector()) return 8;
  return t.bytes() <= 16 ? 16 : t.bytes() <= 32 ? 32 : 64;
}

uint32_t placeArgs(std::span<const ir::Type> types, std::vector<ArgPlace>& places) {
  static constexpr mir::PReg ints[] = {Rdi, Rsi, Rdx, Rcx, R8, R9};
  unsigned nextInt = 0, nextVector = 0;
  uint32_t stack = 0;
  places.clear();
  for (ir::Type t : types) {
    ArgPlace p;
    if (classOf(t) == mir::RegClass::Int && nextInt < 6) {
      p.reg = ints[nextInt++];
    } else if (classOf(t) == mir::RegClass::Vector && nextVector < 8) {
      p.reg = vectorReg(nextVector++);
    } else {
      p.offset = stack;
      stack += (t.bytes() + 7) / 8 * 8;
    }
    places.push_back(p);
  }
  return stack;
}

}  // namespace mica::x64
