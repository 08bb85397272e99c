// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/nvrtc_api.cpp — finds and opens NVRTC.
#include "runtime/cuda/nvrtc_api.h"

#include <map>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "base/dynamic_library.h"
#include "base/settings.h"
#include "runtime/cuda/library_search.h"
#include "tilewright/error.h"

namespace tilewright::cuda {
namespace {

constexpr const char* nvrtc_remedy =
    "install it with `apt install nvidia-cuda-toolkit` or `pip install nvidia-cuda-nvrtc`, or set "
    "TILEWRIGHT_CUDA_HOME to a "
    "CUDA toolkit of version 12 or newer";

[[noreturn]] void throw_missing() {
  if (settings().hides_cuda())
    throw MissingError(
        "NVRTC, which compiles CUDA source, is hidden by TILEWRIGHT_CUDA_HOME=none; unset it to "
        "use NVRTC");
  throw MissingError(fmt::format("NVRTC was not found; it compiles CUDA source; {}", nvrtc_remedy));
}

std::unique_ptr<NvrtcApi> open_nvrtc(const std::string& path) {
  std::string error;
  DynamicLibrary library = DynamicLibrary::open(path, &error);
  if (!library)
    throw MissingError(
        fmt::format("NVRTC at {} cannot be opened ({}); {}", path, error, nvrtc_remedy));
  auto api = std::make_unique<NvrtcApi>();
  std::string missing;
#define OP(name, result, ...) library.look_up(#name, api->name, missing);
  TW_NVRTC_FUNCTIONS(OP)
#undef OP
  if (!missing.empty())
    throw MissingError(fmt::format("NVRTC at {} lacks {}; {}", path, missing, nvrtc_remedy));
  api->path = path;
  if (api->nvrtcVersion(&api->major, &api->minor) != NVRTC_SUCCESS || api->major < 12)
    throw MissingError(
        fmt::format("NVRTC at {} is version {}.{}, and 12.0 is the oldest that works; {}", path,
                    api->major, api->minor, nvrtc_remedy));
  library.leak();
  return api;
}

}  // namespace

std::string nvrtc_path() {
  static std::mutex mutex;
  static SearchPlaces last_places;
  static std::string last_path;
  const SearchPlaces places = search_places();
  const std::lock_guard lock(mutex);
  if (last_path.empty() || !(places == last_places)) {
    last_path = find_library(places, "libnvrtc");
    last_places = places;
  }
  return last_path;
}

const NvrtcApi& nvrtc() {
  const std::string path = nvrtc_path();
  if (path.empty()) throw_missing();
  // Opened libraries stay for the life of the process, also while static objects are destroyed.
  static std::mutex mutex;
  static auto& opened = *new std::map<std::string, std::unique_ptr<NvrtcApi>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<NvrtcApi>& api = opened[path];
  if (!api) api = open_nvrtc(path);
  return *api;
}

}  // namespace tilewright::cuda
