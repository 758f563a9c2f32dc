// SHA-1: see sha1.h. Names and numbers are those of FIPS 180-4.
#include "elf/sha1.h"

#include <bit>
#include <cstdint>
#include <string>

namespace mica::elf {
namespace {

struct State { uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}; };

void block(State& state, const unsigned char* m) {
  uint32_t w[80];
  for (int t = 0; t < 16; t++) w[t] = uint32_t(m[4 * t]) << 24 | m[4 * t + 1] << 16 | m[4 * t + 2] << 8 | m[4 * t + 3];
  for (int t = 16; t < 80; t++) w[t] = std::rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
  uint32_t a = state.h[0], b = state.h[1], c = state.h[2], d = state.h[3], e = state.h[4];
  auto round = [&](int t, uint32_t f, uint32_t k) {
    uint32_t next = std::rotl(a, 5) + f + e + k + w[t];
    e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
  };
  for (int t = 0; t < 20; t++) round(t, (b & c) | (~b & d), 0x5a827999);
  for (int t = 20; t < 40; t++) round(t, b ^ c ^ d, 0x6ed9eba1);
  for (int t = 40; t < 60; t++) round(t, (b & c) | (b & d) | (c & d), 0x8f1bbcdc);
  for (int t = 60; t < 80; t++) round(t, b ^ c ^ d, 0xca62c1d6);
  state.h[0] += a, state.h[1] += b, state.h[2] += c, state.h[3] += d, state.h[4] += e;
}

}  // namespace

std::array<unsigned char, 20> sha1(std::string_view bytes) {
  State state;
  size_t whole = bytes.size() / 64 * 64;
  auto at = reinterpret_cast<const unsigned char*>(bytes.data());
  for (size_t i = 0; i < whole; i += 64) block(state, at + i);

  // The rest, a one bit, zeros, and the length in bits, big-endian.
  std::string rest(bytes.substr(whole));
  rest.push_back('\x80');
  while (rest.size() % 64 != 56) rest.push_back('\0');
  for (int shift = 56; shift >= 0; shift -= 8) rest.push_back(char(uint64_t(bytes.size()) * 8 >> shift));
  for (size_t i = 0; i < rest.size(); i += 64) block(state, reinterpret_cast<const unsigned char*>(rest.data()) + i);

  std::array<unsigned char, 20> digest;
  for (int i = 0; i < 20; i++) digest[i] = (unsigned char)(state.h[i / 4] >> (24 - i % 4 * 8));
  return digest;
}

}  // namespace mica::elf
