// Calls: which instance, the hidden extents, arguments by value or address, failures, and function values.
#include <algorithm>

#include "lower/function.h"

namespace mica::lower {

// An argument as the callee wants it: a scalar, or the address of a place, a borrowed value, or a value to take over.
ValueId FunctionLowering::argument(ExprId id, Mode mode, TypeId param) {
  TypeId t = typeOf(id);
  if (mode == Mode::Inout) return changedArgument(place(id, true), t, param);
  if (isScalar(param)) {
    if (l.isTrackedFloat(t)) return b().load(l.irType(types.unmarked(t)), borrow(id));
    return scalar(id);
  }
  if (mode == Mode::Read) return borrowAs(id, param);
  TypeId as = l.laidOutAlike(t, param) ? t : param;
  ValueId slot = slotFor(as);
  intoAs(id, as, slot);
  return slot;
}

// The address of a place that the callee changes. Where it lies otherwise than the callee takes it, the callee gets it in a slot, and what it
// leaves there goes back behind the call.
ValueId FunctionLowering::changedArgument(PlaceRef p, TypeId t, TypeId param) {
  if (p.sliceView && l.get(t).kind == Kind::Tensor) {
    ValueId original = slotFor(t), view = slotFor(t);
    moveBytes(original, p.address, t);
    moveBytes(view, p.address, t);
    b().store(null(), view, tensor::Owner);
    writeBacks.push_back([=, this] {            // when the callee has put another tensor there, its elements are copied to where the slice lies
      ValueId now = b().load(ir::Ptr, view, tensor::Data), before = b().load(ir::Ptr, original, tensor::Data);
      BlockId changed = b().createBlock(), done = b().createBlock();
      b().brIf(b().icmp(Cond::Ne, now, before), changed, done);
      b().setBlock(changed);
      copyElements(original, view, t, t);
      drop(view, t);
      b().br(done);
      b().setBlock(done);
    });
    return view;
  }
  if (l.laidOutAlike(t, param)) return p.address;
  ValueId slot = slotFor(param);
  layOut(slot, param, p.address, t);
  writeBacks.push_back([=, this] { layOut(p.address, t, slot, param); });
  return slot;
}

void FunctionLowering::finishWriteBacks(size_t from) {
  for (size_t k = from; k < writeBacks.size(); k++) writeBacks[k]();
  writeBacks.resize(from);
}

// ---- hidden extents (rules.md, 7): known extents of the arguments first, then run-time ones; the rest is checked ----

namespace {

// Is the extent just one name of the declaration? Answers which.
bool isName(TypeTable& types, ExtentId e, DeclId decl, uint32_t* index) {
  const Extent x = types.get(e);
  if (x.open || x.terms.size() != 1 || x.terms[0].coefficient != 1 || x.terms[0].atoms.size() != 1) return false;
  const Atom a = types.get(x.terms[0].atoms[0]);
  if (a.form != Atom::Form::Name || a.decl != decl) return false;
  *index = a.index;
  return true;
}

}  // namespace

// The value of an extent written in the callee's names. Answers none while a name in it is still unknown.
ValueId FunctionLowering::calleeExtent(ExtentId e, const std::vector<ValueId>& solved) {
  int64_t n;
  if (types.isConstant(e, &n)) return b().i64(n);
  const Extent x = types.get(e);
  if (x.open) return {};
  ValueId sum;
  for (const Monomial& m : x.terms) {
    ValueId product = b().i64(m.coefficient);
    for (AtomId id : m.atoms) {
      const Atom a = types.get(id);
      ValueId v;
      if (a.form == Atom::Form::Name) {
        if (a.index >= solved.size() || !solved[a.index]) return {};
        v = solved[a.index];
      } else {
        ValueId left = calleeExtent(a.left, solved), right = calleeExtent(a.right, solved);
        if (!left || !right) return {};
        v = a.form == Atom::Form::Div ? b().binary(Op::SDivT, left, right)
          : a.form == Atom::Form::Mod ? floorMod(types.scalar(Kind::Int64), left, right)
          : b().binary(a.form == Atom::Form::Min ? Op::IMinS : Op::IMaxS, left, right);
      }
      product = b().binary(Op::SMulT, product, v);
    }
    sum = sum ? b().binary(Op::SAddT, sum, product) : product;
  }
  return sum ? sum : b().i64(0);
}

std::vector<ValueId> FunctionLowering::hiddenExtents(const Expr& e, const Decl& callee, const Instance& target, const std::vector<ValueId>& values) {
  std::vector<ValueId> solved(callee.extentParams.size());
  for (uint32_t k = 0; k < solved.size(); k++) {
    if (k < target.extents.size() && target.extents[k] >= 0) { solved[k] = b().i64(target.extents[k]); continue; }
    if (k >= e.extentArgs.size()) continue;
    const ExtentArg& x = e.extentArgs[k];
    if (x.from == ExtentArg::From::Known && !types.isOpen(x.known)) solved[k] = extentValue(x.known);
    if (x.from == ExtentArg::From::Value) solved[k] = index(x.value);
  }
  for (uint32_t k = 0; k < solved.size(); k++) if (!solved[k]) solved[k] = solveExtent(e, callee, k, values, solved);
  for (ValueId& v : solved) if (!v) v = b().i64(0);             // a name that no argument shows and the body cannot need
  checkArgumentShapes(e, callee, values, solved);
  return solved;
}

namespace {

// Visits every extent of a tensor or record type together with where its run-time value lies in the argument.
template <class F> void eachExtent(const Type& param, F&& visit) {
  if (param.kind == Kind::Tensor)
    for (unsigned d = 0; d < param.extents.size(); d++) visit(param.extents[d], d, tensor::Extents + 8 * int(d));
  else if (param.kind == Kind::Record)
    for (unsigned d = 0; d < param.extents.size(); d++) visit(param.extents[d], d, 8 * int(d));
}

}  // namespace

// First an argument whose shape is just the name; then an expression with this one unknown, solved without remainder.
ValueId FunctionLowering::solveExtent(const Expr& e, const Decl& callee, uint32_t name, const std::vector<ValueId>& values,
                                      std::vector<ValueId>& solved) {
  ValueId found;
  for (int pass = 0; pass < 3 && !found; pass++) {              // known in the caller; at run time; expressions
    for (size_t k = 0; k < callee.params.size() && k < e.children.size() && !found; k++) {
      if (!e.children[k]) continue;
      const Type param = l.get(callee.params[k].type), argType = l.get(typeOf(e.children[k]));
      eachExtent(param, [&](ExtentId x, unsigned d, int at) {
        uint32_t which = 0;
        if (found || d >= argType.extents.size()) return;
        bool known = !types.isOpen(argType.extents[d]);
        if (pass < 2) {
          if (!isName(types, x, e.callee, &which) || which != name || (pass == 0) != known) return;
          found = known ? extentValue(argType.extents[d]) : b().load(ir::I64, values[k], at);
          return;
        }
        // c0 + c1 * name: subtract what is known, divide
        const Extent poly = types.get(x);
        if (poly.open) return;
        ValueId rest = b().i64(0), factor;
        for (const Monomial& m : poly.terms) {
          bool mentions = false;
          ValueId product = b().i64(m.coefficient);
          for (AtomId id : m.atoms) {
            const Atom a = types.get(id);
            if (a.form != Atom::Form::Name) return;
            if (a.index == name && !mentions) { mentions = true; continue; }
            if (a.index >= solved.size() || !solved[a.index]) return;
            product = b().binary(Op::SMulT, product, solved[a.index]);
          }
          if (!mentions) rest = b().binary(Op::SAddT, rest, product);
          else if (factor) return;
          else factor = product;
        }
        if (!factor) return;
        ValueId whole = known ? extentValue(argType.extents[d]) : b().load(ir::I64, values[k], at);
        ValueId left = b().binary(Op::SSubT, whole, rest);
        ValueId q = b().binary(Op::SDivT, left, factor);
        checkMeeting("the extent # is no multiple of #", {whole}, {factor}, {{b().imul(q, factor), left}});
        found = q;
      });
    }
  }
  return found;
}

// What the checker could not prove: extents that are open in the argument against what the parameter says.
void FunctionLowering::checkArgumentShapes(const Expr& e, const Decl& callee, const std::vector<ValueId>& values, const std::vector<ValueId>& solved) {
  for (size_t k = 0; k < callee.params.size() && k < e.children.size(); k++)
    if (e.children[k]) checkDeclared(callee.params[k].name, callee.params[k].type, typeOf(e.children[k]), values[k], solved);
}

// ---- calls ----

// Defaults stand in a declaration and keep their turn.
std::vector<uint32_t> FunctionLowering::textOrder(const Expr& e) const {
  std::vector<uint32_t> order, written;
  for (uint32_t k = 0; k < e.children.size(); k++) {
    order.push_back(k);
    if (!e.children[k]) continue;
    const Place p = expr(e.children[k]).start;
    if (p.file == e.start.file && std::pair(p.line, p.column) > std::pair(e.start.line, e.start.column)) written.push_back(k);
  }
  std::vector<uint32_t> sorted = written;
  std::stable_sort(sorted.begin(), sorted.end(), [&](uint32_t a, uint32_t b) {
    const Place x = expr(e.children[a]).start, y = expr(e.children[b]).start;
    return std::pair(x.line, x.column) < std::pair(y.line, y.column);
  });
  for (size_t k = 0; k < written.size(); k++) order[written[k]] = sorted[k];
  return order;
}

// The children from `first` on, as parameters of these modes and types. Whole variables move after all the others have been evaluated, so that one
// that fails finds them where they were; fresh values that wait are released when a later one leaves.
std::vector<ValueId> FunctionLowering::arguments(const Expr& e, uint32_t first, const std::vector<Mode>& modes, const std::vector<TypeId>& params) {
  std::vector<ValueId> values(e.children.size() - first);
  std::vector<uint32_t> moving;
  std::vector<size_t> waiting;
  for (uint32_t k : textOrder(e)) {
    if (k < first) continue;
    Mode mode = modes[k - first];
    TypeId param = params[k - first];
    bool takes = mode == Mode::Move && l.owns(param);
    if (takes && expr(e.children[k]).kind == ExprKind::Local) { moving.push_back(k); continue; }
    values[k - first] = argument(e.children[k], mode, param);
    if (!takes || endsBlock()) continue;
    waiting.push_back(cleanups.size());
    pushDrop(values[k - first], param);
  }
  for (uint32_t k : moving) values[k - first] = argument(e.children[k], Mode::Move, params[k - first]);
  for (size_t k = waiting.size(); k > 0; k--) cleanups.erase(cleanups.begin() + long(waiting[k - 1]));   // from here on they are the callee's
  return values;
}

ValueId FunctionLowering::emitCall(ExprId id, ValueId dest, bool* failing) {
  const Expr& e = expr(id);
  if (e.kind == ExprKind::Builtin) {                            // built-ins that can fail are library functions
    builtinInto(id, dest);
    return lastFailure;
  }
  Instance target = marks.exprs.empty() ? Instance() : l.calleeOf(instance, id, body, knownExtents);
  const Decl& callee = program.get(target.decl);
  *failing = l.canFail(callee);
  const InstanceMarks& calleeMarks = l.marks.of(target);
  TypeId resultT = l.fixExtents(calleeMarks.result, target);
  if (l.get(resultT).kind == Kind::Simd) resultT = typeOf(id);   // whose lanes are known here
  size_t backs = writeBacks.size();
  std::vector<Mode> modes;
  for (const ParamDecl& p : callee.params) modes.push_back(p.mode);
  std::vector<ValueId> values = arguments(e, 0, modes, target.params);
  at(e.place);
  std::vector<ValueId> hidden = hiddenExtents(e, callee, target, values);
  std::vector<ValueId> args;
  bool viaAddress = callee.resultMode == ResultMode::Value && !l.isUnit(resultT) && (*failing || !isScalar(resultT));
  if (viaAddress) args.push_back(dest ? dest : slotFor(resultT));
  for (uint32_t k = 0; k < hidden.size(); k++)
    if (!(k < target.extents.size() && target.extents[k] >= 0)) args.push_back(hidden[k]);
  args.insert(args.end(), values.begin(), values.end());
  ir::Type result = callee.resultMode != ResultMode::Value || *failing ? ir::Ptr : viaAddress ? ir::Void : l.irType(resultT);
  ValueId answer = b().call(l.instanceSymbol(target), result, args);
  finishWriteBacks(backs);
  if (l.get(resultT).kind == Kind::Never && !*failing && !endsBlock()) b().unreachable();
  return answer;
}

void FunctionLowering::callInto(ExprId id, ValueId dest) {
  bool failing = false;
  ValueId v = emitCall(id, dest, &failing);
  (void)v;
}

ValueId FunctionLowering::callScalar(ExprId id) {
  bool failing = false;
  return emitCall(id, {}, &failing);
}

ValueId FunctionLowering::callPlace(ExprId id) {
  bool failing = false;
  return emitCall(id, {}, &failing);
}

// A call through a function value: code(result address?, environment, arguments).
void FunctionLowering::callValue(const Expr& e, ValueId dest, ValueId* result, bool* failing) {
  TypeId functionType = typeOf(e.children[0]);
  const Type f = l.get(functionType);
  *failing = !f.fails.empty();
  ValueId pair = borrow(e.children[0]);
  size_t backs = writeBacks.size();
  std::vector<ValueId> values = arguments(e, 1, f.modes, f.args);
  at(e.place);
  for (size_t k = 0; k < values.size(); k++) checkShape(values[k], typeOf(e.children[k + 1]), f.args[k]);
  bool viaAddress = !l.isUnit(f.result) && (*failing || !isScalar(f.result));
  std::vector<ValueId> args;
  if (viaAddress) args.push_back(dest ? dest : slotFor(f.result));
  args.push_back(b().load(ir::Ptr, pair, 8));
  args.insert(args.end(), values.begin(), values.end());
  *result = b().callInd(b().load(ir::Ptr, pair), *failing ? ir::Ptr : viaAddress ? ir::Void : l.irType(f.result), args);
  finishWriteBacks(backs);
}

}  // namespace mica::lower
