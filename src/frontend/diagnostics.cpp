// Collecting, sorting and printing messages. Printing draws, for each source line that a message speaks of, the line
// itself, one row of underlines, and below it the labels from right to left, each hanging from its part by a `|`.
#include "frontend/diagnostics.h"
#include <algorithm>
#include <map>
#include "frontend/utf8.h"

namespace mica {

Diagnostic& Diagnostics::add(Severity severity, Span at, std::string sentence) {
  if (severity == Severity::Error) errors++;
  Diagnostic& d = list.emplace_back();
  d.severity = severity;
  d.span = at;
  d.sentence = std::move(sentence);
  return d;
}

std::vector<const Diagnostic*> Diagnostics::sorted() const {
  std::vector<const Diagnostic*> out;
  for (const Diagnostic& d : list) out.push_back(&d);
  // Stable: messages of one place stay in the order in which they were reported.
  std::stable_sort(out.begin(), out.end(), [](auto* a, auto* b) { return a->span.place < b->span.place; });
  std::vector<const Diagnostic*> unique;
  for (const Diagnostic* d : out) {
    bool seen = false;
    for (size_t i = unique.size(); i-- > 0 && unique[i]->span.place == d->span.place && !seen; )
      seen = unique[i]->sentence == d->sentence && unique[i]->severity == d->severity;
    if (!seen) unique.push_back(d);
  }
  return unique;
}

namespace {

constexpr uint32_t MaxWidth = 160;    // how much of a long source line is shown
constexpr uint32_t LeadWidth = 60;    // and how much of that before the part in question

// A part of one source line to underline, in bytes from 0.
struct Part {
  uint32_t begin, end;
  char mark;
  std::string_view text, origin;
};

// A source line as it can be shown: control characters made visible as `?`, tabs as a blank, a long line cut to a window.
// `column` translates a byte of the line into a column of what is shown.
class ShownLine {
 public:
  ShownLine(std::string_view line, uint32_t focus) : line(line) {
    if (line.size() > MaxWidth && focus > LeadWidth) from = uint32_t(std::min<size_t>(focus, line.size())) - LeadWidth;
    while (from > 0 && from < line.size() && (uint8_t(line[from]) & 0xc0) == 0x80) from--;
    to = from;
    if (from > 0) shown = "…", width = 1;
    columns.push_back(width);
    while (to < line.size() && to - from < MaxWidth) addCharacter();
    if (to < line.size()) shown += "…";
  }
  uint32_t column(uint32_t byte) const {
    if (byte <= from) return columns.front();
    size_t at = byte - from;
    if (at < columns.size()) return columns[at];
    return columns.back() + (byte > line.size() && to == line.size() ? uint32_t(byte - line.size()) : 0);
  }
  const std::string& text() const { return shown; }

 private:
  void addCharacter() {
    uint32_t length = utf8Length(line.data() + to, line.data() + line.size());
    uint8_t first = uint8_t(line[to]);
    if (first == '\t') shown += ' ';
    else if (length == 0 || first < 0x20 || first == 0x7f || isHidden(length)) shown += '?';
    else shown += line.substr(to, length);
    if (length == 0) length = 1;
    to += length;
    width++;
    for (uint32_t i = 0; i + 1 < length; i++) columns.push_back(width - 1);
    columns.push_back(width);
  }
  // Direction marks would rearrange the message itself.
  bool isHidden(uint32_t length) const {
    uint32_t c = utf8Decode(line.data() + to, length);
    return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || (c >= 0x80 && c < 0xa0);
  }

  std::string_view line;
  std::string shown;
  uint32_t from = 0, to = 0, width = 0;
  std::vector<uint32_t> columns;   // of each byte from `from` on, and of the end
};

uint32_t textWidth(std::string_view text) {
  uint32_t n = 0;
  for (char c : text) n += (uint8_t(c) & 0xc0) != 0x80;
  return n;
}

// Draws one message.
class Printer {
 public:
  Printer(const SourceFiles& sources, const Diagnostic& d) : sources(sources), d(d) {
    uint32_t largest = d.span.place.line;
    for (auto& label : d.labels) largest = std::max(largest, label.span.place.line);
    digits = std::to_string(largest).size();
  }

  std::string print() {
    out = d.severity == Severity::Error ? "error: " : "warning: ";
    out += d.sentence + "\n";
    if (d.span.place.file != 0) {
      FileId file = d.span.place.file;
      header(d.span.place);
      linesOf(file);
      std::vector<FileId> others;
      for (auto& label : d.labels) {
        FileId other = label.span.place.file;
        if (other == 0 || other == file || std::count(others.begin(), others.end(), other)) continue;
        others.push_back(other);
        header(label.span.place);
        linesOf(other);
      }
    }
    for (auto& note : d.notes) noteLines(note);
    return std::move(out);
  }

