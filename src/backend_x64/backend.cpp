// See backend.h.
#include "backend_x64/backend.h"

#include "backend_x64/emit.h"
#include "backend_x64/select.h"
#include "ir/regalloc.h"
#include "ir/regalloc_check.h"

namespace mica::x64 {

void prepareModule(ir::Module& m) { m.symbol("Trap.Raise"); }

bool compileFunction(const ir::Module& m, const ir::Function& f, const CompileOptions& options, elf::ObjectFunction& out, std::string* error) {
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
  if (options.checkAllocation && !mir::checkAllocation(before, machine, machineTarget, why)) internalError(m.nameOf(f.symbol) + ": " + why);
  out.symbol = f.symbol.index;
  if (!emitFunction(machine, f, trap->second.index, out, why)) return fail(why);
  return true;
}

}  // namespace mica::x64
