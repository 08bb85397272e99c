// SPDX-License-Identifier: Apache-2.0
// compiler/triton/tune/tune_at_launch.cpp — the first launch with a new tune key.
#include <cstdio>

#include <fmt/format.h>

#include "base/log.h"
#include "base/settings.h"
#include "base/units.h"
#include "compiler/triton/tune/config_text.h"
#include "compiler/triton/tune/key.h"
#include "compiler/triton/tune/tune.h"
#include "runtime/backend.h"

namespace tilewright {
namespace {

bool is_capturing(const LaunchRequest& request) {
  const Device device = request.place.device;
  const Stream stream = request.launch.stream ? *request.launch.stream : current_stream(device);
  return backend(device).is_capturing(device.index, stream.native());
}

std::optional<python::ConfigValue> stored_winner(const LaunchRequest& request,
                                                 const std::string& key) {
  TuneStore store(
      DiskCache::shared(),
      {request.state.name, std::string(request.state.function.module->tree->source.text),
       request.place.device, key});
  const std::optional<TuneRecord> record = store.find();
  if (!record || record->winner.empty()) return std::nullopt;
  return parse_config_text(record->winner);
}

void print_winner(const TuneReport& report) {
  const ConfigOutcome* best = report.best();
  if (!settings().print_autotuning || best == nullptr) return;
  const auto count = [&](ConfigOutcome::Kind kind) {
    int number = 0;
    for (const ConfigOutcome& c : report.configs) number += c.kind == kind;
    return number;
  };
  const int skipped = count(ConfigOutcome::Kind::Skipped);
  const std::string how = report.was_stored ? std::string("stored by an earlier run")
                                            : fmt::format("tuned in {} over {} configs, {} skipped",
                                                          format_seconds(report.seconds),
                                                          report.configs.size(), skipped);
  const std::string time =
      best->timing.samples > 0 ? format_seconds(best->timing.median) : std::string("not timed");
  fmt::print(stderr, "tilewright: kernel '{}' on {} for {}: best config {} ({}; {})\n",
             report.kernel, report.device, report.key, config_text(best->config), time, how);
}

// Nothing may be timed inside a capture: what was found before, else the first valid config.
std::optional<python::ConfigValue> winner_while_capturing(const LaunchRequest& request,
                                                          const std::string& key) {
  std::optional<python::ConfigValue> known = stored_winner(request, key);
  if (!known)
    warn_once(
        fmt::format("kernel '{}' is first launched for {} while a graph is captured, where "
                    "nothing can be timed: the first valid config is taken; launch it once "
                    "before, or tune it with tilewright tune",
                    request.state.name, key));
  return known;
}

std::optional<python::ConfigValue> tune_now(const LaunchRequest& request,
                                            const TritonArgument* const* slots) {
  try {
    const TuneReport report = tune(request, slots, {});
    for (const std::string& note : report.notes) warn_once(note);
    print_winner(report);
    if (report.best() == nullptr) return std::nullopt;
    return report.best()->config;
  } catch (const OutOfMemory& error) {
    warn_once(fmt::format("kernel '{}' is not tuned and its first valid config is taken: {}",
                          request.state.name, error.what()));
    return std::nullopt;
  }
}

}  // namespace

bool is_tuned_at_launch(const LaunchRequest& request) {
  if (!settings().autotune || request.launch.bare) return false;
  if (request.place.interpret || request.place.emulate != nullptr) return false;
  return request.state.is_autotuned() || lacks_constants(request);
}

std::optional<python::ConfigValue> tuned_config(const LaunchRequest& request,
                                                const TritonArgument* const* slots) {
  TritonKernel::State& state = request.state;
  const std::lock_guard one_at_a_time(state.tuning);
  std::string key, known_as;
  std::size_t configs = 0;
  {
    const std::lock_guard lock(state.mutex);
    const std::optional<KernelAutotune> autotune = autotune_of(request);
    key = tune_key(request, autotune ? &*autotune : nullptr);
    configs = autotune ? autotune->content.configs.size() : 0;
    known_as = fmt::format("{}: {}", request.place.device.name(), key);
    const auto known = state.winners.find(known_as);
    if (known != state.winners.end()) return known->second;
  }
  std::optional<python::ConfigValue> winner;
  if (configs <= 1) winner = stored_winner(request, key);
  else if (is_capturing(request)) return winner_while_capturing(request, key);
  else winner = tune_now(request, slots);
  if (winner) {
    const std::lock_guard lock(state.mutex);
    state.winners.emplace(known_as, *winner);
  }
  return winner;
}

}  // namespace tilewright
