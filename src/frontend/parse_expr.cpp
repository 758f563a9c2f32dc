// Expressions: precedence climbing over the table in ast.h, then postfix forms, then what stands alone.
#include "frontend/parser_impl.h"
#include "frontend/spelling.h"

namespace mica {

namespace {
struct Operator { BinaryOp op; int precedence; };   // precedence 0: no binary operator
}

static Operator operatorOf(TokenKind kind) {
  static constexpr int precedences[] = {
#define X(name, text, precedence) precedence,
      MICA_BINARY_OPS(X)
#undef X
  };
  auto of = [](BinaryOp op) { return Operator{op, precedences[size_t(op)]}; };
  switch (kind) {
    case TokenKind::Or: return of(BinaryOp::Or);
    case TokenKind::And: return of(BinaryOp::And);
    case TokenKind::Equal: return of(BinaryOp::Equal);
    case TokenKind::NotEqual: return of(BinaryOp::NotEqual);
    case TokenKind::Less: return of(BinaryOp::Less);
    case TokenKind::LessEqual: return of(BinaryOp::LessEqual);
    case TokenKind::Greater: return of(BinaryOp::Greater);
    case TokenKind::GreaterEqual: return of(BinaryOp::GreaterEqual);
    case TokenKind::In: return of(BinaryOp::In);
    case TokenKind::Plus: return of(BinaryOp::Add);
    case TokenKind::Minus: return of(BinaryOp::Sub);
    case TokenKind::PlusWrap: return of(BinaryOp::AddWrap);
    case TokenKind::MinusWrap: return of(BinaryOp::SubWrap);
    case TokenKind::Bor: return of(BinaryOp::Bor);
    case TokenKind::Bxor: return of(BinaryOp::Bxor);
    case TokenKind::Star: return of(BinaryOp::Mul);
    case TokenKind::StarWrap: return of(BinaryOp::MulWrap);
    case TokenKind::DotStar: return of(BinaryOp::MulElements);
    case TokenKind::Slash: return of(BinaryOp::Div);
    case TokenKind::DotSlash: return of(BinaryOp::DivElements);
    case TokenKind::Div: return of(BinaryOp::IntDiv);
    case TokenKind::Mod: return of(BinaryOp::Mod);
    case TokenKind::Rem: return of(BinaryOp::Rem);
    case TokenKind::Shl: return of(BinaryOp::Shl);
    case TokenKind::Shr: return of(BinaryOp::Shr);
    case TokenKind::Band: return of(BinaryOp::Band);
    default: return {BinaryOp::Or, 0};
  }
}

std::string_view ast::spelling(BinaryOp op) {
  static constexpr std::string_view texts[] = {
#define X(name, text, precedence) text,
      MICA_BINARY_OPS(X)
#undef X
  };
  return texts[size_t(op)];
}

std::string_view ast::spelling(UnaryOp op) {
  return op == UnaryOp::Neg ? "-" : op == UnaryOp::Bnot ? "bnot" : "not";
}

Expr* Parser::parseExpr() {
  Nest nest(*this);
  if (!nest) return errorExpr();
  Expr* e = parseBinary(1);
  return panic ? errorExpr() : e;   // what was read of it would only give more messages
}

// Operators of at least the given precedence. A chain of one level is a loop, so its length costs no stack.
Expr* Parser::parseBinary(int minimum) {
  const Token* start = at;
  Expr* left = parsePrefix(minimum);
  int compared = 0;
  while (!panic && sameLine()) {
    if (is(TokenKind::DotDot) || is(TokenKind::DotDotLess)) {
      if (minimum > RangeLevel) return left;
      left = parseRangeRest(left, start);
      continue;
    }
    auto [op, precedence] = operatorOf(at->kind);
    if (precedence == 0 || precedence < minimum) return left;
    if (precedence == CompareLevel && ++compared == 2)
      complain(spanOf(at), "comparisons do not chain").note("write `a < b and b < c`");
    const Token* sign = at;
    advance();
    if (op == BinaryOp::Equal && is(TokenKind::Equal) && at->offset == previousEnd) {
      complain(spanOf(at), "`==` is no operator").note("`=` compares, and `:=` assigns");
      advance();
    }
    BinaryExpr* node = makeAt<BinaryExpr>(placeOf(start));
    node->op = op;
    node->opPlace = placeOf(sign);
    node->left = left;
    node->right = parseBinary(precedence + 1);
    left = finish(node, start);
  }
  return left;
}

// Behind the low bound: `.. high`, `..< high`, or nothing more.
Expr* Parser::parseRangeRest(Expr* low, const Token* start) {
  RangeExpr* node = makeAt<RangeExpr>(placeOf(start));
  node->low = low;
  node->opPlace = placeOf(at);
  node->halfOpen = is(TokenKind::DotDotLess);
  advance();
  if (startsExpr(*at) && sameLine()) node->high = parseBinary(AddLevel);
  else if (node->halfOpen) failExpected("the end of the range");
  finish(node, start);
  if (!panic && (is(TokenKind::DotDot) || is(TokenKind::DotDotLess)) && sameLine()) fail(spanOf(at), "ranges do not chain");
  return node;
}

Expr* Parser::parsePrefix(int minimum) {
  switch (at->kind) {
    case TokenKind::Not: return parseNot(minimum);
    case TokenKind::Minus: case TokenKind::Bnot: {
      Nest nest(*this);
      if (!nest) return errorExpr();
      const Token* start = at;
      UnaryExpr* node = make<UnaryExpr>(start);
      node->op = is(TokenKind::Minus) ? UnaryOp::Neg : UnaryOp::Bnot;
      if (is(TokenKind::Minus)) markTight(at, 2);
      advance();
      node->operand = parsePrefix(AddLevel + 2);
      return finish(node, start);
    }
    case TokenKind::DotDot: case TokenKind::DotDotLess: {
      const Token* start = at;
      RangeExpr* node = make<RangeExpr>(start);
      node->opPlace = placeOf(start);
      node->halfOpen = is(TokenKind::DotDotLess);
      advance();
      if (node->halfOpen || (startsExpr(*at) && sameLine())) {
        fail(spanOf(start), "a range says where it begins").note("write `0 " + std::string(describe(start->kind)).substr(1, node->halfOpen ? 3 : 2) + " …`");
      }
      return finish(node, start);
    }
    default: {
      const Token* start = at;
      return parsePostfix(parsePrimary(), start);
    }
  }
}

// `not` binds looser than comparisons: its operand is a comparison. Right of a comparison, where that cannot be meant, its
// operand is what can be compared: `a = not b`.
Expr* Parser::parseNot(int minimum) {
  Nest nest(*this);
  if (!nest) return errorExpr();
  const Token* start = at;
  bool compares = minimum == CompareLevel + 1;
  bool misplaced = minimum > NotLevel && !compares;
  if (misplaced)
    complain(spanOf(start), "`not` binds looser than the operator before it").note("put it in parentheses: `(not …)`");
  UnaryExpr* node = make<UnaryExpr>(start);
  node->op = UnaryOp::Not;
  advance();
  node->operand = parseBinary(compares ? CompareLevel + 1 : NotLevel);
  finish(node, start);
  return misplaced ? errorExpr() : node;
}

// ---- postfix forms ----

Expr* Parser::parsePostfix(Expr* base, const Token* start) {
  uint32_t steps = 0;
  while (!panic) {
    bool goesOn = !at->firstOnLine;   // `[` and `(` at the beginning of a line never go on, in brackets neither
    if (is(TokenKind::LeftBracket) && goesOn) base = parseIndex(base, start);
    else if (is(TokenKind::LeftParen) && goesOn) base = parseCall(base, start);
    else if (is(TokenKind::Dot) && sameLine()) base = parseMember(base, start);
    else if (is(TokenKind::Question) && goesOn) base = typeSuffixOf(base, start);
    else if (is(TokenKind::Name) && goesOn && (isWord(word::Of) || (isWord(word::On) && peek().kind == TokenKind::Name && peek().value == word::Gpu.index)))
      base = typeSuffixOf(base, start);
    else return base;
    if (++steps > MaxNesting) { tooDeep(); return base; }
  }
  return base;
}

Expr* Parser::parseIndex(Expr* base, const Token* start) {
  IndexExpr* node = makeAt<IndexExpr>(placeOf(start));
  node->base = base;
  markTight(at);
  Brackets brackets(*this);
  node->args = parseArgs(brackets, TokenKind::RightBracket);
  if (node->args.empty() && !panic) complain(spanOf(brackets.opener), "an index or a type is missing between these brackets");
  return finish(node, start);
}

Expr* Parser::parseCall(Expr* base, const Token* start) {
  CallExpr* node = makeAt<CallExpr>(placeOf(start));
  node->callee = base;
  markTight(at);
  Brackets brackets(*this);
  node->args = parseArgs(brackets, TokenKind::RightParen);
  node->close = placeOf(previous);
  return finish(node, start);
}

Seq<Arg> Parser::parseArgs(Brackets& brackets, TokenKind close) {
  Gather<Arg> args;
  while (!is(close) && !panic) {
    args.add(parseArg());
    if (!accept(TokenKind::Comma)) break;
  }
  brackets.close(close);
  return args.copyTo(context.arena);
}

Arg Parser::parseArg() {
  Arg arg;
  arg.place = placeOf(at);
  if (is(TokenKind::Name) && peek().kind == TokenKind::Colon) {
    arg.name = nameOf(at);
    advance();
    advance();
  } else if (isKeyword(at->kind) && peek().kind == TokenKind::Colon) {
    fail(spanOf(at), std::string(describe(at->kind)) + " is a word of the language and cannot name an argument");
  }
  if (accept(TokenKind::Inout)) arg.isInout = true;
  if (mode == ParseMode::Signatures && is(TokenKind::Name) && peek().kind == TokenKind::Ellipsis) {
    const Token* start = at;
    ExpandExpr* node = make<ExpandExpr>(start);
    node->name = NameId(start->value);
    advance();
    advance();
    arg.value = finish(node, start);
    return arg;
  }
  arg.value = parseExpr();
  return arg;
}

Expr* Parser::parseMember(Expr* base, const Token* start) {
  advance();
  if (is(TokenKind::Integer) && at->offset == previousEnd) {
    TupleFieldExpr* node = makeAt<TupleFieldExpr>(placeOf(start));
    node->base = base;
    node->indexPlace = placeOf(at);
    uint64_t index = tokens.integers[at->value];
    if (index > 1000) fail(spanOf(at), "no tuple has a part with this number");
    node->index = uint32_t(index);
    advance();
    return finish(node, start);
  }
  FieldExpr* node = makeAt<FieldExpr>(placeOf(start));
  node->base = base;
  node->name = expectName("the name of a field or member");
  return finish(node, start);
}

// What was read as an expression turns out to be a type: `matrix[R, C] of int32`, `T?`, `vector[N] on gpu`.
Expr* Parser::typeSuffixOf(Expr* base, const Token* start) {
  TypeExpr* type = typeFromExprOpen(context, base);
  if (!type) {
    fail(spanOf(at), found() + " stands behind a type, and this is none");
    return base;
  }
  if (isWord(word::Of)) {
    auto* array = tryAs<ArrayType>(type);
    auto* tensor = tryAs<TensorType>(type);
    if (!(array && !array->element) && !(tensor && !tensor->element)) {
      fail(spanOf(at), "`of` cannot stand here");
      return base;
    }
    advance();
    if (array) array->element = parseType();
    else tensor->element = parseNamedType();
    finish(type, start);
    if (array) return typeLiteral(array, start);
  }
  if (auto* array = tryAs<ArrayType>(type); array && !array->element) {
    fail(spanOf(at), "`of` and the type of the elements are missing before " + found());
    return base;
  }
  return typeLiteral(parseTypeSuffixes(type, start), start);
}

Expr* Parser::typeLiteral(TypeExpr* type, const Token* start) {
  TypeLiteralExpr* node = makeAt<TypeLiteralExpr>(placeOf(start));
  node->type = type;
  return finish(node, start);
}

// ---- what stands alone ----

Expr* Parser::parsePrimary() {
  const Token* start = at;
  switch (at->kind) {
    case TokenKind::Name: return parseNameExpr();
    case TokenKind::Integer: case TokenKind::Float: case TokenKind::Char: case TokenKind::String:
    case TokenKind::True: case TokenKind::False: case TokenKind::None:
      return parseLiteral();
    case TokenKind::StringHead: return parseInterpolation();
    case TokenKind::LeftParen: return parseParens(false, false, start);
    case TokenKind::LeftBracket: return parseList();
    case TokenKind::LeftBrace: return parseBraces();
    case TokenKind::If: return parseIfExpr();
    case TokenKind::Match: return parseMatchExpr();
    case TokenKind::Try: return parseTry();
    case TokenKind::Move: return parseMove();
    case TokenKind::Func:
      if (funcIsType()) return typeLiteral(parseType(), start);
      return parseFuncExpr(false, start);
    case TokenKind::Question: return typeLiteral(leaf<OpenType>(), start);
    case TokenKind::StringMiddle: case TokenKind::StringTail: case TokenKind::Format:
      fail(spanOf(at), "an interpolation is empty").note("write `\\{` for a brace in a string");
      return errorExpr();
    case TokenKind::Return: case TokenKind::Break: case TokenKind::Continue: case TokenKind::Fail:
      fail(spanOf(at), std::string(describe(at->kind)) + " is no value here")
          .note("it may stand after the `else` of `try`, and as a branch or arm");
      return errorExpr();
    case TokenKind::Inout:
      fail(spanOf(at), "`inout` stands before an argument of a call");
      return errorExpr();
    default: {
      Diagnostic& d = failExpected("an expression");
      if (previous && !at->firstOnLine && at->offset == previousEnd)
        if (const char* note = foreignSigns(context.sources.text(tokens.file).substr(previous->offset, at->offset + at->length - previous->offset))) d.note(note);
      return errorExpr();
    }
  }
}

// A name, or a type that begins with one of the words for types.
Expr* Parser::parseNameExpr() {
  const Token* start = at;
  if (at->value == word::Discard.index) return leaf<DiscardExpr>();
  if (at->value >= word::KeywordCount && at->value < word::Count) {
    const Token& next = peek();
    bool nextOf = next.kind == TokenKind::Name && next.value == word::Of.index && !next.firstOnLine;
    if (nextOf && (isWord(word::List) || isWord(word::Set) || isWord(word::Stream) || isWord(word::Map)))
      return typeLiteral(parseType(), start);
    bool nextName = next.kind == TokenKind::Name && !next.firstOnLine && !nextOf;
    if (nextName && (isWord(word::Tracked) || isWord(word::Box) || isWord(word::Shared)) && openBrackets > 0)
      return typeLiteral(parseType(), start);
    if (nextName && isWord(word::Spawn)) return parseSpawn();
  }
  NameExpr* node = make<NameExpr>(start);
  node->name = NameId(at->value);
  node->length = at->length;
  advance();
  if (!is(TokenKind::Arrow)) return node;
  complain(spanOf(start), "the parameters of a closure stand in parentheses").note("write `(" + std::string(context.text(node->name)) + ") => …`");
  Gather<Param> params;
  params.add({});
  params[0].name = nameOf(start);
  return parseArrow(params.copyTo(context.arena), false, start);
}

Expr* Parser::parseLiteral() {
  switch (at->kind) {
    case TokenKind::Integer: {
      uint64_t value = tokens.integers[at->value];
      IntegerExpr* node = leaf<IntegerExpr>();
      node->value = value;
      return node;
    }
    case TokenKind::Float: {
      FloatValue value = tokens.floats[at->value];
      FloatExpr* node = leaf<FloatExpr>();
      node->value64 = value.value64;
      node->value32 = value.value32;
      return node;
    }
    case TokenKind::Char: {
      uint32_t value = at->value;
      CharExpr* node = leaf<CharExpr>();
      node->codePoint = value;
      return node;
    }
    case TokenKind::String: {
      std::string_view text = tokens.texts[at->value];
      StringExpr* node = leaf<StringExpr>();
      node->text = text;
      return node;
    }
    case TokenKind::None: return leaf<NoneExpr>();
    default: {
      bool value = is(TokenKind::True);
      BoolExpr* node = leaf<BoolExpr>();
      node->value = value;
      return node;
    }
  }
}

// `"text{value:format}text"`, which the lexer has cut into pieces.
Expr* Parser::parseInterpolation() {
  const Token* start = at;
  InterpolationExpr* node = make<InterpolationExpr>(start);
  Gather<StringPart> parts;
  auto addText = [&](const Token* t) {
    std::string_view text = tokens.texts[t->value];
    if (!text.empty()) parts.add({text, nullptr, {}, {}});
  };
  addText(at);
  Brackets brackets(*this);
  while (!panic) {
    StringPart part;
    part.value = parseExpr();
    if (!panic && is(TokenKind::Format)) {
      part.format = tokens.texts[at->value];
      part.formatSpan = spanOf(at);
      advance();
      if (part.format.empty()) complain(part.formatSpan, "the format after this `:` is empty");
    }
    parts.add(part);
    if (panic) break;
    if (is(TokenKind::StringMiddle)) { addText(at); advance(); continue; }
    if (is(TokenKind::StringTail)) { addText(at); advance(); break; }
    fail(missingHere(), "`}` is missing before " + found()).label(spanOf(start), "in this string");
  }
  node->parts = parts.copyTo(context.arena);
  return finish(node, start);
}

// `(a)`, `(a, b)`, `()`, or the parameters of a closure when `=>` follows.
Expr* Parser::parseParens(bool closureOnly, bool isMove, const Token* start) {
  Gather<Expr*> elements;
  Gather<Param> params;
  bool onlyNames = true, modes = false;
  {
    Brackets brackets(*this);
    while (!is(TokenKind::RightParen) && !panic) {
      Param param;
      if (is(TokenKind::Inout) || (is(TokenKind::Move) && peek().kind == TokenKind::Name)) {
        param.mode = is(TokenKind::Inout) ? Mode::Inout : Mode::Move;
        modes = true;
        advance();
      }
      const Token* first = at;
      Expr* element = parseExpr();
      if (element->kind == ExprKind::Name || element->kind == ExprKind::Discard) param.name = nameOf(first);
      else onlyNames = false;
      if (is(TokenKind::Colon) && !panic)
        fail(spanOf(at), "a type stands here, in parentheses that declare nothing").note("a closure with types is written `func(a: T): U … end`");
      params.add(param);
      elements.add(element);
      if (!accept(TokenKind::Comma)) break;
    }
    if (!brackets.close(TokenKind::RightParen)) return finish(errorExpr(), start);
  }
  if (is(TokenKind::Arrow) && sameLine()) {
    if (!onlyNames) complain(spanOf(at), "before `=>` stand the names of parameters");
    return parseArrow(params.copyTo(context.arena), isMove, start);
  }
  if (closureOnly || modes) {
    expect(TokenKind::Arrow, "after the parameters of a closure");
    return finish(errorExpr(), start);
  }
  if (elements.size() == 1) {
    elements[0]->parenthesized = true;
    return elements[0];
  }
  TupleExpr* node = makeAt<TupleExpr>(placeOf(start));
  node->elements = elements.copyTo(context.arena);
  finish(node, start);
  if (elements.size() > 0) return node;
  complain(node->span(), "a value is missing between these parentheses");
  return errorExpr();
}

// At `=>`.
Expr* Parser::parseArrow(Seq<Param> params, bool isMove, const Token* start) {
  ClosureExpr* node = makeAt<ClosureExpr>(placeOf(start));
  node->isMove = isMove;
  node->params = params;
  advance();
  node->value = parseExpr();
  return finish(node, start);
}

// `[a, b]`, `[f(i) for i in xs]`, `[f(i) parallel for i in xs]`
Expr* Parser::parseList() {
  const Token* start = at;
  Brackets brackets(*this);
  Gather<Expr*> elements;
  while (!is(TokenKind::RightBracket) && !panic) {
    elements.add(parseExpr());
    bool parallel = isWord(word::Parallel) && peek().kind == TokenKind::For;
    if (!panic && elements.size() == 1 && (parallel || is(TokenKind::For))) {
      if (parallel) advance();
      advance();
      ComprehensionExpr* node = make<ComprehensionExpr>(start);
      node->element = elements[0];
      node->isParallel = parallel;
      node->head = parseLoopHead();
      if (!panic && (is(TokenKind::If) || is(TokenKind::For)))
        fail(spanOf(at), "a list built by `for` has one loop and no condition").note("write a loop with `+=`");
      brackets.close(TokenKind::RightBracket);
      return finish(node, start);
    }
    if (!accept(TokenKind::Comma)) break;
  }
  brackets.close(TokenKind::RightBracket);
  ListExpr* node = make<ListExpr>(start);
  node->elements = elements.copyTo(context.arena);
  return finish(node, start);
}

// `{}`, `{a, b}`, `{k: v, …}`
Expr* Parser::parseBraces() {
  const Token* start = at;
  Brackets brackets(*this);
  if (accept(TokenKind::RightBrace)) return finish(make<EmptyBracesExpr>(start), start);
  Gather<Expr*> elements;
  Gather<MapExpr::Entry> entries;
  bool isMap = false;
  while (!is(TokenKind::RightBrace) && !panic) {
    Expr* key = parseExpr();
    if (elements.size() + entries.size() == 0) isMap = is(TokenKind::Colon);
    if (isMap) {
      expect(TokenKind::Colon, "after the key");
      entries.add({key, parseExpr()});
    } else {
      elements.add(key);
    }
    if (!accept(TokenKind::Comma)) break;
  }
  if (!isMap && is(TokenKind::Colon)) fail(spanOf(at), "either all elements of these braces have keys or none");
  brackets.close(TokenKind::RightBrace);
  if (isMap) {
    MapExpr* node = make<MapExpr>(start);
    node->entries = entries.copyTo(context.arena);
    return finish(node, start);
  }
  SetExpr* node = make<SetExpr>(start);
  node->elements = elements.copyTo(context.arena);
  return finish(node, start);
}

// ---- forms with words ----

// A value, or a jump that answers none.
Expr* Parser::parseValueOrJump() {
  switch (at->kind) {
    case TokenKind::Return: case TokenKind::Break: case TokenKind::Continue: case TokenKind::Fail: {
      Nest nest(*this);
      if (!nest) return errorExpr();
      const Token* start = at;
      JumpExpr* node = make<JumpExpr>(start);
      node->statement = parseJump();
      return finish(node, start);
    }
    default: return parseExpr();
  }
}

// `if c then a elif d then b else e`, without `end`.
Expr* Parser::parseIfExpr() {
  const Token* start = at;
  IfExpr* node = make<IfExpr>(start);
  Gather<IfExpr::Branch> branches;
  do {
    advance();
    IfExpr::Branch branch;
    branch.condition = parseCondition();
    uint32_t thenLine = at->line;
    if (!panic) expect(TokenKind::Then, "after the condition");
    WithElse guard(*this, {true, thenLine});
    branch.value = panic ? errorExpr() : parseValueOrJump();
    branches.add(branch);
  } while (is(TokenKind::Elif) && !panic);
  node->branches = branches.copyTo(context.arena);
  if (!panic && !is(TokenKind::Else)) {
    failExpected("`else`").label(spanOf(start), "an `if` that is a value has both branches");
    node->otherwise = errorExpr();
  } else {
    accept(TokenKind::Else);
    node->otherwise = panic ? errorExpr() : parseValueOrJump();
  }
  finish(node, start);
  return node;
}

Expr* Parser::parseMatchExpr() {
  const Token* start = at;
  MatchExpr* node = make<MatchExpr>(start);
  advance();
  node->mode = parseMatchMode();
  node->subject = parseExpr();
  skipToHeaderEnd(TokenKind::Case, false);
  Gather<MatchArm> arms;
  openBlock(start, StopCase | StopElse);
  bool hadElse = false;
  uint32_t brackets = openBrackets;
  openBrackets = 0;   // arms are lines, even inside brackets
  if (!is(TokenKind::Case)) failExpected("`case`");
  if (panic) node->subject = errorExpr();
  skipToArm();
  while (is(TokenKind::Case) || is(TokenKind::Else)) {
    MatchArm arm;
    markItem(start, 1);
    hadElse |= parseArmHead(arm, hadElse);
    WithElse guard(*this, {!arm.isElse, start->line});
    if (at->firstOnLine) markItem(start, 2);
    if (is(TokenKind::Let) || is(TokenKind::Var) || is(TokenKind::For) || is(TokenKind::While) || is(TokenKind::Loop))
      fail(spanOf(at), "an arm of a `match` that is a value is one expression, and no statement");
    arm.value = panic ? errorExpr() : parseValueOrJump();
    accept(TokenKind::Semicolon);
    if (!panic && !is(TokenKind::Case) && !is(TokenKind::Else) && !is(TokenKind::End) && !is(TokenKind::EndOfFile)) {
      arm.value = errorExpr();
      fail(spanOf(at), "an arm of a `match` that is a value is one expression, complete before " + found());
    }
    skipToArm();
    arms.add(arm);
  }
  node->arms = arms.copyTo(context.arena);
  closeBlock();
  openBrackets = brackets;
  return finish(node, start);
}

Expr* Parser::parseTry() {
  const Token* start = at;
  TryExpr* node = make<TryExpr>(start);
  advance();
  if (isWord(word::Spawn) && peek().kind == TokenKind::Name && !peek().firstOnLine)
    complain(spanOf(start), "`spawn` needs no `try`").note("its failure is passed on where the tasks end, or by `try Wait(…)`");
  const Token* operand = at;
  if (is(TokenKind::Try)) fail(spanOf(at), "`try` stands twice").note("`try (try F()) else v` handles a failure and an absent value");
  node->operand = panic ? errorExpr() : parsePostfix(parsePrimary(), operand);
  if (!panic && elseBelongsToTry()) {
    advance();
    node->otherwise = parseValueOrJump();
  }
  return finish(node, start);
}

Expr* Parser::parseSpawn() {
  const Token* start = at;
  SpawnExpr* node = make<SpawnExpr>(start);
  advance();
  const Token* call = at;
  node->call = parsePostfix(parsePrimary(), call);
  if (!panic && node->call->kind != ExprKind::Call) complain(node->call->span(), "`spawn` starts a call, and this is none");
  return finish(node, start);
}

Expr* Parser::parseMove() {
  const Token* start = at;
  advance();
  if (is(TokenKind::LeftParen)) return parseParens(true, true, start);
  if (is(TokenKind::Func)) return parseFuncExpr(true, start);
  fail(spanOf(start), "`move` stands before a closure here")
      .note("a `move` parameter takes its argument over without a word at the call");
  return errorExpr();
}

// `func(…)` in an expression is a closure when its parentheses declare names, else a type. Empty ones are a type when
// nothing that could be a body follows.
bool Parser::funcIsType() const {
  if (peek().kind != TokenKind::LeftParen) return false;
  const Token* t = at + 2;
  if (t->kind == TokenKind::RightParen) {
    t++;
    return t->kind == TokenKind::RightBracket || t->kind == TokenKind::Comma || t->kind == TokenKind::Question;
  }
  if (t->kind == TokenKind::Inout || t->kind == TokenKind::Move) t++;
  while (t->kind == TokenKind::Name && t[1].kind == TokenKind::Comma) {   // a group of names ends in a colon
    t += 2;
    if (t->kind == TokenKind::Inout || t->kind == TokenKind::Move) return true;
  }
  return !(t->kind == TokenKind::Name && t[1].kind == TokenKind::Colon);
}

// `func(a: T): U … end`
Expr* Parser::parseFuncExpr(bool isMove, const Token* start) {
  const Token* opener = at;
  ClosureExpr* node = makeAt<ClosureExpr>(placeOf(start));
  node->isMove = isMove;
  advance();
  if (is(TokenKind::LeftParen)) node->params = parseParams();
  else failExpected("`(`");
  if (!panic) {
    uint32_t brackets = openBrackets;
    openBrackets = 0;   // the header ends with its line, even inside brackets
    node->result = parseResult();
    node->fails = parseFails();
    openBrackets = brackets;
  }
  skipToHeaderEnd(TokenKind::EndOfFile);
  node->body = parseBlockAndEnd(opener);
  return finish(node, start);
}

// `a, b, c` outside of brackets.
Seq<Expr*> Parser::parseExprList() {
  Gather<Expr*> list;
  do list.add(parseExpr()); while (!panic && accept(TokenKind::Comma));
  return list.copyTo(context.arena);
}

}  // namespace mica
