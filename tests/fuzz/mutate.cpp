// How the fuzzer changes a text. libFuzzer's own changes work on bytes; a program that has a byte changed seldom gets past
// the parser. So every other change is made to tokens and lines: they are dropped, doubled, swapped, replaced by others of their sort, and mixed
// with those of a second program. Anything is allowed, all that matters is that much of it still means something.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t maxSize);

namespace {

using Random = std::minstd_rand;

enum class Sort : uint8_t { Word, Number, Quoted, Sign, Blank, LineEnd };
struct Piece { Sort sort; std::string_view text; };

bool isWord(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9'); }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

// The length of the piece that begins the text.
size_t lengthOf(std::string_view text, Sort& sort) {
  auto run = [&](auto belongs) {
    size_t n = 1;
    while (n < text.size() && belongs(text[n])) n++;
    return n;
  };
  char c = text[0];
  if (c == '\n') return sort = Sort::LineEnd, 1;
  if (c == ' ') return sort = Sort::Blank, run([](char d) { return d == ' '; });
  if (isDigit(c)) return sort = Sort::Number, run([](char d) { return isWord(d) || d == '.'; });
  if (isWord(c)) return sort = Sort::Word, run(isWord);
  if (c == '"') {
    size_t end = text.find_first_of("\"\n", 1);
    return sort = Sort::Quoted, end == std::string_view::npos ? text.size() : end + (text[end] == '"');
  }
  sort = Sort::Sign;
  static constexpr std::string_view Long[] = {"..<", ":=", "+=", "-=", "*=", "/=", "<>", "<=", ">=", "=>", "+%", "-%", "*%", ".*", "./", "..", "->", "//"};
  for (std::string_view sign : Long) if (text.starts_with(sign)) return sign.size();
  return 1;
}

std::vector<Piece> cut(std::string_view text) {
  std::vector<Piece> pieces;
  while (!text.empty()) {
    Sort sort{};
    size_t n = lengthOf(text, sort);
    pieces.push_back({sort, text.substr(0, n)});
    text.remove_prefix(n);
  }
  return pieces;
}

std::string join(const std::vector<Piece>& pieces) {
  std::string text;
  for (const Piece& p : pieces) text += p.text;
  return text;
}

constexpr std::string_view Numbers[] = {"0", "1", "2", "3", "7", "8", "64", "127", "255", "256", "1000", "65535", "65536", "2147483647", "2147483648", "4294967296",
                                        "9223372036854775807", "9223372036854775808", "18446744073709551615", "1.5", "1e308", "1e-320", "0.1", "16777217"};
constexpr std::string_view Signs[] = {"+", "-", "*", "/", ".*", "./", "+%", "<", "<=", "=", "<>", "..", "..<", ":=", "+=", "?", ".", ",", ":", "(", ")", "[", "]", "{", "}", "=>"};
constexpr std::string_view Brackets[][2] = {{"(", ")"}, {"[", "]"}, {"{", "}"}, {"try ", ""}, {"move ", ""}, {"inout ", ""}, {"not ", ""}, {"list of ", ""},
                                            {"", "?"}, {"Copy(", ")"}, {"if true then ", " else 0"}, {"() => ", ""}, {"box ", ""}, {"tracked ", ""}};

size_t below(Random& random, size_t n) { return n == 0 ? 0 : random() % n; }

// One piece of the sort in the same text, or one of the tables.
std::string_view another(const std::vector<Piece>& pieces, Sort sort, Random& random) {
  if (sort == Sort::Number && random() % 2) return Numbers[below(random, std::size(Numbers))];
  if (sort == Sort::Sign && random() % 2) return Signs[below(random, std::size(Signs))];
  size_t start = below(random, pieces.size());
  for (size_t k = 0; k < pieces.size(); k++) {
    const Piece& p = pieces[(start + k) % pieces.size()];
    if (p.sort == sort) return p.text;
  }
  return "";
}

// Where the line of a piece begins, and where the next one does.
std::pair<size_t, size_t> lineAround(const std::vector<Piece>& pieces, size_t at) {
  size_t begin = at, end = at;
  while (begin > 0 && pieces[begin - 1].sort != Sort::LineEnd) begin--;
  while (end < pieces.size() && pieces[end].sort != Sort::LineEnd) end++;
  return {begin, std::min(end + 1, pieces.size())};
}

// A run of tokens or of whole lines.
std::vector<Piece> someRun(const std::vector<Piece>& pieces, Random& random) {
  if (pieces.empty()) return {};
  size_t at = below(random, pieces.size());
  size_t begin = at, end = std::min(pieces.size(), at + 1 + random() % 8);
  if (random() % 2) {
    std::tie(begin, end) = lineAround(pieces, at);
    for (size_t more = random() % 4; more > 0 && end < pieces.size(); more--) end = lineAround(pieces, end).second;
  }
  return {pieces.begin() + long(begin), pieces.begin() + long(end)};
}

void changeOnce(std::vector<Piece>& pieces, Random& random) {
  if (pieces.empty()) return;
  size_t at = below(random, pieces.size());
  for (size_t k = 0; k < pieces.size() && pieces[at].sort >= Sort::Blank; k++) at = (at + 1) % pieces.size();
  auto place = pieces.begin() + long(at);
  switch (random() % 9) {
    case 0: pieces.erase(place); break;
    case 1: pieces.insert(place, *place); break;
    case 2: std::swap(*place, pieces[below(random, pieces.size())]); break;
    case 3: case 4: case 5: place->text = another(pieces, place->sort, random); break;
    case 6: {   // a line goes
      auto [begin, end] = lineAround(pieces, at);
      pieces.erase(pieces.begin() + long(begin), pieces.begin() + long(end));
      break;
    }
    case 7: {   // a run comes
      std::vector<Piece> run = someRun(pieces, random);
      pieces.insert(place, run.begin(), run.end());
      break;
    }
    default: {
      const auto& pair = Brackets[below(random, std::size(Brackets))];
      size_t end = std::min(pieces.size(), at + 1 + random() % 4);
      pieces.insert(pieces.begin() + long(end), {Sort::Sign, pair[1]});
      pieces.insert(pieces.begin() + long(at), {Sort::Sign, pair[0]});
      break;
    }
  }
}

size_t give(const std::string& text, uint8_t* out, size_t maxSize) {
  size_t size = std::min(text.size(), maxSize);
  std::memcpy(out, text.data(), size);
  return size;
}

std::string_view viewOf(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t maxSize, unsigned seed) {
  Random random(seed);
  if (size == 0 || random() % 2) return LLVMFuzzerMutate(data, size, maxSize);
  std::string text(viewOf(data, size));
  std::vector<Piece> pieces = cut(text);
  for (unsigned changes = 1 + random() % 4; changes > 0; changes--) changeOnce(pieces, random);
  return give(join(pieces), data, maxSize);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* one, size_t oneSize, const uint8_t* two, size_t twoSize, uint8_t* out, size_t maxSize, unsigned seed) {
  Random random(seed);
  std::vector<Piece> pieces = cut(viewOf(one, oneSize)), others = cut(viewOf(two, twoSize));
  std::vector<Piece> run = someRun(others, random);
  size_t at = below(random, pieces.size() + 1);
  if (!run.empty() && run.back().sort == Sort::LineEnd && at < pieces.size()) at = lineAround(pieces, at).first;   // lines between lines
  pieces.insert(pieces.begin() + long(at), run.begin(), run.end());
  return give(join(pieces), out, maxSize);
}
