// SPDX-License-Identifier: Apache-2.0
// bench/suite/helper_process.cpp — a child at the other end of a socket pair.
#include "bench/suite/helper_process.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "bench/samplers.h"
#include "bench/suite/contest.h"
#include "tilewright/error.h"

extern char** environ;

namespace tilewright::suite {
namespace {

std::string last_line_of(int file) {
  std::string text(4096, '\0');
  const off_t size = lseek(file, 0, SEEK_END);
  const off_t begin = size > 4096 ? size - 4096 : 0;
  const ssize_t n = pread(file, text.data(), text.size(), begin);
  text.erase(n > 0 ? static_cast<std::size_t>(n) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text.substr(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
}

// Input and output are the socket, errors go to the file.
int spawn(const std::vector<std::string>& arguments, int socket, int errors, pid_t& child) {
  std::vector<char*> words;
  for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, socket, 0);
  posix_spawn_file_actions_adddup2(&actions, socket, 1);
  posix_spawn_file_actions_adddup2(&actions, errors, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int result = posix_spawnp(&child, words[0], &actions, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return result;
}

}  // namespace

HelperProcess::HelperProcess(const std::vector<std::string>& arguments) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw EnvironmentError(fmt::format("cannot make a socket pair: {}", std::strerror(errno)));
  errors_ = memfd_create("tilewright_helper", MFD_CLOEXEC);
  const int problem = spawn(arguments, ends[1], errors_, child_);
  close(ends[1]);
  socket_ = ends[0];
  if (problem == 0) return;
  child_ = -1;
  close(socket_);
  if (errors_ >= 0) close(errors_);
  throw MissingError(
      fmt::format("'{}' cannot be started: {}", arguments[0], std::strerror(problem)));
}

HelperProcess::~HelperProcess() {
  end();
  close(socket_);
  if (errors_ >= 0) close(errors_);
}

int HelperProcess::end() {
  if (child_ <= 0) return 0;
  kill(-child_, SIGKILL);
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  return status;
}

void HelperProcess::throw_ended() {
  // It closed its end, so it is about to be gone: its own status counts, not our kill.
  int status = 0;
  for (int i = 0; i < 100 && waitpid(child_, &status, WNOHANG) == 0; ++i) usleep(10000);
  const std::string words = errors_ >= 0 ? last_line_of(errors_) : std::string();
  const pid_t gone = child_;
  child_ = -1;
  kill(-gone, SIGKILL);
  std::string how = WIFSIGNALED(status)
                        ? fmt::format("was ended by signal {} ({})", WTERMSIG(status),
                                      strsignal(WTERMSIG(status)))
                        : fmt::format("ended with exit code {}", WEXITSTATUS(status));
  if (!words.empty()) how += fmt::format(": {}", words);
  throw EnvironmentError("its process " + how);
}

std::string HelperProcess::read_line(double limit_seconds,
                                     const std::function<bool()>& is_interrupted) {
  const double end_time = wall_seconds() + limit_seconds;
  while (true) {
    if (const std::size_t at = buffer_.find('\n'); at != std::string::npos) {
      std::string line = buffer_.substr(0, at);
      buffer_.erase(0, at + 1);
      return line;
    }
    const double left = end_time - wall_seconds();
    if (left <= 0) {
      end();
      throw EnvironmentError(fmt::format("gave no answer within {:.0f} s", limit_seconds));
    }
    if (is_interrupted && is_interrupted()) {
      end();
      throw Interrupted{};
    }
    pollfd wait{.fd = socket_, .events = POLLIN, .revents = 0};
    const int ready = poll(&wait, 1, static_cast<int>(std::min(left, 0.2) * 1000) + 1);
    if (ready <= 0) continue;
    char block[65536];
    const ssize_t n = recv(socket_, block, sizeof block, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw_ended();
    buffer_.append(block, static_cast<std::size_t>(n));
  }
}

std::string HelperProcess::ask(const std::string& line, double limit_seconds,
                               const std::function<bool()>& is_interrupted) {
  if (!is_alive()) throw EnvironmentError("its process is gone");
  const std::string text = line + "\n";
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t n = send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw_ended();
    sent += static_cast<std::size_t>(n);
  }
  return read_line(limit_seconds, is_interrupted);
}

}  // namespace tilewright::suite
