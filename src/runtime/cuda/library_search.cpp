// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/library_search.cpp — the list of places and the look into each.
#include "runtime/cuda/library_search.h"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>

#include <fmt/format.h>

#include "base/settings.h"

namespace tilewright::cuda {
namespace {

namespace fs = std::filesystem;

using Visit = std::function<bool(const std::string& folder)>;  // true: found, stop

constexpr int newest_major = 20;
constexpr int oldest_major = 8;

std::vector<std::string> split_paths(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto colon = text.find(':');
    if (const std::string_view part = text.substr(0, colon); part.starts_with('/'))
      parts.emplace_back(part);
    if (colon == std::string_view::npos) break;
    text.remove_prefix(colon + 1);
  }
  return parts;
}

// "cuda-13.0" -> {13, 0}, so that 12.10 is newer than 12.9.
std::vector<int> numbers_in(const std::string& name) {
  std::vector<int> numbers;
  for (const char *at = name.data(), *end = at + name.size(); at < end;) {
    int value = 0;
    const auto [next, status] = std::from_chars(at, end, value);
    if (status == std::errc{} && *at != '-') numbers.push_back(value);
    at = status == std::errc{} && *at != '-' ? next : at + 1;
  }
  return numbers;
}

// The entries of a folder whose name starts with `prefix`, as paths, the highest version first.
std::vector<std::string> entries(const std::string& folder, std::string_view prefix) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().filename().string().starts_with(prefix))
      found.push_back(entry.path().string());
  std::sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
    const auto left = numbers_in(fs::path(a).filename().string()),
               right = numbers_in(fs::path(b).filename().string());
    return left != right ? left > right : a < b;
  });
  return found;
}

bool visit_toolkit(const std::string& home, const Visit& visit) {
  for (const char* part : {"/lib64", "/lib", "/targets/x86_64-linux/lib", "/targets/sbsa-linux/lib",
                           "/extras/CUPTI/lib64"})
    if (visit(home + part)) return true;
  return false;
}

// The dynamic linker's own places, without asking it to load anything.
bool visit_linker_folders(const SearchPlaces& places, const Visit& visit) {
  for (const std::string& folder : split_paths(places.library_path))
    if (visit(folder)) return true;
  for (const std::string& file : entries(places.root + "/etc/ld.so.conf.d", "")) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);)
      if (line.starts_with('/') && visit(places.root + line)) return true;
  }
  for (const char* folder :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib",
        "/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/wsl/lib"})
    if (visit(places.root + folder)) return true;
  return false;
}

bool visit_installed_toolkits(const SearchPlaces& places, const Visit& visit) {
  if (visit_toolkit(places.root + "/usr/local/cuda", visit)) return true;
  for (const std::string& home : entries(places.root + "/usr/local", "cuda-"))
    if (visit_toolkit(home, visit)) return true;
  for (const char* home : {"/opt/cuda", "/usr/lib/cuda"})
    if (visit_toolkit(places.root + home, visit)) return true;
  return false;
}

// Folders that hold bin/python3 and lib/python3.N, the most specific first.
std::vector<std::string> python_prefixes(const SearchPlaces& places) {
  std::vector<std::string> prefixes;
  const auto add = [&](const std::string& prefix) {
    if (!prefix.empty() && std::find(prefixes.begin(), prefixes.end(), prefix) == prefixes.end())
      prefixes.push_back(prefix);
  };
  add(places.virtual_env);
  add(places.conda_prefix);
  for (const std::string& folder : split_paths(places.search_path)) {
    const fs::path python = fs::path(folder) / "python3";
    std::error_code error;
    if (!fs::exists(python, error)) continue;
    add(fs::path(folder).parent_path().string());
    add(fs::canonical(python, error)
            .parent_path()
            .parent_path()
            .string());  // what a virtual environment was made from
    break;
  }
  if (!places.home.empty()) add(places.home + "/.local");
  add(places.root + "/usr/local");
  add(places.root + "/usr");
  for (const std::string& folder : entries(places.root + "/opt", "")) {
    add(folder + "/.venv");
    add(folder);
  }
  return prefixes;
}

// NVIDIA's packages put each library into site-packages/nvidia/<package>/lib.
bool visit_python_packages(const std::string& prefix, const Visit& visit) {
  for (const std::string& python : entries(prefix + "/lib", "python3"))
    for (const char* packages : {"/site-packages/nvidia", "/dist-packages/nvidia"})
      for (const std::string& package : entries(python + packages, ""))
        if (visit(package + "/lib")) return true;
  return false;
}

