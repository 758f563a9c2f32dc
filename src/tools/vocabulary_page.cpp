// docs/vocabulary.md from the table: for each row its signature, the formula in evaluation order, the gradient and the edge cases.
#include "tools/vocabulary_page.h"

#include <cctype>

#include "frontend/vocabulary.h"

namespace mica {

namespace {

// The rows' names in the table where programs write another one.
std::string shownName(const vocabulary::Row& row) {
  std::string name = row.name;
  if (name == "MaxAll") return "Max";
  if (name == "MinAll") return "Min";
  return name;
}

// Operators as they are written; the rest as a declaration.
std::string shownSignature(const vocabulary::Row& row) {
  std::string name = shownName(row), signature = row.signature;
  if (!isalpha(static_cast<unsigned char>(name[0]))) return "a " + name + " b";
  if (name == "Negate") return "-x";
  return name + signature;
}

std::string shapes(const vocabulary::Row& row) {
  switch (row.rule) {
    case vocabulary::Rule::Pointwise: return "Both of one shape; or one of them is a number, or has the trailing extents of the other and repeats.";
    case vocabulary::Rule::Product:
      return "`matrix[M, K] * matrix[K, N]` is `matrix[M, N]`; vectors stand for one row (left) or one column (right) and drop out of the result. A tensor "
             "beside a matrix is a matrix of its rows; two tensors multiply matrix by matrix over equal leading extents. A `Transpose` directly under the product costs nothing.";
    default: return "";
  }
}

}  // namespace

std::string vocabularyPage() {
  std::string page =
      "# The vocabulary\n\n"
      "Made from the compiler's table (src/frontend/vocabulary.cpp) by `mica vocabulary`. Every operation with a gradient is recorded inside `tape`. F is float32 or\n"
      "float64, T any element type; `S...` stands for any leading extents, none included. Formulas are in evaluation order: each operation is rounded once, sums\n"
      "follow the tree and products the chains of [the orders of arithmetic](vocabulary-orders.md). g is the upstream gradient, y the result.\n\n"
      "For all: NaN in, NaN out. A sum does not start from +0. The last extent is the axis of the operations on rows. Of equal elements the first counts. An index outside its range\n"
      "traps, a negative one too. Where operands are numbers, so is the result. An elementwise operation with an upstream gradient of 0 gives 0, however steep it is\n"
      "there: what `Select` does not choose poisons no gradient.\n";
  for (const vocabulary::Row& row : vocabulary::rows()) {
    page += "\n## `" + shownName(row) + "`" + (shownName(row) != row.name ? " of a whole tensor" : "") + "\n\n```\n" + shownSignature(row) + "\n```\n";
    std::string shape = shapes(row);
    if (!shape.empty()) page += "- Shapes: " + shape + "\n";
    if (*row.formula) page += std::string("- Value: ") + row.formula + "\n";
    if (*row.gradient) page += std::string("- Gradient: ") + row.gradient + "\n";
    if (!row.backward && !*row.gradient) page += "- Gradient: none\n";
    if (*row.edges) page += std::string("- Edges: ") + row.edges + "\n";
  }
  return page;
}

}  // namespace mica
