// The syntax tree: what the text says, before any name has a meaning. One family of nodes for each kind of thing: Expr,
// Stmt, TypeExpr, Pattern, Decl. A node is a plain struct in an arena that begins with its family's base (kind, id, place);
// `as<CallExpr>(e)` gives the full node of a known kind, `tryAs` null for another kind. Lists are spans in the same arena.
//
// To know when reading a tree:
// - Names decide late. `f[T](x)`, `x[i]`, `matrix[R, C]` and `Gpt[?]` are all IndexExpr; `Files.ReadText`, `Shape.Circle` and
//   `p.x` are all FieldExpr; `Circle` in a pattern is a NamePattern. What can only be a type (`list of T`, `T?`, `?`,
//   `vector[N] of T`) is a TypeLiteral where an expression is expected. Arguments in brackets are Expr everywhere, in types
//   too; `typeFromExpr` (parser.h) turns one that names a type into a TypeExpr.
// - Ids are dense: the expressions of a context are numbered from 0, likewise the other families, so side tables are vectors.
//   A function's own nodes are the half-open range FuncDecl::nodes of each family (closures inside included).
// - A chain of binary operators leans to the left as deep as it is long (a sum of 100,000 terms is possible): walk the left
//   spine with a loop. All other nesting is at most MaxNesting (parser.h) deep.
// - After an error the tree is still whole: Error nodes stand where nothing could be read, a missing name is `none` (its
//   NameId is empty). Every pointer that is not said to be optional is set.
//
// The namespace is mica::ast, because the checked tree (tree.h) has its own Expr, Stmt and Decl; a station that only reads
// syntax writes `using namespace ast;`.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include "frontend/interner.h"
#include "frontend/source.h"
#include "support/support.h"

namespace mica::ast {

template <class T> using Seq = std::span<T>;

struct Expr; struct Stmt; struct TypeExpr; struct Pattern; struct Decl; struct FuncDecl; struct ConstDecl;

// A spelling and where it stands. The NameId is empty when the name is missing (optional, or after an error).
struct Name {
  NameId id;
  Place place;
  uint32_t length = 0;
  explicit operator bool() const { return bool(id); }
  Span span() const { return {place, length}; }
};

// How a parameter, a loop, a match or a binding holds its value.
enum class Mode : uint8_t { Read, Inout, Move };

// The next free id of each family, or the end of a range of them.
struct NodeIds { uint32_t expr = 0, stmt = 0, type = 0, pattern = 0; };
struct NodeRange { NodeIds begin, end; };

// ---- blocks ----

struct Block {
  Seq<Stmt*> statements;
  Place begin;   // of the word that opens it (`if`, `elif`, `else`, `for`, `func`, …)
  Place end;     // of the word that closes it (`end`, `else`, `case`, …)
};

// What `if`, `elif` and `while` ask: a condition, or `let pattern := value` of an optional.
struct Condition {
  bool isLet = false;
  Mode mode = Mode::Read;        // `let inout x`: Inout
  Pattern* pattern = nullptr;    // only with let
  TypeExpr* type = nullptr;      // only with let; optional
  Expr* value = nullptr;
};

// `for mode index, item in source by step do`
struct LoopHead {
  Mode mode = Mode::Read;        // for inout, for move
  Pattern* index = nullptr;      // optional: the `i` of `for i, x in xs`
  Pattern* item = nullptr;
  Expr* source = nullptr;        // a RangeExpr for counting loops
  Expr* step = nullptr;          // optional: `by step`
};

// ---- expressions ----

enum class ExprKind : uint8_t {
  Error, Integer, Float, Char, Bool, None, String, Interpolation,
  Name, Discard, Field, TupleField, Index, Call,
  Unary, Binary, Range, If, Match, Try, Jump,
  Tuple, List, Set, Map, EmptyBraces, Comprehension, Closure, Spawn, TypeLiteral, Expand,
};

struct Expr {
  ExprKind kind;
  bool parenthesized = false;    // written in parentheses of its own (`(x)`); its place is that of the inside
  uint32_t id = 0;
  Place place;                   // of its first byte; for operators see BinaryExpr::opPlace
  uint32_t length = 0;           // up to its last byte (may run over several lines)
  Span span() const { return {place, length}; }
};

// Where an expression could not be read. An error has been reported: say nothing more about it.
struct ErrorExpr : Expr { static constexpr ExprKind Kind = ExprKind::Error; };

// Not negative: `-1` is a UnaryExpr. Adapts to any number type by its context.
struct IntegerExpr : Expr { static constexpr ExprKind Kind = ExprKind::Integer; uint64_t value = 0; };

// Rounded to both formats directly from the digits. value32 may be infinite where value64 is not.
struct FloatExpr : Expr { static constexpr ExprKind Kind = ExprKind::Float; double value64 = 0; float value32 = 0; };

struct CharExpr : Expr { static constexpr ExprKind Kind = ExprKind::Char; uint32_t codePoint = 0; };
struct BoolExpr : Expr { static constexpr ExprKind Kind = ExprKind::Bool; bool value = false; };
struct NoneExpr : Expr { static constexpr ExprKind Kind = ExprKind::None; };

// A string without interpolations; escapes are decoded. Valid UTF-8, may hold NUL characters.
struct StringExpr : Expr { static constexpr ExprKind Kind = ExprKind::String; std::string_view text; };

// A string with interpolations: texts (decoded) and values in turn, empty texts left out.
struct StringPart {
  std::string_view text;            // when value is null
  Expr* value = nullptr;
  std::string_view format;          // what follows the `:`; empty without one
  Span formatSpan;                  // file 0 without a format
};
struct InterpolationExpr : Expr { static constexpr ExprKind Kind = ExprKind::Interpolation; Seq<StringPart> parts; };

struct NameExpr : Expr { static constexpr ExprKind Kind = ExprKind::Name; NameId name; };

// `_`: in brackets an argument that is left open, left of `:=` a value that is dropped.
struct DiscardExpr : Expr { static constexpr ExprKind Kind = ExprKind::Discard; };

// `base.name`: a field, a member of a module, a case of a choice.
struct FieldExpr : Expr { static constexpr ExprKind Kind = ExprKind::Field; Expr* base = nullptr; Name name; };

// `base.0`
struct TupleFieldExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::TupleField;
  Expr* base = nullptr;
  uint32_t index = 0;
  Place indexPlace;
};

