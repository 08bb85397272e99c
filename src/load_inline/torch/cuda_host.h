// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/cuda_host.h — the CUDA runtime as host functions use it: launches, streams,
// memory, checks.
//
// `k<<<grid, block>>>(x)` is rewritten to `(::tilewright_inline::configure(grid, block), k(x))`,
// and every kernel has a stub of its own name and signature that takes the configuration from
// there, as nvcc does it: overloads, deduced template arguments, default arguments and pointers to
// kernels then follow the rules of C++.
#pragma once

#include "load_inline/torch/tensor.h"

#ifndef TW_EMULATED
#define __global__
#define __host__
#define __device__
#define __constant__
#define __managed__
#define __shared__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
#endif
#ifndef __restrict__
#define TW_RESTRICT __restrict__
#endif
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_LAUNCH_BOUNDS_0
#define C10_LAUNCH_BOUNDS_1(...) __launch_bounds__(__VA_ARGS__)
#define C10_LAUNCH_BOUNDS_2(...) __launch_bounds__(__VA_ARGS__)

// ---- Streams and errors. What the runtime refuses is thrown, so that a returned error is always
// success.

typedef struct CUstream_st* cudaStream_t;
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorUnknown = 999
};
using cudaError = cudaError_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};

namespace tilewright_inline {
inline cudaError_t checked(int is_done) {
  if (!is_done) throw_api_error();
  return cudaSuccess;
}
}  // namespace tilewright_inline

inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "CUDA error";
}
inline const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : "cudaErrorUnknown";
}
inline cudaError_t cudaDeviceSynchronize() {
  return ::tilewright_inline::checked(::tilewright_inline::api()->synchronize());
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaDeviceSynchronize(); }
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = ::tilewright_inline::api()->device_number(0);
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr what, int) {
  *value = ::tilewright_inline::api()->device_number(static_cast<int>(what));
  return cudaSuccess;
}
template <class T>
cudaError_t cudaMalloc(T** address, size_t bytes) {
  return ::tilewright_inline::checked(
      ::tilewright_inline::api()->allocate(reinterpret_cast<void**>(address), bytes));
}
inline cudaError_t cudaFree(void* address) {
  return ::tilewright_inline::checked(::tilewright_inline::api()->release(address));
}
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  return ::tilewright_inline::checked(::tilewright_inline::api()->copy(to, from, bytes));
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t = nullptr) {
  return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaMemset(void* address, int value, size_t bytes) {
  return ::tilewright_inline::checked(::tilewright_inline::api()->fill(address, value, bytes));
}
inline cudaError_t cudaMemsetAsync(void* address, int value, size_t bytes, cudaStream_t = nullptr) {
  return cudaMemset(address, value, bytes);
}
// Launches ask for the shared memory that they use themselves.
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel, cudaFuncAttribute, int) {
  return cudaSuccess;
}

#define C10_CUDA_CHECK(call)                                                            \
  do {                                                                                  \
    const cudaError_t tw_error = (call);                                                \
    TORCH_CHECK(tw_error == cudaSuccess, "CUDA error: ", cudaGetErrorString(tw_error)); \
  } while (false)
#define AT_CUDA_CHECK C10_CUDA_CHECK
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())

namespace c10 {
namespace cuda {
class CUDAStream {
 public:
  CUDAStream(cudaStream_t stream = nullptr) : stream_(stream) {}
  cudaStream_t stream() const { return stream_; }
  operator cudaStream_t() const { return stream_; }
  void synchronize() const { cudaStreamSynchronize(stream_); }

