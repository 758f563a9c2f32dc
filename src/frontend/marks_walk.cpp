// The walk over a body: see marks_walk.h. Each round visits everything once in order of execution; types only gain marks.
#include "frontend/marks_walk.h"

#include <utility>

#include "frontend/vocabulary.h"

namespace mica {

MarkWalk::MarkWalk(Program& p, Marks& m, const Instance& i, InstanceMarks& o)
    : program(p), types(p.types), t(p.types), marks(m), instance(i), out(o), decl(p.get(i.decl)), body(decl.body.get()) {
  out.result = put(decl.result);
  if (!body) return;
  if (!out.exprs.empty()) return;                   // a further walk of an unfinished instance goes on from where it was
  for (const Expr& e : body->exprs) out.exprs.push_back(put(e.type));
  for (const Local& x : body->locals) out.locals.push_back(put(x.type));
  out.recorded.assign(body->exprs.size(), 0);
  out.open.assign(body->exprs.size(), 0);
  for (size_t k = 0; k < body->params.size() && k < instance.params.size(); k++)
    out.locals[body->params[k].index] = t.transfer(instance.params[k], out.locals[body->params[k].index]);
}

TypeId MarkWalk::put(TypeId x) { return x && !instance.typeArgs.empty() ? types.substitute(x, instance.decl, instance.typeArgs, {}) : x; }

bool MarkWalk::round() {
  if (!body) return false;
  changed = false;
  state = instance.window ? State::Open : State::None;
  returned = &out.result;
  statements(body->statements);
  return changed;
}

void MarkWalk::flow(TypeId& into, TypeId from) {
  TypeId joined = t.transfer(from, into);
  if (joined == into) return;
  into = joined;
  changed = true;
}

TypeId MarkWalk::withElement(TypeId container, TypeId element) {
  if (!container) return container;
  Type c = types.get(container);
  if (!c.element || c.kind == Kind::Tensor) return container;
  c.element = t.transfer(element, c.element);
  return types.intern(c);
}

// A value goes into a place: its variable learns the marks, through elements and tuple fields. Declared fields are fixed.
void MarkWalk::flowPlace(ExprId place, TypeId from) {
  if (!place) return;
  const Expr& e = body->exprs[place.index];
  switch (e.kind) {
    case ExprKind::Local: flowLocal(e.local, from); break;
    case ExprKind::Element: case ExprKind::MapElement: flowPlace(e.children[0], withElement(out.exprs[e.children[0].index], from)); break;
    case ExprKind::Field: {
      Type owner = types.get(out.exprs[e.children[0].index]);
      if (owner.kind == Kind::Tuple && e.index < owner.args.size()) {
        owner.args[e.index] = t.transfer(from, owner.args[e.index]);
        flowPlace(e.children[0], types.intern(owner));
      } else if (owner.kind == Kind::Record) {
        const FieldDecl& f = program.get(owner.decl).fields[e.index];
        std::vector<TypeId> args = owner.args;
        t.learn(f.type, from, owner.decl, args);
        if (args != owner.args) { owner.args = args; flowPlace(e.children[0], types.intern(owner)); }
      }
      break;
    }
    default: break;
  }
}

TypeId MarkWalk::fieldType(TypeId owner, uint32_t index) {
  const Type o = types.get(owner);
  if (o.kind == Kind::Box) return fieldType(o.element, index);
  if (o.kind == Kind::Tuple) return index < o.args.size() ? o.args[index] : TypeId();
  if (!o.decl) return {};
  const Decl& d = program.get(o.decl);
  return index < d.fields.size() ? types.substitute(d.fields[index].type, o.decl, o.args, o.extents) : TypeId();
}

// ---- statements ----

void MarkWalk::statements(const std::vector<StmtId>& list) {
  for (StmtId s : list) statement(body->stmts[s.index]);
}

void MarkWalk::branch(const std::vector<StmtId>& list, State before, State& after) {
  state = before;
  statements(list);
  bool leaves = false;                              // paths that leave do not arrive at the join
  if (!list.empty()) {
    StmtKind last = body->stmts[list.back().index].kind;
    leaves = last == StmtKind::Return || last == StmtKind::Fail || last == StmtKind::Break || last == StmtKind::Continue;
  }
  if (!leaves) after = join(after, state);
}

void MarkWalk::loop(const Loop& l) {
  if (l.form == Loop::Form::Range) {
    expr(l.low);
    expr(l.high);
    if (l.step) expr(l.step);
    return;
  }
  TypeId source = expr(l.source);
  const Type c = types.get(source);
  TypeId part = c.element;
  if (c.kind == Kind::Tensor && c.extents.size() > 1) {
    std::vector<ExtentId> rest(c.extents.begin() + 1, c.extents.end());
    part = types.withMark(types.tensor(c.element, rest, c.onGpu), c.tracked && recording());
  }
  if (c.kind == Kind::Map && l.index) flowLocal(l.index, c.key);
  if (l.variable) flowLocal(l.variable, part);
  if (l.pattern) pattern(l.pattern, part);
}

void MarkWalk::pattern(PatternId id, TypeId subject) {
  if (!id || !subject) return;
  const Pattern& p = body->patterns[id.index];
  const Type s = types.get(subject);
  switch (p.kind) {
    case PatternKind::Bind: flowLocal(p.local, subject); break;
    case PatternKind::Tuple: for (size_t k = 0; k < p.parts.size(); k++) pattern(p.parts[k], fieldType(subject, uint32_t(k))); break;
    case PatternKind::Some: if (!p.parts.empty()) pattern(p.parts[0], s.element); break;
    case PatternKind::Case: {
      if (s.kind != Kind::Choice) break;
      const CaseDecl& c = program.get(s.decl).cases[p.index];
      for (size_t k = 0; k < p.parts.size() && k < c.fields.size(); k++) pattern(p.parts[k], types.substitute(c.fields[k].type, s.decl, s.args, s.extents));
      break;
    }
    case PatternKind::Literal: case PatternKind::Range:
      if (p.low) expr(p.low);
      if (p.high) expr(p.high);
      break;
    default: break;
  }
}

void MarkWalk::arms(const std::vector<Arm>& list, TypeId subject, TypeId* value) {
  State before = state, after = State::None;
  bool first = true;
  for (const Arm& a : list) {
    state = before;
    pattern(a.pattern, subject);
    if (a.guard) expr(a.guard);
    if (a.value) {
      TypeId v = expr(a.value);
      if (value) *value = t.transfer(v, *value);
    }
    State ended = State::None;
    branch(a.body, state, ended);
    after = first ? ended : join(after, ended);
    first = false;
  }
  state = first ? before : after == State::None ? before : after;
}

void MarkWalk::statement(const Stmt& s) {
  switch (s.kind) {
    case StmtKind::Expression: expr(s.value); break;
    case StmtKind::Declare: {
      TypeId v = expr(s.value);
      flowLocal(s.local, v);
      pattern(s.pattern, v);
      break;
    }
    case StmtKind::Assign: {
      TypeId v = expr(s.value);
      expr(s.target);
      flowPlace(s.target, v);
      break;
    }
    case StmtKind::AssignTuple:
      for (ExprId v : s.values) expr(v);
      for (size_t k = 0; k < s.targets.size(); k++) {
        if (!s.targets[k]) continue;
        expr(s.targets[k]);
        TypeId v = s.values.size() == s.targets.size() ? out.exprs[s.values[k].index] : fieldType(out.exprs[s.values[0].index], uint32_t(k));
        flowPlace(s.targets[k], v);
      }
      break;
    case StmtKind::Update: {
      TypeId target = expr(s.target), v = expr(s.value);
      if (s.second) flowPlace(s.target, expr(s.second));
      else if (types.get(target).kind == Kind::List) flowPlace(s.target, withElement(target, element(v)));
      break;
    }
    case StmtKind::If: {
      expr(s.value);
      State before = state, after = State::None;
      branch(s.body, before, after);
      branch(s.otherwise, before, after);
      state = after == State::None ? before : after;
      break;
    }
    case StmtKind::IfLet: case StmtKind::WhileLet: {
      TypeId v = expr(s.value);
      flowLocal(s.local, element(v));
      pattern(s.pattern, element(v));
      State before = state, after = State::None;
      branch(s.body, before, after);
      branch(s.otherwise, before, after);
      state = after == State::None ? before : after;
      break;
    }
    case StmtKind::While: case StmtKind::LoopForever: case StmtKind::For: {
      if (s.value) expr(s.value);
      if (s.loop) loop(*s.loop);
      State before = state;
      statements(s.body);
      state = join(before, state);
      break;
    }
    case StmtKind::Match: {
      TypeId v = expr(s.value);
      arms(s.arms, v, nullptr);
      break;
    }
    case StmtKind::Return:
      if (s.value && returned) flow(*returned, expr(s.value));
      break;
    case StmtKind::Fail: if (s.value) expr(s.value); break;
    case StmtKind::Assert:
      expr(s.value);
      if (s.second) expr(s.second);
      break;
    case StmtKind::Tape: {
      State before = state;
      state = State::Open;
      statements(s.body);
      state = before;
      break;
    }
    case StmtKind::Backward:
      // A refused one changes nothing.
      if (TypeId v = expr(s.value); state != State::None && types.get(v).kind != Kind::Tensor && t.isTracked(v)) state = State::Closed;
      break;
    case StmtKind::Each:
      for (ExprId v : s.values) expr(v);
      for (const EachLeaf& leaf : s.leaves) {
        for (LocalId x : leaf.locals) if (x) flow(out.locals[x.index], types.withMark(out.locals[x.index], true));
        statements(leaf.body);
      }
      break;
    case StmtKind::Attempt: {
      State before = state;
      statements(s.body);
      State after = state;
      for (const Recover& r : s.recovers) {
        state = join(before, after);
        statements(r.body);
        after = join(after, state);
      }
      state = after;
      break;
    }
    case StmtKind::Tasks: case StmtKind::Block: statements(s.body); break;
    default: break;
  }
}

// ---- expressions ----

TypeId MarkWalk::expr(ExprId id) {
  if (!id) return {};
  const Expr& e = body->exprs[id.index];
  ExprId outer = std::exchange(current, id);
  out.open[id.index] = recording();
  TypeId found = shape(id, e);
  current = outer;
  if (found) {
    // A value's mark is that of this round's state: a plain result in one round stays plain unless its operands gain marks.
    flow(out.exprs[id.index], found);
  }
  return out.exprs[id.index];
}

bool MarkWalk::anyTracked(const std::vector<ExprId>& list) {
  for (ExprId c : list) if (c && t.isTracked(out.exprs[c.index])) return true;
  return false;
}

TypeId MarkWalk::operation(const Expr& e, TypeId plain, bool differentiable) {
  bool tracked = differentiable && recording() && t.canTrack(plain) && anyTracked(e.children);
  if (tracked && !out.recorded[current.index]) { out.recorded[current.index] = 1; changed = true; }
  return types.withMark(types.unmarked(plain), tracked);
}

void MarkWalk::handler(const Handler& h, TypeId& type) {
  State before = state;
  if (h.value) type = t.transfer(expr(h.value), type);
  if (h.leaves) statement(body->stmts[h.leaves.index]);
  state = before;
}

TypeId MarkWalk::shape(ExprId id, const Expr& e) {
  TypeId declared = put(e.type);
  TypeId plain = t.canTrack(declared) ? types.unmarked(declared) : declared;
  if (e.kind != ExprKind::Closure && e.kind != ExprKind::Call && e.kind != ExprKind::CallValue)
    for (ExprId c : e.children) expr(c);
  for (const Subscript& s : e.subscripts) { expr(s.low); expr(s.high); }
  for (const ExtentArg& x : e.extentArgs) expr(x.value);
  switch (e.kind) {
    case ExprKind::Local: return out.locals[e.local.index];
    case ExprKind::Unary: case ExprKind::Binary: case ExprKind::Convert: return operation(e, plain, true);
    case ExprKind::Vocabulary: return operation(e, plain, e.row && e.row->backward);
    case ExprKind::Some: { Type o = types.get(declared); o.element = t.transfer(out.exprs[e.children[0].index], o.element); return types.intern(o); }
    case ExprKind::Call: case ExprKind::CallValue: return call(id, e);
    case ExprKind::Builtin: return builtin(e, plain);
    case ExprKind::Field: { TypeId f = fieldType(out.exprs[e.children[0].index], e.index); return f ? t.transfer(f, declared) : declared; }
    case ExprKind::Element: {
      TypeId owner = out.exprs[e.children[0].index];
      if (types.get(owner).kind == Kind::Tensor) { std::vector<ExprId> base{e.children[0]}; return recording() && anyTracked(base) ? operation(e, plain, true) : plain; }
      return t.transfer(element(owner), declared);
    }
    case ExprKind::MapElement: return t.transfer(element(out.exprs[e.children[0].index]), declared);
    case ExprKind::Slice: {
      TypeId owner = out.exprs[e.children[0].index];
      if (types.get(owner).kind == Kind::Tensor) return operation(e, plain, true);
      return t.transfer(owner, declared);
    }
    case ExprKind::MakeRecord: {
      Type r = types.get(declared);
      if (r.kind != Kind::Record) return declared;
      const Decl& d = program.get(r.decl);
      for (size_t k = 0; k < e.children.size() && k < d.fields.size(); k++)
        if (e.children[k]) t.learn(d.fields[k].type, out.exprs[e.children[k].index], r.decl, r.args);
      return types.intern(r);
    }
    case ExprKind::MakeTuple: {
      Type r = types.get(declared);
      for (size_t k = 0; k < e.children.size() && k < r.args.size(); k++) r.args[k] = t.transfer(out.exprs[e.children[k].index], r.args[k]);
      return types.intern(r);
    }
    case ExprKind::MakeList: case ExprKind::MakeArray: case ExprKind::MakeSet: {
      TypeId c = declared;
      for (ExprId child : e.children) c = withElement(c, out.exprs[child.index]);
      return c;
    }
    case ExprKind::MakeMap: {
      TypeId c = declared;
      for (size_t k = 1; k < e.children.size(); k += 2) c = withElement(c, out.exprs[e.children[k].index]);
      return c;
    }
    case ExprKind::MakeTensor: return operation(e, plain, true);
    case ExprKind::Comprehension: {
      loop(*e.loop);
      for (ExprId c : e.children) expr(c);          // again, now that the loop's variable is known
      if (types.get(declared).kind == Kind::Tensor) { std::vector<ExprId> value{e.children[0]}; return types.withMark(plain, recording() && anyTracked(value)); }
      return withElement(declared, out.exprs[e.children[0].index]);
    }
    case ExprKind::Interpolation: for (const TextPart& p : e.parts) expr(p.value); return declared;
    case ExprKind::If: {
      TypeId joined = plain;
      for (size_t k = 1; k < e.children.size(); k++) joined = t.transfer(out.exprs[e.children[k].index], joined);
      return joined;
    }
    case ExprKind::Match: {
      TypeId joined = plain;
      arms(e.arms, out.exprs[e.children[0].index], &joined);
      return joined;
    }
    case ExprKind::Try: {
      TypeId joined = t.transfer(out.exprs[e.children[0].index], plain);
      handler(e.handler, joined);
      return joined;
    }
    case ExprKind::OrElse: {
      TypeId joined = t.transfer(element(out.exprs[e.children[0].index]), plain);
      handler(e.handler, joined);
      return joined;
    }
    case ExprKind::Closure: return closure(e, declared, false);
    case ExprKind::Gradient: case ExprKind::Detach: return plain;
    default: return declared;
  }
}

TypeId MarkWalk::call(ExprId id, const Expr& e) {
  // Closures see the other arguments' marks: what the function they are passed to will give them.
  bool tracked = false;
  for (ExprId c : e.children) {
    if (!c || body->exprs[c.index].kind == ExprKind::Closure) continue;
    tracked |= t.isTracked(expr(c));
  }
  for (ExprId c : e.children) {
    if (!c || body->exprs[c.index].kind != ExprKind::Closure) continue;
    out.open[c.index] = recording();
    flow(out.exprs[c.index], closure(body->exprs[c.index], put(body->exprs[c.index].type), tracked && recording()));
  }
  TypeId declared = put(e.type);
  TypeId plain = t.canTrack(declared) ? types.unmarked(declared) : declared;
  if (e.kind == ExprKind::CallValue) {
    const Type f = types.get(out.exprs[e.children[0].index]);
    return t.transfer(f.result, plain);
  }
  Instance target = targetOf(program, instance, out, id);
  marks.depth++;
  const InstanceMarks& inner = marks.of(target);
  marks.depth--;
  // What an `inout` argument gains inside, its variable has from the start.
  const Decl& callee = program.get(target.decl);
  for (size_t k = 0; callee.body && k < callee.body->params.size() && k < e.children.size(); k++) {
    LocalId param = callee.body->params[k];
    if (e.children[k] && k < e.modes.size() && e.modes[k] == Mode::Inout && param.index < inner.locals.size()) flowPlace(e.children[k], inner.locals[param.index]);
  }
  return t.transfer(inner.result, plain);
}

TypeId MarkWalk::builtin(const Expr& e, TypeId plain) {
  auto argument = [&](size_t k) { return k < e.children.size() && e.children[k] ? out.exprs[e.children[k].index] : TypeId(); };
  switch (e.builtin) {
    case Builtin::Append: case Builtin::Add: flowPlace(e.children[0], withElement(argument(0), argument(1))); return plain;
    case Builtin::Insert: flowPlace(e.children[0], withElement(argument(0), argument(2))); return plain;
    case Builtin::AppendAll: flowPlace(e.children[0], argument(1)); return plain;
    case Builtin::Replace: flowPlace(e.children[0], argument(1)); return t.transfer(argument(0), plain);
    case Builtin::Take: return t.transfer(argument(0), plain);
    case Builtin::Remove: case Builtin::RemoveLast: case Builtin::Find: case Builtin::FindInout: case Builtin::Unbox: {
      Type r = types.get(plain);
      if (r.kind == Kind::Optional) { r.element = t.transfer(element(argument(0)), r.element); return types.intern(r); }
      return t.transfer(element(argument(0)), plain);
    }
    case Builtin::Keys: return withElement(plain, types.get(argument(0)).key);
    case Builtin::Values: case Builtin::List: return withElement(plain, element(argument(0)));
    case Builtin::Box: return withElement(plain, argument(0));
    case Builtin::Copy:
      if (t.canTrack(plain)) return operation(e, plain, true);
      return t.transfer(argument(0), plain);
    case Builtin::Reshape: case Builtin::Concat: case Builtin::Repeat: case Builtin::Vector: case Builtin::Abs: case Builtin::Min: case Builtin::Max:
      return operation(e, plain, true);
    default: return plain;
  }
}

TypeId MarkWalk::closure(const Expr& e, TypeId plain, bool trackedArguments) {
  const Closure& c = *e.closure;
  Type f = types.get(plain);
  for (const Capture& x : c.captures) flow(out.locals[x.inner.index], out.locals[x.outer.index]);
  for (size_t k = 0; k < c.params.size(); k++) {
    if (trackedArguments && t.canTrack(out.locals[c.params[k].index])) flow(out.locals[c.params[k].index], types.withMark(out.locals[c.params[k].index], true));
    if (k < f.args.size()) f.args[k] = t.transfer(out.locals[c.params[k].index], f.args[k]);
  }
  State before = state;
  TypeId* outer = returned;
  TypeId result = f.result;
  returned = &result;
  bool was = changed;
  if (c.value) result = t.transfer(expr(c.value), result);
  statements(c.body);
  changed |= was;
  returned = outer;
  state = before;
  f.result = result;
  return types.intern(f);
}

}  // namespace mica
