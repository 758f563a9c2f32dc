// The lexer: one pass over the bytes, a table from byte to class, no backtracking.
//
// A string with interpolations is cut into pieces at the same level as everything else: `"a{x:4}b{y}c"` becomes
// StringHead(a) x Format(4) StringMiddle(b) y StringTail(c). A stack of open interpolations remembers at which bracket depth
// each began: there a `}` goes on with the string and a `:` begins its format. So strings inside interpolations inside strings
// need no recursion, and brackets a hundred thousand deep are only a counter here.
#include "frontend/lexer.h"
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include "frontend/utf8.h"

namespace mica {
namespace {

enum class Class : uint8_t { Other, Blank, LineEnd, Letter, Digit, Quote, Sign };

constexpr std::array<Class, 256> makeClasses() {
  std::array<Class, 256> t{};
  for (int c = 'a'; c <= 'z'; c++) t[size_t(c)] = Class::Letter;
  for (int c = 'A'; c <= 'Z'; c++) t[size_t(c)] = Class::Letter;
  t['_'] = Class::Letter;
  for (int c = '0'; c <= '9'; c++) t[size_t(c)] = Class::Digit;
  t[' '] = t['\t'] = Class::Blank;
  t['\n'] = t['\r'] = Class::LineEnd;
  t['"'] = t['\''] = Class::Quote;
  for (char c : {'(', ')', '[', ']', '{', '}', ',', ';', ':', '+', '-', '*', '/', '=', '<', '>', '.', '?', '@'})
    t[size_t(c)] = Class::Sign;
  return t;
}
constexpr std::array<Class, 256> classes = makeClasses();

Class classOf(char c) { return classes[uint8_t(c)]; }
bool isWordByte(char c) { Class k = classOf(c); return k == Class::Letter || k == Class::Digit; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

int digitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 99;
}

// Bytes that a string holds as they stand (0xe2 may begin a direction mark).
constexpr std::array<bool, 256> makePlain() {
  std::array<bool, 256> t{};
  for (size_t c = 0x20; c < 256; c++) t[c] = c != '"' && c != '{' && c != '\\' && c != 0x7f && c != 0xe2;
  return t;
}
constexpr std::array<bool, 256> plain = makePlain();

class Lexer {
 public:
  Lexer(Context& context, FileId file) : context(context) {
    tokens.file = file;
    std::string_view text = context.sources.text(file);
    begin = p = text.data();
    end = begin + text.size();   // a std::string: *end is a NUL byte, which no valid text holds before its end
  }

  Tokens run() {
    tokens.list.reserve(size_t(end - begin) / 4 + 16);
    lineStart = p;
    while (p < end) step();
    if (!interpolations.empty()) unfinishedInterpolation();
    start(p);
    push(TokenKind::EndOfFile);
    return std::move(tokens);
  }

 private:
  struct Interpolation {
    uint32_t depth;     // of brackets, when it began
    Span opener;        // the string's `"`
  };

  void step() {
    switch (classOf(*p)) {
      case Class::Blank: p++; return;
      case Class::LineEnd: lineEnd(); return;
      case Class::Letter: name(); return;
      case Class::Digit: number(); return;
      case Class::Quote: start(p); if (*p == '"') string(); else character(); return;
      case Class::Sign: sign(); return;
      case Class::Other: strange(); return;
    }
  }

  // ---- making tokens ----

  void start(const char* at) {
    tokenStart = at;
  }

  uint32_t columnOf(const char* at) const { return uint32_t(at - lineStart) + 1; }
  Place placeOf(const char* at) const { return {tokens.file, line, columnOf(at)}; }
  Span spanFrom(const char* from) const { return {placeOf(from), uint32_t(std::max<ptrdiff_t>(1, p - from))}; }

  // Ends the token that began at tokenStart, on the current line unless another start is given.
  void push(TokenKind kind, uint32_t value = 0) { push(kind, value, line, columnOf(tokenStart)); }
  void push(TokenKind kind, uint32_t value, uint32_t atLine, uint32_t atColumn) {
    Token t;
    t.kind = kind;
    t.firstOnLine = fresh;
    t.offset = uint32_t(tokenStart - begin);
    t.length = uint32_t(p - tokenStart);
    t.line = atLine;
    t.column = atColumn;
    t.value = value;
    if (docCount) {
      t.documented = true;
      tokens.docs.push_back({uint32_t(tokens.list.size()), uint32_t(tokens.comments.size()) - docCount, docCount});
      docCount = 0;
    }
    fresh = false;
    tokens.list.push_back(t);
  }

