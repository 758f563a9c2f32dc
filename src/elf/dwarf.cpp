// What a debugger reads (DWARF 4): one compile unit for the program, an entry for each function and each inlined call,
// the line table, and how to unwind a frame. None of it is loaded; `--strip` leaves it out.
//
// Variables are not described. File names are as the places have them, relative to wherever the debugger looks, so that
// the bytes do not depend on where the program was compiled.
#include "elf/dwarf.h"

#include <algorithm>
#include <span>

#include "elf/context.h"

namespace mica::elf {
namespace {

enum Abbrev : uint8_t { UnitEntry = 1, FunctionEntry, PlacelessFunctionEntry, AbstractEntry, InlinedEntry };

std::string abbreviations() {
  std::string out;
  auto entry = [&](Abbrev code, uint8_t tag, uint8_t children, std::initializer_list<std::pair<uint8_t, uint8_t>> attributes) {
    for (uint8_t v : {uint8_t(code), tag, children}) put8(out, v);
    for (auto [attribute, form] : attributes) put8(out, attribute), put8(out, form);
    put16(out, 0);
  };
  entry(UnitEntry, DW_TAG_compile_unit, DW_CHILDREN_yes,
        {{DW_AT_producer, DW_FORM_string}, {DW_AT_language, DW_FORM_data2}, {DW_AT_name, DW_FORM_string},
         {DW_AT_low_pc, DW_FORM_addr}, {DW_AT_high_pc, DW_FORM_data8}, {DW_AT_stmt_list, DW_FORM_sec_offset}});
  entry(FunctionEntry, DW_TAG_subprogram, DW_CHILDREN_yes,
        {{DW_AT_external, DW_FORM_flag_present}, {DW_AT_name, DW_FORM_string}, {DW_AT_low_pc, DW_FORM_addr},
         {DW_AT_high_pc, DW_FORM_data4}, {DW_AT_decl_file, DW_FORM_udata}, {DW_AT_decl_line, DW_FORM_udata}});
  entry(PlacelessFunctionEntry, DW_TAG_subprogram, DW_CHILDREN_no,
        {{DW_AT_external, DW_FORM_flag_present}, {DW_AT_name, DW_FORM_string}, {DW_AT_low_pc, DW_FORM_addr},
         {DW_AT_high_pc, DW_FORM_data4}});
  entry(AbstractEntry, DW_TAG_subprogram, DW_CHILDREN_no, {{DW_AT_name, DW_FORM_string}, {DW_AT_inline, DW_FORM_data1}});
  entry(InlinedEntry, DW_TAG_inlined_subroutine, DW_CHILDREN_yes,
        {{DW_AT_abstract_origin, DW_FORM_ref4}, {DW_AT_low_pc, DW_FORM_addr}, {DW_AT_high_pc, DW_FORM_data4},
         {DW_AT_call_file, DW_FORM_udata}, {DW_AT_call_line, DW_FORM_udata}, {DW_AT_call_column, DW_FORM_udata}});
  put8(out, 0);
  return out;
}

// Writes the length in front of a unit whose first four bytes were left for it.
void closeUnit(std::string& out, size_t start) { store(out.data() + start, uint32_t(out.size() - start - 4)); }

// A stretch of a function's code with the places it belongs to, from the outermost call to the innermost.
struct Stretch { uint64_t begin, end; std::vector<uint32_t> chain; };

// How a function sets up its frame pointer, in bytes from its begin; zeros when it does not.
struct FrameSetup { uint32_t pushed = 0, done = 0, frameSize = 0; };

FrameSetup frameSetup(Machine machine, std::string_view code) {
  if (machine == Machine::X64) {
    if (code.starts_with("\x55\x48\x89\xe5") || code.starts_with("\x55\x48\x8b\xec")) return {1, 4, 16};   // push rbp; mov rbp, rsp
    return {};
  }
  // stp x29, x30, [sp, #-N]!; mov x29, sp
  if (code.size() < 8 || (load<uint32_t>(code.data()) & 0xffe07fff) != 0xa9a07bfd || load<uint32_t>(code.data() + 4) != 0x910003fd) return {};
  return {4, 8, (128 - (load<uint32_t>(code.data()) >> 15 & 0x7f)) * 8};
}

class DebugWriter {
 public:
  explicit DebugWriter(Context& ctx) : ctx_(ctx), fileOf_(ctx.strings.size(), 0), abstractOf_(ctx.strings.size(), 0) {
    for (const PlaceRecord& p : ctx.places) {
      if (fileOf_[p.file]) continue;
      files_.push_back(p.file);
      fileOf_[p.file] = uint32_t(files_.size());
    }
  }

