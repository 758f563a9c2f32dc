// Bytes to tokens: they lie one behind the other in the text, and the last one is the end of the file.
#include "frontend/astdump.h"
#include "frontend/lexer.h"
#include "fuzz/common.h"

using namespace mica;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Context context;
  FileId file = context.sources.add("fuzz.mica", fuzz::textOf(data, size), context.diagnostics);
  if (!context.sources.file(file).broken) {
    Tokens tokens = lex(context, file);
    size_t length = context.sources.text(file).size(), reached = 0;
    HOLDS(!tokens.list.empty() && tokens.list.back().kind == TokenKind::EndOfFile);
    for (const Token& t : tokens.list) {
      HOLDS(t.offset >= reached && t.offset <= length && t.length <= length - t.offset);
      HOLDS(context.sources.place(file, t.offset) == (Place{file, t.line, t.column}));
      reached = t.offset + t.length;
      bool hasText = t.kind >= TokenKind::String && t.kind <= TokenKind::Format;
      HOLDS(!hasText || t.value < tokens.texts.size());
    }
    dumpTokens(context, tokens);
  }
  context.diagnostics.print(context.sources);
  return 0;
}
