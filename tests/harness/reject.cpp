// Refused programs: `mica check` must say exactly the errors that the file lists, each at its line with its sentence,
// and the help of each listed note somewhere in its report.
#include <algorithm>
#include <cctype>
#include <filesystem>

#include "process.h"
#include "tests.h"

namespace {

struct Message {
  int line = 0;
  std::string sentence;
  std::vector<std::string> notes;  // listed help, or everything else that the report of this error says
};

// The line number of `  FILE.mica:LINE:COLUMN`, or 0: a message about another module counts as line 0.
int lineOfPlace(const std::string& text, const std::string& fileName) {
  size_t at = text.find(fileName + ":");
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + fileName.size() + 1);
}

std::vector<Message> listed(const TestFile& file) {
  std::vector<Message> result;
  for (const Directive& d : file.directives) {
    if (d.key == "error") result.push_back({std::atoi(d.argument.c_str()), d.value, {}});
    if (d.key == "note" && !result.empty()) result.back().notes.push_back(d.value);
  }
  return result;
}

// An error is a line `error: SENTENCE`; the place is the first one in the lines that follow.
std::vector<Message> reported(const std::string& text, const std::string& fileName) {
  std::vector<Message> result;
  for (const std::string& line : splitLines(text)) {
    if (line.rfind("error: ", 0) == 0) {
      result.push_back({0, line.substr(7), {}});
      continue;
    }
    if (result.empty()) continue;
    Message& last = result.back();
    if (last.line == 0) last.line = lineOfPlace(line, fileName);
    last.notes.push_back(line);
  }
  std::stable_sort(result.begin(), result.end(), [](const Message& a, const Message& b) { return a.line < b.line; });
  return result;
}

std::vector<std::string> asLines(const std::vector<Message>& messages) {
  std::vector<std::string> lines;
  for (const Message& m : messages) lines.push_back("error " + std::to_string(m.line) + ": " + m.sentence);
  return lines;
}

bool saysNote(const Message& message, const std::string& note) {
  return std::any_of(message.notes.begin(), message.notes.end(),
                     [&](const std::string& line) { return line.find(note) != std::string::npos; });
}

// The notes of a report: what stands behind `= ` or `note: ` at the start of a line.
std::vector<std::string> notesOf(const Message& message) {
  std::vector<std::string> notes;
  for (const std::string& line : message.notes) {
    size_t at = line.find_first_not_of(' ');
    if (at == std::string::npos) continue;
    if (line.compare(at, 2, "= ") == 0) notes.push_back(line.substr(at + 2));
    if (line.compare(at, 6, "note: ") == 0) notes.push_back(line.substr(at + 6));
  }
  return notes;
}

bool update(const TestFile& file, const std::vector<Message>& messages) {
  std::vector<std::string> lines;
  for (const Message& m : messages) {
    lines.push_back("// error " + std::to_string(m.line) + ": " + m.sentence);
    for (const std::string& note : notesOf(m)) lines.push_back("// note: " + note);
  }
  std::string text = replaceDirectives(file, {"error", "note"}, lines);
  if (lines.empty() || text == file.text) return false;
  writeFile(file.path, text);
  return true;
}

}  // namespace

Outcome runReject(const TestFile& file, const Options& options) {
  // In the file's own folder, so that messages name files without folders.
  std::filesystem::path path = file.path;
  ProcessRequest request;
  request.command = {options.mica, "check", path.filename().string()};
  request.directory = path.parent_path().string();
  request.seconds = options.seconds;
  ProcessResult run = runProcess(request);
  Outcome outcome;
  if (run.timedOut) outcome.failure += "  the compiler ran too long\n";
  std::vector<Message> expected = listed(file), got = reported(run.err + run.out, file.name + ".mica");
  std::stable_sort(expected.begin(), expected.end(), [](const Message& a, const Message& b) { return a.line < b.line; });
  if (asLines(expected) != asLines(got)) {
    outcome.failure += "  the errors differ (- expected, + got):\n" + diffLines(asLines(expected), asLines(got));
  } else {
    for (size_t i = 0; i < expected.size(); i++)
      for (const std::string& note : expected[i].notes)
        if (!saysNote(got[i], note)) {
          outcome.failure += "  the error of line " + std::to_string(expected[i].line) + " lacks the note\n    - " + note + "\n";
          for (const std::string& said : notesOf(got[i])) outcome.failure += "    + " + said + "\n";
        }
  }
  if (run.status != 1) {
    outcome.failure += "  exit status " + std::to_string(run.status) + ", expected 1\n";
    if (got.empty() && !run.err.empty()) outcome.failure += "    " + splitLines(run.err)[0] + "\n";
  }
  if (options.update && run.status == 1) outcome.updated = update(file, got);
  return outcome;
}
