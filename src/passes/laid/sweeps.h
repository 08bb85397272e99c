// SPDX-License-Identifier: Apache-2.0
// passes/laid/sweeps.h — a Laid kernel as the lowerings walk it: its ops as steps, and which
// values live in which array. Nothing is decided here: all of it stands in the kernel.
//
// Inside a sweep a tile is computed on demand, at the index that is wanted; `Step::ops` are what it
// does once per element. A tile that it yields is two values: the one inside, and the sweep's
// result, which later steps read from the array.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/kernel.h"
#include "passes/laid/step.h"

namespace tilewright {

class Sweeps {
 public:
  // The kernel must outlive this and stay as it is.
  explicit Sweeps(const ir::Kernel& kernel);

  const Steps& steps() const { return steps_; }
  // Whether a tile lives in an array: it has a buffer, or is a slot of one.
  bool is_placed(ir::Value value) const { return is_placed_[value.id]; }
  // Whether a step reads this value from its array; else it computes the element on demand.
  bool is_in_array(ir::Value value, const Step&) const { return is_read_[value.id]; }
  // The value that stands for all that share an array: what a loop carries, what a branch gives, or
  // the first one.
  ir::Value storage(ir::Value value) const;
  // Of each buffer for tiles, in the order of the kernel's table.
  const std::vector<ir::Value>& owners() const { return owners_; }
  // The value that stands for a buffer; none of slots and scratch.
  ir::Value owner_of(std::size_t buffer) const {
    return buffer < owner_of_buffer_.size() ? owner_of_buffer_[buffer] : ir::Value{};
  }
  // The number of the buffer that a value lives in, slots too; -1: none.
  int buffer_of(ir::Value value) const;
  // Of a tile that a sweep yields, its result; of any other value, itself.
  ir::Value result_of(ir::Value inside) const;
  // Of a sweep's result, the value inside; of any other one, itself.
  ir::Value source_of(ir::Value result) const;
  // Readers of its array choose a layout of their own.
  bool is_apart(ir::Value value) const { return is_apart_[value.id]; }
  // Whether an op of a sweep computes again what another one does.
  bool is_repeat(const ir::Op& op) const;
  bool is_used(ir::Value value) const { return is_used_[value.id]; }
  // Results of sweeps, of ops across elements and of control flow that live in an array.
  std::vector<ir::Value> placed_results() const;

 private:
  Steps visit(const ir::Region& region);
  Step step_of(const ir::Op& op, Step::Kind kind);
  void visit_sweep(const ir::Op& sweep);
  void place_all(const ir::Op& op);
  void place(ir::Value value, const std::string& buffer, int rank);
  Step elements_of(const ir::Op& sweep) const;

  const ir::Kernel& kernel_;
  Steps steps_;
  int order_ = 0;
  std::vector<bool> is_placed_, is_read_, is_apart_, is_used_;  // by value
  std::vector<int> buffers_;                                    // by value; -1: none
  std::vector<ir::Value> twins_;  // by value: the result of what a sweep yields, and back
  std::vector<ir::Value> owner_of_buffer_;
  std::vector<int> owner_ranks_;
  std::vector<ir::Value> owners_;
  std::vector<const ir::Op*> repeats_;  // sorted
};

}  // namespace tilewright
