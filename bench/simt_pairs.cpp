// SPDX-License-Identifier: Apache-2.0
// bench/simt_pairs.cpp — thread-level Python beside the same kernels in CUDA C++, in one run: what
// the code takes on the device, and what a launch takes on the host.
//
// Both of a pair have the same grid, block and arrays, and take turns, so that a disturbance of the
// machine meets both. On a machine without a GPU sizes are small: the figures then say nothing of
// the code, but everything is run and compared.
#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "base/embedded.h"
#include "bench/samplers.h"
#include "report.h"
#include "tilewright/error.h"
#include "tilewright/tilewright.h"

namespace tilewright::bench {
namespace {

constexpr const char* help =
    "simt_pairs [--json]: @cuda.jit kernels and the same in CUDA C++, device time and host time of "
    "a launch\n"
    "  goal: the Python of a pair takes as long as the C++\n";

// As one writes them by hand: ints, and __restrict__ for what is only read.
constexpr const char* cuda_text = R"(
extern "C" __global__ void square(const float* __restrict__ x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] * x[i];
}
extern "C" __global__ void add(const float* __restrict__ x, const float* __restrict__ y, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + y[i];
}
extern "C" __global__ void gelu(const float* __restrict__ x, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float v = x[i];
    const float u = 0.79788456f * (v + 0.044715f * v * v * v);
    out[i] = v / (1.0f + expf(-2.0f * u));
  }
}
static __device__ float max_over_block(float* parts, float value) {
  const int t = threadIdx.x;
  parts[t] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) parts[t] = parts[t] < parts[t + half] ? parts[t + half] : parts[t];
    __syncthreads();
  }
  const float result = parts[0];
  __syncthreads();
  return result;
}
static __device__ float sum_over_block(float* parts, float value) {
  const int t = threadIdx.x;
  parts[t] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) parts[t] = parts[t] + parts[t + half];
    __syncthreads();
  }
  const float result = parts[0];
  __syncthreads();
  return result;
}
extern "C" __global__ void softmax(const float* __restrict__ x, float* out, int columns) {
  __shared__ float parts[256];
  const int row = blockIdx.x;
  float top = -__int_as_float(0x7f800000);
  for (int i = threadIdx.x; i < columns; i += 256) {
    const float v = x[row * columns + i];
    top = top < v ? v : top;
  }
  top = max_over_block(parts, top);
  float total = 0;
  for (int i = threadIdx.x; i < columns; i += 256) total += expf(x[row * columns + i] - top);
  total = sum_over_block(parts, total);
  for (int i = threadIdx.x; i < columns; i += 256)
    out[row * columns + i] = expf(x[row * columns + i] - top) / total;
}
extern "C" __global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* out, int m, int n,
                                  int depth) {
  __shared__ float tile_a[16][16], tile_b[16][16];
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  const int tx = threadIdx.x, ty = threadIdx.y;
  float total = 0;
  for (int first = 0; first < depth; first += 16) {
    const int ka = first + tx, kb = first + ty;
    tile_a[ty][tx] = row < m && ka < depth ? a[row * depth + ka] : 0.0f;
    tile_b[ty][tx] = kb < depth && column < n ? b[kb * n + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < 16; ++k) total += tile_a[ty][k] * tile_b[k][tx];
    __syncthreads();
  }
  if (row < m && column < n) out[row * n + column] = total;
}
)";

constexpr const char* square_text = R"(from numba import cuda

@cuda.jit
def square_kernel(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[i] * x[i]
)";

// Launches one of a pair on its own output.
using Launch = std::function<void(const Tensor& out)>;

struct Pair {
  std::string name;
  Launch python, cuda;
  Tensor out;
  double bytes = 0, flops = 0;
};

NumbaKernel python_kernel(const std::string& name) {
  if (name == "square") return load_numba_source(square_text, "square_kernel");
  return load_numba_source(embedded_file(fmt::format("kernels/{}_simt.py", name)),
                           name + "_kernel");
}

