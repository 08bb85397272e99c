// SPDX-License-Identifier: Apache-2.0
// ir/analysis/shared_places.cpp — the array behind a value, and the bytes that it has.
#include "ir/analysis/shared_places.h"

#include "ir/shared_extent.h"

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
  out.first = out.array->integer("offset");
  out.end = out.first + out.array->integer("count") * bytes_of_each(kernel, *out.array);
  return out;
}

}  // namespace tilewright::ir
