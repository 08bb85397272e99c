// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_copies.h — copies from global memory into slots of buffers, which run ahead
// of the loop that reads them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "codegen/lower/thread_elements.h"

namespace tilewright {

// Copies of a thread: where the first one goes in the slot, and the others from there.
struct CopyPlace {
  ir::Value at = {};
  std::uint64_t image = 0;  // the bits that it can have
  IndexMap by_vector = {};
};

class ThreadCopies : private ThreadElements {
 public:
  explicit ThreadCopies(ThreadState& state);

  // ---- Buffers
  ir::Value buffer_array(const ir::Op& op);
  ir::Value slot_of(const ir::Op& op, ir::Value slot);  // a view without a name
  void read_buffer(const Step& step);
  void wait_for_copies(const ir::Op& op);

  // ---- Copies
  void copy_ahead(const Step& step);
  ir::Value begin_copies(const ir::Op& op);  // the slot that they go to
  CopyPlace copy_place(const Loop& loop, const ir::Op& op);
  ir::Value copy_wanted(Loop& loop, const ir::Op& op);  // none: always
  void start_copy(const Loop& loop, const ir::Op& op, std::vector<ir::Value> operands);

 private:
  void copy_vectors(Loop& loop, const ir::Op& op, ir::Value slot);
  ir::Value advanced_pointer(Loop& loop, ir::Value pointer, const Place& place);
  std::vector<ir::Value> whole_conditions(const ir::Op& op);
  void copy_from_one_place(Loop& loop, const ir::Op& op, ir::Value slot);
  void copy_elements(Loop& loop, const ir::Op& op, ir::Value slot);

  std::map<std::size_t, ir::Value> buffers_;  // arrays with slots, by number
  const bool has_products_;                   // of warpgroups
  const bool advances_copies_;  // pointers of copies are moved on from where they began
};

}  // namespace tilewright
