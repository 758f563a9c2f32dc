// Lists, maps, sets, optionals, records and choices: changed, walked and taken apart. Collections grow only while they are short.
#include "random/body.h"

namespace mica::random {

void Body::listChange() {
  std::optional<Place> p = placeOf(Kind::List, true);
  if (!p) return local();
  const Type* e = p->type->element();
  std::string xs = p->text, length = "Length(" + xs + ")";
  size_t root = p->root;
  scope[root].locks++;                    // nothing in the statement moves it
  std::string x = at(value(e, 2), OrLevel);
  switch (random.below(9)) {
    case 0: case 1: source.line("if " + length + " < 20 then " + xs + " += [" + x + "] end"); break;
    case 2: source.line("if " + length + " < 20 then Append(inout " + xs + ", " + x + ") end"); break;
    case 3: {
      std::string index = function.risky && random.chance(30) ? integer(types.int64, 0).text : below(1, "(" + length + " + 1)").text;
      source.line("if " + length + " < 20 then Insert(inout " + xs + ", " + index + ", " + x + ") end");
      break;
    }
    case 4: {
      std::string index = below(1, length).text;
      source.line("if " + length + " > 0 then " + xs + "[" + index + "] := " + x + " end");
      break;
    }
    case 5: {
      std::string index = below(1, length).text, removed = fresh("v");
      source.open("if " + length + " > 0 then");
      source.line("let " + removed + " := " + (random.chance(50) ? "RemoveLast(inout " + xs + ")" : "Remove(inout " + xs + ", " + index + ")"));
      scope[root].locks--;
      nested(1, 0, [&] { declare(removed, e, false, true); });
      scope[root].locks++;
      source.close();
      break;
    }
    case 6: {
      std::string i = below(1, length).text, j = below(1, length).text;
      source.line("if " + length + " > 0 then Swap(inout " + xs + ", " + i + ", " + j + ") end");
      break;
    }
    case 7: {
      std::optional<Place> other = place(p->type, false);
      if (other && other->root != root) source.line("if " + length + " < 20 then " + xs + " += " + (copies(e) ? other->text : "Copy(" + other->text + ")") + " end");
      else source.line("Clear(inout " + xs + ")");
      break;
    }
    default: {
      std::string index = below(1, length).text;
      source.line("if " + length + " > 0 then _ := Replace(inout " + xs + "[" + index + "], " + x + ") end");
    }
  }
  scope[root].locks--;
}

void Body::mapChange() {
  std::optional<Place> p = placeOf(Kind::Map, true);
  if (!p) return local();
  const Type *k = p->type->parts[0], *v = p->type->parts[1];
  std::string m = p->text, room = "if Length(" + m + ") < 20 then ";
  scope[p->root].locks++;
  std::string key = value(k, 1).text;
  std::string x = at(value(v, 2), OrLevel);
  switch (random.below(5)) {
    case 0: case 1: source.line(room + m + "[" + key + "] := " + x + " end"); break;
    case 2: source.line("_ := Remove(inout " + m + ", " + key + ")"); break;
    case 3:
      if (v->is(Kind::Float)) source.line(room + m + "[" + key + ", otherwise: " + literal(v) + "] *= " + x + " end");
      else source.line("if " + at({key, LooseLevel, {}}, AtomLevel) + " in " + m + " then " + m + "[" + key + "] := " + x + " end");
      break;
    default: {
      std::string name = fresh("e");
      source.open("if let inout " + name + " := Find(inout " + m + ", " + key + ") then");
      hold(p->root, true);
      nested(random.between(1, 2), 0, [&] { declare(name, v, true, false); });
      release(p->root, true);
      source.close();
    }
  }
  scope[p->root].locks--;
}

void Body::setChange() {
  std::optional<Place> p = placeOf(Kind::Set, true);
  if (!p) return local();
  scope[p->root].locks++;
  std::string x = value(p->type->element(), 2).text;
  scope[p->root].locks--;
  if (random.chance(70)) source.line("if Length(" + p->text + ") < 20 then _ := Add(inout " + p->text + ", " + x + ") end");
  else source.line("_ := Remove(inout " + p->text + ", " + x + ")");
}

void Body::optionalChange() {
  bool change = random.chance(50);
  std::optional<Place> p = placeOf(Kind::Optional, change);
  if (!p) return local();
  const Type* held = p->type->element();
  std::string name = fresh("o");
  if (change && random.chance(30)) {
    source.line("let " + name + " := Take(inout " + p->text + ")");
    declare(name, p->type, false, true);
    return;
  }
  source.open(std::string("if let ") + (change ? "inout " : "") + name + " := " + p->text + " then");
  hold(p->root, change);
  nested(random.between(1, 2), 0, [&] { declare(name, held, change, false); });
  release(p->root, change);
  if (random.chance(60)) {
    source.middle("else");
    nested(1, 0);
  }
  source.close();
}

// `for` over lists, arrays, maps and sets; over lists and arrays also to change the elements.
void Body::walk() {
  bool change = random.chance(30);
  std::vector<Place> all = places([&](const Type* t) {
    return t->is(Kind::List) || t->is(Kind::Array) || (!change && (t->is(Kind::Map) || t->is(Kind::Set)));
  }, change);
  if (all.empty()) return rangeLoop();
  Place p = random.pick(all);
  std::string i = fresh("i"), x = fresh("x"), head = x;
  bool index = p.type->is(Kind::List) && !change && random.chance(30), map = p.type->is(Kind::Map);
  if (map) head = "(" + i + ", " + x + ")";
  if (index) head = i + ", " + x;
  source.open(std::string("for ") + (change ? "inout " : "") + head + " in " + p.text + " do");
  hold(p.root, change);
  nested(random.between(1, 3), 10, [&] {
    if (map) declare(i, p.type->parts[0], false, false);
    if (index) declare(i, types.int64, false, false);
    declare(x, p.type->element(), change, false);
  });
  release(p.root, change);
  source.close();
}

void Body::matchChoice() {
  bool change = random.chance(30);
  std::optional<Place> p = placeOf(Kind::Choice, change);
  if (!p) return local();
  source.open(std::string("match ") + (change ? "inout " : "") + p->text);
  hold(p->root, change);
  bool all = random.chance(60);
  size_t arms = all ? p->type->cases.size() : 1;
  for (size_t i = 0; i < arms; i++) {
    const Case& c = p->type->cases[i];
    std::string names;
    std::vector<std::string> bound;
    for (const Field& f : c.fields) {
      bound.push_back(random.chance(80) ? fresh("m") : "_");
      names += (names.empty() ? "" : ", ") + (random.chance(30) ? f.name + ": " : "") + bound.back();
    }
    source.open("case " + c.name + (names.empty() ? "" : "(" + names + ")") + " then");
    nested(random.between(1, 2), 0, [&] {
      for (size_t k = 0; k < bound.size(); k++) {
        if (bound[k] != "_") declare(bound[k], c.fields[k].type, change, false);
      }
    });
    source.depth--;
  }
  if (arms < p->type->cases.size()) {
    source.open("else");
    nested(1, 0);
    source.depth--;
  }
  release(p->root, change);
  source.close();
}

// A fresh tuple into its parts, or two places exchanged.
void Body::takeApart() {
  if (random.chance(40)) {
    std::vector<Place> all = places([](const Type* t) { return copies(t); }, true);
    if (!all.empty()) {
      Place a = random.pick(all);
      std::vector<Place> same = places([&](const Type* t) { return t == a.type; }, true);
      Place b = random.pick(same);
      if (a.root != b.root) return source.line("(" + a.text + ", " + b.text + ") := (" + b.text + ", " + a.text + ")");
    }
  }
  const Type* t = types.tuple({randomType(1), randomType(1)});
  std::string a = fresh("v"), b = fresh("v");
  std::string values = "(" + value(t->parts[0], 2).text;
  values += ", " + value(t->parts[1], 2).text + ")";
  std::string both = fresh("t");
  source.line("let " + both + ": " + t->name + " := " + values);
  source.line("let (" + a + ", " + b + ") := " + both);
  declare(a, t->parts[0], false, true);
  declare(b, t->parts[1], false, true);
}

void Body::sort() {
  std::vector<Place> all = places([](const Type* t) { return t->is(Kind::List) && ordered(t->element()); }, true);
  if (all.empty()) return local();
  const Place& p = random.pick(all);
  source.line("Sort(inout " + p.text + (random.chance(50) ? ")" : ", before: (a, b) => a > b)"));
}

}  // namespace mica::random
