// The stated orders on cases whose answer is known without them.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "orders/orders.h"

using namespace orders;

namespace {

float sumOf(const Row& x) { return sumRow(x); }

Row pattern(size_t n, uint32_t seed) {
  Row x(n);
  for (float& v : x) {
    seed = seed * 1664525u + 1013904223u;
    v = static_cast<float>(static_cast<int32_t>(seed >> 8) - (1 << 23)) / 8388608.0f;
  }
  return x;
}

}  // namespace

TEST_CASE("a sum of 2^25 ones is exact") {
  CHECK(sum<float>(33554432, [](size_t) { return 1.0f; }) == 33554432.0f);
}

TEST_CASE("a sum does not start from +0, and nothing sums to +0") {
  CHECK(std::signbit(sumOf({-0.0f})));
  CHECK(std::signbit(sumOf({-0.0f, -0.0f, -0.0f})));
  CHECK(!std::signbit(sumOf({-0.0f, 0.0f})));
  CHECK(!std::signbit(sumOf({})));
}

TEST_CASE("lanes meet at distances 16, 8, 4, 2, 1") {
  // 2^24 absorbs a single 1. Lane 0 holds it; lane 16 is added first, lane 1 last, with all its lane has gathered.
  Row x(32, 0.0f);
  x[0] = 16777216.0f;
  x[16] = 1.0f;
  x[1] = 1.0f;
  CHECK(sumOf(x) == 16777216.0f);
  x[16] = 0.0f;
  x[3] = 1.0f;   // joins lane 1 at distance 2, so 2 arrives at lane 0
  CHECK(sumOf(x) == 16777218.0f);
}

TEST_CASE("a lane adds its elements in order") {
  Row x(96, 0.0f);
  x[5] = 16777216.0f;
  x[37] = 1.0f;   // absorbed
  x[69] = 1.0f;   // absorbed
  CHECK(sumOf(x) == 16777216.0f);
  x[5] = 1.0f;
  x[69] = 16777216.0f;
  x[37] = 1.0f;   // 1 + 1, then the large one
  CHECK(sumOf(x) == 16777218.0f);
}

TEST_CASE("a run longer than a leaf splits at the largest power of two below it") {
  Row x = pattern(600, 1);
  Row left(x.begin(), x.begin() + 512), right(x.begin() + 512, x.end());
  CHECK(sumOf(x) == sumOf(left) + sumOf(right));
  Row half(left.begin(), left.begin() + 256), rest(left.begin() + 256, left.end());
  CHECK(sumOf(left) == sumOf(half) + sumOf(rest));
  Row one(x.begin(), x.begin() + 257);
  CHECK(sumOf(one) == sumOf(half) + x[256]);
}

TEST_CASE("aligned parts of a power of two join to the whole") {
  Row x = pattern(4096, 2);
  std::vector<float> parts;
  for (size_t i = 0; i < 4; i++) parts.push_back(sumOf(Row(x.begin() + static_cast<ptrdiff_t>(i * 1024), x.begin() + static_cast<ptrdiff_t>((i + 1) * 1024))));
  CHECK(sumOf(x) == joinLeaves(parts));
  CHECK(joinLeaves<float>({1.0f, 2.0f, 4.0f}) == 7.0f);
}

TEST_CASE("a product is an fma chain") {
  float a = 1.0f + 1.0f / 8192, b = 1.0f - 1.0f / 8192;
  CHECK(dot({-1.0f, a}, {1.0f, b}) == -1.4901161e-08f);
  CHECK(dot({}, {}) == 0.0f);
  CHECK(std::signbit(dot({-0.0f}, {1.0f})));
  Row x = pattern(300, 3), y = pattern(300, 4);
  float first = -0.0f, second = -0.0f;
  for (size_t k = 0; k < 256; k++) first = std::fma(x[k], y[k], first);
  for (size_t k = 256; k < 300; k++) second = std::fma(x[k], y[k], second);
  CHECK(dot(x, y) == first + second);
}

