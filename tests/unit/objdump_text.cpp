// See objdump_text.h.
#include "objdump_text.h"

#include <cctype>
#include <cstdio>
#include <map>
#include <vector>

#include "backend_x64/disasm_names.h"
#include "backend_x64/forms.h"

namespace encodetest {

using namespace mica::x64;

namespace {

std::string hexText(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string signedHex(int64_t value) {
  if (value == 0) return "";
  return value < 0 ? "-" + hexText(uint64_t(-value)) : "+" + hexText(uint64_t(value));
}

const char* sizeName(unsigned bits) {
  switch (bits) {
    case 8: return "BYTE";
    case 16: return "WORD";
    case 32: return "DWORD";
    case 64: return "QWORD";
    case 128: return "XMMWORD";
    case 256: return "YMMWORD";
    case 512: return "ZMMWORD";
  }
  return "";
}

std::string addressText(const Mem& m) {
  if (m.kind == Mem::Kind::RipDistance) return "[rip+" + hexText(uint64_t(m.disp)) + "]";
  bool hasBase = m.base != Mem::None, hasIndex = m.index != Mem::None;
  if (!hasBase && !hasIndex) return "ds:" + hexText(uint64_t(m.disp));
  std::string text = hasBase ? registerName(gpr(m.base)) : "";
  if (hasIndex) text += (hasBase ? "+" : "") + registerName(gpr(m.index)) + "*" + std::to_string(m.scale);
  // A distance is there where the encoding has one: always without a base, and with rbp or r13.
  bool written = m.disp != 0 || !hasBase || (m.base & 7) == 5;
  return "[" + text + (!written ? "" : m.disp == 0 ? "+0x0" : signedHex(m.disp)) + "]";
}

std::string memoryText(Mnemonic mnemonic, const Mem& m) {
  if (mnemonic == Mnemonic::Lea) return addressText(m);
  bool prefetches = mnemonic >= Mnemonic::Prefetcht0 && mnemonic <= Mnemonic::Prefetchnta;
  return std::string(sizeName(prefetches ? 8 : m.bits)) + (m.copies ? " BCST " : " PTR ") + addressText(m);
}

// As many bits of an immediate as objdump shows.
unsigned immediateBits(const Form& form, const Operands& operands) {
  if (form.mnemonic == Mnemonic::Push) return 64;
  if (form.imm == Imm::ib) return 8;
  const Operand& o = operands.list[0];
  return o.isReg() ? o.reg.bits : o.mem.bits;
}

const char* const FloatPredicates[] = {"eq", "lt", "le", "unord", "neq", "nlt", "nle", "ord",
                                       "eq_uq", "nge", "ngt", "false", "neq_oq", "ge", "gt", "true",
                                       "eq_os", "lt_oq", "le_oq", "unord_s", "neq_us", "nlt_uq", "nle_uq", "ord_s",
                                       "eq_us", "nge_uq", "ngt_uq", "false_os", "neq_os", "ge_oq", "gt_oq", "true_us"};
const char* const IntPredicates[] = {"eq", "lt", "le", "", "neq", "nlt", "nle", ""};

// The predicate in the name, as vcmpltps: empty when this one has no name.
std::string predicateOf(const std::string& name, int64_t imm) {
  bool ofFloats = name.starts_with("vcmp");
  bool ofInts = name.starts_with("vpcmp") && !name.starts_with("vpcmpeq") && !name.starts_with("vpcmpgt");
  uint64_t n = uint64_t(imm) & 0xff;
  if (ofFloats && n < 32) return FloatPredicates[n];
  if (ofInts && n < 8) return IntPredicates[n];
  return "";
}

std::string nameText(Mnemonic mnemonic, const Form& form, const Operands& operands) {
  std::string name = mnemonicText(mnemonic);
  if (operands.count && operands.list[0].kind == Operand::Kind::Cond) {
    name.resize(name.size() - 2);
    return name + conditionName(operands.list[0].cond);
  }
  if (mnemonic == Mnemonic::Mov && form.imm == Imm::iq) return "movabs";
  return name;
}

// The forms without operands that objdump writes with some.
const std::map<Mnemonic, std::string> WholeTexts = {
    {Mnemonic::RepMovsb, "rep movs BYTE PTR es:[rdi],BYTE PTR ds:[rsi]"},
    {Mnemonic::RepMovsq, "rep movs QWORD PTR es:[rdi],QWORD PTR ds:[rsi]"},
    {Mnemonic::RepStosb, "rep stos BYTE PTR es:[rdi],al"},
    {Mnemonic::RepStosq, "rep stos QWORD PTR es:[rdi],rax"},
};

}  // namespace

std::string objdumpText(Mnemonic mnemonic, const Operands& operands) {
  if (auto whole = WholeTexts.find(mnemonic); whole != WholeTexts.end()) return whole->second;
  const Form& form = formOf(chooseForm(mnemonic, operands));
  std::string name = nameText(mnemonic, form, operands);
  std::vector<std::string> texts;
  for (int i = 0; i < operands.count; i++) {
    const Operand& o = operands.list[i];
    std::string text;
    if (o.kind == Operand::Kind::Cond) continue;
    if (o.isReg()) text = registerName(o.reg);
    if (o.isMem()) text = memoryText(mnemonic, o.mem);
    if (o.kind == Operand::Kind::Imm) {
      if (std::string predicate = predicateOf(name, o.imm); !predicate.empty()) {
        name.insert(name.starts_with("vp") ? 5 : 4, predicate);
        continue;
      }
      unsigned bits = immediateBits(form, operands);
      uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
      text = form.operands[i] == OperandKind::One ? "1" : hexText(uint64_t(o.imm) & mask);
    }
    if (texts.empty() && operands.mask) text += "{k" + std::to_string(operands.mask) + "}";
    if (texts.empty() && operands.zeroing) text += "{z}";
    texts.push_back(text);
  }
  // The accumulator of the short form and the register beside memory come last.
  bool turned = mnemonic == Mnemonic::Xchg && (form.opEn == OpEn::xO || operands.list[1].isMem());
  if (turned) std::swap(texts[0], texts[1]);
  std::string line = (operands.lock ? "lock " : "") + name;
  for (size_t i = 0; i < texts.size(); i++) line += (i ? "," : " ") + texts[i];
  return line;
}

std::string tidied(const std::string& line) {
  std::string text;
  for (char c : line.substr(0, line.find(" #"))) {
    if (std::isspace(static_cast<unsigned char>(c))) {
      if (!text.empty() && text.back() != ' ') text += ' ';
    } else {
      text += c;
    }
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  // Says that a form of the same name without EVEX exists for other operands.
  constexpr std::string_view evex = "{evex} ";
  if (text.starts_with(evex)) text.erase(0, evex.size());
  // How often an element is repeated follows from the bytes, which the assembler has compared.
  if (size_t to = text.find("{1to"); to != std::string::npos) text.erase(to, text.find('}', to) + 1 - to);
  return text;
}

}  // namespace encodetest
