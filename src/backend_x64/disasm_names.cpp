// Registers, mnemonics and whole instructions as text.
#include "backend_x64/disasm_names.h"

#include <array>
#include <vector>

namespace mica::x64 {

namespace {

constexpr const char* Low8[] = {"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil"};
constexpr const char* LowNames[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
constexpr const char* Conditions[] = {"o", "no", "b", "ae", "e", "ne", "be", "a",
                                      "s", "ns", "p", "np", "l", "ge", "le", "g"};

std::string generalName(unsigned number, unsigned bits) {
  if (number < 8) {
    if (bits == 8) return Low8[number];
    return std::string(bits == 64 ? "r" : bits == 32 ? "e" : "") + LowNames[number];
  }
  return "r" + std::to_string(number) + (bits == 64 ? "" : bits == 32 ? "d" : bits == 16 ? "w" : "b");
}

std::vector<std::string> lowerCaseNames() {
  std::vector<std::string> names = {
#define M(name) #name,
#include "backend_x64/mnemonics.def"
#undef M
  };
  for (std::string& name : names) {
    bool repeated = name.starts_with("Rep");
    for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    if (repeated) name.insert(3, " ");
  }
  return names;
}

const char* sizeText(unsigned bits) {
  switch (bits) {
    case 8: return "byte ptr ";
    case 16: return "word ptr ";
    case 32: return "dword ptr ";
    case 64: return "qword ptr ";
    case 128: return "xmmword ptr ";
    case 256: return "ymmword ptr ";
    case 512: return "zmmword ptr ";
  }
  return "";
}

std::string signedText(int64_t value) { return (value < 0 ? "" : "+") + std::to_string(value); }

std::string nonZeroText(int64_t value) { return value ? signedText(value) : ""; }

std::string addressText(const Mem& mem) {
  switch (mem.kind) {
    case Mem::Kind::RipLabel: return "[rip+L" + std::to_string(mem.label.index) + nonZeroText(mem.disp) + "]";
    case Mem::Kind::RipSymbol: return "[rip+symbol" + std::to_string(mem.symbol) + nonZeroText(mem.disp) + "]";
    case Mem::Kind::RipDistance: return "[rip" + signedText(mem.disp) + "]";
    case Mem::Kind::Plain: break;
  }
  std::string text;
  if (mem.base != Mem::None) text = generalName(mem.base, 64);
  if (mem.index != Mem::None) {
    if (!text.empty()) text += "+";
    text += generalName(mem.index, 64) + "*" + std::to_string(mem.scale);
  }
  if (text.empty()) return "ds:[" + std::to_string(mem.disp) + "]";  // a bare [n] would be read as the number n
  return "[" + text + nonZeroText(mem.disp) + "]";
}

}  // namespace

std::string registerName(Reg reg) {
  switch (reg.cls) {
    case RegClass::General: return generalName(reg.number, reg.bits);
    case RegClass::Vector:
      return (reg.bits == 128 ? "xmm" : reg.bits == 256 ? "ymm" : "zmm") + std::to_string(reg.number);
    case RegClass::Mask: return "k" + std::to_string(reg.number);
  }
  return "?";
}

const char* conditionName(Cond condition) { return Conditions[static_cast<size_t>(condition)]; }

const std::string& mnemonicText(Mnemonic mnemonic) {
  static const std::vector<std::string> names = lowerCaseNames();
  return names[static_cast<size_t>(mnemonic)];
}

std::string operandText(const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::Reg: return registerName(operand.reg);
    case Operand::Kind::Mem: {
      std::string text = sizeText(operand.mem.bits) + addressText(operand.mem);
      return operand.mem.copies ? text + "{1to" + std::to_string(operand.mem.copies) + "}" : text;
    }
    case Operand::Kind::Imm: return std::to_string(operand.imm);
    case Operand::Kind::Cond: return conditionName(operand.cond);
    case Operand::Kind::Label: return "L" + std::to_string(operand.label.index);
    case Operand::Kind::Symbol:
      return "symbol" + std::to_string(operand.symbol.symbol) + nonZeroText(operand.symbol.addend);
    case Operand::Kind::None: break;
  }
  return "?";
}

std::string instructionText(Mnemonic mnemonic, const Operands& operands) {
  std::string text = operands.lock ? "lock " : "";
  text += mnemonicText(mnemonic);
  int first = 0;
  if (operands.count > 0 && operands.list[0].kind == Operand::Kind::Cond) {
    text.resize(text.size() - 2);
    text += conditionName(operands.list[0].cond);
    first = 1;
  }
  for (int i = first; i < operands.count; i++) {
    text += (i == first ? " " : ", ") + operandText(operands.list[i]);
    if (i == 0 && operands.mask) text += "{k" + std::to_string(operands.mask) + "}";
    if (i == 0 && operands.zeroing) text += "{z}";
  }
  return text;
}

}  // namespace mica::x64
