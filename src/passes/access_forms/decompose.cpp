// SPDX-License-Identifier: Apache-2.0
// passes/access_forms/decompose.cpp — integer and pointer tiles.
#include "passes/access_forms/decompose.h"

#include <algorithm>

#include "ir/interpret/tile.h"

namespace tilewright {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Type;
using ir::Value;

bool is_wide_signed(DType dtype) { return dtype == DType::Int32 || dtype == DType::Int64; }

bool is_uniform(const Linear& linear) {
  return std::all_of(linear.strides.begin(), linear.strides.end(),
                     [](const Sum& stride) { return stride.is(0); });
}

struct Range {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

// Of a tile whose base and strides are constants of moderate size.
std::optional<Range> range_of(const Linear& linear, const Type& type) {
  constexpr std::int64_t big = std::int64_t{1} << 40;  // so that no sum here overflows
  const auto is_moderate = [&](const Sum& sum) {
    return sum.is_constant() && sum.constant() > -big && sum.constant() < big;
  };
  if (!is_moderate(linear.base)) return std::nullopt;
  Range range{linear.base.constant(), linear.base.constant()};
  for (std::size_t d = 0; d < linear.strides.size(); ++d) {
    if (!is_moderate(linear.strides[d])) return std::nullopt;
    const std::int64_t extent = linear.strides[d].constant() * (type.size(static_cast<int>(d)) - 1);
    (extent < 0 ? range.least : range.most) += extent;
  }
  return range;
}

bool fits(const Linear& linear, const Type& type) {
  const std::optional<Range> range = range_of(linear, type);
  if (!range) return false;
  const int bits = static_cast<int>(8 * size_of(type.dtype));
  if (bits == 64) return is_signed(type.dtype) || range->least >= 0;
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  return is_signed(type.dtype) ? range->least >= -half && range->most < half
                               : range->least >= 0 && range->most < 2 * half;
}

}  // namespace

std::optional<Linear> Decomposer::integers(Value tile) {
  if (const auto found = known_.find(tile.id); found != known_.end()) return found->second;
  std::optional<Linear> linear;
  if (type(tile).is_int()) linear = find_integers(tile);
  if (linear)
    for (int d = 0; d < type(tile).rank; ++d)
      if (type(tile).size(d) == 1) linear->strides[static_cast<std::size_t>(d)] = 0;
  known_.emplace(tile.id, linear);
  return linear;
}

std::optional<Linear> Decomposer::find_integers(Value tile) {
  const Op* op = kernel_.maker(tile);
  if (!op) return std::nullopt;
  const std::size_t rank = type(tile).rank;
  const ir::OpFacts& facts = op->facts();
  if (facts.is(ir::Family::Elementwise)) return computed(*op);
  if (facts.maps(ir::Repeated | ir::Same)) return integers(op->operands[0]);
  if (facts.maps(ir::Reshaped | ir::Permuted)) {
    const auto from = integers(op->operands[0]);
    return from ? reshaped(*from, *op) : std::nullopt;
  }
  const DType dtype = type(tile).dtype;
  if (facts.maps(ir::Alike)) {
    if (dtype == DType::UInt64 && op->integer("value") < 0) return std::nullopt;
    return Linear{ir::wrap(dtype, op->integer("value")), std::vector<Sum>(rank)};
  }
  if (facts.maps(ir::Spread)) {
    if (dtype == DType::UInt64) return std::nullopt;  // has values beyond i64
    return Linear{Sum::of(kernel_, op->operands[0]), std::vector<Sum>(rank)};
  }
  if (op->kind == OpKind::Arange) return Linear{op->integer("start"), {1}};
  if (op->kind != OpKind::Affine || !is_wide_signed(dtype)) return std::nullopt;
  Linear linear{Sum::of(kernel_, op->operands[0]), {}};
  for (std::size_t d = 0; d < rank; ++d)
    linear.strides.push_back(Sum::of(kernel_, op->operands[d + 1]));
  return linear;
}

std::optional<Linear> Decomposer::computed(const Op& op) {
  switch (ir::elementwise_op(op.kind)) {
    case ir::ElementwiseOp::Add:
    case ir::ElementwiseOp::Subtract:
    case ir::ElementwiseOp::Negate:
      return arithmetic(op);
    case ir::ElementwiseOp::Multiply:
    case ir::ElementwiseOp::ShiftLeft:
      return scaled(op);
    case ir::ElementwiseOp::Cast:
      return cast(op);
    case ir::ElementwiseOp::Remainder:
      return remainder(op);
    case ir::ElementwiseOp::MultiplyHigh:
    case ir::ElementwiseOp::Divide:
    case ir::ElementwiseOp::Minimum:
    case ir::ElementwiseOp::Maximum:
    case ir::ElementwiseOp::And:
    case ir::ElementwiseOp::Or:
    case ir::ElementwiseOp::Xor:
    case ir::ElementwiseOp::ShiftRight:
    case ir::ElementwiseOp::Absolute:
    case ir::ElementwiseOp::Fma:
    case ir::ElementwiseOp::Compare:
    case ir::ElementwiseOp::Select:
    case ir::ElementwiseOp::Bitcast:
    case ir::ElementwiseOp::InlineAsm:
    case ir::ElementwiseOp::Math:
    case ir::ElementwiseOp::Offset:
      break;
  }
  return std::nullopt;
}

// a + b, a - b, -a
std::optional<Linear> Decomposer::arithmetic(const Op& op) {
  const auto first = integers(op.operands[0]);
  const auto second = op.operands.size() > 1 ? integers(op.operands[1]) : first;
  if (!first || !second) return std::nullopt;
  const std::int64_t left = op.kind == OpKind::Negate ? 0 : 1;
  const std::int64_t right = op.kind == OpKind::Add ? 1 : -1;
  Linear out{first->base * left + second->base * right, {}};
  for (std::size_t d = 0; d < first->strides.size(); ++d)
    out.strides.push_back(first->strides[d] * left + second->strides[d] * right);
  const Type& result = type(op.results.front());
  if (!is_wide_signed(result.dtype) && !fits(out, result)) return std::nullopt;
  return out;
}

// a * uniform, a << constant
std::optional<Linear> Decomposer::scaled(const Op& op) {
  auto tile = integers(op.operands[0]);
  auto factor = integers(op.operands[1]);
  if (!tile || !factor) return std::nullopt;
  if (op.kind == OpKind::ShiftLeft) {
    if (!is_uniform(*factor) || !factor->base.is_constant()) return std::nullopt;
    const std::int64_t amount = factor->base.constant();
    if (amount < 0 || amount > 30) return std::nullopt;
    factor->base = std::int64_t{1} << amount;
  }
  if (!is_uniform(*factor)) std::swap(tile, factor);
  if (!is_uniform(*factor)) return std::nullopt;
  Linear out{sums_.multiply(tile->base, factor->base), {}};
  for (const Sum& stride : tile->strides)
    out.strides.push_back(sums_.multiply(stride, factor->base));
  const Type& result = type(op.results.front());
  if (!is_wide_signed(result.dtype) && !fits(out, result)) return std::nullopt;
  return out;
}

// Casts that keep every value: wider ones, and others where constants show it.
std::optional<Linear> Decomposer::cast(const Op& op) {
  const auto from = integers(op.operands[0]);
  if (!from) return std::nullopt;
  const Type& to = type(op.results.front());
  const Type& source = type(op.operands[0]);
  const bool is_wider = to.element_bytes() > source.element_bytes() ||
                        (to.element_bytes() == source.element_bytes() &&
                         is_signed(to.dtype) == is_signed(source.dtype));
  const bool keeps_values = is_wider && (is_signed(to.dtype) || !is_signed(source.dtype));
  if (keeps_values || fits(*from, to)) return from;
  return std::nullopt;
}

// x % n where constants show that x is in 0 .. n-1
std::optional<Linear> Decomposer::remainder(const Op& op) {
  const auto value = integers(op.operands[0]);
  const auto divisor = integers(op.operands[1]);
  if (!value || !divisor || !is_uniform(*divisor) || !divisor->base.is_constant())
    return std::nullopt;
  const auto range = range_of(*value, type(op.results.front()));
  if (!range || range->least < 0 || range->most >= divisor->base.constant()) return std::nullopt;
  return value;
}

// Sizes are powers of two, so a row-major position is a string of bits: bit b of dimension d has
// the weight stride_d * 2^b. A dimension of the result is affine when its bits' weights double.
std::optional<Linear> Decomposer::reshaped(const Linear& from, const Op& op) const {
  const Type& source = type(op.operands[0]);
  const Type& result = type(op.results.front());
  Linear out{from.base, std::vector<Sum>(result.rank)};
  if (op.kind == OpKind::Permute) {
    const std::vector<std::int64_t> order = op.integers("order");
    for (std::size_t d = 0; d < order.size(); ++d)
      out.strides[d] = from.strides[static_cast<std::size_t>(order[d])];
    return out;
  }
  std::vector<Sum> weights;
  for (std::size_t d = source.rank; d-- > 0;)
    for (int bit = 0; bit < source.log_sizes[d]; ++bit)
      weights.push_back(from.strides[d] * (std::int64_t{1} << bit));
  std::size_t at = 0;
  for (std::size_t d = result.rank; d-- > 0;) {
    const int bits = result.log_sizes[d];
    if (bits > 0) out.strides[d] = weights[at];
    for (int bit = 0; bit < bits; ++bit, ++at)
      if (weights[at] != out.strides[d] * (std::int64_t{1} << bit)) return std::nullopt;
  }
  return out;
}

std::optional<PointerForm> Decomposer::pointers(Value tile) {
  const Op* op = kernel_.maker(tile);
  if (!op) return std::nullopt;
  const std::size_t rank = type(tile).rank;
  const ir::OpFacts& facts = op->facts();
  if (facts.maps(ir::Spread)) return PointerForm{op->operands[0], {0, std::vector<Sum>(rank)}};
  if (facts.maps(ir::Repeated | ir::Same)) return pointers(op->operands[0]);
  if (facts.maps(ir::Reshaped | ir::Permuted)) {
    auto form = pointers(op->operands[0]);
    if (!form) return std::nullopt;
    const auto elements = reshaped(form->elements, *op);
    if (!elements) return std::nullopt;
    return PointerForm{form->pointer, *elements};
  }
  if (op->kind == OpKind::Affine) {
    PointerForm form{op->operands[0], {0, {}}};
    for (std::size_t d = 0; d < rank; ++d) {
      const bool is_single = type(tile).log_sizes[d] == 0;
      form.elements.strides.push_back(is_single ? Sum() : Sum::of(kernel_, op->operands[d + 1]));
    }
    return form;
  }
  if (op->kind != OpKind::Offset) return std::nullopt;
  auto form = pointers(op->operands[0]);
  const auto moved = form ? integers(op->operands[1]) : std::nullopt;
  if (!moved) return std::nullopt;
  form->elements.base = form->elements.base + moved->base;
  for (std::size_t d = 0; d < rank; ++d)
    form->elements.strides[d] = form->elements.strides[d] + moved->strides[d];
  return form;
}

}  // namespace tilewright
