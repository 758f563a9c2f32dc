// Tests of the x86-64 encoder: examples in files, a comparison with GNU as over all forms, programs with labels,
// refusals.
//
// MICA_ENCODE=full in the environment makes the comparison exhaustive (millions of lines, many minutes).
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "backend_x64/disasm_names.h"
#include "backend_x64/encoder.h"
#include "backend_x64/forms.h"
#include "encode_x64_enumerate.h"
#include "encode_x64_parse.h"
#include "gnu_tools.h"

using namespace mica::x64;
using namespace gnutools;

namespace {

struct Line {
  std::string text;
  std::string bytes;
};

constexpr const char* Header = ".intel_syntax noprefix\n.text\n";
constexpr int HeaderLines = 2;

// Line by line comparison with GNU as; counts lines and keeps the first differences.
class Comparison {
 public:
  void add(Mnemonic mnemonic, const Operands& operands) {
    CodeBuffer buffer;
    std::string text = instructionText(mnemonic, operands);
    if (!tryEmit(buffer, mnemonic, operands)) return fault(buffer.refusal());
    lines.push_back({std::move(text), buffer.bytes()});
    if (lines.size() >= BatchSize) flush();
  }

  void flush() {
    if (lines.empty()) return;
    std::string source = Header, expected;
    for (const Line& line : lines) {
      source += line.text + "\n";
      expected += line.bytes;
    }
    writeFile(scratch.file("batch.s"), source);
    std::string assemble = "as -W -o " + scratch.file("batch.o") + " " + scratch.file("batch.s");
    assemble += " 2>" + scratch.file("errors");
    if (!run(assemble)) explainErrors();
    else if (parseObject(readFile(scratch.file("batch.o"))).sections[".text"] != expected) explainDifferences();
    total += lines.size();
    lines.clear();
  }

  size_t total = 0;
  size_t faults = 0;
  std::string report;

 private:
  static constexpr size_t BatchSize = 100000;

  void fault(const std::string& text) {
    if (faults++ < 40) report += text + "\n";
  }

  void explainErrors() {
    std::istringstream errors(readFile(scratch.file("errors")));
    for (std::string error; std::getline(errors, error);) {
      size_t colon = error.find(".s:");
      if (colon == std::string::npos) continue;
      size_t number = std::strtoul(error.c_str() + colon + 3, nullptr, 10);
      if (number <= HeaderLines) continue;
      fault(lines[number - HeaderLines - 1].text + ": " + error.substr(error.find(": ", colon) + 2));
    }
  }

  // The assembler's listing gives the bytes of each line.
  void explainDifferences() {
    run("as -aln=" + scratch.file("listing") + " --listing-lhs-width=8 -o /dev/null " + scratch.file("batch.s"));
    std::istringstream listing(readFile(scratch.file("listing")));
    for (std::string row; std::getline(listing, row);) {
      size_t tab = row.find('\t');
      std::istringstream words(row.substr(0, tab));
      size_t number;
      std::string offset, bytes, word;
      if (tab == std::string::npos || !(words >> number >> offset) || number <= HeaderLines) continue;
      while (words >> word) bytes += word;
      const Line& line = lines.at(number - HeaderLines - 1);
      std::string ours = hex(line.bytes), theirs;
      for (size_t i = 0; i + 1 < bytes.size(); i += 2) theirs += (i ? " " : "") + bytes.substr(i, 2);
      for (char& c : theirs) c = static_cast<char>(std::tolower(c));
      if (ours != theirs) fault(line.text + ": we write " + ours + ", as writes " + theirs);
    }
  }

  Scratch scratch;
  std::vector<Line> lines;
};

}  // namespace

TEST_CASE("x86-64 encoder: all forms against GNU as") {
  if (skippedWithout("as", "comparing the x86-64 encoder with GNU as")) return;
  const char* wanted = std::getenv("MICA_ENCODE");
  bool full = wanted && std::string(wanted) == "full";
  Comparison comparison;
  std::vector<bool> used(allForms().size());
  for (const Form& form : allForms())
    encodetest::enumerate(form, full, [&](Mnemonic mnemonic, const Operands& operands) {
      FormId id = chooseForm(mnemonic, operands);
      if (id) used[id.index] = true;
      comparison.add(mnemonic, operands);
    });
  comparison.flush();
  MESSAGE("compared " << comparison.total << " instructions with GNU as");
  INFO(comparison.report);
  CHECK(comparison.faults == 0);
  for (size_t i = 0; i < used.size(); i++) {
    bool isJump = false;
    for (OperandKind kind : allForms()[i].operands) isJump = isJump || kind == OperandKind::Target;
    INFO("row: " << describeForm(allForms()[i])[0]);
    CHECK((used[i] || isJump));
  }
}

