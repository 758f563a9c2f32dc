// Labels, fields and the final layout of a function's code; see code_buffer.h for the idea.
#include "backend_x64/code_buffer.h"

#include <algorithm>
#include <cstring>

namespace mica::x64 {

namespace {

constexpr uint32_t JumpShort = 2, JumpLong = 5, ConditionalLong = 6;

// The recommended no-operations of one to eleven bytes.
constexpr int LongestNop = 11;
constexpr uint8_t Nops[LongestNop][LongestNop] = {
    {0x90},                                                              // nop
    {0x66, 0x90},                                                        // xchg ax, ax
    {0x0f, 0x1f, 0x00},                                                  // nop dword ptr [rax]
    {0x0f, 0x1f, 0x40, 0x00},                                            // nop dword ptr [rax+0], 8-bit distance
    {0x0f, 0x1f, 0x44, 0x00, 0x00},                                      // nop dword ptr [rax+rax+0], 8-bit distance
    {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},                                // nop word ptr [rax+rax+0]
    {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},                          // nop dword ptr [rax+0], 32-bit distance
    {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},                    // nop dword ptr [rax+rax+0], 32-bit distance
    {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},              // nop word ptr [rax+rax+0]
    {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},        // the same with segment CS, which is ignored
    {0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},  // and an idle operand-size prefix
};

void appendNops(std::string& code, uint32_t count) {
  while (count > 0) {
    uint32_t length = std::min<uint32_t>(count, LongestNop);
    code.append(reinterpret_cast<const char*>(Nops[length - 1]), length);
    count -= length;
  }
}

uint32_t distanceTo(uint32_t at, uint32_t boundary) { return (boundary - at % boundary) % boundary; }

void store32(std::string& code, uint32_t at, uint32_t value) {
  for (int i = 0; i < 4; i++) code[at + i] = static_cast<char>(value >> (8 * i));
}

}  // namespace

Label CodeBuffer::newLabel() {
  labels.push_back(Unbound);
  return Label(static_cast<uint32_t>(labels.size() - 1));
}

void CodeBuffer::bind(Label label) {
  if (isBound(label)) internalError("a code label is bound twice");
  labels[label.index] = size();
}

void CodeBuffer::little(uint64_t value, int size) {
  for (int i = 0; i < size; i++) byte(static_cast<uint8_t>(value >> (8 * i)));
}

void CodeBuffer::raw(const void* data, size_t size) { code.append(static_cast<const char*>(data), size); }

void CodeBuffer::nops(uint32_t count) { appendNops(code, count); }

void CodeBuffer::align(uint32_t boundary) { pad(Elastic::AlignCode, boundary); }
void CodeBuffer::zerosTo(uint32_t boundary) { pad(Elastic::AlignData, boundary); }

void CodeBuffer::pad(Elastic::Kind kind, uint32_t boundary) {
  bool isPower = boundary != 0 && (boundary & (boundary - 1)) == 0;
  if (!isPower || boundary > 64) internalError("code aligned to an odd boundary");
  Elastic e;
  e.kind = kind;
  e.at = size();
  e.boundary = boundary;
  // The longest padding, so that the first layout is never shorter than the last.
  e.length = boundary - 1;
  elastics.push_back(e);
  code.append(e.length, 0);
}

void CodeBuffer::symbolField(elf::RelocKind kind, uint32_t symbol, int64_t addend) {
  symbolFields.push_back({size(), kind, symbol, addend});
  code.append(kind == elf::RelocKind::Abs64 ? 8 : 4, 0);
}

void CodeBuffer::labelField(Label target, int bytesToEnd) {
  labelUses.push_back({size(), bytesToEnd, target, Label()});
  code.append(4, 0);
}

void CodeBuffer::labelDelta(Label target, Label base) {
  labelUses.push_back({size(), 0, target, base});
  code.append(4, 0);
}

void CodeBuffer::branch(Elastic::Kind kind, Cond condition, Label target) {
  Elastic e;
  e.kind = kind;
  e.condition = condition;
  e.at = size();
  e.length = kind == Elastic::Jump ? JumpLong : ConditionalLong;
  e.target = target;
  elastics.push_back(e);
  code.append(e.length, 0);
}

void CodeBuffer::jump(Label target) { branch(Elastic::Jump, Cond::O, target); }
void CodeBuffer::jumpIf(Cond condition, Label target) { branch(Elastic::Conditional, condition, target); }

// Where the byte at `before` of the first layout lies in the layout being tried.
uint32_t CodeBuffer::finalOffset(uint32_t before) const {
  auto next = std::partition_point(elastics.begin(), elastics.end(),
                                   [&](const Elastic& e) { return e.at + e.length <= before && e.at < before; });
  if (next == elastics.begin()) return before;
  const Elastic& e = *(next - 1);
  return e.newAt + e.newLength + (before - e.at - e.length);
}

// Gives every elastic place its length and offset, as the branches now stand.
void CodeBuffer::layOut() {
  uint32_t shrunk = 0;
  for (Elastic& e : elastics) {
    e.newAt = e.at - shrunk;
    switch (e.kind) {
      case Elastic::Jump: e.newLength = e.isLong ? JumpLong : JumpShort; break;
      case Elastic::Conditional: e.newLength = e.isLong ? ConditionalLong : JumpShort; break;
      case Elastic::AlignCode:
      case Elastic::AlignData: e.newLength = distanceTo(e.newAt, e.boundary); break;
    }
    shrunk += e.length - e.newLength;
  }
}

// Makes the short branches long that do not reach in this layout; false when there are none. A branch never shrinks
// again, so this ends even where padding moves targets to and fro.
bool CodeBuffer::growBranches() {
  bool grown = false;
  for (Elastic& e : elastics) {
    if (e.isLong || e.kind == Elastic::AlignCode || e.kind == Elastic::AlignData) continue;
    int64_t distance = int64_t{finalOffset(labels[e.target.index])} - (e.newAt + e.newLength);
    if (distance < -128 || distance > 127) e.isLong = grown = true;
  }
  return grown;
}

void CodeBuffer::rewrite() {
  for (uint32_t& at : labels)
    if (at != Unbound) at = finalOffset(at);
  for (LabelUse& use : labelUses) use.at = finalOffset(use.at);
  for (elf::Reloc& field : symbolFields) field.offset = finalOffset(field.offset);
  std::string out;
  out.reserve(code.size());
  uint32_t copied = 0;
  for (const Elastic& e : elastics) {
    out.append(code, copied, e.at - copied);
    copied = e.at + e.length;
    if (e.kind == Elastic::AlignCode) {
      appendNops(out, e.newLength);
    } else if (e.kind == Elastic::AlignData) {
      out.append(e.newLength, 0);
    } else {
      uint32_t distance = labels[e.target.index] - (e.newAt + e.newLength);
      bool conditional = e.kind == Elastic::Conditional;
      auto condition = static_cast<uint8_t>(e.condition);
      if (e.isLong && conditional) out.push_back(0x0f);
      uint8_t opcode = conditional ? (e.isLong ? 0x80 : 0x70) + condition : (e.isLong ? 0xe9 : 0xeb);
      out.push_back(static_cast<char>(opcode));
      for (int i = 0; i < (e.isLong ? 4 : 1); i++) out.push_back(static_cast<char>(distance >> (8 * i)));
    }
  }
  out.append(code, copied, std::string::npos);
  code = std::move(out);
}

bool CodeBuffer::finish() {
  auto bound = [&](Label l) { return !l || isBound(l); };
  for (const Elastic& e : elastics)
    if (!bound(e.target)) return refuse("a branch goes to a label that was never bound"), false;
  for (const LabelUse& use : labelUses)
    if (!bound(use.target) || !bound(use.base)) return refuse("a field names a label that was never bound"), false;
  if (code.size() > 0x7fffffff) return refuse("a function's code is longer than 2 GiB"), false;
  do layOut(); while (growBranches());
  rewrite();
  for (const LabelUse& use : labelUses) {
    uint32_t from = use.base ? labels[use.base.index] : use.at + 4 + use.bytesToEnd;
    store32(code, use.at, labels[use.target.index] - from);
  }
  return true;
}

}  // namespace mica::x64
