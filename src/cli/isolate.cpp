// SPDX-License-Identifier: Apache-2.0
// cli/isolate.cpp — fork, a pipe for the result, and a watch on the time.
#include "cli/isolate.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void write_all(int file, const std::string& text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(file, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);
    written += static_cast<std::size_t>(n);
  }
}

[[noreturn]] void run_child(const std::function<std::string()>& work, int file) {
  // A watchdog of its own, in case this child outlives the parent.
  try {
    write_all(file, work());
    _exit(0);
  } catch (const std::exception& error) {
    write_all(file, fmt::format("!{}", error.what()));
    _exit(1);
  }
}

// Reads until the end or the limit; false at the limit.
bool read_until(int file, Clock::time_point start, double limit, std::string& text) {
  char block[4096];
  while (true) {
    const double left = limit - seconds_since(start);
    if (left <= 0) return false;
    pollfd wait{.fd = file, .events = POLLIN, .revents = 0};
    const int ready = poll(&wait, 1, static_cast<int>(left * 1000) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return false;
    const ssize_t n = read(file, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    text.append(block, static_cast<std::size_t>(n));
  }
}

}  // namespace

IsolatedResult run_isolated(const std::function<std::string()>& work, double limit_seconds) {
  int ends[2];
  if (pipe(ends) != 0)
    throw EnvironmentError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  std::fflush(nullptr);  // or the child would print it again
  const Clock::time_point start = Clock::now();
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    throw EnvironmentError(fmt::format("cannot start a process: {}", std::strerror(errno)));
  }
  if (child == 0) {
    close(ends[0]);
    alarm(static_cast<unsigned>(limit_seconds) + 60);
    run_child(work, ends[1]);
  }
  close(ends[1]);
  IsolatedResult result;
  const bool in_time = read_until(ends[0], start, limit_seconds, result.text);
  close(ends[0]);
  if (!in_time) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.seconds = seconds_since(start);
  if (!in_time) {
    result.problem = fmt::format("took longer than {} s", limit_seconds);
  } else if (WIFSIGNALED(status)) {
    result.problem =
        fmt::format("crashed with signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  } else if (WEXITSTATUS(status) != 0) {
    result.problem =
        result.text.starts_with('!') ? result.text.substr(1) : "ended without a result";
  } else {
    result.finished = true;
  }
  return result;
}

}  // namespace tilewright::cli
