// SPDX-License-Identifier: Apache-2.0
// base/environment.h — environment variables by name, for the host code of kernels that asks for
// them (os.getenv). Those that tilewright itself reads are in base/settings.h.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tilewright {

std::optional<std::string> environment_variable(const std::string& name);
std::vector<std::pair<std::string, std::string>> environment_variables();

}  // namespace tilewright
