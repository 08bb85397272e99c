// SPDX-License-Identifier: Apache-2.0
// codegen/lower/program_lowering.h — what the lowerings to a range of programs and to the program
// of a thread have in common: scalars, and control flow, which carries scalars and leaves tiles in
// their arrays.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "codegen/lower/final_builder.h"
#include "passes/laid/sweeps.h"

namespace tilewright {

class ProgramLowering : protected FinalBuilder {
 public:
  // What a `for` carries besides the values of the kernel.
  struct Carried {
    ir::Value variable, initial;
  };

 protected:
  ProgramLowering(const ir::Kernel& laid, const Sweeps& sweeps, FinalProgram& program)
      : FinalBuilder(program), laid_(laid), sweeps_(sweeps) {}
  virtual ~ProgramLowering() = default;

  // ---- Of each lowering
  virtual void steps(const Steps& steps) = 0;
  // Every element of the second tile into the array of the first.
  virtual void copy(const Step& step,
                    const std::vector<std::pair<ir::Value, ir::Value>>& copies) = 0;
  // Whether a loop has to let other programs run.
  virtual bool asks_others(const ir::Op&) const { return false; }
  virtual void mark_loop(ir::Op&, const ir::Op&) {}
  // The scalar that a view of a tile with one element gives, which has no step of its own.
  virtual ir::Value only_element(const ir::Op& view, ir::Value value);
  // What else a `for` carries, when all that stands before it is there, and the next values of that.
  virtual std::vector<Carried> begin_rounds(const Step&) { return {}; }
  virtual std::vector<ir::Value> end_rounds(const Step&) { return {}; }
  // The loop itself: what it carries has its initial values; and the steps of one of its rounds.
  virtual void rounds(const Step& step, const std::vector<ir::Value>& initial);
  virtual void round(const Step& step) { steps(step.regions[0]); }
  // Around the steps of one of its regions.
  virtual void begin_branch(const Step&, std::size_t) {}
  virtual void end_branch(const Step&, std::size_t) {}

  // ---- Scalars (program_lowering.cpp)
  ir::Value scalar(ir::Value value);
  void define(ir::Value value, ir::Value made);

  // ---- Control (lower_control.cpp)
  void control(const Step& step);
  void for_loop(const Step& step);
  void while_loop(const Step& step);
  void branch(const Step& step);
  std::vector<ir::Value> carry(const Step& step, const std::vector<ir::Value>& to,
                               const std::vector<ir::Value>& from);
  std::vector<ir::Value> carry_on(const std::vector<ir::Value>& to,
                                  const std::vector<ir::Value>& from);

  const ir::Kernel& laid_;
  const Sweeps& sweeps_;
};

}  // namespace tilewright
