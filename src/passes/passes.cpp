// SPDX-License-Identifier: Apache-2.0
// passes/passes.cpp — the list of passes.
#include "passes/passes.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/nearest.h"
#include "ir/print.h"
#include "passes/add_into_dots.h"
#include "passes/add_warps.h"
#include "passes/align_stores.h"
#include "passes/canonicalize.h"
#include "passes/choose_units.h"
#include "passes/count_divisors.h"
#include "passes/defer_stores.h"
#include "passes/delay_products.h"
#include "passes/delay_reductions.h"
#include "passes/eliminate_common_subexpressions.h"
#include "passes/eliminate_dead_code.h"
#include "passes/find_access_forms.h"
#include "passes/hoist_loop_invariants.h"
#include "passes/insert_barriers.h"
#include "passes/laid/table_passes.h"
#include "passes/last_programs_first.h"
#include "passes/load_ahead.h"
#include "passes/load_before_branches.h"
#include "passes/merge_inductions.h"
#include "passes/negate_differences.h"
#include "passes/note_ranges.h"
#include "passes/persist_programs.h"
#include "passes/pipeline_loops.h"
#include "passes/split_roles.h"
#include "passes/spread_hints.h"
#include "passes/start_dots.h"
#include "passes/store_by_maps.h"
#include "passes/turn_loads.h"
#include "passes/unroll_short_loops.h"
#include "passes/unwrap_rows.h"
#include "passes/widen_loops.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

constexpr PassEntry passes[] = {
    {"add_into_dots", add_into_dots, "lets a product that is added to a tile start from that tile"},
    {"add_warps",
     add_warps,
     "gives a program whose loops carry too many sums more warps",
     {Feature::Wgmma}},
    {"align_stores",
     align_stores,
     "stores results of products in 16 bytes where they turn out to be aligned",
     {Feature::Wgmma}},
    {"canonicalize", canonicalize, "folds constants and brings equal things to one form"},
    {"choose_units", choose_units, "says which instructions make matrix products", {Feature::Wgmma}},
    {"count_divisors",
     count_divisors,
     "lets divisions that runs of indices depend on end a program whose divisor is not above 0",
     {Feature::Threads}},
    {"defer_stores",
     defer_stores,
     "stores a persistent program's result beside the products of the next one",
     {Feature::Wgmma, Feature::TensorMaps}},
    {"delay_products",
     delay_products,
     "makes a product of a loop one round later, beside what its operand is computed by",
     {Feature::Wgmma}},
    {"delay_reductions",
     delay_reductions,
     "reduces behind a loop what every round would only combine with a carried value",
     {Feature::Threads}},
    {"eliminate_common_subexpressions", eliminate_common_subexpressions,
     "makes equal pure ops one"},
    {"eliminate_dead_code", eliminate_dead_code, "removes ops that nobody needs"},
    {"find_access_forms", find_access_forms,
     "gives pointers and masks of memory ops as affine and bounds; ends in the Tile stage"},
    {"hoist_loop_invariants", hoist_loop_invariants,
     "moves pure ops out of loops they do not depend on"},
    {"last_programs_first",
     last_programs_first,
     "starts the programs with the most rounds first",
     {Feature::Threads}},
    {"load_ahead",
     load_ahead,
     "loads the rows of a loop with stages one iteration ahead",
     {Feature::AsyncCopy}},
    {"load_before_branches",
     load_before_branches,
     "loads what a lock protects before branches inside it",
     {Feature::Threads}},
    {"merge_inductions", merge_inductions,
     "makes carried numbers that grow as the loop's index does the index"},
    {"negate_differences", negate_differences,
     "makes `0 - x` a negation where nobody sees the sign of a zero"},
    {"note_ranges", note_ranges,
     "notes between which numbers divisors and arguments of functions lie"},
    {"pipeline_loops",
     pipeline_loops,
     "copies what matrix products need some iterations ahead",
     {Feature::AsyncCopy}},
    {"persist_programs",
     persist_programs,
     "lets blocks take one program after the other",
     {Feature::TensorMaps}},
    {"split_roles",
     split_roles,
     "lets a producer copy tiles by tensor maps while consumers multiply them",
     {Feature::Wgmma, Feature::TensorMaps}},
    {"spread_hints", spread_hints, "lets promises that are statements hold for what comes after"},
    {"start_dots",
     start_dots,
     "starts products of a round together, and lets sums go on into the next round",
     {Feature::Wgmma}},
    {"store_by_maps",
     store_by_maps,
     "stores results of consumers by tensor maps",
     {Feature::Wgmma, Feature::TensorMaps}},
    {"turn_loads",
     turn_loads,
     "loads tiles for matrix products in the order in which memory lies",
     {},
     {Feature::Threads}},
    {"unroll_short_loops",
     unroll_short_loops,
     "unrolls loops of a few rounds, so that all of them load at once",
     {Feature::Threads}},
    {"unwrap_rows",
     unwrap_rows,
     "masks loads of rows behind a bound, whose indices wrap",
     {Feature::TensorMaps}},
    {"widen_loops",
     widen_loops,
     "makes two rounds of a loop with products one that is twice as wide",
     {Feature::Wgmma}},
};

constexpr PassEntry table_passes[] = {
    {"assign_layouts",
     run_assign_layouts,
     "says which thread holds which elements of tiles, and which instructions make products",
     {Feature::Threads},
     {},
     ir::Stage::Laid,
     ir::Stage::Laid},
    {"place_tiles",
     run_place_tiles,
     "says which tiles live in registers and which in shared memory, in which order",
     {Feature::Threads},
     {},
     ir::Stage::Laid,
     ir::Stage::Laid},
    {"add_scratch",
     run_add_scratch,
     "makes buffers for what threads exchange while they run one op",
     {Feature::Threads},
     {},
     ir::Stage::Laid,
     ir::Stage::Laid},
    {"allocate_shared",
     run_allocate_shared,
     "gives every buffer of shared memory its offset",
     {Feature::Threads},
     {},
     ir::Stage::Laid,
     ir::Stage::Laid},
};

constexpr PassEntry passes_of_threads[] = {
    {"insert_barriers",
     insert_barriers,
     "lets threads meet between their accesses to the same shared memory",
     {Feature::Threads},
     {},
     ir::Stage::Final,
     ir::Stage::Final},
};

}  // namespace

std::span<const PassEntry> all_passes() { return passes; }

std::span<const PassEntry> laid_passes() { return table_passes; }

std::span<const PassEntry> final_passes() { return passes_of_threads; }

std::string machines_of(const PassEntry& pass) {
  std::string out;
  for (const Feature feature : all_features()) {
    if (!pass.needs.has(feature) && !pass.excludes.has(feature)) continue;
    out += fmt::format("{} {} {}", out.empty() ? "machines" : " and",
                       pass.needs.has(feature) ? "with" : "without", name_of(feature));
  }
  return out.empty() ? "every machine" : out;
}

std::string stages_of(const PassEntry& pass) {
  const std::string_view first = ir::name_of(pass.first);
  return pass.first == pass.last ? std::string(first)
                                 : fmt::format("{} or {}", first, ir::name_of(pass.last));
}

const PassEntry& pass_named(std::string_view name) {
  std::vector<std::string> known;
  for (const std::span<const PassEntry> list : {all_passes(), laid_passes(), final_passes()})
    for (const PassEntry& pass : list) {
      if (pass.name == name) return pass;
      known.emplace_back(pass.name);
    }
  throw ArgumentError(fmt::format("there is no pass '{}'{}", name, suggest_names(name, known)));
}

}  // namespace tilewright
