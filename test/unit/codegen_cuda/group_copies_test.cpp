// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/group_copies_test.cpp — copies that run ahead beside products of warpgroups, at
// stage Final: threads in any order do as tiles do, and nothing of what is waited for, shown or met
// can be left out unnoticed.
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/analysis/meetings.h"
#include "ir/interpret/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "machine/library.h"
#include "tile_program.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using testing::HasSubstr;

struct GroupLoop {
  const char* name;
  const char* source;
  const char* signature;
  int warps;
  std::vector<std::size_t> inputs;   // elements of each, in f16
  std::size_t results;               // the last buffer, in f32
  std::vector<std::int64_t> depths;  // the numbers that it is called with
  std::vector<const char*> shows;    // parts of the Final kernel
  // Steps that nobody misses, with their numbers: what is shown or met once more before a loop, and
  // products that could start as one.
  std::vector<std::string> unneeded = {};
};

const GroupLoop group_loops[] = {
    {"delayed",
     R"(
@triton.jit
def delayed(a_ptr, b_ptr, c_ptr, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    j = tl.arange(0, K)
    c = tl.zeros((M, N), dtype=tl.float32)
    for first in tl.range(0, k, K, num_stages=3):
        a = tl.load(a_ptr + m[:, None] * k + first + j[None, :])
        b = tl.load(b_ptr + (first + j[:, None]) * N + n[None, :])
        c = tl.dot(a, b, c)
    tl.store(c_ptr + m[:, None] * N + n[None, :], c)
)",
     "*fp16:16, *fp16:16, *fp32:16, i32:16, 64, 32, 32",
     4,
     {64 * 192, 32 * 192},
     64 * 32,
     {0, 32, 64, 192},
     {"\"wait_products\", numbers = [1]", "slots = 4", "_from"}},
    {"two_groups",
     R"(
@triton.jit
def two_groups(a_ptr, b_ptr, c_ptr, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    j = tl.arange(0, K)
    c = tl.zeros((M, N), dtype=tl.float32)
    for first in tl.range(0, k, K, num_stages=2):
        a = tl.load(a_ptr + m[:, None] * k + first + j[None, :], mask=first + j[None, :] < k - 8, other=0.0)
        b = tl.load(b_ptr + (first + j[:, None]) * N + n[None, :])
        c = tl.dot(a, b, c)
    tl.store(c_ptr + m[:, None] * N + n[None, :], c)
)",
     "*fp16:16, *fp16:16, *fp32:16, i32:16, 128, 16, 16",
     8,
     {128 * 80, 16 * 80},
     128 * 16,
     {0, 16, 80},
     {"is = \"ge\"", "\"uniform\""}},
    {"looked_at",
     R"(
@triton.jit
def looked_at(a_ptr, b_ptr, c_ptr, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    j = tl.arange(0, K)
    c = tl.zeros((M, N), dtype=tl.float32)
    top = tl.zeros((M,), dtype=tl.float32)
    for first in tl.range(0, k, K, num_stages=3):
        a = tl.load(a_ptr + m[:, None] * k + first + j[None, :])
        b = tl.load(b_ptr + (first + j[:, None]) * N + n[None, :])
        c = tl.dot(a, b, c)
        top = tl.maximum(top, tl.max(c, 1))
    tl.store(c_ptr + m[:, None] * N + n[None, :], c + top[:, None])
)",
     "*fp16:16, *fp16:16, *fp32:16, i32:16, 64, 16, 16",
     4,
     {64 * 80, 16 * 80},
     64 * 16,
     {0, 16, 80},
     {"\"wait_products\", numbers = [0]"}},
    {"moved_on",
     R"(
@triton.jit
def moved_on(a_ptr, b_ptr, c_ptr, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = (k + tl.arange(0, M)) % M
    n = (k + tl.arange(0, N)) % N
    j = tl.arange(0, K)
    c = tl.zeros((M, N), dtype=tl.float32)
    a_ptrs = a_ptr + m[:, None] * k + j[None, :]
    b_ptrs = b_ptr + j[:, None] + n[None, :] * k
    for first in tl.range(0, tl.cdiv(k, K), num_stages=3):
        a = tl.load(a_ptrs, mask=j[None, :] < k - first * K, other=0.0)
        b = tl.load(b_ptrs, mask=j[:, None] < k - first * K, other=0.0)
        c = tl.dot(a, b, c)
        a_ptrs += K
        b_ptrs += K
    tl.store(c_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], c)
)",
     "*fp16:16, *fp16:16, *fp32:16, i32:16, 64, 16, 32",
     4,
     {64 * 208, 16 * 208},
     64 * 16,
     {0, 16, 208},
     {"\"advanced\""}},
    {"kept_indices",
     R"(
@triton.jit
def kept_indices(a_ptr, b_ptr, c_ptr, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    n = tl.arange(0, N)
    j = tl.arange(0, K)
    n_in = tl.where(n < N - 1, n, 0)
    for tile in range(0, 2):
        m = tile * M + tl.arange(0, M)
        m_in = tl.where(m < 2 * M - 3, m, 0)
        c = tl.zeros((M, N), dtype=tl.float32)
        for first in tl.range(0, tl.cdiv(k, K), num_stages=3):
            depth = first * K + j
            a = tl.load(a_ptr + (m_in[:, None] * k + depth[None, :]), mask=j[None, :] < k - first * K, other=0.0)
            b = tl.load(b_ptr + (depth[:, None] + n_in[None, :] * k), mask=j[:, None] < k - first * K, other=0.0)
            c = tl.dot(a, b, c)
        tl.store(c_ptr + m[:, None] * N + n[None, :], c)
)",
     "*fp16:16, *fp16:16, *fp32:16, i32:16, 64, 16, 32",
     4,
     {128 * 208, 16 * 208},
     128 * 16,
     {0, 16, 208, 128, 160},
     {"\"settled\""},
     {"barrier 2"}},
    {"attention",
     R"(
@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, n, M: tl.constexpr, D: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    d = tl.arange(0, D)
    j = tl.arange(0, N)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    out = tl.zeros((M, D), dtype=tl.float32)
    top = tl.zeros((M,), dtype=tl.float32)
    for first in tl.range(0, n, N, num_stages=3):
        k = tl.load(k_ptr + (2 * first + j[:, None]) * D + d[None, :])
        v = tl.load(v_ptr + (2 * first + j[:, None]) * D + d[None, :])
        s = tl.dot(q, tl.trans(k))
        new_top = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new_top[:, None])
        out = out * tl.exp2(top - new_top)[:, None]
        out = tl.dot(p.to(tl.float16), v, out)
        top = new_top
    tl.store(out_ptr + m[:, None] * D + d[None, :], out)
)",
     "*fp16:16, *fp16:16, *fp16:16, *fp32:16, i32:16, 64, 16, 16",
     4,
     {64 * 16, 32 * 96, 32 * 96},
     64 * 16,
     {0, 16, 96},
     {"\"word_of\""},
     {"show_to_products 0"}},
    {"gradients",
     R"(
@triton.jit
def gradients(q_ptr, k_ptr, g_ptr, out_ptr, queries, M: tl.constexpr, D: tl.constexpr, STEP: tl.constexpr):
    n = tl.arange(0, M)
    d = tl.arange(0, D)
    at = n[:, None] * D + d[None, :]
    ks = tl.load(k_ptr + at)
    dk = tl.zeros([M, D], tl.float32)
    dv = tl.zeros([M, D], tl.float32)
    for start in tl.range(0, queries, STEP, num_stages=2):
        m = 2 * start + tl.arange(0, STEP)
        qs = tl.load(q_ptr + m[:, None] * D + d[None, :])
        gs = tl.load(g_ptr + m[:, None] * D + d[None, :])
        p = tl.exp2(tl.dot(ks, tl.trans(qs)) * 0.01)
        dv = tl.dot(p.to(tl.float16), gs, dv)
        ds = p * tl.dot(ks, tl.trans(gs))
        dk = tl.dot(ds.to(tl.float16), qs, dk)
    tl.store(out_ptr + at, dk + dv)
)",
     "*fp16:16, *fp16:16, *fp16:16, *fp32:16, i32:16, 64, 16, 16",
     4,
     {32 * 96, 64 * 16, 32 * 96},
     64 * 16,
     {0, 16, 96},
     {"\"word_of\""},
     {"show_to_products 0", "commit_products 6", "begin_products 7", "commit_products 12"}},
};

