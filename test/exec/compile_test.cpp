// SPDX-License-Identifier: Apache-2.0
// exec/compile_test.cpp — tw::compile: the same results as eager calls, kernels that are shared,
// plans, and mistakes while tracing.
#include "tilewright/compile.h"

#include <random>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "ops_reference.h"
#include "tilewright/error.h"
#include "tilewright/triton.h"

namespace tilewright {
namespace {

using testing::HasSubstr;

Tensor manual_gelu(Tensor x) {
  return 0.5 * x * (1 + tanh(0.79788456 * (x + 0.044715 * x * x * x)));
}
Tensor manual_softmax(Tensor x) {
  const Tensor power = exp(x - max(x, -1, true));
  return power / sum(power, -1, true);
}

struct Layer {
  Tensor w, b;
  TW_TREE(w, b)
};

class Compile : public OpsTest {};

TEST_P(Compile, GeluAndSoftmaxAreOneKernelEach) {
  const Tensor x = random({5, 70});
  const auto gelu_of = compile(manual_gelu);
  const auto softmax_of = compile(manual_softmax);
  expect_near(gelu_of(x), doubles_of(manual_gelu(x)), 1e-6);
  expect_near(softmax_of(x), doubles_of(manual_softmax(x)), 1e-6);
  EXPECT_EQ(gelu_of.stats().kernels, 1u);
  EXPECT_EQ(softmax_of.stats().kernels, 1u);
  EXPECT_THAT(gelu_of.explain(), HasSubstr("kernel 1: mul, mul, mul, add, mul, sigmoid, mul;"));
}

// Long chains are several loops on the CPU (codegen/cpu/function_chains.h).
TEST_P(Compile, FunctionsThatWaitForEachOther) {
  const auto chain = [](Tensor x, Tensor y) {
    Tensor a = x, b = y;
    for (int i = 0; i < 5; ++i) {
      const Tensor before = a;
      a = tanh(a * 0.9 + b);
      b = sigmoid(before) * exp(-abs(b)) + 0.1 * y;
    }
    const Tensor rows = exp(sin(tanh(a)) - max(b, -1, true));
    return sqrt(rows / sum(rows, -1, true)) + log1p(square(b));
  };
  for (const Shape& shape : {Shape{1, 1}, Shape{5, 300}, Shape{2, 5000}}) {
    const Tensor x = random(shape), y = random({shape[1]});
    const auto compiled_chain = compile(chain);
    EXPECT_TRUE(allclose(compiled_chain(x, y), chain(x, y), {.relative = 1e-5, .absolute = 1e-6}))
        << compiled_chain.explain();
  }
}

TEST_P(Compile, TreesProductsAndRows) {
  const auto network = [](Tensor x, std::vector<Layer> layers, Tensor target) {
    for (Layer& layer : layers) x = layer_norm(gelu(linear(x, layer.w, layer.b)) + x);
    return std::pair(cross_entropy(x, target), softmax(x.t() * 2.0, 0));
  };
  const Tensor x = random({12, 40});
  std::vector<Layer> layers;
  for (int i = 0; i < 2; ++i) layers.push_back({random({40, 40}, f32, 5), random({40}, f32, 6)});
  const Tensor target = argmax(x, 1);
  const auto compiled_network = compile(network);
  const auto found = compiled_network(x, layers, target);
  const auto expected = network(x, layers, target);
  expect_near(found.first, doubles_of(expected.first), 1e-5);
  expect_near(found.second, doubles_of(expected.second), 1e-5);
  // Two products; two norms, the second with the losses; their mean; a softmax along columns. On
  // the CPU the targets are looked at besides.
  EXPECT_EQ(compiled_network.stats().kernels, device().is_cpu() ? 7u : 6u)
      << compiled_network.explain();
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Compile,
                         testing::Values(OpsOn::Cpu, OpsOn::Interpreter, OpsOn::Cuda),
                         ops_place_name);

// ---- Random graphs: compiled == eager, in the interpreter.

class RandomGraph {
 public:
  explicit RandomGraph(std::uint64_t seed) : choose_(seed) {}

