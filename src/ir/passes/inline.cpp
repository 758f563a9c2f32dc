// inline: replaces calls by the callee's body, callees first, so that what has been made small by inlining into it is what callers see.
//
// A callee is taken when it is marked `inline` or small in code and frame; never when it is marked `noinline` or `cold`, calls itself,
// needs a higher processor level, or depends on its own frame. Where a constant argument decides a branch of the callee, only the side that is taken
// counts and is copied: one function with a case for each operation then costs no more than the operation. The places of the copied
// instructions remember the call (PlaceInfo::inlinedAt), so that traps still show the whole chain. A call in a block that certainly ends in a trap is not worth its copy.
#include <algorithm>
#include <unordered_map>

#include "ir/passes/edit.h"
#include "ir/passes/passes.h"

namespace mica::ir {

namespace {

constexpr unsigned SmallBody = 12;        // instructions; about what the call and its moves cost (30: 27 KB more for the GPT, and no faster)
constexpr unsigned OnceBody = 60;         // for a callee with this one call in the module (150: 15 KB more for the GPT)
constexpr unsigned LargestInlined = 3000; // even when marked `inline`
constexpr unsigned LargestCaller = 20000;
constexpr uint64_t LargestFrame = 4096;   // of a callee's slots: the caller would need the stack even where it does not call

unsigned sizeOf(const Function& f) {
  unsigned n = 0;
  for (const Block& b : f.blocks)
    for (InstId i : b.insts) {
      Op op = f.insts[i.index].op;
      n += op != Op::IConst && op != Op::FConst && op != Op::SlotAddr && op != Op::SymAddr && op != Op::Br;
    }
  return n;
}

uint64_t slotBytes(const Function& f) {
  uint64_t bytes = 0;
  for (const Slot& s : f.slots) bytes += s.size;
  return bytes;
}

class Inliner {
 public:
  explicit Inliner(Module& mod) : m(mod) {}

  void run() {
    uint32_t count = uint32_t(m.functions.size());
    callsOf.resize(count);
    calls.assign(count, 0);
    fixed.assign(count, 0);
    for (uint32_t f = 0; f < count; ++f) scan(f);
    for (const Data& d : m.data)
      for (const DataRef& r : d.refs)
        if (m.symbols[r.symbol.index].kind == SymbolKind::Function) calls[m.symbols[r.symbol.index].index] += 2;
    order();
    size.resize(count);
    for (uint32_t f : bottomUp) {
      intoFunction(f);
      size[f] = sizeOf(m.functions[f]);
    }
  }

 private:
  Module& m;
  std::vector<std::vector<uint32_t>> callsOf;   // for each function: its callees in this module
  std::vector<unsigned> calls, size;            // calls of each function in the module (address taken counts as two); its size once done
  std::vector<char> fixed;                      // depends on its own frame or sets the context
  std::vector<uint32_t> bottomUp, rank;         // callees before callers; a function's rank in that
  std::unordered_map<uint64_t, PlaceId> placesAt;   // call's place, callee's place -> place; only looked up, never walked

  void scan(uint32_t f) {
    const Function& fn = m.functions[f];
    for (const Block& b : fn.blocks)
      for (InstId id : b.insts) {
        const Inst& i = fn.insts[id.index];
        if (i.op == Op::FramePtr || i.op == Op::SetContext || i.op == Op::SpawnThread) fixed[f] = 1;
        if (i.op != Op::Call && i.op != Op::SymAddr) continue;
        const Symbol& s = m.symbols[i.symbol.index];
        if (s.kind != SymbolKind::Function) continue;
        if (i.op == Op::Call) callsOf[f].push_back(s.index), ++calls[s.index];
        else calls[s.index] += 2;
      }
  }

  // A walk of the call graph that leaves a function after its callees; calls back into what is being walked are recursion.
  void order() {
    uint32_t count = uint32_t(m.functions.size());
    rank.assign(count, 0);
    std::vector<char> seen(count, 0);
    struct Step { uint32_t function; size_t next; };
    for (uint32_t root = 0; root < count; ++root) {
      if (seen[root]) continue;
      std::vector<Step> stack{{root, 0}};
      seen[root] = 1;
      while (!stack.empty()) {
        Step& top = stack.back();
        if (top.next < callsOf[top.function].size()) {
          uint32_t c = callsOf[top.function][top.next++];
          if (!seen[c]) seen[c] = 1, stack.push_back({c, 0});
        } else {
          bottomUp.push_back(top.function);
          rank[top.function] = uint32_t(bottomUp.size());
          stack.pop_back();
        }
      }
    }
  }

  // What a call's constant arguments leave of the callee: the blocks that can be reached, the branches that are decided, and the size.
  struct Plan {
    std::vector<char> live;
    std::vector<signed char> taken;              // by block: the target of a decided branch, or -1
    unsigned size = 0;
  };

