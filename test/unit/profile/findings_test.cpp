// SPDX-License-Identifier: Apache-2.0
// profile/findings_test.cpp — waits, gaps and small grids are found, and only they.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tilewright/profile.h"
#include "traces.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> findings_of(Made made) {
  made.trace.devices.push_back({0, 132, "GPU", "sm_90a"});
  made.trace.finish();
  return Profile(std::make_shared<Trace>(std::move(made.trace))).findings();
}

// Launches run ahead of the device: nothing to say.
TEST(Findings, NothingAboutAGoodQueue) {
  Made made;
  for (int i = 0; i < 5; ++i) {
    const auto number = static_cast<std::uint32_t>(i + 1);
    made.call("cuLaunchKernel", i * 5, i * 5 + 3, number);
    made.kernel("k", 10 + i * 100, 108 + i * 100, number);
  }
  EXPECT_THAT(findings_of(std::move(made)), IsEmpty());
}

TEST(Findings, AHostThatWaitsInEveryStep) {
  Made made;
  made.host(TraceKind::Range, "train", 0, 1000);
  for (int i = 0; i < 4; ++i) {
    const auto number = static_cast<std::uint32_t>(2 * i + 1);
    made.call("cudaLaunchKernel", i * 200, i * 200 + 5, number);
    made.kernel("k", i * 200 + 5, i * 200 + 105, number);
    made.call("cudaStreamSynchronize", i * 200 + 5, i * 200 + 105, number + 1);
  }
  const auto found = findings_of(std::move(made));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(
      found[0],
      "the host waited 400 us for the device in 4 calls of cudaStreamSynchronize, and the GPU "
      "then idled for 300 us (100% of the time), the longest 100 us at 5.00 us (in 'train'): "
      "until it returns nothing new is queued; read results (print, item, copies to the host) "
      "less often");
  EXPECT_THAT(found[1], HasSubstr("GPU 0 was idle for 300 us (43% of its 700 us) in 3 gaps because "
                                  "the host had not queued the next work yet"));
}

// A start-up of a second between two phases says nothing about the loop.
TEST(Findings, PausesDoNotCount) {
  Made made;
  made.call("cuLaunchKernel", 0, 3, 1);
  made.kernel("k", 5, 105, 1);
  made.call("cuLaunchKernel", 1'000'000, 1'000'003, 2);
  made.kernel("k", 1'000'005, 1'000'105, 2);
  EXPECT_THAT(findings_of(std::move(made)), IsEmpty());
}

TEST(Findings, AKernelWithTooFewBlocks) {
  Made made;
  made.call("cuLaunchKernel", 0, 3, 1);
  made.kernel("tiny", 5, 105, 1).grid[0] = 4;
  EXPECT_THAT(findings_of(std::move(made)),
              ElementsAre("kernel 'tiny' (100% of the device's time) has 4 blocks for 132 "
                          "processors: 97% of GPU 0 idles; give it more and smaller blocks"));
}

// 128 threads with 64 registers: 8 blocks per processor, 1056 at a time.
TEST(Findings, AnIdleTail) {
  const auto with_blocks = [](std::uint32_t blocks) {
    Made made;
    made.call("cuLaunchKernel", 0, 3, 1);
    TraceEvent& event = made.kernel("odd", 5, 105, 1);
    event.grid[0] = blocks;
    event.registers = 64;
    return findings_of(std::move(made));
  };
  EXPECT_THAT(with_blocks(1057),
              ElementsAre("kernel 'odd' (100% of the device's time): the last of 2 waves has 1 of "
                          "1056 blocks: 50% of the GPU's time is an idle tail; other block sizes, "
                          "or a loop over blocks, fill it"));
  EXPECT_THAT(with_blocks(2112), IsEmpty());
  EXPECT_THAT(with_blocks(10560 + 1), IsEmpty()) << "one of eleven waves is little";
}

}  // namespace
}  // namespace tilewright
