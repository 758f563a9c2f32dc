// reference: runs the reference cases of a folder on the Mica driver and compares.
//
//     reference --mica build/mica --work FOLDER CASES
//
// Each `*.txt` of CASES is a case, and each of its subfolder `math` a list of correctly rounded values. The driver
// (tests/reference/driver.mica) is compiled once; it reads a request and prints what it computed, or says that it does
// not know the operation. Such cases are listed by name; the last line is `N passed, N failed`.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "case.h"
#include "harness/process.h"
#include "elementary.h"

namespace fs = std::filesystem;

namespace {

struct Run {
  std::string driver, work;
  size_t passed = 0, failed = 0;
  std::map<std::string, std::vector<std::string>> missing;   // operation -> cases
};

std::string readWhole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<fs::path> textsIn(const fs::path& folder) {
  std::vector<fs::path> found;
  if (fs::is_directory(folder))
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.is_regular_file() && entry.path().extension() == ".txt") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

// Has the driver answer a request; a problem is told.
std::string ask(const Run& run, const std::string& request, Case& answer) {
  std::ofstream(run.work + "/request.txt", std::ios::binary) << request;
  ProcessRequest process;
  process.command = {run.driver, "request.txt"};
  process.directory = run.work;
  process.seconds = 120;
  ProcessResult result = runProcess(process);
  if (result.timedOut) return "the driver ran too long\n";
  if (result.status != 0) return "the driver ended with status " + std::to_string(result.status) + ": " + result.err + "\n";
  std::string problem = parseCase(result.out, answer);
  return problem.empty() ? "" : "the driver's answer: " + problem + "\n";
}

void judge(Run& run, const std::string& name, const std::string& operation, const std::string& problem, const Case& answer) {
  if (problem.empty() && answer.attributes.count("missing") > 0) {
    run.missing[operation].push_back(name);
  } else if (problem.empty()) {
    run.passed++;
  } else {
    run.failed++;
    std::cout << "FAILED " << name << " (" << operation << ")\n";
    std::stringstream lines(problem);
    size_t most = 8;
    for (std::string line; std::getline(lines, line) && most-- > 0;) std::cout << "  " << line << "\n";
  }
}

void runCase(Run& run, const fs::path& path) {
  Case expected, answer;
  std::string problem = parseCase(readWhole(path), expected);
  if (problem.empty()) problem = ask(run, writeRequest(expected), answer);
  if (problem.empty() && answer.attributes.count("missing") == 0) problem = compareCase(expected, answer);
  judge(run, expected.attribute("case", path.stem().string()), expected.attribute("op", "?"), problem, answer);
}

void runMath(Run& run, const fs::path& path) {
  MathFile file;
  Case answer;
  std::string problem = parseMath(path.stem().string(), readWhole(path), file);
  if (problem.empty()) problem = ask(run, mathRequest(file), answer);
  if (problem.empty() && answer.attributes.count("missing") == 0) problem = compareMath(file, answer);
  judge(run, "math/" + path.stem().string(), file.function, problem, answer);
}

[[noreturn]] void usage(const std::string& problem) {
  std::cerr << "reference: " << problem << "\nusage: reference --mica PATH --work FOLDER CASES\n";
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  std::string mica, cases;
  Run run;
  for (int i = 1; i < argc; i++) {
    std::string arg = argv[i];
    if (arg == "--mica" && i + 1 < argc) mica = fs::absolute(argv[++i]).string();
    else if (arg == "--work" && i + 1 < argc) run.work = fs::absolute(argv[++i]).string();
    else if (cases.empty() && arg[0] != '-') cases = arg;
    else usage("unknown argument " + arg);
  }
  if (mica.empty() || run.work.empty() || cases.empty()) usage("something is left out");
  if (!fs::is_directory(cases)) usage("there is no folder " + cases);
  fs::create_directories(run.work);
  run.driver = run.work + "/driver";
  ProcessRequest build;
  build.command = {mica, "build", "tests/reference/driver.mica", "-o", run.driver};
  build.seconds = 120;
  ProcessResult built = runProcess(build);
  if (built.status != 0 || built.timedOut) {
    std::cout << "the driver did not compile:\n" << built.err << built.out << "0 passed, 1 failed\n";
    return 1;
  }
  for (const fs::path& path : textsIn(cases)) runCase(run, path);
  for (const fs::path& path : textsIn(fs::path(cases) / "math")) runMath(run, path);
  if (!run.missing.empty()) std::cout << "operations that do not exist yet, and their cases:\n";
  for (const auto& [operation, names] : run.missing) {
    std::cout << "  " << operation << ":";
    for (const std::string& name : names) std::cout << " " << name;
    std::cout << "\n";
  }
  std::cout << run.passed << " passed, " << run.failed << " failed\n";
  return run.failed == 0 ? 0 : 1;
}
