// UTF-8, as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mica {

// The length in bytes of the valid character at `p` (before `end`), or 0.
inline uint32_t utf8Length(const char* p, const char* end) {
  auto byte = [&](int i) { return uint8_t(p[i]); };
  auto tail = [&](int i, uint8_t low = 0x80, uint8_t high = 0xbf) { return byte(i) >= low && byte(i) <= high; };
  std::ptrdiff_t left = end - p;
  uint8_t b = byte(0);
  if (b < 0x80) return 1;
  if (b >= 0xc2 && b <= 0xdf) return left >= 2 && tail(1) ? 2 : 0;
  if (b >= 0xe0 && b <= 0xef) {
    if (left < 3) return 0;
    uint8_t low = b == 0xe0 ? 0xa0 : 0x80, high = b == 0xed ? 0x9f : 0xbf;
    return tail(1, low, high) && tail(2) ? 3 : 0;
  }
  if (b >= 0xf0 && b <= 0xf4) {
    if (left < 4) return 0;
    uint8_t low = b == 0xf0 ? 0x90 : 0x80, high = b == 0xf4 ? 0x8f : 0xbf;
    return tail(1, low, high) && tail(2) && tail(3) ? 4 : 0;
  }
  return 0;
}

// The code point of the valid character of `length` bytes at `p`.
inline uint32_t utf8Decode(const char* p, uint32_t length) {
  auto byte = [&](int i) { return uint32_t(uint8_t(p[i])); };
  switch (length) {
    case 1: return byte(0);
    case 2: return (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
    case 3: return (byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
    default: return (byte(0) & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f);
  }
}

inline void utf8Append(std::string& out, uint32_t c) {
  if (c < 0x80) { out += char(c); return; }
  if (c < 0x800) { out += char(0xc0 | c >> 6); out += char(0x80 | (c & 0x3f)); return; }
  if (c < 0x10000) out += char(0xe0 | c >> 12);
  else { out += char(0xf0 | c >> 18); out += char(0x80 | (c >> 12 & 0x3f)); }
  out += char(0x80 | (c >> 6 & 0x3f));
  out += char(0x80 | (c & 0x3f));
}

}  // namespace mica
