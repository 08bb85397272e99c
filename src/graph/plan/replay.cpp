// SPDX-License-Identifier: Apache-2.0
// graph/plan/replay.cpp — recording, finding the addresses that change, and calls.
#include "graph/plan/replay.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "graph/eager/eager.h"
#include "runtime/backend.h"
#include "tensor/draws.h"
#include "tensor/shape.h"
#include "tilewright/ops.h"

namespace tilewright::graph {
namespace {

// Thrown while recording: the plan cannot be replayed.
struct CannotReplay {
  std::string reason;
};

// The bytes that a tensor's elements lie in.
std::pair<std::uint64_t, std::uint64_t> extent_of(const Tensor& tensor) {
  std::int64_t low = 0, high = 0;
  for (std::size_t d = 0; d < tensor.shape().size(); ++d) {
    const std::int64_t way = (tensor.shape()[d] - 1) * tensor.strides()[d];
    (way < 0 ? low : high) += way;
  }
  const auto address = reinterpret_cast<std::uint64_t>(tensor.data());
  const auto size = static_cast<std::int64_t>(size_of(tensor.dtype()));
  if (tensor.numel() == 0) return {address, address};
  return {address + static_cast<std::uint64_t>(low * size),
          address + static_cast<std::uint64_t>((high + 1) * size)};
}

bool is_same(const Tensor& a, const Tensor& b) {
  const Tensor x = a.to(Device::cpu()), y = b.to(Device::cpu());
  return a.shape() == b.shape() &&
         (x.numel() == 0 || std::memcmp(x.data(), y.data(), x.nbytes()) == 0);
}

}  // namespace

Replay::Replay(const Plan& plan, const Stream& stream) : plan_(plan), stream_(stream) {}
Replay::~Replay() = default;

// Each value has a buffer of its own, so that kernels see that no two of them overlap.
void Replay::plan_arena(PlanRun& run) {
  memory_ = plan_memory(plan_);
  const Device device = plan_.graph.device;
  arena_ =
      Buffer::allocate(static_cast<std::size_t>(std::max<std::int64_t>(memory_.bytes, 1)), device);
  between_.resize(plan_.graph.nodes.size());
  for (std::size_t i = 0; i < between_.size(); ++i) {
    if (memory_.offsets[i] < 0) continue;
    const Node& node = plan_.graph.nodes[i];
    auto* const begin = static_cast<std::byte*>(arena_.data()) + memory_.offsets[i];
    const auto bytes = static_cast<std::size_t>(checked_numel(node.shape, size_of(node.dtype))) *
                       size_of(node.dtype);
    between_[i] = Tensor(Buffer::wrap(begin, bytes, device, [arena = arena_] {}), node.dtype,
                         node.shape, node.strides);
  }
  // What has no elements needs no place, but is there for the steps that read it.
  for (const PlannedStep& step : plan_.steps)
    for (const int i : step.written) {
      const Node& node = plan_.graph.nodes[static_cast<std::size_t>(i)];
      if (step.node < 0 && checked_numel(node.shape, 1) == 0)
        between_[static_cast<std::size_t>(i)] = empty(node.shape, {node.dtype, device});
    }
  run.memory = between_;
}

void Replay::set_results(PlanRun& run) const {
  for (const Value& value : plan_.graph.outputs) {
    const Node& node = plan_.graph.nodes[static_cast<std::size_t>(value.node)];
    if (node.is_given()) continue;
    Tensor& made = run.memory[static_cast<std::size_t>(value.node)];
    made = empty(node.shape, {node.dtype, plan_.graph.device});
    const std::byte pattern{0xff};
    if (is_checked_ && made.numel() > 0)
      fill_async({made.buffer()}, made.buffer().size(), {&pattern, 1}, stream_);
  }
}

// What groups make is in the arena or a result. Other steps make memory of their own: that of a
// library call is new in every call, that of launches is kept by them.
void Replay::record_steps(PlanRun& run) {
  for (const PlannedStep& step : plan_.steps) {
    const std::size_t calls = foreign_calls();
    LaunchRecording recording(true);
    std::vector<LaunchedGroup> observed;
    {
      const LaunchObserver observer(observed);
      run_step(run, step);
    }
    if (auto* const list = observed_launches())
      list->insert(list->end(), observed.begin(), observed.end());
    // Other operations than products copy, or look at what they are given.
    const bool is_made_anew =
        foreign_calls() != calls ||
        (step.node >= 0 &&
         plan_.graph.nodes[static_cast<std::size_t>(step.node)].kind != Node::Kind::Contract);
    if (!is_made_anew) observed_.insert(observed_.end(), observed.begin(), observed.end());
    if (is_made_anew) {
      parts_.push_back({launches_.size(), launches_.size(), &step});
      if (step.node >= 0) add_external(run, step.node);
      continue;
    }
    if (step.node >= 0) between_[static_cast<std::size_t>(step.node)] = memory_of(run, step.node);
    if (recording.launches.empty()) continue;
    if (parts_.empty() || parts_.back().step != nullptr)
      parts_.push_back({launches_.size(), launches_.size()});
    for (RecordedLaunch& launch : recording.launches) launches_.push_back(std::move(launch));
    parts_.back().end = launches_.size();
  }
}

void Replay::add_external(const PlanRun& run, int node) {
  const Tensor& tensor = memory_of(run, node);
  const auto [begin, end] = extent_of(tensor);
  if (begin == end) return;
  for (const External& other : externals_) {
    if (other.node == node) return;
    if (begin < other.end && other.begin < end)
      throw CannotReplay{"two of its arguments lie in the same memory"};
  }
  externals_.push_back({node, begin, end, reinterpret_cast<std::uint64_t>(tensor.data())});
}

// Its address would be taken for that of the argument, which is another one in other calls.
void Replay::check_captured() const {
  for (std::size_t i = 0; i < plan_.graph.nodes.size(); ++i) {
    if (!plan_.graph.nodes.has(i)) continue;
    const Node& node = plan_.graph.nodes[i];
    if (node.kind != Node::Kind::Captured) continue;
    const auto [begin, end] = extent_of(node.captured);
    for (const External& external : externals_)
      if (begin < external.end && external.begin < end)
        throw CannotReplay{"an argument lies in the memory of a tensor that it refers to"};
  }
}

void Replay::find_patches() {
  for (std::size_t l = 0; l < launches_.size(); ++l)
    for (std::size_t a = 0; a < launches_[l].arguments.size(); ++a) {
      const Argument& argument = launches_[l].arguments[a];
      if (argument.kind != Argument::Kind::Memory) continue;
      for (std::size_t e = 0; e < externals_.size(); ++e) {
        const External& external = externals_[e];
        if (argument.bits < external.begin || argument.bits >= external.end) continue;
        patches_.push_back({l, a, e, argument.bits - external.now});
        launches_[l].memory[a] = {};  // the call has its own
      }
    }
}

void Replay::build_graphs() {
  if (!plan_.graph.device.is_cuda()) return;
  for (Part& part : parts_) {
    if (part.step != nullptr) continue;
    part.graph = make_kernel_graph(plan_.graph.device);
    for (std::size_t l = part.first; l < part.end; ++l) {
      try {
        part.graph->add([&] { run_again(launches_[l]); });
      } catch (const NotANode& problem) {
        throw CannotReplay{fmt::format("kernel '{}' cannot be a node of a CUDA graph: {}",
                                       *launches_[l].kernel, problem.reason)};
      }
    }
    part.graph->finish();
    ++graphs_;
  }
}

bool Replay::is_like_recorded(std::span<const Tensor> inputs) const {
  const Device device = plan_.graph.device;
  const Stream current = current_stream(device);
  if (current.native() != stream_.native()) return false;
  if (backend(device).is_capturing(device.index, current.native())) return false;
  for (const External& external : externals_) {
    const Node& node = plan_.graph.nodes[static_cast<std::size_t>(external.node)];
    if (node.kind != Node::Kind::Input) continue;
    const auto address =
        reinterpret_cast<std::uint64_t>(inputs[static_cast<std::size_t>(node.input)].data());
    if (address % 16 != external.now % 16) return false;
  }
  return true;
}

// The launches that read or write it take its memory of this call.
void Replay::point_to(const PlanRun& run, std::size_t external) {
  External& place = externals_[external];
  const Tensor& tensor = memory_of(run, place.node);
  place.now = reinterpret_cast<std::uint64_t>(tensor.data());
  for (const Patch& patch : patches_) {
    if (patch.external != external) continue;
    Argument& argument = launches_[patch.launch].arguments[patch.argument];
    const std::uint64_t bits = place.now + patch.offset;
    if (argument.bits != bits) is_changed_[patch.launch] = true;
    argument.bits = bits;
    argument.buffer = &tensor.buffer();
  }
}

void Replay::run_part(PlanRun& run, Part& part) {
  if (part.step != nullptr) {
    run_step(run, *part.step);
    for (std::size_t e = 0; e < externals_.size(); ++e)
      if (externals_[e].node == part.step->node) point_to(run, e);
    return;
  }
  if (!part.graph) {
    for (std::size_t l = part.first; l < part.end; ++l) run_again(launches_[l]);
    return;
  }
  for (std::size_t l = part.first; l < part.end; ++l)
    if (is_changed_[l]) part.graph->change(l - part.first, [&] { run_again(launches_[l]); });
  part.graph->replay(stream_);
}

std::optional<std::vector<Tensor>> Replay::run_locked(std::span<const Tensor> inputs) {
  if (!is_like_recorded(inputs)) return std::nullopt;
  PlanRun run(plan_, inputs);
  run.memory = between_;
  set_results(run);
  is_changed_.assign(launches_.size(), false);
  for (std::size_t e = 0; e < externals_.size(); ++e) {
    const bool is_made_by_a_library =
        std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
          return part.step != nullptr && part.step->node == externals_[e].node;
        });
    if (!is_made_by_a_library) point_to(run, e);
  }
  for (Part& part : parts_) run_part(run, part);
  if (auto* const list = observed_launches(); list != nullptr && !is_checked_) [[unlikely]]
    list->insert(list->end(), observed_.begin(), observed_.end());
  return results_of(run);
}

