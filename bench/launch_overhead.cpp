// SPDX-License-Identifier: Apache-2.0
// bench/launch_overhead.cpp — what one launch costs the host: ours beside the barest way there is,
// in the same run.
//
// Ways take turns in lots of launches, so that a disturbance of the machine meets all of them; the
// device is waited for between lots, outside of the timed part, so that its queue never fills.
#include <array>
#include <functional>
#include <span>

#include <fmt/format.h>

#include "base/cpu_entry.h"
#include "base/statistics.h"
#include "bench/samplers.h"
#include "report.h"
#include "runtime/compile.h"
#include "runtime/cuda/driver_api.h"
#include "tilewright/error.h"
#include "tilewright/module.h"
#include "tilewright/tensor.h"
#include "tilewright/triton.h"

namespace tilewright::bench {
namespace {

constexpr const char* help =
    "launch_overhead [--json]: host time of one launch of a compiled kernel, on the CPU and on the "
    "GPU\n"
    "  goals: CPU, one program: 0.3 us; CUDA: at most 0.4 us above a bare cuLaunchKernel loop\n";

constexpr int lot = 256;
constexpr int lots = 400;

struct Way {
  std::string name;
  std::function<void()> run_lot;  // `lot` launches
  std::vector<double> samples;
};

template <class Launch>
Way way(std::string name, Launch launch) {
  return {std::move(name),
          [launch]() mutable {
            for (int i = 0; i < lot; ++i) launch();
          },
          {}};
}

void measure_in_turns(std::vector<Way>& ways, Device device) {
  for (Way& w : ways) w.run_lot();
  for (int i = 0; i < lots; ++i)
    for (Way& w : ways) {
      device.synchronize();
      const double begin = wall_seconds();
      w.run_lot();
      w.samples.push_back((wall_seconds() - begin) / lot);
    }
  device.synchronize();
}

Parameter pointer(const char* name) {
  return {.name = name, .kind = Parameter::Kind::Pointer, .dtype = DType::Float32};
}
Parameter integer(const char* name) { return {.name = name, .dtype = DType::Int32}; }
Parameter number(const char* name) { return {.name = name, .dtype = DType::Float32}; }

// Eight addresses and twelve integers.
constexpr int many_addresses = 8;
constexpr int many = 20;

std::vector<Parameter> many_parameters() {
  static const std::array<const char*, many> names = {"a", "b", "c", "d", "e", "f", "g",
                                                      "h", "i", "j", "k", "l", "m", "n",
                                                      "o", "p", "q", "r", "s", "t"};
  std::vector<Parameter> all;
  for (int i = 0; i < many; ++i)
    all.push_back(i < many_addresses ? pointer(names[static_cast<std::size_t>(i)])
                                     : integer(names[static_cast<std::size_t>(i)]));
  return all;
}

const std::vector<KernelSource::Kernel> kernels = {
    {.name = "three", .parameters = {pointer("x"), pointer("y"), integer("n")}},
    {.name = "five",
     .parameters = {pointer("x"), pointer("y"), pointer("z"), number("a"), integer("n")}},
    {.name = "twenty", .parameters = many_parameters()},
};

// ---- Triton kernels: the key of each launch is made from its arguments.

constexpr const char* triton_source = R"(
import triton
import triton.language as tl

@triton.jit
def three(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)

@triton.autotune(configs=[triton.Config({'BLOCK': 16}), triton.Config({'BLOCK': 32})], key=['n'])
@triton.jit
def tuned(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)

@triton.jit
def twenty(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, BLOCK: tl.constexpr):
    x = tl.arange(0, BLOCK)
    v = tl.load(a + x, mask=x < i) + tl.load(b + x, mask=x < j) + tl.load(c + x, mask=x < k)
    v += tl.load(d + x, mask=x < l) + tl.load(e + x, mask=x < m) + tl.load(f + x, mask=x < n)
    v += tl.load(g + x, mask=x < o)
    tl.store(h + x, v, mask=x < p + q + r + s + t)
)";

// One of each kind, with its arguments bound.
struct TritonWays {
  TritonKernel three = load_triton_source(triton_source, "three");
  TritonKernel tuned = load_triton_source(triton_source, "tuned");
  TritonKernel twenty = load_triton_source(triton_source, "twenty");

