// SPDX-License-Identifier: Apache-2.0
// compiler/triton/tune/tune.cpp — one tuning from the list of configs to the winner.
#include "compiler/triton/tune/tune.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "base/settings.h"
#include "compiler/triton/tune/config_text.h"
#include "compiler/triton/tune/key.h"
#include "compiler/triton/tune/prune.h"
#include "compiler/triton/tune/trials.h"
#include "compiler/triton/tune/tuned_memory.h"
#include "compiler/tune/results.h"
#include "compiler/tune/rotation.h"
#include "compiler/tune/saved_memory.h"
#include "compiler/tune/stopwatch.h"
#include "passes/laid/op_facts.h"

namespace tilewright {
namespace {

using Kind = ConfigOutcome::Kind;

constexpr int most_compile_threads = 8;
// Times of an earlier run that are this much above its best are taken as they are.
constexpr double worth_another_run = 1.15;

int compile_threads() {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(settings().threads > 0 ? settings().threads : cores, 1, most_compile_threads);
}

class Tuning {
 public:
  Tuning(const LaunchRequest& request, const TritonArgument* const* slots,
         const TuneOptions& options)
      : request_(request), slots_(slots), options_(options), begin_(stopwatch_now()) {}

  TuneReport run() {
    read_configs();
    TuneStore store(DiskCache::shared(), place());
    store_ = &store;
    const std::optional<Held> lock = store.hold(patience_seconds);
    if (const std::optional<TuneRecord> known = store.find()) earlier_ = *known;
    if (take_stored_winner()) return finished();
    make_all_trials();
    const std::size_t runnable = runnable_count();
    if (runnable == 0 && !report_.was_interrupted) fail();
    if (!report_.was_interrupted && (runnable > 1 || options_.is_forced)) time_all();
    if (!report_.was_interrupted) choose();
    return finished();
  }

 private:
  // Another process that tunes the same needs about as long as we would.
  static constexpr double patience_seconds = 120;

  class LaunchTurns;

  bool is_over() const { return options_.is_over && options_.is_over(); }
  void show(const std::string& what) const {
    if (options_.progress) options_.progress(what);
  }

  void read_configs();
  TunePlace place() const;
  bool take_stored_winner();
  void make_all_trials();
  void reuse_timings();
  std::size_t runnable_count() const;
  [[noreturn]] void fail() const;
  LaunchView view_of(std::size_t i) const {
    return {request_.state, slots_, trials_[i].draft.specialization.get()};
  }
  std::vector<std::size_t> named(const std::vector<std::string>& names) const;
  SavedMemory save_memory(const Stream& stream) const;
  void time_all();
  bool find_grids();
  void leave_out_same();
  void compare_results(const Stream& stream);
  void run_for_results(const Stream& stream, ResultComparison& results);
  void note_differences(const ResultComparison& results);
  void rotate_all(const Stream& stream, const SavedMemory& memory);
  void take_times(const std::vector<Candidate>& candidates);
  void choose();
  void keep_earlier_winner(TuneRecord& record) const;
  void keep() const;
  TuneReport finished() {
    report_.seconds = stopwatch_now() - begin_;
    return std::move(report_);
  }

