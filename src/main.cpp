// The command line, nothing else. Exit status: 0 fine, 1 errors in the input, 2 wrong usage, 70 an internal error.
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "driver.h"
#include "elf/output.h"
#include "ir/interp.h"
#include "ir/passes/ir_test.h"
#include "ir/text.h"
#include "tools/vocabulary_page.h"
#include "tools/explain.h"
#include "tools/fmt.h"

extern char** environ;

namespace mica {
namespace {

constexpr const char* Version = "0.1";

constexpr const char* Usage =
    "usage:\n"
    "  mica run [options] FILE [args]       compiles and runs, leaving nothing behind\n"
    "  mica build [options] FILE [-o OUT]   writes a static binary\n"
    "  mica check [options] FILE...         all messages, no output\n"
    "  mica test [options] FILE...          runs the `test` blocks of the files\n"
    "  mica fmt [--check] PATH...           writes the canonical layout (--check: lists what is not in it)\n"
    "  mica explain [options] FILE [--func NAME] [--stage tokens|ast|tree|ir|passes|asm]\n"
    "                                       shows a stage of the compilation\n"
    "  mica vocabulary                      every operation on tensors, with its formula and its gradient\n"
    "  mica help | version\n"
    "options:\n"
    "  --tier debug|checked|release         default: checked\n"
    "  --set NAME=VALUE                     gives a constant of the file another value\n"
    "  -I DIR                               where imports are looked for, too\n"
    "  --strip                              build: without symbols and line tables\n"
    "  --interpret                          run: in the reference interpreter\n"
    "  --lines FILE                         run: in the interpreter; FILE gets the lines with code and which of them ran\n"
    "  --verify                             checks the compiler's own work on the way\n"
    "  --timing                             how long each station took, on standard error\n";

int usageError(const std::string& what) {
  std::fprintf(stderr, "mica: %s\n%s", what.c_str(), Usage);
  return 2;
}

struct CommandLine {
  BuildOptions build;
  std::string output, function, stage = "ir";
  std::vector<std::string> files, rest;
  std::string error;
};

bool parseTier(std::string_view name, TierName& tier) {
  if (name == "debug") tier = TierName::Debug;
  else if (name == "checked") tier = TierName::Checked;
  else if (name == "release") tier = TierName::Release;
  else return false;
  return true;
}

// Options may stand before and after the file; for `run`, what follows the file belongs to the program (a first `--` is dropped).
CommandLine parse(const std::vector<std::string>& words, bool restIsProgram) {
  CommandLine c;
  size_t i = 0;
  auto value = [&](const std::string& option, std::string& into) {
    if (i + 1 >= words.size()) { c.error = "the option " + option + " needs a value"; return false; }
    into = words[++i];
    return true;
  };
  for (; i < words.size() && c.error.empty(); i++) {
    const std::string& w = words[i];
    std::string v;
    if (w == "--tier") { if (value(w, v) && !parseTier(v, c.build.tier)) c.error = "there is no tier " + v + ": write debug, checked or release"; }
    else if (w == "--set") {
      if (!value(w, v)) break;
      size_t equals = v.find('=');
      if (equals == std::string::npos || equals == 0) { c.error = "--set needs NAME=VALUE, not " + v; break; }
      c.build.constants.emplace_back(v.substr(0, equals), v.substr(equals + 1));
    }
    else if (w == "-I") { if (value(w, v)) c.build.importDirs.push_back(v); }
    else if (w == "-o") value(w, c.output);
    else if (w == "--target") { if (value(w, v) && v != "x64") c.error = "this compiler has no target " + v + " yet: x64"; }
    else if (w == "--func") value(w, c.function);
    else if (w == "--stage") value(w, c.stage);
    else if (w == "--lines") { value(w, c.build.linesFile); c.build.interpret = true; }
    else if (w == "--library") value(w, c.build.libraryDir);
    else if (w == "--strip") c.build.strip = true;
    else if (w == "--interpret") c.build.interpret = true;
    else if (w == "--verify") c.build.verify = true;
    else if (w == "--timing") c.build.timing = true;
    else if (w.size() > 1 && w[0] == '-') c.error = "unknown option " + w;
    else {
      c.files.push_back(w);
      if (!restIsProgram) continue;
      for (i++; i < words.size(); i++) c.rest.push_back(words[i]);
      if (!c.rest.empty() && c.rest[0] == "--") c.rest.erase(c.rest.begin());
    }
  }
  if (c.error.empty() && c.files.empty()) c.error = "no file given";
  if (!c.files.empty()) c.build.file = c.files[0];
  return c;
}

int fail(const Compilation& c) {
  std::fputs(c.messages().c_str(), stderr);
  return 1;
}

// Runs the finished program from memory, in this process: nothing is left behind and the exit status is the program's own.
int execute(const std::string& bytes, const std::string& name, const std::vector<std::string>& arguments) {
  int fd = memfd_create(name.c_str(), MFD_CLOEXEC);
  if (fd < 0) { std::fprintf(stderr, "mica: cannot make the program: %s\n", std::strerror(errno)); return 1; }
  for (size_t done = 0; done < bytes.size();) {
    ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) { std::fprintf(stderr, "mica: cannot write the program: %s\n", std::strerror(errno)); return 1; }
    done += size_t(n);
  }
  std::vector<char*> argv{const_cast<char*>(name.c_str())};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  syscall(SYS_execveat, fd, "", argv.data(), environ, AT_EMPTY_PATH);
  std::fprintf(stderr, "mica: cannot start the program: %s\n", std::strerror(errno));
  return 1;
}

int runProgram(BuildOptions options, const std::vector<std::string>& arguments) {
  Compilation c(options);
  if (!c.parseAndCheck() || !c.lowerToIr()) return fail(c);
  std::string warnings = c.messages();
  if (!warnings.empty()) std::fputs(warnings.c_str(), stderr);
  if (options.interpret) {
    std::vector<std::string> all{options.file};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return ir::interpret(c.module(), all, options.linesFile);
  }
  c.runPasses();
  std::string bytes;
  if (!c.link(bytes)) return fail(c);
  return execute(bytes, options.file, arguments);
}

int runCommand(const std::vector<std::string>& words) {
  CommandLine c = parse(words, true);
  if (!c.error.empty()) return usageError(c.error);
  return runProgram(c.build, c.rest);
}

int testCommand(const std::vector<std::string>& words) {
  CommandLine c = parse(words, false);
  if (!c.error.empty()) return usageError(c.error);
  c.build.tests = true;
  if (c.files.size() == 1) return runProgram(c.build, {});
  int worst = 0;
  for (const std::string& file : c.files) {
    std::fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      c.build.file = file;
      _exit(runProgram(c.build, {}));
    }
    int status = 0;
    waitpid(child, &status, 0);
    worst = std::max(worst, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  return worst;
}

// Is the output one of the files that the program is read from? Writing it would destroy them.
bool isSource(const SourceFiles& sources, const std::string& output) {
  struct stat out, in;
  if (stat(output.c_str(), &out) != 0) return false;
  for (FileId id = 1; id < sources.count(); id++) {
    const std::string& path = sources.file(id).path;
    if (!path.empty() && stat(path.c_str(), &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino) return true;
  }
  return false;
}

int buildCommand(const std::vector<std::string>& words) {
  CommandLine c = parse(words, false);
  if (c.error.empty() && c.files.size() > 1) c.error = "build takes one file, and " + c.files[1] + " is a second one";
  if (!c.error.empty()) return usageError(c.error);
  if (c.output.empty()) {                       // the file's name without its folder and extension
    c.output = c.build.file.substr(c.build.file.find_last_of('/') + 1);
    if (size_t dot = c.output.rfind(".mica"); dot != std::string::npos && dot > 0 && dot + 5 == c.output.size()) c.output.resize(dot);
    else c.output += ".out";
  }
  Compilation k(c.build);
  if (!k.parseAndCheck() || !k.lowerToIr()) return fail(k);
  if (isSource(k.context().sources, c.output)) {
    std::fprintf(stderr, "mica: cannot write %s: the program is read from it\n", c.output.c_str());
    return 1;
  }
  std::string warnings = k.messages();
  if (!warnings.empty()) std::fputs(warnings.c_str(), stderr);
  k.runPasses();
  std::string bytes, error;
  if (!k.link(bytes)) return fail(k);
  if (!elf::writeExecutable(c.output, bytes, error)) { std::fprintf(stderr, "mica: %s\n", error.c_str()); return 1; }
  return 0;
}

int checkCommandLine(const std::vector<std::string>& words) {
  CommandLine c = parse(words, false);
  if (!c.error.empty()) return usageError(c.error);
  int worst = 0;
  c.build.needsMain = false;
  for (const std::string& file : c.files) {
    c.build.file = file;
    Compilation k(c.build);
    bool good = k.parseAndCheck() && k.lowerToIr();   // lowering speaks of each instance
    std::fputs(k.messages().c_str(), stderr);
    if (!good) worst = 1;
  }
  return worst;
}

int explainCommand(const std::vector<std::string>& words) {
  CommandLine c = parse(words, false);
  if (!c.error.empty()) return usageError(c.error);
  c.build.needsMain = false;
  return explain(c.build, c.function, c.stage);
}

int formatCommand(const std::vector<std::string>& words) {
  bool check = false;
  std::vector<std::string> paths;
  for (const std::string& w : words) {
    if (w == "--check") check = true;
    else if (w.size() > 1 && w[0] == '-') return usageError("unknown option " + w);
    else paths.push_back(w);
  }
  if (paths.empty()) return usageError("no file given");
  return format(paths, check);
}

int buildRuntimeCommand(const std::vector<std::string>& words) {
  std::string output, library;
  BuildOptions options;
  for (size_t i = 0; i < words.size(); i++) {
    if (words[i] == "-o" && i + 1 < words.size()) output = words[++i];
    else if (words[i] == "--library" && i + 1 < words.size()) options.libraryDir = words[++i];
    else if (words[i] == "--verify") options.verify = true;
    else if (words[i] == "--timing") options.timing = true;
    else return usageError("build-runtime takes -o FILE, --library DIR and --verify");
  }
  std::string bytes, messages, error;
  bool good = buildRuntime(options, bytes, messages);
  std::fputs(messages.c_str(), stderr);
  if (!good) return 1;
  if (!elf::writeFile(output, bytes, error)) { std::fprintf(stderr, "mica: %s\n", error.c_str()); return 1; }
  return 0;
}

int vocabularyCommand(const std::vector<std::string>&) { std::fputs(vocabularyPage().c_str(), stdout); return 0; }

int irTestCommand(const std::vector<std::string>& words) {
  bool update = !words.empty() && words[0] == "--update";
  if (words.size() != (update ? 2u : 1u)) return usageError("ir-test takes one file");
  return ir::irTest(words.back(), update);
}

int helpCommand(const std::vector<std::string>&) { std::fputs(Usage, stdout); return 0; }
int versionCommand(const std::vector<std::string>&) { std::printf("mica %s\n", Version); return 0; }

struct Command { const char* name; int (*run)(const std::vector<std::string>&); };
constexpr Command commands[] = {
    {"run", runCommand},         {"build", buildCommand}, {"check", checkCommandLine},          {"test", testCommand},
    {"explain", explainCommand}, {"fmt", formatCommand}, {"help", helpCommand},   {"version", versionCommand},          {"--help", helpCommand},
    {"--version", versionCommand}, {"ir-test", irTestCommand}, {"vocabulary", vocabularyCommand}, {"build-runtime", buildRuntimeCommand},
};

}  // namespace
}  // namespace mica

namespace mica {
namespace {

// Finds the command and runs it.
int dispatch(int count, char** arguments) {
  if (count < 2) { std::fputs(Usage, stderr); return 2; }
  std::vector<std::string> words(arguments + 2, arguments + count);
  for (const Command& c : commands)
    if (std::strcmp(c.name, arguments[1]) == 0) {
      int status = c.run(words);
      if (std::fflush(stdout) != 0) { std::fprintf(stderr, "mica: cannot write the output: %s\n", std::strerror(errno)); return 1; }
      return status;
    }
  return usageError(std::string("there is no command ") + arguments[1]);
}

// The stations walk trees by recursion, and a sum of 100,000 terms is a tree as deep as that. So the work is done on a stack that is
// large enough; its pages cost nothing until they are used.
constexpr size_t StackBytes = size_t(4) << 30, LeastStackBytes = size_t(16) << 20;

struct Work { int count; char** arguments; int status; };

void* onLargeStack(void* given) {
  Work* work = static_cast<Work*>(given);
  work->status = dispatch(work->count, work->arguments);
  return nullptr;
}

}  // namespace
}  // namespace mica

int main(int count, char** arguments) {
  std::signal(SIGXFSZ, SIG_IGN);   // a file that grows beyond its limit is an error of the write
  std::set_new_handler([] {
    std::fputs("mica: there is not enough memory for this program\n", stderr);
    std::_Exit(1);
  });
  mica::Work work{count, arguments, 0};
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  for (size_t bytes = mica::StackBytes; bytes >= mica::LeastStackBytes; bytes /= 4) {   // less under an address space limit
    if (pthread_attr_setstacksize(&attributes, bytes) != 0 || pthread_create(&thread, &attributes, mica::onLargeStack, &work) != 0) continue;
    pthread_join(thread, nullptr);
    return work.status;
  }
  return mica::dispatch(count, arguments);    // ordinary programs need no large stack
}
