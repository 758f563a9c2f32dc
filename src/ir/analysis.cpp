// See analysis.h. Dominators follow Cooper, Harvey and Kennedy: walk the blocks in reverse postorder and intersect the
// paths of the predecessors until nothing changes, which is once or twice for the graphs that programs have.
#include "ir/analysis.h"

#include <algorithm>

namespace mica::ir {

namespace {

// Turns pairs (list, item) into Lists; items keep the order of the pairs.
template <class T> Lists<T> group(uint32_t lists, const std::vector<std::pair<uint32_t, T>>& pairs) {
  Lists<T> r;
  r.start.assign(lists + 1, 0);
  for (const auto& p : pairs) ++r.start[p.first + 1];
  for (uint32_t k = 0; k < lists; ++k) r.start[k + 1] += r.start[k];
  r.items.resize(pairs.size());
  std::vector<uint32_t> next(r.start.begin(), r.start.end() - 1);
  for (const auto& p : pairs) r.items[next[p.first]++] = p.second;
  return r;
}

}  // namespace

Cfg::Cfg(const Function& f) {
  uint32_t count = uint32_t(f.blocks.size());
  position.assign(count, Unreached);
  struct Step { BlockId block; uint32_t nextTarget; };
  std::vector<Step> stack{{BlockId(0), 0}};
  std::vector<char> seen(count, 0);
  seen[0] = 1;
  while (!stack.empty()) {
    Step& top = stack.back();
    const Block& b = f.blocks[top.block.index];
    std::span<const Target> targets;
    if (!b.insts.empty()) targets = targetsOf(f, f.insts[b.insts.back().index]);
    if (top.nextTarget < targets.size()) {
      BlockId t = targets[top.nextTarget++].block;
      if (!seen[t.index]) {
        seen[t.index] = 1;
        stack.push_back({t, 0});
      }
    } else {
      order.push_back(top.block);
      stack.pop_back();
    }
  }
  std::reverse(order.begin(), order.end());
  for (uint32_t k = 0; k < order.size(); ++k) position[order[k].index] = k;
  std::vector<std::pair<uint32_t, BlockId>> edges;
  for (BlockId b : order)
    if (!f.blocks[b.index].insts.empty())
      for (const Target& t : targetsOf(f, terminatorOf(f, b))) edges.push_back({t.block.index, b});
  predecessors = group(count, edges);
}

Dominators::Dominators(const Function& f, const Cfg& cfg) {
  uint32_t count = uint32_t(f.blocks.size());
  // Dominators by position in reverse postorder, where a dominator always has the smaller number.
  std::vector<uint32_t> up(cfg.order.size(), Cfg::Unreached);
  if (!up.empty()) up[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t k = 1; k < cfg.order.size(); ++k) {
      uint32_t best = Cfg::Unreached;
      for (BlockId p : cfg.predecessors[cfg.order[k].index]) {
        uint32_t a = cfg.position[p.index];
        if (up[a] == Cfg::Unreached) continue;
        uint32_t c = best;
        if (best == Cfg::Unreached) c = a;
        else
          while (a != c) {
            while (a > c) a = up[a];
            while (c > a) c = up[c];
          }
        best = c;
      }
      if (best != up[k]) up[k] = best, changed = true;
    }
  }
  parent.assign(count, BlockId());
  std::vector<std::pair<uint32_t, BlockId>> pairs;
  for (uint32_t k = 1; k < cfg.order.size(); ++k) {
    parent[cfg.order[k].index] = cfg.order[up[k]];
    pairs.push_back({cfg.order[up[k]].index, cfg.order[k]});
  }
  children = group(count, pairs);

  in.assign(count, 0xffffffffu);
  out.assign(count, 0);
  uint32_t clock = 0;
  struct Step { BlockId block; uint32_t nextChild; };
  std::vector<Step> stack{{BlockId(0), 0}};
  in[0] = clock++;
  preorder.push_back(BlockId(0));
  while (!stack.empty()) {
    Step& top = stack.back();
    auto below = children[top.block.index];
    if (top.nextChild < below.size()) {
      BlockId c = below[top.nextChild++];
      in[c.index] = clock++;
      preorder.push_back(c);
      stack.push_back({c, 0});
    } else {
      out[top.block.index] = clock++;
      stack.pop_back();
    }
  }
}

