// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_rings.h — roles (a producer and its consumers), the ring between them, and
// copies by tensor maps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "codegen/lower/thread_elements.h"

namespace tilewright {

class ThreadRings : private ThreadElements {
 public:
  explicit ThreadRings(ThreadState& state) : ThreadElements(state) {}

  // ---- Roles
  bool parts_roles(const ir::Op& op) const;
  void roles(const Step& step);

  // ---- Rings
  void read_slot(const ir::Op& op);
  void ring_op(const ir::Op& op);
  void give_back(const ir::Op& op);

  // ---- Stores beside products
  void begin_branch(const Step& step, std::size_t side);
  void end_branch();
  // What was kept goes to the lanes that read it.
  void swap_lanes(ir::Value value);

 private:
  void set_up_rings(ir::Location location);
  ir::Value slots_of_buffer(std::size_t number);
  ir::Value position(ir::Value value);
  ir::Value slot_number(ir::Value value, int slots);
  ir::Value slot(const ir::Op& op, const std::string& name);
  void copy_map(const ir::Op& op);

  std::map<std::string, ir::Value> rings_;  // their words
  std::map<std::size_t, ir::Value> slots_;  // arrays of buffers that rings have, by number
};

}  // namespace tilewright
