// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/wgmma_test.cpp — products of warpgroups against the interpreter; what is taken out of their protocol is missed by
// the emulation.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/settings.h"
#include "kernel_sources.h"
#include "tile_program.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

bool has(const TileProgram& program, std::string_view text) { return program.text().find(text) != std::string::npos; }

// ---- One product

struct Types {
  const char* name;
  DType a, b, c;
  const char* signature;
  double tolerance;
};
constexpr Types halfs{"f16", DType::Float16, DType::Float16, DType::Float32, "*fp16:16, *fp16:16, *fp32:16", 1e-4};
constexpr Types brains{"bf16", DType::BFloat16, DType::BFloat16, DType::Float32, "*bf16:16, *bf16:16, *fp32:16", 1e-4};
constexpr Types floats{"tf32", DType::Float32, DType::Float32, DType::Float32, "*fp32:16, *fp32:16, *fp32:16", 1e-2};
constexpr Types eighths{"e4m3_e5m2", DType::Float8E4M3, DType::Float8E5M2, DType::Float32, "*fp8e4nv:16, *fp8e5:16, *fp32:16", 1e-4};
constexpr Types bytes{"i8", DType::Int8, DType::Int8, DType::Int32, "*i8:16, *i8:16, *i32:16", 0};

struct Product {
  Types types;
  int m, n, k;
  int warps;
  bool is_a_transposed = false, is_b_transposed = false;
};
class WgmmaProducts : public ::testing::TestWithParam<Product> {};

TEST_P(WgmmaProducts, AgreeWithTheInterpreter) {
  const Product& p = GetParam();
  const TileProgram program(one_product, "product",
                            fmt::format("{}, {}, {}, {}, {}, {}, {}, {}", p.types.signature, p.m, p.n, p.k, p.is_a_transposed ? 1 : p.k,
                                        p.is_a_transposed ? p.m : 1, p.is_b_transposed ? 1 : p.n, p.is_b_transposed ? p.k : 1),
                            p.warps);
  show(program);
  EXPECT_TRUE(has(program, fmt::format("_{}", p.types.name))) << program.text();
  EXPECT_TRUE(has(program, "tw::wgmma_n")) << program.text();
  EXPECT_FALSE(has(program, "tw::mma_")) << program.text();
  Memory a = numbers(p.types.a, static_cast<std::size_t>(p.m * p.k), 1);
  Memory b = numbers(p.types.b, static_cast<std::size_t>(p.k * p.n), 2);
  Memory c = zeros(p.types.c, static_cast<std::size_t>(p.m * p.n));
  program.expect_same({.arguments = {&a, &b, &c}, .tolerance = p.types.tolerance});
}

INSTANTIATE_TEST_SUITE_P(Cuda, WgmmaProducts,
                         ::testing::Values(Product{halfs, 64, 16, 16, 4}, Product{halfs, 64, 8, 16, 4, false, true}, Product{halfs, 64, 64, 64, 4}, Product{halfs, 128, 32, 32, 4},
                                           Product{halfs, 128, 64, 128, 8}, Product{halfs, 64, 64, 32, 8}, Product{halfs, 64, 256, 16, 4},
                                           Product{halfs, 64, 512, 16, 4}, Product{halfs, 256, 16, 16, 16},
                                           Product{halfs, 64, 64, 64, 4, true, false}, Product{halfs, 128, 64, 32, 4, false, true},
                                           Product{halfs, 128, 128, 64, 8, true, true}, Product{brains, 64, 128, 64, 4},
                                           Product{floats, 64, 32, 32, 4, false, true}, Product{eighths, 64, 32, 64, 4, false, true},
                                           Product{eighths, 128, 16, 128, 8, false, true}, Product{bytes, 64, 32, 64, 4, false, true},
                                           Product{bytes, 64, 64, 128, 4, false, true}));

