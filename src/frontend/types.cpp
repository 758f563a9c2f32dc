// The table of types and extents. Everything is found by its contents, so an id stands for a structure; see types.h.
#include "frontend/types.h"

#include <algorithm>

namespace mica {

namespace {

constexpr size_t MostTerms = 64;   // a polynomial that would grow beyond this is taken as `?`: checked at run time instead

void mix(size_t& hash, uint64_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15ull; hash ^= hash >> 29; }

size_t hashOf(const Type& t) {
  size_t h = size_t(t.kind) * 31 + (t.tracked ? 1 : 0) + (t.onGpu ? 2 : 0);
  mix(h, t.element.index); mix(h, t.key.index); mix(h, t.result.index); mix(h, t.decl.index); mix(h, t.index);
  for (TypeId a : t.args) mix(h, a.index);
  for (Mode m : t.modes) mix(h, uint64_t(m) + 7);
  for (TypeId f : t.fails) mix(h, f.index + 11ull);
  for (ExtentId e : t.extents) mix(h, e.index + 13ull);
  return h;
}

size_t hashOf(const Extent& e) {
  size_t h = e.open ? 1 : 2;
  for (const Monomial& m : e.terms) {
    mix(h, uint64_t(m.coefficient));
    for (AtomId a : m.atoms) mix(h, a.index + 3ull);
  }
  return h;
}

bool isScalar(Kind k) { return k <= Kind::Pointer; }

// Adds a term to a list sorted by atoms; false when a coefficient does not fit.
bool addTerm(std::vector<Monomial>& terms, const Monomial& term) {
  auto at = std::lower_bound(terms.begin(), terms.end(), term,
                             [](const Monomial& a, const Monomial& b) { return a.atoms < b.atoms; });
  if (at == terms.end() || at->atoms != term.atoms) {
    terms.insert(at, term);
    return true;
  }
  if (__builtin_add_overflow(at->coefficient, term.coefficient, &at->coefficient)) return false;
  if (at->coefficient == 0) terms.erase(at);
  return true;
}

}  // namespace

TypeTable::TypeTable() {
  scalars.resize(size_t(Kind::Range) + 1);
  for (size_t k = 0; k <= size_t(Kind::Range); k++) {
    Kind kind = Kind(k);
    bool simple = isScalar(kind) || kind == Kind::String || kind == Kind::AnyFailure || kind == Kind::Range;
    if (simple) scalars[k] = intern(Type{.kind = kind});
  }
  openExtent = internExtent(Extent{.open = true, .terms = {}});
}

TypeId TypeTable::intern(const Type& t) {
  size_t h = hashOf(t);
  auto [from, to] = typeIndex.equal_range(h);
  for (auto it = from; it != to; ++it) {
    if (types[it->second.index] == t) return it->second;
  }
  TypeId id{uint32_t(types.size())};
  types.push_back(t);
  typeIndex.emplace(h, id);
  plain.push_back(id);
  bool error = t.kind == Kind::Error;
  uint32_t count = 1;
  Type bare = t;
  bare.tracked = false;
  auto strip = [&](TypeId& part) {
    if (!part) return;
    error = error || withErrors[part.index];
    count = std::min(count + partCount[part.index], MostParts + 1);
    part = plain[part.index];
  };
  strip(bare.element); strip(bare.key); strip(bare.result);
  for (TypeId& a : bare.args) strip(a);
  withErrors.push_back(error);
  partCount.push_back(count);
  if (!(bare == t)) {
    TypeId without = intern(bare);   // may grow the tables, so assign afterwards
    plain[id.index] = without;
  }
  return id;
}

bool TypeTable::same(TypeId a, TypeId b) const {
  if (!a || !b) return a == b;
  a = plain[a.index];
  b = plain[b.index];
  if (a == b) return true;
  if (!withErrors[a.index] && !withErrors[b.index]) return false;
  const Type& x = types[a.index];
  const Type& y = types[b.index];
  if (x.kind == Kind::Error || y.kind == Kind::Error) return true;
  if (x.kind != y.kind || x.decl != y.decl || x.onGpu != y.onGpu || x.extents != y.extents || x.args.size() != y.args.size()) return false;
  if (!same(x.element, y.element) || !same(x.key, y.key) || !same(x.result, y.result)) return false;
  for (size_t i = 0; i < x.args.size(); i++) {
    if (!same(x.args[i], y.args[i])) return false;
  }
  return true;
}

TypeId TypeTable::tensor(TypeId element, std::vector<ExtentId> shape, bool onGpu) {
  return intern(Type{.kind = Kind::Tensor, .onGpu = onGpu, .element = element, .extents = std::move(shape)});
}
TypeId TypeTable::list(TypeId e) { return intern(Type{.kind = Kind::List, .element = e}); }
TypeId TypeTable::set(TypeId e) { return intern(Type{.kind = Kind::Set, .element = e}); }
TypeId TypeTable::optional(TypeId e) { return intern(Type{.kind = Kind::Optional, .element = e}); }
TypeId TypeTable::box(TypeId e) { return intern(Type{.kind = Kind::Box, .element = e}); }
TypeId TypeTable::array(TypeId e, ExtentId n) { return intern(Type{.kind = Kind::Array, .element = e, .extents = {n}}); }
TypeId TypeTable::map(TypeId key, TypeId value) { return intern(Type{.kind = Kind::Map, .element = value, .key = key}); }
TypeId TypeTable::tuple(std::vector<TypeId> parts) { return intern(Type{.kind = Kind::Tuple, .args = std::move(parts)}); }

TypeId TypeTable::withMark(TypeId t, bool tracked) {
  Type copy = get(t);
  bool fits = copy.kind == Kind::Float32 || copy.kind == Kind::Float64 || copy.kind == Kind::Tensor || copy.kind == Kind::Parameter;
  if (!fits || copy.tracked == tracked) return t;
  copy.tracked = tracked;
  return intern(copy);
}

// ---- extents ----

ExtentId TypeTable::internExtent(Extent e) {
  size_t h = hashOf(e);
  auto [from, to] = extentIndex.equal_range(h);
  for (auto it = from; it != to; ++it) {
    if (extentsById[it->second.index] == e) return it->second;
  }
  ExtentId id{uint32_t(extentsById.size())};
  extentsById.push_back(std::move(e));
  extentIndex.emplace(h, id);
  return id;
}

AtomId TypeTable::internAtom(const Atom& atom) {
  for (uint32_t i = 0; i < atoms.size(); i++) {
    const Atom& a = atoms[i];
    if (a.form != atom.form) continue;
    bool equal = a.form == Atom::Form::Name ? a.decl == atom.decl && a.index == atom.index : a.left == atom.left && a.right == atom.right;
    if (equal) return AtomId{i};
  }
  atoms.push_back(atom);
  return AtomId{uint32_t(atoms.size() - 1)};
}

ExtentId TypeTable::constant(int64_t n) {
  Extent e;
  if (n != 0) e.terms.push_back({n, {}});
  return internExtent(std::move(e));
}

ExtentId TypeTable::name(DeclId decl, uint32_t index, const std::string& name) {
  uint64_t key = uint64_t(decl.index) << 32 | index;
  auto known = nameAtoms.find(key);
  if (known != nameAtoms.end()) return known->second;
  atoms.push_back(Atom{.form = Atom::Form::Name, .decl = decl, .index = index, .left = {}, .right = {}, .name = name});
  Extent e;
  e.terms.push_back({1, {AtomId{uint32_t(atoms.size() - 1)}}});
  return nameAtoms[key] = internExtent(std::move(e));
}

ExtentId TypeTable::add(ExtentId a, ExtentId b) {
  if (isOpen(a) || isOpen(b)) return openExtent;
  Extent sum = get(a);
  for (const Monomial& term : get(b).terms) {
    if (!addTerm(sum.terms, term) || sum.terms.size() > MostTerms) return openExtent;
  }
  return internExtent(std::move(sum));
}

ExtentId TypeTable::subtract(ExtentId a, ExtentId b) { return add(a, multiply(b, constant(-1))); }

ExtentId TypeTable::multiply(ExtentId a, ExtentId b) {
  if (isOpen(a) || isOpen(b)) return openExtent;
  Extent product;
  for (const Monomial& x : get(a).terms) {
    for (const Monomial& y : get(b).terms) {
      Monomial term;
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &term.coefficient)) return openExtent;
      std::merge(x.atoms.begin(), x.atoms.end(), y.atoms.begin(), y.atoms.end(), std::back_inserter(term.atoms));
      if (term.atoms.size() > MostTerms || !addTerm(product.terms, term) || product.terms.size() > MostTerms) return openExtent;
    }
  }
  return internExtent(std::move(product));
}