CudaEmitOptions group_options(const GroupLoop& of) {
  return {.target = Target::parse("sm_90a"), .num_warps = of.warps};
}

Memory run_loop(const GroupLoop& of, const ir::Kernel& kernel, std::int64_t depth, unsigned seed) {
  std::vector<Memory> memory;
  for (const std::size_t count : of.inputs)
    memory.push_back(numbers(DType::Float16, count, static_cast<unsigned>(memory.size()) + 1));
  memory.push_back(zeros(DType::Float32, of.results));
  std::vector<ir::InterpretBuffer> buffers;
  std::vector<ir::InterpretArgument> arguments;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    buffers.push_back(
        {.name = "buffer", .data = memory[i].bytes.data(), .bytes = memory[i].bytes.size()});
    arguments.emplace_back(ir::InterpretPointer{static_cast<int>(i), 0});
  }
  arguments.emplace_back(depth);
  ir::InterpretOptions how;
  how.role_seed = seed;
  ir::interpret(kernel, buffers, arguments, how);
  return memory.back();
}

class CudaGroupCopies : public testing::TestWithParam<GroupLoop> {
 protected:
  static TileProgram tiles(const GroupLoop& of) {
    return {of.source, of.name, of.signature, of.warps, "sm_90a"};
  }
  static ir::Kernel program(const GroupLoop& of) {
    const CudaEmitOptions options = group_options(of);
    return final_for_cuda(laid_for_cuda(tiles(of).kernel(), options), options);
  }
};

