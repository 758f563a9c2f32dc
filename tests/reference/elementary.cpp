// Elementary functions: bit patterns in, distances of bit patterns out.
#include "elementary.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <sstream>

namespace {

double fromBits(uint64_t bits, bool single) {
  if (single) {
    uint32_t narrow = static_cast<uint32_t>(bits);
    float f;
    std::memcpy(&f, &narrow, sizeof f);
    return f;
  }
  double d;
  std::memcpy(&d, &bits, sizeof d);
  return d;
}

// The place of a number among all of its type, so that neighbours differ by 1 and -0 stands just below +0.
int64_t place(double value, bool single) {
  if (single) {
    float f = static_cast<float>(value);
    int32_t bits;
    std::memcpy(&bits, &f, sizeof bits);
    return bits < 0 ? -1 - static_cast<int64_t>(bits & 0x7fffffff) : bits;
  }
  int64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits < 0 ? -1 - (bits & 0x7fffffffffffffff) : bits;
}

void writeTensor(std::string& out, const std::string& name, const std::vector<double>& values) {
  out += "tensor " + name + " " + std::to_string(values.size()) + "\n";
  char digits[40];
  for (double v : values) {
    if (std::isnan(v)) std::snprintf(digits, sizeof digits, "nan");
    else std::snprintf(digits, sizeof digits, "%.17g", v);
    out += std::string(digits) + "\n";
  }
}

// The distance that a function may miss the right answer by, in steps of its type.
std::string compareResults(const MathFile& file, const std::string& name, const Case& got) {
  auto found = got.tensors.find(name);
  if (found == got.tensors.end()) return name + " is missing\n";
  const std::vector<double>& values = found->second.values;
  if (values.size() != file.result.size()) return name + " has the wrong length\n";
  int64_t allowed = file.single ? 0 : 1;
  size_t bad = 0, first = 0;
  for (size_t i = 0; i < values.size(); i++) {
    double expected = file.result[i];
    bool right = std::isnan(expected) ? std::isnan(values[i])
                 : !std::isnan(values[i]) && std::llabs(place(values[i], file.single) - place(expected, file.single)) <= allowed;
    if (!right && bad++ == 0) first = i;
  }
  if (bad == 0) return "";
  char line[200];
  std::snprintf(line, sizeof line, "%s: %zu of %zu differ, the first at %a: %a, expected %a\n", name.c_str(), bad, values.size(),
                file.x[first], values[first], file.result[first]);
  return line;
}

}  // namespace

std::string parseMath(const std::string& name, const std::string& text, MathFile& into) {
  size_t bar = name.rfind('_');
  into.function = name.substr(0, bar);
  std::string type = bar == std::string::npos ? "" : name.substr(bar + 1);
  if (type != "f32" && type != "f64") return "the name says neither f32 nor f64";
  into.single = type == "f32";
  std::stringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::stringstream words(line);
    std::vector<double> values;
    for (std::string word; words >> word;) values.push_back(fromBits(std::strtoull(word.c_str(), nullptr, 16), into.single));
    if (values.size() < 2 || values.size() > 3) return "a line of " + std::to_string(values.size()) + " numbers";
    into.x.push_back(values[0]);
    if (values.size() == 3) into.y.push_back(values[1]);
    into.result.push_back(values.back());
  }
  if (!into.y.empty() && into.y.size() != into.x.size()) return "lines of different lengths";
  return "";
}

std::string mathRequest(const MathFile& file) {
  std::string out = "attr op math_" + file.function + "_" + (file.single ? "f32" : "f64") + "\n";
  writeTensor(out, "in.x", file.x);
  if (!file.y.empty()) writeTensor(out, "in.y", file.y);
  return out;
}

std::string compareMath(const MathFile& file, const Case& got) {
  // `out` was computed on a whole tensor, `out.scalar` one number at a time.
  return compareResults(file, "out", got) + compareResults(file, "out.scalar", got);
}
