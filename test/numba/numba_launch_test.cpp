// SPDX-License-Identifier: Apache-2.0
// numba/numba_launch_test.cpp — load_numba from C++: launches, specialisations, functions of a
// warp, what the checks of the emulation find.
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/settings.h"
#include "compiler/numba/numba_state.h"
#include "tilewright/tilewright.h"

namespace tilewright {
namespace {

using testing::HasSubstr;

std::string program(const std::string& body) {
  return "import math\nimport numpy as np\nfrom numba import cuda, float32, int32\n\n" + body;
}

const std::string square_text = program(R"(
@cuda.jit
def square(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = x[i] * x[i]
)");

template <class T>
Tensor on_cpu(std::vector<T> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return tensor(values, {count}, Device::cpu());
}

std::string failure(const std::function<void()>& launch) {
  try {
    launch();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(NumbaLaunch, IsCompiledOncePerListOfTypes) {
  const NumbaKernel square = load_numba_source(square_text, "square");
  EXPECT_EQ(square.name(), "square");
  EXPECT_EQ(square.parameters(), (std::vector<std::string>{"x", "y"}));
  const Tensor x = on_cpu<float>({1, 2, 3, 4, 5}), y = zeros({5}, {f32, Device::cpu()});
  for (int i = 0; i < 3; ++i) square[{.grid = 2, .block = 4}](x, y);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1, 4, 9, 16, 25}));
  EXPECT_EQ(square.specializations(), 1u);
  const Tensor d = on_cpu<double>({1, 2, 3, 4, 5}), e = zeros({5}, {f64, Device::cpu()});
  square[{.grid = 1, .block = 8}](d, e);
  square[{.grid = 1, .block = 8}](x.slice(0, 0, 5, 2), y);
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{1, 9, 25, 16, 25}));
  EXPECT_EQ(square.specializations(), 3u);
}

TEST(NumbaLaunch, SeveralThreadsMayLaunchAtOnce) {
  const NumbaKernel square = load_numba_source(square_text, "square");
  std::vector<std::thread> threads;
  std::vector<Tensor> results;
  for (int i = 0; i < 4; ++i) results.push_back(zeros({4}, {f32, Device::cpu()}));
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      const Tensor x = full({4}, i, {f32, Device::cpu()});
      for (int k = 0; k < 10; ++k)
        square[{.grid = 1, .block = 4}](x, results[static_cast<std::size_t>(i)]);
    });
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(results[static_cast<std::size_t>(i)].to_vector<float>(),
              std::vector<float>(4, static_cast<float>(i * i)));
  EXPECT_EQ(square.specializations(), 1u);
}

// The simulator has no warps: sums, votes and neighbours by hand.
TEST(NumbaLaunch, HasTheFunctionsOfAWarp) {
  const NumbaKernel warp = load_numba_source(program(R"(
@cuda.jit
def warp(x, out):
    t = cuda.threadIdx.x
    v = x[t]
    for step in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xffffffff, v, step)
    first = cuda.shfl_sync(0xffffffff, v, 0)
    up = cuda.shfl_up_sync(0xffffffff, x[t], 1)
    other = cuda.shfl_xor_sync(0xffffffff, x[t], 1)
    odd = cuda.ballot_sync(0xffffffff, t % 2 == 1)
    every = cuda.all_sync(0xffffffff, x[t] >= 0)
    some = cuda.any_sync(0xffffffff, x[t] > 30)
    cuda.syncwarp()
    out[0, t] = first
    out[1, t] = up
    out[2, t] = other
    out[3, t] = cuda.popc(odd)
    out[4, t] = (2 if every else 0) + (1 if some else 0)
    out[5, t] = cuda.laneid + cuda.warpsize
    out[6, t] = cuda.clz(int32(t)) * 100 + cuda.ffs(int32(t))
)"),
                                             "warp");
  std::vector<int> values(32);
  for (int i = 0; i < 32; ++i) values[static_cast<std::size_t>(i)] = i;
  const Tensor out = zeros({7, 32}, {i32, Device::cpu()});
  warp[{.grid = 1, .block = 32}](on_cpu<int>(values), out);
  const std::vector<int> got = out.to_vector<int>();
  for (int t = 0; t < 32; ++t) {
    const auto at = [&](int row) { return got[static_cast<std::size_t>(row * 32 + t)]; };
    EXPECT_EQ(at(0), 496);
    EXPECT_EQ(at(1), t == 0 ? 0 : t - 1);
    EXPECT_EQ(at(2), t ^ 1);
    EXPECT_EQ(at(3), 16);
    EXPECT_EQ(at(4), 3);
    EXPECT_EQ(at(5), t + 32);
    EXPECT_EQ(at(6),
              (t == 0 ? 32 : __builtin_clz(static_cast<unsigned>(t))) * 100 + __builtin_ffs(t));
  }
}

