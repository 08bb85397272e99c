// SPDX-License-Identifier: Apache-2.0
// compiler/pipeline.cpp — the list of passes and the one runner.
#include "compiler/pipeline.h"

#include <set>
#include <sstream>

#include <fmt/format.h>

#include "base/settings.h"
#include "ir/verify.h"
#include "passes/load_ahead.h"
#include "passes/pipeline_loops.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

constexpr std::string_view for_cuda = "load_before_branches";

constexpr std::string_view passes[] = {
    // Equal things look equal, and loops hold only what changes in them.
    "canonicalize",
    "eliminate_common_subexpressions",
    "hoist_loop_invariants",
    "eliminate_dead_code",
    for_cuda,
    // Addresses and masks as formulas; what made them element by element is then dead.
    "find_access_forms",
    "canonicalize",
    // Hoisted before equal things become one: what leaves two loops meets its equal outside.
    "hoist_loop_invariants",
    "eliminate_common_subexpressions",
    "eliminate_dead_code",
    // Facts for choosing among functions: nothing changes values afterwards.
    "note_ranges",
};

// Rounds that are known, and the scalars of addresses ahead.
constexpr std::string_view after_pipelining[] = {
    "canonicalize",
    "hoist_loop_invariants",
    "eliminate_common_subexpressions",
    "eliminate_dead_code",
};

// What TILEWRIGHT_SKIP_PASSES names. Throws ArgumentError for what is no pass.
std::set<std::string, std::less<>> skipped_passes() {
  std::set<std::string, std::less<>> names;
  std::istringstream text(settings().skipped_passes);
  for (std::string name; std::getline(text, name, ',');) {
    try {
      static_cast<void>(pass_named(name));
    } catch (const ArgumentError& error) {
      throw ArgumentError(fmt::format("TILEWRIGHT_SKIP_PASSES: {}", error.what()));
    }
    names.insert(name);
  }
  return names;
}

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
  const auto done = [&](std::string_view name) {
    if (options.verifies) verify_after(name, kernel);
    if (options.after) options.after(name, kernel);
  };
  const std::set<std::string, std::less<>> skipped = skipped_passes();
  const auto run_all = [&](std::span<const std::string_view> names) {
    for (const std::string_view name : names) {
      if (skipped.contains(name) || (name == for_cuda && target.kind == DeviceKind::Cpu)) continue;
      pass_named(name).run(kernel, target);
      done(name);
    }
  };
  run_all(passes);
  kernel.stage = ir::Stage::Tile;  // also without the forms: what has none stays element by element
  constexpr std::string_view for_cpu[] = {"turn_loads"};
  if (target.kind == DeviceKind::Cpu) run_all(for_cpu);
  // Copies that go on beside the threads came with compute capability 8.
  if (target.capability_major < 8 || options.num_stages < 2 || skipped.contains("pipeline_loops"))
    return;
  std::vector<std::string> notes =
      pipeline_loops(kernel, {.num_stages = options.num_stages,
                              .most_stages = options.most_stages,
                              .shared_bytes = target.shared_bytes_per_block_optin});
  if (options.notes) *options.notes = std::move(notes);
  done("pipeline_loops");
  if (options.ahead_bytes > 0 && !skipped.contains("load_ahead")) {
    load_ahead(kernel, options.ahead_bytes);
    done("load_ahead");
  }
  run_all(after_pipelining);
}

}  // namespace tilewright
