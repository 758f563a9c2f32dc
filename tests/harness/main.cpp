// harness: runs the tests that are one file each, with the expectation inside.
//
//     harness --mica build/mica [--update] [--jobs N] [--ways interpret,debug,checked,release] [--only TEXT]
//             [--known FILE] [--lines FOLDER] KIND:PATH…
//
// KIND is `lang`, `reject`, `ir` or `rules` (lang or reject, as each file says); PATH a file or a folder. In a folder
// a file whose name starts with a capital letter is a module that another test imports. `--known` names a list of
// tests, a path a line with a reason after `#`, that wait for a construct to be built: they are not run but counted and
// named as skipped. `--lines` has each interpreted program write there which of its lines ran. Failures print a diff;
// `--update` rewrites the expectations in place (read the diff of the files as code). The last line is `N passed, N failed`.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "tests.h"

namespace {

struct Test {
  std::string kind, path;
};

struct Totals {
  size_t passed = 0, failed = 0, updated = 0;
};

[[noreturn]] void usage(const std::string& problem) {
  std::cerr << "harness: " << problem << "\n"
            << "usage: harness --mica PATH [--update] [--jobs N] [--seconds N] [--ways A,B] [--only TEXT] [--known FILE] [--lines FOLDER] KIND:PATH…\n";
  std::exit(2);
}

void collect(const std::string& kind, const std::string& path, std::vector<Test>& tests) {
  namespace fs = std::filesystem;
  if (fs::is_regular_file(path)) {
    tests.push_back({kind, fs::absolute(path).string()});
    return;
  }
  if (!fs::is_directory(path)) usage("there is no " + path);
  std::vector<std::string> found;
  std::string extension = kind == "ir" ? ".ir" : ".mica";
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && entry.path().extension() == extension && !std::isupper(static_cast<unsigned char>(name[0])))
      found.push_back(fs::absolute(entry.path()).string());
  }
  std::sort(found.begin(), found.end());
  for (const std::string& file : found) tests.push_back({kind, file});
}

// The paths that a list names, before `#`.
std::set<std::string> readKnown(const std::string& list) {
  std::set<std::string> known;
  for (const std::string& line : splitLines(readFile(list))) {
    std::string path = line.substr(0, line.find_first_of(" #"));
    if (!path.empty()) known.insert(std::filesystem::absolute(path).string());
  }
  return known;
}

Outcome runOne(const Test& test, const Options& options, size_t number) {
  TestFile file = readTestFile(test.path);
  std::string folder = options.work + "/" + file.name + "-" + std::to_string(number);
  if (test.kind == "ir") return runIr(file, options, folder);
  if (test.kind == "reject" || file.isReject()) {
    if (!file.isReject()) return {"  names no `// error LINE: SENTENCE`\n", false};
    return runReject(file, options);
  }
  return runLang(file, options, folder);
}

Totals runAll(const std::vector<Test>& tests, const Options& options) {
  Totals totals;
  std::atomic<size_t> next{0};
  std::mutex printing;
  auto worker = [&] {
    for (size_t i; (i = next++) < tests.size();) {
      Outcome outcome = runOne(tests[i], options, i);
      std::lock_guard<std::mutex> lock(printing);
      std::string shown = std::filesystem::relative(tests[i].path).string();
      if (outcome.updated) {
        totals.updated++;
        std::cout << "updated " << shown << "\n";
      } else if (!outcome.failure.empty()) {
        std::cout << "FAILED " << shown << "\n" << outcome.failure << std::flush;
      }
      (outcome.failure.empty() ? totals.passed : totals.failed)++;
    }
  };
  std::vector<std::thread> threads;
  for (size_t j = 0; j < options.jobs; j++) threads.emplace_back(worker);
  for (std::thread& thread : threads) thread.join();
  return totals;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  std::vector<Test> tests, chosen;
  std::string only, known;
  for (int i = 1; i < argc; i++) {
    std::string arg = argv[i];
    auto value = [&]() -> std::string {
      if (i + 1 >= argc) usage(arg + " needs a value");
      return argv[++i];
    };
    if (arg == "--mica") options.mica = std::filesystem::absolute(value()).string();
    else if (arg == "--update") options.update = true;
    else if (arg == "--jobs") options.jobs = std::max(1, std::atoi(value().c_str()));
    else if (arg == "--seconds") options.seconds = std::atof(value().c_str());
    else if (arg == "--only") only = value();
    else if (arg == "--lines") options.lines = std::filesystem::absolute(value()).string();
    else if (arg == "--known") known = value();
    else if (arg == "--ways") {
      options.ways.clear();
      std::stringstream list(value());
      for (std::string way; std::getline(list, way, ',');) options.ways.push_back(way);
    } else if (size_t colon = arg.find(':'); colon != std::string::npos) collect(arg.substr(0, colon), arg.substr(colon + 1), tests);
    else usage("unknown option " + arg);
  }
  if (options.mica.empty()) usage("where is the compiler?");
  std::set<std::string> waiting;
  if (!known.empty()) waiting = readKnown(known);
  size_t skipped = 0;
  for (const Test& test : tests) {
    if (test.path.find(only) == std::string::npos) continue;
    if (waiting.count(test.path) == 0) chosen.push_back(test);
    else {
      skipped++;
      std::cout << "skipped " << std::filesystem::relative(test.path).string() << "\n";
    }
  }
  std::string pattern = (std::filesystem::temp_directory_path() / "mica-tests-XXXXXX").string();
  if (!mkdtemp(pattern.data())) usage("cannot make a folder for the tests' files");
  options.work = pattern;
  Totals totals = runAll(chosen, options);
  std::filesystem::remove_all(options.work);
  if (totals.failed > 0 && !options.update) std::cout << "(`--update` rewrites expectations in place; see tests/README.md)\n";
  if (options.update) std::cout << totals.updated << " files updated\n";
  std::cout << totals.passed << " passed, " << totals.failed << " failed";
  if (skipped > 0) std::cout << ", " << skipped << " skipped";
  std::cout << "\n";
  return totals.failed == 0 ? 0 : 1;
}
