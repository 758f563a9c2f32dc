// Choosing a form for operands, and writing its bytes. The order of the functions is the order of the work: do the
// operands fit, which prefix do they need, then prefix, opcode, ModRM with address, immediate.
#include "backend_x64/encoder.h"

#include "backend_x64/disasm_names.h"
#include "backend_x64/forms.h"

namespace mica::x64 {

namespace {

// How operands fill a form: the operand size, the vector length and the prefix that are used.
struct Choice {
  unsigned size = 0;
  unsigned length = 0;
  bool evex = false;
};

// Why operands do not fit, as text for a message; null when they do.
using Reason = const char*;

constexpr Reason WrongKind = "an operand is of the wrong kind";

// The reason of the attempt that came furthest, over the rows and lengths tried. Of two that stop at the same
// operand, one where at least its kind is right came further.
struct Nearest {
  Reason reason = "no form takes operands of these kinds";
  int reached = -1;
  void consider(Reason other, int operandsMatched) {
    int otherReached = 2 * operandsMatched + (other != WrongKind);
    if (otherReached > reached) reason = other, reached = otherReached;
  }
};

template <class T> constexpr bool fitsIn(int64_t value) { return value == static_cast<T>(value); }

// An immediate may be written as signed or as unsigned number of its width.
bool fitsInBits(int64_t value, unsigned bits) {
  return bits >= 64 || (value >= -(int64_t{1} << (bits - 1)) && value < (int64_t{1} << bits));
}

int64_t signExtend(int64_t value, unsigned bits) {
  return bits >= 64 ? value : static_cast<int64_t>(static_cast<uint64_t>(value) << (64 - bits)) >> (64 - bits);
}

int immBytes(Imm imm, unsigned size) {
  switch (imm) {
    case Imm::ib:
    case Imm::ibs:
    case Imm::is4: return 1;
    case Imm::iw: return 2;
    case Imm::iz: return size == 16 ? 2 : 4;
    case Imm::id: return 4;
    case Imm::iq: return 8;
    case Imm::None:
    case Imm::rel: break;
  }
  return 0;
}

bool immFits(int64_t value, Imm imm, unsigned size) {
  switch (imm) {
    case Imm::ib: return fitsInBits(value, 8);
    case Imm::ibs: return fitsInBits(value, size) && fitsIn<int8_t>(signExtend(value, size));
    case Imm::iw: return fitsInBits(value, 16);
    case Imm::iz: return size == 64 ? fitsIn<int32_t>(value) : fitsInBits(value, size);
    case Imm::id: return size == 64 ? fitsIn<int32_t>(value) : fitsInBits(value, 32);
    default: return true;
  }
}

Reason addressFault(const Mem& mem) {
  if (!fitsIn<int32_t>(mem.disp)) return "the distance does not fit in 32 bits";
  if (mem.kind != Mem::Kind::Plain) {
    if (mem.base != Mem::None || mem.index != Mem::None) return "an address relative to rip has no other registers";
    return nullptr;
  }
  if (mem.base != Mem::None && mem.base > 15) return "there is no such base register";
  if (mem.index == Mem::None) return nullptr;
  if (mem.index > 15) return "there is no such index register";
  if (mem.index == 4) return "rsp cannot be an index";
  if (mem.scale != 1 && mem.scale != 2 && mem.scale != 4 && mem.scale != 8) return "the scale is not 1, 2, 4 or 8";
  return nullptr;
}

Reason registerFault(Reg reg, KindSizes want, bool evex) {
  if (want.reg == 0 || reg.cls != want.cls) return WrongKind;
  if (reg.cls == RegClass::Mask) return reg.number < 8 ? nullptr : "there is no such mask register";
  if (reg.bits != want.reg) return "a register is of the wrong size";
  if (reg.number >= (reg.cls == RegClass::Vector ? 32 : 16)) return "there is no such register";
  if (reg.number >= 16 && !evex) return "the form has no encoding with registers 16 to 31";
  return nullptr;
}

Reason memoryFault(const Mem& mem, KindSizes want, uint8_t allow, bool evex) {
  if (want.mem == 0) return WrongKind;
  if (mem.copies == 0) {
    if (want.mem != AnySize && mem.bits != want.mem) return "memory is of the wrong size";
  } else {
    unsigned element = allow & Bcst32 ? 32 : allow & Bcst64 ? 64 : 0;
    if (!evex || element == 0 || mem.bits != element) return "the form has no such broadcast";
    if (mem.copies * element != want.mem) return "the broadcast repeats the wrong number of times";
  }
  return addressFault(mem);
}

Reason operandFault(const Form& form, OperandKind kind, const Operand& operand, const Choice& choice) {
  KindSizes want = sizesOf(kind, choice.size, choice.length);
  switch (operand.kind) {
    case Operand::Kind::Reg:
      if (kind == OperandKind::AL || kind == OperandKind::Av) {
        if (operand.reg.number != 0) return WrongKind;
      } else if (kind == OperandKind::CL && operand.reg.number != 1) {
        return WrongKind;
      }
      return registerFault(operand.reg, want, choice.evex);
    case Operand::Kind::Mem: return memoryFault(operand.mem, want, form.allow, choice.evex);
    case Operand::Kind::Imm:
      if (kind == OperandKind::One) return operand.imm == 1 ? nullptr : WrongKind;
      if (kind != OperandKind::Imm) return WrongKind;
      return immFits(operand.imm, form.imm, choice.size) ? nullptr : "the immediate does not fit";
    case Operand::Kind::Cond: return kind == OperandKind::Cc ? nullptr : WrongKind;
    case Operand::Kind::Label: return kind == OperandKind::Target ? nullptr : WrongKind;
    case Operand::Kind::Symbol:
      if (kind != OperandKind::Target) return WrongKind;
      return fitsIn<int32_t>(operand.symbol.addend) ? nullptr : "the addend does not fit in 32 bits";
    case Operand::Kind::None: break;
  }
  return WrongKind;
}

Reason decorationFault(const Form& form, const Operands& operands, bool evex) {
  bool toMemory = operands.list[0].isMem();
  if (operands.lock && (!(form.allow & Locked) || !toMemory)) return "the form cannot be locked";
  if (operands.mask > 7) return "there is no such mask register";
  if (operands.mask && (!evex || !(form.allow & Masked))) return "the form cannot be masked";
  bool canZero = operands.mask && (form.allow & Zeroed) == Zeroed && !toMemory;
  if (operands.zeroing && !canZero) return "the form cannot zero lanes";
  return nullptr;
}

int operandWithRole(const Form& form, char role) {
  const char* roles = rolesOf(form.opEn);
  for (int i = 0; roles[i]; i++)
    if (roles[i] == role) return i;
  return -1;
}

bool wantsEvex(const Operands& operands) {
  if (operands.mask) return true;
  for (int i = 0; i < operands.count; i++) {
    const Operand& o = operands.list[i];
    if (o.isReg() && o.reg.cls == RegClass::Vector && (o.reg.number >= 16 || o.reg.bits == 512)) return true;
    if (o.isMem() && o.mem.copies) return true;
  }
  return false;
}

// Register moves exist in two directions. The one that stores is taken where the source, but not the destination, is
// a high register: then R instead of B is needed and the VEX prefix has two bytes.
bool reversalSaves(const Form& form, const Operands& operands, bool evex) {
  const Operand& rm = operands.list[operandWithRole(form, 'M')];
  const Operand& reg = operands.list[operandWithRole(form, 'R')];
  if (rm.isMem()) return true;
  return !evex && rm.reg.number < 8 && reg.reg.number >= 8;
}

// The operand size that the operands ask for. Where the form has one size, that of a general register tells how wide an
// immediate is.
unsigned sizeAsked(const FormFacts& facts, const Operands& operands) {
  if (facts.sizePlace >= 0) {
    const Operand& o = operands.list[facts.sizePlace];
    return o.isReg() ? o.reg.bits : o.mem.bits;
  }
  for (int i = 0; i < operands.count; i++)
    if (operands.list[i].isReg() && operands.list[i].reg.cls == RegClass::General) return operands.list[i].reg.bits;
  return 64;
}

bool sizeExists(const FormFacts& facts, unsigned size) {
  return facts.sizePlace < 0 || size == 32 || size == 64 || (size == 16 && facts.takes16);
}

uint8_t shapeOf(const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::None: return NoShape;
    case Operand::Kind::Reg: return registerShape(operand.reg.cls);
    case Operand::Kind::Mem: return MemShape;
    case Operand::Kind::Imm: return ImmShape;
    case Operand::Kind::Cond: return CondShape;
    case Operand::Kind::Label:
    case Operand::Kind::Symbol: return TargetShape;
  }
  return 0;
}

uint32_t shapesOf(const Operands& operands) {
  uint32_t shapes = 0;
  for (int i = 3; i >= 0; i--) shapes = shapes << 8 | shapeOf(operands.list[i]);
  return shapes;
}

bool fits(const Form& form, const Operands& operands, const Choice& choice, Nearest& nearest) {
  for (int i = 0; i < operands.count; i++)
    if (Reason r = operandFault(form, form.operands[i], operands.list[i], choice)) return nearest.consider(r, i), false;
  Reason reason = decorationFault(form, operands, choice.evex);
  bool wrongWay = (form.allow & IfShorter) && !reversalSaves(form, operands, choice.evex);
  if (!reason && wrongWay) reason = "the other direction is preferred";
  if (reason) nearest.consider(reason, operands.count);
  return !reason;
}

// A register exchanged with itself would be NOP in the short form, or clear the upper half in the long one: nobody
// means that.
bool exchangesItself(const Form& form, const Operands& operands) {
  return form.mnemonic == Mnemonic::Xchg && operands.list[0].isReg() && operands.list[0].reg == operands.list[1].reg;
}

bool choose(uint32_t row, uint32_t shapes, const Operands& operands, Choice& choice, Nearest& nearest) {
  const FormFacts& facts = factsOf(row);
  if ((facts.shapes & shapes) != shapes) return false;
  const Form& form = formOf(FormId(row));
  choice.size = sizeAsked(facts, operands);
  if (!sizeExists(facts, choice.size)) return nearest.consider("there is no such operand size", 0), false;
  if (!form.isVector) {
    choice.length = 0;
    choice.evex = false;
    if (exchangesItself(form, operands)) return nearest.consider("a register is exchanged with itself", 2), false;
    return fits(form, operands, choice, nearest);
  }
  bool evex = wantsEvex(operands);
  if (evex && form.evexW == W::None) return nearest.consider("the form has no EVEX encoding", 0), false;
  for (unsigned length : vectorLengthsOf(form, form.evexW != W::None)) {
    choice.length = length;
    choice.evex = evex || length == 512 || form.w == W::None;
    if (fits(form, operands, choice, nearest)) return true;
  }
  return false;
}

// The first row that takes the operands, or none.
FormId chooseRow(Mnemonic mnemonic, const Operands& operands, Choice& choice, Nearest& nearest) {
  FormRange range = formsOf(mnemonic);
  uint32_t shapes = shapesOf(operands);
  for (uint32_t row = range.first; row < range.end; row++)
    if (choose(row, shapes, operands, choice, nearest)) return FormId(row);
  return FormId();
}

// What goes into ModRM, SIB and the prefixes' register bits, gathered from the operands by their roles.
struct Fields {
  unsigned reg = 0;      // ModRM.reg with its extensions: 0 to 31
  unsigned vvvv = 0;     // 0 to 31
  unsigned rm = 0;       // a register in ModRM.rm or in the opcode
  const Mem* mem = nullptr;
  int64_t imm = 0;
  unsigned condition = 0;
  const Operand* target = nullptr;
  bool lowByte = false;  // spl, bpl, sil or dil: needs a REX prefix even if empty
  bool hasModRm = false;

