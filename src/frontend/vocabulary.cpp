// The table of the vocabulary. See vocabulary.h for what the columns mean; docs/vocabulary.md is made from it.
#include "frontend/vocabulary.h"

#include <map>

namespace mica::vocabulary {

namespace {

// Elementwise functions of one operand; `Name` is also the kernel's name in src/rt/Unary.mica and the scalar's in Math.
#define UNARY(name, formula, gradient, edges)                                                                        \
  {#name, "[S..., F](x: tensor[S...] of F): tensor[S...] of F", Rule::Signature, "Math." #name,                      \
   "Unary." #name "(x.data, out.data, x.count)",                                                               \
   "Unary." #name "Back(gout.data, x.data, out.data, grad(x), x.count)", formula, gradient, edges}

// Two operands of one shape, a scalar, or trailing extents (+ - .* ./ and comparisons).
#define POINTWISE(text, kernel, formula, gradient, edges)                                                            \
  {text, "[S..., F](a: tensor[S...] of F, b: tensor[S...] of F): tensor[S...] of F", Rule::Pointwise, nullptr,       \
   "Binary." #kernel "(a.data, a.count, b.data, b.count, out.data, out.count)",                                 \
   "Binary." #kernel "Back(gout.data, a.data, a.count, b.data, b.count, out.data, out.count, grad(a), grad(b))", \
   formula, gradient, edges}

#define COMPARE(name, formula)                                                                                       \
  {#name, "[S..., T](a: tensor[S...] of T, b: tensor[S...] of T): tensor[S...] of bool", Rule::Pointwise, nullptr,   \
   "Compare." #name "(a.data, a.count, b.data, b.count, out.data, out.count)", nullptr, formula, "", "false where an operand is NaN; NotEqual is true there"}

#define REDUCE(name, backward, formula, gradient, edges)                                                             \
  {#name, "[S..., F](x: tensor[S...] of F): float", Rule::Reduce, nullptr,                                           \
   "Sums." #name "(x.data, x.count, out.data)", backward, formula, gradient, edges}

const std::vector<Row> table = {
    // ---- operators ----
    POINTWISE("+", Add, "a + b", "da = g, db = g, each summed over the leading extents on the sum's tree", ""),
    POINTWISE("-", Subtract, "a - b", "da = g, db = -g", ""),
    POINTWISE(".*", Multiply, "a * b", "da = g * b, db = g * a", ""),
    POINTWISE("./", Divide, "a / b", "da = g / b, db = -(g * (a / b)) / b", ""),
    UNARY(Negate, "-x", "dx = -g", "flips the sign of zeros and NaN too"),
    {"*", "[F](a: tensor[A...] of F, b: tensor[B...] of F): tensor[C...] of F", Rule::Product, nullptr,
     "Product.Multiply(a.data, b.data, out.data, batch, m, k, n, aTransposed, bTransposed)",
     "Product.MultiplyBack(gout.data, a.data, b.data, grad(a), grad(b), batch, m, k, n, aTransposed, bTransposed)",
     "each element an fma chain over the inner extent in order from -0, leaves of 256 joined by the sum's tree", "da = g * Transpose(b), db = Transpose(a) * g", ""},
    {"Transpose", "[R, C, F](x: matrix[R, C] of F): matrix[C, R] of F", Rule::Signature, nullptr,
     "Product.Transpose(x.data, out.data, x.extent(0), x.extent(1))", "Product.Transpose(gout.data, grad(x), x.extent(1), x.extent(0))",
     "out[j, i] = x[i, j]", "dx = Transpose(g)", "directly under a product it costs nothing"},
    {"Dot", "[N, F](a: vector[N] of F, b: vector[N] of F): float", Rule::Signature, nullptr,
     "Product.Dot(a.data, b.data, out.data, a.count)", "Product.DotBack(gout.data, a.data, b.data, grad(a), grad(b), a.count)",
     "the product's chain over N", "da = g * b, db = g * a", "of nothing: +0"},
    {"Outer", "[M, N, F](a: vector[M] of F, b: vector[N] of F): matrix[M, N] of F", Rule::Signature, nullptr,
     "Product.Outer(a.data, b.data, out.data, a.count, b.count)", "Product.OuterBack(gout.data, a.data, b.data, grad(a), grad(b), a.count, b.count)",
     "out[i, j] = a[i] * b[j]", "da = g * b, db = Transpose(g) * a", ""},
    {"Norm", "[S..., F](x: tensor[S...] of F): float", Rule::Reduce, nullptr, "Sums.Norm(x.data, x.count, out.data)",
     "Sums.NormBack(gout.data, x.data, x.count, out.data, grad(x))", "Sqrt(Sum(x .* x))", "dx = (g / norm) * x; 0 where the norm is 0", ""},

    // ---- elementwise ----
    UNARY(Exp, "e^x, correctly rounded", "g * y", ""),
    UNARY(Log, "ln x, correctly rounded", "g / x", "Log(0) = -inf; NaN below 0"),
    UNARY(Log1p, "ln(1 + x), correctly rounded", "g / (1 + x)", ""),
    UNARY(Expm1, "e^x - 1, correctly rounded", "g * (y + 1)", ""),
    UNARY(Sqrt, "the square root", "g * (0.5 / y)", "gradient inf at 0"),
    UNARY(Rsqrt, "1 / sqrt x, correctly rounded", "g * ((-0.5 * y) / x)", ""),
    UNARY(Cbrt, "the cube root, correctly rounded", "g / (3 * (y * y))", ""),
    UNARY(Sin, "sin x, correctly rounded", "g * Cos(x)", "NaN at infinity"),
    UNARY(Cos, "cos x, correctly rounded", "-(g * Sin(x))", "NaN at infinity"),
    UNARY(Tanh, "tanh x, correctly rounded", "g * (1 - y * y)", ""),
    UNARY(Sigmoid, "1 / (1 + e^-x), correctly rounded", "g * (y * (1 - y))", ""),
    UNARY(Erf, "erf x, correctly rounded", "g * (2 / sqrt pi * Exp(-(x * x)))", ""),
    UNARY(Abs, "|x|", "g with the sign of x; 0 at 0", ""),
    UNARY(Square, "x * x", "g * (x + x)", ""),
    UNARY(Relu, "max(x, 0)", "g where x > 0, else 0", "NaN stays; -0 gives +0; gradient 0 at 0"),
    UNARY(Gelu, "x * (0.5 * (1 + Erf(x / sqrt 2)))", "g * (cdf + x * pdf)", "-inf gives -0"),
    UNARY(GeluTanh, "0.5 * x * (1 + Tanh(sqrt(2 / pi) * (x + 0.044715 * (x * x * x))))", "by the chain rule from t = Tanh(…)", "-inf gives -0"),
    UNARY(Silu, "x * Sigmoid(x)", "g * (s * (1 + x * (1 - s)))", "-inf gives -0"),
    {"Pow", "[S..., F](x: tensor[S...] of F, y: float): tensor[S...] of F", Rule::Signature, "Math.Pow",
     "Unary.Pow(x.data, y, out.data, x.count)", "Unary.PowBack(gout.data, x.data, y, out.data, grad(x), x.count)",
     "x^y, correctly rounded", "dx = g * (y * Pow(x, y - 1))", "C's Annex F for special values"},
    POINTWISE("Min", Minimum, "the smaller", "to b where b < a, else to a", "NaN passes; -0 is below +0"),
    POINTWISE("Max", Maximum, "the larger", "to b where b > a, else to a", "NaN passes; -0 is below +0"),
    COMPARE(Less, "a < b"), COMPARE(LessEqual, "a <= b"), COMPARE(Greater, "a > b"), COMPARE(GreaterEqual, "a >= b"),
    COMPARE(Equal, "a = b"), COMPARE(NotEqual, "a <> b"),
    {"Select", "[S..., F](mask: tensor[S...] of bool, a: tensor[S...] of F, b: tensor[S...] of F): tensor[S...] of F", Rule::Signature, nullptr,
     "Binary.Select(mask.data, a.data, b.data, out.data, out.count)", "Binary.SelectBack(gout.data, mask.data, grad(a), grad(b), mask.count)",
     "mask ? a : b", "to the chosen one; the other gets 0", "what is not chosen is not read"},

    // ---- reductions ----
    REDUCE(Sum, "Sums.SumBack(gout.data, x.count, grad(x))", "the pairwise tree of the elements in row-major order", "dx = g", "of nothing: +0"),
    REDUCE(Mean, "Sums.MeanBack(gout.data, x.count, grad(x))", "Sum(x) / count", "dx = g / count", "of nothing: a trap"),
    REDUCE(MaxAll, "Sums.MaxAllBack(gout.data, x.data, x.count, out.data, grad(x))", "the largest element", "g to the first largest", "NaN wins; of nothing: a trap"),
    REDUCE(MinAll, "Sums.MinAllBack(gout.data, x.data, x.count, out.data, grad(x))", "the smallest element", "g to the first smallest", "NaN wins; of nothing: a trap"),
    {"ArgMax", "[S..., F](x: tensor[S...] of F): int", Rule::Signature, nullptr, "Sums.ArgMax(x.data, x.count, out.data)", nullptr,
     "the index of the first largest element", "", "NaN counts as largest; of nothing: a trap"},
    {"ArgMin", "[S..., F](x: tensor[S...] of F): int", Rule::Signature, nullptr, "Sums.ArgMin(x.data, x.count, out.data)", nullptr,
     "the index of the first smallest element", "", "NaN counts as smallest; of nothing: a trap"},
    {"SumRows", "[S..., D, F](x: tensor[S..., D] of F): tensor[S...] of F", Rule::Signature, nullptr,
     "Sums.SumRows(x.data, x.rows, x.last, out.data)", "Sums.SumRowsBack(gout.data, x.rows, x.last, grad(x))", "the tree over each row", "dx[i, j] = g[i]", ""},
    {"MeanRows", "[S..., D, F](x: tensor[S..., D] of F): tensor[S...] of F", Rule::Signature, nullptr,
     "Sums.MeanRows(x.data, x.rows, x.last, out.data)", "Sums.MeanRowsBack(gout.data, x.rows, x.last, grad(x))", "SumRows / D", "dx[i, j] = g[i] / D", ""},
    {"MaxRows", "[S..., D, F](x: tensor[S..., D] of F): tensor[S...] of F", Rule::Signature, nullptr,
     "Sums.MaxRows(x.data, x.rows, x.last, out.data)", "Sums.MaxRowsBack(gout.data, x.data, x.rows, x.last, grad(x))", "the largest of each row", "g[i] to the first largest", "NaN wins"},
    {"MinRows", "[S..., D, F](x: tensor[S..., D] of F): tensor[S...] of F", Rule::Signature, nullptr,
     "Sums.MinRows(x.data, x.rows, x.last, out.data)", "Sums.MinRowsBack(gout.data, x.data, x.rows, x.last, grad(x))", "the smallest of each row", "g[i] to the first smallest", "NaN wins"},
    {"ArgMaxRows", "[S..., D, F](x: tensor[S..., D] of F): tensor[S...] of int32", Rule::Signature, nullptr,
     "Sums.ArgMaxRows(x.data, x.rows, x.last, out.data)", nullptr, "the index of the first largest of each row", "", "NaN counts as largest"},
    {"SumColumns", "[R, C, F](x: matrix[R, C] of F): vector[C] of F", Rule::Signature, nullptr,
     "Sums.SumColumns(x.data, x.extent(0), x.extent(1), out.data)", "Sums.SumColumnsBack(gout.data, x.extent(0), x.extent(1), grad(x))", "the tree down each column", "dx[i, j] = g[j]", ""},
    {"MeanColumns", "[R, C, F](x: matrix[R, C] of F): vector[C] of F", Rule::Signature, nullptr,
     "Sums.MeanColumns(x.data, x.extent(0), x.extent(1), out.data)", "Sums.MeanColumnsBack(gout.data, x.extent(0), x.extent(1), grad(x))", "SumColumns / R", "dx[i, j] = g[j] / R", ""},
    {"MaxColumns", "[R, C, F](x: matrix[R, C] of F): vector[C] of F", Rule::Signature, nullptr,
     "Sums.MaxColumns(x.data, x.extent(0), x.extent(1), out.data)", "Sums.MaxColumnsBack(gout.data, x.data, x.extent(0), x.extent(1), grad(x))", "the largest of each column", "g[j] to the first largest", "NaN wins"},

    // ---- rows ----
    {"Softmax", "[S..., D, F](x: tensor[S..., D] of F): tensor[S..., D] of F", Rule::Signature, nullptr,
     "Softmax.Softmax(x.data, x.rows, x.last, out.data)", "Softmax.SoftmaxBack(gout.data, out.data, x.rows, x.last, grad(x))",
     "e = Exp(x - m), y = e / Sum(e), m the row's maximum", "dx = y * (g - Sum(g * y))", "+inf gives NaN; a row of -inf is zeros with zero gradient"},
    {"LogSoftmax", "[S..., D, F](x: tensor[S..., D] of F): tensor[S..., D] of F", Rule::Signature, nullptr,
     "Softmax.LogSoftmax(x.data, x.rows, x.last, out.data)", "Softmax.LogSoftmaxBack(gout.data, out.data, x.rows, x.last, grad(x))",
     "d = x - m, y = d - Log(Sum(Exp(d)))", "dx = g - Exp(y) * Sum(g)", ""},
    {"LayerNorm", "[S..., D, F](x: tensor[S..., D] of F, gain: vector[D] of F := none, bias: vector[D] of F := none, eps: float64 := 1e-5): tensor[S..., D] of F",
     Rule::Signature, nullptr, "Norm.LayerNorm(x.data, gain.data, bias.data, eps, x.rows, x.last, out.data, save(2 * x.rows))",
     "Norm.LayerNormBack(gout.data, x.data, gain.data, saved, x.rows, x.last, grad(x), grad(gain), grad(bias))",
     "d = x - x[0]; c = d - Mean(d); y = (c * (1 / Sqrt(Mean(c * c) + eps))) * gain + bias", "docs/vocabulary-orders.md", "a constant row gives the bias exactly"},
    {"RmsNorm", "[S..., D, F](x: tensor[S..., D] of F, gain: vector[D] of F := none, eps: float64): tensor[S..., D] of F", Rule::Signature, nullptr,
     "Norm.RmsNorm(x.data, gain.data, eps, x.rows, x.last, out.data, save(x.rows))",
     "Norm.RmsNormBack(gout.data, x.data, gain.data, saved, x.rows, x.last, grad(x), grad(gain))",
     "y = (x * (1 / Sqrt(Mean(x * x) + eps))) * gain", "docs/vocabulary-orders.md", "a zero row gives zeros"},
    {"CrossEntropy", "[S..., C, F](scores: tensor[S..., C] of F, targets: tensor[S...] of int32, ignore: int := -2147483649, count: int := 0): float", Rule::Signature, nullptr,
     "Loss.CrossEntropy(scores.data, targets.data, ignore, count, scores.rows, scores.last, out.data, save(2 * scores.rows))",
     "Loss.CrossEntropyBack(gout.data, scores.data, targets.data, ignore, count, scores.rows, scores.last, saved, grad(scores))",
     "per row logsumexp(scores) - scores[target]; the tree over the counted rows / their number", "(softmax - onehot) * (g / number)",
     "a target outside traps; none counted gives 0; `count` divides instead of the number"},
    {"Attention", "[L..., Q, K, W, F](query: tensor[L..., Q, W] of F, key: tensor[L..., K, W] of F, value: tensor[L..., K, W] of F, mask: matrix[Q, K] of bool := none, heads: int := 1, causal: bool := true): tensor[L..., Q, W] of F",
     Rule::Signature, nullptr,
     "Attention.Forward(query.data, key.data, value.data, mask.data, heads, causal, query.lead, query.inner, key.inner, query.last, out.data, save(2 * query.rows * heads))",
     "Attention.Backward(gout.data, query.data, key.data, value.data, mask.data, heads, causal, query.lead, query.inner, key.inner, query.last, saved, grad(query), grad(key), grad(value))",
     "per head: s = (q · k) / Sqrt(width); p = softmax over the admitted keys; out = p · v, a product chain by key position", "docs/vocabulary-orders.md",
     "a mask says which keys each query admits, else causal does; keys that are not admitted change nothing; fewer queries than keys: the last rows"},
    {"Gather", "[V, D, I..., F](table: matrix[V, D] of F, ids: tensor[I...] of int32): tensor[I..., D] of F", Rule::Signature, nullptr,
     "Gather.Forward(table.data, ids.data, ids.count, table.extent(0), table.extent(1), out.data)",
     "Gather.Backward(gout.data, ids.data, ids.count, table.extent(0), table.extent(1), grad(table))",
     "out[i] = table[ids[i]]", "per row the tree over all positions, other positions absent", "an id outside traps"},
    {"Dropout", "[S..., F](x: tensor[S...] of F, p: float64, active: bool, key: uint64): tensor[S...] of F", Rule::Signature, nullptr,
     "Dropout.Forward(x.data, p, active, key, x.count, out.data)", "Dropout.Backward(gout.data, p, active, key, x.count, grad(x))",
     "x * (1 / (1 - p)) where the key's number at the position is not below p, else 0", "the same with g", "p = 0 or not active: x"},

    // ---- steps: change their first operands in place ----
    {"AdamW", "[S..., F](inout p: tensor[S...] of F, inout mean: tensor[S...] of F, inout square: tensor[S...] of F, gradient: tensor[S...] of F, step: int, "
              "rate: float64 := 1e-3, beta1: float64 := 0.9, beta2: float64 := 0.999, eps: float64 := 1e-8, decay: float64 := 0.01)",
     Rule::Signature, nullptr, "Optimizer.AdamW(p.data, mean.data, square.data, gradient.data, p.count, step, rate, beta1, beta2, eps, decay)", nullptr,
     "m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g g; p = p (1 - rate decay) - rate (m / (1 - b1^t)) / (Sqrt(v / (1 - b2^t)) + eps)", "", ""},
    {"Sgd", "[S..., F](inout p: tensor[S...] of F, gradient: tensor[S...] of F, rate: float64)", Rule::Signature, nullptr,
     "Optimizer.Sgd(p.data, gradient.data, p.count, rate)", nullptr, "p = p - rate * g", "", ""},
    {"Momentum", "[S..., F](inout p: tensor[S...] of F, inout speed: tensor[S...] of F, gradient: tensor[S...] of F, rate: float64, momentum: float64 := 0.9)",
     Rule::Signature, nullptr, "Optimizer.Momentum(p.data, speed.data, gradient.data, p.count, rate, momentum)", nullptr, "v = momentum * v + g; p = p - rate * v", "", ""},
};

}  // namespace

const std::vector<Row>& rows() { return table; }

const Row* find(std::string_view name) {
  static const std::map<std::string_view, const Row*> byName = [] {
    std::map<std::string_view, const Row*> m;
    for (const Row& r : table) m.emplace(r.name, &r);
    return m;
  }();
  auto it = byName.find(name);
  return it == byName.end() ? nullptr : it->second;
}

}  // namespace mica::vocabulary
