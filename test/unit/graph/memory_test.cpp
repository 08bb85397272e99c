// SPDX-License-Identifier: Apache-2.0
// graph/memory_test.cpp — planned memory: values that live at the same time never share a place.
#include "graph/plan/memory.h"

#include <random>

#include <gtest/gtest.h>

#include "graph/plan/plan.h"
#include "tensor/shape.h"

namespace tilewright::graph {
namespace {

Node node_of(Node::Kind kind, std::int64_t elements) {
  return {.kind = kind, .dtype = DType::Float32, .shape = {elements}, .strides = {1}};
}

// Each step reads some earlier nodes and writes one.
Plan random_plan(std::uint64_t seed) {
  std::mt19937_64 choose(seed);
  Plan plan;
  plan.graph.nodes.push_back(node_of(Node::Kind::Input, 64));
  std::vector<std::vector<int>> reads;
  for (int i = 1; i <= 40; ++i) {
    plan.graph.nodes.push_back(
        node_of(Node::Kind::Pointwise, static_cast<std::int64_t>(choose() % 900)));
    PlannedStep step;
    step.written = {i};
    reads.emplace_back();
    for (std::uint64_t r = 0; r < 1 + choose() % 3; ++r)
      reads.back().push_back(static_cast<int>(choose() % static_cast<std::uint64_t>(i)));
    plan.steps.push_back(std::move(step));
  }
  plan.graph.outputs.push_back({.node = 40});
  std::vector<bool> is_seen(plan.graph.nodes.size(), false);
  is_seen[40] = true;
  for (std::size_t s = plan.steps.size(); s-- > 0;)
    for (const int node : reads[s])
      if (node > 0 && !is_seen[static_cast<std::size_t>(node)]) {
        is_seen[static_cast<std::size_t>(node)] = true;
        plan.steps[s].last_read.push_back(node);
      }
  return plan;
}

struct Life {
  std::int64_t begin, end;  // bytes
  std::size_t from, to;     // steps
};

TEST(PlannedMemory, ValuesThatLiveTogetherLieApart) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Plan plan = random_plan(seed);
    const MemoryPlan memory = plan_memory(plan);
    EXPECT_EQ(memory.offsets[0], -1) << "an input has memory";
    EXPECT_EQ(memory.offsets[40], -1) << "results are fresh";
    std::vector<Life> lives;
    std::int64_t all = 0;
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
      const auto node = static_cast<std::size_t>(plan.steps[s].written[0]);
      if (memory.offsets[node] < 0) continue;
      const std::int64_t bytes = 4 * plan.graph.nodes[node].shape[0];
      Life life{memory.offsets[node], memory.offsets[node] + bytes, s, plan.steps.size()};
      for (std::size_t t = s; t < plan.steps.size(); ++t)
        for (const int read : plan.steps[t].last_read)
          if (static_cast<std::size_t>(read) == node) life.to = t;
      EXPECT_EQ(life.begin % 256, 0);
      EXPECT_LE(life.end, memory.bytes);
      all += bytes;
      for (const Life& other : lives) {
        const bool is_together = life.from <= other.to && other.from <= life.to;
        const bool overlaps = life.begin < other.end && other.begin < life.end;
        EXPECT_FALSE(is_together && overlaps) << "seed " << seed << ", step " << s;
      }
      lives.push_back(life);
    }
    EXPECT_LT(memory.bytes, all) << "nothing was used twice";
  }
}

}  // namespace
}  // namespace tilewright::graph
