// SPDX-License-Identifier: Apache-2.0
// profile/cuda_activity.cpp — CUPTI's buffers, and what each record becomes.
//
// CUPTI is given our clock, so that its times and ours lie on one axis.
#include "profile/cuda_activity.h"

#include <cxxabi.h>

#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "runtime/cuda/cupti_api.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using namespace cuda;

constexpr std::size_t buffer_bytes = 4 << 20;
constexpr CUpti_ActivityKind wanted[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMSET,
                                         CUPTI_ACTIVITY_KIND_DRIVER,
                                         CUPTI_ACTIVITY_KIND_RUNTIME,
                                         CUPTI_ACTIVITY_KIND_OVERHEAD,
                                         CUPTI_ACTIVITY_KIND_MARKER};

std::atomic<Recorder*> receiver{nullptr};

// Ranges whose end has not been seen yet, by CUPTI's number of the range.
struct OpenRange {
  std::uint64_t start;
  std::string name;
};
std::mutex ranges_mutex;
std::map<std::uint32_t, OpenRange> open_ranges;

TraceEvent event_of(TraceKind kind, std::uint64_t start, std::uint64_t end) {
  TraceEvent event;
  event.kind = kind;
  event.start = static_cast<std::int64_t>(start);
  event.end = static_cast<std::int64_t>(end);
  return event;
}

// C++ names as they were written.
std::string readable(const char* name) {
  if (!name) return "unnamed kernel";
  int status = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string out = status == 0 && text ? text : name;
  std::free(text);
  if (out.starts_with("void ")) out.erase(0, 5);
  return out;
}

void on_kernel(Recorder& to, const CUpti_ActivityKernel& record) {
  TraceEvent event = event_of(TraceKind::Kernel, record.start, record.end);
  event.correlation = record.correlationId;
  event.device = static_cast<std::int32_t>(record.deviceId);
  event.thread = record.streamId;
  const std::int32_t grid[3] = {record.gridX, record.gridY, record.gridZ};
  const std::int32_t block[3] = {record.blockX, record.blockY, record.blockZ};
  for (int axis = 0; axis < 3; ++axis) {
    event.grid[axis] = static_cast<std::uint32_t>(grid[axis]);
    event.block[axis] = static_cast<std::uint32_t>(block[axis]);
  }
  event.registers = record.registersPerThread;
  event.shared_bytes =
      static_cast<std::uint32_t>(record.staticSharedMemory + record.dynamicSharedMemory);
  static thread_local std::map<std::string, std::string> names;
  std::string& name = names[record.name ? record.name : ""];
  if (name.empty()) name = readable(record.name);
  to.add(event, name);
}

const char* copy_name(std::uint8_t kind) {
  constexpr const char* names[] = {"copy",
                                   "copy host to device",
                                   "copy device to host",
                                   "copy host to array",
                                   "copy array to host",
                                   "copy array to array",
                                   "copy array to device",
                                   "copy device to array",
                                   "copy device to device",
                                   "copy host to host",
                                   "copy peer to peer"};
  return kind < std::size(names) ? names[kind] : names[0];
}

void on_copy(Recorder& to, const CUpti_ActivityMemcpy& record) {
  TraceEvent event = event_of(TraceKind::Copy, record.start, record.end);
  event.correlation = record.correlationId;
  event.device = static_cast<std::int32_t>(record.deviceId);
  event.thread = record.streamId;
  event.bytes = static_cast<std::int64_t>(record.bytes);
  to.add(event, copy_name(record.copyKind));
}

void on_fill(Recorder& to, const CUpti_ActivityMemset& record) {
  TraceEvent event = event_of(TraceKind::Fill, record.start, record.end);
  event.correlation = record.correlationId;
  event.device = static_cast<std::int32_t>(record.deviceId);
  event.thread = record.streamId;
  event.bytes = static_cast<std::int64_t>(record.bytes);
  to.add(event, "fill");
}

// The same call has another number in each domain and version; CUPTI knows its name. Versioned
// names ("cuLaunchKernel_ptsz", "cudaMemcpy_v3020") are cut to the plain ones.
std::string call_name(CUpti_CallbackDomain domain, std::uint32_t number) {
  const char* name = nullptr;
  if (cupti().cuptiGetCallbackName(domain, number, &name) != CUPTI_SUCCESS || !name)
    return fmt::format("call {}", number);
  std::string text = name;
  const std::size_t version = text.rfind("_v");
  if (version != std::string::npos &&
      text.find_first_not_of("0123456789", version + 2) == std::string::npos)
    text.resize(version);
  return text;
}

void on_call(Recorder& to, const CUpti_ActivityAPI& record, CUpti_CallbackDomain domain) {
  static thread_local std::map<std::pair<int, std::uint32_t>, std::string> names;
  std::string& name = names[{domain, record.cbid}];
  if (name.empty()) name = call_name(domain, record.cbid);
  TraceEvent event = event_of(TraceKind::Call, record.start, record.end);
  event.correlation = record.correlationId;
  event.thread = record.threadId;
  to.add(event, name);
}

