// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_scans.cpp — scans of tiles whose elements stay in their threads' registers:
// the thread's elements are put into an array in which a call makes the running combinations over
// them, over lanes, and over warps through a few slots of shared memory (passes/laid/scan_plan.h).
#include "codegen/lower/thread_scans.h"

#include "codegen/cuda/program_shape.h"
#include "codegen/lower/thread_families.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

void ThreadScans::scan(const Step& step) {
  const ir::Op& op = *step.op;
  const ScanPlan* plan = layouts_.scan_plan_of(op);
  if (!plan) return scan_shared(step);
  for (const ir::Value result : op.results) declare(result);
  const Reduction running = begin_scan(op, *plan);
  Loop loop = make(step, layouts_.of_array(op.results[0]));
  const IndexMap number_of_element = number_map(loop.plan.frame.space, plan->log_registers);
  open_all(loop, true);
  for (std::size_t k = 0; k < op.operands.size(); ++k)
    statement(OpKind::Write,
              {running.totals[k], linear(loop, number_of_element),
               element(loop, op.operands[k], loop.plan.frame.place)},
              *list_, {}, op.location);
  close_all(loop);
  std::vector<std::int64_t> numbers = {plan->lanes};
  if (plan->warps != 0) numbers.push_back(plan->warps);
  numbers.insert(numbers.end(),
                 {plan->inner, plan->outer, running.registers, op.integer("reverse") != 0 ? 1 : 0});
  families().reductions.call_combining(
      running, plan->warps != 0 ? LibraryKind::ScanBlock : LibraryKind::ScanLanes,
      std::move(numbers));
  open_all(loop, true);
  for (std::size_t k = 0; k < op.results.size(); ++k)
    write_element(loop, op.results[k],
                  FinalBuilder::make(OpKind::Read,
                                     {running.totals[k], linear(loop, number_of_element)},
                                     kernel_.type(op.results[k]).element()));
  close_all(loop);
}

// The arrays of the thread's elements.
ThreadScans::Reduction ThreadScans::begin_scan(const ir::Op& op, const ScanPlan& plan) {
  Reduction out{.op = &op, .name = names_.make("running"), .registers = 1 << plan.log_registers};
  const ProgramShape shape = shape_of(kernel_, options_.target);
  out.plan.slots = plan.slots(shape.warps, shape.lanes);
  if (op.operands.size() > 1) {
    out.type = names_.make("Group");
    out.totals = families().reductions.make_group(out, ir::Space::Stack, out.registers, *list_);
  } else {
    out.totals = {make_array(out.name, kernel_.type(op.operands[0]).element(), out.registers,
                             op.location)};
  }
  return out;
}

}  // namespace tilewright
