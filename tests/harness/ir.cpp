// Golden IR tests: `mica ir-test FILE` prints the IR after the passes that the file's first line names (or the
// verifier's message); it must be what stands in the file's comments after `; expect`.
#include <filesystem>

#include "process.h"
#include "tests.h"

namespace {

const std::string Marker = "; expect\n";

// The text after the marker without its comment signs.
std::vector<std::string> wanted(const std::string& text, size_t marker) {
  std::vector<std::string> lines;
  for (const std::string& line : splitLines(text.substr(marker + Marker.size()))) {
    if (line.rfind("; ", 0) == 0) lines.push_back(line.substr(2));
    else if (line == ";") lines.push_back("");
  }
  return lines;
}

std::vector<std::string> withoutBlankEnd(std::vector<std::string> lines) {
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace

Outcome runIr(const TestFile& file, const Options& options, const std::string& folder) {
  Outcome outcome;
  size_t marker = file.text.find("\n" + Marker);
  if (marker == std::string::npos) return {"  has no line `; expect`\n", false};
  marker++;
  std::filesystem::create_directories(folder);
  ProcessRequest request;
  request.command = {options.mica, "ir-test", file.path};
  request.directory = folder;
  request.seconds = options.seconds;
  ProcessResult run = runProcess(request);
  std::filesystem::remove_all(folder);
  if (run.timedOut) return {"  ran too long\n", false};
  if (run.status > 1) return {"  exit status " + std::to_string(run.status) + "\n" + run.err, false};
  std::vector<std::string> expected = withoutBlankEnd(wanted(file.text, marker)), got = withoutBlankEnd(splitLines(run.out + run.err));
  if (expected == got) return outcome;
  outcome.failure = "  the text after the passes differs (- expected, + got):\n" + diffLines(expected, got);
  if (options.update) {
    std::string text = file.text.substr(0, marker + Marker.size());
    for (const std::string& line : got) text += line.empty() ? ";\n" : "; " + line + "\n";
    writeFile(file.path, text);
    outcome.updated = true;
  }
  return outcome;
}
