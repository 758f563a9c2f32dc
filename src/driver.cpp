// source → tokens → tree → checked tree → IR → passes → machine IR → registers → bytes → ELF
#include "driver.h"

#include <chrono>
#include <cstdio>

#include "backend_x64/backend.h"
#include "elf/link.h"
#include "elf/serialize.h"
#include "embed/library.h"
#include "frontend/marks.h"
#include "frontend/ownership.h"
#include "frontend/tape_rules.h"
#include "ir/passes/passes.h"
#include "ir/verify.h"
#include "lower/lower.h"

namespace mica {

struct Compilation::State {
  BuildOptions options;
  Context context;
  Program program;
  CheckOptions check;
  std::vector<LibraryText> library;
  std::optional<elf::ObjectView> runtime;
  std::unique_ptr<Marks> marks;
  ir::Module module;
  std::vector<std::string> linkErrors;
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();

  void lap(const char* station) {
    auto now = std::chrono::steady_clock::now();
    if (options.timing) std::fprintf(stderr, "%9.3f ms  %s\n", std::chrono::duration<double, std::milli>(now - last).count(), station);
    last = now;
  }
};

namespace {

lower::Options lowerOptions(const BuildOptions& o, Program& program, const std::optional<elf::ObjectView>& runtime) {
  lower::Options l;
  l.release = o.tier == TierName::Release;
  l.lanes[1] = o.interpret ? 4 : 8;
  l.lanes[2] = o.interpret ? 4 : 16;
  if (runtime) l.precompiled = [&runtime](std::string_view symbol) { return runtime->defines(symbol); };
  l.ensureBody = [&program](DeclId d) { return checkBody(program, d) != nullptr; };
  l.require = [&program](std::string_view module, std::string_view name) { return require(program, module, name); };
  return l;
}

void verifyModule(const ir::Module& module, const char* after) {
  std::vector<std::string> faults = ir::verify(module);
  if (!faults.empty()) internalError(std::string("broken IR after ") + after + ": " + faults[0]);
}

// A program is compiled as a whole: what nothing leads to goes, but for its own functions (which `explain` shows) and what the
// runtime and the linker call by name. The library keeps everything.
bool wantedInProgram(const ir::Module& module, const ir::Function& f) {
  const std::string& name = module.nameOf(f.symbol);
  bool library = !f.place || module.places[f.place.index].file.starts_with("library/");
  return !library || name == "Trap.Raise" || name.starts_with("mica.");
}

void optimise(ir::Module& module, const BuildOptions& o, bool program) {
  ir::PassOptions p;
  if (program) p.keep = wantedInProgram;
  p.verifyEach = o.verify;
  p.timing = o.timing;
  ir::runPasses(module, ir::passesFor(o.tier == TierName::Debug ? ir::Tier::Debug : ir::Tier::Optimised), p);
}

// Every function through selection, allocation and encoding; data as it is.
bool toObject(ir::Module& module, const BuildOptions& o, const std::function<bool(std::string_view)>& skip, elf::Object& object, std::string& error) {
  x64::prepareModule(module);
  for (const ir::Symbol& s : module.symbols) object.symbols.push_back(s.name);
  object.places = module.places;
  x64::CompileOptions c;
  c.checkAllocation = o.verify;
  for (const ir::Function& f : module.functions) {
    if (skip && skip(module.nameOf(f.symbol))) continue;
    elf::ObjectFunction out;
    if (!x64::compileFunction(module, f, c, out, &error)) return false;
    object.functions.push_back(std::move(out));
  }
  for (const ir::Data& d : module.data) {
    elf::ObjectData out;
    out.symbol = d.symbol.index;
    out.bytes = d.bytes;
    out.zeros = d.zeros;
    out.align = d.align;
    out.readOnly = d.readOnly;
    for (const ir::DataRef& r : d.refs) out.relocs.push_back({r.offset, elf::RelocKind::Abs64, r.symbol.index, r.addend});
    object.data.push_back(std::move(out));
  }
  return true;
}

}  // namespace

Compilation::Compilation(BuildOptions o) : state(std::make_unique<State>()) { state->options = std::move(o); }
Compilation::~Compilation() = default;
Context& Compilation::context() { return state->context; }
Program& Compilation::program() { return state->program; }
ir::Module& Compilation::module() { return state->module; }

bool Compilation::parseAndCheck() {
  State& s = *state;
  for (const LibraryFile& f : libraryFiles()) s.library.push_back({f.name, f.text});
  s.check.main = s.options.text ? s.context.sources.add(s.options.file, *s.options.text, s.context.diagnostics)
                                : s.context.sources.load(s.options.file, s.context.diagnostics);
  if (!s.check.main || s.context.sources.file(s.check.main).broken) return false;
  s.check.importDirs = s.options.importDirs;
  s.check.constants = s.options.constants;
  s.check.library = &s.library;
  s.check.libraryDir = s.options.libraryDir;
  s.check.needMain = s.options.needsMain && !s.options.tests;
  bool good = check(s.context, s.program, s.check);
  s.lap("parse and check");
  // What the checker refused is left out of the tree, so ownership speaks of the rest in the same run. Bodies are checked one after
  // another; those that others hold already stay.
  for (uint32_t d = 0; d < s.program.decls.size(); d++)
    if (s.program.decls[d].body && !s.program.decls[d].system) good &= checkOwnership(s.program, DeclId(d), s.context.diagnostics, s.context.sources);
  s.lap("ownership");
  s.marks = std::make_unique<Marks>(s.program, s.context.diagnostics);
  good &= checkTapeRules(s.program, *s.marks, s.context.diagnostics, s.context.sources);
  s.lap("tape rules");
  return good && !s.context.diagnostics.hasErrors();
}

bool Compilation::lowerToIr() {
  State& s = *state;
  std::string runtimeError;
  if (!s.options.interpret && !runtimeObject(elf::Machine::X64).empty()) {
    s.runtime = elf::ObjectView::open(runtimeObject(elf::Machine::X64), runtimeError);
    if (!s.runtime) internalError("the carried runtime is damaged: " + runtimeError);
  }
  lower::Options l = lowerOptions(s.options, s.program, s.runtime);
  bool tests = s.options.tests || !s.program.main;
  bool good = tests ? lower::lowerTests(s.program, *s.marks, s.context.sources, s.context.diagnostics, l, s.module)
                    : lower::lowerProgram(s.program, *s.marks, s.context.sources, s.context.diagnostics, l, s.module);
  s.lap("lower");
  if (good && s.options.verify) verifyModule(s.module, "lowering");
  return good;
}

void Compilation::runPasses() {
  optimise(state->module, state->options, true);
  state->lap("passes");
}

bool Compilation::link(std::string& bytes) {
  State& s = *state;
  elf::Object object;
  std::string error;
  auto carried = [&](std::string_view name) { return s.runtime && s.runtime->defines(name); };
  if (!toObject(s.module, s.options, carried, object, error)) internalError(error);
  s.lap("machine code");
  std::vector<elf::LinkInput> inputs{elf::LinkInput(&object)};
  if (s.runtime) inputs.emplace_back(&*s.runtime);
  elf::LinkOptions l;
  l.strip = s.options.strip;
  l.source = s.options.file;
  bool good = elf::link(inputs, l, bytes, s.linkErrors);
  s.lap("link");
  return good;
}

std::string Compilation::messages() const {
  std::string text = state->context.diagnostics.print(state->context.sources);
  for (const std::string& e : state->linkErrors) text += "error: " + e + "\n";
  return text;
}

bool buildRuntime(const BuildOptions& options, std::string& bytes, std::string& messages) {
  Context context;
  Program program;
  std::vector<LibraryText> library;
  CheckOptions check;
  for (const LibraryFile& f : libraryFiles()) library.push_back({f.name, f.text});
  check.library = &library;
  check.libraryDir = options.libraryDir;
  check.needMain = false;
  std::string empty;
  check.main = context.sources.add("library", empty, context.diagnostics);
  bool good = mica::check(context, program, check);
  for (const LibraryText& l : library) require(program, l.name, "");
  Marks marks(program, context.diagnostics);
  ir::Module module;
  std::optional<elf::ObjectView> none;
  lower::Options l = lowerOptions(options, program, none);
  good = good && lower::lowerLibrary(program, marks, context.sources, context.diagnostics, l, module);
  messages = context.diagnostics.print(context.sources);
  if (!good) return false;
  if (options.verify) verifyModule(module, "lowering");
  optimise(module, options, false);
  elf::Object object;
  std::string error;
  if (!toObject(module, options, nullptr, object, error)) internalError(error);
  bytes = elf::serialize(object);
  return true;
}

}  // namespace mica
