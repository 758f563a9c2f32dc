// Declarations: what stands at the level of a file.
#include "frontend/parser_impl.h"
#include "frontend/spelling.h"

namespace mica {

void Parser::parseDeclarations(Module* module) {
  Gather<Decl*> declarations;
  Gather<Stmt*> script;
  for (;;) {
    while (accept(TokenKind::Semicolon)) {}
    if (is(TokenKind::EndOfFile)) break;
    suspect = elseIf = nullptr;
    const Token* before = at;
    if (startsDeclaration()) {
      parseDeclaration(declarations);
      if (!panic && !at->firstOnLine && !is(TokenKind::Semicolon) && !is(TokenKind::EndOfFile))
        fail(spanOf(at), "the declaration is complete before " + found());
      if (panic) skipToDeclaration();
    } else if (is(TokenKind::End)) {
      fail(spanOf(at), "this `end` closes nothing");
      advance();
      if (mode == ParseMode::Script) panic = false;
      else skipToDeclaration();
    } else if (mode == ParseMode::Script) {
      if (endsBlock(0)) continue;
      markItem(nullptr, 0);
      script.add(parseStatement());
      expectStatementEnd();
    } else {
      Diagnostic& d = fail(spanOf(at), "a declaration is expected here, not " + found());
      const char* foreign = is(TokenKind::Name) ? foreignStatement(context.names.text(NameId{at->value})) : nullptr;
      if (foreign) d.note(foreign);
      else if (is(TokenKind::Name) && peek().kind == TokenKind::Equal) d.note("a constant is declared by `const Name = value`");
      else if (startsExpr(*at) || stopsSkipping()) d.note("statements stand in functions; the program begins in `func Main`");
      skipToDeclaration();
    }
    if (at == before) advance();
  }
  module->declarations = declarations.copyTo(context.arena);
  module->script.statements = script.copyTo(context.arena);
}

// On to the next line that begins a declaration.
void Parser::skipToDeclaration() {
  panic = false;
  while (!is(TokenKind::EndOfFile) && !(at->firstOnLine && startsDeclaration())) advance();
}

void Parser::parseDeclaration(Gather<Decl*>& into) {
  Seq<std::string_view> doc = docOf(at);
  Seq<Attribute> attributes = parseAttributes();
  if (panic) return;
  const Token* start = at;
  if (at->firstOnLine) markItem(nullptr, 0);
  bool isPub = accept(TokenKind::Pub);
  if (is(TokenKind::At)) attributes = parseAttributes();   // `pub @inline func …` is the same
  if (panic) return;
  if (at->firstOnLine) markItem(nullptr, 0);
  size_t first = into.size();
  switch (at->kind) {
    case TokenKind::Func: into.add(parseFunc(start)); break;
    case TokenKind::Const: parseConsts(into, start); break;
    case TokenKind::Import:
      if (isPub) complain(spanOf(start), "an import is not exported");
      into.add(parseImport(start));
      break;
    default:
      if (isWord(word::Type)) into.add(parseTypeDecl(start));
      else if (isWord(word::Failure)) into.add(parseFailure(start));
      else if (isWord(word::Test)) into.add(parseTest(start));
      else failExpected("a declaration");
  }
  for (size_t i = first; i < into.size(); i++) {
    into[i]->isPub = isPub;
    if (i == first && into[i]->doc.empty()) into[i]->doc = doc;
    into[i]->attributes = attributes;
  }
}

// `@inline`, `@export("name")`
Seq<Attribute> Parser::parseAttributes() {
  Gather<Attribute> attributes;
  while (is(TokenKind::At) && !panic) {
    if (at->firstOnLine) markItem(nullptr, 0);
    advance();
    Attribute attribute;
    attribute.name = expectName("the name of an attribute");
    if (!panic && is(TokenKind::LeftParen) && !at->firstOnLine) {
      markTight(at);
      Brackets brackets(*this);
      Gather<Expr*> args;
      while (!is(TokenKind::RightParen) && !panic) {
        args.add(parseExpr());
        if (!accept(TokenKind::Comma)) break;
      }
      brackets.close(TokenKind::RightParen);
      attribute.args = args.copyTo(context.arena);
    }
    attributes.add(attribute);
  }
  return attributes.copyTo(context.arena);
}

// `import A, B`
Decl* Parser::parseImport(const Token* start) {
  ImportDecl* node = make<ImportDecl>(start);
  advance();
  Gather<Name> modules;
  do {
    if (is(TokenKind::String)) {
      fail(spanOf(at), "a module is imported by its name").note("`import Layers` finds `Layers.mica`");
      break;
    }
    modules.add(expectName("the name of a module"));
  } while (!panic && accept(TokenKind::Comma));
  node->modules = modules.copyTo(context.arena);
  return finish(node, start);
}

// `const Name = value`, or `const` alone on its line and a constant on each of the next ones.
void Parser::parseConsts(Gather<Decl*>& into, const Token* start) {
  const Token* opener = at;
  advance();
  if (!at->firstOnLine) {
    into.add(parseConstRest(start));
    return;
  }
  auto atConstant = [&] {
    TokenKind next = peek().kind;
    return is(TokenKind::Name) && (next == TokenKind::Equal || next == TokenKind::Colon || next == TokenKind::Assign);
  };
  if (!atConstant()) failExpected("the name of a constant");
  while (atConstant()) {
    const Token* line = at;
    markItem(opener, 1);
    Seq<std::string_view> doc = docOf(at);
    ConstDecl* constant = parseConstRest(line);
    constant->doc = doc;
    into.add(constant);
    expectStatementEnd();
    while (accept(TokenKind::Semicolon)) {}
  }
}

// At the name. The start is that of the declaration.
ConstDecl* Parser::parseConstRest(const Token* start) {
  ConstDecl* node = make<ConstDecl>(start);
  node->name = expectName("the name of a constant");
  if (!panic && accept(TokenKind::Colon)) node->type = parseType();
  if (!panic && is(TokenKind::Assign)) {
    complain(spanOf(at), "a constant stands for its value").note("write `=`");
    advance();
  } else if (!panic) {
    expect(TokenKind::Equal, "and the value");
  }
  node->value = panic ? errorExpr() : parseExpr();
  return finish(node, start);
}

// ---- functions ----

Decl* Parser::parseFunc(const Token* start) {
  FuncDecl* node = make<FuncDecl>(start);
  node->nodes.begin = context.nextNode;
  const Token* opener = at;
  advance();
  node->name = expectName("the name of a function");
  if (!panic && is(TokenKind::LeftBracket) && !at->firstOnLine) node->generics = parseGenerics();
  if (!panic && is(TokenKind::LeftParen) && !at->firstOnLine) node->params = parseParams();
  if (!panic) {
    node->result = parseResult();
    node->fails = parseFails();
  }
  if (mode == ParseMode::Signatures) {
    node->hasBody = false;
  } else {
    bool broken = panic;
    skipToHeaderEnd(TokenKind::EndOfFile);
    node->body = parseBlockAndEnd(opener);
    if (broken) {   // nobody knows what the body may do
      node->body.statements = {};
      node->result.type = errorType();
    }
  }
  node->nodes.end = context.nextNode;
  return finish(node, start);
}

// `[T: Ordered and Copyable, N]`
Seq<GenericParam> Parser::parseGenerics() {
  markTight(at);
  Brackets brackets(*this);
  Gather<GenericParam> generics;
  while (!is(TokenKind::RightBracket) && !panic) {
    GenericParam generic;
    generic.name = expectName("the name of a type or extent");
    if (!panic && mode == ParseMode::Signatures) accept(TokenKind::Ellipsis);
    if (!panic && accept(TokenKind::Colon)) {
      Gather<Name> constraints;
      do {
        if (Name name = expectName("a constraint")) constraints.add(name);
      } while (!panic && accept(TokenKind::And));
      generic.constraints = constraints.copyTo(context.arena);
    }
    generics.add(generic);
    if (!accept(TokenKind::Comma)) break;
  }
  brackets.close(TokenKind::RightBracket);
  if (generics.size() == 0 && !panic) complain(spanOf(brackets.opener), "the names of types and extents are missing between these brackets");
  return generics.copyTo(context.arena);
}

Seq<Param> Parser::parseParams() {
  markTight(at);
  Brackets brackets(*this);
  inParams = true;
  Gather<Param> params;
  while (!is(TokenKind::RightParen) && !panic) {
    parseParamGroup(params);
    if (!accept(TokenKind::Comma)) break;
  }
  brackets.close(TokenKind::RightParen);
  return params.copyTo(context.arena);
}

// `a, b: T := default`, perhaps with `inout` or `move` before it.
void Parser::parseParamGroup(Gather<Param>& into) {
  Param param;
  if (accept(TokenKind::Inout)) param.mode = Mode::Inout;
  else if (accept(TokenKind::Move)) param.mode = Mode::Move;
  size_t first = into.size();
  do {
    if ((is(TokenKind::Inout) || is(TokenKind::Move)) && into.size() > first) {
      fail(missingHere(), "the type of the parameter before this one is missing");
      return;
    }
    param.name = expectName("the name of a parameter");
    into.add(param);
  } while (!panic && accept(TokenKind::Comma));
  TypeExpr* type = nullptr;
  if (!panic && !is(TokenKind::Colon) && is(TokenKind::Name))
    fail(spanOf(at), "`:` is missing after the name of the parameter").note("a parameter is written `name: type`");
  if (!panic && expect(TokenKind::Colon, "and the type of the parameter")) type = parseType();
  Expr* defaultValue = parseDefault();
  if (!type) type = errorType();
  for (size_t i = first; i < into.size(); i++) {
    into[i].type = type;
    into[i].defaultValue = defaultValue;
  }
}

Expr* Parser::parseDefault() {
  if (panic || !(is(TokenKind::Assign) || is(TokenKind::Equal))) return nullptr;
  expectAssign("and the default");
  return parseExpr();
}

// ---- types and failures ----

Decl* Parser::parseTypeDecl(const Token* start) {
  TypeDecl* node = make<TypeDecl>(start);
  advance();
  node->name = expectName("the name of a type");
  if (!panic && is(TokenKind::LeftBracket) && !at->firstOnLine) node->generics = parseGenerics();
  if (!panic) {
    if (is(TokenKind::Assign)) {
      complain(spanOf(at), "a type stands for its definition").note("write `=`");
      advance();
    } else {
      expect(TokenKind::Equal, "and the definition of the type");
    }
  }
  const Token* opener = at;
  if (!panic && isWord(word::Record)) {
    advance();
    node->body = TypeBody::Record;
    node->fields = parseRecordBody(opener);
  } else if (!panic && isWord(word::Choice)) {
    advance();
    node->body = TypeBody::Choice;
    node->cases = parseChoiceBody(opener);
  } else {
    node->alias = panic ? errorType() : parseType();
  }
  return finish(node, start);
}

// The lines of a record or choice, up to their `end`.
template <class T> void Parser::parseLines(const Token* opener, T&& parseOne) {
  openBlock(opener, 0);
  for (;;) {
    while (accept(TokenKind::Semicolon)) {}
    if (is(TokenKind::End) || is(TokenKind::EndOfFile) || startsDeclaration()) break;
    const Token* before = at;
    markItem(opener, 1);
    parseOne();
    if (!panic && !at->firstOnLine && !is(TokenKind::Semicolon) && !is(TokenKind::End) && !is(TokenKind::EndOfFile))
      fail(spanOf(at), "the line is complete before " + found());
    if (panic) {
      if (at == before) advance();
      synchronize();
    }
    if (at == before) advance();
  }
  closeBlock();
}

Seq<FieldDecl> Parser::parseRecordBody(const Token* opener) {
  Gather<FieldDecl> fields;
  parseLines(opener, [&] { parseFieldGroup(fields); });
  return fields.copyTo(context.arena);
}

Seq<CaseDecl> Parser::parseChoiceBody(const Token* opener) {
  Gather<CaseDecl> cases;
  parseLines(opener, [&] {
    CaseDecl one;
    one.doc = docOf(at);
    one.name = expectName("the name of a case");
    if (!panic && is(TokenKind::LeftParen) && !at->firstOnLine) {
      one.hasFields = true;
      one.fields = parseFieldsInParens();
    }
    cases.add(one);
  });
  return cases.copyTo(context.arena);
}

// `a, b: T := default`
void Parser::parseFieldGroup(Gather<FieldDecl>& into) {
  size_t first = into.size();
  FieldDecl field;
  field.doc = docOf(at);
  do {
    field.name = expectName("the name of a field");
    into.add(field);
  } while (!panic && accept(TokenKind::Comma));
  TypeExpr* type = nullptr;
  if (!panic && expect(TokenKind::Colon, "and the type of the field")) type = parseType();
  Expr* defaultValue = parseDefault();
  if (!type) type = errorType();
  for (size_t i = first; i < into.size(); i++) {
    into[i].type = type;
    into[i].defaultValue = defaultValue;
  }
}

Seq<FieldDecl> Parser::parseFieldsInParens() {
  markTight(at);
  Brackets brackets(*this);
  inParams = true;
  Gather<FieldDecl> fields;
  while (!is(TokenKind::RightParen) && !panic) {
    parseFieldGroup(fields);
    if (!accept(TokenKind::Comma)) break;
  }
  brackets.close(TokenKind::RightParen);
  return fields.copyTo(context.arena);
}

// `failure Singular(column: int) = "column {column} has no pivot"`
Decl* Parser::parseFailure(const Token* start) {
  FailureDecl* node = make<FailureDecl>(start);
  advance();
  node->name = expectName("the name of a failure");
  if (!panic && is(TokenKind::LeftParen) && !at->firstOnLine) node->fields = parseFieldsInParens();
  if (!panic && is(TokenKind::Equal) && sameLine()) {
    advance();
    node->message = parseExpr();
    if (!panic && node->message->kind != ExprKind::String && node->message->kind != ExprKind::Interpolation) {
      complain(node->message->span(), "the text of a failure is a string");
      node->message = nullptr;
    }
  }
  return finish(node, start);
}

// `test "name" … end`
Decl* Parser::parseTest(const Token* start) {
  TestDecl* node = make<TestDecl>(start);
  node->nodes.begin = context.nextNode;
  const Token* opener = at;
  advance();
  if (is(TokenKind::String)) {
    node->title = tokens.texts[at->value];
    advance();
  } else {
    failExpected("the name of the test, a string,");
  }
  skipToHeaderEnd(TokenKind::EndOfFile);
  node->body = parseBlockAndEnd(opener);
  node->nodes.end = context.nextNode;
  return finish(node, start);
}

}  // namespace mica
