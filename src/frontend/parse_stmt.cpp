// Blocks, statements and patterns.
#include <algorithm>

#include "frontend/parser_impl.h"
#include "frontend/spelling.h"

namespace mica {

// ---- blocks ----

// The column where the line of a block's first word begins. 0, which no `end` undercuts, on very long lines.
uint32_t Parser::indentOf(const Token* opener) const {
  const Token* first = tokens.list.data();
  for (int steps = 0; steps < 64; steps++, opener--)
    if (opener->firstOnLine || opener == first) return opener->column;
  return 0;
}

void Parser::closeBlock() {
  OpenBlock block = openBlocks.back();
  openBlocks.pop_back();
  if (is(TokenKind::End)) {
    markItem(block.opener, 0);
    // This `end` looks like that of a block further out: if one is missing in the end, it is this block's.
    if (at->firstOnLine && at->column < block.indent && !suspect) suspect = block.opener;
    advance();
    return;
  }
  reportUnclosed(block.opener);
}

void Parser::reportUnclosed(const Token* opener) {
  if (unclosedAt == at || (is(TokenKind::EndOfFile) && tokens.unfinished)) return;   // one report for all blocks that end here
  unclosedAt = at;
  const Token* blamed = suspect ? suspect : opener;
  suspect = nullptr;
  std::string word(context.sources.text(tokens.file).substr(blamed->offset, blamed->length));
  Diagnostic& d = complain(spanOf(blamed), "this `" + word + "` is not closed");
  if (!is(TokenKind::EndOfFile)) d.label(spanOf(at), "`end` is missing before this");
  if (elseIf) d.label(spanOf(elseIf)).note("an `if` behind `else` needs an `end` of its own; `elif` does not");
}

bool Parser::someBlockStopsAt(TokenKind kind) const {
  uint32_t stop = kind == TokenKind::Else ? StopElse : kind == TokenKind::Elif ? StopElif : kind == TokenKind::Case ? StopCase : StopRecover;
  for (size_t i = openBlocks.size(); i-- > 0; ) if (openBlocks[i].stops & stop) return true;
  return false;
}

// Is the current token the end of a block that stops at these words? What belongs to no block at all is reported and skipped.
bool Parser::endsBlock(uint32_t stops) {
  switch (at->kind) {
    case TokenKind::EndOfFile: return true;
    case TokenKind::End: return !openBlocks.empty();
    case TokenKind::Else: if (stops & StopElse) return true; break;
    case TokenKind::Elif: if (stops & StopElif) return true; break;
    case TokenKind::Case: if (stops & StopCase) return true; break;
    case TokenKind::Recover: if (stops & StopRecover) return true; break;
    default:
      if (!startsDeclaration() || openBlocks.empty()) return false;
      if (parseMisplacedFunction()) return endsBlock(stops);
      return at->firstOnLine && at->column <= openBlocks.front().indent;
  }
  if (someBlockStopsAt(at->kind)) return true;   // it is the inner block that has no end
  if (at == resumed && !at->firstOnLine) panic = true;   // the rest of what went wrong before
  const char* home = is(TokenKind::Case) ? "`match`" : is(TokenKind::Recover) ? "`attempt`" : "`if`";
  complain(spanOf(at), "this " + std::string(describe(at->kind)) + " belongs to no " + home);
  advance();
  panic = true;   // the rest of its line says nothing new
  panicBrackets = openBrackets;
  synchronize();
  return endsBlock(stops);
}

// `func Name` inside a function and indented like a statement: read as a declaration, so that its `end` finds it, and dropped.
bool Parser::parseMisplacedFunction() {
  if (!is(TokenKind::Func) || at->column <= openBlocks.front().indent) return false;
  complain(spanOf(at), "a function is declared at the level of the file")
      .note("a closure has no name of its own: `let f := func(…) … end`");
  parseFunc(at);
  if (panic) synchronize();
  return true;
}

void Parser::parseStatements(Gather<Stmt*>& into, uint32_t stops) {
  for (;;) {
    while (accept(TokenKind::Semicolon)) {}
    if (endsBlock(stops)) return;
    const Token* before = at;
    if (openBlocks.empty()) markItem(nullptr, 0);
    else markItem(openBlocks.back().opener, openBlocks.back().plus);
    Stmt* statement = parseStatement();
    expectStatementEnd();
    if (at == before) advance();
    into.add(statement);
  }
}

Block Parser::parseBlock(const Token* opener, uint32_t stops, ElseOwner owner) {
  Block block;
  block.begin = placeOf(opener);
  Nest nest(*this);
  if (!nest) return block;
  uint32_t brackets = openBrackets;
  bool params = inParams;
  openBrackets = 0;
  inParams = false;
  WithElse guard(*this, owner);
  Gather<Stmt*> statements;
  parseStatements(statements, stops);
  openBrackets = brackets;
  inParams = params;
  block.statements = statements.copyTo(context.arena);
  block.end = placeOf(at);
  return block;
}

// The body of a statement or function that has one block only.
Block Parser::parseBlockAndEnd(const Token* opener) {
  openBlock(opener, 0);
  Block block = parseBlock(opener, 0, {});
  closeBlock();
  return block;
}

void Parser::expectHeader(TokenKind word, const char* purpose) {
  if (!panic) expect(word, purpose);
  skipToHeaderEnd(word);
}

// ---- statements ----

Stmt* Parser::parseStatement() {
  switch (at->kind) {
    case TokenKind::Let: case TokenKind::Var: return parseLocal();
    case TokenKind::Const: return parseConstStmt();
    case TokenKind::If: return parseIf();
    case TokenKind::While: return parseWhile();
    case TokenKind::For: return parseFor();
    case TokenKind::Loop: return parseLoop();
    case TokenKind::Match: return parseMatchStmt();
    case TokenKind::Assert: return parseAssert();
    case TokenKind::Attempt: return parseAttempt();
    case TokenKind::Return: case TokenKind::Break: case TokenKind::Continue: case TokenKind::Fail: return parseJump();
    case TokenKind::Name: return parseWordStatement();
    default: break;
  }
  if (startsExpr(*at)) return parseSimpleStatement();
  const Token* start = at;
  Diagnostic& d = fail(spanOf(at), "a statement cannot begin with " + found());
  if (at->kind >= TokenKind::Equal && at->kind <= TokenKind::DotDotLess && at->kind != TokenKind::Arrow)
    d.note("an operator stands at the end of a line that goes on");
  return make<ErrorStmt>(start);
}

// A statement that begins with a name, which may be one of the words.
Stmt* Parser::parseWordStatement() {
  const Token& next = peek();
  switch (at->value) {
    case word::TapeIndex: if (opensBareBlock()) return parseTape(); break;
    case word::TasksIndex:
      if (opensBareBlock() || (next.kind == TokenKind::Name && next.value == word::Limit.index)) return parseTasks();
      break;
    case word::EachIndex: if (next.kind == TokenKind::Name && !next.firstOnLine) return parseEach(); break;
    case word::ParallelIndex: if (next.kind == TokenKind::For) return parseFor(); break;
    default: break;
  }
  if (!next.firstOnLine && (next.kind == TokenKind::Name || (next.kind >= TokenKind::Integer && next.kind <= TokenKind::StringHead))) {
    if (Stmt* mistaken = parseMistakenWord()) return mistaken;
  }
  return parseSimpleStatement();
}

// A name before an operand begins no statement: a word misspelt or of another language, or a variable declared by its type. Null for what is neither.
Stmt* Parser::parseMistakenWord() {
  const Token* start = at;
  std::string word(context.names.text(NameId{at->value}));
  bool isType = std::find(std::begin(TypeWords), std::end(TypeWords), word) != std::end(TypeWords);
  if (peek().kind == TokenKind::Name && (isType || foreignType(word)) && at + 2 <= last && (at[2].kind == TokenKind::Assign || at[2].kind == TokenKind::Equal)) {
    std::string name(context.names.text(NameId{peek().value}));
    complain(spanOf(at), "a variable is declared by `let` or `var`").note("write `var " + name + (isType ? ": " + word : "") + " := …`");
    LocalStmt* node = make<LocalStmt>(start);
    node->isVar = true;
    if (isType) node->type = parseType();
    else advance();
    node->pattern = parseBinding();
    advance();
    node->value = parseExpr();
    return finish(node, start);
  }
  const char* foreign = foreignStatement(word);
  std::string guess = foreign ? "" : nearest(word, {"let", "var", "if", "elif", "else", "while", "for", "match", "case", "assert", "return", "fail", "const", "each"});
  if (!foreign && guess.empty()) return nullptr;
  fail(spanOf(at), "`" + word + "` begins no statement").note(foreign ? foreign : "perhaps `" + guess + "`");
  advance();
  return make<ErrorStmt>(start);
}

// Behind `tape` or `tasks`: does a block follow, rather than the rest of an expression?
bool Parser::opensBareBlock() const {
  const Token& next = peek();
  if (next.firstOnLine) return true;
  switch (next.kind) {
    case TokenKind::EndOfFile: case TokenKind::Semicolon: case TokenKind::Name: case TokenKind::Let: case TokenKind::Var:
    case TokenKind::If: case TokenKind::While: case TokenKind::For: case TokenKind::Loop: case TokenKind::Match:
    case TokenKind::Return: case TokenKind::Break: case TokenKind::Continue: case TokenKind::Assert:
    case TokenKind::Attempt: case TokenKind::Fail: case TokenKind::Const: case TokenKind::End:
      return true;
    default: return false;
  }
}

bool Parser::expectAssign(const char* purpose) {
  if (is(TokenKind::Equal) && sameLine()) {
    complain(spanOf(at), "`=` compares").note("write `:=` to give a value");
    advance();
    return true;
  }
  return expect(TokenKind::Assign, purpose);
}

// `let p: T := v`, `let inout x := v`, `var p := v`
Stmt* Parser::parseLocal() {
  const Token* start = at;
  LocalStmt* node = make<LocalStmt>(start);
  node->isVar = is(TokenKind::Var);
  advance();
  if (is(TokenKind::Inout)) {
    if (node->isVar) complain(spanOf(at), "`inout` names a place, and `var` holds a value of its own").note("write `let inout`");
    node->isInout = !node->isVar;
    advance();
  }
  node->pattern = parseBinding();
  if (!panic && accept(TokenKind::Colon)) node->type = parseType();
  if (!panic && is(TokenKind::Comma)) fail(spanOf(at), "a declaration names one variable").note("several values are taken apart by `let (a, b) := …`");
  node->value = !panic && expectAssign("and the value") ? parseExpr() : errorExpr();
  return finish(node, start);
}

Stmt* Parser::parseConstStmt() {
  const Token* start = at;
  ConstStmt* node = make<ConstStmt>(start);
  advance();
  node->declaration = parseConstRest(start);
  return finish(node, start);
}

// The source of an expression for a note; a long one is cut.
std::string Parser::quote(const Expr* e) const {
  std::string_view text = context.sources.quote(e->span());
  text = text.substr(0, text.find('\n'));
  return text.size() <= 60 ? std::string(text) : "…";
}

// An assignment or an expression.
Stmt* Parser::parseSimpleStatement() {
  const Token* start = at;
  Expr* left = parseExpr();
  AssignOp op;
  switch (panic ? TokenKind::Error : at->kind) {
    case TokenKind::Assign: op = AssignOp::Set; break;
    case TokenKind::PlusAssign: op = AssignOp::Add; break;
    case TokenKind::MinusAssign: op = AssignOp::Sub; break;
    case TokenKind::StarAssign: op = AssignOp::Mul; break;
    case TokenKind::SlashAssign: op = AssignOp::Div; break;
    case TokenKind::Comma:
      fail(spanOf(at), "a `,` stands outside of brackets").note("several places are assigned by `(a, b) := (b, a)`");
      left = errorExpr();
      [[fallthrough]];
    default: {
      auto* comparison = tryAs<BinaryExpr>(left);
      if (comparison && comparison->op == BinaryOp::Equal && !comparison->parenthesized)
        complain(comparison->opSpan(), "`=` compares, and this is a statement").note("write `" + quote(comparison->left) + " := " + quote(comparison->right) + "`");
      ExprStmt* node = make<ExprStmt>(start);
      node->value = left;
      return finish(node, start);
    }
  }
  AssignStmt* node = make<AssignStmt>(start);
  node->op = op;
  node->opPlace = placeOf(at);
  node->target = left;
  advance();
  node->value = parseExpr();
  return finish(node, start);
}

Condition Parser::parseCondition() {
  Condition condition;
  if (!accept(TokenKind::Let)) {
    condition.value = parseExpr();
    if (!panic && is(TokenKind::Assign)) {
      fail(spanOf(at), "`:=` is no comparison").note("write `=` to compare, or `let x := maybe` to look into an optional");
      condition.value = errorExpr();
    }
    return condition;
  }
  condition.isLet = true;
  if (accept(TokenKind::Inout)) condition.mode = Mode::Inout;
  else if (accept(TokenKind::Move)) condition.mode = Mode::Move;
  condition.pattern = parseBinding();
  if (!panic && accept(TokenKind::Colon)) condition.type = parseType();
  condition.value = !panic && expectAssign("and the optional") ? parseExpr() : errorExpr();
  return condition;
}

Stmt* Parser::parseIf() {
  const Token* start = at;
  IfStmt* node = make<IfStmt>(start);
  if (previous->kind == TokenKind::Else && !at->firstOnLine) elseIf = at;
  openBlock(start, StopElse | StopElif);
  Gather<IfStmt::Branch> branches;
  do {
    IfStmt::Branch branch;
    const Token* opener = at;
    branch.place = placeOf(at);
    if (opener != start) markItem(start, 0);
    advance();
    branch.condition = parseCondition();
    uint32_t thenLine = at->line;
    expectHeader(TokenKind::Then, "after the condition");
    branch.body = parseBlock(opener, StopElse | StopElif, {true, thenLine});
    branches.add(branch);
  } while (is(TokenKind::Elif));
  node->branches = branches.copyTo(context.arena);
  if (is(TokenKind::Else)) {
    const Token* opener = at;
    markItem(start, 0);
    advance();
    node->hasElse = true;
    openBlocks.back().stops = 0;
    node->otherwise = parseBlock(opener, 0, {});
  }
  closeBlock();
  return finish(node, start);
}

Stmt* Parser::parseWhile() {
  const Token* start = at;
  WhileStmt* node = make<WhileStmt>(start);
  advance();
  node->condition = parseCondition();
  expectHeader(TokenKind::Do, "after the condition");
  node->body = parseBlockAndEnd(start);
  return finish(node, start);
}

// `mode index, item in source by step`
LoopHead Parser::parseLoopHead() {
  LoopHead head;
  auto acceptMode = [&] {
    if (accept(TokenKind::Inout)) head.mode = Mode::Inout;
    else if (accept(TokenKind::Move)) head.mode = Mode::Move;
  };
  acceptMode();
  head.item = parseBinding();
  if (!panic && accept(TokenKind::Comma)) {
    head.index = head.item;
    acceptMode();
    head.item = parseBinding();
  }
  head.source = !panic && expect(TokenKind::In, "and what the loop walks") ? parseExpr() : errorExpr();
  if (!panic && isWordOnLine(word::By)) {
    advance();
    head.step = parseExpr();
  }
  return head;
}

Stmt* Parser::parseFor() {
  const Token* start = at;
  ForStmt* node = make<ForStmt>(start);
  node->isParallel = !accept(TokenKind::For);
  if (node->isParallel) {
    advance();
    advance();
  }
  node->head = parseLoopHead();
  expectHeader(TokenKind::Do, "after the head of the loop");
  node->body = parseBlockAndEnd(start);
  return finish(node, start);
}

Stmt* Parser::parseLoop() {
  const Token* start = at;
  LoopStmt* node = make<LoopStmt>(start);
  advance();
  expectHeader(TokenKind::Do, "after `loop`");
  node->body = parseBlockAndEnd(start);
  return finish(node, start);
}

Mode Parser::parseMatchMode() {
  if (accept(TokenKind::Inout)) return Mode::Inout;
  // `match move v`; a closure could begin with `move` too, but none can be matched.
  if (accept(TokenKind::Move)) return Mode::Move;
  return Mode::Read;
}

// `case p, q if guard then`, or `else`. Answers whether it was `else`.
bool Parser::parseArmHead(MatchArm& arm, bool hadElse) {
  arm.place = placeOf(at);
  if (hadElse) complain(spanOf(at), "`else` is the last arm of a `match`");
  if (accept(TokenKind::Else)) {
    arm.isElse = true;
    accept(TokenKind::Then);
    return true;
  }
  advance();
  Gather<Pattern*> patterns;
  do patterns.add(parsePattern()); while (!panic && accept(TokenKind::Comma));
  arm.patterns = patterns.copyTo(context.arena);
  if (!panic && accept(TokenKind::If)) arm.guard = parseExpr();
  expectHeader(TokenKind::Then, "after the pattern");
  return false;
}

// After an error in a `match`: on to the next arm or the end.
void Parser::skipToArm() {
  if (!panic) return;
  synchronize();
  while (!is(TokenKind::Case) && !is(TokenKind::Else) && !is(TokenKind::End) && !is(TokenKind::EndOfFile) && !startsDeclaration())
    advance();
}

Stmt* Parser::parseMatchStmt() {
  const Token* start = at;
  MatchStmt* node = make<MatchStmt>(start);
  advance();
  node->mode = parseMatchMode();
  node->subject = parseExpr();
  skipToHeaderEnd(TokenKind::Case, false);
  openBlock(start, StopCase | StopElse);
  if (!is(TokenKind::Case) && !is(TokenKind::End)) failExpected("`case`");
  if (panic) node->subject = errorExpr();
  skipToArm();
  Gather<MatchArm> arms;
  bool hadElse = false;
  while (is(TokenKind::Case) || is(TokenKind::Else)) {
    MatchArm arm;
    const Token* opener = at;
    markItem(start, 1);
    hadElse |= parseArmHead(arm, hadElse);
    arm.body = parseBlock(opener, StopCase | StopElse, {!arm.isElse, start->line});
    arms.add(arm);
  }
  node->arms = arms.copyTo(context.arena);
  closeBlock();
  return finish(node, start);
}

Stmt* Parser::parseAssert() {
  const Token* start = at;
  AssertStmt* node = make<AssertStmt>(start);
  advance();
  node->condition = parseExpr();
  if (!panic && accept(TokenKind::Comma)) node->message = parseExpr();
  return finish(node, start);
}

Stmt* Parser::parseTape() {
  const Token* start = at;
  TapeStmt* node = make<TapeStmt>(start);
  advance();
  node->body = parseBlockAndEnd(start);
  return finish(node, start);
}

// `each p, q at path in a, b do`
Stmt* Parser::parseEach() {
  const Token* start = at;
  EachStmt* node = make<EachStmt>(start);
  advance();
  Gather<Name> names;
  do names.add(expectName("a name")); while (!panic && accept(TokenKind::Comma));
  node->names = names.copyTo(context.arena);
  if (!panic && isWord(word::At)) {
    advance();
    node->path = expectName("a name for the path");
  }
  if (!panic && expect(TokenKind::In, "and the records to walk")) node->records = parseExprList();
  if (!panic && node->records.size() != node->names.size())
    complain(names[0].span(), "`each` walks " + std::to_string(node->records.size()) + (node->records.size() == 1 ? " record" : " records") +
                                  " with " + std::to_string(node->names.size()) + (node->names.size() == 1 ? " name" : " names"));
  expectHeader(TokenKind::Do, "after the head of `each`");
  node->body = parseBlockAndEnd(start);
  return finish(node, start);
}

Stmt* Parser::parseTasks() {
  const Token* start = at;
  TasksStmt* node = make<TasksStmt>(start);
  advance();
  if (isWordOnLine(word::Limit) && peek().kind == TokenKind::Colon) {
    advance();
    advance();
    node->limit = parseExpr();
    skipToHeaderEnd(TokenKind::EndOfFile);
  }
  node->body = parseBlockAndEnd(start);
  return finish(node, start);
}

Stmt* Parser::parseAttempt() {
  const Token* start = at;
  AttemptStmt* node = make<AttemptStmt>(start);
  advance();
  openBlock(start, StopRecover);
  node->body = parseBlock(start, StopRecover, {});
  Gather<AttemptStmt::Arm> arms;
  while (is(TokenKind::Recover)) {
    AttemptStmt::Arm arm;
    const Token* opener = at;
    arm.place = placeOf(at);
    markItem(start, 0);
    advance();
    arm.name = expectName("a name for the failure");
    if (!panic && expect(TokenKind::Colon, "and the failure")) {
      if (isWord(word::Any)) {
        arm.any = true;
        advance();
      } else {
        arm.failure = parseFailureName();
      }
      if (!panic && is(TokenKind::Comma)) fail(spanOf(at), "an arm takes one failure or `any`").note("write an arm for each");
    }
    if (panic) arm.any = true;
    skipToHeaderEnd(TokenKind::EndOfFile);
    arm.body = parseBlock(opener, StopRecover, {});
    arms.add(arm);
  }
  node->arms = arms.copyTo(context.arena);
  if (arms.size() == 0 && is(TokenKind::End))
    complain(spanOf(start), "this `attempt` has no `recover`").note("`recover e: any` takes every failure");
  closeBlock();
  return finish(node, start);
}

// `return v`, `break`, `continue`, `fail F(…)`
Stmt* Parser::parseJump() {
  const Token* start = at;
  TokenKind kind = at->kind;
  advance();
  if (kind == TokenKind::Break) return finish(make<BreakStmt>(start), start);
  if (kind == TokenKind::Continue) return finish(make<ContinueStmt>(start), start);
  if (kind == TokenKind::Return) {
    ReturnStmt* node = make<ReturnStmt>(start);
    if (startsExpr(*at) && sameLine()) node->value = parseExpr();
    return finish(node, start);
  }
  FailStmt* node = make<FailStmt>(start);
  if (startsExpr(*at) && sameLine()) node->value = parseExpr();
  else {
    failExpected("a failure");
    node->value = errorExpr();
  }
  return finish(node, start);
}

// ---- patterns ----

// What `let`, `for` and `if let` bind: a name, `_`, or a tuple of those.
Pattern* Parser::parseBinding() {
  Nest nest(*this);
  if (!nest) return errorPattern();
  if (is(TokenKind::LeftParen)) return parseTuplePattern(true);
  const Token* start = at;
  if (isWord(word::Discard)) return leaf<DiscardPattern>();
  Name name = expectName("a variable");
  if (!name) return errorPattern();
  NamePattern* node = make<NamePattern>(start);
  node->name = name.id;
  return finish(node, start);
}

Pattern* Parser::parsePattern() {
  Nest nest(*this);
  if (!nest) return errorPattern();
  switch (at->kind) {
    case TokenKind::Name:
      if (isWord(word::Discard)) return leaf<DiscardPattern>();
      return parseNameOrCasePattern();
    case TokenKind::LeftParen: return parseTuplePattern(false);
    case TokenKind::Integer: case TokenKind::Float: case TokenKind::Char: case TokenKind::String: case TokenKind::True:
    case TokenKind::False: case TokenKind::None: case TokenKind::Minus:
      return parseLiteralPattern();
    default:
      failExpected("a pattern");
      return errorPattern();
  }
}

Pattern* Parser::parseTuplePattern(bool binding) {
  const Token* start = at;
  Gather<Pattern*> elements;
  Brackets brackets(*this);
  while (!is(TokenKind::RightParen) && !panic) {
    elements.add(binding ? parseBinding() : parsePattern());
    if (!accept(TokenKind::Comma)) break;
  }
  brackets.close(TokenKind::RightParen);
  if (elements.size() == 1) return elements[0];
  TuplePattern* node = make<TuplePattern>(start);
  node->elements = elements.copyTo(context.arena);
  finish(node, start);
  if (elements.size() > 0) return node;
  complain(node->span(), "a pattern is missing between these parentheses");
  return errorPattern();
}

Pattern* Parser::parseLiteralPattern() {
  const Token* start = at;
  Expr* value;
  if (is(TokenKind::Minus)) {
    UnaryExpr* negative = make<UnaryExpr>(start);
    markTight(at, 2);
    advance();
    if (!is(TokenKind::Integer) && !is(TokenKind::Float)) {
      failExpected("a number");
      return errorPattern();
    }
    negative->operand = parseLiteral();
    value = finish(negative, start);
  } else {
    value = parseLiteral();
  }
  if (is(TokenKind::DotDot) || is(TokenKind::DotDotLess)) return rangePattern(value, start);
  LiteralPattern* node = make<LiteralPattern>(start);
  node->value = value;
  return finish(node, start);
}

// At the `..` or `..<` behind the low bound.
Pattern* Parser::rangePattern(Expr* low, const Token* start) {
  RangePattern* node = make<RangePattern>(start);
  node->low = low;
  node->halfOpen = is(TokenKind::DotDotLess);
  advance();
  node->high = parseBinary(AddLevel);   // a constant
  return finish(node, start);
}

// `x`, `Empty`, `Object(fields)`, `Shape.Circle(r: radius)`, `Low .. High`
Pattern* Parser::parseNameOrCasePattern() {
  const Token* start = at;
  Seq<Name> path = parsePath(3);
  if (!panic && (is(TokenKind::DotDot) || is(TokenKind::DotDotLess)) && path.size() <= 2) {
    NameExpr* name = makeAt<NameExpr>(path[0].place);
    name->name = path[0].id;
    name->length = path[0].length;
    Expr* low = name;
    if (path.size() == 2) {
      FieldExpr* field = makeAt<FieldExpr>(path[0].place);
      field->base = name;
      field->name = path[1];
      low = finish(field, start);
    }
    return rangePattern(low, start);
  }
  bool hasParts = is(TokenKind::LeftParen) && !at->firstOnLine;
  if (path.size() == 1 && !hasParts) {
    NamePattern* node = make<NamePattern>(start);
    node->name = path[0].id;
    return finish(node, start);
  }
  CasePattern* node = make<CasePattern>(start);
  node->path = path;
  node->hasParts = hasParts;
  if (hasParts && !panic) {
    markTight(at);
    Brackets brackets(*this);
    Gather<CasePattern::Part> parts;
    while (!is(TokenKind::RightParen) && !panic) {
      CasePattern::Part part;
      if (is(TokenKind::Name) && peek().kind == TokenKind::Colon) {
        part.field = nameOf(at);
        advance();
        advance();
      }
      part.pattern = parsePattern();
      parts.add(part);
      if (!accept(TokenKind::Comma)) break;
    }
    brackets.close(TokenKind::RightParen);
    node->parts = parts.copyTo(context.arena);
  }
  return finish(node, start);
}

}  // namespace mica
