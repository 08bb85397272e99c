// SPDX-License-Identifier: Apache-2.0
// load_inline/cuda_runtime_emulated.cpp — the CUDA runtime without a GPU: host memory, and kernels
// that have ended when their launch returns.
//
// More is refused than a GPU would notice: copies that leave their allocation or that take a host
// pointer for a device pointer. New memory is filled with a pattern that is not a number.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <set>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "base/settings.h"
#include "load_inline/cuda_runtime.h"
#include "load_inline/host_launch.h"
#include "runtime/occupancy.h"

namespace tilewright {
namespace {

// The limits that an emulated kernel meets; multiprocessors are the cores of this machine.
const Target& emulated_limits() {
  static const Target target = Target::parse("sm_90a");
  return target;
}

struct EmulatedEvent {
  std::chrono::steady_clock::time_point time;
  bool is_recorded = false;
};

class EmulatedCuda final : public CudaRuntime {
 public:
  // What the program did not free: its process would have ended here.
  ~EmulatedCuda() override {
    for (void* const memory : owned_) std::free(memory);
  }

  int allocate(void** address, unsigned long bytes, int kind) override {
    if (const int code = fault(); code != 0) return code;
    if (address == nullptr) return refuse(cuda_error::invalid_value, "the address is null");
    *address = nullptr;
    if (bytes == 0) return cuda_error::success;
    void* const memory = bytes > most_memory ? nullptr : std::aligned_alloc(256, rounded(bytes));
    if (memory == nullptr)
      return refuse(cuda_error::out_of_memory, fmt::format("{} bytes cannot be allocated", bytes));
    std::memset(memory, 0xff, std::min<unsigned long>(bytes, 64ul << 20));
    note_memory(memory, {bytes, kind, ++allocations_});
    {
      const std::lock_guard lock(owned_mutex_);
      owned_.insert(memory);
    }
    *address = memory;
    return cuda_error::success;
  }

  int release(void* address, int kind) override {
    if (const int code = fault(); code != 0) return code;
    Block block;
    if (address == nullptr) return cuda_error::success;
    if (!owns(address) || !forget_memory(address, kind, &block))
      return refuse(cuda_error::invalid_value,
                    kind == TwPinnedMemory
                        ? "cudaFreeHost of an address that cudaMallocHost did not give"
                        : "cudaFree of an address that cudaMalloc did not give");
    {
      const std::lock_guard lock(owned_mutex_);
      owned_.erase(address);
    }
    std::free(address);
    return cuda_error::success;
  }

  int pin(void* address, unsigned long bytes, unsigned) override {
    if (const int code = fault(); code != 0) return code;
    note_memory(address, {bytes, TwPinnedMemory});
    return cuda_error::success;
  }
  int unpin(void* address) override {
    if (const int code = fault(); code != 0) return code;
    Block block;
    forget_memory(address, TwPinnedMemory, &block);
    return cuda_error::success;
  }

  int copy(void* to, const void* from, unsigned long bytes, int direction, void*, int) override {
    if (const int code = fault(); code != 0) return code;
    if (bytes == 0) return cuda_error::success;
    const bool to_device = direction == 1 || direction == 3;
    const bool from_device = direction == 2 || direction == 3;
    if (const int code = check_range(to, bytes, to_device, "the destination"); code != 0)
      return code;
    if (const int code = check_range(from, bytes, from_device, "the source"); code != 0)
      return code;
    std::memmove(to, from, bytes);
    return cuda_error::success;
  }

  int fill(void* address, int value, unsigned long bytes, void*, int) override {
    if (const int code = fault(); code != 0) return code;
    if (bytes == 0) return cuda_error::success;
    if (const int code = check_range(address, bytes, true, "the memory to set"); code != 0)
      return code;
    std::memset(address, value, bytes);
    return cuda_error::success;
  }

  int symbol(const void* shadow, unsigned long bytes, void** address) override {
    *address = const_cast<void*>(shadow);
    note_memory(*address, {bytes, TwDeviceMemory});
    return cuda_error::success;
  }

