// SPDX-License-Identifier: Apache-2.0
// ir/shared_extent.cpp — the arrays of a Final kernel one after the other.
#include "ir/shared_extent.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/calls.h"

namespace tilewright::ir {

// The members of a group lie in words side by side.
std::int64_t bytes_of_each(const Kernel& kernel, const Op& array) {
  constexpr std::int64_t word = 8;
  if (array.kind == OpKind::Group) return word * static_cast<std::int64_t>(array.results.size());
  return static_cast<std::int64_t>(kernel.type(array.result()).element().element_bytes());
}

bool makes_shared(const Kernel& kernel, const Op& op) {
  return (op.kind == OpKind::Array || op.kind == OpKind::Group) &&
         kernel.type(op.result()).space == Space::Shared;
}

SharedExtent shared_extent(const Kernel& kernel) {
  constexpr std::int64_t line = 16;
  SharedExtent out;
  std::vector<std::pair<std::int64_t, std::int64_t>> taken;
  for (const Op* op : kernel.body.ops) {
    if (calls(*op, LibraryKind::OwnRow)) {
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
