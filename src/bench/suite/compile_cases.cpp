// SPDX-License-Identifier: Apache-2.0
// bench/suite/compile_cases.cpp — the functions, their runs, and what is said of them.
#include "bench/suite/compile_cases.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "bench/samplers.h"
#include "graph/launch.h"
#include "runtime/cpu/temporary_folder.h"
#include "tilewright/compile.h"
#include "tilewright/ops.h"
#include "tilewright/profile.h"

namespace tilewright::suite {
namespace {

using Function = std::function<Tensor(std::vector<Tensor>)>;

// What one run of a case does with a function, eager or compiled.
struct CaseRun {
  Shape shape;
  Function function;
  std::function<Tensor(const Function&)> run;
};

Tensor normal(Shape shape, Device device, std::uint64_t seed) {
  return randn(std::move(shape), RandomOptions(DType::Float32, device).with_seed(seed));
}

// ---- The functions.

Tensor products(std::vector<Tensor> t) {
  Tensor x = t[0];
  for (int i = 0; i < 4; ++i) x = relu(matmul(x, t[1])) * 0.05;
  return x;
}

Tensor small_operations(std::vector<Tensor> t) {
  Tensor x = t[0];
  for (int i = 0; i < 12; ++i) x = tanh(x * 0.9 + t[1]) * sigmoid(x) + 0.1;
  return x;
}

// Each row is the one before, changed.
Tensor slow_loop(std::vector<Tensor> t) {
  Tensor row = t[0].select(0, 0);
  for (std::int64_t i = 1; i < t[0].size(0); ++i)
    row = row * 0.5 + t[0].select(0, static_cast<int>(i));
  return row;
}

// Elements one by one, into a matrix.
Tensor assigned_elements(std::vector<Tensor> t) {
  const Tensor made = empty({64, 64}, {t[0].dtype(), t[0].device()});
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j) made[i][j].copy_from(t[0][i][j] * (i + j));
  return made;
}

// 3 x 3 taps as nine products.
Tensor convolution(std::vector<Tensor> t) {
  const Tensor& x = t[0];  // height + 2, width + 2, channels
  const std::int64_t height = x.size(0) - 2, width = x.size(1) - 2;
  Tensor sum;
  for (int dy = 0; dy < 3; ++dy)
    for (int dx = 0; dx < 3; ++dx) {
      const Tensor part = x.slice(0, dy, dy + height).slice(1, dx, dx + width);
      const Tensor product = matmul(part, t[1].select(0, 3 * dy + dx));
      sum = sum.is_defined() ? sum + product : product;
    }
  return relu(sum + t[2]) * 0.5;
}

Tensor one_operation(std::vector<Tensor> t) { return t[0] + 1.0; }

Tensor branch_on_data(std::vector<Tensor> t) {
  return sum(t[0]).item<float>() > 0 ? t[0] * 2.0 : t[0] - 1.0;
}

Tensor norm_and_gelu(std::vector<Tensor> t) { return gelu(layer_norm(t[0] * t[1])); }

// ---- The cases.

CaseRun of_tensors(Function function, std::vector<Tensor> tensors) {
  return {tensors[0].shape(), std::move(function),
          [tensors](const Function& f) { return f(tensors); }};
}

CaseRun case_of(std::string_view name, Device device) {
  const auto n = [&](Shape shape, std::uint64_t seed = 1) {
    return normal(std::move(shape), device, seed);
  };
  if (name == "products") return of_tensors(products, {n({512, 512}), n({512, 512}, 2)});
  if (name == "elements") return of_tensors(assigned_elements, {n({64, 64})});
  if (name == "small_operations") return of_tensors(small_operations, {n({64, 64}), n({64}, 2)});
  if (name == "convolution")
    return of_tensors(convolution, {n({34, 34, 64}), n({9, 64, 64}, 2), n({64}, 3)});
  if (name == "slow_loop") return of_tensors(slow_loop, {n({200, 1000})});
  if (name == "one_operation") return of_tensors(one_operation, {n({4096, 1024})});
  if (name == "branch_on_data") return of_tensors(branch_on_data, {n({64, 64})});
  if (name == "changing_shapes") {
    std::vector<std::vector<Tensor>> calls;
    for (std::int64_t i = 0; i < 16; ++i)
      calls.push_back({n({40 + 3 * i, 300 + i}), n({300 + i}, 2)});
    return {{40, 300}, norm_and_gelu, [calls](const Function& f) {
              Tensor last;
              for (const auto& call : calls) last = f(call);
              return last;
            }};
  }
  // Data from a file, through the function, into another file.
  const auto folder = std::make_shared<TemporaryFolder>();
  save_npy(folder->path() + "/in.npy", n({1024, 1024}).cpu());
  const Tensor weight = n({1024}, 2);
  return {{1024, 1024}, norm_and_gelu, [folder, weight, device](const Function& f) {
            const Tensor x = load_npy(folder->path() + "/in.npy").to(device);
            const Tensor y = f({x, weight});
            save_npy(folder->path() + "/out.npy", y.cpu());
            return y;
          }};
}

// ---- Rows.

void count_launches(const std::function<void()>& run, Record& record) {
  std::vector<graph::LaunchedGroup> launches;
  const graph::LaunchObserver observer(launches);
  run();
  record.kernels = static_cast<int>(launches.size());
  for (const graph::LaunchedGroup& launch : launches)
    record.bytes_moved += launch.bytes_read + launch.bytes_written;
}

double largest_difference(const Tensor& found, const Tensor& expected) {
  const auto x = found.cpu().to(DType::Float64).contiguous().to_vector<double>();
  const auto y = expected.cpu().to(DType::Float64).contiguous().to_vector<double>();
  double worst = 0, largest = 1e-30;
  for (std::size_t i = 0; i < x.size(); ++i) {
    worst = std::max(worst, std::abs(x[i] - y[i]));
    largest = std::max(largest, std::abs(y[i]));
  }
  return worst / largest;
}

Contender contender_of(const CaseRun& which, const Function& function, Record record,
                       const std::optional<Tensor>& expected, const RunOptions& options,
                       Device device) {
  const double begin = wall_seconds();
  const Tensor first = which.run(function);
  device.synchronize();
  record.first_seconds = wall_seconds() - begin;
  const std::function<void()> run = [run = which.run, function] { run(function); };
  count_launches(run, record);
  record.tolerance = 1e-4;
  if (expected) record.error = largest_difference(first, *expected);
  if (record.error && !(*record.error <= record.tolerance)) {
    record.status = Status::Wrong;
    record.reason = fmt::format("off by {:.1e} from the eager result", *record.error);
  }
  const Prepared prepared{.run = run};
  const BenchOptions bench{.warmups = options.warmups,
                           .trials = options.trials,
                           .clock = options.clock,
                           .device = device};
  return {record, [=](double seconds) {
            return take_turn(prepared, bench, seconds, options.is_interrupted);
          }};
}

void add_verdicts(std::vector<Contender>& contenders) {
  const Record& eager = contenders[0].record;
  for (std::size_t i = 1; i < contenders.size(); ++i) {
    Record& record = contenders[i].record;
    if (!record.is_measured() || !eager.is_measured()) continue;
    std::string reason = fmt::format("{} kernel{} instead of {}", record.kernels,
                                     record.kernels == 1 ? "" : "s", eager.kernels);
    if (record.kernels == eager.kernels && record.kernels <= 1) reason = "one kernel either way";
    else if (record.bytes_moved < 0.9 * eager.bytes_moved)
      reason += fmt::format(", {:.1f} times fewer bytes",
                            eager.bytes_moved / std::max(record.bytes_moved, 1.0));
    record.note = verdict_of(eager.seconds, record.seconds, reason);
  }
}

bool run_one(const CompileCase& which, Device device, const Ceilings& ceilings,
             const RunOptions& options, std::vector<Record>& records) {
  const Range range(fmt::format("compile {}", which.name));
  const CaseRun run = case_of(which.name, device);
  const std::string name = which.name;
  const std::pair<std::string, Function> ways[] = {
      {"eager", run.function},
      {"compiled", compile(run.function, {.name = name})},
      {"reduce-overhead", compile(run.function, {.name = name, .mode = Mode::ReduceOverhead})}};
  std::vector<Contender> contenders;
  std::optional<Tensor> expected;
  for (const auto& [way, function] : ways) {
    Record record;
    record.op = "compile " + name;
    record.way = way;
    record.device = device.name();
    record.dtype = "float32";
    record.shape = run.shape;
    options.show(fmt::format("{}: preparing {}", record.op, way));
    try {
      if (way == "eager") expected = run.run(function);
      contenders.push_back(contender_of(run, function, record, expected, options, device));
    } catch (const std::exception& error) {
      // What cannot be compiled is the answer, and the message says the way out.
      record.status = way == "eager" ? Status::Failed : Status::NotAvailable;
      record.reason = first_line(error.what());
      contenders.push_back({record, {}});
    }
    contenders.back().record.bytes =
        std::min(contenders[0].record.bytes_moved, contenders.back().record.bytes_moved);
    if (options.is_interrupted()) return false;
  }
  const ContestOptions contest{.rounds = options.trials ? 1 : 3,
                               .seconds = options.seconds,
                               .is_interrupted = options.is_interrupted,
                               .show = options.show};
  const bool is_complete = hold_contest(contenders, contest);
  add_verdicts(contenders);
  for (Contender& contender : contenders) {
    fill_rate(contender.record, ceilings, false);
    records.push_back(std::move(contender.record));
  }
  return is_complete;
}

}  // namespace

