// SPDX-License-Identifier: Apache-2.0
// passes/axis_info/transfer.cpp — one function per kind of op.
#include "passes/axis_info/transfer.h"

#include <algorithm>
#include <string_view>

#include "ir/analysis/exact_integers.h"
#include "ir/interpret/tile.h"
#include "passes/axis_info/counts.h"

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Type;

using Operands = std::span<const AxisInfo* const>;

std::int64_t capped(std::int64_t number) { return std::min(number, AxisInfo::most); }

std::int64_t capped_product(std::int64_t a, std::int64_t b) {
  return a >= AxisInfo::most / b ? AxisInfo::most : a * b;
}

std::int64_t size_along(const Type& type, std::size_t d) {
  return type.is_scalar() ? 1 : type.size(static_cast<int>(d));
}

// Every element is the same, so that groups are as long as the tile.
void make_uniform(AxisInfo& info, const Type& type, std::int64_t divisor) {
  for (std::size_t d = 0; d < info.dimensions.size(); ++d)
    info.dimensions[d] = {1, divisor, size_along(type, d)};
}

AxisInfo constant_info(const Type& type, std::int64_t value) {
  AxisInfo info = unknown_info(type);
  make_uniform(info, type, power_of_two_in(value));
  info.value = value;
  info.is_not_negative = value >= 0;
  return info;
}

AxisInfo arange_info(const Op& op, const Type& type) {
  AxisInfo info = unknown_info(type);
  info.dimensions[0] = {type.size(0), power_of_two_in(op.integer("start")), 1};
  info.is_not_negative = op.integer("start") >= 0;
  return info;
}

// ---- Shapes

AxisInfo splat_info(const Type& type, const AxisInfo& scalar) {
  AxisInfo info = scalar;
  info.dimensions.assign(type.rank, {});
  make_uniform(info, type, scalar.divisor());
  return info;
}

AxisInfo broadcast_info(const Type& from, const Type& to, const AxisInfo& operand) {
  AxisInfo info = operand;
  for (int d = 0; d < to.rank; ++d)
    if (from.size(d) != to.size(d))
      info.dimensions[static_cast<std::size_t>(d)].constant = to.size(d);
  return info;
}

// A dimension that covers the same positions keeps its facts.
AxisInfo reshape_info(const Type& from, const Type& to, const AxisInfo& operand) {
  AxisInfo info = unknown_info(to);
  info.value = operand.value;
  info.is_not_negative = operand.is_not_negative;
  if (from.is_scalar() || to.is_scalar()) {
    make_uniform(info, to, operand.divisor());
    return info;
  }
  for (AxisFacts& facts : info.dimensions) facts.divisible = operand.divisor();
  int to_bit = 0;
  for (std::size_t e = to.rank; e-- > 0; to_bit += to.log_sizes[e]) {
    int from_bit = 0;
    for (std::size_t d = from.rank; d-- > 0; from_bit += from.log_sizes[d])
      if (to.log_sizes[e] > 0 && from_bit == to_bit && from.log_sizes[d] == to.log_sizes[e])
        info.dimensions[e] = operand.dimensions[d];
  }
  return info;
}

AxisInfo permute_info(const Op& op, const AxisInfo& operand) {
  AxisInfo info = operand;
  const std::vector<std::int64_t> order = op.integers("order");
  for (std::size_t d = 0; d < order.size(); ++d)
    info.dimensions[d] = operand.dimensions[static_cast<std::size_t>(order[d])];
  return info;
}

// What wraps in its type may be negative, and grows by 1 only where it is aligned: 127 + 1 of 8
// bits is -128.
AxisInfo wrapped_info(const Type& type, AxisInfo info) {
  if (ir::has_exact_sums(type) || !type.is_int()) return info;
  info.is_not_negative &= !is_signed(type.dtype);
  const std::int64_t half = std::int64_t{1} << (8 * size_of(type.dtype) - 1);
  for (AxisFacts& facts : info.dimensions) {
    const std::int64_t least = std::min({facts.contiguous, facts.divisible, half});
    if (least == facts.contiguous) continue;
    facts.contiguous = least;
    facts.divisible = std::min(facts.divisible, least);
  }
  return info;
}

// ---- Arithmetic

