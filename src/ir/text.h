// The text form of the IR. Whatever any stage prints parses back to the same module: values, blocks and slots keep their numbers.
//
//   module   = { function | data }
//   function = "func" symbol "(" [ param { "," param } ] ")" [ "->" type ] { attribute } [ place ] "{" { slot } { block } "}"
//   attribute= "noinline" | "inline" | "cold" | "entry" | "level" "(" n ")"
//   slot     = "slot" "s"n "size" n "align" n
//   block    = "b"n [ "(" param { "," param } ")" ] ":" { inst }     the entry's parameters are the function's and are left out
//   param    = "%"n ":" type
//   inst     = [ "%"n "=" ] op [ cond ] [ type ] operands [ place ]
//   place    = "!" file ":" line ":" column "in" function { "at" file ":" line ":" column "in" function }   the call chain, innermost first
//   data     = "data" symbol "align" n [ "readonly" ] "{" { "hex" digits | "text" string | "zeros" n | "ref" offset symbol [ "+" n ] } "}"
//   symbol   = "@" name | "@" string      file, function = name | string
//   type     = "i1" | "i8" | "i16" | "i32" | "i64" | "f32" | "f64" | "ptr", vectors with "x" lanes: f32x8
//
// Comments run from ; to the end of the line; line ends mean nothing otherwise. Operands by operation:
//
//   iconst i64 -5                  fconst f32 1.5     fconst f64 0x7ff8000000000000 (the bits)
//   symaddr @x + 8                 slotaddr s0        context      framePtr and the like: no operands
//   iadd i64 %0, %1                icmp slt i64 %0, %1             sext i64 %2 (the type of the result)
//   load f32 %1 + 8                store i64 %2, %1 - 16 scalar    aadd i64 %2, %1 + 8     regions: header, scalar
//   memcopy %1, %2, 64             memzero %1, 64                  prefetch %1 + 64
//   lane f32 %3, 2                 setlane f32x8 %3, %4, 2
//   call i64 @F(%1, %2)            call @G()                       callind f32 %1(%2)
//   trapif index %3, %1, %2        trap unreachable
//   br b1(%2)                      brif %5, b1(%2), b2             switch i64 %1, b9, -1: b2, 5: b3(%1)
//   ret                            ret %1                          unreachable
#pragma once
#include <string>
#include <string_view>

#include "ir/ir.h"

namespace mica::ir {

struct PrintOptions { bool places = true; };

std::string print(const Module&, PrintOptions = {});
std::string print(const Module&, const Function&, PrintOptions = {});
std::string print(const Module&, const Function&, InstId, PrintOptions = {});   // one line, without its end

// Adds what the text holds to the module. On a fault answers false and sets `error` to "line:column: what is wrong".
bool parse(std::string_view text, Module&, std::string& error);

}  // namespace mica::ir
