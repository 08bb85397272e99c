// SPDX-License-Identifier: Apache-2.0
// profile/counters.cpp — one session of CUPTI's range profiler: the metrics become an image of
// hardware settings, a range is run once per group of counters, and the image of what they counted
// becomes values.
#include "profile/counters.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/units.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/cupti_counters.h"
#include "tilewright/error.h"

namespace tilewright {
namespace {

using namespace cuda;

// Places in `metrics`, whose stalls follow from `first_stall` on.
enum Place {
  DramRead,
  DramWrite,
  L2Hit,
  Tensor,
  Occupancy,
  LoadSectors,
  LoadRequests,
  StoreSectors,
  StoreRequests,
  Threads,
  Conflicts,
  SharedTurns,
  first_stall
};

struct Metric {
  const char* name;
  const char* words = nullptr;  // of stalls
};

constexpr Metric metrics[] = {
    {"dram__bytes_read.sum"},
    {"dram__bytes_write.sum"},
    {"lts__t_sector_hit_rate.pct"},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"},
    {"sm__warps_active.avg.pct_of_peak_sustained_active"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
    {"smsp__thread_inst_executed_per_inst_executed.ratio"},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"},
    {"smsp__warps_issue_stalled_barrier.sum", "waiting at barriers"},
    {"smsp__warps_issue_stalled_branch_resolving.sum", "branching"},
    {"smsp__warps_issue_stalled_drain.sum", "waiting for the last stores"},
    {"smsp__warps_issue_stalled_gmma.sum", "waiting for warp-group matrix products"},
    {"smsp__warps_issue_stalled_lg_throttle.sum", "queue of memory accesses full"},
    {"smsp__warps_issue_stalled_long_scoreboard.sum", "waiting for memory"},
    {"smsp__warps_issue_stalled_math_pipe_throttle.sum", "arithmetic units busy"},
    {"smsp__warps_issue_stalled_membar.sum", "waiting at memory fences"},
    {"smsp__warps_issue_stalled_mio_throttle.sum", "queue of shared memory full"},
    {"smsp__warps_issue_stalled_no_instruction.sum", "waiting for instructions"},
    {"smsp__warps_issue_stalled_not_selected.sum", "ready, another warp was chosen"},
    {"smsp__warps_issue_stalled_selected.sum", "issuing"},
    {"smsp__warps_issue_stalled_short_scoreboard.sum", "waiting for shared memory"},
    {"smsp__warps_issue_stalled_wait.sum", "fixed latencies"},
};

std::string reason_of(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "the driver lets only administrators read counters; run as root (in a container with "
             "CAP_SYS_ADMIN), or load the driver with NVreg_RestrictProfilingToAdminUsers=0";
    case CUPTI_ERROR_HARDWARE_BUSY:
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return "another profiler uses them; end it first";
    default:
      break;
  }
  const char* text = nullptr;
  cupti().cuptiGetResultString(result, &text);
  return text ? text : fmt::format("CUPTI's error {}", static_cast<int>(result));
}

void check(CUptiResult result, const char* call) {
  if (result == CUPTI_SUCCESS) return;
  throw EnvironmentError(fmt::format("{} ({})", reason_of(result), call));
}
#define TW_COUNTERS(call, params) check(cupti_counters().call(&(params)), #call)

using Image = std::vector<std::uint8_t>;

// CUPTI's knowledge of a chip: which of the metrics it has, and the settings to count them with.
class Host {
 public:
  Host(const std::string& chip, const Image& available) {
    CUpti_Profiler_Host_Initialize_Params params;
    params.pChipName = chip.c_str();
    params.pCounterAvailabilityImage = available.empty() ? nullptr : available.data();
    TW_COUNTERS(cuptiProfilerHostInitialize, params);
    object_ = params.pHostObject;
    for (std::size_t i = 0; i < std::size(metrics); ++i) add(i);
    if (names_.empty()) throw EnvironmentError(fmt::format("CUPTI knows no counters of {}", chip));
  }
  ~Host() {
    CUpti_Profiler_Host_Deinitialize_Params params;
    params.pHostObject = object_;
    cupti_counters().cuptiProfilerHostDeinitialize(&params);
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  Image settings() const {
    CUpti_Profiler_Host_GetConfigImageSize_Params size;
    size.pHostObject = object_;
    TW_COUNTERS(cuptiProfilerHostGetConfigImageSize, size);
    Image image(size.configImageSize);
    CUpti_Profiler_Host_GetConfigImage_Params params;
    params.pHostObject = object_;
    params.configImageSize = image.size();
    params.pConfigImage = image.data();
    TW_COUNTERS(cuptiProfilerHostGetConfigImage, params);
    return image;
  }

  // By place in `metrics`; 0 for what the chip does not count.
  std::vector<double> values(const Image& counted) {
    std::vector<double> some(names_.size());
    CUpti_Profiler_Host_EvaluateToGpuValues_Params params;
    params.pHostObject = object_;
    params.pCounterDataImage = counted.data();
    params.counterDataImageSize = counted.size();
    params.ppMetricNames = names_.data();
    params.numMetrics = names_.size();
    params.pMetricValues = some.data();
    TW_COUNTERS(cuptiProfilerHostEvaluateToGpuValues, params);
    std::vector<double> all(std::size(metrics));
    for (std::size_t i = 0; i < some.size(); ++i) all[places_[i]] = some[i];
    return all;
  }

  std::vector<const char*>& names() { return names_; }

 private:
  void add(std::size_t place) {
    const char* name = metrics[place].name;
    CUpti_Profiler_Host_ConfigAddMetrics_Params params;
    params.pHostObject = object_;
    params.ppMetricNames = &name;
    params.numMetrics = 1;
    if (cupti_counters().cuptiProfilerHostConfigAddMetrics(&params) != CUPTI_SUCCESS) return;
    names_.push_back(name);
    places_.push_back(place);
  }

  CUpti_Profiler_Host_Object* object_ = nullptr;
  std::vector<const char*> names_;
  std::vector<std::size_t> places_;
};

// The counters of one context while they are ours.
class Session {
 public:
  Session(CUcontext context, const Image& settings, std::vector<const char*>& names)
      : settings_(settings) {
    CUpti_RangeProfiler_Enable_Params params;
    params.ctx = context;
    TW_COUNTERS(cuptiRangeProfilerEnable, params);
    object_.pRangeProfilerObject = params.pRangeProfilerObject;
    try {
      configure(names);
    } catch (...) {
      disable();
      throw;
    }
  }
  ~Session() { disable(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Image count(const std::function<void()>& run) {
    for (bool is_done = false; !is_done;) {
      TW_COUNTERS(cuptiRangeProfilerStart, object_);
      CUpti_RangeProfiler_PushRange_Params push;
      push.pRangeProfilerObject = object_.pRangeProfilerObject;
      push.pRangeName = "run";
      TW_COUNTERS(cuptiRangeProfilerPushRange, push);
      run();
      TW_COUNTERS(cuptiRangeProfilerPopRange, object_);
      CUpti_RangeProfiler_Stop_Params stop;
      stop.pRangeProfilerObject = object_.pRangeProfilerObject;
      TW_COUNTERS(cuptiRangeProfilerStop, stop);
      is_done = stop.isAllPassSubmitted != 0;
    }
    CUpti_RangeProfiler_DecodeData_Params decode;
    decode.pRangeProfilerObject = object_.pRangeProfilerObject;
    TW_COUNTERS(cuptiRangeProfilerDecodeData, decode);
    return counted_;
  }

 private:
  void configure(std::vector<const char*>& names) {
    CUpti_RangeProfiler_GetCounterDataSize_Params size;
    size.pRangeProfilerObject = object_.pRangeProfilerObject;
    size.pMetricNames = names.data();
    size.numMetrics = names.size();
    TW_COUNTERS(cuptiRangeProfilerGetCounterDataSize, size);
    counted_.resize(size.counterDataSize);
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params clear;
    clear.pRangeProfilerObject = object_.pRangeProfilerObject;
    clear.counterDataSize = counted_.size();
    clear.pCounterData = counted_.data();
    TW_COUNTERS(cuptiRangeProfilerCounterDataImageInitialize, clear);
    CUpti_RangeProfiler_SetConfig_Params config;
    config.pRangeProfilerObject = object_.pRangeProfilerObject;
    config.configSize = settings_.size();
    config.pConfig = settings_.data();
    config.counterDataImageSize = counted_.size();
    config.pCounterDataImage = counted_.data();
    TW_COUNTERS(cuptiRangeProfilerSetConfig, config);
  }
  void disable() { cupti_counters().cuptiRangeProfilerDisable(&object_); }

  CUpti_RangeProfiler_Object_Params object_;
  Image settings_;
  Image counted_;
};

Image available_counters(CUcontext context) {
  CUpti_Profiler_GetCounterAvailability_Params params;
  params.ctx = context;
  TW_COUNTERS(cuptiProfilerGetCounterAvailability, params);
  Image image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  TW_COUNTERS(cuptiProfilerGetCounterAvailability, params);
  return image;
}

std::vector<double> values_of(const std::function<void()>& run, Device device) {
  const ContextScope scope(device.index);
  CUpti_Profiler_Initialize_Params initialize;
  TW_COUNTERS(cuptiProfilerInitialize, initialize);
  CUpti_Device_GetChipName_Params chip;
  chip.deviceIndex = static_cast<std::size_t>(device.index);
  TW_COUNTERS(cuptiDeviceGetChipName, chip);
  const CUcontext context = primary_context(device.index);
  Host host(chip.pChipName, available_counters(context));
  Session session(context, host.settings(), host.names());
  return host.values(session.count(run));
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

Counters counters_of(const std::vector<double>& values) {
  Counters out;
  out.dram_bytes_read = values[DramRead];
  out.dram_bytes_written = values[DramWrite];
  out.l2_hit_percent = values[L2Hit];
  out.tensor_percent = values[Tensor];
  out.occupancy_percent = values[Occupancy];
  out.sectors_per_load = ratio(values[LoadSectors], values[LoadRequests]);
  out.sectors_per_store = ratio(values[StoreSectors], values[StoreRequests]);
  out.threads_per_instruction = values[Threads];
  out.conflict_percent = 100 * ratio(values[Conflicts], values[SharedTurns]);
  double all = 0;
  for (std::size_t i = first_stall; i < values.size(); ++i) all += values[i];
  for (std::size_t i = first_stall; i < values.size(); ++i)
    if (const double percent = 100 * ratio(values[i], all); percent >= 1)
      out.stalls.emplace_back(metrics[i].words, percent);
  std::sort(out.stalls.begin(), out.stalls.end(),
            [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

}  // namespace

Counters read_counters(const std::function<void()>& run, Device device) {
  if (!device.is_cuda()) return {.problem = "only GPUs are read"};
  const auto complete = [&] {
    run();
    device.synchronize();
  };
  complete();
  try {
    return counters_of(values_of(complete, device));
  } catch (const EnvironmentError& error) {
    return {.problem = error.what()};
  }
}

std::vector<std::pair<std::string, std::string>> counter_lines(const Counters& c) {
  if (!c.problem.empty()) return {{"counters", "not available: " + c.problem}};
  const auto bytes = [](double value) { return format_bytes(static_cast<std::size_t>(value)); };
  std::vector<std::pair<std::string, std::string>> lines;
  lines.emplace_back(
      "DRAM", fmt::format("{} read, {} written; {:.0f}% of the L2 cache's accesses "
                          "hit",
                          bytes(c.dram_bytes_read), bytes(c.dram_bytes_written), c.l2_hit_percent));
  lines.emplace_back("counted",
                     fmt::format("matrix units busy {:.1f}% of the time, {:.0f}% of the warps "
                                 "resident, {:.1f} of 32 threads per instruction",
                                 c.tensor_percent, c.occupancy_percent, c.threads_per_instruction));
  lines.emplace_back("accesses",
                     fmt::format("{:.1f} sectors of 32 bytes per load of a warp, {:.1f} per store; "
                                 "bank conflicts are {:.1f}% of shared memory's turns",
                                 c.sectors_per_load, c.sectors_per_store, c.conflict_percent));
  std::vector<std::string> stalls;
  for (std::size_t i = 0; i < std::min<std::size_t>(c.stalls.size(), 4); ++i)
    stalls.push_back(fmt::format("{} {:.0f}%", c.stalls[i].first, c.stalls[i].second));
  if (!stalls.empty()) lines.emplace_back("warps", fmt::format("{}", fmt::join(stalls, ", ")));
  return lines;
}

std::vector<std::string> faults_in_counters(const Counters& c) {
  std::vector<std::string> out;
  // A warp of 32 threads with 16 bytes each needs 16 sectors.
  if (std::max(c.sectors_per_load, c.sectors_per_store) > 17)
    out.push_back(fmt::format(
        "a warp's access touches {:.1f} sectors of 32 bytes: neighbouring threads do not access "
        "neighbouring addresses; exchange the loops or transpose through shared memory",
        std::max(c.sectors_per_load, c.sectors_per_store)));
  if (c.threads_per_instruction > 0 && c.threads_per_instruction < 26)
    out.push_back(fmt::format(
        "an instruction is executed by {:.1f} of 32 threads on average: threads of a warp take "
        "different branches; let neighbouring threads decide alike",
        c.threads_per_instruction));
  if (c.conflict_percent > 15)
    out.push_back(fmt::format(
        "{:.0f}% of shared memory's turns are repeated because of bank conflicts: pad rows or "
        "swizzle them, so that a warp's 32 words lie in 32 banks",
        c.conflict_percent));
  return out;
}

std::vector<std::string> counter_metrics() {
  std::vector<std::string> names;
  for (const Metric& metric : metrics) names.emplace_back(metric.name);
  return names;
}

}  // namespace tilewright
