// The strongly connected components of a graph (Tarjan's algorithm, with a stack of its own): what lies on a ring together.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace mica {

// For each node the number of its component. `next[n]`: where the edges of node n lead.
inline std::vector<uint32_t> components(const std::vector<std::vector<uint32_t>>& next) {
  struct Node { uint32_t number = 0, lowest = 0; bool open = false; };   // number: from 1 in the order of visits; open: its component may still grow
  struct Frame { uint32_t node; size_t edge; };
  std::vector<Node> nodes(next.size());
  std::vector<uint32_t> component(next.size(), 0), open;
  std::vector<Frame> frames;
  uint32_t visits = 0, found = 0;
  auto enter = [&](uint32_t n) {
    visits++;
    nodes[n] = {visits, visits, true};
    open.push_back(n);
    frames.push_back({n, 0});
  };
  auto leave = [&](uint32_t n) {
    frames.pop_back();
    if (!frames.empty()) {
      Node& outer = nodes[frames.back().node];
      outer.lowest = std::min(outer.lowest, nodes[n].lowest);
    }
    if (nodes[n].lowest != nodes[n].number) return;
    for (uint32_t member = ~n; member != n;) {
      member = open.back();
      open.pop_back();
      nodes[member].open = false;
      component[member] = found;
    }
    found++;
  };
  for (uint32_t root = 0; root < next.size(); root++) {
    if (nodes[root].number) continue;
    enter(root);
    while (!frames.empty()) {
      Frame& f = frames.back();
      if (f.edge == next[f.node].size()) {
        leave(f.node);
        continue;
      }
      uint32_t to = next[f.node][f.edge++];
      if (!nodes[to].number) enter(to);
      else if (nodes[to].open) nodes[f.node].lowest = std::min(nodes[f.node].lowest, nodes[to].number);
    }
  }
  return component;
}

}  // namespace mica
