// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/cuda_backend.cpp — CUDA devices behind the Backend interface.
//
// Nothing is started before it is needed: the backend opens the driver and counts the devices; a
// device's context comes with its first memory, stream or module. Everything lives until the
// process ends, because the driver shuts itself down at a moment that static destructors cannot
// know.
#include <mutex>

#include "base/check.h"
#include "base/settings.h"
#include "runtime/backend.h"
#include "runtime/cuda/allocator.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/errors.h"
#include "runtime/cuda/fill.h"
#include "runtime/cuda/library_search.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/properties.h"
#include "runtime/cuda/tensor_map.h"

namespace tilewright {
namespace cuda {
namespace {

CUstream stream_of(void* native) { return static_cast<CUstream>(native); }
CUevent event_of(void* native) { return static_cast<CUevent>(native); }

// True when the work is done, false when it is not; anything else is an error.
bool is_ready(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return true;
  if (result == CUDA_ERROR_NOT_READY) return false;
  throw_cuda_error(result, call);
}

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(int count) {
    for (int i = 0; i < count; ++i) devices_.push_back(std::make_unique<DeviceState>(i));
  }

  int device_count() override { return static_cast<int>(devices_.size()); }

  const DeviceProperties& properties(int index) override {
    DeviceState& device = at(index);
    std::call_once(device.properties_read, [&] { device.properties = read_properties(index); });
    return device.properties;
  }

  MemoryState memory(int index) override {
    const ContextScope scope(index);
    MemoryState state;
    TW_CUDA(cuMemGetInfo_v2(&state.free, &state.total));
    state.cached = at(index).allocator.cached();
    state.in_use = at(index).allocator.in_use();
    return state;
  }

  void synchronize(int index) override {
    const ContextScope scope(index);
    TW_CUDA(cuCtxSynchronize());
  }

  void release_cached_memory(int index) override { at(index).allocator.release_cached(); }

  void* allocate(std::size_t bytes, int index, MemoryKind kind, void* stream) override {
    return at(index).allocator.allocate(bytes, kind, stream_of(stream));
  }

  // The allocator knows size, kind and first stream of every block.
  void free(void* data, std::size_t, int index, MemoryKind, void*,
            std::span<void* const> other_streams) override {
    at(index).allocator.free(data, other_streams);
  }

  void copy(void* destination, const void* source, std::size_t bytes, int index,
            void* stream) override {
    if (bytes == 0) return;
    const ContextScope scope(index);
    TW_CUDA(cuMemcpyAsync(address_of(destination), address_of(source), bytes, stream_of(stream)));
  }

  void fill(void* destination, std::size_t bytes, std::span<const std::byte> pattern, int index,
            void* stream) override {
    const ContextScope scope(index);
    fill_memory(address_of(destination), bytes, pattern, stream_of(stream));
  }

  // Non-blocking: work on the legacy default stream of the process's other code does not wait for
  // ours, nor ours for it.
  void* create_stream(int index) override {
    const ContextScope scope(index);
    const CaptureTolerance tolerance;
    CUstream stream = nullptr;
    TW_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
  }

  void synchronize_stream(int index, void* stream) override {
    const ContextScope scope(index);
    TW_CUDA(cuStreamSynchronize(stream_of(stream)));
  }

  bool is_stream_idle(int index, void* stream) override {
    const ContextScope scope(index);
    return is_ready(driver().cuStreamQuery(stream_of(stream)), "cuStreamQuery");
  }

  bool is_capturing(int index, void* stream) override {
    const ContextScope scope(index);
    return cuda::is_capturing(stream_of(stream));
  }

  void wait_event(int index, void* stream, void* event) override {
    const ContextScope scope(index);
    TW_CUDA(cuStreamWaitEvent(stream_of(stream), event_of(event), 0));
  }

  int device_of_stream(void* stream) override;

  void* create_event(int index) override {
    const ContextScope scope(index);
    const CaptureTolerance tolerance;
    CUevent event = nullptr;
    TW_CUDA(cuEventCreate(&event, CU_EVENT_DEFAULT));
    return event;
  }

  // An event that cannot be destroyed belongs to a context that faulted or is gone, and went with
  // it.
  void destroy_event(int index, void* event) noexcept override {
    try {
      if (is_driver_shut_down()) return;
      const ContextScope scope(index);
      const CaptureTolerance tolerance;
      driver().cuEventDestroy_v2(event_of(event));
    } catch (const Error&) {
    }
  }

  void record_event(int index, void* event, void* stream) override {
    const ContextScope scope(index);
    TW_CUDA(cuEventRecord(event_of(event), stream_of(stream)));
  }

  void synchronize_event(int index, void* event) override {
    const ContextScope scope(index);
    TW_CUDA(cuEventSynchronize(event_of(event)));
  }

  bool is_event_done(int index, void* event) override {
    const ContextScope scope(index);
    return is_ready(driver().cuEventQuery(event_of(event)), "cuEventQuery");
  }

