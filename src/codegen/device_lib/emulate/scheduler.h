// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/scheduler.h — runs the threads of one block as fibers; see fibers.h
// for the rules.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "codegen/device_lib/emulate/block_order.h"
#include "codegen/device_lib/emulate/context.h"
#include "codegen/device_lib/emulate/copies.h"
#include "codegen/device_lib/emulate/fibers.h"
#include "codegen/device_lib/emulate/map_copies.h"
#include "codegen/device_lib/emulate/map_stores.h"
#include "codegen/device_lib/emulate/memory_shadow.h"
#include "codegen/device_lib/emulate/products.h"
#include "codegen/device_lib/emulate/shadow.h"

namespace tilewright {

class Scheduler {
 public:
  struct Job {
    const TwCpuLaunch* launch;
    const char* kernel;
    std::uint64_t block;
    std::uint32_t lanes;  // of a warp, 64 at most
    void (*thread)(void* context, std::uint32_t index);
    void* context;
    std::uint64_t seed;
    bool is_checked;  // threads of a block may not meet at different barriers
  };

  // The scheduler of this operating-system thread; its fibers are kept for the next block.
  static Scheduler& of_this_thread();

  void run(const Job& job);
  bool is_running() const { return job_ != nullptr; }

  // For the running fiber.
  void wait(TwWait& request);
  void yield();
  void start_copy(const CopyQueue::Copy& copy);
  void commit_copies();
  void wait_copies(std::uint32_t pending);
  void start_map_copy(MapCopies::Copy copy, const void* closure, std::size_t closure_bytes);
  void land_copies(void* word);
  void start_map_store(MapStoreQueue::Store store, const void* closure, std::size_t closure_bytes);
  void wait_map_stores(bool in_memory);
  ProductQueue& products() { return running_->products; }
  void show_to_products() { shadow_.show_to_products(running_->index); }
  // Whether what goes on beside the threads takes effect at once this time.
  bool is_early() { return job_->seed != 0 && (random() >> 20) % 2 == 0; }
  // An access of the running fiber. What is wrong with it ends the block at the fiber's next
  // barrier: an exception must not pass through code that the compiler takes for one that cannot
  // throw.
  void touch(Shadow::Access access);
  // The same of global memory; `word` is that of a tensor map's copy.
  void touch_memory(Shadow::Access access, MemoryShadow::When when, const void* word);
  void fence() { order_.fence(running_->index); }
  // The running fiber arrives at the word of a ring, or has waited for it.
  void meet_at_word(const void* word, bool is_arrival);
  Shadow& shadow() { return shadow_; }
  // Where the lines of the text come from, for messages; may be null.
  void set_source(const TwSourceMap* source) {
    source_ = source;
    shadow_.set_source(source);
  }
  // The running fiber cannot go on: it is left as it is. The block ends with an error, or goes on
  // without it where faults are collected.
  [[noreturn]] void touch_outside(const Shadow::Access& access, bool is_misaligned);
  [[noreturn]] void divide_by_zero(std::uint32_t line);
  [[noreturn]] void interrupt(std::uint32_t line);

 private:
  struct Fiber {
    Context context;
    Scheduler* scheduler = nullptr;
    std::uint32_t index = 0;
    TwWait* request = nullptr;  // what it waits for; null when it can advance
    bool has_ended = true;
    CopyQueue copies;
    ProductQueue products;
    MapStoreQueue stores;
  };
  // Lanes of one warp that wait at the same kind of barrier with the same mask.
  struct Group {
    std::uint32_t kind;
    std::uint64_t mask;
    std::uint64_t arrived;
  };
  struct Warp {
    std::uint64_t live = 0;
    std::vector<Group> groups;
  };

  static void fiber_main(void* fiber);
  void run_thread(Fiber& fiber);
  void start_block(const Job& job);
  void add_fibers(std::uint32_t count);
  void leave(Fiber& fiber);
  void prepare_fiber(Fiber& fiber);
  [[noreturn]] void abandon(std::exception_ptr why);
  [[noreturn]] void abandon_running();
  [[noreturn]] void end_thread(std::exception_ptr why);

  // Choosing who runs.
  std::uint64_t random();
  void make_ready(Fiber& fiber);
  Fiber* take_ready();
  void switch_from(Context& from);

  // Warps.
  Warp& warp_of(const Fiber& fiber) { return warps_[fiber.index / job_->lanes]; }
  std::uint64_t lane_of(const Fiber& fiber) const {
    return std::uint64_t{1} << (fiber.index % job_->lanes);
  }
  std::uint32_t first_of(const Warp& warp) const {
    return static_cast<std::uint32_t>(&warp - warps_.data()) * job_->lanes;
  }

  // Barriers.
  void arrive_at_block(Fiber& fiber);
  void arrive_at_consumers(Fiber& fiber);
  void arrive_at_warp(Fiber& fiber);
  void complete_block();
  void check_same_barrier();
  void complete_group(Warp& warp, std::size_t group);
  void complete_after_exit(Warp& warp);
  bool complete_active();

  // Failure.
  std::string thread_name(const Fiber& fiber) const;  // "kernel 'k', block .., thread .."
  void cancel(std::exception_ptr why);
  void fault(const std::string& sentence);  // is collected, or ends the block
  // What is no fault, or one that nobody collects, is thrown again.
  static void collect(std::exception_ptr why);
  void report(const Shadow::Finding& finding);
  void settle_memory();
  // Atomic accesses hand on what lies before fences.
  void receive(const Shadow::Access& access);
  void publish(const Shadow::Access& access);
  void read_for_store(const MapStoreQueue::Store& store);
  void end_map_stores(Fiber& fiber);
  std::string stuck_message() const;

  std::vector<std::unique_ptr<StackPool>> stacks_;  // of stacks_per_pool each
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Warp> warps_;
  std::vector<Fiber*> ready_;
  std::size_t ready_head_ = 0;
  std::vector<Fiber*> at_block_;
  std::vector<Fiber*> at_consumers_;
  MapCopies map_copies_;
  Context main_;
  Context* starter_ = nullptr;  // who made the latest switch
  Fiber* running_ = nullptr;
  const Job* job_ = nullptr;
  std::uint32_t live_ = 0;
  std::uint64_t random_state_ = 1;
  std::uint64_t idle_yields_ = 0;  // since a thread last passed a barrier or ended
  std::exception_ptr failure_;
  bool has_lost_threads_ = false;  // which ended where they left memory
  BlockOrder order_;
  Shadow shadow_{order_};
  MemoryShadow memory_shadow_{order_};
  const TwSourceMap* source_ = nullptr;
};

// "(1, 0, 0)": the place of linear index `index` in a grid or block of these sizes.
std::string format_place(std::uint64_t index, const std::uint32_t sizes[3]);

}  // namespace tilewright