// a + b, a - b, pointer + b elements of `scale` bytes
AxisInfo sum_info(const Op& op, const AxisInfo& a, const AxisInfo& b, std::int64_t scale) {
  AxisInfo info = a;
  info.value.reset();
  info.is_not_negative = op.kind != OpKind::Subtract && a.is_not_negative && b.is_not_negative;
  for (std::size_t d = 0; d < info.dimensions.size(); ++d) {
    const AxisFacts& left = a.dimensions[d];
    const AxisFacts& right = b.dimensions[d];
    AxisFacts& facts = info.dimensions[d];
    facts.constant = std::min(left.constant, right.constant);
    facts.contiguous = std::min(left.contiguous, right.constant);
    if (op.kind != OpKind::Subtract)
      facts.contiguous = std::max(facts.contiguous, std::min(left.constant, right.contiguous));
    facts.divisible = std::min(a.divisor_at(d, facts.contiguous),
                               capped_product(b.divisor_at(d, facts.contiguous), scale));
  }
  return info;
}

// Nothing grows by 1 any more; what is equal stays equal.
AxisInfo elementwise_info(const AxisInfo& a, const AxisInfo& b, std::int64_t divisor) {
  AxisInfo info = a;
  info.value.reset();
  info.is_not_negative = a.is_not_negative && b.is_not_negative;
  for (std::size_t d = 0; d < info.dimensions.size(); ++d)
    info.dimensions[d] = {1, divisor, std::min(a.dimensions[d].constant, b.dimensions[d].constant)};
  return info;
}

AxisInfo product_info(const AxisInfo& a, const AxisInfo& b) {
  if (b.value == 1) return a;
  if (a.value == 1) return b;
  return elementwise_info(a, b, capped_product(a.divisor(), b.divisor()));
}

AxisInfo shift_left_info(const Type& type, const AxisInfo& a, const AxisInfo& b) {
  if (!b.value || *b.value < 0 || *b.value > 30) return elementwise_info(a, b, a.divisor());
  return product_info(a, constant_info(type, std::int64_t{1} << *b.value));
}

// x / c: of a contiguous group that starts at a multiple of c, every c elements are equal.
AxisInfo quotient_info(const AxisInfo& a, const AxisInfo& b, bool keeps_sign) {
  if (b.value == 1) return a;
  AxisInfo info = elementwise_info(a, b, 1);
  info.is_not_negative = a.is_not_negative && keeps_sign;
  const bool is_power = b.value && *b.value > 0 && power_of_two_in(*b.value) == *b.value;
  if (!is_power) return info;
  for (std::size_t d = 0; d < info.dimensions.size(); ++d) {
    AxisFacts& facts = info.dimensions[d];
    const AxisFacts& from = a.dimensions[d];
    facts.divisible = std::max<std::int64_t>(1, a.divisor() / *b.value);
    if (!a.is_not_negative) continue;
    facts.constant =
        std::max(facts.constant, std::min({from.contiguous, from.divisible, *b.value}));
  }
  return info;
}

// x % n: groups that neither cross a multiple of n nor start elsewhere than at one stay contiguous.
// Of a negative x that is not so: the remainders of -96, -95, .. by 48 are 0, -47, ..
AxisInfo remainder_info(const AxisInfo& a, const AxisInfo& b) {
  AxisInfo info = elementwise_info(a, b, std::min(a.divisor(), b.divisor()));
  info.is_not_negative = a.is_not_negative;
  if (!a.is_not_negative) return info;
  for (std::size_t d = 0; d < info.dimensions.size(); ++d) {
    const AxisFacts& from = a.dimensions[d];
    const std::int64_t group =
        std::min({from.contiguous, from.divisible, b.divisor(), b.dimensions[d].constant});
    if (group == 1) continue;
    info.dimensions[d].contiguous = group;
    info.dimensions[d].divisible = std::min(a.divisor_at(d, group), b.divisor());
  }
  return info;
}

AxisInfo select_info(const AxisInfo& condition, const AxisInfo& a, const AxisInfo& b) {
  AxisInfo info = join(a, b);
  for (std::size_t d = 0; d < info.dimensions.size(); ++d) {
    AxisFacts& facts = info.dimensions[d];
    const std::int64_t same = condition.dimensions[d].constant;
    facts.constant = std::min(facts.constant, same);
    const std::int64_t contiguous = std::min(facts.contiguous, same);
    facts.divisible = info.divisor_at(d, contiguous);
    facts.contiguous = contiguous;
  }
  return info;
}

