// IR text: what parses and keeps the verifier's rules prints to a text that parses to the same, and every pass and the
// backend take it. The verifier follows each pass, the allocator's checker each allocation.
#include "backend_x64/backend.h"
#include "fuzz/common.h"
#include "ir/passes/passes.h"
#include "ir/text.h"
#include "ir/verify.h"

using namespace mica;

static void compile(ir::Module& module) {
  x64::prepareModule(module);
  x64::CompileOptions options;
  options.checkAllocation = true;
  for (const ir::Function& f : module.functions) {
    elf::ObjectFunction out;
    std::string error;
    HOLDS(x64::compileFunction(module, f, options, out, &error) || !error.empty());
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text = fuzz::textOf(data, size), error;
  ir::Module module;
  if (!ir::parse(text, module, error)) {
    HOLDS(!error.empty());
    return 0;
  }
  if (!ir::verify(module).empty()) return 0;
  std::string printed = ir::print(module);
  for (ir::Tier tier : {ir::Tier::Debug, ir::Tier::Optimised}) {
    ir::Module again;
    HOLDS(ir::parse(printed, again, error));
    HOLDS(ir::print(again) == printed);
    ir::PassOptions options;
    options.verifyEach = true;
    ir::runPasses(again, ir::passesFor(tier), options);
    compile(again);
  }
  return 0;
}
