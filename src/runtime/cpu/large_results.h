// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/large_results.h — results of CPU kernels that go to memory around the caches: what is
// the same in every kernel, and need not be compiled with each.
#pragma once

#include "base/cpu_entry.h"

namespace tilewright {

// The services of these names (base/cpu_entry.h).
void stream(void* to, const void* from, std::uint64_t bytes);
void end_row(TwLateRow* row, bool is_last);
void begin_row(TwLateRow* row, void* to, std::int64_t count);

}  // namespace tilewright