  int memory(unsigned long* free, unsigned long* total) override {
    const MemoryState state = Device::cpu().memory();
    *free = state.free;
    *total = state.total;
    return cuda_error::success;
  }

  // ---- Streams: all work is done when it is asked for.

  int create_stream(void** stream, unsigned) override {
    const std::lock_guard lock(mutex_);
    *stream = reinterpret_cast<void*>(++handles_ * 16);
    streams_.insert(*stream);
    return cuda_error::success;
  }
  int destroy_stream(void* stream) override {
    const std::lock_guard lock(mutex_);
    if (streams_.erase(stream) == 0)
      return refuse(cuda_error::invalid_handle, "cudaStreamDestroy of what is no stream");
    return cuda_error::success;
  }
  int synchronize_stream(void* stream) override { return check_stream(stream); }
  int query_stream(void* stream) override { return check_stream(stream); }
  int wait_event(void* stream, void* event) override {
    const int code = check_stream(stream);
    return code != 0 ? code : find(event) ? cuda_error::success : no_event();
  }
  int call_host(void* stream, void (*function)(void*), void* data) override {
    if (const int code = check_stream(stream); code != 0) return code;
    function(data);
    return cuda_error::success;
  }

  // ---- Events.

  int create_event(void** event, unsigned) override {
    const std::lock_guard lock(mutex_);
    *event = reinterpret_cast<void*>(++handles_ * 16);
    events_[*event] = {};
    return cuda_error::success;
  }
  int destroy_event(void* event) override {
    const std::lock_guard lock(mutex_);
    return events_.erase(event) == 1 ? cuda_error::success : no_event();
  }
  int record_event(void* event, void* stream) override {
    if (const int code = check_stream(stream); code != 0) return code;
    const std::lock_guard lock(mutex_);
    const auto found = events_.find(event);
    if (found == events_.end()) return no_event();
    found->second = {std::chrono::steady_clock::now(), true};
    return cuda_error::success;
  }
  int synchronize_event(void* event) override {
    if (const int code = fault(); code != 0) return code;
    return find(event) ? cuda_error::success : no_event();
  }
  int query_event(void* event) override { return synchronize_event(event); }
  int elapsed(float* milliseconds, void* start, void* end) override {
    if (const int code = fault(); code != 0) return code;
    const auto first = find(start), last = find(end);
    if (!first || !last || !first->is_recorded || !last->is_recorded)
      return refuse(cuda_error::invalid_handle, "an event was not created or not recorded");
    *milliseconds = std::chrono::duration<float, std::milli>(last->time - first->time).count();
    return cuda_error::success;
  }

  // ---- The device.

  int synchronize() override { return fault(); }
  int device_count(int* count) override {
    *count = 1;
    return cuda_error::success;
  }
  int set_device(int device) override {
    return device == 0 ? cuda_error::success
                       : refuse(cuda_error::invalid_device, "there is one emulated device, 0");
  }
  int attribute(int* value, int what, int device) override;
  int describe(char* name, unsigned long name_bytes, unsigned long* memory, int device) override {
    if (device != 0) return set_device(device);
    const DeviceProperties& cpu = Device::cpu().properties();
    std::snprintf(name, name_bytes, "emulated on %s", cpu.name.c_str());
    *memory = cpu.total_memory;
    return cuda_error::success;
  }
  int version(int* value) override {
    *value = 12000;
    return cuda_error::success;
  }

  int kernel_number(long* value, const void* stub, int what, int threads,
                    unsigned long shared_bytes) override;
  int launch(const void* stub, const TwLaunch* request, int is_cooperative) override;
  std::string finish() override { return fault() == 0 ? std::string() : fault_sentence_; }

 private:
  static constexpr unsigned long most_memory = 1ul << 46;

  struct ProgramMemory {
    std::vector<std::string> names;
    std::vector<TwMemory> memory;
  };
  ProgramMemory program_memory() const;
  // Else the program itself has it, and registered it.
  bool owns(void* address) {
    const std::lock_guard lock(owned_mutex_);
    return owned_.contains(address);
  }

