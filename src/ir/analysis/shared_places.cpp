// SPDX-License-Identifier: Apache-2.0
// ir/analysis/shared_places.cpp — the array behind a value, and the bytes that it has.
#include "ir/analysis/shared_places.h"

namespace tilewright::ir {

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
  // The members of a group lie in words side by side.
  constexpr std::int64_t word = 8;
  const auto bytes =
      out.array->kind == OpKind::Group
          ? word * static_cast<std::int64_t>(out.array->results.size())
          : static_cast<std::int64_t>(kernel.type(out.array->result()).element().element_bytes());
  out.first = out.array->integer("offset");
  out.end = out.first + out.array->integer("count") * bytes;
  return out;
}

}  // namespace tilewright::ir
