// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/shapes_test.cpp — programs that share a block, programs that are spread over a
// cluster, and which of these is chosen.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/cuda/program_shape.h"
#include "kernel_sources.h"
#include "runtime/compile.h"
#include "runtime/cuda/cubin.h"
#include "runtime/cuda/nvrtc_api.h"
#include "tile_program.h"

namespace tilewright {
namespace {

const Target h200 = Target::parse("sm_90a");

bool has(const TileProgram& program, std::string_view text) {
  return program.text().find(text) != std::string::npos;
}

std::string shape_text(const TileProgram& program) {
  const ProgramShape shape =
      choose_shapes(program.kernel(), {.target = h200, .chooses_shape = true}).front();
  return fmt::format("{} warps, {} programs, {} blocks{}", shape.warps, shape.programs,
                     shape.blocks, shape.stows_row ? ", shared memory" : "");
}

std::string softmax_shape(const char* dtype, int columns) {
  return shape_text(
      TileProgram(softmax_source, "softmax_kernel",
                  fmt::format("*{0}:16, *{0}:16, i32:16, i32:16, {1}", dtype, columns)));
}

TEST(CudaShapes, FollowTheLengthOfRows) {
  EXPECT_EQ(softmax_shape("fp32", 256), "1 warps, 4 programs, 1 blocks");
  EXPECT_EQ(softmax_shape("fp32", 1024), "4 warps, 1 programs, 1 blocks");
  EXPECT_EQ(softmax_shape("fp32", 16384), "16 warps, 1 programs, 1 blocks");
  EXPECT_EQ(softmax_shape("fp32", 32768), "32 warps, 1 programs, 1 blocks");
  EXPECT_EQ(softmax_shape("fp32", 131072), "16 warps, 1 programs, 8 blocks, shared memory");
  EXPECT_EQ(softmax_shape("bf16", 512), "1 warps, 4 programs, 1 blocks");
  EXPECT_EQ(softmax_shape("bf16", 1024), "2 warps, 1 programs, 1 blocks");
  EXPECT_EQ(softmax_shape("bf16", 4096), "8 warps, 1 programs, 1 blocks");
  EXPECT_EQ(softmax_shape("bf16", 16384), "8 warps, 1 programs, 1 blocks");
  EXPECT_EQ(softmax_shape("bf16", 32768), "16 warps, 1 programs, 1 blocks, shared memory");
  EXPECT_EQ(softmax_shape("bf16", 131072), "16 warps, 1 programs, 4 blocks, shared memory");
}

// Rows that begin anywhere want fewer threads.
TEST(CudaShapes, FollowTheAlignmentOfRows) {
  const auto shape = [](int columns) {
    return shape_text(TileProgram(softmax_source, "softmax_kernel",
                                  fmt::format("*bf16:16, *bf16:16, i32, i32, {}", columns)));
  };
  EXPECT_EQ(shape(1024), "1 warps, 4 programs, 1 blocks");
  EXPECT_EQ(shape(8192), "4 warps, 1 programs, 1 blocks");
}

TEST(CudaShapes, ElementwiseWorkKeepsItsWarps) {
  const TileProgram program(gelu_source, "gelu_kernel", "*fp32:16, *fp32:16, i32, 1024");
  EXPECT_EQ(shape_text(program), "4 warps, 1 programs, 1 blocks");
}

TEST(CudaShapes, LocksAreHeldByManyThreads) {
  const auto shape = [](int block) {
    return shape_text(TileProgram(R"(
@triton.jit
def locked(lock_ptr, sum_ptr, x_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + i)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(sum_ptr + i, tl.load(sum_ptr + i) + x)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)
)",
                                  "locked", fmt::format("*i32:16, *fp32:16, *fp32:16, {}", block)));
  };
  EXPECT_EQ(shape(512), "4 warps, 1 programs, 1 blocks");
  EXPECT_EQ(shape(4096), "8 warps, 1 programs, 1 blocks");
}

TEST(CudaShapes, AreThoseThatWereAskedFor) {
  const TileProgram program(softmax_source, "softmax_kernel",
                            "*fp32:16, *fp32:16, i32:16, i32:16, 4096", 2);
  EXPECT_EQ(choose_shapes(program.kernel(), {.target = h200, .num_warps = 2}),
            (std::vector<ProgramShape>{{.warps = 2, .lanes = 32}}));
  // Products keep their warps.
  const TileProgram product(R"(
@triton.jit
def square(x_ptr, out_ptr):
    i = tl.arange(0, 32)[:, None] * 32 + tl.arange(0, 32)[None, :]
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, tl.dot(x, x))
)",
                            "square", "*fp16:16, *fp32:16");
  EXPECT_EQ(shape_text(product), "4 warps, 1 programs, 1 blocks");
}

