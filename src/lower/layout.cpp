// Layouts of types and the names of instances. The table of layouts is in docs/internals.md.
#include <algorithm>

#include "frontend/check.h"
#include "lower/lowering.h"

namespace mica::lower {

namespace {

// Sizes stop growing at LargestValue, where the type is refused.
uint32_t capped(uint64_t size) { return uint32_t(std::min<uint64_t>(size, LargestValue)); }

uint32_t roundUp(uint32_t n, uint32_t align) { return (n + align - 1) / align * align; }

void append(Layout& l, uint32_t size, uint32_t align) {
  uint32_t at = roundUp(l.size, align);
  l.offsets.push_back(at);
  l.size = capped(uint64_t(at) + size);
  l.align = std::max(l.align, align);
}

}  // namespace

bool Lowering::isTrackedFloat(TypeId t) const {
  const Type& type = get(t);
  return type.tracked && (type.kind == Kind::Float32 || type.kind == Kind::Float64);
}

bool Lowering::holdsTrackedFloat(TypeId t) { return !laidOutAlike(t, types.unmarked(t)); }

// Marks of tensors change nothing, and those of a record's fields are its declaration's.
bool Lowering::laidOutAlike(TypeId a, TypeId b) {
  if (a == b || !a || !b) return true;
  const Type x = get(a), y = get(b);
  if (isTrackedFloat(a) != isTrackedFloat(b)) return false;
  if (x.kind == Kind::Tensor || x.kind == Kind::Function || x.kind != y.kind) return true;
  if (!laidOutAlike(x.element, y.element) || !laidOutAlike(x.key, y.key)) return false;
  for (size_t k = 0; k < x.args.size() && k < y.args.size(); k++)
    if (!laidOutAlike(x.args[k], y.args[k])) return false;
  return true;
}

bool Lowering::isScalar(TypeId t) const {
  const Type& type = get(t);
  if (type.kind >= Kind::Bool && type.kind <= Kind::Simd) return !type.tracked;
  return false;
}

ir::Type Lowering::irType(TypeId t) const {
  const Type& type = get(t);
  switch (type.kind) {
    case Kind::Bool: return ir::I1;
    case Kind::Int8: case Kind::UInt8: return ir::I8;
    case Kind::Int16: case Kind::UInt16: return ir::I16;
    case Kind::Int32: case Kind::UInt32: case Kind::Char: return ir::I32;
    case Kind::Int64: case Kind::UInt64: return ir::I64;
    case Kind::Float32: return ir::F32;
    case Kind::Float64: return ir::F64;
    case Kind::Pointer: return ir::Ptr;
    case Kind::Simd: {
      int64_t lanes = 1;
      if (!types.isConstant(type.extents[0], &lanes)) internalError("a simd type without a known number of lanes");
      return irType(type.element).withLanes(unsigned(lanes));
    }
    case Kind::Unit: case Kind::Never: return ir::Void;
    default: internalError("not a scalar type: " + const_cast<Lowering*>(this)->mangle(t));
  }
}

bool Lowering::owns(TypeId t) {
  auto [it, fresh] = ownsCache.try_emplace(t.index, 2);
  if (!fresh) return it->second == 1;        // a type inside itself: the box or list between them owns anyway
  bool result = computeOwns(t);
  ownsCache[t.index] = result ? 1 : 0;
  return result;
}

bool Lowering::computeOwns(TypeId t) {
  const Type type = get(t);
  switch (type.kind) {
    case Kind::Tensor: case Kind::String: case Kind::List: case Kind::Map: case Kind::Set: case Kind::Box:
    case Kind::Function: case Kind::Stream: case Kind::Handle: case Kind::Shared: case Kind::AnyFailure:
      return true;
    case Kind::Array: case Kind::Optional: return owns(type.element);
    case Kind::Tuple: case Kind::Record: case Kind::Failure: {
      for (TypeId f : fieldTypes(t)) if (owns(f)) return true;
      return false;
    }
    case Kind::Choice: {
      const Decl& d = program.get(type.decl);
      for (uint32_t c = 0; c < d.cases.size(); c++)
        for (TypeId f : caseFields(t, c)) if (owns(f)) return true;
      return false;
    }
    default: return false;
  }
}

const Layout& Lowering::layout(TypeId t) {
  auto it = layouts.find(t.index);
  if (it != layouts.end()) return it->second;
  Layout l = computeLayout(t);
  if (l.size >= LargestValue)
    diagnostics.error(here, "a value of type `" + show(program, t) + "` takes 2 GiB or more")
        .note("keep it in a `list` or a tensor, whose elements lie elsewhere");
  return layouts.emplace(t.index, std::move(l)).first->second;
}

Layout Lowering::computeLayout(TypeId t) {
  const Type type = get(t);
  Layout l;
  if (isScalar(t)) { l.size = l.align = irType(t).bytes(); return l; }
  switch (type.kind) {
    case Kind::Float32: case Kind::Float64: l.size = 16; l.align = 8; l.offsets = {0, 8}; return l;   // tracked: value, node
    case Kind::Tensor: l.size = uint32_t(tensor::bytes(int(type.extents.size()))); l.align = 8; return l;
    case Kind::String: case Kind::List: l.size = sequence::Bytes; l.align = 8; return l;
    case Kind::Map: case Kind::Set: case Kind::Box: case Kind::Stream: case Kind::Handle: case Kind::Shared: case Kind::AnyFailure:
      l.size = 8; l.align = 8; return l;
    case Kind::Function: l.size = 16; l.align = 8; return l;
    case Kind::Range: l.size = 16; l.align = 8; return l;
    case Kind::Unit: case Kind::Never: return l;
    case Kind::Array: {
      const Layout& e = layout(type.element);
      int64_t n = 0;
      if (!types.isConstant(type.extents[0], &n)) internalError("an array without a known length: " + mangle(t));
      l.align = e.align;
      uint32_t step = roundUp(e.size, e.align);
      l.size = step && uint64_t(n) > LargestValue / step ? LargestValue : uint32_t(n) * step;
      return l;
    }
    case Kind::Optional: {
      const Layout e = layout(type.element);
      append(l, 1, 1);
      append(l, e.size, e.align);
      l.size = roundUp(l.size, l.align);
      return l;
    }
    case Kind::Record: case Kind::Tuple: case Kind::Failure: {
      for (size_t i = 0; i < type.extents.size(); i++) { l.size += 8; l.align = 8; }   // the hidden extents
      for (TypeId f : fieldTypes(t)) { const Layout e = layout(f); append(l, e.size, e.align); }
      l.size = roundUp(l.size, l.align);
      return l;
    }
    case Kind::Choice: {
      const Decl& d = program.get(type.decl);
      l.size = l.align = 8;
      for (uint32_t c = 0; c < d.cases.size(); c++) {
        Layout part;
        for (TypeId f : caseFields(t, c)) { const Layout e = layout(f); append(part, e.size, e.align); }
        l.size = std::max(l.size, capped(8 + uint64_t(roundUp(part.size, 8))));
        l.align = std::max(l.align, part.align);
      }
      return l;
    }
    default: internalError("no layout for " + mangle(t));
  }
}

std::vector<TypeId> Lowering::fieldTypes(TypeId t) {
  const Type type = get(t);
  if (type.kind == Kind::Tuple) return type.args;
  const Decl& d = program.get(type.decl);
  std::vector<TypeId> result;
  for (const FieldDecl& f : d.fields) result.push_back(types.substitute(f.type, type.decl, type.args, type.extents));
  return result;
}

std::vector<TypeId> Lowering::caseFields(TypeId choice, uint32_t index) {
  const Type type = get(choice);
  std::vector<TypeId> result;
  for (const FieldDecl& f : program.get(type.decl).cases[index].fields)
    result.push_back(types.substitute(f.type, type.decl, type.args, type.extents));
  return result;
}

uint32_t Lowering::caseOffset(TypeId choice, uint32_t index, uint32_t field) {
  Layout part;
  for (TypeId f : caseFields(choice, index)) { const Layout e = layout(f); append(part, e.size, e.align); }
  return 8 + part.offsets[field];
}

bool Lowering::extentMatters(TypeId t) {
  if (!t) return false;
  const Type type = get(t);
  switch (type.kind) {
    case Kind::Array: return !types.isConstant(type.extents[0]) || extentMatters(type.element);
    case Kind::Simd: return !types.isConstant(type.extents[0]);
    case Kind::Optional: case Kind::List: case Kind::Set: case Kind::Box: case Kind::Stream: case Kind::Shared: case Kind::Handle:
      return extentMatters(type.element);
    case Kind::Map: return extentMatters(type.key) || extentMatters(type.element);
    case Kind::Tuple: for (TypeId a : type.args) if (extentMatters(a)) return true; return false;
    case Kind::Record: {
      bool named = false;
      for (ExtentId e : type.extents) named |= !types.isConstant(e);
      for (TypeId a : type.args) if (extentMatters(a)) return true;
      if (!named) return false;
      for (TypeId f : fieldTypes(t)) if (f != t && extentMatters(f)) return true;
      return false;
    }
    default: return false;
  }
}

void Lowering::noteNames(ExtentId e, DeclId decl, std::vector<char>& marked) {
  if (!e) return;
  for (const Monomial& m : types.get(e).terms)
    for (AtomId a : m.atoms) {
      const Atom& atom = types.get(a);
      if (atom.form == Atom::Form::Name && atom.decl == decl) marked[atom.index] = 1;
      if (atom.form != Atom::Form::Name) std::fill(marked.begin(), marked.end(), 1);
    }
}

// Marks the extent names of `decl` on which a layout inside `t` depends.
void Lowering::noteExtents(TypeId t, DeclId decl, std::vector<char>& marked, bool inside) {
  if (!t) return;
  const Type type = get(t);
  bool here = type.kind == Kind::Array || type.kind == Kind::Simd || (type.kind == Kind::Record && extentMatters(t));
  if (here || inside) for (ExtentId e : type.extents) noteNames(e, decl, marked);
  noteExtents(type.element, decl, marked, false);
  noteExtents(type.key, decl, marked, false);
  noteExtents(type.result, decl, marked, false);
  for (TypeId a : type.args) noteExtents(a, decl, marked, false);
}

// What the types of a declaration and of its body say.
std::vector<char> Lowering::layoutExtents(DeclId id) {
  const Decl& d = program.get(id);
  std::vector<char> marked(d.extentParams.size(), 0);
  if (marked.empty()) return marked;
  if (!d.body && options.ensureBody) options.ensureBody(id);
  for (const ParamDecl& p : d.params) noteExtents(p.type, id, marked, false);
  noteExtents(d.result, id, marked, false);
  if (d.body) {
    for (const Expr& e : d.body->exprs) {
      noteExtents(e.type, id, marked, false);
      for (TypeId t : e.typeArgs) noteExtents(t, id, marked, false);
    }
    for (const Local& x : d.body->locals) noteExtents(x.type, id, marked, false);
  }
  // In a system module a name that no parameter shows is a constant as well: a kernel's operation, say.
  for (uint32_t k = 0; k < marked.size() && d.system; k++)
    marked[k] |= std::none_of(d.params.begin(), d.params.end(), [&](const ParamDecl& p) { return bool(findExtent(p.type, p.type, id, k)); });
  return marked;
}

// A layout in what a function calls may depend on the function's extents as well. The functions that the calls lead to are marked together
// until nothing changes, since they may call each other in a ring.
const std::vector<char>& Lowering::fixedExtents(DeclId id) {
  auto it = fixedExtentsCache.find(id);
  if (it != fixedExtentsCache.end()) return it->second;
  auto calls = [&](const Expr& e) { return e.kind == ExprKind::Call && !program.get(e.callee).extentParams.empty(); };
  std::vector<DeclId> work{id};
  std::map<DeclId, std::vector<char>> found;
  while (!work.empty()) {
    DeclId next = work.back();
    work.pop_back();
    if (found.count(next) || fixedExtentsCache.count(next)) continue;
    found[next] = layoutExtents(next);
    if (found[next].empty() || !program.get(next).body) continue;
    for (const Expr& e : program.get(next).body->exprs)
      if (calls(e)) work.push_back(e.callee);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& [caller, marked] : found) {
      if (marked.empty() || !program.get(caller).body) continue;
      const Body& body = *program.get(caller).body;
      const std::vector<char> before = marked;
      for (const Expr& e : body.exprs) {
        if (!calls(e)) continue;
        const std::vector<char>& needed = found.count(e.callee) ? found[e.callee] : fixedExtentsCache[e.callee];
        for (uint32_t k = 0; k < needed.size(); k++) {
          if (needed[k]) noteNames(calleeExtent(e, body, k), caller, marked);
        }
      }
      changed |= marked != before;
    }
  }
  fixedExtentsCache.insert(found.begin(), found.end());
  return fixedExtentsCache.find(id)->second;
}

