// SPDX-License-Identifier: Apache-2.0
// graph/plan/run.cpp — runs the steps of a plan.
#include <fmt/format.h>

#include "base/check.h"
#include "graph/eager/eager.h"
#include "graph/plan/plan.h"
#include "tensor/shape.h"
#include "tilewright/ops.h"

namespace tilewright::graph {
namespace {

class PlanRun {
 public:
  PlanRun(const Plan& plan, std::span<const Tensor> inputs)
      : plan_(plan), inputs_(inputs), memory_(plan.graph.nodes.size()) {}

  std::vector<Tensor> run() {
    for (const PlannedStep& step : plan_.steps) {
      if (step.node >= 0) run_operation(step);
      else run_kernel(step);
      for (const int i : step.last_read) memory_[static_cast<std::size_t>(i)] = {};
    }
    std::vector<Tensor> outputs;
    for (const Value& value : plan_.graph.outputs) outputs.push_back(memory(value.node));
    return outputs;
  }

 private:
  const Node& node(int i) const { return plan_.graph.nodes[static_cast<std::size_t>(i)]; }
  const Tensor& memory(int i) const {
    const Node& n = node(i);
    if (n.kind == Node::Kind::Input) return inputs_[static_cast<std::size_t>(n.input)];
    if (n.kind == Node::Kind::Captured) return n.captured;
    return memory_[static_cast<std::size_t>(i)];
  }

  Argument argument_of(const PlannedLeaf& leaf) const {
    Argument argument = memory(leaf.node);
    argument.bits += static_cast<std::uint64_t>(leaf.offset *
                                                static_cast<std::int64_t>(size_of(argument.dtype)));
    return argument;
  }

  Tensor view_of(int i, const Shape& shape, const Shape& strides, std::int64_t offset) const {
    const Tensor& base = memory(i);
    return Tensor(base.buffer(), base.dtype(), shape, strides, base.offset() + offset);
  }
  Tensor view_of(const Value& value) const {
    return view_of(value.node, value.shape, value.strides, value.offset);
  }

  void run_kernel(const PlannedStep& step) {
    Argument operands[max_operands];
    std::size_t count = 0;
    bool is_any = false;
    std::vector<Tensor> copies;  // live until the launch
    Walk walk = step.walk;
    if (step.needs_copies) copy_leaves(step, walk, copies);
    for (std::size_t l = 0; l < step.leaves.size(); ++l)
      operands[count++] = step.needs_copies ? Argument(copies[l]) : argument_of(step.leaves[l]);
    for (const int i : step.written) {
      Tensor& made = memory_[static_cast<std::size_t>(i)];
      made = empty(node(i).shape, {node(i).dtype, plan_.graph.device});
      is_any |= made.numel() > 0;
      operands[count++] = made;
    }
    if (is_any && walk.programs() > 0)
      run_group(*step.formula, walk, {operands, count}, step.numbers);
  }

  // Rows along dimensions that do not lie together: those of each leaf are put side by side.
  void copy_leaves(const PlannedStep& step, Walk& walk, std::vector<Tensor>& copies) const {
    walk.set_sizes(step.domain);
    for (const PlannedLeaf& leaf : step.leaves) {
      const Tensor view = view_of(leaf.node, step.domain, leaf.strides, leaf.offset);
      bool is_per_row = true;
      for (std::size_t d = 0; d < leaf.strides.size(); ++d)
        is_per_row &= (step.mask >> d & 1) == 0 || leaf.strides[d] == 0;
      copies.push_back(is_per_row ? view : with_rows_together(view, step.mask));
      walk.add_operand(step.domain, copies.back().strides());
    }
    for (const int i : step.written)
      walk.add_kept_operand(node(i).strides, step.mask, node(i).shape.size() == step.domain.size());
    const DeviceKind device =
        emulated_target() != nullptr ? DeviceKind::Cuda : plan_.graph.device.kind;
    TW_CHECK(walk.finish(step.mask, true, device), "rows that were copied lie together");
  }

  void run_operation(const PlannedStep& step) {
    const Node& n = node(step.node);
    Tensor& made = memory_[static_cast<std::size_t>(step.node)];
    std::vector<Tensor> operands;
    for (const Value& value : n.operands) operands.push_back(view_of(value));
    if (n.kind == Node::Kind::Contract)
      made = multiply_matrices(n.call, operands[0], operands[1],
                               operands.size() > 2 ? operands[2] : Tensor());
    else if (n.kind == Node::Kind::Gather) made = embedding(operands[0], operands[1]);
    else made = cat(operands, n.axis);
  }

  const Plan& plan_;
  std::span<const Tensor> inputs_;
  std::vector<Tensor> memory_;  // of nodes, while it is needed
};

}  // namespace

std::vector<Tensor> run_plan(const Plan& plan, std::span<const Tensor> inputs) {
  return PlanRun(plan, inputs).run();
}

}  // namespace tilewright::graph
