// The signature column of a vocabulary row, read: names in brackets, parameters with their shapes, results.
#pragma once
#include <string>
#include <vector>

#include "frontend/vocabulary.h"

namespace mica {

struct Signature {
  struct Dim { std::string name; bool pack = false; };                      // `S...`, `D`, `1`
  struct Shape { std::string base, element; std::vector<Dim> dims; bool optional = false; };   // base: tensor, float, or a scalar type
  struct Param { std::string name; Shape type; bool isInout = false; std::string defaultText; };
  std::vector<std::string> generics;
  std::vector<Param> params;
  std::vector<Shape> results;                                               // none, one, or the parts of a tuple
};

const Signature& signatureOf(const vocabulary::Row*);

}  // namespace mica