  void launch_three(const Tensor& x, const Tensor& y) const {
    three[1](x, y, 16, constant("BLOCK", 16));
  }
  void launch_tuned(const Tensor& x, const Tensor& y) const { tuned[1](x, y, 16); }
  void launch_twenty(const Tensor& x) const {
    twenty[1](x, x, x, x, x, x, x, x, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
              constant("BLOCK", 16));
  }
};

// ---- The CPU.

KernelSource cpu_source() {
  KernelSource source{.language = Language::Cpp, .name = "launch_overhead", .kernels = kernels};
  source.text = std::string(cpu_entry_text) + R"(
extern "C" void three(const TwCpuLaunch*, void* const*, unsigned long, unsigned long) { asm volatile(""); }
extern "C" void five(const TwCpuLaunch*, void* const*, unsigned long, unsigned long) { asm volatile(""); }
extern "C" void twenty(const TwCpuLaunch*, void* const*, unsigned long, unsigned long) { asm volatile(""); }
)";
  return source;
}

void add_cpu_rows(Report& report) {
  const Device cpu = Device::cpu();
  const Module module = Module::load(cpu_source(), cpu);
  const Function three = module.function("three");
  const Function five = module.function("five");
  const Tensor x = zeros({16}, cpu), y = zeros({16}, cpu), z = zeros({16}, cpu);
  std::vector<Way> ways;
  ways.push_back(way("cpu: 3 arguments, tensors", [&] { three[{.grid = 1}](x, y, 16); }));
  ways.push_back(way("cpu: 3 arguments, addresses", [&, p = x.data<float>(), q = y.data<float>()] {
    three[{.grid = 1}](p, q, 16);
  }));
  ways.push_back(way("cpu: 5 arguments, tensors", [&] { five[{.grid = 1}](x, y, z, 2.0f, 16); }));
  const Function twenty = module.function("twenty");
  ways.push_back(way("cpu: 20 arguments, tensors", [&] {
    twenty[{.grid = 1}](x, x, x, x, x, x, x, x, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);
  }));
  const TritonWays triton;
  ways.push_back(way("cpu: Triton, 3 arguments", [&] { triton.launch_three(x, y); }));
  ways.push_back(way("cpu: Triton, autotuned, 3 arguments", [&] { triton.launch_tuned(x, y); }));
  ways.push_back(way("cpu: Triton, 20 arguments", [&] { triton.launch_twenty(x); }));
  measure_in_turns(ways, cpu);
  for (const Way& w : ways) report.rows.push_back(row_of(w.name, w.samples, "one program", 0.3e-6));
}

// ---- CUDA.

KernelSource cuda_source() {
  KernelSource source{.language = Language::Cuda, .name = "launch_overhead", .kernels = kernels};
  source.text = R"(
extern "C" __global__ void three(float* x, float* y, int n) {}
extern "C" __global__ void five(float* x, float* y, float* z, float a, int n) {}
extern "C" __global__ void twenty(float* a, float* b, float* c, float* d, float* e, float* f, float* g, float* h, int i,
                                  int j, int k, int l, int m, int n, int o, int p, int q, int r, int s, int t) {}
)";
  return source;
}

void check(cuda::CUresult result, const char* call) {
  if (result != 0)
    throw EnvironmentError(fmt::format("{} failed with code {}", call, static_cast<int>(result)));
}

