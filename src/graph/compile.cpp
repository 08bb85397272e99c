// SPDX-License-Identifier: Apache-2.0
// graph/compile.cpp — plans of a compiled function, by what its arguments look like.
#include "tilewright/compile.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <list>
#include <mutex>
#include <unordered_map>

#include <fmt/format.h>

#include "base/log.h"
#include "base/settings.h"
#include "graph/eager/eager.h"
#include "graph/group/roll.h"
#include "graph/mix.h"
#include "graph/plan/keep.h"
#include "graph/plan/prepare.h"
#include "graph/plan/replay.h"
#include "graph/plan/tune.h"
#include "graph/print/svg.h"
#include "graph/trace/fold.h"
#include "graph/trace/tracer.h"
#include "tensor/shape.h"
#include "tensor/traced.h"
#include "tilewright/error.h"

namespace tilewright {

std::string_view name_of(Mode mode) {
  switch (mode) {
    case Mode::Default:
      return "default";
    case Mode::ReduceOverhead:
      return "reduce-overhead";
    case Mode::MaxAutotune:
      return "max-autotune";
    case Mode::MaxAutotuneNoGraphs:
      return "max-autotune-no-cudagraphs";
  }
  return "";
}

}  // namespace tilewright

namespace tilewright::compiled {

// What a plan was made for.
struct Guard {
  DType dtype;
  Shape shape;
  Shape strides;

  bool holds(const Tensor& tensor) const {
    return tensor.dtype() == dtype && tensor.shape() == shape && tensor.strides() == strides;
  }
};

// A call holds it while it runs, so that another thread may forget it meanwhile.
struct Entry {
  std::uint64_t hash = 0;
  Device device;
  std::vector<Guard> guards;
  std::vector<std::uint64_t> words;
  const void* types = nullptr;
  graph::Plan plan;
  std::any tree;
  // Of modes that replay: made by the first call, whose thread holds the lock meanwhile.
  mutable std::once_flag first_call = {};
  std::unique_ptr<graph::Replay> replay = {};
  std::string why_no_replay = {};

  bool holds(const State::Call& call) const {
    if (call.inputs.size() != guards.size() || call.types != types) return false;
    if (!std::equal(words.begin(), words.end(), call.words.begin(), call.words.end())) return false;
    for (std::size_t i = 0; i < guards.size(); ++i)
      if (!guards[i].holds(call.inputs[i]) || call.inputs[i].device() != device) return false;
    return true;
  }
};

// Of what guards compare.
static std::uint64_t hash_of(const State::Call& call) {
  graph::Mix mix{call.inputs.size()};
  for (const Tensor& input : call.inputs) {
    mix.add(static_cast<std::uint64_t>(input.dtype()));
    mix.add(input.shape());
    mix.add(input.strides());
  }
  for (const std::uint64_t word : call.words) mix.add(word);
  return mix.value;
}

// What differs from the last plan: the line of TILEWRIGHT_LOG=recompiles.
static std::string difference(const Entry& entry, const State::Call& call) {
  for (std::size_t i = 0; i < std::min(entry.guards.size(), call.inputs.size()); ++i)
    if (!entry.guards[i].holds(call.inputs[i]))
      return fmt::format("argument {} was {}{} with strides {}, is {} with strides {}", i,
                         name_of(entry.guards[i].dtype), shape_text(entry.guards[i].shape),
                         shape_text(entry.guards[i].strides), graph::tensor_text(call.inputs[i]),
                         shape_text(call.inputs[i].strides()));
  return "a number, a device, a type or how many tensors there are differs";
}

struct State::Parts {
  CompileOptions options;
  mutable std::mutex mutex;  // all below
  using Entries = std::list<std::shared_ptr<Entry>>;
  Entries entries;  // the one that was called last is the first
  std::unordered_multimap<std::uint64_t, Entries::iterator> by_hash;
  CompileStats stats;
  graph::KeptPlans kept;  // has a lock of its own

  bool tunes() const {
    return options.mode == Mode::MaxAutotune || options.mode == Mode::MaxAutotuneNoGraphs;
  }
  bool replays() const {
    return options.mode == Mode::ReduceOverhead || options.mode == Mode::MaxAutotune;
  }

