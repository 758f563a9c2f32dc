// Reads the signature column of the vocabulary's table. The table is our own text: a row that does not read as it should is found by the tests
// that go over all rows, so there are no messages here.
#include "frontend/signature.h"

#include <map>
#include <memory>

#include "frontend/words.h"

namespace mica {

namespace {

class SignatureReader : private WordReader {
 public:
  using WordReader::WordReader;

  Signature read() {
    Signature s;
    if (eat("[")) {
      while (!eat("]")) {
        s.generics.push_back(word());
        eat("...");
        eat(",");
        if (ends()) break;
      }
    }
    eat("(");
    size_t untyped = 0;
    while (!eat(")") && !ends()) {
      Signature::Param p;
      p.isInout = eat("inout ");
      p.name = word();
      if (eat(":")) {
        p.type = type();
        if (eat(":=")) p.defaultText = until(",)");
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
  Signature::Shape type() {
    Signature::Shape t;
    t.base = word();
    if (eat("[")) {
      while (!eat("]") && !ends()) {
        Signature::Dim d{until(",]."), false};
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
    while (!eat(")") && !ends()) {
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
