// A reference case: a file of attributes and tensors (tests/reference/README.md has the format), and what a program
// produced for it, which has the same form.
#pragma once
#include <map>
#include <string>
#include <vector>

struct Tensor {
  std::string type;                // f32 f64 i8 u8 i32 i64
  std::vector<size_t> shape;       // empty: a scalar
  std::vector<double> values;      // row-major; every value of a case is exact in a double
  bool isFloat() const { return type == "f32" || type == "f64"; }
};

struct Case {
  std::string path;
  std::map<std::string, std::string> attributes;
  std::map<std::string, Tensor> tensors;
  std::vector<std::string> order;  // the tensors' names as they stand in the file
  std::string attribute(const std::string& name, const std::string& otherwise = "") const;
};

// Answers what is wrong with the text, empty when nothing is. Values may stand on any number of lines.
std::string parseCase(const std::string& text, Case& into);

// The request that the driver reads: one value a line in decimal digits that give the exact number.
std::string writeRequest(const Case& c);

// What of `got` is not as the case says, empty when all is. Float32 tolerances; every expected tensor must be there.
std::string compareCase(const Case& expected, const Case& got);
