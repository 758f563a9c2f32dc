// Holds the runtime's kernels against the stated orders, bit by bit.
//
//     kernels PROGRAM…
//
// Each PROGRAM is kernels.mica built at some tier. It prints `NAME value …` lines; here the same numbers are made, the same
// results computed by orders.h, and both are compared.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include "harness/process.h"
#include "orders/orders.h"

using namespace orders;

namespace {

std::map<std::string, Row> expected;

Row numbers(size_t n, uint32_t seed) {
  Row x(n);
  for (float& v : x) {
    seed = seed * 1664525u + 1013904223u;
    v = static_cast<float>(static_cast<int64_t>(seed >> 8) - 8388608) / 8388608.0f;
  }
  return x;
}

std::vector<int32_t> ids(size_t n, int below, uint32_t seed) {
  std::vector<int32_t> out(n);
  for (int32_t& v : out) {
    seed = seed * 1664525u + 1013904223u;
    v = static_cast<int32_t>((seed >> 8) % static_cast<uint32_t>(below));
  }
  return out;
}

Row times(Row x, float by) {
  for (float& v : x) v = v * by;
  return x;
}

Row rowOf(const Row& x, size_t row, size_t width) {
  return Row(x.begin() + static_cast<ptrdiff_t>(row * width), x.begin() + static_cast<ptrdiff_t>((row + 1) * width));
}

Row columnOf(const Row& x, size_t column, size_t width) {
  Row out;
  for (size_t i = column; i < x.size(); i += width) out.push_back(x[i]);
  return out;
}

void append(Row& to, const Row& from) { to.insert(to.end(), from.begin(), from.end()); }

std::string name(const std::string& base, std::initializer_list<size_t> sizes) {
  std::string out = base;
  for (size_t s : sizes) out += "-" + std::to_string(s);
  return out;
}

void sums() {
  for (size_t n : {0, 1, 2, 31, 32, 33, 63, 64, 255, 256, 257, 511, 512, 513, 768, 1000, 4096, 10000})
    expected[name("sum", {n})] = {sumRow(numbers(n, 1))};
  Row m = numbers(300 * 7, 2), r = numbers(7 * 300, 3);
  for (size_t i = 0; i < 7; i++) expected["sum-rows"].push_back(sumRow(rowOf(r, i, 300)));
  for (size_t j = 0; j < 7; j++) expected["sum-columns"].push_back(sumRow(columnOf(m, j, 7)));
  expected["mean"] = {meanRow(m)};
}

void products() {
  for (size_t m : {1, 3, 8, 17, 40})
    for (size_t k : {1, 7, 64, 256, 257, 600})
      for (size_t n : {1, 5, 16, 33}) {
        Row a = numbers(m * k, 4), b = numbers(k * n, 5);
        expected[name("product", {m, k, n})] = matmul(m, k, n, a, b);
        expected[name("product-left", {m, k, n})] = matmul(m, k, n, a, b, true, false);
        expected[name("product-right", {m, k, n})] = matmul(m, k, n, a, b, false, true);
      }
  expected["product-vector"] = matmul(30, 300, 1, numbers(30 * 300, 4), numbers(300, 5));
  expected["vector-product"] = matmul(1, 300, 30, numbers(300, 4), numbers(300 * 30, 5));
  expected["dot"] = {dot(numbers(700, 4), numbers(700, 5))};
  Row a = numbers(37 * 300, 6), b = numbers(300 * 19, 7), g = numbers(37 * 19, 8);
  expected["product-gradient-left"] = matmul(37, 19, 300, g, b, false, true);
  expected["product-gradient-right"] = matmul(300, 37, 19, a, g, true, false);
}

// Sum over rows of a(i, j) for each column j.
Row overRows(const Row& x, size_t width) {
  Row out;
  for (size_t j = 0; j < width; j++) out.push_back(sumRow(columnOf(x, j, width)));
  return out;
}

Row multiply(const Row& a, const Row& b) {
  Row out = a;
  for (size_t i = 0; i < a.size(); i++) out[i] = a[i] * b[i];
  return out;
}

void norms(size_t d, const Row& x, const Row& g, const Row& gain, const Row& bias) {
  Row y, dx, gains, rms, drms, rmsGains;
  for (size_t i = 0; i < 9; i++) {
    Row r = rowOf(x, i, d), gr = rowOf(g, i, d);
    Norm layer = layerNormal(r, 1e-5f), root = rmsNormal(r, 1e-6f);
    append(y, layerNorm(r, gain, bias, 1e-5f));
    append(dx, layerNormBackward(layer, gain, gr));
    append(gains, multiply(gr, layer.normal));
    append(rms, rmsNorm(r, gain, 1e-6f));
    append(drms, rmsNormBackward(root, gain, gr));
    append(rmsGains, multiply(gr, root.normal));
  }
  expected[name("layernorm", {d})] = y;
  expected[name("layernorm-gradient", {d})] = dx;
  expected[name("layernorm-gain", {d})] = overRows(gains, d);
  expected[name("layernorm-bias", {d})] = overRows(g, d);
  expected[name("rmsnorm", {d})] = rms;
  expected[name("rmsnorm-gradient", {d})] = drms;
  expected[name("rmsnorm-gain", {d})] = overRows(rmsGains, d);
}

void rows() {
  for (size_t d : {1, 5, 32, 65, 128, 300}) {
    Row x = times(numbers(9 * d, 10), 3), g = numbers(9 * d, 13);
    Row s, ds, l, dl;
    for (size_t i = 0; i < 9; i++) {
      Row soft = softmax(rowOf(x, i, d)), log = logSoftmax(rowOf(x, i, d)), gr = rowOf(g, i, d);
      append(s, soft);
      append(ds, softmaxBackward(soft, gr));
      append(l, log);
      append(dl, logSoftmaxBackward(log, gr));
    }
    expected[name("softmax", {d})] = s;
    expected[name("softmax-gradient", {d})] = ds;
    expected[name("logsoftmax", {d})] = l;
    expected[name("logsoftmax-gradient", {d})] = dl;
    norms(d, x, g, numbers(d, 11), numbers(d, 12));
  }
}

void losses() {
  for (size_t d : {3, 40, 300}) {
    Row x = times(numbers(300 * d, 20), 4);
    std::vector<int32_t> targets = ids(300, static_cast<int>(d), 21);
    expected[name("crossentropy", {d})] = {crossEntropy(300, d, x, targets)};
    expected[name("crossentropy-gradient", {d})] = crossEntropyBackward(300, d, x, targets, 1);
  }
}

void attentions() {
  for (size_t t : {1, 2, 9, 33})
    for (size_t w : {4, 8, 32}) {
      Row q = times(numbers(t * w, 30), 2), k = times(numbers(t * w, 31), 2), v = numbers(t * w, 32);
      expected[name("attention", {t, w})] = attention(t, t, w, q, k, v);
      AttentionGradients d = attentionBackward(t, t, w, q, k, v, numbers(t * w, 33));
      expected[name("attention-q", {t, w})] = d.q;
      expected[name("attention-k", {t, w})] = d.k;
      expected[name("attention-v", {t, w})] = d.v;
    }
  expected["attention-last"] = attention(3, 20, 8, numbers(24, 30), numbers(160, 31), numbers(160, 32));
}

void elementwise() {
  Row x = times(numbers(999, 50), 6), g = numbers(999, 51);
  struct Pair {
    const char* name;
    float (*value)(float);
    float (*slope)(float, float);
  };
  for (const Pair& p : {Pair{"gelutanh", geluTanh, geluTanhSlope}, {"gelu", gelu, geluSlope}, {"silu", silu, siluSlope}, {"relu", relu, reluSlope}})
    for (size_t i = 0; i < x.size(); i++) {
      expected[p.name].push_back(p.value(x[i]));
      expected[std::string(p.name) + "-gradient"].push_back(p.slope(x[i], g[i]));
    }
  expected["bias-gradient"] = overRows(numbers(600 * 7, 54), 7);
  Row table = numbers(11 * 5, 40);
  expected["gather"] = gather(5, table, ids(700, 9, 41));
  expected["gather-gradient"] = gatherBackward(11, 5, ids(700, 9, 41), numbers(700 * 5, 42));
}

void steps() {
  Row p = numbers(300, 60), m(300, 0.0f), v(300, 0.0f);
  for (int64_t step = 1; step <= 3; step++) {
    Row g = numbers(300, static_cast<uint32_t>(62 + step));
    for (size_t i = 0; i < p.size(); i++) adamW(p[i], m[i], v[i], g[i], {step, 3e-3, 0.9, 0.95, 1e-8, 0.1});
  }
  expected["adamw"] = p;
  expected["adamw-mean"] = m;
  expected["adamw-square"] = v;
  std::vector<Row> slope = {numbers(300, 60), numbers(41, 61)};
  float norm = clipNorm(slope), factor = clipFactor(norm, 1);
  expected["clip-norm"] = {norm};
  expected["clip-a"] = times(slope[0], factor);
  expected["clip-b"] = times(slope[1], factor);
}

bool sameBits(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// A line of the program's output against what is expected under its name; tells the first difference.
std::string judge(const std::string& line, std::string& name) {
  std::stringstream in(line);
  in >> name;
  auto found = expected.find(name);
  if (found == expected.end()) return "nothing is known of it";
  Row got;
  for (std::string word; in >> word;) got.push_back(std::strtof(word.c_str(), nullptr));
  const Row& want = found->second;
  if (got.size() != want.size()) return std::to_string(got.size()) + " values, " + std::to_string(want.size()) + " expected";
  size_t bad = 0, first = 0;
  for (size_t i = 0; i < got.size(); i++)
    if (!sameBits(got[i], want[i]) && bad++ == 0) first = i;
  if (bad == 0) return "";
  char text[160];
  std::snprintf(text, sizeof text, "%zu of %zu differ, the first at %zu: %a, expected %a", bad, got.size(), first, got[first], want[first]);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  sums();
  products();
  rows();
  losses();
  attentions();
  elementwise();
  steps();
  size_t passed = 0, failed = 0;
  for (int i = 1; i < argc; i++) {
    ProcessRequest request;
    request.command = {argv[i]};
    request.seconds = 120;
    ProcessResult run = runProcess(request);
    size_t seen = 0;
    std::stringstream lines(run.out);
    for (std::string line; std::getline(lines, line); seen++) {
      std::string name, problem = judge(line, name);
      (problem.empty() ? passed : failed)++;
      if (!problem.empty()) std::cout << "FAILED " << argv[i] << " " << name << ": " << problem << "\n";
    }
    if (run.status != 0 || seen < expected.size()) {
      std::cout << "FAILED " << argv[i] << " ended after " << seen << " of " << expected.size() << " results, status " << run.status << "\n" << run.err;
      failed++;
    }
  }
  std::cout << passed << " passed, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}
