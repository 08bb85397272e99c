// SPDX-License-Identifier: Apache-2.0
// passes/canonicalize/memory.cpp — masks that are known.
#include "passes/canonicalize.h"

namespace tilewright {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Rewriter;
using ir::Type;
using ir::Value;

// load(p, true, other) => load(p); load(p, false, other) => other, or 0
Value known_load_mask(Rewriter& rewriter, const Op& op) {
  if (op.kind != OpKind::Load || op.operands.size() < 2) return {};
  const Type& type = rewriter.type(op.result());
  if (rewriter.is_constant(op.operands[1], 1))
    return rewriter.create_one(OpKind::Load, {op.operands[0]}, type, op.attributes);
  if (!rewriter.is_constant(op.operands[1], 0)) return {};
  if (op.operands.size() == 3) return op.operands[2];
  return type.is_float() ? rewriter.constant(type, 0.0) : rewriter.constant(type, std::int64_t{0});
}

// store(p, v, true) => store(p, v); store(p, v, false) is nothing
Value known_store_mask(Rewriter& rewriter, const Op& op) {
  if (op.kind != OpKind::Store || op.operands.size() < 3) return {};
  const bool is_on = rewriter.is_constant(op.operands[2], 1);
  if (!is_on && !rewriter.is_constant(op.operands[2], 0)) return {};
  if (is_on) rewriter.create(OpKind::Store, {op.operands[0], op.operands[1]}, {}, op.attributes);
  rewriter.erase(op);
  return {};
}

// atomic_rmw(p, v, true) => atomic_rmw(p, v)
Value known_atomic_mask(Rewriter& rewriter, const Op& op) {
  if (op.kind != OpKind::AtomicRmw || op.operands.size() < 3) return {};
  if (!rewriter.is_constant(op.operands[2], 1)) return {};
  return rewriter.create_one(OpKind::AtomicRmw, {op.operands[0], op.operands[1]},
                             rewriter.type(op.result()), op.attributes);
}

// bounds that cover the tile => true; an empty range of some dimension => false
Value known_bounds(Rewriter& rewriter, const Op& op) {
  if (op.kind != OpKind::Bounds) return {};
  const Type& type = rewriter.type(op.result());
  bool covers = true;
  for (int d = 0; d < type.rank; ++d) {
    const std::size_t k = 2 * static_cast<std::size_t>(d);
    const auto low = rewriter.constant_of(op.operands[k]);
    const auto high = rewriter.constant_of(op.operands[k + 1]);
    const auto is_at_most = [](const auto& bound, std::int64_t limit) {
      return bound && std::get<std::int64_t>(*bound) <= limit;
    };
    const auto is_at_least = [](const auto& bound, std::int64_t limit) {
      return bound && std::get<std::int64_t>(*bound) >= limit;
    };
    const bool is_empty =
        is_at_most(high, 0) || is_at_least(low, type.size(d)) ||
        (low && high && std::get<std::int64_t>(*low) >= std::get<std::int64_t>(*high));
    if (is_empty) return rewriter.constant(type, std::int64_t{0});
    covers &= is_at_most(low, 0) && is_at_least(high, type.size(d));
  }
  return covers ? rewriter.constant(type, std::int64_t{1}) : Value{};
}

constexpr ir::Rule memory[] = {known_load_mask, known_store_mask, known_atomic_mask, known_bounds};

}  // namespace

std::span<const ir::Rule> memory_rules() { return memory; }

}  // namespace tilewright
