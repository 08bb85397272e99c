// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/library_search.h — where CUDA's libraries are: toolkits, distributions, Python
// packages.
//
// Files are only looked at, never opened as libraries, so that a search costs microseconds and
// cannot run foreign code. The order: the named toolkit; what this process has loaded already (a
// framework's own copy); where the dynamic linker looks; installed toolkits, newest first; Python
// environments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilewright::cuda {

// What a search depends on. Tests fill it by hand; everything else takes search_places().
struct SearchPlaces {
  std::string cuda_home;     // "none" finds nothing at all
  std::string library_path;  // LD_LIBRARY_PATH
  std::string search_path;   // PATH, for python3
  std::string virtual_env;
  std::string conda_prefix;
  std::string home;
  std::string root;        // put before the absolute paths that are fixed here; empty but in tests
  bool use_loaded = true;  // take a library that is loaded already

  friend bool operator==(const SearchPlaces&, const SearchPlaces&) = default;
};

SearchPlaces search_places();
// Are these what search_places() would give? Copies nothing: asked before every call of a library.
bool are_current(const SearchPlaces& places);

// The path of the newest `stem`.so.N (then of a plain `stem`.so) in the first place that has one;
// empty when none has. "libnvrtc" does not find libnvrtc-builtins.so.
std::string find_library(const SearchPlaces& places, std::string_view stem);

// libcuda.so.1, and never a libcuda.so: toolkits bring one that only satisfies the linker. When it
// is in none of our places, its plain name, for the dynamic linker to find; empty when CUDA is
// hidden.
std::string find_driver(const SearchPlaces& places);

// Folders with CUDA's own headers (cuda_fp16.h, ...) that belong to the library at `library_path`.
// May be none.
std::vector<std::string> include_folders_of(const std::string& library_path);

// "13.0.48" from ".../libx.so.13" that links to libx.so.13.0.48; empty when the name has no
// version.
std::string version_from_name(const std::string& library_path);

}  // namespace tilewright::cuda
