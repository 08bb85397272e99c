// SPDX-License-Identifier: Apache-2.0
// codegen_cuda/threads_test.cpp — kernels at stage Final as the program of one thread: their text
// comes from it alone, and the interpreter runs its threads in any order.
#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/interpret/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "tile_program.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using testing::HasSubstr;

const char* const scaled = R"(
@triton.jit
def scaled(x_ptr, out_ptr, n, rounds, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    a = 0
    b = 1
    for k in range(rounds):
        total += tl.load(x_ptr + i, mask=i < n, other=3.0) * b
        a, b = b, a + b
    tl.store(out_ptr + i, total, mask=i < n)
)";

ir::Kernel laid_of(const TileProgram& program, const CudaEmitOptions& options) {
  return laid_for_cuda(program.kernel(), options);
}

const CudaEmitOptions options{.target = Target::parse("sm_90a"), .num_warps = 2};

TEST(CudaThreads, TheTextComesFromStageFinal) {
  const TileProgram program(scaled, "scaled", "*fp32:16, *fp32:16, i32, i32, 256", 2);
  const ir::Kernel laid = laid_of(program, options);
  const ir::Kernel thread = final_for_cuda(laid, options);
  ir::verify(thread);
  const std::string text = ir::print(thread);
  EXPECT_THAT(text, HasSubstr("%thread = thread {count = 64, lanes = 32} : i32"));
  EXPECT_THAT(text, HasSubstr("load_to"));
  EXPECT_THAT(text, HasSubstr("store_from"));
  const ir::Kernel read = ir::parse(text);
  ir::verify(read);
  EXPECT_EQ(ir::print(read), text);
  EXPECT_EQ(emit_cuda(read, options).text, emit_cuda(laid, options).text);
}

TEST(CudaThreads, RunInAnyOrder) {
  const TileProgram program(scaled, "scaled", "*fp32:16, *fp32:16, i32, i32, 256", 2);
  const ir::Kernel thread = final_for_cuda(laid_of(program, options), options);
  constexpr std::size_t count = 300;
  std::vector<float> x(count);
  std::iota(x.begin(), x.end(), 1.0f);
  for (const unsigned seed : {0u, 1u, 5u}) {
    std::vector<float> out(count, -1.0f);
    const ir::InterpretBuffer buffers[] = {
        {.name = "x", .data = x.data(), .bytes = count * sizeof(float)},
        {.name = "out", .data = out.data(), .bytes = count * sizeof(float)}};
    const ir::InterpretArgument arguments[] = {ir::InterpretPointer{.buffer = 0},
                                               ir::InterpretPointer{.buffer = 1},
                                               std::int64_t{count}, std::int64_t{4}};
    ir::InterpretOptions how{.grid = {2, 1, 1}};
    how.role_seed = seed;
    ir::interpret(thread, buffers, arguments, how);
    // 1 + 1 + 2 + 3
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], 7 * x[i]) << i << ", seed " << seed;
  }
}

// 250 is a multiple of two elements, not of the four that a vector has.
TEST(CudaThreads, MovePartsOfVectors) {
  const TileProgram program(R"(
@triton.jit
def cut(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < 250, other=3.0) * 2, mask=i < 254)
)",
                            "cut", "*fp32:16, *fp32:16, 256", 2);
  const ir::Kernel thread = final_for_cuda(laid_of(program, options), options);
  const std::string text = ir::print(thread);
  EXPECT_THAT(text, HasSubstr("width = 2, parts = 1}"));
  EXPECT_THAT(emit_cuda(thread, options).text, HasSubstr("tw::load_parts<4, 2>"));
  EXPECT_THAT(emit_cuda(thread, options).text, HasSubstr("tw::store_parts<4, 2>"));
  Memory x = numbers(DType::Float32, 250, 5);
  Memory out = zeros(DType::Float32, 254);
  program.expect_same({.arguments = {&x, &out}});
  const std::size_t at = text.find("width = 2, parts");
  const ir::Kernel wrong = ir::parse(std::string(text).replace(at, 9, "width = 4"));
  ir::verify(wrong);
  std::vector<float> in(256), result(256);
  const ir::InterpretBuffer buffers[] = {{.name = "x", .data = in.data(), .bytes = 1024},
                                         {.name = "out", .data = result.data(), .bytes = 1024}};
  const ir::InterpretArgument arguments[] = {ir::InterpretPointer{.buffer = 0},
                                             ir::InterpretPointer{.buffer = 1}};
  EXPECT_THROW(ir::interpret(wrong, buffers, arguments, {}), Error);
}

