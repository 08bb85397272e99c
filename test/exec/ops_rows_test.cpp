// SPDX-License-Identifier: Apache-2.0
// exec/ops_rows_test.cpp — reductions, softmax, norms, losses, products and tables against loops
// over doubles.
#include <algorithm>
#include <limits>
#include <numeric>

#include "ops_reference.h"
#include "tilewright/compile.h"

namespace tilewright {
namespace {

double sum_of(const std::vector<double>& row) {
  return std::accumulate(row.begin(), row.end(), 0.0);
}
double max_of(const std::vector<double>& row) { return *std::max_element(row.begin(), row.end()); }
double var_of(const std::vector<double>& row) {
  const double mean = sum_of(row) / static_cast<double>(row.size());
  double total = 0;
  for (const double x : row) total += (x - mean) * (x - mean);
  return total / static_cast<double>(row.size() - 1);
}
double logsumexp_of(const std::vector<double>& row) {
  const double top = max_of(row);
  double total = 0;
  for (const double x : row) total += std::exp(x - top);
  return std::log(total) + top;
}
double argmax_of(const std::vector<double>& row) {
  return static_cast<double>(std::max_element(row.begin(), row.end()) - row.begin());
}

Doubles matmul_of(const Doubles& a, const Doubles& b, Shape shape) {
  const std::int64_t k = a.shape.back();
  return make_doubles(shape, [&](const Shape& index) {
    double total = 0;
    Shape left = index, right = index;
    for (std::int64_t i = 0; i < k; ++i) {
      left.back() = i;
      right[right.size() - 2] = i;
      total += a.at(left) * b.at(right);
    }
    return total;
  });
}

class OpsRows : public OpsTest {
 protected:
  void expect_reductions(const Tensor& x, int axis) const {
    const Doubles in = doubles_of(x);
    const std::string what = "axis " + std::to_string(axis);
    expect_near(sum(x, axis, true), reduce_doubles(in, axis, sum_of), 1e-4, "sum " + what);
    expect_near(max(x, axis), reduce_doubles(in, axis, max_of), 0, "max " + what);
    expect_near(var(x, axis), reduce_doubles(in, axis, var_of), 1e-4, "var " + what);
    expect_near(logsumexp(x, axis), reduce_doubles(in, axis, logsumexp_of), 1e-5, "lse " + what);
    expect_near(argmax(x, axis), reduce_doubles(in, axis, argmax_of), 0, "argmax " + what);
    const Doubles lse = reduce_doubles(in, axis, logsumexp_of);
    expect_near(
        softmax(x, axis),
        make_doubles(in.shape, [&](const Shape& i) { return std::exp(in.at(i) - lse.at(i)); }),
        1e-5, "softmax " + what);
    expect_near(log_softmax(x, axis),
                make_doubles(in.shape, [&](const Shape& i) { return in.at(i) - lse.at(i); }), 1e-5,
                "log_softmax " + what);
  }
};

TEST_P(OpsRows, EveryAxis) {
  const Tensor x = random({3, 5, 33});
  for (int axis = 0; axis < 3; ++axis) expect_reductions(x, axis);
}

TEST_P(OpsRows, SeveralAxesAndNone) {
  const Tensor x = random({4, 6, 10});
  const Doubles in = doubles_of(x);
  const double total = sum_of(in.values);
  expect_near(sum(x), {{}, {total}}, 1e-5);
  expect_near(mean(x), {{}, {total / 240}}, 1e-5);
  expect_near(sum(x, {0, 2}), doubles_of(sum(sum(x, 2), 0)), 1e-5, "outer two");
  expect_near(sum(x, {1, 2}, true), doubles_of(sum(sum(x, 2), 1)), 1e-5, "inner two");
  EXPECT_EQ(sum(x, {1, 2}, true).shape(), (Shape{4, 1, 1}));
  expect_near(argmax(x), {{}, {argmax_of(in.values)}}, 0);
  expect_near(sum(empty({3, 0}, {f32, device()}), 1), {{3}, {0, 0, 0}}, 0);
  expect_near(prod(tensor<std::int32_t>({2, 3, 7}, device())), {{}, {42}}, 0);
  expect_near(sum(ones({}, {f32, device()})), {{}, {1}}, 0);
}

TEST_P(OpsRows, NansAndInfinities) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x = tensor<float>({{1, nan, 3, 2, 2, 1, -inf, -inf, -inf}}, device()).view({3, 3});
  expect_near(max(x, 1), {{3}, {nan, 2, -inf}}, 0);
  expect_near(argmax(x, 1), {{3}, {1, 0, 0}}, 0);
  expect_near(logsumexp(x, 1), {{3}, {nan, std::log(2 * std::exp(2) + std::exp(1)), -inf}}, 1e-6);
  const double total = 2 + std::exp(-1);
  expect_near(softmax(x, 1),
              {{3, 3}, {nan, nan, nan, 1 / total, 1 / total, std::exp(-1) / total, nan, nan, nan}},
              1e-6);
}

TEST_P(OpsRows, Norms) {
  const Tensor x = random({7, 48}), w = random({48}, f32, 2), b = random({48}, f32, 3);
  const Doubles in = doubles_of(x), weight = doubles_of(w), bias = doubles_of(b);
  const Doubles mean = reduce_doubles(in, 1, [](const auto& row) { return sum_of(row) / 48; });
  const Doubles variance =
      reduce_doubles(in, 1, [](const auto& row) { return var_of(row) * 47 / 48; });
  expect_near(layer_norm(x, w, b),
              make_doubles(in.shape,
                           [&](const Shape& i) {
                             return (in.at(i) - mean.at(i)) / std::sqrt(variance.at(i) + 1e-5) *
                                        weight.at(i) +
                                    bias.at(i);
                           }),
              1e-5);
  const Doubles squares = reduce_doubles(in, 1, [](const auto& row) {
    double total = 0;
    for (const double v : row) total += v * v;
    return total / 48;
  });
  expect_near(rms_norm(x, w),
              make_doubles(in.shape,
                           [&](const Shape& i) {
                             return in.at(i) / std::sqrt(squares.at(i) + 1e-6) * weight.at(i);
                           }),
              1e-5);
}

// Rows along two dimensions, of operands whose dimensions do not lie together.
TEST_P(OpsRows, NormsOfAnyLayout) {
  const auto turned = [&](Shape shape, std::uint64_t seed) {
    std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    return random(std::move(shape), f32, seed).transpose(-1, -2);
  };
  const Tensor x = turned({3, 4, 5}, 1), w = turned({4, 5}, 2);
  const Tensor b = random({4, 10}, f32, 3).slice(1, 0, 10, 2);
  for (const Tensor& from : {x, x.contiguous()}) {
    expect_near(layer_norm(from, w, b),
                doubles_of(layer_norm(x.contiguous(), w.contiguous(), b.contiguous())), 1e-6);
    expect_near(rms_norm(from, w), doubles_of(rms_norm(x.contiguous(), w.contiguous())), 1e-6);
  }
}

TEST_P(OpsRows, CrossEntropy) {
  const Tensor x = random({6, 20});
  const Tensor target = tensor<std::int64_t>({0, 19, 3, -100, 7, 7}, device());
  const Doubles in = doubles_of(x), lse = reduce_doubles(in, 1, logsumexp_of);
  const std::int64_t classes[] = {0, 19, 3, -100, 7, 7};
  Doubles losses{{6}, {}};
  for (std::int64_t i = 0; i < 6; ++i)
    losses.values.push_back(classes[i] < 0 ? 0 : lse.at({i, 0}) - in.at({i, classes[i]}));
  expect_near(cross_entropy(x, target, Reduction::None), losses, 1e-5);
  expect_near(cross_entropy(x, target, Reduction::Sum), {{}, {sum_of(losses.values)}}, 1e-5);
  expect_near(cross_entropy(x, target), {{}, {sum_of(losses.values) / 5}}, 1e-5);
}

// Of logits that differ by 8 the loss is log(1 + exp(-8)), however large they are.
TEST_P(OpsRows, SmallLossesOfLargeLogits) {
  const double loss = std::log1p(std::exp(-8.0));
  for (const double shift : {0.0, 1000.0, -30000.0}) {
    const Tensor x = tensor<double>({shift + 8, shift}, device()).to(f32).view({1, 2});
    const Tensor target = tensor<std::int64_t>({0}, device());
    EXPECT_NEAR(cross_entropy(x, target).item<double>(), loss, 1e-3 * loss) << shift;
  }
}

TEST_P(OpsRows, Products) {
  const Tensor a = random({37, 50}), b = random({50, 70}, f32, 2);
  const Doubles expected = matmul_of(doubles_of(a), doubles_of(b), {37, 70});
  expect_near(matmul(a, b), expected, 1e-5, "plain");
  expect_near(matmul(a.t().contiguous().t(), b.t().contiguous().t()), expected, 1e-5, "transposed");
  const Tensor bias = random({70}, f32, 3);
  expect_near(linear(a, b.t(), bias),
              make_doubles(expected.shape,
                           [&](const Shape& i) { return expected.at(i) + doubles_of(bias).at(i); }),
              1e-5, "linear");
  const Tensor stack = random({2, 1, 9, 50}, f32, 4), others = random({3, 50, 20}, f32, 5);
  expect_near(matmul(stack, others),
              matmul_of(doubles_of(stack), doubles_of(others), {2, 3, 9, 20}), 1e-5, "batched");
  const Tensor vector = random({50}, f32, 6);
  const Doubles column = {{50, 1}, doubles_of(vector).values};
  expect_near(matmul(a, vector), matmul_of(doubles_of(a), column, {37, 1}), 1e-5, "by a vector");
  EXPECT_EQ(matmul(vector, vector).shape(), Shape{});
  EXPECT_EQ(matmul(vector, b).shape(), Shape{70});
  const Tensor whole = tensor<std::int32_t>({{1, 2, 3, 4}}, device()).view({2, 2});
  expect_near(matmul(whole, whole), {{2, 2}, {7, 10, 15, 22}}, 0, "integers");
  EXPECT_EQ(matmul(empty({3, 0}, {f32, device()}), empty({0, 4}, {f32, device()})).shape(),
            (Shape{3, 4}));
  expect_near(matmul(empty({3, 0}, {f32, device()}), empty({0, 2}, {f32, device()})),
              {{3, 2}, {0, 0, 0, 0, 0, 0}}, 0, "nothing summed");
}

TEST_P(OpsRows, TablesAndLists) {
  const Tensor table = random({10, 70});
  const Tensor index = tensor<std::int64_t>({{3, 0, 9, 3}}, device()).view({2, 2});
  const Tensor rows = embedding(table, index);
  EXPECT_EQ(rows.shape(), (Shape{2, 2, 70}));
  expect_near(rows[1][0], doubles_of(table[9]), 0);
  expect_near(embedding(table.t().contiguous().t(), index), doubles_of(rows), 0, "strided");
  const Tensor both = cat({table, table.slice(0, 2, 4)});
  EXPECT_EQ(both.shape(), (Shape{12, 70}));
  expect_near(both[11], doubles_of(table[3]), 0);
  EXPECT_EQ(stack({table, table}, -1).shape(), (Shape{10, 70, 2}));
  EXPECT_EQ(cat({ones({1}, {i32, device()}), ones({1}, {f16, device()})}).dtype(), f16);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, OpsRows,
                         testing::Values(OpsOn::Cpu, OpsOn::Interpreter, OpsOn::Cuda),
                         ops_place_name);

// Emulated CUDA text compiles slowly: one of each mode.
class OpsEmulated : public OpsTest {};

TEST_P(OpsEmulated, OneOfEachMode) {
  const Tensor x = random({4, 40});
  const Doubles in = doubles_of(x);
  expect_near(x + x, make_doubles(in.shape, [&](const Shape& i) { return 2 * in.at(i); }), 1e-6);
  expect_near(x.t() * x.t().contiguous(), doubles_of((x * x).t()), 1e-6, "short rows");
  expect_near(sum(x, 1), reduce_doubles(in, 1, sum_of), 1e-5, "rows");
  expect_near(sum(x, 0), reduce_doubles(in, 0, sum_of), 1e-5, "columns");
  expect_near(matmul(x, x.t()), matmul_of(in, doubles_of(x.t()), {4, 4}), 1e-5, "product");
}

// Parts of small floats are sums of f32: neither rounded nor beyond what float16 has.
TEST_P(OpsEmulated, SmallFloatsAreAddedUpInWideParts) {
  const Tensor x = (random({2048, 17}) + 60).to(f16);
  const Doubles in = doubles_of(x);
  expect_near(
      mean(x, 0),
      reduce_doubles(in, 0,
                     [](const auto& row) { return sum_of(row) / static_cast<double>(row.size()); }),
      1e-3);
  const Tensor small = (x * 0.25).to(f16);
  expect_near(sum(small, 0), reduce_doubles(doubles_of(small), 0, sum_of), 1e-3);
}

// A turn of the loop over columns takes 1, 4 or 16 rows; what is left has turns of its own.
TEST_P(OpsEmulated, ColumnsOfAnyLength) {
  for (const std::int64_t rows : {3, 7, 37}) {
    SCOPED_TRACE(testing::Message() << rows << " rows");
    const Tensor x = random({2, rows, 130});
    const Doubles in = doubles_of(x);
    expect_near(argmax(x, 1), reduce_doubles(in, 1, argmax_of), 0, "argmax");
    if (rows < 37) continue;
    const Doubles lse = reduce_doubles(in, 1, logsumexp_of);
    const auto share = [&](const Shape& i) { return std::exp(in.at(i) - lse.at(i)); };
    expect_near(softmax(x, 1), make_doubles(in.shape, share), 1e-6, "softmax");
    expect_near(sum(x.slice(2, 0, 128).contiguous(), 1),
                reduce_doubles(doubles_of(x.slice(2, 0, 128)), 1, sum_of), 1e-5, "whole blocks");
  }
}

// Rows that a program reduces at once are not split, however few they are: a norm is one kernel.
TEST_P(OpsEmulated, ANormOfFewRowsIsOneKernel) {
  const Tensor x = random({9, 4096});
  const auto norm = compile([](Tensor rows) {
    const Tensor centred = rows - mean(rows, 1, true);
    return centred / sqrt(mean(centred * centred, 1, true) + 1e-5);
  });
  expect_near(norm(x), doubles_of(layer_norm(x)), 1e-5);
  EXPECT_EQ(norm.stats().kernels, 1u);
}

INSTANTIATE_TEST_SUITE_P(Cuda, OpsEmulated, testing::Values(OpsOn::Emulated, OpsOn::Cuda),
                         ops_place_name);

TEST(OpsLong, RowsThatAreReducedInSlices) {
  const Tensor x = randn({2, 40000}, RandomOptions(f32, Device::cpu()).with_seed(5));
  const Doubles in = doubles_of(x), lse = reduce_doubles(in, 1, logsumexp_of);
  expect_near(
      softmax(x),
      make_doubles(in.shape, [&](const Shape& i) { return std::exp(in.at(i) - lse.at(i)); }), 1e-6);
  expect_near(argmax(x, 1), reduce_doubles(in, 1, argmax_of), 0);
}

// Few results of many elements are made of parts, with a rest where the length has no divisor.
TEST(OpsLong, SumsInParts) {
  for (const Shape& shape : {Shape{40009}, Shape{1024, 40}, Shape{3, 521, 33}}) {
    const Tensor x = randn(shape, RandomOptions(f64, Device::cpu()).with_seed(6));
    const int axis = shape.size() == 3 ? 1 : 0;
    const Doubles in = doubles_of(x);
    expect_near(sum(x, axis), reduce_doubles(in, axis, sum_of), 1e-10);
    expect_near(max(x, axis, true), reduce_doubles(in, axis, max_of), 0);
    expect_near(mean(x, axis),
                reduce_doubles(
                    in, axis,
                    [](const auto& row) { return sum_of(row) / static_cast<double>(row.size()); }),
                1e-10);
  }
}

// Of a prime number of elements, so that there is a rest.
TEST(OpsLong, PartsOfIntegersAreSummedInInt64) {
  for (const DType dtype : {i8, i32, u8}) {
    const Tensor x = full({262147}, 100, {dtype, Device::cpu()});
    EXPECT_EQ(sum(x).dtype(), i64);
    expect_near(sum(x), {{}, {26214700}}, 0);
    EXPECT_EQ(prod(x).dtype(), i64);
    EXPECT_EQ(max(x).dtype(), dtype);
  }
  expect_near(sum(full({262147}, 100000, {i32, Device::cpu()})), {{}, {26214700000}}, 0);
}

// Sizes are arguments: 500 shapes need no more kernels than there are classes of shapes.
TEST(OpsClasses, ShapesThatAreLikeOthersCompileNothing) {
  Settings changed = settings();
  changed.interpret = true;
  const SettingsOverride interpreted(changed);
  const auto call = [](std::int64_t rows, std::int64_t columns) {
    const Tensor x = ones({rows, columns}, Device::cpu());
    const Tensor shifted = x + ones({columns}, Device::cpu());
    return shifted.size(1);
  };
  for (const std::int64_t columns : {5, 40, 48, 70, 80, 150, 160}) call(3, columns);
  const std::size_t before = graph::group_kernels_made();
  for (std::int64_t i = 0; i < 500; ++i) call(2 + i % 7, 33 + i % 200);
  EXPECT_LE(graph::group_kernels_made() - before, 2u);  // blocks of 64, 128, 256; multiples of 16
}

}  // namespace
}  // namespace tilewright