  Diagnostic& error(Span at, std::string sentence) { return context.diagnostics.error(at, std::move(sentence)); }

  // ---- blanks, line ends, comments ----

  void lineEnd() {
    if (*p == '\r' && p[1] != '\n') {
      start(p++);
      error(spanFrom(tokenStart), "a carriage return stands here without a line feed");
      return;
    }
    if (*p == '\r') p++;
    if (!interpolations.empty()) unfinishedInterpolation();
    newLine();
  }

  // At a line feed: the next byte begins a line.
  void newLine() {
    p++;
    line++;
    lineStart = p;
    fresh = true;
  }

  void comment() {
    const char* from = p;
    bool documentation = p[2] == '/' && p[3] != '/';
    while (p < end && *p != '\n') {
      if (uint8_t(*p) >= 0x80 && isDirectionMark(p)) directionMark();
      else p++;
    }
    uint32_t length = uint32_t(p - from);
    if (length && p[-1] == '\r') length--;
    const Comment* previous = tokens.comments.empty() ? nullptr : &tokens.comments.back();
    bool goesOn = previous && previous->line + 1 == line;
    tokens.comments.push_back({uint32_t(from - begin), length, line, columnOf(from), documentation, fresh});
    if (documentation && fresh) docCount = goesOn ? docCount + 1 : 1;
    else if (fresh) docCount = 0;
  }

  // ---- names and numbers ----

  void name() {
    start(p);
    do p++; while (isWordByte(*p));
    NameId id = context.names.internStable({tokenStart, size_t(p - tokenStart)});
    push(id.index < word::KeywordCount ? keywordKind(id) : TokenKind::Name, id.index);
  }

  void number() {
    start(p);
    bool afterDot = !tokens.list.empty() && tokens.list.back().kind == TokenKind::Dot;   // `pair.0.1`: no float there
    if (*p == '0' && !afterDot) {
      int base = p[1] == 'x' ? 16 : p[1] == 'b' ? 2 : p[1] == 'o' ? 8 : 0;
      if (base) { p += 2; integer(base); return; }
    }
    const char* q = p;
    bool isFloat = false;
    while (isDigit(*q) || *q == '_') q++;
    if (!afterDot && *q == '.' && isDigit(q[1])) {
      isFloat = true;
      q++;
      while (isDigit(*q) || *q == '_') q++;
    }
    if (!afterDot && (*q == 'e' || *q == 'E')) {
      const char* x = q + 1;
      if (*x == '+' || *x == '-') x++;
      if (isDigit(*x)) {
        isFloat = true;
        q = x;
        while (isDigit(*q) || *q == '_') q++;
      }
    }
    if (!isFloat) { integer(10); return; }
    p = q;
    floating();
  }

  // Digits of the base from p on; `0x` and the like are behind us.
  void integer(int base) {
    uint64_t value = 0;
    bool overflow = false, any = false;
    const char* digits = p;
    for (; isWordByte(*p); p++) {
      if (*p == '_') continue;
      int digit = digitValue(*p);
      if (digit >= base) break;
      any = true;
      overflow |= __builtin_mul_overflow(value, uint64_t(base), &value);
      overflow |= __builtin_add_overflow(value, uint64_t(digit), &value);
    }
    if (isWordByte(*p)) {
      const char* wrong = p;
      while (isWordByte(*p)) p++;
      std::string what = base == 10 && digitValue(*wrong) >= 10
          ? "`" + shorten({wrong, size_t(p - wrong)}) + "` cannot follow a number"
          : "`" + std::string(1, *wrong) + "` is not a digit of a number with base " + std::to_string(base);
      error({placeOf(wrong), uint32_t(p - wrong)}, what);
    } else if (!any) {
      error(spanFrom(tokenStart), "digits are missing after `" + std::string(tokenStart, digits) + "`");
    } else if (overflow) {
      error(spanFrom(tokenStart), "this number does not fit in 64 bits")
          .note("a number with a point, such as `1e30`, is a float");
      value = 0;
    } else {
      checkUnderscores(digits);
    }
    push(TokenKind::Integer, uint32_t(tokens.integers.size()));
    tokens.integers.push_back(value);
  }

