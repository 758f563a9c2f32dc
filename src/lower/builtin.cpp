// The built-in operations of the language (frontend/builtins.def). Most are calls of the library's generic functions.
#include "lower/function.h"

namespace mica::lower {

bool FunctionLowering::builtinAnswersPlace(const Expr& e) const {
  return e.builtin == Builtin::Find || e.builtin == Builtin::FindInout || e.builtin == Builtin::Unbox;
}

// Find on maps: the value's address, 0 when the key is absent.
ValueId FunctionLowering::builtinPlace(ExprId id) {
  const Expr& e = expr(id);
  if (e.builtin == Builtin::Unbox) return b().load(ir::Ptr, borrow(e.children[0]));
  const Type map = l.get(typeOf(e.children[0]));
  ValueId base = isPlace(e.children[0]) ? place(e.children[0], e.builtin == Builtin::FindInout).address : borrow(e.children[0]);
  ValueId key = borrowAs(e.children[1], map.key);
  return callRuntime("Maps", "Lookup", ir::Ptr, {base, key}, {map.key, map.element});
}

ValueId FunctionLowering::lengthOf(ExprId id) {
  TypeId t = typeOf(id);
  const Type type = l.get(t);
  switch (type.kind) {
    case Kind::Array: return extentValue(type.extents[0]);
    case Kind::Tensor: return extentOf(borrow(id), t, 0);
    case Kind::Map: return callRuntime("Maps", "Count", ir::I64, {borrow(id)}, {type.key, type.element});
    case Kind::Set: return callRuntime("Sets", "Count", ir::I64, {borrow(id)}, {type.element});
    default: break;
  }
  const Expr& e = expr(id);
  if (e.kind == ExprKind::Builtin && e.builtin == Builtin::Chars) return callRuntime("Text", "CharCount", ir::I64, {borrow(e.children[0])});
  if (e.kind == ExprKind::Builtin && e.builtin == Builtin::Lines) return callRuntime("Text", "LineCount", ir::I64, {borrow(e.children[0])});
  return header(ir::I64, borrow(id), sequence::Length);
}

ValueId FunctionLowering::builtinScalar(ExprId id) {
  const Expr& e = expr(id);
  TypeId t = typeOf(id);
  auto operand = [&](size_t k) { return typeOf(e.children[k]); };
  switch (e.builtin) {
    case Builtin::Length: return lengthOf(e.children[0]);
    case Builtin::Rank: return b().i64(int64_t(l.get(operand(0)).kind == Kind::Tensor ? l.get(operand(0)).extents.size() : 0));
    case Builtin::Extent: {
      TypeId x = operand(0);
      ValueId base = borrow(e.children[0]);
      const Expr& which = expr(e.children[1]);
      if (which.kind == ExprKind::Int) return extentOf(base, x, unsigned(which.intValue));
      ValueId k = index(e.children[1]);
      boundsCheck(k, b().i64(int64_t(l.get(x).extents.size())));
      return b().load(ir::I64, b().padd(base, b().imul(k, b().i64(8))), tensor::Extents);
    }
    case Builtin::Copy: {
      TypeId from = operand(0);
      if (l.isTrackedFloat(from)) return b().load(l.irType(t), borrow(e.children[0]));
      return scalar(e.children[0]);
    }
    case Builtin::Add: {
      ValueId set = place(e.children[0], true).address;
      TypeId element = l.get(operand(0)).element;
      ValueId value = slotFor(element);
      intoAs(e.children[1], element, value);
      return callRuntime("Sets", "Put", ir::I1, {set, value}, {element});
    }
    case Builtin::Contains: {
      const Type c = l.get(operand(0));
      ValueId where = borrow(e.children[0]);
      ValueId key = c.kind == Kind::String ? borrow(e.children[1]) : borrowAs(e.children[1], c.kind == Kind::Map ? c.key : c.element);
      if (c.kind == Kind::Map) return callRuntime("Maps", "Contains", ir::I1, {where, key}, {c.key, c.element});
      if (c.kind == Kind::Set) return callRuntime("Sets", "Contains", ir::I1, {where, key}, {c.element});
      if (c.kind == Kind::String) return callRuntime("Text", "Contains", ir::I1, {where, key});
      return callRuntime("Lists", "Contains", ir::I1, {where, key}, {c.element});
    }
    case Builtin::Remove:
      if (l.get(operand(0)).kind != Kind::List) {
        const Type c = l.get(operand(0));
        ValueId where = place(e.children[0], true).address, key = borrowAs(e.children[1], c.kind == Kind::Map ? c.key : c.element);
        return c.kind == Kind::Map ? callRuntime("Maps", "Remove", ir::I1, {where, key}, {c.key, c.element})
                                   : callRuntime("Sets", "Remove", ir::I1, {where, key}, {c.element});
      }
      break;
    case Builtin::Abs: {
      ValueId x = scalar(e.children[0]);
      ir::Type s = b().typeOf(x);
      if (s.isFloat()) return b().unary(Op::FAbs, x);
      if (s.isVector()) internalError("Abs of integer lanes");
      bool isSigned = l.get(t).kind >= Kind::Int8 && l.get(t).kind <= Kind::Int64;
      if (!isSigned) return x;
      ValueId zero = b().iconst(s, 0);
      ValueId negative = b().icmp(Cond::Slt, x, zero);
      if (!l.options.release) {
        int64_t least = s.bytes() == 8 ? INT64_MIN : -(int64_t(1) << (s.bytes() * 8 - 1));
        trapIf(b().icmp(Cond::Eq, x, b().iconst(s, least)), ir::TrapKind::Overflow);
      }
      return b().select(negative, b().isub(zero, x), x);
    }
    case Builtin::Min: case Builtin::Max: {
      bool least = e.builtin == Builtin::Min;
      ValueId best = scalar(e.children[0]);
      for (size_t k = 1; k < e.children.size(); k++) {
        ValueId y = scalar(e.children[k]);
        if (b().typeOf(best).isFloat()) best = b().binary(least ? Op::FMin : Op::FMax, best, y);
        else best = b().select(compareScalars(least ? BinaryOp::Le : BinaryOp::Ge, t, best, y), best, y);
      }
      return best;
    }
    default: break;
  }
  if (!isScalar(t)) internalError("a built-in without a scalar result");
  return viaMemory(t, [&](ValueId dest) { builtinInto(id, dest); });
}

void FunctionLowering::replaceInto(const Expr& e, ValueId dest) {
  TypeId t = typeOf(e.children[0]);
  PlaceRef p = place(e.children[0], true);
  ValueId fresh = slotFor(t);
  intoAs(e.children[1], t, fresh);
  if (dest && p.sliceView) copy(dest, p.address, t);
  else if (dest) moveBytes(dest, p.address, t);
  if (dest && !p.sliceView) moveBytes(p.address, fresh, t);
  else put(p, fresh, t);
}

// Puts a value into a place whose own value goes; into a slice, element by element.
void FunctionLowering::put(PlaceRef p, ValueId value, TypeId t) {
  if (p.sliceView) {
    copyElements(p.address, value, t, t);
    return drop(value, t);
  }
  drop(p.address, t);
  moveBytes(p.address, value, t);
}

void FunctionLowering::swapPlaces(const Expr& e) {
  TypeId t = typeOf(e.children[0]), u = t;      // of the two places: alike but for marks
  ValueId x, y;
  if (e.children.size() == 3) {                 // two elements of one list or array
    const Type list = l.get(t);
    ValueId base = place(e.children[0], true).address;
    ValueId i = index(e.children[1]), j = index(e.children[2]);
    at(e.place);
    ValueId length = list.kind == Kind::Array ? extentValue(list.extents[0])
                   : list.kind == Kind::Tensor ? extentOf(base, t, 0) : header(ir::I64, base, sequence::Length);
    boundsCheck(i, length);
    boundsCheck(j, length);
    ValueId data = list.kind == Kind::Array ? base : b().load(ir::Ptr, base);
    t = u = l.laidOut(list.element);
    x = b().padd(data, b().imul(i, b().i64(l.sizeOf(t))));
    y = b().padd(data, b().imul(j, b().i64(l.sizeOf(t))));
  } else {
    PlaceRef first = place(e.children[0], true), second = place(e.children[1], true);
    x = first.address;
    y = second.address;
    u = typeOf(e.children[1]);
    if (first.sliceView || second.sliceView) {
      ValueId fromFirst = slotFor(t), fromSecond = slotFor(t);
      copy(fromFirst, x, t);
      copy(fromSecond, y, t);
      put(first, fromSecond, t);
      return put(second, fromFirst, t);
    }
  }
  ValueId held = slotFor(u);
  layOut(held, u, x, t);
  layOut(x, t, y, u);
  moveBytes(y, held, u);
}

// Sort(inout xs) by the elements' order, or by `before`, a function value (element, element): bool.
void FunctionLowering::sortList(const Expr& e) {
  TypeId t = typeOf(e.children[0]);
  const Type list = l.get(t);
  ValueId base = place(e.children[0], true).address, view = base;
  if (list.kind == Kind::Array || list.kind == Kind::Tensor) {
    view = slotBytes(sequence::Bytes);
    b().store(list.kind == Kind::Array ? base : b().load(ir::Ptr, base), view);
    b().store(list.kind == Kind::Array ? extentValue(list.extents[0]) : extentOf(base, t, 0), view, sequence::Length);
    b().store(b().i64(0), view, sequence::Capacity);
  }
  TypeId element = l.laidOut(list.element);
  if (e.children.size() < 2 || !e.children[1]) return void(callRuntime("Lists", "SortOrdered", ir::Void, {view}, {element}));
  TypeId taken = l.laidOut(l.get(typeOf(e.children[1])).args[0]);
  ValueId before = borrow(e.children[1]), count = b().load(ir::I64, view, sequence::Length), data = b().load(ir::Ptr, view);
  if (l.laidOutAlike(element, taken)) return void(callRuntime("Lists", "SortBy", ir::Void, {view, before}, {element}));
  // `before` was compiled for elements without marks: they are sorted in that layout.
  ValueId plain = slotBytes(sequence::Bytes), memory = callRuntime("Memory", "Allocate", ir::Ptr, {b().imul(count, b().i64(l.sizeOf(taken)))});
  layOutElements(memory, taken, data, element, count);
  b().store(memory, plain);
  b().store(count, plain, sequence::Length);
  b().store(b().i64(0), plain, sequence::Capacity);
  callRuntime("Lists", "SortBy", ir::Void, {plain, before}, {taken});
  layOutElements(data, element, memory, taken, count);
  callRuntime("Memory", "Release", ir::Void, {memory});
}

void FunctionLowering::builtinInto(ExprId id, ValueId dest) {
  const Expr& e = expr(id);
  TypeId t = typeOf(id);
  at(e.place);
  auto operand = [&](size_t k) { return typeOf(e.children[k]); };
  auto changed = [&](size_t k) { return place(e.children[k], true).address; };
  auto moved = [&](size_t k, TypeId as) { ValueId s = slotFor(as); intoAs(e.children[k], as, s); return s; };
  auto target = [&] { return dest ? dest : slotFor(t); };
  auto finish = [&](ValueId made) { if (!dest && !l.isUnit(t)) pushDrop(made, t); };
  switch (e.builtin) {
    case Builtin::Print: return printStatement(e);
    case Builtin::Copy: {
      ValueId from = borrow(e.children[0]);
      if (!recordedAt(id)) return copy(target(), from, t);
      callRuntime("Tape", "RecordCopy", ir::Void, {target(), from, b().i64(int64_t(l.get(t).extents.size())), b().i64(l.sizeOf(types.unmarked(l.get(t).element)))});
      return;
    }
    case Builtin::Append: {
      ValueId list = changed(0), value = moved(1, l.get(operand(0)).element);
      callRuntime("Lists", "AppendFrom", ir::Void, {list, value}, {l.get(operand(0)).element});
      return;
    }
    case Builtin::AppendAll: {
      ValueId list = changed(0), more = moved(1, operand(0));
      callRuntime("Lists", "AppendAll", ir::Void, {list, more}, {l.get(operand(0)).element});
      return;
    }
    case Builtin::Insert: {
      ValueId list = changed(0), i = index(e.children[1]), value = moved(2, l.get(operand(0)).element);
      at(e.place);
      ValueId length = header(ir::I64, list, sequence::Length);
      trapIf(b().icmp(Cond::Ugt, i, length), ir::TrapKind::Index, {i, length});
      callRuntime("Lists", "InsertFrom", ir::Void, {list, i, value}, {l.get(operand(0)).element});
      return;
    }
    case Builtin::Remove: case Builtin::RemoveLast: {
      const Type c = l.get(operand(0));
      if (c.kind != Kind::List) { scalar(id); return; }
      ValueId list = changed(0);
      ValueId length = header(ir::I64, list, sequence::Length);
      ValueId i = e.builtin == Builtin::Remove ? index(e.children[1]) : b().isub(length, b().i64(1));
      at(e.place);
      boundsCheck(i, length);
      ValueId to = target();
      callRuntime("Lists", "RemoveInto", ir::Void, {list, i, to}, {c.element});
      return finish(to);
    }
    case Builtin::Clear: {
      ValueId place = changed(0);
      drop(place, operand(0));
      b().memZero(place, l.sizeOf(operand(0)));
      return;
    }
    case Builtin::Add: scalar(id); return;
    case Builtin::Swap: return swapPlaces(e);
    case Builtin::Replace: return replaceInto(e, dest);
    case Builtin::Take: {
      ValueId place = changed(0), to = target();
      moveBytes(to, place, t);
      b().memZero(place, l.sizeOf(t));
      return finish(to);
    }
    case Builtin::Sort: return sortList(e);
    case Builtin::Box: {
      TypeId element = l.get(t).element;
      ValueId block = callRuntime("Memory", "Allocate", ir::Ptr, {b().i64(std::max(l.sizeOf(element), 1u))});
      intoAs(e.children[0], element, block);
      b().store(block, target());
      return;
    }
    case Builtin::Vector: {
      ValueId to = target();
      callRuntime("Buffers", "FromList", ir::Void, {to, borrow(e.children[0]), b().i64(l.sizeOf(l.get(t).element))});
      if (l.get(operand(0)).kind == Kind::Array) internalError("Vector of an array");
      return finish(to);
    }
    case Builtin::List: {
      const Type source = l.get(operand(0));
      ValueId to = target();
      if (source.kind == Kind::Tensor) {
        ValueId tensorAt = contiguous(borrow(e.children[0]), operand(0));
        callRuntime("Buffers", "ToList", ir::Void, {to, tensorAt, b().i64(l.sizeOf(types.unmarked(source.element)))});
      } else if (source.kind == Kind::Set) {
        callRuntime("Sets", "ToList", ir::Void, {to, borrow(e.children[0])}, {source.element});
      } else {
        ValueId from = borrow(e.children[0]);
        ValueId view = slotBytes(sequence::Bytes);
        b().store(source.kind == Kind::Array ? from : b().load(ir::Ptr, from), view);
        b().store(source.kind == Kind::Array ? extentValue(source.extents[0]) : header(ir::I64, from, sequence::Length), view, sequence::Length);
        b().store(b().i64(0), view, sequence::Capacity);
        copy(to, view, t);
      }
      return finish(to);
    }
    case Builtin::Keys: case Builtin::Values: {
      const Type map = l.get(operand(0));
      ValueId to = target();
      callRuntime("Maps", e.builtin == Builtin::Keys ? "KeysInto" : "ValuesInto", ir::Void, {to, borrow(e.children[0])}, {map.key, map.element});
      return finish(to);
    }
    case Builtin::Zeros: case Builtin::Ones: {
      ValueId to = target();
      zerosInto(id, e, t, to, e.builtin == Builtin::Ones);
      return finish(to);
    }
    case Builtin::Fill: {
      ValueId to = target();
      fillInto(id, to);
      return finish(to);
    }
    case Builtin::Concat: case Builtin::Repeat: {
      ValueId to = target();
      if (e.builtin == Builtin::Concat) concatInto(id, to);
      else repeatInto(id, to);
      return finish(to);
    }
    case Builtin::Reshape: {
      ValueId to = target();
      reshapeInto(id, to);
      return finish(to);
    }
    case Builtin::ToDevice: case Builtin::ToHost: case Builtin::Beside: {
      ValueId from = borrow(e.children[0]);   // host programs: everything is already here
      return copy(target(), from, t);
    }
    default: break;
  }
  modelBuiltinInto(id, dest);
}

}  // namespace mica::lower
