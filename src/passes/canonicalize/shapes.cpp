// SPDX-License-Identifier: Apache-2.0
// passes/canonicalize/shapes.cpp — splats move outward, chains of shape ops shrink.
#include "passes/canonicalize.h"

namespace tilewright {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Rewriter;
using ir::Type;
using ir::Value;

bool is_shape_op(const Op& op) {
  return op.facts().maps(ir::Spread | ir::Repeated | ir::Reshaped | ir::Permuted);
}

// splat(constant), broadcast(constant), reshape(constant), permute(constant) => constant tile
Value constant_shape(Rewriter& rewriter, const Op& op) {
  if (!is_shape_op(op)) return {};
  const Op* constant = rewriter.made_by(op.operands[0], OpKind::Constant);
  return constant ? rewriter.constant_like(rewriter.type(op.result()), *constant->find("value"))
                  : Value{};
}

// broadcast(splat x), reshape(splat x), permute(splat x) => splat x
Value shape_of_splat(Rewriter& rewriter, const Op& op) {
  if (!is_shape_op(op) || op.kind == OpKind::Splat) return {};
  const Op* splat = rewriter.made_by(op.operands[0], OpKind::Splat);
  return splat ? rewriter.splat(splat->operands[0], rewriter.type(op.result())) : Value{};
}

// f(splat a, splat b, constant) => splat f(a, b, constant)
Value elementwise_on_splats(Rewriter& rewriter, const Op& op) {
  if (!op.facts().has(ir::Elementwise) || op.kind == OpKind::Hint) return {};
  const Type& type = rewriter.type(op.result());
  if (type.is_scalar()) return {};
  std::vector<Value> scalars;
  bool has_splat = false;
  for (const Value operand : op.operands) {
    if (const Op* splat = rewriter.made_by(operand, OpKind::Splat)) {
      scalars.push_back(splat->operands[0]);
      has_splat = true;
    } else if (const Op* constant = rewriter.made_by(operand, OpKind::Constant)) {
      scalars.push_back(
          rewriter.constant_like(rewriter.type(operand).element(), *constant->find("value")));
    } else {
      return {};
    }
  }
  if (!has_splat) return {};
  const Value scalar =
      rewriter.create_one(op.kind, std::move(scalars), type.element(), op.attributes);
  return rewriter.splat(scalar, type);
}

// a shape op that changes nothing => x
Value same_shape_again(Rewriter& rewriter, const Op& op) {
  if ((op.kind != OpKind::Reshape && op.kind != OpKind::Broadcast) ||
      rewriter.type(op.operands[0]) != rewriter.type(op.result()))
    return {};
  return op.operands[0];
}

// reshape(reshape x) => reshape x; broadcast(broadcast x) => broadcast x
Value chain(Rewriter& rewriter, const Op& op) {
  if (op.kind != OpKind::Reshape && op.kind != OpKind::Broadcast) return {};
  const Op* inner = rewriter.made_by(op.operands[0], op.kind);
  return inner ? rewriter.create_one(op.kind, {inner->operands[0]}, rewriter.type(op.result()))
               : Value{};
}

// permute by the identity => x; permute(permute x) => permute x
Value permutation(Rewriter& rewriter, const Op& op) {
  if (op.kind != OpKind::Permute) return {};
  const std::vector<std::int64_t> order = op.integers("order");
  bool is_identity = true;
  for (std::size_t d = 0; d < order.size(); ++d)
    is_identity &= order[d] == static_cast<std::int64_t>(d);
  if (is_identity) return op.operands[0];
  const Op* inner = rewriter.made_by(op.operands[0], OpKind::Permute);
  if (!inner) return {};
  const std::vector<std::int64_t> first = inner->integers("order");
  std::vector<std::int64_t> both;
  for (const std::int64_t dimension : order)
    both.push_back(first[static_cast<std::size_t>(dimension)]);
  return rewriter.permute(inner->operands[0], both);
}

constexpr ir::Rule shapes[] = {constant_shape,   shape_of_splat, elementwise_on_splats,
                               same_shape_again, chain,          permutation};

}  // namespace

std::span<const ir::Rule> shape_rules() { return shapes; }

}  // namespace tilewright
