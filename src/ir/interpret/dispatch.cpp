// SPDX-License-Identifier: Apache-2.0
// ir/interpret/dispatch.cpp — an op goes to what interprets its kind, family by family.
#include <fmt/format.h>

#include "base/interrupt.h"
#include "ir/interpret/program.h"
#include "tilewright/error.h"

namespace tilewright::ir {
Program::Program(const Kernel& kernel, const Memory& memory, const InterpretOptions& options,
                 std::array<std::int64_t, 3> id)
    : ProgramState(kernel, memory, options, id),
      ProgramView(static_cast<ProgramState&>(*this)),
      parts_{.program = *this,
             .tiles = TileOps(state_),
             .accesses = TileAccesses(state_),
             .roles = Roles(state_),
             .final_ops = FinalOps(state_),
             .library = LibraryCalls(state_),
             .threads = Threads(state_),
             .scans = ThreadScans(state_),
             .matrices = Matrices(state_),
             .rings = RingOps(state_),
             .maps = MapOps(state_)} {
  state_.parts = &parts_;
}

void Program::run_op(const Op& op) {
  if (options_.max_ops > 0 && ++steps_ > options_.max_ops)
    fail(op, fmt::format("more than {} ops were run; the loop seems endless", options_.max_ops));
  Watch* const watch = is_combining ? nullptr : options_.watch;
  if (watch != nullptr) watch->before(*this, op);
  const bool is_taken = options_.watch != nullptr && options_.watch->takes_interrupts();
  if (!is_taken && is_interrupted())
    throw Interrupted(fmt::format("{} (program {}, {}, {})", place_of(op), id_[0], id_[1], id_[2]));
  if (const std::string problem = copies_.use_problem(op); !problem.empty()) fail(op, problem);
  if (const std::string problem = rings_.use_problem(op); !problem.empty()) fail(op, problem);
  dispatch(op);
  if (watch != nullptr) watch->after(*this, op);
}

void Program::dispatch(const Op& op) {
  switch (op.facts().family) {
    case Family::Source:
      return parts_.tiles.source(op);
    case Family::View:
      return parts_.tiles.view(op);
    case Family::Elementwise:
      return parts_.tiles.elementwise(op);
    case Family::Access:
      return parts_.accesses.access(op);
    case Family::Reduction:
      return parts_.tiles.reduce(op);
    case Family::Across:
      return parts_.tiles.across(op);
    case Family::Final:
      return parts_.final_ops.final_stage(op);
    case Family::Control:
      return control(op);
    case Family::Sync:
      return sync(op);
    case Family::Check:
      return parts_.tiles.check(op);
    case Family::Ends:
      break;  // run_region reads its operands
  }
  fail(op, fmt::format("op '{}' cannot be interpreted", op.facts().name));
}

void Program::control(const Op& op) {
  switch (control_op(op.kind)) {
    case ControlOp::For:
      return for_loop(op);
    case ControlOp::While:
      return while_loop(op);
    case ControlOp::If:
      return branch(op);
    case ControlOp::Sweep:
      return sweep(op);
  }
}

void Program::sync(const Op& op) {
  switch (sync_op(op.kind)) {
    case SyncOp::CommitCopies:
      return kernel_.stage == Stage::Final ? own_copies_.commit() : copies_.commit();
    case SyncOp::WaitCopies:
      return kernel_.stage == Stage::Final ? parts_.final_ops.wait_own_copies(op)
                                           : parts_.accesses.wait_copies(op);
    case SyncOp::Barrier:  // of threads: Threads::meet
    case SyncOp::Fence:
      return;
    case SyncOp::Acquire:
    case SyncOp::Await:
    case SyncOp::Release:
      return parts_.roles.ring_op(op);
    case SyncOp::CopyMap:
      return parts_.roles.copy_map(op);
    case SyncOp::WaitStores:
      return parts_.maps.wait_stores(op.text("until") == "memory");
  }
}

}  // namespace tilewright::ir
