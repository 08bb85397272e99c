// SPDX-License-Identifier: Apache-2.0
// cli/guess_files.h — the kernels of a file or folder, for verbs that try every one.
#pragma once

#include <string>
#include <vector>

#include "compiler/triton/guess/guess.h"
#include "frontend/python/module_loader.h"

namespace tilewright::cli {

struct UnreadableFile {
  std::string path;
  std::string reason;
};

struct FoundKernels {
  std::vector<python::DecoratedFunction> kernels;
  std::vector<UnreadableFile> unreadable;
};

// Whether the path is a .py file, FILE.py:KERNEL, or a folder with .py files in it.
bool has_python_files(const std::string& path);

// Of a file, of all files below a folder in order, or the one of FILE.py:KERNEL. Throws
// ArgumentError when there is no such path, or nothing in it that could be tried.
FoundKernels find_kernels(python::ModuleLoader& loader, Guesser& guesser, const std::string& path);

}  // namespace tilewright::cli
