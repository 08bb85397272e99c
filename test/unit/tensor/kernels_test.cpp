// SPDX-License-Identifier: Apache-2.0
// tensor/kernels_test.cpp — the text of the CUDA kernels compiled as C++ and run thread by thread
// on the host.
#include <algorithm>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "cpu_device.h"
#include "tensor/pair.h"
#include "tensor/shape.h"
#include "tilewright/tensor.h"

// What the kernels see of CUDA: one thread at a time.
namespace {
struct Place {
  unsigned int x = 0;
};
Place blockIdx, blockDim, gridDim, threadIdx;
}  // namespace

#define __global__
#include "tensor/device/kernels.cu"
#undef __global__

namespace tilewright {
namespace {

// Fewer threads than elements, so that every thread goes round its loop; and more.
void run_grid(unsigned int blocks, unsigned int threads, const std::function<void()>& kernel) {
  gridDim.x = blocks;
  blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) kernel();
}

template <class To, class From>
void copy_by_kernel(const Tensor& to, const Tensor& from, bool is_wide) {
  for_parts(make_pair(to.shape(), to.strides(), from.strides()), [&](const PairPart& part) {
    To* const destination = static_cast<To*>(to.data()) + part.destination_shift;
    const From* const source = static_cast<const From*>(from.data()) + part.source_shift;
    run_grid(3, 5, [&] {
      if (is_wide) element::copy<To, From, unsigned long long>(destination, source, part.pair);
      else element::copy<To, From, unsigned int>(destination, source, part.pair);
    });
  });
}

TEST(Kernels, StridedCopiesOfRandomViews) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const int rank = 1 + static_cast<int>(random() % 4);
    Shape shape;
    std::vector<int> order;
    for (int d = 0; d < rank; ++d) {
      shape.push_back(1 + static_cast<std::int64_t>(random() % 5));
      order.push_back(d);
    }
    const auto scrambled = [&](DType dtype) {  // padded, permuted, with steps of both signs
      std::shuffle(order.begin(), order.end(), random);
      std::vector<int> back(order.size());
      Shape padded;
      for (std::size_t i = 0; i < order.size(); ++i) {
        back[order[i]] = static_cast<int>(i);
        padded.push_back(2 * shape[order[i]]);
      }
      Tensor t = zeros(padded, {dtype, cpu}).permute(back);
      for (int d = 0; d < rank; ++d)
        t = random() % 2 ? t.slice(d, 0, shape[d]) : t.slice(d, -1, -100, -2);
      return t;
    };
    const Tensor from = scrambled(DType::Float32);
    const Tensor to = scrambled(DType::Int32);
    from.copy_from(arange(from.numel(), {DType::Int64, cpu}).view(shape));
    const Tensor expected = from.to(DType::Int32);
    copy_by_kernel<int, float>(to, from, round % 2 == 0);
    ASSERT_EQ(to.to_vector<int>(), expected.to_vector<int>());
    const Tensor same = scrambled(DType::Float32);
    copy_by_kernel<unsigned int, unsigned int>(same, from, round % 2 == 1);
    ASSERT_EQ(same.to_vector<float>(), from.to_vector<float>());
  }
}

TEST(Kernels, MoreThanEightDimensions) {
  const Tensor t =
      arange(1024, {DType::Int32, cpu}).view(Shape(10, 2)).permute({9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  const Tensor out = zeros(t.shape(), {DType::Int32, cpu});
  copy_by_kernel<unsigned int, unsigned int>(out, t, false);
  EXPECT_EQ(out.to_vector<int>(), t.to_vector<int>());
}

TEST(Kernels, Fill) {
  const Tensor t = zeros({6, 8}, {DType::Int16, cpu});
  const Tensor expected = t.clone();
  const Tensor part = t.slice(0, -1, -99, -2).t().slice(0, 1, 7, 3);
  expected.slice(0, -1, -99, -2).t().slice(0, 1, 7, 3).fill(7);
  for_parts(make_pair(part.shape(), part.strides(), Shape(2, 0)), [&](const PairPart& p) {
    auto* const destination = static_cast<unsigned short*>(part.data()) + p.destination_shift;
    run_grid(2, 2, [&] { element::fill<unsigned short, unsigned int>(destination, p.pair, 7); });
  });
  EXPECT_EQ(t.to_vector<std::int16_t>(), expected.to_vector<std::int16_t>());
}

TEST(Kernels, Arange) {
  for (const std::int64_t count : {1, 14, 15, 16, 101}) {
    const Tensor whole = empty({count}, {DType::Int32, cpu});
    run_grid(3, 5, [&] { element::arange<int, long long>(whole.data<int>(), count, -3, 2); });
    EXPECT_EQ(
        whole.to_vector<int>(),
        arange(-3, -3 + 2.0 * static_cast<double>(count), 2, {DType::Int32, cpu}).to_vector<int>());
    const Tensor broken = empty({count}, cpu);
    run_grid(3, 5, [&] { element::arange<float, double>(broken.data<float>(), count, 0.25, 0.1); });
    for (std::int64_t i = 0; i < count; ++i)
      ASSERT_EQ(broken.data<float>()[i], static_cast<float>(0.25 + static_cast<double>(i) * 0.1));
  }
}

template <class T>
void check_random(DType dtype) {
  for (const std::int64_t count : {1, 2, 3, 4, 5, 59, 60, 61, 500}) {
    const RandomOptions options = RandomOptions(dtype, cpu).with_seed(0xfeedface12345);
    const Tensor out = empty({count}, {dtype, cpu});
    T* const values = static_cast<T*>(out.data());
    run_grid(3, 5, [&] { element::uniform<T>(values, count, *options.seed, 0); });
    EXPECT_EQ(max_abs_error(out, rand({count}, options)), 0) << name_of(dtype) << " " << count;
    run_grid(3, 5, [&] { element::normal<T>(values, count, *options.seed, 0); });
    EXPECT_EQ(max_abs_error(out, randn({count}, options)), 0) << name_of(dtype) << " " << count;
  }
}

TEST(Kernels, RandomNumbers) {
  check_random<double>(DType::Float64);
  check_random<float>(DType::Float32);
  check_random<element::Float16>(DType::Float16);
  check_random<element::BFloat16>(DType::BFloat16);
  check_random<element::Float8E4M3>(DType::Float8E4M3);
  check_random<element::Float8E5M2>(DType::Float8E5M2);
}

}  // namespace
}  // namespace tilewright
