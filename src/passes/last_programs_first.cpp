// SPDX-License-Identifier: Apache-2.0
// passes/last_programs_first.cpp — how bounds of loops move with a program's number.
#include "passes/last_programs_first.h"

#include <algorithm>
#include <map>

#include "ir/builder.h"
#include "ir/constant.h"
#include "passes/persist_programs.h"

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Type;
using ir::Value;

constexpr int axis_count = 3;

enum class Growth { None, Up, Down, Unknown };

Growth opposite(Growth growth) {
  return growth == Growth::Up ? Growth::Down : growth == Growth::Down ? Growth::Up : growth;
}

Growth both(Growth a, Growth b) {
  if (a == Growth::None || a == b) return b;
  return b == Growth::None ? a : Growth::Unknown;
}

class GrowthFinder {
 public:
  GrowthFinder(const Kernel& kernel, int axis) : kernel_(kernel), axis_(axis) {}

  // Of how many rounds the loop has.
  Growth of_rounds(const Op& loop) const {
    if (ir::integer_constant(kernel_, loop.operands[2]).value_or(0) <= 0) return Growth::Unknown;
    return both(of(loop.operands[1], 0), opposite(of(loop.operands[0], 0)));
  }

 private:
  Growth of(Value value, int depth) const {
    const Op* op = kernel_.maker(value);
    if (op == nullptr) return is_argument(value) ? Growth::None : Growth::Unknown;
    if (depth > 16) return Growth::Unknown;
    const auto operand = [&](std::size_t i) { return of(op->operands[i], depth + 1); };
    const OpKind kind = op->kind;
    if (kind == OpKind::ProgramId) return op->integer("axis") == axis_ ? Growth::Up : Growth::None;
    if (kind == OpKind::Cast || kind == OpKind::Hint) return operand(0);
    if (kind == OpKind::Add) return both(operand(0), operand(1));
    if (kind == OpKind::Minimum || kind == OpKind::Maximum) return both(operand(0), operand(1));
    if (kind == OpKind::Subtract) return both(operand(0), opposite(operand(1)));
    if (kind == OpKind::Multiply || kind == OpKind::Divide)
      return of_scaled(*op, operand(0), operand(1));
    return is_fixed(*op, depth) ? Growth::None : Growth::Unknown;
  }

  // By a number above 0; what is the same in all programs stays so.
  Growth of_scaled(const Op& op, Growth left, Growth right) const {
    if (left == Growth::None && right == Growth::None) return Growth::None;
    if (ir::integer_constant(kernel_, op.operands[1]).value_or(0) > 0) return left;
    const bool is_times = op.kind == OpKind::Multiply;
    return is_times && ir::integer_constant(kernel_, op.operands[0]).value_or(0) > 0
               ? right
               : Growth::Unknown;
  }

  bool is_fixed(const Op& op, int depth) const {
    const bool is_computed = op.facts().is(ir::Family::Elementwise) && op.facts().has(ir::Pure);
    const bool is_given = op.facts().is(ir::Family::Source) && op.kind != OpKind::IsProducer;
    return (is_computed || is_given) &&
           std::all_of(op.operands.begin(), op.operands.end(),
                       [&](Value value) { return of(value, depth + 1) == Growth::None; });
  }

  bool is_argument(Value value) const {
    return std::any_of(kernel_.arguments.begin(), kernel_.arguments.end(),
                       [&](const ir::KernelArgument& a) { return a.value == value; });
  }

  const Kernel& kernel_;
  const int axis_;
};

bool grows_along(const Kernel& kernel, int axis) {
  const GrowthFinder finder(kernel, axis);
  bool grows = false, is_clear = true;
  for (const Op* op : kernel.body.ops) {
    if (op->kind != OpKind::For) continue;
    const Growth growth = finder.of_rounds(*op);
    grows |= growth == Growth::Up;
    is_clear &= growth != Growth::Down;
  }
  return grows && is_clear;
}

// Behind each `program_id` of the region along these axes: its number from the other end.
void turn_numbers(Kernel& kernel, Region& region, const std::vector<int>& axes,
                  std::map<std::uint32_t, Value>& turned) {
  ir::Builder build(kernel);
  const Type number = Type::scalar(i32);
  for (std::size_t i = 0; i < region.ops.size(); ++i) {
    Op& op = *region.ops[i];
    for (Value& operand : op.operands)
      if (const auto found = turned.find(operand.id); found != turned.end())
        operand = found->second;
    for (Region& inner : op.regions) turn_numbers(kernel, inner, axes, turned);
    if (op.kind != OpKind::ProgramId) continue;
    const std::int64_t axis = op.integer("axis");
    if (std::find(axes.begin(), axes.end(), static_cast<int>(axis)) == axes.end()) continue;
    Region behind;
    build.set_location(op.location);
    {
      const ir::Builder::Into into(build, behind);
      const Value count = build.create_one(OpKind::NumPrograms, {}, number, {{"axis", axis}});
      const Value last =
          build.binary(OpKind::Subtract, count, build.constant(number, std::int64_t{1}));
      turned[op.result().id] = build.binary(OpKind::Subtract, last, op.result());
    }
    kernel.set_name(turned[op.result().id], kernel.name_of(op.result()));
    kernel.set_name(op.result(), "block");
    const auto at = region.ops.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    region.ops.insert(at, behind.ops.begin(), behind.ops.end());
    i += behind.ops.size();
  }
}

}  // namespace

std::vector<int> find_growing_axes(const Kernel& kernel) {
  bool may_change_places = true;
  ir::walk(kernel.body, [&](const Op& op) { may_change_places &= may_stand_beside_roles(op); });
  std::vector<int> axes;
  for (int axis = 0; may_change_places && axis < axis_count; ++axis)
    if (grows_along(kernel, axis)) axes.push_back(axis);
  return axes;
}

void number_from_last(Kernel& kernel, const std::vector<int>& axes) {
  std::map<std::uint32_t, Value> turned;
  turn_numbers(kernel, kernel.body, axes, turned);
}

void last_programs_first(Kernel& kernel, const Target& target) {
  if (target.has(Feature::Threads) && kernel.stage == ir::Stage::Tile)
    number_from_last(kernel, find_growing_axes(kernel));
}

}  // namespace tilewright
