// SPDX-License-Identifier: Apache-2.0
// cli/step_terminal_test.cpp — `tilewright step` in a terminal: keys instead of lines.
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include <gtest/gtest.h>

#include "base/dynamic_library.h"
#include "command.h"

namespace tilewright::cli {
namespace {

constexpr const char* typed_source = R"(import triton
import triton.language as tl

@triton.jit
def k(x, out, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.load(x + offsets)
    value = value * 2
    tl.store(out + offsets, value)
)";

// A process whose input and output are a terminal.
class TerminalProcess {
 public:
  TerminalProcess(std::vector<std::string> arguments, const std::string& cache) {
    std::vector<char*> words;
    for (std::string& argument : arguments) words.push_back(argument.data());
    words.push_back(nullptr);
    child_ = forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (child_ != 0) return;
    setenv("TERM", "xterm", 1);
    setenv("TILEWRIGHT_CACHE_DIR", cache.c_str(), 1);
#ifdef TW_SANITIZE
    // libedit keeps the names of functions that are added to it.
    const std::string suppressions = cache + ".leaks";
    std::ofstream(suppressions) << "leak:wcsdup\n";
    setenv("LSAN_OPTIONS", ("print_suppressions=0:suppressions=" + suppressions).c_str(), 1);
#endif
    execv(words[0], words.data());
    _exit(127);
  }
  ~TerminalProcess() {
    close(terminal_);
    kill(child_, SIGKILL);
    if (!has_ended_) waitpid(child_, nullptr, 0);
  }
  TerminalProcess(const TerminalProcess&) = delete;
  TerminalProcess& operator=(const TerminalProcess&) = delete;

  void type(const std::string& keys) const {
    ASSERT_EQ(write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  // Reads until this is printed, for at most 20 s.
  void until(const std::string& end) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    std::string text = std::move(rest_);
    rest_.clear();
    while (text.find(end) == std::string::npos && std::chrono::steady_clock::now() < limit) {
      pollfd wait{terminal_, POLLIN, 0};
      if (poll(&wait, 1, 200) <= 0) continue;
      char part[4096];
      const ssize_t count = read(terminal_, part, sizeof part);
      if (count <= 0) break;
      text.append(part, static_cast<std::size_t>(count));
    }
    const std::size_t found = text.find(end);
    ASSERT_NE(found, std::string::npos) << "waited for " << end << " in " << text;
    rest_ = text.substr(found + end.size());
  }
  int exit_code() {
    int status = 0;
    waitpid(child_, &status, 0);
    has_ended_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t child_ = -1;
  int terminal_ = -1;
  bool has_ended_ = false;
  std::string rest_;
};

TEST(StepTerminal, KeysEditRepeatCompleteAndForget) {
  if (TW_HAS_LINE_EDITING == 0 || !DynamicLibrary::open("libedit.so.2"))
    GTEST_SKIP() << "libedit is not installed";
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/k.py";
  std::ofstream(file) << typed_source;
  TerminalProcess step({tilewright_path(), "step", file + ":k", "--grid", "1", "x=arange:f32[8]",
                        "out=empty:f32[8]", "BLOCK=8"},
                       folder.path() + "/cache");
  // The prompt is drawn again while a line is edited: only the one behind an answer is a new one.
  const auto answers = [&](const std::string& keys, const std::string& answer) {
    step.type(keys);
    step.until(answer);
    step.until("(step) ");
  };
  step.until("(step) ");
  answers("ne\t\n", "k.py:7\r\n");    // a command is completed
  answers("\x1b[A\n", "k.py:8\r\n");  // up: the command before
  answers("print val\t\n", "value = float32[8]  min 0  max 7  NaN 0\r\n");  // a name is completed
  // Backspace, and left three times.
  answers("prinx\x7ft v[3]\x1b[D\x1b[D\x1b[D\x7fvalue\n", "value[3] = float32  3\r\n");
  answers("quit\x03", "^C");  // the line is forgotten
  answers("b\t\t", "back  break\r\n");
  answers("\x03", "^C");
  step.type("quit\n");
  EXPECT_EQ(step.exit_code(), 0);
}

}  // namespace
}  // namespace tilewright::cli
