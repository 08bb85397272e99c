// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/errors.cpp — the sentences of driver errors.
#include "runtime/cuda/errors.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include <fmt/format.h>

#include "runtime/cuda/context.h"
#include "tilewright/error.h"

namespace tilewright::cuda {
namespace {

std::string quoted(const std::vector<const char*>& names) {
  std::string text;
  for (const char* name : names) text += fmt::format("{}'{}'", text.empty() ? "" : ", ", name);
  return text;
}

std::string fault_sentence(CUresult result, const std::string& who, int device) {
  return fmt::format(
      "{} faulted on cuda:{} with {}; nothing more can run on this GPU in this process", who,
      device, describe(result));
}

[[noreturn]] void throw_fault_of_recent(CUresult result, const char* call) {
  const std::vector<const char*> names = recent_kernels(active_device).names();
  if (names.size() == 1) throw_kernel_fault(result, names[0], active_device);
  const std::string who =
      names.empty() ? "work that was not launched by tilewright"
                    : fmt::format("one of the last kernels ({}, the newest first)", quoted(names));
  const char* hint = names.empty() ? "" : "; set TILEWRIGHT_LAUNCH_BLOCKING=1 to learn which";
  throw KernelFault(
      fmt::format("{}, as {} reported{}", fault_sentence(result, who, active_device), call, hint));
}

}  // namespace

bool is_sticky(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
      return true;
    default:
      return false;
  }
}

std::string describe(CUresult result) {
  const char* name = nullptr;
  const char* sentence = nullptr;
  if (driver().cuGetErrorName) driver().cuGetErrorName(result, &name);
  if (driver().cuGetErrorString) driver().cuGetErrorString(result, &sentence);
  if (!name) return fmt::format("CUDA error {}", static_cast<unsigned>(result));
  return sentence ? fmt::format("{} ({})", name, sentence) : name;
}

std::vector<const char*> RecentKernels::names() const {
  std::vector<const char*> found;
  const unsigned next = next_.load(std::memory_order_relaxed);
  for (unsigned back = 1; back <= names_.size(); ++back) {
    const char* name = names_[(next - back) % names_.size()].load(std::memory_order_relaxed);
    if (name && std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
  }
  return found;
}

RecentKernels& recent_kernels(int device) {
  static auto& all = *new std::array<RecentKernels, max_devices>;
  return all[static_cast<std::size_t>(device) % max_devices];
}

const char* permanent_name(const std::string& name) {
  static std::mutex mutex;
  static auto& names = *new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  return names.insert(name).first->c_str();
}

void throw_kernel_fault(CUresult result, const char* kernel, int device) {
  throw KernelFault(fault_sentence(result, fmt::format("kernel '{}'", kernel), device));
}

void throw_cuda_error(CUresult result, const char* call) {
  if (is_sticky(result)) throw_fault_of_recent(result, call);
  if (result == CUDA_ERROR_DEINITIALIZED)
    throw EnvironmentError(fmt::format(
        "{} was called while the process ends, after the CUDA driver was shut down", call));
  throw EnvironmentError(fmt::format("the CUDA driver refused {} on cuda:{}: {}", call,
                                     active_device, describe(result)));
}

}  // namespace tilewright::cuda
