// SPDX-License-Identifier: Apache-2.0
// profile/counters_test.cpp — what is said of counters, and whether CUPTI knows those we ask for.
#include "profile/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/cuda/cupti_counters.h"
#include "tilewright/error.h"
#include "tilewright/tensor.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;

Counters good() {
  Counters c;
  c.dram_bytes_read = c.dram_bytes_written = 1 << 30;
  c.l2_hit_percent = 50;
  c.occupancy_percent = 90;
  c.sectors_per_load = c.sectors_per_store = 16;
  c.threads_per_instruction = 32;
  c.stalls = {{"waiting for memory", 70}, {"issuing", 30}};
  return c;
}

TEST(Counters, AreLinesForPeople) {
  EXPECT_THAT(counter_lines(good()),
              ElementsAre(Pair("DRAM",
                               "1.00 GiB read, 1.00 GiB written; 50% of the L2 cache's accesses "
                               "hit"),
                          Pair("counted", StartsWith("matrix units busy 0.0% of the time, 90% ")),
                          Pair("accesses", StartsWith("16.0 sectors of 32 bytes per load")),
                          Pair("warps", "waiting for memory 70%, issuing 30%")));
}

TEST(Counters, ThatAreRefusedSayWhy) {
  Counters c;
  c.problem = "nobody may";
  EXPECT_THAT(counter_lines(c), ElementsAre(Pair("counters", "not available: nobody may")));
  EXPECT_THAT(faults_in_counters(c), IsEmpty());
  EXPECT_EQ(read_counters([] {}, Device::cpu()).problem, "only GPUs are read");
}

TEST(Counters, ShowFaults) {
  EXPECT_THAT(faults_in_counters(good()), IsEmpty());
  Counters c = good();
  c.sectors_per_load = 31.5;
  c.threads_per_instruction = 12;
  c.conflict_percent = 75;
  EXPECT_THAT(faults_in_counters(c),
              ElementsAre(StartsWith("a warp's access touches 31.5 sectors of 32 bytes"),
                          StartsWith("an instruction is executed by 12.0 of 32 threads"),
                          StartsWith("75% of shared memory's turns are repeated")));
}

// The host side of CUPTI knows the counters of chips that are not here.
TEST(Counters, AreKnownToCupti) {
#ifdef TW_SANITIZE
  GTEST_SKIP() << "CUPTI opens a library in a way that sanitizers refuse (RTLD_DEEPBIND)";
#endif
  const cuda::CuptiCounterApi* api = nullptr;
  try {
    api = &cuda::cupti_counters();
  } catch (const MissingError& error) {
    GTEST_SKIP() << error.what();
  }
  for (const char* chip : {"GH100", "GA100"}) {
    cuda::CUpti_Profiler_Host_Initialize_Params host;
    host.pChipName = chip;
    ASSERT_EQ(api->cuptiProfilerHostInitialize(&host), cuda::CUPTI_SUCCESS) << chip;
    for (const std::string& metric : counter_metrics()) {
      if (metric.find("gmma") != std::string::npos) continue;  // of Hopper only
      const char* name = metric.c_str();
      cuda::CUpti_Profiler_Host_ConfigAddMetrics_Params add;
      add.pHostObject = host.pHostObject;
      add.ppMetricNames = &name;
      add.numMetrics = 1;
      EXPECT_EQ(api->cuptiProfilerHostConfigAddMetrics(&add), cuda::CUPTI_SUCCESS)
          << chip << " " << metric;
    }
    cuda::CUpti_Profiler_Host_Deinitialize_Params end;
    end.pHostObject = host.pHostObject;
    EXPECT_EQ(api->cuptiProfilerHostDeinitialize(&end), cuda::CUPTI_SUCCESS);
  }
}

TEST(Counters, OfAGpuAreReadOrRefusedInOneLine) {
#ifdef TW_SANITIZE
  GTEST_SKIP() << "CUPTI opens a library in a way that sanitizers refuse (RTLD_DEEPBIND)";
#endif
  if (cuda_device_count() == 0) GTEST_SKIP() << why_no_cuda();
  const Tensor x = ones({1 << 22}, {DType::Float32, Device::cuda()});
  const Counters c = read_counters([&] { static_cast<void>(x.clone()); }, Device::cuda());
  if (!c.problem.empty()) {
    EXPECT_EQ(c.problem.find('\n'), std::string::npos);
    GTEST_SKIP() << c.problem;
  }
  EXPECT_GT(c.dram_bytes_read + c.dram_bytes_written, 0);
}

}  // namespace
}  // namespace tilewright
