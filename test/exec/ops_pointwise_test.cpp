// SPDX-License-Identifier: Apache-2.0
// exec/ops_pointwise_test.cpp — operations on elements: values, dtypes, broadcasting, strides.
#include <limits>

#include "graph/op.h"
#include "ops_reference.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Function {
  const char* name;
  Tensor (*of)(const Tensor&);
  double (*expected)(double);
  double tolerance = 2e-6;
};

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

const Function functions[] = {
    {"neg", neg, [](double x) { return -x; }, 0},
    {"abs", abs, [](double x) { return std::abs(x); }, 0},
    {"sign", sign, [](double x) { return static_cast<double>((x > 0) - (x < 0)); }, 0},
    {"square", square, [](double x) { return x * x; }},
    {"reciprocal", reciprocal, [](double x) { return 1 / x; }},
    {"floor", floor, [](double x) { return std::floor(x); }, 0},
    {"ceil", ceil, [](double x) { return std::ceil(x); }, 0},
    {"round", round, [](double x) { return std::nearbyint(x); }, 0},
    {"trunc", trunc, [](double x) { return std::trunc(x); }, 0},
    {"exp", exp, [](double x) { return std::exp(x); }},
    {"expm1", expm1, [](double x) { return std::expm1(x); }},
    {"log", log, [](double x) { return std::log(x); }},
    {"log2", log2, [](double x) { return std::log2(x); }},
    {"log1p", log1p, [](double x) { return std::log1p(x); }},
    {"sqrt", sqrt, [](double x) { return std::sqrt(x); }},
    {"rsqrt", rsqrt, [](double x) { return 1 / std::sqrt(x); }},
    {"sin", sin, [](double x) { return std::sin(x); }},
    {"cos", cos, [](double x) { return std::cos(x); }},
    {"tan", tan, [](double x) { return std::tan(x); }, 1e-5},
    {"tanh", tanh, [](double x) { return std::tanh(x); }},
    {"erf", erf, [](double x) { return std::erf(x); }},
    {"sigmoid", sigmoid, sigmoid_of},
    {"relu", relu, [](double x) { return std::isnan(x) ? x : std::max(x, 0.0); }, 0},
    {"silu", silu, [](double x) { return x * sigmoid_of(x); }},
    {"gelu", [](const Tensor& x) { return gelu(x); },
     [](double x) { return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5))); }},
    {"gelu_tanh", [](const Tensor& x) { return gelu(x, Gelu::Tanh); },
     [](double x) {
       return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
     }},
    {"isnan", isnan, [](double x) { return std::isnan(x) ? 1.0 : 0.0; }, 0},
    {"isinf", isinf, [](double x) { return std::isinf(x) ? 1.0 : 0.0; }, 0},
};

class OpsPointwise : public OpsTest {};

TEST_P(OpsPointwise, FunctionsOfOneElement) {
  std::vector<double> values = {0, -0.0, 1, -1, 0.5, 1.5, 2.5, -2.5, 3.75, -7, 20, 1e-3, nan};
  const Tensor x = tensor(values, device()).to(f32);
  for (const Function& function : functions) {
    const Doubles in = doubles_of(x);
    expect_near(function.of(x),
                make_doubles(in.shape, [&](const Shape& i) { return function.expected(in.at(i)); }),
                function.tolerance, function.name);
  }
}

TEST_P(OpsPointwise, InfinitiesAndNans) {
  const Tensor x = tensor<float>(
      {static_cast<float>(inf), static_cast<float>(-inf), static_cast<float>(nan), 2}, device());
  const Tensor one = ones({}, {f32, device()});
  expect_near(maximum(x, one), {{4}, {inf, 1, nan, 2}}, 0);
  expect_near(minimum(x, 1), {{4}, {1, -inf, nan, 1}}, 0);
  expect_near(clamp(x, -1, 1), {{4}, {1, -1, nan, 1}}, 0);
  expect_near(x < 3.0, {{4}, {0, 1, 0, 1}}, 0);
  expect_near(ne(x, x), {{4}, {0, 0, 1, 0}}, 0);
  expect_near(sigmoid(x), {{4}, {1, 0, nan, sigmoid_of(2)}}, 1e-6);
  expect_near(tanh(x), {{4}, {1, -1, nan, std::tanh(2)}}, 1e-6);
}

