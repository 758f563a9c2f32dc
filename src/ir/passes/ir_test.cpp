// See ir_test.h.
#include "ir/passes/ir_test.h"

#include <cstdio>
#include <fstream>
#include <sstream>

#include "ir/passes/passes.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace mica::ir {

namespace {

const char* const expectLine = "; expect\n";

// The words of the first line after "; test": passes=…, maxvector=… and keep=….
bool readHeader(const std::string& text, std::vector<std::string>& passes, PassOptions& options, std::string& fault) {
  std::istringstream line(text.substr(0, text.find('\n')));
  std::string word;
  if (!(line >> word) || word != ";" || !(line >> word) || word != "test") {
    fault = "the first line must be `; test passes=...`";
    return false;
  }
  while (line >> word) {
    if (word.starts_with("passes=")) {
      std::istringstream names(word.substr(7));
      for (std::string name; std::getline(names, name, ',');) {
        if (!findPass(name)) {
          fault = "there is no pass `" + name + "`";
          return false;
        }
        passes.push_back(name);
      }
    } else if (word.starts_with("maxvector=")) {
      options.maxVectorBytes = options.levelVectorBytes = unsigned(std::stoul(word.substr(10)));
    } else if (word.starts_with("keep=")) {
      std::string wanted = word.substr(5);
      options.keep = [wanted](const Module& m, const Function& f) { return m.nameOf(f.symbol) == wanted; };
    } else {
      fault = "unknown word `" + word + "` in the first line";
      return false;
    }
  }
  return true;
}

}  // namespace

std::string irTestText(const std::string& text, bool& good) {
  good = false;
  std::vector<std::string> passes;
  PassOptions options;
  options.verifyEach = true;
  std::string fault;
  if (!readHeader(text, passes, options, fault)) return fault + "\n";
  Module m;
  if (!parse(text.substr(0, text.find(expectLine)), m, fault)) return fault + "\n";
  std::vector<std::string> messages = verify(m);
  if (!messages.empty()) {
    std::string all;
    for (const std::string& message : messages) all += message + "\n";
    return all;
  }
  runPasses(m, passes, options);
  good = true;
  return print(m);
}

int irTest(const std::string& path, bool update) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "error: cannot read %s\n", path.c_str());
    return 2;
  }
  std::stringstream whole;
  whole << in.rdbuf();
  std::string text = whole.str();
  bool good = false;
  std::string result = irTestText(text, good);
  if (!update) {
    std::fputs(result.c_str(), stdout);
    return good ? 0 : 1;
  }
  std::string updated = text.substr(0, text.find(expectLine)) + expectLine;
  std::istringstream lines(result);
  for (std::string line; std::getline(lines, line);) updated += line.empty() ? ";\n" : "; " + line + "\n";
  std::ofstream out(path, std::ios::binary);
  out << updated;
  out.close();
  if (!out) {
    std::fprintf(stderr, "error: cannot write %s\n", path.c_str());
    return 2;
  }
  return 0;
}

}  // namespace mica::ir
