// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/module.cpp — loads cubins and finds their kernels.
#include "runtime/cuda/module.h"

#include <array>

#include "base/check.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/kernel.h"

namespace tilewright::cuda {
namespace {

void unload(CUmodule module, int device) noexcept {
  try {
    if (is_driver_shut_down()) return;
    const ContextScope scope(device);
    const CaptureTolerance tolerance;
    driver().cuModuleUnload(module);
  } catch (const Error&) {
    // The device faulted or is gone, and the module with it; the call that meets the fault next
    // reports it.
  }
}

[[noreturn]] void throw_load_error(CUresult result, const std::string& name, const Target& target,
                                   const std::string& log) {
  int version = 0;
  driver().cuDriverGetVersion(&version);
  if (result == CUDA_ERROR_INVALID_IMAGE || result == CUDA_ERROR_NO_BINARY_FOR_GPU)
    throw EnvironmentError(
        fmt::format("the CUDA driver does not load the code of '{}' made for {}: {}; the driver "
                    "supports CUDA {}.{}: if NVRTC is newer, "
                    "update the driver or set TILEWRIGHT_CUDA_HOME to an older toolkit{}{}",
                    name, target.name, describe(result), version / 1000, version % 1000 / 10,
                    log.empty() ? "" : "\n", log));
  throw_cuda_error(result, fmt::format("cuModuleLoadDataEx for '{}'", name).c_str());
}

CUmodule load(const Binary& binary, const std::string& name, const Target& target) {
  std::array<char, 4096> log{};
  std::array options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values = {log.data(),
                                 reinterpret_cast<void*>(std::uintptr_t{log.size() - 1})};
  CUmodule module = nullptr;
  const CUresult result = driver().cuModuleLoadDataEx(&module, binary.bytes.data(),
                                                      static_cast<unsigned>(options.size()),
                                                      options.data(), values.data());
  if (result != CUDA_SUCCESS) throw_load_error(result, name, target, log.data());
  return module;
}

class CudaModule final : public LoadedModule {
 public:
  CudaModule(std::shared_ptr<CUmod_st> module,
             std::vector<std::pair<std::string, std::string>> symbols, int device, int shared_limit)
      : module_(std::move(module)),
        symbols_(std::move(symbols)),
        device_(device),
        shared_limit_(shared_limit) {}

  std::unique_ptr<LoadedKernel> kernel(const std::string& entry) override {
    const ContextScope scope(device_);
    const CaptureTolerance tolerance;
    const std::string symbol = symbol_of(entry);
    CUfunction function = nullptr;
    const CUresult result = driver().cuModuleGetFunction(&function, module_.get(), symbol.c_str());
    if (result == CUDA_ERROR_NOT_FOUND) return nullptr;
    if (result != CUDA_SUCCESS)
      throw_cuda_error(result, fmt::format("cuModuleGetFunction for '{}'", symbol).c_str());
    return std::make_unique<Kernel>(module_, function, entry, device_, shared_limit_);
  }

  void* variable(const std::string& name) override {
    const ContextScope scope(device_);
    const CaptureTolerance tolerance;
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    const CUresult result =
        driver().cuModuleGetGlobal_v2(&address, &bytes, module_.get(), symbol_of(name).c_str());
    if (result == CUDA_ERROR_NOT_FOUND) return nullptr;
    if (result != CUDA_SUCCESS)
      throw_cuda_error(result, fmt::format("cuModuleGetGlobal for '{}'", name).c_str());
    return pointer_of(address);
  }

 private:
  std::string symbol_of(const std::string& name) const {
    for (const auto& [expression, lowered] : symbols_)
      if (expression == name) return lowered;
    return name;
  }

  std::shared_ptr<CUmod_st> module_;
  std::vector<std::pair<std::string, std::string>> symbols_;
  int device_;
  int shared_limit_;
};

}  // namespace

std::unique_ptr<LoadedModule> load_module(const Binary& binary, const KernelSource& source,
                                          const Target& target, int device) {
  TW_CHECK(!binary.bytes.empty(), "'{}' has no code", source.name);
  const ContextScope scope(device);
  const CaptureTolerance tolerance;
  std::shared_ptr<CUmod_st> module(load(binary, source.name, target),
                                   [device](CUmodule loaded) { unload(loaded, device); });
  return std::make_unique<CudaModule>(std::move(module), binary.symbols, device,
                                      target.shared_bytes_per_block_optin);
}

}  // namespace tilewright::cuda
