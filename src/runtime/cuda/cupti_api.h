// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/cupti_api.h — CUPTI, the library that records what a GPU does, opened at the first
// use: the functions and the beginnings of the records that profiles read.
//
// Records grow from version to version, but at their end: the fields named here have kept their
// places from CUDA 12 to 13 (a test compares them with a toolkit's headers). Other versions are
// refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tilewright::cuda {

enum CUptiResult : int {
  CUPTI_SUCCESS = 0,
  CUPTI_ERROR_MAX_LIMIT_REACHED = 12,
  CUPTI_ERROR_HARDWARE_BUSY = 26,
  CUPTI_ERROR_INSUFFICIENT_PRIVILEGES = 35,
  CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED = 39,
  CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES = 40,
};

enum CUpti_ActivityKind : std::int32_t {
  CUPTI_ACTIVITY_KIND_MEMCPY = 1,
  CUPTI_ACTIVITY_KIND_MEMSET = 2,
  CUPTI_ACTIVITY_KIND_DRIVER = 4,
  CUPTI_ACTIVITY_KIND_RUNTIME = 5,
  CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL = 10,
  CUPTI_ACTIVITY_KIND_MARKER = 12,
  CUPTI_ACTIVITY_KIND_OVERHEAD = 17,
};

enum CUpti_CallbackDomain : int { CUPTI_CB_DOMAIN_DRIVER_API = 1, CUPTI_CB_DOMAIN_RUNTIME_API = 2 };

struct CUpti_Activity {
  CUpti_ActivityKind kind;
};

struct CUpti_ActivityKernel {
  CUpti_ActivityKind kind;
  std::uint16_t cacheConfig;
  std::uint16_t registersPerThread;
  std::int32_t partitionedGlobalCache[2];
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t completed;
  std::uint32_t deviceId;
  std::uint32_t contextId;
  std::uint32_t streamId;
  std::int32_t gridX, gridY, gridZ;
  std::int32_t blockX, blockY, blockZ;
  std::int32_t staticSharedMemory;
  std::int32_t dynamicSharedMemory;
  std::uint32_t localMemoryPerThread;
  std::uint32_t localMemoryTotal;
  std::uint32_t correlationId;
  std::int64_t gridId;
  const char* name;
};

struct CUpti_ActivityMemcpy {
  CUpti_ActivityKind kind;
  std::uint8_t copyKind;
  std::uint8_t srcKind;
  std::uint8_t dstKind;
  std::uint8_t flags;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t deviceId;
  std::uint32_t contextId;
  std::uint32_t streamId;
  std::uint32_t correlationId;
};

struct CUpti_ActivityMemset {
  CUpti_ActivityKind kind;
  std::uint32_t value;
  std::uint64_t bytes;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t deviceId;
  std::uint32_t contextId;
  std::uint32_t streamId;
  std::uint32_t correlationId;
};

struct CUpti_ActivityAPI {
  CUpti_ActivityKind kind;
  std::uint32_t cbid;
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t processId;
  std::uint32_t threadId;
  std::uint32_t correlationId;
  std::uint32_t returnValue;
};

struct CUpti_ActivityOverhead {
  CUpti_ActivityKind kind;
  std::int32_t overheadKind;
  std::int32_t objectKind;
  std::uint32_t objectId[3];
  std::uint64_t start;
  std::uint64_t end;
};

struct CUpti_ActivityMarker {
  CUpti_ActivityKind kind;
  std::uint32_t flags;  // 2: a range begins here, 4: it ends
  std::uint64_t timestamp;
  std::uint32_t id;
  std::int32_t objectKind;
  std::uint32_t objectId[3];  // of a thread: process, thread
  std::uint32_t padding;
  const char* name;
  const char* domain;
};

// OP(exported name, result type, parameter types)
// clang-format off
#define TW_CUPTI_FUNCTIONS(OP)                                                                                           \
  OP(cuptiGetVersion, CUptiResult, std::uint32_t*)                                                                       \
  OP(cuptiGetResultString, CUptiResult, CUptiResult, const char**)                                                       \
  OP(cuptiActivityRegisterCallbacks, CUptiResult, void (*)(std::uint8_t**, std::size_t*, std::size_t*),                  \
     void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t))                                            \
  OP(cuptiActivityRegisterTimestampCallback, CUptiResult, std::uint64_t (*)())                                           \
  OP(cuptiActivityEnable, CUptiResult, CUpti_ActivityKind)                                                               \
  OP(cuptiActivityDisable, CUptiResult, CUpti_ActivityKind)                                                              \
  OP(cuptiActivityFlushAll, CUptiResult, std::uint32_t)                                                                  \
  OP(cuptiActivityGetNextRecord, CUptiResult, std::uint8_t*, std::size_t, CUpti_Activity**)                              \
  OP(cuptiActivityGetNumDroppedRecords, CUptiResult, void*, std::uint32_t, std::size_t*)                                 \
  OP(cuptiSetThreadIdType, CUptiResult, int)                                                                             \
  OP(cuptiGetCallbackName, CUptiResult, CUpti_CallbackDomain, std::uint32_t, const char**)
// clang-format on

struct CuptiApi {
#define OP(name, result, ...) result (*name)(__VA_ARGS__) = nullptr;
  TW_CUPTI_FUNCTIONS(OP)
#undef OP
  std::string path;
  std::uint32_t version = 0;
};

// Where CUPTI is; empty when there is none or CUDA is hidden. Opens nothing.
std::string cupti_path();

// Throws MissingError when there is none that can be used. Opened once, then kept.
const CuptiApi& cupti();

}  // namespace tilewright::cuda
