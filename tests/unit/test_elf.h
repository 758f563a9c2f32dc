// What the linker's tests share: objects assembled by hand, files written to a folder of their own, commands run.
#pragma once
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "elf/link.h"
#include "elf/output.h"

namespace elftest {

using namespace mica::elf;

struct Result { int status; std::string out; };

// Runs a shell command; standard error goes with standard output.
inline Result run(const std::string& command) {
  Result result{-1, ""};
  FILE* pipe = ::popen(("{ " + command + "; } 2>&1").c_str(), "r");
  if (!pipe) return result;
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.out.append(buffer, n);
  int status = ::pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

inline bool have(const std::string& tool) { return run("command -v " + tool + " >/dev/null").status == 0; }

// A folder that goes away with the test.
struct Folder {
  std::string path;
  Folder() {
    path = std::filesystem::temp_directory_path() / "mica-elf-XXXXXX";
    REQUIRE(::mkdtemp(path.data()));
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
};

// An object as a backend would build it, but with names and bytes written out.
struct Build {
  Object object;

  uint32_t symbol(const std::string& name) {
    for (uint32_t i = 0; i < object.symbols.size(); i++) if (object.symbols[i] == name) return i;
    object.symbols.push_back(name);
    return uint32_t(object.symbols.size() - 1);
  }

  uint32_t place(const std::string& file, uint32_t line, const std::string& function, uint32_t inlinedAt = NoPlace) {
    mica::ir::PlaceId outer;
    outer.index = inlinedAt;
    object.places.push_back({file, line, 5, function, outer});
    return uint32_t(object.places.size() - 1);
  }

  ObjectFunction& function(const std::string& name, std::string code = "") {
    object.functions.push_back({symbol(name), std::move(code), {}, {}, 16, NoPlace});
    return object.functions.back();
  }

  ObjectData& data(const std::string& name, std::string bytes, uint64_t zeros = 0, uint32_t align = 8, bool readOnly = true) {
    object.data.push_back({symbol(name), std::move(bytes), zeros, align, readOnly, {}});
    return object.data.back();
  }

  // Code that is appended piece by piece: bytes in hexadecimal, with a relocation on their last four bytes if a symbol is given.
  void code(ObjectFunction& f, const std::string& hex, const std::string& target = "", int64_t addend = 0) {
    std::istringstream in(hex);
    for (std::string byte; in >> byte;) f.code.push_back(char(std::stoi(byte, nullptr, 16)));
    if (!target.empty()) f.relocs.push_back({uint32_t(f.code.size() - 4), RelocKind::Pc32, symbol(target), addend - 4});
  }
};

// `Start.Entry` of an x86-64 program that writes the data `text` and calls `then`, which answers the exit status.
inline void addHello(Build& b, const std::string& text, const std::string& then) {
  b.data("str.0", text);
  ObjectFunction& f = b.function("Start.Entry");
  b.code(f, "bf 01 00 00 00");                        // mov edi, 1
  b.code(f, "48 8d 35 00 00 00 00", "str.0");         // lea rsi, [rip + str.0]
  b.code(f, "ba");                                    // mov edx, size
  put32(f.code, uint32_t(text.size()));
  b.code(f, "b8 01 00 00 00 0f 05");                  // mov eax, write; syscall
  b.code(f, "e8 00 00 00 00", then);                  // call then
  b.code(f, "89 c7 b8 e7 00 00 00 0f 05");            // mov edi, eax; mov eax, exit_group; syscall
}

// A function with a frame that answers a constant.
inline void addConstant(Build& b, const std::string& name, int value) {
  ObjectFunction& f = b.function(name);
  b.code(f, "55 48 89 e5 b8");                        // push rbp; mov rbp, rsp; mov eax, value
  put32(f.code, uint32_t(value));
  b.code(f, "5d c3");                                 // pop rbp; ret
}

inline std::string linked(const std::vector<const Object*>& inputs, LinkOptions options = {}) {
  std::string bytes;
  std::vector<std::string> errors;
  bool good = link(inputs, options, bytes, errors);
  for (const std::string& error : errors) MESSAGE(error);
  REQUIRE(good);
  return bytes;
}

inline std::vector<std::string> faults(const std::vector<const Object*>& inputs, LinkOptions options = {}) {
  std::string bytes;
  std::vector<std::string> errors;
  REQUIRE(!link(inputs, options, bytes, errors));
  REQUIRE(bytes.empty());
  return errors;
}

inline void save(const std::string& path, std::string_view bytes) {
  std::string error;
  REQUIRE_MESSAGE(writeExecutable(path, bytes, error), error);
}

}  // namespace elftest