  const LaunchRequest& request_;
  const TritonArgument* const* slots_;
  const TuneOptions& options_;
  double begin_;
  std::optional<KernelAutotune> autotune_;
  TuneStore* store_ = nullptr;
  TuneRecord earlier_;
  TuneReport report_;
  std::vector<Trial> trials_;
  std::vector<Candidate> candidates_;  // in the order of the configs
  std::vector<Dim3> grids_;
};

void Tuning::read_configs() {
  const std::lock_guard lock(request_.state.mutex);
  autotune_ = autotune_of(request_);
  report_.kernel = request_.state.name;
  report_.device = request_.place.device.name();
  report_.key = tune_key(request_, autotune_ ? &*autotune_ : nullptr);
  std::vector<python::ConfigValue> configs = options_.configs;
  if (configs.empty() && autotune_) {
    Pruned pruned = prune_configs(request_, *autotune_);
    if (!pruned.note.empty()) report_.notes.push_back(pruned.note);
    configs = std::move(pruned.configs);
    for (const python::ConfigValue& config : pruned.dropped) {
      report_.configs.emplace_back(config);
      report_.configs.back().skip("left out by prune_configs_by");
    }
  }
  for (const python::ConfigValue& config : configs) report_.configs.emplace_back(config);
}

TunePlace Tuning::place() const {
  return {report_.kernel, std::string(request_.state.function.module->tree->source.text),
          request_.place.device, report_.key};
}

// A winner of the same source: its code is drafted, and must be what was timed where it can be
// told.
bool Tuning::take_stored_winner() {
  if (options_.is_forced || earlier_.winner.empty()) return false;
  const StoredConfig* stored = earlier_.find(earlier_.winner);
  const std::optional<python::ConfigValue> config = parse_config_text(earlier_.winner);
  if (stored == nullptr || !config) return false;
  std::vector<ConfigOutcome> only = {ConfigOutcome(*config)};
  const auto never = [] { return false; };
  std::vector<Trial> trials = make_trials(
      request_, only, 1, [](std::size_t) {}, never);
  const std::lock_guard lock(request_.state.mutex);
  const bool is_same_launch =
      earlier_.given == signature_text(request_.state.parameters, request_.given);
  if (trials[0].error || (is_same_launch && trials[0].code != stored->code)) {
    earlier_ = {};
    return false;
  }
  only[0].kind = Kind::Stored;
  only[0].timing = stored->timing;
  report_.configs = std::move(only);
  report_.winner = 0;
  report_.was_stored = true;
  request_.state.compiled[code_key(request_, trials[0].resolved)] =
      std::move(trials[0].draft.specialization);
  return true;
}

void Tuning::make_all_trials() {
  const auto progress = [&](std::size_t i) {
    show(fmt::format("compiling {} of {}: {}", i + 1, report_.configs.size(),
                     config_text(report_.configs[i].config)));
  };
  trials_ = make_trials(request_, report_.configs, compile_threads(), progress,
                        [&] { return is_over(); });
  report_.was_interrupted = is_over();
  skip_hopeless(report_.configs);
  candidates_.resize(trials_.size());
  for (std::size_t i = 0; i < trials_.size(); ++i)
    candidates_[i].is_out = report_.configs[i].kind == Kind::Skipped;
  if (report_.was_interrupted) return;
  reuse_timings();
  keep();
}

// What an interrupted run measured of the same code. Only what may still win is measured again.
void Tuning::reuse_timings() {
  if (earlier_.is_finished) return;
  double best = 0;
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    const StoredConfig* stored = earlier_.find(config_text(report_.configs[i].config));
    if (candidates_[i].is_out || stored == nullptr || stored->code != trials_[i].code) continue;
    if (stored->timing.samples == 0) continue;
    report_.configs[i].kind = Kind::Stored;
    report_.configs[i].timing = stored->timing;
    best = best > 0 ? std::min(best, stored->timing.median) : stored->timing.median;
  }
  for (std::size_t i = 0; i < trials_.size(); ++i)
    if (report_.configs[i].kind == Kind::Stored &&
        report_.configs[i].timing.median > worth_another_run * best)
      candidates_[i].is_out = true;
}

std::size_t Tuning::runnable_count() const {
  return static_cast<std::size_t>(
      std::count_if(report_.configs.begin(), report_.configs.end(),
                    [](const ConfigOutcome& c) { return c.kind != Kind::Skipped; }));
}

// The kernel's own error where every config has the same one: then the configs are not to blame.
void Tuning::fail() const {
  const Trial* first = nullptr;
  bool are_same = true;
  for (std::size_t i = 0; i < report_.configs.size(); ++i) {
    are_same = are_same && report_.configs[i].problem == report_.configs[0].problem;
    if (first == nullptr && i < trials_.size() && trials_[i].error) first = &trials_[i];
  }
  if (are_same && first != nullptr) std::rethrow_exception(first->error);
  throw ArgumentError(all_failed_text(report_));
}

std::vector<std::size_t> Tuning::named(const std::vector<std::string>& names) const {
  std::vector<std::size_t> found;
  for (const std::string& name : names)
    found.push_back(parameter_index(request_.state.name, request_.state.parameters, name));
  return found;
}

SavedMemory Tuning::save_memory(const Stream& stream) const {
  std::vector<std::size_t> restored, zeroed;
  if (autotune_) {
    zeroed = named(autotune_->content.reset_to_zero);
    restored = named(autotune_->content.restore_value);
  }
  std::size_t first = 0;
  for (std::size_t i = trials_.size(); i-- > 0;)
    if (!candidates_[i].is_out) first = i;
  for (const std::size_t parameter : updated_parameters(trials_[first].draft))
    restored.push_back(parameter);
  const LaunchView view = view_of(first);
  return SavedMemory(stream, values_of(view, restored), values_of(view, zeroed));
}

// Launches with the caller's arguments.
class Tuning::LaunchTurns : public Turns {
 public:
  LaunchTurns(Tuning& tuning, const Stream& stream, const SavedMemory& memory)
      : tuning_(tuning), memory_(memory), watch_(stream) {}