// Lines across the depth are for 16 bits alone: the others are made by a warp's instructions.
TEST(Wgmma, BytesAcrossTheDepthAreOfWarps) {
  for (const Types& types : {floats, eighths, bytes}) {
    const TileProgram program(one_product, "product", fmt::format("{}, 64, 32, 64, 64, 1, 32, 1", types.signature), 4);
    EXPECT_FALSE(has(program, "wgmma")) << program.text();
    EXPECT_TRUE(has(program, "tw::mma_")) << program.text();
    Memory a = numbers(types.a, 64 * 64, 1), b = numbers(types.b, 64 * 32, 2), c = zeros(types.c, 64 * 32);
    program.expect_same({.arguments = {&a, &b, &c}, .tolerance = types.tolerance});
  }
}

TEST(Wgmma, FewRowsFewWarpsAndOtherMachinesHaveNone) {
  const auto text = [](const char* sizes, int warps, const char* target) {
    return TileProgram(one_product, "product", fmt::format("{}, {}", halfs.signature, sizes), warps, target).text();
  };
  EXPECT_EQ(text("32, 32, 32, 32, 1, 32, 1", 4, "sm_90a").find("wgmma"), std::string::npos);
  EXPECT_EQ(text("64, 32, 32, 32, 1, 32, 1", 2, "sm_90a").find("wgmma"), std::string::npos);
  for (const char* target : {"sm_80", "sm_90"}) EXPECT_EQ(text("64, 32, 32, 32, 1, 32, 1", 4, target).find("wgmma"), std::string::npos);
}

// Tiles that are loaded by one loop stand in one order: of bytes that is none for one of them, and warps make the product.
TEST(Wgmma, WarpsMakeWhatNoDescriptorSays) {
  for (const Types& types : {eighths, bytes, floats}) {
    const TileProgram program(one_product, "product", fmt::format("{}, 64, 64, 64, 64, 1, 1, 64", types.signature), 4);
    show(program);
    EXPECT_FALSE(has(program, "tw::wgmma_n")) << program.text();
    Memory a = numbers(types.a, 64 * 64, 1), b = numbers(types.b, 64 * 64, 2), c = zeros(types.c, 64 * 64);
    program.expect_same({.arguments = {&a, &b, &c}, .tolerance = types.tolerance});
  }
}

// ---- Operands that are computed

// Both are computed once and lie in shared memory.
TEST(Wgmma, ComputedOperands) {
  const TileProgram program(R"(
@triton.jit
def scaled(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    a = (a.to(tl.float32) * 0.5 + 1.0).to(tl.float16)
    b = (b.to(tl.float32) * (1.0 + k[:, None])).to(tl.float16)
    tl.store(c_ptr + m[:, None] * N + n[None, :], tl.dot(a, b))
)",
                            "scaled", "*i8:16, *i8:16, *fp32:16, 128, 32, 64", 4);
  show(program);
  EXPECT_TRUE(has(program, "tw::show_to_products();")) << program.text();
  EXPECT_TRUE(has(program, "tw::wgmma_n32_f16_right_transposed(")) << program.text();
  Memory a = numbers(DType::Int8, 128 * 64, 1), b = numbers(DType::Int8, 64 * 32, 2), c = zeros(f32, 128 * 32);
  program.expect_same({.arguments = {&a, &b, &c}, .tolerance = 1e-3});
}

// One product's result is an operand of the next, on either side.
TEST(Wgmma, ChainsOfProducts) {
  const TileProgram program(R"(
@triton.jit
def chain(a_ptr, b_ptr, c_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    a = tl.load(a_ptr + at)
    b = tl.load(b_ptr + at)
    c = tl.load(c_ptr + at)
    ab = tl.dot(a, b).to(tl.float16)
    left = tl.dot(ab, c)
    right = tl.dot(c, ab)
    tl.store(out_ptr + at, left - right + tl.dot(tl.trans(ab), c))
)",
                            "chain", "*fp16:16, *fp16:16, *fp16:16, *fp32:16, 64", 4);
  show(program);
  Memory a = numbers(f16, 64 * 64, 1), b = numbers(f16, 64 * 64, 2), c = numbers(f16, 64 * 64, 3), out = zeros(f32, 64 * 64);
  program.expect_same({.arguments = {&a, &b, &c, &out}, .tolerance = 2e-2});
}

