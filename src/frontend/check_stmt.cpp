// Whole bodies, and the statements that declare and assign. Those that decide where control goes are in check_flow.cpp.
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
      if (d.typeParams.empty()) defaultValue(slot, d.params[i].type, decl);
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
  if (form == Local::Form::NamedRead || form == Local::Form::NamedInout) {   // the place's type, with the extents that are declared where it knows none
    Type placed = typ(typeOf(value));
    if (declaredType && compatible(typeOf(value), declaredType) == Compat::Check) placed.extents = typ(declaredType).extents;
    get(local).type = types.intern(placed);
  }
  if ((form == Local::Form::NamedRead || form == Local::Form::NamedInout) && isView(value)) viewLocals.insert(local.index);
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
      declareLocal(name->name, s->pattern->place, want, s->isVar ? Local::Form::Var : Local::Form::Let);
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

// (a, b) := (c, d), or a value that is a tuple.
void BodyChecker::assignTuple(const ast::AssignStmt* s, const ast::TupleExpr* t, std::vector<StmtId>& out) {
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
  if (auto* t = ast::tryAs<ast::TupleExpr>(s->target)) return assignTuple(s, t, out);
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

}  // namespace mica
