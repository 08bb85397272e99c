// SPDX-License-Identifier: Apache-2.0
// ir/analysis/shared_places.cpp — the array behind a value, and the bytes that it has.
#include "ir/analysis/shared_places.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "machine/library.h"

namespace tilewright::ir {
namespace {

// The members of a group lie in words side by side.
std::int64_t bytes_of_each(const Kernel& kernel, const Op& array) {
  constexpr std::int64_t word = 8;
  if (array.kind == OpKind::Group) return word * static_cast<std::int64_t>(array.results.size());
  return static_cast<std::int64_t>(kernel.type(array.result()).element().element_bytes());
}

}  // namespace

const Op* array_behind(const Kernel& kernel, Value value) {
  const Op* made = kernel.maker(value);
  while (made && (made->kind == OpKind::ArrayView || made->kind == OpKind::Call) &&
         !made->operands.empty())
    made = kernel.maker(made->operands[0]);
  return made && (made->kind == OpKind::Array || made->kind == OpKind::Group) ? made : nullptr;
}

SharedPlace shared_place(const Kernel& kernel, const SlotNumbers& slots, Value value) {
  SharedPlace out{.array = array_behind(kernel, value), .slots = slots.of(value)};
  if (!out.array || !out.array->find("offset")) return out;
  out.first = out.array->integer("offset");
  out.end = out.first + out.array->integer("count") * bytes_of_each(kernel, *out.array);
  return out;
}

bool makes_shared(const Kernel& kernel, const Op& op) {
  return (op.kind == OpKind::Array || op.kind == OpKind::Group) &&
         kernel.type(op.result()).space == Space::Shared;
}

bool is_own_row(const Op& op) {
  return op.kind == OpKind::Call && op.text("function") == name_of(LibraryKind::OwnRow);
}

SharedExtent shared_extent(const Kernel& kernel) {
  constexpr std::int64_t line = 16;
  SharedExtent out;
  std::vector<std::pair<std::int64_t, std::int64_t>> taken;
  for (const Op* op : kernel.body.ops) {
    if (is_own_row(*op)) {
      const std::vector<std::int64_t> numbers = op->integers("numbers");
      out.row_bytes = numbers[0] * numbers[2] * bytes_of_each(kernel, *op);
    }
    if (!makes_shared(kernel, *op)) continue;
    const std::int64_t first = op->integer("offset");
    const std::int64_t bytes = op->integer("count") * bytes_of_each(kernel, *op);
    const std::int64_t end = first + (bytes + line - 1) / line * line;
    for (const auto& [from, to] : taken) out.overlap = out.overlap || (first < to && from < end);
    taken.emplace_back(first, end);
    out.align = std::max(out.align, op->integer("align"));
    out.bytes = std::max(out.bytes, end);
  }
  return out;
}

}  // namespace tilewright::ir
