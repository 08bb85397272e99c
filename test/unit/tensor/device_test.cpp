// SPDX-License-Identifier: Apache-2.0
// tensor/device_test.cpp — kernels of CUDA tensors: they compile without a GPU; with one, each
// gives what the CPU gives.
#include <bit>
#include <cstring>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "cpu_device.h"
#include "runtime/compile.h"
#include "tensor/device_ops.h"
#include "tensor/element_types.h"
#include "tilewright/dlpack.h"
#include "tilewright/tensor.h"

namespace tilewright {
namespace {

const Device cuda = Device::cuda();

std::string kernel(const std::string& name, std::initializer_list<std::string_view> types) {
  std::string out = "tilewright::element::" + name + "<";
  for (const std::string_view type : types) out += std::string(type) + ",";
  out.back() = '>';
  return out;
}

TEST(DeviceKernels, CompileForSm90WithoutAGpu) {
  KernelSource source =
      device_kernel_source(kernel("fill", {"unsigned int", "unsigned long long"}), {});
  std::vector<std::string>& instances = source.name_expressions;
  for (int d = 0; d < dtype_count; ++d) {  // every type is read once and written once
    const std::string_view to = element_type_name(static_cast<DType>(d));
    const std::string_view from = element_type_name(static_cast<DType>((d + 4) % dtype_count));
    instances.push_back(kernel("copy", {to, from, d % 2 ? "unsigned int" : "unsigned long long"}));
    if (is_floating(static_cast<DType>(d))) instances.push_back(kernel("uniform", {to}));
  }
  for (const char* type : {"float", "double", "tilewright::element::Float8E4M3"})
    instances.push_back(kernel("normal", {type}));
  instances.push_back(kernel("arange", {"float", "double"}));
  instances.push_back(kernel("arange", {"int", "long long"}));
  try {
    const Binary binary = compile(source, Target::parse("sm_90a"));
    EXPECT_EQ(binary.symbols.size(), source.name_expressions.size());
    EXPECT_FALSE(binary.bytes.empty());
  } catch (const MissingError& error) {
    GTEST_SKIP() << error.what();
  }
}

class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda_device_count() == 0) GTEST_SKIP() << why_no_cuda();
  }
};

// Equal bytes; NaNs may differ in their payload.
void expect_same(const Tensor& on_gpu, const Tensor& on_cpu, const std::string& what) {
  ASSERT_EQ(on_gpu.device(), cuda) << what;
  ASSERT_EQ(on_gpu.dtype(), on_cpu.dtype()) << what;
  ASSERT_EQ(on_gpu.shape(), on_cpu.shape()) << what;
  ASSERT_EQ(max_abs_error(on_gpu, on_cpu), 0) << what;
}

// All patterns of 8 bits, or random ones.
Tensor random_bits(DType dtype, std::int64_t count) {
  const Tensor t = empty({count}, {dtype, cpu});
  std::mt19937_64 random(5);
  auto* const bytes = static_cast<std::byte*>(t.data());
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint64_t bits =
        size_of(dtype) == 1 ? static_cast<std::uint64_t>(i) : random() >> (random() % 3 * 20);
    if (dtype == DType::Bool) bits &= 1;
    if (i % 3 == 0 && dtype == DType::Float64)
      bits = std::bit_cast<std::uint64_t>(static_cast<double>(random() % 100000) / 64 - 700);
    if (i % 3 == 0 && dtype == DType::Float32)
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(random() % 100000) / 64 - 700);
    std::memcpy(bytes + static_cast<std::size_t>(i) * size_of(dtype), &bits, size_of(dtype));
  }
  return t;
}

TEST_F(OnGpu, EveryPairOfDtypesConvertsAsOnTheCpu) {
  for (int s = 0; s < dtype_count; ++s) {
    const Tensor source = random_bits(static_cast<DType>(s), 4099);
    const Tensor there = source.cuda();
    expect_same(there, source, std::string(name_of(source.dtype())));
    for (int d = 0; d < dtype_count; ++d) {
      const auto to = static_cast<DType>(d);
      expect_same(there.to(to), source.to(to),
                  std::string(name_of(source.dtype())) + " to " + std::string(name_of(to)));
    }
  }
}

