// Expressions: scalars by value, everything else written to memory or borrowed by address.
#include <algorithm>
#include <cstring>

#include "lower/function.h"

namespace mica::lower {

namespace {

bool isSignedKind(Kind k) { return k >= Kind::Int8 && k <= Kind::Int64; }
bool isFloatKind(Kind k) { return k == Kind::Float32 || k == Kind::Float64; }

}  // namespace

// Is it a variable, or a part of one: something that has an address already.
bool FunctionLowering::isPlace(ExprId e) const {
  const Expr& x = expr(e);
  switch (x.kind) {
    case ExprKind::Local: return true;
    case ExprKind::Element: case ExprKind::Slice: return !recordedAt(e);    // recorded: a value with an entry of its own
    case ExprKind::Field: case ExprKind::MapElement: return true;
    case ExprKind::Call: return program.get(x.callee).resultMode != ResultMode::Value;
    case ExprKind::Builtin: return builtinAnswersPlace(x);
    case ExprKind::Intrinsic: return intrinsicAnswersPlace(x);
    default: return false;
  }
}

ValueId FunctionLowering::viaMemory(TypeId t, const std::function<void(ValueId)>& write) {
  ValueId slot = slotFor(t);
  write(slot);
  return loadValue(slot, t);
}

ValueId FunctionLowering::scalar(ExprId id) {
  const Expr& e = expr(id);
  TypeId t = typeOf(id);
  AtPlace here(*this, e.place);
  if (l.isTrackedFloat(t) && !isPlace(id)) {    // its value alone
    ValueId pair = slotFor(t);
    into(id, pair);
    return b().load(l.irType(t), pair);
  }
  switch (e.kind) {
    case ExprKind::Int: case ExprKind::Char: case ExprKind::Bool: {
      ir::Type s = l.irType(t);
      return s.isFloat() ? b().fconst(s, double(e.intValue)) : s.isPtr() ? b().emit(Op::Bitcast, ir::Ptr, {b().i64(e.intValue)}) : b().iconst(s, e.intValue);
    }
    case ExprKind::Float: return b().fconst(l.irType(t), e.floatValue);
    case ExprKind::Zero: return b().iconst(l.irType(t), 0);
    case ExprKind::ExtentValue: return extentValue(e.extent);
    case ExprKind::Unary: {
      ValueId x = scalar(e.children[0]);
      ir::Type s = l.irType(t);
      if (e.unary == UnaryOp::BitNot) return b().xor_(x, b().iconst(s, -1));
      if (s.isFloat()) return b().fneg(x);
      ValueId zero = b().iconst(s, 0);
      if (l.options.release || s.isVector()) return b().isub(zero, x);
      return b().binary(isSignedKind(l.get(t).kind) ? Op::SSubT : Op::USubT, zero, x);
    }
    case ExprKind::Binary: {
      TypeId operand = typeOf(e.children[0]);
      if (e.binary >= BinaryOp::Eq) return compare(e.binary, operand, e.children[0], e.children[1]);
      ValueId x = scalar(e.children[0]), y = scalar(e.children[1]);
      at(e.place);
      return binary(e, operand, x, y);
    }
    case ExprKind::And: case ExprKind::Or: return shortCircuit(e);
    case ExprKind::Not: return b().not_(scalar(e.children[0]));
    case ExprKind::Convert: {
      TypeId from = typeOf(e.children[0]);
      if (l.isTrackedFloat(from)) {
        TypeId plain = types.unmarked(from);
        ValueId x = b().load(l.irType(plain), borrow(e.children[0]));
        return convertScalar(x, plain, t, e.explicitConversion);
      }
      ValueId x = scalar(e.children[0]);
      at(e.place);
      return convertScalar(x, from, t, e.explicitConversion);
    }
    case ExprKind::InRange: return inRange(e);
    case ExprKind::InSet: {
      const Type container = l.get(typeOf(e.children[1]));
      ValueId key = container.kind == Kind::String ? borrow(e.children[0]) : borrowAs(e.children[0], container.kind == Kind::Map ? container.key : container.element);
      ValueId where = borrow(e.children[1]);
      if (container.kind == Kind::Map) return callRuntime("Maps", "Contains", ir::I1, {where, key}, {container.key, container.element});
      if (container.kind == Kind::Set) return callRuntime("Sets", "Contains", ir::I1, {where, key}, {container.element});
      if (container.kind == Kind::String) return callRuntime("Text", "Contains", ir::I1, {where, key});
      ValueId view = where;
      if (container.kind == Kind::Array) {
        view = slotBytes(sequence::Bytes);
        int64_t n = 0;
        types.isConstant(container.extents[0], &n);
        b().store(where, view); b().store(b().i64(n), view, sequence::Length); b().store(b().i64(0), view, sequence::Capacity);
      }
      return callRuntime("Lists", "Contains", ir::I1, {view, key}, {container.element});
    }
    case ExprKind::If: return ifScalar(e, t);
    case ExprKind::Match: return viaMemory(t, [&](ValueId d) { matchInto(e, t, d); });
    case ExprKind::Call: return isPlace(id) ? loadValue(callPlace(id), t) : callScalar(id);
    case ExprKind::CallValue: {
      ValueId result;
      bool failing = false;
      callValue(e, {}, &result, &failing);
      return result;
    }
    case ExprKind::Builtin: return builtinAnswersPlace(e) ? loadValue(builtinPlace(id), t) : builtinScalar(id);
    case ExprKind::Intrinsic: return intrinsicAnswersPlace(e) ? loadValue(intrinsicPlace(id), t) : intrinsicScalar(id);
    case ExprKind::Vocabulary: return vocabularyScalar(id);
    case ExprKind::Try: return viaMemory(t, [&](ValueId d) { tryInto(id, e, t, d); });
    case ExprKind::OrElse: return viaMemory(t, [&](ValueId d) { orElseInto(e, t, d); });
    case ExprKind::Local: case ExprKind::Field: case ExprKind::Element: case ExprKind::MapElement: {
      // A part of something fresh lives as long as the statement; a string's byte and the like are loaded from the place.
      return loadValue(place(id, false).address, t);
    }
    case ExprKind::Gradient: return viaMemory(t, [&](ValueId d) { gradientInto(id, d); });
    case ExprKind::Detach: {
      TypeId from = typeOf(e.children[0]);
      if (l.isTrackedFloat(from)) return b().load(l.irType(t), borrow(e.children[0]));
      return scalar(e.children[0]);
    }
    default: internalError("an expression of kind " + std::to_string(int(e.kind)) + " has no scalar value");
  }
}

ValueId FunctionLowering::shortCircuit(const Expr& e) {
  bool isAnd = e.kind == ExprKind::And;
  BlockId right = b().createBlock(), done = b().createBlock({ir::I1});
  ValueId x = scalar(e.children[0]);
  ValueId known[] = {b().iconst(ir::I1, isAnd ? 0 : 1)};
  if (isAnd) b().brIf(x, right, {}, done, known);
  else b().brIf(x, done, known, right, {});
  b().setBlock(right);
  ValueId y = condition(e.children[1]);
  b().br(done, {y});
  b().setBlock(done);
  return b().param(done, 0);
}

ValueId FunctionLowering::condition(ExprId e) {
  size_t depth = cleanups.size();
  ValueId v = scalar(e);
  popCleanups(depth);
  return v;
}

ValueId FunctionLowering::ifScalar(const Expr& e, TypeId t) {
  BlockId yes = b().createBlock(), no = b().createBlock(), done = b().createBlock({l.irType(t)});
  b().brIf(condition(e.children[0]), yes, no);
  for (int k = 0; k < 2; k++) {
    b().setBlock(k == 0 ? yes : no);
    size_t depth = cleanups.size();
    ValueId v = scalar(e.children[1 + k]);
    popCleanups(depth);
    b().br(done, {v});
  }
  b().setBlock(done);
  return b().param(done, 0);
}

void FunctionLowering::ifInto(const Expr& e, TypeId t, ValueId dest) {
  BlockId yes = b().createBlock(), no = b().createBlock(), done = b().createBlock();
  b().brIf(condition(e.children[0]), yes, no);
  for (int k = 0; k < 2; k++) {
    b().setBlock(k == 0 ? yes : no);
    size_t depth = cleanups.size();
    intoAs(e.children[1 + k], t, dest);
    popCleanups(depth);
    b().br(done);
  }
  b().setBlock(done);
}

ValueId FunctionLowering::inRange(const Expr& e) {
  TypeId t = typeOf(e.children[0]);
  ValueId x = scalar(e.children[0]), low = scalar(e.children[1]), high = scalar(e.children[2]);
  ValueId above = compareScalars(BinaryOp::Ge, t, x, low);
  ValueId below = compareScalars(e.index == 0 ? BinaryOp::Lt : BinaryOp::Le, t, x, high);
  return b().and_(above, below);
}

// ---- arithmetic ----

ValueId FunctionLowering::binary(const Expr& e, TypeId operand, ValueId x, ValueId y) {
  if (l.get(operand).kind == Kind::Pointer) {
    if (e.binary == BinaryOp::Add) return b().padd(x, y);
    if (l.get(typeOf(e.children[1])).kind == Kind::Pointer)
      return b().isub({b().emit(Op::Bitcast, ir::I64, {x}), b().emit(Op::Bitcast, ir::I64, {y})});
    return b().padd(x, b().isub(b().i64(0), y));
  }
  return arithmetic(e.binary, operand, x, y);
}

ValueId FunctionLowering::arithmetic(BinaryOp op, TypeId t, ValueId x, ValueId y) {
  const Type type = l.get(t);
  ir::Type s = b().typeOf(x);
  Kind element = type.kind == Kind::Simd ? l.get(type.element).kind : type.kind;
  if (isFloatKind(element)) {
    switch (op) {
      case BinaryOp::Add: return b().fadd(x, y);
      case BinaryOp::Sub: return b().fsub(x, y);
      case BinaryOp::Mul: return b().fmul(x, y);
      case BinaryOp::Div: return b().fdiv(x, y);
      default: internalError("not an operation on floats");
    }
  }
  bool isSigned = isSignedKind(element), checked = !l.options.release && !s.isVector();
  switch (op) {
    case BinaryOp::Add: return b().binary(!checked ? Op::IAdd : isSigned ? Op::SAddT : Op::UAddT, x, y);
    case BinaryOp::Sub: return b().binary(!checked ? Op::ISub : isSigned ? Op::SSubT : Op::USubT, x, y);
    case BinaryOp::Mul: return b().binary(!checked ? Op::IMul : isSigned ? Op::SMulT : Op::UMulT, x, y);
    case BinaryOp::AddWrap: return b().iadd(x, y);
    case BinaryOp::SubWrap: return b().isub(x, y);
    case BinaryOp::MulWrap: return b().imul(x, y);
    case BinaryOp::IntDiv: return b().binary(isSigned ? Op::SDivT : Op::UDivT, x, y);
    case BinaryOp::Rem: return b().binary(isSigned ? Op::SRemT : Op::URemT, x, y);
    case BinaryOp::Mod: return isSigned ? floorMod(t, x, y) : b().binary(Op::URemT, x, y);
    case BinaryOp::BitAnd: return b().and_(x, y);
    case BinaryOp::BitOr: return b().or_(x, y);
    case BinaryOp::BitXor: return b().xor_(x, y);
    case BinaryOp::Shl: case BinaryOp::Shr: {
      if (!s.isVector()) {
        ValueId tooFar = b().icmp(Cond::Uge, y, b().iconst(s, s.bytes() * 8));   // a negative count is a large unsigned one
        ValueId count = s == ir::I64 ? y : b().emit(isSigned ? Op::SExt : Op::ZExt, ir::I64, {y});
        trapIf(tooFar, ir::TrapKind::Shift, {count, b().i64(s.bytes() * 8)});
      }
      return op == BinaryOp::Shl ? b().shl(x, y) : isSigned ? b().shrS(x, y) : b().shrU(x, y);
    }
    default: internalError("not an operation on integers");
  }
}

// The remainder with the sign of the divisor.
ValueId FunctionLowering::floorMod(TypeId t, ValueId x, ValueId y) {
  ir::Type s = l.irType(t);
  ValueId r = b().binary(Op::SRemT, x, y), zero = b().iconst(s, 0);
  ValueId wrongSign = b().icmp(Cond::Slt, b().xor_(r, y), zero);
  ValueId fix = b().and_(b().icmp(Cond::Ne, r, zero), wrongSign);
  return b().select(fix, b().iadd(r, y), r);
}

ValueId FunctionLowering::compareScalars(BinaryOp op, TypeId t, ValueId x, ValueId y) {
  Kind k = l.get(t).kind;
  if (isFloatKind(k)) {
    static const Cond conds[] = {Cond::Eq, Cond::Ne, Cond::Lt, Cond::Le, Cond::Gt, Cond::Ge};
    return b().fcmp(conds[int(op) - int(BinaryOp::Eq)], x, y);
  }
  static const Cond signedConds[] = {Cond::Eq, Cond::Ne, Cond::Slt, Cond::Sle, Cond::Sgt, Cond::Sge};
  static const Cond unsignedConds[] = {Cond::Eq, Cond::Ne, Cond::Ult, Cond::Ule, Cond::Ugt, Cond::Uge};
  return b().icmp((isSignedKind(k) ? signedConds : unsignedConds)[int(op) - int(BinaryOp::Eq)], x, y);
}

ValueId FunctionLowering::compare(BinaryOp op, TypeId t, ExprId left, ExprId right) {
  TypeId plain = types.unmarked(t);
  if (isScalar(plain)) {
    auto value = [&](ExprId e) { return l.isTrackedFloat(typeOf(e)) ? b().load(l.irType(plain), borrow(e)) : scalar(e); };
    ValueId x = value(left), y = value(right);
    return compareScalars(op, plain, x, y);
  }
  if (l.holdsTrackedFloat(typeOf(left))) plain = typeOf(left);
  else if (l.holdsTrackedFloat(typeOf(right))) plain = typeOf(right);
  ValueId x = borrowAs(left, plain), y = borrowAs(right, plain);
  if (op == BinaryOp::Eq || op == BinaryOp::Ne) {
    ValueId args[] = {x, y};
    ValueId same = b().call(l.glue(Glue::Equal, plain), ir::I1, args);
    return op == BinaryOp::Eq ? same : b().not_(same);
  }
  ValueId args[] = {x, y};
  ValueId order = b().call(l.glue(Glue::Compare, plain), ir::I64, args);
  return compareScalars(op, types.scalar(Kind::Int64), order, b().i64(0));
}

ValueId FunctionLowering::convertScalar(ValueId x, TypeId from, TypeId to, bool explicitly) {
  const Type fromType = l.get(from), toType = l.get(to);
  ir::Type s = l.irType(from), d = l.irType(to);
  Kind fk = fromType.kind, tk = toType.kind;
  if (fk == tk) return x;
  if (s.isFloat() && d.isFloat()) return s == d ? x : b().convert(s == ir::F32 ? Op::FExt : Op::FCut, d, x);
  if (d.isFloat()) {
    if (s.bytes() < 4) { x = b().convert(isSignedKind(fk) ? Op::SExt : Op::ZExt, ir::I32, x); if (!isSignedKind(fk)) return b().convert(Op::SToF, d, x); }
    return b().convert(isSignedKind(fk) ? Op::SToF : Op::UToF, d, x);
  }
  if (s.isFloat()) {
    bool isSigned = isSignedKind(tk);
    if (l.options.release) return b().convert(isSigned ? Op::FToSSat : Op::FToUSat, d, x);
    return b().convert(isSigned ? Op::FToST : Op::FToUT, d, x);
  }
  if (s == ir::I1) return d == ir::I1 ? x : b().convert(Op::ZExt, d, x);
  // Integers, char and byte among each other: what the target cannot hold traps.
  bool fromSigned = isSignedKind(fk), toSigned = isSignedKind(tk);
  ValueId wide = s == ir::I64 ? x : b().convert(fromSigned ? Op::SExt : Op::ZExt, ir::I64, x);
  if (explicitly) {
    int bits = int(d.bytes()) * 8;
    ValueId bad;
    if (toSigned) {
      if (bits < 64) {
        ValueId back = b().convert(Op::SExt, ir::I64, b().convert(Op::Trunc, d, wide));
        if (!fromSigned && s == ir::I64) bad = b().icmp(Cond::Ugt, wide, b().i64((int64_t(1) << (bits - 1)) - 1));
        else if (s.bytes() >= d.bytes()) bad = b().icmp(Cond::Ne, back, wide);
      } else if (!fromSigned && s == ir::I64) {
        bad = b().icmp(Cond::Slt, wide, b().i64(0));
      }
    } else {
      int64_t most = tk == Kind::Char ? 0x10ffff : bits < 64 ? (int64_t(1) << bits) - 1 : -1;
      if (most >= 0 && (s.bytes() > d.bytes() || fromSigned || tk == Kind::Char)) bad = b().icmp(Cond::Ugt, wide, b().i64(most));
      else if (most < 0 && fromSigned) bad = b().icmp(Cond::Slt, wide, b().i64(0));
    }
    if (bad) trapIf(bad, ir::TrapKind::Conversion, {wide, b().i64(fromSigned ? 1 : 0)});
    if (tk == Kind::Char && (s.bytes() >= 2)) {
      ValueId surrogate = b().icmp(Cond::Eq, {b().and_(wide, b().i64(~int64_t(0x7ff))), b().i64(0xd800)});
      trapIf(surrogate, ir::TrapKind::Conversion, {wide, b().i64(fromSigned ? 1 : 0)});
    }
  }
  if (d == s) return x;
  if (d.bytes() > s.bytes()) return b().convert(fromSigned ? Op::SExt : Op::ZExt, d, x);
  return b().convert(Op::Trunc, d, x);
}

// ---- owned values into memory ----

void FunctionLowering::evaluate(ExprId id) {
  TypeId t = typeOf(id);
  const Expr& e = expr(id);
  if (l.isUnit(t)) return into(id, {});
  if (isPlace(id) && e.kind != ExprKind::Slice) { place(id, false); return; }
  if (isScalar(t)) { scalar(id); return; }
  ValueId slot = slotFor(t);
  into(id, slot);
  pushDrop(slot, t);
}

// Such a conversion passes its value on: what was a place is looked at in place, what was moved is moved.
bool FunctionLowering::passesOn(ExprId id) const {
  const Expr& e = expr(id);
  if (e.kind != ExprKind::Convert || e.explicitConversion) return false;
  const Type to = types.get(e.type), from = types.get(expr(e.children[0]).type);
  return from.kind == to.kind && (to.kind == Kind::Tensor ? types.same(from.element, to.element) : to.kind == Kind::Record);
}

ValueId FunctionLowering::borrow(ExprId id) {
  TypeId t = typeOf(id);
  if (passesOn(id)) {
    ExprId value = expr(id).children[0];
    ValueId address = borrow(value);
    checkShape(address, typeOf(value), t);
    return address;
  }
  if (isPlace(id)) return place(id, false).address;
  ValueId slot = slotFor(t);
  if (isScalar(t)) { storeValue(slot, t, scalar(id)); return slot; }
  into(id, slot);
  pushDrop(slot, t);
  return slot;
}

void FunctionLowering::into(ExprId id, ValueId dest) {
  const Expr& e = expr(id);
  TypeId t = typeOf(id);
  AtPlace here(*this, e.place);
  if (l.isTrackedFloat(t) && !isPlace(id)) return trackedScalarInto(id, dest);
  if (isScalar(t) && e.kind != ExprKind::Match && e.kind != ExprKind::Try && e.kind != ExprKind::OrElse) return storeValue(dest, t, scalar(id));
  switch (e.kind) {
    case ExprKind::Local: {
      ValueId from = locals[e.local.index].address;
      if (l.isTrackedFloat(t) && inWindow()) callRuntime("Tape", "NodeOfScalar", ir::I64, {from, b().i64(l.sizeOf(types.unmarked(t)))});
      moveBytes(dest, from, t);
      if (l.owns(t)) b().memZero(from, l.sizeOf(t));
      return;
    }
    case ExprKind::Field: case ExprKind::Element: case ExprKind::MapElement: {
      // Ownership lets only copying values be taken from a part, and parts of fresh values.
      PlaceRef p = place(id, false);
      // The copy of a tracked float stands for the same entry, so the place gets one before it is copied.
      if (l.isTrackedFloat(t) && inWindow()) callRuntime("Tape", "NodeOfScalar", ir::I64, {p.address, b().i64(l.sizeOf(types.unmarked(t)))});
      return copy(dest, p.address, t);
    }
    case ExprKind::Slice: {
      if (recordedAt(id)) return recordedSliceInto(e, dest);
      ValueId view = slotFor(t);
      sliceInto(e, view, false);
      return copy(dest, view, t);
    }
    case ExprKind::String: return stringLiteral(e.text, dest);
    case ExprKind::None: case ExprKind::Zero: {
      b().memZero(dest, l.sizeOf(t));
      if (l.get(t).kind == Kind::Tensor) {
        ValueId none = null();
        fillStruct(dest, none, none, std::vector<ValueId>(l.get(t).extents.size(), b().i64(0)));
      }
      return;
    }
    case ExprKind::Some: {
      const Layout layout = l.layout(t);
      b().memZero(dest, layout.size);
      b().store(b().iconst(ir::I8, 1), dest);
      return intoAs(e.children[0], l.get(t).element, offset(dest, layout.offsets[1]));
    }
    case ExprKind::Function: return functionValue(e, t, marks.open[id.index], dest);
    case ExprKind::Convert:
      if (passesOn(id)) return intoAs(e.children[0], t, dest);
      return l.get(t).kind == Kind::Tensor ? convertTensor(id, t, dest) : into(e.children[0], dest);
    case ExprKind::Call:
      if (isPlace(id)) return copy(dest, place(id, false).address, t);
      return callInto(id, dest);
    case ExprKind::CallValue: {
      ValueId result;
      bool failing = false;
      return callValue(e, dest, &result, &failing);
    }
    case ExprKind::Builtin:
      if (builtinAnswersPlace(e)) return copy(dest, place(id, false).address, t);
      return builtinInto(id, dest);
    case ExprKind::Intrinsic:
      if (intrinsicAnswersPlace(e)) return copy(dest, intrinsicPlace(id), t);
      return intrinsicInto(id, dest);
    case ExprKind::Vocabulary: return vocabularyInto(id, dest);
    case ExprKind::MakeRecord: case ExprKind::MakeTuple: {
      const Layout layout = l.layout(t);
      const Type type = l.get(t);
      std::vector<TypeId> fields = l.fieldTypes(t);
      intoParts(e, [&](uint32_t k) { return layout.offsets[k]; }, [&](uint32_t k) { return fields[k]; }, dest);
      if (type.kind != Kind::Record) return;
      return recordExtents(e, type, layout.offsets, dest);
    }
    case ExprKind::MakeChoice: {
      if (l.sizeOf(t) > 8) b().memZero(dest, l.sizeOf(t));
      b().store(b().i64(e.index), dest);
      std::vector<TypeId> fields = l.caseFields(t, e.index);
      intoParts(e, [&](uint32_t k) { return l.caseOffset(t, e.index, k); }, [&](uint32_t k) { return fields[k]; }, dest);
      return;
    }
    case ExprKind::MakeArray: {
      const Type type = l.get(t);
      uint32_t size = l.sizeOf(type.element);
      intoParts(e, [&](uint32_t k) { return k * size; }, [&](uint32_t) { return type.element; }, dest);
      return;
    }
    case ExprKind::MakeList: return makeList(e, t, dest);
    case ExprKind::MakeTensor: return makeTensorLiteral(e, t, dest);
    case ExprKind::MakeMap: case ExprKind::MakeSet: {
      const Type type = l.get(t);
      bool isMap = e.kind == ExprKind::MakeMap;
      b().memZero(dest, l.sizeOf(t));
      TypeId keyType = isMap ? type.key : type.element;
      size_t depth = cleanups.size();
      pushDrop(dest, t);                         // a failure on the way releases what was made
      for (size_t k = 0; k < e.children.size(); k += isMap ? 2 : 1) {
        scoped([&] {
          ValueId key = slotFor(keyType);
          intoAs(e.children[k], keyType, key);
          if (isMap) {
            putInto(dest, type, key, e.children[k + 1]);
          } else {
            callRuntime("Sets", "Put", ir::I1, {dest, key}, {type.element});
          }
        });
      }
      cleanups.resize(depth);
      return;
    }
    case ExprKind::Comprehension: return comprehension(id, t, dest);
    case ExprKind::Interpolation: return interpolate(e, dest);
    case ExprKind::If: return ifInto(e, t, dest);
    case ExprKind::Match: return matchInto(e, t, dest);
    case ExprKind::Try: return tryInto(id, e, t, dest);
    case ExprKind::OrElse: return orElseInto(e, t, dest);
    case ExprKind::Closure: return closureInto(id, t, dest);
    case ExprKind::Gradient: return gradientInto(id, dest);
    case ExprKind::Detach: return detachInto(id, dest);
    case ExprKind::MakeFailure: internalError("a failure is made by `fail` alone");
    default: internalError("an expression of kind " + std::to_string(int(e.kind)) + " cannot be stored");
  }
}

// The parts of a constructor, in order. When a later one fails, the earlier ones are released.
void FunctionLowering::intoParts(const Expr& e, const std::function<uint32_t(uint32_t)>& offsetOf, const std::function<TypeId(uint32_t)>& wanted, ValueId dest) {
  size_t depth = cleanups.size();
  auto moves = [&](uint32_t k) {
    ExprId part = e.children[k];
    while (passesOn(part)) part = expr(part).children[0];
    return expr(part).kind == ExprKind::Local && l.owns(wanted(k));
  };
  std::vector<uint32_t> order = textOrder(e);
  // Whole variables move after the others.
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t k : order) {
      if (moves(k) != (pass == 1)) continue;
      ValueId part = offset(dest, offsetOf(k));
      scoped([&] { intoAs(e.children[k], wanted(k), part); });
      pushDrop(part, wanted(k));
    }
  cleanups.resize(depth);
}