TEST_CASE("x86-64 encoder: examples of tests/encode") {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("tests/encode"))
    if (entry.path().filename().string().starts_with("x64-")) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  REQUIRE(!files.empty());
  for (const auto& file : files) {
    std::istringstream in(readFile(file.string()));
    int number = 0;
    for (std::string line; std::getline(in, line);) {
      number++;
      size_t semicolon = line.find(';');
      if (line.empty() || line[0] == '#' || semicolon == std::string::npos) continue;
      INFO(file.string() << ":" << number << ": " << line);
      auto instruction = encodetest::parseInstruction(line.substr(0, semicolon));
      REQUIRE(instruction);
      CodeBuffer buffer;
      bool done = tryEmit(buffer, instruction->mnemonic, instruction->operands);
      CHECK_MESSAGE(done, buffer.refusal());
      CHECK(hex(buffer.bytes()) == line.substr(line.find_first_not_of(' ', semicolon + 1)));
      std::string text = instructionText(instruction->mnemonic, instruction->operands);
      CHECK(line.substr(0, text.size()) == text);
    }
  }
}

TEST_CASE("x86-64 encoder: objdump reads back what was written") {
  if (skippedWithout("objdump", "reading x86-64 code back with objdump")) return;
  constexpr int Every = 29;
  std::string code;
  std::map<uint64_t, std::string> wanted;
  int count = 0;
  for (const Form& form : allForms())
    encodetest::enumerate(form, false, [&](Mnemonic mnemonic, const Operands& operands) {
      if (count++ % Every) return;
      CodeBuffer buffer;
      REQUIRE(tryEmit(buffer, mnemonic, operands));
      wanted[code.size()] = instructionText(mnemonic, operands);
      code += buffer.bytes();
    });
  Scratch scratch;
  writeFile(scratch.file("code"), code);
  std::string command = "objdump -D -b binary -m i386:x86-64 -M intel --no-show-raw-insn ";
  REQUIRE(run(command + scratch.file("code") + " >" + scratch.file("text")));
  std::istringstream lines(readFile(scratch.file("text")));
  auto next = wanted.begin();
  size_t faults = 0;
  for (std::string line; std::getline(lines, line) && faults < 20;) {
    size_t colon = line.find(":\t");
    if (colon == std::string::npos) continue;
    uint64_t offset = std::stoull(line, nullptr, 16);
    std::string theirs = line.substr(colon + 2);
    REQUIRE(next != wanted.end());
    const std::string& ours = next->second;
    // The disassembler has names of its own for comparisons with a predicate, such as vcmpltps.
    bool comparison = ours.find("cmp") != std::string::npos;
    std::string head = ours.substr(0, comparison ? 4 : ours.find(' '));
    bool same = theirs.starts_with(head) || theirs.find(" " + head) != std::string::npos || ours.starts_with("xchg");
    bool good = offset == next->first && same && theirs.find("(bad)") == std::string::npos;
    if (!good) faults++;
    CHECK_MESSAGE(good, "at " << offset << ": " << theirs << ", we wrote at " << next->first << ": " << ours);
    next++;
  }
  CHECK(next == wanted.end());
}

TEST_CASE("x86-64 encoder: rows print as the manual writes them") {
  auto described = [](Mnemonic mnemonic, const std::string& line) {
    FormRange range = formsOf(mnemonic);
    for (uint32_t i = range.first; i < range.end; i++)
      for (const std::string& text : describeForm(allForms()[i]))
        if (text == line) return true;
    return false;
  };
  CHECK(described(Mnemonic::Add, "REX.W + 83 /0 ib  ADD r/m64, imm8  MI"));
  CHECK(described(Mnemonic::Add, "66 05 iw  ADD AX, imm16  xI"));
  CHECK(described(Mnemonic::Mov, "REX.W + B8+ro io  MOV r64, imm64  OI"));
  CHECK(described(Mnemonic::Popcnt, "F3 REX.W + 0F B8 /r  POPCNT r64, r/m64  RM"));
  CHECK(described(Mnemonic::Vaddps, "VEX.256.0F.WIG 58 /r  VADDPS ymm1, ymm2, ymm3/m256  RVM"));
  CHECK(described(Mnemonic::Vaddps, "EVEX.512.0F.W0 58 /r  VADDPS zmm1{k1}{z}, zmm2, zmm3/m512/m32bcst  RVM"));
  CHECK(described(Mnemonic::Vpmovzxbd, "VEX.256.66.0F38.WIG 31 /r  VPMOVZXBD ymm1, xmm2/m64  RM"));
  CHECK(described(Mnemonic::Vcvttsd2si, "EVEX.LIG.F2.0F.W1 2C /r  VCVTTSD2SI r64, xmm1/m64  RM"));
  CHECK(described(Mnemonic::Kandw, "VEX.L1.0F.W0 41 /r  KANDW k1, k2, k3  RVM"));
}
