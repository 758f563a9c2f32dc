// Reads the small notations of the vocabulary's table: words, numbers and the signs between them.
#pragma once
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace mica {

class WordReader {
 public:
  explicit WordReader(std::string_view s) : text(s) {}

  bool ends() const { return at >= text.size(); }
  bool eat(std::string_view what) {
    space();
    if (text.substr(at, what.size()) != what) return false;
    at += what.size();
    return true;
  }
  // A word or a number, or one sign where neither stands: a caller that goes on until something comes never stands still.
  std::string word() {
    space();
    size_t from = at;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_')) at++;
    if (from == at && !ends()) at++;
    return std::string(text.substr(from, at - from));
  }
  // What stands before any of these signs, or before the end.
  std::string until(std::string_view signs) {
    space();
    size_t from = at;
    at = std::min(text.find_first_of(signs, at), text.size());
    return std::string(text.substr(from, at - from));
  }

 private:
  std::string_view text;
  size_t at = 0;
  void space() { while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) at++; }
};

}  // namespace mica
