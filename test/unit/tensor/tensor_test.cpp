// SPDX-License-Identifier: Apache-2.0
// tensor/tensor_test.cpp — making tensors, asking them, their lifetime, and the errors of wrong
// use.
#include "tilewright/tensor.h"
#include "cpu_device.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

#include "expect_error.h"

namespace tilewright {
namespace {

TEST(Tensor, KnowsItsParts) {
  const Tensor t = empty({2, 3}, {DType::Float16, cpu});
  EXPECT_TRUE(t.is_defined());
  EXPECT_EQ(t.dtype(), DType::Float16);
  EXPECT_EQ(t.device(), cpu);
  EXPECT_EQ(t.shape(), (Shape{2, 3}));
  EXPECT_EQ(t.strides(), (Shape{3, 1}));
  EXPECT_EQ(t.size(-1), 3);
  EXPECT_EQ(t.stride(0), 3);
  EXPECT_EQ(t.rank(), 2);
  EXPECT_EQ(t.numel(), 6);
  EXPECT_EQ(t.nbytes(), 12u);
  EXPECT_EQ(t.buffer().size(), 12u);
  EXPECT_EQ(t.data(), t.buffer().data());
  EXPECT_TRUE(t.is_contiguous());
}

TEST(Tensor, AnUndefinedOneSaysSo) {
  const std::string message = "the tensor is undefined: assign one to it before using it";
  const Tensor none;
  EXPECT_FALSE(none.is_defined());
  EXPECT_EQ(none.to_string(), "tensor(undefined)");
  expect_error<ArgumentError>([&] { none.shape(); }, message);
  expect_error<ArgumentError>([&] { none.clone(); }, message);
  expect_error<ArgumentError>([&] { none.item<float>(); }, message);
  expect_error<ArgumentError>([&] { zeros({2}, cpu).copy_from(none); }, message);
  expect_error<ArgumentError>([&] { none.copy_from(zeros({2}, cpu)); }, message);
}

TEST(Tensor, SizesThatAreNoneAreRefused) {
  expect_error<ArgumentError>(
      [] {
        empty({2, -1}, cpu);
      },
      "shape [2, -1] has the negative size -1: sizes are 0 or more");
  expect_error<ArgumentError>(
      [] {
        zeros({std::int64_t{1} << 62, 4}, cpu);
      },
      "shape [4611686018427387904, 4] is too large: its bytes do not fit 64 bits");
  EXPECT_THROW(empty({std::int64_t{1} << 50}, cpu), OutOfMemory);
}

TEST(Tensor, ZeroSizesAndNoDimensionsAreLegal) {
  for (const Shape& shape : {Shape{0}, Shape{3, 0}, Shape{0, 0, 2}}) {
    const Tensor t = full(shape, 3, {DType::Int32, cpu});
    EXPECT_EQ(t.numel(), 0);
    EXPECT_EQ(t.clone().shape(), shape);
    EXPECT_TRUE(t.to(DType::Float64).to_vector<double>().empty());
    EXPECT_TRUE(t.transpose(0, -1).contiguous().is_contiguous());
  }
  const Tensor scalar = full({}, 2.5, cpu);
  EXPECT_EQ(scalar.rank(), 0);
  EXPECT_EQ(scalar.item<float>(), 2.5f);
  EXPECT_EQ(scalar.to_vector<float>(), std::vector<float>{2.5f});
}

TEST(Tensor, DataChecksTheDtype) {
  const Tensor t = zeros({2}, cpu);
  EXPECT_EQ(t.data<float>(), t.data());
  expect_error<ArgumentError>(
      [&] { t.data<std::int32_t>(); },
      "the tensor has float32 elements, not int32: convert it with to() first");
  expect_error<ArgumentError>(
      [&] { t.to_vector<double>(); },
      "the tensor has float32 elements, not float64: convert it with to() first");
}

TEST(Tensor, ItemConvertsLikeCopies) {
  EXPECT_EQ(full({1, 1}, -3.75, cpu).item<int>(), -3);
  EXPECT_EQ(full({}, 0.5, cpu).item<bool>(), true);
  EXPECT_EQ(full({}, 1e10, cpu).item<std::int8_t>(), 127);
  EXPECT_EQ(full({}, 300, {DType::Int32, cpu}).item<std::uint8_t>(), 44);
  EXPECT_EQ(tensor({std::numeric_limits<std::uint64_t>::max()}, cpu).item<std::uint64_t>(),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(static_cast<float>(full({}, 1.5, {DType::BFloat16, cpu}).item<BFloat16>()), 1.5f);
  expect_error<ArgumentError>(
      [] {
        zeros({2, 3}, cpu).item<float>();
      },
      "item() needs a tensor with one element, but this one has shape [2, 3]");
  expect_error<ArgumentError>([] { zeros({0}, cpu).item<float>(); },
                              "item() needs a tensor with one element, but this one has shape [0]");
}

TEST(Tensor, FromHostValues) {
  EXPECT_EQ(tensor(std::vector<int>{1, 2, 3, 4}, {2, 2}, cpu)[1][0].item<int>(), 3);
  const std::vector<bool> flags{true, false, true};
  EXPECT_EQ(tensor(flags, cpu).to_vector<bool>(), flags);
  EXPECT_EQ(tensor({1.0, 2.0}, cpu).dtype(), DType::Float64);
  const float values[] = {1, 2, 3};
  EXPECT_EQ(tensor(std::span<const float>(values), {3, 1}, cpu).shape(), (Shape{3, 1}));
  EXPECT_EQ(tensor(std::vector<float>{}, cpu).numel(), 0);
  expect_error<ArgumentError>(
      [] {
        tensor(std::vector<int>{1, 2, 3}, Shape{2, 2}, cpu);
      },
      "3 values do not fill a tensor of shape [2, 2]");
}

TEST(Tensor, FilledOnes) {
  for (int d = 0; d < dtype_count; ++d) {
    const auto dtype = static_cast<DType>(d);
    for (const std::int64_t size : {1, 7, 100003}) {
      EXPECT_EQ(max_abs_error(ones({size}, {dtype, cpu}), full({size}, 1, {DType::Float64, cpu})),
                0)
          << name_of(dtype);
      EXPECT_EQ(max_abs_error(zeros({size}, {dtype, cpu}), full({size}, 0, {DType::Float64, cpu})),
                0)
          << name_of(dtype);
    }
  }
  const Tensor t = zeros({4, 6}, cpu);
  t.slice(1, 1, 6, 2).t().fill(5);
  EXPECT_EQ(t[3].to_vector<float>(), (std::vector<float>{0, 5, 0, 5, 0, 5}));
  t.slice(0, -1, -9, -1).fill(2);
  EXPECT_EQ(max_abs_error(t, full({4, 6}, 2, cpu)), 0);
}

TEST(Tensor, Arange) {
  EXPECT_EQ(arange(4, {DType::Int64, cpu}).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(arange(0, {DType::Int64, cpu}).numel(), 0);
  EXPECT_EQ(arange(5, -5, -4, {DType::Int32, cpu}).to_vector<int>(), (std::vector<int>{5, 1, -3}));
  EXPECT_EQ(arange(0.5, 2.0, 0.5, cpu).to_vector<float>(), (std::vector<float>{0.5f, 1.0f, 1.5f}));
  const Tensor far = arange(0x1p60, 0x1p60 + 4096, 1024, {DType::Int64, cpu});
  EXPECT_EQ(far[3].item<std::int64_t>(), (std::int64_t{1} << 60) + 3072);
  const Tensor large = arange(200001, {DType::Int32, cpu});
  for (const std::int64_t i : {0, 65535, 65536, 131072, 200000})
    EXPECT_EQ(large[i].item<std::int64_t>(), i);
  expect_error<ArgumentError>(
      [] {
        arange(-3, {DType::Int64, cpu});
      },
      "arange(-3) would count down: give begin, end and step");
  expect_error<ArgumentError>([] { arange(0, 5, 0, cpu); },
                              "arange from 0 to 5 in steps of 0 is not a finite row of numbers");
  EXPECT_THROW(arange(0, 5, -1, cpu), ArgumentError);
  EXPECT_THROW(arange(0, INFINITY, 1, cpu), ArgumentError);
  EXPECT_THROW(arange(NAN, 5, 1, cpu), ArgumentError);
}

TEST(Tensor, FromPartsChecksTheBuffer) {
  const Buffer buffer = Buffer::allocate(40, cpu);  // 10 floats
  EXPECT_NO_THROW(Tensor(buffer, DType::Float32, {2, 5}, {5, 1}));
  EXPECT_NO_THROW(Tensor(buffer, DType::Float32, {2, 5}, {-5, -1}, 9));
  EXPECT_NO_THROW(Tensor(buffer, DType::Float32, {0}, {1}, 99));
  expect_error<ArgumentError>(
      [&] {
        Tensor(buffer, DType::Float32, {2, 5}, {5, 1}, 1);
      },
      "a tensor of shape [2, 5], strides [5, 1] and offset 1 does not fit a buffer of 10 float32 "
      "elements");
  EXPECT_THROW(Tensor(buffer, DType::Float32, {2}, {-1}, 0), ArgumentError);
  EXPECT_THROW(Tensor(buffer, DType::Float32, {1}, {1}, -1), ArgumentError);
  EXPECT_THROW(Tensor(buffer, DType::Float32, {1}, {1}, std::numeric_limits<std::int64_t>::max()),
               ArgumentError);
  EXPECT_THROW(Tensor(buffer, DType::Float32, {2}, {-1}, std::numeric_limits<std::int64_t>::min()),
               ArgumentError);
  expect_error<ArgumentError>(
      [&] {
        Tensor(buffer, DType::Float32, {2, 5}, {1});
      },
      "shape [2, 5] and strides [1] must have as many entries as each other");
}

TEST(Tensor, FromBlobSharesMemoryAndReleasesItOnce) {
  float values[6] = {0, 1, 2, 3, 4, 5};
  int released = 0;
  {
    Tensor view;
    {
      const Tensor t = from_blob(values, {2, 3}, cpu, [&] { ++released; });
      EXPECT_EQ(t.data(), values);
      t.fill(7);
      view = t[1];
    }
    EXPECT_EQ(released, 0);  // a view keeps the memory
    EXPECT_EQ(view.data(), values + 3);
  }
  EXPECT_EQ(released, 1);
  EXPECT_EQ(values[5], 7);
}

TEST(Tensor, FromBlobWithStrides) {
  int values[6] = {0, 1, 2, 3, 4, 5};
  const Tensor reversed = from_blob(values + 5, {6}, {-1}, {DType::Int32, cpu});
  EXPECT_EQ(reversed.to_vector<int>(), (std::vector<int>{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(reversed.data(), values + 5);
  EXPECT_EQ(from_blob(values, {3, 2}, {1, 3}, {DType::Int32, cpu}).to_vector<int>(),
            (std::vector<int>{0, 3, 1, 4, 2, 5}));
  expect_error<ArgumentError>(
      [] {
        from_blob(nullptr, {2, 2}, cpu);
      },
      "from_blob of shape [2, 2] was given a null address");
  EXPECT_EQ(from_blob(nullptr, {0, 2}, cpu).numel(), 0);
  expect_error<ArgumentError>(
      [&] { from_blob(reinterpret_cast<char*>(values) + 2, {1}, cpu); },
      "from_blob was given an address that is not a multiple of 4, the size of float32");
}

TEST(Tensor, BecomesAnArgument) {
  const Tensor t = zeros({4, 6}, {DType::Int16, cpu});
  const Tensor part = t.slice(1, 2, 5);
  const Argument whole = t;
  EXPECT_EQ(whole.kind, Argument::Kind::Memory);
  EXPECT_EQ(whole.dtype, DType::Int16);
  EXPECT_TRUE(whole.is_contiguous);
  EXPECT_TRUE(whole.is_defined);
  EXPECT_FALSE(whole.any_pointee);
  EXPECT_EQ(whole.device, cpu);
  EXPECT_EQ(whole.bits, reinterpret_cast<std::uintptr_t>(t.data()));
  EXPECT_EQ(whole.buffer, &t.buffer());
  const Argument cut = part;
  EXPECT_FALSE(cut.is_contiguous);
  EXPECT_EQ(cut.bits, reinterpret_cast<std::uintptr_t>(t.data<std::int16_t>() + 2));
  const Argument none = Tensor();
  EXPECT_EQ(none.kind, Argument::Kind::Memory);
  EXPECT_FALSE(none.is_defined);
}

}  // namespace
}  // namespace tilewright
