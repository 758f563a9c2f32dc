// Sources, tokens and the printing of messages.
#include <doctest/doctest.h>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <unistd.h>
#include "frontend/astdump.h"
#include "frontend/lexer.h"

using namespace mica;

namespace {

// A text, its tokens and its messages.
struct Lexed {
  Context context;
  Tokens tokens;
  explicit Lexed(std::string text) {
    FileId file = context.sources.add("t.mica", std::move(text), context.diagnostics);
    tokens = lex(context, file);
  }
  // The kinds of all tokens but the last, as a line.
  std::string kinds() const {
    std::string out;
    for (size_t i = 0; i + 1 < tokens.list.size(); i++) out += (i ? " " : "") + std::string(nameOf(tokens.list[i].kind));
    return out;
  }
  std::string messages() const { return context.diagnostics.print(context.sources); }
  // `line:column sentence` of the first message.
  std::string first() const {
    auto all = context.diagnostics.sorted();
    if (all.empty()) return "";
    Place p = all[0]->span.place;
    return std::to_string(p.line) + ":" + std::to_string(p.column) + " " + all[0]->sentence;
  }
  size_t count() const { return context.diagnostics.all().size(); }
  std::string_view text(size_t token) const { return tokens.texts[tokens.list[token].value]; }
};

uint64_t integer(const char* text) {
  Lexed l(text);
  REQUIRE(l.kinds() == "Integer");
  return l.tokens.integers[0];
}

FloatValue floating(const char* text) {
  Lexed l(text);
  REQUIRE(l.kinds() == "Float");
  return l.tokens.floats[0];
}

std::string string(const std::string& source) {
  Lexed l(source);
  REQUIRE(l.kinds() == "String");
  CHECK(l.count() == 0);
  return std::string(l.text(0));
}

}  // namespace

TEST_CASE("lexer: words, names and signs") {
  CHECK(Lexed("if x then Sum_ end").kinds() == "If Name Then Name End");
  CHECK(Lexed("test record _ _x x1").kinds() == "Name Name Name Name Name");
  CHECK(Lexed(":= += -= *= /= = <> < <= > >= =>").kinds() ==
        "Assign PlusAssign MinusAssign StarAssign SlashAssign Equal NotEqual Less LessEqual Greater GreaterEqual Arrow");
  CHECK(Lexed("+ - * / +% -% *% .* ./ . .. ..< ?").kinds() ==
        "Plus Minus Star Slash PlusWrap MinusWrap StarWrap DotStar DotSlash Dot DotDot DotDotLess Question");
  CHECK(Lexed("( ) [ ] { } , ; : @").kinds() ==
        "LeftParen RightParen LeftBracket RightBracket LeftBrace RightBrace Comma Semicolon Colon At");
}

TEST_CASE("lexer: numbers") {
  CHECK(integer("1_000") == 1000);
  CHECK(integer("0xff") == 255);
  CHECK(integer("0b1010_1010") == 0xaa);
  CHECK(integer("0o17") == 15);
  CHECK(integer("18446744073709551615") == UINT64_MAX);
  CHECK(floating("1.5").value64 == 1.5);
  CHECK(floating("1e-3").value64 == 1e-3);
  CHECK(floating("3E+2").value64 == 300);
  CHECK(floating("1_0.2_5").value64 == 10.25);
  CHECK(std::isinf(floating("1e39").value32));
  CHECK(floating("1e-400").value64 == 0);
  CHECK(floating("4.9e-324").value64 > 0);
  // Rounded once: through float64 this would be the even neighbour.
  CHECK(floating("1.00000017881393432617187499").value32 == 0x1.000002p0f);
  CHECK(Lexed("0..<n").kinds() == "Integer DotDotLess Name");
  CHECK(Lexed("1.*x").kinds() == "Integer DotStar Name");
  CHECK(Lexed("pair.0.1").kinds() == "Name Dot Integer Dot Integer");
  CHECK(Lexed("1.5.x").kinds() == "Float Dot Name");
}

