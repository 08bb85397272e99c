// SPDX-License-Identifier: Apache-2.0
// base/input_file.h — a file's text.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

namespace tilewright {

// The first `at_most` bytes. Throws EnvironmentError with the system's reason when there is no such
// file, or a folder instead.
std::string read_input(const std::string& path,
                       std::size_t at_most = std::numeric_limits<std::size_t>::max());

}  // namespace tilewright