TEST(NumbaLaunch, DynamicSharedMemoryIsTheLaunchs) {
  const NumbaKernel turned = load_numba_source(program(R"(
@cuda.jit
def turned(x, out):
    tile = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    out[t] = tile[(t + 5) % cuda.blockDim.x]
)"),
                                               "turned");
  const Tensor x = arange(8, {f32, Device::cpu()}), out = zeros({8}, {f32, Device::cpu()});
  turned[{.grid = 1, .block = 8, .shared_bytes = 32}](x, out);
  EXPECT_EQ(out.to_vector<float>(), (std::vector<float>{5, 6, 7, 0, 1, 2, 3, 4}));
}

TEST(NumbaLaunch, DynamicSharedMemoryHasSlices) {
  const NumbaKernel parts = load_numba_source(program(R"(
@cuda.jit
def parts(out):
    memory = cuda.shared.array(0, int32)
    first = memory[1:3]
    rest = memory[3:]
    for i in range(6):
        memory[i] = i
    first[1] = 20
    rest[0] = 30
    for i in range(6):
        out[i] = memory[i]
    out[6] = len(first)
)"),
                                              "parts");
  const Tensor out = zeros({7}, {i32, Device::cpu()});
  parts[{.grid = 1, .block = 1, .shared_bytes = 24}](out);
  EXPECT_EQ(out.to_vector<int>(), (std::vector<int>{0, 1, 20, 30, 4, 5, 2}));
}

// What Numba's simulator gives for these seeds.
TEST(NumbaLaunch, RandomNumbersAreNumbas) {
  const Tensor states = xoroshiro128p_states(3, 7, 2, Device::cpu());
  EXPECT_EQ(
      states.to_vector<std::uint64_t>(),
      (std::vector<std::uint64_t>{0xdfebdf22d32720eb, 0x18b031b2e4dadd36, 0x4240861316e95e9f,
                                  0x4630e0c5d6f0088e, 0xc289c8a78e5f402d, 0x6c58947d6401425f}));
  const NumbaKernel numbers = load_numba_source(R"(from numba import cuda
from numba.cuda.random import xoroshiro128p_normal_float32 as normal, xoroshiro128p_normal_float64
from numba.cuda.random import xoroshiro128p_uniform_float32, xoroshiro128p_uniform_float64

@cuda.jit
def numbers(states, out):
    i = cuda.grid(1)
    if i < out.shape[1]:
        out[0, i] = xoroshiro128p_uniform_float32(states, i)
        out[1, i] = xoroshiro128p_uniform_float64(states, i)
        out[2, i] = normal(states, i)
        out[3, i] = xoroshiro128p_normal_float64(states, i)
)",
                                                "numbers");
  const std::vector<double> wanted = {0.77965951,  0.09631481,  0.92068326,  0.0544089,
                                      -1.33773301, -1.63057726, -0.44804679, 0.68762373};
  for (const bool emulate : {false, true}) {
    const Tensor out = zeros({4, 2}, {f64, Device::cpu()});
    numbers[{.grid = 1, .block = 4, .emulate = emulate}](
        xoroshiro128p_states(4, 7, 0, Device::cpu()), out);
    const std::vector<double> got = out.to_vector<double>();
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_NEAR(got[i], wanted[i], i / 2 == 2 ? 2e-7 : 6e-9) << i;
  }
}

