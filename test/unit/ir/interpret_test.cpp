// SPDX-License-Identifier: Apache-2.0
// ir/interpret_test.cpp — what ops mean, on small kernels written as text.
#include "ir/interpret/interpret.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/interpret/tile.h"
#include "ir/parse.h"
#include "ir/verify.h"
#include "tilewright/error.h"

namespace tilewright::ir {
namespace {

template <class T>
InterpretBuffer buffer(const char* name, std::vector<T>& data) {
  return {.name = name, .data = data.data(), .bytes = data.size() * sizeof(T)};
}

Kernel checked(const std::string& text) {
  Kernel kernel = parse(text);
  verify(kernel);
  return kernel;
}

TEST(Interpret, MaskedVectorAdd) {
  const Kernel kernel = checked(R"(kernel @add(%x: *f32, %y: *f32, %n: i32) source {
    %pid = program_id {axis = 0} : i32
    %block = constant {value = 8} : i32
    %base = mul %pid, %block : i32
    %r = arange {start = 0} : i32[8]
    %b = splat %base : i32[8]
    %offs = add %b, %r : i32[8]
    %ns = splat %n : i32[8]
    %mask = compare %offs, %ns {is = "lt"} : b1[8]
    %xs = splat %x : *f32[8]
    %xp = offset %xs, %offs : *f32[8]
    %v = load %xp, %mask : f32[8]
    %w = add %v, %v : f32[8]
    %ys = splat %y : *f32[8]
    %yp = offset %ys, %offs : *f32[8]
    store %yp, %w, %mask
  })");
  std::vector<float> x(21), y(21, -1);
  std::iota(x.begin(), x.end(), 0.5f);
  const InterpretBuffer buffers[] = {buffer("x", x), buffer("y", y)};
  const InterpretArgument arguments[] = {InterpretPointer{0}, InterpretPointer{1},
                                         std::int64_t{21}};
  interpret(kernel, buffers, arguments, {.grid = {3, 1, 1}});
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], 2 * x[i]);

  // A wrong length lets the last program read past the end: found, with the index and the program.
  const InterpretArgument wrong[] = {InterpretPointer{0}, InterpretPointer{1}, std::int64_t{22}};
  try {
    interpret(kernel, buffers, wrong, {.grid = {3, 1, 1}});
    FAIL() << "must throw";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "kernel 'add': load reads index 21 of buffer 'x', which has 21 elements of "
                 "float32 (program 2, 0, 0)");
  }
}

TEST(Interpret, AccessForms) {
  const Kernel kernel = checked(R"(kernel @forms(%x: *i32, %y: *i32, %row: i64, %m: i64) tile {
    %zero = constant {value = 0} : i64
    %one = constant {value = 1} : i64
    %two = constant {value = 2} : i64
    %four = constant {value = 4} : i64
    %p = affine %x, %row, %two : *i32[2, 4]
    %mask = bounds %zero, %m, %one, %four : b1[2, 4]
    %minus = constant {value = -1} : i32
    %other = splat %minus : i32[2, 4]
    %v = load %p, %mask, %other : i32[2, 4]
    %q = affine %y, %four, %one : *i32[2, 4]
    store %q, %v
    %big = constant {value = 2147483647} : i32
    %w = affine %big, %one, %zero : i32[2, 4]
    %eight = constant {value = 8} : i64
    %z = offset %y, %eight : *i32
    %r = affine %z, %four, %one : *i32[2, 4]
    store %r, %w
  })");
  std::vector<std::int32_t> x(32), y(16, 0);
  std::iota(x.begin(), x.end(), 0);
  const InterpretBuffer buffers[] = {buffer("x", x), buffer("y", y)};
  const InterpretArgument arguments[] = {InterpretPointer{0}, InterpretPointer{1}, std::int64_t{10},
                                         std::int64_t{2}};
  interpret(kernel, buffers, arguments, {});
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max(), least = -most - 1;
  EXPECT_THAT(y, testing::ElementsAre(-1, 2, 4, 6, -1, 12, 14, 16, most, most, most, most, least,
                                      least, least, least));
  const InterpretArgument one_row[] = {InterpretPointer{0}, InterpretPointer{1}, std::int64_t{10},
                                       std::int64_t{1}};
  interpret(kernel, buffers, one_row, {});
  EXPECT_EQ(y[3], 6);
  EXPECT_EQ(y[5], -1);
}

