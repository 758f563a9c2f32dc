// The inside of the checker, shared by the files check_*.cpp. `Checker` knows the whole program: modules, declarations, constants. A
// `BodyChecker` turns one body into checked statements and expressions.
//
// Expressions are checked with an expected type where there is one (`hint`): literals, brackets, `none` and closures take their
// type from it. The result may still have another type; `fit` then converts what converts by itself, or reports. Whatever has been
// reported has the type Error, which fits everywhere, so that one mistake gives one message.
#pragma once
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/modules.h"
#include "frontend/spelling.h"
#include "frontend/tree.h"
#include "frontend/vocabulary.h"

namespace mica {

// ---- the program ----

// The value of a constant. Numbers without a declared type keep what both float formats and all integers would give, so that they
// adapt to their place like a literal.
struct ConstValue {
  enum class Kind : uint8_t { Unknown, Error, Int, Float, Bool, Char, String } kind = Kind::Unknown;
  TypeId type;                    // declared, or that of a typed part; none: adapts
  __int128 integer = 0;           // Int, Char, Bool
  double value64 = 0; float value32 = 0;
  std::string text;
  bool known() const { return kind > Kind::Error; }
};

// A name in a declaration's brackets.
struct GenericName { NameId name; bool isExtent = false; uint32_t index = 0; uint8_t constraints = 0; Place place; };

struct DeclInfo {
  enum class State : uint8_t { None, Working, Done };
  const ast::Decl* syntax = nullptr;
  uint32_t module = 0;
  std::vector<GenericName> generics;
  State genericsState = State::None, signatureState = State::None, constState = State::None, bodyState = State::None;
  ConstValue value;
};

// `type Name[…] = other type`: replaced where it is used. Its generic names belong to a declaration id outside the program.
struct AliasInfo {
  const ast::TypeDecl* syntax = nullptr;
  uint32_t module = 0;
  DeclId id;
  std::vector<GenericName> generics;
  DeclInfo::State genericsState = DeclInfo::State::None, state = DeclInfo::State::None;
  TypeId type;
};

class BodyChecker;

// Where a type is written: which module, whose generic names, inside which body.
struct TypeScope {
  uint32_t module = 0;
  DeclId owner;                               // whose generic names count; none outside
  const std::vector<GenericName>* generics = nullptr;
  BodyChecker* body = nullptr;
};

class Checker {
 public:
  Checker(Context& c, Program& p, CheckOptions o) : context(c), program(p), types(p.types), options(std::move(o)), modules(c, options) {}

  Context& context;
  Program& program;
  TypeTable& types;
  CheckOptions options;
  Modules modules;
  std::vector<DeclInfo> infos;                // by DeclId
  std::vector<AliasInfo> aliases;

  void run();
  DeclInfo& info(DeclId d) { return infos[d.index]; }
  void collectNewModules();
  void ensureSignature(DeclId);
  Body* ensureBody(DeclId);
  const ConstValue& constant(DeclId);

  // Names.
  const Symbol* find(uint32_t module, NameId name);
  const Symbol* findExported(uint32_t module, const ast::Name& name, uint32_t from);   // reports what is missing or not exported
  DeclId libraryFailure(NameId name);
  DeclId preludeFunction(NameId name);
  // Guesses at what was meant look at every name in sight. Long after the last message that is printed nobody reads them.
  bool mayGuess() const { return context.diagnostics.errorCount() < 200; }
  Diagnostic& reportUnknown(Span at, std::string_view name, std::vector<std::string> candidates, const char* what);
  std::vector<std::string> moduleNames(uint32_t module) const;

  uint32_t caseNamed(DeclId choice, std::string_view name);       // its number; that of all cases when there is none of that name

  // Types (check_types.cpp).
  TypeId resolveType(const ast::TypeExpr*, const TypeScope&);
  TypeId resolveWritten(const ast::TypeExpr*, const TypeScope&);   // of any size
  TypeId resolveTypeArg(ast::Expr*, const TypeScope&);            // an argument in brackets that is a type
  ExtentId resolveExtent(const ast::Expr*, const TypeScope&);     // reports what is no extent
  TypeId resolveFailure(const ast::FailureName&, uint32_t module);
  TypeId applyType(const Symbol&, const ast::Seq<ast::Expr*>& args, bool hasArgs, Span at, const TypeScope&);
  std::optional<TypeId> builtinType(NameId name, uint32_t module);
  bool isTypeSyntax(ast::Expr*);
  void ensureGenerics(DeclId);
  void ensureGenerics(AliasInfo&);
  ast::TypeExpr* asType(ast::Expr*);

