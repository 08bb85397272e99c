// SPDX-License-Identifier: Apache-2.0
// compiler/triton/guess/keep_launch.h — a guessed launch as files, so that another program can
// repeat it and compare: launch.json, and each tensor before it, after it and after runs that round
// otherwise.
#pragma once

#include <string>
#include <vector>

#include "compiler/triton/guess/inputs.h"
#include "compiler/triton/signature.h"
#include "tilewright/module.h"

namespace tilewright {

struct KeptLaunch {
  std::string file;
  std::string kernel;
  Dim3 grid;
  int num_warps = 4;
  std::vector<TritonParameter> parameters;
  TritonSignature signature;           // without the parameters that are at their default
  std::vector<std::string> arguments;  // "x", "ptrs.0", "desc.shape.1"
  std::vector<GeneratedValue> values;  // of these
  // The tensors among them, in their order, as the interpreter leaves them.
  std::vector<Tensor> after;
  std::vector<std::vector<Tensor>> rounded;  // by runs with roundings by chance
};

// Into `folder`, which is made. Throws EnvironmentError when it cannot be written.
void keep_launch(const std::string& folder, const KeptLaunch& launch);

}  // namespace tilewright