// An argument in `(…)` or `[…]`: `value`, `name: value`, `inout value`, `name: inout value`.
struct Arg {
  Name name;                    // optional
  bool isInout = false;
  Expr* value = nullptr;
  Place place;                  // of its first byte, name and `inout` included
};

// `base[a, b, …]`: an element, a slice, type arguments. An argument may be a RangeExpr (`a ..< b`, `a ..`, `..`), a
// TypeLiteral, a DiscardExpr; `m[k, otherwise: 0]` has a named one.
struct IndexExpr : Expr { static constexpr ExprKind Kind = ExprKind::Index; Expr* base = nullptr; Seq<Arg> args; };

struct CallExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Call;
  Expr* callee = nullptr;
  Seq<Arg> args;
  Place close;                  // of the `)`
};

enum class UnaryOp : uint8_t { Neg, Bnot, Not };
struct UnaryExpr : Expr { static constexpr ExprKind Kind = ExprKind::Unary; UnaryOp op = UnaryOp::Neg; Expr* operand = nullptr; };

// name, spelling, precedence (higher binds tighter)
#define MICA_BINARY_OPS(X)                                                                                        \
  X(Or, "or", 1) X(And, "and", 2)                                                                                 \
  X(Equal, "=", 4) X(NotEqual, "<>", 4) X(Less, "<", 4) X(LessEqual, "<=", 4) X(Greater, ">", 4)                  \
  X(GreaterEqual, ">=", 4) X(In, "in", 4)                                                                         \
  X(Add, "+", 6) X(Sub, "-", 6) X(AddWrap, "+%", 6) X(SubWrap, "-%", 6) X(Bor, "bor", 6) X(Bxor, "bxor", 6)       \
  X(Mul, "*", 7) X(MulWrap, "*%", 7) X(MulElements, ".*", 7) X(Div, "/", 7) X(DivElements, "./", 7)               \
  X(IntDiv, "div", 7) X(Mod, "mod", 7) X(Rem, "rem", 7) X(Shl, "shl", 7) X(Shr, "shr", 7) X(Band, "band", 7)
// Between them stand `not` (3) and ranges (5), which are no BinaryExpr.

