// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/nvrtc_api.h — NVRTC, the library that compiles CUDA source, opened at the first use.
#pragma once

#include <cstddef>
#include <string>

struct _nvrtcProgram;

namespace tilewright::cuda {

using nvrtcProgram = _nvrtcProgram*;

enum nvrtcResult : int {
  NVRTC_SUCCESS = 0,
  NVRTC_ERROR_OUT_OF_MEMORY = 1,
  NVRTC_ERROR_INVALID_OPTION = 5,
  NVRTC_ERROR_COMPILATION = 6,
};

// OP(exported name, result type, parameter types)
// clang-format off
#define TW_NVRTC_FUNCTIONS(OP)                                                                                           \
  OP(nvrtcVersion, nvrtcResult, int*, int*)                                                                              \
  OP(nvrtcGetErrorString, const char*, nvrtcResult)                                                                      \
  OP(nvrtcGetNumSupportedArchs, nvrtcResult, int*)                                                                       \
  OP(nvrtcGetSupportedArchs, nvrtcResult, int*)                                                                          \
  OP(nvrtcCreateProgram, nvrtcResult, nvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*) \
  OP(nvrtcDestroyProgram, nvrtcResult, nvrtcProgram*)                                                                    \
  OP(nvrtcAddNameExpression, nvrtcResult, nvrtcProgram, const char*)                                                     \
  OP(nvrtcCompileProgram, nvrtcResult, nvrtcProgram, int, const char* const*)                                            \
  OP(nvrtcGetProgramLogSize, nvrtcResult, nvrtcProgram, std::size_t*)                                                    \
  OP(nvrtcGetProgramLog, nvrtcResult, nvrtcProgram, char*)                                                               \
  OP(nvrtcGetCUBINSize, nvrtcResult, nvrtcProgram, std::size_t*)                                                         \
  OP(nvrtcGetCUBIN, nvrtcResult, nvrtcProgram, char*)                                                                    \
  OP(nvrtcGetPTXSize, nvrtcResult, nvrtcProgram, std::size_t*)                                                           \
  OP(nvrtcGetPTX, nvrtcResult, nvrtcProgram, char*)                                                                      \
  OP(nvrtcGetLoweredName, nvrtcResult, nvrtcProgram, const char*, const char**)
// clang-format on

struct NvrtcApi {
#define OP(name, result, ...) result (*name)(__VA_ARGS__) = nullptr;
  TW_NVRTC_FUNCTIONS(OP)
#undef OP
  std::string path;
  int major = 0;
  int minor = 0;
};

// Where NVRTC is; empty when there is none or CUDA is hidden. Opens nothing.
std::string nvrtc_path();

// Throws MissingError when there is none that can be used. Opened once per path, then kept.
const NvrtcApi& nvrtc();

}  // namespace tilewright::cuda