// Loaded elements would wait in registers beside the sums.
TEST(CudaThreads, MeetBeforeTheLoadsOfAProduct) {
  const TileProgram program(R"(
@triton.jit
def k(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in tl.range(0, n, num_stages=1):
        a = tl.load(x_ptr + k * BLOCK * BLOCK + at)
        total = tl.dot(a, a, total, input_precision="ieee")
    tl.store(out_ptr + at, total)
)",
                            "k", "*fp32:16, *fp32:16, i32, 64", 2);
  const std::string text = emit_cuda(laid_of(program, options), options).text;
  const std::size_t loop = text.find("k_2 < n");
  const std::size_t barrier = text.find("__syncthreads", loop), load = text.find("tw::load<", loop);
  ASSERT_NE(loop, std::string::npos) << text;
  EXPECT_LT(barrier, load) << text;
}

// The threads have met for the product since they loaded what they overwrite now: they need not do
// it again.
TEST(CudaThreads, ProductsOrderMemoryToo) {
  const TileProgram program(R"(
@triton.jit
def k(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    for k in tl.range(0, n, num_stages=1):
        a = tl.load(out_ptr + at)
        product = tl.dot(a, a, input_precision="ieee")
        tl.store(out_ptr + i[None, :] * BLOCK + i[:, None], product)
)",
                            "k", "*fp32:16, *fp32:16, i32, 64", 2);
  ir::Kernel thread = final_for_cuda(laid_of(program, options), options);
  int barriers = 0;
  ir::walk(thread.body, [&](const ir::Op& op) { barriers += op.kind == ir::OpKind::Barrier; });
  EXPECT_EQ(barriers, 2) << ir::print(thread);
}

// ---- Threads that meet

// The memory of a launch: two buffers of floats, and whole numbers as the other arguments.
struct Launch {
  std::vector<float> x = {}, out = {};
  std::vector<std::int64_t> numbers = {};

  // What `out` is afterwards.
  std::vector<float> run(const ir::Kernel& kernel, unsigned seed) const {
    std::vector<float> in = x, result = out;
    const ir::InterpretBuffer buffers[] = {
        {.name = "x", .data = in.data(), .bytes = in.size() * sizeof(float)},
        {.name = "out", .data = result.data(), .bytes = result.size() * sizeof(float)}};
    std::vector<ir::InterpretArgument> arguments = {ir::InterpretPointer{.buffer = 0},
                                                    ir::InterpretPointer{.buffer = 1}};
    for (const std::int64_t number : numbers) arguments.emplace_back(number);
    ir::InterpretOptions how;
    how.role_seed = seed;
    ir::interpret(kernel, buffers, arguments, how);
    return result;
  }
};

Launch launch_of(std::size_t count, std::vector<std::int64_t> numbers) {
  Launch out{.x = std::vector<float>(count), .out = std::vector<float>(count, -1.0f)};
  for (std::size_t i = 0; i < count; ++i) out.x[i] = static_cast<float>(i * 37 % 101);
  out.numbers = std::move(numbers);
  return out;
}

std::vector<ir::Op*> barriers_of(ir::Kernel& kernel) {
  std::vector<ir::Op*> out;
  ir::walk(kernel.body, [&](ir::Op& op) {
    if (op.kind == ir::OpKind::Barrier) out.push_back(&op);
  });
  return out;
}

void remove(ir::Region& region, const ir::Op* wanted) {
  std::erase(region.ops, wanted);
  for (ir::Op* op : region.ops)
    for (ir::Region& inner : op->regions) remove(inner, wanted);
}

