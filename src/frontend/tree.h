// The checked tree: what the checker makes of the syntax, and what ownership, marks and lowering read. Every name is resolved, every
// expression has its type (in terms of the enclosing declaration's own type parameters and extent names), every argument stands in its
// parameter's place, defaults are filled in, literals have their final type, implicit conversions are written out.
//
// A function is checked once. Lowering compiles it for each set of type arguments and marks (see marks.h).
#pragma once
#include <array>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <string_view>
#include <vector>

#include "frontend/types.h"

namespace mica {

namespace vocabulary { struct Row; }
namespace ast { struct Decl; struct Module; }

struct ExprTag; struct StmtTag; struct LocalTag; struct PatternTag;
using ExprId = Id<ExprTag>;        // index into Body::exprs
using StmtId = Id<StmtTag>;
using LocalId = Id<LocalTag>;
using PatternId = Id<PatternTag>;

// ---- expressions ----

enum class ExprKind : uint8_t {
  Error,
  Int, Float, Bool, Char, String, None,   // literals (intValue, floatValue, text)
  Zero,                                   // `{}` and `[]` without elements: the empty value of its type
  Local,                                  // a variable, parameter or named place
  ExtentValue,                            // an extent as an int (`extent`)
  Function,                               // a function as a value (`callee`, `typeArgs`)
  Unary, Binary,                          // scalars, pointers, simd; Eq and Ne on any Equatable type; Lt … on any Ordered
  And, Or, Not,
  Convert,                                // children[0] to `type`; numbers, char/byte; tensors by element (explicit: written by the user).
                                          // Where only extents differ: `?` meets a known extent, checked at run time; the value itself passes through
  Some,                                   // wraps children[0] into the optional `type`
  Call,                                   // callee with children as arguments in the order of its parameters
  CallValue,                              // children[0] is the function value, the rest are arguments
  Builtin,                                // a built-in of the language on `builtin` (Length, Append, Print …)
  Intrinsic,                              // Raw./Simd. of system modules, by `text` ("Raw.Load")
  Vocabulary,                             // a row of the vocabulary, children in the order of the row's parameters (none where left out)
  Field,                                  // children[0].field number `index` (record, tuple, failure payload)
  Element,                                // children[0][rest…]: array, list, string (byte), tensor with all indices
  MapElement,                             // m[k], or m[k, otherwise: v]
  Slice,                                  // children[0] with `subscripts`; tensor, list, array or string
  MakeRecord, MakeChoice, MakeFailure,    // children in field order (`index`: the case of a choice)
  MakeTuple, MakeList, MakeArray, MakeTensor, MakeMap, MakeSet,  // MakeTensor: elements flattened or rows (children are scalars or tensors of rank - 1)
                                          // MakeMap: key, value, key, value, …
  Comprehension,                          // `loop` with the body children[0]; children[1]: the condition, or none
  Interpolation,                          // a string from `parts`
  If,                                     // children: condition, then, else (expressions)
  Match,                                  // children[0]: subject; `arms` whose values are expressions
  Try,                                    // children[0] can fail; passes on or, with `handler`, gives another value
  OrElse,                                 // `try maybe else v` on an optional: children[0], then `handler`
  InRange,                                // children[0] in children[1] .. children[2] (inclusive) or ..< (index = 0)
  InSet,                                  // children[0] in children[1] (set, list, array, map keys)
  Closure,                                // `closure`
  Spawn, Wait,                            // children[0] is the call; Wait: the handle
  Gradient, Detach,                       // children[0]
};

enum class UnaryOp : uint8_t { Negate, BitNot };
enum class BinaryOp : uint8_t { Add, Sub, Mul, Div /* floats */, IntDiv, Mod, Rem, AddWrap, SubWrap, MulWrap, Shl, Shr, BitAnd, BitOr, BitXor,
                                Eq, Ne, Lt, Le, Gt, Ge };

// How a place subscript looks: an index, a range, or all.
struct Subscript { enum class Form : uint8_t { Index, Range, From, Whole } form; ExprId low, high; bool inclusive = false; };

// A part of an interpolated string: literal text or a value with its format.
struct TextPart { std::string text; ExprId value; std::string format; };

// How an extent name of a callee gets its value. For Arguments: (extent - rest) / scale, which must leave no remainder, where `extent` is that of
// argument `argument` (its axis-th extent; of a record or choice: its axis-th extent parameter); rest and scale are in the callee's own names, solved before.
// On Zeros, Ones, Reshape and Fill there is one of these for each extent of the result (Known or Value).
struct ExtentArg {
  enum class From : uint8_t { Arguments, Known, Value } from = From::Arguments;  // solved from the arguments' shapes; known in the caller's names; computed
  ExtentId known;                 // Known
  ExprId value;                   // Value: an int (explicit run-time extents: `Zeros[n, 2]()`)
  uint32_t argument = 0, axis = 0;
  ExtentId scale, rest;
};

// The value after `else` of `try`: an expression, or a statement that leaves (return, break, continue, fail).
struct Handler { ExprId value; StmtId leaves; bool present() const { return value || leaves; } };

enum class Builtin : uint16_t {
#define BUILTIN(name) name,
#include "frontend/builtins.def"
#undef BUILTIN
};

struct Arm { PatternId pattern; ExprId guard; ExprId value; std::vector<StmtId> body; Place place; };   // pattern none: else

// A loop header, shared by `for` and comprehensions.
struct Loop {
  enum class Form : uint8_t { Range, Walk } form = Form::Range;
  bool parallel = false;
  Mode walk = Mode::Read;         // Walk: for, for inout, for move
  LocalId variable;               // the element (or the counter); none for `_`
  LocalId index;                  // `for i, x in xs`; maps: `for (k, v)` has key here and value in variable
  PatternId pattern;              // `for (a, b) in pairs`: takes each element apart
  ExprId low, high, step;         // Range
  bool inclusive = false;
  ExprId source;                  // Walk: list, array, map, set, string views (Chars, Lines), tensor vector, stream
};

struct Capture { LocalId outer, inner; Mode mode; };   // Read and Inout borrow, Move takes over
struct Closure { std::vector<LocalId> params; std::vector<Mode> modes; std::vector<Capture> captures; std::vector<StmtId> body; ExprId value; bool moves = false; };

struct Expr {
  ExprKind kind = ExprKind::Error;
  TypeId type;
  Place place;                    // where to point
  uint32_t length = 0;            // bytes to underline from the start of the expression's text
  Place start;                    // where the expression's text begins
  std::vector<ExprId> children;
  std::vector<Mode> modes;        // Call, CallValue, Builtin: how each child is passed
  int64_t intValue = 0;           // Int, Char, Bool
  double floatValue = 0;          // Float (already rounded to the type)
  std::string text;               // String, Intrinsic
  LocalId local;
  ExtentId extent;
  DeclId callee;
  std::vector<TypeId> typeArgs;
  std::vector<ExtentArg> extentArgs;
  Builtin builtin{};
  const vocabulary::Row* row = nullptr;
  UnaryOp unary{}; BinaryOp binary{};
  uint32_t index = 0;
  bool explicitConversion = false;
  std::vector<Subscript> subscripts;
  std::vector<TextPart> parts;
  std::vector<Arm> arms;
  Handler handler;
  std::unique_ptr<Loop> loop;
  std::unique_ptr<Closure> closure;
};

// ---- patterns ----

enum class PatternKind : uint8_t { Any, Bind, Literal, Range, Tuple, Case, Some, None, Either /* parts: alternatives, which bind nothing */ };
struct Pattern {
  PatternKind kind = PatternKind::Any;
  TypeId type;
  Place place;
  LocalId local;                  // Bind
  ExprId low, high;               // Literal (low), Range (inclusive unless exclusive)
  bool exclusive = false;
  uint32_t index = 0;             // Case: which
  std::vector<PatternId> parts;   // Tuple, Case (in field order), Some
};

// ---- statements ----

enum class StmtKind : uint8_t {
  Error, Expression,
  Declare,                        // `local` := value (var, let; a named place when the local says so); pattern for tuples
  Assign,                         // target := value
  AssignTuple,                    // (a, b) := (c, d): targets, values evaluated first
  Update,                         // target op= value; for lists Append/AppendAll (builtin)
  If, IfLet, While, WhileLet, For, LoopForever, Match, Break, Continue, Return, Fail, Assert,
  Tape, Backward, Each, Attempt, Tasks, Block,
};

struct Recover { LocalId local; TypeId failure; std::vector<StmtId> body; Place place; };   // failure AnyFailure: the rest

// The body of `each` for leaves of one type (unmarked, in the names of the enclosing function). `locals`: one for each record.
struct EachLeaf { TypeId type; std::vector<LocalId> locals; LocalId path; std::vector<StmtId> body; };

struct Stmt {
  StmtKind kind = StmtKind::Error;
  Place place;
  Place end;                      // of blocks: where the `end` stands
  LocalId local;
  PatternId pattern;
  ExprId target, value, second;   // Assert: value, second = the text; Return, Fail: value; IfLet, WhileLet: value;
                                  // Update of a tensor or float: second = `target op value` as one expression (lists, strings: none)
  std::vector<ExprId> targets, values;    // AssignTuple; Each: the records
  BinaryOp binary{};
  Mode mode = Mode::Read;         // IfLet, Match: read, inout, move
  std::vector<StmtId> body, otherwise;    // If: then, else (elif nests)
  std::vector<Arm> arms;
  std::vector<Recover> recovers;
  std::unique_ptr<Loop> loop;
  std::vector<EachLeaf> leaves;   // Each: the body once for each type of leaf, in order of first occurrence
};

struct Local {
  enum class Form : uint8_t { Let, Var, Parameter, NamedRead, NamedInout, LoopRead, LoopInout, LoopMove, Pattern, Capture, Failure } form = Form::Let;
  std::string name;
  TypeId type;
  Place place;
  Mode mode = Mode::Read;         // Parameter; Pattern: of its match
  bool marked = false;            // its declared type was written: marks in it are fixed
  bool leaf = false;              // declared `tracked`
};

struct Body {
  bool whole = true;              // without Error nodes: the stations behind the checker may look at it
  std::deque<Expr> exprs; std::deque<Stmt> stmts; std::deque<Pattern> patterns; std::deque<Local> locals;   // deques: references stay
  std::vector<LocalId> params;
  std::vector<StmtId> statements;
  std::unordered_map<uint32_t, std::vector<uint32_t>> kept;   // targets of assignments inside records with open extents: their extents that must stay
};

// ---- declarations ----

enum class DeclKind : uint8_t { Function, Record, Choice, Failure, Constant, Test };
enum class Constraint : uint8_t { Ordered = 1, Equatable = 2, Hashable = 4, Printable = 8, Number = 16, Copyable = 32, Float = 64 };

struct TypeParam { std::string name; uint8_t constraints = 0; };
struct FieldDecl { std::string name; TypeId type; Place place; bool hasDefault = false; const void* defaultSyntax = nullptr; };
struct CaseDecl { std::string name; std::vector<FieldDecl> fields; Place place; };
struct ParamDecl { std::string name; TypeId type; Mode mode = Mode::Read; bool written = false; bool hasDefault = false; const void* defaultSyntax = nullptr; Place place; };
enum class ResultMode : uint8_t { Value, Read, Inout };

struct Decl {
  DeclKind kind{};
  std::string name;               // PascalCase as written
  std::string module;             // the module's name
  bool exported = false, system = false;
  Place place;
  std::vector<TypeParam> typeParams;
  std::vector<std::string> extentParams;
  // functions
  std::vector<ParamDecl> params;
  TypeId result;                  // Unit for none
  ResultMode resultMode = ResultMode::Value;
  std::vector<TypeId> fails;      // declared failures; AnyFailure: any
  bool fill = false;              // @fill: see Builtin::Fill
  bool inlineAttr = false, noInline = false, cold = false, entry = false; int level = 1; std::string exportName;
  std::unique_ptr<Body> body;     // null until checked (bodies are checked on demand: checker.h)
  // records, failures (payload), choices
  std::vector<FieldDecl> fields;
  std::vector<CaseDecl> cases;
  std::string failureText;        // with the interpolation in `body`: one Return of a string; `params` (the payload fields) and `result` are filled as a function's
  // constants
  TypeId constantType;
  const ast::Decl* syntax = nullptr;
  bool settled = false;           // fields, parameters and result are what they stay
};

class Checker;                    // the checker's own state, kept for bodies that are checked on demand

// What is asked of types again and again (traits.cpp).
enum class Trait : uint8_t { Copies, Equatable, Ordered, Hashable, Printable, Copyable, Count };

struct Program {
  TypeTable types;
  std::deque<Decl> decls;
  DeclId main;
  std::vector<DeclId> tests;
  std::vector<std::string> modules;        // in order of first import, the program's own first
  const Decl& get(DeclId d) const { return decls[d.index]; }
  Decl& get(DeclId d) { return decls[d.index]; }
  std::shared_ptr<Checker> checker;
  enum class TraitAnswer : uint8_t { Unknown, Yes, No };
  mutable std::array<std::vector<TraitAnswer>, size_t(Trait::Count)> traits;   // by type, as far as known
  DeclId find(std::string_view module, std::string_view name) const;   // used by lowering for runtime functions
};

}  // namespace mica
