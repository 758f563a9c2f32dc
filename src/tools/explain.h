// `mica explain`: shows what each station of the compilation made of a program, for people who learn how compilers work.
#pragma once
#include <string>

#include "driver.h"

namespace mica {

// stage: tokens, ast, tree, ir, passes, asm. With a function's name only what belongs to it. Answers the exit status.
int explain(const BuildOptions&, const std::string& function, const std::string& stage);

}  // namespace mica
