// What is known about types: whether they copy, compare, hash and print; and how types and extents are written in messages.
#include <functional>

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

constexpr int DeepestType = 200;   // a type that nests deeper than any program's (recursive generic types) is answered by no

// Walks a type through its parts; a record or choice that is already being looked at counts as yes.
bool all(const Program& p, TypeId t, const Test& test, std::vector<TypeId>& open) {
  const Type& type = p.types.get(t);
  int answer = test(type);
  if (answer >= 0) return answer == 1;
  auto part = [&](TypeId x) { return !x || all(p, x, test, open); };
  switch (type.kind) {
    case Kind::Record: case Kind::Choice: case Kind::Failure: {
      for (TypeId o : open) {
        if (o == t) return true;
      }
      if (open.size() > DeepestType) return false;
      open.push_back(t);
      const Decl& d = p.get(type.decl);
      TypeTable& types = const_cast<Program&>(p).types;
      std::vector<TypeId> args = type.args;
      std::vector<ExtentId> extents = type.extents;
      DeclId decl = type.decl;
      bool fine = true;
      auto field = [&](const FieldDecl& f) { return all(p, types.substitute(f.type, decl, args, extents), test, open); };
      for (const FieldDecl& f : d.fields) fine = fine && field(f);
      for (const CaseDecl& c : d.cases) {
        for (const FieldDecl& f : c.fields) fine = fine && field(f);
      }
      open.pop_back();
      return fine;
    }
    case Kind::Tuple: {
      std::vector<TypeId> args = type.args;
      for (TypeId a : args) {
        if (!part(a)) return false;
      }
      return true;
    }
    default: {
      TypeId key = type.key, element = type.element;
      return part(key) && part(element);
    }
  }
}

bool all(const Program& p, TypeId t, const Test& test) {
  std::vector<TypeId> open;
  return all(p, t, test, open);
}

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
  return all(p, t, [&](const Type& x) {
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
  return all(p, t, [&](const Type& x) {
    switch (x.kind) {
      case Kind::Function: case Kind::Stream: case Kind::Handle: case Kind::Simd: case Kind::Never: case Kind::AnyFailure: return 0;
      case Kind::Error: return 1;
      case Kind::Parameter: return constrained(p, x, Constraint::Equatable) ? 1 : 0;
      default: return -1;
    }
  });
}

bool isOrdered(const Program& p, TypeId t) {
  return all(p, t, [&](const Type& x) {
    switch (x.kind) {
      case Kind::Error: case Kind::Char: case Kind::String: case Kind::Bool: case Kind::Pointer: return 1;
      case Kind::Parameter: return constrained(p, x, Constraint::Ordered) ? 1 : 0;
      case Kind::Tuple: case Kind::List: case Kind::Array: return -1;
      default: return isNumber(x.kind) ? 1 : 0;
    }
  });
}

bool isHashable(const Program& p, TypeId t) {
  return all(p, t, [&](const Type& x) {
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
  return all(p, t, [&](const Type& x) {
    switch (x.kind) {
      case Kind::Function: case Kind::Stream: case Kind::Handle: case Kind::Never: case Kind::Unit: case Kind::Pointer: case Kind::Simd: return 0;
      case Kind::Error: case Kind::AnyFailure: case Kind::Failure: return 1;
      case Kind::Parameter: return constrained(p, x, Constraint::Printable) ? 1 : 0;
      default: return -1;
    }
  });
}

bool isCopyable(const Program& p, TypeId t) {
  return all(p, t, [&](const Type& x) {
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
