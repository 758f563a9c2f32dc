// mem2reg: makes SSA values of stack slots that are only loaded and stored whole, always with one type.
//
// The classic construction: a slot's value gets a block parameter at the iterated dominance frontier of its stores, but only
// where it is live; then a walk of the dominator tree replaces loads by the current value. A read before any store gives zero.
#include "ir/passes/edit.h"
#include "ir/passes/passes.h"

namespace mica::ir {

namespace {

constexpr uint32_t None = 0xffffffffu;

class Promoter {
 public:
  explicit Promoter(Function& fn) : f(fn), cfg(f), dom(f, cfg), slotOfValue(f.values.size(), None) {}

  void run() {
    findCandidates();
    if (slots.empty()) return;
    placeParams();
    rename();
    for (Block& b : f.blocks) std::erase_if(b.insts, [&](InstId i) { return dead.size() > i.index && dead[i.index]; });
    replaced.apply(f);
    placeZeros();
  }

 private:
  struct Candidate { Type type; ValueId zero; std::vector<BlockId> stores, exposed; };   // exposed: blocks that load before storing
  Function& f;
  Cfg cfg;
  Dominators dom;
  std::vector<uint32_t> slotOfValue;        // for values that are slot addresses: the slot, later the candidate
  std::vector<Candidate> slots;
  std::vector<std::vector<uint32_t>> added; // for each block: the candidates that get a parameter
  std::vector<std::vector<ValueId>> addedParams;
  std::vector<char> dead;
  std::vector<InstId> zeros;
  Replacements replaced{f};

  void findCandidates() {
    std::vector<Type> type(f.slots.size());
    std::vector<char> good(f.slots.size(), 1);
    for (BlockId b : cfg.order)
      for (InstId id : f.blocks[b.index].insts)
        if (const Inst& i = f.insts[id.index]; i.op == Op::SlotAddr) slotOfValue[i.result.index] = uint32_t(i.imm);
    auto escape = [&](ValueId v) { if (slotOfValue[v.index] != None) good[slotOfValue[v.index]] = 0; };
    auto access = [&](ValueId address, const Inst& i) {
      uint32_t s = slotOfValue[address.index];
      if (s == None) return;
      if (i.imm != 0 || i.type.bytes() > f.slots[s].size || (!type[s].isVoid() && type[s] != i.type)) good[s] = 0;
      type[s] = i.type;
    };
    for (BlockId b : cfg.order)
      for (InstId id : f.blocks[b.index].insts) {
        const Inst& i = f.insts[id.index];
        if (i.op == Op::Load) access(f.arg(i, 0), i);
        else if (i.op == Op::Store) escape(f.arg(i, 0)), access(f.arg(i, 1), i);
        else for (ValueId v : argsOf(f, i)) escape(v);
        for (const Target& t : targetsOf(f, i))
          for (ValueId v : argsOf(f, t)) escape(v);
      }
    std::vector<uint32_t> candidate(f.slots.size(), None);
    for (uint32_t s = 0; s < f.slots.size(); ++s)
      if (good[s] && !type[s].isVoid()) {
        candidate[s] = uint32_t(slots.size());
        slots.push_back({type[s], {}, {}, {}});
      }
    for (uint32_t& s : slotOfValue)
      if (s != None) s = candidate[s];
    if (!slots.empty()) findAccesses();
  }

  void findAccesses() {
    std::vector<uint32_t> storedIn(slots.size(), None), exposedIn(slots.size(), None);
    for (BlockId b : cfg.order)
      for (InstId id : f.blocks[b.index].insts) {
        const Inst& i = f.insts[id.index];
        if (i.op == Op::Load) {
          uint32_t s = slotOfValue[f.arg(i, 0).index];
          if (s == None || storedIn[s] == b.index || exposedIn[s] == b.index) continue;
          exposedIn[s] = b.index;
          slots[s].exposed.push_back(b);
        } else if (i.op == Op::Store) {
          uint32_t s = slotOfValue[f.arg(i, 1).index];
          if (s == None || storedIn[s] == b.index) continue;
          storedIn[s] = b.index;
          slots[s].stores.push_back(b);
        }
      }
  }

  // The dominance frontier of every block.
  std::vector<std::vector<BlockId>> frontiers() {
    std::vector<std::vector<BlockId>> df(f.blocks.size());
    for (BlockId b : cfg.order) {
      auto preds = cfg.predecessors[b.index];
      if (preds.size() < 2) continue;
      for (BlockId p : preds)
        for (BlockId r = p; r != dom.parent[b.index]; r = dom.parent[r.index])
          if (df[r.index].empty() || df[r.index].back() != b) df[r.index].push_back(b);
    }
    return df;
  }