TEST_CASE("transposed operands give the bits of the plain product") {
  Row a = pattern(6, 5), b = pattern(12, 6), at(6), bt(12);
  for (size_t i = 0; i < 2; i++) for (size_t k = 0; k < 3; k++) at[k * 2 + i] = a[i * 3 + k];
  for (size_t k = 0; k < 3; k++) for (size_t j = 0; j < 4; j++) bt[j * 3 + k] = b[k * 4 + j];
  Row plain = matmul(2, 3, 4, a, b);
  CHECK(matmul(2, 3, 4, at, b, true, false) == plain);
  CHECK(matmul(2, 3, 4, a, bt, false, true) == plain);
}

TEST_CASE("softmax and the norms on easy rows") {
  CHECK(softmax({1, 1, 1, 1}) == Row{0.25f, 0.25f, 0.25f, 0.25f});
  CHECK(softmax({1000, -1000}) == Row{1.0f, 0.0f});
  CHECK(layerNorm({7, 7, 7}, {2, 2, 2}, {0.5f, 1, -1}, 1e-5f) == Row{0.5f, 1, -1});
  CHECK(layerNorm({100001, 100002, 100003}, {1, 1, 1}, {0, 0, 0}, 1e-5f) == layerNorm({1, 2, 3}, {1, 1, 1}, {0, 0, 0}, 1e-5f));
  CHECK(rmsNorm({0, 0}, {1, 1}, 1e-6f) == Row{0, 0});
  CHECK(std::isnan(maxRow({1, NAN, 3})));
  CHECK(std::signbit(maxRow({-0.0f, -1})));
}

TEST_CASE("cross entropy counts rows and ignores others") {
  CHECK(crossEntropy(2, 2, {0, 0, 0, 0}, {0, 1}) == doctest::Approx(0.6931472f));
  CHECK(crossEntropy(2, 2, {0, 0, 100, 0}, {0, 1}, 1) == doctest::Approx(0.6931472f));
  CHECK(crossEntropy(1, 2, {0, 0}, {1}, 1) == 0.0f);
}

TEST_CASE("attention's gradients agree with differences") {
  const size_t T = 5, W = 4;
  Row q = pattern(T * W, 7), k = pattern(T * W, 8), v = pattern(T * W, 9), g = pattern(T * W, 10);
  AttentionGradients d = attentionBackward(T, T, W, q, k, v, g);
  auto loss = [&] {
    Row y = attention(T, T, W, q, k, v);
    double s = 0;
    for (size_t i = 0; i < y.size(); i++) s += static_cast<double>(y[i]) * g[i];
    return s;
  };
  for (auto [x, dx] : {std::pair<Row*, Row*>{&q, &d.q}, {&k, &d.k}, {&v, &d.v}})
    for (size_t i = 0; i < x->size(); i++) {
      float old = (*x)[i];
      (*x)[i] = old + 0.01f;
      double up = loss();
      (*x)[i] = old - 0.01f;
      double down = loss();
      (*x)[i] = old;
      CHECK((*dx)[i] == doctest::Approx((up - down) / 0.02).epsilon(0.01).scale(0.1));
    }
}

TEST_CASE("the last rows alone see the same keys") {
  const size_t T = 6, W = 4;
  Row q = pattern(T * W, 11), k = pattern(T * W, 12), v = pattern(T * W, 13);
  Row whole = attention(T, T, W, q, k, v), last = attention(1, T, W, Row(q.end() - W, q.end()), k, v);
  CHECK(Row(whole.end() - W, whole.end()) == last);
}

TEST_CASE("gather's gradient adds repeated rows; untouched rows are +0") {
  Row d = gatherBackward(3, 1, {0, 2, 2}, {1, 10, 100});
  CHECK(d == Row{1, 0, 110});
  CHECK(!std::signbit(d[1]));
}

TEST_CASE("the first AdamW step moves by the rate, and clipping keeps the direction") {
  float p = 1, m = 0, v = 0;
  adamW(p, m, v, 2, {1, 0.1, 0.9, 0.999, 1e-8, 0});
  CHECK(p == doctest::Approx(0.9f));
  CHECK(clipNorm({{3}, {4}}) == 5.0f);
  CHECK(clipFactor(5, 1) == 0.2f);
  CHECK(clipFactor(0.5f, 1) == 1.0f);
  CHECK(clipFactor(INFINITY, 1) == 1.0f);
}