TEST_CASE("lexer: malformed numbers") {
  CHECK(Lexed("18446744073709551616").first() == "1:1 this number does not fit in 64 bits");
  CHECK(Lexed("0x").first() == "1:1 digits are missing after `0x`");
  CHECK(Lexed("0b12").first() == "1:4 `2` is not a digit of a number with base 2");
  CHECK(Lexed("12ab").first() == "1:3 `ab` cannot follow a number");
  CHECK(Lexed("1_").first() == "1:2 `_` stands between the digits of a number");
  CHECK(Lexed("1__0").first() == "1:2 `_` stands between the digits of a number");
  CHECK(Lexed("1e999").first() == "1:1 this number is larger than any float64");
  CHECK(Lexed("x := " + std::string(1000000, '7')).count() == 1);
  CHECK(Lexed("x := 0." + std::string(1000000, '7')).count() == 0);
}

TEST_CASE("lexer: strings") {
  CHECK(string("\"a\\n\\t\\r\\0\\\"\\\\\\{\\}\\u{e9}\\u{1F600}\"") == std::string("a\n\t\r\0\"\\{}\xc3\xa9\xf0\x9f\x98\x80", 15));
  CHECK(string("\"plain }\"") == "plain }");
  CHECK(string("\"\"") == "");
  CHECK(string("\"\"\"a \"quoted\" {x} \\n\"\"\"") == "a \"quoted\" {x} \\n");
  CHECK(string("\"\"\"\n  a\n  b\n\"\"\"") == "  a\n  b\n");
  CHECK(string("\"\"\"a\r\nb\"\"\"") == "a\nb");
  CHECK(string("\"\"\"\"\"\"") == "");
}

TEST_CASE("lexer: interpolations") {
  Lexed l("\"a{x:4.2f}b{y}c\"");
  CHECK(l.kinds() == "StringHead Name Format StringMiddle Name StringTail");
  CHECK(l.text(0) == "a");
  CHECK(l.text(2) == "4.2f");
  CHECK(l.text(3) == "b");
  CHECK(l.text(5) == "c");
  CHECK(Lexed("\"{F(a: 1):5}\"").kinds() == "StringHead Name LeftParen Name Colon Integer RightParen Format StringTail");
  CHECK(Lexed("\"{x[{1: 2}[0]]}\"").kinds() ==
        "StringHead Name LeftBracket LeftBrace Integer Colon Integer RightBrace LeftBracket Integer RightBracket RightBracket StringTail");
  CHECK(Lexed("\"{F(\"x\")}\"").kinds() == "StringHead Name LeftParen String RightParen StringTail");
  CHECK(Lexed("\"{\"{\"{x}\"}\"}\"").kinds() ==
        "StringHead StringHead StringHead Name StringTail StringTail StringTail");
  CHECK(Lexed("\"{'}'}\"").kinds() == "StringHead Char StringTail");
}

TEST_CASE("lexer: characters") {
  Lexed l("'a' '\\n' '\\u{1f}' '\xe2\x82\xac' '\\'' '\\{' '{'");
  CHECK(l.kinds() == "Char Char Char Char Char Char Char");
  uint32_t wanted[] = {'a', '\n', 0x1f, 0x20ac, '\'', '{', '{'};
  for (size_t i = 0; i < 7; i++) CHECK(l.tokens.list[i].value == wanted[i]);
  CHECK(Lexed("''").first() == "1:1 a character is missing between the quotes");
  CHECK(Lexed("'ab'").first() == "1:1 single quotes hold one character");
  CHECK(Lexed("'a").first() == "1:1 this character does not end");
}

TEST_CASE("lexer: what does not end") {
  CHECK(Lexed("x := \"abc\ny := 1").first() == "1:6 this string does not end on its line");
  CHECK(Lexed("x := \"abc\ny := 1").kinds() == "Name Assign String Error Name Assign Integer");
  CHECK(Lexed("\"a{x\ny").first() == "1:1 the interpolation of this string does not end on its line");
  CHECK(Lexed("\"a{x\ny").count() == 1);
  CHECK(Lexed("\"a{\"b\ny").count() == 1);
  CHECK(Lexed("\"a{x").count() == 1);
  CHECK(Lexed("\n  \"\"\"abc\n").first() == "2:3 this raw text does not end");
}