  void floating() {
    if (isWordByte(*p)) {
      const char* wrong = p;
      while (isWordByte(*p)) p++;
      error({placeOf(wrong), uint32_t(p - wrong)}, "`" + shorten({wrong, size_t(p - wrong)}) + "` cannot follow a number");
    } else {
      checkUnderscores(tokenStart);
    }
    scratch.clear();
    for (const char* q = tokenStart; q < p; q++) if (*q != '_') scratch += *q;
    FloatValue v;
    const char* from = scratch.data();
    const char* to = from + scratch.size();
    // from_chars rounds correctly and knows no locale, but leaves values out of range alone: strtod tells 0 from infinity.
    if (std::from_chars(from, to, v.value64).ec == std::errc::result_out_of_range) v.value64 = std::strtod(scratch.c_str(), nullptr);
    if (std::from_chars(from, to, v.value32).ec == std::errc::result_out_of_range) v.value32 = std::strtof(scratch.c_str(), nullptr);
    if (v.value64 > 1.7976931348623157e308) {
      error(spanFrom(tokenStart), "this number is larger than any float64");
      v = {};
    }
    push(TokenKind::Float, uint32_t(tokens.floats.size()));
    tokens.floats.push_back(v);
  }

  // `_` stands between digits only, which begin at `digits`.
  void checkUnderscores(const char* digits) {
    for (const char* q = digits; q < p; q++)
      if (*q == '_' && (q == digits || !isWordByte(q[1]) || digitValue(q[-1]) == 99 || digitValue(q[1]) == 99)) {
        error({placeOf(q), 1}, "`_` stands between the digits of a number");
        return;
      }
  }

  static std::string shorten(std::string_view text) { return std::string(text.substr(0, 40)) + (text.size() > 40 ? "…" : ""); }

  // ---- strings and characters ----

  // At `"`.
  void string() {
    if (p[1] == '"' && p[2] == '"') { rawString(); return; }
    p++;
    piece({placeOf(tokenStart), 1}, true);
  }

  // A piece of a string from p on (behind its `"` or behind an interpolation's `}`): up to the closing `"` or to a `{`.
  void piece(Span opener, bool isHead) {
    const char* from = p;
    bool decoded = false;   // scratch holds what came before `from`
    scratch.clear();
    for (;;) {
      while (plain[uint8_t(*p)]) p++;
      char c = *p;
      if (c == '"' || c == '{') {
        std::string_view text = textSince(from, decoded);
        p++;
        uint32_t value = uint32_t(tokens.texts.size());
        tokens.texts.push_back(text);
        if (c == '"') { push(isHead ? TokenKind::String : TokenKind::StringTail, value); return; }
        push(isHead ? TokenKind::StringHead : TokenKind::StringMiddle, value);
        interpolations.push_back({depth, opener});
        return;
      }
      if (c == '\\') {
        scratch.append(from, p);
        decoded = true;
        escape();
        from = p;
      } else if (uint8_t(c) >= 0x80) {
        if (isDirectionMark(p)) directionMark();
        else p++;
      } else if (p == end || c == '\n' || c == '\r') {
        if (interpolations.empty()) unfinished(opener, "this string does not end on its line", "`\"`");
        else pushBreak();   // a string inside an interpolation: the string around it will be reported
        tokens.texts.push_back(textSince(from, decoded));
        push(isHead ? TokenKind::String : TokenKind::StringTail, uint32_t(tokens.texts.size()) - 1);
        pushBreak();
        return;
      } else {
        controlCharacter();
      }
    }
  }

  std::string_view textSince(const char* from, bool decoded) {
    if (!decoded) return {from, size_t(p - from)};
    scratch.append(from, p);
    return context.arena.copyText(scratch);
  }

  Diagnostic& unfinished(Span opener, const char* sentence, const char* closer) {
    return error(opener, sentence).note(std::string("write ") + closer + " where it ends");
  }

  // An empty Error token: what the parser misses on the rest of this line has its reason in what was reported.
  void pushBreak() {
    start(p);
    push(TokenKind::Error);
  }

