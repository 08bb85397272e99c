// SPDX-License-Identifier: Apache-2.0
// graph/keep_test.cpp — graphs that differ in sizes alone share what was decided, others do not,
// and a plan from what is kept is the plan that would be made anew.
#include "graph/plan/keep.h"

#include <functional>

#include <gtest/gtest.h>

#include "graph/trace/tracer.h"
#include "tensor/traced.h"
#include "tilewright/ops.h"

namespace tilewright::graph {
namespace {

using Function = std::function<Tensor(const Tensor&, const Tensor&)>;

Graph traced(const Function& function, const Tensor& a, const Tensor& b) {
  TraceScope scope;
  const TracingScope tracing;
  const Tensor x = scope.tracer().add_input(a), y = scope.tracer().add_input(b);
  scope.tracer().add_output(function(x, y));
  scope.tracer().finish();
  return std::move(scope.tracer().graph);
}

Tensor rows_of(std::int64_t rows, std::int64_t columns) {
  return empty({rows, columns}, {DType::Float32, Device::cpu()});
}

Tensor layer(const Tensor& x, const Tensor& w) {
  const Tensor y = gelu(matmul(x, w.t()));
  return softmax(y + sum(y, 0) / static_cast<double>(x.size(0)), 1);
}

TEST(KeptPlans, OneStructureForAllSizes) {
  KeptPlans kept;
  const Tensor w = rows_of(48, 32);
  for (const std::int64_t rows : {100, 7, 250, 33, 1000}) {
    const Graph graph = traced(layer, rows_of(rows, 32), w);
    const Plan plan = kept.plan_for(graph, true), anew = make_plan(graph, true);
    ASSERT_EQ(plan.steps.size(), anew.steps.size());
    EXPECT_EQ(plan.explain(), anew.explain());
    EXPECT_EQ(whole_graph(plan).to_string(), graph.to_string());
    EXPECT_EQ(whole_graph(anew).to_string(), graph.to_string());
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
      const PlannedStep &a = plan.steps[s], &b = anew.steps[s];
      EXPECT_EQ(a.formula, b.formula);
      EXPECT_EQ(a.domain, b.domain);
      EXPECT_EQ(a.strides, b.strides);
      EXPECT_EQ(a.written, b.written);
      EXPECT_EQ(a.last_read, b.last_read);
      ASSERT_EQ(a.numbers.size(), b.numbers.size());
      for (std::size_t i = 0; i < a.numbers.size(); ++i)  // 1 / rows among them
        EXPECT_EQ(a.numbers[i].bits, b.numbers[i].bits);
    }
  }
  EXPECT_EQ(kept.structures(), 1u);
}

// A plan has the nodes that it runs, and what tells all others.
TEST(KeptPlans, OnlyNodesThatRunAreKept) {
  const auto views = [](const Tensor& x, const Tensor& y) {
    const Tensor made = exp(x.slice(0, 1, 4).t() * 3.0 - 1.0),
                 rest = where(made > 0.5, made, y[0][0]);
    return cat({sum(rest, 1, true), rest.slice(1, -1, -100, -1),
                arange(3, {f32, Device::cpu()}).view({1, 3}) * rest.slice(1, 0, 1)},
               1);
  };
  const Graph graph = traced(views, rows_of(5, 6), rows_of(2, 2));
  const Plan plan = make_plan(graph, true);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < plan.graph.nodes.size(); ++i) kept += plan.graph.nodes.has(i) ? 1 : 0;
  EXPECT_LT(kept, graph.nodes.size());
  EXPECT_EQ(whole_graph(plan).to_string(), graph.to_string());
}

TEST(KeptPlans, EqualSizesAndOneAreOtherStructures) {
  KeptPlans kept;
  const auto plan = [&](std::int64_t rows, std::int64_t columns) {
    kept.plan_for(traced(layer, rows_of(rows, columns), rows_of(48, columns)), true);
    return kept.structures();
  };
  EXPECT_EQ(plan(100, 32), 1u);
  EXPECT_EQ(plan(48, 32), 2u);  // as many rows as columns of the result
  EXPECT_EQ(plan(1, 32), 3u);
  EXPECT_EQ(plan(0, 32), 4u);
  EXPECT_EQ(plan(101, 33), 4u);
}

// What few rows of many elements are read from decides which kernels there are.
TEST(KeptPlans, ThresholdsOfFusionCount) {
  const Function total = [](const Tensor& x, const Tensor&) { return sum(exp(x), 1); };
  KeptPlans kept;
  const Tensor nothing = rows_of(2, 2);
  EXPECT_EQ(kept.plan_for(traced(total, rows_of(100, 1 << 12), nothing), true).steps.size(), 1u);
  EXPECT_EQ(kept.plan_for(traced(total, rows_of(3, 1 << 16), nothing), true).steps.size(), 2u);
  EXPECT_EQ(kept.structures(), 2u);
}

TEST(KeptPlans, ViewsAreTakenAtTheirOwnPlaces) {
  const Function parts = [](const Tensor& x, const Tensor& y) {
    return x.slice(1, 2, x.size(1)) * y.slice(0, 1, y.size(0)).t();
  };
  KeptPlans kept;
  for (const std::int64_t size : {12, 30, 300}) {
    const Plan plan =
        kept.plan_for(traced(parts, rows_of(9, size + 2), rows_of(size + 1, 9)), true);
    ASSERT_EQ(plan.steps.size(), 1u);
    const std::vector<PlannedLeaf>& leaves = plan.steps[0].leaves;
    ASSERT_EQ(leaves.size(), 2u);
    EXPECT_EQ(leaves[0].offset, 2);
    EXPECT_EQ(leaves[0].strides, (Shape{size + 2, 1}));
    EXPECT_EQ(leaves[1].offset, 9);
    EXPECT_EQ(leaves[1].strides, (Shape{1, 9}));
    EXPECT_EQ(plan.steps[0].domain, (Shape{9, size}));
  }
  EXPECT_EQ(kept.structures(), 1u);
}

}  // namespace
}  // namespace tilewright::graph
