// simdwidth: splits vectors that are wider than the target's registers into parts that fit. Run before selection; the interpreter does
// without.
//
// A value of a wide type becomes a list of parts, low lanes first. Operations that work lane by lane are done part by part; where operand and result
// differ in width (f32x8 to f64x8) the narrower one is halved or joined. Others move the right parts about. Functions take wide vectors as
// parts of the first level's width at every level, so that callers and callees agree, and answer them through a pointer to the
// caller's memory that goes before the arguments.
#include "ir/passes/edit.h"
#include "ir/passes/passes.h"

namespace mica::ir {

namespace {

class WidthSplitter {
 public:
  WidthSplitter(Function& fn, const PassOptions& options)
      : f(fn), limit(fn.cpuLevel > 1 ? options.levelVectorBytes : options.maxVectorBytes), callLimit(options.maxVectorBytes), replaced(fn) {}

  void run() {
    if (!anyWide()) return;
    dropUnreachable(f);
    Cfg cfg(f);
    parts.resize(f.values.size());
    blockParams(cfg);
    for (BlockId b : cfg.order) {
      std::vector<InstId> old = std::move(f.blocks[b.index].insts);
      list.clear();
      if (b.index == 0) entry();
      for (InstId id : old) inst(id);
      f.blocks[b.index].insts = list;
    }
    replaced.apply(f);
  }

 private:
  Function& f;
  unsigned limit, callLimit;
  Replacements replaced;
  std::vector<std::vector<ValueId>> parts;   // of wide values
  std::vector<InstId> list;
  ValueId answer;                            // where a wide result goes

  static unsigned countFor(Type t, unsigned most) { return t.isVector() && t.bytes() > most ? t.bytes() / most : 1; }
  unsigned count(Type t) const { return countFor(t, limit); }
  static Type pieceOf(Type t, unsigned k) { return t.withLanes(t.lanes / k); }

  bool wide(Type t) const { return t.isVector() && t.bytes() > std::min(limit, callLimit); }
  bool anyWide() const {
    for (const Value& v : f.values)
      if (wide(v.type)) return true;
    return wide(f.result);
  }

  std::vector<ValueId> partsOf(ValueId v) {
    v = replaced.of(v);
    if (v.index < parts.size() && !parts[v.index].empty()) return parts[v.index];
    return {v};
  }
  void setParts(ValueId v, std::vector<ValueId> p) {
    if (p.size() == 1) return replaced.set(v, p[0]);
    if (v.index >= parts.size()) parts.resize(f.values.size());
    parts[v.index] = std::move(p);
  }

  // Halves the pieces until there are k, or joins them.
  std::vector<ValueId> inPieces(Emitter& e, std::vector<ValueId> p, unsigned k) {
    while (p.size() < k) {
      std::vector<ValueId> halves;
      Type half = pieceOf(f.typeOf(p[0]), 2);
      for (ValueId v : p)
        for (bool high : {false, true})
          halves.push_back(half.isVector() ? e.value(high ? Op::VHigh : Op::VLow, half, {v}) : e.value(Op::Lane, half, {v}, high));
      p = halves;
    }
    while (p.size() > k) {
      std::vector<ValueId> joined;
      Type whole = f.typeOf(p[0]).withLanes(f.typeOf(p[0]).lanes * 2);
      for (size_t j = 0; j < p.size(); j += 2) joined.push_back(e.value(Op::VJoin, whole, {p[j], p[j + 1]}));
      p = joined;
    }
    return p;
  }

  void blockParams(const Cfg& cfg) {
    for (BlockId b : cfg.order) {
      if (b.index == 0) continue;
      std::vector<ValueId> params;
      for (ValueId p : f.blocks[b.index].params) {
        Type t = f.typeOf(p);
        unsigned k = count(t);
        if (k == 1) { params.push_back(p); continue; }
        std::vector<ValueId> list;
        for (unsigned j = 0; j < k; ++j) list.push_back(newParam(b, pieceOf(t, k)));
        params.insert(params.end(), list.begin(), list.end());
        setParts(p, list);
      }
      f.blocks[b.index].params = params;
    }
  }
  ValueId newParam(BlockId b, Type t) {
    ValueId v = newValue(f, t, {});
    f.values[v.index].paramOf = b;
    return v;
  }