enum class BinaryOp : uint8_t {
#define X(name, text, precedence) name,
  MICA_BINARY_OPS(X)
#undef X
};
std::string_view spelling(BinaryOp op);
std::string_view spelling(UnaryOp op);

// `left op right`, `and` and `or` included. The place for messages about the operation is that of its operator.
struct BinaryExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Binary;
  BinaryOp op = BinaryOp::Add;
  Place opPlace;
  Expr* left = nullptr;
  Expr* right = nullptr;
  Span opSpan() const { return {opPlace, uint32_t(spelling(op).size())}; }
};

// `low .. high` (both included), `low ..< high`, `low ..` (high is null), `..` (both null).
struct RangeExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Range;
  bool halfOpen = false;        // `..<`
  Place opPlace;
  Expr* low = nullptr;
  Expr* high = nullptr;
  bool isWhole() const { return !low && !high; }
};

// `if c then a elif d then b else e`
struct IfExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::If;
  struct Branch { Condition condition; Expr* value = nullptr; };
  Seq<Branch> branches;         // at least one
  Expr* otherwise = nullptr;
};

// An arm of `match`, as a statement (body) or as an expression (value). A value may be a JumpExpr.
struct MatchArm {
  Seq<Pattern*> patterns;       // `case p, q`; empty for `else`
  bool isElse = false;
  Expr* guard = nullptr;        // optional: `case p if guard then`
  Block body;                   // of a statement
  Expr* value = nullptr;        // of an expression
  Place place;                  // of `case` or `else`
};
struct MatchExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Match;
  Mode mode = Mode::Read;
  Expr* subject = nullptr;
  Seq<MatchArm> arms;
};

// `try operand`, `try operand else otherwise`
struct TryExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Try;
  Expr* operand = nullptr;
  Expr* otherwise = nullptr;    // optional; may be a JumpExpr
};

// `return`, `break`, `continue` or `fail` where a value is expected (after `else` of try, in arms and branches).
struct JumpExpr : Expr { static constexpr ExprKind Kind = ExprKind::Jump; Stmt* statement = nullptr; };

struct TupleExpr : Expr { static constexpr ExprKind Kind = ExprKind::Tuple; Seq<Expr*> elements; };   // two or more; `()` has none
struct ListExpr : Expr { static constexpr ExprKind Kind = ExprKind::List; Seq<Expr*> elements; };     // also vectors, `[[…]]` matrices
struct SetExpr : Expr { static constexpr ExprKind Kind = ExprKind::Set; Seq<Expr*> elements; };       // at least one
struct MapExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Map;
  struct Entry { Expr* key; Expr* value; };
  Seq<Entry> entries;           // at least one
};
struct EmptyBracesExpr : Expr { static constexpr ExprKind Kind = ExprKind::EmptyBraces; };            // `{}`: context decides

// `[element for i in source]`, `[element parallel for i in source]`
struct ComprehensionExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Comprehension;
  Expr* element = nullptr;
  LoopHead head;
  bool isParallel = false;
};

struct Param {
  Name name;
  Mode mode = Mode::Read;
  TypeExpr* type = nullptr;         // null in `(a, b) => …`; parameters declared as a group share one
  Expr* defaultValue = nullptr;     // optional
};

// `fails A, Files.B`, `fails any`
struct FailureName {
  Seq<Name> path;                   // one or two names
  Span span() const {
    const Name& last = path.back();
    return {path.front().place, last.place.column + last.length - path.front().place.column};
  }
};
struct FailsClause {
  Place place;                      // of `fails`; file 0 when there is no clause
  bool any = false;
  Seq<FailureName> failures;
  bool present() const { return place.file != 0; }
};

// `T`, `read T`, `inout T` after the colon of a function.
struct ResultType {
  Mode mode = Mode::Move;           // Move: a value; Read and Inout: a place
  TypeExpr* type = nullptr;         // optional
};

// `(a, b) => value`, `func(a: T): U … end`, either with `move` before it.
struct ClosureExpr : Expr {
  static constexpr ExprKind Kind = ExprKind::Closure;
  bool isMove = false;
  Seq<Param> params;
  ResultType result;                // of `func`; optional
  FailsClause fails;                // of `func`
  Expr* value = nullptr;            // of `=>`
  Block body;                       // of `func`, when value is null
};

// `spawn F(x)`
struct SpawnExpr : Expr { static constexpr ExprKind Kind = ExprKind::Spawn; Expr* call = nullptr; };