TypeId Lowering::canonical(TypeId t) {
  if (!t) return t;
  Type type = get(t);
  switch (type.kind) {
    case Kind::Tensor: for (ExtentId& e : type.extents) e = types.open(); return types.intern(type);
    case Kind::Record: case Kind::Choice: {
      for (TypeId& a : type.args) a = canonical(a);
      TypeId named = types.intern(type);
      Type opened = type;
      for (ExtentId& e : opened.extents) e = types.open();
      TypeId result = types.intern(opened);
      return extentMatters(result) ? named : result;
    }
    case Kind::Tuple: for (TypeId& a : type.args) a = canonical(a); return types.intern(type);
    case Kind::Function:
      for (TypeId& a : type.args) a = canonical(a);
      type.result = canonical(type.result);
      return types.intern(type);
    default:
      if (type.element) type.element = canonical(type.element);
      if (type.key) type.key = canonical(type.key);
      return types.intern(type);
  }
}

// Constructors stand before their parts, so that no two types have one text: `?list int` is not `list ?int`.
std::string Lowering::mangle(TypeId t) {
  if (!t) return "_";
  const Type type = get(t);
  static const char* scalarNames[] = {"error", "never", "unit", "bool", "int8", "int16", "int32", "int", "uint8", "uint16", "uint32", "uint64",
                                      "float32", "float64", "char", "pointer"};
  std::string s = type.tracked ? "~" : "";
  auto join = [&](const std::vector<TypeId>& parts) {
    std::string r;
    for (size_t i = 0; i < parts.size(); i++) r += (i ? "," : "") + mangle(parts[i]);
    return r;
  };
  auto extents = [&](size_t from) {
    std::string r;
    for (size_t i = from; i < type.extents.size(); i++) {
      int64_t n;
      r += (i > from ? "," : "") + (types.isConstant(type.extents[i], &n) ? std::to_string(n) : std::string("?"));
    }
    return r;
  };
  if (type.kind <= Kind::Pointer) return s + scalarNames[size_t(type.kind)];
  switch (type.kind) {
    case Kind::Simd: return s + "simd[" + extents(0) + "]" + mangle(type.element);
    case Kind::Tensor: return s + (type.onGpu ? "gpu " : "") + "tensor[" + extents(0) + "]" + mangle(type.element);
    case Kind::String: return "string";
    case Kind::List: return "list " + mangle(type.element);
    case Kind::Map: return "map " + mangle(type.key) + ":" + mangle(type.element);
    case Kind::Set: return "set " + mangle(type.element);
    case Kind::Array: return "array[" + extents(0) + "]" + mangle(type.element);
    case Kind::Tuple: return "(" + join(type.args) + ")";
    case Kind::Optional: return "?" + mangle(type.element);
    case Kind::Box: return "box " + mangle(type.element);
    case Kind::Record: case Kind::Choice: case Kind::Failure: {
      const Decl& d = program.get(type.decl);
      s += d.module + "." + d.name;
      if (!type.args.empty() || !type.extents.empty()) s += "[" + join(type.args) + (type.extents.empty() ? "" : ";" + extents(0)) + "]";
      return s;
    }
    case Kind::AnyFailure: return "failure";
    case Kind::Function: {
      s += "func" + (type.fails.empty() ? "" : "!" + join(type.fails)) + "(";
      for (size_t i = 0; i < type.args.size(); i++)
        s += (i ? "," : "") + std::string(type.modes[i] == Mode::Inout ? "inout " : type.modes[i] == Mode::Move ? "move " : "") + mangle(type.args[i]);
      return s + "):" + mangle(type.result);
    }
    case Kind::Parameter: return s + "$" + std::to_string(type.index);
    case Kind::Stream: return "stream " + mangle(type.element);
    case Kind::Handle: return "handle " + mangle(type.element);
    case Kind::Shared: return "shared " + mangle(type.element);
    default: return "range";
  }
}

}  // namespace mica::lower
