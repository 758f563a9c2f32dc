// The parser's frame: tokens in hand, messages, and the way back into step after an error. See parser_impl.h.
#include "frontend/parser_impl.h"
#include <algorithm>
#include "frontend/lexer.h"

namespace mica {

Parser::Parser(Context& context, const Tokens& tokens, ParseMode mode, Layout* layout)
    : context(context), tokens(tokens), mode(mode), layout(layout), at(tokens.list.data()),
      last(tokens.list.data() + tokens.list.size() - 1), previous(at) {}

// ---- tokens ----

bool Parser::expect(TokenKind kind, const char* purpose) {
  if (accept(kind)) return true;
  std::string_view rest = purpose;
  std::string what = std::string(describe(kind)) + " ";
  what += rest.starts_with("and ") ? std::string(rest) + " are missing" : "is missing " + std::string(rest);
  fail(missingHere(), what + (at->firstOnLine || is(TokenKind::EndOfFile) ? "" : " before " + found()));
  return false;
}

Span Parser::missingHere() const {
  if (previous == at || previous->line == at->line) return spanOf(at);
  Place place = context.sources.place(tokens.file, previousEnd);
  return {place, 1};
}

std::string Parser::found() const {
  switch (at->kind) {
    case TokenKind::Name: case TokenKind::Integer: case TokenKind::Float: case TokenKind::Char: {
      std::string_view text = context.sources.text(tokens.file).substr(at->offset, at->length);
      return "`" + std::string(text.substr(0, 40)) + (text.size() > 40 ? "…" : "") + "`";
    }
    default: return std::string(describe(at->kind));
  }
}

bool Parser::startsExpr(const Token& t) const {
  switch (t.kind) {
    case TokenKind::Name: case TokenKind::Integer: case TokenKind::Float: case TokenKind::Char: case TokenKind::String:
    case TokenKind::StringHead: case TokenKind::LeftParen: case TokenKind::LeftBracket: case TokenKind::LeftBrace:
    case TokenKind::Minus: case TokenKind::DotDot: case TokenKind::Question: case TokenKind::Bnot: case TokenKind::Not:
    case TokenKind::Try: case TokenKind::If: case TokenKind::Match: case TokenKind::Func: case TokenKind::Move:
    case TokenKind::True: case TokenKind::False: case TokenKind::None: case TokenKind::Error:
      return true;
    default: return false;
  }
}

bool Parser::startsType(const Token& t) const {
  return t.kind == TokenKind::Name || t.kind == TokenKind::LeftParen || t.kind == TokenKind::Func;
}

// Does a declaration of the file's level begin here? The soft words count only with what must follow them.
bool Parser::startsDeclaration() const {
  const Token& next = peek();
  switch (at->kind) {
    case TokenKind::Import: case TokenKind::Pub: case TokenKind::At: return true;
    case TokenKind::Const: return openBlocks.empty();
    case TokenKind::Func: return next.kind == TokenKind::Name && !next.firstOnLine;
    case TokenKind::Name:
      if (next.firstOnLine) return false;
      if (at->value == word::Type.index || at->value == word::Failure.index) return next.kind == TokenKind::Name;
      return at->value == word::Test.index && next.kind == TokenKind::String;
    default: return false;
  }
}

Name Parser::expectName(const char* what) {
  if (is(TokenKind::Name)) {
    Name name = nameOf(at);
    advance();
    return name;
  }
  if (failUnclosedBracket()) return {};
  if (!isKeyword(at->kind) || !sameLine()) {
    failExpected(what);
    return {};
  }
  std::string sentence = std::string(describe(at->kind)) + " is a word of the language and cannot be " + what;
  // Used like a name, it is read as one; otherwise it probably has its own meaning, and the name is missing.
  switch (peek().kind) {
    case TokenKind::Assign: case TokenKind::Colon: case TokenKind::Equal: case TokenKind::Comma: case TokenKind::In:
    case TokenKind::LeftParen: case TokenKind::RightParen: {
      complain(spanOf(at), sentence);
      Name name{NameId(uint32_t(at->kind) - uint32_t(FirstKeyword)), placeOf(at), at->length};
      advance();
      return name;
    }
    default:
      fail(spanOf(at), sentence);
      return {};
  }
}

// ---- documentation comments ----

Seq<std::string_view> Parser::docLines(uint32_t first, uint32_t count) const {
  std::vector<std::string_view> lines;
  std::string_view text = context.sources.text(tokens.file);
  for (uint32_t i = first; i < first + count; i++) {
    const Comment& c = tokens.comments[i];
    std::string_view line = text.substr(c.offset, c.length);
    line.remove_prefix(3);
    if (line.starts_with(' ')) line.remove_prefix(1);
    lines.push_back(line);
  }
  return context.arena.copy(lines);
}

// The `///` lines directly above a token.
Seq<std::string_view> Parser::docOf(const Token* t) const {
  if (!t->documented) return {};
  uint32_t index = uint32_t(t - tokens.list.data());
  auto doc = std::lower_bound(tokens.docs.begin(), tokens.docs.end(), index, [](auto& d, uint32_t i) { return d.token < i; });
  uint32_t lastLine = tokens.comments[doc->firstComment + doc->comments - 1].line;
  if (lastLine + 1 != t->line || (t->kind == TokenKind::Import && index == 0)) return {};
  return docLines(doc->firstComment, doc->comments);
}

// The `///` lines that open the file, unless they belong to the declaration right below.
Seq<std::string_view> Parser::moduleDoc() const {
  uint32_t count = 0;
  const auto& comments = tokens.comments;
  while (count < comments.size() && comments[count].documentation && comments[count].ownLine &&
         comments[count].line == comments[0].line + count)
    count++;
  const Token& first = tokens.list.front();
  if (count == 0 || comments[0].offset > first.offset) return {};
  if (comments[count - 1].line + 1 == first.line && first.kind != TokenKind::Import && first.kind != TokenKind::EndOfFile) return {};
  return docLines(0, count);
}

// ---- errors ----

Diagnostic& Parser::fail(Span where, std::string sentence) {
  // The lexer has reported an Error token, and a text that swallowed the rest of the file.
  bool silent = panic || gaveUp || is(TokenKind::Error) || (is(TokenKind::EndOfFile) && tokens.unfinished);
  if (!panic) {
    panic = true;
    panicBrackets = openBrackets;
  }
  if (!silent) return context.diagnostics.error(where, std::move(sentence));
  silenced = {};
  return silenced;
}

// What cannot stand in brackets shows that they were left open.
bool Parser::failUnclosedBracket() {
  if (openBrackets == 0 || !((at->firstOnLine && stopsSkipping()) || is(TokenKind::EndOfFile))) return false;
  fail(spanOf(bracketOpener), "this " + std::string(describe(bracketOpener->kind)) + " is not closed");
  return true;
}

Diagnostic& Parser::failExpected(const char* what) {
  if (failUnclosedBracket()) return silenced;
  std::string sentence = std::string(what) + " is expected here";
  if (!at->firstOnLine || at->kind == TokenKind::EndOfFile) sentence += ", not " + found();
  return fail(missingHere(), sentence);
}

Diagnostic& Parser::complain(Span where, std::string sentence) {
  if (!panic && !gaveUp) return context.diagnostics.error(where, std::move(sentence));
  silenced = {};
  return silenced;
}

void Parser::tooDeep() {
  if (!gaveUp) {
    if (!panic) complain(spanOf(at), "this nests deeper than " + std::to_string(MaxNesting) + " levels");
    gaveUp = panic = true;
  }
  at = last;
}

// Words that begin a line only at the beginning of a statement or at the end of a block.
bool Parser::stopsSkipping() const {
  switch (at->kind) {
    case TokenKind::Let: case TokenKind::Var: case TokenKind::While: case TokenKind::Loop: case TokenKind::Return:
    case TokenKind::Break: case TokenKind::Continue: case TokenKind::Assert: case TokenKind::Attempt: case TokenKind::Const:
    case TokenKind::End: case TokenKind::Elif: case TokenKind::Case: case TokenKind::Recover: case TokenKind::Fail:
      return true;
    default: return startsDeclaration();
  }
}

// Skips the rest of a statement that went wrong: up to a line's beginning outside of brackets, a `;`, or the end of a block.
// Closures inside open brackets are skipped as a whole.
void Parser::synchronize() {
  uint32_t brackets = panicBrackets > openBrackets ? panicBrackets - openBrackets : 0;
  uint32_t blocks = 0;
  panic = false;
  for (; !is(TokenKind::EndOfFile); advance()) {
    resumed = at;
    if (blocks == 0) {
      if (at->firstOnLine && (brackets == 0 || stopsSkipping())) return;
      if (brackets == 0)
        switch (at->kind) {
          case TokenKind::Semicolon: case TokenKind::End: case TokenKind::Else: case TokenKind::Elif: case TokenKind::Case:
          case TokenKind::Recover: return;
          default: break;
        }
    }
    switch (at->kind) {
      case TokenKind::LeftParen: case TokenKind::LeftBracket: case TokenKind::LeftBrace: case TokenKind::StringHead:
        brackets++;
        break;
      case TokenKind::RightParen: case TokenKind::RightBracket: case TokenKind::RightBrace: case TokenKind::StringTail:
        if (brackets) brackets--;
        break;
      case TokenKind::Func:
        if (brackets) blocks++;
        break;
      case TokenKind::If: case TokenKind::While: case TokenKind::For: case TokenKind::Loop: case TokenKind::Match:
      case TokenKind::Attempt:
        if (blocks && at->firstOnLine) blocks++;
        break;
      case TokenKind::End:
        if (blocks) blocks--;
        break;
      default: break;
    }
  }
}

// A block's header went wrong: on to the word that ends it, or to the next line, and then into the body.
void Parser::skipToHeaderEnd(TokenKind word, bool consume) {
  if (!panic) return;
  uint32_t brackets = panicBrackets > openBrackets ? panicBrackets - openBrackets : 0;
  panic = false;
  for (; !is(TokenKind::EndOfFile); advance()) {
    if (at->firstOnLine && (brackets == 0 || stopsSkipping())) return;
    if (brackets == 0 && (is(TokenKind::End) || is(TokenKind::Semicolon))) return;
    if (is(word)) {
      if (consume) advance();
      return;
    }
    if (is(TokenKind::LeftParen) || is(TokenKind::LeftBracket) || is(TokenKind::LeftBrace)) brackets++;
    if (brackets && (is(TokenKind::RightParen) || is(TokenKind::RightBracket) || is(TokenKind::RightBrace))) brackets--;
  }
}

void Parser::expectStatementEnd() {
  if (panic) { synchronize(); return; }
  switch (at->kind) {
    case TokenKind::EndOfFile: case TokenKind::Semicolon: case TokenKind::End: case TokenKind::Else: case TokenKind::Elif:
    case TokenKind::Case: case TokenKind::Recover: return;
    default: break;
  }
  if (at->firstOnLine) return;
  Diagnostic& d = fail(spanOf(at), "the statement is complete before " + found());
  if (is(TokenKind::Name) && previous->kind == TokenKind::Name && previous->line == at->line)
    d.note("two names stand side by side; is an operator or a comma missing?");
  else if (is(TokenKind::Colon)) d.note("`let` and `var` declare variables: `var x: int := 0`");
  else d.note("the next statement begins on a line of its own or after `;`");
  synchronize();
}

bool Parser::Brackets::close(TokenKind kind) {
  if (p.accept(kind)) {
    if (p.panic) p.panicBrackets = open;   // `synchronize` need not look for it
    return true;
  }
  if (p.panic || p.failUnclosedBracket()) return false;
  std::string what(describe(kind));
  p.fail(p.missingHere(), what + " is missing" + (p.at->firstOnLine ? "" : " before " + p.found()))
      .label(p.spanOf(opener), "opened here");
  return false;
}

bool Parser::elseBelongsToTry() const {
  if (!is(TokenKind::Else)) return false;
  if (!elseOwner.accepts) return true;
  return at->line != elseOwner.thenLine && !at->firstOnLine;
}

// ---- entry ----

static NameId moduleName(Context& context, FileId file) {
  std::string_view path = context.sources.shown(file);
  path = path.substr(path.rfind('/') + 1);   // without a slash: npos + 1 is 0
  if (path.ends_with(".mica")) path.remove_suffix(5);
  return context.names.intern(path);
}

Module* Parser::parse() {
  Module* module = context.arena.make<Module>();
  module->file = tokens.file;
  module->name = moduleName(context, tokens.file);
  module->nodes.begin = context.nextNode;
  module->doc = moduleDoc();
  parseDeclarations(module);
  module->nodes.end = context.nextNode;
  return module;
}

Module* parseModule(Context& context, const Tokens& tokens, ParseMode mode, Layout* layout) {
  return Parser(context, tokens, mode, layout).parse();
}

Module* parseModule(Context& context, FileId file, ParseMode mode) {
  return parseModule(context, lex(context, file), mode);
}

}  // namespace mica
