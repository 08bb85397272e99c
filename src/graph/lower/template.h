// SPDX-License-Identifier: Apache-2.0
// graph/lower/template.h — kernels that are written as Triton source (templates/), made for the
// dtypes of a call. Sizes are int64 arguments, so that other shapes are the same code.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tilewright/dtype.h"
#include "tilewright/ir.h"

namespace tilewright::graph {

// `signature` as compiler/triton/signature.h has it, for all parameters. Made once, kept for the
// process.
const IrKernel& template_kernel(std::string_view file, std::string_view kernel,
                                const std::string& signature);

// Names in signatures: "fp32", and "*fp32" or "*kfp32" for pointers.
std::string type_text(DType dtype);
std::string pointer_text(DType dtype, bool is_const);

struct TemplateLaunch {
  std::string_view file;
  std::string_view kernel;
  std::string signature;
  Dim3 grid = {};
};
void run_template(const TemplateLaunch& launch, std::span<const Argument> arguments);

}  // namespace tilewright::graph
