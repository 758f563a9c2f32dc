// What the lexer hands to the parser. A token is 24 bytes: its kind, where it stands, and a number whose meaning the kind
// decides. Line ends are not tokens: a token knows whether it is the first on its line, and the parser, which knows when
// brackets are open, decides whether that ends a statement.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>
#include "frontend/interner.h"
#include "frontend/source.h"

namespace mica {

// name, and how it is shown in messages. Keywords come last, in the order of `word::Index`.
#define MICA_TOKENS(X)                                                                                            \
  X(EndOfFile, "the end of the file")                                                                             \
  X(Error, "a malformed token")          /* reported by the lexer; the parser stays silent about it */           \
  X(Name, "a name")                      /* value: NameId */                                                     \
  X(Integer, "a number")                 /* value: index into Tokens::integers */                                \
  X(Float, "a number")                   /* value: index into Tokens::floats */                                  \
  X(Char, "a character")                 /* value: the code point */                                             \
  X(String, "a string")                  /* value: index into Tokens::texts, decoded */                          \
  X(StringHead, "a string")              /* "text{   value: index into texts */                                  \
  X(StringMiddle, "the rest of a string")   /* }text{ */                                                         \
  X(StringTail, "the rest of a string")     /* }text" */                                                         \
  X(Format, "a format")                  /* :text before } of an interpolation; value: index into texts */       \
  X(LeftParen, "`(`") X(RightParen, "`)`") X(LeftBracket, "`[`") X(RightBracket, "`]`")                           \
  X(LeftBrace, "`{`") X(RightBrace, "`}`")                                                                        \
  X(Comma, "`,`") X(Semicolon, "`;`") X(Colon, "`:`") X(Assign, "`:=`") X(PlusAssign, "`+=`")                     \
  X(MinusAssign, "`-=`") X(StarAssign, "`*=`") X(SlashAssign, "`/=`") X(Equal, "`=`") X(NotEqual, "`<>`")         \
  X(Less, "`<`") X(LessEqual, "`<=`") X(Greater, "`>`") X(GreaterEqual, "`>=`") X(Arrow, "`=>`")                  \
  X(Plus, "`+`") X(Minus, "`-`") X(Star, "`*`") X(Slash, "`/`") X(PlusWrap, "`+%`") X(MinusWrap, "`-%`")          \
  X(StarWrap, "`*%`") X(DotStar, "`.*`") X(DotSlash, "`./`") X(Dot, "`.`") X(DotDot, "`..`")                      \
  X(DotDotLess, "`..<`") X(Ellipsis, "`...`") X(Question, "`?`") X(At, "`@`")

enum class TokenKind : uint8_t {
#define X(name, text) name,
  MICA_TOKENS(X)
#undef X
#define X(name, text) name,
  MICA_KEYWORDS(X)
#undef X
};

inline constexpr TokenKind FirstKeyword = TokenKind::And;
inline TokenKind keywordKind(NameId id) { return TokenKind(uint32_t(FirstKeyword) + id.index); }
inline bool isKeyword(TokenKind kind) { return kind >= FirstKeyword; }
// How a kind of token is called in a message: "`)`", "a name", "`while`".
std::string_view describe(TokenKind kind);
// The enumerator's name, for dumps.
std::string_view nameOf(TokenKind kind);

struct Token {
  TokenKind kind = TokenKind::EndOfFile;
  bool firstOnLine = false;    // nothing but blanks and comments stands before it on its line
  bool documented = false;     // `///` lines stand right before it (Tokens::docs)
  uint32_t offset = 0, length = 0;
  uint32_t line = 0, column = 0;   // of its first byte
  uint32_t value = 0;
};

// A float literal, rounded to both formats from its digits (so that a float32 is never rounded twice).
struct FloatValue {
  double value64 = 0;
  float value32 = 0;
};

// A comment, for documentation and the formatter. `//` up to the line end.
struct Comment {
  uint32_t offset, length, line, column;
  bool documentation;   // begins with exactly three slashes
  bool ownLine;         // nothing else stands before it on its line
};

// All tokens of a file; the last one is EndOfFile.
struct Tokens {
  FileId file = 0;
  bool unfinished = false;   // a raw text ran to the end of the file (reported), so blocks may look open
  std::vector<Token> list;
  std::vector<uint64_t> integers;
  std::vector<FloatValue> floats;
  std::vector<std::string_view> texts;   // views into the source where nothing had to be decoded, else into the arena
  std::vector<Comment> comments;
  struct Doc { uint32_t token, firstComment, comments; };   // the `///` run before a documented token
  std::vector<Doc> docs;                                    // in order of tokens
};

}  // namespace mica
