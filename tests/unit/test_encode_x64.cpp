// Tests of the x86-64 encoder: examples in files, a comparison with GNU as and objdump over all forms, programs with labels,
// refusals.
//
// MICA_ENCODE=full in the environment makes the comparison exhaustive (millions of lines, many minutes).
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "backend_x64/disasm_names.h"
#include "backend_x64/encoder.h"
#include "backend_x64/forms.h"
#include "encode_x64_compare.h"
#include "encode_x64_enumerate.h"
#include "encode_x64_parse.h"
#include "gnu_tools.h"

using namespace mica::x64;
using namespace gnutools;

TEST_CASE("x86-64 encoder: as writes the same bytes, objdump reads them back, for all forms") {
  if (skippedWithout("as", "comparing the x86-64 encoder with GNU as")) return;
  const char* wanted = std::getenv("MICA_ENCODE");
  bool full = wanted && std::string(wanted) == "full";
  encodetest::Comparison comparison(!skippedWithout("objdump", "reading x86-64 code back with objdump"));
  std::vector<bool> used(allForms().size());
  for (const Form& form : allForms())
    encodetest::enumerate(form, full, [&](Mnemonic mnemonic, const Operands& operands) {
      FormId id = chooseForm(mnemonic, operands);
      if (id) used[id.index] = true;
      comparison.add(mnemonic, operands);
    });
  comparison.flush();
  MESSAGE("compared " << comparison.total << " instructions with GNU as and objdump");
  if (!full) CHECK(comparison.total > 2000000);
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