  void take(std::size_t i, int count, std::vector<double>& seconds) override {
    const LaunchView view = tuning_.view_of(i);
    watch_.time(
        count, [&] { memory_.before_run(); },
        [&] { run_compiled(view, tuning_.request_.launch, tuning_.grids_[i]); }, seconds);
  }

  double now() override { return stopwatch_now(); }

  bool is_over(std::size_t i) override {
    // Later turns only make known times better: keeping them once a round is enough.
    const bool is_new = tuning_.report_.configs[i].timing.samples == 0;
    tuning_.take_times(tuning_.candidates_);
    if (is_new || i + 1 == tuning_.candidates_.size()) tuning_.keep();
    tuning_.show(fmt::format("timing {}", config_text(tuning_.report_.configs[i].config)));
    tuning_.report_.was_interrupted = tuning_.is_over();
    return tuning_.report_.was_interrupted;
  }

 private:
  Tuning& tuning_;
  const SavedMemory& memory_;
  Stopwatch watch_;
};

void Tuning::time_all() {
  const Stream stream =
      request_.launch.stream ? *request_.launch.stream : current_stream(request_.place.device);
  if (!find_grids()) {
    if (options_.is_forced) report_.notes.push_back("the grid is empty, so nothing can be timed");
    return;
  }
  leave_out_same();
  std::optional<SavedMemory> saved;
  try {
    if (options_.compares_results) compare_results(stream);
    if (report_.was_interrupted) return;
    if (runnable_count() == 0) fail();
    saved.emplace(save_memory(stream));
  } catch (const ArgumentError& error) {
    report_.notes.push_back(fmt::format("kernel '{}' cannot be tuned with these arguments: {}",
                                        report_.kernel, error.what()));
    return;
  }
  const SavedMemory& memory = *saved;
  try {
    rotate_all(stream, memory);
  } catch (...) {
    try {
      memory.bring_back();
    } catch (const Error&) {
      // The first error says more: after a fault of the device nothing can be copied.
    }
    throw;
  }
  memory.bring_back();
}

// False when one of them is empty.
bool Tuning::find_grids() {
  grids_.resize(trials_.size());
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    if (report_.configs[i].kind == Kind::Skipped) continue;
    grids_[i] = grid_of(view_of(i), request_.launch);
    if (grids_[i].count() == 0) return false;
  }
  return true;
}

// The same code on the same grid.
void Tuning::leave_out_same() {
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    if (report_.configs[i].kind == Kind::Skipped) continue;
    for (std::size_t j = 0; j < i; ++j) {
      const Kind kind = report_.configs[j].kind;
      if (kind == Kind::Skipped || kind == Kind::Same) continue;
      const bool is_same = trials_[i].code == trials_[j].code && grids_[i].x == grids_[j].x &&
                           grids_[i].y == grids_[j].y && grids_[i].z == grids_[j].z;
      if (!is_same) continue;
      report_.configs[i].kind = Kind::Same;
      report_.configs[i].timing = {};
      report_.configs[i].problem = config_text(report_.configs[j].config);
      candidates_[i].is_out = true;
      break;
    }
  }
}

void Tuning::compare_results(const Stream& stream) {
  std::size_t first = trials_.size();
  for (std::size_t i = trials_.size(); i-- > 0;)
    if (!candidates_[i].is_out) first = i;
  if (first == trials_.size()) return;
  const KernelDraft& draft = trials_[first].draft;
  ResultComparison results(values_of(view_of(first), written_parameters(draft)),
                           tilewright::has_dot(draft.tiles.lowered.kernel), stream);
  try {
    run_for_results(stream, results);
  } catch (const OutOfMemory& error) {
    report_.notes.push_back(
        fmt::format("the results of the configs are not compared: {}", error.what()));
    return;
  }
  if (!report_.was_interrupted) note_differences(results);
}

