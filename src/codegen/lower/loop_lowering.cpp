// SPDX-License-Identifier: Apache-2.0
// codegen/lower/loop_lowering.cpp — a range of programs: its entry and its steps.
#include "codegen/lower/loop_lowering.h"

#include "codegen/lower/loop_arrays.h"
#include "codegen/lower/lower_to_loops.h"
#include "codegen/lower/waiting.h"
#include "machine/library.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

LoopLowering::LoopLowering(LoopState& state)
    : ProgramLowering(state.laid, state.sweeps, state),
      state_(state),
      families_{.program = *this,
                .scalars = LoopScalars(state),
                .sweeps = LoopSweeps(state),
                .reductions = LoopReductions(state),
                .rows = LoopRows(state),
                .streams = LoopStreams(state),
                .dots = LoopDots(state),
                .across = LoopAcross(state)} {
  state.families = &families_;
}

ir::Kernel LoopLowering::run() {
  enter();
  LoopArrays(state_).place_arrays();
  steps(sweeps_.steps());
  statement(OpKind::Yield, {}, *list_);
  Statements& body = out_.body.ops;
  if (const std::int64_t bytes = families_.streams.bytes(); bytes > 0) {
    const ir::Value is_large = make(OpKind::Call, {}, Type::scalar(b1),
                                    {{"function", std::string(name_of(LibraryKind::IsLarge))},
                                     {"numbers", std::vector<std::int64_t>{bytes}}});
    named(is_large, "streams", body);
    state_.programs->operands.insert(state_.programs->operands.begin(), is_large);
    auto& arguments = state_.programs->regions[0].arguments;
    arguments.insert(arguments.begin(), state_.streams);
    body.push_back(state_.programs);
    if (state_.facts.deferred().step) call(LibraryKind::FinishDeferred, {}, body);
    call(LibraryKind::FinishStreams, {is_large}, body);
  } else {
    body.push_back(state_.programs);
  }
  return std::move(out_);
}

// The region of the programs, which has the kernel's arguments under names of C++.
void LoopLowering::enter() {
  out_.name = laid_.name;
  out_.stage = ir::Stage::Final;
  out_.files = laid_.files;
  for (const char* own : {"id", "programs", "arena", "launch", "parameters", "streams", "late"})
    names_.make(own);
  state_.programs = out_.make_op(OpKind::ForPrograms, {}, {}, {});
  state_.programs->regions.resize(1);
  state_.streams = out_.make_value(Type::scalar(b1), "streams", nullptr);
  for (const ir::KernelArgument& argument : laid_.arguments) {
    const Type& type = laid_.type(argument.value);
    const std::string& name = laid_.name_of(argument.value);
    const ir::Value outer = out_.add_argument(type, name);
    out_.arguments.back() = argument;
    out_.arguments.back().value = outer;
    state_.programs->operands.push_back(outer);
    const ir::Value inner = out_.make_value(type, names_.make(name, "argument"), nullptr);
    state_.programs->regions[0].arguments.push_back(inner);
    scalars_[argument.value.id] = inner;
  }
  list_ = &state_.programs->regions[0].ops;
}

void LoopLowering::steps(const Steps& all) {
  for (const Step& step : all) {
    switch (step.kind) {
      case Step::Kind::Scalar:
        families_.scalars.scalar_op(*step.op);
        break;
      case Step::Kind::Elements:
        families_.sweeps.elements(step);
        for (const ir::Value result : step.op->results)
          if (laid_.type(result).is_scalar())
            scalars_[result.id] = scalar(sweeps_.source_of(result));
        break;
      case Step::Kind::Control:
        control(step);
        break;
      case Step::Kind::Across:
        families_.across.across(step);
        break;
    }
  }
}

// ---- What ProgramLowering asks of the families

bool LoopLowering::asks_others(const ir::Op& loop) const { return is_waiting(laid_, loop); }

ir::Value LoopLowering::only_element(const ir::Op& view, ir::Value value) {
  return families_.scalars.only_element(view, value);
}

void LoopLowering::copy(const Step& step,
                        const std::vector<std::pair<ir::Value, ir::Value>>& copies) {
  families_.sweeps.copy(step, copies);
}

ir::Kernel lower_to_loops(const ir::Kernel& laid) {
  const Sweeps sweeps(laid);
  LoopState state(laid, sweeps);
  return LoopLowering(state).run();
}

}  // namespace tilewright
