// The vocabulary: one table that drives the checker, lowering, the tape and docs/vocabulary.md. A new operation is a row here, its kernels in
// src/rt, and a test.
//
// A row's `signature` is Mica syntax after the name. Its brackets bind F (the float element type: float32 or float64), T (any element type), extent names, and
// at most one pack `S...` that stands for any number of extents in the tensor types where it is written (`tensor[S..., D] of F`; with a pack of
// none it is a vector). `float` in a signature is the scalar of F. A parameter with `:= none` may be left out. Where the rule is not Signature, code decides the shape.
//
// `forward` and `backward` are calls of kernels: generic functions over F (or T) in src/rt, called with raw pointers and integers:
//   x.data        pointer to the first element of operand x (made contiguous first), or to the value of a scalar `float` operand; Raw.Null when left out
//   x.count       number of elements; x.rows: elements / last extent; x.last: last extent; x.extent(k); x.inner: the last but one (1 for vectors);
//                 x.lead: elements / (inner * last)
//   out.data …    the result, allocated before the call (a scalar result: pointer to it)
//   name          a scalar parameter, by value
//   save(n)       pointer to n elements of F kept for the backward call (n: a product of the integer terms above, written with *); in backward: `saved`
//   12            a literal
//   gout.data     (backward) the upstream gradient, of out's shape
//   grad(x)       (backward) pointer to a fresh buffer of x's shape that the kernel fills, or Raw.Null when x is not tracked
// A scalar `float` operand counts as a tensor of one element (x.count is 1), tracked or not.
// A kernel that traps by rule (index outside) calls Raw.Trap itself.
#pragma once
#include <string_view>
#include <vector>

namespace mica::vocabulary {

enum class Rule : unsigned char {
  Signature,       // shapes as the signature says
  Pointwise,       // two operands: equal shapes, a scalar, or the trailing extents of the other (+ - .* ./)
  Product,         // linear algebra `*`; forward may use: batch, m, k, n, aTransposed, bTransposed (1 when a Transpose stood directly under `*`)
  Reduce,          // Sum, Mean, Max, Min of a whole tensor: a scalar
};

struct Row {
  const char* name;         // `+`, `LayerNorm`
  const char* signature;
  Rule rule;
  const char* scalar;       // function for plain scalar operands ("Math.Exp"), or null
  const char* forward;      // "Norm.LayerNorm(x.data, gain.data, bias.data, eps, x.rows, x.last, out.data, save(2 * x.rows))"
  const char* backward;     // null: not differentiable
  const char* formula;      // in evaluation order, for docs/vocabulary.md
  const char* gradient;
  const char* edges;
};

const std::vector<Row>& rows();
const Row* find(std::string_view name);   // null when there is none

}  // namespace mica::vocabulary