  // Of tensors that all broadcast with each other.
  std::vector<Tensor> operator()(std::vector<Tensor> values) const {
    std::mt19937_64 choose = choose_;
    const auto below = [&](std::size_t n) { return choose() % n; };
    for (int step = 0; step < 14; ++step) {
      const Tensor a = values[below(values.size())], b = values[below(values.size())];
      values.push_back(step_of(below(18), a, b, below(static_cast<std::size_t>(a.rank()))));
    }
    return {values[values.size() - 1], values[values.size() - 4], values[values.size() - 7]};
  }

 private:
  static Tensor step_of(std::size_t which, const Tensor& a, const Tensor& b, std::size_t place) {
    const int axis = static_cast<int>(place);
    switch (which) {
      case 0:
        return a + b;
      case 1:
        return a * b;
      case 2:
        return maximum(a, b) - 0.25;
      case 3:
        return tanh(a);
      case 4:
        return sigmoid(a) * 2;
      case 5:
        return sum(a, axis, true) * 0.1;
      case 6:
        return max(a, axis, true);
      case 7:
        return softmax(a, axis);
      case 8:
        return where(a > b, a, b * 0.5);
      case 9:
        return mean(a, {0, 2}, true);
      case 10:
        return a.slice(2, -1, -1000, -1) - b;
      case 11:
        return mean(a, axis).unsqueeze(axis);
      case 12:
        return layer_norm(a);
      case 13:
        return a.transpose(0, 1).contiguous().transpose(0, 1) + b;
      case 14:
        return a.to(f64).to(f32);
      case 15:
        return a * 0.25 *
               arange(a.size(axis), {DType::Int64, Device::cpu()}).view(along(axis, a.size(axis)));
      case 16:
        return where(arange(b.size(1), {f32, Device::cpu()}).unsqueeze(1) < b + 1.0, b,
                     full({b.size(0), 1, 1}, -0.5, {f32, Device::cpu()}));
      default:
        return logsumexp(a, {1, 2}, true);
    }
  }
  static Shape along(int axis, std::int64_t size) {
    Shape shape = {1, 1, 1};
    shape[static_cast<std::size_t>(axis)] = size;
    return shape;
  }
  std::mt19937_64 choose_;
};

TEST(CompileRandomly, CompiledIsEager) {
  Settings changed = settings();
  changed.interpret = true;
  const SettingsOverride interpreted(changed);
  const auto random = [](Shape shape, std::uint64_t seed) {
    return randn(std::move(shape), RandomOptions(f32, Device::cpu()).with_seed(seed));
  };
  // --gtest_random_seed=N takes the N-th sixty.
  const auto first = static_cast<std::uint64_t>(GTEST_FLAG_GET(random_seed)) * 60;
  for (std::uint64_t seed = first; seed < first + 60; ++seed) {
    const RandomGraph graph(seed);
    const auto compiled_graph =
        compile([graph](std::vector<Tensor> values) { return graph(std::move(values)); });
    // The second shape takes the plan of the first; sizes that are equal or 1 do not.
    for (const Shape& s : {Shape{2, 3, 5}, Shape{4, 6, 9}, Shape{3, 3, 1}}) {
      const std::vector<Tensor> inputs = {random(s, seed), random({1, s[1], 1}, seed + 1),
                                          random({s[2], s[1], s[0]}, seed + 2).permute({2, 1, 0}),
                                          random({1, 1, s[2]}, seed + 3)};
      const std::vector<Tensor> found = compiled_graph(inputs), expected = graph(inputs);
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].shape(), expected[i].shape());
        expect_near(found[i], doubles_of(expected[i]), 2e-5,
                    "seed " + std::to_string(seed) + "\n" + compiled_graph.graph() +
                        compiled_graph.explain());
        if (testing::Test::HasFatalFailure()) return;
      }
      if (seed % 3 != 0) break;
    }
  }
}

