// Names as numbers: each spelling is stored once and known by a 32-bit NameId from the lexer on, so comparing names is
// comparing numbers. The words of the language are interned first, in the order of `Word`, so a NameId below
// `Word::KeywordCount` is a keyword and every other word that the parser looks for is a constant.
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <vector>
#include "support/support.h"

namespace mica {

struct NameTag;
using NameId = Id<NameTag>;

// Every word that the lexer or the parser knows: first the keywords, which can never be names, then the words that are
// words only where they stand as such (and ordinary names elsewhere).
#define MICA_KEYWORDS(X)                                                                                          \
  X(And, "and") X(Assert, "assert") X(Attempt, "attempt") X(Band, "band") X(Bnot, "bnot") X(Bor, "bor")           \
  X(Break, "break") X(Bxor, "bxor") X(Case, "case") X(Const, "const") X(Continue, "continue") X(Div, "div")       \
  X(Do, "do") X(Elif, "elif") X(Else, "else") X(End, "end") X(Fail, "fail") X(False, "false") X(For, "for")       \
  X(Func, "func") X(If, "if") X(Import, "import") X(In, "in") X(Inout, "inout") X(Let, "let") X(Loop, "loop")     \
  X(Match, "match") X(Mod, "mod") X(Move, "move") X(None, "none") X(Not, "not") X(Or, "or") X(Pub, "pub")         \
  X(Recover, "recover") X(Rem, "rem") X(Return, "return") X(Shl, "shl") X(Shr, "shr") X(Then, "then")             \
  X(True, "true") X(Try, "try") X(Var, "var") X(While, "while")

#define MICA_SOFT_WORDS(X)                                                                                        \
  X(Any, "any") X(Array, "array") X(At, "at") X(Box, "box") X(By, "by") X(Choice, "choice") X(Each, "each")       \
  X(Failure, "failure") X(Fails, "fails") X(Gpu, "gpu") X(Limit, "limit") X(List, "list") X(Map, "map")           \
  X(Matrix, "matrix") X(Of, "of") X(On, "on") X(Parallel, "parallel") X(Read, "read") X(Record, "record")         \
  X(Set, "set") X(Shared, "shared") X(Simd, "simd") X(Spawn, "spawn") X(Stream, "stream") X(Tape, "tape")         \
  X(Tasks, "tasks") X(Tensor, "tensor") X(Test, "test") X(To, "to") X(Tracked, "tracked") X(Type, "type")         \
  X(Vector, "vector") X(Discard, "_")

namespace word {
enum Index : uint32_t {
#define X(name, text) name##Index,
  MICA_KEYWORDS(X) KeywordCount, LastKeyword = KeywordCount - 1,
  MICA_SOFT_WORDS(X) Count
#undef X
};
#define X(name, text) inline constexpr NameId name{name##Index};
MICA_KEYWORDS(X) MICA_SOFT_WORDS(X)
#undef X
}  // namespace word

class Interner {
 public:
  Interner();
  Interner(const Interner&) = delete;
  Interner& operator=(const Interner&) = delete;

  // The id of a spelling whose bytes outlive the interner's user (source text): nothing is copied.
  NameId internStable(std::string_view text);
  // The id of any spelling; the bytes are copied when it is new.
  NameId intern(std::string_view text);
  // The id of a spelling that is already known, or none.
  NameId find(std::string_view text) const;
  std::string_view text(NameId id) const { return texts[id.index]; }
  uint32_t size() const { return uint32_t(texts.size()); }

 private:
  uint32_t* slotOf(std::string_view text, uint32_t hash);
  NameId insert(std::string_view text, uint32_t hash, uint32_t* slot);
  void grow();

  std::vector<std::string_view> texts;
  std::vector<uint32_t> hashes;      // of texts, so growing needs no text
  std::vector<uint32_t> slots;       // open addressing; an index into texts plus 1, 0 when free
  std::deque<std::string> owned;     // the bytes of copied spellings
};

}  // namespace mica
