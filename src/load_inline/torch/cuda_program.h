// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/cuda_program.h — the CUDA runtime for a whole program: errors are returned as
// CUDA returns them.
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
inline cudaError_t cudaProfilerStart() { return cudaSuccess; }
inline cudaError_t cudaProfilerStop() { return cudaSuccess; }

// ---- Memory.

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum : unsigned {
  cudaHostAllocDefault = 0,
  cudaHostAllocPortable = 1,
  cudaHostAllocMapped = 2,
  cudaHostAllocWriteCombined = 4,
  cudaMemAttachGlobal = 1,
  cudaMemAttachHost = 2
};

namespace tilewright_inline {
inline cudaError_t allocate(void** address, size_t bytes, int kind) {
  return answered(cuda()->allocate(address, bytes, kind));
}
inline cudaError_t copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                        cudaStream_t stream, int waits) {
  return answered(cuda()->copy(to, from, bytes, kind, stream, waits));
}
inline cudaError_t copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                             size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                             int waits) {
  if (width > to_pitch || width > from_pitch) return answered(cudaErrorInvalidPitchValue);
  for (size_t row = 0; row < height; ++row) {
    const cudaError_t code =
        copy(static_cast<char*>(to) + row * to_pitch,
             static_cast<const char*>(from) + row * from_pitch, width, kind, stream, 0);
    if (code != cudaSuccess) return code;
  }
  return waits ? answered(cuda()->synchronize_stream(stream)) : cudaSuccess;
}
inline cudaError_t fill(void* address, int value, size_t bytes, cudaStream_t stream, int waits) {
  return answered(cuda()->fill(address, value, bytes, stream, waits));
}
template <class T>
cudaError_t symbol_address(const T& symbol, size_t offset, size_t bytes, void** address) {
  const int code = cuda()->symbol(__builtin_addressof(symbol), sizeof(T), address);
  if (code != cudaSuccess) return answered(code);
  if (offset > sizeof(T) || bytes > sizeof(T) - offset) return answered(cudaErrorInvalidValue);
  *address = static_cast<char*>(*address) + offset;
  return cudaSuccess;
}
}  // namespace tilewright_inline

