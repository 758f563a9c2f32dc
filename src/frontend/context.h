// What the stations of the front end share for one compilation: texts, messages, names, and the memory of the trees.
#pragma once
#include "frontend/arena.h"
#include "frontend/ast.h"
#include "frontend/diagnostics.h"
#include "frontend/interner.h"
#include "frontend/source.h"

namespace mica {

struct Context {
  SourceFiles sources;
  Diagnostics diagnostics;
  Interner names;
  Arena arena;
  ast::NodeIds nextNode;   // ids of the next nodes; their number so far

  std::string_view text(NameId id) const { return names.text(id); }
  std::string_view text(const ast::Name& name) const { return name.id ? names.text(name.id) : std::string_view("?"); }
};

}  // namespace mica
