// SPDX-License-Identifier: Apache-2.0
// passes/laid/schedule.h — in which order and in which loops the ops of a kernel run, and
// where each tile lives meanwhile. form_sweeps alone makes it, and writes it down in the IR.
//
// Ops get levels: an op's level is the lowest at which its operands are there and the order of
// memory effects holds. Elementwise ops, loads, stores and reductions of one shape and level share
// one loop over the elements. Inside a level scalars come first, then loops over elements, then ops
// that move data across elements, then control flow.
//
// In a loop the ops of the step run element by element, in the order of `ops`: all loads come
// before the stores that follow them in the program. Other values that an op needs are read from
// their array, or computed on demand at the wanted index (Schedule::is_in_array says which).
#pragma once

#include <cstdint>
#include <vector>

#include "ir/kernel.h"
#include "passes/laid/form_sweeps.h"
#include "passes/laid/step.h"

namespace tilewright {

// Where a tile value lives. Scalars are variables and have no home.
enum class Home : std::uint8_t {
  None,        // a scalar, or never needed
  Virtual,     // never computed as a tile: its element is that of an operand at a mapped index
  Local,       // a variable inside the loop of its step
  Stored,      // in an array; written by its step, read by later ones
  Recomputed,  // its op is repeated wherever an element is needed
};

class Schedule {
 public:
  // The kernel must outlive the schedule and stay as it is.
  Schedule(const ir::Kernel& kernel, const SweepPolicy& options);

  const Steps& steps() const { return steps_; }
  Home home(ir::Value value) const { return homes_[value.id]; }
  // The value whose array a Stored value uses: carried tiles, the values yielded for them and the
  // results of their loop share one where that is safe.
  ir::Value storage(ir::Value value) const;
  // Whether a step reads this Stored value from its array; else it computes the element on demand.
  bool is_in_array(ir::Value value, const Step& step) const;

 private:
  friend class Planner;
  Steps steps_;
  std::vector<Home> homes_;          // by value
  std::vector<ir::Value> storages_;  // by value; none: its own
  std::vector<int> available_;       // by value: order of the step that fills its array
};

}  // namespace tilewright
