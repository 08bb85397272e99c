// SPDX-License-Identifier: Apache-2.0
// ir/interpret/threads.cpp — the threads of a program of stage Final: each has its own values and
// arrays, and runs alone from one op at which threads meet to the next, in an order by the seed.
//
// Control flow around such an op is the same for all threads (rule F4), so that all of them stand
// at the same op when they meet, and no thread needs a stack of its own.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ir/analysis/meetings.h"
#include "ir/calls.h"
#include "ir/interpret/program.h"

namespace tilewright::ir {

void Threads::run() {
  const Op* thread = thread_op(kernel_);
  const std::int64_t count = thread ? thread->integer("count") : 1;
  if (count == 1) {
    parts().program.run_region(kernel_.body);
    parts().final_ops.check_copies_done();
    parts().maps.check_stores_done();
    return parts().final_ops.end_copies();
  }
  lanes_ = thread->integer("lanes", count);
  thread_count_ = count;
  shared_.set_up(lanes_, products_.is_used() || !kernel_.maps.empty());
  const bool meet = std::any_of(kernel_.body.ops.begin(), kernel_.body.ops.end(),
                                [](const Op* op) { return holds_meeting(*op); });
  // Threads that never meet need no state while others run.
  if (meet) threads_.assign(static_cast<std::size_t>(count), {values_, {}, {}});
  if (meet) run_together(kernel_.body);
  for_each_thread([&] {
    if (!meet) parts().program.run_region(kernel_.body);
    parts().final_ops.end_copies();
  });
  parts().final_ops.check_copies_done();
  parts().maps.check_stores_done();
  if (const std::string problem = products_.end_problem(); !problem.empty()) fail(*thread, problem);
}

const Op* Threads::run_together(const Region& region) {
  for (std::size_t i = 0; i < region.ops.size();) {
    std::size_t end = i;
    while (end < region.ops.size() && !region.ops[end]->facts().is(Family::Ends) &&
           !holds_meeting(*region.ops[end]))
      ++end;
    if (end > i)
      for_each_thread([&] {
        for (std::size_t k = i; k < end; ++k) parts().program.run_op(*region.ops[k]);
      });
    if (end == region.ops.size()) return nullptr;
    const Op& op = *region.ops[end];
    if (op.facts().is(Family::Ends)) return &op;
    meet(op);
    i = end + 1;
  }
  return nullptr;
}

void Threads::meet(const Op& op) {
  if (op.kind == OpKind::Barrier)
    return op.text("of") == "warp" ? shared_.meet_in_warps() : shared_.meet();
  if (op.kind == OpKind::For) return for_together(op);
  if (op.kind == OpKind::While) return while_together(op);
  if (op.kind == OpKind::If) return branch_together(op);
  call_together(op, together_call(function_of(op)));
}

void Threads::call_together(const Op& op, TogetherCall function) {
  switch (function) {
    case TogetherCall::ReduceLanes:
    case TogetherCall::ReduceBlock:
    case TogetherCall::ReduceCluster:
      return combine_threads(op);
    case TogetherCall::ScanLanes:
    case TogetherCall::ScanBlock:
      return parts().scans.scan_threads(op);
    case TogetherCall::BeforeLanes:
    case TogetherCall::BeforeBlock:
      return parts().scans.scan_before(op);
    case TogetherCall::SortBlock:
      return parts().scans.sort_threads(op);
    case TogetherCall::ClusterWait:
      return shared_.meet();
    case TogetherCall::LoadMatrices:
      return parts().matrices.load_matrices(op);
    case TogetherCall::Mma:
      return parts().matrices.multiply_matrices(op);
    case TogetherCall::SwapLanes:
      return parts().matrices.swap_lanes(op);
    case TogetherCall::BeginProducts:
      return parts().matrices.begin_products();
    case TogetherCall::StartProduct:
      return parts().matrices.start_products(op);
    case TogetherCall::CommitProducts:
      return parts().matrices.commit_products();
    case TogetherCall::WaitProducts:
      return parts().matrices.wait_products(op);
    case TogetherCall::AwaitSlot:
      return parts().rings.await_slot(op);
    case TogetherCall::ReleaseSlot:
      return parts().rings.release_slot(op);
  }
}

// The value that all threads have.
Element Threads::agreed(const Op& op, Value value) const {
  const Element first = threads_[0].values[value.id].elements[0];
  for (const ThreadState& state : threads_)
    if (state.values[value.id].elements[0].i != first.i)
      fail(op, fmt::format("threads that meet in '{}' do not go the same way", op.facts().name));
  return first;
}

void Threads::hand_on(std::span<const Value> to, std::span<const Value> from) {
  for (ThreadState& state : threads_) {
    std::vector<Tile> tiles;
    for (const Value value : from) tiles.push_back(state.values[value.id]);
    for (std::size_t k = 0; k < to.size(); ++k) state.values[to[k].id] = std::move(tiles[k]);
  }
}

void Threads::for_together(const Op& op) {
  const std::int64_t from = agreed(op, op.operands[0]).i, to = agreed(op, op.operands[1]).i,
                     step = agreed(op, op.operands[2]).i;
  if (step == 0) fail(op, "the loop's step is 0");
  const Region& body = op.regions[0];
  std::span<const Value> carried = std::span(op.operands).subspan(3);
  const std::span<const Value> arguments = std::span(body.arguments).subspan(1);
  for (std::int64_t i = from; step > 0 ? i < to : i > to; i += step) {
    hand_on(arguments, carried);
    for (ThreadState& state : threads_)
      state.values[body.arguments[0].id] = {kernel_.type(body.arguments[0]), {Element{.i = i}}};
    carried = run_together(body)->operands;
  }
  hand_on(op.results, carried);
}

void Threads::while_together(const Op& op) {
  std::span<const Value> carried = op.operands;
  while (true) {
    hand_on(op.regions[0].arguments, carried);
    const Op* decision = run_together(op.regions[0]);
    carried = std::span(decision->operands).subspan(1);
    if (agreed(op, decision->operands[0]).i == 0) break;
    hand_on(op.regions[1].arguments, carried);
    carried = run_together(op.regions[1])->operands;
    parts().program.count_round(op);
  }
  hand_on(op.results, carried);
}

void Threads::branch_together(const Op& op) {
  if (parts_roles(kernel_, op)) return parts().rings.run_thread_roles(op);
  const Op* end = run_together(op.regions[agreed(op, op.operands[0]).i != 0 ? 0 : 1]);
  hand_on(op.results, end->operands);
}

// ---- Values combined over threads

namespace {

// As in device_lib/cuda/reduce.cuh.
std::int64_t slots_per_warp(std::int64_t lane_bits, std::int64_t warp_bits, std::int64_t lanes) {
  const bool are_neighbours = (warp_bits & (warp_bits + 1)) == 0;
  return lane_bits != lanes - 1 ? lanes : warp_bits > 7 && !are_neighbours ? 2 : 1;
}

}  // namespace

// Every thread with the one whose number differs in a bit; in order: the lower one on the left.
std::vector<Tile> Threads::combined_over(const Op& op, const std::vector<Tile>& tiles,
                                         std::int64_t bit, bool in_order) {
  std::vector<Tile> left = tiles, right = tiles;
  for (std::size_t k = 0; k < tiles.size(); ++k)
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      const std::size_t other = t ^ static_cast<std::size_t>(bit);
      const bool is_right = in_order && (t & static_cast<std::size_t>(bit)) != 0;
      (is_right ? left : right)[k].elements[t] = tiles[k].elements[other];
    }
  return parts().program.combine(op, left, right);
}