  const Entry* last() const { return entries.empty() ? nullptr : entries.front().get(); }
  std::shared_ptr<Entry> find(const Call& call);
  std::shared_ptr<Entry> add(std::shared_ptr<Entry> entry);
  std::shared_ptr<Entry> forget_oldest();
  graph::Graph trace(const Call& call, std::any& tree) const;
  std::shared_ptr<Entry> make_entry(const Call& call);
  void check_trace(const Entry& entry, const Call& call) const;
  void tune(Entry& entry, const Call& call);
  std::vector<Tensor> run(Entry& entry, const Call& call);
  std::string explain(const Entry& entry) const;
};

std::shared_ptr<Entry> State::Parts::find(const Call& call) {
  const std::lock_guard lock(mutex);
  ++stats.calls;
  if (!entries.empty() && entries.front()->holds(call)) return entries.front();
  const auto [first, end] = by_hash.equal_range(hash_of(call));
  for (auto known = first; known != end; ++known) {
    if (!(*known->second)->holds(call)) continue;
    entries.splice(entries.begin(), entries, known->second);
    return entries.front();
  }
  if (!entries.empty() && logs("recompiles"))
    log_line("recompiles", fmt::format("{} is traced again: {}", options.name,
                                       difference(*entries.front(), call)));
  return nullptr;
}

std::shared_ptr<Entry> State::Parts::add(std::shared_ptr<Entry> entry) {
  std::shared_ptr<Entry> forgotten;  // goes behind the lock: it gives memory back
  const std::lock_guard lock(mutex);
  ++stats.traces;
  stats.kernels = entry->plan.steps.size();
  if (entries.size() >= std::max<std::size_t>(options.most_plans, 1)) forgotten = forget_oldest();
  entries.push_front(std::move(entry));
  by_hash.emplace(entries.front()->hash, entries.begin());
  stats.plans = entries.size();
  return entries.front();
}

std::shared_ptr<Entry> State::Parts::forget_oldest() {
  const auto oldest = std::prev(entries.end());
  const auto [first, end] = by_hash.equal_range((*oldest)->hash);
  for (auto known = first; known != end; ++known)
    if (known->second == oldest) {
      by_hash.erase(known);
      break;
    }
  std::shared_ptr<Entry> forgotten = std::move(*oldest);
  entries.erase(oldest);
  return forgotten;
}

graph::Graph State::Parts::trace(const Call& call, std::any& tree_of_results) const {
  graph::Graph traced_graph;
  {
    graph::TraceScope scope;
    const TracingScope tracing(call.inputs.empty() ? Device() : call.inputs[0].device());
    std::vector<Tensor> traced;
    for (const Tensor& input : call.inputs) traced.push_back(scope.tracer().add_input(input));
    auto [results, tree] = call.trace(traced);
    for (const Tensor& result : results) {
      if (!result.is_defined())
        throw ArgumentError(
            fmt::format("the compiled function '{}' returned an undefined tensor", options.name));
      scope.tracer().add_output(result);
    }
    tree_of_results = std::move(tree);
    results.clear();
    scope.tracer().finish();
    scope.tracer().check_kept();
    traced_graph = std::move(scope.tracer().graph);
    graph::fold_contents(traced_graph);
  }
  return options.fuses ? graph::roll_lists(std::move(traced_graph)) : std::move(traced_graph);
}

std::shared_ptr<Entry> State::Parts::make_entry(const Call& call) {
  auto entry = std::make_shared<Entry>();
  entry->hash = hash_of(call);
  entry->guards.reserve(call.inputs.size());
  for (const Tensor& input : call.inputs)
    entry->guards.push_back({input.dtype(), input.shape(), input.strides()});
  graph::Graph traced_graph = trace(call, entry->tree);
  if (logs("graph")) log_line("graph", options.name + "\n" + traced_graph.to_string());
  entry->device = traced_graph.device;
  entry->words.assign(call.words.begin(), call.words.end());
  entry->types = call.types;
  entry->plan = kept.plan_for(std::move(traced_graph), options.fuses);
  if (logs("fusion")) log_line("fusion", options.name + "\n" + entry->plan.explain());
  if (logs("output_code")) log_line("output_code", "\n" + entry->plan.output_code());
  return entry;
}

// The first line in which two texts differ, of each.
static std::pair<std::string, std::string> first_difference(std::string_view a,
                                                            std::string_view b) {
  const auto line_of = [](std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
  };
  while (!a.empty() || !b.empty()) {
    const std::string x = line_of(a), y = line_of(b);
    if (x != y) return {x, y};
  }
  return {};
}

static bool has_same_bytes(const Tensor& a, const Tensor& b) {
  const Tensor x = a.cpu().contiguous(), y = b.cpu().contiguous();
  return x.numel() == 0 || std::memcmp(x.data(), y.data(), x.nbytes()) == 0;
}

// TILEWRIGHT_CHECK_TRACE: what no guard can see, a number or a tensor that the function gets from
// somewhere else, shows in another trace.
void State::Parts::check_trace(const Entry& entry, const Call& call) const {
  std::any tree;
  const graph::Graph again = trace(call, tree);
  const auto [before, now] =
      first_difference(graph::whole_graph(entry.plan).to_string(), again.to_string());
  if (before != now)
    throw ArgumentError(fmt::format(
        "the compiled function '{}' does something else than when it was traced: '{}' is now '{}'; "
        "pass what it reads and what changes as arguments",
        options.name, before, now));
  for (std::size_t i = 0; i < again.nodes.size(); ++i) {
    const graph::Node& node = again.nodes[i];
    if (node.kind != graph::Node::Kind::Captured) continue;
    const Tensor& known = entry.plan.graph.nodes[i].captured;
    const bool is_made = node.is_made && entry.plan.graph.nodes[i].is_made;
    if (is_made && !node.is_written && !has_same_bytes(node.captured, known))
      throw ArgumentError(fmt::format(
          "the compiled function '{}' makes %{}, a {}, of other values than when it was traced: "
          "pass what changes as arguments",
          options.name, i, graph::tensor_text(node.captured)));
    if (!is_made && node.captured.data() != known.data())
      throw ArgumentError(fmt::format(
          "the compiled function '{}' refers to another tensor than when it was traced: %{}, a {}; "
          "pass it as an argument, or write into the tensor that it refers to",
          options.name, i, graph::tensor_text(node.captured)));
  }
}

void State::Parts::tune(Entry& entry, const Call& call) {
  const graph::TuneCounts counts = graph::tune_plan(entry.plan, call.inputs);
  const std::lock_guard lock(mutex);
  stats.variants += counts.timed;
  stats.known += counts.stored;
}

std::vector<Tensor> State::Parts::run(Entry& entry, const Call& call) {
  std::optional<std::vector<Tensor>> results;
  std::call_once(entry.first_call, [&] {
    graph::prepare_plan(entry.plan, call.inputs);
    if (tunes()) tune(entry, call);
    if (!replays()) return;
    std::vector<Tensor> made;
    std::string why_not;
    auto replay = graph::Replay::record(entry.plan, call.inputs, made, why_not);
    results = std::move(made);
    const std::lock_guard lock(mutex);
    entry.replay = std::move(replay);
    entry.why_no_replay = std::move(why_not);
    stats.launches = entry.replay ? entry.replay->launches() : 0;
    stats.graphs = entry.replay ? entry.replay->graphs() : 0;
  });
  if (results) return std::move(*results);
  if (entry.replay) {
    if (std::optional<std::vector<Tensor>> replayed = entry.replay->run(call.inputs)) {
      const std::lock_guard lock(mutex);
      ++stats.replays;
      return std::move(*replayed);
    }
  }
  return graph::run_plan(entry.plan, call.inputs);
}

std::string State::Parts::explain(const Entry& entry) const {
  std::string text = entry.plan.explain();
  if (entry.replay)
    text += fmt::format(
        "replayed: {} launches, {}; {} bytes between them\n", entry.replay->launches(),
        entry.replay->graphs() > 0 ? fmt::format("{} CUDA graphs", entry.replay->graphs())
                                   : "one after the other",
        entry.replay->planned_bytes());
  else if (!entry.why_no_replay.empty())
    text += fmt::format("not replayed: {}\n", entry.why_no_replay);
  return text;
}

State::State(CompileOptions options) : parts_(std::make_unique<Parts>()) {
  parts_->options = std::move(options);
}
State::~State() = default;

std::pair<std::vector<Tensor>, std::shared_ptr<const std::any>> State::run(const Call& call) {
  if (graph::Tracer::current() != nullptr) graph::TraceScope refuses;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].is_defined())
      throw ArgumentError(
          fmt::format("tensor {} of a call of '{}' is undefined", i + 1, parts_->options.name));
    if (traced_of(call.inputs[i])) [[unlikely]]
      throw_traced(fmt::format("a call of '{}'", parts_->options.name), call.inputs[i]);
  }
  std::shared_ptr<Entry> entry = parts_->find(call);
  if (entry == nullptr) entry = parts_->add(parts_->make_entry(call));
  else if (settings().check_trace) parts_->check_trace(*entry, call);
  std::vector<Tensor> results = parts_->run(*entry, call);
  const std::any* const tree = &entry->tree;
  return {std::move(results), std::shared_ptr<const std::any>(std::move(entry), tree)};
}

std::string State::explain() const {
  const std::lock_guard lock(parts_->mutex);
  const Entry* const last = parts_->last();
  return last == nullptr ? "nothing was traced yet\n" : parts_->explain(*last);
}

std::string State::graph() const {
  const std::lock_guard lock(parts_->mutex);
  const Entry* const last = parts_->last();
  return last == nullptr ? "" : graph::whole_graph(last->plan).to_string();
}

std::string State::output_code() const {
  const std::lock_guard lock(parts_->mutex);
  const Entry* const last = parts_->last();
  return last == nullptr ? "" : last->plan.output_code();
}

std::string State::drawing() const {
  const std::lock_guard lock(parts_->mutex);
  const Entry* const last = parts_->last();
  return last == nullptr ? "" : graph::to_svg(last->plan);
}

CompileStats State::stats() const {
  const std::lock_guard lock(parts_->mutex);
  return parts_->stats;
}

}  // namespace tilewright::compiled
