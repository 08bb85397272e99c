// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_lowering.h — a Laid kernel as a range of programs, step by step, each handed
// to the family of its ops; its scalars and its control flow are those of ProgramLowering.
#pragma once

#include <utility>
#include <vector>

#include "codegen/lower/loop_across.h"
#include "codegen/lower/loop_dots.h"
#include "codegen/lower/loop_reductions.h"
#include "codegen/lower/loop_rows.h"
#include "codegen/lower/loop_scalars.h"
#include "codegen/lower/loop_streams.h"
#include "codegen/lower/loop_sweeps.h"
#include "codegen/lower/program_lowering.h"

namespace tilewright {

class LoopLowering;

// What one family needs of another it asks for here.
struct LoopFamilies {
  LoopLowering& program;  // steps and control flow
  LoopScalars scalars;
  LoopSweeps sweeps;
  LoopReductions reductions;
  LoopRows rows;
  LoopStreams streams;
  LoopDots dots;
  LoopAcross across;
};

class LoopLowering : private ProgramLowering {
 public:
  explicit LoopLowering(LoopState& state);
  ir::Kernel run();

  // ---- For the families
  void steps(const Steps& steps) override;
  using ProgramLowering::define;
  using ProgramLowering::scalar;

 private:
  void enter();
  bool asks_others(const ir::Op& loop) const override;
  ir::Value only_element(const ir::Op& view, ir::Value value) override;
  void copy(const Step& step, const std::vector<std::pair<ir::Value, ir::Value>>& copies) override;

  LoopState& state_;
  LoopFamilies families_;
};

}  // namespace tilewright
