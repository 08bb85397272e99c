// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/launch_plan.cpp — blocks and grid of a shape, tensor maps of roles, conditions.
#include "codegen/cuda/launch_plan.h"

#include <utility>

#include "codegen/cuda/program_shape.h"
#include "codegen/text/names.h"
#include "ir/roles.h"

namespace tilewright {
namespace {

Parameter parameter_of(const ir::Kernel& kernel, const ir::KernelArgument& argument) {
  const ir::Type& type = kernel.type(argument.value);
  return {.name = kernel.name_of(argument.value),
          .kind = type.is_pointer ? Parameter::Kind::Pointer : Parameter::Kind::Scalar,
          .dtype = type.dtype,
          .is_const = argument.is_const};
}

// Blocks of several programs only when there are enough of them for every multiprocessor.
constexpr int blocks_per_processor = 4;

PlanExpression constant(std::int64_t value) { return {{PlanOp::Kind::Constant, value}}; }

// How many programs share a block, for a grid of that size.
PlanExpression programs_per_block(const ProgramShape& shape, int axis) {
  using Kind = PlanOp::Kind;
  return {{Kind::Grid, axis}, {Kind::Processors},  {Kind::Constant, blocks_per_processor},
          {Kind::Multiply},   {Kind::Divide},      {Kind::Constant, shape.programs},
          {Kind::Minimum},    {Kind::Constant, 1}, {Kind::Maximum}};
}

void plan_shape(const ir::Kernel& kernel, const ProgramShape& shape, LaunchStep& step) {
  using Kind = PlanOp::Kind;
  step.block[0] = constant(shape.block_threads());
  step.block[1] = constant(1);
  step.block[2] = constant(1);
  if (shape.blocks > 1) {
    step.grid[0] = {{Kind::Grid, 0}, {Kind::Constant, shape.blocks}, {Kind::Multiply}};
    step.cluster[0] = constant(shape.blocks);
    step.cluster[1] = constant(1);
    step.cluster[2] = constant(1);
  }
  if (shape.programs == 1) return;
  const int axis = first_program_axis(kernel);
  const PlanExpression programs = programs_per_block(shape, axis);
  step.block[0] = programs;
  step.block[0].push_back({Kind::Constant, shape.block_threads()});
  step.block[0].push_back({Kind::Multiply});
  step.grid[axis] = {{Kind::Grid, axis}};
  step.grid[axis].insert(step.grid[axis].end(), programs.begin(), programs.end());
  step.grid[axis].push_back({Kind::CeilDivide});
  step.parameters.push_back({.kind = KernelParameter::Kind::GridSize, .index = axis});
}

// At least so much: a map of nothing cannot be made (passes/roles/empty_maps.h).
PlanExpression number_of(const ir::LaunchNumber& number, std::int64_t times, std::int64_t least) {
  using Kind = PlanOp::Kind;
  if (number.arguments.empty()) return constant(number.factor * times);
  PlanExpression out;
  for (const int argument : number.arguments) {
    out.push_back({Kind::Argument, argument});
    if (out.size() > 1) out.push_back({Kind::Multiply});
  }
  out.push_back({Kind::Constant, number.factor * times});
  out.push_back({Kind::Multiply});
  out.push_back({Kind::Constant, least});
  out.push_back({Kind::Maximum});
  return out;
}

TensorMapPlan map_plan(const ir::Kernel& kernel, const ir::KernelMap& map, const MapBox& box) {
  const ir::Type& pointer =
      kernel.type(kernel.arguments[static_cast<std::size_t>(map.argument)].value);
  TensorMapPlan out{.dtype = pointer.dtype,
                    .swizzle_bytes = box.swizzle_bytes,
                    .rounds_to_tf32 = map.rounds_to_tf32};
  for (std::size_t d = 0; d < map.dimensions.size(); ++d) {
    out.sizes.push_back(number_of(map.dimensions[d].size, 1, 1));
    if (d > 0)
      out.strides.push_back(number_of(map.dimensions[d].stride,
                                      static_cast<std::int64_t>(size_of(pointer.dtype)), 16));
  }
  out.box = {static_cast<std::uint32_t>(box.line), static_cast<std::uint32_t>(box.lines)};
  out.box.resize(map.dimensions.size(), 1);
  return out;
}

// A producer's warps, tensor maps, and as many blocks as the machine runs at once.
void plan_roles(const ir::Kernel& kernel, std::span<const MapBox> boxes, const ProgramShape& shape,
                LaunchPlan& plan) {
  using Kind = PlanOp::Kind;
  LaunchStep& step = plan.steps.front();
  if (const ir::Op* producer = ir::producer_of(kernel))
    step.block[0] = constant(shape.block_threads() + producer->integer("warps") * shape.lanes);
  for (std::size_t i = 0; i < kernel.maps.size(); ++i) {
    const ir::KernelMap& map = kernel.maps[i];
    step.parameters.push_back({.kind = KernelParameter::Kind::TensorMap,
                               .index = map.argument,
                               .map = static_cast<int>(plan.tensor_maps.size())});
    plan.tensor_maps.push_back(map_plan(kernel, map, boxes[i]));
  }
  if (!ir::is_persistent(kernel)) return;
  step.grid[0] = {{Kind::Grid, 0}, {Kind::Processors}, {Kind::Minimum}};
  step.parameters.push_back({.kind = KernelParameter::Kind::GridSize, .index = 0});
}

// What passes took for granted of the launch.
void plan_conditions(const ir::Kernel& kernel, LaunchPlan& plan) {
  using Kind = PlanOp::Kind;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
    if (kernel.arguments[i].is_positive)
      plan.conditions.push_back(
          {{Kind::Argument, static_cast<std::int64_t>(i)}, {Kind::Constant, 0}, {Kind::Maximum}});
}

}  // namespace

KernelSource::Kernel launch_of(const ir::Kernel& kernel, const Target& target,
                               std::int64_t dynamic_bytes, std::span<const MapBox> boxes) {
  KernelSource::Kernel out;
  out.name = kernel.name;
  for (const ir::KernelArgument& argument : kernel.arguments)
    out.parameters.push_back(parameter_of(kernel, argument));
  LaunchPlan plan = direct_plan(kernel_symbol(kernel.name), kernel.arguments.size());
  LaunchStep& step = plan.steps.front();
  const ProgramShape shape = shape_of(kernel, target);
  plan_shape(kernel, shape, step);
  step.shared_bytes = constant(dynamic_bytes);
  plan_roles(kernel, boxes, shape, plan);
  plan_conditions(kernel, plan);
  out.variants.push_back(std::move(plan));
  return out;
}

}  // namespace tilewright
