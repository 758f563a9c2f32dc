// See verify.h. The structure is checked first (ids in range, blocks closed, definitions); only a sound structure is checked for
// types and dominance, so that the later checks may index freely.
#include "ir/verify.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ir/analysis.h"
#include "ir/text.h"

namespace mica::ir {

namespace {

bool legalType(Type t) {
  if (t.lanes == 1) return true;
  bool lane = t.kind >= TypeKind::I8 && t.kind <= TypeKind::F64;
  return lane && t.lanes <= 64 && std::has_single_bit(unsigned(t.lanes));
}

bool atomicType(Type t) { return t == I8 || t == I32 || t == I64 || t == Ptr; }
bool wideInt(Type t) { return t.isInt() && t.kind != TypeKind::I1; }
bool wordInt(Type t) { return t == I32 || t == I64; }
unsigned intBits(Type t) { return t.kind == TypeKind::I1 ? 1 : t.laneBytes() * 8; }

// Does the operation exist for this type (of the instruction)?
bool opHasType(Op op, Type t) {
  switch (op) {
    case Op::IConst: return t.isInt() || t == Ptr;
    case Op::FConst: return t.isFloat();
    case Op::IAdd: case Op::ISub: case Op::IMul: case Op::Shl: case Op::ShrS: case Op::ShrU: return wideInt(t);
    case Op::And: case Op::Or: case Op::Xor: return t.isInt();
    case Op::RotL: case Op::Clz: case Op::Ctz: case Op::Popcount: case Op::MulHiS: case Op::MulHiU: return wideInt(t) && !t.isVector();
    case Op::IMinS: case Op::IMaxS: return wideInt(t) && (!t.isVector() || t.kind == TypeKind::I32);
    case Op::SAddT: case Op::SSubT: case Op::SMulT: case Op::UAddT: case Op::USubT: case Op::UMulT:
    case Op::SDivT: case Op::UDivT: case Op::SRemT: case Op::URemT:
      return wideInt(t) && !t.isVector();
    case Op::FAdd: case Op::FSub: case Op::FMul: case Op::FDiv: case Op::FSqrt: case Op::Fma: case Op::FNeg: case Op::FAbs:
    case Op::FMin: case Op::FMax: case Op::FFloor: case Op::FCeil: case Op::FTrunc: case Op::FRound: case Op::FCmp:
      return t.isFloat();
    case Op::ICmp: return t.isInt() || t == Ptr;
    case Op::Select: return !t.isVector() && !t.isVoid();
    case Op::VSelect: case Op::Splat: case Op::VZipLow: case Op::VZipHigh: case Op::SetLane: case Op::VLow: case Op::VHigh:
      return t.isVector();
    case Op::VJoin: return t.lanes >= 4;
    case Op::Lane: return !t.isVector() && legalType(t.withLanes(2));
    case Op::SExt: case Op::ZExt: case Op::Trunc: return t.isInt();
    case Op::SToF: case Op::UToF: return t.isFloat();
    case Op::FToST: case Op::FToUT: case Op::FToUSat: return wideInt(t) && !t.isVector();
    case Op::FToSSat: return wideInt(t) && (!t.isVector() || t.kind == TypeKind::I32);
    case Op::FExt: return t.kind == TypeKind::F64;
    case Op::FCut: return t.kind == TypeKind::F32;
    case Op::Bitcast: return t.kind != TypeKind::I1 && !t.isVoid();
    case Op::Load: case Op::Store: return !t.isVoid();
    case Op::ALoad: case Op::AStore: case Op::AAdd: case Op::ASwap: case Op::ACas: return atomicType(t);
    case Op::Switch: return wideInt(t) && !t.isVector();
    case Op::Call: case Op::CallInd: return true;
    default: {
      Type fixed = fixedType(op);
      return t == fixed;
    }
  }
}

// The operand of a conversion, given the result's type.
bool conversionFrom(Op op, Type from, Type to) {
  bool sameLanes = from.lanes == to.lanes;
  switch (op) {
    case Op::SExt: return from.isInt() && sameLanes && intBits(from) < intBits(to);
    case Op::ZExt: return from.isInt() && sameLanes && intBits(from) < intBits(to);
    case Op::Trunc: return from.isInt() && sameLanes && intBits(from) > intBits(to);
    case Op::SToF: return sameLanes && (to.isVector() ? from.kind == TypeKind::I32 : wordInt(from));
    case Op::UToF: return sameLanes && !to.isVector() && wordInt(from);
    case Op::FToST: case Op::FToUT: case Op::FToSSat: case Op::FToUSat: return from.isFloat() && sameLanes;
    case Op::FExt: return from.kind == TypeKind::F32 && sameLanes;
    case Op::FCut: return from.kind == TypeKind::F64 && sameLanes;
    case Op::Bitcast: return sameLanes && from.kind != TypeKind::I1 && from.laneBytes() == to.laneBytes() && from != to;
    case Op::Lane: return from.isVector() && from.lane() == to;
    case Op::VAnyTrue: return from.isVector() && from.isInt();
    default: return false;
  }
}

class FunctionVerifier {
 public:
  FunctionVerifier(const Module& m, const Function& fn, std::vector<std::string>& o) : module(m), f(fn), out(o) {}

