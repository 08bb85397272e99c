// SPDX-License-Identifier: Apache-2.0
// passes/canonicalize/control.cpp — branches and loops whose course is known.
#include "passes/canonicalize.h"

namespace tilewright {
namespace {

using ir::Op;
using ir::OpKind;
using ir::Rewriter;
using ir::Value;

// if true { a } then { b } => a
Value known_branch(Rewriter& rewriter, const Op& op) {
  if (op.kind != OpKind::If) return {};
  const auto condition = rewriter.constant_of(op.operands[0]);
  if (condition) rewriter.inline_region(op, op.regions[std::get<std::int64_t>(*condition) ? 0 : 1]);
  return {};
}

// assert true, assume true are nothing
Value known_promise(Rewriter& rewriter, const Op& op) {
  const bool is_promise = op.facts().is(ir::Family::Check);
  if (is_promise && rewriter.is_constant(op.operands[0], 1)) rewriter.erase(op);
  return {};
}

// hint(constant) => constant
Value hint_on_constant(Rewriter& rewriter, const Op& op) {
  if (op.kind != OpKind::Hint || !rewriter.made_by(op.operands[0], OpKind::Constant)) return {};
  return op.operands[0];
}

constexpr ir::Rule control[] = {known_branch, known_promise, hint_on_constant};

}  // namespace

std::span<const ir::Rule> control_rules() { return control; }

}  // namespace tilewright
