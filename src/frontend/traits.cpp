// What is known about types: whether they copy, compare, hash and print; and how types and extents are written in messages.
#include <functional>
#include <set>
#include <unordered_map>

#include "frontend/check.h"

namespace mica {

bool isInteger(Kind k) { return k >= Kind::Int8 && k <= Kind::UInt64; }
bool isSigned(Kind k) { return k >= Kind::Int8 && k <= Kind::Int64; }
bool isFloat(Kind k) { return k == Kind::Float32 || k == Kind::Float64; }

uint32_t bitWidth(Kind k) {
  switch (k) {
    case Kind::Bool: return 1;
    case Kind::Int8: case Kind::UInt8: return 8;
    case Kind::Int16: case Kind::UInt16: return 16;
    case Kind::Int32: case Kind::UInt32: case Kind::Float32: case Kind::Char: return 32;
    case Kind::Int64: case Kind::UInt64: case Kind::Float64: case Kind::Pointer: return 64;
    default: return 0;
  }
}

namespace {

using Test = std::function<int(const Type&)>;   // 1 yes, 0 no, -1 look at the parts

constexpr uint32_t MostInstances = 1000;   // of one generic type inside a type; a generic type that grows without end (which is refused) is answered by no

// Whether a test says no to nothing in a type: a search through its parts that looks at each type once, so that rings end. Answers are kept
// in the program's table as soon as all declarations on the way are settled.
class TraitSearch {
 public:
  TraitSearch(const Program& program, Trait trait, const Test& test) : program(program), known(program.traits[size_t(trait)]), test(test) {}

  bool all(TypeId t) {
    bool answer = visit(t);
    if (answer && settled)
      for (TypeId v : visited) keep(v, Program::TraitAnswer::Yes);
    return answer;
  }

 private:
  bool visit(TypeId t) {
    if (!t) return true;
    if (t.index < known.size() && known[t.index] != Program::TraitAnswer::Unknown) return known[t.index] == Program::TraitAnswer::Yes;
    if (!visited.insert(t).second) return true;
    int answer = test(program.types.get(t));
    if (answer < 0) answer = parts(t);
    if (!answer && settled) keep(t, Program::TraitAnswer::No);
    return answer;
  }

  bool parts(TypeId t) {
    const Type type = program.types.get(t);   // a copy: the table grows below
    switch (type.kind) {
      case Kind::Record: case Kind::Choice: case Kind::Failure: {
        const Decl& d = program.get(type.decl);
        settled = settled && d.settled;
        if (!type.args.empty() && ++instances[type.decl.index] > MostInstances) return false;
        auto holds = [&](const FieldDecl& f) { return visit(const_cast<Program&>(program).types.substitute(f.type, type.decl, type.args, type.extents)); };
        for (const FieldDecl& f : d.fields) if (!holds(f)) return false;
        for (const CaseDecl& c : d.cases)
          for (const FieldDecl& f : c.fields) if (!holds(f)) return false;
        return true;
      }
      case Kind::Tuple:
        for (TypeId a : type.args) if (!visit(a)) return false;
        return true;
      default: return visit(type.key) && visit(type.element);
    }
  }

  void keep(TypeId t, Program::TraitAnswer answer) {
    if (known.size() <= t.index) known.resize(program.types.size(), Program::TraitAnswer::Unknown);
    known[t.index] = answer;
  }

