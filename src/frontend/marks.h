// Instances of functions and their marks: which values are tracked where a window is open (rules.md 4 and 5).
//
// The checker checks a function once. An instance is that function for concrete type arguments, for the marks of its arguments and
// for whether a window is open at the call. For each instance this station answers the type of every expression and local with
// its marks (type arguments substituted, extents still in the declaration's names) and which expressions are recorded on the tape.
// It also reports what is wrong in an instance, with a note at the call that made it so.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "frontend/diagnostics.h"
#include "frontend/tree.h"

namespace mica {

struct Instance {
  DeclId decl;
  std::vector<TypeId> typeArgs;        // concrete; extents in them are open unless a layout depends on them
  std::vector<int64_t> extents;        // one for each extent name: its value where the layout of a type in the body depends on it, else -1
  std::vector<TypeId> params;          // the parameters' types with marks, type arguments substituted
  bool window = false;                 // called where a window is open
  auto operator<=>(const Instance&) const = default;
};

struct InstanceMarks {
  std::vector<TypeId> exprs;           // by ExprId: the marked type
  std::vector<TypeId> locals;          // by LocalId
  std::vector<char> recorded;          // by ExprId: 1 when the operation is recorded (a tracked operand in an open state)
  std::vector<char> open;              // by ExprId: 1 when the expression stands where a window is open (calls: pass it on)
  TypeId result;                       // with its mark
};

class Marks {
 public:
  Marks(Program&, Diagnostics&);
  ~Marks();
  const InstanceMarks& of(const Instance&);         // worked out at first use; the reference stays valid
  // The instance that a Call expression reaches from inside `caller`.
  Instance calleeOf(const Instance& caller, ExprId call);

 private:
  friend class MarkWalk;
  struct Entry { InstanceMarks marks; bool busy = false, final = false; };   // busy: on the stack, its answer still grows
  Program& program;
  Diagnostics& diagnostics;
  std::map<Instance, std::unique_ptr<Entry>> known;
  bool sawBusy = false;                             // the walk that runs asked for an instance that is not finished
  int depth = 0;                                    // how many walks are inside one another; the outermost answer is final
};

// The instance behind a call, from the marked types of its arguments.
Instance targetOf(Program&, const Instance& caller, const InstanceMarks&, ExprId call);

}  // namespace mica