template <class T>
cudaError_t cudaMalloc(T** address, size_t bytes) {
  return ::tilewright_inline::allocate((void**)address, bytes, TwDeviceMemory);
}
template <class T>
cudaError_t cudaMallocAsync(T** address, size_t bytes, cudaStream_t) {
  return cudaMalloc(address, bytes);
}
template <class T>
cudaError_t cudaMallocManaged(T** address, size_t bytes, unsigned = cudaMemAttachGlobal) {
  return ::tilewright_inline::allocate((void**)address, bytes, TwManagedMemory);
}
template <class T>
cudaError_t cudaMallocHost(T** address, size_t bytes, unsigned = 0) {
  return ::tilewright_inline::allocate((void**)address, bytes, TwPinnedMemory);
}
template <class T>
cudaError_t cudaHostAlloc(T** address, size_t bytes, unsigned) {
  return cudaMallocHost(address, bytes);
}
template <class T>
cudaError_t cudaMallocPitch(T** address, size_t* pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return cudaMalloc(address, *pitch * height);
}
inline cudaError_t cudaFree(void* address) {
  return ::tilewright_inline::answered(
      ::tilewright_inline::cuda()->release(address, TwDeviceMemory));
}
inline cudaError_t cudaFreeAsync(void* address, cudaStream_t stream) {
  const int code = ::tilewright_inline::cuda()->synchronize_stream(stream);
  return code != cudaSuccess ? ::tilewright_inline::answered(code) : cudaFree(address);
}
inline cudaError_t cudaFreeHost(void* address) {
  return ::tilewright_inline::answered(
      ::tilewright_inline::cuda()->release(address, TwPinnedMemory));
}
enum : unsigned {
  cudaHostRegisterDefault = 0,
  cudaHostRegisterPortable = 1,
  cudaHostRegisterMapped = 2
};
inline cudaError_t cudaHostRegister(void* address, size_t bytes, unsigned flags) {
  return ::tilewright_inline::answered(::tilewright_inline::cuda()->pin(address, bytes, flags));
}
inline cudaError_t cudaHostUnregister(void* address) {
  return ::tilewright_inline::answered(::tilewright_inline::cuda()->unpin(address));
}
template <class T>
cudaError_t cudaHostGetDevicePointer(T** device, void* host, unsigned) {
  *device = (T*)host;
  return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return ::tilewright_inline::answered(::tilewright_inline::cuda()->memory(free, total));
}
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return ::tilewright_inline::copy(to, from, bytes, kind, nullptr, 1);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream = nullptr) {
  return ::tilewright_inline::copy(to, from, bytes, kind, stream, 0);
}
inline cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                size_t width, size_t height, cudaMemcpyKind kind) {
  return ::tilewright_inline::copy_rows(to, to_pitch, from, from_pitch, width, height, kind,
                                        nullptr, 1);
}
inline cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                     size_t width, size_t height, cudaMemcpyKind kind,
                                     cudaStream_t stream = nullptr) {
  return ::tilewright_inline::copy_rows(to, to_pitch, from, from_pitch, width, height, kind, stream,
                                        0);
}
inline cudaError_t cudaMemset(void* address, int value, size_t bytes) {
  return ::tilewright_inline::fill(address, value, bytes, nullptr, 1);
}
inline cudaError_t cudaMemsetAsync(void* address, int value, size_t bytes,
                                   cudaStream_t stream = nullptr) {
  return ::tilewright_inline::fill(address, value, bytes, stream, 0);
}
inline cudaError_t cudaMemset2D(void* address, size_t pitch, int value, size_t width,
                                size_t height) {
  for (size_t row = 0; row < height; ++row) {
    const cudaError_t code = cudaMemset(static_cast<char*>(address) + row * pitch, value, width);
    if (code != cudaSuccess) return code;
  }
  return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes,
                                    size_t offset = 0, cudaMemcpyKind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr, int waits = 0) {
  void* to = nullptr;
  const cudaError_t code = ::tilewright_inline::symbol_address(symbol, offset, bytes, &to);
  return code != cudaSuccess
             ? code
             : ::tilewright_inline::copy(to, from, bytes, cudaMemcpyDefault, stream, waits);
}
template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, nullptr, 1);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                      cudaMemcpyKind = cudaMemcpyDeviceToHost,
                                      cudaStream_t stream = nullptr, int waits = 0) {
  void* from = nullptr;
  const cudaError_t code = ::tilewright_inline::symbol_address(symbol, offset, bytes, &from);
  return code != cudaSuccess
             ? code
             : ::tilewright_inline::copy(to, from, bytes, cudaMemcpyDefault, stream, waits);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, nullptr, 1);
}
template <class P, class T>
cudaError_t cudaGetSymbolAddress(P** address, const T& symbol) {
  return ::tilewright_inline::symbol_address(symbol, 0, 0, (void**)address);
}
template <class T>
cudaError_t cudaGetSymbolSize(size_t* bytes, const T&) {
  *bytes = sizeof(T);
  return cudaSuccess;
}

enum cudaMemoryType {
  cudaMemoryTypeUnregistered,
  cudaMemoryTypeHost,
  cudaMemoryTypeDevice,
  cudaMemoryTypeManaged
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
};
inline cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* out, const void* address) {
  int kind = -1;
  const int code = ::tilewright_inline::cuda()->memory_kind(address, &kind);
  if (code != cudaSuccess) return ::tilewright_inline::answered(code);
  void* const data = const_cast<void*>(address);
  *out = {kind == TwDeviceMemory    ? cudaMemoryTypeDevice
          : kind == TwPinnedMemory  ? cudaMemoryTypeHost
          : kind == TwManagedMemory ? cudaMemoryTypeManaged
                                    : cudaMemoryTypeUnregistered,
          ::tilewright_inline::current_device(), kind < 0 ? nullptr : data,
          kind == TwDeviceMemory ? nullptr : data};
  return cudaSuccess;
}

// ---- Streams and events.

