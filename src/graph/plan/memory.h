// SPDX-License-Identifier: Apache-2.0
// graph/plan/memory.h — one piece of memory for all values between the kernels of a plan: those
// that are not alive at the same time share a place.
#pragma once

#include <cstdint>
#include <vector>

namespace tilewright::graph {

struct Plan;

struct MemoryPlan {
  std::vector<std::int64_t> offsets;  // by node, in bytes; -1: its memory is its own
  std::int64_t bytes = 0;
};

// Of the nodes that groups write and that are no results.
MemoryPlan plan_memory(const Plan& plan);

}  // namespace tilewright::graph
