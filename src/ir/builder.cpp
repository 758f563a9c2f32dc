// See builder.h.
#include "ir/builder.h"

#include <bit>

namespace mica::ir {

PlaceId addPlace(Module& m, std::string_view file, uint32_t line, uint32_t column, std::string_view function, PlaceId inlinedAt) {
  if (!m.places.empty()) {
    const PlaceInfo& last = m.places.back();
    if (last.line == line && last.column == column && last.inlinedAt == inlinedAt && last.file == file && last.function == function)
      return PlaceId(uint32_t(m.places.size() - 1));
  }
  m.places.push_back({std::string(file), line, column, std::string(function), inlinedAt});
  return PlaceId(uint32_t(m.places.size() - 1));
}

uint32_t startFunction(Module& m, std::string_view name, std::span<const Type> params, Type result) {
  Function& f = m.addFunction(name);
  f.params.assign(params.begin(), params.end());
  f.result = result;
  uint32_t index = uint32_t(m.functions.size() - 1);
  Builder(m, index).createBlock(params);
  return index;
}

ValueId newValue(Function& f, Type type, InstId def) {
  f.values.push_back({type, def, {}});
  return ValueId(uint32_t(f.values.size() - 1));
}

uint32_t addToPool(Function& f, Values args) {
  uint32_t first = uint32_t(f.pool.size());
  // The arguments may lie in the pool itself, which moves when it grows.
  for (size_t k = 0; k < args.size(); ++k) {
    ValueId v = args[k];
    if (f.pool.size() == f.pool.capacity() && !f.pool.empty() && args.data() >= f.pool.data() && args.data() < f.pool.data() + f.pool.size()) {
      size_t at = size_t(args.data() - f.pool.data());
      f.pool.push_back(v);
      args = Values(f.pool.data() + at, args.size());
    } else {
      f.pool.push_back(v);
    }
  }
  return first;
}

InstId newInst(Function& f, Op op, Type type, Values args, int64_t imm, PlaceId place) {
  InstId id(uint32_t(f.insts.size()));
  Inst inst;
  inst.op = op;
  inst.type = type;
  inst.firstArg = addToPool(f, args);
  inst.argCount = uint32_t(args.size());
  inst.imm = imm;
  inst.place = place;
  Type result = resultType(op, type);
  if (!result.isVoid()) inst.result = newValue(f, result, id);
  f.insts.push_back(inst);
  return id;
}

BlockId Builder::createBlock(std::span<const Type> params) {
  Function& f = fn();
  BlockId b(uint32_t(f.blocks.size()));
  f.blocks.emplace_back();
  for (Type t : params) addParam(b, t);
  if (!current) current = b;
  return b;
}

ValueId Builder::addParam(BlockId b, Type t) {
  ValueId v = newValue(fn(), t, {});
  fn().values[v.index].paramOf = b;
  fn().blocks[b.index].params.push_back(v);
  return v;
}

bool Builder::terminated() {
  const Block& b = fn().blocks[current.index];
  return !b.insts.empty() && isTerminator(fn().insts[b.insts.back().index].op);
}

SlotId Builder::slot(uint32_t size, uint32_t align) {
  fn().slots.push_back({size, align});
  return SlotId(uint32_t(fn().slots.size() - 1));
}

InstId Builder::append(Op op, Type type, Values args, int64_t imm) {
  if (terminated()) current = createBlock();
  InstId id = newInst(fn(), op, type, args, imm, currentPlace);
  fn().blocks[current.index].insts.push_back(id);
  return id;
}

ValueId Builder::emit(Op op, Type type, Values args, int64_t imm) {
  InstId id = append(op, type, args, imm);
  return fn().insts[id.index].result;
}

ValueId Builder::fconst(Type t, double value) {
  int64_t bits = t.kind == TypeKind::F32 ? int64_t(std::bit_cast<uint32_t>(float(value))) : std::bit_cast<int64_t>(value);
  return emit(Op::FConst, t, {}, bits);
}

ValueId Builder::symAddr(SymbolId s, int64_t offset) {
  InstId id = append(Op::SymAddr, Ptr, {}, offset);
  fn().insts[id.index].symbol = s;
  return fn().insts[id.index].result;
}

ValueId Builder::load(Type t, ValueId p, int64_t offset, Region region) {
  InstId id = append(Op::Load, t, Values(&p, 1), offset);
  fn().insts[id.index].region = region;
  return fn().insts[id.index].result;
}

void Builder::store(ValueId value, ValueId p, int64_t offset, Region region) {
  ValueId args[] = {value, p};
  InstId id = append(Op::Store, typeOf(value), args, offset);
  fn().insts[id.index].region = region;
}

ValueId Builder::icmp(Cond c, ValueId a, ValueId b) {
  ValueId args[] = {a, b};
  InstId id = append(Op::ICmp, typeOf(a), args);
  fn().insts[id.index].cond = c;
  return fn().insts[id.index].result;
}

ValueId Builder::fcmp(Cond c, ValueId a, ValueId b) {
  ValueId args[] = {a, b};
  InstId id = append(Op::FCmp, typeOf(a), args);
  fn().insts[id.index].cond = c;
  return fn().insts[id.index].result;
}

ValueId Builder::call(SymbolId s, Type result, Values args) {
  InstId id = append(Op::Call, result, args);
  fn().insts[id.index].symbol = s;
  return fn().insts[id.index].result;
}

ValueId Builder::callInd(ValueId address, Type result, Values args) {
  std::vector<ValueId> all{address};
  all.insert(all.end(), args.begin(), args.end());
  return emit(Op::CallInd, result, all);
}

void Builder::trapIf(ValueId condition, TrapKind kind, Values details) {
  std::vector<ValueId> all{condition};
  all.insert(all.end(), details.begin(), details.end());
  append(Op::TrapIf, Void, all, int64_t(kind));
}

void Builder::trap(TrapKind kind, Values details) { append(Op::Trap, Void, details, int64_t(kind)); }

void Builder::addTarget(InstId id, BlockId b, Values args) {
  Function& f = fn();
  Inst& inst = f.insts[id.index];
  if (inst.targetCount == 0) inst.firstTarget = uint32_t(f.targets.size());
  ++inst.targetCount;
  uint32_t first = addToPool(f, args);
  f.targets.push_back({b, first, uint32_t(args.size())});
}

void Builder::br(BlockId b, Values args) { addTarget(append(Op::Br, Void, {}), b, args); }

void Builder::brIf(ValueId condition, BlockId yes, Values yesArgs, BlockId no, Values noArgs) {
  InstId id = append(Op::BrIf, Void, Values(&condition, 1));
  addTarget(id, yes, yesArgs);
  addTarget(id, no, noArgs);
}

void Builder::switchOn(ValueId v, BlockId otherwise, std::span<const Case> cases) {
  InstId id = append(Op::Switch, typeOf(v), Values(&v, 1), int64_t(fn().cases.size()));
  addTarget(id, otherwise, {});
  for (const Case& c : cases) {
    fn().cases.push_back(c.value);
    addTarget(id, c.block, {});
  }
}

}  // namespace mica::ir
