// The street of a compilation, from a source file to an executable's bytes. main.cpp reads the command line and calls these.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/check.h"
#include "ir/ir.h"

namespace mica {

enum class TierName : uint8_t { Debug, Checked, Release };

struct BuildOptions {
  std::string file;
  std::optional<std::string> text;      // the program, when it is in memory; `file` is then only its name
  TierName tier = TierName::Checked;
  bool strip = false;
  bool interpret = false;               // IR for the reference interpreter: everything from source, four lanes
  std::string linesFile;                // interpreted: the lines of code and which of them ran go there
  bool tests = false;                   // the `test` blocks instead of Main
  bool needsMain = true;                // a file without Main is refused; else it is a module, with its `test` blocks alone
  bool verify = false;                  // verify the IR after each pass and replay every register allocation
  bool timing = false;                  // how long each station took, on standard error
  std::vector<std::string> importDirs;
  std::vector<std::pair<std::string, std::string>> constants;
  std::string libraryDir;               // read the library from here instead of the embedded one
};

// A compilation in progress. Each step answers false when messages were reported; print them with `messages`.
class Compilation {
 public:
  explicit Compilation(BuildOptions);
  ~Compilation();
  bool parseAndCheck();                 // source -> tokens -> tree -> checked tree -> ownership
  bool lowerToIr();                     // marks, lowering
  void runPasses();
  bool link(std::string& fileBytes);    // selection, allocation, encoding, ELF
  std::string messages() const;
  Context& context();
  Program& program();
  ir::Module& module();

 private:
  struct State;
  std::unique_ptr<State> state;
};

// The library's non-generic functions as an object file's bytes (the build's first stage).
bool buildRuntime(const BuildOptions&, std::string& objectBytes, std::string& messages);

}  // namespace mica
