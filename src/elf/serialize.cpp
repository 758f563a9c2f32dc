// Writing and reading objects as bytes; the format is described in serialize.h.
#include "elf/serialize.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace mica::elf {
namespace {

constexpr std::string_view Magic = "MicaObj\n";
constexpr uint32_t Version = 1;
constexpr size_t HeaderSize = 8 + 4 * 8 + 2 * 8;
constexpr size_t FunctionSize = 40, DataSize = 44, RelocSize = 20, LineSize = 8, PlaceSize = 20;

// Strings in the order of their first use, each once.
struct StringPool {
  std::unordered_map<std::string_view, uint32_t> ids;   // views of the object's own strings
  std::vector<std::string_view> list;
  uint32_t add(std::string_view text) {
    auto [at, fresh] = ids.try_emplace(text, uint32_t(list.size()));
    if (fresh) list.push_back(text);
    return at->second;
  }
};

uint32_t count32(size_t n) {
  if (n >= 0x80000000u) internalError("an object is too large to be written");
  return uint32_t(n);
}

// The tables that functions and data share while they are written.
struct Writer {
  std::string relocs, lines, content;
  uint32_t relocCount = 0, lineCount = 0;

  void putRelocs(std::string& out, const std::vector<Reloc>& list) {
    put32(out, relocCount);
    put32(out, count32(list.size()));
    for (const Reloc& r : list) {
      put32(relocs, r.offset);
      put32(relocs, uint32_t(r.kind));
      put32(relocs, r.symbol);
      put64(relocs, uint64_t(r.addend));
    }
    relocCount = count32(relocCount + list.size());
  }

  void putLines(std::string& out, const std::vector<LineEntry>& list) {
    put32(out, lineCount);
    put32(out, count32(list.size()));
    for (const LineEntry& l : list) {
      put32(lines, l.offset);
      put32(lines, l.place);
    }
    lineCount = count32(lineCount + list.size());
  }

  std::string function(const ObjectFunction& f) {
    std::string out;
    put32(out, f.symbol);
    put32(out, f.align);
    put32(out, f.place);
    put64(out, content.size());
    put32(out, count32(f.code.size()));
    putRelocs(out, f.relocs);
    putLines(out, f.lines);
    content += f.code;
    return out;
  }

  std::string data(const ObjectData& d) {
    std::string out;
    put32(out, d.symbol);
    put32(out, d.align);
    put32(out, d.readOnly);
    put64(out, content.size());
    put64(out, d.bytes.size());
    put64(out, d.zeros);
    putRelocs(out, d.relocs);
    content += d.bytes;
    return out;
  }
};

std::vector<uint32_t> definitions(const Object& object) {
  std::vector<uint32_t> result(object.symbols.size(), ObjectView::Undefined);
  auto define = [&](uint32_t symbol, uint32_t value) {
    if (symbol >= result.size() || result[symbol] != ObjectView::Undefined) internalError("an object defines a symbol twice");
    result[symbol] = value;
  };
  for (size_t i = 0; i < object.functions.size(); i++) define(object.functions[i].symbol, count32(i));
  for (size_t i = 0; i < object.data.size(); i++) define(object.data[i].symbol, count32(i) | ObjectView::DataBit);
  return result;
}

std::string symbolTables(const Object& object, StringPool& strings) {
  std::string out;
  std::vector<uint32_t> defined = definitions(object);
  for (size_t i = 0; i < object.symbols.size(); i++) {
    put32(out, strings.add(object.symbols[i]));
    put32(out, defined[i]);
  }
  std::vector<uint32_t> order(object.symbols.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return object.symbols[a] < object.symbols[b]; });
  for (uint32_t symbol : order) put32(out, symbol);
  return out;
}

bool goodAlign(uint32_t align) { return align && !(align & (align - 1)) && align <= 4096; }

}  // namespace

