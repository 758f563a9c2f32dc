// A program in a string, through the parser, the checker, ownership and the tape's rules.
#pragma once
#include <string>

#include "embed/library.h"
#include "frontend/check.h"
#include "frontend/marks.h"
#include "frontend/ownership.h"
#include "frontend/tape_rules.h"

namespace mica {

struct Checked {
  Context context;
  Program program;
  std::vector<LibraryText> library;
  std::unique_ptr<Marks> marks;

  explicit Checked(std::string text) {
    for (const LibraryFile& f : libraryFiles()) library.push_back({f.name, f.text});
    CheckOptions options;
    options.main = context.sources.add("t.mica", std::move(text), context.diagnostics);
    options.library = &library;
    options.needMain = false;
    check(context, program, options);
    for (uint32_t d = 0; d < program.decls.size(); d++)
      if (program.decls[d].body && !program.decls[d].system) checkOwnership(program, DeclId{d}, context.diagnostics, context.sources);
    marks = std::make_unique<Marks>(program, context.diagnostics);
    checkTapeRules(program, *marks, context.diagnostics, context.sources);
  }

  // `line sentence` of every message, a line each.
  std::string errors() const {
    std::string out;
    for (const Diagnostic* d : context.diagnostics.sorted()) out += std::to_string(d->span.place.line) + " " + d->sentence + "\n";
    return out;
  }
  std::string messages() const { return context.diagnostics.print(context.sources); }
  DeclId function(std::string_view name) const {
    for (uint32_t d = 0; d < program.decls.size(); d++)
      if (!program.decls[d].system && program.decls[d].name == name) return DeclId{d};
    return {};
  }
};

}  // namespace mica
