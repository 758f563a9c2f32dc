#include "random/types.h"

#include <algorithm>

namespace mica::random {

namespace {

// Whether `test` holds for the type and all of its parts.
template <class Test> bool all(const Type* t, Test test) {
  if (!test(*t)) return false;
  for (const Type* p : t->parts) {
    if (!all(p, test)) return false;
  }
  for (const Field& f : t->fields) {
    if (!all(f.type, test)) return false;
  }
  for (const Case& c : t->cases) {
    for (const Field& f : c.fields) {
      if (!all(f.type, test)) return false;
    }
  }
  return true;
}

std::string joined(const std::vector<const Type*>& parts) {
  std::string text;
  for (const Type* p : parts) text += (text.empty() ? "" : ", ") + p->name;
  return text;
}

// `(list of int)?`: what holds an `of` stands in parentheses before a postfix.
std::string tight(const Type* t) {
  bool simple = t->name.find(' ') == std::string::npos || t->is(Kind::Tuple);
  return simple ? t->name : "(" + t->name + ")";
}

}  // namespace

Range rangeOf(const Type* t) {
  __int128 one = 1;
  if (t->isSigned) return {-(one << (t->bits - 1)), (one << (t->bits - 1)) - 1};
  return {0, (one << t->bits) - 1};
}

bool copies(const Type* t) {
  return all(t, [](const Type& x) {
    return !(x.is(Kind::String) || x.is(Kind::List) || x.is(Kind::Map) || x.is(Kind::Set) || x.is(Kind::Tensor) || (x.is(Kind::Parameter) && !x.number));
  });
}

bool ordered(const Type* t) {
  return all(t, [](const Type& x) {
    if (x.is(Kind::Parameter)) return x.ordered;
    return x.is(Kind::Int) || x.is(Kind::Float) || x.is(Kind::Bool) || x.is(Kind::Char) || x.is(Kind::String) || x.is(Kind::Tuple) || x.is(Kind::List);
  });
}

const Type* Types::keep(const std::string& key, Type t) {
  std::unique_ptr<Type>& slot = all[key];
  if (!slot) slot = std::make_unique<Type>(std::move(t));
  return slot.get();
}

const Type* Types::made(Kind kind, std::vector<const Type*> parts, const std::string& name) {
  Type t;
  t.kind = kind;
  t.parts = std::move(parts);
  t.name = name;
  return keep(name, t);
}

Types::Types() {
  boolean = made(Kind::Bool, {}, "bool");
  character = made(Kind::Char, {}, "char");
  text = made(Kind::String, {}, "string");
  int64 = integer(64, true);
  float32 = floating(32);
  float64 = floating(64);
}

const Type* Types::integer(int bits, bool isSigned) {
  Type t;
  t.kind = Kind::Int;
  t.bits = bits;
  t.isSigned = isSigned;
  t.name = bits == 64 && isSigned ? "int" : (isSigned ? "int" : "uint") + std::to_string(bits);
  return keep(t.name, t);
}

const Type* Types::floating(int bits) {
  Type t;
  t.kind = Kind::Float;
  t.bits = bits;
  t.name = "float" + std::to_string(bits);
  return keep(t.name, t);
}

const Type* Types::list(const Type* element) { return made(Kind::List, {element}, "list of " + element->name); }

const Type* Types::set(const Type* element) { return made(Kind::Set, {element}, "set of " + element->name); }

const Type* Types::map(const Type* key, const Type* value) { return made(Kind::Map, {key, value}, "map of " + key->name + " to " + value->name); }

const Type* Types::optional(const Type* value) { return made(Kind::Optional, {value}, tight(value) + "?"); }

const Type* Types::array(int count, const Type* element) {
  Type t;
  t.kind = Kind::Array;
  t.count = count;
  t.parts = {element};
  t.name = "array[" + std::to_string(count) + "] of " + element->name;
  return keep(t.name, t);
}

const Type* Types::tuple(std::vector<const Type*> parts) {
  std::string name = "(" + joined(parts) + ")";
  return made(Kind::Tuple, std::move(parts), name);
}

const Type* Types::tensor(const Type* element, std::vector<Extent> extents) {
  Type t;
  t.kind = Kind::Tensor;
  t.parts = {element};
  static const char* families[] = {"", "vector", "matrix", "tensor", "tensor"};
  std::string key;
  for (const Extent& e : extents) {
    t.name += (t.name.empty() ? "" : ", ") + e.name;
    key += e.name + ":" + std::to_string(e.size) + " ";
  }
  t.name = std::string(families[extents.size()]) + "[" + t.name + "]" + (element->name == "float32" ? "" : " of " + element->name);
  t.extents = std::move(extents);
  return keep(t.name + " " + key, t);
}

const Type* Types::parameter(const std::string& name, bool number, bool isOrdered) {
  Type t;
  t.kind = Kind::Parameter;
  t.name = name;
  t.number = number;
  t.ordered = isOrdered;
  return keep(name + (number ? " number" : isOrdered ? " ordered" : ""), t);
}

const Type* Types::add(Type t) {
  std::string key = t.name;
  return keep(key, std::move(t));
}

}  // namespace mica::random
