// SPDX-License-Identifier: Apache-2.0
// base/input_file.h — a file's text.
#pragma once

#include <string>

namespace tilewright {

// Throws EnvironmentError with the system's reason when there is no such file, or a folder instead.
std::string read_input(const std::string& path);

}  // namespace tilewright
