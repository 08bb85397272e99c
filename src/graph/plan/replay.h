// SPDX-License-Identifier: Apache-2.0
// graph/plan/replay.h — a plan as the launches that it made once: a call changes their addresses
// and makes them again, on CUDA as one graph of kernels.
//
// Values between kernels have planned memory; results are fresh in every call. Calls of libraries
// are made anew, between the launches. A replay belongs to one stream, and one call at a time.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/launch_recording.h"
#include "graph/plan/memory.h"
#include "graph/plan/run.h"
#include "runtime/kernel_graph.h"

namespace tilewright::graph {

class Replay {
 public:
  // Runs the plan for its results and writes down what it launches; then a replay must give the
  // same results, bit for bit. Null with a sentence in `why_not` where that cannot be.
  static std::unique_ptr<Replay> record(const Plan& plan, std::span<const Tensor> inputs,
                                        std::vector<Tensor>& results, std::string& why_not);
  ~Replay();

  // Empty where this call is not like the recorded one: another stream, one that is being captured,
  // addresses of another alignment, or a call at the same time. Then the plan runs.
  std::optional<std::vector<Tensor>> run(std::span<const Tensor> inputs);

  std::size_t launches() const { return launches_.size(); }
  std::size_t graphs() const { return graphs_; }
  std::int64_t planned_bytes() const { return memory_.bytes; }

 private:
  // Memory whose address another call may change: an argument, a result, what a library returned.
  struct External {
    int node = -1;
    std::uint64_t begin = 0, end = 0;  // when it was recorded
    std::uint64_t now = 0;             // where it begins in the launches as they are
  };
  struct Patch {
    std::size_t launch = 0, argument = 0, external = 0;
    std::uint64_t offset = 0;
  };
  // Launches, of which CUDA makes a graph, or a step that is made anew.
  struct Part {
    std::size_t first = 0, end = 0;
    const PlannedStep* step = nullptr;
    std::unique_ptr<KernelGraph> graph = {};
  };

  Replay(const Plan& plan, const Stream& stream);
  void plan_arena(PlanRun& run);
  void record_steps(PlanRun& run);
  void add_external(const PlanRun& run, int node);
  void check_captured() const;
  void find_patches();
  void build_graphs();
  bool is_like_recorded(std::span<const Tensor> inputs) const;
  void set_results(PlanRun& run) const;
  void point_to(const PlanRun& run, std::size_t external);
  void run_part(PlanRun& run, Part& part);
  std::optional<std::vector<Tensor>> run_locked(std::span<const Tensor> inputs);

  const Plan& plan_;
  Stream stream_;
  std::mutex mutex_;
  MemoryPlan memory_;
  Buffer arena_;
  std::vector<Tensor> between_;  // by node: those in the arena
  std::vector<RecordedLaunch> launches_;
  std::vector<Part> parts_;
  std::vector<External> externals_;
  std::vector<Patch> patches_;
  std::vector<bool> is_changed_;         // by launch, during a call
  std::vector<LaunchedGroup> observed_;  // what the recorded launches were
  std::size_t graphs_ = 0;
  bool is_checked_ = false;  // results are filled before the launches
};

}  // namespace tilewright::graph
