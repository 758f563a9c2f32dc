// The places that the function has at a point: variables and their parts.
#include "random/body.h"

namespace mica::random {

namespace {

constexpr int DeepestPlace = 3;

}  // namespace

Variable& Body::declare(const std::string& name, const Type* type, bool changeable, bool owned) {
  Variable v;
  v.name = name;
  v.type = type;
  v.changeable = changeable;
  v.owned = owned;
  v.loop = loops;
  scope.push_back(v);
  return scope.back();
}

// Borrowed for a while: for changing, through another name only.
void Body::hold(size_t root, bool toChange) {
  scope[root].locks++;
  scope[root].hidden = toChange;
}

void Body::release(size_t root, bool toChange) {
  scope[root].locks--;
  if (toChange) scope[root].hidden = false;
}

std::vector<Place> Body::places(const std::function<bool(const Type*)>& wanted, bool toChange) {
  std::vector<Place> found;
  std::function<void(const Place&, int)> parts = [&](const Place& p, int depth) {
    if (wanted(p.type)) found.push_back(p);
    if (depth == 0) return;
    auto part = [&](const std::string& suffix, const Type* type) { parts({p.text + suffix, p.root, type, false}, depth - 1); };
    switch (p.type->kind) {
      case Kind::Record:
        for (const Field& f : p.type->fields) part("." + f.name, f.type);
        break;
      case Kind::Tuple:
        for (size_t i = 0; i < p.type->parts.size(); i++) part("." + std::to_string(i), p.type->parts[i]);
        break;
      case Kind::Array: part("[" + std::to_string(random.below(p.type->count)) + "]", p.type->element()); break;
      case Kind::Tensor: {
        if ((window && toChange) || p.type->element()->is(Kind::Bool)) break;
        std::string indices;
        for (const Extent& e : p.type->extents) {
          if (e.size == 0) return;
          indices += (indices.empty() ? "" : ", ") + std::to_string(random.below(e.size));
        }
        part("[" + indices + "]", p.type->element());
        break;
      }
      default: break;
    }
  };
  for (size_t i = 0; i < scope.size(); i++) {
    const Variable& v = scope[i];
    if (v.hidden || (toChange && (!v.changeable || v.locks > 0))) continue;
    parts({v.name, i, v.type, true}, DeepestPlace);
  }
  return found;
}

std::optional<Place> Body::place(const Type* type, bool toChange) {
  std::vector<Place> all = places([&](const Type* t) { return t == type; }, toChange);
  if (all.empty()) return std::nullopt;
  return random.pick(all);
}

std::optional<Place> Body::placeOf(Kind kind, bool toChange) {
  std::vector<Place> all = places([&](const Type* t) { return t->is(kind); }, toChange);
  if (all.empty()) return std::nullopt;
  return random.pick(all);
}

std::string at(const Expression& e, Level least) { return e.level < least ? "(" + e.text + ")" : e.text; }

std::string binary(const Expression& a, const std::string& op, const Expression& b, Level level) {
  bool chains = level != CompareLevel && level != RangeLevel;      // those stand alone
  return at(a, chains ? level : Level(level + 1)) + " " + op + " " + at(b, Level(level + 1));
}

}  // namespace mica::random
