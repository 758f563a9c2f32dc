// The formatter keeps the lines that the writer chose and sets everything within and around them: how far a line is indented
// follows from the blocks and brackets that it stands in, and one blank or none stands between two tokens by what they are.
//
// - Items of a block stand two columns in from the line that opens it; `end`, `else`, `elif` and `recover` stand below that
//   line; the arms of a `match` two columns in and their statements four.
// - In brackets a line goes under what follows the bracket, or two columns in when the bracket ends its line. Other lines that
//   go on stand two columns in, four while the header of a block is not complete.
// - Tokens of neighbouring lines that the writer set below one another with extra blanks stay aligned, as close as possible.
// - A comment on a line of its own goes with what follows it. Behind code it keeps its column, if the code leaves room.
// - One blank line at most, none at the beginning and the end, a line feed at the end of each line.
//
// The result is read again and its tokens compared: the formatter cannot change a program.
#include "frontend/formatter.h"
#include <algorithm>
#include <map>
#include <vector>
#include "frontend/lexer.h"
#include "frontend/parser.h"

namespace mica {
namespace {

constexpr uint32_t Step = 2;
constexpr uint32_t MostAligned = 200;   // tokens of a line that takes part in alignment

uint32_t widthOf(std::string_view text) {
  uint32_t n = 0;
  for (char c : text) n += (uint8_t(c) & 0xc0) != 0x80;
  return n;
}

// A line of the result: tokens [first, last) or a comment of its own.
struct Line {
  uint32_t first = 0, last = 0;
  uint32_t source = 0;          // its line in the source
  uint32_t sourceEnd = 0;       // and the last one that it covers (a raw text may run over several)
  int comment = -1;             // index of its comment: own or behind the tokens
  uint32_t indent = 0;
  bool blankBefore = false;
  bool hasTokens() const { return last > first; }
};

class Formatter {
 public:
  Formatter(Context& context, const Tokens& tokens, const Layout& layout)
      : source(context.sources.text(tokens.file)), tokens(tokens), list(tokens.list), layout(layout), gaps(list.size(), 0) {}

  std::string run() {
    splitLines();
    for (uint32_t i = 0; i < list.size(); i++) gaps[i] = list[i].firstOnLine ? 0 : blanksBefore(i);
    std::vector<uint32_t> plain = gaps;
    // Indentation depends on columns (brackets), and alignment on indentation: the second round settles both.
    for (int round = 0; round < 2; round++) {
      indentLines();
      gaps = plain;
      alignLines();
    }
    indentLines();
    return print();
  }

 private:
  std::string_view textOf(uint32_t token) const { return source.substr(list[token].offset, list[token].length); }
  std::string_view commentText(const Comment& c) const {
    std::string_view text = source.substr(c.offset, c.length);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
  }
  uint32_t endLineOf(const Token& t) const {
    std::string_view text = source.substr(t.offset, t.length);
    return t.line + (t.kind == TokenKind::String ? uint32_t(std::count(text.begin(), text.end(), '\n')) : 0);
  }

  // ---- lines ----

  void splitLines() {
    uint32_t comment = 0;
    lineOfToken.resize(list.size());
    uint32_t end = uint32_t(list.size()) - 1;   // without EndOfFile
    for (uint32_t t = 0; t <= end; ) {
      uint32_t offset = list[t].offset;
      for (; comment < tokens.comments.size() && tokens.comments[comment].ownLine &&
             (t == end || tokens.comments[comment].offset < offset); comment++) {
        Line line;
        line.source = line.sourceEnd = tokens.comments[comment].line;
        line.comment = int(comment);
        line.first = line.last = t;   // what follows
        addLine(line);
      }
      if (t == end) break;
      Line line;
      line.first = t;
      line.source = list[t].line;
      do {
        lineOfToken[t] = uint32_t(lines.size());
        line.sourceEnd = endLineOf(list[t]);
        t++;
      } while (t < end && !list[t].firstOnLine);
      line.last = t;
      if (comment < tokens.comments.size() && !tokens.comments[comment].ownLine && tokens.comments[comment].line == line.sourceEnd)
        line.comment = int(comment++);
      addLine(line);
    }
  }

  void addLine(Line line) {
    line.blankBefore = !lines.empty() && line.source > lines.back().sourceEnd + 1;
    lines.push_back(line);
  }

  // ---- blanks between tokens ----

  uint32_t blanksBefore(uint32_t i) const {
    const Token& left = list[i - 1];
    const Token& right = list[i];
    if (layout.tight[i] == 1 || layout.tight[i - 1] == 2) return 0;
    switch (left.kind) {
      case TokenKind::LeftParen: case TokenKind::LeftBracket: case TokenKind::LeftBrace: case TokenKind::Dot:
      case TokenKind::At: case TokenKind::StringHead: case TokenKind::StringMiddle:
        return 0;
      default: break;
    }
    switch (right.kind) {
      case TokenKind::RightParen: case TokenKind::RightBracket: case TokenKind::RightBrace: case TokenKind::Dot:
      case TokenKind::Comma: case TokenKind::Semicolon: case TokenKind::Colon: case TokenKind::Ellipsis:
      case TokenKind::Format: case TokenKind::StringMiddle: case TokenKind::StringTail:
        return 0;
      default: return 1;
    }
  }

