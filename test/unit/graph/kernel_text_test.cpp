// SPDX-License-Identifier: Apache-2.0
// graph/kernel_text_test.cpp — the CUDA text of fused rows has the accesses of the suite's Triton
// kernels: whole vectors, no mask for each element, quick divisions.
#include <gmock/gmock.h>

#include "compiler/compile.h"
#include "compiler/specialize_kernel.h"
#include "graph/lower/group.h"
#include "graph/plan/plan.h"
#include "graph/trace/tracer.h"
#include "tensor/traced.h"
#include "tilewright/ops.h"

namespace tilewright::graph {
namespace {

using testing::HasSubstr;
using testing::Not;

Tensor manual_softmax(const Tensor& x) {
  const Tensor power = exp(x - max(x, -1, true));
  return power / sum(power, -1, true);
}

// Of the one group that the function becomes, over rows of x.
std::string cuda_text(Tensor (*function)(const Tensor&), const Tensor& x) {
  const Target target = Target::parse("sm_90a");
  const EmulatedGroups as_cuda(target);
  Graph graph;
  {
    TraceScope scope;
    const TracingScope tracing;
    scope.tracer().add_output(function(scope.tracer().add_input(x)));
    scope.tracer().finish();
    graph = std::move(scope.tracer().graph);
  }
  const Plan plan = make_plan(std::move(graph));
  EXPECT_EQ(plan.steps.size(), 1u) << plan.explain();
  const PlannedStep& step = plan.steps[0];
  ir::Kernel kernel = lower_group(*step.formula, step.walk);
  const Tensor out = empty_like(x);
  std::vector<Argument> arguments = {x, out};
  arguments.insert(arguments.end(), step.numbers.begin(), step.numbers.end());
  std::int64_t integers[max_walk_arguments];
  const int count = walk_arguments(step.full_walk(), integers);
  for (int i = 0; i < count; ++i) arguments.emplace_back(integers[i]);
  specialize_kernel(kernel, arguments, Overlaps(arguments), false);
  const KernelOptions options{.chooses_warps = true};
  run_passes(kernel, target, options);
  return emit_source(kernel, target, options, [](int, int) { return std::string_view(); }).text;
}

// Two are what keeps a row's divisor from the ends of float32, once a row; masks have more.
int selections_in(std::string_view text) {
  int count = 0;
  for (std::size_t at = text.find(" ? "); at != text.npos; at = text.find(" ? ", at + 1)) ++count;
  return count;
}

TEST(FusedRows, AsLongAsTheirBlockNeedNoMask) {
  const std::string text =
      cuda_text(manual_softmax, empty({4, 4096}, {DType::BFloat16, Device::cpu()}));
  EXPECT_THAT(text, HasSubstr("tw::load<8, 8"));
  EXPECT_THAT(text, HasSubstr("tw::store<8>"));
  EXPECT_EQ(selections_in(text), 2) << text;
}

TEST(FusedRows, OfMultiplesOf16AreVectorsUnderOneMask) {
  const std::string text =
      cuda_text(manual_softmax, empty({4, 4000}, {DType::BFloat16, Device::cpu()}));
  EXPECT_THAT(text, HasSubstr("tw::load_whole<8, 8"));
  EXPECT_THAT(text, HasSubstr("tw::store_whole<8>"));
  EXPECT_EQ(selections_in(text), 2) << text;
}

TEST(FusedRows, OfAnyLengthAreRotated) {
  const std::string text =
      cuda_text(manual_softmax, empty({4, 781}, {DType::BFloat16, Device::cpu()}));
  EXPECT_THAT(text, HasSubstr("tw::load_rotated<1024, 8, 8"));
  EXPECT_THAT(text, HasSubstr("tw::store_rotated<1024, 8>"));
  EXPECT_THAT(text, Not(HasSubstr("tw::rotated<"))) << "an element's place is needed nowhere";
}

// One division a row, and a product for each element.
TEST(FusedRows, DivideByANumberOfTheRowOnce) {
  const auto by_sum = [](const Tensor& x) { return x / sum(x, 1, true); };
  for (const DType dtype : {DType::Float32, DType::BFloat16})
    EXPECT_THAT(cuda_text(by_sum, empty({4, 1000}, {dtype, Device::cpu()})),
                Not(HasSubstr("tw::divide_fast")));
}

TEST(FusedRows, OfSmallFloatsDivideWithinTwoUlp) {
  const auto plain = [](const Tensor& x) { return x / (x * x); };
  EXPECT_THAT(cuda_text(plain, empty({4, 1000}, {DType::Float32, Device::cpu()})),
              Not(HasSubstr("tw::divide_fast")));
  const auto rows = [](const Tensor& x) { return x / (x * sum(x, 1, true)); };
  EXPECT_THAT(cuda_text(rows, empty({4, 1000}, {DType::BFloat16, Device::cpu()})),
              HasSubstr("tw::divide_fast"));
}

}  // namespace
}  // namespace tilewright::graph
