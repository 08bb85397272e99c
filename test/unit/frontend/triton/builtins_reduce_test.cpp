// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins_reduce_test.cpp — reductions, scans, sorting.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel_testing.h"

namespace tilewright::triton {
namespace {

using python::BinaryOperator;
using testing::AnyOf;
using testing::ElementsAre;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(Reduce, Types) {
  struct Row {
    const char* name;
    DType input;
    std::string_view result;
  };
  const Row table[] = {
      {"sum", f16, "float16"}, {"sum", bf16, "bfloat16"}, {"sum", i8, "int32"},
      {"sum", b1, "uint32"},   {"sum", u16, "uint32"},    {"sum", i64, "int64"},
      {"max", f16, "float32"}, {"max", bf16, "float32"},  {"min", u8, "int32"},
      {"max", f64, "float64"}, {"xor_sum", i8, "int8"},
  };
  for (const Row& row : table) {
    KernelTest test;
    const Value result = test.tl(row.name, {test.tile(row.input, {4})});
    EXPECT_EQ(type_text(test, result), row.result) << row.name << " " << name_of(row.input);
    EXPECT_NO_THROW(test.run(result));
  }
  KernelTest test;
  const Value both =
      test.tl("max", {test.tile(f16, {4}), integer(0)}, {{"return_indices", flag(true)}});
  EXPECT_EQ(type_text(test, both.tuple()->items[0]), "float16");
  EXPECT_EQ(type_text(test, both.tuple()->items[1]), "int32");
  EXPECT_EQ(type_text(test, test.tl("cumsum", {test.tile(bf16, {4})})), "float32[4]");
  EXPECT_EQ(type_text(test, test.tl("cumsum", {test.tile(f16, {4})})), "float16[4]");
  EXPECT_EQ(type_text(test, test.tl("sum", {test.tile(i8, {4})}, {{"dtype", type_value(i64)}})),
            "int64");
}

TEST(Reduce, Axes) {
  KernelTest test;
  const Value x = test.tile(f32, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_THAT(test.run(test.tl("sum", {x, integer(0)})), ElementsAre(6, 8, 10, 12));
  EXPECT_THAT(test.run(test.method(x, "sum", {integer(-1)})), ElementsAre(10, 26));
  EXPECT_THAT(test.run(test.tl("sum", {x})), ElementsAre(36));
  EXPECT_EQ(type_text(test, test.tl("sum", {x, integer(1)}, {{"keep_dims", flag(true)}})),
            "float32[2, 1]");
  EXPECT_EQ(type_text(test, test.tl("max", {x}, {{"keep_dims", flag(true)}})), "float32[1, 1]");
  EXPECT_EQ(mistake([&] {
              test.tl("sum", {x, integer(2)});
            }),
            "'axis' of tl.sum is 2, but the block has 2 dimensions");
}

TEST(Reduce, NanAndTies) {
  KernelTest test;
  const Value x = test.tile(f32, {4}, {1, nan, 5, 5});
  EXPECT_THAT(test.run(test.tl("max", {x})), ElementsAre(5));
  EXPECT_THAT(test.run(test.tl("min", {x})), ElementsAre(1));
  const Value y = test.tile(f32, {2, 4}, {1, 7, 7, 2, 4, 4, 3, 3});
  EXPECT_THAT(test.run(test.tl("argmax", {y, integer(1)})), ElementsAre(1, 0));
  EXPECT_THAT(test.run(test.tl("argmin", {y, integer(1)})), ElementsAre(0, 2));
  EXPECT_THAT(test.run(test.tl("argmin", {y, integer(0)})), ElementsAre(0, 1, 1, 0));
  // Without tie_break_left any of the equal ones may be named.
  const Value any = test.tl("argmax", {y, integer(1), Value::boolean(false)});
  EXPECT_THAT(test.run(any), ElementsAre(AnyOf(1, 2), AnyOf(0, 1)));
}

TEST(Reduce, CombineFunctions) {
  KernelTest test;
  const Value larger_sum = test.function("combine", [&](const std::vector<Value>& v) {
    return Value::tuple(
        {test.tl("maximum", {v[0], v[2]}), test.binary(BinaryOperator::Add, v[1], v[3])});
  });
  const Value x = test.tile(f32, {4}, {3, 9, 2, 5}), n = test.tile(i32, {4}, {1, 2, 3, 4});
  const Value both = test.tl("reduce", {Value::tuple({x, n}), integer(0), larger_sum});
  EXPECT_THAT(test.run(both.tuple()->items[0]), ElementsAre(9));
  EXPECT_THAT(test.run(both.tuple()->items[1]), ElementsAre(10));
  const Value product = test.function("product", [&](const std::vector<Value>& v) {
    return test.binary(BinaryOperator::Multiply, v[0], v[1]);
  });
  EXPECT_THAT(test.run(test.tl("associative_scan", {n, integer(0), product})),
              ElementsAre(1, 2, 6, 24));
  EXPECT_THAT(
      test.run(test.tl("associative_scan", {n, integer(0), product}, {{"reverse", flag(true)}})),
      ElementsAre(24, 24, 12, 4));
  EXPECT_THAT(
      test.run(test.tl("reduce",
                       {n, integer(0), external_value("triton.language.standard._sum_combine")})),
      ElementsAre(10));
  const Value half = test.function("half", [&](const std::vector<Value>& v) {
    return test.binary(BinaryOperator::Divide, v[0], v[1]);
  });
  EXPECT_EQ(mistake([&] {
              test.tl("reduce", {n, integer(0), half});
            }),
            "tl.reduce needs int32 from its combine function, but gets float32");
  EXPECT_EQ(mistake([&] {
              test.tl("associative_scan", {n, integer(0), half});
            }),
            "tl.associative_scan needs int32 from its combine function, but gets float32");
}

TEST(Scan, Cumulated) {
  KernelTest test;
  const Value x = test.tile(i8, {4}, {100, 100, 1, 2});
  EXPECT_THAT(test.run(test.tl("cumsum", {x})), ElementsAre(100, 200, 201, 203));
  EXPECT_THAT(test.run(test.tl("cumsum", {x}, {{"reverse", flag(true)}})),
              ElementsAre(203, 103, 3, 2));
  const Value y = test.tile(f32, {2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(test.run(test.tl("cumprod", {y, integer(1)})), ElementsAre(1, 2, 3, 12));
}

TEST(Reduce, Softmax) {
  KernelTest test;
  const std::vector<double> out =
      test.run(test.tl("softmax", {test.tile(f32, {2}, {0, std::log(3.0)})}));
  EXPECT_NEAR(out[0], 0.25, 1e-6);
  EXPECT_NEAR(out[1], 0.75, 1e-6);
}

// ---- Sorting

std::vector<double> shuffled(int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back((i * 37) % 11 - 4);
  return values;
}

TEST(Sort, RowsBothWays) {
  for (const std::int64_t size : {2, 8, 16}) {
    for (const bool descending : {false, true}) {
      KernelTest test;
      std::vector<double> values = shuffled(static_cast<int>(4 * size));
      const Value x = test.tile(f32, {4, size}, values);
      const Value result = test.tl("sort", {x}, {{"descending", flag(descending)}});
      for (std::size_t row = 0; row < 4; ++row) {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(row) * size;
        std::sort(first, first + size);
        if (descending) std::reverse(first, first + size);
      }
      EXPECT_EQ(test.run(result), values) << size;
    }
  }
}

TEST(Sort, TopK) {
  for (const std::int64_t k : {1, 2, 4, 16}) {
    KernelTest test;
    std::vector<double> values = shuffled(16);
    const Value result = test.tl("topk", {test.tile(i32, {16}, values), integer(k)});
    std::sort(values.rbegin(), values.rend());
    values.resize(static_cast<std::size_t>(k));
    EXPECT_EQ(test.run(result), values) << k;
  }
  KernelTest test;
  EXPECT_EQ(mistake([&] {
              test.tl("topk", {test.tile(i32, {4}), integer(3)});
            }),
            "tl.topk needs a power of two as k, not 3");
  EXPECT_EQ(mistake([&] {
              test.tl("sort", {test.tile(i32, {4, 4}), integer(0)});
            }),
            "tl.sort works along the last dimension, 1, only (use tl.permute before and after)");
}

TEST(Sort, MergeAndHistogram) {
  KernelTest test;
  const Value x = test.tile(i32, {4}, {1, 5, 4, 2});
  EXPECT_THAT(test.run(test.tl("bitonic_merge", {x})), ElementsAre(1, 2, 4, 5));
  const Value counts = test.tl("histogram", {test.tile(i32, {4}, {0, 3, 3, 7}), integer(4)});
  EXPECT_THAT(test.run(counts), ElementsAre(1, 0, 0, 2));
}

}  // namespace
}  // namespace tilewright::triton
