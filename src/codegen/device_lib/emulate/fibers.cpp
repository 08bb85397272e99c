// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/fibers.cpp — the table of functions that emulated kernels call.
#include "codegen/device_lib/emulate/fibers.h"

#include <cstddef>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "base/settings.h"
#include "codegen/device_lib/emulate/module_memory.h"
#include "codegen/device_lib/emulate/scheduler.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

static_assert(sizeof(TwWait) == 56 && offsetof(TwWait, value) == 24 &&
                  offsetof(TwWait, count) == 52,
              "device_lib/emulate/cuda/core.cuh must declare the same structure");

void run_block(const TwCpuLaunch* launch, const char* kernel, std::uint64_t block,
               std::uint32_t lanes, void (*thread)(void*, std::uint32_t), void* context) {
  if (!can_emulate_barriers())
    throw MissingError(
        fmt::format("kernel '{}' has barriers, and their emulation does not work under the thread "
                    "sanitizer; use another build",
                    kernel));
  Scheduler::of_this_thread().run({launch, kernel, block, lanes, thread, context,
                                   settings().emulate_seed, settings().emulate_check});
}

void wait(TwWait* request) { Scheduler::of_this_thread().wait(*request); }

void yield() {
  Scheduler& scheduler = Scheduler::of_this_thread();
  if (scheduler.is_running()) scheduler.yield();
}

void fault(const TwThreadPlace* place, const char* message) {
  const auto* b = place->block;
  const auto* t = place->thread;
  throw KernelFault(fmt::format("kernel '{}', block ({}, {}, {}), thread ({}, {}, {}): {}",
                                place->kernel, b[0], b[1], b[2], t[0], t[1], t[2], message));
}

void start_copy(void* shared, const void* global, std::uint32_t bytes, std::uint32_t line) {
  Scheduler::of_this_thread().start_copy({.to = static_cast<std::byte*>(shared),
                                          .from = static_cast<const std::byte*>(global),
                                          .bytes = bytes,
                                          .line = line});
}

void commit_copies() { Scheduler::of_this_thread().commit_copies(); }

void wait_copies(std::uint32_t pending) { Scheduler::of_this_thread().wait_copies(pending); }

void start_product(void (*run)(const void*, void*), const void* closure,
                   std::uint64_t closure_bytes, void* sums, std::uint64_t sums_bytes) {
  Scheduler& scheduler = Scheduler::of_this_thread();
  scheduler.shadow().set_product(true);
  scheduler.products().start(run, closure, closure_bytes, sums, sums_bytes, scheduler.is_early());
  scheduler.shadow().set_product(false);
}

void commit_products() { Scheduler::of_this_thread().products().commit(); }

void wait_products(std::uint32_t pending) {
  Scheduler& scheduler = Scheduler::of_this_thread();
  scheduler.shadow().set_product(true);
  scheduler.products().wait(pending);
  scheduler.shadow().set_product(false);
}

void show_to_products() { Scheduler::of_this_thread().show_to_products(); }

void note_shared(const char* name, std::uint64_t address, std::uint64_t bytes,
                 std::uint64_t element_bytes) {
  Scheduler::of_this_thread().shadow().add_array({name, address, bytes, element_bytes});
}

void name_shared(const char* name, std::uint64_t address, std::uint64_t element_bytes) {
  Scheduler::of_this_thread().shadow().add_name({name, address, 0, element_bytes});
}

void touch(std::uint64_t address, std::uint64_t bytes, std::uint32_t kind, std::uint32_t line) {
  Scheduler& scheduler = Scheduler::of_this_thread();
  if (scheduler.is_running())
    scheduler.touch({.address = address,
                     .bytes = bytes,
                     .kind = static_cast<Shadow::Kind>(kind),
                     .line = line});
}

void begin(const TwSourceMap* source, const void* code, TwRange* image, TwRange* locals) {
  Scheduler::of_this_thread().set_source(source);
  find_module(code, *image, *locals);
}

