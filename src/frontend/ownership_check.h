// The inside of the ownership check, shared by ownership*.cpp: one walk over a checked body in order of execution.
//
// The state at a point says for each owner whether it is whole, moved or maybe moved. Branches are walked from the same state and
// joined; loop bodies are walked twice, the second time from the end of the first. Borrows are lexical, so they are a stack that
// blocks unwind, and no part of the state. What has been reported is whole again, so that one mistake gives one message.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "frontend/check.h"
#include "frontend/diagnostics.h"
#include "frontend/ownership_places.h"
#include "frontend/source.h"
#include "frontend/tree.h"

namespace mica::ownership {

// Where a value went.
struct Site {
  Place place;
  std::string to;                  // "`Keep`", "a list"
  std::string rewrite;             // what to write to keep the value
  std::string note;                // instead of both
  ExprId call;                     // the call that took it, if it was one
};

// Why a value is not whole, for the words of the message.
enum class Why : uint8_t { Plain, RightOfAnd, RightOfOr, FailedHere, BeforeFailure, Else, EarlierRound };

struct Own {
  enum class State : uint8_t { Whole, Maybe, Moved } state = State::Whole;
  Why why = Why::Plain;
  uint32_t site = 0;
  bool whole() const { return state == State::Whole; }
};

struct Flow {
  bool live = true;
  std::map<uint32_t, Own> owners;  // by local: those that are not whole, which are few
  Own at(LocalId l) const {
    auto found = owners.find(l.index);
    return found == owners.end() ? Own{} : found->second;
  }
};

struct Borrow {
  enum class Holder : uint8_t { Name, Loop, Each, Closure, Statement /* in use while the rest of its statement is evaluated */ } holder = Holder::Name;
  Path path;
  bool change = false;
  std::string name;                // of the holder
  std::string place;               // the source of the borrowed place
  uint32_t line = 0;
  std::string help;                // how to do without, for Name
  bool answered = false;           // by a function: the name is not for the whole of `place`
};

enum class Access : uint8_t { Read, Change, Move };

// What a value becomes: only looked at, or taken over.
enum class Use : uint8_t { Read, Take, Return, Store };

struct Captured { Path path; bool change = false; std::string name; };

class Check {
 public:
  Check(Program&, DeclId, Diagnostics&, const SourceFiles&);
  void run();

 private:
  struct Argument { Path path; Mode mode = Mode::Read; ExprId expr; bool moves = false, closure = false; std::string name{}; };
  struct LoopFrame { Flow breaks, continues; };
  struct AttemptFrame { const std::vector<Recover>* arms; std::vector<Flow> flows; uint32_t firstSite = 0; };
  struct ClosureFrame { const Closure* closure; std::vector<Captured> found; };

  Program& program;
  TypeTable& types;
  const Decl& decl;
  const Body& body;
  Diagnostics& diagnostics;
  const SourceFiles& sources;
  Flow flow;
  std::vector<Site> sites;
  std::vector<Borrow> borrows;
  std::vector<LoopFrame> loops;
  std::vector<AttemptFrame> attempts;
  std::vector<ClosureFrame> closures;
  std::vector<Path> origins;                     // by LocalId: the place that a name stands for
  std::vector<char> freshPart;                   // by LocalId: a name for a part of a value that nobody else owns
  std::vector<std::string> borrowedBy;           // by LocalId: a closure's first borrowed variable
  std::vector<std::string> changeHelp;           // by LocalId: how to change what a name for reading stands for
  std::vector<char> eachName;                    // by LocalId: a name of `each`
  std::vector<uint32_t> versions;                // by LocalId: counts its assignments
  std::set<uint64_t> reported;
  bool placeResult = false;                      // `return` answers a place of the first parameter
  bool placeRefused = false;                     // and the signature is wrong already
  const Stmt* assignment = nullptr;              // the assignment at hand, for notes

  const Expr& expr(ExprId e) const { return body.exprs[e.index]; }
  const Local& local(LocalId l) const { return body.locals[l.index]; }
  const Type& typ(TypeId t) const { return types.get(t); }
  TypeId typeOf(ExprId e) const { return expr(e).type; }
  Kind kindOf(ExprId e) const { return typ(typeOf(e)).kind; }
  bool copying(TypeId t) const { return !t || copies(program, t); }