// The hidden extents of a new record: known ones are computed, the rest comes from the first field whose shape shows it. Then every field is
// held against what its declaration says.
void FunctionLowering::recordExtents(const Expr& e, const Type& type, const std::vector<uint32_t>& offsets, ValueId dest) {
  const Decl& d = program.get(type.decl);
  std::vector<ValueId> hidden(type.extents.size());
  for (size_t x = 0; x < hidden.size(); x++) {
    ExtentId name = types.name(type.decl, uint32_t(x), d.extentParams[x]);
    if (!types.isOpen(type.extents[x])) hidden[x] = extentValue(type.extents[x]);
    for (size_t k = 0; k < d.fields.size() && !hidden[x]; k++) {
      const Type field = l.get(d.fields[k].type);
      if (field.kind != Kind::Tensor && field.kind != Kind::Record) continue;
      auto at = std::find(field.extents.begin(), field.extents.end(), name);
      if (at != field.extents.end()) hidden[x] = shownExtents(offset(dest, offsets[k]), typeOf(e.children[k]))[size_t(at - field.extents.begin())];
    }
    if (!hidden[x]) hidden[x] = b().i64(0);
    b().store(hidden[x], dest, int64_t(8 * x));
  }
  for (size_t k = 0; k < d.fields.size(); k++) checkDeclared(d.fields[k].name, d.fields[k].type, typeOf(e.children[k]), offset(dest, offsets[k]), hidden);
}

