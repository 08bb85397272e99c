// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/cudnn_api.cpp — finds and opens cuDNN.
#include "runtime/cuda/cudnn_api.h"

#include <map>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "base/dynamic_library.h"
#include "base/log.h"
#include "runtime/cuda/library_search.h"

namespace tilewright::cuda {
namespace {

constexpr std::size_t known_cudnn = 9;  // whose interface is declared here

std::unique_ptr<CudnnApi> open_cudnn(const std::string& path) {
  const auto refuse = [&](const std::string& reason) {
    warn_once(fmt::format("cuDNN at {} {}: convolutions are made by tilewright's own kernels", path,
                          reason));
    return std::unique_ptr<CudnnApi>();
  };
  std::string error;
  DynamicLibrary library = DynamicLibrary::open(path, &error);
  if (!library) return refuse(fmt::format("cannot be opened ({})", error));
  auto api = std::make_unique<CudnnApi>();
  std::string missing;
#define OP(name, result, ...) library.look_up(#name, api->name, missing);
  TW_CUDNN_FUNCTIONS(OP)
#undef OP
  if (!missing.empty()) return refuse(fmt::format("lacks {}", missing));
  const std::size_t version = api->cudnnGetVersion();
  api->version = fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  if (version / 10000 != known_cudnn)
    return refuse(fmt::format("is version {}, and {} is known", api->version, known_cudnn));
  api->path = path;
  library.leak();
  log_line("libraries", fmt::format("convolutions by cuDNN {} ({})", api->version, path));
  return api;
}

}  // namespace

const CudnnApi* cudnn() {
  static std::mutex mutex;
  static auto& opened = *new std::map<std::string, std::unique_ptr<CudnnApi>>;
  static SearchPlaces last_places;
  static bool is_searched = false;
  static const CudnnApi* last = nullptr;
  const std::lock_guard lock(mutex);
  if (is_searched && are_current(last_places)) return last;
  last_places = search_places();
  is_searched = true;
  const std::string path = find_library(last_places, "libcudnn");
  if (path.empty()) {
    log_line("libraries",
             "cuDNN was not found: convolutions are made by tilewright's own kernels; `pip install "
             "nvidia-cudnn-cu13` for it");
    return last = nullptr;
  }
  if (!opened.contains(path)) opened[path] = open_cudnn(path);
  return last = opened[path].get();
}

}  // namespace tilewright::cuda