  // ---- indentation ----

  struct Bracket {
    uint32_t lineIndent;     // of the line where it opens
    uint32_t content;        // column of what follows it
    bool endsLine;
  };

  void indentLines() {
    std::vector<Bracket> brackets;
    uint32_t item = 0;            // indentation of the innermost item that began
    bool header = false;          // the current item's header is not complete
    for (Line& line : lines) {
      if (!line.hasTokens()) continue;
      uint32_t t = line.first;
      const Layout::Mark& mark = layout.marks[t];
      if (mark.marked) line.indent = mark.opener == Layout::Nowhere ? 0 : lines[lineOfToken[mark.opener]].indent + mark.plus * Step;
      else if (layout.inBrackets[t] && !brackets.empty()) line.indent = bracketIndent(brackets.back(), list[t].kind);
      else line.indent = item + (header ? 2 : 1) * Step;
      uint32_t column = line.indent;
      for (; t < line.last; t++) {
        if (layout.marks[t].marked) {
          item = line.indent;
          header = false;
        }
        header |= layout.opensBody[t] && !closesHeader(t);
        if (closesHeader(t)) header = false;
        column += gaps[t];
        column += widthOf(textOf(t));
        if (opens(list[t].kind)) {
          bool ends = t + 1 == line.last;
          brackets.push_back({line.indent, column + (ends ? 0 : gaps[t + 1]), ends});
        } else if (closes(list[t].kind) && !brackets.empty()) {
          brackets.pop_back();
        }
      }
    }
    indentComments();
  }

  static bool opens(TokenKind k) {
    return k == TokenKind::LeftParen || k == TokenKind::LeftBracket || k == TokenKind::LeftBrace || k == TokenKind::StringHead;
  }
  static bool closes(TokenKind k) {
    return k == TokenKind::RightParen || k == TokenKind::RightBracket || k == TokenKind::RightBrace || k == TokenKind::StringTail;
  }
  bool closesHeader(uint32_t t) const { return list[t].kind == TokenKind::Then || list[t].kind == TokenKind::Do; }

  static uint32_t bracketIndent(const Bracket& b, TokenKind first) {
    if (!b.endsLine) return b.content;
    return closes(first) ? b.lineIndent : b.lineIndent + Step;
  }

  // A comment of its own line stands like the line that follows, unless that closes a block and the comment stood deeper.
  void indentComments() {
    for (uint32_t i = uint32_t(lines.size()); i-- > 0; ) {
      Line& line = lines[i];
      if (line.hasTokens()) continue;
      if (i + 1 == lines.size()) { line.indent = 0; continue; }
      const Line& next = lines[i + 1];
      line.indent = next.indent;
      uint32_t t = line.first;
      bool closing = endsBlock(list[t].kind) || closes(list[t].kind);
      uint32_t column = tokens.comments[size_t(line.comment)].column;
      if (closing && column > list[t].column)
        line.indent = nextTokenIndent(i) + (endsArm(t) && column > list[t].column + Step ? 2 : 1) * Step;
    }
  }
  static bool endsBlock(TokenKind k) {
    return k == TokenKind::End || k == TokenKind::Else || k == TokenKind::Elif || k == TokenKind::Recover || k == TokenKind::Case;
  }
  // The `end` of a `match`, before which a comment may belong to the last arm.
  bool endsArm(uint32_t t) const {
    uint32_t opener = layout.marks[t].opener;
    return list[t].kind == TokenKind::End && opener != Layout::Nowhere && list[opener].kind == TokenKind::Match;
  }
  uint32_t nextTokenIndent(uint32_t i) const {
    while (!lines[i].hasTokens()) i++;
    return lines[i].indent;
  }

  // ---- alignment ----

  // Runs of neighbouring lines of code; in each, the columns at which tokens stood below one another.
  void alignLines() {
    for (size_t begin = 0; begin < lines.size(); ) {
      size_t end = begin + 1;
      if (lines[begin].hasTokens())
        while (end < lines.size() && lines[end].hasTokens() && lines[end].source == lines[end - 1].sourceEnd + 1) end++;
      if (end - begin > 1) alignRun(begin, end);
      begin = end;
    }
  }

  void alignRun(size_t begin, size_t end) {
    // Source column and kind of place → the tokens there, line by line. Only what has a blank before it can be aligned.
    using Key = std::pair<uint32_t, int>;
    std::map<Key, std::vector<uint32_t>> columns;
    std::map<Key, bool> wide;
    for (size_t i = begin; i < end; i++) {
      // Not a raw text of several lines, nor a table of data that no eye compares.
      if (lines[i].source != lines[i].sourceEnd || lines[i].last - lines[i].first > MostAligned) continue;
      for (uint32_t t = lines[i].first + 1; t < lines[i].last; t++) {
        uint32_t gap = list[t].offset - (list[t - 1].offset + list[t - 1].length);
        if (gap == 0 || gaps[t] == 0) continue;
        Key key{sourceColumn(lines[i], t), placeKind(t)};
        columns[key].push_back(t);
        if (gap > 1) wide[key] = true;
      }
    }
    for (auto& [key, isWide] : wide) {
      auto& at = columns[key];
      for (size_t i = 0; i < at.size(); ) {
        size_t j = i + 1;
        while (j < at.size() && lineOfToken[at[j]] <= lineOfToken[at[j - 1]] + 2) j++;   // one line between may be longer
        if (j - i > 1) alignTokens(at, i, j);
        i = j;
      }
    }
  }