// An entry of a map: takes the key over, which is released when the value fails.
void FunctionLowering::putInto(ValueId map, const Type& type, ValueId key, ExprId value) {
  pushDrop(key, type.key);
  ValueId v = slotFor(type.element);
  intoAs(value, type.element, v);
  callRuntime("Maps", "Put", ir::Void, {map, key, v}, {type.key, type.element});
  if (l.owns(type.key)) b().memZero(key, l.sizeOf(type.key));
}

void FunctionLowering::makeList(const Expr& e, TypeId t, ValueId dest) {
  const Type type = l.get(t);
  uint32_t size = l.sizeOf(type.element);
  b().memZero(dest, sequence::Bytes);
  if (e.children.empty()) return;
  ValueId count = b().i64(int64_t(e.children.size()));
  ValueId data = callRuntime("Memory", "Allocate", ir::Ptr, {b().i64(int64_t(e.children.size() * std::max(size, 1u)))});
  b().store(data, dest);
  b().store(count, dest, sequence::Capacity);
  // Elements count only when they are there: a failure on the way releases what was made.
  size_t depth = cleanups.size();
  pushDrop(dest, t);
  for (size_t k = 0; k < e.children.size(); k++) {
    scoped([&] { intoAs(e.children[k], type.element, offset(data, int64_t(k * size))); });
    b().store(b().i64(int64_t(k + 1)), dest, sequence::Length);
  }
  cleanups.resize(depth);
}

