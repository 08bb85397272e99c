// SPDX-License-Identifier: Apache-2.0
// passes/access_forms/masks.cpp — masks as bounds of each dimension.
#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "passes/access_forms/decompose.h"

namespace tilewright {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Type;
using ir::Value;

std::string_view opposite(std::string_view is) {
  if (is == "lt") return "ge";
  if (is == "le") return "gt";
  if (is == "gt") return "le";
  if (is == "ge") return "lt";
  return is == "eq" ? "ne" : "eq";
}

void append(MaskForm& to, const MaskForm& from) {
  const auto join = [](auto& a, const auto& b) { a.insert(a.end(), b.begin(), b.end()); };
  for (std::size_t d = 0; d < to.lows.size(); ++d) {
    join(to.lows[d], from.lows[d]);
    join(to.highs[d], from.highs[d]);
  }
  join(to.conditions, from.conditions);
  join(to.residues, from.residues);
}

// Where each dimension of `from` is in `to` after a reshape: the dimension that covers the same
// positions, or -1.
std::vector<int> places_after_reshape(const Type& from, const Type& to) {
  std::vector<int> places(from.rank, -1);
  int from_bit = 0;
  for (int d = from.rank - 1; d >= 0; --d) {
    int to_bit = 0;
    for (int e = to.rank - 1; e >= 0; --e) {
      const auto k = static_cast<std::size_t>(d), m = static_cast<std::size_t>(e);
      if (from_bit == to_bit && from.log_sizes[k] == to.log_sizes[m]) places[k] = e;
      to_bit += to.log_sizes[m];
    }
    from_bit += from.log_sizes[static_cast<std::size_t>(d)];
  }
  return places;
}

std::vector<int> places_after(const Op& op, const Type& from, const Type& to) {
  if (op.kind == OpKind::Reshape) return places_after_reshape(from, to);
  std::vector<int> places(from.rank);
  const std::vector<std::int64_t> order = op.integers("order");  // none for a broadcast
  for (int d = 0; d < from.rank; ++d) {
    const std::size_t k = static_cast<std::size_t>(d);
    places[order.empty() ? k : static_cast<std::size_t>(order[k])] = d;
  }
  return places;
}

// Whether an index of 32 bits that is multiplied by so much may be beyond them, as random numbers
// made of an index are (i * 1664525 + 1013904223): it is compared as the source has it. Rows and
// columns of tensors are not multiplied by constants like that in a mask.
bool may_wrap(const Linear& linear, const Type& type) {
  if (size_of(type.dtype) != 4) return false;
  constexpr std::int64_t large = 4096, end = std::int64_t{1} << 31;
  const auto is_large = [](std::int64_t factor) { return factor >= large || factor <= -large; };
  std::int64_t reach = std::min(std::abs(linear.base.constant()), end);
  for (std::size_t d = 0; d < linear.strides.size(); ++d) {
    const Sum& stride = linear.strides[d];
    if (!stride.is_constant()) continue;  // no bound is found of such
    if (is_large(stride.constant())) return true;
    reach += std::abs(stride.constant()) * (type.size(static_cast<int>(d)) - 1);
  }
  return reach >= end || std::any_of(linear.base.terms().begin(), linear.base.terms().end(),
                                     [&](const auto& term) { return is_large(term.coefficient); });
}

}  // namespace

bool MaskForm::has_form() const {
  const auto is_empty = [](const std::vector<Sum>& sums) { return sums.empty(); };
  return residues.empty() || !conditions.empty() ||
         !std::all_of(lows.begin(), lows.end(), is_empty) ||
         !std::all_of(highs.begin(), highs.end(), is_empty);
}

MaskForm Decomposer::empty_mask(const Type& shape) const {
  MaskForm form;
  form.lows.resize(shape.rank);
  form.highs.resize(shape.rank);
  return form;
}

MaskForm Decomposer::residue(Value tile) const {
  MaskForm form = empty_mask(type(tile));
  form.residues.push_back(tile);
  return form;
}

MaskForm Decomposer::mask(Value tile) {
  const Op* op = kernel_.maker(tile);
  if (!op) return residue(tile);
  const ir::OpFacts& facts = op->facts();
  if (facts.maps(ir::Repeated | ir::Reshaped | ir::Permuted)) return mask_of_shape_op(*op);
  if (facts.maps(ir::Same)) return mask(op->operands[0]);
  if (op->kind == OpKind::Bounds) return mask_of_bounds(*op);
  if (op->kind == OpKind::Compare) return compare(*op, op->text("is"));
  if (op->kind == OpKind::Xor) return mask_of_negation(*op);
  if (op->kind == OpKind::And && --conjunctions_left_ >= 0) {
    MaskForm form = mask(op->operands[0]);
    append(form, mask(op->operands[1]));
    return form;
  }
  if (!facts.maps(ir::Alike | ir::Spread)) return residue(tile);
  MaskForm form = empty_mask(type(tile));
  if (facts.maps(ir::Spread)) form.conditions.push_back(op->operands[0]);
  else if (op->integer("value") == 0) form.highs[0].push_back(0);
  return form;
}

// A comparison of integers, exclusive or true.
MaskForm Decomposer::mask_of_negation(const Op& op) {
  const Op* inner = kernel_.maker(op.operands[0]);
  const Op* constant = kernel_.maker(op.operands[1]);
  const bool is_negation = inner && inner->kind == OpKind::Compare && constant &&
                           constant->kind == OpKind::Constant && constant->integer("value");
  return is_negation && type(inner->operands[0]).is_int()
             ? compare(*inner, opposite(inner->text("is")))
             : residue(op.result());
}