  void run() {
    size_t before = out.size();
    header();
    if (out.size() == before) structure();
    if (out.size() == before) definitions();
    if (out.size() != before) return;
    for (uint32_t b = 0; b < f.blocks.size(); ++b) {
      block = BlockId(b);
      for (InstId i : f.blocks[b].insts) checkInst(i);
    }
    if (out.size() == before) dominance();
  }

 private:
  const Module& module;
  const Function& f;
  std::vector<std::string>& out;
  BlockId block;
  InstId current;

  std::string functionName() { return "@" + (f.symbol && f.symbol.index < module.symbols.size() ? module.nameOf(f.symbol) : std::string("?")); }
  void say(const std::string& what) { out.push_back(functionName() + ": " + what); }
  void sayBlock(const std::string& what) { out.push_back(functionName() + " b" + std::to_string(block.index) + ": " + what); }
  void sayInst(const std::string& what) {
    sayBlock("`" + print(module, f, current, {.places = false}) + "`: " + what);
  }

  bool isValue(ValueId v) const { return v.index < f.values.size(); }
  bool isBlock(BlockId b) const { return b.index < f.blocks.size(); }

  void header() {
    if (!f.symbol || f.symbol.index >= module.symbols.size()) return say("the function has no symbol");
    const Symbol& s = module.symbols[f.symbol.index];
    if (s.kind != SymbolKind::Function || s.index >= module.functions.size() || module.functions[s.index].symbol != f.symbol)
      say("the symbol does not lead to the function");
    if (f.blocks.empty()) return say("the function has no block");
    if (f.entry && (f.params.size() != 1 || f.params[0] != Ptr || !f.result.isVoid()))
      say("the process entry takes one ptr and answers nothing");
    if (f.cpuLevel < 1) say("processor levels count from 1");
    if (!legalType(f.result)) say("the result has an illegal type " + toString(f.result));
    for (size_t k = 0; k < f.slots.size(); ++k)
      if (!std::has_single_bit(f.slots[k].align) || f.slots[k].align > 4096) say("slot s" + std::to_string(k) + " has a bad alignment");
    if (f.place && f.place.index >= module.places.size()) say("the function's place does not exist");
    const Block& entry = f.blocks[0];
    if (entry.params.size() != f.params.size()) return say("the entry block's parameters are not the function's");
    for (size_t k = 0; k < f.params.size(); ++k)
      if (!isValue(entry.params[k]) || f.typeOf(entry.params[k]) != f.params[k]) say("the entry block's parameters are not the function's");
  }

  // Ids in range, blocks closed by their one terminator.
  void structure() {
    for (uint32_t b = 0; b < f.blocks.size(); ++b) {
      block = BlockId(b);
      const Block& bl = f.blocks[b];
      if (bl.insts.empty()) { sayBlock("the block is empty"); continue; }
      for (size_t k = 0; k < bl.insts.size(); ++k) {
        if (bl.insts[k].index >= f.insts.size()) { sayBlock("an instruction does not exist"); continue; }
        const Inst& i = f.insts[bl.insts[k].index];
        current = bl.insts[k];
        if (unsigned(i.op) >= OpCount) { sayBlock("an operation does not exist"); continue; }
        if (!ranges(i)) continue;
        bool last = k + 1 == bl.insts.size();
        if (isTerminator(i.op) && !last) sayInst("a terminator stands inside the block");
        if (!isTerminator(i.op) && last) sayInst("the block does not end in a terminator");
      }
    }
  }