// i < n for groups that start at multiples of what divides n: all of a group or none of it.
AxisInfo compare_info(const Op& op, const AxisInfo& a, const AxisInfo& b) {
  AxisInfo info = elementwise_info(a, b, 1);
  const std::string_view is = op.text("is");
  const AxisInfo* index = is == "lt" || is == "ge" ? &a : is == "gt" || is == "le" ? &b : nullptr;
  if (!index) return info;
  const AxisInfo& limit = index == &a ? b : a;
  for (std::size_t d = 0; d < info.dimensions.size(); ++d) {
    const AxisFacts& from = index->dimensions[d];
    const std::int64_t group =
        std::min({from.contiguous, from.divisible, limit.divisor(), limit.dimensions[d].constant});
    info.dimensions[d].constant = std::max(info.dimensions[d].constant, group);
  }
  return info;
}

AxisInfo hint_info(const Op& op, const AxisInfo& operand) {
  AxisInfo info = operand;
  const auto raise = [&](std::string_view name, std::int64_t AxisFacts::*fact) {
    const std::vector<std::int64_t> promised = op.integers(name);
    for (std::size_t d = 0; d < std::min(promised.size(), info.dimensions.size()); ++d)
      if (promised[d] > 0)
        info.dimensions[d].*fact =
            std::max(info.dimensions[d].*fact, capped(power_of_two_in(promised[d])));
  };
  raise("divisible", &AxisFacts::divisible);
  raise("contiguous", &AxisFacts::contiguous);
  raise("constant", &AxisFacts::constant);
  return info;
}

// ---- Access forms

AxisInfo affine_info(const Type& type, Operands operands) {
  AxisInfo info = unknown_info(type);
  const std::int64_t scale = type.is_pointer ? static_cast<std::int64_t>(size_of(type.dtype)) : 1;
  for (std::size_t d = 0; d < info.dimensions.size(); ++d) {
    AxisFacts& facts = info.dimensions[d];
    const std::int64_t size = size_along(type, d);
    if (operands[d + 1]->value == 1) facts.contiguous = size;
    if (operands[d + 1]->value == 0) facts.constant = size;
    facts.divisible = operands[0]->divisor();
    for (std::size_t e = 0; e < info.dimensions.size(); ++e)
      if (size_along(type, e) > 1 && (e != d || facts.contiguous == 1))
        facts.divisible =
            std::min(facts.divisible, capped_product(operands[e + 1]->divisor(), scale));
  }
  return info;
}

AxisInfo bounds_info(const Type& type, Operands operands) {
  AxisInfo info = unknown_info(type);
  for (std::size_t d = 0; d < info.dimensions.size(); ++d)
    info.dimensions[d].constant =
        std::min({size_along(type, d), operands[2 * d]->divisor(), operands[2 * d + 1]->divisor()});
  return info;
}

AxisInfo cast_info(const Type& from, const Type& to, const AxisInfo& operand) {
  if (from.is_float() || to.is_float() || from.is_bool() || to.is_bool()) return unknown_info(to);
  AxisInfo info = operand;
  if (info.value && !to.is_pointer) info.value = ir::wrap(to.dtype, *info.value);
  const bool loses_sign_alone =
      info.is_not_negative && !is_signed(to.dtype) && to.element_bytes() >= from.element_bytes();
  if (!from.is_pointer && !to.is_pointer && !ir::is_exact_cast(from, to) && !loses_sign_alone) {
    info.is_not_negative &= !is_signed(to.dtype);
    info = wrapped_info(to, info);
  }
  if (from.is_pointer == to.is_pointer && (!to.is_pointer || from.dtype == to.dtype)) return info;
  // Elements of another size, or numbers instead: they no longer grow by 1.
  for (std::size_t d = 0; d < info.dimensions.size(); ++d) {
    if (info.dimensions[d].contiguous == 1) continue;
    info.dimensions[d].divisible = 1;
    info.dimensions[d].contiguous = 1;
  }
  return info;
}

}  // namespace

AxisInfo unknown_info(const Type& type) {
  AxisInfo info;
  info.dimensions.assign(std::max<std::size_t>(type.rank, 1), {});
  return info;
}

AxisInfo join(const AxisInfo& a, const AxisInfo& b) {
  AxisInfo info = a;
  if (a.value != b.value) info.value.reset();
  info.is_not_negative = a.is_not_negative && b.is_not_negative;
  for (std::size_t d = 0; d < info.dimensions.size(); ++d) {
    AxisFacts& facts = info.dimensions[d];
    facts.contiguous = std::min(a.dimensions[d].contiguous, b.dimensions[d].contiguous);
    facts.constant = std::min(a.dimensions[d].constant, b.dimensions[d].constant);
    facts.divisible =
        std::min(a.divisor_at(d, facts.contiguous), b.divisor_at(d, facts.contiguous));
  }
  return info;
}

