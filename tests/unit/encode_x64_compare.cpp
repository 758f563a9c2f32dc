// See encode_x64_compare.h.
#include "encode_x64_compare.h"

#include <cctype>
#include <cstdlib>
#include <sstream>

#include "backend_x64/disasm_names.h"
#include "objdump_text.h"

namespace encodetest {

using namespace mica::x64;
using namespace gnutools;

namespace {

constexpr size_t BatchSize = 100000;
constexpr size_t MostReported = 40;
constexpr const char* Header = ".intel_syntax noprefix\n.text\n";
constexpr size_t HeaderLines = 2;

}  // namespace

void Comparison::fault(const std::string& text) {
  if (faults++ < MostReported) report += text + "\n";
}

void Comparison::add(Mnemonic mnemonic, const Operands& operands) {
  CodeBuffer buffer;
  std::string text = instructionText(mnemonic, operands);
  if (!tryEmit(buffer, mnemonic, operands)) return fault(buffer.refusal());
  lines.push_back({std::move(text), buffer.bytes(), readsBack ? objdumpText(mnemonic, operands) : ""});
  if (lines.size() >= BatchSize) flush();
}

void Comparison::flush() {
  if (lines.empty()) return;
  assemble();
  if (readsBack) disassemble();
  total += lines.size();
  lines.clear();
}

void Comparison::assemble() {
  std::string source = Header, expected;
  for (const Line& line : lines) {
    source += line.text + "\n";
    expected += line.bytes;
  }
  writeFile(scratch.file("batch.s"), source);
  std::string command = "as -W -o " + scratch.file("batch.o") + " " + scratch.file("batch.s");
  command += " 2>" + scratch.file("errors");
  if (!run(command)) explainErrors();
  else if (parseObject(readFile(scratch.file("batch.o"))).sections[".text"] != expected) explainDifferences();
}

void Comparison::explainErrors() {
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
void Comparison::explainDifferences() {
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

void Comparison::disassemble() {
  std::string code;
  for (const Line& line : lines) code += line.bytes;
  writeFile(scratch.file("code"), code);
  std::string command = "objdump -D -b binary -m i386:x86-64 -M intel --no-show-raw-insn ";
  if (!run(command + scratch.file("code") + " >" + scratch.file("text"))) return fault("objdump failed");
  std::istringstream text(readFile(scratch.file("text")));
  size_t next = 0, offset = 0;
  for (std::string row; std::getline(text, row) && next < lines.size();) {
    size_t colon = row.find(":\t");
    if (colon == std::string::npos) continue;
    const Line& line = lines[next++];
    std::string theirs = tidied(row.substr(colon + 2));
    if (std::strtoull(row.c_str(), nullptr, 16) != offset) return fault(line.text + ": objdump is elsewhere, at " + row);
    if (theirs != line.wanted) fault(line.text + ": objdump reads `" + theirs + "`, not `" + line.wanted + "`");
    offset += line.bytes.size();
  }
  if (next != lines.size()) fault("objdump reads fewer instructions");
}

}  // namespace encodetest