  double seconds_between(int index, void* start, void* end) override {
    const ContextScope scope(index);
    float milliseconds = 0;
    TW_CUDA(cuEventSynchronize(event_of(end)));
    TW_CUDA(cuEventElapsedTime(&milliseconds, event_of(start), event_of(end)));
    return static_cast<double>(milliseconds) * 1e-3;
  }

  std::unique_ptr<LoadedModule> load(const Binary& binary, const KernelSource& source,
                                     int index) override {
    return load_module(binary, source, properties(index).target, index);
  }

  void encode_tensor_map(const TensorMapRequest& request, TensorMap& map, int index) override {
    if (!properties(index).target.has(Feature::TensorMaps))
      return Backend::encode_tensor_map(request, map, index);
    active_device = index;
    cuda::encode_tensor_map(request, map);
  }

 private:
  struct DeviceState {
    explicit DeviceState(int index) : allocator(index) {}
    Allocator allocator;
    std::once_flag properties_read;
    DeviceProperties properties;
  };

  DeviceState& at(int index) {
    TW_CHECK(index >= 0 && index < device_count(), "device cuda:{} of {}", index, device_count());
    return *devices_[static_cast<std::size_t>(index)];
  }

  std::vector<std::unique_ptr<DeviceState>> devices_;
};

// The device whose primary context is `context`.
int device_of_context(CUcontext context) {
  CUdevice device = 0;
  TW_CUDA(cuCtxPushCurrent_v2(context));
  const CUresult result = driver().cuCtxGetDevice(&device);
  CUcontext popped = nullptr;
  driver().cuCtxPopCurrent_v2(&popped);
  if (result != CUDA_SUCCESS) throw_cuda_error(result, "cuCtxGetDevice");
  return device;
}

int CudaBackend::device_of_stream(void* stream) {
  CUcontext context = nullptr;
  if (stream) TW_CUDA(cuStreamGetCtx(stream_of(stream), &context));
  else TW_CUDA(cuCtxGetCurrent(&context));
  if (!context) return 0;  // no context is current: the default stream of the first device
  const int device = device_of_context(context);
  if (context != primary_context(device))
    throw ArgumentError(
        fmt::format("the stream belongs to a CUDA context of its own on cuda:{}; tilewright works "
                    "in the device's primary context, which "
                    "the CUDA runtime and cuDevicePrimaryCtxRetain use: make the stream there",
                    device));
  return device;
}

// ---- Creation.

constexpr const char* hidden = "CUDA is hidden by TILEWRIGHT_CUDA_HOME=none; unset it to use a GPU";

std::string why_not_opened(const std::string& path, const std::string& error) {
  if (path == "libcuda.so.1" && error.find("cannot open shared object file") != std::string::npos)
    return "the NVIDIA driver (libcuda.so.1) was not found; install it, or start the container "
           "with access to the GPU "
           "(docker run --gpus all)";
  return fmt::format("the NVIDIA driver cannot be used ({}); update it", error);
}

std::string why_not_started(CUresult result, const std::string& path) {
  if (result == CUDA_ERROR_NO_DEVICE)
    return "no NVIDIA GPU is visible to this process; check nvidia-smi and CUDA_VISIBLE_DEVICES";
  if (result == CUDA_ERROR_STUB_LIBRARY)
    return fmt::format(
        "{} is the toolkit's stand-in for linking and not the NVIDIA driver; remove its folder "
        "from "
        "LD_LIBRARY_PATH",
        path);
  return fmt::format(
      "the NVIDIA driver at {} does not start: {}; check nvidia-smi, and restart after a driver "
      "update",
      path, describe(result));
}

// Null when there is no usable GPU, and `why` then says so. Everything that is made lives as long
// as the process.
Backend* create_backend(std::string& why) {
  const std::string path = find_driver(search_places());
  std::string resolved = path;
  if (const std::string error = load_driver(path, driver_table, &resolved); !error.empty()) {
    why = why_not_opened(path, error);
    return nullptr;
  }
  int count = 0;
  CUresult result = driver().cuInit(0);
  if (result == CUDA_SUCCESS) result = driver().cuDeviceGetCount(&count);
  if (result == CUDA_SUCCESS && count == 0) result = CUDA_ERROR_NO_DEVICE;
  if (result != CUDA_SUCCESS) {
    why = why_not_started(result, resolved);
    return nullptr;
  }
  return new CudaBackend(count);
}

}  // namespace
}  // namespace cuda

Backend* cuda_backend(std::string* why) {
  if (settings().hides_cuda()) {
    if (why) *why = cuda::hidden;
    return nullptr;
  }
  struct Creation {
    std::string why;
    Backend* backend = cuda::create_backend(why);
  };
  static const Creation& creation = *new Creation;
  if (why) *why = creation.why;
  return creation.backend;
}

}  // namespace tilewright
