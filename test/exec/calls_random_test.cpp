// SPDX-License-Identifier: Apache-2.0
// exec/calls_random_test.cpp — random graphs of convolutions, pools, indices, attention and plain
// operations: compiled is eager, and derivatives are differences, in float64.
// --gtest_random_seed=N takes other ones.
#include <random>

#include "grad_reference.h"

namespace tilewright {
namespace {

// Of planes of shape [2, 4, 6, 6].
class CallsGraph {
 public:
  explicit CallsGraph(std::uint64_t seed) : seed_(seed) {}

  Tensor operator()(const Tensor& x, const Tensor& weight) const {
    std::mt19937_64 choose(seed_);
    std::vector<Tensor> values = {x, tanh(x * 0.5)};
    for (int step = 0; step < 6; ++step) {
      const Tensor a = values[choose() % values.size()], b = values[choose() % values.size()];
      values.push_back(tanh(step_of(choose, a, b, weight)));
    }
    return values.back() + values[values.size() - 3];
  }

 private:
  // Of that shape, below 4, the shortest of the dimensions but one.
  static Tensor places(std::mt19937_64& choose, const Shape& shape, std::uint64_t count) {
    std::vector<std::int64_t> all(
        static_cast<std::size_t>(shape[0] * shape[1] * shape[2] * shape[3]));
    for (std::int64_t& place : all) place = static_cast<std::int64_t>(choose() % count);
    return tensor(all, shape, Device::cpu());
  }

  static Tensor step_of(std::mt19937_64& choose, const Tensor& a, const Tensor& b,
                        const Tensor& w) {
    const int axis = static_cast<int>(choose() % 4);
    const auto size = static_cast<std::uint64_t>(a.size(axis));
    switch (choose() % 13) {
      case 0:
        return conv2d(a, w, {}, {.padding = 1});
      case 1:
        return conv2d(a, w.slice(1, 0, 2), {}, {.padding = 2, .dilation = 2, .groups = 2});
      case 2:
        return max_pool2d(a, 3, {.stride = 1, .padding = 1});
      case 3:
        return avg_pool2d(a, 3,
                          {.stride = 1, .padding = 1, .count_include_pad = choose() % 2 == 0});
      case 4:
        return group_norm(a, 2) + b;
      case 5:
        return gather(a, axis, places(choose, a.shape(), size));
      case 6:
        return scatter_add(a, axis, places(choose, a.shape(), size), b);
      case 7:
        return index_add(b, 3, places(choose, {6, 1, 1, 1}, 6).view({6}), a);
      case 8:
        return pad(a, {1, -1, -1, 1}, 0.5) * b;
      case 9:
        return dropout(a, 0.3, choose());
      case 10:
        return scaled_dot_product_attention(a, b, a, {}, {.is_causal = choose() % 2 == 0});
      case 11:
        return a.transpose(2, 3) - softmax(b, axis);
      default:
        return cat({a, b}, 1).slice(1, 1, 8, 2) * a;
    }
  }
  std::uint64_t seed_;
};

TEST(CallsRandomly, CompiledIsEagerAndDerivativesAreDifferences) {
  Settings changed = settings();
  changed.interpret = true;
  const SettingsOverride interpreted(changed);
  const auto random = [](Shape shape, std::uint64_t seed) {
    return randn(std::move(shape), RandomOptions(f64, Device::cpu()).with_seed(seed));
  };
  const auto first = static_cast<std::uint64_t>(GTEST_FLAG_GET(random_seed)) * 25;
  for (std::uint64_t seed = first; seed < first + 25; ++seed) {
    const CallsGraph graph(seed);
    const Tensor x = random({2, 4, 6, 6}, seed + 1), w = random({4, 4, 3, 3}, seed + 2) * 0.3;
    const auto compiled_graph = compile(graph);
    const std::string what = "seed " + std::to_string(seed);
    expect_near(compiled_graph(x, w), doubles_of(graph(x, w)), 1e-10,
                what + "\n" + compiled_graph.graph());
    const auto loss = [&](Tensor v, Tensor u) { return sum(graph(v, u) * graph(v, u)); };
    const auto [value, by_x] = value_and_grad(loss)(x, w);
    const Tensor by_w = grad([&](Tensor u, Tensor v) { return loss(v, u); })(w, x);
    const Tensor along_x = random({2, 4, 6, 6}, seed + 3), along_w = random({4, 4, 3, 3}, seed + 4);
    constexpr double h = 1e-6;
    const double expected =
        (loss(x + h * along_x, w + h * along_w) - loss(x - h * along_x, w - h * along_w))
            .item<double>() /
        (2 * h);
    const double found = (sum(by_x * along_x) + sum(by_w * along_w)).item<double>();
    ASSERT_NEAR(found, expected, 1e-4 * (1 + std::abs(expected))) << what << compiled_graph.graph();
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tilewright
