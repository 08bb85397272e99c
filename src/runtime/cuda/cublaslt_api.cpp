// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/cublaslt_api.cpp — finds and opens cuBLASLt.
#include "runtime/cuda/cublaslt_api.h"

#include <map>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "base/dynamic_library.h"
#include "base/log.h"
#include "runtime/cuda/library_search.h"

namespace tilewright::cuda {
namespace {

// The interface that is declared here is that of these versions.
constexpr std::size_t oldest_cublaslt = 12, newest_cublaslt = 13;

// 120803 is 12.8.3, 130002 is 13.0.2.
std::string version_text(std::size_t version) {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::unique_ptr<CublasLtApi> open_cublaslt(const std::string& path) {
  const auto refuse = [&](const std::string& reason) {
    warn_once(fmt::format("cuBLASLt at {} {}: products are made by tilewright's own kernels", path,
                          reason));
    return std::unique_ptr<CublasLtApi>();
  };
  std::string error;
  DynamicLibrary library = DynamicLibrary::open(path, &error);
  if (!library) return refuse(fmt::format("cannot be opened ({})", error));
  auto api = std::make_unique<CublasLtApi>();
  std::string missing;
#define OP(name, result, ...) library.look_up(#name, api->name, missing);
  TW_CUBLASLT_FUNCTIONS(OP)
#undef OP
  if (!missing.empty()) return refuse(fmt::format("lacks {}", missing));
  const std::size_t version = api->cublasLtGetVersion();
  if (version / 10000 < oldest_cublaslt || version / 10000 > newest_cublaslt)
    return refuse(fmt::format("is version {}, and {} to {} are known", version_text(version),
                              oldest_cublaslt, newest_cublaslt));
  api->path = path;
  api->version = version_text(version);
  library.leak();
  log_line("libraries", fmt::format("products by cuBLASLt {} ({})", api->version, path));
  return api;
}

}  // namespace

const CublasLtApi* cublaslt() {
  static std::mutex mutex;
  static auto& opened = *new std::map<std::string, std::unique_ptr<CublasLtApi>>;
  static SearchPlaces last_places;
  static bool is_searched = false;
  static const CublasLtApi* last = nullptr;
  const std::lock_guard lock(mutex);
  if (is_searched && are_current(last_places)) return last;
  const SearchPlaces places = search_places();
  const std::string path = find_library(places, "libcublasLt");
  last_places = places;
  is_searched = true;
  if (path.empty()) {
    log_line("libraries",
             "cuBLASLt was not found: products are made by tilewright's own kernels; install a "
             "CUDA toolkit or `pip install nvidia-cublas` for it");
    return last = nullptr;
  }
  if (!opened.contains(path)) opened[path] = open_cublaslt(path);
  return last = opened[path].get();
}

}  // namespace tilewright::cuda
