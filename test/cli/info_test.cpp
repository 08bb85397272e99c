// SPDX-License-Identifier: Apache-2.0
// cli/info_test.cpp — `tilewright info` on this machine, with and without its tools.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/json.h"
#include "command.h"
#include "tilewright/version.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(InfoVerb, TextNamesTheMachine) {
  const CommandResult r = tilewright_command({"info", "--no-measure"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_EQ(r.error, "");
  EXPECT_THAT(r.output, StartsWith("tilewright " TILEWRIGHT_VERSION "\n\ncpu: "));
  for (const char* part :
       {"  cores ", "  vectors ", "  memory ", "tools and libraries\n", "kernel cache\n"})
    EXPECT_THAT(r.output, HasSubstr(part));
  EXPECT_EQ(r.output.find('\x1b'), std::string::npos) << "no colour where nobody looks";
}

TEST(InfoVerb, JsonWithMeasuredCeilings) {
  const CommandResult r = tilewright_command({"info", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  const auto json = parse_json(r.output);
  EXPECT_EQ(json["version"], TILEWRIGHT_VERSION);
  const auto& cpu = json["devices"][0];
  EXPECT_EQ(cpu["device"], "cpu");
  EXPECT_GE(cpu["target"]["processors"].get<int>(), 1);
  EXPECT_GT(cpu["memory_bytes"].get<double>(), 1e6);
  EXPECT_GT(cpu["copy_bytes_per_second"]["per_second"].get<double>(), 1e7);
  EXPECT_GT(cpu["multiply_add_flops_per_second"]["per_second"].get<double>(), 1e7);
  EXPECT_TRUE(json["cache"]["is_usable"].get<bool>());
  EXPECT_GE(json["cache"]["entries"].get<int>(), 1) << "the measuring kernels are kept";
}

TEST(InfoVerb, HiddenCudaIsSaid) {
  const CommandResult r =
      tilewright_command({"info", "--no-measure", "--json"}, {"TILEWRIGHT_CUDA_HOME=none"});
  EXPECT_EQ(r.exit_code, 0);
  const auto json = parse_json(r.output);
  EXPECT_EQ(json["devices"].size(), 1u);
  EXPECT_NE(json["why_no_cuda"], "");
  for (const auto& component : json["components"]) {
    if (component["is_usable"].get<bool>()) continue;
    EXPECT_NE(component["purpose"], "");
    EXPECT_NE(component["remedy"], "");
  }
}

TEST(InfoVerb, MissingCompilerIsReportedAndNothingElseIsLost) {
  const CommandResult r =
      tilewright_command({"info", "--json"}, {"TILEWRIGHT_CXX=/no/such/compiler"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  const auto json = parse_json(r.output);
  EXPECT_FALSE(json["components"][0]["is_usable"].get<bool>());
  EXPECT_THAT(json["components"][0]["problem"].get<std::string>(), HasSubstr("/no/such/compiler"));
  EXPECT_THAT(json["devices"][0]["copy_bytes_per_second"]["problem"].get<std::string>(),
              HasSubstr("/no/such/compiler"));
}

}  // namespace
}  // namespace tilewright::cli
