// SPDX-License-Identifier: Apache-2.0
// passes/pipeline_loops_test.cpp — a pipelined kernel computes the same bits in the interpreter,
// which objects to every copy that is read too early or overwritten too soon.
#include "passes/pipeline_loops.h"

#include <cstring>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "count_ops.h"
#include "ir/interpret/interpret.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/canonicalize.h"
#include "passes/eliminate_common_subexpressions.h"
#include "passes/eliminate_dead_code.h"
#include "product_kernel.h"

namespace tilewright {
namespace {

using ir::OpKind;
using testing::ElementsAre;
using testing::IsEmpty;

// The matrices: a is 8 x 64, b is 64 x 8, both of small whole numbers; c and d are 64 floats.
struct Memory {
  std::vector<float> a = numbers(8 * 64, 1), b = numbers(64 * 8, 2), c = numbers(64, 3);
  std::vector<float> d = numbers(64, 4);
  std::vector<std::int32_t> table = {3, 0, 2, 1, 7, 5, 6, 4};

  static std::vector<float> numbers(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<float> out(count);
    for (float& x : out) x = static_cast<float>(random() % 17) - 8;
    return out;
  }
  void run(const ir::Kernel& kernel, std::int64_t n) {
    const auto buffer = [](const char* name, auto& data) {
      return ir::InterpretBuffer{
          .name = name, .data = data.data(), .bytes = data.size() * sizeof(data[0])};
    };
    const ir::InterpretBuffer buffers[] = {buffer("a", a), buffer("b", b), buffer("c", c),
                                           buffer("d", d), buffer("table", table)};
    const ir::InterpretArgument arguments[] = {ir::InterpretPointer{0}, ir::InterpretPointer{1},
                                               ir::InterpretPointer{2}, ir::InterpretPointer{3},
                                               ir::InterpretPointer{4}, n};
    ir::interpret(kernel, buffers, arguments, {});
  }
  friend bool operator==(const Memory& x, const Memory& y) {
    const auto same = [](const auto& p, const auto& q) {
      return std::memcmp(p.data(), q.data(), p.size() * sizeof(p[0])) == 0;
    };
    return same(x.a, y.a) && same(x.b, y.b) && same(x.c, y.c) && same(x.d, y.d);
  }
};

constexpr std::string_view head =
    R"(kernel @k(%a: *f32 {{divisible = 16}}, %b: *f32 {{divisible = 16}}, %c: *f32 {{divisible = 16}}, %d: *f32 {{divisible = 16}}, %table: *i32, %n: i32) tile {{
  %zero = constant {{value = 0}} : i32
  %one = constant {{value = 1}} : i32
  %eight = constant {{value = 8}} : i32
  %z = constant {{value = 0}} : i64
  %s1 = constant {{value = 1}} : i64
  %s8 = constant {{value = 8}} : i64
  %s64 = constant {{value = 64}} : i64
  %nothing = constant {{value = 0.0}} : f32[8, 8]
  %out = affine %c, %s8, %s1 : *f32[8, 8]
  %out_d = affine %d, %s8, %s1 : *f32[8, 8]
  %n64 = cast %n : i64
)";

// Loops over k in steps of 8 of a product of 8 x 64 and 64 x 8; %n is where k ends.
std::string by_index(std::string_view body_end, std::string_view attributes = "") {
  return fmt::format(head) + fmt::format(R"(
  %acc = for %zero, %n, %eight, %nothing {1} : f32[8, 8] (%k: i32, %sum: f32[8, 8]) {{
    %k64 = cast %k : i64
    %pa = offset %a, %k64 : *f32
    %ta = affine %pa, %s64, %s1 : *f32[8, 8]
    %row = mul %k64, %s8 : i64
    %pb = offset %b, %row : *f32
    %tb = affine %pb, %s8, %s1 : *f32[8, 8]
    %x = load %ta : f32[8, 8]
    %y = load %tb : f32[8, 8]
    {0}
    yield %next
  }}
  store %out, %acc
}})",
                                         body_end, attributes);
}

