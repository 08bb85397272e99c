// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/kernel.h — one kernel of a loaded module.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "runtime/backend.h"
#include "runtime/cuda/driver_api.h"
#include "runtime/cuda/errors.h"

namespace tilewright::cuda {

class Kernel final : public LoadedKernel {
 public:
  // `module` keeps the code loaded. The device's context must be current.
  Kernel(std::shared_ptr<void> module, CUfunction function, const std::string& name, int device,
         int shared_limit);

  // A warm launch: one look at the current context, one comparison of sizes, the driver's launch,
  // two plain stores.
  void launch(const PreparedLaunch& launch) override;
  FunctionAttributes attributes() override;
  int blocks_per_processor(int threads, std::size_t shared_bytes) override;
  void set_carveout(int percent) override;

 private:
  void launch_here(const PreparedLaunch& launch);
  CUresult launch_with_attributes(const PreparedLaunch& launch);
  void allow_shared(std::size_t bytes);
  void allow_large_clusters();
  void wait(const PreparedLaunch& launch);
  [[noreturn]] void throw_launch_error(CUresult result, const PreparedLaunch& launch);
  int attribute(CUfunction_attribute which);

  const std::shared_ptr<void> module_;
  const CUfunction function_;
  const CUcontext context_;
  const char* const name_;
  RecentKernels& recent_;
  const int device_;
  const int most_shared_;  // dynamic: what a block may have less the kernel's static share
  const bool is_blocking_;
  std::atomic<std::size_t> allowed_shared_;
  std::atomic<bool> allows_large_clusters_{false};
};

}  // namespace tilewright::cuda
