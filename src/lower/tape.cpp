// The tape as a statement: windows, Backward, Gradient, Detach, tracked numbers, and the walk over a record's tracked leaves.
// What a record is and who pins what is in docs/internals.md, "Tracking"; the runtime's side is src/rt/Tape.mica.
#include "frontend/vocabulary.h"
#include "lower/function.h"

namespace mica::lower {

void FunctionLowering::tapeStatement(const Stmt& s) {
  callRuntime("Tape", "Begin", ir::Void, {});
  size_t depth = cleanups.size();
  cleanups.push_back({Cleanup::Kind::EndTape, {}, {}, {}});
  windows++;
  std::vector<ExprId> outer = std::exchange(windowGradients, {});
  for (uint32_t k = 0; k < body.exprs.size(); k++) {
    const Expr& e = body.exprs[k];
    if (e.kind == ExprKind::Gradient && e.place.line >= s.place.line && e.place <= s.end) windowGradients.push_back(e.children[0]);
  }
  statements(s.body);
  popCleanups(depth);
  windows--;
  windowGradients = std::move(outer);
}

// Entries that the window's text asks for are kept; others give their gradient back once it has been passed on.
void FunctionLowering::backward(const Stmt& s) {
  for (ExprId g : windowGradients) {
    const Expr& e = expr(g);
    if (e.kind != ExprKind::Local || !locals[e.local.index].address) continue;
    TypeId t = localType(e.local);
    if (t == types.unmarked(t)) continue;
    ValueId at = locals[e.local.index].address;
    if (l.isTrackedFloat(t)) callRuntime("Tape", "KeepScalar", ir::Void, {at});
    else if (l.get(t).kind == Kind::Tensor) callRuntime("Tape", "KeepBuffer", ir::Void, {b().load(ir::Ptr, at, tensor::Owner)});
  }
  TypeId t = typeOf(s.value);
  ValueId loss = borrow(s.value);
  at(s.place);
  callRuntime("Tape", "Backward", ir::Void, {loss, b().i64(l.sizeOf(types.unmarked(t)))});
}

void FunctionLowering::checkChange(ValueId structAddress) {
  if (inWindow()) callRuntime("Tape", "CheckChange", ir::Void, {b().load(ir::Ptr, structAddress, tensor::Owner)});
}

// After Backward an assignment takes the place's entry along, so that Gradient still answers for the value at Backward.
void FunctionLowering::carryEntry(ValueId newAddress, ValueId oldAddress, TypeId t) {
  if (!inWindow()) return;
  if (l.isTrackedFloat(t)) callRuntime("Tape", "CarryScalar", ir::Void, {newAddress, oldAddress});
  else if (l.get(t).kind == Kind::Tensor)
    callRuntime("Tape", "CarryBuffer", ir::Void, {b().load(ir::Ptr, newAddress, tensor::Owner), b().load(ir::Ptr, oldAddress, tensor::Owner)});
}

// ---- tracked numbers ----

void FunctionLowering::trackedScalarInto(ExprId id, ValueId dest) {
  const Expr& e = expr(id);
  TypeId t = typeOf(id), plain = types.unmarked(t);
  auto row = [&](const char* name) {
    const vocabulary::Row* r = vocabulary::find(name);
    if (!r) internalError(std::string("the vocabulary has no row ") + name);
    rowInto(*r, e.children, t, recordedAt(id), e.place, dest);
  };
  switch (e.kind) {
    case ExprKind::Binary: {
      static const char* names[] = {"+", "-", ".*", "./"};
      return row(names[int(e.binary)]);
    }
    case ExprKind::Unary: return row("Negate");
    case ExprKind::Vocabulary: return vocabularyInto(id, dest);
    case ExprKind::Builtin:
      if (e.builtin == Builtin::Abs) return row("Abs");
      if (e.builtin == Builtin::Min) return row("Min");
      if (e.builtin == Builtin::Max) return row("Max");
      if (e.builtin == Builtin::Copy) return into(e.children[0], dest);
      return builtinInto(id, dest);
    case ExprKind::Convert: {
      TypeId from = typeOf(e.children[0]);
      if (!l.isTrackedFloat(from)) { b().memZero(dest, 16); b().store(scalar(id), dest); return; }
      ValueId pair = borrow(e.children[0]);
      b().memZero(dest, 16);
      TypeId fromPlain = types.unmarked(from);
      b().store(convertScalar(b().load(l.irType(fromPlain), pair), fromPlain, plain, true), dest);
      if (recordedAt(id)) callRuntime("Tape", "RecordConvertScalar", ir::Void, {dest, pair, b().i64(l.sizeOf(fromPlain)), b().i64(l.sizeOf(plain))});
      return;
    }
    case ExprKind::Element: {
      ValueId base = borrow(e.children[0]);
      ValueId address = elementAddress(e, false);
      b().memZero(dest, 16);
      b().store(b().load(l.irType(plain), address), dest);
      callRuntime("Tape", "RecordElement", ir::Void, {dest, base, b().i64(int64_t(l.get(typeOf(e.children[0])).extents.size())), address, b().i64(l.sizeOf(plain))});
      return;
    }
    case ExprKind::If: return ifInto(e, t, dest);
    case ExprKind::Match: return matchInto(e, t, dest);
    case ExprKind::Try: return tryInto(id, e, t, dest);
    case ExprKind::OrElse: return orElseInto(e, t, dest);
    case ExprKind::Call: return callInto(id, dest);
    case ExprKind::CallValue: {
      ValueId result;
      bool failing = false;
      return callValue(e, dest, &result, &failing);
    }
    case ExprKind::Intrinsic: return intrinsicInto(id, dest);
    default: internalError("a tracked number of kind " + std::to_string(int(e.kind)));
  }
}

void FunctionLowering::detachInto(ExprId id, ValueId dest) {
  const Expr& e = expr(id);
  copy(dest, borrow(e.children[0]), types.unmarked(typeOf(id)));
}

// ---- the walk ----

void FunctionLowering::walk(const std::vector<ValueId>& records, TypeId t, const Visit& leaf, const Visit& other, const Path& path) {
  const Type type = l.get(t);
  auto at = [&](int64_t bytes) {
    std::vector<ValueId> parts;
    for (ValueId r : records) parts.push_back(offset(r, bytes));
    return parts;
  };
  switch (type.kind) {
    case Kind::Record: case Kind::Tuple: {
      std::vector<TypeId> fields = l.fieldTypes(t);
      const Layout layout = l.layout(t);
      for (size_t k = 0; k < fields.size(); k++) {
        Path inner = path;
        std::string name = type.kind == Kind::Tuple ? std::to_string(k) : program.get(type.decl).fields[k].name;
        inner.push_back({(path.empty() ? "" : ".") + name, {}});
        walk(at(layout.offsets[k]), fields[k], leaf, other, inner);
      }
      return;
    }
    case Kind::Array: case Kind::List: {
      bool worth = false;                       // lists without anything to walk are one field
      std::function<void(TypeId)> look = [&](TypeId x) {
        const Type xt = l.get(x);
        if (xt.tracked || xt.kind == Kind::Tensor) worth = true;
        else if (xt.kind == Kind::Array || xt.kind == Kind::List) look(xt.element);
        else if (xt.kind == Kind::Record || xt.kind == Kind::Tuple) for (TypeId f : l.fieldTypes(x)) look(f);
      };
      look(type.element);
      if (!worth) break;
      ValueId count = type.kind == Kind::Array ? extentValue(type.extents[0]) : b().load(ir::I64, records[0], sequence::Length);
      if (type.kind == Kind::List)
        for (size_t k = 1; k < records.size(); k++) {
          ValueId length = b().load(ir::I64, records[k], sequence::Length);
          checkMeeting("the lists that `each` walks side by side have the lengths # and #", {count}, {length}, {{count, length}});
        }
      uint32_t size = l.sizeOf(type.element);
      countedLoop(count, [&](ValueId i) {
        std::vector<ValueId> parts;
        for (ValueId r : records)
          parts.push_back(b().padd({type.kind == Kind::Array ? r : b().load(ir::Ptr, r), b().imul(i, b().i64(size))}));
        Path inner = path;
        inner.push_back({path.empty() ? "" : ".", {}});
        inner.push_back({"", i});
        walk(parts, type.element, leaf, other, inner);
      });
      return;
    }
    default: break;
  }
  if (type.tracked) leaf(records, t, path);
  else if (other) other(records, t, path);
}

ValueId FunctionLowering::pathText(const Path& path) {
  ValueId text = slotBytes(sequence::Bytes);
  bool fixed = true;
  std::string whole;
  for (const PathPart& p : path) { fixed &= !p.index; whole += p.text; }
  if (fixed) { stringLiteral(whole, text); return text; }
  b().memZero(text, sequence::Bytes);
  for (const PathPart& p : path) {
    if (p.index) callRuntime("Format", "AppendInt", ir::Void, {text, p.index, b().i64(0)});
    else if (!p.text.empty()) callRuntime("Format", "AppendBytes", ir::Void, {text, b().symAddr(l.stringData(p.text)), b().i64(int64_t(p.text.size()))});
  }
  pushDrop(text, types.scalar(Kind::String));
  return text;
}

void FunctionLowering::each(const Stmt& s) {
  size_t depth = cleanups.size();
  std::vector<ValueId> records;
  for (ExprId r : s.values) records.push_back(isPlace(r) ? place(r, true).address : borrow(r));
  TypeId t = typeOf(s.values[0]);
  for (size_t k = 1; k < records.size(); k++) checkShape(records[k], typeOf(s.values[k]), t);
  walk(records, t, [&](const std::vector<ValueId>& addresses, TypeId leaf, const Path& path) {
    TypeId plain = types.unmarked(leaf);
    for (const EachLeaf& kind : s.leaves) {
      TypeId wanted = fixed(types.substitute(kind.type, instance.decl, instance.typeArgs, knownExtents));
      if (types.unmarked(wanted) != plain) continue;
      for (size_t k = 0; k < kind.locals.size(); k++) if (kind.locals[k]) locals[kind.locals[k].index] = {addresses[k], false};
      scoped([&] {
        if (kind.path) locals[kind.path.index] = {pathText(path), false};
        statements(kind.body);
      });
      return;
    }
    internalError("`each` has no body for a leaf of type " + l.mangle(leaf));
  }, nullptr, {});
  popCleanups(depth);
}

// A record of the same structure: `leaf` fills each tracked leaf, everything else is copied.
void FunctionLowering::recordLike(ValueId dest, ValueId from, TypeId t, const Visit& leaf) {
  const Type type = l.get(t);
  if (type.tracked) return leaf({dest, from}, t, {});
  switch (type.kind) {
    case Kind::Record: case Kind::Tuple: {
      for (size_t k = 0; k < type.extents.size(); k++) b().store(b().load(ir::I64, from, int64_t(8 * k)), dest, int64_t(8 * k));
      std::vector<TypeId> fields = l.fieldTypes(t);
      const Layout layout = l.layout(t);
      for (size_t k = 0; k < fields.size(); k++) {
        ValueId to = offset(dest, layout.offsets[k]), source = offset(from, layout.offsets[k]);
        recordLike(to, source, fields[k], leaf);
      }
      return;
    }
    case Kind::Array:
      countedLoop(extentValue(type.extents[0]), [&](ValueId i) {
        ValueId o = b().imul(i, b().i64(l.sizeOf(type.element)));
        ValueId to = b().padd(dest, o), source = b().padd(from, o);
        recordLike(to, source, type.element, leaf);
      });
      return;
    case Kind::List: {
      ValueId count = b().load(ir::I64, from, sequence::Length);
      uint32_t size = l.sizeOf(type.element);
      b().store(callRuntime("Memory", "Allocate", ir::Ptr, {b().iadd({b().imul(count, b().i64(size)), b().i64(1)})}), dest);
      b().store(count, dest, sequence::Length);
      b().store(b().binary(Op::IMaxS, count, b().i64(1)), dest, sequence::Capacity);
      countedLoop(count, [&](ValueId i) {
        ValueId o = b().imul(i, b().i64(size));
        ValueId to = b().padd(b().load(ir::Ptr, dest), o), source = b().padd(b().load(ir::Ptr, from), o);
        recordLike(to, source, type.element, leaf);
      });
      return;
    }
    default: copy(dest, from, t);
  }
}

void FunctionLowering::gradientValue(ValueId dest, ValueId from, TypeId t) {
  const Type type = l.get(t);
  TypeId plain = types.unmarked(t);
  if (type.kind == Kind::Tensor) {
    callRuntime("Tape", "GradientTensor", ir::Void, {dest, from, b().i64(int64_t(type.extents.size())), b().i64(l.sizeOf(types.unmarked(type.element)))});
  } else {
    callRuntime("Tape", "GradientScalar", ir::Void, {dest, from, b().i64(l.sizeOf(plain))});
  }
}

void FunctionLowering::gradientInto(ExprId id, ValueId dest) {
  const Expr& e = expr(id);
  TypeId from = typeOf(e.children[0]);
  ValueId source = place(e.children[0], false).address;
  at(e.place);
  const Type type = l.get(from);
  if (type.kind == Kind::Tensor || type.kind == Kind::Float32 || type.kind == Kind::Float64) return gradientValue(dest, source, from);
  recordLike(dest, source, from, [&](const std::vector<ValueId>& pair, TypeId leaf, const Path&) {
    if (l.isTrackedFloat(leaf)) b().memZero(pair[0], 16);
    gradientValue(pair[0], pair[1], leaf);
  });
}

void FunctionLowering::zerosLikeValue(ValueId dest, ValueId from, TypeId t) {
  const Type type = l.get(t);
  if (type.kind == Kind::Tensor) {
    makeTensor(dest, types.unmarked(type.element), shapeOf(from, t), true);
    return;
  }
  b().memZero(dest, l.sizeOf(t));
}

// ---- built-ins over models ----

void FunctionLowering::modelBuiltinInto(ExprId id, ValueId dest) {
  const Expr& e = expr(id);
  TypeId t = typeOf(id);
  switch (e.builtin) {
    case Builtin::ZerosLike: {
      ValueId to = dest ? dest : slotFor(t);
      ValueId from = borrow(e.children[0]);
      TypeId source = typeOf(e.children[0]);
      const Type type = l.get(source);
      if (type.kind == Kind::Tensor || type.kind == Kind::Float32 || type.kind == Kind::Float64) zerosLikeValue(to, from, t);
      else recordLike(to, from, source, [&](const std::vector<ValueId>& pair, TypeId leaf, const Path&) { zerosLikeValue(pair[0], pair[1], leaf); });
      if (!dest) pushDrop(to, t);
      return;
    }
    case Builtin::ClipByNorm: return clipByNorm(e, dest);
    case Builtin::Accumulate: return accumulate(e);
    case Builtin::SaveCheckpoint: return saveCheckpoint(e);
    case Builtin::LoadCheckpoint: return loadCheckpoint(id, e, dest ? dest : slotFor(t));
    default: internalError("the built-in number " + std::to_string(int(e.builtin)) + " has no lowering");
  }
}

// The last two sums become one: to the left one's leaves those of the right one are added.
void FunctionLowering::joinLastTwo(ValueId list, TypeId element) {
  ValueId size = b().i64(l.sizeOf(element)), data = b().load(ir::Ptr, list), length = b().load(ir::I64, list, sequence::Length);
  ValueId last = b().isub(length, b().i64(1));
  ValueId right = b().padd(data, b().imul(last, size)), left = b().padd(data, b().imul(b().isub(length, b().i64(2)), size));
  auto add = [&](const std::vector<ValueId>& a, TypeId leaf, const Path&) {
    const Type lt = l.get(leaf);
    bool tensor = lt.kind == Kind::Tensor;
    ValueId count = tensor ? countOf(a[0], leaf) : b().i64(1);
    if (tensor) {
      ValueId other = countOf(a[1], leaf);
      checkMeeting("the tensors of two records that are added have # and # elements", {count}, {other}, {{count, other}});
    }
    callRuntime("Binary", "AddInto", ir::Void, {tensor ? b().load(ir::Ptr, a[0]) : a[0], tensor ? b().load(ir::Ptr, a[1]) : a[1], count},
                {types.unmarked(tensor ? lt.element : leaf)});
  };
  if (l.get(element).kind == Kind::Tensor) add({left, right}, element, {});
  else walk({left, right}, element, add, nullptr, {});
  ValueId gone = slotFor(element);
  callRuntime("Lists", "RemoveInto", ir::Void, {list, last, gone}, {element});
  drop(gone, element);
}

// Part number i joins the sums before it as the sum's tree does: as a binary counter, each zero bit at the end of i + 1 joins two sums of equal
// length. Without a part, what is left is joined from the right.
void FunctionLowering::accumulate(const Expr& e) {
  TypeId element = l.get(typeOf(e.children[0])).element;
  ValueId list = place(e.children[0], true).address;
  ValueId counter = slotBytes(8);
  bool part = e.children.size() > 1;
  if (part) {
    ValueId value = slotFor(element);
    intoAs(e.children[1], element, value);
    b().store(b().iadd({scalar(e.children[2]), b().i64(1)}), counter);
    at(e.place);
    callRuntime("Lists", "AppendFrom", ir::Void, {list, value}, {element});
  }
  BlockId head = b().createBlock(), more = b().createBlock(), join = b().createBlock(), done = b().createBlock();
  b().br(head);
  b().setBlock(head);
  b().brIf(b().icmp(Cond::Sge, {b().load(ir::I64, list, sequence::Length), b().i64(2)}), more, done);
  b().setBlock(more);
  if (part) {
    ValueId n = b().load(ir::I64, counter);
    b().store(b().binary(Op::ShrS, n, b().i64(1)), counter);
    b().brIf(b().icmp(Cond::Eq, {b().binary(Op::And, n, b().i64(1)), b().i64(0)}), join, done);
  } else {
    b().br(join);
  }
  b().setBlock(join);
  joinLastTwo(list, element);
  b().br(head);
  b().setBlock(done);
}

// The global norm over all leaves in field order, on the sum's tree; then every leaf is scaled. A norm that is not finite changes nothing.
void FunctionLowering::clipByNorm(const Expr& e, ValueId dest) {
  TypeId t = typeOf(e.children[0]);
  ValueId base = place(e.children[0], true).address;
  ValueId limit = scalar(e.children[1]);
  at(e.place);
  const Type type = l.get(t);
  auto eachLeaf = [&](const std::function<void(ValueId data, ValueId count, TypeId element)>& visit) {
    auto tensorOrNumber = [&](const std::vector<ValueId>& a, TypeId leaf, const Path&) {
      const Type lt = l.get(leaf);
      if (lt.kind == Kind::Tensor) {
        ValueId data = b().load(ir::Ptr, a[0]);
        visit(data, countOf(a[0], leaf), types.unmarked(lt.element));
      }
      else visit(a[0], b().i64(1), types.unmarked(leaf));
    };
    if (type.kind == Kind::Tensor) tensorOrNumber({base}, t, {});
    else walk({base}, t, tensorOrNumber, nullptr, {});
  };
  ValueId norm = callRuntime("Optimizer", "NormBegin", ir::Ptr, {});
  eachLeaf([&](ValueId data, ValueId count, TypeId element) { callRuntime("Optimizer", "NormAdd", ir::Void, {norm, data, count}, {element}); });
  ValueId total = callRuntime("Optimizer", "NormEnd", ir::F32, {norm});
  ValueId factor = slotBytes(8);
  ValueId scales = callRuntime("Optimizer", "ClipFactor", ir::I1, {total, limit, factor});
  BlockId yes = b().createBlock(), done = b().createBlock();
  b().brIf(scales, yes, done);
  b().setBlock(yes);
  eachLeaf([&](ValueId data, ValueId count, TypeId element) { callRuntime("Optimizer", "Scale", ir::Void, {data, count, b().load(ir::F32, factor)}, {element}); });
  b().br(done);
  b().setBlock(done);
  if (dest) b().store(b().convert(Op::FExt, ir::F64, total), dest);   // the norm is a float32, answered as the settings are
}

}  // namespace mica::lower