// What a function refers to may have other contents in every call.
TEST(CompileRandomly, CapturedTensorsAreThoseOfTheCall) {
  Settings changed = settings();
  changed.interpret = true;
  const SettingsOverride interpreted(changed);
  const auto first = static_cast<std::uint64_t>(GTEST_FLAG_GET(random_seed)) * 20;
  for (std::uint64_t seed = first; seed < first + 20; ++seed) {
    const auto random = [&](Shape shape, std::uint64_t other) {
      return randn(std::move(shape), RandomOptions(f32, Device::cpu()).with_seed(seed + other));
    };
    const Tensor column = random({1, 3, 1}, 1), turned = random({5, 3, 2}, 2).permute({2, 1, 0});
    const RandomGraph graph(seed);
    const auto function = [=](Tensor x) { return graph({x, column, turned}); };
    const auto compiled_function = compile(function);
    const Tensor x = random({2, 3, 5}, 0);
    for (int call = 0; call < 2; ++call) {
      const std::vector<Tensor> found = compiled_function(x), expected = function(x);
      for (std::size_t i = 0; i < found.size(); ++i)
        expect_near(found[i], doubles_of(expected[i]), 2e-5,
                    fmt::format("seed {}\n{}", seed, compiled_function.graph()));
      column.copy_from(random({1, 3, 1}, 5));
      turned.copy_from(random({2, 3, 5}, 6));
    }
  }
}

// Rows over two dimensions that do not lie together in memory are copied first; what has all
// elements is written as such.
TEST(CompileRows, RowsOfCopiesMayWriteAllElements) {
  const auto f = [](Tensor x) {
    const Tensor power = exp(x - max(x, {1, 2}, true)), total = sum(power, {1, 2}, true);
    return std::tuple(power / total, total.broadcast_to(x.shape()).contiguous(), total);
  };
  const Tensor x = randn({4, 6, 10}, RandomOptions(f32, Device::cpu()).with_seed(3));
  const auto compiled_rows = compile(f);
  for (const Tensor& view :
       {x.slice(2, 0, 10, 2), x.slice(1, -1, -1000, -1), x.permute({2, 1, 0})}) {
    const auto [y, spread, total] = compiled_rows(view);
    const auto [y_expected, spread_expected, total_expected] = f(view);
    expect_near(y, doubles_of(y_expected), 1e-6);
    expect_near(spread, doubles_of(spread_expected), 1e-6);
    expect_near(total, doubles_of(total_expected), 1e-6);
  }
}

// ---- Loops that are traced element by element.

TEST(CompileLoops, ElementsThatAreAssignedAreOneKernel) {
  const auto assigned = [](Tensor x) {
    std::vector<Tensor> elements;
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 5; ++j)
        elements.push_back(tanh(x.select(0, i).select(0, j) * (i + j)) +
                           x.select(0, 0).select(0, j));
    return stack(elements).view({6, 5}) * 2.0;
  };
  const Tensor whole = randn({12, 9}, RandomOptions(f32, Device::cpu()).with_seed(3));
  const auto f = compile(assigned);
  for (const Tensor& x : {whole, whole.slice(1, 0, 9, 2), whole.t().slice(0, 1, 9)}) {
    expect_near(f(x), doubles_of(assigned(x)), 1e-6);
    EXPECT_EQ(f.stats().kernels, 1u) << f.graph() << f.explain();
  }
}

TEST(CompileLoops, RowsThatAreAlikeAreOneKernel) {
  const auto rows = [](Tensor x, Tensor w) {
    std::vector<Tensor> all;
    for (std::int64_t i = 0; i < x.size(0); ++i) all.push_back(exp(x.select(0, i) * w) - 1.0);
    return cat(all);
  };
  const Tensor x = randn({9, 7}, RandomOptions(f32, Device::cpu()).with_seed(3));
  const Tensor w = randn({7}, RandomOptions(f32, Device::cpu()).with_seed(4));
  const auto f = compile(rows);
  expect_near(f(x, w), doubles_of(rows(x, w)), 1e-6);
  EXPECT_EQ(f.stats().kernels, 1u) << f.explain();
}

// A piece without the sum gets one that changes nothing, -0.0 included.
TEST(CompileLoops, PiecesWithoutASumKeepTheirSign) {
  const auto loop = [](Tensor x) {
    const Tensor y = empty({10}, {f32, Device::cpu()}), z = -x;
    for (std::int64_t i = 0; i < 10; ++i) y[i].copy_from(i == 3 ? z[i] : z[i] + 0.5);
    return y;
  };
  const auto f = compile(loop);
  const Tensor y = f(zeros({10}, Device::cpu()));
  EXPECT_EQ(f.stats().kernels, 2u) << f.explain();
  EXPECT_TRUE(std::signbit(y[3].item<float>()));
}

