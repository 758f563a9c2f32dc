// From allocated machine IR to bytes: the frame, each instruction through the encoder, branches by layout, out-of-line
// trap calls, jump tables and constants behind the code, line entries.
//
// The frame, from high to low addresses: arguments on the stack, return address, the caller's rbp (rbp points here),
// saved registers, spill slots, the function's slots, the area for stack arguments of calls (rsp points here). Where
// something needs more than 16-byte alignment, rsp is aligned and everything but incoming arguments is addressed from
// it; otherwise from rbp, which is shorter.
#pragma once
#include <string>
#include <vector>

#include "elf/object.h"
#include "ir/mir.h"

namespace mica::x64 {

// What is emitted, as text for people: instructions and labels with the number of the place each belongs to.
struct Listing {
  struct Line { std::string text; uint32_t place; };
  std::vector<Line> lines;
  void line(std::string text, uint32_t place) { lines.push_back({std::move(text), place}); }
};

// `trapSymbol` is Trap.Raise. False with `error` when the function cannot be encoded (a frame or code too large).
bool emitFunction(const mir::Function&, const ir::Function&, uint32_t trapSymbol, elf::ObjectFunction& out,
                  std::string& error, Listing* listing = nullptr);

}  // namespace mica::x64
