// checks: drops checks that cannot fail and lets additions that cannot overflow wrap.
//
// A walk of the dominator tree keeps, for the block at hand, the range of each integer and facts of the form a < b, both from the
// branches and checks passed on the way. A loop's counter starts in the range of its first value and grows by steps; while the loop's test
// holds it below some n, a step of one cannot overflow, so the counter never falls below its start. With 0 <= i and i < n the check of i against n
// goes, and so does the overflow check of i + 1.
#include <algorithm>
#include <limits>

#include "ir/passes/edit.h"
#include "ir/passes/passes.h"

namespace mica::ir {

namespace {

struct Range {
  int64_t lo = std::numeric_limits<int64_t>::min(), hi = std::numeric_limits<int64_t>::max();
  bool operator==(const Range&) const = default;
};

Range fullRange(Type t) {
  if (t.kind == TypeKind::I1) return {0, 1};
  unsigned bits = t.laneBytes() * 8;
  if (bits == 64) return {};
  return {-(int64_t(1) << (bits - 1)), (int64_t(1) << (bits - 1)) - 1};
}

class Checks {
 public:
  explicit Checks(Function& fn) : f(fn), cfg(f), dom(f, cfg), defined(f.values.size()), now(f.values.size()), facts(f.values.size(), None) {}

  void run() {
    struct Step { BlockId block; uint32_t child; size_t rangeMark, factMark; };
    std::vector<Step> stack;
    auto enter = [&](BlockId b) {
      stack.push_back({b, 0, rangeUndo.size(), allFacts.size()});
      block(b);
    };
    enter(BlockId(0));
    while (!stack.empty()) {
      Step& top = stack.back();
      auto children = dom.children[top.block.index];
      if (top.child < children.size()) {
        enter(children[top.child++]);
        continue;
      }
      undoTo(top.rangeMark, top.factMark);
      stack.pop_back();
    }
  }

 private:
  static constexpr uint32_t None = 0xffffffffu;
  struct Fact { ValueId a, b; bool strict; uint32_t next; };   // a < b or a <= b, signed; chained for each a
  struct Undo { ValueId value; Range range; };
  Function& f;
  Cfg cfg;
  Dominators dom;
  std::vector<Range> defined, now;     // as defined, for good; narrowed by facts, in this part of the tree
  std::vector<uint32_t> facts;
  std::vector<Fact> allFacts;
  std::vector<Undo> rangeUndo;
  std::vector<BlockId> homes;          // of instructions; made when first asked for

  bool tracked(ValueId v) { return f.typeOf(v).isInt() && !f.typeOf(v).isVector(); }
  Range rangeOf(ValueId v) { return now[v.index]; }
  void define(ValueId v, Range r) { defined[v.index] = now[v.index] = r; }

  void narrow(ValueId v, int64_t lo, int64_t hi) {
    Range old = now[v.index], r{std::max(old.lo, lo), std::min(old.hi, hi)};
    if (r == old || r.lo > r.hi) return;   // an empty range: the way is never taken; leave it
    rangeUndo.push_back({v, old});
    now[v.index] = r;
  }

  void addFact(ValueId a, ValueId b, bool strict) {
    if (!tracked(a) || !tracked(b)) return;
    Range ra = rangeOf(a), rb = rangeOf(b);
    if (rb.hi > std::numeric_limits<int64_t>::min()) narrow(a, ra.lo, rb.hi - strict);
    if (ra.lo < std::numeric_limits<int64_t>::max()) narrow(b, ra.lo + strict, rb.hi);
    allFacts.push_back({a, b, strict, facts[a.index]});
    facts[a.index] = uint32_t(allFacts.size() - 1);
  }

  // Takes note that a condition is true or false from here on.
  void assume(ValueId condition, bool truth, unsigned depth = 0) {
    narrow(condition, truth, truth);
    const Inst* d = defOf(f, condition);
    if (!d || depth > 8) return;
    if (d->op == Op::Not) return assume(f.arg(*d, 0), !truth, depth + 1);
    if ((d->op == Op::And && truth) || (d->op == Op::Or && !truth)) {
      ValueId second = f.arg(*d, 1);
      assume(f.arg(*d, 0), truth, depth + 1);
      return assume(second, truth, depth + 1);
    }
    if (d->op != Op::ICmp || d->type.isVector() || d->type.isPtr()) return;
    assumeCompare(truth ? d->cond : negate(d->cond), f.arg(*d, 0), f.arg(*d, 1));
  }

