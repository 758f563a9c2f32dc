// Finding and loading modules; see modules.h.
#include "frontend/modules.h"

#include <sys/stat.h>

#include <algorithm>

#include "frontend/parser.h"

namespace mica {

namespace {

bool fileExists(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

std::string directoryOf(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string inDirectory(const std::string& directory, std::string_view name) {
  std::string file = std::string(name) + ".mica";
  return directory == "." || directory.empty() ? file : directory + "/" + file;
}

}  // namespace

uint32_t Modules::add(FileId file, std::string name, std::string directory, bool system) {
  uint32_t index = uint32_t(list.size());
  SourceModule m;
  m.name = std::move(name);
  m.directory = std::move(directory);
  m.file = file;
  m.system = system;
  m.syntax = parseModule(context, file, ParseMode::Program);
  list.push_back(std::move(m));
  loadImports(index);
  return index;
}

void Modules::loadProgram(FileId main) {
  const SourceFile& file = context.sources.file(main);
  std::string path = file.path.empty() ? file.shown : file.path;
  size_t from = path.rfind('/');
  std::string name = path.substr(from == std::string::npos ? 0 : from + 1);
  if (name.size() > 5 && name.ends_with(".mica")) name.resize(name.size() - 5);
  byPath[path] = 0;
  bool system = file.system;
  add(main, name, directoryOf(path), system);
  refuseCycles(0);
}

void Modules::loadImports(uint32_t from) {
  // The list may grow while imports are loaded: no reference into it is kept.
  ast::Module* syntax = list[from].syntax;
  for (ast::Decl* decl : syntax->declarations) {
    auto* import = ast::tryAs<ast::ImportDecl>(decl);
    if (!import) continue;
    for (const ast::Name& name : import->modules) {
      if (!name) continue;
      int target = resolve(from, context.text(name), name.span());
      if (target < 0) continue;
      imports.push_back({from, uint32_t(target), name.span()});
      Symbol& symbol = list[from].symbols[name.id.index];
      symbol.kind = Symbol::Kind::Module;
      symbol.index = uint32_t(target);
      symbol.place = name.place;
    }
  }
}

int Modules::resolve(uint32_t from, std::string_view name, Span at) {
  std::vector<std::string> looked;
  if (!list[from].system || !options.libraryDir.empty()) {
    std::string directory = list[from].directory;
    if (!list[from].system) {
      std::string beside = inDirectory(directory, name);
      if (fileExists(beside)) return loadFile(beside, name, directory, false, at);
      for (const std::string& d : options.importDirs) {
        std::string path = inDirectory(d, name);
        if (fileExists(path)) return loadFile(path, name, d, false, at);
      }
    }
  }
  int library = loadLibrary(name);
  if (library >= 0) return library;
  auto& error = context.diagnostics.error(at, "there is no module `" + std::string(name) + "`");
  if (!list[from].system) error.note("looked for " + std::string(name) + ".mica beside the importing file, in the -I directories and in the library");
  return -1;
}

int Modules::loadLibrary(std::string_view name) {
  std::string key = "library:" + std::string(name);
  if (auto known = byPath.find(key); known != byPath.end()) return int(known->second);
  if (options.library) {
    for (const LibraryText& text : *options.library) {
      if (text.name != name) continue;
      FileId file = context.sources.add("library/" + std::string(name) + ".mica", std::string(text.text), context.diagnostics, true);
      byPath[key] = uint32_t(list.size());
      return int(add(file, std::string(name), "", true));
    }
  }
  if (!options.libraryDir.empty()) {
    std::string path = inDirectory(options.libraryDir, name);
    if (fileExists(path)) return loadFile(path, name, options.libraryDir, true, {});
  }
  return -1;
}

int Modules::loadFile(const std::string& path, std::string_view name, const std::string& directory, bool system, Span at) {
  if (auto known = byPath.find(path); known != byPath.end()) return int(known->second);
  FileId file = context.sources.load(path, context.diagnostics, at);
  if (file == 0 || context.sources.file(file).broken) return -1;
  byPath[path] = uint32_t(list.size());
  if (system) byPath["library:" + std::string(name)] = uint32_t(list.size());
  return int(add(file, std::string(name), directory, system));
}

// One message for each import that closes a ring, with the ring written out.
void Modules::refuseCycles(uint32_t) {
  std::vector<int> state(list.size(), 0);   // 0 not seen, 1 on the path, 2 done
  std::vector<uint32_t> path;
  struct Frame { uint32_t module; size_t next; };
  std::vector<std::vector<Import>> from(list.size());
  for (const Import& i : imports) from[i.from].push_back(i);
  std::vector<Frame> stack{{0, 0}};
  state[0] = 1;
  path.push_back(0);
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.next == from[frame.module].size()) {
      state[frame.module] = 2;
      path.pop_back();
      stack.pop_back();
      continue;
    }
    Import import = from[frame.module][frame.next++];
    if (state[import.to] == 0) {
      state[import.to] = 1;
      path.push_back(import.to);
      stack.push_back({import.to, 0});
    } else if (state[import.to] == 1 && !list[import.to].system) {
      std::string ring;
      auto begin = std::find(path.begin(), path.end(), import.to);
      for (auto it = begin; it != path.end(); ++it) ring += "`" + list[*it].name + "` imports ";
      ring += "`" + list[import.to].name + "`";
      context.diagnostics.error(import.at, "these modules import each other: " + ring)
        .note("move what both need into a third module");
    }
  }
}

}  // namespace mica
