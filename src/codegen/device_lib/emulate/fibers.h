// SPDX-License-Identifier: Apache-2.0
// codegen/device_lib/emulate/fibers.h — what emulated CUDA kernels call: blocks of threads that
// meet at barriers.
//
// The threads of a block are fibers on one operating-system thread. A thread runs until it waits or
// ends, then another one that can advance is chosen, at random by settings().emulate_seed: a result
// that depends on the order is a bug that some seed shows. Threads that have ended count as arrived
// everywhere, as on hardware. When nobody can advance, or a thread faults, the waiting threads are
// unwound by an exception and run_block throws one KernelFault that names the kernel, the block and
// the threads.
#pragma once

#include <cstdint>

#include "base/cpu_entry.h"
#include "codegen/device_lib/emulate/source_map.h"

namespace tilewright {

extern "C" {

// One arrival at a barrier; lives on the thread's own stack. device_lib/emulate/cuda/core.cuh
// declares the same as text.
struct TwWait {
  enum Kind : std::uint32_t {
    Block,    // all threads of the block; `count` of them passed a non-zero `value`
    Warp,     // the lanes of `mask`, nothing exchanged
    Shuffle,  // `value` becomes the value of lane `source`, or a poison when that lane takes no
              // part
    Ballot,   // `value` becomes the bits of the lanes that passed a non-zero one
    Gather,   // all[i] becomes the value of lane i; lanes that take no part give a poison
    Active,   // `value` becomes the lanes that stand at the same line when nobody else can advance
    Consumers,  // as many threads of the block as `mask` says
  };
  const char* name;    // "__syncthreads", for messages
  std::uint32_t line;  // of the user's source
  std::uint32_t kind;
  std::uint64_t mask;  // lanes of the warp that meet
  std::uint64_t value;
  std::uint64_t* all;
  std::uint64_t participants;  // lanes of the warp, or the number of threads of the block, that met
  std::uint32_t source;
  std::uint32_t count;
};

// Where a thread is, for messages.
struct TwThreadPlace {
  const char* kernel;
  std::uint32_t block[3];
  std::uint32_t thread[3];
};

// From the first to behind the last address.
struct TwRange {
  std::uint64_t begin;
  std::uint64_t end;
};

struct TwEmulation {
  std::uint64_t size;
  // Runs all threads of one block: thread(context, index) for each, numbered with x fastest, in
  // warps of `lanes`.
  void (*run_block)(const TwCpuLaunch* launch, const char* kernel, std::uint64_t block,
                    std::uint32_t lanes, void (*thread)(void* context, std::uint32_t index),
                    void* context);
  // From here on only inside a thread of run_block. May resume after other threads ran; unwinds
  // when the block failed.
  void (*wait)(TwWait* wait);
  void (*yield)();  // lets others advance; a thread that spins calls it
  // Ends the launch with a KernelFault: "kernel 'k', block (0, 0, 0), thread (1, 0, 0): MESSAGE".
  // Legal in any thread.
  void (*fault)(const TwThreadPlace* place, const char* message);
  // The thread's asynchronous copies; `global` is null when zeros are to arrive.
  void (*start_copy)(void* shared, const void* global, std::uint32_t bytes, std::uint32_t line);
  void (*commit_copies)();
  void (*wait_copies)(std::uint32_t pending);
  // The thread's asynchronous products: run(closure, sums) computes one; the closure is copied.
  void (*start_product)(void (*run)(const void* closure, void* sums), const void* closure,
                        std::uint64_t closure_bytes, void* sums, std::uint64_t sums_bytes);
  void (*commit_products)();
  void (*wait_products)(std::uint32_t pending);
  void (*show_to_products)();
  // With checks: an array of shared memory, a pointer into one, and every access (Shadow::Kind).
  void (*note_shared)(const char* name, std::uint64_t address, std::uint64_t bytes,
                      std::uint64_t element_bytes);
  void (*name_shared)(const char* name, std::uint64_t address, std::uint64_t element_bytes);
  void (*touch)(std::uint64_t address, std::uint64_t bytes, std::uint32_t kind, std::uint32_t line);
  // With checks, before the blocks: where lines of the text come from (or null), and the image and
  // this thread's thread-local memory of the module that `code` is in.
  void (*begin)(const TwSourceMap* source, const void* code, TwRange* image, TwRange* locals);
  // An access to memory that is not the launch's: ends the block, does not return.
  void (*touch_outside)(std::uint64_t address, std::uint64_t bytes, std::uint32_t kind,
                        std::uint32_t line);
  // Now and then while a thread runs; does not return when the command is interrupted.
  void (*tick)(std::uint32_t line);
  // Copies of tensor maps, of the whole block: run(closure) brings one to shared memory and tells
  // `word`, at once or when somebody waits for the word. The closure is copied.
  void (*start_map_copy)(void (*run)(const void* closure), const void* closure,
                         std::uint64_t closure_bytes, void* to, std::uint32_t bytes, void* word,
                         std::uint32_t line);
  void (*land_copies)(void* word);
  // The thread's stores by tensor maps: run(closure, read) brings what was read of shared memory to
  // memory.
  void (*start_map_store)(void (*run)(const void* closure, const unsigned char* read),
                          const void* closure, std::uint64_t closure_bytes, const void* from,
                          std::uint32_t bytes, std::uint32_t line);
  void (*wait_map_stores)(std::uint32_t in_memory);
  // With checks: an integer is about to be divided by zero. Ends the thread, does not return.
  void (*divide_by_zero)(std::uint32_t line);
  // With checks: every access to global memory (Shadow::Kind, MemoryShadow::When; `word` of a
  // tensor map's copy), fences, and threads that arrive at the word of a ring or have waited for
  // it.
  void (*touch_memory)(std::uint64_t address, std::uint64_t bytes, std::uint32_t kind,
                       std::uint32_t when, const void* word, std::uint32_t line);
  void (*fence)();
  void (*meet_at_word)(const void* word, std::uint32_t is_arrival);
};

}  // extern "C"

// The table that a launch's TwCpuServices points to.
const TwEmulation* emulation_services();

// False under the thread sanitizer, which cannot follow fibers at a bearable speed: run_block then
// throws MissingError.
bool can_emulate_barriers();

}  // namespace tilewright
