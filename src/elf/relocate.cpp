// Copies the sections' bytes into their chunks and applies the relocations. In the comments S is the symbol's address,
// A the addend, P the address of the place that is changed (the letters of the psABIs).
#include "elf/context.h"

namespace mica::elf {
namespace {

struct Fixup {
  Context& ctx;
  const Section& section;
  const Reloc& reloc;
  const Symbol& symbol;
  char* at;

  void fail(const std::string& what) const {
    ctx.errors.push_back(std::string(ctx.nameOf(section)) + "+" + std::to_string(reloc.offset) + ": the relocation to `" +
                         std::string(symbol.name) + "` " + what);
  }

  // Whether low <= value < high.
  bool inRange(int64_t value, int64_t low, int64_t high) const {
    if (value >= low && value < high) return true;
    fail("is out of range: " + std::to_string(value) + " is not in [" + std::to_string(low) + ", " + std::to_string(high) + ")");
    return false;
  }

  bool aligned(int64_t value, int64_t to) const {
    if (value % to == 0) return true;
    fail("is not aligned: " + std::to_string(value) + " is no multiple of " + std::to_string(to));
    return false;
  }

  void field(uint32_t mask, uint32_t bits) const { store(at, (load<uint32_t>(at) & ~mask) | bits); }
};

// The size of the access that an ARM64 load or store makes, as a power of two: it scales the 12-bit offset.
unsigned accessShift(uint32_t instruction) {
  bool simd = instruction & (1u << 26), wide = instruction & (1u << 23);
  unsigned size = instruction >> 30;
  return simd && wide && size == 0 ? 4 : size;
}

void apply(const Fixup& fix, uint64_t P) {
  const int64_t S = int64_t(fix.symbol.value), A = fix.reloc.addend;
  switch (fix.reloc.kind) {
    case RelocKind::Abs64:
      store<uint64_t>(fix.at, uint64_t(S) + uint64_t(A));
      break;
    case RelocKind::Pc32: {
      int64_t value = S + A - int64_t(P);
      if (fix.inRange(value, -(int64_t(1) << 31), int64_t(1) << 31)) store<int32_t>(fix.at, int32_t(value));
      break;
    }
    case RelocKind::Call26: {    // imm26 of b and bl, in words
      int64_t value = S + A - int64_t(P);
      if (fix.inRange(value, -(int64_t(1) << 27), int64_t(1) << 27) && fix.aligned(value, 4))
        fix.field(0x03ffffff, uint32_t(value >> 2) & 0x03ffffff);
      break;
    }
    case RelocKind::AdrPage21: { // immhi:immlo of adrp, the distance in pages of 4 KiB
      int64_t value = ((S + A) & ~int64_t(0xfff)) - int64_t(P & ~uint64_t(0xfff));
      if (!fix.inRange(value, -(int64_t(1) << 32), int64_t(1) << 32)) break;
      uint32_t pages = uint32_t(value >> 12);
      fix.field(0x60ffffe0, (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5);
      break;
    }
    case RelocKind::AddLo12:     // imm12 of add
      fix.field(0x003ffc00, uint32_t((S + A) & 0xfff) << 10);
      break;
    case RelocKind::LdstLo12: {  // imm12 of ldr and str, in units of the access
      int64_t low = (S + A) & 0xfff;
      unsigned shift = accessShift(load<uint32_t>(fix.at));
      if (fix.aligned(low, int64_t(1) << shift)) fix.field(0x003ffc00, uint32_t(low >> shift) << 10);
      break;
    }
  }
}

}  // namespace

void relocateSections(Context& ctx) {
  for (uint32_t c = 0; c < LoadedChunks; c++) {
    Chunk& chunk = ctx.chunks[c];
    // Gaps in the code trap (int3) if control ever gets there; a zero word does on ARM64.
    char filler = c == TextChunk && ctx.options.machine == Machine::X64 ? '\xcc' : '\0';
    if (chunk.type != SHT_NOBITS && c != PlacesChunk) chunk.bytes.assign(chunk.size, filler);
  }
  for (const Section& section : ctx.sections) {
    if (section.chunk == BssChunk) continue;
    SectionView view = ctx.view(section);
    char* bytes = ctx.chunks[section.chunk].bytes.data() + section.offset;
    view.bytes.copy(bytes, view.bytes.size());
    uint64_t address = ctx.addressOf(section);
    ctx.inputOf(section).eachReloc(section.definition, [&](const Reloc& r) {
      const Symbol& symbol = ctx.symbols[resolve(ctx, section.input, r.symbol)];
      apply({ctx, section, r, symbol, bytes + r.offset}, address + r.offset);
    });
  }
}

}  // namespace mica::elf
