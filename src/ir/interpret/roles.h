// SPDX-License-Identifier: Apache-2.0
// ir/interpret/roles.h — a producer and its consumers beside each other: on tiles (roles.cpp), and
// as threads at stage Final (ring_ops.cpp).
#pragma once

#include "ir/interpret/program_view.h"
#include "ir/interpret/ring_words.h"

namespace tilewright::ir {

class Roles : private ProgramView {
 public:
  explicit Roles(ProgramState& state) : ProgramView(state) {}

  void run_roles(const Op& op);
  void ring_op(const Op& op);
  void copy_map(const Op& op);

 private:
  void wait_for_other_role(const Op& op, std::int64_t position);
  Tile read_map(const Op& op, const std::vector<std::int64_t>& coordinates) const;
};

class RingOps : private ProgramView {
 public:
  explicit RingOps(ProgramState& state) : ProgramView(state) {}

  void run_thread_roles(const Op& op);
  void set_up_ring(const Op& op);
  void acquire_slot(const Op& op);
  void await_slot(const Op& op);
  void release_slot(const Op& op);
  void copy_box(const Op& op);

 private:
  RingWords::Word& ring_word(const Op& op, std::size_t array, std::int64_t index);
  bool give_turn(bool waits);
  void wait_phase(const Op& op, RingWords::Word& word, std::int64_t parity);
  std::vector<Element> read_box(const Op& op, const std::vector<std::int64_t>& coordinates) const;
  void land_copies(RingWords::Word& word);

  RingWords words_;
};

}  // namespace tilewright::ir
