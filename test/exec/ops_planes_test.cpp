// SPDX-License-Identifier: Apache-2.0
// exec/ops_planes_test.cpp — convolution, pooling, group norm and attention against loops over
// doubles.
#include "ops_reference.h"

#include <limits>

#include <gmock/gmock.h>

#include "tilewright/compile.h"
#include "tilewright/error.h"
#include "tilewright/grad.h"

namespace tilewright {
namespace {

constexpr double lowest = -std::numeric_limits<double>::infinity();

// The value of a padded plane; `outside` beyond its edges.
double plane_at(const Doubles& x, const Shape& i, double outside) {
  const bool inside = i[2] >= 0 && i[2] < x.shape[2] && i[3] >= 0 && i[3] < x.shape[3];
  return inside ? x.at(i) : outside;
}

Doubles conv_of(const Doubles& x, const Doubles& w, const ConvOptions& o) {
  const auto size = [&](std::size_t d, std::int64_t stride, std::int64_t pad,
                        std::int64_t dilation) {
    return (x.shape[d] + 2 * pad - dilation * (w.shape[d] - 1) - 1) / stride + 1;
  };
  const std::int64_t per_group = w.shape[0] / o.groups;
  const Shape shape = {x.shape[0], w.shape[0],
                       size(2, o.stride.height, o.padding.height, o.dilation.height),
                       size(3, o.stride.width, o.padding.width, o.dilation.width)};
  return make_doubles(shape, [&](const Shape& i) {
    double total = 0;
    for (std::int64_t c = 0; c < w.shape[1]; ++c)
      for (std::int64_t h = 0; h < w.shape[2]; ++h)
        for (std::int64_t v = 0; v < w.shape[3]; ++v) {
          const Shape at = {i[0], i[1] / per_group * w.shape[1] + c,
                            i[2] * o.stride.height - o.padding.height + h * o.dilation.height,
                            i[3] * o.stride.width - o.padding.width + v * o.dilation.width};
          total += plane_at(x, at, 0) * w.at({i[1], c, h, v});
        }
    return total;
  });
}

class OpsPlanes : public OpsTest {};

TEST_P(OpsPlanes, Convolutions) {
  const Tensor x = random({2, 4, 7, 9}), w = random({6, 4, 3, 2}, f32, 2);
  const ConvOptions all[] = {
      {},
      {.padding = 1},
      {.stride = {2, 3}, .padding = {2, 1}},
      {.padding = 2, .dilation = {2, 3}},
  };
  for (const ConvOptions& options : all)
    expect_near(conv2d(x, w, {}, options), conv_of(doubles_of(x), doubles_of(w), options), 1e-5);
  const Tensor grouped = random({6, 2, 3, 2}, f32, 3);
  const ConvOptions two{.stride = 2, .groups = 2};
  expect_near(conv2d(x, grouped, {}, two), conv_of(doubles_of(x), doubles_of(grouped), two), 1e-5);
  const Tensor one = random({5, 4, 1, 1}, f32, 4), bias = random({5}, f32, 5);
  const Doubles plain = conv_of(doubles_of(x), doubles_of(one), {});
  expect_near(
      conv2d(x, one, bias),
      make_doubles(plain.shape,
                   [&](const Shape& i) { return plain.at(i) + doubles_of(bias).at({i[1]}); }),
      1e-5, "1x1 and bias");
  expect_near(conv2d(x.transpose(2, 3), w.transpose(2, 3)),
              doubles_of(conv2d(x, w).transpose(2, 3)), 1e-5, "strided");
  expect_near(conv2d(x[1], w), doubles_of(conv2d(x, w)[1]), 1e-5, "without a batch");
  EXPECT_EQ(conv2d(x.slice(0, 0, 0), w).shape(), (Shape{0, 6, 5, 8}));
  expect_near(conv2d(x.to(bf16), w.to(bf16)), conv_of(doubles_of(x), doubles_of(w), {}), 0.1,
              "bf16");
}

TEST_P(OpsPlanes, Pools) {
  Tensor x = random({2, 3, 7, 8});
  x[0][1][2][3].fill(std::nan(""));
  const Doubles in = doubles_of(x);
  const auto pooled = [&](const Pair2d& window, const PoolOptions& o, bool is_max) {
    const Pair2d stride = o.stride.height != 0 ? o.stride : window;
    const auto size = [&](std::int64_t n, std::int64_t k, std::int64_t s, std::int64_t p,
                          std::int64_t d) { return (n + 2 * p - d * (k - 1) - 1) / s + 1; };
    const Shape shape = {2, 3,
                         size(7, window.height, stride.height, o.padding.height, o.dilation.height),
                         size(8, window.width, stride.width, o.padding.width, o.dilation.width)};
    return make_doubles(shape, [&](const Shape& i) {
      double best = lowest, total = 0, counted = 0;
      bool has_nan = false;
      for (std::int64_t h = 0; h < window.height; ++h)
        for (std::int64_t w = 0; w < window.width; ++w) {
          const Shape at = {i[0], i[1],
                            i[2] * stride.height - o.padding.height + h * o.dilation.height,
                            i[3] * stride.width - o.padding.width + w * o.dilation.width};
          const double v = plane_at(in, at, is_max ? lowest : 0);
          has_nan |= std::isnan(v);
          best = std::max(best, v);
          total += v;
          counted += o.count_include_pad || plane_at(in, at, 1e300) != 1e300 ? 1 : 0;
        }
      if (has_nan) return std::nan("");
      return is_max ? best : total / counted;
    });
  };
  expect_near(max_pool2d(x, 2), pooled(2, {}, true), 0);
  const PoolOptions wide{.stride = 2, .padding = 1, .dilation = {2, 1}};
  expect_near(max_pool2d(x, {2, 3}, wide), pooled({2, 3}, wide, true), 0);
  expect_near(avg_pool2d(x, {2, 3}), pooled({2, 3}, {}, false), 1e-6);
  const PoolOptions edge{.stride = {1, 2}, .padding = 1};
  expect_near(avg_pool2d(x, 3, edge), pooled(3, edge, false), 1e-6);
  const PoolOptions bare{.stride = 2, .padding = 1, .count_include_pad = false};
  expect_near(avg_pool2d(x, 3, bare), pooled(3, bare, false), 1e-6);
  expect_near(max_pool2d(x.transpose(2, 3), 2), doubles_of(max_pool2d(x, 2).transpose(2, 3)), 0,
              "strided");
  const Tensor nothing = full({1, 1, 2, 2}, lowest, {f32, device()});
  expect_near(max_pool2d(nothing, 2), {{1, 1, 1, 1}, {lowest}}, 0, "infinite");
  EXPECT_EQ(max_pool2d(x.slice(1, 0, 0), 2).shape(), (Shape{2, 0, 3, 4}));
}

TEST_P(OpsPlanes, GroupNorm) {
  const Tensor x = random({2, 6, 3, 5}), w = random({6}, f32, 2), b = random({6}, f32, 3);
  const Doubles in = doubles_of(x), weights = doubles_of(w), shift = doubles_of(b);
  for (const std::int64_t groups : {1, 2, 6}) {
    const std::int64_t per = 6 / groups;
    const auto expected = [&](const Shape& i) {
      double total = 0, squares = 0;
      const double count = static_cast<double>(per * 15);
      const std::int64_t first = i[1] / per * per;
      for (const bool is_second : {false, true})
        for (std::int64_t c = first; c < first + per; ++c)
          for (std::int64_t h = 0; h < 3; ++h)
            for (std::int64_t v = 0; v < 5; ++v) {
              const double value = in.at({i[0], c, h, v});
              if (is_second) squares += (value - total / count) * (value - total / count);
              else total += value;
            }
      const double y = (in.at(i) - total / count) / std::sqrt(squares / count + 1e-5);
      return y * weights.at({i[1]}) + shift.at({i[1]});
    };
    expect_near(group_norm(x, groups, w, b), make_doubles(x.shape(), expected), 1e-5);
    expect_near(group_norm(x.transpose(2, 3), groups, w, b),
                doubles_of(group_norm(x, groups, w, b).transpose(2, 3)), 1e-6, "strided");
  }
  EXPECT_EQ(group_norm(x, 3).shape(), x.shape());
}

TEST_P(OpsPlanes, Attention) {
  const Tensor q = random({2, 3, 4, 8}), k = random({2, 3, 5, 8}, f32, 2),
               v = random({2, 3, 5, 6}, f32, 3);
  const Doubles a = doubles_of(q), b = doubles_of(k), c = doubles_of(v);
  const auto attention = [&](const std::function<double(std::int64_t, std::int64_t)>& mask,
                             double scale) {
    return make_doubles({2, 3, 4, 6}, [&](const Shape& i) {
      double powers = 0, total = 0;
      for (std::int64_t s = 0; s < 5; ++s) {
        double score = 0;
        for (std::int64_t e = 0; e < 8; ++e)
          score += a.at({i[0], i[1], i[2], e}) * b.at({i[0], i[1], s, e});
        const double power = std::exp(score * scale + mask(i[2], s));
        powers += power;
        total += power * c.at({i[0], i[1], s, i[3]});
      }
      return total / powers;
    });
  };
  const double scale = 1 / std::sqrt(8.0);
  expect_near(scaled_dot_product_attention(q, k, v),
              attention([](auto, auto) { return 0.0; }, scale), 1e-5);
  expect_near(scaled_dot_product_attention(q, k, v, {}, {.is_causal = true, .scale = 0.5}),
              attention([](auto r, auto s) { return s <= r ? 0.0 : lowest; }, 0.5), 1e-5, "causal");
  const Tensor added = random({4, 5}, f32, 7);
  const Doubles shift = doubles_of(added);
  expect_near(scaled_dot_product_attention(q, k, v, added),
              attention(
                  [&](auto r, auto s) {
                    return shift.at({r, s});
                  },
                  scale),
              1e-5, "added");
  expect_near(scaled_dot_product_attention(q, k, v, added > -9),
              attention([](auto, auto) { return 0.0; }, scale), 1e-5, "kept");
  // Of a row that sees nothing PyTorch makes zeros, and no derivative.
  const Tensor rows = tensor<std::int64_t>({0, 1, 2, 3}, device()).view({4, 1}), some = rows > 1;
  const auto two_rows = [&](Tensor x) {
    return scaled_dot_product_attention(x, k, v, some.broadcast_to({4, 5}));
  };
  Doubles expected = attention([](auto, auto) { return 0.0; }, scale);
  for (std::int64_t n = 0; n < expected.numel(); ++n)
    if (index_at(n, expected.shape)[2] < 2) expected.values[static_cast<std::size_t>(n)] = 0;
  expect_near(two_rows(q), expected, 1e-5, "nothing is seen");
  expect_near(compile(two_rows)(q), expected, 1e-5, "nothing is seen, compiled");
  const Tensor by = grad([&](Tensor x) { return sum(two_rows(x) * v.slice(2, 0, 4)); })(q);
  const Doubles found = doubles_of(by);
  for (std::int64_t n = 0; n < found.numel(); ++n)
    EXPECT_EQ(found.values[static_cast<std::size_t>(n)] == 0, index_at(n, found.shape)[2] < 2);
  const Tensor low = where(some, zeros({4, 5}, {f32, device()}), lowest);
  expect_near(scaled_dot_product_attention(q, k, v, low), expected, 1e-5, "nothing, by floats");
}

// 64 products of 1600 are beyond float16, an eighth of them is not.
TEST_P(OpsPlanes, AttentionScoresOfFloat16) {
  const Tensor q = full({2, 64}, 40, {f16, device()}), v = random({3, 2}, f16);
  const Doubles values = doubles_of(v);
  const auto mean_of = [&](const Shape& i) {
    return (values.at({0, i[1]}) + values.at({1, i[1]}) + values.at({2, i[1]})) / 3;
  };
  const Tensor found = scaled_dot_product_attention(q, q.slice(0, 0, 1).broadcast_to({3, 64}), v);
  expect_near(found, make_doubles({2, 2}, mean_of), 2e-3);
}

// Scores of small floats with a mask of float32, as PyTorch takes it: the result has the queries'
// dtype.
TEST_P(OpsPlanes, AttentionMasksOfWiderFloats) {
  const Tensor q = random({3, 4}, f16), k = random({5, 4}, f16, 2), v = random({5, 2}, f16, 3);
  const Tensor mask = random({3, 5}, f32, 4);
  const Tensor found = scaled_dot_product_attention(q, k, v, mask);
  EXPECT_EQ(found.dtype(), f16);
  const Tensor exact = scaled_dot_product_attention(q.to(f32), k.to(f32), v.to(f32), mask);
  expect_near(found, doubles_of(exact), 4e-3);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, OpsPlanes,
                         testing::Values(OpsOn::Cpu, OpsOn::Interpreter, OpsOn::Cuda),
                         ops_place_name);

class OpsPlanesEmulated : public OpsTest {};

TEST_P(OpsPlanesEmulated, OneOfEach) {
  const Tensor x = random({1, 2, 5, 6}), w = random({3, 2, 2, 2}, f32, 2);
  expect_near(conv2d(x, w), conv_of(doubles_of(x), doubles_of(w), {}), 1e-5);
  const auto places = [](const Tensor& v, const char* what) {
    EXPECT_EQ(v.shape(), (Shape{1, 2, 2, 3})) << what;
    return doubles_of(v).values;
  };
  const std::vector<double> largest = places(max_pool2d(x, 2), "max"),
                            means = places(avg_pool2d(x, 2), "avg");
  const Doubles in = doubles_of(x);
  EXPECT_EQ(largest[4], std::max({in.at({0, 0, 2, 2}), in.at({0, 0, 2, 3}), in.at({0, 0, 3, 2}),
                                  in.at({0, 0, 3, 3})}));
  EXPECT_NEAR(
      means[4],
      (in.at({0, 0, 2, 2}) + in.at({0, 0, 2, 3}) + in.at({0, 0, 3, 2}) + in.at({0, 0, 3, 3})) / 4,
      1e-6);
}

INSTANTIATE_TEST_SUITE_P(Cuda, OpsPlanesEmulated, testing::Values(OpsOn::Emulated, OpsOn::Cuda),
                         ops_place_name);

template <class Call>
std::string planes_message(const Call& call) {
  try {
    call();
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(OpsPlanesErrors, SayTheCallAndBothOperands) {
  const Device cpu = Device::cpu();
  const Tensor x = ones({1, 4, 5, 5}, cpu), w = ones({2, 3, 3, 3}, cpu);
  EXPECT_EQ(
      planes_message([&] { conv2d(x, w); }),
      "conv2d(float32[1, 4, 5, 5], float32[2, 3, 3, 3]): 4 channels in 1 groups do not fit the "
      "weight's 3 of each");
  EXPECT_EQ(
      planes_message([&] {
        conv2d(x, ones({2, 4, 7, 3}, cpu));
      }),
      "conv2d(float32[1, 4, 5, 5], float32[2, 4, 7, 3]): a window of 7 does not fit 5 elements");
  EXPECT_EQ(
      planes_message([&] {
        conv2d(x, ones({2, 4, 3, 3}, {f64, cpu}));
      }),
      "conv2d(float32[1, 4, 5, 5], float64[2, 4, 3, 3]): both must have one dtype: convert one "
      "with to()");
  EXPECT_EQ(planes_message([&] {
              conv2d(x, ones({2, 4, 3, 3}, cpu), ones({3}, cpu));
            }),
            "conv2d(float32[1, 4, 5, 5], float32[2, 4, 3, 3]): bias float32[3] must be float32[2]");
  EXPECT_EQ(
      planes_message([&] { max_pool2d(x, 3, {.padding = 2}); }),
      "max_pool2d(float32[1, 4, 5, 5]): window 3, stride 3 and dilation 1 must be at least 1, "
      "padding 2 at most half of the window");
  EXPECT_EQ(planes_message([&] { max_pool2d(x.to(i32), 3); }),
            "max_pool2d(int32[1, 4, 5, 5]) needs a tensor of floats: convert it with to(tw::f32) "
            "first");
  EXPECT_EQ(planes_message([&] { avg_pool2d(x, 6); }),
            "avg_pool2d(float32[1, 4, 5, 5]): a window of 6 does not fit 5 elements");
  EXPECT_EQ(planes_message([&] { avg_pool2d(x.slice(3, 0, 0), 2, {.padding = 1}); }),
            "avg_pool2d(float32[1, 4, 5, 0]): the planes have no elements");
  EXPECT_EQ(planes_message([&] { group_norm(x, 3); }),
            "group_norm(float32[1, 4, 5, 5]): its channels, dimension 1, must be 3 groups");
  EXPECT_EQ(
      planes_message([&] { scaled_dot_product_attention(x, w, x); }),
      "scaled_dot_product_attention(float32[1, 4, 5, 5], float32[2, 3, 3, 3], float32[1, 4, 5, "
      "5]): queries are [.., rows, features], keys [.., columns, features], values [.., "
      "columns, any]");
  EXPECT_EQ(planes_message([&] { bmm(x, w); }),
            "bmm(float32[1, 4, 5, 5], float32[2, 3, 3, 3]): both are stacks of as many matrices");
}

TEST(OpsPlanesErrors, OfAttention) {
  const Device cpu = Device::cpu();
  const Tensor q = ones({2, 4}, cpu), k = ones({3, 4}, cpu);
  const std::string call =
      "scaled_dot_product_attention(float32[2, 4], float32[3, 4], float32[3, 4]): ";
  EXPECT_EQ(planes_message([&] {
              scaled_dot_product_attention(q, k, k, ones({3, 2}, cpu));
            }),
            call + "the mask float32[3, 2] does not broadcast to the scores [2, 3]");
  EXPECT_EQ(planes_message([&] {
              scaled_dot_product_attention(q, k, k, ones({2, 3}, {i64, cpu}));
            }),
            call + "the mask int64[2, 3] must be bools or floats");
  EXPECT_EQ(planes_message([&] { scaled_dot_product_attention(q, k, k.to(f16)); }),
            "scaled_dot_product_attention(float32[2, 4], float32[3, 4], float16[3, 4]): all must "
            "have one dtype: convert with to()");
  EXPECT_EQ(planes_message([&] { scaled_dot_product_attention(q, k, k, {}, {.dropout = -0.5}); }),
            "dropout(float32[2, 3]): the share -0.5 must lie between 0 and 1");
}

// Numbers whose sums would wrap.
TEST(OpsPlanesErrors, SizesBeyond64Bits) {
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  const Device cpu = Device::cpu();
  const Tensor x = ones({1, 1, 4, 4}, cpu), w = ones({1, 1, 3, 3}, cpu);
  EXPECT_EQ(planes_message([&] { conv2d(x, w, {}, {.padding = huge / 2 + 9}); }),
            "conv2d(float32[1, 1, 4, 4], float32[1, 1, 3, 3]): a window of 3 with dilation 1 and "
            "padding 4611686018427387912 reaches beyond 64 bits");
  EXPECT_EQ(planes_message([&] { max_pool2d(x, 2, {.dilation = huge}); }),
            "max_pool2d(float32[1, 1, 4, 4]): a window of 2 with dilation 9223372036854775807 and "
            "padding 0 reaches beyond 64 bits");
  EXPECT_EQ(planes_message([&] { max_pool2d(x, huge, {.padding = huge / 2 + 1}); }),
            "max_pool2d(float32[1, 1, 4, 4]): window 9223372036854775807, stride "
            "9223372036854775807 and dilation 1 must be at least 1, padding 4611686018427387904 "
            "at most half of the window");
  EXPECT_EQ(planes_message([&] {
              pad(w[0][0], {huge, 5});
            }),
            "pad(float32[3, 3], [9223372036854775807, 5]): the size of dimension 1 does not fit 64 "
            "bits");
  EXPECT_EQ(planes_message([&] {
              pad(w[0][0], {-huge - 1, 5});
            }),
            "pad(float32[3, 3], [-9223372036854775808, 5]): more is cut from dimension 1 than it "
            "has");
  const auto loss = [&](const Tensor& v) { return sum(conv2d(v, w, {}, {.stride = huge})); };
  EXPECT_EQ(sum(grad(loss)(x)).item<float>(), 9);  // one window
}

}  // namespace
}  // namespace tilewright
