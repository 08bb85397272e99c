// SPDX-License-Identifier: Apache-2.0
// frontend/triton/builtins.h — the functions, methods and attributes that kernels use without
// defining them: tl.*, libdevice, Python's own.
//
// One table row per function (builtins.cpp): its full name, its parameters with defaults, and the
// function that lowers it. Calls are matched against the parameters here, so that an unknown or
// missing argument gets the same message everywhere.
#pragma once

#include <string>
#include <string_view>

#include "frontend/triton/semantic.h"
#include "frontend/triton/value.h"

namespace tilewright::triton {

// Is there a builtin, type, constant or namespace of this full name ("triton.language.math")?
// Names that mean the same (tl.math.exp, libdevice.exp, tl.exp) lead to the same. Throws Mistake
// with the nearest names for what looks like Triton's but is not known, and with what it is for
// what is known but not supported.
Value external_value(std::string_view full_name);

// Of a package that external_value knows nothing of, such as torch.
bool is_of_outside_package(std::string_view full_name);

// Whether external_value gives something, for `hasattr(tl, ...)` and imports that may fail.
bool has_external_value(std::string_view full_name);

Value call_builtin(Semantic& semantic, Host& host, const Builtin& builtin,
                   const CallArguments& arguments);
Value call_method(Semantic& semantic, Host& host, const Method& method,
                  const CallArguments& arguments);
// x.dtype, x.shape, x.T, dtype.element_ty, x.to (a Method), a field of a namedtuple.
Value attribute(Semantic& semantic, const Value& owner, std::string_view name);
// x[:, None], shape[0], tuple[1:]. Slices are Tuples of class_name "slice" (start, stop, step).
Value subscript(Semantic& semantic, const Value& owner, const Value& index);

}  // namespace tilewright::triton
