// SPDX-License-Identifier: Apache-2.0
// codegen/emulate_math_test.cpp — math functions and intrinsics of emulated kernels against the
// host's.
#include <bit>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "emulated_module.h"

namespace tilewright {
namespace {

// Every one as f(double), f(float) and ff(float).
#define UNARY(F)                                                                                   \
  F(acos)                                                                                          \
  F(acosh)                                                                                         \
  F(asin)                                                                                          \
  F(asinh)                                                                                         \
  F(atan)                                                                                          \
  F(atanh)                                                                                         \
  F(cbrt) F(ceil) F(cos) F(cosh) F(erf) F(erfc) F(exp) F(exp2) F(expm1) F(fabs) F(floor) F(lgamma) \
      F(log) F(log10) F(log1p) F(log2) F(logb) F(nearbyint) F(rint) F(round) F(sin) F(sinh)        \
          F(sqrt) F(tan) F(tanh) F(tgamma) F(trunc)
#define BINARY(F) \
  F(atan2) F(copysign) F(fdim) F(fmax) F(fmin) F(fmod) F(hypot) F(nextafter) F(pow) F(remainder)

struct Unary {
  const char* name;
  double (*wide)(double);
  float (*narrow)(float);
};
struct Binary {
  const char* name;
  double (*wide)(double, double);
  float (*narrow)(float, float);
};
#define ROW(name) \
  {#name, static_cast<double (*)(double)>(std::name), static_cast<float (*)(float)>(std::name)},
const Unary unary[] = {UNARY(ROW)};
#undef ROW
#define ROW(name)                                             \
  {#name, static_cast<double (*)(double, double)>(std::name), \
   static_cast<float (*)(float, float)>(std::name)},
const Binary binary[] = {BINARY(ROW)};
#undef ROW

// Kernels that write f(x) of function number i to y[i * n ...].
std::string source() {
  std::string narrow, wide;
  int row = 0;
  for (const Unary& f : unary) {
    narrow +=
        fmt::format("  y[{0} * n + i] = {1}f(x[i]); z[{0} * n + i] = {1}(x[i]);\n", row, f.name);
    wide += fmt::format("  y[{0} * n + i] = std::{1}(x[i]);\n", row++, f.name);
  }
  for (const Binary& f : binary) {
    narrow += fmt::format(
        "  y[{0} * n + i] = {1}f(x[i], x[n - 1 - i]); z[{0} * n + i] = {1}(x[i], x[n - 1 - i]);\n",
        row, f.name);
    wide += fmt::format("  y[{0} * n + i] = {1}(x[i], x[n - 1 - i]);\n", row++, f.name);
  }
  return fmt::format(R"(#include <cmath>
#include <algorithm>
#include <limits>
__global__ void narrow(const float* x, float* y, float* z, int n) {{
  int i = threadIdx.x;
{}}}
__global__ void wide(const double* x, double* y, int n) {{
  int i = threadIdx.x;
{}}}
)",
                     narrow, wide) +
         R"(
__global__ void near(const float* x, float* y, int n) {
  int i = threadIdx.x;
  float v = x[i];
  float* out = y + 20 * i;
  out[0] = __expf(v); out[1] = __logf(fabsf(v)); out[2] = __powf(fabsf(v), 1.5f); out[3] = rsqrtf(fabsf(v)); out[4] = __frcp_rn(v);
  out[5] = __sinf(v); out[6] = normcdff(v); out[7] = sinpif(v); out[8] = cospif(v); out[9] = exp10f(v / 8);
  out[10] = __fdividef(v, 3.0f); out[11] = __saturatef(v); out[12] = fmaf(v, v, -v); out[13] = __fmul_rn(v, 3.0f) + 1.0f;
  float s, c;
  sincosf(v, &s, &c);
  out[14] = s; out[15] = c; out[16] = min(v, 1) + max(2.0, v); out[17] = std::min(v, 0.5f) + std::max(v, -0.5f);
  out[18] = abs(v) + pow(v, 2) + sqrt(4); out[19] = isnan(v) || isinf(v) || !isfinite(v) || signbit(v);
}
__global__ void integers(long long* y) {
  int k = 0;
  y[k++] = __popc(0xf0f0u); y[k++] = __popcll(~0ull); y[k++] = __clz(1); y[k++] = __clz(0); y[k++] = __clzll(1ll << 40);
  y[k++] = __ffs(8); y[k++] = __ffs(0); y[k++] = __brev(1u); y[k++] = __mulhi(-2, 3); y[k++] = __umulhi(0x80000000u, 4u);
  y[k++] = __byte_perm(0x33221100, 0x77665544, 0x7531); y[k++] = __byte_perm(0x80u, 0, 0x4448);
  y[k++] = __funnelshift_l(0x80000000u, 1u, 4); y[k++] = __funnelshift_r(0x10u, 0xfu, 4); y[k++] = __funnelshift_lc(7u, 9u, 40);
  y[k++] = __dp4a(0x01ff0203, 0x02020202, 10); y[k++] = __dp4a(0xff000001u, 0x02000003u, 1u);
  y[k++] = __float2int_rn(2.5f); y[k++] = __float2int_rz(-2.9f); y[k++] = __float2int_ru(2.1f); y[k++] = __float2int_rd(-2.1f);
  y[k++] = __float2int_rn(1e20f); y[k++] = __float2uint_rn(-1.0f); y[k++] = __double2ll_rn(-1e300); y[k++] = __float2int_rn(NAN);
  y[k++] = __float_as_int(1.0f); y[k++] = __double_as_longlong(2.0); y[k++] = (long long)__int_as_float(0x40000000);
  y[k++] = min(-1, 5); y[k++] = max(3u, 2u); y[k++] = min(7ll, 5); y[k++] = __sad(3, -4, 10u); y[k++] = __mul24(-3, 5);
  y[k++] = std::numeric_limits<int>::max(); y[k++] = std::numeric_limits<unsigned char>::max(); y[k++] = std::numeric_limits<long>::min() == INT64_MIN;
  y[k++] = std::numeric_limits<float>::infinity() > FLT_MAX; y[k++] = __umul64hi(~0ull, 16); y[k++] = __hiloint2double(0x40080000, 0) == 3.0;
}
__global__ void atomics(int* i, unsigned* u, unsigned long long* l, float* f, double* d) {
  atomicAdd(i, 5); atomicSub(i, 2); atomicMin(i + 1, -7); atomicMax(i + 2, 9); atomicAdd_system(i, 1);
  atomicAnd(u, 0xf0u); atomicOr(u + 1, 3u); atomicXor(u + 2, 0xffu); atomicInc(u + 3, 2u); atomicDec(u + 4, 5u);
  atomicAdd(l, 1ull << 40); atomicMax(l + 1, 7ull); i[3] = atomicExch(i + 4, 11); i[5] = atomicCAS(i + 6, 0, 4); i[7] = atomicCAS(i + 6, 0, 5);
  atomicAdd(f, 0.5f); atomicAdd_block(d, 0.25); f[1] = atomicExch(f + 2, 3.0f);
}
)";
}

const EmulatedModule& module() {
  static const EmulatedModule math_module(source(),
                                          {"narrow", "wide", "near", "integers", "atomics"});
  return math_module;
}

template <class T>
std::vector<T> samples() {
  std::vector<T> x = {0,
                      static_cast<T>(-0.0),
                      1,
                      -1,
                      static_cast<T>(0.5),
                      2,
                      100,
                      -100,
                      static_cast<T>(1e-30),
                      static_cast<T>(1e30),
                      INFINITY,
                      -INFINITY,
                      NAN};
  for (int i = -40; i < 41; ++i) x.push_back(static_cast<T>(i) * static_cast<T>(0.2371));
  return x;
}

template <class T>
bool same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

TEST(EmulateMath, FloatFunctionsEqualTheHosts) {
  const std::vector<float> x = samples<float>();
  const std::size_t n = x.size(), rows = std::size(unary) + std::size(binary);
  std::vector<float> y(rows * n), z(rows * n);
  module().run("narrow", {.block = {static_cast<std::uint32_t>(n), 1, 1}}, x.data(), y.data(),
               z.data(), static_cast<int>(n));
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < n; ++i) {
      const bool one = row < std::size(unary);
      const float expected =
          one ? unary[row].narrow(x[i]) : binary[row - std::size(unary)].narrow(x[i], x[n - 1 - i]);
      const char* name = one ? unary[row].name : binary[row - std::size(unary)].name;
      // The sign of a maximum of two zeros is not defined.
      if (expected == 0 && y[row * n + i] == 0 && !one) continue;
      EXPECT_TRUE(same(y[row * n + i], expected))
          << name << "f(" << x[i] << ") " << y[row * n + i] << " " << expected;
      EXPECT_TRUE(same(z[row * n + i], expected)) << name << "(" << x[i] << ")";
    }
}

