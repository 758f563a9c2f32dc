// The orders, by their definitions. Nothing here is clever: a function reads as the line of docs/vocabulary-orders.md
// that it states.
#include "orders.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace orders {

// ---- Sums ----

namespace {

// A leaf of at most Leaf elements: lane j adds elements j, j + 32, … in order, then the lanes join.
template <class T> T leafSum(size_t from, size_t to, const std::function<T(size_t)>& element) {
  T lane[Lanes];
  for (size_t j = 0; j < Lanes; j++) lane[j] = T(-0.0);
  for (size_t i = from; i < to; i++) lane[(i - from) % Lanes] += element(i);
  for (size_t distance = Lanes / 2; distance > 0; distance /= 2)
    for (size_t j = 0; j < distance; j++) lane[j] += lane[j + distance];
  return lane[0];
}

size_t largestPowerBelow(size_t n) {
  size_t p = 1;
  while (p * 2 < n) p *= 2;
  return p;
}

// leaf(from, to) answers the value of elements from ..< to when they fit a leaf.
template <class T> T tree(size_t from, size_t to, const std::function<T(size_t, size_t)>& leaf) {
  size_t n = to - from;
  if (n <= Leaf) return leaf(from, to);
  size_t middle = from + largestPowerBelow(n);
  T left = tree<T>(from, middle, leaf), right = tree<T>(middle, to, leaf);
  return left + right;
}

}  // namespace

template <class T> T sum(size_t n, const std::function<T(size_t)>& element) {
  if (n == 0) return T(0);
  return tree<T>(0, n, [&](size_t from, size_t to) { return leafSum<T>(from, to, element); });
}

template <class T> T sumPresent(size_t n, const std::function<bool(size_t)>& present, const std::function<T(size_t)>& element) {
  bool any = false;
  for (size_t i = 0; i < n; i++) any = any || present(i);
  if (!any) return T(0);
  return sum<T>(n, [&](size_t i) { return present(i) ? element(i) : T(-0.0); });
}

int64_t sumIntegers(const std::vector<int32_t>& x) {
  int64_t s = 0;
  for (int32_t v : x) s += v;
  return s;
}

template <class T> T joinLeaves(const std::vector<T>& leaves) {
  // One value a leaf: scaled back to elements, the tree meets every leaf alone.
  return tree<T>(0, leaves.size() * Leaf, [&](size_t from, size_t) { return leaves[from / Leaf]; });
}

template float sum<float>(size_t, const std::function<float(size_t)>&);
template double sum<double>(size_t, const std::function<double(size_t)>&);
template float sumPresent<float>(size_t, const std::function<bool(size_t)>&, const std::function<float(size_t)>&);
template double sumPresent<double>(size_t, const std::function<bool(size_t)>&, const std::function<double(size_t)>&);
template float joinLeaves<float>(const std::vector<float>&);
template double joinLeaves<double>(const std::vector<double>&);

// ---- Products ----

template <class T>
T productPresent(size_t n, const std::function<bool(size_t)>& present, const std::function<T(size_t)>& a, const std::function<T(size_t)>& b) {
  bool any = false;
  for (size_t i = 0; i < n && !any; i++) any = present(i);
  if (!any) return T(0);
  return tree<T>(0, n, [&](size_t from, size_t to) {
    T chain = T(-0.0);
    for (size_t k = from; k < to; k++)
      if (present(k)) chain = std::fma(a(k), b(k), chain);
    return chain;
  });
}

template <class T> T product(size_t n, const std::function<T(size_t)>& a, const std::function<T(size_t)>& b) {
  return productPresent<T>(n, [](size_t) { return true; }, a, b);
}

template float productPresent<float>(size_t, const std::function<bool(size_t)>&, const std::function<float(size_t)>&, const std::function<float(size_t)>&);
template double productPresent<double>(size_t, const std::function<bool(size_t)>&, const std::function<double(size_t)>&, const std::function<double(size_t)>&);
template float product<float>(size_t, const std::function<float(size_t)>&, const std::function<float(size_t)>&);
template double product<double>(size_t, const std::function<double(size_t)>&, const std::function<double(size_t)>&);

