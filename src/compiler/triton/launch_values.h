// SPDX-License-Identifier: Apache-2.0
// compiler/triton/launch_values.h — arguments that a command line leaves out, from the file's own launch.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/triton/guess/launches.h"
#include "frontend/python/value.h"
#include "tilewright/tensor.h"
#include "tilewright/triton.h"

namespace tilewright {

struct LaunchValues {
  KernelLaunch launch;
  std::string place;                            // "softmax.py:41"
  std::vector<std::string> texts;               // NAME=VALUE as value_text.h has them, and y=@x
  std::map<std::string, std::string> problems;  // of parameters that it gives but that are unknown
  std::optional<int> num_warps;
  std::optional<int> num_stages;
};

// By parameter: what is given. A launch of the file is run as far as that determines it
// (guess/host_run.h); of several, the one that leaves the fewest parameters open. Empty when the
// file has no launch.
std::optional<LaunchValues> values_of_launch(const TritonKernel& kernel,
                                             const std::map<std::string, python::Value>& given);

// A tensor as host code sees it.
python::Value described(const Tensor& tensor);

// The names at a launch that stand for arguments of these values.
std::map<std::string, python::Value> names_at_launch(
    const KernelLaunch& launch, const TritonKernel& kernel,
    const std::map<std::string, python::Value>& given);

}  // namespace tilewright