 private:
  void header(Place place) { out += "  " + sources.describe(place) + "\n"; }

  void gutter(uint32_t number) {
    std::string text = number ? std::to_string(number) : "";
    out += "   " + std::string(digits - std::min(digits, text.size()), ' ') + text + " ";
  }

  // A note of several lines keeps its lines under one another.
  void noteLines(std::string_view note) {
    const char* lead = "= ";
    while (true) {
      size_t cut = note.find('\n');
      gutter(0);
      out += lead + std::string(note.substr(0, cut)) + "\n";
      if (cut == std::string_view::npos) return;
      note.remove_prefix(cut + 1);
      lead = "  ";
    }
  }

  // The parts of a file, line by line; a gap between lines shows as `…`.
  void linesOf(FileId file) {
    std::map<uint32_t, std::vector<Part>> lines;
    auto put = [&](Span span, char mark, std::string_view text, std::string_view origin) {
      if (span.place.file != file) return;
      uint32_t size = uint32_t(sources.line(file, span.place.line).size());
      uint32_t begin = span.place.column - 1;
      uint32_t end = std::max(begin + 1, uint32_t(std::min<uint64_t>(uint64_t(begin) + span.length, size)));
      lines[span.place.line].push_back({begin, end, mark, text, origin});
    };
    put(d.span, '^', d.text, "");
    for (auto& label : d.labels) put(label.span, '~', label.text, label.origin);
    uint32_t last = 0;
    for (auto& [number, parts] : lines) {
      if (last && number > last + 1) { gutter(0); out += "…\n"; }
      last = number;
      drawLine(file, number, parts);
    }
  }

  void drawLine(FileId file, uint32_t number, std::vector<Part>& parts) {
    uint32_t focus = parts.front().begin;   // the main part, or the first label of this line
    ShownLine line(sources.line(file, number), focus);
    gutter(number);
    out += "| " + line.text() + "\n";
    std::string marks;
    for (size_t i = parts.size(); i-- > 0; )   // the main part is the first: drawn last, so that its ^ stays visible
      for (uint32_t c = line.column(parts[i].begin), end = std::max(c + 1, line.column(parts[i].end)); c < end; c++) {
        if (marks.size() <= c) marks.resize(c + 1, ' ');
        marks[c] = parts[i].mark;
      }
    std::vector<Part> labelled;
    for (auto& part : parts) if (!part.text.empty()) labelled.push_back(part);
    std::stable_sort(labelled.begin(), labelled.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
    if (labelled.size() == 1 && labelled[0].origin.empty() && line.column(labelled[0].end) >= marks.size()) {
      row(marks + " " + std::string(labelled[0].text));   // a single label stands beside its mark
      return;
    }
    row(marks);
    drawLabels(line, labelled);
  }

  // From the rightmost to the leftmost; the parts further left show as `|`.
  void drawLabels(const ShownLine& line, const std::vector<Part>& labelled) {
    uint32_t originColumn = 0;
    for (auto& part : labelled)
      if (!part.origin.empty()) originColumn = std::max(originColumn, line.column(part.begin) + textWidth(part.text) + 2);
    for (size_t i = labelled.size(); i-- > 0; ) {
      std::string text;
      for (size_t j = 0; j < i; j++) {
        uint32_t c = line.column(labelled[j].begin);
        if (c < line.column(labelled[i].begin)) { text.resize(std::max<size_t>(text.size(), c), ' '); if (text.size() == c) text += '|'; }
      }
      uint32_t at = line.column(labelled[i].begin);
      text.resize(std::max<size_t>(text.size(), at), ' ');
      text += labelled[i].text;
      if (!labelled[i].origin.empty()) {
        text += std::string(originColumn - at - textWidth(labelled[i].text), ' ');
        text += labelled[i].origin;
      }
      row(text);
    }
  }

  void row(const std::string& text) {
    gutter(0);
    out += "| " + text + "\n";
  }

  const SourceFiles& sources;
  const Diagnostic& d;
  size_t digits;
  std::string out;
};

}  // namespace

std::string Diagnostics::print(const SourceFiles& sources, const Diagnostic& diagnostic) const {
  return Printer(sources, diagnostic).print();
}

std::string Diagnostics::print(const SourceFiles& sources, uint32_t limit) const {
  std::string out;
  auto messages = sorted();
  for (size_t i = 0; i < messages.size() && i < limit; i++) {
    if (i) out += "\n";
    out += print(sources, *messages[i]);
  }
  if (messages.size() > limit) {
    size_t more = messages.size() - limit;
    out += "\n" + std::to_string(more) + (more == 1 ? " more message is" : " more messages are") + " not shown\n";
  }
  return out;
}

}  // namespace mica
