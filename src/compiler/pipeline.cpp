// SPDX-License-Identifier: Apache-2.0
// compiler/pipeline.cpp — the list of passes and the one runner.
#include "compiler/pipeline.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "base/settings.h"
#include "ir/clone.h"
#include "ir/verify.h"
#include "passes/add_into_dots.h"
#include "passes/add_warps.h"
#include "passes/choose_units.h"
#include "passes/defer_stores.h"
#include "passes/delay_products.h"
#include "passes/delay_reductions.h"
#include "passes/last_programs_first.h"
#include "passes/load_ahead.h"
#include "passes/pipeline_loops.h"
#include "passes/roles/load_maps.h"
#include "passes/roles/model.h"
#include "passes/split_roles.h"
#include "passes/start_dots.h"
#include "passes/store_by_maps.h"
#include "passes/widen_loops.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

constexpr std::string_view passes[] = {
    "spread_hints",
    "merge_inductions",
    // Before products take in the signs of their constants.
    "negate_differences",
    // Equal things look equal, and loops hold only what changes in them.
    "canonicalize",
    "eliminate_common_subexpressions",
    "add_warps",
    "add_into_dots",
    "count_divisors",
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

constexpr std::string_view at_tile[] = {"turn_loads",         "delay_reductions",
                                        "unroll_short_loops", "widen_loops",
                                        "choose_units",       "persist_programs",
                                        "split_roles",        "last_programs_first"};

// What wider tiles are made from leaves the loop, and what made narrower ones is dead.
constexpr std::string_view cleanup[] = {"canonicalize", "hoist_loop_invariants",
                                        "eliminate_common_subexpressions", "eliminate_dead_code"};

constexpr std::string_view of_stages[] = {
    "delay_products",
    "start_dots",
    "pipeline_loops",
    "load_ahead",
    // Rounds that are known, and the scalars of addresses ahead.
    "canonicalize",
    "hoist_loop_invariants",
    "eliminate_common_subexpressions",
    "eliminate_dead_code",
    "store_by_maps",
    "defer_stores",
};

// The store that the passes before know is one of two behind them.
constexpr std::string_view at_end[] = {"align_stores"};

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
    for (const std::span<const PassEntry> list : {laid_passes(), final_passes()})
      for (const PassEntry& pass : list)
        if (pass.name == name)
          throw ArgumentError(
              fmt::format("{}: {} belongs to every emission, and is neither left out nor asked for",
                          variable, name));
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

class PipelineRun {
 public:
  PipelineRun(ir::Kernel& kernel, const Target& target, const PipelineOptions& options)
      : kernel_(kernel), target_(target), options_(options) {}

  void run() {
    const bool names_roles = extra_.contains("split_roles");
    const bool may_split_products =
        may_split() && (names_roles || has_measured_roles(kernel_, warps()));
    run_all(first_passes());
    splits_products_ = may_split_products && (names_roles || takes_roles());
    to_tile();
    const std::vector<int> growing = find_growing_axes(kernel_);
    const bool has_roles =
        may_split() && split_on_conditions(names_roles ? options_.notes : nullptr);
    if (has_roles || (may_split() && names_roles)) done("split_roles");
    if (extra_.contains("last_programs_first")) turn_programs(growing);
    add_stages(has_roles);
    run_all(at_end);
  }

 private:
  bool is_on(std::string_view name) const {
    return !skipped_.contains(name) && pass_named(name).is_for(target_);
  }
  // add_warps may have found that there are too few.
  int warps() const {
    return kernel_.shape.is_decided() ? kernel_.shape.warps : options_.num_warps;
  }
  bool may_split() const { return options_.num_stages > 1 && is_on("split_roles"); }

  void done(std::string_view name) const {
    if (options_.verifies) verify_after(name, kernel_);
    if (options_.after) options_.after(name, kernel_);
  }
  void note(const std::vector<std::string>& sentences) const {
    if (options_.notes)
      options_.notes->insert(options_.notes->end(), sentences.begin(), sentences.end());
  }

  // What comes before the first pass that asks for roles.
  static std::span<const std::string_view> first_passes() {
    return {std::begin(passes), std::find(std::begin(passes), std::end(passes), "unwrap_rows")};
  }

  // Asked of a copy: rows are unwrapped for tensor maps alone, and other copies would see it.
  bool takes_roles() const {
    ir::Kernel copy = ir::clone(kernel_);
    PipelineOptions quiet = options_;
    quiet.after = {};
    quiet.notes = nullptr;
    PipelineRun trial(copy, target_, quiet);
    trial.splits_products_ = true;
    trial.to_tile();
    return trial.split_on_conditions(nullptr);
  }

  void run_all(std::span<const std::string_view> names) const {
    for (const std::string_view name : names) {
      if (!is_on(name)) continue;
      const bool unwraps = splits_products_ && may_have_roles(kernel_, warps());
      if (name == "unwrap_rows" && !unwraps) continue;
      if (name == "add_warps" && options_.keeps_warps) continue;
      if (name == "add_warps") add_warps(kernel_, target_, options_.num_warps);
      else if (name == "add_into_dots") add_into_dots(kernel_, target_, warps());
      else if (name == "delay_reductions") delay_reductions(kernel_, target_, warps());
      else pass_named(name).run(kernel_, target_);
      done(name);
    }
  }

  void to_tile() const {
    run_all(std::span(passes).subspan(first_passes().size()));
    // Also without the forms: what has none stays element by element.
    kernel_.stage = ir::Stage::Tile;
    run_all(std::span(at_tile).first(3));  // the others want to know the warps
    // Roles want loops in a row to have the same tiles: where they are named, rounds stay as they are.
    const bool names_rounds = extra_.contains("split_roles") || extra_.contains("delay_products");
    if (!names_rounds && is_on("widen_loops") &&
        widen_loops(kernel_, target_, {.num_warps = warps(), .num_stages = options_.num_stages})) {
      done("widen_loops");
      run_all(cleanup);
    }
    if (!is_on("choose_units")) return;
    note(choose_units(kernel_, target_, warps()));
    done("choose_units");
  }

  // Found before there were roles, whose coordinates want to see that numbers are not negative.
  void turn_programs(const std::vector<int>& growing) const {
    if (growing.empty() || !is_on("last_programs_first")) return;
    number_from_last(kernel_, growing);
    done("last_programs_first");
  }

  bool delays() const { return extra_.contains("delay_products") && is_on("delay_products"); }

  // Tensor maps want strides that are positive. Where nothing says so of arguments, the code is for
  // launches with such alone.
  bool split_on_conditions(std::vector<std::string>* notes) const {
    if (!options_.asks_conditions || !splits_products_) return split(notes);
    if (split(nullptr)) return true;
    std::vector<int> asked;
    for (const int i : arguments_of_strides(kernel_, stores_by_maps())) {
      bool& is_positive = kernel_.arguments[static_cast<std::size_t>(i)].is_positive;
      if (!std::exchange(is_positive, true)) asked.push_back(i);
    }
    if (split(notes)) return true;
    for (const int i : asked) kernel_.arguments[static_cast<std::size_t>(i)].is_positive = false;
    return false;
  }

  // Else than in products: attention, where it was measured faster (roles/model.h).
  bool split(std::vector<std::string>* notes) const {
    return split_roles(kernel_, {.num_warps = warps(),
                                 .num_stages = options_.num_stages,
                                 .most_slots = options_.most_slots,
                                 .shared_bytes = target_.shared_bytes_per_block_optin,
                                 .persists = !skipped_.contains("persist_programs"),
                                 .delays = delays() || !splits_products_,
                                 .only_delayed = !splits_products_,
                                 .notes = notes});
  }

  // All results of kernels with roles where it is named, else those that are deferred.
  bool names_map_stores() const { return extra_.contains("store_by_maps"); }
  bool stores_by_maps() const {
    const bool may_pay = splits_products_ && stores_deferred_by_maps;
    return is_on("store_by_maps") && (names_map_stores() || may_pay);
  }

  void add_stages(bool has_roles) const {
    const bool has_stages = options_.num_stages > 1 && is_on("pipeline_loops");
    if (!has_stages) return;
    const PipelineLoopsOptions stages{.num_stages = options_.num_stages,
                                      .most_slots = options_.most_slots,
                                      .shared_bytes = target_.shared_bytes_per_block_optin,
                                      .processor_bytes = target_.shared_bytes_per_processor,
                                      .reserved_bytes = target_.shared_bytes_reserved_per_block};
    if (delays()) {
      delay_products(kernel_, stages);
      done("delay_products");
    }
    if (is_on("start_dots")) {
      start_dots(kernel_, target_);
      done("start_dots");
    }
    note(pipeline_loops(kernel_, stages));
    done("pipeline_loops");
    if (options_.ahead_bytes > 0 && !skipped_.contains("load_ahead")) {
      load_ahead(kernel_, options_.ahead_bytes);
      done("load_ahead");
    }
    run_all(std::span(of_stages).subspan(4, 4));
    if (has_roles) store_results();
  }

  void store_results() const {
    if (stores_by_maps() && (names_map_stores() || would_defer_map_stores())) {
      take_map_stores(kernel_);
      done("store_by_maps");
    }
    if (!splits_products_ || skipped_.contains("defer_stores")) return;
    take_deferred(kernel_);
    done("defer_stores");
  }
  bool take_map_stores(ir::Kernel& kernel) const {
    return store_by_maps(kernel, {.num_warps = warps(),
                                  .shared_bytes = target_.shared_bytes_per_block_optin});
  }
  bool take_deferred(ir::Kernel& kernel) const {
    return defer_stores(kernel,
                        {.num_warps = warps(),
                         .most_slots = std::min(options_.num_stages + 1, options_.most_slots),
                         .shared_bytes = target_.shared_bytes_per_block_optin});
  }
  bool would_defer_map_stores() const {
    ir::Kernel copy = ir::clone(kernel_);
    return !skipped_.contains("defer_stores") && take_map_stores(copy) && take_deferred(copy);
  }

  ir::Kernel& kernel_;
  const Target& target_;
  const PipelineOptions& options_;
  const std::set<std::string, std::less<>> skipped_ =
      passes_of("TILEWRIGHT_SKIP_PASSES", settings().skipped_passes);
  const std::set<std::string, std::less<>> extra_ =
      passes_of("TILEWRIGHT_EXTRA_PASSES", settings().extra_passes);
  bool splits_products_ = false;
};

}  // namespace

std::span<const std::string_view> tile_pipeline() { return passes; }

std::span<const PassGroup> pass_groups() {
  static constexpr PassGroup groups[] = {
      {"From Source to Tile", passes},
      {"At Tile", at_tile},
      {"Of loops with stages (num_stages is 2 or more)", of_stages},
      {"At the end", at_end}};
  return groups;
}

void run_pipeline(ir::Kernel& kernel, const Target& target, const PipelineOptions& options) {
  PipelineRun(kernel, target, options).run();
}

}  // namespace tilewright
