// SPDX-License-Identifier: Apache-2.0
// runtime/backend.h — what a kind of device must offer; the public classes forward to it.
//
// One Backend per DeviceKind (runtime/cpu, runtime/cuda). `index` is the device's number. Native
// handles (streams, events) are void* and mean something only to the backend that made them. All
// functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tilewright/buffer.h"
#include "tilewright/device.h"
#include "tilewright/kernel_source.h"
#include "tilewright/module.h"

namespace tilewright {

// ---- Kernels.

// A launch as the device sees it, after checking and after the plan was followed. Points into the
// caller's stack.
struct PreparedLaunch {
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t cluster[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0;
  bool cooperative = false;
  void* stream = nullptr;
  void* const* parameters =
      nullptr;  // addresses of the parameter values, as cuLaunchKernel takes them
};

// One entry of a loaded module.
class LoadedKernel {
 public:
  virtual ~LoadedKernel() = default;
  virtual void launch(const PreparedLaunch& launch) = 0;
  virtual FunctionAttributes attributes() = 0;
  virtual int blocks_per_processor(int threads, std::size_t shared_bytes) = 0;
  virtual void set_carveout(int percent) = 0;
};

class LoadedModule {
 public:
  virtual ~LoadedModule() = default;
  // `entry` is a symbol or one of the source's name expressions. Null when there is none.
  virtual std::unique_ptr<LoadedKernel> kernel(const std::string& entry) = 0;
  // The address of a variable of the device, by its symbol or name expression ("&table"). Null when
  // there is none.
  virtual void* variable(const std::string&) { return nullptr; }
};

// The outcome of compiling a KernelSource for a target: what the disk cache holds.
struct Binary {
  std::vector<std::byte> bytes;  // cubin or shared object
  std::string log;
  std::vector<std::pair<std::string, std::string>> symbols;  // name expression -> symbol
};

// ---- Tensor maps.

// A TMA descriptor as the kernel takes it (a CUtensorMap), and what it is made from: a tiled map
// without interleaving, dimensions from fastest to slowest, zeros outside.
struct alignas(64) TensorMap {
  std::byte bytes[128];
};

struct TensorMapRequest {
  void* address = nullptr;
  DType dtype = DType::Float16;
  int rank = 0;
  std::uint64_t sizes[5] = {};    // in elements
  std::uint64_t strides[5] = {};  // in bytes; strides[0] belongs to dimension 1
  std::uint32_t box[5] = {};      // in elements
  int swizzle_bytes = 0;          // 0, 32, 64 or 128
  bool rounds_to_tf32 = false;    // float32 that is copied
};

// ---- Devices.

class Backend {
 public:
  virtual ~Backend() = default;

  virtual int device_count() = 0;
  virtual const DeviceProperties& properties(int index) = 0;
  virtual MemoryState memory(int index) = 0;
  virtual void synchronize(int index) = 0;
  virtual void release_cached_memory(int index) = 0;

  // Memory, ordered by `stream`. `free` is told every other stream that used the block.
  virtual void* allocate(std::size_t bytes, int index, MemoryKind kind, void* stream) = 0;
  virtual void free(void* data, std::size_t bytes, int index, MemoryKind kind, void* stream,
                    std::span<void* const> other_streams) = 0;
  // `kind` of neither side matters on the CPU; on CUDA the driver knows each address.
  virtual void copy(void* destination, const void* source, std::size_t bytes, int index,
                    void* stream) = 0;
  virtual void fill(void* destination, std::size_t bytes, std::span<const std::byte> pattern,
                    int index, void* stream) = 0;

  virtual void* create_stream(int index) = 0;
  virtual void synchronize_stream(int index, void* stream) = 0;
  virtual bool is_stream_idle(int index, void* stream) = 0;
  virtual void wait_event(int index, void* stream, void* event) = 0;
  // Whether what is queued there now becomes part of a graph instead of running.
  virtual bool is_capturing(int, void*) { return false; }
  virtual int device_of_stream(void* stream) = 0;  // for Stream::wrap(native)

  virtual void* create_event(int index) = 0;
  virtual void destroy_event(int index, void* event) noexcept = 0;
  virtual void record_event(int index, void* event, void* stream) = 0;
  virtual void synchronize_event(int index, void* event) = 0;
  virtual bool is_event_done(int index, void* event) = 0;
  virtual double seconds_between(int index, void* start, void* end) = 0;

  virtual std::unique_ptr<LoadedModule> load(const Binary& binary, const KernelSource& source,
                                             int index) = 0;

  // Throws ArgumentError for sizes, strides or an address that TMA does not take; MissingError on a
  // device without TMA.
  virtual void encode_tensor_map(const TensorMapRequest& request, TensorMap& map, int index);
};

// The backend of a kind. Cuda throws MissingError (why_no_cuda()) when there is no usable GPU.
Backend& backend(DeviceKind kind);
inline Backend& backend(Device device) { return backend(device.kind); }

// The same, after a check that the machine has this device (MissingError).
Backend& checked_backend(Device device);

// Each kind's own, called by the function above only. cuda_backend() is null without a usable GPU;
// `why` then says what is missing and how to get it.
Backend& cpu_backend();
Backend* cuda_backend(std::string* why);

}  // namespace tilewright
