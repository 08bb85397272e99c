// SPDX-License-Identifier: Apache-2.0
// load_inline/cuda_runtime.cpp — tables and sentences of both runtimes.
#include "load_inline/cuda_runtime.h"

namespace tilewright {
namespace {

thread_local std::string last_sentence;

}  // namespace

const char* CudaRuntime::sentence() { return last_sentence.c_str(); }

int CudaRuntime::refuse(int code, std::string sentence) {
  last_sentence = std::move(sentence);
  return code;
}

int CudaRuntime::guarded(const std::function<int()>& work) {
  try {
    return work();
  } catch (const OutOfMemory& error) {
    return refuse(cuda_error::out_of_memory, error.what());
  } catch (const KernelFault& error) {
    return refuse(cuda_error::launch_failure, error.what());
  } catch (const ArgumentError& error) {
    return refuse(cuda_error::invalid_value, error.what());
  } catch (const std::exception& error) {
    return refuse(cuda_error::unknown, error.what());
  }
}

void CudaRuntime::define_kernel(const void* stub, const char* name, void* entry) {
  kernels_[stub] = {name, entry};
}

void CudaRuntime::define_symbol(const void* shadow, const char* name, unsigned long bytes) {
  symbols_[shadow] = {name, bytes};
}

void CudaRuntime::note_memory(void* address, Block block) {
  const std::lock_guard lock(memory_mutex_);
  memory_[address] = block;
}

bool CudaRuntime::forget_memory(void* address, int kind, Block* found) {
  const std::lock_guard lock(memory_mutex_);
  const auto at = memory_.find(address);
  if (at == memory_.end()) return false;
  if ((at->second.kind == TwPinnedMemory) != (kind == TwPinnedMemory)) return false;
  *found = at->second;
  memory_.erase(at);
  return true;
}

CudaRuntime::Block CudaRuntime::block_at(const void* address, unsigned long* offset) const {
  const std::lock_guard lock(memory_mutex_);
  auto after = memory_.upper_bound(address);
  if (after == memory_.begin()) return {};
  const auto& [begin, block] = *--after;
  *offset = static_cast<unsigned long>(static_cast<const char*>(address) -
                                       static_cast<const char*>(begin));
  return *offset < block.bytes ? block : Block{};
}

std::map<const void*, CudaRuntime::Block> CudaRuntime::blocks() const {
  const std::lock_guard lock(memory_mutex_);
  return memory_;
}

int CudaRuntime::memory_kind(const void* address, int* kind) {
  unsigned long offset = 0;
  const Block block = block_at(address, &offset);
  *kind = block.bytes == 0 ? -1 : block.kind;
  return cuda_error::success;
}

}  // namespace tilewright