std::string by_pointers() {
  return fmt::format(head) + R"(
  %acc, %pa2, %pb2 = for %zero, %n, %eight, %nothing, %a, %b : f32[8, 8], *f32, *f32 (%k: i32, %sum: f32[8, 8], %pa: *f32, %pb: *f32) {
    %k64 = cast %k : i64
    %left = sub %n64, %k64 : i64
    %half = constant {value = 4} : i64
    %left4 = mul %left, %half : i64
    %ma = bounds %z, %s8, %z, %left4 : b1[8, 8]
    %mb = bounds %z, %left4, %z, %s8 : b1[8, 8]
    %ta = affine %pa, %s64, %s1 : *f32[8, 8]
    %tb = affine %pb, %s8, %s1 : *f32[8, 8]
    %x = load %ta, %ma : f32[8, 8]
    %other = constant {value = 0.0} : f32[8, 8]
    %y = load %tb, %mb, %other : f32[8, 8]
    %next = dot %x, %y, %sum : f32[8, 8]
    %pa3 = offset %pa, %s8 : *f32
    %pb3 = offset %pb, %s64 : *f32
    yield %next, %pa3, %pb3
  }
  store %out, %acc
})";
}

std::string nested() {
  return fmt::format(head) + R"(
  %two = constant {value = 2} : i32
  %all = for %zero, %two, %one, %nothing : f32[8, 8] (%r: i32, %before: f32[8, 8]) {
    %acc = for %zero, %n, %eight, %before : f32[8, 8] (%k: i32, %sum: f32[8, 8]) {
      %k64 = cast %k : i64
      %r64 = cast %r : i64
      %shift = mul %r64, %s8 : i64
      %pa = offset %a, %k64 : *f32
      %ta = affine %pa, %s64, %s1 : *f32[8, 8]
      %row = mul %k64, %s8 : i64
      %pb = offset %b, %row : *f32
      %tb = affine %pb, %s8, %s1 : *f32[8, 8]
      %x = load %ta : f32[8, 8]
      %xt = permute %x {order = [1, 0]} : f32[8, 8]
      %y = load %tb : f32[8, 8]
      %y2 = add %y, %y : f32[8, 8]
      %next = dot %xt, %y2, %sum : f32[8, 8]
      yield %next
    }
    store %out_d, %acc
    yield %acc
  }
  store %out, %all
})";
}

std::string by_table() {
  return fmt::format(head) + R"(
  %acc = for %zero, %n, %eight, %nothing : f32[8, 8] (%k: i32, %sum: f32[8, 8]) {
    %number = div %k, %eight : i32
    %pt = offset %table, %number : *i32
    %page = load %pt : i32
    %page64 = cast %page : i64
    %k64 = mul %page64, %s8 : i64
    %pa = offset %a, %k64 : *f32
    %ta = affine %pa, %s64, %s1 : *f32[8, 8]
    %row = mul %k64, %s8 : i64
    %pb = offset %b, %row : *f32
    %tb = affine %pb, %s8, %s1 : *f32[8, 8]
    %x = load %ta : f32[8, 8]
    %y = load %tb : f32[8, 8]
    %next = dot %x, %y, %sum : f32[8, 8]
    yield %next
  }
  store %out, %acc
})";
}

constexpr std::string_view plain = "%next = dot %x, %y, %sum : f32[8, 8]";

