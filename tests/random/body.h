// Writes the body of one function: statements and expressions that are well-typed by construction, that end, and that trap only where
// the function is a risky one. The parts lie in files by what they write; this page is their map.
//
// Expressions come in two kinds. A *value* may be stored: it is fresh, copying, or a copy. An *operand* is only looked at, so it may
// also be a place that owns. Whole locals are moved only where nothing else in the statement names them (`Moves::Allowed`).
// What stands without a type around it must say its own: integer literals are written `int8(3)`, and literals of composed types are
// values only, for places whose type is written.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "random/program.h"
#include "random/source.h"
#include "random/types.h"

namespace mica::random {

// How tightly an expression's outermost operator binds, in the order of docs/grammar.md.
enum Level { LooseLevel, OrLevel, AndLevel, NotLevel, CompareLevel, RangeLevel, SumLevel, ProductLevel, UnaryLevel, AtomLevel };

struct Expression {
  std::string text;
  Level level = AtomLevel;
  Range range;                          // of integers
};

enum class Moves { No, Allowed };

struct Variable {
  std::string name;
  const Type* type = nullptr;
  bool changeable = false;
  bool owned = false;                   // a whole local or `move` parameter: it can move
  int loop = 0;                         // the depth of loops that it is declared in
  std::optional<Range> range;           // of an integer that nothing changes
  bool hidden = false;                  // moved away, or borrowed for changing
  int locks = 0;                        // borrowed for reading so many times
  bool tracked = false;                 // a leaf of the tape, or a record of leaves
};

// A place that a program can write: a variable or a part of one.
struct Place {
  std::string text;
  size_t root = 0;                      // the variable in `scope`
  const Type* type = nullptr;
  bool whole = true;                    // the variable itself
};

struct Binding {                        // what a call gives the callee's type and extent parameters
  std::map<std::string, const Type*> types;
  std::map<std::string, Extent> extents;
};
bool unify(const Type* pattern, const Type* with, Binding&);
const Type* substitute(Types&, const Type* pattern, const Binding&);

std::string binary(const Expression& a, const std::string& op, const Expression& b, Level level);
std::string at(const Expression&, Level least);       // in parentheses when it binds more loosely

class Body {
 public:
  Body(Program& program, const Function& function, Random& random)
      : program(program), features(program.features), function(function), random(random), types(program.types) {}
  void write();                         // the statements; at the end the result is returned
  const std::string& text() const { return source.text(); }
  long cost() const { return steps; }
  const Type* randomType(int depth);
  const Type* tensorType(bool names = true);
  std::string literal(const Type*);     // depends on no variable

 private:
  Program& program;
  const Features& features;
  const Function& function;
  Random& random;
  Types& types;
  Source source;
  std::vector<Variable> scope;
  long steps = 0, times = 1;            // what a call costs; how often the statement being written runs
  int budget = 0;                       // statements still to be written
  int loops = 0, blocks = 0, names = 0, closures = 0, attempts = 0;
  bool window = false;                  // inside of a window of the tape, or of a function that is called in one
  std::vector<std::string> leaves;      // the tracked tensors of this function

  // scalars.cpp
  Expression integer(const Type*, int depth);
  Expression integerLeaf(const Type*);
  Expression integerLiteral(const Type*, bool bare);
  Expression arithmetic(const Type*, int depth);
  Expression division(const Type*, int depth);
  Expression bitwise(const Type*, int depth);
  Expression shift(const Type*, int depth);
  Expression converted(const Type*, int depth);
  Expression reduced(const Type*, Expression, int limit);     // into -limit … limit, or 0 … limit where unsigned
  Expression below(int depth, const std::string& limit);      // an int in 0 ..< limit, where limit > 0
  const Type* integerType();
  const Type* scalarType();
  Expression floating(const Type*, int depth);
  Expression floatingLeaf(const Type*);
  Expression boolean(int depth);
  Expression comparison(int depth);
  Expression character(int depth);

  // text.cpp
  std::string textLiteral();
  std::string hole(int depth);          // `{expression:format}`
  Expression string(int depth);

  // values.cpp
  Expression value(const Type*, int depth, Moves = Moves::No);
  std::optional<Expression> operand(const Type*, int depth);  // of a composed type only where there is a place
  Expression scalar(const Type*, int depth);
  Expression composed(const Type*, int depth, Moves);
  Expression chosen(const Type*, int depth);                  // `if` and `match` as expressions
  std::optional<Expression> fromCollection(const Type*, int depth);
  std::optional<Expression> moved(const Type*);
  std::string listOf(const Type* element, int count, int depth, Moves);

  // places.cpp
  std::vector<Place> places(const std::function<bool(const Type*)>& wanted, bool toChange);
  std::optional<Place> place(const Type*, bool toChange);
  std::optional<Place> placeOf(Kind, bool toChange);
  void hold(size_t root, bool toChange);
  void release(size_t root, bool toChange);
  std::string fresh(const char* prefix) { return prefix + std::to_string(++names); }
  Variable& declare(const std::string& name, const Type*, bool changeable, bool owned);

  // calls.cpp
  std::optional<Expression> called(const Type*, int depth);   // a call that answers the type
  std::optional<std::string> call(const Function&, Binding&, int depth, bool statement);
  bool callable(const Function&) const;
  void callStatement();
  void recursion();
  void attempt();
  void closure();
  Expression applied(const Type*, int depth);                 // a closure passed down

  // statements.cpp
  void block(int statements);
  void nested(int statements, long rounds, const std::function<void()>& first = [] {});
  void statement();
  void local();
  void assignment();
  void update();
  void guardedFail(int failure);
  void trace();
  void finish();                        // returns the result

  // flow.cpp
  void branch();
  void whileLoop();
  void rangeLoop();
  void endlessLoop();
  void matchInteger();
  void matchPair();
  void matchText();

  // data.cpp
  void listChange();
  void mapChange();
  void setChange();
  void optionalChange();
  void walk();
  void matchChoice();
  void takeApart();
  void sort();

  // tensors.cpp: `exact` leaves have the type that was asked for; others may have `?` for an extent
  Extent extent();
  Extent knownExtent();
  std::string tensorLiteral(const Type*, size_t axis);
  std::string tensorMade(const Type*);                        // depends on no variable
  std::optional<std::string> tensorPlace(const Type*, bool exact);
  Expression tensorValue(const Type*, int depth);             // may be stored
  Expression tensor(const Type*, int depth);                  // an operand
  Expression tensorLeaf(const Type*, bool exact);
  Expression integers(const Type*, int depth);
  Expression elementwise(const Type*, int depth);
  Expression unaryRow(const Type*, int depth);
  Expression reshaped(const Type*, int depth);
  Expression rowOperation(const Type*, int depth);
  Expression product(const Type*, int depth);
  Expression reduction(const Type* element, int depth);
  Expression tensorInteger(int depth);
  void tensorChange();
  void tensorLocal();

  // owners.cpp
  void ownerStatement();
  void namePlace();
  void changePlace();
  std::optional<size_t> givenAway(const std::function<bool(const Type*)>& wanted);
  void consume();
  void consumeChoice();
  void exchange();
  void replacePlace();
  void throughAccessor();
  void giveAway();

  // tape.cpp
  void windowStatement();
  void windowBody();
  void descend(const Variable&);
  void tape();
};

}  // namespace mica::random