float dot(const Row& a, const Row& b) {
  return product<float>(a.size(), [&](size_t k) { return a[k]; }, [&](size_t k) { return b[k]; });
}

Row matmul(size_t m, size_t k, size_t n, const Row& a, const Row& b, bool at, bool bt) {
  Row out(m * n);
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++)
      out[i * n + j] = product<float>(k, [&](size_t l) { return at ? a[l * m + i] : a[i * k + l]; },
                                      [&](size_t l) { return bt ? b[j * k + l] : b[l * n + j]; });
  return out;
}

// ---- Elementary functions ----

float exp32(float x) { return static_cast<float>(expl(x)); }
float log32(float x) { return static_cast<float>(logl(x)); }
float tanh32(float x) { return static_cast<float>(tanhl(x)); }
float erf32(float x) { return static_cast<float>(erfl(x)); }
float rsqrt32(float x) { return static_cast<float>(1.0L / sqrtl(x)); }
float sigmoid32(float x) { return static_cast<float>(1.0L / (1.0L + expl(-static_cast<long double>(x)))); }

// ---- Rows ----

float sumRow(const Row& x) {
  return sum<float>(x.size(), [&](size_t i) { return x[i]; });
}

float normRow(const Row& x) {
  return std::sqrt(sum<float>(x.size(), [&](size_t i) { return x[i] * x[i]; }));
}

float meanRow(const Row& x) { return sumRow(x) / static_cast<float>(x.size()); }

float maxRow(const Row& x) {
  float m = x[0];
  for (float v : x) {
    if (std::isnan(v) || std::isnan(m)) return std::numeric_limits<float>::quiet_NaN();
    if (v > m || (v == m && std::signbit(m))) m = v;
  }
  return m;
}

float minRow(const Row& x) {
  Row negative = x;
  for (float& v : negative) v = -v;
  return -maxRow(negative);
}

namespace {

// Exp(x - m) of each element.
Row shiftedExp(const Row& x, float m) {
  Row e(x.size());
  for (size_t i = 0; i < x.size(); i++) e[i] = exp32(x[i] - m);
  return e;
}

// Sum(a .* b): rounded products on the sum's tree, not a product's chain.
float sumOfProducts(const Row& a, const Row& b) {
  return sum<float>(a.size(), [&](size_t i) { return a[i] * b[i]; });
}

}  // namespace

Row softmax(const Row& x) {
  Row y = shiftedExp(x, maxRow(x));
  float total = sumRow(y);
  for (float& v : y) v = v / total;
  return y;
}

Row softmaxBackward(const Row& y, const Row& g) {
  float t = sumOfProducts(g, y);
  Row dx(y.size());
  for (size_t i = 0; i < y.size(); i++) dx[i] = y[i] * (g[i] - t);
  return dx;
}

Row logSoftmax(const Row& x) {
  float m = maxRow(x), l = log32(sumRow(shiftedExp(x, m)));
  Row y(x.size());
  for (size_t i = 0; i < x.size(); i++) y[i] = (x[i] - m) - l;
  return y;
}

Row logSoftmaxBackward(const Row& y, const Row& g) {
  float t = sumRow(g);
  Row dx(y.size());
  for (size_t i = 0; i < y.size(); i++) dx[i] = g[i] - exp32(y[i]) * t;
  return dx;
}

Norm layerNormal(const Row& x, float eps) {
  Norm n;
  n.centred = x;
  for (float& v : n.centred) v = v - x[0];
  float mean = meanRow(n.centred);
  for (float& v : n.centred) v = v - mean;
  float variance = sumOfProducts(n.centred, n.centred) / static_cast<float>(x.size());
  n.scale = 1.0f / std::sqrt(variance + eps);
  n.normal = n.centred;
  for (float& v : n.normal) v = v * n.scale;
  return n;
}