  unsigned x() const { return mem ? (mem->index != Mem::None ? mem->index >> 3 & 1 : 0) : 0; }
  unsigned b() const { return mem ? (mem->base != Mem::None ? mem->base >> 3 & 1 : 0) : rm >> 3 & 1; }
  unsigned r() const { return reg >> 3 & 1; }
};

Fields gather(const Form& form, const Operands& operands) {
  Fields f;
  f.hasModRm = form.modRm <= ModRm::Sr;
  if (form.modRm <= ModRm::S7) f.reg = static_cast<unsigned>(form.modRm);
  const char* roles = rolesOf(form.opEn);
  for (int i = 0; i < operands.count; i++) {
    const Operand& o = operands.list[i];
    switch (roles[i]) {
      case 'R': f.reg = o.reg.number; break;
      case 'V': f.vvvv = o.reg.number; break;
      case 'O': f.rm = o.reg.number; break;
      case 'M':
        if (o.isMem()) f.mem = &o.mem;
        else f.rm = o.reg.number;
        break;
      case 'I': f.imm = o.imm; break;
      case 'S': f.imm = o.reg.number << 4; break;
      case 'C': f.condition = static_cast<unsigned>(o.cond); break;
      case 'D': f.target = &o; break;
      default: break;
    }
    bool byteReg = o.isReg() && o.reg.cls == RegClass::General && o.reg.bits == 8;
    if (byteReg && o.reg.number >= 4 && o.reg.number < 8) f.lowByte = true;
  }
  return f;
}

void legacyPrefixes(CodeBuffer& buffer, const Form& form, const Choice& choice, const Fields& f, bool lock) {
  static constexpr uint8_t Mandatory[] = {0, 0x66, 0xf3, 0xf2};
  if (form.w == W::Wv && choice.size == 16) buffer.byte(0x66);
  if (form.prefix != Prefix::NP) buffer.byte(Mandatory[static_cast<int>(form.prefix)]);
  if (lock) buffer.byte(0xf0);
  bool w = form.w == W::W1 || (form.w == W::Wv && choice.size == 64);
  unsigned rex = (w ? 8 : 0) | f.r() << 2 | f.x() << 1 | f.b();
  if (rex || f.lowByte) buffer.byte(static_cast<uint8_t>(0x40 | rex));
  if (form.map != Map::Plain) buffer.byte(0x0f);
  if (form.map == Map::M0F38) buffer.byte(0x38);
  if (form.map == Map::M0F3A) buffer.byte(0x3a);
}

unsigned wBit(W w, unsigned size) { return w == W::W1 || (w == W::Wv && size == 64); }

void vexPrefix(CodeBuffer& buffer, const Form& form, const Choice& choice, const Fields& f) {
  unsigned w = wBit(form.w, choice.size);
  unsigned l = form.lengths == Lengths::L1 || choice.length == 256;
  unsigned last = (~f.vvvv & 15) << 3 | l << 2 | static_cast<unsigned>(form.prefix);
  if (form.map == Map::M0F && !w && !f.x() && !f.b()) {
    buffer.byte(0xc5);
    buffer.byte(static_cast<uint8_t>((f.r() ^ 1) << 7 | last));
    return;
  }
  buffer.byte(0xc4);
  unsigned extensions = (f.r() ^ 1) << 7 | (f.x() ^ 1) << 6 | (f.b() ^ 1) << 5;
  buffer.byte(static_cast<uint8_t>(extensions | static_cast<unsigned>(form.map)));
  buffer.byte(static_cast<uint8_t>(w << 7 | last));
}

void evexPrefix(CodeBuffer& buffer, const Form& form, const Choice& choice, const Fields& f, const Operands& operands) {
  unsigned length = choice.length == 512 ? 2 : choice.length == 256 ? 1 : 0;
  // A register in ModRM.rm has its highest bit in X.
  unsigned x = f.mem ? f.x() : f.rm >> 4 & 1;
  unsigned broadcast = f.mem && f.mem->copies;
  unsigned extensions = (f.r() ^ 1) << 7 | (x ^ 1) << 6 | (f.b() ^ 1) << 5 | (~f.reg >> 4 & 1) << 4;
  unsigned w = wBit(form.evexW, choice.size);
  buffer.byte(0x62);
  buffer.byte(static_cast<uint8_t>(extensions | static_cast<unsigned>(form.map)));
  buffer.byte(static_cast<uint8_t>(w << 7 | (~f.vvvv & 15) << 3 | 4 | static_cast<unsigned>(form.prefix)));
  unsigned decoration = unsigned{operands.zeroing} << 7 | length << 5 | broadcast << 4 | operands.mask;
  buffer.byte(static_cast<uint8_t>(decoration | (~f.vvvv >> 4 & 1) << 3));
}

uint8_t modRm(unsigned mod, unsigned reg, unsigned rm) {
  return static_cast<uint8_t>(mod << 6 | (reg & 7) << 3 | (rm & 7));
}

void ripAddress(CodeBuffer& buffer, const Mem& mem, unsigned reg, int bytesAfter) {
  buffer.byte(modRm(0, reg, 5));
  switch (mem.kind) {
    case Mem::Kind::RipLabel: buffer.labelField(mem.label, bytesAfter - static_cast<int>(mem.disp)); break;
    case Mem::Kind::RipSymbol: buffer.symbolField(elf::RelocKind::Pc32, mem.symbol, mem.disp - 4 - bytesAfter); break;
    case Mem::Kind::RipDistance: buffer.little(static_cast<uint64_t>(mem.disp), 4); break;
    case Mem::Kind::Plain: break;
  }
}

// ModRM, SIB and distance. A one-byte distance counts in units of `unit` (EVEX: the size of the memory operand).
void address(CodeBuffer& buffer, const Mem& mem, unsigned reg, int unit, int bytesAfter) {
  if (mem.kind != Mem::Kind::Plain) return ripAddress(buffer, mem, reg, bytesAfter);
  bool hasIndex = mem.index != Mem::None;
  unsigned scale = mem.scale == 8 ? 3 : mem.scale == 4 ? 2 : mem.scale == 2 ? 1 : 0;
  auto sib = [&](unsigned base) { buffer.byte(modRm(hasIndex ? scale : 0, hasIndex ? mem.index : 4, base)); };
  if (mem.base == Mem::None) {
    buffer.byte(modRm(0, reg, 4));
    sib(5);
    buffer.little(static_cast<uint64_t>(mem.disp), 4);
    return;
  }
  // rbp and r13 without a distance would mean something else; rsp and r12 as base need a SIB byte.
  unsigned mod = 2;
  if (mem.disp == 0 && (mem.base & 7) != 5) mod = 0;
  else if (mem.disp % unit == 0 && fitsIn<int8_t>(mem.disp / unit)) mod = 1;
  bool needsSib = hasIndex || (mem.base & 7) == 4;
  buffer.byte(modRm(mod, reg, needsSib ? 4 : mem.base));
  if (needsSib) sib(mem.base);
  if (mod == 1) buffer.byte(static_cast<uint8_t>(mem.disp / unit));
  if (mod == 2) buffer.little(static_cast<uint64_t>(mem.disp), 4);
}

void transfer(CodeBuffer& buffer, const Form& form, const Fields& f) {
  if (f.target->kind == Operand::Kind::Label) {
    if (form.mnemonic == Mnemonic::Jmp) return buffer.jump(f.target->label);
    if (form.mnemonic == Mnemonic::Jcc) return buffer.jumpIf(static_cast<Cond>(f.condition), f.target->label);
  }
  if (form.map == Map::M0F) buffer.byte(0x0f);
  buffer.byte(static_cast<uint8_t>(form.opcode + f.condition));
  if (f.target->kind == Operand::Kind::Label) buffer.labelField(f.target->label, 0);
  else buffer.symbolField(elf::RelocKind::Pc32, f.target->symbol.symbol, f.target->symbol.addend - 4);
}

void write(CodeBuffer& buffer, const Form& form, const Operands& operands, const Choice& choice) {
  Fields f = gather(form, operands);
  if (f.target) return transfer(buffer, form, f);
  if (choice.evex) evexPrefix(buffer, form, choice, f, operands);
  else if (form.isVector) vexPrefix(buffer, form, choice, f);
  else legacyPrefixes(buffer, form, choice, f, operands.lock);
  bool inOpcode = !f.hasModRm && operandWithRole(form, 'O') >= 0;
  buffer.byte(static_cast<uint8_t>(form.opcode + f.condition + (inOpcode ? f.rm & 7 : 0)));
  int bytesAfter = immBytes(form.imm, choice.size);
  if (f.hasModRm) {
    if (f.mem) address(buffer, *f.mem, f.reg, choice.evex ? f.mem->bits / 8 : 1, bytesAfter);
    else buffer.byte(modRm(3, f.reg, f.rm));
  } else if (form.modRm != ModRm::None) {
    buffer.byte(static_cast<uint8_t>(form.modRm));
  }
  buffer.little(static_cast<uint64_t>(f.imm), bytesAfter);
}

}  // namespace

