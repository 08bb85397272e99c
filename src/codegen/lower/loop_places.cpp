// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_places.cpp — the place of an element: in a tile's array, and in the memory
// that a tile of pointers points to.
#include "codegen/lower/loop_elements.h"

#include <algorithm>

namespace tilewright {

using ir::OpKind;
using ir::Type;

PlacedValue LoopElements::linear(const Type& type, const ElementIndex& index) {
  if (index.linear) return *index.linear;
  std::vector<Term> terms;
  int depth = 0;
  std::int64_t stride = type.numel();
  for (int d = 0; d < type.rank; ++d) {
    stride /= type.size(d);
    const PlacedValue& coordinate = index.at[static_cast<std::size_t>(d)];
    if (type.size(d) == 1 || is_zero(coordinate.value)) continue;
    terms.push_back({coordinate.value, stride});
    depth = std::max(depth, coordinate.depth);
  }
  return {sum(terms), depth};
}

// Row-major coordinates of the same element in another shape.
ElementIndex LoopElements::reshaped(const Type& from, const Type& to, const ElementIndex& index) {
  std::vector<int> old_dims, new_dims;
  for (int d = 0; d < from.rank; ++d)
    if (from.size(d) > 1) old_dims.push_back(d);
  for (int d = 0; d < to.rank; ++d)
    if (to.size(d) > 1) new_dims.push_back(d);
  ElementIndex out{std::vector<PlacedValue>(to.rank, PlacedValue{number(0), 0}), index.linear};
  bool is_plain = old_dims.size() == new_dims.size();
  for (std::size_t k = 0; is_plain && k < old_dims.size(); ++k)
    is_plain = from.size(old_dims[k]) == to.size(new_dims[k]);
  if (is_plain) {
    for (std::size_t k = 0; k < old_dims.size(); ++k)
      out.at[static_cast<std::size_t>(new_dims[k])] =
          index.at[static_cast<std::size_t>(old_dims[k])];
    return out;
  }
  const PlacedValue whole = linear(from, index);
  out.linear = whole;
  if (is_zero(whole.value)) return out;
  std::int64_t stride = to.numel();
  for (int d = 0; d < to.rank; ++d) {
    stride /= to.size(d);
    if (to.size(d) == 1) continue;
    std::vector<ir::Attribute> attributes = {{"over", stride}};
    if (stride * to.size(d) < to.numel()) attributes.push_back({"of", to.size(d)});
    const bool is_whole = stride == 1 && attributes.size() == 1;
    out.at[static_cast<std::size_t>(d)] = {
        is_whole ? whole.value
                 : make(OpKind::Digit, {whole.value}, Type::scalar(DType::Int32), attributes),
        whole.depth};
  }
  return out;
}

// The place in the view's operand that an index of the view shows.
ElementIndex LoopElements::viewed_index(const ir::Op& view, const ElementIndex& index) {
  const Type& type = kernel_.type(view.result());
  const Type& from = kernel_.type(view.operands[0]);
  if (view.kind == OpKind::Reshape) return reshaped(type, from, index);
  ElementIndex inner = index;
  if (view.kind == OpKind::Hint) return inner;
  if (!(from == type)) inner.linear.reset();
  for (int d = 0; d < from.rank; ++d)
    if (from.size(d) == 1) inner.at[static_cast<std::size_t>(d)] = {number(0), 0};
  return inner;
}

// ---- Memory

// Index arithmetic is taken not to overflow, so its terms may be added in 64 bits.
void LoopElements::add_terms(LoweredNest& nest, ir::Value offset, const ElementIndex& index,
                             Address& address) {
  const Type& type = kernel_.type(offset);
  const ir::Op* op = kernel_.maker(offset);
  if (type.is_scalar()) {
    address.terms.push_back({scalar(offset)});
    return;
  }
  const bool is_open = op && is_index_type(type) && !schedule_.is_in_array(offset, *nest.step);
  if (is_open && op->kind == OpKind::Add) {
    for (const ir::Value operand : op->operands) add_terms(nest, operand, index, address);
    return;
  }
  if (is_open && op->kind == OpKind::Splat) return add_terms(nest, op->operands[0], {}, address);
  if (is_open && op->kind == OpKind::Cast && is_index_type(kernel_.type(op->operands[0])))
    return add_terms(nest, op->operands[0], index, address);
  if (is_open && hands_elements_on(*op))
    return add_terms(nest, op->operands[0], viewed_index(*op, index), address);
  if (add_run(nest, offset, index, address)) return;
  const PlacedValue term = element(nest, offset, index);
  if (is_zero(term.value)) return;
  address.terms.push_back(
      {type.dtype == DType::Int32 ? cast(term.value, DType::Int64) : term.value});
  address.depth = std::max(address.depth, term.depth);
}

LoopElements::Address LoopElements::affine_terms(const ir::Op& op, const ElementIndex& index) {
  Address out{scalar(op.operands[0]), {}, 0};
  for (std::size_t d = 0; d < index.at.size(); ++d) {
    const std::optional<std::int64_t> stride = facts_.constant(op.operands[d + 1]);
    const PlacedValue& coordinate = index.at[d];
    if (is_zero(coordinate.value) || stride == 0) continue;
    if (stride) out.terms.push_back({coordinate.value, *stride});
    else out.terms.push_back({coordinate.value, 0, scalar(op.operands[d + 1])});
    out.depth = std::max(out.depth, coordinate.depth);
  }
  return out;
}

LoopElements::Address LoopElements::address(LoweredNest& nest, ir::Value pointer,
                                            const ElementIndex& index) {
  const Type& type = kernel_.type(pointer);
  const ir::Op* op = kernel_.maker(pointer);
  const bool is_open = op && type.is_tile() && !schedule_.is_in_array(pointer, *nest.step);
  if (is_open && op->kind == OpKind::Affine) return affine_terms(*op, index);
  if (is_open && op->kind == OpKind::Offset) {
    Address out = address(nest, op->operands[0], index);
    add_terms(nest, op->operands[1], index, out);
    return out;
  }
  if (is_open && op->kind == OpKind::Splat) return {scalar(op->operands[0]), {}, 0};
  if (is_open && hands_elements_on(*op))
    return address(nest, op->operands[0], viewed_index(*op, index));
  const PlacedValue at = element(nest, pointer, index);
  // A scalar pointer that was not given a name of its own.
  const ir::Op* made = out_.maker(at.value);
  if (type.is_scalar() && made && made->kind == OpKind::Offset && out_.name_of(at.value).empty())
    return {made->operands[0], {{made->operands[1]}}, 0};
  return {at.value, {}, at.depth};
}

// The pointer to an element: a base and one index.
PlacedValue LoopElements::access(LoweredNest& nest, ir::Value pointer, const ElementIndex& index) {
  const Address found = address(nest, pointer, index);
  return {make(OpKind::Offset, {found.base, sum(found.terms)}, type_of(found.base)), found.depth};
}

}  // namespace tilewright
