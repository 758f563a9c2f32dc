#include "encode_x64_parse.h"

#include <map>
#include <vector>

#include "backend_x64/disasm_names.h"

namespace encodetest {

using namespace mica::x64;

namespace {

std::map<std::string, Reg> registersByName() {
  std::map<std::string, Reg> names;
  auto add = [&](Reg reg) { names[registerName(reg)] = reg; };
  for (unsigned n = 0; n < 16; n++)
    for (unsigned bits : {8u, 16u, 32u, 64u}) add(gpr(n, bits));
  for (unsigned n = 0; n < 32; n++)
    for (unsigned bits : {128u, 256u, 512u}) add(vec(n, bits));
  for (unsigned n = 0; n < 8; n++) add(kreg(n));
  return names;
}

// Mnemonics with the condition of conditional ones.
std::map<std::string, std::pair<Mnemonic, int>> mnemonicsByName() {
  std::map<std::string, std::pair<Mnemonic, int>> names;
  for (size_t m = 0; m < static_cast<size_t>(Mnemonic::Count); m++) {
    auto mnemonic = static_cast<Mnemonic>(m);
    std::string text = mnemonicText(mnemonic);
    if (mnemonic != Mnemonic::Jcc && mnemonic != Mnemonic::Setcc && mnemonic != Mnemonic::Cmovcc) {
      names[text] = {mnemonic, -1};
      continue;
    }
    text.resize(text.size() - 2);
    for (int c = 0; c < 16; c++) names[text + conditionName(static_cast<Cond>(c))] = {mnemonic, c};
  }
  return names;
}

const std::map<std::string, Reg>& registers() {
  static const auto names = registersByName();
  return names;
}

bool eat(std::string& text, const std::string& start) {
  if (!text.starts_with(start)) return false;
  text.erase(0, start.size());
  return true;
}

std::string trimmed(std::string text) {
  while (!text.empty() && text.front() == ' ') text.erase(0, 1);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

// "rbx+rcx*4-8" without the brackets.
std::optional<Mem> parseAddress(const std::string& text) {
  Mem mem;
  size_t from = 0;
  while (from < text.size()) {
    size_t to = text.find_first_of("+-", from + 1);
    std::string term = text.substr(from, to - from);
    if (term[0] == '+') term.erase(0, 1);
    size_t star = term.find('*');
    auto reg = registers().find(term.substr(0, star));
    if (term == "rip") mem.kind = Mem::Kind::RipDistance;
    else if (reg == registers().end()) mem.disp = std::stoll(term, nullptr, 0);
    else if (star == std::string::npos) mem.base = reg->second.number;
    else mem = mem.scaled(reg->second, static_cast<unsigned>(std::stoul(term.substr(star + 1))));
    from = to == std::string::npos ? text.size() : to;
  }
  return mem;
}

std::optional<Operand> parseOperand(std::string text) {
  static const std::pair<const char*, unsigned> sizes[] = {
      {"byte ptr ", 8},      {"word ptr ", 16},     {"dword ptr ", 32},   {"qword ptr ", 64},
      {"xmmword ptr ", 128}, {"ymmword ptr ", 256}, {"zmmword ptr ", 512}};
  if (auto reg = registers().find(text); reg != registers().end()) return Operand(reg->second);
  unsigned bits = 0;
  for (auto [name, size] : sizes)
    if (eat(text, name)) bits = size;
  eat(text, "ds:");
  if (text.empty()) return {};
  if (text[0] != '[') return Operand(static_cast<int64_t>(std::stoll(text, nullptr, 0)));
  size_t end = text.find(']');
  auto mem = parseAddress(text.substr(1, end - 1));
  if (!mem) return {};
  size_t copies = text.find("{1to");
  if (copies == std::string::npos) return Operand(mem->sized(bits));
  return Operand(mem->broadcast(bits, static_cast<unsigned>(std::stoul(text.substr(copies + 4)))));
}

}  // namespace

std::optional<Instruction> parseInstruction(const std::string& line) {
  static const auto mnemonics = mnemonicsByName();
  std::string text = trimmed(line);
  Instruction result;
  result.operands.lock = eat(text, "lock ");
  size_t blank = text.starts_with("rep ") ? text.find(' ', 4) : text.find(' ');
  auto mnemonic = mnemonics.find(text.substr(0, blank));
  if (mnemonic == mnemonics.end()) return {};
  result.mnemonic = mnemonic->second.first;
  if (mnemonic->second.second >= 0) result.operands.add(static_cast<Cond>(mnemonic->second.second));
  std::string rest = blank == std::string::npos ? "" : text.substr(blank + 1);
  if (size_t z = rest.find("{z}"); z != std::string::npos) {
    result.operands.zeroing = true;
    rest.erase(z, 3);
  }
  if (size_t k = rest.find("{k"); k != std::string::npos) {
    result.operands.mask = static_cast<uint8_t>(rest[k + 2] - '0');
    rest.erase(k, 4);
  }
  while (!rest.empty()) {
    size_t comma = rest.find(',');
    auto operand = parseOperand(trimmed(rest.substr(0, comma)));
    if (!operand) return {};
    result.operands.add(*operand);
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
  }
  return result;
}

}  // namespace encodetest
