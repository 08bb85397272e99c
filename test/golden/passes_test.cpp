// SPDX-License-Identifier: Apache-2.0
// golden/passes_test.cpp — passes/<pass>/*.tir: input, a line `// ----`, and the exact output of
// the pass.
//
// With TW_UPDATE_GOLDEN set in the environment the files are rewritten instead; read the difference
// before committing it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/passes.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

constexpr const char* separator = "// ----\n";

std::vector<fs::path> golden_files() {
  std::vector<fs::path> files;
  const fs::path root = fs::path(TW_GOLDEN_FOLDER) / "passes";
  if (!fs::exists(root)) return files;  // a bundle carries programs, not the tree
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.path().extension() == ".tir") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string run_pass(const std::string& name, const std::string& input, const std::string& file) {
  ir::Kernel kernel = ir::parse(input, file);
  ir::verify(kernel);
  pass_named(name).run(kernel, Target::host());
  ir::verify(kernel);
  return ir::print(kernel);
}

class GoldenPass : public testing::TestWithParam<fs::path> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GoldenPass);

TEST_P(GoldenPass, HasExactOutput) {
  const std::string text = read(GetParam());
  const auto cut = text.find(separator);
  ASSERT_NE(cut, std::string::npos) << GetParam() << " has no line '// ----'";
  const std::string input = text.substr(0, cut);
  const std::string expected = text.substr(cut + std::string(separator).size());
  const std::string pass = GetParam().parent_path().filename().string();
  const std::string output = run_pass(pass, input, GetParam().filename().string());
  if (std::getenv("TW_UPDATE_GOLDEN")) {
    std::ofstream(GetParam()) << input << separator << output;
    return;
  }
  EXPECT_EQ(output, expected);
  EXPECT_EQ(run_pass(pass, output, "output"), output) << "the pass is not idempotent";
}

std::string test_name(const testing::TestParamInfo<fs::path>& info) {
  return info.param.parent_path().filename().string() + "_" + info.param.stem().string();
}

INSTANTIATE_TEST_SUITE_P(Passes, GoldenPass, testing::ValuesIn(golden_files()), test_name);

}  // namespace
}  // namespace tilewright
