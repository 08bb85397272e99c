// SPDX-License-Identifier: Apache-2.0
// graph/compile.cpp — plans of a compiled function, by what its arguments look like.
#include "tilewright/compile.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include <fmt/format.h>

#include "base/log.h"
#include "graph/eager/eager.h"
#include "graph/plan/plan.h"
#include "graph/trace/tracer.h"
#include "tensor/shape.h"
#include "tensor/traced.h"
#include "tilewright/error.h"

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

struct Entry {
  Device device;
  std::vector<Guard> guards;
  std::vector<double> numbers;
  graph::Plan plan;
  std::any tree;

  bool holds(const State::Call& call) const {
    if (call.inputs.size() != guards.size()) return false;
    if (!std::equal(numbers.begin(), numbers.end(), call.numbers.begin(), call.numbers.end()))
      return false;
    for (std::size_t i = 0; i < guards.size(); ++i)
      if (!guards[i].holds(call.inputs[i])) return false;
    return guards.empty() || call.inputs[0].device() == device;
  }
};

// What differs from the last plan: the line of TILEWRIGHT_LOG=recompiles.
static std::string difference(const Entry& entry, const State::Call& call) {
  for (std::size_t i = 0; i < std::min(entry.guards.size(), call.inputs.size()); ++i)
    if (!entry.guards[i].holds(call.inputs[i]))
      return fmt::format("argument {} was {}{} with strides {}, is {} with strides {}", i,
                         name_of(entry.guards[i].dtype), shape_text(entry.guards[i].shape),
                         shape_text(entry.guards[i].strides), graph::tensor_text(call.inputs[i]),
                         shape_text(call.inputs[i].strides()));
  return "a number, a device or how many tensors there are differs";
}

struct State::Parts {
  CompileOptions options;
  mutable std::mutex mutex;  // all below
  std::vector<std::unique_ptr<Entry>> entries;
  const Entry* last = nullptr;
  CompileStats stats;

  const Entry* find(const Call& call) {
    const std::lock_guard lock(mutex);
    ++stats.calls;
    if (last != nullptr && last->holds(call)) return last;
    for (const auto& entry : entries)
      if (entry->holds(call)) return last = entry.get();
    if (last != nullptr && logs("recompiles"))
      log_line("recompiles",
               fmt::format("{} is traced again: {}", options.name, difference(*last, call)));
    return nullptr;
  }

  const Entry* add(std::unique_ptr<Entry> entry) {
    const std::lock_guard lock(mutex);
    ++stats.traces;
    stats.kernels = entry->plan.steps.size();
    entries.push_back(std::move(entry));
    return last = entries.back().get();
  }

  std::unique_ptr<Entry> trace(const Call& call) const;
};

std::unique_ptr<Entry> State::Parts::trace(const Call& call) const {
  auto entry = std::make_unique<Entry>();
  graph::Graph traced_graph;
  {
    graph::TraceScope scope;
    const TracingScope tracing;
    std::vector<Tensor> traced;
    for (const Tensor& input : call.inputs) {
      traced.push_back(scope.tracer().add_input(input));
      entry->guards.push_back({input.dtype(), input.shape(), input.strides()});
    }
    auto [results, tree] = call.trace(traced);
    for (const Tensor& result : results) {
      if (!result.is_defined())
        throw ArgumentError(
            fmt::format("the compiled function '{}' returned an undefined tensor", options.name));
      scope.tracer().add_output(result);
    }
    entry->tree = std::move(tree);
    scope.tracer().finish();
    traced_graph = std::move(scope.tracer().graph);
  }
  if (logs("graph")) log_line("graph", options.name + "\n" + traced_graph.to_string());
  entry->device = traced_graph.device;
  entry->numbers.assign(call.numbers.begin(), call.numbers.end());
  entry->plan = graph::make_plan(std::move(traced_graph));
  if (logs("fusion")) log_line("fusion", options.name + "\n" + entry->plan.explain());
  if (logs("output_code")) log_line("output_code", "\n" + entry->plan.output_code());
  return entry;
}

State::State(CompileOptions options) : parts_(std::make_unique<Parts>()) {
  parts_->options = std::move(options);
}
State::~State() = default;

std::pair<std::vector<Tensor>, const std::any*> State::run(const Call& call) {
  if (graph::Tracer::current() != nullptr) graph::TraceScope refuses;
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    if (!call.inputs[i].is_defined())
      throw ArgumentError(
          fmt::format("tensor {} of a call of '{}' is undefined", i + 1, parts_->options.name));
  const Entry* entry = parts_->find(call);
  if (entry == nullptr) entry = parts_->add(parts_->trace(call));
  return {graph::run_plan(entry->plan, call.inputs), &entry->tree};
}

std::string State::explain() const {
  const std::lock_guard lock(parts_->mutex);
  return parts_->last == nullptr ? "nothing was traced yet\n" : parts_->last->plan.explain();
}

std::string State::graph() const {
  const std::lock_guard lock(parts_->mutex);
  return parts_->last == nullptr ? "" : parts_->last->plan.graph.to_string();
}

std::string State::output_code() const {
  const std::lock_guard lock(parts_->mutex);
  return parts_->last == nullptr ? "" : parts_->last->plan.output_code();
}

CompileStats State::stats() const {
  const std::lock_guard lock(parts_->mutex);
  return parts_->stats;
}

}  // namespace tilewright::compiled
