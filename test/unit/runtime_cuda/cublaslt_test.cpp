// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/cublaslt_test.cpp — how products are described to cuBLASLt, and libraries that are
// missing or others; on the fake driver and a fake cuBLASLt.
#include <dlfcn.h>

#include <fstream>
#include <vector>

#include "base/settings.h"
#include "fake_cublaslt.h"
#include "fake_test.h"
#include "runtime/cuda/cublaslt.h"
#include "tilewright/error.h"

namespace tilewright::cuda {
namespace {

class CublasLt : public FakeTest {
 protected:
  void SetUp() override {
    FakeTest::SetUp();
    if (IsSkipped()) return;
    ASSERT_NE(cublaslt(), nullptr);
    void* const handle = dlopen(cublaslt()->path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(handle, nullptr);
    lt_ = reinterpret_cast<FakeCublasLt* (*)()>(dlsym(handle, "fake_cublaslt"))();
    lt_->fails = false;
    stream_ = Stream::wrap(stream(), Device::cuda(fake_device));
  }

  // Elements 0, 1, 2, ... of a batch of rows x columns, in either order of storage.
  struct Operand {
    std::vector<float> values;
    LibraryMatrix matrix;
    float at(std::int64_t batch, std::int64_t row, std::int64_t column) const {
      return values[static_cast<std::size_t>(batch * matrix.batch_stride + row * matrix.row_stride +
                                             column * matrix.column_stride)];
    }
  };
  static Operand operand(std::int64_t batch, std::int64_t rows, std::int64_t columns,
                         bool is_row_major, std::int64_t gap) {
    Operand made;
    const std::int64_t leading = (is_row_major ? columns : rows) + gap;
    const std::int64_t size = leading * (is_row_major ? rows : columns);
    for (std::int64_t i = 0; i < size * batch; ++i)
      made.values.push_back(static_cast<float>(i % 13) - 5);
    made.matrix = {nullptr, is_row_major ? leading : 1, is_row_major ? 1 : leading, size};
    return made;
  }

  void expect_product(bool is_a_row_major, bool is_b_row_major, std::int64_t batch, bool has_bias) {
    constexpr std::int64_t m = 3, n = 4, k = 5;
    Operand a = operand(batch, m, k, is_a_row_major, 2),
            b = operand(batch, k, n, is_b_row_major, 1);
    a.matrix.data = a.values.data();
    b.matrix.data = b.values.data();
    std::vector<float> out(static_cast<std::size_t>(batch * m * n), -1);
    alignas(16) const float bias[] = {1, 2, 3, 4};
    const LibraryProduct product{.m = m,
                                 .n = n,
                                 .k = k,
                                 .batch = batch,
                                 .a = a.matrix,
                                 .b = b.matrix,
                                 .bias = has_bias ? bias : nullptr,
                                 .out = out.data()};
    ASSERT_TRUE(cublaslt_multiply(product, stream_));
    EXPECT_EQ(lt_->last_stream, static_cast<CUstream>(stream_.native()));
    for (std::int64_t i = 0; i < batch; ++i)
      for (std::int64_t row = 0; row < m; ++row)
        for (std::int64_t column = 0; column < n; ++column) {
          float total = has_bias ? bias[static_cast<std::size_t>(column)] : 0;
          for (std::int64_t step = 0; step < k; ++step)
            total += a.at(i, row, step) * b.at(i, step, column);
          EXPECT_EQ(out[static_cast<std::size_t>((i * m + row) * n + column)], total);
        }
  }

  FakeCublasLt& lt() { return *lt_; }

  FakeCublasLt* lt_ = nullptr;
  Stream stream_ = Stream::default_of(Device::cpu());
};

TEST_F(CublasLt, EveryOrderOfStorageIsDescribed) {
  for (const bool is_a_row_major : {true, false})
    for (const bool is_b_row_major : {true, false})
      for (const std::int64_t batch : {1, 3}) {
        expect_product(is_a_row_major, is_b_row_major, batch, false);
        expect_product(is_a_row_major, is_b_row_major, batch, true);
      }
  EXPECT_EQ(lt().mistakes, 0);
  EXPECT_EQ(cublaslt_name(), "cuBLASLt 13.0.2");
}

TEST_F(CublasLt, AKindOfProductIsChosenOnce) {
  expect_product(true, true, 1, false);
  const int before = lt().choices;
  expect_product(true, true, 1, false);
  EXPECT_LE(lt().choices - before, 2) << "one for each alignment of the operands";
}

// A program whose shapes change all the time.
TEST_F(CublasLt, SizesThatWereUsedLongAgoAreForgotten) {
  constexpr int sizes = 6000;
  std::vector<float> values(sizes, 2), out(sizes);
  const auto multiply = [&](std::int64_t m) {
    LibraryProduct product{.m = m, .n = 1, .k = 1};
    product.a = product.b = {values.data(), 1, 1, 0};
    product.out = out.data();
    ASSERT_TRUE(cublaslt_multiply(product, stream_));
    EXPECT_EQ(out[static_cast<std::size_t>(m) - 1], 4);
  };
  for (int m = 1; m <= sizes; ++m) multiply(m);
  EXPECT_LE(lt().descriptors, 4 * 4096);
  const int before = lt().choices;
  multiply(sizes);
  EXPECT_EQ(lt().choices, before) << "is known";
  multiply(1);
  EXPECT_EQ(lt().choices, before + 1) << "is chosen again";
}

TEST_F(CublasLt, FloatsAreIeeeUnlessTf32IsAllowed) {
  alignas(256) float values[16] = {};
  LibraryProduct product{.m = 2, .n = 2, .k = 2};
  product.a = product.b = {values, 2, 1, 0};
  product.out = values + 8;
  ASSERT_TRUE(cublaslt_multiply(product, stream_));
  EXPECT_EQ(lt().last_compute, CUBLAS_COMPUTE_32F);
  EXPECT_EQ(lt().last_alignment, 32u) << "of the result's address";
  product.allows_tf32 = true;
  ASSERT_TRUE(cublaslt_multiply(product, stream_));
  EXPECT_EQ(lt().last_compute, CUBLAS_COMPUTE_32F_FAST_TF32);
}

TEST_F(CublasLt, WhatTheLibraryDoesNotTakeIsLeft) {
  float values[8] = {};
  LibraryProduct product{.dtype = DType::BFloat16, .m = 2, .n = 2, .k = 2};
  product.a = product.b = {values, 2, 1, 0};
  product.out = values;
  EXPECT_FALSE(cublaslt_multiply(product, stream_)) << "the fake takes float32 alone";
  product.dtype = DType::Int8;
  EXPECT_FALSE(cublaslt_multiply(product, stream_));
  product.dtype = DType::Float32;
  alignas(16) float bias[4] = {};
  product.bias = bias + 1;
  EXPECT_FALSE(cublaslt_multiply(product, stream_)) << "a bias that is not aligned";
}

TEST_F(CublasLt, AFailureNamesTheLibraryAndTheWayOut) {
  lt().fails = true;
  try {
    expect_product(true, true, 1, false);
    FAIL() << "nothing was thrown";
  } catch (const EnvironmentError& error) {
    EXPECT_EQ(std::string(error.what()),
              "cublasLtMatmul failed: a fake's reason (cuBLASLt 13.0.2 at " + cublaslt()->path +
                  "); TILEWRIGHT_LIBRARIES=off does without it");
  }
}

TEST_F(CublasLt, NoneOrABrokenOneIsNoError) {
  Settings changed = settings();
  changed.cuda_home = "none";
  {
    const SettingsOverride hidden(changed);
    EXPECT_EQ(cublaslt(), nullptr);
    EXPECT_EQ(cublaslt_name(), "");
  }
  const std::filesystem::path home = std::filesystem::path(testing::TempDir()) / "tw_broken_cublas";
  std::filesystem::create_directories(home / "lib");
  std::ofstream(home / "lib/libcublasLt.so.13") << "no library";
  changed.cuda_home = home.string();
  {
    const SettingsOverride broken(changed);
    testing::internal::CaptureStderr();
    EXPECT_EQ(cublaslt(), nullptr);
    EXPECT_EQ(cublaslt(), nullptr);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(
        said.find("cuBLASLt at " + (home / "lib/libcublasLt.so.13").string() + " cannot be opened"),
        std::string::npos)
        << said;
    EXPECT_NE(said.find("products are made by tilewright's own kernels"), std::string::npos);
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << "said once";
  }
  std::filesystem::remove_all(home);
  EXPECT_NE(cublaslt(), nullptr);
}

}  // namespace
}  // namespace tilewright::cuda