  void write() {
    writeInfo();
    writeLines();
    writeFrames();
    add(".debug_abbrev", abbreviations());
    add(".debug_info", std::move(info_));
    add(".debug_line", std::move(line_));
    // Frame descriptions are padded to addresses.
    add(".debug_frame", std::move(frame_)).align = 8;
  }

 private:
  Chunk& add(const char* name, std::string bytes) {
    ctx_.extra.emplace_back();
    ctx_.extra.back().name = name;
    ctx_.extra.back().bytes = std::move(bytes);
    return ctx_.extra.back();
  }

  const Chunk& text() const { return ctx_.chunks[TextChunk]; }
  std::string_view codeOf(const Section& s) const { return std::string_view(text().bytes).substr(s.offset, s.size); }

  // The lines of a function: from its own first entry to the next function's.
  std::span<const TextLine> linesOf(const Section& s) const {
    auto before = [](const TextLine& l, uint64_t offset) { return l.offset < offset; };
    auto begin = std::lower_bound(ctx_.lines.begin(), ctx_.lines.end(), s.offset, before);
    auto end = std::lower_bound(begin, ctx_.lines.end(), s.offset + std::max<uint64_t>(s.size, 1), before);
    return {begin, end};
  }

  // The place of the declaration, or the first known one in the function itself.
  uint32_t declaration(const Section& s) const {
    uint32_t place = s.place;
    for (const TextLine& line : linesOf(s)) {
      if (place != NoPlace) break;
      place = line.place;
    }
    while (place != NoPlace && ctx_.places[place].inlinedAt != NoPlace) place = ctx_.places[place].inlinedAt;
    return place;
  }

  std::string_view unitName() const {
    std::string_view source = ctx_.options.source;
    if (!source.empty()) return source.substr(source.rfind('/') + 1);
    return files_.empty() ? std::string_view("mica") : nameOf(files_[0]);
  }

  void writeInfo() {
    put32(info_, 0);
    put16(info_, 4);
    put32(info_, 0);     // .debug_abbrev
    put8(info_, 8);
    putUleb(info_, UnitEntry);
    putText(info_, "mica");
    put16(info_, DW_LANG_C99);    // the debugger's expressions; names such as Main.Forward work in it
    putText(info_, unitName());
    put64(info_, text().address);
    put64(info_, text().size);
    put32(info_, 0);     // .debug_line
    writeAbstracts();
    for (const Section& s : ctx_.sections)
      if (s.chunk == TextChunk) writeFunction(s);
    put8(info_, 0);
    closeUnit(info_, 0);
  }

  // What inlined calls refer to: a function without code of its own.
  void writeAbstracts() {
    for (const PlaceRecord& p : ctx_.places) {
      if (p.inlinedAt == NoPlace || abstractOf_[p.function]) continue;
      abstractOf_[p.function] = uint32_t(info_.size());
      putUleb(info_, AbstractEntry);
      putText(info_, ctx_.strings[p.function]);
      put8(info_, DW_INL_inlined);
    }
  }

  void writeFunction(const Section& s) {
    uint32_t place = declaration(s);
    putUleb(info_, place == NoPlace ? PlacelessFunctionEntry : FunctionEntry);
    putText(info_, ctx_.nameOf(s));
    put64(info_, ctx_.addressOf(s));
    put32(info_, uint32_t(s.size));
    if (place == NoPlace) return;
    putUleb(info_, fileOf_[ctx_.places[place].file]);
    putUleb(info_, ctx_.places[place].line);
    std::vector<Stretch> stretches;
    std::span<const TextLine> lines = linesOf(s);
    for (size_t i = 0; i < lines.size(); i++) {
      uint64_t end = i + 1 < lines.size() ? lines[i + 1].offset : s.offset + s.size;
      Stretch stretch{text().address + lines[i].offset, text().address + end, {}};
      for (uint32_t p = lines[i].place; p != NoPlace; p = ctx_.places[p].inlinedAt) stretch.chain.push_back(p);
      std::reverse(stretch.chain.begin(), stretch.chain.end());
      stretches.push_back(std::move(stretch));
    }
    writeInlined(stretches, 1);
    put8(info_, 0);
  }