Norm rmsNormal(const Row& x, float eps) {
  Norm n;
  n.centred = x;
  n.scale = 1.0f / std::sqrt(sumOfProducts(x, x) / static_cast<float>(x.size()) + eps);
  n.normal = x;
  for (float& v : n.normal) v = v * n.scale;
  return n;
}

Row layerNorm(const Row& x, const Row& gain, const Row& bias, float eps) {
  Row y = layerNormal(x, eps).normal;
  for (size_t i = 0; i < y.size(); i++) y[i] = y[i] * gain[i] + bias[i];
  return y;
}

Row rmsNorm(const Row& x, const Row& gain, float eps) {
  Row y = rmsNormal(x, eps).normal;
  for (size_t i = 0; i < y.size(); i++) y[i] = y[i] * gain[i];
  return y;
}

Row layerNormBackward(const Norm& n, const Row& gain, const Row& g) {
  Row h(g.size()), dx(g.size());
  for (size_t i = 0; i < g.size(); i++) h[i] = g[i] * gain[i];
  float count = static_cast<float>(g.size());
  float a = sumRow(h) / count, b = sumOfProducts(h, n.normal) / count;
  for (size_t i = 0; i < g.size(); i++) dx[i] = ((h[i] - a) - n.normal[i] * b) * n.scale;
  return dx;
}

Row rmsNormBackward(const Norm& n, const Row& gain, const Row& g) {
  Row h(g.size()), dx(g.size());
  for (size_t i = 0; i < g.size(); i++) h[i] = g[i] * gain[i];
  float b = sumOfProducts(h, n.normal) / static_cast<float>(g.size());
  for (size_t i = 0; i < g.size(); i++) dx[i] = (h[i] - n.normal[i] * b) * n.scale;
  return dx;
}

namespace {

Row rowOf(const Row& x, size_t row, size_t width) {
  return Row(x.begin() + static_cast<ptrdiff_t>(row * width), x.begin() + static_cast<ptrdiff_t>((row + 1) * width));
}

size_t counted(const std::vector<int32_t>& targets, int64_t ignore) {
  size_t n = 0;
  for (int32_t t : targets) n += ignore < 0 || t != ignore;
  return n;
}

}  // namespace

float crossEntropy(size_t rows, size_t classes, const Row& scores, const std::vector<int32_t>& targets, int64_t ignore, int64_t count) {
  if (counted(targets, ignore) == 0) return 0;
  if (count == 0) count = static_cast<int64_t>(counted(targets, ignore));
  auto counts = [&](size_t i) { return ignore < 0 || targets[i] != ignore; };
  auto loss = [&](size_t i) {
    Row x = rowOf(scores, i, classes);
    float m = maxRow(x);
    return log32(sumRow(shiftedExp(x, m))) - (x[static_cast<size_t>(targets[i])] - m);
  };
  return sumPresent<float>(rows, counts, loss) / static_cast<float>(count);
}

Row crossEntropyBackward(size_t rows, size_t classes, const Row& scores, const std::vector<int32_t>& targets, float g,
                         int64_t ignore, int64_t count) {
  Row dx(rows * classes, 0.0f);
  if (count == 0) count = static_cast<int64_t>(counted(targets, ignore));
  float scale = g / static_cast<float>(count);
  for (size_t i = 0; i < rows; i++) {
    if (ignore >= 0 && targets[i] == ignore) continue;
    Row y = softmax(rowOf(scores, i, classes));
    y[static_cast<size_t>(targets[i])] -= 1.0f;
    for (size_t j = 0; j < classes; j++) dx[i * classes + j] = y[j] * scale;
  }
  return dx;
}

// ---- Attention ----

Admits causal(size_t queries, size_t keys) {
  return [=](size_t i, size_t j) { return j <= i + keys - queries; };
}

