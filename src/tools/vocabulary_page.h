// `mica vocabulary`: prints docs/vocabulary.md, made from the table of the vocabulary.
#pragma once
#include <string>

namespace mica {

std::string vocabularyPage();

}  // namespace mica