  // The function's own parameters, in the form that calls pass them.
  void entry() {
    std::vector<ValueId> params;
    std::vector<Type> types;
    Emitter e{f, list, f.place};
    if (wide(f.result)) {
      answer = newParam(BlockId(0), Ptr);
      params.push_back(answer);
      types.push_back(Ptr);
    }
    std::vector<ValueId> old = f.blocks[0].params;
    for (ValueId p : old) {
      Type t = f.typeOf(p);
      unsigned k = countFor(t, callLimit);
      if (k == 1) {
        params.push_back(p);
        types.push_back(t);
        if (count(t) > 1) setParts(p, inPieces(e, {p}, count(t)));
        continue;
      }
      std::vector<ValueId> pieces;
      for (unsigned j = 0; j < k; ++j) {
        pieces.push_back(newParam(BlockId(0), pieceOf(t, k)));
        types.push_back(pieceOf(t, k));
      }
      params.insert(params.end(), pieces.begin(), pieces.end());
      setParts(p, inPieces(e, pieces, count(t)));
    }
    f.blocks[0].params = params;
    f.params = types;
    if (answer) f.result = Void;
  }

  void inst(InstId id) {
    for (ValueId& v : argsOf(f, f.insts[id.index])) v = replaced.of(v);
    const Inst i = f.insts[id.index];
    Emitter e{f, list, i.place};
    splitTargets(i);
    switch (i.op) {
      case Op::Call: case Op::CallInd: return call(e, id);
      case Op::Ret: return ret(e, id);
      default: break;
    }
    unsigned k = i.result ? count(f.typeOf(i.result)) : 1;
    for (ValueId v : argsOf(f, i)) k = std::max(k, count(f.typeOf(v)));
    if (k == 1) {
      list.push_back(id);
      return;
    }
    switch (i.op) {
      case Op::IConst: case Op::FConst: return setParts(i.result, std::vector<ValueId>(k, e.value(i.op, pieceOf(i.type, k), {}, i.imm)));
      case Op::Splat: return setParts(i.result, std::vector<ValueId>(k, e.value(Op::Splat, pieceOf(i.type, k), {f.arg(i, 0)})));
      case Op::Load: return load(e, i, k);
      case Op::Store: return store(e, i, k);
      case Op::VLow: case Op::VHigh: return half(e, i);
      case Op::VJoin: return join(e, i);
      case Op::Lane: case Op::SetLane: return lane(e, i);
      case Op::VZipLow: case Op::VZipHigh: return zip(e, i, k);
      case Op::VAnyTrue: return anyTrue(e, i);
      default: return byLanes(e, i, k);
    }
  }

  void splitTargets(const Inst& i) {
    for (uint32_t t = 0; t < i.targetCount; ++t) {
      std::vector<ValueId> args;
      auto old = argsOf(f, f.targets[i.firstTarget + t]);
      for (ValueId v : std::vector<ValueId>(old.begin(), old.end()))
        for (ValueId p : partsOf(v)) args.push_back(p);
      setArgs(f, f.targets[i.firstTarget + t], args);
    }
  }

  void byLanes(Emitter& e, const Inst& i, unsigned k) {
    std::vector<std::vector<ValueId>> args;
    for (ValueId v : f.argsOf(i)) args.push_back(inPieces(e, partsOf(v), k));
    std::vector<ValueId> results;
    for (unsigned j = 0; j < k; ++j) {
      std::vector<ValueId> own;
      for (const auto& a : args) own.push_back(a[j]);
      InstId piece = newInst(f, i.op, pieceOf(i.type, k), own, i.imm, i.place);
      f.insts[piece.index].cond = i.cond;
      // The result's type followed from the operation; comparisons answer masks.
      list.push_back(piece);
      results.push_back(f.insts[piece.index].result);
    }
    setParts(i.result, inPieces(e, results, count(f.typeOf(i.result))));
  }

