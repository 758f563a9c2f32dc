// Reading, writing and comparing cases.
#include "case.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>

std::string Case::attribute(const std::string& name, const std::string& otherwise) const {
  auto found = attributes.find(name);
  return found == attributes.end() ? otherwise : found->second;
}

namespace {

// A value: decimal or hexadecimal, `inf`, `-inf`, `nan`. A float32 is read as one, so that shortest digits round once.
bool parseValue(const std::string& word, bool single, double& value) {
  char* end = nullptr;
  value = single ? std::strtof(word.c_str(), &end) : std::strtod(word.c_str(), &end);
  return end != word.c_str() && *end == 0;
}

std::string parseTensor(std::istream& in, const std::string& header, Case& into) {
  std::stringstream words(header);
  std::string tensor, name;
  Tensor t;
  words >> tensor >> name >> t.type;
  size_t count = 1;
  for (std::string extent; words >> extent;) {
    t.shape.push_back(std::strtoul(extent.c_str(), nullptr, 10));
    count *= t.shape.back();
  }
  if (t.type.empty()) return "a tensor without a type: " + header;
  if (count > (size_t(1) << 28)) return "a tensor too large: " + header;
  for (std::string word; t.values.size() < count && in >> word;) {
    double value = 0;
    if (!parseValue(word, t.type == "f32", value)) return "tensor " + name + ": `" + word + "` is no number";
    t.values.push_back(value);
  }
  if (t.values.size() < count) return "tensor " + name + " ends early";
  std::string rest;
  std::getline(in, rest);
  into.order.push_back(name);
  into.tensors[name] = std::move(t);
  return "";
}

}  // namespace

std::string parseCase(const std::string& text, Case& into) {
  std::stringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.rfind("attr ", 0) == 0) {
      size_t space = line.find(' ', 5);
      std::string name = line.substr(5, space - 5);
      into.attributes[name] = space == std::string::npos ? "" : line.substr(space + 1);
    } else if (line.rfind("tensor ", 0) == 0) {
      std::string problem = parseTensor(in, line, into);
      if (!problem.empty()) return problem;
    } else {
      return "neither attribute nor tensor: " + line.substr(0, 60);
    }
  }
  return "";
}

std::string writeRequest(const Case& c) {
  std::string out;
  for (const auto& [name, value] : c.attributes)
    if (name.find("tol") == std::string::npos) out += "attr " + name + " " + value + "\n";
  for (const std::string& name : c.order) {
    if (name.rfind("in.", 0) != 0 && name != "gout") continue;
    const Tensor& t = c.tensors.at(name);
    out += "tensor " + name;
    for (size_t extent : t.shape) out += " " + std::to_string(extent);
    out += "\n";
    char digits[40];
    for (double value : t.values) {
      // 17 digits give back the same double, so also the float that it holds.
      std::snprintf(digits, sizeof digits, t.isFloat() ? "%.17g" : "%.0f", value);
      out += std::string(digits) + "\n";
    }
  }
  return out;
}

namespace {

struct Tolerance {
  double relative = 0, absolute = 0;
  bool denormals = false;          // results below the smallest normal number count as they are
};

bool passes(double got, double expected, bool isFloat, const Tolerance& t) {
  if (!isFloat) return got == expected;
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected)) return got == expected;
  if (std::isinf(static_cast<float>(expected))) return got == static_cast<float>(expected);
  if (std::isnan(got) || std::isinf(got)) return false;
  if (!t.denormals && std::fabs(expected) < 0x1p-126 && std::fabs(got) < 0x1p-126) return true;
  return std::fabs(got - expected) <= t.absolute + t.relative * std::fabs(expected);
}

// The worst element, told in a line; empty when all pass.
std::string compareTensor(const std::string& name, const Tensor& expected, const Tensor& got, const Tolerance& t) {
  if (got.values.size() != expected.values.size())
    return name + " has " + std::to_string(got.values.size()) + " elements, " + std::to_string(expected.values.size()) + " expected";
  size_t bad = 0, first = 0;
  for (size_t i = 0; i < got.values.size(); i++)
    if (!passes(got.values[i], expected.values[i], expected.isFloat(), t) && bad++ == 0) first = i;
  if (bad == 0) return "";
  char line[200];
  std::snprintf(line, sizeof line, "%s: %zu of %zu differ, the first at %zu: %.9g, expected %.9g (difference %.2e, allowed %.2e)",
                name.c_str(), bad, got.values.size(), first, got.values[first], expected.values[first],
                std::fabs(got.values[first] - expected.values[first]), t.absolute + t.relative * std::fabs(expected.values[first]));
  return line;
}

}  // namespace

std::string compareCase(const Case& expected, const Case& got) {
  bool wantsError = expected.attribute("expect") == "error";
  bool saysError = got.attributes.count("error") > 0;
  if (wantsError) return saysError ? "" : "no error was reported";
  if (saysError) return "an error was reported: " + got.attribute("error");
  std::string report;
  for (const std::string& name : expected.order) {
    if (name.rfind("out", 0) != 0 && name.rfind("grad.", 0) != 0) continue;
    auto found = got.tensors.find(name);
    if (found == got.tensors.end()) {
      report += name + " is missing\n";
      continue;
    }
    Tolerance t{std::atof(expected.attribute("rtol." + name, "1e-5").c_str()), std::atof(expected.attribute("atol." + name, "0").c_str()),
                expected.attributes.count("denormals") > 0};
    std::string problem = compareTensor(name, expected.tensors.at(name), found->second, t);
    auto other = expected.tensors.find("alt." + name);
    if (!problem.empty() && other != expected.tensors.end() && compareTensor(name, other->second, found->second, t).empty()) problem = "";
    if (!problem.empty()) report += problem + "\n";
  }
  return report;
}
