// SPDX-License-Identifier: Apache-2.0
// exec/inline_binding_test.cpp — how sources made for PyTorch name their functions, and parts of
// ATen that their host code uses.
#include "inline_on.h"

namespace tilewright {
namespace {

class InlineBinding : public InlineOn {};
TW_INLINE_ON_ALL(InlineBinding);

TEST_P(InlineBinding, ArgumentsOfPybindHaveDefaults) {
  const InlineModule m = load(R"(
#include <torch/extension.h>
#include <string>
torch::Tensor scale(torch::Tensor x, double by, int64_t times, bool negate) {
  torch::Tensor y = x.clone();
  for (int64_t i = 0; i < times; ++i) y = y * by;
  return negate ? -y : y;
}
std::string name(std::string mode) { return mode; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("scale", &scale, "scales", py::arg("x"), py::arg("by") = 2.0, py::arg("times") = 1,
        py::arg("negate") = false);
  m.def("name", &name, py::arg("mode").noconvert() = "fast");
}
)");
  const Tensor x = on_device({1, 2});
  EXPECT_EQ(numbers(m("scale", x)), (std::vector<double>{2, 4}));
  EXPECT_EQ(numbers(m("scale", x, 3.0)), (std::vector<double>{3, 6}));
  EXPECT_EQ(numbers(m("scale", x, 3.0, 2, true)), (std::vector<double>{-9, -18}));
  EXPECT_EQ(std::get<std::string>(m("name").value()), "fast");
  EXPECT_EQ(message_of<ArgumentError>([&] { m("scale"); }),
            "function 'scale' takes 1 to 4 arguments, got 0");
  EXPECT_EQ(message_of<ArgumentError>([&] { m("scale", x, 1.0, 1, true, 5); }),
            "function 'scale' takes 1 to 4 arguments, got 5");
}

TEST_P(InlineBinding, TorchLibraryBindsByItsSchemas) {
  const InlineModule m = load(R"(
#include <torch/library.h>
torch::Tensor twice(const torch::Tensor& x) { return x + x; }
torch::Tensor half_of(const torch::Tensor& x) { return x * 0.5; }
TORCH_LIBRARY(mine, m) {
  m.def("twice(Tensor x) -> Tensor", &twice);
  m.def("half_of(Tensor x) -> Tensor");
}
TORCH_LIBRARY_IMPL(mine, CUDA, m) { m.impl("half_of", TORCH_FN(half_of)); }
)");
  EXPECT_EQ(numbers(m("twice", on_device({1, 2}))), (std::vector<double>{2, 4}));
  EXPECT_EQ(numbers(m("half_of", on_device({1, 2}))), (std::vector<double>{0.5, 1}));
}

TEST_P(InlineBinding, CatAndStack) {
  const InlineModule m = load(R"(
#include <torch/extension.h>
torch::Tensor rows(torch::Tensor a, torch::Tensor b) { return torch::cat({a, b}, 0); }
torch::Tensor columns(torch::Tensor a, torch::Tensor b) { return at::cat({a, b}, -1); }
torch::Tensor stacked(torch::Tensor a, torch::Tensor b) { return torch::stack({a, b}, 1); }
)",
                              {"rows", "columns", "stacked"});
  const Tensor a = on_device({1, 2}).view({1, 2}), b = on_device({3, 4}).view({1, 2});
  EXPECT_EQ(m("rows", a, b).tensor().shape(), (Shape{2, 2}));
  EXPECT_EQ(numbers(m("rows", a, b)), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(m("columns", a, b).tensor().shape(), (Shape{1, 4}));
  EXPECT_EQ(numbers(m("columns", a, b)), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(m("stacked", a, b).tensor().shape(), (Shape{1, 2, 2}));
  EXPECT_EQ(message_of<UserError>([&] {
              m("rows", a, on_device({1, 2, 3}).view({1, 3}));
            }),
            "function 'rows' failed: cat: tensor 1 has another size in dimension 1");
}

TEST_P(InlineBinding, AccumulatorTypesInKernels) {
  const InlineModule m = load(R"(
#include <torch/extension.h>
#include <ATen/AccumulateType.h>
template <typename scalar_t>
__global__ void sum(const scalar_t* x, float* out, int n) {
  using acc_t = at::acc_type<scalar_t, true>;
  acc_t total = 0;
  for (int i = 0; i < n; ++i) total += static_cast<acc_t>(x[i]);
  out[0] = total;
  out[1] = sizeof(acc_t);
  out[2] = sizeof(at::opmath_type<scalar_t>);
}
torch::Tensor total(torch::Tensor x) {
  auto out = torch::empty({3}, x.options().dtype(torch::kFloat32));
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "total", [&] {
    sum<scalar_t><<<1, 1>>>(x.data_ptr<scalar_t>(), out.data_ptr<float>(), x.numel());
  });
  return out;
}
)",
                              {"total"});
  const Tensor x = on_device({1, 2, 3});
  EXPECT_EQ(numbers(m("total", x)), (std::vector<double>{6, 4, 4}));
  EXPECT_EQ(numbers(m("total", x.to(f16))), (std::vector<double>{6, 4, 4}));
  EXPECT_EQ(numbers(m("total", x.to(f64))), (std::vector<double>{6, 8, 8}));
}

TEST(InlineBindingCpp, ParallelForCoversTheRangeOnce) {
  InlineOptions options;
  options.cpp_sources = {R"(
#include <torch/extension.h>
#include <ATen/Parallel.h>
#include <stdexcept>
torch::Tensor counted(torch::Tensor x) {
  float* p = x.data_ptr<float>();
  at::parallel_for(3, x.numel(), 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) p[i] += 1;
  });
  return x;
}
void failing() {
  at::parallel_for(0, 4, 1, [](int64_t, int64_t) { throw std::runtime_error("no"); });
}
)"};
  options.functions = {"counted", "failing"};
  options.device = Device::cpu();
  const InlineModule m = load_inline(options);
  std::vector<double> expected(1000, 1);
  expected[0] = expected[1] = expected[2] = 0;
  EXPECT_EQ(numbers(m("counted", zeros({1000}, TensorOptions(f32, Device::cpu())))), expected);
  EXPECT_EQ(message_of<UserError>([&] { m("failing"); }), "function 'failing' failed: no");
}

}  // namespace
}  // namespace tilewright