  static bool holds(Cond c, int64_t x, int64_t y, unsigned bytes) {
    uint64_t mask = bytes >= 8 ? ~uint64_t(0) : (uint64_t(1) << (8 * bytes)) - 1, ux = uint64_t(x) & mask, uy = uint64_t(y) & mask;
    switch (c) {
      case Cond::Eq: return x == y;
      case Cond::Ne: return x != y;
      case Cond::Slt: return x < y;
      case Cond::Sle: return x <= y;
      case Cond::Sgt: return x > y;
      case Cond::Sge: return x >= y;
      case Cond::Ult: return ux < uy;
      case Cond::Ule: return ux <= uy;
      case Cond::Ugt: return ux > uy;
      default: return ux >= uy;
    }
  }

  Plan planOf(const Function& f, const Inst& call, const Function& callee) const {
    std::vector<std::pair<char, int64_t>> known(callee.values.size(), {0, 0});
    for (size_t p = 0; p < callee.params.size(); ++p) {
      int64_t c;
      if (callee.params[p].isInt() && !callee.params[p].isVector() && constantOf(f, f.arg(call, unsigned(p)), c)) known[callee.blocks[0].params[p].index] = {1, c};
    }
    auto valueOf = [&](ValueId v, int64_t& c) {
      if (!known[v.index].first) return constantOf(callee, v, c);
      c = known[v.index].second;
      return true;
    };
    Plan plan;
    plan.live.assign(callee.blocks.size(), 0);
    plan.taken.assign(callee.blocks.size(), -1);
    std::vector<BlockId> work{BlockId(0)};
    plan.live[0] = 1;
    while (!work.empty()) {
      BlockId b = work.back();
      work.pop_back();
      const Inst& last = callee.insts[callee.blocks[b.index].insts.back().index];
      if (last.op == Op::BrIf) {
        int64_t x, y, c;
        const Inst* test = defOf(callee, callee.arg(last, 0));
        if (valueOf(callee.arg(last, 0), c)) plan.taken[b.index] = c ? 0 : 1;
        else if (test && test->op == Op::ICmp && !test->type.isVector() && valueOf(callee.arg(*test, 0), x) && valueOf(callee.arg(*test, 1), y))
          plan.taken[b.index] = holds(test->cond, x, y, test->type.bytes()) ? 0 : 1;
      }
      for (InstId id : callee.blocks[b.index].insts) {
        Op op = callee.insts[id.index].op;
        plan.size += op != Op::IConst && op != Op::FConst && op != Op::SlotAddr && op != Op::SymAddr && op != Op::Br;
      }
      auto targets = targetsOf(callee, last);
      for (size_t t = 0; t < targets.size(); ++t) {
        if (plan.taken[b.index] >= 0 && int(t) != plan.taken[b.index]) continue;
        if (!plan.live[targets[t].block.index]) plan.live[targets[t].block.index] = 1, work.push_back(targets[t].block);
      }
    }
    return plan;
  }

  bool wanted(uint32_t caller, const Inst& call, bool coldBlock, Plan& plan) {
    const Symbol& s = m.symbols[call.symbol.index];
    if (s.kind != SymbolKind::Function || rank[s.index] >= rank[caller]) return false;   // external, or recursion
    const Function& callee = m.functions[s.index];
    if (callee.noInline || callee.cold || callee.entry || fixed[s.index] || callee.cpuLevel > m.functions[caller].cpuLevel) return false;
    if (std::count(callsOf[s.index].begin(), callsOf[s.index].end(), s.index)) return false;
    if (!callee.alwaysInline && (size[s.index] > OnceBody || slotBytes(callee) > LargestFrame)) return false;
    plan = planOf(m.functions[caller], call, callee);
    if (callee.alwaysInline) return plan.size <= LargestInlined;
    if (coldBlock || m.functions[caller].cold) return plan.size <= 8;
    return plan.size <= (calls[s.index] == 1 ? OnceBody : SmallBody);
  }

  void intoFunction(uint32_t caller) {
    unsigned callerSize = sizeOf(m.functions[caller]);
    // Blocks are cut at the calls; copies are appended and hold nothing more to do, since callees are done.
    for (uint32_t b = 0, end = uint32_t(m.functions[caller].blocks.size()); b < end; ++b) {
      BlockId at(b);
      for (size_t k = 0; k < m.functions[caller].blocks[at.index].insts.size(); ++k) {
        Function& f = m.functions[caller];
        const Block& block = f.blocks[at.index];
        const Inst& i = f.insts[block.insts[k].index];
        Op last = terminatorOf(f, at).op;
        Plan plan;
        if (i.op != Op::Call || callerSize > LargestCaller || !wanted(caller, i, last == Op::Trap || last == Op::Unreachable, plan)) continue;
        callerSize += plan.size;
        at = replace(f, at, k, plan);
        k = size_t(-1);
      }
    }
    tidy(m.functions[caller]);
  }