// Runs `ops`, which must define %r of type `type`, with scalar arguments %a, %b of that type; gives
// the stored result.
template <class T>
T evaluate(const std::string& type, const std::string& ops, InterpretArgument a,
           InterpretArgument b) {
  const Kernel kernel = checked("kernel @k(%out: *" + type + ", %a: " + type + ", %b: " + type +
                                ") source {\n" + ops + "\nstore %out, %r\n}");
  std::vector<T> out(1);
  const InterpretBuffer buffers[] = {buffer("out", out)};
  const InterpretArgument arguments[] = {InterpretPointer{0}, a, b};
  interpret(kernel, buffers, arguments, {});
  return out[0];
}

std::int32_t int32_op(const char* op, std::int64_t a, std::int64_t b) {
  return evaluate<std::int32_t>("i32", "%r = " + std::string(op) + " %a, %b : i32", a, b);
}

TEST(Interpret, IntegersWrapAndTruncate) {
  constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t smallest = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(int32_op("add", largest, 1), smallest);
  EXPECT_EQ(int32_op("mul", largest, largest), 1);
  EXPECT_EQ(int32_op("div", -7, 2), -3);
  EXPECT_EQ(int32_op("rem", -7, 2), -1);
  EXPECT_EQ(int32_op("div", smallest, -1), smallest);
  EXPECT_EQ(int32_op("rem", smallest, -1), 0);
  EXPECT_EQ(int32_op("div", 5, 0), -1);
  EXPECT_EQ(int32_op("rem", 5, 0), 5);
  EXPECT_EQ(int32_op("mulhi", -2, 3), -1);
  EXPECT_EQ(int32_op("shl", 1, 31), smallest);
  EXPECT_EQ(int32_op("shl", 1, 32), 0);
  EXPECT_EQ(int32_op("shr", -8, 1), -4);
  EXPECT_EQ(int32_op("shr", -8, 40), -1);
  EXPECT_EQ(evaluate<std::uint32_t>("u32", "%r = div %a, %b : u32", std::int64_t{4294967295},
                                    std::int64_t{2}),
            2147483647u);
  EXPECT_EQ(evaluate<std::uint32_t>("u32", "%r = shr %a, %b : u32", std::int64_t{4294967288},
                                    std::int64_t{1}),
            2147483644u);
  EXPECT_EQ(
      evaluate<std::uint64_t>("u64", "%r = mulhi %a, %b : u64", std::int64_t{-1}, std::int64_t{-1}),
      0xfffffffffffffffeULL);
}

TEST(Interpret, FloatsRoundOnceToTheirType) {
  EXPECT_EQ(evaluate<float>("f32", "%r = div %a, %b : f32", 1.0, 3.0), 1.0f / 3.0f);
  EXPECT_EQ(evaluate<float>("f32", "%r = fma %a, %b, %b : f32", 1.0 + 0x1p-23, 1.0 + 0x1p-23),
            std::fma(1.0f + 0x1p-23f, 1.0f + 0x1p-23f, 1.0f + 0x1p-23f));
  // 2049 + 2^-11 lies just above the middle of two halves; by way of float it would fall on it and
  // round to even.
  EXPECT_EQ(
      half_to_float(evaluate<std::uint16_t>(
          "f16",
          "%c = constant {value = 2048.0} : f16\n%s = add %a, %b : f16\n%r = add %c, %s : f16", 1.0,
          0x1p-10)),
      2050.0f);
  EXPECT_EQ(round_to(f16, 2049.0 + 0x1p-30), 2050.0);
  EXPECT_EQ(round_to(f16, 2049.0), 2048.0);
  EXPECT_EQ(round_toward_zero(bf16, 1.0 + 0x1.8p-8), 1.0);
}

TEST(Interpret, NanRules) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(evaluate<float>("f32", "%r = max %a, %b : f32", nan, 2.0), 2.0f);
  const double signalling = std::numeric_limits<double>::signaling_NaN();
  EXPECT_EQ(evaluate<double>("f64", "%r = max %a, %b : f64", signalling, 2.0), 2.0);
  EXPECT_EQ(evaluate<double>("f64", "%r = min %a, %b : f64", 2.0, signalling), 2.0);
  EXPECT_TRUE(
      std::isnan(evaluate<float>("f32", "%r = max %a, %b {nan = \"propagate\"} : f32", nan, 2.0)));
  EXPECT_EQ(evaluate<float>("f32", "%c = compare %a, %a {is = \"ne\"} : b1\n%r = cast %c : f32",
                            nan, 0.0),
            1.0f);
  EXPECT_EQ(evaluate<float>("f32", "%c = compare %a, %b {is = \"ge\"} : b1\n%r = cast %c : f32",
                            nan, 0.0),
            0.0f);
}

