// An instruction as objdump's Intel syntax writes it, worked out from the operands: what the disassembler must say about the
// encoder's bytes. It differs from the assembler's input in numbers (unsigned, hexadecimal, as wide as the operand), in the names of
// comparisons with a predicate, and in a few operand orders.
#pragma once
#include <string>

#include "backend_x64/encoder.h"

namespace encodetest {

std::string objdumpText(mica::x64::Mnemonic mnemonic, const mica::x64::Operands& operands);

// objdump's line without its comment, with single spaces.
std::string tidied(const std::string& line);

}  // namespace encodetest
