// Values that go to a place of another layout. Inside a window numbers are tracked, and a tracked number is a pair with its tape entry
// (docs/internals.md): so `(float32, int)` has one layout with marks and another without, and what is put somewhere may have to change it.
#include "lower/function.h"

namespace mica::lower {

// As borrow, laid out as `want`, which differs in marks alone.
ValueId FunctionLowering::borrowAs(ExprId id, TypeId want) {
  ValueId address = borrow(id);
  if (l.laidOutAlike(typeOf(id), want)) return address;
  ValueId copied = slotFor(typeOf(id)), answer = slotFor(want);
  copy(copied, address, typeOf(id));
  layOut(answer, want, copied, typeOf(id));
  pushDrop(answer, want);
  return answer;
}

// As into, for a place of type `want`: it differs from the expression's type in marks, or knows extents that are open there and are checked.
void FunctionLowering::intoAs(ExprId id, TypeId want, ValueId dest) {
  if (l.isTrackedFloat(typeOf(id)) && isScalar(want)) return storeValue(dest, want, scalar(id));
  if (l.laidOutAlike(typeOf(id), want)) {
    into(id, dest);
    return checkShape(dest, typeOf(id), want);
  }
  if (l.isTrackedFloat(want)) {                 // a plain number has no entry: it is a leaf when it is used in a window
    b().memZero(dest, 16);
    b().store(scalar(id), dest);
    return;
  }
  ValueId made = slotFor(typeOf(id));
  into(id, made);
  layOut(dest, want, made, typeOf(id));
}

// Moves the value at `from` to `to`, in the layout of a type that differs from its own in marks alone.
void FunctionLowering::layOut(ValueId to, TypeId want, ValueId from, TypeId have) {
  if (l.laidOutAlike(have, want)) return moveBytes(to, from, want);
  const Type w = l.get(want), h = l.get(have);
  switch (w.kind) {
    case Kind::Float32: case Kind::Float64: {
      ValueId value = b().load(l.irType(have), from);
      if (l.isTrackedFloat(want)) b().memZero(to, 16);
      b().store(value, to);
      return;
    }
    case Kind::Tuple: {
      const Layout wanted = l.layout(want), given = l.layout(have);
      for (size_t k = 0; k < w.args.size(); k++) {
        ValueId part = offset(to, wanted.offsets[k]), old = offset(from, given.offsets[k]);
        layOut(part, w.args[k], old, h.args[k]);
      }
      return;
    }
    case Kind::Optional: {
      b().memZero(to, l.sizeOf(want));
      b().store(b().load(ir::I8, from), to);
      ValueId held = offset(to, l.layout(want).offsets[1]), old = offset(from, l.layout(have).offsets[1]);
      return layOut(held, w.element, old, h.element);
    }
    case Kind::Array: return layOutElements(to, w.element, from, h.element, extentValue(w.extents[0]));
    case Kind::List: {
      ValueId count = b().load(ir::I64, from, sequence::Length);
      ValueId data = callRuntime("Memory", "Allocate", ir::Ptr, {b().imul(count, b().i64(l.sizeOf(w.element)))});
      layOutElements(data, w.element, b().load(ir::Ptr, from), h.element, count);
      b().store(data, to);
      b().store(count, to, sequence::Length);
      b().store(b().binary(Op::IMaxS, count, b().i64(1)), to, sequence::Capacity);
      b().store(b().i64(0), from, sequence::Length);            // the elements have moved; the memory remains to be freed
      return drop(from, have);
    }
    case Kind::Map: case Kind::Set: return layOutEntries(to, w, from, have);
    case Kind::Box: {
      ValueId old = b().load(ir::Ptr, from), block = callRuntime("Memory", "Allocate", ir::Ptr, {b().i64(l.sizeOf(w.element))});
      layOut(block, w.element, old, h.element);
      b().store(block, to);
      return callRuntime("Memory", "Release", ir::Void, {old}), void();
    }
    default: internalError("a " + l.mangle(have) + " where a " + l.mangle(want) + " is wanted");   // marks are in no other kind of type
  }
}

void FunctionLowering::layOutElements(ValueId to, TypeId want, ValueId from, TypeId have, ValueId count) {
  ValueId wide = b().i64(l.sizeOf(want)), given = b().i64(l.sizeOf(have));
  countedLoop(count, [&](ValueId i) {
    ValueId element = b().padd(to, b().imul(i, wide)), old = b().padd(from, b().imul(i, given));
    layOut(element, want, old, have);
  });
}

// The entries of a map or set, one by one, in their order. What has moved is zero, so releasing the old table frees its memory alone.
void FunctionLowering::layOutEntries(ValueId to, const Type& want, ValueId from, TypeId have) {
  const Type given = l.get(have);
  bool isMap = want.kind == Kind::Map;
  const char* module = isMap ? "Maps" : "Sets";
  TypeId wantKey = isMap ? want.key : want.element, haveKey = isMap ? given.key : given.element;
  std::vector<TypeId> args = isMap ? std::vector<TypeId>{given.key, given.element} : std::vector<TypeId>{given.element};
  ValueId key = slotFor(wantKey), value = isMap ? slotFor(want.element) : ValueId();
  b().memZero(to, 8);
  countedLoop(callRuntime(module, "EntryCount", ir::I64, {from}, args), [&](ValueId i) {
    ValueId entry = callRuntime(module, "EntryAt", ir::Ptr, {from, i}, args);   // the key's address, 0 for a removed one
    BlockId live = b().createBlock();
    b().brIf(isNull(entry), loops.back().continueTo, live);
    b().setBlock(live);
    layOut(key, wantKey, entry, haveKey);
    b().memZero(entry, l.sizeOf(haveKey));
    if (!isMap) {
      callRuntime("Sets", "Put", ir::I1, {to, key}, {want.element});
      return;
    }
    ValueId old = callRuntime("Maps", "EntryValue", ir::Ptr, {entry}, args);
    layOut(value, want.element, old, given.element);
    b().memZero(old, l.sizeOf(given.element));
    callRuntime("Maps", "Put", ir::Void, {to, key, value}, {want.key, want.element});
  });
  drop(from, have);
}

}  // namespace mica::lower
