// SPDX-License-Identifier: Apache-2.0
// codegen/emulate_half_test.cpp — emulated fp16 and bf16 arithmetic against exact results rounded
// once.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "emulated_module.h"

namespace tilewright {
namespace {

// Enough bits to hold every sum and product here exactly.
__extension__ typedef __float128 Exact;

struct Format {
  int precision;  // bits of the significand, with the hidden one
  int min_exponent;
  int max_exponent;
};
constexpr Format fp16{11, -14, 15};
constexpr Format bf16{8, -126, 127};

Exact power(int exponent) { return std::ldexp(1.0, exponent); }

std::uint16_t round_once(Exact value, const Format& format, bool negative_zero) {
  const int fraction = format.precision - 1;
  if (value == 0) return negative_zero ? 0x8000 : 0;
  const std::uint16_t sign = value < 0 ? 0x8000 : 0;
  if (value < 0) value = -value;
  int exponent = std::max(format.min_exponent, std::ilogb(static_cast<double>(value)) - 1);
  while (exponent <= format.max_exponent && value >= power(exponent + 1)) ++exponent;
  const Exact scaled = value / power(exponent - fraction);
  if (exponent > format.max_exponent)
    return static_cast<std::uint16_t>(sign | ((1 << (15 - fraction)) - 1) << fraction);
  auto whole = static_cast<std::int64_t>(scaled);
  const Exact rest = scaled - static_cast<Exact>(whole);
  if (rest > Exact(0.5) || (rest == Exact(0.5) && whole % 2 == 1)) ++whole;
  // A carry out of the significand walks into the exponent field by itself, up to infinity.
  const std::int64_t field =
      whole + (static_cast<std::int64_t>(exponent - format.min_exponent) << fraction);
  return static_cast<std::uint16_t>(sign | field);
}

double decode(std::uint16_t bits, const Format& format) {
  const int fraction = format.precision - 1;
  const int exponent = (bits & 0x7fff) >> fraction;
  const int low = bits & ((1 << fraction) - 1);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << (15 - fraction)) - 1) return low ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(low, format.min_exponent - fraction);
  return sign * std::ldexp(low + (1 << fraction), exponent - 1 + format.min_exponent - fraction);
}

const EmulatedModule& module() {
  static const EmulatedModule half_module(R"(
#include <cuda_fp16.h>
#include <cuda_bf16.h>
template <class T> __device__ T from(unsigned short bits);
template <> __device__ __half from(unsigned short bits) { return __ushort_as_half(bits); }
template <> __device__ __nv_bfloat16 from(unsigned short bits) { return __ushort_as_bfloat16(bits); }
__device__ unsigned short to(__half x) { return __half_as_ushort(x); }
__device__ unsigned short to(__nv_bfloat16 x) { return __bfloat16_as_ushort(x); }
template <class T> __global__ void operate(const unsigned short* in, unsigned short* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  T a = from<T>(in[i]), b = from<T>(in[n + i]), c = from<T>(in[2 * n + i]);
  out[i] = to(__hadd(a, b));
  out[n + i] = to(a - b);
  out[2 * n + i] = to(__hmul(a, b));
  out[3 * n + i] = to(a / b);
  out[4 * n + i] = to(__hfma(a, b, c));
  T sum = a;
  sum += b;
  out[5 * n + i] = (to(sum) == out[i]) | (a < b) << 1 | (a == a) << 2 | __hge(a, b) << 3;
  out[6 * n + i] = to(__hneg(a));
  out[7 * n + i] = to(hsqrt(__habs(a)));
}
template <class T> __global__ void convert(const float* f, const double* d, float* back, unsigned short* out, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  out[i] = to(T(f[i]));
  out[n + i] = to(T(d[i]));
  back[i] = float(T(f[i]));
}
__global__ void pairs(float* out) {
  half2 h = __floats2half2_rn(1.5f, -2.0f);
  half2 p = __hfma2(h, __float2half2_rn(2.0f), __half2half2(__float2half(0.25f)));
  float2 f = __half22float2(p);
  out[0] = f.x;
  out[1] = f.y;
  __nv_bfloat162 b = __float22bfloat162_rn(make_float2(3.0f, 4.0f));
  b = __hadd2(b, b) * b;
  out[2] = __low2float(b);
  out[3] = __bfloat162float(b.y);
  half x = 3;
  x *= __float2half(2.0f);
  out[4] = x > half(5.0f) ? __half2float(hexp(x)) : 0;
  out[5] = __half2int_rn(__float2half(2.5f));
  __shared__ __half shared[4];
  shared[1] = x;
  atomicAdd(&shared[1], __float2half(0.5f));
  out[6] = shared[1];
}
)",
                                          {"operate<__half>", "operate<__nv_bfloat16>",
                                           "convert<__half>", "convert<__nv_bfloat16>", "pairs"});
  return half_module;
}

bool is_nan(std::uint16_t bits, const Format& format) { return std::isnan(decode(bits, format)); }

