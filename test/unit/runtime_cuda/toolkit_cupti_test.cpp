// SPDX-License-Identifier: Apache-2.0
// runtime_cuda/toolkit_cupti_test.cpp — the records of CUPTI that we read lie where NVIDIA's header
// says.
//
// Built only where a toolkit's headers are; ours are included first.
#include "runtime/cuda/cupti_counters.h"

#if __has_include(<cupti.h>)
#include <cuda.h>
#include <cupti.h>
#endif
#if __has_include(<cupti_range_profiler.h>)
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#endif

#include <gtest/gtest.h>

#if defined(_CUPTI_RANGE_PROFILER_H_)
// OP(the middle of our struct's name, that of theirs)
// clang-format off
#define TW_COUNTER_PARAMETERS(OP) \
  OP(Profiler_Initialize, Profiler_Initialize) \
  OP(Profiler_GetCounterAvailability, Profiler_GetCounterAvailability) \
  OP(Device_GetChipName, Device_GetChipName) \
  OP(Profiler_Host_Initialize, Profiler_Host_Initialize) \
  OP(Profiler_Host_Deinitialize, Profiler_Host_Deinitialize) \
  OP(Profiler_Host_ConfigAddMetrics, Profiler_Host_ConfigAddMetrics) \
  OP(Profiler_Host_GetConfigImageSize, Profiler_Host_GetConfigImageSize) \
  OP(Profiler_Host_GetConfigImage, Profiler_Host_GetConfigImage) \
  OP(Profiler_Host_EvaluateToGpuValues, Profiler_Host_EvaluateToGpuValues) \
  OP(RangeProfiler_Enable, RangeProfiler_Enable) \
  OP(RangeProfiler_PushRange, RangeProfiler_PushRange) \
  OP(RangeProfiler_Stop, RangeProfiler_Stop) \
  OP(RangeProfiler_DecodeData, RangeProfiler_DecodeData) \
  OP(RangeProfiler_GetCounterDataSize, RangeProfiler_GetCounterDataSize) \
  OP(RangeProfiler_CounterDataImage_Initialize, RangeProfiler_CounterDataImage_Initialize) \
  OP(RangeProfiler_SetConfig, RangeProfiler_SetConfig) \
  OP(RangeProfiler_Object, RangeProfiler_Disable) \
  OP(RangeProfiler_Object, RangeProfiler_Start) \
  OP(RangeProfiler_Object, RangeProfiler_PopRange)
// clang-format on

// Outside of our namespace, where the header's macros mean the header's structs.
namespace toolkit {
#define OP(ours, theirs) \
  constexpr std::size_t size_of_##theirs = CUpti_##theirs##_Params_STRUCT_SIZE;
TW_COUNTER_PARAMETERS(OP)
#undef OP
}  // namespace toolkit
#endif

