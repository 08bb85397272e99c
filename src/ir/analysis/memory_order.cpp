// SPDX-License-Identifier: Apache-2.0
// ir/analysis/memory_order.cpp — origins by a fixed point, then questions about pairs of pointers.
#include "ir/analysis/memory_order.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>

#include "ir/analysis/exact_integers.h"
#include "ir/analysis/same_value.h"
#include "ir/constant.h"

namespace tilewright::ir {
namespace {

// What integers of an address are too large to be computed with here.
constexpr std::int64_t far = std::int64_t{1} << 40;

// Steps of `stride` elements, at most `most` of them either way.
struct Steps {
  std::int64_t stride, most;
};

// Whether the distance is a sum of steps, the largest strides first; `budget` bounds the search,
// and what is not found out counts as true.
bool can_reach(std::int64_t distance, std::span<const Steps> steps, int& budget) {
  if (steps.empty()) return distance == 0;
  if (--budget < 0) return true;
  std::int64_t rest = 0;  // how far the others reach
  for (const Steps& other : steps.subspan(1)) rest += other.stride * other.most;
  const auto [stride, most] = steps.front();
  const std::int64_t nearest = distance / stride;
  for (std::int64_t by = rest / stride + 1, count = nearest - by; count <= nearest + by; ++count)
    if (std::abs(count) <= most && std::abs(distance - count * stride) <= rest &&
        can_reach(distance - count * stride, steps.subspan(1), budget))
      return true;
  return false;
}

bool defines(const Region& region, Value value) {
  const auto has = [&](const std::vector<Value>& values) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  if (has(region.arguments)) return true;
  return std::any_of(region.ops.begin(), region.ops.end(), [&](const Op* op) {
    return has(op->results) || std::any_of(op->regions.begin(), op->regions.end(),
                                           [&](const Region& r) { return defines(r, value); });
  });
}

}  // namespace

bool is_access(const Kernel& kernel, const Op& op) {
  return (op.facts().has(Reads) || op.facts().has(Writes)) && !op.operands.empty() &&
         kernel.type(op.operands[0]).is_pointer;
}

// ---- Origins

bool MemoryOrder::Origin::add(const Origin& other) {
  const std::size_t before = arguments.size();
  const bool was_unknown = is_unknown;
  is_unknown |= other.is_unknown;
  std::vector<std::uint32_t> all;
  std::set_union(arguments.begin(), arguments.end(), other.arguments.begin(), other.arguments.end(),
                 std::back_inserter(all));
  arguments = std::move(all);
  return arguments.size() != before || is_unknown != was_unknown;
}

MemoryOrder::MemoryOrder(const Kernel& kernel) : kernel_(kernel), origins_(kernel.value_count()) {
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const KernelArgument& argument = kernel.arguments[i];
    origins_[argument.value.id].arguments = {static_cast<std::uint32_t>(i)};
    memories_.push_back(argument.memory >= 0 ? argument.memory : -1 - static_cast<int>(i));
  }
  // Every round of the walk carries an origin at least one loop further.
  for (bool changes = true; changes;) {
    changes = false;
    trace(kernel.body, changes);
  }
}

void MemoryOrder::unite(Value to, Value from, bool& changes) {
  if (kernel_.type(to).is_pointer && kernel_.type(from).is_pointer)
    changes |= origins_[to.id].add(origins_[from.id]);
}

void MemoryOrder::trace(const Region& region, bool& changes) {
  for (const Op* op : region.ops) trace(*op, changes);
}

void MemoryOrder::trace(const Op& op, bool& changes) {
  for (const Region& region : op.regions) trace(region, changes);
  if (op.facts().is(Family::Control)) return trace_control(op, changes);
  for (const Value result : op.results) {
    if (!kernel_.type(result).is_pointer) continue;
    Origin origin;
    bool is_handed_on = false;
    for (const Value operand : op.operands)
      if (kernel_.type(operand).is_pointer) {
        origin.add(origins_[operand.id]);
        is_handed_on = true;
      }
    origin.is_unknown |= !is_handed_on || !op.facts().has(Pure) || !op.regions.empty();
    changes |= origins_[result.id].add(origin);
  }
}

