// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/fake_driver.cpp — the functions of the fake libcuda.so.1.
#include "fake_driver.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <type_traits>

#include "fake_state.h"

using namespace fake;

namespace {

CUgraphNode_st node_of(const CUDA_KERNEL_NODE_PARAMS& p) {
  CUgraphNode_st node{.function = p.func, .config = {}, .attributes = {}};
  node.config = {p.gridDimX,  p.gridDimY,       p.gridDimZ, p.blockDimX, p.blockDimY,
                 p.blockDimZ, p.sharedMemBytes, nullptr,    nullptr,     0};
  if (p.kernelParams != nullptr)
    std::memcpy(&node.first_parameter, p.kernelParams[0], sizeof node.first_parameter);
  return node;
}

// The process and its parent, in the file that a test names.
void note_start() {
  if (const char* path = std::getenv("FAKE_CUDA_STARTS"))
    std::ofstream(path, std::ios::app) << getpid() << ' ' << getppid() << '\n';
}

}  // namespace

extern "C" {

FakeDriver* fake_driver() { return controls(); }

CUresult cuInit(unsigned) {
  note_start();
  for (int i = 0; i < 2; ++i) state().legacy[i].context = &state().primary[i];
  for (int i = 0; i < 2; ++i) state().legacy[i].id = static_cast<std::uint64_t>(i) + 1;
  for (int i = 0; i < 2; ++i) state().legacy[i].is_blocking = true;
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) { return *version = 12040, CUDA_SUCCESS; }
CUresult cuGetErrorName(CUresult result, const char** name) {
  *name = result == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OTHER";
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult result, const char** text) {
  *text = result == CUDA_ERROR_ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
                                               : "another error";
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int index) { return *device = index, CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int* count) { return *count = 2, CUDA_SUCCESS; }
CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(size));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char*, int, CUdevice) { return CUDA_ERROR_INVALID_VALUE; }
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = device == 0 ? 9 : 8;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = device == 0 ? 0 : 6;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      *value = 227 << 10;
      break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = 132;
      break;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = 1024;
      break;
    default:
      *value = 1;
  }
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) {
  return *bytes = fake_memory_bytes, CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return *context = &state().primary[device], CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  if (state().is_down) return CUDA_ERROR_DEINITIALIZED;
  return *context = current(), CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  if (!context_stack.empty()) context_stack.pop_back();
  if (context) context_stack.push_back(context);
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return context_stack.push_back(context), CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  if (context_stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = current();
  context_stack.pop_back();
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  if (!current()) return CUDA_ERROR_INVALID_CONTEXT;
  return *device = current()->device, CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
  const Lock lock(state().mutex);
  if (const CUresult status = unsafe_call(); status != CUDA_SUCCESS) return status;
  for (CUstream stream : state().streams) stream->completed = stream->submitted;
  return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  if (const CUresult status = context_status(); status != CUDA_SUCCESS) return status;
  *free = fake_memory_bytes - fake_driver()->allocated_bytes(current()->device);
  *total = fake_memory_bytes;
  return CUDA_SUCCESS;
}
CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  const Lock lock(state().mutex);
  void* data = nullptr;
  const CUresult result = allocate(&data, bytes, current() ? current()->device : 0);
  *address = address_of(data);
  return result;
}
CUresult cuMemFree_v2(CUdeviceptr address) {
  const Lock lock(state().mutex);
  return release(pointer_of(address));
}
CUresult cuMemHostAlloc(void** data, std::size_t bytes, unsigned) {
  const Lock lock(state().mutex);
  return allocate(data, bytes, -1);
}
CUresult cuMemFreeHost(void* data) {
  const Lock lock(state().mutex);
  return release(data);
}
CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned) {
  return cuMemAlloc_v2(address, bytes);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  const Lock lock(state().mutex);
  if (const CUresult status = submit(stream); status != CUDA_SUCCESS) return status;
  std::memcpy(pointer_of(to), pointer_of(from), bytes);
  return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char value, std::size_t count, CUstream stream) {
  const Lock lock(state().mutex);
  return set_memory(at, 0, value, count, 1, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr at, unsigned short value, std::size_t count,
                          CUstream stream) {
  const Lock lock(state().mutex);
  return set_memory(at, 0, value, count, 1, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr at, unsigned value, std::size_t count, CUstream stream) {
  const Lock lock(state().mutex);
  return set_memory(at, 0, value, count, 1, stream);
}
CUresult cuMemsetD2D8Async(CUdeviceptr at, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, CUstream stream) {
  const Lock lock(state().mutex);
  return set_memory(at, pitch, value, width, height, stream);
}
CUresult cuMemsetD2D32Async(CUdeviceptr at, std::size_t pitch, unsigned value, std::size_t width,
                            std::size_t height, CUstream stream) {
  const Lock lock(state().mutex);
  return set_memory(at, pitch, value, width, height, stream);
}

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  const Lock lock(state().mutex);
  if (const CUresult status = context_status(); status != CUDA_SUCCESS) return status;
  return *stream = make_stream(current(), flags != CU_STREAM_NON_BLOCKING), CUDA_SUCCESS;
}
CUresult cuMemHostRegister_v2(void*, std::size_t, unsigned) { return CUDA_SUCCESS; }
CUresult cuMemHostUnregister(void*) { return CUDA_SUCCESS; }
CUresult cuStreamDestroy_v2(CUstream) { return CUDA_SUCCESS; }
CUresult cuLaunchHostFunc(CUstream, CUhostFn function, void* data) {
  function(data);
  return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream handle) {
  const Lock lock(state().mutex);
  if (const CUresult status = context_status(); status != CUDA_SUCCESS) return status;
  CUstream stream = resolve(handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture) return stream->is_spoilt = true, CAPTURE_UNSUPPORTED;
  stream->completed = stream->submitted;
  return CUDA_SUCCESS;
}
CUresult cuStreamQuery(CUstream handle) {
  const Lock lock(state().mutex);
  if (const CUresult status = context_status(); status != CUDA_SUCCESS) return status;
  CUstream stream = resolve(handle);
  return stream->completed == stream->submitted ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent, unsigned) {
  const Lock lock(state().mutex);
  return submit(stream);
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return *context = stream->context, CUDA_SUCCESS;
}
// Ends a capture of the stream in every mode, as driver 580 does.
CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  const Lock lock(state().mutex);
  CUstream stream = resolve(handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture) return stream->is_spoilt = true, CAPTURE_UNSUPPORTED;
  return *id = stream->id, CUDA_SUCCESS;
}
CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus* status,
                                   std::uint64_t* id, CUgraph* graph, const CUgraphNode**,
                                   std::size_t*) {
  const Lock lock(state().mutex);
  CUstream stream = resolve(handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (is_legacy_disturbed(stream)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  *status = !stream->capture    ? CU_STREAM_CAPTURE_STATUS_NONE
            : stream->is_spoilt ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (id) *id = stream->capture_id;
  if (graph) *graph = stream->capture;
  return CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return cuStreamGetCaptureInfo_v2(stream, status, nullptr, nullptr, nullptr, nullptr);
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  std::swap(*mode, capture_mode);
  return CUDA_SUCCESS;
}
// Captures of our own are for real GPUs.
CUresult cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode) { return CUDA_ERROR_INVALID_VALUE; }
CUresult cuStreamEndCapture(CUstream, CUgraph*) { return CUDA_ERROR_INVALID_VALUE; }
CUresult cuGraphCreate(CUgraph* graph, unsigned) { return *graph = new CUgraph_st, CUDA_SUCCESS; }
CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                                 std::size_t count, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  graph->nodes.push_back(std::make_unique<CUgraphNode_st>(node_of(*parameters)));
  *node = graph->nodes.back().get();
  if (count > 0) (*node)->before = before[0];
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUlaunchAttributeID id,
                                       const CUlaunchAttributeValue* value) {
  node->attributes.push_back({.id = id, .pad = {}, .value = *value});
  return CUDA_SUCCESS;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long) {
  *executable = new CUgraphExec_st;
  for (const auto& node : graph->nodes) (*executable)->nodes.emplace_back(node.get(), *node);
  return CUDA_SUCCESS;
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* parameters) {
  for (auto& [known, made] : executable->nodes) {
    if (known != node) continue;
    const CUgraphNode_st changed = node_of(*parameters);
    if (changed.function != made.function) return CUDA_ERROR_INVALID_VALUE;
    made.config = changed.config;
    made.first_parameter = changed.first_parameter;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}
// Nodes were added in an order in which each follows the one before.
CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  const Lock lock(state().mutex);
  for (auto& [known, node] : executable->nodes) {
    CUlaunchConfig config = node.config;
    config.hStream = stream;
    config.attrs = node.attributes.data();
    config.numAttrs = static_cast<unsigned>(node.attributes.size());
    if (const CUresult status = note_launch(node.function, config); status != CUDA_SUCCESS)
      return status;
    state().launches.back().is_of_graph = true;
    state().launches.back().first_parameter = node.first_parameter;
  }
  return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec executable) { return delete executable, CUDA_SUCCESS; }