TEST_P(OpsPointwise, IntegersAsInPython) {
  const Tensor a = tensor<std::int32_t>({7, -7, 7, -7, 5}, device());
  const Tensor b = tensor<std::int32_t>({2, 2, -2, -2, 0}, device());
  expect_near(floor_divide(a, b), {{5}, {3, -4, -4, 3, 0}}, 0);
  expect_near(remainder(a, b), {{5}, {1, 1, -1, -1, 0}}, 0);
  expect_near(pow(a, 3), {{5}, {343, -343, 343, -343, 125}}, 0);
  EXPECT_EQ((a / 2).dtype(), f32);
  expect_near(a / 2, {{5}, {3.5, -3.5, 3.5, -3.5, 2.5}}, 0);
  const Tensor yes = a > 0;
  EXPECT_EQ(yes.dtype(), b1);
  expect_near(yes + yes, {{5}, {1, 0, 1, 0, 1}}, 0);  // of bools: or
  expect_near(where(yes, a, 0), {{5}, {7, 0, 7, 0, 5}}, 0);
  expect_near(logical_not(yes), {{5}, {0, 1, 0, 1, 0}}, 0);
}

// The quotient of what is near the ends of the range: x without its rest may lie beyond them.
TEST_P(OpsPointwise, QuotientsAtTheEndsOfIntegers) {
  const auto check = [&]<class T>(T) {
    constexpr std::int64_t low = std::numeric_limits<T>::min(),
                           high = std::numeric_limits<T>::max();
    const std::vector<std::int64_t> ends = {low, low + 1, low / 2, -7, -1, 0, 1, 7, high / 2, high};
    std::vector<T> a, b, quotients, rests;
    for (const std::int64_t x : ends)
      for (const std::int64_t y :
           {low, std::int64_t{-3}, std::int64_t{-2}, std::int64_t{2}, std::int64_t{3}, high}) {
        if ((low == 0 && (x < 0 || y <= 0))) continue;
        a.push_back(static_cast<T>(x));
        b.push_back(static_cast<T>(y));
        const std::int64_t below = x % y != 0 && (x % y < 0) != (y < 0) ? 1 : 0;
        quotients.push_back(static_cast<T>(x / y - below));
        rests.push_back(static_cast<T>(x % y + below * y));
      }
    const Tensor x = tensor(a, device()), y = tensor(b, device());
    EXPECT_EQ(floor_divide(x, y).cpu().to_vector<T>(), quotients);
    EXPECT_EQ(remainder(x, y).cpu().to_vector<T>(), rests);
  };
  check(std::int8_t{});
  check(std::uint8_t{});
  check(std::int16_t{});
  check(std::int32_t{});
  check(std::int64_t{});
}

// A number that is no whole one, too large for 32 bits or NaN is not 0 either.
TEST_P(OpsPointwise, LogicOfNumbers) {
  const Tensor x = tensor<float>({0, 0.5, nan}, device());
  for (const Scalar number :
       {Scalar(0.5), Scalar(nan), Scalar(inf), Scalar(std::int64_t{1} << 40), Scalar(true)}) {
    expect_near(logical_and(x, number), {{3}, {0, 1, 1}}, 0);
    expect_near(logical_or(x, number), {{3}, {1, 1, 1}}, 0);
  }
  expect_near(logical_or(x, 0.0), {{3}, {0, 1, 1}}, 0);
}

// As Python's: 1 // 0.1 is 9 since 0.1 is a little more, and nothing fits into infinity.
TEST_P(OpsPointwise, QuotientsOfFloatsAreWhatFits) {
  const std::vector<double> a = {1, 5, -5, inf, -7, 7, -0.0, 6, 1, -1, 0, 0.25, nan};
  const std::vector<double> b = {0.1, inf, inf, 1, 2, -2, 3, 2, 0, 0, 0, -0.1, 1};
  const Tensor x = tensor(a, device()), y = tensor(b, device());
  const Doubles expected = {{13}, {9, 0, -1, nan, -4, -4, -0.0, 3, inf, -inf, nan, -3, nan}};
  expect_near(floor_divide(x, y), expected, 0);
  expect_near(floor_divide(x.to(f32), y.to(f32)), expected, 0);
  expect_near(1 / floor_divide(x, y).slice(0, 6, 7), {{1}, {-inf}}, 0);
  expect_near(remainder(x, y),
              {{13},
               {std::fmod(1, 0.1), 5, inf, nan, 1, -1, 0, 0, nan, nan, nan,
                std::fmod(0.25, 0.1) - 0.1, nan}},
              1e-15);
}