// Runs the kernel before and after the pass for ends of the loop from -8 to 64.
void expect_same(const std::string& text, int stages, int copies) {
  const ir::Kernel before = ir::parse(text);
  ir::verify(before);
  ir::Kernel after = ir::parse(text);
  pipeline_loops(after, PipelineLoopsOptions{.num_stages = stages});
  ir::verify(after);
  EXPECT_EQ(count(after, OpKind::CopyAsync), copies * stages) << ir::print(after);
  EXPECT_EQ(count(after, OpKind::WaitCopies), copies > 0 ? 1 : 0);
  ir::Kernel tidy = ir::parse(ir::print(after));
  canonicalize(tidy, Target::host());
  eliminate_common_subexpressions(tidy, Target::host());
  eliminate_dead_code(tidy, Target::host());
  ir::verify(tidy);
  for (const std::int64_t n : {-8, 0, 3, 8, 9, 16, 24, 32, 61, 64}) {
    Memory expected, found, found_tidy;
    expected.run(before, n);
    found.run(after, n);
    found_tidy.run(tidy, n);
    EXPECT_TRUE(expected == found) << "n = " << n << "\n" << ir::print(after);
    EXPECT_TRUE(expected == found_tidy) << "n = " << n << "\n" << ir::print(tidy);
  }
}

TEST(PipelineLoops, GiveTheSameBits) {
  for (const int stages : {2, 3, 4, 7}) {
    SCOPED_TRACE(stages);
    expect_same(by_index(plain), stages, 2);
    expect_same(by_pointers(), stages, 2);
    expect_same(nested(), stages, 2);
    expect_same(by_table(), stages, 2);
  }
}

TEST(PipelineLoops, OperandsThroughChains) {
  expect_same(by_index("%h = cast %x : f16[8, 8]\n %w = cast %h : f32[8, 8]\n"
                       "%t = permute %y {order = [1, 0]} : f32[8, 8]\n"
                       "%next = dot %w, %t, %sum : f32[8, 8]"),
              3, 2);
  // A load that no product needs stays; one that something else needs too is copied.
  expect_same(by_index("%m = mul %x, %x : f32[8, 8]\n %next = dot %x, %m, %sum : f32[8, 8]"), 3, 1);
}

TEST(PipelineLoops, OneStageIsNone) {
  expect_same(by_index(plain), 1, 0);
  expect_same(by_index(plain, "{stages = 1}"), 1, 0);
}

TEST(PipelineLoops, TheLoopMaySayItself) {
  ir::Kernel kernel = ir::parse(by_index(plain, "{stages = 4}"));
  pipeline_loops(kernel, PipelineLoopsOptions{.num_stages = 2});
  ASSERT_EQ(kernel.buffers.size(), 2u);
  EXPECT_EQ(kernel.buffers[0], (ir::KernelBuffer{"x_buffer", kernel.buffers[0].type, 4}));
  EXPECT_EQ(kernel.buffers[1].name, "y_buffer");
}

TEST(PipelineLoops, StoresKeepTheirOrder) {
  // Through another argument: the loads may pass it. Through the same one: they may not.
  expect_same(by_index("store %out_d, %x\n %next = dot %x, %y, %sum : f32[8, 8]"), 3, 2);
  expect_same(by_index("store %ta, %y\n %next = dot %x, %y, %sum : f32[8, 8]"), 3, 1);
  expect_same(by_index("store %tb, %x\n store %ta, %y\n %next = dot %x, %y, %sum : f32[8, 8]"), 3,
              0);
  expect_same(by_index("barrier\n %next = dot %x, %y, %sum : f32[8, 8]"), 3, 0);
  // An atomic whose result nobody reads orders nothing else; one that is read may be a lock.
  expect_same(by_index("%old = atomic_rmw %out_d, %x {op = \"fadd\"} : f32[8, 8]\n"
                       "%next = dot %x, %y, %sum : f32[8, 8]"),
              3, 2);
  expect_same(by_index("%old = atomic_rmw %out_d, %x {op = \"fadd\"} : f32[8, 8]\n"
                       "%next = dot %old, %y, %sum : f32[8, 8]"),
              3, 0);
}

