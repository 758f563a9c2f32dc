// One round of the walk that works out an instance's marks.
#pragma once
#include "frontend/marks.h"

namespace mica {

// Operations on types with marks.
class MarkTypes {
 public:
  explicit MarkTypes(TypeTable& t) : types(t) {}
  TypeId transfer(TypeId from, TypeId onto);        // `onto` with the marks of `from` added, part by part
  bool isTracked(TypeId) const;                     // a tracked tensor or float
  bool canTrack(TypeId) const;                      // a tensor of floats, or a float
  void learn(TypeId pattern, TypeId actual, DeclId, std::vector<TypeId>& args);
  TypeId opened(TypeId);
  bool mentionsTracked(TypeId) const;

 private:
  TypeTable& types;
};

class MarkWalk {
 public:
  MarkWalk(Program&, Marks&, const Instance&, InstanceMarks&);
  bool round();                                     // true when something changed

 private:
  // What the text knows of the window that it stands in.
  enum class State : uint8_t { None, Open, Closed, Either };
  Program& program;
  TypeTable& types;
  MarkTypes t;
  Marks& marks;
  const Instance& instance;
  InstanceMarks& out;
  const Decl& decl;
  const Body* body;
  State state = State::None;
  bool changed = false;
  TypeId* returned = nullptr;                       // where `return` joins: the function's or a closure's result

  bool recording() const { return state == State::Open || state == State::Either; }
  State join(State a, State b) const { return a == b ? a : a == State::None ? b : b == State::None ? a : State::Either; }
  TypeId put(TypeId);                               // the instance's type arguments put in
  void flow(TypeId& into, TypeId from);
  void flowLocal(LocalId x, TypeId from) { if (x) flow(out.locals[x.index], from); }
  void flowPlace(ExprId place, TypeId from);
  TypeId fieldType(TypeId owner, uint32_t index);
  TypeId element(TypeId container) const { return container ? types.get(container).element : TypeId(); }
  TypeId withElement(TypeId container, TypeId element);

  void statements(const std::vector<StmtId>&);
  void statement(const Stmt&);
  void branch(const std::vector<StmtId>&, State before, State& after);
  void loop(const Loop&);
  void arms(const std::vector<Arm>&, TypeId subject, TypeId* value);
  void pattern(PatternId, TypeId);

  TypeId expr(ExprId);
  TypeId shape(ExprId, const Expr&);                // the type that the expression's parts give it
  TypeId operation(const Expr&, TypeId plain, bool differentiable);   // recorded when an operand is tracked
  bool anyTracked(const std::vector<ExprId>&);
  TypeId call(ExprId, const Expr&);
  TypeId builtin(const Expr&, TypeId plain);
  TypeId closure(const Expr&, TypeId plain, bool trackedArguments);
  void handler(const Handler&, TypeId& type);
  ExprId current;                                   // the expression whose `recorded` flag operation() sets
};

}  // namespace mica
