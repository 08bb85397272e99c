// SPDX-License-Identifier: Apache-2.0
// graph/plan/merge.cpp — which steps are alike, and how far they can move.
#include "graph/plan/merge.h"

#include <algorithm>

namespace tilewright::graph {
namespace {

// Larger tensors gain nothing, and what they are computed from would live longer.
constexpr std::int64_t small = 1 << 20;  // elements
constexpr std::size_t most_arguments = 200;

// A kernel of lists takes their sizes, and no strides.
bool has_steps(const WalkClass& walk) {
  return std::find(walk.access, walk.access + walk.operands, Access::Strided) !=
         walk.access + walk.operands;
}

bool has_places(const Formula& formula) {
  return std::any_of(formula.leaves.begin(), formula.leaves.end(),
                     [](const Leaf& leaf) { return leaf.is_place; });
}

bool can_merge(const PlannedStep& step) {
  return step.node < 0 && !has_places(*step.formula) && step.sizes.empty() &&
         step.walk.mode == Mode::Linear && !has_steps(step.walk) && step.walk.numel() > 0 &&
         step.walk.numel() <= small;
}

bool is_alike(const PlannedStep& a, const PlannedStep& b) {
  const auto same_number = [](const Argument& x, const Argument& y) {
    return x.dtype == y.dtype && x.bits == y.bits;
  };
  return a.formula == b.formula && a.walk.access_word() == b.walk.access_word() &&
         a.walk.head_word(DeviceKind::Cpu) == b.walk.head_word(DeviceKind::Cpu) &&
         std::equal(a.numbers.begin(), a.numbers.end(), b.numbers.begin(), b.numbers.end(),
                    same_number);
}

bool reads(const Graph& graph, const PlannedStep& step, int node) {
  if (step.node >= 0) {
    const Node& operation = graph.nodes[static_cast<std::size_t>(step.node)];
    return std::any_of(operation.operands.begin(), operation.operands.end(),
                       [&](const Value& value) { return value.node == node; });
  }
  return std::any_of(step.leaves.begin(), step.leaves.end(),
                     [&](const PlannedLeaf& leaf) { return leaf.node == node; });
}

class Merger {
 public:
  Merger(const Graph& graph, std::vector<PlannedStep>& steps) : graph_(graph), steps_(steps) {}

  void run() {
    std::vector<bool> is_gone(steps_.size(), false);
    for (std::size_t first = 0; first < steps_.size(); ++first) {
      if (is_gone[first] || !can_merge(steps_[first])) continue;
      const std::vector<std::size_t> all = alike(first, is_gone);
      if (all.size() < 2) continue;
      PlannedStep merged = joined(all);
      for (const std::size_t s : all) is_gone[s] = true;
      steps_[all.back()] = std::move(merged);
      is_gone[all.back()] = false;
    }
    std::size_t left = 0;
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if (is_gone[s]) continue;
      if (left != s) steps_[left] = std::move(steps_[s]);
      ++left;
    }
    steps_.resize(left);
  }

 private:
  // Is what the steps write read by one of those behind `from` up to `to`?
  bool is_read(const std::vector<std::size_t>& by, std::size_t from, std::size_t to,
               const std::vector<bool>& is_gone) const {
    for (const std::size_t s : by)
      for (const int node : steps_[s].written)
        for (std::size_t t = std::max(from, s) + 1; t <= to; ++t)
          if (!is_gone[t] && reads(graph_, steps_[t], node)) return true;
    return false;
  }

  std::vector<std::size_t> alike(std::size_t first, const std::vector<bool>& is_gone) const {
    std::vector<std::size_t> all = {first};
    const std::size_t each = steps_[first].leaves.size() + steps_[first].written.size() + 1;
    for (std::size_t t = first + 1; t < steps_.size(); ++t) {
      const bool is_full = all.size() == most_lists || each * (all.size() + 1) > most_arguments;
      if (is_full || is_read(all, t - 1, t, is_gone)) break;
      if (!is_gone[t] && can_merge(steps_[t]) && is_alike(steps_[first], steps_[t]))
        all.push_back(t);
    }
    return all;
  }

  PlannedStep joined(const std::vector<std::size_t>& all) const {
    PlannedStep merged = steps_[all[0]];
    merged.sizes = {merged.walk.numel()};
    for (std::size_t i = 1; i < all.size(); ++i) {
      const PlannedStep& step = steps_[all[i]];
      merged.leaves.insert(merged.leaves.end(), step.leaves.begin(), step.leaves.end());
      merged.written.insert(merged.written.end(), step.written.begin(), step.written.end());
      merged.sizes.push_back(step.walk.numel());
    }
    return merged;
  }

  const Graph& graph_;
  std::vector<PlannedStep>& steps_;
};

}  // namespace

void merge_alike(const Graph& graph, std::vector<PlannedStep>& steps) {
  Merger(graph, steps).run();
}

}  // namespace tilewright::graph
