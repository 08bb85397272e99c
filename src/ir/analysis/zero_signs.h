// SPDX-License-Identifier: Apache-2.0
// ir/analysis/zero_signs.h — whether it counts that a float's zero is +0 or -0: which zeros a value
// can be, and whether anything that a kernel stores depends on a zero's sign.
//
// Both answers also hold when any float `0 - x` of the kernel is made `-x`, which differs from it
// only where x is +0: such a difference counts as one that may be -0 although it never is, so that
// two of them do not excuse each other (0 - x + (0 - y) is never -0; -x + -y is).
#pragma once

#include <vector>

#include "ir/kernel.h"

namespace tilewright::ir {

// Whether the op is `0 - x` of floats.
bool is_zero_minus(const Kernel& kernel, const Op& op);

class ZeroSigns {
 public:
  explicit ZeroSigns(const Kernel& kernel);

  // Of floats; true of values that nothing is known of.
  bool may_be_positive(Value value) const { return signs_[value.id].positive; }
  bool may_be_negative(Value value) const { return signs_[value.id].negative; }
  // Whether a zero's sign can change what the kernel does: its memory, its branches, its output.
  bool is_seen(Value value) const { return seen_[value.id]; }

 private:
  // Which zeros an element can be.
  struct Signs {
    bool positive = false, negative = false;
    friend bool operator==(const Signs&, const Signs&) = default;
  };
  Signs of(Value value) const { return signs_[value.id]; }
  void join(Value value, const Signs& signs);
  void see(Value value);
  void hand_on(Value from, Value to);

  void find_signs(const Region& region);
  void note_control(const Op& op);
  Signs of_result(const Op& op) const;
  Signs of_elementwise(const Op& op) const;
  Signs of_cast(const Op& op) const;

  void find_seen(const Region& region);
  void look(const Op& op);
  void look_control(const Op& op);
  bool sees(const Op& op, std::size_t operand) const;
  bool sees_elementwise(const Op& op, std::size_t operand) const;

  // What ends in a value: the operands of the region's last op.
  static const std::vector<Value>& ends(const Region& region) {
    return region.ops.back()->operands;
  }

  const Kernel& kernel_;
  std::vector<Signs> signs_;  // by value
  std::vector<bool> seen_;    // by value
  bool changed_ = false;
};

}  // namespace tilewright::ir
