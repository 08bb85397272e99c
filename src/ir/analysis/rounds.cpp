// SPDX-License-Identifier: Apache-2.0
// ir/analysis/rounds.cpp — conditions as distances from where a loop begins or stands.
#include "ir/analysis/rounds.h"

#include <algorithm>

namespace tilewright::ir {
namespace {

// Longer chains are taken to differ.
constexpr int most_compared = 64;

// Whether pure ops make the same of the same values: an expression without a name stands in the
// text once for each use.
bool is_equal(const Kernel& kernel, Value a, Value b, int& budget) {
  if (a == b) return true;
  const Op* one = kernel.maker(a);
  const Op* two = kernel.maker(b);
  if (!one || !two || one->kind != two->kind || !one->facts().has(Pure) ||
      one->results.size() != 1 || one->operands.size() != two->operands.size() ||
      !(one->attributes == two->attributes) || kernel.type(a) != kernel.type(b) || --budget < 0)
    return false;
  for (std::size_t k = 0; k < one->operands.size(); ++k)
    if (!is_equal(kernel, one->operands[k], two->operands[k], budget)) return false;
  return true;
}

bool is_same_root(const Kernel& kernel, const Moved& a, const Moved& b) {
  int budget = most_compared;
  if (!a.root || !b.root) return !a.root && !b.root;
  return is_equal(kernel, a.root, b.root, budget);
}

// By how much a condition says that a value may grow and stay below the loop's end; -1: nothing.
std::int64_t room_behind(const Kernel& kernel, const Op& loop, Value from, Value condition) {
  const Op* op = kernel.maker(condition);
  if (!op) return -1;
  if (op->kind == OpKind::Hint) return room_behind(kernel, loop, from, op->operands[0]);
  if (op->kind == OpKind::All || op->kind == OpKind::And) {
    std::int64_t most = -1;
    for (const Value part : op->operands)
      most = std::max(most, room_behind(kernel, loop, from, part));
    return most;
  }
  if (op->kind != OpKind::Compare || op->text("is") != "lt") return -1;
  const Moved below = moved(kernel, op->operands[0]), end = moved(kernel, op->operands[1]);
  const Moved at = moved(kernel, from), to = moved(kernel, loop.operands[1]);
  if (!is_same_root(kernel, below, at) || !is_same_root(kernel, end, to)) return -1;
  return (below.by - at.by) - (end.by - to.by);
}

std::int64_t step_of(const Kernel& kernel, const Op& loop) {
  const Moved step = moved(kernel, loop.operands[2]);
  return step.root ? 0 : step.by;
}

}  // namespace

Moved moved(const Kernel& kernel, Value value) {
  const Op* op = kernel.maker(value);
  if (!op) return {value};
  if (op->kind == OpKind::Constant && kernel.type(value).is_int())
    return {{}, op->integer("value")};
  const bool widens =
      op->kind == OpKind::Cast && kernel.type(op->operands[0]).is_int() &&
      kernel.type(value).is_int() &&
      kernel.type(value).element_bytes() >= kernel.type(op->operands[0]).element_bytes();
  if (op->kind == OpKind::Hint || widens) return moved(kernel, op->operands[0]);
  if (op->kind == OpKind::Add || op->kind == OpKind::Subtract) {
    const Moved a = moved(kernel, op->operands[0]), b = moved(kernel, op->operands[1]);
    if (!b.root) return {a.root, op->kind == OpKind::Add ? a.by + b.by : a.by - b.by};
    if (!a.root && op->kind == OpKind::Add) return {b.root, a.by + b.by};
    return {value};
  }
  if (op->kind == OpKind::Linear && op->integers("factors") == std::vector<std::int64_t>{1}) {
    const Moved index = moved(kernel, op->operands[0]);
    return {index.root, index.by + op->integer("offset")};
  }
  return {value};
}

std::int64_t rounds_to_come(const Kernel& kernel, const Op& loop, Value condition) {
  const std::int64_t step = step_of(kernel, loop);
  if (step <= 0) return 0;
  const Moved from = moved(kernel, loop.operands[0]), to = moved(kernel, loop.operands[1]);
  if (!from.root && !to.root) return std::max<std::int64_t>(0, (to.by - from.by + step - 1) / step);
  const std::int64_t room = condition ? room_behind(kernel, loop, loop.operands[0], condition) : -1;
  return room < 0 ? 0 : room / step + 1;
}

bool asks_for_rounds(const Kernel& kernel, const Op& loop, Value condition) {
  const Op* op = kernel.maker(condition);
  return op && op->kind == OpKind::Compare && step_of(kernel, loop) > 0 &&
         room_behind(kernel, loop, loop.operands[0], condition) == 0;
}

std::int64_t rounds_behind(const Kernel& kernel, const Op& loop, Value condition) {
  const std::int64_t step = step_of(kernel, loop);
  if (step <= 0) return 0;
  const std::int64_t room = room_behind(kernel, loop, loop.regions[0].arguments[0], condition);
  return room < 0 ? 0 : room / step;
}

}  // namespace tilewright::ir
