// SPDX-License-Identifier: Apache-2.0
// passes/laid/reduce_plan.cpp — the bits of a layout along the reduced axis.
#include "passes/laid/reduce_plan.h"

#include <algorithm>

#include "passes/laid/tile_reads.h"

namespace tilewright {
namespace {

// The bits of `matrix` whose columns reach into the reduced dimension.
int bits_along(const BitMatrix& matrix, const IndexMap& axis) {
  int bits = 0;
  for (int j = 0; j < matrix.columns(); ++j)
    if (axis.matrix(matrix.column(j)) != 0) bits |= 1 << j;
  return bits;
}

// As slots_per_warp of device_lib/cuda/reduce.cuh.
int slots_per_warp(const ReducePlan& plan, int lanes) {
  const bool are_neighbours = (plan.warps & (plan.warps + 1)) == 0;
  return plan.lanes != lanes - 1 ? lanes : plan.warps > 7 && !are_neighbours ? 2 : 1;
}

}  // namespace

ReducePlan plan_reduce(const ir::Kernel& kernel, const Sweeps& sweeps, const TileLayouts& layouts,
                       const Step& step, const ir::Op& reduce) {
  const Layout& layout = layouts.of_step(step).layout;
  const IndexMap along = combined_map(step.shape, reduce);
  ReducePlan plan{.kept = layouts.of_reduced(step, reduce),
                  .registers = bits_along(layout.registers(), along),
                  .lanes = bits_along(layout.lanes(), along),
                  .warps = bits_along(layout.warps(), along)};
  if (plan.warps == 0) return plan;
  const int warps = kernel.shape.warps * kernel.shape.cluster;
  const int lanes = 1 << layout.lanes().columns();
  const bool is_outermost =
      std::any_of(sweeps.steps().begin(), sweeps.steps().end(),
                  [&](const Step& outer) { return outer.order == step.order; });
  // Only one value of the whole cluster, and only once: its slots have no other user, so that one
  // barrier of the cluster is enough.
  plan.is_over_cluster = kernel.shape.cluster > 1 && plan.lanes == lanes - 1 &&
                         plan.warps == warps - 1 && plan.kept.register_count() == 1 && is_outermost;
  plan.slots = plan.is_over_cluster
                   ? warps
                   : std::int64_t{warps} * slots_per_warp(plan, lanes) * plan.kept.register_count();
  return plan;
}

}  // namespace tilewright
