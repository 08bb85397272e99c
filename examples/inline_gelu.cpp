// SPDX-License-Identifier: Apache-2.0
// examples/inline_gelu.cpp — one function written in several ways from strings, checked and timed
// on this machine.
//
//   inline_gelu [--dim N]      GELU of N x N floats; 16384 with a GPU, else 4096
//
// Without a GPU the CUDA sources run on the CPU by emulation, at a small size: right, but slow.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <tilewright/tilewright.h>

namespace tw = tilewright;

// ---- The ways.

// As one writes it first, in the shape that PyTorch's load_inline takes. Literals without an f are
// doubles, so this computes in double precision: harmless on a CPU, but several times slower than
// memory on most GPUs.
constexpr const char* naive_source = R"(
#include <math.h>
#include <torch/extension.h>
#include <c10/cuda/CUDAException.h>

__global__ void gelu_kernel(const float* in, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    const float x = in[i];
    out[i] = 0.5 * x * (1.0 + tanh(0.79788456 * (x + 0.044715 * x * x * x)));
  }
}

torch::Tensor gelu(torch::Tensor x) {
  TORCH_CHECK(x.device().is_cuda(), "gelu needs a tensor on the GPU");
  TORCH_CHECK(x.is_contiguous(), "gelu needs a contiguous tensor");
  torch::Tensor y = torch::empty_like(x);
  const int count = x.numel();
  const int threads = 1024;
  const int blocks = (count + threads - 1) / threads;
  gelu_kernel<<<blocks, threads>>>(x.data_ptr<float>(), y.data_ptr<float>(), count);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
)";

// The same function as x / (1 + exp(-2u)) in float, with one 16-byte access each way per thread.
// More of them per thread, or streaming hints, make it slower on an H200: 100% of a copy becomes
// 97% (two per thread) and 90% (four, with hints).
constexpr const char* vector_source = R"(
__device__ float gelu(float x) {
  const float twice_u = x * (1.59576912f + 0.0713548163f * x * x);
  return __fdividef(x, 1.0f + __expf(-twice_u));
}

__global__ void __launch_bounds__(256) gelu_vectors(const float* in, float* out, int count) {
  const int vectors = count / 4;
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < vectors) {
    const float4 x = __ldg(reinterpret_cast<const float4*>(in) + i);
    reinterpret_cast<float4*>(out)[i] = make_float4(gelu(x.x), gelu(x.y), gelu(x.z), gelu(x.w));
  }
  // The elements after the last whole vector, at most three.
  const int tail = 4 * vectors + threadIdx.x;
  if (blockIdx.x == 0 && tail < count) out[tail] = gelu(in[tail]);
}
)";

// For the CPU: vectors as wide as the machine's registers, an exponential of its own, and stores
// that go past the caches. Every program does `part` elements; all cores take part. Without headers
// it compiles in a few hundredths of a second.
constexpr const char* cpp_source = R"(
#if defined(__AVX512F__)
constexpr int bytes = 64;
#elif defined(__AVX__)
constexpr int bytes = 32;
#else
constexpr int bytes = 16;
#endif
typedef float Vector __attribute__((vector_size(bytes), may_alias));
typedef int Integers __attribute__((vector_size(bytes), may_alias));
constexpr long lanes = bytes / 4;

static inline Vector clamp(Vector x, float limit) {
  const Vector high = Vector{} + limit, low = Vector{} - limit;
#if defined(__AVX__)
  Vector y;
  asm("vminps %2, %1, %0\n\tvmaxps %3, %0, %0" : "=&x"(y) : "x"(x), "x"(high), "x"(low));
  return y;
#else
  const Vector y = x < high ? x : high;
  return y > low ? y : low;
#endif
}

// x / (1 + 2^t) with t = -2 log2(e) sqrt(2/pi) (x + 0.044715 x^3), which is between -126 and 126 for |x| <= 10; beyond,
// the result is x or 0. 2^t is a power of two, made in the exponent bits, times a polynomial.
static inline Vector gelu(Vector x) {
  const float round = 12582912.0f + 127.0f;   // adding it leaves the nearest integer + 127 in the low bits
  const Vector c = clamp(x, 10.0f);
  const Vector q = -2.302208196f - 0.1029432395f * c * c;
  const Vector shifted = c * q + round;
  const Vector f = c * q - (shifted - round);
  Vector p = 1.326472689e-3f * f + 9.671512660e-3f;
  p = p * f + 5.550733744e-2f;
  p = p * f + 2.402224208e-1f;
  p = p * f + 6.931469776e-1f;
  p = p * f + 1.0f;
  const Vector power = (Vector)((Integers)shifted << 23);
  return x / (1.0f + p * power);
}