typedef struct CUevent_st* cudaEvent_t;
enum : unsigned {
  cudaStreamDefault = 0,
  cudaStreamNonBlocking = 1,
  cudaEventDefault = 0,
  cudaEventBlockingSync = 1,
  cudaEventDisableTiming = 2
};
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return ::tilewright_inline::answered(
      ::tilewright_inline::cuda()->create_stream((void**)stream, flags));
}
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return ::tilewright_inline::answered(::tilewright_inline::cuda()->destroy_stream(stream));
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return ::tilewright_inline::answered(::tilewright_inline::cuda()->synchronize_stream(stream));
}
inline cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return ::tilewright_inline::answered(::tilewright_inline::cuda()->query_stream(stream));
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned = 0) {
  return ::tilewright_inline::answered(::tilewright_inline::cuda()->wait_event(stream, event));
}
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void*, size_t = 0, unsigned = 0) {
  return cudaSuccess;
}
typedef void (*cudaHostFn_t)(void* data);
inline cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return ::tilewright_inline::answered(
      ::tilewright_inline::cuda()->call_host(stream, function, data));
}
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void* data);
inline cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function,
                                         void* data, unsigned) {
  struct Call {
    cudaStream_t stream;
    cudaStreamCallback_t function;
    void* data;
  };
  return cudaLaunchHostFunc(
      stream,
      [](void* given) {
        Call* const call = static_cast<Call*>(given);
        call->function(call->stream, cudaSuccess, call->data);
        delete call;
      },
      new Call{stream, function, data});
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return ::tilewright_inline::answered(
      ::tilewright_inline::cuda()->create_event((void**)event, flags));
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags = cudaEventDefault) {
  return cudaEventCreateWithFlags(event, flags);
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return ::tilewright_inline::answered(::tilewright_inline::cuda()->destroy_event(event));
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr) {
  return ::tilewright_inline::answered(::tilewright_inline::cuda()->record_event(event, stream));
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return ::tilewright_inline::answered(::tilewright_inline::cuda()->synchronize_event(event));
}
inline cudaError_t cudaEventQuery(cudaEvent_t event) {
  return ::tilewright_inline::answered(::tilewright_inline::cuda()->query_event(event));
}
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return ::tilewright_inline::answered(
      ::tilewright_inline::cuda()->elapsed(milliseconds, start, end));
}

// ---- Kernels.

namespace tilewright_inline {

// Every kernel that the text can launch, templates by instance; in a list before main runs.
struct KernelRecord {
  const void* stub;
  Text name;
  void* entry;
  KernelRecord* next;
  static KernelRecord*& first() {
    static KernelRecord* list = nullptr;
    return list;
  }
  KernelRecord(const void* stub, const char* text, void* entry)
      : stub(stub), entry(entry), next(first()) {
    name.add(text);
    first() = this;
  }
};
template <auto stub, class Name, class Entry>
struct Registered {
  static KernelRecord record;
};
template <auto stub, class Name, class Entry>
KernelRecord Registered<stub, Name, Entry>::record((const void*)stub, Name{}().c_str(),
                                                   (void*)Entry{}());

// The variables of the device, by the addresses that the host's text has.
struct SymbolRecord {
  const void* shadow;
  const char* name;
  unsigned long bytes;
  SymbolRecord* next;
  static SymbolRecord*& first() {
    static SymbolRecord* list = nullptr;
    return list;
  }
  SymbolRecord(const void* shadow, const char* name, unsigned long bytes)
      : shadow(shadow), name(name), bytes(bytes), next(first()) {
    first() = this;
  }
};

inline cudaError_t launch_kernel(const void* stub, const TwLaunch& request, int is_cooperative) {
  const int code = cuda()->launch(stub, &request, is_cooperative);
  if (code != cudaSuccess && last_error().unseen_launch.size() == 0)
    last_error().unseen_launch.add(cuda()->sentence());
  return answered(code);
}

template <auto stub, class Name, class Entry, class... Parameters>
void launch_registered(Name, Entry, Parameters&... parameters) {
  const KernelRecord& record = Registered<stub, Name, Entry>::record;
  const Configuration c = take_configuration(record.name.c_str());
  void* addresses[] = {(void*)__builtin_addressof(parameters)..., nullptr};
  const unsigned long bytes[] = {sizeof(parameters)..., 0};
  TwLaunch request =
      request_of(c, record.entry, addresses, bytes, static_cast<long>(sizeof...(parameters)));
  request.kernel = record.name.c_str();
  launch_kernel(record.stub, request, 0);
}

template <class Kernel>
long kernel_number(Kernel kernel, int what, int threads, size_t shared_bytes, int* code) {
  long value = 0;
  *code = cuda()->kernel_number(&value, (const void*)kernel, what, threads, shared_bytes);
  return value;
}

template <class Kernel>
cudaError_t launch_by_address(Kernel kernel, const Configuration& c, void** arguments,
                              int is_cooperative) {
  const TwLaunch request = request_of(c, nullptr, arguments, nullptr, -1);
  return launch_kernel((const void*)kernel, request, is_cooperative);
}

}  // namespace tilewright_inline

