// SPDX-License-Identifier: Apache-2.0
// passes/add_into_dots.cpp — sums whose one operand is a product that nobody else wants.
#include "passes/add_into_dots.h"

#include <algorithm>

#include "ir/rewrite.h"
#include "passes/carried_sums.h"
#include "passes/edit_regions.h"

namespace tilewright {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Value;

class SumFinder {
 public:
  explicit SumFinder(ir::Kernel& kernel)
      : kernel_(kernel), rewriter_(kernel), uses_(kernel.value_count(), 0) {
    ir::walk(kernel.body, [&](const Op& op) {
      for (const Value value : op.operands) ++uses_[value.id];
    });
  }

  void run(ir::Region& region) {
    for (Op* op : region.ops) {
      for (ir::Region& inner : op->regions) run(inner);
      if (op->kind == OpKind::Add) add_into_dot(region, *op);
    }
  }

 private:
  bool is_bare_product(const ir::Region& region, Value value) const {
    const Op* dot = kernel_.maker(value);
    if (!stands_in(region, dot) || dot->kind != OpKind::Dot || uses_[value.id] != 1) return false;
    const bool is_wide = kernel_.type(value).element_bytes() >= 4;
    return is_wide && dot->integer("imprecise", 0) == 0 &&
           rewriter_.is_constant(dot->operands[2], 0);
  }

  // The sum becomes the product; the product, which nobody reads then, is dead.
  void add_into_dot(const ir::Region& region, Op& sum) {
    for (const std::size_t side : {1u, 0u}) {
      if (!is_bare_product(region, sum.operands[side])) continue;
      const Op& dot = *kernel_.maker(sum.operands[side]);
      const Value other = sum.operands[1 - side];
      --uses_[dot.result().id];
      sum.kind = OpKind::Dot;
      sum.attributes = dot.attributes;
      sum.operands = {dot.operands[0], dot.operands[1], other};
      sum.location = dot.location;
      return;
    }
  }

  ir::Kernel& kernel_;
  ir::Rewriter rewriter_;
  std::vector<int> uses_;  // by value
};

}  // namespace

void add_into_dots(ir::Kernel& kernel, const Target& target, int num_warps) {
  if (carried_sums(kernel, target, num_warps) <= most_carried_sums)
    SumFinder(kernel).run(kernel.body);
}

void add_into_dots(ir::Kernel& kernel, const Target& target) { add_into_dots(kernel, target, 4); }

}  // namespace tilewright