// Each row is made of the one before, which other threads wrote.
NumbaKernel row_by_row() {
  return load_numba_source(program(R"(
@cuda.jit
def rows(x):
    i = cuda.grid(1)
    g = cuda.cg.this_grid()
    for row in range(1, x.shape[0]):
        x[row, i] = x[row - 1, x.shape[1] - i - 1] + 1
        g.sync()
)"),
                           "rows");
}

TEST(NumbaLaunch, BlocksOfAGpuMeetAtTheGridsBarrier) {
  if (cuda_device_count() == 0) GTEST_SKIP() << why_no_cuda();
  constexpr std::int64_t height = 200, blocks = 64, threads = 128, width = blocks * threads;
  const Tensor x = zeros({height, width}, {i32, Device::cuda()});
  x.select(0, 0).copy_from(arange(width, {i32, Device::cuda()}));
  row_by_row()[{.grid = blocks, .block = threads}](x);
  const std::vector<int> got = x.to_vector<int>();
  for (std::int64_t row = 0; row < height; ++row)
    for (std::int64_t i = 0; i < width; ++i)
      ASSERT_EQ(got[static_cast<std::size_t>(row * width + i)],
                (row % 2 == 0 ? i : width - 1 - i) + row)
          << row << ", " << i;
}

TEST(NumbaLaunch, AGridSynchronisesAsAWhole) {
  const NumbaKernel rows = row_by_row();
  const Tensor x = tensor(std::vector<int>{5, 6, 7, 0, 0, 0, 0, 0, 0}, {3, 3}, Device::cpu());
  rows[{.grid = 1, .block = 3}](x);
  EXPECT_EQ(x.to_vector<int>(), (std::vector<int>{5, 6, 7, 8, 7, 6, 7, 8, 9}));
  EXPECT_THAT(failure([&] { rows[{.grid = 3, .block = 1}](x); }),
              HasSubstr("kernel 'rows' synchronises its whole grid (cuda.cg.this_grid().sync()), "
                        "which a CPU does for a grid of one block only; this one has 3"));
  const numba::Type table = numba::Type::array(DType::Int32, 2, true);
  EXPECT_THAT(numba_source(*rows.state(), {table}, NumbaPlace::Gpu)->text.text,
              HasSubstr("cooperative_groups::this_grid().sync();"));
}

