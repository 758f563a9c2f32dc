// Text to tokens. See token.h for what a token is; lexer.cpp says how strings with interpolations are cut.
#pragma once
#include "frontend/context.h"
#include "frontend/token.h"

namespace mica {

// All tokens of a file. What is malformed is reported and becomes an Error token (or the nearest sensible value).
Tokens lex(Context& context, FileId file);

}  // namespace mica