 private:
  cudaStream_t stream_;
};
inline CUDAStream getCurrentCUDAStream(int device = -1) {
  return static_cast<cudaStream_t>(::tilewright_inline::api()->current_stream(device));
}
inline CUDAStream getDefaultCUDAStream(int = -1) { return nullptr; }
inline int current_device() { return 0; }
inline int device_count() { return ::tilewright_inline::api()->device_number(0); }
// Work goes to the device of the call's tensors.
struct CUDAGuard {
  explicit CUDAGuard(int) {}
  explicit CUDAGuard(Device) {}
};
struct OptionalCUDAGuard {
  OptionalCUDAGuard() = default;
  template <class T>
  explicit OptionalCUDAGuard(const T&) {}
};
}  // namespace cuda
struct DeviceGuard {
  explicit DeviceGuard(Device) {}
};
}  // namespace c10
namespace at {
namespace cuda {
using namespace c10::cuda;
struct OptionalCUDAGuard : c10::cuda::OptionalCUDAGuard {
  using c10::cuda::OptionalCUDAGuard::OptionalCUDAGuard;
};
}  // namespace cuda
}  // namespace at
namespace tilewright_tensor {  // Tensor's own: sources call device_of(x) without at::
inline at::Device device_of(const at::Tensor& tensor) { return tensor.device(); }
}  // namespace tilewright_tensor
namespace at {
using tilewright_tensor::device_of;
}  // namespace at

// ---- Launches.

namespace tilewright_inline {

struct Configuration {
  dim3 grid, block;
  unsigned long shared_bytes;
  cudaStream_t stream;
};

// A stack, because the arguments of a launch may contain one.
struct Configurations {
  Configuration waiting[16];
  int count = 0;
};
inline Configurations& configurations() {
  static thread_local Configurations all;
  return all;
}

inline void configure(dim3 grid, dim3 block, unsigned long shared_bytes = 0,
                      cudaStream_t stream = nullptr) {
  Configurations& all = configurations();
  TW_REQUIRE(all.count < 16, "launches are nested too deeply");
  all.waiting[all.count++] = {grid, block, shared_bytes, stream};
}

// The name expression of a kernel; template arguments are added as the compiler spells them.
class KernelName {
 public:
  explicit KernelName(const char* name) { text_.add(name); }
  const char* c_str() {
    if (has_arguments_) text_.add(">");
    has_arguments_ = false;
    return text_.c_str();
  }
  template <class... Types>
  KernelName& types() {
    (add_type<Types>(), ...);
    return *this;
  }
  template <class... Values>
  KernelName& values(const Values&... values) {
    (add_value(values), ...);
    return *this;
  }

 private:
  void separate() {
    text_.add(has_arguments_ ? ", " : "<");
    has_arguments_ = true;
  }
  // "... [with T = float]" by g++, "... [T = float]" by clang++.
  template <class T>
  static const char* spelling() {
    return __PRETTY_FUNCTION__;
  }
  template <class T>
  void add_type() {
    separate();
    const char* begin = spelling<T>();
    for (const char* at = begin; *at; ++at)
      if (at[0] == 'T' && at[1] == ' ' && at[2] == '=' && at[3] == ' ') begin = at + 4;
    unsigned long size = __builtin_strlen(begin) - 1;
    for (const char anonymous[] = "{anonymous}::"; size;) {
      if (size > 13 && __builtin_memcmp(begin, anonymous, 13) == 0) begin += 13, size -= 13;
      text_.add(begin++, 1), --size;
    }
  }
  template <class V>
  void add_value(const V& value) {
    separate();
    if constexpr (IsInteger<V>::value) write(text_, static_cast<long>(value), 0);
    else if constexpr (__is_enum(V)) text_.add_integer(static_cast<long>(value));
    else write(text_, value, 0);
  }
  Text text_;
  bool has_arguments_ = false;
};

template <class... Parameters>
void launch(const char* name, void* entry, Parameters&... parameters) {
  Configurations& all = configurations();
  TW_REQUIRE(all.count > 0, "kernel '", name, "' was called without <<<grid, block>>>");
  const Configuration c = all.waiting[--all.count];
  void* addresses[] = {(void*)__builtin_addressof(parameters)..., nullptr};
  const unsigned long bytes[] = {sizeof(parameters)..., 0};
  const TwLaunch request{name,
                         entry,
                         {c.grid.x, c.grid.y, c.grid.z},
                         {c.block.x, c.block.y, c.block.z},
                         c.shared_bytes,
                         c.stream,
                         addresses,
                         bytes,
                         static_cast<long>(sizeof...(parameters))};
  if (!api()->launch(&request)) throw_api_error();
}

}  // namespace tilewright_inline