  // A line (or the file) ends inside an interpolation: the string is given up and closed here.
  void unfinishedInterpolation() {
    unfinished(interpolations.front().opener, "the interpolation of this string does not end on its line", "`}` and `\"`")
        .note("a brace that begins no interpolation is written `\\{`");
    depth = interpolations.front().depth;
    while (!interpolations.empty()) {
      interpolations.pop_back();
      start(p);
      tokens.texts.push_back({});
      push(TokenKind::StringTail, uint32_t(tokens.texts.size()) - 1);
    }
    pushBreak();
  }

  // `"""` up to the next `"""`: every byte as it stands, but CR LF is a line end like any other, and a line end right behind the
  // opening quotes is left out.
  void rawString() {
    uint32_t firstLine = line, firstColumn = columnOf(tokenStart);
    Span opener{placeOf(tokenStart), 3};
    bool first = fresh;
    p += 3;
    if (*p == '\r' && p[1] == '\n') p++;
    if (*p == '\n') newLine();
    scratch.clear();
    const char* from = p;
    bool decoded = false;
    for (;;) {
      if (p == end) {
        unfinished(opener, "this raw text does not end", "`\"\"\"`");
        tokens.unfinished = true;
        break;
      }
      if (*p == '"' && p[1] == '"' && p[2] == '"') break;
      if (*p == '\r' && p[1] == '\n') {
        scratch.append(from, p);
        decoded = true;
        from = ++p;
      } else if (*p == '\n') {
        newLine();
      } else if (uint8_t(*p) >= 0x80 && isDirectionMark(p)) {
        directionMark();
      } else {
        p++;
      }
    }
    tokens.texts.push_back(textSince(from, decoded));
    if (p < end) p += 3;
    fresh = first;
    push(TokenKind::String, uint32_t(tokens.texts.size()) - 1, firstLine, firstColumn);
  }

  // At a `\` in a string or character: appends what it stands for.
  void escape() { utf8Append(scratch, escapedCodePoint()); }

  uint32_t escapedCodePoint() {
    const char* from = p++;
    char c = *p;
    switch (c) {
      case 'n': p++; return '\n';
      case 't': p++; return '\t';
      case 'r': p++; return '\r';
      case '0': p++; return 0;
      case '"': case '\'': case '\\': case '{': case '}': p++; return uint8_t(c);
      case 'u': if (p[1] == '{') { p += 2; return unicodeEscape(from); } break;
      default: break;
    }
    if (p < end && *p != '\n' && *p != '\r') p += std::max(1u, utf8Length(p, end));
    error(spanFrom(from), "`" + std::string(from, p) + "` is no escape")
        .note("the escapes are `\\n \\t \\r \\0 \\\" \\' \\\\ \\{ \\} \\u{…}`");
    return 0xfffd;
  }

  // Behind `\u{`.
  uint32_t unicodeEscape(const char* from) {
    uint32_t value = 0, digits = 0;
    bool tooLarge = false;
    for (; digitValue(*p) < 16; p++, digits++) {
      value = value * 16 + uint32_t(digitValue(*p));
      if (value > 0x10ffff) tooLarge = true, value = 0;
    }
    bool closed = *p == '}';
    if (closed) p++;
    if (closed && digits && !tooLarge && !(value >= 0xd800 && value <= 0xdfff)) return value;
    error(spanFrom(from), !closed || !digits ? "`\\u{…}` holds the hexadecimal digits of one character"
                                             : "this number is no Unicode character");
    return 0xfffd;
  }

  // At `'`.
  void character() {
    p++;
    uint32_t value = 0xfffd;
    if (*p == '\'' && p[1] != '\'') {
      p++;
      error(spanFrom(tokenStart), "a character is missing between the quotes");
      push(TokenKind::Char, value);
      return;
    }
    if (p == end || *p == '\n' || *p == '\r') { unfinishedCharacter(value); return; }
    if (*p == '\\') {
      value = escapedCodePoint();
    } else if (uint8_t(*p) < 0x20 || *p == 0x7f) {
      controlCharacter();
    } else if (uint8_t(*p) >= 0x80 && isDirectionMark(p)) {
      directionMark();
    } else {
      uint32_t length = utf8Length(p, end);
      value = utf8Decode(p, length);
      p += length;
    }
    if (*p == '\'') {
      p++;
      push(TokenKind::Char, value);
      return;
    }
    unfinishedCharacter(value);
  }

