// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_sorts.h — sorts, histograms and prints: ops whose elements all threads meet
// over in an array of shared memory.
#pragma once

#include <cstdint>
#include <functional>

#include "codegen/lower/thread_elements.h"

namespace tilewright {

class ThreadSorts : private ThreadElements {
 public:
  explicit ThreadSorts(ThreadState& state) : ThreadElements(state) {}

  void sort(const Step& step);
  void histogram(const Step& step);
  void print(const Step& step);
  void print_scalars(const ir::Op& op);

 private:
  ir::Value sorted_place(Loop& loop, int log_count);
  void for_each_number(const Step& step, std::int64_t count,
                       const std::function<void(Loop&)>& body);
};

}  // namespace tilewright
