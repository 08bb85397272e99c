// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/cpu_backend.cpp — the CPU as a device: every call does its work before it returns.
#include <unistd.h>

#include <chrono>
#include <climits>
#include <cstring>
#include <fstream>
#include <string>

#include "runtime/backend.h"
#include "runtime/cpu/cpu_memory.h"
#include "runtime/cpu/cpu_module.h"
#include "runtime/cpu/host_memory.h"
#include "runtime/cpu/tensor_map.h"
#include "runtime/cpu/thread_pool.h"

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;

// Copies and fills are cut into pieces of this size for the threads.
constexpr std::size_t piece_bytes = 1 << 20;

struct CpuEvent {
  Clock::time_point time;
};

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const std::size_t colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return Target::host().name;
}

int read_number(const std::string& path) {
  int number = 0;
  std::ifstream(path) >> number;
  return number;
}

int numa_nodes() {
  int count = 0;
  while (access(("/sys/devices/system/node/node" + std::to_string(count)).c_str(), F_OK) == 0)
    ++count;
  return count > 0 ? count : 1;
}

DeviceProperties host_properties() {
  DeviceProperties p;
  p.name = processor_name();
  p.target = Target::host();
  p.total_memory = total_host_memory();
  p.clock_khz = read_number("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  // The limits of CUDA, so that a kernel that runs here by emulation also runs there.
  const int grid[3] = {INT_MAX, 65535, 65535};
  const int block[3] = {1024, 1024, 64};
  std::memcpy(p.max_grid, grid, sizeof grid);
  std::memcpy(p.max_block, block, sizeof block);
  p.numa_nodes = numa_nodes();
  return p;
}

// The pattern is repeated over eight bytes; `bytes` need be a multiple of the pattern only.
void fill_piece(std::byte* data, std::size_t bytes, std::uint64_t word) {
  std::size_t at = 0;
  for (; at + sizeof word <= bytes; at += sizeof word) std::memcpy(data + at, &word, sizeof word);
  std::memcpy(data + at, &word, bytes - at);
}

std::uint64_t repeated(std::span<const std::byte> pattern) {
  std::uint64_t word = 0;
  for (std::size_t at = 0; at < sizeof word; at += pattern.size())
    std::memcpy(reinterpret_cast<std::byte*>(&word) + at, pattern.data(), pattern.size());
  return word;
}

template <class Body>
void for_pieces(std::size_t bytes, const Body& body) {
  const auto run = [&](std::uint64_t first, std::uint64_t last) {
    body(first * piece_bytes, std::min<std::size_t>(bytes, last * piece_bytes));
  };
  parallel_ranges((bytes + piece_bytes - 1) / piece_bytes, 1, run);
}

class CpuBackend : public Backend {
 public:
  int device_count() override { return 1; }
  const DeviceProperties& properties(int) override {
    static const DeviceProperties properties = host_properties();
    return properties;
  }
  MemoryState memory(int) override { return CpuMemory::shared().state(); }
  void synchronize(int) override {}
  void release_cached_memory(int) override { CpuMemory::shared().release_cached(); }

  void* allocate(std::size_t bytes, int, MemoryKind, void*) override {
    return CpuMemory::shared().allocate(bytes);
  }
  void free(void* data, std::size_t bytes, int, MemoryKind, void*,
            std::span<void* const>) override {
    CpuMemory::shared().free(data, bytes);
  }
  // Source and destination may overlap only when one piece does the work, as nothing else is
  // promised anywhere.
  void copy(void* destination, const void* source, std::size_t bytes, int, void*) override {
    for_pieces(bytes, [&](std::size_t first, std::size_t last) {
      std::memmove(static_cast<std::byte*>(destination) + first,
                   static_cast<const std::byte*>(source) + first, last - first);
    });
  }
  void fill(void* destination, std::size_t bytes, std::span<const std::byte> pattern, int,
            void*) override {
    const std::uint64_t word = repeated(pattern);
    for_pieces(bytes, [&](std::size_t first, std::size_t last) {
      fill_piece(static_cast<std::byte*>(destination) + first, last - first, word);
    });
  }

  void encode_tensor_map(const TensorMapRequest& request, TensorMap& map, int) override {
    encode_emulated_map(request, map);
  }

  void* create_stream(int) override { return nullptr; }
  void synchronize_stream(int, void*) override {}
  bool is_stream_idle(int, void*) override { return true; }
  void wait_event(int, void*, void*) override {}
  int device_of_stream(void*) override { return 0; }

  void* create_event(int) override { return new CpuEvent; }
  void destroy_event(int, void* event) noexcept override { delete static_cast<CpuEvent*>(event); }
  void record_event(int, void* event, void*) override {
    static_cast<CpuEvent*>(event)->time = Clock::now();
  }
  void synchronize_event(int, void*) override {}
  bool is_event_done(int, void*) override { return true; }
  double seconds_between(int, void* start, void* end) override {
    return std::chrono::duration<double>(static_cast<CpuEvent*>(end)->time -
                                         static_cast<CpuEvent*>(start)->time)
        .count();
  }

  std::unique_ptr<LoadedModule> load(const Binary& binary, const KernelSource& source,
                                     int) override {
    return load_cpu_module(binary, source);
  }
};

}  // namespace

// Never destroyed, since buffers may outlive every static.
Backend& cpu_backend() {
  static auto* const backend = new CpuBackend;
  return *backend;
}

}  // namespace tilewright
