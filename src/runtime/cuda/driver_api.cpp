// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/driver_api.cpp — opens libcuda.so.1 and looks up its functions.
#include "runtime/cuda/driver_api.h"

#include <dlfcn.h>

#include <fmt/format.h>

#include "base/dynamic_library.h"

namespace tilewright::cuda {
namespace {

// The file that a symbol came from: the library may have been opened by its soname.
std::string file_of(const void* symbol, const std::string& otherwise) {
  Dl_info info;
  return symbol && dladdr(symbol, &info) && info.dli_fname ? info.dli_fname : otherwise;
}

constexpr int oldest_version = 12000;

int version_of(const DriverApi& api) {
  int version = 0;
  return api.cuDriverGetVersion && api.cuDriverGetVersion(&version) == CUDA_SUCCESS ? version : 0;
}

}  // namespace

std::string load_driver(const std::string& path, DriverApi& api, std::string* resolved_path) {
  std::string error;
  DynamicLibrary library = DynamicLibrary::open(path, &error);
  if (!library) return error;
  DriverApi found;
  std::string missing;
#define OP(name, ...) library.look_up(#name, found.name, missing);
#include "runtime/cuda/driver_functions.def"
#undef OP
  const std::string file = file_of(reinterpret_cast<const void*>(found.cuInit), path);
  if (resolved_path) *resolved_path = file;
  if (const int version = version_of(found); version > 0 && version < oldest_version)
    return fmt::format("{} supports CUDA {}.{}, and 12.0 is the oldest that works", file,
                       version / 1000, version % 1000 / 10);
  if (!missing.empty()) return fmt::format("{} lacks {}", file, missing);
  library.leak();
  api = found;
  return "";
}

std::string driver_path() { return file_of(reinterpret_cast<const void*>(driver().cuInit), ""); }

}  // namespace tilewright::cuda
