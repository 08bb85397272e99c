// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/communicating.cpp — a crew of threads that grows while its programs only wait.
#include "runtime/cpu/communicating.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runtime/cpu/services.h"

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;

// Longer than a program that is about to end needs, short beside a launch that grows its crew.
constexpr std::chrono::microseconds patience(500);

// Unwinds a waiting program of a launch that has failed.
struct Cancelled {};

class Crew {
 public:
  Crew(std::uint64_t count, RangeBody body) : count_(count), body_(body) { note_progress(); }

  void run() {
    add_threads(std::min<std::uint64_t>(count_, static_cast<std::uint64_t>(pool_threads())) - 1);
    work();
    // Threads that are joined may still add others.
    for (std::vector<std::thread> threads = take(); !threads.empty(); threads = take())
      for (std::thread& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(failure_);
  }

  void give_way() {
    if (has_failed_.load()) throw Cancelled{};
    sched_yield();
    const std::uint64_t begun = next_.load();
    const auto quiet = Clock::now().time_since_epoch() - Clock::duration(last_progress_.load());
    if (begun >= count_ || quiet < patience) return;
    const std::unique_lock lock(growing_, std::try_to_lock);
    if (!lock) return;
    // As many again as have begun: few steps to any number.
    if (!add_threads(std::min(count_ - begun, std::max<std::uint64_t>(begun, 1))))
      throw ProgramFailure{
          fmt::format("its programs wait for programs that have not begun, and no thread can be "
                      "added to the {} that run them; launch fewer programs",
                      size_.load())};
    note_progress();
  }

 private:
  void work() noexcept;

  // False when the system gives no more; those that run go on.
  bool add_threads(std::uint64_t count) {
    try {
      for (std::uint64_t i = 0; i < count; ++i) {
        std::thread thread([this] { work(); });
        const std::lock_guard lock(mutex_);
        threads_.push_back(std::move(thread));
        ++size_;
      }
      return true;
    } catch (const std::system_error&) {
      return false;
    }
  }

  std::vector<std::thread> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(threads_, {});
  }

  void note_progress() { last_progress_ = Clock::now().time_since_epoch().count(); }

  const std::uint64_t count_;
  const RangeBody body_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<Clock::rep> last_progress_ = 0;
  std::atomic<bool> has_failed_ = false;
  std::exception_ptr failure_;  // written by the one thread that sets has_failed_
  std::mutex growing_;
  std::mutex mutex_;  // of the list
  std::vector<std::thread> threads_;
  std::atomic<std::size_t> size_ = 1;  // the caller is one
};

thread_local Crew* crew_of_this_thread = nullptr;

void Crew::work() noexcept {
  Crew* const outer = std::exchange(crew_of_this_thread, this);
  while (!has_failed_.load()) {
    const std::uint64_t program = next_++;
    if (program >= count_) break;
    try {
      body_(program, program + 1);
    } catch (const Cancelled&) {
    } catch (...) {
      if (!has_failed_.exchange(true)) failure_ = std::current_exception();
    }
    note_progress();
  }
  crew_of_this_thread = outer;
}

}  // namespace

void run_communicating(std::uint64_t count, RangeBody body) {
  if (count == 0) return;
  Crew(count, body).run();
}

void give_way() {
  if (crew_of_this_thread) crew_of_this_thread->give_way();
  else sched_yield();
}

}  // namespace tilewright
