// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/context.h — devices by number, their primary contexts, and making one current for a
// scope.
//
// We are guests: the caller's current context is the caller's. Where it is ours already (the CUDA
// runtime uses the same primary context) nothing is touched; another one is put back at the end of
// the scope; a thread that had none keeps ours.
#pragma once

#include <cstddef>

#include "runtime/cuda/driver_api.h"

namespace tilewright::cuda {

constexpr std::size_t max_devices = 64;

// The primary context of a device, retained at the first call and kept for the life of the process.
CUcontext primary_context(int device);

// While a process ends, static objects may outlive the driver; what they hold is gone already.
inline bool is_driver_shut_down() {
  CUcontext context = nullptr;
  return driver().cuCtxGetCurrent(&context) == CUDA_ERROR_DEINITIALIZED;
}

class ContextScope {
 public:
  explicit ContextScope(int device);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  bool must_pop_ = false;
};

// While it lives, calls that could disturb a graph capture under way (allocation, event queries,
// loading) are legal on this thread: none of them touches a stream that is being captured.
class CaptureTolerance {
 public:
  CaptureTolerance() { driver().cuThreadExchangeStreamCaptureMode(&mode_); }
  ~CaptureTolerance() { driver().cuThreadExchangeStreamCaptureMode(&mode_); }
  CaptureTolerance(const CaptureTolerance&) = delete;
  CaptureTolerance& operator=(const CaptureTolerance&) = delete;

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

// Whether events must not be recorded on `stream` now. The legacy default stream is part of no
// capture, but touching it while another stream of its context is captured would spoil that
// capture.
inline bool is_capturing(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = driver().cuStreamIsCapturing(stream, &status);
  if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) return true;
  return result == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

}  // namespace tilewright::cuda
