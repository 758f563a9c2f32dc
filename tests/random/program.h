// A random program: its declarations, and functions that `Main` calls one after another with several arguments. The same seed gives the
// same text. `mica run FILE --from k` begins with function k, so that a run goes on behind a function that has trapped.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "random/types.h"

namespace mica::random {

// What a program is about. Each group adds its constructs to those of the first two.
enum class Group { Scalars, Flow, Text, Data, Calls, Owners, Tensors, Tape, Everything };
inline constexpr int GroupCount = 9;
const char* name(Group);

struct Features {
  bool text = false, data = false, calls = false, owners = false, tensors = false, tape = false;
};
Features featuresOf(Group);

struct Parameter {
  enum Mode { Read, Inout, Move } mode = Read;
  std::string name;
  const Type* type = nullptr;
};

struct Function {
  std::string name;
  std::vector<const Type*> generics;    // type parameters
  std::vector<std::string> extents;     // extent parameters
  std::vector<Parameter> parameters;
  const Type* result = nullptr;         // null: none
  std::vector<int> fails;               // which of the program's failures
  bool recursive = false;               // the first parameter says how often it may call itself
  bool risky = false;                   // it may trap
  bool recordable = false;              // it may be called in a window of the tape
  bool tape = false;                    // it has a window of its own
  long cost = 1;                        // about how many statements a call runs
  std::string text;
};

struct Program {
  Group group{};
  Features features;
  Types types;
  std::vector<const Type*> records, choices;
  std::vector<const Type*> models;      // records with tracked fields
  int failures = 0;                     // `Broken0(n: int)`, `Broken1(n: int)` …
  std::vector<Function> functions;
};

// The text of a program of so many functions.
std::string generate(Group, int functions, uint64_t seed);

}  // namespace mica::random
