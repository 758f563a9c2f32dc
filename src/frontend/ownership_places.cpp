// Paths step by step: they part at different fields, at indices, ranges and keys that are proven different.
#include "frontend/ownership_places.h"

#include <algorithm>

namespace mica::ownership {

Linear linearConstant(int64_t n) { return {true, n, {}}; }
Linear linearTerm(uint64_t variable) { return {true, 0, {{variable, 1}}}; }

Linear linearSum(const Linear& a, const Linear& b, int64_t factor) {
  Linear out;
  int64_t scaled;
  if (!a.known || !b.known || __builtin_mul_overflow(b.constant, factor, &scaled) || __builtin_add_overflow(a.constant, scaled, &out.constant)) return {};
  out.known = true;
  out.terms = a.terms;
  for (auto [variable, count] : b.terms) {
    auto at = std::find_if(out.terms.begin(), out.terms.end(), [v = variable](const auto& t) { return t.first == v; });
    int64_t more, sum;
    if (__builtin_mul_overflow(count, factor, &more)) return {};
    if (at == out.terms.end()) { out.terms.push_back({variable, more}); continue; }
    if (__builtin_add_overflow(at->second, more, &sum)) return {};
    at->second = sum;
  }
  out.terms.erase(std::remove_if(out.terms.begin(), out.terms.end(), [](const auto& t) { return t.second == 0; }), out.terms.end());
  std::sort(out.terms.begin(), out.terms.end());
  return out;
}

Linear linearProduct(const Linear& a, const Linear& b) {
  if (!a.known || !b.known) return {};
  if (a.terms.empty()) return linearSum(linearConstant(0), b, a.constant);
  if (b.terms.empty()) return linearSum(linearConstant(0), a, b.constant);
  return {};
}

namespace {

// Is a <= b for every value of the variables?
bool notAbove(const Linear& a, const Linear& b) {
  Linear difference = linearSum(b, a, -1);
  return difference.known && difference.terms.empty() && difference.constant >= 0;
}

bool apart(const Axis& a, const Axis& b) {
  if (a.whole || b.whole) return false;
  return notAbove(a.high, b.low) || notAbove(b.high, a.low);
}

// Do these two steps lead to the same part? Maybe: apart or the same, nobody knows.
Meet meetSteps(const Step& a, const Step& b) {
  if (a.form == Step::Form::Field || b.form == Step::Form::Field) return a.form == b.form && a.index != b.index ? Meet::Apart : Meet::Same;
  if (a.form == Step::Form::Key && b.form == Step::Form::Key) {
    if (!a.keyKnown || !b.keyKnown) return Meet::Maybe;
    return a.key == b.key ? Meet::Same : Meet::Apart;
  }
  bool indexed = (a.form == Step::Form::Element || a.form == Step::Form::Slice) && (b.form == Step::Form::Element || b.form == Step::Form::Slice);
  if (!indexed) return Meet::Same;
  bool equal = a.axes.size() == b.axes.size() && a.form == b.form;
  for (size_t k = 0; k < a.axes.size() && k < b.axes.size(); k++) {
    if (apart(a.axes[k], b.axes[k])) return Meet::Apart;
    bool same = a.axes[k] == b.axes[k] && (a.axes[k].whole || (a.axes[k].low.known && a.axes[k].high.known));
    // Two ranges that are known to touch meet for certain only where a bound says so; one index against another is open.
    equal = equal && same;
  }
  return equal ? Meet::Same : Meet::Maybe;
}

bool isIndex(const Step& s) {
  if (s.form == Step::Form::Key) return true;
  return s.form == Step::Form::Element;
}

}  // namespace

Meet meet(const Path& a, const Path& b) {
  if (!a || !b || a.root != b.root) return Meet::Apart;
  Meet found = Meet::Same;
  for (size_t k = 0; k < a.steps.size() && k < b.steps.size(); k++) {
    Meet m = meetSteps(a.steps[k], b.steps[k]);
    if (m == Meet::Apart) return Meet::Apart;
    if (m == Meet::Same) continue;
    found = Meet::Maybe;
    // Behind two elements that may be one, different fields are apart in either case. Behind ranges that overlap partly, indices count anew.
    if (!isIndex(a.steps[k]) || !isIndex(b.steps[k])) return found;
  }
  return found;
}

}  // namespace mica::ownership
