// Enumerates x86-64 instructions for the comparison with GNU as: every form, at every operand size and vector length,
// over registers, addressing modes, immediates and decorations. What is legal is stated here once more, apart from
// the encoder.
#pragma once
#include <functional>
#include <vector>

#include "backend_x64/encoder.h"
#include "backend_x64/forms.h"

namespace encodetest {

using mica::x64::Form;
using mica::x64::Mnemonic;
using mica::x64::Operands;

using Sink = std::function<void(Mnemonic, const Operands&)>;

// `full`: every pair of registers and the product of bases, indexes, scales and distances (many millions of lines);
// otherwise each register and each addressing mode beside a few partners.
void enumerate(const Form& form, bool full, const Sink& sink);

}  // namespace encodetest