// What can only be a type, where an expression may stand (arguments in brackets).
struct TypeLiteralExpr : Expr { static constexpr ExprKind Kind = ExprKind::TypeLiteral; TypeExpr* type = nullptr; };

// `S...` in the signatures of the vocabulary table: any number of leading extents.
struct ExpandExpr : Expr { static constexpr ExprKind Kind = ExprKind::Expand; NameId name; };

// ---- types ----

enum class TypeKind : uint8_t {
  Error, Named, Tensor, Array, List, Set, Map, Stream, Box, Shared, Tuple, Func, Optional, Marked, Open,
};

struct TypeExpr {
  TypeKind kind;
  bool parenthesized = false;
  uint32_t id = 0;
  Place place;
  uint32_t length = 0;
  Span span() const { return {place, length}; }
};

struct ErrorType : TypeExpr { static constexpr TypeKind Kind = TypeKind::Error; };

// `int`, `Block`, `Gpt[V]`, `Random.Generator`: a path of one or two names, and arguments (types or extents).
struct NamedType : TypeExpr {
  static constexpr TypeKind Kind = TypeKind::Named;
  Seq<Name> path;
  bool hasArgs = false;             // `[…]` is written
  Seq<Expr*> args;
};

enum class TensorFamily : uint8_t { Vector, Matrix, Tensor, Simd };
// `vector[N]`, `matrix[R, C] of int32`, `tensor[A, B, C]`, `simd[8] of float32`. Extents: any expression, `?` is a TypeLiteral(Open).
struct TensorType : TypeExpr {
  static constexpr TypeKind Kind = TypeKind::Tensor;
  TensorFamily family = TensorFamily::Vector;
  Seq<Expr*> extents;
  TypeExpr* element = nullptr;      // optional: float32 when left out
};

struct ArrayType : TypeExpr { static constexpr TypeKind Kind = TypeKind::Array; Expr* extent = nullptr; TypeExpr* element = nullptr; };
struct ListType : TypeExpr { static constexpr TypeKind Kind = TypeKind::List; TypeExpr* element = nullptr; };
struct SetType : TypeExpr { static constexpr TypeKind Kind = TypeKind::Set; TypeExpr* element = nullptr; };
struct StreamType : TypeExpr { static constexpr TypeKind Kind = TypeKind::Stream; TypeExpr* element = nullptr; };
struct BoxType : TypeExpr { static constexpr TypeKind Kind = TypeKind::Box; TypeExpr* element = nullptr; };
struct SharedType : TypeExpr { static constexpr TypeKind Kind = TypeKind::Shared; TypeExpr* element = nullptr; };
struct MapType : TypeExpr { static constexpr TypeKind Kind = TypeKind::Map; TypeExpr* key = nullptr; TypeExpr* value = nullptr; };
struct TupleType : TypeExpr { static constexpr TypeKind Kind = TypeKind::Tuple; Seq<TypeExpr*> elements; };   // two or more

// `func(A, inout B): R fails E`
struct FuncType : TypeExpr {
  static constexpr TypeKind Kind = TypeKind::Func;
  struct Parameter { Mode mode = Mode::Read; TypeExpr* type = nullptr; };
  Seq<Parameter> params;
  ResultType result;
  FailsClause fails;
};

struct OptionalType : TypeExpr { static constexpr TypeKind Kind = TypeKind::Optional; TypeExpr* element = nullptr; };

// `tracked T`, `T on gpu`, or both.
struct MarkedType : TypeExpr {
  static constexpr TypeKind Kind = TypeKind::Marked;
  bool tracked = false, onGpu = false;
  TypeExpr* element = nullptr;
};

// `?` as an extent or type argument.
struct OpenType : TypeExpr { static constexpr TypeKind Kind = TypeKind::Open; };

// ---- patterns: of let, for, if let and case ----

enum class PatternKind : uint8_t { Error, Discard, Name, Literal, Range, Case, Tuple };

struct Pattern {
  PatternKind kind;
  uint32_t id = 0;
  Place place;
  uint32_t length = 0;
  Span span() const { return {place, length}; }
};

struct ErrorPattern : Pattern { static constexpr PatternKind Kind = PatternKind::Error; };
struct DiscardPattern : Pattern { static constexpr PatternKind Kind = PatternKind::Discard; };   // `_`