TEST(PipelineLoops, LoadsThatStay) {
  // Values of masked-off elements, narrow accesses, addresses that a tile decides.
  const auto copies = [](const std::string& text) {
    ir::Kernel kernel = ir::parse(text);
    pipeline_loops(kernel, PipelineLoopsOptions{});
    ir::verify(kernel);
    return count(kernel, OpKind::CopyAsync) / 3;
  };
  std::string other = by_pointers();
  other.replace(other.find("%other = constant {value = 0.0}"), 31,
                "%other = constant {value = 1.0}");
  EXPECT_EQ(copies(other), 1);
  std::string scattered = by_index(plain);
  scattered.replace(scattered.find("affine %pa, %s64, %s1"), 21, "affine %pa, %s64, %s8");
  EXPECT_EQ(copies(scattered), 2) << "4 bytes each";
  EXPECT_EQ(copies(by_index("%t = load %tb : f32[8, 8]\n %i = cast %t : i32[8, 8]\n"
                            "%q = splat %a : *f32[8, 8]\n %p = offset %q, %i : *f32[8, 8]\n"
                            "%w = load %p : f32[8, 8]\n %next = dot %w, %y, %sum : f32[8, 8]")),
            1);
}

TEST(PipelineLoops, CarriedPointersAreNotCarriedTwice) {
  ir::Kernel kernel = ir::parse(by_pointers());
  pipeline_loops(kernel, PipelineLoopsOptions{});
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (op.kind != OpKind::For) return;
    EXPECT_EQ(op.results.size(), 4u);  // the sum, two pointers, a slot
  });
}

TEST(PipelineLoops, AsManyStagesAsFit) {
  const auto notes = [](int shared_bytes, int& slots) {
    ir::Kernel kernel = ir::parse(by_index(plain));
    const auto out =
        pipeline_loops(kernel, PipelineLoopsOptions{.num_stages = 4, .shared_bytes = shared_bytes});
    slots = kernel.buffers.empty() ? 0 : kernel.buffers[0].slots;
    return out;
  };
  int slots = 0;
  EXPECT_THAT(notes(2048, slots), IsEmpty());
  EXPECT_EQ(slots, 4);
  EXPECT_THAT(notes(2047, slots),
              ElementsAre("the loop at an unknown line has 3 instead of 4 stages: each takes 512 "
                          "bytes of shared memory, and a block has 2047"));
  EXPECT_EQ(slots, 3);
  EXPECT_THAT(notes(1000, slots),
              ElementsAre("the loop at an unknown line has 1 instead of 4 stages: each takes 512 "
                          "bytes of shared memory, and a block has 1000"));
  EXPECT_EQ(slots, 0);
}

// What no further block of the multiprocessor could use goes to slots: two blocks stay two.
TEST(PipelineLoops, FewRowsTakeSpareSharedMemory) {
  const auto slots_with = [](std::int64_t processor_bytes, int bm = 16) {
    const std::string text = replaced(product_text({.bm = bm}), "%N: i32, %K: i32",
                                      "%N: i32 {divisible = 16}, %K: i32 {divisible = 16}");
    ir::Kernel kernel = at_tile(text);
    const std::int64_t stage = (bm + 16) * 16 * 2;
    EXPECT_THAT(pipeline_loops(kernel, {.num_stages = 3,
                                        .shared_bytes = 100 * stage,
                                        .processor_bytes = processor_bytes * stage,
                                        .reserved_bytes = 16}),
                IsEmpty());
    ir::verify(kernel);
    for (const auto& [m, n, k] : {std::tuple{33, 16, 48}, {16, 32, 304}, {1, 16, 16}}) {
      ProductMemory before(m, n, k), after(m, n, k);
      before.run(at_tile(text, false));
      after.run(kernel);
      EXPECT_EQ(before.c, after.c) << m << " " << n << " " << k;
    }
    return kernel.buffers.at(0).slots;
  };
  EXPECT_EQ(slots_with(0), 4);        // one for each stage, and one for products that go on
  EXPECT_EQ(slots_with(7), 6);        // one block, and what it reserves
  EXPECT_EQ(slots_with(11), 5);       // two
  EXPECT_EQ(slots_with(11, 128), 4);  // many rows, two blocks
  EXPECT_EQ(slots_with(8, 128), 5);   // one block that has room for three more
  EXPECT_EQ(slots_with(5, 128), 4);   // and one that has none, with what it reserves
}

}  // namespace
}  // namespace tilewright