// Whether the verifier or one of 8 orders of threads notices what is wrong with a kernel.
bool is_noticed(const ir::Kernel& kernel, const Launch& launch) {
  try {
    ir::verify(kernel);
    for (unsigned seed = 0; seed < 8; ++seed) launch.run(kernel, seed);
  } catch (const Error&) {
    return true;
  }
  return false;
}

struct Meeting {
  const char* name;
  const char* source;
  const char* signature;
  std::size_t count;                  // of floats in each buffer
  std::vector<std::int64_t> numbers;  // of arguments behind the two pointers
  int barriers;                       // at least
  int unseen = 0;  // of those for other programs, and between places that are not known to differ
};

const Meeting meetings[] = {
    {"softmax", R"(
@triton.jit
def softmax(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + i, e / tl.sum(e, axis=0), mask=i < n)
)",
     "*fp32:16, *fp32:16, i32, 512", 512, {500}, 0},
    {"rounds", R"(
@triton.jit
def rounds(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = 0.0
    for k in range(n):
        total += tl.sum(tl.load(x_ptr + k * BLOCK + i), axis=0) * (k + 1)
    tl.store(out_ptr + i, total + i)
)",
     "*fp32:16, *fp32:16, i32, 256", 1024, {4}, 1},
    {"turned", R"(
@triton.jit
def turned(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, i.to(tl.float32))
    x = tl.load(out_ptr + (BLOCK - 1 - i))
    tl.store(out_ptr + BLOCK + i, x)
)",
     "*fp32:16, *fp32:16, i32, 256", 512, {1}, 1, 1},
    {"shifted", R"(
@triton.jit
def shifted(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i))
    for k in range(n):
        x = tl.load(out_ptr + (i + 1) % BLOCK)
        tl.debug_barrier()
        tl.store(out_ptr + i, x)
)",
     "*fp32:16, *fp32:16, i32, 256", 256, {3}, 1},
    {"farthest", R"(
@triton.jit
def farthest(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for k in range(n):
        x = tl.load(x_ptr + k * BLOCK + i)
        at = tl.argmax(x, axis=0)
        tl.store(out_ptr + k, at.to(tl.float32))
)",
     "*fp32:16, *fp32:16, i32, 256", 1024, {4}, 1},
    {"ticket", R"(
@triton.jit
def ticket(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    old = tl.atomic_add(out_ptr + BLOCK, 2.0)
    again = tl.atomic_add(out_ptr + BLOCK, 3.0)
    tl.store(out_ptr + i, old * 10 + again + tl.load(x_ptr + i))
)",
     "*fp32:16, *fp32:16, i32, 256", 512, {1}, 3, 2},
    {"mirrored", R"(
@triton.jit
def mirrored(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i[:, None] * BLOCK + i[None, :])
    tl.store(out_ptr + i[:, None] * BLOCK + i[None, :], tl.trans(x) * n)
)",
     "*fp32:16, *fp32:16, i32, 32", 1024, {3}, 0},
    {"picked", R"(
@triton.jit
def picked(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    for k in range(n):
        x = tl.gather(x, (i * 5 + k) % BLOCK, 0)
    tl.store(out_ptr + i, x)
)",
     "*fp32:16, *fp32:16, i32, 256", 256, {3}, 1},
    {"collatz", R"(
@triton.jit
def collatz(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x_ptr + i)
    b = a * 2
    k = n
    while k != 1:
        a, b = b, a + tl.max(b, axis=0)
        k = k // 2 if k % 2 == 0 else 3 * k + 1
    tl.store(out_ptr + i, a - b)
)",
     "*fp32:16, *fp32:16, i32, 256", 256, {6}, 1},
    // Warps hand what their elements come to over in slots, which the next round writes again.
    {"scanned", R"(
@triton.jit
def scanned(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    for k in range(n):
        x = tl.cumsum(x, 0, reverse=True) * 0.125 - x
    tl.store(out_ptr + i, x)
)",
     "*fp32:16, *fp32:16, i32, 512", 512, {2}, 1},
    {"scanned_pairs", R"(
@triton.jit
def later(a, i, b, k):
    return tl.where(a > b, a, b), tl.where(a > b, i, k)

@triton.jit
def scanned_pairs(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    for k in range(n):
        most, at = tl.associative_scan((x, i), 0, later)
        x = most + at - tl.gather(x, (i * 5) % BLOCK, 0)
    tl.store(out_ptr + i, x)
)",
     "*fp32:16, *fp32:16, i32, 128", 128, {2}, 1},
    {"scanned_columns", R"(
@triton.jit
def scanned_columns(x_ptr, out_ptr, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + at)
    for k in range(n):
        x = tl.cumsum(x, 0) + tl.cumsum(x, 1, reverse=True)
    tl.store(out_ptr + at, x)
)",
     "*fp32:16, *fp32:16, i32, 32, 16", 512, {2}, 0},
    {"sorted_rounds", R"(
@triton.jit
def sorted_rounds(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    for k in range(n):
        x = tl.sort(x * 1.5 - i % 7)
    tl.store(out_ptr + i, x)
)",
     "*fp32:16, *fp32:16, i32, 256", 256, {3}, 1},
    {"counted_rounds", R"(
@triton.jit
def counted_rounds(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i).to(tl.int32)
    for k in range(n):
        x = tl.histogram((x + i * k) % BLOCK, BLOCK)
    tl.store(out_ptr + i, x.to(tl.float32))
)",
     "*fp32:16, *fp32:16, i32, 256", 256, {3}, 3},
    {"patches", R"(
@triton.jit
def patches(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in tl.range(0, n, num_stages=1):
        a = tl.load(x_ptr + k * BLOCK * BLOCK + at)
        total = tl.dot(a, tl.trans(a) + k, total, input_precision="ieee")
    tl.store(out_ptr + at, total)
)",
     "*fp32:16, *fp32:16, i32, 32", 3072, {3}, 2},
    {"chained", R"(
@triton.jit
def chained(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    few = tl.arange(0, 4)
    a = tl.load(x_ptr + few[:, None] * BLOCK + i[None, :])
    b = tl.load(x_ptr + i[:, None] * BLOCK + i[None, :])
    s = tl.dot(a, b, input_precision="ieee") * 0.001
    o = tl.dot((s - tl.max(s, axis=1)[:, None]).to(tl.float16), b.to(tl.float16), out_dtype=tl.float16)
    tl.store(out_ptr + few[:, None] * BLOCK + i[None, :], o.to(tl.float32))
)",
     "*fp32:16, *fp32:16, i32, 32", 1024, {1}, 2},
    {"halves", R"(
@triton.jit
def halves(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in tl.range(0, n, num_stages=1):
        a = tl.load(x_ptr + k * BLOCK * BLOCK + at).to(tl.float16)
        b = tl.load(x_ptr + BLOCK * BLOCK - k + at).to(tl.float16)
        total = tl.dot(a, b, total)
        total = tl.dot(b, tl.trans(a), total)
    tl.store(out_ptr + at, total.to(tl.float32))
)",
     "*fp32:16, *fp32:16, i32, 32", 3072, {2}, 2},
    {"words", R"(
@triton.jit
def words(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in tl.range(0, n, num_stages=1):
        a = tl.load(x_ptr + k * BLOCK * BLOCK + at)
        b = tl.load(x_ptr + BLOCK * BLOCK - k + at)
        total = tl.dot(a, b, total)
        total = tl.dot(b, tl.trans(a), total)
    tl.store(out_ptr + at, total.to(tl.float32))
)",
     "*fp32:16, *fp32:16, i32, 32", 3072, {2}, 2},
    {"bytes", R"(
@triton.jit
def bytes(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.int32)
    for k in tl.range(0, n, num_stages=1):
        a = tl.load(x_ptr + k * BLOCK * BLOCK + at).to(tl.int8)
        b = tl.load(x_ptr + BLOCK * BLOCK - k + at).to(tl.int8)
        total = tl.dot(a, b, total)
        total = tl.dot(b, tl.trans(a), total)
    tl.store(out_ptr + at, total.to(tl.float32))
)",
     "*fp32:16, *fp32:16, i32, 32", 3072, {2}, 2},
    {"small_floats", R"(
@triton.jit
def small_floats(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in tl.range(0, n, num_stages=1):
        a = tl.load(x_ptr + k * BLOCK * BLOCK + at).to(tl.float8e4nv)
        b = tl.load(x_ptr + BLOCK * BLOCK - k + at).to(tl.float8e4nv)
        total = tl.dot(a, b, total)
        total = tl.dot(b, tl.trans(a), total)
    tl.store(out_ptr + at, total.to(tl.float32))
)",
     "*fp32:16, *fp32:16, i32, 32", 3072, {2}, 2},
    {"doubles", R"(
@triton.jit
def doubles(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    total = tl.zeros((BLOCK, BLOCK), tl.float64)
    for k in tl.range(0, n, num_stages=1):
        a = tl.load(x_ptr + k * BLOCK * BLOCK + at).to(tl.float64)
        b = tl.load(x_ptr + BLOCK * BLOCK - k + at).to(tl.float64)
        total = tl.dot(a, b, total)
        total = tl.dot(b, tl.trans(a), total)
    tl.store(out_ptr + at, total.to(tl.float32))
)",
     "*fp32:16, *fp32:16, i32, 32", 3072, {2}, 2},
    {"attention", R"(
@triton.jit
def attention(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i[:, None] * BLOCK + i[None, :]
    q = (tl.load(x_ptr + at) * 0.01).to(tl.float16)
    largest = tl.full((BLOCK,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in tl.range(0, n, num_stages=1):
        keys = (tl.load(x_ptr + k * BLOCK * BLOCK + at) * 0.01).to(tl.float16)
        s = tl.dot(q, tl.trans(keys))
        largest = tl.maximum(largest, tl.max(s, axis=1))
        p = tl.where(s > largest[:, None] - 1.0, 1.0, 0.5)
        total = tl.dot(p.to(tl.float16), keys, total)
    tl.store(out_ptr + at, total + largest[:, None])
)",
     "*fp32:16, *fp32:16, i32, 32", 3072, {3}, 2},
    {"turned_in_place", R"(
@triton.jit
def turned_in_place(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i))
    tl.store(out_ptr + i, tl.load(out_ptr + (BLOCK - 1 - i)) + n)
)",
     "*fp32:16, *fp32:16, i32, 256", 256, {3}, 2},
    {"moved_in_place", R"(
@triton.jit
def moved_in_place(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i))
    tl.store(out_ptr + i, tl.load(out_ptr + i + 1, mask=i < BLOCK - 1, other=0.0) + n)
)",
     "*fp32:16, *fp32:16, i32, 8192", 8192, {3}, 2},
    {"old_values", R"(
@triton.jit
def old_values(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i))
    old = tl.atomic_add(out_ptr + i, tl.load(x_ptr + i), mask=i < n)
    old += tl.atomic_cas(out_ptr + i, 2 * tl.load(x_ptr + i), tl.load(x_ptr + BLOCK + i))
    tl.store(out_ptr + BLOCK + i, old)
)",
     "*fp32:16, *fp32:16, i32, 16", 32, {9}, 2, 1},
    {"only_element", R"(
@triton.jit
def only_element(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    one = tl.load(x_ptr + 5 + tl.arange(0, 1))
    tl.store(out_ptr + i, tl.load(x_ptr + i) + tl.reshape(one, ()) * n)
)",
     "*fp32:16, *fp32:16, i32, 64", 64, {3}, 0},
    {"long_scan", R"(
@triton.jit
def long_scan(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    e = n + 1
    tl.store(out_ptr + i, tl.cumsum(tl.load(x_ptr + i), 0) * e)
)",
     "*fp32:16, *fp32:16, i32, 16384", 16384, {3}, 2},
    {"long_columns", R"(
@triton.jit
def long_columns(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, 4 * BLOCK)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    tl.store(out_ptr + at, tl.cumsum(tl.load(x_ptr + at), 0, reverse=True) + n)
)",
     "*fp32:16, *fp32:16, i32, 64", 16384, {3}, 2},
    {"long_pairs", R"(
@triton.jit
def both(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2

@triton.jit
def long_pairs(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)[:, None] * 4 * BLOCK + tl.arange(0, 4 * BLOCK)[None, :]
    x = tl.load(x_ptr + at)
    a, b = tl.associative_scan((x * 0.005, x), 1, both)
    tl.store(out_ptr + at, a + b + n)
)",
     "*fp32:16, *fp32:16, i32, 32", 4096, {3}, 0},
    {"seen_by_one", R"(
@triton.jit
def seen_by_one(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = 0.0
    seen = tl.load(out_ptr + BLOCK, volatile=True)
    while seen < n:
        total += tl.sum(tl.load(x_ptr + i) * seen, 0)
        tl.store(out_ptr + BLOCK, seen + 1)
        seen = tl.load(out_ptr + BLOCK, volatile=True)
    tl.store(out_ptr + i, tl.load(x_ptr + i) + total)
)",
     "*fp32:16, *fp32:16, i32, 128", 256, {2}, 2, 2},
    {"seen_tile", R"(
@triton.jit
def seen_tile(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    two = tl.arange(0, 2)
    seen = tl.max(tl.load(out_ptr + BLOCK + two, volatile=True), 0)
    total = 0.0
    while seen < n:
        total += tl.sum(tl.load(x_ptr + i) * seen, 0)
        tl.store(out_ptr + BLOCK, seen + 1)
        seen = tl.max(tl.load(out_ptr + BLOCK + two, volatile=True), 0)
    tl.store(out_ptr + i, tl.load(x_ptr + i) + total)
)",
     "*fp32:16, *fp32:16, i32, 128", 256, {2}, 2, 4},
    {"changed_places", R"(
@triton.jit
def changed_places(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x_ptr + i)
    b = tl.load(x_ptr + BLOCK + i)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(n):
        at = (i * 7 + k) % BLOCK
        total += tl.gather(a, at, 0) - 2 * tl.gather(b, at, 0)
        a, b = b, a
    tl.store(out_ptr + i, total)
)",
     "*fp32:16, *fp32:16, i32, 128", 256, {3}, 2},
    {"batches", R"(
@triton.jit
def batches(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    b = tl.arange(0, 2)[:, None, None]
    i = tl.arange(0, BLOCK)
    at = b * BLOCK * BLOCK + i[None, :, None] * BLOCK + i[None, None, :]
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, tl.dot(x, x, input_precision="ieee") + n)
)",
     "*fp32:16, *fp32:16, i32, 16", 512, {1}, 1},
};

