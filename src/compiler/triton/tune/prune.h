// SPDX-License-Identifier: Apache-2.0
// compiler/triton/tune/prune.h — prune_configs_by of triton.autotune: early_config_prune, perf_model and
// top_k, as far as the evaluator of host code can run them.
#pragma once

#include <string>
#include <vector>

#include "compiler/triton/resolve.h"

namespace tilewright {

struct Pruned {
  std::vector<python::ConfigValue> configs;  // those that are left, in their order
  std::vector<python::ConfigValue> dropped;
  std::string note;  // why nothing was pruned although it was asked for
};

// Needs the kernel's lock. Throws ArgumentError when no config is left.
Pruned prune_configs(const LaunchRequest& request, const KernelAutotune& autotune);

}  // namespace tilewright
