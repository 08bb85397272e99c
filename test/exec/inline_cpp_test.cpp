// SPDX-License-Identifier: Apache-2.0
// exec/inline_cpp_test.cpp — plain C++ functions as CPU kernels over a grid.
#include "inline_on.h"

namespace tilewright {
namespace {

InlineModule load_cpp(const std::string& source, std::vector<std::string> macros = {}) {
  InlineOptions options;
  options.cpp_sources = {source};
  options.name = "inline_test";
  options.macros = std::move(macros);
  options.device = Device::cpu();
  return load_inline(options);
}

TEST(InlineCpp, GeluOverAGrid) {
  const InlineModule m = load_cpp(R"(
extern "C" double tanh(double);
static double gelu_of(double x) { return 0.5 * x * (1 + tanh(0.79788456 * (x + 0.044715 * x * x * x))); }
void gelu(const float* x, float* y, long n) {
  const long programs = tw::num_programs(0), share = (n + programs - 1) / programs;
  const long begin = tw::program_id(0) * share, end = begin + share < n ? begin + share : n;
  for (long i = begin; i < end; ++i) y[i] = float(gelu_of(x[i]));
}
)");
  EXPECT_EQ(m.kernels(), std::vector<std::string>{"gelu"});
  EXPECT_FALSE(m.is_emulated());
  for (std::int64_t n : {1, 7, 1000, 100001}) {
    const Tensor x = randn({n}, RandomOptions(f32, Device::cpu()).with_seed(3)), y = empty_like(x);
    m.kernel("gelu")[{.grid = 13}](x, y, n);
    std::vector<double> expected;
    for (double v : numbers(x))
      expected.push_back(0.5 * v * (1 + std::tanh(0.79788456 * (v + 0.044715 * v * v * v))));
    expect_near(y, expected, 1e-6);
  }
}

TEST(InlineCpp, AxesTemplatesAndNamespaces) {
  const InlineModule m = load_cpp(R"(
namespace demo {
template <class T, int N> void fill(T* out, T value) {
  const long i = (tw::program_id(2) * tw::num_programs(1) + tw::program_id(1)) * tw::num_programs(0) + tw::program_id(0);
  for (int k = 0; k < N; ++k) out[i * N + k] = value + T(i);
}
void nothing() {}
}
)");
  const Tensor out = zeros({2 * 3 * 4 * 2}, TensorOptions(f64, Device::cpu()));
  m.kernel("demo::fill<double, 2>")[{.grid = {2, 3, 4}}](out, 0.5);
  const auto values = numbers(out);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], 0.5 + static_cast<double>(i / 2));
  m.kernel("nothing")[{}]();
}

TEST(InlineCpp, SeveralSourcesMacrosAndHeaders) {
  InlineOptions options;
  options.cpp_sources = {
      "#include <cmath>\nstatic float half_of(float x) { return std::ldexp(x, -1); }\n",
      "void halve(float* x, int n) { for (int i = 0; i < n; ++i) x[i] = half_of(x[i]) + ADDED; "
      "}\n"};
  options.macros = {"ADDED=1"};
  options.device = Device::cpu();
  const InlineModule m = load_inline(options);
  const Tensor x = tensor(std::vector<float>{2, 4}, Device::cpu());
  m.kernel("halve")[{}](x, 2);
  EXPECT_EQ(numbers(x), (std::vector<double>{2, 3}));
}

TEST(InlineCpp, ErrorsOfArguments) {
  const InlineModule m =
      load_cpp("void f(float* x, int n) { x[0] = float(n); }\nint g(int a) { return a; }\n");
  const Tensor x = zeros({2}, TensorOptions(f64, Device::cpu()));
  EXPECT_EQ(message_of<ArgumentError>([&] { m.kernel("f")[{}](x, 2); }),
            "argument 1 'x' of kernel 'f' must be a pointer to float32, got a tensor of float64");
  EXPECT_EQ(message_of<ArgumentError>([&] { m.kernel("f")[{}](x); }),
            "kernel 'f' takes 2 arguments (x, n), got 1");
  EXPECT_EQ(message_of<ArgumentError>([&] { m.kernel("g"); }),
            "source 'inline_test' has no kernel 'g'; there is: f");
}

}  // namespace
}  // namespace tilewright