  static unsigned long rounded(unsigned long bytes) { return (bytes + 255) / 256 * 256; }

  // A kernel that faulted: nothing runs afterwards, as on a GPU.
  int fault() {
    const int code = fault_.load();
    return code == 0 ? 0 : refuse(code, fault_sentence_);
  }
  int check_range(const void* address, unsigned long bytes, bool on_device, const char* which) {
    unsigned long offset = 0;
    const Block block = block_at(address, &offset);
    if (block.bytes == 0)
      return on_device ? refuse(cuda_error::invalid_value,
                                fmt::format("{} is not device memory: no allocation of cudaMalloc "
                                            "holds this address",
                                            which))
                       : cuda_error::success;
    if (bytes > block.bytes - offset)
      return refuse(cuda_error::invalid_value,
                    fmt::format("{} of {} bytes ends after its allocation of {} bytes", which,
                                bytes, block.bytes));
    return cuda_error::success;
  }
  int check_stream(void* stream) {
    if (const int code = fault(); code != 0) return code;
    const std::lock_guard lock(mutex_);
    // 1 and 2 are CUDA's names for the legacy and the per-thread default stream.
    const bool is_default = reinterpret_cast<std::uintptr_t>(stream) <= 2;
    if (is_default || streams_.contains(stream)) return cuda_error::success;
    return refuse(cuda_error::invalid_handle, "the stream was not created, or was destroyed");
  }
  std::optional<EmulatedEvent> find(void* event) {
    const std::lock_guard lock(mutex_);
    const auto found = events_.find(event);
    return found == events_.end() ? std::nullopt : std::optional(found->second);
  }
  int no_event() {
    return refuse(cuda_error::invalid_handle, "the event was not created, or was destroyed");
  }

