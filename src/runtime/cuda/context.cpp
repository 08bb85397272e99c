// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/context.cpp — retains primary contexts.
#include "runtime/cuda/context.h"

#include <array>
#include <atomic>
#include <mutex>

#include "base/check.h"
#include "runtime/cuda/errors.h"

namespace tilewright::cuda {
namespace {

struct Contexts {
  std::mutex mutex;
  std::array<std::atomic<CUcontext>, max_devices> primary{};
};

Contexts& contexts() {
  static auto& all = *new Contexts;
  return all;
}

CUcontext retain(int index) {
  Contexts& all = contexts();
  std::atomic<CUcontext>& slot = all.primary[static_cast<std::size_t>(index)];
  const std::lock_guard lock(all.mutex);
  if (CUcontext retained = slot.load(std::memory_order_acquire)) return retained;
  const CaptureTolerance tolerance;
  CUdevice device = 0;
  CUcontext context = nullptr;
  active_device = index;
  TW_CUDA(cuDeviceGet(&device, index));
  TW_CUDA(cuDevicePrimaryCtxRetain(&context, device));
  slot.store(context, std::memory_order_release);
  return context;
}

}  // namespace

CUcontext primary_context(int device) {
  TW_CHECK(device >= 0 && static_cast<std::size_t>(device) < max_devices, "device {}", device);
  const CUcontext context =
      contexts().primary[static_cast<std::size_t>(device)].load(std::memory_order_acquire);
  return context ? context : retain(device);
}

ContextScope::ContextScope(int device) {
  const CUcontext wanted = primary_context(device);
  active_device = device;
  CUcontext current = nullptr;
  TW_CUDA(cuCtxGetCurrent(&current));
  if (current == wanted) return;
  if (!current) {
    TW_CUDA(cuCtxSetCurrent(wanted));
    return;
  }
  TW_CUDA(cuCtxPushCurrent_v2(wanted));
  must_pop_ = true;
}

ContextScope::~ContextScope() {
  CUcontext popped = nullptr;
  if (must_pop_) driver().cuCtxPopCurrent_v2(&popped);
}

}  // namespace tilewright::cuda