  const Program& program;
  std::vector<Program::TraitAnswer>& known;
  const Test& test;
  std::set<TypeId> visited;
  std::unordered_map<uint32_t, uint32_t> instances;   // of each generic declaration
  bool settled = true;
};

bool all(const Program& p, TypeId t, Trait trait, const Test& test) { return TraitSearch(p, trait, test).all(t); }

bool constrained(const Program& p, const Type& t, Constraint c) {
  if (t.decl.index >= p.decls.size()) return false;
  const auto& params = p.get(t.decl).typeParams;
  if (t.index >= params.size()) return false;
  uint8_t has = params[t.index].constraints;
  if (has & uint8_t(Constraint::Number) || has & uint8_t(Constraint::Float)) return c != Constraint::Float || (has & uint8_t(Constraint::Float));
  if (c == Constraint::Equatable && has & (uint8_t(Constraint::Hashable) | uint8_t(Constraint::Ordered))) return true;
  return has & uint8_t(c);
}

bool isNumber(Kind k) { return isInteger(k) || isFloat(k); }

}  // namespace

bool copies(const Program& p, TypeId t) {
  return all(p, t, Trait::Copies, [&](const Type& x) {
    switch (x.kind) {
      case Kind::Error: case Kind::Never: case Kind::Unit: case Kind::Bool: case Kind::Char: case Kind::Pointer: case Kind::Simd:
      case Kind::Shared: case Kind::Range: case Kind::Stream: case Kind::Handle: return 1;
      case Kind::Parameter: return constrained(p, x, Constraint::Number) ? 1 : 0;
      case Kind::Tuple: case Kind::Record: case Kind::Array: case Kind::Choice: case Kind::Optional: return -1;
      default: return isNumber(x.kind) ? 1 : 0;
    }
  });
}

bool isEquatable(const Program& p, TypeId t) {
  return all(p, t, Trait::Equatable, [&](const Type& x) {
    switch (x.kind) {
      case Kind::Function: case Kind::Stream: case Kind::Handle: case Kind::Simd: case Kind::Never: case Kind::AnyFailure: return 0;
      case Kind::Error: return 1;
      case Kind::Parameter: return constrained(p, x, Constraint::Equatable) ? 1 : 0;
      default: return -1;
    }
  });
}

bool isOrdered(const Program& p, TypeId t) {
  return all(p, t, Trait::Ordered, [&](const Type& x) {
    switch (x.kind) {
      case Kind::Error: case Kind::Char: case Kind::String: case Kind::Bool: case Kind::Pointer: return 1;
      case Kind::Parameter: return constrained(p, x, Constraint::Ordered) ? 1 : 0;
      case Kind::Tuple: case Kind::List: case Kind::Array: return -1;
      default: return isNumber(x.kind) ? 1 : 0;
    }
  });
}

bool isHashable(const Program& p, TypeId t) {
  return all(p, t, Trait::Hashable, [&](const Type& x) {
    switch (x.kind) {
      case Kind::Function: case Kind::Stream: case Kind::Handle: case Kind::Simd: case Kind::Never: case Kind::AnyFailure:
      case Kind::Map: case Kind::Set: case Kind::Tensor: return 0;
      case Kind::Error: return 1;
      case Kind::Parameter: return constrained(p, x, Constraint::Hashable) ? 1 : 0;
      default: return -1;
    }
  });
}

bool isPrintable(const Program& p, TypeId t) {
  return all(p, t, Trait::Printable, [&](const Type& x) {
    switch (x.kind) {
      case Kind::Function: case Kind::Stream: case Kind::Handle: case Kind::Never: case Kind::Unit: case Kind::Pointer: case Kind::Simd: return 0;
      case Kind::Error: case Kind::AnyFailure: case Kind::Failure: return 1;
      case Kind::Parameter: return constrained(p, x, Constraint::Printable) ? 1 : 0;
      default: return -1;
    }
  });
}

bool isCopyable(const Program& p, TypeId t) {
  return all(p, t, Trait::Copyable, [&](const Type& x) {
    switch (x.kind) {
      case Kind::Function: case Kind::Handle: case Kind::Never: return 0;
      case Kind::Error: return 1;
      case Kind::Parameter: return constrained(p, x, Constraint::Copyable) ? 1 : 0;
      default: return -1;
    }
  });
}

// ---- printing ----

namespace {

std::string showAtom(const Program& p, AtomId id) {
  const Atom& a = p.types.get(id);
  switch (a.form) {
    case Atom::Form::Name: return a.name;
    case Atom::Form::Div: return "(" + show(p, a.left) + " div " + show(p, a.right) + ")";
    case Atom::Form::Mod: return "(" + show(p, a.left) + " mod " + show(p, a.right) + ")";
    case Atom::Form::Min: return "Min(" + show(p, a.left) + ", " + show(p, a.right) + ")";
    default: return "Max(" + show(p, a.left) + ", " + show(p, a.right) + ")";
  }
}

const char* scalarName(Kind k) {
  switch (k) {
    case Kind::Error: return "an unknown type";
    case Kind::Never: return "never";
    case Kind::Unit: return "nothing";
    case Kind::Bool: return "bool";
    case Kind::Int8: return "int8";
    case Kind::Int16: return "int16";
    case Kind::Int32: return "int32";
    case Kind::Int64: return "int";
    case Kind::UInt8: return "byte";
    case Kind::UInt16: return "uint16";
    case Kind::UInt32: return "uint32";
    case Kind::UInt64: return "uint64";
    case Kind::Float32: return "float32";
    case Kind::Float64: return "float64";
    case Kind::Char: return "char";
    case Kind::Pointer: return "pointer";
    case Kind::String: return "string";
    case Kind::AnyFailure: return "failure";
    case Kind::Range: return "range";
    default: return "type";
  }
}

std::string showList(const Program& p, const std::vector<ExtentId>& extents) {
  std::string out = "[";
  for (size_t i = 0; i < extents.size(); i++) out += (i ? ", " : "") + show(p, extents[i]);
  return out + "]";
}

std::string showFails(const Program& p, const std::vector<TypeId>& fails) {
  std::string out;
  for (size_t i = 0; i < fails.size(); i++) {
    out += i ? ", " : " fails ";
    out += p.types.get(fails[i]).kind == Kind::AnyFailure ? "any" : show(p, fails[i]);
  }
  return out;
}

std::string showFunction(const Program& p, const Type& t) {
  std::string out = "func(";
  for (size_t i = 0; i < t.args.size(); i++) {
    Mode mode = i < t.modes.size() ? t.modes[i] : Mode::Read;
    out += i ? ", " : "";
    out += mode == Mode::Inout ? "inout " : mode == Mode::Move ? "move " : "";
    out += show(p, t.args[i]);
  }
  out += ")";
  if (t.result && p.types.get(t.result).kind != Kind::Unit) out += ": " + show(p, t.result);
  return out + showFails(p, t.fails);
}

std::string showApplied(const Program& p, const Type& t) {
  const Decl& d = p.get(t.decl);
  std::string out = d.name;
  if (t.args.empty() && t.extents.empty()) return out;
  out += "[";
  bool first = true;
  for (TypeId a : t.args) { out += (first ? "" : ", ") + show(p, a); first = false; }
  for (ExtentId e : t.extents) { out += (first ? "" : ", ") + show(p, e); first = false; }
  return out + "]";
}

}  // namespace

std::string show(const Program& p, ExtentId id) {
  const Extent& e = p.types.get(id);
  if (e.open) return "?";
  if (e.terms.empty()) return "0";
  std::string out;
  auto term = [&](const Monomial& m) {
    int64_t c = m.coefficient;
    bool negative = c < 0;
    std::string text;
    for (AtomId a : m.atoms) text += (text.empty() ? "" : " * ") + showAtom(p, a);
    uint64_t size = negative ? 0 - uint64_t(c) : uint64_t(c);
    if (text.empty()) text = std::to_string(size);
    else if (size != 1) text += " * " + std::to_string(size);
    if (out.empty()) out = (negative ? "-" : "") + text;
    else out += (negative ? " - " : " + ") + text;
  };
  for (const Monomial& m : e.terms) {
    if (!m.atoms.empty()) term(m);
  }
  for (const Monomial& m : e.terms) {
    if (m.atoms.empty()) term(m);
  }
  return out;
}

std::string show(const Program& p, TypeId id) {
  if (!id) return "nothing";
  const Type& t = p.types.get(id);
  std::string mark = t.tracked ? "tracked " : "";
  std::string place = t.onGpu ? " on gpu" : "";
  auto of = [&](const char* word) { return std::string(word) + " of " + show(p, t.element); };
  switch (t.kind) {
    case Kind::Tensor: {
      const char* family = t.extents.size() == 1 ? "vector" : t.extents.size() == 2 ? "matrix" : "tensor";
      std::string element = p.types.get(t.element).kind == Kind::Float32 ? "" : " of " + show(p, t.element);
      return mark + family + showList(p, t.extents) + element + place;
    }
    case Kind::Simd: return "simd" + showList(p, t.extents) + " of " + show(p, t.element);
    case Kind::List: return of("list");
    case Kind::Set: return of("set");
    case Kind::Stream: return of("stream");
    case Kind::Map: return "map of " + show(p, t.key) + " to " + show(p, t.element);
    case Kind::Array: return "array" + showList(p, t.extents) + " of " + show(p, t.element);
    case Kind::Optional: {
      Kind inner = p.types.get(t.element).kind;
      bool wrap = inner == Kind::List || inner == Kind::Set || inner == Kind::Map || inner == Kind::Array || inner == Kind::Tensor || inner == Kind::Function;
      return wrap ? "(" + show(p, t.element) + ")?" : show(p, t.element) + "?";
    }
    case Kind::Box: return "box " + show(p, t.element);
    case Kind::Shared: return "shared " + show(p, t.element);
    case Kind::Handle: return "task of " + (t.element ? show(p, t.element) : "nothing");
    case Kind::Tuple: {
      std::string out = "(";
      for (size_t i = 0; i < t.args.size(); i++) out += (i ? ", " : "") + show(p, t.args[i]);
      return out + ")";
    }
    case Kind::Record: case Kind::Choice: case Kind::Failure: return showApplied(p, t) + place;
    case Kind::Function: return showFunction(p, t);
    case Kind::Parameter: {
      bool known = t.decl.index < p.decls.size() && t.index < p.get(t.decl).typeParams.size();
      return mark + (known ? p.get(t.decl).typeParams[t.index].name : "T");
    }
    default: return mark + scalarName(t.kind);
  }
}

std::string showWithArticle(const Program& p, TypeId id) {
  std::string text = show(p, id);
  Kind kind = p.types.get(id).kind;
  if (kind == Kind::Error || kind == Kind::Unit || kind == Kind::Never || kind == Kind::Tuple || text[0] == '(') return text;
  bool vowel = std::string_view("aeiouAEIO").find(text[0]) != std::string_view::npos && text.compare(0, 3, "uin") != 0;
  return (vowel ? "an " : "a ") + text;
}

}  // namespace mica