  void load(Emitter& e, const Inst& i, unsigned k) {
    Type t = pieceOf(i.type, k);
    std::vector<ValueId> p;
    for (unsigned j = 0; j < k; ++j) p.push_back(e.value(Op::Load, t, {f.arg(i, 0)}, i.imm + int64_t(j * t.bytes())));
    setParts(i.result, p);
  }
  void store(Emitter& e, const Inst& i, unsigned k) {
    Type t = pieceOf(i.type, k);
    std::vector<ValueId> p = partsOf(f.arg(i, 0));
    for (unsigned j = 0; j < k; ++j) e.inst(Op::Store, t, {p[j], f.arg(i, 1)}, i.imm + int64_t(j * t.bytes()));
  }
  void half(Emitter& e, const Inst& i) {
    std::vector<ValueId> p = partsOf(f.arg(i, 0));
    size_t n = p.size() / 2;
    std::vector<ValueId> own(p.begin() + (i.op == Op::VHigh ? n : 0), p.begin() + (i.op == Op::VHigh ? 2 * n : n));
    setParts(i.result, inPieces(e, own, count(i.type)));
  }
  void join(Emitter& e, const Inst& i) {
    std::vector<ValueId> p = partsOf(f.arg(i, 0)), high = partsOf(f.arg(i, 1));
    p.insert(p.end(), high.begin(), high.end());
    setParts(i.result, inPieces(e, p, count(i.type)));
  }
  void lane(Emitter& e, const Inst& i) {
    std::vector<ValueId> p = partsOf(f.arg(i, 0));
    unsigned lanes = f.typeOf(p[0]).lanes, part = unsigned(i.imm) / lanes;
    int64_t within = i.imm % lanes;
    if (i.op == Op::Lane) return setParts(i.result, {e.value(Op::Lane, i.type, {p[part]}, within)});
    p[part] = e.value(Op::SetLane, f.typeOf(p[0]), {p[part], f.arg(i, 1)}, within);
    setParts(i.result, p);
  }
  // The result's part j comes from one half of one part of each operand.
  void zip(Emitter& e, const Inst& i, unsigned k) {
    std::vector<ValueId> a = partsOf(f.arg(i, 0)), b = partsOf(f.arg(i, 1)), p;
    for (unsigned j = 0; j < k; ++j) {
      unsigned from = (i.op == Op::VZipHigh ? k / 2 : 0) + j / 2;
      p.push_back(e.value(j % 2 ? Op::VZipHigh : Op::VZipLow, pieceOf(i.type, k), {a[from], b[from]}));
    }
    setParts(i.result, p);
  }
  void anyTrue(Emitter& e, const Inst& i) {
    std::vector<ValueId> p = partsOf(f.arg(i, 0));
    ValueId all = p[0];
    for (size_t j = 1; j < p.size(); ++j) all = e.value(Op::Or, f.typeOf(all), {all, p[j]});
    setParts(i.result, {e.value(Op::VAnyTrue, I1, {all})});
  }

  void call(Emitter& e, InstId id) {
    const Inst i = f.insts[id.index];
    bool wideArgs = false;
    for (ValueId v : argsOf(f, i)) wideArgs |= wide(f.typeOf(v));
    if (!wideArgs && !wide(i.type)) return list.push_back(id);
    std::vector<ValueId> args;
    unsigned k = 0;
    if (i.op == Op::CallInd) args.push_back(f.arg(i, k++));
    ValueId address;
    if (wide(i.type)) {
      f.slots.push_back({i.type.bytes(), 64});
      address = e.value(Op::SlotAddr, Ptr, {}, int64_t(f.slots.size() - 1));
      args.push_back(address);
    }
    for (; k < i.argCount; ++k) {
      std::vector<ValueId> p = inPieces(e, partsOf(f.arg(i, k)), countFor(f.typeOf(f.arg(i, k)), callLimit));
      args.insert(args.end(), p.begin(), p.end());
    }
    InstId made = newInst(f, i.op, address ? Void : i.type, args, i.imm, i.place);
    f.insts[made.index].symbol = i.symbol;
    list.push_back(made);
    if (!i.result) return;
    if (!address) return replaced.set(i.result, f.insts[made.index].result);
    unsigned n = count(i.type);
    std::vector<ValueId> p;
    for (unsigned j = 0; j < n; ++j) p.push_back(e.value(Op::Load, pieceOf(i.type, n), {address}, int64_t(j * i.type.bytes() / n)));
    setParts(i.result, p);
  }

  void ret(Emitter& e, InstId id) {
    if (answer) {
      std::vector<ValueId> p = partsOf(f.arg(f.insts[id.index], 0));
      Type t = f.typeOf(p[0]);
      for (size_t j = 0; j < p.size(); ++j) e.inst(Op::Store, t, {p[j], answer}, int64_t(j * t.bytes()));
      f.insts[id.index].argCount = 0;
    }
    list.push_back(id);
  }
};

}  // namespace

void splitVectors(Module& m, const PassOptions& options) {
  for (Function& f : m.functions) WidthSplitter(f, options).run();
}

}  // namespace mica::ir
