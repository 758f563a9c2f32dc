// The walk over one instance. It runs twice: the first time silently, to learn which variables ever hold recorded values (a mark holds
// for the whole scope of a variable), the second time to report.
#include "frontend/tape_walk.h"

#include <algorithm>
#include <utility>

#include "frontend/check.h"
#include "frontend/signature.h"

namespace mica::tape {

Walk::Walk(Rules& r, const Instance& i, Summary& s, std::string by)
    : rules(r), program(r.program), types(r.program.types), t(r.program.types), instance(i), marks(r.marks.of(i)), decl(r.program.get(i.decl)), body(*r.program.get(i.decl).body), summary(s),
      askedBy(std::move(by)) {
  inside.resize(body.locals.size());
  recordedLocal.resize(body.locals.size());
  names.resize(body.locals.size());
  callRecorded.resize(body.exprs.size());
}

void Walk::run() {
  for (bool silent : {true, false}) {
    quiet = silent;
    flow = {};
    flow.state = instance.window ? State::Open : State::None;
    for (size_t k = 0; k < body.params.size() && k < instance.params.size(); k++)
      if (instance.window && local(body.params[k]).mode != Mode::Inout && t.mentionsTracked(instance.params[k])) recordedLocal[body.params[k].index] = 1;
    statements(body.statements);
  }
}

// ---- words ----

Span Walk::span(ExprId e) const {
  const Expr& x = expr(e);
  return Span{x.start.file ? x.start : x.place, std::max(1u, x.length)};
}

std::string Walk::source(ExprId e) const { return std::string(rules.sources.quote(Span{expr(e).start, expr(e).length})); }

std::string Walk::shortSource(ExprId e) const {
  std::string text = source(e);
  return text.empty() || text.size() > 60 || text.find('\n') != std::string::npos ? "…" : text;
}

std::string Walk::rewritten(ExprId whole, ExprId part, const std::string& by) const {
  const Expr& w = expr(whole);
  const Expr& p = expr(part);
  std::string text = source(whole);
  if (w.start.file != p.start.file || text.empty() || p.length == 0) return by;
  uint32_t from = rules.sources.offset(w.start), at = rules.sources.offset(p.start);
  if (at < from || at + p.length > from + text.size()) return by;
  text.replace(at - from, p.length, by);
  return text.size() > 70 || text.find('\n') != std::string::npos ? by : text;
}

// What the checker or ownership refused already is left alone.
Diagnostic* Walk::error(ExprId at, const std::string& text) {
  if (quiet || !flow.live) return nullptr;
  for (const Diagnostic& d : rules.diagnostics.all()) if (d.span.place == span(at).place) return nullptr;
  if (!rules.reported.insert({instance.decl.index, at.index}).second) return nullptr;
  return &rules.diagnostics.error(span(at), text);
}

Diagnostic* Walk::error(Span at, const std::string& text) { return quiet || !flow.live ? nullptr : &rules.diagnostics.error(at, text); }

// ---- places ----

bool Walk::isPlace(ExprId id) const {
  if (!id) return false;
  const Expr& e = expr(id);
  switch (e.kind) {
    case ExprKind::Local: return true;
    case ExprKind::Field: case ExprKind::Element: case ExprKind::MapElement: case ExprKind::Slice: return isPlace(e.children[0]);
    case ExprKind::Call: return e.callee && program.get(e.callee).resultMode != ResultMode::Value && !e.children.empty() && isPlace(e.children[0]);
    case ExprKind::Builtin: return (e.builtin == Builtin::Find || e.builtin == Builtin::FindInout || e.builtin == Builtin::Unbox) && isPlace(e.children[0]);
    default: return false;
  }
}

ExprId Walk::tensorOf(ExprId id) const {
  while ((expr(id).kind == ExprKind::Element || expr(id).kind == ExprKind::Slice) && typ(typeOf(expr(id).children[0])).kind == Kind::Tensor) id = expr(id).children[0];
  return id;
}

// The path of the buffer: a part of a tensor is in the tensor's.
Path Walk::path(ExprId id) const {
  id = tensorOf(id);
  const Expr& e = expr(id);
  if (e.kind == ExprKind::Local) return names[e.local.index] ? names[e.local.index] : Path{e.local, {}};
  if (!isPlace(id)) return {};
  Path p = path(e.children[0]);
  if (!p) return p;
  ownership::Step s;
  switch (e.kind) {
    case ExprKind::Field: s.index = e.index; break;
    case ExprKind::MapElement: {
      s.form = ownership::Step::Form::Key;
      const Expr& k = expr(e.children[1]);
      s.keyKnown = k.kind == ExprKind::String || k.kind == ExprKind::Int;
      s.key = k.kind == ExprKind::String ? k.text : std::to_string(k.intValue);
      break;
    }
    case ExprKind::Element: {
      s.form = ownership::Step::Form::Element;
      const Expr& k = expr(e.children[1]);
      ownership::Axis a;
      if (k.kind == ExprKind::Int) a = {ownership::linearConstant(k.intValue), ownership::linearConstant(k.intValue + 1), false};
      s.axes.push_back(a);
      break;
    }
    case ExprKind::Slice: s.form = ownership::Step::Form::Slice; s.axes.emplace_back(); break;
    default: return p;
  }
  p.steps.push_back(s);
  return p;
}

LocalId Walk::rootOf(ExprId id) const {
  if (!id || !isPlace(id)) return {};
  return path(id).root;
}

// Is the variable older than the window of this text?
bool Walk::outside(LocalId l) const { return l && windowLine != 0 && !inside[l.index]; }

bool Walk::holdsTensor(TypeId type, int depth) const {
  if (!type || depth > 8) return false;
  const Type& x = typ(type);
  switch (x.kind) {
    case Kind::Tensor: return t.canTrack(types.unmarked(type));
    case Kind::Parameter: return true;
    case Kind::Record: case Kind::Choice: {
      const Decl& d = program.get(x.decl);
      for (const FieldDecl& f : d.fields) if (holdsTensor(f.type, depth + 1)) return true;
      for (const CaseDecl& c : d.cases) for (const FieldDecl& f : c.fields) if (holdsTensor(f.type, depth + 1)) return true;
      for (TypeId a : x.args) if (holdsTensor(a, depth + 1)) return true;
      return false;
    }
    case Kind::Tuple:
      for (TypeId a : x.args) if (holdsTensor(a, depth + 1)) return true;
      return false;
    default: return holdsTensor(x.element, depth + 1);
  }
}

bool Walk::mentions(TypeId type, int depth) const {
  if (!type || depth > 8) return false;
  const Type& x = typ(type);
  if (x.tracked) return true;
  if (x.kind == Kind::Tensor) return false;
  if (x.kind == Kind::Record || x.kind == Kind::Choice) {
    const Decl& d = program.get(x.decl);
    for (const FieldDecl& f : d.fields) if (mentions(f.type, depth + 1)) return true;
    for (const CaseDecl& c : d.cases) for (const FieldDecl& f : c.fields) if (mentions(f.type, depth + 1)) return true;
  }
  for (TypeId a : x.args) if (mentions(a, depth + 1)) return true;
  return mentions(x.element, depth + 1);
}

void Walk::pin(ExprId id, bool made, uint32_t line) {
  if (!isPlace(id) || !holdsTensor(typeOf(tensorOf(id)))) return;
  Path p = path(id);
  if (!p) return;
  for (const Pin& x : flow.pins) if (x.path.root == p.root && x.path.steps.size() == p.steps.size() && ownership::meet(x.path, p) == ownership::Meet::Same) return;
  flow.pins.push_back({p, line, made});
}

// A new value lies in the place: its old buffer is the tape's business now.
void Walk::unpin(const Path& p) {
  if (!p) return;
  auto gone = [&](const Pin& x) { return x.path.steps.size() >= p.steps.size() && ownership::meet(x.path, p) == ownership::Meet::Same; };
  flow.pins.erase(std::remove_if(flow.pins.begin(), flow.pins.end(), gone), flow.pins.end());
}

// The place changes where it lies: refused while something recorded needs what is in it.
bool Walk::changesInPlace(ExprId place, const std::string& callName) {
  if (!recording() || !isPlace(place)) return false;
  Path p = path(place);
  for (const Pin& x : flow.pins) {
    if (ownership::meet(x.path, p) == ownership::Meet::Apart) continue;
    ExprId tensor = tensorOf(place);
    std::string name = shortSource(tensor);
    auto* m = error(place, "`" + name + "` is recorded on the tape and cannot change in place before `Backward`");
    if (!m) return true;
    std::string line = "line " + std::to_string(x.line) + (x.made ? " made it; " : " recorded it; ");
    if (!callName.empty()) m->note(line + "call `" + callName + "` after `Backward`");
    else if (x.made) m->note(line + "write `" + name + " := …`");
    else m->note(line + "write `" + name + " := …` with a new value, or change it after `Backward`");
    if (!askedBy.empty()) m->note(askedBy);
    return true;
  }
  return false;
}

// ---- values ----

// Does the value stand on the tape? A leaf does not, though it is tracked.
bool Walk::recordedValue(ExprId id) const {
  if (!id) return false;
  if (marks.recorded[id.index]) return true;
  const Expr& e = expr(id);
  bool mentions = this->mentions(typeOf(id));
  auto any = [&](const std::vector<ExprId>& list, size_t from = 0) {
    for (size_t k = from; k < list.size(); k++) if (recordedValue(list[k])) return true;
    return false;
  };
  switch (e.kind) {
    case ExprKind::Local: return recordedLocal[e.local.index];
    case ExprKind::Field: case ExprKind::Element: case ExprKind::MapElement: case ExprKind::Slice: return mentions && recordedValue(e.children[0]);
    case ExprKind::Call: return mentions && callRecorded[id.index];
    case ExprKind::CallValue: return mentions && (marks.open[id.index] || any(e.children, 1));
    case ExprKind::MakeRecord: case ExprKind::MakeTuple: case ExprKind::MakeList: case ExprKind::MakeArray: case ExprKind::MakeChoice:
    case ExprKind::MakeMap: case ExprKind::Some: case ExprKind::Convert: case ExprKind::MakeFailure:
      return any(e.children);
    case ExprKind::If: return any(e.children, 1);
    case ExprKind::Match:
      for (const Arm& a : e.arms) if (recordedValue(a.value)) return true;
      return false;
    case ExprKind::Try: case ExprKind::OrElse: return any(e.children) || recordedValue(e.handler.value);
    case ExprKind::Comprehension: return typ(e.type).kind == Kind::Tensor ? t.isTracked(typeOf(id)) : recordedValue(e.children[0]);
    case ExprKind::Builtin:
      if (e.builtin == Builtin::Copy) return mentions && (marks.open[id.index] || any(e.children));
      return mentions && any(e.children);
    default: return false;
  }
}

void Walk::flowLocal(LocalId l, bool recorded) { if (l && recorded) recordedLocal[l.index] = 1; }

// A value is put into a place by assignment or by a built-in.
void Walk::goesInto(ExprId target, ExprId value, const std::string& help) {
  LocalId root = rootOf(target);
  if (!root || !recordedValue(value)) return;
  if (outside(root)) {
    auto* m = error(value, "this value is recorded on the tape and `" + local(root).name + "` outlives the window");
    if (!m) return;
    bool leaf = t.isTracked(expr(target).type) || (expr(target).kind == ExprKind::Local && local(root).leaf);
    m->note(leaf || help.empty() ? "declare a variable inside the window, or move this line behind `Backward`" : help);
    return;
  }
  flowLocal(root, true);
  for (size_t k = 0; k < body.params.size() && k < summary.stores.size(); k++) if (body.params[k] == root) summary.stores[k] = 1;
}

// A declared field without a mark is untracked.
void Walk::field(const FieldDecl& f, TypeId fieldType, ExprId value) {
  if (!value || !fieldType || !losesMark(typeOf(value), fieldType) || typ(typeOf(value)).kind == Kind::Function) return;
  if (!recording() && !recordedValue(value)) return;
  auto* m = error(value, "the field `" + f.name + "` is not tracked and cannot take a recorded value");
  if (m) m->note((askedBy.empty() ? "" : askedBy + "; ") + "mark the field `tracked`, or write `Detach(" + shortSource(value) + ")`");
}

void Walk::join(Flow& into, const Flow& from) {
  if (!from.live) return;
  if (!into.live) {
    into = from;
    return;
  }
  if (into.state != from.state) into.state = State::Either;
  into.backwardLine = std::max(into.backwardLine, from.backwardLine);
  for (const Pin& p : from.pins) {
    bool known = std::any_of(into.pins.begin(), into.pins.end(), [&](const Pin& x) { return x.line == p.line && x.path.root == p.path.root && x.path.steps.size() == p.path.steps.size(); });
    if (!known) into.pins.push_back(p);
  }
}

// ---- expressions ----

void Walk::pinOperands(ExprId id) {
  const Expr& e = expr(id);
  for (ExprId c : e.children) if (c) pin(c, false, e.place.line);
}

// The parts of an expression, in order.
void Walk::parts(ExprId id) {
  const Expr& e = expr(id);
  switch (e.kind) {
    case ExprKind::Comprehension: comprehension(e); break;
    case ExprKind::If: case ExprKind::And: case ExprKind::Or: {
      visit(e.children[0]);
      Flow before = flow;
      visit(e.children[1]);
      if (e.children.size() > 2) {
        Flow after = flow;
        flow = before;
        visit(e.children[2]);
        join(flow, after);
      } else {
        join(flow, before);
      }
      break;
    }
    case ExprKind::Match: {
      visit(e.children[0]);
      Flow before = flow, after;
      after.live = false;
      for (const Arm& a : e.arms) {
        flow = before;
        bind(a.pattern, recordedValue(e.children[0]), path(e.children[0]));
        visit(a.guard);
        visit(a.value);
        join(after, flow);
      }
      flow = after;
      break;
    }
    default:
      for (ExprId c : e.children) visit(c);
  }
  for (const Subscript& s : e.subscripts) {
    visit(s.low);
    visit(s.high);
  }
  for (const TextPart& p : e.parts) visit(p.value);
  for (const ExtentArg& x : e.extentArgs) visit(x.value);
  if (e.kind == ExprKind::Try || e.kind == ExprKind::OrElse) handler(e.handler);
}

void Walk::visit(ExprId id) {
  if (!id) return;
  const Expr& e = expr(id);
  if (e.kind == ExprKind::Closure) return closure(id);
  parts(id);
  if (marks.recorded[id.index] && recording()) pinOperands(id);
  switch (e.kind) {
    case ExprKind::Call: call(id); break;
    case ExprKind::CallValue: callStored(id); break;
    case ExprKind::Builtin: callBuiltin(id); break;
    case ExprKind::Vocabulary:
      if (const Signature& s = signatureOf(e.row); true)
        for (size_t k = 0; k < e.children.size() && k < s.params.size(); k++) if (e.children[k] && s.params[k].isInout) changesInPlace(e.children[k], e.row->name);
      break;
    case ExprKind::Gradient: gradient(id); break;
    case ExprKind::Function:
      if (Place at = windowLine ? rules.windowOf(e.callee) : Place{}; at.file) {
        auto* m = error(id, "`" + program.get(e.callee).name + "` opens a window at line " + std::to_string(at.line) + ", and the window of line " + std::to_string(windowLine) + " is open here");
        if (m) m->note("call it outside the window");
      }
      break;
    case ExprKind::MakeRecord: {
      const Type r = typ(typeOf(id));
      if (r.kind != Kind::Record) break;
      const Decl& d = program.get(r.decl);
      for (size_t k = 0; k < e.children.size() && k < d.fields.size(); k++) field(d.fields[k], types.substitute(d.fields[k].type, r.decl, r.args, r.extents), e.children[k]);
      break;
    }
    case ExprKind::MakeChoice: {
      const Type r = typ(typeOf(id));
      if (r.kind != Kind::Choice) break;
      const CaseDecl& c = program.get(r.decl).cases[e.index];
      for (size_t k = 0; k < e.children.size() && k < c.fields.size(); k++) field(c.fields[k], types.substitute(c.fields[k].type, r.decl, r.args, r.extents), e.children[k]);
      break;
    }
    default: break;
  }
  if (e.type && typ(e.type).kind == Kind::Never && e.kind != ExprKind::Error) flow.live = false;
}

void Walk::handler(const Handler& h) {
  if (!h.present()) return;
  Flow fine = flow;
  visit(h.value);
  if (h.leaves) statement(body.stmts[h.leaves.index]);
  join(fine, flow);
  flow = fine;
}

void Walk::call(ExprId id) {
  const Expr& e = expr(id);
  const Decl& callee = program.get(e.callee);
  if (windowLine) {
    if (Place at = rules.windowOf(e.callee); at.file) {
      auto* m = error(id, "`" + callee.name + "` opens a window at line " + std::to_string(at.line) + ", and the window of line " + std::to_string(windowLine) + " is open here");
      if (m) m->note("call it outside the window");
    }
  }
  const Summary* inner = nullptr;
  bool refused = false;
  for (size_t k = 0; k < e.children.size() && k < e.modes.size(); k++)
    if (e.children[k] && e.modes[k] == Mode::Inout) refused = changesInPlace(e.children[k], callee.name) || refused;
  if (refused) return;
  if (callee.body && !callee.system) {
    Instance target = targetOf(program, instance, marks, id);
    std::string note;
    for (size_t k = 0; k < target.params.size() && k < e.children.size() && note.empty(); k++) {
      if (!e.children[k] || !t.mentionsTracked(target.params[k])) continue;
      note = "`" + callee.name + "` is called with a tracked `" + callee.params[k].name + "` at line " + std::to_string(e.place.line);
    }
    inner = &rules.of(target, note);
  }
  bool mentioned = mentions(typeOf(id)), anyRecorded = false;
  for (ExprId c : e.children) anyRecorded = anyRecorded || recordedValue(c);
  callRecorded[id.index] = mentioned && (inner && !inner->busy ? inner->returns : anyRecorded || recording());
  // A callee that hands a recorded argument on may be called in a closed window too.
  if (mentioned && anyRecorded && !recording()) callRecorded[id.index] = 1;
  bool recorded = recording() && callRecorded[id.index];
  for (size_t k = 0; k < e.children.size() && k < e.modes.size(); k++) {
    if (!e.children[k] || e.modes[k] != Mode::Inout) continue;
    ExprId place = e.children[k];
    if (!inner || k >= inner->stores.size() || !inner->stores[k]) continue;
    recorded = true;
    LocalId root = rootOf(place);
    if (outside(root)) {
      if (auto* m = error(id, "this call stores a recorded value in `" + local(root).name + "`, which outlives the window")) {
        for (size_t j = 0; j < e.children.size(); j++) {
          if (!e.children[j] || j == k || !recordedValue(e.children[j])) continue;
          m->note("write `" + withDetach(id, e.children[j]) + "`");
          break;
        }
      }
    } else {
      if (const Expr& place = expr(e.children[k]); place.kind == ExprKind::Field) {
        const Type owner = typ(typeOf(place.children[0]));
        const FieldDecl* f = owner.kind == Kind::Record ? &program.get(owner.decl).fields[place.index] : nullptr;
        if (f && !mentions(types.substitute(f->type, owner.decl, owner.args, owner.extents))) error(id, "the field `" + f->name + "` is not tracked and cannot take a recorded value");
      }
      flowLocal(root, true);
      for (size_t j = 0; j < body.params.size() && j < summary.stores.size(); j++) if (body.params[j] == root) summary.stores[j] = 1;
    }
  }
  if (recorded) pinOperands(id);
}

// A function value in a field has exactly the marks of its declared type.
void Walk::callStored(ExprId id) {
  const Expr& e = expr(id);
  if (recording() && t.mentionsTracked(typeOf(id))) pinOperands(id);
  const Expr& f = expr(e.children[0]);
  const Type type = typ(typeOf(e.children[0]));
  if (type.kind != Kind::Function) return;
  for (size_t k = 1; k < e.children.size() && k - 1 < type.args.size(); k++) {
    ExprId a = e.children[k];
    if (!a || !losesMark(typeOf(a), type.args[k - 1]) || !(recording() || recordedValue(a))) continue;
    bool isStored = f.kind == ExprKind::Field;
    auto* m = error(a, std::string("the ") + (isStored ? "stored " : "") + "function takes an untracked value, and `" + shortSource(a) + "` is tracked inside this window");
    if (!m) return;
    if (!isStored) {
      m->note("pass tracked values alone, or write `" + withDetach(id, a) + "`");
      return;
    }
    Type declared = type;
    for (TypeId& x : declared.args) if (t.canTrack(x)) x = types.withMark(x, true);
    if (declared.result && t.canTrack(declared.result)) declared.result = types.withMark(declared.result, true);
    const Type owner = typ(typeOf(f.children[0]));
    std::string name = owner.kind == Kind::Record ? program.get(owner.decl).fields[f.index].name : "…";
    m->note("declare `" + name + ": " + show(program, types.intern(declared)) + "`, or write `" + withDetach(id, a) + "`");
    return;
  }
}

// Sort with a function of its own: that is compiled once, so it takes tracked elements only when its type says so.
void Walk::sortBy(ExprId list, ExprId before) {
  const Type f = typ(typeOf(before));
  if (!recording() || f.kind != Kind::Function || f.args.empty() || !losesMark(typ(typeOf(list)).element, f.args[0])) return;
  auto* m = error(before, "the function takes an untracked value, and the elements of `" + shortSource(list) + "` are tracked inside this window");
  if (m) m->note("sort in front of the window");
}

void Walk::callBuiltin(ExprId id) {
  const Expr& e = expr(id);
  auto child = [&](size_t k) { return k < e.children.size() ? e.children[k] : ExprId{}; };
  auto put = [&](ExprId value) { if (value) goesInto(child(0), value, "write `" + withDetach(id, value) + "`"); };
  switch (e.builtin) {
    case Builtin::Copy: {
      Kind k = typ(typeOf(id)).kind;
      if (!recording() || !recordedValue(child(0)) || k == Kind::Tensor || k == Kind::Float32 || k == Kind::Float64) break;
      if (auto* m = error(id, "a copy of `" + shortSource(child(0)) + "` would not be on the tape with the values that it holds")) m->note("copy the tensors that are needed, one by one");
      break;
    }
    case Builtin::Append: case Builtin::AppendAll: case Builtin::Add: case Builtin::Replace: put(child(1)); break;
    case Builtin::Insert: put(child(2)); break;
    case Builtin::Sort: case Builtin::ClipByNorm: case Builtin::Accumulate:
      if (e.builtin == Builtin::Sort && child(1)) sortBy(child(0), child(1));
      if (child(0)) changesInPlace(child(0), e.builtin == Builtin::Sort ? "Sort" : e.builtin == Builtin::ClipByNorm ? "ClipByNorm" : "Accumulate");
      break;
    default: break;
  }
}

void Walk::gradient(ExprId id) {
  const Expr& e = expr(id);
  ExprId x = e.children[0];
  if (!windowLine || inClosure) {
    error(id, "`Gradient` stands outside a window");
    return;
  }
  if (flow.state == State::Open) {
    if (auto* m = error(id, "`Gradient` stands before `Backward`")) m->note("nothing is known about gradients until `Backward` has run");
    return;
  }
  if (!isPlace(x)) {
    if (auto* m = error(id, "`Gradient` needs a place, and this is a computed value")) m->note("give it a name before `Backward`");
    return;
  }
  if (t.isTracked(typeOf(x)) || !t.canTrack(typeOf(x))) return;
  auto* m = error(id, "`" + shortSource(x) + "` is not tracked and has no gradient");
  const Expr& place = expr(x);
  if (!m || place.kind != ExprKind::Local) return;
  const Local& l = local(place.local);
  std::string type = show(program, types.withMark(types.unmarked(l.type), true));
  const char* word = l.form == Local::Form::Var ? "var " : l.form == Local::Form::Let ? "let " : "";
  m->note(std::string("write `") + word + l.name + ": " + type + "`");
}

// A closure's text is not the window's own; what it does with captured variables counts for them.
void Walk::closure(ExprId id) {
  const Closure& c = *expr(id).closure;
  for (const Capture& x : c.captures) {
    names[x.inner.index] = names[x.outer.index] ? names[x.outer.index] : Path{x.outer, {}};
    inside[x.inner.index] = inside[x.outer.index];
    flowLocal(x.inner, recordedLocal[x.outer.index]);
  }
  for (LocalId p : c.params) {
    inside[p.index] = 1;
    flowLocal(p, recording() && t.mentionsTracked(marks.locals[p.index]));
  }
  Flow before = flow;
  std::vector<Flow> outerBreaks, outerContinues;
  std::swap(breaks, outerBreaks);
  std::swap(continues, outerContinues);
  inClosure++;
  visit(c.value);
  statements(c.body);
  inClosure--;
  std::swap(breaks, outerBreaks);
  std::swap(continues, outerContinues);
  flow = before;
}

}  // namespace mica::tape