  // An entry for each run of code that belongs to one inlined call at this depth, with the deeper ones inside.
  void writeInlined(std::span<const Stretch> all, size_t depth) {
    for (size_t i = 0; i < all.size();) {
      if (all[i].chain.size() <= depth) {
        i++;
        continue;
      }
      uint32_t call = all[i].chain[depth - 1], callee = ctx_.places[all[i].chain[depth]].function;
      size_t end = i;
      while (end < all.size() && all[end].chain.size() > depth && all[end].chain[depth - 1] == call &&
             ctx_.places[all[end].chain[depth]].function == callee)
        end++;
      putUleb(info_, InlinedEntry);
      put32(info_, abstractOf_[callee]);
      put64(info_, all[i].begin);
      put32(info_, uint32_t(all[end - 1].end - all[i].begin));
      putUleb(info_, fileOf_[ctx_.places[call].file]);
      putUleb(info_, ctx_.places[call].line);
      putUleb(info_, ctx_.places[call].column);
      writeInlined(all.subspan(i, end - i), depth + 1);
      put8(info_, 0);
      i = end;
    }
  }

  static constexpr int LineBase = -5, LineRange = 14, OpcodeBase = 13;

  // Glue that the compiler made is in no file; an empty name would end the table.
  std::string_view nameOf(uint32_t file) const { return ctx_.strings[file].empty() ? "glue" : std::string_view(ctx_.strings[file]); }

  void writeLineHeader() {
    put32(line_, 0);
    put16(line_, 4);
    size_t lengthAt = line_.size();
    put32(line_, 0);
    put8(line_, minInstruction());
    put8(line_, 1);      // operations in an instruction
    put8(line_, 1);      // rows are statements
    put8(line_, uint8_t(LineBase));
    put8(line_, LineRange);
    put8(line_, OpcodeBase);
    for (uint8_t operands : {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}) put8(line_, operands);
    put8(line_, 0);      // no folders
    for (uint32_t file : files_) {
      putText(line_, nameOf(file));
      put8(line_, 0), put8(line_, 0), put8(line_, 0);   // folder, time, length
    }
    put8(line_, 0);
    closeUnit(line_, lengthAt);
  }

  uint8_t minInstruction() const { return ctx_.options.machine == Machine::X64 ? 1 : 4; }

  struct Row { uint64_t address = 0; uint32_t file = 1, line = 1, column = 0; };

  void putRow(Row& at, const Row& to) {
    if (to.file != at.file) put8(line_, DW_LNS_set_file), putUleb(line_, to.file);
    if (to.column != at.column) put8(line_, DW_LNS_set_column), putUleb(line_, to.column);
    int64_t lineStep = int64_t(to.line) - at.line;
    uint64_t addressStep = (to.address - at.address) / minInstruction();
    if (lineStep < LineBase || lineStep >= LineBase + LineRange) {
      put8(line_, DW_LNS_advance_line), putSleb(line_, lineStep);
      lineStep = 0;
    }
    if (addressStep > uint64_t(255 - OpcodeBase - (lineStep - LineBase)) / LineRange) {
      put8(line_, DW_LNS_advance_pc), putUleb(line_, addressStep);
      addressStep = 0;
    }
    put8(line_, uint8_t((lineStep - LineBase) + LineRange * int64_t(addressStep) + OpcodeBase));
    at = to;
  }

