// SPDX-License-Identifier: Apache-2.0
// passes/widen/sides.cpp — addresses and indices by their advance, all else by its operands.
#include "passes/widen/sides.h"

#include <algorithm>

#include "ir/constant.h"

namespace tilewright {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Type;
using ir::Value;
using Kind = Side::Kind;

namespace {

// The place of each axis that is longer than 1 among those.
int place_of(const Type& type, int axis) {
  int place = 0;
  for (int d = 0; d < axis; ++d) place += type.size(d) > 1;
  return place;
}
int axis_at(const Type& type, int place) {
  for (int d = 0; d < type.rank; ++d)
    if (type.size(d) > 1 && place-- == 0) return d;
  return -1;
}
// Whether a reshape only adds or drops axes of length 1.
bool keeps_axes(const Type& from, const Type& to) {
  std::vector<std::int64_t> a, b;
  for (const auto size : from.shape())
    if (size > 1) a.push_back(size);
  for (const auto size : to.shape())
    if (size > 1) b.push_back(size);
  return a == b;
}

bool moves_axes(const Op& op) { return op.facts().maps(ir::Reshaped | ir::Repeated | ir::Permuted); }

}  // namespace

int axis_before(const Kernel& kernel, const Op& view, int axis) {
  const Type& to = kernel.type(view.result());
  const Type& from = kernel.type(view.operands[0]);
  if (view.kind == OpKind::Permute)
    return static_cast<int>(
        std::get<std::vector<std::int64_t>>(*view.find("order"))[static_cast<std::size_t>(axis)]);
  if (view.kind == OpKind::Broadcast) return from.size(axis) == 1 ? -1 : axis;
  if (view.kind != OpKind::Reshape || !keeps_axes(from, to) || to.size(axis) == 1) return -1;
  return axis_at(from, place_of(to, axis));
}

int axis_behind(const Kernel& kernel, const Op& view, int axis) {
  const Type& to = kernel.type(view.result());
  for (int d = 0; d < to.rank; ++d)
    if (axis_before(kernel, view, d) == axis) return d;
  return -1;
}

// ---- Integers that grow with the index

std::optional<Sides::Linear> Sides::linear(Value tile) const {
  const Type& type = kernel_.type(tile);
  const Op* maker = kernel_.maker(tile);
  if (!type.is_int() || !type.is_tile() || !maker) return std::nullopt;
  return linear(*maker);
}

std::optional<Sides::Linear> Sides::linear(const Op& op) const {
  const Type& type = kernel_.type(op.result());
  Linear out{Polynomial::number(0),
             std::vector<std::int64_t>(static_cast<std::size_t>(type.rank), 0)};
  if (op.kind == OpKind::Arange) out.by_axis[0] = 1;
  if (op.kind == OpKind::Arange || op.kind == OpKind::Constant) return out;
  if (op.kind == OpKind::Splat) {
    const auto advance = advances_.of(op.operands[0]);
    if (!advance) return std::nullopt;
    out.advance = *advance;
    return out;
  }
  if (op.kind == OpKind::Add || op.kind == OpKind::Subtract) {
    const auto a = linear(op.operands[0]), b = linear(op.operands[1]);
    if (!a || !b) return std::nullopt;
    const std::int64_t sign = op.kind == OpKind::Add ? 1 : -1;
    out.advance = a->advance.plus(b->advance, sign);
    for (std::size_t d = 0; d < out.by_axis.size(); ++d)
      out.by_axis[d] = a->by_axis[d] + sign * b->by_axis[d];
    return out;
  }
  if (!moves_axes(op)) return std::nullopt;
  const auto from = linear(op.operands[0]);
  if (!from) return std::nullopt;
  out.advance = from->advance;
  for (int d = 0; d < type.rank; ++d)
    if (const int before = axis_before(kernel_, op, d); before >= 0)
      out.by_axis[static_cast<std::size_t>(d)] = from->by_axis[static_cast<std::size_t>(before)];
    else if (op.kind == OpKind::Reshape && type.size(d) > 1) return std::nullopt;
  return out;
}

Side Sides::of_linear(const Linear& form, const Type& type) const {
  if (form.advance.terms().empty()) return {Kind::Same};
  const auto advance = form.advance.constant();
  for (int d = 0; d < type.rank; ++d)
    if (const auto by = form.by_axis[static_cast<std::size_t>(d)];
        advance && by != 0 && by * type.size(d) == *advance)
      return {Kind::Wide, d};
  return {};
}

// ---- Places in memory

Side Sides::of_affine(const Op& op) const {
  const auto advance = advances_.of(op.operands[0]);
  if (!advance) return {};
  for (std::size_t i = 1; i < op.operands.size(); ++i) {
    const auto stride = advances_.of(op.operands[i]);
    if (!stride || !stride->terms().empty()) return {};
  }
  if (advance->terms().empty()) return {Kind::Same};
  const Type& type = kernel_.type(op.result());
  for (int d = 0; d < type.rank; ++d) {
    const Polynomial stride =
        Polynomial::expand(kernel_, op.operands[static_cast<std::size_t>(d) + 1]);
    if (are_equal(*advance, stride.times(Polynomial::number(type.size(d))))) return {Kind::Wide, d};
  }
  return {};
}

// A bound of an axis moves back by as much as the tile moves on.
Side Sides::of_bounds(const Op& op) const {
  const Type& type = kernel_.type(op.result());
  Side out{Kind::Same};
  for (int d = 0; d < type.rank; ++d) {
    const auto at = static_cast<std::size_t>(2 * d);
    const auto low = advances_.of(op.operands[at]), high = advances_.of(op.operands[at + 1]);
    if (!low || !high || !are_equal(*low, *high)) return {};
    if (low->terms().empty()) continue;
    if (out.kind != Kind::Same || low->constant() != -type.size(d)) return {};
    out = {Kind::Wide, d};
  }
  return out;
}

// ---- Ops

Side Sides::of_dot(const Op& op) {
  const Side a = of(op.operands[0]), b = of(op.operands[1]);
  if (kernel_.type(op.result()).rank != 2 || a.kind == Kind::Other || b.kind == Kind::Other)
    return {};
  const bool starts_alike = ir::is_zero(kernel_, op.operands[2]);
  if (a.kind == Kind::Same && b.kind == Kind::Same && of(op.operands[2]).kind == Kind::Same)
    return {Kind::Same};
  if (a.kind == Kind::Same && b.is_wide(1) && starts_alike) return {Kind::Wide, 1};
  if (a.is_wide(0) && b.kind == Kind::Same && starts_alike) return {Kind::Wide, 0};
  return {};
}

Side Sides::of_elements(const Op& op) {
  Side out{Kind::Same};
  for (const Value value : op.operands) {
    const Side side = of(value);
    if (side.kind == Kind::Other) return {};
    if (side.kind == Kind::Same) continue;
    if (out.kind == Kind::Wide && out.axis != side.axis) return {};
    out = side;
  }
  if (out.kind == Kind::Same) return out;
  for (const Value value : op.operands)
    if (of(value).kind == Kind::Same && kernel_.type(value).is_tile() && !extends(value, out.axis))
      return {};
  return out;
}

Side Sides::of(Value tile) {
  if (same_.contains(tile.id)) return {Kind::Same};
  const auto found = known_.find(tile.id);
  if (found != known_.end()) return found->second;
  const Side side = find(tile);
  return known_[tile.id] = side;
}

Side Sides::find(Value tile) {
  const Type& type = kernel_.type(tile);
  const Op* maker = kernel_.maker(tile);
  if (!type.is_tile()) {
    const auto advance = advances_.of(tile);
    return advance && advance->terms().empty() ? Side{Kind::Same} : Side{};
  }
  if (!maker) return advances_.is_carried(tile) ? Side{} : Side{Kind::Same};
  if (!advances_.is_inside(maker)) return {Kind::Same};
  if (const auto form = linear(tile)) return of_linear(*form, type);
  const Op& op = *maker;
  if (op.kind == OpKind::Affine) return of_affine(op);
  if (op.kind == OpKind::Bounds) return of_bounds(op);
  if (op.kind == OpKind::Dot) return of_dot(op);
  if (op.kind == OpKind::Constant || op.kind == OpKind::Arange) return {Kind::Same};
  if (op.kind == OpKind::Splat) return of(op.operands[0]);
  if (moves_axes(op)) {
    const Side from = of(op.operands[0]);
    if (from.kind != Kind::Wide) return from;
    const int axis = axis_behind(kernel_, op, from.axis);
    return axis < 0 ? Side{} : Side{Kind::Wide, axis};
  }
  if (op.kind == OpKind::Load || op.facts().has(ir::Elementwise)) return of_elements(op);
  return {};
}

bool Sides::extends(Value tile, int axis) {
  const Op* op = kernel_.maker(tile);
  if (!op) return false;
  if (const auto form = linear(tile))
    return form->advance.terms().empty() && form->by_axis[static_cast<std::size_t>(axis)] == 0;
  if (op->kind == OpKind::Constant || op->kind == OpKind::Splat) return true;
  if (moves_axes(*op)) {
    const int before = axis_before(kernel_, *op, axis);
    if (before < 0) return op->kind == OpKind::Broadcast;
    return extends(op->operands[0], before);
  }
  if (!op->facts().has(ir::Elementwise)) return false;
  return std::all_of(op->operands.begin(), op->operands.end(),
                     [&](Value value) { return extends(value, axis); });
}

}  // namespace tilewright
