// Lowers one instance of a function (and the closures inside it). The parts: function.cpp (prologue, scopes), stmt.cpp, expr.cpp, place.cpp,
// call.cpp, builtin.cpp, text.cpp, tensor.cpp, vocabulary.cpp, tape.cpp, intrinsic.cpp, pattern.cpp, closure.cpp.
//
// Three ways to evaluate an expression:
//   scalar(e)      its value, for scalar types
//   into(e, p)     an owned value, written to uninitialised memory at p, for any type
//   borrow(e)      the address of its value: the place itself, or a temporary that is released at the end of the statement
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "lower/lowering.h"

namespace mica::lower {

// What a place looks like to its user.
struct PlaceRef {
  ValueId address;
  bool sliceView = false;      // a tensor struct made for this use: assigning writes through to the elements
};

class FunctionLowering {
 public:
  FunctionLowering(Lowering&, const Instance&, ir::SymbolId);
  void lowerFunction();

 private:
  friend struct ClosureLowering;

  // ---- state ----
  Lowering& l;
  Program& program;
  TypeTable& types;
  const Instance instance;
  const Decl& decl;
  const Body& body;
  const InstanceMarks& marks;
  ir::SymbolId symbol;
  std::string functionName;
  std::unique_ptr<ir::Builder> builder;
  ir::Builder& b() { return *builder; }

  struct LocalState { ValueId address; bool sliceView = false; };
  std::vector<LocalState> locals;
  std::vector<ValueId> extentValues;           // by extent name of the declaration
  ValueId resultAddress;                       // none when the result is a scalar that cannot fail
  TypeId resultType;                           // with marks; of the function or closure being lowered
  ResultMode resultMode = ResultMode::Value;
  bool fails = false;                          // the function being lowered can fail
  int closures = 0;                            // how many were made, for their names

  struct Cleanup {
    enum class Kind : uint8_t { Drop, EndTape, FreeFailure, Call } kind;
    ValueId address;
    TypeId type;
    std::function<void()> emit;                // Call
  };
  std::vector<Cleanup> cleanups;
  struct LoopState { BlockId breakTo, continueTo; size_t depth; };
  std::vector<LoopState> loops;
  struct AttemptState { BlockId dispatch; size_t depth; };   // dispatch has the failure as its parameter
  std::vector<AttemptState> attempts;
  int windows = 0;                             // open windows of this text (0 or 1)

  // ---- function.cpp ----
  void prologue();
  void checkFrame();
  void declareParam(LocalId, Mode, TypeId, ValueId incoming);
  TypeId typeOf(ExprId e) { return fixed(marks.exprs[e.index]); }
  TypeId localType(LocalId x) { return fixed(marks.locals[x.index]); }
  TypeId fixed(TypeId);                        // extent names that this instance knows as constants are put in
  std::vector<ExtentId> knownExtents;          // by extent name: its constant, or the name itself
  bool anyKnown = false;
  const Expr& expr(ExprId e) const { return body.exprs[e.index]; }
  const Stmt& stmt(StmtId s) const { return body.stmts[s.index]; }
  const Local& local(LocalId x) const { return body.locals[x.index]; }
  bool isScalar(TypeId t) const { return l.isScalar(t); }
  void at(Place);
  // The place of what is built while it lives, then again the one before: behind its operands an operation is at its own place.
  struct AtPlace {
    ir::Builder& builder;
    ir::PlaceId before;
    AtPlace(FunctionLowering& f, Place p) : builder(f.b()), before(builder.place()) { f.at(p); }
    ~AtPlace() { builder.setPlace(before); }
    AtPlace(const AtPlace&) = delete;
  };
  ValueId slotFor(TypeId, bool zeroed = false);
  ValueId slotBytes(uint32_t size, uint32_t align = 8);
  void pushDrop(ValueId address, TypeId);
  void emitCleanups(size_t downTo);
  void popCleanups(size_t downTo);             // emits unless the block has ended, and forgets
  template <class F> void scoped(F&& f) { size_t depth = cleanups.size(); f(); popCleanups(depth); }
  ValueId extentValue(ExtentId);               // of known extents, in the declaration's names
  ValueId atomValue(AtomId);
  void failWith(ValueId failure);              // to the attempt around, or out of the function
  void leaveWith(ValueId value);               // `ret` after the cleanups
  void drop(ValueId address, TypeId);
  void copy(ValueId to, ValueId from, TypeId);           // a deep copy into fresh memory
  void moveBytes(ValueId to, ValueId from, TypeId);      // bytes only
  void storeValue(ValueId address, TypeId, ValueId scalar);
  ValueId loadValue(ValueId address, TypeId);
  ValueId header(ir::Type, ValueId address, int64_t offset = 0);     // a word of a tensor's, string's or list's header
  ir::Region regionOf(ir::Type t) const { return t.isFloat() || !decl.system ? ir::Region::Scalar : ir::Region::Any; }   // of scalars in place
  ValueId callRuntime(std::string_view module, std::string_view name, ir::Type result, std::initializer_list<ValueId> args,
                      std::vector<TypeId> typeArgs = {});
  void trapIf(ValueId condition, ir::TrapKind, std::initializer_list<ValueId> details = {});
  ValueId offset(ValueId p, int64_t bytes);
  ValueId null() { return b().emit(Op::Bitcast, ir::Ptr, {b().i64(0)}); }
  ValueId isNull(ValueId p) { return b().icmp(Cond::Eq, p, null()); }