// A new name; in `case` perhaps a case without payload or a constant (names decide).
struct NamePattern : Pattern { static constexpr PatternKind Kind = PatternKind::Name; NameId name; };

// A literal, perhaps negative: Integer, Float, Char, Bool, None, String, or Unary(Neg) of a number.
struct LiteralPattern : Pattern { static constexpr PatternKind Kind = PatternKind::Literal; Expr* value = nullptr; };

// `low .. high`, `low ..< high`: literals or constants.
struct RangePattern : Pattern {
  static constexpr PatternKind Kind = PatternKind::Range;
  bool halfOpen = false;
  Expr* low = nullptr;
  Expr* high = nullptr;
};

// `Object(fields)`, `Shape.Circle(r: radius)`, and every path of two or three names, with or without payload.
struct CasePattern : Pattern {
  static constexpr PatternKind Kind = PatternKind::Case;
  struct Part { Name field; Pattern* pattern = nullptr; };   // field: optional
  Seq<Name> path;
  bool hasParts = false;            // `(…)` is written
  Seq<Part> parts;
};

struct TuplePattern : Pattern { static constexpr PatternKind Kind = PatternKind::Tuple; Seq<Pattern*> elements; };

// ---- statements ----

enum class StmtKind : uint8_t {
  Error, Expr, Local, Const, Assign, If, While, For, Loop, Break, Continue, Return, Fail,
  Match, Assert, Tape, Each, Tasks, Attempt,
};

struct Stmt {
  StmtKind kind;
  uint32_t id = 0;
  Place place;                      // of its first word
  uint32_t length = 0;
  Span span() const { return {place, length}; }
};

struct ErrorStmt : Stmt { static constexpr StmtKind Kind = StmtKind::Error; };
struct ExprStmt : Stmt { static constexpr StmtKind Kind = StmtKind::Expr; Expr* value = nullptr; };

// `let p: T := v`, `let inout x := v`, `var p := v`
struct LocalStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::Local;
  bool isVar = false;
  bool isInout = false;             // `let inout`
  Pattern* pattern = nullptr;       // Name, Discard or Tuple of those
  TypeExpr* type = nullptr;         // optional
  Expr* value = nullptr;
};

struct ConstStmt : Stmt { static constexpr StmtKind Kind = StmtKind::Const; ConstDecl* declaration = nullptr; };

enum class AssignOp : uint8_t { Set, Add, Sub, Mul, Div };   // := += -= *= /=
// `target op value`. The target of `:=` may be a TupleExpr of places and a DiscardExpr.
struct AssignStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::Assign;
  AssignOp op = AssignOp::Set;
  Place opPlace;
  Expr* target = nullptr;
  Expr* value = nullptr;
};

struct IfStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::If;
  struct Branch { Condition condition; Block body; Place place; };   // place: of `if` or `elif`
  Seq<Branch> branches;             // at least one
  bool hasElse = false;
  Block otherwise;
};

struct WhileStmt : Stmt { static constexpr StmtKind Kind = StmtKind::While; Condition condition; Block body; };
struct ForStmt : Stmt { static constexpr StmtKind Kind = StmtKind::For; bool isParallel = false; LoopHead head; Block body; };
struct LoopStmt : Stmt { static constexpr StmtKind Kind = StmtKind::Loop; Block body; };
struct BreakStmt : Stmt { static constexpr StmtKind Kind = StmtKind::Break; };
struct ContinueStmt : Stmt { static constexpr StmtKind Kind = StmtKind::Continue; };
struct ReturnStmt : Stmt { static constexpr StmtKind Kind = StmtKind::Return; Expr* value = nullptr; };   // value: optional
struct FailStmt : Stmt { static constexpr StmtKind Kind = StmtKind::Fail; Expr* value = nullptr; };       // `Singular(column: k)`, `Empty`

struct MatchStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::Match;
  Mode mode = Mode::Read;
  Expr* subject = nullptr;
  Seq<MatchArm> arms;
};

struct AssertStmt : Stmt { static constexpr StmtKind Kind = StmtKind::Assert; Expr* condition = nullptr; Expr* message = nullptr; };  // message: optional
struct TapeStmt : Stmt { static constexpr StmtKind Kind = StmtKind::Tape; Block body; };

// `each p, q at path in a, b do`
struct EachStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::Each;
  Seq<Name> names;                  // as many as records (checked)
  Name path;                        // optional
  Seq<Expr*> records;
  Block body;
};

