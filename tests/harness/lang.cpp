// Language tests: the same program in the interpreter and natively at each tier must do the same, and that is written
// in the file. The native ways run with different numbers of pool threads, on which nothing may depend.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "process.h"
#include "tests.h"

namespace {

std::vector<std::string> words(const std::string& text) {
  std::stringstream in(text);
  std::vector<std::string> result;
  for (std::string word; in >> word;) result.push_back(word);
  return result;
}

std::string indent(const std::string& text, size_t most = 40) {
  std::string result;
  for (const std::string& line : splitLines(text)) {
    if (most-- == 0) return result + "      …\n";
    result += "      " + line + "\n";
  }
  return result;
}

std::vector<std::string> valuesOf(const TestFile& file, const std::string& key, const std::string& way) {
  std::vector<std::string> values;
  for (const Directive& d : file.of(key, way)) values.push_back(d.value);
  return values;
}

std::vector<std::string> waysOf(const TestFile& file, const Options& options) {
  std::vector<std::string> own = words(file.lastOf("tiers", "", ""));
  if (own.empty()) return options.ways;
  std::vector<std::string> result;
  for (const std::string& way : options.ways)
    if (std::find(own.begin(), own.end(), way) != own.end()) result.push_back(way);
  return result;
}

// Lays the test's own files into a fresh folder.
std::string prepareFolder(const TestFile& file, const std::string& folder, const std::string& way) {
  std::string place = folder + "/" + way;
  std::filesystem::remove_all(place);
  std::filesystem::create_directories(place);
  std::vector<std::pair<std::string, std::string>> contents;
  for (const Directive& d : file.of("file", way)) {
    if (contents.empty() || contents.back().first != d.argument) contents.push_back({d.argument, ""});
    contents.back().second += d.value + "\n";
  }
  for (const auto& [name, text] : contents) writeFile(place + "/" + name, text);
  return place;
}

std::string joinLines(const std::vector<std::string>& lines) {
  std::string result;
  for (const std::string& line : lines) result += line + "\n";
  return result;
}

// Runs the program one way; a failure to compile is told in `problem`.
ProcessResult runWay(const TestFile& file, const Options& options, const std::string& folder, const std::string& way,
                     std::string& problem) {
  ProcessRequest request;
  request.directory = prepareFolder(file, folder, way);
  request.seconds = options.seconds;
  std::string program = request.directory + "/program";
  std::vector<std::string> sets;
  for (const std::string& set : valuesOf(file, "set", way)) sets.insert(sets.end(), {"--set", set});
  if (way == "interpret") {
    request.command = {options.mica, "run", "--interpret"};
    if (!options.lines.empty())
      request.command.insert(request.command.end(), {"--lines", options.lines + "/" + std::filesystem::path(folder).filename().string()});
    request.command.insert(request.command.end(), sets.begin(), sets.end());
    request.command.push_back(file.path);
  } else {
    request.command = {options.mica, "build", "--verify", "--tier", way};
    request.command.insert(request.command.end(), sets.begin(), sets.end());
    request.command.insert(request.command.end(), {file.path, "-o", program});
    ProcessResult build = runProcess(request);
    if (build.timedOut || build.status != 0) {
      problem = build.timedOut ? "the compiler ran too long\n" : "did not compile (status " + std::to_string(build.status) + "):\n";
      problem += indent(build.err + build.out);
      return build;
    }
    if (!build.err.empty() || !build.out.empty()) problem = "the compiler said:\n" + indent(build.err + build.out);
    request.command = {program};
    std::string threads = way == "debug" ? "1" : way == "checked" ? "2" : "3";
    request.environment = {{"MICA_THREADS", threads}};
  }
  for (const std::string& word : words(file.lastOf("args", way, ""))) request.command.push_back(word);
  request.input = joinLines(valuesOf(file, "stdin", way));
  ProcessResult run = runProcess(request);
  if (run.timedOut) problem += "ran longer than " + std::to_string(static_cast<int>(options.seconds)) + " s\n";
  return run;
}

// What of this run is not as the file says.
std::string compare(const TestFile& file, const std::string& way, const ProcessResult& run) {
  std::string report;
  std::vector<Directive> traps = file.of("trap", way);
  int status = traps.empty() ? std::atoi(file.lastOf("status", way, "0").c_str()) : 134;
  std::vector<std::string> expected = valuesOf(file, "expect", way), got = splitLines(run.out);
  bool complete = run.out.empty() || run.out.back() == '\n';
  if (expected != got) report += "standard output differs (- expected, + got):\n" + diffLines(expected, got);
  else if (!complete) report += "the last line of standard output does not end\n";
  if (run.status != status)
    report += "exit status " + std::to_string(run.status) + ", expected " + std::to_string(status) + "\n";
  bool quiet = true;
  for (const Directive& d : traps) {
    std::string place = file.name + ".mica:" + d.argument + ":";
    for (const std::string& text : {place, d.value})
      if (run.err.find(text) == std::string::npos) report += "standard error lacks `" + text + "`\n";
    quiet = false;
  }
  for (const std::string& text : valuesOf(file, "error-output", way)) {
    if (run.err.find(text) == std::string::npos) report += "standard error lacks `" + text + "`\n";
    quiet = false;
  }
  if (quiet && !run.err.empty()) report += "standard error is not empty\n";
  if (!report.empty() && !run.err.empty()) report += "standard error:\n" + indent(run.err, 15);
  return report;
}

// New expectations only from a program that does the same in every way that has no lines of its own.
bool update(const TestFile& file, const std::vector<std::string>& outputs) {
  if (outputs.empty() || std::any_of(outputs.begin(), outputs.end(), [&](const std::string& o) { return o != outputs[0]; })) return false;
  for (const Directive& d : file.directives) if (d.key == "expect" && !d.only.empty()) return false;
  std::vector<std::string> lines;
  for (const std::string& line : splitLines(outputs[0])) lines.push_back(line.empty() ? "// expect:" : "// expect: " + line);
  std::string text = replaceDirectives(file, {"expect"}, lines);
  if (text == file.text) return false;
  writeFile(file.path, text);
  return true;
}

}  // namespace

Outcome runLang(const TestFile& file, const Options& options, const std::string& folder) {
  Outcome outcome;
  std::vector<std::string> outputs;
  for (const std::string& way : waysOf(file, options)) {
    std::string problem;
    ProcessResult run = runWay(file, options, folder, way, problem);
    bool built = problem.rfind("did not compile", 0) != 0 && problem.rfind("the compiler ran", 0) != 0;
    if (built) {
      if (!run.timedOut) outputs.push_back(run.out);
      problem += compare(file, way, run);
    }
    if (!problem.empty()) outcome.failure += "  " + way + ": " + problem;
  }
  if (options.update) outcome.updated = update(file, outputs);
  std::filesystem::remove_all(folder);
  return outcome;
}