  void assumeCompare(Cond c, ValueId a, ValueId b) {
    switch (c) {
      case Cond::Slt: return addFact(a, b, true);
      case Cond::Sle: return addFact(a, b, false);
      case Cond::Sgt: return addFact(b, a, true);
      case Cond::Sge: return addFact(b, a, false);
      case Cond::Eq: addFact(a, b, false); return addFact(b, a, false);
      case Cond::Ne:   // of what is at most the other, it is less
        if (!tracked(a)) return;
        if (less(a, b, false)) addFact(a, b, true);
        else if (less(b, a, false)) addFact(b, a, true);
        return;
      // An unsigned comparison below something not negative bounds both ways.
      case Cond::Ugt: return assumeCompare(Cond::Ult, b, a);
      case Cond::Uge: return assumeCompare(Cond::Ule, b, a);
      case Cond::Ult: case Cond::Ule:
        if (rangeOf(b).lo < 0) return;
        narrow(a, 0, rangeOf(a).hi);
        return addFact(a, b, c == Cond::Ult);
      default: return;
    }
  }

  // Is a < b (or a <= b) certain?
  bool less(ValueId a, ValueId b, bool strict, unsigned depth = 0) {
    Range ra = rangeOf(a), rb = rangeOf(b);
    if (strict ? ra.hi < rb.lo : ra.hi <= rb.lo) return true;
    if (a == b) return !strict;
    if (depth > 2) return false;
    unsigned looked = 0;
    for (uint32_t k = facts[a.index]; k != None && looked < 8; k = allFacts[k].next, ++looked) {
      const Fact fact = allFacts[k];
      if (fact.b == b && (fact.strict || !strict)) return true;
      if (fact.b != b && less(fact.b, b, strict && !fact.strict, depth + 1)) return true;
    }
    // x + 1 <= b when x < b; x - c < b when x <= b. Only additions that do not wrap.
    const Inst* d = defOf(f, a);
    int64_t c;
    if (d && addsConstant(*d, c)) {
      if (c == 1 && !strict) return less(f.arg(*d, 0), b, true, depth + 1);
      if (c < 0) return less(f.arg(*d, 0), b, false, depth + 1);
    }
    // a <= x - 1 when a < x; a < x + c when a <= x.
    d = defOf(f, b);
    if (d && addsConstant(*d, c)) {
      if (c == -1 && !strict) return less(a, f.arg(*d, 0), true, depth + 1);
      if (c > 0) return less(a, f.arg(*d, 0), false, depth + 1);
    }
    return false;
  }

  // An addition of a constant that certainly does not wrap (or traps before anything sees it).
  bool addsConstant(const Inst& i, int64_t& c) {
    if (i.op != Op::SAddT && i.op != Op::SSubT && i.op != Op::IAdd) return false;
    if (!constantOf(f, f.arg(i, 1), c)) return false;
    if (i.op == Op::SSubT) {
      if (c == std::numeric_limits<int64_t>::min()) return false;
      c = -c;
    }
    if (i.op != Op::IAdd) return true;
    Range r = rangeOf(f.arg(i, 0)), t = fullRange(i.type);
    return c >= 0 ? r.hi <= t.hi - c : r.lo >= t.lo - c;
  }

  enum Truth : uint8_t { False, True, Unknown };

  Truth decide(ValueId condition, unsigned depth = 0) {
    Range r = rangeOf(condition);
    if (r.lo == r.hi) return r.lo ? True : False;
    const Inst* d = defOf(f, condition);
    if (!d || depth > 8) return Unknown;
    if (d->op == Op::Not) {
      Truth t = decide(f.arg(*d, 0), depth + 1);
      return t == Unknown ? Unknown : t == True ? False : True;
    }
    if (d->op == Op::And || d->op == Op::Or) {
      Truth absorbing = d->op == Op::And ? False : True, a = decide(f.arg(*d, 0), depth + 1), b = decide(f.arg(*d, 1), depth + 1);
      if (a == absorbing || b == absorbing) return absorbing;
      return a == Unknown || b == Unknown ? Unknown : a;
    }
    if (d->op == Op::ICmp && !d->type.isVector() && !d->type.isPtr()) return decideCompare(d->cond, f.arg(*d, 0), f.arg(*d, 1));
    return Unknown;
  }

