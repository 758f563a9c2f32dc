// Ownership: places named for reading and for changing, walks and matches that consume, values exchanged and replaced, and functions that
// answer a place inside of a record.
#include <algorithm>

#include "random/body.h"

namespace mica::random {

void Body::ownerStatement() {
  switch (random.below(8)) {
    case 0: return namePlace();
    case 1: return changePlace();
    case 2: return consume();
    case 3: return consumeChoice();
    case 4: return exchange();
    case 5: return replacePlace();
    case 6: return throughAccessor();
    default: return giveAway();
  }
}

// `let y := owner.part`: the owner cannot change while the block lasts.
void Body::namePlace() {
  std::vector<Place> all = places([](const Type* t) { return !copies(t) && !t->is(Kind::Parameter); }, false);
  std::erase_if(all, [](const Place& p) { return p.whole; });
  if (all.empty()) return local();
  Place p = random.pick(all);
  std::string name = fresh("y");
  source.open("if " + boolean(1).text + " then");
  source.line("let " + name + " := " + p.text);
  scope[p.root].locks++;
  nested(random.between(1, 2), 0, [&] { declare(name, p.type, false, false); });
  scope[p.root].locks--;
  source.close();
}

void Body::changePlace() {
  std::vector<Place> all = places([](const Type* t) { return !t->is(Kind::Parameter); }, true);
  if (all.empty()) return local();
  Place p = random.pick(all);
  std::string name = fresh("y");
  source.open("if " + boolean(1).text + " then");
  source.line("let inout " + name + " := " + p.text);
  hold(p.root, true);
  nested(random.between(1, 2), 0, [&] { declare(name, p.type, true, false); });
  release(p.root, true);
  source.close();
}

// A whole local that can move; it is gone behind this.
std::optional<size_t> Body::givenAway(const std::function<bool(const Type*)>& wanted) {
  std::vector<size_t> all;
  for (size_t i = 0; i < scope.size(); i++) {
    const Variable& v = scope[i];
    if (v.owned && !v.hidden && v.locks == 0 && v.loop == loops && !copies(v.type) && wanted(v.type)) all.push_back(i);
  }
  if (all.empty() || closures > 0) return std::nullopt;
  size_t i = random.pick(all);
  scope[i].hidden = true;
  return i;
}

void Body::consume() {
  std::optional<size_t> i = givenAway([](const Type* t) { return t->is(Kind::List); });
  if (!i) return local();
  std::string x = fresh("x");
  const Type* element = scope[*i].type->element();
  source.open("for move " + x + " in " + scope[*i].name + " do");
  nested(random.between(1, 2), 10, [&] { declare(x, element, false, true); });
  source.close();
}

void Body::consumeChoice() {
  std::optional<size_t> i = givenAway([](const Type* t) { return t->is(Kind::Choice); });
  if (!i) return local();
  const Type* t = scope[*i].type;
  source.open("match move " + scope[*i].name);
  for (const Case& c : t->cases) {
    std::string names;
    std::vector<std::string> bound;
    for (size_t k = 0; k < c.fields.size(); k++) {
      bound.push_back(fresh("m"));
      names += (names.empty() ? "" : ", ") + bound.back();
    }
    source.open("case " + c.name + (names.empty() ? "" : "(" + names + ")") + " then");
    nested(random.between(1, 2), 0, [&] {
      for (size_t k = 0; k < bound.size(); k++) declare(bound[k], c.fields[k].type, false, true);
    });
    source.depth--;
  }
  source.close();
}

void Body::exchange() {
  std::vector<Place> all = places([](const Type* t) { return !t->is(Kind::Parameter); }, true);
  if (all.empty()) return local();
  Place a = random.pick(all);
  std::vector<Place> same = places([&](const Type* t) { return t == a.type; }, true);
  Place b = random.pick(same);
  if (a.root == b.root) return local();
  source.line("Swap(inout " + a.text + ", inout " + b.text + ")");
}

void Body::replacePlace() {
  std::vector<Place> all = places([](const Type* t) { return !t->is(Kind::Parameter) && !t->is(Kind::Tensor); }, true);
  if (all.empty()) return local();
  Place p = random.pick(all);
  std::string name = fresh("v"), text = value(p.type, 2).text;
  source.line("let " + name + ": " + p.type->name + " := Replace(inout " + p.text + ", " + text + ")");
  declare(name, p.type, false, true);
}

// Every record type has for its first field a function that answers it to read, and one to change.
void Body::throughAccessor() {
  bool change = random.chance(60);
  std::vector<Place> all = places([&](const Type* t) {
    return std::find(program.records.begin(), program.records.end(), t) != program.records.end();
  }, change);
  if (all.empty()) return local();
  Place p = random.pick(all);
  const Field& f = p.type->fields[0];
  if (change) {
    scope[p.root].hidden = true;
    std::string text = value(f.type, 2).text;
    scope[p.root].hidden = false;
    return source.line("Edit" + p.type->name + "(inout " + p.text + ") := " + text);
  }
  std::string name = fresh("y");
  source.open("if " + boolean(1).text + " then");
  source.line("let " + name + " := Look" + p.type->name + "(" + p.text + ")");
  if (!copies(f.type)) scope[p.root].locks++;
  nested(random.between(1, 2), 0, [&] { declare(name, f.type, false, false); });
  if (!copies(f.type)) scope[p.root].locks--;
  source.close();
}

// A local moves into another.
void Body::giveAway() {
  std::optional<size_t> i = givenAway([](const Type* t) { return !t->is(Kind::Parameter); });
  if (!i) return local();
  std::string name = fresh("v");
  bool changeable = random.chance(60);
  const Type* t = scope[*i].type;
  source.line(std::string(changeable ? "var " : "let ") + name + " := " + scope[*i].name);
  declare(name, t, changeable, true);
}

}  // namespace mica::random