void FunctionLowering::comprehension(ExprId id, TypeId t, ValueId dest) {
  const Expr& e = expr(id);
  const Type type = l.get(t);
  TypeId element = type.element;
  size_t depth = cleanups.size();
  bool isList = type.kind == Kind::List;
  ValueId collected = isList ? dest : slotBytes(sequence::Bytes);   // tensors and arrays are built from a list
  TypeId listType = isList ? t : types.list(typeOf(e.children[0]));
  b().memZero(collected, sequence::Bytes);
  pushDrop(collected, listType);
  if (!isList) element = typeOf(e.children[0]);
  runLoop(*e.loop, [&] {
    BlockId take = b().createBlock(), next = b().createBlock();
    if (e.children.size() > 1 && e.children[1]) b().brIf(condition(e.children[1]), take, next);
    else b().br(take);
    b().setBlock(take);
    scoped([&] {
      ValueId slot = slotFor(element);
      intoAs(e.children[0], element, slot);
      callRuntime("Lists", "AppendFrom", ir::Void, {collected, slot}, {element});
    });
    if (!endsBlock()) b().br(next);
    b().setBlock(next);
  });
  if (isList) { cleanups.resize(depth); return; }
  if (type.kind == Kind::Array) {
    int64_t n = 0;
    types.isConstant(type.extents[0], &n);
    ValueId want = b().i64(n), length = b().load(ir::I64, collected, sequence::Length);
    checkMeeting("the array should have # elements and gets #", {want}, {length}, {{want, length}});
    moveBytes(dest, b().load(ir::Ptr, collected), t);
    b().store(b().i64(0), collected, sequence::Length);            // the elements have moved; the memory remains to be freed
    popCleanups(depth);
    return;
  }
  // vector (elements are scalars) or a tensor of rows
  int64_t rank = int64_t(type.extents.size());
  if (rank == 1 && l.isTrackedFloat(element)) {
    callRuntime("Tape", "CollectScalars", ir::Void, {dest, collected}, {types.unmarked(element)});
  } else if (rank == 1) {
    callRuntime("Buffers", "FromList", ir::Void, {dest, collected, b().i64(l.sizeOf(element))});
  } else {
    callRuntime("Buffers", "FromRows", ir::Void, {dest, collected, b().i64(rank), b().i64(l.sizeOf(type.element))});
  }
  if (!types.isOpen(type.extents[0])) {
    ValueId want = extentValue(type.extents[0]), have = b().load(ir::I64, dest, tensor::Extents);
    checkMeeting(rank == 1 ? "the vector should have # elements and gets #" : "the tensor should have # rows and gets #", {want}, {have}, {{want, have}});
  }
  popCleanups(depth);
}

