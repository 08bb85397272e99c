// SPDX-License-Identifier: Apache-2.0
// cache/cache_testing.cpp — forks, mounts and files for the cache tests.
#include "cache_testing.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace tilewright {

TestFolder::TestFolder() {
  path_ = (std::filesystem::temp_directory_path() / "tilewright-test-XXXXXX").string();
  if (!mkdtemp(path_.data())) throw std::runtime_error("cannot make a test folder");
}

TestFolder::~TestFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Hash128 test_key(std::uint64_t number) {
  return Hasher().add(static_cast<std::int64_t>(number)).finish();
}

Binary test_binary(std::uint64_t seed, std::size_t size) {
  Binary binary;
  std::uint64_t state = seed;
  for (std::size_t i = 0; i < size; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    binary.bytes.push_back(static_cast<std::byte>(state >> 56));
  }
  binary.log = fmt::format("log of {}\n", seed);
  binary.symbols = {{fmt::format("k<{}>", seed), fmt::format("_Z1kILi{}EEvv", seed)},
                    {"", "empty"}};
  return binary;
}

bool same(const Binary& a, const Binary& b) {
  return a.bytes == b.bytes && a.log == b.log && a.symbols == b.symbols;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& item : std::filesystem::directory_iterator(folder))
    names.push_back(item.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void set_age(const std::string& path, std::int64_t seconds) {
  const timespec then{std::time(nullptr) - seconds, 0};
  const timespec times[2] = {then, then};
  utimensat(AT_FDCWD, path.c_str(), times, 0);
}

ChildResult run_in_child(const std::function<std::string()>& work) {
  const TestFolder folder;
  const std::string errors = folder / "errors";
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("cannot make a pipe");
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    const int sink = open(errors.c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(sink, 2);
    std::string result;
    try {
      result = work();
    } catch (const std::exception& error) {
      result = fmt::format("threw: {}", error.what());
    }
    const bool is_written =
        write(ends[1], result.data(), result.size()) == static_cast<ssize_t>(result.size());
    std::fflush(nullptr);
    _exit(is_written
              ? 0
              : 1);  // not exit(): the parent's tests and leak checks are not the child's to end
  }
  close(ends[1]);
  ChildResult outcome;
  char piece[4096];
  for (ssize_t got; (got = read(ends[0], piece, sizeof piece)) > 0;)
    outcome.result.append(piece, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.errors = read_text(errors);
  return outcome;
}

std::string become_nobody() {
  if (geteuid() != 0) return "only root can become another user";
  const bool is_done = setgroups(0, nullptr) == 0 && setresgid(65534, 65534, 65534) == 0 &&
                       setresuid(65534, 65534, 65534) == 0;
  return is_done ? "" : fmt::format("cannot become user 65534: {}", std::strerror(errno));
}

std::string mount_small_disk(const std::string& folder, const std::string& size) {
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  if (unshare(CLONE_NEWNS) != 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
      return fmt::format("no mount namespace: {}", std::strerror(errno));
    write_text("/proc/self/setgroups", "deny");
    write_text("/proc/self/uid_map", fmt::format("{0} {0} 1", uid));
    write_text("/proc/self/gid_map", fmt::format("{0} {0} 1", gid));
  }
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return fmt::format("no private mounts: {}", std::strerror(errno));
  const std::string options = fmt::format("size={},mode=0700,uid={},gid={}", size, uid, gid);
  if (mount("tmpfs", folder.c_str(), "tmpfs", 0, options.c_str()) != 0)
    return fmt::format("no tmpfs: {}", std::strerror(errno));
  return "";
}

}  // namespace tilewright
