// SPDX-License-Identifier: Apache-2.0
// cli/config_file.h — a list of configs from a JSON file, for `tilewright tune --configs`.
//
//   [{"BLOCK_M": 64, "BLOCK_N": 64, "num_warps": 4, "num_stages": 3}, ...]
#pragma once

#include <string>
#include <vector>

#include "frontend/python/value.h"
#include "tilewright/triton.h"

namespace tilewright::cli {

// Throws FormatError that names the file and the place: no JSON, no list, an empty one, names that
// are neither parameters of the kernel nor options, values that are no constants.
std::vector<python::ConfigValue> read_configs(const std::string& path, const TritonKernel& kernel);

}  // namespace tilewright::cli