// ---- Loops

constexpr const char* loop_source = R"(
@triton.jit
def loop(a_ptr, b_ptr, c_ptr, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    j = tl.arange(0, K)
    c = tl.zeros((M, N), dtype=tl.float32)
    for first in range(0, k, K):
        a = tl.load(a_ptr + m[:, None] * k + first + j[None, :])
        b = tl.load(b_ptr + (first + j[:, None]) * N + n[None, :])
        c = tl.dot(a, b, c)
    tl.store(c_ptr + m[:, None] * N + n[None, :], c)
)";

TEST(Wgmma, LoopsLetTheLastProductGoOn) {
  const TileProgram program(loop_source, "loop", "*fp16:16, *fp16:16, *fp32:16, i32:16, 64, 32, 32", 4);
  show(program);
  EXPECT_TRUE(has(program, "tw::wait_products<1>();")) << program.text();
  for (const std::int64_t k : {0, 32, 64, 224}) {
    Memory a = numbers(f16, static_cast<std::size_t>(std::max<std::int64_t>(64 * k, 1)), 1);
    Memory b = numbers(f16, static_cast<std::size_t>(std::max<std::int64_t>(32 * k, 1)), 2);
    Memory c = numbers(f32, 64 * 32, 3);
    program.expect_same({.arguments = {&a, &b, &c, k}, .tolerance = 1e-3});
  }
}

// Rows without a formula and both operands in lines along the depth: pointers are moved on from where they began, and indices
// that cost little are kept all the same.
constexpr const char* turned_source = R"(
@triton.jit
def turned(a_ptr, b_ptr, c_ptr, rows, columns, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, WRAPS: tl.constexpr):
    j = tl.arange(0, K)
    n = tl.arange(0, N)
    for tile in range(tl.program_id(0), tl.cdiv(rows, M), 2):
        m = tile * M + tl.arange(0, M)
        c = tl.zeros((M, N), dtype=tl.float32)
        if WRAPS:
            a_ptrs = a_ptr + (m % rows)[:, None] * k + j[None, :]
            b_ptrs = b_ptr + j[:, None] + (n % columns)[None, :] * k
            for first in range(0, tl.cdiv(k, K)):
                a = tl.load(a_ptrs, mask=j[None, :] < k - first * K, other=0.0)
                b = tl.load(b_ptrs, mask=j[:, None] < k - first * K, other=0.0)
                c = tl.dot(a, b, c)
                a_ptrs += K
                b_ptrs += K
        else:
            m_in = tl.where(m < rows, m, 0)
            n_in = tl.where(n < columns, n, 0)
            for first in range(0, tl.cdiv(k, K)):
                depth = first * K + j
                a = tl.load(a_ptr + (m_in[:, None] * k + depth[None, :]), mask=j[None, :] < k - first * K, other=0.0)
                b = tl.load(b_ptr + (depth[:, None] + n_in[None, :] * k), mask=j[:, None] < k - first * K, other=0.0)
                c = tl.dot(a, b, c)
        tl.store(c_ptr + m[:, None] * columns + n[None, :], c, mask=(m[:, None] < rows) & (n[None, :] < columns))
)";

TEST(Wgmma, PointersOfLinesAlongTheDepthAreMovedOn) {
  for (const int wraps : {0, 1}) {
    const TileProgram program(turned_source, "turned",
                              fmt::format("*fp16:16, *fp16:16, *fp32:16, i32, i32, i32:16, 64, 128, 64, {}", wraps), 4);
    show(program);
    EXPECT_EQ(has(program, "tw::advanced("), wraps == 1) << program.text();
    EXPECT_EQ(has(program, "tw::settled("), wraps == 0) << program.text();
    for (const std::int64_t k : {0, 16, 64, 208}) {
      const std::int64_t rows = 200, columns = 99;
      Memory a = numbers(f16, static_cast<std::size_t>(std::max<std::int64_t>(rows * k, 1)), 1);
      Memory b = numbers(f16, static_cast<std::size_t>(std::max<std::int64_t>(columns * k, 1)), 2);
      Memory c = numbers(f32, static_cast<std::size_t>(rows * columns), 3);
      program.expect_same({.grid = {2, 1, 1}, .arguments = {&a, &b, &c, rows, columns, k}, .tolerance = 1e-3});
    }
  }
}