CUresult cuGraphDestroy(CUgraph graph) { return delete graph, CUDA_SUCCESS; }
CUresult cuUserObjectCreate(CUuserObject* object, void* data, CUhostFn destroy, unsigned,
                            unsigned) {
  return *object = new CUuserObject_st{data, destroy}, CUDA_SUCCESS;
}
CUresult cuUserObjectRelease(CUuserObject, unsigned) { return CUDA_SUCCESS; }
CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned, unsigned) {
  return graph->objects.push_back(object), CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent* event, unsigned) {
  if (const CUresult status = context_status(); status != CUDA_SUCCESS) return status;
  const Lock lock(state().mutex);
  return *event = *state().events.insert(new CUevent_st).first, CUDA_SUCCESS;
}
CUresult cuEventDestroy_v2(CUevent event) {
  const Lock lock(state().mutex);
  state().events.erase(event);
  return delete event, CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream handle) {
  const Lock lock(state().mutex);
  CUstream stream = nullptr;
  if (const CUresult status = submit(handle, &stream); status != CUDA_SUCCESS) return status;
  *event = {stream, stream->submitted, stream->capture != nullptr};
  return CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent event) {
  const Lock lock(state().mutex);
  if (const CUresult status = unsafe_call(); status != CUDA_SUCCESS) return status;
  if (event->is_captured) return CAPTURED_EVENT;
  if (event->stream) event->stream->completed = std::max(event->stream->completed, event->ticket);
  return CUDA_SUCCESS;
}
CUresult cuEventQuery(CUevent event) {
  const Lock lock(state().mutex);
  if (const CUresult status = unsafe_call(); status != CUDA_SUCCESS) return status;
  if (event->is_captured) return CAPTURED_EVENT;
  return !event->stream || event->stream->completed >= event->ticket ? CUDA_SUCCESS
                                                                     : CUDA_ERROR_NOT_READY;
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  if (!start->stream || !end->stream) return CUDA_ERROR_INVALID_HANDLE;
  return *milliseconds = static_cast<float>(end->ticket - start->ticket), CUDA_SUCCESS;
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
  const Lock lock(state().mutex);
  if (const CUresult status = unsafe_call(); status != CUDA_SUCCESS) return status;
  const std::string text = static_cast<const char*>(image);
  if (!text.starts_with("FAKE")) return CUDA_ERROR_INVALID_IMAGE;
  std::istringstream words(text.substr(4));
  *module = *state().modules.insert(new CUmod_st).first;
  for (std::string word; words >> word;) (*module)->kernels.insert(word);
  return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) {
  const Lock lock(state().mutex);
  if (const CUresult status = unsafe_call(); status != CUDA_SUCCESS) return status;
  state().modules.erase(module);
  return delete module, CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  const Lock lock(state().mutex);
  if (!module->kernels.contains(name)) return CUDA_ERROR_NOT_FOUND;
  state().functions.push_back(std::make_unique<CUfunc_st>(CUfunc_st{name}));
  return *function = state().functions.back().get(), CUDA_SUCCESS;
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr*, std::size_t*, CUmodule, const char*) {
  return CUDA_ERROR_NOT_FOUND;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction function) {
  const Lock lock(state().mutex);
  *value = 0;
  if (which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    *value = function->max_dynamic_shared;
  if (which == CU_FUNC_ATTRIBUTE_NUM_REGS) *value = 40;
  if (which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) *value = 1024;
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value) {
  const Lock lock(state().mutex);
  ++state().attribute_calls;
  if (which == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    function->max_dynamic_shared = value;
  if (which == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
    function->large_clusters = value;
  if (which == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) function->carveout = value;
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                     std::size_t shared) {
  const Lock lock(state().mutex);
  *blocks = shared > static_cast<std::size_t>(function->max_dynamic_shared) ? 0 : 2048 / threads;
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                        unsigned by, unsigned bz, unsigned shared, CUstream stream, void**,
                        void**) {
  const Lock lock(state().mutex);
  return note_launch(function, {gx, gy, gz, bx, by, bz, shared, stream, nullptr, 0});
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void**, void**) {
  const Lock lock(state().mutex);
  return note_launch(function, *config);
}
CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType, std::uint32_t, void*,
                                const std::uint64_t*, const std::uint64_t*, const std::uint32_t*,
                                const std::uint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  std::fill(std::begin(map->opaque), std::end(map->opaque), ~std::uint64_t{0});
  return CUDA_SUCCESS;
}

}  // extern "C"

#define OP(name, ...) \
  static_assert(std::is_same_v<decltype(&::name), decltype(DriverApi::name)>, #name);
#include "runtime/cuda/driver_functions.def"
#undef OP
