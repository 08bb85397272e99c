// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/toolkit_test.cpp — our declarations of the driver and NVRTC equal those of NVIDIA's
// headers.
//
// Built only where a toolkit's headers are. Ours are included first: theirs rename functions by
// macro.
#include "runtime/cuda/driver_api.h"
#include "runtime/cuda/nvrtc_api.h"

#include <unistd.h>

#include <type_traits>

#define CUDA_ENABLE_DEPRECATED
#include <cuda.h>
#include <nvrtc.h>

#include <gtest/gtest.h>

#include "equivalent.h"

// Newer headers show only newer versions of these two; the driver keeps exporting both.
#undef cuEventElapsedTime
extern "C" CUresult cuEventElapsedTime(float*, CUevent, CUevent);
extern "C" CUresult cuStreamGetCaptureInfo_v2(CUstream, CUstreamCaptureStatus*, cuuint64_t*,
                                              CUgraph*, const CUgraphNode**, size_t*);

namespace tilewright::cuda {
namespace {

static_assert(equivalent<int(CUstream, const char*), int(::CUstream, const char*)>());
static_assert(!equivalent<int(CUstream, int), int(::CUstream)>());
static_assert(!equivalent<int(unsigned char), int(unsigned)>());
static_assert(!equivalent<int(const char*), int(char*)>());

// ---- Functions.

#define OP(name, ...)                                                                             \
  static_assert(equivalent<std::remove_pointer_t<decltype(DriverApi::name)>, decltype(::name)>(), \
                #name);
#include "runtime/cuda/driver_functions.def"
#undef OP

#define OP(name, result, ...)                                                                    \
  static_assert(equivalent<std::remove_pointer_t<decltype(NvrtcApi::name)>, decltype(::name)>(), \
                #name);
TW_NVRTC_FUNCTIONS(OP)
#undef OP

// ---- Values.

#define SAME(name) \
  static_assert(static_cast<unsigned>(name) == static_cast<unsigned>(::name), #name)
SAME(CUDA_SUCCESS);
SAME(CUDA_ERROR_INVALID_VALUE);
SAME(CUDA_ERROR_OUT_OF_MEMORY);
SAME(CUDA_ERROR_NOT_INITIALIZED);
SAME(CUDA_ERROR_DEINITIALIZED);
SAME(CUDA_ERROR_STUB_LIBRARY);
SAME(CUDA_ERROR_NO_DEVICE);
SAME(CUDA_ERROR_INVALID_DEVICE);
SAME(CUDA_ERROR_INVALID_IMAGE);
SAME(CUDA_ERROR_INVALID_CONTEXT);
SAME(CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(CUDA_ERROR_ECC_UNCORRECTABLE);
SAME(CUDA_ERROR_NVLINK_UNCORRECTABLE);
SAME(CUDA_ERROR_INVALID_HANDLE);
SAME(CUDA_ERROR_NOT_FOUND);
SAME(CUDA_ERROR_NOT_READY);
SAME(CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
SAME(CUDA_ERROR_LAUNCH_TIMEOUT);
SAME(CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME(CUDA_ERROR_ASSERT);
SAME(CUDA_ERROR_HARDWARE_STACK_ERROR);
SAME(CUDA_ERROR_ILLEGAL_INSTRUCTION);
SAME(CUDA_ERROR_MISALIGNED_ADDRESS);
SAME(CUDA_ERROR_INVALID_ADDRESS_SPACE);
SAME(CUDA_ERROR_INVALID_PC);
SAME(CUDA_ERROR_LAUNCH_FAILED);
SAME(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
SAME(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
SAME(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
SAME(CUDA_ERROR_INVALID_CLUSTER_SIZE);
SAME(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
SAME(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
SAME(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
SAME(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
SAME(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
SAME(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
SAME(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
SAME(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
SAME(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
SAME(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
SAME(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
SAME(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
SAME(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
SAME(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
SAME(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
SAME(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
SAME(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
SAME(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
SAME(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
SAME(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
SAME(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME(CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
SAME(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
SAME(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
SAME(CU_JIT_ERROR_LOG_BUFFER);
SAME(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(CU_STREAM_CAPTURE_STATUS_NONE);
SAME(CU_STREAM_CAPTURE_STATUS_ACTIVE);
SAME(CU_STREAM_CAPTURE_STATUS_INVALIDATED);
SAME(CU_STREAM_CAPTURE_MODE_GLOBAL);
SAME(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME(CU_STREAM_CAPTURE_MODE_RELAXED);
SAME(CU_STREAM_NON_BLOCKING);
SAME(CU_EVENT_DEFAULT);
SAME(CU_EVENT_DISABLE_TIMING);
SAME(CU_MEM_ATTACH_GLOBAL);
SAME(CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
SAME(CU_GRAPH_USER_OBJECT_MOVE);
SAME(CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
SAME(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME(CU_TENSOR_MAP_DATA_TYPE_UINT8);
SAME(CU_TENSOR_MAP_DATA_TYPE_UINT16);
SAME(CU_TENSOR_MAP_DATA_TYPE_UINT32);
SAME(CU_TENSOR_MAP_DATA_TYPE_INT32);
SAME(CU_TENSOR_MAP_DATA_TYPE_UINT64);
SAME(CU_TENSOR_MAP_DATA_TYPE_INT64);
SAME(CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
SAME(CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
SAME(CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
SAME(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
SAME(CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
SAME(CU_TENSOR_MAP_INTERLEAVE_NONE);
SAME(CU_TENSOR_MAP_SWIZZLE_NONE);
SAME(CU_TENSOR_MAP_SWIZZLE_32B);
SAME(CU_TENSOR_MAP_SWIZZLE_64B);
SAME(CU_TENSOR_MAP_SWIZZLE_128B);
SAME(CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
SAME(CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
SAME(NVRTC_SUCCESS);
SAME(NVRTC_ERROR_OUT_OF_MEMORY);
SAME(NVRTC_ERROR_INVALID_OPTION);
SAME(NVRTC_ERROR_COMPILATION);
#undef SAME

// ---- Layouts.

static_assert(sizeof(CUlaunchConfig) == sizeof(::CUlaunchConfig));
static_assert(offsetof(CUlaunchConfig, sharedMemBytes) ==
              offsetof(::CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(CUlaunchConfig, hStream) == offsetof(::CUlaunchConfig, hStream));
static_assert(offsetof(CUlaunchConfig, attrs) == offsetof(::CUlaunchConfig, attrs));
static_assert(offsetof(CUlaunchConfig, numAttrs) == offsetof(::CUlaunchConfig, numAttrs));
static_assert(sizeof(CUlaunchAttribute) == sizeof(::CUlaunchAttribute));
static_assert(offsetof(CUlaunchAttribute, value) == offsetof(::CUlaunchAttribute, value));
static_assert(alignof(CUlaunchAttributeValue) == alignof(::CUlaunchAttributeValue));
static_assert(sizeof(CUtensorMap) == sizeof(::CUtensorMap));
static_assert(std::is_same_v<CUdeviceptr, ::CUdeviceptr>);

// The toolkit's stand-in for linking exports what a driver exports, and every function of it says
// that it is none.
TEST(Toolkit, EveryFunctionIsExported) {
  DriverApi api;
  std::string path;
  if (access(TW_CUDA_STUB, R_OK) != 0) GTEST_SKIP() << TW_CUDA_STUB << " is not on this machine";
  ASSERT_EQ(load_driver(TW_CUDA_STUB, api, &path), "");
  EXPECT_EQ(api.cuInit(0), CUDA_ERROR_STUB_LIBRARY);
  EXPECT_NE(path.find("libcuda.so"), std::string::npos);
}

}  // namespace
}  // namespace tilewright::cuda
