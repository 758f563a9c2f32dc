// The x86-64 backend as the driver sees it: one IR function in, one text section out.
#pragma once
#include <string>

#include "elf/object.h"
#include "ir/ir.h"

namespace mica::x64 {

struct CompileOptions {
  bool checkAllocation = false;        // run the allocator's independent checker
  std::string* dump = nullptr;         // machine IR after selection and after allocation, for people
  std::string* listing = nullptr;  // the instructions as assembly text, each run of them with its place in the source
};

// Adds the symbols to the module that compiled functions may call: Trap.Raise(kind, a, b, c).
void prepareModule(ir::Module&);

// Symbols in relocations and places in line entries are numbers of the module. False with `error` for what the backend
// does not take. The function must be legal for its processor level: no vector above 32 bytes (level 2: 64).
bool compileFunction(const ir::Module&, const ir::Function&, const CompileOptions&, elf::ObjectFunction& out,
                     std::string* error);

}  // namespace mica::x64
