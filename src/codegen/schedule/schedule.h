// SPDX-License-Identifier: Apache-2.0
// codegen/schedule/schedule.h — in which order and in which loops the ops of a kernel run, and
// where each tile lives meanwhile. Both emitters follow it.
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

namespace tilewright {

// Where a tile value lives. Scalars are variables and have no home.
enum class Home : std::uint8_t {
  None,        // a scalar, or never needed
  Virtual,     // never computed as a tile: its element is that of an operand at a mapped index
  Local,       // a variable inside the loop of its step
  Stored,      // in an array; written by its step, read by later ones
  Recomputed,  // its op is repeated wherever an element is needed
};

struct Step;
using Steps = std::vector<Step>;

struct Step {
  enum class Kind : std::uint8_t {
    Scalar,    // `op`: only scalar operands and results
    Elements,  // one loop over the elements of `shape`
    Across,    // `op`: moves data between elements
    Control,   // `op`: for, while or if; `regions` are the schedules of its regions
  };
  Kind kind = Kind::Scalar;
  int order = 0;  // unique; rises in the order of execution
  const ir::Op* op = nullptr;

  // Of Elements:
  ir::Type shape;                         // only its sizes count
  std::vector<const ir::Op*> ops;         // of this shape, in program order, needed ones only
  std::vector<const ir::Op*> reductions;  // over values of this shape; results are there after it
  std::vector<ir::Value> kept;            // results of `ops` that are written to their arrays

  std::vector<Steps> regions;  // of Control, one per region of the op
};

struct ScheduleOptions {
  // A product is added to its accumulator's own array where nothing else reads that.
  bool shares_accumulators = false;
  // A load is repeated in later loops instead of keeping its tile, from this many elements on.
  std::int64_t reload_from = 0;
  // The most that a chain of ops may cost (about one per arithmetic op) to be repeated.
  int recompute_limit = 6;
  // A tile that is broadcast to one at least four times its size is kept when its chain costs this
  // much: what is computed from it is then cheap enough to be repeated. 0: never.
  int keep_broadcast_from = 0;
  // The most that a chain of pointers may cost to be repeated, where that is more: a loop over
  // vectors needs few of them.
  int pointer_limit = 0;
  // A load that is cast to a wider type is kept as it is, and cast again where it is needed.
  bool keeps_narrow = false;
  // What is computed from a kept load is computed again, up to the limit, instead of being kept
  // too.
  bool repeats_from_loads = false;
  // By value: kept in an array, and read from there by steps after the one that makes it. Shorter
  // than the values: none of the others.
  std::vector<bool> apart = {};
  // By value, as above: never made in the array of the tile that it replaces in a loop.
  std::vector<bool> unshared = {};
};

class Schedule {
 public:
  // The kernel must outlive the schedule and stay as it is.
  Schedule(const ir::Kernel& kernel, const ScheduleOptions& options);

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