TEST(EmulateMath, DoubleFunctionsEqualTheHosts) {
  const std::vector<double> x = samples<double>();
  const std::size_t n = x.size(), rows = std::size(unary) + std::size(binary);
  std::vector<double> y(rows * n);
  module().run("wide", {.block = {static_cast<std::uint32_t>(n), 1, 1}}, x.data(), y.data(),
               static_cast<int>(n));
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < n; ++i) {
      const bool one = row < std::size(unary);
      const double expected =
          one ? unary[row].wide(x[i]) : binary[row - std::size(unary)].wide(x[i], x[n - 1 - i]);
      if (expected == 0 && y[row * n + i] == 0 && !one) continue;
      EXPECT_TRUE(same(y[row * n + i], expected))
          << (one ? unary[row].name : binary[row - std::size(unary)].name) << "(" << x[i] << ")";
    }
}

// Distance in units of the last place of the expected float.
double ulps(float value, double expected) {
  const float near = static_cast<float>(expected);
  if (value == near || (std::isnan(value) && std::isnan(near))) return 0;
  const double step = std::fabs(double{std::nextafter(near, INFINITY)} - near);
  return std::fabs(value - expected) / step;
}

TEST(EmulateMath, IntrinsicsAreWithinTwoUlps) {
  const std::vector<float> x = {-5.5f, -1.25f, -0.1f, 0.3f, 0.75f, 1.0f, 2.5f, 7.0f};
  std::vector<float> y(20 * x.size());
  module().run("near", {.block = {static_cast<std::uint32_t>(x.size()), 1, 1}}, x.data(), y.data(),
               8);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = x[i], a = std::fabs(v), pi = 3.14159265358979323846;
    const double expected[20] = {std::exp(v),
                                 std::log(a),
                                 std::pow(a, 1.5),
                                 1 / std::sqrt(a),
                                 1 / v,
                                 std::sin(v),
                                 0.5 * std::erfc(-v / std::sqrt(2.0)),
                                 std::sin(pi * v),
                                 std::cos(pi * v),
                                 std::pow(10.0, double{x[i] / 8}),
                                 v / 3,
                                 std::fmin(std::fmax(v, 0), 1),
                                 v * v - v,
                                 double{x[i] * 3.0f} + 1,
                                 std::sin(v),
                                 std::cos(v),
                                 std::fmin(v, 1) + std::fmax(2, v),
                                 std::fmin(v, 0.5) + std::fmax(v, -0.5),
                                 a + v * v + 2,
                                 v < 0 ? 1.0 : 0.0};
    for (std::size_t k = 0; k < 20; ++k) {
      const bool is_zero =
          std::fabs(expected[k]) < 1e-14;  // sin(pi x) is exact in the kernel and not here
      if (is_zero) EXPECT_NEAR(y[20 * i + k], 0, 1e-14) << k << " of " << v;
      else EXPECT_LE(ulps(y[20 * i + k], expected[k]), 2) << k << " of " << v;
    }
  }
}

