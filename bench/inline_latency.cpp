// SPDX-License-Identifier: Apache-2.0
// bench/inline_latency.cpp — how long until a kernel from a string has run: cold, from the disk
// cache, from process start.
//
// Every figure is taken in a process of its own, a child of this program, so that nothing is left
// in memory from the one before; the children of a row share a cache folder that is new for the
// cold ones.
#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "base/process.h"
#include "bench/samplers.h"
#include "report.h"
#include "tilewright/error.h"
#include "tilewright/load_inline.h"

namespace tilewright::bench {
namespace {

constexpr const char* help =
    "inline_latency [--json]: time of load_inline and one launch of a GELU kernel\n"
    "  goals, cold cache in a running process: CUDA kernel and C++ 0.1 s, emulated 0.4 s, "
    "torch-shaped host function 0.7 s;\n"
    "  warm disk cache 2 ms; process start to first result on a GPU, warm cache 0.3 s\n";

constexpr int repetitions = 7;

// ---- What is loaded. `salt` makes sources that differ, so that one can warm up compilers without
// being the other.

std::string cuda_kernel(int salt) {
  return fmt::format(R"(
__global__ void gelu_kernel(const float* in, float* out, int count) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;   // {}
  if (i < count) {{
    const float x = in[i];
    out[i] = 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
  }}
}}
)",
                     salt);
}

std::string torch_source(int salt) {
  return "#include <torch/extension.h>\n" + cuda_kernel(salt) + R"(
torch::Tensor gelu(torch::Tensor x) {
  TORCH_CHECK(x.device().is_cuda() && x.is_contiguous(), "gelu needs a contiguous tensor on the GPU");
  torch::Tensor y = torch::empty_like(x);
  gelu_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
)";
}

std::string cpp_kernel(int salt) {
  return fmt::format(R"(
void gelu_kernel(const float* in, float* out, int count) {{
  for (int i = 0; i < count; ++i) out[i] = in[i] / (1.0f + __builtin_expf(-1.59576912f * in[i]));   // {}
}}
)",
                     salt);
}

constexpr int count = 1024;

void run_kernel(const InlineOptions& options, const Tensor& x) {
  const InlineModule m = load_inline(options);
  const Tensor y = empty_like(x);
  const bool is_cpp = options.cuda_sources.empty();
  m.kernel("gelu_kernel")[{.grid = is_cpp ? 1 : count / 256, .block = is_cpp ? 1 : 256}](x, y,
                                                                                         count);
}

void run_way(const std::string& way, int salt, const Tensor& x) {
  if (way == "host")
    load_inline(
        {.cuda_sources = {torch_source(salt)}, .functions = {"gelu"}, .device = x.device()})("gelu",
                                                                                             x);
  else if (way == "cpp") run_kernel({.cpp_sources = {cpp_kernel(salt)}, .device = x.device()}, x);
  else if (way == "compile") compile_inline({.cuda_sources = {cuda_kernel(salt)}}, "sm_90a");
  else run_kernel({.cuda_sources = {cuda_kernel(salt)}, .device = x.device()}, x);
  x.device().synchronize();
}

// ---- A child: inline_latency --child WAY DEVICE PRIMED START. Prints the seconds of load and
// launch, and those since START.

int run_child(char** arguments) {
  const std::string way = arguments[2];
  const Device device = Device::parse(arguments[3]);
  const bool is_primed = std::string(arguments[4]) == "primed";
  const double start = std::stod(arguments[5]);
  const Tensor x = ones({count}, device);
  device.synchronize();
  if (is_primed) run_way(way, 1, x);
  const double begin = wall_seconds();
  run_way(way, 2, x);
  const double end = wall_seconds();
  fmt::print("{} {}\n", end - begin, end - start);
  return 0;
}

struct Times {
  double load = 0;
  double since_start = 0;
};

Times run_in_child(const std::string& way, Device device, bool is_primed,
                   const std::string& cache) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const ProcessResult result = run_process(
      {.arguments = {self, "--child", way, device.name(), is_primed ? "primed" : "fresh",
                     fmt::format("{:.9f}", wall_seconds())},
       .environment = {"TILEWRIGHT_CACHE_DIR=" + cache}});
  Times times;
  if (result.exit_code != 0 ||
      std::sscanf(result.output.c_str(), "%lf %lf", &times.load, &times.since_start) != 2)
    throw EnvironmentError(fmt::format("the measuring of '{}' failed: {}", way, result.output));
  return times;
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "inline_latency_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw EnvironmentError("no temporary folder can be made in " + name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Subject {
  std::string title;
  std::string way;
  Device device;
  double cold_goal = 0;
};

void add_rows(Report& report, const Subject& subject) {
  std::vector<double> cold, warm, cold_start, warm_start;
  for (int i = 0; i < repetitions; ++i) {
    const TemporaryFolder primed;
    cold.push_back(run_in_child(subject.way, subject.device, true, primed.path()).load);
    warm.push_back(run_in_child(subject.way, subject.device, true, primed.path()).load);
    const TemporaryFolder fresh;
    cold_start.push_back(
        run_in_child(subject.way, subject.device, false, fresh.path()).since_start);
    warm_start.push_back(
        run_in_child(subject.way, subject.device, false, fresh.path()).since_start);
  }
  const double start_goal = subject.device.is_cuda() ? 0.3 : 0;
  report.rows.push_back(
      row_of(subject.title + ": cold cache", cold, "in a running process", subject.cold_goal));
  report.rows.push_back(row_of(subject.title + ": disk cache", warm, "in a running process", 2e-3));
  report.rows.push_back(
      row_of(subject.title + ": process start, cold cache", cold_start, "to the first result"));
  report.rows.push_back(row_of(subject.title + ": process start, disk cache", warm_start,
                               "to the first result", start_goal));
}

Report measure() {
  Report report{.title = "time of load_inline of a GELU kernel and its first launch",
                .machine = machine_name()};
  const Device cpu = Device::cpu();
  std::vector<Subject> subjects = {{"C++ kernel", "cpp", cpu, 0.1},
                                   {"CUDA kernel, emulated", "cuda", cpu, 0.4},
                                   {"host function, emulated", "host", cpu, 0.7}};
  if (cuda_device_count() > 0) {
    subjects.push_back({"CUDA kernel", "cuda", Device::cuda(), 0.1});
    subjects.push_back({"host function", "host", Device::cuda(), 0.7});
  } else {
    subjects.push_back({"CUDA kernel, compiled for sm_90a only", "compile", cpu, 0.1});
  }
  for (const Subject& subject : subjects) {
    try {
      add_rows(report, subject);
    } catch (const EnvironmentError& error) {
      fmt::print(stderr, "left out: {}\n", error.what());
    }
  }
  return report;
}

}  // namespace
}  // namespace tilewright::bench

int main(int argument_count, char** arguments) {
  using namespace tilewright::bench;
  if (argument_count != 6 || std::string(arguments[1]) != "--child")
    return run_program(argument_count, arguments, help, measure);
  try {
    return run_child(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