// All memory that the kernel writes is as before each run: what a config leaves out must show.
void Tuning::run_for_results(const Stream& stream, ResultComparison& results) {
  std::vector<std::size_t> zeroed, written;
  std::size_t first = trials_.size();
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    if (candidates_[i].is_out) continue;
    first = std::min(first, i);
    for (const std::size_t parameter : written_parameters(trials_[i].draft))
      written.push_back(parameter);
  }
  if (autotune_) zeroed = named(autotune_->content.reset_to_zero);
  const LaunchView view = view_of(first);
  const SavedMemory memory(stream, values_of(view, written), values_of(view, zeroed));
  for (std::size_t i = first; i < trials_.size() && !is_over(); ++i) {
    if (candidates_[i].is_out) continue;
    show(fmt::format("comparing {}", config_text(report_.configs[i].config)));
    try {
      memory.before_run();
      run_compiled(view_of(i), request_.launch, grids_[i]);
      stream.synchronize();
    } catch (const UserError& error) {
      report_.configs[i].skip(error.what());
      candidates_[i].is_out = true;
      continue;
    }
    results.take(i);
  }
  report_.was_interrupted = is_over();
  memory.bring_back();
}

void Tuning::note_differences(const ResultComparison& results) {
  for (const ResultProblem& problem : results.problems()) {
    const std::string like = config_text(report_.configs[problem.like].config);
    const std::string others =
        problem.count > 1 ? fmt::format(" and {} more", problem.count - 1) : std::string();
    report_.configs[problem.config].skip(
        fmt::format("its result differs from that of {}{}: {}", like, others, problem.what));
    candidates_[problem.config].is_out = true;
  }
  for (const std::string& name : results.scratch())
    report_.notes.push_back(fmt::format(
        "every config leaves something else in '{}', which is taken for scratch memory and not "
        "compared",
        name));
}

void Tuning::rotate_all(const Stream& stream, const SavedMemory& memory) {
  LaunchTurns turns(*this, stream, memory);
  const auto racing = static_cast<double>(std::count_if(
      candidates_.begin(), candidates_.end(), [](const Candidate& c) { return !c.is_out; }));
  rotate(candidates_, turns,
         {.seconds = options_.seconds_per_config * racing,
          .turn_seconds = options_.seconds_per_config / 16});
  take_times(candidates_);
}

void Tuning::take_times(const std::vector<Candidate>& candidates) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    ConfigOutcome& outcome = report_.configs[i];
    if (!candidates[i].problem.empty()) outcome.skip(candidates[i].problem);
    if (candidates[i].samples.empty()) continue;
    outcome.kind = candidates[i].is_out ? Kind::Slower : Kind::Timed;
    outcome.timing = timing_of(candidates[i].samples);
  }
}

void Tuning::choose() {
  for (std::size_t i = 0; i < report_.configs.size(); ++i) {
    const ConfigOutcome& outcome = report_.configs[i];
    if (outcome.kind == Kind::Skipped || outcome.kind == Kind::Same) continue;
    const ConfigOutcome* best = report_.best();
    const bool is_timed = outcome.timing.samples > 0;
    if (best == nullptr ||
        (is_timed && (best->timing.samples == 0 || outcome.timing.median < best->timing.median)))
      report_.winner = static_cast<int>(i);
  }
  if (report_.winner < 0) fail();
  if (runnable_count() > 1 && report_.best()->timing.samples == 0) {
    report_.winner = -1;  // nothing could be timed
    return;
  }
  keep();
  const std::lock_guard lock(request_.state.mutex);
  Trial& winner = trials_[static_cast<std::size_t>(report_.winner)];
  request_.state.compiled[code_key(request_, winner.resolved)] =
      std::move(winner.draft.specialization);
}

// Launches go on using it until there is a new one.
void Tuning::keep_earlier_winner(TuneRecord& record) const {
  const StoredConfig* winner = earlier_.find(earlier_.winner);
  if (winner == nullptr) return;
  record.winner = earlier_.winner;
  if (record.find(winner->config) == nullptr) record.configs.push_back(*winner);
}

void Tuning::keep() const {
  TuneRecord record{report_.kernel, report_.device, report_.key,
                    signature_text(request_.state.parameters, request_.given)};
  for (std::size_t i = 0; i < report_.configs.size(); ++i) {
    const ConfigOutcome& outcome = report_.configs[i];
    record.configs.push_back({config_text(outcome.config),
                              i < trials_.size() ? trials_[i].code : std::string(), outcome.timing,
                              outcome.problem});
  }
  const ConfigOutcome* best = report_.best();
  record.is_finished = best != nullptr;
  // A config with a value that has no text is chosen anew by each process.
  if (best != nullptr && parse_config_text(config_text(best->config)))
    record.winner = config_text(best->config);
  if (best == nullptr) keep_earlier_winner(record);
  store_->store(record);
}

}  // namespace

TuneReport tune(const LaunchRequest& request, const TritonArgument* const* slots,
                const TuneOptions& options) {
  return Tuning(request, slots, options).run();
}

}  // namespace tilewright
