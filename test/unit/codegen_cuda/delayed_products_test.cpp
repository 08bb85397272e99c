// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/delayed_products_test.cpp — attention with P x V a round later: the same bits, and
// what is taken out of its waits is missed by the emulation.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/settings.h"
#include "kernel_sources.h"
#include "tile_program.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

TileProgram attention(int size, int warps, const char* extra, const char* type = "fp16") {
  Settings changed = settings();
  changed.extra_passes = extra;
  changed.skipped_passes = "widen_loops";  // rounds as the source has them: the same bits
  const SettingsOverride with_passes(changed);
  std::string source = attention_source;
  if (std::string_view(type) == "bf16")
    for (std::size_t at = 0; (at = source.find("tl.float16", at)) != std::string::npos;)
      source.replace(at, 10, "tl.bfloat16");
  return TileProgram(source, "attention_kernel",
                     fmt::format("*{0}:16, *{0}:16, *{0}:16, *{0}:16, i32:16, {1}", type, size),
                     warps);
}

std::vector<Memory> tensors(DType dtype, int size, int keys) {
  const auto rows = static_cast<std::size_t>(size * size),
             all = static_cast<std::size_t>(size * keys);
  return {numbers(dtype, rows, 1), numbers(dtype, all, 2), numbers(dtype, all, 3),
          zeros(dtype, rows)};
}

struct Shape {
  int size, warps;
  const char* type;
  DType dtype;
};
void PrintTo(const Shape& shape, std::ostream* out) {
  *out << fmt::format("{} of {} by {} warps", shape.type, shape.size, shape.warps);
}
class DelayedProducts : public ::testing::TestWithParam<Shape> {};

TEST_P(DelayedProducts, GiveTheSameBits) {
  const Shape& shape = GetParam();
  const TileProgram plain = attention(shape.size, shape.warps, "", shape.type);
  const TileProgram delayed = attention(shape.size, shape.warps, "delay_products", shape.type);
  show(delayed);
  EXPECT_EQ(count_of(plain.text(), "tw::wait_products<1>();"), 0) << plain.text();
  EXPECT_EQ(count_of(delayed.text(), "tw::wait_products<1>();"), 1) << delayed.text();
  EXPECT_EQ(count_of(delayed.text(), "tw::compute_before_waiting("), 1) << delayed.text();
  for (const int rounds : {1, 2, 5}) {
    const int keys = rounds * shape.size;
    std::vector<Memory> a = tensors(shape.dtype, shape.size, keys), b = a;
    plain.expect_same(
        {.arguments = {&a[0], &a[1], &a[2], &a[3], std::int64_t{keys}}, .tolerance = 2e-2});
    delayed.expect_same(
        {.arguments = {&b[0], &b[1], &b[2], &b[3], std::int64_t{keys}}, .tolerance = 2e-2});
    EXPECT_EQ(a[3].bytes, b[3].bytes) << rounds;
  }
}

INSTANTIATE_TEST_SUITE_P(Cuda, DelayedProducts,
                         ::testing::Values(Shape{64, 4, "fp16", DType::Float16},
                                           Shape{64, 4, "bf16", DType::BFloat16},
                                           Shape{128, 8, "fp16", DType::Float16}));

// Two warpgroups read all of P: neither writes the next one before the other has waited.
TEST(CudaDelayedProducts, WarpgroupsThatShareAnOperandMeet) {
  Settings changed = settings();
  changed.extra_passes = "delay_products";
  const SettingsOverride with_passes(changed);
  const TileProgram program(R"(
@triton.jit
def shared(q, k, v, out, keys):
    m = tl.arange(0, 64)
    d = tl.arange(0, 32)
    left = tl.load(q + m[:, None] * 32 + d[None, :])
    acc = tl.zeros([64, 32], tl.float32)
    sum = tl.zeros([64], tl.float32)
    high = tl.zeros([64], tl.float32) - 3.0
    for start in range(0, keys, 32):
        n = start + tl.arange(0, 32)
        k_tile = tl.load(k + n[:, None] * 32 + d[None, :])
        v_tile = tl.load(v + n[:, None] * 32 + d[None, :])
        x = tl.dot(left, tl.trans(k_tile))
        next = tl.maximum(high, tl.max(x, 1))
        shrink = tl.exp2(high - next)
        p = tl.exp2(x - next[:, None])
        sum = sum * shrink + tl.sum(p, 1)
        acc = acc * shrink[:, None]
        acc = tl.dot(p.to(tl.float16), v_tile, acc)
        high = next
    tl.store(out + m[:, None] * 32 + d[None, :], acc / sum[:, None])
)",
                            "shared", "*fp16:16, *fp16:16, *fp16:16, *fp32:16, i32:16", 8);
  show(program);
  EXPECT_GE(count_of(program.text(), "tw::wait_products<1>();"), 1) << program.text();
  Memory q = numbers(DType::Float16, 64 * 32, 1), k = numbers(DType::Float16, 96 * 32, 2),
         v = numbers(DType::Float16, 96 * 32, 3), out = zeros(DType::Float32, 64 * 32);
  program.expect_same({.arguments = {&q, &k, &v, &out, std::int64_t{96}}, .tolerance = 2e-2});
}

