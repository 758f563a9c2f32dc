// `mica explain`: each stage's text form, limited to one function when asked.
#include "tools/explain.h"

#include <cstdio>

#include "backend_x64/backend.h"
#include "frontend/astdump.h"
#include "frontend/lexer.h"
#include "frontend/parser.h"
#include "ir/text.h"

namespace mica {

namespace {

// Does a function's symbol belong to the name asked for: `Forward` means Module.Forward and all its instances.
bool belongs(const std::string& symbol, const std::string& wanted) {
  if (wanted.empty() || symbol == wanted) return true;
  size_t dot = symbol.find('.');
  std::string bare = dot == std::string::npos ? symbol : symbol.substr(dot + 1);
  if (bare.compare(0, wanted.size(), wanted) != 0) return false;
  return bare.size() == wanted.size() || bare[wanted.size()] == '[' || bare[wanted.size()] == '{' || bare[wanted.size()] == '.';
}

// Is it code of the program itself, not of the library.
bool isOwn(const ir::Module& module, const ir::Function& f, const SourceFiles& sources) {
  if (!f.place) return false;
  const std::string& file = module.places[f.place.index].file;
  for (uint32_t k = 1; k < sources.count(); k++) if (sources.shown(k) == file) return !sources.isSystem(k);
  return false;
}

int explainSyntax(const BuildOptions& options, const std::string& function, bool tokensOnly) {
  Context context;
  FileId file = context.sources.load(options.file, context.diagnostics);
  if (file && !context.sources.file(file).broken) {
    if (tokensOnly) std::fputs(dumpTokens(context, lex(context, file)).c_str(), stdout);
    else std::fputs(dumpTree(context, *parseModule(context, file), function).c_str(), stdout);
  }
  std::fputs(context.diagnostics.print(context.sources).c_str(), stderr);
  return context.diagnostics.hasErrors() ? 1 : 0;
}

}  // namespace

int explain(const BuildOptions& options, const std::string& function, const std::string& stage) {
  if (stage == "tokens" || stage == "ast") return explainSyntax(options, function, stage == "tokens");
  if (stage != "tree" && stage != "ir" && stage != "passes" && stage != "asm") {
    std::fprintf(stderr, "mica: there is no stage %s: tokens, ast, tree, ir, passes, asm\n", stage.c_str());
    return 2;
  }
  Compilation c(options);
  bool good = c.parseAndCheck();
  if (good && stage == "tree") {
    for (uint32_t d = 0; d < c.program().decls.size(); d++) {
      const Decl& decl = c.program().decls[d];
      if (!decl.system && decl.body && belongs(decl.module + "." + decl.name, function)) std::fputs(dumpTree(c.program(), DeclId(d)).c_str(), stdout);
    }
  } else if (good && c.lowerToIr()) {
    if (stage != "ir") c.runPasses();
    ir::Module& module = c.module();
    if (stage == "asm") x64::prepareModule(module);
    bool found = false;
    for (const ir::Function& f : module.functions) {
      const std::string& name = module.nameOf(f.symbol);
      if (!belongs(name, function) || (function.empty() && !isOwn(module, f, c.context().sources))) continue;
      found = true;
      if (stage != "asm") { std::fputs(ir::print(module, f).c_str(), stdout); continue; }
      std::string dump, error;
      x64::CompileOptions o;
      o.listing = &dump;
      elf::ObjectFunction out;
      if (!x64::compileFunction(module, f, o, out, &error)) { std::fprintf(stderr, "mica: %s\n", error.c_str()); return 1; }
      std::printf("%s:\n%s\n", name.c_str(), dump.c_str());
    }
    if (!found) { std::fprintf(stderr, "mica: the program has no compiled function %s\n", function.c_str()); return 1; }
  }
  std::fputs(c.messages().c_str(), stderr);
  return c.context().diagnostics.hasErrors() ? 1 : 0;
}

}  // namespace mica
