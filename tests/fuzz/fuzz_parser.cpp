// Bytes to a syntax tree, in every mode. What parses formats, to a text that formats to itself; that the tokens stay the same is
// checked by the formatter itself.
#include "frontend/astdump.h"
#include "frontend/formatter.h"
#include "frontend/parser.h"
#include "fuzz/common.h"

using namespace mica;

static std::optional<std::string> formatted(const std::string& text) {
  Context context;
  FileId file = context.sources.add("fuzz.mica", text, context.diagnostics);
  return formatFile(context, file);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text = fuzz::textOf(data, size);
  for (ParseMode mode : {ParseMode::Program, ParseMode::Script, ParseMode::Signatures}) {
    Context context;
    FileId file = context.sources.add("fuzz.mica", text, context.diagnostics);
    if (context.sources.file(file).broken) return 0;
    dumpTree(context, *parseModule(context, file, mode));
    context.diagnostics.print(context.sources);
  }
  if (std::optional<std::string> once = formatted(text)) {
    std::optional<std::string> twice = formatted(*once);
    HOLDS(twice.has_value());
    HOLDS(*once == *twice);
  }
  return 0;
}
