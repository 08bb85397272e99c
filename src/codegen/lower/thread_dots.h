// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_dots.h — matrix products of the program of a thread: what they add up, and
// those that multiply-adds make. The others: thread_mma.h, thread_ahead.h, thread_groups.h.
#pragma once

#include <cstddef>

#include "codegen/lower/thread_elements.h"

namespace tilewright {

// What a product adds up.
struct ProductSums {
  ir::Value array;
  bool is_own = false;  // else that of the result
};

class ThreadDots : private ThreadElements {
 public:
  explicit ThreadDots(ThreadState& state) : ThreadElements(state) {}

  void dot(const Step& step);

 private:
  using Sums = ProductSums;
  // The loops over the depth and over the thread's rows, columns and batches of a product.
  struct Patch {
    Loop loop;
    IndexMap sum = {};  // the register of an element
  };

  Loop loop_over_sums(const Step& step);
  // `from_nothing`: whoever adds to them sets them first.
  Sums begin_sums(const Step& step, bool from_nothing);
  void end_sums(const Step& step, const Sums& sums);
  Patch patch_of(const Step& step);
  ir::Value read_operand(Loop& loop, ir::Value value, const IndexMap& map, std::size_t variable);
  void multiply_add(const Step& step, ir::Value sums);
};

}  // namespace tilewright