// Host code beside the kernels is instrumented too: outside of blocks nothing is done.
void touch_outside(std::uint64_t address, std::uint64_t bytes, std::uint32_t kind,
                   std::uint32_t line) {
  constexpr std::uint32_t misaligned = 256;  // emulate/cuda/check.cuh
  Scheduler& scheduler = Scheduler::of_this_thread();
  if (scheduler.is_running())
    scheduler.touch_outside({.address = address,
                             .bytes = bytes,
                             .kind = static_cast<Shadow::Kind>(kind % misaligned),
                             .line = line},
                            kind >= misaligned);
}

void tick(std::uint32_t line) {
  Scheduler& scheduler = Scheduler::of_this_thread();
  if (is_interrupted() && scheduler.is_running()) scheduler.interrupt(line);
}

void start_map_copy(void (*run)(const void*), const void* closure, std::uint64_t closure_bytes,
                    void* to, std::uint32_t bytes, void* word, std::uint32_t line) {
  Scheduler::of_this_thread().start_map_copy(
      {.run = run, .to = static_cast<std::byte*>(to), .bytes = bytes, .word = word, .line = line},
      closure, closure_bytes);
}

void land_copies(void* word) { Scheduler::of_this_thread().land_copies(word); }

void start_map_store(void (*run)(const void*, const unsigned char*), const void* closure,
                     std::uint64_t closure_bytes, const void* from, std::uint32_t bytes,
                     std::uint32_t line) {
  Scheduler::of_this_thread().start_map_store(
      {.run = run, .from = static_cast<const unsigned char*>(from), .bytes = bytes, .line = line},
      closure, closure_bytes);
}

void wait_map_stores(std::uint32_t in_memory) {
  Scheduler::of_this_thread().wait_map_stores(in_memory != 0);
}

void divide_by_zero(std::uint32_t line) {
  Scheduler& scheduler = Scheduler::of_this_thread();
  if (scheduler.is_running()) scheduler.divide_by_zero(line);
}

void touch_memory(std::uint64_t address, std::uint64_t bytes, std::uint32_t kind,
                  std::uint32_t when, const void* word, std::uint32_t line) {
  Scheduler& scheduler = Scheduler::of_this_thread();
  if (scheduler.is_running())
    scheduler.touch_memory(
        {.address = address, .bytes = bytes, .kind = static_cast<Shadow::Kind>(kind), .line = line},
        static_cast<MemoryShadow::When>(when), word);
}

void fence() {
  Scheduler& scheduler = Scheduler::of_this_thread();
  if (scheduler.is_running()) scheduler.fence();
}

void meet_at_word(const void* word, std::uint32_t is_arrival) {
  Scheduler::of_this_thread().meet_at_word(word, is_arrival != 0);
}

}  // namespace

const TwEmulation* emulation_services() {
  static constexpr TwEmulation table{.size = sizeof(TwEmulation),
                                     .run_block = run_block,
                                     .wait = wait,
                                     .yield = yield,
                                     .fault = fault,
                                     .start_copy = start_copy,
                                     .commit_copies = commit_copies,
                                     .wait_copies = wait_copies,
                                     .start_product = start_product,
                                     .commit_products = commit_products,
                                     .wait_products = wait_products,
                                     .show_to_products = show_to_products,
                                     .note_shared = note_shared,
                                     .name_shared = name_shared,
                                     .touch = touch,
                                     .begin = begin,
                                     .touch_outside = touch_outside,
                                     .tick = tick,
                                     .start_map_copy = start_map_copy,
                                     .land_copies = land_copies,
                                     .start_map_store = start_map_store,
                                     .wait_map_stores = wait_map_stores,
                                     .divide_by_zero = divide_by_zero,
                                     .touch_memory = touch_memory,
                                     .fence = fence,
                                     .meet_at_word = meet_at_word};
  return &table;
}

bool can_emulate_barriers() {
#if defined(__SANITIZE_THREAD__)
  return false;
#else
  return true;
#endif
}

}  // namespace tilewright
