// SPDX-License-Identifier: Apache-2.0
// runtime/components.h — the parts of CUDA that tilewright uses when they are there, and what each
// is for.
#pragma once

#include <string>
#include <vector>

namespace tilewright {

struct ComponentStatus {
  std::string name;     // "NVRTC"
  std::string path;     // empty when it was not found
  std::string version;  // "13.0"; empty when unknown
  std::string purpose;  // what tilewright uses it for
  std::string remedy;   // how to get it
  std::string problem;  // why it cannot be used; empty when it is found and good

  bool is_usable() const { return problem.empty(); }
};

// In a fixed order: driver, NVRTC, CUPTI, cuBLASLt, cuDNN, nvJitLink, nvdisasm. Opens the driver
// and NVRTC to ask their versions, nothing else. Never throws because something is missing.
std::vector<ComponentStatus> cuda_components();

}  // namespace tilewright
