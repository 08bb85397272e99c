// SPDX-License-Identifier: Apache-2.0
// compiler/triton/tune/config_text.h — a config of the autotuner as text, for the store and for people.
//
//   BLOCK_M=64, BLOCK_N=32, EVEN=true, num_warps=4, num_stages=3
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frontend/python/value.h"

namespace tilewright {

// num_ctas and maxnreg only where they are not the default.
std::string config_text(const python::ConfigValue& config);

// Empty when the text is none, or a value in it has no text that can be read back (a function).
std::optional<python::ConfigValue> parse_config_text(std::string_view text);

// As it is written in a kernel's file: triton.Config({'BLOCK_M': 64}, num_warps=4, num_stages=3)
std::string config_as_python(const python::ConfigValue& config);

// Sets num_warps, num_stages, num_ctas or maxnreg; false when `name` is none of them.
bool set_config_option(python::ConfigValue& config, std::string_view name, std::int64_t value);

}  // namespace tilewright
