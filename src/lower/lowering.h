// The state of lowering a module: layouts, instances still to be lowered, and the glue functions (drop, copy, equal …) of types.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/builder.h"
#include "lower/lower.h"

namespace mica::lower {

using ir::ValueId;
using ir::BlockId;
using ir::Cond;
using ir::Op;

// Where the parts of an aggregate lie.
struct Layout { uint32_t size = 0, align = 1; std::vector<uint32_t> offsets; };

// Of values in place and of stack frames: distances have 31 bits, and a frame holds spilled values too.
inline constexpr uint32_t LargestValue = 0x7f000000;

// Tensor structs: {data, owner, extents, strides}.
namespace tensor {
inline constexpr int Data = 0, Owner = 8, Extents = 16;
inline int strides(int rank) { return 16 + 8 * rank; }
inline int bytes(int rank) { return 16 + 8 * (2 * rank - 1); }
inline constexpr int HeaderBytes = 64, HeaderNode = 8;
}
// Strings and lists: {data, length, capacity}.
namespace sequence { inline constexpr int Data = 0, Length = 8, Capacity = 16, Bytes = 24; }
// Heap blocks of failures: {id, text function, drop function, payload…}.
namespace failure { inline constexpr int Id = 0, Text = 8, Drop = 16, Payload = 24; }

enum class Glue : uint8_t { Drop, Copy, Equal, Compare, Hash, Print };

class Lowering {
 public:
  Program& program;
  TypeTable& types;
  Marks& marks;
  const SourceFiles& sources;
  Diagnostics& diagnostics;
  const Options& options;
  ir::Module& module;

  Lowering(Program&, Marks&, const SourceFiles&, Diagnostics&, const Options&, ir::Module&);

  // types
  const Type& get(TypeId t) const { return types.get(t); }
  bool isScalar(TypeId) const;               // lives in one IR value
  bool isUnit(TypeId t) const { return get(t).kind == Kind::Unit || get(t).kind == Kind::Never; }
  bool isTrackedFloat(TypeId) const;
  bool holdsTrackedFloat(TypeId);            // itself or as a part: its layout is not that of the type without marks
  bool laidOutAlike(TypeId, TypeId);         // of types that are equal but for marks
  TypeId laidOut(TypeId t) { return holdsTrackedFloat(t) ? t : types.unmarked(t); }   // without marks that change no layout
  ir::Type irType(TypeId) const;             // of a scalar
  bool owns(TypeId);                         // must be released
  const Layout& layout(TypeId);
  uint32_t sizeOf(TypeId t) { return layout(t).size; }
  std::vector<TypeId> fieldTypes(TypeId);    // record, tuple, failure: declared types with arguments put in
  std::vector<TypeId> caseFields(TypeId choice, uint32_t index);
  uint32_t caseOffset(TypeId choice, uint32_t index, uint32_t field);   // of a payload field inside the choice
  bool extentMatters(TypeId);                // its layout depends on an extent (array, simd)
  TypeId canonical(TypeId);                  // extents that no layout depends on are made open
  std::string mangle(TypeId);
  const std::vector<char>& fixedExtents(DeclId);   // by extent name: is the function compiled for each value of it

  // instances and glue
  ir::SymbolId instanceSymbol(const Instance&);            // queues it
  // The instance that a call reaches: marks' answer, with the extents fixed on which its layouts depend.
  Instance calleeOf(const Instance& caller, ExprId call, const Body&, const std::vector<ExtentId>& callerExtents);
  TypeId fixExtents(TypeId, const Instance&);              // a type in the instance's names, with the extents put in that it fixes
  ir::SymbolId glue(Glue, TypeId);                         // queues it
  ir::SymbolId failureText(TypeId failure);                // (string result address, payload address)
  ir::SymbolId failureId(DeclId failure);                  // a data symbol whose address identifies the failure
  Instance runtimeInstance(std::string_view module, std::string_view name, std::vector<TypeId> typeArgs = {}, std::vector<int64_t> extents = {});
  ir::SymbolId runtime(std::string_view module, std::string_view name, std::vector<TypeId> typeArgs = {});
  ir::SymbolId stringData(std::string_view text);          // read-only bytes
  std::string instanceName(const Instance&);
  bool isPrecompiled(const std::string& symbol) const { return options.precompiled && options.precompiled(symbol); }
  bool canFail(const Decl& d) const { return !d.fails.empty(); }

  void run();                                              // until nothing is queued
  ir::PlaceId place(Place, const std::string& function);
  Place here;                                              // what is being lowered, for messages

 private:
  std::unordered_map<uint32_t, Layout> layouts;
  std::unordered_map<uint32_t, char> ownsCache;
  std::map<DeclId, std::vector<char>> fixedExtentsCache;
  ExtentId findExtent(TypeId pattern, TypeId actual, DeclId decl, uint32_t k);
  std::vector<char> layoutExtents(DeclId);
  ExtentId calleeExtent(const Expr& call, const Body&, uint32_t k);
  void noteNames(ExtentId, DeclId, std::vector<char>&);
  void noteExtents(TypeId, DeclId, std::vector<char>&, bool inside);
  std::map<std::string, ir::SymbolId> strings;
  std::map<Instance, ir::SymbolId> instances;
  std::deque<Instance> queue;
  struct GlueJob { Glue glue; TypeId type; };
  std::map<std::pair<uint8_t, TypeId>, ir::SymbolId> glues;
  std::deque<GlueJob> glueQueue;
  std::map<TypeId, ir::SymbolId> failureTexts;
  std::deque<TypeId> failureTextQueue;
  Layout computeLayout(TypeId);
  bool computeOwns(TypeId);
  void lowerGlue(const GlueJob&);
  void lowerFailureText(TypeId);
};

}  // namespace mica::lower
