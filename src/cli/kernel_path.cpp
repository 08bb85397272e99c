// SPDX-License-Identifier: Apache-2.0
// cli/kernel_path.cpp — parts of arguments.
#include "cli/kernel_path.h"

#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/verbs.h"

namespace tilewright::cli {

KernelPath parse_kernel_path(const std::string& text) {
  if (text.empty()) throw UsageError{"the path is empty; write FILE.py:KERNEL"};
  const std::size_t colon = text.rfind(':');
  // A colon in a folder's name is not ours.
  if (colon == std::string::npos || text.find('/', colon) != std::string::npos) return {text, ""};
  if (colon == 0 || colon + 1 == text.size())
    throw UsageError{fmt::format("'{}' names no kernel; write FILE.py:KERNEL", text)};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

void refuse_folder(const std::string& path, std::string_view what) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw UsageError{
        fmt::format("'{}' is a folder; --guess {}, FILE.py:KERNEL names one", path, what)};
}

std::string chosen_kernel(const KernelPath& path, const std::vector<std::string>& kernels) {
  if (!path.kernel.empty()) return path.kernel;
  if (kernels.size() == 1) return kernels.front();
  if (kernels.empty()) throw UsageError{fmt::format("{} has no kernel", path.file)};
  throw UsageError{fmt::format("{} has several kernels; write {}:KERNEL with one of {}", path.file,
                               path.file, fmt::join(kernels, ", "))};
}

std::pair<std::string, std::string> parse_assignment(const std::string& text,
                                                     std::string_view what) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw UsageError{fmt::format("'{}' is not of the form {}", text, what)};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace tilewright::cli