  // Signs between operands align with the same sign, what follows a sign with what follows the same one.
  int placeKind(uint32_t t) const {
    TokenKind kind = list[t].kind;
    bool sign = kind >= TokenKind::Comma && kind <= TokenKind::Ellipsis && layout.tight[t] != 2;
    return sign ? int(kind) : 1000 + int(list[t - 1].kind);
  }

  uint32_t sourceColumn(const Line& line, uint32_t t) const {
    uint32_t start = list[line.first].offset;
    return list[line.first].column + widthOf(source.substr(start, list[t].offset - start));
  }

  void alignTokens(const std::vector<uint32_t>& at, size_t from, size_t to) {
    uint32_t target = 0;
    for (size_t i = from; i < to; i++) target = std::max(target, columnOf(at[i]));
    for (size_t i = from; i < to; i++) gaps[at[i]] += target - columnOf(at[i]);
  }

  // The column where a token stands in the result, from 0.
  uint32_t columnOf(uint32_t token) const {
    const Line& line = lines[lineOfToken[token]];
    uint32_t column = line.indent;
    for (uint32_t t = line.first; t < token; t++) column += gaps[t] + widthOf(textOf(t));
    return column + gaps[token];
  }

  // ---- the result ----

  std::string print() {
    std::string out;
    out.reserve(source.size() + source.size() / 8);
    for (const Line& line : lines) {
      if (line.blankBefore) out += '\n';
      size_t start = out.size();
      out.append(line.indent, ' ');
      for (uint32_t t = line.first; t < line.last; t++) {
        out.append(gaps[t], ' ');
        appendToken(out, t);
      }
      if (line.comment >= 0) {
        const Comment& c = tokens.comments[size_t(line.comment)];
        if (line.hasTokens()) {
          size_t last = out.rfind('\n');   // of this line, or of a raw text in it
          size_t begin = last == std::string::npos || last < start ? start : last + 1;
          uint32_t width = widthOf(std::string_view(out).substr(begin));
          uint32_t column = commentColumn(c);
          out.append(column > width ? column - width : 1, ' ');
        }
        out += commentText(c);
      }
      out += '\n';
    }
    return out;
  }

  // Where a comment behind code stood, from 0, in characters.
  uint32_t commentColumn(const Comment& c) const {
    uint32_t lineStart = c.offset - (c.column - 1);
    return widthOf(source.substr(lineStart, c.column - 1));
  }

  // A raw text keeps its lines; a line end is a line feed.
  void appendToken(std::string& out, uint32_t t) {
    std::string_view text = textOf(t);
    if (list[t].line == endLineOf(list[t])) { out += text; return; }
    for (size_t i = 0; i < text.size(); i++)
      if (!(text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n')) out += text[i];
  }

  std::string_view source;
  const Tokens& tokens;
  const std::vector<Token>& list;
  const Layout& layout;
  std::vector<uint32_t> gaps;         // blanks before each token
  std::vector<Line> lines;
  std::vector<uint32_t> lineOfToken;
};

// The same tokens, in the same lines?
void checkSame(const Tokens& before, std::string_view source, const std::string& text) {
  Context context;
  FileId file = context.sources.add("formatted", text, context.diagnostics);
  Tokens after = lex(context, file);
  bool same = before.list.size() == after.list.size() && before.comments.size() == after.comments.size() && !context.diagnostics.hasErrors();
  for (size_t i = 0; same && i + 1 < before.list.size(); i++) {
    const Token& a = before.list[i];
    const Token& b = after.list[i];
    same = a.kind == b.kind && a.firstOnLine == b.firstOnLine;
    if (same && a.kind == TokenKind::Name) same = source.substr(a.offset, a.length) == context.sources.text(file).substr(b.offset, b.length);
    bool hasText = a.kind >= TokenKind::String && a.kind <= TokenKind::Format;
    if (same && hasText) same = before.texts[a.value] == after.texts[b.value];
  }
  if (!same) internalError("the formatter changed a program");
}

}  // namespace

std::optional<std::string> formatFile(Context& context, FileId file) {
  if (context.sources.file(file).broken) return std::nullopt;
  uint32_t errors = context.diagnostics.errorCount();
  Tokens tokens = lex(context, file);
  Layout layout(tokens.list.size());
  parseModule(context, tokens, ParseMode::Program, &layout);
  if (context.diagnostics.errorCount() > errors) return std::nullopt;
  std::string text = Formatter(context, tokens, layout).run();
  checkSame(tokens, context.sources.text(file), text);
  return text;
}

}  // namespace mica
