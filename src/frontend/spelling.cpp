// The distance of two spellings, and the tables of other languages' words.
#include "frontend/spelling.h"

#include <algorithm>
#include <span>

namespace mica {
namespace {

struct Foreign { std::string_view word; const char* note; };

constexpr Foreign names[] = {
    {"True", "write `true`"},
    {"False", "write `false`"},
    {"None", "write `none`"},
    {"null", "write `none`"},
    {"nil", "write `none`"},
    {"NULL", "write `none`"},
    {"nullptr", "write `none`"},
    {"pi", "write `Pi`"},
    {"len", "write `Length`"},
    {"size", "write `Length`"},
    {"str", "write `\"{x}\"`"},
    {"range", "write `0 ..< n`"},
    {"enumerate", "write `for i, x in xs do`"},
    {"lambda", "write `(x) => value`"},
    {"println", "write `Print`"},
    {"printf", "write `Print(\"… {x:.2f}\")`"},
    {"puts", "write `Print`"},
    {"echo", "write `Print`"},
    {"matmul", "write `a * b`"},
};

constexpr Foreign typeNames[] = {
    {"float", "write `float32` or `float64`"},
    {"double", "write `float64`"},
    {"integer", "write `int`"},
    {"long", "write `int64`"},
    {"short", "write `int16`"},
    {"unsigned", "write `uint64`"},
    {"boolean", "write `bool`"},
    {"str", "write `string`"},
    {"text", "write `string`"},
    {"dict", "write `map of K to V`"},
    {"any", "write a name in the brackets of the declaration for a type that the call decides: `func F[T](x: T)`"},
    {"void", "a function without a result says nothing behind its parameters"},
};

constexpr Foreign statements[] = {
    {"elseif", "write `elif`"},
    {"elsif", "write `elif`"},
    {"foreach", "write `for x in xs do`"},
    {"switch", "write `match`"},
    {"default", "write `else`"},
    {"catch", "write `recover e: any`"},
    {"except", "write `recover e: any`"},
    {"throw", "write `fail`"},
    {"raise", "write `fail`"},
    {"def", "write `func`"},
    {"fn", "write `func`"},
    {"fun", "write `func`"},
    {"function", "write `func`"},
    {"class", "write `type Name = record`"},
    {"struct", "write `type Name = record`"},
    {"enum", "write `type Name = choice`"},
    {"use", "write `import`"},
    {"using", "write `import`"},
    {"from", "write `import`"},
    {"include", "write `import`"},
};

constexpr Foreign signs[] = {
    {"++", "write `+= 1`"},
    {"**", "write `Pow(x, y)`"},
    {"->", "write `(x) => value` for a function value"},
    {".+", "`+` works element by element"},
    {".-", "`-` works element by element"},
};

size_t distance(std::string_view a, std::string_view b, size_t limit) {
  if (a.size() > b.size() + limit || b.size() > a.size() + limit) return limit + 1;
  // Three rows of the usual table; two neighbours exchanged count as one change.
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); j++) last[j] = j;
  auto equal = [](char x, char y) { return (x | 32) == (y | 32); };
  for (size_t i = 1; i <= a.size(); i++) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); j++) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (equal(a[i - 1], b[j - 1]) ? 0 : 1)});
      if (i > 1 && j > 1 && equal(a[i - 1], b[j - 2]) && equal(a[i - 2], b[j - 1])) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

const char* find(std::span<const Foreign> table, std::string_view word) {
  for (const Foreign& f : table)
    if (f.word == word) return f.note;
  return nullptr;
}

}  // namespace

std::string nearest(std::string_view wanted, const std::vector<std::string>& candidates) {
  if (wanted.size() > 60) return "";
  size_t limit = wanted.size() < 3 ? 0 : wanted.size() < 6 ? 1 : 2;
  std::string best;
  size_t bestDistance = limit + 1;
  for (const std::string& c : candidates) {
    size_t d = distance(wanted, c, limit);
    if (d < bestDistance || (d == bestDistance && d <= limit && c < best)) {
      best = c;
      bestDistance = d;
    }
  }
  return best;
}

const char* foreignName(std::string_view word) { return find(names, word); }
const char* foreignType(std::string_view word) { return find(typeNames, word); }
const char* foreignStatement(std::string_view word) { return find(statements, word); }
const char* foreignSigns(std::string_view word) { return find(signs, word); }

}  // namespace mica
