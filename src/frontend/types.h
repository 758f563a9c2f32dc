// Types and extents of checked programs, interned: equal structure is the same id, so comparing is comparing numbers.
//
// The mark `tracked` is kept in the structure (a `tracked float32` field has another layout than a plain one) but never makes
// two types unequal: compare `unmarked(a) == unmarked(b)`. Residency is part of the type.
//
// Extents are polynomials with integer coefficients over atoms: a name of some signature, or an opaque term (`N div 2`). Sums and products are
// normalised, so equal polynomials are the same id. `?` is the extent Open; every `?` is unrelated to every other.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "support/support.h"

namespace mica {

struct TypeTag; struct ExtentTag; struct AtomTag; struct DeclTag;
using TypeId = Id<TypeTag>;
using ExtentId = Id<ExtentTag>;
using AtomId = Id<AtomTag>;
using DeclId = Id<DeclTag>;         // a declaration of Program (tree.h)

enum class Kind : uint8_t {
  Error,                            // already reported; agrees with everything
  Never, Unit,
  Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64,   // `int` is Int64, `byte` is UInt8
  Float32, Float64, Char,
  Pointer, Simd,                    // system modules only
  Tensor,                           // vector is rank 1, matrix rank 2
  String, List, Map, Set, Array, Tuple, Optional, Box,
  Record, Choice, Failure,          // of a declaration
  AnyFailure,                       // what `recover e: any` binds
  Function,                         // function values
  Parameter,                        // T of a generic declaration
  Stream, Handle, Shared, Range,
};

enum class Mode : uint8_t { Read, Inout, Move };      // how a parameter takes its argument

struct Type {
  Kind kind = Kind::Error;
  bool tracked = false;             // Float32, Float64, Tensor, Parameter
  bool onGpu = false;               // Tensor; Record: every tensor without its own mark
  TypeId element{};                   // Simd, Tensor, List, Set, Array, Optional, Box, Stream, Handle, Shared; Map: the value
  TypeId key{};                       // Map
  std::vector<TypeId> args{};         // Tuple: parts; Record, Choice: type arguments; Function: parameters
  std::vector<Mode> modes{};          // Function: one for each parameter
  TypeId result{};                    // Function; Handle: its task's result is `element`
  std::vector<TypeId> fails{};        // Function, Handle: failure types it can fail with, sorted by declaration
  std::vector<ExtentId> extents{};    // Tensor: its shape; Array, Simd: one; Record, Choice: extent arguments
  DeclId decl{};                      // Record, Choice, Failure; Parameter: the declaring function or type
  uint32_t index = 0;               // Parameter: which one
  bool operator==(const Type&) const = default;
};

// coefficient × product of atoms (sorted, repeated for powers). The constant term has no atoms.
struct Monomial { int64_t coefficient; std::vector<AtomId> atoms; bool operator==(const Monomial&) const = default; };

struct Extent {
  bool open = false;                // `?`
  std::vector<Monomial> terms;      // sorted by atoms; no zero coefficients; empty: the extent 0
  bool operator==(const Extent&) const = default;
};

// A name bound by a declaration's brackets, or a term that is equal only when written equal.
struct Atom {
  enum class Form : uint8_t { Name, Div, Mod, Min, Max } form = Form::Name;
  DeclId decl{}; uint32_t index = 0;  // Name: the index-th extent parameter of the declaration
  ExtentId left{}, right{};         // opaque terms
  std::string name{};               // for messages
  bool operator==(const Atom&) const = default;
};

class TypeTable {
 public:
  TypeTable();
  TypeId intern(const Type&);
  const Type& get(TypeId t) const { return types[t.index]; }
  uint32_t size() const { return uint32_t(types.size()); }
  TypeId unmarked(TypeId t) const { return plain[t.index]; }                // without any `tracked`, all the way down
  bool same(TypeId a, TypeId b) const;                                      // unmarked and equal, or one is Error
  static constexpr uint32_t MostParts = 10000;                              // of a type in a program: nobody writes more, and names of instances spell them out
  uint32_t parts(TypeId t) const { return partCount[t.index]; }             // how many types are written inside it, itself included
  bool hasError(TypeId t) const { return withErrors[t.index]; }             // an Error somewhere inside
  TypeId scalar(Kind k) const { return scalars[size_t(k)]; }
  TypeId tensor(TypeId element, std::vector<ExtentId> shape, bool onGpu = false);
  TypeId list(TypeId), set(TypeId), optional(TypeId), box(TypeId), array(TypeId, ExtentId), map(TypeId key, TypeId value), tuple(std::vector<TypeId>);
  TypeId withMark(TypeId, bool tracked);                                    // sets the mark at the top (floats, tensors, parameters)

  ExtentId constant(int64_t n);
  ExtentId open() const { return openExtent; }
  ExtentId name(DeclId, uint32_t index, const std::string& name);
  ExtentId add(ExtentId, ExtentId), subtract(ExtentId, ExtentId), multiply(ExtentId, ExtentId), opaque(Atom::Form, ExtentId, ExtentId);
  const Extent& get(ExtentId e) const { return extentsById[e.index]; }
  const Atom& get(AtomId a) const { return atoms[a.index]; }
  bool isOpen(ExtentId e) const { return e == openExtent; }
  bool isConstant(ExtentId e, int64_t* value = nullptr) const;

  // Replaces type parameters and extent names of `decl` by the arguments (missing ones stay).
  TypeId substitute(TypeId, DeclId decl, const std::vector<TypeId>& types, const std::vector<ExtentId>& extents);
  ExtentId substitute(ExtentId, DeclId decl, const std::vector<ExtentId>& extents);

 private:
  std::deque<Type> types; std::vector<TypeId> plain; std::vector<TypeId> scalars;
  std::vector<uint32_t> partCount;                                          // stops growing above MostParts
  std::vector<bool> withErrors;                                             // an Error somewhere inside
  std::unordered_map<uint64_t, ExtentId> nameAtoms;                         // extent names, by declaration and index
  std::deque<Extent> extentsById; std::deque<Atom> atoms;                   // deques: references stay good
  std::unordered_multimap<size_t, TypeId> typeIndex; std::unordered_multimap<size_t, ExtentId> extentIndex;
  ExtentId openExtent;
  ExtentId internExtent(Extent);
  AtomId internAtom(const Atom&);
};

}  // namespace mica
