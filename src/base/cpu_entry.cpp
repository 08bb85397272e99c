// SPDX-License-Identifier: Apache-2.0
// base/cpu_entry.cpp — the CPU calling convention as text, checked against the structures of the header.
#include "base/cpu_entry.h"

#include <cstddef>

namespace tilewright {

static_assert(offsetof(TwCpuLaunch, block) == 12 && offsetof(TwCpuLaunch, shared_bytes) == 24 &&
                  offsetof(TwCpuLaunch, services) == 32,
              "cpu_entry_text below must declare the same structure");

const char* const cpu_entry_text = R"(struct TwCpuServices;
struct TwCpuLaunch {
  unsigned grid[3];
  unsigned block[3];
  unsigned long shared_bytes;
  const TwCpuServices* services;
};
)";

}  // namespace tilewright
