// SPDX-License-Identifier: Apache-2.0
// golden/triton_test.cpp — triton/NAME.py: kernels, each lowered as its comment says, and in
// NAME.tir the exact IR.
//
//   # lower: add x=*f32:16 n=i32 BLOCK=1024
//
// With TW_UPDATE_GOLDEN set in the environment the .tir files are rewritten instead; read the
// difference before committing it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../unit/frontend/triton/lower_text.h"
#include "ir/parse.h"
#include "ir/print.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> golden_files() {
  std::vector<fs::path> files;
  const fs::path root = fs::path(TW_GOLDEN_FOLDER) / "triton";
  if (!fs::exists(root)) return files;  // a bundle carries programs, not the tree
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.path().extension() == ".py") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string lowered(const fs::path& path) {
  constexpr std::string_view mark = "# lower: ";
  const std::string text = read(path);
  std::istringstream lines(text);
  std::string output;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(mark)) continue;
    const std::string request = line.substr(mark.size());
    const triton::LoweredKernel made = triton::lower_text(text, request, path.filename().string());
    const std::string printed = ir::print(made.kernel);
    EXPECT_EQ(ir::print(ir::parse(printed, "printed")), printed);
    output += "// " + request + "\n" + printed + "\n";
  }
  return output;
}

class GoldenTriton : public testing::TestWithParam<fs::path> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GoldenTriton);

TEST_P(GoldenTriton, LowersToExactIr) {
  const fs::path expected = fs::path(GetParam()).replace_extension(".tir");
  const std::string output = lowered(GetParam());
  ASSERT_FALSE(output.empty()) << GetParam() << " has no line '# lower: ...'";
  if (std::getenv("TW_UPDATE_GOLDEN")) {
    std::ofstream(expected) << output;
    return;
  }
  EXPECT_EQ(output, read(expected));
}

std::string test_name(const testing::TestParamInfo<fs::path>& info) {
  return info.param.stem().string();
}

INSTANTIATE_TEST_SUITE_P(Triton, GoldenTriton, testing::ValuesIn(golden_files()), test_name);

}  // namespace
}  // namespace tilewright
