// Reads the signature column of the vocabulary's table. The table is our own text: a row that does not read as it should is found by the tests
// that go over all rows, so there are no messages here.
#include "frontend/signature.h"

#include <cctype>
#include <map>
#include <memory>

namespace mica {

namespace {

class SignatureReader {
 public:
  explicit SignatureReader(std::string_view s) : text(s) {}

  Signature read() {
    Signature s;
    if (eat("[")) {
      while (!eat("]")) {
        s.generics.push_back(word());
        eat("...");
        eat(",");
        if (at >= text.size()) break;
      }
    }
    eat("(");
    size_t untyped = 0;
    while (!eat(")") && at < text.size()) {
      Signature::Param p;
      p.isInout = eat("inout ");
      p.name = word();
      if (eat(":")) {
        p.type = type();
        if (eat(":=")) p.defaultText = defaultText();
        s.params.push_back(p);
        for (size_t k = 0; k < untyped; k++) s.params[s.params.size() - 2 - k].type = p.type;
        untyped = 0;
      } else {
        s.params.push_back(p);
        untyped++;
      }
      eat(",");
    }
    if (eat(":")) s.results = results();
    return s;
  }

 private:
  std::string_view text;
  size_t at = 0;

  void space() { while (at < text.size() && text[at] == ' ') at++; }
  bool eat(std::string_view what) {
    space();
    if (text.substr(at, what.size()) != what) return false;
    at += what.size();
    return true;
  }
  std::string word() {
    space();
    size_t from = at;
    while (at < text.size() && (isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_')) at++;
    if (from == at && at < text.size()) at++;   // never stands still
    return std::string(text.substr(from, at - from));
  }
  std::string defaultText() {
    space();
    size_t from = at;
    while (at < text.size() && text[at] != ',' && text[at] != ')') at++;
    return std::string(text.substr(from, at - from));
  }
  Signature::Shape type() {
    Signature::Shape t;
    t.base = word();
    if (eat("[")) {
      while (!eat("]") && at < text.size()) {
        space();
        size_t from = at;
        while (at < text.size() && text[at] != ',' && text[at] != ']' && text.substr(at, 3) != "...") at++;
        Signature::Dim d{std::string(text.substr(from, at - from)), false};
        d.pack = eat("...");
        t.dims.push_back(d);
        eat(",");
      }
      t.base = "tensor";
      t.element = "float32";
    }
    if (eat("of ")) t.element = word();
    t.optional = eat("?");
    return t;
  }
  std::vector<Signature::Shape> results() {
    std::vector<Signature::Shape> out;
    if (!eat("(")) {
      out.push_back(type());
      return out;
    }
    while (!eat(")") && at < text.size()) {
      out.push_back(type());
      eat(",");
    }
    return out;
  }
};

}  // namespace

const Signature& signatureOf(const vocabulary::Row* row) {
  static std::map<const vocabulary::Row*, std::unique_ptr<Signature>> known;
  auto& entry = known[row];
  if (!entry) entry = std::make_unique<Signature>(SignatureReader(row->signature).read());
  return *entry;
}

}  // namespace mica
