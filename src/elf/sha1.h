// SHA-1 (FIPS 180-4), for the build id only: it tells builds apart, it protects nothing.
#pragma once
#include <array>
#include <string_view>

namespace mica::elf {

std::array<unsigned char, 20> sha1(std::string_view bytes);

}  // namespace mica::elf