void MemoryOrder::trace_control(const Op& op, bool& changes) {
  const std::size_t count = op.results.size();
  switch (control_op(op.kind)) {
    case ControlOp::If:
    case ControlOp::Sweep:
      for (const Region& region : op.regions)
        for (std::size_t k = 0; k < count; ++k)
          unite(op.results[k], region.ops.back()->operands[k], changes);
      return;
    case ControlOp::For:
      for (std::size_t k = 0; k < count; ++k) {
        const Value carried = op.regions[0].arguments[k + 1];
        unite(carried, op.operands[k + 3], changes);
        unite(carried, op.regions[0].ops.back()->operands[k], changes);
        unite(op.results[k], carried, changes);
      }
      return;
    case ControlOp::While: {
      const Op& condition = *op.regions[0].ops.back();
      for (std::size_t k = 0; k < op.operands.size(); ++k) {
        unite(op.regions[0].arguments[k], op.operands[k], changes);
        unite(op.regions[0].arguments[k], op.regions[1].ops.back()->operands[k], changes);
      }
      for (std::size_t k = 0; k < count; ++k) {
        unite(op.regions[1].arguments[k], condition.operands[k + 1], changes);
        unite(op.results[k], condition.operands[k + 1], changes);
      }
      return;
    }
  }
}

Value MemoryOrder::argument_of(Value pointer) const {
  const Origin& origin = origins_[pointer.id];
  if (origin.is_unknown || origin.arguments.size() != 1) return {};
  return kernel_.arguments[origin.arguments.front()].value;
}

bool MemoryOrder::may_overlap(Value pointer, Value other) const {
  const Origin& a = origins_[pointer.id];
  const Origin& b = origins_[other.id];
  if (a.is_unknown || b.is_unknown) return true;
  return std::any_of(a.arguments.begin(), a.arguments.end(), [&](std::uint32_t i) {
    return std::any_of(b.arguments.begin(), b.arguments.end(),
                       [&](std::uint32_t j) { return memories_[i] == memories_[j]; });
  });
}

bool MemoryOrder::must_order(const Op& op, const Op& other) const {
  if (!is_access(kernel_, op) || !is_access(kernel_, other)) return false;
  return (op.facts().has(Writes) || other.facts().has(Writes)) &&
         may_overlap(op.operands[0], other.operands[0]);
}

// ---- Places

// Whether no address stands in the tile twice. Strides that are no constants are taken to be right.
bool MemoryOrder::is_injective(Value pointer) const {
  const Op* maker = kernel_.maker(pointer);
  while (maker && maker->facts().maps(Same | Reshaped | Permuted)) {
    pointer = maker->operands[0];
    maker = kernel_.maker(pointer);
  }
  const Type& type = kernel_.type(pointer);
  if (type.numel() == 1) return true;
  if (!maker || maker->kind != OpKind::Affine) return false;
  struct Dimension {
    std::int64_t stride, size;
  };
  std::vector<Dimension> known;
  for (int d = 0; d < type.rank; ++d) {
    const auto stride = integer_constant(kernel_, maker->operands[static_cast<std::size_t>(d) + 1]);
    if (stride && type.size(d) > 1) known.push_back({std::abs(*stride), type.size(d)});
  }
  std::sort(known.begin(), known.end(),
            [](const Dimension& a, const Dimension& b) { return a.stride < b.stride; });
  std::int64_t reached = 0;  // the last address of the dimensions so far
  for (const Dimension& dimension : known) {
    if (dimension.stride <= reached) return false;
    reached += dimension.stride * (dimension.size - 1);
  }
  return true;
}

bool MemoryOrder::is_same_place(Value pointer, Value other) const {
  const auto is_same = [&] {
    if (is_same_value(kernel_, pointer, other)) return true;
    const Op* a = kernel_.maker(pointer);
    const Op* b = kernel_.maker(other);
    return a && b && a->kind == OpKind::Affine && b->kind == OpKind::Affine &&
           a->operands == b->operands && kernel_.type(pointer) == kernel_.type(other);
  };
  return is_same() && is_injective(pointer);
}