// Odd functions of -0 are -0.
void expect_signs_of_zeros(Device device) {
  const std::pair<const char*, Tensor (*)(const Tensor&)> odd[] = {
      {"sin", sin},     {"tan", tan},     {"tanh", tanh},  {"erf", erf},
      {"expm1", expm1}, {"log1p", log1p}, {"sqrt", sqrt},  {"floor", floor},
      {"ceil", ceil},   {"round", round}, {"trunc", trunc}};
  for (const DType dtype : {f32, f64, f16})
    for (const auto& [name, f] : odd) {
      const Tensor zeros_of_both = tensor<float>({-0.0f, 0.0f, -0.0f}, device).to(dtype);
      for (const float value : (1 / f(zeros_of_both)).to(f32).slice(0, 0, 3, 2).to_vector<float>())
        EXPECT_EQ(value, -inf) << name << " of " << name_of(dtype);
      EXPECT_EQ((1 / f(zeros_of_both))[1].to(f32).item<float>(), inf) << name;
    }
}

TEST_P(OpsPointwise, ZerosKeepTheirSigns) { expect_signs_of_zeros(device()); }

TEST(OpsPointwiseEmulated, ZerosKeepTheirSigns) {
  const Target target = Target::parse("sm_90a");
  const graph::EmulatedGroups emulated(target);
  expect_signs_of_zeros(Device::cpu());
}

// Modulo 2^bits: all bits of an exponent count.
TEST_P(OpsPointwise, LargePowersOfIntegers) {
  const Tensor base = tensor<std::int64_t>({0, 2, 1, -1, -1, 3, 10, 2}, device());
  const Tensor exponent =
      tensor<std::int64_t>({32768, 65536, 32768, 32769, -32769, 32768, 3, 62}, device());
  EXPECT_EQ(pow(base, exponent).to_vector<std::int64_t>(),
            (std::vector<std::int64_t>{0, 0, 1, -1, -1, 1843931970111406081, 1000,
                                       std::int64_t{1} << 62}));
  const Tensor small = tensor<std::uint8_t>({2, 0, 3, 2}, device());
  const Tensor by = tensor<std::uint8_t>({128, 200, 129, 7}, device());
  expect_near(pow(small, by), {{4}, {0, 0, 3, 128}}, 0);
}

TEST_P(OpsPointwise, AnyLayoutGivesTheSame) {
  const Tensor x = random({6, 40, 70}), y = random({6, 40, 70}, f32, 2);
  const Doubles sum = make_doubles(x.shape(), [a = doubles_of(x), b = doubles_of(y)](
                                                  const Shape& i) { return a.at(i) + b.at(i); });
  expect_near(x + y, sum, 1e-6, "dense");
  expect_near(x + y.transpose(0, 2).contiguous().transpose(0, 2), sum, 1e-6, "one transposed");
  const Tensor wide = empty({6, 40, 140}, {f32, device()});
  wide.slice(2, 0, 140, 2).copy_from(y);
  expect_near(x + wide.slice(2, 0, 140, 2), sum, 1e-6, "every second");
  const Tensor thin = x.permute({2, 0, 1}).slice(2, 0, 3);  // rows of 3: places by division
  expect_near(thin + thin, doubles_of(2 * thin.contiguous()), 1e-6, "short rows");
  const Tensor row = random({70}, f32, 3), column = random({40, 1}, f32, 4);
  expect_near(
      x * row + column,
      make_doubles(x.shape(), [a = doubles_of(x), r = doubles_of(row), c = doubles_of(column)](
                                  const Shape& i) { return a.at(i) * r.at(i) + c.at(i); }),
      1e-6, "broadcast");
  const Tensor backwards = x.slice(2, -1, -1000, -1);
  expect_near(backwards - 0, doubles_of(backwards.contiguous()), 0, "a negative stride");
}

