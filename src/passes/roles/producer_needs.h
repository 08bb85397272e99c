// SPDX-License-Identifier: Apache-2.0
// passes/roles/producer_needs.h — what a producer computes by itself before the consumers come
// there: the rounds of its loops, and where tiles begin.
#pragma once

#include <string>

#include "ir/kernel.h"
#include "passes/roles/ring_loops.h"

namespace tilewright {

// Why a producer cannot know it: a product makes it, or it is loaded from memory that the kernel
// stores to, and the producer is ahead of the store. "": it can.
std::string problem_of_producer(const ir::Kernel& kernel, const RingLoops& found);

}  // namespace tilewright
