// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_scalars.h — scalars of a range of programs; those in memory are elements of a
// nest without loops.
#pragma once

#include "codegen/lower/loop_nests.h"

namespace tilewright {

class LoopScalars : private LoopNests {
 public:
  using LoopNests::LoopNests;

  void scalar_op(const ir::Op& op);
  // Of a tile of one pointer.
  ir::Value only_element(const ir::Op& view, ir::Value value);

 private:
  void scalar_memory(const ir::Op& op);
};

}  // namespace tilewright
