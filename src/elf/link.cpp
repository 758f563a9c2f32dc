// The linker as a list of steps. Each step runs to its end, so that one run shows many faults; then the link stops if it failed.
#include "elf/link.h"

#include "elf/context.h"

namespace mica::elf {

bool link(const std::vector<LinkInput>& inputs, const LinkOptions& options, std::string& fileBytes, std::vector<std::string>& errors) {
  Context ctx(inputs, options, errors);

  // Find what the program consists of.
  checkDuplicates(ctx);
  if (!errors.empty()) return false;
  markReached(ctx);
  if (!errors.empty()) return false;

  // Lay it out. Sizes are final after the first two steps, addresses after the third.
  assignOffsets(ctx);
  collectPlaces(ctx);
  makePlaceTable(ctx);
  assignAddresses(ctx);
  if (!errors.empty()) return false;

  // Fill in the bytes.
  relocateSections(ctx);
  if (!errors.empty()) return false;
  if (!options.strip) {
    makeDebugInfo(ctx);
    makeSymbolTable(ctx);
  }
  fileBytes = makeFile(ctx);
  return true;
}

bool link(const std::vector<const Object*>& inputs, const LinkOptions& options, std::string& fileBytes, std::vector<std::string>& errors) {
  std::vector<LinkInput> list;
  for (const Object* object : inputs) list.emplace_back(object, "object " + std::to_string(list.size() + 1));
  return link(list, options, fileBytes, errors);
}

}  // namespace mica::elf