  Truth decideCompare(Cond c, ValueId a, ValueId b) {
    auto truth = [](bool yes, bool no) { return yes ? True : no ? False : Unknown; };
    switch (c) {
      case Cond::Slt: return truth(less(a, b, true), less(b, a, false));
      case Cond::Sle: return truth(less(a, b, false), less(b, a, true));
      case Cond::Sgt: return truth(less(b, a, true), less(a, b, false));
      case Cond::Sge: return truth(less(b, a, false), less(a, b, true));
      case Cond::Eq: return truth(false, less(a, b, true) || less(b, a, true));
      case Cond::Ne: return truth(less(a, b, true) || less(b, a, true), false);
      default: break;
    }
    // Unsigned: as signed where neither is negative; a negative one is above one that is not.
    bool aPositive = rangeOf(a).lo >= 0, bPositive = rangeOf(b).lo >= 0, aNegative = rangeOf(a).hi < 0, bNegative = rangeOf(b).hi < 0;
    if (aPositive && !bPositive && !bNegative) {   // 0 <= a < b says that b is positive
      if (less(a, b, true)) bPositive = true;
    }
    if (bPositive && !aPositive && !aNegative && less(b, a, false)) aPositive = true;
    if ((aPositive && bPositive) || (aNegative && bNegative)) {
      Cond s = c == Cond::Ult ? Cond::Slt : c == Cond::Ule ? Cond::Sle : c == Cond::Ugt ? Cond::Sgt : Cond::Sge;
      return decideCompare(s, a, b);
    }
    if ((aPositive && bNegative) || (aNegative && bPositive)) return truth((c == Cond::Ult || c == Cond::Ule) == aPositive, true);
    return Unknown;
  }

  void block(BlockId b) {
    auto preds = cfg.predecessors[b.index];
    if (preds.size() == 1) {
      const Inst& i = terminatorOf(f, preds[0]);
      if (i.op == Op::BrIf && f.targets[i.firstTarget].block != f.targets[i.firstTarget + 1].block)
        assume(f.arg(i, 0), f.targets[i.firstTarget].block == b);
    }
    params(b);
    std::erase_if(f.blocks[b.index].insts, [&](InstId id) { return !keep(id); });
  }

  // The argument that an edge from p to b passes; none when several edges do.
  ValueId argumentFrom(BlockId p, BlockId b, uint32_t k) {
    ValueId v;
    for (const Target& t : targetsOf(f, terminatorOf(f, p)))
      if (t.block == b) {
        if (v) return {};
        v = f.pool[t.firstArg + k];
      }
    return v;
  }

  void params(BlockId b) {
    const std::vector<ValueId>& ps = f.blocks[b.index].params;
    for (uint32_t k = 0; k < ps.size(); ++k) {
      if (!tracked(ps[k])) continue;
      Range full = fullRange(f.typeOf(ps[k]));
      define(ps[k], full);
      if (b.index == 0) continue;
      Range all{full.hi, full.lo};   // empty
      bool loop = false, unknown = false;
      for (BlockId p : cfg.predecessors[b.index]) {
        ValueId v = argumentFrom(p, b, k);
        if (!v) { unknown = true; break; }
        if (dom.dominates(b, p)) { loop = true; continue; }
        // A value defined on the way down may have been narrowed since; elsewhere only its definition counts.
        Range r = dom.dominates(p, b) ? now[v.index] : defined[v.index];
        all = {std::min(all.lo, r.lo), std::max(all.hi, r.hi)};
      }
      if (unknown || all.lo > all.hi) continue;
      if (!loop) define(ps[k], all);
      else counter(b, k, all);
    }
  }

  // A loop's parameter that only grows (or only shrinks) by constants.
  void counter(BlockId head, uint32_t k, Range start) {
    ValueId p = f.blocks[head.index].params[k];
    Type t = f.typeOf(p);
    boundBelow(head, k);
    bool stopsAtLast = boundByLast(head, k);
    bool grows = true, shrinks = true;
    for (BlockId latch : cfg.predecessors[head.index]) {
      if (!dom.dominates(head, latch)) continue;
      ValueId v = argumentFrom(latch, head, k);
      if (v == p) continue;
      const Inst* d = v ? defOf(f, v) : nullptr;
      int64_t c;
      if (!d || d->argCount != 2 || f.arg(*d, 0) != p || !constantOf(f, f.arg(*d, 1), c)) return;
      if (d->op == Op::SSubT) c = c == std::numeric_limits<int64_t>::min() ? 0 : -c;
      else if (d->op == Op::IAdd && !stopsAtLast && !stepHeld(head, p, v, c)) return;
      else if (d->op != Op::IAdd && d->op != Op::SAddT) return;
      grows &= c >= 0;
      shrinks &= c <= 0;
    }
    Range r = fullRange(t);
    if (grows) r.lo = start.lo;
    if (shrinks) r.hi = start.hi;
    define(p, {std::max(r.lo, now[p.index].lo), std::min(r.hi, now[p.index].hi)});
  }

