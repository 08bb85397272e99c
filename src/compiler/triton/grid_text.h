// SPDX-License-Identifier: Apache-2.0
// compiler/triton/grid_text.h — the grid of a launch from an expression over its arguments, or from the
// kernel's own file.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "compiler/triton/guess/launches.h"
#include "tilewright/tensor.h"
#include "tilewright/triton.h"

namespace tilewright {

// `text`: "1024", "64, 8", "cdiv(n, BLOCK), heads". Evaluated at the launch, with the values of all
// parameters. Throws ArgumentError that quotes it.
Grid grid_from_text(const TritonKernel& kernel, std::string text);

// The same for a kernel that is not Triton's, with the numbers that its launch is given.
Dim3 grid_from_numbers(const std::string& kernel, const std::string& text,
                       const std::map<std::string, std::int64_t>& numbers);

// The grid of a launch of the kernel in its file (the first one unless one is given), with the
// names of that place standing for the arguments given here. Throws ArgumentError that says why it
// cannot be read.
Grid grid_from_file(const TritonKernel& kernel, std::map<std::string, Tensor> tensors,
                    const KernelLaunch* launch = nullptr);

// `grid` evaluated once for each compiled form of the kernel: evaluating a text takes longer than a
// launch. For launches that differ in nothing but their config, from one thread.
Grid once_per_config(Grid grid);

}  // namespace tilewright