const std::vector<CompileCase>& compile_cases() {
  static const std::vector<CompileCase> all = {
      {"products", "four products of 512 x 512 with a little between them"},
      {"elements", "a matrix of 64 x 64 made element by element in a loop"},
      {"small_operations", "61 operations on 64 x 64 elements"},
      {"convolution", "3 x 3 taps as products, summed, with bias and ReLU"},
      {"slow_loop", "200 steps of a recurrence over rows"},
      {"one_operation", "one addition of 4 million elements"},
      {"branch_on_data", "an if on a sum of the elements"},
      {"changing_shapes", "a norm and GELU, 16 shapes in turn"},
      {"input_output", "a norm and GELU of a file, into a file"}};
  return all;
}

std::string verdict_of(double eager_seconds, double compiled_seconds, const std::string& reason) {
  const double ratio = eager_seconds / compiled_seconds;
  return fmt::format("{:.2f} times as fast as eager: {}; {}", ratio,
                     ratio >= worthwhile ? "worth it" : "not worth it", reason);
}

bool run_compile_cases(const std::vector<std::string>& names, Device device,
                       const Ceilings& ceilings, const RunOptions& options,
                       std::vector<Record>& records) {
  for (const CompileCase& each : compile_cases()) {
    const bool is_asked =
        names.empty() || std::find(names.begin(), names.end(), each.name) != names.end();
    if (is_asked && !run_one(each, device, ceilings, options, records)) return false;
  }
  return true;
}

}  // namespace tilewright::suite
