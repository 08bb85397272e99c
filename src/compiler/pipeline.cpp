// SPDX-License-Identifier: Apache-2.0
// compiler/pipeline.cpp — the list of passes and the one runner.
#include "compiler/pipeline.h"

#include <fmt/format.h>

#include "ir/verify.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

constexpr std::string_view passes[] = {
    // Equal things look equal, and loops hold only what changes in them.
    "canonicalize",
    "eliminate_common_subexpressions",
    "hoist_loop_invariants",
    "eliminate_dead_code",
    // Addresses and masks as formulas; what made them element by element is then dead.
    "find_access_forms",
    "canonicalize",
    // Hoisted before equal things become one: what leaves two loops meets its equal outside.
    "hoist_loop_invariants",
    "eliminate_common_subexpressions",
    "eliminate_dead_code",
};

void verify_after(std::string_view pass, const ir::Kernel& kernel) {
  try {
    ir::verify(kernel);
  } catch (const InternalError& error) {
    throw InternalError(fmt::format("after the pass '{}': {}", pass, error.what()));
  }
}

}  // namespace

std::span<const std::string_view> tile_pipeline() { return passes; }

void run_pipeline(ir::Kernel& kernel, const Target& target, const PipelineOptions& options) {
  for (const std::string_view name : passes) {
    pass_named(name).run(kernel, target);
    if (options.verifies) verify_after(name, kernel);
    if (options.after) options.after(name, kernel);
  }
}

}  // namespace tilewright
