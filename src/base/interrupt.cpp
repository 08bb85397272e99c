// SPDX-License-Identifier: Apache-2.0
// base/interrupt.cpp — handlers that only do what a signal's handler may.
#include "base/interrupt.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace tilewright {
namespace {

constexpr int most_groups = 256;
constexpr unsigned patience_seconds = 2;
constexpr unsigned long_patience_seconds = 10;

std::atomic<int> noted_groups[most_groups];
std::atomic<bool> was_interrupted = false;
std::atomic<bool> was_asked = false;  // by end_unless_soon
std::atomic<int> pollers = 0;
std::atomic<bool> says_nothing = false;

// Written before the length, read after it.
char place_text[1024];
std::atomic<std::size_t> place_length = 0;

void write_error(const char* text, std::size_t length) {
  static_cast<void>(!write(STDERR_FILENO, text, length));
}

// SIGTERM first: a process of our own then ends what it has started itself.
void end_groups() {
  constexpr timespec pause{.tv_sec = 0, .tv_nsec = 10'000'000};
  for (const std::atomic<int>& group : noted_groups)
    if (const int number = group.load(); number > 0) kill(-number, SIGTERM);
  for (const std::atomic<int>& group : noted_groups) {
    const int number = group.load();
    if (number <= 0) continue;
    for (int i = 0; i < 100 && waitpid(-number, nullptr, WNOHANG) == 0; ++i)
      nanosleep(&pause, nullptr);
    kill(-number, SIGKILL);
  }
}

[[noreturn]] void end_process(int code) {
  end_groups();
  if (!says_nothing) {
    constexpr char begin[] = "tilewright: interrupted";
    write_error(begin, sizeof begin - 1);
    write_error(place_text, place_length);
    write_error("\n", 1);
  }
  _exit(code);
}

void on_interrupt(int) {
  if (pollers == 0 || was_interrupted.exchange(true)) end_process(interrupted_exit_code);
  alarm(patience_seconds);
}
void on_alarm(int) { end_process(interrupted_exit_code); }
void on_termination(int) { end_process(128 + SIGTERM); }

void set_handler(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

}  // namespace

void handle_interrupts() {
  set_handler(SIGINT, on_interrupt);
  set_handler(SIGALRM, on_alarm);
  set_handler(SIGTERM, on_termination);
}

void handle_interrupts_in_child() {
  for (std::atomic<int>& group : noted_groups) group = 0;
  says_nothing = true;
  handle_interrupts();
}

NotedGroup::NotedGroup(int group) {
  for (int i = 0; i < most_groups; ++i) {
    int free = 0;
    if (!noted_groups[i].compare_exchange_strong(free, group)) continue;
    slot_ = i;
    return;
  }
}

NotedGroup::~NotedGroup() {
  if (slot_ >= 0) noted_groups[slot_] = 0;
}

InterruptPlace::InterruptPlace(const std::string& text) {
  const std::size_t length = std::min(text.size(), sizeof place_text - 1);
  place_text[0] = ' ';
  std::memcpy(place_text + 1, text.data(), length);
  place_length = length + 1;
}

InterruptPlace::~InterruptPlace() { place_length = 0; }

PollsInterrupts::PollsInterrupts() { ++pollers; }

PollsInterrupts::~PollsInterrupts() {
  if (--pollers == 0) alarm(0);
}

void end_unless_soon() {
  if (was_asked.exchange(true)) end_process(interrupted_exit_code);
  alarm(long_patience_seconds);
}

void forget_interrupt() {
  was_asked = false;
  was_interrupted = false;
  alarm(0);
}

bool is_interrupted() { return was_interrupted.load(std::memory_order_relaxed); }

}  // namespace tilewright