  bool ranges(const Inst& i) {
    bool good = uint64_t(i.firstArg) + i.argCount <= f.pool.size() && uint64_t(i.firstTarget) + i.targetCount <= f.targets.size();
    if (good)
      for (ValueId v : argsOf(f, i)) good &= isValue(v);
    if (good)
      for (const Target& t : targetsOf(f, i)) {
        good &= uint64_t(t.firstArg) + t.argCount <= f.pool.size();
        if (good)
          for (ValueId v : argsOf(f, t)) good &= isValue(v);
      }
    if (i.op == Op::Switch) good &= i.targetCount > 0 && i.imm >= 0 && uint64_t(i.imm) + i.targetCount - 1 <= f.cases.size();
    if (!good) { sayBlock(std::string("an `") + info(i.op).text + "` has operands that do not exist"); return false; }
    for (const Target& t : targetsOf(f, i))
      if (!isBlock(t.block)) { sayInst("jumps to a block that does not exist"); return false; }
    if (i.result && !isValue(i.result)) { sayBlock("a result is not among the values"); return false; }
    if ((i.op == Op::Call || i.op == Op::SymAddr) && (!i.symbol || i.symbol.index >= module.symbols.size())) {
      sayBlock(std::string("an `") + info(i.op).text + "` names a symbol that does not exist");
      return false;
    }
    if (i.place && i.place.index >= module.places.size()) { sayBlock("a place does not exist"); return false; }
    return true;
  }

  void definitions() {
    std::vector<char> defined(f.values.size(), 0), placed(f.insts.size(), 0);
    auto define = [&](ValueId v) {
      if (defined[v.index]) sayBlock("%" + std::to_string(v.index) + " is defined twice");
      defined[v.index] = 1;
      if (!legalType(f.typeOf(v)) || f.typeOf(v).isVoid()) sayBlock("%" + std::to_string(v.index) + " has an illegal type " + toString(f.typeOf(v)));
    };
    for (uint32_t b = 0; b < f.blocks.size(); ++b) {
      block = BlockId(b);
      for (ValueId p : f.blocks[b].params) {
        if (!isValue(p)) { sayBlock("a parameter is not among the values"); continue; }
        define(p);
        if (f.values[p.index].paramOf != block || f.values[p.index].def) sayBlock("%" + std::to_string(p.index) + " does not know its block");
      }
      for (InstId i : f.blocks[b].insts) {
        current = i;
        if (placed[i.index]) sayInst("the instruction stands in two places");
        placed[i.index] = 1;
        ValueId r = f.insts[i.index].result;
        if (!r) continue;
        define(r);
        if (f.values[r.index].def != i || f.values[r.index].paramOf) sayInst("the result does not know its instruction");
      }
    }
    for (uint32_t b = 0; b < f.blocks.size(); ++b) {
      block = BlockId(b);
      for (InstId id : f.blocks[b].insts) {
        current = id;
        const Inst& i = f.insts[id.index];
        for (ValueId v : argsOf(f, i)) if (!defined[v.index]) sayInst("%" + std::to_string(v.index) + " is not defined");
        for (const Target& t : targetsOf(f, i))
          for (ValueId v : argsOf(f, t)) if (!defined[v.index]) sayInst("%" + std::to_string(v.index) + " is not defined");
      }
    }
  }

  void expectType(unsigned operand, Type got, Type want) {
    if (got != want) sayInst("operand " + std::to_string(operand + 1) + " is " + toString(got) + ", not " + toString(want));
  }

  void checkInst(InstId id) {
    current = id;
    const Inst& i = f.insts[id.index];
    if (!legalType(i.type)) return sayInst("illegal type");
    if (!opHasType(i.op, i.type)) return sayInst(std::string("there is no `") + info(i.op).text + "` of " + toString(i.type));
    Type result = resultType(i.op, i.type);
    if (result.isVoid() == bool(i.result)) return sayInst(result.isVoid() ? "the operation has no result" : "the result is missing");
    if (i.result && f.typeOf(i.result) != result) sayInst("the result is " + toString(f.typeOf(i.result)) + ", not " + toString(result));
    operandTypes(i);
    immediates(i);
    targets(i);
    if (i.op == Op::Call) callTypes(i);
  }

