// Statements of one instance: windows and what they hold, assignments, ways out.
#include <algorithm>

#include "frontend/tape_walk.h"

namespace mica::tape {

void Walk::statements(const std::vector<StmtId>& list) {
  for (StmtId s : list) statement(body.stmts[s.index]);
}

void Walk::statement(const Stmt& s) {
  switch (s.kind) {
    case StmtKind::Error: return;
    case StmtKind::Expression: return visit(s.value);
    case StmtKind::Declare: return declare(s);
    case StmtKind::Assign: return assign(s);
    case StmtKind::AssignTuple:
      for (ExprId v : s.values) visit(v);
      for (size_t k = 0; k < s.targets.size(); k++) {
        if (!s.targets[k]) continue;
        visit(s.targets[k]);
        ExprId v = s.values[std::min(k, s.values.size() - 1)];
        store(s.targets[k], v, "");
      }
      return;
    case StmtKind::Update: return update(s);
    case StmtKind::If: case StmtKind::IfLet: {
      visit(s.value);
      Flow before = flow;
      if (s.kind == StmtKind::IfLet) bindOptional(s);
      statements(s.body);
      Flow after = flow;
      flow = before;
      statements(s.otherwise);
      join(after, flow);
      flow = after;
      return;
    }
    case StmtKind::While: case StmtKind::WhileLet:
      return rounds(false, [&] { visit(s.value); }, [&] {
        if (s.kind == StmtKind::WhileLet) bindOptional(s);
        statements(s.body);
      });
    case StmtKind::LoopForever: return rounds(true, [] {}, [&] { statements(s.body); });
    case StmtKind::For:
      loopHead(*s.loop);
      return rounds(false, [] {}, [&] { statements(s.body); });
    case StmtKind::Match: {
      visit(s.value);
      if (s.mode == Mode::Inout) changesInPlace(s.value, "");
      Flow before = flow, after;
      after.live = false;
      for (const Arm& a : s.arms) {
        flow = before;
        bind(a.pattern, recordedValue(s.value), path(s.value));
        visit(a.guard);
        visit(a.value);
        statements(a.body);
        join(after, flow);
      }
      flow = after;
      return;
    }
    case StmtKind::Break:
      if (!breaks.empty()) join(breaks.back(), flow);
      flow.live = false;
      return;
    case StmtKind::Continue:
      if (!continues.empty()) join(continues.back(), flow);
      flow.live = false;
      return;
    case StmtKind::Return: return returned(s);
    case StmtKind::Fail:
      visit(s.value);
      flow.live = false;
      return;
    case StmtKind::Assert:
      visit(s.value);
      return visit(s.second);
    case StmtKind::Tape: return window(s);
    case StmtKind::Backward: return backward(s);
    case StmtKind::Each:
      for (ExprId v : s.values) visit(v);
      return rounds(false, [] {}, [&] {
        Flow before = flow;
        for (const EachLeaf& leaf : s.leaves) {
          for (size_t k = 0; k < leaf.locals.size() && k < s.values.size(); k++) {
            if (!leaf.locals[k]) continue;
            bool changed = local(leaf.locals[k]).form == Local::Form::LoopInout;
            Path p = path(s.values[k]);
            // An element of a record that the window found is as old as the record.
            inside[leaf.locals[k].index] = p ? inside[p.root.index] : 1;
            if (changed && p) {
              p.steps.push_back({ownership::Step::Form::Part, 0, {}, "", false});
              names[leaf.locals[k].index] = p;
            }
          }
          statements(leaf.body);
          join(flow, before);
        }
      });
    case StmtKind::Attempt: {
      Flow before = flow;
      statements(s.body);
      Flow after = flow;
      for (const Recover& r : s.recovers) {
        // A failure may come from any point of the body.
        flow = before;
        join(flow, after);
        flow.live = true;
        statements(r.body);
        join(after, flow);
      }
      flow = after;
      return;
    }
    case StmtKind::Tasks: case StmtKind::Block: return statements(s.body);
  }
}

template <class Condition, class Inside>
void Walk::rounds(bool endless, Condition condition, Inside inside) {
  Flow never = flow;
  never.live = false;
  Flow exits = never;
  auto head = [&] {   // outside of the loop's own ways out: what leaves the condition leaves the loop around this one
    condition();
    if (!endless) join(exits, flow);
  };
  for (int round = 0; round < 2 && flow.live; round++) {
    State state = flow.state;
    size_t pins = flow.pins.size();
    head();
    breaks.push_back(never);
    continues.push_back(never);
    inside();
    join(flow, continues.back());
    join(exits, breaks.back());
    breaks.pop_back();
    continues.pop_back();
    if (flow.live && flow.state == state && flow.pins.size() == pins) break;   // another round finds the same
  }
  if (flow.live) head();
  flow = exits;
}

void Walk::comprehension(const Expr& e) {
  loopHead(*e.loop);
  rounds(false, [] {}, [&] {
    if (e.children.size() > 1) visit(e.children[1]);
    visit(e.children[0]);
  });
}

// ---- names ----

void Walk::bind(PatternId id, bool recorded, const Path& p) {
  if (!id) return;
  const Pattern& x = body.patterns[id.index];
  if (x.local) {
    inside[x.local.index] = p ? inside[p.root.index] : windowLine != 0;
    names[x.local.index] = p;
    if (p) names[x.local.index].steps.push_back({ownership::Step::Form::Part, 0, {}, "", false});
    flowLocal(x.local, recorded && mentions(marks.locals[x.local.index]));
  }
  for (PatternId part : x.parts) bind(part, recorded, p);
}

void Walk::bindOptional(const Stmt& s) {
  bool recorded = recordedValue(s.value);
  Path p = path(s.value);
  if (s.local) {
    inside[s.local.index] = p ? inside[p.root.index] : windowLine != 0;
    names[s.local.index] = p;
    if (p) names[s.local.index].steps.push_back({ownership::Step::Form::Part, 0, {}, "", false});
    flowLocal(s.local, recorded && mentions(marks.locals[s.local.index]));
  }
  bind(s.pattern, recorded, p);
}

void Walk::loopHead(const Loop& l) {
  visit(l.low);
  visit(l.high);
  visit(l.step);
  visit(l.source);
  if (l.walk == Mode::Inout && l.source) changesInPlace(l.source, "");
  if (l.index) inside[l.index.index] = windowLine != 0;
  Path p = l.source ? path(l.source) : Path{};
  bool recorded = recordedValue(l.source);
  if (p) {
    ownership::Step s;
    s.form = ownership::Step::Form::Element;
    s.axes.emplace_back();
    p.steps.push_back(s);
  }
  if (l.variable) {
    inside[l.variable.index] = p ? inside[p.root.index] : windowLine != 0;
    names[l.variable.index] = p;
    flowLocal(l.variable, recorded && mentions(marks.locals[l.variable.index]));
  }
  bind(l.pattern, recorded, p);
}

void Walk::declare(const Stmt& s) {
  visit(s.value);
  bool recorded = recordedValue(s.value);
  bind(s.pattern, recorded, {});
  if (!s.local) return;
  const Local& x = local(s.local);
  uint32_t l = s.local.index;
  names[l] = {};
  if (x.form == Local::Form::NamedInout) changesInPlace(s.value, "");
  if (x.form == Local::Form::NamedRead || x.form == Local::Form::NamedInout) {
    Path p = path(s.value);
    inside[l] = p ? inside[p.root.index] : windowLine != 0;
    names[l] = p;
    flowLocal(s.local, recorded);
    return;
  }
  inside[l] = windowLine != 0;
  flowLocal(s.local, recorded);
  Path own{s.local, {}};
  unpin(own);
  if (recorded && recording() && holdsTensor(marks.locals[l])) flow.pins.push_back({own, s.place.line, true});
}

// ---- assignments ----

// `help` says what to write instead when the value may not leave.
void Walk::store(ExprId target, ExprId value, const std::string& help) {
  const Expr& to = expr(target);
  bool part = (to.kind == ExprKind::Element || to.kind == ExprKind::Slice) && typ(typeOf(to.children[0])).kind == Kind::Tensor;
  if (part) {
    if (recordedValue(value) || (recording() && mentions(typeOf(value)))) {
      lostMark = true;
      if (auto* m = error(target, "a recorded value cannot be stored in an element")) m->note("build the tensor with a comprehension or `Concat`");
      return;
    }
    changesInPlace(target, "");
    return;
  }
  goesInto(target, value, help);
  if (to.kind == ExprKind::Field) {
    const Type owner = typ(typeOf(to.children[0]));
    if (owner.kind == Kind::Record && !outside(rootOf(target))) {
      const FieldDecl& f = program.get(owner.decl).fields[to.index];
      field(f, types.substitute(f.type, owner.decl, owner.args, owner.extents), value);
    }
  }
  Path p = path(target);
  unpin(p);
  if (p && recordedValue(value) && recording() && holdsTensor(typeOf(target))) flow.pins.push_back({p, to.place.line, true});
}

void Walk::assign(const Stmt& s) {
  visit(s.value);
  visit(s.target);
  store(s.target, s.value, "write `" + shortSource(s.target) + " := Detach(" + shortSource(s.value) + ")`");
}

void Walk::update(const Stmt& s) {
  visit(s.target);
  visit(s.value);
  if (!s.second) return;
  // The operation reads both sides and makes the new value.
  if (marks.recorded[s.second.index] && recording()) pinOperands(s.second);
  static const char* const signs[] = {"+=", "-=", "*=", "/="};
  std::string sign = signs[std::min<size_t>(size_t(s.binary), 3)];
  store(s.target, s.second, "write `" + shortSource(s.target) + " " + sign + " Detach(" + shortSource(s.value) + ")`");
}

// ---- windows ----

void Walk::window(const Stmt& s) {
  if (windowLine) {
    error(Span{s.place, 4}, "windows do not nest: the window of line " + std::to_string(windowLine) + " is open here");
    return statements(s.body);
  }
  State before = flow.state;
  std::vector<Pin> pins = flow.pins;
  std::vector<char> wasInside = inside;
  std::fill(inside.begin(), inside.end(), 0);
  windowLine = s.place.line;
  lostMark = false;
  flow.state = State::Open;
  statements(s.body);
  windowLine = 0;
  inside = wasInside;
  flow.state = before;
  flow.pins = pins;
}

void Walk::backward(const Stmt& s) {
  visit(s.value);
  Span at{s.place, 8};
  const Type& v = typ(typeOf(s.value));
  if (!windowLine || inClosure) {
    error(at, "`Backward` stands outside a window");
    return;
  }
  if (v.kind == Kind::Tensor) return;               // reported by the checker
  if (v.kind != Kind::Error && flow.state != State::Open) {
    if (auto* m = error(at, "the window's tape has already been walked")) m->note("`Backward` ran at line " + std::to_string(flow.backwardLine) + "; open another window");
    return;
  }
  if (v.kind != Kind::Error && !tracked(s.value) && !lostMark) {
    error(s.value, "`Backward` needs a tracked value, and nothing here is tracked");
    return;
  }
  flow.state = State::Closed;
  flow.backwardLine = s.place.line;
}

void Walk::returned(const Stmt& s) {
  visit(s.value);
  if (s.value && inClosure == 0 && recordedValue(s.value)) {
    summary.returns = true;
    if (windowLine) {
      bool named = expr(s.value).kind == ExprKind::Local;
      auto* m = error(s.value, (named ? "`" + shortSource(s.value) + "`" : "this value") + " is recorded on the tape and cannot leave its window");
      if (m) m->note("write `return Detach(" + shortSource(s.value) + ")`");
    }
  }
  flow.live = false;
}

}  // namespace mica::tape
