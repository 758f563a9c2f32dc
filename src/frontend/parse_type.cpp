// Types, results and failure clauses. `?`, `on gpu` and `tracked` bind tighter than the `of` of lists, maps and the like;
// the `of` of a tensor belongs to the tensor, so `vector[N] of int32 on gpu` is a tensor on the device.
#include "frontend/parser_impl.h"

namespace mica {

TypeExpr* Parser::parseType() {
  Nest nest(*this);
  if (!nest) return errorType();
  const Token* start = at;
  bool tracked = false;
  if (isWord(word::Tracked) && startsType(peek()) && !peek().firstOnLine) {
    tracked = true;
    advance();
  }
  TypeExpr* type = parseTypePrimary();
  if (!tracked) return parseTypeSuffixes(type, start);
  bool onGpu = isWordOnLine(word::On) && peek().kind == TokenKind::Name && peek().value == word::Gpu.index;
  if (onGpu) {
    advance();
    advance();
  }
  return parseTypeSuffixes(markType(type, true, onGpu, start), start);
}

TypeExpr* Parser::parseTypeSuffixes(TypeExpr* base, const Token* start) {
  uint32_t steps = 0;
  while (!panic && sameLine()) {
    if (is(TokenKind::Question)) {
      markTight(at);
      advance();
      OptionalType* node = makeAt<OptionalType>(placeOf(start));
      node->element = base;
      base = finish(node, start);
    } else if (isWord(word::On) && peek().kind == TokenKind::Name && peek().value == word::Gpu.index) {
      advance();
      advance();
      base = markType(base, false, true, start);
    } else {
      return base;
    }
    if (++steps > MaxNesting) { tooDeep(); return base; }
  }
  return base;
}

// Marks join into one node: `tracked T on gpu`.
TypeExpr* Parser::markType(TypeExpr* base, bool tracked, bool onGpu, const Token* start) {
  auto* node = tryAs<MarkedType>(base);
  if (!node || node->parenthesized) {
    node = makeAt<MarkedType>(placeOf(start));
    node->element = base;
  }
  node->tracked |= tracked;
  node->onGpu |= onGpu;
  return finish(node, start);
}

TypeExpr* Parser::parseTypePrimary() {
  if (!sameLine() && previous->kind == TokenKind::Name) {   // `list of` at the end of a line
    failExpected("a type");
    return errorType();
  }
  switch (at->kind) {
    case TokenKind::LeftParen: return parseTupleType();
    case TokenKind::Func: return parseFuncType();
    case TokenKind::Question: return leaf<OpenType>();
    case TokenKind::Name: break;
    default:
      failExpected("a type");
      return errorType();
  }
  if (peek().kind == TokenKind::Dot) return parseNamedType();
  switch (at->value) {
    case word::VectorIndex: return parseTensorType(TensorFamily::Vector);
    case word::MatrixIndex: return parseTensorType(TensorFamily::Matrix);
    case word::TensorIndex: return parseTensorType(TensorFamily::Tensor);
    case word::SimdIndex: return parseTensorType(TensorFamily::Simd);
    case word::ArrayIndex: return parseArrayType();
    case word::ListIndex: return parseOfType<ListType>();
    case word::SetIndex: return parseOfType<SetType>();
    case word::StreamIndex: return parseOfType<StreamType>();
    case word::MapIndex: return parseMapType();
    case word::BoxIndex: return parsePrefixType<BoxType>();
    case word::SharedIndex: return parsePrefixType<SharedType>();
    default: return parseNamedType();
  }
}

Seq<Name> Parser::parsePath(uint32_t most) {
  Gather<Name> path;
  path.add(expectName("a name"));
  while (!panic && is(TokenKind::Dot) && sameLine() && path.size() < most) {
    advance();
    path.add(expectName("a name"));
  }
  return path.copyTo(context.arena);
}

// `int`, `Gpt[V]`, `Random.Generator`
TypeExpr* Parser::parseNamedType() {
  const Token* start = at;
  NamedType* node = make<NamedType>(start);
  if (!is(TokenKind::Name)) {
    failExpected("a type");
    return errorType();
  }
  node->path = parsePath(2);
  if (!panic && is(TokenKind::LeftBracket) && !at->firstOnLine) {
    node->hasArgs = true;
    node->args = parseTypeArgs();
  }
  return finish(node, start);
}

Seq<Expr*> Parser::parseTypeArgs() {
  markTight(at);
  Brackets brackets(*this);
  Gather<Expr*> args;
  while (!is(TokenKind::RightBracket) && !panic) {
    Arg arg = parseArg();
    if (arg.name || arg.isInout) complain({arg.place, 1}, "the arguments of a type are types and extents");
    args.add(arg.value);
    if (!accept(TokenKind::Comma)) break;
  }
  brackets.close(TokenKind::RightBracket);
  if (args.size() == 0 && !panic) complain(spanOf(brackets.opener), "an extent or a type is missing between these brackets");
  return args.copyTo(context.arena);
}

TypeExpr* Parser::parseTensorType(TensorFamily family) {
  const Token* start = at;
  TensorType* node = make<TensorType>(start);
  node->family = family;
  advance();
  if (!is(TokenKind::LeftBracket) || at->firstOnLine) {
    fail(spanOf(start), "the extents of this tensor are missing").note("write `vector[N]`, `matrix[R, C]` or `tensor[A, B, C]`");
    return errorType();
  }
  node->extents = parseTypeArgs();
  if (node->extents.empty()) return errorType();   // which has been reported
  if (!panic && isWordOnLine(word::Of)) {
    advance();
    node->element = parseNamedType();
  }
  return finish(node, start);
}

TypeExpr* Parser::parseArrayType() {
  const Token* start = at;
  ArrayType* node = make<ArrayType>(start);
  node->extent = errorExpr();
  node->element = errorType();
  advance();
  if (!is(TokenKind::LeftBracket) || at->firstOnLine) {
    fail(spanOf(start), "the length of this array is missing").note("write `array[N] of T`, or `list of T` when the length changes");
    return finish(node, start);
  }
  Seq<Expr*> args = parseTypeArgs();
  if (!args.empty()) node->extent = args[0];
  if (args.size() > 1) complain(args[1]->span(), "an array has one length").note("write `array[N] of array[M] of T`");
  if (!panic && !isWordOnLine(word::Of)) fail(missingHere(), "`of` and the type of the elements are missing");
  if (!panic) {
    advance();
    node->element = parseType();
  }
  return finish(node, start);
}

// `list of T` and its like.
template <class T> TypeExpr* Parser::parseOfType() {
  const Token* start = at;
  T* node = make<T>(start);
  node->element = errorType();
  advance();
  if (!isWordOnLine(word::Of)) {
    std::string name(context.names.text(NameId(start->value)));
    fail(spanOf(start), "`of` and the type of the elements are missing").note("write `" + name + " of T`");
    return finish(node, start);
  }
  advance();
  node->element = parseType();
  return finish(node, start);
}

// `box T`, `shared T`
template <class T> TypeExpr* Parser::parsePrefixType() {
  if (!startsType(peek()) || peek().firstOnLine) return parseNamedType();
  const Token* start = at;
  T* node = make<T>(start);
  advance();
  node->element = parseType();
  return finish(node, start);
}

TypeExpr* Parser::parseMapType() {
  const Token* start = at;
  MapType* node = make<MapType>(start);
  node->key = node->value = errorType();
  advance();
  if (!isWordOnLine(word::Of)) {
    fail(spanOf(start), "`of` and the types of keys and values are missing").note("write `map of K to V`");
    return finish(node, start);
  }
  advance();
  node->key = parseType();
  if (panic) return finish(node, start);
  if (!isWordOnLine(word::To)) {
    fail(missingHere(), "`to` and the type of the values are missing").note("write `map of K to V`");
    return finish(node, start);
  }
  advance();
  node->value = parseType();
  return finish(node, start);
}

// `(A, B)`, or `(T)` as a group.
TypeExpr* Parser::parseTupleType() {
  const Token* start = at;
  Gather<TypeExpr*> elements;
  {
    Brackets brackets(*this);
    while (!is(TokenKind::RightParen) && !panic) {
      elements.add(parseType());
      if (!accept(TokenKind::Comma)) break;
    }
    brackets.close(TokenKind::RightParen);
  }
  if (elements.size() == 1) {
    elements[0]->parenthesized = true;
    return elements[0];
  }
  TupleType* node = makeAt<TupleType>(placeOf(start));
  node->elements = elements.copyTo(context.arena);
  finish(node, start);
  if (elements.size() == 0) complain(node->span(), "a type is missing between these parentheses");
  return node;
}

// `func(A, inout B): R fails E`
TypeExpr* Parser::parseFuncType() {
  const Token* start = at;
  FuncType* node = make<FuncType>(start);
  advance();
  if (!is(TokenKind::LeftParen)) {
    failExpected("`(`");
    return finish(node, start);
  }
  Gather<FuncType::Parameter> params;
  markTight(at);
  {
    Brackets brackets(*this);
    while (!is(TokenKind::RightParen) && !panic) {
      FuncType::Parameter param;
      if (accept(TokenKind::Inout)) param.mode = Mode::Inout;
      else if (accept(TokenKind::Move)) param.mode = Mode::Move;
      param.type = parseType();
      params.add(param);
      if (!accept(TokenKind::Comma)) break;
    }
    brackets.close(TokenKind::RightParen);
  }
  node->params = params.copyTo(context.arena);
  if (!panic) {
    node->result = parseResult();
    node->fails = parseFails();
  }
  return finish(node, start);
}

// `: T`, `: read T`, `: inout T`, or nothing.
ResultType Parser::parseResult() {
  ResultType result;
  if (is(TokenKind::Minus) && sameLine() && peek().kind == TokenKind::Greater) {
    complain(spanOf(at), "the result stands behind `:`").note("write `: ` instead of `->`");
    advance();
  } else if (!is(TokenKind::Colon) || !sameLine()) {
    return result;
  }
  advance();
  if (accept(TokenKind::Inout)) result.mode = Mode::Inout;
  else if (isWord(word::Read) && startsType(peek()) && !peek().firstOnLine) {
    advance();
    result.mode = Mode::Read;
  }
  result.type = parseType();
  return result;
}

// `fails A, Files.B`, `fails any`, or nothing.
FailsClause Parser::parseFails() {
  FailsClause clause;
  if (panic || !isWordOnLine(word::Fails)) return clause;
  clause.place = placeOf(at);
  advance();
  if (isWord(word::Any)) {
    clause.any = true;
    advance();
    return clause;
  }
  Gather<FailureName> names;
  names.add(parseFailureName());
  // Inside brackets a comma mostly ends a function type; among parameters, what declares no name is another failure.
  while (!panic && is(TokenKind::Comma) && (openBrackets == 0 || (inParams && !nextIsParameter()))) {
    advance();
    names.add(parseFailureName());
  }
  clause.failures = names.copyTo(context.arena);
  return clause;
}

// At a comma: do names and a colon follow?
bool Parser::nextIsParameter() const {
  const Token* t = at;
  while (t->kind == TokenKind::Comma) {
    t++;
    if (t->kind == TokenKind::Inout || t->kind == TokenKind::Move) return true;
    if (t->kind != TokenKind::Name) return true;
    t++;
    if (t->kind == TokenKind::Colon) return true;
    if (t->kind == TokenKind::Dot) return false;
  }
  return false;
}

FailureName Parser::parseFailureName() {
  FailureName name;
  name.path = parsePath(2);
  return name;
}

// ---- types that were read as expressions ----

namespace {

template <class T> T* newType(Context& context, const Expr* from) {
  T* node = context.arena.make<T>();
  node->kind = T::Kind;
  node->id = context.nextNode.type++;
  node->place = from->place;
  node->length = from->length;
  return node;
}

// The path of `a` or `a.b`, or nothing.
Seq<Name> pathOf(Context& context, const Expr* expr) {
  if (auto* name = tryAs<NameExpr>(expr)) {
    Name one{name->name, name->place, name->length};
    return context.arena.copy(&one, 1);
  }
  auto* field = tryAs<FieldExpr>(expr);
  auto* base = field ? tryAs<NameExpr>(field->base) : nullptr;
  if (!base) return {};
  Name two[] = {{base->name, base->place, base->length}, field->name};
  return context.arena.copy(two, 2);
}

TypeExpr* typeOfIndex(Context& context, const IndexExpr* index) {
  Seq<Name> path = pathOf(context, index->base);
  if (path.empty()) return nullptr;
  std::vector<Expr*> args;
  for (const Arg& arg : index->args) {
    if (arg.name || arg.isInout) return nullptr;
    args.push_back(arg.value);
  }
  if (path.size() == 1) {
    auto tensor = [&](TensorFamily family) -> TypeExpr* {
      auto* node = newType<TensorType>(context, index);
      node->family = family;
      node->extents = context.arena.copy(args);
      return node;
    };
    switch (path[0].id.index) {
      case word::VectorIndex: return tensor(TensorFamily::Vector);
      case word::MatrixIndex: return tensor(TensorFamily::Matrix);
      case word::TensorIndex: return tensor(TensorFamily::Tensor);
      case word::SimdIndex: return tensor(TensorFamily::Simd);
      case word::ArrayIndex: {
        if (args.size() != 1) return nullptr;
        auto* node = newType<ArrayType>(context, index);
        node->extent = args[0];
        return node;
      }
      default: break;
    }
  }
  auto* node = newType<NamedType>(context, index);
  node->path = path;
  node->hasArgs = true;
  node->args = context.arena.copy(args);
  return node;
}

}  // namespace

TypeExpr* typeFromExprOpen(Context& context, Expr* expr) {
  TypeExpr* type = nullptr;
  if (auto* literal = tryAs<TypeLiteralExpr>(expr)) type = literal->type;
  else if (auto* index = tryAs<IndexExpr>(expr)) type = typeOfIndex(context, index);
  else if (auto* tuple = tryAs<TupleExpr>(expr)) {
    std::vector<TypeExpr*> elements;
    for (Expr* element : tuple->elements) {
      elements.push_back(typeFromExpr(context, element));
      if (!elements.back()) return nullptr;
    }
    if (elements.size() < 2) return nullptr;
    auto* node = newType<TupleType>(context, expr);
    node->elements = context.arena.copy(elements);
    type = node;
  } else if (Seq<Name> path = pathOf(context, expr); !path.empty()) {
    auto* node = newType<NamedType>(context, expr);
    node->path = path;
    type = node;
  }
  if (type && expr->parenthesized) type->parenthesized = true;
  return type;
}

TypeExpr* typeFromExpr(Context& context, Expr* expr) {
  TypeExpr* type = typeFromExprOpen(context, expr);
  if (auto* array = tryAs<ArrayType>(type); array && !array->element) return nullptr;
  return type;
}

}  // namespace mica
