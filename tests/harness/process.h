// Runs a program with a time limit and collects what it prints. The harness's only contact with the system.
#pragma once
#include <string>
#include <utility>
#include <vector>

struct ProcessResult {
  int status = 0;           // the exit status, or 128 + signal
  bool timedOut = false;
  std::string out, err;
};

struct ProcessRequest {
  std::vector<std::string> command;
  std::string input;                                            // fed to standard input, which then ends
  std::string directory;                                        // where it runs; empty: here
  std::vector<std::pair<std::string, std::string>> environment;  // added to ours
  double seconds = 20;
};

ProcessResult runProcess(const ProcessRequest& request);
