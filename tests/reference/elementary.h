// The files of correctly rounded elementary functions (NAME_f32.txt, NAME_f64.txt in a folder `math`): turned into one
// request for the driver, and judged by the distance of bit patterns.
#pragma once
#include <string>

#include "case.h"

struct MathFile {
  std::string function;            // "exp", …
  bool single = true;              // float32, else float64
  std::vector<double> x, y, result;  // y: only for pow
};

std::string parseMath(const std::string& name, const std::string& text, MathFile& into);
std::string mathRequest(const MathFile& file);
// float32 must be the one right answer; float64 may lie one step beside it.
std::string compareMath(const MathFile& file, const Case& got);
