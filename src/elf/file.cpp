// The file itself: symbol table, headers, section headers, build id.
#include "elf/context.h"
#include "elf/sha1.h"

namespace mica::elf {
namespace {

// Section headers are numbered: none, the loaded chunks that are not empty, the extra chunks.
uint16_t sectionNumber(const Context& ctx, ChunkId id) {
  uint16_t number = 0;
  for (uint32_t c = 0; c <= id; c++) number += ctx.chunks[c].size != 0;
  return number;
}

template <class T> void putStruct(std::string& out, const T& value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); }

void putSymbol(Context& ctx, std::string& table, std::string& names, const Symbol& symbol, uint8_t type, ChunkId chunk, uint64_t size) {
  putStruct(table, Elf64_Sym{uint32_t(names.size()), uint8_t(STB_GLOBAL << 4 | type), 0, sectionNumber(ctx, chunk), symbol.value, size});
  putText(names, symbol.name);
}

Elf64_Ehdr elfHeader(const Context& ctx) {
  Elf64_Ehdr h{};
  const unsigned char ident[] = {0x7f, 'E', 'L', 'F', 2 /* 64 bits */, 1 /* little-endian */, 1 /* version */};
  std::copy(std::begin(ident), std::end(ident), h.e_ident);
  h.e_type = ET_EXEC;
  h.e_machine = ctx.options.machine == Machine::X64 ? EM_X86_64 : EM_AARCH64;
  h.e_version = 1;
  h.e_entry = ctx.symbols[ctx.byName.at(ctx.options.entry)].value;
  h.e_phoff = sizeof(Elf64_Ehdr);
  h.e_ehsize = sizeof(Elf64_Ehdr);
  h.e_phentsize = sizeof(Elf64_Phdr);
  h.e_phnum = uint16_t((headerSize(ctx) - sizeof(Elf64_Ehdr)) / sizeof(Elf64_Phdr));
  return h;
}

std::string programHeaders(const Context& ctx) {
  std::string out;
  const Segment& first = ctx.segments[0];
  uint64_t size = headerSize(ctx) - sizeof(Elf64_Ehdr), at = sizeof(Elf64_Ehdr);
  putStruct(out, Elf64_Phdr{PT_PHDR, PF_R, at, first.address + at, first.address + at, size, size, 8});
  for (const Segment& s : ctx.segments)
    putStruct(out, Elf64_Phdr{PT_LOAD, s.flags, s.offset, s.address, s.address, s.fileSize, s.memorySize, ctx.pageSize()});
  const Chunk& note = ctx.chunks[NoteChunk];
  putStruct(out, Elf64_Phdr{PT_NOTE, PF_R, note.offset, note.address, note.address, note.size, note.size, note.align});
  // Without this one the kernel, or a dynamic loader, would make the stack executable.
  putStruct(out, Elf64_Phdr{PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 0, 0, 16});
  return out;
}

std::string buildIdNote(const std::array<unsigned char, 20>& digest) {
  std::string out;
  put32(out, 4);
  put32(out, uint32_t(digest.size()));
  put32(out, NT_GNU_BUILD_ID);
  putText(out, "GNU");
  out.append(reinterpret_cast<const char*>(digest.data()), digest.size());
  return out;
}

Elf64_Shdr sectionHeader(const Chunk& c, uint32_t name) {
  return {name, c.type, c.flags, c.address, c.offset, c.size, c.link, c.info, c.align, c.entsize};
}

// Appends the chunks that are not loaded and the section headers, and tells the ELF header of them.
void appendSections(Context& ctx, std::string& file) {
  Chunk names;
  names.name = ".shstrtab";
  names.type = SHT_STRTAB;
  ctx.extra.push_back(names);
  std::vector<Chunk*> list;
  for (Chunk& chunk : ctx.chunks) if (chunk.size) list.push_back(&chunk);
  for (Chunk& chunk : ctx.extra) list.push_back(&chunk);

  std::string headers, text(1, '\0');
  putStruct(headers, Elf64_Shdr{});
  std::vector<uint32_t> nameAt;
  for (const Chunk* chunk : list) {
    nameAt.push_back(uint32_t(text.size()));
    putText(text, chunk->name);
  }
  ctx.extra.back().bytes = text;
  for (Chunk& chunk : ctx.extra) {
    file.resize(alignUp(file.size(), chunk.align));
    chunk.offset = file.size();
    chunk.size = chunk.bytes.size();
    file += chunk.bytes;
  }
  for (size_t i = 0; i < list.size(); i++) putStruct(headers, sectionHeader(*list[i], nameAt[i]));

  file.resize(alignUp(file.size(), 8));
  Elf64_Ehdr h = load<Elf64_Ehdr>(file.data());
  h.e_shoff = file.size();
  h.e_shentsize = sizeof(Elf64_Shdr);
  h.e_shnum = uint16_t(list.size() + 1);
  h.e_shstrndx = uint16_t(list.size());
  store(file.data(), h);
  file += headers;
}

}  // namespace

// Every symbol is global, in the order of the file.
void makeSymbolTable(Context& ctx) {
  std::string table, names(1, '\0');
  putStruct(table, Elf64_Sym{});
  for (const Section& s : ctx.sections)
    putSymbol(ctx, table, names, ctx.symbols[s.symbol], s.chunk == TextChunk ? STT_FUNC : STT_OBJECT, s.chunk, s.size);
  for (const auto& [name, type, chunk, size] :
       {std::tuple{"mica.text.start", STT_NOTYPE, TextChunk, uint64_t(0)}, {"mica.text.end", STT_NOTYPE, TextChunk, uint64_t(0)},
        {"mica.places", STT_OBJECT, PlacesChunk, ctx.chunks[PlacesChunk].size}, {"mica.state", STT_OBJECT, BssChunk, uint64_t(4096)}}) {
    auto at = ctx.byName.find(name);
    if (at != ctx.byName.end()) putSymbol(ctx, table, names, ctx.symbols[at->second], type, chunk, size);
  }

  uint32_t firstExtra = sectionNumber(ctx, BssChunk) + 1;
  Chunk symtab;
  symtab.name = ".symtab";
  symtab.type = SHT_SYMTAB;
  symtab.align = 8;
  symtab.bytes = std::move(table);
  symtab.link = firstExtra + uint32_t(ctx.extra.size()) + 1;
  symtab.info = 1;     // the first global one
  symtab.entsize = sizeof(Elf64_Sym);
  ctx.extra.push_back(std::move(symtab));
  Chunk strtab;
  strtab.name = ".strtab";
  strtab.type = SHT_STRTAB;
  strtab.bytes = std::move(names);
  ctx.extra.push_back(std::move(strtab));
}

std::string makeFile(Context& ctx) {
  std::string file;
  putStruct(file, elfHeader(ctx));
  file += programHeaders(ctx);
  for (const Chunk& chunk : ctx.chunks) {
    if (chunk.bytes.empty()) continue;
    if (chunk.offset < file.size()) internalError("the linker laid one chunk over another");
    file.resize(chunk.offset);
    file += chunk.bytes;
  }
  // The id is that of what is loaded, so a stripped file and its unstripped twin share it.
  buildIdNote(sha1(file)).copy(file.data() + ctx.chunks[NoteChunk].offset, ctx.chunks[NoteChunk].size);
  if (!ctx.options.strip) appendSections(ctx, file);
  return file;
}

}  // namespace mica::elf
