// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/fake_state.cpp — the rules, and what tests may do to the fake.
#include "fake_state.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace fake {

State& state() {
  static auto& all = *new State;
  return all;
}

CUcontext current() { return context_stack.empty() ? nullptr : context_stack.back(); }

CUstream resolve(CUstream handle) {
  if (!current()) return nullptr;
  if (!handle) return &state().legacy[current()->device];
  return state().streams.contains(handle) ? handle : nullptr;
}

CUresult context_status() {
  if (state().is_down) return CUDA_ERROR_DEINITIALIZED;
  if (!current()) return CUDA_ERROR_INVALID_CONTEXT;
  return current()->sticky;
}

CUresult unsafe_call() {
  if (const CUresult status = context_status(); status != CUDA_SUCCESS) return status;
  if (capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  CUresult result = CUDA_SUCCESS;
  for (CUstream stream : state().streams)
    if (stream->capture) {
      stream->is_spoilt = true;
      result = CAPTURE_UNSUPPORTED;
    }
  return result;
}

bool is_legacy_disturbed(CUstream stream) {
  if (stream != &state().legacy[0] && stream != &state().legacy[1]) return false;
  return std::any_of(state().streams.begin(), state().streams.end(),
                     [](CUstream s) { return s->capture && s->is_blocking; });
}

CUresult submit(CUstream handle, CUstream* resolved) {
  if (const CUresult status = context_status(); status != CUDA_SUCCESS) return status;
  CUstream stream = resolve(handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->context != current()) return CUDA_ERROR_INVALID_CONTEXT;
  if (is_legacy_disturbed(stream)) {
    for (CUstream s : state().streams) s->is_spoilt |= s->capture != nullptr;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  if (stream->is_spoilt) return CAPTURE_INVALIDATED;
  if (!stream->capture) ++stream->submitted;
  if (!stream->capture && !stream->is_held) stream->completed = stream->submitted;
  if (resolved) *resolved = stream;
  return CUDA_SUCCESS;
}

CUresult allocate(void** data, std::size_t bytes, int device) {
  if (const CUresult status = unsafe_call(); status != CUDA_SUCCESS) return status;
  std::size_t used = 0;
  for (const auto& [address, allocation] : state().allocations)
    if (allocation.device == device) used += allocation.bytes;
  if (bytes > fake_memory_bytes - used) return CUDA_ERROR_OUT_OF_MEMORY;
  *data = std::aligned_alloc(512, (bytes + 511) / 512 * 512);
  std::memset(*data, 0xcd, std::min(bytes, std::size_t{1} << 20));
  state().allocations[*data] = {bytes, device};
  ++state().allocation_calls;
  return CUDA_SUCCESS;
}

CUresult release(void* data) {
  if (const CUresult status = unsafe_call(); status != CUDA_SUCCESS) return status;
  const auto found = state().allocations.find(data);
  if (found == state().allocations.end()) return CUDA_ERROR_INVALID_VALUE;
  state().allocations.erase(found);
  std::free(data);
  return CUDA_SUCCESS;
}

CUresult note_launch(CUfunction function, const CUlaunchConfig& config) {
  CUstream stream = nullptr;
  if (const CUresult status = submit(config.hStream, &stream); status != CUDA_SUCCESS)
    return status;
  if (config.blockDimX * config.blockDimY * config.blockDimZ > 1024)
    return CUDA_ERROR_INVALID_VALUE;
  if (config.sharedMemBytes > static_cast<unsigned>(function->max_dynamic_shared))
    return CUDA_ERROR_INVALID_VALUE;
  FakeLaunch launch{.kernel = function->name,
                    .stream = config.hStream,
                    .grid = config.gridDimX * config.gridDimY * config.gridDimZ,
                    .block = config.blockDimX * config.blockDimY * config.blockDimZ,
                    .shared_bytes = config.sharedMemBytes,
                    .was_captured = stream->capture != nullptr};
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config.attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      launch.cooperative = attribute.value.cooperative != 0;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      launch.cluster = attribute.value.clusterDim.x * attribute.value.clusterDim.y *
                       attribute.value.clusterDim.z;
  }
  if (launch.cluster > 8 && !function->large_clusters) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  if (launch.cooperative && launch.grid > 1000) return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  if (function->name.starts_with("fault")) current()->sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
  state().launches.push_back(launch);
  return CUDA_SUCCESS;
}

CUstream make_stream(CUcontext context, bool is_blocking) {
  auto* const stream = new CUstream_st;
  stream->context = context;
  stream->id = state().next_id++;
  stream->is_blocking = is_blocking;
  state().streams.insert(stream);
  return stream;
}

namespace {

class Controls final : public FakeDriver {
  void reset() override {
    const Lock lock(state().mutex);
    for (CUctx_st& context : state().primary) context.sticky = CUDA_SUCCESS;
    for (CUstream stream : state().streams) stream->is_held = false;
    state().launches.clear();
    state().allocation_calls = state().attribute_calls = 0;
    context_stack.clear();
    capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  }
  void hold(CUstream stream, bool is_held) override {
    const Lock lock(state().mutex);
    stream->is_held = is_held;
    if (!is_held) stream->completed = stream->submitted;
  }
  std::size_t allocated_bytes(int device) override {
    const Lock lock(state().mutex);
    std::size_t used = 0;
    for (const auto& [address, allocation] : state().allocations)
      if (allocation.device == device) used += allocation.bytes;
    return used;
  }
  int allocation_calls() override { return state().allocation_calls; }
  int attribute_calls() override { return state().attribute_calls; }
  std::vector<FakeLaunch> launches() override {
    const Lock lock(state().mutex);
    return state().launches;
  }
  CUcontext create_context(int device) override {
    const Lock lock(state().mutex);
    state().contexts.push_back(std::make_unique<CUctx_st>(CUctx_st{device, false}));
    context_stack.push_back(state().contexts.back().get());
    return context_stack.back();
  }
  void destroy_stream(CUstream stream) override {
    const Lock lock(state().mutex);
    state().streams.erase(stream);
    delete stream;
  }
  CUstream create_stream(CUcontext context, bool is_blocking) override {
    const Lock lock(state().mutex);
    return make_stream(context, is_blocking);
  }
  void begin_capture(CUstream stream) override {
    const Lock lock(state().mutex);
    stream->capture = new CUgraph_st;
    stream->capture_id = state().next_id++;
    stream->is_spoilt = false;
  }
  CUgraph end_capture(CUstream stream) override {
    const Lock lock(state().mutex);
    CUgraph graph = std::exchange(stream->capture, nullptr);
    if (!std::exchange(stream->is_spoilt, false)) return graph;
    destroy_graph(graph);
    return nullptr;
  }
  void destroy_graph(CUgraph graph) override {
    for (CUuserObject object : graph->objects) {
      object->destroy(object->data);
      delete object;
    }
    delete graph;
  }
  bool shut_down(bool is_down) override { return std::exchange(state().is_down, is_down); }
};

}  // namespace

FakeDriver* controls() {
  static auto& all = *new Controls;
  return &all;
}

}  // namespace fake
