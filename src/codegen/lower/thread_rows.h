// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_rows.h — long rows: those that are turned round, so that their vectors are
// aligned, and the one that lies in shared memory.
#pragma once

#include <vector>

#include "codegen/lower/thread_elements.h"

namespace tilewright {

class ThreadRows : private ThreadElements {
 public:
  using VectorAccess = ElementPlans::VectorAccess;
  using Preload = ElementPlans::Preload;

  explicit ThreadRows(ThreadState& state);

  // ---- Rows that begin anywhere
  // Before the first loop over elements: all of them need it.
  void declare_shift();
  ir::Value shift() const { return shift_; }  // by how much rows are turned round
  void load_rotated(Loop& loop, const VectorAccess& access, ir::Value into);
  void store_rotated(const Loop& loop, const VectorAccess& access, ir::Value from);

  // ---- The row in shared memory
  void declare_row();
  // Of a vector, or of an element of it.
  ir::Value row_index(const Loop& loop, const Place& place);
  ir::Value row_vector(Loop& loop, const Place& place);
  // What is loaded to be kept in the row goes there first, and is read from there.
  void fill_row(Loop& loop, std::vector<Preload>& loads);
  // Whether the row could be put where it is to lie.
  bool fits_shape() const { return fits_shape_; }

 private:
  std::vector<ir::Value> rotated_place(const Loop& loop, const VectorAccess& access);
  std::vector<ir::Attribute> rotated_attributes(const Loop& loop, const VectorAccess& access) const;
  bool is_one_copy(const Loop& loop, const VectorAccess& access) const;
  void copy_to_row(Loop& loop, const VectorAccess& access);
  void load_to_row(Loop& loop, const Preload& load);

  const Alignments& alignments_;
  const ir::Value stowed_;
  ir::Value shift_;
  bool fits_shape_ = true;
};

}  // namespace tilewright