std::string serialize(const Object& object) {
  StringPool strings;
  std::string symbols = symbolTables(object, strings), functions, data, places;
  Writer writer;
  for (const ObjectFunction& f : object.functions) functions += writer.function(f);
  for (const ObjectData& d : object.data) data += writer.data(d);
  for (const ir::PlaceInfo& p : object.places) {
    put32(places, strings.add(p.file));
    put32(places, strings.add(p.function));
    put32(places, p.line);
    put32(places, p.column);
    put32(places, p.inlinedAt.index);
  }
  std::string text, stringTable;
  for (std::string_view s : strings.list) {
    put32(stringTable, count32(text.size()));
    text += s;
  }
  put32(stringTable, count32(text.size()));

  std::string out(Magic);
  put32(out, Version);
  for (size_t n : {strings.list.size(), object.symbols.size(), object.functions.size(), object.data.size(), size_t(writer.relocCount),
                   size_t(writer.lineCount), object.places.size()})
    put32(out, count32(n));
  put64(out, text.size());
  put64(out, writer.content.size());
  return out + stringTable + symbols + functions + data + writer.relocs + writer.lines + places + text + writer.content;
}

bool ObjectView::readHeader(std::string_view bytes, std::string& error) {
  if (bytes.size() < HeaderSize || bytes.substr(0, 8) != Magic) return error = "not an object of this compiler", false;
  const char* at = bytes.data() + 8;
  if (load<uint32_t>(at) != Version) return error = "an object of version " + std::to_string(load<uint32_t>(at)) +
                                                    "; this compiler reads version " + std::to_string(Version), false;
  uint32_t* counts[] = {&strings_, &symbols_, &functions_, &data_, &relocs_, &lines_, &places_};
  for (uint32_t* count : counts) *count = load<uint32_t>(at += 4);
  textSize_ = load<uint64_t>(at + 4);
  contentSize_ = load<uint64_t>(at + 12);

  // Sizes in 64 bits: seven counts below 2^32 times at most 44 bytes cannot wrap; the two byte counts are checked first.
  at = bytes.data() + HeaderSize;
  uint64_t total = bytes.size();
  if (textSize_ > total || contentSize_ > total) return error = "the object is cut short", false;
  uint64_t sizes[] = {4 * (uint64_t(strings_) + 1), 8 * uint64_t(symbols_), 4 * uint64_t(symbols_), FunctionSize * uint64_t(functions_),
                      DataSize * uint64_t(data_), RelocSize * uint64_t(relocs_), LineSize * uint64_t(lines_), PlaceSize * uint64_t(places_),
                      textSize_, contentSize_};
  uint64_t sum = HeaderSize;
  for (uint64_t size : sizes) sum += size;
  if (sum != total) return error = "the object's size does not fit its tables", false;
  const char** starts[] = {&stringTable_, &symbolTable_, &order_, &functionTable_, &dataTable_,
                           &relocTable_, &lineTable_, &placeTable_, &text_, &content_};
  for (size_t i = 0; i < std::size(sizes); i++) {
    *starts[i] = at;
    at += sizes[i];
  }
  return true;
}

bool ObjectView::checkSymbols(std::string& error) const {
  uint64_t before = 0;
  for (uint32_t i = 0; i <= strings_; i++) {
    uint64_t at = load<uint32_t>(stringTable_ + 4 * size_t(i));
    if (at < before || at > textSize_) return error = "the object's strings are damaged", false;
    before = at;
  }
  for (uint32_t i = 0; i < symbols_; i++) {
    uint32_t name = load<uint32_t>(symbolAt(i)), defined = definition(i);
    bool good = name < strings_;
    if (defined != Undefined && (defined & DataBit)) good = good && (defined & ~DataBit) < data_;
    else if (defined != Undefined) good = good && defined < functions_;
    if (!good) return error = "the object's symbols are damaged", false;
  }
  for (uint32_t i = 0; i < symbols_; i++) {
    uint32_t symbol = load<uint32_t>(order_ + 4 * size_t(i));
    if (symbol >= symbols_ || (i && symbolName(load<uint32_t>(order_ + 4 * size_t(i) - 4)) >= symbolName(symbol)))
      return error = "the object's symbols are not in order", false;
  }
  return true;
}