void check_operations(const char* kernel, const Format& format, std::uint16_t exponent_mask,
                      std::uint16_t exponent_base) {
  const int n = 20000;
  std::mt19937 random(7);
  std::vector<std::uint16_t> in(3 * n), out(8 * n);
  for (std::uint16_t& bits : in)
    bits = static_cast<std::uint16_t>((random() & exponent_mask) + exponent_base);
  module().run(kernel, {.grid = {100, 1, 1}, .block = {200, 1, 1}, .threads = 2}, in.data(),
               out.data(), n);
  for (int i = 0; i < n; ++i) {
    const std::uint16_t bits[3] = {in[i], in[n + i], in[2 * n + i]};
    const Exact a = decode(bits[0], format), b = decode(bits[1], format),
                c = decode(bits[2], format);
    bool finite = true;
    for (std::uint16_t x : bits) finite = finite && std::isfinite(decode(x, format));
    if (!finite) continue;
    const bool minus = (bits[0] & 0x8000) != 0, product_minus = ((bits[0] ^ bits[1]) & 0x8000) != 0;
    ASSERT_EQ(out[i], round_once(a + b, format, minus && bits[1] & 0x8000))
        << bits[0] << " + " << bits[1];
    ASSERT_EQ(out[n + i], round_once(a - b, format, minus && !(bits[1] & 0x8000)))
        << bits[0] << " - " << bits[1];
    ASSERT_EQ(out[2 * n + i], round_once(a * b, format, product_minus))
        << bits[0] << " * " << bits[1];
    ASSERT_EQ(out[4 * n + i], round_once(a * b + c, format, product_minus && bits[2] & 0x8000))
        << bits[0] << " * " << bits[1] << " + " << bits[2];
    if (b != 0) {
      // A quotient is not exact, but 113 bits are never a tie that 11 bits are not.
      ASSERT_EQ(out[3 * n + i], round_once(a / b, format, product_minus))
          << bits[0] << " / " << bits[1];
    }
    const int flags = 1 | (a < b) << 1 | 4 | (a >= b) << 3;
    ASSERT_EQ(out[5 * n + i], flags);
    ASSERT_EQ(out[6 * n + i], bits[0] ^ 0x8000);
    const double root = std::sqrt(std::fabs(static_cast<double>(a)));
    ASSERT_EQ(out[7 * n + i], round_once(root, format, false)) << bits[0];
  }
}

TEST(EmulateHalf, Fp16OperationsRoundOnce) { check_operations("operate<__half>", fp16, 0xffff, 0); }

// Exponents around 1, so that exact results fit the reference's bits.
TEST(EmulateHalf, Bf16OperationsRoundOnce) {
  check_operations("operate<__nv_bfloat16>", bf16, 0x8fff, 0x3c00);
}

void check_conversions(const char* kernel, const Format& format) {
  std::mt19937_64 random(11);
  const int n = 20000;
  std::vector<float> f(n), back(n);
  std::vector<double> d(n);
  std::vector<std::uint16_t> out(2 * n);
  for (int i = 0; i < n; ++i) {
    // Values next to ties and to the ends of the range, and everything in between.
    const double near = decode(static_cast<std::uint16_t>(random()), format);
    const double step = std::ldexp(1.0, static_cast<int>(random() % 60) - 70);
    f[i] = static_cast<float>(i % 2 ? near * 1.00048828125
                                    : std::ldexp(static_cast<double>(random() % 100000),
                                                 static_cast<int>(random() % 60) - 45));
    d[i] = std::isfinite(near)
               ? near * (1 + std::ldexp(1.0, -format.precision)) * (i % 3 ? 1 + step : 1)
               : near;
  }
  module().run(kernel, {.grid = {100, 1, 1}, .block = {200, 1, 1}}, f.data(), d.data(), back.data(),
               out.data(), n);
  for (int i = 0; i < n; ++i) {
    if (std::isfinite(f[i])) {
      ASSERT_EQ(out[i], round_once(f[i], format, std::signbit(f[i]))) << f[i];
      ASSERT_EQ(back[i], static_cast<float>(decode(out[i], format)));
    } else if (std::isnan(f[i])) {
      ASSERT_TRUE(is_nan(out[i], format));
    }
    if (std::isfinite(d[i])) {
      ASSERT_EQ(out[n + i], round_once(d[i], format, std::signbit(d[i]))) << d[i];
    }
  }
}

TEST(EmulateHalf, ConversionsRoundOnce) {
  check_conversions("convert<__half>", fp16);
  check_conversions("convert<__nv_bfloat16>", bf16);
}

TEST(EmulateHalf, PairsAndMixedUse) {
  std::vector<float> out(7);
  module().run("pairs", {.block = {1, 1, 1}}, out.data());
  EXPECT_EQ(out[0], 3.25f);
  EXPECT_EQ(out[1], -3.75f);
  EXPECT_EQ(out[2], 18.0f);
  EXPECT_EQ(out[3], 32.0f);
  EXPECT_NEAR(out[4], std::exp(6.0), 0.25);
  EXPECT_EQ(out[5], 2.0f);
  EXPECT_EQ(out[6], 6.5f);
}

}  // namespace
}  // namespace tilewright