// The sums are looked at in every round: the product is waited for.
TEST(Wgmma, SumsThatTheLoopReadsAreWaitedFor) {
  const TileProgram program(R"(
@triton.jit
def loop(a_ptr, b_ptr, c_ptr, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    j = tl.arange(0, K)
    c = tl.zeros((M, N), dtype=tl.float32)
    top = tl.zeros((M,), dtype=tl.float32)
    for first in range(0, k, K):
        a = tl.load(a_ptr + m[:, None] * k + first + j[None, :])
        b = tl.load(b_ptr + (first + j[:, None]) * N + n[None, :])
        c = tl.dot(a, b, c)
        top = tl.maximum(top, tl.max(c, 1))
    tl.store(c_ptr + m[:, None] * N + n[None, :], c + top[:, None])
)",
                            "loop", "*fp16:16, *fp16:16, *fp32:16, i32:16, 64, 32, 32", 4);
  EXPECT_FALSE(has(program, "tw::wait_products<1>();")) << program.text();
  Memory a = numbers(f16, 64 * 96, 1), b = numbers(f16, 32 * 96, 2), c = zeros(f32, 64 * 32);
  program.expect_same({.arguments = {&a, &b, &c, std::int64_t{96}}, .tolerance = 1e-3});
}

// Rows of an operand are added up where it is put into shared memory: the function of that sum shows nothing to products.
TEST(Wgmma, RowsOfAnOperandAreAddedUpBesideItsProduct) {
  const TileProgram program(R"(
@triton.jit
def loop(a_ptr, b_ptr, c_ptr, s_ptr, k, S: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    j = tl.arange(0, K)
    c = tl.zeros((M, N), dtype=tl.float32)
    s = tl.zeros((M,), dtype=tl.float32)
    for first in range(0, k, K):
        a = tl.load(a_ptr + m[:, None] * S + first + j[None, :], mask=first + j[None, :] < k, other=0.0)
        b = tl.load(b_ptr + (first + j[:, None]) * N + n[None, :], mask=first + j[:, None] < k, other=0.0)
        c = tl.dot(a, b, c)
        s += tl.sum(a.to(tl.float32), 1)
    tl.store(c_ptr + m[:, None] * N + n[None, :], c)
    tl.store(s_ptr + m, s)
)",
                            "loop", "*fp16:16, *fp16:16, *fp32:16, *fp32:16, i32, 192, 64, 64, 64", 4);
  show(program);
  EXPECT_TRUE(has(program, "tw::show_to_products();")) << program.text();
  Memory a = numbers(f16, 64 * 192, 1), b = numbers(f16, 64 * 192, 2), c = zeros(f32, 64 * 64), s = zeros(f32, 64);
  program.expect_same({.arguments = {&a, &b, &c, &s, std::int64_t{187}}, .tolerance = 1e-3});
}