Loops::Loops(const Function& f, const Cfg& cfg, const Dominators& dom) {
  innermost.assign(f.blocks.size(), Loop::None);
  std::vector<uint32_t> mark(f.blocks.size(), Loop::None);
  // Headers in reverse postorder: outer loops come before inner ones, so the last to claim a block is the innermost.
  for (BlockId header : cfg.order) {
    std::vector<BlockId> body;
    uint32_t id = uint32_t(loops.size());
    for (BlockId p : cfg.predecessors[header.index])
      if (dom.dominates(header, p)) {
        if (mark[header.index] != id) {
          mark[header.index] = id;
          body.push_back(header);
        }
        if (mark[p.index] != id) {
          mark[p.index] = id;
          body.push_back(p);
        }
      }
    if (body.empty()) continue;
    for (size_t k = 1; k < body.size(); ++k)
      for (BlockId p : cfg.predecessors[body[k].index])
        if (mark[p.index] != id) {
          mark[p.index] = id;
          body.push_back(p);
        }
    std::sort(body.begin(), body.end(), [&](BlockId a, BlockId b) { return cfg.position[a.index] < cfg.position[b.index]; });
    Loop loop;
    loop.header = header;
    loop.parent = innermost[header.index];
    loop.depth = loop.parent == Loop::None ? 1 : loops[loop.parent].depth + 1;
    for (BlockId b : body) innermost[b.index] = id;
    loop.blocks = std::move(body);
    loops.push_back(std::move(loop));
  }
}

bool Loops::contains(uint32_t loop, BlockId b) const {
  uint32_t l = innermost[b.index];
  while (l != Loop::None && l > loop) l = loops[l].parent;
  return l == loop;
}

std::vector<BlockId> blocksOfInsts(const Function& f) {
  std::vector<BlockId> r(f.insts.size());
  for (uint32_t b = 0; b < f.blocks.size(); ++b)
    for (InstId i : f.blocks[b].insts) r[i.index] = BlockId(b);
  return r;
}

Lists<InstId> usersOf(const Function& f) {
  std::vector<std::pair<uint32_t, InstId>> pairs;
  for (const Block& b : f.blocks)
    for (InstId i : b.insts) {
      const Inst& inst = f.insts[i.index];
      for (ValueId v : argsOf(f, inst)) pairs.push_back({v.index, i});
      for (const Target& t : targetsOf(f, inst))
        for (ValueId v : argsOf(f, t)) pairs.push_back({v.index, i});
    }
  return group(uint32_t(f.values.size()), pairs);
}

std::vector<uint32_t> useCounts(const Function& f) {
  std::vector<uint32_t> counts(f.values.size(), 0);
  for (const Block& b : f.blocks)
    for (InstId i : b.insts) {
      const Inst& inst = f.insts[i.index];
      for (ValueId v : argsOf(f, inst)) ++counts[v.index];
      for (const Target& t : targetsOf(f, inst))
        for (ValueId v : argsOf(f, t)) ++counts[v.index];
    }
  return counts;
}

// From each use of a value walk backwards to its definition, marking the blocks on the way; the work is the size of the answer.
Liveness::Liveness(const Function& f, const Cfg& cfg) {
  uint32_t blocks = uint32_t(f.blocks.size());
  std::vector<std::pair<uint32_t, ValueId>> ins, outs;
  std::vector<BlockId> home(f.values.size());
  std::vector<std::pair<uint32_t, BlockId>> uses;   // value, block in which it is used
  for (BlockId b : cfg.order) {
    for (ValueId p : f.blocks[b.index].params) home[p.index] = b;
    for (InstId i : f.blocks[b.index].insts)
      if (ValueId r = f.insts[i.index].result) home[r.index] = b;
  }
  for (BlockId b : cfg.order)
    for (InstId i : f.blocks[b.index].insts) {
      const Inst& inst = f.insts[i.index];
      for (ValueId v : argsOf(f, inst))
        if (home[v.index] != b) uses.push_back({v.index, b});
      for (const Target& t : targetsOf(f, inst))
        for (ValueId v : argsOf(f, t))
          if (home[v.index] != b) uses.push_back({v.index, b});
    }
  Lists<BlockId> byValue = group(uint32_t(f.values.size()), uses);
  std::vector<uint32_t> inMark(blocks, 0xffffffffu), outMark(blocks, 0xffffffffu);
  std::vector<BlockId> work;
  for (uint32_t v = 0; v < f.values.size(); ++v) {
    for (BlockId b : byValue[v]) work.push_back(b);
    while (!work.empty()) {
      BlockId b = work.back();
      work.pop_back();
      if (inMark[b.index] == v) continue;
      inMark[b.index] = v;
      ins.push_back({b.index, ValueId(v)});
      for (BlockId p : cfg.predecessors[b.index]) {
        if (outMark[p.index] == v) continue;
        outMark[p.index] = v;
        outs.push_back({p.index, ValueId(v)});
        if (home[v] != p) work.push_back(p);
      }
    }
  }
  liveIn = group(blocks, ins);
  liveOut = group(blocks, outs);
}

}  // namespace mica::ir
