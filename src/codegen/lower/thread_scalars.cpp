// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_scalars.cpp — scalars, and ops that synchronise.
#include "codegen/lower/thread_scalars.h"

#include <string_view>
#include <vector>

#include "codegen/lower/thread_families.h"
#include "passes/laid/allocate_shared.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

ThreadScalars::ThreadScalars(ThreadState& state)
    : ThreadElements(state), shared_end_(shared_bytes_of(kernel_)) {}

void ThreadScalars::scalar_op(const ir::Op& op) {
  const ir::OpFacts& facts = op.facts();
  if (op.kind == OpKind::IsProducer) return;  // the branch of the roles asks
  if (op.kind == OpKind::Constant || op.kind == OpKind::Assume) return;
  if (op.kind == OpKind::Load) return scalar_load(op);
  if (op.kind == OpKind::Store) return scalar_store(op);
  if (op.kind == OpKind::Print) return families().sorts.print_scalars(op);
  if (facts.is(ir::Family::Sync)) return synchronize(op);
  if (facts.is_atomic() && !families().atomics.is_spinning())
    return families().atomics.scalar_atomic(op);
  std::vector<ir::Value> operands;
  for (const ir::Value operand : op.operands) operands.push_back(scalar(operand));
  if (facts.is(ir::Family::Check)) {
    statement(op.kind, operands, *list_, op.attributes, op.location);
    return;
  }
  if (facts.is_atomic()) {
    scalars_[op.result().id] = families().atomics.spinning_atomic(op, operands);
    return;
  }
  const ir::Value made =
      FinalBuilder::make(op.kind, operands, kernel_.type(op.result()), op.attributes, op.location);
  if (is_inlined(op, made)) write_at_uses(op.result(), made);
  else
    scalars_[op.result().id] = named(made, names_.make(kernel_.name_of(op.result()), "t"), *list_);
}

// At the end of the program, before which every array is made.
ir::Value ThreadScalars::only_element(const ir::Op& view, ir::Value value) {
  static const Step at_end{.kind = Step::Kind::Control, .order = 1 << 30};
  Loop loop;
  loop.plan.frame.step = &at_end;
  loop.plan.frame.place = {BitMatrix::zero(0, 0), 0};
  return viewed(loop, view, value, loop.plan.frame.place);
}

void ThreadScalars::synchronize(const ir::Op& op) {
  switch (ir::sync_op(op.kind)) {
    case ir::SyncOp::WaitCopies:
      return families().copies.wait_for_copies(op);
    case ir::SyncOp::CommitCopies:
    case ir::SyncOp::Fence:
      statement(op.kind, {}, *list_, op.attributes, op.location);
      return;
    case ir::SyncOp::Barrier:
      return meet(op.location);
    case ir::SyncOp::Acquire:
    case ir::SyncOp::CopyMap:
    case ir::SyncOp::Await:
    case ir::SyncOp::Release:
      return families().rings.ring_op(op);
    case ir::SyncOp::WaitStores:
      return call_statement(LibraryKind::WaitBoxes, {}, {op.text("until") == "memory" ? 1 : 0},
                            op.location);
  }
}

namespace {

std::vector<ir::Attribute> access_attributes(const ir::Op& op, std::string_view cache) {
  std::vector<ir::Attribute> out;
  if (!cache.empty()) out.push_back({"cache", std::string(cache)});
  if (op.integer("volatile") != 0) out.push_back({"volatile", std::int64_t{1}});
  return out;
}

}  // namespace

void ThreadScalars::scalar_load(const ir::Op& op) {
  const std::string name = names_.make(kernel_.name_of(op.result()), "t");
  const bool is_shared = state_.shares_seen != SharedLooks::None && op.integer("volatile") != 0;
  scalars_[op.result().id] = is_shared ? share_seen(op, name) : load_scalar(op, name);
}

// One thread looks.
ir::Value ThreadScalars::share_seen(const ir::Op& op, const std::string& name) {
  return from_one_thread(kernel_.type(op.result()), name, op.location,
                         [&] { return load_scalar(op, names_.make("found")); });
}

ir::Value ThreadScalars::from_one_thread(const Type& type, const std::string& name,
                                         ir::Location location,
                                         const std::function<ir::Value()>& find) {
  constexpr std::int64_t line = 16;
  const ir::Value slot =
      named(FinalBuilder::make(OpKind::Array, {}, Type::array(type, ir::Space::Shared),
                               {{"count", std::int64_t{1}}, {"offset", shared_end_}}),
            names_.make(name + "_shared"), shared_);
  shared_end_ += line;
  when(compare("eq", thread_, number(0)), [&] {
    statement(OpKind::Write, {slot, number(0), find()}, *list_, {}, location);
  });
  return named(FinalBuilder::make(OpKind::Read, {slot, number(0)}, type), name, *list_);
}

// Behind a branch where it is masked.
ir::Value ThreadScalars::load_scalar(const ir::Op& op, const std::string& name) {
  const Type& type = kernel_.type(op.result());
  const auto load = [&] {
    return FinalBuilder::make(OpKind::Load, {scalar(op.operands[0])}, type,
                              access_attributes(op, plans_.cache_of(op)), op.location);
  };
  if (op.operands.size() < 2) return named(load(), name, *list_);
  ir::Op* chosen = out_.make_op(OpKind::If, {scalar(op.operands[1])}, {type}, op.location);
  chosen->regions.resize(2);
  out_.set_name(chosen->results[0], name);
  insert(chosen, *list_);
  region(chosen->regions[0], [&] { statement(OpKind::Yield, {load()}, *list_); });
  region(chosen->regions[1], [&] {
    statement(OpKind::Yield, {op.operands.size() > 2 ? scalar(op.operands[2]) : zero_of(type)},
              *list_);
  });
  return chosen->results[0];
}

void ThreadScalars::scalar_store(const ir::Op& op) {
  std::vector<ir::Value> conditions = {compare("eq", thread_, number(0))};
  if (op.operands.size() > 2) conditions.push_back(scalar(op.operands[2]));
  when(all(conditions), [&] {
    statement(OpKind::Store, {scalar(op.operands[0]), scalar(op.operands[1])}, *list_,
              access_attributes(op, plans_.cache_of(op)), op.location);
  });
}

}  // namespace tilewright
