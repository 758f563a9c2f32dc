// Owners, moves, places and borrows of one checked body (rules.md, 1 and 2): the entry, the flow of owners, and how their messages read.
#include "frontend/ownership.h"

#include <algorithm>

#include "frontend/ownership_check.h"

namespace mica {

bool checkOwnership(Program& program, DeclId id, Diagnostics& diagnostics, const SourceFiles& sources) {
  if (!program.get(id).body) return true;
  uint32_t before = diagnostics.errorCount();
  ownership::Check(program, id, diagnostics, sources).run();
  return diagnostics.errorCount() == before;
}

namespace ownership {

Check::Check(Program& p, DeclId id, Diagnostics& d, const SourceFiles& s)
    : program(p), types(p.types), decl(p.get(id)), body(*p.get(id).body), diagnostics(d), sources(s) {
  size_t n = body.locals.size();
  sites.emplace_back();
  origins.resize(n);
  freshPart.resize(n);
  eachName.resize(n);
  borrowedBy.resize(n);
  changeHelp.resize(n);
  versions.resize(n);
}

void Check::run() {
  if (decl.kind == DeclKind::Function && decl.resultMode != ResultMode::Value) {
    bool isInout = decl.resultMode == ResultMode::Inout;
    std::string result = isInout ? "an `inout` result" : "a `read` result";
    if (decl.params.empty()) {
      placeRefused = true;   // the checker has said so
    } else if (isInout && decl.params[0].mode != Mode::Inout) {
      if (auto* m = error(Span{decl.place, uint32_t(decl.name.size())}, result + " needs `inout` before the first parameter")) m->note("write `" + signatureWithInout(0) + "`");
      placeRefused = true;
    }
    placeResult = true;
  }
  block(body.statements);
}

// ---- words ----

std::string Check::source(ExprId e) const { return std::string(sources.quote(Span{expr(e).start, expr(e).length})); }

std::string Check::shortSource(ExprId e) const {
  if (expr(e).length > 60) return "…";
  std::string text = source(e);
  return text.empty() || text.size() > 60 || text.find('\n') != std::string::npos ? "…" : text;
}

// The text of a whole expression with one part of it written anew.
std::string Check::rewritten(ExprId whole, ExprId part, const std::string& by) const {
  const Expr& w = expr(whole);
  const Expr& p = expr(part);
  if (w.length > p.length + 70) return by;
  std::string text = source(whole);
  if (w.start.file != p.start.file || text.empty() || p.length == 0) return by;
  uint32_t from = sources.offset(w.start), at = sources.offset(p.start);
  if (at < from || at + p.length > from + text.size()) return by;
  text.replace(at - from, p.length, by);
  return text.size() > 70 || text.find('\n') != std::string::npos ? by : text;
}

// The head of the function with `inout` before a parameter.
std::string Check::signatureWithInout(size_t param) const {
  std::string_view line = sources.line(decl.place.file, decl.place.line);
  Place at = decl.params[param].place;
  std::string text(line);
  if (at.line == decl.place.line && at.column >= 1 && at.column - 1 <= text.size()) text.insert(at.column - 1, "inout ");
  size_t from = text.find("func ");
  if (from != std::string::npos) text.erase(0, from);
  if (size_t comment = text.find("//"); comment != std::string::npos) text.erase(comment);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

Span Check::span(ExprId e) const {
  const Expr& x = expr(e);
  return Span{x.start.file ? x.start : x.place, std::max(1u, x.length)};
}

// One message for one place; nothing where control does not come.
Diagnostic* Check::error(ExprId at, std::string text) {
  if (!flow.live || !reported.insert(at.index).second) return nullptr;
  return &diagnostics.error(span(at), std::move(text));
}

Diagnostic* Check::error(Span at, std::string text) { return flow.live ? &diagnostics.error(at, std::move(text)) : nullptr; }

// ---- the flow of owners ----

bool Check::movable(LocalId l) const {
  const Local& x = local(l);
  switch (x.form) {
    case Local::Form::Let: case Local::Form::Var: return !origins[l.index];
    case Local::Form::LoopMove: case Local::Form::Failure: return true;
    case Local::Form::Parameter: return x.mode == Mode::Move;
    case Local::Form::Pattern: return x.mode == Mode::Move || freshPart[l.index];
    default: return false;
  }
}

Own Check::join(const Own& a, const Own& b) {
  if (a.state == b.state) return a;
  Own out = a.whole() ? b : a;
  out.state = Own::State::Maybe;
  return out;
}

void Check::join(Flow& into, const Flow& from) {
  if (!from.live) return;
  if (!into.live) {
    into = from;
    return;
  }
  for (auto& [l, own] : into.owners) own = join(own, from.at(LocalId{l}));
  for (auto& [l, own] : from.owners)
    if (!into.owners.contains(l)) into.owners[l] = join(Own{}, own);
}

// The right side of `and` or `or` has run or not.
void Check::rightSide(const Flow& before, Why why) {
  for (auto& [l, own] : flow.owners) {
    Own then = before.at(LocalId{l});
    own = join(own, then);
    if (then.whole()) own.why = why;
  }
  for (auto& [l, own] : before.owners)
    if (!flow.owners.contains(l)) flow.owners[l] = join(Own{}, own);
  flow.live = before.live;
}

void Check::moveLocal(LocalId l, ExprId at, Site site) {
  access(Path{l, {}}, Access::Move, at);
  if (!site.place.file) site.place = expr(at).place;
  sites.push_back(std::move(site));
  flow.owners[l.index] = Own{Own::State::Moved, Why::Plain, uint32_t(sites.size() - 1)};
}

void Check::needWhole(LocalId l, ExprId at) {
  if (!l || !flow.live) return;
  Own own = flow.at(l);
  if (own.whole()) return;
  setWhole(l);
  const Site& site = sites[own.site];
  std::string name = "`" + local(l).name + "`";
  bool moved = own.state == Own::State::Moved;
  std::string sentence, note;
  std::string went = "it moved to " + site.to;
  std::string line = " at line " + std::to_string(site.place.line);
  std::string write = site.rewrite.empty() ? "" : "write `" + site.rewrite + "`";
  auto behind = [&](const std::string& more) { return write.empty() ? std::string() : "; " + write + more; };
  switch (own.why) {
    case Why::EarlierRound:
      sentence = name + (moved ? " moved" : " may have moved") + " in an earlier round of this loop";
      if (moved) note = (write.empty() ? "" : write + ", or ") + "set " + name + " again before the round ends";
      else note = "set " + name + " again on every path to the next round" + (write.empty() ? "" : ", or " + write);
      break;
    case Why::Else:
      sentence = name + (moved ? " has moved" : " may have moved") + " when the value after `else` runs";
      note = went + " in this statement" + behind("");
      break;
    case Why::FailedHere: case Why::BeforeFailure:
      sentence = name + (moved ? " is used after it moved" : " may have moved when this line runs");
      note = went + line + (own.why == Why::FailedHere ? ", which can fail after that" + behind("") : ", before a call that can fail" + behind(" there"));
      break;
    default:
      if (moved) {
        sentence = name + " is used after it moved";
        note = went + line + behind(" to keep it");
      } else {
        sentence = name + " may have moved when this line runs";
        note = went + line;
        if (own.why == Why::RightOfAnd) note += ", where the right side of `and` ran";
        if (own.why == Why::RightOfOr) note += ", where the right side of `or` ran";
        note += behind(" there or use it on each path alone");
      }
  }
  if (!site.note.empty()) note = site.note;
  if (auto* m = error(at, sentence)) m->note(note);
}

// ---- what cannot move ----

namespace {

const char* emptyOf(Kind k) {
  switch (k) {
    case Kind::List: return "[]";
    case Kind::Map: case Kind::Set: return "{}";
    case Kind::String: return "\"\"";
    case Kind::Optional: return "none";
    default: return "…";
  }
}

}  // namespace

// `place` stands where its value would be taken over, and it belongs to somebody else. `whole` is the call or literal around it.
void Check::refuseMove(ExprId place, Use use, ExprId whole) {
  const Expr& e = expr(place);
  std::string copy = copied(place);
  std::string call = whole ? rewritten(whole, place, copy) : copy;
  auto note = [&](ExprId at, const std::string& sentence, const std::string& help) {
    if (auto* m = error(at, sentence)) m->note(help);
  };
  switch (e.kind) {
    case ExprKind::Field: {
      std::string help = "write `" + copy + "`";
      if (shortSource(place) != "…") help += ", or `Replace(inout " + source(place) + ", …)` with a `var`";
      return note(place, "a field cannot be moved out of `" + shortSource(e.children[0]) + "`", help);
    }
    case ExprKind::Element: case ExprKind::MapElement: {
      std::string what = e.kind == ExprKind::Element ? "an element" : "an entry";
      std::string help = "write `" + call + "`";
      if (use == Use::Return && closures.empty()) help += ", or declare the result as `read " + show(program, typeOf(place)) + "`";
      return note(place, what + " cannot be moved out of `" + shortSource(e.children[0]) + "`", help);
    }
    case ExprKind::Slice: return note(place, "a slice cannot be moved out of `" + shortSource(e.children[0]) + "`", "write `" + call + "`");
    case ExprKind::Call: case ExprKind::Builtin: return note(place, "what `" + nameOfCall(place) + "` answers belongs to its first argument and cannot be moved", "write `" + call + "`");
    default: break;
  }
  if (e.kind != ExprKind::Local) return note(place, "this cannot be moved", "write `" + call + "`");
  const Local& x = local(e.local);
  std::string name = "`" + x.name + "`";
  switch (x.form) {
    case Local::Form::Parameter:
      if (x.mode == Mode::Inout) return note(place, "an `inout` parameter cannot be moved away from its caller", std::string("write `Replace(inout ") + x.name + ", " + emptyOf(typ(x.type).kind) + ")`");
      return note(place, "a read parameter cannot be moved away from its caller", "write `" + copy + "`, or take it over with `move " + x.name + "`");
    case Local::Form::LoopRead: case Local::Form::LoopInout:
      return note(place, name + " names an element, which cannot be moved out of what the loop walks", "write `" + call + "`" + (eachName[e.local.index] ? "" : ", or walk with `for move`"));
    case Local::Form::Pattern: return note(place, name + " names a part of what is matched and cannot be moved", "write `" + call + "`, or take it apart with `match move`");
    case Local::Form::Capture: {
      bool moves = !closures.empty() && closures.back().closure->moves;
      return note(place, moves ? "a closure keeps " + name + " and cannot move it" : "a closure that borrows " + name + " cannot move it", "write `" + call + "`");
    }
    default: return note(place, name + " names a place and cannot be moved", "write `" + call + "`");
  }
}

}  // namespace ownership
}  // namespace mica