bool visit_python_environments(const SearchPlaces& places, const Visit& visit) {
  if (!places.conda_prefix.empty() && visit(places.conda_prefix + "/lib")) return true;
  const auto prefixes = python_prefixes(places);
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& prefix) {
    return visit_python_packages(prefix, visit);
  });
}

std::string newest_in_folder(const std::string& folder, std::string_view stem) {
  if (access(folder.c_str(), X_OK) != 0) return "";
  for (int major = newest_major; major >= oldest_major; --major)
    if (std::string path = fmt::format("{}/{}.so.{}", folder, stem, major);
        access(path.c_str(), R_OK) == 0)
      return path;
  std::string plain = fmt::format("{}/{}.so", folder, stem);
  return access(plain.c_str(), R_OK) == 0 ? plain : "";
}

struct LoadedQuery {
  std::string start;  // "libnvrtc.so"
  std::string path;
};

int match_loaded(dl_phdr_info* info, std::size_t, void* data) {
  auto& query = *static_cast<LoadedQuery*>(data);
  const std::string_view path = info->dlpi_name ? info->dlpi_name : "";
  if (!path.substr(path.rfind('/') + 1).starts_with(query.start)) return 0;
  query.path = path;
  return 1;
}

std::string loaded_library(std::string start) {
  LoadedQuery query{std::move(start), ""};
  dl_iterate_phdr(match_loaded, &query);
  return query.path.starts_with('/') ? query.path : "";
}

}  // namespace

SearchPlaces search_places() {
  const Settings& s = settings();
  return {.cuda_home = s.cuda_home,
          .library_path = s.library_path,
          .search_path = s.search_path,
          .virtual_env = s.virtual_env,
          .conda_prefix = s.conda_prefix,
          .home = s.home,
          .root = "",
          .use_loaded = true};
}

bool are_current(const SearchPlaces& places) {
  const Settings& s = settings();
  return places.cuda_home == s.cuda_home && places.library_path == s.library_path &&
         places.search_path == s.search_path && places.virtual_env == s.virtual_env &&
         places.conda_prefix == s.conda_prefix && places.home == s.home && places.root.empty() &&
         places.use_loaded;
}

std::string find_library(const SearchPlaces& places, std::string_view stem) {
  if (places.cuda_home == "none") return "";
  std::string found;
  const Visit look = [&](const std::string& folder) {
    found = newest_in_folder(folder, stem);
    return !found.empty();
  };
  if (!places.cuda_home.empty() && visit_toolkit(places.cuda_home, look)) return found;
  if (places.use_loaded)
    if (std::string loaded = loaded_library(fmt::format("{}.so", stem)); !loaded.empty())
      return loaded;
  if (visit_linker_folders(places, look) || visit_installed_toolkits(places, look) ||
      visit_python_environments(places, look))
    return found;
  return "";
}

std::string find_driver(const SearchPlaces& places) {
  if (places.cuda_home == "none") return "";
  std::string found = "libcuda.so.1";
  const Visit look = [&](const std::string& folder) {
    std::string path = folder + "/libcuda.so.1";
    if (access(path.c_str(), R_OK) != 0) return false;
    found = std::move(path);
    return true;
  };
  if (!places.cuda_home.empty() && visit_toolkit(places.cuda_home, look)) return found;
  if (places.use_loaded)
    if (std::string loaded = loaded_library("libcuda.so.1"); !loaded.empty()) return loaded;
  visit_linker_folders(places, look);
  return found;
}

std::vector<std::string> include_folders_of(const std::string& library_path) {
  std::vector<std::string> folders;
  const fs::path library_folder = fs::path(library_path).parent_path();
  const fs::path home = library_folder.parent_path();
  // A toolkit's include stands beside its lib; the older Python packages keep headers in a package
  // of their own.
  for (const fs::path& include :
       {home / "include", home.parent_path() / "cuda_runtime" / "include"}) {
    std::error_code error;
    if (!fs::exists(include / "cuda_fp16.h", error)) continue;
    folders.push_back(include.string());
    if (fs::exists(include / "cccl" / "cuda", error))
      folders.push_back((include / "cccl").string());
    break;
  }
  return folders;
}

std::string version_from_name(const std::string& library_path) {
  std::error_code error;
  const fs::path real = fs::canonical(library_path, error);
  const std::string name = (error ? fs::path(library_path) : real).filename().string();
  const auto at = name.find(".so.");
  return at == std::string::npos ? "" : name.substr(at + 4);
}

}  // namespace tilewright::cuda
