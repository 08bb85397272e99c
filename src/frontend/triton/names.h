// SPDX-License-Identifier: Apache-2.0
// frontend/triton/names.h — names that are no functions: types, constants, aliases, and what is
// refused with a reason.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frontend/triton/call.h"
#include "frontend/triton/value.h"

namespace tilewright::triton {

// The name without detours: aliases of namespaces and functions are replaced.
std::string canonical_name(std::string_view full_name);
// tl.float32, tl.PropagateNan.ALL, math.pi.
std::optional<Value> constant_named(std::string_view full_name);
// Why a name that Triton has, or seems to have, is not taken.
std::optional<Mistake> refused_name(std::string_view full_name);

// The function behind x.name(...); null when there is none.
const BuiltinRow* method_row(const Value& owner, std::string_view name);
const BuiltinRow* tensor_method(std::string_view name);
std::vector<std::string> tensor_method_names();

}  // namespace tilewright::triton
