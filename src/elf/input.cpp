// The two kinds of input behind one face. A serialized object was checked when it was opened; one in memory comes
// straight from a backend, so a fault in it is a fault of the compiler.
#include "elf/input.h"

namespace mica::elf {

Input::Input(const LinkInput& from) : object_(from.object), view_(from.view), name_(from.name) {
  if (object_) readObject();
}

void Input::readObject() {
  definitions_.assign(object_->symbols.size(), Undefined);
  for (uint32_t i = 0; i < object_->symbols.size(); i++)
    if (!byName_.emplace(object_->symbols[i], i).second) internalError("two symbols of an object are named " + object_->symbols[i]);

  auto check = [&](uint32_t symbol, uint32_t definition, uint64_t size, uint32_t align, const std::vector<Reloc>& relocs) {
    if (symbol >= definitions_.size()) internalError("an object's section has no symbol");
    const std::string& name = object_->symbols[symbol];
    if (definitions_[symbol] != Undefined) internalError(name + " is defined twice in one object");
    definitions_[symbol] = definition;
    if (!align || (align & (align - 1)) || align > 4096) internalError(name + " has the alignment " + std::to_string(align));
    for (const Reloc& r : relocs)
      if (r.symbol >= definitions_.size() || uint64_t(r.offset) + relocWidth(r.kind) > size)
        internalError(name + " has a relocation outside its bytes");
  };
  for (uint32_t i = 0; i < object_->functions.size(); i++) {
    const ObjectFunction& f = object_->functions[i];
    check(f.symbol, i, f.code.size(), f.align, f.relocs);
    uint32_t before = 0;
    for (const LineEntry& l : f.lines) {
      if (l.offset < before || l.offset > f.code.size() || (l.place != NoPlace && l.place >= object_->places.size()))
        internalError(object_->symbols[f.symbol] + " has wrong line entries");
      before = l.offset;
    }
  }
  for (uint32_t i = 0; i < object_->data.size(); i++) {
    const ObjectData& d = object_->data[i];
    check(d.symbol, i | DataBit, d.bytes.size(), d.align, d.relocs);
  }
}

uint32_t Input::find(std::string_view name) const {
  if (!object_) return view_->find(name);
  auto at = byName_.find(name);
  return at == byName_.end() ? Undefined : at->second;
}

SectionView Input::section(uint32_t definition) const {
  uint32_t index = definition & ~DataBit;
  if (definition & DataBit) {
    if (!object_) {
      DataView d = view_->data(index);
      return {d.symbol, d.bytes, d.zeros, d.align, false, d.readOnly, NoPlace};
    }
    const ObjectData& d = object_->data[index];
    return {d.symbol, d.bytes, d.zeros, d.align, false, d.readOnly, NoPlace};
  }
  if (!object_) {
    FunctionView f = view_->function(index);
    return {f.symbol, f.code, 0, f.align, true, true, f.place};
  }
  const ObjectFunction& f = object_->functions[index];
  return {f.symbol, f.code, 0, f.align, true, true, f.place};
}

PlaceView Input::place(uint32_t index) const {
  if (!object_) return view_->place(index);
  const ir::PlaceInfo& p = object_->places[index];
  return {p.file, p.function, p.line, p.column, p.inlinedAt.index};
}

}  // namespace mica::elf
