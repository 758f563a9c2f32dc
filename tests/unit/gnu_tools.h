// What the encoder tests share: scratch folders, running a system tool or saying that it is missing, reading its
// object files.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace gnutools {

std::string hex(const std::string& bytes);  // "48 01 c8"
std::string readFile(const std::string& name);
void writeFile(const std::string& name, const std::string& text);

// A folder that goes away with the object.
struct Scratch {
  std::filesystem::path path;
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  std::string file(const char* name) const { return (path / name).string(); }
};

bool run(const std::string& command);

// True, with a message naming what is skipped, when a tool is missing.
bool skippedWithout(const char* tool, const char* what);

struct ObjectReloc {
  uint64_t offset;
  uint32_t type;
  std::string symbol;
  int64_t addend;
};

// An ELF64 object file's sections by name, and the relocations of .text sorted by offset.
struct ObjectFile {
  std::map<std::string, std::string> sections;
  std::vector<ObjectReloc> textRelocs;
};
ObjectFile parseObject(const std::string& elf);

}  // namespace gnutools