TEST_P(CudaGroupCopies, ThreadsInAnyOrderDoAsTilesDo) {
  const GroupLoop& of = GetParam();
  const TileProgram source = tiles(of);
  const ir::Kernel kernel = program(of);
  ir::verify(kernel);
  const std::string text = ir::print(kernel);
  EXPECT_THAT(text, HasSubstr("copy_to"));
  EXPECT_THAT(text, HasSubstr("start_product"));
  for (const char* part : of.shows) EXPECT_THAT(text, HasSubstr(part));
  const ir::Kernel read = ir::parse(text);
  ir::verify(read);
  EXPECT_EQ(ir::print(read), text);
  const CudaEmitOptions options = group_options(of);
  EXPECT_EQ(emit_cuda(read, options).text,
            emit_cuda(laid_for_cuda(source.kernel(), options), options).text);
  for (const std::int64_t depth : of.depths) {
    const Memory want = run_loop(of, source.kernel(), depth, 0);
    for (unsigned seed = 0; seed < 2; ++seed) {
      const Memory got = run_loop(of, read, depth, seed);
      for (std::size_t i = 0; i < want.count(); ++i)
        ASSERT_NEAR(got.at(i), want.at(i), 4e-3 * std::max(1.0, std::abs(want.at(i))))
            << "element " << i << ", depth " << depth << ", seed " << seed << "\n"
            << text;
    }
  }
}

// ---- What is taken out is missed

bool is_of_protocol(const ir::Op& op) {
  if (op.facts().is(ir::Family::Sync)) return true;
  const LibraryFunction* function = ir::called_function(op);
  if (function == nullptr) return false;
  const std::set<LibraryKind> steps = {LibraryKind::ShowToProducts, LibraryKind::BeginProducts,
                                       LibraryKind::CommitProducts, LibraryKind::WaitProducts};
  return steps.contains(function->kind);
}

// Takes out the step of the protocol with that number; returns its name, "" where there is none.
std::string take_step(ir::Region& region, std::size_t& number) {
  for (std::size_t i = 0; i < region.ops.size(); ++i) {
    ir::Op& op = *region.ops[i];
    if (is_of_protocol(op) && number-- == 0) {
      region.ops.erase(region.ops.begin() + static_cast<std::ptrdiff_t>(i));
      return op.kind == ir::OpKind::Call ? std::string(op.text("function"))
                                         : std::string(op.facts().name);
    }
    for (ir::Region& inner : op.regions)
      if (std::string name = take_step(inner, number); !name.empty()) return name;
  }
  return "";
}

bool fails(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error&) {
    return true;
  }
  return false;
}

// By the interpreter, and by the verifier then too. That registers are seen by products is a matter
// of the interpreter alone.
TEST_P(CudaGroupCopies, EveryStepOfTheProtocolIsMissed) {
  const GroupLoop& of = GetParam();
  const std::string text = ir::print(program(of));
  std::vector<std::string> unneeded;
  std::size_t count = 0;
  for (;; ++count) {
    ir::Kernel mutant = ir::parse(text);
    std::size_t number = count;
    const std::string name = take_step(mutant.body, number);
    if (name.empty()) break;
    const bool is_reported = fails([&] {
      for (const std::int64_t depth : of.depths)
        for (unsigned seed = 0; seed < 4; ++seed) run_loop(of, mutant, depth, seed);
    });
    const bool is_refused = fails([&] { ir::verify(mutant); }) ||
                            (is_reported && name == name_of(LibraryKind::BeginProducts));
    const std::string step = fmt::format("{} {}", name, count);
    if (!is_reported) unneeded.push_back(step);
    else EXPECT_TRUE(is_refused) << step << " of\n" << text;
  }
  EXPECT_EQ(unneeded, of.unneeded) << text;
  EXPECT_GE(count, 8u) << text;
}

INSTANTIATE_TEST_SUITE_P(All, CudaGroupCopies, testing::ValuesIn(group_loops),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tilewright
