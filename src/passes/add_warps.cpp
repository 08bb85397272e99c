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

}  // namespace

void add_warps(ir::Kernel& kernel, const Target& target, int num_warps) {
  if (num_warps < least_warps || !target.has(Feature::Wgmma)) return;
  int warps = num_warps;
  while (warps < most_warps && are_too_few(kernel, target, warps)) warps *= 2;
  if (warps > num_warps) kernel.shape.warps = warps;
}

void add_warps(ir::Kernel& kernel, const Target& target) { add_warps(kernel, target, 4); }

}  // namespace tilewright
