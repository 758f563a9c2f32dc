// Messages to the person who wrote the program. They are collected while the stations run and printed at the end, sorted
// by place and without repetition. A message is a sentence (lower case, code in backticks, no final stop), the place with
// the source lines underlined, labels under further parts, and notes that say what to write instead:
//
//   error: the dimensions of this product cannot meet
//     gpt.mica:31:16
//      31 |     let q := n * b.query
//         |              ~ ^ ~~~~~~~
//         |              |   matrix[128, 96]  declared at gpt.mica:14:5
//         |              matrix[1024, 64]     from LayerNorm at gpt.mica:30:14
//         = the left has 64 columns, the right has 128 rows
#pragma once
#include <deque>
#include <string>
#include <string_view>
#include <vector>
#include "frontend/source.h"

namespace mica {

enum class Severity : uint8_t { Error, Warning };

// One message. The builders answer the message itself, so that a report is one expression:
//   diagnostics.error(product->opSpan(), "the dimensions of this product cannot meet")
//     .label(left->span(), "matrix[1024, 64]", "from LayerNorm at gpt.mica:30:14").note("the left has …");
struct Diagnostic {
  struct Label {
    Span span;
    std::string text;     // written below the underlined part; may be empty (only underlined)
    std::string origin;   // a second column beside the text, aligned among the labels of a line; may be empty
  };

  Severity severity = Severity::Error;
  Span span;                    // underlined with ^; file 0: a message without a place
  std::string sentence;
  std::string text;             // a label for the main part itself; mostly empty
  std::vector<Label> labels;    // underlined with ~; other lines and files are shown too
  std::vector<std::string> notes;

  Diagnostic& label(Span at, std::string labelText = "", std::string origin = "") {
    labels.push_back({at, std::move(labelText), std::move(origin)});
    return *this;
  }
  Diagnostic& mainLabel(std::string labelText) { text = std::move(labelText); return *this; }
  Diagnostic& note(std::string noteText) { notes.push_back(std::move(noteText)); return *this; }
};

class Diagnostics {
 public:
  Diagnostic& error(Span at, std::string sentence) { return add(Severity::Error, at, std::move(sentence)); }
  Diagnostic& error(Place at, std::string sentence) { return error(Span{at, 1}, std::move(sentence)); }
  Diagnostic& warning(Span at, std::string sentence) { return add(Severity::Warning, at, std::move(sentence)); }

  bool hasErrors() const { return errors > 0; }
  uint32_t errorCount() const { return errors; }
  const std::deque<Diagnostic>& all() const { return list; }   // in order of reporting
  // Sorted by place and de-duplicated: what is printed.
  std::vector<const Diagnostic*> sorted() const;
  // The text of all messages; more than `limit` are only counted.
  std::string print(const SourceFiles& sources, uint32_t limit = 50) const;
  std::string print(const SourceFiles& sources, const Diagnostic& diagnostic) const;
  void clear() { list.clear(); errors = 0; }

 private:
  Diagnostic& add(Severity severity, Span at, std::string sentence);

  std::deque<Diagnostic> list;   // a deque: a reference stays good while more are added
  uint32_t errors = 0;
};

}  // namespace mica
