// SPDX-License-Identifier: Apache-2.0
// bench/profile_overhead.cpp — what a profile costs: a launch with and without one, and writing a
// trace of a million events.
#include <unistd.h>

#include <filesystem>
#include <functional>

#include <fmt/format.h>

#include "bench/samplers.h"
#include "profile/trace.h"
#include "report.h"
#include "tilewright/module.h"
#include "tilewright/profile.h"
#include "tilewright/tensor.h"
#include "tilewright/triton.h"

namespace tilewright::bench {
namespace {

constexpr const char* help =
    "profile_overhead [--json]: host time of one launch, alone and while it is profiled; writing a "
    "million events\n"
    "  goals: a profiled launch costs at most 3 us more; a million events are written in 2 s\n";

constexpr int lot = 1000;
constexpr int lots = 20;

constexpr const char* source = R"(import triton
import triton.language as tl

@triton.jit
def set_one(x):
    tl.store(x, 1.0)
)";

// Seconds of one launch, `lots` times.
std::vector<double> launches(const TritonKernel& kernel, const Tensor& x) {
  std::vector<double> samples;
  for (int i = 0; i < lots; ++i) {
    const double begin = wall_seconds();
    for (int k = 0; k < lot; ++k) kernel[1](x);
    samples.push_back((wall_seconds() - begin) / lot);
    x.device().synchronize();
  }
  return samples;
}

void measure_device(Device device, Report& report) {
  const TritonKernel kernel = load_triton_source(source, "set_one");
  const Tensor x = zeros({1}, {DType::Float32, device});
  launches(kernel, x);
  const std::vector<double> alone = launches(kernel, x);
  std::vector<double> profiled;
  const Profile recorded = profile([&] { profiled = launches(kernel, x); });
  report.rows.push_back(row_of(fmt::format("a launch on {}", device.name()), alone));
  report.rows.push_back(row_of(fmt::format("the same while profiled"), profiled,
                               fmt::format("{} events", recorded.trace().events.size()),
                               row_of("", alone).seconds + 3e-6));
}

void measure_writing(Report& report) {
  auto trace = std::make_shared<Trace>();
  for (std::uint32_t i = 0; i < 1'000'000; ++i) {
    TraceEvent event;
    event.kind = i % 2 == 0 ? TraceKind::Call : TraceKind::Kernel;
    event.device = i % 2 == 0 ? -1 : 0;
    event.name = trace->number_of(i % 2 == 0 ? "cuLaunchKernel" : "some_kernel_of_a_model");
    event.start = i * 1000;
    event.end = event.start + 800;
    event.correlation = i / 2 + 1;
    event.thread = 1;
    trace->events.push_back(event);
  }
  const std::string path =
      (std::filesystem::temp_directory_path() / fmt::format("tilewright_{}.json", getpid()))
          .string();
  const Profile profile(trace);
  std::vector<double> samples;
  for (int i = 0; i < 3; ++i) {
    const double begin = wall_seconds();
    profile.chrome_trace(path);
    samples.push_back(wall_seconds() - begin);
  }
  const auto size = static_cast<double>(std::filesystem::file_size(path));
  std::filesystem::remove(path);
  report.rows.push_back(row_of("writing a trace of a million events", samples,
                               fmt::format("{:.0f} MB", size / 1e6), 2.0));
}

Report measure() {
  Report report{"What a profile costs", machine_name(), {}};
  for (Device device : devices()) measure_device(device, report);
  measure_writing(report);
  return report;
}

}  // namespace
}  // namespace tilewright::bench

int main(int count, char** arguments) {
  return tilewright::bench::run_program(count, arguments, tilewright::bench::help,
                                        tilewright::bench::measure);
}