bool ObjectView::checkRelocs(uint32_t first, uint32_t count, uint64_t size) const {
  if (uint64_t(first) + count > relocs_) return false;
  for (uint32_t i = first; i < first + count; i++) {
    const char* at = relocTable_ + RelocSize * size_t(i);
    if (load<uint32_t>(at + 4) > uint32_t(RelocKind::LdstLo12) || load<uint32_t>(at + 8) >= symbols_) return false;
    if (uint64_t(load<uint32_t>(at)) + relocWidth(RelocKind(load<uint32_t>(at + 4))) > size) return false;
  }
  return true;
}

bool ObjectView::checkFunctions(std::string& error) const {
  for (uint32_t i = 0; i < functions_; i++) {
    const char* at = functionTable_ + FunctionSize * size_t(i);
    uint32_t symbol = load<uint32_t>(at), place = load<uint32_t>(at + 8), size = load<uint32_t>(at + 20);
    uint64_t offset = load<uint64_t>(at + 12), firstLine = load<uint32_t>(at + 32), lineCount = load<uint32_t>(at + 36);
    bool good = symbol < symbols_ && definition(symbol) == i && goodAlign(load<uint32_t>(at + 4)) &&
                (place == NoPlace || place < places_) && offset <= contentSize_ && size <= contentSize_ - offset &&
                firstLine + lineCount <= lines_ && checkRelocs(load<uint32_t>(at + 24), load<uint32_t>(at + 28), size);
    uint32_t before = 0;
    for (uint64_t l = firstLine; good && l < firstLine + lineCount; l++) {
      LineEntry entry = line(uint32_t(l));
      good = entry.offset >= before && entry.offset <= size && (entry.place == NoPlace || entry.place < places_);
      before = entry.offset;
    }
    if (!good) return error = "the object's function " + std::to_string(i) + " is damaged", false;
  }
  return true;
}

bool ObjectView::checkData(std::string& error) const {
  for (uint32_t i = 0; i < data_; i++) {
    const char* at = dataTable_ + DataSize * size_t(i);
    uint32_t symbol = load<uint32_t>(at);
    uint64_t offset = load<uint64_t>(at + 12), size = load<uint64_t>(at + 20);
    if (symbol >= symbols_ || definition(symbol) != (i | DataBit) || !goodAlign(load<uint32_t>(at + 4)) || load<uint32_t>(at + 8) > 1 ||
        offset > contentSize_ || size > contentSize_ - offset || !checkRelocs(load<uint32_t>(at + 36), load<uint32_t>(at + 40), size))
      return error = "the object's data " + std::to_string(i) + " are damaged", false;
  }
  return true;
}

// An inlined place names a place of the same object; a chain that never ends would hang its readers.
bool ObjectView::check(std::string& error) const {
  if (!checkSymbols(error) || !checkFunctions(error) || !checkData(error)) return false;
  std::vector<uint8_t> done(places_, 0);   // 1: on the chain being followed, 2: known to end
  std::vector<uint32_t> chain;
  for (uint32_t i = 0; i < places_; i++) {
    const char* at = placeTable_ + PlaceSize * size_t(i);
    if (load<uint32_t>(at) >= strings_ || load<uint32_t>(at + 4) >= strings_) return error = "the object's places are damaged", false;
    chain.clear();
    uint32_t p = i;
    while (p < places_ && !done[p]) {
      done[p] = 1;
      chain.push_back(p);
      p = load<uint32_t>(placeTable_ + PlaceSize * size_t(p) + 16);
    }
    if (p != NoPlace && (p >= places_ || done[p] == 1)) return error = "the object's places are damaged", false;
    for (uint32_t c : chain) done[c] = 2;
  }
  return true;
}

