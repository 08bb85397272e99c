// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/cuda_device.h — the CUDA runtime for a whole program: errors, which are
// returned as CUDA returns them, and devices.
#pragma once

#include "load_inline/torch/cuda_abi.h"
#include "load_inline/torch/cuda_launch.h"

#define CUDART_VERSION 12000
#define CUDART_CB

// ---- Errors.

enum cudaError_t : int {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorCudartUnloading = 4,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidPitchValue = 12,
  cudaErrorInvalidSymbol = 13,
  cudaErrorInvalidHostPointer = 16,
  cudaErrorInvalidDevicePointer = 17,
  cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchOutOfResources = 701,
  cudaErrorLaunchTimeout = 702,
  cudaErrorAssert = 710,
  cudaErrorHostMemoryAlreadyRegistered = 712,
  cudaErrorMisalignedAddress = 716,
  cudaErrorLaunchFailure = 719,
  cudaErrorCooperativeLaunchTooLarge = 720,
  cudaErrorNotPermitted = 800,
  cudaErrorNotSupported = 801,
  cudaErrorUnknown = 999
};
using cudaError = cudaError_t;

namespace tilewright_inline {

inline TwCuda*& cuda() {
  static TwCuda* runtime = nullptr;
  return runtime;
}

struct LastError {
  cudaError_t code = cudaSuccess;
  Text unseen_launch;  // why a launch failed, until the program asks
};
inline LastError& last_error() {
  static thread_local LastError last;
  return last;
}

// The result of a call, which also becomes the last error.
inline cudaError_t answered(int code) {
  if (code != cudaSuccess && code != cudaErrorNotReady)
    last_error().code = static_cast<cudaError_t>(code);
  return static_cast<cudaError_t>(code);
}

struct ErrorText {
  int code;
  const char* name;
  const char* text;
};
inline const ErrorText& error_text(int code) {
  static const ErrorText all[] = {
      {0, "cudaSuccess", "no error"},
      {1, "cudaErrorInvalidValue", "invalid argument"},
      {2, "cudaErrorMemoryAllocation", "out of memory"},
      {3, "cudaErrorInitializationError", "initialization error"},
      {4, "cudaErrorCudartUnloading", "driver shutting down"},
      {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
      {12, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
      {13, "cudaErrorInvalidSymbol", "invalid device symbol"},
      {21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
      {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
      {100, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
      {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
      {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
      {600, "cudaErrorNotReady", "device not ready"},
      {700, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
      {701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
      {702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
      {710, "cudaErrorAssert", "device-side assert triggered"},
      {716, "cudaErrorMisalignedAddress", "misaligned address"},
      {719, "cudaErrorLaunchFailure", "unspecified launch failure"},
      {720, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
      {800, "cudaErrorNotPermitted", "operation not permitted"},
      {801, "cudaErrorNotSupported", "operation not supported"},
      {999, "cudaErrorUnknown", "unknown error"}};
  for (const ErrorText& known : all)
    if (known.code == code) return known;
  static const ErrorText unknown = {-1, "unrecognized error code", "unrecognized error code"};
  return unknown;
}

}  // namespace tilewright_inline

inline const char* cudaGetErrorString(cudaError_t error) {
  return ::tilewright_inline::error_text(error).text;
}
inline const char* cudaGetErrorName(cudaError_t error) {
  return ::tilewright_inline::error_text(error).name;
}
inline cudaError_t cudaPeekAtLastError() {
  ::tilewright_inline::last_error().unseen_launch.clear();
  return ::tilewright_inline::last_error().code;
}
inline cudaError_t cudaGetLastError() {
  const cudaError_t code = cudaPeekAtLastError();
  ::tilewright_inline::last_error().code = cudaSuccess;
  return code;
}

// ---- Devices.

enum cudaDeviceAttr : int {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxPitch = 11,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrTextureAlignment = 14,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrKernelExecTimeout = 17,
  cudaDevAttrIntegrated = 18,
  cudaDevAttrCanMapHostMemory = 19,
  cudaDevAttrComputeMode = 20,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrEccEnabled = 32,
  cudaDevAttrPciBusId = 33,
  cudaDevAttrPciDeviceId = 34,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrAsyncEngineCount = 40,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrPciDomainId = 50,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrStreamPrioritiesSupported = 78,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrPageableMemoryAccess = 88,
  cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrReservedSharedMemoryPerBlock = 111,
  cudaDevAttrMemoryPoolsSupported = 115
};

struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment;
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory,
      computeMode, concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver,
      asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize,
      maxThreadsPerMultiProcessor, streamPrioritiesSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, pageableMemoryAccess, concurrentManagedAccess,
      cooperativeLaunch, maxBlocksPerMultiProcessor, memoryPoolsSupported;
  size_t sharedMemPerBlockOptin, reservedSharedMemPerBlock;
};

inline cudaError_t cudaGetDeviceCount(int* count) {
  return ::tilewright_inline::answered(::tilewright_inline::cuda()->device_count(count));
}
namespace tilewright_inline {
inline int& current_device() {
  static thread_local int device = 0;
  return device;
}
}  // namespace tilewright_inline
inline cudaError_t cudaGetDevice(int* device) {
  *device = ::tilewright_inline::current_device();
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int device) {
  const cudaError_t code =
      ::tilewright_inline::answered(::tilewright_inline::cuda()->set_device(device));
  if (code == cudaSuccess) ::tilewright_inline::current_device() = device;
  return code;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr what, int device) {
  return ::tilewright_inline::answered(::tilewright_inline::cuda()->attribute(value, what, device));
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  __builtin_memset(p, 0, sizeof *p);
  const int code =
      ::tilewright_inline::cuda()->describe(p->name, sizeof p->name, &p->totalGlobalMem, device);
  if (code != cudaSuccess) return ::tilewright_inline::answered(code);
  const auto get = [device](auto& field, cudaDeviceAttr what) {
    int value = 0;
    ::tilewright_inline::cuda()->attribute(&value, what, device);
    field = value;
  };
  get(p->sharedMemPerBlock, cudaDevAttrMaxSharedMemoryPerBlock);
  get(p->regsPerBlock, cudaDevAttrMaxRegistersPerBlock);
  get(p->warpSize, cudaDevAttrWarpSize);
  get(p->memPitch, cudaDevAttrMaxPitch);
  get(p->maxThreadsPerBlock, cudaDevAttrMaxThreadsPerBlock);
  get(p->maxThreadsDim[0], cudaDevAttrMaxBlockDimX);
  get(p->maxThreadsDim[1], cudaDevAttrMaxBlockDimY);
  get(p->maxThreadsDim[2], cudaDevAttrMaxBlockDimZ);
  get(p->maxGridSize[0], cudaDevAttrMaxGridDimX);
  get(p->maxGridSize[1], cudaDevAttrMaxGridDimY);
  get(p->maxGridSize[2], cudaDevAttrMaxGridDimZ);
  get(p->clockRate, cudaDevAttrClockRate);
  get(p->totalConstMem, cudaDevAttrTotalConstantMemory);
  get(p->major, cudaDevAttrComputeCapabilityMajor);
  get(p->minor, cudaDevAttrComputeCapabilityMinor);
  get(p->textureAlignment, cudaDevAttrTextureAlignment);
  get(p->multiProcessorCount, cudaDevAttrMultiProcessorCount);
  get(p->kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout);
  get(p->integrated, cudaDevAttrIntegrated);
  get(p->canMapHostMemory, cudaDevAttrCanMapHostMemory);
  get(p->computeMode, cudaDevAttrComputeMode);
  get(p->concurrentKernels, cudaDevAttrConcurrentKernels);
  get(p->ECCEnabled, cudaDevAttrEccEnabled);
  get(p->pciBusID, cudaDevAttrPciBusId);
  get(p->pciDeviceID, cudaDevAttrPciDeviceId);
  get(p->pciDomainID, cudaDevAttrPciDomainId);
  get(p->asyncEngineCount, cudaDevAttrAsyncEngineCount);
  p->deviceOverlap = p->asyncEngineCount > 0;
  get(p->unifiedAddressing, cudaDevAttrUnifiedAddressing);
  get(p->memoryClockRate, cudaDevAttrMemoryClockRate);
  get(p->memoryBusWidth, cudaDevAttrGlobalMemoryBusWidth);
  get(p->l2CacheSize, cudaDevAttrL2CacheSize);
  get(p->maxThreadsPerMultiProcessor, cudaDevAttrMaxThreadsPerMultiProcessor);
  get(p->streamPrioritiesSupported, cudaDevAttrStreamPrioritiesSupported);
  get(p->sharedMemPerMultiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  get(p->regsPerMultiprocessor, cudaDevAttrMaxRegistersPerMultiprocessor);
  get(p->managedMemory, cudaDevAttrManagedMemory);
  get(p->pageableMemoryAccess, cudaDevAttrPageableMemoryAccess);
  get(p->concurrentManagedAccess, cudaDevAttrConcurrentManagedAccess);
  get(p->cooperativeLaunch, cudaDevAttrCooperativeLaunch);
  get(p->maxBlocksPerMultiProcessor, cudaDevAttrMaxBlocksPerMultiprocessor);
  get(p->memoryPoolsSupported, cudaDevAttrMemoryPoolsSupported);
  get(p->sharedMemPerBlockOptin, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  get(p->reservedSharedMemPerBlock, cudaDevAttrReservedSharedMemoryPerBlock);
  return cudaSuccess;
}
inline cudaError_t cudaDeviceSynchronize() {
  return ::tilewright_inline::answered(::tilewright_inline::cuda()->synchronize());
}
inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaDriverGetVersion(int* value) {
  return ::tilewright_inline::answered(::tilewright_inline::cuda()->version(value));
}
inline cudaError_t cudaRuntimeGetVersion(int* value) { return cudaDriverGetVersion(value); }
inline cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {
  return cudaGetDevice(device);
}
inline cudaError_t cudaDeviceCanAccessPeer(int* answer, int, int) {
  *answer = 0;
  return cudaSuccess;
}

// Hints, which change nothing that a program could read back here.
enum cudaFuncCache {
  cudaFuncCachePreferNone,
  cudaFuncCachePreferShared,
  cudaFuncCachePreferL1,
  cudaFuncCachePreferEqual
};
enum cudaSharedMemConfig {
  cudaSharedMemBankSizeDefault,
  cudaSharedMemBankSizeFourByte,
  cudaSharedMemBankSizeEightByte
};
enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1,
  cudaMemAdviseUnsetReadMostly,
  cudaMemAdviseSetPreferredLocation,
  cudaMemAdviseUnsetPreferredLocation,
  cudaMemAdviseSetAccessedBy,
  cudaMemAdviseUnsetAccessedBy
};
enum : unsigned {
  cudaDeviceScheduleAuto = 0,
  cudaDeviceScheduleSpin = 1,
  cudaDeviceScheduleYield = 2,
  cudaDeviceScheduleBlockingSync = 4,
  cudaDeviceBlockingSync = 4,
  cudaDeviceMapHost = 8
};
enum : int { cudaCpuDeviceId = -1, cudaInvalidDeviceId = -2 };
inline cudaError_t cudaSetDeviceFlags(unsigned) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
template <class Kernel>
cudaError_t cudaFuncSetCacheConfig(Kernel, cudaFuncCache) {
  return cudaSuccess;
}
inline cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int) { return cudaSuccess; }
inline cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t = nullptr) {
  return cudaSuccess;
}
enum cudaLimit {
  cudaLimitStackSize,
  cudaLimitPrintfFifoSize,
  cudaLimitMallocHeapSize,
  cudaLimitDevRuntimeSyncDepth,
  cudaLimitDevRuntimePendingLaunchCount,
  cudaLimitMaxL2FetchGranularity,
  cudaLimitPersistingL2CacheSize
};
// Taken and not passed on: on a GPU the limits stay the defaults.
inline cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }
