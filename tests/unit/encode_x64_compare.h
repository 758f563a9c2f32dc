// Compares the encoder with the GNU tools, instruction by instruction: as must write the same bytes, and objdump must read the same
// instruction out of them.
#pragma once
#include <string>
#include <vector>

#include "backend_x64/encoder.h"
#include "gnu_tools.h"

namespace encodetest {

class Comparison {
 public:
  explicit Comparison(bool withObjdump) : readsBack(withObjdump) {}
  void add(mica::x64::Mnemonic mnemonic, const mica::x64::Operands& operands);
  void flush();

  size_t total = 0;
  size_t faults = 0;
  std::string report;          // the first differences

 private:
  struct Line {
    std::string text, bytes, wanted;   // wanted: what objdump should say
  };
  const bool readsBack;
  gnutools::Scratch scratch;
  std::vector<Line> lines;

  void fault(const std::string& text);
  void assemble();
  void explainErrors();
  void explainDifferences();
  void disassemble();
};

}  // namespace encodetest
