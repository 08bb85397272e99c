// SPDX-License-Identifier: Apache-2.0
// compiler/tune/rotation.cpp — rounds of turns, and when a candidate leaves them.
#include "compiler/tune/rotation.h"

#include <algorithm>

#include "base/statistics.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

constexpr int most_runs_per_turn = 40;
constexpr double long_run = 0.05;  // seconds: what is slow only the first time is shorter

// How much slower than the best a candidate's own best may be after so many rounds. Early rounds
// know little, so that only what is hopeless leaves.
double allowed_ratio(int rounds) {
  if (rounds <= 1) return 3;
  return rounds == 2 ? 1.5 : 1.15;
}

class Rotation {
 public:
  Rotation(std::vector<Candidate>& candidates, Turns& turns, const RotationOptions& options)
      : candidates_(candidates), turns_(turns), options_(options) {}

  void run() {
    end_ = turns_.now() + options_.seconds;
    for (int round = 0; round < options_.max_rounds; ++round) {
      if (!make_round(round)) return;
      drop_slow(round + 1);
      if (in_race() <= 1 || turns_.now() >= end_) return;
      if (round + 1 >= options_.min_rounds && is_decided()) return;
    }
  }

 private:
  int in_race() const {
    return static_cast<int>(std::count_if(candidates_.begin(), candidates_.end(),
                                          [](const Candidate& c) { return !c.is_out; }));
  }

  // False when somebody wants it to end.
  bool make_round(int round) {
    for (std::size_t k = 0; k < candidates_.size(); ++k) {
      const std::size_t i = (k + static_cast<std::size_t>(round)) % candidates_.size();
      if (candidates_[i].is_out) continue;
      take_turn(i);
      if (turns_.is_over(i)) return false;
      if (round > 0 && turns_.now() >= end_) return false;
    }
    return true;
  }

  void take_turn(std::size_t i) {
    Candidate& candidate = candidates_[i];
    try {
      if (candidate.samples.empty()) warm_up(i);
      if (!candidate.is_out) turns_.take(i, runs_of(candidate), candidate.samples);
    } catch (const UserError& error) {
      fail(candidate, error.what());
    } catch (const OutOfMemory& error) {
      fail(candidate, error.what());
    }
  }

  // The first run may load code or touch memory for the first time. Where that cannot explain how
  // slow it is, there is no second.
  void warm_up(std::size_t i) {
    std::vector<double> first;
    turns_.take(i, 1, first);
    warm_up_seconds_.resize(candidates_.size());
    warm_up_seconds_[i] = first.front();
    const int best = fastest(candidates_);
    if (best < 0 || first.front() < long_run) return;
    if (first.front() <
        allowed_ratio(1) * median_of(candidates_[static_cast<std::size_t>(best)].samples))
      return;
    candidates_[i].samples = first;
    candidates_[i].is_out = true;
  }

  int runs_of(const Candidate& candidate) const {
    const auto i = static_cast<std::size_t>(&candidate - candidates_.data());
    const double typical =
        candidate.samples.empty() ? warm_up_seconds_[i] : median_of(candidate.samples);
    if (!(typical > 0)) return most_runs_per_turn;
    return static_cast<int>(
        std::clamp(options_.turn_seconds / typical, 1.0, static_cast<double>(most_runs_per_turn)));
  }

  static void fail(Candidate& candidate, const char* why) {
    candidate.is_out = true;
    candidate.samples.clear();
    candidate.problem = why;
  }

  void drop_slow(int rounds) {
    const int best = fastest(candidates_);
    if (best < 0) return;
    const double limit =
        allowed_ratio(rounds) * median_of(candidates_[static_cast<std::size_t>(best)].samples);
    for (Candidate& candidate : candidates_)
      if (!candidate.is_out &&
          *std::min_element(candidate.samples.begin(), candidate.samples.end()) > limit)
        candidate.is_out = true;
  }

  // The best one's times lie below those of everybody else.
  bool is_decided() const {
    const int best = fastest(candidates_);
    if (best < 0) return true;
    const double high = timing_of(candidates_[static_cast<std::size_t>(best)].samples).high;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].is_out || static_cast<int>(i) == best) continue;
      if (timing_of(candidates_[i].samples).low <= high) return false;
    }
    return true;
  }

  std::vector<Candidate>& candidates_;
  Turns& turns_;
  const RotationOptions& options_;
  std::vector<double> warm_up_seconds_;
  double end_ = 0;
};

}  // namespace

void rotate(std::vector<Candidate>& candidates, Turns& turns, const RotationOptions& options) {
  Rotation(candidates, turns, options).run();
}

int fastest(const std::vector<Candidate>& candidates) {
  int best = -1;
  double best_seconds = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].samples.empty()) continue;
    const double seconds = median_of(candidates[i].samples);
    if (best >= 0 && seconds >= best_seconds) continue;
    best = static_cast<int>(i);
    best_seconds = seconds;
  }
  return best;
}

Timing timing_of(const std::vector<double>& samples) {
  const Summary summary = summarize(samples);
  return {summary.median, summary.p10, summary.p90, static_cast<int>(samples.size())};
}

}  // namespace tilewright
