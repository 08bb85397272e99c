// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/thread_pool.h — runs ranges of a counted piece of work on all cores.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace tilewright {

// A callable `void(first, last)` that lives while the call runs; holds no copy of it.
class RangeBody {
 public:
  template <class Callable>
  requires(!std::is_same_v<std::remove_cvref_t<Callable>, RangeBody>)
      RangeBody(const Callable& callable)
      : context_(std::addressof(callable)),
        call_([](const void* context, std::uint64_t first, std::uint64_t last) {
          (*static_cast<const Callable*>(context))(first, last);
        }) {}
  void operator()(std::uint64_t first, std::uint64_t last) const { call_(context_, first, last); }

 private:
  const void* context_;
  void (*call_)(const void*, std::uint64_t, std::uint64_t);
};

// Threads that take part, the caller included: Target::host().processors.
int pool_threads();

// Calls `body` for disjoint ranges that cover 0 to `count`, each but the last of at least `grain`,
// on the caller and the pool's threads, and returns when all are done. Runs wholly on the caller
// when there is one range, one thread, or when the caller is itself inside such a call. The first
// exception ends the work (ranges not begun are left out) and is thrown here.
void parallel_ranges(std::uint64_t count, std::uint64_t grain, RangeBody body);

// What one program of a kernel cost in its last launch; 0 is unknown.
using ProgramCost = std::atomic<float>;

// The same for programs of unknown cost. When the last launch says that this one is worth threads,
// they take part at once; otherwise the first programs run on the caller, are measured, and threads
// are taken when the rest is worth them.
void run_programs(std::uint64_t count, ProgramCost& seconds_per_program, RangeBody body);

// The same for a kernel of which nothing is remembered.
inline void run_programs(std::uint64_t count, RangeBody body) {
  ProgramCost unknown = 0;
  run_programs(count, unknown, body);
}

}  // namespace tilewright
