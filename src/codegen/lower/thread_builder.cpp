// SPDX-License-Identifier: Apache-2.0
// codegen/lower/thread_builder.cpp — conditions, arrays and barriers of the program of a thread.
#include "codegen/lower/thread_builder.h"

#include <bit>
#include <utility>

#include "codegen/cuda/program_shape.h"
#include "codegen/lower/thread_lowering.h"

namespace tilewright {

using ir::OpKind;
using ir::Type;

ThreadBuilder::ThreadBuilder(ThreadState& state)
    : FinalBuilder(state),
      state_(state),
      kernel_(state.laid),
      schedule_(state.facts.sweeps),
      layouts_(state.layouts),
      options_(state.options),
      plans_(state.plans),
      products_(state.products),
      thread_(state.thread),
      whole_thread_(state.whole_thread),
      prologue_(state.prologue),
      shared_(state.shared),
      arrays_(state.arrays) {}

// ---- Scalars and conditions

ir::Value ThreadBuilder::scalar(ir::Value value) { return families().program.scalar(value); }

bool ThreadBuilder::is_inlined(const ir::Op& op, ir::Value made) const {
  constexpr std::size_t longest = 59;
  return op.facts().has(ir::Pure) && kernel_.name_of(op.result()).empty() &&
         state_.written.length(*out_.maker(made)) <= longest;
}

void ThreadBuilder::when(ir::Value condition, const std::function<void()>& body) {
  choose(condition, body, {});
}

void ThreadBuilder::choose(ir::Value condition, const std::function<void()>& body,
                           const std::function<void()>& otherwise) {
  FinalBuilder::choose(
      condition, *list_, [&](Statements& list) { put_into(list, body); },
      [&](Statements& list) {
        if (otherwise) put_into(list, otherwise);
      });
}

// ---- Threads

ir::Value ThreadBuilder::owner(const Layout& layout) {
  const std::uint64_t copies = layout.copy_bits();
  if (copies == 0) return {};
  const auto found = state_.owners.find(copies);
  if (found != state_.owners.end()) return found->second;
  const std::uint64_t all_bits = (std::uint64_t{1} << layout.thread_bits()) - 1;
  const std::uint64_t kept = all_bits & ~copies;
  const ir::Value holds =
      (kept & (kept + 1)) == 0
          ? compare("lt", whole_thread_, number(static_cast<std::int64_t>(kept + 1)))
          : compare("eq",
                    FinalBuilder::make(OpKind::And,
                                       {whole_thread_, number(static_cast<std::int64_t>(copies))},
                                       Type::scalar(i32)),
                    number(0));
  return state_.owners[copies] = named(holds, names_.make("is_owner"), prologue_);
}

int ThreadBuilder::log_threads() const {
  return std::countr_zero(static_cast<unsigned>(shape_of(kernel_, options_.target).threads()));
}

void ThreadBuilder::meet(ir::Location location) {
  std::vector<ir::Attribute> attributes;
  if (state_.is_consuming) attributes.push_back({"of", std::string("consumers")});
  statement(OpKind::Barrier, {}, *list_, attributes, location);
}

// ---- Arrays

ir::Value ThreadBuilder::make_array(const std::string& name, const Type& element,
                                    std::int64_t count, ir::Location location) {
  return named(FinalBuilder::make(OpKind::Array, {}, Type::array(element, ir::Space::Stack),
                                  {{"count", count}}, location),
               name, *list_);
}

ir::Value ThreadBuilder::make_shared(const std::string& name, const Type& element,
                                     std::int64_t count, const ir::KernelBuffer& buffer) {
  std::vector<ir::Attribute> attributes = {{"count", count}, {"offset", buffer.offset}};
  if (buffer.align > ir::KernelBuffer::least_align)
    attributes.push_back({"align", std::int64_t{buffer.align}});
  if (buffer.slots > 1 && !kernel_.is_in_ring(buffer))
    attributes.push_back({"slots", std::int64_t{buffer.slots}});
  if (state_.warp_buffers.contains(kernel_.buffer_named(buffer.name)))
    attributes.push_back({"warps", std::int64_t{1}});
  return named(FinalBuilder::make(OpKind::Array, {}, Type::array(element, ir::Space::Shared),
                                  std::move(attributes)),
               name, shared_);
}

ir::Value ThreadBuilder::make_scratch(const ir::Op& op, const Type& element, std::int64_t count,
                                      const char* name) {
  const ir::KernelBuffer& scratch = kernel_.buffers[kernel_.buffer_named(op.text("scratch"))];
  return named(FinalBuilder::make(OpKind::Array, {}, Type::array(element, ir::Space::Shared),
                                  {{"count", count}, {"offset", scratch.offset}}),
               names_.make(name), shared_);
}

void ThreadBuilder::declare(ir::Value value) {
  const ir::Value storage = schedule_.storage(value);
  if (arrays_.contains(storage.id)) return;
  if (plans_.is_stowed(value)) return families().rows.declare_row();
  if (layouts_.is_shared(value)) {
    const Type& type = kernel_.type(storage);
    const ir::KernelBuffer& buffer =
        kernel_.buffers[static_cast<std::size_t>(schedule_.buffer_of(storage))];
    arrays_[storage.id] = make_shared(names_.make(plans_.array_base(value, storage) + "_shared"),
                                      type.element(), type.numel(), buffer);
    return;
  }
  arrays_[storage.id] =
      make_array(names_.make(plans_.array_base(value, storage) + "_tile"),
                 kernel_.type(storage).element(), layouts_.of_array(value).layout.register_count());
}

ir::Value ThreadBuilder::view(ir::Value array, ir::Value index) {
  return is_zero(index) ? array
                        : FinalBuilder::make(OpKind::ArrayView, {array, index}, type_of(array));
}

void ThreadBuilder::for_all_registers(std::int64_t count,
                                      const std::function<void(ir::Value)>& body) {
  if (count == 1) return body(number(0));
  ir::Op* loop = out_.make_op(OpKind::For, {number(0), number(count), number(1)}, {}, {});
  loop->set("over", std::string("registers"));
  loop->set("unroll", std::int64_t{-1});
  loop->regions.resize(1);
  const ir::Value k = out_.make_value(Type::scalar(i32), "k", nullptr);
  loop->regions[0].arguments = {k};
  insert(loop, *list_);
  region(loop->regions[0], [&] {
    body(k);
    statement(OpKind::Yield, {}, *list_);
  });
}

// ---- Calls

void ThreadBuilder::call_statement(LibraryKind function, std::vector<ir::Value> operands,
                                   std::vector<std::int64_t> numbers, ir::Location location,
                                   std::vector<ir::Attribute> more) {
  std::vector<ir::Attribute> attributes = {{"function", std::string(name_of(function))}};
  if (!numbers.empty()) attributes.push_back({"numbers", std::move(numbers)});
  attributes.insert(attributes.end(), more.begin(), more.end());
  statement(OpKind::Call, std::move(operands), *list_, std::move(attributes), location);
}

}  // namespace tilewright