TEST(CompileLoops, WhatIsNotAlikeStaysAsItIs) {
  const auto mixed = [](Tensor x) {
    std::vector<Tensor> all;
    for (int i = 0; i < 9; ++i)
      all.push_back(i == 4 ? exp(x.select(0, i)) : tanh(x.select(0, (i * i) % 9)));
    return stack(all, 0) + stack(all, 1).t();
  };
  const Tensor x = randn({9, 3}, RandomOptions(f32, Device::cpu()).with_seed(3));
  expect_near(compile(mixed)(x), doubles_of(mixed(x)), 1e-6);
}

// ---- Plans.

TEST(CompilePlans, AnotherShapeIsAnotherPlanAndNoCode) {
  Settings changed = settings();
  changed.interpret = true;
  const SettingsOverride interpreted(changed);
  const auto f = compile(manual_softmax);
  const auto rows = [](std::int64_t n, std::int64_t m) { return ones({n, m}, Device::cpu()); };
  f(rows(3, 70));
  f(rows(3, 80));  // of multiples of 16
  const std::size_t before = graph::group_kernels_made();
  for (std::int64_t i = 0; i < 100; ++i) f(rows(2 + i % 9, 65 + i % 60));
  EXPECT_EQ(graph::group_kernels_made(), before);
  EXPECT_GT(f.stats().traces, 60u);
  const std::size_t traces = f.stats().traces;
  f(rows(3, 70));
  EXPECT_EQ(f.stats().traces, traces);
  EXPECT_EQ(f.stats().calls, 103u);
}

TEST(CompilePlans, WhatIsTheSameIsComputedOnce) {
  const auto f = compile([](Tensor x) { return exp(x * 1.0) + exp(x); });
  f(ones({4}, Device::cpu()));
  EXPECT_THAT(f.explain(), HasSubstr("kernel 1: exp, add;"));
}

// Factors that cancel out: a part of a scaled tensor is not the tensor, though it begins with it.
TEST(CompilePlans, PartsOfScaledTensorsStayParts) {
  for (const int axis : {0, 1}) {
    const auto scaled = [axis](const Tensor& x) {
      return (x * 2.0).slice(axis, 0, 1) * (exp(x) * 0.5);
    };
    const Tensor x = randn({4, 5}, RandomOptions(f32, Device::cpu()).with_seed(1));
    EXPECT_TRUE(allclose(compile(scaled, {.name = "scaled"})(x), scaled(x)));
  }
}

// Factors are joined only where what they scale stays in range: eager operations overflow and lose
// small numbers.
TEST(CompilePlans, JoinedFactorsOverflowAndVanishAsEagerOnesDo) {
  const std::vector<float> values = {3e38f, -2e38f, 1e30f, 1e-20f, 3e-39f, 1.5f, -0.0f};
  const Tensor x = tensor(values, Device::cpu());
  const auto compare = [&](const char* what, const auto& f) {
    const std::vector<float> eager = f(x).template to_vector<float>();
    const std::vector<float> compiled =
        compile(f, {.name = "joined"})(x).template to_vector<float>();
    for (std::size_t i = 0; i < eager.size(); ++i)
      EXPECT_EQ(compiled[i], eager[i]) << what << " of " << values[i];
  };
  compare("(x * 2) * 0.5", [](const Tensor& v) { return (v * 2.0) * 0.5; });
  compare("(x * 3) * 0.25", [](const Tensor& v) { return (v * 3.0) * 0.25; });
  compare("(x * 1e-30) * 2^100",
          [](const Tensor& v) { return (v * 1e-30) * 1267650600228229401496703205376.0; });
  compare("(x * 2) * (x * 0.5)", [](const Tensor& v) { return (v * 2.0) * (abs(v) * 0.5); });
  compare("(1e-9 x * 2^100) * (x * 2^-100)", [](const Tensor& v) {
    const double p = 1267650600228229401496703205376.0;
    return (v * p) * (abs(v) * (1 / p));
  });
}

