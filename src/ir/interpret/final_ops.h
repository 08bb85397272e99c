// SPDX-License-Identifier: Apache-2.0
// ir/interpret/final_ops.h — ops of stage Final: arrays and index arithmetic (final_ops.cpp), rows
// that are turned round or a thread's own (rows.cpp), and copies that run ahead of a thread
// (thread_copies.cpp).
#pragma once

#include <unordered_map>

#include "ir/interpret/program_view.h"

namespace tilewright::ir {

class FinalOps : private ProgramView {
 public:
  explicit FinalOps(ProgramState& state) : ProgramView(state) {}

  void final_stage(const Op& op);
  void finish_copies();
  void wait_own_copies(const Op& op);
  void end_copies() const;
  void check_copies_done() const;

 private:
  // An element that is copied beside the thread.
  struct RowCopy {
    const Op* op;
    std::int64_t array;  // from its place on
    std::optional<std::int64_t> from;
    Element other;
  };

  void make_array(const Op& op);
  void make_group(const Op& op);
  Element view_of(const Op& op) const;
  void linear(const Op& op);
  bool is_moved(const Op& op, std::size_t first, std::size_t guards, std::int64_t i) const;
  // Where element i of a vector is in memory, which the operand points to; none: it is not moved.
  std::optional<std::int64_t> moved_place(const Op& op, std::size_t pointer, std::size_t guards,
                                          std::int64_t i) const;
  void check_parts(const Op& op) const;
  std::optional<std::int64_t> rotated_place(const Op& op, std::size_t pointer,
                                            std::int64_t i) const;
  void check_rotated(const Op& op, std::size_t pointer) const;
  void load_vector(const Op& op);
  void store_vector(const Op& op);
  void start_copy(const Op& op, std::size_t guards);
  void start_copy(const Op& op);
  void read_copied(ThreadCopies::Copy& copy) const;

  std::unordered_map<std::int64_t, std::vector<RowCopy>> row_copies_;  // by thread, not done yet
};

}  // namespace tilewright::ir
