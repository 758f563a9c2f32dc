// The tables of the IR (operations, conditions, trap kinds) and the few questions about types that everybody asks.
#include "ir/ir.h"

#include <cstring>

namespace mica::ir {

namespace {
constexpr OpInfo opTable[] = {
#define OP(name, text, operands, result, effects) {text, operands, result[0], effects},
#include "ir/ops.def"
};
constexpr const char* condNames[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt",
                                     "uge", "lt", "le", "gt", "ge", "nlt", "nle", "ngt", "nge"};
constexpr const char* trapNames[] = {"none", "overflow", "dividebyzero", "index", "range", "conversion", "shift", "shape", "assert",
                                     "missing", "stackoverflow", "outofmemory", "tape", "border", "unreachable", "empty", "other"};
}  // namespace

const OpInfo& info(Op op) { return opTable[unsigned(op)]; }
bool isTerminator(Op op) { return info(op).effects[0] == 'X'; }
bool hasEffect(Op op, char effect) { return std::strchr(info(op).effects, effect) != nullptr; }
const char* name(Cond c) { return condNames[unsigned(c)]; }
const char* name(TrapKind k) { return trapNames[unsigned(k)]; }

Cond negate(Cond c) {
  switch (c) {
    case Cond::Eq: return Cond::Ne;
    case Cond::Ne: return Cond::Eq;
    case Cond::Slt: return Cond::Sge;
    case Cond::Sle: return Cond::Sgt;
    case Cond::Sgt: return Cond::Sle;
    case Cond::Sge: return Cond::Slt;
    case Cond::Ult: return Cond::Uge;
    case Cond::Ule: return Cond::Ugt;
    case Cond::Ugt: return Cond::Ule;
    case Cond::Uge: return Cond::Ult;
    case Cond::Lt: return Cond::Nlt;
    case Cond::Le: return Cond::Nle;
    case Cond::Gt: return Cond::Ngt;
    case Cond::Ge: return Cond::Nge;
    case Cond::Nlt: return Cond::Lt;
    case Cond::Nle: return Cond::Le;
    case Cond::Ngt: return Cond::Gt;
    case Cond::Nge: return Cond::Ge;
  }
  internalError("ir: bad condition");
}

Cond swapOperands(Cond c) {
  switch (c) {
    case Cond::Eq: case Cond::Ne: return c;
    case Cond::Slt: return Cond::Sgt;
    case Cond::Sle: return Cond::Sge;
    case Cond::Sgt: return Cond::Slt;
    case Cond::Sge: return Cond::Sle;
    case Cond::Ult: return Cond::Ugt;
    case Cond::Ule: return Cond::Uge;
    case Cond::Ugt: return Cond::Ult;
    case Cond::Uge: return Cond::Ule;
    case Cond::Lt: return Cond::Gt;
    case Cond::Le: return Cond::Ge;
    case Cond::Gt: return Cond::Lt;
    case Cond::Ge: return Cond::Le;
    case Cond::Nlt: return Cond::Ngt;
    case Cond::Nle: return Cond::Nge;
    case Cond::Ngt: return Cond::Nlt;
    case Cond::Nge: return Cond::Nle;
  }
  internalError("ir: bad condition");
}

unsigned Type::laneBytes() const {
  switch (kind) {
    case TypeKind::Void: return 0;
    case TypeKind::I1: case TypeKind::I8: return 1;
    case TypeKind::I16: return 2;
    case TypeKind::I32: case TypeKind::F32: return 4;
    case TypeKind::I64: case TypeKind::F64: case TypeKind::Ptr: return 8;
  }
  return 0;
}

Type maskType(Type v) {
  switch (v.laneBytes()) {
    case 1: return I8.withLanes(v.lanes);
    case 2: return I16.withLanes(v.lanes);
    case 4: return I32.withLanes(v.lanes);
    default: return I64.withLanes(v.lanes);
  }
}

Type resultType(Op op, Type type) {
  switch (info(op).result) {
    case 't': case 'o': return type;
    case 'b': return type.isVector() ? maskType(type) : I1;
    case 'm': return maskType(type);
    default: return Void;
  }
}

Type fixedType(Op op) {
  switch (op) {
    case Op::SymAddr: case Op::SlotAddr: case Op::Context: case Op::PAdd: case Op::FramePtr: return Ptr;
    case Op::Not: case Op::VAnyTrue: return I1;
    case Op::Syscall: case Op::CpuLevel: case Op::SpawnThread: return I64;
    default: return Void;
  }
}

int64_t canonical(Type t, int64_t v) {
  switch (t.kind) {
    case TypeKind::I1: return v & 1;
    case TypeKind::I8: return int8_t(v);
    case TypeKind::I16: return int16_t(v);
    case TypeKind::I32: return int32_t(v);
    default: return v;
  }
}

std::string toString(Type t) {
  static constexpr const char* names[] = {"void", "i1", "i8", "i16", "i32", "i64", "f32", "f64", "ptr"};
  std::string s = names[unsigned(t.kind)];
  if (t.isVector()) s += "x" + std::to_string(t.lanes);
  return s;
}

SymbolId Module::symbol(std::string_view name) {
  if (auto it = byName.find(name); it != byName.end()) return it->second;
  SymbolId id(uint32_t(symbols.size()));
  symbols.push_back({std::string(name), SymbolKind::External, 0});
  byName.emplace(std::string(name), id);
  return id;
}

Function& Module::addFunction(std::string_view name) {
  SymbolId s = symbol(name);
  if (symbols[s.index].kind != SymbolKind::External) internalError("ir: two definitions of @" + std::string(name));
  symbols[s.index].kind = SymbolKind::Function;
  symbols[s.index].index = uint32_t(functions.size());
  functions.emplace_back().symbol = s;
  return functions.back();
}

Data& Module::addData(std::string_view name) {
  SymbolId s = symbol(name);
  if (symbols[s.index].kind != SymbolKind::External) internalError("ir: two definitions of @" + std::string(name));
  symbols[s.index].kind = SymbolKind::Data;
  symbols[s.index].index = uint32_t(data.size());
  data.emplace_back().symbol = s;
  return data.back();
}

}  // namespace mica::ir
