// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/alignment.h — of which power of two every scalar of a kernel is a multiple.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/kernel.h"
#include "passes/axis_info.h"

namespace tilewright {

class Alignments {
 public:
  explicit Alignments(const ir::Kernel& kernel);

  // Of an integer: it is a multiple of this. Of a pointer: its address is, in bytes. 1 for tiles.
  std::int64_t of(ir::Value value) const { return known_[value.id]; }
  // What is known of tiles along each dimension.
  const AxisAnalysis& axes() const { return axes_; }

 private:
  void visit(const ir::Region& region);
  void visit(const ir::Op& op);
  void visit_loop(const ir::Op& op);
  std::int64_t result_of(const ir::Op& op) const;
  // Returns whether something changed.
  bool lower(ir::Value value, std::int64_t to);

  const ir::Kernel& kernel_;
  const AxisAnalysis axes_;
  std::vector<std::int64_t> known_;  // by value
};

}  // namespace tilewright