TEST_CASE("lexer: bytes that cannot stand in a program") {
  CHECK(Lexed("\xef\xbb\xbf" "func").kinds() == "Func");
  CHECK(Lexed("a\r\nb").kinds() == "Name Name");
  CHECK(Lexed("a\rb").first() == "1:2 a carriage return stands here without a line feed");
  CHECK(Lexed("a := \xff").first() == "1:6 the byte 0xff is not UTF-8 here");
  CHECK(Lexed("a\n \xc0\x80").first() == "2:2 the byte 0xc0 is not UTF-8 here");
  CHECK(Lexed("\xed\xa0\x80").first() == "1:1 the byte 0xed is not UTF-8 here");
  CHECK(Lexed("\xe2\x82").first() == "1:1 the byte 0xe2 is not UTF-8 here");
  CHECK(Lexed(std::string("a \0 b", 5)).first() == "1:3 a source text holds no NUL bytes");
  CHECK(Lexed(std::string("a \0 b", 5)).kinds() == "");
  CHECK(Lexed("\xe2\x88\x92" "1").first() == "1:1 the character `\xe2\x88\x92` (U+2212) cannot stand here");
  CHECK(Lexed("// \xe2\x80\xae").first().find("direction mark U+202E") != std::string::npos);
  CHECK(Lexed("\"\xe2\x80\xae\"").first().find("direction mark U+202E") != std::string::npos);
  CHECK(Lexed("\"\xe2\x82\xac\" // \xe2\x82\xac").count() == 0);
  CHECK(Lexed("\"a\tb\"").first() == "1:3 a tab cannot stand in a string");
  CHECK(Lexed("a $ b").first() == "1:3 `$` means nothing here");
  CHECK(Lexed("a `").first() == "1:3 ``` means nothing here");   // the text's last byte: nothing behind it is read
  CHECK(Lexed("").kinds() == "");
}

TEST_CASE("lexer: lines, places, comments") {
  Lexed l("/// doc one\n/// doc two\nfunc A // tail\n\n  // own\n  x\n");
  CHECK(l.kinds() == "Func Name Name");
  auto& t = l.tokens.list;
  CHECK(t[0].documented);
  CHECK(t[0].firstOnLine);
  CHECK(!t[1].firstOnLine);
  CHECK(t[2].firstOnLine);
  CHECK(t[2].line == 6);
  CHECK(t[2].column == 3);
  REQUIRE(l.tokens.docs.size() == 1);
  CHECK(l.tokens.docs[0].comments == 2);
  REQUIRE(l.tokens.comments.size() == 4);
  CHECK(!l.tokens.comments[2].ownLine);
  CHECK(l.tokens.comments[3].ownLine);
  CHECK(dumpTokens(l.context, l.tokens) == "3:1      Func          func\n3:6      Name          A\n6:3      Name          x\n7:1      EndOfFile\n");
}

TEST_CASE("lexer: brackets a hundred thousand deep and a line of ten megabytes") {
  CHECK(Lexed(std::string(100000, '(')).tokens.list.size() == 100001);
  std::string line = "x := [";
  for (int i = 0; i < 2500000; i++) line += "12, ";
  Lexed l(line + "]");
  CHECK(l.tokens.list.size() == 5000005);
  CHECK(l.count() == 0);
}

TEST_CASE("sources: files that cannot be read") {
  Context c;
  CHECK(c.sources.load("/no/such/file.mica", c.diagnostics) == 0);
  CHECK(c.diagnostics.print(c.sources) == "error: cannot read `/no/such/file.mica`: there is no such file\n");
  c.diagnostics.clear();
  CHECK(c.sources.load("/", c.diagnostics) == 0);
  CHECK(c.diagnostics.print(c.sources) == "error: cannot read `/`: it is a directory\n");
  c.diagnostics.clear();
  CHECK(c.sources.load(std::string(300, 'x'), c.diagnostics) == 0);
  CHECK(c.diagnostics.all()[0].sentence.ends_with("its name is too long"));
}

TEST_CASE("sources: lines, places and offsets") {
  char path[] = "/tmp/mica-test-XXXXXX";
  int handle = mkstemp(path);
  REQUIRE(handle >= 0);
  close(handle);
  std::ofstream(path) << "one\r\ntwo\n\nfour";
  Context c;
  FileId f = c.sources.load(path, c.diagnostics);
  std::remove(path);
  REQUIRE(f == 1);
  CHECK(c.sources.lineCount(f) == 4);
  CHECK(c.sources.line(f, 1) == "one");
  CHECK(c.sources.line(f, 3) == "");
  CHECK(c.sources.line(f, 4) == "four");
  CHECK(c.sources.line(f, 5) == "");
  CHECK(c.sources.place(f, 5) == Place{f, 2, 1});
  CHECK(c.sources.offset({f, 4, 2}) == 11);
  CHECK(c.sources.describe({f, 4, 2}) == std::string(path) + ":4:2");
  CHECK(c.sources.quote({{f, 2, 1}, 3}) == "two");
}

