// Paths of places and when two of them can be the same memory (rules.md, 2).
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "frontend/tree.h"

namespace mica::ownership {

// An index as a sum of constants and variables that do not change in between; unknown when it is anything else.
struct Linear {
  bool known = false;
  int64_t constant = 0;
  std::vector<std::pair<uint64_t, int64_t>> terms;   // (variable, factor), sorted by variable
  bool operator==(const Linear&) const = default;
};

Linear linearConstant(int64_t);
Linear linearTerm(uint64_t variable);
Linear linearSum(const Linear&, const Linear&, int64_t factor);   // a + factor * b
Linear linearProduct(const Linear&, const Linear&);

// The part of one dimension that a subscript takes: from `low` up to, without, `high`. Unknown bounds may be anything.
struct Axis {
  Linear low, high;
  bool whole = false;
  bool operator==(const Axis&) const = default;
};

struct Step {
  enum class Form : uint8_t { Field, Part /* of an optional, choice or box */, Element, Key, Slice } form = Form::Field;
  uint32_t index = 0;                                // Field: which
  std::vector<Axis> axes;                            // Element, Slice
  std::string key;                                   // Key: the literal
  bool keyKnown = false;
};

// A variable followed by fields, indices and slices. Without a root it is a value that nobody else can reach.
struct Path {
  LocalId root;
  std::vector<Step> steps;
  explicit operator bool() const { return bool(root); }
};

enum class Meet : uint8_t { Apart, Maybe, Same };    // Maybe: it depends on indices or keys that are not known

Meet meet(const Path&, const Path&);

}  // namespace mica::ownership
