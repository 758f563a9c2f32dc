// Runs one program in every way and compares: the interpreter says what is right.
#pragma once
#include <string>
#include <vector>

namespace mica::random {

struct CompareOptions {
  std::string mica = "build/mica";
  std::string folder;                   // where programs are written, one folder for each job
  bool threads = false;                 // the native ways run on one and on two threads
  int traps = 60;                       // after so many a program is left
  double seconds = 600;                 // for each process; a machine may be busy
};

struct Comparison {
  std::string difference;               // empty: all ways agree
  std::string kind;                     // what differs, in a word or two: the same for the same fault of a smaller program
  int runs = 0, traps = 0;
  int leftAt = -1;                      // the function behind the last trap, where the rest was left out
};

// `--from` is given as long as functions trap, so that those behind are compared as well.
Comparison compare(const CompareOptions&, const std::string& text);

}  // namespace mica::random
