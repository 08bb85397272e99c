// SPDX-License-Identifier: Apache-2.0
// exec/grad_test.cpp — derivatives against differences in float64, in the interpreter; a small
// network that learns.
#include "tilewright/grad.h"

#include <gmock/gmock.h>

#include "grad_reference.h"
#include "tilewright/error.h"
#include "tilewright/nn.h"

namespace tilewright {
namespace {

TEST_F(Grad, FunctionsOfOneElement) {
  const Tensor x = values({7}, 1), positive = abs(values({7}, 2)) + 0.5;
  const std::pair<const char*, Fn> everywhere[] = {
      {"neg", neg},
      {"abs", abs},
      {"square", square},
      {"relu", relu},
      {"exp", exp},
      {"expm1", expm1},
      {"sin", sin},
      {"cos", cos},
      {"tan", tan},
      {"tanh", tanh},
      {"erf", erf},
      {"sigmoid", sigmoid},
      {"silu", silu},
      {"gelu", [](Tensor v) { return gelu(v); }},
      {"gelu_tanh", [](Tensor v) { return gelu(v, Gelu::Tanh); }},
      {"1 + tanh", [](Tensor v) { return 0.5 * v * (1 + tanh(v)); }},
      {"clamp", [](Tensor v) { return clamp(v, -0.5, 0.7); }},
      {"floor", [](Tensor v) { return floor(v) * v; }},
      {"cube", [](Tensor v) { return pow(v, 3.0); }},
  };
  for (const auto& [name, f] : everywhere) expect_derivative(name, f, x);
  const std::pair<const char*, Fn> above_zero[] = {
      {"log", log},
      {"log2", log2},
      {"log1p", log1p},
      {"sqrt", sqrt},
      {"rsqrt", rsqrt},
      {"reciprocal", reciprocal},
      {"power", [](Tensor v) { return pow(v, v * 0.5); }},
      {"power of a number", [](Tensor v) { return pow(2.0, v); }},
  };
  for (const auto& [name, f] : above_zero) expect_derivative(name, f, positive);
}

TEST_F(Grad, TwoOperandsAndBroadcasting) {
  const Tensor x = values({3, 4}, 1), row = values({4}, 2), column = values({3, 1}, 3);
  expect_derivative(
      "by the large one", [=](Tensor v) { return v * row - column / (2 + v * v); }, x);
  expect_derivative(
      "by a row", [=](Tensor v) { return x * v + v; }, row);
  expect_derivative(
      "by a column", [=](Tensor v) { return x / (3 + square(v)); }, column);
  expect_derivative(
      "extremes", [=](Tensor v) { return maximum(v, row) + minimum(v, 0.1); }, x);
  expect_derivative(
      "where", [=](Tensor v) { return where(x > 0, v * v, v * row); }, x);
  expect_derivative(
      "twice", [=](Tensor v) { return v * v * v + v; }, x);
}

TEST_F(Grad, Remainders) {
  const Tensor x = values({3, 4}, 1), row = values({4}, 2);
  expect_derivative(
      "by the dividend", [=](Tensor v) { return remainder(v, 1.5); }, x);
  expect_derivative(
      "by the divisor", [=](Tensor v) { return remainder(x, 1.5 + square(v)); }, row);
}

// Where a rule that divides or takes a logarithm would make NaN of 0 * inf.
TEST_F(Grad, AtZeros) {
  const Tensor x = tensor<float>({0, 2, 3, 0, 0, 5, 7, 2, 4}, Device::cpu()).view({3, 3}).to(f64);
  const auto by = [&](auto f, const Tensor& at) { return grad(f)(at); };
  expect_near(by([](Tensor v) { return sum(prod(v, 1)); }, x),
              {{3, 3}, {6, 0, 0, 0, 0, 0, 8, 28, 14}}, 0);
  const Tensor two = tensor<float>({0, 2}, Device::cpu()).to(f64);
  expect_near(by([](Tensor v) { return sum(pow(v, 0.0)); }, two), {{2}, {0, 0}}, 0);
  expect_near(by([](Tensor v) { return sum(pow(v, 0.0) * INFINITY); }, two), {{2}, {0, 0}}, 0);
  expect_near(by([&](Tensor v) { return sum(pow(two, v)); }, two), {{2}, {0, 4 * std::log(2.0)}},
              1e-12);
  expect_near(by([&](Tensor v) { return sum(pow(v, two * 0.0)); }, two), {{2}, {0, 0}}, 0);
}

// As PyTorch's: what equals a bound is inside, with one bound or two; equal tensors share.
TEST_F(Grad, AtBounds) {
  const Tensor x = tensor<float>({-1, 0, 1, 2}, Device::cpu()).to(f64);
  const auto by = [&](auto f) { return grad(f)(x); };
  expect_near(by([](Tensor v) { return sum(clamp(v, 0.0, {})); }), {{4}, {0, 1, 1, 1}}, 0);
  expect_near(by([](Tensor v) { return sum(clamp(v, {}, 1.0)); }), {{4}, {1, 1, 1, 0}}, 0);
  expect_near(by([](Tensor v) { return sum(clamp(v, 0.0, 1.0)); }), {{4}, {0, 1, 1, 0}}, 0);
  expect_near(by([](Tensor v) { return sum(maximum(v, v * v)); }), {{4}, {-2, 0.5, 1.5, 4}}, 0);
}

// A row of -inf, as in sums over ways of which none is possible.
TEST_F(Grad, LogSumsOfNothing) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor x = tensor<double>({-inf, -inf, 1, 1, -inf, 2}, Device::cpu()).view({3, 2});
  expect_near(logsumexp(x, 1), {{3}, {-inf, 1 + std::log(2.0), 2}}, 1e-12);
  expect_near(grad([](Tensor v) {
                const Tensor total = logsumexp(v, 1);
                return sum(where(total > -1e30, total, 0.0));
              })(x),
              {{3, 2}, {0, 0, 0.5, 0.5, 0, 1}}, 1e-12);
}

// Their number is no float16.
TEST(GradOfSmallFloats, ManyThatAreTheLargest) {
  const Tensor x = ones({1 << 17}, {f16, Device::cpu()});
  const auto scaled = [](Tensor v) { return sum(max(v, 0).to(f32) * 1024); };
  const auto by = compile([&](Tensor v) { return grad(scaled)(v); }, {.fuses = false});
  expect_near(by(x).slice(0, 0, 2), {{2}, {0x1p-7, 0x1p-7}}, 0);
}

// The largest one is a float16 in memory, what it is compared with is computed again.
TEST(GradOfSmallFloats, TheLargestIsFoundAgain) {
  const auto spread = [](Tensor x, Tensor y) {
    const Tensor scaled = minimum(x * 0.75, y);
    return sum(square(max(scaled, {0, 2}, true) - scaled)) + sum(min(scaled * 0.3, 1));
  };
  for (const DType dtype : {f16, bf16})
    for (std::uint64_t seed = 1; seed < 5; ++seed) {
      const Tensor x =
          randn({4, 2, 6}, RandomOptions(f32, Device::cpu()).with_seed(seed)).to(dtype);
      const Tensor y =
          randn({4, 2, 1}, RandomOptions(f32, Device::cpu()).with_seed(seed + 9)).to(dtype);
      const Tensor found = grad(spread)(x, y);
      EXPECT_TRUE(allclose(found, found)) << name_of(dtype) << " " << seed;  // no NaN
    }
}

TEST_F(Grad, ProductsOfNothing) {
  const Tensor w = ones({3, 0}, {f64, Device::cpu()}), x = ones({2, 4, 0}, {f64, Device::cpu()});
  EXPECT_EQ(grad([&](Tensor v) { return sum(linear(x, v)); })(w).shape(), (Shape{3, 0}));
}

TEST_F(Grad, Rows) {
  const Tensor x = values({3, 5}, 4), w = values({5}, 5), b = values({5}, 6);
  const std::pair<const char*, Fn> rows[] = {
      {"sum", [](Tensor v) { return sum(v, 0); }},
      {"mean", [](Tensor v) { return mean(v, 1, true) * v; }},
      {"var", [](Tensor v) { return var(v, 1); }},
      {"max", [](Tensor v) { return max(v, 1); }},
      {"min", [](Tensor v) { return min(v, 0, true) * v; }},
      {"prod", [](Tensor v) { return prod(v, 1); }},
      {"logsumexp", [](Tensor v) { return logsumexp(v, 1); }},
      {"softmax", [](Tensor v) { return softmax(v); }},
      {"softmax of columns", [](Tensor v) { return softmax(v, 0); }},
      {"log_softmax", [](Tensor v) { return log_softmax(v); }},
      {"layer_norm", [=](Tensor v) { return layer_norm(v, w, b); }},
      {"rms_norm", [=](Tensor v) { return rms_norm(v, w); }},
  };
  for (const auto& [name, f] : rows) expect_derivative(name, f, x);
  expect_derivative(
      "weight", [=](Tensor v) { return layer_norm(x, v, b); }, w);
  expect_derivative(
      "bias", [=](Tensor v) { return layer_norm(x, w, v); }, b);
  const Tensor target = tensor<std::int64_t>({1, -100, 4}, Device::cpu());
  expect_derivative(
      "cross_entropy", [=](Tensor v) { return cross_entropy(v, target); }, x);
}

TEST_F(Grad, ProductsViewsAndLists) {
  const Tensor a = values({3, 4}, 1), b = values({4, 2}, 2), stack = values({2, 3, 4}, 3);
  expect_derivative(
      "matmul, first", [=](Tensor v) { return matmul(v, b); }, a);
  expect_derivative(
      "matmul, second", [=](Tensor v) { return matmul(a, v); }, b);
  expect_derivative(
      "a stack by a matrix", [=](Tensor v) { return matmul(stack, v); }, b);
  expect_derivative(
      "linear", [=](Tensor v) { return linear(a, v, v.select(1, 0).contiguous()); },
      values({2, 4}, 5));
  expect_derivative(
      "transpose", [](Tensor v) { return v.t() * v.t(); }, a);
  expect_derivative(
      "slice", [](Tensor v) { return square(v.slice(1, 1, 3)); }, a);
  expect_derivative(
      "reshape",
      [](Tensor v) {
        return square(v.view({2, 6})) * 2.0;
      },
      a);
  expect_derivative(
      "broadcast",
      [](Tensor v) {
        return square(v.unsqueeze(1).broadcast_to({3, 2, 4}));
      },
      a);
  expect_derivative(
      "cat",
      [=](Tensor v) {
        return cat({v, square(v)}, 1);
      },
      a);
  expect_derivative(
      "strided", [](Tensor v) { return square(v); }, a.t());
  expect_derivative(
      "every second, backwards", [](Tensor v) { return square(v.slice(1, -1, -100, -2)); }, a);
  expect_derivative(
      "a part that is viewed otherwise and repeated",
      [](Tensor v) {
        return square(v.slice(0, 1, 3).view({2, 2, 2, 1}).broadcast_to({2, 2, 2, 3}));
      },
      a);
}

TEST_F(Grad, Mistakes) {
  const auto message = [](const auto& f, const Tensor& x) -> std::string {
    try {
      grad(f)(x);
    } catch (const ArgumentError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  const Tensor x = ones({2, 3}, Device::cpu());
  EXPECT_EQ(message([](Tensor v) { return v * 2.0; }, x),
            "a function that is differentiated gives one float, not float32[2, 3]: take its sum or "
            "mean");
  EXPECT_EQ(message([](Tensor v) { return sum(v); }, x.to(i32)),
            "int32[2, 3] cannot be differentiated by: only floats can; pass it behind the first "
            "argument");
  EXPECT_EQ(message([](Tensor v) { return sum(argmax(v, 1).to(f32)) * 2.0; }, x),
            "the value depends on a float32[2, 3] only through argmax, which has no derivative");
}

// Three steps beside the same in doubles.
TEST_F(Grad, AdamWIsPyTorchs) {
  struct One {
    Tensor x;
    TW_TREE(x)
  };
  One parameters{tensor<double>({1.0, -2.0}, Device::cpu())};
  nn::AdamW<One> adam(parameters, {.rate = 0.1});
  double x[] = {1, -2}, m[] = {0, 0}, v[] = {0, 0};
  for (int t = 1; t <= 3; ++t) {
    One gradients{parameters.x * 3.0};
    for (int i = 0; i < 2; ++i) {
      const double g = 3 * x[i];
      x[i] -= 0.1 * 0.01 * x[i];
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      x[i] -= 0.1 * (m[i] / (1 - std::pow(0.9, t))) /
              (std::sqrt(v[i] / (1 - std::pow(0.999, t))) + 1e-8);
    }
    adam.update(parameters, gradients);
    expect_near(parameters.x, {{2}, {x[0], x[1]}}, 1e-13);
  }
}

// Beside one without dimensions a correction in float64 weighs as much as it does.
TEST_F(Grad, ParametersKeepTheirDtypes) {
  for (const DType dtype : {f16, f32, f64}) {
    std::vector<Tensor> parameters = {full({}, 2, {dtype, Device::cpu()}),
                                      full({1}, 2, {dtype, Device::cpu()})};
    nn::AdamW<std::vector<Tensor>> adam(parameters, {.rate = 0.1});
    for (int t = 0; t < 2; ++t) {
      std::vector<Tensor> gradients = {parameters[0] * 3, parameters[1] * 3};
      nn::clip_grad_norm(gradients, 1.0);
      adam.update(parameters, gradients);
    }
    EXPECT_EQ(parameters[0].dtype(), dtype);
    expect_near(parameters[0].view({1}), doubles_of(parameters[1]), dtype == f16 ? 2e-3 : 1e-6);
  }
}

TEST_F(Grad, LengthsOfDoublesAreDoubles) {
  std::vector<Tensor> gradients = {tensor<double>({3e30}, Device::cpu()),
                                   tensor<double>({4e30}, Device::cpu())};
  nn::clip_grad_norm(gradients, 1.0);
  expect_near(gradients[0], {{1}, {0.6}}, 1e-13);
  expect_near(gradients[1], {{1}, {0.8}}, 1e-13);
}

// A parameter would become as large as both together; of too few, what lies behind was read.
TEST_F(Grad, OptimisersTakeOneTensorOfItsShapeForEachParameter) {
  const auto message = [](auto update) -> std::string {
    try {
      update();
    } catch (const ArgumentError& error) {
      return error.what();
    }
    return "";
  };
  using List = std::vector<Tensor>;
  const Tensor column = ones({3, 1}, Device::cpu()), row = ones({3}, Device::cpu());
  List parameters = {column, row};
  EXPECT_EQ(message([&] {
              nn::sgd(parameters, List{row, row}, 0.1);
            }),
            "sgd: parameter 0 is float32[3, 1], but its gradient is float32[3]");
  EXPECT_EQ(message([&] { nn::sgd(parameters, List{column}, 0.1); }),
            "sgd was given 2 parameters and 1 gradients: there must be one for each");
  nn::AdamW<List> adam(parameters), other(List{column});
  EXPECT_EQ(message([&] {
              adam.update(parameters, List{column, row.to(f64)});
            }),
            "AdamW: parameter 1 is float32[3], but its gradient is float64[3]");
  EXPECT_EQ(message([&] { other.update(parameters, parameters); }),
            "AdamW was given 2 parameters and 1 moments: there must be one for each");
  expect_near(parameters[0], doubles_of(column), 0);
}

TEST_F(Grad, OfAProductWithNanIsNan) {
  const auto product = [](Tensor x) { return sum(prod(x, 1)); };
  const Tensor x =
      tensor<double>({NAN, 0, 0, 1, 3, 0, 2, 5, 0, 4, 0, 7}, Device::cpu()).view({3, 4});
  expect_near(grad(product)(x), {{3, 4}, {NAN, NAN, NAN, NAN, 0, 30, 0, 0, 0, 0, 0, 0}}, 0);
}

TEST_F(Grad, LayersThatReadNothingBeginWithZeros) {
  const nn::Linear layer(0, 3, Device::cpu());
  expect_near(layer(ones({2, 0}, Device::cpu())), {{2, 3}, {0, 0, 0, 0, 0, 0}}, 0);
}

class GradOn : public OpsTest {};

TEST_P(GradOn, ANetworkLearns) {
  using nn::AdamW;
  using nn::Mlp;
  const auto loss_of = [](Mlp net, Tensor x, Tensor target) {
    return cross_entropy(net(x), target);
  };
  const auto step = compile([&](Mlp net, AdamW<Mlp> adam, Tensor x, Tensor target) {
    auto [loss, g] = value_and_grad(loss_of)(net, x, target);
    nn::clip_grad_norm(g, 5.0);
    adam.update(net, g);
    return std::tuple(loss, net, adam);
  });
  const Tensor x = random({64, 8});
  const Tensor target = argmax(x.slice(1, 0, 4), 1);
  Mlp net({8, 32, 4}, RandomOptions(f32, device()).with_seed(3));
  AdamW<Mlp> adam(net, {.rate = 0.02});
  float first = 0, last = 0;
  for (int i = 0; i < 60; ++i) {
    Tensor loss;
    std::tie(loss, net, adam) = step(net, adam, x, target);
    last = loss.item<float>();
    if (i == 0) first = last;
  }
  EXPECT_GT(first, 1.0f);
  EXPECT_LT(last, 0.1f);
  EXPECT_EQ(step.stats().traces, 1u);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, GradOn, testing::Values(OpsOn::Cpu, OpsOn::Cuda),
                         ops_place_name);

}  // namespace
}  // namespace tilewright
