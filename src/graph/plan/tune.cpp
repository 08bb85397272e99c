// SPDX-License-Identifier: Apache-2.0
// graph/plan/tune.cpp — the variants of a step, their rotation, and what is known of earlier ones.
#include "graph/plan/tune.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "base/settings.h"
#include "compiler/tune/rotation.h"
#include "compiler/tune/stopwatch.h"
#include "compiler/tune/store.h"
#include "graph/eager/eager.h"
#include "graph/plan/prepare.h"
#include "graph/plan/run.h"
#include "runtime/backend.h"
#include "runtime/library_product.h"
#include "tensor/shape.h"

namespace tilewright::graph {
namespace {

constexpr double seconds_per_variant = 0.03;

struct Variant {
  int log_block = -1;  // -1: as the walk has it
  int num_warps = 0;   // 0: what suits the kernel
  std::optional<ContractBlocks> blocks = {};
};

std::string variant_text(const Variant& v) {
  if (v.blocks)
    return fmt::format("{} x {} x {}, {} warps", v.blocks->tall, v.blocks->wide, v.blocks->deep,
                       v.blocks->num_warps);
  return fmt::format("block {}, {} warps", v.log_block, v.num_warps);
}

void apply(const Variant& variant, PlannedStep& step) {
  if (variant.log_block >= 0) step.walk.log_block = variant.log_block;
  step.num_warps = variant.num_warps > 0 ? std::optional(variant.num_warps) : std::nullopt;
  step.blocks = variant.blocks;
}

std::vector<Variant> group_variants(const PlannedStep& step, bool is_cuda) {
  const bool is_map = step.walk.mode == Mode::Linear || step.walk.mode == Mode::Rows;
  std::vector<Variant> all = {{}};
  if (is_map) {
    const int most = step.walk.mode == Mode::Rows ? step.walk.log_block : 13;
    for (const int log : is_cuda ? std::vector{9, 11, 12} : std::vector{9, 11, 13})
      if (log <= most) all.push_back({.log_block = log});
  }
  if (is_cuda && (step.walk.mode == Mode::Whole || step.walk.mode == Mode::Looped))
    for (const int warps : {1, 2, 4, 8, 16})
      if (32 * warps <= std::int64_t{1} << step.walk.log_block) all.push_back({.num_warps = warps});
  if (is_cuda && step.walk.mode == Mode::Columns)
    for (const int log : {5, 6})
      if (log < step.walk.log_block) all.push_back({.log_block = log});
  return all;
}

std::vector<Variant> product_variants(DType dtype, bool is_cuda) {
  const bool is_single = dtype == DType::Float32;
  std::vector<Variant> all = {{}};
  const auto add = [&](int tall, int wide, int deep, int warps = 0) {
    all.push_back({.blocks = ContractBlocks{static_cast<std::uint16_t>(tall),
                                            static_cast<std::uint16_t>(wide),
                                            static_cast<std::uint16_t>(deep), warps}});
  };
  if (dtype == DType::Float64) return {};
  if (!is_cuda) {
    const int deep = is_single ? 128 : 256;
    add(32, 64, deep);
    add(64, 64, deep);
    add(64, 128, deep);
    add(128, 64, deep);
    add(128, 128, deep);
    add(128, 128, 2 * deep);
  } else if (is_single) {
    add(32, 64, 32);
    add(64, 64, 16);
    add(128, 64, 32);
    add(128, 128, 16, 8);
    add(128, 128, 32, 8);
  } else {
    add(64, 64, 64);
    add(64, 128, 64);
    add(128, 64, 64);
    add(128, 128, 64);
    add(128, 128, 64, 8);
    add(128, 256, 64, 8);
  }
  return all;
}

// One step of a plan, once for each variant.
class StepTurns final : public Turns {
 public:
  StepTurns(const Plan& plan, std::span<const Tensor> inputs, const PlannedStep& step,
            const std::vector<Variant>& variants)
      : run_(plan, inputs), watch_(current_stream(plan.graph.device)) {
    add_scratch(run_, step);
    for (const Variant& variant : variants) {
      steps_.push_back(step);
      apply(variant, steps_.back());
    }
  }
  void take(std::size_t i, int count, std::vector<double>& seconds) override {
    watch_.time(
        count, [] {}, [&] { run_step(run_, steps_[i]); }, seconds);
  }
  double now() override { return stopwatch_now(); }
  bool is_over(std::size_t) override { return false; }