template <class Kernel>
cudaError_t cudaLaunchKernel(Kernel kernel, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  return ::tilewright_inline::launch_by_address(kernel, {grid, block, shared_bytes, stream},
                                                arguments, 0);
}
template <class Kernel>
cudaError_t cudaLaunchCooperativeKernel(Kernel kernel, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes = 0, cudaStream_t stream = nullptr) {
  return ::tilewright_inline::launch_by_address(kernel, {grid, block, shared_bytes, stream},
                                                arguments, 1);
}

struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, maxDynamicSharedSizeBytes;
};
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* out, Kernel kernel) {
  int code = 0;
  const auto get = [&](auto& field, int what) {
    int one = 0;
    field = ::tilewright_inline::kernel_number(kernel, what, 0, 0, &one);
    if (one != cudaSuccess) code = one;
  };
  *out = {};
  get(out->sharedSizeBytes, TwStaticSharedBytes);
  get(out->constSizeBytes, TwConstantBytes);
  get(out->localSizeBytes, TwLocalBytes);
  get(out->maxThreadsPerBlock, TwMaxThreads);
  get(out->numRegs, TwRegisters);
  get(out->binaryVersion, TwBinaryVersion);
  out->ptxVersion = out->binaryVersion;
  return ::tilewright_inline::answered(code);
}
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
// Launches ask for the shared memory that they use themselves.
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel, cudaFuncAttribute, int) {
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel kernel, int threads,
                                                          size_t shared_bytes) {
  int code = 0;
  *blocks = static_cast<int>(::tilewright_inline::kernel_number(kernel, TwBlocksPerProcessor,
                                                                threads, shared_bytes, &code));
  return ::tilewright_inline::answered(code);
}
// The largest of the block sizes with the most resident threads, in whole warps.
template <class Kernel, class SharedBytes>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, Kernel kernel,
                                                           SharedBytes shared_bytes_of,
                                                           int limit = 0) {
  int code = 0, processors = 0, most = 0;
  const int largest =
      static_cast<int>(::tilewright_inline::kernel_number(kernel, TwMaxThreads, 0, 0, &code));
  if (code != cudaSuccess) return ::tilewright_inline::answered(code);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount,
                         ::tilewright_inline::current_device());
  *grid = *block = 0;
  for (int threads = limit > 0 && limit < largest ? limit : largest; threads > 0;
       threads = (threads - 1) / 32 * 32) {
    int blocks = 0;
    const cudaError_t asked = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, kernel, threads, shared_bytes_of(threads));
    if (asked != cudaSuccess) return asked;
    if (blocks * threads <= most) continue;
    most = blocks * threads;
    *block = threads;
    *grid = blocks * processors;
  }
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, Kernel kernel,
                                               size_t shared_bytes = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
      grid, block, kernel, [shared_bytes](int) { return shared_bytes; }, limit);
}

// ---- The program's entry.

namespace tilewright_inline {

inline int call_main(int (*main)(), TwProgram&) { return main(); }
inline int call_main(void (*main)(), TwProgram&) { return main(), 0; }
inline int call_main(int (*main)(int, char**), TwProgram& p) {
  return main(p.argument_count, p.arguments);
}
inline int call_main(int (*main)(int, const char**), TwProgram& p) {
  return main(p.argument_count, const_cast<const char**>(p.arguments));
}

template <class Main>
void run_program(TwProgram& program, Main main) {
  cuda() = program.cuda;
  if (program.step == TwProgram::Define) {
    for (KernelRecord* k = KernelRecord::first(); k; k = k->next)
      program.cuda->define_kernel(k->stub, k->name.c_str(), k->entry);
    for (SymbolRecord* s = SymbolRecord::first(); s; s = s->next)
      program.cuda->define_symbol(s->shadow, s->name, s->bytes);
    return;
  }
  try {
    program.result = call_main(main, program);
    if (last_error().unseen_launch.size() > 0) program.unseen(last_error().unseen_launch.c_str());
  } catch (const std::exception& error) {
    program.has_failed = 1;
    program.fails(error.what());
  } catch (...) {
    program.has_failed = 1;
    program.fails("it threw something that is not a std::exception");
  }
}

}  // namespace tilewright_inline
