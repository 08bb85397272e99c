// SPDX-License-Identifier: Apache-2.0
// cli/bench_whole_test.cpp — `tilewright bench mlp` and `tilewright bench compile`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/json.h"
#include "command.h"

namespace tilewright::cli {
namespace {

using ::testing::HasSubstr;

CommandResult quick_whole(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "bench");
  arguments.insert(arguments.end(), {"--device", "cpu"});
  return tilewright_command(arguments);
}

TEST(BenchMlp, HasThreePhasesInEveryMode) {
  const CommandResult r =
      quick_whole({"mlp", "--dim", "32", "--layers", "2", "--batch", "16", "--steps", "2",
                   "--trials", "2", "--warmup", "0", "--no-ceiling", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.error << r.output;
  const Json report = parse_json(r.output);
  ASSERT_EQ(report["records"].size(), 15u);
  for (const Json& record : report["records"]) {
    EXPECT_EQ(record["status"], "ok") << record;
    EXPECT_LE(record["error"], 1e-4) << record;
    EXPECT_GT(record["kernels"], 0) << record;
    EXPECT_EQ(record["shape"], Json({32, 2, 16}));
  }
  // One kernel for each operation against fused ones.
  EXPECT_GT(report["records"][10]["kernels"], report["records"][11]["kernels"]);
  EXPECT_GT(report["records"][10]["bytes_moved"], report["records"][11]["bytes_moved"]);
}

TEST(BenchMlp, TrainsAndPrintsItsLoss) {
  const CommandResult r =
      quick_whole({"mlp", "--dim", "16", "--layers", "2", "--batch", "8", "--steps", "4",
                   "--print-loss", "--ways", "reduce-overhead"});
  ASSERT_EQ(r.exit_code, 0) << r.error;
  EXPECT_THAT(r.output, HasSubstr("step 1: loss "));
  EXPECT_THAT(r.output, HasSubstr("step 4: loss "));
}

TEST(BenchCompile, GivesAVerdictAndAReason) {
  const CommandResult r = quick_whole({"compile", "--ways", "small_operations,branch_on_data",
                                       "--trials", "2", "--warmup", "1", "--no-ceiling"});
  ASSERT_EQ(r.exit_code, 0) << r.error << r.output;
  EXPECT_THAT(r.output, HasSubstr("times as fast as eager: "));
  EXPECT_THAT(r.output, HasSubstr("1 kernel instead of "));
  EXPECT_THAT(r.output, HasSubstr("not available: item() needs the elements of a float32[] that is "
                                  "being traced"));
}

// The page draws which operations share a kernel.
TEST(BenchMlp, PageDrawsTheGraph) {
  const TemporaryFolder folder;
  const std::string page = folder.path() + "/mlp.html";
  const CommandResult r =
      quick_whole({"mlp", "--dim", "16", "--layers", "2", "--batch", "8", "--ways", "compiled",
                   "--trials", "2", "--warmup", "0", "--no-ceiling", "--html", page});
  ASSERT_EQ(r.exit_code, 0) << r.error << r.output;
  std::ostringstream text;
  text << std::ifstream(page).rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("<summary>mlp backward 16x2x8 float32, compiled: "));
  EXPECT_THAT(text.str(), HasSubstr("1. linear</text>"));
  EXPECT_THAT(text.str(), HasSubstr("<title>%"));
}

TEST(BenchWhole, MistakesAreOneSentence) {
  const auto error_of = [](std::vector<std::string> arguments) {
    const CommandResult r = quick_whole(std::move(arguments));
    EXPECT_NE(r.exit_code, 0);
    return r.error;
  };
  EXPECT_THAT(error_of({"gelu", "--layers", "3"}),
              HasSubstr("--layers, --batch, --steps and --print-loss go with the operation mlp"));
  EXPECT_THAT(error_of({"mlp", "--ways", "compild"}),
              HasSubstr("mlp has no way 'compild'; did you mean 'compiled'?"));
  EXPECT_THAT(error_of({"mlp", "--batch", "0"}),
              HasSubstr("--batch is between 1 and 1048576, not 0"));
  EXPECT_THAT(error_of({"mlp", "--dtype", "f16"}),
              HasSubstr("--dtype of mlp is f32 or bf16, not 'f16'"));
  EXPECT_THAT(error_of({"mlp", "--shape", "2x3"}), HasSubstr("instead of --shape"));
  EXPECT_THAT(error_of({"compile", "--ways", "product"}),
              HasSubstr("bench compile has no case 'product'; did you mean 'products'?"));
  EXPECT_THAT(error_of({"compile", "--dim", "3"}), HasSubstr("cases with sizes of their own"));
}

}  // namespace
}  // namespace tilewright::cli
