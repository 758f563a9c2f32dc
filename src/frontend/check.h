// The checker: from syntax trees to the checked tree (tree.h). Names, types, shapes, constants and failures are settled here;
// ownership (ownership.h) and marks (marks.h) are checked over its result.
//
// All bodies of the program's own modules are checked. Bodies of library functions are checked when somebody asks for
// them (`checkBody`), so that a small program does not pay for the library.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/context.h"
#include "frontend/tree.h"

namespace mica {

// A module that the compiler carries: `Files` and its text.
struct LibraryText { std::string_view name, text; };

struct CheckOptions {
  FileId main = 0;                                            // the program's file, loaded already
  std::vector<std::string> importDirs;                        // -I
  std::vector<std::pair<std::string, std::string>> constants; // --set NAME=VALUE
  const std::vector<LibraryText>* library = nullptr;          // the embedded modules, or null
  std::string libraryDir;                                     // instead: a folder that holds them (when the library itself is built)
  bool needMain = true;                                       // a program needs `func Main`; tests and library modules do not
};

// Checks the program. False when errors were reported; the tree is whole even then (Error nodes).
bool check(Context&, Program&, const CheckOptions&);

// The body of a function, checked now if it was not. Null for what has no body. Errors go to the same diagnostics.
Body* checkBody(Program&, DeclId);

// The declaration of a library module, loaded now if the program did not import it; none when there is no such thing.
DeclId require(Program&, std::string_view module, std::string_view name);

// `mica check`: all messages of a file; the exit status.
int checkCommand(const std::string& file, CheckOptions options);

// The checked tree of one function (or all of the program's own) as text, for `mica explain` and tests.
std::string dumpTree(const Program&, DeclId);

// What is known about types (traits.cpp). A parameter has what its constraints say.
bool copies(const Program&, TypeId);           // numbers and what is made of them: never moves
bool isEquatable(const Program&, TypeId);
bool isOrdered(const Program&, TypeId);
bool isHashable(const Program&, TypeId);
bool isPrintable(const Program&, TypeId);
bool isCopyable(const Program&, TypeId);
bool isInteger(Kind);
bool isSigned(Kind);
bool isFloat(Kind);
uint32_t bitWidth(Kind);

// As written in messages and dumps: `matrix[2, 3]`, `list of string`, `func(int): int fails Bad`.
std::string show(const Program&, TypeId);
std::string show(const Program&, ExtentId);
std::string showWithArticle(const Program&, TypeId);   // "a matrix[2, 3]", "an int"

}  // namespace mica
