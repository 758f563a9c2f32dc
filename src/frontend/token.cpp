// Names of token kinds.
#include "frontend/token.h"

namespace mica {

std::string_view describe(TokenKind kind) {
  static constexpr std::string_view texts[] = {
#define X(name, text) text,
      MICA_TOKENS(X)
#undef X
#define X(name, text) "`" text "`",
      MICA_KEYWORDS(X)
#undef X
  };
  return texts[size_t(kind)];
}

std::string_view nameOf(TokenKind kind) {
  static constexpr std::string_view texts[] = {
#define X(name, text) #name,
      MICA_TOKENS(X) MICA_KEYWORDS(X)
#undef X
  };
  return texts[size_t(kind)];
}

}  // namespace mica
