// SPDX-License-Identifier: Apache-2.0
// frontend/triton/memory_access.h — the checks that loads, stores and atomics share.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "frontend/triton/builtin_ops.h"
#include "frontend/triton/call.h"

namespace tilewright::triton {

// A text argument that must be empty or one of `allowed`.
std::string one_of(Call& call, std::string_view parameter,
                   std::span<const std::string_view> allowed);
// The argument "mask"; absent when it is None or True.
ir::Value mask_of(Call& call);
void require_pointer(Call& call, ir::Value pointer);
void require_writable(Call& call, ir::Value pointer);
// `value` in the shape of the pointers, which themselves never grow.
ir::Value to_pointer_shape(Call& call, ir::Value pointer, ir::Value value,
                           std::string_view parameter);
// What a load of a block gives outside of its shape, in the shape of the pointers: NaN, or 0, which
// is no operand unless somebody wants it.
ir::Value padding_of(Call& call, ir::Value pointers, bool is_nan);
// The operands of an atomic through these pointers.
ir::Value atomic_rmw(Call& call, std::string_view op, const Access& access, ir::Value value);

}  // namespace tilewright::triton
