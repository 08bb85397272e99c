// SPDX-License-Identifier: Apache-2.0
// load_inline/cuda_runtime_gpu.cpp — the CUDA runtime on a GPU: calls of the driver, whose error
// numbers are the runtime's.
#include <fmt/format.h>

#include "load_inline/cuda_runtime.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/errors.h"
#include "runtime/launch_limits.h"

namespace tilewright {
namespace {

using namespace cuda;

class GpuCuda final : public CudaRuntime {
 public:
  GpuCuda(int device, std::function<std::unique_ptr<LoadedModule>(const CudaRuntime&)> load)
      : device_(device), load_(std::move(load)) {
    make_current();
  }

  int allocate(void** address, unsigned long bytes, int kind) override {
    make_current();
    *address = nullptr;
    if (bytes == 0) return cuda_error::success;
    CUdeviceptr memory = 0;
    const CUresult result =
        kind == TwPinnedMemory    ? driver().cuMemHostAlloc(address, bytes, host_flags)
        : kind == TwManagedMemory ? driver().cuMemAllocManaged(&memory, bytes, CU_MEM_ATTACH_GLOBAL)
                                  : driver().cuMemAlloc_v2(&memory, bytes);
    if (result != CUDA_SUCCESS) return failed(result, "allocating memory");
    if (kind != TwPinnedMemory) *address = pointer_of(memory);
    note_memory(*address, {bytes, kind});
    return cuda_error::success;
  }

  int release(void* address, int kind) override {
    make_current();
    Block block;
    if (address == nullptr) return cuda_error::success;
    if (!forget_memory(address, kind, &block))
      return refuse(cuda_error::invalid_value, "the address to free was not allocated");
    return answer(kind == TwPinnedMemory ? driver().cuMemFreeHost(address)
                                         : driver().cuMemFree_v2(address_of(address)),
                  "freeing memory");
  }

  int pin(void* address, unsigned long bytes, unsigned flags) override {
    make_current();
    return answer(driver().cuMemHostRegister_v2(address, bytes, flags), "pinning memory");
  }
  int unpin(void* address) override {
    make_current();
    return answer(driver().cuMemHostUnregister(address), "unpinning memory");
  }

  int copy(void* to, const void* from, unsigned long bytes, int, void* stream, int waits) override {
    make_current();
    if (bytes == 0) return cuda_error::success;
    const CUresult result =
        driver().cuMemcpyAsync(address_of(to), address_of(from), bytes, stream_of(stream));
    if (result != CUDA_SUCCESS) return failed(result, "copying memory");
    return waits ? synchronize_stream(stream) : cuda_error::success;
  }

  int fill(void* address, int value, unsigned long bytes, void* stream, int waits) override {
    make_current();
    if (bytes == 0) return cuda_error::success;
    const CUresult result = driver().cuMemsetD8Async(
        address_of(address), static_cast<unsigned char>(value), bytes, stream_of(stream));
    if (result != CUDA_SUCCESS) return failed(result, "setting memory");
    return waits ? synchronize_stream(stream) : cuda_error::success;
  }

  int symbol(const void* shadow, unsigned long, void** address) override {
    return guarded([&] {
      const auto found = symbols().find(shadow);
      if (found == symbols().end())
        return refuse(cuda_error::invalid_symbol,
                      "the variable is not a __device__ or __constant__ variable of the program");
      *address = module().variable("&" + found->second.name);
      return *address ? cuda_error::success
                      : refuse(cuda_error::invalid_symbol,
                               fmt::format("the device has no variable '{}'", found->second.name));
    });
  }

  int memory(unsigned long* free, unsigned long* total) override {
    make_current();
    return answer(driver().cuMemGetInfo_v2(free, total), "asking for memory");
  }

  // ---- Streams and events.

