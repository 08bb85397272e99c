// SPDX-License-Identifier: Apache-2.0
// exec/grad_planes_test.cpp — derivatives of convolutions, pools, indices and attention against
// differences.
#include <limits>

#include "grad_reference.h"

namespace tilewright {
namespace {

TEST_F(Grad, Convolutions) {
  const Tensor x = values({2, 4, 5, 6}, 1), w = values({4, 2, 2, 3}, 2), b = values({4}, 3);
  const ConvOptions all[] = {
      {.groups = 2},
      {.stride = {2, 3}, .padding = {1, 2}, .groups = 2},
      {.stride = 2, .padding = 3, .dilation = {2, 1}, .groups = 2},
  };
  for (const ConvOptions& o : all) {
    expect_derivative(
        "by the input", [=](Tensor v) { return conv2d(v, w, b, o); }, x);
    expect_derivative(
        "by the weight", [=](Tensor v) { return conv2d(x, v, b, o); }, w);
  }
  expect_derivative(
      "by the bias", [=](Tensor v) { return conv2d(x, w, v, {.groups = 2}); }, b);
  expect_derivative(
      "1x1", [=](Tensor v) { return conv2d(x, v); }, values({3, 4, 1, 1}, 4));
}

TEST_F(Grad, Pools) {
  const Tensor x = values({2, 2, 5, 6}, 1);
  expect_derivative(
      "max", [](Tensor v) { return max_pool2d(v, 2); }, x);
  expect_derivative(
      "max, overlapping",
      [](Tensor v) {
        return max_pool2d(v, 3, {.stride = {1, 2}, .padding = 1, .dilation = {2, 1}});
      },
      x);
  expect_derivative(
      "avg", [](Tensor v) { return avg_pool2d(v, 2, {.stride = 1}); }, x);
  expect_derivative(
      "avg without padding",
      [](Tensor v) {
        return avg_pool2d(v, 3, {.stride = 2, .padding = 1, .count_include_pad = false});
      },
      x);
}

TEST_F(Grad, OnlyTheFirstOfEqualOnesIsTheLargest) {
  const Tensor x = zeros({1, 1, 2, 2}, {f64, Device::cpu()});
  const Tensor found = grad([](Tensor v) { return sum(max_pool2d(v, 2)); })(x);
  expect_near(found, {{1, 1, 2, 2}, {1, 0, 0, 0}}, 0);
}

TEST_F(Grad, Indices) {
  const Tensor x = values({3, 4}, 1), more = values({3, 2}, 2);
  const Tensor at = tensor<std::int64_t>({1, 1, 3, 0, 2, 2}, Device::cpu()).view({3, 2});
  const Tensor rows = tensor<std::int64_t>({2, 0, 2, 2}, Device::cpu());
  expect_derivative(
      "gather", [=](Tensor v) { return square(gather(v, 1, at)); }, x);
  expect_derivative(
      "index_select", [=](Tensor v) { return square(index_select(v, 0, rows)); }, x);
  expect_derivative(
      "embedding",
      [=](Tensor v) {
        return square(embedding(v, rows.view({2, 2})));
      },
      x);
  expect_derivative(
      "scatter_add, into", [=](Tensor v) { return square(scatter_add(v, 1, at, more)); }, x);
  expect_derivative(
      "scatter_add, values", [=](Tensor v) { return square(scatter_add(x, 1, at, v)); }, more);
  const Tensor once = tensor<std::int64_t>({1, 0, 3, 0, 2, 1}, Device::cpu()).view({3, 2});
  expect_derivative(
      "scatter, into", [=](Tensor v) { return square(scatter(v, 1, once, more)); }, x);
  expect_derivative(
      "scatter, values", [=](Tensor v) { return square(scatter(x, 1, once, v)); }, more);
  expect_derivative(
      "index_add", [=](Tensor v) { return square(index_add(x, 0, rows, v)); }, values({4, 4}, 3));
  expect_derivative(
      "pad",
      [](Tensor v) {
        return square(pad(v, {1, -1, 2, 0}, 3));
      },
      x);
}

TEST_F(Grad, NormsAttentionAndDropout) {
  const Tensor x = values({2, 4, 3}, 1), w = values({4}, 2), b = values({4}, 3);
  expect_derivative(
      "group_norm", [=](Tensor v) { return group_norm(v, 2, w, b); }, x);
  expect_derivative(
      "group_norm by its weight", [=](Tensor v) { return group_norm(x, 2, v, b); }, w);
  const Tensor k = values({2, 5, 3}, 4), u = values({2, 5, 2}, 5);
  expect_derivative(
      "attention",
      [=](Tensor v) { return scaled_dot_product_attention(v, k, u, {}, {.is_causal = true}); }, x);
  expect_derivative(
      "attention by keys", [=](Tensor v) { return scaled_dot_product_attention(x, v, u); }, k);
  expect_derivative(
      "dropout", [](Tensor v) { return square(dropout(v, 0.4, 5)); }, x);
}

// One mask for the value and its derivative.
TEST_F(Grad, DropoutOfATrace) {
  const Tensor x = ones({400}, {f64, Device::cpu()});
  const auto both = value_and_grad([](Tensor v) { return sum(dropout(v, 0.5)); });
  const auto [value, derivative] = both(x);
  EXPECT_NEAR(value.item<double>(), sum(derivative).item<double>(), 1e-9);
  const auto [other, unused] = both(x);
  EXPECT_NE(value.item<double>(), other.item<double>());
}

}  // namespace
}  // namespace tilewright
