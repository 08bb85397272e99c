// SPDX-License-Identifier: Apache-2.0
// golden/passes_test.cpp — passes/<pass>/*.tir: input, a line `// ----`, and the exact output of
// the pass.
//
// With TW_UPDATE_GOLDEN set in the environment the files are rewritten instead; read the difference
// before committing it.
#include "passes/passes.h"
#include "golden.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"

namespace tilewright {
namespace {

std::string run_pass(const std::string& name, const std::string& input, const std::string& file) {
  ir::Kernel kernel = ir::parse(input, file);
  ir::verify(kernel);
  const PassEntry& pass = pass_named(name);
  const bool is_for_host = pass.is_for(Target::host()) && kernel.stage != ir::Stage::Laid;
  pass.run(kernel, is_for_host ? Target::host() : Target::parse("sm_90a"));
  ir::verify(kernel);
  return ir::print(kernel);
}

class GoldenPass : public testing::TestWithParam<golden::fs::path> {};

TEST_P(GoldenPass, HasExactOutput) {
  const std::string input = golden::input_of(GetParam());
  const std::string pass = GetParam().parent_path().filename().string();
  const std::string output = run_pass(pass, input, GetParam().filename().string());
  golden::expect_file(GetParam(), input + golden::separator + output);
  EXPECT_EQ(run_pass(pass, output, "output"), output) << "the pass is not idempotent";
}

std::string test_name(const testing::TestParamInfo<golden::fs::path>& info) {
  return info.param.parent_path().filename().string() + "_" + info.param.stem().string();
}

INSTANTIATE_TEST_SUITE_P(Passes, GoldenPass, testing::ValuesIn(golden::files("passes", ".tir")),
                         test_name);

}  // namespace
}  // namespace tilewright
