// SPDX-License-Identifier: Apache-2.0
// cli/guess_files.cpp — a walk over a folder; what cannot be parsed is noted and passed over.
#include "cli/guess_files.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/nearest.h"
#include "cli/kernel_path.h"
#include "tilewright/error.h"

namespace tilewright::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> python_files(const std::string& path) {
  if (!fs::exists(path)) throw ArgumentError(fmt::format("there is no file or folder '{}'", path));
  if (!fs::is_directory(path)) return {path};
  std::vector<std::string> files;
  const auto options = fs::directory_options::skip_permission_denied;
  for (auto entry = fs::recursive_directory_iterator(path, options);
       entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory() && (name.starts_with('.') || name == "__pycache__"))
      entry.disable_recursion_pending();
    else if (entry->is_regular_file() && entry->path().extension() == ".py")
      files.push_back(entry->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<const python::LoadedModule*> load_files(python::ModuleLoader& loader,
                                                    const std::string& path,
                                                    std::vector<UnreadableFile>& unreadable) {
  std::vector<const python::LoadedModule*> modules;
  for (const std::string& file : python_files(path)) {
    try {
      modules.push_back(&loader.load(file));
    } catch (const UserError& error) {
      const std::string what = error.what();
      unreadable.push_back({file, what.substr(0, what.find('\n'))});
    }
  }
  return modules;
}

void keep_only(const KernelPath& wanted, std::vector<python::DecoratedFunction>& kernels) {
  std::vector<std::string> names;
  for (const auto& kernel : kernels) names.push_back(kernel.name);
  std::erase_if(kernels, [&](const auto& kernel) { return kernel.name != wanted.kernel; });
  if (kernels.empty())
    throw ArgumentError(fmt::format("{} has no kernel '{}'{}", wanted.file, wanted.kernel,
                                    suggest_names(wanted.kernel, names)));
}

}  // namespace

bool has_python_files(const std::string& path) {
  if (!fs::is_directory(path)) return path.find(".cu") == std::string::npos;
  return !python_files(path).empty();
}

FoundKernels find_kernels(python::ModuleLoader& loader, Guesser& guesser, const std::string& path) {
  KernelPath wanted{path, ""};
  if (!fs::exists(path)) wanted = parse_kernel_path(path);
  if (!fs::exists(wanted.file)) wanted = {path, ""};  // the error names what was given
  FoundKernels found;
  found.kernels = guesser.entries(load_files(loader, wanted.file, found.unreadable));
  if (found.kernels.empty() && found.unreadable.empty())
    throw ArgumentError(fmt::format("there is no Triton kernel in '{}'", wanted.file));
  if (!wanted.kernel.empty() && found.unreadable.empty()) keep_only(wanted, found.kernels);
  return found;
}

}  // namespace tilewright::cli
