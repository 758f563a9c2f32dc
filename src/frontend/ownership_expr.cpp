// Expressions in order of evaluation: what is read, what is taken over, what a call borrows and changes.
#include <algorithm>
#include <utility>

#include "frontend/ownership_check.h"
#include "frontend/signature.h"

namespace mica::ownership {

// ---- values ----

void Check::values(const std::vector<ExprId>& list, Use use, ExprId whole) {
  size_t mark = borrows.size();
  for (ExprId c : list) {
    if (!c) continue;
    if (use != Use::Read) {
      taken(c, use, whole, siteOf(whole, c));
      continue;
    }
    value(c, use);
    if (c != list.back() && isPlace(c) && !copying(typeOf(c))) inUse(pathOnly(c), c);
  }
  borrows.resize(mark);
  for (ExprId c : list) if (c && c != list.back() && use == Use::Read && !copying(typeOf(c))) stillThere(c);
}

// What is read by its address behind the values that follow it: none of them has moved it.
void Check::stillThere(ExprId id) {
  if (!isPlace(id)) return;
  if (LocalId root = pathOnly(id).root) needWhole(root, id);
}

// A value goes to a new owner.
void Check::taken(ExprId id, Use use, ExprId whole, Site site) {
  ExprId inner = through(id);
  const Expr& e = expr(inner);
  if (e.kind == ExprKind::Closure) {
    storeClosure(inner, closure(inner), use);
    return;
  }
  if (!isPlace(inner) || copying(e.type)) return value(inner, use);
  if (e.kind == ExprKind::Local && movable(e.local)) {
    if (!borrowedBy[e.local.index].empty()) {
      if (auto* m = error(inner, "this closure borrows `" + borrowedBy[e.local.index] + "` and cannot " + (use == Use::Return ? "leave the function" : "be stored"))) m->note("declare it with `move`");
      return;
    }
    needWhole(e.local, inner);
    moveLocal(e.local, inner, std::move(site));
    return;
  }
  Path p = place(inner);
  access(p, Access::Read, inner);
  // A part of a value that nobody else owns is copied out of it.
  if (p) refuseMove(inner, use, whole);
}

void Check::value(ExprId id, Use use) {
  if (!id) return;
  const Expr& e = expr(id);
  Use part = use == Use::Read ? Use::Take : use;    // the values of branches move, whatever becomes of them
  switch (e.kind) {
    case ExprKind::Local: case ExprKind::Field: case ExprKind::Element: case ExprKind::MapElement: case ExprKind::Slice: {
      if (use != Use::Read && !copying(e.type) && isPlace(id)) return taken(id, use, id, siteOf(id, id));
      access(place(id), Access::Read, id);
      return;
    }
    case ExprKind::And: case ExprKind::Or: {
      value(e.children[0], Use::Read);
      Flow before = flow;
      value(e.children[1], Use::Read);
      rightSide(before, e.kind == ExprKind::And ? Why::RightOfAnd : Why::RightOfOr);
      return;
    }
    case ExprKind::Some:
      if (use == Use::Read) value(e.children[0], Use::Read);
      else taken(e.children[0], use, id, siteOf(id, e.children[0]));
      return;
    case ExprKind::Convert:
      if (through(id) != id && use != Use::Read) return taken(id, use, id, siteOf(id, through(id)));
      value(e.children[0], Use::Read);
      return;
    case ExprKind::Call: case ExprKind::Builtin: case ExprKind::CallValue: case ExprKind::Vocabulary: case ExprKind::Intrinsic:
      if (isPlace(id)) {
        if (use != Use::Read && !copying(e.type)) return taken(id, use, id, siteOf(id, id));
        access(place(id), Access::Read, id);
      } else {
        if (e.kind == ExprKind::CallValue) value(e.children[0], Use::Read);
        for (const ExtentArg& x : e.extentArgs) if (x.value) value(x.value, Use::Read);
        call(id, e.kind == ExprKind::CallValue ? 1 : 0);
      }
      if (typ(e.type).kind == Kind::Never) flow.live = false;
      return;
    case ExprKind::MakeRecord: case ExprKind::MakeChoice: case ExprKind::MakeFailure: case ExprKind::MakeTuple: case ExprKind::MakeList:
    case ExprKind::MakeArray: case ExprKind::MakeMap: case ExprKind::MakeSet:
      return values(e.children, Use::Store, id);
    case ExprKind::Comprehension: return comprehension(e);
    case ExprKind::Interpolation:
      for (const TextPart& p : e.parts) if (p.value) value(p.value, Use::Read);
      return;
    case ExprKind::If: {
      value(e.children[0], Use::Read);
      Flow before = flow;
      taken(e.children[1], part, e.children[1], siteOf(id, e.children[1]));
      Flow after = flow;
      flow = before;
      taken(e.children[2], part, e.children[2], siteOf(id, e.children[2]));
      join(after, flow);
      flow = after;
      return;
    }
    case ExprKind::Match: return match(e.children[0], e.arms, Mode::Read, part);
    case ExprKind::Try: {
      uint32_t first = uint32_t(sites.size());
      value(e.children[0], use);
      if (e.handler.present()) handler(e.handler, part, first, Why::Else);
      else failing(e.children[0]);
      return;
    }
    case ExprKind::OrElse: {
      ExprId source = e.children[0];
      bool owned = !copying(e.type) && isPlace(source);
      if (owned && expr(source).kind == ExprKind::Local && movable(expr(source).local)) taken(source, part, source, siteOf(id, source));
      else if (owned && use != Use::Read) taken(source, use, id, siteOf(id, source));
      else value(source, Use::Read);
      handler(e.handler, part, uint32_t(sites.size()), Why::Plain);
      return;
    }
    case ExprKind::Closure: {
      for (const Captured& c : closure(id)) access(c.path, c.change ? Access::Change : Access::Read, id);
      return;
    }
    default: return values(e.children, Use::Read, id);
  }
}

// The value after `else`, from the state in which what it stands for failed.
void Check::handler(const Handler& h, Use use, uint32_t firstSite, Why why) {
  Flow fine = flow;
  if (why == Why::Else) {
    for (auto& [l, o] : flow.owners) if (o.site >= firstSite) o.why = why;
    flow.live = true;
  }
  if (h.value) {
    taken(h.value, use, h.value, siteOf(h.value, h.value));
    if (kindOf(h.value) == Kind::Never) flow.live = false;
  }
  if (h.leaves) statement(body.stmts[h.leaves.index]);
  for (auto& [l, o] : flow.owners) if (o.why == Why::Else) o.why = Why::Plain;
  join(fine, flow);
  flow = fine;
}

// ---- failures: the states that arms of `attempt` start from ----

void Check::failing(ExprId call) {
  const Expr& e = expr(call);
  if (e.kind == ExprKind::Call) return failWith(program.get(e.callee).fails, false, call);
  if (e.kind == ExprKind::CallValue) return failWith(typ(typeOf(e.children[0])).fails, false, call);
  failWith({}, true, call);
}

void Check::failWith(const std::vector<TypeId>& fails, bool unknown, ExprId call) {
  for (size_t f = attempts.size(); f-- > 0;) {
    AttemptFrame& frame = attempts[f];
    for (size_t k = 0; k < frame.arms->size(); k++) {
      TypeId wanted = (*frame.arms)[k].failure;
      bool takes = unknown || !wanted || typ(wanted).kind == Kind::AnyFailure;
      for (TypeId t : fails) takes = takes || t == wanted || typ(t).kind == Kind::AnyFailure;
      if (!takes) continue;
      Flow here = flow;
      here.live = true;
      for (auto& [l, o] : here.owners) {
        if (o.site < frame.firstSite) continue;
        o.state = Own::State::Maybe;
        o.why = call && sites[o.site].call == call ? Why::FailedHere : Why::BeforeFailure;
      }
      join(frame.flows[k], here);
    }
  }
}

// ---- calls ----

std::string Check::nameOfCall(ExprId id) const {
  const Expr& e = expr(id);
  if (e.callee) return program.get(e.callee).name;
  std::string text = source(id);
  size_t end = text.find_first_of("([ ");
  return end == std::string::npos ? text : text.substr(0, end);
}

Site Check::siteOf(ExprId whole, ExprId part) const {
  const Expr& w = expr(whole);
  Site s;
  s.place = expr(through(part)).place;
  s.call = whole;
  switch (w.kind) {
    case ExprKind::Call: case ExprKind::MakeRecord: case ExprKind::MakeFailure: s.to = "`" + nameOfCall(whole) + "`"; break;
    case ExprKind::MakeChoice: s.to = "`" + program.get(w.callee).name + "." + program.get(w.callee).cases[w.index].name + "`"; break;
    case ExprKind::Builtin: {
      bool updates = !w.children.empty() && (w.builtin == Builtin::Append || w.builtin == Builtin::AppendAll) && source(whole).find("(") != nameOfCall(whole).size();
      s.to = "`" + (updates ? shortSource(w.children[0]) : nameOfCall(whole)) + "`";
      break;
    }
    case ExprKind::CallValue: s.to = "`" + shortSource(w.children[0]) + "`"; break;
    case ExprKind::MakeTuple: s.to = "a tuple"; break;
    case ExprKind::MakeList: s.to = "a list"; break;
    case ExprKind::MakeArray: s.to = "an array"; break;
    case ExprKind::MakeMap: s.to = "a map"; break;
    case ExprKind::MakeSet: s.to = "a set"; break;
    case ExprKind::If: s.to = "the value of this `if`"; break;
    default: s.to = "another value";
  }
  ExprId inner = through(part);
  s.rewrite = rewritten(whole, inner, copied(inner));
  return s;
}

void Check::argument(ExprId id, Mode mode, ExprId call, std::vector<Argument>& args) {
  if (!id) return;
  ExprId inner = through(id);
  const Expr& e = expr(inner);
  if (mode == Mode::Inout) {
    Path p = change(id);
    if (p) args.push_back({p, mode, inner, false, false});
    return;
  }
  if (e.kind == ExprKind::Closure) {
    std::vector<Captured> found = closure(inner);
    if (mode == Mode::Move) return storeClosure(inner, found, Use::Store);
    for (Captured& c : found) args.push_back({c.path, c.change ? Mode::Inout : Mode::Read, inner, false, true, c.name});
    return;
  }
  if (!isPlace(inner) || copying(e.type)) return value(id, mode == Mode::Move ? Use::Store : Use::Read);
  if (mode == Mode::Move) {
    if (e.kind != ExprKind::Local || !movable(e.local) || !borrowedBy[e.local.index].empty()) return taken(inner, Use::Store, call, {});
    needWhole(e.local, inner);
    args.push_back({Path{e.local, {}}, mode, inner, true, false});
    return;
  }
  Path p = place(inner);
  access(p, Access::Read, inner);
  if (p) args.push_back({p, mode, inner, false, false});
}

// Arguments first, then the borrows and moves of all of them at once. Answers the path of the first argument.
Path Check::call(ExprId id, size_t first) {
  const Expr& e = expr(id);
  std::vector<Argument> args;
  Path answered;
  size_t mark = borrows.size();
  const Signature* signature = e.kind == ExprKind::Vocabulary && e.row ? &signatureOf(e.row) : nullptr;
  for (size_t k = first; k < e.children.size(); k++) {
    Mode mode = k < e.modes.size() ? e.modes[k] : Mode::Read;
    if (signature && k < signature->params.size() && signature->params[k].isInout) mode = Mode::Inout;
    size_t before = args.size();
    argument(e.children[k], mode, id, args);
    if (k == first && args.size() == before + 1) answered = args[before].path;
    if (k + 1 < e.children.size()) for (size_t a = before; a < args.size(); a++) if (!args[a].moves && !args[a].closure) inUse(args[a].path, args[a].expr);
  }
  borrows.resize(mark);
  for (const Argument& a : args) if (!a.closure) needWhole(a.path.root, a.expr);
  bool apart = overlaps(args, id);
  for (const Argument& a : args) {
    if (a.moves) {
      if (apart) moveLocal(a.path.root, a.expr, siteOf(id, a.expr));
    } else if (a.closure) {
      access(a.path, a.mode == Mode::Inout ? Access::Change : Access::Read, a.expr);
    } else if (a.mode == Mode::Inout) {
      access(a.path, Access::Change, a.expr);
      versions[a.path.root.index]++;
    }
  }
  return answered;
}

// Reports the first pair of arguments that may be one place while the call changes or takes it.
bool Check::overlaps(const std::vector<Argument>& args, ExprId call) {
  for (size_t j = 0; j < args.size(); j++) {
    for (size_t i = 0; i < j; i++) {
      const Argument& a = args[i];
      const Argument& b = args[j];
      bool changes = a.mode == Mode::Inout || b.mode == Mode::Inout || a.moves || b.moves;
      if (!changes || (a.closure && b.closure)) continue;
      Meet m = meet(a.path, b.path);
      if (m == Meet::Apart) continue;
      auto text = [&](const Argument& x) { return std::string("`") + (x.mode == Mode::Inout ? "inout " : "") + shortSource(x.expr) + "`"; };
      if (a.closure || b.closure) {
        const Argument& c = a.closure ? a : b;
        const Argument& other = a.closure ? b : a;
        error(other.expr, "the argument " + text(other) + " and the closure, which " + (c.mode == Mode::Inout ? "changes" : "uses") + " `" + c.name + "`, overlap");
        return false;
      }
      const Argument& read = b.mode == Mode::Read ? b : a;
      bool plain = read.mode == Mode::Read && !read.moves;
      if (m == Meet::Maybe) {
        auto* message = error(b.expr, "the arguments " + text(a) + " and " + text(b) + " may be the same element");
        bool swaps = expr(a.expr).kind == ExprKind::Element && expr(b.expr).kind == ExprKind::Element;
        if (message && plain) message->note("write `" + copied(read.expr) + "`" + (swaps ? "; `Swap(inout " + shortSource(expr(a.expr).children[0]) + ", " + shortSource(expr(a.expr).children[1]) + ", " + shortSource(expr(b.expr).children[1]) + ")` exchanges two elements" : ""));
        return false;
      }
      auto* message = error(b.expr, "the arguments " + text(a) + " and " + text(b) + " overlap");
      if (message && plain) message->note("write `" + rewritten(call, read.expr, copied(read.expr)) + "`");
      return false;
    }
  }
  return true;
}

// ---- closures ----

// Walks a closure's body; answers what it borrows from outside. What `move` takes over moves here.
std::vector<Captured> Check::closure(ExprId id) {
  const Closure& c = *expr(id).closure;
  for (const Capture& x : c.captures) {
    needWhole(x.outer, id);
    if (x.mode != Mode::Move || copying(local(x.outer).type)) {
      if (x.mode == Mode::Move) access(Path{x.outer, {}}, Access::Read, id);
      continue;
    }
    if (movable(x.outer)) {
      Site site;
      site.place = expr(id).place;
      site.to = "a closure";
      moveLocal(x.outer, id, site);
    } else if (auto* m = error(id, "this closure takes `" + local(x.outer).name + "` over, which belongs to somebody else")) {
      m->note("take a copy first: `let own := Copy(" + local(x.outer).name + ")`");
    }
  }
  Flow outside = flow;
  std::vector<LoopFrame> outerLoops;
  std::vector<AttemptFrame> outerAttempts;
  std::swap(loops, outerLoops);
  std::swap(attempts, outerAttempts);
  bool outerPlace = std::exchange(placeResult, false);
  const Stmt* outerAssignment = std::exchange(assignment, nullptr);
  size_t mark = borrows.size();
  closures.push_back({&c, {}});
  if (c.value) {
    if (typ(typ(expr(id).type).result).kind == Kind::Unit) value(c.value, Use::Read);
    else taken(c.value, Use::Return, c.value, siteOf(c.value, c.value));
  }
  block(c.body);
  std::vector<Captured> found = std::move(closures.back().found);
  closures.pop_back();
  borrows.resize(mark);
  assignment = outerAssignment;
  placeResult = outerPlace;
  std::swap(loops, outerLoops);
  std::swap(attempts, outerAttempts);
  flow = outside;
  return found;
}

void Check::storeClosure(ExprId id, const std::vector<Captured>& found, Use use) {
  const Expr& e = expr(id);
  if (e.closure->moves || e.closure->captures.empty()) return;
  std::string name = found.empty() ? local(e.closure->captures[0].outer).name : local(found[0].path.root).name;
  std::string text = shortSource(id) == "…" ? "move func(…) … end" : "move " + source(id);
  if (use == Use::Return) {
    if (auto* m = error(id, "this closure borrows `" + name + "` and cannot leave the function")) m->note("write `return " + text + "`");
  } else {
    if (auto* m = error(id, "this closure borrows `" + name + "` and cannot be stored")) m->note("write `" + text + "` to store the value that `" + name + "` has now");
  }
}

}  // namespace mica::ownership
