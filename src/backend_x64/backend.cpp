// See backend.h.
#include "backend_x64/backend.h"

#include <cctype>

#include "backend_x64/emit.h"
#include "backend_x64/select.h"
#include "ir/regalloc.h"
#include "ir/regalloc_check.h"

namespace mica::x64 {

void prepareModule(ir::Module& m) { m.symbol("Trap.Raise"); }

namespace {

// The listing with symbols by name and, where the place changes, a line that says it.
std::string listingText(const ir::Module& m, const Listing& listing) {
  std::string text;
  uint32_t place = ir::PlaceId::None;
  for (const Listing::Line& l : listing.lines) {
    if (l.place < m.places.size() && l.place != place) {
      place = l.place;
      const ir::PlaceInfo& p = m.places[place];
      text += "  ; " + p.file + ":" + std::to_string(p.line) + ":" + std::to_string(p.column);
      if (p.inlinedAt) text += " in " + p.function;
      text += "\n";
    }
    size_t from = 0;
    for (size_t at; (at = l.text.find("symbol", from)) != std::string::npos;) {
      size_t digits = at + 6, end = digits;
      while (end < l.text.size() && std::isdigit(static_cast<unsigned char>(l.text[end]))) ++end;
      text += l.text.substr(from, at - from);
      if (end > digits) text += m.symbols[std::stoul(l.text.substr(digits, end - digits))].name;
      else text += "symbol";
      from = end;
    }
    text += l.text.substr(from) + "\n";
  }
  return text;
}

}  // namespace

bool compileFunction(const ir::Module& m, const ir::Function& f, const CompileOptions& options,
                     elf::ObjectFunction& out, std::string* error) {
  std::string why;
  auto fail = [&](const std::string& text) {
    if (error) *error = m.nameOf(f.symbol) + ": " + text;
    return false;
  };
  auto trap = m.byName.find("Trap.Raise");
  if (trap == m.byName.end()) return fail("the module lacks the symbol Trap.Raise");

  mir::Function machine;
  if (!Selector(m, f).run(machine, why)) return fail(why);
  const mir::Target& machineTarget = target(f.cpuLevel);
  if (options.dump) *options.dump += "; selected\n" + mir::print(machine, machineTarget);
  mir::Function before;
  if (options.checkAllocation) before = machine;
  mir::allocateRegisters(machine, machineTarget);
  if (options.dump) *options.dump += "; allocated\n" + mir::print(machine, machineTarget);
  if (options.checkAllocation && !mir::checkAllocation(before, machine, machineTarget, why))
    internalError(m.nameOf(f.symbol) + ": " + why);
  out.symbol = f.symbol.index;
  Listing listing;
  if (!emitFunction(machine, f, trap->second.index, out, why, options.listing ? &listing : nullptr)) return fail(why);
  if (options.listing) *options.listing += listingText(m, listing);
  return true;
}

}  // namespace mica::x64
