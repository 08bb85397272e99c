// SPDX-License-Identifier: Apache-2.0
// passes/carried_sums.cpp — what loops yield that a product made or was added to.
#include "passes/carried_sums.h"

#include <algorithm>

namespace tilewright {

std::int64_t carried_sums(const ir::Kernel& kernel, const Target& target, int num_warps,
                          int least_sums) {
  if (!target.has(Feature::Threads)) return 0;
  const auto is_product = [&](ir::Value value) {
    const ir::Op* maker = kernel.maker(value);
    return maker && maker->kind == ir::OpKind::Dot;
  };
  std::int64_t most = 0;
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind != ir::OpKind::For) return;
    std::int64_t words = 0;
    int sums = 0;
    for (const ir::Value value : op.regions[0].ops.back()->operands) {
      const ir::Op* maker = kernel.maker(value);
      const bool is_sum = maker && maker->kind == ir::OpKind::Add &&
                          std::any_of(maker->operands.begin(), maker->operands.end(), is_product);
      if (!is_product(value) && !is_sum) continue;
      words += kernel.type(value).numel() / (num_warps * target.warp_size);
      ++sums;
    }
    if (sums >= least_sums) most = std::max(most, words);
  });
  return most;
}

}  // namespace tilewright