  int create_stream(void** stream, unsigned flags) override {
    make_current();
    return answer(driver().cuStreamCreate(reinterpret_cast<CUstream*>(stream), flags),
                  "creating a stream");
  }
  int destroy_stream(void* stream) override {
    make_current();
    return answer(driver().cuStreamDestroy_v2(stream_of(stream)), "destroying a stream");
  }
  int synchronize_stream(void* stream) override {
    make_current();
    return answer(driver().cuStreamSynchronize(stream_of(stream)), "waiting for a stream");
  }
  int query_stream(void* stream) override {
    make_current();
    return answer(driver().cuStreamQuery(stream_of(stream)), "asking a stream");
  }
  int wait_event(void* stream, void* event) override {
    make_current();
    return answer(driver().cuStreamWaitEvent(stream_of(stream), event_of(event), 0),
                  "waiting for an event");
  }
  int call_host(void* stream, void (*function)(void*), void* data) override {
    make_current();
    return answer(driver().cuLaunchHostFunc(stream_of(stream), function, data),
                  "queueing a host function");
  }
  int create_event(void** event, unsigned flags) override {
    make_current();
    return answer(driver().cuEventCreate(reinterpret_cast<CUevent*>(event), flags),
                  "creating an event");
  }
  int destroy_event(void* event) override {
    make_current();
    return answer(driver().cuEventDestroy_v2(event_of(event)), "destroying an event");
  }
  int record_event(void* event, void* stream) override {
    make_current();
    return answer(driver().cuEventRecord(event_of(event), stream_of(stream)), "recording an event");
  }
  int synchronize_event(void* event) override {
    make_current();
    return answer(driver().cuEventSynchronize(event_of(event)), "waiting for an event");
  }
  int query_event(void* event) override {
    make_current();
    return answer(driver().cuEventQuery(event_of(event)), "asking an event");
  }
  int elapsed(float* milliseconds, void* start, void* end) override {
    make_current();
    return answer(driver().cuEventElapsedTime(milliseconds, event_of(start), event_of(end)),
                  "the time between events");
  }

  // ---- The device.

  int synchronize() override {
    make_current();
    return answer(driver().cuCtxSynchronize(), "waiting for the device");
  }
  // One device runs the program: the one that was asked for, which it sees as device 0.
  int device_count(int* count) override {
    *count = 1;
    return cuda_error::success;
  }
  int set_device(int device) override {
    return device == 0 ? cuda_error::success
                       : refuse(cuda_error::invalid_device, "the program has one device, 0");
  }
  int attribute(int* value, int what, int device) override {
    if (device != 0) return set_device(device);
    return answer(
        driver().cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(what), device_),
        "asking for an attribute");
  }
  int describe(char* name, unsigned long name_bytes, unsigned long* memory, int device) override {
    if (device != 0) return set_device(device);
    const CUresult result = driver().cuDeviceGetName(name, static_cast<int>(name_bytes), device_);
    if (result != CUDA_SUCCESS) return failed(result, "asking for the device's name");
    return answer(driver().cuDeviceTotalMem_v2(memory, device_), "asking for memory");
  }
  int version(int* value) override {
    return answer(driver().cuDriverGetVersion(value), "asking for the version");
  }

  // ---- Kernels.

  int kernel_number(long* value, const void* stub, int what, int threads,
                    unsigned long shared_bytes) override {
    return guarded([&] {
      Loaded* const kernel = loaded(stub);
      if (kernel == nullptr) return no_kernel();
      if (what == TwBlocksPerProcessor) {
        *value = kernel->kernel->blocks_per_processor(threads, shared_bytes);
        return cuda_error::success;
      }
      const FunctionAttributes attributes = kernel->kernel->attributes();
      *value = what == TwRegisters           ? attributes.registers
               : what == TwStaticSharedBytes ? static_cast<long>(attributes.shared_bytes)
               : what == TwLocalBytes        ? static_cast<long>(attributes.local_bytes)
               : what == TwConstantBytes     ? static_cast<long>(attributes.constant_bytes)
               : what == TwMaxThreads        ? attributes.max_threads_per_block
                                             : attributes.binary_version;
      return cuda_error::success;
    });
  }