TEST_CASE("interner: one id for a spelling") {
  Interner names;
  CHECK(names.intern("of") == word::Of);
  NameId a = names.intern("alpha");
  CHECK(names.intern(std::string("al") + "pha") == a);
  CHECK(names.find("beta") == NameId());
  for (int i = 0; i < 20000; i++) names.intern("n" + std::to_string(i));
  CHECK(names.find("alpha") == a);
  CHECK(names.text(names.find("n19999")) == "n19999");
}

TEST_CASE("diagnostics: the picture of a product") {
  Context c;
  FileId f = c.sources.add("gpt.mica", std::string(30, '\n') + "    let q := n * b.query\n", c.diagnostics);
  c.diagnostics.error(Span{{f, 31, 16}, 1}, "the dimensions of this product cannot meet")
      .label({{f, 31, 14}, 1}, "matrix[1024, 64]", "from LayerNorm at gpt.mica:30:14")
      .label({{f, 31, 18}, 7}, "matrix[128, 96]", "declared at gpt.mica:14:5")
      .note("the left has 64 columns, the right has 128 rows");
  CHECK(c.diagnostics.print(c.sources) ==
        "error: the dimensions of this product cannot meet\n"
        "  gpt.mica:31:16\n"
        "   31 |     let q := n * b.query\n"
        "      |              ~ ^ ~~~~~~~\n"
        "      |              |   matrix[128, 96]  declared at gpt.mica:14:5\n"
        "      |              matrix[1024, 64]     from LayerNorm at gpt.mica:30:14\n"
        "      = the left has 64 columns, the right has 128 rows\n");
}

TEST_CASE("diagnostics: several lines, files, tabs, characters, long lines") {
  Context c;
  FileId f = c.sources.add("a.mica", "\tlet \xc3\xa9t\xc3\xa9 := 1\n\n\nsecond\n", c.diagnostics);
  FileId g = c.sources.add("b.mica", "other\n", c.diagnostics);
  c.diagnostics.error(Span{{f, 4, 1}, 6}, "second").label({{f, 1, 6}, 5}, "first").label({{g, 1, 1}, 5}, "there").note("one\ntwo");
  CHECK(c.diagnostics.print(c.sources) ==
        "error: second\n"
        "  a.mica:4:1\n"
        "   1 |  let \xc3\xa9t\xc3\xa9 := 1\n"
        "     |      ~~~ first\n"
        "     \xe2\x80\xa6\n"
        "   4 | second\n"
        "     | ^^^^^^\n"
        "  b.mica:1:1\n"
        "   1 | other\n"
        "     | ~~~~~ there\n"
        "     = one\n"
        "       two\n");
  Context d;
  FileId h = d.sources.add("l.mica", std::string(100000, 'x') + "!" + std::string(100000, 'y'), d.diagnostics);
  d.diagnostics.error(Span{{h, 1, 100001}, 1}, "here");
  std::string text = d.diagnostics.print(d.sources);
  CHECK(text.size() < 600);
  CHECK(text.find("xx!yy") != std::string::npos);
}

TEST_CASE("diagnostics: sorted, once each, and no more than a limit") {
  Context c;
  FileId f = c.sources.add("a.mica", "a\nb\nc\n", c.diagnostics);
  c.diagnostics.error(Span{{f, 3, 1}, 1}, "third");
  c.diagnostics.error(Span{{f, 1, 1}, 1}, "first");
  c.diagnostics.error(Span{{f, 3, 1}, 1}, "third");
  c.diagnostics.warning(Span{{f, 2, 1}, 1}, "second");
  CHECK(c.diagnostics.errorCount() == 3);
  auto sorted = c.diagnostics.sorted();
  REQUIRE(sorted.size() == 3);
  CHECK(sorted[0]->sentence == "first");
  CHECK(sorted[1]->severity == Severity::Warning);
  CHECK(sorted[2]->sentence == "third");
  CHECK(c.diagnostics.print(c.sources, 1).ends_with("\n2 more messages are not shown\n"));
}
