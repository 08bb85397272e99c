// SPDX-License-Identifier: Apache-2.0
// cli/guess_files.cpp — a walk over a folder; what cannot be parsed is noted and passed over.
#include "cli/guess_files.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

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

}  // namespace

std::vector<const python::LoadedModule*> load_python_files(
    python::ModuleLoader& loader, const std::string& path,
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

void check_has_kernels(const std::string& path, std::size_t count) {
  if (count == 0) throw ArgumentError(fmt::format("there is no Triton kernel in '{}'", path));
}

}  // namespace tilewright::cli
