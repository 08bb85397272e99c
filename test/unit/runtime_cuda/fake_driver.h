// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/fake_driver.h — a CUDA driver without a GPU: the rules of contexts, streams,
// captures and memory, with host memory behind them, so that the backend can be tested anywhere and
// under sanitizers.
//
// It is a library named libcuda.so.1 that the backend opens like the real one. Kernels do not
// compute: a launch is noted; a kernel whose name starts with "fault" breaks its context as a bad
// address does. A "cubin" is the text "FAKE" followed by kernel names. Two devices of 64 MiB.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/cuda/driver_types.h"

namespace tilewright::cuda {

struct FakeLaunch {
  std::string kernel;
  CUstream stream = nullptr;
  unsigned grid = 0, block = 0, cluster = 1, shared_bytes = 0;
  bool cooperative = false;
  bool was_captured = false;
  bool is_of_graph = false;
  std::uint64_t first_parameter = 0;  // of kernels in a graph, whose parameters are words
};

// What tests may do to the fake and ask of it.
struct FakeDriver {
  virtual ~FakeDriver() = default;
  virtual void reset() = 0;  // nothing allocated is expected to survive
  virtual void hold(CUstream stream,
                    bool is_held) = 0;  // a held stream's work does not end until it is waited for
  virtual std::size_t allocated_bytes(int device) = 0;
  virtual int allocation_calls() = 0;  // successful ones, of every kind
  virtual int attribute_calls() = 0;   // of cuFuncSetAttribute
  virtual std::vector<FakeLaunch> launches() = 0;
  virtual CUcontext create_context(int device) = 0;  // as cuCtxCreate: not primary; becomes current
  virtual void destroy_stream(CUstream stream) = 0;
  virtual CUstream create_stream(CUcontext context, bool is_blocking) = 0;
  virtual void begin_capture(CUstream stream) = 0;   // in global mode, the strictest
  virtual CUgraph end_capture(CUstream stream) = 0;  // null when something spoilt it
  virtual void destroy_graph(CUgraph graph) = 0;
  virtual bool shut_down(bool is_down) = 0;  // as at the end of a process
};

constexpr std::size_t fake_memory_bytes = std::size_t{64} << 20;

}  // namespace tilewright::cuda