std::optional<ObjectView> ObjectView::open(std::string_view bytes, std::string& error) {
  ObjectView view;
  if (!view.readHeader(bytes, error) || !view.check(error)) return std::nullopt;
  return view;
}

uint32_t ObjectView::find(std::string_view name) const {
  uint32_t low = 0, high = symbols_;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2, symbol = load<uint32_t>(order_ + 4 * size_t(middle));
    int order = symbolName(symbol).compare(name);
    if (order == 0) return symbol;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return Undefined;
}

bool ObjectView::defines(std::string_view name) const {
  uint32_t symbol = find(name);
  return symbol != Undefined && definition(symbol) != Undefined;
}

FunctionView ObjectView::function(uint32_t index) const {
  const char* at = functionTable_ + FunctionSize * size_t(index);
  return {load<uint32_t>(at), {content_ + load<uint64_t>(at + 12), load<uint32_t>(at + 20)}, load<uint32_t>(at + 4),
          load<uint32_t>(at + 8), load<uint32_t>(at + 24), load<uint32_t>(at + 28), load<uint32_t>(at + 32), load<uint32_t>(at + 36)};
}

DataView ObjectView::data(uint32_t index) const {
  const char* at = dataTable_ + DataSize * size_t(index);
  return {load<uint32_t>(at), {content_ + load<uint64_t>(at + 12), size_t(load<uint64_t>(at + 20))}, load<uint64_t>(at + 28),
          load<uint32_t>(at + 4), load<uint32_t>(at + 8) != 0, load<uint32_t>(at + 36), load<uint32_t>(at + 40)};
}

Reloc ObjectView::reloc(uint32_t index) const {
  const char* at = relocTable_ + RelocSize * size_t(index);
  return {load<uint32_t>(at), RelocKind(load<uint32_t>(at + 4)), load<uint32_t>(at + 8), load<int64_t>(at + 12)};
}

LineEntry ObjectView::line(uint32_t index) const {
  const char* at = lineTable_ + LineSize * size_t(index);
  return {load<uint32_t>(at), load<uint32_t>(at + 4)};
}

PlaceView ObjectView::place(uint32_t index) const {
  const char* at = placeTable_ + PlaceSize * size_t(index);
  return {string(load<uint32_t>(at)), string(load<uint32_t>(at + 4)), load<uint32_t>(at + 8), load<uint32_t>(at + 12),
          load<uint32_t>(at + 16)};
}

Object ObjectView::object() const {
  Object result;
  for (uint32_t i = 0; i < symbols_; i++) result.symbols.emplace_back(symbolName(i));
  auto relocs = [&](uint32_t first, uint32_t count) {
    std::vector<Reloc> list;
    for (uint32_t i = 0; i < count; i++) list.push_back(reloc(first + i));
    return list;
  };
  for (uint32_t i = 0; i < functions_; i++) {
    FunctionView f = function(i);
    ObjectFunction out{f.symbol, std::string(f.code), relocs(f.firstReloc, f.relocCount), {}, f.align, f.place};
    for (uint32_t l = 0; l < f.lineCount; l++) out.lines.push_back(line(f.firstLine + l));
    result.functions.push_back(std::move(out));
  }
  for (uint32_t i = 0; i < data_; i++) {
    DataView d = data(i);
    result.data.push_back({d.symbol, std::string(d.bytes), d.zeros, d.align, d.readOnly, relocs(d.firstReloc, d.relocCount)});
  }
  for (uint32_t i = 0; i < places_; i++) {
    PlaceView p = place(i);
    ir::PlaceId inlinedAt;
    inlinedAt.index = p.inlinedAt;
    result.places.push_back({std::string(p.file), p.line, p.column, std::string(p.function), inlinedAt});
  }
  return result;
}

bool deserialize(std::string_view bytes, Object& object, std::string& error) {
  std::optional<ObjectView> view = ObjectView::open(bytes, error);
  if (view) object = view->object();
  return view.has_value();
}

}  // namespace mica::elf
