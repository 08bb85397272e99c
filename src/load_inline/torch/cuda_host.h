// SPDX-License-Identifier: Apache-2.0
// load_inline/torch/cuda_host.h — the CUDA runtime as host functions use it: launches, streams,
// memory, checks.
#pragma once

#include "load_inline/torch/cuda_launch.h"
#include "load_inline/torch/tensor.h"

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

template <class... Parameters>
void launch(const char* name, void* entry, Parameters&... parameters) {
  const Configuration c = take_configuration(name);
  void* addresses[] = {(void*)__builtin_addressof(parameters)..., nullptr};
  const unsigned long bytes[] = {sizeof(parameters)..., 0};
  TwLaunch request =
      request_of(c, entry, addresses, bytes, static_cast<long>(sizeof...(parameters)));
  request.kernel = name;
  if (!api()->launch(&request)) throw_api_error();
}

}  // namespace tilewright_inline
