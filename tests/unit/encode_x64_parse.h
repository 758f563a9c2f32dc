// Reads an instruction in Intel syntax, as instructionText prints it, for the examples in tests/encode.
#pragma once
#include <optional>
#include <string>

#include "backend_x64/encoder.h"

namespace encodetest {

struct Instruction {
  mica::x64::Mnemonic mnemonic;
  mica::x64::Operands operands;
};

std::optional<Instruction> parseInstruction(const std::string& text);

}  // namespace encodetest
