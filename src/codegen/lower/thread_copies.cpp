// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_copies.cpp — copies from global memory into slots of buffers, and what waits
// for them, in the program of a thread. A slot is a view of an array in shared memory: ops read it
// where it lies.
#include "codegen/lower/thread_lowering.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

// ---- Buffers

ir::Value ThreadLowering::buffer_array(const ir::Op& op) {
  const std::size_t number = kernel_.buffer_of(op);
  if (const auto found = buffers_.find(number); found != buffers_.end()) return found->second;
  const ir::KernelBuffer& buffer = kernel_.buffers[number];
  std::vector<ir::Attribute> attributes = {{"count", buffer.slots * buffer.type.numel()},
                                           {"offset", buffer.offset}};
  if (buffer.slots > 1) attributes.push_back({"slots", std::int64_t{buffer.slots}});
  return buffers_[number] = named(
             FinalBuilder::make(OpKind::Array, {},
                                Type::array(buffer.type.element(), ir::Space::Shared), attributes),
             names_.make(buffer.name), shared_);
}

ir::Value ThreadLowering::slot_of(const ir::Op& op, ir::Value slot) {
  const ir::Value array = buffer_array(op);
  const std::int64_t size = kernel_.buffers[kernel_.buffer_of(op)].type.numel();
  return FinalBuilder::make(OpKind::ArrayView, {array, sum({{slot, size}}, i32)}, type_of(array));
}

void ThreadLowering::read_buffer(const Step& step) {
  const ir::Op& op = *step.op;
  const ir::Value slot = slot_of(op, scalar(op.operands[0]));
  out_.maker(slot)->location = op.location;
  arrays_[schedule_.storage(op.result()).id] =
      named(slot, names_.make(kernel_.name_of(op.result()), "slot"), *list_);
}

// All threads have waited for their own copies when they meet.
void ThreadLowering::wait_for_copies(const ir::Op& op) {
  statement(OpKind::WaitCopies, {}, *list_, op.attributes, op.location);
  meet();
}

// ---- Copies

ir::Value ThreadLowering::begin_copies(const ir::Op& op) {
  const ir::Value slot = slot_of(op, scalar(op.operands[1]));
  out_.maker(slot)->location = op.location;
  return named(slot, names_.make(out_.name_of(buffer_array(op)) + "_slot"), *list_);
}

void ThreadLowering::copy_ahead(const Step& step) {
  const ir::Op& op = *step.ops.front();
  const ir::Value slot = begin_copies(op);
  Loop loop{.plan = copy_loop(step)};
  loop.variables[of_thread] = thread_;
  open(loop, over_slices, "slices", false);
  open(loop, over_vectors, "vectors", true);
  if (can_copy_vectors(loop.plan, op)) copy_vectors(loop, op, slot);
  else copy_elements(loop, op, slot);
  close(loop, over_vectors);
  close(loop, over_slices);
}

void ThreadLowering::copy_vectors(Loop& loop, const ir::Op& op, ir::Value slot) {
  const Place first = first_of_vector(loop.plan.frame.place, loop.plan.log_vector);
  const ir::Value pointer = element(loop, op.operands[0], first);
  const ir::Value wanted = copy_wanted(loop, op);
  const ir::Value at = index(loop, layouts_.swizzle_of_buffer(kernel_.buffer_of(op))(first));
  std::vector<ir::Value> operands = {view(slot, at), pointer};
  if (wanted) operands.push_back(wanted);
  start_copy(loop, op, std::move(operands));
}

ir::Value ThreadLowering::copy_wanted(Loop& loop, const ir::Op& op) {
  if (op.operands.size() < 3) return {};
  const Place first = first_of_vector(loop.plan.frame.place, loop.plan.log_vector);
  const ir::Value wanted = element(loop, op.operands[2], first);
  const ir::Op* maker = out_.maker(wanted);
  const bool is_always = maker && maker->kind == OpKind::Constant && maker->integer("value") != 0;
  return is_always ? ir::Value{} : wanted;
}

void ThreadLowering::start_copy(const Loop& loop, const ir::Op& op,
                                std::vector<ir::Value> operands) {
  const auto start = [&] {
    statement(OpKind::CopyTo, operands, *list_,
              {{"count", std::int64_t{1} << loop.plan.log_vector}}, op.location);
  };
  if (const ir::Value own = owner(*loop.plan.frame.layout)) when(own, start);
  else start();
}

// One after the other through registers, where a copy cannot do it.
void ThreadLowering::copy_elements(Loop& loop, const ir::Op& op, ir::Value slot) {
  open(loop, within_vector, "elements", true);
  const Place& place = loop.plan.frame.place;
  const Type type = kernel_.buffers[kernel_.buffer_of(op)].type.element();
  std::vector<ir::Value> from = {element(loop, op.operands[0], place)};
  if (op.operands.size() > 2) {
    from.push_back(element(loop, op.operands[2], place));
    from.push_back(op.operands.size() > 3 ? element(loop, op.operands[3], place) : zero_of(type));
  }
  const ir::Value read = FinalBuilder::make(OpKind::Load, from, type, {}, op.location);
  const ir::Value at = index(loop, layouts_.swizzle_of_buffer(kernel_.buffer_of(op))(place));
  std::vector<ir::Value> operands = {slot, at, read};
  if (const ir::Value own = owner(*loop.plan.frame.layout)) operands.push_back(own);
  statement(OpKind::Write, operands, *list_, {}, op.location);
  close(loop, within_vector);
}

}  // namespace tilewright