std::optional<std::vector<Tensor>> Replay::run(std::span<const Tensor> inputs) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return std::nullopt;
  return run_locked(inputs);
}

std::unique_ptr<Replay> Replay::record(const Plan& plan, std::span<const Tensor> inputs,
                                       std::vector<Tensor>& results, std::string& why_not) {
  const Device device = plan.graph.device;
  std::unique_ptr<Replay> made(new Replay(plan, current_stream(device)));
  PlanRun run(plan, inputs);
  made->plan_arena(run);
  made->set_results(run);
  Draws draws;  // one call's, however often it runs here
  try {
    for (std::size_t i = 0; i < plan.graph.nodes.size(); ++i)
      if (plan.graph.nodes.has(i) && plan.graph.nodes[i].kind == Node::Kind::Input)
        made->add_external(run, static_cast<int>(i));
    made->check_captured();
    made->record_steps(run);
    results = results_of(run);
    for (const Value& value : plan.graph.outputs) made->add_external(run, value.node);
    made->find_patches();
    made->build_graphs();
  } catch (const CannotReplay& problem) {
    why_not = problem.reason;
    draws.repeat();
    std::vector<Tensor> kept(inputs.begin(), inputs.end());
    if (results.empty()) results = run_plan(plan, kept);
    return nullptr;
  }
  // What a recording has missed is not in memory that was filled with something else.
  made->is_checked_ = true;
  const std::byte pattern{0xff};
  fill_async({made->arena_}, made->arena_.size(), {&pattern, 1}, made->stream_);
  draws.repeat();
  const std::optional<std::vector<Tensor>> again = made->run(inputs);
  made->is_checked_ = false;
  bool is_right = again.has_value();
  for (std::size_t i = 0; is_right && i < results.size(); ++i)
    is_right = is_same(results[i], (*again)[i]);
  if (is_right) return made;
  why_not = "a replay did not give the results of the plan";
  return nullptr;
}

}  // namespace tilewright::graph
