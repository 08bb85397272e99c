// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_reductions.h — elements combined by the thread that holds them, then over
// the lanes of a warp and over warps by calls.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "codegen/lower/thread_elements.h"
#include "passes/laid/reduce_plan.h"

namespace tilewright {

class ThreadReductions : private ThreadElements {
 public:
  struct Reduction {
    const ir::Op* op = nullptr;
    ReducePlan plan;
    std::string name = {};               // of the total
    std::string type = {};               // of the structure, where it has several members
    std::vector<ir::Value> totals = {};  // an array for each operand
    int registers = 1;                   // of the totals
    bool is_wide = false;       // a sum of small floats: totals are f32, rounded at the end
    bool has_identity = false;  // it begins as a number that changes nothing
  };

  explicit ThreadReductions(ThreadState& state) : ThreadElements(state) {}

  // Before the loop over elements, in it, and behind it.
  Reduction begin_reduction(const Step& step, const ir::Op& op);
  void add_to(Loop& loop, const Reduction& reduction);
  void end_reduction(const Reduction& reduction);

  // ---- For all that combines elements by a region
  // Of an element of each operand; the first one's name is the group's.
  std::vector<ir::Value> make_group(const Reduction& reduction, ir::Space space, std::int64_t count,
                                    Statements& list, const std::string& name = "");
  // The region's results for two elements; what it needs is put where statements are put now.
  std::vector<ir::Value> combined(const ir::Region& region, const std::vector<ir::Value>& both);
  // A function that combines elements of all threads, handed the op's region.
  void call_combining(const Reduction& reduction, LibraryKind function,
                      std::vector<std::int64_t> numbers, const std::vector<ir::Value>& more = {});

 private:
  std::vector<ir::Type> total_types(const Reduction& reduction) const;
  void declare_totals(Reduction& reduction);
  std::vector<ir::Value> is_first(const Loop& loop, const ir::Op& reduce);
  ir::Value total_index(const Loop& loop, const Reduction& reduction);
  void combine_threads(const Reduction& reduction);
  std::vector<ir::Value> make_slots(const Reduction& reduction);
  void publish(const Reduction& reduction, std::size_t number_of_result);
  void share_total(const Reduction& reduction, ir::Value result, ir::Value k, ir::Value total);

  bool has_begun_ = false;  // every block of the program
};

}  // namespace tilewright
