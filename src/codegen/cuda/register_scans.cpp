// SPDX-License-Identifier: Apache-2.0
// codegen/cuda/register_scans.cpp — scans of tiles whose elements stay in their threads' registers:
// each thread combines its own consecutive elements, lanes exchange what these come to by shuffles,
// warps through a few slots of shared memory (scan_plan.h, device_lib/cuda/scan.cuh).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/cuda/emitter.h"

namespace tilewright {
namespace {

// The number of the register that a loop over elements is at.
std::string register_number(const Space& space, int registers) {
  std::vector<std::uint64_t> columns;
  for (int j = 0; j < space.bits(); ++j)
    columns.push_back(j < registers ? std::uint64_t{1} << j : 0);
  return linear_text(space, {BitMatrix(registers, std::move(columns)), 0});
}

}  // namespace

void Emitter::emit_register_scan(const Step& step, const ScanPlan& plan) {
  const ir::Op& op = *step.op;
  for (ir::Value result : op.results) declare_array(result);
  note_line(op.location);
  ElementLoop loop = make_loop(step, layouts_.of_array(op.results[0]));
  synchronize(loop.frame, reads_of(kernel_, schedule_, step, op.operands), {});
  parts_.insert({"reduce", "scan"});
  const std::string type = group_type(op);
  const std::string running = names_.make("running");
  const std::string at = register_number(loop.frame.space, plan.log_registers);
  out_.format("{} {}[{}];", type, running, 1 << plan.log_registers);
  const auto for_each = [&](const std::function<void(Frame&)>& body) {
    open_vectors(loop);
    open_elements(loop);
    body(loop.frame);
    close_elements(loop);
    close_vectors(loop);
  };
  for_each([&](Frame& frame) {
    std::vector<std::string> values;
    for (ir::Value operand : op.operands)
      values.push_back(bare(element(frame, operand, frame.place)));
    out_.format(
        "{}[{}] = {};", running, at,
        values.size() == 1 ? values[0] : fmt::format("{}{{{}}}", type, fmt::join(values, ", ")));
  });
  scan_registers(op, plan, type, running);
  synchronize(loop.frame, {}, op.results);
  for_each([&](Frame& frame) {
    for (std::size_t i = 0; i < op.results.size(); ++i) {
      const ir::Value result = op.results[i];
      const std::string owner = layouts_.is_shared(result) ? owner_text(*frame.layout) : "";
      out_.format("{}{}[{}] = {}[{}]{};", owner.empty() ? "" : "if (" + owner + ") ",
                  array_name(result), array_index(frame, result, frame.place), running, at,
                  op.results.size() == 1 ? "" : fmt::format(".v{}", i));
    }
  });
}

void Emitter::scan_registers(const ir::Op& op, const ScanPlan& plan, const std::string& type,
                             const std::string& running) {
  std::string slots = fmt::format("static_cast<{}*>(nullptr)", type);
  if (plan.warps != 0) {
    slots = names_.make(running + "_slots");
    shared_.add(slots, type, plan.slots(threads_ / lanes_, lanes_), scratch_of(op), loop_depth_ > 0);
    if (shared_.write_needs_barrier(slots)) barrier();
  }
  const std::string lambda = combine_lambda(op, type);
  if (plan.warps != 0) show_written();
  out_.format("tw::scan_registers<tw::ScanBits<{}, {}, {}, {}, {}>, {}>({}, {}, {});",
              plan.log_registers, plan.inner, plan.lanes, plan.warps, plan.outer,
              op.integer("reverse") != 0, running, slots, lambda);
  if (plan.warps == 0) return;
  shared_.note_barrier();
  global_.note_barrier();
  shared_.note_read(slots);
}

}  // namespace tilewright
