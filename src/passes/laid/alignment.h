// SPDX-License-Identifier: Apache-2.0
// passes/laid/alignment.h — of which power of two every scalar of a kernel is a multiple.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ir/kernel.h"
#include "passes/axis_info.h"
#include "passes/laid/rotation.h"

namespace tilewright {

class Alignments {
 public:
  explicit Alignments(const ir::Kernel& kernel);

  // Of an integer: it is a multiple of this. Of a pointer: its address is, in bytes. 1 for tiles.
  std::int64_t of(ir::Value value) const { return known_[value.id]; }
  // What is known of tiles along each dimension.
  const AxisAnalysis& axes() const { return axes_; }

  // Tiles are turned round from now on: what that brings into line counts as aligned.
  void rotate(std::optional<Rotation> rotation) { rotation_ = std::move(rotation); }
  const std::optional<Rotation>& rotation() const { return rotation_; }
  bool is_rotated_into_line(const ir::Op& access) const {
    return rotation_ && rotation_->aligned.contains(&access);
  }

 private:
  void visit(const ir::Region& region);
  void visit(const ir::Op& op);
  void visit_loop(const ir::Op& op);
  std::int64_t result_of(const ir::Op& op) const;
  std::int64_t result_of_arithmetic(const ir::Op& op) const;
  // Returns whether something changed.
  bool lower(ir::Value value, std::int64_t to);

  const ir::Kernel& kernel_;
  const AxisAnalysis axes_;
  std::vector<std::int64_t> known_;  // by value
  std::optional<Rotation> rotation_;
};

}  // namespace tilewright
