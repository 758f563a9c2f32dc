// Tensors: their extents, making them, copies between views, conversions.
#include "lower/function.h"

namespace mica::lower {

ValueId FunctionLowering::extentOf(ValueId address, TypeId t, unsigned k) {
  ExtentId e = l.get(t).extents[k];
  if (!types.isOpen(e)) return extentValue(e);
  return header(ir::I64, address, tensor::Extents + 8 * int(k));
}

std::vector<ValueId> FunctionLowering::shapeOf(ValueId address, TypeId t) {
  std::vector<ValueId> shape;
  for (unsigned k = 0; k < l.get(t).extents.size(); k++) shape.push_back(extentOf(address, t, k));
  return shape;
}

ValueId FunctionLowering::countOf(ValueId address, TypeId t) {
  ValueId n = b().i64(1);
  for (ValueId e : shapeOf(address, t)) n = b().imul(n, e);     // no overflow: the buffer exists
  return n;
}

// A contiguous struct.
void FunctionLowering::fillStruct(ValueId dest, ValueId data, ValueId owner, const std::vector<ValueId>& extents) {
  int rank = int(extents.size());
  b().store(data, dest, tensor::Data);
  b().store(owner, dest, tensor::Owner);
  for (int k = 0; k < rank; k++) b().store(extents[size_t(k)], dest, tensor::Extents + 8 * k);
  ValueId stride;
  for (int k = rank - 2; k >= 0; k--) {
    stride = stride ? b().imul(stride, extents[size_t(k) + 1]) : extents[size_t(k) + 1];
    b().store(stride, dest, tensor::strides(rank) + 8 * k);
  }
}

// Extents that are negative or whose product is too large trap inside Buffers.Make.
void FunctionLowering::makeTensor(ValueId dest, TypeId element, const std::vector<ValueId>& extents, bool zeroed) {
  ValueId at = slotBytes(uint32_t(8 * extents.size()));
  for (size_t k = 0; k < extents.size(); k++) b().store(extents[k], at, int64_t(8 * k));
  ValueId owner = callRuntime("Buffers", zeroed ? "MakeZeroed" : "Make", ir::Ptr, {at, b().i64(int64_t(extents.size())), b().i64(l.sizeOf(element))});
  fillStruct(dest, b().padd(owner, b().i64(tensor::HeaderBytes)), owner, extents);
}

// The address of a contiguous tensor with the same elements. Rank 1 always is one.
ValueId FunctionLowering::contiguous(ValueId address, TypeId t) {
  const Type type = l.get(t);
  int rank = int(type.extents.size());
  if (rank < 2) return address;
  ValueId held = slotBytes(uint32_t(tensor::bytes(rank)));
  ValueId answer = callRuntime("Buffers", "Contiguous", ir::Ptr, {address, held, b().i64(rank), b().i64(l.sizeOf(types.unmarked(type.element)))});
  pushDrop(held, types.unmarked(t));
  return answer;
}

void FunctionLowering::copyElements(ValueId to, ValueId from, TypeId toType, TypeId fromType) {
  const Type type = l.get(toType);
  int rank = int(type.extents.size());
  if (l.get(fromType).kind != Kind::Tensor) internalError("a slice takes a tensor");
  callRuntime("Buffers", "CopyElements", ir::Void, {to, from, b().i64(rank), b().i64(l.sizeOf(types.unmarked(type.element)))});
}

// [[1, 2], [3, 4]]: children are scalars (rank 1) or the rows, themselves literals or tensors.
void FunctionLowering::makeTensorLiteral(const Expr& e, TypeId t, ValueId dest) {
  const Type type = l.get(t);
  TypeId element = types.unmarked(type.element);
  uint32_t size = l.sizeOf(element);
  // Open inner extents are those of the first row: a literal's length, or what a tensor shows, which is then worked out before the rest.
  std::vector<ValueId> extents;
  size_t depth = cleanups.size();
  const Expr* row = &e;
  ExprId first;
  ValueId firstValue;
  for (unsigned k = 0; k < type.extents.size(); k++) {
    if (!types.isOpen(type.extents[k])) extents.push_back(extentValue(type.extents[k]));
    else if (!first) extents.push_back(b().i64(int64_t(row->children.size())));
    else extents.push_back(extentOf(firstValue, typeOf(first), k - unsigned(type.extents.size() - l.get(typeOf(first)).extents.size())));
    if (first || row->children.empty() || k + 1 == type.extents.size()) continue;
    ExprId next = row->children[0];
    row = &expr(next);
    if (row->kind == ExprKind::MakeTensor) continue;
    first = next;
    firstValue = contiguous(borrow(first), typeOf(first));
  }
  at(e.place);
  makeTensor(dest, element, extents, false);
  size_t made = cleanups.size();
  pushDrop(dest, t);
  ValueId data = b().load(ir::Ptr, dest);
  ValueId rowBytes = b().i64(size);
  for (size_t k = 1; k < extents.size(); k++) rowBytes = b().imul(rowBytes, extents[k]);
  std::function<void(ExprId, ValueId, unsigned)> fill = [&](ExprId child, ValueId p, unsigned level) {
    const Expr& c = expr(child);
    if (level == 0) {
      TypeId ct = typeOf(child);
      b().store(l.isTrackedFloat(ct) ? b().load(l.irType(element), borrow(child)) : scalar(child), p);
      return;
    }
    if (c.kind == ExprKind::MakeTensor) {
      ValueId step = b().i64(size);
      for (size_t k = extents.size() - level + 1; k < extents.size(); k++) step = b().imul(step, extents[k]);
      for (size_t k = 0; k < c.children.size(); k++) fill(c.children[k], b().padd(p, b().imul(b().i64(int64_t(k)), step)), level - 1);
      return;
    }
    ValueId row = child == first ? firstValue : contiguous(borrow(child), typeOf(child));     // a tensor as a row
    at(e.place);
    std::vector<ValueId> wanted(extents.end() - level, extents.end()), shown = shapeOf(row, typeOf(child));
    std::vector<Meeting> meeting;
    for (unsigned k = 0; k < level; k++)
      if (types.isOpen(l.get(typeOf(child)).extents[k])) meeting.push_back({wanted[k], shown[k]});
    if (child != first) checkMeeting("the rows of this tensor have the shapes % and %", wanted, shown, meeting);
    callRuntime("Memory", "Copy", ir::Void, {p, b().load(ir::Ptr, row), rowBytes});
  };
  for (size_t k = 0; k < e.children.size(); k++)
    scoped([&] { fill(e.children[k], b().padd(data, b().imul(b().i64(int64_t(k)), rowBytes)), unsigned(extents.size()) - 1); });
  cleanups.resize(made);
  popCleanups(depth);
}

// Zeros and Ones: the extents are the type's known ones, or the run-time integers in the brackets.
void FunctionLowering::zerosInto(ExprId, const Expr& e, TypeId t, ValueId dest, bool ones) {
  const Type type = l.get(t);
  if (type.kind != Kind::Tensor) internalError("Zeros of something that is no tensor");
  TypeId element = types.unmarked(type.element);
  std::vector<ValueId> extents;
  for (unsigned k = 0; k < type.extents.size(); k++) {
    if (!types.isOpen(type.extents[k])) { extents.push_back(extentValue(type.extents[k])); continue; }
    if (k >= e.extentArgs.size() || e.extentArgs[k].from != ExtentArg::From::Value) internalError("Zeros without an extent");
    extents.push_back(index(e.extentArgs[k].value));
  }
  at(e.place);
  makeTensor(dest, element, extents, !ones);
  if (!ones) return;
  ir::Type s = l.irType(element);
  ValueId one = s.isFloat() ? b().fconst(s, 1) : b().iconst(s, 1);
  ValueId pattern = slotBytes(8);
  b().store(one, pattern);
  callRuntime("Buffers", "Fill", ir::Void, {b().load(ir::Ptr, dest), countOf(dest, t), pattern, b().i64(l.sizeOf(element))});
}

// A call of a library function with @fill: it makes the elements of a fresh tensor, or one number.
void FunctionLowering::fillInto(ExprId id, ValueId dest) {
  const Expr& e = expr(id);
  TypeId t = typeOf(id);
  const Type type = l.get(t);
  const Decl& callee = program.get(e.callee);
  Instance target;
  target.decl = e.callee;
  for (size_t k = 0; k < e.typeArgs.size(); k++) target.typeArgs.push_back(l.canonical(typeArg(e, k)));
  target.extents.assign(callee.extentParams.size(), -1);
  for (const ParamDecl& p : callee.params) target.params.push_back(types.substitute(p.type, e.callee, target.typeArgs, {}));
  std::vector<ValueId> extents;
  for (unsigned k = 0; k < type.extents.size(); k++) {
    if (!types.isOpen(type.extents[k])) { extents.push_back(extentValue(type.extents[k])); continue; }
    if (k >= e.extentArgs.size() || e.extentArgs[k].from != ExtentArg::From::Value) internalError(callee.name + " without an extent");
    extents.push_back(index(e.extentArgs[k].value));
  }
  std::vector<ValueId> args(2);
  for (size_t k = 0; k < e.children.size(); k++) args.push_back(argument(e.children[k], callee.params[k + 2].mode, target.params[k + 2]));
  at(e.place);
  bool isTensor = type.kind == Kind::Tensor;
  if (isTensor) makeTensor(dest, types.unmarked(type.element), extents, false);
  args[0] = isTensor ? b().load(ir::Ptr, dest) : dest;
  args[1] = isTensor ? countOf(dest, t) : b().i64(1);
  b().call(l.instanceSymbol(target), ir::Void, args);
}

void FunctionLowering::convertTensor(ExprId id, TypeId t, ValueId dest) {
  const Expr& e = expr(id);
  TypeId from = typeOf(e.children[0]);
  const Type source = l.get(from), target = l.get(t);
  TypeId sourceElement = types.unmarked(source.element), targetElement = types.unmarked(target.element);
  ValueId x = contiguous(borrow(e.children[0]), from);
  if (sourceElement == targetElement) return copy(dest, x, t);
  std::vector<ValueId> extents = shapeOf(x, from);
  makeTensor(dest, targetElement, extents, false);
  uint32_t fromSize = l.sizeOf(sourceElement), toSize = l.sizeOf(targetElement);
  ValueId in = b().load(ir::Ptr, x), out = b().load(ir::Ptr, dest);
  countedLoop(countOf(dest, t), [&](ValueId i) {
    ValueId v = loadValue(b().padd(in, b().imul(i, b().i64(fromSize))), sourceElement);
    ValueId to = b().padd(out, b().imul(i, b().i64(toSize)));
    storeValue(to, targetElement, convertScalar(v, sourceElement, targetElement, true));
  });
  if (recordedAt(id)) callRuntime("Tape", "RecordConvert", ir::Void, {dest, x, countOf(dest, t), b().i64(fromSize), b().i64(toSize)});
}

void FunctionLowering::reshapeInto(ExprId id, ValueId dest) {
  const Expr& e = expr(id);
  TypeId t = typeOf(id), from = typeOf(e.children[0]);
  const Type type = l.get(t);
  ValueId x = contiguous(borrow(e.children[0]), from);
  std::vector<ValueId> extents;
  for (unsigned k = 0; k < type.extents.size(); k++) {
    if (!types.isOpen(type.extents[k])) extents.push_back(extentValue(type.extents[k]));
    else if (k < e.extentArgs.size() && e.extentArgs[k].from == ExtentArg::From::Value) extents.push_back(index(e.extentArgs[k].value));
    else internalError("Reshape without an extent");
  }
  at(e.place);
  TypeId element = types.unmarked(type.element);
  makeTensor(dest, element, extents, false);
  ValueId have = countOf(x, from), want = countOf(dest, t);
  checkMeeting("a Reshape keeps the number of elements, and % and % differ in it", shapeOf(x, from), extents, {{have, want}});
  callRuntime("Memory", "Copy", ir::Void, {b().load(ir::Ptr, dest), b().load(ir::Ptr, x), b().imul(have, b().i64(l.sizeOf(element)))});
  if (recordedAt(id)) callRuntime("Tape", "RecordSame", ir::Void, {dest, x, have, b().i64(l.sizeOf(element))});
}

// Tensors one behind the other along the first extent; the other extents agree, at run time where they are open.
void FunctionLowering::concatInto(ExprId id, ValueId dest) {
  const Expr& e = expr(id);
  TypeId t = typeOf(id);
  TypeId element = types.unmarked(l.get(t).element);
  uint32_t size = l.sizeOf(element), number = uint32_t(e.children.size());
  std::vector<ValueId> parts, counts, extents;
  for (ExprId x : e.children) parts.push_back(contiguous(borrow(x), typeOf(x)));
  at(e.place);
  for (uint32_t k = 0; k < number; k++) {
    TypeId part = typeOf(e.children[k]);
    std::vector<ValueId> shape = shapeOf(parts[k], part);
    counts.push_back(countOf(parts[k], part));
    if (k == 0) { extents = shape; continue; }
    std::vector<Meeting> meeting;
    for (unsigned d = 1; d < shape.size(); d++) {
      ExtentId have = l.get(part).extents[d];
      if (have == l.get(typeOf(e.children[0])).extents[d] && !types.isOpen(have)) continue;
      meeting.push_back({extents[d], shape[d]});
    }
    checkMeeting("the shapes of this Concat do not fit: % and %", shapeOf(parts[0], typeOf(e.children[0])), shape, meeting);
    extents[0] = b().iadd(extents[0], shape[0]);
  }
  makeTensor(dest, element, extents, false);
  ValueId to = b().load(ir::Ptr, dest), list = slotBytes(16 * number);
  for (uint32_t k = 0; k < number; k++) {
    ValueId bytes = b().imul(counts[k], b().i64(size));
    callRuntime("Memory", "Copy", ir::Void, {to, b().load(ir::Ptr, parts[k]), bytes});
    to = b().padd(to, bytes);
    b().store(l.get(typeOf(e.children[k])).tracked ? b().load(ir::Ptr, parts[k], tensor::Owner) : null(), list, 16 * k);
    b().store(counts[k], list, 16 * k + 8);
  }
  if (recordedAt(id)) callRuntime("Tape", "RecordConcat", ir::Void, {dest, list, b().i64(number), b().i64(size)});
}

// The tensor so many times, under a new leading extent.
void FunctionLowering::repeatInto(ExprId id, ValueId dest) {
  const Expr& e = expr(id);
  TypeId t = typeOf(id), from = typeOf(e.children[0]);
  TypeId element = types.unmarked(l.get(t).element);
  ValueId x = contiguous(borrow(e.children[0]), from);
  ExtentId known = l.get(t).extents[0];
  ValueId times = types.isOpen(known) ? index(e.extentArgs[0].value) : extentValue(known);
  at(e.place);
  std::vector<ValueId> extents{times};
  for (ValueId v : shapeOf(x, from)) extents.push_back(v);
  makeTensor(dest, element, extents, false);
  ValueId count = countOf(x, from), size = b().i64(l.sizeOf(element)), bytes = b().imul(count, size);
  ValueId to = b().load(ir::Ptr, dest), source = b().load(ir::Ptr, x);
  countedLoop(times, [&](ValueId i) { callRuntime("Memory", "Copy", ir::Void, {b().padd(to, b().imul(i, bytes)), source, bytes}); });
  if (recordedAt(id)) callRuntime("Tape", "RecordRepeat", ir::Void, {dest, x, times, count, size});
}

}  // namespace mica::lower
