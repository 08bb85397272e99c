// SPDX-License-Identifier: Apache-2.0
// bench/tile_kernels.cpp — memory-bound Triton kernels and matrix products as compiled here: speed
// (beside a copy), error against float64. rivals.py runs the same kernel text by Triton.
#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/embedded.h"
#include "report.h"
#include "tilewright/benchmark.h"
#include "tilewright/tensor.h"
#include "tilewright/triton.h"

namespace tilewright::bench {
namespace {

constexpr const char* help =
    "tile_kernels [--json]: GELU, softmax, layer norm and matrix products from Triton text, on "
    "the\n"
    "GPU or the CPU\n"
    "  GB/s count every input and output once; the error is the largest against float64,\n"
    "  relative to the largest value\n";

struct Work {
  const char* kernel;
  DType dtype;
  std::int64_t rows;
  std::int64_t columns;
};

std::vector<Work> works_for(Device device) {
  constexpr DType f32 = DType::Float32, bf16 = DType::BFloat16;
  if (!device.is_cuda())
    return {{"gelu", f32, 8192, 4096},       {"gelu", bf16, 8192, 4096},
            {"softmax", f32, 131072, 256},   {"softmax", f32, 32768, 781},
            {"softmax", f32, 8192, 4096},    {"softmax", f32, 256, 131072},
            {"softmax", bf16, 8192, 4096},   {"layer_norm", f32, 8192, 4096},
            {"layer_norm", bf16, 8192, 4096}};
  std::vector<Work> works = {{"gelu", f32, 16384, 16384}, {"gelu", bf16, 16384, 16384}};
  constexpr std::int64_t shapes[][2] = {{262144, 256}, {262144, 781}, {262144, 1024},
                                        {65536, 4096}, {32768, 8192}, {16384, 16384},
                                        {8192, 32768}, {2048, 131072}};
  for (const DType dtype : {f32, bf16})
    for (const auto& [rows, columns] : shapes) works.push_back({"softmax", dtype, rows, columns});
  for (const auto& [rows, columns] : {std::pair{65536, 1024}, {16384, 4096}, {8192, 8192}})
    works.push_back({"layer_norm", bf16, rows, columns});
  return works;
}

int warps_for(std::int64_t columns) {
  return columns < 2048 ? 4 : columns < 4096 ? 8 : columns < 65536 ? 16 : 32;
}

std::int64_t next_power_of_two(std::int64_t n) {
  std::int64_t p = 1;
  while (p < n) p *= 2;
  return p;
}

struct Operands {
  Tensor x, y, weight, bias;
};

std::function<void()> launch_of(const TritonKernel& kernel, const Work& work, Operands& t) {
  const std::int64_t n = work.columns;
  if (work.kernel == std::string_view("gelu"))
    return [&kernel, &t] {
      kernel[{cdiv(t.x.numel(), 1024)}](t.x, t.y, t.x.numel(), constant("BLOCK", 1024));
    };
  const TritonLaunch launch{.grid = work.rows, .num_warps = warps_for(n)};
  const std::int64_t block = next_power_of_two(n);
  if (work.kernel == std::string_view("softmax"))
    return [=, &kernel, &t] { kernel[launch](t.x, t.y, n, n, n, constant("BLOCK", block)); };
  return [=, &kernel, &t] {
    kernel[launch](t.x, t.y, t.weight, t.bias, n, n, 1e-5f, constant("BLOCK", block));
  };
}

void reference_row(const Work& work, const double* x, const double* weight, const double* bias,
                   std::vector<double>& y) {
  const std::size_t n = y.size();
  if (work.kernel == std::string_view("gelu")) {
    for (std::size_t i = 0; i < n; ++i)
      y[i] = 0.5 * x[i] * (1 + std::tanh(0.79788456 * (x[i] + 0.044715 * x[i] * x[i] * x[i])));
    return;
  }
  double sum = 0, mean = 0;
  if (work.kernel == std::string_view("softmax")) {
    const double top = *std::max_element(x, x + n);
    for (std::size_t i = 0; i < n; ++i) sum += y[i] = std::exp(x[i] - top);
    for (double& v : y) v /= sum;
    return;
  }
  for (std::size_t i = 0; i < n; ++i) mean += x[i] / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) sum += (x[i] - mean) * (x[i] - mean);
  const double scale = 1 / std::sqrt(sum / static_cast<double>(n) + 1e-5);
  for (std::size_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

std::vector<double> doubles_of(const Tensor& tensor) {
  return tensor.cpu().to(DType::Float64).to_vector<double>();
}

// Of the first, the last and some rows between.
double error_of(const Work& work, const Operands& t) {
  const std::vector<double> weight = doubles_of(t.weight), bias = doubles_of(t.bias);
  std::vector<double> expected(static_cast<std::size_t>(work.columns));
  double worst = 0;
  for (int k = 0; k < 5; ++k) {
    const std::int64_t row = (work.rows - 1) * k / 4;
    const std::vector<double> x = doubles_of(t.x.slice(0, row, row + 1));
    const std::vector<double> y = doubles_of(t.y.slice(0, row, row + 1));
    reference_row(work, x.data(), weight.data(), bias.data(), expected);
    double error = 0, top = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      top = std::max(top, std::abs(expected[i]));
      error = std::max(error, std::abs(y[i] - expected[i]));
      if (std::isnan(y[i])) error = INFINITY;
    }
    worst = std::max(worst, error / top);
  }
  return worst;
}

Row measure_work(const Work& work, Device device, double copy) {
  const std::string_view text = embedded_file("kernels/rows.py");
  const TritonKernel kernel = load_triton_source(text, fmt::format("{}_kernel", work.kernel));
  Operands t{.x = randn({work.rows, work.columns}, {work.dtype, device}),
             .weight = randn({work.columns}, {work.dtype, device}),
             .bias = randn({work.columns}, {work.dtype, device})};
  t.y = empty_like(t.x);
  const std::function<void()> run = launch_of(kernel, work, t);
  run();
  const double error = error_of(work, t);
  const BenchResult result = benchmark(run, {.device = device});
  const double bytes =
      2.0 * static_cast<double>(t.x.numel()) * static_cast<double>(size_of(work.dtype));
  const double rate = bytes / result.median;
  return {fmt::format("{} {} {}x{}", work.kernel, name_of(work.dtype), work.rows, work.columns),
          result.median, result.p10, result.p90,
          fmt::format("{:.0f} GB/s, {:.1f}% of copy, error {:.1e}", rate / 1e9, 100 * rate / copy,
                      error)};
}

// ---- Matrix products

struct Product {
  DType dtype;
  std::int64_t size;
  int block_m, block_n, block_k, warps, stages;
};

std::vector<Product> products_for(Device device) {
  constexpr DType f32 = DType::Float32, f16 = DType::Float16, bf16 = DType::BFloat16;
  if (device.is_cuda()) return {{f16, 4096, 128, 256, 64, 8, 3}, {bf16, 4096, 128, 256, 64, 8, 3}};
  return {
      {f32, 1024, 64, 64, 32, 4, 1}, {f16, 1024, 64, 64, 32, 4, 1}, {bf16, 1024, 64, 64, 32, 4, 1}};
}

// Of some rows of the product, relative to the largest value.
double error_of(const Tensor& a, const Tensor& b, const Tensor& c) {
  const std::vector<double> right = doubles_of(b);
  const std::int64_t n = c.size(1);
  double worst = 0, top = 0;
  for (const std::int64_t row : {std::int64_t{0}, c.size(0) / 3, c.size(0) - 1}) {
    const std::vector<double> x = doubles_of(a.slice(0, row, row + 1));
    const std::vector<double> y = doubles_of(c.slice(0, row, row + 1));
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < x.size(); ++k)
        sum += x[k] * right[k * static_cast<std::size_t>(n) + static_cast<std::size_t>(j)];
      const double error = std::abs(y[static_cast<std::size_t>(j)] - sum);
      top = std::max(top, std::abs(sum));
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
  }
  return worst / top;
}

Row measure_product(const Product& p, Device device) {
  const TritonKernel kernel =
      load_triton_source(embedded_file("kernels/tile_matmul.py"), "matmul_kernel");
  const std::int64_t n = p.size;
  const Tensor a = randn({n, n}, {p.dtype, device}), b = randn({n, n}, {p.dtype, device});
  Tensor c = empty_like(a);
  const TritonLaunch launch{.grid = cdiv(n, p.block_m) * cdiv(n, p.block_n),
                            .num_warps = p.warps,
                            .num_stages = p.stages};
  const auto run = [&] {
    kernel[launch](a, b, c, n, n, n, n, 1, n, 1, n, 1, constant("BLOCK_M", p.block_m),
                   constant("BLOCK_N", p.block_n), constant("BLOCK_K", p.block_k),
                   constant("GROUP", 8));
  };
  run();
  const double error = error_of(a, b, c);
  const BenchResult result = benchmark(run, {.device = device});
  const double size = static_cast<double>(n);
  return {fmt::format("matmul {} {}", name_of(p.dtype), n), result.median, result.p10, result.p90,
          fmt::format("{:.1f} GFLOP/s, error {:.1e}", 2 * size * size * size / result.median / 1e9,
                      error)};
}

Report measure() {
  const Device device = default_device();
  const double copy = measure_copy_bandwidth(device);
  Report report{fmt::format("Triton kernels (copy: {:.0f} GB/s)", copy / 1e9), machine_name(), {}};
  for (const Work& work : works_for(device))
    report.rows.push_back(measure_work(work, device, copy));
  for (const Product& product : products_for(device))
    report.rows.push_back(measure_product(product, device));
  return report;
}

}  // namespace
}  // namespace tilewright::bench

int main(int count, char** arguments) {
  return tilewright::bench::run_program(count, arguments, tilewright::bench::help,
                                        tilewright::bench::measure);
}
