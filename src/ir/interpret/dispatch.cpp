// SPDX-License-Identifier: Apache-2.0
// ir/interpret/dispatch.cpp — an op goes to what interprets its kind, family by family.
#include <fmt/format.h>

#include "base/interrupt.h"
#include "ir/interpret/program.h"
#include "ir/interpret/shapes.h"
#include "tilewright/error.h"

namespace tilewright::ir {
namespace {

Tile scalar(DType dtype, std::int64_t value) {
  return {Type::scalar(dtype), {Element{.i = value}}};
}

}  // namespace

void Program::run_op(const Op& op) {
  if (options_.max_ops > 0 && ++steps_ > options_.max_ops)
    fail(op, fmt::format("more than {} ops were run; the loop seems endless", options_.max_ops));
  Watch* const watch = is_combining_ ? nullptr : options_.watch;
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
      return source(op);
    case Family::View:
      return view(op);
    case Family::Elementwise:
      return elementwise(op);
    case Family::Access:
      return access(op);
    case Family::Reduction:
      return reduce(op);
    case Family::Across:
      return across(op);
    case Family::Final:
      return final_stage(op);
    case Family::Control:
      return control(op);
    case Family::Sync:
      return sync(op);
    case Family::Check:
      return check(op);
    case Family::Ends:
      break;  // run_region reads its operands
  }
  fail(op, fmt::format("op '{}' cannot be interpreted", op.facts().name));
}

void Program::source(const Op& op) {
  switch (source_op(op.kind)) {
    case SourceOp::Constant:
      return constant(op);
    case SourceOp::ProgramId:
      return set_result(op, scalar(i32, id_[static_cast<std::size_t>(op.integer("axis"))]));
    case SourceOp::NumPrograms:
      return set_result(op, scalar(i32, options_.grid[op.integer("axis")]));
    case SourceOp::NumBlocks:
      return set_result(op, scalar(i32, block_count(kernel_, options_.grid[0])));
    case SourceOp::IsProducer:  // the `if` that asks for it runs both of its regions
      return set_result(op, scalar(b1, 0));
    case SourceOp::Arange: {
      const Type& type = result_type(op);
      Tile tile{type, std::vector<Element>(static_cast<std::size_t>(type.numel()))};
      for (std::size_t i = 0; i < tile.size(); ++i)
        tile.elements[i].i = wrap(i32, op.integer("start") + static_cast<std::int64_t>(i));
      return set_result(op, std::move(tile));
    }
  }
}

void Program::access(const Op& op) {
  switch (access_op(op.kind)) {
    case AccessOp::Load:
      return load(op);
    case AccessOp::Store:
      return store(op);
    case AccessOp::AtomicRmw:
      return atomic_rmw(op);
    case AccessOp::AtomicCas:
      return atomic_cas(op);
    case AccessOp::CopyAsync:
      return copy_async(op);
  }
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
      return is_thread() ? own_copies_.commit() : copies_.commit();
    case SyncOp::WaitCopies:
      return is_thread() ? wait_own_copies(op) : wait_copies(op);
    case SyncOp::Barrier:  // of threads: Program::meet
    case SyncOp::Fence:
      return;
    case SyncOp::Acquire:
    case SyncOp::Await:
    case SyncOp::Release:
      return ring_op(op);
    case SyncOp::CopyMap:
      return copy_map(op);
    case SyncOp::WaitStores:
      return wait_stores(op.text("until") == "memory");
  }
}

void Program::check(const Op& op) {
  switch (check_op(op.kind)) {
    case CheckOp::Assert:
      return check_assert(op);
    case CheckOp::Assume:
      if (!operand(op, 0).elements[0].i) report(op, "an assumption does not hold");
      return;
  }
}

void Program::view(const Op& op) {
  const Type& type = result_type(op);
  switch (view_op(op.kind)) {
    case ViewOp::Splat:
      return set_result(op, {type, std::vector<Element>(static_cast<std::size_t>(type.numel()),
                                                        operand(op, 0).elements[0])});
    case ViewOp::Broadcast:
      return set_result(op, broadcast_tile(operand(op, 0), type));
    case ViewOp::Reshape:
      return set_result(op, {type, operand(op, 0).elements});
    case ViewOp::Permute:
      return set_result(op, permute_tile(operand(op, 0), op.integers("order"), type));
    case ViewOp::Join:
      return set_result(op, join_tiles(operand(op, 0), operand(op, 1), type));
    case ViewOp::Split:
      set_result(op, split_tile(operand(op, 0), 0, type), 0);
      return set_result(op, split_tile(operand(op, 0), 1, type), 1);
    case ViewOp::Affine:
      return set_result(op, affine_tile(scalars(op), type));
    case ViewOp::Bounds:
      return set_result(op, bounds_tile(scalars(op), type));
    case ViewOp::Hint:
      return set_result(op, {type, operand(op, 0).elements});
  }
}

void Program::across(const Op& op) {
  switch (across_op(op.kind)) {
    case AcrossOp::Concatenate:
      return set_result(op, concatenate_tiles(operand(op, 0), operand(op, 1), op.integer("axis"),
                                              result_type(op)));
    case AcrossOp::Gather: {
      bool is_outside = false;
      set_result(op, gather_tile(operand(op, 0), operand(op, 1), op.integer("axis"),
                                 result_type(op), &is_outside));
      if (is_outside) report(op, "gather has an index outside the tile");
      return;
    }
    case AcrossOp::ReadBuffer:
      return read_buffer(op);
    case AcrossOp::Scan:
      return scan(op);
    case AcrossOp::Sort:
      return set_result(
          op, sort_tile(operand(op, 0), op.integer("first"), op.integer("last"), op.text("order")));
    case AcrossOp::Histogram:
      return set_result(op, histogram_tile(operand(op, 0), op.mask() ? &get(op.mask()) : nullptr,
                                           result_type(op)));
    case AcrossOp::Dot:
      return dot(op);
    case AcrossOp::Print:
      return print(op);
    case AcrossOp::StoreMap:
      return store_map(op);
  }
}

void Program::dot(const Op& op) {
  const Type& type = result_type(op);
  if (jitter_.is_on() && Jitter::applies(op, type))
    return set_result(op, jitter_.dot(op, type, operand(op, 0), operand(op, 1), operand(op, 2)));
  set_result(op, dot_tiles(operand(op, 0), operand(op, 1), operand(op, 2), type, options_.float64));
}

}  // namespace tilewright::ir