class CudaMeetings : public testing::TestWithParam<Meeting> {
 protected:
  static ir::Kernel program(const Meeting& of) {
    const TileProgram tiles(of.source, of.name, of.signature, 2);
    return final_for_cuda(laid_of(tiles, options), options);
  }
};

TEST_P(CudaMeetings, ThreadsInAnyOrderDoAsTilesDo) {
  const Meeting& of = GetParam();
  const TileProgram tiles(of.source, of.name, of.signature, 2);
  const ir::Kernel kernel = program(of);
  ir::verify(kernel);
  const std::string text = ir::print(kernel);
  const ir::Kernel read = ir::parse(text);
  ir::verify(read);
  EXPECT_EQ(ir::print(read), text);
  EXPECT_EQ(emit_cuda(read, options).text, emit_cuda(laid_of(tiles, options), options).text);
  const Launch launch = launch_of(of.count, of.numbers);
  const std::vector<float> expected = launch.run(tiles.kernel(), 0);
  for (unsigned seed = 0; seed < 8; ++seed) {
    const std::vector<float> got = launch.run(read, seed);
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], expected[i], 1e-5f * (1 + std::abs(expected[i])))
          << i << ", seed " << seed;
  }
}

// What a scan or a sort is told of its elements and threads is looked at.
TEST(CudaThreadCalls, WrongNumbersOfScansAndSortsAreRefused) {
  const auto refuses = [](const char* name, const char* numbers, const char* wrong) {
    for (const Meeting& of : meetings) {
      if (std::string_view(of.name) != name) continue;
      const TileProgram tiles(of.source, of.name, of.signature, 2);
      std::string text = ir::print(final_for_cuda(laid_of(tiles, options), options));
      const std::size_t at = text.find(numbers);
      ASSERT_NE(at, std::string::npos) << text;
      text.replace(at, std::string_view(numbers).size(), wrong);
      EXPECT_THROW(ir::verify(ir::parse(text)), Error) << wrong;
    }
  };
  // Lanes, warps, inner, outer, count, reverse: more warps than there are, a bit twice, no count.
  refuses("scanned", "numbers = [31, 1, 3, 4, 8, 1]", "numbers = [31, 2, 3, 4, 8, 1]");
  refuses("scanned", "numbers = [31, 1, 3, 4, 8, 1]", "numbers = [31, 1, 3, 2, 8, 1]");
  refuses("scanned", "numbers = [31, 1, 3, 4, 8, 1]", "numbers = [31, 1, 3, 4, 6, 1]");
  // First, last, order, elements, threads.
  refuses("sorted_rounds", "numbers = [1, 8, 1, 8, 6]", "numbers = [1, 9, 1, 8, 6]");
  refuses("sorted_rounds", "numbers = [1, 8, 1, 8, 6]", "numbers = [1, 8, 3, 8, 6]");
  refuses("sorted_rounds", "numbers = [1, 8, 1, 8, 6]", "numbers = [1, 8, 1, 8, 7]");
}