FormId chooseForm(Mnemonic mnemonic, const Operands& operands) {
  Choice choice;
  Nearest nearest;
  return chooseRow(mnemonic, operands, choice, nearest);
}

bool encode(CodeBuffer& buffer, FormId id, const Operands& operands) {
  Choice choice;
  Nearest nearest;
  if (!choose(id.index, shapesOf(operands), operands, choice, nearest)) {
    buffer.refuse("`" + instructionText(formOf(id).mnemonic, operands) + "`: " + nearest.reason);
    return false;
  }
  write(buffer, formOf(id), operands, choice);
  return true;
}

bool tryEmit(CodeBuffer& buffer, Mnemonic mnemonic, const Operands& operands) {
  Choice choice;
  Nearest nearest;
  FormId id = chooseRow(mnemonic, operands, choice, nearest);
  if (!id) {
    buffer.refuse("`" + instructionText(mnemonic, operands) + "` has no form: " + nearest.reason);
    return false;
  }
  write(buffer, formOf(id), operands, choice);
  return true;
}

void emit(CodeBuffer& buffer, Mnemonic mnemonic, const Operands& operands) {
  if (!tryEmit(buffer, mnemonic, operands)) internalError("x86-64 encoder: " + buffer.refusal());
}

}  // namespace mica::x64