  void operandTypes(const Inst& i) {
    const char* letters = info(i.op).operands;
    size_t fixed = std::strlen(letters);
    bool open = fixed && letters[fixed - 1] == '*';
    if (open) --fixed;
    if (open ? i.argCount < fixed : i.argCount != fixed)
      return sayInst("takes " + std::to_string(fixed) + " operands, not " + std::to_string(i.argCount));
    for (unsigned k = 0; k < fixed; ++k) {
      Type got = f.typeOf(f.arg(i, k));
      switch (letters[k]) {
        case 't': expectType(k, got, i.type); break;
        case 'i': expectType(k, got, I64); break;
        case 'p': expectType(k, got, Ptr); break;
        case 'b': expectType(k, got, I1); break;
        case 'e': expectType(k, got, i.type.lane()); break;
        case 'h': expectType(k, got, i.type.withLanes(i.type.lanes / 2)); break;
        case 'd':
          if (i.type.lanes > 32) sayInst("illegal type");
          else expectType(k, got, i.type.withLanes(i.type.lanes * 2));
          break;
        case 'm': expectType(k, got, maskType(i.type)); break;
        default:
          if (!conversionFrom(i.op, got, i.type)) sayInst("an operand of " + toString(got) + " does not fit");
      }
    }
    if (i.op == Op::Ret) retTypes(i);
    if (i.op == Op::TrapIf || i.op == Op::Trap) {
      if (i.argCount - fixed > 3) sayInst("a trap takes at most three details");
      for (unsigned k = unsigned(fixed); k < i.argCount; ++k) expectType(k, f.typeOf(f.arg(i, k)), I64);
    }
  }

  void retTypes(const Inst& i) {
    if (f.result.isVoid()) {
      if (i.argCount) sayInst("the function answers nothing");
    } else if (i.argCount != 1) {
      sayInst("the function answers one " + toString(f.result));
    } else {
      expectType(0, f.typeOf(f.arg(i, 0)), f.result);
    }
  }

  void immediates(const Inst& i) {
    switch (i.op) {
      case Op::IConst:
        if (canonical(i.type, i.imm) != i.imm) sayInst("the constant is not canonical");
        break;
      case Op::FConst:
        if (i.type.laneBytes() == 4 && uint64_t(i.imm) >> 32) sayInst("the bits do not fit");
        break;
      case Op::SlotAddr:
        if (i.imm < 0 || uint64_t(i.imm) >= f.slots.size()) sayInst("the slot does not exist");
        break;
      case Op::Lane:
        if (i.imm < 0 || i.imm >= f.typeOf(f.arg(i, 0)).lanes) sayInst("the lane does not exist");
        break;
      case Op::SetLane:
        if (i.imm < 0 || i.imm >= i.type.lanes) sayInst("the lane does not exist");
        break;
      case Op::MemCopy: case Op::MemZero:
        if (i.imm < 0) sayInst("the number of bytes is negative");
        break;
      case Op::Trap: case Op::TrapIf:
        if (i.imm < 1 || i.imm > LastTrapKind) sayInst("the trap kind does not exist");
        break;
      case Op::ICmp:
        if (i.cond > Cond::Uge) sayInst("the condition is one for floats");
        break;
      case Op::FCmp:
        if (i.cond > Cond::Ne && i.cond <= Cond::Uge) sayInst("the condition is one for integers");
        break;
      default: break;
    }
  }

  void targets(const Inst& i) {
    unsigned want = i.op == Op::Br ? 1 : i.op == Op::BrIf ? 2 : 0;
    if (i.op == Op::Switch) switchCases(i);
    else if (i.targetCount != want) return sayInst("has " + std::to_string(i.targetCount) + " targets, not " + std::to_string(want));
    for (const Target& t : targetsOf(f, i)) {
      std::string name = "b" + std::to_string(t.block.index);
      if (t.block.index == 0) sayInst("jumps to the entry");
      const std::vector<ValueId>& params = f.blocks[t.block.index].params;
      if (params.size() != t.argCount) {
        sayInst(name + " takes " + std::to_string(params.size()) + " arguments, not " + std::to_string(t.argCount));
        continue;
      }
      for (unsigned k = 0; k < t.argCount; ++k) {
        Type got = f.typeOf(f.pool[t.firstArg + k]), wanted = f.typeOf(params[k]);
        if (got != wanted) sayInst("argument " + std::to_string(k + 1) + " of " + name + " is " + toString(got) + ", not " + toString(wanted));
      }
    }
  }

