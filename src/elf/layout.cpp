// Where everything lies. Sections go into chunks by what may be done with them, chunks into three segments.
//
// File offsets and addresses of a segment agree modulo the page size, and a new segment starts in the file right where
// the one before ended, in memory one page further: the page that holds the seam is mapped twice, with the permissions
// of either side, and the file needs no padding. Zeroed data lie at the end of the last segment and take no room in the file.
#include <algorithm>

#include "elf/context.h"

namespace mica::elf {
namespace {

constexpr uint64_t BaseAddress = 0x400000;
constexpr uint64_t AddressLimit = uint64_t(1) << 46;   // well inside what every kernel maps
constexpr uint64_t StateSize = 4096, StateAlign = 64;
// Constant data with a longer tail of zeros lie with the zeroed data, where the tail costs nothing. They are then
// writable, but nothing writes them.
constexpr uint64_t LongZeros = 0x10000;
constexpr uint64_t BuildIdNoteSize = 12 + 4 + 20;

ChunkId chunkOf(const SectionView& s) {
  if (s.isFunction) return TextChunk;
  if (s.readOnly && s.zeros < LongZeros) return RodataChunk;
  return s.bytes.empty() ? BssChunk : DataChunk;
}

// Adds a section behind the others; false when the sum would leave the address space.
bool addSize(uint64_t& total, uint64_t size, uint64_t align) {
  total = alignUp(total, align);
  if (size > AddressLimit || total > AddressLimit) return false;
  total += size;
  return true;
}

void describeChunks(Context& ctx) {
  auto set = [&](ChunkId id, const char* name, uint32_t type, uint64_t flags) {
    ctx.chunks[id].name = name;
    ctx.chunks[id].type = type;
    ctx.chunks[id].flags = SHF_ALLOC | flags;
  };
  set(NoteChunk, ".note.gnu.build-id", SHT_NOTE, 0);
  set(RodataChunk, ".rodata", SHT_PROGBITS, 0);
  set(PlacesChunk, ".mica.places", SHT_PROGBITS, 0);
  set(TextChunk, ".text", SHT_PROGBITS, SHF_EXECINSTR);
  set(DataChunk, ".data", SHT_PROGBITS, SHF_WRITE);
  set(BssChunk, ".bss", SHT_NOBITS, SHF_WRITE);
  ctx.chunks[NoteChunk].size = BuildIdNoteSize;
  ctx.chunks[NoteChunk].align = 4;
}

// Sections of a chunk stand together. Among the data those with longer zeros come later, so that the zeros after the last
// initialised bytes need no room in the file, and large zeroed data do not push small ones out of reach of 32-bit offsets.
void orderSections(Context& ctx) {
  auto key = [&](const Section& s) {
    bool data = s.chunk == DataChunk || s.chunk == BssChunk;
    return std::pair(uint32_t(s.chunk), data ? ctx.view(s).zeros : 0);
  };
  std::stable_sort(ctx.sections.begin(), ctx.sections.end(), [&](const Section& a, const Section& b) { return key(a) < key(b); });
  for (uint32_t i = 0; i < ctx.sections.size(); i++) ctx.symbols[ctx.sections[i].symbol].section = i;
}

// What .bss holds before its sections: the zeros that end .data, and the state if the program uses it.
void reserveZeros(Context& ctx, uint64_t tail) {
  Chunk& bss = ctx.chunks[BssChunk];
  ctx.chunks[DataChunk].size -= tail;
  bss.size = tail;
  if (!ctx.byName.contains("mica.state")) return;
  ctx.stateOffset = alignUp(bss.size, StateAlign);
  bss.size = ctx.stateOffset + StateSize;
  bss.align = StateAlign;
}

uint32_t permissions(const Chunk& chunk) {
  uint32_t flags = PF_R;
  if (chunk.flags & SHF_WRITE) flags |= PF_W;
  if (chunk.flags & SHF_EXECINSTR) flags |= PF_X;
  return flags;
}

// A segment behind another: in the file right there (up to alignment), in memory on the next page.
Segment beginSegment(const Context& ctx, const Segment& before, ChunkId first, ChunkId last) {
  const uint64_t page = ctx.pageSize();
  uint64_t align = 1;
  for (uint32_t c = first; c <= last; c++)
    if (ctx.chunks[c].size) align = std::max(align, ctx.chunks[c].align);
  uint64_t offset = alignUp(before.offset + before.fileSize, align);
  return {permissions(ctx.chunks[first]), offset, alignUp(before.address + before.memorySize, page) + offset % page, 0, 0};
}

void fillSegment(Context& ctx, Segment& segment, ChunkId first, ChunkId last) {
  for (uint32_t c = first; c <= last; c++) {
    Chunk& chunk = ctx.chunks[c];
    if (!chunk.size) continue;
    uint64_t at = alignUp(segment.address + segment.memorySize, chunk.align) - segment.address;
    chunk.address = segment.address + at;
    chunk.offset = segment.offset + at;
    segment.memorySize = at + chunk.size;
    if (chunk.type != SHT_NOBITS) segment.fileSize = segment.memorySize;
  }
}

void assignProvided(Context& ctx) {
  auto set = [&](std::string_view name, uint64_t value) {
    auto at = ctx.byName.find(name);
    if (at != ctx.byName.end()) ctx.symbols[at->second].value = value;
  };
  const Chunk& text = ctx.chunks[TextChunk];
  set("mica.text.start", text.address);
  set("mica.text.end", text.address + text.size);
  set("mica.places", ctx.chunks[PlacesChunk].address);
  set("mica.state", ctx.chunks[BssChunk].address + ctx.stateOffset);
}

}  // namespace

// The program headers: PT_PHDR, the segments, the note, the stack.
uint64_t headerSize(const Context& ctx) {
  uint64_t loads = 2;    // there is always code, and the headers before it
  if (ctx.chunks[DataChunk].size || ctx.chunks[BssChunk].size) loads++;
  return sizeof(Elf64_Ehdr) + (3 + loads) * sizeof(Elf64_Phdr);
}

void assignOffsets(Context& ctx) {
  describeChunks(ctx);
  for (Section& s : ctx.sections) s.chunk = chunkOf(ctx.view(s));
  orderSections(ctx);

  bool fits = true, reserved = false;
  uint64_t tail = 0;     // the zeros of the last section of .data
  for (Section& s : ctx.sections) {
    if (s.chunk == BssChunk && !reserved) reserveZeros(ctx, tail), reserved = true;
    SectionView view = ctx.view(s);
    Chunk& chunk = ctx.chunks[s.chunk];
    s.size = view.bytes.size() + view.zeros;
    chunk.align = std::max<uint64_t>(chunk.align, view.align);
    fits = fits && addSize(chunk.size, s.size, view.align);
    s.offset = chunk.size - s.size;
    if (s.chunk == DataChunk) tail = view.zeros;
  }
  if (!reserved) reserveZeros(ctx, tail);
  // With zeroed data only, .data gets a word that nobody uses: valgrind reads a program's symbols only if some bytes of the
  // file are mapped writable, and old kernels want a segment without any to begin with a page.
  Chunk& data = ctx.chunks[DataChunk];
  if (ctx.chunks[BssChunk].size && !data.size) data.size = data.align = 8;
  if (ctx.chunks[TextChunk].size >> 32) ctx.errors.push_back("the program's code is larger than 4 GiB");
  if (!fits) ctx.errors.push_back("the program's data are larger than the address space");
}

void assignAddresses(Context& ctx) {
  Segment headers{PF_R, 0, BaseAddress, headerSize(ctx), headerSize(ctx)};
  fillSegment(ctx, headers, NoteChunk, PlacesChunk);
  Segment text = beginSegment(ctx, headers, TextChunk, TextChunk);
  fillSegment(ctx, text, TextChunk, TextChunk);
  Segment data = beginSegment(ctx, text, DataChunk, BssChunk);
  fillSegment(ctx, data, DataChunk, BssChunk);
  ctx.segments = {headers, text};
  if (data.memorySize) ctx.segments.push_back(data);
  if (data.address + data.memorySize > AddressLimit) ctx.errors.push_back("the program's data are larger than the address space");
  assignProvided(ctx);
  for (const Section& s : ctx.sections) ctx.symbols[s.symbol].value = ctx.addressOf(s);
}

}  // namespace mica::elf