// The compiler's own option has no effect on kernels that say how many threads they have.
TEST(CudaShapes, RegistersAreLimitedByTheBlocksThatMustFit) {
  constexpr const char* copy = R"(
@triton.jit
def copy(x, y):
    i = tl.arange(0, 1024)
    tl.store(y + i, tl.load(x + i))
)";
  const TileProgram program(copy, "copy", "*fp32:16, *fp32:16", 8);
  const auto limited = [&](int registers) {
    return program.with({.target = h200, .num_warps = 8, .max_registers = registers});
  };
  EXPECT_TRUE(has(program, "__launch_bounds__(256) "));
  EXPECT_TRUE(has(limited(64), "__launch_bounds__(256, 4) ")) << limited(64).text();
  EXPECT_TRUE(has(limited(40), "__launch_bounds__(256, 6) "));
  EXPECT_TRUE(has(limited(8), "__launch_bounds__(256, 8) "));  // no more threads fit
}

// Each of these steps is some 500 instructions when one warp does it all.
// 64 elements are those of two warps: two more would load what those two store, behind barriers.
TEST(CudaShapes, WarpsWithoutElementsAreDropped) {
  constexpr const char* turn = R"(
@triton.jit
def turn(x, n, N: tl.constexpr):
    i = tl.arange(0, N)
    for row in range(0, n):
        a = tl.load(x + row * 2 * N + i)
        b = tl.load(x + row * 2 * N + N + i)
        tl.store(x + row * 2 * N + i, a - b)
        tl.store(x + row * 2 * N + N + i, a + b)
)";
  const TileProgram program(turn, "turn", "*fp32:16, i32, 64", 4);
  EXPECT_TRUE(has(program, "__syncthreads")) << program.text();
  const TileProgram dropped = program.with({.target = h200, .num_warps = 4, .drops_warps = true});
  EXPECT_TRUE(has(dropped, "__launch_bounds__(64)")) << dropped.text();
  EXPECT_FALSE(has(dropped, "__syncthreads")) << dropped.text();
  Memory x = numbers(DType::Float32, 5 * 128, 1);
  dropped.expect_same({.arguments = {&x, std::int64_t{5}}});
  const auto warps_of = [](const char* source, const char* name, const char* signature, int asked) {
    const TileProgram all(source, name, signature, asked);
    return choose_shapes(all.kernel(), {.target = h200, .num_warps = asked, .drops_warps = true})
        .front()
        .warps;
  };
  EXPECT_EQ(warps_of(turn, "turn", "*fp32:16, i32, 16", 4), 4);  // less than a warp has
  EXPECT_EQ(warps_of(turn, "turn", "*fp32:16, i32, 32", 8), 1);
  EXPECT_EQ(warps_of(turn, "turn", "*fp32:16, i32, 128", 4), 4);
  EXPECT_EQ(warps_of(product_source, "product_kernel", "*fp16:16, *fp16:16, *fp16:16, i32, 16", 16),
            16);
  constexpr const char* own = R"(
@triton.jit
def own(x, N: tl.constexpr):
    i = tl.arange(0, N)
    t = tl.inline_asm_elementwise("mov.u32 $0, %ntid.x;", "=r,r", [i], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(x + i, t)
)";
  EXPECT_EQ(warps_of(own, "own", "*i32:16, 32", 4), 4);
}

// Each thread has a whole vector where each element is worked on by itself, and programs of few
// warps share a block.
TEST(CudaShapes, ThreadsHaveWholeVectors) {
  const char* const source = R"(
@triton.jit
def gather_rows(x_ptr, index_ptr, out_ptr, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)[None, :]
    at = tl.load(index_ptr + row, mask=row < n, other=0)
    x = tl.load(x_ptr + at[:, None] * COLUMNS + column, mask=row[:, None] < n, other=0.0)
    tl.store(out_ptr + row[:, None] * COLUMNS + column, x, mask=row[:, None] < n)
)";
  const auto program = [&](const char* type, int rows, int columns, int warps) {
    return TileProgram(source, "gather_rows",
                       fmt::format("*{0}:16, *i32:16, *{0}:16, i32, {1}, {2}", type, rows, columns),
                       warps);
  };
  const auto shape = [&](const char* type, int rows, int columns, int warps) {
    const ProgramShape chosen =
        choose_shapes(program(type, rows, columns, warps).kernel(),
                      {.target = h200, .num_warps = warps, .drops_warps = true})
            .front();
    return fmt::format("{} warps, {} programs", chosen.warps, chosen.programs);
  };
  EXPECT_EQ(shape("fp16", 4, 256, 16), "4 warps, 1 programs");
  EXPECT_EQ(shape("fp32", 4, 256, 32), "8 warps, 1 programs");
  EXPECT_EQ(shape("fp32", 4, 256, 16), "16 warps, 1 programs");  // eight bytes each
  EXPECT_EQ(shape("fp16", 4, 256, 2), "2 warps, 1 programs");
  EXPECT_EQ(shape("fp32", 1, 256, 8), "2 warps, 2 programs");
  EXPECT_EQ(shape("fp16", 1, 128, 4), "1 warps, 4 programs");
  for (const int rows : {4, 2, 1}) {
    const TileProgram given = program("fp16", rows, 128, 8);
    const TileProgram less = given.with({.target = h200, .num_warps = 8, .drops_warps = true});
    EXPECT_NE(given.text(), less.text());
    for (const std::int64_t n : {std::int64_t{3} * rows - 1, std::int64_t{3} * rows}) {
      Memory x = numbers(DType::Float16, 12 * 128, 1), out = zeros(DType::Float16, 12 * 128);
      Memory index = zeros(DType::Int32, 12);
      for (std::size_t i = 0; i < 12; ++i) index.set(i, static_cast<double>((i * 5 + 3) % 12));
      less.expect_same({.grid = {3, 1, 1}, .arguments = {&x, &index, &out, n}});
    }
  }
}

