// SPDX-License-Identifier: Apache-2.0
// cli/isolate.cpp — forks, a pipe from each child for its result, and a watch on the time.
#include "cli/isolate.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Work = std::function<std::string(std::size_t)>;

struct Child {
  std::size_t index = 0;
  pid_t process = 0;
  int file = -1;  // the pipe's end to read from
  Clock::time_point start;
  std::string text;
  std::unique_ptr<NotedGroup> group;

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start).count(); }
};

void write_all(int file, const std::string& text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(file, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);
    written += static_cast<std::size_t>(n);
  }
}

[[noreturn]] void run_child(const Work& work, std::size_t index, int file) {
  try {
    write_all(file, work(index));
    _exit(0);
  } catch (const std::exception& error) {
    write_all(file, fmt::format("!{}", error.what()));
    _exit(1);
  }
}

Child start_child(std::size_t index, const Work& work) {
  int ends[2];
  if (pipe(ends) != 0)
    throw EnvironmentError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  std::fflush(nullptr);  // or the child would print it again
  Child child{.index = index,
              .process = fork(),
              .file = ends[0],
              .start = Clock::now(),
              .text = "",
              .group = nullptr};
  if (child.process < 0) {
    close(ends[0]);
    close(ends[1]);
    throw EnvironmentError(fmt::format("cannot start a process: {}", std::strerror(errno)));
  }
  if (child.process == 0) {
    close(ends[0]);
    setpgid(0, 0);
    // Nobody waits for a child whose parent was killed. It ends its own compilers first.
    handle_interrupts_in_child();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (const int nowhere = open("/dev/null", O_WRONLY); nowhere >= 0)
      dup2(nowhere, STDOUT_FILENO);  // what kernels print is no part of the table or the JSON
    run_child(work, index, ends[1]);
  }
  setpgid(child.process, child.process);
  child.group = std::make_unique<NotedGroup>(child.process);
  close(ends[1]);
  return child;
}

// It gets a second to end what it has started.
void end_child(pid_t process) {
  kill(process, SIGTERM);
  for (int i = 0; i < 100; ++i) {
    if (waitpid(process, nullptr, WNOHANG) != 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(process, SIGKILL);
  while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
  }
}

IsolatedResult finish(Child& child, bool in_time, double limit_seconds) {
  close(child.file);
  int status = 0;
  if (!in_time) end_child(child.process);
  else
    while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
    }
  IsolatedResult result{.text = std::move(child.text), .problem = "", .seconds = child.seconds()};
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

// Waits until one of them has something to read or is out of time.
std::vector<pollfd> wait_for(const std::vector<Child>& children, double limit_seconds) {
  std::vector<pollfd> waits;
  double left = limit_seconds;
  for (const Child& child : children) {
    waits.push_back({.fd = child.file, .events = POLLIN, .revents = 0});
    left = std::min(left, limit_seconds - child.seconds());
  }
  if (poll(waits.data(), waits.size(), std::max(0, static_cast<int>(left * 1000) + 1)) < 0)
    for (pollfd& wait : waits) wait.revents = 0;  // interrupted: look again
  return waits;
}

// True when there is nothing more to read.
bool read_some(Child& child) {
  char block[4096];
  const ssize_t n = read(child.file, block, sizeof block);
  if (n > 0) child.text.append(block, static_cast<std::size_t>(n));
  return n == 0 || (n < 0 && errno != EINTR);
}

}  // namespace

void run_isolated(std::size_t count, const Isolation& isolation, const Work& work,
                  const std::function<void(std::size_t, const IsolatedResult&)>& done) {
  const auto jobs = static_cast<std::size_t>(
      isolation.jobs > 0 ? isolation.jobs : std::max(1u, std::thread::hardware_concurrency()));
  std::vector<Child> children;
  for (std::size_t next = 0; next < count || !children.empty();) {
    while (next < count && children.size() < jobs) children.push_back(start_child(next++, work));
    const std::vector<pollfd> waits = wait_for(children, isolation.limit_seconds);
    for (std::size_t i = children.size(); i-- > 0;) {
      const bool ended = waits[i].revents != 0 && read_some(children[i]);
      const bool in_time = children[i].seconds() < isolation.limit_seconds;
      if (!ended && in_time) continue;
      const std::size_t index = children[i].index;
      const IsolatedResult result = finish(children[i], ended, isolation.limit_seconds);
      children.erase(children.begin() + static_cast<std::ptrdiff_t>(i));
      done(index, result);
    }
  }
}

}  // namespace tilewright::cli
