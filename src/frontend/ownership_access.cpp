// Places and borrows: which path an expression names, who else holds it, and whether it may change.
#include <algorithm>
#include <utility>

#include "frontend/ownership_check.h"

namespace mica::ownership {

bool Check::isPlace(ExprId id) const {
  if (!id) return false;
  const Expr& e = expr(id);
  switch (e.kind) {
    case ExprKind::Local: return true;
    case ExprKind::Field: case ExprKind::Element: case ExprKind::MapElement: case ExprKind::Slice: return isPlace(e.children[0]);
    case ExprKind::Call: return e.callee && program.get(e.callee).resultMode != ResultMode::Value;
    case ExprKind::Builtin:
      if (e.builtin == Builtin::Unbox) return isPlace(e.children[0]);
      return (e.builtin == Builtin::Find || e.builtin == Builtin::FindInout) && isPlace(e.children[0]);
    default: return false;
  }
}

// Conversions of extents pass a value on as it is, and so does the making of an optional.
ExprId Check::through(ExprId id) const {
  while (id) {
    const Expr& e = expr(id);
    bool passes = e.kind == ExprKind::Some;
    if (e.kind == ExprKind::Convert && !e.explicitConversion && !copying(e.type)) {
      const Type& from = typ(typeOf(e.children[0]));
      const Type& to = typ(e.type);
      passes = from.kind == to.kind && (to.kind != Kind::Tensor || types.same(from.element, to.element));
    }
    if (!passes) return id;
    id = e.children[0];
  }
  return id;
}

// ---- paths ----

Linear Check::linear(ExprId id) const {
  if (!id) return {};
  const Expr& e = expr(id);
  switch (e.kind) {
    case ExprKind::Int: case ExprKind::Char: return linearConstant(e.intValue);
    case ExprKind::Local: {
      const Local& x = local(e.local);
      bool settled = x.form == Local::Form::Let || x.form == Local::Form::Var || x.form == Local::Form::LoopRead || x.form == Local::Form::Capture ||
                     (x.form == Local::Form::Parameter && x.mode != Mode::Inout) || (x.form == Local::Form::Pattern && x.mode != Mode::Inout);
      return settled ? linearTerm(uint64_t(e.local.index) << 24 | (versions[e.local.index] & 0xffffff)) : Linear{};
    }
    case ExprKind::ExtentValue: {
      int64_t n;
      return types.isConstant(e.extent, &n) ? linearConstant(n) : types.isOpen(e.extent) ? Linear{} : linearTerm(uint64_t(1) << 60 | e.extent.index);
    }
    case ExprKind::Binary:
      if (e.binary == BinaryOp::Add) return linearSum(linear(e.children[0]), linear(e.children[1]), 1);
      if (e.binary == BinaryOp::Sub) return linearSum(linear(e.children[0]), linear(e.children[1]), -1);
      if (e.binary == BinaryOp::Mul) return linearProduct(linear(e.children[0]), linear(e.children[1]));
      return {};
    case ExprKind::Convert: return e.explicitConversion ? Linear{} : linear(e.children[0]);
    default: return {};
  }
}

Axis Check::axisOf(const Subscript& s) {
  Axis a;
  if (s.form == Subscript::Form::Whole) {
    a.whole = true;
    return a;
  }
  a.low = s.low ? linear(s.low) : linearConstant(0);
  if (s.form == Subscript::Form::Index) a.high = linearSum(a.low, linearConstant(1), 1);
  if (s.form == Subscript::Form::Range) a.high = linearSum(linear(s.high), linearConstant(s.inclusive ? 1 : 0), 1);
  return a;
}

// The path of an expression; what stands in it (indices, keys, arguments) is evaluated on the way.
Path Check::place(ExprId id, bool needRoot) {
  const Expr& e = expr(id);
  auto base = [&]() -> Path {
    ExprId b = e.children[0];
    if (isPlace(b)) return place(b);
    value(b, Use::Read);
    return {};
  };
  auto with = [](Path p, Step s) {
    if (p) p.steps.push_back(std::move(s));
    return p;
  };
  switch (e.kind) {
    case ExprKind::Local:
      if (needRoot) needWhole(e.local, id);
      return Path{e.local, {}};
    case ExprKind::Field: {
      Path p = base();
      if (kindOf(e.children[0]) == Kind::Box) p = with(p, partStep());
      Step s;
      s.index = e.index;
      return with(p, s);
    }
    case ExprKind::Element: {
      Path p = base();
      size_t mark = borrows.size();
      inUse(p, e.children[0]);
      Step s;
      s.form = Step::Form::Element;
      for (size_t k = 1; k < e.children.size(); k++) {
        value(e.children[k], Use::Read);
        Axis a;
        a.low = linear(e.children[k]);
        a.high = linearSum(a.low, linearConstant(1), 1);
        s.axes.push_back(a);
      }
      borrows.resize(mark);
      stillThere(e.children[0]);
      return with(p, s);
    }
    case ExprKind::MapElement: {
      Path p = base();
      size_t mark = borrows.size();
      inUse(p, e.children[0]);
      Step s;
      s.form = Step::Form::Key;
      const Expr& k = expr(e.children[1]);
      s.keyKnown = k.kind == ExprKind::String || k.kind == ExprKind::Int || k.kind == ExprKind::Char;
      if (s.keyKnown) s.key = k.kind == ExprKind::String ? k.text : std::to_string(k.intValue);
      if (assignment && assignment->kind == StmtKind::Assign && assignment->target == id) taken(e.children[1], Use::Take, e.children[1], Site{});
      else value(e.children[1], Use::Read);
      if (e.children.size() > 2 && e.children[2]) {
        Flow before = flow;
        value(e.children[2], Use::Take);
        join(flow, before);
      }
      borrows.resize(mark);
      stillThere(e.children[0]);
      return with(p, s);
    }
    case ExprKind::Slice: {
      Path p = base();
      size_t mark = borrows.size();
      inUse(p, e.children[0]);
      Step s;
      s.form = Step::Form::Slice;
      for (const Subscript& x : e.subscripts) {
        if (x.low) value(x.low, Use::Read);
        if (x.high) value(x.high, Use::Read);
        s.axes.push_back(axisOf(x));
      }
      borrows.resize(mark);
      stillThere(e.children[0]);
      return with(p, s);
    }
    case ExprKind::Call: case ExprKind::Builtin: {
      Path p = call(id, 0);
      if (e.kind == ExprKind::Builtin && e.builtin == Builtin::Unbox) {
        Step s;
        s.form = Step::Form::Part;
        return with(p, s);
      }
      return p;
    }
    default: value(id, Use::Read); return {};
  }
}

// The path of a place that is evaluated later, without any effect.
Path Check::pathOnly(ExprId id) {
  id = through(id);
  if (!id || !isPlace(id)) return {};
  Flow now = flow;
  const Stmt* outer = std::exchange(assignment, nullptr);
  flow.live = false;
  Path p = place(id, false);
  flow = std::move(now);
  assignment = outer;
  return p;
}

// An element, entry or slice is known by its address while the rest of the statement is evaluated: nothing may free what it lies in.
void Check::inUse(const Path& p, ExprId at) {
  bool behind = std::any_of(p.steps.begin(), p.steps.end(), [](const Step& s) { return s.form != Step::Form::Field; });
  // What a function answers may lie anywhere in its first argument.
  for (ExprId id = through(at); expr(id).kind != ExprKind::Local && !expr(id).children.empty() && expr(id).children[0]; id = through(expr(id).children[0]))
    behind = behind || expr(id).kind == ExprKind::Call || expr(id).kind == ExprKind::Builtin;
  if (!p || !behind) return;
  Borrow b;
  b.holder = Borrow::Holder::Statement;
  b.path = p;
  b.place = shortSource(through(at));
  borrow(b);
}

// The variable that a path lies in, behind all names.
LocalId Check::namedBy(const Path& p) const {
  LocalId root = p.root;
  while (root && origins[root.index]) root = origins[root.index].root;
  return root;
}

// What a message calls the thing that changes: not the element of a tensor but the tensor.
std::string Check::subject(ExprId id) const {
  id = through(id);
  while ((expr(id).kind == ExprKind::Element || expr(id).kind == ExprKind::Slice) && kindOf(expr(id).children[0]) == Kind::Tensor) id = expr(id).children[0];
  return shortSource(id);
}

// ---- borrows ----

// What a closure does with what it captured counts where the closure is used.
void Check::captured(const Path& p, Access how, ExprId at) {
  const Closure& c = *closures.back().closure;
  for (const Capture& x : c.captures) {
    if (x.inner != p.root || x.mode == Mode::Move) continue;
    Path outer = p;
    outer.root = x.outer;
    // Indices count in the closure's own variables: only constants mean the same outside.
    for (Step& s : outer.steps) {
      for (Axis& a : s.axes) {
        if (!a.low.terms.empty()) a.low = {};
        if (!a.high.terms.empty()) a.high = {};
      }
    }
    closures.back().found.push_back({outer, how != Access::Read, fieldsOf(at)});
  }
}

void Check::access(const Path& p, Access how, ExprId at) {
  if (!p || !flow.live) return;
  if (!closures.empty()) captured(p, how, at);
  for (const Borrow& b : borrows) {
    if (how == Access::Read && !b.change) continue;
    Meet m = meet(b.path, p);
    if (m == Meet::Apart) continue;
    conflict(b, p, how, m, at);
    return;
  }
}

void Check::conflict(const Borrow& b, const Path& p, Access how, Meet m, ExprId at) {
  std::string verb = how == Access::Read ? "be read" : how == Access::Move ? "move" : "change";
  std::string line = std::to_string(b.line);
  std::string name = "`" + b.name + "`";
  auto report = [&](const std::string& what, const std::string& rest, const std::string& note) {
    if (auto* e = error(at, "`" + what + "` cannot " + verb + " while " + rest)) {
      if (!note.empty()) e->note(note);
    }
  };
  switch (b.holder) {
    case Borrow::Holder::Loop:
      if (b.change) return report(b.place, "the loop at line " + line + " changes its elements", "");
      return report(b.place, "the loop at line " + line + " walks it", "collect into another list, or walk `0 ..< Length(" + b.place + ")`");
    case Borrow::Holder::Each:
      if (b.change) return report(b.place, "the `each` of line " + line + " changes it", "take a `Copy` before the loop");
      return report(b.place, "the `each` of line " + line + " walks it", "");
    case Borrow::Holder::Closure:
      return report(subject(at), "the closure " + name + (b.change ? " changes " : " borrows ") + "`" + b.place + "`", name + " was named at line " + line + " and lasts until its block ends");
    case Borrow::Holder::Statement:
      return report(subject(at), "this statement uses `" + b.place + "`", "give the value that changes it a name first, in a line before");
    case Borrow::Holder::Name: break;
  }
  std::string lasts = name + " was named at line " + line + " and lasts until its block ends";
  std::string what = subject(at);
  if (b.change) {
    std::string note = lasts;
    bool same = m == Meet::Same && !b.answered && p.steps.size() >= b.path.steps.size();
    if (same && how == Access::Change && assignment && assignment->value) note = "write `" + throughName(b, assignment->target, assignment->value) + "`";
    else if (same && how == Access::Read) note += "; read `" + throughName(b, at, at) + "`";
    return report(what, name + " names it for changing", note);
  }
  std::string help = how == Access::Move ? "" : b.help;
  std::string note = !help.empty() && help[0] == '=' ? name + " was named at line " + line + help.substr(1) : lasts + help;
  if (m == Meet::Maybe && how != Access::Move) {
    if (auto* e = error(at, "`" + what + "` may be the place that " + name + " names")) e->note(note);
    return;
  }
  bool around = p.steps.size() <= b.path.steps.size() || subjectCovers(at, b);
  report(what, name + " names a place in " + (around ? "it" : "`" + b.place + "`"), note);
}

// Is the thing that a message names (a whole tensor) as long as the borrowed path at most?
bool Check::subjectCovers(ExprId at, const Borrow& b) const {
  at = through(at);
  size_t steps = 0;
  ExprId id = at;
  while ((expr(id).kind == ExprKind::Element || expr(id).kind == ExprKind::Slice) && kindOf(expr(id).children[0]) == Kind::Tensor) id = expr(id).children[0];
  while (id && expr(id).kind != ExprKind::Local && !expr(id).children.empty()) {
    steps++;
    id = expr(id).children[0];
  }
  return steps <= b.path.steps.size();
}

// The source from `from` to the end of `to`, with the borrowed place written by its name.
std::string Check::throughName(const Borrow& b, ExprId from, ExprId to) const {
  const Expr& f = expr(from);
  const Expr& t = expr(to);
  uint32_t begin = sources.offset(f.start), end = sources.offset(t.start) + t.length;
  std::string text(sources.quote(Span{f.start, end > begin ? end - begin : f.length}));
  if (text.compare(0, b.place.size(), b.place) == 0) text.replace(0, b.place.size(), b.name);
  return text.size() > 70 || text.find('\n') != std::string::npos ? b.name : text;
}

Borrow Check::nameBorrow(LocalId l, const Path& p, ExprId at, bool change, std::string help) const {
  Borrow b;
  b.path = p;
  b.change = change;
  b.name = local(l).name;
  b.place = shortSource(through(at));
  // A function that answers a place borrows its whole first argument.
  ExprId place = through(at);
  while ((expr(place).kind == ExprKind::Call || expr(place).kind == ExprKind::Builtin) && !expr(place).children.empty() && expr(place).children[0]) {
    place = through(expr(place).children[0]);
    b.place = shortSource(place);
    b.answered = true;
  }
  b.line = local(l).place.line;
  b.help = std::move(help);
  return b;
}

// ---- changing ----

bool Check::mayChange(LocalId l, ExprId at) {
  const Local& x = local(l);
  std::string name = "`" + x.name + "`";
  auto refuse = [&](const std::string& sentence, const std::string& note) {
    if (auto* m = error(at, sentence)) {
      if (!note.empty()) m->note(note);
    }
    return false;
  };
  if (eachName[l.index]) {
    if (!origins[l.index]) return true;
    LocalId root = namedBy(origins[l.index]);
    const Local& r = local(root);
    std::string record = "`" + r.name + "`";
    if (r.form == Local::Form::Parameter && r.mode != Mode::Inout) {
      size_t index = size_t(std::find(body.params.begin(), body.params.end(), root) - body.params.begin());
      return refuse(name + " lies in the read parameter " + record + " and cannot change", index < decl.params.size() ? "write `" + signatureWithInout(index) + "`" : "");
    }
    if (r.form == Local::Form::Let) return refuse(name + " lies in " + record + ", which is declared with `let` and cannot change", "write `var " + r.name + "`");
    return mayChange(root, at);
  }
  switch (x.form) {
    case Local::Form::Var: case Local::Form::NamedInout: case Local::Form::LoopInout: return true;
    case Local::Form::Let: return refuse(name + " is declared with `let` and cannot change", "write `var " + x.name + "` to give it a new value");
    case Local::Form::Parameter:
      if (x.mode == Mode::Inout) return true;
      if (x.mode == Mode::Move) return refuse(name + " is a parameter and cannot change", "write `var own := " + x.name + "` and change that");
      return refuse(name + " is a parameter for reading and cannot change", "write `inout " + x.name + ": " + show(program, types.unmarked(x.type)) + "`");
    case Local::Form::NamedRead: return refuse(name + " names a place for reading and cannot change", "write `let inout " + x.name + " := …`");
    case Local::Form::LoopRead:
      if (changeHelp[l.index].empty()) return refuse(name + " counts this loop and cannot change", "");
      return refuse(name + " names an element for reading and cannot change", changeHelp[l.index]);
    case Local::Form::Pattern:
      if (x.mode == Mode::Inout) return true;
      if (origins[l.index]) return refuse(name + " names a place for reading and cannot change", changeHelp[l.index]);
      return refuse(name + " is bound by a pattern and cannot change", "write `var own := " + x.name + "` and change that");
    case Local::Form::LoopMove: return refuse(name + " is given by the loop and cannot change", "write `var own := " + x.name + "` and change that");
    case Local::Form::Failure: return refuse(name + " is a failure and cannot change", "");
    case Local::Form::Capture:
      for (const ClosureFrame& f : closures) {
        for (const Capture& c : f.closure->captures) {
          if (c.inner != l) continue;
          if (c.mode == Mode::Move) return refuse(name + " was taken over by this closure and cannot change", "");
          return mayChange(c.outer, at);
        }
      }
      return true;
  }
  return true;
}

// `target` changes here: assigned, updated, or passed as `inout`.
Path Check::change(ExprId target) {
  ExprId id = through(target);
  bool whole = expr(id).kind == ExprKind::Local;
  if (!isPlace(id)) {
    value(id, Use::Read);
    return {};
  }
  bool assigned = whole && assignment && assignment->kind == StmtKind::Assign && assignment->target == target;
  Path p = place(id, !assigned);
  if (!p) return p;
  if (const Expr& e = expr(id); e.kind == ExprKind::Call && program.get(e.callee).resultMode == ResultMode::Read) {
    if (auto* m = error(id, "what `" + nameOfCall(id) + "` answers is for reading and cannot change")) m->note("declare its result as `inout`");
    return {};
  }
  if (!mayChange(p.root, target)) return {};
  return p;
}

}  // namespace mica::ownership
