// SPDX-License-Identifier: Apache-2.0
// base/process.cpp — posix_spawn, two pipes and a poll loop.
#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "base/settings.h"
#include "tilewright/error.h"

extern char** environ;

namespace tilewright {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Pipe {
  int read = -1;
  int write = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw EnvironmentError(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    read = ends[0];
    write = ends[1];
  }
  ~Pipe() {
    close_read();
    close_write();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_read() {
    if (read >= 0) close(std::exchange(read, -1));
  }
  void close_write() {
    if (write >= 0) close(std::exchange(write, -1));
  }
};

std::vector<std::string> merged_environment(const std::vector<std::string>& extra) {
  const auto name_length = [](const std::string& entry) { return entry.find('='); };
  std::vector<std::string> merged = extra;
  for (char** entry = environ; *entry; ++entry) {
    const std::string ours = *entry;
    bool replaced = false;
    for (const std::string& theirs : extra)
      replaced |= theirs.compare(0, name_length(theirs) + 1, ours, 0, name_length(ours) + 1) == 0;
    if (!replaced) merged.push_back(ours);
  }
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (std::string& s : strings) out.push_back(s.data());
  out.push_back(nullptr);
  return out;
}

pid_t spawn(const std::string& program, const ProcessRequest& request, const Pipe& in,
            const Pipe& out) {
  std::vector<std::string> arguments = request.arguments;
  std::vector<std::string> environment = merged_environment(request.environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write, 1);
  posix_spawn_file_actions_adddup2(&actions, out.write, 2);
  // A process group of its own, so that a time-out also ends what the program started (cc1plus, as,
  // ld).
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t pid = -1;
  const int status = posix_spawn(&pid, program.c_str(), &actions, &attributes,
                                 pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (status != 0)
    throw MissingError(fmt::format("cannot start {}: {}", program, std::strerror(status)));
  return pid;
}

// Feeds the input and collects the output until both pipes are closed; false when the time is over.
bool exchange_data(const ProcessRequest& request, Pipe& in, Pipe& out, std::string& output) {
  const auto deadline =
      SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                               std::chrono::duration<double>(request.timeout_seconds));
  fcntl(in.write, F_SETFL, O_NONBLOCK);
  std::size_t fed = 0;
  if (request.input.empty()) in.close_write();
  while (out.read >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - SteadyClock::now())
            .count();
    if (left <= 0) return false;
    pollfd fds[2] = {{out.read, POLLIN, 0}, {in.write, POLLOUT, 0}};
    if (poll(fds, in.write >= 0 ? 2 : 1, static_cast<int>(left)) < 0 && errno != EINTR)
      return false;
    if (in.write >= 0 && fds[1].revents) {
      const ssize_t wrote = write(in.write, request.input.data() + fed, request.input.size() - fed);
      if (wrote > 0) fed += static_cast<std::size_t>(wrote);
      const bool failed = wrote < 0 && errno != EAGAIN && errno != EINTR;
      if (failed || fed == request.input.size()) in.close_write();
    }
    if (fds[0].revents) {
      char piece[65536];
      const ssize_t got = read(out.read, piece, sizeof piece);
      if (got > 0) output.append(piece, static_cast<std::size_t>(got));
      else if (got == 0 || (errno != EAGAIN && errno != EINTR)) out.close_read();
    }
  }
  return true;
}

// A program that stops reading must not end us by SIGPIPE while we feed it.
class IgnoreSigpipe {
 public:
  IgnoreSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &previous_);
  }
  ~IgnoreSigpipe() {
    const timespec no_wait{0, 0};
    if (!sigismember(&previous_, SIGPIPE))
      while (sigtimedwait(&pipe_, nullptr, &no_wait) > 0) {
      }
    pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
  }

 private:
  sigset_t pipe_;
  sigset_t previous_;
};

}  // namespace

std::string find_program(const std::string& name) {
  const auto is_program = [](const std::string& path) {
    struct stat info;
    return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
           access(path.c_str(), X_OK) == 0;
  };
  if (name.empty()) return "";
  if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
  std::string_view rest = settings().search_path;
  while (true) {
    const auto colon = rest.find(':');
    const std::string candidate = std::string(rest.substr(0, colon)) + "/" + name;
    if (is_program(candidate)) return candidate;
    if (colon == std::string_view::npos) return "";
    rest.remove_prefix(colon + 1);
  }
}

namespace {

std::string checked_program(const ProcessRequest& request) {
  const std::string program = request.arguments.empty() ? "" : find_program(request.arguments[0]);
  if (program.empty())
    throw MissingError(
        fmt::format("program '{}' was not found; install it or add its folder to PATH",
                    request.arguments.empty() ? "" : request.arguments[0]));
  return program;
}

// 128 + signal when it was killed.
int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ProcessResult run_process(const ProcessRequest& request) {
  const std::string program = checked_program(request);
  const IgnoreSigpipe guard;
  Pipe in;
  Pipe out;
  const pid_t pid = spawn(program, request, in, out);
  const NotedGroup group(pid);
  in.close_read();
  out.close_write();

  ProcessResult result;
  if (!exchange_data(request, in, out, result.output)) {
    result.timed_out = true;
    kill(-pid, SIGKILL);
  }
  result.exit_code = wait_for(pid);
  return result;
}

namespace {

std::atomic<pid_t> foreground_child = 0;

// The keyboard's signals reach the program by themselves, those that were sent to us alone do not.
void pass_on(int number, siginfo_t* info, void*) {
  const pid_t child = foreground_child;
  if (child > 0 && info->si_code <= 0) kill(child, number);
}

// While one lives, these signals are the program's.
class PassesOn {
 public:
  explicit PassesOn(int number) : number_(number) {
    struct sigaction action {};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(number, &action, &previous_);
  }
  ~PassesOn() { sigaction(number_, &previous_, nullptr); }
  PassesOn(const PassesOn&) = delete;
  PassesOn& operator=(const PassesOn&) = delete;

 private:
  int number_;
  struct sigaction previous_ {};
};

}  // namespace

int run_in_foreground(const ProcessRequest& request) {
  const std::string program = checked_program(request);
  std::vector<std::string> arguments = request.arguments;
  std::vector<std::string> environment = merged_environment(request.environment);
  // The program decides what an interrupt means, and we wait for it.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t keyboard;
  sigemptyset(&keyboard);
  sigaddset(&keyboard, SIGINT);
  sigaddset(&keyboard, SIGQUIT);
  posix_spawnattr_setsigdefault(&attributes, &keyboard);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const PassesOn interrupt(SIGINT);
  const PassesOn quit(SIGQUIT);
  pid_t pid = -1;
  const int status = posix_spawn(&pid, program.c_str(), nullptr, &attributes,
                                 pointers(arguments).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  if (status == 0) foreground_child = pid;
  const int code = status == 0 ? wait_for(pid) : 0;
  foreground_child = 0;
  if (status != 0)
    throw MissingError(fmt::format("cannot start {}: {}", program, std::strerror(status)));
  return code;
}

}  // namespace tilewright
