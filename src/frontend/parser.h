// Tokens to the syntax tree (ast.h), by recursive descent; operators by precedence climbing.
#pragma once
#include "frontend/context.h"
#include "frontend/layout.h"
#include "frontend/token.h"

namespace mica {

// How deep brackets, blocks, closures, unary operators and types may nest. Deeper is one error.
inline constexpr uint32_t MaxNesting = 1000;

enum class ParseMode : uint8_t {
  Program,      // a file: declarations
  Script,       // a notebook's cells: declarations and statements
  Signatures,   // the vocabulary table: functions without bodies, `S...` allowed in brackets
};

// The tree of a file. It is whole even when errors were reported (see ast.h); never null.
ast::Module* parseModule(Context& context, FileId file, ParseMode mode = ParseMode::Program);
ast::Module* parseModule(Context& context, const Tokens& tokens, ParseMode mode = ParseMode::Program, Layout* layout = nullptr);

// The type that an expression in brackets spells (`int`, `State[?]`, `matrix[2, 3]`, `(int, string)`), or null when its form
// cannot be a type. New nodes have ids after all others; for the same expression make it once and keep it.
ast::TypeExpr* typeFromExpr(Context& context, ast::Expr* expr);

}  // namespace mica
