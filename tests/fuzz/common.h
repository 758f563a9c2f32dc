// What the fuzz targets share. A target is a file fuzz_NAME.cpp with libFuzzer's entry: it feeds the bytes to one part of the
// compiler and states what must hold. Whatever crashes, hangs, or breaks a statement is a find.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

// Ends the run with a report when the statement is false, in every build.
#define HOLDS(statement) \
  do { if (!(statement)) fuzz::broken(#statement, __FILE__, __LINE__); } while (0)

namespace fuzz {

[[noreturn]] void broken(const char* statement, const char* file, int line);

inline std::string textOf(const uint8_t* data, size_t size) { return std::string(reinterpret_cast<const char*>(data), size); }

}  // namespace fuzz