  // ---- stmt.cpp ----
  void statements(const std::vector<StmtId>&);
  void blockOf(const std::vector<StmtId>&);    // with a scope of its own
  void statement(StmtId);
  void declare(const Stmt&);
  void assign(const Stmt&);
  void assignTo(ExprId target, ExprId value);
  void assignTuple(const Stmt&);
  void update(const Stmt&);
  std::optional<bool> sizeCondition(ExprId);
  void ifStatement(const Stmt&);
  void ifLet(const Stmt&);
  void whileStatement(const Stmt&);
  void whileLet(const Stmt&);
  void forStatement(const Stmt&);
  void loopForever(const Stmt&);
  void matchStatement(const Stmt&);
  void returnStatement(const Stmt&);
  void failStatement(const Stmt&);
  void assertStatement(const Stmt&);
  void attempt(const Stmt&);
  void runLoop(const Loop&, const std::function<void()>& body);
  void rangeLoop(const Loop&, const std::function<void()>& body);
  void walkLoop(const Loop&, const std::function<void()>& body);
  void walkSequence(const Loop&, const std::function<void()>& body);
  void walkMap(const Loop&, const std::function<void()>& body);
  void walkChars(const Loop&, const std::function<void()>& body);
  void walkLines(const Loop&, const std::function<void()>& body);
  void walkText(const Loop&, const std::function<ValueId()>& more, const std::function<void()>& bind, const std::function<void()>& body);
  void walkVector(const Loop&, const std::function<void()>& body);
  void countedLoop(ValueId count, const std::function<void(ValueId i)>& body);
  void bindElement(const Loop&, ValueId address, TypeId element);
  void setScalarLocal(LocalId, ValueId value);
  void bindOptionalPart(const Stmt&, ValueId optionalAddress, TypeId optionalType, Mode);

  // ---- expr.cpp ----
  ValueId scalar(ExprId);
  void into(ExprId, ValueId dest);
  void putInto(ValueId map, const Type& type, ValueId key, ExprId value);
  void recordExtents(const Expr&, const Type&, const std::vector<uint32_t>& offsets, ValueId dest);
  bool passesOn(ExprId) const;                      // an implicit conversion of extents alone
  ValueId borrow(ExprId);
  void evaluate(ExprId);                       // for its effects; the result is released
  ValueId condition(ExprId);                   // a bool, its temporaries released
  ValueId binary(const Expr&, TypeId operand, ValueId x, ValueId y);
  ValueId arithmetic(BinaryOp, TypeId, ValueId x, ValueId y);
  ValueId compare(BinaryOp, TypeId, ExprId left, ExprId right);
  ValueId compareScalars(BinaryOp, TypeId, ValueId x, ValueId y);
  ValueId floorMod(TypeId, ValueId x, ValueId y);
  ValueId convertScalar(ValueId, TypeId from, TypeId to, bool explicitly);
  void ifInto(const Expr&, TypeId, ValueId dest);
  ValueId ifScalar(const Expr&, TypeId);
  ValueId shortCircuit(const Expr&);
  void matchInto(const Expr&, TypeId, ValueId dest);
  void intoParts(const Expr&, const std::function<uint32_t(uint32_t)>& offsetOf, const std::function<TypeId(uint32_t)>& wanted, ValueId dest);
  void makeList(const Expr&, TypeId, ValueId dest);
  void comprehension(ExprId, TypeId, ValueId dest);
  void tryInto(ExprId, const Expr&, TypeId, ValueId dest);     // dest none: the result is not wanted
  void orElseInto(const Expr&, TypeId, ValueId dest);
  void handler(const Handler&, TypeId, ValueId dest);
  ValueId viaMemory(TypeId, const std::function<void(ValueId dest)>&);   // a scalar made by code that writes to memory
  ValueId inRange(const Expr&);
  void makeFailureBlock(ExprId, ValueId* block);
  bool isPlace(ExprId) const;
  bool endsBlock() { return b().terminated(); }

