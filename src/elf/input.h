// One input of the link, an object in memory or a serialized one, seen alike.
#pragma once
#include <unordered_map>

#include "elf/link.h"

namespace mica::elf {

// What the linker needs to know of a function or data, whichever it is.
struct SectionView {
  uint32_t symbol = 0;
  std::string_view bytes;
  uint64_t zeros = 0;              // after the bytes
  uint32_t align = 1;
  bool isFunction = false, readOnly = true;
  uint32_t place = NoPlace;        // of a function's declaration
};

class Input {
 public:
  static constexpr uint32_t Undefined = ObjectView::Undefined, DataBit = ObjectView::DataBit;

  explicit Input(const LinkInput&);

  const std::string& name() const { return name_; }
  uint32_t symbolCount() const { return object_ ? uint32_t(object_->symbols.size()) : view_->symbolCount(); }
  std::string_view symbolName(uint32_t symbol) const {
    return object_ ? std::string_view(object_->symbols[symbol]) : view_->symbolName(symbol);
  }
  uint32_t functionCount() const { return object_ ? uint32_t(object_->functions.size()) : view_->functionCount(); }
  uint32_t dataCount() const { return object_ ? uint32_t(object_->data.size()) : view_->dataCount(); }
  uint32_t placeCount() const { return object_ ? uint32_t(object_->places.size()) : view_->placeCount(); }

  // A function's index, a data's index with DataBit, or Undefined.
  uint32_t definition(uint32_t symbol) const { return object_ ? definitions_[symbol] : view_->definition(symbol); }
  // The symbol of that name, or Undefined.
  uint32_t find(std::string_view name) const;

  SectionView section(uint32_t definition) const;
  PlaceView place(uint32_t index) const;

  template <class F> void eachReloc(uint32_t definition, F visit) const {
    uint32_t index = definition & ~DataBit;
    if (object_) {
      for (const Reloc& r : definition & DataBit ? object_->data[index].relocs : object_->functions[index].relocs) visit(r);
      return;
    }
    uint32_t first, count;
    if (definition & DataBit) first = view_->data(index).firstReloc, count = view_->data(index).relocCount;
    else first = view_->function(index).firstReloc, count = view_->function(index).relocCount;
    for (uint32_t i = 0; i < count; i++) visit(view_->reloc(first + i));
  }

  template <class F> void eachLine(uint32_t function, F visit) const {
    if (object_) {
      for (const LineEntry& l : object_->functions[function].lines) visit(l);
      return;
    }
    FunctionView f = view_->function(function);
    for (uint32_t i = 0; i < f.lineCount; i++) visit(view_->line(f.firstLine + i));
  }

 private:
  void readObject();

  const Object* object_;
  const ObjectView* view_;
  std::string name_;
  std::vector<uint32_t> definitions_;                        // of an object in memory
  std::unordered_map<std::string_view, uint32_t> byName_;    // of an object in memory; only looked up in
};

}  // namespace mica::elf
