// Statements.
#include "lower/function.h"

namespace mica::lower {

void FunctionLowering::statements(const std::vector<StmtId>& list) {
  for (StmtId s : list) {
    if (endsBlock()) return;                    // what follows a `return` is never run
    statement(s);
  }
}

void FunctionLowering::blockOf(const std::vector<StmtId>& list) {
  scoped([&] { statements(list); });
}

// Temporaries of a statement are released at its end; what it declares lives on.
void FunctionLowering::statement(StmtId id) {
  const Stmt& s = stmt(id);
  at(s.place);
  switch (s.kind) {
    case StmtKind::Expression: scoped([&] { evaluate(s.value); }); break;
    case StmtKind::Declare: declare(s); break;
    case StmtKind::Assign: scoped([&] { assign(s); }); break;
    case StmtKind::AssignTuple: scoped([&] { assignTuple(s); }); break;
    case StmtKind::Update: scoped([&] { update(s); }); break;
    case StmtKind::If: ifStatement(s); break;
    case StmtKind::IfLet: ifLet(s); break;
    case StmtKind::While: whileStatement(s); break;
    case StmtKind::WhileLet: whileLet(s); break;
    case StmtKind::For: forStatement(s); break;
    case StmtKind::LoopForever: loopForever(s); break;
    case StmtKind::Match: matchStatement(s); break;
    case StmtKind::Break: emitCleanups(loops.back().depth); b().br(loops.back().breakTo); break;
    case StmtKind::Continue: emitCleanups(loops.back().depth); b().br(loops.back().continueTo); break;
    case StmtKind::Return: returnStatement(s); break;
    case StmtKind::Fail: failStatement(s); break;
    case StmtKind::Assert: assertStatement(s); break;
    case StmtKind::Tape: tapeStatement(s); break;
    case StmtKind::Backward: scoped([&] { backward(s); }); break;
    case StmtKind::Each: each(s); break;
    case StmtKind::Attempt: attempt(s); break;
    case StmtKind::Block: blockOf(s.body); break;
    case StmtKind::Tasks: internalError("tasks reached lowering");
    case StmtKind::Error: internalError("a refused statement reached lowering");
  }
}

// ---- declarations and assignments ----

void FunctionLowering::declare(const Stmt& s) {
  if (!s.local) {                               // `let (a, b) := pair`, or `_ := e`
    if (!s.pattern) return scoped([&] { evaluate(s.value); });
    TypeId t = typeOf(s.value);
    ValueId whole = slotFor(t);
    scoped([&] { into(s.value, whole); });
    bindPattern(s.pattern, whole, t, Mode::Move);
    return;
  }
  const Local& x = local(s.local);
  TypeId t = localType(s.local);
  LocalState& state = locals[s.local.index];
  // A slice that is recorded is a value with an entry of its own, so its name holds it.
  if ((x.form == Local::Form::NamedRead && !recordedAt(s.value)) || x.form == Local::Form::NamedInout) {
    // What the place needs (a view, an entry's key) stays until the name's block ends.
    PlaceRef p = place(s.value, x.form == Local::Form::NamedInout);
    checkShape(p.address, typeOf(s.value), t);
    state = {p.address, p.sliceView};
    return;
  }
  ValueId slot = slotFor(t);
  scoped([&] { intoAs(s.value, t, slot); });
  state = {slot, false};
  pushDrop(slot, t);
}

void FunctionLowering::assign(const Stmt& s) { assignTo(s.target, s.value); }

void FunctionLowering::assignTo(ExprId target, ExprId value) {
  TypeId t = typeOf(target);
  const Expr& to = expr(target);
  if (to.kind == ExprKind::MapElement) {        // m[k] := v
    const Type map = l.get(typeOf(to.children[0]));
    ValueId base = place(to.children[0], true).address;
    ValueId key = slotFor(map.key);
    intoAs(to.children[1], map.key, key);
    return putInto(base, map, key, value);
  }
  if (isScalar(t)) {
    ValueId address = place(target, true).address;
    ValueId v = scalar(value);
    at(to.place);
    storeValue(address, t, v);
    return;
  }
  PlaceRef p = place(target, true);
  TypeId from = typeOf(value);
  if (p.sliceView) {                            // element by element
    ValueId v = borrow(value);
    at(to.place);
    copyElements(p.address, v, t, from);
    return;
  }
  ValueId fresh = slotFor(t);
  intoAs(value, t, fresh);
  at(to.place);
  checkKept(target, p.address, fresh);
  carryEntry(fresh, p.address, t);
  drop(p.address, t);
  moveBytes(p.address, fresh, t);
}

// (a, b) := (c, d): all values first, then all places.
void FunctionLowering::assignTuple(const Stmt& s) {
  std::vector<ValueId> fresh;
  for (ExprId v : s.values) {
    ValueId slot = slotFor(typeOf(v));
    into(v, slot);
    fresh.push_back(slot);
  }
  std::vector<ExprId> targets = s.targets;
  for (size_t k = 0; k < targets.size(); k++) {
    if (!targets[k]) { if (k < fresh.size()) drop(fresh[k], typeOf(s.values[k])); continue; }
    TypeId t = typeOf(targets[k]);
    bool apart = fresh.size() == targets.size();
    ValueId value = apart ? fresh[k] : offset(fresh[0], l.layout(typeOf(s.values[0])).offsets[k]);
    TypeId given = apart ? typeOf(s.values[k]) : l.get(typeOf(s.values[0])).args[k];
    if (!apart) checkShape(value, given, t);
    const Expr& to = expr(targets[k]);
    if (to.kind == ExprKind::MapElement) {
      const Type map = l.get(typeOf(to.children[0]));
      ValueId base = place(to.children[0], true).address, key = slotFor(map.key), element = slotFor(map.element);
      intoAs(to.children[1], map.key, key);
      layOut(element, map.element, value, given);
      callRuntime("Maps", "Put", ir::Void, {base, key, element}, {map.key, map.element});
      continue;
    }
    PlaceRef p = place(targets[k], true);
    if (p.sliceView) { copyElements(p.address, value, t, t); drop(value, t); continue; }
    checkKept(targets[k], p.address, value);
    drop(p.address, t);
    layOut(p.address, t, value, given);
  }
}

// target op= value, the place worked out once. Tensors are rebound: x := x op y.
void FunctionLowering::update(const Stmt& s) {
  TypeId t = typeOf(s.target);
  if (isScalar(t)) {
    ValueId address = place(s.target, true).address;
    ValueId old = loadValue(address, t);
    ValueId y = scalar(s.value);
    at(s.place);
    storeValue(address, t, arithmetic(s.binary, t, old, y));
    return;
  }
  if (l.get(t).kind == Kind::List || l.get(t).kind == Kind::String) {
    ValueId address = place(s.target, true).address;
    if (l.get(t).kind == Kind::String) {
      callRuntime("Format", "AppendText", ir::Void, {address, borrow(s.value), b().i64(0)});
      return;
    }
    ValueId more = slotFor(t);
    intoAs(s.value, t, more);
    callRuntime("Lists", "AppendAll", ir::Void, {address, more}, {l.get(t).element});
    return;
  }
  // `second` holds the whole operation for tensors and tracked floats: x op y with x the place itself.
  PlaceRef p = place(s.target, true);
  ValueId fresh = slotFor(t);
  intoAs(s.second, t, fresh);
  at(s.place);
  if (p.sliceView) { copyElements(p.address, fresh, t, typeOf(s.second)); drop(fresh, t); return; }
  checkKept(s.target, p.address, fresh);
  carryEntry(fresh, p.address, t);
  drop(p.address, t);
  moveBytes(p.address, fresh, t);
}

void FunctionLowering::setScalarLocal(LocalId x, ValueId value) {
  if (!x) return;
  TypeId t = localType(x);
  if (!locals[x.index].address) locals[x.index].address = slotFor(t);
  if (l.isTrackedFloat(t)) b().memZero(locals[x.index].address, 16);
  b().store(value, locals[x.index].address);
}

// ---- conditions ----

// `Raw.SizeOf[T]() = n` is known in an instance: kernels for several element types choose their text by it.
std::optional<bool> FunctionLowering::sizeCondition(ExprId id) {
  const Expr& e = expr(id);
  if (e.kind != ExprKind::Binary || e.binary != BinaryOp::Eq) return std::nullopt;
  const Expr &size = expr(e.children[0]), &number = expr(e.children[1]);
  if (size.kind != ExprKind::Intrinsic || size.text != "Raw.SizeOf" || number.kind != ExprKind::Int) return std::nullopt;
  return int64_t(l.sizeOf(typeArg(size, 0))) == number.intValue;
}

void FunctionLowering::ifStatement(const Stmt& s) {
  if (std::optional<bool> known = sizeCondition(s.value)) return blockOf(*known ? s.body : s.otherwise);
  BlockId yes = b().createBlock(), no = b().createBlock(), done = b().createBlock();
  b().brIf(condition(s.value), yes, no);
  b().setBlock(yes);
  blockOf(s.body);
  if (!endsBlock()) b().br(done);
  b().setBlock(no);
  blockOf(s.otherwise);
  if (!endsBlock()) b().br(done);
  b().setBlock(done);
}

// Binds the names of an optional's part: the address of the part, or a copy of a number.
void FunctionLowering::bindOptionalPart(const Stmt& s, ValueId part, TypeId element, Mode mode) {
  if (s.pattern) return bindPattern(s.pattern, part, element, mode);
  if (!s.local) return;
  if (isScalar(element) && mode != Mode::Inout) { setScalarLocal(s.local, loadValue(part, element)); return; }
  locals[s.local.index].address = part;
}

void FunctionLowering::ifLet(const Stmt& s) {
  size_t depth = cleanups.size();
  BlockId yes = b().createBlock(), no = b().createBlock(), done = b().createBlock();
  TypeId optional = typeOf(s.value);
  TypeId element = l.get(optional).element;
  ValueId part;
  if (answersOptionalPlace(s.value)) {
    part = optionalPlace(s.value);
    b().brIf(isNull(part), no, yes);
  } else {
    ValueId p = isPlace(s.value) ? place(s.value, s.mode == Mode::Inout).address : borrow(s.value);
    b().brIf(b().icmp(Cond::Ne, {b().load(ir::I8, p), b().iconst(ir::I8, 0)}), yes, no);
    b().setBlock(yes);
    part = offset(p, l.layout(optional).offsets[1]);
  }
  b().setBlock(yes);
  scoped([&] {
    bindOptionalPart(s, part, element, s.mode);
    statements(s.body);
  });
  if (!endsBlock()) b().br(done);
  b().setBlock(no);
  blockOf(s.otherwise);
  if (!endsBlock()) b().br(done);
  b().setBlock(done);
  popCleanups(depth);
}

// ---- loops ----

void FunctionLowering::whileStatement(const Stmt& s) {
  BlockId head = b().createBlock(), inside = b().createBlock(), done = b().createBlock();
  b().br(head);
  b().setBlock(head);
  at(s.place);
  b().brIf(condition(s.value), inside, done);
  b().setBlock(inside);
  loops.push_back({done, head, cleanups.size()});
  blockOf(s.body);
  loops.pop_back();
  if (!endsBlock()) b().br(head);
  b().setBlock(done);
}

void FunctionLowering::loopForever(const Stmt& s) {
  BlockId head = b().createBlock(), done = b().createBlock();
  b().br(head);
  b().setBlock(head);
  loops.push_back({done, head, cleanups.size()});
  blockOf(s.body);
  loops.pop_back();
  if (!endsBlock()) b().br(head);
  b().setBlock(done);
}

void FunctionLowering::whileLet(const Stmt& s) {
  BlockId head = b().createBlock(), inside = b().createBlock(), leave = b().createBlock(), next = b().createBlock(), done = b().createBlock();
  b().br(head);
  b().setBlock(head);
  at(s.place);
  size_t depth = cleanups.size();
  TypeId optional = typeOf(s.value);
  TypeId element = l.get(optional).element;
  ValueId part;
  if (answersOptionalPlace(s.value)) {
    part = optionalPlace(s.value);
    b().brIf(isNull(part), leave, inside);
    b().setBlock(inside);
  } else {
    ValueId p = isPlace(s.value) ? place(s.value, s.mode == Mode::Inout).address : borrow(s.value);
    b().brIf(b().icmp(Cond::Ne, {b().load(ir::I8, p), b().iconst(ir::I8, 0)}), inside, leave);
    b().setBlock(inside);
    part = offset(p, l.layout(optional).offsets[1]);
  }
  // `continue` and the round's end both release the optional; `break` does so on its way.
  loops.push_back({done, next, cleanups.size()});
  scoped([&] {
    bindOptionalPart(s, part, element, s.mode);
    statements(s.body);
  });
  if (!endsBlock()) b().br(next);
  loops.pop_back();
  b().setBlock(next);
  emitCleanups(depth);
  b().br(head);
  b().setBlock(leave);
  emitCleanups(depth);
  BlockId after = b().createBlock();
  b().br(after);
  b().setBlock(done);                           // `break` arrives with the optional still there
  emitCleanups(depth);
  b().br(after);
  b().setBlock(after);
  cleanups.resize(depth);
}

void FunctionLowering::forStatement(const Stmt& s) {
  scoped([&] {
    runLoop(*s.loop, [&] { statements(s.body); });
  });
}

void FunctionLowering::runLoop(const Loop& loop, const std::function<void()>& inside) {
  if (loop.form == Loop::Form::Range) rangeLoop(loop, inside);
  else walkLoop(loop, inside);
}

// Counts without overflowing at the last value: whether another round follows is decided before the counter moves on, by comparing with
// the last value or, with a step, by the number of rounds that are left.
void FunctionLowering::rangeLoop(const Loop& loop, const std::function<void()>& inside) {
  TypeId t = loop.variable ? localType(loop.variable) : typeOf(loop.low);
  ir::Type s = l.irType(t);
  bool isSigned = l.get(t).kind >= Kind::Int8 && l.get(t).kind <= Kind::Int64;
  bool chars = l.get(t).kind == Kind::Char;      // d800 to dfff are no characters: behind d7ff comes e000
  ValueId low = scalar(loop.low), high = scalar(loop.high), one = b().iconst(s, 1), zero = b().iconst(s, 0);
  ValueId step = loop.step ? scalar(loop.step) : one;
  BlockId enter = b().createBlock(), head = b().createBlock({s}), next = b().createBlock(), again = b().createBlock(), done = b().createBlock();
  Cond before = loop.inclusive ? (isSigned ? Cond::Sle : Cond::Ule) : (isSigned ? Cond::Slt : Cond::Ult);
  ValueId counter = slotBytes(s.bytes(), s.bytes()), left = loop.step ? slotBytes(s.bytes(), s.bytes()) : ValueId(), last;
  if (!loop.step) {
    b().brIf(b().icmp(before, low, high), enter, done);
    b().setBlock(enter);
    last = loop.inclusive ? high : b().isub(high, one);
    if (chars) last = b().select({b().icmp(Cond::Eq, last, b().iconst(s, 0xdfff)), b().iconst(s, 0xd7ff), last});
  } else {                                      // rounds = distance div |step|; a step of zero traps
    ValueId down = isSigned ? b().icmp(Cond::Slt, step, zero) : b().iconst(ir::I1, 0);
    ValueId distance = b().select({down, b().isub(low, high), b().isub(high, low)});
    ValueId size = b().select(down, b().isub(zero, step), step);
    Cond after = loop.inclusive ? (isSigned ? Cond::Sge : Cond::Uge) : (isSigned ? Cond::Sgt : Cond::Ugt);
    ValueId some = b().select({down, b().icmp(after, low, high), b().icmp(before, low, high)});
    static const std::string noStep = "the step of a loop is 0";
    ValueId stands = b().icmp(Cond::Eq, step, zero);
    trapIf(stands, ir::TrapKind::Other, {b().emit(Op::Bitcast, ir::I64, {b().symAddr(l.stringData(noStep))}), b().i64(int64_t(noStep.size()))});
    b().brIf(some, enter, done);
    b().setBlock(enter);
    if (!loop.inclusive) distance = b().isub(distance, one);
    b().store(b().binary(Op::UDivT, distance, size), left);
  }
  b().br(head, {low});
  b().setBlock(head);
  ValueId i = b().param(head, 0);
  b().store(i, counter);
  loops.push_back({done, next, cleanups.size()});
  scoped([&] { setScalarLocal(loop.variable, i); inside(); });
  loops.pop_back();
  if (!endsBlock()) b().br(next);
  b().setBlock(next);
  ValueId now = b().load(s, counter);
  if (!loop.step) {
    b().brIf(b().icmp(Cond::Ne, now, last), again, done);
    b().setBlock(again);
  } else {
    ValueId rest = b().load(s, left);
    b().brIf(b().icmp(Cond::Ne, rest, zero), again, done);
    b().setBlock(again);
    b().store(b().isub(rest, one), left);
  }
  ValueId following = b().iadd(now, step);
  if (chars) following = b().select({b().icmp(Cond::Eq, following, b().iconst(s, 0xd800)), b().iconst(s, 0xe000), following});
  b().br(head, {following});
  b().setBlock(done);
}

void FunctionLowering::countedLoop(ValueId count, const std::function<void(ValueId)>& inside) {
  BlockId head = b().createBlock({ir::I64}), body = b().createBlock(), next = b().createBlock(), done = b().createBlock();
  b().br(head, {b().i64(0)});
  b().setBlock(head);
  ValueId i = b().param(head, 0);
  b().brIf(b().icmp(Cond::Slt, i, count), body, done);
  b().setBlock(body);
  loops.push_back({done, next, cleanups.size()});
  scoped([&] { inside(i); });
  loops.pop_back();
  if (!endsBlock()) b().br(next);
  b().setBlock(next);
  b().br(head, {b().iadd(i, b().i64(1))});
  b().setBlock(done);
}

void FunctionLowering::walkLoop(const Loop& loop, const std::function<void()>& inside) {
  TypeId t = typeOf(loop.source);
  const Expr& source = expr(loop.source);
  if (source.kind == ExprKind::Builtin && source.builtin == Builtin::Chars) return walkChars(loop, inside);
  if (source.kind == ExprKind::Builtin && source.builtin == Builtin::Lines) return walkLines(loop, inside);
  switch (l.get(t).kind) {
    case Kind::List: case Kind::Array: case Kind::String: return walkSequence(loop, inside);
    case Kind::Map: case Kind::Set: return walkMap(loop, inside);
    case Kind::Tensor: return walkVector(loop, inside);
    default: internalError("cannot walk " + l.mangle(t));
  }
}

void FunctionLowering::bindElement(const Loop& loop, ValueId address, TypeId element) {
  if (loop.pattern) return bindPattern(loop.pattern, address, element, loop.walk);
  if (!loop.variable) { if (loop.walk == Mode::Move) drop(address, element); return; }
  if (loop.walk == Mode::Inout) { locals[loop.variable.index] = {address, false}; return; }
  if (isScalar(element)) { setScalarLocal(loop.variable, loadValue(address, element)); return; }
  if (loop.walk == Mode::Move) {
    ValueId slot = slotFor(element);
    moveBytes(slot, address, element);
    b().memZero(address, l.sizeOf(element));
    locals[loop.variable.index] = {slot, false};
    pushDrop(slot, element);
    return;
  }
  locals[loop.variable.index] = {address, false};
}

void FunctionLowering::walkSequence(const Loop& loop, const std::function<void()>& inside) {
  TypeId t = typeOf(loop.source);
  const Type source = l.get(t);
  TypeId element = source.kind == Kind::String ? types.scalar(Kind::UInt8) : source.element;
  ValueId base;
  if (loop.walk == Mode::Move) {
    base = slotFor(t);
    into(loop.source, base);
    pushDrop(base, t);                          // a `break` leaves the rest to be released; taken elements are zero
  } else if (isPlace(loop.source)) {
    base = place(loop.source, loop.walk == Mode::Inout).address;
  } else {
    base = borrow(loop.source);
  }
  ValueId count, data;
  if (source.kind == Kind::Array) {
    count = extentValue(source.extents[0]);
    data = base;
  } else {
    count = b().load(ir::I64, base, sequence::Length);
    data = b().load(ir::Ptr, base, sequence::Data);
  }
  uint32_t size = source.kind == Kind::String ? 1 : l.sizeOf(element);
  countedLoop(count, [&](ValueId i) {
    if (loop.index) setScalarLocal(loop.index, i);
    bindElement(loop, b().padd(data, b().imul(i, b().i64(size))), element);
    inside();
  });
}

// Entries lie in order of insertion in an array of the table; removed ones are skipped (src/rt/Maps.mica).
void FunctionLowering::walkMap(const Loop& loop, const std::function<void()>& inside) {
  TypeId t = typeOf(loop.source);
  const Type source = l.get(t);
  bool isMap = source.kind == Kind::Map;
  TypeId keyType = isMap ? source.key : source.element;
  ValueId base = isPlace(loop.source) ? place(loop.source, loop.walk == Mode::Inout).address : borrow(loop.source);
  std::vector<TypeId> args = isMap ? std::vector<TypeId>{source.key, source.element} : std::vector<TypeId>{source.element};
  const char* module = isMap ? "Maps" : "Sets";
  ValueId count = callRuntime(module, "EntryCount", ir::I64, {base}, args);
  countedLoop(count, [&](ValueId i) {
    ValueId entry = callRuntime(module, "EntryAt", ir::Ptr, {base, i}, args);   // the key's address, 0 for a removed one
    BlockId live = b().createBlock();
    b().brIf(isNull(entry), loops.back().continueTo, live);
    b().setBlock(live);
    ValueId keyAddress = entry;
    if (isMap) {
      ValueId valueAddress = callRuntime(module, "EntryValue", ir::Ptr, {entry}, args);
      if (loop.index) {
        if (isScalar(keyType)) setScalarLocal(loop.index, loadValue(keyAddress, keyType));
        else locals[loop.index.index] = {keyAddress, false};
      }
      bindElement(loop, valueAddress, source.element);
    } else {
      if (loop.index) setScalarLocal(loop.index, i);
      bindElement(loop, keyAddress, keyType);
    }
    inside();
  });
}

// A loop over a text: `more` tells whether there is another part and makes it ready, `bind` gives it to the loop's variable.
void FunctionLowering::walkText(const Loop& loop, const std::function<ValueId()>& more, const std::function<void()>& bind, const std::function<void()>& inside) {
  ValueId number = slotBytes(8);
  b().store(b().i64(0), number);
  BlockId head = b().createBlock(), body = b().createBlock(), next = b().createBlock(), done = b().createBlock();
  b().br(head);
  b().setBlock(head);
  b().brIf(more(), body, done);
  b().setBlock(body);
  loops.push_back({done, next, cleanups.size()});
  scoped([&] {
    if (loop.index) setScalarLocal(loop.index, b().load(ir::I64, number));
    bind();
    inside();
  });
  loops.pop_back();
  if (!endsBlock()) b().br(next);
  b().setBlock(next);
  b().store(b().iadd({b().load(ir::I64, number), b().i64(1)}), number);
  b().br(head);
  b().setBlock(done);
}

void FunctionLowering::walkChars(const Loop& loop, const std::function<void()>& inside) {
  ValueId text = borrow(expr(loop.source).children[0]);
  ValueId position = slotBytes(8), after = slotBytes(8), now;
  b().store(b().i64(0), position);
  auto more = [&] {
    now = b().load(ir::I64, position);
    return b().icmp(Cond::Slt, now, b().load(ir::I64, text, sequence::Length));
  };
  auto bind = [&] {
    setScalarLocal(loop.variable, callRuntime("Text", "CharAt", ir::I32, {text, now, after}));
    b().store(b().load(ir::I64, after), position);
  };
  walkText(loop, more, bind, inside);
}

// The lines of a string, as views without their line ends.
void FunctionLowering::walkLines(const Loop& loop, const std::function<void()>& inside) {
  ValueId text = borrow(expr(loop.source).children[0]);
  ValueId position = slotBytes(8), line = slotBytes(sequence::Bytes);
  b().store(b().i64(0), position);
  auto more = [&] { return callRuntime("Text", "NextLine", ir::I1, {text, position, line}); };
  auto bind = [&] { if (loop.variable) locals[loop.variable.index] = {line, false}; };
  walkText(loop, more, bind, inside);
}

void FunctionLowering::walkVector(const Loop& loop, const std::function<void()>& inside) {
  TypeId t = typeOf(loop.source);
  const Type source = l.get(t);
  TypeId element = types.unmarked(source.element);
  ValueId base = isPlace(loop.source) ? place(loop.source, loop.walk == Mode::Inout).address : borrow(loop.source);
  ValueId count = extentOf(base, t, 0);
  unsigned rank = unsigned(source.extents.size());
  countedLoop(count, [&](ValueId i) {
    if (loop.index) setScalarLocal(loop.index, i);
    if (rank == 1) {
      bindElement(loop, b().padd({b().load(ir::Ptr, base), b().imul(i, b().i64(l.sizeOf(element)))}), element);
      return inside();
    }
    ValueId row = slotBytes(uint32_t(tensor::bytes(int(rank) - 1)));
    ValueId stride = b().load(ir::I64, base, tensor::strides(int(rank)));
    ValueId data = b().padd({b().load(ir::Ptr, base), b().imul({b().imul(i, stride), b().i64(l.sizeOf(element))})});
    if (loop.variable) locals[loop.variable.index] = {row, loop.walk == Mode::Inout};
    if (source.tracked && inWindow() && loop.walk == Mode::Read) {   // a row that is recorded is a value with an entry of its own
      SliceShape slice{base, data, {}, {}, element, true};
      for (unsigned k = 1; k < rank; k++) {
        slice.extents.push_back(extentOf(base, t, k));
        slice.strides.push_back(k + 1 < rank ? b().load(ir::I64, base, tensor::strides(int(rank)) + 8 * int(k)) : b().i64(1));
      }
      return scoped([&] {
        recordSlice(slice, t, row);
        pushDrop(row, types.tensor(element, std::vector<ExtentId>(rank - 1, types.open())));
        inside();
      });
    }
    b().store(data, row);                       // else a view
    b().store(b().load(ir::Ptr, base, tensor::Owner), row, tensor::Owner);
    for (unsigned k = 1; k < rank; k++) b().store(extentOf(base, t, k), row, tensor::Extents + 8 * int(k - 1));
    for (unsigned k = 1; k + 1 < rank; k++)
      b().store(b().load(ir::I64, base, tensor::strides(int(rank)) + 8 * int(k)), row, tensor::strides(int(rank) - 1) + 8 * int(k - 1));
    inside();
  });
}

void FunctionLowering::matchStatement(const Stmt& s) {
  size_t depth = cleanups.size();
  TypeId t = typeOf(s.value);
  ValueId subject;
  if (s.mode == Mode::Move) {
    subject = slotFor(t);
    into(s.value, subject);
    // Parts that an arm takes over are zeroed; the rest is released at the end.
    pushDrop(subject, t);
  } else {
    subject = isPlace(s.value) ? place(s.value, s.mode == Mode::Inout).address : borrow(s.value);
  }
  matchArms(s.arms, subject, t, s.mode, [&](const Arm& arm) {
    if (arm.value) scoped([&] { evaluate(arm.value); });
    else statements(arm.body);
  });
  popCleanups(depth);
}

// ---- ways out ----

void FunctionLowering::returnStatement(const Stmt& s) {
  if (!s.value) {
    leaveWith({});
    return;
  }
  if (resultMode != ResultMode::Value) {
    bool optional = l.get(program.get(instance.decl).result).kind == Kind::Optional;
    const Expr& e = expr(s.value);
    ValueId address;
    if (optional && e.kind == ExprKind::None) address = null();
    else if (optional && e.kind == ExprKind::Some) address = place(e.children[0], resultMode == ResultMode::Inout).address;
    else if (answersOptionalPlace(s.value)) address = optionalPlace(s.value);
    else {
      address = place(s.value, resultMode == ResultMode::Inout).address;
      if (optional) {                           // the place of an optional: what it holds
        ValueId present = b().icmp(Cond::Ne, {b().load(ir::I8, address), b().iconst(ir::I8, 0)});
        address = b().select({present, offset(address, l.layout(resultType).offsets[1]), null()});
      }
    }
    emitCleanups(0);
    b().ret(address);
    return;
  }
  if (l.isUnit(resultType)) {
    evaluate(s.value);
    return leaveWith({});
  }
  if (resultAddress) {
    intoAs(s.value, resultType, resultAddress);
    return leaveWith({});
  }
  leaveWith(scalar(s.value));
}

void FunctionLowering::makeFailureBlock(ExprId id, ValueId* block) {
  const Expr& e = expr(id);
  TypeId t = typeOf(id);
  if (e.kind != ExprKind::MakeFailure) {        // a failure caught before, raised again: its block moves on
    ValueId slot = slotFor(t);
    into(id, slot);
    *block = b().load(ir::Ptr, slot);
    return;
  }
  const Layout layout = l.layout(t);
  *block = callRuntime("Memory", "Allocate", ir::Ptr, {b().i64(failure::Payload + layout.size)});
  b().store(b().symAddr(l.failureId(l.get(t).decl)), *block, failure::Id);
  b().store(b().symAddr(l.failureText(t)), *block, failure::Text);
  b().store(l.owns(t) ? b().symAddr(l.glue(Glue::Drop, t)) : null(), *block, failure::Drop);
  ValueId payload = offset(*block, failure::Payload);
  std::vector<TypeId> fields = l.fieldTypes(t);
  for (size_t k = 0; k < e.children.size(); k++) scoped([&] { intoAs(e.children[k], fields[k], offset(payload, layout.offsets[k])); });
}

void FunctionLowering::failStatement(const Stmt& s) {
  ValueId block;
  makeFailureBlock(s.value, &block);
  failWith(block);
}

void FunctionLowering::assertStatement(const Stmt& s) {
  BlockId bad = b().createBlock(), fine = b().createBlock();
  b().brIf(condition(s.value), fine, bad);
  b().setBlock(bad);
  at(s.place);
  size_t depth = cleanups.size();
  if (s.second) {
    ValueId text = borrow(s.second);
    at(s.place);
    ValueId details[] = {b().emit(Op::Bitcast, ir::I64, {b().load(ir::Ptr, text)}), b().load(ir::I64, text, sequence::Length)};
    b().trap(ir::TrapKind::Assert, details);
  } else {
    b().trap(ir::TrapKind::Assert);
  }
  cleanups.resize(depth);                       // what the text needed ends with the trap
  b().setBlock(fine);
}

void FunctionLowering::attempt(const Stmt& s) {
  BlockId dispatch = b().createBlock({ir::Ptr}), done = b().createBlock();
  attempts.push_back({dispatch, cleanups.size()});
  blockOf(s.body);
  attempts.pop_back();
  if (!endsBlock()) b().br(done);
  b().setBlock(dispatch);
  ValueId failure = b().param(dispatch, 0);
  ValueId holder = slotBytes(8);
  b().store(failure, holder);
  ValueId id = b().load(ir::Ptr, failure, failure::Id);
  bool all = false;
  for (const Recover& r : s.recovers) {
    at(r.place);
    BlockId arm = b().createBlock(), next = b().createBlock();
    bool any = l.get(r.failure).kind == Kind::AnyFailure;
    if (any) { b().br(arm); all = true; }
    else b().brIf(b().icmp(Cond::Eq, id, b().symAddr(l.failureId(l.get(r.failure).decl))), arm, next);
    b().setBlock(arm);
    size_t depth = cleanups.size();
    cleanups.push_back({Cleanup::Kind::FreeFailure, holder, r.failure, {}});
    if (r.local) locals[r.local.index] = {any ? holder : offset(failure, failure::Payload), false};
    statements(r.body);
    popCleanups(depth);
    if (!endsBlock()) b().br(done);
    b().setBlock(next);
    if (any) break;
  }
  if (!all) failWith(failure);
  else b().unreachable();
  b().setBlock(done);
}

}  // namespace mica::lower
