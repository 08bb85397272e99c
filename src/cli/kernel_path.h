// SPDX-License-Identifier: Apache-2.0
// cli/kernel_path.h — FILE:KERNEL on the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewright::cli {

struct KernelPath {
  std::string file;
  std::string kernel;  // empty when only a file was given
};

// Throws UsageError for an empty part.
KernelPath parse_kernel_path(const std::string& text);

// Throws UsageError for a folder; `what` says what --guess does there: "runs every kernel of it".
void refuse_folder(const std::string& path, std::string_view what);

// The kernel's name; without one, the only kernel of the file. Throws UsageError that lists them.
std::string chosen_kernel(const KernelPath& path, const std::vector<std::string>& kernels);

// "NAME=VALUE"; throws UsageError that says what `what` looks like.
std::pair<std::string, std::string> parse_assignment(const std::string& text,
                                                     std::string_view what);

}  // namespace tilewright::cli