struct TasksStmt : Stmt { static constexpr StmtKind Kind = StmtKind::Tasks; Expr* limit = nullptr; Block body; };   // limit: optional

// `attempt … recover e: Singular … recover e: any … end`
struct AttemptStmt : Stmt {
  static constexpr StmtKind Kind = StmtKind::Attempt;
  struct Arm { Name name; bool any = false; FailureName failure; Block body; Place place; };   // failure: empty for any
  Block body;
  Seq<Arm> arms;                    // at least one
};

// ---- declarations ----

enum class DeclKind : uint8_t { Import, Const, Type, Func, Failure, Test };

// `@name`, `@name(argument, …)` on a line before a declaration of a system module.
struct Attribute { Name name; Seq<Expr*> args; };

struct Decl {
  DeclKind kind;
  bool isPub = false;
  Place place;                      // of its first word (`pub` included, attributes not)
  uint32_t length = 0;              // up to the end of its last token
  Name name;                        // empty for imports and tests
  Seq<std::string_view> doc;        // the `///` lines before it, without slashes
  Seq<Attribute> attributes;
  Span span() const { return {place, length}; }
};

struct ImportDecl : Decl { static constexpr DeclKind Kind = DeclKind::Import; Seq<Name> modules; };

// A group `const` makes one of these for each constant.
struct ConstDecl : Decl {
  static constexpr DeclKind Kind = DeclKind::Const;
  TypeExpr* type = nullptr;         // optional
  Expr* value = nullptr;
};

// `[T: Ordered and Copyable, N]`
struct GenericParam { Name name; Seq<Name> constraints; };

// A field of a record or of a case's payload; those declared as a group share the type.
struct FieldDecl {
  Name name;
  TypeExpr* type = nullptr;
  Expr* defaultValue = nullptr;     // optional
  Seq<std::string_view> doc;
};
struct CaseDecl {
  Name name;
  bool hasFields = false;           // `(…)` is written
  Seq<FieldDecl> fields;
  Seq<std::string_view> doc;
};

enum class TypeBody : uint8_t { Alias, Record, Choice };
struct TypeDecl : Decl {
  static constexpr DeclKind Kind = DeclKind::Type;
  TypeBody body = TypeBody::Alias;
  Seq<GenericParam> generics;
  TypeExpr* alias = nullptr;        // of an alias
  Seq<FieldDecl> fields;            // of a record
  Seq<CaseDecl> cases;              // of a choice
};

struct FuncDecl : Decl {
  static constexpr DeclKind Kind = DeclKind::Func;
  Seq<GenericParam> generics;
  Seq<Param> params;
  ResultType result;                // type null: no result
  FailsClause fails;
  bool hasBody = true;              // false only in the vocabulary's signatures
  Block body;
  NodeRange nodes;                  // all nodes of the declaration, signature included
};

// `failure Singular(column: int) = "column {column} has no pivot"`
struct FailureDecl : Decl {
  static constexpr DeclKind Kind = DeclKind::Failure;
  Seq<FieldDecl> fields;
  Expr* message = nullptr;          // StringExpr or InterpolationExpr over the fields; null when left out
};

struct TestDecl : Decl {
  static constexpr DeclKind Kind = DeclKind::Test;
  std::string_view title;
  Block body;
  NodeRange nodes;
};

// A parsed file.
struct Module {
  FileId file = 0;
  NameId name;                      // the file's name without folder and `.mica`
  Seq<Decl*> declarations;          // in order
  Block script;                     // the statements at file level of a notebook (ParseMode::Script)
  Seq<std::string_view> doc;        // the `///` lines at the head of the file, when a blank line or an import follows
  NodeRange nodes;
};

// ---- access by kind ----

template <class T, class Node> T* as(Node* node) {
  if (node->kind != T::Kind) internalError("a syntax node is not of the kind that was expected");
  return static_cast<T*>(node);
}
template <class T, class Node> const T* as(const Node* node) { return as<T>(const_cast<Node*>(node)); }
template <class T, class Node> T* tryAs(Node* node) {
  return node && node->kind == T::Kind ? static_cast<T*>(node) : nullptr;
}
template <class T, class Node> const T* tryAs(const Node* node) { return tryAs<T>(const_cast<Node*>(node)); }

}  // namespace mica::ast
