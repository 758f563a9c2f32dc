// Statements: declarations and what they name, branches, loops and the ways out of them.
#include <algorithm>

#include "frontend/ownership_check.h"

namespace mica::ownership {

void Check::block(const std::vector<StmtId>& list) {
  size_t mark = borrows.size();
  for (StmtId s : list) statement(body.stmts[s.index]);
  borrows.resize(mark);
}

void Check::statement(const Stmt& s) {
  switch (s.kind) {
    case StmtKind::Error: return;
    case StmtKind::Expression: return value(s.value, Use::Read);
    case StmtKind::Declare: return declare(s);
    case StmtKind::Assign: return assign(s);
    case StmtKind::Update: {
      assignment = &s;
      ExprId target = s.target;
      size_t mark = borrows.size();
      inUse(pathOnly(target), target);
      value(s.value, Use::Read);
      borrows.resize(mark);
      Path p = change(target);
      if (p) {
        access(p, Access::Change, target);
        versions[p.root.index]++;
      }
      assignment = nullptr;
      return;
    }
    case StmtKind::AssignTuple: {
      for (ExprId v : s.values) {
        if (exchanged(s, v)) {
          access(place(v), Access::Read, v);
          continue;
        }
        Site site = siteOf(v, v);
        site.to = "the left side of this assignment";
        taken(v, Use::Store, v, site);
      }
      for (ExprId t : s.targets) {
        if (!t) continue;
        Stmt single;
        single.kind = StmtKind::Assign;
        single.target = t;
        assignment = &single;
        store(t);
        assignment = nullptr;
      }
      return;
    }
    case StmtKind::If: case StmtKind::IfLet: return conditional(s);
    case StmtKind::While: case StmtKind::WhileLet: case StmtKind::LoopForever: case StmtKind::For: return loop(s);
    case StmtKind::Match: return match(s.value, s.arms, s.mode, Use::Read);
    case StmtKind::Break:
      if (!loops.empty()) join(loops.back().breaks, flow);
      flow.live = false;
      return;
    case StmtKind::Continue:
      if (!loops.empty()) join(loops.back().continues, flow);
      flow.live = false;
      return;
    case StmtKind::Return: return returned(s);
    case StmtKind::Fail:
      if (s.value) {
        taken(s.value, Use::Store, s.value, siteOf(s.value, s.value));
        failWith({typeOf(s.value)}, false, {});
      }
      flow.live = false;
      return;
    case StmtKind::Assert: {
      value(s.value, Use::Read);
      Flow before = flow;
      if (s.second) value(s.second, Use::Read);
      flow = before;
      return;
    }
    case StmtKind::Backward: return value(s.value, Use::Read);
    case StmtKind::Each: return each(s);
    case StmtKind::Attempt: return attempt(s);
    case StmtKind::Tape: case StmtKind::Tasks: case StmtKind::Block: return block(s.body);
  }
}

// ---- declarations and assignments ----

void Check::declare(const Stmt& s) {
  if (!s.local) {
    if (!s.pattern) return value(s.value, Use::Read);   // `_ := e`
    Site site = siteOf(s.value, s.value);
    site.to = "the names of this line";
    taken(s.value, Use::Store, s.value, site);
    bind(s.pattern, {}, s.value, Mode::Move, true, "", "");
    return;
  }
  const Local& x = local(s.local);
  ExprId inner = through(s.value);
  const Expr& v = expr(inner);
  bool owning = !copying(v.type);
  std::string word = x.form == Local::Form::Var ? "var " : "let ";
  std::string copyHelp = "write `" + word + x.name + " := " + copied(inner) + "`";
  auto finish = [&] {
    setWhole(s.local);
    versions[s.local.index]++;
  };
  if (x.form == Local::Form::NamedInout) {
    Path p = change(s.value);
    if (p) access(p, Access::Change, inner);
    finish();
    origins[s.local.index] = p;
    return borrow(nameBorrow(s.local, p, s.value, true, ""));
  }
  std::string help = "; write `" + copied(inner) + "` or close the block first";
  if (x.form == Local::Form::NamedRead) {
    Path p = isPlace(inner) ? place(inner) : Path{};
    if (!isPlace(inner)) value(inner, Use::Read);
    access(p, Access::Read, inner);
    finish();
    origins[s.local.index] = p;
    return borrow(nameBorrow(s.local, p, s.value, false, v.kind == ExprKind::Call || v.kind == ExprKind::Builtin ? "" : help));
  }
  origins[s.local.index] = {};
  borrowedBy[s.local.index].clear();
  if (v.kind == ExprKind::Closure) {
    std::vector<Captured> found = closure(inner);
    finish();
    if (v.closure->moves || found.empty()) return;
    borrowedBy[s.local.index] = local(found[0].path.root).name;
    for (const Captured& c : found) access(c.path, c.change ? Access::Change : Access::Read, inner);
    for (const Captured& c : found) {
      Borrow b;
      b.holder = Borrow::Holder::Closure;
      b.path = c.path;
      b.change = c.change;
      b.name = x.name;
      b.place = c.name;
      b.line = x.place.line;
      borrow(b);
    }
    return;
  }
  auto needsOwn = [&](ExprId at) {
    bool part = expr(at).kind != ExprKind::Local;
    std::string owner = part ? "belongs to `" + ownerOf(at) + "`" : local(expr(at).local).form == Local::Form::Parameter ? "belongs to the caller" : "names a place";
    if (auto* m = error(s.value, "`var` needs a value of its own and `" + shortSource(at) + "` " + owner)) {
      m->note("write `var " + x.name + " := " + copied(at) + "`, or `let " + x.name + " := " + shortSource(at) + "` to read it in place");
    }
  };
  // `try maybe else v` of a place names the part, as `let` of a place does.
  if (v.kind == ExprKind::OrElse && owning && isPlace(v.children[0]) && !(expr(v.children[0]).kind == ExprKind::Local && movable(expr(v.children[0]).local))) {
    ExprId part = v.children[0];
    Path p = place(part);
    access(p, Access::Read, part);
    handler(v.handler, Use::Take, uint32_t(sites.size()), Why::Plain);
    if (x.form == Local::Form::Var && p) needsOwn(part);
    finish();
    if (!p) return;
    p.steps.push_back(partStep());
    origins[s.local.index] = p;
    return borrow(nameBorrow(s.local, p, part, false, ""));
  }
  bool ownedLocal = v.kind == ExprKind::Local && movable(v.local);
  if (x.form == Local::Form::Var && owning && isPlace(inner) && !ownedLocal) {
    Path p = place(inner);
    access(p, Access::Read, inner);
    if (p) needsOwn(inner);
    return finish();
  }
  if (ownedLocal && !borrowedBy[v.local.index].empty()) {   // another name for a closure that borrows
    needWhole(v.local, inner);
    finish();
    borrowedBy[s.local.index] = borrowedBy[v.local.index];
    return;
  }
  Site site = siteOf(inner, inner);
  site.to = "`" + x.name + "`";
  site.rewrite = word + x.name + " := " + copied(inner);
  taken(s.value, Use::Take, inner, site);
  finish();
}

// The variable that a place belongs to, as messages call it.
std::string Check::ownerOf(ExprId at) const {
  ExprId id = at;
  while (expr(id).kind != ExprKind::Local && !expr(id).children.empty()) id = through(expr(id).children[0]);
  return shortSource(id);
}

// The source of a place up to its first index.
std::string Check::fieldsOf(ExprId at) const {
  ExprId found = through(at);
  for (ExprId id = found; expr(id).kind != ExprKind::Local && !expr(id).children.empty(); id = through(expr(id).children[0]))
    if (expr(id).kind != ExprKind::Field) found = through(expr(id).children[0]);
  return shortSource(found);
}

Step Check::partStep() {
  Step s;
  s.form = Step::Form::Part;
  return s;
}

void Check::assign(const Stmt& s) {
  assignment = &s;
  const Expr& target = expr(s.target);
  ExprId inner = through(s.value);
  // Into an element or slice of a tensor goes a copy of the numbers.
  bool copiesNumbers = target.kind == ExprKind::Slice;
  size_t mark = borrows.size();
  inUse(pathOnly(s.target), s.target);
  if (copiesNumbers) {
    value(s.value, Use::Read);
  } else {
    Site site = siteOf(inner, inner);
    site.to = "`" + shortSource(s.target) + "`";
    site.rewrite = shortSource(s.target) + " := " + copied(inner);
    taken(s.value, Use::Store, inner, site);
  }
  borrows.resize(mark);
  store(s.target);
  assignment = nullptr;
}

// `(a, b) := (b, a)`: a place that takes another value in the same statement gives its own away, whoever owns it.
bool Check::exchanged(const Stmt& s, ExprId value) {
  if (!isPlace(value) || copying(typeOf(value))) return false;
  std::string text = source(value);
  return std::any_of(s.targets.begin(), s.targets.end(), [&](ExprId t) { return t && isPlace(t) && source(t) == text; });
}

// A place takes a value: a variable is whole again.
void Check::store(ExprId target) {
  Path p = change(target);
  if (!p) return;
  access(p, Access::Change, target);
  if (expr(target).kind == ExprKind::Local) setWhole(p.root);
  versions[p.root.index]++;
}

void Check::bind(PatternId id, const Path& path, ExprId source, Mode mode, bool owned, const std::string& help, const std::string& changing) {
  if (!id) return;
  const Pattern& p = body.patterns[id.index];
  if (p.kind == PatternKind::Bind) return bindLocal(p.local, path, source, mode, owned, help, changing);
  for (size_t k = 0; k < p.parts.size(); k++) {
    if (p.kind == PatternKind::Either) continue;
    Path part = path;
    if (part) {
      Step step;
      step.form = p.kind == PatternKind::Tuple ? Step::Form::Field : Step::Form::Part;
      step.index = uint32_t(k);
      part.steps.push_back(step);
    }
    bind(p.parts[k], part, source, mode, owned, help, changing);
  }
}

void Check::bindLocal(LocalId l, const Path& path, ExprId source, Mode mode, bool owned, const std::string& help, const std::string& changing) {
  if (!l) return;
  setWhole(l);
  versions[l.index]++;
  freshPart[l.index] = owned;
  origins[l.index] = {};
  if (owned || !path || (mode == Mode::Read && copying(local(l).type))) return;
  origins[l.index] = path;
  changeHelp[l.index] = changing;
  borrow(nameBorrow(l, path, source, mode == Mode::Inout, help));
}

// ---- branches ----

void Check::conditional(const Stmt& s) {
  size_t mark = borrows.size();
  Subject subject;
  if (s.kind == StmtKind::If) value(s.value, Use::Read);
  else subject = subjectOf(s.value, s.mode, "another variable");
  Flow before = flow;
  if (s.kind == StmtKind::IfLet) bindCondition(s, subject);
  block(s.body);
  borrows.resize(mark);
  Flow after = flow;
  flow = before;
  block(s.otherwise);
  join(after, flow);
  flow = after;
}

// What `if let`, `while let` and `match` look at: its path, or a value that nobody else owns.
Check::Subject Check::subjectOf(ExprId id, Mode mode, const std::string& to) {
  Subject out;
  ExprId inner = through(id);
  bool consumed = mode == Mode::Move;
  if (consumed || !isPlace(inner)) {
    Site site = siteOf(inner, inner);
    site.to = to;
    if (consumed) taken(id, Use::Store, inner, site);
    else value(id, Use::Read);
    out.owned = true;
    return out;
  }
  if (mode == Mode::Inout) {
    out.path = change(id);
    if (out.path) access(out.path, Access::Change, inner);
  } else {
    out.path = place(inner);
    access(out.path, Access::Read, inner);
  }
  out.owned = !out.path && mode == Mode::Read;
  return out;
}

void Check::bindCondition(const Stmt& s, const Subject& subject) {
  Path part = subject.path;
  if (part) part.steps.push_back(partStep());
  std::string name = s.local ? local(s.local).name : "x";
  std::string place = shortSource(s.value);
  std::string word = s.kind == StmtKind::IfLet ? "if let " : "while let ";
  std::string end = s.kind == StmtKind::IfLet ? " then`" : " do`";
  bool plain = expr(through(s.value)).kind != ExprKind::Call && expr(through(s.value)).kind != ExprKind::Builtin;
  std::string help = plain ? "=; write `" + word + name + " := Take(inout " + place + ")" + end : "";
  std::string changing = "write `" + word + "inout " + name + " := " + place + end;
  if (s.local) bindLocal(s.local, part, s.value, s.mode, subject.owned, help, changing);
  bind(s.pattern, part, s.value, s.mode, subject.owned, help, changing);
}

void Check::boundWhole(PatternId id, ExprId at) {
  if (!id) return;
  const Pattern& p = body.patterns[id.index];
  if (p.kind == PatternKind::Bind) return needWhole(p.local, at);
  for (PatternId part : p.parts) boundWhole(part, at);
}

void Check::match(ExprId subjectId, const std::vector<Arm>& arms, Mode mode, Use use) {
  Subject subject = subjectOf(subjectId, mode, "the arms of this `match`");
  std::string place = shortSource(subjectId);
  Flow before = flow, after;
  after.live = false;
  size_t mark = borrows.size();
  for (const Arm& a : arms) {
    flow = before;
    bind(a.pattern, subject.path, subjectId, mode, subject.owned, "=; write `match move " + place + "` to take it apart", "write `match inout " + place + "`");
    if (a.guard) {
      value(a.guard, Use::Read);
      // The arms behind look at the subject again, and at its parts.
      if (!subject.owned && !copying(typeOf(subjectId)) && &a != &arms.back()) stillThere(subjectId);
      boundWhole(a.pattern, a.guard);
      join(before, flow);
    }
    if (a.value) {
      taken(a.value, use, a.value, siteOf(a.value, a.value));
      if (kindOf(a.value) == Kind::Never) flow.live = false;
    }
    block(a.body);
    borrows.resize(mark);
    join(after, flow);
  }
  if (arms.empty()) after = before;
  flow = after;
}

void Check::attempt(const Stmt& s) {
  AttemptFrame frame{&s.recovers, {}, uint32_t(sites.size())};
  Flow never = flow;
  never.live = false;
  frame.flows.assign(s.recovers.size(), never);
  attempts.push_back(std::move(frame));
  block(s.body);
  std::vector<Flow> starts = std::move(attempts.back().flows);
  attempts.pop_back();
  Flow after = flow;
  for (size_t k = 0; k < s.recovers.size(); k++) {
    flow = starts[k];
    setWhole(s.recovers[k].local);
    block(s.recovers[k].body);
    join(after, flow);
  }
  flow = after;
}

// ---- loops ----

// May the second round of a loop find anything that the first did not? Only when owners changed, or variables in the indices of borrowed places.
bool Check::differs(const Flow& before) const {
  auto sameState = [](const auto& a, const auto& b) { return a.first == b.first && a.second.state == b.second.state; };
  if (!std::equal(flow.owners.begin(), flow.owners.end(), before.owners.begin(), before.owners.end(), sameState)) return true;
  auto counts = [](const Axis& a) { return !a.low.terms.empty() || !a.high.terms.empty(); };
  for (const Borrow& b : borrows)
    for (const Step& s : b.path.steps) if (std::any_of(s.axes.begin(), s.axes.end(), counts)) return true;
  return false;
}

// A body runs twice: once from the state before, once from the state at the end of the first round.
template <class Condition, class Inside>
void Check::rounds(bool endless, Condition condition, Inside inside) {
  uint32_t first = uint32_t(sites.size());
  Flow never = flow, exits;
  never.live = exits.live = false;
  loops.push_back({never, never});
  size_t mark = borrows.size();
  auto head = [&] {   // what leaves the condition leaves the loop around this one
    LoopFrame own = std::move(loops.back());
    loops.pop_back();
    condition();
    loops.push_back(std::move(own));
  };
  for (int round = 0; round < 2 && flow.live; round++) {
    Flow entry = flow;
    head();
    if (!endless) join(exits, flow);
    inside();
    borrows.resize(mark);
    join(flow, loops.back().continues);
    if (flow.live && !differs(entry)) break;
    loops.back().continues = never;
    for (auto& [l, o] : flow.owners) if (o.site >= first) o.why = Why::EarlierRound;
  }
  if (flow.live && !endless) {
    head();
    join(exits, flow);
    borrows.resize(mark);
  }
  join(exits, loops.back().breaks);
  loops.pop_back();
  flow = exits.live ? exits : never;
  for (auto& [l, o] : flow.owners) if (o.why == Why::EarlierRound && o.site >= first) o.why = Why::Plain;
}

void Check::loop(const Stmt& s) {
  size_t mark = borrows.size();
  auto nothing = [] {};
  switch (s.kind) {
    case StmtKind::While: rounds(false, [&] { value(s.value, Use::Read); }, [&] { block(s.body); }); break;
    case StmtKind::WhileLet: {
      Subject subject;
      rounds(false, [&] { subject = subjectOf(s.value, s.mode, "another variable"); },
             [&] {
               bindCondition(s, subject);
               block(s.body);
             });
      break;
    }
    case StmtKind::LoopForever: rounds(true, nothing, [&] { block(s.body); }); break;
    default: {
      Walk walk = enterWalk(*s.loop, s.place);
      rounds(false, nothing, [&] {
        bindElement(*s.loop, walk);
        block(s.body);
      });
    }
  }
  borrows.resize(mark);
}

// The head of a loop: bounds, or what is walked, which stays borrowed for the whole loop.
Check::Walk Check::enterWalk(const Loop& l, Place at) {
  Walk walk;
  if (l.form == Loop::Form::Range) {
    value(l.low, Use::Read);
    value(l.high, Use::Read);
    if (l.step) value(l.step, Use::Read);
    return walk;
  }
  ExprId source = through(l.source);
  // The characters and lines of a text, and views, lie in it.
  if (expr(source).kind == ExprKind::Builtin && (expr(source).builtin == Builtin::Chars || expr(source).builtin == Builtin::Lines)) source = through(expr(source).children[0]);
  std::string name = l.variable ? local(l.variable).name : l.pattern ? "(…)" : "_";
  walk.source = source;
  std::string head = (l.index ? local(l.index).name + ", " : "") + name + " in " + shortSource(source) + " do`";
  walk.changeHelp = "write `for inout " + head;
  if (l.walk == Mode::Move) {
    ExprId inner = source;
    Site site;
    site.place = expr(inner).place;
    site.note = "the loop at line " + std::to_string(at.line) + " consumed it; write `for " + head + " to read it";
    taken(l.source, Use::Store, inner, site);
    walk.owned = true;
    return walk;
  }
  if (!isPlace(source)) {
    value(source, Use::Read);
    return walk;
  }
  if (l.walk == Mode::Inout) {
    walk.path = change(l.source);
    if (walk.path) access(walk.path, Access::Change, source);
  } else {
    walk.path = place(source);
    access(walk.path, Access::Read, source);
  }
  Borrow b;
  b.holder = Borrow::Holder::Loop;
  b.path = walk.path;
  b.change = l.walk == Mode::Inout;
  b.place = shortSource(source);
  b.line = at.line;
  borrow(b);
  return walk;
}

void Check::bindElement(const Loop& l, const Walk& walk) {
  Path part = walk.path;
  if (part) {
    Step s;
    s.form = Step::Form::Element;
    part.steps.push_back(s);
  }
  if (l.index) {
    setWhole(l.index);
    versions[l.index.index]++;
  }
  if (l.variable) {
    setWhole(l.variable);
    versions[l.variable.index]++;
    origins[l.variable.index] = part;
    if (l.form == Loop::Form::Walk) changeHelp[l.variable.index] = walk.changeHelp;
  }
  if (l.pattern) {
    size_t mark = borrows.size();
    bind(l.pattern, part, walk.source, l.walk, walk.owned, "", walk.changeHelp);
    borrows.resize(mark);                          // the loop holds all of it already
  }
}

void Check::comprehension(const Expr& e) {
  size_t mark = borrows.size();
  Walk walk = enterWalk(*e.loop, e.place);
  bool tensor = typ(e.type).kind == Kind::Tensor;
  rounds(false, [] {}, [&] {
    bindElement(*e.loop, walk);
    if (e.children.size() > 1 && e.children[1]) value(e.children[1], Use::Read);
    ExprId v = e.children[0];
    if (tensor) value(v, Use::Read);
    else taken(v, Use::Store, v, siteOf(v, v));
  });
  borrows.resize(mark);
}

void Check::each(const Stmt& s) {
  size_t mark = borrows.size();
  std::vector<Path> paths;
  for (size_t k = 0; k < s.values.size(); k++) {
    ExprId v = through(s.values[k]);
    bool changed = false;
    for (const EachLeaf& leaf : s.leaves) changed = changed || (k < leaf.locals.size() && leaf.locals[k] && local(leaf.locals[k]).form == Local::Form::LoopInout);
    Path p;
    if (isPlace(v)) {
      p = place(v);
      access(p, changed ? Access::Change : Access::Read, v);
    } else {
      value(v, Use::Read);
    }
    paths.push_back(p);
    Borrow b;
    b.holder = Borrow::Holder::Each;
    b.path = p;
    b.change = changed;
    b.place = shortSource(v);
    b.line = s.place.line;
    borrow(b);
  }
  rounds(false, [] {}, [&] {
    Flow before = flow;
    for (const EachLeaf& leaf : s.leaves) {
      for (size_t k = 0; k < leaf.locals.size(); k++) {
        if (!leaf.locals[k]) continue;
        uint32_t l = leaf.locals[k].index;
        setWhole(leaf.locals[k]);
        eachName[l] = 1;
        versions[l]++;
        origins[l] = k < paths.size() ? paths[k] : Path{};
        if (origins[l]) origins[l].steps.push_back(partStep());
      }
      setWhole(leaf.path);
      block(leaf.body);
      join(flow, before);
    }
  });
  borrows.resize(mark);
}

// ---- results ----

void Check::returned(const Stmt& s) {
  if (s.value) {
    if (placeResult && closures.empty()) {
      answersPlace(s.value);
    } else {
      ExprId inner = through(s.value);
      Site site = siteOf(inner, inner);
      site.to = "the result";
      site.rewrite = "return " + copied(inner);
      taken(s.value, Use::Return, inner, site);
    }
  }
  flow.live = false;
}

// A `read` or `inout` result lies inside the first parameter.
void Check::answersPlace(ExprId id) {
  ExprId inner = through(id);
  const Expr& e = expr(inner);
  if (e.kind == ExprKind::None || e.kind == ExprKind::Error || typ(e.type).kind == Kind::Never) return value(inner, Use::Read);
  bool isInout = decl.resultMode == ResultMode::Inout;
  std::string first = placeRefused ? "" : decl.params[0].name;
  std::string lies = std::string("a") + (isInout ? "n `inout`" : " `read`") + " result lies inside the first parameter `" + first + "`, and ";
  std::string plain = "the result as `" + show(program, types.unmarked(decl.result)) + "`";
  if (!isPlace(inner)) {
    value(inner, Use::Read);
    if (placeRefused) return;
    if (auto* m = error(inner, lies + "this is a computed value")) m->note("write " + plain);
    return;
  }
  Path p = place(inner);
  access(p, Access::Read, inner);
  LocalId root = namedBy(p);
  if (placeRefused) return;
  if (root && !body.params.empty() && root == body.params[0] && local(root).mode != Mode::Move) return;
  if (!root) {
    if (auto* m = error(inner, lies + "this is a computed value")) m->note("write " + plain);
    return;
  }
  const Local& x = local(root);
  bool own = x.form != Local::Form::Parameter || x.mode == Mode::Move;
  auto* m = error(inner, lies + "`" + shortSource(inner) + "` " + (own ? "ends with this function" : "does not"));
  if (m) m->note(own ? "write " + plain : "write `" + copied(inner) + "` and " + plain);
}

}  // namespace mica::ownership
