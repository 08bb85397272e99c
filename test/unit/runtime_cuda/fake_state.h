// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/fake_state.h — what the fake driver knows, and the rules that its functions share.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "fake_driver.h"
#include "runtime/cuda/driver_api.h"

using namespace tilewright::cuda;

struct CUctx_st {
  int device = 0;
  bool is_primary = true;
  CUresult sticky = CUDA_SUCCESS;
};

struct CUgraphNode_st {
  CUfunction function = nullptr;
  CUlaunchConfig config = {};
  std::vector<CUlaunchAttribute> attributes;
  std::uint64_t first_parameter = 0;
  CUgraphNode before = nullptr;
};

struct CUgraph_st {
  std::vector<CUuserObject> objects;
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};

struct CUgraphExec_st {
  std::vector<std::pair<CUgraphNode, CUgraphNode_st>> nodes;  // as they are launched
};

struct CUstream_st {
  CUcontext context = nullptr;
  std::uint64_t id = 0;
  bool is_blocking = false;
  bool is_held = false;
  std::uint64_t submitted = 0, completed = 0;
  CUgraph capture = nullptr;
  std::uint64_t capture_id = 0;
  bool is_spoilt = false;
};

struct CUevent_st {
  CUstream stream = nullptr;
  std::uint64_t ticket = 0;
  bool is_captured = false;
};

struct CUmod_st {
  std::set<std::string> kernels;
};

struct CUfunc_st {
  std::string name;
  int max_dynamic_shared = 48 << 10;
  int carveout = -1;
  int large_clusters = 0;
};

struct CUuserObject_st {
  void* data;
  CUhostFn destroy;
};

namespace fake {

inline constexpr CUresult CAPTURE_UNSUPPORTED = static_cast<CUresult>(900);
inline constexpr CUresult CAPTURE_INVALIDATED = static_cast<CUresult>(901);
inline constexpr CUresult CAPTURED_EVENT = static_cast<CUresult>(907);

struct Allocation {
  std::size_t bytes;
  int device;  // -1: host
};

struct State {
  std::recursive_mutex mutex;
  CUctx_st primary[2] = {{0}, {1}};
  CUstream_st legacy[2];
  std::vector<std::unique_ptr<CUctx_st>> contexts;
  std::map<void*, Allocation> allocations;
  std::set<CUstream> streams;
  std::vector<FakeLaunch> launches;
  std::vector<std::unique_ptr<CUfunc_st>> functions;
  std::set<CUmodule> modules;
  std::set<CUevent> events;
  int allocation_calls = 0, attribute_calls = 0;
  std::uint64_t next_id = 10;
  bool is_down = false;
};

State& state();

inline thread_local std::vector<CUcontext> context_stack;
inline thread_local CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

using Lock = std::lock_guard<std::recursive_mutex>;

CUcontext current();
// The stream behind a handle of the current context; null when there is none.
CUstream resolve(CUstream handle);
CUresult context_status();
// A call that could disturb a capture spoils every one under way, unless this thread asked for
// tolerance.
CUresult unsafe_call();
bool is_legacy_disturbed(CUstream stream);
// Work enters a stream.
CUresult submit(CUstream handle, CUstream* resolved = nullptr);
CUresult allocate(void** data, std::size_t bytes, int device);
CUresult release(void* data);
CUresult note_launch(CUfunction function, const CUlaunchConfig& config);
CUstream make_stream(CUcontext context, bool is_blocking);
FakeDriver* controls();

template <class Word>
CUresult set_memory(CUdeviceptr address, std::size_t pitch, Word value, std::size_t width,
                    std::size_t height, CUstream stream) {
  if (address % sizeof(Word) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult status = submit(stream); status != CUDA_SUCCESS) return status;
  auto* const base = static_cast<char*>(pointer_of(address));
  for (std::size_t row = 0; row < height; ++row)
    for (std::size_t i = 0; i < width; ++i)
      std::memcpy(base + row * pitch + i * sizeof(Word), &value, sizeof value);
  return CUDA_SUCCESS;
}

}  // namespace fake