  // Whether p + c (wrapping) is only computed where the loop's test keeps p on the near side of something, so that a step of one is safe.
  bool stepHeld(BlockId head, ValueId p, ValueId v, int64_t c) {
    Range r = now[p.index], t = fullRange(f.typeOf(p));
    if (c >= 0 ? r.hi <= t.hi - c : r.lo >= t.lo - c) return true;
    if (c != 1 && c != -1) return false;
    const Inst& test = terminatorOf(f, head);
    if (test.op != Op::BrIf) return false;
    BlockId home = blockOf(v);
    for (unsigned way = 0; way < 2; ++way) {
      BlockId to = f.targets[test.firstTarget + way].block;
      if (!home || cfg.predecessors[to.index].size() != 1 || !dom.dominates(to, home)) continue;
      if (keepsBelow(f.arg(test, 0), way == 0, p, c > 0)) return true;
    }
    return false;
  }

  BlockId blockOf(ValueId v) {
    if (homes.empty()) homes = blocksOfInsts(f);
    return homes[f.values[v.index].def.index];
  }

  // Does the condition, being so, say that p is below (above) some value of its type?
  bool keepsBelow(ValueId condition, bool truth, ValueId p, bool below) {
    const Inst* d = defOf(f, condition);
    if (!d || d->op != Op::ICmp) return false;
    Cond c = truth ? d->cond : negate(d->cond);
    if (f.arg(*d, 1) == p) c = swapOperands(c);
    else if (f.arg(*d, 0) != p) return false;
    return c == (below ? Cond::Slt : Cond::Sgt);
  }

  // A loop that tests at its end: when each round's next value is below n and the first one is too, the parameter is below n.
  void boundBelow(BlockId head, uint32_t k) {
    ValueId p = f.blocks[head.index].params[k], bound;
    for (BlockId latch : cfg.predecessors[head.index]) {
      if (!dom.dominates(head, latch)) continue;
      const Inst& i = terminatorOf(f, latch);
      if (i.op != Op::BrIf) return;
      const Inst* d = defOf(f, f.arg(i, 0));
      if (!d || d->op != Op::ICmp || f.targets[i.firstTarget].block == f.targets[i.firstTarget + 1].block) return;
      Cond c = f.targets[i.firstTarget].block == head ? d->cond : negate(d->cond);
      ValueId next = argumentFrom(latch, head, k), n;
      if (c == Cond::Slt && f.arg(*d, 0) == next) n = f.arg(*d, 1);
      else if (c == Cond::Sgt && f.arg(*d, 1) == next) n = f.arg(*d, 0);
      if (!n || (bound && bound != n)) return;
      bound = n;
    }
    if (!bound) return;
    const Value& value = f.values[bound.index];
    BlockId home = value.def ? blockOf(bound) : value.paramOf;
    if (home == head || !dom.dominates(home, head)) return;
    for (BlockId outside : cfg.predecessors[head.index])
      if (!dom.dominates(head, outside)) {
        ValueId first = argumentFrom(outside, head, k);
        if (!first || !dom.dominates(outside, head) || !lessOnEdge(outside, head, first, bound, true)) return;
      }
    addFact(p, bound, true);
  }