namespace {

// The probabilities of row i over its admitted keys; those of the others are not there (0 stands for them). All 0 where it admits none.
Row probabilities(size_t i, size_t keys, size_t width, const Row& q, const Row& k, const Admits& admits) {
  float scale = 1.0f / std::sqrt(static_cast<float>(width));
  Row s(keys), present;
  for (size_t j = 0; j < keys; j++) {
    s[j] = product<float>(width, [&](size_t d) { return q[i * width + d]; }, [&](size_t d) { return k[j * width + d]; }) * scale;
    if (admits(i, j)) present.push_back(s[j]);
  }
  if (present.empty()) return Row(keys, 0.0f);
  Row e = shiftedExp(s, maxRow(present));
  float total = sumPresent<float>(keys, [&](size_t j) { return admits(i, j); }, [&](size_t j) { return e[j]; });
  for (size_t j = 0; j < keys; j++) e[j] = admits(i, j) ? e[j] / total : 0.0f;
  return e;
}

}  // namespace

Row attention(size_t queries, size_t keys, size_t width, const Row& q, const Row& k, const Row& v, const Admits& admits) {
  Row out(queries * width);
  for (size_t i = 0; i < queries; i++) {
    Row p = probabilities(i, keys, width, q, k, admits);
    for (size_t d = 0; d < width; d++)
      out[i * width + d] = productPresent<float>(keys, [&](size_t j) { return admits(i, j); }, [&](size_t j) { return p[j]; },
                                                 [&](size_t j) { return v[j * width + d]; });
  }
  return out;
}

AttentionGradients attentionBackward(size_t queries, size_t keys, size_t width, const Row& q, const Row& k, const Row& v,
                                     const Row& g, const Admits& admits) {
  float scale = 1.0f / std::sqrt(static_cast<float>(width));
  std::vector<Row> p(queries), ds(queries, Row(keys, 0.0f));
  AttentionGradients out{Row(q.size()), Row(k.size()), Row(v.size())};
  for (size_t i = 0; i < queries; i++) {
    auto present = [&](size_t j) { return admits(i, j); };
    p[i] = probabilities(i, keys, width, q, k, admits);
    Row dp(keys);
    for (size_t j = 0; j < keys; j++)
      dp[j] = product<float>(width, [&](size_t d) { return g[i * width + d]; }, [&](size_t d) { return v[j * width + d]; });
    float total = sumPresent<float>(keys, present, [&](size_t j) { return dp[j] * p[i][j]; });
    for (size_t j = 0; j < keys; j++)
      if (admits(i, j)) ds[i][j] = (p[i][j] * (dp[j] - total)) * scale;
    for (size_t d = 0; d < width; d++)
      out.q[i * width + d] = productPresent<float>(keys, present, [&](size_t j) { return ds[i][j]; }, [&](size_t j) { return k[j * width + d]; });
  }
  for (size_t j = 0; j < keys; j++) {
    // The chains run over the queries that admit this key; the others are not there.
    auto chain = [&](const std::vector<Row>& weight, const Row& x, size_t d) {
      return productPresent<float>(queries, [&](size_t i) { return admits(i, j); }, [&](size_t i) { return weight[i][j]; },
                                   [&](size_t i) { return x[i * width + d]; });
    };
    for (size_t d = 0; d < width; d++) {
      out.k[j * width + d] = chain(ds, q, d);
      out.v[j * width + d] = chain(p, g, d);
    }
  }
  return out;
}

Row attention(size_t queries, size_t keys, size_t width, const Row& q, const Row& k, const Row& v) {
  return attention(queries, keys, width, q, k, v, causal(queries, keys));
}

AttentionGradients attentionBackward(size_t queries, size_t keys, size_t width, const Row& q, const Row& k, const Row& v, const Row& g) {
  return attentionBackward(queries, keys, width, q, k, v, g, causal(queries, keys));
}

// ---- Gather ----

Row gather(size_t width, const Row& table, const std::vector<int32_t>& ids) {
  Row out;
  for (int32_t id : ids)
    for (size_t d = 0; d < width; d++) out.push_back(table[static_cast<size_t>(id) * width + d]);
  return out;
}

