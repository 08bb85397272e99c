// SPDX-License-Identifier: Apache-2.0
// runtime/no_cuda.cpp — a build without the CUDA backend: there is no GPU and no NVRTC.
#include "runtime/backend.h"
#include "runtime/compile.h"
#include "tilewright/error.h"

namespace tilewright {

Backend* cuda_backend(std::string* why) {
  if (why) *why = "this build of tilewright has no CUDA backend";
  return nullptr;
}

std::string nvrtc_identity() {
  throw MissingError("this build of tilewright cannot compile CUDA source");
}

Binary compile_with_nvrtc(const KernelSource&, const Target&) {
  throw MissingError("this build of tilewright cannot compile CUDA source");
}

}  // namespace tilewright