void FunctionLowering::matchInto(const Expr& e, TypeId t, ValueId dest) {
  TypeId subjectType = typeOf(e.children[0]);
  ValueId subject = borrow(e.children[0]);
  matchArms(e.arms, subject, subjectType, Mode::Read, [&](const Arm& arm) {
    scoped([&] { l.isUnit(t) ? evaluate(arm.value) : intoAs(arm.value, t, dest); });
  });
}

// ---- failures and missing values ----

void FunctionLowering::handler(const Handler& h, TypeId t, ValueId dest) {
  if (h.leaves) return statement(h.leaves);
  size_t depth = cleanups.size();
  if (dest) intoAs(h.value, t, dest);
  else if (l.isUnit(t) || !isScalar(t)) evaluate(h.value);
  else scalar(h.value);
  popCleanups(depth);
}

void FunctionLowering::tryInto(ExprId, const Expr& e, TypeId t, ValueId dest) {
  bool failing = false;
  ExprId call = e.children[0];
  const Expr& c = expr(call);
  TypeId callType = typeOf(call);
  // A value that is not wanted still needs its memory.
  ValueId target = dest;
  bool unit = l.isUnit(callType);
  if (!target && !unit) target = slotFor(callType, true);
  ValueId failure;
  ValueId result;
  if (c.kind == ExprKind::CallValue) callValue(c, target, &result, &failing), failure = result;
  else if (c.kind == ExprKind::Builtin) { failing = true; failure = emitCall(call, target, &failing); }
  else failure = emitCall(call, target, &failing);
  if (!failing) internalError("`try` on a call that cannot fail");
  BlockId failed = b().createBlock(), fine = b().createBlock();
  if (l.get(callType).kind == Kind::Never) b().br(failed);      // it comes back with a failure or not at all
  else b().brIf(b().icmp(Cond::Ne, {b().emit(Op::Bitcast, ir::I64, {failure}), b().i64(0)}), failed, fine);
  b().setBlock(failed);
  if (e.handler.present()) {
    callRuntime("Failures", "Release", ir::Void, {failure});
    handler(e.handler, t, dest);
    if (!endsBlock()) b().br(fine);
  } else {
    failWith(failure);
  }
  b().setBlock(fine);
  if (l.get(callType).kind == Kind::Never && !e.handler.present()) b().unreachable();
  if (!dest && !unit) pushDrop(target, callType);
}