Row gatherBackward(size_t rows, size_t width, const std::vector<int32_t>& ids, const Row& g) {
  Row out(rows * width);
  for (size_t r = 0; r < rows; r++)
    for (size_t d = 0; d < width; d++)
      out[r * width + d] = sumPresent<float>(ids.size(), [&](size_t i) { return static_cast<size_t>(ids[i]) == r; },
                                             [&](size_t i) { return g[i * width + d]; });
  return out;
}

// ---- Elementwise ----

namespace {

constexpr float Cubic = 0.044715f, ThreeCubic = 0.134145f;
constexpr float RootTwoOverPi = 0.7978845608028654f;   // sqrt(2 / pi)
constexpr float RootHalf = 0.7071067811865476f;        // sqrt(1 / 2)
constexpr float Density = 0.3989422804014327f;         // 1 / sqrt(2 pi)

bool isMinusInfinity(float x) { return std::isinf(x) && x < 0; }

}  // namespace

float relu(float x) { return std::isnan(x) ? x : x > 0 ? x : 0.0f; }
float reluSlope(float x, float g) { return x > 0 || std::isnan(x) ? g : 0.0f; }

float geluTanh(float x) {
  if (isMinusInfinity(x)) return -0.0f;
  float t = tanh32(RootTwoOverPi * (x + Cubic * ((x * x) * x)));
  return (0.5f * x) * (1.0f + t);
}

float geluTanhSlope(float x, float g) {
  float square = x * x;
  float t = tanh32(RootTwoOverPi * (x + Cubic * (square * x)));
  float near = 1.0f - t * t;
  float slope = 0.5f * (1.0f + t);
  if (near != 0) slope += ((0.5f * x) * near) * (RootTwoOverPi * (1.0f + ThreeCubic * square));
  return g * slope;
}

float gelu(float x) {
  if (isMinusInfinity(x)) return -0.0f;
  return x * (0.5f * (1.0f + erf32(x * RootHalf)));
}

float geluSlope(float x, float g) {
  float density = Density * exp32((-0.5f * x) * x);
  float slope = 0.5f * (1.0f + erf32(x * RootHalf));
  if (density != 0) slope += x * density;
  return g * slope;
}

float silu(float x) { return isMinusInfinity(x) ? -0.0f : x * sigmoid32(x); }

float siluSlope(float x, float g) {
  float s = sigmoid32(x), rest = 1.0f - s;
  if (s == 0) return g * 0.0f;
  return rest == 0 ? g * s : g * (s * (1.0f + x * rest));
}

// ---- Steps ----

namespace {

// By squaring, in float64: the same multiplications everywhere.
double power(double base, int64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result *= base;
    base *= base;
  }
  return result;
}

}  // namespace

void sgd(float& p, float gradient, double rate) { p = p - static_cast<float>(rate) * gradient; }

void momentum(float& p, float& speed, float gradient, double rate, double momentum) {
  speed = static_cast<float>(momentum) * speed + gradient;
  sgd(p, speed, rate);
}

void adamW(float& p, float& mean, float& square, float gradient, const AdamWSettings& s) {
  float b1 = static_cast<float>(s.beta1), c1 = static_cast<float>(1.0 - s.beta1);
  float b2 = static_cast<float>(s.beta2), c2 = static_cast<float>(1.0 - s.beta2);
  float correct1 = static_cast<float>(1.0 - power(s.beta1, s.step)), correct2 = static_cast<float>(1.0 - power(s.beta2, s.step));
  float rate = static_cast<float>(s.rate), keep = static_cast<float>(1.0 - s.rate * s.decay), eps = static_cast<float>(s.eps);
  mean = b1 * mean + c1 * gradient;
  square = b2 * square + c2 * (gradient * gradient);
  p = keep * p - rate * ((mean / correct1) / (std::sqrt(square / correct2) + eps));
}

float clipNorm(const std::vector<Row>& tensors) {
  return std::sqrt(sum<float>(tensors.size(), [&](size_t t) { return sumOfProducts(tensors[t], tensors[t]); }));
}

float clipFactor(float norm, float limit) {
  return std::isfinite(norm) && norm > limit ? limit / norm : 1.0f;
}

}  // namespace orders
