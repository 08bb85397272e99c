// SPDX-License-Identifier: Apache-2.0
// codegen/lower/group_operands.cpp — which products warpgroups make, and their operands in shared
// memory as descriptors say them (layout/wgmma.h).
#include <algorithm>

#include "codegen/lower/product_plans.h"
#include "ir/constant.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

int ProductPlans::instruction_columns(const DotPlan& plan) {
  constexpr int log_most_columns = 8;
  return std::min(plan.sizes.columns - plan.warps.columns, log_most_columns);
}

OperandIndex ProductPlans::operand_index(const DotPlan& plan, bool is_left) {
  const ProductSizes& sizes = plan.sizes;
  return is_left ? OperandIndex{.depth_low = 0,
                                .depth = sizes.depth,
                                .across_low = sizes.depth,
                                .across = sizes.rows,
                                .instruction = log_group_rows}
                 : OperandIndex{.depth_low = sizes.columns,
                                .depth = sizes.depth,
                                .across_low = 0,
                                .across = sizes.columns,
                                .instruction = instruction_columns(plan)};
}

std::optional<ProductPlans::DescribedOperand> ProductPlans::described_operand(const Step& step,
                                                                              bool is_left) const {
  const DotPlan& plan = layouts_.plan_of(*step.op);
  const ir::Value value = step.op->operands[is_left ? 0 : 1];
  const DType dtype = is_left ? plan.left : plan.right;
  const std::optional<SharedView> view = shared_view(step, value);
  if (!view || kernel_.type(value).dtype != dtype || kernel_.type(view->array).dtype != dtype)
    return std::nullopt;
  const std::optional<WgmmaOperand> operand = describe_wgmma_operand(
      view->map, operand_index(plan, is_left), static_cast<int>(size_of(dtype)));
  if (!operand) return std::nullopt;
  return DescribedOperand{*view, *operand};
}

bool ProductPlans::is_by_warpgroups(const Step& step) const {
  const DotPlan& plan = layouts_.plan_of(*step.op);
  return plan.is_asynchronous && layouts_.fits(*step.op) &&
         described_operand(step, false).has_value();
}

// Whether the product is added to zeros: the first instruction then sets the sums.
bool ProductPlans::starts_from_nothing(const Step& step) const {
  return ir::is_zero(kernel_, schedule_.source_of(step.op->operands[2]));
}

// Whether nobody writes what the product reads while it goes on: slots, and what is older than the
// loop.
bool ProductPlans::stays(const DescribedOperand& operand, const ir::Op* loop) const {
  const ir::Op* maker = kernel_.maker(operand.view.array);
  if (!maker || maker->kind == ir::OpKind::ReadBuffer || !loop) return true;
  bool is_inside = false;
  ir::walk(loop->regions[0], [&](const ir::Op& op) { is_inside |= &op == maker; });
  return !is_inside;
}

bool ProductPlans::reads_released(const ir::Op& product, const ir::Op& release) const {
  const std::vector<std::string>& buffers = kernel_.ring_of(release).buffers;
  return std::any_of(
      product.operands.begin(), product.operands.begin() + 2, [&](ir::Value operand) {
        const ir::Op* maker = kernel_.maker(operand);
        while (maker && (maker->kind == ir::OpKind::Permute || maker->kind == ir::OpKind::Reshape))
          maker = kernel_.maker(maker->operands[0]);
        return maker && maker->kind == ir::OpKind::ReadBuffer &&
               std::find(buffers.begin(), buffers.end(), maker->text("buffer")) != buffers.end();
      });
}

}  // namespace tilewright