// A bare launch needs the context that our runtime uses to be the thread's current one.
void make_context_current() {
  cuda::CUcontext context = nullptr;
  check(cuda::driver().cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
  check(cuda::driver().cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

// The same code without our runtime. The module stays loaded until the process ends.
cuda::CUfunction bare_function(const char* name) {
  make_context_current();
  const Binary binary = compile(cuda_source(), Device::cuda().target());
  cuda::CUmodule module = nullptr;
  check(cuda::driver().cuModuleLoadDataEx(&module, binary.bytes.data(), 0, nullptr, nullptr),
        "cuModuleLoadDataEx");
  cuda::CUfunction function = nullptr;
  check(cuda::driver().cuModuleGetFunction(&function, module, name), "cuModuleGetFunction");
  return function;
}

Way bare_three(const Tensor& x, const Tensor& y) {
  const cuda::CUfunction function = bare_function("three");
  const auto stream = static_cast<cuda::CUstream>(current_stream(x.device()).native());
  return way("cuda: 3 arguments, bare cuLaunchKernel",
             [function, stream, p = x.data(), q = y.data(), n = 16]() mutable {
               std::array<void*, 3> parameters = {&p, &q, &n};
               cuda::driver().cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream,
                                             parameters.data(), nullptr);
             });
}

Way bare_five(const Tensor& x, const Tensor& y, const Tensor& z) {
  const cuda::CUfunction function = bare_function("five");
  const auto stream = static_cast<cuda::CUstream>(current_stream(x.device()).native());
  return way(
      "cuda: 5 arguments, bare cuLaunchKernel",
      [function, stream, p = x.data(), q = y.data(), r = z.data(), a = 2.0f, n = 16]() mutable {
        std::array<void*, 5> parameters = {&p, &q, &r, &a, &n};
        cuda::driver().cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters.data(),
                                      nullptr);
      });
}

Way bare_twenty(const Tensor& x) {
  const cuda::CUfunction function = bare_function("twenty");
  const auto stream = static_cast<cuda::CUstream>(current_stream(x.device()).native());
  std::array<void*, many_addresses> addresses;
  addresses.fill(x.data());
  std::array<int, many - many_addresses> integers;
  integers.fill(16);
  return way("cuda: 20 arguments, bare cuLaunchKernel",
             [function, stream, addresses, integers]() mutable {
               std::array<void*, many> parameters;
               for (std::size_t i = 0; i < addresses.size(); ++i) parameters[i] = &addresses[i];
               for (std::size_t i = 0; i < integers.size(); ++i)
                 parameters[addresses.size() + i] = &integers[i];
               cuda::driver().cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream,
                                             parameters.data(), nullptr);
             });
}

// Each is compared with the bare launch of as many arguments, which comes before it.
void add_above_bare(Report& report, const Way& bare, std::span<const Way> ours) {
  const double bare_seconds = median_of(bare.samples);
  report.rows.push_back(row_of(bare.name, bare.samples));
  for (const Way& w : ours) {
    const double above = median_of(w.samples) - bare_seconds;
    report.rows.push_back(row_of(w.name, w.samples,
                                 fmt::format("{:+.0f} ns above bare", 1e9 * above),
                                 bare_seconds + 0.4e-6));
  }
}

void add_cuda_rows(Report& report) {
  const Device gpu = Device::cuda();
  const Module module = Module::load(cuda_source(), gpu);
  const Function three = module.function("three");
  const Function five = module.function("five");
  const Function twenty = module.function("twenty");
  const TritonWays triton;
  const Tensor x = zeros({16}, gpu), y = zeros({16}, gpu), z = zeros({16}, gpu);
  std::vector<Way> ways;
  ways.push_back(bare_three(x, y));
  ways.push_back(
      way("cuda: 3 arguments, tensors", [&] { three[{.grid = 1, .block = 32}](x, y, 16); }));
  ways.push_back(way("cuda: Triton, 3 arguments", [&] { triton.launch_three(x, y); }));
  ways.push_back(way("cuda: Triton, autotuned, 3 arguments", [&] { triton.launch_tuned(x, y); }));
  ways.push_back(bare_five(x, y, z));
  ways.push_back(way("cuda: 5 arguments, tensors",
                     [&] { five[{.grid = 1, .block = 32}](x, y, z, 2.0f, 16); }));
  ways.push_back(bare_twenty(x));
  ways.push_back(way("cuda: 20 arguments, tensors", [&] {
    twenty[{.grid = 1, .block = 32}](x, x, x, x, x, x, x, x, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                                     13);
  }));
  ways.push_back(way("cuda: Triton, 20 arguments", [&] { triton.launch_twenty(x); }));
  measure_in_turns(ways, gpu);
  const std::span<const Way> all = ways;
  add_above_bare(report, all[0], all.subspan(1, 3));
  add_above_bare(report, all[4], all.subspan(5, 1));
  add_above_bare(report, all[6], all.subspan(7, 2));
}

Report measure() {
  Report report{.title = "host time of one launch", .machine = machine_name()};
  add_cpu_rows(report);
  if (cuda_device_count() > 0) add_cuda_rows(report);
  return report;
}

}  // namespace
}  // namespace tilewright::bench

int main(int count, char** arguments) {
  return tilewright::bench::run_program(count, arguments, tilewright::bench::help,
                                        tilewright::bench::measure);
}
