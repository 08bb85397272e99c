// SPDX-License-Identifier: Apache-2.0
// compiler/launcher_maps.h — how a launcher header makes the tensor maps that its kernel takes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tilewright/kernel_source.h"

namespace tilewright {

// The name that the map with this number has in a launcher.
std::string launcher_map_name(int map);

// Of the launcher's function: each map from its argument, before the launch. `names` are the
// parameters' names there, `number` writes an expression of the plan.
std::string launcher_maps(const LaunchPlan& plan, const std::vector<std::string>& names,
                          const std::function<std::string(const PlanExpression&)>& number);

// Of its namespace detail: what those lines call. Empty without maps.
std::string launcher_map_functions(const LaunchPlan& plan, const std::string& kernel);

}  // namespace tilewright