  int launch(const void* stub, const TwLaunch* request, int is_cooperative) override {
    const int code = guarded([&] {
      Loaded* const kernel = loaded(stub);
      if (kernel == nullptr) return no_kernel();
      check_sizes(*request, *kernel);
      kernel->kernel->launch({{request->grid[0], request->grid[1], request->grid[2]},
                              {request->block[0], request->block[1], request->block[2]},
                              {1, 1, 1},
                              static_cast<std::uint32_t>(request->shared_bytes),
                              is_cooperative != 0,
                              request->stream,
                              request->parameters});
      return cuda_error::success;
    });
    return code == cuda_error::invalid_value ? cuda_error::invalid_configuration : code;
  }

  std::string finish() override {
    return synchronize() == cuda_error::success ? std::string() : std::string(sentence());
  }

 private:
  struct Loaded {
    std::string name;
    std::unique_ptr<LoadedKernel> kernel;
    LaunchLimits limits;
  };
  static constexpr unsigned host_flags = 1 | 2;  // portable and mapped

  static CUstream stream_of(void* native) { return static_cast<CUstream>(native); }
  static CUevent event_of(void* native) { return static_cast<CUevent>(native); }

  // Threads of the program start without a context.
  void make_current() const {
    static thread_local bool is_current = false;
    if (is_current) return;
    driver().cuCtxSetCurrent(primary_context(device_));
    active_device = device_;
    is_current = true;
  }
  static int failed(CUresult result, const char* what) {
    return refuse(static_cast<int>(result), fmt::format("{}: {}", what, describe_result(result)));
  }
  static std::string describe_result(CUresult result) { return cuda::describe(result); }
  static int answer(CUresult result, const char* what) {
    return result == CUDA_SUCCESS ? cuda_error::success : failed(result, what);
  }
  static int no_kernel() {
    return refuse(cuda_error::invalid_function, "the address is not that of a kernel");
  }

  LoadedModule& module() {
    std::call_once(loading_, [&] { module_ = load_(*this); });
    return *module_;
  }

  Loaded* loaded(const void* stub) {
    make_current();
    const std::lock_guard lock(mutex_);
    const auto known = loaded_.find(stub);
    if (known != loaded_.end()) return &known->second;
    const auto found = kernels().find(stub);
    if (found == kernels().end()) return nullptr;
    std::unique_ptr<LoadedKernel> kernel = module().kernel(found->second.name);
    if (!kernel) return nullptr;
    const LaunchLimits limits = launch_limits(Device::cuda(device_), *kernel);
    return &loaded_.emplace(stub, Loaded{found->second.name, std::move(kernel), limits})
                .first->second;
  }

  static void check_sizes(const TwLaunch& request, const Loaded& kernel) {
    const LaunchSizes sizes = {{request.grid[0], request.grid[1], request.grid[2]},
                               {request.block[0], request.block[1], request.block[2]},
                               {1, 1, 1},
                               static_cast<std::int64_t>(request.shared_bytes)};
    if (sizes.is_empty())
      throw ArgumentError(
          fmt::format("kernel '{}' cannot be launched with a grid of {} x {} x {} "
                      "blocks",
                      kernel.name, request.grid[0], request.grid[1], request.grid[2]));
    if (!kernel.limits.allow(sizes)) throw_sizes_out_of_range(kernel.name, kernel.limits, sizes);
  }

  int device_;
  std::function<std::unique_ptr<LoadedModule>(const CudaRuntime&)> load_;
  std::once_flag loading_;
  std::unique_ptr<LoadedModule> module_;
  std::mutex mutex_;
  std::map<const void*, Loaded> loaded_;
};

}  // namespace

std::unique_ptr<CudaRuntime> gpu_cuda_runtime(
    int device, std::function<std::unique_ptr<LoadedModule>(const CudaRuntime&)> load) {
  return std::make_unique<GpuCuda>(device, std::move(load));
}

}  // namespace tilewright