// Types are compared once, and what a launch passes is not looked at again.
TEST(NumbaLaunch, ALaterLaunchWithAnAddressForANumberIsRefused) {
  const NumbaKernel fill = load_numba_source(program(R"(
@cuda.jit
def fill(out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a
)"),
                                             "fill");
  const Tensor out = zeros({2}, {f32, Device::cpu()});
  fill[{.grid = 1, .block = 2}](out, 2.5f);
  EXPECT_EQ(out.to_vector<float>(), (std::vector<float>{2.5f, 2.5f}));
  const float number = 7;
  const Argument address(&number);
  EXPECT_THAT(failure([&] { fill[{.grid = 1, .block = 2}](out, address); }),
              HasSubstr("argument 2 'a' of kernel 'fill' is an address"));
  EXPECT_EQ(out.to_vector<float>(), (std::vector<float>{2.5f, 2.5f}));
}

TEST(NumbaLaunch, MoreParametersThanAreKeptTakeTheLongWay) {
  std::string names, sum;
  for (int i = 0; i < 40; ++i) {
    names += fmt::format(", a{}", i);
    sum += fmt::format("{}a{}", i == 0 ? "" : " + ", i);
  }
  const NumbaKernel total = load_numba_source(
      program(fmt::format("\n@cuda.jit\ndef total(out{}):\n    out[0] = {}\n", names, sum)),
      "total");
  const Tensor out = zeros({1}, {i64, Device::cpu()});
  std::vector<NumbaArgument> arguments{out};
  for (std::int64_t i = 0; i < 40; ++i) arguments.emplace_back(i);
  for (int repeat = 0; repeat < 2; ++repeat) total.launch({.grid = 1, .block = 1}, arguments);
  EXPECT_EQ(out.item<std::int64_t>(), 780);
}

TEST(NumbaLaunch, NumbersHaveTheTypeOfTheSignature) {
  const NumbaKernel scaled = load_numba_source(program(R"py(
@cuda.jit("void(float64[:], float32, int32)")
def scaled(out, a, n):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * n
)py"),
                                               "scaled");
  const Tensor out = zeros({1}, {f64, Device::cpu()});
  scaled[{.grid = 1, .block = 1}](out, 0.1, std::int64_t{3});
  EXPECT_EQ(out.item<double>(), static_cast<double>(0.1f) * 3);
  const Tensor wrong = zeros({1}, {f32, Device::cpu()});
  EXPECT_THAT(failure([&] { scaled[{.grid = 1, .block = 1}](wrong, 0.1, 3); }),
              HasSubstr("argument 1 'out' of kernel 'scaled' is array(float32, 1d, C), and its "
                        "decorator says array(float64, 1d, A)"));
}

// ---- Findings of the checks, with the line of the Python file.

struct Checked : testing::Test {
  void SetUp() override {
#ifdef TW_SANITIZE
    GTEST_SKIP() << "sanitizers leave no room for the checks of the emulation";
#endif
  }
  Settings with_checks() {
    Settings changed = settings();
    changed.emulate_check = true;
    return changed;
  }
  SettingsOverride checks{with_checks()};
};

TEST_F(Checked, ARaceInSharedMemoryNamesBothLines) {
  const NumbaKernel race = load_numba_source(program(R"(
@cuda.jit
def race(x, out):
    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    out[t] = tile[31 - t]
)"),
                                             "race");
  const Tensor x = arange(32, {f32, Device::cpu()}), out = zeros({32}, {f32, Device::cpu()});
  const std::string message =
      failure([&] { race[{.grid = 1, .block = 32, .emulate = true}](x, out); });
  EXPECT_THAT(message, HasSubstr("tile"));
  EXPECT_THAT(message, HasSubstr("line 11"));
}

TEST_F(Checked, ABarrierThatSomeThreadsMissIsFound) {
  const NumbaKernel missed = load_numba_source(program(R"(
@cuda.jit
def missed(out):
    t = cuda.threadIdx.x
    if t < 16:
        cuda.syncthreads()
    else:
        cuda.syncthreads()
    out[t] = t
)"),
                                               "missed");
  const Tensor out = zeros({32}, {f32, Device::cpu()});
  const std::string message =
      failure([&] { missed[{.grid = 1, .block = 32, .emulate = true}](out); });
  EXPECT_THAT(message, HasSubstr("line 10"));
  EXPECT_THAT(message, HasSubstr("line 12"));
}

TEST_F(Checked, AnAccessOutsideOfAnArrayNamesItsLine) {
  const NumbaKernel outside = load_numba_source(program(R"(
@cuda.jit
def outside(x, out):
    i = cuda.grid(1)
    out[i] = x[i + 1000]
)"),
                                                "outside");
  const Tensor x = arange(32, {f32, Device::cpu()}), out = zeros({32}, {f32, Device::cpu()});
  EXPECT_THAT(failure([&] { outside[{.grid = 1, .block = 32, .emulate = true}](x, out); }),
              HasSubstr("line 9"));
}

}  // namespace
}  // namespace tilewright
