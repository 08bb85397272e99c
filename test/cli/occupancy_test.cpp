// SPDX-License-Identifier: Apache-2.0
// cli/occupancy_test.cpp — `tilewright info --occupancy`, which needs no GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/json.h"
#include "command.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;

TEST(OccupancyVerb, Text) {
  const CommandResult r =
      tilewright_command({"info", "--occupancy", "--threads", "256", "--registers", "64",
                          "--shared", "49152", "--target", "sm_90a", "--grid", "10000"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_EQ(r.error, "");
  EXPECT_EQ(r.output,
            "sm_90a: 256 threads per block, 64 registers per thread, 48.0 KiB of shared memory per "
            "block\n"
            "  occupancy        50.0%: 32 of 64 warps\n"
            "  resident blocks  4 per multiprocessor\n"
            "  limited by       registers and shared memory (blocks 32, threads 8, registers 4, "
            "shared memory 4)\n"
            "  waves            18.94 for 10000 blocks, 528 at a time: 18 full, a tail of 496 "
            "blocks; processors busy 99.7% of "
            "the time\n"
            "  block size       no block size has more than 50.0%\n"
            "  one block more   nothing saved in one resource alone\n"
            "\n"
            "  threads  blocks  occupancy  limited by\n"
            "       32       4       6.2%  shared memory\n"
            "       64       4      12.5%  shared memory\n"
            "      128       4      25.0%  shared memory\n"
            "      256       4      50.0%  registers, shared memory\n"
            "      512       2      50.0%  registers\n"
            "     1024       1      50.0%  registers\n");
}

TEST(OccupancyVerb, Json) {
  const CommandResult r = tilewright_command({"info", "--occupancy", "--json", "--threads", "1024",
                                              "--registers", "32", "--target", "sm_86"});
  EXPECT_EQ(r.exit_code, 0);
  const auto json = parse_json(r.output);
  EXPECT_EQ(json["target"], "sm_86");
  EXPECT_EQ(json["blocks_per_processor"], 1);
  EXPECT_NEAR(json["occupancy"].get<double>(), 2.0 / 3, 1e-9);
  EXPECT_EQ(json["limited_by"], Json::array({"threads"}));
  EXPECT_EQ(json["suggested_threads"], 768);
  EXPECT_FALSE(json.contains("grid"));
}

TEST(OccupancyVerb, WithoutThreadsTheSuggestedSizeIsUsed) {
  const CommandResult r = tilewright_command(
      {"info", "--occupancy", "--json", "--registers", "128", "--target", "sm_80"});
  EXPECT_EQ(parse_json(r.output)["threads"], 512);
}

TEST(OccupancyVerb, WrongNumbersAreOneSentence) {
  const auto expect = [](std::vector<std::string> arguments, int exit_code,
                         const std::string& error) {
    arguments.insert(arguments.begin(), {"info", "--occupancy"});
    const CommandResult r = tilewright_command(arguments);
    EXPECT_EQ(r.exit_code, exit_code);
    EXPECT_EQ(r.output, "");
    EXPECT_EQ(r.error, "tilewright: " + error + "\n");
  };
  expect({"--threads", "2048", "--target", "sm_90a"}, 1,
         "threads per block must be 1 to 1024 on sm_90a, got 2048");
  expect({"--registers", "300", "--target", "sm_90a"}, 1,
         "registers per thread must be 1 to 255 on sm_90a, got 300");
  expect({"--shared", "999999", "--target", "sm_80"}, 1,
         "shared memory per block must be 0 to 166912 bytes on sm_80, got 999999");
  expect({"--target", "avx2"}, 1,
         "occupancy is a property of GPUs; 'x86-64-avx2' is a CPU target, give one like sm_90a");
  expect({"--target", "sm_91"}, 1,
         "unknown target 'sm_91'; did you mean 'sm_90' or 'sm_75' or 'sm_80'?");
  expect({"--grid", "0", "--target", "sm_90a"}, 2, "--grid must be 1 or more, got 0");
}

}  // namespace
}  // namespace tilewright::cli
