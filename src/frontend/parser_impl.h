// The parser's inside, shared by the files parse_*.cpp: where it stands, how it makes nodes, and how it recovers.
//
// Line ends. Tokens know whether they are the first on their line; a statement ends before such a token unless brackets are
// open (`openBrackets`). An operator, comma or `:` simply reads on, so a line that ends in one goes on.
//
// Errors. The first error of a statement sets `panic`, which silences the rest of it; functions then return whatever they
// have. `synchronize` skips to the end of the statement (over brackets that are still open) and ends the panic. A header of
// a block that went wrong is skipped only up to its body, so that its `end` still finds its beginning.
//
// Blocks. `openBlocks` lists the blocks around the current place, with their indentation. An `end` that stands further left
// than its block's line betrays the block whose own `end` is missing; if an `end` is missed later, that one is blamed.
#pragma once
#include <string>
#include <vector>
#include "frontend/context.h"
#include "frontend/parser.h"
#include "frontend/token.h"

namespace mica {

using namespace ast;

// A list that is being read: few elements need no allocation. The arena gets it as a whole.
template <class T> class Gather {
 public:
  void add(const T& item) {
    if (count < Few) few[count] = item;
    else {
      if (count == Few) more.assign(few, few + Few);
      more.push_back(item);
    }
    count++;
  }
  size_t size() const { return count; }
  T& operator[](size_t i) { return count <= Few ? few[i] : more[i]; }
  Seq<T> copyTo(Arena& arena) const { return arena.copy(count <= Few ? few : more.data(), count); }

 private:
  static constexpr size_t Few = 6;
  T few[Few];
  std::vector<T> more;
  size_t count = 0;
};

class Parser {
 public:
  Parser(Context& context, const Tokens& tokens, ParseMode mode, Layout* layout);
  Module* parse();

 private:
  // ---- where we stand (parser.cpp) ----
  const Token& peek(uint32_t ahead = 1) const { return at + ahead < last ? at[ahead] : *last; }
  bool is(TokenKind kind) const { return at->kind == kind; }
  bool isWord(NameId id) const { return at->kind == TokenKind::Name && at->value == id.index; }
  // Does the current token go on with what came before, as far as line ends are concerned?
  bool sameLine() const { return !at->firstOnLine || openBrackets > 0; }
  bool isWordOnLine(NameId id) const { return isWord(id) && sameLine(); }
  void advance() {
    if (layout && at->firstOnLine) layout->inBrackets[indexOf(at)] = openBrackets > 0;
    previousEnd = at->offset + at->length;
    previous = at;
    if (at < last) at++;
  }
  bool accept(TokenKind kind) {
    if (at->kind != kind) return false;
    advance();
    return true;
  }
  // ---- notes for the formatter ----
  uint32_t indexOf(const Token* t) const { return uint32_t(t - tokens.list.data()); }
  // The current token begins (or ends) an item of the block of `opener`.
  void markItem(const Token* opener, uint8_t plus) {
    if (layout) layout->marks[indexOf(at)] = {opener ? indexOf(opener) : Layout::Nowhere, plus, true};
  }
  void markTight(const Token* t, uint8_t how = 1) { if (layout) layout->tight[indexOf(t)] = how; }
  void markBody(const Token* t) { if (layout) layout->opensBody[indexOf(t)] = true; }

  // Consumes the token or reports that it is missing, with what it would be for: "`then` after the condition".
  bool expect(TokenKind kind, const char* purpose);
  Place placeOf(const Token* t) const { return {tokens.file, t->line, t->column}; }
  Span spanOf(const Token* t) const { return {placeOf(t), std::max(1u, t->length)}; }
  // Where something is missing: the current token, or the end of the line before it.
  Span missingHere() const;
  std::string found() const;
  bool startsExpr(const Token& t) const;
  bool startsType(const Token& t) const;
  bool startsDeclaration() const;
  Name nameOf(const Token* t) const { return {NameId(t->value), placeOf(t), t->length}; }
  Name expectName(const char* what);

  // ---- making nodes ----
  template <class T> T* make(const Token* start) { return makeAt<T>(placeOf(start)); }
  template <class T> T* makeAt(Place place) {
    T* node = context.arena.make<T>();
    node->kind = T::Kind;
    node->place = place;
    if constexpr (std::is_base_of_v<Expr, T>) node->id = context.nextNode.expr++;
    else if constexpr (std::is_base_of_v<Stmt, T>) node->id = context.nextNode.stmt++;
    else if constexpr (std::is_base_of_v<TypeExpr, T>) node->id = context.nextNode.type++;
    else if constexpr (std::is_base_of_v<Pattern, T>) node->id = context.nextNode.pattern++;
    return node;
  }
  // Sets the length: from the start token to the last one consumed.
  template <class T> T* finish(T* node, const Token* start) {
    node->length = previousEnd > start->offset ? previousEnd - start->offset : 0;
    return node;
  }
  template <class T> T* leaf() {   // a node of the current token alone
    T* node = make<T>(at);
    node->length = at->length;
    advance();
    return node;
  }
  Expr* errorExpr() { return make<ErrorExpr>(at); }
  TypeExpr* errorType() { return make<ErrorType>(at); }
  Pattern* errorPattern() { return make<ErrorPattern>(at); }
  Seq<std::string_view> docOf(const Token* t) const;
  Seq<std::string_view> docLines(uint32_t first, uint32_t count) const;
  Seq<std::string_view> moduleDoc() const;

