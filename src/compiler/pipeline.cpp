// SPDX-License-Identifier: Apache-2.0
// compiler/pipeline.cpp — the list of passes and the one runner.
#include "compiler/pipeline.h"

#include <set>
#include <sstream>

#include <fmt/format.h>

#include "base/settings.h"
#include "ir/verify.h"
#include "passes/add_into_dots.h"
#include "passes/choose_units.h"
#include "passes/delay_products.h"
#include "passes/load_ahead.h"
#include "passes/pipeline_loops.h"
#include "passes/split_roles.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

constexpr std::string_view passes[] = {
    "spread_hints",
    // Equal things look equal, and loops hold only what changes in them.
    "canonicalize",
    "eliminate_common_subexpressions",
    "add_into_dots",
    "hoist_loop_invariants",
    "eliminate_dead_code",
    "load_before_branches",
    "unwrap_rows",
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

constexpr std::string_view at_tile[] = {"turn_loads", "unroll_short_loops", "choose_units",
                                        "persist_programs", "split_roles"};

constexpr std::string_view of_stages[] = {
    "delay_products",
    "pipeline_loops",
    "load_ahead",
    // Rounds that are known, and the scalars of addresses ahead.
    "canonicalize",
    "hoist_loop_invariants",
    "eliminate_common_subexpressions",
    "eliminate_dead_code",
};

// What a variable names by comma. Throws ArgumentError for what is no pass.
std::set<std::string, std::less<>> passes_of(std::string_view variable, const std::string& value) {
  std::set<std::string, std::less<>> names;
  std::istringstream text(value);
  for (std::string name; std::getline(text, name, ',');) {
    try {
      static_cast<void>(pass_named(name));
    } catch (const ArgumentError& error) {
      throw ArgumentError(fmt::format("{}: {}", variable, error.what()));
    }
    for (const PassEntry& pass : laid_passes())
      if (pass.name == name)
        throw ArgumentError(fmt::format(
            "{}: {} belongs to every emission, and is neither left out nor asked for", variable,
            name));
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

std::span<const PassGroup> pass_groups() {
  static constexpr PassGroup groups[] = {
      {"From Source to Tile", passes},
      {"At Tile", at_tile},
      {"Of loops with stages (num_stages is 2 or more)", of_stages}};
  return groups;
}

void run_pipeline(ir::Kernel& kernel, const Target& target, const PipelineOptions& options) {
  const auto done = [&](std::string_view name) {
    if (options.verifies) verify_after(name, kernel);
    if (options.after) options.after(name, kernel);
  };
  const auto skipped = passes_of("TILEWRIGHT_SKIP_PASSES", settings().skipped_passes);
  const auto extra = passes_of("TILEWRIGHT_EXTRA_PASSES", settings().extra_passes);
  const bool splits = options.num_stages > 1 && extra.contains("split_roles") && !skipped.contains("split_roles") &&
                      pass_named("split_roles").is_for(target);
  const auto run_all = [&](std::span<const std::string_view> names) {
    for (const std::string_view name : names) {
      const PassEntry& pass = pass_named(name);
      if (skipped.contains(name) || !pass.is_for(target)) continue;
      // Rows are unwrapped for tensor maps alone: for other copies that was not measured.
      if (name == "unwrap_rows" && !(splits && may_have_roles(kernel, options.num_warps))) continue;
      if (name == "add_into_dots") add_into_dots(kernel, target, options.num_warps);
      else pass.run(kernel, target);
      done(name);
    }
  };
  run_all(passes);
  kernel.stage = ir::Stage::Tile;  // also without the forms: what has none stays element by element
  run_all(std::span(at_tile).first(2));  // choose_units wants to know the warps
  const auto note = [&](const std::vector<std::string>& sentences) {
    if (options.notes) options.notes->insert(options.notes->end(), sentences.begin(), sentences.end());
  };
  if (pass_named("choose_units").is_for(target) && !skipped.contains("choose_units")) {
    note(choose_units(kernel, target, options.num_warps));
    done("choose_units");
  }
  if (splits) {
    split_roles(kernel, {.num_warps = options.num_warps,
                         .num_stages = options.num_stages,
                         .most_slots = options.most_slots,
                         .shared_bytes = target.shared_bytes_per_block_optin,
                         .persists = !skipped.contains("persist_programs")});
    done("split_roles");
  }
  const bool has_stages = options.num_stages > 1 && pass_named("pipeline_loops").is_for(target);
  if (!has_stages || skipped.contains("pipeline_loops")) return;
  const PipelineLoopsOptions stages{.num_stages = options.num_stages,
                                    .most_slots = options.most_slots,
                                    .shared_bytes = target.shared_bytes_per_block_optin};
  const bool delays = extra.contains("delay_products") && !skipped.contains("delay_products");
  if (delays && pass_named("delay_products").is_for(target)) {
    delay_products(kernel, stages);
    done("delay_products");
  }
  note(pipeline_loops(kernel, stages));
  done("pipeline_loops");
  if (options.ahead_bytes > 0 && !skipped.contains("load_ahead")) {
    load_ahead(kernel, options.ahead_bytes);
    done("load_ahead");
  }
  run_all(std::span(of_stages).subspan(3));
}

}  // namespace tilewright
