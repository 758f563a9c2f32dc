// The enumeration of operands; see the header.
#include "encode_x64_enumerate.h"

#include <algorithm>
#include <set>

namespace encodetest {

using namespace mica::x64;

namespace {

constexpr int64_t MaxInt32 = 2147483647, MinInt32 = -MaxInt32 - 1;

// A form at one operand size, vector length and prefix.
struct Variant {
  const Form& form;
  unsigned size, length;
  bool evex, full;
  const Sink& sink;

  KindSizes sizes(int operand) const { return sizesOf(form.operands[operand], size, length); }
};

int operandCount(const Form& form) {
  int count = 0;
  while (count < 4 && form.operands[count] != OperandKind::_) count++;
  return count;
}

bool isCompare(const Form& form) { return form.operands[0] == OperandKind::K; }

bool allowsImmediate(const Form& form, unsigned size, int64_t value) {
  unsigned bits = size ? size : 64;
  if (form.imm == Imm::ib) bits = 8;
  for (OperandKind kind : form.operands) {
    bool isByte = kind == OperandKind::R8 || kind == OperandKind::RM8 || kind == OperandKind::M8;
    if (isByte || kind == OperandKind::AL) bits = 8;
    if (kind == OperandKind::R16) bits = 16;
    if (kind == OperandKind::R32 && form.imm != Imm::ib) bits = 32;
  }
  if (bits == 64) return form.imm == Imm::iq || (value >= MinInt32 && value <= MaxInt32);
  return value >= -(int64_t{1} << (bits - 1)) && value < (int64_t{1} << bits);
}

std::vector<Operand> immediates(const Variant& v) {
  static const int64_t values[] = {0, 1, -1, 2, 31, 127, 128, -128, -129, 255, 256, 32767, 32768, -32768, -32769, 65535,
                                   65536, MaxInt32, MinInt32, MaxInt32 + 1, MinInt32 - 1, 2 * MaxInt32 + 1,
                                   2 * MaxInt32 + 2, INT64_MAX, INT64_MIN};
  std::vector<Operand> list;
  for (int64_t value : values)
    if (allowsImmediate(v.form, v.size, value)) list.push_back(value);
  return list;
}

std::vector<int64_t> distances(int unit) {
  std::set<int64_t> set = {0, 1, -1, 127, 128, -128, -129, MaxInt32, MinInt32};
  for (int64_t by : {1, -1, 127, 128, -128, -129}) set.insert(by * unit);
  return {set.begin(), set.end()};
}

// Addresses with neither size nor broadcast.
std::vector<Mem> addresses(int unit, bool full) {
  std::vector<Mem> list;
  std::vector<int64_t> all = distances(unit);
  for (int64_t disp : all) {
    list.push_back(Mem::ripDistance(disp));
    list.push_back(Mem::absolute(disp));
    for (unsigned base : {0u, 4u, 5u, 12u, 13u}) list.push_back(Mem::at(gpr(base), disp));
  }
  for (unsigned base = 0; base < 16; base++) list.push_back(Mem::at(gpr(base)));
  for (unsigned scale : {1u, 2u, 4u, 8u})
    for (unsigned index = 0; index < 16; index++) {
      if (index == 4) continue;
      list.push_back(Mem::absolute(64).scaled(gpr(index), scale));
      if (!full) {
        list.push_back(Mem::at(gpr((index * 3 + scale) % 16), index % 2 ? unit : 0).scaled(gpr(index), scale));
        continue;
      }
      for (unsigned base = 0; base < 16; base++)
        for (int64_t disp : all) list.push_back(Mem::at(gpr(base), disp).scaled(gpr(index), scale));
    }
  return list;
}

// Every base with every index and scale. The distances (none, one byte, four bytes) change from one to the next and, with `turn`,
// from one instruction to the next.
std::vector<Mem> allPairs(int unit, unsigned turn) {
  const int64_t distances[] = {0, unit, 0, -128 * unit, 128 * unit, 0, 127 * unit, MinInt32, -129 * unit};
  std::vector<Mem> list;
  for (unsigned scale : {1u, 2u, 4u, 8u})
    for (unsigned index = 0; index < 16; index++)
      for (unsigned base = 0; base < 16; base++)
        if (index != 4) list.push_back(Mem::at(gpr(base), distances[turn++ % std::size(distances)]).scaled(gpr(index), scale));
  return list;
}

// A few addresses that between them use every field.
std::vector<Mem> fewAddresses(int unit) {
  return {Mem::at(rax), Mem::at(r13, unit), Mem::at(rsp, -128 * unit).scaled(r9, 4), Mem::at(r12, 128 * unit),
          Mem::at(rbp).scaled(rax, 1), Mem::ripDistance(1000), Mem::absolute(4096).scaled(r14, 8)};
}

unsigned registerCount(const Variant& v, KindSizes sizes) {
  return sizes.cls == RegClass::Mask ? 8 : sizes.cls == RegClass::Vector && v.evex ? 32 : 16;
}

Reg registerOf(KindSizes sizes, unsigned number) { return {sizes.cls, static_cast<uint8_t>(number), sizes.reg}; }

// The plain choice at each place. Partner 0, 1, 2: low, high and (EVEX) highest registers.
Operand plainOperand(const Variant& v, int place, int partner) {
  OperandKind kind = v.form.operands[place];
  switch (kind) {
    case OperandKind::AL: return rax.as(8);
    case OperandKind::CL: return rcx.as(8);
    case OperandKind::Av: return rax.as(static_cast<uint16_t>(v.size));
    case OperandKind::One: return 1;
    case OperandKind::Imm: return 3;
    case OperandKind::Cc: return partner ? Cond::G : Cond::O;
    default: break;
  }
  KindSizes sizes = v.sizes(place);
  if (sizes.reg) {
    static constexpr unsigned Partners[4] = {1, 10, 21, 30};
    unsigned number = Partners[partner] + static_cast<unsigned>(place);
    return registerOf(sizes, number % registerCount(v, sizes));
  }
  Mem mem = partner ? Mem::at(r11, 8) : Mem::at(rdx);
  return mem.sized(sizes.mem == AnySize ? 0 : sizes.mem);
}

Operands plainOperands(const Variant& v, int partner) {
  Operands operands;
  for (int i = 0; i < operandCount(v.form); i++) operands.add(plainOperand(v, i, partner));
  return operands;
}

int partnerCount(const Variant& v) { return v.evex ? 4 : 2; }

void varyRegisters(const Variant& v) {
  int count = operandCount(v.form);
  for (int partner = 0; partner < partnerCount(v); partner++) {
    Operands operands = plainOperands(v, partner);
    v.sink(v.form.mnemonic, operands);
    for (int i = 0; i < count; i++) {
      KindSizes sizes = v.sizes(i);
      if (!operands.list[i].isReg() || v.form.operands[i] == OperandKind::AL || v.form.operands[i] == OperandKind::CL ||
          v.form.operands[i] == OperandKind::Av)
        continue;
      Operands changed = operands;
      for (unsigned number = 0; number < registerCount(v, sizes); number++) {
        changed.list[i] = registerOf(sizes, number);
        v.sink(v.form.mnemonic, changed);
        for (int j = i + 1; v.full && j < count; j++) {
          if (!operands.list[j].isReg() || v.form.operands[j] == OperandKind::CL) continue;
          Operands both = changed;
          for (unsigned other = 0; other < registerCount(v, v.sizes(j)); other++) {
            both.list[j] = registerOf(v.sizes(j), other);
            v.sink(v.form.mnemonic, both);
          }
        }
      }
    }
  }
}

void varyImmediates(const Variant& v) {
  for (int i = 0; i < operandCount(v.form); i++) {
    if (v.form.operands[i] == OperandKind::Cc)
      for (int c = 0; c < 16; c++)
        for (int partner = 0; partner < 2; partner++) {
          Operands operands = plainOperands(v, partner);
          operands.list[i] = static_cast<Cond>(c);
          v.sink(v.form.mnemonic, operands);
        }
    if (v.form.operands[i] != OperandKind::Imm) continue;
    for (const Operand& imm : immediates(v))
      for (int partner = 0; partner < partnerCount(v); partner++) {
        Operands operands = plainOperands(v, partner);
        operands.list[i] = imm;
        v.sink(v.form.mnemonic, operands);
      }
  }
}

// The place that may be memory, or -1.
int memoryPlace(const Variant& v) {
  for (int i = 0; i < operandCount(v.form); i++)
    if (v.sizes(i).mem) return i;
  return -1;
}

void varyAddresses(const Variant& v, bool everyAddress) {
  int place = memoryPlace(v);
  if (place < 0) return;
  unsigned bits = v.sizes(place).mem == AnySize ? 0 : v.sizes(place).mem;
  unsigned element = v.form.allow & Bcst32 ? 32 : v.form.allow & Bcst64 ? 64 : 0;
  for (int partner = 0; partner < (v.evex ? 3 : 2); partner++) {
    Operands operands = plainOperands(v, partner);
    // A distance in EVEX counts in units of the operand's size.
    int unit = v.evex && bits > 1 ? static_cast<int>(bits / 8) : 1;
    bool every = everyAddress && partner == partnerCount(v) - 2 + !v.evex;
    for (const Mem& mem : every || v.full ? addresses(unit, v.full) : fewAddresses(unit)) {
      operands.list[place] = mem.sized(bits);
      v.sink(v.form.mnemonic, operands);
    }
    if (every && !v.full)
      for (const Mem& mem : allPairs(unit, unsigned(v.form.opcode) + v.size + v.length)) {
        operands.list[place] = mem.sized(bits);
        v.sink(v.form.mnemonic, operands);
      }
    for (int i = 0; i < operandCount(v.form); i++)
      if (v.form.operands[i] == OperandKind::Imm)
        for (const Operand& imm : immediates(v)) {
          Operands changed = operands;
          changed.list[place] = Mem::ripDistance(64).sized(bits);
          changed.list[i] = imm;
          v.sink(v.form.mnemonic, changed);
        }
    if (operands.list[place].isMem() && (v.form.allow & Locked) && place == 0) {
      for (const Mem& mem : fewAddresses(1)) {
        operands.list[place] = mem.sized(bits);
        v.sink(v.form.mnemonic, operands.locked());
      }
    }
    if (!v.evex || !element) continue;
    unit = static_cast<int>(element / 8);
    for (const Mem& mem : every || v.full ? addresses(unit, v.full) : fewAddresses(unit)) {
      operands.list[place] = mem.broadcast(element, bits / element);
      v.sink(v.form.mnemonic, operands);
      if (v.form.allow & Masked) v.sink(v.form.mnemonic, operands.masked(3));
    }
  }
}

void varyMasks(const Variant& v) {
  if (!v.evex || !(v.form.allow & Masked)) return;
  for (int partner = 0; partner < partnerCount(v); partner++) {
    Operands operands = plainOperands(v, partner);
    int place = memoryPlace(v);
    for (int withMemory = 0; withMemory < (place >= 0 ? 2 : 1); withMemory++) {
      if (withMemory) operands.list[place] = Mem::at(rsi, 64).sized(v.sizes(place).mem);
      for (unsigned k = 1; k < 8; k++) {
        v.sink(v.form.mnemonic, operands.masked(k));
        bool zeroes = (v.form.allow & Zeroed) == Zeroed && !operands.list[0].isMem() && !isCompare(v.form);
        if (zeroes) v.sink(v.form.mnemonic, operands.masked(k, true));
      }
    }
  }
}

}  // namespace

void enumerate(const Form& form, bool full, const Sink& receiver) {
  Sink sink = [&](Mnemonic mnemonic, const Operands& operands) {
    // A register is not exchanged with itself; the encoder refuses.
    if (mnemonic == Mnemonic::Xchg && operands.list[0].isReg() && operands.list[0].reg == operands.list[1].reg) return;
    receiver(mnemonic, operands);
  };
  for (OperandKind kind : form.operands)
    if (kind == OperandKind::Target) return;  // labels and symbols have tests of their own
  for (unsigned size : operandSizesOf(form))
    for (bool evex : {false, true}) {
      if (form.isVector ? (evex ? form.evexW : form.w) == W::None : evex) continue;
      unsigned shortest = 0;
      for (unsigned length : vectorLengthsOf(form, evex)) {
        Variant v{form, size, form.isVector ? length : 0, evex, full, sink};
        // A register move that the reversed form takes only for some registers is enumerated from its other row.
        bool onlyReversed = (form.allow & IfShorter) && !v.sizes(0).mem && evex;
        if (onlyReversed) continue;
        varyRegisters(v);
        varyImmediates(v);
        varyAddresses(v, shortest == 0 || evex);
        varyMasks(v);
        shortest = length;
      }
    }
}

}  // namespace encodetest
