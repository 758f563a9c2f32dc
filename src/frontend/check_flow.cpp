// Statements that decide where control goes: conditions, loops, `match`, `attempt` and the ways out; and whether control reaches the end.
#include <algorithm>

#include "frontend/checker.h"

namespace mica {

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
  if (parallel) error(h.item ? Span{h.item->place, h.item->length} : Span{}, "this compiler does not have `parallel for` yet");
  if (auto* r = ast::tryAs<ast::RangeExpr>(h.source)) countingHead(h, r, loop);
  else walkingHead(h, loop);
}

void BodyChecker::countingHead(const ast::LoopHead& h, const ast::RangeExpr* r, Loop& loop) {
  Span at = h.item ? Span{h.item->place, h.item->length} : Span{};
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
}

void BodyChecker::walkingHead(const ast::LoopHead& h, Loop& loop) {
  Span at = h.item ? Span{h.item->place, h.item->length} : Span{};
  loop.form = Loop::Form::Walk;
  walked = h.source;
  loop.source = expr(h.source);
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
      if (k == Kind::Tensor || (get(loop.source).kind == ExprKind::Builtin && get(loop.source).builtin == Builtin::Lines)) viewLocals.insert(local.index);
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
        if (place && isView(value)) {
          error(s->value, "a slice is made where it is used and cannot be answered as a place").note("answer a copy: `" + show(types.unmarked(typeOf(value))) + "` as the result, and `Copy(" + quoteExact(s->value) + ")`");
          value = errorExpr(s->value);
        }
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
