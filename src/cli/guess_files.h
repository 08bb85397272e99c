// SPDX-License-Identifier: Apache-2.0
// cli/guess_files.h — the Python files of a folder, for verbs that try every kernel.
#pragma once

#include <string>
#include <vector>

#include "frontend/python/module_loader.h"

namespace tilewright::cli {

struct UnreadableFile {
  std::string path;
  std::string reason;
};

// A file, or all below a folder, in order. Throws ArgumentError when there is no `path`.
std::vector<const python::LoadedModule*> load_python_files(python::ModuleLoader& loader,
                                                           const std::string& path,
                                                           std::vector<UnreadableFile>& unreadable);

// Throws ArgumentError when nothing was found that could be tried, or could not be read.
void check_has_kernels(const std::string& path, std::size_t count);

}  // namespace tilewright::cli
