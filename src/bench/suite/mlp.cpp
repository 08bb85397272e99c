// SPDX-License-Identifier: Apache-2.0
// bench/suite/mlp.cpp — the network, its three phases, and their rows.
#include "bench/suite/mlp.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text.h"
#include "bench/samplers.h"
#include "graph/launch.h"
#include "tilewright/grad.h"
#include "tilewright/nn.h"
#include "tilewright/profile.h"

namespace tilewright::suite {
namespace {

constexpr double checked_flops = 1e10;  // above, a reference in float64 takes too long

struct Layers {
  std::vector<nn::Linear> layers;
  TW_TREE(layers)
};

Tensor loss_of(Layers net, Tensor x) {
  for (const nn::Linear& layer : net.layers) x = gelu(layer(x));
  return mean(x);
}

enum class Phase { Forward, Backward, Step };
constexpr Phase phases[] = {Phase::Forward, Phase::Backward, Phase::Step};
const char* name_of(Phase phase) {
  return phase == Phase::Forward    ? "mlp forward"
         : phase == Phase::Backward ? "mlp backward"
                                    : "mlp step";
}

struct MlpProblem {
  Layers net;
  Tensor x;
};

MlpProblem problem_of(const MlpCase& which) {
  const RandomOptions options = RandomOptions(DType::Float32, which.device).with_seed(1);
  MlpProblem problem;
  for (std::int64_t i = 0; i < which.layers; ++i) {
    nn::Linear layer(which.dim, which.dim,
                     options.with_seed(10 + 2 * static_cast<std::uint64_t>(i)));
    problem.net.layers.push_back(layer);
  }
  visit_tensors(problem.net, [&](Tensor& tensor) { tensor = tensor.to(which.dtype); });
  problem.x = randn({which.batch, which.dim}, options).to(which.dtype);
  return problem;
}

// One run of a phase: the loss, and what else is looked at: a gradient, or a parameter after a
// step.
using Run = std::function<std::vector<Tensor>()>;

struct Program {
  Run run;
  std::function<CompileStats()> stats;
  std::function<std::string()> drawing;
};

Program program_of(const MlpProblem& p, Phase phase, const CompileOptions& options) {
  if (phase == Phase::Forward) {
    const auto f = compile(loss_of, options);
    return {[=] { return std::vector<Tensor>{f(p.net, p.x)}; }, [=] { return f.stats(); },
            [=] { return f.drawing(); }};
  }
  const auto both = value_and_grad(loss_of);
  if (phase == Phase::Backward) {
    const auto f = compile([both](Layers net, Tensor x) { return both(net, x); }, options);
    return {[=] {
              auto [loss, g] = f(p.net, p.x);
              return std::vector<Tensor>{loss, g.layers[0].weight};
            },
            [=] { return f.stats(); }, [=] { return f.drawing(); }};
  }
  struct Trained {
    Layers net;
    nn::AdamW<Layers> adam;
  };
  const auto state = std::make_shared<Trained>(Trained{p.net, nn::AdamW<Layers>(p.net)});
  const auto f = compile(
      [both](Layers net, nn::AdamW<Layers> adam, Tensor x) {
        auto [loss, g] = both(net, x);
        adam.update(net, g);
        return std::tuple(loss, net, adam);
      },
      options);
  return {[=, x = p.x] {
            Tensor loss;
            std::tie(loss, state->net, state->adam) =
                f(std::move(state->net), std::move(state->adam), x);
            return std::vector<Tensor>{loss, state->net.layers[0].weight};
          },
          [=] { return f.stats(); }, [=] { return f.drawing(); }};
}

double flops_of(const MlpCase& c, Phase phase) {
  const double product =
      2.0 * static_cast<double>(c.batch) * static_cast<double>(c.dim) * static_cast<double>(c.dim);
  const auto layers = static_cast<double>(c.layers);
  // Nothing is derived by the first layer's input.
  return c.steps * product * (phase == Phase::Forward ? layers : 3 * layers - 1);
}

// Parameters and the batch once; gradients; the moments of AdamW, read and written.
double bytes_of(const MlpCase& c, Phase phase) {
  const double parameters =
      static_cast<double>(c.layers) * static_cast<double>(c.dim) * static_cast<double>(c.dim + 1);
  const double batch = static_cast<double>(c.batch) * static_cast<double>(c.dim);
  const double often = phase == Phase::Forward ? 1 : phase == Phase::Backward ? 2 : 6;
  return c.steps * static_cast<double>(size_of(c.dtype)) * (often * parameters + batch);
}

double difference(const Tensor& found, const Tensor& expected) {
  const std::vector<double> x = found.cpu().to(DType::Float64).contiguous().to_vector<double>();
  const std::vector<double> y = expected.cpu().to(DType::Float64).contiguous().to_vector<double>();
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    worst = std::max(worst, std::isnan(x[i]) ? INFINITY : std::abs(x[i] - y[i]));
    largest = std::max(largest, std::abs(y[i]));
  }
  return largest > 0 ? worst / largest : worst;
}

std::vector<Tensor> reference_of(const MlpCase& which, MlpProblem problem, Phase phase) {
  if (flops_of(which, phase) / which.steps > checked_flops) return {};
  visit_tensors(problem.net, [](Tensor& tensor) { tensor = tensor.to(DType::Float64); });
  problem.x = problem.x.to(DType::Float64);
  return program_of(problem, phase, {.name = "reference", .fuses = false}).run();
}

// Layer by layer errors of rounding grow; the mean of many numbers of both signs is small beside
// them.
double tolerance_of_mlp(const MlpCase& which) {
  const double unit = which.dtype == DType::Float32   ? 1e-5
                      : which.dtype == DType::Float16 ? 2e-2
                                                      : 0.2;
  return unit * std::sqrt(static_cast<double>(which.layers)) * 4;
}

void judge(Record& record, const std::vector<Tensor>& found, const std::vector<Tensor>& expected,
           double tolerance) {
  record.tolerance = tolerance;
  if (expected.empty()) return;
  record.error = difference(found.back(), expected.back());
  if (*record.error <= tolerance) return;
  record.status = Status::Wrong;
  record.reason = fmt::format("off by {:.1e} of the largest value, {:.1e} is allowed",
                              *record.error, tolerance);
}

Record empty_record(const MlpCase& which, Phase phase, const std::string& way) {
  Record record;
  record.op = name_of(phase);
  record.way = way;
  record.device = which.device.name();
  record.dtype = tilewright::name_of(which.dtype);
  record.shape = which.shape();
  record.dim = which.dim;
  record.bytes = bytes_of(which, phase);
  record.flops = flops_of(which, phase);
  return record;
}

Contender make_ready(const MlpCase& which, const MlpProblem& problem, Phase phase, Record record,
                     const std::vector<Tensor>& expected, const RunOptions& options) {
  const double begin = wall_seconds();
  const Program program = program_of(problem, phase, options_of_way(record.way));
  const std::vector<Tensor> first = program.run();
  which.device.synchronize();
  record.first_seconds = wall_seconds() - begin;
  judge(record, first, expected, tolerance_of_mlp(which));
  std::vector<graph::LaunchedGroup> launches;
  {
    const graph::LaunchObserver observer(launches);
    program.run();
  }
  record.bytes_moved = 0;
  for (const graph::LaunchedGroup& launch : launches)
    record.bytes_moved += which.steps * (launch.bytes_read + launch.bytes_written);
  record.kernels = static_cast<int>(program.stats().kernels) * which.steps;
  if (record.way == "compiled") record.drawing = program.drawing();
  const Prepared prepared{.run = [run = program.run, steps = which.steps] {
    for (int i = 0; i < steps; ++i) run();
  }};
  const BenchOptions bench{.warmups = options.warmups,
                           .trials = options.trials,
                           .clock = options.clock,
                           .device = which.device};
  const auto measure = [=](double seconds) {
    return take_turn(prepared, bench, seconds, options.is_interrupted);
  };
  return {record, measure, look_at(prepared, which.device, options)};
}

bool run_phase(const MlpCase& which, const MlpProblem& problem, Phase phase,
               const std::vector<std::string>& ways, const Ceilings& ceilings,
               const RunOptions& options, Rivals* rivals, std::vector<Record>& records) {
  const Range range(fmt::format("{} {}", name_of(phase), shape_text(which.shape())));
  const std::vector<Tensor> expected = reference_of(which, problem, phase);
  std::vector<Contender> contenders;
  for (const std::string& way : mlp_ways()) {
    const bool is_asked = ways.empty() || std::find(ways.begin(), ways.end(), way) != ways.end();
    if (!is_asked) continue;
    Record record = empty_record(which, phase, way);
    options.show(fmt::format("{} {}: preparing {}", record.op, shape_text(record.shape), way));
    try {
      contenders.push_back(make_ready(which, problem, phase, record, expected, options));
    } catch (const std::exception& error) {
      record.status = Status::Failed;
      record.reason = first_line(error.what());
      contenders.push_back({record, {}});
    }
    if (options.is_interrupted()) return false;
  }
  if (rivals != nullptr)
    for (Contender& rival : rivals->mlp_contenders(empty_record(which, phase, ""), which.steps))
      contenders.push_back(std::move(rival));
  const ContestOptions contest{.rounds = options.trials ? 1 : 3,
                               .seconds = options.seconds,
                               .is_interrupted = options.is_interrupted,
                               .show = options.show};
  const bool is_complete = hold_contest(contenders, contest);
  for (Contender& contender : contenders) {
    fill_rate(contender.record, ceilings, true);
    add_evidence(contender);
    // What a compiled function costs before its first result.
    if (contender.record.first_seconds > 0.5) {
      std::string& note = contender.record.note;
      note += fmt::format("{}first call {:.1f} s", note.empty() ? "" : ", ",
                          contender.record.first_seconds);
    }
    records.push_back(std::move(contender.record));
  }
  return is_complete;
}

}  // namespace

const std::vector<std::string>& mlp_ways() {
  static const std::vector<std::string> names = {"eager", "compiled", "reduce-overhead",
                                                 "max-autotune", "max-autotune-no-cudagraphs"};
  return names;
}

CompileOptions options_of_way(const std::string& way) {
  CompileOptions options{.name = way};
  options.fuses = way != "eager";
  for (const Mode mode : {Mode::ReduceOverhead, Mode::MaxAutotune, Mode::MaxAutotuneNoGraphs})
    if (way == tilewright::name_of(mode)) options.mode = mode;
  return options;
}

bool run_mlp(const MlpCase& which, const std::vector<std::string>& ways, const Ceilings& ceilings,
             const RunOptions& options, Rivals* rivals, std::vector<Record>& records) {
  const MlpProblem problem = problem_of(which);
  for (const Phase phase : phases)
    if (!run_phase(which, problem, phase, ways, ceilings, options, rivals, records)) return false;
  return true;
}

void train_mlp(const MlpCase& which, const std::string& way,
               const std::function<void(int step, double loss)>& show) {
  const Program program = program_of(problem_of(which), Phase::Step, options_of_way(way));
  for (int i = 0; i < which.steps; ++i) {
    const Range range(fmt::format("step {}", i + 1));
    show(i + 1, program.run()[0].to(DType::Float32).item<float>());
  }
}

}  // namespace tilewright::suite
