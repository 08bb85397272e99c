// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_copies.cpp — copies from global memory into slots of buffers, and what waits
// for them, in the program of a thread. A slot is a view of an array in shared memory: ops read it
// where it lies.
#include "codegen/lower/thread_copies.h"

#include "codegen/lower/copy_facts.h"
#include "codegen/lower/thread_families.h"
#include "passes/laid/op_facts.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

ThreadCopies::ThreadCopies(ThreadState& state)
    : ThreadElements(state),
      has_products_(has_asynchronous_dots(kernel_)),
      advances_copies_(has_lines_along_depth(kernel_, state.facts)) {}

// ---- Buffers

ir::Value ThreadCopies::buffer_array(const ir::Op& op) {
  const std::size_t number = kernel_.buffer_of(op);
  if (const auto found = buffers_.find(number); found != buffers_.end()) return found->second;
  const ir::KernelBuffer& buffer = kernel_.buffers[number];
  return buffers_[number] = make_shared(names_.make(buffer.name), buffer.type.element(),
                                        buffer.slots * buffer.type.numel(), buffer);
}

ir::Value ThreadCopies::slot_of(const ir::Op& op, ir::Value slot) {
  const ir::Value array = buffer_array(op);
  const std::int64_t size = kernel_.buffers[kernel_.buffer_of(op)].type.numel();
  return FinalBuilder::make(OpKind::ArrayView, {array, sum({{slot, size}}, i32)}, type_of(array));
}

void ThreadCopies::read_buffer(const Step& step) {
  const ir::Op& op = *step.op;
  const ir::Value slot = slot_of(op, scalar(op.operands[0]));
  out_.maker(slot)->location = op.location;
  arrays_[schedule_.storage(op.result()).id] =
      named(slot, names_.make(kernel_.name_of(op.result()), "slot"), *list_);
}

// All threads have waited for their own copies when they meet, and shown them to products.
void ThreadCopies::wait_for_copies(const ir::Op& op) {
  statement(OpKind::WaitCopies, {}, *list_, op.attributes, op.location);
  if (has_products_) call_statement(LibraryKind::ShowToProducts);
  meet();
}

// ---- Copies

ir::Value ThreadCopies::begin_copies(const ir::Op& op) {
  const ir::Value slot = slot_of(op, scalar(op.operands[1]));
  out_.maker(slot)->location = op.location;
  return named(slot, names_.make(out_.name_of(buffer_array(op)) + "_slot"), *list_);
}

void ThreadCopies::copy_ahead(const Step& step) {
  const ir::Op& op = *step.ops.front();
  const ir::Value slot = begin_copies(op);
  Loop loop{.plan = plans_.copy_loop(step)};
  loop.variables[of_thread] = thread_;
  const bool are_vectors = plans_.can_copy_vectors(loop.plan, op);
  if (has_products_ && loop.plan.log_slices == 0 && are_vectors && plans_.formula_of(loop.plan, op))
    return copy_from_one_place(loop, op, slot);
  open(loop, over_slices, "slices", false);
  open(loop, over_vectors, "vectors", true);
  if (are_vectors) copy_vectors(loop, op, slot);
  else copy_elements(loop, op, slot);
  close(loop, over_vectors);
  close(loop, over_slices);
}

void ThreadCopies::copy_vectors(Loop& loop, const ir::Op& op, ir::Value slot) {
  const Place first = first_of_vector(loop.plan.frame.place, loop.plan.log_vector);
  const bool advances = advances_copies_ && loop.plan.log_slices == 0;
  const ir::Value pointer = advances ? advanced_pointer(loop, op.operands[0], first)
                                     : element(loop, op.operands[0], first);
  const ir::Value wanted = copy_wanted(loop, op);
  ir::Value at;
  if (advances) {
    const CopyPlace place = copy_place(loop, op);
    at = moved(place.at, place.image, loop, place.by_vector);
  } else {
    at = index(loop, layouts_.swizzle_of_buffer(kernel_.buffer_of(op))(first));
  }
  std::vector<ir::Value> operands = {view(slot, at), pointer};
  if (wanted) operands.push_back(wanted);
  start_copy(loop, op, std::move(operands));
}

// Where the thread's first copy goes in a slot, and how far the others are from there.
CopyPlace ThreadCopies::copy_place(const Loop& loop, const ir::Op& op) {
  const Frame& frame = loop.plan.frame;
  const Place first = first_of_vector(frame.place, loop.plan.log_vector);
  const IndexMap to = layouts_.swizzle_of_buffer(kernel_.buffer_of(op))(first);
  return {.at = named(linear(loop, to, of_thread, of_thread + 1),
                      names_.make(out_.name_of(buffer_array(op)) + "_at"), *list_),
          .image = image_of(frame.space, to, of_thread, of_thread + 1) | to.offset,
          .by_vector = only_variable(frame.space, to, over_vectors)};
}