namespace {

AxisInfo source_info(const Op& op, const Type& type) {
  switch (ir::source_op(op.kind)) {
    case ir::SourceOp::Constant:
      return type.is_pointer ? unknown_info(type)
                             : constant_info(type, ir::wrap(type.dtype, op.integer("value")));
    case ir::SourceOp::ProgramId:
    case ir::SourceOp::NumPrograms:
    case ir::SourceOp::NumBlocks: {
      AxisInfo info = unknown_info(type);
      info.is_not_negative = true;
      return info;
    }
    case ir::SourceOp::IsProducer:
      return unknown_info(type);
    case ir::SourceOp::Arange:
      return arange_info(op, type);
  }
  return unknown_info(type);
}

AxisInfo view_info(const Kernel& kernel, const Op& op, const Type& type, Operands in) {
  switch (ir::view_op(op.kind)) {
    case ir::ViewOp::Splat:
      return splat_info(type, *in[0]);
    case ir::ViewOp::Broadcast:
      return broadcast_info(kernel.type(op.operands[0]), type, *in[0]);
    case ir::ViewOp::Reshape:
      return reshape_info(kernel.type(op.operands[0]), type, *in[0]);
    case ir::ViewOp::Permute:
      return permute_info(op, *in[0]);
    case ir::ViewOp::Hint:
      return hint_info(op, *in[0]);
    case ir::ViewOp::Affine:
      return affine_info(type, in);
    case ir::ViewOp::Bounds:
      return bounds_info(type, in);
    case ir::ViewOp::Join:
    case ir::ViewOp::Split:
      break;
  }
  return unknown_info(type);
}

AxisInfo computed_info(const Kernel& kernel, const Op& op, const Type& type, Operands in) {
  switch (ir::elementwise_op(op.kind)) {
    case ir::ElementwiseOp::Add:
    case ir::ElementwiseOp::Subtract:
      return wrapped_info(type, sum_info(op, *in[0], *in[1], 1));
    case ir::ElementwiseOp::Offset:
      return sum_info(op, *in[0], *in[1], static_cast<std::int64_t>(size_of(type.dtype)));
    case ir::ElementwiseOp::Multiply:
      return wrapped_info(type, product_info(*in[0], *in[1]));
    case ir::ElementwiseOp::ShiftLeft:
      return wrapped_info(type, shift_left_info(type, *in[0], *in[1]));
    case ir::ElementwiseOp::Divide:
      return quotient_info(*in[0], *in[1], keeps_sign(kernel, op));
    case ir::ElementwiseOp::Remainder:
      return remainder_info(*in[0], *in[1]);
    case ir::ElementwiseOp::Minimum:
    case ir::ElementwiseOp::Maximum:
    case ir::ElementwiseOp::Or:
    case ir::ElementwiseOp::Xor:
      return elementwise_info(*in[0], *in[1], std::min(in[0]->divisor(), in[1]->divisor()));
    case ir::ElementwiseOp::And:
      return elementwise_info(*in[0], *in[1], std::max(in[0]->divisor(), in[1]->divisor()));
    case ir::ElementwiseOp::Negate:
    case ir::ElementwiseOp::Absolute: {
      AxisInfo info = elementwise_info(*in[0], *in[0], in[0]->divisor());
      info.is_not_negative = op.kind == OpKind::Absolute;
      return wrapped_info(type, info);
    }
    case ir::ElementwiseOp::Select:
      return select_info(*in[0], *in[1], *in[2]);
    case ir::ElementwiseOp::Compare:
      return compare_info(op, *in[0], *in[1]);
    case ir::ElementwiseOp::Cast:
      return cast_info(kernel.type(op.operands[0]), type, *in[0]);
    case ir::ElementwiseOp::MultiplyHigh:
    case ir::ElementwiseOp::ShiftRight:
    case ir::ElementwiseOp::Fma:
    case ir::ElementwiseOp::Bitcast:
    case ir::ElementwiseOp::InlineAsm:
    case ir::ElementwiseOp::Math:
      break;
  }
  return unknown_info(type);
}

}  // namespace

AxisInfo transfer(const Kernel& kernel, const Op& op, Operands in) {
  const Type& type = kernel.type(op.results.front());
  const ir::OpFacts& facts = op.facts();
  if (type.is_float()) return unknown_info(type);
  if (facts.is(ir::Family::Source)) return source_info(op, type);
  if (facts.is(ir::Family::View)) return view_info(kernel, op, type, in);
  if (facts.is(ir::Family::Elementwise)) return computed_info(kernel, op, type, in);
  return unknown_info(type);
}

}  // namespace tilewright