std::vector<Pair> all_pairs(Device device) {
  const bool is_gpu = device.is_cuda();
  const std::int64_t n = is_gpu ? 1 << 26 : 1 << 10, size = is_gpu ? 2048 : 32;
  const std::int64_t rows = is_gpu ? 1 << 14 : 4, columns = is_gpu ? 1 << 12 : 300;
  const TensorOptions options{f32, device};
  const InlineModule inlined =
      load_inline({.cuda_sources = {cuda_text}, .name = "simt_pairs", .device = device});
  const Tensor x = randn({n}, {f32, device}), y = randn({n}, {f32, device});
  std::vector<Pair> pairs;
  const Dim3 grid = cdiv(n, 256);
  const auto counted = static_cast<int>(n);
  for (const std::string name : {"square", "gelu"}) {
    const NumbaKernel python = python_kernel(name);
    const Function cuda = inlined.kernel(name);
    pairs.push_back(
        {name, [=](const Tensor& out) { python[{.grid = grid, .block = 256}](x, out); },
         [=](const Tensor& out) { cuda[{.grid = grid, .block = 256}](x, out, counted); },
         empty({n}, options), 8.0 * static_cast<double>(n)});
  }
  {
    const NumbaKernel python = python_kernel("add");
    const Function cuda = inlined.kernel("add");
    pairs.push_back(
        {"add", [=](const Tensor& out) { python[{.grid = grid, .block = 256}](x, y, out); },
         [=](const Tensor& out) { cuda[{.grid = grid, .block = 256}](x, y, out, counted); },
         empty({n}, options), 12.0 * static_cast<double>(n)});
  }
  {
    const NumbaKernel python = python_kernel("softmax");
    const Function cuda = inlined.kernel("softmax");
    const Tensor table = randn({rows, columns}, {f32, device});
    pairs.push_back({"softmax",
                     [=](const Tensor& out) { python[{.grid = rows, .block = 256}](table, out); },
                     [=](const Tensor& out) {
                       cuda[{.grid = rows, .block = 256}](table, out, static_cast<int>(columns));
                     },
                     empty({rows, columns}, options), 8.0 * static_cast<double>(rows * columns)});
  }
  const NumbaKernel python = python_kernel("matmul");
  const Function cuda = inlined.kernel("matmul");
  const Tensor a = randn({size, size}, {f32, device}), b = randn({size, size}, {f32, device});
  const Dim3 tiles(cdiv(size, 16), cdiv(size, 16)), block(16, 16);
  const auto side = static_cast<int>(size);
  pairs.push_back({"matmul",
                   [=](const Tensor& out) { python[{.grid = tiles, .block = block}](a, b, out); },
                   [=](const Tensor& out) {
                     cuda[{.grid = tiles, .block = block}](a, b, out, side, side, side);
                   },
                   empty({size, size}, options), 0, 2.0 * static_cast<double>(size * size * size)});
  return pairs;
}

void expect_same(const Pair& pair) {
  const Tensor other = empty_like(pair.out);
  pair.python(pair.out);
  pair.cuda(other);
  const std::vector<float> got = pair.out.to_vector<float>(), wanted = other.to_vector<float>();
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(got[i] - wanted[i]) <= 1e-5f + 1e-5f * std::abs(wanted[i])))
      throw InternalError(fmt::format("{}: element {} is {} in Python and {} in CUDA C++",
                                      pair.name, i, got[i], wanted[i]));
}

double device_seconds(const Launch& launch, const Tensor& out, int count) {
  const Device device = out.device();
  const Stream stream = current_stream(device);
  if (device.is_cpu()) {
    const double begin = wall_seconds();
    for (int i = 0; i < count; ++i) launch(out);
    return (wall_seconds() - begin) / count;
  }
  Event begin(device), end(device);
  begin.record(stream);
  for (int i = 0; i < count; ++i) launch(out);
  end.record(stream);
  return end.seconds_since(begin) / count;
}

void add_rows(Report& report, const Pair& pair) {
  constexpr int turns = 15, launches = 10;
  std::vector<double> python, cuda;
  for (int i = 0; i < turns; ++i) {
    python.push_back(device_seconds(pair.python, pair.out, launches));
    cuda.push_back(device_seconds(pair.cuda, pair.out, launches));
  }
  const double best_python = *std::min_element(python.begin(), python.end());
  const double best_cuda = *std::min_element(cuda.begin(), cuda.end());
  const auto rate = [&](double seconds) {
    return pair.flops > 0 ? fmt::format("{:.2f} TFLOP/s", pair.flops / seconds * 1e-12)
                          : fmt::format("{:.2f} TB/s", pair.bytes / seconds * 1e-12);
  };
  report.rows.push_back(row_of(pair.name + " in CUDA C++", cuda, rate(best_cuda)));
  report.rows.push_back(
      row_of(pair.name + " in Python", python,
             fmt::format("{}, {:.2f} of CUDA C++", rate(best_python), best_cuda / best_python)));
}

// Host time of a launch of one block.
void add_launches(Report& report, Device device) {
  constexpr int lot = 256, lots = 300;
  const NumbaKernel python = python_kernel("square");
  const Function cuda =
      load_inline({.cuda_sources = {cuda_text}, .name = "simt_pairs", .device = device})
          .kernel("square");
  const Tensor x = ones({1}, {f32, device}), out = zeros({1}, {f32, device});
  std::vector<double> samples[2];
  for (int i = 0; i < lots; ++i)
    for (const int which : {0, 1}) {
      device.synchronize();
      const double begin = wall_seconds();
      for (int k = 0; k < lot; ++k) {
        if (which == 0) cuda[{.grid = 1, .block = 1}](x, out, 1);
        else python[{.grid = 1, .block = 1}](x, out);
      }
      samples[which].push_back((wall_seconds() - begin) / lot);
    }
  device.synchronize();
  report.rows.push_back(row_of("launch of CUDA C++", samples[0], "host time, one block"));
  report.rows.push_back(row_of("launch of Python", samples[1], "host time, one block"));
}

Report measure() {
  const Device device = default_device();
  Report report{"simt_pairs", machine_name(), {}};
  for (const Pair& pair : all_pairs(device)) {
    expect_same(pair);
    add_rows(report, pair);
  }
  add_launches(report, device);
  return report;
}

}  // namespace
}  // namespace tilewright::bench

int main(int count, char** arguments) {
  using namespace tilewright::bench;
  return run_program(count, arguments, help, measure);
}