TEST_F(OnGpu, StridedCopies) {
  for (const DType dtype : {DType::UInt8, DType::Float16, DType::Float32, DType::Float64}) {
    const Tensor host = arange(5 * 7 * 11, {DType::Int32, cpu}).to(dtype).view({5, 7, 11});
    const Tensor there = host.cuda();
    const std::string name(name_of(dtype));
    expect_same(there.permute({2, 0, 1}).contiguous(), host.permute({2, 0, 1}), name);
    expect_same(there.slice(1, 5, -99, -2).clone(), host.slice(1, 5, -99, -2), name);
    expect_same(there.transpose(0, 1).broadcast_to({3, 7, 5, 11}).to(DType::Float32),
                host.transpose(0, 1).broadcast_to({3, 7, 5, 11}).to(DType::Float32), name);
    const Tensor a = zeros({5, 7, 22}, {dtype, cpu});
    const Tensor b = zeros({5, 7, 22}, {dtype, cuda});
    a.slice(2, 21, -99, -2).copy_from(host);
    b.slice(2, 21, -99, -2).copy_from(there);
    expect_same(b, a, name);
    b.fill(0);
    b.slice(2, 21, -99, -2).copy_from(host);  // from the host, spread out there
    expect_same(b, a, name);
    const Tensor c = zeros({11, 7, 5}, cpu);
    c.permute({2, 1, 0}).copy_from(there);  // to the host, spread out here
    EXPECT_EQ(max_abs_error(c, host.permute({2, 1, 0})), 0) << name;
  }
  const Shape many(10, 2);
  const std::vector<int> order{9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  const Tensor deep = arange(1024, {DType::Int32, cpu}).view(many);
  expect_same(deep.cuda().permute(order).contiguous(), deep.permute(order), "10 dimensions");
}

TEST_F(OnGpu, Fills) {
  for (int d = 0; d < dtype_count; ++d) {
    const auto dtype = static_cast<DType>(d);
    for (const std::int64_t size : {0, 1, 7, 100003})
      expect_same(full({size}, 1.5, {dtype, cuda}), full({size}, 1.5, {dtype, cpu}),
                  std::string(name_of(dtype)));
    const Tensor there = zeros({9, 8}, {dtype, cuda});
    const Tensor here = zeros({9, 8}, {dtype, cpu});
    there.slice(0, -1, -99, -2).t().slice(0, 1, 7, 3).fill(3);
    here.slice(0, -1, -99, -2).t().slice(0, 1, 7, 3).fill(3);
    expect_same(there, here, std::string(name_of(dtype)));
  }
}

TEST_F(OnGpu, Ramps) {
  for (int d = 0; d < dtype_count; ++d) {
    const auto dtype = static_cast<DType>(d);
    expect_same(arange(1001, {dtype, cuda}), arange(1001, {dtype, cpu}),
                std::string(name_of(dtype)));
    expect_same(arange(0.1, 77, 0.3, {dtype, cuda}), arange(0.1, 77, 0.3, {dtype, cpu}),
                std::string(name_of(dtype)));
  }
}

TEST_F(OnGpu, UniformNumbersBitForBit) {
  for (const DType dtype : {DType::Float64, DType::Float32, DType::Float16, DType::BFloat16,
                            DType::Float8E4M3, DType::Float8E5M2})
    for (const std::int64_t size : {0, 1, 2, 3, 4, 5, 1000, 1000003}) {
      const auto seeded = [&](Device device) {
        return RandomOptions(dtype, device).with_seed(0x123456789abcdef);
      };
      expect_same(rand({size}, seeded(cuda)), rand({size}, seeded(cpu)),
                  std::string(name_of(dtype)));
    }
}

// Distance in units in the last place, for numbers of one sign; the patterns of a float are ordered
// like its values.
template <class Bits>
std::uint64_t worst_distance(const Tensor& a, const Tensor& b, DType bits_type) {
  const auto as_bits = [&](const Tensor& t) {
    return from_blob(t.data(), t.shape(), {bits_type, cpu}).to_vector<Bits>();
  };
  const std::vector<Bits> x = as_bits(a), y = as_bits(b);
  std::uint64_t worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    worst = std::max<std::uint64_t>(worst, x[i] > y[i] ? x[i] - y[i] : y[i] - x[i]);
  return worst;
}

TEST_F(OnGpu, NormalNumbersToTwoUlp) {
  for (const DType dtype : {DType::Float64, DType::Float32, DType::Float16, DType::BFloat16,
                            DType::Float8E4M3, DType::Float8E5M2}) {
    const auto seeded = [&](Device device) { return RandomOptions(dtype, device).with_seed(77); };
    const Tensor there = randn({1000003}, seeded(cuda)).cpu();
    const Tensor here = randn({1000003}, seeded(cpu));
    switch (size_of(dtype)) {
      case 8:
        EXPECT_LE(worst_distance<std::uint64_t>(there, here, DType::UInt64), 2u);
        break;
      case 4:
        EXPECT_LE(worst_distance<std::uint32_t>(there, here, DType::UInt32), 2u);
        break;
      case 2:
        EXPECT_LE(worst_distance<std::uint16_t>(there, here, DType::UInt16), 2u);
        break;
      default:
        EXPECT_LE(worst_distance<std::uint8_t>(there, here, DType::UInt8), 2u);
        break;
    }
  }
}

TEST_F(OnGpu, ValuesReachTheHost) {
  const Tensor t = arange(6, {DType::Float32, cuda}).view({2, 3});
  EXPECT_EQ(t.t().to_vector<float>(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(t[1][2].item<int>(), 5);
  EXPECT_EQ(t.to_string(),
            "tensor([[0., 1., 2.],\n        [3., 4., 5.]], dtype=float32, device=cuda:0)");
  EXPECT_TRUE(allclose(t, t.cpu()));
  const Tensor back = from_dlpack(to_dlpack(t));
  EXPECT_EQ(back.device(), cuda);
  EXPECT_EQ(back.data(), t.data());
}

TEST_F(OnGpu, TemporariesOutliveTheirWork) {
  // Every step frees what the step before still uses on the stream.
  Tensor t = full({1 << 20}, 1, {DType::Float32, cuda});
  for (int i = 0; i < 50; ++i)
    t = t.to(DType::Float64).view({1024, 1024}).t().contiguous().view({-1}).to(DType::Float32);
  EXPECT_EQ(max_abs_error(t, ones({1 << 20}, cpu)), 0);
}

}  // namespace
}  // namespace tilewright