namespace tilewright::cuda {
namespace {

#if defined(CUPTI_API_VERSION)

#if CUPTI_API_VERSION >= 130000
using TheirKernel = ::CUpti_ActivityKernel10;
using TheirMemcpy = ::CUpti_ActivityMemcpy6;
#else
using TheirKernel = ::CUpti_ActivityKernel9;
using TheirMemcpy = ::CUpti_ActivityMemcpy5;
#endif

#define EXPECT_SAME_PLACE(ours, theirs, field)                         \
  EXPECT_EQ(offsetof(ours, field), offsetof(theirs, field)) << #field; \
  EXPECT_EQ(sizeof(ours::field), sizeof(theirs::field)) << #field

TEST(ToolkitCupti, KernelsLieWhereTheHeaderSays) {
  EXPECT_SAME_PLACE(CUpti_ActivityKernel, TheirKernel, kind);
  EXPECT_SAME_PLACE(CUpti_ActivityKernel, TheirKernel, registersPerThread);
  EXPECT_SAME_PLACE(CUpti_ActivityKernel, TheirKernel, start);
  EXPECT_SAME_PLACE(CUpti_ActivityKernel, TheirKernel, end);
  EXPECT_SAME_PLACE(CUpti_ActivityKernel, TheirKernel, deviceId);
  EXPECT_SAME_PLACE(CUpti_ActivityKernel, TheirKernel, streamId);
  EXPECT_SAME_PLACE(CUpti_ActivityKernel, TheirKernel, gridX);
  EXPECT_SAME_PLACE(CUpti_ActivityKernel, TheirKernel, gridZ);
  EXPECT_SAME_PLACE(CUpti_ActivityKernel, TheirKernel, blockZ);
  EXPECT_SAME_PLACE(CUpti_ActivityKernel, TheirKernel, staticSharedMemory);
  EXPECT_SAME_PLACE(CUpti_ActivityKernel, TheirKernel, dynamicSharedMemory);
  EXPECT_SAME_PLACE(CUpti_ActivityKernel, TheirKernel, correlationId);
  EXPECT_SAME_PLACE(CUpti_ActivityKernel, TheirKernel, name);
}

TEST(ToolkitCupti, CopiesAndFillsLieWhereTheHeaderSays) {
  EXPECT_SAME_PLACE(CUpti_ActivityMemcpy, TheirMemcpy, copyKind);
  EXPECT_SAME_PLACE(CUpti_ActivityMemcpy, TheirMemcpy, bytes);
  EXPECT_SAME_PLACE(CUpti_ActivityMemcpy, TheirMemcpy, start);
  EXPECT_SAME_PLACE(CUpti_ActivityMemcpy, TheirMemcpy, end);
  EXPECT_SAME_PLACE(CUpti_ActivityMemcpy, TheirMemcpy, deviceId);
  EXPECT_SAME_PLACE(CUpti_ActivityMemcpy, TheirMemcpy, streamId);
  EXPECT_SAME_PLACE(CUpti_ActivityMemcpy, TheirMemcpy, correlationId);
  EXPECT_SAME_PLACE(CUpti_ActivityMemset, ::CUpti_ActivityMemset4, bytes);
  EXPECT_SAME_PLACE(CUpti_ActivityMemset, ::CUpti_ActivityMemset4, start);
  EXPECT_SAME_PLACE(CUpti_ActivityMemset, ::CUpti_ActivityMemset4, end);
  EXPECT_SAME_PLACE(CUpti_ActivityMemset, ::CUpti_ActivityMemset4, streamId);
  EXPECT_SAME_PLACE(CUpti_ActivityMemset, ::CUpti_ActivityMemset4, correlationId);
}

TEST(ToolkitCupti, CallsAndRangesLieWhereTheHeaderSays) {
  EXPECT_SAME_PLACE(CUpti_ActivityAPI, ::CUpti_ActivityAPI, cbid);
  EXPECT_SAME_PLACE(CUpti_ActivityAPI, ::CUpti_ActivityAPI, start);
  EXPECT_SAME_PLACE(CUpti_ActivityAPI, ::CUpti_ActivityAPI, end);
  EXPECT_SAME_PLACE(CUpti_ActivityAPI, ::CUpti_ActivityAPI, threadId);
  EXPECT_SAME_PLACE(CUpti_ActivityAPI, ::CUpti_ActivityAPI, correlationId);
  EXPECT_SAME_PLACE(CUpti_ActivityMarker, ::CUpti_ActivityMarker2, flags);
  EXPECT_SAME_PLACE(CUpti_ActivityMarker, ::CUpti_ActivityMarker2, timestamp);
  EXPECT_SAME_PLACE(CUpti_ActivityMarker, ::CUpti_ActivityMarker2, id);
  EXPECT_SAME_PLACE(CUpti_ActivityMarker, ::CUpti_ActivityMarker2, name);
#if CUPTI_API_VERSION >= 130000
  EXPECT_SAME_PLACE(CUpti_ActivityOverhead, ::CUpti_ActivityOverhead3, overheadKind);
  EXPECT_SAME_PLACE(CUpti_ActivityOverhead, ::CUpti_ActivityOverhead3, start);
  EXPECT_SAME_PLACE(CUpti_ActivityOverhead, ::CUpti_ActivityOverhead3, end);
#endif
}

TEST(ToolkitCupti, NumbersAreThoseOfTheHeader) {
  EXPECT_EQ(+CUPTI_ACTIVITY_KIND_MEMCPY, +::CUPTI_ACTIVITY_KIND_MEMCPY);
  EXPECT_EQ(+CUPTI_ACTIVITY_KIND_MEMSET, +::CUPTI_ACTIVITY_KIND_MEMSET);
  EXPECT_EQ(+CUPTI_ACTIVITY_KIND_DRIVER, +::CUPTI_ACTIVITY_KIND_DRIVER);
  EXPECT_EQ(+CUPTI_ACTIVITY_KIND_RUNTIME, +::CUPTI_ACTIVITY_KIND_RUNTIME);
  EXPECT_EQ(+CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, +::CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  EXPECT_EQ(+CUPTI_ACTIVITY_KIND_MARKER, +::CUPTI_ACTIVITY_KIND_MARKER);
  EXPECT_EQ(+CUPTI_ACTIVITY_KIND_OVERHEAD, +::CUPTI_ACTIVITY_KIND_OVERHEAD);
  EXPECT_EQ(+CUPTI_CB_DOMAIN_DRIVER_API, +::CUPTI_CB_DOMAIN_DRIVER_API);
  EXPECT_EQ(+CUPTI_CB_DOMAIN_RUNTIME_API, +::CUPTI_CB_DOMAIN_RUNTIME_API);
  EXPECT_EQ(+CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, +::CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  EXPECT_EQ(+CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
            +::CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
}

#if defined(_CUPTI_RANGE_PROFILER_H_)

// The library reads as many bytes as the struct's first field says.
TEST(ToolkitCupti, ParametersOfCountersHaveTheirSizes) {
#define OP(ours, theirs) \
  EXPECT_EQ(CUpti_##ours##_Params().structSize, toolkit::size_of_##theirs) << #theirs;
  TW_COUNTER_PARAMETERS(OP)
#undef OP
}

TEST(ToolkitCupti, ParametersOfCountersLieWhereTheHeaderSays) {
  EXPECT_SAME_PLACE(CUpti_Profiler_Host_Initialize_Params, ::CUpti_Profiler_Host_Initialize_Params,
                    pChipName);
  EXPECT_SAME_PLACE(CUpti_RangeProfiler_SetConfig_Params, ::CUpti_RangeProfiler_SetConfig_Params,
                    range);
  EXPECT_SAME_PLACE(CUpti_RangeProfiler_SetConfig_Params, ::CUpti_RangeProfiler_SetConfig_Params,
                    replayMode);
  EXPECT_SAME_PLACE(CUpti_RangeProfiler_SetConfig_Params, ::CUpti_RangeProfiler_SetConfig_Params,
                    numNestingLevels);
  EXPECT_SAME_PLACE(CUpti_RangeProfiler_SetConfig_Params, ::CUpti_RangeProfiler_SetConfig_Params,
                    targetNestingLevel);
  EXPECT_SAME_PLACE(CUpti_RangeProfiler_GetCounterDataSize_Params,
                    ::CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumRangeTreeNodes);
  EXPECT_SAME_PLACE(CUpti_RangeProfiler_Stop_Params, ::CUpti_RangeProfiler_Stop_Params,
                    isAllPassSubmitted);
  EXPECT_EQ(+CUPTI_UserRange, +::CUPTI_UserRange);
  EXPECT_EQ(+CUPTI_UserReplay, +::CUPTI_UserReplay);
  EXPECT_EQ(+CUPTI_ERROR_HARDWARE_BUSY, +::CUPTI_ERROR_HARDWARE_BUSY);
  EXPECT_EQ(+CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
            +::CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
}

#endif

#else

TEST(ToolkitCupti, Header) { GTEST_SKIP() << "this toolkit has no cupti.h"; }

#endif

}  // namespace
}  // namespace tilewright::cuda
