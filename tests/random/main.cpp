// The two oracles: random programs in the interpreter and natively at each tier.
//   random --mica build/mica --work DIR [--programs N] [--functions N] [--seed S] [--jobs J] [--group NAME] [--seconds N] [--traps N] [--no-shrink]
//   random --write GROUP [--seed S] [--functions N]       prints a program
// Without a group the programs go through all of them; with --seconds no program is begun after that time, with --traps one
// is left after so many traps (each costs a run in every way).
// Ends with `N passed, N failed`, counted in functions; a program with a difference counts as failed as a whole.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "random/compare.h"
#include "random/program.h"
#include "random/shrink.h"

using namespace mica::random;

namespace {

struct Options {
  CompareOptions compare;
  std::string work = "build/random-work", group, write;
  int programs = 9, functions = 200, jobs = 2, seconds = 0;
  uint64_t seed = 1;
  bool shrinks = true;
};

struct Count { long functions = 0, programs = 0, failed = 0, runs = 0, traps = 0; };

int usage() {
  std::fprintf(stderr, "usage: random [--mica PATH] [--work DIR] [--programs N] [--functions N] [--seed S] [--jobs J] [--group NAME] [--seconds N] [--traps N] [--no-shrink] [--write GROUP]\n");
  return 2;
}

bool parse(int argc, char** argv, Options& o) {
  for (int i = 1; i < argc; i++) {
    std::string word = argv[i];
    if (word == "--no-shrink") { o.shrinks = false; continue; }
    if (i + 1 >= argc) return false;
    std::string v = argv[++i];
    if (word == "--mica") o.compare.mica = v;
    else if (word == "--work") o.work = v;
    else if (word == "--programs") o.programs = std::atoi(v.c_str());
    else if (word == "--functions") o.functions = std::atoi(v.c_str());
    else if (word == "--seed") o.seed = std::strtoull(v.c_str(), nullptr, 10);
    else if (word == "--traps") o.compare.traps = std::atoi(v.c_str());
    else if (word == "--jobs") o.jobs = std::atoi(v.c_str());
    else if (word == "--seconds") o.seconds = std::atoi(v.c_str());
    else if (word == "--group") o.group = v;
    else if (word == "--write") o.write = v;
    else return false;
  }
  return true;
}

// How the programs of a run are shared out: the costly ones are rare.
constexpr Group Cycle[] = {Group::Scalars, Group::Flow, Group::Text, Group::Data, Group::Calls, Group::Owners, Group::Tensors, Group::Everything,
                           Group::Scalars, Group::Flow, Group::Text, Group::Data, Group::Calls, Group::Owners, Group::Scalars, Group::Flow,
                           Group::Text, Group::Data, Group::Scalars, Group::Flow, Group::Text, Group::Tape, Group::Scalars, Group::Flow, Group::Calls};

std::vector<Group> groupsOf(const std::string& wanted) {
  std::vector<Group> all;
  for (int g = 0; g < GroupCount; g++) {
    if (wanted.empty() || wanted == name(Group(g))) all.push_back(Group(g));
  }
  return all;
}

class Run {
 public:
  explicit Run(const Options& o) : options(o), groups(groupsOf(o.group)), counts(GroupCount) {}

  int all() {
    std::vector<std::thread> threads;
    for (int j = 0; j < options.jobs; j++) threads.emplace_back([this, j] { job(j); });
    for (std::thread& t : threads) t.join();
    long passed = 0, failed = 0;
    for (Group g : groups) {
      if (counts[size_t(g)].programs == 0) continue;
      const Count& c = counts[size_t(g)];
      std::printf("%-10s %8ld functions in %ld programs, %ld runs, %ld traps, %ld programs differ\n", name(g), c.functions, c.programs, c.runs, c.traps, c.failed);
      failed += c.failed * options.functions;
      passed += c.functions - c.failed * options.functions;
    }
    std::printf("%ld passed, %ld failed\n", passed, failed);
    return failed ? 1 : 0;
  }

 private:
  const Options& options;
  std::vector<Group> groups;
  std::vector<Count> counts;
  std::atomic<int> next{0};
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::mutex lock;

  bool late() const { return options.seconds > 0 && std::chrono::steady_clock::now() - start > std::chrono::seconds(options.seconds); }

  // The n-th program is of the n-th group in the cycle, or of the one that was asked for.
  void job(int j) {
    for (int n = next++; n < options.programs && !late(); n = next++) {
      Group g = groups.size() == 1 ? groups[0] : Cycle[size_t(n) % std::size(Cycle)];
      uint64_t seed = options.seed + uint64_t(n);
      CompareOptions c = options.compare;
      c.folder = options.work + "/" + std::to_string(j);
      c.threads = featuresOf(g).tensors;
      std::string text = generate(g, options.functions, seed);
      Comparison result = mica::random::compare(c, text);
      {
        std::lock_guard<std::mutex> hold(lock);
        Count& count = counts[size_t(g)];
        count.functions += result.leftAt >= 0 ? result.leftAt : options.functions;
        count.programs++;
        count.runs += result.runs;
        count.traps += result.traps;
        count.failed += !result.difference.empty();
      }
      if (!result.difference.empty()) tell(g, seed, c, text, result);
    }
  }

  void tell(Group g, uint64_t seed, const CompareOptions& c, const std::string& text, const Comparison& result) {
    std::string path = options.work + "/" + name(g) + "-" + std::to_string(seed);
    std::ofstream(path + ".mica", std::ios::binary) << text;
    std::string small;
    if (options.shrinks) {
      small = shrink(text, 1500, [&](const std::string& t) { return mica::random::compare(c, t).kind == result.kind; });
      std::ofstream(path + "-small.mica", std::ios::binary) << small;
    }
    std::lock_guard<std::mutex> hold(lock);
    std::printf("== %s, seed %llu (%s.mica)\n%s%s\n", name(g), static_cast<unsigned long long>(seed), path.c_str(), result.difference.c_str(), small.c_str());
    std::fflush(stdout);
  }
};

}  // namespace

int main(int argc, char** argv) {
  Options o;
  if (!parse(argc, argv, o)) return usage();
  if (!o.write.empty()) o.group = o.write;
  if (groupsOf(o.group).empty()) return usage();
  if (!o.write.empty()) {
    std::fputs(generate(groupsOf(o.write)[0], o.functions, o.seed).c_str(), stdout);
    return 0;
  }
  std::filesystem::create_directories(o.work);
  return Run(o).all();
}
