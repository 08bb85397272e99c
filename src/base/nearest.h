// SPDX-License-Identifier: Apache-2.0
// base/nearest.h — "did you mean": the known names that are close to one that was not found.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright {

// At most three names, best first, that a person may have meant.
std::vector<std::string> nearest_names(std::string_view wanted, std::span<const std::string> known);

// "; did you mean 'gelu_kernel'?" or, when nothing is close, "; there are: a, b, c" or "; there are
// none".
std::string suggest_names(std::string_view wanted, std::span<const std::string> known);

}  // namespace tilewright
