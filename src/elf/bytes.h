// Little-endian bytes: appending them to a string, patching them in place, reading them from anywhere.
// Both hosts are little-endian, so a copy of the bytes is the value; nothing needs alignment.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace mica::elf {

static_assert(std::endian::native == std::endian::little, "the compiler runs on little-endian hosts");

template <class T> T load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T> void store(char* to, T value) { std::memcpy(to, &value, sizeof value); }

inline void put8(std::string& out, uint8_t v) { out.push_back(char(v)); }
inline void put16(std::string& out, uint16_t v) { out.append(reinterpret_cast<const char*>(&v), 2); }
inline void put32(std::string& out, uint32_t v) { out.append(reinterpret_cast<const char*>(&v), 4); }
inline void put64(std::string& out, uint64_t v) { out.append(reinterpret_cast<const char*>(&v), 8); }
inline void putText(std::string& out, std::string_view text) { out.append(text).push_back('\0'); }

// The variable-length numbers of DWARF.
inline void putUleb(std::string& out, uint64_t v) {
  while (v >= 0x80) {
    put8(out, uint8_t(v) | 0x80);
    v >>= 7;
  }
  put8(out, uint8_t(v));
}

inline void putSleb(std::string& out, int64_t v) {
  for (;;) {
    uint8_t low = uint8_t(v) & 0x7f;
    v >>= 7;
    bool last = (v == 0 && !(low & 0x40)) || (v == -1 && (low & 0x40));
    put8(out, last ? low : low | 0x80);
    if (last) return;
  }
}

inline uint64_t alignUp(uint64_t v, uint64_t align) { return (v + align - 1) & ~(align - 1); }

}  // namespace mica::elf
