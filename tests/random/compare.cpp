#include "random/compare.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "harness/process.h"

namespace mica::random {

namespace {

struct Way {
  std::string name;                     // as it is reported
  std::vector<std::string> command;
  std::string threads;
  bool release = false;
};

std::string firstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// A line of diagnosis without names and numbers, which change as a program shrinks.
std::string withoutNumbers(const std::string& text) {
  std::string result;
  for (char c : firstLine(text)) {
    if (!(c >= '0' && c <= '9')) result += c;
  }
  return result;
}

ProcessResult run(const Way& way, int from, double seconds) {
  ProcessRequest r;
  r.command = way.command;
  if (from > 0) r.command.insert(r.command.end(), {"--from", std::to_string(from)});
  if (!way.threads.empty()) r.environment = {{"MICA_THREADS", way.threads}};
  r.seconds = seconds;
  return runProcess(r);
}

// Which of the functions that `Main` calls one after another has trapped: its chain ends `in CallN`, `in Main`.
int trappedCall(const std::string& errors) {
  size_t at = errors.rfind(" in Call");
  return at == std::string::npos ? -1 : std::atoi(errors.c_str() + at + 8);
}

// What the release tier does otherwise: integers wrap, floats saturate.
bool onlyOutsideOfRelease(const std::string& errors) {
  return errors.rfind("trap: overflow", 0) == 0 || errors.rfind("trap: the value does not fit", 0) == 0;
}

std::string firstDifference(const std::string& expected, const std::string& got) {
  size_t i = 0;
  while (i < expected.size() && i < got.size() && expected[i] == got[i]) i++;
  size_t start = i ? expected.rfind('\n', i - 1) : std::string::npos;
  start = start == std::string::npos ? 0 : start + 1;
  auto line = [&](const std::string& s) { return start < s.size() ? firstLine(s.substr(start)) : "(nothing)"; };
  return "    interpreter: " + line(expected) + "\n    here:        " + line(got) + "\n";
}

class Runner {
 public:
  Runner(const CompareOptions& o, Comparison& c) : options(o), result(c) {}

  void run(const std::string& text) {
    std::filesystem::create_directories(options.folder);
    std::string file = options.folder + "/program.mica";
    std::ofstream(file, std::ios::binary) << text;
    if (!build(file)) return;
    Way interpreter{"interpreter", {options.mica, "run", "--interpret", file}, "", false};
    for (int from = 0; from >= 0;) from = segment(interpreter, from);
  }

 private:
  const CompareOptions& options;
  Comparison& result;
  std::vector<Way> ways;

  void report(const std::string& kind, const std::string& text) {
    if (!result.difference.empty()) return;
    result.kind = kind;
    result.difference = text;
  }

  bool build(const std::string& file) {
    for (const char* tier : {"debug", "checked", "release"}) {
      std::string program = options.folder + "/" + tier;
      ProcessRequest r;
      r.command = {options.mica, "build", "--tier", tier, file, "-o", program};
      if (tier != std::string("release")) r.command.push_back("--verify");   // checked has the same passes
      r.seconds = options.seconds;
      ProcessResult built = runProcess(r);
      if (built.timedOut || built.status != 0) {
        report("build: " + withoutNumbers(built.err), std::string("the tier ") + tier + " does not build (status " + std::to_string(built.status) + "):\n" + built.err.substr(0, 2000));
        return false;
      }
      bool release = tier == std::string("release");
      ways.push_back({tier, {program}, options.threads ? "2" : "", release});
      if (options.threads) ways.push_back({std::string(tier) + " on one thread", {program}, "1", release});
    }
    return true;
  }

  // From function `from` on, up to the end (then -1) or a trap (then the function behind it).
  int segment(const Way& interpreter, int from) {
    ProcessResult wanted = random::run(interpreter, from, options.seconds);
    result.runs++;
    bool trapped = wanted.status == 134;
    if (wanted.timedOut || (wanted.status != 0 && !trapped)) {
      report("interpreter: " + withoutNumbers(wanted.err), "the interpreter ends with status " + std::to_string(wanted.status) + (wanted.timedOut ? " (out of time)" : "") + ":\n" + wanted.err.substr(0, 2000));
      return -1;
    }
    int at = trapped ? trappedCall(wanted.err) : -1;
    if (trapped && at < 0) report("chain", "the trap's chain does not lead to Main:\n" + wanted.err);
    for (const Way& way : ways) check(way, from, wanted);
    if (!trapped || !result.difference.empty()) return -1;
    if (++result.traps < options.traps) return at + 1;
    result.leftAt = at + 1;
    return -1;
  }

  void check(const Way& way, int from, const ProcessResult& wanted) {
    ProcessResult got = random::run(way, from, options.seconds);
    result.runs++;
    std::string title = way.name + (from > 0 ? " from " + std::to_string(from) : "");
    bool loose = way.release && wanted.status == 134 && onlyOutsideOfRelease(wanted.err);
    bool same = loose ? got.out.compare(0, wanted.out.size(), wanted.out) == 0 : got.out == wanted.out;
    if (!same) return report(way.name + ": output", title + ": output differs\n" + firstDifference(wanted.out, got.out) + firstLine(wanted.err) + "\n" + firstLine(got.err) + "\n");
    bool ends = loose ? got.status == 0 || got.status == 134 : got.status == wanted.status;
    if (!ends || got.timedOut)
      return report(way.name + ": status", title + ": status " + std::to_string(got.status) + ", wanted " + std::to_string(wanted.status) + "\n" + wanted.err + got.err);
    if (!loose && got.err != wanted.err) report(way.name + ": errors", title + ": standard error differs\n" + wanted.err + "here:\n" + got.err);
  }
};

}  // namespace

Comparison compare(const CompareOptions& options, const std::string& text) {
  Comparison c;
  Runner(options, c).run(text);
  return c;
}

}  // namespace mica::random
