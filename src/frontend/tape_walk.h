// The inside of the tape rules: a walk over one instance in order of execution.
#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "frontend/marks_walk.h"
#include "frontend/ownership_places.h"
#include "frontend/tape_rules.h"

namespace mica::tape {

using ownership::Path;

// A buffer that a recorded operation reads or made.
struct Pin { Path path; uint32_t line = 0; bool made = false; };

enum class State : uint8_t { None, Open, Closed, Either };

// What the text knows at a point.
struct Flow { State state = State::None; bool live = true; std::vector<Pin> pins; uint32_t backwardLine = 0; };

// What callers of an instance need to know.
struct Summary {
  bool busy = false;
  bool returns = false;            // the result is a recorded value
  std::vector<char> stores;        // by parameter: an `inout` one takes a recorded value
};

class Rules {
 public:
  Rules(Program& p, Marks& m, Diagnostics& d, const SourceFiles& s) : program(p), marks(m), diagnostics(d), sources(s) {}
  bool run();

 private:
  friend class Walk;
  Program& program;
  Marks& marks;
  Diagnostics& diagnostics;
  const SourceFiles& sources;
  std::map<Instance, std::unique_ptr<Summary>> known;
  std::map<uint32_t, Place> windows;             // by DeclId: the first window that a call opens, file 0 for none
  std::set<std::pair<uint32_t, uint32_t>> reported;   // declaration and expression

  const Summary& of(const Instance&, const std::string& askedBy);
  Place windowOf(DeclId);
  Place windowIn(const Body&, std::set<uint32_t>& seen);
  bool usesTapes() const;
};

class Walk {
 public:
  Walk(Rules&, const Instance&, Summary&, std::string askedBy);
  void run();

 private:
  Rules& rules;
  Program& program;
  TypeTable& types;
  MarkTypes t;
  const Instance& instance;
  const InstanceMarks& marks;
  const Decl& decl;
  const Body& body;
  Summary& summary;
  std::string askedBy;
  Flow flow;
  bool quiet = true;                             // the first walk only finds out which variables hold recorded values
  uint32_t windowLine = 0;                       // of the window whose own text this is; 0 outside
  std::vector<char> inside;                      // by LocalId: declared in the window
  std::vector<char> recordedLocal;
  std::vector<Path> names;                       // by LocalId: what a name stands for
  std::vector<char> callRecorded;                // by ExprId: a call whose result is a recorded value
  std::vector<Flow> breaks, continues;           // of the loops around
  int inClosure = 0;
  bool lostMark = false;                         // a refused store: what follows is not tracked for that reason alone

  const Expr& expr(ExprId e) const { return body.exprs[e.index]; }
  const Local& local(LocalId l) const { return body.locals[l.index]; }
  TypeId typeOf(ExprId e) const { return marks.exprs[e.index]; }
  const Type& typ(TypeId x) const { return types.get(x); }
  bool recording() const { return flow.state == State::Open || flow.state == State::Either; }
  bool holdsTensor(TypeId, int depth = 0) const;
  bool mentions(TypeId, int depth = 0) const;    // something tracked inside, also in declared fields
  bool tracked(ExprId e) const { return t.isTracked(typeOf(e)); }

  Diagnostic* error(ExprId at, const std::string& text);
  Diagnostic* error(Span, const std::string& text);
  std::string source(ExprId) const;
  std::string shortSource(ExprId) const;
  std::string rewritten(ExprId whole, ExprId part, const std::string& by) const;
  std::string withDetach(ExprId whole, ExprId part) const { return rewritten(whole, part, "Detach(" + shortSource(part) + ")"); }
  Span span(ExprId) const;

  // Places.
  bool isPlace(ExprId) const;
  ExprId tensorOf(ExprId) const;                 // the tensor whose element or slice this is, or the expression itself
  Path path(ExprId) const;
  LocalId rootOf(ExprId) const;
  bool outside(LocalId) const;
  void pin(ExprId, bool made, uint32_t line);
  void unpin(const Path&);
  bool changesInPlace(ExprId place, const std::string& callName);

  // Values.
  bool recordedValue(ExprId) const;
  void flowLocal(LocalId, bool recorded);
  void goesInto(ExprId target, ExprId value, const std::string& help);
  void field(const FieldDecl&, TypeId fieldType, ExprId value);
  bool losesMark(TypeId have, TypeId into) { return t.transfer(have, into) != into; }

  static void join(Flow& into, const Flow& from);
  void visit(ExprId);
  void parts(ExprId);
  void comprehension(const Expr&);
  void pinOperands(ExprId);
  void call(ExprId);
  void sortBy(ExprId list, ExprId before);
  void callBuiltin(ExprId);
  void callStored(ExprId);
  void gradient(ExprId);
  void closure(ExprId);
  void handler(const Handler&);
  void loopHead(const Loop&);
  void statements(const std::vector<StmtId>&);
  void statement(const Stmt&);
  void declare(const Stmt&);
  void assign(const Stmt&);
  void update(const Stmt&);
  void store(ExprId target, ExprId value, const std::string& help);
  void bindOptional(const Stmt&);
  void window(const Stmt&);
  void backward(const Stmt&);
  void returned(const Stmt&);
  void bind(PatternId, bool recorded, const Path&);
  template <class Condition, class Inside> void rounds(bool endless, Condition condition, Inside inside);
};

}  // namespace mica::tape