  // A loop that steps by one (up or down) unless its parameter is at the last value, and whose first value does not lie beyond that:
  // the parameter never passes the last value, and no step wraps.
  bool boundByLast(BlockId head, uint32_t k) {
    ValueId p = f.blocks[head.index].params[k], last;
    int64_t step = 0, c;
    for (BlockId latch : cfg.predecessors[head.index]) {
      if (!dom.dominates(head, latch)) continue;
      ValueId next = argumentFrom(latch, head, k);
      const Inst* d = next ? defOf(f, next) : nullptr;
      if (!d || (d->op != Op::IAdd && d->op != Op::SAddT) || f.arg(*d, 0) != p || !constantOf(f, f.arg(*d, 1), c)) return false;
      if ((c != 1 && c != -1) || (step && step != c)) return false;
      step = c;
      ValueId other = differsFrom(head, p, blockOf(next));
      if (!other || (last && last != other)) return false;
      last = other;
    }
    if (!last) return false;
    const Value& value = f.values[last.index];
    BlockId home = value.def ? blockOf(last) : value.paramOf;
    if (home == head || !dom.dominates(home, head)) return false;
    for (BlockId outside : cfg.predecessors[head.index])
      if (!dom.dominates(head, outside)) {
        ValueId first = argumentFrom(outside, head, k);
        if (!first || !dom.dominates(outside, head)) return false;
        if (step > 0 ? !lessOnEdge(outside, head, first, last, false) : !lessOnEdge(outside, head, last, first, false)) return false;
      }
    if (step > 0) addFact(p, last, false);
    else addFact(last, p, false);
    return true;
  }

  // The value from which p is known to differ in a block of the loop, by a branch between the loop's head and the block.
  ValueId differsFrom(BlockId head, ValueId p, BlockId b) {
    for (; b && b != head; b = dom.parent[b.index]) {
      auto preds = cfg.predecessors[b.index];
      if (preds.size() != 1) continue;
      const Inst& i = terminatorOf(f, preds[0]);
      if (i.op != Op::BrIf || f.targets[i.firstTarget].block == f.targets[i.firstTarget + 1].block) continue;
      const Inst* d = defOf(f, f.arg(i, 0));
      if (!d || d->op != Op::ICmp || d->cond != (f.targets[i.firstTarget].block == b ? Cond::Ne : Cond::Eq)) continue;
      if (f.arg(*d, 0) == p) return f.arg(*d, 1);
      if (f.arg(*d, 1) == p) return f.arg(*d, 0);
    }
    return {};
  }

  // Is a < b (a <= b) certain on the way from p to a block, given also the branch that leads there?
  bool lessOnEdge(BlockId p, BlockId to, ValueId a, ValueId b, bool strict) {
    size_t rangeMark = rangeUndo.size(), factMark = allFacts.size();
    const Inst& i = terminatorOf(f, p);
    if (i.op == Op::BrIf && f.targets[i.firstTarget].block != f.targets[i.firstTarget + 1].block)
      assume(f.arg(i, 0), f.targets[i.firstTarget].block == to);
    bool yes = less(a, b, strict);
    undoTo(rangeMark, factMark);
    return yes;
  }

  void undoTo(size_t rangeMark, size_t factMark) {
    for (; rangeUndo.size() > rangeMark; rangeUndo.pop_back()) now[rangeUndo.back().value.index] = rangeUndo.back().range;
    for (; allFacts.size() > factMark; allFacts.pop_back()) facts[allFacts.back().a.index] = allFacts.back().next;
  }

  // Answers whether the instruction stays.
  bool keep(InstId id) {
    Inst& i = f.insts[id.index];
    if (i.op == Op::TrapIf) {
      if (decide(f.arg(i, 0)) == False) return false;
      assume(f.arg(i, 0), false);
      return true;
    }
    if (i.op == Op::BrIf) {
      Truth t = decide(f.arg(i, 0));
      if (t != Unknown) becomeBr(f, i, f.targets[i.firstTarget + (t == True ? 0 : 1)]);
      return true;
    }
    if (!i.result || !tracked(i.result)) return true;
    dropOverflowCheck(i);
    define(i.result, resultRange(i));
    if (i.op == Op::ICmp && i.type.isInt())
      if (Truth t = decide(i.result); t != Unknown) {
        becomeConstant(f, i, t == True);
        define(i.result, {t == True, t == True});
      }
    return true;
  }

  // The exact range of an operation on ranges, before it is cut to the type.
  bool exact(const Inst& i, __int128& lo, __int128& hi) {
    Range a = rangeOf(f.arg(i, 0)), b = rangeOf(f.arg(i, 1));
    switch (i.op) {
      case Op::IAdd: case Op::SAddT: case Op::UAddT:
        lo = __int128(a.lo) + b.lo;
        hi = __int128(a.hi) + b.hi;
        return true;
      case Op::ISub: case Op::SSubT: case Op::USubT:
        lo = __int128(a.lo) - b.hi;
        hi = __int128(a.hi) - b.lo;
        if (less(f.arg(i, 1), f.arg(i, 0), false)) lo = std::max(lo, __int128(0));
        return true;
      case Op::IMul: case Op::SMulT: case Op::UMulT: {
        __int128 p[] = {__int128(a.lo) * b.lo, __int128(a.lo) * b.hi, __int128(a.hi) * b.lo, __int128(a.hi) * b.hi};
        lo = *std::min_element(p, p + 4);
        hi = *std::max_element(p, p + 4);
        return true;
      }
      default: return false;
    }
  }

