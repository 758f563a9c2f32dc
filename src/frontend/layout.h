// What the formatter needs to know about tokens beyond their kind, noted by the parser on its way when asked to.
#pragma once
#include <cstdint>
#include <vector>

namespace mica {

struct Layout {
  static constexpr uint32_t Nowhere = 0xffffffffu;
  // An item of a block, or the word that ends it: it is indented by `plus` steps from the line of the token `opener`
  // (Nowhere: from the left margin). Tokens that are none of this go on with the line before them.
  struct Mark {
    uint32_t opener = Nowhere;
    uint8_t plus = 0;
    bool marked = false;
  };
  std::vector<Mark> marks;          // of each token
  std::vector<uint8_t> tight;       // 1: no blank before (calls, indices); 2: none after (signs)
  std::vector<bool> inBrackets;     // first on its line inside brackets
  std::vector<bool> opensBody;      // a word whose header may run over lines that must differ from the body: func, if, …

  explicit Layout(size_t tokens) : marks(tokens), tight(tokens), inBrackets(tokens), opensBody(tokens) {}
};

}  // namespace mica