// The integer that the op gives as it is: a hint, or a cast without loss; none for other ops.
Value MemoryOrder::handed_on(const Op& op) const {
  const auto type = [&](Value value) { return kernel_.type(value); };
  const bool is_same =
      op.kind == OpKind::Hint ||
      (op.kind == OpKind::Cast && is_exact_cast(type(op.operands[0]), type(op.result())));
  return is_same ? op.operands[0] : Value{};
}

void MemoryOrder::add_terms(Value amount, Base& base) const {
  const Op* maker = kernel_.maker(amount);
  if (const auto number = integer_constant(kernel_, amount); number && std::abs(*number) < far) {
    base.constant += *number;
    return;
  }
  // Long sums keep their last parts as they are.
  constexpr std::size_t most_terms = 64;
  if (maker && maker->kind == OpKind::Add && base.terms.size() < most_terms &&
      has_exact_sums(kernel_.type(amount))) {
    add_terms(maker->operands[0], base);
    return add_terms(maker->operands[1], base);
  }
  if (const Value same = maker ? handed_on(*maker) : Value{}) return add_terms(same, base);
  base.terms.push_back(amount.id);
}

MemoryOrder::Base MemoryOrder::base_of(Value pointer) const {
  Base base;
  const Op* maker = kernel_.maker(pointer);
  for (; maker; maker = kernel_.maker(pointer)) {
    if (maker->kind == OpKind::Offset) add_terms(maker->operands[1], base);
    else if (maker->kind != OpKind::Hint) break;
    pointer = maker->operands[0];
  }
  base.root = pointer;
  std::sort(base.terms.begin(), base.terms.end());
  return base;
}

bool MemoryOrder::is_apart(Value pointer, Value other) const {
  const Type& type = kernel_.type(pointer);
  const Op* a = kernel_.maker(pointer);
  const Op* b = kernel_.maker(other);
  const bool are_tiles = type.is_tile();
  if (type != kernel_.type(other)) return false;
  if (are_tiles && (!a || !b || a->kind != OpKind::Affine || b->kind != OpKind::Affine))
    return false;
  const Base one = base_of(are_tiles ? a->operands[0] : pointer);
  const Base two = base_of(are_tiles ? b->operands[0] : other);
  if (one.root != two.root || one.terms != two.terms) return false;
  std::vector<Steps> steps;
  for (int d = 0; are_tiles && d < type.rank; ++d) {
    const auto i = static_cast<std::size_t>(d) + 1;
    const auto stride = integer_constant(kernel_, a->operands[i]);
    if (type.size(d) == 1) continue;
    if (!stride || stride != integer_constant(kernel_, b->operands[i]) || std::abs(*stride) >= far)
      return false;
    if (*stride != 0) steps.push_back({std::abs(*stride), type.size(d) - 1});
  }
  std::sort(steps.begin(), steps.end(),
            [](const Steps& x, const Steps& y) { return x.stride > y.stride; });
  int budget = 1000;
  return !can_reach(two.constant - one.constant, steps, budget);
}

// ---- Rounds of a loop

bool MemoryOrder::is_defined_in(const Op& loop, Value value) const {
  return std::any_of(loop.regions.begin(), loop.regions.end(),
                     [&](const Region& region) { return defines(region, value); });
}

// What the pointer is made of at this element: scalars, and tiles that are not computed where they
// are needed.
std::vector<Value> MemoryOrder::bases_of(Value pointer) const {
  std::vector<Value> bases, open = {pointer};
  std::set<std::uint32_t> seen;
  while (!open.empty()) {
    const Value value = open.back();
    open.pop_back();
    if (!seen.insert(value.id).second) continue;
    const Op* maker = kernel_.maker(value);
    if (maker && kernel_.type(value).is_tile() && maker->facts().has(Pure) &&
        maker->regions.empty() && !maker->facts().is(Family::Across))
      open.insert(open.end(), maker->operands.begin(), maker->operands.end());
    else bases.push_back(value);
  }
  return bases;
}

bool MemoryOrder::is_same_in_rounds(const Op& loop, Value pointer) const {
  const std::vector<Value> bases = bases_of(pointer);
  return std::none_of(bases.begin(), bases.end(),
                      [&](Value base) { return is_defined_in(loop, base); });
}

