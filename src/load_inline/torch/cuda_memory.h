// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/cuda_memory.h — the CUDA runtime for a whole program: memory, streams and
// events.
#pragma once

#include "load_inline/torch/cuda_device.h"

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
// One pool, that of the allocator; what programs set of it are hints.
typedef struct CUmemPoolHandle_st* cudaMemPool_t;
enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic,
  cudaMemPoolReuseAllowInternalDependencies,
  cudaMemPoolAttrReleaseThreshold
};
inline cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  *pool = reinterpret_cast<cudaMemPool_t>(16);
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}
inline cudaError_t cudaDeviceSetMemPool(int, cudaMemPool_t) { return cudaSuccess; }
inline cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return cudaSuccess;
}
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
template <class T>
cudaError_t cudaMallocFromPoolAsync(T** address, size_t bytes, cudaMemPool_t, cudaStream_t) {
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
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
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
