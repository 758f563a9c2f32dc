// Makes a program that shows a fault small: leaves out declarations and statements as long as the fault stays.
#pragma once
#include <functional>
#include <string>

namespace mica::random {

// `shows` tells whether a program still has the fault; it is asked at most so many times.
std::string shrink(const std::string& text, int mostTries, const std::function<bool(const std::string&)>& shows);

}  // namespace mica::random
