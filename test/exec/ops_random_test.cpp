// SPDX-License-Identifier: Apache-2.0
// exec/ops_random_test.cpp — operations on random shapes, strides and dtypes, in the interpreter,
// against loops over doubles. --gtest_random_seed=N takes other ones.
#include <random>

#include "ops_reference.h"

namespace tilewright {
namespace {

class OpsRandom : public testing::Test {
 protected:
  std::size_t below(std::size_t n) { return choose_() % n; }

  Shape shape() {
    Shape sizes(1 + below(4));
    for (std::int64_t& size : sizes) size = static_cast<std::int64_t>(below(5) == 0 ? 1 : below(7));
    return sizes;
  }

  // Of that shape; with other strides, gaps, or backwards.
  Tensor tensor_of(Shape sizes, DType dtype) {
    const auto d = below(sizes.size());
    const int dimension = static_cast<int>(d);
    const auto filled = [&](Shape whole) {
      const Tensor x =
          randn(std::move(whole), RandomOptions(f32, Device::cpu()).with_seed(choose_()));
      return (x * 4).to(dtype);
    };
    switch (below(5)) {
      case 0: {  // every second
        sizes[d] *= 2;
        return filled(sizes).slice(dimension, 0, 1000, 2);
      }
      case 1: {  // backwards
        return filled(sizes).slice(dimension, -1, -1000, -1);
      }
      case 2: {  // another order in memory
        std::swap(sizes[0], sizes[d]);
        return filled(sizes).transpose(0, dimension);
      }
      case 3: {  // a part that begins at an odd place
        sizes[d] += 3;
        return filled(sizes).slice(dimension, 3, 1000);
      }
      default:
        return filled(sizes);
    }
  }

  // A shape that broadcasts with the given one.
  Shape partner(Shape sizes) {
    for (std::int64_t& size : sizes)
      if (below(3) == 0) size = 1;
    sizes.erase(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(below(sizes.size())));
    return sizes;
  }

  DType float_dtype() {
    constexpr DType dtypes[] = {f32, f32, f64, f16, bf16};
    return dtypes[below(5)];
  }
  DType any_dtype() {
    constexpr DType dtypes[] = {f32, f64, f16, bf16, i8, i32, i64, u8};
    return dtypes[below(8)];
  }

  static double tolerance(DType dtype) { return dtype == bf16 ? 1e-2 : dtype == f16 ? 2e-3 : 1e-5; }

  static Settings interpreting() {
    Settings changed = settings();
    changed.interpret = true;
    return changed;
  }
  SettingsOverride interpreted_{interpreting()};
  std::mt19937_64 choose_{static_cast<std::uint64_t>(GTEST_FLAG_GET(random_seed)) + 17};
};

TEST_F(OpsRandom, TwoOperands) {
  for (int round = 0; round < 150; ++round) {
    const Shape sizes = shape();
    const Tensor a = tensor_of(sizes, any_dtype()), b = tensor_of(partner(sizes), any_dtype());
    const Doubles x = doubles_of(a), y = doubles_of(b);
    const std::string what = a.to_string() + "\n" + b.to_string();
    const Tensor quotient = a / (abs(b.to(f32)) + 1);
    expect_near(
        quotient,
        make_doubles(sizes, [&](const Shape& i) { return x.at(i) / (std::abs(y.at(i)) + 1); }),
        tolerance(quotient.dtype()), what);
    expect_near(a < b,
                make_doubles(
                    sizes, [&](const Shape& i) { return x.at(i) < y.at(i) ? 1.0 : 0.0; }),
                0, what);
    const Tensor larger = maximum(a, b);
    expect_near(larger,
                make_doubles(sizes, [&](const Shape& i) { return std::max(x.at(i), y.at(i)); }),
                tolerance(larger.dtype()), what);
    if (HasFatalFailure()) return;
  }
}

TEST_F(OpsRandom, Rows) {
  for (int round = 0; round < 150; ++round) {
    Shape sizes = shape();
    for (std::int64_t& size : sizes) size = std::max<std::int64_t>(size, 1);
    const Tensor a = tensor_of(sizes, float_dtype());
    const int axis = static_cast<int>(below(sizes.size()));
    const Doubles x = doubles_of(a);
    const std::string what = a.to_string() + "\naxis " + std::to_string(axis);
    const Doubles totals = reduce_doubles(x, axis, [](const std::vector<double>& row) {
      double total = 0;
      for (const double v : row) total += v;
      return total;
    });
    const Doubles powers = reduce_doubles(x, axis, [](const std::vector<double>& row) {
      double total = 0;
      for (const double v : row) total += std::exp(v);
      return total;
    });
    expect_near(sum(a, axis, true), totals, 4 * tolerance(a.dtype()), what);
    expect_near(
        softmax(a, axis),
        make_doubles(sizes, [&](const Shape& i) { return std::exp(x.at(i)) / powers.at(i); }),
        tolerance(a.dtype()), what);
    if (HasFatalFailure()) return;
  }
}

TEST_F(OpsRandom, SeveralAxes) {
  for (int round = 0; round < 100; ++round) {
    const Tensor a = tensor_of(shape(), f64);
    std::vector<int> axes;
    for (int d = 0; d < a.rank(); ++d)
      if (below(2) == 0) axes.push_back(d);
    Tensor expected = a;
    for (const int d : axes) expected = sum(expected, d, true);
    if (axes.empty())
      for (int d = 0; d < a.rank(); ++d) expected = sum(expected, d, true);
    expect_near(sum(a, axes), doubles_of(expected), 1e-12, a.to_string());
    if (HasFatalFailure()) return;
  }
}

TEST_F(OpsRandom, Products) {
  for (int round = 0; round < 60; ++round) {
    const auto size = [&] { return static_cast<std::int64_t>(below(6) == 0 ? 1 : below(9)); };
    const std::int64_t m = size(), n = size(), k = size(), batch = 1 + size();
    const Tensor a = tensor_of(below(2) == 0 ? Shape{m, k} : Shape{batch, m, k}, f32);
    const Tensor b = tensor_of(below(2) == 0 ? Shape{k, n} : Shape{batch, k, n}, f32);
    const Doubles x = doubles_of(a), y = doubles_of(b);
    Shape shape = a.rank() == 3 || b.rank() == 3 ? Shape{batch, m, n} : Shape{m, n};
    expect_near(matmul(a, b),
                make_doubles(shape,
                             [&](const Shape& i) {
                               Shape left = i, right = i;
                               double total = 0;
                               for (std::int64_t step = 0; step < k; ++step) {
                                 left.back() = right[right.size() - 2] = step;
                                 total += x.at(left) * y.at(right);
                               }
                               return total;
                             }),
                1e-4, a.to_string() + "\n" + b.to_string());
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tilewright
