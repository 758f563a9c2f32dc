// An open-addressing table over spellings. The hash reads eight bytes at a time and never meets a seed or an address, and
// ids come in order of first appearance, so everything that follows from them is the same in every run.
#include "frontend/interner.h"
#include <cstring>

namespace mica {

static uint32_t hashText(std::string_view text) {
  uint64_t h = 0x9e3779b97f4a7c15ull ^ text.size();
  const char* p = text.data();
  size_t left = text.size();
  for (; left >= 8; p += 8, left -= 8) {
    uint64_t piece;
    std::memcpy(&piece, p, 8);
    h = (h ^ piece) * 0xff51afd7ed558ccdull;
    h ^= h >> 32;
  }
  uint64_t rest = 0;
  std::memcpy(&rest, p, left);
  h = (h ^ rest) * 0xc4ceb9fe1a85ec53ull;
  return uint32_t(h ^ (h >> 32));
}

Interner::Interner() : slots(4096, 0) {
#define X(name, text) internStable(text);
  MICA_KEYWORDS(X) MICA_SOFT_WORDS(X)
#undef X
  if (size() != word::Count) internalError("two words of the language have one spelling");
}

// The slot that holds the spelling, or the free one where it belongs.
uint32_t* Interner::slotOf(std::string_view text, uint32_t hash) {
  uint32_t mask = uint32_t(slots.size()) - 1;
  for (uint32_t at = hash & mask;; at = (at + 1) & mask) {
    uint32_t entry = slots[at];
    if (entry == 0 || (hashes[entry - 1] == hash && texts[entry - 1] == text)) return &slots[at];
  }
}

NameId Interner::insert(std::string_view text, uint32_t hash, uint32_t* slot) {
  texts.push_back(text);
  hashes.push_back(hash);
  *slot = uint32_t(texts.size());
  if (texts.size() * 2 > slots.size()) grow();
  return NameId(uint32_t(texts.size()) - 1);
}

void Interner::grow() {
  slots.assign(slots.size() * 2, 0);
  uint32_t mask = uint32_t(slots.size()) - 1;
  for (uint32_t i = 0; i < hashes.size(); i++) {
    uint32_t at = hashes[i] & mask;
    while (slots[at] != 0) at = (at + 1) & mask;
    slots[at] = i + 1;
  }
}

NameId Interner::internStable(std::string_view text) {
  uint32_t hash = hashText(text);
  uint32_t* slot = slotOf(text, hash);
  return *slot ? NameId(*slot - 1) : insert(text, hash, slot);
}

NameId Interner::intern(std::string_view text) {
  uint32_t hash = hashText(text);
  uint32_t* slot = slotOf(text, hash);
  if (*slot) return NameId(*slot - 1);
  owned.emplace_back(text);
  return insert(owned.back(), hash, slot);
}

NameId Interner::find(std::string_view text) const {
  uint32_t entry = *const_cast<Interner*>(this)->slotOf(text, hashText(text));
  return entry ? NameId(entry - 1) : NameId();
}

}  // namespace mica