// How many elements behind the first one the last one may be; `far` when that is not known.
std::int64_t MemoryOrder::extent_of(const Op& affine) const {
  const Type& type = kernel_.type(affine.result());
  std::int64_t extent = 0;
  for (int d = 0; d < type.rank; ++d) {
    if (type.size(d) == 1) continue;
    const auto stride = integer_constant(kernel_, affine.operands[static_cast<std::size_t>(d) + 1]);
    if (!stride || std::abs(*stride) >= far) return far;
    extent += std::abs(*stride) * (type.size(d) - 1);
    if (extent >= far) return far;
  }
  return extent;
}

// By how much a scalar grows from one round of a `for` to the next, when that is the same constant
// in every round; 0 when it is not known, or does not change.
std::int64_t MemoryOrder::step_of(const Op& loop, Value scalar) const {
  const Region& body = loop.regions[0];
  if (const Op* cast = kernel_.maker(scalar); cast && is_defined_in(loop, scalar))
    if (const Value same = handed_on(*cast)) return step_of(loop, same);
  if (!has_exact_sums(kernel_.type(scalar))) return 0;
  if (scalar == body.arguments[0]) return integer_constant(kernel_, loop.operands[2]).value_or(0);
  for (std::size_t k = 1; k < body.arguments.size(); ++k) {
    if (body.arguments[k] != scalar) continue;
    const Op* next = kernel_.maker(body.ops.back()->operands[k - 1]);
    const bool is_sum = next && (next->kind == OpKind::Offset || next->kind == OpKind::Add);
    if (!is_sum || next->operands[0] != scalar) return 0;
    return integer_constant(kernel_, next->operands[1]).value_or(0);
  }
  const Op* maker = kernel_.maker(scalar);
  if (!maker || !is_defined_in(loop, scalar)) return 0;
  const auto stays = [&](Value value) { return !is_defined_in(loop, value); };
  const auto bounded = [](std::int64_t step) { return std::abs(step) < far ? step : 0; };
  if (maker->kind == OpKind::Offset || maker->kind == OpKind::Add) {
    if (stays(maker->operands[1])) return step_of(loop, maker->operands[0]);
    return stays(maker->operands[0]) ? step_of(loop, maker->operands[1]) : 0;
  }
  if (maker->kind != OpKind::Multiply) return 0;
  const auto by = integer_constant(kernel_, maker->operands[1]);
  if (!by || std::abs(*by) >= (far >> 20)) return 0;
  const std::int64_t step = step_of(loop, maker->operands[0]);
  return std::abs(step) < (std::int64_t{1} << 20) ? bounded(step * *by) : 0;
}

// Rounds `count` apart are a multiple of the step and the distance of the bases apart: far enough
// when that is beyond the last element for every count but 0.
bool MemoryOrder::is_apart_in_rounds(const Op& loop, Value pointer, Value other) const {
  const Op* a = kernel_.maker(pointer);
  const Op* b = kernel_.maker(other);
  const bool are_tiles = kernel_.type(pointer).is_tile();
  if (loop.kind != OpKind::For || kernel_.type(pointer) != kernel_.type(other)) return false;
  if (are_tiles && (!a || !b || a->kind != OpKind::Affine || b->kind != OpKind::Affine))
    return false;
  for (std::size_t i = 1; are_tiles && i < a->operands.size(); ++i)
    if (a->operands[i] != b->operands[i] || is_defined_in(loop, a->operands[i])) return false;
  const Value from = are_tiles ? a->operands[0] : pointer;
  const Value to = are_tiles ? b->operands[0] : other;
  const Base one = base_of(from);
  const Base two = base_of(to);
  const std::int64_t step = step_of(loop, from);
  const std::int64_t extent = are_tiles ? extent_of(*a) : 0;
  if (one.root != two.root || one.terms != two.terms || step == 0 || step != step_of(loop, to) ||
      extent >= far)
    return false;
  const std::int64_t distance = two.constant - one.constant;
  const std::int64_t nearest = -distance / step;
  for (const std::int64_t count :
       {nearest - 1, nearest, nearest + 1, std::int64_t{-1}, std::int64_t{1}})
    if (count != 0 && std::abs(distance + count * step) <= extent) return false;
  return true;
}

}  // namespace tilewright::ir
