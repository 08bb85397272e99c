// SPDX-License-Identifier: Apache-2.0
// bench/suite/contest.cpp — rounds, and the numbers made from them.
#include "bench/suite/contest.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/statistics.h"
#include "base/text.h"
#include "bench/measure.h"
#include "tilewright/error.h"
#include "tilewright/profile.h"

namespace tilewright::suite {
namespace {

struct Standing {
  std::vector<double> samples;
  std::vector<double> hosts;
  int stable_turns = 0;
  int turns = 0;
};

void take_turn(Contender& contender, Standing& standing, double seconds) {
  const Range range(contender.record.way);
  Turn turn = contender.measure(seconds);
  standing.samples.insert(standing.samples.end(), turn.samples.begin(), turn.samples.end());
  if (turn.host_seconds > 0) standing.hosts.push_back(turn.host_seconds);
  standing.stable_turns += turn.is_stable ? 1 : 0;
  ++standing.turns;
  if (turn.graph_seconds > 0) contender.record.graph_seconds = turn.graph_seconds;
  if (!turn.clock_note.empty()) contender.record.note = turn.clock_note;
  contender.record.clock = turn.clock;
}

void finish(Record& record, const Standing& standing) {
  if (standing.samples.empty()) return;
  fill_times(record, standing.samples);
  record.is_stable = standing.stable_turns == standing.turns ||
                     is_known(standing.samples, BenchOptions{}.relative_interval);
  if (!standing.hosts.empty()) record.host_seconds = median_of(standing.hosts);
}

}  // namespace

void fill_times(Record& record, const std::vector<double>& samples) {
  const Summary s = summarize(samples);
  record.seconds = s.median;
  record.p10 = s.p10;
  record.p90 = s.p90;
  record.min = s.min;
  record.mean = s.mean;
  record.interval_low = s.interval.low;
  record.interval_high = s.interval.high;
  record.outliers = s.outliers;
  record.runs = static_cast<int>(samples.size());
}

void fill_rate(Record& record, const Ceilings& ceilings, bool is_arithmetic) {
  record.unit = is_arithmetic ? "FLOP/s" : "B/s";
  if (!record.is_measured()) return;
  record.rate = (is_arithmetic ? record.flops : record.bytes) / record.seconds;
  const double flops_per_second = ceilings.flops_for(record.dtype);
  const bool is_known = ceilings.bytes_per_second > 0 && (!is_arithmetic || flops_per_second > 0);
  if (!is_known) return;
  double possible = record.bytes / ceilings.bytes_per_second;
  if (is_arithmetic) possible = std::max(possible, record.flops / flops_per_second);
  record.percent_of_ceiling = 100 * possible / record.seconds;
}

bool hold_contest(std::vector<Contender>& contenders, const ContestOptions& options) {
  std::vector<Standing> standings(contenders.size());
  bool goes_on = true;
  for (int round = 0; round < options.rounds && goes_on; ++round)
    for (std::size_t i = 0; i < contenders.size() && goes_on; ++i) {
      Record& record = contenders[i].record;
      if (record.status != Status::Ok) continue;
      options.show(fmt::format("{} {}: {}, round {} of {}", record.op, fmt::join(record.shape, "x"),
                               record.way, round + 1, options.rounds));
      try {
        take_turn(contenders[i], standings[i], options.seconds / options.rounds);
      } catch (const Interrupted&) {
        goes_on = false;
      } catch (const std::exception& error) {
        record.status = Status::Failed;
        record.reason = first_line(error.what());
      }
      if (options.is_interrupted()) goes_on = false;
    }
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    Record& record = contenders[i].record;
    if (record.status != Status::Ok) continue;
    finish(record, standings[i]);
    if (!goes_on) record.status = Status::Interrupted;
  }
  return goes_on;
}

}  // namespace tilewright::suite
