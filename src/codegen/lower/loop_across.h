// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_across.h — ops that move data between elements (products: loop_dots.h).
#pragma once

#include "codegen/lower/loop_nests.h"

namespace tilewright {

class LoopAcross : private LoopNests {
 public:
  using LoopNests::LoopNests;

  void across(const Step& step);
  void print(const Step& step);

 private:
  void scan(const Step& step);
  void running_sum(const ir::Op& op);
  void combine_slices(const ir::Op& op);
  void gather(const Step& step);
  void concatenate(const Step& step);
  void sort(const Step& step);
  void histogram(const Step& step);
};

}  // namespace tilewright
