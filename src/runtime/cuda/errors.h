// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/errors.h — TW_CUDA: a driver call that fails becomes an error that names the call,
// the reason and the kernel.
//
// A kernel that faults is reported by whatever call comes next, on any thread, since launches do
// not wait; from then on every call of that device fails. Such errors become a KernelFault that
// names the kernels launched last.
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "runtime/cuda/driver_api.h"

namespace tilewright::cuda {

// True for errors after which nothing more runs on the device in this process.
bool is_sticky(CUresult result);

// "CUDA_ERROR_INVALID_VALUE (invalid argument)"
std::string describe(CUresult result);

// The kernels launched last on a device. Writing is two plain stores: threads that launch at the
// same time may overwrite each other's entry, which costs a name in a message and nothing else.
// Names must live as long as the process.
class RecentKernels {
 public:
  void note(const char* name) noexcept {
    const unsigned at = next_.load(std::memory_order_relaxed);
    names_[at % names_.size()].store(name, std::memory_order_relaxed);
    next_.store(at + 1, std::memory_order_relaxed);
  }
  // Each name once, the newest first.
  std::vector<const char*> names() const;

 private:
  std::array<std::atomic<const char*>, 8> names_{};
  std::atomic<unsigned> next_{0};
};

RecentKernels& recent_kernels(int device);

// A copy of `name` that lives as long as the process.
const char* permanent_name(const std::string& name);

// The device that this thread's driver calls are for; set by ContextScope.
inline constinit thread_local int active_device = 0;

// `call` is the text of the call. Throws KernelFault for a sticky error, else EnvironmentError.
[[noreturn]] void throw_cuda_error(CUresult result, const char* call);
// A fault that is known to be this kernel's.
[[noreturn]] void throw_kernel_fault(CUresult result, const char* kernel, int device);

}  // namespace tilewright::cuda

#define TW_CUDA(call)                                                                     \
  do {                                                                                    \
    if (const ::tilewright::cuda::CUresult tw_result = ::tilewright::cuda::driver().call; \
        tw_result != ::tilewright::cuda::CUDA_SUCCESS) [[unlikely]]                       \
      ::tilewright::cuda::throw_cuda_error(tw_result, #call);                             \
  } while (false)
