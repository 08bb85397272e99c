// SPDX-License-Identifier: Apache-2.0
// bench/suite/run.cpp — from a case to its records.
#include "bench/suite/run.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "bench/ceilings.h"
#include "bench/samplers.h"
#include "tilewright/error.h"
#include "tilewright/profile.h"

namespace tilewright::suite {
namespace {

Record empty_record(const Case& which) {
  Record record;
  record.op = which.operation->name;
  record.device = which.device.name();
  record.dtype = name_of(which.dtype);
  record.shape = which.shape;
  record.dim = which.dim;
  record.bytes = bytes_at_least(*which.operation, which.shape, which.dtype);
  record.flops = which.operation->flops(which.shape);
  return record;
}

// Then a copy between memories is no ceiling.
bool fits_in_cache(double bytes, Device device) {
  const Target& target = device.target();
  return bytes <=
         static_cast<double>(std::max(target.l2_bytes * target.processors, target.l3_bytes));
}

void judge(Record& record, const Problem& problem, int roundings) {
  const Check check = problem.operation->check(problem, problem.out());
  record.tolerance = tolerance_of(problem, roundings);
  if (!check.problem.empty()) {
    record.status = Status::Failed;
    record.reason = "cannot be checked: " + check.problem;
    return;
  }
  record.error = check.error;
  if (check.error <= record.tolerance) return;
  record.status = Status::Wrong;
  record.reason = fmt::format("off by {:.1e} of the largest value, {:.1e} is allowed", check.error,
                              record.tolerance);
  if (!check.worst.empty()) record.reason += "; worst at " + check.worst;
}

void add_to(Turn& turn, const BenchResult& result) {
  turn.samples.insert(turn.samples.end(), result.samples.begin(), result.samples.end());
  turn.is_stable = result.is_stable;
  turn.clock = result.clock == Clock::Device ? "device" : "wall";
  turn.host_seconds = result.host_seconds;
  turn.graph_seconds = result.graph_seconds;
  turn.clock_note = result.clock_note;
}

// A wrong result has no time: how fast a way is wrong tells nothing.
Contender make_ready(const Entry& entry, const Problem& problem, Record record,
                     const RunOptions& options) {
  const double begin = wall_seconds();
  problem.out().fill(NAN);  // so that what a way leaves out is seen
  const Prepared prepared = entry.prepare(problem);
  const auto once = [&] {
    const double start = wall_seconds();
    prepared.run();
    problem.device.synchronize();
    return wall_seconds() - start;
  };
  const double first = once();
  // A kernel of a few microseconds is mostly launch; its replay in a graph is not.
  const bool is_tiny = problem.device.is_cuda() && record.bytes < 16e6;
  record.first_seconds = wall_seconds() - begin;
  record.kernels = prepared.kernels;
  record.bytes_moved = prepared.bytes > 0 ? prepared.bytes : record.bytes;
  record.note = prepared.note;
  record.drawing = prepared.drawing;
  judge(record, problem, entry.roundings);
  // The first run may have compiled.
  const bool is_slow = first > options.seconds && once() > options.seconds;
  BenchOptions bench{.warmups = options.warmups,
                     .trials = options.trials,
                     .clock = options.clock,
                     .device = problem.device,
                     .graph = is_tiny};
  if (is_slow && !options.trials) bench.warmups = 0, bench.trials = 1;
  const auto measure = [=](double seconds) {
    return take_turn(prepared, bench, seconds, options.is_interrupted);
  };
  return {record, measure, look_at(prepared, problem.device, options)};
}

Contender contender_of(const Entry& entry, const Problem& problem, const Case& which,
                       const RunOptions& options) {
  Record record = empty_record(which);
  record.way = entry.name;
  record.lines = entry.lines;
  if (!entry.why_not.empty()) {
    record.status = Status::NotAvailable;
    record.reason = entry.why_not;
    return {record, {}};
  }
  options.show(fmt::format("{} {}: preparing {}", record.op, shape_text(which.shape), entry.name));
  try {
    return make_ready(entry, problem, record, options);
  } catch (const std::exception& error) {
    record.status = Status::Failed;
    record.reason = first_line(error.what());
    return {record, {}};
  }
}

}  // namespace

void note_cache(Record& record, Device device) {
  if (!record.is_measured() || !device.is_cpu() || !fits_in_cache(record.bytes, device)) return;
  record.note += record.note.empty() ? "in cache" : ", in cache";
}

// Measures for a second at a time until the median is known, so that an interruption loses no more
// than that.
Turn take_turn(const Prepared& prepared, BenchOptions bench, double seconds,
               const std::function<bool()>& is_interrupted) {
  const auto run = [&] {
    if (is_interrupted()) throw Interrupted{};
    prepared.run();
  };
  Turn turn;
  double left = seconds;
  do {
    bench.max_seconds = std::min(left, 1.0);
    bench.min_seconds = bench.max_seconds / 4;
    try {
      add_to(turn, benchmark(run, bench));
    } catch (const Interrupted&) {
      if (turn.samples.empty()) throw;
      return turn;
    }
    left -= bench.max_seconds;
  } while (left > 0.01 && !turn.is_stable && !bench.trials);
  return turn;
}

void add_evidence(Contender& contender) {
  if (!contender.look || !contender.record.is_measured()) return;
  Evidence evidence;
  try {
    evidence = contender.look();
  } catch (const std::exception& error) {
    evidence.problem = first_line(error.what());
  }
  contender.record.evidence = std::make_shared<const Evidence>(std::move(evidence));
}

// The timeline first: the profiler and the counters are two users of CUPTI.
std::function<Evidence()> look_at(const Prepared& prepared, Device device,
                                  const RunOptions& options) {
  if (!options.explain && !options.timeline) return {};
  return [prepared, device, options] {
    Evidence evidence;
    if (options.timeline) evidence.timeline = timeline_of(prepared.run);
    if (!options.explain) return evidence;
    for (const auto& facts : prepared.launches) evidence.launches.push_back(facts());
    if (device.is_cuda()) evidence.counters = read_counters(prepared.run, device);
    return evidence;
  };
}

Entry entry_of(const Way& way, const Shape& shape, DType dtype, Device device) {
  return {.name = way.name,
          .prepare = [way](const Problem& problem) { return way.prepare(problem, way); },
          .why_not = why_not(way, shape, dtype, device),
          .lines = lines_of_code(source_of(way)),
          .roundings = way.roundings};
}

bool run_case(const Case& which, const std::vector<Entry>& entries, const Ceilings& ceilings,
              const RunOptions& options, const MoreContenders& more, std::vector<Record>& records) {
  const Range range(fmt::format("{} {} {}", which.operation->name, shape_text(which.shape),
                                name_of(which.dtype)));
  options.show(fmt::format("{} {}: making inputs", which.operation->name, shape_text(which.shape)));
  const Problem problem = make_problem(*which.operation, which.shape, which.dtype, which.device);
  std::vector<Contender> contenders;
  for (const Entry& entry : entries) {
    contenders.push_back(contender_of(entry, problem, which, options));
    if (options.is_interrupted()) return false;
  }
  if (more)
    for (Contender& contender : more(problem)) contenders.push_back(std::move(contender));
  // Exact numbers of trials are one turn each, or they would be made several times.
  const ContestOptions contest{.rounds = options.trials ? 1 : 3,
                               .seconds = options.seconds,
                               .is_interrupted = options.is_interrupted,
                               .show = options.show};
  const bool is_complete = hold_contest(contenders, contest);
  for (Contender& contender : contenders) {
    fill_rate(contender.record, ceilings, which.operation->is_arithmetic);
    note_cache(contender.record, which.device);
    add_evidence(contender);
    records.push_back(std::move(contender.record));
  }
  return is_complete;
}

Ceilings measure_ceilings(Device device, const CeilingsWanted& wanted) {
  Ceilings ceilings;
  const Ceiling copy = measure_copy(device);
  ceilings.bytes_per_second = copy.per_second;
  ceilings.problem = copy.problem;
  const auto add = [&](const Ceiling& rate) {
    if (ceilings.problem.empty()) ceilings.problem = rate.problem;
    return rate.per_second;
  };
  if (wanted.multiply_adds) ceilings.flops_per_second = add(measure_multiply_add(device));
  for (const DType dtype : wanted.matrix)
    ceilings.matrix.emplace_back(name_of(dtype), add(measure_matrix(device, dtype)));
  device.release_cached_memory();
  return ceilings;
}

void raise_ceilings(Report& report, const Ceilings& again, bool is_arithmetic) {
  Ceilings& ceilings = report.ceilings;
  ceilings.bytes_per_second = std::max(ceilings.bytes_per_second, again.bytes_per_second);
  ceilings.flops_per_second = std::max(ceilings.flops_per_second, again.flops_per_second);
  for (auto& [dtype, rate] : ceilings.matrix) rate = std::max(rate, again.flops_for(dtype));
  for (Record& record : report.records) fill_rate(record, ceilings, is_arithmetic);
}

}  // namespace tilewright::suite
