// What an unknown name was meant to be: the nearest known spelling, or what Mica writes for a word of another language.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mica {

// The candidate that differs from `wanted` in one or two letters, the first of the nearest ones; nothing when all are further away.
std::string nearest(std::string_view wanted, const std::vector<std::string>& candidates);

// The words for types, for guesses.
inline constexpr std::string_view TypeWords[] = {"int", "bool", "string", "float32", "float64", "byte", "char", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                                                 "vector", "matrix", "tensor", "list", "map", "set", "array", "never"};

// The note for a word that stands for a value or function, for a type, or that begins a statement or declaration; null for any other word.
const char* foreignName(std::string_view word);
const char* foreignType(std::string_view word);
const char* foreignStatement(std::string_view word);

// The note for a sign that other languages have; null for any other.
const char* foreignSigns(std::string_view signs);

}  // namespace mica
