// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_lowering.h — a program of a Laid kernel step by step, each handed to the
// family of its ops (thread_families.h); its scalars and its control flow are those of
// ProgramLowering.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "codegen/lower/lower_to_threads.h"
#include "codegen/lower/program_lowering.h"
#include "codegen/lower/thread_families.h"
#include "codegen/lower/thread_state.h"

namespace tilewright {

class ThreadLowering : private ProgramLowering {
 public:
  explicit ThreadLowering(ThreadState& state);
  ThreadProgram run();

  // ---- For the families
  void steps(const Steps& steps) override;
  // Of a region without tiles, such as a function that combines elements; but for what it yields.
  void scalars_of(const ir::Region& region);
  using ProgramLowering::scalar;
  using ProgramLowering::while_loop;

 private:
  void enter();
  int resident_blocks() const;
  void step_of_control(const Step& step);
  void across(const Step& step);

  // ---- What ProgramLowering asks of the families
  void mark_loop(ir::Op& loop, const ir::Op& op) override;
  ir::Value only_element(const ir::Op& view, ir::Value value) override;
  void copy(const Step& step, const std::vector<std::pair<ir::Value, ir::Value>>& copies) override;
  std::vector<Carried> begin_rounds(const Step& step) override;
  std::vector<ir::Value> end_rounds(const Step& step) override;
  void rounds(const Step& step, const std::vector<ir::Value>& initial) override;
  void round(const Step& step) override;
  void begin_branch(const Step& step, std::size_t side) override;
  void end_branch(const Step& step, std::size_t side) override;

  ThreadState& state_;
  const ir::Kernel& kernel_;
  ThreadFamilies families_;
};

}  // namespace tilewright