  // Constants (check_consts.cpp).
  ConstValue evaluate(const ast::Expr*, const TypeScope&, bool report, TypeId hint = {});
  bool convertConstant(ConstValue&, TypeId to);                   // false when the value does not fit
  std::string showConstant(const ConstValue&) const;

  void checkFormat(std::string_view format, Span at, TypeId type);

 private:
  uint32_t collected = 0;                     // modules whose declarations are collected
  std::vector<DeclId> pendingSignatures;
  uint32_t signatureDepth = 0;
  std::unordered_map<const ast::Expr*, ast::TypeExpr*> typeSyntax;
  Symbol failureSymbol;                       // what findExported answers for a failure of another library module

  void collect(uint32_t module);
  void declare(uint32_t module, const ast::Decl*);
  void findGenerics(const ast::Seq<ast::GenericParam>&, std::vector<GenericName>&, uint32_t module, const ast::Decl*);
  void resolveFunction(DeclId), resolveRecord(DeclId), resolveChoice(DeclId), resolveFailureDecl(DeclId);
  std::vector<FieldDecl> resolveFields(const ast::Seq<ast::FieldDecl>&, const TypeScope&);
  void attributes(Decl&, const ast::Decl*);
  std::unordered_map<uint32_t, std::unordered_map<std::string_view, uint32_t>> casesByName;   // of choices that are settled
  // Types without end (check_rings.cpp).
  struct Passing;
  std::unordered_map<uint64_t, uint32_t> parameterNodes;          // type and extent parameters as nodes, by declaration and position
  std::vector<DeclId> parameterOwners;
  void checkRings();
  void checkGrowth();
  uint32_t parameterNode(DeclId, uint32_t);
  void passings(TypeId, DeclId owner, std::vector<Passing>&);
  void passes(TypeId, DeclId owner, uint32_t to, bool larger, std::vector<Passing>&);
  void passes(ExtentId, DeclId owner, uint32_t to, std::vector<Passing>&, bool inType);
  void applySets();
  ConstValue parseSet(const std::string& text, const ast::ConstDecl*);
  ConstValue evaluateBinary(const ast::BinaryExpr*, ConstValue, ConstValue, bool report);
  void drainSignatures();
  struct Hashed { TypeId type; Span at; uint32_t module; const char* what; };
  std::vector<Hashed> hashed;
  void checkHashed();
  void checkInstances();
  uint32_t depthOf(TypeId);
  std::vector<uint32_t> depths;               // of types, how deep they nest; 0: not worked out
  bool kindOfResult(const Decl&) const;
};

// ---- bodies ----

struct Want { TypeId type; std::string what; };   // `the result`, "`b`", "the parameter `x`"

// What a call binds of a callee's generic names.
struct Binding {
  struct Equation { ExtentId pattern, actual; uint32_t argument, axis; bool top; Span at; std::string name; };
  DeclId decl;
  std::vector<TypeId> types;
  std::vector<ExtentId> extents;
  std::vector<ExtentArg> how;
  std::vector<Equation> equations;
};

// How a place changes (check_places.cpp).
enum class Change : uint8_t {
  Value,      // it takes another value
  Named,      // `let inout` gives it another name; what happens to that is checked there
  Elements,   // its elements are exchanged or change in place
  Handed,     // somebody else gets it and may do anything that its type allows
};

// A parameter or field as a call sees it.
struct Slot { std::string name; TypeId type; Mode mode = Mode::Read; bool hasDefault = false; const void* defaultSyntax = nullptr; bool mayStayUnnamed = true; Change change = Change::Handed; };

class BodyChecker {
 public:
  BodyChecker(Checker&, Body&, DeclId decl, uint32_t module);
  void checkFunction();
  void checkTest();
  void checkFailureText();
  const Symbol* lookupForTypes(NameId) const;
  bool isLocal(NameId) const;
  std::optional<ConstValue> localConstant(NameId);

