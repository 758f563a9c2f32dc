// Calls of the program's functions, failures, and closures.
#include "random/body.h"

#include <algorithm>

namespace mica::random {

namespace {

constexpr long MostSteps = 6000;

}  // namespace

// Whether `with` is `pattern` for some values of the callee's parameters, which are noted.
bool unify(const Type* pattern, const Type* with, Binding& b) {
  if (pattern->is(Kind::Parameter)) {
    auto [at, fresh] = b.types.emplace(pattern->name, with);
    if (!fresh) return at->second == with;
    if (pattern->number) return with->is(Kind::Int) || with->is(Kind::Float) || (with->is(Kind::Parameter) && with->number);
    return !pattern->ordered || ordered(with);
  }
  if (pattern->kind != with->kind || pattern->parts.size() != with->parts.size()) return false;
  if (pattern->is(Kind::Tensor)) {
    if (pattern->rank() != with->rank() || pattern->element() != with->element()) return false;
    for (size_t i = 0; i < pattern->rank(); i++) {
      const Extent &e = pattern->extents[i], &w = with->extents[i];
      if (e.size > 0) {
        if (!(e == w)) return false;
      } else if (auto [at, fresh] = b.extents.emplace(e.name, w); !fresh && !(at->second == w)) {
        return false;
      }
    }
    return true;
  }
  if (pattern->parts.empty() || pattern->is(Kind::Record) || pattern->is(Kind::Choice)) return pattern == with;
  if (pattern->count != with->count) return false;
  for (size_t i = 0; i < pattern->parts.size(); i++) {
    if (!unify(pattern->parts[i], with->parts[i], b)) return false;
  }
  return true;
}

const Type* substitute(Types& types, const Type* t, const Binding& b) {
  if (t->is(Kind::Parameter)) return b.types.at(t->name);
  if (t->is(Kind::Tensor)) {
    std::vector<Extent> extents;
    for (const Extent& e : t->extents) extents.push_back(e.size > 0 ? e : b.extents.at(e.name));
    return types.tensor(t->element(), extents);
  }
  std::vector<const Type*> parts;
  for (const Type* p : t->parts) parts.push_back(substitute(types, p, b));
  switch (t->kind) {
    case Kind::List: return types.list(parts[0]);
    case Kind::Set: return types.set(parts[0]);
    case Kind::Map: return types.map(parts[0], parts[1]);
    case Kind::Optional: return types.optional(parts[0]);
    case Kind::Array: return types.array(t->count, parts[0]);
    case Kind::Tuple: return types.tuple(parts);
    default: return t;
  }
}

bool Body::callable(const Function& f) const {
  return (!f.risky || function.risky) && (!window || f.recordable) && steps + times * f.cost < MostSteps;
}

std::optional<Expression> Body::called(const Type* t, int depth) {
  if (!features.calls || t->is(Kind::Parameter)) return std::nullopt;
  std::vector<const Function*> all;
  for (const Function& f : program.functions) {
    bool reads = std::none_of(f.parameters.begin(), f.parameters.end(), [](const Parameter& p) { return p.mode == Parameter::Inout; });
    Binding b;
    if (f.result && reads && callable(f) && unify(f.result, t, b)) all.push_back(&f);
  }
  if (all.empty()) return std::nullopt;
  const Function& f = *random.pick(all);
  Binding b;
  unify(f.result, t, b);
  std::optional<std::string> text = call(f, b, depth - 1, false);
  if (!text) return std::nullopt;
  Expression e{*text, f.fails.empty() ? AtomLevel : LooseLevel, {}};
  if (t->is(Kind::Int)) e.range = rangeOf(t);
  return e;
}

// `F(…)` with what its failures need around it; nothing where an argument cannot be made. Places to be changed are chosen first and named
// by no other argument; what is moved is made before what is read.
std::optional<std::string> Body::call(const Function& f, Binding& binding, int depth, bool statement) {
  for (const Type* g : f.generics) {
    if (binding.types.count(g->name)) continue;
    const Type* t = g->number ? scalarType() : random.chance(50) && features.text ? types.text : scalarType();
    while (g->number && !t->is(Kind::Int) && !t->is(Kind::Float)) t = scalarType();
    binding.types.emplace(g->name, t);
  }
  for (const std::string& e : f.extents) {
    if (binding.extents.count(e)) continue;
    int n = random.between(1, 4);
    binding.extents.emplace(e, Extent{std::to_string(n), n});
  }
  std::vector<std::string> arguments(f.parameters.size());
  std::vector<size_t> changed;
  bool good = true;
  auto each = [&](Parameter::Mode mode, auto make) {
    for (size_t i = 0; i < f.parameters.size() && good; i++) {
      if (f.parameters[i].mode != mode) continue;
      std::optional<std::string> text = make(i, substitute(types, f.parameters[i].type, binding));
      if (text) arguments[i] = *text;
      else good = false;
    }
  };
  each(Parameter::Inout, [&](size_t, const Type* t) -> std::optional<std::string> {
    std::optional<Place> p = place(t, true);
    if (!p || !statement) return std::nullopt;
    scope[p->root].hidden = true;
    changed.push_back(p->root);
    return "inout " + p->text;
  });
  each(Parameter::Move, [&](size_t, const Type* t) -> std::optional<std::string> {
    return value(t, depth, statement ? Moves::Allowed : Moves::No).text;
  });
  each(Parameter::Read, [&](size_t i, const Type* t) -> std::optional<std::string> {
    if (i == 0 && f.recursive) return std::to_string(random.below(4));
    if (random.chance(30) && f.generics.empty() && !t->is(Kind::Tensor)) return value(t, depth).text;
    std::optional<Expression> e = operand(t, depth);
    if (!e && f.generics.empty()) e = value(t, depth);
    if (!e) return std::nullopt;
    return e->text;
  });
  for (size_t root : changed) scope[root].hidden = false;
  if (!good) return std::nullopt;
  std::string text = f.name + "(";
  for (size_t i = 0; i < arguments.size(); i++) text += (i ? ", " : "") + arguments[i];
  text += ")";
  steps += times * f.cost;
  if (f.fails.empty()) return text;
  bool passes = std::all_of(f.fails.begin(), f.fails.end(), [&](int x) {
    return std::find(function.fails.begin(), function.fails.end(), x) != function.fails.end();
  });
  if (closures == 0 && passes && random.chance(50)) return "try " + text;
  return "try " + text + " else " + at(value(substitute(types, f.result, binding), 0), OrLevel);
}

void Body::callStatement() {
  std::vector<const Function*> all;
  for (const Function& f : program.functions) {
    if (callable(f) && (f.result || f.fails.empty())) all.push_back(&f);
  }
  if (all.empty()) return local();
  for (int tries = 0; tries < 4; tries++) {
    const Function& f = *random.pick(all);
    Binding b;
    std::optional<std::string> text = call(f, b, 2, true);
    if (!text) continue;
    if (!f.result) return source.line(*text);
    std::string name = fresh("v");
    const Type* t = substitute(types, f.result, b);
    bool changeable = random.chance(40);
    source.line(std::string(changeable ? "var " : "let ") + name + (random.chance(50) ? "" : ": " + t->name) + " := " + *text);
    declare(name, t, changeable, true);
    return;
  }
  local();
}

// The function once more, one level down.
void Body::recursion() {
  Function rest = function;
  rest.parameters.erase(rest.parameters.begin());
  rest.recursive = false;
  Binding b;
  for (const Type* g : function.generics) b.types.emplace(g->name, g);
  for (const std::string& e : function.extents) b.extents.emplace(e, Extent{e, 0});
  const std::string& level = function.parameters[0].name;
  size_t before = scope.size();
  std::optional<std::string> text = steps < 500 ? call(rest, b, 1, true) : std::nullopt;
  if (!text) return;
  size_t open = text->find(function.name + "(") + function.name.size() + 1;
  text->insert(open, level + " - 1" + (rest.parameters.empty() ? "" : ", "));
  source.open("if " + level + " > 0 then");
  if (!function.result) {
    source.line(*text);
  } else {
    std::string name = fresh("v");
    source.line("let " + name + ": " + function.result->name + " := " + *text);
    nested(2, 0, [&] { declare(name, function.result, false, true); });
  }
  source.close();
  scope.resize(before);
}

// A call that can fail, with arms for some or all of what it fails with.
void Body::attempt() {
  std::vector<const Function*> all;
  for (const Function& f : program.functions) {
    if (callable(f) && !f.fails.empty() && f.result) all.push_back(&f);
  }
  if (all.empty() || closures > 0) return local();
  const Function& f = *random.pick(all);
  Function quiet = f;                     // the call without what surrounds it
  quiet.fails.clear();
  Binding b;
  source.open("attempt");
  size_t before = scope.size();
  if (random.chance(40)) nested(1, 0);
  std::optional<std::string> text = call(quiet, b, 2, true);
  if (!text) {
    source.line("fail Broken" + std::to_string(f.fails[0]) + "(n: " + integer(types.int64, 1).text + ")");
  } else {
    std::string name = fresh("v");
    const Type* t = substitute(types, f.result, b);
    source.line("let " + name + ": " + t->name + " := try " + *text);
    nested(random.between(1, 2), 0, [&] { declare(name, t, false, true); });
  }
  scope.resize(before);
  size_t arms = text ? size_t(random.below(int(f.fails.size()) + 1)) : 1;
  for (size_t i = 0; i < arms; i++) {
    std::string e = fresh("e");
    source.middle("recover " + e + ": Broken" + std::to_string(f.fails[i]));
    if (random.chance(50)) source.line("Print(\"" + function.name + " {" + e + "} {" + e + ".n}\")");
    nested(1, 0);
  }
  if (arms < f.fails.size() && text) {
    std::string e = fresh("e");
    source.middle("recover " + e + ": any");
    source.line("Print(\"" + function.name + " other {" + e + "}\")");
    nested(1, 0);
  }
  source.close();
}

// Closures: passed down to read or to change what they capture, stored with what they took over.
void Body::closure() {
  std::string x = fresh("x");
  size_t before = scope.size();
  switch (random.below(3)) {
    case 0: {
      std::optional<Place> p = place(types.int64, true);
      if (!p || closures > 0) return local();
      std::string count = std::to_string(random.between(1, 5));
      scope[p->root].locks++;
      closures++;
      declare(x, types.int64, false, false).range = Range{0, 4};
      std::string e = integer(types.int64, 2).text;
      closures--;
      scope.resize(before);
      scope[p->root].locks--;
      source.open("Repeated(" + count + ", func(" + x + ": int)");
      source.line(p->text + " := " + e);
      source.depth--;
      source.line("end)");
      return;
    }
    case 1: {
      if (!function.generics.empty()) return local();   // a captured T would have to move
      std::string f = fresh("f"), y = fresh("v");
      std::vector<Variable> kept = scope;
      for (Variable& v : scope) v.hidden = v.hidden || !copies(v.type) || v.changeable;
      closures++;
      declare(x, types.int64, false, false);
      std::string e = integer(types.int64, 3).text;
      closures--;
      scope = kept;
      source.line("let " + f + ": func(int): int := move (" + x + ") => " + e);
      std::string argument = integer(types.int64, 1).text, other = integer(types.int64, 1).text;
      source.line("let " + y + " := Applied(" + f + ", " + argument + ") bxor " + f + "(" + other + ")");
      declare(y, types.int64, false, true);
      return;
    }
    default: {
      const Type *from = scalarType(), *to = randomType(1);
      std::string y = fresh("v");
      closures++;
      declare(x, from, false, false);
      Expression e = value(to, 2);
      closures--;
      scope.resize(before);
      std::string argument = scalar(from, 1).text;
      bool own = to->is(Kind::Int) || to->is(Kind::Float) || to->is(Kind::Bool) || to->is(Kind::Char) || to->is(Kind::String);
      if (!own) return local();
      source.line("let " + y + " := Through(" + argument + ", (" + x + ") => " + at(e, OrLevel) + ")");
      declare(y, to, false, true);
    }
  }
}

}  // namespace mica::random