 private:
  PlanRun run_;
  Stopwatch watch_;
  std::vector<PlannedStep> steps_;
};

std::string sizes_text(const PlannedStep& step) {
  std::string text;
  for (int d = 0; d < step.walk.rank; ++d) text += fmt::format("{} ", step.walk.sizes[d]);
  for (const std::int64_t size : step.sizes) text += fmt::format("| {} ", size);
  return text;
}

// What the times of a step depend on.
TunePlace place_of(const Plan& plan, const PlannedStep& step) {
  const Device device = plan.graph.device;
  if (step.node < 0)
    return {.kernel = step.formula->name,
            .source = step.formula->to_string(),
            .device = device,
            .key = fmt::format("{:x} {:x} {}", step.walk.head_word(device.kind),
                               step.walk.access_word(), sizes_text(step))};
  const Node& node = plan.graph.nodes[static_cast<std::size_t>(step.node)];
  std::string key = fmt::format("{} {}", name_of(node.dtype), node.operands.size());
  for (const Value& value : node.operands)
    key += fmt::format(" {} {}", shape_text(value.shape), shape_text(value.strides));
  // The first variant is the library's product, where there is one.
  key += fmt::format(" {} {}", settings().use_libraries ? product_library(device) : "none",
                     is_tf32_allowed() ? "tf32" : "");
  return {.kernel = "tw_matmul", .source = "product", .device = device, .key = std::move(key)};
}

// A variant as `explain` names it.
std::string spoken(const std::string& config, bool is_first, const Plan& plan, bool is_product) {
  if (!is_first) return is_product ? "our kernel with blocks of " + config : config;
  if (!is_product) return "the default";
  const std::string library = product_library(plan.graph.device);
  return library.empty() ? "our kernel with the default blocks" : library;
}

// The winner with its time, and the one to compare it with: the first variant, which is the
// library's product where there is one, or else the next.
std::string said_of(const TuneRecord& record, const Plan& plan, bool is_product) {
  const StoredConfig* best = record.find(record.winner);
  const StoredConfig* other = nullptr;
  std::size_t timed = 0;
  for (const StoredConfig& config : record.configs) {
    if (config.timing.samples == 0) continue;
    ++timed;
    if (&config == best) continue;
    const bool is_better = other == nullptr || (other != record.configs.data() &&
                                                config.timing.median < other->timing.median);
    if (is_better) other = &config;
  }
  if (best == nullptr || best->timing.samples == 0) return "";
  const auto named = [&](const StoredConfig& config) {
    return fmt::format("{} ({:.1f} us)",
                       spoken(config.config, &config == record.configs.data(), plan, is_product),
                       config.timing.median * 1e6);
  };
  std::string text = fmt::format("fastest of {}: {}", timed, named(*best));
  if (other != nullptr) text += fmt::format(", before {}", named(*other));
  return text;
}

// Every record of a process, so that equal steps of a plan are timed once.
class Known {
 public:
  // The step gets its winner, if that is known and among the variants.
  bool apply_to(PlannedStep& step, const std::string& key, const std::vector<Variant>& variants) {
    const std::lock_guard lock(mutex_);
    const auto found = winners_.find(key);
    if (found == winners_.end()) return false;
    for (const Variant& variant : variants) {
      if (variant_text(variant) != found->second.winner) continue;
      apply(variant, step);
      step.tuned = found->second.said;
      return true;
    }
    return false;
  }
  void add(const std::string& key, std::string winner, std::string said) {
    const std::lock_guard lock(mutex_);
    winners_[key] = {std::move(winner), std::move(said)};
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    winners_.clear();
  }

 private:
  std::mutex mutex_;
  struct Winner {
    std::string winner;
    std::string said;
  };
  std::map<std::string, Winner> winners_;
};
Known& known_winners() {
  static auto& all = *new Known;
  return all;
}

void tune_step(const Plan& plan, std::span<const Tensor> inputs, PlannedStep& step,
               TuneCounts& counts) {
  const bool is_cuda = plan.graph.device.is_cuda();
  const std::vector<Variant> variants =
      step.node < 0
          ? group_variants(step, is_cuda)
          : product_variants(plan.graph.nodes[static_cast<std::size_t>(step.node)].dtype, is_cuda);
  if (variants.size() < 2) return;
  ++counts.steps;
  const TunePlace place = place_of(plan, step);
  // Of this cache: another one knows other winners.
  const std::string key = fmt::format("{}\n{}\n{}\n{}", settings().cache_folder, place.source,
                                      place.device.name(), place.key);
  if (known_winners().apply_to(step, key, variants)) return;
  TuneStore store(DiskCache::shared(), place);
  if (const std::optional<TuneRecord> record = store.find(); record && !record->winner.empty()) {
    known_winners().add(key, record->winner, said_of(*record, plan, step.node >= 0));
    if (known_winners().apply_to(step, key, variants)) {
      ++counts.stored;
      return;
    }
  }
  std::vector<Candidate> candidates(variants.size());
  StepTurns turns(plan, inputs, step, variants);
  rotate(candidates, turns,
         {.seconds = seconds_per_variant * static_cast<double>(variants.size()),
          .turn_seconds = seconds_per_variant / 8});
  const int best = fastest(candidates);
  if (best < 0) return;
  TuneRecord record{.kernel = place.kernel, .device = place.device.name(), .key = place.key};
  for (std::size_t i = 0; i < variants.size(); ++i) {
    record.configs.push_back(
        {.config = variant_text(variants[i]), .problem = candidates[i].problem});
    if (candidates[i].samples.empty()) continue;
    record.configs.back().timing = timing_of(candidates[i].samples);
    ++counts.timed;
  }
  record.winner = variant_text(variants[static_cast<std::size_t>(best)]);
  record.is_finished = true;
  store.store(record);
  known_winners().add(key, record.winner, said_of(record, plan, step.node >= 0));
  known_winners().apply_to(step, key, variants);
}

bool has_elements(const Plan& plan, const PlannedStep& step) {
  for (const int i : step.written)
    if (checked_numel(plan.graph.nodes[static_cast<std::size_t>(i)].shape, 1) == 0) return false;
  return true;
}

}  // namespace

void forget_winners() { known_winners().forget(); }

TuneCounts tune_plan(Plan& plan, std::span<const Tensor> inputs) {
  TuneCounts counts;
  const Device device = plan.graph.device;
  if (backend(device).is_capturing(device.index, current_stream(device).native())) return counts;
  for (PlannedStep& step : plan.steps) {
    const bool is_known_kind =
        step.node < 0 ||
        plan.graph.nodes[static_cast<std::size_t>(step.node)].kind == Node::Kind::Contract;
    if (is_known_kind && has_elements(plan, step)) tune_step(plan, inputs, step, counts);
  }
  return counts;
}

}  // namespace tilewright::graph