namespace {

int64_t floorMod(int64_t a, int64_t b) {
  int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

}  // namespace

ExtentId TypeTable::opaque(Atom::Form form, ExtentId left, ExtentId right) {
  if (isOpen(left) || isOpen(right)) return openExtent;
  int64_t a, b;
  if (isConstant(left, &a) && isConstant(right, &b)) {
    bool divides = form == Atom::Form::Div || form == Atom::Form::Mod;
    if (divides && (b == 0 || (a == INT64_MIN && b == -1))) return openExtent;
    switch (form) {
      case Atom::Form::Div: return constant(a / b);
      case Atom::Form::Mod: return constant(floorMod(a, b));
      case Atom::Form::Min: return constant(std::min(a, b));
      default: return constant(std::max(a, b));
    }
  }
  bool symmetric = form == Atom::Form::Min || form == Atom::Form::Max;
  if (symmetric && left == right) return left;
  if (symmetric && right < left) std::swap(left, right);
  AtomId atom = internAtom(Atom{.form = form, .decl = {}, .index = 0, .left = left, .right = right, .name = ""});
  Extent e;
  e.terms.push_back({1, {atom}});
  return internExtent(std::move(e));
}

bool TypeTable::isConstant(ExtentId e, int64_t* value) const {
  const Extent& extent = get(e);
  if (extent.open || extent.terms.size() > 1) return false;
  if (!extent.terms.empty() && !extent.terms[0].atoms.empty()) return false;
  if (value) *value = extent.terms.empty() ? 0 : extent.terms[0].coefficient;
  return true;
}

// ---- substitution ----

ExtentId TypeTable::substitute(ExtentId e, DeclId decl, const std::vector<ExtentId>& extents) {
  if (isOpen(e) || extents.empty() || isConstant(e)) return e;
  const Extent source = get(e);
  ExtentId sum = constant(0);
  for (const Monomial& term : source.terms) {
    ExtentId product = constant(term.coefficient);
    for (AtomId id : term.atoms) {
      Atom atom = atoms[id.index];
      ExtentId factor;
      if (atom.form == Atom::Form::Name) {
        bool replaced = atom.decl == decl && atom.index < extents.size() && extents[atom.index];
        if (replaced) factor = extents[atom.index];
      } else {
        factor = opaque(atom.form, substitute(atom.left, decl, extents), substitute(atom.right, decl, extents));
      }
      if (!factor) {
        Extent kept;
        kept.terms.push_back({1, {id}});
        factor = internExtent(std::move(kept));
      }
      product = multiply(product, factor);
    }
    sum = add(sum, product);
  }
  return sum;
}

TypeId TypeTable::substitute(TypeId t, DeclId decl, const std::vector<TypeId>& args, const std::vector<ExtentId>& extents) {
  if (!t || (args.empty() && extents.empty())) return t;
  Type copy = get(t);
  if (copy.kind == Kind::Parameter) {
    if (copy.decl != decl || copy.index >= args.size() || !args[copy.index]) return t;
    TypeId replacement = args[copy.index];
    return copy.tracked ? withMark(replacement, true) : replacement;
  }
  if (isScalar(copy.kind)) return t;
  copy.element = substitute(copy.element, decl, args, extents);
  copy.key = substitute(copy.key, decl, args, extents);
  copy.result = substitute(copy.result, decl, args, extents);
  for (TypeId& a : copy.args) a = substitute(a, decl, args, extents);
  for (ExtentId& e : copy.extents) e = substitute(e, decl, extents);
  return intern(copy);
}

}  // namespace mica