TEST_P(OpsPointwise, SizesOfZeroAndOne) {
  EXPECT_EQ((empty({0, 3}, {f32, device()}) + 1).shape(), (Shape{0, 3}));
  EXPECT_EQ((empty({0}, {f32, device()}) + ones({1}, {f32, device()})).shape(), (Shape{0}));
  expect_near(ones({}, {f32, device()}) + ones({1, 1}, {f32, device()}), {{1, 1}, {2}}, 0);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, OpsPointwise,
                         testing::Values(OpsOn::Cpu, OpsOn::Interpreter, OpsOn::Cuda),
                         ops_place_name);

// ---- Dtypes.

TEST(OpsTypes, PromotionIsPyTorchs) {
  using graph::promote;
  const struct {
    DType a, b, common;
  } table[] = {{b1, u8, u8},     {u8, i8, i16},   {i8, i64, i64},   {i64, f16, f16},
               {f16, bf16, f32}, {f32, f64, f64}, {bf16, f32, f32}, {i32, b1, i32},
               {u8, i16, i16},   {u16, i16, i32}, {u32, i32, i64},  {f16, f16, f16}};
  for (const auto& row : table) {
    EXPECT_EQ(promote(row.a, row.b), row.common);
    EXPECT_EQ(promote(row.b, row.a), row.common);
  }
  EXPECT_THROW(promote(u64, i32), ArgumentError);
}

TEST(OpsTypes, NumbersAndTensorsWithoutDimensionsWeighLess) {
  const TensorOptions cpu = Device::cpu();
  const auto of = [&](DType dtype, Shape shape) {
    return ones(std::move(shape), {dtype, *cpu.device});
  };
  EXPECT_EQ((of(f16, {2}) + 1.5).dtype(), f16);
  EXPECT_EQ((of(i32, {2}) + 1.5).dtype(), f32);
  EXPECT_EQ((of(i8, {2}) + 1).dtype(), i8);
  EXPECT_EQ((of(b1, {2}) + 1).dtype(), i64);
  EXPECT_EQ((of(f16, {2}) + of(f64, {})).dtype(), f16);
  EXPECT_EQ((of(i32, {2}) + of(f64, {})).dtype(), f64);
  EXPECT_EQ(exp(of(i32, {2})).dtype(), f32);
  EXPECT_EQ(sum(of(i8, {2})).dtype(), i64);
  EXPECT_EQ(sum(of(f16, {2})).dtype(), f16);
  EXPECT_EQ(argmax(of(f16, {2})).dtype(), i64);
}

TEST(OpsTypes, SmallFloatsAreRoundedOnce) {
  const Tensor x = tensor<float>({0.1f, 1.0f / 3, 1234.5f}, Device::cpu());
  for (const DType dtype : {f16, bf16}) {
    const Tensor small = x.to(dtype);
    EXPECT_TRUE(allclose(exp(small * 0.5), exp((small * 0.5).to(f32)).to(dtype), {0, 0, true}));
    EXPECT_EQ((small * 0.5).dtype(), dtype);
  }
}