// Where programs cannot share a block, as before: only warps without elements are dropped.
TEST(CudaShapes, WarpsOfVectorsMayBeRefused) {
  const TileProgram program = TileProgram(R"(
@triton.jit
def turned(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + tl.program_id(0) * N + i)
    tl.store(out_ptr + tl.program_id(0) * N + i, x)
    tl.debug_barrier()
    tl.store(x_ptr + tl.program_id(0) * N + i, tl.load(out_ptr + tl.program_id(0) * N + N - 1 - i))
)",
                                          "turned", "*fp32:16, *fp32:16, 64", 4)
                                  .with({.target = h200, .num_warps = 4, .drops_warps = true});
  EXPECT_FALSE(has(program, "programs")) << program.text();
  EXPECT_TRUE(has(program, "__launch_bounds__(64)")) << program.text();
  Memory x = numbers(DType::Float32, 3 * 64, 1), out = zeros(DType::Float32, 3 * 64);
  program.expect_same({.grid = {3, 1, 1}, .arguments = {&x, &out}});
}

TEST(CudaShapes, TextsThatAreTooLongGetMoreWarps) {
  const TileProgram product(R"(
@triton.jit
def powers(x_ptr, out_ptr):
    i = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]
    x = tl.load(x_ptr + i)
    y = x
    for step in tl.static_range(40):
        y = tl.dot(x, y) * step
    tl.store(out_ptr + i, y)
)",
                            "powers", "*fp32:16, *fp32:16", 1);
  EXPECT_EQ(choose_shapes(product.kernel(), {.target = h200, .num_warps = 1}),
            (std::vector<ProgramShape>{{.warps = 4, .lanes = 32}, {.warps = 1, .lanes = 32}}));
  EXPECT_EQ(choose_shapes(product.kernel(), {.target = h200, .num_warps = 4}),
            (std::vector<ProgramShape>{{.warps = 4, .lanes = 32}}));
  EXPECT_TRUE(has(product, "__launch_bounds__(128)"));
}

void expect_softmax(const TileProgram& program, std::int64_t rows, std::int64_t columns) {
  Memory out = zeros(DType::Float32, static_cast<std::size_t>(rows * columns));
  Memory x = numbers(DType::Float32, out.count(), 3);
  program.expect_same(
      {.grid = {rows, 1, 1}, .arguments = {&out, &x, columns, columns}, .tolerance = 1e-6});
}

// Few programs have a block each; of many the last block is not full.
TEST(CudaShapes, ProgramsShareABlock) {
  const TileProgram one(softmax_source, "softmax_kernel", "*fp32:16, *fp32:16, i32, i32, 128", 1);
  const TileProgram program = one.with({.target = h200, .chooses_shape = true});
  EXPECT_TRUE(has(program, "const int thread = int(threadIdx.x) % 32;")) << program.text();
  EXPECT_TRUE(has(program, "if (program_id >= programs) return;")) << program.text();
  expect_softmax(program, 3, 100);
  expect_softmax(program, 131, 77);
}

TEST(CudaShapes, ProgramsShareABlockAlongTheirOwnAxis) {
  const TileProgram program = TileProgram(R"(
@triton.jit
def where_am_i(out_ptr, N: tl.constexpr):
    y = tl.program_id(1)
    at = y * tl.num_programs(2) + tl.program_id(2)
    i = tl.arange(0, N)
    tl.store(out_ptr + at * N + i, i + 1000 * y + tl.num_programs(1))
)",
                                          "where_am_i", "*i32:16, 32", 1)
                                  .with({.target = h200, .num_warps = 1, .programs = 4});
  EXPECT_TRUE(has(program, "blockIdx.y * (blockDim.x / 32)")) << program.text();
  Memory out = zeros(DType::Int32, 32 * 50 * 3);
  program.expect_same({.grid = {1, 50, 3}, .arguments = {&out}});
}