// Two products of a round, and sums of a smaller type.
TEST(Wgmma, TwoProductsOfARoundAndSmallSums) {
  const TileProgram program(R"(
@triton.jit
def pair(a_ptr, b_ptr, c_ptr, d_ptr, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    j = tl.arange(0, K)
    c = tl.zeros((M, N), dtype=tl.float32)
    d = tl.zeros((M, N), dtype=tl.float16)
    for first in range(0, k, K):
        a = tl.load(a_ptr + m[:, None] * k + first + j[None, :])
        b = tl.load(b_ptr + (first + j[:, None]) * N + n[None, :])
        c = tl.dot(a, b, c)
        d = tl.dot(a, b, d, out_dtype=tl.float16)
    tl.store(c_ptr + m[:, None] * N + n[None, :], c)
    tl.store(d_ptr + m[:, None] * N + n[None, :], d)
)",
                            "pair", "*fp16:16, *fp16:16, *fp32:16, *fp16:16, i32:16, 64, 16, 32", 4);
  show(program);
  Memory a = numbers(f16, 64 * 160, 1), b = numbers(f16, 16 * 160, 2), c = zeros(f32, 64 * 16), d = zeros(f16, 64 * 16);
  program.expect_same({.arguments = {&a, &b, &c, &d, std::int64_t{160}}, .tolerance = 2e-2});
}

// ---- What is taken out is missed

std::string fault_or_difference(const KernelSource& source, const char* kernel, std::vector<Memory>& memory, const Memory& right) {
  const Loaded loaded = load_emulated(source);
  std::vector<Argument> arguments;
  for (Memory& buffer : memory) arguments.emplace_back(static_cast<void*>(buffer.bytes.data()));
  arguments.emplace_back(std::int32_t{192});
  try {
    loaded.function(kernel).launch({.grid = {1}}, arguments);
  } catch (const KernelFault& fault) {
    return fault.what();
  }
  for (std::size_t i = 0; i < right.count(); ++i)
    if (!(std::abs(memory[2].at(i) - right.at(i)) < 1e-2)) return fmt::format("element {} is {}", i, memory[2].at(i));
  return "";
}

TEST(WgmmaHostile, EveryStepOfTheProtocolIsMissed) {
#ifdef TW_SANITIZE
  GTEST_SKIP() << "builds with sanitizers have no checks of shared memory";
#endif
  const TileProgram program(loop_source, "loop", "*fp16:16, *fp16:16, *fp32:16, i32:16, 64, 32, 32", 8);
  const auto fresh = [] { return std::vector<Memory>{numbers(f16, 64 * 192, 1), numbers(f16, 32 * 192, 2), zeros(f32, 64 * 32)}; };
  std::vector<Memory> memory = fresh();
  program.expect_same({.arguments = {&memory[0], &memory[1], &memory[2], std::int64_t{192}}, .tolerance = 1e-3});
  const Memory right = memory[2];

  // The text without a part of it, by what replaces it.
  struct Change {
    const char* from;
    const char* to;
  };
  const Change changes[] = {
      {"tw::show_to_products();", ";"},                        // copies not shown
      {"tw::wait_products<1>();", "tw::wait_products<3>();"},  // a slot is overwritten while it is read
      {"tw::wait_products<0>();", ";"},                        // sums are read before they are there
      {"tw::wait_copies<1>();", "tw::wait_copies<3>();"},      // a slot is read before it is there
      {"__syncthreads();", ";"},                               // or before other threads' copies are
      {"tw::describe<64>", "tw::describe<128>"},               // another width of lines
      {"tw::further(", "tw::further(tw::further("},            // (closed below: one chunk too far)
  };
  for (const Change& change : changes) {
    KernelSource changed = program.source();
    const std::size_t at = changed.text.find(change.from);
    ASSERT_NE(at, std::string::npos) << change.from << "\n" << changed.text;
    changed.text.replace(at, std::string_view(change.from).size(), change.to);
    if (std::string_view(change.from) == "tw::further(") changed.text.insert(changed.text.find(')', at) + 1, ", 1)");
    bool is_missed = false;
    for (std::uint64_t seed = 0; seed < 8 && !is_missed; ++seed) {
      Settings checked = settings();
      checked.emulate_check = true;
      checked.emulate_seed = seed;
      const SettingsOverride with_checks(checked);
      memory = fresh();
      is_missed = !fault_or_difference(changed, "loop", memory, right).empty();
    }
    EXPECT_TRUE(is_missed) << change.from << "\n" << changed.text;
  }
}

}  // namespace
}  // namespace tilewright
