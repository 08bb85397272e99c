// SPDX-License-Identifier: Apache-2.0
// passes/widen/recurrences.cpp — who makes and who reads each value that the loop carries.
#include "passes/widen/recurrences.h"

#include <algorithm>
#include <cmath>

#include "ir/constant.h"
#include "passes/uses.h"

namespace tilewright {

using ir::Op;
using ir::OpKind;
using ir::Value;
using Kind = Side::Kind;

namespace {

bool is_view(const Op& op) { return op.kind == OpKind::Reshape || op.kind == OpKind::Broadcast; }

// The one op of a region that combines two elements.
const Op* combiner_of(const Op& reduce) {
  const auto& ops = reduce.regions[0].ops;
  return reduce.operands.size() == 1 && ops.size() == 2 ? ops[0] : nullptr;
}

// Whether all elements are known to be numbers, and not infinite.
bool is_finite(const ir::Kernel& kernel, Value value) {
  const ir::AttributeValue* number = ir::constant_of_all(kernel, value);
  const double* real = number ? std::get_if<double>(number) : nullptr;
  return real && std::isfinite(*real);
}

}  // namespace

const Op* Recurrences::inside(Value value) const {
  const Op* maker = kernel_.maker(value);
  return sides_.advances().is_inside(maker) ? maker : nullptr;
}

Value Recurrences::through_views(Value value) const {
  const Op* op = inside(value);
  while (op && is_view(*op)) {
    value = op->operands[0];
    op = inside(value);
  }
  return value;
}

// Whether nobody else of the body reads it.
bool Recurrences::only_by(Value value, const std::set<const Op*>& users) const {
  return std::all_of(body_.ops.begin(), body_.ops.end(),
                     [&](const Op* op) { return users.contains(op) || !reads_value(*op, value); });
}

// Rounds that touch no memory but what they load, one after the other.
bool Recurrences::is_plain() const {
  const auto step = ir::integer_constant(kernel_, loop_.operands[2]);
  if (!step || *step <= 0 || loop_.integer("drains", 0) != 0) return false;
  return std::all_of(body_.ops.begin(), body_.ops.end() - 1, [&](const Op* op) {
    const ir::OpFacts& facts = op->facts();
    const bool has_effect = facts.has(ir::Writes) || facts.has(ir::Effect) || facts.has(ir::Nested);
    return !has_effect && (op->regions.empty() || op->kind == OpKind::Reduce);
  });
}

bool Recurrences::finds_scalars() const {
  return std::all_of(body_.arguments.begin(), body_.arguments.end(), [&](Value value) {
    return kernel_.type(value).is_tile() || sides_.advances().of(value).has_value();
  });
}

// ---- Largest elements

// The reduction to the largest element along the axis, also multiplied by what is not negative.
const Op* Recurrences::largest_of(Value value) {
  const Op* op = inside(value);
  if (op && op->kind == OpKind::Multiply) {
    if (!kernel_.type(value).is_float()) return nullptr;  // products of integers wrap
    const std::size_t side = inside(op->operands[0]) ? 0 : 1;
    const Op* factor = kernel_.maker(op->operands[1 - side]);
    if (!factor || factor->kind != OpKind::Splat || inside(op->operands[1 - side])) return nullptr;
    factors_.push_back(factor->operands[0]);
    op = inside(op->operands[side]);
  }
  if (!op || op->kind != OpKind::Reduce) return nullptr;
  const Op* combiner = combiner_of(*op);
  if (!combiner || combiner->kind != OpKind::Maximum) return nullptr;
  return sides_.of(op->operands[0]).is_wide(static_cast<int>(op->integer("axis"))) ? op : nullptr;
}

bool Recurrences::finds_largest(std::size_t number) {
  const Value before = body_.arguments[number + 1], next = body_.ops.back()->operands[number];
  const Op* op = inside(next);
  if (!op || op->kind != OpKind::Maximum || kernel_.type(next).rank != 1) return false;
  const std::size_t side = op->operands[0] == before ? 1 : 0;
  if (op->operands[1 - side] != before || !largest_of(op->operands[side])) return false;
  begins_alone_ |= !is_finite(kernel_, loop_.operands[number + 3]);
  sides_.take_as_same(next);
  return scales_down({number, before, next});
}

// Whether the largest element is only subtracted: from what it was before, and from elements.
bool Recurrences::scales_down(const Largest& largest) {
  std::set<const Op*> of_next = {body_.ops.back()}, of_before = {inside(largest.next)};
  std::set<std::string_view> functions;
  std::set<std::uint32_t> views = {largest.next.id};
  for (const Op* op : body_.ops) {
    if (is_view(*op) && views.contains(op->operands[0].id)) {
      views.insert(op->result().id);
      of_next.insert(op);
    }
    if (op->kind != OpKind::Subtract || !views.contains(op->operands[1].id)) continue;
    const bool shrinks = op->operands[0] == largest.before;
    const bool scales =
        sides_.of(op->operands[0]).kind == Kind::Wide && kernel_.type(op->operands[0]).rank == 2;
    if (!shrinks && !scales) return false;
    of_next.insert(op);
    of_before.insert(op);
    for (const Op* user : body_.ops) {
      if (!reads_value(*user, op->result())) continue;
      const std::string_view function =
          user->kind == OpKind::Math ? user->text("function", "") : "";
      if (function != "exp2" && function != "exp") return false;
      functions.insert(function);
      (shrinks ? shrinks_ : scaled_)[user->result().id] = largest.number;
    }
  }
  for (const std::uint32_t view : views)
    if (!only_by(Value{view}, of_next)) return false;
  const auto& yielded = body_.ops.back()->operands;
  return functions.size() <= 1 && only_by(largest.before, of_before) &&
         std::count(yielded.begin(), yielded.end(), largest.next) == 1;
}

// ---- Sums

bool Recurrences::sums_up(const Op& reduce) const {
  const Op* combiner = reduce.kind == OpKind::Reduce ? combiner_of(reduce) : nullptr;
  return combiner && combiner->kind == OpKind::Add;
}

Recurrences::Softmax Recurrences::softmax_of(const std::map<std::uint32_t, std::size_t>& by,
                                             Value value) const {
  const auto found = by.find(value.id);
  return found == by.end() ? Softmax{} : Softmax{found->second};
}

bool Recurrences::is_depth_product(const Op& dot, Softmax of) {
  return dot.kind == OpKind::Dot && kernel_.type(dot.result()).rank == 2 &&
         sides_.of(dot.operands[0]).is_wide(1) && sides_.of(dot.operands[1]).is_wide(0) &&
         softmax_of(scaled_, dot.operands[0]) == of && !softmax_of(scaled_, dot.operands[1]);
}

// What a round adds: a sum along the axis, or a product of that depth from nothing.
bool Recurrences::is_part(Value value, Softmax of) {
  const Op* op = inside(value);
  if (!op || uses_in(body_, value) != 1) return false;
  if (op->kind == OpKind::Dot)
    return is_depth_product(*op, of) && ir::is_zero(kernel_, op->operands[2]);
  return sums_up(*op) && softmax_of(scaled_, op->operands[0]) == of &&
         sides_.of(op->operands[0]).is_wide(static_cast<int>(op->integer("axis")));
}

bool Recurrences::is_sum(std::size_t number) {
  const Value before = body_.arguments[number + 1], next = body_.ops.back()->operands[number];
  const Op* op = inside(next);
  if (!op || uses_in(body_, before) != 1 || uses_in(body_, next) != 1) return false;
  if (op->kind == OpKind::Dot) return op->operands[2] == before && is_depth_product(*op, {});
  if (op->kind != OpKind::Add) return false;
  const std::size_t side = op->operands[0] == before ? 1 : 0;
  return op->operands[1 - side] == before && is_part(op->operands[side], {});
}

// Whether a value through views is one element for the whole axis.
bool Recurrences::is_alike_along(Value value, int axis) const {
  const Op* op = inside(value);
  for (; op && is_view(*op) && axis >= 0; op = inside(op->operands[0]))
    axis = axis_before(kernel_, *op, axis);
  return axis < 0;
}

// sum * exp2(largest - largest'), by rows: those of a product's left operand.
bool Recurrences::is_shrunk(Value value, Value before, Softmax of) const {
  const Op* product = inside(value);
  if (!product || product->kind != OpKind::Multiply || uses_in(body_, value) != 1) return false;
  const std::size_t side = product->operands[0] == before ? 1 : 0;
  const Value factor = product->operands[side];
  const Softmax by = softmax_of(shrinks_, through_views(factor));
  const bool is_of_rows = kernel_.type(factor).rank == 1 || is_alike_along(factor, 1);
  return product->operands[1 - side] == before && by && by == of && is_of_rows;
}

bool Recurrences::is_scaled_sum(std::size_t number) {
  const Value before = body_.arguments[number + 1], next = body_.ops.back()->operands[number];
  const Op* op = inside(next);
  if (!op || uses_in(body_, before) != 1 || uses_in(body_, next) != 1) return false;
  const auto note = [&](Value shrunk, const Op* part) {
    of_scaled_.insert({inside(shrunk), part});
    return true;
  };
  if (op->kind == OpKind::Dot) {
    const Softmax of = softmax_of(scaled_, op->operands[0]);
    return is_shrunk(op->operands[2], before, of) && is_depth_product(*op, of) &&
           note(op->operands[2], op);
  }
  if (op->kind != OpKind::Add) return false;
  for (const std::size_t side : {0u, 1u}) {
    const Op* part = inside(op->operands[1 - side]);
    if (!part || part->operands.empty()) continue;
    const Softmax of = softmax_of(scaled_, part->operands[0]);
    if (is_shrunk(op->operands[side], before, of) && is_part(op->operands[1 - side], of))
      return note(op->operands[side], part);
  }
  return false;
}

// ---- All

bool Recurrences::hold() {
  if (!is_plain() || !finds_scalars()) return false;
  std::vector<std::size_t> sums;
  for (std::size_t i = 0; i < loop_.results.size(); ++i)
    if (kernel_.type(loop_.results[i]).is_tile() && !finds_largest(i)) sums.push_back(i);
  for (const Op* op : body_.ops)  // narrower elements, in order
    if (op->kind == OpKind::Cast && scaled_.contains(op->operands[0].id))
      scaled_[op->result().id] = scaled_.at(op->operands[0].id);
  for (const std::size_t i : sums)
    if (!is_sum(i) && !is_scaled_sum(i)) return false;
  // Whatever reads scaled elements, or by how much they were scaled, is one of these.
  for (const Op* op : body_.ops) {
    const bool views_factor = is_view(*op) && !scaled_.contains(op->operands[0].id);
    if (of_scaled_.contains(op) || op->kind == OpKind::Cast || views_factor) continue;
    const auto is_scale = [&](Value value) {
      return scaled_.contains(value.id) || shrinks_.contains(through_views(value).id);
    };
    if (std::any_of(op->operands.begin(), op->operands.end(), is_scale)) return false;
  }
  return !sums.empty();
}

std::vector<const Op*> Recurrences::wide_products() {
  std::vector<const Op*> out;
  for (const Op* op : body_.ops)
    if (op->kind == OpKind::Dot && sides_.of(op->result()).kind == Kind::Wide) out.push_back(op);
  return out;
}

}  // namespace tilewright
