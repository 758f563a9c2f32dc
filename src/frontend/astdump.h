// The tokens and the syntax tree as text, for `mica explain --stage tokens` and `--stage ast` and for tests.
#pragma once
#include <string>
#include "frontend/context.h"
#include "frontend/token.h"

namespace mica {

// A token a line: place, kind, text.
std::string dumpTokens(const Context& context, const Tokens& tokens);

// A node a line, children indented below it: what it is, its names and values, and its place. `function` limits the dump to
// the declaration of that name.
std::string dumpTree(const Context& context, const ast::Module& module, std::string_view function = {});
std::string dumpExpr(const Context& context, const ast::Expr* expr);
std::string dumpType(const Context& context, const ast::TypeExpr* type);

}  // namespace mica
