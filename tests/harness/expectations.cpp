// Reads and rewrites the expectations inside test files; see expectations.h for the lines.
#include "expectations.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iostream>
#include <sstream>

namespace {

const char* const Keys[] = {"expect", "error-output", "status", "trap", "args", "stdin", "file", "set", "tiers", "error", "note"};

// Takes `// KEY[ways] ARGUMENT: VALUE` apart; answers false for any other line.
bool parseDirective(const std::string& line, Directive& d) {
  if (line.rfind("// ", 0) != 0) return false;
  size_t at = 3, start = at;
  while (at < line.size() && (std::isalpha(static_cast<unsigned char>(line[at])) || line[at] == '-')) at++;
  d.key = line.substr(start, at - start);
  if (std::find(std::begin(Keys), std::end(Keys), d.key) == std::end(Keys)) return false;
  if (at < line.size() && line[at] == '[') {
    size_t close = line.find(']', at);
    if (close == std::string::npos) return false;
    std::stringstream ways(line.substr(at + 1, close - at - 1));
    for (std::string way; std::getline(ways, way, ',');) d.only.push_back(way);
    at = close + 1;
  }
  size_t colon = line.find(':', at);
  if (colon == std::string::npos) return false;
  std::string argument = line.substr(at, colon - at);
  if (argument.find(' ', 1) != std::string::npos) return false;  // prose that starts with a key word
  d.argument = argument.empty() ? "" : argument.substr(1);
  bool takesArgument = d.key == "error" || d.key == "trap" || d.key == "file";
  if (takesArgument == d.argument.empty()) return false;
  size_t value = colon + 1;
  if (value < line.size() && line[value] == ' ') value++;
  d.value = line.substr(value);
  return true;
}

}  // namespace

bool TestFile::isReject() const {
  return std::any_of(directives.begin(), directives.end(), [](const Directive& d) { return d.key == "error"; });
}

std::vector<Directive> TestFile::of(const std::string& key, const std::string& way) const {
  std::vector<Directive> general, special;
  for (const Directive& d : directives) {
    if (d.key != key) continue;
    if (d.only.empty()) general.push_back(d);
    else if (std::find(d.only.begin(), d.only.end(), way) != d.only.end()) special.push_back(d);
  }
  return special.empty() ? general : special;
}

std::string TestFile::lastOf(const std::string& key, const std::string& way, const std::string& otherwise) const {
  std::vector<Directive> found = of(key, way);
  return found.empty() ? otherwise : found.back().value;
}

TestFile readTestFile(const std::string& path) {
  TestFile file;
  file.path = path;
  file.text = readFile(path);
  size_t slash = path.rfind('/'), dot = path.rfind('.');
  size_t start = slash == std::string::npos ? 0 : slash + 1;
  file.name = path.substr(start, dot - start);
  for (const std::string& line : splitLines(file.text)) {
    Directive d;
    if (parseDirective(line, d)) file.directives.push_back(d);
  }
  return file;
}

std::string replaceDirectives(const TestFile& file, const std::vector<std::string>& keys, const std::vector<std::string>& lines) {
  std::string result;
  bool placed = false;
  auto place = [&] {
    if (!placed) for (const std::string& line : lines) result += line + "\n";
    placed = true;
  };
  for (const std::string& line : splitLines(file.text)) {
    Directive d;
    if (parseDirective(line, d) && std::find(keys.begin(), keys.end(), d.key) != keys.end()) place();
    else result += line + "\n";
  }
  place();
  return result;
}

std::vector<std::string> splitLines(const std::string& text) {
  std::vector<std::string> lines;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string diffLines(const std::vector<std::string>& expected, const std::vector<std::string>& got) {
  size_t head = 0;
  while (head < expected.size() && head < got.size() && expected[head] == got[head]) head++;
  size_t tail = 0;
  while (tail + head < expected.size() && tail + head < got.size() &&
         expected[expected.size() - 1 - tail] == got[got.size() - 1 - tail]) tail++;
  std::string result;
  constexpr size_t Most = 40;  // lines of each side
  if (head > 0) result += "      " + expected[head - 1] + "\n";
  for (size_t i = head; i < expected.size() - tail && i < head + Most; i++) result += "    - " + expected[i] + "\n";
  for (size_t i = head; i < got.size() - tail && i < head + Most; i++) result += "    + " + got[i] + "\n";
  if (tail > 0) result += "      " + expected[expected.size() - tail] + "\n";
  return result;
}

std::string readFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::cerr << "harness: cannot read " << path << "\n";
    std::exit(2);
  }
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void writeFile(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) {
    std::cerr << "harness: cannot write " << path << "\n";
    std::exit(2);
  }
}