 private:
  friend class Checker;
  friend struct VocabularyCall;
  Checker& checker;
  Context& context;
  Program& program;
  TypeTable& types;
  Body& body;
  DeclId decl;
  uint32_t module;
  bool system = false;

  // -- scopes --
  struct Entry { LocalId local; int constant = -1; uint32_t closure = 0; size_t position = 0; };   // position: in `declared`
  std::unordered_map<uint32_t, std::vector<Entry>> names;
  std::vector<NameId> declared;                       // undo log
  std::vector<ConstValue> constants;
  size_t scopeMark = 0;                               // where the names of the innermost block begin
  struct Scope {
    BodyChecker& b; size_t mark, outer;
    explicit Scope(BodyChecker& x) : b(x), mark(x.declared.size()), outer(x.scopeMark) { b.scopeMark = mark; }
    ~Scope() { b.leave(mark); b.scopeMark = outer; }
  };
  void leave(size_t mark);
  void enter(NameId, Place, Entry);
  LocalId declareLocal(NameId, Place, TypeId, Local::Form, Mode = Mode::Read);
  LocalId newLocal(std::string name, Place, TypeId, Local::Form, Mode = Mode::Read);
  const Entry* findLocal(NameId) const;
  std::vector<std::string> namesInSight() const;      // to guess from
  bool isKnown(NameId) const;
  Diagnostic& reportUnknown(const ast::NameExpr*);
  TypeScope typeScope();

  // -- what is being checked --
  struct AttemptFrame { std::vector<Recover>* arms; std::vector<bool> used; };
  struct LoopFrame { bool comprehension = false, broken = false; };
  struct Frame {                                      // the function, or a closure inside
    TypeId result; ResultMode resultMode = ResultMode::Value;
    std::vector<TypeId> fails; bool anyFailure = false; bool infersFails = false;
    bool infersResult = false;
    Closure* closure = nullptr; uint32_t depth = 0;
    std::vector<AttemptFrame> attempts;
    std::vector<LoopFrame> loops;
    std::string name;
    Place place;
  };
  std::deque<Frame> frames;                       // a reference to a frame stays good while the closures inside it are checked
  Frame& frame() { return frames.back(); }
  const ast::Expr* tryTarget = nullptr;               // the call that the `try` around it covers
  const ast::Expr* tryOperand = nullptr;
  std::vector<TypeId> lastFails;                      // of the call that tryTarget was
  bool tryHandled = false;                            // that `try` has an `else`
  TypeId checkedType;                                 // the declared type of the `let` or `var` at hand
  const ast::Expr* walked = nullptr;                  // what a loop walks or `Length` counts: Chars and Lines need no list there
  std::unordered_map<uint32_t, ExprId> initializers;  // of locals, for messages that say where a shape came from
  std::vector<NameId> boundNames;                     // of the pattern that is being checked
  std::set<uint32_t> concatenations;                  // strings made by `+`, which grow with their chain
  std::set<uint32_t> viewLocals;                      // names for slices, rows of tensors and lines
  std::set<const ast::Arg*> changedArgs;              // arguments that a call changes
  std::set<uint32_t> endless;                         // `loop` statements that no `break` leaves
  std::set<uint32_t> eachLocals;                      // names of `each`, which learn whether they change

