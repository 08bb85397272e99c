// SPDX-License-Identifier: Apache-2.0
// graph/writes_test.cpp — tensors that a traced function makes and writes into, whole or through
// views, have what they have in eager calls.
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/settings.h"
#include "tilewright/compile.h"
#include "tilewright/error.h"
#include "tilewright/grad.h"
#include "tilewright/ops.h"

namespace tilewright {
namespace {

using testing::HasSubstr;

const Device cpu = Device::cpu();

Tensor random(Shape shape, std::uint64_t seed = 3) {
  return randn(std::move(shape), RandomOptions(f32, cpu).with_seed(seed));
}

// Compiled as it is eagerly; the number of kernels.
template <class Function>
std::size_t kernels_of(Function function, const Tensor& x) {
  const auto compiled = compile(function, {.name = "writes"});
  const Tensor expected = function(x);
  const Tensor before = x.clone();
  const Tensor made = compiled(x);
  EXPECT_EQ(made.shape(), expected.shape());
  EXPECT_TRUE(allclose(made, expected, {.relative = 1e-5, .absolute = 1e-6}))
      << made << expected << compiled.graph();
  EXPECT_TRUE(allclose(x, before, {.relative = 0, .absolute = 0}));
  EXPECT_TRUE(allclose(compiled(x), made, {.relative = 0, .absolute = 0}));  // nothing is kept
  return compiled.stats().kernels;
}

TEST(TracedWrites, ElementsOfALoopAreOneKernel) {
  const auto assigned = [](const Tensor& x) {
    const Tensor y = empty({12, 9}, {f32, cpu});
    for (int i = 0; i < 12; ++i)
      for (int j = 0; j < 9; ++j) y[i][j].copy_from(tanh(x[i][j] * 2.0) + x[0][j]);
    return y * 3.0;
  };
  EXPECT_EQ(kernels_of(assigned, random({12, 9})), 1u);
}

TEST(TracedWrites, RowsAndColumnsOfALoopAreOneKernel) {
  const auto rows = [](const Tensor& x) {
    const Tensor y = zeros({10, 7}, {f32, cpu});
    for (int i = 0; i < 10; ++i) y[i].copy_from(exp(x[i]) * 0.5);
    return y;
  };
  EXPECT_EQ(kernels_of(rows, random({10, 7})), 1u);
  const auto columns = [](const Tensor& x) {
    const Tensor y = zeros({10, 9}, {f32, cpu});
    for (int j = 0; j < 9; ++j) y.select(1, j).copy_from(exp(x.select(1, j)) * 0.5);
    return y;
  };
  EXPECT_LE(kernels_of(columns, random({10, 9})), 2u);
}

TEST(TracedWrites, PartsKeepTheRest) {
  const auto rest = [](const Tensor& x) {
    const Tensor y = full({4, 6}, 5, {f32, cpu});
    y[1].copy_from(x[0]);                      // a row
    y.select(1, 2).copy_from(x.select(1, 0));  // a column, over it
    y.slice(0, 2, 4).slice(1, 3, 5).copy_from(x.slice(0, 1, 3).slice(1, 0, 2));  // a block
    y.slice(1, 0, 6, 3).fill(-1);  // every third column
    y.slice(0, -1, -100, -2).slice(1, 4, 5).copy_from(x.slice(0, 0, 2).slice(1, 5, 6));
    return y;
  };
  kernels_of(rest, random({4, 6}));
}

TEST(TracedWrites, ResultsOfOperationsCanBeWritten) {
  const auto cut = [](const Tensor& x) {
    const Tensor y = exp(x), same = y, view = y.t();
    const Tensor before = y * 2.0;
    y[0].fill(0);
    view[1].copy_from(x.select(1, 0));
    return same + view.t() * 10.0 + before;
  };
  kernels_of(cut, random({3, 5}));
  const auto equal = [](const Tensor& x) {  // equal nodes, two tensors
    const Tensor a = exp(x), b = exp(x), c = x * 1.0, d = a * 1.0;
    a[0].fill(1);
    c[1].fill(2);
    d[2].fill(3);
    return a + 10.0 * b + 100.0 * c + 1000.0 * d + x;
  };
  kernels_of(equal, random({3, 5}));
}

TEST(TracedWrites, PaddingIsACopy) {
  for (const std::vector<std::int64_t>& edges :
       {std::vector<std::int64_t>{}, {0, 0}, {-1, 0}, {1, 0}}) {
    const auto padded = [&](const Tensor& x) {
      const Tensor a = exp(x), b = pad(a, edges);
      b.fill(2);
      return sum(a) + b;
    };
    kernels_of(padded, random({3, 5}));
    const auto of_an_argument = [&](const Tensor& x) {
      const Tensor b = pad(x, edges);
      b[0].fill(2);
      return b;
    };
    kernels_of(of_an_argument, random({3, 5}));
  }
}

// The derivatives by both are one value, and repeat one element.
TEST(TracedWrites, DerivativesAreTensorsOfTheirOwn) {
  const Tensor x = random({3, 4}), y = random({3, 4}, 5);
  const auto losses = {+[](const std::vector<Tensor>& p) { return sum(p[0] + p[1]); },
                       +[](const std::vector<Tensor>& p) { return sum(exp(p[0] + p[1])); },
                       +[](const std::vector<Tensor>& p) { return sum(p[0].t()); }};
  for (const auto loss : losses) {
    const auto written = [&](const std::vector<Tensor>& p) {
      const auto [value, g] = value_and_grad(loss)(p);
      g[0][1].fill(5);
      g[0].select(1, 2).copy_from(g[1].select(1, 0) * 3.0);
      return g;
    };
    const std::vector<Tensor> expected = written({x, y});
    const std::vector<Tensor> made = compile(written)(std::vector<Tensor>{x, y});
    for (const std::size_t i : {0u, 1u})
      EXPECT_TRUE(allclose(made[i], expected[i], {.relative = 1e-5})) << made[i] << expected[i];
  }
}

TEST(TracedWrites, WhatWasReadBeforeStaysAsItWas) {
  const auto late = [](const Tensor& x) {
    const Tensor bias = zeros({4}, {f32, cpu});
    const Tensor made = x + bias;
    bias.slice(0, 1, 2).fill(4);
    const Tensor later = made + bias;
    bias.copy_from(later[0]);
    return made * 3.0 + later * bias;
  };
  kernels_of(late, random({3, 4}));
}

TEST(TracedWrites, ARecurrenceReadsWhatItWrote) {
  const auto recurrence = [](const Tensor& x) {
    const Tensor y = empty({6, 4}, {f32, cpu});
    y[0].copy_from(x[0]);
    for (int i = 1; i < 6; ++i) y[i].copy_from(y[i - 1] * 0.5 + x[i]);
    y[2].copy_from(y[3]);
    y[3].copy_from(y[2] + 1.0);
    return y;
  };
  kernels_of(recurrence, random({6, 4}));
}

TEST(TracedWrites, SourcesAreConvertedAndBroadcast) {
  const auto converted = [](const Tensor& x) {
    const Tensor y = zeros({3, 4}, {DType::Int32, cpu});
    y.copy_from(x[0] * 10.0);
    y[1].copy_from(ones({1}, {f64, cpu}) * 7.0);
    y[2].slice(0, 0, 0).copy_from(x[0].slice(0, 0, 0));  // nothing
    empty({0, 4}, {f32, cpu}).copy_from(x[0]);
    return y * 2;
  };
  kernels_of(converted, random({3, 4}));
}

TEST(TracedWrites, HaveDerivatives) {
  const auto value = [](const Tensor& x) {
    const Tensor y = zeros({3, 4}, {f64, cpu});
    y[0].copy_from(x[0] * x[1]);
    y.select(1, 2).copy_from(exp(x.select(1, 0)));
    y[2][3].copy_from(x[0][0] * 3.0);
    return sum(y * y);
  };
  const Tensor x = random({3, 4}).to(f64);
  const Tensor g = grad(value)(x);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) {
      const Tensor up = x.clone(), down = x.clone();
      up[i][j].fill(x[i][j].item<double>() + 1e-6);
      down[i][j].fill(x[i][j].item<double>() - 1e-6);
      const double slope = (value(up).item<double>() - value(down).item<double>()) / 2e-6;
      EXPECT_NEAR(g[i][j].item<double>(), slope, 1e-6) << i << " " << j;
    }
}

// Views in any order, overlapping, with reads between them.
TEST(TracedWrites, RandomViews) {
  Settings changed = settings();
  changed.interpret = true;
  const SettingsOverride interpreted(changed);
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const auto random_writes = [seed](const Tensor& x) {
      std::mt19937_64 choose(seed);
      const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(choose() % n); };
      const Tensor y = below(2) == 0 ? x.clone() : full({4, 3, 6}, 2, {f32, cpu});
      Tensor total = x;
      for (int step = 0; step < 8; ++step) {
        Tensor view = y;
        for (int d = 0; d < 3; ++d) {
          const std::int64_t first = below(view.size(d)), end = first + 1 + below(view.size(d));
          const std::int64_t kind = below(5);
          if (kind == 0) view = view.slice(d, first, end, 1 + below(2));
          if (kind == 1) view = view.slice(d, first, -100, -1);
          if (kind == 2) view = view.slice(d, first, first + 1);
        }
        if (below(4) == 0) view = view.transpose(0, static_cast<int>(below(3)));
        const Tensor source = below(3) == 0 ? total[0][0][0] : y[0][0][1] + total[1][0][2];
        if (below(4) == 0) view.fill(static_cast<double>(step));
        else view.copy_from(source + static_cast<double>(step));
        if (below(3) == 0) total = total + y * 0.5;
      }
      return total + y;
    };
    kernels_of(random_writes, random({4, 3, 6}, seed));
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "seed " << seed;
      return;
    }
  }
}