TEST(CompilePlans, FactorsThatStayInRangeAreJoined) {
  const auto kernels = [](const auto& f) {
    const auto compiled = compile(f, {.name = "joined"});
    compiled(ones({4}, Device::cpu()));
    return compiled.explain();
  };
  EXPECT_THAT(kernels([](const Tensor& v) { return exp((v * 0.75) * 2.0); }),
              HasSubstr("kernel 1: mul, exp;"));
  EXPECT_THAT(kernels([](const Tensor& v) { return (tanh(v) * 2.0) * (exp(v) * 0.5); }),
              HasSubstr("kernel 1: exp, tanh, mul;"));
}

TEST(CompilePlans, CapturedTensorsAreBoundByHandle) {
  const Tensor weight = ones({4}, Device::cpu()), x = ones({4}, Device::cpu());
  const auto f = compile([weight](Tensor v) { return v * weight; });
  expect_near(f(x), {{4}, {1, 1, 1, 1}}, 0);
  weight.fill(3);
  expect_near(f(x), {{4}, {3, 3, 3, 3}}, 0);
}

TEST(CompilePlans, NumbersAreConstants) {
  const auto f = compile([](Tensor x, double factor) { return x * factor; });
  const Tensor x = ones({2}, Device::cpu());
  expect_near(f(x, 2.0), {{2}, {2, 2}}, 0);
  expect_near(f(x, 3.0), {{2}, {3, 3}}, 0);
  EXPECT_EQ(f.stats().traces, 2u);
}

TEST(CompilePlans, ResultsAreFresh) {
  const Tensor x = ones({3, 2}, Device::cpu());
  const auto f = compile([](Tensor v) { return std::vector<Tensor>{v, v.t(), v + 1, v + 1}; });
  const std::vector<Tensor> results = f(x);
  x.fill(5);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(results[i].is_contiguous());
    EXPECT_EQ(results[i].to_vector<float>()[0], i < 2 ? 1.0f : 2.0f);
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(results[i].data(), results[j].data());
  }
}

// What changes nothing (x * 1) is no operation, and its result still lies as it should.
TEST(CompilePlans, ResultsOfViewsThatNothingChanges) {
  const auto turned = [](Tensor v) {
    const Tensor y = v + 1;
    return std::vector<Tensor>{y.t() * 1.0, y.t() / 1, (y * 2).t() - 0, y};
  };
  for (const Shape& shape : {Shape{2, 2}, Shape{2, 3}, Shape{1, 3}}) {
    const Tensor x = randn(shape, RandomOptions(f32, Device::cpu()).with_seed(4));
    const std::vector<Tensor> expected = turned(x), found = compile(turned)(x);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(found[i].shape(), expected[i].shape());
      EXPECT_TRUE(found[i].is_contiguous());
      expect_near(found[i], doubles_of(expected[i]), 0);
    }
  }
}

// Rows whose elements are all divided by one number, which is multiplied by its reciprocal: that of
// a subnormal number would be infinite.
TEST(CompilePlans, RowsAreDividedByNumbersOfAnySize) {
  const auto by_largest = [](Tensor x) { return x / max(x, 1, true); };
  const Target target = Target::parse("sm_90a");
  for (const DType dtype : {f32, bf16})
    for (const double scale : {1e-45, 1e-39, 3e-38, 1e-30, 1.0, 1e30, 3e38}) {
      const Tensor x = full({2, 8}, scale, {dtype, Device::cpu()});
      x.slice(1, 0, 3).fill(0);
      const Doubles expected = doubles_of(by_largest(x));
      expect_near(compile(by_largest)(x), expected, 1e-6, std::to_string(scale));
      const graph::EmulatedGroups emulated(target);
      expect_near(compile(by_largest)(x), expected, 1e-6, "emulated");
    }
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor ends = tensor<float>({0, 0, -inf, -1, 1, inf, -1, 0}, Device::cpu()).view({4, 2});
  expect_near(compile(by_largest)(ends), doubles_of(by_largest(ends)), 0);
}