  // -- nodes --
  ExprId make(ExprKind, TypeId, const ast::Expr* at);
  StmtId makeStmt(StmtKind, Place);
  ExprId errorExpr(const ast::Expr* at) { return make(ExprKind::Error, errorType(), at); }
  ExprId intLiteral(int64_t value, TypeId type, const ast::Expr* at);
  ExprId convert(ExprId, TypeId to, bool isExplicit = false);
  Expr& get(ExprId e) { return body.exprs[e.index]; }
  Stmt& get(StmtId s) { return body.stmts[s.index]; }
  Local& get(LocalId l) { return body.locals[l.index]; }
  TypeId typeOf(ExprId e) { return body.exprs[e.index].type; }
  const Type& typ(TypeId t) { return types.get(t); }
  Kind kindOf(ExprId e) { return types.get(typeOf(e)).kind; }
  Kind kindOf(TypeId t) { return t ? types.get(t).kind : Kind::Error; }
  TypeId errorType() { return types.scalar(Kind::Error); }
  TypeId unit() { return types.scalar(Kind::Unit); }
  TypeId intType() { return types.scalar(Kind::Int64); }
  TypeId boolType() { return types.scalar(Kind::Bool); }
  TypeId stringType() { return types.scalar(Kind::String); }
  TypeId scalar(Kind k) { return types.scalar(k); }
  bool isError(ExprId e) { return kindOf(e) == Kind::Error; }
  bool isError(TypeId t) { return kindOf(t) == Kind::Error; }
  Diagnostic& error(Span at, std::string text) { return context.diagnostics.error(at, std::move(text)); }
  Diagnostic& error(const ast::Expr* at, std::string text) { return error(spanOf(at), std::move(text)); }
  Span spanOf(const ast::Expr* e) const { return {e->place, e->length}; }
  std::string text(NameId n) const { return std::string(context.names.text(n)); }
  std::string quote(const ast::Expr*) const;          // "`Copy(a)`" when short, else "this"
  std::string quoteExact(const ast::Expr*) const;     // without backticks
  std::string show(TypeId t) const { return mica::show(program, t); }
  std::string show(ExtentId e) const { return mica::show(program, e); }
  std::string aType(TypeId t) const { return showWithArticle(program, t); }

  // -- fitting (check_fit.cpp) --
  enum class Compat : uint8_t { No, Same, Check };
  Compat compatible(TypeId have, TypeId want);
  Compat compatibleExtents(const std::vector<ExtentId>& have, const std::vector<ExtentId>& want);
  bool widens(TypeId have, TypeId want);
  ExprId fit(ExprId, const Want&, const ast::Expr* at, bool consumerChecks = false);
  ExprId exprAs(const ast::Expr*, TypeId type, std::string what, bool consumerChecks = false);
  ExprId condition(const ast::Expr*);
  ExprId indexValue(const ast::Expr*);                // any integer type; answers it as it is
  void refuse(ExprId, const Want&, const ast::Expr* at);
  TypeId join(TypeId a, TypeId b);                    // the type of two branches; none when they do not agree
  TypeId withoutOptional(TypeId hint);

  // -- expressions (check_expr.cpp) --
  ExprId expr(const ast::Expr*, TypeId hint = {});
  ExprId integer(const ast::IntegerExpr*, TypeId hint, bool negative, const ast::Expr* whole);
  ExprId floating(const ast::FloatExpr*, TypeId hint, bool negative, const ast::Expr* whole);
  ExprId constantLiteral(ConstValue, TypeId hint, const ast::Expr* at);
  ExprId name(const ast::NameExpr*, TypeId hint);
  ExprId localValue(LocalId, const Entry&, const ast::Expr* at);
  ExprId useLocal(const Entry&, const ast::Expr* at);
  ExprId declValue(DeclId, TypeId hint, const ast::Expr* at, const ast::Seq<ast::Arg>* brackets = nullptr);
  ExprId field(const ast::FieldExpr*, TypeId hint);
  ExprId fieldOf(ExprId base, const ast::Name&, const ast::Expr* at);
  ExprId tupleField(const ast::TupleFieldExpr*);
  ExprId index(const ast::IndexExpr*, TypeId hint);
  ExprId indexTensor(ExprId base, const ast::IndexExpr*);
  ExprId indexOne(ExprId base, const ast::IndexExpr*);
  Subscript subscript(const ast::Expr*, ExtentId extent, ExtentId* length);
  ExprId unary(const ast::UnaryExpr*, TypeId hint);
  ExprId binary(const ast::BinaryExpr*, TypeId hint);
  ExprId combine(const ast::BinaryExpr*, ExprId left, ExprId right);
  ExprId arithmetic(const ast::BinaryExpr*, ExprId left, ExprId right);
  ExprId comparison(const ast::BinaryExpr*, ExprId left, ExprId right);
  ExprId logical(const ast::BinaryExpr*, ExprId left, ExprId right);
  ExprId membership(const ast::BinaryExpr*, ExprId left);
  ExprId build(ExprKind, BinaryOp, TypeId, ExprId, ExprId, const ast::BinaryExpr*);
  bool adaptable(const ast::Expr*);
  std::unordered_map<uint32_t, bool> adaptableOperators;   // answers of adaptable, by the operator's node
  bool adaptableLeaf(const ast::Expr*);
  TypeId adaptTo(TypeId other, TypeId hint);
  ExprId buildAdaptable(const ast::Expr*, TypeId type);
  bool hasFloatLiteral(const ast::Expr*);
  ExprId ifExpr(const ast::IfExpr*, TypeId hint, size_t from = 0);
  ExprId unboxed(ExprId, const ast::Expr* at);
  ExprId ifLetExpr(const ast::IfExpr*, TypeId hint, size_t from);
  ExprId matchExpr(const ast::MatchExpr*, TypeId hint);
  ExprId tryExpr(const ast::TryExpr*, TypeId hint);
  ExprId valueOrJump(const ast::Expr*, TypeId hint, StmtId* leaves);
  ExprId tuple(const ast::TupleExpr*, TypeId hint);
  ExprId listLiteral(const ast::ListExpr*, TypeId hint);
  ExprId tensorLiteral(const ast::ListExpr*, TypeId hint);
  ExprId setLiteral(const ast::SetExpr*, TypeId hint);
  ExprId mapLiteral(const ast::MapExpr*, TypeId hint);
  ExprId emptyBraces(const ast::Expr*, TypeId hint);
  ExprId comprehension(const ast::ComprehensionExpr*, TypeId hint);
  ExprId interpolation(const ast::InterpolationExpr*);
  ExprId closure(const ast::ClosureExpr*, TypeId hint);
  TypeId common(const std::vector<ExprId>&, const std::vector<const ast::Expr*>&, const char* what);
  bool holdsOpenArray(TypeId);
  bool knownIndex(const ast::Expr*, int64_t*);
  ExtentId rangeLength(const ast::Expr* low, const ast::Expr* high, bool inclusive);
  ExtentId extentOf(const ast::Expr*);                // the extent that an int expression stands for, or none

