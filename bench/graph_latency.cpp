// SPDX-License-Identifier: Apache-2.0
// bench/graph_latency.cpp — what tensor expressions cost the calling thread besides their kernels:
// an eager operation, calls of compiled functions, and a call with a shape that was never seen.
//
// Times are those of the calling thread on a processor, so that other work on the machine does not
// count. Without a GPU the network is 16 wide: its graph is the same, and its kernels, which run in
// the calling thread, are small beside what is measured.
#include <algorithm>
#include <ctime>

#include <fmt/format.h>

#include "base/statistics.h"
#include "graph/launch.h"
#include "report.h"
#include "tilewright/grad.h"
#include "tilewright/nn.h"

namespace tilewright::bench {
namespace {

constexpr const char* help =
    "graph_latency [--json]: time of the calling thread for an eager operation, a call of a "
    "compiled function, and a call with an unseen shape above a warm one\n"
    "  goals: eager 1.0 us on the CPU, 4.5 us on an H200; a compiled call 3 us and its launches; "
    "an "
    "unseen shape of the MLP 256x4 step 200 us\n";

constexpr int calls = 2000;
constexpr int shapes = 64;

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// `calls` at once, several times: the least disturbed count.
template <class Run>
std::vector<double> samples_of(Device device, const Run& run) {
  std::vector<double> samples;
  for (int lot = 0; lot < 25; ++lot) {
    const double begin = thread_seconds();
    for (int i = 0; i < calls / 10; ++i) run();
    samples.push_back((thread_seconds() - begin) / (calls / 10));
    device.synchronize();
  }
  samples.erase(samples.begin(), samples.begin() + 5);
  return samples;
}

void add_small_rows(Report& report, Device device) {
  const Tensor x = ones({16, 16}, device), y = ones({16, 16}, device);
  const double goal = device.is_cpu() ? 1.0e-6 : 4.5e-6;
  report.rows.push_back(row_of(fmt::format("{}: eager x + y", device.name()),
                               samples_of(device, [&] { x + y; }), "", goal));
  for (const Mode mode : {Mode::Default, Mode::ReduceOverhead}) {
    const auto f = compile([](Tensor a, Tensor b) { return tanh(a * b) + a; }, {.mode = mode});
    report.rows.push_back(
        row_of(fmt::format("{}: compiled, one kernel, {}", device.name(), name_of(mode)),
               samples_of(device, [&] { f(x, y); }), "", 3e-6));
  }
}

// Forward, backward and AdamW of a network with four layers.
struct Step {
  nn::Mlp net;
  nn::AdamW<nn::Mlp> adam;
  Device device;
  std::int64_t width;

  Step(Device where, std::int64_t dim)
      : net({dim, dim, dim, dim, dim}, RandomOptions(f32, where).with_seed(1)),
        adam(net),
        device(where),
        width(dim) {}

  template <class Function>
  double seconds(const Function& f, std::int64_t batch) const {
    const Tensor x = ones({batch, width}, device), target = zeros({batch}, {i64, device});
    const double begin = thread_seconds();
    f(net, adam, x, target);
    const double end = thread_seconds();
    device.synchronize();
    return end - begin;
  }
};

void add_unseen_rows(Report& report, Device device) {
  const Step step(device, device.is_cpu() ? 16 : 256);
  const auto f = compile([](nn::Mlp net, nn::AdamW<nn::Mlp> adam, Tensor x, Tensor target) {
    const auto loss_of = [](nn::Mlp n, Tensor in, Tensor t) { return cross_entropy(n(in), t); };
    auto [loss, gradients] = value_and_grad(loss_of)(net, x, target);
    adam.update(net, gradients);
    return std::tuple(loss, net, adam);
  });
  std::vector<double> above, warm;
  for (std::int64_t batch = 37; static_cast<int>(warm.size()) < shapes; ++batch) {
    const std::size_t before = graph::group_kernels_made();
    const double first = step.seconds(f, batch);
    if (graph::group_kernels_made() != before) continue;  // of a class that was not seen
    double again = step.seconds(f, batch);
    for (int i = 0; i < 3; ++i) again = std::min(again, step.seconds(f, batch));
    warm.push_back(again);
    above.push_back(first - again);
  }
  report.rows.push_back(row_of(fmt::format("{}: MLP step, warm call", device.name()), warm));
  report.rows.push_back(row_of(fmt::format("{}: MLP step, unseen shape above it", device.name()),
                               above, fmt::format("{} kernels", f.stats().kernels), 200e-6));
}

Report measure() {
  Report report{.title = "what tensor expressions cost the calling thread",
                .machine = machine_name()};
  add_small_rows(report, Device::cpu());
  add_unseen_rows(report, Device::cpu());
  if (cuda_device_count() > 0) {
    add_small_rows(report, Device::cuda());
    add_unseen_rows(report, Device::cuda());
  }
  return report;
}

}  // namespace
}  // namespace tilewright::bench

int main(int count, char** arguments) {
  return tilewright::bench::run_program(count, arguments, tilewright::bench::help,
                                        tilewright::bench::measure);
}
