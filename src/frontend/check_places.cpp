// Places: what is one, and how it may change.
//
// Three rules say no. The bytes of a string do not change one by one. A slice of a list, an array or a string is a view without room, so its
// elements alone change. And a record whose extents are open (`p: P[?]`) holds one number for each of them, which its functions trust: what
// lies in it keeps the extents that are declared by those names. The third rule works on the *held type* of a place: its type with
// `heldExtent` wherever `?` stands for an extent that a record around it holds, found by walking from the place to the record. A tensor or
// record with a held extent at its top takes another value, whose extents are compared with those that are there when the program runs
// (`Body::kept`, `checkKept` in lower/shapes.cpp); it is not handed to who may change them. What has held extents inside, as a list of such
// tensors, does not change at all: nothing would look at the new parts. Where the extents have names (`inout p: P[N]`) the types alone keep
// the rule.
#include <cctype>

#include "frontend/checker.h"

namespace mica {

// Is the expression a place of somebody: a variable or a part of one.
bool BodyChecker::isPlace(ExprId id) {
  const Expr& e = get(id);
  switch (e.kind) {
    case ExprKind::Local: return true;
    case ExprKind::Field: case ExprKind::Element: case ExprKind::MapElement: case ExprKind::Slice: return isPlace(e.children[0]);
    case ExprKind::Call: return program.get(e.callee).resultMode != ResultMode::Value;
    case ExprKind::Builtin: return e.builtin == Builtin::Find || e.builtin == Builtin::FindInout || (e.builtin == Builtin::Unbox && isPlace(e.children[0]));
    case ExprKind::Intrinsic: return e.text == "Raw.Place" || e.text == "Raw.Edit";
    default: return false;
  }
}

// The place as one that changes: the rules are kept, and who must know of the change does. After a message it is an Error.
ExprId BodyChecker::changing(ExprId place, const ast::Expr* at, Change how, const std::string& who, const Slot* slot) {
  if (isError(place)) return place;
  if (refuseByte(place, at) || (how != Change::Elements && refuseView(place, at)) || refuseHeld(place, at, how, who, slot)) return errorExpr(at);
  markChanged(place);
  return place;
}

// A slice, a row of a tensor, a line of a text, or a name for one: it has no memory of its own in which it could be found.
bool BodyChecker::isView(ExprId id) {
  const Expr& e = get(id);
  if (e.kind == ExprKind::Local) return viewLocals.count(e.local.index);
  if (e.kind == ExprKind::Call) return program.get(e.callee).resultMode != ResultMode::Value && !e.children.empty() && isView(e.children[0]);
  return e.kind == ExprKind::Slice;
}

bool BodyChecker::refuseByte(ExprId place, const ast::Expr* at) {
  if (get(place).kind != ExprKind::Element || kindOf(get(place).children[0]) != Kind::String) return false;
  error(at, "the bytes of a string cannot change one by one").note("make another string");
  return true;
}

// A slice of a tensor takes values; one of a list, an array or a string is a view.
bool BodyChecker::refuseView(ExprId place, const ast::Expr* at) {
  if (get(place).kind != ExprKind::Slice || kindOf(place) == Kind::Tensor) return false;
  const Type whole = typ(typeOf(get(place).children[0]));
  std::string what = whole.kind == Kind::String ? "string" : whole.kind == Kind::Array ? "array" : "list";
  Diagnostic* m = &error(at, "this slice of a" + std::string(what == "array" ? "n " : " ") + what + " is a view and cannot change as a whole");
  if (what != "string") m->note("its elements can: `for inout x in " + quoteExact(at) + " do`");
  return true;
}

// The place changes here: a closure that captured its variable changes it too, and an `each` its record.
void BodyChecker::markChanged(ExprId place) {
  while (true) {
    const Expr& e = get(place);
    bool part = e.kind == ExprKind::Field || e.kind == ExprKind::Element || e.kind == ExprKind::MapElement || e.kind == ExprKind::Slice || e.kind == ExprKind::Convert ||
                (e.kind == ExprKind::Call && !e.children.empty() && program.get(e.callee).resultMode == ResultMode::Inout) || (e.kind == ExprKind::Builtin && !e.children.empty());
    if (!part) break;
    place = e.children[0];
  }
  if (get(place).kind != ExprKind::Local) return;
  LocalId local = get(place).local;
  for (size_t i = frames.size(); i-- > 0;) {
    if (!frames[i].closure) continue;
    for (Capture& c : frames[i].closure->captures) {
      if (c.inner == local && c.mode == Mode::Read) c.mode = Mode::Inout;
      if (c.inner == local) {
        local = c.outer;
        break;
      }
    }
  }
  if (eachLocals.count(local.index)) get(local).form = Local::Form::LoopInout;
}

// ---- records with open extents ----

bool BodyChecker::mentionsHeld(ExtentId e) { return !types.isOpen(e) && types.isOpen(types.substitute(e, DeclId{}, {types.open()})); }

bool BodyChecker::mentionsHeld(TypeId t) { return t && opened(t) != t; }

// The type as it is known, with `?` for what is held.
TypeId BodyChecker::opened(TypeId held) { return held ? types.substitute(held, DeclId{}, {}, {types.open()}) : held; }

// The extents of a record, or of a call, as what is inside holds them.
std::vector<ExtentId> BodyChecker::holding(std::vector<ExtentId> extents) {
  for (ExtentId& x : extents) {
    if (types.isOpen(x)) x = heldExtent();
  }
  return extents;
}

// The held type of the elements of a list, array or map; the rows of a tensor take values of their own shape in any case.
TypeId BodyChecker::elementOf(TypeId held) { return held && kindOf(held) != Kind::Tensor ? typ(held).element : TypeId{}; }

// None where no record is around the place.
TypeId BodyChecker::heldType(ExprId place) {
  const Expr& e = get(place);
  auto known = [](const std::unordered_map<uint32_t, TypeId>& of, uint32_t key) {
    auto at = of.find(key);
    return at == of.end() ? TypeId{} : at->second;
  };
  switch (e.kind) {
    case ExprKind::Local: return known(heldLocals, e.local.index);
    case ExprKind::Call: return known(heldResults, place.index);
    case ExprKind::Element: case ExprKind::MapElement: return elementOf(heldType(e.children[0]));
    case ExprKind::Slice: return kindOf(place) == Kind::Tensor ? TypeId{} : heldType(e.children[0]);
    case ExprKind::Builtin: {
      TypeId inner = e.children.empty() ? TypeId{} : elementOf(heldType(e.children[0]));
      if (e.builtin == Builtin::Unbox) return inner;
      return inner && (e.builtin == Builtin::Find || e.builtin == Builtin::FindInout) ? types.optional(inner) : TypeId{};
    }
    case ExprKind::Field: {
      TypeId outer = heldType(e.children[0]);
      Type whole = typ(outer ? outer : typeOf(e.children[0]));
      if (whole.kind == Kind::Box) whole = typ(whole.element);
      if (whole.kind == Kind::Tuple) return outer ? whole.args[e.index] : TypeId{};
      if (whole.kind != Kind::Record) return {};
      return types.substitute(program.get(whole.decl).fields[e.index].type, whole.decl, whole.args, holding(whole.extents));
    }
    default: return {};
  }
}

TypeId BodyChecker::typeInPlace(ExprId place) {
  TypeId held = heldType(place);
  return held ? held : typeOf(place);
}

// `m[k, otherwise: v]` puts v into the map when the key is missing, whatever part of the entry changes then.
bool BodyChecker::insertsHeld(ExprId place) {
  const Expr& e = get(place);
  if (e.kind == ExprKind::MapElement && e.children.size() > 2 && e.children[2] && mentionsHeld(heldType(place))) return true;
  return e.kind != ExprKind::Call && !e.children.empty() && insertsHeld(e.children[0]);
}

bool BodyChecker::refuseHeld(ExprId place, const ast::Expr* at, Change how, const std::string& who, const Slot* slot) {
  TypeId heldHere = heldType(place);
  bool inside = insertsHeld(place);
  if (!inside && (!mentionsHeld(heldHere) || how == Change::Named || how == Change::Elements)) return false;
  const Type type = heldHere ? typ(heldHere) : Type{};
  inside = inside || get(place).kind == ExprKind::MapElement || (type.kind != Kind::Tensor && type.kind != Kind::Record);
  for (TypeId a : type.args) inside = inside || mentionsHeld(a);
  if (inside) {
    error(at, quote(at) + " holds parts whose extents are those of their record, which are `?` here, and cannot change")
      .note("change it in a function that names the extents: `inout` and the record's type with a name for each `?`");
    return true;
  }
  if (how == Change::Value) {
    for (uint32_t k = 0; k < type.extents.size(); k++) {
      if (mentionsHeld(type.extents[k])) body.kept[place.index].push_back(k);
    }
    return false;
  }
  // A parameter with names for these extents, or constants, keeps them.
  const Type written = slot && slot->type ? typ(slot->type) : Type{};
  bool keeps = written.kind == type.kind;
  for (size_t k = 0; keeps && k < type.extents.size(); k++) keeps = !mentionsHeld(type.extents[k]) || !types.isOpen(written.extents[k]);
  if (keeps) return false;
  bool canName = written.kind == type.kind && !std::isdigit(uint8_t(slot->name[0]));   // the parameters of a function value are numbered
  error(at, who + " may change an extent of " + quote(at) + " that belongs to its whole record")
    .note(!slot ? "give the record's extents names in place of `?`" : canName ? "give the extent of `" + slot->name + "` a name in place of `?`" : "assign to it: `" + quoteExact(at) + " := …`");
  return true;
}

}  // namespace mica