// Through shared memory, by lanes and by warps, also as text.
TEST(CudaThreads, LongScansAreCallsOverStretches) {
  const std::pair<const char*, const char*> calls[] = {{"long_scan", "\"before_block\""},
                                                       {"long_columns", "for"},
                                                       {"long_pairs", "\"before_lanes\""}};
  for (const auto& [name, call] : calls)
    for (const Meeting& of : meetings) {
      if (std::string_view(of.name) != name) continue;
      const TileProgram tiles(of.source, of.name, of.signature, 2);
      EXPECT_THAT(ir::print(final_for_cuda(laid_of(tiles, options), options)), HasSubstr(call));
      Memory x = numbers(DType::Float32, of.count, 5), out = zeros(DType::Float32, of.count);
      tiles.expect_same({.arguments = {&x, &out, std::int64_t{3}}, .tolerance = 1e-3});
    }
}

// Of units, and of plain multiplications where they say so.
TEST(CudaThreads, ProductsOfUnitsAreCalls) {
  const auto text_of = [](const char* name) {
    for (const Meeting& of : meetings)
      if (std::string_view(of.name) == name) {
        const TileProgram tiles(of.source, of.name, of.signature, 2);
        return ir::print(final_for_cuda(laid_of(tiles, options), options));
      }
    return std::string();
  };
  EXPECT_THAT(text_of("halves"), HasSubstr("unit = \"mma_f16\""));
  EXPECT_THAT(text_of("words"), HasSubstr("unit = \"mma_tf32\""));
  EXPECT_THAT(text_of("bytes"), HasSubstr("unit = \"mma_i8\""));
  EXPECT_THAT(text_of("small_floats"), HasSubstr("unit = \"mma_e4m3_e4m3\""));
  EXPECT_THAT(text_of("doubles"), HasSubstr("unit = \"mma_f64\""));
  EXPECT_THAT(text_of("attention"), HasSubstr("\"word_of\""));
}

TEST_P(CudaMeetings, EveryBarrierIsMissedWhereItIsTakenOut) {
  const Meeting& of = GetParam();
  const Launch launch = launch_of(of.count, of.numbers);
  ir::Kernel whole = program(of);
  const std::string text = ir::print(whole);
  const std::size_t count = barriers_of(whole).size();
  EXPECT_GE(static_cast<int>(count), of.barriers) << text;
  EXPECT_FALSE(is_noticed(whole, launch));
  int unseen = 0;
  for (std::size_t k = 0; k < count; ++k) {
    ir::Kernel mutant = ir::parse(text);
    remove(mutant.body, barriers_of(mutant)[k]);
    unseen += is_noticed(mutant, launch) ? 0 : 1;
  }
  EXPECT_LE(unseen, of.unseen) << "barriers that nobody misses in\n" << text;
}

INSTANTIATE_TEST_SUITE_P(All, CudaMeetings, testing::ValuesIn(meetings),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tilewright