  // No `'` where it belongs: perhaps a text in single quotes.
  void unfinishedCharacter(uint32_t value) {
    const char* q = p;
    while (q < end && *q != '\n' && *q != '\r' && *q != '\'' && q - p < 200) q++;
    if (*q == '\'') {
      p = q + 1;
      error(spanFrom(tokenStart), "single quotes hold one character").note("a string stands in double quotes");
    } else {
      error(spanFrom(tokenStart), "this character does not end").note("write `'` behind it");
    }
    push(TokenKind::Char, value);
    pushBreak();
  }

  // ---- signs ----

  void one(TokenKind kind) { p++; push(kind); }
  void two(TokenKind kind) { p += 2; push(kind); }
  void three(TokenKind kind) { p += 3; push(kind); }
  void open(TokenKind kind) { depth++; one(kind); }
  void close(TokenKind kind) { if (depth) depth--; one(kind); }
  bool atInterpolationLevel() const { return !interpolations.empty() && interpolations.back().depth == depth; }

  void sign() {
    start(p);
    char next = p[1];
    switch (*p) {
      case '(': return open(TokenKind::LeftParen);
      case ')': return close(TokenKind::RightParen);
      case '[': return open(TokenKind::LeftBracket);
      case ']': return close(TokenKind::RightBracket);
      case '{': return open(TokenKind::LeftBrace);
      case '}': return atInterpolationLevel() ? endInterpolation() : close(TokenKind::RightBrace);
      case ',': return one(TokenKind::Comma);
      case ';': return one(TokenKind::Semicolon);
      case '?': return one(TokenKind::Question);
      case '@': return one(TokenKind::At);
      case ':':
        if (atInterpolationLevel()) return format();
        return next == '=' ? two(TokenKind::Assign) : one(TokenKind::Colon);
      case '+':
        return next == '=' ? two(TokenKind::PlusAssign) : next == '%' ? two(TokenKind::PlusWrap) : one(TokenKind::Plus);
      case '-':
        return next == '=' ? two(TokenKind::MinusAssign) : next == '%' ? two(TokenKind::MinusWrap) : one(TokenKind::Minus);
      case '*':
        return next == '=' ? two(TokenKind::StarAssign) : next == '%' ? two(TokenKind::StarWrap) : one(TokenKind::Star);
      case '/':
        if (next == '/') return comment();
        return next == '=' ? two(TokenKind::SlashAssign) : one(TokenKind::Slash);
      case '=': return next == '>' ? two(TokenKind::Arrow) : one(TokenKind::Equal);
      case '<':
        return next == '=' ? two(TokenKind::LessEqual) : next == '>' ? two(TokenKind::NotEqual) : one(TokenKind::Less);
      case '>': return next == '=' ? two(TokenKind::GreaterEqual) : one(TokenKind::Greater);
      default: return dot(next);
    }
  }

  void dot(char next) {
    if (next == '*') return two(TokenKind::DotStar);
    if (next == '/' && p[2] != '/') return two(TokenKind::DotSlash);
    if (next != '.') return one(TokenKind::Dot);
    if (p[2] == '<') return three(TokenKind::DotDotLess);
    if (p[2] == '.') return three(TokenKind::Ellipsis);
    return two(TokenKind::DotDot);
  }

  // At the `}` of an interpolation: the string goes on.
  void endInterpolation() {
    Span opener = interpolations.back().opener;
    interpolations.pop_back();
    p++;
    piece(opener, false);
  }

  // At the `:` of an interpolation: its format is everything up to the `}`.
  void format() {
    const char* from = ++p;
    while (p < end && *p != '}' && *p != '\n' && *p != '\r' && *p != '"') p++;
    tokens.texts.push_back({from, size_t(p - from)});
    push(TokenKind::Format, uint32_t(tokens.texts.size()) - 1);
    if (*p == '"') {   // the string ends here as far as anyone can tell
      unfinished(interpolations.back().opener, "the interpolation of this string does not end", "`}`");
      interpolations.pop_back();
      start(p++);
      tokens.texts.push_back({});
      push(TokenKind::StringTail, uint32_t(tokens.texts.size()) - 1);
    }
  }

  // ---- bytes that have no place in a program ----