TEST(EmulateMath, IntegerIntrinsics) {
  std::vector<long long> y(39, -12345);
  module().run("integers", {.block = {1, 1, 1}}, y.data());
  const std::vector<long long> expected = {8,
                                           64,
                                           31,
                                           32,
                                           23,
                                           4,
                                           0,
                                           0x80000000ll,
                                           -1,
                                           2,
                                           0x77553311,
                                           0xff,
                                           0x18,
                                           0xf0000001ll,
                                           7,
                                           10 + 2 * (1 - 1 + 2 + 3),
                                           1 + 255 * 2 + 3,
                                           2,
                                           -2,
                                           3,
                                           -3,
                                           INT32_MAX,
                                           0,
                                           INT64_MIN,
                                           0,
                                           0x3f800000,
                                           0x4000000000000000ll,
                                           2,
                                           -1,
                                           3,
                                           5,
                                           17,
                                           -15,
                                           INT32_MAX,
                                           255,
                                           1,
                                           1,
                                           15,
                                           1};
  ASSERT_EQ(y.size(), expected.size());
  for (std::size_t k = 0; k < y.size(); ++k) EXPECT_EQ(y[k], expected[k]) << k;
}

TEST(EmulateMath, Atomics) {
  int i[8] = {};
  unsigned u[5] = {0xff, 4, 1, 2, 0};
  unsigned long long l[2] = {1, 3};
  float f[3] = {1, 0, 2};
  double d[1] = {1};
  module().run("atomics", {.block = {1, 1, 1}}, &i[0], &u[0], &l[0], &f[0], &d[0]);
  const int ints[8] = {4, -7, 9, 0, 11, 0, 4, 4};
  for (int k = 0; k < 8; ++k) EXPECT_EQ(i[k], ints[k]) << k;
  const unsigned unsigneds[5] = {0xf0, 7, 0xfe, 0, 5};
  for (int k = 0; k < 5; ++k) EXPECT_EQ(u[k], unsigneds[k]) << k;
  EXPECT_EQ(l[0], (1ull << 40) + 1);
  EXPECT_EQ(l[1], 7u);
  EXPECT_EQ(f[0], 1.5f);
  EXPECT_EQ(f[1], 2.0f);
  EXPECT_EQ(f[2], 3.0f);
  EXPECT_EQ(d[0], 1.25);
}

