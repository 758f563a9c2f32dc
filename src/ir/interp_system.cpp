// The interpreter's side of the operating system: system calls, the block of arguments that a process finds on its stack.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

#include "ir/interp.h"
#include "ir/interp_code.h"

extern char** environ;

namespace mica::ir {

namespace interp {

namespace {

// A kernel handler (sigaction's first word): only default (0) and ignore (1) make sense to the host.
bool installsHandler(int64_t action) {
  if (!action) return false;
  uint64_t handler;
  std::memcpy(&handler, reinterpret_cast<void*>(action), 8);
  return handler > 1;
}

// The mask of processors with the first one only.
int64_t oneProcessor(int64_t bytes, int64_t mask) {
  if (bytes < 8) return -EINVAL;
  uint64_t first = 1;
  std::memcpy(reinterpret_cast<void*>(mask), &first, 8);
  return 8;
}

}  // namespace

int64_t systemCall(const int64_t* n, bool& exited) {
  switch (n[0]) {
    case SYS_exit: case SYS_exit_group:
      exited = true;
      return n[1] & 255;
    case SYS_clone: case SYS_clone3:
#ifdef SYS_fork
    case SYS_fork: case SYS_vfork:
#endif
      return -ENOSYS;
    case SYS_rt_sigaction:
      if (installsHandler(n[2])) return 0;
      break;
    case SYS_sigaltstack: return 0;
#ifdef SYS_arch_prctl
    case SYS_arch_prctl: return -EINVAL;
#endif
    case SYS_sched_getaffinity: return oneProcessor(n[2], n[3]);
    default: break;
  }
  long r = syscall(n[0], n[1], n[2], n[3], n[4], n[5], n[6]);
  return r == -1 ? -errno : r;
}

}  // namespace interp

namespace {

bool writeLines(const Lines& lines, const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (!file) return false;
  for (const auto& [place, reached] : lines) std::fprintf(file, "%s:%u %d\n", place.first.c_str(), place.second, reached);
  return std::fclose(file) == 0;
}

}  // namespace

int interpret(const Module& m, const std::vector<std::string>& arguments, const std::string& linesFile) {
  uint32_t entry = interp::Program::None;
  for (uint32_t f = 0; f < m.functions.size(); ++f)
    if (m.functions[f].entry) entry = f;
  if (entry == interp::Program::None) {
    std::fprintf(stderr, "error: the module has no entry\n");
    return 70;
  }
  // argc, the arguments, 0, the environment, 0, the auxiliary vector (page size, 16 random bytes that are not).
  static const uint64_t seed[2] = {0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u};
  std::vector<uint64_t> block{arguments.size()};
  for (const std::string& a : arguments) block.push_back(uint64_t(a.c_str()));
  block.push_back(0);
  for (char** e = environ; *e; ++e) block.push_back(uint64_t(*e));
  for (uint64_t word : {uint64_t(0), uint64_t(6), uint64_t(4096), uint64_t(25), uint64_t(seed), uint64_t(0), uint64_t(0)}) block.push_back(word);

  std::fflush(stdout);
  Interpreter interpreter(m, Interpreter::StackBytes, !linesFile.empty());
  Outcome o = interpreter.call(entry, {uint64_t(block.data())});
  if (!linesFile.empty() && !writeLines(interpreter.lines(), linesFile)) {
    std::fprintf(stderr, "mica: cannot write %s: %s\n", linesFile.c_str(), std::strerror(errno));
    return 1;
  }
  switch (o.kind) {
    case Outcome::Exited: return o.status;
    case Outcome::Trapped:
      std::fputs(describeTrap(m, o).c_str(), stderr);
      return 134;
    case Outcome::Stuck: std::fprintf(stderr, "interpreter: %s\n", o.message.c_str()); return 70;
    default: std::fprintf(stderr, "interpreter: the entry returned\n"); return 70;
  }
}

std::string describeTrap(const Module& m, const Outcome& o) {
  std::string s = "trap: " + std::string(name(o.trap)) + "\n";
  for (PlaceId p : o.chain)
    for (; p; p = m.places[p.index].inlinedAt) {
      const PlaceInfo& i = m.places[p.index];
      s += "  at " + i.file + ":" + std::to_string(i.line) + ":" + std::to_string(i.column) + " in " + i.function + "\n";
    }
  return s;
}

}  // namespace mica::ir