  // ---- errors and recovery (parser.cpp) ----
  // Reports and panics; silent (into a dummy) while panicking.
  Diagnostic& fail(Span at, std::string sentence);
  Diagnostic& failExpected(const char* what);
  bool failUnclosedBracket();
  // Reports without a panic: the parser knows what was meant and goes on.
  Diagnostic& complain(Span at, std::string sentence);
  void synchronize();
  bool stopsSkipping() const;
  void skipToHeaderEnd(TokenKind word, bool consume = true);
  void expectStatementEnd();

  // ---- nesting ----
  // One level of recursion. False past MaxNesting: one error, and the rest of the file is not read.
  struct Nest {
    explicit Nest(Parser& p) : p(p), ok(++p.depth <= MaxNesting) { if (!ok) p.tooDeep(); }
    ~Nest() { p.depth--; }
    explicit operator bool() const { return ok; }
    Parser& p;
    bool ok;
  };
  void tooDeep();

  // Whether an `else` may belong to something around the current expression, and the line of that one's `then`.
  struct ElseOwner { bool accepts = false; uint32_t thenLine = 0; };
  struct WithElse {
    WithElse(Parser& p, ElseOwner owner) : p(p), saved(p.elseOwner) { p.elseOwner = owner; }
    ~WithElse() { p.elseOwner = saved; }
    Parser& p;
    ElseOwner saved;
  };
  bool elseBelongsToTry() const;

  // Inside brackets: line ends do not count, and an `else` cannot reach out.
  struct Brackets {
    explicit Brackets(Parser& p)
        : p(p), opener(p.at), outer(p.bracketOpener), open(p.openBrackets), owner(p.elseOwner), params(p.inParams) {
      p.bracketOpener = opener;
      p.openBrackets++;
      p.elseOwner = {};
      p.inParams = false;
      p.advance();
    }
    ~Brackets() {
      p.bracketOpener = outer;
      p.openBrackets = open;
      p.elseOwner = owner;
      p.inParams = params;
    }
    bool close(TokenKind kind);   // consumes the closing bracket or reports where the opening one stands
    Parser& p;
    const Token* opener;
    const Token* outer;
    uint32_t open;
    ElseOwner owner;
    bool params;
  };

  // A block that `end` will close. While it lasts it is on the list of open ones.
  enum Stops : uint32_t { StopElse = 1, StopElif = 2, StopCase = 4, StopRecover = 8 };
  struct OpenBlock {
    const Token* opener;     // the word that began it
    uint32_t indent;         // column of the first token on its line
    uint32_t stops;          // which words besides `end` end a part of it
    uint8_t plus;            // steps that its items are indented by: 1, in the arms of a `match` 2
  };
  uint32_t indentOf(const Token* opener) const;
  void openBlock(const Token* opener, uint32_t stops) {
    openBlocks.push_back({opener, indentOf(opener), stops, uint8_t(stops & StopCase ? 2 : 1)});
    markBody(opener);
  }
  void closeBlock();         // consumes the `end` of the innermost open block, or reports that it is missing
  void reportUnclosed(const Token* opener);

  // ---- expressions (parse_expr.cpp) ----
  Expr* parseExpr();
  static constexpr int NotLevel = 3, CompareLevel = 4, RangeLevel = 5, AddLevel = 6;   // in the precedences of ast.h
  Expr* parseBinary(int minimum);
  Expr* parsePrefix(int minimum);
  Expr* parseNot(int minimum);
  Expr* parseRangeRest(Expr* low, const Token* start);
  Expr* parsePostfix(Expr* base, const Token* start);
  Expr* parseIndex(Expr* base, const Token* start);
  Expr* parseCall(Expr* base, const Token* start);
  Expr* parseMember(Expr* base, const Token* start);
  Expr* parsePrimary();
  Expr* parseNameExpr();
  Expr* parseLiteral();
  Expr* parseInterpolation();
  Expr* parseParens(bool closureOnly, bool isMove, const Token* start);
  Expr* parseArrow(Seq<Param> params, bool isMove, const Token* start);
  Expr* parseList();
  Expr* parseBraces();
  Expr* parseIfExpr();
  Expr* parseMatchExpr();
  Expr* parseTry();
  Expr* parseSpawn();
  Expr* parseMove();
  Expr* parseFuncExpr(bool isMove, const Token* start);
  bool funcIsType() const;
  Expr* parseValueOrJump();
  Arg parseArg();
  Seq<Arg> parseArgs(Brackets& brackets, TokenKind close);
  Expr* typeLiteral(TypeExpr* type, const Token* start);
  Expr* typeSuffixOf(Expr* base, const Token* start);
  Seq<Expr*> parseExprList();