TEST(EmulateMath, TheStandardLibraryMayBeIncludedToo) {
  const EmulatedModule with_library(R"(
#include <cmath>
#include <array>
__global__ void k(float* x) {
  std::array<float, 2> a = {tanhf(x[0]), std::max(x[0], 2.0f)};
  x[0] = a[0] + min(a[1], 1.0f) + exp(0.0f) + std::abs(-1.0f) + __expf(0.0f) + M_PI;
}
__device__ __noinline__ float twice(float x) { return 2 * x; }
__global__ void half_arch(float* x) {
#if __CUDA_ARCH__ >= 800
  asm("nothing");
#endif
  x[0] = twice(x[0]);
}
)",
                                    {"k", "half_arch"});
  float x = 0.5f;
  with_library.run("k", {.block = {1, 1, 1}}, &x);
  EXPECT_NEAR(x, std::tanh(0.5) + 4 + 3.14159265, 1e-6);
  with_library.run("half_arch", {.block = {1, 1, 1}}, &x);
  EXPECT_NEAR(x, 2 * (std::tanh(0.5) + 4 + 3.14159265), 1e-6);
}

TEST(EmulateMath, AnUnsupportedFeatureInACompiledGroupStopsTheCompiler) {
  try {
    const EmulatedModule bad(
        "__global__ void k() {\n#if __CUDA_ARCH__ >= 700\n  asm(\"nothing\");\n#endif\n}\n", {"k"});
    FAIL() << "it compiled";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("test.cu:3:"), std::string::npos) << error.what();
    EXPECT_NE(
        std::string(error.what()).find("emulation on the CPU does not support inline PTX (asm)"),
        std::string::npos);
  }
}

}  // namespace
}  // namespace tilewright