void Threads::combine_threads(const Op& op) {
  const std::vector<std::int64_t> numbers = op.integers("numbers");
  const bool is_block = function_of(op).operands.ends_with('S');
  const std::size_t count = op.operands.size() / (is_block ? 2 : 1);
  const std::int64_t lanes = numbers[0], totals = numbers[is_block ? 2 : 1];
  const bool in_order = numbers.back() != 0;
  std::vector<std::vector<Tile>> all;
  for (std::int64_t i = 0; i < totals; ++i) {
    std::vector<Tile> tiles = totals_of(op, count, i);
    for (std::int64_t k = 1; k < lanes_; k *= 2) {
      const std::int64_t bit = in_order ? k : lanes_ / 2 / k;
      if ((lanes & bit) != 0) tiles = combined_over(op, tiles, bit, in_order);
    }
    all.push_back(std::move(tiles));
  }
  if (is_block) combine_warps(op, all);
  for_each_thread([&] {
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t k = 0; k < count; ++k)
        write_array(op, k, static_cast<std::int64_t>(i),
                    all[i][k].elements[static_cast<std::size_t>(thread_)]);
  });
}

// Through the slots: the first lanes write theirs, all meet, and every thread combines those of its
// warps.
void Threads::combine_warps(const Op& op, std::vector<std::vector<Tile>>& all) {
  const std::vector<std::int64_t> numbers = op.integers("numbers");
  const std::int64_t lane_bits = numbers[0], warp_bits = numbers[1];
  const std::int64_t kept = (lanes_ - 1) & ~lane_bits;
  const std::int64_t each = slots_per_warp(lane_bits, warp_bits, lanes_);
  const std::int64_t of_total = static_cast<std::int64_t>(threads_.size()) / lanes_ * each;
  const std::size_t count = op.operands.size() / 2;
  const auto lane = [&] { return thread_ % lanes_; };
  for_each_thread([&] {
    if ((lane() & lane_bits) != 0) return;
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t k = 0; k < count; ++k)
        write_array(
            op, count + k,
            static_cast<std::int64_t>(i) * of_total + thread_ / lanes_ * each + (lane() & kept),
            all[i][k].elements[static_cast<std::size_t>(thread_)]);
  });
  shared_.meet();
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<Tile> sums;
    for (std::int64_t w = 0; w <= warp_bits; ++w) {
      if ((w & ~warp_bits) != 0) continue;
      std::vector<Tile> slots = all[i];
      for_each_thread([&] {
        const std::int64_t first = (thread_ / lanes_ & ~warp_bits) + w;
        for (std::size_t k = 0; k < count; ++k)
          slots[k].elements[static_cast<std::size_t>(thread_)] =
              read_array(op, count + k,
                         static_cast<std::int64_t>(i) * of_total + first * each + (lane() & kept));
      });
      sums = sums.empty() ? std::move(slots) : parts().program.combine(op, sums, slots);
    }
    all[i] = std::move(sums);
  }
}

}  // namespace tilewright::ir
