// The linker: objects in, the bytes of one static executable out. It links only what the entry reaches.
//
//   R    ELF header, program headers, build id note, .rodata, the place table
//   RX   .text
//   RW   .data, .bss (mica.state among it)
//   then, unless stripped: .debug_*, .symtab, .strtab, .shstrtab, section headers
//
// The steps are in link.cpp, what they work on in context.h.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "elf/object.h"
#include "elf/serialize.h"

namespace mica::elf {

struct LinkOptions {
  Machine machine = Machine::X64;
  std::string entry = "Start.Entry";
  std::vector<std::string> roots;      // kept besides the entry and what these reach
  bool strip = false;                  // no symbols, no debugging sections, no section headers
  std::string source;                  // the program's main file; the debugger is told its name without folders
};

// An object to link, in memory or serialized; it is only looked at and must outlive the call.
struct LinkInput {
  LinkInput(const Object* o, std::string name = "the program") : object(o), name(std::move(name)) {}
  LinkInput(const ObjectView* v, std::string name = "the runtime") : view(v), name(std::move(name)) {}
  const Object* object = nullptr;
  const ObjectView* view = nullptr;
  std::string name;                    // for messages
};

// True, with the file in `fileBytes`; or false, with a line for every fault found.
bool link(const std::vector<LinkInput>& inputs, const LinkOptions&, std::string& fileBytes, std::vector<std::string>& errors);
bool link(const std::vector<const Object*>& inputs, const LinkOptions&, std::string& fileBytes, std::vector<std::string>& errors);

}  // namespace mica::elf
