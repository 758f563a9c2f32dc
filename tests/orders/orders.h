// The orders of Mica's arithmetic, stated once more in plain C++ and independently of the compiler.
//
// Every kernel of the runtime is held against these functions bit by bit; they are written to be read, not to be fast.
// docs/vocabulary-orders.md says the same in formulas. A function here uses single IEEE operations in the order in which
// they stand; the file is compiled with -ffp-contract=off.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace orders {

constexpr size_t Leaf = 256;   // elements of a leaf of the sum's tree, and of one fma chain of a product
constexpr size_t Lanes = 32;   // running sums inside a leaf

// ---- Sums ----

// The tree over n elements; element(i) answers the i-th. Nothing at all sums to +0.
template <class T> T sum(size_t n, const std::function<T(size_t)>& element);
// The same over positions of which some are absent: an absent one is -0, which changes nothing.
template <class T> T sumPresent(size_t n, const std::function<bool(size_t)>& present, const std::function<T(size_t)>& element);
// Whole numbers add up exactly in 64 bits, so their order does not matter.
int64_t sumIntegers(const std::vector<int32_t>& x);

// Joins values that stand for consecutive leaves, by the same tree: a run longer than one splits at the largest power
// of two below its length.
template <class T> T joinLeaves(const std::vector<T>& leaves);

// ---- Products ----

// Sum over k of a(k) * b(k): chains of fma from -0 over leaves of k, joined by the tree. An empty product is +0.
template <class T> T product(size_t n, const std::function<T(size_t)>& a, const std::function<T(size_t)>& b);
// The same over the terms that are present; the others are left out, and leaves are counted from the first term all the same.
template <class T>
T productPresent(size_t n, const std::function<bool(size_t)>& present, const std::function<T(size_t)>& a, const std::function<T(size_t)>& b);

using Row = std::vector<float>;

float dot(const Row& a, const Row& b);
// Row-major [m, k] by [k, n]; `at` and `bt`: the operand is stored transposed.
Row matmul(size_t m, size_t k, size_t n, const Row& a, const Row& b, bool at = false, bool bt = false);

// ---- Elementary functions, correctly rounded to float32 ----

// From a long double (or better) value of the C library, which decides all but a handful of arguments; the tests against
// MPFR decide those.
float exp32(float x);
float log32(float x);
float tanh32(float x);
float erf32(float x);
float rsqrt32(float x);
float sigmoid32(float x);

// ---- Rows ----

float sumRow(const Row& x);
float normRow(const Row& x);
float meanRow(const Row& x);
float maxRow(const Row& x);   // NaN wins; -0 is below +0
float minRow(const Row& x);

// The rows' functions forward, and their gradients with the upstream gradient `g`.
Row softmax(const Row& x);
Row softmaxBackward(const Row& y, const Row& g);
Row logSoftmax(const Row& x);
Row logSoftmaxBackward(const Row& y, const Row& g);

struct Norm {
  Row centred;      // x - mean (LayerNorm) or x (RmsNorm)
  float scale = 0;  // 1 / sqrt(variance + eps)
  Row normal;       // centred * scale
};
Norm layerNormal(const Row& x, float eps);
Norm rmsNormal(const Row& x, float eps);
Row layerNorm(const Row& x, const Row& gain, const Row& bias, float eps);
Row rmsNorm(const Row& x, const Row& gain, float eps);
// The gradient of one row's x; those of gain and bias are sums over rows of normal * g and of g.
Row layerNormBackward(const Norm& n, const Row& gain, const Row& g);
Row rmsNormBackward(const Norm& n, const Row& gain, const Row& g);

// Mean over the counted rows of logsumexp - score of the class. `ignore` marks rows that do not count; `count` divides, if given.
float crossEntropy(size_t rows, size_t classes, const Row& scores, const std::vector<int32_t>& targets, int64_t ignore = -1, int64_t count = 0);
Row crossEntropyBackward(size_t rows, size_t classes, const Row& scores, const std::vector<int32_t>& targets, float g,
                         int64_t ignore = -1, int64_t count = 0);

// ---- Attention of one head ----

struct AttentionGradients {
  Row q, k, v;
};
// Does query i admit key j?
using Admits = std::function<bool(size_t i, size_t j)>;
// The queries are the last rows; row i sees the keys 0 .. i + keys - queries.
Admits causal(size_t queries, size_t keys);
// q [queries, width], k and v [keys, width].
Row attention(size_t queries, size_t keys, size_t width, const Row& q, const Row& k, const Row& v, const Admits& admits);
AttentionGradients attentionBackward(size_t queries, size_t keys, size_t width, const Row& q, const Row& k, const Row& v,
                                     const Row& g, const Admits& admits);
// Causal.
Row attention(size_t queries, size_t keys, size_t width, const Row& q, const Row& k, const Row& v);
AttentionGradients attentionBackward(size_t queries, size_t keys, size_t width, const Row& q, const Row& k, const Row& v,
                                     const Row& g);

// ---- Gather ----

Row gather(size_t width, const Row& table, const std::vector<int32_t>& ids);
// Per row of the table and column: the tree over all positions, those with another id absent.
Row gatherBackward(size_t rows, size_t width, const std::vector<int32_t>& ids, const Row& g);

// ---- Elementwise: value and slope ----

float relu(float x), reluSlope(float x, float g);
float geluTanh(float x), geluTanhSlope(float x, float g);
float gelu(float x), geluSlope(float x, float g);
float silu(float x), siluSlope(float x, float g);

// ---- Steps ----

struct AdamWSettings {
  int64_t step = 1;
  double rate = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, decay = 0.01;
};
void sgd(float& p, float gradient, double rate);
void momentum(float& p, float& speed, float gradient, double rate, double momentum);
void adamW(float& p, float& mean, float& square, float gradient, const AdamWSettings& s);

// The norm of all tensors in field order, and the factor that ClipByNorm multiplies with (1: nothing changes).
float clipNorm(const std::vector<Row>& tensors);
float clipFactor(float norm, float limit);

}  // namespace orders