  static bool isDirectionMark(const char* at) {
    if (uint8_t(at[0]) != 0xe2) return false;   // else two more bytes follow: the text is valid
    uint8_t b = uint8_t(at[1]), c = uint8_t(at[2]);
    return (b == 0x80 && c >= 0xaa && c <= 0xae) || (b == 0x81 && c >= 0xa6 && c <= 0xa9);
  }

  // Marks that make text look different from what it says; allowed nowhere, comments and strings included.
  void directionMark() {
    char code[96];
    uint32_t value = utf8Decode(p, 3);
    const char* from = p;
    p += 3;
    std::snprintf(code, sizeof code, "the direction mark U+%04X makes text look different from what it is", value);
    Diagnostic& d = error(spanFrom(from), code);
    std::snprintf(code, sizeof code, "in a string write `\\u{%x}`", value);
    d.note(code);
  }

  void controlCharacter() {
    char text[64];
    std::snprintf(text, sizeof text, "the control character 0x%02x cannot stand in a string", uint8_t(*p));
    const char* from = p++;
    Diagnostic& d = error(spanFrom(from), text);
    if (*from == '\t') { d.sentence = "a tab cannot stand in a string"; d.note("write `\\t`"); }
    else { std::snprintf(text, sizeof text, "write `\\u{%x}`", uint8_t(*from)); d.note(text); }
  }

  // What people paste, and what they meant.
  static const char* meant(uint32_t c) {
    switch (c) {
      case 0x2212: case 0x2013: case 0x2014: return "-";
      case 0x00d7: case 0x22c5: case 0x00b7: return "*";
      case 0x00f7: return "/";
      case 0x2264: return "<=";
      case 0x2265: return ">=";
      case 0x2260: return "<>";
      case 0x201c: case 0x201d: case 0x201e: return "\"";
      case 0x2018: case 0x2019: return "'";
      case 0x2026: return "..";
      case '!': return "not` or `<>";
      case '&': return "and` or `band";
      case '|': return "or` or `bor";
      case '^': return "Pow` or `bxor";
      case '~': return "bnot";
      case '%': return "mod` or `rem";
      default: return nullptr;
    }
  }

  // A byte that begins nothing. A run of such characters is one error.
  void strange() {
    start(p);
    if (isDirectionMark(p)) {
      directionMark();
      return;
    }
    if (*p == '#' && fresh) {
      start(p);
      error({Place{tokens.file, line, columnOf(p)}, 1}, "`#` begins no comment").note("write `//`");
      return comment();
    }
    uint32_t length = utf8Length(p, end);
    uint32_t c = length ? utf8Decode(p, length) : uint8_t(*p);
    if (length == 0) length = 1;
    std::string shown(p, length);
    p += length;
    while (p < end && classOf(*p) == Class::Other && !isDirectionMark(p)) p++;
    char code[16];
    std::snprintf(code, sizeof code, "U+%04X", c);
    std::string text = c < 0x20 || c == 0x7f || (c >= 0x80 && c < 0xa0)
        ? std::string("the control character ") + code + " cannot stand here"
        : c == 0xa0 || c == 0x200b || c == 0xfeff ? std::string("the invisible character ") + code + " cannot stand here"
        : c < 0x80 ? "`" + shown + "` means nothing here"
                   : "the character `" + shown + "` (" + code + ") cannot stand here";
    Diagnostic& d = error(spanFrom(tokenStart), text);
    if (const char* better = meant(c)) d.note(std::string("write `") + better + "`");
    else if (c >= 0x80) d.note("names use the letters a to z, digits and `_`; other characters stand in strings and comments");
    push(TokenKind::Error);
  }

  Context& context;
  Tokens tokens;
  const char *begin, *p, *end;
  const char* lineStart = nullptr;
  const char* tokenStart = nullptr;
  uint32_t line = 1;
  bool fresh = true;         // no token yet on this line
  uint32_t docCount = 0;     // `///` lines that the next token gets
  uint32_t depth = 0;        // of open brackets
  std::vector<Interpolation> interpolations;
  std::string scratch;
};

}  // namespace

Tokens lex(Context& context, FileId file) {
  if (context.sources.file(file).broken) {
    Tokens none;
    none.file = file;
    none.list.emplace_back();
    none.list.back().line = none.list.back().column = 1;
    return none;
  }
  return Lexer(context, file).run();
}

}  // namespace mica
