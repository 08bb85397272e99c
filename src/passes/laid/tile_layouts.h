// SPDX-License-Identifier: Apache-2.0
// passes/laid/tile_layouts.h — layouts, places and products of a Laid kernel, read from its tables.
// Nothing is decided here: assign_layouts and place_tiles have.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ir/kernel.h"
#include "layout/convert.h"
#include "layout/layout.h"
#include "layout/swizzle.h"
#include "passes/laid/dot_plan.h"
#include "passes/laid/scan_plan.h"
#include "passes/laid/sweeps.h"

namespace tilewright {

struct TileLayout {
  Layout layout;
  int log_vector = 0;        // the lowest register bits that a loop handles as one vector
  int contiguous = 0;        // the dimension of those
  bool is_unrolled = false;  // loops over it are, however many registers there are

  friend bool operator==(const TileLayout&, const TileLayout&) = default;
};

class TileLayouts {
 public:
  // More values of one tile per thread than this live in shared memory.
  static constexpr int most_registers = 64;
  // The same for tiles that are laid out like the result of a product.
  static constexpr int most_sums = 256;
  // Elements of 16 bits of a thread that lanes exchange.
  static constexpr int most_exchanged = 32;
  // Words of a tile that one thread scans in registers.
  static constexpr int most_scanned = 64;

  TileLayouts(const ir::Kernel& kernel, const Sweeps& schedule);

  const TileLayout& of_step(const Step& step) const { return layouts_.at(steps_.at(step.op)); }
  // Of the array that holds this placed value.
  const TileLayout& of_array(ir::Value value) const;
  // The same as it is read, where lanes exchange what was written.
  const Layout& of_read_array(ir::Value value) const;
  std::vector<LaneSwap> swaps_of(ir::Value value) const;
  bool is_shared(ir::Value value) const {
    const ir::KernelBuffer* buffer = buffer_of(value);
    return buffer && buffer->is_shared() && !buffer->is_private;
  }
  // Whether the array is a slot of a buffer, which copies fill.
  bool is_slot(ir::Value value) const {
    const ir::Op* maker = kernel_.maker(schedule_.storage(value));
    return maker && maker->kind == ir::OpKind::ReadBuffer;
  }
  const Swizzle& swizzle_of_buffer(std::size_t buffer) const { return swizzles_[buffer]; }
  // Where elements of an array in shared memory stand.
  const Swizzle& swizzle_of(ir::Value value) const;
  const DotPlan& plan_of(const ir::Op& dot) const { return dots_.at(&dot); }
  // How a scan is made in registers; null when it goes through shared memory.
  const ScanPlan* scan_plan_of(const ir::Op& scan) const {
    const auto found = scans_.find(&scan);
    return found == scans_.end() ? nullptr : &found->second;
  }
  bool has_scans() const { return !scans_.empty(); }
  // Whether an asynchronous product reads the array, or slots of the buffer, in shared memory.
  bool is_product_operand(ir::Value value) const {
    const ir::KernelBuffer* buffer = buffer_of(value);
    return buffer && buffer->align > ir::KernelBuffer::least_align;
  }
  // Whether the array of its result is laid out as the product's instruction wants it.
  bool fits(const ir::Op& dot) const { return plan_of(dot).uses_mma; }
  // The layout that a reduction over the step leaves its results in, one register per result.
  Layout of_reduced(const Step& step, const ir::Op& reduce) const;

 private:
  const ir::KernelBuffer* buffer_of(ir::Value value) const;  // null where that is none

  const ir::Kernel& kernel_;
  const Sweeps& schedule_;
  std::vector<TileLayout> layouts_;                       // by row of the table
  std::vector<int> rows_;                                 // by buffer: of its layout; -1: none
  std::unordered_map<const ir::Op*, std::size_t> steps_;  // by sweep, alike
  std::vector<Swizzle> swizzles_;                         // by buffer
  std::unordered_map<std::size_t, Layout> swapped_;       // of buffers whose lanes exchange
  std::unordered_map<const ir::Op*, DotPlan> dots_;
  std::unordered_map<const ir::Op*, ScanPlan> scans_;
};

}  // namespace tilewright
