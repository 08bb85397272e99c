// SPDX-License-Identifier: Apache-2.0
// passes/merge_inductions.cpp — how far a carried number is from the loop's index.
#include "passes/merge_inductions.h"

#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/constant.h"
#include "passes/edit_regions.h"

namespace tilewright {
namespace {

using ir::Kernel;
using ir::Op;
using ir::OpKind;
using ir::Region;
using ir::Value;

constexpr std::int64_t most_distance = 1 << 30;  // with a constant more it is an int32

// A scalar as another one and a number that is added to it.
struct Moved {
  Value from;  // none: the number alone
  std::int64_t by = 0;
};

Moved moved_of(const Kernel& kernel, Value value) {
  if (const auto number = ir::integer_constant(kernel, value)) return {{}, *number};
  const Op* op = kernel.maker(value);
  if (op == nullptr || (op->kind != OpKind::Add && op->kind != OpKind::Subtract)) return {value};
  const auto right = ir::integer_constant(kernel, op->operands[1]);
  const auto left = ir::integer_constant(kernel, op->operands[0]);
  if (right) {
    Moved out = moved_of(kernel, op->operands[0]);
    out.by += op->kind == OpKind::Add ? *right : -*right;
    return out;
  }
  if (!left || op->kind != OpKind::Add) return {value};
  Moved out = moved_of(kernel, op->operands[1]);
  out.by += *left;
  return out;
}

class LoopMerger {
 public:
  LoopMerger(Kernel& kernel, Op& loop) : kernel_(kernel), loop_(loop) {}

  void run() {
    const auto step = ir::integer_constant(kernel_, loop_.operands[2]);
    if (!step || !kernel_.type(index()).is_int()) return;
    for (std::size_t k = 0; k < loop_.results.size(); ++k)
      if (const auto distance = distance_of(k, *step)) replace(k, *distance);
  }

 private:
  Value index() const { return loop_.regions[0].arguments[0]; }

  // How far the carried number is from the index, in all rounds.
  std::optional<std::int64_t> distance_of(std::size_t k, std::int64_t step) const {
    const Value carried = loop_.regions[0].arguments[k + 1];
    if (kernel_.type(carried) != kernel_.type(index())) return std::nullopt;
    const Moved next = moved_of(kernel_, loop_.regions[0].ops.back()->operands[k]);
    if (next.from != carried || next.by != step) return std::nullopt;
    const Moved first = moved_of(kernel_, loop_.operands[k + 3]);
    const Moved start = moved_of(kernel_, loop_.operands[0]);
    const std::int64_t distance = first.by - start.by;
    const bool is_known = first.from == start.from && std::abs(distance) <= most_distance;
    return is_known ? std::optional(distance) : std::nullopt;
  }

  // Of the number, and of sums of it and a constant; what the loop yields is left to itself.
  void replace(std::size_t k, std::int64_t distance) {
    const Value carried = loop_.regions[0].arguments[k + 1];
    ir::walk(loop_.regions[0], [&](Op& op) {
      if (&op == loop_.regions[0].ops.back()) return;
      for (Value& operand : op.operands) {
        if (!kernel_.type(operand).is_int() || kernel_.type(operand).is_tile()) continue;
        const Moved moved = moved_of(kernel_, operand);
        if (moved.from == carried && !is_part_of_step(op, carried))
          operand = index_plus(moved.by + distance);
      }
    });
    put_first(loop_.regions[0], made_);
    made_.ops.clear();
    known_.clear();
  }

  // A sum that itself is seen as the index and a number.
  bool is_part_of_step(const Op& op, Value carried) const {
    return op.results.size() == 1 && !kernel_.type(op.result()).is_tile() &&
           (op.kind == OpKind::Add || op.kind == OpKind::Subtract) &&
           moved_of(kernel_, op.result()).from == carried;
  }

  Value index_plus(std::int64_t number) {
    if (number == 0) return index();
    for (const auto& [value, known] : known_)
      if (known == number) return value;
    ir::Builder build(kernel_);
    build.set_location(loop_.location);
    const ir::Builder::Into into(build, made_);
    const Value by = build.constant(kernel_.type(index()), number);
    known_.emplace_back(build.binary(OpKind::Add, index(), by), number);
    return known_.back().first;
  }

  Kernel& kernel_;
  Op& loop_;
  Region made_;
  std::vector<std::pair<Value, std::int64_t>> known_;
};

}  // namespace

void merge_inductions(Kernel& kernel, const Target&) {
  if (kernel.stage != ir::Stage::Source) return;
  ir::walk(kernel.body, [&](Op& op) {
    if (op.kind == OpKind::For) LoopMerger(kernel, op).run();
  });
}

}  // namespace tilewright