  // -- places (check_places.cpp) --
  bool isPlace(ExprId);
  bool isView(ExprId);
  ExprId changing(ExprId place, const ast::Expr* at, Change, const std::string& who = "", const Slot* = nullptr);
  bool refuseByte(ExprId place, const ast::Expr* at);
  bool refuseView(ExprId place, const ast::Expr* at);
  bool refuseHeld(ExprId place, const ast::Expr* at, Change, const std::string& who, const Slot*);
  bool insertsHeld(ExprId place);
  void markChanged(ExprId place);
  TypeId heldType(ExprId place);
  TypeId elementOf(TypeId held);
  TypeId typeInPlace(ExprId place);                   // the held type, else the type
  TypeId opened(TypeId held);
  std::vector<ExtentId> holding(std::vector<ExtentId> extents);
  ExtentId heldExtent() { return types.name(DeclId{}, 0, "?"); }
  bool mentionsHeld(ExtentId);
  bool mentionsHeld(TypeId);
  std::unordered_map<uint32_t, TypeId> heldLocals, heldResults;   // the held types of names for places, and of calls that answer one

  // -- calls (check_call.cpp) --
  ExprId call(const ast::CallExpr*, TypeId hint);
  ExprId callDecl(DeclId, const ast::CallExpr*, const ast::Seq<ast::Arg>* brackets, TypeId hint);
  ExprId callValue(ExprId callee, const ast::CallExpr*);
  ExprId construct(DeclId, const ast::CallExpr*, const ast::Seq<ast::Arg>* brackets, TypeId hint, bool failing = false);
  ExprId constructCase(TypeId choice, DeclId, const ast::CallExpr*, const ast::Expr* at, const ast::Seq<ast::Arg>* brackets, TypeId hint);
  ExprId conversion(TypeId to, const ast::CallExpr*);
  ExprId fillCall(DeclId, const ast::CallExpr*, const ast::Seq<ast::Arg>* brackets, TypeId hint);
  bool arguments(std::vector<Slot>&, Binding&, const ast::CallExpr*, const std::string& callee, TypeId result, TypeId hint, std::vector<ExprId>& children, std::vector<Mode>& modes);
  bool assignSlots(const std::vector<Slot>&, const ast::CallExpr*, const std::string& callee, std::vector<const ast::Arg*>&, const char* what = "parameter");
  ExprId argument(const Slot&, TypeId want, const ast::Arg&, const std::string& callee);
  Binding bindingOf(DeclId);
  bool explicitArgs(DeclId, const ast::Seq<ast::Arg>*, Binding&, Span at);
  bool match(TypeId pattern, TypeId actual, Binding&, uint32_t argument, Span at, const std::string& what, bool top = true);
  void matchExtents(const std::vector<ExtentId>&, const std::vector<ExtentId>&, Binding&, uint32_t argument, Span at, const std::string& what, bool top);
  void solve(Binding&, bool final);
  bool solveOne(Binding&, const Binding::Equation&);
  void finishBinding(Binding&, Span at, const std::string& callee);
  TypeId substitute(TypeId, const Binding&, bool wildcards);
  TypeId closedHint(TypeId, const Binding&);
  ExprId defaultValue(const Slot&, TypeId type, DeclId owner);
  ExprId finishCall(ExprId, const std::vector<TypeId>& fails, const ast::CallExpr*, const std::string& callee);
  bool checkConstraints(DeclId, const Binding&, Span at, const std::string& callee);
  std::vector<TypeId> failsOf(DeclId);
  void passOn(const std::vector<TypeId>& fails, Span at, bool byFail);
  std::string signatureText(const Frame&) const;
  bool typeHasError(TypeId t) { return types.hasError(t); }
  void checkPlaceArgument(const ast::Arg&, const Slot&);
  bool placeFits(ExprId place, const Slot&, TypeId want, const ast::Expr* at, const std::string& callee);
  ExtentArg runtimeExtent(const ast::Expr*, ExtentId* known);
  std::vector<ExtentArg> bracketShape(const ast::Seq<ast::Arg>&, size_t from, std::vector<ExtentId>& shape);

