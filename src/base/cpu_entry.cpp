// SPDX-License-Identifier: Apache-2.0
// base/cpu_entry.cpp — the CPU calling convention as text, checked against the structures of the
// header.
#include "base/cpu_entry.h"

#include <cstddef>

namespace tilewright {

static_assert(offsetof(TwCpuLaunch, block) == 12 && offsetof(TwCpuLaunch, shared_bytes) == 24 &&
                  offsetof(TwCpuLaunch, services) == 32 && offsetof(TwCpuLaunch, memory) == 40 &&
                  offsetof(TwCpuLaunch, memory_count) == 48 && sizeof(TwMemory) == 24,
              "cpu_entry_text below must declare the same structure");

static_assert(offsetof(TwCpuServices, fail) == 8 && offsetof(TwCpuServices, emulation) == 16 &&
              offsetof(TwCpuServices, give_way) == 24 && offsetof(TwCpuServices, stream) == 32 &&
              offsetof(TwCpuServices, end_row) == 40 && offsetof(TwCpuServices, begin_row) == 48);

static_assert(offsetof(TwLateRow, at) == 16 && offsetof(TwLateRow, held) == 32 &&
                  offsetof(TwLateRow, streams) == 44 && offsetof(TwLateRow, part) == 64 &&
                  sizeof(TwLateRow) == 192,
              "device_lib/cpu/late.h must declare the same structure");

const char* const cpu_entry_text = R"(struct TwEmulation;
struct TwLateRow;
struct TwCpuServices {
  unsigned long size;
  void (*fail)(const char* message);
  const TwEmulation* emulation;
  void (*give_way)();
  void (*stream)(void* to, const void* from, unsigned long bytes);
  void (*end_row)(TwLateRow* row, bool is_last);
  void (*begin_row)(TwLateRow* row, void* to, long count);
};
struct TwMemory {
  const char* name;
  unsigned long address;
  unsigned long bytes;
};
struct TwCpuLaunch {
  unsigned grid[3];
  unsigned block[3];
  unsigned long shared_bytes;
  const TwCpuServices* services;
  const TwMemory* memory;
  unsigned long memory_count;
};
)";

}  // namespace tilewright