static inline void stream(float* to, Vector y) {
#if defined(__AVX__)
  asm volatile("vmovntps %1, %0" : "=m"(*(Vector*)to) : "x"(y));
#else
  *(Vector*)to = y;
#endif
}

// Asks for the input 2 KiB ahead: the arithmetic in between is too long for the processor to look that far itself.
void gelu_cpu(const float* in, float* out, long count, long part) {
  constexpr long line = 16;
  const long first = tw::program_id(0) * part;
  const long last = first + part < count ? first + part : count;
  long i = first;
  for (; i + line <= last; i += line) {
    __builtin_prefetch(in + i + 32 * line);
    Vector y[line / lanes];
    for (long k = 0; k < line; k += lanes) y[k / lanes] = gelu(*(const Vector*)(in + i + k));
    for (long k = 0; k < line; k += lanes) stream(out + i + k, y[k / lanes]);
  }
  for (; i < last; ++i) out[i] = gelu(Vector{} + in[i])[0];
#if defined(__AVX__)
  asm volatile("sfence" ::: "memory");
#endif
}
)";

// The check: every element against float64. Writes the largest error of each part; a NaN counts as
// infinite.
constexpr const char* check_source = R"(
extern "C" double tanh(double);
void gelu_error(const float* x, const float* y, double* worst, long count, long part) {
  const long first = tw::program_id(0) * part;
  double largest = 0;
  for (long i = first; i < first + part && i < count; ++i) {
    const double v = x[i];
    const double error = y[i] - 0.5 * v * (1.0 + tanh(0.79788456 * (v + 0.044715 * v * v * v)));
    const double size = error < 0 ? -error : error;
    if (!(size <= largest)) largest = size == size ? size : __builtin_inf();
  }
  worst[tw::program_id(0)] = largest;
}
)";

// ---- Checking and timing.

struct Row {
  std::string way;
  std::string where;
  std::int64_t dim = 0;
  double load_seconds = 0;
  double median = 0;
  double copy = 0;  // bytes per second of a copy of the same size; 0 where that is no measure
  double error = 0;
};

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double largest_error(const tw::Tensor& x, const tw::Tensor& y) {
  constexpr std::int64_t part = 1 << 16;
  const std::int64_t parts = tw::cdiv(x.numel(), part);
  const tw::Tensor worst = tw::zeros({parts}, {tw::f64, tw::Device::cpu()});
  static const tw::InlineModule check = tw::load_inline(
      {.cpp_sources = {check_source}, .name = "gelu_check", .device = tw::Device::cpu()});
  check.kernel("gelu_error")[{.grid = parts}](x.cpu(), y.cpu(), worst, x.numel(), part);
  double largest = 0;
  for (double error : worst.to_vector<double>()) largest = error > largest ? error : largest;
  return largest;
}

// `run` makes a new tensor each time, as a user's function does.
Row measure(Row row, const tw::Tensor& x, double copy, const std::function<tw::Tensor()>& run) {
  row.dim = x.size(0);
  row.copy = copy;
  row.error = largest_error(x, run());
  row.median = tw::benchmark(row.way, [&] { run(); }, {.device = x.device()}).median;
  return row;
}

tw::Tensor input(std::int64_t dim, tw::Device device) {
  return tw::randn({dim, dim}, tw::RandomOptions(tw::f32, device).with_seed(1));
}

Row naive_way(const tw::Tensor& x, const std::string& where, double copy) {
  const double begin = seconds_now();
  const tw::InlineModule m = tw::load_inline({.cuda_sources = {naive_source},
                                              .functions = {"gelu"},
                                              .name = "gelu_naive",
                                              .device = x.device()});
  const Row row{.way = "CUDA, naive", .where = where, .load_seconds = seconds_now() - begin};
  return measure(row, x, copy, [&] { return m("gelu", x).tensor(); });
}

Row vector_way(const tw::Tensor& x, const std::string& where, double copy) {
  const double begin = seconds_now();
  const tw::InlineModule m = tw::load_inline(
      {.cuda_sources = {vector_source}, .name = "gelu_vectors", .device = x.device()});
  const tw::Function kernel = m.kernel("gelu_vectors");
  const Row row{
      .way = "CUDA, 16-byte accesses", .where = where, .load_seconds = seconds_now() - begin};
  const int count = static_cast<int>(x.numel());
  return measure(row, x, copy, [&] {
    const tw::Tensor y = tw::empty_like(x);
    kernel[{.grid = tw::cdiv(count, 1024), .block = 256}](x, y, count);
    return y;
  });
}