  // -- built-ins (builtins.cpp) --
  bool isBuiltin(NameId) const;
  static const std::vector<const char*>& builtinNames();
  ExprId builtinCall(NameId, const ast::CallExpr*, const ast::Seq<ast::Arg>* brackets, TypeId hint);
  ExprId readCall(Builtin, const std::string& name, const ast::CallExpr*, TypeId hint);
  ExprId partsCall(Builtin, const std::string& name, const ast::CallExpr*, TypeId hint);
  ExprId changeCall(Builtin, const std::string& name, const ast::CallExpr*, TypeId hint);
  ExprId trainingCall(Builtin, const std::string& name, const ast::CallExpr*, const ast::Seq<ast::Arg>* brackets, TypeId hint);
  ExprId refuseArgument(const ast::Arg&, const std::string& callee, const std::string& takes, ExprId, const ast::CallExpr*);
  ExprId makeBuiltin(Builtin, TypeId, std::vector<ExprId> children, std::vector<Mode> modes, const ast::Expr* at);
  bool take(const ast::CallExpr*, std::vector<const ast::Arg*>& out, std::initializer_list<const char*> names, size_t required);
  ExprId inoutArg(const ast::Arg&, const std::string& callee, const char* name, TypeId hint = {}, Change = Change::Handed);
  ExprId makeTensorBuiltin(Builtin, const ast::CallExpr*, const ast::Seq<ast::Arg>* brackets, TypeId hint);
  ExprId intrinsic(const std::string& name, const ast::Expr* at, const ast::CallExpr*, const ast::Seq<ast::Arg>* brackets, TypeId hint);
  ExprId simdIntrinsic(const std::string& name, const ast::CallExpr*, const ast::Seq<ast::Arg>* brackets, TypeId hint);
  ExprId makeIntrinsic(const std::string& name, TypeId, std::vector<ExprId> children, const ast::Expr* at);
  TypeId simdOf(TypeId element, ExtentId lanes);
  ExprId mathIntrinsic(const std::string& name, const ast::CallExpr*, TypeId hint);
  ExprId concat(const ast::CallExpr*);
  ExprId printCall(const ast::CallExpr*);
  std::vector<TypeId> failuresNamed(std::initializer_list<const char*>, const ast::Expr* at);
  bool recordWalks(TypeId, const ast::Expr* at, const std::string& who);
  bool checkpointHolds(TypeId type, const std::string& path, const ast::Expr* at, int depth = 0);
  ExprId sortCall(const ast::CallExpr*);
  ExprId minMax(const std::string&, const ast::CallExpr*, TypeId hint);