// A pointer that a loop moves on by a scalar: what is the same in all rounds is worked out before
// it, and each round adds to it. Compilers would rather add up indices and scale them every time.
ir::Value ThreadCopies::advanced_pointer(Loop& loop, ir::Value pointer, const Place& place) {
  const ir::Op* offset = kernel_.maker(pointer);
  const ir::Op* by =
      offset && offset->kind == OpKind::Offset ? kernel_.maker(offset->operands[1]) : nullptr;
  if (!by || by->kind != OpKind::Splat || plans_.constant_of(by->operands[0]))
    return element(loop, pointer, place);
  const ir::Value from = element(loop, offset->operands[0], place);
  return call(LibraryKind::Advanced, {from, element(loop, offset->operands[1], place)},
              type_of(from));
}

// When all of a tile is wanted; nothing where only each element knows, or none asks.
std::vector<ir::Value> ThreadCopies::whole_conditions(const ir::Op& op) {
  const ir::Op* bounds = op.operands.size() > 2 ? kernel_.maker(op.operands[2]) : nullptr;
  if (!bounds || bounds->kind != OpKind::Bounds) return {};
  const Type& type = kernel_.type(bounds->result());
  std::vector<ir::Value> out;
  for (int d = 0; d < type.rank; ++d) {
    const ir::Value low = bounds->operands[2 * static_cast<std::size_t>(d)];
    const ir::Value high = bounds->operands[2 * static_cast<std::size_t>(d) + 1];
    const auto least = plans_.constant_of(low), most = plans_.constant_of(high);
    if (!(least && *least <= 0)) out.push_back(compare("le", bound(low), number(0)));
    if (!(most && *most >= type.size(d)))
      out.push_back(compare("ge", bound(high), number(type.size(d))));
  }
  return out;
}

// Beside products that go on, copies are what threads do: each thread's first place is worked out
// once, and the others are distances from it; a tile that is wanted whole asks for no element.
void ThreadCopies::copy_from_one_place(Loop& loop, const ir::Op& op, ir::Value slot) {
  const ir::Op& affine = *plans_.formula_of(loop.plan, op);
  const Frame& frame = loop.plan.frame;
  const Place first = first_of_vector(frame.place, loop.plan.log_vector);
  const CopyPlace place = copy_place(loop, op);
  const ir::Value from = named(moved_pointer(scalar(affine.operands[0]), loop, affine,
                                             only_variable(frame.space, first, of_thread)),
                               names_.make(out_.name_of(buffer_array(op)) + "_from"), *list_);
  const auto copy_all = [&](bool is_masked) {
    loop.scopes.emplace_back();  // what a branch names stays there
    open(loop, over_vectors, "vectors", true);
    std::vector<ir::Value> operands = {
        view(slot, moved(place.at, place.image, loop, place.by_vector)),
        moved_pointer(from, loop, affine, only_variable(frame.space, first, over_vectors))};
    if (const ir::Value wanted = is_masked ? copy_wanted(loop, op) : ir::Value{})
      operands.push_back(wanted);
    start_copy(loop, op, std::move(operands));
    close(loop, over_vectors);
    loop.scopes.pop_back();
  };
  const std::vector<ir::Value> whole = whole_conditions(op);
  if (whole.empty()) return copy_all(true);
  choose(
      all(whole), [&] { copy_all(false); }, [&] { copy_all(true); });
}

ir::Value ThreadCopies::copy_wanted(Loop& loop, const ir::Op& op) {
  if (op.operands.size() < 3) return {};
  const Place first = first_of_vector(loop.plan.frame.place, loop.plan.log_vector);
  const ir::Value wanted = element(loop, op.operands[2], first);
  const ir::Op* maker = out_.maker(wanted);
  const bool is_always = maker && maker->kind == OpKind::Constant && maker->integer("value") != 0;
  return is_always ? ir::Value{} : wanted;
}

void ThreadCopies::start_copy(const Loop& loop, const ir::Op& op, std::vector<ir::Value> operands) {
  const auto start = [&] {
    statement(OpKind::CopyTo, operands, *list_,
              {{"count", std::int64_t{1} << loop.plan.log_vector}}, op.location);
  };
  if (const ir::Value own = owner(*loop.plan.frame.layout)) when(own, start);
  else start();
}

// One after the other through registers, where a copy cannot do it.
void ThreadCopies::copy_elements(Loop& loop, const ir::Op& op, ir::Value slot) {
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