void on_marker(Recorder& to, const CUpti_ActivityMarker& record) {
  constexpr std::uint32_t begins = 2, ends = 4;
  const std::lock_guard lock(ranges_mutex);
  if (record.flags & begins)
    open_ranges[record.id] = {record.timestamp, record.name ? record.name : "range"};
  if (!(record.flags & ends)) return;
  const auto found = open_ranges.find(record.id);
  if (found == open_ranges.end()) return;
  TraceEvent event = event_of(TraceKind::Range, found->second.start, record.timestamp);
  event.thread = record.objectId[1];
  to.add(event, found->second.name);
  open_ranges.erase(found);
}

const char* overhead_name(std::int32_t kind) {
  switch (kind) {
    case 1:
      return "driver compiles";
    case 1 << 16:
      return "CUPTI flushes a buffer";
    case 2 << 16:
      return "CUPTI instruments";
    case 3 << 16:
      return "CUPTI sets up";
    default:
      return "overhead of recording";
  }
}

void on_record(Recorder& to, const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return on_kernel(to, reinterpret_cast<const CUpti_ActivityKernel&>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return on_copy(to, reinterpret_cast<const CUpti_ActivityMemcpy&>(record));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return on_fill(to, reinterpret_cast<const CUpti_ActivityMemset&>(record));
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return on_call(to, reinterpret_cast<const CUpti_ActivityAPI&>(record),
                     CUPTI_CB_DOMAIN_DRIVER_API);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return on_call(to, reinterpret_cast<const CUpti_ActivityAPI&>(record),
                     CUPTI_CB_DOMAIN_RUNTIME_API);
    case CUPTI_ACTIVITY_KIND_MARKER:
      return on_marker(to, reinterpret_cast<const CUpti_ActivityMarker&>(record));
    case CUPTI_ACTIVITY_KIND_OVERHEAD: {
      const auto& overhead = reinterpret_cast<const CUpti_ActivityOverhead&>(record);
      return to.add(event_of(TraceKind::Overhead, overhead.start, overhead.end),
                    overhead_name(overhead.overheadKind));
    }
  }
}

// ---- CUPTI's callbacks: called from its threads; nothing may be thrown through them.

void give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(64, buffer_bytes));
  *bytes = *buffer ? buffer_bytes : 0;
  *most_records = 0;
}

void take_buffer(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                 std::size_t valid) {
  Recorder* to = receiver.load();
  try {
    CUpti_Activity* record = nullptr;
    while (to && cupti().cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
      on_record(*to, *record);
    std::size_t dropped = 0;
    if (to &&
        cupti().cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS &&
        dropped != 0)
      to->note(fmt::format("CUPTI dropped {} records: the trace is not complete", dropped));
  } catch (const std::exception& error) {
    if (to) to->note(fmt::format("records of CUPTI were lost: {}", error.what()));
  }
  std::free(buffer);
}

std::uint64_t clock_for_cupti() { return static_cast<std::uint64_t>(event_clock()); }

std::string reason_of(CUptiResult result) {
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
    return "another profiler is attached to this process; end it first";
  if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
    return "this user may not profile the GPU; see "
           "https://developer.nvidia.com/ERR_NVGPUCTRPERM";
  const char* text = nullptr;
  cupti().cuptiGetResultString(result, &text);
  return fmt::format("CUPTI says {}", text ? text : "nothing");
}

void check(CUptiResult result) {
  if (result != CUPTI_SUCCESS) throw MissingError(reason_of(result));
}

// Once per process: CUPTI keeps both.
void register_callbacks() {
  static const bool is_registered = [] {
    check(cupti().cuptiSetThreadIdType(1));  // the system's numbers, as event_thread()
    check(cupti().cuptiActivityRegisterTimestampCallback(clock_for_cupti));
    check(cupti().cuptiActivityRegisterCallbacks(give_buffer, take_buffer));
    return true;
  }();
  static_cast<void>(is_registered);
}

}  // namespace

bool start_cuda_activity(Recorder& recorder) {
  try {
    register_callbacks();
    receiver.store(&recorder);
    for (CUpti_ActivityKind kind : wanted) check(cupti().cuptiActivityEnable(kind));
    return true;
  } catch (const MissingError& error) {
    receiver.store(nullptr);
    recorder.note(fmt::format("what the GPU did is not recorded: {}", error.what()));
    return false;
  }
}

void flush_cuda_activity(bool all) {
  if (receiver.load()) cupti().cuptiActivityFlushAll(all ? 1 : 0);
}

void stop_cuda_activity() {
  if (!receiver.load()) return;
  for (CUpti_ActivityKind kind : wanted) cupti().cuptiActivityDisable(kind);
  cupti().cuptiActivityFlushAll(1);
  receiver.store(nullptr);
}

}  // namespace tilewright
