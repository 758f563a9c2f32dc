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

// Does one of two axes lie in the other, whatever the variables are?
bool within(const Axis& a, const Axis& b) { return b.whole || (!a.whole && notAbove(b.low, a.low) && notAbove(a.high, b.high)); }

// What two steps say about the parts behind them.
enum class Steps : uint8_t {
  Apart,
  Equal,      // the same part
  Either,     // the same part or parts that are apart, nobody knows
  Overlap,    // one lies in the other
  Unclear,    // ranges that may overlap
};

Steps meetSteps(const Step& a, const Step& b) {
  if (a.form == Step::Form::Field || b.form == Step::Form::Field) return a.form == b.form && a.index != b.index ? Steps::Apart : Steps::Equal;
  if (a.form == Step::Form::Key && b.form == Step::Form::Key) {
    if (!a.keyKnown || !b.keyKnown) return Steps::Either;
    return a.key == b.key ? Steps::Equal : Steps::Apart;
  }
  bool indexed = (a.form == Step::Form::Element || a.form == Step::Form::Slice) && (b.form == Step::Form::Element || b.form == Step::Form::Slice);
  if (!indexed) return Steps::Equal;
  bool equal = a.axes.size() == b.axes.size() && a.form == b.form, inside = true;
  for (size_t k = 0; k < a.axes.size() && k < b.axes.size(); k++) {
    if (apart(a.axes[k], b.axes[k])) return Steps::Apart;
    equal = equal && within(a.axes[k], b.axes[k]) && within(b.axes[k], a.axes[k]);
    inside = inside && (within(a.axes[k], b.axes[k]) || within(b.axes[k], a.axes[k]));
  }
  if (equal) return Steps::Equal;
  if (inside) return Steps::Overlap;
  return a.form == Step::Form::Element && b.form == Step::Form::Element ? Steps::Either : Steps::Unclear;
}

}  // namespace

Meet meet(const Path& a, const Path& b) {
  if (!a || !b || a.root != b.root) return Meet::Apart;
  Meet found = Meet::Same;
  for (size_t k = 0; k < a.steps.size() && k < b.steps.size(); k++) {
    switch (meetSteps(a.steps[k], b.steps[k])) {
      case Steps::Apart: return Meet::Apart;
      case Steps::Equal: break;
      // Behind two elements that may be one, different fields are apart in either case. Behind ranges that overlap partly, indices count anew.
      case Steps::Either: found = Meet::Maybe; break;
      case Steps::Overlap: return found;
      case Steps::Unclear: return Meet::Maybe;
    }
  }
  return found;
}

}  // namespace mica::ownership