  // ---- types (parse_type.cpp) ----
  TypeExpr* parseType();
  TypeExpr* parseTypePrimary();
  TypeExpr* parseTypeSuffixes(TypeExpr* base, const Token* start);
  TypeExpr* parseNamedType();
  TypeExpr* parseTensorType(TensorFamily family);
  TypeExpr* parseArrayType();
  template <class T> TypeExpr* parseOfType();
  template <class T> TypeExpr* parsePrefixType();
  TypeExpr* parseMapType();
  TypeExpr* parseTupleType();
  TypeExpr* parseFuncType();
  TypeExpr* markType(TypeExpr* base, bool tracked, bool onGpu, const Token* start);
  Seq<Expr*> parseTypeArgs();
  ResultType parseResult();
  FailsClause parseFails();
  bool nextIsParameter() const;
  FailureName parseFailureName();
  Seq<Name> parsePath(uint32_t most);

  // ---- patterns (parse_stmt.cpp) ----
  Pattern* parsePattern();
  Pattern* parseLiteralPattern();
  Pattern* parseNameOrCasePattern();
  Pattern* parseTuplePattern(bool binding);
  Pattern* rangePattern(Expr* low, const Token* start);
  Pattern* parseBinding();
  LoopHead parseLoopHead();

  // ---- statements (parse_stmt.cpp) ----
  Block parseBlock(const Token* opener, uint32_t stops, ElseOwner owner);
  void parseStatements(Gather<Stmt*>& into, uint32_t stops);
  bool endsBlock(uint32_t stops);
  bool someBlockStopsAt(TokenKind kind) const;
  Block parseBlockAndEnd(const Token* opener);
  Stmt* parseStatement();
  Stmt* parseWordStatement();
  Stmt* parseMistakenWord();
  Stmt* parseLocal();
  Stmt* parseConstStmt();
  Stmt* parseSimpleStatement();
  Stmt* parseIf();
  Stmt* parseWhile();
  Stmt* parseFor();
  Stmt* parseLoop();
  Stmt* parseMatchStmt();
  Stmt* parseAssert();
  Stmt* parseTape();
  Stmt* parseEach();
  Stmt* parseTasks();
  Stmt* parseAttempt();
  Stmt* parseJump();
  std::string quote(const Expr* e) const;
  Condition parseCondition();
  Mode parseMatchMode();
  bool parseArmHead(MatchArm& arm, bool hadElse);
  void expectHeader(TokenKind word, const char* purpose);
  bool opensBareBlock() const;
  bool parseMisplacedFunction();
  void skipToArm();

  // ---- declarations (parse_decl.cpp) ----
  void parseDeclarations(Module* module);
  void parseDeclaration(Gather<Decl*>& into);
  Seq<Attribute> parseAttributes();
  void parseConsts(Gather<Decl*>& into, const Token* start);
  ConstDecl* parseConstRest(const Token* start);
  Decl* parseFunc(const Token* start);
  Decl* parseTypeDecl(const Token* start);
  Decl* parseFailure(const Token* start);
  Decl* parseTest(const Token* start);
  Decl* parseImport(const Token* start);
  Seq<GenericParam> parseGenerics();
  Seq<Param> parseParams();
  void parseParamGroup(Gather<Param>& into);
  void parseFieldGroup(Gather<FieldDecl>& into);
  Seq<FieldDecl> parseFieldsInParens();
  Seq<FieldDecl> parseRecordBody(const Token* opener);
  Seq<CaseDecl> parseChoiceBody(const Token* opener);
  Expr* parseDefault();
  bool expectAssign(const char* purpose);
  void skipToDeclaration();
  template <class T> void parseLines(const Token* opener, T&& parseOne);

  Context& context;
  const Tokens& tokens;
  ParseMode mode;
  Layout* layout;              // optional
  const Token* at;             // the current token
  const Token* last;           // EndOfFile
  const Token* previous;       // the last one consumed
  uint32_t previousEnd = 0;    // its end
  uint32_t openBrackets = 0;
  uint32_t depth = 0;
  uint32_t panicBrackets = 0;  // openBrackets when the panic began
  bool panic = false;
  const Token* resumed = nullptr;  // where `synchronize` stopped last
  bool gaveUp = false;         // past MaxNesting: nothing more is reported
  bool inParams = false;       // directly in the parentheses of a parameter list
  ElseOwner elseOwner;
  std::vector<OpenBlock> openBlocks;
  const Token* bracketOpener = nullptr;   // of the innermost open bracket
  const Token* elseIf = nullptr;       // an `if` behind `else` in this declaration
  const Token* suspect = nullptr;      // the block whose `end` seems to be missing
  const Token* unclosedAt = nullptr;   // where a missing `end` was last reported
  Diagnostic silenced;
};

// The type that an expression spells; a tensor or array may still lack the element that `of` gives.
TypeExpr* typeFromExprOpen(Context& context, Expr* expr);

}  // namespace mica
