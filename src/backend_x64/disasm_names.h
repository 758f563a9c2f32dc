// Names of registers, conditions and mnemonics, and instructions as text in Intel's order as GNU as reads it
// (`.intel_syntax noprefix`). Used by dumps, by messages of the encoder, and by the tests that compare with GNU as.
#pragma once
#include <string>

#include "backend_x64/encoder.h"

namespace mica::x64 {

std::string registerName(Reg reg);                // "r10d", "ymm7", "k1"
const char* conditionName(Cond condition);        // "ne"
const std::string& mnemonicText(Mnemonic mnemonic);  // "vaddps", "rep movsb"; "jcc" and the like without a condition

std::string operandText(const Operand& operand);  // labels print as L7, symbols as symbol7
std::string instructionText(Mnemonic mnemonic, const Operands& operands);

}  // namespace mica::x64
