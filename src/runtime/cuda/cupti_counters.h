// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/cupti_counters.h — the part of CUPTI that reads hardware counters: its range
// profiler, and the host side that knows which counters a metric is made of.
//
// Every call takes one struct that begins with its own size, so that the library knows which
// version it was written for. The range profiler came with CUDA 12.6; a CUPTI without it is
// refused. A test compares the structs with a toolkit's headers.
#pragma once

#include "runtime/cuda/cupti_api.h"
#include "runtime/cuda/driver_types.h"

namespace tilewright::cuda {

enum CUpti_ProfilerRange : int { CUPTI_AutoRange = 1, CUPTI_UserRange = 2 };
enum CUpti_ProfilerReplayMode : int { CUPTI_KernelReplay = 2, CUPTI_UserReplay = 3 };
enum CUpti_ProfilerType : int { CUPTI_PROFILER_TYPE_RANGE_PROFILER = 0 };

struct CUpti_RangeProfiler_Object;
struct CUpti_Profiler_Host_Object;

struct CUpti_Profiler_Initialize_Params {
  std::size_t structSize = 2 * sizeof(void*);
  void* pPriv = nullptr;
};

struct CUpti_Profiler_GetCounterAvailability_Params {
  std::size_t structSize = 5 * sizeof(void*);
  void* pPriv = nullptr;
  CUcontext ctx = nullptr;
  std::size_t counterAvailabilityImageSize = 0;
  std::uint8_t* pCounterAvailabilityImage = nullptr;
};

struct CUpti_Device_GetChipName_Params {
  std::size_t structSize = 4 * sizeof(void*);
  void* pPriv = nullptr;
  std::size_t deviceIndex = 0;
  const char* pChipName = nullptr;
};

struct CUpti_Profiler_Host_Initialize_Params {
  std::size_t structSize = 6 * sizeof(void*);
  void* pPriv = nullptr;
  CUpti_ProfilerType profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  const char* pChipName = nullptr;
  const std::uint8_t* pCounterAvailabilityImage = nullptr;
  CUpti_Profiler_Host_Object* pHostObject = nullptr;
};

struct CUpti_Profiler_Host_Deinitialize_Params {
  std::size_t structSize = 3 * sizeof(void*);
  void* pPriv = nullptr;
  CUpti_Profiler_Host_Object* pHostObject = nullptr;
};

struct CUpti_Profiler_Host_ConfigAddMetrics_Params {
  std::size_t structSize = 5 * sizeof(void*);
  void* pPriv = nullptr;
  CUpti_Profiler_Host_Object* pHostObject = nullptr;
  const char** ppMetricNames = nullptr;
  std::size_t numMetrics = 0;
};

struct CUpti_Profiler_Host_GetConfigImageSize_Params {
  std::size_t structSize = 4 * sizeof(void*);
  void* pPriv = nullptr;
  CUpti_Profiler_Host_Object* pHostObject = nullptr;
  std::size_t configImageSize = 0;
};

struct CUpti_Profiler_Host_GetConfigImage_Params {
  std::size_t structSize = 5 * sizeof(void*);
  void* pPriv = nullptr;
  CUpti_Profiler_Host_Object* pHostObject = nullptr;
  std::size_t configImageSize = 0;
  std::uint8_t* pConfigImage = nullptr;
};

struct CUpti_Profiler_Host_EvaluateToGpuValues_Params {
  std::size_t structSize = 9 * sizeof(void*);
  void* pPriv = nullptr;
  CUpti_Profiler_Host_Object* pHostObject = nullptr;
  const std::uint8_t* pCounterDataImage = nullptr;
  std::size_t counterDataImageSize = 0;
  std::size_t rangeIndex = 0;
  const char** ppMetricNames = nullptr;
  std::size_t numMetrics = 0;
  double* pMetricValues = nullptr;
};

struct CUpti_RangeProfiler_Enable_Params {
  std::size_t structSize = 4 * sizeof(void*);
  void* pPriv = nullptr;
  CUcontext ctx = nullptr;
  CUpti_RangeProfiler_Object* pRangeProfilerObject = nullptr;
};

// Of Disable, Start and PopRange.
struct CUpti_RangeProfiler_Object_Params {
  std::size_t structSize = 3 * sizeof(void*);
  void* pPriv = nullptr;
  CUpti_RangeProfiler_Object* pRangeProfilerObject = nullptr;
};

struct CUpti_RangeProfiler_PushRange_Params {
  std::size_t structSize = 4 * sizeof(void*);
  void* pPriv = nullptr;
  CUpti_RangeProfiler_Object* pRangeProfilerObject = nullptr;
  const char* pRangeName = nullptr;
};

struct CUpti_RangeProfiler_Stop_Params {
  std::size_t structSize = 5 * sizeof(void*) + 1;
  void* pPriv = nullptr;
  CUpti_RangeProfiler_Object* pRangeProfilerObject = nullptr;
  std::size_t passIndex = 0;
  std::size_t targetNestingLevel = 0;
  std::uint8_t isAllPassSubmitted = 0;
};

struct CUpti_RangeProfiler_DecodeData_Params {
  std::size_t structSize = 4 * sizeof(void*);
  void* pPriv = nullptr;
  CUpti_RangeProfiler_Object* pRangeProfilerObject = nullptr;
  std::size_t numOfRangeDropped = 0;
};

struct CUpti_RangeProfiler_GetCounterDataSize_Params {
  std::size_t structSize = 8 * sizeof(void*);
  void* pPriv = nullptr;
  CUpti_RangeProfiler_Object* pRangeProfilerObject = nullptr;
  const char** pMetricNames = nullptr;
  std::size_t numMetrics = 0;
  std::size_t maxNumOfRanges = 1;
  std::uint32_t maxNumRangeTreeNodes = 1;
  std::size_t counterDataSize = 0;
};

struct CUpti_RangeProfiler_CounterDataImage_Initialize_Params {
  std::size_t structSize = 5 * sizeof(void*);
  void* pPriv = nullptr;
  CUpti_RangeProfiler_Object* pRangeProfilerObject = nullptr;
  std::size_t counterDataSize = 0;
  std::uint8_t* pCounterData = nullptr;
};

struct CUpti_RangeProfiler_SetConfig_Params {
  std::size_t structSize = 11 * sizeof(void*) + 2;
  void* pPriv = nullptr;
  CUpti_RangeProfiler_Object* pRangeProfilerObject = nullptr;
  std::size_t configSize = 0;
  const std::uint8_t* pConfig = nullptr;
  std::size_t counterDataImageSize = 0;
  std::uint8_t* pCounterDataImage = nullptr;
  CUpti_ProfilerRange range = CUPTI_UserRange;
  CUpti_ProfilerReplayMode replayMode = CUPTI_UserReplay;
  std::size_t maxRangesPerPass = 1;
  std::uint16_t numNestingLevels = 1;
  std::uint16_t minNestingLevel = 1;
  std::size_t passIndex = 0;
  std::uint16_t targetNestingLevel = 1;
};

// OP(exported name, the struct it takes)
// clang-format off
#define TW_CUPTI_COUNTER_FUNCTIONS(OP)                                                                          \
  OP(cuptiProfilerInitialize, CUpti_Profiler_Initialize_Params)                                                 \
  OP(cuptiProfilerDeInitialize, CUpti_Profiler_Initialize_Params)                                               \
  OP(cuptiProfilerGetCounterAvailability, CUpti_Profiler_GetCounterAvailability_Params)                         \
  OP(cuptiDeviceGetChipName, CUpti_Device_GetChipName_Params)                                                   \
  OP(cuptiProfilerHostInitialize, CUpti_Profiler_Host_Initialize_Params)                                        \
  OP(cuptiProfilerHostDeinitialize, CUpti_Profiler_Host_Deinitialize_Params)                                    \
  OP(cuptiProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params)                            \
  OP(cuptiProfilerHostGetConfigImageSize, CUpti_Profiler_Host_GetConfigImageSize_Params)                        \
  OP(cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage_Params)                                \
  OP(cuptiProfilerHostEvaluateToGpuValues, CUpti_Profiler_Host_EvaluateToGpuValues_Params)                      \
  OP(cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable_Params)                                               \
  OP(cuptiRangeProfilerDisable, CUpti_RangeProfiler_Object_Params)                                              \
  OP(cuptiRangeProfilerSetConfig, CUpti_RangeProfiler_SetConfig_Params)                                         \
  OP(cuptiRangeProfilerStart, CUpti_RangeProfiler_Object_Params)                                                \
  OP(cuptiRangeProfilerStop, CUpti_RangeProfiler_Stop_Params)                                                   \
  OP(cuptiRangeProfilerPushRange, CUpti_RangeProfiler_PushRange_Params)                                         \
  OP(cuptiRangeProfilerPopRange, CUpti_RangeProfiler_Object_Params)                                             \
  OP(cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData_Params)                                       \
  OP(cuptiRangeProfilerGetCounterDataSize, CUpti_RangeProfiler_GetCounterDataSize_Params)                       \
  OP(cuptiRangeProfilerCounterDataImageInitialize, CUpti_RangeProfiler_CounterDataImage_Initialize_Params)
// clang-format on

struct CuptiCounterApi {
#define OP(name, params) CUptiResult (*name)(params*) = nullptr;
  TW_CUPTI_COUNTER_FUNCTIONS(OP)
#undef OP
};

// Throws MissingError when there is no CUPTI, or one without a range profiler. Opened once.
const CuptiCounterApi& cupti_counters();

}  // namespace tilewright::cuda