  void dropOverflowCheck(Inst& i) {
    Op to;
    bool isUnsigned = false;
    switch (i.op) {
      case Op::SAddT: to = Op::IAdd; break;
      case Op::SSubT: to = Op::ISub; break;
      case Op::SMulT: to = Op::IMul; break;
      case Op::UAddT: to = Op::IAdd, isUnsigned = true; break;
      case Op::USubT: to = Op::ISub, isUnsigned = true; break;
      case Op::UMulT: to = Op::IMul, isUnsigned = true; break;
      default: return;
    }
    __int128 lo, hi;
    Range t = fullRange(i.type);
    if (!exact(i, lo, hi) || lo < t.lo || hi > t.hi) return;
    if (isUnsigned && (lo < 0 || rangeOf(f.arg(i, 0)).lo < 0 || rangeOf(f.arg(i, 1)).lo < 0)) return;
    i.op = to;
  }

  Range resultRange(const Inst& i) {
    Range full = fullRange(i.type);
    if (i.op == Op::ICmp || i.op == Op::FCmp || i.op == Op::VAnyTrue) return {0, 1};
    auto arg = [&](unsigned k) { return rangeOf(f.arg(i, k)); };
    int64_t c;
    __int128 lo, hi;
    switch (i.op) {
      case Op::IConst: return {i.imm, i.imm};
      case Op::IAdd: case Op::ISub: case Op::IMul:
        if (exact(i, lo, hi) && lo >= full.lo && hi <= full.hi) return {int64_t(lo), int64_t(hi)};
        return full;
      case Op::SAddT: case Op::SSubT: case Op::SMulT:   // what does not fit has trapped
        if (!exact(i, lo, hi) || lo > full.hi || hi < full.lo) return full;
        return {int64_t(std::max<__int128>(lo, full.lo)), int64_t(std::min<__int128>(hi, full.hi))};
      case Op::And:
        if (i.type != I1 && constantOf(f, f.arg(i, 1), c) && c >= 0) return {0, c};
        if (arg(0).lo >= 0) return {0, arg(0).hi};
        return full;
      case Op::ShrU:
        if (constantOf(f, f.arg(i, 1), c) && (c &= i.type.laneBytes() * 8 - 1) > 0)
          return {0, int64_t((uint64_t(~uint64_t(0)) >> (64 - i.type.laneBytes() * 8)) >> c)};
        return full;
      case Op::SRemT:
        if (constantOf(f, f.arg(i, 1), c) && c != 0 && c != full.lo) {
          int64_t most = std::abs(c) - 1;
          return {arg(0).lo >= 0 ? 0 : -most, arg(0).hi <= 0 ? 0 : most};
        }
        return full;
      case Op::URemT:
        if (constantOf(f, f.arg(i, 1), c) && c > 0) return {0, c - 1};
        return full;
      case Op::SDivT:
        if (constantOf(f, f.arg(i, 1), c) && c > 0) return {arg(0).lo / c, arg(0).hi / c};
        return full;
      case Op::IMinS: return {std::min(arg(0).lo, arg(1).lo), std::min(arg(0).hi, arg(1).hi)};
      case Op::IMaxS: return {std::max(arg(0).lo, arg(1).lo), std::max(arg(0).hi, arg(1).hi)};
      case Op::Select: return {std::min(arg(1).lo, arg(2).lo), std::max(arg(1).hi, arg(2).hi)};
      case Op::SExt: return f.typeOf(f.arg(i, 0)) == I1 ? Range{-1, 0} : arg(0);
      case Op::ZExt: {
        Type from = f.typeOf(f.arg(i, 0));
        if (arg(0).lo >= 0) return arg(0);
        return {0, int64_t(~uint64_t(0) >> (64 - from.laneBytes() * 8))};
      }
      case Op::Clz: case Op::Ctz: case Op::Popcount: return {0, int64_t(i.type.laneBytes() * 8)};
      default: return full;
    }
  }
};

}  // namespace

void removeChecks(Function& f) {
  dropUnreachable(f);
  Checks(f).run();
  dropUnreachable(f);
}

}  // namespace mica::ir