  void switchCases(const Inst& i) {
    std::vector<int64_t> cases(f.cases.begin() + i.imm, f.cases.begin() + i.imm + i.targetCount - 1);
    for (int64_t c : cases) if (canonical(i.type, c) != c) sayInst("a case is not canonical");
    std::sort(cases.begin(), cases.end());
    if (std::adjacent_find(cases.begin(), cases.end()) != cases.end()) sayInst("a case appears twice");
  }

  void callTypes(const Inst& i) {
    const Symbol& s = module.symbols[i.symbol.index];
    if (s.kind == SymbolKind::Data) return sayInst("calls data");
    if (s.kind != SymbolKind::Function) return;
    const Function& callee = module.functions[s.index];
    if (callee.result != i.type) sayInst("the callee answers " + toString(callee.result));
    if (callee.params.size() != i.argCount)
      return sayInst("the callee takes " + std::to_string(callee.params.size()) + " arguments, not " + std::to_string(i.argCount));
    for (unsigned k = 0; k < i.argCount; ++k) expectType(k, f.typeOf(f.arg(i, k)), callee.params[k]);
  }

  void dominance() {
    Cfg cfg(f);
    Dominators dom(f, cfg);
    std::vector<BlockId> home = blocksOfInsts(f);
    std::vector<uint32_t> order(f.insts.size(), 0);   // position within the block
    for (const Block& b : f.blocks)
      for (uint32_t k = 0; k < b.insts.size(); ++k) order[b.insts[k].index] = k;
    auto reaches = [&](ValueId v) {
      const Value& value = f.values[v.index];
      BlockId at = value.def ? home[value.def.index] : value.paramOf;
      if (at != block) return cfg.reachable(at) && dom.dominates(at, block);
      return !value.def || order[value.def.index] < order[current.index];
    };
    for (BlockId b : cfg.order) {
      block = b;
      for (InstId id : f.blocks[b.index].insts) {
        current = id;
        const Inst& i = f.insts[id.index];
        for (ValueId v : argsOf(f, i)) if (!reaches(v)) sayInst("%" + std::to_string(v.index) + " does not dominate its use");
        for (const Target& t : targetsOf(f, i))
          for (ValueId v : argsOf(f, t)) if (!reaches(v)) sayInst("%" + std::to_string(v.index) + " does not dominate its use");
      }
    }
  }
};

void verifyData(const Module& m, const Data& d, std::vector<std::string>& out) {
  if (!d.symbol || d.symbol.index >= m.symbols.size()) return out.push_back("data without a symbol");
  std::string name = "@" + m.nameOf(d.symbol) + ": ";
  const Symbol& s = m.symbols[d.symbol.index];
  if (s.kind != SymbolKind::Data || s.index >= m.data.size() || m.data[s.index].symbol != d.symbol)
    out.push_back(name + "the symbol does not lead to the data");
  if (!std::has_single_bit(d.align)) out.push_back(name + "the alignment is not a power of two");
  uint64_t end = 0;
  for (const DataRef& r : d.refs) {
    if (r.offset < end) out.push_back(name + "references overlap or are not in order");
    end = uint64_t(r.offset) + 8;
    if (end > d.bytes.size()) out.push_back(name + "a reference lies outside the data");
    if (!r.symbol || r.symbol.index >= m.symbols.size()) out.push_back(name + "a reference names a symbol that does not exist");
  }
}

}  // namespace

std::vector<std::string> verify(const Module& m, const Function& f) {
  std::vector<std::string> out;
  FunctionVerifier(m, f, out).run();
  return out;
}

std::vector<std::string> verify(const Module& m) {
  std::vector<std::string> out;
  for (const Function& f : m.functions) FunctionVerifier(m, f, out).run();
  for (const Data& d : m.data) verifyData(m, d, out);
  for (size_t p = 0; p < m.places.size(); ++p)
    if (m.places[p].inlinedAt && m.places[p].inlinedAt.index >= p) out.push_back("a place is inlined at a place that does not come before it");
  return out;
}

}  // namespace mica::ir
