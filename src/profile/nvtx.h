// SPDX-License-Identifier: Apache-2.0
// profile/nvtx.h — ranges for NVIDIA's tools (nsys, ncu, CUPTI): the client side of NVTX.
//
// A tool that wants ranges names its library in NVTX_INJECTION64_PATH; the library fills in our
// table of functions. Without a tool a range costs one comparison.
#pragma once

#include <string>

namespace tilewright {

// True when a tool takes the range: then nvtx_pop must follow on the same thread.
bool nvtx_push(const std::string& name);
void nvtx_pop();

}  // namespace tilewright
