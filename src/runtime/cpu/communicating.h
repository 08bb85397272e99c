// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/communicating.h — runs programs that wait for each other: spin locks, stream-K.
//
// A program that waits may need one that no thread has begun yet. So waiting programs say so
// (give_way), and when nothing has advanced for a while more threads begin more programs, in the
// end as many as there are programs. Those that wait keep their threads and stacks.
#pragma once

#include <cstdint>

#include "runtime/cpu/thread_pool.h"

namespace tilewright {

// Calls `body(i, i + 1)` for each i below `count`, begun in order. The first exception is thrown
// here; programs that wait meanwhile are unwound.
void run_communicating(std::uint64_t count, RangeBody body);

// Called by a program between two looks at what it waits for. Throws when the launch has failed.
void give_way();

}  // namespace tilewright
