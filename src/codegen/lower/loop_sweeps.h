// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_sweeps.h — sweeps: the loops that run a step's ops for each element, sum up,
// and keep the tiles that outlive them.
#pragma once

#include "codegen/lower/loop_nests.h"

namespace tilewright {

class LoopSweeps : private LoopNests {
 public:
  using LoopNests::LoopNests;

  void elements(const Step& step);
  void element_loops(const Step& step);
  // What an op does to memory for the element of the nest.
  void effect(LoweredNest& nest, const ir::Op& op);
  using LoopNests::copy;

 private:
  void run_ops(LoweredNest& nest, const Step& step);
  void load_again_before(LoweredNest& nest, const Step& step, const ir::Op& write);
  void keep(LoweredNest& nest, const Step& step);
  void find_blocks(LoweredNest& nest);
  void atomic(LoweredNest& nest, const ir::Op& op);
  void check_runs(const Step& step);  // (loop_runs.cpp)
};

}  // namespace tilewright