  std::mutex mutex_;
  std::uintptr_t handles_ = 0;
  std::set<void*> streams_;
  std::map<void*, EmulatedEvent> events_;
  std::atomic<int> fault_{0};
  std::string fault_sentence_;
  std::mutex owned_mutex_;
  std::set<void*> owned_;
  std::atomic<int> allocations_{0};
};

int EmulatedCuda::attribute(int* value, int what, int device) {
  if (device != 0) return set_device(device);
  const Target& limits = emulated_limits();
  const DeviceProperties& cpu = Device::cpu().properties();
  const std::map<int, int> known = {{1, limits.max_threads_per_block},
                                    {2, 1024},
                                    {3, 1024},
                                    {4, 64},
                                    {5, 2147483647},
                                    {6, 65535},
                                    {7, 65535},
                                    {8, limits.shared_bytes_per_block},
                                    {9, 65536},
                                    {10, 32},
                                    {11, 2147483647},
                                    {12, limits.registers_per_block},
                                    {13, cpu.clock_khz},
                                    {14, 512},
                                    {16, cpu.target.processors},
                                    {19, 1},
                                    {31, 1},
                                    {36, cpu.memory_clock_khz},
                                    {37, cpu.memory_bus_bits},
                                    {38, static_cast<int>(cpu.target.l2_bytes)},
                                    {39, limits.max_threads_per_processor},
                                    {40, 1},
                                    {41, 1},
                                    {75, 7},  // as __CUDA_ARCH__ says
                                    {76, 0},
                                    {78, 1},
                                    {81, limits.shared_bytes_per_processor},
                                    {82, limits.registers_per_processor},
                                    {83, 1},
                                    {88, 1},
                                    {89, 1},
                                    {97, limits.shared_bytes_per_block_optin},
                                    {106, limits.max_blocks_per_processor},
                                    {111, limits.shared_bytes_reserved_per_block}};
  const auto found = known.find(what);
  *value = found == known.end() ? 0 : found->second;
  return cuda_error::success;
}

// Nothing compiles the kernel for a GPU here: registers are taken to be 32 per thread, and shared
// memory is what the launch asks for.
int EmulatedCuda::kernel_number(long* value, const void* stub, int what, int threads,
                                unsigned long shared_bytes) {
  constexpr int assumed_registers = 32;
  if (!kernels().contains(stub))
    return refuse(cuda_error::invalid_function, "the address is not that of a kernel");
  *value = 0;
  if (what == TwMaxThreads) *value = emulated_limits().max_threads_per_block;
  if (what == TwRegisters) *value = assumed_registers;
  if (what == TwBinaryVersion) *value = 70;
  if (what != TwBlocksPerProcessor) return cuda_error::success;
  return guarded([&] {
    if (threads > 0 && threads <= emulated_limits().max_threads_per_block)
      *value = occupancy(emulated_limits(),
                         {threads, assumed_registers, static_cast<std::int64_t>(shared_bytes)})
                   .blocks_per_processor;
    return cuda_error::success;
  });
}

// With checks: kernels may touch what the program has allocated or registered.
EmulatedCuda::ProgramMemory EmulatedCuda::program_memory() const {
  ProgramMemory all;
  if (!settings().emulate_check) return all;
  const std::map<const void*, Block> known = blocks();
  all.names.reserve(known.size());
  for (const auto& [address, block] : known) {
    all.names.push_back(block.number > 0 ? fmt::format("allocation {}", block.number)
                                         : "registered memory");
    all.memory.push_back({.name = all.names.back().c_str(),
                          .address = reinterpret_cast<std::uintptr_t>(address),
                          .bytes = block.bytes});
  }
  return all;
}

// A program has no tensors.
std::string in_words_of_programs(std::string sentence) {
  constexpr std::string_view tensor = "outside of every tensor";
  const std::size_t at = sentence.find(tensor);
  return at == std::string::npos
             ? sentence
             : sentence.replace(at, tensor.size(), "outside of every allocation");
}

int EmulatedCuda::launch(const void* stub, const TwLaunch* request, int is_cooperative) {
  if (const int code = fault(); code != 0) return code;
  const auto kernel = kernels().find(stub);
  if (kernel == kernels().end())
    return refuse(cuda_error::invalid_function, "the address is not that of a kernel");
  if (const int code = check_stream(request->stream); code != 0) return code;
  if (is_cooperative)
    return refuse(cuda_error::not_supported,
                  fmt::format("kernel '{}' is launched cooperatively, and emulated blocks do not "
                              "run at the same time",
                              kernel->second.name));
  TwLaunch launch = *request;
  launch.kernel = kernel->second.name.c_str();
  launch.entry = kernel->second.entry;
  try {
    if (launch.grid[0] == 0 || launch.grid[1] == 0 || launch.grid[2] == 0)
      throw ArgumentError(
          fmt::format("kernel '{}' cannot be launched with a grid of {} x {} x {} "
                      "blocks",
                      launch.kernel, launch.grid[0], launch.grid[1], launch.grid[2]));
    const ProgramMemory known = program_memory();
    launch_emulated(launch, known.memory);
    return cuda_error::success;
  } catch (const Interrupted& interrupted) {
    // Through the program's own code nothing is thrown.
    std::fflush(stdout);
    fmt::print(stderr, "tilewright: interrupted: {}\n", interrupted.what());
    std::_Exit(interrupted_exit_code);
  } catch (const ArgumentError& error) {
    return refuse(cuda_error::invalid_configuration, error.what());
  } catch (const Error& error) {
    fault_sentence_ = in_words_of_programs(error.what());
    const bool is_assert = fault_sentence_.find("assertion '") != std::string::npos;
    fault_ = is_assert ? cuda_error::assert_failed : cuda_error::launch_failure;
    std::fflush(stdout);
    fmt::print(stderr, "tilewright: {}\n", fault_sentence_);
    return cuda_error::success;  // a launch does not wait: the next call tells
  }
}

}  // namespace

std::unique_ptr<CudaRuntime> emulated_cuda_runtime() { return std::make_unique<EmulatedCuda>(); }

}  // namespace tilewright
