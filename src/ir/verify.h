// Checks that a module keeps the rules of the IR. Answers a message for each breach, naming function, block and instruction;
// nothing when all is well. What holds afterwards, and what every pass may rely on and must keep:
//
//   functions   have a block; the entry block's parameters are the function's, in order, and nothing jumps to it; the process
//               entry takes one ptr and answers nothing; slots have an alignment that is a power of two and at most 4096
//   blocks      are not empty; their last instruction is a terminator, and no other one is
//   values      are defined exactly once, by the instruction or block parameter that they name; a use in a reachable block is
//               dominated by the definition
//   types       vectors have 2, 4, 8, 16, 32 or 64 lanes of i8..f64; operands and results have the types that ops.def states, and
//               the operation exists for the type
//   targets     exist; their arguments match the block's parameters in number and type
//   immediates  constants are canonical (ir.h), float bits fit, lanes and slots are in range, byte counts are not negative, trap
//               kinds exist, Switch cases are canonical and different
//   symbols     exist; a call of a function of this module passes what it takes and expects what it answers
//   places      exist
//   data        alignments are powers of two; references lie inside the bytes, 8 apart, in ascending order
#pragma once
#include <string>
#include <vector>

#include "ir/ir.h"

namespace mica::ir {

std::vector<std::string> verify(const Module&);
std::vector<std::string> verify(const Module&, const Function&);

}  // namespace mica::ir
