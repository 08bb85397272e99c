// SPDX-License-Identifier: Apache-2.0
// tensor/copy_test.cpp — copies between any strides on the CPU: random layouts, large sizes, shared
// memory.
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "cpu_device.h"
#include "expect_error.h"
#include "tilewright/tensor.h"

namespace tilewright {
namespace {

// A tensor of `shape` whose memory is laid out at random: permuted, with gaps, some dimensions
// backwards.
Tensor random_layout(const Shape& shape, DType dtype, std::mt19937& random) {
  std::vector<int> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  Shape padded;
  for (const int d : order)
    padded.push_back(2 * shape[d] + static_cast<std::int64_t>(random() % 3));
  Tensor t = zeros(padded, {dtype, cpu});
  std::vector<int> back(shape.size());
  for (std::size_t i = 0; i < order.size(); ++i) back[order[i]] = static_cast<int>(i);
  t = t.permute(back);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const int dimension = static_cast<int>(d);
    if (shape[d] == 0 || random() % 2 == 0) t = t.slice(dimension, 0, shape[d]);
    else if (random() % 2 == 0) t = t.slice(dimension, shape[d] - 1, -1000000, -1);
    else t = t.slice(dimension, 0, 2 * shape[d], 2);
  }
  return t;
}

TEST(Copy, AnyStridesToAnyStrides) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Shape shape(random() % 5);
    for (std::int64_t& size : shape) size = static_cast<std::int64_t>(random() % 6);
    const std::int64_t count =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    const Tensor values = arange(count, {DType::Int32, cpu}).view(shape);
    const Tensor from = random_layout(shape, DType::Int32, random);
    const Tensor to = random_layout(shape, DType::Float32, random);
    from.copy_from(values);
    to.copy_from(from);
    ASSERT_EQ(to.shape(), shape);
    ASSERT_EQ(to.to(DType::Int32).to_vector<int>(), values.to_vector<int>()) << "round " << round;
  }
}

TEST(Copy, WritesNothingBetweenTheElements) {
  const Tensor t = zeros({6, 8}, cpu);
  t.slice(0, 1, 6, 2).slice(1, 7, 0, -3).copy_from(ones({3, 3}, cpu));
  double sum = 0;
  for (const float value : t.to_vector<float>()) sum += value;
  EXPECT_EQ(sum, 9);
  EXPECT_EQ(t[1][7].item<float>(), 1);
  EXPECT_EQ(t[5][1].item<float>(), 1);
}

TEST(Copy, MoreThanEightDimensions) {
  const Shape shape(10, 2);
  const Tensor t = arange(1024, {DType::Int32, cpu}).view(shape);
  const Tensor turned = t.permute({9, 8, 7, 6, 5, 4, 3, 2, 1, 0}).contiguous();
  const std::vector<int> values = turned.to_vector<int>();
  for (int i = 0; i < 1024; ++i) {
    int reversed = 0;
    for (int bit = 0; bit < 10; ++bit) reversed |= (i >> bit & 1) << (9 - bit);
    ASSERT_EQ(values[static_cast<std::size_t>(i)], reversed);
  }
}

TEST(Copy, LargeOnesInParts) {
  for (const auto& [rows, columns] :
       {std::pair{1, 1000003}, {997, 1009}, {200001, 5}, {3, 300001}}) {
    const Tensor t =
        arange(std::int64_t{rows} * columns, {DType::Int32, cpu}).view({rows, columns});
    const std::vector<float> values = t.t().to(DType::Float32).to_vector<float>();
    std::int64_t wrong = 0;
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t r = 0; r < rows; ++r)
        wrong +=
            values[static_cast<std::size_t>(c * rows + r)] != static_cast<float>(r * columns + c);
    EXPECT_EQ(wrong, 0) << rows << " x " << columns;
  }
}

TEST(Copy, BroadcastsTheSource) {
  const Tensor t = empty({2, 3}, cpu);
  t.copy_from(tensor({1.0f, 2.0f, 3.0f}, cpu));
  EXPECT_EQ(t.to_vector<float>(), (std::vector<float>{1, 2, 3, 1, 2, 3}));
  t.copy_from(full({}, 9, {DType::Int8, cpu}));
  EXPECT_EQ(t.to_vector<float>(), std::vector<float>(6, 9));
  expect_error<ArgumentError>(
      [&] {
        t.copy_from(zeros({2, 2}, cpu));
      },
      "shape [2, 2] cannot be broadcast to [2, 3]: sizes must be equal or 1, counted from the end");
  expect_error<ArgumentError>(
      [&] {
        t.copy_from(zeros({1, 2, 3}, cpu));
      },
      "shape [1, 2, 3] cannot be broadcast to [2, 3]: sizes must be equal or 1, counted from the "
      "end");
  expect_error<ArgumentError>(
      [&] { tensor({1.0f}, cpu).broadcast_to({4}).copy_from(zeros({4}, cpu)); },
      "a tensor of shape [4] and strides [0] cannot be copied into: its elements share memory");
}

TEST(Copy, OfMemoryThatBothShare) {
  const Tensor t = arange(8, {DType::Int32, cpu});
  t.copy_from(t.slice(0, -1, -9, -1));
  EXPECT_EQ(t.to_vector<int>(), (std::vector<int>{7, 6, 5, 4, 3, 2, 1, 0}));
  t.slice(0, 1, 8).copy_from(t.slice(0, 0, 7));
  EXPECT_EQ(t.to_vector<int>(), (std::vector<int>{7, 7, 6, 5, 4, 3, 2, 1}));
  const Tensor square = arange(9, {DType::Int32, cpu}).view({3, 3});
  square.copy_from(square.t());
  EXPECT_EQ(square.to_vector<int>(), (std::vector<int>{0, 3, 6, 1, 4, 7, 2, 5, 8}));
  square.copy_from(square);
  EXPECT_EQ(square[0][1].item<int>(), 3);
}

TEST(Copy, ToGivesTheSameTensorWhenNothingChanges) {
  const Tensor t = zeros({2, 3}, cpu).t();
  EXPECT_EQ(t.to(DType::Float32).data(), t.data());
  EXPECT_EQ(t.cpu().data(), t.data());
  EXPECT_TRUE(t.to(DType::Float64).is_contiguous());
  if (cuda_device_count() == 0) {
    EXPECT_THROW(t.cuda(), MissingError);
  }
}

}  // namespace
}  // namespace tilewright