void FunctionLowering::orElseInto(const Expr& e, TypeId t, ValueId dest) {
  ExprId source = e.children[0];
  TypeId optional = typeOf(source);
  BlockId some = b().createBlock(), missing = b().createBlock(), done = b().createBlock();
  const Expr& s = expr(source);
  auto missingPart = [&] {
    b().setBlock(missing);
    handler(e.handler, t, dest);
    if (!endsBlock()) b().br(done);
  };
  if (answersOptionalPlace(source)) {
    ValueId p = optionalPlace(source);
    b().brIf(isNull(p), missing, some);
    b().setBlock(some);
    if (dest) copy(dest, p, t);
    b().br(done);
    missingPart();
    b().setBlock(done);
    return;
  }
  const Layout layout = l.layout(optional);
  bool wholeLocal = s.kind == ExprKind::Local;
  ValueId p;
  if (wholeLocal || isPlace(source)) p = place(source, false).address;
  else { p = slotFor(optional); into(source, p); }
  b().brIf(b().icmp(Cond::Ne, {b().load(ir::I8, p), b().iconst(ir::I8, 0)}), some, missing);
  b().setBlock(some);
  ValueId part = offset(p, layout.offsets[1]);
  if (!dest) {
    drop(part, t);
  } else if (isPlace(source) && !wholeLocal) {
    copy(dest, part, t);
  } else {
    moveBytes(dest, part, t);
    if (wholeLocal && l.owns(optional)) b().memZero(p, layout.size);
  }
  b().br(done);
  missingPart();
  b().setBlock(done);
}

}  // namespace mica::lower
