// SPDX-License-Identifier: Apache-2.0
// exec/libraries_test.cpp — products and convolutions by the libraries that are there (cuBLASLt and
// cuDNN on CUDA, the oneDNN plug-in on the CPU) beside our own kernels: the same, in every layout.
#include "runtime/library_product.h"

#include "ops_reference.h"
#include "runtime/library_convolution.h"

namespace tilewright {
namespace {

class Libraries : public OpsTest {
 protected:
  void SetUp() override {
    OpsTest::SetUp();
    if (IsSkipped()) return;
    if (product_library(device()).empty()) GTEST_SKIP() << "no library makes products here";
    RecordProperty("library", product_library(device()));
  }

  // By our own kernels.
  template <class Call>
  static Tensor by_us(const Call& call) {
    Settings changed = settings();
    changed.use_libraries = false;
    const SettingsOverride without(changed);
    return call();
  }

  // By the library, which must have been used where it is expected to be.
  template <class Call>
  static Tensor by_library(const Call& call, const std::string& what) {
    std::vector<graph::LaunchedGroup> launches;
    Tensor made;
    {
      const graph::LaunchObserver observer(launches);
      made = call();
    }
    bool is_used = false;
    for (const graph::LaunchedGroup& launch : launches)
      is_used |= launch.kernel.starts_with("cuBLASLt") || launch.kernel.starts_with("oneDNN");
    EXPECT_TRUE(is_used) << what;
    return made;
  }

  static double tolerance(DType dtype) {
    return dtype == bf16 ? 2e-2 : dtype == f16 ? 3e-3 : dtype == f32 ? 2e-5 : 1e-12;
  }
  std::vector<DType> dtypes() const {
    return device().is_cuda() ? std::vector<DType>{f32, f64, f16, bf16} : std::vector<DType>{f32};
  }
};

TEST_P(Libraries, ProductsOfEveryLayout) {
  for (const DType dtype : dtypes()) {
    const Tensor a = random({33, 48}, dtype), b = random({48, 40}, dtype, 2);
    const Tensor bias = random({40}, dtype, 3), wide = random({48, 80}, dtype, 4);
    const Tensor stack = random({3, 2, 48, 20}, dtype, 5), other = random({3, 2, 33, 48}, dtype, 6);
    const std::pair<const char*, std::function<Tensor()>> calls[] = {
        {"rows by rows", [&] { return matmul(a, b); }},
        {"first by columns", [&] { return matmul(a.t().contiguous().t(), b); }},
        {"second by columns", [&] { return matmul(a, b.t().contiguous().t()); }},
        {"both by columns", [&] { return matmul(a.t().contiguous().t(), b.t().contiguous().t()); }},
        {"a part of a wide one", [&] { return matmul(a, wide.slice(1, 16, 56)); }},
        {"linear", [&] { return linear(a, b.t().contiguous(), bias); }},
        {"a stack", [&] { return matmul(other, stack); }},
        {"a stack by one", [&] { return matmul(other, b); }},
        {"one by a stack", [&] { return matmul(a, stack); }},
        {"a stack of transposes", [&] { return matmul(other, other.transpose(-1, -2)); }},
        {"a linear of a stack", [&] { return linear(other, b.t().contiguous(), bias); }},
    };
    for (const auto& [name, call] : calls) {
      const std::string what = std::string(name_of(dtype)) + ", " + name;
      expect_near(by_library(call, what), doubles_of(by_us(call)), tolerance(dtype), what);
      if (HasFatalFailure()) return;
    }
  }
}

// float32 is IEEE: of TF32's 10 bits nothing would be left of these.
TEST_P(Libraries, FloatsAreNotRoundedBeforeTheyAreMultiplied) {
  const Tensor a = random({64, 512}), b = random({512, 64}, f32, 2);
  const Tensor exact = matmul(a.to(f64), b.to(f64));
  EXPECT_LT(max_abs_error(matmul(a, b).cpu(), exact.cpu()), 2e-4);
  if (!device().is_cuda()) return;
  allow_tf32(true);
  const double rounded = max_abs_error(matmul(a, b).cpu(), exact.cpu());
  allow_tf32(false);
  EXPECT_GT(rounded, 2e-4) << "TF32 was allowed and not used";
  EXPECT_LT(rounded, 0.2);
}

TEST_P(Libraries, WhatTheyDoNotTakeIsOurs) {
  const Tensor x = random({40, 60});
  const auto windows = [&] { return matmul(x.slice(1, 0, 40, 2), x.slice(0, 0, 20)); };
  expect_near(windows(), doubles_of(by_us(windows)), 2e-5, "every second column");
  const auto integers = [&] { return matmul(x.to(i32), x.t().to(i32)); };
  expect_near(integers(), doubles_of(by_us(integers)), 0, "integers");
}

TEST_P(Libraries, Convolutions) {
  for (const DType dtype : dtypes()) {
    const Tensor x = random({2, 8, 13, 11}, dtype), w = random({12, 8, 3, 3}, dtype, 2);
    const Tensor grouped = random({12, 2, 3, 2}, dtype, 3);
    const std::pair<const char*, std::function<Tensor()>> calls[] = {
        {"plain", [&] { return conv2d(x, w); }},
        {"stride and padding",
         [&] {
           return conv2d(x, w, {}, {.stride = {2, 1}, .padding = {1, 2}});
         }},
        {"dilation", [&] { return conv2d(x, w, {}, {.padding = 2, .dilation = 2}); }},
        {"groups", [&] { return conv2d(x, grouped, {}, {.stride = 2, .groups = 4}); }},
        {"strided operands", [&] { return conv2d(x.transpose(2, 3), w.transpose(2, 3)); }},
    };
    for (const auto& [name, call] : calls)
      expect_near(call(), doubles_of(by_us(call)), 4 * tolerance(dtype),
                  std::string(name_of(dtype)) + ", " + name);
  }
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Libraries, testing::Values(OpsOn::Cpu, OpsOn::Cuda),
                         ops_place_name);

}  // namespace
}  // namespace tilewright
