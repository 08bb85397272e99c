// SPDX-License-Identifier: Apache-2.0
// exec/ops_indices_test.cpp — gather and scatter, padding and dropout, against loops over doubles.
#include <random>

#include <gmock/gmock.h>

#include "ops_reference.h"
#include "tilewright/compile.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

class OpsIndices : public OpsTest {
 protected:
  // Of that shape, below `count`.
  Tensor index(const Shape& shape, std::int64_t count, DType dtype = i64) const {
    std::mt19937_64 choose(7);
    std::int64_t numel = 1;
    for (const std::int64_t size : shape) numel *= size;
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < numel; ++i)
      values.push_back(static_cast<std::int64_t>(choose() % static_cast<std::uint64_t>(count)));
    return tensor(values, shape, device()).to(dtype);
  }
};

Shape with(Shape at, int axis, double place) {
  at[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(place);
  return at;
}

TEST_P(OpsIndices, Gather) {
  const Tensor x = random({3, 5, 4});
  const Doubles in = doubles_of(x);
  for (int axis = 0; axis < 3; ++axis) {
    Shape shape = {2, 3, 4};
    shape[static_cast<std::size_t>(axis)] = 6;
    const Tensor at = index(shape, x.size(axis), axis == 1 ? i32 : i64);
    const Doubles places = doubles_of(at);
    const Doubles expected =
        make_doubles(shape, [&](const Shape& i) { return in.at(with(i, axis, places.at(i))); });
    expect_near(gather(x, axis, at), expected, 0);
    expect_near(gather(x, axis - 3, at.transpose(0, 2).contiguous().transpose(0, 2)), expected, 0,
                "strided index");
    const Tensor one = index({6}, x.size(axis));
    const Doubles picks = doubles_of(one);
    Shape picked = x.shape();
    picked[static_cast<std::size_t>(axis)] = 6;
    expect_near(
        index_select(x, axis, one),
        make_doubles(picked,
                     [&](const Shape& i) {
                       return in.at(with(i, axis, picks.at({i[static_cast<std::size_t>(axis)]})));
                     }),
        0);
  }
  expect_near(gather(x.transpose(0, 1), 0, index({2, 3, 4}, 5)),
              doubles_of(gather(x.transpose(0, 1).contiguous(), 0, index({2, 3, 4}, 5))), 0);
  EXPECT_EQ(gather(x, 1, empty({3, 0, 4}, {i64, device()})).shape(), (Shape{3, 0, 4}));
  expect_near(gather(full({}, 3, {f32, device()}), 0, zeros({}, {i64, device()})), {{}, {3}}, 0);
  expect_near(gather(x.to(i8), 2, index({3, 5, 1}, 4)),
              doubles_of(gather(x.to(i8).to(f32), 2, index({3, 5, 1}, 4))), 0, "integers");
}

TEST_P(OpsIndices, Scatter) {
  const Tensor x = random({3, 5, 4}), values = random({3, 6, 4}, f32, 2);
  for (int axis = 0; axis < 3; ++axis) {
    Shape shape = {2, 3, 3};
    shape[static_cast<std::size_t>(axis)] = axis == 1 ? 6 : 3;
    const Tensor at = index(shape, x.size(axis));
    Doubles written = doubles_of(x), added = doubles_of(x);
    const Doubles places = doubles_of(at), from = doubles_of(values);
    for (std::int64_t n = 0; n < at.numel(); ++n) {
      const Shape i = index_at(n, shape), to = with(i, axis, places.at(i));
      const auto place = static_cast<std::size_t>((to[0] * 5 + to[1]) * 4 + to[2]);
      written.values[place] = from.at(i);
      added.values[place] += from.at(i);
    }
    expect_near(scatter(x, axis, at, values), written, 0);
    expect_near(scatter_add(x, axis, at, values), added, 1e-6);
    expect_near(scatter_add(x.transpose(0, 2).contiguous().transpose(0, 2), axis, at, values),
                added, 1e-6, "strided");
  }
  expect_near(scatter(zeros({2, 3}, {i32, device()}), 1, index({2, 1}, 1), 7),
              {{2, 3}, {7, 0, 0, 7, 0, 0}}, 0, "a number");
  EXPECT_EQ(scatter(zeros({1}, {i64, device()}), 0, index({1}, 1), (std::int64_t{1} << 53) + 1)
                .item<std::int64_t>(),
            (std::int64_t{1} << 53) + 1);
  const Tensor counts =
      index_add(zeros({4}, {i64, device()}), 0, tensor<std::int64_t>({1, 1, 3}, device()),
                ones({3}, {i64, device()}));
  expect_near(counts, {{4}, {0, 2, 0, 1}}, 0, "counts");
  const Tensor yes = ones({3}, {b1, device()});
  const Tensor twice = tensor<std::int64_t>({1, 1, 3}, device());
  expect_near(index_add(zeros({4}, {b1, device()}), 0, twice, yes), {{4}, {0, 1, 0, 1}}, 0, "or");
  expect_near(scatter_add(zeros({4}, {b1, device()}), 0, twice, yes), {{4}, {0, 1, 0, 1}}, 0, "or");
  // 2049 + 1 + ... would stay 2048 in bfloat16.
  expect_near(index_add(zeros({1}, {bf16, device()}), 0, zeros({300}, {i64, device()}),
                        ones({300}, {bf16, device()})),
              {{1}, {300}}, 1e-2, "sums in float32");
}

TEST_P(OpsIndices, ManyAddedToFewAreTheSameEveryTime) {
  const Tensor at = index({2000}, 7), values = random({2000, 3});
  const Tensor once = index_add(zeros({7, 3}, {f32, device()}), 0, at, values);
  Doubles expected{{7, 3}, std::vector<double>(21)};
  const Doubles from = doubles_of(values), places = doubles_of(at);
  for (std::int64_t i = 0; i < 2000; ++i)
    for (std::int64_t j = 0; j < 3; ++j)
      expected.values[static_cast<std::size_t>(places.at({i}) * 3) + static_cast<std::size_t>(j)] +=
          from.at({i, j});
  expect_near(once, expected, 1e-4);
  expect_near(index_add(zeros({7, 3}, {f32, device()}), 0, at, values), doubles_of(once), 0);
}

TEST_P(OpsIndices, Padding) {
  const Tensor x = random({2, 3});
  const Doubles in = doubles_of(x);
  expect_near(pad(x, {1, 2, 0, 1}, 9),
              make_doubles({3, 6},
                           [&](const Shape& i) {
                             const bool inside = i[0] < 2 && i[1] >= 1 && i[1] < 4;
                             return inside ? in.at({i[0], i[1] - 1}) : 9;
                           }),
              0);
  expect_near(pad(x, {-1, 1}),
              make_doubles({2, 3},
                           [&](const Shape& i) {
                             return i[1] < 2 ? in.at({i[0], i[1] + 1}) : 0;
                           }),
              0);
  EXPECT_EQ(pad(x, {-2, -1}).shape(), (Shape{2, 0}));
}

TEST_P(OpsIndices, Dropout) {
  const Tensor x = ones({4000}, {f32, device()});
  const Tensor y = dropout(x, 0.25, 3);
  const std::vector<float> values = y.cpu().to_vector<float>();
  std::int64_t kept = 0;
  for (const float v : values) {
    ASSERT_TRUE(v == 0 || std::abs(v - 1 / 0.75f) < 1e-6f) << v;
    kept += v != 0;
  }
  EXPECT_NEAR(static_cast<double>(kept), 3000, 150);
  expect_near(dropout(x, 0.25, 3), doubles_of(y), 0, "one seed, one mask");
  EXPECT_GT(max_abs_error(dropout(x, 0.25, 4).cpu(), y.cpu()), 0);
  EXPECT_GT(max_abs_error(dropout(x, 0.25).cpu(), dropout(x, 0.25).cpu()), 0);
  expect_near(dropout(x, 0), doubles_of(x), 0);
  expect_near(dropout(x, 1), doubles_of(x * 0.0), 0);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, OpsIndices,
                         testing::Values(OpsOn::Cpu, OpsOn::Interpreter, OpsOn::Emulated,
                                         OpsOn::Cuda),
                         ops_place_name);

// ---- In compiled functions.

TEST(OpsCalls, CompiledIsEager) {
  Settings changed = settings();
  changed.interpret = true;
  const SettingsOverride interpreted(changed);
  const auto random = [](Shape shape, std::uint64_t seed) {
    return randn(std::move(shape), RandomOptions(f32, Device::cpu()).with_seed(seed));
  };
  const Tensor at = tensor<std::int64_t>({2, 0, 2, 1}, Device::cpu()).view({2, 2});
  const auto network = [at](Tensor x, Tensor w, Tensor b) {
    const Tensor hidden = relu(conv2d(x, w, b, {.padding = 1}));
    const Tensor pooled = max_pool2d(group_norm(hidden, 2), 2) + avg_pool2d(hidden * 2, 2);
    const Tensor rows = pooled.reshape({pooled.size(0), -1}).slice(1, 0, 3);
    const Tensor picked = gather(rows, 1, at);
    return scatter_add(rows * 2, 1, at, picked) +
           index_select(rows, 0, at.select(0, 0) * 0).slice(0, 0, 2);
  };
  const Tensor x = random({2, 3, 6, 4}, 1), w = random({4, 3, 3, 3}, 2), b = random({4}, 3);
  const auto compiled_network = compile(network);
  expect_near(compiled_network(x, w, b), doubles_of(network(x, w, b)), 2e-5,
              compiled_network.graph());
  expect_near(compile([](Tensor v) {
                return pad(v, {1, -1, 2, 0}, 0.5) * 2;
              })(x),
              doubles_of(pad(x, {1, -1, 2, 0}, 0.5) * 2), 1e-6);
}

// Also where launches are replayed.
TEST(OpsCalls, RandomNumbersAreDrawnAtEveryCall) {
  for (const Mode mode : {Mode::Default, Mode::ReduceOverhead}) {
    const auto f = compile(
        [](Tensor x) {
          return std::tuple(dropout(x, 0.5), dropout(x, 0.5), rand({3}, f32), dropout(x, 0.5, 7));
        },
        {.mode = mode});
    const Tensor x = ones({64}, Device::cpu());
    auto [a, b, c, d] = f(x);
    for (int call = 0; call < 4; ++call) {
      const auto [e, g, h, k] = f(x);
      EXPECT_GT(max_abs_error(e, g), 0) << "two draws of one call";
      EXPECT_GT(max_abs_error(a, e), 0) << "draws of two calls";
      EXPECT_GT(max_abs_error(c, h), 0);
      EXPECT_EQ(max_abs_error(d, k), 0) << "a seed";
      a = e;
      c = h;
    }
    EXPECT_EQ(f.stats().traces, 1u);
  }
}

TEST(OpsCalls, IndicesAreLookedAtInEveryReplay) {
  const auto f = compile(
      [](Tensor x, Tensor at) {
        return std::tuple(embedding(x, at) + 1, gather(x * 2, 0, at.unsqueeze(1)));
      },
      {.mode = Mode::ReduceOverhead});
  const Tensor x = ones({3, 4}, Device::cpu());
  const auto at = [](std::int64_t last) { return tensor<std::int64_t>({0, last}, Device::cpu()); };
  for (int call = 0; call < 4; ++call) {
    const auto [rows, picked] = f(x * call, at(call % 3));
    expect_near(rows, doubles_of(embedding(x * call, at(call % 3)) + 1), 0);
    expect_near(picked, doubles_of(gather(x * (2 * call), 0, at(call % 3).unsqueeze(1))), 0);
    EXPECT_THROW(f(x, at(3)), ArgumentError);
  }
}

// ---- Errors.

template <class Call>
std::string index_message(const Call& call) {
  try {
    call();
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(OpsIndicesErrors, AnIndexOutOfRangeIsNamed) {
  const Device cpu = Device::cpu();
  const Tensor x = ones({3, 4}, cpu);
  const auto at = [&](std::int64_t bad) {
    return tensor<std::int64_t>({0, 1, bad}, cpu).view({3, 1});
  };
  EXPECT_EQ(index_message([&] { gather(x, 1, at(4)); }),
            "gather: index 4 at place 2 is out of range: there are 4 (0 to 3)");
  EXPECT_EQ(index_message([&] { scatter_add(x, 1, at(-1), x); }),
            "scatter_add: index -1 at place 2 is out of range: there are 4 (0 to 3)");
  EXPECT_EQ(index_message([&] { index_select(x, 0, at(3).view({3})); }),
            "index_select: index 3 at place 2 is out of range: there are 3 (0 to 2)");
  EXPECT_EQ(index_message([&] { index_add(x, 0, at(3).view({3}), x); }),
            "index_add: index 3 at place 2 is out of range: there are 3 (0 to 2)");
  EXPECT_EQ(index_message([&] { embedding(x, at(5)); }),
            "embedding: index 5 at place 2 is out of range: there are 3 (0 to 2)");
  EXPECT_EQ(index_message([&] { cross_entropy(x, at(9).view({3})); }),
            "cross_entropy: index 9 at place 2 is out of range: there are 4 (0 to 3)");
  const auto compiled_gather = compile([](Tensor v, Tensor i) { return gather(v, 1, i) + 1; });
  EXPECT_EQ(index_message([&] { compiled_gather(x, at(4)); }),
            "gather: index 4 at place 2 is out of range: there are 4 (0 to 3)");
}

// On a GPU nobody waits for an index: what it touches is NaN.
TEST(OpsIndicesErrors, OnCudaAnIndexOutOfRangeGivesNan) {
  if (cuda_device_count() == 0) GTEST_SKIP() << why_no_cuda();
  const Device gpu = Device::cuda();
  const Tensor x = ones({2, 3}, gpu), at = tensor<std::int64_t>({0, 5}, gpu).view({2, 1});
  EXPECT_TRUE(std::isnan(gather(x, 1, at)[1][0].item<float>()));
  EXPECT_TRUE(std::isnan(scatter_add(x, 1, at, x)[1][0].item<float>()));
}

TEST(OpsIndicesErrors, SayTheCallAndBothOperands) {
  const Device cpu = Device::cpu();
  const Tensor x = ones({3, 4}, cpu), at = zeros({3, 1}, {i64, cpu});
  EXPECT_EQ(index_message([&] { gather(x, 1, x); }),
            "gather(float32[3, 4], float32[3, 4]): indices are int64 or int32");
  EXPECT_EQ(
      index_message([&] {
        gather(x, 1, zeros({4, 1}, {i64, cpu}));
      }),
      "gather(float32[3, 4], int64[4, 1]) along dimension 1: the index has as many dimensions, "
      "none of the others longer");
  EXPECT_EQ(index_message([&] {
              scatter_add(x, 1, at, ones({2, 1}, cpu));
            }),
            "scatter_add(float32[3, 4], values float32[2, 1]): values must be float32[3, 1]");
  EXPECT_EQ(index_message([&] {
              scatter_add(x, 1, at, ones({3, 1}, {f64, cpu}));
            }),
            "scatter_add(float32[3, 4], values float64[3, 1]): values must be float32[3, 1]");
  EXPECT_EQ(index_message([&] { index_select(x, 0, at); }),
            "index_select(float32[3, 4], int64[3, 1]): the index has one dimension");
  EXPECT_EQ(
      index_message([&] { pad(x, {1}); }),
      "pad(float32[3, 4], [1]): there are two numbers for each dimension, the last one first");
  EXPECT_EQ(index_message([&] {
              pad(x, {-3, -2});
            }),
            "pad(float32[3, 4], [-3, -2]): more is cut from dimension 1 than it has");
  EXPECT_EQ(index_message([&] { dropout(x, 1.5); }),
            "dropout(float32[3, 4]): the share 1.5 must lie between 0 and 1");
  EXPECT_EQ(index_message([&] { dropout(at, 0.5); }),
            "dropout(int64[3, 1]) needs a tensor of floats: convert it with to(tw::f32) first");
}

}  // namespace
}  // namespace tilewright
