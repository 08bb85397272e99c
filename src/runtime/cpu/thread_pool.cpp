// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/thread_pool.cpp — oneTBB; the only file that includes it.
//
// Compiled without the thread sanitizer, since TBB itself is not instrumented. What is ordered by
// fork and join is marked by hand below, so that the sanitizer still sees races between programs.
#include "runtime/cpu/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "tilewright/target.h"

extern "C" {
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
}

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;

// Below this, waking threads costs more than it gains.
constexpr double worth_threads_seconds = 15e-6;
// Long enough to measure by, short enough not to matter.
constexpr double probe_seconds = 3e-6;
// A range that takes this long hides the cost of handing it out.
constexpr double range_seconds = 10e-6;
// Ranges per thread: enough that the slowest thread does not hold up the others.
constexpr std::uint64_t ranges_per_thread = 8;

thread_local bool is_inside = false;

class InsideGuard {
 public:
  InsideGuard() : previous_(is_inside) { is_inside = true; }
  ~InsideGuard() { is_inside = previous_; }
  InsideGuard(const InsideGuard&) = delete;
  InsideGuard& operator=(const InsideGuard&) = delete;

 private:
  bool previous_;
};

// What one parallel call shares between its threads.
struct Call {
  RangeBody body;
  tbb::task_group_context context;
  std::atomic<bool> has_failed = false;
  std::exception_ptr failure;

  explicit Call(RangeBody range_body) : body(range_body) {}

  void release() {
    if (__tsan_release) __tsan_release(this);
  }
  void acquire() {
    if (__tsan_acquire) __tsan_acquire(this);
  }

  // Exceptions are kept here and not by TBB, so that exactly the first is seen and its lifetime is
  // ours.
  void run(std::uint64_t first, std::uint64_t last) noexcept {
    acquire();
    try {
      const InsideGuard guard;
      body(first, last);
    } catch (...) {
      if (!has_failed.exchange(true)) {
        failure = std::current_exception();
        context.cancel_group_execution();
      }
    }
    release();
  }
};

// TBB gives out no more threads than there are cores unless told so. Nothing is said when that is
// enough: the setting is the whole process's, and we are a guest there. It is never destroyed,
// since it must outlive every arena.
bool allow_more_threads_than_cores() {
  constexpr auto parallelism = tbb::global_control::max_allowed_parallelism;
  const auto wanted = static_cast<std::size_t>(pool_threads());
  if (wanted > tbb::global_control::active_value(parallelism)) {
    static auto* const allowance = new tbb::global_control(parallelism, wanted);
    static_cast<void>(allowance);
  }
  return true;
}

// An arena for each thread that launches: two of them share the pool's threads without waiting for
// each other, and none picks up a stranger's task while it waits.
tbb::task_arena& arena_of_this_thread() {
  static const bool is_allowed = allow_more_threads_than_cores();
  static_cast<void>(is_allowed);
  thread_local tbb::task_arena arena(pool_threads());
  return arena;
}

double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

}  // namespace

int pool_threads() { return std::max(1, Target::host().processors); }

void parallel_ranges(std::uint64_t count, std::uint64_t grain, RangeBody body) {
  if (count == 0) return;
  const auto threads = static_cast<std::uint64_t>(pool_threads());
  const std::uint64_t balanced =
      (count + threads * ranges_per_thread - 1) / (threads * ranges_per_thread);
  const std::uint64_t step = std::max({grain, balanced, std::uint64_t{1}});
  if (step >= count || threads == 1 || is_inside) {
    body(0, count);
    return;
  }
  Call call(body);
  call.release();
  arena_of_this_thread().execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::uint64_t>(0, (count + step - 1) / step, 1),
        [&](const tbb::blocked_range<std::uint64_t>& ranges) {
          for (std::uint64_t i = ranges.begin(); i != ranges.end(); ++i)
            if (!call.has_failed.load(std::memory_order_relaxed))
              call.run(i * step, std::min(count, (i + 1) * step));
        },
        tbb::simple_partitioner(), call.context);
  });
  call.acquire();
  if (call.failure) std::rethrow_exception(call.failure);
}

namespace {

// Runs programs `first` to `count` on all threads, in ranges that take long enough, and measures
// them again.
void run_on_threads(std::uint64_t first, std::uint64_t count, ProgramCost& seconds_per_program,
                    RangeBody body) {
  const float cost = seconds_per_program.load(std::memory_order_relaxed);
  const std::uint64_t left = count - first;
  const auto grain = static_cast<std::uint64_t>(std::min(range_seconds / cost, 1e9));
  const Clock::time_point start = Clock::now();
  parallel_ranges(left, grain,
                  [&](std::uint64_t from, std::uint64_t to) { body(first + from, first + to); });
  const double elapsed = seconds_between(start, Clock::now());
  const auto busy = static_cast<double>(
      std::min<std::uint64_t>(left, static_cast<std::uint64_t>(pool_threads())));
  seconds_per_program.store(static_cast<float>(elapsed * busy / static_cast<double>(left)),
                            std::memory_order_relaxed);
}

bool is_worth_threads(std::uint64_t count, float cost) {
  return count > 1 &&
         static_cast<double>(cost) * static_cast<double>(count) >= worth_threads_seconds;
}

}  // namespace

void run_programs(std::uint64_t count, ProgramCost& seconds_per_program, RangeBody body) {
  if (count <= 1 || is_inside || pool_threads() == 1) {
    if (count > 0) body(0, count);
    return;
  }
  if (is_worth_threads(count, seconds_per_program.load(std::memory_order_relaxed))) {
    run_on_threads(0, count, seconds_per_program, body);
    return;
  }
  const Clock::time_point start = Clock::now();
  std::uint64_t done = 0;
  double elapsed = 0;
  // The first program also pays for cold code and pages, so one alone says little of the others.
  for (std::uint64_t batch = 1; done < count && elapsed < probe_seconds; batch *= 2) {
    const std::uint64_t last = std::min(count, done + batch);
    body(done, last);
    done = last;
    elapsed = seconds_between(start, Clock::now());
  }
  const auto cost = static_cast<float>(elapsed / static_cast<double>(done));
  seconds_per_program.store(cost, std::memory_order_relaxed);
  if (is_worth_threads(count - done, cost)) run_on_threads(done, count, seconds_per_program, body);
  else if (done < count) body(done, count);
}

}  // namespace tilewright
