// SPDX-License-Identifier: Apache-2.0
// compiler/triton/constants.h — compile-time values on their way between the little evaluator of host
// code, the front end and text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frontend/python/value.h"
#include "frontend/triton/value.h"

namespace tilewright {

// A value of a config, a heuristic or a default as the front end takes it: numbers, text, None,
// types (tl.float32, torch.float32), tuples of them, functions. Empty for anything else.
std::optional<triton::Value> constant_of(const python::Value& value);

// The other way, for heuristics and grids, which see every argument.
python::Value host_value_of(const triton::Value& value);

// 64, -1.5, true, True, none, None, 'ieee', "ieee", fp32, tl.float32. Empty when the text is none.
std::optional<triton::Value> parse_constant(std::string_view text);

// As parse_constant takes it.
std::string constant_text(const triton::Value& value);

}  // namespace tilewright
