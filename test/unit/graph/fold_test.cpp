// SPDX-License-Identifier: Apache-2.0
// graph/fold_test.cpp — what a traced function makes by arange and full is computed where it is
// read, unless somebody may have written it.
#include "graph/trace/fold.h"

#include <algorithm>
#include <limits>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/settings.h"
#include "graph/launch.h"
#include "tensor/traced.h"
#include "tilewright/compile.h"
#include "tilewright/error.h"
#include "tilewright/ops.h"
#include "tilewright/target.h"

namespace tilewright {
namespace {

using testing::HasSubstr;
using testing::Not;

const Device cpu = Device::cpu();

Tensor ramp(std::int64_t end, DType dtype = DType::Int64) { return arange(end, {dtype, cpu}); }
Tensor random(Shape shape) { return randn(std::move(shape), RandomOptions(f32, cpu).with_seed(3)); }

// Compiled as it is eagerly, and whether it reads an arange or a constant from memory.
template <class Function>
std::string graph_of(Function function, const Tensor& x) {
  const auto compiled = compile(function, {.name = "contents"});
  const Tensor expected = function(x), made = compiled(x);
  EXPECT_EQ(made.shape(), expected.shape());
  EXPECT_TRUE(allclose(made, expected, {.relative = 1e-5, .absolute = 1e-6, .equal_nan = true}));
  return compiled.graph() + compiled.explain();
}

TEST(MadeContents, CrossEntropyByHandReadsNoArange) {
  const auto loss = [](const Tensor& x) {
    const Tensor target = argmax(x * -1.0, 1, true);
    const Tensor is_target = eq(ramp(x.size(1)), target);
    return logsumexp(x, 1) - sum(where(is_target, x, 0.0), 1);
  };
  const std::string text = graph_of(loss, random({37, 100}));
  EXPECT_THAT(text, HasSubstr("= arange("));
  EXPECT_THAT(text, HasSubstr(fmt::format("reads {} bytes", 37 * 100 * 4)));
}

TEST(MadeContents, PlacesInCudaKernels) {
  const Target target = Target::parse("sm_90a");
  const graph::EmulatedGroups as_cuda(target);
  const auto masked = [](const Tensor& x) {
    const Tensor kept = where(lt(ramp(x.size(1)), 70), x, 0.0);
    return kept / sum(kept * kept, 1, true) + ramp(x.size(1), DType::Float32);
  };
  EXPECT_THAT(graph_of(masked, random({5, 100})), HasSubstr("= arange("));
}

TEST(MadeContents, PlacesOfAllWalks) {
  for (const Shape& shape : {Shape{1000}, Shape{7, 100}, Shape{50, 5}, Shape{3, 40, 70},
                             Shape{0, 4}, Shape{1, 1}, Shape{2, 40000}}) {
    const Tensor whole = floor(random(shape) * 3.0);  // sums of products are exact
    const auto last = [](const Tensor& x) { return x * ramp(x.size(-1)); };
    const auto first = [](const Tensor& x) {
      return x + ramp(x.size(0), DType::Float32)
                     .view({-1, 1})
                     .broadcast_to({x.size(0), x.numel() / std::max<std::int64_t>(x.size(0), 1)})
                     .reshape(x.shape());
    };
    const auto rows = [](const Tensor& x) { return softmax(x * 0.0001 * ramp(x.size(-1)), -1); };
    const auto columns = [](const Tensor& x) { return sum(x * ramp(x.size(-1), DType::Int32), 0); };
    EXPECT_THAT(graph_of(last, whole), shape[0] == 0 ? HasSubstr("") : HasSubstr("arange"));
    graph_of(first, whole);
    graph_of(rows, whole);
    graph_of(columns, whole);
  }
}

TEST(MadeContents, ViewsOfAnArange) {
  const auto transposed = [](const Tensor& x) {
    return x + ramp(12).view({3, 4}).t();  // every place of the view is an element's number
  };
  EXPECT_THAT(graph_of(transposed, random({4, 3})), HasSubstr("arange"));
  const auto every_second = [](const Tensor& x) { return x + ramp(8).slice(0, 0, 8, 2); };
  EXPECT_THAT(graph_of(every_second, random({5, 4})), HasSubstr("arange"));
  const auto later = [](const Tensor& x) { return x + ramp(9).slice(0, 5, 9); };
  graph_of(later, random({5, 4}));
  const auto triangle = [](const Tensor& x) {
    return where(le(ramp(x.size(1)), to(ramp(x.size(0)), DType::Int64).unsqueeze(1)), x, 0.0);
  };
  graph_of(triangle, random({6, 6}));
}

// bfloat16 does not count beyond 256.
TEST(MadeContents, ElementsThatWereRoundedAreRead) {
  const auto rounded = [](const Tensor& x) { return x * ramp(1000, DType::BFloat16); };
  EXPECT_THAT(graph_of(rounded, random({3, 1000})), Not(HasSubstr("arange")));
  const auto third = [](const Tensor& x) { return x * full({4}, 1.0 / 3, {f32, cpu}); };
  EXPECT_THAT(graph_of(third, random({3, 4})), HasSubstr(", %1)"));
}

TEST(MadeContents, ConstantsAreNumbers) {
  const auto scaled = [](const Tensor& x) {
    return x * full({3, 1}, 0.5, {f32, cpu}) + ones(x.shape(), {DType::Int64, cpu});
  };
  const std::string text = graph_of(scaled, random({3, 40}));
  EXPECT_THAT(text, HasSubstr("mul(%0, 0.5)"));
  EXPECT_THAT(text, HasSubstr(", 1)"));
  const auto nothing_else = [](const Tensor& x) {
    return x.size(0) > 0 ? exp(zeros({4}, {f32, cpu})) + x : x;
  };
  graph_of(nothing_else, random({4}));
}

TEST(MadeContents, WhatTheFunctionWritesIsRead) {
  const auto written = [](const Tensor& x) {
    const Tensor table = zeros({4}, {f32, cpu});
    table.slice(0, 1, 2).fill(7);
    const Tensor raw = zeros({4}, {f32, cpu});
    raw.data<float>()[2] = 5;
    return x + table + raw;
  };
  graph_of(written, random({3, 4}));
}

// Every trace makes its own: another one is no other tensor that the function refers to.
TEST(MadeContents, AreTheSameInEveryTrace) {
  Settings changed = settings();
  changed.check_trace = true;
  const SettingsOverride checked(changed);
  double number = 0.5;
  const auto scaled = compile(
      [&](const Tensor& x) {
        return x * full({4}, number, {f32, cpu}) + ramp(4).view({1, 4});
      },
      {.name = "scaled"});
  const Tensor x = random({3, 4});
  EXPECT_TRUE(allclose(scaled(x), x * 0.5 + ramp(4)));
  EXPECT_TRUE(allclose(scaled(x), x * 0.5 + ramp(4)));
  number = 0.25;
  EXPECT_THROW(scaled(x), ArgumentError);
}

// A tensor that is made once, in the first call, and that the caller changes later.
TEST(MadeContents, WhatIsKeptMayBeWrittenLater) {
  Tensor kept_zeros, kept_ramp;
  const auto cached = compile(
      [&](const Tensor& x) {
        if (!kept_zeros.is_defined()) {
          kept_zeros = zeros({4}, {f32, cpu});
          kept_ramp = ramp(4, DType::Float32);
        }
        return x + kept_zeros + kept_ramp.view({1, 4});
      },
      {.name = "cached"});
  const Tensor x = random({3, 4});
  EXPECT_TRUE(allclose(cached(x), x + ramp(4)));
  kept_zeros.fill(3);
  kept_ramp.fill(10);
  EXPECT_TRUE(allclose(cached(x), x + 13.0));
}

// Its elements are no zeros, wherever they were written.
TEST(MadeContents, WhatAnotherThreadWroteIsRead) {
  const auto by_thread = [](const Tensor& x) {
    const Tensor table = zeros({4}, {f32, cpu});
    std::thread([&] { table.data<float>()[2] = 5; }).join();
    return x + table;
  };
  EXPECT_THAT(graph_of(by_thread, random({3, 4})), HasSubstr("captured"));
}

TEST(MadeContents, MemoryThatIsUsedAgainIsNotKnown) {
  const auto reused = [](const Tensor& x) {
    const void* before = nullptr;
    {
      const Tensor gone = ones({4}, {f32, cpu});
      const OnlyAddresses only;
      before = gone.data();
    }
    const Tensor table = empty({4}, {f32, cpu});
    {
      const OnlyAddresses only;
      EXPECT_EQ(table.data(), before);
    }
    EXPECT_FALSE(contents_of(table).has_value());
    table.fill(5);
    return x + table;
  };
  graph_of(reused, random({3, 4}));
}

TEST(MadeContents, IntegersHaveOneZero) {
  const auto signless = [](const Tensor& x) {
    return reciprocal(x * full({4}, -0.0, {DType::Int64, cpu}));
  };
  graph_of(signless, abs(random({3, 4})));
}

TEST(MadeContents, NumbersThatAreNotZeroAreTrue) {
  for (const double value : {0.5, std::numeric_limits<double>::quiet_NaN(), -0.0}) {
    const auto both = [&](const Tensor& x) {
      return to(logical_and(x, full({4}, value, {f32, cpu})), f32);
    };
    graph_of(both, random({3, 4}));
  }
}

// A mask of two aranges is neither computed while the function is traced nor kept: each kernel that
// reads it computes its elements.
TEST(MadeContents, MasksOfPlacesAreNotInMemory) {
  const auto causal = [](const Tensor& x) {
    const Tensor row = ramp(6).unsqueeze(1), column = ramp(8);
    return softmax(where(row >= column, x, -std::numeric_limits<double>::infinity()), 1);
  };
  const std::string text = graph_of(causal, random({6, 8}));
  EXPECT_THAT(text, HasSubstr("ge(%"));
  EXPECT_THAT(text, HasSubstr("reads 192 bytes, writes 192\n"));
  EXPECT_THAT(text, Not(HasSubstr("kernel 2")));
  const auto band = [](const Tensor& x) {  // and used by two kernels
    const Tensor distance = ramp(6, DType::Float32).unsqueeze(1) - ramp(8, DType::Float32);
    return where(abs(distance) < 2.0, x, 0.0) + sum(x * distance, 0);
  };
  graph_of(band, random({6, 8}));
  const auto heads = [](const Tensor& x) {  // of many matrices, which walk over more dimensions
    const Tensor row = ramp(6).unsqueeze(1), column = ramp(8);
    const Tensor scores = x.view({1, 2, 3, 1, 8}).broadcast_to({1, 2, 3, 6, 8}) * 2.0;
    const Tensor is_seen = logical_and(row >= column, column + 4 > row).unsqueeze(0);
    return softmax(where(is_seen, scores, -std::numeric_limits<double>::infinity()), -1);
  };
  EXPECT_THAT(graph_of(heads, random({6, 8})), Not(HasSubstr("kernel 2")));
  const auto table = [](const Tensor& x) {  // not what is dear: once for all matrices
    const Tensor angle = ramp(6, DType::Float32).unsqueeze(1) * ramp(8, DType::Float32);
    return cos(angle) * x.view({6, 1, 8}).broadcast_to({6, 6, 8});
  };
  EXPECT_THAT(graph_of(table, random({6, 8})), HasSubstr("kernel 2"));
  const auto alone = [](const Tensor& x) {
    return x[0][0] * 0.0 + (ramp(6).unsqueeze(1) * ramp(8));
  };
  graph_of(alone, random({6, 8}));
}

}  // namespace
}  // namespace tilewright