TEST(Interpret, CastsClampAndTruncate) {
  EXPECT_EQ(float_to_int(i32, 1e10), 2147483647);
  EXPECT_EQ(float_to_int(i32, -1e10), -2147483648LL);
  EXPECT_EQ(float_to_int(i8, -128.9), -128);
  EXPECT_EQ(float_to_int(u8, -0.5), 0);
  EXPECT_EQ(float_to_int(i64, 1e30), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(float_to_int(u64, 1e30), -1);
  EXPECT_EQ(float_to_int(i32, std::nan("")), 0);
  EXPECT_EQ(float_to_int(i32, -2.7), -2);
}

TEST(Interpret, ReduceScanAndLoops) {
  const Kernel kernel = checked(R"(kernel @k(%x: *f32, %y: *f32) source {
    %r = arange {start = 0} : i32[16]
    %ps = splat %x : *f32[16]
    %p = offset %ps, %r : *f32[16]
    %v = load %p : f32[16]
    %m = reshape %v : f32[4, 4]
    %s = scan %m {axis = 1, reverse = 1} : f32[4, 4] (%a: f32, %b: f32) {
      %c = add %a, %b : f32
      yield %c
    }
    %best, %where = reduce %v, %r {axis = 0} : f32, i32 (%v0: f32, %i0: i32, %v1: f32, %i1: i32) {
      %gt = compare %v0, %v1 {is = "gt"} : b1
      %bv = select %gt, %v0, %v1 : f32
      %bi = if %gt : i32 {
        yield %i0
      } then {
        yield %i1
      }
      yield %bv, %bi
    }
    %zero = constant {value = 0} : i32
    %one = constant {value = 1} : i32
    %t = permute %s {order = [1, 0]} : f32[4, 4]
    %total = for %zero, %where, %one, %best : f32 (%i: i32, %acc: f32) {
      %n = add %acc, %best : f32
      yield %n
    }
    %flat = reshape %t : f32[16]
    %qs = splat %y : *f32[16]
    %q = offset %qs, %r : *f32[16]
    store %q, %flat
    %sixteen = constant {value = 16} : i32
    %o = offset %y, %sixteen : *f32
    store %o, %total
  })");
  std::vector<float> x(16), y(17);
  for (std::size_t i = 0; i < 16; ++i) x[i] = static_cast<float>((i * 7) % 16);
  const InterpretBuffer buffers[] = {buffer("x", x), buffer("y", y)};
  const InterpretArgument arguments[] = {InterpretPointer{0}, InterpretPointer{1}};
  interpret(kernel, buffers, arguments, {});
  for (std::size_t row = 0; row < 4; ++row) {
    float sum = 0;
    for (std::size_t column = 4; column-- > 0;) {
      sum += x[row * 4 + column];
      EXPECT_EQ(y[column * 4 + row], sum);
    }
  }
  const float best_index = 9;  // 9 * 7 % 16 == 15
  EXPECT_EQ(y[16], 15 * (best_index + 1));
}

TEST(Interpret, Float64GivesUnroundedReferences) {
  const Kernel kernel = checked(R"(kernel @k(%x: *f16, %y: *f16) source {
    %v = load %x : f16
    %w = mul %v, %v : f16
    store %y, %w
  })");
  std::vector<std::uint16_t> x(1), y(1);
  std::vector<double> wide_x = {1.0 / 3.0}, wide_y(1);
  const InterpretBuffer buffers[] = {{"x", x.data(), 2, &wide_x, f16},
                                     {"y", y.data(), 2, &wide_y, f16}};
  const InterpretArgument arguments[] = {InterpretPointer{0}, InterpretPointer{1}};
  interpret(kernel, buffers, arguments, {.float64 = true});
  EXPECT_EQ(wide_y[0], (1.0 / 3.0) * (1.0 / 3.0));
}

