// SPDX-License-Identifier: Apache-2.0
// passes/widen/advances.cpp — what is added in a round, through sums and products.
#include "passes/widen/advances.h"

#include <algorithm>

#include "ir/analysis/exact_integers.h"

namespace tilewright {

using ir::Op;
using ir::OpKind;
using ir::Value;

bool are_equal(const Polynomial& a, const Polynomial& b) { return a.plus(b, -1).terms().empty(); }

Advances::Advances(const ir::Kernel& kernel, const Op& loop)
    : kernel_(kernel), body_(loop.regions[0]), loop_(loop) {
  ir::walk(body_, [&](const Op& op) { inside_.insert(&op); });
}

std::optional<std::size_t> Advances::number_of(Value value) const {
  const auto& all = body_.arguments;
  const auto found = std::find(all.begin() + 1, all.end(), value);
  if (found == all.end()) return std::nullopt;
  return static_cast<std::size_t>(found - all.begin()) - 1;
}

// One that grows by what is made of itself has no advance: it is met again while it is asked for.
std::optional<Polynomial> Advances::of(Value scalar) const {
  const auto [known, is_new] = known_.emplace(scalar.id, std::nullopt);
  if (!is_new) return known->second;
  std::optional<Polynomial> found = find(scalar);
  known_[scalar.id] = found;
  return found;
}

std::optional<Polynomial> Advances::find(Value scalar) const {
  if (scalar == body_.arguments[0]) return Polynomial::expand(kernel_, loop_.operands[2]);
  const Op* maker = kernel_.maker(scalar);
  if (!maker) {
    const auto number = number_of(scalar);
    return number ? of_carried(*number) : Polynomial::number(0);
  }
  return is_inside(maker) ? of_op(*maker) : Polynomial::number(0);
}

// What the round adds to it.
std::optional<Polynomial> Advances::of_carried(std::size_t number) const {
  const Value carried = body_.arguments[number + 1], next = body_.ops.back()->operands[number];
  if (next == carried) return Polynomial::number(0);
  const Op* maker = kernel_.maker(next);
  const bool adds = maker && (maker->kind == OpKind::Add || maker->kind == OpKind::Offset);
  if (!adds || !is_inside(maker)) return std::nullopt;
  const std::size_t side = maker->operands[0] == carried ? 1 : 0;
  if (maker->operands[1 - side] != carried) return std::nullopt;
  const auto more = of(maker->operands[side]);
  if (!more || !more->terms().empty()) return std::nullopt;  // not the same in all rounds
  return Polynomial::expand(kernel_, maker->operands[side]);
}

// Sums of narrow integers wrap, and floats are rounded or cut: what is made of one that grows does
// not grow by as much.
bool Advances::keeps_advance(const Op& op) const {
  const ir::Type& type = kernel_.type(op.result());
  if (type.is_float()) return false;
  if (op.kind == OpKind::Cast) {
    const ir::Type& from = kernel_.type(op.operands[0]);
    return ir::has_exact_sums(from) && ir::is_exact_cast(from, type);
  }
  return op.kind != OpKind::Offset || ir::has_exact_sums(kernel_.type(op.operands[1]));
}

std::optional<Polynomial> Advances::of_op(const Op& op) const {
  std::vector<Polynomial> operands;
  for (const Value value : op.operands) {
    if (kernel_.type(value).is_tile()) return std::nullopt;
    const auto one = of(value);
    if (!one) return std::nullopt;
    operands.push_back(*one);
  }
  const auto stays = [](const Polynomial& p) { return p.terms().empty(); };
  const bool is_pure = op.facts().has(ir::Pure) && op.regions.empty();
  if (is_pure && std::all_of(operands.begin(), operands.end(), stays)) return Polynomial::number(0);
  if (!keeps_advance(op)) return std::nullopt;
  if (op.kind == OpKind::Add || op.kind == OpKind::Offset) return operands[0].plus(operands[1]);
  if (op.kind == OpKind::Subtract) return operands[0].plus(operands[1], -1);
  if (op.kind == OpKind::Negate) return Polynomial::number(0).plus(operands[0], -1);
  if (op.kind == OpKind::Hint) return operands[0];
  if (op.kind == OpKind::Cast) return operands[0];
  if (op.kind == OpKind::Multiply)
    for (const std::size_t side : {0u, 1u})
      if (stays(operands[side]))
        return operands[1 - side].times(Polynomial::expand(kernel_, op.operands[side]));
  return std::nullopt;
}

}  // namespace tilewright
