// SPDX-License-Identifier: Apache-2.0
// ir/interpret/control.cpp — regions, loops and branches, from their begin or from a checkpoint.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "ir/interpret/program.h"

namespace tilewright::ir {

// ---- Checkpoints

std::size_t Checkpoint::bytes() const {
  std::size_t elements = 0;
  for (const Tile& tile : values) elements += tile.size();
  return elements * sizeof(Element) + values.size() * sizeof(Tile);
}

Checkpoint Program::checkpoint_before(const Op& op) const {
  TW_CHECK(kernel_.buffers.empty(), "a kernel with buffers has no checkpoints");
  return {path_, &op, values_, jitter_, steps_};
}

void Program::resume(const Checkpoint& checkpoint) {
  values_ = checkpoint.values;
  jitter_ = checkpoint.jitter;
  steps_ = checkpoint.steps - 1;  // its op counts once more
  resumed_ = &checkpoint;
  run_region(kernel_.body);
}

bool Program::enter(const Op& op) {
  const bool is_under_way = resumed_ != nullptr;
  path_.push_back(is_under_way ? resumed_->path[path_.size()] : ControlPlace{&op});
  return is_under_way;
}

std::size_t Program::first_op(const Region& region) {
  if (resumed_ == nullptr) return 0;
  const bool is_there = path_.size() == resumed_->path.size();
  const Op* const wanted = is_there ? resumed_->op : resumed_->path[path_.size()].op;
  const auto found = std::find(region.ops.begin(), region.ops.end(), wanted);
  TW_CHECK(found != region.ops.end(), "a checkpoint is of another kernel");
  if (is_there) resumed_ = nullptr;
  return static_cast<std::size_t>(found - region.ops.begin());
}

// Whoever watches was told of its begin before the checkpoint.
void Program::run_to_end(const Op& op) {
  control(op);
  if (options_.watch != nullptr) options_.watch->after(*this, op);
}

// ---- Control

const Op* Program::run_region(const Region& region) {
  for (std::size_t i = first_op(region); i < region.ops.size(); ++i) {
    const Op& op = *region.ops[i];
    if (op.facts().is(Family::Ends)) {
      if (const std::string problem = copies_.use_problem(op); !problem.empty()) fail(op, problem);
      return &op;
    }
    if (resumed_ != nullptr) run_to_end(op);
    else run_op(op);
  }
  return nullptr;
}

void Program::count_round(const Op& loop) {
  if (++steps_ > options_.max_ops && options_.max_ops > 0)
    fail(loop, fmt::format("more than {} ops were run; the loop seems endless", options_.max_ops));
}

void Program::for_loop(const Op& op) {
  const std::int64_t from = operand(op, 0).elements[0].i, to = operand(op, 1).elements[0].i,
                     step = operand(op, 2).elements[0].i;
  if (step == 0) fail(op, "the loop's step is 0");
  const Region& body = op.regions[0];
  const Type& index_type = kernel_.type(body.arguments[0]);
  const bool by_bits = !is_signed(index_type.dtype);
  const auto is_before = [&](std::int64_t a, std::int64_t b) {
    return by_bits ? static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b) : a < b;
  };
  std::span<const Value> moved(op.operands.begin() + 3, op.operands.end());
  bool is_under_way = enter(op);
  std::vector<Tile> carried;
  if (!is_under_way) carried = values_of(op.operands, 3);
  for (std::int64_t i = is_under_way ? path_.back().index : from;
       step > 0 ? is_before(i, to) : is_before(to, i); i += step) {
    if (!std::exchange(is_under_way, false)) {
      path_.back().index = i;
      set(body.arguments[0], {index_type, {Element{.i = i}}});
      note_moves({body.arguments.begin(), 1}, {});
      note_moves({body.arguments.begin() + 1, body.arguments.end()}, moved);
      set_all(std::span(body.arguments).subspan(1), carried);
    }
    const Op* end = run_region(body);
    carried = values_of(end->operands);
    moved = end->operands;
    count_round(op);
  }
  leave();
  if (op.integer("drains") != 0) rings_.drain();
  note_moves(op.results, moved);
  set_all(op.results, carried);
}

void Program::while_loop(const Op& op) {
  std::vector<Tile> carried = values_of(op.operands);
  std::span<const Value> moved = op.operands;
  bool is_under_way = enter(op);
  while (true) {
    if (!is_under_way) {
      path_.back().region = 0;
      note_moves(op.regions[0].arguments, moved);
      set_all(op.regions[0].arguments, carried);
    }
    if (!is_under_way || path_.back().region == 0) {
      const Op* condition = run_region(op.regions[0]);
      carried = values_of(condition->operands, 1);
      moved = std::span<const Value>(condition->operands).subspan(1);
      if (options_.watch != nullptr) options_.watch->decides(*this, *condition);
      if (!get(condition->operands[0]).elements[0].i) break;
      path_.back().region = 1;
      note_moves(op.regions[1].arguments, moved);
      set_all(op.regions[1].arguments, carried);
    }
    is_under_way = false;
    const Op* end = run_region(op.regions[1]);
    carried = values_of(end->operands);
    moved = end->operands;
    count_round(op);
  }
  leave();
  note_moves(op.results, moved);
  set_all(op.results, carried);
}

void Program::branch(const Op& op) {
  const Op* asks = kernel_.maker(op.operands[0]);
  if (asks != nullptr && asks->kind == OpKind::IsProducer) return parts_.roles.run_roles(op);
  enter(op);
  const Op* end = run_region(op.regions[operand(op, 0).elements[0].i ? 0 : 1]);
  leave();
  give_results(op, end);
}

void Program::sweep(const Op& op) {
  enter(op);
  const Op* end = run_region(op.regions[0]);
  leave();
  give_results(op, end);
}

void Program::give_results(const Op& op, const Op* end) {
  if (end != nullptr) note_moves(op.results, end->operands);
  for (std::size_t k = 0; k < op.results.size(); ++k) set_result(op, get(end->operands[k]), k);
}

// ---- Functions of two elements

std::vector<Tile> Program::combine(const Op& op, const std::vector<Tile>& a,
                                   const std::vector<Tile>& b) {
  const Region& region = op.regions[0];
  bool has_control_flow = false;
  for (const Op* inner : region.ops) has_control_flow |= !inner->regions.empty();
  const std::size_t lanes = a[0].size();
  const std::size_t width = has_control_flow ? 1 : lanes;
  const std::size_t count = a.size();
  const bool was_combining = std::exchange(is_combining, true);

  std::vector<Tile> out;
  for (const Tile& tile : a) out.push_back({tile.type.element(), std::vector<Element>(lanes)});
  for (std::size_t first = 0; first < lanes; first += width) {
    for (std::size_t k = 0; k < 2 * count; ++k) {
      const Tile& from = k < count ? a[k] : b[k - count];
      const auto begin = from.elements.begin() + static_cast<std::ptrdiff_t>(first);
      set(region.arguments[k],
          {from.type.element(), {begin, begin + static_cast<std::ptrdiff_t>(width)}});
    }
    const Op* end = run_region(region);
    for (std::size_t k = 0; k < count; ++k)
      for (std::size_t lane = 0; lane < width; ++lane)
        out[k].elements[first + lane] = get(end->operands[k]).at(lane);
  }
  is_combining = was_combining;
  return out;
}

}  // namespace tilewright::ir