template <class Function>
std::string message_of(Function function) {
  try {
    compile(function, {.name = "writes"})(random({3, 4}));
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(TracedWrites, Mistakes) {
  EXPECT_THAT(message_of([](const Tensor& x) {
                x[0].fill(1);
                return x;
              }),
              HasSubstr("a float32[4] that is being traced cannot be written to, since it is an "
                        "argument of the function: write into a clone() of it"));
  const Tensor outer = zeros({4}, {f32, cpu});
  EXPECT_THAT(message_of([outer](const Tensor& x) {
                outer.copy_from(x[0]);
                return x;
              }),
              HasSubstr("a float32[4] that a traced function refers to is written to in it"));
  Tensor kept;
  EXPECT_THAT(message_of([&](const Tensor& x) {
                kept = zeros({4}, {f32, cpu});
                kept.copy_from(x[0]);
                return kept + 1.0;
              }),
              HasSubstr("a tensor of 4 float32 that a traced function wrote values to is kept "
                        "outside of it"));
  EXPECT_THAT(message_of([](const Tensor& x) {
                const Tensor y = zeros({4}, {f32, cpu});
                y.copy_from(x[0]);
                return y * static_cast<double>(y.data<float>()[0]);
              }),
              HasSubstr("data() needs the elements of a float32[4] that is being traced"));
  EXPECT_THAT(message_of([](const Tensor& x) {
                const Tensor y = zeros({1, 4}, {f32, cpu}).broadcast_to({3, 4});
                y.copy_from(x);
                return y;
              }),
              HasSubstr("cannot be copied into: its elements share memory"));
}

}  // namespace
}  // namespace tilewright
