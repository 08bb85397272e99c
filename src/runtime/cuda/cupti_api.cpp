// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/cupti_api.cpp — finds and opens CUPTI.
#include "runtime/cuda/cupti_api.h"

#include <fmt/format.h>

#include "base/dynamic_library.h"
#include "base/settings.h"
#include "runtime/cuda/cupti_counters.h"
#include "runtime/cuda/library_search.h"
#include "tilewright/error.h"

namespace tilewright::cuda {
namespace {

constexpr const char* cupti_remedy =
    "install a CUDA toolkit of version 12 or 13 or `pip install nvidia-cuda-cupti`";

// 12.x counted from 18 on; since 13.0 the number is that of the toolkit.
bool is_known(std::uint32_t version) {
  return (version >= 18 && version < 100) || version / 10000 == 13;
}

CuptiApi open_cupti() {
  const std::string path = cupti_path();
  if (path.empty())
    throw MissingError(
        settings().hides_cuda()
            ? "CUPTI, which records what a GPU does, is hidden by "
              "TILEWRIGHT_CUDA_HOME=none; unset it to profile the GPU"
            : fmt::format("CUPTI was not found; it records what a GPU does; {}", cupti_remedy));
  std::string error;
  DynamicLibrary library = DynamicLibrary::open(path, &error);
  if (!library)
    throw MissingError(
        fmt::format("CUPTI at {} cannot be opened ({}); {}", path, error, cupti_remedy));
  CuptiApi api;
  std::string missing;
#define OP(name, result, ...) library.look_up(#name, api.name, missing);
  TW_CUPTI_FUNCTIONS(OP)
#undef OP
  if (!missing.empty())
    throw MissingError(fmt::format("CUPTI at {} lacks {}; {}", path, missing, cupti_remedy));
  api.path = path;
  if (api.cuptiGetVersion(&api.version) != CUPTI_SUCCESS || !is_known(api.version))
    throw MissingError(fmt::format("CUPTI at {} has version {}, whose records are unknown here; {}",
                                   path, api.version, cupti_remedy));
  library.leak();
  return api;
}

CuptiCounterApi open_counters() {
  const std::string& path = cupti().path;
  DynamicLibrary library = DynamicLibrary::open(path);
  CuptiCounterApi api;
  std::string missing = library ? "" : "everything";
#define OP(name, params) \
  if (library) library.look_up(#name, api.name, missing);
  TW_CUPTI_COUNTER_FUNCTIONS(OP)
#undef OP
  if (!missing.empty())
    throw MissingError(
        fmt::format("CUPTI at {} cannot read counters by range (it lacks {}); CUDA 12.6 and newer "
                    "can",
                    path, missing));
  library.leak();
  return api;
}

}  // namespace

std::string cupti_path() { return find_library(search_places(), "libcupti"); }

const CuptiApi& cupti() {
  static const CuptiApi api = open_cupti();
  return api;
}

const CuptiCounterApi& cupti_counters() {
  static const CuptiCounterApi api = open_counters();
  return api;
}

}  // namespace tilewright::cuda
