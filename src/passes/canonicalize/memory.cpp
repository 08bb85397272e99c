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

constexpr ir::Rule rules[] = {known_load_mask, known_store_mask};

}  // namespace

std::span<const ir::Rule> memory_rules() { return rules; }

}  // namespace tilewright
