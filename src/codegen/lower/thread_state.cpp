// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_state.cpp — the state of the lowering to threads before its first statement.
#include "codegen/lower/thread_state.h"

#include "ir/roles.h"
#include "passes/laid/warp_exchange.h"

namespace tilewright {

ThreadState::ThreadState(const ThreadInput& given)
    : ThreadInput(given),
      plans(given.laid, given.facts, given.layouts, given.options),
      products(given.laid, given.facts.sweeps, given.layouts, given.options.target),
      written(ExpressionFacts::of_threads(out)),
      warp_buffers(ir::producer_of(given.laid)
                       ? exchanged_within_warps(given.laid, given.facts.sweeps, given.layouts)
                       : std::set<std::size_t>()) {}

}  // namespace tilewright