Row cpp_way(const tw::Tensor& x, const std::string& where, double copy) {
  const double begin = seconds_now();
  const tw::InlineModule m = tw::load_inline({.cpp_sources = {cpp_source},
                                              .name = "gelu_cpu",
                                              .extra_cflags = {"-ffp-contract=fast"},
                                              .device = x.device()});
  const tw::Function kernel = m.kernel("gelu_cpu");
  const Row row{.way = "C++, vectors", .where = where, .load_seconds = seconds_now() - begin};
  constexpr std::int64_t part = 1 << 16;
  return measure(row, x, copy, [&] {
    const tw::Tensor y = tw::empty_like(x);
    kernel[{.grid = tw::cdiv(x.numel(), part)}](x, y, x.numel(), part);
    return y;
  });
}

// ---- The table.

void print_row(const Row& row) {
  const double rate =
      8.0 * static_cast<double>(row.dim) * static_cast<double>(row.dim) / row.median;
  char share[16] = "-";
  if (row.copy > 0) std::snprintf(share, sizeof share, "%.1f%%", 100 * rate / row.copy);
  const std::string size = std::to_string(row.dim) + " x " + std::to_string(row.dim);
  std::printf("%-24s %-14s %-14s %8.3f s %10.4f ms %8.1f %8s %10.1e\n", row.way.c_str(),
              row.where.c_str(), size.c_str(), row.load_seconds, 1e3 * row.median, 1e-9 * rate,
              share, row.error);
  std::fflush(stdout);
}

// Each row is printed as soon as it is there; the ways and their inputs depend on the machine.
std::vector<Row> measure_all(std::int64_t dim, double copy) {
  std::vector<Row> rows;
  const auto add = [&](Row row) {
    print_row(row);
    rows.push_back(std::move(row));
  };
  const tw::Device cpu = tw::Device::cpu();
  const tw::Device device = tw::default_device();
  if (device.is_cuda()) {
    const tw::Tensor x = input(dim, device);
    add(naive_way(x, device.name(), copy));
    add(vector_way(x, device.name(), copy));
    const tw::Tensor smaller = input(dim < 4096 ? dim : 4096, cpu);
    add(cpp_way(smaller, "cpu", tw::measure_copy_bandwidth(cpu, smaller.nbytes())));
  } else {
    add(cpp_way(input(dim, cpu), "cpu", copy));
    const tw::Tensor smaller = input(dim < 512 ? dim : 512, cpu);
    add(naive_way(smaller, "cpu, emulated", 0));
    add(vector_way(smaller, "cpu, emulated", 0));
  }
  return rows;
}

int run(std::int64_t dim) {
  const tw::Device device = tw::default_device();
  if (dim == 0) dim = device.is_cuda() ? 16384 : 4096;
  const double copy =
      tw::measure_copy_bandwidth(device, static_cast<std::size_t>(dim * dim) * sizeof(float));
  std::printf(
      "GELU in float32, checked against float64. A copy of the same size on %s makes %.1f GB/s.\n",
      device.name().c_str(), 1e-9 * copy);
  if (device.is_cpu()) std::printf("CUDA sources are emulated: %s.\n", tw::why_no_cuda().c_str());
  std::printf("\n%-24s %-14s %-14s %10s %13s %8s %8s %10s\n", "way", "device", "size", "loaded in",
              "time", "GB/s", "of copy", "max error");
  int exit_code = 0;
  for (const Row& row : measure_all(dim, copy)) {
    if (row.error < 1e-5) continue;
    std::fprintf(stderr, "inline_gelu: '%s' on %s is wrong by %g\n", row.way.c_str(),
                 row.where.c_str(), row.error);
    exit_code = 1;
  }
  return exit_code;
}

int main(int count, char** arguments) {
  std::int64_t dim = 0;
  for (int i = 1; i < count; ++i) {
    char* end = nullptr;
    if (std::string(arguments[i]) == "--dim" && i + 1 < count)
      dim = std::strtol(arguments[++i], &end, 10);
    if (end == nullptr || *end != '\0' || dim < 1 || dim > 32768) {
      std::fprintf(stderr, "usage: inline_gelu [--dim N], N from 1 to 32768\n");
      return 2;
    }
  }
  try {
    return run(dim);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "inline_gelu: %s\n", error.what());
    return 1;
  }
}
