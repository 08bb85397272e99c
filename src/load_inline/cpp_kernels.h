// SPDX-License-Identifier: Apache-2.0
// load_inline/cpp_kernels.h — plain C++ functions as CPU kernels: each runs once per program of a
// grid.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "load_inline/inline_source.h"
#include "tilewright/kernel_source.h"

namespace tilewright {

// Can it be launched? It returns void and takes numbers and pointers only.
bool is_cpp_kernel(const InlineSource& source, const Declaration& declaration);

// What stands before the sources: tw::program_id and the calling convention.
std::string cpp_kernel_prelude();

// The CPU entry `symbol` of one function, named by an expression ("gelu", "ns::scale<float>"), to
// stand after the sources.
std::string cpp_kernel_entry(std::string_view symbol, std::string_view expression,
                             std::size_t parameter_count);

}  // namespace tilewright
