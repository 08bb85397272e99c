// SPDX-License-Identifier: Apache-2.0
// graph/outside_test.cpp — what values are behind the end of a row.
#include "graph/lower/outside.h"

#include <cmath>

#include <gtest/gtest.h>

#include "graph/expand.h"

namespace tilewright::graph {
namespace {

// Of each reduction in order: needs it no mask?
std::vector<bool> neutral_reductions(const Formula& formula) {
  const Outside outside = values_outside(formula, std::vector<bool>(formula.leaves.size(), true));
  std::vector<bool> all;
  for (const Step& step : formula.steps)
    if (facts_of(step.op).op_class == OpClass::Reduce)
      all.push_back(outside.is_neutral(formula, step));
  return all;
}

TEST(Outside, ASoftmaxNeedsNoMask) {
  Formula f;
  expand_softmax(f, f.leaf(DType::BFloat16));
  EXPECT_EQ(neutral_reductions(f), (std::vector<bool>{true, true}));
  EXPECT_EQ(values_outside(f, {true}).values[0], -INFINITY);
}

TEST(Outside, SumsOfSquaresNeedNoMaskButThoseOfDifferencesDo) {
  Formula rms;
  const int x = rms.leaf(DType::Float32);
  const int count = rms.number(DType::Float32), eps = rms.number(DType::Float32);
  expand_rms_norm(rms, x, count, eps, -1);
  EXPECT_EQ(neutral_reductions(rms), (std::vector<bool>{true}));
  Formula norm;
  const int y = norm.leaf(DType::Float32);
  const int n = norm.number(DType::Float32), e = norm.number(DType::Float32);
  expand_layer_norm(norm, y, n, e, -1, -1);
  EXPECT_EQ(neutral_reductions(norm), (std::vector<bool>{true, false}));
}

// exp(x - y) with another row's largest, or with any number of a row, says nothing.
TEST(Outside, OnlyTheLargestOfTheSameRowKeepsMinusInfinity) {
  Formula f;
  const int x = f.leaf(DType::Float32), y = f.leaf(DType::Float32);
  const int top = f.step(Op::Max, {y});
  f.step(Op::Max, {x});
  f.step(Op::Sum, {f.step(Op::Exp, {f.step(Op::Subtract, {x, top})})});
  EXPECT_EQ(neutral_reductions(f), (std::vector<bool>{true, true, false}));
}

TEST(Outside, LeavesThatAreNotMaskedHaveAnyValue) {
  Formula f;
  const int x = f.leaf(DType::Float32), weight = f.leaf(DType::Float32);
  f.step(Op::Sum, {f.step(Op::Multiply, {x, weight})});
  EXPECT_EQ(neutral_reductions(f), (std::vector<bool>{true}));
  const Outside outside = values_outside(f, {true, false});
  EXPECT_FALSE(outside.is_neutral(f, f.steps.back()));
}

TEST(Outside, IntegersAndPlacesKeepTheirMasks) {
  Formula f;
  const int x = f.leaf(DType::Int32);
  f.step(Op::Sum, {x});
  f.step(Op::ArgMax, {x});
  EXPECT_EQ(neutral_reductions(f), (std::vector<bool>{false, false}));
}

}  // namespace
}  // namespace tilewright::graph
