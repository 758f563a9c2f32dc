// Places: variables, fields, elements and slices, as addresses. Every index is checked.
#include "lower/function.h"

namespace mica::lower {

// A slice of a tensor, or a call that answers the slice that it gets.
bool FunctionLowering::isTensorView(ExprId id) {
  const Expr& e = expr(id);
  if (l.get(typeOf(id)).kind != Kind::Tensor) return false;
  if (e.kind == ExprKind::Local) return locals[e.local.index].sliceView;
  return e.kind == ExprKind::Slice || (e.kind == ExprKind::Call && isPlace(id) && isTensorView(e.children[0]));
}

PlaceRef FunctionLowering::place(ExprId id, bool forChanging) {
  const Expr& e = expr(id);
  AtPlace here(*this, e.place);
  switch (e.kind) {
    case ExprKind::Local: {
      const LocalState& x = locals[e.local.index];
      return {x.address, x.sliceView};
    }
    case ExprKind::Field: {
      TypeId owner = typeOf(e.children[0]);
      ValueId base = isPlace(e.children[0]) ? place(e.children[0], forChanging).address : borrow(e.children[0]);
      if (l.get(owner).kind == Kind::Box) { base = b().load(ir::Ptr, base); owner = l.get(owner).element; }
      if (l.get(owner).kind == Kind::AnyFailure) internalError("a failure of unknown kind has no fields");
      return {offset(base, l.layout(owner).offsets[e.index])};
    }
    case ExprKind::Element: return {elementAddress(e, forChanging)};
    case ExprKind::MapElement: {
      const Type map = l.get(typeOf(e.children[0]));
      ValueId base = isPlace(e.children[0]) ? place(e.children[0], forChanging).address : borrow(e.children[0]);
      ValueId key = borrowAs(e.children[1], map.key);
      at(e.place);
      bool otherwise = e.children.size() > 2 && e.children[2];
      if (forChanging && otherwise) {
        // An entry that is made when it is missing: first the key alone is looked up, then the value is put beside a copy of it.
        ValueId found = callRuntime("Maps", "Lookup", ir::Ptr, {base, key}, {map.key, map.element});
        ValueId answer = slotBytes(8);
        b().store(found, answer);
        BlockId make = b().createBlock(), done = b().createBlock();
        b().brIf(isNull(found), make, done);
        b().setBlock(make);
        scoped([&] {
          ValueId newKey = slotFor(map.key), value = slotFor(map.element);
          copy(newKey, key, map.key);
          intoAs(e.children[2], map.element, value);
          b().store(callRuntime("Maps", "PutNew", ir::Ptr, {base, newKey, value}, {map.key, map.element}), answer);
        });
        b().br(done);
        b().setBlock(done);
        return {b().load(ir::Ptr, answer)};
      }
      ValueId found = callRuntime("Maps", "Lookup", ir::Ptr, {base, key}, {map.key, map.element});
      if (otherwise) {
        ValueId answer = slotBytes(8);
        b().store(found, answer);
        BlockId make = b().createBlock(), done = b().createBlock();
        ValueId value = slotFor(map.element, true);
        b().brIf(isNull(found), make, done);
        b().setBlock(make);
        scoped([&] { intoAs(e.children[2], map.element, value); });
        b().store(value, answer);
        b().br(done);
        b().setBlock(done);
        pushDrop(value, map.element);
        return {b().load(ir::Ptr, answer)};
      }
      trapIf(isNull(found), ir::TrapKind::Missing);
      return {found};
    }
    case ExprKind::Slice: {
      ValueId view = slotFor(typeOf(id));
      sliceInto(e, view, forChanging);
      return {view, true};
    }
    case ExprKind::Call: case ExprKind::Builtin:
      if (answersOptionalPlace(id)) return {optionalView(optionalPlace(id), typeOf(id))};
      if (e.kind == ExprKind::Call && isPlace(id)) return {callPlace(id), isTensorView(id)};
      if (e.kind == ExprKind::Builtin && builtinAnswersPlace(e)) return {builtinPlace(id)};
      break;
    case ExprKind::Intrinsic: if (intrinsicAnswersPlace(e)) return {intrinsicPlace(id)}; break;
    default: break;
  }
  return {borrow(id)};
}

// A call that answers an optional place gives the address of its value, 0 for none: `Find`, and functions with the result `read T?` or `inout T?`.
// The declaration decides: a `read T` whose T is an optional here answers a plain place.
bool FunctionLowering::answersOptionalPlace(ExprId id) {
  const Expr& e = expr(id);
  if (l.get(typeOf(id)).kind != Kind::Optional) return false;
  if (e.kind == ExprKind::Call) return isPlace(id) && l.get(program.get(e.callee).result).kind == Kind::Optional;
  return e.kind == ExprKind::Builtin && (e.builtin == Builtin::Find || e.builtin == Builtin::FindInout);
}

ValueId FunctionLowering::optionalPlace(ExprId id) {
  return expr(id).kind == ExprKind::Call ? callPlace(id) : builtinPlace(id);
}

// Such an address as an optional of the bytes that lie there, where a value is wanted. It owns nothing.
ValueId FunctionLowering::optionalView(ValueId address, TypeId optional) {
  const Layout layout = l.layout(optional);
  TypeId element = l.get(optional).element;
  ValueId view = slotFor(optional);
  b().memZero(view, layout.size);
  BlockId some = b().createBlock(), done = b().createBlock();
  b().brIf(isNull(address), done, some);
  b().setBlock(some);
  b().store(b().iconst(ir::I8, 1), view);
  moveBytes(offset(view, layout.offsets[1]), address, element);
  b().br(done);
  b().setBlock(done);
  return view;
}

ValueId FunctionLowering::index(ExprId id) {
  Kind k = l.get(typeOf(id)).kind;
  ValueId i = scalar(id);
  if (b().typeOf(i) == ir::I64) return i;
  return b().convert(k >= Kind::Int8 && k <= Kind::Int64 ? Op::SExt : Op::ZExt, ir::I64, i);
}

// A negative index is a large unsigned number.
void FunctionLowering::boundsCheck(ValueId i, ValueId length) {
  trapIf(b().icmp(Cond::Uge, i, length), ir::TrapKind::Index, {i, length});
}

ValueId FunctionLowering::elementAddress(const Expr& e, bool forChanging) {
  TypeId ownerType = typeOf(e.children[0]);
  const Type owner = l.get(ownerType);
  ValueId base = isPlace(e.children[0]) ? place(e.children[0], forChanging).address : borrow(e.children[0]);
  if (owner.kind == Kind::Tensor) {
    unsigned rank = unsigned(owner.extents.size());
    ValueId offsetElements;
    for (unsigned k = 0; k < rank; k++) {
      ValueId i = index(e.children[1 + k]);
      at(e.place);
      boundsCheck(i, extentOf(base, ownerType, k));
      if (k + 1 < rank) i = b().imul(i, header(ir::I64, base, tensor::strides(int(rank)) + 8 * int(k)));
      offsetElements = offsetElements ? b().iadd(offsetElements, i) : i;
    }
    if (forChanging) checkChange(base);
    uint32_t size = l.sizeOf(types.unmarked(owner.element));
    return b().padd({header(ir::Ptr, base, tensor::Data), b().imul(offsetElements, b().i64(size))});
  }
  ValueId i = index(e.children[1]);
  at(e.place);
  if (owner.kind == Kind::Array) {
    boundsCheck(i, extentValue(owner.extents[0]));
    return b().padd(base, b().imul(i, b().i64(l.sizeOf(owner.element))));
  }
  boundsCheck(i, header(ir::I64, base, sequence::Length));
  uint32_t size = owner.kind == Kind::String ? 1 : l.sizeOf(owner.element);
  return b().padd({header(ir::Ptr, base, sequence::Data), b().imul(i, b().i64(size))});
}

// ---- slices ----

// Where a slice of a tensor begins, its extents, and its strides in elements, the last one included.
FunctionLowering::SliceShape FunctionLowering::sliceShape(const Expr& e, bool forChanging) {
  SliceShape slice;
  TypeId sourceType = typeOf(e.children[0]);
  const Type source = l.get(sourceType);
  ValueId base = isPlace(e.children[0]) ? place(e.children[0], forChanging).address : borrow(e.children[0]);
  if (forChanging) checkChange(base);
  unsigned rank = unsigned(source.extents.size());
  ValueId start = b().i64(0);
  for (unsigned k = 0; k < rank; k++) {
    ValueId extent = extentOf(base, sourceType, k);
    ValueId stride = k + 1 < rank ? b().load(ir::I64, base, tensor::strides(int(rank)) + 8 * int(k)) : b().i64(1);
    Subscript s = k < e.subscripts.size() ? e.subscripts[k] : Subscript{Subscript::Form::Whole, {}, {}, false};
    ValueId low = s.low ? index(s.low) : b().i64(0);
    at(e.place);
    if (s.form == Subscript::Form::Index) {
      boundsCheck(low, extent);
      slice.lastKept = false;
    } else {
      ValueId high = s.form == Subscript::Form::Range ? index(s.high) : extent;
      at(e.place);
      if (s.form == Subscript::Form::Range && s.inclusive) high = b().binary(Op::SAddT, high, b().i64(1));
      if (s.form != Subscript::Form::Whole) {
        ValueId bad = b().or_({b().icmp(Cond::Ugt, low, high), b().icmp(Cond::Ugt, high, extent)});
        trapIf(bad, ir::TrapKind::Range, {low, high, extent});
      }
      slice.extents.push_back(s.form == Subscript::Form::Whole ? extent : b().isub(high, low));
      slice.strides.push_back(stride);
      slice.lastKept = true;
    }
    start = b().iadd(start, b().imul(low, stride));
  }
  slice.base = base;
  slice.element = types.unmarked(source.element);
  slice.data = b().padd({b().load(ir::Ptr, base, tensor::Data), b().imul(start, b().i64(l.sizeOf(slice.element)))});
  return slice;
}

ValueId FunctionLowering::stridesInMemory(const SliceShape& slice) {
  ValueId at = slotBytes(uint32_t(8 * slice.strides.size()));
  for (size_t k = 0; k < slice.strides.size(); k++) b().store(slice.strides[k], at, int64_t(8 * k));
  return at;
}

void FunctionLowering::sliceInto(const Expr& e, ValueId dest, bool forChanging) {
  TypeId sourceType = typeOf(e.children[0]);
  if (l.get(sourceType).kind != Kind::Tensor) return sliceSequence(e, sourceType, dest, forChanging);
  SliceShape slice = sliceShape(e, forChanging);
  int n = int(slice.extents.size());
  if (slice.lastKept) {
    b().store(slice.data, dest, tensor::Data);
    b().store(b().load(ir::Ptr, slice.base, tensor::Owner), dest, tensor::Owner);
    for (int k = 0; k < n; k++) b().store(slice.extents[size_t(k)], dest, tensor::Extents + 8 * k);
    for (int k = 0; k + 1 < n; k++) b().store(slice.strides[size_t(k)], dest, tensor::strides(n) + 8 * k);
    return;
  }
  // The last extent of the result would not be contiguous: its elements are gathered into a tensor of its own.
  ValueId stridesAt = stridesInMemory(slice), data = slice.data;
  uint32_t size = l.sizeOf(slice.element);
  makeTensor(dest, slice.element, slice.extents, false);
  callRuntime("Buffers", "GatherStrided", ir::Void, {dest, data, stridesAt, b().i64(n), b().i64(size)});
  TypeId viewType = types.tensor(slice.element, std::vector<ExtentId>(size_t(n), types.open()));
  pushDrop(dest, viewType);
  if (forChanging) {                            // written back before the copy is released
    cleanups.push_back({Cleanup::Kind::Call, dest, viewType, [this, dest, data, stridesAt, n, size] {
      callRuntime("Buffers", "ScatterStrided", ir::Void, {dest, data, stridesAt, b().i64(n), b().i64(size)});
    }});
  }
}

// A slice with an entry of its own on the tape: a copy whose gradient goes back to where the slice lies.
void FunctionLowering::recordedSliceInto(const Expr& e, ValueId dest) { recordSlice(sliceShape(e, false), typeOf(e.children[0]), dest); }

void FunctionLowering::recordSlice(const SliceShape& slice, TypeId source, ValueId dest) {
  ValueId stridesAt = stridesInMemory(slice), rank = b().i64(int64_t(slice.extents.size())), size = b().i64(l.sizeOf(slice.element));
  makeTensor(dest, slice.element, slice.extents, false);
  callRuntime("Buffers", "GatherStrided", ir::Void, {dest, slice.data, stridesAt, rank, size});
  ValueId sourceRank = b().i64(int64_t(l.get(source).extents.size()));
  callRuntime("Tape", "RecordSlice", ir::Void, {dest, slice.data, stridesAt, rank, slice.base, sourceRank, size});
}

void FunctionLowering::sliceSequence(const Expr& e, TypeId sourceType, ValueId dest, bool forChanging) {
  const Type source = l.get(sourceType);
  ValueId base = isPlace(e.children[0]) ? place(e.children[0], forChanging).address : borrow(e.children[0]);
  ValueId length, data;
  uint32_t size = 1;
  if (source.kind == Kind::Array) {
    length = extentValue(source.extents[0]);
    data = base;
    size = l.sizeOf(source.element);
  } else {
    length = header(ir::I64, base, sequence::Length);
    data = header(ir::Ptr, base, sequence::Data);
    if (source.kind == Kind::List) size = l.sizeOf(source.element);
  }
  const Subscript& s = e.subscripts[0];
  ValueId low = s.low ? index(s.low) : b().i64(0);
  ValueId high = s.form == Subscript::Form::Range ? index(s.high) : length;
  at(e.place);
  if (s.form == Subscript::Form::Range && s.inclusive) high = b().binary(Op::SAddT, high, b().i64(1));
  ValueId bad = b().or_({b().icmp(Cond::Ugt, low, high), b().icmp(Cond::Ugt, high, length)});
  trapIf(bad, ir::TrapKind::Range, {low, high, length});
  if (source.kind == Kind::String) {
    callRuntime("Text", "CheckBorder", ir::Void, {base, low});
    callRuntime("Text", "CheckBorder", ir::Void, {base, high});
  }
  b().store(b().padd(data, b().imul(low, b().i64(size))), dest, sequence::Data);
  b().store(b().isub(high, low), dest, sequence::Length);
  b().store(b().i64(0), dest, sequence::Capacity);
}

}  // namespace mica::lower
