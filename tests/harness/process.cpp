// The child gets its own process group, so that a time-out also ends what it started; output past a cap is dropped,
// so that a program that prints without end costs time, not memory.
#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>

namespace {

constexpr size_t OutputCap = 4 << 20;

using Clock = std::chrono::steady_clock;

// Reads what is there; answers false at the end of the stream.
bool drain(int fd, std::string& into) {
  char buffer[65536];
  ssize_t n = read(fd, buffer, sizeof buffer);
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  if (n > 0 && into.size() < OutputCap) into.append(buffer, static_cast<size_t>(n));
  return n > 0;
}

[[noreturn]] void becomeChild(const ProcessRequest& request, int in, int out, int err) {
  setpgid(0, 0);
  dup2(in, 0);
  dup2(out, 1);
  dup2(err, 2);
  if (!request.directory.empty() && chdir(request.directory.c_str()) != 0) _exit(126);
  for (const auto& [name, value] : request.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> argv;
  for (const std::string& part : request.command) argv.push_back(const_cast<char*>(part.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

}  // namespace

ProcessResult runProcess(const ProcessRequest& request) {
  ProcessResult result;
  int in[2], out[2], err[2];
  // CLOEXEC keeps the pipes of tests that run at the same time out of each other's children.
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) abort();
  pid_t child = fork();
  if (child == 0) becomeChild(request, in[0], out[1], err[1]);
  close(in[0]);
  close(out[1]);
  close(err[1]);
  fcntl(in[1], F_SETFL, O_NONBLOCK);
  auto deadline = Clock::now() + std::chrono::duration<double>(request.seconds);
  size_t sent = 0;
  bool outOpen = true, errOpen = true, inOpen = true;
  while (outOpen || errOpen) {
    if (inOpen && sent == request.input.size()) {
      close(in[1]);
      inOpen = false;
    }
    double left = std::chrono::duration<double>(deadline - Clock::now()).count();
    if (left <= 0) {
      result.timedOut = true;
      kill(-child, SIGKILL);
      break;
    }
    pollfd fds[3] = {{outOpen ? out[0] : -1, POLLIN, 0}, {errOpen ? err[0] : -1, POLLIN, 0}, {inOpen ? in[1] : -1, POLLOUT, 0}};
    poll(fds, 3, static_cast<int>(left * 1000) + 1);
    if (outOpen && fds[0].revents) outOpen = drain(out[0], result.out);
    if (errOpen && fds[1].revents) errOpen = drain(err[0], result.err);
    if (inOpen && fds[2].revents) {
      ssize_t n = write(in[1], request.input.data() + sent, request.input.size() - sent);
      if (n > 0) sent += static_cast<size_t>(n);
      if (n < 0 && errno != EAGAIN && errno != EINTR) sent = request.input.size();  // the child does not read any more
    }
  }
  if (inOpen) close(in[1]);
  close(out[0]);
  close(err[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}
