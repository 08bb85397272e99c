// SPDX-License-Identifier: Apache-2.0
// graph/plan/run.cpp — runs the steps of a plan.
#include "graph/plan/run.h"

#include <fmt/format.h>

#include "base/check.h"
#include "graph/call.h"
#include "graph/eager/eager.h"
#include "tensor/shape.h"
#include "tilewright/ops.h"

namespace tilewright::graph {
namespace {

const Node& node_of(const PlanRun& run, int i) {
  return run.plan.graph.nodes[static_cast<std::size_t>(i)];
}

Argument argument_of(const PlanRun& run, const PlannedStep& step, std::size_t l) {
  const PlannedLeaf& leaf = step.leaves[l];
  if (step.formula->leaves[l % step.formula->leaves.size()].is_place) return leaf.offset;
  Argument argument = memory_of(run, leaf.node);
  argument.bits +=
      static_cast<std::uint64_t>(leaf.offset * static_cast<std::int64_t>(size_of(argument.dtype)));
  return argument;
}

Tensor view_of(const PlanRun& run, int i, const Shape& shape, const Shape& strides,
               std::int64_t offset) {
  const Tensor& base = memory_of(run, i);
  return Tensor(base.buffer(), base.dtype(), shape, strides, base.offset() + offset);
}

Tensor& written_memory(PlanRun& run, int node) {
  Tensor& made = run.memory[static_cast<std::size_t>(node)];
  if (!made.is_defined())
    made = empty(node_of(run, node).shape, {node_of(run, node).dtype, run.plan.graph.device});
  return made;
}

void run_merged(PlanRun& run, const PlannedStep& step) {
  const std::size_t lists = step.sizes.size();
  const std::size_t leaves = step.leaves.size() / lists, written = step.written.size() / lists;
  std::vector<Argument> operands;
  for (std::size_t list = 0; list < lists; ++list) {
    for (std::size_t l = 0; l < leaves; ++l)
      operands.push_back(argument_of(run, step, list * leaves + l));
    for (std::size_t w = 0; w < written; ++w)
      operands.emplace_back(written_memory(run, step.written[list * written + w]));
  }
  run_lists(*step.formula, step.full_walk(), operands, step.numbers, step.sizes);
}

void run_kernel(PlanRun& run, const PlannedStep& step) {
  if (!step.sizes.empty()) return run_merged(run, step);
  bool is_any = false;
  for (const int i : step.written) is_any |= written_memory(run, i).numel() > 0;
  if (!is_any) return;
  Argument operands[max_operands];
  std::size_t count = 0;
  const Walk walk = step.full_walk();
  for (std::size_t l = 0; l < step.leaves.size(); ++l)
    operands[count++] = argument_of(run, step, l);
  for (const int i : step.written) operands[count++] = written_memory(run, i);
  if (walk.programs() > 0)
    run_group(*step.formula, walk, {operands, count}, step.numbers, step.num_warps);
}

void run_operation(PlanRun& run, const PlannedStep& step) {
  const Node& n = node_of(run, step.node);
  Tensor& made = run.memory[static_cast<std::size_t>(step.node)];
  std::vector<Tensor> operands;
  for (const Value& value : n.operands)
    operands.push_back(view_of(run, value.node, value.shape, value.strides, value.offset));
  if (n.kind == Node::Kind::Contract) {
    const ContractChoice chosen(step.blocks);
    made = multiply_matrices(n.call, operands[0], operands[1],
                             operands.size() > 2 ? operands[2] : Tensor());
    return;
  }
  // These do more than launch kernels: they look at indices (on the CPU), draw numbers, copy.
  if (n.kind != Node::Kind::Gather || run.plan.graph.device.is_cpu()) note_foreign_call();
  if (n.kind == Node::Kind::Call) made = run_call(n, operands, run.plan.graph.device);
  else if (n.kind == Node::Kind::Gather) made = embedding(operands[0], operands[1]);
  else made = cat(operands, n.axis);
}

}  // namespace

const Tensor& memory_of(const PlanRun& run, int node) {
  const Node& n = node_of(run, node);
  if (n.kind == Node::Kind::Input) return run.inputs[static_cast<std::size_t>(n.input)];
  if (n.kind == Node::Kind::Captured) return n.captured;
  return run.memory[static_cast<std::size_t>(node)];
}

void run_step(PlanRun& run, const PlannedStep& step) {
  if (step.node >= 0) run_operation(run, step);
  else run_kernel(run, step);
}

std::vector<Tensor> run_plan(const Plan& plan, std::span<Tensor> inputs) {
  PlanRun run(plan, inputs);
  for (const PlannedStep& step : plan.steps) {
    run_step(run, step);
    for (const int i : step.last_inputs) inputs[static_cast<std::size_t>(i)] = {};
    for (const int i : step.last_read) run.memory[static_cast<std::size_t>(i)] = {};
  }
  return results_of(run);
}

std::vector<Tensor> results_of(const PlanRun& run) {
  std::vector<Tensor> results;
  for (const Value& value : run.plan.graph.outputs) {
    const Tensor& made = memory_of(run, value.node);
    const bool is_whole = value.shape == made.shape();
    results.push_back(is_whole ? made : view_of(run, value.node, value.shape, value.strides, 0));
  }
  return results;
}

}  // namespace tilewright::graph