  // A row for each stretch. A function's first row is its declaration and ends with the set-up of the frame, since
  // debuggers put a breakpoint on a function where its second row begins.
  void writeLines() {
    writeLineHeader();
    Row at;
    at.address = text().address;
    put8(line_, 0), put8(line_, 9), put8(line_, DW_LNE_set_address), put64(line_, text().address);
    for (const Section& s : ctx_.sections) {
      if (s.chunk != TextChunk) continue;
      std::span<const TextLine> lines = linesOf(s);
      uint64_t setUp = s.offset + frameSetup(ctx_.options.machine, codeOf(s)).done;
      bool ownFirst = setUp > s.offset || lines[0].place == NoPlace;
      if (ownFirst) putRow(at, row(s.offset, declaration(s)));
      for (size_t i = 0; i < lines.size(); i++) {
        if (i + 1 < lines.size() && lines[i + 1].offset <= setUp) continue;    // within the set-up
        uint64_t offset = std::max<uint64_t>(lines[i].offset, setUp);
        if (offset < s.offset + s.size && (offset > s.offset || !ownFirst)) putRow(at, row(offset, lines[i].place));
      }
    }
    put8(line_, DW_LNS_advance_pc);
    putUleb(line_, (text().address + text().size - at.address) / minInstruction());
    put8(line_, 0), put8(line_, 1), put8(line_, DW_LNE_end_sequence);
    closeUnit(line_, 0);
  }

  Row row(uint64_t offset, uint32_t place) const {
    if (place == NoPlace) return {text().address + offset, 1, 0, 0};
    const PlaceRecord& p = ctx_.places[place];
    return {text().address + offset, fileOf_[p.file], p.line, p.column};
  }

  void closeFrame(size_t start) {
    frame_.resize(alignUp(frame_.size() - start - 4, 8) + start + 4, '\0');   // DW_CFA_nop
    closeUnit(frame_, start);
  }

  // The rules for a frame: where the caller's stack pointer was (the CFA), and where return address and frame pointer lie below it.
  void writeFrames() {
    bool x64 = ctx_.options.machine == Machine::X64;
    const uint8_t sp = x64 ? 7 : 31, fp = x64 ? 6 : 29, ra = x64 ? 16 : 30;
    put32(frame_, 0);
    put32(frame_, 0xffffffffu);
    put8(frame_, 4);     // version
    put8(frame_, 0);     // no augmentation
    put8(frame_, 8);     // bytes of an address
    put8(frame_, 0);
    putUleb(frame_, minInstruction());
    putSleb(frame_, -8);
    putUleb(frame_, ra);
    put8(frame_, DW_CFA_def_cfa), putUleb(frame_, sp), putUleb(frame_, x64 ? 8 : 0);
    if (x64) put8(frame_, DW_CFA_offset | ra), putUleb(frame_, 1);
    closeFrame(0);
    for (const Section& s : ctx_.sections) {
      if (s.chunk != TextChunk) continue;
      size_t start = frame_.size();
      put32(frame_, 0);
      put32(frame_, 0);
      put64(frame_, ctx_.addressOf(s));
      put64(frame_, s.size);
      if (ctx_.nameOf(s) == ctx_.options.entry) {
        put8(frame_, DW_CFA_undefined), putUleb(frame_, ra);    // nobody called it
      } else if (FrameSetup frame = frameSetup(ctx_.options.machine, codeOf(s)); frame.done) {
        put8(frame_, DW_CFA_advance_loc | frame.pushed / minInstruction());
        put8(frame_, DW_CFA_def_cfa_offset), putUleb(frame_, frame.frameSize);
        put8(frame_, DW_CFA_offset | fp), putUleb(frame_, frame.frameSize / 8);
        if (!x64) put8(frame_, DW_CFA_offset | ra), putUleb(frame_, frame.frameSize / 8 - 1);
        put8(frame_, DW_CFA_advance_loc | (frame.done - frame.pushed) / minInstruction());
        put8(frame_, DW_CFA_def_cfa_register), putUleb(frame_, fp);
      }
      closeFrame(start);
    }
  }

  Context& ctx_;
  std::vector<uint32_t> files_;                    // strings, numbered from 1
  std::vector<uint32_t> fileOf_, abstractOf_;      // of a string: its file's number, its abstract entry; 0: none
  std::string info_, line_, frame_;
};

}  // namespace

void makeDebugInfo(Context& ctx) { DebugWriter(ctx).write(); }

}  // namespace mica::elf
