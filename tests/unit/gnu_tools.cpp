#include "gnu_tools.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace gnutools {

namespace fs = std::filesystem;

std::string hex(const std::string& bytes) {
  std::string text;
  char two[4];
  for (unsigned char c : bytes) {
    std::snprintf(two, sizeof two, "%02x", c);
    text += (text.empty() ? "" : " ") + std::string(two);
  }
  return text;
}

std::string readFile(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void writeFile(const std::string& name, const std::string& text) { std::ofstream(name, std::ios::binary) << text; }

Scratch::Scratch() {
  std::string pattern = (fs::temp_directory_path() / "mica-encode-XXXXXX").string();
  if (!mkdtemp(pattern.data())) FAIL("cannot make a scratch folder");
  path = pattern;
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

bool run(const std::string& command) { return std::system(command.c_str()) == 0; }

bool skippedWithout(const char* tool, const char* what) {
  if (run(std::string("command -v ") + tool + " >/dev/null 2>&1")) return false;
  std::string message = std::string("skipped: ") + what + " (no `" + tool + "` on this machine)";
  MESSAGE(message);
  return true;
}

namespace {

template <class T> T at(const std::string& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// Elf64_Rela: offset, info (symbol << 32 | type), addend. Elf64_Sym: 24 bytes, name first.
std::vector<ObjectReloc> parseRelocs(const std::string& rela, const std::string& symbols, const std::string& names) {
  std::vector<ObjectReloc> relocs;
  for (size_t r = 0; r + 24 <= rela.size(); r += 24) {
    auto info = at<uint64_t>(rela, r + 8);
    std::string name = names.c_str() + at<uint32_t>(symbols, (info >> 32) * 24);
    relocs.push_back({at<uint64_t>(rela, r), static_cast<uint32_t>(info), name, at<int64_t>(rela, r + 16)});
  }
  auto earlier = [](const ObjectReloc& a, const ObjectReloc& b) { return a.offset < b.offset; };
  std::sort(relocs.begin(), relocs.end(), earlier);
  return relocs;
}

}  // namespace

ObjectFile parseObject(const std::string& elf) {
  ObjectFile object;
  if (elf.size() < 64) return object;
  auto table = at<uint64_t>(elf, 40);
  auto count = at<uint16_t>(elf, 60), names = at<uint16_t>(elf, 62);
  auto offsetOf = [&](unsigned s) { return at<uint64_t>(elf, table + 64 * s + 24); };
  constexpr uint32_t NoBits = 8;
  for (unsigned s = 1; s < count; s++) {
    std::string name = elf.c_str() + offsetOf(names) + at<uint32_t>(elf, table + 64 * s);
    auto type = at<uint32_t>(elf, table + 64 * s + 4);
    auto size = at<uint64_t>(elf, table + 64 * s + 32);
    if (type != NoBits) object.sections[name] = elf.substr(offsetOf(s), size);
  }
  auto& sections = object.sections;
  object.textRelocs = parseRelocs(sections[".rela.text"], sections[".symtab"], sections[".strtab"]);
  return object;
}

}  // namespace gnutools
