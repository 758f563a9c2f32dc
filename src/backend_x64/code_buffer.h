// The bytes of one x86-64 function while they are made: code, labels inside it, and fixups that the linker will fill
// in.
//
// Idea: everything that depends on a distance is written in its long form first and remembered (branches to labels,
// references to labels, alignment padding). `finish` then lays the function out anew: branches start short and grow
// until all reach, padding is counted again, labels and fixups move along, and label distances are stored. After
// `finish` all offsets are final.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "elf/object.h"
#include "support/support.h"

namespace mica::x64 {

struct LabelTag;
using Label = Id<LabelTag>;

// The sixteen conditions in the order of their codes (the low four bits of Jcc, SETcc and CMOVcc).
enum class Cond : uint8_t { O, No, B, Ae, E, Ne, Be, A, S, Ns, P, Np, L, Ge, Le, G };
constexpr Cond negate(Cond c) { return static_cast<Cond>(static_cast<uint8_t>(c) ^ 1); }

class CodeBuffer {
 public:
  Label newLabel();
  void bind(Label label);                   // the label is here; each label is bound once
  Label here() { Label l = newLabel(); bind(l); return l; }
  bool isBound(Label label) const { return labels[label.index] != Unbound; }

  void byte(uint8_t value) { code.push_back(static_cast<char>(value)); }
  void little(uint64_t value, int size);    // the low `size` bytes, lowest first
  void raw(const void* data, size_t size);  // data between code, e.g. constants
  void align(uint32_t boundary);            // to a power of two up to 64, with long no-operations
  void zerosTo(uint32_t boundary);          // to a power of two up to 64, with zero bytes (before data)
  void nops(uint32_t count);

  void symbolField(elf::RelocKind kind, uint32_t symbol, int64_t addend);  // 8 zero bytes for Abs64, 4 for Pc32
  // 4 bytes: the distance to the label from `bytesToEnd` bytes after the field (where the instruction ends).
  void labelField(Label target, int bytesToEnd);
  void labelDelta(Label target, Label base);      // 4 bytes: target - base, for a table of jumps
  void jump(Label target);                  // JMP, two or five bytes
  void jumpIf(Cond condition, Label target);  // Jcc, two or six bytes

  // Lays out for good. False when a label was never bound or the function exceeds 2 GiB; `refusal` says which.
  bool finish();
  const std::string& refusal() const { return refused; }
  void refuse(std::string why) { refused = std::move(why); }

  // Bytes so far; an offset taken before `finish` becomes final by `finalOffset`.
  uint32_t size() const { return static_cast<uint32_t>(code.size()); }
  uint32_t finalOffset(uint32_t before) const;
  uint32_t offsetOf(Label label) const { return labels[label.index]; }
  const std::string& bytes() const { return code; }
  const std::vector<elf::Reloc>& relocs() const { return symbolFields; }  // sorted by offset

 private:
  static constexpr uint32_t Unbound = 0xffffffffu;

  // A place whose length is settled only by `finish`, in the order of the code.
  struct Elastic {
    enum Kind : uint8_t { Jump, Conditional, AlignCode, AlignData } kind;
    Cond condition = Cond::O;
    bool isLong = false;     // for branches: the short form does not reach
    uint32_t at = 0;         // offset in the first layout
    uint32_t length = 0;     // in the first layout
    uint32_t newAt = 0;      // in the layout being tried
    uint32_t newLength = 0;
    uint32_t boundary = 0;   // for alignment
    Label target;            // for branches
  };
  struct LabelUse { uint32_t at; int32_t bytesToEnd; Label target, base; };

  void branch(Elastic::Kind kind, Cond condition, Label target);
  void pad(Elastic::Kind kind, uint32_t boundary);
  void layOut();
  bool growBranches();
  void rewrite();  // bytes, labels and fields move to the new layout

  std::string code;
  std::vector<uint32_t> labels;
  std::vector<Elastic> elastics;
  std::vector<LabelUse> labelUses;
  std::vector<elf::Reloc> symbolFields;
  std::string refused;
};

}  // namespace mica::x64