// What one operation computes on the way may go through memory (few long rows, no fusion): its
// squares and sums are beyond float16, and a mean in bfloat16 would be too far from the others.
TEST(CompilePlans, OperationsOfSmallFloatsAreNotRoundedOnTheWay) {
  Settings changed = settings();
  changed.interpret = true;
  const SettingsOverride interpreted(changed);
  const auto all = [](Tensor x) {
    return std::vector<Tensor>{rms_norm(x), layer_norm(x),   mean(x, 1),
                               var(x, 1),   logsumexp(x, 1), rms_norm(exp(x * 0.01) * 100)};
  };
  for (const DType dtype : {f16, bf16})
    for (const bool fuses : {true, false}) {
      const Tensor x =
          (rand({3, 12000}, RandomOptions(f32, Device::cpu()).with_seed(6)) * 300 + 1).to(dtype);
      const std::vector<Tensor> found = compile(all, {.fuses = fuses})(x);
      const std::vector<Tensor> expected = all(x.to(f64));
      for (std::size_t i = 0; i < expected.size(); ++i)
        expect_near(found[i], doubles_of(expected[i]), dtype == f16 ? 4e-3 : 3e-2,
                    fmt::format("{} of {}{}", i, name_of(dtype), fuses ? "" : ", unfused"));
    }
}

// More numbers than a kernel has arguments.
TEST(CompilePlans, LongChainsOfNumbersAreSeveralKernels) {
  Settings changed = settings();
  changed.interpret = true;
  const SettingsOverride interpreted(changed);
  const auto chain = [](Tensor x) {
    for (int i = 0; i < 150; ++i) x = x * (1 + 0.001 * i) - 0.01 * i;
    return x;
  };
  const Tensor x = randn({5}, RandomOptions(f64, Device::cpu()).with_seed(4));
  const auto f = compile(chain);
  expect_near(f(x), doubles_of(chain(x)), 1e-12);
  EXPECT_LE(f.stats().kernels, 3u);
}

TEST(CompilePlans, EmptyTensors) {
  const auto f = compile([](Tensor v) { return sum(exp(v), 1); });
  EXPECT_EQ(f(empty({0, 3}, Device::cpu())).shape(), Shape{0});
  expect_near(f(empty({2, 0}, Device::cpu())), {{2}, {0, 0}}, 0);
  // Rows along dimensions that do not lie together, of which there are none.
  const auto g = compile([](Tensor v) { return min(v, {0, 2}); });
  EXPECT_EQ(g(empty({2, 3, 4, 0}, Device::cpu())).shape(), (Shape{3, 0}));
}

// ---- Text.

TEST(CompileText, OutputCodeIsTritonThatRuns) {
  const Tensor x = randn({5, 70}, RandomOptions(f32, Device::cpu()).with_seed(3));
  const auto f = compile(manual_softmax);
  const Tensor expected = f(x);
  const std::string code = f.output_code();
  EXPECT_THAT(code, HasSubstr("def tw_max_sub_exp_sum_div(in0, out0, size0, n):"));
  const TritonKernel kernel = load_triton_source(code, "tw_max_sub_exp_sum_div");
  const Tensor out = empty_like(x);
  kernel[{.grid = 5}](x, out, 5, 70);
  expect_near(out, doubles_of(expected), 1e-7);
}

TEST(CompileText, LoopsAndPlacesAreTritonToo) {
  const Tensor x = randn({8, 40000}, RandomOptions(f32, Device::cpu()).with_seed(3));
  const auto f = compile([](Tensor v) { return argmax(v * v, 1); });
  const Tensor expected = f(x);
  const TritonKernel kernel = load_triton_source(f.output_code(), "tw_mul_argmax");
  const Tensor out = empty({8}, {i64, Device::cpu()});
  kernel[{.grid = 8}](x, out, 8, 40000);
  expect_near(out, doubles_of(expected), 0);
}

// Triton takes a Python float for a float32, and has roots and quotients that are rounded once for
// float32 alone.
TEST(CompileText, NumbersOfDoublesAreDoubles) {
  const Tensor x = rand({5, 70}, RandomOptions(f64, Device::cpu()).with_seed(3));
  const auto f = compile([](Tensor v) { return sqrt(v * 0.1) / 3.3; });
  const Tensor expected = f(x);
  const std::string code = f.output_code();
  EXPECT_THAT(code, HasSubstr("number0: tl.float64"));
  EXPECT_THAT(code, Not(HasSubstr("_rn(")));
  const Tensor out = empty_like(x);
  load_triton_source(code, "tw_mul_sqrt_div")[{.grid = 1}](x, out, 0.1, 3.3, 350);
  expect_near(out, doubles_of(expected), 0);
}