  // -- tensors and the vocabulary (check_shapes.cpp, check_vocabulary.cpp) --
  ExprId tensorOp(const ast::BinaryExpr*, ExprId left, ExprId right);
  ExprId product(const ast::BinaryExpr*, ExprId left, ExprId right);
  ExprId vocabularyCall(const vocabulary::Row*, const ast::CallExpr*, const ast::Seq<ast::Arg>* brackets, TypeId hint);
  ExprId makeRow(const char* name, TypeId, std::vector<ExprId>, const ast::Expr* at);
  bool trailing(const std::vector<ExtentId>& longer, const std::vector<ExtentId>& shorter, std::vector<ExtentId>* result);
  std::string origin(ExprId);
  ExprId scalarBeside(ExprId, TypeId element, const ast::Expr* at);
  ExprId pointwise(const char* row, const std::string& what, ExprId left, ExprId right, const ast::Expr* leftAt, const ast::Expr* rightAt, Span op, const ast::Expr* at);
  ExprId settingDefault(const std::string& text, TypeId, const ast::Expr* at);
  ExtentId meet(ExtentId a, ExtentId b, bool* fine);

  // -- statements (check_stmt.cpp, check_flow.cpp) --
  void block(const ast::Block&, std::vector<StmtId>&);
  void statement(const ast::Stmt*, std::vector<StmtId>&);
  void expressionStatement(const ast::ExprStmt*, std::vector<StmtId>&);
  void localStatement(const ast::LocalStmt*, std::vector<StmtId>&);
  void assignStatement(const ast::AssignStmt*, std::vector<StmtId>&);
  void assignTuple(const ast::AssignStmt*, const ast::TupleExpr*, std::vector<StmtId>&);
  void updateStatement(const ast::AssignStmt*, std::vector<StmtId>&);
  void ifStatement(const ast::IfStmt*, size_t from, std::vector<StmtId>&);
  void whileStatement(const ast::WhileStmt*, std::vector<StmtId>&);
  void forStatement(const ast::ForStmt*, std::vector<StmtId>&);
  void matchStatement(const ast::MatchStmt*, std::vector<StmtId>&);
  void attemptStatement(const ast::AttemptStmt*, std::vector<StmtId>&);
  void eachStatement(const ast::EachStmt*, std::vector<StmtId>&);
  void returnStatement(const ast::ReturnStmt*, std::vector<StmtId>&);
  void failStatement(const ast::FailStmt*, std::vector<StmtId>&);
  void loopHead(const ast::LoopHead&, Loop&, bool parallel);
  void countingHead(const ast::LoopHead&, const ast::RangeExpr*, Loop&);
  void walkingHead(const ast::LoopHead&, Loop&);
  bool loopBody(const ast::Block&, std::vector<StmtId>&);
  StmtId jump(const ast::Stmt*);
  bool falls(const std::vector<StmtId>&);
  bool falls(StmtId);
  bool exprFalls(ExprId);
  PatternId bindCondition(const ast::Condition&, ExprId* value);
  std::optional<bool> rankCondition(const ast::Expr*);
  TypeId elementType(TypeId container, TypeId* key);
  void declareNamed(const ast::LocalStmt*, ExprId value, StmtId);
  void collectLeaves(TypeId, std::vector<TypeId>&, std::vector<TypeId>& open);
  bool sameStructure(TypeId, TypeId, std::string* where);

  // -- patterns (check_pattern.cpp) --
  PatternId pattern(const ast::Pattern*, TypeId type, Mode mode, bool inCase, Local::Form form = Local::Form::Pattern);
  PatternId makePattern(PatternKind, TypeId, const ast::Pattern*);
  PatternId bindName(NameId, const ast::Pattern*, TypeId, Mode, Local::Form);
  PatternId casePattern(const ast::CasePattern*, TypeId, Mode, Local::Form);
  ExprId patternLiteral(const ast::Expr*, TypeId);
  bool irrefutable(PatternId);
  void checkExhaustive(const std::vector<Arm>&, TypeId, Span at);
  bool useful(std::vector<std::vector<PatternId>> rows, std::vector<TypeId> columns, std::vector<std::string>& witness, int64_t& budget);
  void arms(const ast::Seq<ast::MatchArm>&, TypeId subject, Mode, std::vector<Arm>&, TypeId* value, TypeId hint, bool isExpr);
};

}  // namespace mica
