// Statements and whole bodies.
#include <algorithm>

#include "frontend/checker.h"

namespace mica {

// ---- bodies ----

void BodyChecker::checkFunction() {
  auto* f = ast::as<ast::FuncDecl>(checker.info(decl).syntax);
  const Decl& d = program.get(decl);
  Frame top;
  top.result = d.result;
  top.resultMode = d.resultMode;
  top.fails = d.fails;
  top.anyFailure = std::any_of(d.fails.begin(), d.fails.end(), [&](TypeId t) { return kindOf(t) == Kind::AnyFailure; });
  if (top.anyFailure) top.fails.clear();
  top.name = d.name;
  top.place = d.place;
  frames.push_back(std::move(top));
  for (size_t i = 0; i < d.params.size(); i++) {
    NameId name = i < f->params.size() ? f->params[i].name.id : NameId{};
    if (name && isLocal(name)) name = NameId{};   // named twice, which has been reported
    LocalId local = declareLocal(name, d.params[i].place, d.params[i].type, Local::Form::Parameter, d.params[i].mode);
    get(local).marked = d.params[i].written;
    body.params.push_back(local);
    if (d.params[i].hasDefault && !d.system) {   // seen at each call; here for its own mistakes
      Slot slot{d.params[i].name, d.params[i].type, d.params[i].mode, true, d.params[i].defaultSyntax, true};
      if (d.typeParams.empty()) defaultValue(slot, d.params[i].type, decl, nullptr);
    }
  }
  if (f->hasBody) block(f->body, body.statements);
  Kind result = kindOf(d.result);
  if (result != Kind::Unit && result != Kind::Error && falls(body.statements)) {
    Span end{f->body.end.file ? f->body.end : d.place, 3};
    if (result == Kind::Never) error(end, "`" + d.name + "` is declared `never` and comes to its end");
    else error(end, "`" + d.name + "` ends without a value");
  }
}

void BodyChecker::checkTest() {
  auto* t = ast::as<ast::TestDecl>(checker.info(decl).syntax);
  Frame top;
  top.result = unit();
  top.anyFailure = true;
  top.name = "this test";
  frames.push_back(std::move(top));
  block(t->body, body.statements);
}

void BodyChecker::checkFailureText() {
  auto* f = ast::as<ast::FailureDecl>(checker.info(decl).syntax);
  Decl& d = program.get(decl);
  Frame top;
  top.result = stringType();
  top.name = d.name;
  frames.push_back(std::move(top));
  for (size_t i = 0; i < d.fields.size(); i++) {
    NameId name = i < f->fields.size() ? f->fields[i].name.id : NameId{};
    body.params.push_back(declareLocal(name, d.fields[i].place, d.fields[i].type, Local::Form::Parameter));
    if (d.params.size() < d.fields.size()) {
      ParamDecl p;
      p.name = d.fields[i].name;
      p.type = d.fields[i].type;
      p.place = d.fields[i].place;
      p.written = true;
      d.params.push_back(p);
    }
  }
  StmtId s = makeStmt(StmtKind::Return, d.place);
  ExprId value;
  if (f->message) {
    value = exprAs(f->message, stringType(), "the text of a failure");
  } else {
    value = make(ExprKind::String, stringType(), nullptr);
    get(value).place = d.place;
    get(value).start = d.place;
    get(value).text = d.name;
  }
  get(s).value = value;
  body.statements.push_back(s);
}

void BodyChecker::block(const ast::Block& b, std::vector<StmtId>& out) {
  Scope scope(*this);
  for (const ast::Stmt* s : b.statements) statement(s, out);
}

void BodyChecker::statement(const ast::Stmt* s, std::vector<StmtId>& out) {
  switch (s->kind) {
    case ast::StmtKind::Error: return;
    case ast::StmtKind::Expr: return expressionStatement(ast::as<ast::ExprStmt>(s), out);
    case ast::StmtKind::Local: return localStatement(ast::as<ast::LocalStmt>(s), out);
    case ast::StmtKind::Const: {
      auto* c = ast::as<ast::ConstStmt>(s)->declaration;
      TypeId type = c->type ? checker.resolveType(c->type, typeScope()) : TypeId{};
      ConstValue v = checker.evaluate(c->value, typeScope(), true, type);
      if (type && v.known() && !checker.convertConstant(v, type)) {
        error(c->value, "the constant is " + aType(type) + ", and " + checker.showConstant(v) + " does not fit");
        v.kind = ConstValue::Kind::Error;
      }
      if (!c->name) return;
      constants.push_back(v);
      enter(c->name.id, c->name.place, {{}, int(constants.size() - 1), frame().depth});
      return;
    }
    case ast::StmtKind::Assign: {
      auto* a = ast::as<ast::AssignStmt>(s);
      return a->op == ast::AssignOp::Set ? assignStatement(a, out) : updateStatement(a, out);
    }
    case ast::StmtKind::If: return ifStatement(ast::as<ast::IfStmt>(s), 0, out);
    case ast::StmtKind::While: return whileStatement(ast::as<ast::WhileStmt>(s), out);
    case ast::StmtKind::For: return forStatement(ast::as<ast::ForStmt>(s), out);
    case ast::StmtKind::Loop: {
      StmtId id = makeStmt(StmtKind::LoopForever, s->place);
      std::vector<StmtId> inside;
      if (!loopBody(ast::as<ast::LoopStmt>(s)->body, inside)) endless.insert(id.index);
      get(id).body = std::move(inside);
      get(id).end = ast::as<ast::LoopStmt>(s)->body.end;
      out.push_back(id);
      return;
    }
    case ast::StmtKind::Break: case ast::StmtKind::Continue: {
      bool isBreak = s->kind == ast::StmtKind::Break;
      std::string word = isBreak ? "`break`" : "`continue`";
      if (frame().loops.empty() || frame().loops.back().comprehension) {
        error(s->span(), word + (frame().loops.empty() ? " stands outside a loop" : " cannot leave a comprehension"));
        return;
      }
      frame().loops.back().broken |= isBreak;
      out.push_back(makeStmt(isBreak ? StmtKind::Break : StmtKind::Continue, s->place));
      return;
    }
    case ast::StmtKind::Return: return returnStatement(ast::as<ast::ReturnStmt>(s), out);
    case ast::StmtKind::Fail: return failStatement(ast::as<ast::FailStmt>(s), out);
    case ast::StmtKind::Match: return matchStatement(ast::as<ast::MatchStmt>(s), out);
    case ast::StmtKind::Assert: {
      auto* a = ast::as<ast::AssertStmt>(s);
      ExprId c = condition(a->condition);
      ExprId text = a->message ? exprAs(a->message, stringType(), "the text of `assert`") : ExprId{};
      StmtId id = makeStmt(StmtKind::Assert, s->place);
      get(id).value = c;
      get(id).second = text;
      out.push_back(id);
      return;
    }
    case ast::StmtKind::Tape: {
      auto* t = ast::as<ast::TapeStmt>(s);
      StmtId id = makeStmt(StmtKind::Tape, s->place);
      std::vector<StmtId> inside;
      block(t->body, inside);
      get(id).body = std::move(inside);
      get(id).end = t->body.end;
      out.push_back(id);
      return;
    }
    case ast::StmtKind::Each: return eachStatement(ast::as<ast::EachStmt>(s), out);
    case ast::StmtKind::Tasks:
      error(Span{s->place, 5}, "this compiler does not have `tasks` yet");
      return;
    case ast::StmtKind::Attempt: return attemptStatement(ast::as<ast::AttemptStmt>(s), out);
  }
}

// Answers whether a `break` in the body leaves the loop.
bool BodyChecker::loopBody(const ast::Block& b, std::vector<StmtId>& out) {
  frame().loops.push_back({});
  block(b, out);
  bool broken = frame().loops.back().broken;
  frame().loops.pop_back();
  return broken;
}

StmtId BodyChecker::jump(const ast::Stmt* s) {
  std::vector<StmtId> out;
  statement(s, out);
  if (out.empty()) {
    StmtId id = makeStmt(StmtKind::Error, s->place);
    return id;
  }
  return out.back();
}

// ---- simple statements ----

void BodyChecker::expressionStatement(const ast::ExprStmt* s, std::vector<StmtId>& out) {
  // `Backward(loss)` is a statement of its own.
  if (auto* c = ast::tryAs<ast::CallExpr>(s->value)) {
    auto* n = ast::tryAs<ast::NameExpr>(c->callee);
    if (n && n->name && text(n->name) == "Backward" && !findLocal(n->name) && !checker.find(module, n->name)) {
      if (c->args.size() != 1) {
        error(c, "`Backward` takes the loss");
        return;
      }
      ExprId loss = expr(c->args[0].value);
      Kind k = kindOf(loss);
      if (k != Kind::Error && !isFloat(k)) {
        auto& m = error(c->args[0].value, "`Backward` needs a scalar, and " + quote(c->args[0].value) + " is " + aType(types.unmarked(typeOf(loss))));
        if (k == Kind::Tensor) m.note("write `Backward(Sum(" + quoteExact(c->args[0].value) + "))`");
        // The value stays as it is: what else is wrong with it is told too.
      }
      StmtId id = makeStmt(StmtKind::Backward, s->place);
      get(id).value = loss;
      out.push_back(id);
      return;
    }
  }
  ExprId value = expr(s->value);
  StmtId id = makeStmt(StmtKind::Expression, s->place);
  get(id).value = value;
  out.push_back(id);
  Kind k = kindOf(value);
  if (k == Kind::Unit || k == Kind::Never || k == Kind::Error) return;
  const Expr* e = &get(value);
  while (e->kind == ExprKind::Try || e->kind == ExprKind::OrElse) e = &get(e->children[0]);
  bool mayDrop = e->kind == ExprKind::Builtin && (e->builtin == Builtin::Take || e->builtin == Builtin::Replace || e->builtin == Builtin::Remove || e->builtin == Builtin::RemoveLast ||
                                                  e->builtin == Builtin::Add || e->builtin == Builtin::ClipByNorm);
  mayDrop = mayDrop || e->kind == ExprKind::Intrinsic;
  if (mayDrop) return;
  bool isCall = e->kind == ExprKind::Call || e->kind == ExprKind::CallValue || e->kind == ExprKind::Builtin || e->kind == ExprKind::Vocabulary;
  auto* comparison = ast::tryAs<ast::BinaryExpr>(s->value);
  if (comparison && comparison->op == ast::BinaryOp::Equal) {
    return;   // the parser has said what `=` means
  }
  std::string source = quoteExact(s->value);
  bool shortEnough = source.size() < 50 && source.find('\n') == std::string::npos;
  if (e->kind == ExprKind::Function) {
    error(s->value, "this names a function and does not call it").note("write `" + source + "(…)`");
    return;
  }
  error(s->value, isCall ? "the result of this call is not used" : "this value is not used").note("write `_ := " + (shortEnough ? source : "…") + "`");
}

void BodyChecker::declareNamed(const ast::LocalStmt* s, ExprId value, StmtId id) {
  auto* n = ast::as<ast::NamePattern>(s->pattern);
  TypeId declaredType = s->type ? checkedType : TypeId{};
  TypeId type = declaredType ? declaredType : types.unmarked(typeOf(value));
  Local::Form form = s->isVar ? Local::Form::Var : Local::Form::Let;
  if (s->isInout) {
    form = Local::Form::NamedInout;
  } else if (!s->isVar && !isError(value) && isPlace(value) && !copies(program, typeOf(value))) {
    // An owning part, or a variable that is not owned here, is named where it lies; a whole owned local moves.
    const Expr& v = get(value);
    bool owned = false;
    if (v.kind == ExprKind::Local) {
      const Local& l = get(v.local);
      bool movable = l.form == Local::Form::Let || l.form == Local::Form::Var || l.form == Local::Form::LoopMove || (l.form == Local::Form::Parameter && l.mode == Mode::Move) ||
                     (l.form == Local::Form::Pattern && l.mode == Mode::Move);
      if (l.form == Local::Form::Capture) {
        for (const Frame& f : frames) {
          for (size_t i = 0; f.closure && i < f.closure->captures.size(); i++) {
            const Capture& c = f.closure->captures[i];
            if (c.inner == v.local && c.mode == Mode::Move) movable = true;
          }
        }
      }
      owned = movable;
    }
    if (!owned) form = Local::Form::NamedRead;
  }
  LocalId local = declareLocal(n->name, s->pattern->place, type, form);
  get(local).marked = s->type != nullptr;
  get(local).leaf = declaredType && typ(declaredType).tracked;
  if (form == Local::Form::NamedRead || form == Local::Form::NamedInout) get(local).type = typeOf(value);
  if (form == Local::Form::NamedInout) heldLocals[local.index] = heldType(value);
  get(id).local = local;
  get(id).value = value;
  initializers[local.index] = value;
}

void BodyChecker::localStatement(const ast::LocalStmt* s, std::vector<StmtId>& out) {
  TypeId want = s->type ? checker.resolveType(s->type, typeScope()) : TypeId{};
  ExprId value = expr(s->value, want);
  StmtId id = makeStmt(StmtKind::Declare, s->place);
  out.push_back(id);
  auto* name = ast::tryAs<ast::NamePattern>(s->pattern);
  if (kindOf(value) == Kind::Unit) {
    error(s->value, quote(s->value) + " has no value");
    value = errorExpr(s->value);
  }
  if (want) {
    std::string what = name && name->name ? "`" + text(name->name) + "`" : "the declared type";
    if (name) {   // for the note of a shape that changes: the name is there already
      Scope scope(*this);
      LocalId probe = declareLocal(name->name, s->pattern->place, want, s->isVar ? Local::Form::Var : Local::Form::Let);
      (void)probe;
      value = fit(value, {want, what}, s->value, true);
      body.locals.pop_back();
    } else {
      value = fit(value, {want, what}, s->value, true);
    }
  }
  if (!want && kindOf(value) == Kind::Never) {
    // The statement does not end; the name still exists.
    want = errorType();
  }
  if (s->isInout) {
    if (!isError(value) && !isPlace(value)) {
      error(s->value, "`let inout` names a place, and this is a computed value").note("write `var " + (name ? text(name->name) : std::string("x")) + " := …`");
      value = errorExpr(s->value);
    } else {
      value = changing(value, s->value, Change::Named);
    }
  }
  if (name) {
    if (!name->name) return;
    checkedType = want;
    declareNamed(s, value, id);
    if (want && isError(value)) get(get(id).local).type = want;
    return;
  }
  get(id).value = value;
  if (s->pattern->kind == ast::PatternKind::Discard || s->pattern->kind == ast::PatternKind::Error) return;
  boundNames.clear();
  Local::Form form = s->isVar ? Local::Form::Var : Local::Form::Let;
  PatternId p = pattern(s->pattern, want && !isError(want) ? want : types.unmarked(typeOf(value)), Mode::Move, false, form);
  get(id).pattern = p;
}

void BodyChecker::assignStatement(const ast::AssignStmt* s, std::vector<StmtId>& out) {
  if (s->target->kind == ast::ExprKind::Discard) {
    ExprId value = expr(s->value);
    if (kindOf(value) == Kind::Unit) error(s->value, quote(s->value) + " has no value to drop").note("write it alone");
    StmtId id = makeStmt(StmtKind::Declare, s->place);
    get(id).value = value;
    out.push_back(id);
    return;
  }
  if (auto* t = ast::tryAs<ast::TupleExpr>(s->target)) {
    StmtId id = makeStmt(StmtKind::AssignTuple, s->place);
    std::vector<ExprId> targets, values;
    std::vector<TypeId> wanted;
    for (const ast::Expr* e : t->elements) {
      if (e->kind == ast::ExprKind::Discard) {
        targets.push_back({});
        wanted.push_back(errorType());
        continue;
      }
      ExprId target = expr(e);
      if (!isError(target) && !isPlace(target)) {
        error(e, "this is no place that can take a value");
        target = errorExpr(e);
      } else {
        target = changing(target, e, Change::Value);
      }
      targets.push_back(target);
      wanted.push_back(types.unmarked(typeOf(target)));
    }
    auto* v = ast::tryAs<ast::TupleExpr>(s->value);
    if (v && v->elements.size() == targets.size()) {
      for (size_t i = 0; i < targets.size(); i++) {
        ExprId value = expr(v->elements[i], wanted[i]);
        values.push_back(fit(value, {wanted[i], quote(t->elements[i])}, v->elements[i]));
      }
    } else {
      ExprId value = expr(s->value, types.tuple(wanted));
      const Type& whole = typ(typeOf(value));
      if (!isError(value) && (whole.kind != Kind::Tuple || whole.args.size() != targets.size())) {
        error(s->value, "this gives " + aType(typeOf(value)) + ", and " + std::to_string(targets.size()) + " places take a value");
      } else if (!isError(value)) {
        for (size_t i = 0; i < targets.size(); i++) {
          if (!targets[i] || isError(targets[i]) || compatible(whole.args[i], wanted[i]) != Compat::No) continue;
          error(s->value, quote(t->elements[i]) + " is " + aType(wanted[i]) + " and its part of this value is " + aType(whole.args[i]));
        }
      }
      values.push_back(value);
    }
    get(id).targets = std::move(targets);
    get(id).values = std::move(values);
    out.push_back(id);
    return;
  }
  auto* name = ast::tryAs<ast::NameExpr>(s->target);
  if (name && name->name && !isKnown(name->name)) {   // declared here, so that its other uses are no errors of their own
    reportUnknown(name).note("write `var " + text(name->name) + " := …` to declare it");
    StmtId id = makeStmt(StmtKind::Declare, s->place);
    get(id).value = expr(s->value);
    get(id).local = declareLocal(name->name, name->place, errorType(), Local::Form::Var);
    out.push_back(id);
    return;
  }
  ExprId target = expr(s->target);
  if (!isError(target) && !isPlace(target)) {
    bool slice = get(target).kind == ExprKind::Slice;
    error(s->target, slice ? "this slice is of a computed value and cannot take another" : "this is no place that can take a value");
    target = errorExpr(s->target);
  }
  target = changing(target, s->target, Change::Value);
  TypeId want = types.unmarked(typeOf(target));
  if (!isError(target) && get(target).kind == ExprKind::Element && kindOf(get(target).children[0]) == Kind::String) {
    error(s->target, "the bytes of a string cannot change one by one").note("make another string");
    target = errorExpr(s->target);
  }
  ExprId value = expr(s->value, want);
  if (!isError(target)) value = fit(value, {want, quote(s->target)}, s->value, true);
  StmtId id = makeStmt(StmtKind::Assign, s->place);
  get(id).target = target;
  get(id).value = value;
  out.push_back(id);
}

void BodyChecker::updateStatement(const ast::AssignStmt* s, std::vector<StmtId>& out) {
  ExprId target = expr(s->target);
  if (!isError(target) && !isPlace(target)) {
    error(s->target, "this is no place that can take a value");
    target = errorExpr(s->target);
  }
  target = changing(target, s->target, Change::Value);
  if (isError(target)) {
    expr(s->value);
    return;
  }
  TypeId type = types.unmarked(typeOf(target));
  Kind k = kindOf(type);
  static const struct { ast::AssignOp op; ast::BinaryOp binary; const char* text; } ops[] = {
    {ast::AssignOp::Add, ast::BinaryOp::Add, "+"}, {ast::AssignOp::Sub, ast::BinaryOp::Sub, "-"}, {ast::AssignOp::Mul, ast::BinaryOp::Mul, "*"}, {ast::AssignOp::Div, ast::BinaryOp::Div, "/"}};
  size_t which = 0;
  while (ops[which].op != s->op) which++;
  if (k == Kind::List && s->op == ast::AssignOp::Add) {
    TypeId element = typ(type).element;
    auto* literal = ast::tryAs<ast::ListExpr>(s->value);
    bool single = literal && literal->elements.size() == 1;
    ExprId value = single ? exprAs(literal->elements[0], element, "an element of " + quote(s->target)) : exprAs(s->value, type, quote(s->target));
    if (isError(value)) return;
    Mode mode = single || !copies(program, element) ? Mode::Move : Mode::Read;
    ExprId call = makeBuiltin(single ? Builtin::Append : Builtin::AppendAll, unit(), {target, value}, {Mode::Inout, mode}, s->value);
    get(call).place = s->opPlace;
    get(call).start = s->place;
    get(call).length = s->length;
    StmtId id = makeStmt(StmtKind::Expression, s->place);
    get(id).value = call;
    out.push_back(id);
    return;
  }
  StmtId id = makeStmt(StmtKind::Update, s->place);
  if (k == Kind::String && s->op == ast::AssignOp::Add) {
    ExprId value = exprAs(s->value, type, quote(s->target));
    get(id).target = target;
    get(id).value = value;
    get(id).binary = BinaryOp::Add;
    out.push_back(id);
    return;
  }
  // As an expression: what the operator answers must fit back into the place.
  auto* e = context.arena.make<ast::BinaryExpr>();
  e->kind = ast::ExprKind::Binary;
  e->op = ops[which].binary;
  e->place = s->target->place;
  e->length = s->length;
  e->opPlace = s->opPlace;
  e->left = s->target;
  e->right = s->value;
  ExprId value;
  if (adaptable(s->value)) {
    TypeId to = adaptTo(type, {});
    if (to && isInteger(kindOf(to)) && hasFloatLiteral(s->value)) to = scalar(Kind::Float64);
    value = buildAdaptable(s->value, to);
  } else {
    bool shaped = s->op == ast::AssignOp::Add || s->op == ast::AssignOp::Sub;
    value = expr(s->value, k == Kind::Tensor && !shaped ? TypeId{} : type);
  }
  if (isError(value)) return;
  ExprId whole = combine(e, target, value);
  if (isError(whole)) return;
  TypeId result = typeOf(whole);
  if (compatible(result, type) == Compat::No) {
    std::string sum = quoteExact(s->target) + " " + ops[which].text + " " + quoteExact(s->value);
    auto& m = error(s->value, quote(s->target) + " is " + aType(type) + " and `" + sum + "` is " + aType(result));
    if (isFloat(k) && isFloat(kindOf(result))) m.note("write `" + show(type) + "(" + quoteExact(s->value) + ")`");
    return;
  }
  Expr& w = get(whole);
  ExprId right = value;
  if (w.kind == ExprKind::Binary && w.children.size() == 2) right = w.children[1];
  get(id).target = target;
  get(id).value = right;
  get(id).second = isFloat(k) || k == Kind::Tensor ? whole : ExprId{};
  get(id).binary = w.kind == ExprKind::Binary ? w.binary : ops[which].binary == ast::BinaryOp::Add ? BinaryOp::Add : ops[which].binary == ast::BinaryOp::Sub ? BinaryOp::Sub : ops[which].binary == ast::BinaryOp::Mul ? BinaryOp::Mul : BinaryOp::Div;
  out.push_back(id);
}

// ---- conditions and loops ----

PatternId BodyChecker::bindCondition(const ast::Condition& c, ExprId* value) {
  TypeId want = c.type ? types.optional(checker.resolveType(c.type, typeScope())) : TypeId{};
  *value = expr(c.value, want);
  TypeId inner = errorType();
  if (!isError(*value)) {
    if (kindOf(*value) == Kind::Optional) inner = typ(typeOf(*value)).element;
    else error(c.value, "`let` in a condition takes a value that may be missing, and " + quote(c.value) + " is " + aType(typeOf(*value)));
  }
  Mode mode = Mode(uint8_t(c.mode));
  bool declared = want && !isError(inner) && !isError(typ(want).element);
  if (declared && compatible(inner, typ(want).element) != Compat::Same) {
    refuse(*value, {want, "the value that may be missing"}, c.value);
    *value = errorExpr(c.value);
  }
  if (declared && mode != Mode::Inout) inner = typ(want).element;
  if (mode == Mode::Inout && !isError(*value)) {
    if (!isPlace(*value)) error(c.value, "`if let inout` needs a place, and this is a computed value");
    else *value = changing(*value, c.value, Change::Named);
    if (!isError(inner)) inner = typ(typeInPlace(*value)).element;
  }
  boundNames.clear();
  return pattern(c.pattern, inner, mode, false, Local::Form::Pattern);
}

void BodyChecker::ifStatement(const ast::IfStmt* s, size_t from, std::vector<StmtId>& out) {
  const auto& branch = s->branches[from];
  if (!branch.condition.isLet) {
    if (auto known = rankCondition(branch.condition.value)) {   // `Rank(p)` is constant: the other branch is not checked
      StmtId id = makeStmt(StmtKind::Block, branch.place);
      std::vector<StmtId> inside;
      if (*known) block(branch.body, inside);
      else if (from + 1 < s->branches.size()) ifStatement(s, from + 1, inside);
      else if (s->hasElse) block(s->otherwise, inside);
      get(id).body = std::move(inside);
      out.push_back(id);
      return;
    }
  }
  StmtId id = makeStmt(branch.condition.isLet ? StmtKind::IfLet : StmtKind::If, branch.place);
  std::vector<StmtId> then, otherwise;
  {
    Scope scope(*this);
    ExprId value;
    if (branch.condition.isLet) {
      PatternId p = bindCondition(branch.condition, &value);
      const Pattern& bound = body.patterns[p.index];
      get(id).mode = Mode(uint8_t(branch.condition.mode));
      if (bound.kind == PatternKind::Bind) get(id).local = bound.local;
      else if (bound.kind != PatternKind::Any) get(id).pattern = p;
    } else {
      value = condition(branch.condition.value);
    }
    get(id).value = value;
    block(branch.body, then);
  }
  if (from + 1 < s->branches.size()) ifStatement(s, from + 1, otherwise);
  else if (s->hasElse) block(s->otherwise, otherwise);
  get(id).body = std::move(then);
  get(id).otherwise = std::move(otherwise);
  get(id).end = branch.body.end;
  out.push_back(id);
}

void BodyChecker::whileStatement(const ast::WhileStmt* s, std::vector<StmtId>& out) {
  StmtId id = makeStmt(s->condition.isLet ? StmtKind::WhileLet : StmtKind::While, s->place);
  Scope scope(*this);
  ExprId value;
  if (s->condition.isLet) {
    PatternId p = bindCondition(s->condition, &value);
    const Pattern& bound = body.patterns[p.index];
    get(id).mode = Mode(uint8_t(s->condition.mode));
    if (bound.kind == PatternKind::Bind) get(id).local = bound.local;
    else if (bound.kind != PatternKind::Any) get(id).pattern = p;
  } else {
    value = condition(s->condition.value);
  }
  get(id).value = value;
  std::vector<StmtId> inside;
  loopBody(s->body, inside);
  get(id).body = std::move(inside);
  get(id).end = s->body.end;
  out.push_back(id);
}

TypeId BodyChecker::elementType(TypeId container, TypeId* key) {
  const Type t = typ(container);
  *key = intType();
  switch (t.kind) {
    case Kind::List: case Kind::Array: case Kind::Set: case Kind::Stream: return t.element;
    case Kind::Map: *key = t.key; return t.element;
    case Kind::Tensor: {
      if (t.extents.size() == 1) return types.unmarked(t.element);
      return types.tensor(t.element, std::vector<ExtentId>(t.extents.begin() + 1, t.extents.end()), t.onGpu);
    }
    default: return {};
  }
}

void BodyChecker::loopHead(const ast::LoopHead& h, Loop& loop, bool parallel) {
  loop.parallel = parallel;
  loop.walk = Mode(uint8_t(h.mode));
  Span at = h.item ? Span{h.item->place, h.item->length} : Span{};
  if (parallel) error(at, "this compiler does not have `parallel for` yet");
  if (auto* r = ast::tryAs<ast::RangeExpr>(h.source)) {
    loop.form = Loop::Form::Range;
    loop.inclusive = !r->halfOpen;
    TypeId type = intType();
    if (!r->low || !r->high) {
      error(r, "a counting loop needs both ends of its range");
    } else {
      ExprId low, high;
      if (adaptable(r->low) && !adaptable(r->high)) {
        high = expr(r->high);
        low = buildAdaptable(r->low, adaptTo(typeOf(high), {}));
      } else {
        low = adaptable(r->low) ? buildAdaptable(r->low, {}) : expr(r->low);
        high = adaptable(r->high) ? buildAdaptable(r->high, adaptTo(typeOf(low), {})) : expr(r->high);
      }
      bool whole = true;
      for (auto [id, ast] : {std::pair(low, r->low), std::pair(high, r->high)}) {
        Kind k = kindOf(id);
        if (isInteger(k) || k == Kind::Char || isError(id)) continue;
        error(ast, "a loop counts integers, and " + quote(ast) + " is " + aType(typeOf(id)));
        whole = false;
      }
      TypeId joined = isError(low) || isError(high) || !whole ? TypeId{} : join(typeOf(low), typeOf(high));
      if (joined) {
        type = types.unmarked(joined);
        loop.low = fit(low, {type, "the beginning of the range"}, r->low);
        loop.high = fit(high, {type, "the end of the range"}, r->high);
      } else {
        if (whole && !isError(low) && !isError(high)) error(r, "the ends of this range are " + aType(typeOf(low)) + " and " + aType(typeOf(high)));
        loop.low = loop.high = errorExpr(r);
      }
    }
    if (h.step && kindOf(type) == Kind::Char) error(h.step, "a loop over characters visits each of them and has no step");
    else if (h.step) loop.step = exprAs(h.step, type, "the step");
    if (h.mode != ast::Mode::Read) error(at, "a counting loop has no elements to change or move");
    if (h.index) {
      error(Span{h.index->place, h.index->length}, "a counting loop has one variable");
      if (auto* n = ast::tryAs<ast::NamePattern>(h.index)) declareLocal(n->name, h.index->place, errorType(), Local::Form::LoopRead);
    }
    if (h.item->kind == ast::PatternKind::Name) loop.variable = declareLocal(ast::as<ast::NamePattern>(h.item)->name, h.item->place, type, Local::Form::LoopRead);
    else if (h.item->kind != ast::PatternKind::Discard && h.item->kind != ast::PatternKind::Error) error(at, "a counting loop has one variable");
    return;
  }
  loop.form = Loop::Form::Walk;
  walking = true;
  loop.source = expr(h.source);
  walking = false;
  if (h.step) error(h.step, "`by` belongs to loops that count");
  TypeId key, element = errorType();
  if (!isError(loop.source)) {
    element = elementType(typeOf(loop.source), &key);
    if (!element) {
      auto& m = error(h.source, "`for` walks lists, arrays, maps, sets and tensors, and " + quote(h.source) + " is " + aType(typeOf(loop.source)));
      if (kindOf(loop.source) == Kind::String) m.note("write `Chars(…)`, or `Lines(…)`");
      if (isInteger(kindOf(loop.source))) m.note("write `for i in 0 ..< " + quoteExact(h.source) + " do`");
      element = errorType();
    }
  }
  Kind k = kindOf(loop.source);
  auto* pair = ast::tryAs<ast::TuplePattern>(h.item);
  if (h.mode == ast::Mode::Inout && !isError(loop.source)) {
    if (!isPlace(loop.source)) error(h.source, "`for inout` changes elements in place, and this is a computed value");
    else if (k == Kind::Set) error(h.source, "the elements of a set cannot change in place");
    else loop.source = changing(loop.source, h.source, Change::Elements);
  }
  if (h.mode == ast::Mode::Move && (k == Kind::Tensor || k == Kind::Map || k == Kind::Set)) error(h.source, "`for move` takes the elements of lists and arrays");
  Local::Form form = h.mode == ast::Mode::Inout ? Local::Form::LoopInout : h.mode == ast::Mode::Move ? Local::Form::LoopMove : Local::Form::LoopRead;
  TypeId held = form == Local::Form::LoopInout ? elementOf(heldType(loop.source)) : TypeId{};
  auto declareVariable = [&](const ast::Pattern* p, TypeId type, Local::Form f) -> LocalId {
    if (p->kind == ast::PatternKind::Name) {
      LocalId local = declareLocal(ast::as<ast::NamePattern>(p)->name, p->place, type, f, loop.walk);
      if (f == Local::Form::LoopInout) heldLocals[local.index] = held;
      return local;
    }
    if (p->kind != ast::PatternKind::Discard && p->kind != ast::PatternKind::Error) error(Span{p->place, p->length}, "a name is expected here");
    return {};
  };
  if (k == Kind::Map) {
    if (pair && pair->elements.size() == 2 && !h.index) {
      loop.index = declareVariable(pair->elements[0], key, Local::Form::LoopRead);
      loop.variable = declareVariable(pair->elements[1], element, form);
      return;
    }
    if (h.index && !pair) {
      loop.index = declareVariable(h.index, key, Local::Form::LoopRead);
      loop.variable = declareVariable(h.item, element, form);
      return;
    }
    error(at, "a map is walked by key and value").note("write `for (k, v) in … do`");
    declareVariable(h.item, errorType(), form);
    return;
  }
  if (h.index) loop.index = declareVariable(h.index, intType(), Local::Form::LoopRead);
  if (pair) {
    boundNames.clear();
    loop.pattern = pattern(h.item, held ? held : element, loop.walk, false, form);
  } else {
    loop.variable = declareVariable(h.item, element, form);
  }
}

void BodyChecker::forStatement(const ast::ForStmt* s, std::vector<StmtId>& out) {
  StmtId id = makeStmt(StmtKind::For, s->place);
  Scope scope(*this);
  auto loop = std::make_unique<Loop>();
  loopHead(s->head, *loop, s->isParallel);
  std::vector<StmtId> inside;
  loopBody(s->body, inside);
  get(id).loop = std::move(loop);
  get(id).body = std::move(inside);
  get(id).end = s->body.end;
  out.push_back(id);
}

void BodyChecker::matchStatement(const ast::MatchStmt* s, std::vector<StmtId>& out) {
  StmtId id = makeStmt(StmtKind::Match, s->place);
  ExprId subject = unboxed(expr(s->subject), s->subject);
  Mode mode = Mode(uint8_t(s->mode));
  if (mode == Mode::Inout && !isError(subject)) {
    if (!isPlace(subject)) error(s->subject, "`match inout` needs a place, and this is a computed value");
    else subject = changing(subject, s->subject, Change::Named);
  }
  std::vector<Arm> list;
  TypeId ignored;
  arms(s->arms, mode == Mode::Inout ? typeInPlace(subject) : typeOf(subject), mode, list, &ignored, {}, false);
  checkExhaustive(list, typeOf(subject), Span{s->place, 5});
  get(id).value = subject;
  get(id).mode = mode;
  get(id).arms = std::move(list);
  get(id).end = s->arms.empty() ? s->place : s->arms.back().body.end;
  out.push_back(id);
}

// ---- failures and ways out ----

void BodyChecker::attemptStatement(const ast::AttemptStmt* s, std::vector<StmtId>& out) {
  StmtId id = makeStmt(StmtKind::Attempt, s->place);
  std::vector<Recover> recovers;
  for (const auto& a : s->arms) {
    Recover r;
    r.place = a.place;
    r.failure = a.any ? scalar(Kind::AnyFailure) : checker.resolveFailure(a.failure, module);
    recovers.push_back(std::move(r));
  }
  std::vector<bool> used(recovers.size(), false);
  frame().attempts.push_back({&recovers, used});
  std::vector<StmtId> inside;
  block(s->body, inside);
  used = frame().attempts.back().used;
  frame().attempts.pop_back();
  for (size_t i = 0; i < s->arms.size(); i++) {
    const auto& a = s->arms[i];
    if (!used[i] && !isError(recovers[i].failure)) {
      std::string what = a.any ? "nothing else in this `attempt` can fail" : "nothing in this `attempt` can fail with `" + show(recovers[i].failure) + "`";
      error(Span{a.place, 7}, what);
    }
    if (a.name && isError(recovers[i].failure)) used[i] = true;
    Scope scope(*this);
    if (a.name) recovers[i].local = declareLocal(a.name.id, a.name.place, recovers[i].failure, Local::Form::Failure);
    block(a.body, recovers[i].body);
  }
  get(id).body = std::move(inside);
  get(id).recovers = std::move(recovers);
  get(id).end = s->body.end;
  out.push_back(id);
}

void BodyChecker::returnStatement(const ast::ReturnStmt* s, std::vector<StmtId>& out) {
  StmtId id = makeStmt(StmtKind::Return, s->place);
  Frame& f = frame();
  if (s->value) {
    if (f.infersResult && !f.result) {
      ExprId value = expr(s->value);
      frame().result = types.unmarked(typeOf(value));
      get(id).value = value;
    } else {
      TypeId want = f.result;
      bool place = f.resultMode != ResultMode::Value;
      ExprId value = expr(s->value, kindOf(want) == Kind::Unit ? TypeId{} : want);
      Kind k = kindOf(want);
      if (k == Kind::Unit) {
        bool nothing = kindOf(value) == Kind::Unit || kindOf(value) == Kind::Never || isError(value);
        if (!nothing) error(s->value, (frame().name.empty() ? "this function" : "`" + frame().name + "`") + " has no result, and a value is returned");
      } else if (k == Kind::Never && kindOf(value) != Kind::Never && !isError(value)) {
        error(s->value, "`" + frame().name + "` is declared `never` and returns");
      } else {
        if (place && get(value).kind == ExprKind::Try) error(s->value, "a place is answered without `try`");
        if (f.resultMode == ResultMode::Inout) value = changing(value, s->value, Change::Handed, "the caller");
        value = fit(value, {want, "the result"}, s->value, true);
      }
      get(id).value = value;
    }
  } else {
    Kind k = kindOf(f.result);
    if (f.result && k != Kind::Unit && k != Kind::Error) error(s->span(), "`return` needs a value here: the result is " + aType(f.result));
    if (f.infersResult && !f.result) f.result = unit();
  }
  out.push_back(id);
}

void BodyChecker::failStatement(const ast::FailStmt* s, std::vector<StmtId>& out) {
  StmtId id = makeStmt(StmtKind::Fail, s->place);
  out.push_back(id);
  const ast::Expr* v = s->value;
  auto* c = ast::tryAs<ast::CallExpr>(v);
  const ast::Expr* path = c ? c->callee : v;
  DeclId failure;
  Span at = spanOf(path);
  if (auto* n = ast::tryAs<ast::NameExpr>(path)) {
    if (!n->name) return;
    if (const Entry* local = findLocal(n->name); local && local->local && !c) {
      // A failure that was caught before goes on.
      ExprId value = expr(v);
      Kind k = kindOf(value);
      if (k != Kind::Failure && k != Kind::AnyFailure && k != Kind::Error) error(v, quote(v) + " is " + aType(typeOf(value)) + " and no failure");
      else if (k != Kind::Error) passOn({typeOf(value)}, spanOf(v), true);
      get(id).value = value;
      return;
    }
    const Symbol* sym = checker.find(module, n->name);
    if (sym && sym->kind == Symbol::Kind::Declaration) failure = sym->decl;
    else if (!sym) failure = checker.libraryFailure(n->name);
  } else if (auto* f = ast::tryAs<ast::FieldExpr>(path)) {
    auto* m = ast::tryAs<ast::NameExpr>(f->base);
    const Symbol* sym = m && m->name ? checker.find(module, m->name) : nullptr;
    if (sym && sym->kind == Symbol::Kind::Module) {
      const Symbol* member = checker.findExported(sym->index, f->name, module);
      if (!member) return;
      if (member->kind == Symbol::Kind::Declaration) failure = member->decl;
    }
  } else if (path->kind == ast::ExprKind::Error) {
    return;
  }
  if (!failure || program.get(failure).kind != DeclKind::Failure) {
    std::vector<std::string> all;
    for (const Decl& d : program.decls) {
      if (!checker.mayGuess()) break;
      if (d.kind == DeclKind::Failure && (!d.system || d.exported)) all.push_back(d.name);
    }
    checker.reportUnknown(at, quoteExact(path), all, "failure");
    passOn({errorType()}, at, true);
    return;
  }
  checker.ensureSignature(failure);
  const Decl& d = program.get(failure);
  ExprId value;
  if (c) {
    if (d.fields.empty()) {
      error(c, "`" + d.name + "` has no payload").note("write `fail " + d.name + "`");
      return;
    }
    value = construct(failure, c, nullptr, {}, true);
  } else {
    bool needs = std::any_of(d.fields.begin(), d.fields.end(), [](const FieldDecl& f) { return !f.hasDefault; });
    if (needs) {
      error(v, "`" + d.name + "` needs its payload").note("write `fail " + d.name + "(" + d.fields[0].name + ": …)`");
      return;
    }
    Type t;
    t.kind = Kind::Failure;
    t.decl = failure;
    value = make(ExprKind::MakeFailure, types.intern(t), v);
    get(value).callee = failure;
  }
  get(id).value = value;
  Type t;
  t.kind = Kind::Failure;
  t.decl = failure;
  passOn({types.intern(t)}, Span{s->place, s->length}, true);
}

// ---- does control reach the end ----

bool BodyChecker::falls(const std::vector<StmtId>& list) {
  for (StmtId s : list) {
    if (!falls(s)) return false;
  }
  return true;
}

bool BodyChecker::exprFalls(ExprId e) { return !e || kindOf(e) != Kind::Never; }

bool BodyChecker::falls(StmtId id) {
  const Stmt& s = get(id);
  switch (s.kind) {
    case StmtKind::Return: case StmtKind::Fail: case StmtKind::Break: case StmtKind::Continue: return false;
    case StmtKind::Expression: case StmtKind::Declare: case StmtKind::Assign: return exprFalls(s.value);
    case StmtKind::If: case StmtKind::IfLet: return falls(s.body) || falls(s.otherwise);
    case StmtKind::Match:
      for (const Arm& a : s.arms) {
        if (a.value ? exprFalls(a.value) : falls(a.body)) return true;
      }
      return false;
    case StmtKind::LoopForever: return !endless.count(id.index);
    case StmtKind::Attempt:
      if (falls(s.body)) return true;
      for (const Recover& r : s.recovers) {
        if (falls(r.body)) return true;
      }
      return false;
    case StmtKind::Tape: case StmtKind::Block: case StmtKind::Tasks: return falls(s.body);
    default: return true;
  }
}

}  // namespace mica
