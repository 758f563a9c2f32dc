// The layout says what belongs together: what stands deeper belongs to the line above. So the lines form a tree, and a smaller program is a
// choice of its lines. Siblings go in ever smaller groups; a block may also lose its head and end and leave its body behind.
#include "random/shrink.h"

#include <memory>
#include <vector>

namespace mica::random {

namespace {

struct Node {
  std::vector<size_t> frame;                      // the lines of the statement itself: head, `else` and the like, `end`
  std::vector<std::unique_ptr<Node>> children;
};

size_t indentation(const std::string& line) {
  size_t n = line.find_first_not_of(' ');
  return n == std::string::npos ? 0 : n;
}

// Lines that go on with the statement above: `end`, `else`, `elif`, `recover`. An arm of `match` is a child with children.
bool goesOn(const std::string& line) {
  size_t at = indentation(line);
  for (const char* word : {"end", "else", "elif", "recover"}) {
    std::string w = word;
    if (line.compare(at, w.size(), w) == 0) return true;
  }
  return false;
}

class Shrinker {
 public:
  Shrinker(const std::string& text, int tries, const std::function<bool(const std::string&)>& shows) : tries(tries), shows(shows) {
    for (size_t at = 0; at < text.size();) {
      size_t end = text.find('\n', at);
      if (end == std::string::npos) end = text.size();
      if (end > at) lines.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    kept.assign(lines.size(), true);
    size_t at = 0;
    while (at < lines.size()) roots.push_back(read(at, 0));
  }

  std::string run() {
    bool progress = true;
    while (progress && tries > 0) {
      progress = false;
      for (size_t i = roots.size(); i-- > 0;) {   // Main first: what it does not call can go
        if (lines[roots[i]->frame[0]].rfind("func Main", 0) == 0) progress |= siblings(roots[i]->children);
      }
      progress |= siblings(roots);
      for (auto& root : roots) progress |= inside(*root);
    }
    return text();
  }

 private:
  std::vector<std::string> lines;
  std::vector<bool> kept;
  std::vector<std::unique_ptr<Node>> roots;
  int tries;
  const std::function<bool(const std::string&)>& shows;

  std::unique_ptr<Node> read(size_t& at, size_t depth) {
    auto node = std::make_unique<Node>();
    node->frame.push_back(at++);
    while (at < lines.size()) {
      size_t d = indentation(lines[at]);
      if (d > depth) node->children.push_back(read(at, d));
      else if (d == depth && goesOn(lines[at])) node->frame.push_back(at++);
      else break;
    }
    return node;
  }

  std::string text() const {
    std::string t;
    for (size_t i = 0; i < lines.size(); i++) {
      if (kept[i]) t += lines[i] + "\n";
    }
    return t;
  }

  void keep(const Node& n, bool on) {
    for (size_t l : n.frame) kept[l] = on;
    for (const auto& c : n.children) keep(*c, on);
  }

  bool still() { return tries-- > 0 && shows(text()); }

  bool siblings(std::vector<std::unique_ptr<Node>>& nodes) {
    bool progress = false;
    for (size_t size = nodes.size(); size >= 1 && tries > 0; size /= 2) {
      for (size_t end = nodes.size(); end > 0 && tries > 0;) {
        size_t begin = end > size ? end - size : 0;
        std::vector<bool> before = kept;
        for (size_t i = begin; i < end; i++) keep(*nodes[i], false);
        if (kept != before && still()) {
          nodes.erase(nodes.begin() + long(begin), nodes.begin() + long(end));
          progress = true;
        } else {
          kept = before;
        }
        end = begin;
      }
    }
    return progress;
  }

  bool inside(Node& n) {
    if (n.children.empty()) return false;
    bool progress = siblings(n.children);
    for (auto& c : n.children) {
      std::vector<bool> before = kept;
      for (size_t l : c->frame) kept[l] = false;
      if (!c->children.empty() && kept != before && still()) progress = true;
      else kept = before;
      progress |= inside(*c);
    }
    return progress;
  }
};

}  // namespace

std::string shrink(const std::string& text, int mostTries, const std::function<bool(const std::string&)>& shows) {
  return Shrinker(text, mostTries, shows).run();
}

}  // namespace mica::random