// ---- Mistakes.

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(OpsErrors, SayTheCallAndBothOperands) {
  const Tensor a = ones({2, 3}, Device::cpu()), b = ones({4, 3}, Device::cpu());
  EXPECT_EQ(message_of([&] { a + b; }),
            "add: shapes [2, 3] and [4, 3] do not broadcast: sizes 2 and 4 of dimension 0 differ "
            "and neither is 1");
  EXPECT_EQ(message_of([&] { sum(a, 2); }), "sum(float32[2, 3]) has no dimension 2: there are 2");
  EXPECT_EQ(message_of([&] {
              sum(a, {0, -2});
            }),
            "sum(float32[2, 3]) was given dimension -2 twice");
  EXPECT_EQ(message_of([&] { matmul(a, b); }),
            "matmul(float32[2, 3], float32[4, 3]): the last dimension of the first must be as long "
            "as the one before the last of the second (rows x k times k x columns)");
  EXPECT_EQ(message_of([&] { softmax(a.to(i32)); }),
            "softmax(int32[2, 3]) needs a tensor of floats: convert it with to(tw::f32) first");
  EXPECT_EQ(message_of([&] { where(a, a, b); }),
            "where(float32[2, 3], float32[2, 3], float32[4, 3]): the condition must be a bool "
            "tensor: compare it with something");
  EXPECT_EQ(message_of([&] { (a > 0) - (a > 1); }),
            "sub(bool[2, 3], bool[2, 3]): bools have no difference: use ne() or logical_not()");
  EXPECT_EQ(message_of([&] {
              max(empty({0, 3}, Device::cpu()));
            }),
            "max(float32[0, 3]): the dimensions to reduce have no elements, and nothing is the "
            "result of that");
  EXPECT_EQ(message_of([&] {
              embedding(a, tensor<std::int64_t>({0, 2}, Device::cpu()));
            }),
            "embedding: index 2 at place 1 is out of range: there are 2 (0 to 1)");
  EXPECT_EQ(message_of([&] {
              cross_entropy(a, tensor<std::int64_t>({0, 3}, Device::cpu()));
            }),
            "cross_entropy: index 3 at place 1 is out of range: there are 3 (0 to 2)");
  EXPECT_EQ(message_of([&] {
              matmul(a, ones({3, 2}, {f64, Device::cpu()}));
            }),
            "matmul(float32[2, 3], float64[3, 2]): both must have one dtype: convert with "
            "to(tw::float64)");
  const Tensor index = tensor<std::int64_t>({0, 1}, Device::cpu());
  EXPECT_EQ(message_of([&] { gather(a, 3, index); }),
            "gather(float32[2, 3]) has no dimension 3: there are 2");
  EXPECT_EQ(message_of([&] { index_select(a, -3, index); }),
            "index_select(float32[2, 3]) has no dimension -3: there are 2");
  EXPECT_EQ(message_of([&] {
              cat({a, a}, 2);
            }),
            "cat(float32[2, 3]) has no dimension 2: there are 2");
  EXPECT_EQ(message_of([&] {
              stack({a, a}, 3);
            }),
            "stack(float32[2, 3]) has no place for a dimension 3: there are 3");
  EXPECT_THROW(Tensor() + a, ArgumentError);
}

// 300 would be compared as 44. What is added or multiplied is modulo 256 anyway.
TEST(OpsErrors, NumbersThatTheDtypeDoesNotHave) {
  const Tensor x = tensor<std::int8_t>({44, -1}, Device::cpu()), y = x.to(u8);
  EXPECT_EQ(message_of([&] { eq(x, 300); }),
            "eq(int8[2], 300): 300 is no int8: convert the tensor with to() first");
  EXPECT_EQ(message_of([&] { clamp(y, -1, 255); }),
            "clamp(uint8[2], -1, 255): -1 is no uint8: convert the tensor with to() first");
  EXPECT_EQ(message_of([&] { where(x > 0, x, 300); }),
            "where(bool[2], int8[2], 300): 300 is no int8: convert the tensor with to() first");
  EXPECT_EQ(message_of([&] { scatter(y, 0, y.to(i64) * 0, -1); }),
            "scatter(uint8[2]): -1 is no uint8: convert the tensor with to() first");
  EXPECT_THROW(maximum(x, 128), ArgumentError);
  EXPECT_THROW(lt(-129, x), ArgumentError);
  EXPECT_THROW(floor_divide(x, 300), ArgumentError);
  EXPECT_THROW(remainder(300, y), ArgumentError);
  EXPECT_THROW(pow(x, 300), ArgumentError);
  EXPECT_THROW(x.to(u64) < -1, ArgumentError);
  EXPECT_THROW(x.to(i64) < ~std::uint64_t{0}, ArgumentError);
  expect_near(y.to(u64) < ~std::uint64_t{0}, {{2}, {1, 1}}, 0);
  expect_near(x.to(i64) <= std::numeric_limits<std::int64_t>::max(), {{2}, {1, 1}}, 0);
  expect_near(clamp(x, -128, 127), {{2}, {44, -1}}, 0);
  expect_near(pow(300, y.to(i64) * 0), {{2}, {1, 1}}, 0);
  expect_near(y + -1, {{2}, {43, 254}}, 0);
  expect_near(x < 300.0, {{2}, {1, 1}}, 0);  // in float32
}

}  // namespace
}  // namespace tilewright
