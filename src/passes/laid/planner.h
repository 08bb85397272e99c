// SPDX-License-Identifier: Apache-2.0
// passes/laid/planner.h — makes a Schedule: levels (planner.cpp), then homes (homes.cpp,
// sink.cpp), then shared arrays (storage.cpp).
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/analysis/memory_order.h"
#include "passes/laid/op_facts.h"
#include "passes/laid/schedule.h"

namespace tilewright {

// A step while it is planned.
struct PlannedStep {
  Step::Kind kind = Step::Kind::Scalar;
  int level = 0;
  int region = 0;
  int order = 0;
  ir::Type shape;
  std::vector<const ir::Op*> ops;  // Elements: all candidates; else the one op
};

// One place that needs elements of a value.
struct Demand {
  int step;
  Access access;
  int epoch;
};

class Planner {
 public:
  Planner(const ir::Kernel& kernel, const SweepPolicy& options, Schedule& out);
  void run();

 private:
  // ---- Levels
  struct MemoryOp {
    int step;
    bool is_write;
    const ir::Op* op;
  };
  struct RegionState {
    int number = 0;
    bool is_streamed = false;
    bool small_loads_pass = false;
    std::vector<int> steps;
    std::vector<MemoryOp> memory;
  };
  void number_epochs(const ir::Region& region);
  void force_operands();
  void next_epoch(const ir::Op& write);
  void find_conflicts(const ir::Region& region);
  bool may_share_loop(const ir::Op& op, const MemoryOp& before) const;
  bool must_order(const ir::Op& op, const ir::Op& other) const;
  bool is_streamed(const ir::Region& region) const;
  bool is_small_load(const ir::Op& op) const;
  bool small_loads_pass(const ir::Region& region) const;
  bool loads_other_memory(const ir::Op& op, const ir::Op& before) const;
  bool is_kept_load(const ir::Op& op) const;  // its tile is kept where several steps need it
  void note_chain(const ir::Op& op);
  void note_broadcast(const ir::Op& op);
  void plan_region(const ir::Region& region);
  void plan_op(const ir::Op& op, RegionState& state);
  Step::Kind kind_of(const ir::Op& op) const;
  int level_of(const ir::Op& op, Step::Kind kind, const ir::Type& shape, const RegionState& state);
  int level_by_operand(ir::Value operand, Step::Kind kind, const ir::Type& shape, int epoch,
                       int region, Access access) const;
  Effects effects_in_order(const ir::Op& op) const;
  int level_by_memory(const ir::Op& op, Step::Kind kind, const ir::Type& shape,
                      const RegionState& state) const;
  int after(const PlannedStep& before, Step::Kind kind, const ir::Type& shape) const;
  int step_for(const ir::Op& op, Step::Kind kind, int level, const ir::Type& shape,
               RegionState& state);
  void free_values(const ir::Op& op, std::vector<ir::Value>& out) const;

  // ---- Homes (homes.cpp)
  void decide_homes();
  void decide(const ir::Op& op);
  void decide_computed(const ir::Op& op);
  Home home_for(const ir::Op& op, ir::Value value) const;
  bool can_repeat(ir::Value value, const Demand& demand) const;
  bool can_reload(ir::Value value, int epoch) const;
  bool is_overwritten_before(const ir::Op& load, const Demand& wanted) const;
  bool is_widened_load(const ir::Op& op) const;
  bool is_cheap(ir::Value value) const;
  bool is_apart(ir::Value value) const {
    return value.id < options_.apart.size() && options_.apart[value.id];
  }
  void demand(ir::Value value, const Demand& demand);
  void demand_operands(const ir::Op& op, int step, Access access, int epoch);
  Steps make_steps(const ir::Region& region);
  Step make_step(const PlannedStep& planned);

  // ---- What is kept as the load that it is computed from (narrow.cpp)
  const ir::Op* only_load_of(ir::Value value, int& cost) const;
  bool is_better_as_load(const ir::Op& op, ir::Value value) const;

  // ---- Ops that wait for the loop that needs them (sink.cpp)
  void note_users();
  bool can_sink(const ir::Op& op, const Demand& wanted) const;
  bool can_sink_chain(const ir::Op& op, const Demand& wanted) const;
  bool collect_chain(ir::Value value, const Demand& wanted,
                     std::vector<const ir::Op*>& chain) const;
  bool is_used_only_at(ir::Value value, const Demand& wanted,
                       const std::vector<const ir::Op*>& chain) const;
  int region_of(const Demand& wanted) const {
    return steps_[static_cast<std::size_t>(wanted.step)].region;
  }

  // ---- Shared arrays (storage.cpp)
  void share_arrays();
  void share_loop(const ir::Op& op);
  bool is_yielded(ir::Value value, const ir::Op* end = nullptr) const;
  void share_branch(const ir::Op& op);
  void share_accumulator(const ir::Op& op);
  void share_carried_sum(const ir::Op& op);
  bool may_overwrite(ir::Value next, ir::Value carried, const ir::Op& end) const;
  void use_array_of(ir::Value value, ir::Value owner);

  const PlannedStep* step_of(ir::Value value) const;

  const ir::Kernel& kernel_;
  const SweepPolicy options_;
  const ir::MemoryOrder order_of_memory_;
  Schedule& out_;

  std::vector<const ir::Op*> program_;             // every op that is planned, in program order
  std::unordered_map<const ir::Op*, int> epochs_;  // rises with every write
  std::vector<int> fences_before_ = {0};           // by epoch: writes that are no plain stores
  std::unordered_map<const ir::Op*, std::size_t> positions_;  // in program_
  std::vector<std::vector<const ir::Op*>> users_;             // by value
  std::unordered_map<const ir::Op*, int> steps_of_;           // op to step
  // Loads of what may be written afterwards, and by which ops.
  std::unordered_map<const ir::Op*, std::vector<const ir::Op*>> overwritten_;
  std::unordered_map<const ir::Region*, std::vector<int>> region_steps_;
  std::vector<PlannedStep> steps_;
  std::vector<int> costs_;         // by value: of its whole chain, down to what is in an array
  std::vector<int> chain_epochs_;  // by value: the epoch of the loads in its chain; none or mixed
  std::vector<bool> is_forced_;    // by value: must be in an array
  std::vector<bool> is_small_;     // by value: kept because larger tiles are broadcast from it
  std::vector<std::vector<Demand>> demands_;
  std::vector<int> regions_;  // by value: number of its region
  int epoch_ = 0;
  int region_count_ = 0;
  int order_ = 0;
};

}  // namespace tilewright