// ---- Mistakes.

template <class Function>
std::string compile_message(Function function) {
  try {
    compile(function)(ones({2, 3}, Device::cpu()));
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(CompileErrors, SayTheWayOut) {
  EXPECT_THAT(compile_message([](Tensor x) { return x * sum(x).item<float>(); }),
              HasSubstr("item() needs the elements of a float32[] that is being traced, which are "
                        "not computed yet: choose between values with tw::where"));
  EXPECT_THAT(compile_message([](Tensor x) {
                x.fill(1);
                return x;
              }),
              HasSubstr("a float32[2, 3] that is being traced cannot be written to, since it is an "
                        "argument of the function"));
  const Tensor outer = ones({3}, Device::cpu());
  EXPECT_THAT(compile_message([outer](Tensor x) {
                outer.fill(2);
                return x + outer;
              }),
              HasSubstr("a float32[3] that a traced function refers to is written to in it, which "
                        "would happen when it is traced and never again: return the new value"));
  EXPECT_THAT(compile_message([outer](Tensor x) {
                outer.slice(0, 0, 1).copy_from(ones({1}, Device::cpu()));
                return x + outer;
              }),
              HasSubstr("a float32[1] that a traced function refers to is written to in it"));
  EXPECT_EQ(outer.to_vector<float>(), std::vector<float>(3, 1.0F));
  const Tensor elsewhere(Buffer::wrap(reinterpret_cast<void*>(4096), 12, Device::cuda()), f32, {3},
                         {1});
  EXPECT_THAT(
      compile_message([elsewhere](Tensor x) { return x + elsewhere; }),
      HasSubstr("add(float32[2, 3], float32[3]): the first is on cpu, the second on cuda:0: "
                "move one with to()"));
  EXPECT_THAT(compile_message([elsewhere](Tensor x) { return matmul(x, elsewhere); }),
              HasSubstr("matmul(float32[2, 3], float32[3]): the first is on cpu, the second on "
                        "cuda:0: move one with to()"));
  EXPECT_THAT(compile_message([](Tensor x) { return x.to(Device::cuda()); }),
              HasSubstr("to(cuda:0): a traced function runs on one device, cpu: move what it is "
                        "called with before the call"));
  const auto inner = compile(manual_gelu);
  EXPECT_THAT(compile_message([inner](Tensor x) { return inner(x); }),
              HasSubstr("a compiled function was called in a function that is being traced"));
  EXPECT_THAT(compile_message([](Tensor x) { return x + ones({4}, Device::cpu()); }),
              HasSubstr("add: shapes [2, 3] and [4] do not broadcast"));
  EXPECT_THAT(compile_message([](Tensor) { return Tensor(); }), HasSubstr("undefined tensor"));
}

TEST(CompileErrors, TensorsThatEscape) {
  Tensor escaped;
  const auto f = compile([&](Tensor x) {
    escaped = x + 1;
    return escaped * 2;
  });
  f(ones({2}, Device::cpu()));
  const auto expect_message = [](const auto& use) {
    try {
      use();
      FAIL() << "nothing was thrown";
    } catch (const ArgumentError& error) {
      EXPECT_THAT(error.what(), HasSubstr("used outside of it: such tensors have no elements"));
    }
  };
  expect_message([&] { escaped + 1; });
  expect_message([&] { escaped[0].item<float>(); });
  expect_message([&] { escaped.to_string(); });
  expect_message([&] { f(escaped); });
  expect_message([&] { escaped.view({2, 1}).t() + 1; });
  // Views of it are its own on every thread, and live without it.
  std::vector<std::thread> threads;
  std::vector<Tensor> views(4);
  for (Tensor& view : views)
    threads.emplace_back([&view, escaped] {
      for (int i = 0; i < 100; ++i) view = escaped.unsqueeze(0).slice(1, i % 2, 2);
    });
  for (std::thread& thread : threads) thread.join();
  escaped = {};
  for (const Tensor& view : views) {
    EXPECT_EQ(view.shape(), (Shape{1, 1}));
    expect_message([&] { view * 2; });
  }
}

// Printing and comparing say what they are; tensors with memory can be looked at.
TEST(CompileErrors, LookingAtTensors) {
  EXPECT_THAT(compile_message([](Tensor x) {
                x.to_string();
                return x;
              }),
              HasSubstr("printing needs the elements of a float32[2, 3] that is being traced"));
  EXPECT_THAT(compile_message([](Tensor x) { return allclose(x, x) ? x : x * 2; }),
              HasSubstr("allclose needs the elements of a float32[2, 3] that is being traced"));
  EXPECT_THAT(compile_message([](Tensor x) {
                save_npy("/nowhere/x.npy", x);
                return x;
              }),
              HasSubstr("save_npy() needs the elements of a float32[2, 3] that is being traced"));
  EXPECT_THAT(compile_message([](Tensor x) {
                const Tensor y = zeros({3}, Device::cpu());
                y.copy_from(x[0]);
                return max_abs_error(ones({3}, Device::cpu()), y) > 0 ? x : x * 2;
              }),
              HasSubstr("max_abs_error needs the elements of a float32[3] that is being traced"));
  const Tensor outer = ones({3}, Device::cpu());
  std::string text;
  const auto f = compile([&](Tensor x) {
    text = outer.to_string();
    return allclose(outer, ones({3}, Device::cpu())) ? x + outer : x;
  });
  EXPECT_EQ(f(outer).to_vector<float>(), std::vector<float>(3, 2.0F));
  EXPECT_EQ(text, outer.to_string());
}

// A step that fails in its middle gives nothing, and what it was called with is as before.
TEST(CompileErrors, OutOfMemoryInTheMiddle) {
  const auto step = compile([](Tensor w, Tensor x) {
    const Tensor updated = w * 0.5;
    return std::tuple(updated, sum(matmul(x, x.t()), 0));
  });
  const Tensor w = ones({4}, Device::cpu());
  EXPECT_THROW(step(w, ones({std::int64_t{1} << 23, 2}, Device::cpu())), OutOfMemory);
  EXPECT_EQ(w.to_vector<float>(), std::vector<float>(4, 1.0F));
  expect_near(std::get<0>(step(w, ones({3, 2}, Device::cpu()))), {{4}, {0.5, 0.5, 0.5, 0.5}}, 0);
}

// As eager calls do; looked at in every call, not in the one that was traced.
TEST(CompileErrors, AnIndexOutOfRange) {
  const auto loss = compile([](Tensor x, Tensor t) { return cross_entropy(x, t); });
  const auto rows = compile([](Tensor x, Tensor t) { return embedding(x, t) * 2.0; });
  const Tensor x = ones({2, 3}, Device::cpu());
  const auto at = [](std::int64_t last) { return tensor<std::int64_t>({0, last}, Device::cpu()); };
  EXPECT_NEAR(loss(x, at(2)).item<float>(), std::log(3.0), 1e-5);
  EXPECT_NEAR(loss(x, at(-100)).item<float>(), std::log(3.0), 1e-5);
  rows(x, at(1));
  const auto message = [&](const auto& f, std::int64_t last) -> std::string {
    try {
      f(x, at(last));
    } catch (const ArgumentError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_EQ(message(loss, 3),
            "cross_entropy: index 3 at place 1 is out of range: there are 3 (0 to 2)");
  EXPECT_EQ(message(rows, -1),
            "embedding: index -1 at place 1 is out of range: there are 2 (0 to 1)");
}

TEST(CompileErrors, AnExceptionLeavesNothing) {
  bool throws = true;
  const auto f = compile([&](Tensor x) {
    if (throws) throw std::runtime_error("of the function");
    return x + 1;
  });
  const Tensor x = ones({2}, Device::cpu());
  EXPECT_THROW(f(x), std::runtime_error);
  EXPECT_EQ(f.stats().traces, 0u);
  throws = false;
  expect_near(f(x), {{2}, {2, 2}}, 0);
}

}  // namespace
}  // namespace tilewright
