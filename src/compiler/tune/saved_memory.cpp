// SPDX-License-Identifier: Apache-2.0
// compiler/tune/saved_memory.cpp — which buffers a kernel updates, and their copies.
#include "compiler/tune/saved_memory.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "ir/analysis/memory_order.h"

namespace tilewright {
namespace {

struct MemoryUse {
  std::vector<bool> reads, writes;  // by kernel argument
};

MemoryUse memory_use(const ir::Kernel& kernel) {
  MemoryUse use{std::vector<bool>(kernel.arguments.size()),
                std::vector<bool>(kernel.arguments.size())};
  const ir::MemoryOrder order(kernel);
  ir::walk(kernel.body, [&](const ir::Op& op) {
    if (!ir::is_access(kernel, op)) return;
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
      const ir::Value argument = kernel.arguments[i].value;
      if (!kernel.type(argument).is_pointer || !order.may_overlap(op.operands[0], argument))
        continue;
      if (op.facts().has(ir::Reads)) use.reads[i] = true;
      if (op.facts().has(ir::Writes)) use.writes[i] = true;
    }
  });
  return use;
}

template <class Counts>
std::vector<std::size_t> pointers_where(const KernelDraft& draft, const Counts& counts) {
  const ir::Kernel& kernel = draft.tiles.lowered.kernel;
  const MemoryUse use = memory_use(kernel);
  std::vector<std::size_t> parameters;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i)
    if (counts(use, i) && kernel.type(kernel.arguments[i].value).is_pointer)
      parameters.push_back(draft.specialization->sources[i].parameter);
  return parameters;
}

}  // namespace

std::vector<std::size_t> written_parameters(const KernelDraft& draft) {
  return pointers_where(draft, [](const MemoryUse& use, std::size_t i) { return use.writes[i]; });
}

std::vector<std::size_t> updated_parameters(const KernelDraft& draft) {
  return pointers_where(
      draft, [](const MemoryUse& use, std::size_t i) { return use.reads[i] && use.writes[i]; });
}

SavedMemory::SavedMemory(const LaunchView& view, const Stream& stream,
                         const std::vector<std::size_t>& restored,
                         const std::vector<std::size_t>& zeroed)
    : stream_(stream) {
  const auto add_all = [&](const std::vector<std::size_t>& parameters, bool is_zeroed) {
    for (const std::size_t i : parameters)
      if (view.slots[i]) add(view.kernel.parameters[i].name, *view.slots[i], is_zeroed);
  };
  add_all(zeroed, true);
  add_all(restored, false);
}

void SavedMemory::add(const std::string& name, const TritonArgument& argument, bool is_zeroed) {
  for (const TritonArgument& item : items_of(argument)) add(name, item, is_zeroed);
  if (argument.kind != TritonArgument::Kind::Value) return;
  const Argument& value = argument.value;
  if (value.kind == Argument::Kind::Scalar ||
      (value.kind == Argument::Kind::Pointer && value.bits == 0))
    return;
  if (value.kind != Argument::Kind::Memory || value.buffer == nullptr)
    throw ArgumentError(fmt::format(
        "'{}' must be as before after each timed run, but was given as an address of unknown size; "
        "pass a tensor",
        name));
  const auto known = [&](const Part& part) { return part.buffer.state() == value.buffer->state(); };
  if (std::any_of(parts_.begin(), parts_.end(), known)) return;
  Part part{*value.buffer,
            Buffer::allocate(value.buffer->size(), stream_.device(), MemoryKind::Device, stream_),
            is_zeroed};
  copy_async({part.copy}, {part.buffer}, part.buffer.size(), stream_);
  parts_.push_back(std::move(part));
}

void SavedMemory::before_run() const {
  constexpr std::array<std::byte, 4> zeros{};
  for (const Part& part : parts_) {
    if (part.is_zeroed)
      fill_async({part.buffer}, part.buffer.size(), std::span(zeros).first(1), stream_);
    else copy_async({part.buffer}, {part.copy}, part.buffer.size(), stream_);
  }
}

void SavedMemory::bring_back() const {
  for (const Part& part : parts_)
    copy_async({part.buffer}, {part.copy}, part.buffer.size(), stream_);
  stream_.synchronize();
}

}  // namespace tilewright