// What meets at a barrier has its block for itself.
TEST(CudaShapes, ProgramsWithBarriersShareNoBlock) {
  const TileProgram program =
      TileProgram(softmax_source, "softmax_kernel", "*fp32:16, *fp32:16, i32, i32, 256", 2)
          .with({.target = h200, .num_warps = 2, .programs = 4});
  EXPECT_FALSE(has(program, "programs")) << program.text();
  expect_softmax(program, 5, 200);
}

TEST(CudaShapes, OneProgramOverACluster) {
  const TileProgram program =
      TileProgram(softmax_source, "softmax_kernel", "*fp32:16, *fp32:16, i32, i32, 1024", 2)
          .with({.target = h200, .num_warps = 2, .num_ctas = 4});
  EXPECT_TRUE(has(program, "const int thread = tw::cluster_thread<4>();")) << program.text();
  EXPECT_TRUE(has(program, "tw::reduce_cluster<4, 2>(")) << program.text();
  EXPECT_TRUE(has(program, "tw::cluster_index<4>()")) << program.text();
  expect_softmax(program, 3, 1000);
}

TEST(CudaShapes, SumsOfPartsOfATileAreNotSpread) {
  const TileProgram program = TileProgram(R"(
@triton.jit
def row_sums(x_ptr, out_ptr):
    m = tl.arange(0, 16)
    x = tl.load(x_ptr + m[:, None] * 32 + tl.arange(0, 32)[None, :])
    tl.store(out_ptr + m, tl.sum(x, axis=0).sum(axis=0) + tl.sum(x, axis=1))
)",
                                          "row_sums", "*fp32:16, *fp32:16", 2)
                                  .with({.target = h200, .num_warps = 2, .num_ctas = 2});
  EXPECT_FALSE(has(program, "cluster")) << program.text();
  Memory x = numbers(DType::Float32, 512, 1);
  Memory out = zeros(DType::Float32, 16);
  program.expect_same({.arguments = {&x, &out}, .tolerance = 1e-5});
}

// Weights are loaded before the first of them is applied, where there are registers for them; else
// vector by vector. The row is kept as it was loaded.
TEST(CudaShapes, WeightsComeLateWhereRegistersAreScarce) {
  const TileProgram roomy(norm_source, "norm_kernel", "*bf16:16, *bf16:16, *bf16:16, i32:16, 2048");
  EXPECT_TRUE(has(roomy, "bf16 x_tile[16];")) << roomy.text();
  EXPECT_TRUE(has(roomy, "tw::load_whole<8>(tile + k * 8, weight_ptr + thread")) << roomy.text();
  const TileProgram crowded(norm_source, "norm_kernel",
                            "*bf16:16, *fp32:16, *bf16:16, i32:16, 8192");
  EXPECT_TRUE(has(crowded, "tw::load_whole<4>(weight_tile, weight_ptr + thread")) << crowded.text();
  for (const TileProgram* program : {&roomy, &crowded}) {
    Memory x = numbers(DType::BFloat16, 208 * 3, 1);
    Memory weight = numbers(program == &roomy ? DType::BFloat16 : DType::Float32, 208, 2);
    Memory out = zeros(DType::BFloat16, x.count());
    program->with({.target = h200, .chooses_shape = true})
        .expect_same({.grid = {3, 1, 1},
                      .arguments = {&x, &weight, &out, std::int64_t{208}},
                      .tolerance = 1e-2});
  }
}

// The course's own source, at every length of the benchmark.
TEST(CudaShapes, NothingIsSpilled) {
  if (cuda::nvrtc_path().empty()) GTEST_SKIP() << "NVRTC is not on this machine";
  for (const char* dtype : {"fp32", "bf16"})
    for (const int columns : {1024, 16384, 131072}) {
      const TileProgram program =
          TileProgram(softmax_source, "softmax_kernel",
                      fmt::format("*{0}:16, *{0}:16, i32:16, i32:16, {1}", dtype, columns))
              .with({.target = h200, .chooses_shape = true});
      const Binary binary = compile(program.source(), h200);
      const KernelResources resources = resources_of(binary).at(0);
      EXPECT_EQ(resources.spill_store_bytes, 0u) << dtype << " " << columns;
      EXPECT_EQ(resources.stack_bytes, 0u) << dtype << " " << columns;
    }
}

}  // namespace
}  // namespace tilewright