  // ---- place.cpp ----
  PlaceRef place(ExprId, bool forChanging);
  bool isTensorView(ExprId);
  ValueId elementAddress(const Expr&, bool forChanging);
  ValueId index(ExprId);                       // as i64; out of int64 (uint64 above) traps by the bounds check
  void boundsCheck(ValueId i, ValueId length);
  struct SliceShape { ValueId base, data; std::vector<ValueId> extents, strides; TypeId element; bool lastKept = false; };
  SliceShape sliceShape(const Expr&, bool forChanging);
  ValueId stridesInMemory(const SliceShape&);
  void sliceInto(const Expr&, ValueId dest, bool forChanging);
  void recordedSliceInto(const Expr&, ValueId dest);
  void recordSlice(const SliceShape&, TypeId source, ValueId dest);
  void sliceSequence(const Expr&, TypeId sourceType, ValueId dest, bool forChanging);

  // ---- call.cpp ----
  void callInto(ExprId, ValueId dest);                    // no failure, or inside `try`
  ValueId callScalar(ExprId);
  ValueId callPlace(ExprId);                              // read/inout results
  bool answersOptionalPlace(ExprId);
  ValueId optionalPlace(ExprId);
  ValueId optionalView(ValueId address, TypeId optional);
  ValueId lastFailure;                                    // of a built-in that can fail
  ValueId emitCall(ExprId, ValueId dest, bool* failing);  // answers the IR result (failure, scalar, place, or none)
  struct Argument { ValueId value; };
  ValueId argument(ExprId, Mode, TypeId param);
  ValueId changedArgument(PlaceRef, TypeId, TypeId param);
  std::vector<std::function<void()>> writeBacks;          // of inout arguments that the callee gets in a slot: what is done behind the call
  void finishWriteBacks(size_t from);
  std::vector<ValueId> arguments(const Expr&, uint32_t first, const std::vector<Mode>&, const std::vector<TypeId>& params);
  std::vector<uint32_t> textOrder(const Expr&) const;     // the children's numbers in the order of the text: named ones may stand anywhere
  std::vector<ValueId> hiddenExtents(const Expr&, const Decl& callee, const Instance& target, const std::vector<ValueId>& argumentValues);
  ValueId solveExtent(const Expr&, const Decl&, uint32_t name, const std::vector<ValueId>& argumentValues, std::vector<ValueId>& solved);
  void checkArgumentShapes(const Expr&, const Decl&, const std::vector<ValueId>& argumentValues, const std::vector<ValueId>& solved);
  ValueId calleeExtent(ExtentId, const std::vector<ValueId>& solved);
  void callValue(const Expr&, ValueId dest, ValueId* result, bool* failing);
  void functionValue(const Expr&, TypeId, bool windowAt, ValueId dest);
  void closureInto(ExprId, TypeId, ValueId dest);

  // ---- builtin.cpp ----
  ValueId builtinScalar(ExprId);
  void builtinInto(ExprId, ValueId dest);
  bool builtinAnswersPlace(const Expr&) const;
  ValueId builtinPlace(ExprId);
  ValueId lengthOf(ExprId);
  void replaceInto(const Expr&, ValueId dest);
  void swapPlaces(const Expr&);
  void put(PlaceRef, ValueId value, TypeId);
  void sortList(const Expr&);
  void modelBuiltinInto(ExprId, ValueId dest);            // over records and the tape: tape.cpp
  void reshapeInto(ExprId, ValueId dest);
  void fillInto(ExprId, ValueId dest);
  void concatInto(ExprId, ValueId dest);
  void repeatInto(ExprId, ValueId dest);

  // ---- text.cpp ----
  void interpolate(const Expr&, ValueId dest);
  void appendValue(ValueId text, ExprId value, const std::string& format);
  void printStatement(const Expr&);
  void stringLiteral(const std::string&, ValueId dest);

  // ---- tensor.cpp ----
  ValueId extentOf(ValueId tensorAddress, TypeId, unsigned k);       // known extents are computed, the rest is loaded
  ValueId countOf(ValueId tensorAddress, TypeId);
  std::vector<ValueId> shapeOf(ValueId tensorAddress, TypeId);
  void makeTensor(ValueId dest, TypeId element, const std::vector<ValueId>& extents, bool zeroed);
  void fillStruct(ValueId dest, ValueId data, ValueId owner, const std::vector<ValueId>& extents);
  ValueId contiguous(ValueId tensorAddress, TypeId);                 // the same or a copy that is released with the statement
  void makeTensorLiteral(const Expr&, TypeId, ValueId dest);
  void zerosInto(ExprId, const Expr&, TypeId, ValueId dest, bool ones);
  void copyElements(ValueId toStruct, ValueId fromStruct, TypeId to, TypeId from);   // element by element, any strides
  void convertTensor(ExprId, TypeId, ValueId dest);