  // Words.
  std::string source(ExprId) const;
  std::string shortSource(ExprId) const;         // "…" when it is long
  std::string rewritten(ExprId whole, ExprId part, const std::string& by) const;
  std::string signatureWithInout(size_t param) const;
  std::string copied(ExprId part) const { return "Copy(" + shortSource(part) + ")"; }
  Span span(ExprId) const;
  Diagnostic* error(ExprId at, std::string text);
  Diagnostic* error(Span, std::string text);

  // Owners.
  bool movable(LocalId) const;
  void needWhole(LocalId, ExprId at);
  void moveLocal(LocalId, ExprId at, Site);
  void setWhole(LocalId l) { if (l) flow.owners.erase(l.index); }
  static Own join(const Own&, const Own&);
  static void join(Flow& into, const Flow& from);
  void rightSide(const Flow& before, Why);
  void refuseMove(ExprId place, Use, ExprId whole);

  // Places and borrows.
  bool isPlace(ExprId) const;
  ExprId through(ExprId) const;                  // behind conversions that pass a value on and the making of optionals
  Path place(ExprId, bool needRoot = true);
  Axis axisOf(const Subscript&);
  Linear linear(ExprId) const;
  void access(const Path&, Access, ExprId at);
  std::string subject(ExprId) const;
  bool mayChange(LocalId, ExprId at);
  LocalId namedBy(const Path&) const;            // the variable behind all names
  Path change(ExprId target);
  void borrow(Borrow b) { if (b.path) borrows.push_back(std::move(b)); }
  Borrow nameBorrow(LocalId, const Path&, ExprId place, bool change, std::string help) const;
  void inUse(const Path&, ExprId at);
  void stillThere(ExprId);
  Path pathOnly(ExprId);
  void captured(const Path&, Access, ExprId at);
  void conflict(const Borrow&, const Path&, Access, Meet, ExprId at);
  bool subjectCovers(ExprId at, const Borrow&) const;
  std::string throughName(const Borrow&, ExprId from, ExprId to) const;

  // Expressions.
  void value(ExprId, Use);
  void values(const std::vector<ExprId>&, Use, ExprId whole);
  void taken(ExprId, Use, ExprId whole, Site);
  Path call(ExprId, size_t first);
  void argument(ExprId, Mode, ExprId call, std::vector<Argument>&);
  bool overlaps(const std::vector<Argument>&, ExprId call);
  void handler(const Handler&, Use, uint32_t firstSite, Why);
  void failing(ExprId call);
  void failWith(const std::vector<TypeId>&, bool unknown, ExprId call);
  std::vector<Captured> closure(ExprId);
  void storeClosure(ExprId, const std::vector<Captured>&, Use);
  void comprehension(const Expr&);
  Site siteOf(ExprId whole, ExprId part) const;
  std::string nameOfCall(ExprId) const;

  // Statements.
  struct Subject { Path path; bool owned = false; };
  struct Walk { Path path; ExprId source; bool owned = false; std::string changeHelp; };
  void block(const std::vector<StmtId>&);
  void statement(const Stmt&);
  void declare(const Stmt&);
  void assign(const Stmt&);
  void store(ExprId target);
  std::string ownerOf(ExprId) const;
  std::string fieldsOf(ExprId) const;
  bool exchanged(const Stmt&, ExprId value);
  static Step partStep();
  void boundWhole(PatternId, ExprId at);         // what the pattern binds has not moved
  void bind(PatternId, const Path&, ExprId source, Mode, bool owned, const std::string& help, const std::string& changing);
  void bindLocal(LocalId, const Path&, ExprId source, Mode, bool owned, const std::string& help, const std::string& changing);
  void conditional(const Stmt&);
  Subject subjectOf(ExprId, Mode, const std::string& to);
  void bindCondition(const Stmt&, const Subject&);
  void match(ExprId subject, const std::vector<Arm>&, Mode, Use);
  void attempt(const Stmt&);
  bool differs(const Flow& before) const;
  template <class Condition, class Inside> void rounds(bool endless, Condition, Inside);
  void loop(const Stmt&);
  Walk enterWalk(const Loop&, Place at);
  void bindElement(const Loop&, const Walk&);
  void each(const Stmt&);
  void returned(const Stmt&);
  void answersPlace(ExprId);
};

}  // namespace mica::ownership