  PlaceId placeAt(PlaceId call, PlaceId inner) {
    if (!inner) return call;
    if (!call) return inner;
    PlaceId& known = placesAt[uint64_t(call.index) << 32 | inner.index];
    if (known) return known;
    PlaceId outer = m.places[inner.index].inlinedAt;
    outer = outer ? placeAt(call, outer) : call;
    m.places.push_back(m.places[inner.index]);
    m.places.back().inlinedAt = outer;
    return placesAt[uint64_t(call.index) << 32 | inner.index] = PlaceId(uint32_t(m.places.size() - 1));
  }

  // Copies the body of the callee between the two halves of the block; answers the second half.
  BlockId replace(Function& f, BlockId at, size_t k, const Plan& plan) {
    InstId callId = f.blocks[at.index].insts[k];
    const Inst call = f.insts[callId.index];
    const Function& callee = m.functions[m.symbols[call.symbol.index].index];

    BlockId rest(uint32_t(f.blocks.size()));
    f.blocks.emplace_back();
    std::vector<InstId>& insts = f.blocks[at.index].insts;
    f.blocks[rest.index].insts.assign(insts.begin() + k + 1, insts.end());
    insts.resize(k);
    if (call.result) {   // the call's result becomes the parameter of the rest
      f.blocks[rest.index].params.push_back(call.result);
      f.values[call.result.index].def = {};
      f.values[call.result.index].paramOf = rest;
    }

    uint32_t firstBlock = uint32_t(f.blocks.size()), firstSlot = uint32_t(f.slots.size());
    f.slots.insert(f.slots.end(), callee.slots.begin(), callee.slots.end());
    std::vector<ValueId> to(callee.values.size());
    for (size_t p = 0; p < callee.params.size(); ++p) to[callee.blocks[0].params[p].index] = f.arg(call, unsigned(p));
    f.blocks.resize(f.blocks.size() + callee.blocks.size());
    auto copyOf = [&](ValueId v) {
      if (!to[v.index]) to[v.index] = newValue(f, callee.typeOf(v), {});
      return to[v.index];
    };
    auto copyAll = [&](std::span<const ValueId> values) {
      std::vector<ValueId> copied;
      for (ValueId v : values) copied.push_back(copyOf(v));
      return copied;
    };
    for (uint32_t b = 0; b < callee.blocks.size(); ++b) {
      BlockId copy(firstBlock + b);
      if (!plan.live[b]) {                       // never reached: tidied away with the function
        f.blocks[copy.index].insts.push_back(newInst(f, Op::Unreachable, Void, {}, 0, call.place));
        continue;
      }
      if (b != 0)
        for (ValueId p : callee.blocks[b].params) {
          ValueId v = copyOf(p);
          f.values[v.index].paramOf = copy;
          f.blocks[copy.index].params.push_back(v);
        }
      for (InstId id : callee.blocks[b].insts) {
        Inst i = callee.insts[id.index];
        PlaceId place = placeAt(call.place, i.place);
        if (i.op == Op::BrIf && plan.taken[b] >= 0) {
          i.op = Op::Br;
          i.argCount = 0;
          i.firstTarget += uint32_t(plan.taken[b]);
          i.targetCount = 1;
        }
        std::vector<ValueId> args = copyAll(argsOf(callee, i));
        InstId newId(uint32_t(f.insts.size()));
        if (i.op == Op::Ret) {
          Inst jump;
          jump.op = Op::Br;
          jump.place = place;
          jump.firstTarget = uint32_t(f.targets.size());
          jump.targetCount = 1;
          uint32_t first = addToPool(f, args);
          f.targets.push_back({rest, first, uint32_t(args.size())});
          f.insts.push_back(jump);
        } else {
          std::vector<Target> targets;
          for (const Target& t : targetsOf(callee, i)) {
            std::vector<ValueId> targetArgs = copyAll(argsOf(callee, t));
            targets.push_back({BlockId(firstBlock + t.block.index), addToPool(f, targetArgs), t.argCount});
          }
          if (i.op == Op::Switch) {
            int64_t first = int64_t(f.cases.size());
            f.cases.insert(f.cases.end(), callee.cases.begin() + i.imm, callee.cases.begin() + i.imm + i.targetCount - 1);
            i.imm = first;
          }
          if (i.op == Op::SlotAddr) i.imm += firstSlot;
          i.firstTarget = uint32_t(f.targets.size());
          f.targets.insert(f.targets.end(), targets.begin(), targets.end());
          i.firstArg = addToPool(f, args);
          i.place = place;
          if (i.result) {
            i.result = copyOf(i.result);
            f.values[i.result.index].def = newId;
          }
          f.insts.push_back(i);
        }
        f.blocks[copy.index].insts.push_back(newId);
      }
    }
    // The first half jumps into the copy of the entry.
    InstId jump = newInst(f, Op::Br, Void, {}, 0, call.place);
    f.insts[jump.index].firstTarget = uint32_t(f.targets.size());
    f.insts[jump.index].targetCount = 1;
    f.targets.push_back({BlockId(firstBlock), 0, 0});
    f.blocks[at.index].insts.push_back(jump);
    return rest;
  }
};

}  // namespace

void inlineCalls(Module& m) { Inliner(m).run(); }

}  // namespace mica::ir
