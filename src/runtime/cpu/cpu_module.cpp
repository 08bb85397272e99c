// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/cpu_module.cpp — opens shared objects that are in no file, and runs their kernels.
#include "runtime/cpu/cpu_module.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "base/check.h"
#include "base/cpu_entry.h"
#include "base/dynamic_library.h"
#include "runtime/cpu/communicating.h"
#include "runtime/cpu/launch_memory.h"
#include "runtime/cpu/services.h"
#include "runtime/cpu/temporary_folder.h"
#include "runtime/cpu/thread_pool.h"

namespace tilewright {
namespace {

constexpr int emulated_threads_per_block = 1024;

class CpuKernel : public LoadedKernel {
 public:
  // How its programs may be handed out.
  enum class Order {
    Any,            // on any threads, in any order
    Communicating,  // all must be able to advance side by side
    OneByOne,       // on one thread, first to last
  };

  // `joined_blocks`: of a cluster, that one emulated block stands for.
  CpuKernel(std::string name, TwCpuEntry entry, Order order, int joined_blocks)
      : name_(std::move(name)),
        entry_(entry),
        order_(order),
        most_threads_(emulated_threads_per_block * joined_blocks) {}

  void launch(const PreparedLaunch& launch) override {
    const std::span<const TwMemory> memory = launch_memory();
    const TwCpuLaunch description = {.grid = {launch.grid[0], launch.grid[1], launch.grid[2]},
                                     .block = {launch.block[0], launch.block[1], launch.block[2]},
                                     .shared_bytes = launch.shared_bytes,
                                     .services = &cpu_services(),
                                     .memory = memory.data(),
                                     .memory_count = memory.size()};
    const std::uint64_t programs = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
    const auto run = [&](std::uint64_t first, std::uint64_t last) {
      entry_(&description, launch.parameters, first, last);
    };
    try {
      if (order_ == Order::Communicating) run_communicating(programs, run);
      else if (order_ == Order::OneByOne) run(0, programs);
      else run_programs(programs, seconds_per_program_, run);
    } catch (const ProgramFailure& failure) {
      throw KernelFault(fmt::format("kernel '{}' failed: {}", name_, failure.message));
    }
  }

  FunctionAttributes attributes() override {
    return {.max_threads_per_block = most_threads_};
  }
  int blocks_per_processor(int threads, std::size_t) override {
    return threads <= most_threads_ ? 1 : 0;
  }
  void set_carveout(int) override {}  // a hint about a memory that a CPU does not divide

 private:
  std::string name_;
  TwCpuEntry entry_;
  Order order_;
  int most_threads_;
  ProgramCost seconds_per_program_ = 0;
};

class CpuModule : public LoadedModule {
 public:
  explicit CpuModule(DynamicLibrary library) : library_(std::move(library)) {}

  std::unique_ptr<LoadedKernel> kernel(const std::string& entry) override {
    void* const address = library_.symbol(entry.c_str());
    if (!address) return nullptr;
    return std::make_unique<CpuKernel>(entry, reinterpret_cast<TwCpuEntry>(address),
                                       order_of(entry), joined_blocks_of(entry));
  }

 private:
  // Kernels say so by symbols: codegen/cpu/emit.cpp, device_lib/emulate/cuda/core.cuh.
  CpuKernel::Order order_of(const std::string& entry) {
    if (library_.symbol((entry + "_communicates").c_str())) return CpuKernel::Order::Communicating;
    if (library_.symbol("tw_programs_in_order")) return CpuKernel::Order::OneByOne;
    return CpuKernel::Order::Any;
  }

  // codegen/cuda/emulated_source.cpp
  int joined_blocks_of(const std::string& entry) {
    const void* const blocks = library_.symbol((entry + "_joined_blocks").c_str());
    return blocks ? *static_cast<const int*>(blocks) : 1;
  }

  DynamicLibrary library_;
};

bool write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(file, bytes.data(), bytes.size());
    if (wrote <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
  return true;
}

// dlopen takes a path that it has seen for the library it held then, and descriptor numbers are
// used again. So every load spells the path differently: the bits of a counter as "/" and "./"
// where the file system ignores both.
std::string unique_path(int file) {
  static std::atomic<std::uint32_t> counter{0};
  std::string path = "/proc/self/";
  for (std::uint32_t bits = counter++, i = 0; i < 32; ++i, bits >>= 1)
    path += bits & 1 ? "./" : "/";
  return path + "fd/" + std::to_string(file);
}

DynamicLibrary open_in_memory(std::span<const std::byte> bytes, std::string* error) {
  const int file = memfd_create("tilewright-kernel", MFD_CLOEXEC);
  if (file < 0) return {};
  DynamicLibrary library;
  if (write_all(file, bytes)) library = DynamicLibrary::open(unique_path(file), error);
  close(file);
  return library;
}

// For kernels of the system that refuse to execute what is in no file.
DynamicLibrary open_from_file(std::span<const std::byte> bytes, std::string* error) {
  const TemporaryFolder folder;
  return DynamicLibrary::open(folder.write("kernel.so", bytes), error);
}

}  // namespace

std::unique_ptr<LoadedModule> load_cpu_module(const Binary& binary, const KernelSource& source) {
  std::string error;
  DynamicLibrary library = open_in_memory(binary.bytes, &error);
  if (!library) library = open_from_file(binary.bytes, &error);
  if (!library)
    throw EnvironmentError(
        fmt::format("the compiled source '{}' cannot be loaded: {}", source.name, error));
  return std::make_unique<CpuModule>(std::move(library));
}

}  // namespace tilewright
