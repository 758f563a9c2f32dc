// Holds the kernels' results over a sweep of shapes (sweep.mica) against the stated orders, bit by bit.
//
//     sweep FILE…      files of lines `NAME EXTENTS : HASH`, a run of the program each; what is expected is computed once
//
// A name says which operation, the extents which numbers: both sides make the same ones. A run must end with its count and report no change between
// its rounds, and the runs together must hold every operation that is known here. Ends with `N passed, N failed`, a result of a run counting as one.
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "orders/orders.h"

using namespace orders;

namespace {

using Wide = std::vector<double>;
using Extents = std::vector<size_t>;

// ---- numbers, as the program makes them ----

int64_t next(uint32_t& seed) {
  seed = seed * 1664525u + 1013904223u;
  return seed >> 8;
}

Row numbers(size_t n, uint32_t seed) {
  Row x(n);
  for (float& v : x) v = static_cast<float>(next(seed) - 8388608) / 8388608.0f;
  return x;
}

Wide wideNumbers(size_t n, uint32_t seed) {
  Wide x(n);
  for (double& v : x) {
    double high = static_cast<double>(next(seed) - 8388608);
    v = (high + static_cast<double>(next(seed)) / 16777216.0) / 8388608.0;
  }
  return x;
}

std::vector<int32_t> ids(size_t n, size_t below, uint32_t seed) {
  std::vector<int32_t> out(n);
  for (int32_t& v : out) v = static_cast<int32_t>(static_cast<size_t>(next(seed)) % below);
  return out;
}

// ---- parts of tensors ----

Row times(Row x, float by) {
  for (float& v : x) v = v * by;
  return x;
}

Row multiply(Row a, const Row& b) {
  for (size_t i = 0; i < a.size(); i++) a[i] = a[i] * b[i];
  return a;
}

Row slice(const Row& x, size_t from, size_t count) {
  return Row(x.begin() + static_cast<ptrdiff_t>(from), x.begin() + static_cast<ptrdiff_t>(from + count));
}

void append(Row& to, const Row& from) { to.insert(to.end(), from.begin(), from.end()); }

// One number for each row, for each column.
template <class F> Row overRows(const Row& x, size_t rows, size_t columns, F f) {
  Row out;
  for (size_t i = 0; i < rows; i++) out.push_back(f(slice(x, i * columns, columns)));
  return out;
}

template <class F> Row overColumns(const Row& x, size_t rows, size_t columns, F f) {
  Row out;
  for (size_t j = 0; j < columns; j++) {
    Row column;
    for (size_t i = 0; i < rows; i++) column.push_back(x[i * columns + j]);
    out.push_back(f(column));
  }
  return out;
}

// A row of results for each row.
template <class F> Row eachRow(size_t rows, F f) {
  Row out;
  for (size_t i = 0; i < rows; i++) append(out, f(i));
  return out;
}

// ---- results by name ----

struct Result {
  Row narrow;
  Wide wide;
};

using Make = std::function<Result(const Extents&)>;

std::map<std::string, Make> known;

template <class F> void define(const std::string& name, F f) {
  known[name] = [f](const Extents& e) { return Result{f(e), {}}; };
}

template <class F> void defineWide(const std::string& name, F f) {
  known[name] = [f](const Extents& e) { return Result{{}, f(e)}; };
}

double wideSum(const Wide& x) {
  return sum<double>(x.size(), [&](size_t i) { return x[i]; });
}

void sums() {
  define("sum", [](const Extents& e) { return Row{sumRow(numbers(e[0], 1))}; });
  define("norm", [](const Extents& e) { return Row{normRow(numbers(e[0], 1))}; });
  define("sum-of-minus-zeros", [](const Extents& e) { return Row{sumRow(Row(e[0], -0.0f))}; });
  define("dot", [](const Extents& e) { return Row{dot(numbers(e[0], 1), numbers(e[0], 3))}; });
  define("mean", [](const Extents& e) { return Row{meanRow(numbers(e[0], 1))}; });
  define("max", [](const Extents& e) { return Row{maxRow(numbers(e[0], 1))}; });
  define("min", [](const Extents& e) { return Row{minRow(numbers(e[0], 1))}; });
  defineWide("wide-sum-norm-dot", [](const Extents& e) {
    Wide x = wideNumbers(e[0], 2), y = wideNumbers(e[0], 4);
    double squares = sum<double>(e[0], [&](size_t i) { return x[i] * x[i]; });
    return Wide{wideSum(x), std::sqrt(squares), product<double>(e[0], [&](size_t i) { return x[i]; }, [&](size_t i) { return y[i]; })};
  });
  define("sum-rows", [](const Extents& e) { return overRows(numbers(e[0] * e[1], 10), e[0], e[1], sumRow); });
  define("mean-rows", [](const Extents& e) { return overRows(numbers(e[0] * e[1], 10), e[0], e[1], meanRow); });
  define("sum-columns", [](const Extents& e) { return overColumns(numbers(e[0] * e[1], 10), e[0], e[1], sumRow); });
  define("mean-columns", [](const Extents& e) { return overColumns(numbers(e[0] * e[1], 10), e[0], e[1], meanRow); });
  defineWide("wide-sum-columns", [](const Extents& e) {
    Wide x = wideNumbers(e[0] * e[1], 11), out;
    for (size_t j = 0; j < e[1]; j++) out.push_back(sum<double>(e[0], [&](size_t i) { return x[i * e[1] + j]; }));
    return out;
  });
  define("bias-gradient", [](const Extents& e) { return overColumns(times(numbers(e[0] * e[1], 14), 0.5f), e[0], e[1], sumRow); });
  define("factor-gradient", [](const Extents& e) {
    return overColumns(multiply(times(numbers(e[0] * e[1], 14), 0.5f), numbers(e[0] * e[1], 10)), e[0], e[1], sumRow);
  });
  auto slopes = [](const Extents& e, auto slope) {       // the sums over the rows of slope(x, v, g)
    Row x = numbers(e[0] * e[1], 10), v = numbers(e[1], 13), g = numbers(e[0] * e[1], 14);
    for (size_t i = 0; i < x.size(); i++) x[i] = slope(x[i], v[i % e[1]], g[i]);
    return overColumns(x, e[0], e[1], sumRow);
  };
  define("minus-gradient", [=](const Extents& e) { return slopes(e, [](float, float, float g) { return -g; }); });
  define("quotient-gradient", [=](const Extents& e) { return slopes(e, [](float x, float v, float g) { return -((g * (x / v)) / v); }); });
  define("larger-gradient", [=](const Extents& e) { return slopes(e, [](float x, float v, float g) { return x < v ? g : 0.0f; }); });
  define("number-gradient", [](const Extents& e) {
    Row x = numbers(e[0] * e[1], 10), factor = numbers(e[1], 13), bias = numbers(e[1], 12);
    for (size_t i = 0; i < x.size(); i++) x[i] = x[i] * factor[i % e[1]] + bias[i % e[1]];
    return Row{sumRow(multiply(numbers(e[0] * e[1], 14), x))};
  });
}

// Each number of the row that is `x`, the first largest alone getting g.
Row toLargest(const Row& x, float g) {
  Row out(x.size(), 0.0f);
  for (size_t i = 0; i < x.size(); i++)
    if (x[i] == maxRow(x)) {
      out[i] = g;
      break;
    }
  return out;
}

Row transposed(const Row& x, size_t rows, size_t columns) {
  Row out;
  for (size_t j = 0; j < columns; j++)
    for (size_t i = 0; i < rows; i++) out.push_back(x[i * columns + j]);
  return out;
}

void largest() {
  define("max-rows", [](const Extents& e) { return overRows(numbers(e[0] * e[1], 10), e[0], e[1], maxRow); });
  define("max-columns", [](const Extents& e) { return overColumns(numbers(e[0] * e[1], 10), e[0], e[1], maxRow); });
  define("max-rows-gradient", [](const Extents& e) {
    Row x = numbers(e[0] * e[1], 10), g = numbers(e[0], 15);
    return eachRow(e[0], [&](size_t i) { return toLargest(slice(x, i * e[1], e[1]), g[i]); });
  });
  define("max-columns-gradient", [](const Extents& e) {
    Row x = transposed(numbers(e[0] * e[1], 10), e[0], e[1]), g = numbers(e[1], 16);
    return transposed(eachRow(e[1], [&](size_t j) { return toLargest(slice(x, j * e[0], e[0]), g[j]); }), e[1], e[0]);
  });
}

void elements() {
  struct Activation {
    const char* name;
    float (*value)(float);
    float (*slope)(float, float);
  };
  const Activation all[] = {{"gelu", gelu, geluSlope}, {"gelutanh", geluTanh, geluTanhSlope}, {"silu", silu, siluSlope}, {"relu", relu, reluSlope},
                            {"tanh", tanh32, [](float x, float g) { return g * (1.0f - tanh32(x) * tanh32(x)); }},
                            {"sigmoid", sigmoid32, [](float x, float g) { return g * (sigmoid32(x) * (1.0f - sigmoid32(x))); }},
                            {"exp", exp32, [](float x, float g) { return g * exp32(x); }}};
  for (const Activation& a : all) {
    define(a.name, [a](const Extents& e) {
      Row x = times(numbers(e[0], 80), 6);
      for (float& v : x) v = a.value(v);
      return x;
    });
    define(std::string(a.name) + "-gradient", [a](const Extents& e) {
      Row x = times(numbers(e[0], 80), 6), g = numbers(e[0], 81);
      for (size_t i = 0; i < x.size(); i++) x[i] = a.slope(x[i], g[i]);
      return x;
    });
  }
  define("dot-gradient", [](const Extents& e) { return times(numbers(e[0], 82), 0.7f); });
  define("norm-gradient", [](const Extents& e) {
    Row x = times(numbers(e[0], 80), 6);
    float norm = normRow(x);
    return times(x, norm == 0 ? 0.0f : 0.7f / norm);
  });
  define("outer", [](const Extents& e) {
    Row b = numbers(e[1], 84), a = numbers(e[0], 83);
    return eachRow(e[0], [&](size_t i) { return times(b, a[i]); });
  });
  define("outer-a", [](const Extents& e) { return matmul(e[0], e[1], 1, numbers(e[0] * e[1], 85), numbers(e[1], 84)); });
  define("outer-b", [](const Extents& e) { return matmul(e[1], e[0], 1, numbers(e[0] * e[1], 85), numbers(e[0], 83), true, false); });
}

// ---- products ----

Row left(const Extents& e) { return numbers(e[0] * e[1], 20); }
Row right(const Extents& e) { return numbers(e[1] * e[2], 21); }
Row upstream(const Extents& e) { return numbers(e[0] * e[2], 24); }

// For each of e[0] matrices of m * k and k * n numbers.
Row batch(const Extents& e, size_t m, size_t k, size_t n, const Row& a, const Row& b, bool at, bool bt) {
  return eachRow(e[0], [&](size_t l) { return matmul(m, k, n, slice(a, l * m * k, m * k), slice(b, l * k * n, k * n), at, bt); });
}

void products() {
  define("product", [](const Extents& e) { return matmul(e[0], e[1], e[2], left(e), right(e)); });
  define("product-left", [](const Extents& e) { return matmul(e[0], e[1], e[2], left(e), right(e), true, false); });
  define("product-right", [](const Extents& e) { return matmul(e[0], e[1], e[2], left(e), right(e), false, true); });
  define("product-both", [](const Extents& e) { return matmul(e[0], e[1], e[2], left(e), right(e), true, true); });
  defineWide("wide-product", [](const Extents& e) {
    Wide a = wideNumbers(e[0] * e[1], 22), b = wideNumbers(e[1] * e[2], 23), out;
    for (size_t i = 0; i < e[0]; i++)
      for (size_t j = 0; j < e[2]; j++)
        out.push_back(product<double>(e[1], [&](size_t l) { return a[i * e[1] + l]; }, [&](size_t l) { return b[l * e[2] + j]; }));
    return out;
  });
  define("product-a", [](const Extents& e) { return matmul(e[0], e[2], e[1], upstream(e), right(e), false, true); });
  define("product-b", [](const Extents& e) { return matmul(e[1], e[0], e[2], left(e), upstream(e), true, false); });
  define("product-left-a", [](const Extents& e) {      // of the k by m matrix that stands transposed
    return transposed(matmul(e[0], e[2], e[1], upstream(e), right(e), false, true), e[0], e[1]);
  });
  define("product-left-b", [](const Extents& e) { return matmul(e[1], e[0], e[2], left(e), upstream(e)); });
  define("product-right-a", [](const Extents& e) { return matmul(e[0], e[2], e[1], upstream(e), right(e)); });
  define("product-right-b", [](const Extents& e) {
    return transposed(matmul(e[1], e[0], e[2], left(e), upstream(e), true, false), e[1], e[2]);
  });
  define("vector-product", [](const Extents& e) { return matmul(1, e[0], e[1], numbers(e[0], 20), numbers(e[0] * e[1], 21)); });
  define("vector-product-right", [](const Extents& e) { return matmul(1, e[0], e[1], numbers(e[0], 20), numbers(e[0] * e[1], 21), false, true); });
  define("product-vector", [](const Extents& e) { return matmul(e[1], e[0], 1, numbers(e[0] * e[1], 21), numbers(e[0], 20)); });
  define("product-left-vector", [](const Extents& e) { return matmul(e[1], e[0], 1, numbers(e[0] * e[1], 21), numbers(e[0], 20), true, false); });
  // l, m, k, n
  auto rows = [](const Extents& e) { return numbers(e[0] * e[1] * e[2], 25); };
  auto matrices = [](const Extents& e) { return numbers(e[0] * e[2] * e[3], 26); };
  auto g = [](const Extents& e) { return numbers(e[0] * e[1] * e[3], 27); };
  define("rows-product", [=](const Extents& e) { return matmul(e[0] * e[1], e[2], e[3], rows(e), numbers(e[2] * e[3], 21)); });
  define("rows-product-a", [=](const Extents& e) { return matmul(e[0] * e[1], e[3], e[2], g(e), numbers(e[2] * e[3], 21), false, true); });
  define("rows-product-b", [=](const Extents& e) { return matmul(e[2], e[0] * e[1], e[3], rows(e), g(e), true, false); });
  define("batch-product", [=](const Extents& e) { return batch(e, e[1], e[2], e[3], rows(e), matrices(e), false, false); });
  define("batch-product-a", [=](const Extents& e) { return batch(e, e[1], e[3], e[2], g(e), matrices(e), false, true); });
  define("batch-product-b", [=](const Extents& e) { return batch(e, e[2], e[1], e[3], rows(e), g(e), true, false); });
}

// ---- rows ----

// f(x's row, g's row) for each row.
template <class F> void defineRows(const std::string& name, F f) {
  define(name, [f](const Extents& e) {
    Row x = times(numbers(e[0] * e[1], 30), 3), g = numbers(e[0] * e[1], 33);
    Row gain = numbers(e[1], 31), bias = numbers(e[1], 32);
    return eachRow(e[0], [&](size_t i) { return f(slice(x, i * e[1], e[1]), slice(g, i * e[1], e[1]), gain, bias); });
  });
}

// The sum over the rows of what f answers for each.
template <class F> void defineGain(const std::string& name, F f) {
  define(name, [f](const Extents& e) {
    Row x = times(numbers(e[0] * e[1], 30), 3), g = numbers(e[0] * e[1], 33);
    Row all = eachRow(e[0], [&](size_t i) { return f(slice(x, i * e[1], e[1]), slice(g, i * e[1], e[1])); });
    return overColumns(all, e[0], e[1], sumRow);
  });
}

void rows() {
  constexpr float LayerEps = 1e-5f, RmsEps = 1e-6f;
  defineRows("softmax", [](Row x, Row, Row, Row) { return softmax(x); });
  defineRows("softmax-gradient", [](Row x, Row g, Row, Row) { return softmaxBackward(softmax(x), g); });
  defineRows("logsoftmax", [](Row x, Row, Row, Row) { return logSoftmax(x); });
  defineRows("logsoftmax-gradient", [](Row x, Row g, Row, Row) { return logSoftmaxBackward(logSoftmax(x), g); });
  defineRows("layernorm", [](Row x, Row, Row gain, Row bias) { return layerNorm(x, gain, bias, LayerEps); });
  defineRows("layernorm-gradient", [](Row x, Row g, Row gain, Row) { return layerNormBackward(layerNormal(x, LayerEps), gain, g); });
  defineRows("layernorm-bare", [](Row x, Row, Row, Row) { return layerNormal(x, LayerEps).normal; });
  defineRows("layernorm-bare-gradient", [](Row x, Row g, Row, Row) {
    return layerNormBackward(layerNormal(x, LayerEps), Row(x.size(), 1.0f), g);
  });
  defineRows("rmsnorm", [](Row x, Row, Row gain, Row) { return rmsNorm(x, gain, RmsEps); });
  defineRows("rmsnorm-gradient", [](Row x, Row g, Row gain, Row) { return rmsNormBackward(rmsNormal(x, RmsEps), gain, g); });
  defineGain("layernorm-gain", [](Row x, Row g) { return multiply(g, layerNormal(x, LayerEps).normal); });
  defineGain("layernorm-bias", [](Row, Row g) { return g; });
  defineGain("rmsnorm-gain", [](Row x, Row g) { return multiply(g, rmsNormal(x, RmsEps).normal); });
  auto scores = [](const Extents& e) { return times(numbers(e[0] * e[1], 34), 4); };
  auto targets = [](const Extents& e) { return ids(e[0], e[1], 35); };
  define("crossentropy", [=](const Extents& e) { return Row{crossEntropy(e[0], e[1], scores(e), targets(e))}; });
  define("crossentropy-gradient", [=](const Extents& e) { return crossEntropyBackward(e[0], e[1], scores(e), targets(e), 1); });
  define("crossentropy-ignore", [=](const Extents& e) {
    return Row{crossEntropy(e[0], e[1], scores(e), targets(e), static_cast<int64_t>(e[1] / 2), static_cast<int64_t>(e[0] + 3))};
  });
  define("crossentropy-ignore-gradient", [=](const Extents& e) {
    return crossEntropyBackward(e[0], e[1], scores(e), targets(e), 1, static_cast<int64_t>(e[1] / 2), static_cast<int64_t>(e[0] + 3));
  });
}

// ---- attention: queries, keys, width, heads ----

// The columns of one head, and back.
Row headOf(const Row& x, size_t rows, size_t columns, size_t head, size_t width) {
  return eachRow(rows, [&](size_t i) { return slice(x, i * columns + head * width, width); });
}

void putHead(Row& x, size_t columns, size_t head, size_t width, const Row& part) {
  for (size_t i = 0; i < part.size(); i++) x[i / width * columns + head * width + i % width] = part[i];
}

struct Operands {
  Row q, k, v, g;
};

// f(operands of a head, its width) for each head; the result has as many rows as the keys or the queries. Extents: queries, keys, width, heads.
template <class F> Row eachHead(const Extents& e, const Operands& x, bool ofKeys, F f) {
  size_t w = e[2] / e[3];
  Row out((ofKeys ? e[1] : e[0]) * e[2]);
  for (size_t h = 0; h < e[3]; h++) {
    Operands head = {headOf(x.q, e[0], e[2], h, w), headOf(x.k, e[1], e[2], h, w), headOf(x.v, e[1], e[2], h, w), headOf(x.g, e[0], e[2], h, w)};
    putHead(out, e[2], h, w, f(head, w));
  }
  return out;
}

// `f(queries, keys, width, operands, admits)` answers a row of results for each of the queries or keys.
template <class F> void defineAttention(const std::string& tail, bool ofKeys, F f) {
  for (std::string kind : {"attention", "attention-full", "attention-mask"})
    define(kind + tail, [=](const Extents& e) {
      Operands x = {times(numbers(e[0] * e[2], 40), 2), times(numbers(e[1] * e[2], 41), 2), numbers(e[1] * e[2], 42), numbers(e[0] * e[2], 43)};
      Row mask = numbers(e[0] * e[1], 44);
      Admits admits = causal(e[0], e[1]);
      if (kind == "attention-full") admits = [](size_t, size_t) { return true; };
      if (kind == "attention-mask") admits = [&](size_t i, size_t j) { return mask[i * e[1] + j] > -0.3f; };
      return eachHead(e, x, ofKeys, [&](const Operands& head, size_t w) { return f(e[0], e[1], w, head, admits); });
    });
  define("attention-leading" + tail, [=](const Extents& all) {
    Extents e(all.begin() + 1, all.end());
    size_t q = e[0] * e[2], k = e[1] * e[2];
    return eachRow(all[0], [&](size_t l) {
      Operands x = {slice(numbers(all[0] * q, 45), l * q, q), slice(numbers(all[0] * k, 46), l * k, k), slice(numbers(all[0] * k, 47), l * k, k),
                    slice(numbers(all[0] * q, 48), l * q, q)};
      return eachHead(e, x, ofKeys, [&](const Operands& head, size_t w) { return f(e[0], e[1], w, head, causal(e[0], e[1])); });
    });
  });
}

void attentions() {
  auto back = [](size_t queries, size_t keys, size_t width, const Operands& x, const Admits& admits) {
    return attentionBackward(queries, keys, width, x.q, x.k, x.v, x.g, admits);
  };
  defineAttention("", false, [](size_t queries, size_t keys, size_t width, const Operands& x, const Admits& admits) {
    return attention(queries, keys, width, x.q, x.k, x.v, admits);
  });
  defineAttention("-q", false, [=](auto&&... x) { return back(x...).q; });
  defineAttention("-k", true, [=](auto&&... x) { return back(x...).k; });
  defineAttention("-v", true, [=](auto&&... x) { return back(x...).v; });
}

// ---- gather, steps ----

struct Trained {
  Row p, mean, square;
};

Trained trained(size_t n, bool further) {
  Trained t{numbers(n, 60), times(numbers(n, 61), 0.1f), numbers(n, 62)};
  for (float& v : t.square) v = v * v;
  for (int64_t step = 1; step <= 3; step++) {
    Row g = numbers(n, static_cast<uint32_t>(63 + step));
    for (size_t i = 0; i < n; i++) adamW(t.p[i], t.mean[i], t.square[i], g[i], {step, 3e-3, 0.9, 0.95, 1e-8, 0.1});
  }
  Row g = numbers(n, 67);
  for (size_t i = 0; i < n && further; i++) sgd(t.p[i], g[i], 0.1);
  return t;
}

std::vector<Row> slopes(size_t n) {
  std::vector<Row> out = {numbers(n, 69), numbers(n / 3 + 1, 70)};
  for (size_t k = 1; k <= n % 300 + 1; k++) out.push_back(numbers(k, 71));
  return out;
}

void steps() {
  define("gather", [](const Extents& e) { return gather(e[2], numbers(e[1] * e[2], 50), ids(e[0], e[1], 51)); });
  define("gather-gradient", [](const Extents& e) { return gatherBackward(e[1], e[2], ids(e[0], e[1], 51), numbers(e[0] * e[2], 52)); });
  define("adamw", [](const Extents& e) { return trained(e[0], false).p; });
  define("adamw-mean", [](const Extents& e) { return trained(e[0], false).mean; });
  define("adamw-square", [](const Extents& e) { return trained(e[0], false).square; });
  define("sgd", [](const Extents& e) { return trained(e[0], true).p; });
  define("momentum", [](const Extents& e) {
    Trained t = trained(e[0], true);
    Row g = numbers(e[0], 68);
    for (size_t i = 0; i < e[0]; i++) momentum(t.p[i], t.mean[i], g[i], 0.1, 0.9);
    return t.p;
  });
  define("clip-norm", [](const Extents& e) { return Row{clipNorm(slopes(e[0]))}; });
  define("clip-first", [](const Extents& e) { return times(slopes(e[0])[0], clipFactor(clipNorm(slopes(e[0])), 0.7f)); });
  define("clip-second", [](const Extents& e) { return times(slopes(e[0])[1], clipFactor(clipNorm(slopes(e[0])), 0.7f)); });
}

// ---- judging ----

int64_t hashOf(const Result& r) {
  uint64_t h = 0;
  auto mix = [&](uint64_t bits) { h = (h ^ bits) * 1099511628211u; };
  for (float x : r.narrow) {
    uint32_t b;
    std::memcpy(&b, &x, 4);
    mix(x != x ? 0x7fc00000u : b);
  }
  for (double x : r.wide) {
    uint64_t b;
    std::memcpy(&b, &x, 8);
    mix(b >> 32);
    mix(b & 0xffffffff);
  }
  return static_cast<int64_t>(h);
}

struct Tally { size_t passed = 0, failed = 0; } tally;

void blame(const std::string& file, const std::string& text) {
  if (tally.failed++ < 40) std::cout << "FAILED " << file << ": " << text << "\n";
}

// Puts the operations that it holds into `met`.
void judgeFile(const std::string& file, std::set<std::string>& met) {
  static std::map<std::string, int64_t> expected;
  std::ifstream in(file);
  size_t seen = 0;
  bool ended = false;
  for (std::string line; std::getline(in, line) && !ended;) {
    size_t colon = line.find(" : ");
    if (colon == std::string::npos) {
      ended = line.rfind(std::to_string(seen) + " results in each of ", 0) == 0;
      if (!ended) blame(file, line);
      continue;
    }
    std::string name = line.substr(0, colon), operation = name.substr(0, name.find(' '));
    auto make = known.find(operation);
    if (make == known.end()) {
      blame(file, line);
      continue;
    }
    met.insert(operation);
    seen++;
    auto [place, isNew] = expected.try_emplace(name, 0);
    if (isNew) {
      std::stringstream rest(name.substr(operation.size()));
      Extents extents;
      for (size_t e; rest >> e;) extents.push_back(e);
      place->second = hashOf(make->second(extents));
    }
    if (std::stoll(line.substr(colon + 3)) == place->second) tally.passed++;
    else blame(file, name + " is not what the order says");
  }
  if (!ended) blame(file, "ended after " + std::to_string(seen) + " results");
}

}  // namespace

int main(int argc, char** argv) {
  sums();
  largest();
  elements();
  products();
  rows();
  attentions();
  steps();
  std::set<std::string> met;
  for (int i = 1; i < argc; i++) judgeFile(argv[i], met);
  for (const auto& [operation, make] : known)
    if (met.count(operation) == 0) blame("all runs", operation + " was not computed");
  std::cout << tally.passed << " passed, " << tally.failed << " failed\n";
  return tally.failed != 0;
}