  void placeParams() {
    added.resize(f.blocks.size());
    addedParams.resize(f.blocks.size());
    std::vector<std::vector<BlockId>> df = frontiers();
    std::vector<uint32_t> live(f.blocks.size(), None), stored(f.blocks.size(), None), has(f.blocks.size(), None);
    std::vector<BlockId> work;
    for (uint32_t s = 0; s < slots.size(); ++s) {
      for (BlockId b : slots[s].stores) stored[b.index] = s;
      work = slots[s].exposed;
      for (BlockId b : work) live[b.index] = s;
      while (!work.empty()) {
        BlockId b = work.back();
        work.pop_back();
        for (BlockId p : cfg.predecessors[b.index]) {
          if (live[p.index] == s || stored[p.index] == s) continue;
          live[p.index] = s;
          work.push_back(p);
        }
      }
      work = slots[s].stores;
      while (!work.empty()) {
        BlockId b = work.back();
        work.pop_back();
        for (BlockId d : df[b.index]) {
          if (has[d.index] == s || live[d.index] != s) continue;
          has[d.index] = s;
          added[d.index].push_back(s);
          if (stored[d.index] != s) work.push_back(d);
        }
      }
    }
    for (BlockId b : cfg.order)
      for (uint32_t s : added[b.index]) {
        ValueId v = newValue(f, slots[s].type, {});
        f.values[v.index].paramOf = b;
        f.blocks[b.index].params.push_back(v);
        addedParams[b.index].push_back(v);
      }
  }

  ValueId zeroOf(uint32_t s) {
    if (!slots[s].zero) {
      Emitter e{f, zeros, {}};
      slots[s].zero = e.zero(slots[s].type);
    }
    return slots[s].zero;
  }
  void placeZeros() {
    std::vector<InstId>& entry = f.blocks[0].insts;
    entry.insert(entry.begin(), zeros.begin(), zeros.end());
  }

  // Walks the dominator tree; `undo` restores the values that a subtree has changed.
  void rename() {
    dead.assign(f.insts.size(), 0);
    std::vector<ValueId> current(slots.size());
    struct Undo { uint32_t slot; ValueId value; };
    std::vector<Undo> undo;
    struct Step { BlockId block; uint32_t child; size_t mark; };
    std::vector<Step> stack{{BlockId(0), 0, 0}};
    auto set = [&](uint32_t s, ValueId v) {
      undo.push_back({s, current[s]});
      current[s] = v;
    };
    auto enter = [&](BlockId b) {
      for (size_t k = 0; k < added[b.index].size(); ++k) set(added[b.index][k], addedParams[b.index][k]);
      for (InstId id : f.blocks[b.index].insts) {
        const Inst i = f.insts[id.index];
        if (i.op == Op::Load) {
          uint32_t s = slotOfValue[f.arg(i, 0).index];
          if (s == None) continue;
          replaced.set(i.result, current[s] ? current[s] : zeroOf(s));
          dead[id.index] = 1;
        } else if (i.op == Op::Store) {
          uint32_t s = slotOfValue[f.arg(i, 1).index];
          if (s == None) continue;
          set(s, replaced.of(f.arg(i, 0)));
          dead[id.index] = 1;
        } else if (i.op == Op::SlotAddr) {
          if (slotOfValue[i.result.index] != None) dead[id.index] = 1;
        } else if (i.targetCount) {
          for (uint32_t t = 0; t < i.targetCount; ++t) passValues(i.firstTarget + t, current);
        }
      }
    };
    enter(BlockId(0));
    while (!stack.empty()) {
      Step& top = stack.back();
      auto children = dom.children[top.block.index];
      if (top.child < children.size()) {
        BlockId c = children[top.child++];
        stack.push_back({c, 0, undo.size()});
        enter(c);
      } else {
        for (; undo.size() > top.mark; undo.pop_back()) current[undo.back().slot] = undo.back().value;
        stack.pop_back();
      }
    }
  }

  void passValues(uint32_t target, const std::vector<ValueId>& current) {
    BlockId b = f.targets[target].block;
    if (added[b.index].empty()) return;
    auto old = argsOf(f, f.targets[target]);
    std::vector<ValueId> args(old.begin(), old.end());
    for (uint32_t s : added[b.index]) args.push_back(current[s] ? current[s] : zeroOf(s));
    setArgs(f, f.targets[target], args);
  }
};

}  // namespace

void promoteSlots(Function& f) {
  if (f.slots.empty()) return;
  dropUnreachable(f);
  Promoter(f).run();
}

}  // namespace mica::ir
