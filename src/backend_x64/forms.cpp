// The table made from forms.def, and printing of its rows in the manual's notation.
#include "backend_x64/forms.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "backend_x64/disasm_names.h"

namespace mica::x64 {

namespace {

constexpr Form Table[] = {
#define OPERANDS(a, b, c, d) {OperandKind::a, OperandKind::b, OperandKind::c, OperandKind::d}
#define LEGACY(mnemonic, a, b, c, d, opEn, prefix, map, opcode, w, modRm, imm, allow)                     \
  {Mnemonic::mnemonic, OPERANDS(a, b, c, d), OpEn::opEn, Prefix::prefix, Map::map, opcode, false, W::w,   \
   W::None, Lengths::LIG, ModRm::modRm, Imm::imm, allow},
#define VECTOR(mnemonic, a, b, c, d, opEn, prefix, map, opcode, vexW, evexW, lengths, modRm, imm, allow)  \
  {Mnemonic::mnemonic, OPERANDS(a, b, c, d), OpEn::opEn, Prefix::prefix, Map::map, opcode, true, W::vexW, \
   W::evexW, Lengths::lengths, ModRm::modRm, Imm::imm, allow},
#include "backend_x64/forms.def"
#undef OPERANDS
#undef LEGACY
#undef VECTOR
};

constexpr size_t MnemonicCount = static_cast<size_t>(Mnemonic::Count);

// Where each mnemonic's rows begin; fails to compile when forms.def and mnemonics.def are not in the same order.
constexpr std::array<uint32_t, MnemonicCount + 1> startsOfMnemonics() {
  std::array<uint32_t, MnemonicCount + 1> starts{};
  uint32_t row = 0;
  for (size_t m = 0; m < MnemonicCount; m++) {
    starts[m] = row;
    while (row < std::size(Table) && Table[row].mnemonic == static_cast<Mnemonic>(m)) row++;
    if (row == starts[m]) throw "a mnemonic without rows, or rows out of the order of mnemonics.def";
  }
  if (row != std::size(Table)) throw "rows of one mnemonic do not stand together";
  starts[MnemonicCount] = row;
  return starts;
}
constexpr auto Starts = startsOfMnemonics();

constexpr bool isV(OperandKind k) {
  return k == OperandKind::Rv || k == OperandKind::RMv || k == OperandKind::Mv || k == OperandKind::Av;
}
constexpr bool isY(OperandKind k) { return k == OperandKind::Ry || k == OperandKind::RMy; }

constexpr uint8_t shapesOf(OperandKind kind) {
  switch (kind) {
    case OperandKind::_: return NoShape;
    case OperandKind::One:
    case OperandKind::Imm: return ImmShape;
    case OperandKind::Cc: return CondShape;
    case OperandKind::Target: return TargetShape;
    default: break;
  }
  KindSizes sizes = sizesOf(kind, 32, 512);
  unsigned shapes = sizes.mem ? MemShape : 0;
  if (sizes.reg) shapes |= registerShape(sizes.cls);
  return static_cast<uint8_t>(shapes);
}

constexpr std::array<FormFacts, std::size(Table)> gatherFacts() {
  std::array<FormFacts, std::size(Table)> all{};
  for (size_t row = 0; row < std::size(Table); row++) {
    FormFacts facts{0, -1, false};
    for (int i = 3; i >= 0; i--) {
      OperandKind kind = Table[row].operands[i];
      facts.shapes = facts.shapes << 8 | shapesOf(kind);
      if (!isV(kind) && !isY(kind)) continue;
      facts.sizePlace = static_cast<int8_t>(i);
      facts.takes16 = isV(kind);
    }
    all[row] = facts;
  }
  return all;
}
constexpr auto Facts = gatherFacts();

constexpr const char* OpEnNames[] = {"ZO", "I", "xI", "O", "Ox", "xO", "OI", "M", "MI", "Mx", "MR", "MRI", "MRx",
                                     "RM", "RMI", "RVM", "RVMI", "RVMS", "RMV", "VMI", "MVR", "CM", "CRM", "CD", "D"};
static_assert(std::size(OpEnNames) == static_cast<size_t>(OpEn::D) + 1);

constexpr unsigned NoSizes[] = {0}, SizesV[] = {16, 32, 64}, SizesY[] = {32, 64};
constexpr unsigned AllLengths[] = {128, 256, 512};

}  // namespace

std::span<const Form> allForms() { return Table; }
const Form& formOf(FormId id) { return Table[id.index]; }

FormRange formsOf(Mnemonic mnemonic) {
  auto m = static_cast<size_t>(mnemonic);
  return {Starts[m], Starts[m + 1]};
}

const char* rolesOf(OpEn opEn) { return opEn == OpEn::ZO ? "" : OpEnNames[static_cast<size_t>(opEn)]; }

const FormFacts& factsOf(uint32_t row) { return Facts[row]; }

std::span<const unsigned> operandSizesOf(const Form& form) {
  for (OperandKind k : form.operands) {
    if (isV(k)) return SizesV;
    if (isY(k)) return SizesY;
  }
  return NoSizes;
}

std::span<const unsigned> vectorLengthsOf(const Form& form, bool evex) {
  std::span<const unsigned> all = AllLengths;
  switch (form.lengths) {
    case Lengths::LIG:
    case Lengths::L0:
    case Lengths::L1:
    case Lengths::L128: return all.first(1);
    case Lengths::L256: return all.subspan(1, 1);
    case Lengths::L512: return all.subspan(2, 1);
    case Lengths::L12: return all.first(2);
    case Lengths::L25: return evex ? all.subspan(1) : all.subspan(1, 1);
    case Lengths::L125: return evex ? all : all.first(2);
  }
  return {};
}

namespace {

std::string hexByte(unsigned value) {
  char text[4];
  std::snprintf(text, sizeof text, "%02X", value);
  return text;
}

std::string immText(Imm imm, unsigned size) {
  switch (imm) {
    case Imm::ib:
    case Imm::ibs: return "ib";
    case Imm::iw: return "iw";
    case Imm::iz: return size == 16 ? "iw" : "id";
    case Imm::id: return "id";
    case Imm::iq: return "io";
    case Imm::is4: return "/is4";
    case Imm::rel: return "cd";
    case Imm::None: break;
  }
  return "";
}

std::string immOperandText(Imm imm, unsigned size) {
  switch (imm) {
    case Imm::iw: return "imm16";
    case Imm::iz: return size == 16 ? "imm16" : "imm32";
    case Imm::id: return "imm32";
    case Imm::iq: return "imm64";
    default: return "imm8";
  }
}

// An operand as the manual writes it; `number` counts from 1 among the vector operands.
std::string operandText(const Form& form, OperandKind kind, unsigned size, unsigned length, bool evex, int number) {
  switch (kind) {
    case OperandKind::AL: return "AL";
    case OperandKind::CL: return "CL";
    case OperandKind::One: return "1";
    case OperandKind::Av: return size == 16 ? "AX" : size == 32 ? "EAX" : "RAX";
    case OperandKind::Imm: return immOperandText(form.imm, size);
    case OperandKind::Target: return "rel32";
    case OperandKind::Cc: return "cc";
    case OperandKind::M: return "m";
    default: break;
  }
  KindSizes sizes = sizesOf(kind, size, length);
  std::string memory = sizes.mem ? "m" + std::to_string(sizes.mem) : "";
  if (!sizes.reg) return memory;
  if (sizes.cls == RegClass::General) return (memory.empty() ? "r" : "r/m") + std::to_string(sizes.reg);
  const char* name = sizes.cls == RegClass::Mask ? "k" : sizes.reg == 128 ? "xmm" : sizes.reg == 256 ? "ymm" : "zmm";
  std::string text = name + std::to_string(number);
  if (!memory.empty()) text += "/" + memory;
  if (!memory.empty() && evex && (form.allow & Bcst32)) text += "/m32bcst";
  if (!memory.empty() && evex && (form.allow & Bcst64)) text += "/m64bcst";
  return text;
}

std::string prefixText(const Form& form, unsigned size, unsigned length, bool evex) {
  static constexpr const char* Prefixes[] = {"", "66", "F3", "F2"};
  static constexpr const char* Maps[] = {"", "0F", "0F38", "0F3A"};
  std::string prefix = Prefixes[static_cast<int>(form.prefix)], map = Maps[static_cast<int>(form.map)];
  if (!form.isVector) {
    if (size == 16 && form.w == W::Wv) prefix = prefix.empty() ? "66" : "66 " + prefix;
    bool rexW = form.w == W::W1 || (form.w == W::Wv && size == 64);
    std::string text = prefix;
    if (rexW) text += text.empty() ? "REX.W" : " REX.W";
    if (!text.empty()) text += rexW ? " + " : " ";
    if (!map.empty()) text += map.substr(0, 2) + " ";
    if (map.size() > 2) text += map.substr(2) + " ";
    return text;
  }
  W w = evex ? form.evexW : form.w;
  std::string l = std::to_string(length);
  if (form.lengths == Lengths::LIG) l = "LIG";
  if (form.lengths == Lengths::L0) l = "L0";
  if (form.lengths == Lengths::L1) l = "L1";
  std::string text = (evex ? "EVEX." : "VEX.") + l + "." + (prefix.empty() ? "" : prefix + ".") + map;
  bool wBit = w == W::W1 || (w == W::Wv && size == 64);
  return text + (w == W::WIG ? ".WIG " : wBit ? ".W1 " : ".W0 ");
}

std::string describeOne(const Form& form, unsigned size, unsigned length, bool evex) {
  std::string text = prefixText(form, size, length, evex) + hexByte(form.opcode);
  std::string roles = rolesOf(form.opEn);
  if (size_t o = roles.find('O'); o != std::string::npos) {
    unsigned bits = sizesOf(form.operands[o], size, length).reg;
    text += bits == 8 ? "+rb" : bits == 16 ? "+rw" : bits == 64 && form.w != W::None ? "+ro" : "+rd";
  }
  if (roles.find('C') != std::string::npos) text += "+cc";
  if (form.modRm == ModRm::Sr) text += " /r";
  else if (form.modRm <= ModRm::S7) text += " /" + std::to_string(static_cast<int>(form.modRm));
  else if (form.modRm != ModRm::None) text += " " + hexByte(static_cast<unsigned>(form.modRm));
  if (form.imm != Imm::None) text += " " + immText(form.imm, size);
  std::string mnemonic = mnemonicText(form.mnemonic);
  for (char& c : mnemonic) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  text += "  " + mnemonic;
  int number = 0;
  for (int i = 0; i < 4 && form.operands[i] != OperandKind::_; i++) {
    KindSizes sizes = sizesOf(form.operands[i], size, length);
    if (sizes.reg && sizes.cls != RegClass::General) number++;
    text += (i ? ", " : " ") + operandText(form, form.operands[i], size, length, evex, number);
    if (i == 0 && evex && (form.allow & Masked)) text += (form.allow & Zeroed) == Zeroed ? "{k1}{z}" : "{k1}";
  }
  return text + "  " + (roles.empty() ? "ZO" : roles);
}

}  // namespace

std::vector<std::string> describeForm(const Form& form) {
  std::vector<std::string> lines;
  for (unsigned size : operandSizesOf(form)) {
    if (!form.isVector) {
      lines.push_back(describeOne(form, size, 0, false));
      continue;
    }
    for (bool evex : {false, true})
      if ((evex ? form.evexW : form.w) != W::None)
        for (unsigned length : vectorLengthsOf(form, evex)) lines.push_back(describeOne(form, size, length, evex));
  }
  return lines;
}

}  // namespace mica::x64
