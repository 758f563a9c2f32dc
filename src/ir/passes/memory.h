// Which accesses to memory may touch the same bytes. An address is a pointer value with constants added to it; behind it stands
// a root: a slot, a data symbol, or something unknown. Different slots and symbols lie apart; a slot whose address nobody was given
// (it is only loaded from and stored to) lies apart from everything unknown. Lowering's regions (ir.h) keep headers and scalars apart.
#pragma once
#include "ir/passes/edit.h"

namespace mica::ir {

struct Access {
  enum Root : uint8_t { Unknown, Slot, Symbol };
  Root root = Unknown;
  bool direct = false;       // offset counts from the root itself; otherwise from `pointer`
  Region region = Region::Any;
  uint32_t rootId = 0;       // the slot or symbol
  ValueId pointer;           // when not direct
  int64_t offset = 0;
  uint64_t size = 0;

  bool samePlace(const Access& o) const {
    return direct == o.direct && offset == o.offset && (direct ? root == o.root && rootId == o.rootId : pointer == o.pointer);
  }
};

class Memory {
 public:
  Memory(const Module&, const Function&);
  // The bytes from `pointer` + offset on.
  Access access(const Function&, ValueId pointer, int64_t offset, uint64_t size) const;
  bool mayOverlap(const Access&, const Access&) const;
  // Can a callee, another thread or the kernel write there?
  bool sharedWithCalls(const Access&) const;
  bool escapes(uint32_t slot) const { return escaped[slot]; }
  // Does the whole access certainly lie in a slot, a data object or a header that the caller passed, so that loading cannot fault?
  bool safeToLoad(const Function&, const Access&) const;

 private:
  const Module& module;
  std::vector<char> escaped;     // slots
};

// What an instruction writes; none for others. MemCopy's source and loads are reads.
bool writes(const Memory&, const Function&, const Inst&, Access&);
bool reads(const Memory&, const Function&, const Inst&, Access&);

}  // namespace mica::ir