TEST(Interpret, WhileAtomicsPrintAssert) {
  const Kernel kernel = checked(R"(kernel @k(%lock: *i32, %sum: *f32) source {
    %zero = constant {value = 0} : i32
    %one = constant {value = 1} : i32
    while {
      %old = atomic_cas %lock, %zero, %one : i32
      %busy = compare %old, %one {is = "eq"} : b1
      condition %busy
    } then {
      yield
    }
    %half = constant {value = 0.5} : f32
    %before = atomic_rmw %sum, %half {op = "fadd"} : f32
    print %before {prefix = "before: "}
    %x = atomic_rmw %lock, %zero {op = "xchg"} : i32
    %small = compare %before, %half {is = "le"} : b1
    assert %small {message = "too many"} @9:3
  })");
  std::vector<std::int32_t> lock(1);
  std::vector<float> sum(1);
  std::vector<std::string> lines;
  const InterpretBuffer buffers[] = {buffer("lock", lock), buffer("sum", sum)};
  const InterpretArgument arguments[] = {InterpretPointer{0}, InterpretPointer{1}};
  InterpretOptions options{.grid = {2, 1, 1}};
  options.print = [&](const std::string& line) { lines.push_back(line); };
  interpret(kernel, buffers, arguments, options);
  EXPECT_EQ(sum[0], 1.0f);
  EXPECT_THAT(lines, testing::ElementsAre("pid (0, 0, 0) before: 0", "pid (1, 0, 0) before: 0.5"));
  EXPECT_THROW(interpret(kernel, buffers, arguments, options), UserError);

  lock[0] = 1;  // nobody unlocks it
  options.max_ops = 1000;
  try {
    interpret(kernel, buffers, arguments, options);
    FAIL() << "must throw";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("the loop seems endless (program 0, 0, 0)"));
  }
}

TEST(Interpret, PointersBelowABufferAndNull) {
  const Kernel kernel = checked(
      "kernel @k(%x: *f32, %i: i32) source {\n%p = offset %x, %i : *f32\n%v = load %p : f32\n}");
  std::vector<float> x(4);
  const InterpretBuffer buffers[] = {buffer("x", x)};
  const auto message = [&](InterpretArgument pointer, std::int64_t i) -> std::string {
    const InterpretArgument arguments[] = {pointer, i};
    try {
      interpret(kernel, buffers, arguments, {});
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message(InterpretPointer{0}, 3), "no error");
  EXPECT_EQ(message(InterpretPointer{0}, -1),
            "kernel 'k': load reads index -1 of buffer 'x', which has 4 elements of float32 "
            "(program 0, 0, 0)");
  EXPECT_EQ(message(InterpretPointer{-1}, 0),
            "kernel 'k': load reads through a null pointer (program 0, 0, 0)");
  EXPECT_EQ(message(1.0, 0), "argument 1 'x' of kernel 'k' must be a buffer");
}

TEST(Interpret, Dot) {
  const Kernel kernel = checked(R"(kernel @k(%x: *i8, %y: *i32) source {
    %r = arange {start = 0} : i32[16]
    %ps = splat %x : *i8[16]
    %p = offset %ps, %r : *i8[16]
    %v = load %p : i8[16]
    %a = reshape %v : i8[2, 8]
    %b = permute %a {order = [1, 0]} : i8[8, 2]
    %z = constant {value = 1} : i32[2, 2]
    %c = dot %a, %b, %z : i32[2, 2]
    %f = reshape %c : i32[4]
    %q = arange {start = 0} : i32[4]
    %ys = splat %y : *i32[4]
    %yp = offset %ys, %q : *i32[4]
    store %yp, %f
  })");
  std::vector<std::int8_t> x(16);
  std::iota(x.begin(), x.end(), static_cast<std::int8_t>(-8));
  std::vector<std::int32_t> y(4);
  const InterpretBuffer buffers[] = {buffer("x", x), buffer("y", y)};
  const InterpretArgument arguments[] = {InterpretPointer{0}, InterpretPointer{1}};
  interpret(kernel, buffers, arguments, {});
  const auto row = [&](int i, int j) {
    std::int32_t sum = 1;
    for (int k = 0; k < 8; ++k)
      sum += x[static_cast<std::size_t>(i * 8 + k)] * x[static_cast<std::size_t>(j * 8 + k)];
    return sum;
  };
  EXPECT_THAT(y, testing::ElementsAre(row(0, 0), row(0, 1), row(1, 0), row(1, 1)));
}

}  // namespace
}  // namespace tilewright::ir