  // ---- relayout.cpp ----
  ValueId borrowAs(ExprId, TypeId want);
  void intoAs(ExprId, TypeId want, ValueId dest);
  void layOut(ValueId to, TypeId want, ValueId from, TypeId have);
  void layOutElements(ValueId to, TypeId want, ValueId from, TypeId have, ValueId count);
  void layOutEntries(ValueId to, const Type& want, ValueId from, TypeId have);

  // ---- shapes.cpp ----
  using Meeting = std::pair<ValueId, ValueId>;             // two extents that must be equal
  void checkMeeting(const std::string& words, const std::vector<ValueId>& first, const std::vector<ValueId>& second, const std::vector<Meeting>&);
  std::vector<ValueId> shownExtents(ValueId address, TypeId);
  void checkShape(ValueId address, TypeId from, TypeId to);          // where open extents of a value meet known ones of its place
  void checkKept(ExprId target, ValueId address, ValueId value);
  void checkDeclared(const std::string& what, TypeId declared, TypeId actual, ValueId address, const std::vector<ValueId>& solved);

  // ---- vocabulary.cpp ----
  void vocabularyInto(ExprId, ValueId dest);
  ValueId vocabularyScalar(ExprId);
  void rowInto(const vocabulary::Row&, const std::vector<ExprId>& operands, TypeId result, bool recorded, Place, ValueId dest);
  bool recordedAt(ExprId e) const { return !marks.recorded.empty() && marks.recorded[e.index]; }

  // ---- tape.cpp ----
  // Records walked side by side: `leaf` gets one address per record for each tracked tensor or float, `other` for each other field.
  struct PathPart { std::string text; ValueId index; };        // text, or a number known at run time
  using Path = std::vector<PathPart>;
  using Visit = std::function<void(const std::vector<ValueId>& addresses, TypeId, const Path&)>;
  void walk(const std::vector<ValueId>& records, TypeId, const Visit& leaf, const Visit& other, const Path&);
  ValueId pathText(const Path&);               // a string that is released with the statement
  void gradientValue(ValueId dest, ValueId from, TypeId);
  void zerosLikeValue(ValueId dest, ValueId from, TypeId);
  void recordLike(ValueId dest, ValueId from, TypeId, const Visit& leaf);
  void carryEntry(ValueId newAddress, ValueId oldAddress, TypeId);
  void checkChange(ValueId structAddress);     // a tensor is about to change in place
  bool inWindow() const { return windows > 0 || instance.window; }
  void accumulate(const Expr&);
  void joinLastTwo(ValueId list, TypeId element);
  void clipByNorm(const Expr&, ValueId dest);
  void saveCheckpoint(const Expr&);
  void loadCheckpoint(ExprId, const Expr&, ValueId dest);
  void saveField(ValueId writer, ValueId address, TypeId, const Path&);
  struct Loading { const Expr& call; ValueId reader, failureSlot; BlockId failed; };
  void loadRecord(const Loading&, ValueId address, TypeId, TypeId written, const Path&);
  void loadValue(const Loading&, ValueId address, TypeId, TypeId written, const Path&);
  bool findShape(TypeId written, ExtentId name, Path&, TypeId& tensor, size_t& axis);
  void leaveWhenFailed(const Loading&, ValueId failure);
  std::vector<std::pair<DeclId, ValueId>> namesIn;   // the records that are being read: what their extent names are lies in their hidden words
  std::vector<ExprId> windowGradients;         // the operands of Gradient in the window's text
  void tapeStatement(const Stmt&);
  void backward(const Stmt&);
  void each(const Stmt&);
  void gradientInto(ExprId, ValueId dest);
  void detachInto(ExprId, ValueId dest);
  void trackedScalarInto(ExprId, ValueId dest);

  // ---- intrinsic.cpp ----
  ValueId intrinsicScalar(ExprId);
  void intrinsicInto(ExprId, ValueId dest);
  ValueId intrinsicPlace(ExprId);
  bool intrinsicAnswersPlace(const Expr&) const;
  TypeId typeArg(const Expr&, size_t k);
  ValueId functionAddress(ExprId);

  // ---- pattern.cpp ----
  // Branches to `otherwise` when the value at `address` does not match; binds the names when it does.
  void matchPattern(PatternId, ValueId address, TypeId, Mode, BlockId otherwise);
  void bindPattern(PatternId, ValueId address, TypeId, Mode);
  void takeParts(PatternId, ValueId address, TypeId);
  void matchArms(const std::vector<Arm>&, ValueId address, TypeId, Mode, const std::function<void(const Arm&)>& body);
};

}  // namespace mica::lower
