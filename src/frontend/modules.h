// The modules of a program: finding the files behind `import`, and what each module declares.
//
// `import Layers` looks for Layers.mica beside the importing file, then in the -I directories, then in the library. A module of
// the library imports from the library alone. All modules are loaded before any name is looked up.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/check.h"

namespace mica {

// What a name of a module stands for.
struct Symbol {
  enum class Kind : uint8_t { None, Declaration, Alias, Module } kind = Kind::None;
  DeclId decl;                                // Declaration
  uint32_t index = 0;                         // Alias: into Checker's aliases; Module: of the module
  bool exported = false;
  Place place;
};

struct SourceModule {
  std::string name;
  std::string directory;                      // where its file lies; empty for the embedded library
  FileId file = 0;
  ast::Module* syntax = nullptr;
  bool system = false;                        // of the library
  std::unordered_map<uint32_t, Symbol> symbols;   // by NameId
  std::vector<DeclId> decls;                  // in order of declaration
};

class Modules {
 public:
  Modules(Context& c, const CheckOptions& o) : context(c), options(o) {}
  // Adds the program's own file and everything it imports.
  void loadProgram(FileId main);
  // The index of a library module, loaded with all its imports if need be; -1 when there is none.
  int loadLibrary(std::string_view name);
  std::vector<SourceModule>& all() { return list; }
  SourceModule& get(uint32_t index) { return list[index]; }

 private:
  uint32_t add(FileId file, std::string name, std::string directory, bool system);
  void loadImports(uint32_t from);
  int resolve(uint32_t from, std::string_view name, Span at);
  int loadFile(const std::string& path, std::string_view name, const std::string& directory, bool system, Span at);
  void refuseCycles(uint32_t from);

  struct Import { uint32_t from, to; Span at; };
  Context& context;
  const CheckOptions& options;
  std::vector<SourceModule> list;
  std::vector<Import> imports;
  std::unordered_map<std::string, uint32_t> byPath;   // files by their path, library modules by `library:Name`
};

}  // namespace mica
