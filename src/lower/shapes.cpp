// The checks of shapes that are left for run time: wherever an open extent (`?`) meets one that is known, or another open one. A check is one
// branch; both shapes are laid down out of line for the trap's sentence.
#include "lower/function.h"

namespace mica::lower {

// `words` is the sentence, with a `%` for each of the two shapes, or a `#` for one of a single extent; `meeting` lists the extents that must be equal. The trap's details are the
// text, its length, and the address of {rank, extents} of both shapes.
void FunctionLowering::checkMeeting(const std::string& words, const std::vector<ValueId>& first, const std::vector<ValueId>& second, const std::vector<Meeting>& meeting) {
  ValueId differ;
  for (auto [x, y] : meeting) {
    if (x == y) continue;
    ValueId d = b().icmp(Cond::Ne, x, y);
    differ = differ ? b().binary(Op::Or, differ, d) : d;
  }
  if (!differ) return;
  BlockId bad = b().createBlock(), fine = b().createBlock();
  b().brIf(differ, bad, fine);
  b().setBlock(bad);
  ValueId shapes = slotBytes(uint32_t(8 * (2 + first.size() + second.size())));
  int64_t to = 0;
  for (const std::vector<ValueId>* shape : {&first, &second}) {
    b().store(b().i64(int64_t(shape->size())), shapes, to);
    to += 8;
    for (ValueId extent : *shape) { b().store(extent, shapes, to); to += 8; }
  }
  ValueId details[] = {b().emit(Op::Bitcast, ir::I64, {b().symAddr(l.stringData(words))}), b().i64(int64_t(words.size())), b().emit(Op::Bitcast, ir::I64, {shapes})};
  b().trap(ir::TrapKind::Shape, details);
  b().setBlock(fine);
}

// The extents that a value of type `from` shows at the address: a tensor's shape, the leading words of a record.
std::vector<ValueId> FunctionLowering::shownExtents(ValueId address, TypeId from) {
  const Type type = l.get(from);
  if (type.kind == Kind::Tensor) return shapeOf(address, from);
  std::vector<ValueId> shown;
  for (size_t k = 0; k < type.extents.size(); k++)
    shown.push_back(types.isOpen(type.extents[k]) ? b().load(ir::I64, address, int64_t(8 * k)) : extentValue(type.extents[k]));
  return shown;
}

void FunctionLowering::checkShape(ValueId address, TypeId from, TypeId to) {
  const Type have = l.get(from), want = l.get(to);
  bool shaped = want.kind == Kind::Tensor || want.kind == Kind::Record;
  if (!shaped || have.kind != want.kind || have.extents.size() != want.extents.size()) return;
  std::vector<size_t> open;
  for (size_t k = 0; k < want.extents.size(); k++)
    if (types.isOpen(have.extents[k]) && !types.isOpen(want.extents[k])) open.push_back(k);
  if (open.empty()) return;
  std::vector<ValueId> shown = shownExtents(address, from), wanted = shown;
  std::vector<Meeting> meeting;
  for (size_t k = 0; k < want.extents.size(); k++)
    if (!types.isOpen(want.extents[k])) wanted[k] = extentValue(want.extents[k]);
  for (size_t k : open) meeting.push_back({wanted[k], shown[k]});
  checkMeeting(want.kind == Kind::Tensor ? "the shape should be % and is %" : "the extents of this value should be % and are %", wanted, shown, meeting);
}

// A value of a declaration's type (a parameter or a field) against the extents that its declaration gives to it, `solved` being its names' values.
void FunctionLowering::checkDeclared(const std::string& what, TypeId declared, TypeId actual, ValueId address, const std::vector<ValueId>& solved) {
  const Type want = l.get(declared), have = l.get(actual);
  bool shaped = want.kind == Kind::Tensor || want.kind == Kind::Record;
  if (!shaped || have.kind != want.kind) return;
  bool open = false;
  for (size_t k = 0; k < want.extents.size() && k < have.extents.size(); k++) open |= types.isOpen(have.extents[k]) && !types.isOpen(want.extents[k]);
  if (!open) return;
  std::vector<ValueId> shown = shownExtents(address, actual), wanted = shown;
  std::vector<Meeting> meeting;
  for (size_t k = 0; k < shown.size(); k++) {
    ValueId w = types.isOpen(want.extents[k]) ? ValueId() : calleeExtent(want.extents[k], solved);
    if (!w) continue;
    wanted[k] = w;
    if (types.isOpen(have.extents[k])) meeting.push_back({w, shown[k]});
  }
  checkMeeting("the " + std::string(want.kind == Kind::Tensor ? "shape" : "extents") + " of `" + what + "` should be % and " + (want.kind == Kind::Tensor ? "is" : "are") + " %", wanted, shown, meeting);
}

// What is assigned to a place in a record with open extents, against the extents that are there.
void FunctionLowering::checkKept(ExprId target, ValueId address, ValueId value) {
  auto kept = body.kept.find(target.index);
  if (kept == body.kept.end()) return;
  TypeId t = typeOf(target);
  std::vector<ValueId> old = shownExtents(address, t), fresh = shownExtents(value, t);
  std::vector<Meeting> meeting;
  for (uint32_t k : kept->second) meeting.push_back({old[k], fresh[k]});
  const Expr& place = expr(target);
  std::string of;
  if (place.kind == ExprKind::Field) {
    Type owner = l.get(typeOf(place.children[0]));
    if (owner.kind == Kind::Box) owner = l.get(owner.element);
    if (owner.kind == Kind::Record) of = " of `" + program.get(owner.decl).fields[place.index].name + "`";
  }
  checkMeeting(l.get(t).kind == Kind::Tensor ? "the shape" + of + " should be % and is %" : "the extents" + of + " should be % and are %", old, fresh, meeting);
}

}  // namespace mica::lower
