// SPDX-License-Identifier: Apache-2.0
// graph/plan/memory.cpp — the smallest gap that is large enough, else the end.
#include "graph/plan/memory.h"

#include <algorithm>
#include <map>

#include "graph/plan/plan.h"
#include "tensor/shape.h"

namespace tilewright::graph {
namespace {

constexpr std::int64_t line = 256;  // bytes that a place begins at a multiple of

class Places {
 public:
  std::int64_t take(std::int64_t bytes) {
    auto best = gaps_.end();
    for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap)
      if (gap->second >= bytes && (best == gaps_.end() || gap->second < best->second)) best = gap;
    if (best == gaps_.end()) return extend(bytes);
    const std::int64_t offset = best->first, left = best->second - bytes;
    gaps_.erase(best);
    if (left > 0) gaps_.emplace(offset + bytes, left);
    return offset;
  }

  void give_back(std::int64_t offset, std::int64_t bytes) {
    auto place = gaps_.emplace(offset, bytes).first;
    const auto next = std::next(place);
    if (next != gaps_.end() && place->first + place->second == next->first) {
      place->second += next->second;
      gaps_.erase(next);
    }
    if (place == gaps_.begin()) return;
    const auto before = std::prev(place);
    if (before->first + before->second != place->first) return;
    before->second += place->second;
    gaps_.erase(place);
  }

  std::int64_t end() const { return end_; }

 private:
  // A gap at the end grows.
  std::int64_t extend(std::int64_t bytes) {
    std::int64_t offset = end_;
    if (!gaps_.empty()) {
      const auto last = std::prev(gaps_.end());
      if (last->first + last->second == end_) {
        offset = last->first;
        gaps_.erase(last);
      }
    }
    end_ = offset + bytes;
    return offset;
  }

  std::map<std::int64_t, std::int64_t> gaps_;  // offset to bytes
  std::int64_t end_ = 0;
};

}  // namespace

MemoryPlan plan_memory(const Plan& plan) {
  MemoryPlan made;
  made.offsets.assign(plan.graph.nodes.size(), -1);
  std::vector<bool> is_result(plan.graph.nodes.size(), false);
  for (const Value& value : plan.graph.outputs)
    is_result[static_cast<std::size_t>(value.node)] = true;
  const auto bytes_of = [&](std::size_t node) {
    const Node& n = plan.graph.nodes[node];
    const auto size = static_cast<std::int64_t>(size_of(n.dtype));
    return (checked_numel(n.shape, size_of(n.dtype)) * size + line - 1) / line * line;
  };
  Places places;
  for (const PlannedStep& step : plan.steps) {
    for (const int written : step.written) {
      const auto node = static_cast<std::size_t>(written);
      if (step.node >= 0 || is_result[node] || bytes_of(node) == 0) continue;
      made.offsets[node] = places.take(bytes_of(node));
    }
    for (const int read : step.last_read) {
      const auto node = static_cast<std::size_t>(read);
      if (made.offsets[node] >= 0) places.give_back(made.offsets[node], bytes_of(node));
    }
  }
  made.bytes = places.end();
  return made;
}

}  // namespace tilewright::graph
