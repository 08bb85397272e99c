// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/kernel.cpp — launches and what can be asked of a kernel.
#include "runtime/cuda/kernel.h"

#include <algorithm>

#include "base/check.h"
#include "base/settings.h"
#include "base/units.h"
#include "runtime/cuda/context.h"
#include "runtime/kernel_graph.h"

namespace tilewright::cuda {
namespace {

constexpr unsigned portable_cluster_size = 8;

unsigned cluster_size(const PreparedLaunch& launch) {
  return launch.cluster[0] * launch.cluster[1] * launch.cluster[2];
}

int function_attribute(CUfunction function, CUfunction_attribute which) {
  int value = 0;
  TW_CUDA(cuFuncGetAttribute(&value, which, function));
  return value;
}

// What a launch may ask for before it is told more: 48 KiB together with the static share.
std::size_t allowed_at_first(CUfunction function) {
  const int free = (48 << 10) - function_attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  const int told = function_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  return static_cast<std::size_t>(std::max(0, std::min(free, told)));
}

}  // namespace

// Asking for attributes makes a driver that loads lazily load the code now, not inside the first
// launch.
Kernel::Kernel(std::shared_ptr<void> module, CUfunction function, const std::string& name,
               int device, int shared_limit)
    : module_(std::move(module)),
      function_(function),
      context_(primary_context(device)),
      name_(permanent_name(name)),
      recent_(recent_kernels(device)),
      device_(device),
      most_shared_(std::max(
          0, shared_limit - function_attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES))),
      is_blocking_(settings().launch_blocking),
      allowed_shared_(allowed_at_first(function)) {}

void Kernel::launch(const PreparedLaunch& launch) {
  CUcontext current = nullptr;
  driver().cuCtxGetCurrent(&current);
  if (current == context_) [[likely]] {
    active_device = device_;
    return launch_here(launch);
  }
  const ContextScope scope(device_);
  launch_here(launch);
}

void Kernel::launch_here(const PreparedLaunch& launch) {
  if (launch.shared_bytes > allowed_shared_.load(std::memory_order_relaxed)) [[unlikely]]
    allow_shared(launch.shared_bytes);
  if (kernel_sink != nullptr) [[unlikely]] {
    if (cluster_size(launch) > portable_cluster_size) allow_large_clusters();
    return kernel_sink->take(function_, launch);
  }
  CUresult result;
  if (!launch.cooperative && cluster_size(launch) == 1) {
    result = driver().cuLaunchKernel(function_, launch.grid[0], launch.grid[1], launch.grid[2],
                                     launch.block[0], launch.block[1], launch.block[2],
                                     launch.shared_bytes, static_cast<CUstream>(launch.stream),
                                     const_cast<void**>(launch.parameters), nullptr);
  } else {
    result = launch_with_attributes(launch);
  }
  if (result != CUDA_SUCCESS) [[unlikely]]
    throw_launch_error(result, launch);
  recent_.note(name_);
  if (is_blocking_) [[unlikely]]
    wait(launch);
}

CUresult Kernel::launch_with_attributes(const PreparedLaunch& launch) {
  CUlaunchAttribute attributes[2] = {};
  unsigned count = 0;
  if (cluster_size(launch) != 1) {
    if (cluster_size(launch) > portable_cluster_size) allow_large_clusters();
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[count++].value.clusterDim = {launch.cluster[0], launch.cluster[1],
                                            launch.cluster[2]};
  }
  if (launch.cooperative) {
    attributes[count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[count++].value.cooperative = 1;
  }
  const CUlaunchConfig config = {.gridDimX = launch.grid[0],
                                 .gridDimY = launch.grid[1],
                                 .gridDimZ = launch.grid[2],
                                 .blockDimX = launch.block[0],
                                 .blockDimY = launch.block[1],
                                 .blockDimZ = launch.block[2],
                                 .sharedMemBytes = launch.shared_bytes,
                                 .hStream = static_cast<CUstream>(launch.stream),
                                 .attrs = attributes,
                                 .numAttrs = count};
  return driver().cuLaunchKernelEx(&config, function_, const_cast<void**>(launch.parameters),
                                   nullptr);
}

// Beyond 48 KiB a kernel must be told once what its blocks may ask for. Telling it the most it can
// have costs nothing: how many blocks fit is decided by what a launch asks.
void Kernel::allow_shared(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(most_shared_))
    throw ArgumentError(fmt::format(
        "kernel '{}' asks for {} of dynamic shared memory; at most {} can be had on cuda:{}", name_,
        format_bytes(bytes), format_bytes(static_cast<std::size_t>(most_shared_)), device_));
  const CaptureTolerance tolerance;
  TW_CUDA(
      cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most_shared_));
  allowed_shared_.store(static_cast<std::size_t>(most_shared_), std::memory_order_relaxed);
}