MaskForm Decomposer::mask_of_bounds(const Op& op) {
  const Type& shape = type(op.results.front());
  MaskForm form = empty_mask(shape);
  for (std::size_t d = 0; d < shape.rank; ++d) {
    const Sum low = Sum::of(kernel_, op.operands[2 * d]);
    const Sum high = Sum::of(kernel_, op.operands[2 * d + 1]);
    const std::int64_t size = shape.size(static_cast<int>(d));
    // A bound on a dimension that is broadcast later would be a condition on all of it.
    if (size == 1 && !(low.is(0) && high.is(1))) return residue(op.results.front());
    if (!low.is(0)) form.lows[d].push_back(low);
    if (!high.is(size)) form.highs[d].push_back(high);
  }
  return form;
}

MaskForm Decomposer::mask_of_shape_op(const Op& op) {
  const MaskForm inner = mask(op.operands[0]);
  const Type& shape = type(op.results.front());
  const std::vector<int> places = places_after(op, type(op.operands[0]), shape);
  MaskForm form = empty_mask(shape);
  form.conditions = inner.conditions;
  for (std::size_t d = 0; d < inner.lows.size(); ++d) {
    if (inner.lows[d].empty() && inner.highs[d].empty()) continue;
    if (places[d] < 0) return residue(op.results.front());
    form.lows[static_cast<std::size_t>(places[d])] = inner.lows[d];
    form.highs[static_cast<std::size_t>(places[d])] = inner.highs[d];
  }
  if (!inner.has_form()) return residue(op.results.front());
  for (const Value tile : inner.residues)
    form.residues.push_back(
        sums_.build().create_one(op.kind, {tile}, shape.with_element(b1), op.attributes));
  return form;
}

MaskForm Decomposer::compare(const Op& op, std::string_view is) {
  const auto left = integers(op.operands[0]);
  const auto right = left ? integers(op.operands[1]) : std::nullopt;
  MaskForm form = empty_mask(type(op.results.front()));
  const auto is_exact = [&](const Linear& linear, Value tile) {
    return !may_wrap(linear, type(tile));
  };
  if (right && is_exact(*left, op.operands[0]) && is_exact(*right, op.operands[1]) &&
      compare_with_zero(form, *left, *right, is))
    return form;
  // A negated compare has no value of its own yet.
  if (is == op.text("is")) return residue(op.results.front());
  form = empty_mask(type(op.results.front()));
  form.residues.push_back(sums_.build().compare(is, op.operands[0], op.operands[1]));
  return form;
}

// stride * i < limit, where stride = left - right per dimension, limit = right - left
bool Decomposer::compare_with_zero(MaskForm& form, const Linear& left, const Linear& right,
                                   std::string_view is) {
  const Sum limit = right.base - left.base;
  constexpr std::int64_t far = std::int64_t{1} << 62;
  if (limit.constant() >= far || limit.constant() <= -far) return false;
  std::size_t dimension = left.strides.size();
  std::int64_t stride = 0;
  for (std::size_t d = 0; d < left.strides.size(); ++d) {
    const Sum difference = left.strides[d] - right.strides[d];
    if (difference.is(0)) continue;
    if (!difference.is_constant() || stride != 0) return false;
    if (difference.constant() >= far || difference.constant() <= -far) return false;
    stride = difference.constant();
    dimension = d;
  }
  if (stride == 0) {
    const Value zero = sums_.constant(0);
    form.conditions.push_back(sums_.build().compare(is, zero, sums_.emit(limit)));
    return true;
  }
  // A quotient costs more than to compare every element, unless it is a shift or known.
  const bool is_shift = (stride & (stride - 1)) == 0 || (-stride & (-stride - 1)) == 0;
  if (!is_shift && !limit.is_constant()) return false;
  if (is == "lt") bound(form, dimension, stride, limit);
  else if (is == "le") bound(form, dimension, stride, limit + 1);
  else if (is == "gt") bound(form, dimension, -stride, limit * -1);
  else if (is == "ge") bound(form, dimension, -stride, limit * -1 + 1);
  else if (is == "eq" && (stride == 1 || stride == -1)) {
    form.lows[dimension].push_back(limit * stride);
    form.highs[dimension].push_back(limit * stride + 1);
  } else return false;
  return true;
}

// stride * i < limit => i < ceil(limit / stride), or i >= floor(-limit / -stride) + 1 below 0.
// Quotients truncate: that is wrong only below 0, where every bound means the same.
void Decomposer::bound(MaskForm& form, std::size_t dimension, std::int64_t stride,
                       const Sum& limit) {
  if (stride > 0) form.highs[dimension].push_back(quotient(limit + (stride - 1), stride));
  else form.lows[dimension].push_back(quotient(limit * -1 - stride, -stride));
}

Sum Decomposer::quotient(const Sum& sum, std::int64_t divisor) {
  if (divisor == 1) return sum;
  if (sum.is_constant()) return sum.constant() / divisor;
  return Sum::of(kernel_,
                 sums_.build().binary(OpKind::Divide, sums_.emit(sum), sums_.constant(divisor)));
}

}  // namespace tilewright
