// The kinds of tests. Each runs one file and answers what failed, empty when all is well.
#pragma once
#include <string>
#include <vector>

#include "expectations.h"

struct Options {
  std::string mica;                  // the compiler
  std::string work;                  // a folder for what the tests write, one subfolder a test
  std::vector<std::string> ways = {"interpret", "debug", "checked", "release"};
  std::string lines;                 // a folder where interpreted programs say which lines ran; empty: nowhere
  bool update = false;               // rewrite the expectations to what the compiler does now
  double seconds = 20;               // for one run of one program
  size_t jobs = 2;
};

struct Outcome {
  std::string failure;               // a report for people
  bool updated = false;
};

// A program that must print its `// expect:` lines in the interpreter and natively at every tier.
Outcome runLang(const TestFile& file, const Options& options, const std::string& folder);
// A program that must be refused with its `// error` sentences and no others.
Outcome runReject(const TestFile& file, const Options& options);
// IR text, passes, and the IR text wanted after them.
Outcome runIr(const TestFile& file, const Options& options, const std::string& folder);
