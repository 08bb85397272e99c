// SPDX-License-Identifier: Apache-2.0
// load_inline/cuda_runtime.h — the library's side of torch/cuda_abi.h: the CUDA runtime for a whole
// program, on the CPU by emulation and on a GPU through the driver.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "load_inline/torch/cuda_abi.h"
#include "runtime/backend.h"
#include "tilewright/error.h"

namespace tilewright {

// The numbers of cudaError_t that the library itself gives.
namespace cuda_error {
constexpr int success = 0, invalid_value = 1, out_of_memory = 2, invalid_configuration = 9,
              invalid_symbol = 13, invalid_function = 98, invalid_device = 101,
              invalid_handle = 400, not_ready = 600, assert_failed = 710, launch_failure = 719,
              cooperative_too_large = 720, not_supported = 801, unknown = 999;
}  // namespace cuda_error

// What both kinds share: sentences, the tables of kernels and variables, and who owns which memory.
class CudaRuntime : public TwCuda {
 public:
  struct Kernel {
    std::string name;  // a name expression
    void* entry = nullptr;
  };
  struct Symbol {
    std::string name;
    unsigned long bytes = 0;
  };

  virtual ~CudaRuntime() = default;

  const char* sentence() final;
  void define_kernel(const void* stub, const char* name, void* entry) final;
  void define_symbol(const void* shadow, const char* name, unsigned long bytes) final;
  int memory_kind(const void* address, int* kind) final;

  // After main: waits, and says what went wrong on the device since; empty when nothing did.
  virtual std::string finish() = 0;

  const std::map<const void*, Kernel>& kernels() const { return kernels_; }
  const std::map<const void*, Symbol>& symbols() const { return symbols_; }

 protected:
  // Keeps the sentence and gives the code back.
  static int refuse(int code, std::string sentence);
  // Runs `work`, and turns what it throws into a code.
  static int guarded(const std::function<int()>& work);

  struct Block {
    unsigned long bytes = 0;
    int kind = TwDeviceMemory;
    int number = 0;  // which allocation it was, from 1 on; 0: none
  };
  void note_memory(void* address, Block block);
  // False when there is no such block of this kind; device memory and managed memory are freed by
  // the same call.
  bool forget_memory(void* address, int kind, Block* found);
  // The block that holds the address; bytes 0 when none does.
  Block block_at(const void* address, unsigned long* offset) const;
  // Every block, with its address.
  std::map<const void*, Block> blocks() const;

 private:
  std::map<const void*, Kernel> kernels_;
  std::map<const void*, Symbol> symbols_;
  mutable std::mutex memory_mutex_;
  std::map<const void*, Block> memory_;
};

// Kernels run when they are launched: a stream is only a handle.
std::unique_ptr<CudaRuntime> emulated_cuda_runtime();

// `load` gives the module that holds all kernels and variables; it is called once, after they are
// defined.
std::unique_ptr<CudaRuntime> gpu_cuda_runtime(
    int device, std::function<std::unique_ptr<LoadedModule>(const CudaRuntime&)> load);

}  // namespace tilewright
