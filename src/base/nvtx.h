// SPDX-License-Identifier: Apache-2.0
// base/nvtx.h — ranges for NVIDIA's tools (nsys, ncu, CUPTI): the client side of NVTX.
//
// A tool that wants ranges names its library in NVTX_INJECTION64_PATH; the library fills in our
// table of functions. Without a tool a range costs one comparison.
#pragma once

#include <string>

namespace tilewright {

// True when a tool takes the range: then nvtx_pop must follow on the same thread.
bool nvtx_push(const std::string& name);
void nvtx_pop();

// Whether launches are named for a tool. Not for `tilewright profile`, which knows them already.
bool nvtx_takes_launches();

// A range around a scope; an empty name is none.
class NvtxScope {
 public:
  explicit NvtxScope(const std::string& name) : is_open_(!name.empty() && nvtx_push(name)) {}
  ~NvtxScope() {
    if (is_open_) nvtx_pop();
  }
  NvtxScope(const NvtxScope&) = delete;
  NvtxScope& operator=(const NvtxScope&) = delete;

 private:
  bool is_open_;
};

}  // namespace tilewright
