// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_elements.h — one element of a tile: where it is, what it is, and how it is
// written. What every family of ops is built on.
#pragma once

#include "codegen/lower/thread_indices.h"

namespace tilewright {

class ThreadElements : protected ThreadIndices {
 public:
  explicit ThreadElements(ThreadState& state) : ThreadIndices(state) {}

 protected:
  ir::Value element(Loop& loop, ir::Value value, const Place& place);
  ir::Value viewed(Loop& loop, const ir::Op& op, ir::Value value, const Place& place);
  // In a line of its own.
  ir::Value line(Loop& loop, ir::Value value, ir::Value made, const Place& place);
  void store(Loop& loop, const ir::Op& op);

  // ---- In the array of a tile
  ir::Value register_index(const Loop& loop, ir::Value value, const Place& place);
  ir::Value array_index(Loop& loop, ir::Value value, const Place& place);
  ir::Value shared_vector(Loop& loop, ir::Value value, const Place& place);
  // Of a shared one by the thread that owns it.
  void write_element(Loop& loop, ir::Value to, ir::Value value);

 private:
  ir::Value indexed(Loop& loop, const ir::Op& op, const Place& place);
  ir::Value joined(Loop& loop, const ir::Op& op, const Place& place);
  ir::Value computed(Loop& loop, const ir::Op& op, ir::Value value, const Place& place);
  ir::Value divisor(Loop& loop, const ir::Op& op);
  ir::Value arm(Loop& loop, ir::Value value, const Place& place);
  ir::Value loaded(Loop& loop, const ir::Op& op, const Place& place);
};

}  // namespace tilewright
