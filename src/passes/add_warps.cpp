// SPDX-License-Identifier: Apache-2.0
// passes/add_warps.cpp — doubled until sums fit, up to two warpgroups.
#include "passes/add_warps.h"

#include "passes/carried_sums.h"

namespace tilewright {
namespace {

constexpr int least_warps = 4, most_warps = 8;
// Of two sums and more; products of a round stand beside them.
constexpr std::int64_t most_of_several_sums = 96;

bool are_too_few(const ir::Kernel& kernel, const Target& target, int warps) {
  return carried_sums(kernel, target, warps) > most_carried_sums ||
         carried_sums(kernel, target, warps, 2) > most_of_several_sums;
}

// Of a tile of a kernel that goes over its tiles by itself.
constexpr std::int64_t least_sums_of_tile = 128 * 128;

bool is_wide_product(const ir::Kernel& kernel, const ir::Op& op) {
  return op.kind == ir::OpKind::Dot && kernel.type(op.result()).numel() >= least_sums_of_tile &&
         kernel.type(op.operands[0]).element_bytes() == 2;
}

template <class Is>
int count_inside(const ir::Op& op, const Is& is) {
  int count = 0;
  for (const ir::Region& region : op.regions)
    ir::walk(region, [&](const ir::Op& inside) { count += is(inside); });
  return count;
}

// A loop over tiles, each of which is stored, and in it one over the depth with the kernel's only
// product: such programs are as many as multiprocessors, so that a warp has a scheduler for itself,
// and nothing else runs while it waits.
bool takes_tiles_by_itself(const ir::Kernel& kernel) {
  const auto is_product = [&](const ir::Op& op) { return is_wide_product(kernel, op); };
  const auto is_store = [](const ir::Op& op) { return op.kind == ir::OpKind::Store; };
  int products = 0;
  bool found = false;
  ir::walk(kernel.body, [&](const ir::Op& outer) {
    products += outer.kind == ir::OpKind::Dot;
    if (!outer.facts().has(ir::Loops)) return;
    for (const ir::Region& region : outer.regions)
      for (const ir::Op* inner : region.ops)
        found |= inner->kind == ir::OpKind::For && count_inside(*inner, is_product) == 1 &&
                 count_inside(outer, is_store) > count_inside(*inner, is_store);
  });
  return found && products == 1;
}

}  // namespace

void add_warps(ir::Kernel& kernel, const Target& target, int num_warps) {
  if (num_warps < least_warps || !target.has(Feature::Wgmma)) return;
  int warps = num_warps;
  if (warps == least_warps && takes_tiles_by_itself(kernel)) warps = most_warps;
  while (warps < most_warps && are_too_few(kernel, target, warps)) warps *= 2;
  if (warps > num_warps) kernel.shape.warps = warps;
}

void add_warps(ir::Kernel& kernel, const Target& target) { add_warps(kernel, target, 4); }

}  // namespace tilewright