// The carried sums begin with any numbers, and a loop without rounds leaves them: nothing is added
// to -0 either.
TEST(DelayedProduct, LoopsWithoutRoundsLeaveTheSums) {
  Settings changed = settings();
  changed.extra_passes = "delay_products";
  const SettingsOverride with_passes(changed);
  const TileProgram program(R"(
@triton.jit
def sums(q_ptr, k_ptr, v_ptr, out_ptr, keys, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    q = tl.load(q_ptr + at)
    out = tl.load(out_ptr + at)
    for first in range(0, keys, N):
        scores = tl.dot(q, tl.load(k_ptr + first * N + at))
        out = tl.dot(tl.maximum(scores, 0.0).to(tl.float16), tl.load(v_ptr + first * N + at), out * 0.5)
    tl.store(out_ptr + at, out)
)",
                            "sums", "*fp16:16, *fp16:16, *fp16:16, *fp32:16, i32:16, 64");
  show(program);
  EXPECT_EQ(count_of(program.text(), "tw::wait_products<1>();"), 1) << program.text();
  for (const int keys : {0, 64, 192}) {
    std::vector<Memory> memory = tensors(f16, 64, std::max(keys, 64));
    memory[3] = numbers(f32, 64 * 64, 4);
    const Memory before = memory[3];
    program.expect_same(
        {.arguments = {&memory[0], &memory[1], &memory[2], &memory[3], std::int64_t{keys}},
         .tolerance = 1e-2});
    EXPECT_EQ(memory[3].bytes == before.bytes, keys == 0);
  }
}

// Products whose operands have another use, or that are not made from each other, stay where they
// are.
TEST(DelayedProduct, OthersStay) {
  Settings changed = settings();
  changed.extra_passes = "delay_products";
  const SettingsOverride with_passes(changed);
  const char* source = R"(
@triton.jit
def loop(q_ptr, k_ptr, out_ptr, keys, WAY: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    q = tl.load(q_ptr + at)
    out = tl.zeros((N, N), dtype=tl.float32)
    for first in range(0, keys, N):
        k = tl.load(k_ptr + first * N + at)
        s = tl.dot(q, k)
        if WAY == 0:
            out = tl.dot(s.to(tl.float16), k, out)
        else:
            out = tl.dot(q, tl.load(k_ptr + first * N + tl.trans(at)), out * 0.5) + s
    tl.store(out_ptr + at, out)
)";
  for (const int way : {0, 1}) {
    const TileProgram program(source, "loop",
                              fmt::format("*fp16:16, *fp16:16, *fp32:16, i32:16, {}, 64", way));
    EXPECT_EQ(count_of(program.text(), "tw::wait_products<1>();"), 0) << program.text();
  }
}

// ---- What is taken out is missed

void launch(const KernelSource& source, std::vector<Memory>& memory) {
  const Loaded loaded = load_emulated(source);
  std::vector<Argument> arguments;
  for (Memory& buffer : memory) arguments.emplace_back(static_cast<void*>(buffer.bytes.data()));
  arguments.emplace_back(std::int32_t{256});
  loaded.function("attention_kernel").launch({.grid = {1}}, arguments);
}

std::string fault_or_difference(const KernelSource& source, std::vector<Memory>& memory,
                                const Memory& right) {
  try {
    launch(source, memory);
  } catch (const KernelFault& fault) {
    return fault.what();
  }
  for (std::size_t i = 0; i < right.count(); ++i)
    if (!(std::abs(memory[3].at(i) - right.at(i)) < 1e-2))
      return fmt::format("element {} is {}", i, memory[3].at(i));
  return "";
}

// The first round has no product before it: an infinite element that it loads must not meet the
// zeros that stand for one.
TEST(DelayedProduct, TheFirstRoundAddsNothing) {
  const auto with_infinity = [] {
    std::vector<Memory> memory = tensors(f16, 64, 256);
    memory[2].bytes[0] = 0x00;
    memory[2].bytes[1] = 0x7c;
    return memory;
  };
  std::vector<Memory> plain = with_infinity(), delayed = with_infinity(), changed = with_infinity();
  launch(attention(64, 4, "").source(), plain);
  KernelSource source = attention(64, 4, "delay_products").source();
  launch(source, delayed);
  EXPECT_EQ(plain[3].bytes, delayed[3].bytes);
  constexpr std::string_view is_copied = ", false);";
  ASSERT_NE(source.text.find(is_copied), std::string::npos) << source.text;
  source.text.replace(source.text.find(is_copied), is_copied.size(), ", true);");
  launch(source, changed);
  EXPECT_NE(plain[3].bytes, changed[3].bytes);
}

TEST(DelayedProductHostile, EveryWaitIsMissed) {
#ifdef TW_SANITIZE
  GTEST_SKIP() << "builds with sanitizers have no checks of shared memory";
#endif
  const TileProgram program = attention(64, 4, "delay_products");
  std::vector<Memory> memory = tensors(f16, 64, 256);
  program.expect_same(
      {.arguments = {&memory[0], &memory[1], &memory[2], &memory[3], std::int64_t{256}},
       .tolerance = 2e-2});
  const Memory right = memory[3];
  const std::pair<const char*, const char*> changes[] = {
      {"tw::wait_products<1>();",
       "tw::wait_products<2>();"},       // scores are read before they are there
      {"tw::wait_products<0>();", ";"},  // sums are scaled while they are added to
      {"slot_before = slot_2", "slot_before = 1 + slot_2"},  // the slot of another round
  };
  for (const auto& [from, to] : changes) {
    KernelSource changed = program.source();
    const std::size_t at = changed.text.find(from);
    ASSERT_NE(at, std::string::npos) << from << "\n" << changed.text;
    changed.text.replace(at, std::string_view(from).size(), to);
    bool is_missed = false;
    for (std::uint64_t seed = 0; seed < 8 && !is_missed; ++seed) {
      Settings checked = settings();
      checked.emulate_check = true;
      checked.emulate_seed = seed;
      const SettingsOverride with_checks(checked);
      memory = tensors(f16, 64, 256);
      is_missed = !fault_or_difference(changed, memory, right).empty();
    }
    EXPECT_TRUE(is_missed) << from << "\n" << changed.text;
  }
}

}  // namespace
}  // namespace tilewright
