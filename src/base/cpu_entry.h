// SPDX-License-Identifier: Apache-2.0
// base/cpu_entry.h — the calling convention of kernels compiled for the CPU.
//
// A CPU kernel is an extern "C" function that runs programs `first` to `last` (exclusive) of a
// grid, numbered with x fastest. The thread pool calls it with disjoint ranges from several
// threads. `parameters` are addresses of the values, as cuLaunchKernel takes them. Generated text
// is header-free and declares the same structure itself (`cpu_entry_text`).
#pragma once

#include <cstdint>

namespace tilewright {

extern "C" {

// A row of results that a program leaves to be written while the next one computes. The kernel's
// own structure (device_lib/cpu/late.h) begins with it.
struct TwLateRow {
  // The next `count` elements, at most as many as a line has.
  void (*compute)(TwLateRow* row, void* to, std::int64_t count);
  char* to;
  std::int64_t at;    // elements that are written
  std::int64_t end;   // of all
  std::int64_t held;  // elements of its last line, which are in `part`
  std::int32_t element_bytes;
  bool streams;  // false: it stays in the caches, and is written at once
  alignas(64) char part[128];
};

// What a kernel may call back into the library for; `size` lets an old kernel meet a newer library.
struct TwCpuServices {
  std::uint64_t size;
  // Ends the launch with an error: the message is copied, the call does not return to the kernel's
  // program.
  void (*fail)(const char* message);
  // Emulated CUDA (codegen/device_lib/emulate/fibers.h): blocks whose threads meet at barriers.
  // Null: not to be had.
  const struct TwEmulation* emulation;
  // A program that waits for another one calls it between two looks; does not return when the
  // launch has failed.
  void (*give_way)();
  // Copies results to memory around the caches; `bytes` that are no whole lines as usual.
  void (*stream)(void* to, const void* from, std::uint64_t bytes);
  // Behind `end_row` only a part of the row's last line is not written; behind the last of all not
  // even that.
  void (*end_row)(TwLateRow* row, bool is_last);
  // A row of `count` elements at `to`.
  void (*begin_row)(TwLateRow* row, void* to, std::int64_t count);
};

// Memory that a launch may touch, with a name for messages.
struct TwMemory {
  const char* name;
  std::uint64_t address;
  std::uint64_t bytes;
};

struct TwCpuLaunch {
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint64_t shared_bytes;
  const TwCpuServices* services;
  // Of emulated CUDA: all memory that its arguments point to; null: not known.
  const TwMemory* memory = nullptr;
  std::uint64_t memory_count = 0;
};

using TwCpuEntry = void (*)(const TwCpuLaunch* launch, void* const* parameters, std::uint64_t first,
                            std::uint64_t last);

}  // extern "C"

// The same declarations as text for generated source.
extern const char* const cpu_entry_text;

}  // namespace tilewright