void Kernel::allow_large_clusters() {
  if (allows_large_clusters_.load(std::memory_order_relaxed)) return;
  const CaptureTolerance tolerance;
  TW_CUDA(cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  allows_large_clusters_.store(true, std::memory_order_relaxed);
}

// TILEWRIGHT_LAUNCH_BLOCKING: a fault now is this kernel's own. A captured launch has not run and
// cannot be waited for.
void Kernel::wait(const PreparedLaunch& launch) {
  const auto stream = static_cast<CUstream>(launch.stream);
  if (is_capturing(stream)) return;
  const CUresult result = driver().cuStreamSynchronize(stream);
  if (is_sticky(result)) throw_kernel_fault(result, name_, device_);
  if (result != CUDA_SUCCESS) throw_cuda_error(result, "cuStreamSynchronize after a launch");
}

void Kernel::throw_launch_error(CUresult result, const PreparedLaunch& launch) {
  if (is_sticky(result)) throw_cuda_error(result, fmt::format("the launch of '{}'", name_).c_str());
  const std::string shape =
      fmt::format("grid {}x{}x{}, block {}x{}x{}, cluster {}x{}x{}, {} of dynamic shared memory",
                  launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0], launch.block[1],
                  launch.block[2], launch.cluster[0], launch.cluster[1], launch.cluster[2],
                  format_bytes(launch.shared_bytes));
  if (result == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
    throw ArgumentError(fmt::format(
        "kernel '{}' cannot be launched with {}: it needs {} registers per thread and runs with "
        "at most {} threads per block",
        name_, shape, attribute(CU_FUNC_ATTRIBUTE_NUM_REGS),
        attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)));
  if (result == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
    throw ArgumentError(fmt::format(
        "kernel '{}' cannot be launched cooperatively with {}: all its blocks must run at the "
        "same time; use a smaller grid",
        name_, shape));
  if (result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_INVALID_CLUSTER_SIZE)
    throw ArgumentError(fmt::format("kernel '{}' cannot be launched on cuda:{} with {}: {}", name_,
                                    device_, shape, describe(result)));
  throw_cuda_error(result, fmt::format("the launch of '{}' with {}", name_, shape).c_str());
}

int Kernel::attribute(CUfunction_attribute which) { return function_attribute(function_, which); }

FunctionAttributes Kernel::attributes() {
  const ContextScope scope(device_);
  const CaptureTolerance tolerance;
  const auto size = [this](CUfunction_attribute which) {
    return static_cast<std::size_t>(attribute(which));
  };
  return {.registers = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS),
          .shared_bytes = size(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
          .local_bytes = size(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
          .constant_bytes = size(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES),
          .max_threads_per_block = attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
          .binary_version = attribute(CU_FUNC_ATTRIBUTE_BINARY_VERSION)};
}

int Kernel::blocks_per_processor(int threads, std::size_t shared_bytes) {
  const ContextScope scope(device_);
  if (shared_bytes > allowed_shared_.load(std::memory_order_relaxed)) allow_shared(shared_bytes);
  const CaptureTolerance tolerance;
  int blocks = 0;
  TW_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function_, threads, shared_bytes));
  return blocks;
}

void Kernel::set_carveout(int percent) {
  if (percent < -1 || percent > 100)
    throw ArgumentError(fmt::format(
        "a shared memory carve-out is 0 to 100 percent, or -1 for the driver's choice; got {}",
        percent));
  const ContextScope scope(device_);
  const CaptureTolerance tolerance;
  TW_CUDA(
      cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, percent));
}

}  // namespace tilewright::cuda
